/* `risec lower`: the program that a strategy makes of a high-level one, and the steps between. */
#include "driver/plan.h"
#include "driver/slow_warnings.h"
#include "driver/steps.h"
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
        if (plan && entry_is_high(entry))
            warn_slow_walks(ctx, entry, &r);
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
}
