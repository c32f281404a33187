/* See band.h. A mask is a condition over the indices of a row and a column, as in
 * `if j <= i then x else -inf`, or a number that is -inf under such a condition. */
#include "ir/band.h"

#include <math.h>

#include "ir/terms.h"

typedef struct Finder {
    Ctx *ctx;
    const CoreVar *param; /* of the function: e, or (x, e) */
    bool pair;
    const Core *element; /* what e is */
    Nat row, column;
    Band *band;
} Finder;

/* by * the variable + the rest, where both do not mention it; false: the nat is no such sum. */
static bool split_off(Ctx *ctx, Nat nat, Nat var, Nat *by, Nat *rest)
{
    *rest = nat_subst(ctx, nat, var, nat_const(ctx, 0));
    *by = nat_sub(ctx, nat_subst(ctx, nat, var, nat_const(ctx, 1)), *rest);
    Nat sum = nat_add(ctx, nat_mul(ctx, *by, var), *rest);
    return !nat_mentions(*by, var) && nat_equal(ctx, NULL, nat, sum);
}

static void note_index(void *user, Nat var) { *(bool *)user |= var->hi != NULL; }

/* Indices of arrays have an upper bound, and sizes have none. */
static bool is_over_sizes(Ctx *ctx, Nat nat)
{
    bool index = false;
    nat_each_var(ctx, nat, note_index, &index);
    return !index;
}

/* a <= b. Several bounds on one side: the last one that is found stands. */
static void bound_by(Finder *f, Nat a, Nat b)
{
    Ctx *ctx = f->ctx;
    Nat by_column, by_row, rest, zero = nat_const(ctx, 0);
    if (!split_off(ctx, nat_sub(ctx, a, b), f->column, &by_column, &rest) ||
        !split_off(ctx, rest, f->row, &by_row, &rest) || !is_over_sizes(ctx, by_row) ||
        !is_over_sizes(ctx, rest))
        return;
    /* column + by_row*row + rest <= 0, or by_row*row + rest <= column */
    Nat slope = nat_sub(ctx, zero, by_row), from = nat_sub(ctx, zero, rest);
    if (nat_equal(ctx, NULL, by_column, nat_const(ctx, 1)) && nat_le(ctx, NULL, zero, slope)) {
        f->band->upper = slope;
        f->band->ahead = nat_max(ctx, nat_add_k(ctx, from, 1), zero);
    } else if (nat_equal(ctx, NULL, by_column, nat_const(ctx, -1)) &&
               nat_le(ctx, NULL, zero, by_row)) {
        f->band->lower = by_row;
        f->band->back = nat_max(ctx, from, zero);
    }
}

static void compared(void *user, PrimId id, Nat a, Nat b)
{
    Finder *f = user;
    if (id == P_lt || id == P_le || id == P_eq)
        bound_by(f, id == P_lt ? nat_add_k(f->ctx, a, 1) : a, b);
    if (id == P_gt || id == P_ge || id == P_eq)
        bound_by(f, id == P_gt ? nat_add_k(f->ctx, b, 1) : b, a);
}

/* What the term is: of a component of the pair, that of the element. */
static const Core *resolved(const Finder *f, const Core *term)
{
    if (term->kind == CORE_VAR && term->var == f->param && !f->pair)
        return f->element;
    if (term->kind != CORE_PROJ)
        return term;
    const Core *of = term->proj.value;
    if (f->pair && of->kind == CORE_VAR && of->var == f->param)
        return term->proj.index == 1 ? f->element : term;
    of = resolved(f, of);
    return of->kind == CORE_TUPLE ? of->tuple.items[term->proj.index] : term;
}

static bool is_lowest(const Finder *f, const Core *term)
{
    term = resolved(f, term);
    return term->kind == CORE_LIT && scalar_is_float(term->lit.type) && isinf(term->lit.f) &&
           term->lit.f < 0;
}

static void narrow(Finder *f, const Core *term)
{
    term = resolved(f, term);
    if (term->kind == CORE_LET) {
        narrow(f, term->let.body);
    } else if (term_is(term, P_add)) {
        narrow(f, term->prim.args[0]);
        narrow(f, term->prim.args[1]);
    } else if (term_is(term, P_sub)) {
        narrow(f, term->prim.args[0]);
    } else if (term->kind == CORE_IF) {
        const Core *cond = resolved(f, term->cond.cond);
        if (is_lowest(f, term->cond.otherwise)) {
            core_cond_compares(cond, true, compared, f);
            narrow(f, term->cond.then);
        } else if (is_lowest(f, term->cond.then)) {
            core_cond_compares(cond, false, compared, f);
            narrow(f, term->cond.otherwise);
        }
    }
}

Band core_band(Ctx *ctx, const Core *finish, const Core *masks)
{
    Nat zero = nat_const(ctx, 0);
    Band band = {zero, zero, zero, zero};
    for (Type t = masks->type; t->kind == TY_ARRAY; t = t->elem)
        band.ahead = t->size;
    const CoreVar *axes[2] = {NULL, NULL};
    while (term_is(masks, P_generate) && masks->prim.args[0]->kind == CORE_LAMBDA) {
        axes[0] = axes[1];
        axes[1] = masks->prim.args[0]->lambda.params[0];
        masks = masks->prim.args[0]->lambda.body;
    }
    if (!axes[0] || masks->type->kind == TY_ARRAY || finish->kind != CORE_LAMBDA)
        return band;
    int n = finish->lambda.n;
    Finder f = {ctx, finish->lambda.params[n - 1], n == 1, masks, axes[0]->nat, axes[1]->nat,
                &band};
    narrow(&f, finish->lambda.body);
    return band;
}
