/* Comparisons of quotients: where nothing but comparisons asks for `i/m`, `i/m < n` is `i < n*m`, and nothing divides. */
#include "codegen/quotients.h"

#include "codegen/walk.h"

typedef struct Quotient {
    Nat nat;
    int mentions, compared; /* of all mentions, those in comparisons */
} Quotient;

struct Quotients {
    Ctx *ctx;
    VEC(Quotient) list;
};

static bool is_number(const ImpExpr *e) { return e->kind == IE_NAT || e->kind == IE_LIT; }

static bool compares_numbers(const ImpExpr *e)
{
    return e->kind == IE_OP && e->op.n == 2 && e->op.id >= P_eq && e->op.id <= P_ge && is_number(e->op.args[0]) && is_number(e->op.args[1]);
}

bool compares_nats(const ImpExpr *e) { return compares_numbers(e) && e->op.args[0]->kind == IE_NAT && e->op.args[1]->kind == IE_NAT; }

/* Of a term of a sum. */
static Nat quotient_of(const NatTerm *term)
{
    return term->n_factors == 1 && term->factors[0]->kind == NAT_DIV && !nat_is_const(term->factors[0]->b) ? term->factors[0] : NULL;
}

static void note(Quotients *q, Nat nat)
{
    for (int i = 0; i < q->list.n; i++)
        if (q->list.at[i].nat == nat)
            return;
    vec_push(q->ctx, &q->list, ((Quotient){.nat = nat}));
}

static void note_side(Quotients *q, Nat side)
{
    if (side->kind == NAT_DIV && !nat_is_const(side->b))
        note(q, side);
    for (int i = 0; i < side->n_terms; i++)
        if (quotient_of(&side->terms[i]))
            note(q, quotient_of(&side->terms[i]));
}

static void find_compared(void *user, ImpExpr **at)
{
    for (int k = 0; k < 2 && compares_numbers(*at); k++)
        if ((*at)->op.args[k]->kind == IE_NAT)
            note_side(user, (*at)->op.args[k]->nat);
}

static void count_compared(void *user, ImpExpr **at)
{
    Quotients *q = user;
    for (int i = 0; compares_numbers(*at) && i < q->list.n; i++)
        for (int k = 0; k < 2; k++)
            q->list.at[i].compared += (*at)->op.args[k]->kind == IE_NAT && nat_mentions((*at)->op.args[k]->nat, q->list.at[i].nat);
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
    walk_block(body, find_compared, q);
    if (q->list.n == 0)
        return q;
    walk_block(body, count_compared, q);
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

/* The one quotient among the terms of d, and its sign; NULL: there is none, or several. */
static Nat quotient_in(Lowering *lw, Nat d, int64_t *sign)
{
    Nat quotient = d->kind == NAT_DIV ? d : NULL;
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
    bool fits = quotient && is_only_compared(lw->quotients, quotient) && nat_le(lw->ctx, lw->facts, nat_const(lw->ctx, 1), quotient->b);
    return fits ? quotient : NULL;
}

ImpExpr *without_quotient(Lowering *lw, ImpExpr *e)
{
    Ctx *ctx = lw->ctx;
    const PrimId op = e->op.id;
    if (op == P_eq || op == P_ne)
        return e;
    const bool less = op == P_lt || op == P_le, strict = op == P_lt || op == P_gt;
    int64_t sign;
    Nat d = nat_sub(ctx, e->op.args[less ? 0 : 1]->nat, e->op.args[less ? 1 : 0]->nat); /* d < 0 is asked, or d <= 0 */
    Nat quotient = quotient_in(lw, d, &sign);
    if (!quotient)
        return e;
    if (sign > 0) { /* q + rest < 0: the dividend is below -rest divisors */
        Nat rest = nat_sub(ctx, d, quotient);
        return nat_cmp(lw, P_lt, quotient->a, nat_mul(ctx, nat_sub(ctx, nat_const(ctx, !strict), rest), quotient->b), e->span);
    }
    Nat rest = nat_add(ctx, d, quotient); /* rest - q < 0: the dividend has rest + 1 divisors */
    return nat_cmp(lw, P_ge, quotient->a, nat_mul(ctx, nat_add_k(ctx, rest, strict), quotient->b), e->span);
}
