/* Terms and polynomials: sums of products, in lexicographic order, with checked coefficients. */
#include "ir/nat_internal.h"

NatTerm nat_atom_term(Nat atom, int64_t coef) { return (NatTerm){coef, 1, nat_full(atom)->self}; }

void nat_view(Nat a, NatView *v)
{
    v->at = &v->one;
    v->n = 1;
    switch (a->kind) {
    case NAT_CONST:
        v->n = a->value != 0;
        v->one = TERM_K(a->value);
        return;
    case NAT_SUM:
        v->at = a->terms;
        v->n = a->n_terms;
        return;
    case NAT_ERROR:
    case NAT_VAR:
    case NAT_DIV:
    case NAT_MOD:
    case NAT_MIN:
    case NAT_MAX:
    case NAT_POW:
    case NAT_LOG2:
        v->one = nat_atom_term(a, 1);
        return;
    }
}

/* Lexicographic, so that n*m, n, m, 1 is in order: the pure lexicographic order of monomials, the oldest atom the largest. */
static int mono_cmp(const NatTerm *x, const NatTerm *y)
{
    if (x->factors == y->factors)
        return 0;
    for (int i = 0; i < x->n_factors && i < y->n_factors; i++)
        if (x->factors[i] != y->factors[i])
            return x->factors[i]->id < y->factors[i]->id ? -1 : 1;
    return x->n_factors > y->n_factors ? -1 : 1;
}

bool term_multiply(Ctx *ctx, const NatTerm *x, const NatTerm *y, NatTerm *r)
{
    if (!mul_fits(x->coef, y->coef, &r->coef))
        return false;
    if (!y->n_factors || !x->n_factors) {
        const NatTerm *t = y->n_factors ? y : x;
        int n = t->n_factors;
        r->factors = t->factors;
        r->n_factors = n;
        return true;
    }
    if (x->n_factors + y->n_factors > NAT_MAX_DEGREE)
        return false;
    Nat merged[NAT_MAX_DEGREE];
    int n = 0, i = 0, j = 0;
    while (i < x->n_factors || j < y->n_factors)
        merged[n++] = j == y->n_factors || (i < x->n_factors && x->factors[i]->id <= y->factors[j]->id) ? x->factors[i++] : y->factors[j++];
    r->factors = nat_factors(ctx, merged, n);
    r->n_factors = n;
    return true;
}

bool mono_divide(Ctx *ctx, const NatTerm *a, const NatTerm *by, NatTerm *q)
{
    if (by->n_factors > a->n_factors)
        return false;
    Nat rest[NAT_MAX_DEGREE];
    int n = 0, j = 0;
    for (int i = 0; i < a->n_factors; i++)
        if (j < by->n_factors && a->factors[i] == by->factors[j])
            j++;
        else
            rest[n++] = a->factors[i];
    if (j != by->n_factors)
        return false;
    q->n_factors = n;
    q->factors = nat_factors(ctx, rest, n);
    q->coef = 1;
    return true;
}

bool term_divide(Ctx *ctx, const NatTerm *a, const NatTerm *by, NatTerm *q)
{
    if (by->coef == 0 || by->coef == -1 ? a->coef == INT64_MIN || by->coef == 0 : a->coef % by->coef != 0)
        return false;
    int64_t coef = a->coef / by->coef;
    if (!mono_divide(ctx, a, by, q))
        return false;
    q->coef = coef;
    return true;
}

int64_t gcd_i64(int64_t a, int64_t b)
{
    if (a == INT64_MIN)
        a = b == INT64_MIN || b == 0 ? INT64_C(1) << 62 : b & -b;
    if (b == INT64_MIN)
        b = a ? a & -a : INT64_C(1) << 62;
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

NatTerm term_gcd(Ctx *ctx, const NatTerm *a, const NatTerm *b)
{
    Nat common[NAT_MAX_DEGREE];
    int n = 0, i = 0, j = 0;
    while (i < a->n_factors && j < b->n_factors)
        if (a->factors[i] == b->factors[j]) {
            common[n++] = a->factors[i++];
            j++;
        } else if (a->factors[i]->id < b->factors[j]->id)
            i++;
        else
            j++;
    return (NatTerm){gcd_i64(a->coef, b->coef), n, nat_factors(ctx, common, n)};
}

void poly_init(Ctx *ctx, Poly *p)
{
    p->ctx = ctx;
    p->overflow = false;
    p->n = 0;
    p->cap = POLY_SMALL;
    p->at = p->small;
}

static void poly_reserve(Poly *p, int n)
{
    if (n <= p->cap)
        return;
    int cap = p->cap;
    while (cap < n)
        cap *= 2;
    NatTerm *at = NEWN(p->ctx, NatTerm, cap);
    memcpy(at, p->at, sizeof(NatTerm) * (size_t)p->n);
    p->at = at;
    p->cap = cap;
}

void poly_copy(Ctx *ctx, Poly *p, const Poly *from)
{
    poly_init(ctx, p);
    p->overflow = from->overflow;
    poly_reserve(p, from->n);
    memcpy(p->at, from->at, sizeof(NatTerm) * (size_t)from->n);
    p->n = from->n;
}

void poly_push(Poly *p, NatTerm t)
{
    poly_reserve(p, p->n + 1);
    p->at[p->n++] = t;
}

void poly_add_terms(Poly *p, const NatTerm *t, int n, NatTerm by)
{
    if (p->overflow || n == 0 || by.coef == 0)
        return;
    if (p->n + n > NAT_MAX_TERMS) {
        p->overflow = true;
        return;
    }
    NatTerm small[2 * POLY_SMALL];
    NatTerm *sum = p->n + n <= 2 * POLY_SMALL ? small : NEWN(p->ctx, NatTerm, p->n + n);
    int i = 0, k = 0;
    for (int j = 0; j < n; j++) {
        NatTerm s;
        if (!term_multiply(p->ctx, &t[j], &by, &s)) {
            p->overflow = true;
            return;
        }
        int order = 1;
        while (i < p->n && (order = mono_cmp(&p->at[i], &s)) < 0)
            sum[k++] = p->at[i++];
        if (i < p->n && order == 0) {
            if (!add_fits(p->at[i].coef, s.coef, &s.coef)) {
                p->overflow = true;
                return;
            }
            i++;
            if (s.coef)
                sum[k++] = s;
        } else {
            sum[k++] = s;
        }
    }
    while (i < p->n)
        sum[k++] = p->at[i++];
    poly_reserve(p, k);
    memcpy(p->at, sum, sizeof(NatTerm) * (size_t)k);
    p->n = k;
}

void poly_add_nat(Poly *p, Nat a, NatTerm by)
{
    if (nat_is_error(a)) {
        p->overflow = true;
        return;
    }
    NatView v;
    nat_view(a, &v);
    poly_add_terms(p, v.at, v.n, by);
}

void poly_add_poly(Poly *p, const Poly *a, NatTerm by)
{
    p->overflow |= a->overflow;
    poly_add_terms(p, a->at, a->n, by);
}

void poly_add_product(Poly *p, const Poly *a, const Poly *b, int64_t k)
{
    p->overflow |= a->overflow || b->overflow;
    for (int i = 0; i < a->n && !p->overflow; i++) {
        NatTerm by = a->at[i];
        if (!mul_fits(by.coef, k, &by.coef))
            p->overflow = true;
        poly_add_terms(p, b->at, b->n, by);
    }
}

bool poly_divide(Ctx *ctx, const Poly *p, Nat b, Poly *q, Poly *r)
{
    NatView v;
    nat_view(b, &v);
    poly_init(ctx, q);
    if (p->overflow || v.n == 0)
        return false;
    poly_copy(ctx, r, p);
    const NatTerm *lead = &v.at[0];
    if (lead->coef == INT64_MIN)
        return false;
    int steps = 0;
    for (int i = 0; i < r->n;) {
        NatTerm t;
        int64_t k = 0;
        if (lead->n_factors <= r->at[i].n_factors) {
            int64_t c = r->at[i].coef;
            if (c == INT64_MIN && (lead->coef == 1 || lead->coef == -1))
                return false; /* the quotient has no negation */
            k = nat_is_const(b) && r->at[i].n_factors == 0 ? floor_div(c, lead->coef) : c / lead->coef;
        }
        if (k == 0 || !mono_divide(ctx, &r->at[i], lead, &t)) {
            i++;
            continue;
        }
        if (++steps > 64)
            return false;
        t.coef = k;
        poly_add_terms(q, &t, 1, TERM_K(1));
        t.coef = -k;
        poly_add_terms(r, v.at, v.n, t); /* touches no term before i: those of b * t after its leading one are smaller */
        if (q->overflow || r->overflow)
            return false;
    }
    return true;
}

void poly_divide_content(Poly *p)
{
    int vars = poly_vars(p);
    int64_t g = 0;
    for (int i = 0; i < vars && g != 1; i++)
        g = gcd_i64(g, p->at[i].coef);
    if (g <= 1)
        return;
    for (int i = 0; i < vars; i++)
        p->at[i].coef /= g;
    if (vars < p->n && (p->at[vars].coef = floor_div(p->at[vars].coef, g)) == 0)
        p->n--;
}
