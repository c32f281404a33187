/* Which numbers of the host are tested before a launch: those of size tests and facts, as far as they
 * can be too large.
 *
 * How large a number of the host can be, where no size is above WIDE_SIZE_MAX, and some products of
 * sizes are not above WIDE_PRODUCT_MAX: what cannot leave WIDE_INDEX_MAX needs no test before a launch.
 *
 * A bound is a sum of products of sizes, with coefficients in double as in the tests of the host. Where
 * n*m is one of the products that were tested, as the elements of an array are:
 *
 *     (n + 127) * m  is at most  n*m + 127*m,  and that at most  2^48 + 127 * 2^40 */
#include "codegen/index_guards.h"

#include <math.h>

enum { MOST_FACTORS = 8, MOST_TERMS = 64 };

typedef struct Term {
    double coef;
    int n;
    Nat sizes[MOST_FACTORS]; /* by id */
} Term;

typedef VEC(Term) Terms;

typedef struct Most {
    Ctx *ctx;
    const IndexProducts *products;
    const NatFacts *facts;
    double part; /* the most that anything is from which the value is computed */
} Most;

/* ---- products of sizes ---------------------------------------------------------------------------- */

static double most_of_size(const Most *m, Nat size)
{
    const NatRange range = nat_range(m->ctx, m->facts, size);
    const double own = imp_is_device_size(size) && size->device != NAT_TURN ? (double)INDEX_MAX : (double)WIDE_SIZE_MAX;
    return range.has_hi ? fmin(own, (double)range.hi) : own;
}

/* Takes the sizes of the product from the factors. */
static bool take(Term *t, const Term *product)
{
    Term left = {.coef = t->coef};
    int k = 0;
    for (int i = 0; i < t->n; i++)
        if (k < product->n && product->sizes[k] == t->sizes[i])
            k++;
        else
            left.sizes[left.n++] = t->sizes[i];
    if (k == product->n)
        *t = left;
    return k == product->n;
}

/* The least of what follows from each product of some of the sizes. */
static double most_of_term(const Most *m, Term t)
{
    double most = fabs(t.coef);
    for (int i = 0; i < t.n; i++)
        most *= most_of_size(m, t.sizes[i]);
    for (int i = 0; i < m->products->n; i++) {
        Term left = t;
        const NatTerm *known = &m->products->at[i]->terms[0];
        Term product = {.n = known->n_factors};
        memcpy(product.sizes, known->factors, sizeof *known->factors * (size_t)known->n_factors);
        if (take(&left, &product))
            most = fmin(most, most_of_term(m, left) * ((double)WIDE_PRODUCT_MAX / (double)known->coef));
    }
    return most;
}

static double most_of_terms(const Most *m, const Terms *terms)
{
    double most = 0;
    for (int i = 0; i < terms->n; i++)
        most += most_of_term(m, terms->at[i]);
    return most;
}

/* ---- bounds ---------------------------------------------------------------------------------------- */

/* None, with room for so many. */
static Terms terms_of(const Most *m, int n) { return (Terms){.at = NEWN(m->ctx, Term, n), .cap = n}; }

static Terms constant(const Most *m, double value)
{
    Terms terms = terms_of(m, 1);
    vec_push(m->ctx, &terms, ((Term){.coef = value}));
    return terms;
}

static Terms scaled(const Most *m, const Terms *terms, double by)
{
    Terms scaled = terms_of(m, terms->n);
    for (int i = 0; i < terms->n; i++) {
        vec_push(m->ctx, &scaled, terms->at[i]);
        scaled.at[i].coef *= by;
    }
    return scaled;
}

static void add(const Most *m, Terms *sum, const Terms *terms)
{
    for (int i = 0; i < terms->n; i++)
        vec_push(m->ctx, sum, terms->at[i]);
}

/* Infinite where it is too long. */
static Terms multiplied(const Most *m, const Terms *a, const Terms *b)
{
    Terms product = terms_of(m, a->n * b->n);
    for (int i = 0; i < a->n; i++)
        for (int k = 0; k < b->n; k++) {
            Term t = {.coef = a->at[i].coef * b->at[k].coef};
            const Term *x = &a->at[i], *y = &b->at[k];
            if (x->n + y->n > MOST_FACTORS || product.n == MOST_TERMS)
                return constant(m, INFINITY);
            for (int p = 0, q = 0; p < x->n || q < y->n;) {
                bool first = q == y->n || (p < x->n && x->sizes[p]->id <= y->sizes[q]->id);
                t.sizes[t.n++] = first ? x->sizes[p++] : y->sizes[q++];
            }
            vec_push(m->ctx, &product, t);
        }
    return product;
}

static Terms bound(Most *m, Nat nat);

/* What is taken away is at least 0. */
static Terms bound_sum(Most *m, Nat nat)
{
    Terms sum = {0};
    for (int i = 0; i < nat->n_terms; i++) {
        const NatTerm *t = &nat->terms[i];
        Terms product = constant(m, fabs((double)t->coef));
        for (int k = 0; k < t->n_factors; k++) {
            Terms factor = bound(m, t->factors[k]);
            product = multiplied(m, &product, &factor);
        }
        if (t->coef < 0)
            m->part = fmax(m->part, most_of_terms(m, &product));
        else
            add(m, &sum, &product);
    }
    return sum;
}

static Terms bound_of_kind(Most *m, Nat nat)
{
    Terms a = {0}, b = {0};
    if (nat->a)
        a = bound(m, nat->a);
    if (nat->b)
        b = bound(m, nat->b);
    const bool divides = nat->b && nat_is_const(nat->b) && nat->b->value > 0;
    switch (nat->kind) {
    case NAT_ERROR: case NAT_POW: break;
    case NAT_CONST: return constant(m, fabs((double)nat->value));
    case NAT_VAR: {
        Terms size = constant(m, 1);
        size.at[0].sizes[size.at[0].n++] = nat;
        return size;
    }
    case NAT_SUM: return bound_sum(m, nat);
    case NAT_DIV: return divides ? scaled(m, &a, 1 / (double)nat->b->value) : a;
    case NAT_MOD: return b;
    case NAT_MIN: return most_of_terms(m, &a) < most_of_terms(m, &b) ? a : b;
    case NAT_MAX: add(m, &a, &b); return a;
    case NAT_LOG2: return constant(m, 62);
    }
    return constant(m, INFINITY);
}

static Terms bound(Most *m, Nat nat)
{
    Terms terms = bound_of_kind(m, nat);
    m->part = fmax(m->part, most_of_terms(m, &terms));
    return terms;
}

bool index_guards_small(Ctx *ctx, const IndexProducts *products, const NatFacts *facts, Nat nat)
{
    Most m = {.ctx = ctx, .products = products, .facts = facts};
    bound(&m, nat);
    return m.part <= (double)WIDE_INDEX_MAX;
}

bool index_is_product(Nat nat)
{
    bool is = nat->kind == NAT_SUM && nat->n_terms == 1 && nat->terms[0].coef > 0 && nat->terms[0].n_factors > 1 && nat->terms[0].n_factors <= MOST_FACTORS;
    for (int k = 0; is && k < nat->terms[0].n_factors; k++)
        is = nat->terms[0].factors[k]->kind == NAT_VAR;
    return is;
}

int64_t index_most(Nat nat) { return index_is_product(nat) ? WIDE_PRODUCT_MAX : WIDE_INDEX_MAX; }

/* ---- values of the host ----------------------------------------------------------------------------------------------- */

/* At least the value, from sizes by sums, products and powers alone: it can be computed before anything is known of divisors. */
static Nat upper(Ctx *ctx, Nat nat)
{
    switch (nat->kind) {
    case NAT_ERROR: case NAT_CONST: case NAT_VAR:
        return nat;
    case NAT_SUM: {
        Nat sum = nat_const(ctx, 0);
        for (int i = 0; i < nat->n_terms; i++) {
            Nat product = nat_const(ctx, nat->terms[i].coef < 0 ? 0 : nat->terms[i].coef);
            for (int j = 0; j < nat->terms[i].n_factors; j++)
                product = nat_mul(ctx, product, upper(ctx, nat->terms[i].factors[j]));
            sum = nat_add(ctx, sum, product);
        }
        return sum;
    }
    case NAT_DIV: return nat_is_const(nat->b) && nat->b->value > 0 ? nat_div(ctx, upper(ctx, nat->a), nat->b) : upper(ctx, nat->a);
    case NAT_MOD: return upper(ctx, nat->b);
    case NAT_MIN: return nat_min(ctx, upper(ctx, nat->a), upper(ctx, nat->b));
    case NAT_MAX: return nat_max(ctx, upper(ctx, nat->a), upper(ctx, nat->b));
    case NAT_POW: return nat_pow(ctx, upper(ctx, nat->a), upper(ctx, nat->b));
    case NAT_LOG2: return nat_const(ctx, 62);
    }
    return nat;
}

static void note_device_size(void *user, Nat var) { *(bool *)user |= imp_is_device_size(var); }

bool index_mentions_device(Ctx *ctx, Nat nat)
{
    bool found = false;
    nat_each_var(ctx, nat, note_device_size, &found);
    return found;
}

static void add_large(Ctx *ctx, Nat nat, IndexGuards *guards)
{
    const IndexProducts none = {0};
    bool seen = index_guards_small(ctx, &none, NULL, nat) || index_mentions_device(ctx, nat);
    for (int i = 0; i < guards->at_most_max.n; i++)
        seen |= guards->at_most_max.at[i] == nat;
    if (!seen)
        vec_push(ctx, &guards->at_most_max, nat);
}

void index_guards_of_value(Ctx *ctx, Nat nat, IndexGuards *guards)
{
    if (nat->a)
        index_guards_of_value(ctx, nat->a, guards);
    if (nat->b)
        index_guards_of_value(ctx, nat->b, guards);
    if (nat->kind == NAT_POW)
        add_large(ctx, upper(ctx, nat), guards);
    if (nat->kind != NAT_SUM)
        return;
    for (int i = 0; i < nat->n_terms; i++)
        for (int j = 0; j < nat->terms[i].n_factors; j++)
            index_guards_of_value(ctx, nat->terms[i].factors[j], guards);
    add_large(ctx, upper(ctx, nat), guards); /* the terms that C adds, and those that it takes away */
    add_large(ctx, upper(ctx, nat_sub(ctx, nat_const(ctx, 0), nat)), guards);
}

static void add_test(Ctx *ctx, const Core *e, IndexGuards *guards)
{
    if (e->kind == CORE_SIZE)
        index_guards_of_value(ctx, e->size, guards);
    for (int i = 0; e->kind == CORE_PRIM && i < e->prim.n_args; i++)
        add_test(ctx, e->prim.args[i], guards);
}

void index_guards_of_tests(Ctx *ctx, const ImpProgram *program, IndexGuards *guards)
{
    *guards = (IndexGuards){0};
    for (int i = 0; program->entry && i < program->entry->n_facts; i++)
        add_test(ctx, program->entry->facts[i], guards);
    for (int i = 0; i < program->launches.n; i++)
        for (int v = 0; v < program->launches.at[i].variants.n; v++) {
            const ImpWhens *when = &program->launches.at[i].variants.at[v].when;
            for (int w = 0; w < when->n; w++)
                add_test(ctx, when->at[w].test, guards);
        }
}
