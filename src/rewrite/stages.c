/* The way from an entry to its results: through the bodies of lets, the functions that go on in the next kernel, branches, and the components of tuples. */
#include "rewrite/runner.h"

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
        return term->prim.id == P_nextKernel ? 1 : 0;
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

static bool is_stage(const Core *term)
{
    if (term->kind != CORE_PRIM)
        return false;
    PrimId id = term->prim.id;
    return id == P_reduce || id == P_scan || id == P_scanExcl || id == P_reduceByIndex;
}

/* The first one in reading order, innermost first, that stands in no function. */
static const Here *find_stage(Runner *r, const Here *here)
{
    if (here->term->kind == CORE_LAMBDA || here->term->kind == CORE_LET || here->term->kind == CORE_IF)
        return NULL;
    for (int i = 0; i < term_children(here->term); i++) {
        const Here *found = find_stage(r, here_child(r->ctx, here, i));
        if (found)
            return found;
    }
    return is_stage(here->term) ? here : NULL;
}

Core *name_stage(Runner *r, Span span, const Here *here)
{
    const Here *whole = here->term->kind == CORE_LET ? here_child(r->ctx, here, 0) : here;
    const Here *at = find_stage(r, whole);
    if (!at || at == whole)
        return strategy_fail(r, span, "nameStage", here, "nothing here is worked out from a whole reduction, scan or reduceByIndex");
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
    return count_stages(here->term) == 1 ? here->term : strategy_fail(r, span, "oneStage", here, "there is more than one whole reduction, scan or reduceByIndex, or none");
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
