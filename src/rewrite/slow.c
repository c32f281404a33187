/* What the standard strategy lowers right, but slowly: a thread goes alone through an array whose length is a size of the launch. */
#include "rewrite/internal.h"

/* Folds and scans in one thread, over as many elements as the launch says. */
static bool is_long_walk(const Core *term)
{
    if (term->kind != CORE_PRIM || prim_rows[term->prim.id].level != LEVEL_SEQ || term->prim.n_args == 0)
        return false;
    const Core *xs = term->prim.args[term->prim.n_args - 1];
    return xs->type->kind == TY_ARRAY && !nat_is_const(xs->type->size);
}

static const Core *find_walk(const Core *term, bool in_thread)
{
    if (in_thread && is_long_walk(term))
        return term;
    bool thread = in_thread || (term->kind == CORE_PRIM && term->prim.id == P_mapGlobal);
    const Core *found = NULL;
    for (int i = 0; i < term_children(term) && !found; i++)
        found = find_walk(term_child(term, i), thread);
    return found;
}

static bool starts(const char *text, const char *word) { return strncmp(text, word, strlen(word)) == 0; }

const Core *rewriting_is_slow(const Rewriting *r)
{
    bool by_elements = false; /* whole patterns have threads that walk alone only where there is little to walk through */
    for (int i = 0; i < r->steps.n; i++)
        by_elements |= starts(r->steps.at[i].rule, "mapToGlobal") || starts(r->steps.at[i].rule, "copy") || starts(r->steps.at[i].rule, "columnsToThreads");
    return by_elements ? find_walk(r->entry->body, false) : NULL;
}
