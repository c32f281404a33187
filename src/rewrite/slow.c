/* What the scheduler lowers right, but slowly: a thread goes alone through an array whose length is a size of the launch. */
#include "rewrite/internal.h"

enum { LONG_WALK = 4096, LARGE_SIZE = 1 << 20, LARGE_IN_PRODUCTS = 1 << 15, MANY_THREADS = 1 << 16 };

typedef struct Large {
    Ctx *ctx;
    Nat length;
    int64_t size;
} Large;

static void set_large(void *user, Nat var)
{
    Large *large = user;
    large->length = nat_subst(large->ctx, large->length, var, nat_const(large->ctx, large->size));
}

/* Whether it is long where all that it depends on is large: the 1024th part of an array is not. Products of several such sizes may be too large to compute. */
static bool is_long(Ctx *ctx, Nat length)
{
    Large large = {ctx, length, LARGE_SIZE}, less = {ctx, length, LARGE_IN_PRODUCTS};
    nat_each_var(ctx, length, set_large, &large);
    nat_each_var(ctx, length, set_large, &less);
    Nat found = nat_is_const(large.length) ? large.length : less.length;
    return !nat_is_const(found) || found->value > LONG_WALK;
}

/* Nothing is computed over so many elements, by what is known. */
static bool is_none(Ctx *ctx, const Here *here, Nat n) { return nat_le(ctx, here->facts, n, nat_const(ctx, 0)); }

/* So many times a value of this type. */
static bool is_empty(Ctx *ctx, const Here *here, Nat times, Type type)
{
    bool empty = is_none(ctx, here, times);
    for (; type->kind == TY_ARRAY && !empty; type = type->elem) {
        times = nat_mul(ctx, times, type->size);
        empty = is_none(ctx, here, type->size) || is_none(ctx, here, times);
    }
    return empty;
}

/* Folds and scans in one thread, over as many elements as the launch says: nothing that is known there bounds how many. One that the user's
 * text has so is as he wants it. */
static bool is_long_walk(Ctx *ctx, const Here *here, Nat around)
{
    const Core *term = here->term;
    if (term->kind != CORE_PRIM || prim_rows[term->prim.id].level != LEVEL_SEQ || term->prim.n_args == 0)
        return false;
    const Core *xs = term->prim.args[term->prim.n_args - 1];
    bool wanted = span_is_users(ctx, term->span) && term->prim.id != P_mapSeq && term->prim.id != P_mapSeqUnroll;
    if (wanted || xs->type->kind != TY_ARRAY || is_empty(ctx, here, around, term->type))
        return false;
    if (nat_le(ctx, here->facts, nat_const(ctx, MANY_THREADS), around))
        return false; /* a class of the library for so many threads that nothing is gained by more */
    return !nat_le(ctx, here->facts, xs->type->size, nat_const(ctx, LONG_WALK)) && is_long(ctx, xs->type->size);
}

static void find_walks(Ctx *ctx, const Here *here, Nat around, SlowWalks *out);

static bool is_literal(const Core *term, bool value) { return term->kind == CORE_LIT && (term->lit.u != 0) == value; }

/* The two parts of an `and`, which may stand as `if a then b else false`, or of an `or`, as `if a then true else b`. */
static bool parts_of(const Core *cond, PrimId id, const Core **parts)
{
    bool prim = cond->kind == CORE_PRIM && cond->prim.id == id, branches = cond->kind == CORE_IF;
    branches = branches && (id == P_and ? is_literal(cond->cond.otherwise, false) : is_literal(cond->cond.then, true));
    if (prim || branches) {
        parts[0] = prim ? cond->prim.args[0] : cond->cond.cond;
        parts[1] = prim ? cond->prim.args[1] : id == P_and ? cond->cond.then : cond->cond.otherwise;
    }
    return prim || branches;
}

static bool has_walk(const SlowWalks *walks, const Core *term)
{
    for (int i = 0; i < walks->n; i++)
        if (walks->at[i] == term)
            return true;
    return false;
}

/* A branch where a condition holds, or where it does not. Where one of two holds, and nobody knows which, each is looked at by itself: of an `or` that
 * holds, what is found with either; of an `and` that does not, what is found with both. */
static void find_in_branch(Ctx *ctx, const Here *here, const Core *cond, bool holds, Nat around, SlowWalks *out)
{
    const Core *parts[2];
    if (!holds && term_size_asked(cond))
        return; /* there is nothing to go through */
    if (!parts_of(cond, holds ? P_or : P_and, parts)) {
        Here there = *here;
        there.facts = nat_facts_new(ctx, here->facts);
        core_cond_facts(ctx, there.facts, cond, holds);
        find_walks(ctx, &there, around, out);
        return;
    }
    SlowWalks any = {0}, found[2] = {{0}, {0}};
    find_walks(ctx, here, around, &any);
    for (int k = 0; k < 2 && any.n; k++) /* what is known only rules walks out */
        find_in_branch(ctx, here, parts[k], holds, around, &found[k]);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < found[k].n; i++)
            if (!has_walk(out, found[k].at[i]) && (holds || has_walk(&found[1 - k], found[k].at[i])))
                vec_push(ctx, out, found[k].at[i]);
}

/* `around`: so many elements the maps around compute; NULL outside of what a thread does. */
static void find_walks(Ctx *ctx, const Here *here, Nat around, SlowWalks *out)
{
    const Core *term = here->term;
    if (around && is_long_walk(ctx, here, around)) {
        vec_push(ctx, out, term);
        return;
    }
    const Core *array = term->kind == CORE_PRIM && term->prim.n_args ? term->prim.args[term->prim.n_args - 1] : NULL;
    if (array && array->type->kind == TY_ARRAY && (around || term->prim.id == P_mapGlobal))
        around = around ? nat_mul(ctx, around, array->type->size) : array->type->size;
    if (around && is_none(ctx, here, around))
        return;
    for (int i = 0; i < term_children(term); i++) {
        const Here *child = here_child(ctx, here, i);
        if (term->kind == CORE_IF && i > 0)
            find_in_branch(ctx, child, term->cond.cond, i == 1, around, out);
        else
            find_walks(ctx, child, around, out);
    }
}

void term_slow_walks(Ctx *ctx, const NatFacts *known, const Core *term, SlowWalks *out)
{
    const Here whole = {.term = (Core *)(uintptr_t)term, .facts = (NatFacts *)(uintptr_t)known};
    find_walks(ctx, &whole, NULL, out);
}
