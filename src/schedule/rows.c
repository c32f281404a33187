/* Programs of rows: arrays of which row i is worked out from row i of one matrix alone become the
 * function of a map over its rows, with a `let` for each. A block then has the row on chip.
 *
 *   top[i] = reduce(max, xs[i]);  e[i][j] = exp(xs[i][j] - top[i])
 *     ->  map(fun row => let top = reduce(max, row) in map(fun x => exp(x - top), row), xs)
 */
#include "ir/key.h"
#include "schedule/shape.h"

typedef struct Member {
    const Nest *nest;
    CoreVar *var; /* the row of it, or what it is of the row */
} Member;

typedef struct Rows {
    Ctx *ctx;
    int *next_var;
    VEC(Member) members; /* in order; the last one is what all is for */
    CoreVar *row;        /* of the matrix */
    const CoreVar *matrix;
    bool fits;
} Rows;

static Member *member_of(Rows *r, const CoreVar *array)
{
    for (int i = 0; i < r->members.n; i++)
        if (r->members.at[i].nest->var == array)
            return &r->members.at[i];
    return NULL;
}

static Core *row_term(Rows *r, const Nest *nest, Core *term);

/* A read of row i: of a member, or of the matrix. */
static Core *row_read(Rows *r, const Nest *nest, Core *read, const CoreVar *array)
{
    if (read->prim.args[0]->kind != CORE_VAR) { /* an element of it */
        Core *inner = row_read(r, nest, read->prim.args[0], array);
        return make_index(r->ctx, inner, read->prim.nats[1], read->span);
    }
    const Member *member = member_of(r, array);
    if (!member && !r->matrix && array->type->elem->kind == TY_ARRAY && array->type->elem->elem->kind == TY_SCALAR) {
        r->matrix = array;
        r->row = make_var(r->ctx, r->next_var, "row", array->type->elem, read->span);
    }
    r->fits &= member || array == r->matrix;
    CoreVar *var = member ? member->var : r->row;
    return var ? make_ref(r->ctx, var, read->span) : read;
}

/* The term of a member in terms of the row. */
static Core *row_term(Rows *r, const Nest *nest, Core *term)
{
    int indices;
    const Core *first, *array = term_base(term, &indices, &first);
    if (array->kind == CORE_VAR && first && first->prim.nats[1] == nest->axes[0]->nat)
        return row_read(r, nest, term, array->var);
    if (array->kind == CORE_VAR && member_of(r, array->var))
        r->fits = false;
    if (term_children(term) == 0)
        return term;
    Core *new = term_copy(r->ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, row_term(r, nest, term_child(term, i)));
    return new;
}

/* ---- vectors ---- */

typedef struct Vectors {
    Rows *r;
    CoreVar *axis;
    VEC(Core *) arrays;
    bool fits;
} Vectors;

static void add_vector(Vectors *v, Core *term)
{
    int indices;
    const Core *first, *array = term_base(term, &indices, &first);
    if (array->kind == CORE_VAR && indices == 1 && term->prim.nats[1] == v->axis->nat) {
        for (int i = 0; i < v->arrays.n; i++)
            if (v->arrays.at[i]->var == array->var)
                return;
        vec_push(v->r->ctx, &v->arrays, term->prim.args[0]);
        return;
    }
    if (term->kind == CORE_VAR && term->var == v->axis)
        v->fits = false;
    for (int i = 0; i < term_children(term); i++)
        add_vector(v, term_child(term, i));
}

static Core *with_elements(Vectors *v, Core *term, Core *elements)
{
    int indices;
    const Core *first, *array = term_base(term, &indices, &first);
    if (array->kind == CORE_VAR && indices == 1 && term->prim.nats[1] == v->axis->nat)
        for (int i = 0; i < v->arrays.n; i++)
            if (v->arrays.at[i]->var == array->var)
                return v->arrays.n == 1 ? elements : make_proj(v->r->ctx, elements, i, term->span);
    if (term_children(term) == 0)
        return term;
    Core *new = term_copy(v->r->ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, with_elements(v, term_child(term, i), elements));
    return new;
}

static Core *zipped(Rows *r, int n, Core *const *arrays, Span span)
{
    static const PrimId zips[5] = {P_COUNT, P_COUNT, P_zip, P_zip3, P_zip4};
    if (n == 1)
        return arrays[0];
    Type types[4];
    for (int i = 0; i < n; i++)
        types[i] = arrays[i]->type->elem;
    Nat size = arrays[0]->type->size;
    Type type = type_array(r->ctx, size, type_tuple(r->ctx, n, types));
    return make_prim(r->ctx, zips[n], type, 1, &size, n, arrays, span);
}

/* generate(axis => element) as a map over the vectors whose elements it reads. */
static Core *vector_over(Rows *r, CoreVar *axis, Core *element)
{
    Vectors v = {.r = r, .axis = axis, .fits = true};
    add_vector(&v, element);
    if (!v.fits || v.arrays.n < 1 || v.arrays.n > 4)
        return make_generate(r->ctx, axis, element, element->span);
    for (int i = 0; i < v.arrays.n; i++)
        if (v.arrays.at[i]->type->size != axis->type->size)
            return make_generate(r->ctx, axis, element, element->span);
    Core *vectors = zipped(r, v.arrays.n, v.arrays.at, element->span);
    CoreVar *x = make_var(r->ctx, r->next_var, v.arrays.n == 1 ? "x" : "p", vectors->type->elem, element->span);
    Core *body = with_elements(&v, element, make_ref(r->ctx, x, element->span));
    if (term_mentions_nat(r->ctx, body, axis->nat))
        return make_generate(r->ctx, axis, element, element->span);
    if (body->kind == CORE_VAR && body->var == x)
        return vectors;
    return make_map(r->ctx, x, body, vectors);
}

/* Folds in the term, of vectors. */
static Core *with_vectors(Rows *r, Core *term)
{
    if (term_children(term) == 0)
        return term;
    Core *new = term_copy(r->ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, with_vectors(r, term_child(term, i)));
    if (new->kind == CORE_PRIM && new->prim.id == P_generate)
        return vector_over(r, new->prim.args[0]->lambda.params[0], new->prim.args[0]->lambda.body);
    return new;
}

/* ---- the function ---- */

static Core *member_value(Rows *r, const Nest *nest)
{
    Core *term = with_vectors(r, row_term(r, nest, nest->element));
    for (int i = nest->n_axes - 1; i >= 1; i--)
        term = vector_over(r, nest->axes[i], term);
    r->fits &= !term_mentions_nat(r->ctx, term, nest->axes[0]->nat);
    return term;
}

Core *rows_program(Ctx *ctx, int n, Nest *const *nests, int *next_var)
{
    Rows r = {.ctx = ctx, .next_var = next_var, .fits = true};
    Core **values = NEWN(ctx, Core *, n + 1);
    for (int i = 0; i < n; i++) {
        values[i] = member_value(&r, nests[i]);
        CoreVar *var = make_var(ctx, next_var, nests[i]->var->name, values[i]->type, values[i]->span);
        vec_push(ctx, &r.members, ((Member){nests[i], var}));
        if (!r.fits)
            return NULL;
    }
    if (!r.matrix || r.matrix->type->size != nests[n - 1]->axes[0]->type->size)
        return NULL;
    Core *body = values[n - 1];
    for (int i = n - 2; i >= 0; i--)
        body = make_let(ctx, r.members.at[i].var, values[i], body);
    Core *matrix = make_ref(ctx, (CoreVar *)(uintptr_t)r.matrix, body->span);
    return make_map(ctx, r.row, body, matrix);
}
