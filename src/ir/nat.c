/* The constructors (div and mod are in nat_div.c), and substitution. */
#include "ir/nat.h"

#include "ir/nat_internal.h"

/* ---- constructors --------------------------------------------------------------------------------------------------------- */

static Nat linear(Ctx *ctx, Nat a, int64_t ka, Nat b, int64_t kb)
{
    Poly p;
    poly_init(ctx, &p);
    poly_add_nat(&p, a, TERM_K(ka));
    poly_add_nat(&p, b, TERM_K(kb));
    return nat_sum_in(ctx, NULL, &p);
}

Nat nat_add(Ctx *ctx, Nat a, Nat b) { return nat_is(a, 0) ? b : nat_is(b, 0) ? a : linear(ctx, a, 1, b, 1); }
Nat nat_sub(Ctx *ctx, Nat a, Nat b) { return nat_is(b, 0) ? a : linear(ctx, a, 1, b, -1); }
Nat nat_add_k(Ctx *ctx, Nat a, int64_t k) { return nat_add(ctx, a, nat_const(ctx, k)); }
Nat nat_mul_k(Ctx *ctx, Nat a, int64_t k) { return nat_mul(ctx, a, nat_const(ctx, k)); }

Nat nat_mul(Ctx *ctx, Nat a, Nat b)
{
    if (nat_is_error(a) || nat_is_error(b))
        return nat_error(ctx);
    if (nat_is(a, 1))
        return b;
    if (nat_is(b, 1))
        return a;
    NatView va, vb;
    nat_view(a, &va);
    nat_view(b, &vb);
    Poly p;
    poly_init(ctx, &p);
    for (int i = 0; i < va.n && !p.overflow; i++)
        poly_add_terms(&p, vb.at, vb.n, va.at[i]);
    return nat_sum_in(ctx, NULL, &p);
}

Nat nat_div(Ctx *ctx, Nat a, Nat b) { return nat_div_in(ctx, NULL, a, b); }
Nat nat_mod(Ctx *ctx, Nat a, Nat b) { return nat_mod_in(ctx, NULL, a, b); }
Nat nat_min(Ctx *ctx, Nat a, Nat b) { return nat_min_max_in(ctx, NULL, NAT_MIN, a, b); }
Nat nat_max(Ctx *ctx, Nat a, Nat b) { return nat_min_max_in(ctx, NULL, NAT_MAX, a, b); }

Nat nat_ceil_div(Ctx *ctx, Nat a, Nat b)
{
    Poly p;
    poly_init(ctx, &p);
    poly_add_nat(&p, a, TERM_K(1));
    poly_add_nat(&p, b, TERM_K(1));
    poly_add_k(&p, -1);
    return nat_div(ctx, nat_sum_in(ctx, NULL, &p), b);
}

Nat nat_min_max_in(Ctx *ctx, NatEnv *env, NatKind kind, Nat a, Nat b)
{
    if (nat_is_error(a) || nat_is_error(b))
        return nat_error(ctx);
    if (a == b)
        return a;
    if (nat_is_const(a) && nat_is_const(b))
        return (a->value < b->value) == (kind == NAT_MIN) ? a : b;
    if (nat_is_const(a) || (a->id > b->id && !nat_is_const(b))) { /* a constant's id tells only when it was first used */
        Nat t = a;
        a = b;
        b = t;
    }
    if (nat_is_const(b) && a->kind == kind && nat_is_const(a->b)) /* min(min(x, 9), 4) */
        return nat_min_max_in(ctx, env, kind, a->a, nat_min_max_in(ctx, env, kind, a->b, b));
    Nat r = env ? NULL : nat_memo_get(ctx, kind, a, b);
    if (r)
        return r;
    Poly d;
    poly_init(ctx, &d);
    poly_add_nat(&d, b, TERM_K(1));
    poly_add_nat(&d, a, TERM_K(-1));
    if (nat_prove(ctx, env, &d, a, b)) {
        r = kind == NAT_MIN ? a : b;
    } else {
        poly_init(ctx, &d);
        poly_add_nat(&d, a, TERM_K(1));
        poly_add_nat(&d, b, TERM_K(-1));
        if (nat_prove(ctx, env, &d, a, b))
            r = kind == NAT_MIN ? b : a;
        else
            r = nat_atom(ctx, kind, a, b, false);
    }
    if (!env)
        nat_memo_put(ctx, kind, a, b, r);
    return r;
}

Nat nat_pow(Ctx *ctx, Nat a, Nat b)
{
    if (nat_is_error(a) || nat_is_error(b) || (nat_is_const(b) && b->value < 0))
        return nat_error(ctx);
    if (nat_is(b, 0) || nat_is(a, 1))
        return nat_const(ctx, 1);
    if (nat_is(b, 1))
        return a;
    if (nat_is_const(b)) {
        if (nat_is(a, 0))
            return a;
        if (nat_is(a, -1))
            return nat_const(ctx, b->value % 2 ? -1 : 1);
        /* A power of a sum has binomially many terms, one of a product its degree: what is too large stays a power. */
        NatView v;
        nat_view(a, &v);
        int64_t limit = nat_is_const(a) ? 64 : a->kind == NAT_SUM && v.n > 1 ? 6 : NAT_MAX_DEGREE;
        if (b->value > limit)
            return nat_is_const(a) ? nat_error(ctx) : nat_atom(ctx, NAT_POW, a, b, false);
        Nat r = a;
        for (int64_t i = 1; i < b->value; i++)
            r = nat_mul(ctx, r, a);
        return nat_is_error(r) && !nat_is_const(a) ? nat_atom(ctx, NAT_POW, a, b, false) : r;
    }
    /* a ^ (x + k) = a^k * a^x where x >= 0, so that no smaller exponent becomes negative. */
    NatView v;
    nat_view(b, &v);
    int64_t k = v.n && v.at[v.n - 1].n_factors == 0 ? v.at[v.n - 1].coef : 0;
    if (k > 0 && k <= 62 && nat_is_const(a)) {
        Nat rest = nat_add_k(ctx, b, -k);
        if (nat_prove_nat(ctx, NULL, rest, b, NULL)) {
            Nat factor = nat_pow(ctx, a, nat_const(ctx, k));
            if (!nat_is_error(factor))
                return nat_mul(ctx, factor, nat_pow(ctx, a, rest));
        }
    }
    return nat_atom(ctx, NAT_POW, a, b, false);
}

Nat nat_log2(Ctx *ctx, Nat a)
{
    if (nat_is_error(a) || (nat_is_const(a) && a->value < 1))
        return nat_error(ctx);
    if (nat_is_const(a))
        return nat_const(ctx, nat_log2_floor(a->value));
    /* log2(2^k * 2^x) = k + x; where the power is defined x is >= 0. */
    NatView v;
    nat_view(a, &v);
    if (v.n == 1 && v.at[0].n_factors == 1 && v.at[0].coef > 0 && (v.at[0].coef & (v.at[0].coef - 1)) == 0) {
        Nat p = v.at[0].factors[0];
        if (p->kind == NAT_POW && nat_is(p->a, 2))
            return nat_add_k(ctx, p->b, nat_log2_floor(v.at[0].coef));
    }
    return nat_atom(ctx, NAT_LOG2, a, NULL, false);
}

/* ---- substitution ---------------------------------------------------------------------------------------------------------- */

typedef struct Subst {
    Ctx *ctx;
    int n;
    const Nat *vars, *by;
    uint32_t oldest; /* a node made before all vars cannot mention one */
} Subst;

static Nat subst(const Subst *s, Nat a)
{
    Ctx *ctx = s->ctx;
    if (a->id < s->oldest || !a->has_vars)
        return a;
    for (int i = 0; i < s->n; i++)
        if (s->vars[i] == a)
            return s->by[i];
    switch (a->kind) {
    case NAT_ERROR:
    case NAT_CONST:
    case NAT_VAR:
        return a;
    case NAT_SUM: {
        Nat sum = nat_const(ctx, 0);
        for (int i = 0; i < a->n_terms; i++) {
            Nat product = nat_const(ctx, a->terms[i].coef);
            for (int j = 0; j < a->terms[i].n_factors; j++)
                product = nat_mul(ctx, product, subst(s, a->terms[i].factors[j]));
            sum = nat_add(ctx, sum, product);
        }
        return sum;
    }
    case NAT_DIV:
        return nat_div(ctx, subst(s, a->a), subst(s, a->b));
    case NAT_MOD:
        return nat_mod(ctx, subst(s, a->a), subst(s, a->b));
    case NAT_MIN:
        return nat_min(ctx, subst(s, a->a), subst(s, a->b));
    case NAT_MAX:
        return nat_max(ctx, subst(s, a->a), subst(s, a->b));
    case NAT_POW:
        return nat_pow(ctx, subst(s, a->a), subst(s, a->b));
    case NAT_LOG2:
        return nat_log2(ctx, subst(s, a->a));
    }
    return a;
}

Nat nat_subst_many(Ctx *ctx, Nat a, int n, const Nat *vars, const Nat *by)
{
    Subst s = {ctx, n, vars, by, UINT32_MAX};
    for (int i = 0; i < n; i++)
        if (vars[i]->id < s.oldest)
            s.oldest = vars[i]->id;
    return n ? subst(&s, a) : a;
}

Nat nat_subst(Ctx *ctx, Nat a, Nat var, Nat by) { return nat_subst_many(ctx, a, 1, &var, &by); }

bool nat_mentions(Nat a, Nat var)
{
    if (a == var)
        return true;
    if (a->id < var->id)
        return false;
    if ((a->a && nat_mentions(a->a, var)) || (a->b && nat_mentions(a->b, var)))
        return true;
    for (int i = 0; i < a->n_terms; i++)
        for (int j = 0; j < a->terms[i].n_factors; j++)
            if (nat_mentions(a->terms[i].factors[j], var))
                return true;
    return false;
}

typedef struct VarList {
    VEC(Nat) list; /* in order of id */
} VarList;

static void collect_vars(Ctx *ctx, Nat a, VarList *vars)
{
    if (!a->has_vars)
        return;
    if (a->kind == NAT_VAR) {
        int at = vars->list.n;
        while (at > 0 && vars->list.at[at - 1]->id >= a->id)
            at--;
        if (at < vars->list.n && vars->list.at[at] == a)
            return;
        vec_push(ctx, &vars->list, a);
        memmove(vars->list.at + at + 1, vars->list.at + at, sizeof(Nat) * (size_t)(vars->list.n - 1 - at));
        vars->list.at[at] = a;
        return;
    }
    if (a->a)
        collect_vars(ctx, a->a, vars);
    if (a->b)
        collect_vars(ctx, a->b, vars);
    for (int i = 0; i < a->n_terms; i++)
        for (int j = 0; j < a->terms[i].n_factors; j++)
            collect_vars(ctx, a->terms[i].factors[j], vars);
}

bool nat_is_partial(Nat a)
{
    bool partial = a->kind == NAT_POW || a->kind == NAT_LOG2 ||
                   ((a->kind == NAT_DIV || a->kind == NAT_MOD) && !nat_is_const(a->b));
    partial = partial || (a->a && nat_is_partial(a->a)) || (a->b && nat_is_partial(a->b));
    for (int i = 0; i < a->n_terms && !partial; i++)
        for (int k = 0; k < a->terms[i].n_factors && !partial; k++)
            partial = nat_is_partial(a->terms[i].factors[k]);
    return partial;
}

void nat_each_var(Ctx *ctx, Nat a, void (*fn)(void *user, Nat var), void *user)
{
    enum { FEW = 8 };
    Nat few[FEW];
    VarList vars = {{few, 0, FEW}};
    collect_vars(ctx, a, &vars);
    for (int i = 0; i < vars.list.n; i++)
        fn(user, vars.list.at[i]);
}
