/* Rows of arrays in memory that are no rows of an array as it is. With i for the row and e for the
 * element:
 *
 *   xs[i][e / m][e % m]  ->  e of map(join, xs)                  all that is within the first axes
 *   xs[64*i + e]         ->  e of split(64, xs)                  rows one after the other
 *   xs[128*i + e]        ->  e of generate(i => split(64, xs)[2*i])  or some of them
 *   mask[i / n][e]       ->  e of generate(i => mask[i / n])     any row that the row alone says
 *   scale[i / n]         ->  generate(i => scale[i / n])         or number
 *   xs[i][l], l = is[i]  ->  generate(i => let l = is[i] in xs[i][l])
 *   xs[i][m - 1 - e]     ->  e of generate(i => generate(e => xs[i][m - 1 - e]))
 *
 * The first that fits is taken: a number, the row as it is, one that is split off, any other. */
#include "schedule/row_views.h"

static void note_bound(RowReads *r, const CoreVar *var)
{
    if (var->nat)
        vec_push(r->ctx, &r->inner, var);
    else
        vec_push(r->ctx, &r->local, var);
}

static void note_inner(RowReads *r, const Core *term)
{
    for (int i = 0; term->kind == CORE_LAMBDA && i < term->lambda.n; i++)
        note_bound(r, term->lambda.params[i]);
    if (term->kind == CORE_LET)
        note_bound(r, term->let.var);
    for (int i = 0; i < term_children(term); i++)
        note_inner(r, term_child(term, i));
}

RowReads row_reads(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int rows, int *next_var)
{
    RowReads r = {.ctx = ctx, .entry = entry, .nest = nest, .rows = rows, .next_var = next_var};
    for (int i = rows; i < nest->n_axes; i++)
        vec_push(ctx, &r.inner, nest->axes[i]);
    note_inner(&r, nest->element);
    return r;
}

Core *array_joined(Ctx *ctx, Core *all)
{
    Nat nats[2] = {all->type->size, all->type->elem->size};
    Type type = type_array(ctx, nat_mul(ctx, nats[0], nats[1]), all->type->elem->elem);
    return make_prim(ctx, P_join, type, 2, nats, 1, &all, all->span);
}

/* All elements of an array of any rank, one after the other. */
static Core *all_joined(Ctx *ctx, Core *array)
{
    while (array->type->elem->kind == TY_ARRAY)
        array = array_joined(ctx, array);
    return array;
}

/* All rows of an array whose first axes are those of the rows, one after the other. */
static Core *rows_joined(const RowReads *r, Core *array)
{
    for (int i = r->rows; i > 1; i--)
        array = array_joined(r->ctx, array);
    return array;
}

static Nat rows_count(const RowReads *r) { return axes_count(r->ctx, r->rows, r->nest->axes); }

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

bool mentions_local(const RowReads *r, const Core *term)
{
    bool mentions = false;
    for (int i = 0; i < r->local.n && !mentions; i++)
        mentions = term_mentions(term, r->local.at[i]);
    return mentions;
}

static bool mentions_inner(const RowReads *r, const Core *term)
{
    bool mentions = false;
    for (int i = 0; i < r->inner.n; i++)
        mentions |= term_mentions_nat(r->ctx, term, r->inner.at[i]->nat);
    return mentions;
}

static bool nat_mentions_inner(const RowReads *r, Nat nat)
{
    bool mentions = false;
    for (int i = 0; i < r->inner.n; i++)
        mentions |= nat_mentions(nat, r->inner.at[i]->nat);
    return mentions;
}

static Nat simple(const RowReads *r, Nat nat) { return nat_simplify(r->ctx, r->entry->known, nat); }

/* ---- rows as they are ------------------------------------------------------------------------ */

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
    return make_map(r->ctx, row, all_joined(r->ctx, make_ref(r->ctx, row, all->span)), all);
}

static bool own_rows(const RowReads *r, Core *read, Core *array, int indices, bool several,
                     RowView *view)
{
    int within = indices - r->rows;
    if (own_indices(read, r->nest) < r->rows || !has_all_rows(r, array->type) ||
        (within > 1 && (!several || read->type->kind == TY_ARRAY)))
        return false;
    Core *all = rows_joined(r, array);
    *view = (RowView){.all = within > 1 ? within_joined(r, all) : all,
                      .at = within > 0 ? simple(r, flat_within(r->ctx, read, within)) : NULL};
    return !view->at || !nat_mentions_row(r, view->at);
}

/* ---- rows and numbers that the row alone says ------------------------------------------------ */

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
        if (!term_is_elementwise(let->let.value))
            return NULL;
        const CoreVar *var = let->let.var;
        CoreVar *at = make_var(r->ctx, r->next_var, var->name, var->type, read->span);
        read = term_with_nat(r->ctx, r->next_var, read, let->let.var->nat, at->nat);
        read = make_let(r->ctx, at, let->let.value, read);
    }
    return read;
}

/* A row, or number, as an array of them over all rows; NULL: the row alone does not say it. */
static Core *over_rows(const RowReads *r, Core *row)
{
    CoreVar *const *axes = r->nest->axes;
    if (mentions_inner(r, row) || !is_in_bounds(r, row))
        return NULL;
    Type index = type_idx(r->ctx, rows_count(r));
    CoreVar *place = make_var(r->ctx, r->next_var, axes[0]->name, index, row->span);
    Nat left = place->nat;
    for (int i = r->rows - 1; i >= 0; i--) {
        Nat size = axes[i]->type->size;
        Nat at = i ? nat_mod(r->ctx, left, size) : left;
        row = term_with_nat(r->ctx, r->next_var, row, axes[i]->nat, at);
        left = i ? nat_div(r->ctx, left, size) : left;
    }
    return make_generate(r->ctx, place, row, row->span);
}

/* ---- rows of an array that is split into rows ------------------------------------------------ */

/* The array, split into rows of this length: of them, row i of the results has the one at `row`.
 * NULL: it is not known to be there. */
static Core *split_rows(const RowReads *r, Core *array, Nat cells, Nat length, Nat row)
{
    Ctx *ctx = r->ctx;
    const NatFacts *known = r->entry->known;
    Nat place = nat_const(ctx, 0), rows = simple(r, nat_div(ctx, cells, length));
    for (int i = 0; i < r->rows; i++)
        place = nat_add(ctx, nat_mul(ctx, place, r->nest->axes[i]->type->size),
                        r->nest->axes[i]->nat);
    array = all_joined(ctx, array);
    Nat nats[2] = {array->type->size, length};
    Type type = type_array(ctx, rows, type_array(ctx, length, array->type->elem));
    Core *split = make_prim(ctx, P_split, type, 2, nats, 1, &array, array->span);
    bool all = nat_equal(ctx, known, row, place) && nat_equal(ctx, known, rows, rows_count(r));
    return all ? split : over_rows(r, make_index(ctx, split, row, array->span));
}

static bool rows_of_length(const RowReads *r, Core *read, Core *array, Nat length, RowView *view)
{
    Ctx *ctx = r->ctx;
    const NatFacts *known = r->entry->known;
    Nat flat = flat_index(ctx, read), cells = nat_const(ctx, 1);
    for (Type t = array->type; t->kind == TY_ARRAY; t = t->elem)
        cells = nat_mul(ctx, cells, t->size);
    if (nat_mentions_row(r, length) || nat_mentions_inner(r, length) ||
        !nat_le(ctx, known, nat_const(ctx, 1), length) || !nat_divides(ctx, known, length, cells))
        return false;
    Nat at = simple(r, nat_mod(ctx, flat, length)), row = simple(r, nat_div(ctx, flat, length));
    if (nat_mentions_row(r, at) || nat_mentions_inner(r, row) || !nat_mentions_row(r, row))
        return false;
    *view = (RowView){split_rows(r, array, cells, length, row), at};
    return view->all;
}

/* Of the axes and indices within the row, one is the element of a row. */
static bool rows_in_order(const RowReads *r, Core *read, Core *array, RowView *view)
{
    Nat flat = flat_index(r->ctx, read);
    for (int i = 0; i < r->inner.n; i++) {
        const CoreVar *at = r->inner.at[i];
        if (nat_mentions(flat, at->nat) && at->type->kind == TY_IDX &&
            rows_of_length(r, read, array, at->type->size, view))
            return true;
    }
    return false;
}

/* ---- any ------------------------------------------------------------------------------------- */

/* A row, or a number, as it is read. */
static bool as_read(const RowReads *r, Core *read, RowView *view)
{
    *view = (RowView){.all = over_rows(r, read)};
    return view->all;
}

static bool is_let(const RowReads *r, Nat at)
{
    bool is = false;
    for (int i = 0; i < r->lets.n; i++)
        is |= nat_mentions(at, r->lets.at[i]->let.var->nat);
    return is;
}

/* Is the index an axis within the row, or one that is bound there, over so many elements? */
static bool is_element(const RowReads *r, Nat at, Nat length)
{
    bool element = false;
    for (int i = 0; i < r->inner.n; i++)
        element |= r->inner.at[i]->nat == at && r->inner.at[i]->type->size == length;
    return element && !is_let(r, at);
}

/* What the row of the results and one index within it say: rows of what is read at each such
 * index. */
static bool rows_of_index(const RowReads *r, Core *read, RowView *view)
{
    for (int i = 0; i < r->inner.n; i++) {
        const CoreVar *at = r->inner.at[i];
        Nat length = at->type->size;
        if (!term_mentions_nat(r->ctx, read, at->nat) || is_let(r, at->nat) ||
            nat_mentions_row(r, length) || nat_mentions_inner(r, length))
            continue;
        CoreVar *e = make_var(r->ctx, r->next_var, at->name, at->type, read->span);
        Core *element = term_with_nat(r->ctx, r->next_var, read, at->nat, e->nat);
        *view = (RowView){over_rows(r, make_generate(r->ctx, e, element, read->span)), at->nat};
        return view->all;
    }
    return false;
}

/* A row, or a number, that the row of the results alone says. */
static bool other_rows(const RowReads *r, Core *read, RowView *view)
{
    if (read->type->kind == TY_ARRAY)
        return as_read(r, read, view);
    Core *row = with_lets(r, read->prim.args[0]);
    if (row && mentions_row(r, row) && is_element(r, read->prim.nats[1], read->prim.nats[0])) {
        *view = (RowView){over_rows(r, row), read->prim.nats[1]};
        if (view->all)
            return true;
    }
    Core *whole = with_lets(r, read);
    return whole && (as_read(r, whole, view) || rows_of_index(r, whole, view));
}

Core *one_row(const RowReads *r, Core *read)
{
    int indices;
    const Core *first;
    Core *array = (Core *)(uintptr_t)term_base(read, &indices, &first);
    if (read->type->kind == TY_ARRAY || indices < 2 || mentions_row(r, read))
        return read;
    array = all_joined(r->ctx, array);
    return make_index(r->ctx, array, simple(r, flat_index(r->ctx, read)), read->span);
}

bool row_view(const RowReads *r, Core *read, bool several, RowView *view)
{
    int indices;
    const Core *first;
    Core *array = (Core *)(uintptr_t)term_base(read, &indices, &first);
    Core *whole = several ? with_lets(r, read) : read;
    bool number = read->type->kind != TY_ARRAY;
    if (!whole || !mentions_row(r, whole) || (!number && read->type->elem->kind == TY_ARRAY))
        return false;
    if (several && number && indices > r->rows && as_read(r, whole, view))
        return true;
    RowView other;
    if (whole == read && own_rows(r, read, array, indices, several, view)) {
        bool part = several && view->at && !is_element(r, view->at, view->all->type->elem->size);
        if (part && rows_of_index(r, read, &other))
            *view = other;
        return true;
    }
    return several && ((number && whole == read && rows_in_order(r, read, array, view)) ||
                       other_rows(r, read, view));
}
