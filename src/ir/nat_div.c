/* The rules of div and mod, and of the sums that hold them.
 *
 * Floor division throughout: a = b*(a/b) + a%b with 0 <= a%b < b, for b >= 1. Nothing is done about an atom alone whose divisor
 * is not proved >= 1; sums that hold such atoms are joined, as a sum that has a value has divisors >= 1. Below, k is the divisor and r, x, y are any nats. */
#include "ir/nat_internal.h"

enum { MAX_DEPTH = 80, MAX_CANDIDATES = 12, MAX_JOINS = 12 };

static Nat divide(Ctx *ctx, NatEnv *env, NatKind op, Nat a, Nat k, int depth);

/* Who asks: proofs may use that the variables of `a` and `k` have values. */
typedef struct Site {
    Ctx *ctx;
    NatEnv *env;
    Nat a, k;
    int depth;
} Site;

static bool positive(const Site *s, const NatEnv *env, Nat k)
{
    NatRange r = nat_full(k)->range;
    if (r.has_lo)
        if (r.lo >= 1)
            return true;
    if (r.has_hi && r.hi < 1)
        return false;
    Poly p;
    poly_init(s->ctx, &p);
    poly_add_nat(&p, k, TERM_K(1));
    poly_add_k(&p, -1);
    return nat_prove(s->ctx, env, &p, s->a, s->k);
}

static bool divisor_ok(const Site *s, Nat div_or_mod)
{
    return nat_full(div_or_mod)->divisor_ok || (s->env && positive(s, s->env, div_or_mod->b));
}

/* 0 <= p < k */
static bool in_window(const Site *s, const Poly *p, Nat k)
{
    NatRange r = poly_range(s->env, p);
    if (r.has_hi && r.hi < 0)
        return false;
    bool low = r.has_lo && r.lo >= 0;
    if (low && nat_is_const(k) && r.has_hi && r.hi < k->value)
        return true;
    /* The upper side first: it fails more often. */
    Poly d;
    poly_init(s->ctx, &d);
    poly_add_nat(&d, k, TERM_K(1));
    poly_add_poly(&d, p, TERM_K(-1));
    poly_add_k(&d, -1);
    return nat_prove(s->ctx, s->env, &d, s->a, s->k) && (low || nat_prove(s->ctx, s->env, p, s->a, s->k));
}

static Nat sum_nat(const Site *s, const Poly *a, Nat b, int64_t kb)
{
    Poly p;
    poly_init(s->ctx, &p);
    poly_add_poly(&p, a, TERM_K(1));
    poly_add_nat(&p, b, TERM_K(kb));
    return nat_sum_in(s->ctx, s->env, &p);
}

/* When rest = j*k + (something in [0, k)) for a constant j: the value of the quotient's part j, by intervals or proof. */
static bool whole(const Site *s, const Poly *rest, Nat k, int64_t *j)
{
    NatRange r = poly_range(s->env, rest);
    if (nat_is_const(k) && r.has_lo && r.has_hi) {
        *j = floor_div(r.lo, k->value);
        if (*j == floor_div(r.hi, k->value))
            return true;
    }
    *j = 0;
    if (in_window(s, rest, k))
        return true;
    if (r.has_hi && r.hi < 0) {
        Poly p;
        poly_copy(s->ctx, &p, rest);
        poly_add_nat(&p, k, TERM_K(1));
        *j = -1;
        return nat_prove(s->ctx, s->env, &p, s->a, s->k);
    }
    return false;
}

/* (g*x + r) / (g*y) = x / y and (g*x + r) % (g*y) = g * (x % y) + r where 0 <= r < g, and the same with x - 1 and r + g
 * where -g <= r < 0. That g >= 1 follows, and y >= 1 from g*y >= 1. `quotient` is x, `y` the divisor without g. */
static bool drop_rest(const Site *s, NatKind op, const Poly *quotient, const Poly *r, Nat g, Nat y, Nat *result)
{
    int64_t j;
    if (poly_vars(quotient) == 0 || quotient->overflow || r->overflow || !whole(s, r, g, &j))
        return false;
    Poly x, rest;
    poly_copy(s->ctx, &x, quotient);
    poly_add_k(&x, j);
    poly_copy(s->ctx, &rest, r);
    poly_add_nat(&rest, g, TERM_K(-j));
    if (x.overflow || rest.overflow)
        return false;
    Nat inner = divide(s->ctx, s->env, op, nat_sum_in(s->ctx, s->env, &x), y, s->depth + 1);
    *result = op == NAT_DIV ? inner : sum_nat(s, &rest, nat_mul(s->ctx, inner, g), 1);
    return !nat_is_error(*result);
}

/* Splits p by a term g: p = g*x + r, each term whole in one of them, a constant by floor when g is one. */
static void split_by_term(const Site *s, const Poly *p, const NatTerm *g, Poly *x, Poly *r)
{
    poly_init(s->ctx, x);
    poly_init(s->ctx, r);
    for (int i = 0; i < p->n; i++) {
        NatTerm t;
        if (p->at[i].n_factors == 0 && g->n_factors == 0) {
            int64_t high = floor_div(p->at[i].coef, g->coef), low = floor_mod(p->at[i].coef, g->coef);
            if (high)
                poly_push(x, TERM_K(high));
            if (low)
                poly_push(r, TERM_K(low));
        } else if (term_divide(s->ctx, &p->at[i], g, &t)) {
            poly_push(x, t);
        } else {
            poly_push(r, p->at[i]);
        }
    }
}

static Nat term_nat(Ctx *ctx, const NatTerm *t)
{
    Poly p;
    poly_init(ctx, &p);
    poly_push(&p, *t);
    return poly_nat_raw(&p);
}

/* Largest first, so that what remains is smallest; each once. */
static void add_candidate(NatTerm *list, int *n, NatTerm c)
{
    int at = 0;
    if ((c.coef == 1 && c.n_factors == 0) || *n == MAX_CANDIDATES)
        return;
    while (at < *n && (list[at].n_factors > c.n_factors || (list[at].n_factors == c.n_factors && list[at].coef >= c.coef))) {
        if (list[at].coef == c.coef && list[at].factors == c.factors)
            return;
        at++;
    }
    memmove(list + at + 1, list + at, sizeof(NatTerm) * (size_t)(*n - at));
    list[at] = c;
    ++*n;
}

static bool common_factor(const Site *s, NatKind op, const Poly *p, Nat k, Nat *result)
{
    Ctx *ctx = s->ctx;
    NatView v;
    nat_view(k, &v);
    NatTerm content = v.at[0];
    for (int i = 0; i < v.n; i++)
        content = term_gcd(ctx, &content, &v.at[i]);
    bool trivial = content.coef == 1 && content.n_factors == 0;

    NatTerm candidates[MAX_CANDIDATES];
    int n = 0;
    NatTerm all = content;
    for (int i = 0; i < poly_vars(p) && !trivial; i++) {
        add_candidate(candidates, &n, term_gcd(ctx, &content, &p->at[i]));
        all = term_gcd(ctx, &all, &p->at[i]);
    }
    if (poly_vars(p) && !trivial)
        add_candidate(candidates, &n, all);
    for (int i = 0; i < n; i++) {
        NatTerm g = candidates[i];
        Poly x, r, y;
        Nat g_nat = term_nat(ctx, &g);
        poly_init(ctx, &y);
        for (int j = 0; j < v.n; j++) {
            NatTerm t;
            if (!term_divide(ctx, &v.at[j], &g, &t))
                y.overflow = true;
            else
                poly_push(&y, t);
        }
        if (y.overflow)
            continue;
        split_by_term(s, p, &g, &x, &r);
        if (drop_rest(s, op, &x, &r, g_nat, poly_nat_raw(&y), result))
            return true;
    }
    /* The other way round: k = content * primitive, g the primitive part. */
    if (!trivial && v.n > 1) {
        Poly primitive, x, r;
        Nat y = term_nat(ctx, &content);
        poly_init(ctx, &primitive);
        for (int j = 0; j < v.n; j++) {
            NatTerm t;
            if (!term_divide(ctx, &v.at[j], &content, &t))
                return false;
            poly_push(&primitive, t);
        }
        Nat g = poly_nat_raw(&primitive);
        if (poly_divide(ctx, p, g, &x, &r) && drop_rest(s, op, &x, &r, g, y, result))
            return true;
    }
    return false;
}

/* (x%(k*c)) mod k = x mod k, anywhere in a sum and under any factor. */
static bool drop_inner_mods(const Site *s, Poly *p, Nat k)
{
    Poly out;
    bool changed = false;
    poly_init(s->ctx, &out);
    for (int i = 0; i < p->n; i++) {
        NatTerm t = p->at[i], rest;
        Nat inner = NULL;
        for (int j = 0; j < t.n_factors && !inner; j++) {
            Nat f = t.factors[j];
            if (f->kind != NAT_MOD || !divisor_ok(s, f))
                continue;
            Poly modulus, q, r;
            poly_init(s->ctx, &modulus);
            poly_add_nat(&modulus, f->b, TERM_K(1));
            if (poly_divide(s->ctx, &modulus, k, &q, &r) && r.n == 0)
                inner = f;
        }
        NatTerm atom;
        if (inner && (atom = nat_atom_term(inner, 1), term_divide(s->ctx, &t, &atom, &rest))) {
            poly_add_nat(&out, inner->a, rest);
            changed = true;
        } else {
            poly_add_terms(&out, &t, 1, TERM_K(1));
        }
    }
    if (changed && !out.overflow) {
        poly_copy(s->ctx, p, &out);
        return true;
    }
    return false;
}

static bool holds_div_or_mod(const Poly *p)
{
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < p->at[i].n_factors; j++) {
            Nat f = p->at[i].factors[j];
            if (f->kind == NAT_DIV || f->kind == NAT_MOD || nat_full(f)->divides) /* also by a divisor that is proved positive only here */
                return true;
        }
    return false;
}

/* (x/y + r) / k = (x + y*r) / (y*k), and (x % (k*c)) / k = (x/k) % c. */
static bool merge_inner(const Site *s, const Poly *p, Nat k, Nat *result)
{
    Ctx *ctx = s->ctx;
    for (int i = 0; i < p->n; i++) {
        NatTerm t = p->at[i];
        if (t.coef != 1 || t.n_factors != 1)
            continue;
        Nat f = t.factors[0];
        if (f->kind == NAT_MOD && p->n == 1 && divisor_ok(s, f)) {
            Poly modulus, q, r;
            poly_init(ctx, &modulus);
            poly_add_nat(&modulus, f->b, TERM_K(1));
            if (poly_divide(ctx, &modulus, k, &q, &r) && r.n == 0) {
                Nat inner = divide(ctx, s->env, NAT_DIV, f->a, k, s->depth + 1);
                *result = divide(ctx, s->env, NAT_MOD, inner, nat_sum_in(ctx, s->env, &q), s->depth + 1);
                return !nat_is_error(*result);
            }
        }
        if (f->kind != NAT_DIV || nat_mentions(k, f) || !divisor_ok(s, f))
            continue;
        Poly r, top;
        poly_init(ctx, &r);
        for (int j = 0; j < p->n; j++)
            if (j != i)
                poly_push(&r, p->at[j]);
        /* A symbolic y times other quotients makes the dividend longer, not simpler. */
        if (!nat_is_const(f->b) && (r.n > 4 || holds_div_or_mod(&r)))
            continue;
        poly_init(ctx, &top);
        poly_add_nat(&top, f->a, TERM_K(1));
        for (int j = 0; j < r.n; j++)
            poly_add_nat(&top, f->b, r.at[j]);
        Nat bottom = nat_mul(ctx, f->b, k);
        if (top.overflow || nat_is_error(bottom))
            continue;
        *result = divide(ctx, s->env, NAT_DIV, nat_sum_in(ctx, s->env, &top), bottom, s->depth + 1);
        return !nat_is_error(*result);
    }
    return false;
}

static bool all_negative(const Poly *p)
{
    for (int i = 0; i < poly_vars(p); i++)
        if (p->at[i].coef > 0)
            return false;
    return poly_vars(p) > 0;
}

/* The quotient or remainder of r by k where a rule other than splitting applies; `q` is what came out of the quotient. */
static Nat rewrite(const Site *s, NatKind op, const Poly *q, Poly *r)
{
    Ctx *ctx = s->ctx;
    bool div = op == NAT_DIV;
    Nat k = s->k, inner;
    Poly p;
    int64_t j;
    if (whole(s, r, k, &j)) {
        poly_copy(ctx, &p, div ? q : r);
        if (div)
            poly_add_k(&p, j);
        else
            poly_add_nat(&p, k, TERM_K(-j));
        return nat_sum_in(ctx, s->env, &p);
    }
    if (!div && drop_inner_mods(s, r, k))
        return divide(ctx, s->env, op, nat_sum_in(ctx, s->env, r), k, s->depth + 1);

    if (common_factor(s, op, r, k, &inner) || (div && merge_inner(s, r, k, &inner)))
        return div ? sum_nat(s, q, inner, 1) : inner;

    /* (-x) / k = -((x + k - 1) / k) and (-x) % k = k - 1 - (x + k - 1) % k */
    if (!all_negative(r))
        return NULL;
    poly_init(ctx, &p);
    poly_add_poly(&p, r, TERM_K(-1));
    poly_add_k(&p, -1);
    poly_add_nat(&p, k, TERM_K(1));
    Nat flipped = nat_sum_in(ctx, s->env, &p);
    poly_init(ctx, &p);
    poly_add_nat(&p, flipped, TERM_K(1));
    if (p.overflow || all_negative(&p)) /* k has negative terms, or terms joined: there and back again */
        return NULL;
    inner = divide(ctx, s->env, op, flipped, k, s->depth + 1);
    if (div)
        return sum_nat(s, q, inner, -1);
    poly_init(ctx, &p);
    poly_add_nat(&p, k, TERM_K(1));
    poly_add_k(&p, -1);
    return sum_nat(s, &p, inner, -1);
}

static bool has_mono(const Poly *p, const NatTerm *t)
{
    for (int i = 0; i < p->n; i++)
        if (p->at[i].factors == t->factors)
            return true;
    return false;
}

/* Nothing in the sum joins. */
static bool is_joined(Ctx *ctx, const Poly *p)
{
    Poly raw, sum;
    poly_copy(ctx, &raw, p);
    poly_copy(ctx, &sum, p);
    return !p->overflow && poly_nat_raw(&raw) == nat_sum_in(ctx, NULL, &sum);
}

static Nat divide_proved(const Site *s, NatKind op, bool ok_for_good)
{
    Ctx *ctx = s->ctx;
    Nat a = s->a, k = s->k;
    NatView v;
    Poly p, q, r;
    if (s->depth > MAX_DEPTH)
        return nat_atom(ctx, op, a, k, ok_for_good);
    nat_view(k, &v);
    poly_init(ctx, &p);
    poly_add_nat(&p, a, TERM_K(1));

    /* k*q + r: q comes out of a quotient and vanishes from a remainder. By several terms only when that makes it shorter. */
    bool full = poly_divide(ctx, &p, k, &q, &r);
    if (!full || (v.n > 1 && q.n && r.n >= p.n)) {
        full = false;
        poly_init(ctx, &q);
        poly_copy(ctx, &r, &p);
    }
    Nat result = rewrite(s, op, &q, &r);
    /* (x - c) / k = (x + k - c) / k - 1: as ceilDiv is written, and >= 0 where ceilDiv's argument is. Only where splitting
     * takes the k out again, else it would be added each time; terms that join would hide it. */
    if (!result && full && poly_const(&r) < 0 && !has_mono(&r, &v.at[0])) {
        poly_copy(ctx, &p, &r);
        poly_add_nat(&p, k, TERM_K(1));
        if (is_joined(ctx, &p)) {
            poly_copy(ctx, &r, &p);
            poly_add_k(&q, -1);
            result = rewrite(s, op, &q, &r);
        }
    }
    if (result)
        return result;
    poly_copy(ctx, &p, &r);
    Nat raw = poly_nat_raw(&p), x = nat_sum_in(ctx, s->env, &p);
    if (nat_is_error(x) || nat_is_error(raw))
        return nat_atom(ctx, op, a, k, ok_for_good);
    /* What is left may join where the whole did not. */
    Nat part = x == raw ? nat_atom(ctx, op, x, k, ok_for_good) : divide(ctx, s->env, op, x, k, s->depth + 1);
    return op == NAT_DIV ? sum_nat(s, &q, part, 1) : part;
}

static Nat divide(Ctx *ctx, NatEnv *env, NatKind op, Nat a, Nat k, int depth)
{
    if (nat_is_error(a) || nat_is_error(k))
        return nat_error(ctx);
    if (nat_is_const(k)) {
        if (k->value < 1)
            return nat_error(ctx);
        if (k->value == 1)
            return op == NAT_DIV ? a : nat_const(ctx, 0);
        if (nat_is_const(a))
            return nat_const(ctx, op == NAT_DIV ? floor_div(a->value, k->value) : floor_mod(a->value, k->value));
    }
    Nat r = env ? NULL : nat_memo_get(ctx, op, a, k);
    if (r)
        return r;
    Site s = {ctx, env, a, k, depth};
    bool ok_for_good = positive(&s, NULL, k);
    if (ok_for_good || (env && positive(&s, env, k)))
        r = divide_proved(&s, op, ok_for_good);
    else
        r = nat_atom(ctx, op, a, k, false);
    if (!env && depth == 0)
        nat_memo_put(ctx, op, a, k, r);
    return r;
}

Nat nat_div_in(Ctx *ctx, NatEnv *env, Nat a, Nat b) { return divide(ctx, env, NAT_DIV, a, b, 0); }
Nat nat_mod_in(Ctx *ctx, NatEnv *env, Nat a, Nat b) { return divide(ctx, env, NAT_MOD, a, b, 0); }

/* ---- sums that hold div and mod ----------------------------------------------------------------------------------------------
 *
 *   y*(x/y) + x%y = x        x - x%y = y*(x/y)        x - y*(x/y) = x%y        x%y + y*((x/y + z)%c) = (x + y*z) % (y*c)
 *   k*(a/(j*k)) + (a/j)%k = a/j
 *
 * under any common factor, whether y >= 1 is proved or not. Each fires only when every term it takes is there with exactly its coefficient, so no part of a
 * normal form can be rewritten and sums come out the same in whatever order they are added. */

static int find_term(const Poly *p, const NatTerm *t)
{
    for (int i = 0; i < p->n; i++)
        if (p->at[i].factors == t->factors)
            return p->at[i].coef == t->coef ? i : -1;
    return -1;
}

/* p = p - by * taken + by * given, if all terms of by * taken but its constant are in p as they are. */
static bool exchange(Ctx *ctx, Poly *p, NatTerm by, const Poly *taken, Nat given)
{
    Poly scaled;
    poly_init(ctx, &scaled);
    poly_add_poly(&scaled, taken, by);
    if (scaled.overflow || poly_vars(&scaled) < 2)
        return false;
    for (int i = 0; i < poly_vars(&scaled); i++)
        if (find_term(p, &scaled.at[i]) < 0)
            return false;
    Poly sum;
    poly_copy(ctx, &sum, p);
    poly_add_poly(&sum, &scaled, TERM_K(-1));
    poly_add_nat(&sum, given, by);
    if (sum.overflow)
        return false;
    poly_copy(ctx, p, &sum);
    return true;
}

static void add_multiple(Ctx *ctx, Poly *p, Nat a, Nat b, int64_t k)
{
    Poly pa, pb;
    poly_init(ctx, &pa);
    poly_init(ctx, &pb);
    poly_add_nat(&pa, a, TERM_K(1));
    poly_add_nat(&pb, b, TERM_K(1));
    poly_add_product(p, &pa, &pb, k);
}

static bool mentions_div(const Poly *p)
{
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < p->at[i].n_factors; j++)
            if (p->at[i].factors[j]->kind == NAT_DIV)
                return true;
    return false;
}

/* y*q + m = x where q is x/y and m is x%y */
static bool join_as(Ctx *ctx, Poly *p, NatTerm by, Nat m, Nat q, Nat x)
{
    Poly taken;
    NatTerm atom = nat_atom_term(m, 1);
    poly_init(ctx, &taken);
    add_multiple(ctx, &taken, m->b, q, 1);
    poly_add_terms(&taken, &atom, 1, TERM_K(1));
    return exchange(ctx, p, by, &taken, x);
}

static bool join_with(Ctx *ctx, Poly *p, NatTerm by, Nat m, Nat q) { return join_as(ctx, p, by, m, q, m->a); }

/* (a/b + r) / y is (a + b*r) / (b*y): so it is written where y >= 1 is proved by facts, and its mate does not know them. */
static bool join_merged(Ctx *ctx, Poly *p, NatTerm by, Nat m)
{
    NatView v;
    nat_view(m->a, &v);
    for (int i = 0; i < v.n; i++) {
        Nat d = v.at[i].n_factors == 1 && v.at[i].coef == 1 ? v.at[i].factors[0] : NULL;
        if (!d || d->kind != NAT_DIV)
            continue;
        Nat rest = nat_sub(ctx, m->a, d), top = nat_add(ctx, d->a, nat_mul(ctx, d->b, rest));
        Nat merged = nat_div(ctx, top, nat_mul(ctx, d->b, m->b));
        if (!nat_is_error(merged) && join_with(ctx, p, by, m, merged))
            return true;
    }
    return false;
}

/* The quotient of m's operands, written as (a/b + r) / y where m is (a + b*r) % (b*y). */
static bool is_quotient_of(Ctx *ctx, Nat q, Nat m)
{
    NatView v;
    nat_view(q->a, &v);
    for (int i = 0; i < v.n; i++) {
        Nat d = v.at[i].n_factors == 1 && v.at[i].coef == 1 ? v.at[i].factors[0] : NULL;
        if (d && d->kind == NAT_DIV && nat_mul(ctx, d->b, q->b) == m->b &&
            nat_add(ctx, d->a, nat_mul(ctx, d->b, nat_sub(ctx, q->a, d))) == m->a)
            return true;
    }
    return false;
}

static bool join_nested(Ctx *ctx, Poly *p, NatTerm by, Nat m)
{
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < p->at[i].n_factors; j++) {
            Nat q = p->at[i].factors[j];
            if (q->kind == NAT_DIV && is_quotient_of(ctx, q, m) && join_with(ctx, p, by, m, q))
                return true;
        }
    return false;
}

/* k*(a / (j*k)) + x%k = x where x is a/j: x/k and x%k are each written in their own shortest way. */
static bool join_reduced(Ctx *ctx, Poly *p, NatTerm by, Nat m)
{
    for (int i = 0; nat_is_const(m->b) && i < p->n; i++)
        for (int j = 0; j < p->at[i].n_factors; j++) {
            Nat q = p->at[i].factors[j];
            if (q->kind != NAT_DIV || !nat_is_const(q->b) || m->b->value < 2 || q->b->value <= m->b->value || q->b->value % m->b->value != 0)
                continue;
            Nat x = nat_div(ctx, q->a, nat_const(ctx, q->b->value / m->b->value));
            if (nat_mod(ctx, x, m->b) == m && join_as(ctx, p, by, m, q, x))
                return true;
        }
    return false;
}

static bool join_pair(Ctx *ctx, Poly *p, NatTerm t, Nat m)
{
    NatTerm by, atom = nat_atom_term(m, 1);
    if (poly_vars(p) < 2 || !mentions_div(p) || !term_divide(ctx, &t, &atom, &by))
        return false;
    return join_with(ctx, p, by, m, nat_mate(ctx, m)) || join_nested(ctx, p, by, m) || join_reduced(ctx, p, by, m) ||
           (!nat_full(m)->divisor_ok && join_merged(ctx, p, by, m));
}

static bool join_mod(Ctx *ctx, Poly *p, NatTerm t, Nat m)
{
    NatTerm by, atom = nat_atom_term(m, 1);
    Nat x = m->a, y = m->b;
    if (poly_vars(p) < 2 || !term_divide(ctx, &t, &atom, &by))
        return false;
    Poly taken, given, probe;
    if (join_pair(ctx, p, t, m))
        return true;
    if (x->has_vars) { /* a constant x is "there" in every sum */
        poly_init(ctx, &taken);
        poly_add_nat(&taken, x, TERM_K(-1));
        poly_add_terms(&taken, &atom, 1, TERM_K(1));
        poly_copy(ctx, &probe, p);
        if (exchange(ctx, &probe, by, &taken, nat_const(ctx, 0))) {
            poly_init(ctx, &given);
            add_multiple(ctx, &given, y, nat_mate(ctx, m), -1);
            if (!given.overflow && exchange(ctx, p, by, &taken, poly_nat_raw(&given)))
                return true;
        }
    }
    NatView v, w;
    nat_view(x, &v);
    for (int i = 0; i < v.n; i++) {
        Nat d = v.at[i].n_factors == 1 && v.at[i].coef == 1 ? v.at[i].factors[0] : NULL;
        NatTerm less;
        if (!d || d->kind != NAT_DIV)
            continue;
        nat_view(d->b, &w);
        if (w.n != 1 || !term_divide(ctx, &by, &w.at[0], &less))
            continue;
        poly_init(ctx, &taken);
        poly_add_nat(&taken, nat_mate(ctx, d), TERM_K(1));
        poly_add_terms(&taken, &atom, 1, w.at[0]);
        Poly top;
        poly_init(ctx, &top);
        poly_add_nat(&top, x, w.at[0]);
        poly_add_nat(&top, d, (NatTerm){-w.at[0].coef, w.at[0].n_factors, w.at[0].factors});
        poly_add_nat(&top, d->a, TERM_K(1));
        Nat joined = nat_mod(ctx, nat_sum_in(ctx, NULL, &top), nat_mul(ctx, d->b, y));
        if (exchange(ctx, p, less, &taken, joined))
            return true;
    }
    return false;
}

static bool join_div(Ctx *ctx, Poly *p, NatTerm t, Nat d)
{
    NatTerm by, atom = nat_atom_term(d, 1);
    NatView v;
    if (poly_vars(p) < 2 || !d->a->has_vars || !term_divide(ctx, &t, &atom, &by))
        return false;
    nat_view(d->b, &v);
    if (v.n == 0 || !term_divide(ctx, &by, &v.at[0], &by) || by.coef == INT64_MIN)
        return false;
    by.coef = -by.coef;
    Poly taken;
    poly_init(ctx, &taken);
    add_multiple(ctx, &taken, d->b, d, -1);
    poly_add_nat(&taken, d->a, TERM_K(1));
    /* Ask for the remainder only when the terms are there. */
    Poly probe;
    poly_copy(ctx, &probe, p);
    return exchange(ctx, &probe, by, &taken, nat_const(ctx, 0)) && exchange(ctx, p, by, &taken, nat_mate(ctx, d));
}

static bool join_once(Ctx *ctx, Poly *p)
{
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < p->at[i].n_factors; j++) {
            Nat f = p->at[i].factors[j];
            if (!nat_full(f)->divides)
                continue;
            if (f->kind == NAT_MOD && join_mod(ctx, p, p->at[i], f))
                return true;
            if (f->kind == NAT_DIV && join_div(ctx, p, p->at[i], f))
                return true;
        }
    return false;
}

Nat nat_sum_in(Ctx *ctx, NatEnv *env, Poly *p)
{
    (void)env;
    if (p->overflow)
        return nat_error(ctx);
    for (int n = 0; n < MAX_JOINS && p->n > 1 && join_once(ctx, p); n++)
        continue;
    return poly_nat_raw(p);
}
