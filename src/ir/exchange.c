/* See exchange.h. Two places of the function's body are compared, one of them with the components exchanged. */
#include "ir/exchange.h"

#include "ir/key.h"

enum { MOST_LETS = 16, MOST_VISITS = 4096 };

typedef enum Exchanged {
    OTHER,
    SAME,
    OPPOSITE /* the difference of two numbers becomes that of the second and the first one: equal but for its sign, or both are 0 */
} Exchanged;

typedef struct Exchange {
    Ctx *ctx;
    const CoreVar *pair;
    int n_lets, visits;
    struct {
        const CoreVar *a, *b;
        Exchanged is;
    } lets[MOST_LETS];
} Exchange;

static Exchanged exchanged(Exchange *e, const Core *a, const Core *b);

static Exchanged of_vars(const Exchange *e, const CoreVar *a, const CoreVar *b)
{
    for (int i = e->n_lets - 1; i >= 0; i--)
        if (e->lets[i].a == a || e->lets[i].b == b)
            return e->lets[i].a == a && e->lets[i].b == b ? e->lets[i].is : OTHER;
    return a == b && a != e->pair ? SAME : OTHER;
}

static bool is_pair(const Exchange *e, const Core *term) { return term->kind == CORE_VAR && term->var == e->pair; }

static Exchanged of_lets(Exchange *e, const Core *a, const Core *b)
{
    Exchanged value = exchanged(e, a->let.value, b->let.value);
    if (value == OTHER || e->n_lets == MOST_LETS)
        return OTHER;
    e->lets[e->n_lets].a = a->let.var;
    e->lets[e->n_lets].b = b->let.var;
    e->lets[e->n_lets++].is = value;
    Exchanged body = exchanged(e, a->let.body, b->let.body);
    e->n_lets--;
    return body;
}

static bool all_same(Exchange *e, const Core *a, const Core *b)
{
    bool all = true;
    for (int i = 0; i < a->prim.n_args && all; i++)
        all = exchanged(e, a->prim.args[i], b->prim.args[i]) == SAME;
    return all;
}

static bool crossed(Exchange *e, const Core *a, const Core *b)
{
    return a->prim.n_args == 2 && exchanged(e, a->prim.args[0], b->prim.args[1]) == SAME && exchanged(e, a->prim.args[1], b->prim.args[0]) == SAME;
}

/* d * d, of the same d on each side. */
static bool is_square(const Exchange *e, const Core *term)
{
    return term->prim.id == P_mul && core_same(e->ctx, term->prim.args[0], term->prim.args[1]);
}

static Exchanged of_prims(Exchange *e, const Core *a, const Core *b)
{
    PrimId id = a->prim.id, mirrored = prim_mirrored(id);
    if (prim_rows[id].level != LEVEL_SCALAR || a->prim.n_nats || a->prim.n_args != b->prim.n_args || a->type != b->type)
        return OTHER;
    if (mirrored == b->prim.id && mirrored != P_COUNT && crossed(e, a, b))
        return SAME;
    if (id != b->prim.id)
        return OTHER;
    if (all_same(e, a, b))
        return SAME;
    if (id == P_sub)
        return crossed(e, a, b) ? OPPOSITE : OTHER;
    bool is_abs = id == P_abs && (scalar_is_float(a->type->scalar) || scalar_is_signed(a->type->scalar));
    bool even = is_abs || (is_square(e, a) && is_square(e, b));
    return even && exchanged(e, a->prim.args[0], b->prim.args[0]) == OPPOSITE ? SAME : OTHER;
}

/* What b is for the components exchanged, beside what a is for them as they are. */
static Exchanged exchanged(Exchange *e, const Core *a, const Core *b)
{
    if (a->kind != b->kind || ++e->visits > MOST_VISITS)
        return OTHER;
    switch (a->kind) {
    case CORE_VAR:
        return of_vars(e, a->var, b->var);
    case CORE_LIT:
    case CORE_SIZE:
        return core_same(e->ctx, a, b) ? SAME : OTHER;
    case CORE_PROJ:
        return is_pair(e, a->proj.value) && is_pair(e, b->proj.value) && a->proj.index == 1 - b->proj.index ? SAME : OTHER;
    case CORE_LET:
        return of_lets(e, a, b);
    case CORE_IF:
        return exchanged(e, a->cond.cond, b->cond.cond) == SAME && exchanged(e, a->cond.then, b->cond.then) == SAME && exchanged(e, a->cond.otherwise, b->cond.otherwise) == SAME ? SAME : OTHER;
    case CORE_PRIM:
        return of_prims(e, a, b);
    case CORE_LAMBDA:
    case CORE_TUPLE:
    case CORE_UNIT_ERROR:
        return OTHER;
    }
    return OTHER;
}

bool core_exchanges(Ctx *ctx, const Core *function)
{
    if (function->kind != CORE_LAMBDA || function->lambda.n != 1)
        return false;
    Exchange e = {.ctx = ctx, .pair = function->lambda.params[0]};
    Type pair = e.pair->type;
    if (pair->kind != TY_TUPLE || pair->n_items != 2 || pair->items[0] != pair->items[1])
        return false;
    return exchanged(&e, function->lambda.body, function->lambda.body) == SAME;
}
