#include "ir/result_place.h"

static bool is_element(const Core *term, const CoreVar *array)
{
    return term->kind == CORE_PRIM && term->prim.id == P_index && nat_is(term->prim.nats[1], 0) &&
           term->prim.args[0]->kind == CORE_VAR && term->prim.args[0]->var == array &&
           nat_is(array->type->size, 1);
}

bool result_is(const Core *term, const CoreVar *array)
{
    return (term->kind == CORE_VAR && term->var == array) || is_element(term, array);
}

/* Its results, if it is a tuple or zip of them; else none. */
static int results_of(const Core *term, Core ***items)
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

bool result_place(Ctx *ctx, const Core *rest, const CoreVar *array, ResultPlace *place)
{
    for (;;) {
        if (rest->kind == CORE_LET)
            rest = rest->let.body;
        else if (rest->kind == CORE_PRIM && rest->prim.id == P_nextKernel)
            rest = rest->prim.args[0]->lambda.body;
        else
            break;
    }
    if (result_is(rest, array)) {
        if (rest->kind != CORE_VAR)
            vec_push(ctx, &place->path, PLACE_OF_ONE);
        return true;
    }
    int depth = place->path.n;
    if (rest->kind == CORE_IF && type_gives_arrays(rest->type)) {
        ResultPlace other = {0};
        for (int i = 0; i < depth; i++)
            vec_push(ctx, &other.path, place->path.at[i]);
        bool both = result_place(ctx, rest->cond.then, array, place) &&
                    result_place(ctx, rest->cond.otherwise, array, &other) && result_place_same(place, &other);
        place->path.n = both ? place->path.n : depth;
        return both;
    }
    Core **items;
    for (int i = 0, n = results_of(rest, &items); i < n; i++) {
        vec_push(ctx, &place->path, i);
        if (result_place(ctx, items[i], array, place))
            return true;
        place->path.n = depth;
    }
    return false;
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
    int n = results_of(value, &items);
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
    bool same = a->path.n == b->path.n;
    for (int i = 0; same && i < a->path.n; i++)
        same = a->path.at[i] == b->path.at[i];
    return same;
}
