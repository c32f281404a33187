/* What the scheduler lowers right, but slowly: a thread goes alone through an array whose length is a size of the launch. */
#include "rewrite/internal.h"

typedef struct Large {
    Ctx *ctx;
    Nat length;
} Large;

enum { LONG_WALK = 4096, LARGE_SIZE = 1 << 20 };

static void set_large(void *user, Nat var)
{
    Large *large = user;
    large->length = nat_subst(large->ctx, large->length, var, nat_const(large->ctx, LARGE_SIZE));
}

/* Whether it is long where all that it depends on is large: the 1024th part of an array is not. */
static bool is_long(Ctx *ctx, Nat length)
{
    Large large = {ctx, length};
    nat_each_var(ctx, length, set_large, &large);
    return !nat_is_const(large.length) || large.length->value > LONG_WALK;
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
    if (wanted || xs->type->kind != TY_ARRAY || nat_is_const(xs->type->size) || is_empty(ctx, here, around, term->type))
        return false;
    NatRange range = nat_range(ctx, here->facts, xs->type->size);
    return (!range.has_hi || range.hi > LONG_WALK) && is_long(ctx, xs->type->size);
}

static void find_walks(Ctx *ctx, const Here *here, Nat around, SlowWalks *out);

/* Of two conditions that hold together: a and b, as `if a then b else false`, too. */
static bool is_both(const Core *cond, const Core **a, const Core **b)
{
    bool branches = cond->kind == CORE_IF && cond->cond.otherwise->kind == CORE_LIT && !cond->cond.otherwise->lit.u;
    bool both = cond->kind == CORE_PRIM && cond->prim.id == P_and;
    if (branches || both) {
        *a = branches ? cond->cond.cond : cond->prim.args[0];
        *b = branches ? cond->cond.then : cond->prim.args[1];
    }
    return branches || both;
}

/* Where a condition does not hold: of two, what is found whichever does not. */
static void find_otherwise(Ctx *ctx, const Here *here, const Core *cond, Nat around, SlowWalks *out)
{
    const Core *parts[2];
    if (!is_both(cond, &parts[0], &parts[1])) {
        Here there = *here;
        there.facts = nat_facts_new(ctx, here->facts);
        core_cond_facts(ctx, there.facts, cond, false);
        find_walks(ctx, &there, around, out);
        return;
    }
    SlowWalks found[2] = {{0}, {0}};
    for (int k = 0; k < 2; k++)
        find_otherwise(ctx, here, parts[k], around, &found[k]);
    for (int i = 0; i < found[0].n; i++)
        for (int k = 0; k < found[1].n; k++)
            if (found[0].at[i] == found[1].at[k])
                vec_push(ctx, out, found[0].at[i]);
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
        if (term->kind == CORE_IF && i == 2)
            find_otherwise(ctx, child, term->cond.cond, around, out);
        else
            find_walks(ctx, child, around, out);
    }
}

static int count_threads(const Core *term)
{
    int n = term->kind == CORE_PRIM && term->prim.id == P_mapGlobal;
    for (int i = 0; i < term_children(term); i++)
        n += count_threads(term_child(term, i));
    return n;
}

void term_slow_walks(Ctx *ctx, const NatFacts *known, const Core *term, SlowWalks *out)
{
    const Here whole = {.term = (Core *)(uintptr_t)term, .facts = (NatFacts *)(uintptr_t)known};
    find_walks(ctx, &whole, NULL, out);
}

void rewriting_slow_walks(Ctx *ctx, const Rewriting *r, SlowWalks *out)
{
    bool gives_threads = false; /* a step said that a thread computes an element; what the user's text says so is as he wants it */
    for (int i = 0; i < r->steps.n && !gives_threads; i++)
        gives_threads = count_threads(r->steps.at[i].after) > count_threads(r->steps.at[i].before);
    if (gives_threads)
        term_slow_walks(ctx, r->entry->known, r->entry->body, out);
}
