/* The steps of the scheduler: the list of nests (docs/nests.md), those that are stored, and a kernel
 * for each. */
#include "codegen/contraction.h"
#include "frontend/costs.h"
#include "rewrite/runner.h"
#include "schedule/nests.h"
#include "ir/scalar.h"
#include "ir/terms.h"

static Core *whole_entry(Runner *r, const char *name, Span span, const Here *here, CoreEntry *entry)
{
    if (here->up)
        return strategy_mistake(r, E0804, span,
                                ctx_printf(r->ctx, "`%s` is about the whole entry, and stands at no place in it", name),
                                NULL);
    *entry = *r->entry;
    entry->body = here->term;
    return here->term;
}

Core *make_nests(Runner *r, Span span, const Here *here)
{
    CoreEntry entry;
    if (!whole_entry(r, "nests", span, here, &entry))
        return NULL;
    const Nests *nests = nests_of(r->ctx, &entry, contraction_ends_open, &r->next_var);
    return strategy_step(r, "nests", NULL, here, nests_body(r->ctx, nests, entry.body->type), span);
}

Core *make_stored(Runner *r, Span span, const Here *here)
{
    CoreEntry entry;
    if (!whole_entry(r, "stored", span, here, &entry))
        return NULL;
    const Nests *nests = nests_of(r->ctx, &entry, contraction_ends_open, &r->next_var);
    NestChoices *said = NEW(r->ctx, NestChoices);
    r->entry->costs = costs_of(r->ctx);
    nests = nests_stored(r->ctx, &entry, nests, contraction_ends_open, &r->next_var, said);
    Core *after = strategy_step(r, "stored", NULL, here, nests_body(r->ctx, nests, entry.body->type), span);
    if (after)
        r->out->steps.at[r->out->steps.n - 1].choices = said;
    return after;
}

static const Here *here_as(Ctx *ctx, const Here *here, Core *term)
{
    Here *new = NEW(ctx, Here);
    *new = *here;
    new->term = term;
    return new;
}

static bool is_layout_of(const Core *term, const CoreVar *var);

/* The place of the array that a view is made of, among what it is applied to; -1: the term is no view of a whole array that kernels can write through. */
static int layout_of(const Core *term)
{
    if (term->kind != CORE_PRIM)
        return -1;
    const Core *f = term->prim.n_args > 0 ? term->prim.args[0] : NULL;
    if (term->prim.id == P_map && f->kind == CORE_LAMBDA && f->lambda.n == 1 && is_layout_of(f->lambda.body, f->lambda.params[0]))
        return 1;
    return term->prim.id == P_split || term->prim.id == P_join || term->prim.id == P_transpose ? 0 : -1;
}

/* A view of the variable, or several of them one after another. */
static bool is_layout_of(const Core *term, const CoreVar *var)
{
    int at = layout_of(term);
    if (at < 0)
        return false;
    const Core *array = term->prim.args[at];
    return (array->kind == CORE_VAR && array->var == var) || is_layout_of(array, var);
}

static bool is_layout(const Core *term) { return layout_of(term) >= 0; }

/* The split of an array that is one of two, or of more, by sizes: of each of them. */
static Core *split_of(Ctx *ctx, const Core *split, Core *array)
{
    if (array->kind == CORE_LET) {
        Core *inside = split_of(ctx, split, term_child(array, 1)), *whole = term_with_child(ctx, array, 1, inside);
        whole->type = inside->type;
        return whole;
    }
    if (array->kind == CORE_LAMBDA || (array->kind == CORE_PRIM && array->prim.id == P_nextKernel)) { /* of what the last kernel gives */
        Core *inside = split_of(ctx, split, term_child(array, 0)), *whole = term_with_child(ctx, array, 0, inside);
        whole->type = inside->type;
        return whole;
    }
    if (array->kind != CORE_IF)
        return term_with_child(ctx, split, layout_of(split), array);
    Core *then = split_of(ctx, split, array->cond.then), *otherwise = split_of(ctx, split, array->cond.otherwise);
    return make_if(ctx, array->cond.cond, then, otherwise, array->span);
}

/* The same behind `let`, by which a rule names what it uses several times; NULL: it is none of an `if`. */
static Core *branches_split(Ctx *ctx, const Core *term)
{
    if (term->kind == CORE_LET) {
        Core *inside = branches_split(ctx, term->let.body);
        return inside ? term_with_child(ctx, term, 1, inside) : NULL;
    }
    Core *array = is_layout(term) ? term->prim.args[layout_of(term)] : NULL;
    bool splits = array && (array->kind == CORE_IF || array->kind == CORE_LET);
    return splits ? split_of(ctx, term, array) : NULL;
}

Core *split_branches(Runner *r, Span span, const Here *here)
{
    Core *split = branches_split(r->ctx, here->term);
    if (!split)
        return strategy_fail(r, span, "splitBranches", here, "it is no split, join or transposition of an `if`");
    return strategy_step(r, "splitBranches", NULL, here, split, span);
}

Core *layout_here(Runner *r, Span span, const Here *here)
{
    if (is_layout(here->term))
        return here->term;
    return strategy_fail(r, span, "layout", here, "it is no split, join or transposition, also of each row");
}

/* The view here, of the array as it came out. */
static Core *view_of(Runner *r, const Here *here, Core *after, Span span)
{
    const Here *view = here_as(r->ctx, here, term_with_child(r->ctx, here->term, layout_of(here->term), after));
    return after->kind == CORE_IF || after->kind == CORE_LET ? split_branches(r, span, view) : view->term;
}

Core *in_split(Runner *r, Strategy s, const Here *here, Span span)
{
    if (!is_layout(here->term))
        return strategy_fail(r, span, "inSplit", here, "it is no split, join or transposition");
    const Here *array = here_child(r->ctx, here, layout_of(here->term));
    Core *after = run_strategy(r, s, array); /* a transposition may be what is lowered */
    if (!after && !r->mistake && is_layout(array->term))
        after = in_split(r, s, array, span);
    return after ? view_of(r, here, after, span) : NULL;
}

Core *in_innermost(Runner *r, Strategy s, const Here *here, Span span)
{
    int at = layout_of(here->term);
    Core *after = at < 0 ? NULL : in_innermost(r, s, here_child(r->ctx, here, at), span);
    if (after)
        return view_of(r, here, after, span);
    return r->mistake ? NULL : run_strategy(r, s, here);
}

/* ---- kernels ----------------------------------------------------------------------------------- */

typedef struct Stages {
    Runner *r;
    Strategy stage, result;
    Span span;
    CoreLaunch given; /* what the entry says of the first launch that there is */
    bool begun;       /* the term that was looked at last is branches, each of which begins again */
} Stages;

/* A value that is stored as an array of one, as that; NULL: it is not. */
Core *as_array(Ctx *ctx, Core *term)
{
    if (term->kind == CORE_PRIM && term->prim.id == P_single)
        return term->prim.args[0];
    bool next = term->kind == CORE_PRIM && term->prim.id == P_nextKernel;
    int first = term->kind == CORE_IF || term->kind == CORE_LET;
    int end = term->kind == CORE_IF ? 3 : term->kind == CORE_LET ? 2 : next || term->kind == CORE_LAMBDA;
    Core *array = NULL;
    for (int i = first; i < end; i++) {
        Core *part = as_array(ctx, term_child(term, i));
        if (!part)
            return NULL;
        term = array = term_with_child(ctx, term, i, part);
        array->type = part->type;
    }
    return array;
}

void take_launch(const Ctx *ctx, Core *begins, const CoreLaunch *launch)
{
    PrimOptions *options = &begins->prim.options;
    options->blocks = launch->blocks;
    options->threads = launch->threads;
    options->min_blocks = launch->min_blocks;
    options->launch_chosen = !span_is_users(ctx, launch->threads_span);
}

/* `let xs = value in rest` as value |> nextKernel(fun xs => rest), which has this launch. */
Core *next_kernel(Runner *r, const Core *let, CoreLaunch launch)
{
    Ctx *ctx = r->ctx;
    Core *f = NEW(ctx, Core), *next = NEW(ctx, Core), *value = let->let.value, *rest = let->let.body;
    CoreVar *param = let->let.var;
    Core *array = value->type->kind == TY_ARRAY ? NULL : as_array(ctx, value);
    if (array) {
        CoreVar *cells = make_var(ctx, &r->next_var, param->name, array->type, param->span);
        Core *first = make_index(ctx, make_ref(ctx, cells, param->span), nat_const(ctx, 0), param->span);
        rest = rule_substitute(ctx, r->program, rest, param, first, &r->next_var);
        value = array;
        param = cells;
    }
    *f = (Core){.kind = CORE_LAMBDA, .span = rest->span, .users = rest->users, .type = rest->type};
    f->lambda.n = 1;
    f->lambda.params = NEW(ctx, CoreVar *);
    f->lambda.params[0] = param;
    f->lambda.body = rest;
    f->height = rest->height + 1;
    *next = (Core){.kind = CORE_PRIM, .span = let->span, .users = let->users, .type = let->type};
    next->prim.id = P_nextKernel;
    next->prim.n_args = 2;
    next->prim.args = NEWN(ctx, Core *, 2);
    next->prim.args[0] = f;
    next->prim.args[1] = value;
    take_launch(ctx, next, &launch);
    next->height = 1 + (f->height > value->height ? f->height : value->height);
    return next;
}

/* A strategy at a stage, which has a launch of its own. */
static Core *run_stage(Stages *s, Strategy strategy, const Here *here)
{
    Runner *r = s->r;
    const Here *outer = r->stage;
    r->stage = here;
    r->entry->launch = s->given;
    s->given = (CoreLaunch){0};
    r->tried = 0;
    Core *after = run_strategy(r, strategy, here);
    r->stage = outer;
    return after;
}

/* A fold and what is made of it alone, which the kernel that folds gives. */
static bool is_fold_then(const Core *term)
{
    return term->kind == CORE_LET && term->let.value->kind == CORE_PRIM && term->let.value->prim.id == P_reduce &&
           term_is_elementwise(term->let.body) && !type_gives_arrays(term->type);
}

static Core *run_stages(Stages *s, const Here *here);

/* A sequence of launches: what it starts with and its step have stages of their own. */
static Core *run_repeated(Stages *s, const Here *here)
{
    Runner *r = s->r;
    Ctx *ctx = r->ctx;
    Core *start = run_stage(s, s->stage, here_child(ctx, here, 1));
    if (!start)
        return NULL;
    CoreLaunch launch = r->entry->launch;
    here = here_as(ctx, here, term_with_child(ctx, here->term, 1, start));
    const Here *f = here_child(ctx, here, 0);
    Stages inner = *s;
    inner.result = s->stage;
    Core *step = run_stages(&inner, here_child(ctx, f, 0));
    if (!step)
        return NULL;
    Core *repeated = term_with_child(ctx, here->term, 0, term_with_child(ctx, f->term, 0, step));
    Core *new = launch_repeated(r, s->span, here_as(ctx, here, repeated), r->entry->launch);
    r->entry->launch = launch;
    return new;
}

/* What is stored: a stage, or launches that repeat; where sizes choose between them, both. */
static Core *run_value(Stages *s, const Here *here)
{
    Ctx *ctx = s->r->ctx;
    const Core *term = here->term;
    if (term->kind == CORE_PRIM && term->prim.id == P_repeatKernels)
        return run_repeated(s, here);
    if (!term_repeat(term))
        return run_stage(s, s->stage, here);
    for (int i = 1; i <= 2; i++) {
        Core *branch = run_value(s, here_child(ctx, here, i));
        if (!branch)
            return NULL;
        here = here_as(ctx, here, term_with_child(ctx, here->term, i, branch));
    }
    return here->term;
}

/* Branches by sizes have stages of their own: lists of arrays, and folds of all, which each have a launch of their own. */
static bool has_stages(const Core *term)
{
    if (term->kind == CORE_IF)
        return has_stages(term->cond.then) || has_stages(term->cond.otherwise);
    return term->kind == CORE_LET || term_is(term, P_reduce);
}

static bool same_launch(const CoreLaunch *a, const CoreLaunch *b)
{
    return a->blocks == b->blocks && a->threads == b->threads && a->min_blocks == b->min_blocks;
}

Core *begin_again(Runner *r, Span span, const Here *here, CoreLaunch launch)
{
    Ctx *ctx = r->ctx;
    Type type = type_scalar(ctx, SC_I32);
    Core *nothing = make_int(ctx, 0, here->term->span);
    nothing->users = here->term->users;
    CoreVar *param = make_var(ctx, &r->next_var, "_", type, here->term->span);
    Core *behind = next_kernel(r, make_let(ctx, param, nothing, here->term), launch);
    return strategy_step(r, launch_text(ctx, "beginAgain", &launch), NULL, here, behind, span);
}

/* Of two lists by sizes, each has its own stages, and its first kernel its own launch. */
static Core *run_branches(Stages *s, const Here *here)
{
    Runner *r = s->r;
    const CoreLaunch given = s->given;
    CoreLaunch launches[2];
    bool begun[2];
    for (int i = 0; i < 2; i++) {
        s->given = given;
        s->begun = false;
        Core *branch = run_stages(s, here_child(r->ctx, here, i + 1));
        if (!branch)
            return NULL;
        launches[i] = r->entry->launch;
        begun[i] = s->begun;
        here = here_as(r->ctx, here, term_with_child(r->ctx, here->term, i + 1, branch));
    }
    s->begun = begun[0] || begun[1] || !same_launch(&launches[0], &launches[1]);
    for (int i = 0; i < 2 && s->begun; i++) {
        if (begun[i]) /* all of its own branches do */
            continue;
        Core *branch = begin_again(r, s->span, here_child(r->ctx, here, i + 1), launches[i]);
        if (!branch)
            return NULL;
        r->entry->launch = (CoreLaunch){0};
        here = here_as(r->ctx, here, term_with_child(r->ctx, here->term, i + 1, branch));
    }
    return here->term;
}

/* Each array is stored by kernels of its own, and the rest is what comes next. */
static Core *run_stages(Stages *s, const Here *here)
{
    Runner *r = s->r;
    Ctx *ctx = r->ctx;
    if (here->term->kind == CORE_IF && has_stages(here->term))
        return run_branches(s, here);
    if (here->term->kind != CORE_LET || is_fold_then(here->term))
        return run_stage(s, s->result, here);
    Core *value = run_value(s, here_child(ctx, here, 0));
    if (!value)
        return NULL;
    CoreLaunch launch = r->entry->launch;
    here = here_as(ctx, here, term_with_child(ctx, here->term, 0, value));
    Core *rest = run_stages(s, here_child(ctx, here, 1));
    if (!rest)
        return NULL;
    here = here_as(ctx, here, term_with_child(ctx, here->term, 1, rest));
    Core *next = stage_to_kernel(r, s->span, here, r->entry->launch);
    r->entry->launch = launch;
    s->begun = false;
    return next;
}

Core *stages_to_kernels(Runner *r, Strategy stage, Strategy result, Span span, const Here *here)
{
    CoreEntry entry;
    Stages s = {r, stage, result, span, r->entry->launch, false};
    if (!whole_entry(r, "stages", span, here, &entry))
        return NULL;
    const CoreLaunch before = r->entry->launch;
    Core *body = run_stages(&s, here);
    return body ? launch_entry(r, span, here_as(r->ctx, here, body), &before) : NULL;
}
