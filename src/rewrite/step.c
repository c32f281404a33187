/* A step: a term in place of another, checked and noted.
 *
 * Note [What is checked again]
 * The whole was well typed before the step. What is around the place looks at the type of what stands there, so where that stays the same, only the new term is
 * checked, in its place, and of it only what is new (core_verify_part). A program of n stages takes n steps: checking the whole each time would take n * n. */
#include "rewrite/runner.h"

Core *step_body(Ctx *ctx, RewriteStep *step)
{
    if (!step->body)
        step->body = here_plug(ctx, step->here, step->after);
    return step->body;
}

/* How high the whole is with this term here. */
static int height_with(const Here *here, const Core *term)
{
    int height = term->height;
    for (; here->up; here = here->up) {
        height++;
        for (int i = 0; i < term_children(here->up->term); i++) {
            int other = term_child(here->up->term, i)->height;
            if (i != here->child && other >= height)
                height = other + 1;
        }
    }
    return height;
}

/* What is around a term looks at its type alone: at a function's parameters, too, and at what a condition says. */
static bool only_types_matter(const Here *here, const Core *after)
{
    if (after->type != here->term->type || after->kind == CORE_LAMBDA || here->term->kind == CORE_LAMBDA)
        return false;
    for (; here->up; here = here->up)
        if (here->up->term->kind == CORE_IF && here->child == 0)
            return false;
    return true;
}

/* What is wrong with the whole when `after` stands at the place of the step; NULL: nothing. */
static const char *verify_step(Runner *r, const RewriteStep *s)
{
    Ctx *ctx = r->ctx;
    if (r->verified && only_types_matter(s->here, s->after)) {
        const Core **around = NEWN(ctx, const Core *, s->depth + 1);
        int at = s->depth;
        for (const Here *up = s->here; up->up; up = up->up)
            around[--at] = up->up->term;
        return core_verify_part(ctx, r->entry, s->depth, around, s->path, s->before, s->after);
    }
    CoreEntry whole = *r->entry;
    whole.body = here_plug(ctx, s->here, s->after);
    const char *wrong = core_verify(ctx, &whole);
    r->verified |= !wrong;
    return wrong;
}

Core *strategy_step(Runner *r, const char *rule, const Item *law, const Here *here, Core *after, Span span)
{
    Ctx *ctx = r->ctx;
    if (here->term->label && !after->label && after->kind != CORE_VAR) {
        Core *labelled = NEW(ctx, Core);
        *labelled = *after;
        labelled->label = here->term->label;
        after = labelled;
    }
    if (height_with(here, after) > r->highest)
        return strategy_endless(r, span, "this goes on without an end: the term becomes too deep", ctx_printf(ctx, "`%s` was the last of many steps: a rule that leaves a place where it applies again never ends under `repeat`; apply it once, or at places that it does not make", rule));
    RewriteStep s = {.rule = rule, .place = here_text(ctx, here), .law = law, .given = "", .before = here->term, .after = after, .here = here, .span = span, .users = users_place(r), .launch = r->entry->launch};
    for (const Here *up = here; up->up; up = up->up)
        s.depth++;
    s.path = NEWN(ctx, int, s.depth + 1);
    int at = s.depth;
    for (const Here *up = here; up->up; up = up->up)
        s.path[--at] = up->child;
    const char *wrong = verify_step(r, &s);
    if (wrong)
        return strategy_mistake(r, E0803, span, ctx_printf(ctx, "`%s` at `%s` gives a term that is not well typed: %s", rule, s.place, wrong), NULL);
    vec_push(ctx, &r->out->steps, s);
    if (r->most >= 0 && r->out->steps.n >= r->most)
        r->stopped = true;
    return after;
}
