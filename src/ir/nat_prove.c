/* Proves p >= 0.
 *
 * Fourier-Motzkin, one goal at a time, from the youngest atom on: write p = C*x + R; where C >= 0 and L <= k*x (k >= 1), it is
 * enough that C*L + k*R >= 0; where C <= 0 the same with an upper bound. The bounds of an atom (its variable's, or the
 * laws of div, mod, min, max) mention older atoms only, so this ends; where facts have put younger ones into them, the variable that is bounded by them
 * goes first. Bounds from facts may mention any atom; how many are used
 * on a path is limited, and so is the whole search: what is not found in time is not proved.
 *
 * A variable that is mentioned has a value, so its lower bound is not above its upper one: "implied" facts. From
 * 0 <= j <= m - 1 follows m >= 1 where j occurs, and from 0 <= i <= n*m - 1 that n and m, which are not negative, are
 * not 0 either. */
#include "ir/nat_internal.h"

enum { MAX_DEPTH = 12, MAX_USES = 3, MAX_IMPLIED = 8, MAX_POSITIVE = 8, FUEL_PLAIN = 80, FUEL_FACTS = 300, MAX_ATOMS = 12 };

typedef struct Search {
    Ctx *ctx;
    const NatEnv *env;
    int fuel;
    int n_implied;
    Nat implied[MAX_IMPLIED]; /* each >= 0 */
    int n_positive;
    Nat positive[MAX_POSITIVE]; /* each >= 1, where the node alone says >= 0 */
    bool collect;             /* looks for the best constant lower bound instead of a proof */
    bool found;
    int64_t best;
} Search;

/* p * scale was the goal before; scale 0: no longer a constant multiple. */
static bool nonneg(Search *s, const Poly *p, int depth, int uses, int64_t scale);

static bool is_positive(const Search *s, Nat x)
{
    int i = 0;
    while (i < s->n_positive && s->positive[i] != x)
        i++;
    return i < s->n_positive;
}

static NatRange atom_range(const Search *s, Nat x)
{
    NatRange range = s->env ? nat_env_range(s->env, x) : nat_full(x)->range;
    if (range.has_lo && range.lo == 0 && is_positive(s, x))
        range.lo = 1;
    return range;
}

static Nat var_lo(const Search *s, Nat x)
{
    Nat lo = s->env ? nat_env_lo(s->env, x) : x->lo;
    return lo && nat_is(lo, 0) && is_positive(s, x) ? nat_const(s->ctx, 1) : lo;
}

static Nat var_hi(const Search *s, Nat x) { return s->env ? nat_env_hi(s->env, x) : x->hi; }

bool term_has_factor(const NatTerm *t, Nat x)
{
    for (int i = 0; i < t->n_factors; i++)
        if (t->factors[i] == x)
            return true;
    return false;
}

/* p = c*x + r; c may mention x again. */
static void split_on(const Search *s, const Poly *p, Nat x, Poly *c, Poly *r)
{
    NatTerm atom = nat_atom_term(x, 1);
    poly_init(s->ctx, c);
    poly_init(s->ctx, r);
    for (int i = 0; i < p->n; i++) {
        NatTerm t;
        if (term_has_factor(&p->at[i], x) && term_divide(s->ctx, &p->at[i], &atom, &t))
            poly_add_terms(c, &t, 1, TERM_K(1));
        else
            poly_push(r, p->at[i]);
    }
}

/* Can facts say more of the sum than the ranges of its atoms? They can of a quotient whose divisor only they prove positive. */
static bool is_more_than_ranges(const Poly *p)
{
    bool more = p->n > 1;
    for (int j = 0; p->n == 1 && j < p->at[0].n_factors; j++)
        more |= p->at[0].factors[j]->kind == NAT_DIV && !nat_full(p->at[0].factors[j])->divisor_ok;
    return more;
}

/* 1: >= 0, -1: <= 0, 0: not known. */
static int sign_of(Search *s, const Poly *p, int depth)
{
    NatRange r = poly_range(s->env, p);
    if (r.has_lo && r.lo >= 0)
        return 1;
    if (r.has_hi && r.hi <= 0)
        return -1;
    if (depth < 4 || !is_more_than_ranges(p))
        return 0;
    bool collect = s->collect;
    int sign = 0;
    s->collect = false;
    if (nonneg(s, p, depth - 4, 1, 0)) {
        sign = 1;
    } else {
        Poly minus;
        poly_init(s->ctx, &minus);
        poly_add_poly(&minus, p, TERM_K(-1));
        if (nonneg(s, &minus, depth - 4, 1, 0))
            sign = -1;
    }
    s->collect = collect;
    return sign;
}

static bool divisor_ok(Search *s, Nat x, int depth)
{
    if (nat_full(x)->divisor_ok)
        return true;
    if (!s->env)
        return false;
    NatRange r = nat_full(x->b)->range;
    if (r.has_lo && r.lo >= 1)
        return true;
    if (depth < 4)
        return false;
    Poly p;
    poly_init(s->ctx, &p);
    poly_add_nat(&p, x->b, TERM_K(1));
    poly_add_k(&p, -1);
    bool collect = s->collect;
    s->collect = false;
    bool ok = nonneg(s, &p, depth - 4, 1, 0);
    s->collect = collect;
    return ok;
}

/* The goal c*x + r where k*x >= b (or <= b: the caller has matched the sign of c), k >= 1. */
static bool replace(Search *s, const Poly *c, const Poly *r, Nat k, const Poly *b, int depth, int uses, int64_t scale)
{
    Poly goal, quotient, rest;
    poly_init(s->ctx, &goal);
    if (nat_is(k, 1)) {
        poly_add_product(&goal, c, b, 1);
        poly_add_poly(&goal, r, TERM_K(1));
    } else if (poly_divide(s->ctx, c, k, &quotient, &rest) && rest.n == 0) {
        poly_add_product(&goal, &quotient, b, 1);
        poly_add_poly(&goal, r, TERM_K(1));
    } else {
        NatView v;
        nat_view(k, &v);
        poly_add_product(&goal, c, b, 1);
        for (int i = 0; i < v.n; i++)
            poly_add_poly(&goal, r, v.at[i]);
        if (!nat_is_const(k) || !mul_fits(scale, k->value, &scale))
            scale = 0;
    }
    return !goal.overflow && nonneg(s, &goal, depth - 1, uses, scale);
}

static bool replace_nat(Search *s, const Poly *c, const Poly *r, Nat b, int64_t plus, int depth, int uses, int64_t scale)
{
    Poly p;
    poly_init(s->ctx, &p);
    poly_add_nat(&p, b, TERM_K(1));
    poly_add_k(&p, plus);
    return !p.overflow && replace(s, c, r, nat_const(s->ctx, 1), &p, depth, uses, scale);
}

/* Each term of c with its own sign, so that both a lower and an upper bound of x come in. */
static bool replace_by_terms(Search *s, const Poly *c, const Poly *r, Nat x, int depth, int uses, int64_t scale)
{
    Nat lo = NULL, hi = NULL;
    int64_t hi_plus = 0;
    NatRange range = atom_range(s, x);
    if (x->kind == NAT_VAR) {
        lo = var_lo(s, x);
        hi = var_hi(s, x);
    } else if (x->kind == NAT_MOD && divisor_ok(s, x, depth)) {
        lo = nat_const(s->ctx, 0);
        hi = x->b;
        hi_plus = -1;
    }
    if (!lo && range.has_lo)
        lo = nat_const(s->ctx, range.lo);
    if (!hi && range.has_hi) {
        hi = nat_const(s->ctx, range.hi);
        hi_plus = 0;
    }
    Poly goal;
    poly_copy(s->ctx, &goal, r);
    for (int i = 0; i < c->n; i++) {
        Poly one;
        poly_init(s->ctx, &one);
        poly_push(&one, c->at[i]);
        int sign = sign_of(s, &one, 0);
        Nat bound = sign > 0 ? lo : hi;
        if (sign == 0 || !bound)
            return false;
        poly_add_nat(&goal, bound, c->at[i]);
        if (sign < 0 && hi_plus)
            poly_add_terms(&goal, &c->at[i], 1, TERM_K(hi_plus));
    }
    return !goal.overflow && nonneg(s, &goal, depth - 1, uses, scale);
}

/* x replaced by what it is, or by a bound that belongs to it for good. */
static bool eliminate(Search *s, const Poly *p, Nat x, int depth, int uses, int64_t scale)
{
    Ctx *ctx = s->ctx;
    Poly c, r, b;
    split_on(s, p, x, &c, &r);
    if (c.overflow)
        return false;
    NatRange range = atom_range(s, x);
    int sign = sign_of(s, &c, depth);

    if (x->kind == NAT_MIN || x->kind == NAT_MAX) {
        bool either = x->kind == NAT_MIN ? sign < 0 : sign > 0;
        if (s->collect && !either)
            return false; /* the worse of two branches: left to intervals */
        bool first = replace_nat(s, &c, &r, x->a, 0, depth, uses, scale);
        if (first == either && !s->collect)
            return first;
        return replace_nat(s, &c, &r, x->b, 0, depth, uses, scale);
    }
    if (sign == 0)
        return replace_by_terms(s, &c, &r, x, depth, uses, scale);

    bool constant_too = sign > 0 ? range.has_lo : range.has_hi;
    switch (x->kind) {
    case NAT_VAR: {
        Nat bound = sign > 0 ? var_lo(s, x) : var_hi(s, x);
        if (bound && replace_nat(s, &c, &r, bound, 0, depth, uses, scale))
            return true;
        constant_too = constant_too && !(bound && nat_is(bound, sign > 0 ? range.lo : range.hi));
        break;
    }
    case NAT_DIV: /* a - b + 1 <= b*x <= a */
        if (!divisor_ok(s, x, depth))
            break;
        poly_init(ctx, &b);
        poly_add_nat(&b, x->a, TERM_K(1));
        if (sign > 0) {
            poly_add_nat(&b, x->b, TERM_K(-1));
            poly_add_k(&b, 1);
        }
        if (replace(s, &c, &r, x->b, &b, depth, uses, scale))
            return true;
        if (sign > 0 && !range.has_lo) {
            poly_init(ctx, &b);
            poly_add_nat(&b, x->a, TERM_K(1));
            return sign_of(s, &b, depth) > 0 && replace_nat(s, &c, &r, nat_const(ctx, 0), 0, depth, uses, scale);
        }
        break;
    case NAT_MOD:
        if (!divisor_ok(s, x, depth))
            break;
        if (sign > 0) {
            if (replace_nat(s, &c, &r, nat_const(ctx, 0), 0, depth, uses, scale))
                return true;
            constant_too = false;
            break;
        }
        if (replace_nat(s, &c, &r, x->b, -1, depth, uses, scale))
            return true;
        poly_init(ctx, &b);
        poly_add_nat(&b, x->a, TERM_K(1));
        if (sign_of(s, &b, depth) > 0 && replace_nat(s, &c, &r, x->a, 0, depth, uses, scale))
            return true;
        break;
    case NAT_POW: /* 2^b >= b + 1 */
        if (sign > 0 && nat_is_const(x->a) && x->a->value >= 2 && replace_nat(s, &c, &r, x->b, 1, depth, uses, scale))
            return true;
        break;
    case NAT_LOG2: /* log2(a) <= a - 1 */
        if (sign < 0 && replace_nat(s, &c, &r, x->a, -1, depth, uses, scale))
            return true;
        break;
    case NAT_ERROR:
    case NAT_CONST:
    case NAT_SUM:
    case NAT_MIN:
    case NAT_MAX:
        return false;
    }
    return constant_too && replace_nat(s, &c, &r, nat_const(ctx, sign > 0 ? range.lo : range.hi), 0, depth, uses, scale);
}

/* fact >= 0 used to take x out of p. */
static bool use_fact(Search *s, const Poly *p, Nat x, Nat fact, int depth, int uses, int64_t scale)
{
    Ctx *ctx = s->ctx;
    NatView v;
    Poly f, c, r, fc, fr, b;
    nat_view(fact, &v);
    int at = 0;
    while (at < v.n && !term_has_factor(&v.at[at], x))
        at++;
    if (at == v.n || (s->fuel -= 1 + p->n / 4) < 0)
        return false;
    poly_init(ctx, &f);
    poly_add_nat(&f, fact, TERM_K(1));
    split_on(s, p, x, &c, &r);
    split_on(s, &f, x, &fc, &fr);
    if (c.overflow || fc.overflow || fr.overflow)
        return false;
    if (poly_vars(&fc) == 0 && fc.at[0].coef != INT64_MIN) {
        int64_t k = fc.at[0].coef;
        int sign = sign_of(s, &c, depth);
        if (sign == 0 || (sign > 0) != (k > 0))
            return false;
        poly_init(ctx, &b);
        poly_add_poly(&b, &fr, TERM_K(k > 0 ? -1 : 1));
        return replace(s, &c, &r, nat_const(ctx, k > 0 ? k : -k), &b, depth, uses - 1, scale);
    }
    /* c = q * fc with q >= 0: p = q*fact + (r - q*fr). */
    Poly q, rest, goal;
    Poly fc_copy;
    poly_copy(ctx, &fc_copy, &fc);
    if (!poly_divide(ctx, &c, poly_nat_raw(&fc_copy), &q, &rest) || rest.n || sign_of(s, &q, depth) <= 0)
        return false;
    poly_copy(ctx, &goal, &r);
    poly_add_product(&goal, &q, &fr, -1);
    return !goal.overflow && nonneg(s, &goal, depth - 1, uses - 1, scale);
}

/* x/k - y/k >= 0 where x >= y: a pair of quotients leaves the goal. */
static bool monotone(Search *s, const Poly *p, int depth, int uses, int64_t scale)
{
    if (s->collect || depth < 4)
        return false;
    for (int i = 0; i < p->n; i++) {
        Nat x = p->at[i].n_factors == 1 && p->at[i].coef > 0 ? p->at[i].factors[0] : NULL;
        if (!x || x->kind != NAT_DIV || !divisor_ok(s, x, depth))
            continue;
        for (int j = 0; j < p->n; j++) {
            Nat y = p->at[j].n_factors == 1 && p->at[j].coef < 0 && p->at[j].coef != INT64_MIN ? p->at[j].factors[0] : NULL;
            if (!y || y->kind != NAT_DIV || y->b != x->b)
                continue;
            int64_t k = p->at[i].coef < -p->at[j].coef ? p->at[i].coef : -p->at[j].coef;
            Poly d, rest;
            poly_init(s->ctx, &d);
            poly_add_nat(&d, x->a, TERM_K(1));
            poly_add_nat(&d, y->a, TERM_K(-1));
            poly_copy(s->ctx, &rest, p);
            poly_add_nat(&rest, x, TERM_K(-k));
            poly_add_nat(&rest, y, TERM_K(k));
            if (!d.overflow && nonneg(s, &rest, depth - 1, uses, scale) && nonneg(s, &d, depth - 1, uses, 0))
                return true;
        }
    }
    return false;
}

/* Does a fact say that the product of some of these atoms is 0? */
static bool is_no_product(const Search *s, const Nat *atoms, int n)
{
    const Nat *facts;
    int n_facts = s->env ? nat_env_inequalities(s->env, &facts) : 0;
    for (int f = 0; f < n_facts; f++) {
        NatView v;
        nat_view(facts[f], &v);
        bool none = v.n == 1 && v.at[0].coef < 0;
        for (int j = 0; none && j < v.at[0].n_factors; j++) {
            int at = 0;
            while (at < n && atoms[at] != v.at[0].factors[j])
                at++;
            none = at < n;
        }
        if (none)
            return true;
    }
    return false;
}

/* Divides by what cannot make p negative: p >= 0 where the result is. */
static void reduce(const Search *s, Poly *p)
{
    Nat taken[MAX_ATOMS];
    int n = 0;
    poly_divide_content(p);
    int vars = poly_vars(p);
    for (bool again = vars > 0 && vars == p->n; again;) {
        again = false;
        for (int j = 0; j < p->at[0].n_factors && !again; j++) {
            NatTerm x = nat_atom_term(p->at[0].factors[j], 1);
            NatRange range = atom_range(s, x.factors[0]);
            again = range.has_lo && range.lo >= 0 && n < MAX_ATOMS;
            for (int i = 1; i < p->n && again; i++)
                again = term_has_factor(&p->at[i], x.factors[0]);
            if (again)
                taken[n++] = x.factors[0];
            for (int i = 0; i < p->n && again; i++) {
                NatTerm t;
                if (term_divide(s->ctx, &p->at[i], &x, &t))
                    p->at[i] = t;
            }
        }
        if (p->at[p->n - 1].n_factors == 0)
            break;
    }
    if (n && is_no_product(s, taken, n))
        p->n = 0;
}

static void note_bound(Search *s, int64_t lo, int64_t scale)
{
    if (scale < 1)
        return;
    lo = lo > 0 ? (lo - 1) / scale + 1 : -(-lo / scale);
    if (!s->found || lo > s->best)
        s->best = lo;
    s->found = true;
}

/* r - a/k >= 0 is k*r - a + k - 1 >= 0, and r + a/k >= 0 is k*r + a >= 0, no more and no less, since all of them are integers. */
static bool whole_quotient(Search *s, const Poly *p, int64_t sign, int depth, int uses)
{
    for (int i = 0; i < p->n && !s->collect; i++) {
        const NatTerm *t = &p->at[i];
        if (t->coef != sign || t->n_factors != 1 || t->factors[0]->kind != NAT_DIV)
            continue;
        Nat x = t->factors[0];
        bool alone = divisor_ok(s, x, depth);
        for (int j = 0; j < p->n; j++)
            alone &= j == i || !term_has_factor(&p->at[j], x);
        if (!alone)
            continue;
        Poly goal, rest, k;
        poly_init(s->ctx, &goal);
        poly_init(s->ctx, &rest);
        poly_init(s->ctx, &k);
        for (int j = 0; j < p->n; j++)
            if (j != i)
                poly_push(&rest, p->at[j]);
        poly_add_nat(&k, x->b, TERM_K(1));
        poly_add_product(&goal, &k, &rest, 1);
        poly_add_nat(&goal, x->a, TERM_K(t->coef));
        if (t->coef < 0) {
            poly_add_poly(&goal, &k, TERM_K(1));
            poly_add_k(&goal, -1);
        }
        if (!goal.overflow && nonneg(s, &goal, depth - 1, uses, 0))
            return true;
    }
    return false;
}

static bool is_bounded_by(const Search *s, Nat var, Nat x)
{
    if (var == x || var->kind != NAT_VAR)
        return false;
    Nat lo = var_lo(s, var), hi = var_hi(s, var);
    return (lo && lo->has_vars && nat_mentions(lo, x)) || (hi && hi->has_vars && nat_mentions(hi, x));
}

/* The youngest of the atoms, which are sorted, or one that has it in a bound: facts may say a bound by what is younger. With n = 100*q, an i below
 * n / 25 is below 4*q, and q has to stay until i is gone. */
static Nat first_of(const Search *s, int n, const Nat *atoms)
{
    Nat first = atoms[0];
    for (int tries = 0; s->env && tries < n; tries++) {
        int k = 0;
        while (k < n && !is_bounded_by(s, atoms[k], first))
            k++;
        if (k == n)
            break;
        first = atoms[k];
    }
    return first;
}

static bool nonneg(Search *s, const Poly *given, int depth, int uses, int64_t scale)
{
    Poly p;
    ctx_look(s->ctx); /* a proof asks for no memory */
    s->fuel -= 1 + given->n / 4;
    if (given->overflow || s->fuel < 0)
        return false;
    poly_copy(s->ctx, &p, given);
    if (!s->collect)
        reduce(s, &p);
    NatRange range = poly_range(s->env, &p);
    if (s->collect) {
        if (range.has_lo && range.lo > INT64_MIN)
            note_bound(s, range.lo, scale);
    } else {
        if (range.has_lo && range.lo >= 0)
            return true;
        if (range.has_hi && range.hi < 0)
            return false;
    }
    if (depth <= 0 || poly_vars(&p) == 0)
        return false;

    /* The atoms, youngest first. */
    Nat atoms[MAX_ATOMS] = {0};
    int n = 0;
    for (int i = 0; i < p.n; i++)
        for (int j = 0; j < p.at[i].n_factors; j++) {
            Nat x = p.at[i].factors[j];
            int at = 0;
            while (at < n && atoms[at]->id > x->id)
                at++;
            if (at == MAX_ATOMS || (at < n && atoms[at] == x))
                continue;
            if (n == MAX_ATOMS)
                n--;
            memmove(atoms + at + 1, atoms + at, sizeof(Nat) * (size_t)(n - at));
            atoms[at] = x;
            n++;
        }
    if (whole_quotient(s, &p, -1, depth, uses) || whole_quotient(s, &p, 1, depth, uses) || monotone(s, &p, depth, uses, scale) || eliminate(s, &p, first_of(s, n, atoms), depth, uses, scale))
        return true;
    if (uses == 0)
        return false;
    const Nat *facts;
    int n_facts = nat_env_inequalities(s->env, &facts);
    for (int i = 0; i < n; i++) {
        for (int f = 0; f < n_facts; f++)
            if (use_fact(s, &p, atoms[i], facts[f], depth, uses, scale))
                return true;
        for (int f = 0; f < s->n_implied; f++)
            if (use_fact(s, &p, atoms[i], s->implied[f], depth, uses, scale))
                return true;
    }
    return false;
}

static bool add_implied(Search *s, Nat fact)
{
    for (int i = 0; i < s->n_implied; i++)
        if (s->implied[i] == fact)
            return false;
    if (s->n_implied == MAX_IMPLIED)
        return false;
    s->implied[s->n_implied++] = fact;
    return true;
}

int nat_positive_factors(const NatEnv *env, const Poly *p, Nat *at, int max)
{
    int n = 0;
    if (poly_const(p) >= 0 || poly_vars(p) == 0)
        return 0;
    for (int j = 0; j < p->at[0].n_factors && n < max; j++) {
        Nat x = p->at[0].factors[j];
        NatRange range = env ? nat_env_range(env, x) : nat_full(x)->range;
        bool common = range.has_lo && range.lo == 0 && (n == 0 || at[n - 1] != x);
        for (int i = 1; i < poly_vars(p); i++)
            common = common && term_has_factor(&p->at[i], x);
        if (common)
            at[n++] = x;
    }
    return n;
}

static void imply_factors(Search *s, const Poly *p)
{
    Nat positive[MAX_POSITIVE];
    int n = nat_positive_factors(NULL, p, positive, MAX_POSITIVE);
    for (int i = 0; i < n && s->n_positive < MAX_POSITIVE; i++)
        if (!is_positive(s, positive[i]))
            s->positive[s->n_positive++] = positive[i];
}

/* hi - lo >= 0 of the variables in `a`, and of those in their bounds. Looks at as many nodes as there is fuel. */
static void imply(Search *s, Nat a)
{
    if (!a || !nat_full(a)->symbolic || s->n_implied == MAX_IMPLIED || --s->fuel < 0)
        return;
    if (a->kind == NAT_VAR) {
        if (!a->lo || !a->hi)
            return;
        Poly p;
        poly_init(s->ctx, &p);
        poly_add_nat(&p, a->hi, TERM_K(1));
        poly_add_nat(&p, a->lo, TERM_K(-1));
        if (poly_vars(&p) == 0 || p.overflow)
            return;
        if (!add_implied(s, poly_nat_raw(&p)))
            return;
        imply_factors(s, &p);
        imply(s, a->hi);
        imply(s, a->lo);
        return;
    }
    imply(s, a->a);
    imply(s, a->b);
    for (int i = 0; i < a->n_terms; i++)
        for (int j = 0; j < a->terms[i].n_factors; j++)
            imply(s, a->terms[i].factors[j]);
}

/* 0 <= a - k*(a/k) <= k - 1 of a quotient: what an `a` is between that stands beside it. From the quotient alone, which is younger, a is lost. */
static void imply_quotient(Search *s, Nat x)
{
    for (int above = 0; above < 2; above++) {
        Poly law, quotient, k;
        int64_t sign = above ? -1 : 1;
        poly_init(s->ctx, &law);
        poly_init(s->ctx, &quotient);
        poly_init(s->ctx, &k);
        poly_add_nat(&quotient, x, TERM_K(1));
        poly_add_nat(&k, x->b, TERM_K(1));
        poly_add_nat(&law, x->a, TERM_K(sign));
        poly_add_product(&law, &quotient, &k, -sign);
        if (above) {
            poly_add_poly(&law, &k, TERM_K(1));
            poly_add_k(&law, -1);
        }
        if (!law.overflow && poly_vars(&law) > 0)
            add_implied(s, poly_nat_raw(&law));
    }
}

static void imply_quotients(Search *s, const Poly *p)
{
    Nat quotients[2];
    int n = 0;
    for (int i = 0; i < p->n && n < 2; i++)
        for (int j = 0; j < p->at[i].n_factors && n < 2; j++) {
            Nat x = p->at[i].factors[j];
            if (x->kind == NAT_DIV && nat_full(x)->divisor_ok && (n == 0 || quotients[0] != x))
                quotients[n++] = x;
        }
    for (int i = 0; i < n && n == 2; i++)
        imply_quotient(s, quotients[i]);
}

/* Intervals are all there is to know of a sum of different variables with constant bounds. */
static bool intervals_suffice(const Poly *p)
{
    for (int i = 0; i < p->n; i++) {
        if (p->at[i].n_factors > 1)
            return false;
        if (p->at[i].n_factors == 1 && (p->at[i].factors[0]->kind != NAT_VAR || nat_full(p->at[i].factors[0])->symbolic))
            return false;
    }
    return true;
}

bool nat_prove(Ctx *ctx, const NatEnv *env, const Poly *p, Nat a, Nat b)
{
    if (p->overflow)
        return false;
    NatRange range = poly_range(NULL, p);
    if (range.has_lo && range.lo >= 0)
        return true;
    const Nat *facts;
    int n_facts = nat_env_inequalities(env, &facts);
    if (n_facts == 0 && ((range.has_hi && range.hi < 0) || p->n == 0))
        return false;
    bool symbolic = (a && nat_full(a)->symbolic) || (b && nat_full(b)->symbolic);
    if (n_facts == 0 && !env && !symbolic && intervals_suffice(p))
        return false;

    /* A search that fails is the longest there is. */
    if (nat_is_negative_somewhere(ctx, (NatEnv *)(uintptr_t)env, p, a, b))
        return false;

    /* Few uses first, so that what is near is not lost in a long search. */
    Search s = {.ctx = ctx, .env = env, .fuel = FUEL_PLAIN};
    if (nonneg(&s, p, MAX_DEPTH, 0, 1))
        return true;
    if (symbolic) {
        s.fuel = FUEL_PLAIN;
        imply(&s, a);
        imply(&s, b);
    }
    imply_quotients(&s, p);
    s.fuel = n_facts ? FUEL_FACTS : FUEL_PLAIN;
    if ((n_facts || s.n_implied) && nonneg(&s, p, MAX_DEPTH, 1, 1))
        return true;
    s.fuel = FUEL_FACTS;
    return n_facts && nonneg(&s, p, MAX_DEPTH, MAX_USES, 1);
}

bool nat_prove_nat(Ctx *ctx, const NatEnv *env, Nat p, Nat a, Nat b)
{
    Poly poly;
    poly_init(ctx, &poly);
    poly_add_nat(&poly, p, TERM_K(1));
    return nat_prove(ctx, env, &poly, a, b);
}

NatRange nat_prove_range(Ctx *ctx, const NatEnv *env, Nat a)
{
    const Nat *facts;
    NatRange r = {0};
    if (nat_is_error(a))
        return r;
    for (int side = 0; side < 2; side++) {
        Poly p;
        poly_init(ctx, &p);
        poly_add_nat(&p, a, TERM_K(side ? -1 : 1));
        if (p.overflow)
            continue;
        Search s = {.ctx = ctx, .env = env, .collect = true, .fuel = FUEL_FACTS};
        nonneg(&s, &p, MAX_DEPTH, nat_env_inequalities(env, &facts) ? 2 : 0, 1);
        if (s.found && side == 0) {
            r.has_lo = true;
            r.lo = s.best;
        } else if (s.found) {
            r.has_hi = true;
            r.hi = -s.best;
        }
    }
    return r;
}
