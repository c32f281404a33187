/* The facts of a scope, and what is asked about them.
 *
 * Scopes with the same facts share an environment, wherever they are made, and what was asked of it is remembered: passes
 * ask the same questions again and again. */
#include "ir/nat_internal.h"

struct NatFacts {
    NatFacts *parent;
    Ctx *ctx;
    VEC(NatFact) list;
    NatEnv *env; /* of the first n_facts of the scope and its parents */
    int n_facts;
};

/* ---- environments by their facts, and answers by their questions ------------------------------------------------------ */

typedef struct Scope {
    uint32_t hash;
    int n;
    NatFact *facts; /* from the outermost scope in */
    NatEnv *env;
} Scope;

typedef enum Question { ASK_LE = 1, ASK_EQUAL, ASK_DIVIDES, ASK_RANGE } Question;

typedef struct Answer {
    Question question; /* 0: an empty slot */
    const NatEnv *env;
    Nat a, b; /* b: NULL where one number is asked about */
    bool yes;
    NatRange range;
} Answer;

/* A slot holds what came last: what is lost is found again. */
enum { SCOPE_SLOTS = 256, ANSWERS_AT_FIRST = 128, ANSWERS_AT_MOST = 8192 };

struct NatAnswers {
    Scope scopes[SCOPE_SLOTS];
    Answer *answers;
    uint32_t cap, count; /* cap: a power of two */
};

static struct NatAnswers *answers_of(Ctx *ctx)
{
    struct NatAnswers **at = nat_answers(ctx);
    if (!*at) {
        struct NatAnswers *all = NEW(ctx, struct NatAnswers);
        all->cap = ANSWERS_AT_FIRST;
        all->answers = NEWN(ctx, Answer, ANSWERS_AT_FIRST);
        *at = all;
    }
    return *at;
}

static Answer *slot_of(const struct NatAnswers *all, const Answer *asked)
{
    uint64_t h = (uint64_t)nat_env_hash(asked->env) * 31 + asked->question;
    h = (h * 31 + asked->a->id) * 0x9e3779b97f4a7c15u + (asked->b ? asked->b->id : 0);
    h *= 0x9e3779b97f4a7c15u;
    return &all->answers[(h >> 32) & (all->cap - 1)];
}

static void grow(Ctx *ctx, struct NatAnswers *all)
{
    struct NatAnswers old = *all;
    Answer *answers = NEWN(ctx, Answer, old.cap * 2); /* may end here: the table is whole before and after */
    all->answers = answers;
    all->cap = old.cap * 2;
    for (uint32_t i = 0; i < old.cap; i++)
        if (old.answers[i].question)
            *slot_of(all, &old.answers[i]) = old.answers[i];
}

/* What was answered before, or NULL. */
static const Answer *ask(Ctx *ctx, Question question, const NatEnv *env, Nat a, Nat b)
{
    struct NatAnswers *all = answers_of(ctx);
    Answer asked = {.question = question, .env = env, .a = a, .b = b};
    const Answer *slot = slot_of(all, &asked);
    return slot->question == question && slot->env == env && slot->a == a && slot->b == b ? slot : NULL;
}

static void answer(Ctx *ctx, Question question, const NatEnv *env, Nat a, Nat b, bool yes, NatRange range)
{
    struct NatAnswers *all = answers_of(ctx);
    if (++all->count > all->cap && all->cap < ANSWERS_AT_MOST)
        grow(ctx, all);
    Answer given = {question, env, a, b, yes, range};
    *slot_of(all, &given) = given;
}

static int count_facts(const NatFacts *facts)
{
    int n = 0;
    for (; facts; facts = facts->parent)
        n += facts->list.n;
    return n;
}

static uint32_t hash_of(const NatFacts *facts, int n)
{
    uint64_t h = (uint64_t)n;
    for (; facts; facts = facts->parent)
        for (int i = facts->list.n - 1; i >= 0; i--) {
            const NatFact *f = &facts->list.at[i];
            h = ((h * 31 + f->kind) * 0x9e3779b97f4a7c15u + f->a->id) * 31 + f->b->id;
        }
    return (uint32_t)(h >> 32 ^ h);
}

static bool has_facts(const Scope *scope, const NatFacts *facts)
{
    int at = scope->n;
    for (; facts; facts = facts->parent)
        for (int i = facts->list.n - 1; i >= 0; i--) {
            const NatFact *f = &facts->list.at[i], *g = &scope->facts[--at];
            if (f->kind != g->kind || f->a != g->a || f->b != g->b)
                return false;
        }
    return true;
}

static NatEnv *env_of(Ctx *ctx, const NatFacts *facts)
{
    int n = count_facts(facts);
    if (n == 0)
        return NULL;
    if (facts->env && facts->n_facts == n)
        return facts->env;
    uint32_t hash = hash_of(facts, n);
    Scope *scope = &answers_of(ctx)->scopes[hash & (SCOPE_SLOTS - 1)];
    if (scope->hash != hash || scope->n != n || !has_facts(scope, facts)) {
        NatFact *all = NEWN(ctx, NatFact, n);
        int at = n;
        for (const NatFacts *f = facts; f; f = f->parent)
            for (int i = f->list.n - 1; i >= 0; i--)
                all[--at] = f->list.at[i];
        NatEnv *env = nat_env_new(ctx, all, n, hash);
        *scope = (Scope){hash, n, all, env};
    }
    NatFacts *writable = (NatFacts *)(uintptr_t)facts; /* a cache */
    writable->env = scope->env;
    writable->n_facts = n;
    return scope->env;
}

/* ---- the interface ----------------------------------------------------------------------------------------------------------- */

NatFacts *nat_facts_new(Ctx *ctx, NatFacts *parent)
{
    NatFacts *f = NEW(ctx, NatFacts);
    f->ctx = ctx;
    f->parent = parent;
    return f;
}

bool nat_facts_within(const NatFacts *facts, const NatFacts *outer)
{
    while (facts && facts != outer)
        facts = facts->parent;
    return facts == outer;
}

static void add_fact(Ctx *ctx, NatFacts *facts, NatFactKind kind, Nat a, Nat b)
{
    if (!nat_is_error(a) && !nat_is_error(b))
        vec_push(ctx, &facts->list, ((NatFact){kind, a, b}));
}

void nat_fact_le(Ctx *ctx, NatFacts *facts, Nat a, Nat b) { add_fact(ctx, facts, FACT_LE, a, b); }
void nat_fact_eq(Ctx *ctx, NatFacts *facts, Nat a, Nat b) { add_fact(ctx, facts, FACT_EQ, a, b); }
void nat_fact_ne(Ctx *ctx, NatFacts *facts, Nat a, Nat b) { add_fact(ctx, facts, FACT_NE, a, b); }

/* Divisions count more than length, and a number less than a variable that equals it. */
static int cost(Nat a)
{
    int c = 1;
    switch (a->kind) {
    case NAT_ERROR:
        return 1 << 30;
    case NAT_CONST:
        return 0;
    case NAT_VAR:
        return 1;
    case NAT_DIV:
    case NAT_MOD:
    case NAT_MIN:
    case NAT_MAX:
    case NAT_POW:
    case NAT_LOG2:
        return 8 + cost(a->a) + (a->b ? cost(a->b) : 0);
    case NAT_SUM:
        for (int i = 0; i < a->n_terms; i++) {
            c++;
            for (int j = 0; j < a->terms[i].n_factors; j++)
                c += cost(a->terms[i].factors[j]);
        }
        return c;
    }
    return c;
}

Nat nat_simplify(Ctx *ctx, const NatFacts *facts, Nat a)
{
    NatEnv *env = env_of(ctx, facts);
    if (!env || nat_is_error(a))
        return a;
    for (int round = 0; round < 3; round++) {
        Nat r = nat_env_put_back(env, nat_env_simplify(env, a));
        if (r == a || nat_is_error(r) || cost(r) > cost(a) || (cost(r) == cost(a) && r->id > a->id))
            return a;
        a = r;
    }
    return a;
}

static int terms_but_constant(Nat a) { return a->kind != NAT_SUM ? 0 : a->n_terms - (a->terms[a->n_terms - 1].n_factors == 0); }
static int64_t constant_of(Nat a) { return a->kind == NAT_SUM && a->terms[a->n_terms - 1].n_factors == 0 ? a->terms[a->n_terms - 1].coef : 0; }

/* Does a fact say that `d`, or `d` less a constant, is not negative? */
static bool is_a_fact(const NatEnv *env, Nat d)
{
    const Nat *facts;
    const int n = terms_but_constant(d);
    for (int f = nat_env_inequalities(env, &facts) - 1; f >= 0 && n > 0; f--) {
        bool same = terms_but_constant(facts[f]) == n && constant_of(d) >= constant_of(facts[f]);
        for (int i = 0; i < n && same; i++) {
            const NatTerm *x = &d->terms[i], *y = &facts[f]->terms[i];
            same = x->coef == y->coef && x->n_factors == y->n_factors;
            for (int k = 0; k < x->n_factors && same; k++)
                same = x->factors[k] == y->factors[k];
        }
        if (same)
            return true;
    }
    return false;
}

static bool proved(Ctx *ctx, NatEnv *env, Nat difference, Nat a, Nat b)
{
    const Answer *known = ask(ctx, ASK_LE, env, a, b);
    if (known)
        return known->yes;
    bool yes = false;
    if (!nat_refuted(ctx, env, FACT_LE, a, b)) {
        Nat d = nat_env_simplify(env, difference);
        yes = !nat_is_error(d) && (is_a_fact(env, d) || nat_prove_nat(ctx, env, d, a, b));
    }
    answer(ctx, ASK_LE, env, a, b, yes, (NatRange){0});
    return yes;
}

bool nat_le(Ctx *ctx, const NatFacts *facts, Nat a, Nat b)
{
    if (nat_is_error(a) || nat_is_error(b))
        return false;
    if (a == b)
        return true;
    if (nat_is_const(a) && nat_is_const(b))
        return a->value <= b->value;
    Nat d = nat_sub(ctx, b, a);
    if (nat_is_error(d))
        return false;
    NatEnv *env = env_of(ctx, facts);
    return proved(ctx, NULL, d, a, b) || (env && proved(ctx, env, d, a, b));
}

bool nat_lt(Ctx *ctx, const NatFacts *facts, Nat a, Nat b) { return nat_le(ctx, facts, nat_add_k(ctx, a, 1), b); }

/* x % y as x - y*(x/y), so that two ways to write a remainder meet. */
static Nat without_mods(Ctx *ctx, Nat a)
{
    Poly p;
    NatView v;
    bool changed = false;
    poly_init(ctx, &p);
    nat_view(a, &v);
    for (int i = 0; i < v.n; i++) {
        NatTerm t = v.at[i], rest, atom;
        Nat m = NULL;
        for (int j = 0; j < t.n_factors && !m; j++)
            if (t.factors[j]->kind == NAT_MOD && nat_full(t.factors[j])->divisor_ok)
                m = t.factors[j];
        if (m && (atom = nat_atom_term(m, 1), term_divide(ctx, &t, &atom, &rest))) {
            NatView k;
            poly_add_nat(&p, m->a, rest);
            nat_view(m->b, &k);
            for (int j = 0; j < k.n; j++) {
                NatTerm by;
                if (term_multiply(ctx, &rest, &k.at[j], &by) && by.coef != INT64_MIN)
                    poly_add_nat(&p, nat_mate(ctx, m), (NatTerm){-by.coef, by.n_factors, by.factors});
                else
                    p.overflow = true;
            }
            changed = true;
        } else {
            poly_add_terms(&p, &t, 1, TERM_K(1));
        }
    }
    return changed ? poly_nat_raw(&p) : a;
}

static bool equal_in(Ctx *ctx, NatEnv *env, Nat a, Nat b)
{
    Nat d = nat_sub(ctx, a, b);
    if (nat_is_error(d))
        return false;
    d = nat_env_simplify(env, d);
    for (int i = 0; i < 3 && !nat_is_const(d) && !nat_is_error(d); i++)
        d = without_mods(ctx, d);
    if (nat_is_const(d) || nat_is_error(d))
        return nat_is(d, 0);
    Poly minus;
    poly_init(ctx, &minus);
    poly_add_nat(&minus, d, TERM_K(-1));
    return nat_prove_nat(ctx, env, d, a, b) && nat_prove(ctx, env, &minus, a, b);
}

bool nat_equal(Ctx *ctx, const NatFacts *facts, Nat a, Nat b)
{
    if (nat_is_error(a) || nat_is_error(b))
        return false;
    if (a == b)
        return true;
    NatEnv *env = env_of(ctx, facts);
    const Answer *known = ask(ctx, ASK_EQUAL, env, a, b);
    if (known)
        return known->yes;
    bool yes = equal_in(ctx, env, a, b);
    answer(ctx, ASK_EQUAL, env, a, b, yes, (NatRange){0});
    return yes;
}

/* A term of which a fact says that some of its factors together are a multiple: of n*m where n*m % 4 == 0, say. */
static bool term_is_multiple(Ctx *ctx, const NatFacts *facts, int64_t k, const NatTerm *t)
{
    if (t->coef % k == 0)
        return true;
    for (const NatFacts *f = facts; f; f = f->parent)
        for (int i = 0; i < f->list.n; i++) {
            const NatFact *fact = &f->list.at[i];
            const Nat mod = fact->a->kind == NAT_MOD ? fact->a : fact->b;
            NatView v;
            NatTerm rest;
            bool zero = fact->kind == FACT_EQ && mod->kind == NAT_MOD && nat_is(mod == fact->a ? fact->b : fact->a, 0);
            if (!zero || !nat_is_const(mod->b) || mod->b->value % k != 0)
                continue;
            nat_view(mod->a, &v);
            if (v.n == 1 && v.at[0].coef == 1 && mono_divide(ctx, t, &v.at[0], &rest))
                return true;
        }
    return false;
}

static bool terms_are_multiples(Ctx *ctx, const NatFacts *facts, Nat k, Nat n)
{
    NatView v;
    bool all = nat_is_const(k) && k->value >= 1;
    nat_view(n, &v);
    for (int i = 0; i < v.n && all; i++)
        all = term_is_multiple(ctx, facts, k->value, &v.at[i]);
    return all;
}

static bool divides_in(Ctx *ctx, const NatFacts *facts, NatEnv *env, Nat k, Nat n)
{
    if (!nat_le(ctx, facts, nat_const(ctx, 1), k))
        return false;
    Nat r = env ? nat_mod_in(ctx, env, nat_env_simplify(env, n), nat_env_simplify(env, k)) : nat_mod(ctx, n, k);
    return nat_is(r, 0) || (!nat_is_error(r) && nat_equal(ctx, facts, r, nat_const(ctx, 0)));
}

bool nat_divides(Ctx *ctx, const NatFacts *facts, Nat k, Nat n)
{
    if (nat_is_error(k) || nat_is_error(n))
        return false;
    NatEnv *env = env_of(ctx, facts);
    const Answer *known = ask(ctx, ASK_DIVIDES, env, k, n);
    if (known)
        return known->yes;
    bool yes = !nat_refuted(ctx, env, FACT_DIVIDES, k, n) &&
               (divides_in(ctx, facts, env, k, n) || terms_are_multiples(ctx, facts, k, n));
    answer(ctx, ASK_DIVIDES, env, k, n, yes, (NatRange){0});
    return yes;
}

/* Is the fact false where all of them hold, itself among them? With n <= 8 the bound of n is known, and n*n >= 100 is false. */
static bool is_false(Ctx *ctx, const NatFacts *facts, const NatFact *fact)
{
    Nat a = fact->a, b = fact->b, d = nat_simplify(ctx, facts, nat_sub(ctx, a, b));
    if (nat_is_const(d))
        return fact->kind == FACT_LE ? d->value > 0 : (fact->kind == FACT_EQ) != (d->value == 0);
    switch (fact->kind) {
    case FACT_LE: return nat_lt(ctx, facts, b, a);
    case FACT_EQ: return nat_lt(ctx, facts, a, b) || nat_lt(ctx, facts, b, a);
    case FACT_NE: return nat_equal(ctx, facts, a, b);
    case FACT_DIVIDES: break;
    }
    return false;
}

/* Do the facts hold for some numbers that were tried? */
static bool has_model(Ctx *ctx, NatEnv *env)
{
    return nat_refuted(ctx, env, FACT_LE, nat_const(ctx, 1), nat_const(ctx, 0));
}

bool nat_no_scope(Ctx *ctx, const NatFacts *facts)
{
    NatEnv *env = env_of(ctx, facts);
    bool none = false;
    if (!env || has_model(ctx, env))
        return false;
    for (const NatFacts *f = facts; f && !none; f = f->parent)
        for (int i = 0; i < f->list.n && !none; i++)
            none = is_false(ctx, facts, &f->list.at[i]);
    return none;
}

bool nat_differ(Ctx *ctx, const NatFacts *facts, Nat a, Nat b)
{
    if (nat_is_error(a) || nat_is_error(b))
        return false;
    if (nat_lt(ctx, facts, a, b) || nat_lt(ctx, facts, b, a))
        return true;
    if (!facts)
        return false;
    NatFacts *equal = nat_facts_new(ctx, (NatFacts *)(uintptr_t)facts);
    nat_fact_eq(ctx, equal, a, b);
    return nat_no_scope(ctx, equal);
}

static NatRange range_in(Ctx *ctx, NatEnv *env, Nat a)
{
    const Answer *known = ask(ctx, ASK_RANGE, env, a, NULL);
    if (known)
        return known->range;
    NatRange r = nat_prove_range(ctx, env, nat_env_simplify(env, a));
    answer(ctx, ASK_RANGE, env, a, NULL, true, r);
    return r;
}

NatRange nat_range(Ctx *ctx, const NatFacts *facts, Nat a)
{
    NatRange plain = range_in(ctx, NULL, a);
    NatEnv *env = env_of(ctx, facts);
    if (!env)
        return plain;
    NatRange r = range_in(ctx, env, a);
    if (plain.has_lo && (!r.has_lo || plain.lo > r.lo)) {
        r.has_lo = true;
        r.lo = plain.lo;
    }
    if (plain.has_hi && (!r.has_hi || plain.hi < r.hi)) {
        r.has_hi = true;
        r.hi = plain.hi;
    }
    return r;
}
