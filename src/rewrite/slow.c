/* What the standard strategy lowers right, but slowly: a thread goes alone through an array whose length is a size of the launch. */
#include "rewrite/internal.h"

typedef struct Large {
    Ctx *ctx;
    Nat length;
} Large;

enum { LONG_WALK = 4096, LARGE_SIZE = 1 << 20 };

static void set_large(void *user, Nat var)
{
    Large *large = user;
    large->length = nat_subst(large->ctx, large->length, var, nat_const(large->ctx, LARGE_SIZE));
}

/* Whether it is long where all that it depends on is large: the 1024th part of an array is not. */
static bool is_long(Ctx *ctx, Nat length)
{
    Large large = {ctx, length};
    nat_each_var(ctx, length, set_large, &large);
    return !nat_is_const(large.length) || large.length->value > LONG_WALK;
}

/* Folds and scans in one thread, over as many elements as the launch says: nothing that is known there bounds how many. */
static bool is_long_walk(Ctx *ctx, const Here *here)
{
    const Core *term = here->term;
    if (term->kind != CORE_PRIM || prim_rows[term->prim.id].level != LEVEL_SEQ || term->prim.n_args == 0)
        return false;
    const Core *xs = term->prim.args[term->prim.n_args - 1];
    if (xs->type->kind != TY_ARRAY || nat_is_const(xs->type->size))
        return false;
    NatRange range = nat_range(ctx, here->facts, xs->type->size);
    return (!range.has_hi || range.hi > LONG_WALK) && is_long(ctx, xs->type->size);
}

static const Core *find_walk(Ctx *ctx, const Here *here, bool in_thread)
{
    const Core *term = here->term;
    if (in_thread && is_long_walk(ctx, here))
        return term;
    bool thread = in_thread || (term->kind == CORE_PRIM && term->prim.id == P_mapGlobal);
    const Core *found = NULL;
    for (int i = 0; i < term_children(term) && !found; i++)
        found = find_walk(ctx, here_child(ctx, here, i), thread);
    return found;
}

static int count_threads(const Core *term)
{
    int n = term->kind == CORE_PRIM && term->prim.id == P_mapGlobal;
    for (int i = 0; i < term_children(term); i++)
        n += count_threads(term_child(term, i));
    return n;
}

const Core *rewriting_is_slow(Ctx *ctx, const Rewriting *r)
{
    bool gives_threads = false; /* a step said that a thread computes an element; what the user's text says so is as he wants it */
    for (int i = 0; i < r->steps.n && !gives_threads; i++)
        gives_threads = count_threads(r->steps.at[i].after) > count_threads(r->steps.at[i].before);
    if (!gives_threads)
        return NULL;
    const Here whole = {.term = r->entry->body, .facts = (NatFacts *)(uintptr_t)r->entry->known};
    return find_walk(ctx, &whole, false);
}
