/* generate(axis => element) as what rules know: an array that is read, a zip of some, a map over
 * them.
 *
 *   generate(fun k => xs[k] * ys[k])             ->  map(fun p => p.1 * p.2, zip(xs, ys))
 *   generate(fun k => (xs[k], cast(i32)(k)))     ->  zip(xs, generate(fun k => cast(i32)(k)))
 *
 * Where its rows have templates, what an index alone says is an array of numbers beside those that
 * are read:
 *
 *   generate(fun k => if k <= i then xs[k] else 0)
 *     ->  map(fun p => if p.2 != 0 then p.1 else 0,
 *             zip(xs, generate(fun k => if k <= i then 1 else 0)))
 */
#include "ir/key.h"
#include "schedule/shape.h"

enum { MOST_ZIPPED = 4, MOST_WITH_MADE = 3 };

typedef struct Vectors {
    Ctx *ctx;
    int *next_var;
    CoreVar *axis;
    VEC(const CoreVar *) bound; /* in the element: no array that mentions them can be read outside */
    VEC(Core *) arrays;         /* whose element at the axis is read */
    VEC(Core *) made;           /* numbers and bools that the axis alone says, beside them */
} Vectors;

static void add_bound(Vectors *v, const Core *term)
{
    for (int i = 0; term->kind == CORE_LAMBDA && i < term->lambda.n; i++)
        vec_push(v->ctx, &v->bound, term->lambda.params[i]);
    if (term->kind == CORE_LET)
        vec_push(v->ctx, &v->bound, term->let.var);
    for (int i = 0; i < term_children(term); i++)
        add_bound(v, term_child(term, i));
}

static bool mentions(const Vectors *v, const Core *term, const CoreVar *var)
{
    if (var->nat && term_mentions_nat(v->ctx, term, var->nat))
        return true;
    for (int i = 0; i < term_children(term); i++)
        if (mentions(v, term_child(term, i), var))
            return true;
    return term->kind == CORE_VAR && term->var == var;
}

/* Has the array the same value for all of the axis, and a value outside of the element? */
static bool stands_outside(const Vectors *v, const Core *array)
{
    for (int i = 0; i < v->bound.n; i++)
        if (mentions(v, array, v->bound.at[i]))
            return false;
    return !mentions(v, array, v->axis);
}

/* The array of which the term reads the element at the axis; NULL. */
static Core *array_read(const Vectors *v, const Core *term)
{
    bool element = term->kind == CORE_PRIM && term->prim.id == P_index && term->prim.nats[1] == v->axis->nat &&
                   term->prim.nats[0] == v->axis->type->size;
    return element && stands_outside(v, term->prim.args[0]) ? term->prim.args[0] : NULL;
}

static int place_of(const Vectors *v, const Core *array)
{
    for (int i = 0; i < v->arrays.n; i++)
        if (core_same(v->ctx, v->arrays.at[i], array))
            return i;
    return -1;
}

static void add_arrays(Vectors *v, const Core *term)
{
    Core *array = array_read(v, term);
    if (array && place_of(v, array) < 0)
        vec_push(v->ctx, &v->arrays, array);
    for (int i = 0; !array && i < term_children(term); i++)
        add_arrays(v, term_child(term, i));
}

static bool is_bool(const Core *term)
{
    return term->type->kind == TY_SCALAR && term->type->scalar == SC_BOOL;
}

/* Is it a scalar that the axis says, also where a condition around it does not hold? */
static bool is_made(const Vectors *v, const Core *term)
{
    bool scalar = term->type && term->type->kind == TY_SCALAR;
    bool made = scalar && mentions(v, term, v->axis) && term_is_total(term);
    for (int i = 0; i < v->bound.n && made; i++)
        made = !mentions(v, term, v->bound.at[i]);
    return made;
}

static int made_place(const Vectors *v, const Core *term)
{
    for (int i = 0; i < v->made.n; i++)
        if (core_same(v->ctx, v->made.at[i], term))
            return i;
    return -1;
}

static void add_made(Vectors *v, Core *term)
{
    bool made = is_made(v, term);
    if (made && made_place(v, term) < 0)
        vec_push(v->ctx, &v->made, term);
    for (int i = 0; !made && !array_read(v, term) && i < term_children(term); i++)
        add_made(v, term_child(term, i));
}

/* What is made, as an array of numbers. */
static Core *made_array(const Vectors *v, Core *term)
{
    const Span span = term->span;
    Core *number = term;
    if (is_bool(term))
        number = make_if(v->ctx, term, make_int(v->ctx, 1, span), make_int(v->ctx, 0, span), span);
    return make_generate(v->ctx, v->axis, number, span);
}

static Core *element_made(const Vectors *v, Core *term, Core *elements)
{
    const int place = v->arrays.n - v->made.n + made_place(v, term);
    Core *number = make_proj(v->ctx, elements, place, term->span);
    Core *both[2] = {number, make_int(v->ctx, 0, term->span)};
    if (!is_bool(term))
        return number;
    return make_prim(v->ctx, P_ne, term->type, 0, NULL, 2, both, term->span);
}

static Core *with_elements(const Vectors *v, Core *term, Core *elements)
{
    const Core *array = array_read(v, term);
    if (array)
        return v->arrays.n == 1 ? elements : make_proj(v->ctx, elements, place_of(v, array), term->span);
    if (v->made.n > 0 && is_made(v, term))
        return element_made(v, term, elements);
    if (term_children(term) == 0)
        return term;
    Core *new = term_copy(v->ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, with_elements(v, term_child(term, i), elements));
    return new;
}

static Core *zipped(const Vectors *v, int n, Core *const *arrays, Span span)
{
    static const PrimId zips[MOST_ZIPPED + 1] = {P_COUNT, P_COUNT, P_zip, P_zip3, P_zip4};
    if (n == 1)
        return arrays[0];
    Type types[MOST_ZIPPED];
    for (int i = 0; i < n; i++)
        types[i] = arrays[i]->type->elem;
    Nat size = v->axis->type->size;
    Type type = type_array(v->ctx, size, type_tuple(v->ctx, n, types));
    return make_prim(v->ctx, zips[n], type, 1, &size, n, arrays, span);
}

/* The components of a tuple: different arrays that are read, and what an index alone says. */
static Core *components(Vectors *v, Core *element)
{
    Core *arrays[MOST_ZIPPED];
    int reads = 0;
    if (element->kind != CORE_TUPLE || element->tuple.n > MOST_ZIPPED || v->arrays.n == 0)
        return NULL;
    for (int i = 0; i < element->tuple.n; i++) {
        Core *item = element->tuple.items[i];
        Vectors own = {.ctx = v->ctx, .axis = v->axis, .bound = v->bound};
        add_arrays(&own, item);
        arrays[i] = array_read(v, item);
        if (!arrays[i] && own.arrays.n > 0)
            return NULL;
        reads += arrays[i] != NULL;
        if (!arrays[i])
            arrays[i] = make_generate(v->ctx, v->axis, item, item->span);
    }
    return reads == v->arrays.n ? zipped(v, element->tuple.n, arrays, element->span) : NULL;
}

Core *vector_over(Ctx *ctx, int *next_var, CoreVar *axis, Core *element, bool indices)
{
    Vectors v = {.ctx = ctx, .next_var = next_var, .axis = axis};
    add_bound(&v, element);
    add_arrays(&v, element);
    Core *zip = components(&v, element);
    if (zip)
        return zip;
    if (indices && v.arrays.n > 0)
        add_made(&v, element);
    if (v.arrays.n + v.made.n > MOST_WITH_MADE)
        v.made.n = 0;
    for (int i = 0; i < v.made.n; i++)
        vec_push(ctx, &v.arrays, made_array(&v, v.made.at[i]));
    if (v.arrays.n < 1 || v.arrays.n > MOST_ZIPPED)
        return make_generate(ctx, axis, element, element->span);
    Core *vectors = zipped(&v, v.arrays.n, v.arrays.at, element->span);
    CoreVar *x = make_var(ctx, next_var, v.arrays.n == 1 ? "x" : "p", vectors->type->elem, element->span);
    Core *body = with_elements(&v, element, make_ref(ctx, x, element->span));
    if (term_mentions_nat(ctx, body, axis->nat))
        return make_generate(ctx, axis, element, element->span);
    return body->kind == CORE_VAR && body->var == x ? vectors : make_map(ctx, x, body, vectors);
}

Core *with_vectors(Ctx *ctx, int *next_var, Core *term, bool indices)
{
    if (term_children(term) == 0)
        return term;
    Core *new = term_copy(ctx, term);
    for (int i = 0; i < term_children(term); i++)
        term_set_child(new, i, with_vectors(ctx, next_var, term_child(term, i), indices));
    if (new->kind == CORE_PRIM && new->prim.id == P_generate && new->prim.args[0]->kind == CORE_LAMBDA)
        return vector_over(ctx, next_var, new->prim.args[0]->lambda.params[0], new->prim.args[0]->lambda.body, indices);
    return new;
}
