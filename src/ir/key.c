/* See key.h.
 *
 * Note [Operands in either order]
 * Of two operands that commute, the keys say which one stands opposite which; only operands with equal keys are compared both ways. So the comparison does not
 * try all orders of a long sum. A key is taken with the variables that are bound around the operand as they are, as both sides' are paired by then. */
#include "ir/key.h"

#include <math.h>

typedef struct Pairs {
    Ctx *ctx;
    bool either; /* operands that commute may stand in the other order */
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

/* ---- keys ------------------------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t x)
{
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

/* What binds a variable that the key meets, from the outside in. */
typedef struct Binders {
    Ctx *ctx;
    VEC(const CoreVar *) vars;
    VEC(Nat) nats;
} Binders;

static void bind_var(Binders *b, const CoreVar *var)
{
    vec_push(b->ctx, &b->vars, var);
    if (var->nat)
        vec_push(b->ctx, &b->nats, var->nat);
}

/* Sizes and types go in by what they say of no variable that is bound: how many there are is said by the term around them. */
static uint64_t key_nat(Binders *b, uint64_t h, Nat nat)
{
    if (!nat)
        return mix(h, 0);
    for (int i = 0; i < b->nats.n; i++)
        if (nat_mentions(nat, b->nats.at[i]))
            return mix(h, 1);
    return mix(h, nat->id + 2);
}

static uint64_t key_term(Binders *b, const Core *term);

static uint64_t key_prim(Binders *b, const Core *term)
{
    PrimId id = term->prim.id, other = term->prim.n_args == 2 ? prim_mirrored(id) : P_COUNT;
    uint64_t h = mix(7, other != P_COUNT && other < id ? other : id);
    for (int i = 0; i < term->prim.n_nats; i++)
        h = key_nat(b, h, term->prim.nats[i]);
    h = mix(h, (uint64_t)term->prim.options.axis);
    if (other == id) /* in any order */
        return mix(h, key_term(b, term->prim.args[0]) + key_term(b, term->prim.args[1]));
    for (int i = 0; i < term->prim.n_args; i++)
        h = mix(h, key_term(b, term->prim.args[other < id ? term->prim.n_args - 1 - i : i]));
    return h;
}

static uint64_t key_literal(ScalarValue v)
{
    if (!scalar_is_float(v.type))
        return mix(v.type, v.u);
    return v.f != v.f ? mix(v.type, 1) : v.f == 0 && signbit(v.f) ? mix(v.type, 2) : mix(v.type, v.u);
}

static uint64_t key_term(Binders *b, const Core *term)
{
    int vars = b->vars.n, nats = b->nats.n;
    uint64_t h = mix(1, (uint64_t)term->kind);
    switch (term->kind) {
    case CORE_VAR:
        for (int i = b->vars.n - 1; i >= 0; i--)
            if (b->vars.at[i] == term->var)
                return mix(h, (uint64_t)i);
        return mix(h, 1000000u + (uint64_t)term->var->id);
    case CORE_LIT:
        return mix(h, key_literal(term->lit));
    case CORE_SIZE:
        return key_nat(b, h, term->size);
    case CORE_PRIM:
        return mix(h, key_prim(b, term));
    case CORE_LAMBDA:
        for (int i = 0; i < term->lambda.n_nats; i++)
            vec_push(b->ctx, &b->nats, term->lambda.nats[i]);
        for (int i = 0; i < term->lambda.n; i++)
            bind_var(b, term->lambda.params[i]);
        h = mix(h, key_term(b, term->lambda.body));
        break;
    case CORE_LET:
        h = mix(h, key_term(b, term->let.value));
        bind_var(b, term->let.var);
        h = mix(h, key_term(b, term->let.body));
        break;
    case CORE_TUPLE:
        for (int i = 0; i < term->tuple.n; i++)
            h = mix(h, key_term(b, term->tuple.items[i]));
        break;
    case CORE_PROJ:
        h = mix(mix(h, (uint64_t)term->proj.index), key_term(b, term->proj.value));
        break;
    case CORE_IF:
        h = mix(mix(mix(h, key_term(b, term->cond.cond)), key_term(b, term->cond.then)), key_term(b, term->cond.otherwise));
        break;
    case CORE_UNIT_ERROR:
        break;
    }
    b->vars.n = vars;
    b->nats.n = nats;
    return h;
}

uint64_t core_key(Ctx *ctx, const Core *term)
{
    Binders b = {.ctx = ctx};
    return key_term(&b, term);
}

/* The key of an operand, whose surroundings are the first or the second term's. */
static uint64_t key_of(const Pairs *p, const Core *term, bool second)
{
    Binders b = {.ctx = p->ctx};
    for (int i = 0; i < p->a.n; i++)
        vec_push(p->ctx, &b.vars, second ? p->b.at[i] : p->a.at[i]);
    for (int i = 0; i < p->nat_a.n; i++)
        vec_push(p->ctx, &b.nats, second ? p->nat_b.at[i] : p->nat_a.at[i]);
    return key_term(&b, term);
}

/* ---- pairs of terms ------------------------------------------------------------------------------------------------------------ */

static bool same_options(Pairs *p, const PrimOptions *a, const PrimOptions *b)
{
    return a->axis == b->axis && a->swizzle == b->swizzle && a->in_place == b->in_place && a->prefetch == b->prefetch && a->once == b->once && same_nat(p, a->pad, b->pad) && same_nat(p, a->lanes, b->lanes) && same_nat(p, a->blocks, b->blocks) &&
           same_nat(p, a->threads, b->threads) && same_nat(p, a->min_blocks, b->min_blocks) && !a->place == !b->place && (!a->place || same(p, a->place, b->place));
}

static bool same_all(Pairs *p, int n, Core *const *a, Core *const *b)
{
    for (int i = 0; i < n; i++)
        if (!same(p, a[i], b[i]))
            return false;
    return true;
}

/* To the bit, but that one NaN is as good as another. */
static bool same_literal(ScalarValue a, ScalarValue b)
{
    if (a.type != b.type)
        return false;
    if (!scalar_is_float(a.type))
        return a.i == b.i;
    return (a.f == b.f && signbit(a.f) == signbit(b.f)) || (a.f != a.f && b.f != b.f);
}

/* The first operand of one against the second of the other. */
static bool mirrored(Pairs *p, const Core *a, const Core *b)
{
    if (!same_type(p, a->type, b->type))
        return false;
    for (int i = 0; i < 2; i++)
        if (key_of(p, a->prim.args[i], false) != key_of(p, b->prim.args[1 - i], true))
            return false;
    return same(p, a->prim.args[0], b->prim.args[1]) && same(p, a->prim.args[1], b->prim.args[0]);
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
        return same_literal(a->lit, b->lit);
    case CORE_SIZE:
        return same_nat(p, a->size, b->size) && same_type(p, a->type, b->type);
    case CORE_PRIM:
        if (p->either && a->prim.n_args == 2 && prim_mirrored(a->prim.id) == b->prim.id && mirrored(p, a, b))
            return true;
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

bool core_alike(Ctx *ctx, const Core *a, const Core *b)
{
    Pairs p = {.ctx = ctx, .either = true};
    return same(&p, a, b);
}
