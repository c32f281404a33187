/* See absorb.h: arrays are padded with such values, and the fold of products does not change. 0 * 0 is the unit of a sum, but 0 * x is not, where x is infinite. */
#include "ir/absorb.h"

#include <math.h>

#include "ir/scalar.h"

enum { MOST_ARGS = 3 };

/* What the term is, where the variable is this pair; false: it has other parts than functions of scalars. */
static bool value_of(const Core *term, const CoreVar *pair, const ScalarValue pads[2], ScalarValue *value)
{
    if (term->kind == CORE_LIT) {
        *value = term->lit;
        return true;
    }
    if (term->kind == CORE_PROJ && term->proj.value->kind == CORE_VAR && term->proj.value->var == pair) {
        *value = pads[term->proj.index];
        return true;
    }
    if (term->kind == CORE_IF) {
        ScalarValue holds;
        return value_of(term->cond.cond, pair, pads, &holds) && value_of(holds.i ? term->cond.then : term->cond.otherwise, pair, pads, value);
    }
    if (term->kind != CORE_PRIM || prim_rows[term->prim.id].level != LEVEL_SCALAR || term->prim.n_args < 1 || term->prim.n_args > MOST_ARGS || term->prim.n_nats || term->type->kind != TY_SCALAR)
        return false;
    ScalarValue args[MOST_ARGS];
    for (int i = 0; i < term->prim.n_args; i++)
        if (!value_of(term->prim.args[i], pair, pads, &args[i]))
            return false;
    *value = term->prim.id == P_cast ? scalar_cast(term->type->scalar, args[0]) : scalar_apply(term->prim.id, args[term->prim.id == P_select].type, args);
    return true;
}

static bool same(ScalarValue a, ScalarValue b)
{
    return a.type == b.type && (scalar_is_float(a.type) ? a.f == b.f : a.i == b.i);
}

enum { USUAL = 2, CANDIDATES = 5 };

/* The first two do nearly always. Infinities are for a maximum of products, 1 beside 0 for a count of equal ones. */
static ScalarValue candidate(int k, Scalar type, ScalarValue unit)
{
    double far = k == 3 ? INFINITY : -INFINITY;
    if (k == 0 || (k > 2 && !scalar_is_float(type)))
        return scalar_int(type, 0);
    return k == 1 ? scalar_cast(type, unit) : k == 2 ? scalar_cast(type, scalar_int(SC_I32, 1)) : scalar_float(type, far);
}

bool core_absorbing(const Core *function, const Core *unit, ScalarValue pads[2])
{
    if (function->kind != CORE_LAMBDA || function->lambda.n != 1 || unit->kind != CORE_LIT)
        return false;
    const CoreVar *pair = function->lambda.params[0];
    if (pair->type->kind != TY_TUPLE || pair->type->n_items != 2)
        return false;
    if (pair->type->items[0]->kind != TY_SCALAR || pair->type->items[1]->kind != TY_SCALAR)
        return false;
    for (int tried = USUAL; tried <= CANDIDATES; tried += CANDIDATES - USUAL)
        for (int kinds = 0; kinds < tried * tried; kinds++) {
            ScalarValue result;
            for (int i = 0; i < 2; i++)
                pads[i] = candidate(i ? kinds / tried : kinds % tried, pair->type->items[i]->scalar, unit->lit);
            if (value_of(function->lambda.body, pair, pads, &result) && same(result, unit->lit))
                return true;
        }
    return false;
}
