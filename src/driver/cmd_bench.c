/* `risec bench`: sizes, inputs on the device, contenders, tables. How time is measured: bench_gpu.h. */
#include "codegen/lower.h"
#include "driver/arguments.h"
#include "driver/bench_gpu.h"
#include "driver/bench_hand.h"
#include "driver/results.h"
#include "driver/run_gpu.h"

/* Elements of an input that are made on the host; beyond, they are repeated on the device. */
enum { MADE_ELEMENTS = 1 << 22, MAX_SIZES = 64, MAX_ROUNDS = 1000, POISON = 0xff };

typedef struct Series { /* --sizes NAME=N,N,... */
    const char *name;
    int n;
    int64_t values[MAX_SIZES];
} Series;

typedef struct Kernel { /* one contender at one size */
    const char *name;
    BenchTime chain, alone;
    const char *wrong; /* NULL: its results agree with ours */
    bool compared, exact;
} Kernel;

typedef struct Bench {
    Ctx *ctx;
    Driver *d;
    const CoreEntry *entry;
    VEC(Series) series;
    int n_runs, rounds;
    VEC(BenchHand) hands;
    BenchGpu gpu;
    BenchFloors floors;
    rise_program *program;
    rise_entry *compiled;
} Bench;

/* One size: its buffers, and what is measured there. */
typedef struct Work {
    Bench *b;
    Launch launch; /* results have shapes and no bytes */
    int64_t *held;
    int n_arguments; /* results first, as everywhere in librise */
    const HostBuf **host;
    size_t *bytes, all_bytes; /* of the arguments, of all of them */
    int copies;
    CUdeviceptr **at; /* [copy][argument] */
    rise_call **calls; /* [copy] */
    Kernel *kernels; /* ours, then the hand-written ones */
    InputScale scale;
    HostBuf *ours; /* our results, where there is something to compare */
} Work;

static const char *const GPU_HELP = "times come from a GPU alone; `risec run FILE.rise --profile` counts on the simulator what a GPU would do";

static bool failed(Bench *b, const rise_error *error)
{
    gpu_failed(b->ctx, b->d, "risec bench", GPU_HELP, error);
    return false;
}

/* ---- the command line -------------------------------------------------------------------------------------------------------- */

static bool is_size(const CoreEntry *entry, const char *name)
{
    for (int i = 0; i < entry->n_sizes; i++)
        if (strcmp(entry->sizes[i]->name, name) == 0)
            return true;
    return false;
}

static bool read_series(Bench *b, const Given *given, Series *series)
{
    *series = (Series){.name = given->name};
    for (const char *at = given->value;;) {
        size_t n = strcspn(at, ",");
        if (series->n == MAX_SIZES) {
            driver_usage(b->ctx, b->d, E0621, "`--sizes %s=...`: at most %d sizes are measured at a time", given->name, MAX_SIZES);
            return false;
        }
        if (!size_parse(intern(b->ctx, at, n), &series->values[series->n++])) {
            driver_usage(b->ctx, b->d, E0621, "`--sizes %s=%s`: `%.*s` is no integer of at least 0, below 2^63", given->name, given->value, (int)n, at);
            return false;
        }
        if (!at[n])
            return true;
        at += n + 1;
    }
}

static bool read_sizes(Bench *b)
{
    const CommandLine *line = b->d->line;
    b->n_runs = 1;
    for (int i = 0; i < line->given.n; i++) {
        const Given *given = &line->given.at[i];
        Series series;
        if (given->id != OPT_SIZES)
            continue;
        if (!is_size(b->entry, given->name)) {
            Diag *diag = driver_usage(b->ctx, b->d, E0621, "%s has no size `%s`", b->entry->name, given->name);
            diag_help(b->ctx, diag, "`--sizes` lists values of a size; a tunable is given by `--set`, one at a time");
            return false;
        }
        if (option_sets(line, given->name)) {
            driver_usage(b->ctx, b->d, E0621, "the size `%s` is given by `--set` and by `--sizes`", given->name);
            return false;
        }
        if (!read_series(b, given, &series))
            return false;
        vec_push(b->ctx, &b->series, series);
        b->n_runs = series.n > b->n_runs ? series.n : b->n_runs;
    }
    for (int i = 0; i < b->series.n; i++) {
        const Series *series = &b->series.at[i];
        if (series->n == 1 || series->n == b->n_runs)
            continue;
        driver_usage(b->ctx, b->d, E0621, "`--sizes`: there are %d values of `%s`, and %d of another size", series->n, series->name, b->n_runs);
        return false;
    }
    return true;
}

/* The command line as if the sizes of this run were given by --set. */
static const CommandLine *line_of_run(Bench *b, const CommandLine *line, int run)
{
    CommandLine *copy = NEW(b->ctx, CommandLine);
    copy->verb = line->verb;
    copy->words = line->words;
    for (int i = 0; i < line->given.n; i++)
        vec_push(b->ctx, &copy->given, line->given.at[i]);
    for (int i = 0; i < b->series.n; i++) {
        const Series *series = &b->series.at[i];
        int64_t value = series->values[series->n > 1 ? run : 0];
        vec_push(b->ctx, &copy->given, (Given){OPT_SET, series->name, ctx_printf(b->ctx, "%lld", (long long)value), value});
    }
    return copy;
}

static bool read_hands(Bench *b)
{
    const CommandLine *line = b->d->line;
    for (int i = 0; i < line->given.n; i++) {
        BenchHand hand;
        if (line->given.at[i].id != OPT_VS)
            continue;
        if (!bench_hand_read(b->ctx, b->d, line->given.at[i].value, b->entry->name, &hand))
            return false;
        vec_push(b->ctx, &b->hands, hand);
    }
    return true;
}

static bool device_is_its_own(Bench *b)
{
    static const char *const names[] = {"numSM", "maxResident"};
    for (int i = 0; i < 2; i++)
        if (option_sets(b->d->line, names[i])) {
            driver_usage(b->ctx, b->d, E0623, "`--set %s=...`: a GPU has its own `%s`", names[i], names[i]);
            return false;
        }
    return true;
}

static bool read_command(Bench *b)
{
    const CommandLine *line = b->d->line;
    CoreEntry *entry;
    if (option_on(line, OPT_JSON) && option_on(line, OPT_CSV)) {
        driver_usage(b->ctx, b->d, E0621, "`--json` and `--csv` are two forms of the same output: give one");
        return false;
    }
    int64_t rounds = option_number(line, OPT_ROUNDS, BENCH_ROUNDS);
    if (rounds < 1 || rounds > MAX_ROUNDS) {
        driver_usage(b->ctx, b->d, E0621, "`--rounds` is a number from 1 to %d", MAX_ROUNDS);
        return false;
    }
    b->rounds = (int)rounds;
    if (!driver_entry(b->ctx, b->d, &entry) || !device_is_its_own(b))
        return false;
    b->entry = entry;
    if (!lower_entry(b->ctx, entry, (LowerPass)(PASS_COUNT - 1))) {
        driver_fail(b->d, STATUS_PROGRAM);
        return false;
    }
    return read_sizes(b) && read_hands(b);
}

/* ---- arguments on the device --------------------------------------------------------------------------------------------------- */

/* Sizes, inputs on the host, shapes of the results. */
static bool make_work(Bench *b, int run, Work *work)
{
    Ctx *ctx = b->ctx;
    const CommandLine *line = b->d->line;
    ArgumentsHow how = {.copies = 1, .most = MADE_ELEMENTS, .otherwise = "uniform"};
    *work = (Work){.b = b, .launch.num_sm = b->gpu.rise ? gpu_multiprocessors(b->gpu.rise) : 0};
    b->d->line = line_of_run(b, line, run);
    bool good = arguments_make(ctx, b->d, b->entry, &how, &work->launch);
    b->d->line = line;
    if (!good)
        return false;
    Launch *launch = &work->launch;
    work->held = how.held;
    launch->n_results = type_component_count(b->entry->result);
    launch->results = NEWN(ctx, HostBuf, launch->n_results + 1);
    for (int k = 0; k < launch->n_results; k++)
        if (!launch_buffer(ctx, b->entry, launch, type_component(ctx, b->entry->result, k), &launch->results[k], false)) {
            driver_fail(b->d, STATUS_PROGRAM);
            return false;
        }
    work->n_arguments = launch->n_results + launch->n_buffers;
    work->host = NEWN(ctx, const HostBuf *, work->n_arguments + 1);
    work->bytes = NEWN(ctx, size_t, work->n_arguments + 1);
    for (int k = 0; k < work->n_arguments; k++) {
        work->host[k] = k < launch->n_results ? &launch->results[k] : &launch->buffers[k - launch->n_results];
        work->bytes[k] = (size_t)work->host[k]->count * (size_t)scalar_bytes(work->host[k]->elem);
        work->all_bytes += work->bytes[k];
    }
    work->kernels = NEWN(ctx, Kernel, b->hands.n + 1);
    work->kernels[0].name = "risec";
    for (int i = 0; i < b->hands.n; i++)
        work->kernels[i + 1].name = b->hands.at[i].path;
    return true;
}

#define TRY(call, what)                                                  \
    do {                                                                 \
        int status_ = bench_check(gpu, (call), error, (what));           \
        if (status_ != RISE_OK)                                          \
            return status_;                                              \
    } while (0)

/* What the host holds, again and again. */
static int fill_input(Work *work, CUdeviceptr at, int input, size_t bytes, rise_error *error)
{
    BenchGpu *gpu = &work->b->gpu;
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

static int make_copy(Work *work, CUdeviceptr *at, rise_error *error)
{
    BenchGpu *gpu = &work->b->gpu;
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

static int make_call(Work *work, const CUdeviceptr *at, rise_call **call, rise_error *error)
{
    const CoreEntry *entry = work->b->entry;
    int status = rise_call_new(work->b->compiled, call, error);
    for (int i = 0; status == RISE_OK && i < work->launch.n_sizes; i++)
        status = rise_call_size(*call, entry->sizes[i]->name, work->launch.sizes[i], error);
    for (int k = 0; status == RISE_OK && k < work->n_arguments; k++) {
        const HostBuf *buf = work->host[k];
        rise_argument argument = {.size = sizeof argument};
        void *memory = (void *)(uintptr_t)at[k];
        int type = gpu_type_of(buf->elem);
        status = rise_entry_argument(work->b->compiled, k, &argument, error);
        if (status == RISE_OK)
            status = k < work->launch.n_results ? rise_call_output(*call, argument.name, type, memory, work->bytes[k], RISE_DEVICE, error)
                                                : rise_call_input(*call, argument.name, type, buf->rank, buf->shape, memory, RISE_DEVICE, error);
    }
    return status;
}

static void free_copies(Work *work)
{
    for (int c = 0; c < work->copies; c++) {
        rise_call_free(work->calls[c]);
        for (int k = 0; k < work->n_arguments; k++)
            if (work->at[c][k])
                work->b->gpu.api.mem_free(work->at[c][k]);
    }
}

static int make_copies(Work *work, rise_error *error)
{
    BenchGpu *gpu = &work->b->gpu;
    Ctx *ctx = work->b->ctx;
    size_t free_bytes = 0, total = 0;
    int status = RISE_OK;
    TRY(gpu->more.memory_info(&free_bytes, &total), "asking for free memory");
    work->copies = bench_copies(work->all_bytes, gpu->cache_bytes, free_bytes);
    work->at = NEWN(ctx, CUdeviceptr *, work->copies);
    work->calls = NEWN(ctx, rise_call *, work->copies);
    for (int c = 0; c < work->copies; c++)
        work->at[c] = NEWN(ctx, CUdeviceptr, work->n_arguments + 1);
    for (int c = 0; status == RISE_OK && c < work->copies; c++) {
        status = make_copy(work, work->at[c], error);
        if (status == RISE_OK)
            status = make_call(work, work->at[c], &work->calls[c], error);
    }
    return status;
}

/* ---- contenders ---------------------------------------------------------------------------------------------------------------- */

static int run_ours(void *user, int copy, CUstream stream, rise_error *error)
{
    Work *work = user;
    return rise_call_launch(work->calls[copy], stream, error);
}

typedef struct HandWork {
    Work *work;
    const BenchHand *hand;
    void **buffers;
    long long *sizes;
} HandWork;

static int run_hand(void *user, int copy, CUstream stream, rise_error *error)
{
    HandWork *h = user;
    Work *work = h->work;
    for (int k = 0; k < work->n_arguments; k++)
        h->buffers[k] = (void *)(uintptr_t)work->at[copy][k];
    for (int i = 0; i < work->launch.n_sizes; i++)
        h->sizes[i] = work->launch.sizes[i];
    int code = h->hand->run(h->buffers, h->sizes, stream);
    if (code == 0)
        return RISE_OK;
    return code == BENCH_HAND_NARROW ? rise_fail(error, RISE_ERROR_ARGUMENT, "%s: a size does not fit its parameter", h->hand->path)
                                     : rise_fail(error, RISE_ERROR_DEVICE, "%s: its host function gives the error %d", h->hand->path, code);
}

static int poison_results(Work *work, rise_error *error)
{
    BenchGpu *gpu = &work->b->gpu;
    for (int k = 0; k < work->launch.n_results; k++)
        if (work->bytes[k])
            TRY(gpu->api.set_bytes(work->at[0][k], POISON, work->bytes[k], gpu->stream), "poisoning the results");
    return RISE_OK;
}

/* Runs once on the first copy, and fetches the results. */
static int run_and_fetch(Work *work, const BenchContender *c, HostBuf *results, rise_error *error)
{
    BenchGpu *gpu = &work->b->gpu;
    int status = poison_results(work, error);
    if (status == RISE_OK)
        status = c->run(c->user, 0, gpu->stream, error);
    if (status != RISE_OK)
        return status;
    for (int k = 0; k < work->launch.n_results; k++) {
        results[k] = work->launch.results[k];
        results[k].bytes = ctx_alloc(work->b->ctx, work->bytes[k] ? work->bytes[k] : 1);
        if (work->bytes[k])
            TRY(gpu->api.copy_out(results[k].bytes, work->at[0][k], work->bytes[k], gpu->stream), "copying results from the device");
    }
    TRY(gpu->api.stream_synchronize(gpu->stream), "waiting for the results");
    return RISE_OK;
}

/* Of all elements, though the host has only some. */
static InputScale scale_of(const Work *work)
{
    InputScale all = {0, 0};
    for (int k = 0; k < work->launch.n_buffers; k++) {
        HostBuf part = work->launch.buffers[k];
        double times = work->held[k] ? (double)part.count / (double)work->held[k] : 1;
        part.count = work->held[k];
        Launch one = {.n_buffers = 1, .buffers = &part};
        InputScale scale = results_scale(&one);
        all.elements += scale.elements * times;
        all.sum += scale.sum * times;
    }
    return all;
}

static void judge(Work *work, Kernel *kernel, HostBuf *results)
{
    Ctx *ctx = work->b->ctx;
    Comparison c = results_compare_scaled(&work->scale, work->launch.n_results, results, work->ours, false);
    kernel->compared = true;
    kernel->exact = c.exact;
    if (c.equal)
        return;
    const HostBuf *got = &results[c.result], *want = &work->ours[c.result];
    int64_t byte = c.cell * scalar_bytes(got->elem);
    StrBuf text;
    sb_init(&text, ctx);
    sb_puts(&text, work->launch.n_results > 1 ? ctx_printf(ctx, "result %d", c.result + 1) : "the result");
    sb_puts(&text, got->rank ? " at " : "");
    results_put_index(&text, got, c.cell);
    sb_puts(&text, " is ");
    results_put_scalar(&text, got->elem, scalar_load(got->elem, got->bytes + byte));
    sb_puts(&text, ", and by risec ");
    results_put_scalar(&text, got->elem, scalar_load(got->elem, want->bytes + byte));
    kernel->wrong = text.text;
    driver_fail(work->b->d, STATUS_PROGRAM);
    diag_error(ctx, E0631, NO_SPAN, "%s: %s", kernel->name, kernel->wrong);
}

/* Each on every copy, so that all is compiled, allocated and zeroed that a first call needs. */
static int run_all_once(Work *work, int n, BenchContender *contenders, rise_error *error)
{
    BenchGpu *gpu = &work->b->gpu;
    int status = RISE_OK;
    work->scale = n > 1 ? scale_of(work) : (InputScale){0, 0};
    for (int i = 0; status == RISE_OK && i < n; i++) {
        HostBuf *results = NEWN(work->b->ctx, HostBuf, work->launch.n_results + 1);
        for (int c = 0; status == RISE_OK && c < work->copies; c++)
            status = contenders[i].run(contenders[i].user, c, gpu->stream, error);
        if (status == RISE_OK && n > 1)
            status = run_and_fetch(work, &contenders[i], results, error);
        if (status == RISE_OK && i == 0)
            work->ours = results;
        else if (status == RISE_OK)
            judge(work, &work->kernels[i], results);
    }
    if (status == RISE_OK)
        TRY(gpu->api.stream_synchronize(gpu->stream), "waiting for the first calls");
    return status;
}

static int measure(Work *work, rise_error *error)
{
    Bench *b = work->b;
    int n = 1 + b->hands.n;
    BenchContender *contenders = NEWN(b->ctx, BenchContender, n);
    HandWork *hands = NEWN(b->ctx, HandWork, n);
    contenders[0] = (BenchContender){.run = run_ours, .user = work};
    for (int i = 1; i < n; i++) {
        hands[i] = (HandWork){work, &b->hands.at[i - 1], NEWN(b->ctx, void *, work->n_arguments + 1), NEWN(b->ctx, long long, work->launch.n_sizes + 1)};
        contenders[i] = (BenchContender){.run = run_hand, .user = &hands[i]};
    }
    int status = run_all_once(work, n, contenders, error);
    if (status == RISE_OK)
        status = bench_race(&b->gpu, n, contenders, work->copies, b->rounds, error);
    for (int i = 0; status == RISE_OK && i < n; i++) {
        work->kernels[i].chain = contenders[i].chain;
        work->kernels[i].alone = contenders[i].alone;
    }
    return status;
}

static bool run_work(Work *work)
{
    rise_error error = {.status = RISE_OK};
    int status = make_copies(work, &error);
    if (status == RISE_OK)
        status = measure(work, &error);
    free_copies(work);
    return status == RISE_OK || failed(work->b, &error);
}

/* ---- output ------------------------------------------------------------------------------------------------------------------- */

/* What a call costs where the GPU is kept busy; alone, where that is not known. */
static double rate_of(const Work *work, const Kernel *kernel)
{
    double us = kernel->chain.n ? kernel->chain.median : kernel->alone.median;
    return us > 0 ? (double)work->all_bytes * 1e6 / us : 0;
}

static double percent_of_copy(const Work *work, const Kernel *kernel)
{
    return work->b->floors.copy_rate > 0 ? 100 * rate_of(work, kernel) / work->b->floors.copy_rate : 0;
}

static const char *verdict(const Kernel *kernel) { return !kernel->compared ? "" : kernel->wrong ? "differs" : kernel->exact ? "equal" : "within the bound"; }

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void text_head(Bench *b, StrBuf *out)
{
    const BenchFloors *f = &b->floors;
    sb_printf(out, "%s on %s\n", b->entry->name, rise_context_device_name(b->gpu.rise));
    sb_printf(out, "an empty kernel: %.2f us in a chain, %.2f us alone; copying memory: %.0f GB/s\n", f->empty_chain.median, f->empty_alone.median, f->copy_rate * 1e-9);
    sb_puts(out, "us a call, median (10th .. 90th percentile); GB/s of inputs and results, once each\n");
}

static void text_time(StrBuf *out, const BenchTime *t)
{
    if (t->n)
        sb_printf(out, " %10.2f (%9.2f .. %-9.2f)", t->median, t->p10, t->p90);
    else
        sb_printf(out, " %10s %24s", "-", "");
}

static void text_run(Work *work, StrBuf *out)
{
    const CoreEntry *entry = work->b->entry;
    StrBuf sizes;
    sb_init(&sizes, work->b->ctx);
    for (int i = 0; i < entry->n_sizes; i++)
        sb_printf(&sizes, "%s%s = %lld", i ? ", " : "", entry->sizes[i]->name, (long long)work->launch.sizes[i]);
    sb_printf(out, "\n%-30s %10s %24s %10s %24s %9s %7s\n", sizes.text ? sizes.text : "", "chain", "", "alone", "", "GB/s", "of copy");
    for (int i = 0; i <= work->b->hands.n; i++) {
        const Kernel *k = &work->kernels[i];
        sb_printf(out, "  %-28s", file_name(k->name));
        text_time(out, &k->chain);
        text_time(out, &k->alone);
        sb_printf(out, " %9.1f %5.1f %%  %s\n", rate_of(work, k) * 1e-9, percent_of_copy(work, k), verdict(k));
    }
}

static void csv_text(StrBuf *out, const char *text)
{
    sb_putc(out, '"');
    for (; *text; text++)
        sb_puts(out, *text == '"' ? "\"\"" : (char[]){*text, 0});
    sb_putc(out, '"');
}

static void csv_head(Bench *b, StrBuf *out)
{
    sb_puts(out, "device,entry");
    for (int i = 0; i < b->entry->n_tunables; i++)
        sb_printf(out, ",%s", b->entry->tunable_names[i]);
    for (int i = 0; i < b->entry->n_sizes; i++)
        sb_printf(out, ",%s", b->entry->sizes[i]->name);
    sb_puts(out, ",kernel,chain_us,chain_p10,chain_p90,alone_us,alone_p10,alone_p90,bytes,gb_s,percent_of_copy,result,empty_chain_us,empty_alone_us,copy_gb_s\n");
}

static void csv_time(StrBuf *out, const BenchTime *t)
{
    if (t->n)
        sb_printf(out, ",%.3f,%.3f,%.3f", t->median, t->p10, t->p90);
    else
        sb_puts(out, ",,,");
}

static void csv_run(Work *work, StrBuf *out)
{
    Bench *b = work->b;
    const BenchFloors *f = &b->floors;
    for (int i = 0; i <= b->hands.n; i++) {
        const Kernel *k = &work->kernels[i];
        csv_text(out, rise_context_device_name(b->gpu.rise));
        sb_printf(out, ",%s", b->entry->name);
        for (int t = 0; t < b->entry->n_tunables; t++)
            sb_printf(out, ",%lld", (long long)b->entry->tunable_values[t]);
        for (int s = 0; s < b->entry->n_sizes; s++)
            sb_printf(out, ",%lld", (long long)work->launch.sizes[s]);
        sb_putc(out, ',');
        csv_text(out, k->name);
        csv_time(out, &k->chain);
        csv_time(out, &k->alone);
        sb_printf(out, ",%zu,%.3f,%.3f,%s,%.3f,%.3f,%.1f\n", work->all_bytes, rate_of(work, k) * 1e-9, percent_of_copy(work, k), verdict(k), f->empty_chain.median, f->empty_alone.median,
                  f->copy_rate * 1e-9);
    }
}

static void json_time(StrBuf *out, const char *name, const BenchTime *t)
{
    if (t->n)
        sb_printf(out, ", \"%s\": {\"median\": %.3f, \"p10\": %.3f, \"p90\": %.3f, \"rounds\": %d}", name, t->median, t->p10, t->p90, t->n);
    else
        sb_printf(out, ", \"%s\": null", name);
}

static void json_head(Bench *b, StrBuf *out)
{
    const BenchFloors *f = &b->floors;
    sb_puts(out, "{\"entry\": ");
    sb_put_json(out, b->entry->name);
    sb_puts(out, ", \"device\": ");
    sb_put_json(out, rise_context_device_name(b->gpu.rise));
    sb_puts(out, ", \"tunables\": {");
    for (int i = 0; i < b->entry->n_tunables; i++)
        sb_printf(out, "%s\"%s\": %lld", i ? ", " : "", b->entry->tunable_names[i], (long long)b->entry->tunable_values[i]);
    sb_printf(out, "}, \"copy_gb_s\": %.1f", f->copy_rate * 1e-9);
    json_time(out, "empty_chain_us", &f->empty_chain);
    json_time(out, "empty_alone_us", &f->empty_alone);
    sb_puts(out, ", \"runs\": [");
}

static void json_run(Work *work, StrBuf *out)
{
    const CoreEntry *entry = work->b->entry;
    sb_puts(out, "{\"sizes\": {");
    for (int i = 0; i < entry->n_sizes; i++)
        sb_printf(out, "%s\"%s\": %lld", i ? ", " : "", entry->sizes[i]->name, (long long)work->launch.sizes[i]);
    sb_printf(out, "}, \"bytes\": %zu, \"copies\": %d, \"kernels\": [", work->all_bytes, work->copies);
    for (int i = 0; i <= work->b->hands.n; i++) {
        const Kernel *k = &work->kernels[i];
        sb_puts(out, i ? ", {\"name\": " : "{\"name\": ");
        sb_put_json(out, k->name);
        json_time(out, "chain_us", &k->chain);
        json_time(out, "alone_us", &k->alone);
        sb_printf(out, ", \"gb_s\": %.3f, \"percent_of_copy\": %.3f", rate_of(work, k) * 1e-9, percent_of_copy(work, k));
        if (k->compared)
            sb_printf(out, ", \"equal\": %s, \"exact\": %s", k->wrong ? "false" : "true", k->exact ? "true" : "false");
        sb_puts(out, "}");
    }
    sb_puts(out, "]}");
}

/* ---- the verb ------------------------------------------------------------------------------------------------------------------ */

static bool open_gpu(Bench *b, int n_arguments)
{
    rise_error error;
    if (bench_open(&b->gpu, NULL, &error) != RISE_OK)
        return failed(b, &error);
    int status = gpu_entry(b->ctx, b->gpu.rise, b->entry, &b->program, &b->compiled, &error);
    if (status == RISE_OK)
        status = rise_entry_load(b->compiled, &error);
    if (status != RISE_OK)
        return failed(b, &error);
    const char *arch = rise_context_arch(b->gpu.rise), *keep = option_text(b->d->line, OPT_KEEP);
    for (int i = 0; i < b->hands.n; i++)
        if (!bench_hand_load(b->ctx, b->d, b->entry->name, n_arguments, b->entry->n_sizes, arch, keep, &b->hands.at[i]))
            return false;
    return bench_floors(&b->gpu, &b->floors, &error) == RISE_OK || failed(b, &error);
}

static void close_gpu(Bench *b)
{
    for (int i = 0; i < b->hands.n; i++)
        bench_hand_close(&b->hands.at[i]);
    rise_program_free(b->program);
    bench_close(&b->gpu);
}

/* Each size is written as soon as it is measured. */
static bool run_sizes(Bench *b)
{
    static const struct {
        void (*head)(Bench *, StrBuf *);
        void (*run)(Work *, StrBuf *);
        const char *between, *end;
    } forms[] = {{text_head, text_run, "", ""}, {csv_head, csv_run, "", ""}, {json_head, json_run, ", ", "]}\n"}};
    int form = option_on(b->d->line, OPT_JSON) ? 2 : option_on(b->d->line, OPT_CSV) ? 1 : 0;
    StrBuf out;
    sb_init(&out, b->ctx);
    forms[form].head(b, &out);
    for (int run = 0; run < b->n_runs; run++) {
        Work work;
        if (!make_work(b, run, &work) || !run_work(&work))
            return false;
        sb_puts(&out, run ? forms[form].between : "");
        forms[form].run(&work, &out);
        if (!driver_write(b->ctx, b->d, "-", out.text, out.len))
            return false;
        sb_init(&out, b->ctx);
    }
    return driver_write(b->ctx, b->d, "-", forms[form].end, strlen(forms[form].end));
}

void cmd_bench(Ctx *ctx, Driver *d)
{
    Bench *b = NEW(ctx, Bench);
    Work first;
    b->ctx = ctx;
    b->d = d;
    /* All that can be wrong without a GPU is said before one is looked for; then sizes may depend on it. */
    if (read_command(b) && make_work(b, 0, &first) && open_gpu(b, first.n_arguments))
        run_sizes(b);
    close_gpu(b);
}
