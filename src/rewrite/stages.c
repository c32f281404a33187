/* The way from an entry to its results: through the bodies of lets, the functions that go on in the next kernel, branches, the components of tuples, and the
 * elements that are scattered, which are written like results. */
#include "ir/result_place.h"
#include "rewrite/runner.h"

static bool is_scatter(const Core *term) { return term->kind == CORE_PRIM && prim_is_scatter(term->prim.id); }

static bool is_zip(PrimId id) { return id == P_zip || id == P_zip3 || id == P_zip4; }

/* The children through which the way goes on: numbers from *first to before the one that is given. None: a result is worked out here. */
static int way_on(const Core *term, int *first)
{
    *first = 0;
    switch (term->kind) {
    case CORE_LET:
        *first = 1;
        return 2;
    case CORE_LAMBDA: /* of nextKernel */
        return 1;
    case CORE_PRIM:
        if (term->prim.id == P_nextKernel) /* f, x */
            return is_scatter(term->prim.args[1]) ? 2 : 1;
        if (is_zip(term->prim.id) && type_gives_arrays(term->type->elem))
            return term->prim.n_args;
        *first = is_scatter(term) ? 2 : 0; /* indices, background, elements */
        return is_scatter(term) ? 3 : 0;
    case CORE_IF:
        *first = 1;
        return type_gives_arrays(term->type) ? 3 : 0;
    case CORE_TUPLE: {
        bool parts = type_gives_arrays(term->type);
        for (int i = 0; i < term->tuple.n; i++)
            parts |= term->tuple.items[i]->type->kind == TY_TUPLE;
        return parts ? term->tuple.n : 0;
    }
    default:
        return 0;
    }
}

Core *on_way(Runner *r, Strategy s, const Here *here)
{
    Core *after = here->term->kind == CORE_LAMBDA ? NULL : run_strategy(r, s, here);
    int first, end = way_on(here->term, &first);
    for (int i = first; i < end && !after && !r->mistake; i++) {
        after = on_way(r, s, here_child(r->ctx, here, i));
        after = after ? term_with_child(r->ctx, here->term, i, after) : NULL;
    }
    return after;
}

Core *on_results(Runner *r, Strategy s, const Here *here)
{
    int first, end = way_on(here->term, &first);
    if (first >= end)
        return run_strategy(r, s, here);
    for (int i = first; i < end && !r->stopped; i++) {
        Core *after = on_results(r, s, here_child(r->ctx, here, i));
        if (!after)
            return NULL;
        Here *next = NEW(r->ctx, Here);
        *next = *here;
        next->term = term_with_child(r->ctx, here->term, i, after);
        here = next;
    }
    return here->term;
}

/* What all blocks have to have done before anything goes on from it. */
static bool is_stage(const Core *term)
{
    if (term->kind != CORE_PRIM)
        return false;
    PrimId id = term->prim.id;
    return prim_is_scatter(id) || id == P_reduce || id == P_scan || id == P_scanExcl || id == P_reduceByIndex;
}

static int count_stages(const Core *term)
{
    int n = is_stage(term);
    for (int i = 0; i < term_children(term) && term->kind != CORE_LAMBDA; i++)
        n += count_stages(term_child(term, i));
    return n;
}

Core *one_stage(Runner *r, Span span, const Here *here)
{
    return count_stages(here->term) == 1 ? here->term : strategy_fail(r, span, "oneStage", here, "there is more than one whole reduction, scan, scatter or reduceByIndex, or none");
}

enum { LIGHT_FUNCTIONS = 24 };

/* Takes the functions of an element away from *left. False where it is heavy: they are too many, or it folds. */
static bool takes_few(const Core *term, int *left)
{
    if (term->kind == CORE_PRIM) {
        PrimLevel level = prim_rows[term->prim.id].level;
        *left -= level == LEVEL_SCALAR;
        if (*left < 0 || (level != LEVEL_SCALAR && level != LEVEL_VIEW && term->prim.id != P_map))
            return false;
    }
    for (int i = 0; i < term_children(term); i++)
        if (!takes_few(term_child(term, i), left))
            return false;
    return true;
}

Core *is_light(Runner *r, Span span, const Here *here)
{
    int left = LIGHT_FUNCTIONS;
    return takes_few(here->term, &left) ? here->term : strategy_fail(r, span, "light", here, "an element takes more than a few functions of scalars");
}

Core *is_moved(Runner *r, Span span, const Here *here)
{
    int left = 0;
    bool moved = here->term->kind != CORE_VAR && takes_few(here->term, &left);
    return moved ? here->term : strategy_fail(r, span, "moved", here, "it is an array in memory, or functions of scalars compute its elements");
}

static bool says_who(const Core *term)
{
    PrimLevel level = term->kind == CORE_PRIM ? prim_rows[term->prim.id].level : LEVEL_VIEW;
    bool says = level == LEVEL_GRID || level == LEVEL_BLOCK || level == LEVEL_WARP || level == LEVEL_THREAD || level == LEVEL_LANE;
    for (int i = 0; i < term_children(term) && !says; i++)
        says = says_who(term_child(term, i));
    return says;
}

/* Is the variable that is bound here an array that kernels store? A `let` is where it stands around the stage that is looked at. */
static bool is_stored_by(const Here *binder, bool around)
{
    if (binder->term->kind == CORE_LET)
        return around && result_is_made(binder->term->let.value);
    const Core *next = binder->up ? binder->up->term : NULL;
    return next && next->kind == CORE_PRIM && next->prim.id == P_nextKernel && result_is_made(next->prim.args[1]);
}

/* Is it an array that a kernel before has written, here where it is a result? */
static bool is_written(Runner *r, const Here *here)
{
    Ctx *ctx = r->ctx;
    ResultRead read;
    if (!result_read(here->term, &read))
        return false;
    const CoreVar *array = read.array->var;
    ResultPlace place = {0}, own = {0}, up = {0}; /* up: the way from here, backwards */
    bool around = false;
    if (read.of_one)
        vec_push(ctx, &up.path, PLACE_OF_ONE);
    for (; here->up; here = here->up) {
        const Core *outer = here->up->term;
        around |= r->stage && here->up == r->stage->up && here->child == r->stage->child;
        bool let = outer->kind == CORE_LET && outer->let.var == array;
        if (let || (outer->kind == CORE_LAMBDA && outer->lambda.n == 1 && outer->lambda.params[0] == array)) {
            for (int i = up.path.n - 1; i >= 0; i--)
                vec_push(ctx, &own.path, up.path.at[i]);
            if (!is_stored_by(here->up, around) || !result_place(ctx, here->term, array, &place))
                return false;
            bool whole = read.component == WHOLE_ELEMENT;
            return whole == !place.n_parts && result_place_same(whole ? &place : &place.parts[read.component], &own);
        }
        if (outer->kind == CORE_TUPLE || (outer->kind == CORE_PRIM && is_zip(outer->prim.id)))
            vec_push(ctx, &up.path, here->child);
    }
    return false;
}

Core *is_computed(Runner *r, Span span, const Here *here)
{
    return says_who(here->term) || is_written(r, here) ? here->term
                                                        : strategy_fail(r, span, "computed", here, "it does not say who computes it");
}

Core *unless(Runner *r, Strategy s, const Here *here, Span span)
{
    int steps = r->out->steps.n;
    const CoreLaunch launch = r->entry->launch;
    Core *after = run_strategy(r, s, here);
    r->out->steps.n = steps;
    r->entry->launch = launch;
    if (r->mistake || r->stopped)
        return r->mistake ? NULL : here->term;
    return after ? strategy_fail(r, span, "unless", here, "what it excludes applies") : here->term;
}
