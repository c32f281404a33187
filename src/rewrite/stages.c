/* The way from an entry to its results: through the bodies of lets, the functions that go on in the next kernel, branches, the components of tuples, and the
 * elements that are scattered, which are written like results. */
#include "rewrite/runner.h"

static bool is_scatter(const Core *term) { return term->kind == CORE_PRIM && prim_is_scatter(term->prim.id); }

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

/* The first one in reading order, innermost first, that stands in no function. `result`: this term is a result, or a component of one, and needs no name. */
static const Here *find_stage(Runner *r, const Here *here, bool result)
{
    if (here->term->kind == CORE_LAMBDA || here->term->kind == CORE_LET || here->term->kind == CORE_IF)
        return NULL;
    int first;
    bool results = result && here->term->kind == CORE_TUPLE && way_on(here->term, &first) > 0;
    for (int i = 0; i < term_children(here->term); i++) {
        const Here *found = find_stage(r, here_child(r->ctx, here, i), results);
        if (found)
            return found;
    }
    return is_stage(here->term) && !result ? here : NULL;
}

Core *name_stage(Runner *r, Span span, const Here *here)
{
    const Here *whole = here->term->kind == CORE_LET ? here_child(r->ctx, here, 0) : here;
    const Here *at = find_stage(r, whole, whole == here);
    if (!at || at == whole)
        return strategy_fail(r, span, "nameStage", here, "nothing here is worked out from a whole reduction, scan, scatter or reduceByIndex");
    return strategy_step(r, "nameStage", NULL, here, named_before(r, here, at), span);
}

Core *inline_scalar(Runner *r, Span span, const Here *here)
{
    Core *let = here->term;
    if (let->kind != CORE_LET || type_gives_arrays(let->let.value->type) || is_stage(let->let.value) || let->let.var->nat)
        return strategy_fail(r, span, "inlineScalar", here, "it is no `let` of a scalar that is worked out here");
    return strategy_step(r, "inlineScalar", NULL, here, rule_substitute(r->ctx, r->program, let->let.body, let->let.var, let->let.value, &r->next_var), span);
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
