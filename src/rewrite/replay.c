/* Steps that were made before, made again. */
#include "rewrite/runner.h"

enum { SHOWN = 400 }; /* of a term in a message */

static const char *core_text(Ctx *ctx, const Core *term)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    core_print(&sb, term);
    return sb.text;
}

static const char *shortened(Ctx *ctx, const char *text) { return strlen(text) <= SHOWN ? text : ctx_printf(ctx, "%.*s ...", SHOWN, text); }

/* `why` without what was and what is there, which the help says. */
static bool misfit(Runner *r, int number, const ReplayStep *s, const Here *here, const char *why)
{
    Diag *d = diag_error(r->ctx, E0807, s->span, "step %d, `%s` at `%s`, does not fit any more: %s", number, s->rule, s->place, why);
    const char *there = here ? core_text(r->ctx, here->term) : NULL;
    if (here && strcmp(there, s->before) == 0)
        diag_help(r->ctx, d, "the term there is the one that it was: `%s`", shortened(r->ctx, there));
    else if (here)
        diag_help(r->ctx, d, "expected there: `%s`; there is: `%s`", shortened(r->ctx, s->before), shortened(r->ctx, there));
    return false;
}

/* The strategy that the text of a rule is; NULL, and reported, where it is none. */
static const Ast *parsed_rule(Runner *r, int number, const ReplayStep *s)
{
    StrBuf sb;
    sb_init(&sb, r->ctx);
    sb_printf(&sb, "strategy step = %s", s->rule);
    int before = r->ctx->diags.list.n, errors = r->ctx->diags.errors;
    const AstFile *file = parse_file(r->ctx, source_add(r->ctx, "step", sb.text, sb.len));
    const Item *item = file->items.n == 1 ? file->items.at[0] : NULL;
    r->ctx->diags.list.n = before;
    r->ctx->diags.errors = errors;
    if (item && item->kind == ITEM_STRATEGY && item->body && item->body->kind != AST_ERROR)
        return item->body;
    misfit(r, number, s, NULL, "this is no rule");
    return NULL;
}

/* The place of a step in what has become of the body; NULL, and reported, where there is none. */
static const Here *find_place(Runner *r, int number, const ReplayStep *s, const Here *here)
{
    for (int k = 0; k < s->depth; k++) {
        if (s->path[k] < 0 || s->path[k] >= term_children(here->term)) {
            misfit(r, number, s, here, "there is no such place");
            return NULL;
        }
        here = here_child(r->ctx, here, s->path[k]);
    }
    const char *place = here_text(r->ctx, here);
    if (strcmp(place, s->place) == 0 || (s->depth == 0 && strcmp(s->place, LAUNCH_PLACE) == 0))
        return here;
    misfit(r, number, s, here, ctx_printf(r->ctx, "`%s` stands there", place));
    return NULL;
}

/* What a strategy that fails has reported as an error of its own is told in ours. */
static const char *taken_back(Runner *r, int before, int errors)
{
    Diags *all = &r->ctx->diags;
    const char *why = all->list.n > before ? all->list.at[before]->message : NULL;
    all->list.n = before;
    all->errors = errors;
    return why ? why : r->fail_why;
}

static Core *replay_one(Runner *r, int number, const ReplayStep *s, Core *body, const NatFacts *known)
{
    Ctx *ctx = r->ctx;
    const Ast *ast = parsed_rule(r, number, s);
    const char *home = s->home;
    if (!ast)
        return NULL;
    const Here *root = NEW(ctx, Here);
    *(Here *)root = (Here){.term = body, .facts = nat_facts_new(ctx, (NatFacts *)known)};
    const Here *here = find_place(r, number, s, root);
    if (!here)
        return NULL;
    int n = r->out->steps.n, before = ctx->diags.list.n, errors = ctx->diags.errors;
    if (home && !strstr(home, ".rise"))
        home = program_module(ctx, r->program, home);
    Core *after = home || !s->home ? run_strategy(r, (Strategy){ast, NULL, home ? home : program_path(r->program)}, here) : NULL;
    if (!after) {
        misfit(r, number, s, here, taken_back(r, before, errors));
        return NULL;
    }
    if (strcmp(core_text(ctx, here->term), s->before) == 0 && strcmp(core_text(ctx, after), s->after) != 0) {
        Diag *d = diag_error(ctx, E0807, s->span, "step %d, `%s` at `%s`, does not fit any more: the rule is another one now", number, s->rule, s->place);
        diag_help(ctx, d, "expected of it: `%s`; it gives: `%s`", shortened(ctx, s->after), shortened(ctx, core_text(ctx, after)));
        return NULL;
    }
    if (r->out->steps.n > n)
        r->out->steps.at[n].span = s->span;
    return here_plug(ctx, here, after);
}

bool rewrite_replay(Ctx *ctx, const CoreEntry *entry, int n, const ReplayStep *steps, int most, Rewriting *out)
{
    Runner *r = runner_new(ctx, entry, most, out);
    Core *body = entry->body;
    for (int i = 0; i < n && !r->stopped; i++) {
        body = replay_one(r, i + 1, &steps[i], body, entry->known);
        if (!body)
            return false;
    }
    runner_finish(r, body);
    return true;
}
