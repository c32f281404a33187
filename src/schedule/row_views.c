/* Rows of arrays in memory that are no rows of an array as it is. With i for the row and e for the element:
 *
 *   xs[i][e / m][e % m]   ->  e of map(join, xs)            all that is within the first axes
 *   xs[64*i + e]          ->  e of split(64, xs)            as many rows in memory, one after the other
 *   mask[i / n][e]        ->  e of generate(i => mask[i / n])   any row that the row alone says
 *   scale[i / n]          ->  generate(i => scale[i / n])       or number
 *   xs[i][l], l = is[i]   ->  generate(i => let l = is[i] in xs[i][l])
 */
#include "schedule/row_views.h"

static void note_inner(RowReads *r, const Core *term)
{
    for (int i = 0; term->kind == CORE_LAMBDA && i < term->lambda.n; i++)
        if (term->lambda.params[i]->nat)
            vec_push(r->ctx, &r->inner, term->lambda.params[i]->nat);
    if (term->kind == CORE_LET && term->let.var->nat)
        vec_push(r->ctx, &r->inner, term->let.var->nat);
    for (int i = 0; i < term_children(term); i++)
        note_inner(r, term_child(term, i));
}

RowReads row_reads(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int rows, int *next_var)
{
    RowReads r = {.ctx = ctx, .entry = entry, .nest = nest, .rows = rows, .next_var = next_var};
    for (int i = rows; i < nest->n_axes; i++)
        vec_push(ctx, &r.inner, nest->axes[i]->nat);
    note_inner(&r, nest->element);
    return r;
}

Nat rows_count(const RowReads *r)
{
    Nat n = nat_const(r->ctx, 1);
    for (int i = 0; i < r->rows; i++)
        n = nat_mul(r->ctx, n, r->nest->axes[i]->type->size);
    return n;
}

Core *array_joined(Ctx *ctx, Core *all)
{
    Nat nats[2] = {all->type->size, all->type->elem->size};
    Type type = type_array(ctx, nat_mul(ctx, nats[0], nats[1]), all->type->elem->elem);
    return make_prim(ctx, P_join, type, 2, nats, 1, &all, all->span);
}

Core *rows_joined(const RowReads *r, Core *array)
{
    for (int i = r->rows; i > 1; i--)
        array = array_joined(r->ctx, array);
    return array;
}

bool mentions_row(const RowReads *r, const Core *term)
{
    bool mentions = false;
    for (int i = 0; i < r->rows; i++)
        mentions |= term_mentions_nat(r->ctx, term, r->nest->axes[i]->nat);
    return mentions;
}

static bool nat_mentions_row(const RowReads *r, Nat nat)
{
    bool mentions = false;
    for (int i = 0; i < r->rows; i++)
        mentions |= nat_mentions(nat, r->nest->axes[i]->nat);
    return mentions;
}

static bool mentions_inner(const RowReads *r, const Core *term)
{
    bool mentions = false;
    for (int i = 0; i < r->inner.n; i++)
        mentions |= term_mentions_nat(r->ctx, term, r->inner.at[i]);
    return mentions;
}

/* ---- rows as they are --------------------------------------------------------------------------- */

/* Has the array a row for each row of the results, and no more? */
static bool has_all_rows(const RowReads *r, Type type)
{
    bool all = true;
    for (int i = 0; i < r->rows && all; i++, type = type->elem)
        all = type->kind == TY_ARRAY && type->size == r->nest->axes[i]->type->size;
    return all;
}

/* All that the array has for a row is one row. */
static Core *within_joined(const RowReads *r, Core *all)
{
    if (all->type->elem->kind != TY_ARRAY || all->type->elem->elem->kind != TY_ARRAY)
        return all;
    CoreVar *row = make_var(r->ctx, r->next_var, "row", all->type->elem, all->span);
    Core *flat = make_ref(r->ctx, row, all->span);
    while (flat->type->elem->kind == TY_ARRAY)
        flat = array_joined(r->ctx, flat);
    return make_map(r->ctx, row, flat, all);
}

static bool own_rows(const RowReads *r, Core *read, Core *array, int indices, bool several, RowView *view)
{
    int within = indices - r->rows;
    if (own_indices(read, r->nest) < r->rows || !has_all_rows(r, array->type) ||
        (within > 1 && (!several || read->type->kind == TY_ARRAY)))
        return false;
    Core *all = rows_joined(r, array);
    *view = (RowView){.all = within > 1 ? within_joined(r, all) : all,
                      .at = within > 0 ? nat_simplify(r->ctx, r->entry->known, flat_within(r->ctx, read, within)) : NULL};
    return !view->at || !nat_mentions_row(r, view->at);
}

/* ---- rows that lie one after the other ---------------------------------------------------------- */

static bool rows_in_order(const RowReads *r, Core *read, Core *array, RowView *view)
{
    Ctx *ctx = r->ctx;
    const NatFacts *known = r->entry->known;
    Nat flat = flat_index(ctx, read), last = r->nest->axes[r->rows - 1]->nat, place = nat_const(ctx, 0);
    Nat length = nat_simplify(ctx, known, nat_sub(ctx, nat_subst(ctx, flat, last, nat_add_k(ctx, last, 1)), flat));
    for (int i = 0; i < r->rows; i++)
        place = nat_add(ctx, nat_mul(ctx, place, r->nest->axes[i]->type->size), r->nest->axes[i]->nat);
    Nat at = nat_simplify(ctx, known, nat_sub(ctx, flat, nat_mul(ctx, place, length))), cells = nat_const(ctx, 1);
    for (Type t = array->type; t->kind == TY_ARRAY; t = t->elem)
        cells = nat_mul(ctx, cells, t->size);
    for (int i = 0; i < r->inner.n; i++)
        if (nat_mentions(length, r->inner.at[i]))
            return false;
    Nat rows = rows_count(r);
    if (nat_mentions_row(r, length) || nat_mentions_row(r, at) || !nat_le(ctx, known, nat_const(ctx, 1), length) ||
        !nat_le(ctx, known, nat_const(ctx, 0), at) || !nat_lt(ctx, known, at, length) ||
        !nat_equal(ctx, known, cells, nat_mul(ctx, rows, length)))
        return false;
    Core *all = array;
    while (all->type->elem->kind == TY_ARRAY)
        all = array_joined(ctx, all);
    Nat nats[2] = {nat_mul(ctx, rows, length), length};
    Type type = type_array(ctx, rows, type_array(ctx, length, all->type->elem));
    *view = (RowView){make_prim(ctx, P_split, type, 2, nats, 1, &all, read->span), at};
    return true;
}

/* ---- rows and numbers that the row alone says --------------------------------------------------- */

/* Are all elements that the term reads there, whatever the condition around it says? */
static bool is_in_bounds(const RowReads *r, const Core *term)
{
    const NatFacts *known = r->entry->known;
    bool in = true;
    if (term_is(term, P_index))
        in = nat_le(r->ctx, known, nat_const(r->ctx, 0), term->prim.nats[1]) &&
             nat_lt(r->ctx, known, term->prim.nats[1], term->prim.nats[0]);
    for (int i = 0; i < term_children(term) && in; i++)
        in = is_in_bounds(r, term_child(term, i));
    return in;
}

/* The read with the indices that are data, which it reads first. */
static Core *with_lets(const RowReads *r, Core *read)
{
    for (int i = r->lets.n - 1; i >= 0; i--) {
        const Core *let = r->lets.at[i];
        if (!term_mentions_nat(r->ctx, read, let->let.var->nat))
            continue;
        if (!term_is(let->let.value, P_index))
            return NULL;
        CoreVar *at = make_var(r->ctx, r->next_var, let->let.var->name, let->let.var->type, read->span);
        read = make_let(r->ctx, at, let->let.value, term_with_nat(r->ctx, r->next_var, read, let->let.var->nat, at->nat));
    }
    return read;
}

/* A row, or number, as an array of them over all rows; NULL: the row alone does not say it. */
static Core *over_rows(const RowReads *r, Core *row)
{
    CoreVar *const *axes = r->nest->axes;
    if (mentions_inner(r, row) || !is_in_bounds(r, row))
        return NULL;
    CoreVar *place = make_var(r->ctx, r->next_var, axes[0]->name, type_idx(r->ctx, rows_count(r)), row->span);
    Nat left = place->nat;
    for (int i = r->rows - 1; i >= 0; i--) {
        Nat size = axes[i]->type->size;
        row = term_with_nat(r->ctx, r->next_var, row, axes[i]->nat, i ? nat_mod(r->ctx, left, size) : left);
        left = i ? nat_div(r->ctx, left, size) : left;
    }
    return make_generate(r->ctx, place, row, row->span);
}

static bool other_rows(const RowReads *r, Core *read, RowView *view)
{
    if (read->type->kind == TY_ARRAY) {
        *view = (RowView){.all = over_rows(r, read)};
        return view->all;
    }
    Core *row = read->prim.args[0];
    if (mentions_row(r, row) && !nat_mentions_row(r, read->prim.nats[1])) {
        *view = (RowView){over_rows(r, row), read->prim.nats[1]};
        for (int i = 0; i < r->inner.n && view->all; i++)
            if (nat_mentions(view->at, r->inner.at[i]))
                return true;
    }
    Core *number = with_lets(r, read);
    *view = (RowView){.all = number ? over_rows(r, number) : NULL};
    return view->all;
}

bool row_view(const RowReads *r, Core *read, bool several, RowView *view)
{
    int indices;
    const Core *first;
    Core *array = (Core *)(uintptr_t)term_base(read, &indices, &first);
    bool whole_row = read->type->kind == TY_ARRAY ? read->type->elem->kind == TY_SCALAR : true;
    if (!mentions_row(r, read) || !whole_row)
        return false;
    bool number = several && r->lets.n > 0 && read->type->kind != TY_ARRAY;
    if (number && with_lets(r, read) != read)
        return other_rows(r, read, view);
    if (own_rows(r, read, array, indices, several, view))
        return true;
    return several && ((read->type->kind != TY_ARRAY && rows_in_order(r, read, array, view)) || other_rows(r, read, view));
}
