/* `risec tune`: which values of an entry's tunables are best, for each class of sizes, and the tuning file that says so. docs/tuning.md. */
#include "driver/tune.h"

#include "codegen/lower.h"
#include "driver/run_gpu.h"
#include "version.h"

enum { SHOWN = 3 };

typedef struct Outcome { /* of the sizes of one run */
    int64_t *sizes;      /* beside entry->sizes */
    double work;         /* what the classes are made by: the product of the sizes in Tune.by */
    TuneCost *costs;     /* beside the candidates */
    int best;            /* candidate; the defaults where none is better beyond the spread */
} Outcome;

/* ---- what is tried ------------------------------------------------------------------------------------------------------ */

static bool names_interface(Tune *t, int tunable)
{
    const CoreValues *values = &t->entry->tunable_candidates[tunable];
    bool interface = false;
    for (int i = 0; i < values->n && !interface; i++) {
        Candidate one = {.values = NEWN(t->ctx, int64_t, t->entry->n_tunables)};
        memcpy(one.values, t->entry->tunable_values, sizeof *one.values * (size_t)t->entry->n_tunables);
        one.values[tunable] = values->values[i];
        TuneTrial trial;
        Ctx *ctx = tune_try(t, &one, &trial);
        if (!ctx)
            ctx_out_of_memory(t->ctx);
        interface = trial.interface;
        ctx_free(ctx);
    }
    return interface;
}

static bool choose_tunables(Tune *t)
{
    int n = 0, listed = 0;
    int64_t combinations = 1;
    t->tuned = NEWN(t->ctx, bool, t->entry->n_tunables + 1);
    for (int i = 0; i < t->entry->n_tunables; i++) {
        const char *name = t->entry->tunable_names[i];
        int values = t->entry->tunable_candidates[i].n;
        listed += values > 0;
        if (!values || option_sets(t->d->line, name))
            continue;
        if (names_interface(t, i)) {
            vec_push(t->ctx, &t->notes, ctx_printf(t->ctx, "`%s` stays %lld: callers would see another value", name, (long long)t->entry->tunable_values[i]));
            continue;
        }
        t->tuned[i] = true;
        n++;
        combinations *= values;
        if (combinations > TUNE_MAX_CANDIDATES) {
            Diag *d = driver_usage(t->ctx, t->d, E0662, "%s: there are more than %d combinations of values", t->entry->name, TUNE_MAX_CANDIDATES);
            diag_help(t->ctx, d, "fix a tunable by `--set`, tune the others, then fix those");
            return false;
        }
    }
    if (combinations * (t->strategies.n + 1) > TUNE_MAX_CANDIDATES) {
        Diag *d = driver_usage(t->ctx, t->d, E0662, "%s: there are more than %d combinations of values and strategies", t->entry->name, TUNE_MAX_CANDIDATES);
        diag_help(t->ctx, d, "fix tunables by `--set`, or name fewer strategies");
        return false;
    }
    if (n || t->strategies.n)
        return true;
    Diag *d = driver_usage(t->ctx, t->d, E0662, "%s has no tunable that could be tuned", t->entry->name);
    if (listed)
        diag_help(t->ctx, d, "callers see the values of those that have lists, or `--set` fixes them");
    else
        diag_help(t->ctx, d, "say behind a default what is worth trying: `(k: nat = 4 in [1, 2, 4, 8])`");
    return false;
}

static void add_candidate(Tune *t, const int64_t *values, const char *strategy)
{
    size_t bytes = sizeof *values * (size_t)t->entry->n_tunables;
    for (int i = 0; i < t->candidates.n; i++)
        if (t->candidates.at[i].strategy == strategy && memcmp(t->candidates.at[i].values, values, bytes) == 0)
            return;
    Candidate c = {.strategy = strategy, .values = NEWN(t->ctx, int64_t, t->entry->n_tunables + 1)};
    memcpy(c.values, values, bytes);
    vec_push(t->ctx, &t->candidates, c);
}

/* All combinations, the last tunable's values running fastest. */
static void combine(Tune *t, const char *strategy, int tunable, int64_t *values)
{
    if (tunable == t->entry->n_tunables) {
        add_candidate(t, values, strategy);
        return;
    }
    if (!t->tuned[tunable]) {
        combine(t, strategy, tunable + 1, values);
        return;
    }
    for (int i = 0; i < t->entry->tunable_candidates[tunable].n; i++) {
        values[tunable] = t->entry->tunable_candidates[tunable].values[i];
        combine(t, strategy, tunable + 1, values);
    }
}

static bool make_candidates(Tune *t)
{
    int64_t *values = NEWN(t->ctx, int64_t, t->entry->n_tunables + 1);
    for (int i = 0; i < t->entry->n_tunables; i++)
        values[i] = t->entry->tunable_values[i];
    add_candidate(t, values, NULL);
    for (int i = -1; i < t->strategies.n; i++)
        combine(t, i < 0 ? NULL : t->strategies.at[i], 0, values);
    for (int i = 0; i < t->candidates.n; i++) {
        TuneTrial trial;
        Ctx *ctx = tune_try(t, &t->candidates.at[i], &trial);
        if (!ctx)
            ctx_out_of_memory(t->ctx);
        ctx_free(ctx);
    }
    return !t->candidates.at[0].why; /* driver_entry and lower_entry have said what is wrong with the defaults */
}

/* ---- for which sizes ---------------------------------------------------------------------------------------------------- */

/* The sizes that nothing gives; -1: none. */
static int open_size(const Tune *t, bool *several)
{
    int found = -1;
    *several = false;
    for (int i = 0; i < t->entry->n_sizes; i++) {
        bool given = option_sets(t->d->line, t->entry->sizes[i]->name);
        for (int k = 0; k < t->sizes.series.n; k++)
            given |= strcmp(t->sizes.series.at[k].name, t->entry->sizes[i]->name) == 0;
        if (given)
            continue;
        *several = found >= 0;
        found = i;
    }
    return found;
}

static bool choose_sizes(Tune *t)
{
    static const int64_t gpu[] = {1 << 12, 1 << 16, 1 << 20, 1 << 24}, sim[] = {1 << 10, 1 << 13, 1 << 16};
    bool several;
    if (!bench_sizes_read(t->ctx, t->d, t->entry, &t->sizes))
        return false;
    int open = open_size(t, &several);
    if (open < 0 || option_on(t->d->line, OPT_ARG)) /* files may give them */
        return true;
    if (several || t->sizes.series.n) {
        Diag *d = driver_usage(t->ctx, t->d, E0662, "%s: for which `%s`?", t->entry->name, t->entry->sizes[open]->name);
        diag_help(t->ctx, d, "list some: `--sizes %s=2^10,2^12`, or fix it by `--set`", t->entry->sizes[open]->name);
        return false;
    }
    BenchSeries series = {.name = t->entry->sizes[open]->name, .n = t->on_gpu ? 4 : 3};
    memcpy(series.values, t->on_gpu ? gpu : sim, sizeof *gpu * (size_t)series.n);
    vec_push(t->ctx, &t->sizes.series, series);
    t->sizes.n_runs = series.n;
    return true;
}

static int size_number(const Tune *t, const char *name)
{
    for (int i = 0; i < t->entry->n_sizes; i++)
        if (strcmp(t->entry->sizes[i]->name, name) == 0)
            return i;
    return -1;
}

/* By --by, else by all sizes that have lists. */
static bool choose_by(Tune *t)
{
    const char *at = option_text(t->d->line, OPT_BY);
    for (int k = 0; !at && k < t->sizes.series.n; k++)
        if (t->sizes.series.at[k].n > 1)
            vec_push(t->ctx, &t->by, t->sizes.series.at[k].name);
    while (at) {
        size_t n = strcspn(at, "*");
        const char *name = intern(t->ctx, at, n);
        if (size_number(t, name) < 0) {
            driver_usage(t->ctx, t->d, E0662, "`--by`: %s has no size `%s`", t->entry->name, name);
            return false;
        }
        vec_push(t->ctx, &t->by, name);
        at = at[n] ? at + n + 1 : NULL;
    }
    return true;
}

/* ---- trying ---------------------------------------------------------------------------------------------------------------- */

/* The cheapest, if it is cheaper than the defaults beyond the spread of both. */
static int best_of(const Tune *t, const TuneCost *costs)
{
    int best = 0;
    for (int i = 1; i < t->candidates.n; i++)
        if (costs[i].final && costs[i].cost < costs[best].cost)
            best = i;
    return best && costs[best].high < costs[0].low ? best : 0;
}

/* Runs of one class: each candidate costs, there, what it costs in both in proportion to the defaults. */
static void join_classes(Tune *t, Outcome *a, const Outcome *b)
{
    for (int i = t->candidates.n - 1; i >= 0; i--) { /* the defaults, by which all are scaled, last */
        TuneCost *cost = &a->costs[i];
        double scale = a->costs[0].cost / b->costs[0].cost;
        cost->cost += scale * b->costs[i].cost;
        cost->low += scale * b->costs[i].low;
        cost->high += scale * b->costs[i].high;
        cost->final &= b->costs[i].final;
    }
    a->best = best_of(t, a->costs);
}

/* One outcome for each class, in order. Gives their number. */
static int classes_of(Tune *t, const Outcome *outcomes, Outcome *classes)
{
    int n = 0;
    for (int i = 0; i < t->sizes.n_runs; i++) {
        if (n && classes[n - 1].work >= outcomes[i].work) {
            join_classes(t, &classes[n - 1], &outcomes[i]);
            continue;
        }
        classes[n] = outcomes[i];
        classes[n].costs = NEWN(t->ctx, TuneCost, t->candidates.n);
        memcpy(classes[n++].costs, outcomes[i].costs, sizeof *classes->costs * (size_t)t->candidates.n);
    }
    return n;
}

static bool run_all(Tune *t, Outcome *outcomes)
{
    for (int run = 0; run < t->sizes.n_runs; run++) {
        Outcome *o = &outcomes[run];
        say_work(t->d->say, "size %d of %d, %d candidates", run + 1, t->sizes.n_runs, t->candidates.n);
        o->sizes = NEWN(t->ctx, int64_t, t->entry->n_sizes + 1);
        o->costs = NEWN(t->ctx, TuneCost, t->candidates.n);
        if (!tune_run(t, run, o->sizes, o->costs))
            return false;
        say_step(t->d->say, "measured %d candidates at size %d of %d", t->candidates.n, run + 1, t->sizes.n_runs);
        o->best = best_of(t, o->costs);
        o->work = 1;
        for (int i = 0; i < t->by.n; i++)
            o->work *= (double)o->sizes[size_number(t, t->by.at[i])];
        for (int k = run; k > 0 && outcomes[k].work < outcomes[k - 1].work; k--) {
            Outcome other = outcomes[k];
            outcomes[k] = outcomes[k - 1];
            outcomes[k - 1] = other;
        }
    }
    return true;
}

/* ---- words -------------------------------------------------------------------------------------------------------------------- */

static void put_values(StrBuf *out, const Tune *t, const Candidate *c)
{
    const char *between = "";
    for (int i = 0; i < t->entry->n_tunables; i++)
        if (t->tuned[i] || option_sets(t->d->line, t->entry->tunable_names[i])) {
            sb_printf(out, "%s%s = %lld", between, t->entry->tunable_names[i], (long long)c->values[i]);
            between = ", ";
        }
    if (c->strategy)
        sb_printf(out, "%slowered by %s", between, c->strategy);
    else if (!between[0])
        sb_puts(out, TUNING_AS_WRITTEN);
}

static void put_sizes(StrBuf *out, const Tune *t, const Outcome *o)
{
    for (int i = 0; i < t->entry->n_sizes; i++)
        sb_printf(out, "%s%s = %lld", i ? ", " : "", t->entry->sizes[i]->name, (long long)o->sizes[i]);
}

static void put_cost(StrBuf *out, const Tune *t, double cost) { sb_printf(out, t->on_gpu ? "%.2f %s" : "%.0f %s", cost, t->unit); }

/* Each reason once, with how often. */
static int put_left_out(StrBuf *out, const Tune *t)
{
    int left = 0;
    for (int i = 0; i < t->candidates.n; i++) {
        const char *why = t->candidates.at[i].why;
        int times = 0;
        bool told = false;
        for (int k = 0; why && k < t->candidates.n; k++) {
            bool same = t->candidates.at[k].why && strcmp(t->candidates.at[k].why, why) == 0;
            times += same;
            told |= same && k < i;
        }
        left += why != NULL;
        if (why && !told)
            sb_printf(out, "left out: %d, as %s\n", times, why);
    }
    return left;
}

static void put_head(StrBuf *out, const Tune *t)
{
    int left = 0;
    for (int i = 0; i < t->candidates.n; i++)
        left += t->candidates.at[i].why != NULL;
    sb_printf(out, "%s on %s: %d candidates, %s\n", t->entry->name, t->device, t->candidates.n - left,
              t->on_gpu ? "measured" : "estimated from what the simulator counts");
    for (int i = 0; i < t->notes.n; i++)
        sb_printf(out, "%s\n", t->notes.at[i]);
    put_left_out(out, t);
}

static void put_line(StrBuf *out, const Tune *t, const Outcome *o, int candidate)
{
    sb_puts(out, "  ");
    put_cost(out, t, o->costs[candidate].cost);
    if (t->on_gpu)
        sb_printf(out, " (%.2f .. %.2f)", o->costs[candidate].low, o->costs[candidate].high);
    sb_puts(out, "  ");
    put_values(out, t, &t->candidates.at[candidate]);
    sb_puts(out, candidate == 0 ? "  (the defaults)" : "");
    sb_puts(out, candidate == o->best ? "  <- kept\n" : "\n");
}

/* The cheapest ones, what is kept, and the defaults. */
static void put_outcome(StrBuf *out, const Tune *t, const Outcome *o)
{
    bool *shown = NEWN(t->ctx, bool, t->candidates.n);
    put_sizes(out, t, o);
    sb_puts(out, t->entry->n_sizes ? "\n" : "");
    for (int n = 0; n < t->candidates.n; n++) {
        int next = -1;
        for (int i = 0; i < t->candidates.n; i++)
            if (!shown[i] && o->costs[i].known && (next < 0 || o->costs[i].cost < o->costs[next].cost))
                next = i;
        if (next < 0)
            return;
        shown[next] = true;
        if (n < SHOWN || next == 0 || next == o->best)
            put_line(out, t, o, next);
    }
}

/* ---- the tuning file ----------------------------------------------------------------------------------------------------------- */

/* Between two sizes that were measured: their geometric mean. */
static int64_t boundary(double a, double b)
{
    double low = a, high = b;
    while (high - low > 0.5 && high - low > low * 1e-12) { /* no square root: the same on every machine */
        double middle = (low + high) / 2;
        if (middle * middle < a * b)
            low = middle;
        else
            high = middle;
    }
    return high < 9e18 ? (int64_t)(high + 0.25) : INT64_MAX;
}

static void put_condition(StrBuf *out, const Tune *t, const Outcome *last, const Outcome *next)
{
    const char *between = "  ";
    if (!next) {
        sb_puts(out, "  else: ");
        return;
    }
    for (int i = 0; i < t->by.n; i++) {
        sb_printf(out, "%s%s", between, t->by.at[i]);
        between = "*";
    }
    sb_printf(out, " <= %lld: ", (long long)boundary(last->work, next->work));
}

/* "2.20 us at n = 4096; 2.31 us with the defaults", of the runs in a class with others together. */
static void put_reason(StrBuf *out, const Tune *t, const Outcome *o)
{
    put_cost(out, t, o->costs[o->best].cost);
    if (t->entry->n_sizes) {
        sb_puts(out, " at ");
        put_sizes(out, t, o);
    }
    if (o->best) {
        sb_puts(out, "; ");
        put_cost(out, t, o->costs[0].cost);
        sb_puts(out, " with the defaults");
    }
}

static void put_section(StrBuf *out, Tune *t, uint64_t hash, const Outcome *outcomes)
{
    Outcome *classes = NEWN(t->ctx, Outcome, t->sizes.n_runs);
    int n = classes_of(t, outcomes, classes);
    sb_printf(out, "entry %s on \"%s\" hash %016llx\n", t->entry->name, t->device, (unsigned long long)hash);
    for (int i = 0; i < n; i++) {
        int best = classes[i].best, run = 0;
        if (i + 1 < n && classes[i + 1].best == best)
            continue;
        put_condition(out, t, &classes[i], i + 1 < n ? &classes[i + 1] : NULL);
        put_values(out, t, &t->candidates.at[best]);
        while (run + 1 < t->sizes.n_runs && outcomes[run + 1].work <= classes[i].work)
            run++;
        Outcome told = outcomes[run];
        told.best = best;
        sb_puts(out, "  -- ");
        put_reason(out, t, &told);
        sb_puts(out, "\n");
    }
}

/* The file as it is to be: this section in place of the old one, or at the end; all else as it was. */
static bool new_text(Tune *t, const char *path, const Outcome *outcomes, StrBuf *out)
{
    Tuning old = {0};
    Program *program = program_load(t->ctx, t->path);
    CoreEntry *defaults = elab_entry(t->ctx, program, t->number, 0, NULL);
    char *text = NULL;
    size_t size = 0;
    FileStatus status = strcmp(path, "-") == 0 ? FILE_MISSING : t->ctx->files.read(t->ctx->files.user, t->ctx, path, FILE_ANY, (size_t)4 << 20, &text, &size);
    if (status == FILE_OK && size == 0) /* as /dev/null is */
        status = FILE_MISSING;
    if (!defaults || (status == FILE_OK && !tuning_parse(t->ctx, path, text, size, &old))) {
        driver_fail(t->d, STATUS_USAGE);
        return false;
    }
    const TuneSection *same = tuning_find(&old, t->entry->name, t->device);
    size_t before = status == FILE_OK ? same ? same->begin : size : 0, after = same ? same->end : size;
    if (status != FILE_OK)
        sb_printf(out, "tuning %d  -- made by risec tune %s\n", TUNING_VERSION, RISEC_VERSION);
    sb_printf(out, "%.*s", (int)before, text ? text : "");
    if (before && text[before - 1] != '\n')
        sb_puts(out, "\n");
    put_section(out, t, tuning_hash(t->ctx, defaults), outcomes);
    if (same)
        sb_printf(out, "%.*s", (int)(size - after), text + after);
    return true;
}

static const char *tuning_path(const Tune *t)
{
    const char *to = option_text(t->d->line, OPT_OUTPUT);
    return to ? to : ctx_printf(t->ctx, "%s%s", t->path, TUNING_SUFFIX);
}

static void finish(Tune *t, const Outcome *outcomes)
{
    const char *path = tuning_path(t);
    StrBuf text, words;
    sb_init(&text, t->ctx);
    sb_init(&words, t->ctx);
    if (!new_text(t, path, outcomes, &text))
        return;
    if (strcmp(path, "-") == 0) {
        driver_write(t->ctx, t->d, "-", text.text, text.len);
        return;
    }
    put_head(&words, t);
    for (int i = 0; i < t->sizes.n_runs; i++)
        put_outcome(&words, t, &outcomes[i]);
    if (!driver_write_tuning(t->ctx, t->d, path, text.text, text.len))
        return;
    if (option_on(t->d->line, OPT_QUIET))
        return;
    sb_printf(&words, "written to %s\n", path);
    driver_write(t->ctx, t->d, "-", words.text, words.len);
}

/* ---- the verb ---------------------------------------------------------------------------------------------------------------- */

static bool read_command(Tune *t)
{
    const char *device = option_text(t->d->line, OPT_DEVICE);
    CoreEntry *entry;
    if (device && (strcmp(device, "ref") == 0 || strcmp(device, "auto") == 0)) {
        driver_usage(t->ctx, t->d, E0621, "`--device %s`: tuning is for one device, gpu or sim", device);
        return false;
    }
    t->on_gpu = !device || strcmp(device, "gpu") == 0;
    t->device = TUNING_SIM;
    t->unit = t->on_gpu ? "us" : "cycles";
    t->rounds = bench_rounds(t->ctx, t->d);
    if (!t->rounds || !driver_entry(t->ctx, t->d, NULL, &entry))
        return false;
    t->entry = entry;
    t->path = t->d->line->words.at[0];
    if (strcmp(t->path, "-") == 0) {
        driver_usage(t->ctx, t->d, E0621, "`risec tune` reads the program several times, so it has to be a file");
        return false;
    }
    Program *program = program_load(t->ctx, t->path);
    for (int k = 0; k < program_entry_count(program); k++)
        if (strcmp(program_entry_name(program, k), entry->name) == 0)
            t->number = k;
    t->imp = lower_entry(t->ctx, entry, (LowerPass)(PASS_COUNT - 1));
    if (!t->imp) {
        driver_fail(t->d, STATUS_PROGRAM);
        return false;
    }
    /* Now, as tuning takes long. */
    return driver_may_tune(t->ctx, t->d, tuning_path(t)) && (!t->on_gpu || bench_device_is_its_own(t->ctx, t->d));
}

static bool open_device(Tune *t)
{
    rise_error error;
    if (!t->on_gpu)
        return true;
    if (bench_open(&t->gpu, NULL, t->ctx->brake, &error) == RISE_OK) {
        t->device = tuning_device(t->ctx, rise_context_device_name(t->gpu.rise));
        say(t->d->say, "found %s", rise_context_device_name(t->gpu.rise));
        return true;
    }
    gpu_failed(t->ctx, t->d, "risec tune", "`--device sim` estimates from what the simulator counts", &error);
    t->on_gpu = false; /* nothing to close */
    return false;
}

void cmd_tune(Ctx *ctx, Driver *d)
{
    Tune *t = NEW(ctx, Tune);
    t->ctx = ctx;
    t->d = d;
    if (!read_command(t) || !tune_strategies(t) || !choose_tunables(t) || !make_candidates(t) || !choose_sizes(t) || !choose_by(t) || !open_device(t))
        return;
    Outcome *outcomes = NEWN(ctx, Outcome, t->sizes.n_runs);
    if (tune_open(t) && run_all(t, outcomes))
        finish(t, outcomes);
    tune_close(t);
}
