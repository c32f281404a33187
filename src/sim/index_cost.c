/* What index arithmetic costs once a compiler has seen it. The simulator computes every index where it stands; nvcc does not.
 *
 * Before: nats at their places. After: for each, the operations that are left, and the scope that pays for them. The rules: a part of an
 * index is computed once in the outermost loop in which its variables are known, and never leaves an `if`; what was computed in a scope
 * around is there already; constants, and multiples of the counters of unrolled loops, are offsets of the access and cost nothing in
 * an address, by whatever name the index goes. A product and the sum that it goes into are one operation.
 *
 * A scope is the kernel, the body of a loop or a branch of an `if`. Its instruction `home` runs as often as the scope is entered. */
#include "sim/sim_internal.h"

typedef struct Scope {
    int home;       /* index in code->homes */
    bool loop, unrolled;
} Scope;

typedef struct Known { /* a variable, or a part that has been computed */
    Nat nat;
    int scope;
} Known;

struct IndexCosts {
    Run *run;
    Code *code;
    VEC(Scope) scopes;
    VEC(Known) bound;
    VEC(Known) computed;
    VEC(Nat) names; /* of indices with offsets, and */
    VEC(Nat) meant; /* what they are */
};

struct IndexCosts *index_costs_new(Run *run, Code *code)
{
    if (!run->options->profile)
        return NULL;
    struct IndexCosts *c = ARENA_NEW(run->arena, struct IndexCosts);
    c->run = run;
    c->code = code;
    index_enter(c, false, false);
    code->homes.at[0] = 0; /* the first instruction runs once in each warp */
    return c;
}

void index_enter(struct IndexCosts *c, bool loop, bool unrolled)
{
    if (!c)
        return;
    run_push(c->run->arena, &c->code->homes, 0);
    run_push(c->run->arena, &c->scopes, (Scope){c->code->homes.n - 1, loop, unrolled});
}

void index_leave(struct IndexCosts *c, int home)
{
    if (!c)
        return;
    int scope = --c->scopes.n;
    c->code->homes.at[c->scopes.at[scope].home] = home;
    while (c->bound.n && c->bound.at[c->bound.n - 1].scope >= scope)
        c->bound.n--;
    int kept = 0;
    for (int i = 0; i < c->computed.n; i++)
        if (c->computed.at[i].scope < scope)
            c->computed.at[kept++] = c->computed.at[i];
    c->computed.n = kept;
}

void index_bind(struct IndexCosts *c, Nat var)
{
    if (c && var && var->kind == NAT_VAR)
        run_push(c->run->arena, &c->bound, (Known){var, c->scopes.n - 1});
}

/* ---- where a part is computed ------------------------------------------------------------------------------------------ */

typedef struct Deepest {
    const struct IndexCosts *c;
    int scope;
} Deepest;

static void deeper(void *user, Nat var)
{
    Deepest *d = user;
    for (int i = d->c->bound.n - 1; i >= 0; i--)
        if (d->c->bound.at[i].nat == var) {
            d->scope = d->c->bound.at[i].scope > d->scope ? d->c->bound.at[i].scope : d->scope;
            return;
        }
}

/* Out of all loops that it does not depend on, up to the nearest branch. */
static int scope_of(const struct IndexCosts *c, Nat part)
{
    Deepest d = {c, 0};
    nat_each_var(c->run->ctx, part, deeper, &d);
    int scope = c->scopes.n - 1;
    while (scope > d.scope && c->scopes.at[scope].loop)
        scope--;
    return scope;
}

static bool is_computed(const struct IndexCosts *c, Nat part)
{
    for (int i = 0; i < c->computed.n; i++)
        if (c->computed.at[i].nat == part)
            return true;
    return false;
}

static void pay(struct IndexCosts *c, Nat part, int operations, Span place)
{
    if (operations == 0 || is_computed(c, part))
        return;
    int scope = scope_of(c, part);
    run_push(c->run->arena, &c->computed, (Known){part, scope});
    run_push(c->run->arena, &c->code->index_costs, (IndexCost){c->scopes.at[scope].home, operations, place});
}

/* ---- parts ----------------------------------------------------------------------------------------------------------------- */

static void count_part(struct IndexCosts *c, Nat a, bool address, Span place);

typedef struct Written {
    const struct IndexCosts *c;
    bool known;
} Written;

static void known_var(void *user, Nat var)
{
    Written *w = user;
    int i = w->c->bound.n - 1;
    while (i >= 0 && w->c->bound.at[i].nat != var)
        i--;
    w->known &= i >= 0 && w->c->scopes.at[w->c->bound.at[i].scope].unrolled;
}

/* Of constants and the counters of unrolled loops: known when the code is written. */
static bool is_written(const struct IndexCosts *c, Nat nat)
{
    Written w = {c, true};
    nat_each_var(c->run->ctx, nat, known_var, &w);
    return w.known;
}

/* A constant, or a multiple of an unrolled loop's counter. */
static bool is_offset(const struct IndexCosts *c, const NatTerm *t)
{
    return t->n_factors == 0 || (t->n_factors == 1 && is_written(c, t->factors[0]));
}

static Nat term_nat(Ctx *ctx, const NatTerm *t)
{
    Nat product = nat_const(ctx, t->coef);
    for (int i = 0; i < t->n_factors; i++)
        product = nat_mul(ctx, product, t->factors[i]);
    return product;
}

/* Terms that are known further out come first, so that their sum is computed there. */
static void count_sum(struct IndexCosts *c, Nat a, bool address, Span place)
{
    Ctx *ctx = c->run->ctx;
    Nat sum = NULL;
    for (int scope = 0; scope < c->scopes.n; scope++)
        for (int i = 0; i < a->n_terms; i++) {
            const NatTerm *t = &a->terms[i];
            Nat term = term_nat(ctx, t);
            if (is_offset(c, t) || scope_of(c, term) != scope)
                continue;
            for (int f = 0; f < t->n_factors; f++)
                count_part(c, t->factors[f], false, place);
            int products = t->n_factors - 1 + (t->coef != 1 && t->coef != -1);
            int operations = sum ? (products > 1 ? products : 1) : products + (t->coef == -1);
            sum = sum ? nat_add(ctx, sum, term) : term;
            pay(c, sum, operations, place);
        }
    if (!address && sum && sum != a)
        pay(c, a, 1, place);
}

static void count_part(struct IndexCosts *c, Nat a, bool address, Span place)
{
    if (is_written(c, a))
        return;
    switch (a->kind) {
    case NAT_CONST: case NAT_VAR: case NAT_ERROR: return;
    case NAT_SUM: count_sum(c, a, address, place); return;
    case NAT_DIV: case NAT_MOD: case NAT_MIN: case NAT_MAX: case NAT_POW:
        count_part(c, a->a, false, place);
        count_part(c, a->b, false, place);
        break;
    case NAT_LOG2: count_part(c, a->a, false, place); break;
    }
    pay(c, a, 1, place);
}

static Nat in_full(const struct IndexCosts *c, Nat index)
{
    return c->names.n ? nat_subst_many(c->run->ctx, index, c->names.n, c->names.at, c->meant.at) : index;
}

bool index_name(struct IndexCosts *c, const ImpStmt *s)
{
    bool named = c && s->kind == IS_DECL && s->var.var->constant && s->var.var->nat && s->var.value && s->var.value->kind == IE_NAT;
    Nat nat = named ? in_full(c, s->var.value->nat) : NULL;
    bool offset = nat && is_written(c, nat);
    for (int i = 0; nat && i < nat->n_terms; i++)
        offset |= is_offset(c, &nat->terms[i]);
    if (!offset)
        return false;
    int k = 0;
    while (k < c->names.n && c->names.at[k] != s->var.var->nat)
        k++;
    if (k == c->names.n) {
        run_push(c->run->arena, &c->names, s->var.var->nat);
        run_push(c->run->arena, &c->meant, nat);
    }
    c->meant.at[k] = nat; /* a copy of a loop declares it again */
    return true;
}

void index_count(struct IndexCosts *c, Nat index, bool address, Span place)
{
    if (c)
        index = in_full(c, index);
    if (c && !is_computed(c, index))
        count_part(c, index, address, place);
}
