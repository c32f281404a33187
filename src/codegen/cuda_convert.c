/* Conversions that C makes by itself are not written down. */
#include "codegen/cuda_internal.h"

/* Has the conversion of an integer the same value, in a signed type that C's own rules would convert it to, too? */
static bool is_implicit(const ImpExpr *e)
{
    if (!imp_widens(e) || !scalar_is_signed(e->type))
        return false;
    Scalar from = e->cast.value->type;
    return scalar_is_signed(from) || scalar_bytes(from) < 4;
}

static bool fits_int(int64_t value) { return value >= -INDEX_MAX && value <= INDEX_MAX; }

/* The same value as an int or an index, where its text is one without a cast; NULL otherwise. */
static const ImpExpr *as_index(const Cuda *c, const ImpExpr *e)
{
    if (is_implicit(e))
        e = e->cast.value;
    if (e->type == SC_I32 || (scalar_is_int(e->type) && scalar_bytes(e->type) < 4))
        return e;
    if (e->type != SC_I64)
        return NULL;
    if (e->kind == IE_LIT)
        return fits_int(e->lit.i) ? imp_lit(c->ctx, scalar_int(SC_I32, e->lit.i), e->span) : NULL;
    if (e->kind == IE_NAT)
        return nat_is_const(e->nat) ? (fits_int(e->nat->value) ? imp_nat(c->ctx, e->nat, SC_I32, e->span) : NULL)
                                    : cuda_nat_type(c, e->nat) == INDEX_LONG ? NULL : imp_nat(c->ctx, e->nat, CUDA_AS_IT_IS, e->span);
    if (e->kind != IE_COND)
        return NULL;
    const ImpExpr *then = as_index(c, e->cond.then), *otherwise = as_index(c, e->cond.otherwise);
    if (!then || !otherwise)
        return NULL;
    ImpExpr *choice = imp_cond(c->ctx, e->cond.cond, (ImpExpr *)then, (ImpExpr *)otherwise, e->span);
    choice->type = CUDA_AS_IT_IS;
    return choice;
}

const ImpExpr *cuda_compared(const Cuda *c, const ImpExpr *e)
{
    const ImpExpr *plain = e->kind == IE_COND ? NULL : as_index(c, e);
    return plain ? plain : e;
}

static CudaIndex type_of_index(const Cuda *c, const ImpExpr *e)
{
    if (e->kind == IE_NAT)
        return cuda_nat_type(c, e->nat);
    if (e->kind != IE_COND)
        return INDEX_INT;
    CudaIndex then = type_of_index(c, e->cond.then);
    return then != INDEX_INT ? then : type_of_index(c, e->cond.otherwise);
}

const ImpExpr *cuda_index_value(const Cuda *c, const ImpStmt *decl, CudaIndex *type)
{
    const ImpVar *var = decl->var.var;
    const ImpExpr *value = decl->var.value;
    bool index = var->nat && var->slots == 1 && value && (var->type == SC_I64 || (value->kind == IE_NAT && nat_is_wide(c, value->nat)));
    value = !index ? NULL : var->type == SC_I64 ? as_index(c, value) : imp_nat(c->ctx, value->nat, CUDA_AS_IT_IS, value->span);
    *type = value ? type_of_index(c, value) : var->type == SC_I64 ? INDEX_LONG : INDEX_INT;
    return value;
}
