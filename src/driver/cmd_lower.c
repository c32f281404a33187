/* `risec lower`: the program that a strategy makes of a high-level one, and the steps between. */
#include "driver/plan.h"
#include "driver/private_warnings.h"
#include "driver/slow_warnings.h"
#include "driver/steps.h"
#include "ir/terms.h"
#include "rewrite/laws.h"

const Ast *driver_strategy(Ctx *ctx, Driver *d, OptId option, const char *text)
{
    const char *name = ctx_printf(ctx, "--%s", option_rows[option].name);
    StrBuf sb;
    sb_init(&sb, ctx);
    sb_printf(&sb, "strategy given = %s", text);
    const AstFile *file = parse_file(ctx, source_add(ctx, name, sb.text, sb.len));
    const Item *item = file->items.n == 1 ? file->items.at[0] : NULL;
    if (!driver_no_errors(ctx, d))
        return NULL;
    if (!item || item->kind != ITEM_STRATEGY || !item->body || item->body->kind == AST_ERROR) {
        driver_usage(ctx, d, E0621, "`%s`: `%s` is no strategy, as in `fuse ; reduceSplit(256) at reduce`", name, text);
        return NULL;
    }
    return item->body;
}

/* By --replay, --strategy, or the entry's own strategy; not where an operator breaks a law that steps may use, as nothing is compiled then. */
static bool rewrite(Ctx *ctx, Driver *d, const CoreEntry *entry, Rewriting *r)
{
    const char *text = option_text(d->line, OPT_STRATEGY), *trace = option_text(d->line, OPT_REPLAY);
    int most = (int)option_number(d->line, OPT_STEP, -1);
    if (text && trace) {
        driver_usage(ctx, d, E0621, "`--replay` makes the steps of a trace again, so there is no `--strategy`");
        return false;
    }
    if (!laws_allow(ctx, entry)) {
        driver_fail(d, STATUS_PROGRAM);
        return false;
    }
    if (trace)
        return replay_steps(ctx, d, trace, entry, most, r);
    const Ast *strategy = text ? driver_strategy(ctx, d, OPT_STRATEGY, text) : NULL;
    if (text && !strategy)
        return false;
    bool good = strategy ? rewrite_entry(ctx, entry, strategy, 0, NULL, most, r) : rewrite_by_its_own(ctx, entry, most, r);
    if (!good)
        driver_fail(d, STATUS_PROGRAM);
    return good;
}

typedef struct Left { /* a pattern without a level */
    const Core *term;
    PrimId inside; /* the level around it; P_COUNT: none */
} Left;

static bool find_left(const Core *term, PrimId inside, Left *left)
{
    PrimId id = term->kind == CORE_PRIM ? term->prim.id : P_COUNT;
    PrimLevel level = id == P_COUNT ? LEVEL_VIEW : prim_rows[id].level;
    bool own = level >= LEVEL_GRID && level <= LEVEL_LANE && prim_takes_elements(id);
    if (level == LEVEL_HIGH) {
        *left = (Left){term, inside};
        return true;
    }
    for (int i = 0; i < term_children(term); i++)
        if (find_left(term_child(term, i), own ? id : inside, left))
            return true;
    return false;
}

/* By a rule of rules.lowering; NULL: no single one does it. */
static const char *step_for(Ctx *ctx, const Left *left)
{
    PrimId id = left->term->prim.id, in = left->inside;
    const char *name = prim_name(id), *level = in == P_mapBlock  ? "Threads"
                                               : in == P_mapWarp ? "Lane"
                                               : in == P_COUNT   ? "Global"
                                                                 : "Seq";
    if (id != P_map && id != P_reduce)
        return NULL;
    const char *rule = id == P_reduce ? "reduceToSeq" : ctx_printf(ctx, "mapTo%s", level);
    return ctx_printf(ctx, in == P_COUNT ? "%s at %s" : "%s at %s inside %s", rule, name,
                      in == P_COUNT ? "" : prim_name(in));
}

/* What --strategy makes is printed, whether it can be compiled or not: what is missing is a note
 * then. */
static void warn_not_lowered(Ctx *ctx, const Rewriting *r)
{
    const Diags said = ctx->diags;
    ctx->diags = (Diags){0};
    const CoreEntry *made = steps_as_it_stands(ctx, r->entry, r->entry->body, r->entry->launch);
    const ImpProgram *imp = lower_entry(ctx, made, (LowerPass)(PASS_COUNT - 1));
    const Diag *why = !imp && ctx->diags.list.n ? ctx->diags.list.at[0] : NULL;
    ctx->diags = said;
    if (!why)
        return;
    Left left;
    bool without_level = why->code == E0410 || why->code == E0501;
    if (!without_level || !find_left(r->entry->body, P_COUNT, &left)) {
        diag_warning(ctx, W0718, why->span, "what the strategy makes does not compile: %s (%s)",
                     why->message, diag_code_name(why->code));
        return;
    }
    const char *step = step_for(ctx, &left);
    Span span = span_is_users(ctx, left.term->span) ? left.term->span : r->entry->name_span;
    Diag *diag = diag_warning(ctx, W0718, span,
                              "the strategy leaves this `%s`, so what it makes does not compile",
                              prim_name(left.term->prim.id));
    if (step)
        diag_help(ctx, diag, "a step is missing, as `; %s`", step);
}

void cmd_lower(Ctx *ctx, Driver *d)
{
    CoreEntry *entry;
    Rewriting r = {0};
    StepsVerified verified;
    StepsCounted counted;
    StepsKnown known = {0};
    if (!driver_entry(ctx, d, NULL, &entry))
        return;
    bool trace = option_on(d->line, OPT_TRACE), json = option_on(d->line, OPT_JSON), profile = option_on(d->line, OPT_PROFILE);
    const char *save = option_text(d->line, OPT_SAVE);
    if (profile && !trace && !json) {
        driver_usage(ctx, d, E0621, "`--profile` counts what each step changes, so it goes with `--trace` or `--json`");
        return;
    }
    bool good = rewrite(ctx, d, entry, &r);
    if (!good && !(trace && r.steps.n))
        return;
    /* The steps until one fails are shown, and looked at, too. */
    if (option_on(d->line, OPT_VERIFY_EACH)) {
        bool same = verify_steps(ctx, d, entry, &r, &verified);
        known.verified = same ? &verified : NULL;
        good = good && same;
        if (!good && !trace)
            return;
    }
    if (profile && count_steps(ctx, d, entry, &r, &counted))
        known.counted = &counted;
    if (good && save && !save_steps(ctx, d, save, entry, &r))
        return;
    StrBuf out;
    sb_init(&out, ctx);
    if (option_on(d->line, OPT_PLAN)) {
        const Plan *plan = good ? driver_plan(ctx, d, entry, &r) : NULL;
        if (plan)
            (json ? plan_json : plan_text)(&out, plan);
        if (plan)
            driver_write(ctx, d, "-", out.text, out.len);
        if (plan)
            warn_private(ctx, entry, plan->program, plan->at);
        if (plan && entry_is_high(entry))
            warn_slow_walks(ctx, entry, plan->program);
        if (plan && entry_is_high(entry))
            warn_stored(ctx, plan->program, plan->at);
        if (plan && plan->scheduled)
            warn_few_blocks(ctx, plan);
        return;
    }
    if (trace && !json)
        show_trace(ctx, &out, entry, &r, known);
    if (good && json) {
        show_json(ctx, &out, &r, r.entry, known);
    } else if (good) {
        if (trace)
            sb_printf(&out, "\n-- lowered, in %d step%s:\n", r.steps.n, r.steps.n == 1 ? "" : "s");
        core_print_entry(&out, r.entry);
        if (known.verified) {
            sb_puts(&out, "-- each step gives what the program before it gives");
            sb_puts(&out, verified.rounded ? ", within rounding, at " : " at ");
            show_verified(&out, entry, &verified);
            sb_putc(&out, '\n');
        }
    }
    driver_write(ctx, d, "-", out.text, out.len);
    if (good && option_on(d->line, OPT_STRATEGY) && !option_on(d->line, OPT_STEP))
        warn_not_lowered(ctx, &r);
}
