/* Programs of rows: arrays of which row i is worked out from row i of one matrix, and from row or
 * element i of others, become the function of a map over the rows, with a `let` for each. A block
 * then has the row on chip.
 *
 *   top[i] = reduce(max, xs[i]);  e[i][j] = exp(xs[i][j] - top[i])
 *     ->  map(fun row => let top = reduce(max, row) in map(fun x => exp(x - top), row), xs)
 *
 * With other arrays it is a map over zip(xs, others); which row it is may be one of these.
 */
#include "schedule/shape.h"

typedef struct Member {
    const Nest *nest;
    CoreVar *var; /* the row of it, or what it is of the row */
} Member;

typedef struct Beside { /* an array of which row i is read, too */
    const CoreVar *array;
    CoreVar *var; /* row i of it */
} Beside;

typedef struct Rows {
    Ctx *ctx;
    int *next_var;
    int rows; /* axes that say which row */
    VEC(Member) members; /* in order; the last one is what all is for */
    CoreVar *row;        /* of the matrix, or a column */
    const CoreVar *matrix;
    VEC(Beside) beside;
    CoreVar *place;      /* which row it is, if that is asked */
    bool several;        /* members */
    bool columns;
    bool fits;
} Rows;

static Member *member_of(Rows *r, const CoreVar *array)
{
    for (int i = 0; i < r->members.n; i++)
        if (r->members.at[i].nest->var == array)
            return &r->members.at[i];
    return NULL;
}

/* What of the array is one row's, where `rows` indices say which row. */
static Type row_type(const Rows *r, const CoreVar *array)
{
    Type row = array->type;
    for (int i = 0; i < r->rows && row->kind == TY_ARRAY; i++)
        row = row->elem;
    return row;
}

static bool is_vector(Type type) { return type->kind == TY_ARRAY && type->elem->kind == TY_SCALAR; }

/* The matrix that the rows, or columns, are of: the first one. */
static void take_matrix(Rows *r, const CoreVar *array, bool columns, Span span)
{
    Type row = row_type(r, array);
    if (!r->matrix && is_vector(row)) {
        Type column = type_array(r->ctx, array->type->size, row->elem);
        r->matrix = array;
        r->columns = columns;
        r->row = make_var(r->ctx, r->next_var, columns ? "column" : "row", columns ? column : row, span);
    }
    r->fits &= array == r->matrix && columns == r->columns;
}

/* The row of the matrix, or of an array beside it. */
static CoreVar *row_of(Rows *r, const CoreVar *array, Span span)
{
    Type row = row_type(r, array);
    if (r->columns || array == r->matrix || (!r->matrix && is_vector(row))) {
        take_matrix(r, array, false, span);
        return r->row;
    }
    for (int i = 0; i < r->beside.n; i++)
        if (r->beside.at[i].array == array)
            return r->beside.at[i].var;
    bool number = row->kind == TY_SCALAR || (is_vector(row) && row->elem->scalar != SC_BOOL);
    r->fits &= number; /* what else has no template */
    CoreVar *var = make_var(r->ctx, r->next_var, array->name, row, span);
    vec_push(r->ctx, &r->beside, ((Beside){array, var}));
    return var;
}

/* A read of this row: of a member, of the matrix, or of an array beside it. */
static Core *row_read(Rows *r, Core *read, const CoreVar *array, int indices)
{
    if (indices > r->rows) { /* an element of it */
        Core *inner = row_read(r, read->prim.args[0], array, indices - 1);
        r->fits &= inner->type->kind == TY_ARRAY; /* else another array, of higher rank */
        if (!r->fits)
            return read;
        return make_index(r->ctx, inner, read->prim.nats[1], read->span);
    }
    const Member *member = member_of(r, array);
    CoreVar *var = member ? member->var : row_of(r, array, read->span);
    return var ? make_ref(r->ctx, var, read->span) : read;
}

/* A read of column i of the matrix: xs[k][i]. */
static Core *column_read(Rows *r, Core *read, const CoreVar *array)
{
    take_matrix(r, array, true, read->span);
    return r->fits ? make_index(r->ctx, make_ref(r->ctx, r->row, read->span), read->prim.args[0]->prim.nats[1], read->span)
                   : read;
}

/* The term of a member in terms of the row. */
static Core *row_term(Rows *r, const Nest *nest, Core *term)
{
    int indices;
    const Core *first, *array = term_base(term, &indices, &first);
    bool memory = array->kind == CORE_VAR && indices > 0;
    if (memory && own_indices(term, nest) >= r->rows)
        return row_read(r, term, array->var, indices);
    bool column = memory && r->rows == 1 && indices == 2 && term->prim.nats[1] == nest->axes[0]->nat;
    if (column && !member_of(r, array->var))
        return column_read(r, term, array->var);
    if (array->kind == CORE_VAR && member_of(r, array->var))
        r->fits = false;
    if (term_children(term) == 0)
        return term;
    Core *new = term_copy(r->ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, row_term(r, nest, term_child(term, i)));
    return new;
}

/* ---- the function ---- */

/* Which row it is, where the term says so by the index of an axis: rows are counted through all
 * axes. */
static Core *with_place(Rows *r, const Nest *nest, int axis, Core *term)
{
    Nat all = nat_const(r->ctx, 1);
    for (int i = 0; i < r->rows; i++)
        all = nat_mul(r->ctx, all, nest->axes[i]->type->size);
    const char *name = r->rows == 1 ? nest->axes[0]->name : "place";
    if (!r->place)
        r->place = make_var(r->ctx, r->next_var, name, type_idx(r->ctx, all), term->span);
    Nat at = r->place->nat;
    for (int i = r->rows - 1; i > axis; i--)
        at = nat_div(r->ctx, at, nest->axes[i]->type->size);
    if (axis > 0)
        at = nat_mod(r->ctx, at, nest->axes[axis]->type->size);
    return term_with_nat(r->ctx, r->next_var, term, nest->axes[axis]->nat, at);
}

static Core *member_value(Rows *r, const Nest *nest)
{
    Core *term = with_vectors(r->ctx, r->next_var, row_term(r, nest, nest->element), r->several);
    for (int i = nest->n_axes - 1; i >= r->rows; i--)
        term = vector_over(r->ctx, r->next_var, nest->axes[i], term, r->several);
    for (int i = 0; i < r->rows; i++) {
        bool asked = term_mentions_nat(r->ctx, term, nest->axes[i]->nat);
        r->fits &= !asked || r->several;
        term = asked && r->fits ? with_place(r, nest, i, term) : term;
    }
    return term;
}

/* Is the term made of maps and folds of whole rows and vectors of their length, of up to three in one
 * map? */
static bool is_of_whole_rows(const Rows *r, const Core *term)
{
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    if (indices > 0 && base->kind == CORE_VAR && base->var->type->kind == TY_ARRAY) {
        bool own = base->var == r->row;
        for (int i = 0; i < r->members.n; i++)
            own |= r->members.at[i].var == base->var;
        for (int i = 0; i < r->beside.n; i++)
            own |= r->beside.at[i].var == base->var;
        return !own;
    }
    PrimId id = term->kind == CORE_PRIM ? term->prim.id : P_map;
    bool zip = id == P_zip || id == P_zip3;
    bool known = id == P_map || id == P_reduce || zip || prim_rows[id].level == LEVEL_SCALAR;
    for (int i = 0; i < term_children(term) && known; i++) {
        const Core *part = term_child(term, i);
        known = is_of_whole_rows(r, zip && term_is(part, P_generate) ? part->prim.args[0] : part);
    }
    return known;
}

/* Is there something for a block, or for the threads that have columns? */
static bool worth_it(const Rows *r, int n, Nest *const *nests, Core *const *values)
{
    bool fold = term_is(nests[0]->element, P_reduce), scan = false, whole = true;
    for (int i = 0; i < n; i++) {
        const Core *array = term_is(nests[i]->element, P_map) ? nests[i]->element->prim.args[1] : nests[i]->element;
        scan |= term_is(array, P_scan) || term_is(array, P_scanExcl);
        whole &= is_of_whole_rows(r, values[i]) && !fold_is_ordered(r->ctx, nests[i]->element);
    }
    if (n == 1)
        return fold || scan;
    bool numbers = r->row->type->elem->scalar != SC_BOOL;
    return whole && numbers && (!r->columns || (n == 2 && fold && nests[1]->n_axes == 1));
}

/* All rows of an array, one after the other. */
static Core *rows_joined(Rows *r, const CoreVar *array, Span span)
{
    Ctx *ctx = r->ctx;
    Core *all = make_ref(ctx, (CoreVar *)(uintptr_t)array, span);
    for (int i = r->rows; i > 1; i--) {
        Nat nats[2] = {all->type->size, all->type->elem->size};
        Type type = type_array(ctx, nat_mul(ctx, nats[0], nats[1]), all->type->elem->elem);
        all = make_prim(ctx, P_join, type, 2, nats, 1, &all, span);
    }
    return all;
}

/* The matrix as rows, or as columns. */
static Core *all_rows(Rows *r, Span span)
{
    Ctx *ctx = r->ctx;
    Core *all = rows_joined(r, r->matrix, span);
    if (!r->columns)
        return all;
    Nat nats[2] = {all->type->size, all->type->elem->size};
    Type type = type_array(ctx, nats[1], type_array(ctx, nats[0], all->type->elem->elem));
    return make_prim(ctx, P_transpose, type, 2, nats, 1, &all, span);
}

static Core *pairs(Ctx *ctx, Core *a, Core *b)
{
    Type types[2] = {a->type->elem, b->type->elem};
    Nat n = a->type->size;
    Core *both[2] = {a, b};
    return make_prim(ctx, P_zip, type_array(ctx, n, type_tuple(ctx, 2, types)), 1, &n, 2, both, a->span);
}

/* The term with projections of p in place of the rows: p.1 the matrix's, p.2 the other one's, or p.2.1 and so on. */
static Core *of_tuple(Rows *r, CoreVar *p, Core *term)
{
    if (term->kind == CORE_VAR) {
        Core *at = make_ref(r->ctx, p, term->span);
        if (term->var == r->row)
            return make_proj(r->ctx, at, 0, term->span);
        for (int i = 0; i < r->beside.n; i++) {
            at = make_proj(r->ctx, at, 1, term->span);
            if (term->var == r->beside.at[i].var)
                return i < r->beside.n - 1 || r->place ? make_proj(r->ctx, at, 0, term->span) : at;
        }
    }
    if (term_children(term) == 0)
        return term;
    Core *new = term_copy(r->ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, of_tuple(r, p, term_child(term, i)));
    return new;
}

/* Has the array a row for each row of the results, and no more? */
static bool has_all_rows(const Rows *r, const Nest *last, const CoreVar *array)
{
    Type type = array->type;
    bool all = true;
    for (int i = 0; i < r->rows && all; i++, type = type->elem)
        all = type->size == last->axes[i]->type->size;
    return all;
}

/* Behind the arrays beside the rows: which row it is. */
static Core *places(Rows *r, Span span)
{
    CoreVar *at = make_var(r->ctx, r->next_var, r->place->name, r->place->type, span);
    return make_generate(r->ctx, at, make_ref(r->ctx, at, span), span);
}

static Core *place_of_tuple(Rows *r, CoreVar *p)
{
    Core *at = make_ref(r->ctx, p, r->place->span);
    for (int i = 0; i <= r->beside.n; i++)
        at = make_proj(r->ctx, at, 1, at->span);
    return at;
}

/* The function of the rows over all of them, and of the arrays beside them. */
static Core *over_rows(Rows *r, const Nest *last, Core *body)
{
    Core *all = all_rows(r, body->span), *others = r->place ? places(r, body->span) : NULL;
    if (r->beside.n == 0 && !r->place)
        return make_map(r->ctx, r->row, body, all);
    for (int i = r->beside.n - 1; i >= 0; i--) {
        Core *rows = rows_joined(r, r->beside.at[i].array, body->span);
        if (!has_all_rows(r, last, r->beside.at[i].array))
            return NULL;
        others = others ? pairs(r->ctx, rows, others) : rows;
    }
    Core *zip = pairs(r->ctx, all, others);
    CoreVar *p = make_var(r->ctx, r->next_var, "p", zip->type->elem, body->span);
    body = of_tuple(r, p, body);
    if (r->place)
        body = make_let(r->ctx, r->place, place_of_tuple(r, p), body);
    return make_map(r->ctx, p, body, zip);
}

Core *rows_program(Ctx *ctx, const CoreEntry *entry, int rows, int n, Nest *const *nests, Nat *length, int *next_var)
{
    Rows r = {.ctx = ctx, .next_var = next_var, .rows = rows, .several = n > 1, .fits = true};
    const Nest *last = nests[n - 1];
    Core **values = NEWN(ctx, Core *, n + 1);
    for (int i = 0; i < n; i++) {
        values[i] = member_value(&r, nests[i]);
        CoreVar *var = make_var(ctx, next_var, nests[i]->var->name, values[i]->type, values[i]->span);
        vec_push(ctx, &r.members, ((Member){nests[i], var}));
        if (!r.fits)
            return NULL;
    }
    bool asked = r.columns && r.place; /* which column it is has no template */
    if (!r.matrix || asked || !worth_it(&r, n, nests, values))
        return NULL;
    Core *body = values[n - 1];
    for (int i = n - 2; i >= 0; i--)
        body = make_let(ctx, r.members.at[i].var, values[i], body);
    bool all = r.columns ? r.matrix->type->elem->size == last->axes[0]->type->size : has_all_rows(&r, last, r.matrix);
    Core *program = all ? over_rows(&r, last, body) : NULL;
    *length = r.columns ? NULL : row_type(&r, r.matrix)->size;
    return program ? rows_split(ctx, entry, rows, last->axes, program, next_var) : NULL;
}

Core *fold_program(Ctx *ctx, int n, Nest *const *nests, int *next_var)
{
    const Core *fold = nests[0]->element;
    Core *value = with_vectors(ctx, next_var, nests[0]->element, false);
    if (n > 2 || !term_is(fold, P_reduce))
        return NULL;
    return n == 1 ? value : make_let(ctx, nests[0]->var, value, nests[1]->element);
}
