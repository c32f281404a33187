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

/* What is in scope at a place, beside the inputs. */
static void add_names(Ctx *ctx, CoreEntry *entry, const Here *here)
{
    VEC(CoreVar *) vars = {0};
    for (; here->up; here = here->up) {
        const Core *around = here->up->term;
        if (around->kind == CORE_LET && here->child == 1)
            vec_push(ctx, &vars, around->let.var);
        for (int i = 0; around->kind == CORE_LAMBDA && i < around->lambda.n; i++)
            vec_push(ctx, &vars, around->lambda.params[i]);
    }
    CoreVar **inputs = NEWN(ctx, CoreVar *, entry->n_inputs + vars.n + 1);
    for (int i = 0; i < entry->n_inputs; i++)
        inputs[i] = entry->inputs[i];
    entry->n_names = vars.n;
    while (vars.n)
        inputs[entry->n_inputs++] = vars.at[--vars.n];
    entry->inputs = inputs;
}

/* The stage by itself, as the body of an entry. */
static void set_stage(Ctx *ctx, CoreEntry *entry, const Here *here)
{
    Core *array = as_array(ctx, here->term);
    entry->body = array ? array : here->term;
    entry->result = entry->body->type;
    entry->known = here->facts;
    add_names(ctx, entry, here);
}

Core *lowers(Runner *r, Span span, const Here *here)
{
    bool stage = r->stage && here->up == r->stage->up && here->child == r->stage->child;
    if (here->up && !stage)
        return strategy_mistake(r, E0804, span, "`lowers` is about the whole entry, and stands at no place in it", NULL);
    CoreEntry entry = *r->entry;
    entry.body = here->term;
    entry.num_sm = r->num_sm;
    entry.max_resident = r->max_resident;
    if (here->up)
        set_stage(r->ctx, &entry, here);
    return lower_rewritten(r->ctx, &entry) ? here->term : strategy_fail(r, span, "lowers", here, "no kernels can be made of it");
}

/* `word[threads = 256, ...]`: what it says is set, and added to the text. False, and reported, where it is no launch. */
static bool read_launch(Runner *r, const SCall *call, const SEnv *env, CoreLaunch *launch, StrBuf *text)
{
    for (int i = 0; i < call->n; i++) {
        const char *name = call->names && call->names[i] ? call->names[i] : "";
        Nat *at = strcmp(name, "blocks") == 0 ? &launch->blocks : strcmp(name, "threads") == 0 ? &launch->threads : strcmp(name, "minBlocks") == 0 ? &launch->min_blocks : NULL;
        if (!at) {
            strategy_mistake(r, E0804, call->args[i]->span, ctx_printf(r->ctx, "`%s` takes blocks, threads, minBlocks, as in `%s[threads = 256]`", call->name, call->name), NULL);
            return false;
        }
        *at = size_of(r, call->args[i], env);
        if (!*at)
            return false;
        if (at == &launch->min_blocks && !launch_has_min_blocks(*at)) {
            strategy_mistake(r, E0804, call->args[i]->span, ctx_printf(r->ctx, MIN_BLOCKS_FAULT, nat_text(r->ctx, *at)), NULL);
            return false;
        }
        launch->threads_span = call->span;
        sb_printf(text, "%s%s = %s", i ? ", " : "[", name, nat_text(r->ctx, *at));
    }
    sb_puts(text, call->n ? "]" : "");
    return true;
}

static Core *launch_step(Runner *r, const char *text, const Here *here, Span span)
{
    Core *same = strategy_step(r, text, NULL, here, here->term, span);
    if (same)
        r->out->steps.at[r->out->steps.n - 1].place = LAUNCH_PLACE;
    return same;
}

/* The launch is no part of the body, so the step has the same term before and after. That of a stage is told of where it becomes a kernel. */
Core *set_launch(Runner *r, const SCall *call, const SEnv *env, const Here *here)
{
    StrBuf text;
    sb_init(&text, r->ctx);
    sb_puts(&text, "launch");
    if (here->up && !r->stage)
        return strategy_mistake(r, E0804, call->span, "`launch` is about the whole entry, and stands at no place in it", NULL);
    if (!read_launch(r, call, env, &r->entry->launch, &text))
        return NULL;
    return r->stage ? here->term : launch_step(r, text.text, here, call->span);
}

const char *launch_text(Ctx *ctx, const char *word, const CoreLaunch *launch)
{
    const char *names[] = {"blocks", "threads", "minBlocks"};
    const Nat given[] = {launch->blocks, launch->threads, launch->min_blocks};
    StrBuf text;
    sb_init(&text, ctx);
    sb_puts(&text, word);
    const char *before = "[";
    for (int i = 0; i < 3; i++)
        if (given[i]) {
            sb_printf(&text, "%s%s = %s", before, names[i], nat_text(ctx, given[i]));
            before = ", ";
        }
    sb_puts(&text, *before == ',' ? "]" : "");
    return text.text;
}

Core *launch_entry(Runner *r, Span span, const Here *here, const CoreLaunch *before)
{
    const CoreLaunch *now = &r->entry->launch;
    bool same = now->blocks == before->blocks && now->threads == before->threads && now->min_blocks == before->min_blocks;
    return same ? here->term : launch_step(r, launch_text(r->ctx, "launch", now), here, span);
}

Core *stage_to_kernel(Runner *r, Span span, const Here *here, CoreLaunch launch)
{
    if (here->term->kind != CORE_LET)
        return strategy_fail(r, span, "stageToKernel", here, "it is no `let`");
    return strategy_step(r, launch_text(r->ctx, "stageToKernel", &launch), NULL, here, next_kernel(r, here->term, launch), span);
}

Core *launch_repeated(Runner *r, Span span, const Here *here, CoreLaunch launch)
{
    if (here->term->kind != CORE_PRIM || here->term->prim.id != P_repeatKernels)
        return strategy_fail(r, span, "launchRepeated", here, "it is no repeatKernels");
    Core *new = term_copy(r->ctx, here->term);
    take_launch(r->ctx, new, &launch);
    return strategy_step(r, launch_text(r->ctx, "launchRepeated", &launch), NULL, here, new, span);
}

Core *launched(Runner *r, const SCall *call, const SEnv *env, const Here *here, LaunchedStep *step)
{
    StrBuf text;
    CoreLaunch launch = {0};
    sb_init(&text, r->ctx);
    return read_launch(r, call, env, &launch, &text) ? step(r, call->span, here, launch) : NULL;
}
