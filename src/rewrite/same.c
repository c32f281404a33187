/* Terms that are the same but for the names of what they bind. */
#include "rewrite/match.h"

typedef struct Pairs {
    Ctx *ctx;
    VEC(const CoreVar *) a;
    VEC(const CoreVar *) b;
    VEC(Nat) nat_a;
    VEC(Nat) nat_b;
} Pairs;

static bool same_nat(Pairs *p, Nat a, Nat b)
{
    if (!a || !b)
        return a == b;
    return a == b || (p->nat_a.n && nat_subst_many(p->ctx, a, p->nat_a.n, p->nat_a.at, p->nat_b.at) == b);
}

static bool same_type(Pairs *p, Type a, Type b)
{
    return a == b || (p->nat_a.n && type_subst(p->ctx, a, p->nat_a.n, p->nat_a.at, p->nat_b.at) == b);
}

static bool pair(Pairs *p, const CoreVar *a, const CoreVar *b)
{
    if (!same_type(p, a->type, b->type))
        return false;
    vec_push(p->ctx, &p->a, a);
    vec_push(p->ctx, &p->b, b);
    if (a->nat && b->nat) {
        vec_push(p->ctx, &p->nat_a, a->nat);
        vec_push(p->ctx, &p->nat_b, b->nat);
    }
    return true;
}

static bool same(Pairs *p, const Core *a, const Core *b);

static bool same_options(Pairs *p, const PrimOptions *a, const PrimOptions *b)
{
    return a->axis == b->axis && a->swizzle == b->swizzle && a->in_place == b->in_place && a->prefetch == b->prefetch && a->once == b->once && same_nat(p, a->pad, b->pad) && same_nat(p, a->blocks, b->blocks) &&
           same_nat(p, a->threads, b->threads) && same_nat(p, a->min_blocks, b->min_blocks) && !a->place == !b->place && (!a->place || same(p, a->place, b->place));
}

static bool same_all(Pairs *p, int n, Core *const *a, Core *const *b)
{
    for (int i = 0; i < n; i++)
        if (!same(p, a[i], b[i]))
            return false;
    return true;
}

static bool same(Pairs *p, const Core *a, const Core *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case CORE_VAR:
        for (int i = p->a.n - 1; i >= 0; i--)
            if (p->a.at[i] == a->var || p->b.at[i] == b->var)
                return p->a.at[i] == a->var && p->b.at[i] == b->var;
        return a->var == b->var;
    case CORE_LIT:
        return a->lit.type == b->lit.type && (scalar_is_float(a->lit.type) ? a->lit.f == b->lit.f || (a->lit.f != a->lit.f && b->lit.f != b->lit.f) : a->lit.i == b->lit.i);
    case CORE_SIZE:
        return same_nat(p, a->size, b->size) && same_type(p, a->type, b->type);
    case CORE_PRIM:
        if (a->prim.id != b->prim.id || a->prim.n_nats != b->prim.n_nats || a->prim.n_args != b->prim.n_args || !same_type(p, a->type, b->type))
            return false;
        for (int i = 0; i < a->prim.n_nats; i++)
            if (!same_nat(p, a->prim.nats[i], b->prim.nats[i]))
                return false;
        return same_options(p, &a->prim.options, &b->prim.options) && same_all(p, a->prim.n_args, a->prim.args, b->prim.args);
    case CORE_LAMBDA:
        if (a->lambda.n != b->lambda.n || a->lambda.n_nats != b->lambda.n_nats)
            return false;
        for (int i = 0; i < a->lambda.n_nats; i++) {
            vec_push(p->ctx, &p->nat_a, a->lambda.nats[i]);
            vec_push(p->ctx, &p->nat_b, b->lambda.nats[i]);
        }
        for (int i = 0; i < a->lambda.n; i++)
            if (!pair(p, a->lambda.params[i], b->lambda.params[i]))
                return false;
        return same(p, a->lambda.body, b->lambda.body);
    case CORE_LET:
        return same(p, a->let.value, b->let.value) && pair(p, a->let.var, b->let.var) && same(p, a->let.body, b->let.body);
    case CORE_TUPLE:
        return a->tuple.n == b->tuple.n && same_all(p, a->tuple.n, a->tuple.items, b->tuple.items);
    case CORE_PROJ:
        return a->proj.index == b->proj.index && same(p, a->proj.value, b->proj.value);
    case CORE_IF:
        return same(p, a->cond.cond, b->cond.cond) && same(p, a->cond.then, b->cond.then) && same(p, a->cond.otherwise, b->cond.otherwise);
    case CORE_UNIT_ERROR:
        break;
    }
    return false;
}

bool core_same(Ctx *ctx, const Core *a, const Core *b)
{
    Pairs p = {.ctx = ctx};
    return same(&p, a, b);
}
