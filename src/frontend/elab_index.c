/* Numbers as indices, by the primitives that test them: indexOr and scatterDrop. */
#include "frontend/elab_internal.h"

/* indexOr(n, d, k) of a k that is an index or a size itself: known, or tested as it is. */
Value index_or_of_index(Elab *e, const Value *args, Span span, bool *done)
{
    Ctx *ctx = e->ctx;
    LetBind *lets = NULL;
    Nat n, k, zero = nat_const(ctx, 0);
    Core *core[2];
    *done = value_is_natable(e, args[2]) && value_to_nat(e, args[0], &n, &lets);
    if (!*done)
        return v_error(span);
    value_to_nat(e, args[2], &k, &lets);
    if (nat_is_error(n) || nat_is_error(k))
        return v_error(span);
    Type idx = type_idx(ctx, n);
    if (!value_to_core(e, args[1], idx, &core[0])) {
        report_mismatch(e, E0301, args[1].span, idx, "`indexOr` gives this index where the number is none, and it is %s", value_text(e, args[1]));
        return v_error(span);
    }
    if (core[0]->kind == CORE_UNIT_ERROR)
        return v_error(span);
    core[1] = core_size(e, args[2].span, k, type_scalar(ctx, SC_I64));
    bool inside = nat_le(ctx, e->facts, zero, k) && nat_lt(ctx, e->facts, k, n);
    bool outside = nat_lt(ctx, e->facts, k, zero) || nat_le(ctx, e->facts, n, k);
    Value v = v_core(e, inside ? core_size(e, args[2].span, k, idx) : outside ? core[0] : core_prim(e, P_indexOr, span, idx, 1, &n, 2, core));
    return v_with_lets(e, v, lets);
}

bool check_number(Elab *e, const char *callee, Type number, Span span)
{
    number = type_resolve(e, number);
    if (number->kind != TY_VEC)
        return true;
    Diag *d = elab_error(e, E0318, span, "`%s` wants integers, and these are vectors, %s", callee, tyt(e, number));
    diag_note(e->ctx, d, NO_SPAN, "`asScalar` gives them one by one");
    return false;
}
