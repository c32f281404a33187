/* Programs of rows: arrays of which row i is worked out from row i of one matrix, and from row or
 * element i of others, become the function of a map over the rows, with a `let` for each. A block
 * then has the row on chip.
 *
 *   top[i] = reduce(max, xs[i]);  e[i][j] = exp(xs[i][j] - top[i])
 *     ->  map(fun row => let top = reduce(max, row) in map(fun x => exp(x - top), row), xs)
 *
 * With other arrays it is a map over zip(xs, others); which row it is may be one of these.
 */
#include "ir/key.h"
#include "schedule/row_matrix.h"
#include "schedule/row_views.h"

typedef struct Member {
    const Nest *nest;
    CoreVar *var; /* the row of it, or what it is of the row */
} Member;

typedef struct Rows {
    Ctx *ctx;
    const CoreEntry *entry;
    int *next_var;
    int rows; /* axes that say which row */
    VEC(Member) members; /* in order; the last one is what all is for */
    RowOperand matrix;    /* whose rows, or columns, all is made of: the first one; NULLs: none yet */
    RowOperands beside;
    CoreVar *place;      /* which row it is, if that is asked */
    VEC(const CoreVar *) computed; /* indices that are made of what members are of the row */
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

static RowOperand operand(Rows *r, Core *all, const char *name)
{
    return (RowOperand){all, make_var(r->ctx, r->next_var, name, all->type->elem, all->span)};
}

/* The row of the matrix, or what stands beside it. The matrix is the first one of numbers. */
static CoreVar *row_of(Rows *r, Core *all, const char *name)
{
    Type row = all->type->elem;
    if (!r->matrix.all && is_vector(row) && row->elem->scalar != SC_BOOL)
        r->matrix = operand(r, all, "row");
    r->fits &= !r->columns;
    if (r->matrix.all && core_same(r->ctx, r->matrix.all, all))
        return r->matrix.var;
    for (int i = 0; i < r->beside.n; i++)
        if (core_same(r->ctx, r->beside.at[i].all, all))
            return r->beside.at[i].var;
    vec_push(r->ctx, &r->beside, operand(r, all, name));
    return r->beside.at[r->beside.n - 1].var;
}

/* Is all that stands beside the matrix a number for each row, or a row as long? What else has no
 * template. */
static bool fits_beside(const Rows *r)
{
    bool fits = true;
    for (int i = 0; i < r->beside.n; i++) {
        const Type row = r->beside.at[i].all->type->elem;
        fits &= row->kind == TY_SCALAR || (is_vector(row) && row->size == r->matrix.var->type->size);
    }
    return fits;
}

/* A read of column i of the matrix: xs[k][i]. */
static Core *column_read(Rows *r, const Nest *nest, Core *read, const CoreVar *array)
{
    Core *all = transposed(r->ctx, make_ref(r->ctx, (CoreVar *)(uintptr_t)array, read->span));
    if (!r->matrix.all) {
        r->matrix = operand(r, all, "column");
        r->columns = true;
    }
    r->fits &= r->columns && core_same(r->ctx, r->matrix.all, all) && all->type->size == nest->axes[0]->type->size;
    return r->fits ? make_index(r->ctx, make_ref(r->ctx, r->matrix.var, read->span), read->prim.args[0]->prim.nats[1], read->span)
                   : read;
}

/* A read of a member's row. What has several axes for a row is one row of them all. */
static Core *member_read(Rows *r, const Member *member, Core *read, int indices)
{
    Core *row = make_ref(r->ctx, member->var, read->span);
    r->fits &= indices == r->rows || (read->type->kind != TY_ARRAY && row->type->kind == TY_ARRAY);
    return indices > r->rows && r->fits ? make_index(r->ctx, row, flat_within(r->ctx, read, indices - r->rows), read->span) : row;
}

static Core *row_term(Rows *r, RowReads *reads, Core *term);

static bool mentions_member(Rows *r, const Core *term)
{
    bool mentions = term->kind == CORE_VAR && member_of(r, term->var);
    for (int i = 0; i < term_children(term) && !mentions; i++)
        mentions = mentions_member(r, term_child(term, i));
    return mentions;
}

/* Is the read at an index that the row's own values say? */
static bool reads_computed(const Rows *r, const Core *read)
{
    bool found = false;
    for (; term_is(read, P_index) && !found; read = read->prim.args[0])
        for (int i = 0; i < r->computed.n; i++)
            found |= nat_mentions(read->prim.nats[1], r->computed.at[i]->nat);
    return found;
}

/* An index that is data goes into what stands beside the rows, if only numbers there are read with it,
 * and if it is not made of what is computed of the row, or of a value that has a name in the term. */
static Core *index_let_term(Rows *r, RowReads *reads, Core *let)
{
    bool computed = mentions_member(r, let->let.value) || mentions_local(reads, let->let.value);
    if (computed)
        vec_push(r->ctx, &r->computed, let->let.var);
    else
        vec_push(r->ctx, &reads->lets, let);
    Core *body = row_term(r, reads, let->let.body);
    reads->lets.n -= !computed;
    if (!term_mentions_nat(r->ctx, body, let->let.var->nat))
        return body;
    return make_let(r->ctx, let->let.var, row_term(r, reads, let->let.value), body);
}

/* The term of a member in terms of the row. */
static Core *row_term(Rows *r, RowReads *reads, Core *term)
{
    int indices;
    const Core *first, *array = term_base(term, &indices, &first);
    bool memory = array->kind == CORE_VAR && indices > 0;
    const Member *member = memory ? member_of(r, array->var) : NULL;
    if (member && own_indices(term, reads->nest) >= r->rows)
        return member_read(r, member, term, indices);
    r->fits &= !member && !(array->kind == CORE_VAR && member_of(r, array->var));
    bool column = memory && r->rows == 1 && indices == 2 && term->prim.nats[1] == reads->nest->axes[0]->nat;
    if (column && r->fits && own_indices(term, reads->nest) == 0)
        return column_read(r, reads->nest, term, array->var);
    if (memory && r->fits && r->several && reads_computed(r, term)) /* in memory, where it is */
        return term;
    RowView view;
    if (memory && r->fits && row_view(reads, term, r->several, &view)) {
        Core *row = make_ref(r->ctx, row_of(r, view.all, array->var->name), term->span);
        return view.at ? make_index(r->ctx, row, view.at, term->span) : row;
    }
    if (memory && r->fits && r->several && !mentions_row(reads, term))
        return one_row(reads, term);
    if (term_children(term) == 0)
        return term;
    if (term->kind == CORE_LET && term->let.var->nat)
        return index_let_term(r, reads, term);
    Core *new = term_copy(r->ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, row_term(r, reads, term_child(term, i)));
    return new;
}

/* ---- the function ---- */

/* Which row it is, where the term says so by the index of an axis: rows are counted through all
 * axes. */
static Core *with_place(Rows *r, const Nest *nest, int axis, Core *term)
{
    Nat all = axes_count(r->ctx, r->rows, nest->axes);
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

/* The nest with one axis for all that are within a row. */
static Nest *one_axis_within(Rows *r, const Nest *nest)
{
    Nest *new = NEW(r->ctx, Nest);
    *new = *nest;
    int within = nest->n_axes - r->rows;
    if (within < 2)
        return new;
    CoreVar *all, **axes = NEWN(r->ctx, CoreVar *, r->rows + 1);
    Core *element = flattened(r->ctx, within, nest->axes + r->rows, nest->element, &all, r->next_var);
    Type size = type_idx(r->ctx, nat_simplify(r->ctx, r->entry->known, all->type->size));
    for (int i = 0; i < r->rows; i++)
        axes[i] = nest->axes[i];
    axes[r->rows] = make_var(r->ctx, r->next_var, all->name, size, element->span);
    new->element = term_with_nat(r->ctx, r->next_var, element, all->nat, axes[r->rows]->nat);
    new->axes = axes;
    new->n_axes = r->rows + 1;
    return new;
}

/* The term of an element of the member, or of its number. */
static Core *member_term(Rows *r, const Nest *nest)
{
    RowReads reads = row_reads(r->ctx, r->entry, nest, r->rows, r->next_var);
    return row_term(r, &reads, nest->element);
}

static Type member_type(const Rows *r, const Nest *nest, const Core *term)
{
    Type type = term->type;
    for (int i = nest->n_axes - 1; i >= r->rows; i--)
        type = type_array(r->ctx, nest->axes[i]->type->size, type);
    return type;
}

/* Is the member the row of the matrix as it is? */
static bool is_row_itself(const Rows *r, const Nest *nest, const Core *term)
{
    const Core *row = term_is(term, P_index) ? term->prim.args[0] : NULL;
    bool of_matrix = row && row->kind == CORE_VAR && row->var == r->matrix.var;
    return of_matrix && nest->n_axes == r->rows + 1 && term->prim.nats[1] == nest->axes[r->rows]->nat;
}

/* Members that are the row of the matrix are not read: that is. */
static void read_rows_themselves(Rows *r, int n, Nest *const *nests, Core **terms)
{
    for (int i = 0; i < n; i++) {
        if (!is_row_itself(r, nests[i], terms[i]))
            continue;
        Core *row = make_ref(r->ctx, r->matrix.var, terms[i]->span);
        for (int k = i + 1; k < n; k++)
            terms[k] = term_with_var(r->ctx, r->next_var, terms[k], r->members.at[i].var, row);
    }
}

static Core *member_value(Rows *r, const Nest *nest, Core *term)
{
    term = with_vectors(r->ctx, r->next_var, term, r->several);
    for (int i = nest->n_axes - 1; i >= r->rows; i--)
        term = vector_over(r->ctx, r->next_var, nest->axes[i], term, r->several);
    for (int i = 0; i < r->rows; i++) {
        bool asked = term_mentions_nat(r->ctx, term, nest->axes[i]->nat);
        r->fits &= !asked || r->several;
        term = asked && r->fits ? with_place(r, nest, i, term) : term;
    }
    return term;
}

/* Is the variable what a row is, or what stands beside it? */
static bool is_own(const Rows *r, const CoreVar *var)
{
    bool own = var == r->matrix.var;
    for (int i = 0; i < r->members.n; i++)
        own |= r->members.at[i].var == var;
    for (int i = 0; i < r->beside.n; i++)
        own |= r->beside.at[i].var == var;
    return own;
}

static bool mentions_own(const Rows *r, const Core *term)
{
    bool mentions = term->kind == CORE_VAR && is_own(r, term->var);
    for (int i = 0; i < term_children(term) && !mentions; i++)
        mentions = mentions_own(r, term_child(term, i));
    return mentions;
}

/* Is the term made of maps and folds of whole rows and vectors of their length, of up to three in one
 * map? */
static bool is_of_whole_rows(const Rows *r, const Core *term)
{
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    if (indices > 0 && base->kind == CORE_VAR && base->var->type->kind == TY_ARRAY)
        return !is_own(r, base->var);
    PrimId id = term->kind == CORE_PRIM ? term->prim.id : P_map;
    bool zip = id == P_zip || id == P_zip3;
    if (id == P_join && !mentions_own(r, term))
        return true;
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
    bool numbers = r->matrix.var->type->elem->scalar != SC_BOOL;
    return whole && numbers && (!r->columns || (n == 2 && fold && nests[1]->n_axes == 1));
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
        if (term->var == r->matrix.var)
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
static Core *over_rows(Rows *r, Core *body)
{
    Core *others = r->place ? places(r, body->span) : NULL;
    if (r->beside.n == 0 && !r->place)
        return make_map(r->ctx, r->matrix.var, body, r->matrix.all);
    for (int i = r->beside.n - 1; i >= 0; i--) {
        Core *all = r->beside.at[i].all;
        others = others ? pairs(r->ctx, all, others) : all;
    }
    Core *zip = pairs(r->ctx, r->matrix.all, others);
    CoreVar *p = make_var(r->ctx, r->next_var, "p", zip->type->elem, body->span);
    body = of_tuple(r, p, body);
    if (r->place)
        body = make_let(r->ctx, r->place, place_of_tuple(r, p), body);
    return make_map(r->ctx, p, body, zip);
}

static bool is_read_by(int from, int n, Core *const *values, const CoreVar *var)
{
    bool found = false;
    for (int i = from; i < n && !found; i++)
        found = term_mentions(values[i], var);
    return found;
}

/* Is it a row that is given alone? */
static bool stands_in_tuple(const Rows *r, int i, int n, Core *const *values, const bool *given)
{
    const CoreVar *var = r->members.at[i].var;
    return given && given[i] && var->type->kind == TY_ARRAY && !is_read_by(i + 1, n, values, var);
}

static Core *row_copied(Rows *r, Core *row)
{
    CoreVar *x = make_var(r->ctx, r->next_var, "x", row->type->elem, row->span);
    return make_map(r->ctx, x, make_ref(r->ctx, x, row->span), row);
}

/* The tuple of what is given of a row. Rows that others read, too, are copied. */
static Core *tuple_of(Rows *r, int n, Core *const *values, const bool *given)
{
    Core **items = NEWN(r->ctx, Core *, n + 1);
    int n_items = 0;
    for (int i = 0; i < n; i++) {
        CoreVar *var = r->members.at[i].var;
        Core *item = make_ref(r->ctx, var, values[i]->span);
        if (!given[i])
            continue;
        const bool stands = stands_in_tuple(r, i, n, values, given);
        if (stands)
            item = values[i];
        if (var->type->kind == TY_ARRAY && (!stands || item->kind == CORE_VAR))
            item = row_copied(r, item);
        items[n_items++] = item;
    }
    return make_tuple(r->ctx, n_items, items, values[n - 1]->span);
}

Core *rows_program(Ctx *ctx, const CoreEntry *entry, int rows, int n, Nest *const *nests, const bool *given, Nat *length,
                   int *next_var)
{
    Rows r = {.ctx = ctx, .entry = entry, .next_var = next_var, .rows = rows, .several = n > 1, .fits = true};
    const Nest *last = nests[n - 1];
    Nest **members = NEWN(ctx, Nest *, n + 1);
    Core **values = NEWN(ctx, Core *, n + 1);
    for (int i = 0; i < n; i++) {
        members[i] = one_axis_within(&r, nests[i]);
        values[i] = member_term(&r, members[i]);
        Type type = member_type(&r, members[i], values[i]);
        CoreVar *var = make_var(ctx, next_var, nests[i]->var->name, type, values[i]->span);
        vec_push(ctx, &r.members, ((Member){nests[i], var}));
        if (!r.fits)
            return NULL;
    }
    if (r.matrix.all && !r.columns) {
        rows_computed_once(ctx, next_var, &r.matrix, &r.beside, n, values);
        read_rows_themselves(&r, n, members, values);
    }
    for (int i = 0; i < n; i++) {
        values[i] = member_value(&r, members[i], values[i]);
        if (!r.fits)
            return NULL;
    }
    bool asked = r.columns && r.place; /* which column it is has no template */
    if (!r.matrix.all || asked || !fits_beside(&r) || !worth_it(&r, n, nests, values))
        return NULL;
    Core *body = given ? tuple_of(&r, n, values, given) : values[n - 1];
    for (int i = given ? n - 1 : n - 2; i >= 0; i--)
        if (!stands_in_tuple(&r, i, n, values, given) && term_mentions(body, r.members.at[i].var))
            body = make_let(ctx, r.members.at[i].var, values[i], body);
    *length = r.columns ? NULL : r.matrix.var->type->size;
    Core *program = over_rows(&r, body);
    bool merged = last->n_axes > rows + 1;
    return rows_split(ctx, entry, merged ? last->n_axes : rows, last->axes, merged ? array_joined(ctx, program) : program, next_var);
}

Core *fold_program(Ctx *ctx, int n, Nest *const *nests, int *next_var)
{
    const Core *fold = nests[0]->element;
    Core *value = with_vectors(ctx, next_var, nests[0]->element, false);
    if (n > 2 || !term_is(fold, P_reduce))
        return NULL;
    return n == 1 ? value : make_let(ctx, nests[0]->var, value, nests[1]->element);
}
