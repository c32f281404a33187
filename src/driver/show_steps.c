/* The steps of a rewriting: for people, and as JSON. */
#include "driver/steps.h"
#include "rewrite/manual.h"

enum { SHOWN_LINES = 16 }; /* of a term in a trace; what is longer is cut */

/* ---- counters ---------------------------------------------------------------------------------------------------------- */

/* What tells lowerings apart; the rest is in `risec run --profile`. */
static const CounterId told[] = {COUNT_kernels, COUNT_blocks, COUNT_threads, COUNT_instructions, COUNT_sectors, COUNT_sectorsPerNeeded,
                                 COUNT_sharedRequests, COUNT_bankConflicts, COUNT_divergentBranches, COUNT_barriers, COUNT_shuffles, COUNT_atomics};
enum { TOLD = sizeof told / sizeof told[0] };

static void put_value(StrBuf *out, double value)
{
    if (value == (double)(long long)value)
        sb_printf(out, "%lld", (long long)value);
    else
        sb_printf(out, "%.2f", value);
}

/* All that are not 0 where there was nothing to compare with; else what has changed. */
static void put_counts(StrBuf *out, const StepsCounted *c, int step)
{
    const StepCounts *now = &c->at[step], *before = NULL;
    if (!now->known)
        return;
    for (int i = step - 1; i >= 0 && !before; i--)
        if (c->at[i].known)
            before = &c->at[i];
    sb_puts(out, before ? "  -- counters:" : "  -- it compiles; counters:");
    int n = 0;
    for (int i = 0; i < TOLD; i++) {
        double value = counter_value(&now->counts, told[i]), was = before ? counter_value(&before->counts, told[i]) : 0;
        if (value == was)
            continue;
        sb_printf(out, "%s %s ", n++ ? "," : "", counter_rows[told[i]].name);
        if (before) {
            put_value(out, was);
            sb_puts(out, " -> ");
        }
        put_value(out, value);
    }
    sb_puts(out, n ? "\n" : before ? " as before\n" : " all 0\n");
}

/* ---- for people -------------------------------------------------------------------------------------------------------- */

/* The term, its lines in one column behind `mark`; no more than SHOWN_LINES of them. */
static void put_term(Ctx *ctx, StrBuf *out, const char *mark, const Core *term)
{
    StrBuf text;
    sb_init(&text, ctx);
    sb_puts(&text, mark);
    core_print(&text, term);
    int lines = 1, more = 0;
    size_t cut = text.len;
    for (size_t i = 0; i < text.len; i++)
        if (text.text[i] == '\n' && lines++ == SHOWN_LINES)
            cut = i;
    more = lines - SHOWN_LINES;
    if (more <= 2) /* the line that says so would take as much room */
        cut = text.len;
    sb_putn(out, text.text, cut);
    sb_putc(out, '\n');
    if (cut < text.len)
        sb_printf(out, "      ... (%d more lines)\n", more);
}

/* What the rule's documentation says, each of its lines behind the mark of a comment. */
static void put_doc(StrBuf *out, const char *doc)
{
    while (doc && *doc) {
        size_t n = strcspn(doc, "\n");
        sb_printf(out, "  -- %.*s\n", (int)n, doc);
        doc += n + (doc[n] == '\n');
    }
}

static void put_law(StrBuf *out, const Item *rule)
{
    sb_puts(out, "  -- law: ");
    ast_print_equation(out, rule->body);
    for (int i = 0; i < rule->n_where; i++) {
        sb_puts(out, i ? ", " : "  where ");
        ast_print(out, rule->where[i]);
    }
    if (rule->level)
        sb_printf(out, "  level %s", rule->level);
    sb_putc(out, '\n');
}

static void put_step(Ctx *ctx, StrBuf *out, int number, const RewriteStep *s)
{
    if (s->before == s->after) {
        sb_printf(out, "\n-- %d. %s\n", number, s->rule);
        return;
    }
    sb_printf(out, "\n-- %d. %s at %s\n", number, s->rule, s->place);
    if (s->law) {
        put_doc(out, s->law->doc);
        put_law(out, s->law);
    } else {
        put_doc(out, rules_word_doc(s->rule));
    }
    put_term(ctx, out, "  -   ", s->before);
    put_term(ctx, out, "  +   ", s->after);
}

void show_trace(Ctx *ctx, StrBuf *out, const CoreEntry *entry, const Rewriting *r, StepsKnown known)
{
    sb_puts(out, "-- 0. as written:\n");
    core_print_entry(out, entry);
    if (known.counted)
        put_counts(out, known.counted, 0);
    for (int i = 0; i < r->steps.n; i++) {
        put_step(ctx, out, i + 1, &r->steps.at[i]);
        if (known.counted)
            put_counts(out, known.counted, i + 1);
    }
    if (known.counted)
        sb_printf(out, "\n-- counted on the simulator at %s; steps without counters do not compile yet\n", known.counted->sizes);
}

void show_verified(StrBuf *out, const CoreEntry *entry, const StepsVerified *v)
{
    for (int i = 0; i < v->n_sizes; i++) {
        sb_printf(out, "%s%s = ", i ? "; " : "", entry->sizes[i]->name);
        for (int k = 0; k < v->n_launches; k++)
            sb_printf(out, "%s%lld", k ? ", " : "", (long long)v->sizes[k][i]);
    }
    sb_printf(out, "%sseed %llu", v->n_sizes ? "; " : "", (unsigned long long)v->seed);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------------- */

static void put_json_core(Ctx *ctx, StrBuf *out, const char *name, const Core *core)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    core_print(&sb, core);
    sb_printf(out, ", \"%s\": ", name);
    sb_put_json(out, sb.text);
}

static void put_json_counts(StrBuf *out, const StepCounts *c)
{
    if (!c->known)
        return;
    sb_puts(out, ", \"counters\": {");
    for (int i = 0; i < TOLD; i++) {
        sb_printf(out, "%s\"%s\": ", i ? ", " : "", counter_rows[told[i]].name);
        put_value(out, counter_value(&c->counts, told[i]));
    }
    sb_putc(out, '}');
}

static void put_json_step(Ctx *ctx, StrBuf *out, const RewriteStep *s)
{
    sb_puts(out, "{\"rule\": ");
    sb_put_json(out, s->rule);
    sb_puts(out, ", \"place\": ");
    sb_put_json(out, s->place);
    if (s->law) {
        StrBuf law;
        sb_init(&law, ctx);
        ast_print_equation(&law, s->law->body);
        sb_puts(out, ", \"law\": ");
        sb_put_json(out, law.text);
    }
    put_json_core(ctx, out, "before", s->before);
    put_json_core(ctx, out, "after", s->after);
    put_json_core(ctx, out, "body", s->body);
}

void show_json(Ctx *ctx, StrBuf *out, const Rewriting *r, const CoreEntry *lowered, StepsKnown known)
{
    sb_printf(out, "{\"entry\": \"%s\", \"steps\": [", lowered->name);
    for (int i = 0; i < r->steps.n; i++) {
        sb_puts(out, i ? ",\n  " : "\n  ");
        put_json_step(ctx, out, &r->steps.at[i]);
        if (known.counted)
            put_json_counts(out, &known.counted->at[i + 1]);
        sb_putc(out, '}');
    }
    sb_puts(out, "],\n ");
    if (known.counted) {
        sb_puts(out, "\"counted\": ");
        sb_put_json(out, known.counted->sizes);
        sb_puts(out, ",\n ");
    }
    if (known.verified) {
        sb_printf(out, "\"verified\": {\"seed\": %llu, \"sizes\": [", (unsigned long long)known.verified->seed);
        for (int k = 0; k < known.verified->n_launches; k++) {
            sb_puts(out, k ? ", {" : "{");
            for (int i = 0; i < known.verified->n_sizes; i++)
                sb_printf(out, "%s\"%s\": %lld", i ? ", " : "", lowered->sizes[i]->name, (long long)known.verified->sizes[k][i]);
            sb_putc(out, '}');
        }
        sb_printf(out, "], \"rounded\": %s},\n ", known.verified->rounded ? "true" : "false");
    }
    StrBuf sb;
    sb_init(&sb, ctx);
    core_print_entry(&sb, lowered);
    sb_puts(out, "\"program\": ");
    sb_put_json(out, sb.text);
    sb_puts(out, "}\n");
}
