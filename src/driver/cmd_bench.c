/* `risec bench`: sizes, inputs on the device, contenders, tables. How time is measured: bench_gpu.h. */
#include "codegen/lower.h"
#include "driver/bench_hand.h"
#include "driver/bench_work.h"
#include "driver/run_gpu.h"
#include "frontend/tuning.h"

typedef struct Kernel { /* one contender at one size */
    const char *name;
    BenchTime chain, alone;
    bool compared;
    Judged verdict;
} Kernel;

typedef struct Bench {
    Ctx *ctx;
    Driver *d;
    const CoreEntry *entry;
    const ImpProgram *imp;
    BenchSizes sizes;
    int rounds;
    VEC(BenchHand) hands;
    BenchGpu gpu;
    BenchFloors floors;
    rise_program *program;
    rise_entry *compiled;
} Bench;

/* One size, and what is measured there. */
typedef struct Work {
    Bench *b;
    BenchWork at;
    rise_call **calls; /* [copy] */
    Kernel *kernels; /* ours, then the hand-written ones */
    Judge judge;
} Work;

static const char *const GPU_HELP = "times come from a GPU alone; `risec run FILE.rise --profile` counts on the simulator what a GPU would do";

static bool failed(Bench *b, const rise_error *error)
{
    gpu_failed(b->ctx, b->d, "risec bench", GPU_HELP, error);
    return false;
}

/* ---- the command line -------------------------------------------------------------------------------------------------------- */

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

static bool read_command(Bench *b)
{
    const CommandLine *line = b->d->line;
    CoreEntry *entry;
    if (option_on(line, OPT_JSON) && option_on(line, OPT_CSV)) {
        driver_usage(b->ctx, b->d, E0621, "`--json` and `--csv` are two forms of the same output: give one");
        return false;
    }
    b->rounds = bench_rounds(b->ctx, b->d);
    if (!b->rounds || !driver_entry(b->ctx, b->d, NULL, &entry) || !bench_device_is_its_own(b->ctx, b->d))
        return false;
    b->entry = entry;
    b->imp = lower_entry(b->ctx, entry, (LowerPass)(PASS_COUNT - 1));
    if (!b->imp) {
        driver_fail(b->d, STATUS_PROGRAM);
        return false;
    }
    return bench_sizes_read(b->ctx, b->d, entry, &b->sizes) && read_hands(b);
}

/* ---- contenders ---------------------------------------------------------------------------------------------------------------- */

static bool make_work(Bench *b, int run, Work *work)
{
    *work = (Work){.b = b, .kernels = NEWN(b->ctx, Kernel, b->hands.n + 1)};
    work->kernels[0].name = "risec";
    for (int i = 0; i < b->hands.n; i++)
        work->kernels[i + 1].name = b->hands.at[i].path;
    return bench_work_make(b->ctx, b->d, bench_sizes_line(b->ctx, &b->sizes, b->d->line, run), b->entry, &b->gpu, &work->at);
}

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
    for (int k = 0; k < work->at.n_arguments; k++)
        h->buffers[k] = work->at.values[k] ? (void *)work->at.host[k]->bytes : (void *)(uintptr_t)work->at.at[copy][k];
    for (int i = 0; i < work->at.launch.n_sizes; i++)
        h->sizes[i] = work->at.launch.sizes[i];
    int code = h->hand->run(h->buffers, h->sizes, stream);
    if (code == 0)
        return RISE_OK;
    return code == BENCH_HAND_NARROW ? rise_fail(error, RISE_ERROR_ARGUMENT, "%s: a size does not fit its parameter", h->hand->path)
                                     : rise_fail(error, RISE_ERROR_DEVICE, "%s: its host function gives the error %d", h->hand->path, code);
}

/* "the result at [3] is 1.5"; why it is not taken for right goes into a note. */
static void report_wrong(Work *work, const Kernel *kernel, const HostBuf *results, const Judgement *j)
{
    Ctx *ctx = work->b->ctx;
    const HostBuf *got = &results[j->result];
    StrBuf text, want;
    sb_init(&text, ctx);
    sb_init(&want, ctx);
    sb_puts(&text, work->at.launch.n_results > 1 ? ctx_printf(ctx, "result %d", j->result + 1) : "the result");
    sb_puts(&text, got->rank ? " at " : "");
    results_put_index(&text, got, j->cell);
    sb_puts(&text, " is ");
    results_put_cell(&text, got, j->cell);
    const ShadowValue *s = &work->judge.shadows[j->result].cells[j->cell];
    scalar_put(&want, got->elem, (ScalarValue){.type = got->elem, .i = s->integer});
    driver_fail(work->b->d, STATUS_PROGRAM);
    Diag *diag = diag_error(ctx, E0631, NO_SPAN, "%s: %s, and by the reference %s", kernel->name, text.text, want.text);
    if (j->rounded)
        diag_note(ctx, diag, NO_SPAN, "the difference is %.3g, and rounding explains %.3g at most", j->error, j->bound);
}

/* Ours is kernel 0. */
static void judge(Work *work, Kernel *kernel, const HostBuf *results)
{
    Judgement j = judge_results(&work->judge, work->at.launch.n_results, results, NULL, kernel == work->kernels ? 1 : BENCH_RIVAL_BOUNDS);
    kernel->compared = true;
    kernel->verdict = j.verdict;
    if (j.verdict == JUDGED_DIFFERENT)
        report_wrong(work, kernel, results, &j);
}

/* Each on every copy, so that all is compiled, allocated and zeroed that a first call needs. */
static int run_all_once(Work *work, int n, BenchContender *contenders, rise_error *error)
{
    BenchGpu *gpu = &work->b->gpu;
    int status = RISE_OK;
    if (n > 1)
        work->judge = bench_work_judge(&work->at, work->b->imp);
    for (int i = 0; status == RISE_OK && i < n; i++) {
        HostBuf *results = NEWN(work->b->ctx, HostBuf, work->at.launch.n_results + 1);
        for (int c = 0; status == RISE_OK && c < work->at.copies; c++)
            status = contenders[i].run(contenders[i].user, c, gpu->stream, error);
        if (status == RISE_OK && n > 1)
            status = bench_work_fetch(&work->at, &contenders[i], results, error);
        if (status == RISE_OK && n > 1)
            judge(work, &work->kernels[i], results);
    }
    if (status == RISE_OK)
        status = bench_check(gpu, gpu->api.stream_synchronize(gpu->stream), error, "waiting for the first calls");
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
        hands[i] = (HandWork){work, &b->hands.at[i - 1], NEWN(b->ctx, void *, work->at.n_arguments + 1), NEWN(b->ctx, long long, work->at.launch.n_sizes + 1)};
        contenders[i] = (BenchContender){.run = run_hand, .user = &hands[i]};
    }
    int status = run_all_once(work, n, contenders, error);
    if (status == RISE_OK)
        status = bench_race(&b->gpu, n, contenders, work->at.copies, b->rounds, error);
    for (int i = 0; status == RISE_OK && i < n; i++) {
        work->kernels[i].chain = contenders[i].chain;
        work->kernels[i].alone = contenders[i].alone;
    }
    return status;
}

static bool run_work(Work *work)
{
    rise_error error = {.status = RISE_OK};
    int status = bench_work_copy(&work->at, &error);
    int copies = work->at.copies;
    work->calls = NEWN(work->b->ctx, rise_call *, copies + 1);
    if (status == RISE_OK)
        status = bench_work_calls(&work->at, work->b->compiled, work->calls, &error);
    if (status == RISE_OK)
        status = measure(work, &error);
    for (int c = 0; c < copies; c++)
        rise_call_free(work->calls[c]);
    bench_work_free(&work->at);
    return status == RISE_OK || failed(work->b, &error);
}

/* ---- output ------------------------------------------------------------------------------------------------------------------- */

/* What a call costs where the GPU is kept busy; alone, where that is not known. */
static double rate_of(const Work *work, const Kernel *kernel)
{
    double us = kernel->chain.n ? kernel->chain.median : kernel->alone.median;
    return us > 0 ? (double)work->at.all_bytes * 1e6 / us : 0;
}

static double percent_of_copy(const Work *work, const Kernel *kernel)
{
    return work->b->floors.copy_rate > 0 ? 100 * rate_of(work, kernel) / work->b->floors.copy_rate : 0;
}

static const char *verdict(const Kernel *kernel)
{
    static const char *const words[] = {"equal", "within the bound", "differs", "no check"};
    return kernel->compared ? words[kernel->verdict] : "";
}

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
        sb_printf(&sizes, "%s%s = %lld", i ? ", " : "", entry->sizes[i]->name, (long long)work->at.launch.sizes[i]);
    driver_put_tuned(work->b->ctx, &sizes, entry, &work->at.launch);
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
    const int64_t *tunables = driver_tunables(b->ctx, b->entry, &work->at.launch);
    const BenchFloors *f = &b->floors;
    for (int i = 0; i <= b->hands.n; i++) {
        const Kernel *k = &work->kernels[i];
        csv_text(out, rise_context_device_name(b->gpu.rise));
        sb_printf(out, ",%s", b->entry->name);
        for (int t = 0; t < b->entry->n_tunables; t++)
            sb_printf(out, ",%lld", (long long)tunables[t]);
        for (int s = 0; s < b->entry->n_sizes; s++)
            sb_printf(out, ",%lld", (long long)work->at.launch.sizes[s]);
        sb_putc(out, ',');
        csv_text(out, k->name);
        csv_time(out, &k->chain);
        csv_time(out, &k->alone);
        sb_printf(out, ",%zu,%.3f,%.3f,%s,%.3f,%.3f,%.1f\n", work->at.all_bytes, rate_of(work, k) * 1e-9, percent_of_copy(work, k), verdict(k), f->empty_chain.median, f->empty_alone.median,
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
    sb_printf(out, ", \"copy_gb_s\": %.1f", f->copy_rate * 1e-9);
    json_time(out, "empty_chain_us", &f->empty_chain);
    json_time(out, "empty_alone_us", &f->empty_alone);
    sb_puts(out, ", \"runs\": [");
}

static void json_run(Work *work, StrBuf *out)
{
    const CoreEntry *entry = work->b->entry;
    sb_puts(out, "{\"sizes\": {");
    for (int i = 0; i < entry->n_sizes; i++)
        sb_printf(out, "%s\"%s\": %lld", i ? ", " : "", entry->sizes[i]->name, (long long)work->at.launch.sizes[i]);
    sb_puts(out, "}, ");
    driver_put_tunables(work->b->ctx, out, entry, &work->at.launch);
    sb_printf(out, ", \"bytes\": %zu, \"copies\": %d, \"kernels\": [", work->at.all_bytes, work->at.copies);
    for (int i = 0; i <= work->b->hands.n; i++) {
        const Kernel *k = &work->kernels[i];
        sb_puts(out, i ? ", {\"name\": " : "{\"name\": ");
        sb_put_json(out, k->name);
        json_time(out, "chain_us", &k->chain);
        json_time(out, "alone_us", &k->alone);
        sb_printf(out, ", \"gb_s\": %.3f, \"percent_of_copy\": %.3f", rate_of(work, k) * 1e-9, percent_of_copy(work, k));
        if (k->compared)
            sb_printf(out, ", \"verdict\": \"%s\"", judge_word(k->verdict));
        sb_puts(out, "}");
    }
    sb_puts(out, "]}");
}

/* ---- the verb ------------------------------------------------------------------------------------------------------------------ */

static bool open_gpu(Bench *b, const BenchWork *first)
{
    rise_error error;
    if (bench_open(&b->gpu, NULL, b->ctx->brake, &error) != RISE_OK)
        return failed(b, &error);
    say(b->d->say, "found %s", rise_context_device_name(b->gpu.rise));
    CoreEntry *entry; /* once more: what it is tuned to depends on the device */
    if (!driver_entry(b->ctx, b->d, tuning_device(b->ctx, rise_context_device_name(b->gpu.rise)), &entry))
        return false;
    b->entry = entry;
    int status = gpu_entry(b->ctx, b->gpu.rise, b->entry, &b->program, &b->compiled, &error);
    if (status != RISE_OK)
        return failed(b, &error);
    const char *arch = rise_context_arch(b->gpu.rise), *keep = option_text(b->d->line, OPT_KEEP);
    for (int i = 0; i < b->hands.n; i++)
        if (!bench_hand_load(b->ctx, b->d, b->entry->name, first->n_arguments, first->values, b->entry->n_sizes, arch, keep, &b->hands.at[i]))
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
    for (int run = 0; run < b->sizes.n_runs; run++) {
        Work work;
        say_work(b->d->say, "size %d of %d", run + 1, b->sizes.n_runs);
        if (!make_work(b, run, &work) || !run_work(&work))
            return false;
        say_step(b->d->say, "measured size %d of %d", run + 1, b->sizes.n_runs);
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
    if (read_command(b) && make_work(b, 0, &first) && open_gpu(b, &first.at))
        run_sizes(b);
    close_gpu(b);
}
