/* Which arrays are computed together: those of a row with the one that reads them. */
#include "schedule/shape.h"

typedef struct Group {
    Nest *nest;
    bool taken;             /* by its reader */
    bool elsewhere;         /* read otherwise than by row, or a result beside that */
    int results;            /* that it is */
    VEC(const Nest *) rows; /* that read row i of it for their row i */
} Group;

typedef struct Groups {
    Ctx *ctx;
    int n;
    Group *at;
    Table of_var;
} Groups;

/* Notes what the term of a nest, or a result, reads. */
static void note_reads(Groups *g, const Nest *reader, const Core *term)
{
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    Group *read = base->kind == CORE_VAR ? table_get(&g->of_var, base->var) : NULL;
    if (read && reader && reader->n_axes && first && first->prim.nats[1] == reader->axes[0]->nat)
        vec_push(g->ctx, &read->rows, reader);
    else if (read)
        read->elsewhere = true;
    for (int i = 0; !read && i < term_children(term); i++)
        note_reads(g, reader, term_child(term, i));
}

static bool has_row_axis(const Nest *nest) { return nest->n_axes == 1 || nest->n_axes == 2; }

/* Is all that reads it among these? */
static bool read_by(const Group *read, int n, Nest *const *members)
{
    for (int i = 0; i < read->rows.n; i++) {
        bool found = false;
        for (int k = 0; k < n && !found; k++)
            found = members[k] == read->rows.at[i];
        if (!found)
            return false;
    }
    return read->rows.n > 0 && !read->elsewhere;
}

static void give_value(Groups *g, const CoreEntry *entry, int last, int *next_var)
{
    Nest **members = NEWN(g->ctx, Nest *, last + 1), *nest = g->at[last].nest;
    int n = 0;
    members[n++] = nest;
    nest->value = nest->n_axes == 2 ? known_term(g->ctx, entry, nest, next_var) : NULL;
    for (int i = last - 1; i >= 0 && has_row_axis(nest) && !nest->value; i--) {
        Nest *other = g->at[i].nest;
        if (!g->at[i].taken && has_row_axis(other) && other->axes[0]->type == nest->axes[0]->type &&
            read_by(&g->at[i], n, members))
            members[n++] = other;
    }
    for (int i = 0; i < n / 2; i++) {
        Nest *swap = members[i];
        members[i] = members[n - 1 - i];
        members[n - 1 - i] = swap;
    }
    if (n > 1)
        nest->value = rows_program(g->ctx, n, members, next_var);
    for (int i = 0; i < last && nest->value && n > 1; i++)
        for (int k = 0; k < n - 1; k++)
            g->at[i].taken |= members[k] == g->at[i].nest;
    if (!nest->value)
        nest->value = stage_term(g->ctx, entry, nest, next_var);
}

/* Results that nothing reads: their value stands in their place. */
static Core *results_valued(Groups *g, Core *result)
{
    Group *group = result->kind == CORE_VAR ? table_get(&g->of_var, result->var) : NULL;
    if (group && group->rows.n == 0 && !group->elsewhere) {
        group->taken = true;
        return group->nest->value;
    }
    if (result->kind != CORE_TUPLE)
        return result;
    Core *new = term_copy(g->ctx, result);
    for (int i = 0; i < term_children(result); i++)
        term_set_child(new, i, results_valued(g, term_child(result, i)));
    return new;
}

/* A result that is read on counts as read elsewhere. */
static void note_results(Groups *g, const Core *result)
{
    Group *group = result->kind == CORE_VAR ? table_get(&g->of_var, result->var) : NULL;
    for (int i = 0; result->kind == CORE_TUPLE && i < term_children(result); i++)
        note_results(g, term_child(result, i));
    if (group)
        group->elsewhere |= group->rows.n > 0 || group->results++ > 0;
    else if (result->kind != CORE_TUPLE)
        note_reads(g, NULL, result);
}

void nests_valued(Ctx *ctx, const CoreEntry *entry, Nests *nests, int *next_var)
{
    Groups g = {.ctx = ctx, .n = nests->list.n};
    g.at = NEWN(ctx, Group, g.n + 1);
    for (int i = 0; i < g.n; i++) {
        g.at[i] = (Group){.nest = nests->list.at[i], .elsewhere = !nests->result};
        table_put(ctx, &g.of_var, g.at[i].nest->var, &g.at[i]);
    }
    for (int i = 0; i < g.n; i++)
        note_reads(&g, g.at[i].nest, g.at[i].nest->element);
    if (nests->result)
        note_results(&g, nests->result);
    for (int i = g.n - 1; i >= 0; i--)
        if (!g.at[i].taken)
            give_value(&g, entry, i, next_var);
    if (nests->result)
        nests->result = results_valued(&g, nests->result);
    int n = 0;
    for (int i = 0; i < g.n; i++)
        if (!g.at[i].taken)
            nests->list.at[n++] = g.at[i].nest;
    nests->list.n = n;
}
