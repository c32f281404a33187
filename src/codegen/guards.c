#include "codegen/guards.h"
#include "codegen/walk.h"

Nat guard_excess(Ctx *ctx, const ImpExpr *e)
{
    if (e->kind != IE_OP || e->op.n != 2 || e->op.args[0]->kind != IE_NAT || e->op.args[1]->kind != IE_NAT)
        return NULL;
    Nat d = nat_sub(ctx, e->op.args[0]->nat, e->op.args[1]->nat), negated = nat_sub(ctx, e->op.args[1]->nat, e->op.args[0]->nat);
    switch (e->op.id) {
    case P_lt: return nat_add_k(ctx, d, 1);
    case P_le: return d;
    case P_gt: return nat_add_k(ctx, negated, 1);
    case P_ge: return negated;
    default: return NULL;
    }
}

/* An upper bound of a factor of a sum, such as thread / 2, for variables between constants. NULL: none. */
static Nat factor_at_most(Ctx *ctx, const NatFacts *facts, Nat factor)
{
    NatRange range = factor->kind == NAT_DIV || factor->kind == NAT_MOD ? nat_range(ctx, facts, factor) : (NatRange){false, false, 0, 0};
    return range.has_lo && range.has_hi && range.lo >= 0 ? nat_const(ctx, range.hi) : NULL;
}

bool asks_indices(const ImpExpr *cond)
{
    if (cond->kind != IE_OP || cond->op.n != 2)
        return false;
    if (cond->op.id == P_and)
        return asks_indices(cond->op.args[0]) && asks_indices(cond->op.args[1]);
    return cond->op.args[0]->kind == IE_NAT && cond->op.args[1]->kind == IE_NAT;
}

Nat guard_largest(Ctx *ctx, const NatFacts *facts, Nat nat, const Bound *b)
{
    if (!nat_mentions(nat, b->var))
        return nat;
    if (nat == b->var)
        return b->hi;
    if (nat->kind != NAT_SUM)
        return NULL;
    Nat sum = nat_const(ctx, 0);
    for (int i = 0; i < nat->n_terms; i++) {
        const NatTerm *term = &nat->terms[i];
        Nat rest = nat_const(ctx, term->coef < 0 ? -term->coef : term->coef);
        int times = 0;
        bool at_most = false;
        for (int j = 0; j < term->n_factors; j++) {
            Nat factor = term->factors[j], most = term->coef > 0 && factor != b->var && nat_mentions(factor, b->var) ? factor_at_most(ctx, facts, factor) : NULL;
            at_most |= most != NULL;
            if (factor == b->var)
                times++;
            else
                rest = nat_mul(ctx, rest, most ? most : factor);
        }
        if (nat_mentions(rest, b->var) || times > 1)
            return NULL;
        if ((times || at_most) && !nat_le(ctx, facts, nat_const(ctx, 0), rest))
            return NULL;
        Nat value = !times ? rest : nat_mul(ctx, rest, term->coef < 0 ? b->lo : b->hi);
        sum = term->coef < 0 ? nat_sub(ctx, sum, value) : nat_add(ctx, sum, value);
    }
    return sum;
}

static bool is_thread_id(const ImpKernel *k, Nat var)
{
    return var == k->warp || var == k->lane || var == k->thread[0] || var == k->thread[1] || var == k->thread[2];
}

static void collect_id(void *user, Nat var)
{
    ThreadIds *ids = user;
    if (is_thread_id(ids->kernel, var) && ids->n < 5)
        ids->found[ids->n++] = var;
}

ThreadIds guard_thread_ids(Lowering *lw, Nat nat)
{
    ThreadIds ids = {.kernel = lw->kernel};
    nat_each_var(lw->ctx, nat, collect_id, &ids);
    return ids;
}

typedef struct Divides {
    Lowering *lw;
    bool unsafe;
} Divides;

static void look_at_divisors(void *user, ImpExpr **at)
{
    Divides *d = user;
    if ((*at)->kind == IE_NAT)
        d->unsafe |= !imp_divides_safely(d->lw->ctx, d->lw->facts, (*at)->nat);
}

bool may_divide_by_0(Lowering *lw, ImpExpr *term)
{
    Divides d = {.lw = lw};
    walk_expr(&term, look_at_divisors, &d);
    return d.unsafe;
}
