/* mapThreads[place = fun i => e]: element i on thread e. */
#include "codegen/lowering.h"

/* The place, or why it is none. */
static const char *affine_place(Lowering *lw, const Core *map, Placement *place)
{
    Ctx *ctx = lw->ctx;
    const Core *lambda = map->prim.options.place;
    Nat i = lambda->lambda.params[0]->nat, e = lower_nat(lw, lambda->lambda.body->size);
    Nat zero = nat_const(ctx, 0), shift = nat_subst(ctx, e, i, zero);
    Nat stride = nat_sub(ctx, nat_subst(ctx, e, i, nat_const(ctx, 1)), shift);
    if (nat_is(lower_nat(lw, map->type->size), 1))
        stride = nat_const(ctx, 1);
    else if (!nat_is_const(stride) || !nat_equal(ctx, lw->facts, e, nat_add(ctx, nat_mul(ctx, i, stride), shift)))
        return "not of the form a*i + b with a constant a";
    if (stride->value == 0)
        return "the same for all elements";
    if (stride->value < 0 || stride->value > INT32_MAX)
        return stride->value < 0 ? "falling: the thread of an element is above that of the one before" : "too far apart";
    if (!nat_le(ctx, lw->facts, zero, shift))
        return "perhaps below 0";
    *place = (Placement){stride->value, shift};
    return NULL;
}

Nat place_end(Lowering *lw, const Core *map)
{
    Ctx *ctx = lw->ctx;
    Placement place = {1, nat_const(ctx, 0)};
    Nat n = map->type->size;
    if (!map->prim.options.place || affine_place(lw, map, &place))
        return n;
    return nat_add_k(ctx, nat_add(ctx, nat_mul_k(ctx, nat_add_k(ctx, n, -1), place.stride), place.shift), 1);
}

bool place_of_map(Lowering *lw, const Core *map, Placement *place)
{
    *place = (Placement){1, nat_const(lw->ctx, 0)};
    const char *why = map->prim.options.place ? affine_place(lw, map, place) : NULL;
    if (why) {
        const Core *lambda = map->prim.options.place;
        Diag *d = lower_error(lw, E0433, lambda->span, "no thread follows from this place: it is %s", why);
        diag_label(lw->ctx, d, "element i on thread %s", nat_text(lw->ctx, lambda->lambda.body->size));
        diag_help(lw->ctx, d, "give every element a thread of its own, as in `place = fun i => 2 * i + 1`; `reverse` and `reorder` on the array do the rest");
    }
    return !why;
}
