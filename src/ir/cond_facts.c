/* What a condition says of sizes, and what is known of sizes says of it. */
#include "ir/terms.h"

/* `a and b` is `if a then b else false` where b rests on a; `a or b` is `if a then true else b`. */
static bool is_lazy(const Core *cond, bool is_and)
{
    const Core *other = cond->kind != CORE_IF ? NULL : is_and ? cond->cond.otherwise : cond->cond.then;
    return other && other->kind == CORE_LIT && other->lit.type == SC_BOOL && (other->lit.i != 0) == !is_and;
}

/* The two conditions that both turn out so where this one does: `a or b` says nothing of either, but where it does not hold, both do not. */
static bool is_both(const Core *cond, bool holds, const Core *of[2])
{
    if (is_lazy(cond, holds)) {
        of[0] = cond->cond.cond;
        of[1] = holds ? cond->cond.then : cond->cond.otherwise;
        return true;
    }
    if (cond->kind != CORE_PRIM || cond->prim.id != (holds ? P_and : P_or))
        return false;
    of[0] = cond->prim.args[0];
    of[1] = cond->prim.args[1];
    return true;
}

static const Core *without_not(const Core *cond, bool *holds)
{
    for (; cond->kind == CORE_PRIM && cond->prim.id == P_not; *holds = !*holds)
        cond = cond->prim.args[0];
    return cond;
}

void core_cond_each(const Core *cond, bool holds, CondFn fn, void *user)
{
    const Core *of[2];
    cond = without_not(cond, &holds);
    if (!is_both(cond, holds, of)) {
        fn(user, cond, holds);
        return;
    }
    core_cond_each(of[0], holds, fn, user);
    core_cond_each(of[1], holds, fn, user);
}

typedef struct Compares {
    CompareFn fn;
    void *user;
} Compares;

static void compare(void *user, const Core *cond, bool holds)
{
    const Compares *c = user;
    if (term_compares_sizes(cond))
        c->fn(c->user, holds ? cond->prim.id : prim_opposite(cond->prim.id), cond->prim.args[0]->size, cond->prim.args[1]->size);
}

void core_cond_compares(const Core *cond, bool holds, CompareFn fn, void *user)
{
    Compares c = {fn, user};
    core_cond_each(cond, holds, compare, &c);
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

/* ---- how conditions turn out ------------------------------------------------------------------------------------------ */

bool core_compare_is(Ctx *ctx, const NatFacts *facts, PrimId id, Nat a, Nat b, bool value)
{
    if (!value)
        id = prim_opposite(id);
    switch ((int)id) {
    case P_lt: return nat_lt(ctx, facts, a, b);
    case P_le: return nat_le(ctx, facts, a, b);
    case P_gt: return nat_lt(ctx, facts, b, a);
    case P_ge: return nat_le(ctx, facts, b, a);
    case P_eq: return nat_equal(ctx, facts, a, b);
    case P_ne: return nat_differ(ctx, facts, a, b);
    }
    return false;
}

static bool never_is(Ctx *ctx, const NatFacts *facts, const Core *cond, bool holds);

/* Of conditions that all turn out so: is there one that cannot? The facts say what those that compare do. */
static bool one_never_is(Ctx *ctx, const NatFacts *facts, const Core *cond, bool holds)
{
    const Core *of[2];
    cond = without_not(cond, &holds);
    if (is_both(cond, holds, of))
        return one_never_is(ctx, facts, of[0], holds) || one_never_is(ctx, facts, of[1], holds);
    return !term_compares_sizes(cond) && never_is(ctx, facts, cond, holds);
}

static bool never_is(Ctx *ctx, const NatFacts *facts, const Core *cond, bool holds)
{
    const Core *of[2];
    cond = without_not(cond, &holds);
    if (cond->kind == CORE_LIT)
        return (cond->lit.i != 0) != holds;
    if (is_both(cond, !holds, of)) /* one of them does */
        return never_is(ctx, facts, of[0], holds) && never_is(ctx, facts, of[1], holds);
    const bool compares = term_compares_sizes(cond);
    if (compares && core_compare_is(ctx, facts, cond->prim.id, cond->prim.args[0]->size, cond->prim.args[1]->size, !holds))
        return true;
    if (!compares && !is_both(cond, holds, of))
        return false;
    NatFacts *scope = nat_facts_new(ctx, (NatFacts *)(uintptr_t)facts);
    core_cond_facts(ctx, scope, cond, holds);
    return nat_no_scope(ctx, scope) || one_never_is(ctx, scope, cond, holds);
}

bool core_cond_is(Ctx *ctx, const NatFacts *facts, const Core *cond, bool value) { return never_is(ctx, facts, cond, !value); }

/* `cond` with other operands, from the left on: `a and b and c` is `(a and b) and c`. */
static const Core *with_operands(Ctx *ctx, const Core *cond, const Core *a, const Core *b)
{
    if (term_is(b, cond->prim.id)) {
        a = with_operands(ctx, cond, a, b->prim.args[0]);
        b = b->prim.args[1];
    }
    Core *const args[] = {(Core *)(uintptr_t)a, (Core *)(uintptr_t)b};
    return make_prim(ctx, cond->prim.id, cond->type, 0, NULL, 2, args, cond->span);
}

/* What is left of an operand of `and` or `or`, where the other one does not decide it alone; NULL: it says no more than the other one. */
static const Core *operand_left(Ctx *ctx, const NatFacts *facts, PrimId id, const Core *operand, const Core *other)
{
    NatFacts *scope = nat_facts_new(ctx, (NatFacts *)(uintptr_t)facts);
    core_cond_facts(ctx, scope, other, id == P_and);
    return core_cond_is(ctx, scope, operand, id == P_and) ? NULL : core_cond_left(ctx, scope, operand);
}

const Core *core_cond_left(Ctx *ctx, const NatFacts *facts, const Core *cond)
{
    if (!term_is(cond, P_and) && !term_is(cond, P_or))
        return cond;
    const PrimId id = cond->prim.id;
    const Core *a = cond->prim.args[0], *b = cond->prim.args[1];
    for (int side = 0; side < 2; side++) /* an impossible one of two, or one that holds in any case */
        if (core_cond_is(ctx, facts, cond->prim.args[side], id == P_and))
            return core_cond_left(ctx, facts, cond->prim.args[1 - side]);
    const Core *second = operand_left(ctx, facts, id, b, a);
    if (!second)
        return core_cond_left(ctx, facts, a);
    const Core *first = operand_left(ctx, facts, id, a, second);
    if (!first)
        return second;
    return first == a && second == b ? cond : with_operands(ctx, cond, first, second);
}
