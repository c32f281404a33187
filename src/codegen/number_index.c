/* indexOr and scatterDrop: numbers that the program computes, where indices stand.
 *
 *   indexOr(n, d, k)                   =  0 <= k and k < n ? k : d
 *   element i of scatterDrop to A      =  if 0 <= is[i] and is[i] < m: A[is[i]]
 *
 * A number is tested as data, and is a nat only where the test holds: then nothing that is simplified by an index's range can be wrong. Of a k that
 * is made of indices the test is one of nats. */
#include "codegen/lowering.h"

typedef struct Tested {
    ImpExpr *cond;  /* 0 <= k and k < n */
    ImpExpr *index; /* k as an index, where cond holds */
} Tested;

/* The type in which a number of type k and a size whose indices are of type idx can be compared. */
static Scalar common_type(Scalar k, Scalar idx)
{
    bool fits_int = scalar_bytes(k) < 4 || k == SC_I32;
    return k == SC_U64 ? SC_U64 : fits_int && idx == SC_I32 ? SC_I32 : SC_I64;
}

static ImpExpr *as_type(Lowering *lw, Scalar type, ImpExpr *e) { return e->type == type ? e : imp_cast(lw->ctx, type, e, e->span); }

static Tested test_number(Lowering *lw, View *number, const char *name, Nat n, Span span)
{
    Ctx *ctx = lw->ctx;
    ImpExpr *k = view_scalar(lw, lower_in_register(lw, number, name));
    Scalar idx = type_scalar_of(ctx, type_idx(ctx, n)), type = common_type(k->type, idx);
    ImpExpr *wide = as_type(lw, type, k);
    ImpExpr *below = imp_op2(ctx, P_lt, SC_BOOL, wide, imp_nat(ctx, n, type, span), span);
    bool negative = scalar_is_signed(k->type);
    ImpExpr *zero = imp_lit(ctx, scalar_int(type, 0), span);
    ImpExpr *cond = negative ? imp_op2(ctx, P_and, SC_BOOL, imp_op2(ctx, P_ge, SC_BOOL, wide, zero, span), below, span) : below;
    return (Tested){cond, k};
}

static const char *name_of(Lowering *lw, const Core *e)
{
    if (e->kind == CORE_PROJ && e->proj.value->kind == CORE_VAR)
        return lower_part_name(lw, e->proj.value->var, e->proj.index);
    return e->kind == CORE_VAR ? e->var->name : "k";
}

/* 0 <= k and k < n, as far as it is not known; NULL: it holds. */
static ImpExpr *test_nat(Lowering *lw, Nat k, Nat n, Span span)
{
    Ctx *ctx = lw->ctx;
    Nat zero = nat_const(ctx, 0);
    ImpExpr *low = nat_le(ctx, lw->facts, zero, k) ? NULL : nat_cmp(lw, P_le, zero, k, span);
    ImpExpr *high = nat_lt(ctx, lw->facts, k, n) ? NULL : nat_cmp(lw, P_lt, k, n, span);
    return low && high ? imp_op2(ctx, P_and, SC_BOOL, low, high, span) : low ? low : high;
}

View *lower_read_index_or(Lowering *lw, const Core *e)
{
    Ctx *ctx = lw->ctx;
    const Core *k = e->prim.args[1];
    Nat n = lower_nat(lw, e->prim.nats[0]);
    View *v = view_new(lw, VIEW_SCALAR, lower_type(lw, e->type), e->span);
    if (k->kind == CORE_SIZE) {
        View *otherwise = lower_read(lw, e->prim.args[0]);
        Nat size = lower_nat(lw, k->size);
        ImpExpr *cond = test_nat(lw, size, n, e->span);
        v->expr = imp_nat(ctx, size, type_scalar_of(ctx, v->type), k->span);
        if (cond && otherwise->kind != VIEW_ERROR)
            v->expr = imp_cond(ctx, cond, v->expr, view_scalar(lw, otherwise), e->span);
        return v;
    }
    View *number = lower_read(lw, k), *otherwise = lower_read(lw, e->prim.args[0]);
    if (number->kind == VIEW_ERROR || otherwise->kind == VIEW_ERROR)
        return view_error(lw, e->type);
    Tested t = test_number(lw, number, name_of(lw, k), n, e->span);
    v->expr = imp_cond(ctx, t.cond, as_type(lw, type_scalar_of(ctx, v->type), t.index), view_scalar(lw, otherwise), e->span);
    return v;
}

View *number_at(Lowering *lw, const View *v, Nat i)
{
    Ctx *ctx = lw->ctx;
    Tested t = test_number(lw, view_at(lw, v->other, i), "k", lower_nat(lw, v->size), v->span);
    View *guard = view_new(lw, VIEW_GUARD, v->type->elem, v->span);
    ImpBlock *out = lw->out;
    lw->out = &guard->before_then;
    Scalar type = t.index->type;
    ImpVar *at = lower_new_var(lw, "at", type == SC_U32 || type == SC_U64 ? SC_I64 : type, v->span);
    at->constant = true;
    at->nat = nat_var(ctx, at->name, nat_const(ctx, 0), nat_add_k(ctx, v->size, -1));
    ImpStmt *s = lower_emit(lw, IS_DECL, v->span);
    s->var.var = at;
    s->var.value = as_type(lw, at->type, t.index);
    lw->out = out;
    guard->cond = t.cond;
    guard->source = view_at(lw, v->source, at->nat);
    return guard;
}
