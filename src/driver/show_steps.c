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

typedef struct Lines {
    VEC(const char *) at;
} Lines;

static Lines lines_of(Ctx *ctx, const Core *term, void (*print)(StrBuf *out, const Core *term))
{
    Lines lines = {0};
    StrBuf text;
    sb_init(&text, ctx);
    print(&text, term);
    for (const char *at = text.text; *at; at += *at == '\n') {
        size_t n = strcspn(at, "\n");
        vec_push(ctx, &lines.at, intern(ctx, at, n));
        at += n;
    }
    return lines;
}

/* Lines from `from` to before `to`, each behind the mark; no more than SHOWN_LINES of them. */
static void put_lines(StrBuf *out, const char *mark, const Lines *lines, int from, int to)
{
    int shown = to - from > SHOWN_LINES + 2 ? SHOWN_LINES : to - from; /* the line that says so would take as much room */
    for (int i = from; i < from + shown; i++)
        sb_printf(out, "%s%s\n", mark, lines->at.at[i]);
    if (from + shown < to)
        sb_printf(out, "      ... (%d more lines)\n", to - from - shown);
}

/* What both have around the change: the nearest lines. */
static void put_context(StrBuf *out, const Lines *lines, int from, int to, bool before)
{
    enum { CONTEXT = 4 };
    bool cut = to - from > CONTEXT + 1;
    if (cut && before) {
        sb_puts(out, "      ...\n");
        from = to - CONTEXT;
    }
    put_lines(out, "      ", lines, from, cut ? from + CONTEXT : to);
    if (cut && !before)
        sb_puts(out, "      ...\n");
}

/* A change: each term on a line where both fit on one, else line by line, those that are new or gone with their marks. */
static void put_change(Ctx *ctx, StrBuf *out, const Core *before, const Core *after)
{
    Lines a = lines_of(ctx, before, core_print), b = lines_of(ctx, after, core_print);
    int head = 0, tail = 0;
    if (a.at.n > 1 || b.at.n > 1) {
        a = lines_of(ctx, before, core_print_lines);
        b = lines_of(ctx, after, core_print_lines);
        while (head < a.at.n && head < b.at.n && a.at.at[head] == b.at.at[head])
            head++;
        while (tail < a.at.n - head && tail < b.at.n - head && a.at.at[a.at.n - 1 - tail] == b.at.at[b.at.n - 1 - tail])
            tail++;
    }
    put_context(out, &a, 0, head, true);
    put_lines(out, "  -   ", &a, head, a.at.n - tail);
    put_lines(out, "  +   ", &b, head, b.at.n - tail);
    put_context(out, &a, a.at.n - tail, a.at.n, false);
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

static void put_law(StrBuf *out, const Item *rule, const char *given)
{
    sb_printf(out, given[0] ? "  -- law, for %s: " : "  -- law: ", given);
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
        put_law(out, s->law, s->given);
    } else {
        put_doc(out, rules_word_doc(s->rule));
    }
    put_change(ctx, out, s->before, s->after);
}

void show_trace(Ctx *ctx, StrBuf *out, const CoreEntry *entry, const Rewriting *r, StepsKnown known)
{
    if (r->steps.n)
        sb_puts(out, "-- Each step replaces a term (-) by another one that means the same (+).\n\n");
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
    if (v->not_judged)
        sb_printf(out, "; %d times a step was not judged, as the program takes too long", v->not_judged);
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

static void put_json_step(Ctx *ctx, StrBuf *out, RewriteStep *s)
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
    put_json_core(ctx, out, "body", step_body(ctx, s));
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
        sb_printf(out, "], \"rounded\": %s, \"notJudged\": %d},\n ", known.verified->rounded ? "true" : "false", known.verified->not_judged);
    }
    StrBuf sb;
    sb_init(&sb, ctx);
    core_print_entry(&sb, lowered);
    sb_puts(out, "\"program\": ");
    sb_put_json(out, sb.text);
    sb_puts(out, "}\n");
}
