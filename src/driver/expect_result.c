/* `expect result == other for n = 0, 1, 33`: the entry is run for each combination of the values
 * and each kind of inputs, and its result is judged beside what the reference interpreter makes of
 * the other entry or definition from the same inputs, or beside data. */
#include "driver/arguments.h"
#include "driver/expect_run.h"
#include "driver/inputs.h"
#include "driver/npy.h"
#include "driver/run_gpu.h"
#include "driver/text_data.h"

enum {
    MOST_RUNS = 10000,
    MOST_SETS = 16
};

/* What inputs are that nothing gives. Each has a seed of its own. */
static const char *const kinds[] = {"uniform", "special", "small"};
enum {
    KINDS = sizeof kinds / sizeof kinds[0]
};

static Diag *unfit(Testing *t, Span span, const char *fmt, ...) PRINTF_LIKE(3, 4);
static Diag *unfit(Testing *t, Span span, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    StrBuf text;
    sb_init(&text, t->ctx);
    sb_vprintf(&text, fmt, args);
    va_end(args);
    return diag_error(t->ctx, E0634, span, "%s", text.text);
}

/* ---- the values behind `for` --------------------------------------------------------------- */

static const char *ast_text(Ctx *ctx, const Ast *ast)
{
    StrBuf text;
    sb_init(&text, ctx);
    ast_print(&text, ast);
    return text.text;
}

static bool is_text(const Ast *ast) { return ast->kind == AST_NAME && ast->name.text[0] == '"'; }

/* A word as in --arg, or the file that a text names, which lies beside the program. */
static const char *file_of(const Testing *t, const Ast *ast)
{
    const char *path = t->what->path, *slash = strrchr(path, '/');
    int n = (int)strlen(ast->name.text) - 2;
    const char *text = ctx_printf(t->ctx, "%.*s", n, ast->name.text + 1);
    if (text[0] == '/' || !slash || input_is_spec(text))
        return text;
    return ctx_printf(t->ctx, "%.*s/%.*s", (int)(slash - path), path, n, ast->name.text + 1);
}

/* Does the command line give it? Then what stands behind `for` does not count. */
static bool line_gives(const Testing *t, const char *name)
{
    for (int i = 0; i < t->d->line->given.n; i++) {
        const Given *given = &t->d->line->given.at[i];
        if ((given->id == OPT_SET || given->id == OPT_ARG) && strcmp(given->name, name) == 0)
            return true;
    }
    return false;
}

static bool take_samples(Testing *t)
{
    const Expect *clause = t->clause;
    t->samples = NEWN(t->ctx, Sample, clause->n_given + 1);
    t->chosen = NEWN(t->ctx, int, clause->n_given + 1);
    int64_t runs = KINDS;
    for (int i = 0, n; i < clause->n_given; i += n) {
        const Option *o = &clause->given[i];
        for (n = 1; i + n < clause->n_given && !o[n].name;)
            n++;
        for (int k = 0; k < t->n_samples; k++)
            if (strcmp(t->samples[k].name, o->name) == 0) {
                unfit(t, o->span, "`%s` is given twice: write all its values together", o->name);
                return false;
            }
        if (!line_gives(t, o->name))
            t->samples[t->n_samples++] = (Sample){o->name, i, n};
        if (!mul_fits(runs, n, &runs) || runs > MOST_RUNS) {
            unfit(t, clause->span, "the values behind `for` make more than %d runs", MOST_RUNS);
            return false;
        }
    }
    return true;
}

static const Ast *chosen(const Testing *t, int k)
{
    return t->clause->given[t->samples[k].first + t->chosen[k]].value;
}

/* The next combination; of those from `from` on, the last one changes first. */
static bool next(Testing *t, int from, int to)
{
    for (int k = to; k-- > from; t->chosen[k] = 0)
        if (++t->chosen[k] < t->samples[k].n)
            return true;
    return false;
}

static bool number_of(Testing *t, int k, int64_t *value)
{
    const Ast *ast = chosen(t, k);
    StrBuf text;
    sb_init(&text, t->ctx);
    for (const char *at = ast_text(t->ctx, ast); *at; at++)
        if (*at != ' ')
            sb_putc(&text, *at);
    if (size_parse(text.text, value))
        return true;
    unfit(t, ast->span, "`%s` is a size, and this is no whole number of at least 0",
          t->samples[k].name);
    return false;
}

/* ---- the entries ----------------------------------------------------------------------------- */

static const Param *param_of(const Item *item, const char *name)
{
    for (int i = 0; i < item->n_params; i++)
        if (item->params[i].name && strcmp(item->params[i].name, name) == 0)
            return &item->params[i];
    return NULL;
}

static bool is_tunable(const Item *item, const char *name)
{
    const Param *param = param_of(item, name);
    return param && param->def;
}

/* Tunables first: for each combination of them the entry is made once. Gives how many there are; -1
 * where a name is none of the entry's. */
static int tunables_first(Testing *t, const Item *item)
{
    int n = 0;
    for (int k = 0; k < t->n_samples; k++) {
        Sample sample = t->samples[k];
        if (!param_of(item, sample.name)) {
            unfit(t, t->clause->given[sample.first].span, "`%s` has no size, tunable or input `%s`",
                  item->name, sample.name);
            return -1;
        }
        if (!is_tunable(item, sample.name))
            continue;
        memmove(&t->samples[n + 1], &t->samples[n], sizeof sample * (size_t)(k - n));
        t->samples[n++] = sample;
    }
    return n;
}

static bool same_types(Testing *t, const CoreEntry *a, const CoreEntry *b)
{
    if (a->n_sizes != b->n_sizes || a->n_inputs != b->n_inputs)
        return false;
    Type result = type_subst(t->ctx, b->result, b->n_sizes, b->sizes, a->sizes);
    bool same = result == a->result;
    for (int i = 0; i < a->n_inputs; i++)
        same &= type_subst(t->ctx, b->inputs[i]->type, b->n_sizes, b->sizes, a->sizes) ==
                a->inputs[i]->type;
    return same;
}

static const char *signature(Testing *t, const CoreEntry *entry)
{
    StrBuf out;
    sb_init(&out, t->ctx);
    for (int i = 0; i < entry->n_sizes; i++)
        sb_printf(&out, "%s%s", i ? " " : "{", entry->sizes[i]->name);
    sb_puts(&out, entry->n_sizes ? ": nat} " : "");
    for (int i = 0; i < entry->n_inputs; i++)
        sb_printf(&out, "(%s: %s) ", entry->inputs[i]->name,
                  type_text(t->ctx, entry->inputs[i]->type));
    if (out.len)
        out.text[--out.len] = 0;
    sb_printf(&out, ": %s", type_text(t->ctx, entry->result));
    return out.text;
}

static void unknown_other(Testing *t, const Ast *name)
{
    Diag *diag = unfit(t, name->span, "%s has no entry or definition `%s`", t->what->path,
                       name->name.text);
    Nearest nearest;
    nearest_init(&nearest, name->name.text);
    const AstFile *file = program_ast(t->what->program);
    for (int i = 0; i < file->items.n; i++)
        if (file->items.at[i]->name && program_item(t->what->program, file->items.at[i]->name))
            nearest_try(&nearest, file->items.at[i]->name);
    if (nearest.best)
        diag_propose(t->ctx, diag, name->span, "did you mean $?", "%s", nearest.best);
}

/* The entry or definition that the result is compared with, for the tunables that it has, too. */
static bool make_other(Testing *t, int n, const ElabSetting *settings)
{
    const Ast *name = t->clause->wanted;
    int errors = t->ctx->diags.errors;
    bool word = name->kind == AST_NAME && !is_text(name);
    if (word && !program_item(t->what->program, name->name.text) &&
        !input_is_spec(name->name.text)) {
        unknown_other(t, name);
        return false;
    }
    if (!word || !program_item(t->what->program, name->name.text))
        return true;
    t->other = elab_named(t->ctx, t->what->program, name->name.text, n, settings);
    if (!t->other) {
        if (t->ctx->diags.errors == errors)
            unfit(t, name->span, "`%s` cannot be run: it takes functions or types",
                  name->name.text);
        return false;
    }
    if (same_types(t, t->entry, t->other))
        return true;
    Diag *diag = unfit(t, name->span, "`%s` and `%s` have not the same inputs and result",
                       t->entry->name, t->other->name);
    diag_note(t->ctx, diag, t->entry->name_span, "%s", signature(t, t->entry));
    diag_note(t->ctx, diag, t->other->name_span, "%s", signature(t, t->other));
    return false;
}

/* result.2: 1 */
static bool take_component(Testing *t)
{
    const Ast *subject = t->clause->subject;
    int n = type_component_count(t->entry->result);
    t->component = n == 1 ? 0 : -1;
    if (subject->kind != AST_DOT)
        return t->other || n == 1 ||
               !unfit(t, subject->span, "`%s` has %d results: write `result.1 == ...` and so on",
                      t->entry->name, n);
    uint64_t k = subject->bin.rhs->integer.value;
    if (subject->bin.lhs->kind != AST_NAME || k < 1 || k > (uint64_t)n) {
        unfit(t, subject->span, "`%s` has %d result%s", t->entry->name, n, n == 1 ? "" : "s");
        return false;
    }
    t->component = (int)k - 1;
    return true;
}

/* For the values of the tunables that are chosen now. */
static bool make_entries(Testing *t, int n_tunables)
{
    int n, errors = t->ctx->diags.errors;
    const ElabSetting *line = driver_settings(t->ctx, t->d, &n);
    ElabSetting *settings = NEWN(t->ctx, ElabSetting, n_tunables + n + 1);
    for (int i = 0; i < n_tunables; i++) {
        int64_t value;
        if (!number_of(t, i, &value))
            return false;
        settings[i] = (ElabSetting){t->samples[i].name, value, chosen(t, i)->span, false};
    }
    for (int i = 0; i < n; i++)
        settings[n_tunables + i] = line[i];
    t->other = NULL;
    t->entry = elab_entry(t->ctx, t->what->program, t->what->number, n_tunables + n, settings);
    if (!t->entry || !make_other(t, n_tunables + n, settings) || !take_component(t))
        return false;
    t->imp = lower_entry(t->ctx, t->entry, (LowerPass)(PASS_COUNT - 1));
    return t->imp && t->ctx->diags.errors == errors;
}

/* ---- one run --------------------------------------------------------------------------------- */

/* Sizes and inputs as the command line would give them, behind what it gives. */
static bool take_values(Testing *t, Run *run, int n_tunables)
{
    run->line.verb = t->d->line->verb;
    for (int i = 0; i < t->d->line->given.n; i++) {
        const Given *given = &t->d->line->given.at[i];
        if (given->id == OPT_SET || given->id == OPT_ARG)
            vec_push(t->ctx, &run->line.given, *given);
    }
    for (int k = n_tunables; k < t->n_samples; k++) {
        const Ast *ast = chosen(t, k);
        const char *name = t->samples[k].name;
        int64_t number;
        if (!ast_is_nat(param_of(t->entry->item, name)->kind)) {
            const char *value = is_text(ast) ? file_of(t, ast) : ast_text(t->ctx, ast);
            vec_push(t->ctx, &run->line.given, (Given){OPT_ARG, name, value, 0});
        } else if (!number_of(t, k, &number)) {
            return false;
        } else {
            const char *value = ctx_printf(t->ctx, "%lld", (long long)number);
            vec_push(t->ctx, &run->line.given, (Given){OPT_SET, name, value, number});
        }
    }
    vec_push(t->ctx, &run->line.given, (Given){OPT_SEED, NULL, "", run->seed});
    return true;
}

/* How many inputs nothing gives; *drawn: a given one is a word that draws numbers. */
static int missing_inputs(const Testing *t, const Run *run, bool *drawn)
{
    static const char *const words[] = {"uniform", "normal", "special", "small"};
    int missing = 0;
    *drawn = false;
    for (int i = 0; i < t->entry->n_inputs; i++)
        for (int c = 0; c < type_component_count(t->entry->inputs[i]->type); c++) {
            const char *value = expect_input_value(
                run, expect_input_name(t->ctx, t->entry->inputs[i], c));
            missing += !value;
            for (int w = 0; value && w < 4; w++)
                *drawn |= strncmp(value, words[w], strlen(words[w])) == 0;
        }
    return missing;
}

/* Nothing gives a size. */
static void help_sizes(Testing *t, Diag *diag)
{
    if (t->other || t->entry->n_inputs == 0)
        diag_help(t->ctx, diag, "give it behind `for`, as in `for n = 0, 1, 1000`");
    else
        diag_help(t->ctx, diag, "say of which input this is the result, as in `for %s = [...]`",
                  expect_input_name(t->ctx, t->entry->inputs[0], 0));
}

/* Moves what was said of no place to the clause; what has a place gets a note. */
static void place_diagnostics(Testing *t, int from)
{
    for (int i = from; i < t->ctx->diags.list.n; i++) {
        Diag *diag = t->ctx->diags.list.at[i];
        const Span own = t->clause->span;
        if (diag->span.file == own.file && diag->span.lo >= own.lo && diag->span.hi <= own.hi)
            continue;
        if (diag->span.file)
            diag_note(t->ctx, diag, t->clause->span, "in a run for this");
        else
            diag->span = t->clause->span;
        if (diag->code == E0624)
            help_sizes(t, diag);
    }
}

static bool is_small(Testing *t, const Run *run)
{
    int64_t cells = 0;
    for (int i = 0; i < run->launch.n_buffers; i++)
        cells += run->launch.buffers[i].count;
    for (int c = 0; c < type_component_count(t->entry->result); c++) {
        HostBuf buf;
        Type type = type_component(t->ctx, t->entry->result, c);
        if (!launch_buffer(t->ctx, t->entry, &run->launch, type, &buf, false))
            return false;
        cells += buf.count;
    }
    t->cells += cells;
    if (cells <= LIMIT_EXPECT_CELLS && t->cells <= 4 * (int64_t)LIMIT_EXPECT_CELLS)
        return true;
    Diag *diag = unfit(t, t->clause->span, "the runs for this have more than %d elements",
                       LIMIT_EXPECT_CELLS);
    diag_help(t->ctx, diag, "take smaller sizes, or fewer of them");
    return false;
}

static const SimOptions sim_options = {.max_steps = LIMIT_EXPECT_STEPS,
                                       .max_bytes = LIMIT_EXPECT_BYTES};

static bool execute(Testing *t, Run *run)
{
    const char *device = option_text(t->d->line, OPT_DEVICE);
    if (t->gpu)
        return gpu_run(t->ctx, t->d, t->gpu, t->entry, &run->launch);
    if (device && strcmp(device, "ref") == 0)
        return interp_run(t->ctx, t->entry, &run->launch);
    SimReport report = {0};
    bool good = sim_run(t->ctx, t->imp, &run->launch, &sim_options, &report);
    if (report.findings.n)
        sim_diagnose(t->ctx, &report);
    return good && !report.findings.n;
}

/* ---- what the result should be ----------------------------------------------------------------
 */

/* Data for the component; the others are what they are. */
static bool read_wanted(Testing *t, Run *run)
{
    const Ast *ast = t->clause->wanted;
    run->want = NEWN(t->ctx, HostBuf, run->launch.n_results + 1);
    for (int k = 0; k < run->launch.n_results; k++)
        run->want[k] = run->launch.results[k];
    HostBuf *buf = &run->want[t->component];
    Type type = type_component(t->ctx, t->entry->result, t->component);
    if (is_text(ast) && strstr(ast->name.text, ".npy\"")) {
        Scalar elem = buf->elem;
        return npy_read(t->ctx, file_of(t, ast), buf) &&
               (npy_as(buf, elem) ||
                !unfit(t, ast->span, "the elements of this file are %s, and those of the result %s",
                       scalar_name(buf->elem), scalar_name(elem)));
    }
    TextWanted wanted = {"result", type, buf->elem, buf->rank};
    const char *source = "the data of this `expect`", *text = ast_text(t->ctx, ast);
    size_t size = strlen(text);
    if (is_text(ast)) {
        char *bytes;
        source = file_of(t, ast);
        if (!npy_load(t->ctx, source, &bytes, &size))
            return false;
        text = bytes;
    }
    if (text_read(t->ctx, &wanted, source, text, size, buf))
        return true;
    const int said = t->ctx->diags.list.n;
    if (!is_text(ast) && said > 0) /* as the user wrote it */
        t->ctx->diags.list.at[said - 1]->span = ast->span;
    return false;
}

static Judgement judge(Testing *t, Run *run, const CoreEntry *entry, const Launch *launch)
{
    bool own = entry == t->entry && !t->gpu;
    Judge j = {.ctx = t->ctx,
               .entry = entry,
               .launch = *launch,
               .imp = own ? t->imp : NULL,
               .options = sim_options};
    return judge_results(&j, run->launch.n_results, run->launch.results, run->want, 2);
}

/* Both programs may round: the result is right if it is near by the roundings of either. */
static bool compare(Testing *t, Run *run)
{
    Launch again = run->launch;
    again.n_results = 0;
    again.results = NULL;
    if (!t->other && !read_wanted(t, run))
        return false;
    if (t->other) {
        if (!launch_check(t->ctx, t->other, &again) || !interp_run(t->ctx, t->other, &again))
            return false;
        run->want = again.results;
        for (int k = 0; t->component >= 0 && k < again.n_results; k++)
            if (k != t->component)
                run->want[k] = run->launch.results[k];
    }
    run->judgement = judge(t, run, t->entry, &run->launch);
    if (run->judgement.verdict <= JUDGED_NEAR || !t->other)
        return true;
    Judgement by_other = judge(t, run, t->other, &again);
    if (by_other.verdict <= JUDGED_NEAR)
        run->judgement = by_other;
    return true;
}

/* ---- all runs ----------------------------------------------------------------------------------
 */

/* False where the clause is given up. */
static bool run_once(Testing *t, Run *run, int n_tunables)
{
    int before = t->ctx->diags.list.n, errors = t->ctx->diags.errors;
    ArgumentsHow how = {
        .copies = 2, .watched = SIM_WATCH_BYTES, .otherwise = run->kind ? run->kind : kinds[0]};
    bool good = take_values(t, run, n_tunables);
    Driver one = {.line = &run->line, .files = t->d->files};
    good = good && arguments_make(t->ctx, &one, t->entry, &how, &run->launch) && is_small(t, run);
    good = good && execute(t, run) && compare(t, run);
    place_diagnostics(t, before);
    t->what->outcome->runs++;
    if (good && run->judgement.verdict > JUDGED_NEAR)
        expect_say(t, run);
    if (!good && t->ctx->diags.errors == errors)
        unfit(t, t->clause->span, "`%s` takes too many steps for a check", t->entry->name);
    return good;
}

static void run_all(Testing *t, int n_tunables)
{
    int64_t seed = option_number(t->d->line, OPT_SEED, 0);
    bool only = option_on(t->d->line, OPT_SEED);
    do {
        Run first = {0};
        if (!take_values(t, &first, n_tunables))
            return;
        bool missing = missing_inputs(t, &first, &first.drawn) > 0;
        int n = missing || (first.drawn && !only) ? KINDS : 1;
        for (int k = 0; k < n; k++) {
            Run run = {
                .kind = missing ? kinds[k] : NULL, .drawn = first.drawn, .seed = only ? seed : k};
            if (!run_once(t, &run, n_tunables))
                return;
        }
    } while (next(t, n_tunables, t->n_samples));
}

void expect_result(Ctx *ctx, const ExpectResult *what)
{
    Testing t = {.ctx = ctx, .what = what, .clause = what->clause, .d = what->d};
    ExpectResult inside = *what;
    inside.program = program_inside(ctx, what->program);
    t.what = &inside;
    const char *device = option_text(t.d->line, OPT_DEVICE);
    bool gpu = device && (strcmp(device, "gpu") == 0 || strcmp(device, "auto") == 0);
    int n_tunables = take_samples(&t)
                         ? tunables_first(&t, program_entry_item(what->program, what->number))
                         : -1;
    if (n_tunables < 0)
        return;
    if (gpu && !(t.gpu = gpu_find(ctx, t.d, strcmp(device, "auto") == 0)) &&
        strcmp(device, "gpu") == 0)
        return;
    do {
        if (!make_entries(&t, n_tunables))
            break;
        what->outcome->against = intern_z(what->keep, t.other ? t.other->name : "data");
        run_all(&t, n_tunables);
    } while (next(&t, 0, n_tunables));
    if (t.said && what->outcome->runs > 1)
        diag_note(ctx, t.said, NO_SPAN, "%lld of %lld runs end so; this is the first",
                  (long long)what->outcome->failed, (long long)what->outcome->runs);
    rise_context_free(t.gpu);
}
