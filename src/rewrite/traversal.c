/* Words of strategies that run another one elsewhere than here: at the first place that it applies at, again and again, below, in a part. Note [Trails]. */
#include "rewrite/internal.h"
#include "rewrite/runner.h"

const Here *here_with(Ctx *ctx, const Here *here, Core *term)
{
    Here *new = NEW(ctx, Here);
    *new = *here;
    new->term = term;
    return new;
}

/* Note [Trails]
 * A traversal that is made again and again finds most of what it has seen as it was: what lies before the place of the last step, in
 * the order of the traversal, has refused the strategy, and nothing around it has changed. So it goes on at that place and at those
 * around it. `trail` has the way there: which child, in reading order. */
typedef struct Trail {
    VEC(int) at;
} Trail;

/* Of a term so deep, which is on the trail or not. */
typedef Core *(*Traversal)(Runner *r, Strategy s, const Here *here, Trail *trail, int depth, bool on);

/* The first child, in reading order, where it applies. */
static Core *one_child(Runner *r, Strategy s, const Here *here, Traversal go, Trail *trail, int depth, bool on)
{
    int *order = NEWN(r->ctx, int, term_children(here->term) + 1);
    int n = reading_order(here->term, order), first = on && depth < trail->at.n ? trail->at.at[depth] : 0;
    for (int i = first; i < n && !r->mistake; i++) {
        if (order[i] < 0)
            continue;
        Core *after = go(r, s, here_child(r->ctx, here, order[i]), trail, depth + 1, on && i == first && depth < trail->at.n);
        if (after) {
            trail->at.at[depth] = i;
            return term_with_child(r->ctx, here->term, order[i], after);
        }
    }
    return NULL;
}

/* The strategy here, where a step ends the trail. */
static Core *run_on_trail(Runner *r, Strategy s, const Here *here, Trail *trail, int depth)
{
    Core *after = run_strategy(r, s, here);
    if (after) {
        trail->at.n = 0;
        while (trail->at.n < depth)
            vec_push(r->ctx, &trail->at, 0);
    }
    return after;
}

static Core *top_down(Runner *r, Strategy s, const Here *here, Trail *trail, int depth, bool on)
{
    Core *after = run_on_trail(r, s, here, trail, depth);
    return after || r->mistake ? after : one_child(r, s, here, top_down, trail, depth, on);
}

static Core *bottom_up(Runner *r, Strategy s, const Here *here, Trail *trail, int depth, bool on)
{
    Core *after = one_child(r, s, here, bottom_up, trail, depth, on);
    return after || r->mistake ? after : run_on_trail(r, s, here, trail, depth);
}

static Core *here_only(Runner *r, Strategy s, const Here *here, Trail *trail, int depth, bool on)
{
    (void)trail, (void)depth, (void)on;
    return run_strategy(r, s, here);
}

Core *everywhere(Runner *r, Strategy s, const Here *here)
{
    bool any = false;
    for (int i = 0; i < term_children(here->term) && !r->stopped; i++) {
        Core *after = everywhere(r, s, here_child(r->ctx, here, i));
        if (after) {
            here = here_with(r->ctx, here, term_with_child(r->ctx, here->term, i, after));
            any = true;
        }
    }
    Core *after = r->stopped ? NULL : run_strategy(r, s, here);
    return after ? after : any && !r->mistake ? here->term : NULL;
}

Core *downwards(Runner *r, Strategy s, const Here *here)
{
    Core *after = run_strategy(r, s, here);
    bool any = after != NULL;
    here = after ? here_with(r->ctx, here, after) : here;
    for (int i = 0; i < term_children(here->term) && !r->stopped; i++) {
        after = downwards(r, s, here_child(r->ctx, here, i));
        if (after) {
            here = here_with(r->ctx, here, term_with_child(r->ctx, here->term, i, after));
            any = true;
        }
    }
    return any && !r->mistake ? here->term : NULL;
}

static const Traversal traversals[] = {[HERE_ONLY] = here_only, [TOP_DOWN] = top_down, [BOTTOM_UP] = bottom_up};

Core *once(Runner *r, Strategy s, const Here *here, PlaceOrder order) { return traversals[order](r, s, here, &(Trail){0}, 0, false); }

Core *again(Runner *r, Strategy s, const Here *here, PlaceOrder order, int least, Span span)
{
    int times = 0;
    Trail trail = {0};
    while (!r->stopped) {
        Core *after = traversals[order](r, s, here, &trail, 0, times > 0);
        if (!after)
            break;
        here = here_with(r->ctx, here, after);
        if (++times > LIMIT_REWRITE_STEPS)
            return strategy_endless(r, span, ctx_printf(r->ctx, "this goes on and on: more than %d times", LIMIT_REWRITE_STEPS), "no step is the last: a rule undoes what another one did, or applies again to what it has made");
    }
    return r->mistake || times < least ? NULL : here->term;
}

Core *lift(Ctx *ctx, const Here *here, const Here *to, Core *term)
{
    for (; to != here; to = to->up)
        term = term_with_child(ctx, to->up->term, to->child, term);
    return term;
}

Core *in_function(Runner *r, Strategy s, const Here *here, bool lets, Span span)
{
    for (int i = 0; here->term->kind == CORE_PRIM && i < here->term->prim.n_args; i++) {
        if (here->term->prim.args[i]->kind != CORE_LAMBDA)
            continue;
        const Here *at = here_child(r->ctx, here_child(r->ctx, here, i), 0);
        while (lets && at->term->kind == CORE_LET)
            at = here_child(r->ctx, at, 1);
        Core *after = run_strategy(r, s, at);
        return after ? lift(r->ctx, here, at, after) : NULL;
    }
    return strategy_fail(r, span, "inFunction", here, "it applies no function");
}

Core *in_items(Runner *r, Strategy s, const Here *here, Span span)
{
    if (here->term->kind != CORE_TUPLE)
        return strategy_fail(r, span, "inItems", here, "it is no tuple");
    for (int i = 0; i < here->term->tuple.n; i++) {
        Core *after = run_strategy(r, s, here_child(r->ctx, here, i));
        if (!after)
            return NULL;
        here = here_with(r->ctx, here, term_with_child(r->ctx, here->term, i, after));
    }
    return here->term;
}

Core *in_argument(Runner *r, Strategy s, const Here *here, Span span)
{
    int last = here->term->kind == CORE_PRIM ? here->term->prim.n_args - 1 : -1;
    if (last < 0 || here->term->prim.args[last]->kind == CORE_LAMBDA)
        return strategy_fail(r, span, "inArgument", here, "it is applied to nothing");
    const Here *at = here_child(r->ctx, here, last);
    while (at->term->kind == CORE_LET)
        at = here_child(r->ctx, at, 1);
    Core *after = run_strategy(r, s, at);
    return after ? lift(r->ctx, here, at, after) : NULL;
}

Core *in_branch(Runner *r, Strategy s, const Here *here, int child, const char *word, Span span)
{
    if (here->term->kind != CORE_IF)
        return strategy_fail(r, span, word, here, "it is no `if`");
    const Here *at = here_child(r->ctx, here, child);
    Core *after = run_strategy(r, s, at);
    return after ? lift(r->ctx, here, at, after) : NULL;
}

Core *bounded(Runner *r, Strategy s, const Here *here, Span span)
{
    int64_t most = r->most_tried, end = r->tried + LIMIT_BOUNDED * LOOKS_A_TRY;
    bool outer = r->bounded;
    r->most_tried = end < most ? end : most;
    r->bounded = true;
    Core *after = run_strategy(r, s, here);
    bool exhausted = r->exhausted;
    r->bounded = outer;
    r->most_tried = most;
    r->exhausted = outer && r->tried > most;
    return exhausted && !r->mistake ? strategy_fail(r, span, "bounded", here, "it takes too long") : after;
}
