#include "ir/result_place.h"

#include "ir/terms.h"

/* The array whose elements these are, over so many axes, each at its own place; else NULL. */
static const Core *array_at(const Core *element, int n, const Nat *axes)
{
    for (int i = n - 1; i >= 0; i--, element = element->prim.args[0])
        if (element->kind != CORE_PRIM || element->prim.id != P_index || element->prim.nats[1] != axes[i])
            return NULL;
    return element->kind == CORE_VAR ? element : NULL;
}

/* generate(fun i => array[i].k), over any number of axes, or none: the array, and k. */
static bool is_component(const Core *term, ResultRead *read)
{
    enum { MOST_AXES = 8 };
    Nat axes[MOST_AXES];
    int n = 0;
    const Core *t = term;
    for (; n < MOST_AXES && t->kind == CORE_PRIM && t->prim.id == P_generate; t = t->prim.args[0]->lambda.body)
        axes[n++] = t->prim.args[0]->lambda.params[0]->nat;
    if (t->kind != CORE_PROJ)
        return false;
    const Core *array = array_at(t->proj.value, n, axes);
    Type type = array ? array->type : NULL;
    const Core *over = term;
    for (int i = 0; i < n && type; i++, over = over->prim.args[0]->lambda.body) {
        bool all = type->kind == TY_ARRAY && type->size == over->type->size;
        type = all ? type->elem : NULL;
    }
    if (!type || type->kind != TY_TUPLE)
        return false;
    *read = (ResultRead){.array = array, .component = t->proj.index};
    return true;
}

bool result_read(const Core *term, ResultRead *read)
{
    *read = (ResultRead){.component = WHOLE_ELEMENT};
    if (term->kind == CORE_VAR) {
        read->array = term;
        return true;
    }
    if (is_component(term, read))
        return true;
    if (term->kind == CORE_PROJ) {
        read->component = term->proj.index;
        term = term->proj.value;
    }
    read->of_one = true;
    if (term->kind != CORE_PRIM || term->prim.id != P_index || !nat_is(term->prim.nats[1], 0) ||
        term->prim.args[0]->kind != CORE_VAR || !nat_is(term->prim.args[0]->type->size, 1))
        return false;
    read->array = term->prim.args[0];
    return read->component == WHOLE_ELEMENT || read->array->type->elem->kind == TY_TUPLE;
}

int result_items(const Core *term, Core ***items)
{
    if (term->kind == CORE_TUPLE) {
        *items = term->tuple.items;
        return term->tuple.n;
    }
    bool zip = term->kind == CORE_PRIM &&
               (term->prim.id == P_zip || term->prim.id == P_zip3 || term->prim.id == P_zip4);
    *items = zip ? term->prim.args : NULL;
    return zip ? term->prim.n_args : 0;
}

bool result_is_joined(const Core *term)
{
    if (term_is(term, P_join))
        return true;
    const Core *f = term_is(term, P_map) ? term->prim.args[0] : NULL;
    if (!f || f->kind != CORE_LAMBDA || !result_is_joined(f->lambda.body))
        return false;
    const Core *of = f->lambda.body->prim.args[f->lambda.body->prim.n_args - 1];
    return of->kind == CORE_VAR && of->var == f->lambda.params[0];
}

int result_parts(const Core *term, Core ***items)
{
    if (!result_is_joined(term))
        return result_items(term, items);
    *items = &term->prim.args[term->prim.n_args - 1];
    return 1;
}

void result_set_part(Core *term, int i, Core *part)
{
    term_set_child(term, result_is_joined(term) ? term->prim.n_args - 1 : i, part);
}

/* The place of the array, or of one component of its elements. */
static bool place_of(Ctx *ctx, const Core *rest, const CoreVar *array, int component, ResultPlace *place)
{
    for (;;) {
        if (rest->kind == CORE_LET)
            rest = rest->let.body;
        else if (rest->kind == CORE_PRIM && rest->prim.id == P_nextKernel)
            rest = rest->prim.args[0]->lambda.body;
        else
            break;
    }
    ResultRead read;
    if (result_read(rest, &read) && read.array->var == array && read.component == component) {
        if (read.of_one)
            vec_push(ctx, &place->path, PLACE_OF_ONE);
        return true;
    }
    int depth = place->path.n;
    if (rest->kind == CORE_IF && type_gives_arrays(rest->type)) {
        ResultPlace other = {0};
        for (int i = 0; i < depth; i++)
            vec_push(ctx, &other.path, place->path.at[i]);
        bool both = place_of(ctx, rest->cond.then, array, component, place) &&
                    place_of(ctx, rest->cond.otherwise, array, component, &other) && result_place_same(place, &other);
        place->path.n = both ? place->path.n : depth;
        return both;
    }
    Core **items;
    for (int i = 0, n = result_items(rest, &items); i < n; i++) {
        vec_push(ctx, &place->path, i);
        if (place_of(ctx, items[i], array, component, place))
            return true;
        place->path.n = depth;
    }
    return false;
}

static Type element_of(Type type)
{
    while (type->kind == TY_ARRAY)
        type = type->elem;
    return type;
}

bool result_place(Ctx *ctx, const Core *rest, const CoreVar *array, ResultPlace *place)
{
    if (place_of(ctx, rest, array, WHOLE_ELEMENT, place))
        return true;
    Type element = element_of(array->type);
    if (element->kind != TY_TUPLE)
        return false;
    place->n_parts = element->n_items;
    place->parts = NEWN(ctx, ResultPlace, element->n_items);
    bool any = false;
    for (int i = 0; i < element->n_items; i++) {
        place->parts[i] = (ResultPlace){0};
        place->parts[i].elsewhere = !place_of(ctx, rest, array, i, &place->parts[i]);
        any |= !place->parts[i].elsewhere;
    }
    return any;
}

static bool all_made(int n, Core *const *items)
{
    bool made = n > 0;
    for (int i = 0; made && i < n; i++)
        made = result_is_made(items[i]);
    return made;
}

bool result_is_made(const Core *value)
{
    while (value->kind == CORE_LET)
        value = value->let.body;
    if (value->kind == CORE_IF)
        return result_is_made(value->cond.then) && result_is_made(value->cond.otherwise);
    Core **items;
    int n = result_items(value, &items);
    if (n)
        return all_made(n, items);
    if (value->kind != CORE_PRIM || value->prim.id == P_repeatKernels)
        return false;
    PrimId id = value->prim.id;
    if (prim_is_scatter(id))
        return true;
    PrimLevel level = prim_rows[id].level;
    bool through = prim_rows[id].write[0] || id == P_id || id == P_map || id == P_unzip || id == P_asVector ||
                   id == P_asScalar || id == P_readOnce || id == P_keepCached;
    if (through || id == P_toGlobal || id == P_toShared || id == P_toPrivate)
        return result_is_made(value->prim.args[value->prim.n_args - 1]);
    return level != LEVEL_VIEW && level != LEVEL_SCALAR;
}

bool result_place_same(const ResultPlace *a, const ResultPlace *b)
{
    bool same = a->path.n == b->path.n && a->elsewhere == b->elsewhere;
    for (int i = 0; same && i < a->path.n; i++)
        same = a->path.at[i] == b->path.at[i];
    return same;
}
