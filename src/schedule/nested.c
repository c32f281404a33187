/* A fold of folds by the same operator is one fold of all.
 *
 *   part[i][j] = reduce(+, 0, xs[i][j][k]), k < m;  sums[i] = reduce(+, 0, part[i][j]), j < n
 *     ->  sums[i] = reduce(+, 0, xs[i][p / m][p % m]), p < n * m
 *
 * Folds that are made of other folds of their own rows stay apart: a block keeps a row on chip for all
 * of them (row_values.c).
 *
 * apart.c takes a joined fold apart again where its axes lie apart in memory. */
#include "ir/key.h"
#include "schedule/nested.h"

static void count_reads(Nested *m, const Core *term)
{
    Nest *nest = term->kind == CORE_VAR ? table_get(&m->of_var, term->var) : NULL;
    Count *count = nest ? table_get(&m->reads, nest) : NULL;
    if (count)
        count->n++;
    for (int i = 0; i < term_children(term); i++)
        count_reads(m, term_child(term, i));
}

/* Does the read have each of the axes as an index, once? */
static bool has_each(const Core *read, int indices, int n, Nat const *axes)
{
    for (int k = 0; k < n; k++) {
        int times = 0;
        const Core *t = read;
        for (int i = 0; i < indices; i++, t = t->prim.args[0])
            times += t->prim.nats[1] == axes[k];
        if (times != 1)
            return false;
    }
    return indices == n;
}

bool nested_is_plain_fold(const Nest *nest)
{
    bool fold = !nest->steps && !nest->kept && !nest->in_parts && term_is(nest->element, P_reduce);
    if (!fold)
        return false;
    const Core *array = nest->element->prim.args[2];
    for (int i = 0; i < nest->n_axes; i++)
        fold &= !nat_mentions(array->type->size, nest->axes[i]->nat);
    return fold;
}

int nested_reads(const Core *term, const CoreVar *array)
{
    int n = term->kind == CORE_VAR && term->var == array;
    for (int i = 0; i < term_children(term); i++)
        n += nested_reads(term_child(term, i), array);
    return n;
}

/* Do the axes of the rows say which row the read is of? Not which element: there are more indices. */
static bool reads_row(const Core *read, const Nest *of, int rows)
{
    int indices;
    const Core *first;
    term_base(read, &indices, &first);
    bool all = indices > rows || read->type->kind == TY_ARRAY;
    for (int i = 0; i < rows && all; i++) {
        all = false;
        for (const Core *at = read; term_is(at, P_index) && !all; at = at->prim.args[0])
            all = nat_mentions(at->prim.nats[1], of->axes[i]->nat);
    }
    return all;
}

static void look_at_row(Row *r, const Core *term)
{
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    if (base->kind == CORE_VAR && base->var->type->kind == TY_ARRAY) {
        const Nest *read = table_get(&r->m->of_var, base->var), *own = r->own;
        r->memory |= !read && reads_row(term, own, r->rows);
        if (own_indices(term, own) < r->rows)
            return;
        if (!read)
            vec_push(r->m->ctx, &r->others, base->var);
        else if (!term_is_elementwise(read->element) && read->n_axes == r->rows)
            vec_push(r->m->ctx, &r->folds, read);
        else if (term_is_elementwise(read->element)) {
            vec_push(r->m->ctx, &r->made, read);
            r->own = read;
            look_at_row(r, read->element);
            r->own = own;
        }
        return;
    }
    for (int i = 0; i < term_children(term); i++)
        look_at_row(r, term_child(term, i));
}

Row nested_row(const Nested *m, const Nest *nest, int rows)
{
    Row row = {.m = m, .own = nest, .rows = rows};
    look_at_row(&row, nest->element);
    return row;
}

Row nested_whole_row(const Nested *m, const Nest *values)
{
    Row row = nested_row(m, values, values->n_axes);
    for (int i = 0; i < row.folds.n; i++) { /* there may come more */
        const Row of_fold = nested_row(m, row.folds.at[i], values->n_axes);
        for (int k = 0; k < of_fold.folds.n; k++)
            vec_push(m->ctx, &row.folds, of_fold.folds.at[k]);
        for (int k = 0; k < of_fold.made.n; k++)
            vec_push(m->ctx, &row.made, of_fold.made.at[k]);
        row.memory |= of_fold.memory;
    }
    return row;
}

bool nested_is_of_row(const Row *row, const Nest *nest)
{
    bool found = false;
    for (int i = 0; i < row->folds.n; i++)
        found |= row->folds.at[i] == nest;
    for (int i = 0; i < row->made.n; i++)
        found |= row->made.at[i] == nest;
    return found;
}

bool nested_is_rows_own(const Nested *m, const Row *row, const Nest *values, const Nest *fold, int reads_beside)
{
    const Count *count = table_get(&m->reads, fold);
    int reads = nested_reads(values->element, fold->var) + reads_beside;
    for (int i = 0; i < m->n; i++)
        if (m->at[i] && nested_is_of_row(row, m->at[i]))
            reads += nested_reads(m->at[i]->element, fold->var);
    return count && count->n <= reads && term_is(fold->element, P_reduce) && !folds_few(fold->element);
}

/* Do both read an array that is not of the list, each at its own row? */
static bool share_rows(const Nested *m, const Row *row, const Nest *fold)
{
    const Row of_fold = nested_row(m, fold, row->rows);
    bool shared = false;
    for (int k = 0; k < of_fold.others.n; k++)
        for (int j = 0; j < row->others.n; j++)
            shared |= of_fold.others.at[k] == row->others.at[j];
    return shared;
}

/* Is it made of folds of its own rows, which nothing else reads, as the sum of a softmax is of the
 * maximum of its row? Then a block keeps the row on chip for both. */
static bool has_row_folds(const Nested *m, const Nest *nest)
{
    const Row own = nested_row(m, nest, nest->n_axes), all = nested_whole_row(m, nest);
    bool has = false;
    for (int i = 0; i < own.folds.n && !has; i++)
        has = nested_is_rows_own(m, &all, nest, own.folds.at[i], 0) && share_rows(m, &own, own.folds.at[i]);
    return has;
}

/* The folds of which each element that this one folds is one, and which nothing else reads; NULL:
 * there are none. */
static Nest *inner_folds(const Nested *m, const Nest *outer, const CoreVar *axis, Core *cell,
                         int *indices)
{
    enum { MOST_AXES = 8 };
    Nat axes[MOST_AXES + 1];
    const Core *first, *base = term_base(cell, indices, &first), *fold = outer->element;
    Nest *inner = base->kind == CORE_VAR ? table_get(&m->of_var, base->var) : NULL;
    const Count *count = inner ? table_get(&m->reads, inner) : NULL;
    if (!inner || count->n != 1 || !nested_is_plain_fold(inner) || inner->n_axes != *indices ||
        outer->n_axes > MOST_AXES || has_row_folds(m, inner) || nat_is(inner->element->prim.args[2]->type->size, 0))
        return NULL; /* of rows without elements, there is no row of an element */
    for (int i = 0; i < outer->n_axes; i++)
        axes[i] = outer->axes[i]->nat;
    axes[outer->n_axes] = axis->nat;
    bool same = core_same(m->ctx, inner->element->prim.args[0], fold->prim.args[0]) &&
                core_same(m->ctx, inner->element->prim.args[1], fold->prim.args[1]);
    return same && has_each(cell, *indices, outer->n_axes + 1, axes) ? inner : NULL;
}

/* The fold of all that the inner folds are of. */
static Core *joined_fold(const Nested *m, const Nest *outer, const Nest *inner, CoreVar *axis,
                         const Core *cell)
{
    Ctx *ctx = m->ctx;
    CoreVar *axes[2] = {axis}, *all;
    Core *element = fold_element(ctx, inner->element, &axes[1], m->next_var);
    const Core *at = cell;
    for (int i = inner->n_axes - 1; i >= 0; i--, at = at->prim.args[0])
        element = term_with_nat(ctx, m->next_var, element, inner->axes[i]->nat, at->prim.nats[1]);
    element = flattened(ctx, 2, axes, element, &all, m->next_var);
    return fold_of(ctx, outer->element, make_generate(ctx, all, element, cell->span));
}

/* Takes the inner folds into this one. */
static void join_folds(Nested *m, int at)
{
    Nest *outer = m->at[at];
    CoreVar *axis;
    int indices;
    if (!nested_is_plain_fold(outer))
        return;
    Core *cell = fold_element(m->ctx, outer->element, &axis, m->next_var);
    Nest *inner = inner_folds(m, outer, axis, cell, &indices);
    if (!inner)
        return;
    Nest *joined = NEW(m->ctx, Nest);
    *joined = *outer;
    joined->element = joined_fold(m, outer, inner, axis, cell);
    m->at[at] = joined;
    table_put(m->ctx, &m->of_var, joined->var, joined);
    table_put(m->ctx, &m->reads, joined, table_get(&m->reads, outer));
    for (int i = 0; i < at; i++)
        if (m->at[i] == inner)
            m->at[i] = NULL;
}

/* ---- all ---- */

static Nests *joined(Ctx *ctx, const CoreEntry *entry, const Nests *nests, int *next_var)
{
    Nested m = {.ctx = ctx, .entry = entry, .next_var = next_var, .n = nests->list.n, .result = nests->result};
    Nests *new = NEW(ctx, Nests);
    *new = *nests;
    if (nests_have_steps(nests)) /* which may read any of them */
        return new;
    m.at = NEWN(ctx, Nest *, m.n + 1);
    for (int i = 0; i < m.n; i++) {
        m.at[i] = nests->list.at[i];
        Count *count = NEW(ctx, Count);
        *count = (Count){nests->result == NULL}; /* of two lists, either may read it */
        table_put(ctx, &m.of_var, m.at[i]->var, m.at[i]);
        table_put(ctx, &m.reads, m.at[i], count);
    }
    for (int i = 0; i < m.n; i++)
        count_reads(&m, m.at[i]->element);
    if (nests->result)
        count_reads(&m, nests->result);
    for (int i = 0; i < m.n; i++)
        join_folds(&m, i);
    for (int i = 0; i < m.n && nests->result; i++)
        row_values(&m, i);
    new->list = row_values_in_order(&m);
    if (!nests->result) {
        new->then = joined(ctx, entry, nests->then, next_var);
        new->otherwise = joined(ctx, entry, nests->otherwise, next_var);
    }
    return new;
}

const Nests *folds_joined(Ctx *ctx, const CoreEntry *entry, const Nests *nests, int *next_var)
{
    return joined(ctx, entry, nests, next_var);
}
