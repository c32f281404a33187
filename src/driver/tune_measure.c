/* How good a candidate is: time on a GPU, or an estimate from the simulator's counters. */
#include "codegen/lower.h"
#include "driver/arguments.h"
#include "driver/run_gpu.h"
#include "driver/tune.h"
#include "sim/counters.h"
#include "sim/sim.h"

/* ---- candidates ----------------------------------------------------------------------------------------------------------- */

ElabSetting *tune_settings(Ctx *ctx, const Tune *t, const Candidate *candidate)
{
    ElabSetting *settings = NEWN(ctx, ElabSetting, t->entry->n_tunables + 1);
    for (int i = 0; i < t->entry->n_tunables; i++)
        settings[i] = (ElabSetting){.name = t->entry->tunable_names[i], .value = candidate->values[i]};
    return settings;
}

static void try_candidate(Ctx *ctx, void *user)
{
    TuneTrial *trial = user;
    const Tune *t = trial->tune;
    Program *program = program_load(ctx, t->path);
    ElabClass class = {.n_settings = t->entry->n_tunables, .settings = tune_settings(ctx, t, trial->candidate)};
    trial->entry = elab_entry_tuned(ctx, program, t->number, 0, NULL, 1, &class);
    trial->imp = trial->entry ? lower_entry(ctx, trial->entry, (LowerPass)(PASS_COUNT - 1)) : NULL;
    for (int i = 0; i < ctx->diags.list.n && !trial->imp; i++) {
        const Diag *diag = ctx->diags.list.at[i];
        if (diag->warning)
            continue;
        trial->interface |= diag->code == E0661;
        if (!trial->candidate->why)
            trial->candidate->why = ctx_printf(t->ctx, "%s: %s", diag_code_name(diag->code), diag->code == E0661 ? "callers would see the difference" : diag_code_title(diag->code));
    }
}

Ctx *tune_try(const Tune *t, Candidate *candidate, TuneTrial *trial)
{
    Ctx *ctx = ctx_new(&t->ctx->alloc, &t->ctx->files);
    *trial = (TuneTrial){.tune = t, .candidate = candidate};
    if (ctx && ctx_try(ctx, try_candidate, trial))
        return ctx;
    ctx_free(ctx);
    return NULL;
}

/* Another result than that of the defaults, beyond rounding: a bug of the program's laws, or of risec. */
static bool agrees(Tune *t, const InputScale *scale, int n, const HostBuf *got, const HostBuf *want)
{
    return results_compare_scaled(scale, n, got, want, false).equal || (diag_error(t->ctx, E0631, NO_SPAN, "%s: a candidate has another result than the defaults", t->entry->name), false);
}

/* ---- the simulator ----------------------------------------------------------------------------------------------------------- */

/* Note [The estimate]
 * Cycles of a device, roughly. A launch costs LAUNCH_CYCLES. A multiprocessor issues four warp instructions a cycle, moves a sector of global memory in
 * two, serves one wavefront of shared memory in one, and loses BARRIER_CYCLES at a barrier of a block. As many multiprocessors work as there are, if there
 * are as many blocks. Latencies, caches and occupancy are not in it, so it tells more and less work apart, and not how well the work is hidden. */
enum { LAUNCH_CYCLES = 1000, SECTOR_CYCLES = 2, ISSUE_PER_CYCLE = 4, BARRIER_CYCLES = 16 };

static double estimate(const Counts *counts, int64_t num_sm)
{
    const uint64_t *at = counts->at;
    double kernels = at[COUNT_kernels] ? (double)at[COUNT_kernels] : 1, blocks = (double)at[COUNT_blocks] / kernels;
    double busy = blocks < (double)num_sm ? blocks : (double)num_sm;
    double work = SECTOR_CYCLES * (double)at[COUNT_sectors] + (double)at[COUNT_instructions] / ISSUE_PER_CYCLE + (double)at[COUNT_bankConflicts] +
                  BARRIER_CYCLES * (double)at[COUNT_blockBarriers];
    return LAUNCH_CYCLES * kernels + work / (busy > 1 ? busy : 1);
}

typedef struct SimTrial {
    Tune *tune;
    TuneTrial trial;
    Launch launch;
    TuneCost *cost;
    bool good;
} SimTrial;

static void simulate(Ctx *ctx, void *user)
{
    SimTrial *s = user;
    SimOptions options = {.profile = true};
    SimReport report = {0};
    s->good = sim_run(ctx, s->trial.imp, &s->launch, &options, &report);
    if (!s->good)
        return;
    double cycles = estimate(&report.profile->total, s->launch.num_sm > 0 ? s->launch.num_sm : 1);
    *s->cost = (TuneCost){true, cycles, cycles, cycles};
}

static bool run_sim(Tune *t, const Launch *given, TuneCost *costs)
{
    Ctx *first = NULL;
    HostBuf *want = NULL;
    InputScale scale = results_scale(given);
    bool good = true;
    for (int i = 0; good && i < t->candidates.n; i++) {
        Candidate *c = &t->candidates.at[i];
        SimTrial s = {.tune = t, .launch = *given, .cost = &costs[i]};
        if (c->why)
            continue;
        Ctx *ctx = tune_try(t, c, &s.trial);
        if (!ctx || !ctx_try(ctx, simulate, &s)) {
            ctx_free(ctx);
            ctx_free(first);
            ctx_out_of_memory(t->ctx);
        }
        if (!s.good) { /* the program is wrong for these values, not too large */
            diag_error(t->ctx, E0629, NO_SPAN, "`risec tune`: the simulator stops at a fault of `%s`; `risec run --set ...` shows it", t->entry->name);
            good = false;
        } else if (first) {
            good = agrees(t, &scale, s.launch.n_results, s.launch.results, want);
        } else {
            want = s.launch.results;
            first = ctx;
            continue;
        }
        ctx_free(ctx);
    }
    ctx_free(first);
    if (!good)
        driver_fail(t->d, STATUS_PROGRAM);
    return good;
}

static bool tune_run_sim(Tune *t, const CommandLine *line, int64_t *sizes, TuneCost *costs)
{
    Driver one = {.line = line};
    ArgumentsHow how = {.copies = 1, .watched = SIM_WATCH_BYTES, .otherwise = "uniform"};
    Launch launch = {0};
    for (int i = 0; i < line->given.n; i++) {
        const Given *given = &line->given.at[i];
        if (given->id == OPT_SET && strcmp(given->name, "numSM") == 0)
            launch.num_sm = given->number;
        if (given->id == OPT_SET && strcmp(given->name, "maxResident") == 0)
            launch.max_resident = given->number;
    }
    bool good = arguments_make(t->ctx, &one, t->entry, &how, &launch);
    driver_fail(t->d, one.status);
    for (int i = 0; good && i < t->entry->n_sizes; i++)
        sizes[i] = launch.sizes[i];
    return good && run_sim(t, &launch, costs);
}

/* ---- a GPU ---------------------------------------------------------------------------------------------------------------------- */

static const char *const GPU_HELP = "`--device sim` estimates from what the simulator counts";

static bool failed(Tune *t, const rise_error *error)
{
    gpu_failed(t->ctx, t->d, "risec tune", GPU_HELP, error);
    return false;
}

static int compile(Tune *t, Candidate *c, rise_error *error)
{
    const CoreEntry *entry = t->entry;
    const Source *source = source_get(t->ctx, entry->span.file);
    rise_setting *settings = NEWN(t->ctx, rise_setting, entry->n_tunables + 1);
    for (int i = 0; i < entry->n_tunables; i++)
        settings[i] = (rise_setting){entry->tunable_names[i], c->values[i]};
    rise_entry_options options = {.size = sizeof options, .settings = settings, .n_settings = (size_t)entry->n_tunables, .flags = RISE_UNTUNED};
    int status = rise_program_from_text(t->gpu.rise, source->name, source->text, source->size, &c->program, error);
    if (status == RISE_OK)
        status = rise_entry_get(c->program, entry->name, &options, &c->compiled, error);
    return status == RISE_OK ? rise_entry_load(c->compiled, error) : status;
}

bool tune_open(Tune *t)
{
    rise_error error;
    if (!t->on_gpu)
        return true;
    for (int i = 0; i < t->candidates.n; i++) {
        Candidate *c = &t->candidates.at[i];
        if (c->why || compile(t, c, &error) == RISE_OK)
            continue;
        /* What the device has no room for is left out; a device that is gone, or NVRTC that is missing, fails all. */
        if (i == 0 || error.status == RISE_ERROR_LOST || error.status == RISE_ERROR_BUG || error.status == RISE_ERROR_NVRTC)
            return failed(t, &error);
        c->why = ctx_printf(t->ctx, "%.*s", (int)strcspn(error.text, "\n"), error.text);
    }
    return true;
}

void tune_close(Tune *t)
{
    for (int i = 0; i < t->candidates.n; i++)
        rise_program_free(t->candidates.at[i].program);
    if (t->on_gpu)
        bench_close(&t->gpu);
}

typedef struct Runner { /* one candidate in a race */
    int candidate;
    rise_call **calls;
} Runner;

static int run_call(void *user, int copy, CUstream stream, rise_error *error) { return rise_call_launch(((Runner *)user)->calls[copy], stream, error); }

typedef struct Field { /* all that take part */
    Tune *tune;
    BenchWork *work;
    int n;
    Runner *runners;
    BenchContender *contenders;
} Field;

/* Once on each copy, and the results compared with those of the defaults. */
static int check_field(Field *f, bool *agree, rise_error *error)
{
    Tune *t = f->tune;
    BenchWork *work = f->work;
    HostBuf *want = NULL;
    InputScale scale = bench_work_scale(work);
    for (int i = 0; i < f->n; i++) {
        HostBuf *got = NEWN(t->ctx, HostBuf, work->launch.n_results + 1);
        int status = bench_work_calls(work, t->candidates.at[f->runners[i].candidate].compiled, f->runners[i].calls, error);
        for (int c = 0; status == RISE_OK && c < work->copies; c++)
            status = run_call(&f->runners[i], c, t->gpu.stream, error);
        if (status == RISE_OK)
            status = bench_work_fetch(work, &f->contenders[i], got, error);
        if (status != RISE_OK)
            return status;
        if (!want)
            want = got;
        *agree = agrees(t, &scale, work->launch.n_results, got, want);
        if (!*agree)
            return RISE_OK;
    }
    return RISE_OK;
}

static double median_of(const BenchContender *c) { return c->chain.n ? c->chain.median : c->alone.median; }

/* The best ones to the front, behind the first. */
static void order_field(Field *f)
{
    for (int i = 2; i < f->n; i++)
        for (int j = i; j > 1 && median_of(&f->contenders[j]) < median_of(&f->contenders[j - 1]); j--) {
            BenchContender c = f->contenders[j];
            f->contenders[j] = f->contenders[j - 1];
            f->contenders[j - 1] = c;
        }
}

static void take_costs(const Field *f, int n, TuneCost *costs)
{
    for (int i = 0; i < n; i++) {
        const BenchTime *time = f->contenders[i].chain.n ? &f->contenders[i].chain : &f->contenders[i].alone;
        costs[((const Runner *)f->contenders[i].user)->candidate] = (TuneCost){true, time->median, time->p10, time->p90};
    }
}

/* All in a few rounds, then the best ones and the defaults in all rounds. */
static int race(Field *f, TuneCost *costs, rise_error *error)
{
    enum { FIRST_ROUNDS = 5, FINALISTS = 5 };
    Tune *t = f->tune;
    bool agree = true;
    int status = check_field(f, &agree, error);
    if (status != RISE_OK || !agree)
        return status;
    status = bench_race(&t->gpu, f->n, f->contenders, f->work->copies, t->rounds < FIRST_ROUNDS ? t->rounds : FIRST_ROUNDS, error);
    if (status != RISE_OK)
        return status;
    take_costs(f, f->n, costs);
    order_field(f);
    int n = f->n < FINALISTS ? f->n : FINALISTS;
    status = bench_race(&t->gpu, n, f->contenders, f->work->copies, t->rounds, error);
    if (status == RISE_OK)
        take_costs(f, n, costs);
    return status;
}

static bool tune_run_gpu(Tune *t, const CommandLine *line, int64_t *sizes, TuneCost *costs)
{
    BenchWork work;
    rise_error error = {.status = RISE_OK};
    int errors = t->ctx->diags.errors;
    if (!bench_work_make(t->ctx, t->d, line, t->entry, &t->gpu, &work))
        return false;
    for (int i = 0; i < t->entry->n_sizes; i++)
        sizes[i] = work.launch.sizes[i];
    int status = bench_work_copy(&work, &error), copies = work.copies;
    Field f = {.tune = t, .work = &work, .runners = NEWN(t->ctx, Runner, t->candidates.n), .contenders = NEWN(t->ctx, BenchContender, t->candidates.n)};
    for (int i = 0; i < t->candidates.n; i++)
        if (!t->candidates.at[i].why) {
            f.runners[f.n] = (Runner){i, NEWN(t->ctx, rise_call *, copies + 1)};
            f.contenders[f.n] = (BenchContender){.run = run_call, .user = &f.runners[f.n]};
            f.n++;
        }
    if (status == RISE_OK)
        status = race(&f, costs, &error);
    for (int i = 0; i < f.n; i++)
        for (int c = 0; c < copies; c++)
            rise_call_free(f.runners[i].calls[c]);
    bench_work_free(&work);
    if (status != RISE_OK)
        return failed(t, &error);
    return t->ctx->diags.errors == errors;
}

bool tune_run(Tune *t, int run, int64_t *sizes, TuneCost *costs)
{
    const CommandLine *line = bench_sizes_line(t->ctx, &t->sizes, t->d->line, run);
    return t->on_gpu ? tune_run_gpu(t, line, sizes, costs) : tune_run_sim(t, line, sizes, costs);
}
