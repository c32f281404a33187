/* `risec lower`: the program that a strategy makes of a high-level one, and the steps between. */
#include "driver/driver.h"
#include "rewrite/rewrite.h"

/* The strategy on the command line, parsed as the body of one in a file of its own; names in it are looked up in the program's file. */
static const Ast *given_strategy(Ctx *ctx, Driver *d, const char *text)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    sb_printf(&sb, "strategy given = %s", text);
    const AstFile *file = parse_file(ctx, source_add(ctx, "--strategy", sb.text, sb.len));
    const Item *item = file->items.n == 1 ? file->items.at[0] : NULL;
    if (!driver_no_errors(ctx, d))
        return NULL;
    if (!item || item->kind != ITEM_STRATEGY || !item->body || item->body->kind == AST_ERROR) {
        driver_usage(ctx, d, E0621, "`--strategy` is one strategy, as in `fuse ; reduceSplit(256) at reduce`");
        return NULL;
    }
    return item->body;
}

static void put_law(StrBuf *out, const Item *rule)
{
    if (!rule)
        return;
    sb_puts(out, "  -- ");
    ast_print_equation(out, rule->body);
}

static void put_trace(StrBuf *out, const CoreEntry *entry, const Rewriting *r)
{
    sb_puts(out, "-- 0. as written:\n");
    core_print_entry(out, entry);
    for (int i = 0; i < r->steps.n; i++) {
        const RewriteStep *s = &r->steps.at[i];
        sb_printf(out, "\n-- %d. %s at %s\n", i + 1, s->rule, s->place);
        put_law(out, s->law);
        sb_puts(out, s->law ? "\n" : "");
        sb_puts(out, "  -   ");
        core_print(out, s->before);
        sb_puts(out, "\n  +   ");
        core_print(out, s->after);
        sb_putc(out, '\n');
    }
    sb_printf(out, "\n-- lowered, in %d step%s:\n", r->steps.n, r->steps.n == 1 ? "" : "s");
}

static void put_json_text(StrBuf *out, const char *text)
{
    sb_putc(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            sb_printf(out, "\\%c", *text);
        else if ((unsigned char)*text < 32)
            sb_printf(out, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            sb_putc(out, *text);
    }
    sb_putc(out, '"');
}

static void put_json_core(Ctx *ctx, StrBuf *out, const char *name, const Core *core)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    core_print(&sb, core);
    sb_printf(out, ", \"%s\": ", name);
    put_json_text(out, sb.text);
}

static void put_json(Ctx *ctx, StrBuf *out, const Rewriting *r, const CoreEntry *lowered)
{
    sb_printf(out, "{\"entry\": \"%s\", \"steps\": [", lowered->name);
    for (int i = 0; i < r->steps.n; i++) {
        const RewriteStep *s = &r->steps.at[i];
        sb_puts(out, i ? ",\n  {\"rule\": " : "\n  {\"rule\": ");
        put_json_text(out, s->rule);
        sb_puts(out, ", \"place\": ");
        put_json_text(out, s->place);
        put_json_core(ctx, out, "before", s->before);
        put_json_core(ctx, out, "after", s->after);
        put_json_core(ctx, out, "body", s->body);
        sb_putc(out, '}');
    }
    StrBuf sb;
    sb_init(&sb, ctx);
    core_print_entry(&sb, lowered);
    sb_puts(out, "],\n \"program\": ");
    put_json_text(out, sb.text);
    sb_puts(out, "}\n");
}

void cmd_lower(Ctx *ctx, Driver *d)
{
    CoreEntry *entry;
    if (!driver_entry(ctx, d, NULL, &entry))
        return;
    const char *text = option_text(d->line, OPT_STRATEGY);
    const Ast *strategy = text ? given_strategy(ctx, d, text) : NULL;
    if (text && !strategy)
        return;
    int most = (int)option_number(d->line, OPT_STEP, -1);
    Rewriting r = {0};
    bool good = strategy ? rewrite_entry(ctx, entry, strategy, 0, NULL, most, &r) : rewrite_by_its_own(ctx, entry, most, &r);
    if (!good)
        driver_fail(d, STATUS_PROGRAM);
    StrBuf out;
    sb_init(&out, ctx);
    if (option_on(d->line, OPT_TRACE))
        put_trace(&out, entry, &r);
    if (good && option_on(d->line, OPT_JSON))
        put_json(ctx, &out, &r, r.entry);
    else if (good)
        core_print_entry(&out, r.entry);
    driver_write(ctx, d, "-", out.text, out.len);
}
