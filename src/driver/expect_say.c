/* What is said of a run whose result is not as it should be. */
#include "driver/expect_run.h"
#include "driver/results.h"

const char *expect_input_value(const Run *run, const char *input)
{
    for (int i = 0; i < run->line.given.n; i++) {
        const Given *given = &run->line.given.at[i];
        if (given->id == OPT_ARG && strcmp(given->name, input) == 0)
            return given->value;
    }
    return NULL;
}

const char *expect_input_name(Ctx *ctx, const CoreVar *input, int c)
{
    return type_component_name(ctx, input->name, input->type, c);
}

/* "n = 33, m = 2" */
static const char *sizes_words(const Testing *t, const Run *run)
{
    StrBuf out;
    sb_init(&out, t->ctx);
    for (int i = 0; i < t->entry->n_sizes; i++)
        sb_printf(&out, "%s%s = %lld", i ? ", " : "", t->entry->sizes[i]->name,
                  (long long)run->launch.sizes[i]);
    return out.text;
}

static void put_word(StrBuf *out, const char *text)
{
    bool quote = strpbrk(text, " []*\"") != NULL;
    sb_printf(out, quote ? "'%s'" : "%s", text);
}

/* The command that does this run again, and no other. */
static const char *repeat(const Testing *t, const Run *run)
{
    const CoreEntry *entry = t->entry;
    StrBuf out;
    sb_init(&out, t->ctx);
    sb_puts(&out, "risec test ");
    put_word(&out, t->what->path);
    if (t->clause->span.file == entry->name_span.file)
        sb_printf(&out, " --clause %d", expect_line(t->ctx, t->clause));
    else
        sb_printf(&out, " --entry %s", entry->name);
    for (int i = 0; i < entry->n_tunables; i++)
        for (int k = 0; k < t->n_samples; k++)
            if (strcmp(entry->tunable_names[i], t->samples[k].name) == 0)
                sb_printf(&out, " --set %s=%lld", entry->tunable_names[i],
                          (long long)entry->tunable_values[i]);
    for (int i = 0; i < entry->n_sizes; i++)
        sb_printf(&out, " --set %s=%lld", entry->sizes[i]->name, (long long)run->launch.sizes[i]);
    for (int i = 0; run->kind && i < entry->n_inputs; i++)
        for (int c = 0; c < type_component_count(entry->inputs[i]->type); c++) {
            const char *name = expect_input_name(t->ctx, entry->inputs[i], c);
            if (!expect_input_value(run, name))
                sb_printf(&out, " --arg %s=%s", name, run->kind);
        }
    for (int i = 0; i < t->d->line->given.n; i++) {
        const Given *given = &t->d->line->given.at[i];
        if (given->id != OPT_ARG)
            continue;
        sb_printf(&out, " --arg %s=", given->name);
        put_word(&out, given->value);
    }
    if (run->kind || run->drawn)
        sb_printf(&out, " --seed %lld", (long long)run->seed);
    if (option_text(t->d->line, OPT_DEVICE))
        sb_printf(&out, " --device %s", option_text(t->d->line, OPT_DEVICE));
    return out.text;
}

static const char *against(const Testing *t)
{
    return t->other ? ctx_printf(t->ctx, "`%s` gives", t->other->name) : "should be";
}

typedef struct Element { /* of the first difference */
    const char *at, *got, *want;
} Element;

static Element element_of(Testing *t, const Run *run)
{
    const Judgement *j = &run->judgement;
    const HostBuf *got = &run->launch.results[j->result], *want = &run->want[j->result];
    StrBuf at, a, b;
    sb_init(&at, t->ctx);
    sb_init(&a, t->ctx);
    sb_init(&b, t->ctx);
    sb_puts(&at, "result");
    if (run->launch.n_results > 1)
        sb_printf(&at, ".%d", j->result + 1);
    if (j->shapes_differ) {
        results_put_shape(&a, got);
        results_put_shape(&b, want);
    } else {
        results_put_index(&at, got, j->cell);
        results_put_cell(&a, got, j->cell);
        results_put_cell(&b, want, j->cell);
    }
    return (Element){at.text, a.text, b.text};
}

static void put_number(StrBuf *out, double value) { sb_put_float(out, value, true); }

static void note_inputs(Testing *t, Diag *diag, const Run *run)
{
    int64_t count = 0;
    for (int i = 0; i < run->launch.n_buffers; i++)
        count += run->launch.buffers[i].count;
    if (count == 0 || count > 2 * RESULTS_SHOWN)
        return;
    StrBuf text;
    sb_init(&text, t->ctx);
    results_put_inputs(&text, t->entry, &run->launch);
    diag_note(t->ctx, diag, NO_SPAN, "the inputs are %s", text.text);
}

/* All of a short result, beside all that it should be. */
static void note_results(Testing *t, Diag *diag, const Run *run)
{
    const Judgement *j = &run->judgement;
    const HostBuf *got = &run->launch.results[j->result], *want = &run->want[j->result];
    if (j->shapes_differ || got->rank != 1 || got->count < 2 || got->count > RESULTS_FIRST)
        return;
    StrBuf text;
    sb_init(&text, t->ctx);
    sb_puts(&text, run->launch.n_results > 1 ? ctx_printf(t->ctx, "result.%d is ", j->result + 1) : "the result is ");
    results_put_row(&text, got);
    sb_printf(&text, ", and %s ", against(t));
    results_put_row(&text, want);
    diag_note(t->ctx, diag, NO_SPAN, "%s", text.text);
}

static void label_run(Testing *t, Diag *diag, const Run *run)
{
    const char *sizes = sizes_words(t, run);
    diag_label(t->ctx, diag, "%s%s%s%s%s", sizes[0] ? "for " : "", sizes,
               sizes[0] && run->kind ? ", " : "", run->kind ? "inputs: " : "",
               run->kind ? run->kind : "");
}

static Diag *say_difference(Testing *t, const Run *run, Element e)
{
    const Judgement *j = &run->judgement;
    Diag *diag = diag_error(t->ctx, E0632, t->clause->span, "%s: %s is %s, and %s %s",
                            t->entry->name, e.at, e.got, against(t), e.want);
    label_run(t, diag, run);
    if (j->rounded && !j->shapes_differ) {
        StrBuf text;
        sb_init(&text, t->ctx);
        sb_puts(&text, "they differ by ");
        put_number(&text, j->error);
        sb_puts(&text, ", and rounding explains ");
        put_number(&text, j->bound);
        sb_puts(&text, " at most");
        diag_note(t->ctx, diag, NO_SPAN, "%s", text.text);
    }
    note_results(t, diag, run);
    note_inputs(t, diag, run);
    diag_help(t->ctx, diag, "only this run: `%s`", repeat(t, run));
    return diag;
}

/* What leaves less open, by what is open: a number, or the place of one among others that are
 * nearly the same. */
static const char *less_open(const Testing *t, const Run *run)
{
    const Judgement *j = &run->judgement;
    if (!j->why && !scalar_is_float(run->want[j->result].elem))
        return "where two values are nearly the same, rounding decides which one is chosen: give "
               "values without ties, as in `for xs = \"uniform:0.5:2\"`";
    if (run->kind && strcmp(run->kind, "small") == 0)
        return "values of one sign and of similar size leave less to rounding, as in "
               "`for xs = \"uniform:0.5:2\"`";
    return !t->entry->n_inputs ? NULL
                               : "small integers leave less to rounding, as in `for xs = small`";
}

static Diag *say_no_check(Testing *t, Run *run)
{
    const char *other = t->other ? ctx_printf(t->ctx, "`%s`", t->other->name) : "the data";
    Diag *diag = diag_error(t->ctx, E0637, t->clause->span,
                            "%s: no check: the results differ from those of %s, and %s",
                            t->entry->name, other, judge_why(t->ctx, &run->judgement));
    label_run(t, diag, run);
    if (!run->judgement.why) {
        Element e = element_of(t, run);
        diag_note(t->ctx, diag, NO_SPAN, "the first such element: %s is %s, and %s %s", e.at, e.got,
                  against(t), e.want);
    }
    note_inputs(t, diag, run);
    const char *advice = less_open(t, run);
    if (advice)
        diag_note(t->ctx, diag, NO_SPAN, "%s", advice);
    diag_help(t->ctx, diag, "only this run: `%s`", repeat(t, run));
    return diag;
}

static void keep_first(Testing *t, const Run *run, Element e)
{
    StrBuf out;
    sb_init(&out, t->what->keep);
    sb_printf(&out, "\"verdict\": \"%s\", \"sizes\": {", judge_word(run->judgement.verdict));
    for (int i = 0; i < t->entry->n_sizes; i++)
        sb_printf(&out, "%s\"%s\": %lld", i ? ", " : "", t->entry->sizes[i]->name,
                  (long long)run->launch.sizes[i]);
    sb_printf(&out,
              "}, \"inputs\": \"%s\", \"seed\": %lld, \"element\": \"%s\", \"got\": \"%s\", "
              "\"want\": \"%s\", \"repeat\": ",
              run->kind ? run->kind : "given", (long long)run->seed, e.at, e.got, e.want);
    sb_put_json(&out, repeat(t, run));
    t->what->outcome->first = out.text;
}

void expect_say(Testing *t, Run *run)
{
    t->what->outcome->failed++;
    if (t->said)
        return;
    bool differs = run->judgement.verdict == JUDGED_DIFFERENT;
    Element e = differs ? element_of(t, run) : (Element){"", "", ""};
    t->said = differs ? say_difference(t, run, e) : say_no_check(t, run);
    keep_first(t, run, e);
}
