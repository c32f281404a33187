/* What conditions say about numbers: a comparison of data, `a < 256`, as one of nats, so that the facts of the places around may decide it.
 *
 * A variable that is set once stands for one number wherever its declaration is seen; a nat variable of its own (ImpVar.number) stands for it in facts, and
 * nowhere else. Only comparisons whose two sides are exactly the numbers they show are taken: literals, sizes that fit their type, and variables, perhaps
 * cast to a type that has all their values. */
#include "codegen/lowering.h"

/* Has `to` all values of `from`? */
static bool holds_all(Scalar to, Scalar from)
{
    if (!scalar_is_int(to) || !scalar_is_int(from))
        return false;
    if (scalar_is_signed(to) == scalar_is_signed(from))
        return scalar_bytes(to) >= scalar_bytes(from);
    return scalar_is_signed(to) && scalar_bytes(to) > scalar_bytes(from);
}

/* Between its bounds; u64 has values that are no nats. */
static bool bounds_of(Ctx *ctx, Scalar type, Nat *lo, Nat *hi)
{
    if (!scalar_is_int(type) || type == SC_U64)
        return false;
    bool is_signed = scalar_is_signed(type);
    int bits = 8 * scalar_bytes(type) - is_signed;
    *lo = bits == 63 ? NULL : nat_const(ctx, is_signed ? -((int64_t)1 << bits) : 0);
    *hi = bits == 63 ? NULL : nat_const(ctx, ((int64_t)1 << bits) - 1);
    return true;
}

static Nat number_of(Lowering *lw, ImpVar *var)
{
    Nat lo, hi;
    if (!var->constant || var->slots != 1 || var->vector || !bounds_of(lw->ctx, var->type, &lo, &hi))
        return NULL;
    if (!var->number)
        var->number = nat_var(lw->ctx, var->name, lo, hi);
    return var->number;
}

static bool fits(Lowering *lw, Nat nat, Scalar type)
{
    Nat lo, hi;
    if (!bounds_of(lw->ctx, type, &lo, &hi))
        return false;
    if (!lo)
        return true;
    NatRange r = nat_range(lw->ctx, lw->facts, nat);
    return r.has_lo && r.has_hi && r.lo >= lo->value && r.hi <= hi->value;
}

/* The number that e shows; NULL where that is not sure. */
static Nat shown(Lowering *lw, const ImpExpr *e)
{
    Nat lo, hi;
    switch (e->kind) {
    case IE_LIT: return bounds_of(lw->ctx, e->type, &lo, &hi) ? nat_const(lw->ctx, e->lit.i) : NULL;
    case IE_NAT: return fits(lw, e->nat, e->type) ? e->nat : NULL;
    case IE_VAR: return e->var.var->nat ? e->var.var->nat : number_of(lw, e->var.var);
    case IE_CAST: return e->cast.value->kind != IE_CAST && holds_all(e->type, e->cast.value->type) ? shown(lw, e->cast.value) : NULL;
    case IE_LOAD: case IE_OP: case IE_COND: case IE_SHFL: break;
    }
    return NULL;
}

ImpExpr *numbers_as_nats(Lowering *lw, ImpExpr *cond)
{
    if (cond->kind != IE_OP || cond->type != SC_BOOL)
        return cond;
    if (cond->op.id == P_and || cond->op.id == P_or || cond->op.id == P_not) {
        ImpExpr *parts[2];
        bool same = true;
        for (int k = 0; k < cond->op.n; k++) {
            parts[k] = numbers_as_nats(lw, cond->op.args[k]);
            same &= parts[k] == cond->op.args[k];
        }
        return same ? cond : imp_op(lw->ctx, cond->op.id, SC_BOOL, cond->op.n, parts, cond->span);
    }
    const ImpExpr *a = cond->op.args[0], *b = cond->op.n == 2 ? cond->op.args[1] : NULL;
    if (cond->op.id < P_eq || cond->op.id > P_ge || !b || is_nat_comparison(cond))
        return cond;
    Nat x = shown(lw, a), y = x ? shown(lw, b) : NULL;
    return y ? nat_cmp(lw, cond->op.id, x, y, cond->span) : cond;
}
