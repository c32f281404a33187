/* What a condition says of sizes. */
#include "ir/core.h"

/* `a and b` is `if a then b else false` where b rests on a; `a or b` is `if a then true else b`. */
static bool is_lazy(const Core *cond, bool is_and)
{
    const Core *other = cond->kind != CORE_IF ? NULL : is_and ? cond->cond.otherwise : cond->cond.then;
    return other && other->kind == CORE_LIT && other->lit.type == SC_BOOL && (other->lit.i != 0) == !is_and;
}

void core_cond_compares(const Core *cond, bool holds, CompareFn fn, void *user)
{
    if (is_lazy(cond, holds)) {
        core_cond_compares(cond->cond.cond, holds, fn, user);
        core_cond_compares(holds ? cond->cond.then : cond->cond.otherwise, holds, fn, user);
    }
    if (cond->kind != CORE_PRIM)
        return;
    Core *const *args = cond->prim.args;
    PrimId id = cond->prim.id;
    switch ((int)id) {
    case P_and:
    case P_or:
        /* `a or b` says nothing of either; that it does not hold says both do not. */
        if (holds == (id == P_and)) {
            core_cond_compares(args[0], holds, fn, user);
            core_cond_compares(args[1], holds, fn, user);
        }
        return;
    case P_not:
        core_cond_compares(args[0], !holds, fn, user);
        return;
    case P_lt: case P_le: case P_gt: case P_ge: case P_eq: case P_ne:
        break;
    default:
        return;
    }
    if (args[0]->kind != CORE_SIZE || args[1]->kind != CORE_SIZE)
        return;
    if (!holds)
        id = prim_opposite(id);
    fn(user, id, args[0]->size, args[1]->size);
}

typedef struct Facts {
    Ctx *ctx;
    NatFacts *facts;
} Facts;

static void add_fact(void *user, PrimId id, Nat a, Nat b)
{
    Ctx *ctx = ((Facts *)user)->ctx;
    NatFacts *facts = ((Facts *)user)->facts;
    switch ((int)id) {
    case P_lt:
        nat_fact_le(ctx, facts, nat_add_k(ctx, a, 1), b);
        break;
    case P_le:
        nat_fact_le(ctx, facts, a, b);
        break;
    case P_gt:
        nat_fact_le(ctx, facts, nat_add_k(ctx, b, 1), a);
        break;
    case P_ge:
        nat_fact_le(ctx, facts, b, a);
        break;
    case P_eq:
        nat_fact_eq(ctx, facts, a, b);
        break;
    case P_ne:
        nat_fact_ne(ctx, facts, a, b);
        break;
    }
}

void core_cond_facts(Ctx *ctx, NatFacts *facts, const Core *cond, bool holds)
{
    Facts to = {ctx, facts};
    core_cond_compares(cond, holds, add_fact, &to);
}
