/* How good a candidate is: time on a GPU, or an estimate from the simulator's counters. */
#include "codegen/lower.h"
#include "driver/arguments.h"
#include "driver/run_gpu.h"
#include "driver/tune.h"
#include "frontend/costs.h"
#include "runtime/internal.h"
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
    ElabClass class = {.n_settings = t->entry->n_tunables, .settings = tune_settings(ctx, t, trial->candidate), .strategy = trial->candidate->strategy};
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
    Ctx *ctx = ctx_new_part(t->ctx);
    *trial = (TuneTrial){.tune = t, .candidate = candidate};
    if (ctx && ctx_try(ctx, try_candidate, trial))
        return ctx;
    ctx_free(ctx);
    return NULL;
}

/* Another result than the program's, beyond rounding: a law that does not hold, or a bug of risec. The roundings that are counted are
 * those of the defaults; other values have other trees. */
static bool agrees(Tune *t, const Candidate *c, Judge *judge, int n, const HostBuf *got)
{
    if (judge_results(judge, n, got, NULL, BENCH_RIVAL_BOUNDS).verdict != JUDGED_DIFFERENT)
        return true;
    StrBuf values;
    sb_init(&values, t->ctx);
    for (int i = 0; i < t->entry->n_tunables; i++)
        sb_printf(&values, " --set %s=%lld", t->entry->tunable_names[i], (long long)c->values[i]);
    if (c->strategy)
        sb_printf(&values, " `%s`", c->strategy);
    Diag *d = diag_error(t->ctx, E0631, NO_SPAN, "%s: the results with%s differ from the reference", t->entry->name, values.text ? values.text : "");
    diag_help(t->ctx, d, "`risec run --verify` compares each with the reference");
    return false;
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
    *s->cost = (TuneCost){true, true, cycles, cycles, cycles};
}

static bool run_sim(Tune *t, const Launch *given, TuneCost *costs)
{
    Judge judge = {.ctx = t->ctx, .entry = t->entry, .launch = *given, .imp = t->imp};
    bool good = true;
    for (int i = 0; good && i < t->candidates.n; i++) {
        Candidate *c = &t->candidates.at[i];
        SimTrial s = {.tune = t, .launch = *given, .cost = &costs[i]};
        if (c->why)
            continue;
        say_part(t->d->say, "candidate %d", i + 1);
        Ctx *ctx = tune_try(t, c, &s.trial);
        if (!ctx || !ctx_try(ctx, simulate, &s)) {
            ctx_free(ctx);
            ctx_out_of_memory(t->ctx);
        }
        if (!s.good) { /* the program is wrong for these values, not too large */
            diag_error(t->ctx, E0629, NO_SPAN, "`risec tune`: the simulator stops at a fault of `%s`; `risec run --set ...` shows it", t->entry->name);
            good = false;
        } else {
            good = agrees(t, c, &judge, s.launch.n_results, s.launch.results);
        }
        ctx_free(ctx);
    }
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
    rise_entry_options options = {.size = sizeof options, .settings = settings, .n_settings = (size_t)entry->n_tunables, .flags = RISE_UNTUNED, .strategy = c->strategy, .costs = costs_of(t->ctx)->text};
    int status = program_of_file(t->gpu.rise, source->name, source->text, source->size, &c->program, error);
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

typedef struct Runner { /* one candidate */
    int candidate;
    rise_call **calls; /* [copy]; they have the workspace, so they live only while it is measured */
    TuneCost cost;
} Runner;

static int run_call(void *user, int copy, CUstream stream, rise_error *error) { return rise_call_launch(((Runner *)user)->calls[copy], stream, error); }

typedef struct Field { /* all that take part at one size */
    Tune *tune;
    BenchWork *work;
    int n;
    Runner *runners; /* the defaults first */
    Judge judge;
} Field;

static void forget_calls(const Field *f, Runner *r)
{
    for (int c = 0; c < f->work->copies; c++) {
        rise_call_free(r->calls[c]);
        r->calls[c] = NULL;
    }
}

/* Makes the calls, and launches each once so that all is allocated and zeroed that a first call needs. */
static int make_calls(const Field *f, Runner *r, rise_error *error)
{
    int status = bench_work_calls(f->work, f->tune->candidates.at[r->candidate].compiled, r->calls, error);
    for (int c = 0; status == RISE_OK && c < f->work->copies; c++)
        status = run_call(r, c, f->tune->gpu.stream, error);
    return status;
}

/* The results beside the program's. */
static int check_results(Field *f, Runner *r, bool *agree, rise_error *error)
{
    Tune *t = f->tune;
    int n = f->work->launch.n_results;
    HostBuf *got = NEWN(t->ctx, HostBuf, n + 1);
    BenchContender contender = {.run = run_call, .user = r};
    int status = bench_work_fetch(f->work, &contender, got, error);
    *agree = status == RISE_OK && agrees(t, &t->candidates.at[r->candidate], &f->judge, n, got);
    return status;
}

/* The first n runners, turn by turn. */
static int race(const Field *f, int n, Runner *runners, int rounds, rise_error *error)
{
    BenchContender *contenders = NEWN(f->tune->ctx, BenchContender, n);
    for (int i = 0; i < n; i++)
        contenders[i] = (BenchContender){.run = run_call, .user = &runners[i]};
    int status = bench_race(&f->tune->gpu, n, contenders, f->work->copies, rounds, error);
    for (int i = 0; status == RISE_OK && i < n; i++) {
        const BenchTime *time = contenders[i].chain.n ? &contenders[i].chain : &contenders[i].alone;
        runners[i].cost = (TuneCost){true, n > 1, time->median, time->p10, time->p90};
    }
    return status;
}

/* The best ones to the front, behind the defaults. */
static void order_runners(Field *f)
{
    for (int i = 2; i < f->n; i++)
        for (int j = i; j > 1 && f->runners[j].cost.cost < f->runners[j - 1].cost.cost; j--) {
            Runner r = f->runners[j];
            f->runners[j] = f->runners[j - 1];
            f->runners[j - 1] = r;
        }
}

/* Each by itself in a few rounds, then the best ones and the defaults turn by turn in all rounds. */
static int find_best(Field *f, bool *agree, rise_error *error)
{
    enum { FIRST_ROUNDS = 5, FINALISTS = 5 };
    Tune *t = f->tune;
    int status = RISE_OK;
    for (int i = 0; status == RISE_OK && *agree && i < f->n; i++) {
        status = make_calls(f, &f->runners[i], error);
        if (status == RISE_OK)
            status = check_results(f, &f->runners[i], agree, error);
        if (status == RISE_OK && *agree)
            status = race(f, 1, &f->runners[i], t->rounds < FIRST_ROUNDS ? t->rounds : FIRST_ROUNDS, error);
        forget_calls(f, &f->runners[i]);
    }
    if (status != RISE_OK || !*agree)
        return status;
    order_runners(f);
    int n = f->n < FINALISTS ? f->n : FINALISTS;
    for (int i = 0; status == RISE_OK && i < n; i++)
        status = make_calls(f, &f->runners[i], error);
    if (status == RISE_OK)
        status = race(f, n, f->runners, t->rounds, error);
    for (int i = 0; i < n; i++)
        forget_calls(f, &f->runners[i]);
    return status;
}

static bool tune_run_gpu(Tune *t, const CommandLine *line, int64_t *sizes, TuneCost *costs)
{
    BenchWork work;
    rise_error error = {.status = RISE_OK};
    bool agree = true;
    if (!bench_work_make(t->ctx, t->d, line, t->entry, &t->gpu, &work))
        return false;
    for (int i = 0; i < t->entry->n_sizes; i++)
        sizes[i] = work.launch.sizes[i];
    int status = bench_work_copy(&work, &error);
    Field f = {.tune = t, .work = &work, .runners = NEWN(t->ctx, Runner, t->candidates.n), .judge = bench_work_judge(&work, t->imp)};
    for (int i = 0; i < t->candidates.n; i++)
        if (!t->candidates.at[i].why)
            f.runners[f.n++] = (Runner){.candidate = i, .calls = NEWN(t->ctx, rise_call *, work.copies + 1)};
    if (status == RISE_OK)
        status = find_best(&f, &agree, &error);
    for (int i = 0; i < f.n; i++)
        costs[f.runners[i].candidate] = f.runners[i].cost;
    bench_work_free(&work);
    if (status != RISE_OK)
        return failed(t, &error);
    if (!agree)
        driver_fail(t->d, STATUS_PROGRAM);
    return agree;
}

bool tune_run(Tune *t, int run, int64_t *sizes, TuneCost *costs)
{
    const CommandLine *line = bench_sizes_line(t->ctx, &t->sizes, t->d->line, run);
    return t->on_gpu ? tune_run_gpu(t, line, sizes, costs) : tune_run_sim(t, line, sizes, costs);
}
