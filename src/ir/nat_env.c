/* The facts of a scope, solved into an environment: rules (a variable or an atom is replaced), and inequalities for the
 * prover.
 *
 * `n % k == r` becomes n = k*q + r with a fresh q, the witness, so that what divides n is seen by the ordinary
 * rules; a result has its witnesses put back (k*q as n - r, any other q as n / k). An equality is solved for a variable
 * with coefficient 1 or -1 where there is one. Everything else becomes inequalities. */
#include "ir/nat_internal.h"

typedef struct Rule {
    Nat from, to; /* `to` mentions no `from` of any rule */
} Rule;

typedef struct Witness {
    Nat q, n, k, r; /* n == k*q + r */
} Witness;

typedef struct Known {
    Nat atom;
    NatRange range;
} Known;

typedef struct Bounds {
    Nat var, lo, hi;
} Bounds;

typedef struct Seen {
    Nat from, to;
} Seen;

struct NatEnv {
    Ctx *ctx;
    uint32_t hash; /* of its facts */
    VEC(Rule) rules;
    VEC(Nat) inequalities;
    VEC(Known) known;
    VEC(Witness) witnesses;
    VEC(Bounds) bounds;
    Seen *seen; /* what simplify gave before; open addressing */
    uint32_t seen_cap, seen_count;
    NatModels models;
};

static Nat simplify(NatEnv *env, Nat a);

/* ---- what the prover asks ---------------------------------------------------------------------------------------------- */

static Nat replaced(const NatEnv *env, Nat a)
{
    if (!a || env->rules.n == 0 || !a->has_vars)
        return a;
    enum { BATCH = 16 };
    Nat vars[BATCH], by[BATCH];
    int n = 0;
    for (int i = 0; i < env->rules.n && n < BATCH; i++)
        if (env->rules.at[i].from->kind == NAT_VAR) {
            vars[n] = env->rules.at[i].from;
            by[n++] = env->rules.at[i].to;
        }
    Nat r = nat_subst_many(env->ctx, a, n, vars, by);
    return nat_is_error(r) ? NULL : r;
}

static const Bounds *bounds_of(const NatEnv *env, Nat var)
{
    for (int i = 0; i < env->bounds.n; i++)
        if (env->bounds.at[i].var == var)
            return &env->bounds.at[i];
    Bounds b = {var, replaced(env, var->lo), replaced(env, var->hi)};
    NatEnv *writable = (NatEnv *)(uintptr_t)env; /* a cache */
    vec_push(env->ctx, &writable->bounds, b);
    return &env->bounds.at[env->bounds.n - 1];
}

Nat nat_env_lo(const NatEnv *env, Nat var) { return var->lo && var->lo->has_vars ? bounds_of(env, var)->lo : var->lo; }
Nat nat_env_hi(const NatEnv *env, Nat var) { return var->hi && var->hi->has_vars ? bounds_of(env, var)->hi : var->hi; }

NatRange nat_env_range(const NatEnv *env, Nat atom)
{
    for (int i = 0; i < env->known.n; i++)
        if (env->known.at[i].atom == atom)
            return env->known.at[i].range;
    NatRange range = nat_full(atom)->range;
    if (atom->kind == NAT_DIV && nat_is_const(atom->b) && atom->b->value > 0) { /* from what is known of the dividend */
        Poly dividend;
        poly_init(env->ctx, &dividend);
        poly_add_nat(&dividend, atom->a, TERM_K(1));
        NatRange a = poly_range(env, &dividend);
        if (a.has_lo && (!range.has_lo || floor_div(a.lo, atom->b->value) > range.lo)) {
            range.has_lo = true;
            range.lo = floor_div(a.lo, atom->b->value);
        }
        if (a.has_hi && (!range.has_hi || floor_div(a.hi, atom->b->value) < range.hi)) {
            range.has_hi = true;
            range.hi = floor_div(a.hi, atom->b->value);
        }
    }
    return range;
}

int nat_env_inequalities(const NatEnv *env, const Nat **at)
{
    *at = env ? env->inequalities.at : NULL;
    return env ? env->inequalities.n : 0;
}

/* ---- simplifying in an environment ----------------------------------------------------------------------------------- */

static Seen *seen_slot(const NatEnv *env, Nat a)
{
    uint32_t at = a->id * 2654435769u & (env->seen_cap - 1);
    while (env->seen[at].from && env->seen[at].from != a)
        at = (at + 1) & (env->seen_cap - 1);
    return &env->seen[at];
}

static void seen_put(NatEnv *env, Nat from, Nat to)
{
    if (env->seen_count * 2 >= env->seen_cap) {
        NatEnv old = *env;
        Seen *seen = NEWN(env->ctx, Seen, old.seen_cap * 2);
        env->seen = seen;
        env->seen_cap = old.seen_cap * 2;
        for (uint32_t i = 0; i < old.seen_cap; i++)
            if (old.seen[i].from)
                *seen_slot(env, old.seen[i].from) = old.seen[i];
    }
    Seen *s = seen_slot(env, from);
    if (!s->from)
        env->seen_count++;
    *s = (Seen){from, to};
}

static Nat rule_for(const NatEnv *env, Nat atom)
{
    for (int i = 0; i < env->rules.n; i++)
        if (env->rules.at[i].from == atom)
            return env->rules.at[i].to;
    return NULL;
}

/* The factor m / k of a product by k is m, where k divides m: no variable, which a witness would stand for. */
static Nat whole_multiple(NatEnv *env, Nat factor, int64_t *coef)
{
    if (factor->kind != NAT_DIV || factor->b->kind != NAT_CONST || factor->a->kind == NAT_VAR || *coef % factor->b->value != 0)
        return factor;
    Nat rest = simplify(env, nat_mod(env->ctx, factor->a, factor->b));
    if (!nat_is(rest, 0))
        return factor;
    *coef /= factor->b->value;
    return factor->a;
}

/* The product that y is the whole k-th part of, where x/y is this factor: n*m of x / (n*m/4), where n*m % 4 == 0. */
static bool is_by_part(NatEnv *env, Nat factor, NatView *product, int64_t *k)
{
    Nat y = factor->kind == NAT_DIV ? factor->b : NULL;
    if (!y || y->kind != NAT_DIV || y->b->kind != NAT_CONST)
        return false;
    nat_view(y->a, product);
    *k = y->b->value;
    return product->n == 1 && product->at[0].coef == 1 && product->at[0].n_factors > 1 && nat_is(simplify(env, nat_mod(env->ctx, y->a, y->b)), 0);
}

static Nat nat_of_term(Ctx *ctx, const NatTerm *t)
{
    Poly p;
    poly_init(ctx, &p);
    poly_add_terms(&p, t, 1, TERM_K(1));
    return poly_nat_raw(&p);
}

/* c*n*m*(x / (n*m/4)) as c*4*(n*m/4)*(x / (n*m/4)), which joins with a remainder by n*m/4; NULL: it is no such term. */
static Nat with_parts(NatEnv *env, const NatTerm *t)
{
    Ctx *ctx = env->ctx;
    for (int i = 0; i < t->n_factors; i++) {
        NatView product;
        NatTerm rest;
        int64_t k;
        if (!is_by_part(env, t->factors[i], &product, &k) || !mono_divide(ctx, t, &product.at[0], &rest))
            continue;
        Nat whole = nat_mul(ctx, nat_const(ctx, t->coef), nat_const(ctx, k));
        whole = nat_mul(ctx, whole, t->factors[i]->b);
        for (int j = 0; j < rest.n_factors; j++)
            whole = nat_mul(ctx, whole, rest.factors[j]);
        return whole;
    }
    return NULL;
}

/* The sum with such terms, where they join. */
static Nat parts_joined(NatEnv *env, Nat sum)
{
    Nat joined = nat_const(env->ctx, 0);
    bool any = false;
    NatView v;
    nat_view(sum, &v);
    for (int i = 0; i < v.n; i++) {
        Nat term = with_parts(env, &v.at[i]);
        any |= term != NULL;
        joined = nat_add(env->ctx, joined, term ? term : nat_of_term(env->ctx, &v.at[i]));
    }
    NatView now;
    nat_view(joined, &now);
    return any && !nat_is_error(joined) && now.n < v.n ? joined : sum;
}

static Nat simplify_once(NatEnv *env, Nat a)
{
    Ctx *ctx = env->ctx;
    Nat r = a;
    switch (a->kind) {
    case NAT_ERROR:
    case NAT_CONST:
        return a;
    case NAT_SUM: {
        r = nat_const(ctx, 0);
        for (int i = 0; i < a->n_terms; i++) {
            int64_t coef = a->terms[i].coef;
            Nat product = nat_const(ctx, 1);
            for (int j = 0; j < a->terms[i].n_factors; j++)
                product = nat_mul(ctx, product, simplify(env, whole_multiple(env, a->terms[i].factors[j], &coef)));
            r = nat_add(ctx, r, nat_mul(ctx, product, nat_const(ctx, coef)));
        }
        return parts_joined(env, r);
    }
    case NAT_VAR:
        break;
    case NAT_DIV:
        r = nat_div_in(ctx, env, simplify(env, a->a), simplify(env, a->b));
        break;
    case NAT_MOD:
        r = nat_mod_in(ctx, env, simplify(env, a->a), simplify(env, a->b));
        break;
    case NAT_MIN:
    case NAT_MAX:
        r = nat_min_max_in(ctx, env, a->kind, simplify(env, a->a), simplify(env, a->b));
        break;
    case NAT_POW:
        r = nat_pow(ctx, simplify(env, a->a), simplify(env, a->b));
        break;
    case NAT_LOG2:
        r = nat_log2(ctx, simplify(env, a->a));
        break;
    }
    if (r->kind == NAT_CONST || r->kind == NAT_SUM || r->kind == NAT_ERROR)
        return r;
    Nat to = rule_for(env, r);
    if (to)
        return to;
    NatRange range = nat_env_range(env, r);
    return range.has_lo && range.has_hi && range.lo == range.hi ? nat_const(ctx, range.lo) : r;
}

static Nat simplify(NatEnv *env, Nat a)
{
    if (!a->has_vars)
        return a;
    Seen *s = seen_slot(env, a);
    if (s->from)
        return s->to;
    Nat r = simplify_once(env, a);
    seen_put(env, a, r);
    return r;
}

/* ---- witnesses put back --------------------------------------------------------------------------------------------------- */

static Nat without_witness(NatEnv *env, const Witness *w, Nat a)
{
    Ctx *ctx = env->ctx;
    if (!nat_mentions(a, w->q))
        return a;
    switch (a->kind) {
    case NAT_ERROR:
    case NAT_CONST:
        return a;
    case NAT_VAR:
        return nat_div(ctx, w->n, w->k);
    case NAT_SUM: {
        Poly p, high, low;
        poly_init(ctx, &p);
        poly_add_nat(&p, a, TERM_K(1));
        Nat multiple = nat_mul(ctx, w->k, w->q);
        if (nat_mentions(w->k, w->q) || nat_is_error(multiple) || nat_is_const(multiple) || !poly_divide(ctx, &p, multiple, &high, &low)) {
            poly_init(ctx, &high);
            poly_copy(ctx, &low, &p);
        }
        /* Only whole multiples: 33*q is no n + q. */
        Nat r = nat_const(ctx, 0);
        NatView v;
        nat_view(multiple, &v);
        bool whole = high.n > 0;
        for (int i = 0; i < low.n && whole && v.n == 1; i++) {
            NatTerm t;
            whole = !mono_divide(ctx, &low.at[i], &v.at[0], &t);
        }
        if (whole) {
            Nat q = without_witness(env, w, poly_nat_raw(&high));
            r = nat_mul(ctx, q, nat_sub(ctx, w->n, w->r));
        } else {
            poly_copy(ctx, &low, &p);
        }
        for (int i = 0; i < low.n; i++) {
            Nat product = nat_const(ctx, low.at[i].coef);
            for (int j = 0; j < low.at[i].n_factors; j++)
                product = nat_mul(ctx, product, without_witness(env, w, low.at[i].factors[j]));
            r = nat_add(ctx, r, product);
        }
        return r;
    }
    case NAT_DIV:
        return nat_div(ctx, without_witness(env, w, a->a), without_witness(env, w, a->b));
    case NAT_MOD:
        return nat_mod(ctx, without_witness(env, w, a->a), without_witness(env, w, a->b));
    case NAT_MIN:
        return nat_min(ctx, without_witness(env, w, a->a), without_witness(env, w, a->b));
    case NAT_MAX:
        return nat_max(ctx, without_witness(env, w, a->a), without_witness(env, w, a->b));
    case NAT_POW:
        return nat_pow(ctx, without_witness(env, w, a->a), without_witness(env, w, a->b));
    case NAT_LOG2:
        return nat_log2(ctx, without_witness(env, w, a->a));
    }
    return a;
}

/* ---- making the environment --------------------------------------------------------------------------------------------- */

static void add_rule(NatEnv *env, Nat from, Nat to);
static void add_equality(NatEnv *env, Nat e, int depth);
static void add_positive_factors(NatEnv *env, Nat p);

static void know(NatEnv *env, Nat atom, bool lower, int64_t bound)
{
    Known *k = NULL;
    for (int i = 0; i < env->known.n; i++)
        if (env->known.at[i].atom == atom)
            k = &env->known.at[i];
    if (!k) {
        vec_push(env->ctx, &env->known, ((Known){atom, nat_full(atom)->range}));
        k = &env->known.at[env->known.n - 1];
    }
    if (lower && (!k->range.has_lo || k->range.lo < bound)) {
        k->range.has_lo = true;
        k->range.lo = bound;
    }
    if (!lower && (!k->range.has_hi || k->range.hi > bound)) {
        k->range.has_hi = true;
        k->range.hi = bound;
    }
}

static void add_inequality(NatEnv *env, Nat p)
{
    if (nat_is_const(p) || nat_is_error(p))
        return;
    Poly whole;
    poly_init(env->ctx, &whole);
    poly_add_nat(&whole, p, TERM_K(1));
    poly_divide_content(&whole);
    p = whole.overflow ? p : poly_nat_raw(&whole);
    for (int i = 0; i < env->inequalities.n; i++)
        if (env->inequalities.at[i] == p)
            return;
    vec_push(env->ctx, &env->inequalities, p);
    NatView v;
    nat_view(p, &v);
    int vars = v.n - (v.at[v.n - 1].n_factors == 0);
    if (vars == 1 && v.at[0].n_factors == 1) {
        int64_t c = v.at[0].coef, d = vars < v.n ? v.at[1].coef : 0;
        if (c > 0 && d != INT64_MIN)
            know(env, v.at[0].factors[0], true, -floor_div(d, c));
        else if (c < 0 && c != INT64_MIN)
            know(env, v.at[0].factors[0], false, floor_div(d, -c));
    } else {
        add_positive_factors(env, p);
    }
}

static void add_positive_factors(NatEnv *env, Nat p)
{
    enum { MAX_FACTORS = 8 };
    Nat positive[MAX_FACTORS];
    Poly poly;
    poly_init(env->ctx, &poly);
    poly_add_nat(&poly, p, TERM_K(1));
    int n = nat_positive_factors(env, &poly, positive, MAX_FACTORS);
    for (int i = 0; i < n; i++)
        add_inequality(env, nat_add_k(env->ctx, positive[i], -1));
}

static void add_le(NatEnv *env, Nat a, Nat b)
{
    Nat p = simplify(env, nat_sub(env->ctx, b, a));
    add_inequality(env, p);
}

/* kb*b - ka*a + k >= 0 as it stands: normal forms would turn the law of an atom into another atom. */
static void add_raw(NatEnv *env, int64_t ka, Nat a, int64_t kb, Nat b, Nat times, int64_t k)
{
    Poly p, x, y;
    poly_init(env->ctx, &p);
    poly_init(env->ctx, &x);
    poly_init(env->ctx, &y);
    poly_add_nat(&x, b, TERM_K(kb));
    poly_add_nat(&y, times, TERM_K(1));
    poly_add_product(&p, &x, &y, 1);
    poly_add_nat(&p, a, TERM_K(-ka));
    poly_add_k(&p, k);
    add_inequality(env, poly_nat_raw(&p));
}

static bool is_nonneg(const NatEnv *env, Nat x)
{
    Poly p;
    poly_init(env->ctx, &p);
    poly_add_nat(&p, x, TERM_K(1));
    NatRange range = poly_range(env, &p);
    return range.has_lo && range.lo >= 0;
}

/* What the atoms of a fact say in terms of their operands; and that every divisor is one, else the fact would have no value. */
static void add_laws(NatEnv *env, Nat a)
{
    Nat one = nat_const(env->ctx, 1);
    if (!a->has_vars)
        return;
    if (a->a && a->b) {
        Nat it = simplify(env, a), x = simplify(env, a->a), y = simplify(env, a->b);
        if ((a->kind == NAT_DIV || a->kind == NAT_MOD) && !nat_is_const(y))
            add_raw(env, 1, one, 1, y, one, 0);
        if (a->kind == NAT_DIV) { /* 0 <= x - y*it <= y - 1 */
            add_raw(env, -1, x, -1, y, it, 0);
            add_raw(env, 1, x, 1, y, nat_add_k(env->ctx, it, 1), -1);
        }
        if (a->kind == NAT_MOD && is_nonneg(env, x)) /* it <= x */
            add_raw(env, 1, it, 1, x, one, 0);
        if (a->kind == NAT_MIN || a->kind == NAT_MAX) {
            int64_t sign = a->kind == NAT_MIN ? 1 : -1;
            add_raw(env, sign, it, sign, x, one, 0);
            add_raw(env, sign, it, sign, y, one, 0);
        }
    }
    if (a->a)
        add_laws(env, a->a);
    if (a->b)
        add_laws(env, a->b);
    for (int i = 0; i < a->n_terms; i++)
        for (int j = 0; j < a->terms[i].n_factors; j++)
            add_laws(env, a->terms[i].factors[j]);
}

static void forget(NatEnv *env)
{
    memset(env->seen, 0, sizeof(Seen) * env->seen_cap);
    env->seen_count = 0;
    env->bounds.n = 0;
}

/* Everything there is, rewritten by a rule that is new. */
static void add_rule(NatEnv *env, Nat from, Nat to)
{
    vec_push(env->ctx, &env->rules, ((Rule){from, to}));
    forget(env);
    for (int i = 0; i < env->rules.n - 1; i++) {
        Nat r = simplify(env, env->rules.at[i].to);
        if (!nat_is_error(r) && !nat_mentions(r, env->rules.at[i].from))
            env->rules.at[i].to = r;
    }
    forget(env);
    int n = env->inequalities.n;
    Nat *old = NEWN(env->ctx, Nat, n + 1);
    if (n)
        memcpy(old, env->inequalities.at, sizeof(Nat) * (size_t)n);
    env->inequalities.n = 0;
    for (int i = 0; i < n; i++)
        add_inequality(env, simplify(env, old[i]));
    forget(env);
    /* A variable that is replaced leaves its bounds behind. */
    if (from->kind == NAT_VAR) {
        if (from->lo)
            add_le(env, from->lo, to);
        if (from->hi)
            add_le(env, to, from->hi);
        forget(env);
    }
}

/* e == 0 for e = +-x + rest: the rest that x equals, or NULL. */
static Nat solved_for(NatEnv *env, Nat e, int term)
{
    NatView v;
    nat_view(e, &v);
    NatTerm t = v.at[term];
    Poly p;
    if (t.n_factors != 1 || (t.coef != 1 && t.coef != -1))
        return NULL;
    poly_init(env->ctx, &p);
    for (int i = 0; i < v.n; i++)
        if (i != term)
            poly_add_terms(&p, &v.at[i], 1, TERM_K(-t.coef));
    Nat rest = nat_sum_in(env->ctx, env, &p);
    return nat_is_error(rest) || nat_mentions(rest, t.factors[0]) ? NULL : rest;
}

static bool is_witness(const NatEnv *env, Nat q)
{
    for (int i = 0; i < env->witnesses.n; i++)
        if (env->witnesses.at[i].q == q)
            return true;
    return false;
}

/* m = n % k == r */
static void add_remainder(NatEnv *env, Nat m, Nat r, int depth)
{
    Ctx *ctx = env->ctx;
    Nat n = m->a, k = m->b;
    Nat lo = NULL, hi = NULL;
    NatRange range = nat_full(m)->divisor_ok ? nat_full(nat_mate(ctx, m))->range : (NatRange){0};
    if (n->kind == NAT_VAR && nat_is(r, 0) && nat_full(m)->divisor_ok) {
        lo = n->lo ? nat_ceil_div(ctx, n->lo, k) : NULL;
        hi = n->hi ? nat_div(ctx, n->hi, k) : NULL;
    }
    if (!lo && range.has_lo)
        lo = nat_const(ctx, range.lo);
    if (!hi && range.has_hi)
        hi = nat_const(ctx, range.hi);
    Nat q = nat_var(ctx, "q", lo, hi);
    vec_push(ctx, &env->witnesses, ((Witness){q, n, k, r}));
    Nat whole = nat_add(ctx, nat_mul(ctx, k, q), r);
    add_rule(env, m, r);
    add_equality(env, nat_sub(ctx, n, whole), depth + 1);
    Nat again = simplify(env, m);
    if (again != simplify(env, r)) {
        Nat quotient = nat_atom(ctx, NAT_DIV, n, k, nat_full(m)->divisor_ok);
        Nat multiple = nat_add(ctx, nat_mul(ctx, k, quotient), r);
        add_le(env, multiple, n);
        add_le(env, n, multiple);
    }
}

/* e == 0 */
static void add_equality(NatEnv *env, Nat e, int depth)
{
    Ctx *ctx = env->ctx;
    e = simplify(env, e);
    if (nat_is_const(e) || nat_is_error(e))
        return;
    NatView v;
    nat_view(e, &v);
    int64_t g = 0;
    for (int i = 0; i < v.n; i++)
        g = gcd_i64(g, v.at[i].coef);
    if (g > 1) {
        Poly p;
        poly_init(ctx, &p);
        for (int i = 0; i < v.n; i++)
            poly_push(&p, (NatTerm){v.at[i].coef / g, v.at[i].n_factors, v.at[i].factors});
        e = nat_sum_in(ctx, env, &p);
        nat_view(e, &v);
    }
    /* The youngest variable that can be solved for; a witness only when nothing else can. */
    Nat best = NULL, best_to = NULL;
    int remainder = -1;
    for (int i = 0; i < v.n; i++) {
        Nat x = v.at[i].n_factors == 1 ? v.at[i].factors[0] : NULL;
        Nat to = x ? solved_for(env, e, i) : NULL;
        if (!to)
            continue;
        if (x->kind == NAT_MOD && !rule_for(env, x))
            remainder = i;
        bool better = !best || (x->kind == NAT_VAR) > (best->kind == NAT_VAR);
        if (best && (x->kind == NAT_VAR) == (best->kind == NAT_VAR))
            better = is_witness(env, x) != is_witness(env, best) ? is_witness(env, best) : x->id > best->id;
        if (better) {
            best = x;
            best_to = to;
        }
    }
    if (remainder >= 0 && (!best || best->kind != NAT_VAR) && depth < 3) {
        add_remainder(env, v.at[remainder].factors[0], solved_for(env, e, remainder), depth);
        return;
    }
    if (best) {
        add_rule(env, best, best_to);
        if (best->kind == NAT_VAR)
            return;
    }
    add_inequality(env, e);
    Poly minus;
    poly_init(ctx, &minus);
    poly_add_nat(&minus, e, TERM_K(-1));
    add_inequality(env, poly_nat_raw(&minus));
}

static void add_ne(NatEnv *env, Nat a, Nat b)
{
    Ctx *ctx = env->ctx;
    Nat d = simplify(env, nat_sub(ctx, a, b));
    for (int sign = 1; sign >= -1; sign -= 2) {
        Poly p;
        poly_init(ctx, &p);
        poly_add_nat(&p, d, TERM_K(sign));
        if (nat_prove(ctx, env, &p, d, NULL)) {
            poly_add_k(&p, -1);
            add_inequality(env, poly_nat_raw(&p));
            return;
        }
    }
}

/* Where a product is 0, what is left of it without the factors that are not: b*c <= 0 and b >= 1 say c <= 0. */
static void add_zero_factors(NatEnv *env)
{
    Ctx *ctx = env->ctx;
    for (int i = 0, n = env->inequalities.n; i < n; i++) {
        NatView v;
        nat_view(env->inequalities.at[i], &v);
        if (v.n != 1 || v.at[0].coef > 0 || v.at[0].n_factors < 2)
            continue;
        Nat rest = nat_const(ctx, 1);
        int left = 0;
        for (int j = 0; j < v.at[0].n_factors; j++) {
            Nat x = v.at[0].factors[j];
            if (nat_prove_nat(ctx, env, nat_add_k(ctx, x, -1), x, NULL))
                continue;
            rest = nat_mul(ctx, rest, x);
            left++;
        }
        if (left && left < v.at[0].n_factors)
            add_inequality(env, nat_sub(ctx, nat_const(ctx, 0), rest));
    }
}

NatEnv *nat_env_new(Ctx *ctx, const NatFact *facts, int n, uint32_t hash)
{
    NatEnv *env = NEW(ctx, NatEnv);
    env->ctx = ctx;
    env->hash = hash;
    env->seen_cap = 64;
    env->seen = NEWN(ctx, Seen, env->seen_cap);
    env->models.n = n;
    env->models.facts = facts;

    /* Equalities first, so that the rest is stated in what they leave. */
    for (int i = 0; i < n; i++)
        if (facts[i].kind == FACT_EQ)
            add_equality(env, nat_sub(ctx, facts[i].a, facts[i].b), 0);
    for (int i = 0; i < n; i++) {
        if (facts[i].kind == FACT_LE)
            add_le(env, facts[i].a, facts[i].b);
        add_laws(env, facts[i].a);
        add_laws(env, facts[i].b);
    }
    for (int i = 0; i < n; i++)
        if (facts[i].kind == FACT_NE)
            add_ne(env, facts[i].a, facts[i].b);
    add_zero_factors(env);
    forget(env);
    return env;
}

NatModels *nat_env_models(NatEnv *env) { return &env->models; }

bool nat_env_witness(const NatEnv *env, Nat var, Nat *n, Nat *k)
{
    for (int i = 0; i < env->witnesses.n; i++)
        if (env->witnesses.at[i].q == var) {
            *n = env->witnesses.at[i].n;
            *k = env->witnesses.at[i].k;
            return true;
        }
    return false;
}

uint32_t nat_env_hash(const NatEnv *env) { return env ? env->hash : 0; }

Nat nat_env_simplify(NatEnv *env, Nat a) { return env ? simplify(env, a) : a; }

Nat nat_env_put_back(NatEnv *env, Nat a)
{
    for (int i = env->witnesses.n - 1; i >= 0; i--)
        a = without_witness(env, &env->witnesses.at[i], a);
    return a;
}
