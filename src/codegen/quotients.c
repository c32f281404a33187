/* Comparisons of quotients: where nothing but comparisons asks for `i/m`, `i/m < n` is `i < n*m`, and nothing divides. */
#include "codegen/quotients.h"

#include "codegen/walk.h"

typedef struct Quotient {
    Nat nat;
    int mentions, compared; /* of all mentions, those in comparisons that need no division */
} Quotient;

struct Quotients {
    Ctx *ctx;
    VEC(Quotient) list;
};

/* a < b or a <= b as d < 0 or d <= 0, for all four comparisons of order. */
static Nat difference(Ctx *ctx, const ImpExpr *e)
{
    const bool less = e->op.id == P_lt || e->op.id == P_le;
    return nat_sub(ctx, e->op.args[less ? 0 : 1]->nat, e->op.args[less ? 1 : 0]->nat);
}

static Nat quotient_of(const NatTerm *term)
{
    return term->n_factors == 1 && term->factors[0]->kind == NAT_DIV && !nat_is_const(term->factors[0]->b) ? term->factors[0] : NULL;
}

/* The one quotient by a size among the terms of d, and its sign; NULL: there is none, or several. */
static Nat quotient_in(Nat d, int64_t *sign)
{
    Nat quotient = d->kind == NAT_DIV && !nat_is_const(d->b) ? d : NULL;
    *sign = 1;
    for (int i = 0; i < d->n_terms; i++) {
        const NatTerm *term = &d->terms[i];
        if (!quotient_of(term))
            continue;
        if (quotient || (term->coef != 1 && term->coef != -1))
            return NULL;
        quotient = quotient_of(term);
        *sign = term->coef;
    }
    return quotient;
}

/* The quotient that the expression compares in an order. */
static Nat compared(Ctx *ctx, const ImpExpr *e, int64_t *sign)
{
    return is_nat_comparison(e) && e->op.id != P_eq && e->op.id != P_ne ? quotient_in(difference(ctx, e), sign) : NULL;
}

static void count_compared(void *user, ImpExpr **at)
{
    Quotients *q = user;
    int64_t sign;
    Nat nat = compared(q->ctx, *at, &sign);
    int i = 0;
    while (nat && i < q->list.n && q->list.at[i].nat != nat)
        i++;
    if (nat && i == q->list.n)
        vec_push(q->ctx, &q->list, ((Quotient){.nat = nat}));
    for (int k = 0; nat && k < 2; k++)
        q->list.at[i].compared += nat_mentions((*at)->op.args[k]->nat, nat);
}

static void count_mention(void *user, Nat nat)
{
    Quotients *q = user;
    for (int i = 0; i < q->list.n; i++)
        q->list.at[i].mentions += nat_mentions(nat, q->list.at[i].nat);
}

static void count_mentions(void *user, ImpStmt *s) { walk_nats(s, count_mention, user); }

Quotients *quotients_compared(Ctx *ctx, ImpBlock *body)
{
    Quotients *q = NEW(ctx, Quotients);
    *q = (Quotients){.ctx = ctx};
    walk_block(body, count_compared, q);
    if (q->list.n > 0)
        walk_stmts(body, count_mentions, q);
    return q;
}

static bool is_only_compared(const Quotients *q, Nat nat)
{
    for (int i = 0; q && i < q->list.n; i++)
        if (q->list.at[i].nat == nat)
            return q->list.at[i].mentions == q->list.at[i].compared;
    return false;
}

/* Is the number at most the cells of a buffer? Then it needs no more bits than indices do. */
static bool is_index(Lowering *lw, Nat n)
{
    bool is = false;
    for (int i = 0; i < lw->kernel->bufs.n && !is; i++)
        is = nat_le(lw->ctx, lw->facts, n, lw->kernel->bufs.at[i]->count);
    return is;
}

ImpExpr *without_quotient(Lowering *lw, ImpExpr *e)
{
    Ctx *ctx = lw->ctx;
    int64_t sign;
    Nat q = compared(ctx, e, &sign);
    if (!q || !is_only_compared(lw->quotients, q) || !nat_le(ctx, lw->facts, nat_const(ctx, 1), q->b))
        return e;
    const bool strict = e->op.id == P_lt || e->op.id == P_gt;
    Nat d = difference(ctx, e), rest = sign > 0 ? nat_sub(ctx, d, q) : nat_add(ctx, d, q);
    /* q + rest < 0: the dividend is below -rest divisors. rest - q < 0: the dividend has rest + 1 divisors. */
    Nat divisors = sign > 0 ? nat_sub(ctx, nat_const(ctx, !strict), rest) : nat_add_k(ctx, rest, strict);
    Nat product = nat_mul(ctx, divisors, q->b);
    return !nat_is_error(product) && is_index(lw, product) ? nat_cmp(lw, sign > 0 ? P_lt : P_ge, q->a, product, e->span) : e;
}
