/* Scalars where vectors are meant, and vectors where arrays of them are: both become views of what the language has already.
 *
 *   s as a vec[w, t]             is   single(asVector(w, generate{n = w}(fun i => s)))
 *   v as an array of vectors     is   generate{n = 1}(fun i => v) */
#include "frontend/elab_internal.h"

/* n times x, which is an atom. */
static Core *repeated(Elab *e, Core *x, Nat n, Span span)
{
    Ctx *ctx = e->ctx;
    Core *lambda = core_new(e, CORE_LAMBDA, span, x->type);
    lambda->lambda.n = 1;
    lambda->lambda.params = NEWN(ctx, CoreVar *, 1);
    lambda->lambda.params[0] = core_var(e, "i", type_idx(ctx, n), span);
    lambda->lambda.body = x;
    core_done(e, lambda);
    return core_prim(e, P_generate, span, type_array(ctx, n, x->type), 1, &n, 1, &lambda);
}

Core *core_splat(Elab *e, Core *x, Type vec)
{
    Nat nats[2] = {vec->size, vec->size};
    Core *all = repeated(e, x, vec->size, x->span);
    Core *vectors = core_prim(e, P_asVector, x->span, type_array(e->ctx, nat_const(e->ctx, 1), vec), 2, nats, 1, &all);
    return core_prim(e, P_single, x->span, vec, 0, NULL, 1, &vectors);
}

const Core *core_splatted(const Core *core)
{
    if (core->kind != CORE_PRIM || core->prim.id != P_single)
        return core;
    const Core *vectors = core->prim.args[0];
    if (vectors->kind != CORE_PRIM || vectors->prim.id != P_asVector || vectors->prim.args[0]->kind != CORE_PRIM ||
        vectors->prim.args[0]->prim.id != P_generate)
        return core;
    return vectors->prim.args[0]->prim.args[0]->lambda.body;
}

bool splat_operand(Elab *e, Value *v, Type vec)
{
    Type elem = type_resolve(e, vec->elem);
    LetBind *lets = NULL;
    Core *x;
    Value bound = bind_value(e, *v, "s", v->span, &lets);
    if (bound.kind != V_CORE || elem->kind != TY_SCALAR || !value_to_core(e, bound, elem, &x) || x->kind == CORE_UNIT_ERROR)
        return false;
    *v = v_with_lets(e, v_core(e, core_splat(e, x, vec)), lets);
    return true;
}

bool is_vector(Elab *e, Value v) { return v.kind == V_CORE && type_resolve(e, v.core->type)->kind == TY_VEC; }

Value array_of_vector(Elab *e, Value v)
{
    LetBind *lets = NULL;
    Value bound = bind_value(e, v, "v", v.span, &lets);
    return v_with_lets(e, v_core(e, repeated(e, bound.core, nat_const(e->ctx, 1), v.span)), lets);
}

Value vector_components(Elab *e, Value v)
{
    Ctx *ctx = e->ctx;
    Value one = array_of_vector(e, v);
    Type vec = type_resolve(e, v.core->type);
    Nat nats[2] = {nat_const(ctx, 1), vec->size};
    Core *all = core_prim(e, P_asScalar, v.span, type_array(ctx, vec->size, type_resolve(e, vec->elem)), 2, nats, 1, &one.core);
    return v_with_lets(e, v_core(e, all), one.lets);
}
