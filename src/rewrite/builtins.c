/* The rules that no equation can say. */
#include "rewrite/runner.h"
#include "codegen/lower.h"

Core *inline_let(Runner *r, Span span, const Here *here)
{
    Core *let = here->term;
    if (let->kind != CORE_LET)
        return strategy_fail(r, span, "inlineLet", here, "it is no `let`");
    if (rule_uses(let->let.body, let->let.var) > 1 && !rule_is_view(r->ctx, r->program, let->let.value))
        return strategy_fail(r, span, "inlineLet", here, ctx_printf(r->ctx, "`%s` is used more than once, and would be computed as often", let->let.var->name));
    if (let->let.var->nat && let->let.value->kind != CORE_VAR)
        return strategy_fail(r, span, "inlineLet", here, "an index has to be a variable");
    return strategy_step(r, "inlineLet", NULL, here, rule_substitute(r->ctx, r->program, let->let.body, let->let.var, let->let.value, &r->next_var), span);
}

Core *let_of_let(Runner *r, Span span, const Here *here)
{
    Core *outer = here->term, *inner = outer->kind == CORE_LET ? outer->let.value : NULL;
    if (!inner || inner->kind != CORE_LET)
        return strategy_fail(r, span, "letOfLet", here, "it is no `let` whose value has a `let`");
    Core *after = term_with_child(r->ctx, inner, 1, term_with_child(r->ctx, outer, 0, inner->let.body));
    after->type = outer->type;
    return strategy_step(r, "letOfLet", NULL, here, after, span);
}

/* The first reduction in reading order that stands in no function. */
static const Here *find_reduce(Runner *r, const Here *here)
{
    if (here->term->kind == CORE_LAMBDA || here->term->kind == CORE_LET || here->term->kind == CORE_IF)
        return NULL;
    if (here->term->kind == CORE_PRIM && here->term->prim.id == P_reduce)
        return here;
    for (int i = 0; i < term_children(here->term); i++) {
        const Here *found = find_reduce(r, here_child(r->ctx, here, i));
        if (found)
            return found;
    }
    return NULL;
}

Core *named_before(Runner *r, const Here *here, const Here *at)
{
    Ctx *ctx = r->ctx;
    CoreVar *var = NEW(ctx, CoreVar);
    *var = (CoreVar){.id = r->next_var++, .name = "total", .type = at->term->type, .span = at->term->span};
    Core *name = NEW(ctx, Core), *let = NEW(ctx, Core);
    *name = (Core){.kind = CORE_VAR, .span = at->term->span, .type = var->type, .height = 1};
    name->var = var;
    *let = (Core){.kind = CORE_LET, .span = here->term->span, .users = here->term->users, .type = here->term->type};
    let->let.var = var;
    let->let.value = at->term;
    Core *body = name;
    for (const Here *up = at; up != here; up = up->up)
        body = term_with_child(ctx, up->up->term, up->child, body);
    return term_with_child(ctx, let, 1, body);
}

Core *name_reduce(Runner *r, Span span, const Here *here)
{
    const Here *at = find_reduce(r, here);
    if (!at || at == here || here->term->type->kind == TY_ARRAY)
        return strategy_fail(r, span, "nameReduce", here, "it is no scalar that is worked out from a reduction");
    return strategy_step(r, "nameReduce", NULL, here, named_before(r, here, at), span);
}

Core *lowers(Runner *r, Span span, const Here *here)
{
    if (here->up)
        return strategy_mistake(r, E0804, span, "`lowers` is about the whole entry, and stands at no place in it", NULL);
    CoreEntry entry = *r->entry;
    entry.body = here->term;
    entry.num_sm = r->num_sm;
    entry.max_resident = r->max_resident;
    return lower_rewritten(r->ctx, &entry) ? here->term : strategy_fail(r, span, "lowers", here, "no kernels can be made of it");
}

/* The launch is no part of the body, so the step has the same term before and after. */
Core *set_launch(Runner *r, const SCall *call, const SEnv *env, const Here *here)
{
    StrBuf text;
    sb_init(&text, r->ctx);
    sb_puts(&text, "launch");
    if (here->up && !r->stage)
        return strategy_mistake(r, E0804, call->span, "`launch` is about the whole entry, and stands at no place in it", NULL);
    for (int i = 0; i < call->n; i++) {
        const char *name = call->names && call->names[i] ? call->names[i] : "";
        CoreLaunch *launch = &r->entry->launch;
        Nat *at = strcmp(name, "blocks") == 0 ? &launch->blocks : strcmp(name, "threads") == 0 ? &launch->threads : strcmp(name, "minBlocks") == 0 ? &launch->min_blocks : NULL;
        if (!at)
            return strategy_mistake(r, E0804, call->args[i]->span, "`launch` takes blocks, threads, minBlocks, as in `launch[threads = 256]`", NULL);
        *at = size_of(r, call->args[i], env);
        if (!*at)
            return NULL;
        if (at == &launch->min_blocks && !launch_has_min_blocks(*at))
            return strategy_mistake(r, E0804, call->args[i]->span, ctx_printf(r->ctx, MIN_BLOCKS_FAULT, nat_text(r->ctx, *at)), NULL);
        launch->threads_span = call->span;
        sb_printf(&text, "%s%s = %s", i ? ", " : "[", name, nat_text(r->ctx, *at));
    }
    sb_puts(&text, call->n ? "]" : "");
    Core *same = strategy_step(r, text.text, NULL, here, here->term, call->span);
    if (same)
        r->out->steps.at[r->out->steps.n - 1].place = LAUNCH_PLACE;
    return same;
}
