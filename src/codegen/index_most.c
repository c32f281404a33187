/* How large a number of the host can be, where no size is above WIDE_SIZE_MAX, and some products of
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
