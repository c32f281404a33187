#include "driver/bench_work.h"

#include "driver/arguments.h"
#include "driver/run_gpu.h"

/* Elements of an input that are made on the host; beyond, they are repeated on the device. */
enum { MADE_ELEMENTS = 1 << 22, POISON = 0xff };

/* ---- the command line -------------------------------------------------------------------------------------------------------- */

static bool is_size(const CoreEntry *entry, const char *name)
{
    for (int i = 0; i < entry->n_sizes; i++)
        if (strcmp(entry->sizes[i]->name, name) == 0)
            return true;
    return false;
}

static bool read_series(Ctx *ctx, Driver *d, const Given *given, BenchSeries *series)
{
    *series = (BenchSeries){.name = given->name};
    for (const char *at = given->value;;) {
        size_t n = strcspn(at, ",");
        if (series->n == BENCH_MAX_SIZES) {
            driver_usage(ctx, d, E0621, "`--sizes %s=...`: at most %d sizes are measured at a time", given->name, BENCH_MAX_SIZES);
            return false;
        }
        if (!size_parse(intern(ctx, at, n), &series->values[series->n++])) {
            driver_usage(ctx, d, E0621, "`--sizes %s=%s`: `%.*s` is no integer of at least 0, below 2^63", given->name, given->value, (int)n, at);
            return false;
        }
        if (!at[n])
            return true;
        at += n + 1;
    }
}

bool bench_sizes_read(Ctx *ctx, Driver *d, const CoreEntry *entry, BenchSizes *sizes)
{
    const CommandLine *line = d->line;
    *sizes = (BenchSizes){.n_runs = 1};
    for (int i = 0; i < line->given.n; i++) {
        const Given *given = &line->given.at[i];
        BenchSeries series;
        if (given->id != OPT_SIZES)
            continue;
        if (!is_size(entry, given->name)) {
            Diag *diag = driver_usage(ctx, d, E0621, "%s has no size `%s`", entry->name, given->name);
            diag_help(ctx, diag, "`--sizes` lists values of a size; a tunable is given by `--set`, one at a time");
            return false;
        }
        if (option_sets(line, given->name)) {
            driver_usage(ctx, d, E0621, "the size `%s` is given by `--set` and by `--sizes`", given->name);
            return false;
        }
        if (!read_series(ctx, d, given, &series))
            return false;
        vec_push(ctx, &sizes->series, series);
        sizes->n_runs = series.n > sizes->n_runs ? series.n : sizes->n_runs;
    }
    for (int i = 0; i < sizes->series.n; i++) {
        const BenchSeries *series = &sizes->series.at[i];
        if (series->n == 1 || series->n == sizes->n_runs)
            continue;
        driver_usage(ctx, d, E0621, "`--sizes`: there are %d values of `%s`, and %d of another size", series->n, series->name, sizes->n_runs);
        return false;
    }
    return true;
}

const CommandLine *bench_sizes_line(Ctx *ctx, const BenchSizes *sizes, const CommandLine *line, int run)
{
    CommandLine *copy = NEW(ctx, CommandLine);
    copy->verb = line->verb;
    copy->words = line->words;
    for (int i = 0; i < line->given.n; i++)
        vec_push(ctx, &copy->given, line->given.at[i]);
    for (int i = 0; i < sizes->series.n; i++) {
        const BenchSeries *series = &sizes->series.at[i];
        int64_t value = series->values[series->n > 1 ? run : 0];
        vec_push(ctx, &copy->given, (Given){OPT_SET, series->name, ctx_printf(ctx, "%lld", (long long)value), value});
    }
    return copy;
}

int bench_rounds(Ctx *ctx, Driver *d)
{
    int64_t rounds = option_number(d->line, OPT_ROUNDS, BENCH_ROUNDS);
    if (rounds >= 1 && rounds <= BENCH_MAX_ROUNDS)
        return (int)rounds;
    driver_usage(ctx, d, E0621, "`--rounds` is a number from 1 to %d", BENCH_MAX_ROUNDS);
    return 0;
}

bool bench_device_is_its_own(Ctx *ctx, Driver *d)
{
    static const char *const names[] = {"numSM", "maxResident"};
    for (int i = 0; i < 2; i++)
        if (option_sets(d->line, names[i])) {
            driver_usage(ctx, d, E0623, "`--set %s=...`: a GPU has its own `%s`", names[i], names[i]);
            return false;
        }
    return true;
}

/* ---- arguments on the device --------------------------------------------------------------------------------------------------- */

bool bench_work_make(Ctx *ctx, Driver *d, const CommandLine *line, const CoreEntry *entry, BenchGpu *gpu, BenchWork *work)
{
    ArgumentsHow how = {.copies = 1, .most = MADE_ELEMENTS, .otherwise = "uniform"};
    Driver one = {.line = line};
    *work = (BenchWork){.ctx = ctx, .entry = entry, .gpu = gpu, .launch.num_sm = gpu->rise ? gpu_multiprocessors(gpu->rise) : 0};
    bool good = arguments_make(ctx, &one, entry, &how, &work->launch);
    driver_fail(d, one.status);
    if (!good)
        return false;
    Launch *launch = &work->launch;
    work->held = how.held;
    launch->n_results = type_component_count(entry->result);
    launch->results = NEWN(ctx, HostBuf, launch->n_results + 1);
    for (int k = 0; k < launch->n_results; k++)
        if (!launch_buffer(ctx, entry, launch, type_component(ctx, entry->result, k), &launch->results[k], false)) {
            driver_fail(d, STATUS_PROGRAM);
            return false;
        }
    work->n_arguments = launch->n_results + launch->n_buffers;
    work->host = NEWN(ctx, const HostBuf *, work->n_arguments + 1);
    work->bytes = NEWN(ctx, size_t, work->n_arguments + 1);
    work->values = NEWN(ctx, bool, work->n_arguments + 1);
    for (int k = 0; k < work->n_arguments; k++) {
        work->host[k] = k < launch->n_results ? &launch->results[k] : &launch->buffers[k - launch->n_results];
        work->bytes[k] = (size_t)work->host[k]->count * (size_t)scalar_bytes(work->host[k]->elem);
        work->values[k] = k >= launch->n_results && work->host[k]->rank == 0;
        work->all_bytes += work->bytes[k];
    }
    return true;
}

#define TRY(call, what)                                                  \
    do {                                                                 \
        int status_ = bench_check(gpu, (call), error, (what));           \
        if (status_ != RISE_OK)                                          \
            return status_;                                              \
    } while (0)

/* What the host holds, again and again. */
static int fill_input(const BenchWork *work, CUdeviceptr at, int input, size_t bytes, rise_error *error)
{
    BenchGpu *gpu = work->gpu;
    const HostBuf *buf = &work->launch.buffers[input];
    size_t have = (size_t)work->held[input] * (size_t)scalar_bytes(buf->elem);
    if (!bytes)
        return RISE_OK;
    TRY(gpu->api.copy_in(at, buf->bytes, have, gpu->stream), "copying an input to the device");
    while (have < bytes) {
        size_t more = have < bytes - have ? have : bytes - have;
        TRY(gpu->api.copy_device(at + have, at, more, gpu->stream), "copying an input on the device");
        have += more;
    }
    return RISE_OK;
}

static int make_copy(const BenchWork *work, CUdeviceptr *at, rise_error *error)
{
    BenchGpu *gpu = work->gpu;
    int n_results = work->launch.n_results;
    for (int k = 0; k < work->n_arguments; k++) {
        TRY(gpu->api.mem_alloc(&at[k], work->bytes[k] ? work->bytes[k] : 1), "memory for the arguments");
        int status = k < n_results ? RISE_OK : fill_input(work, at[k], k - n_results, work->bytes[k], error);
        if (status != RISE_OK)
            return status;
    }
    TRY(gpu->api.stream_synchronize(gpu->stream), "copying the inputs");
    return RISE_OK;
}

static int make_call(const BenchWork *work, rise_entry *entry, const CUdeviceptr *at, rise_call **call, rise_error *error)
{
    int status = rise_call_new(entry, call, error);
    for (int i = 0; status == RISE_OK && i < work->launch.n_sizes; i++)
        status = rise_call_size(*call, work->entry->sizes[i]->name, work->launch.sizes[i], error);
    for (int k = 0; status == RISE_OK && k < work->n_arguments; k++) {
        const HostBuf *buf = work->host[k];
        rise_argument argument = {.size = sizeof argument};
        void *memory = (void *)(uintptr_t)at[k];
        int type = gpu_type_of(buf->elem);
        status = rise_entry_argument(entry, k, &argument, error);
        if (status == RISE_OK)
            status = k < work->launch.n_results   ? rise_call_output(*call, argument.name, type, memory, work->bytes[k], RISE_DEVICE, error)
                     : work->values[k]              ? rise_call_scalar(*call, argument.name, type, buf->bytes, error)
                                                    : rise_call_input(*call, argument.name, type, buf->rank, buf->shape, memory, RISE_DEVICE, error);
    }
    return status;
}

void bench_work_free(BenchWork *work)
{
    for (int c = 0; c < work->copies; c++)
        for (int k = 0; k < work->n_arguments; k++)
            if (work->at[c][k])
                work->gpu->api.mem_free(work->at[c][k]);
    work->copies = 0;
}

int bench_work_copy(BenchWork *work, rise_error *error)
{
    BenchGpu *gpu = work->gpu;
    size_t free_bytes = 0, total = 0;
    int status = RISE_OK;
    TRY(gpu->api.mem_info(&free_bytes, &total), "asking for free memory");
    work->copies = bench_copies(work->all_bytes, gpu->cache_bytes, free_bytes);
    work->at = NEWN(work->ctx, CUdeviceptr *, work->copies);
    for (int c = 0; c < work->copies; c++)
        work->at[c] = NEWN(work->ctx, CUdeviceptr, work->n_arguments + 1);
    for (int c = 0; status == RISE_OK && c < work->copies; c++)
        status = make_copy(work, work->at[c], error);
    return status;
}

int bench_work_calls(const BenchWork *work, rise_entry *entry, rise_call **calls, rise_error *error)
{
    int status = RISE_OK;
    for (int c = 0; status == RISE_OK && c < work->copies; c++)
        status = make_call(work, entry, work->at[c], &calls[c], error);
    return status;
}

/* ---- results ------------------------------------------------------------------------------------------------------------------- */

static int poison_results(const BenchWork *work, rise_error *error)
{
    BenchGpu *gpu = work->gpu;
    for (int k = 0; k < work->launch.n_results; k++)
        if (work->bytes[k])
            TRY(gpu->api.set_bytes(work->at[0][k], POISON, work->bytes[k], gpu->stream), "poisoning the results");
    return RISE_OK;
}

int bench_work_fetch(const BenchWork *work, const BenchContender *c, HostBuf *results, rise_error *error)
{
    BenchGpu *gpu = work->gpu;
    int status = poison_results(work, error);
    if (status == RISE_OK)
        status = c->run(c->user, 0, gpu->stream, error);
    if (status != RISE_OK)
        return status;
    for (int k = 0; k < work->launch.n_results; k++) {
        results[k] = work->launch.results[k];
        results[k].bytes = ctx_alloc(work->ctx, work->bytes[k] ? work->bytes[k] : 1);
        if (work->bytes[k])
            TRY(gpu->api.copy_out(results[k].bytes, work->at[0][k], work->bytes[k], gpu->stream), "copying results from the device");
    }
    TRY(gpu->api.stream_synchronize(gpu->stream), "waiting for the results");
    return RISE_OK;
}

Judge bench_work_judge(const BenchWork *work, const ImpProgram *imp)
{
    static const int64_t most_elements = 1 << 26, most_steps = 1 << 28;
    Ctx *ctx = work->ctx;
    Judge judge = {.ctx = ctx, .entry = work->entry, .launch = work->launch, .imp = imp, .options.max_steps = (uint64_t)most_steps};
    HostBuf *inputs = NEWN(ctx, HostBuf, work->launch.n_buffers + 1);
    int64_t elements = 0;
    for (int k = 0; k < work->launch.n_buffers; k++)
        elements += work->launch.buffers[k].count < most_elements ? work->launch.buffers[k].count : most_elements;
    if (elements > most_elements) {
        judge.tried = true;
        judge.why = "the inputs are too many to compute them again";
        return judge;
    }
    for (int k = 0; k < work->launch.n_buffers; k++) {
        size_t bytes = work->bytes[work->launch.n_results + k], held = (size_t)work->held[k] * (size_t)scalar_bytes(work->launch.buffers[k].elem);
        inputs[k] = work->launch.buffers[k];
        inputs[k].bytes = ctx_alloc(ctx, bytes ? bytes : 1);
        for (size_t at = 0; at < bytes; at += held)
            memcpy(inputs[k].bytes + at, work->launch.buffers[k].bytes, held < bytes - at ? held : bytes - at);
    }
    judge.launch.buffers = inputs;
    judge.launch.max_steps = most_steps;
    return judge;
}
