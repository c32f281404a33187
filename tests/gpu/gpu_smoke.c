/* librise on a real GPU: one line `ok NAME` or `not ok NAME: why` for each point. tests/gpu/validate.sh runs it. Of CUDA it uses only what a host of its own streams
 * would: streams, through libcuda.so.1. Everything else is rise.h. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rise.h"

static const char SCALE[] = "entry scale {n: nat} (factor: i32) (xs: n.i32): n.i32 = xs |> mapGlobal(fun x => x * factor)\n";
/* The block that finishes last counts on a ticket that is zero before, and zero again after. */
static const char LAST[] =
    "entry sum {n: nat} (xs: n.i32): 1.i32 =\n"
    "  xs |> padTo(256, 0) |> split(256) |> mapBlock(fun chunk => chunk |> split(8) |> mapThreads(reduceSeq((+), 0)) |> toShared\n"
    "          |> split(32) |> mapThreads(reduceSeq((+), 0))) |> join\n"
    "     |> lastBlock(fun partials => partials |> padTo(32, 0) |> split(32) |> transpose |> mapThreads(reduceSeq((+), 0)) |> toShared\n"
    "          |> split(32) |> mapThreads(reduceSeq((+), 0)))\n";
static const char GRID[] = "entry shift {n: nat} (xs: n.i32): n.i32 =\n"
                           "  xs |> mapGlobal(fun x => x + 1) |> gridSync(fun ys => ys |> reverse |> mapGlobal(fun y => y * 2))\n";
static const char NEXT[] = "entry twice {n: nat} (xs: n.i32): n.i32 =\n"
                           "  xs |> mapGlobal(fun x => x + 1) |> toGlobal |> nextKernel(fun ys => ys |> reverse |> mapGlobal(fun y => y * 2))\n";
/* Rows of n in shared memory: dynamic, and above 48 KiB for large n. */
static const char ROWS[] = "entry rows {n: nat} (xs: 2.n.f32): 2.n.f32 =\n"
                           "  xs |> mapBlock(fun row => row |> mapThreads(id) |> toShared |> reverse |> mapThreads(id))\n";
static const char VECTOR[] = "entry copy {n: nat} (xs: (4*n).f32): (4*n).f32 = xs |> asVector(4) |> mapGlobal(id) |> asScalar\n";
static const char PICK[] = "entry pick {n m: nat} (is: m.idx[n]) (xs: n.f32): m.f32 = xs |> gather(is) |> mapGlobal(id)\n";

static rise_error err;
static int failures;

static void tell(bool good, const char *name, const char *why)
{
    failures += !good;
    if (good)
        printf("ok %s\n", name);
    else
        printf("not ok %s: %s\n", name, why);
    fflush(stdout);
}

typedef struct Fixture {
    rise_context *context;
    rise_program *program;
    rise_entry *entry;
    rise_call *call;
} Fixture;

static bool start(Fixture *f, rise_context *context, const char *text)
{
    memset(f, 0, sizeof *f);
    f->context = context;
    return rise_program_from_text(context, "smoke.rise", text, (size_t)-1, &f->program, &err) == RISE_OK && rise_entry_get(f->program, NULL, NULL, &f->entry, &err) == RISE_OK &&
           rise_call_new(f->entry, &f->call, &err) == RISE_OK;
}

static void end(Fixture *f)
{
    rise_call_free(f->call);
    rise_program_free(f->program);
}

static bool input(Fixture *f, const char *name, int type, int64_t n, const void *data, int where)
{
    return rise_call_input(f->call, name, type, 1, &n, data, where, &err) == RISE_OK;
}

/* ---- points ------------------------------------------------------------------------------------------------------------------ */

enum { N = 100003 };
static int xs[N], ys[N];

static void fill(void)
{
    for (int i = 0; i < N; i++) {
        xs[i] = i % 1000 - 300;
        ys[i] = -1;
    }
}

static bool scaled(int64_t n, int factor)
{
    for (int64_t i = 0; i < n; i++)
        if (ys[i] != xs[i] * factor) {
            snprintf(err.text, sizeof err.text, "element %lld is %d", (long long)i, ys[i]);
            return false;
        }
    return true;
}

static void test_host(rise_context *context)
{
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 1000, 1024, 65537, N};
    Fixture f;
    bool good = start(&f, context, SCALE);
    for (size_t i = 0; good && i < sizeof sizes / sizeof *sizes; i++) {
        int factor = (int)i + 2;
        fill();
        good = rise_call_scalar(f.call, "factor", RISE_I32, &factor, &err) == RISE_OK && input(&f, "xs", RISE_I32, sizes[i], xs, RISE_HOST) &&
               rise_call_launch(f.call, NULL, &err) == RISE_OK && rise_call_read(f.call, "result", ys, (size_t)sizes[i] * 4, &err) == RISE_OK && scaled(sizes[i], factor);
    }
    tell(good, "host-arrays", err.text);
    fill();
    good = good && rise_call_output(f.call, "result", RISE_I32, ys, sizeof ys, RISE_HOST, &err) == RISE_OK && rise_call_launch(f.call, NULL, &err) == RISE_OK &&
           rise_call_wait(f.call, &err) == RISE_OK && scaled(N, 10);
    tell(good, "host-result", err.text);
    int other = -7;
    good = good && rise_call_scalar(f.call, "factor", RISE_I32, &other, &err) == RISE_OK && rise_call_launch(f.call, NULL, &err) == RISE_OK &&
           rise_call_wait(f.call, &err) == RISE_OK && scaled(N, other);
    tell(good, "scalar-changed", err.text);
    end(&f);
}

static void test_device(rise_context *context, void *stream, const char *name)
{
    Fixture f;
    void *in = NULL, *out = NULL;
    int factor = 5;
    fill();
    bool good = start(&f, context, SCALE) && rise_alloc(context, sizeof xs, &in, &err) == RISE_OK && rise_alloc(context, sizeof ys, &out, &err) == RISE_OK &&
                rise_copy(context, in, RISE_DEVICE, xs, RISE_HOST, sizeof xs, &err) == RISE_OK && rise_call_scalar(f.call, "factor", RISE_I32, &factor, &err) == RISE_OK &&
                input(&f, "xs", RISE_I32, N, in, RISE_DEVICE) && rise_call_output(f.call, "result", RISE_I32, out, sizeof ys, RISE_DEVICE, &err) == RISE_OK &&
                rise_call_launch(f.call, stream, &err) == RISE_OK && rise_call_wait(f.call, &err) == RISE_OK &&
                rise_copy(context, ys, RISE_HOST, out, RISE_DEVICE, sizeof ys, &err) == RISE_OK && scaled(N, factor);
    void *place = NULL;
    size_t bytes = 0;
    good = good && rise_call_result(f.call, "result", &place, &bytes, &err) == RISE_OK && place == out && bytes == sizeof ys;
    tell(good, name, err.text);
    bool refused = rise_call_output(f.call, "result", RISE_I32, (int *)in + 1, sizeof ys, RISE_DEVICE, &err) == RISE_OK && rise_call_launch(f.call, stream, &err) == RISE_ERROR_ARGUMENT;
    tell(refused, "overlap-refused", "it was not");
    memset(ys, 0, sizeof ys);
    good = rise_call_output(f.call, "result", RISE_I32, in, sizeof ys, RISE_DEVICE, &err) == RISE_OK && rise_call_launch(f.call, stream, &err) == RISE_OK &&
           rise_call_wait(f.call, &err) == RISE_OK && rise_copy(context, ys, RISE_HOST, in, RISE_DEVICE, sizeof ys, &err) == RISE_OK && scaled(N, factor);
    tell(good, "in-place", err.text);
    end(&f);
    rise_free(context, in);
    rise_free(context, out);
}

static void test_last_block(rise_context *context, void *a, void *b)
{
    Fixture f;
    int got = 0, want = 0;
    bool good = start(&f, context, LAST);
    fill();
    for (int k = 0; good && k < 200; k++) { /* other sizes, and two streams in turn: the ticket is the call's */
        int64_t n = 1 + k * 499 % N;
        want = 0;
        for (int64_t i = 0; i < n; i++)
            want += xs[i];
        good = input(&f, "xs", RISE_I32, n, xs, RISE_HOST) && rise_call_launch(f.call, k % 2 ? a : b, &err) == RISE_OK && rise_call_launch(f.call, k % 2 ? b : a, &err) == RISE_OK &&
               rise_call_read(f.call, "result", &got, sizeof got, &err) == RISE_OK;
        if (good && got != want) {
            snprintf(err.text, sizeof err.text, "n = %lld: %d instead of %d", (long long)n, got, want);
            good = false;
        }
    }
    tell(good, "last-block-200", err.text);
    end(&f);
}

static void test_shift(rise_context *context, const char *text, const char *name)
{
    static const int64_t sizes[] = {1, 255, 257, 65537, N};
    Fixture f;
    bool good = start(&f, context, text);
    fill();
    for (size_t s = 0; good && s < sizeof sizes / sizeof *sizes; s++) {
        int64_t n = sizes[s];
        good = input(&f, "xs", RISE_I32, n, xs, RISE_HOST) && rise_call_launch(f.call, NULL, &err) == RISE_OK && rise_call_read(f.call, "result", ys, (size_t)n * 4, &err) == RISE_OK;
        for (int64_t i = 0; good && i < n; i++)
            if (ys[i] != (xs[n - 1 - i] + 1) * 2) {
                snprintf(err.text, sizeof err.text, "n = %lld: element %lld is %d", (long long)n, (long long)i, ys[i]);
                good = false;
            }
    }
    tell(good, name, err.text);
    end(&f);
}

static void test_rows(rise_context *context)
{
    enum { MOST = 1 << 17 };
    static const int64_t sizes[] = {10, 12288, 12289, 25000};
    static float in[2 * MOST], out[2 * MOST];
    Fixture f;
    bool good = start(&f, context, ROWS);
    for (size_t s = 0; good && s < sizeof sizes / sizeof *sizes; s++) {
        int64_t shape[2] = {2, sizes[s]}, n = sizes[s];
        for (int64_t i = 0; i < 2 * n; i++)
            in[i] = (float)i;
        good = rise_call_input(f.call, "xs", RISE_F32, 2, shape, in, RISE_HOST, &err) == RISE_OK && rise_call_launch(f.call, NULL, &err) == RISE_OK &&
               rise_call_read(f.call, "result", out, (size_t)n * 8, &err) == RISE_OK;
        for (int64_t i = 0; good && i < n; i++)
            if (out[i] != in[n - 1 - i] || out[n + i] != in[2 * n - 1 - i]) {
                snprintf(err.text, sizeof err.text, "n = %lld: element %lld is wrong", (long long)n, (long long)i);
                good = false;
            }
    }
    tell(good, "shared-above-48K", err.text);
    int64_t large[2] = {2, MOST};
    bool refused = rise_call_input(f.call, "xs", RISE_F32, 2, large, in, RISE_HOST, &err) == RISE_OK && rise_call_launch(f.call, NULL, &err) == RISE_ERROR_DEVICE && strstr(err.text, "shared memory");
    tell(refused, "shared-too-large-refused", err.text);
    printf("# %s\n", err.text);
    end(&f);
}

static void test_unaligned(rise_context *context)
{
    enum { M = 4096 };
    static float in[M + 4], out[M];
    Fixture f;
    void *a = NULL;
    for (int i = 0; i < M + 4; i++)
        in[i] = (float)i;
    bool good = start(&f, context, VECTOR) && rise_alloc(context, sizeof in, &a, &err) == RISE_OK && rise_copy(context, a, RISE_DEVICE, in, RISE_HOST, sizeof in, &err) == RISE_OK;
    for (int shift = 0; good && shift < 4; shift++) {
        good = input(&f, "xs", RISE_F32, M, (float *)a + shift, RISE_DEVICE) && rise_call_launch(f.call, NULL, &err) == RISE_OK && rise_call_read(f.call, "result", out, sizeof out, &err) == RISE_OK;
        for (int i = 0; good && i < M; i++)
            if (out[i] != in[i + shift]) {
                snprintf(err.text, sizeof err.text, "shifted by %d, element %d is %g", shift, i, (double)out[i]);
                good = false;
            }
    }
    tell(good, "unaligned", err.text);
    end(&f);
    rise_free(context, a);
}

static void test_kernels(rise_context *context)
{
    Fixture f;
    const char *ptx = NULL, *cuda = NULL;
    const void *cubin = NULL;
    size_t ptx_size = 0, cubin_size = 0;
    bool good = start(&f, context, VECTOR) && rise_entry_cuda(f.entry, &cuda, NULL, &err) == RISE_OK && rise_entry_ptx(f.entry, NULL, &ptx, &ptx_size, &err) == RISE_OK &&
                rise_entry_cubin(f.entry, NULL, &cubin, &cubin_size, &err) == RISE_OK;
    good = good && strlen(ptx) == ptx_size && strstr(ptx, ".entry") && cubin_size > 100 && memcmp(cubin, "\177ELF", 4) == 0;
    tell(good, "ptx-cubin", err.text);
    good = rise_entry_kernel_count(f.entry) >= 2;
    for (int k = 0; good && k < rise_entry_kernel_count(f.entry); k++) {
        rise_kernel kernel = {.size = sizeof kernel};
        good = rise_entry_kernel(f.entry, k, &kernel, &err) == RISE_OK && kernel.registers > 0 && kernel.max_threads >= kernel.threads[0] && kernel.spills >= 0;
        printf("# %s: %d threads, %d registers, %d bytes shared, %d bytes spilled\n", kernel.name, kernel.threads[0], kernel.registers, kernel.static_shared, kernel.spills);
    }
    tell(good, "kernel-figures", err.text);
    bool other = rise_entry_compile(f.entry, "sm_75", &err) == RISE_OK;
    tell(other, "compile-sm_75", err.text);
    end(&f);
}

static void test_indices(rise_context *context)
{
    Fixture f;
    int is[3] = {2, 0, 1}, bad[3] = {2, 3, 1};
    int64_t is64[3] = {2, 0, 1}, bad64[3] = {2, 3, 1};
    float in[3] = {1, 2, 3}, out[3] = {0};
    rise_argument argument = {.size = sizeof argument};
    bool good = start(&f, context, PICK) && rise_entry_argument(f.entry, 1, &argument, &err) == RISE_OK;
    bool wide = argument.type == RISE_I64;
    good = good && input(&f, "is", argument.type, 3, wide ? (void *)is64 : (void *)is, RISE_HOST) && input(&f, "xs", RISE_F32, 3, in, RISE_HOST) && rise_call_launch(f.call, NULL, &err) == RISE_OK &&
           rise_call_read(f.call, "result", out, sizeof out, &err) == RISE_OK && out[0] == 3 && out[1] == 1 && out[2] == 2;
    tell(good, "indices", err.text);
    good = good && input(&f, "is", argument.type, 3, wide ? (void *)bad64 : (void *)bad, RISE_HOST) && rise_call_launch(f.call, NULL, &err) == RISE_ERROR_ARGUMENT;
    tell(good, "index-too-large-refused", err.text);
    end(&f);
}

/* ---- threads and streams -------------------------------------------------------------------------------------------------------- */

typedef struct Worker {
    rise_context *context;
    rise_program *program;
    void *stream;
    int number;
    bool good;
    rise_error error;
} Worker;

static void *work(void *user)
{
    enum { M = 5000 };
    Worker *w = user;
    int in[M], out[M];
    w->good = true;
    for (int k = 0; w->good && k < 200; k++) {
        rise_entry *entry;
        rise_call *call = NULL;
        int factor = w->number + 2;
        int64_t n = 1 + (k * 37 + w->number) % M;
        for (int i = 0; i < M; i++)
            in[i] = i + k;
        w->good = rise_entry_get(w->program, NULL, NULL, &entry, &w->error) == RISE_OK && rise_call_new(entry, &call, &w->error) == RISE_OK &&
                  rise_call_scalar(call, "factor", RISE_I32, &factor, &w->error) == RISE_OK && rise_call_input(call, "xs", RISE_I32, 1, &n, in, RISE_HOST, &w->error) == RISE_OK &&
                  rise_call_launch(call, w->stream, &w->error) == RISE_OK && rise_call_read(call, "result", out, (size_t)n * 4, &w->error) == RISE_OK;
        for (int64_t i = 0; w->good && i < n; i++)
            if (out[i] != in[i] * factor) {
                snprintf(w->error.text, sizeof w->error.text, "thread %d: element %lld is %d", w->number, (long long)i, out[i]);
                w->good = false;
            }
        rise_call_free(call);
    }
    return NULL;
}

static void test_threads(rise_context *context, void *a, void *b)
{
    enum { THREADS = 4 };
    static Worker workers[THREADS];
    pthread_t threads[THREADS];
    rise_program *program = NULL;
    bool good = rise_program_from_text(context, "threads.rise", SCALE, (size_t)-1, &program, &err) == RISE_OK;
    for (int i = 0; good && i < THREADS; i++) {
        workers[i] = (Worker){.context = context, .program = program, .stream = i % 2 ? a : b, .number = i};
        good = pthread_create(&threads[i], NULL, work, &workers[i]) == 0;
    }
    for (int i = 0; good && i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        if (!workers[i].good)
            err = workers[i].error;
    }
    for (int i = 0; i < THREADS; i++)
        good &= workers[i].good;
    tell(good, "4-threads-2-streams", err.text);
    rise_program_free(program);
}

/* ---- a fault ---------------------------------------------------------------------------------------------------------------------- */

/* One launch, from nothing to the result. */
static bool works(void)
{
    rise_context_options options = {.size = sizeof options, .device = RISE_GPU};
    rise_context *context = NULL;
    Fixture f = {0};
    int factor = 3;
    fill();
    bool good = rise_context_new(&options, &context, &err) == RISE_OK && start(&f, context, SCALE) && rise_call_scalar(f.call, "factor", RISE_I32, &factor, &err) == RISE_OK &&
                input(&f, "xs", RISE_I32, N, xs, RISE_HOST) && rise_call_launch(f.call, NULL, &err) == RISE_OK && rise_call_read(f.call, "result", ys, sizeof ys, &err) == RISE_OK &&
                scaled(N, factor);
    end(&f);
    rise_context_free(context);
    return good;
}

/* `gpu_smoke fresh` in a process of its own. */
static bool works_in_new_process(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "gpu_smoke", "fresh", (char *)NULL);
        _exit(127);
    }
    int status = 0;
    if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    snprintf(err.text, sizeof err.text, "it ended with the status %d", status);
    return false;
}

/* After an illegal address CUDA gives this process no context any more, and librise has to say so. */
static void test_fault(void)
{
    rise_context_options options = {.size = sizeof options, .device = RISE_GPU};
    rise_context *context = NULL, *other = NULL;
    Fixture f = {0};
    int factor = 1;
    /* An address that is nobody's. */
    bool good = rise_context_new(&options, &context, &err) == RISE_OK && start(&f, context, SCALE) && rise_call_scalar(f.call, "factor", RISE_I32, &factor, &err) == RISE_OK &&
                input(&f, "xs", RISE_I32, N, (void *)(uintptr_t)0x10000, RISE_DEVICE) && rise_call_launch(f.call, NULL, &err) == RISE_OK;
    int status = good ? rise_call_wait(f.call, &err) : -1;
    tell(status == RISE_ERROR_LOST && rise_context_lost(context), "fault-is-told", err.text);
    printf("# %s\n", err.text);
    tell(rise_call_launch(f.call, NULL, &err) == RISE_ERROR_LOST, "lost-stays-lost", err.text);
    end(&f);
    rise_context_free(context);
    status = rise_context_new(&options, &other, &err);
    tell(status == RISE_ERROR_LOST && !other && strstr(err.text, "new process"), "no-context-after-a-fault", status == RISE_OK ? "there is one" : err.text);
    rise_context_free(other);
    tell(works_in_new_process(), "new-process-works", err.text);
}

/* ---- times ------------------------------------------------------------------------------------------------------------------------ */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

enum { BATCHES = 31, BATCH = 200 }; /* launches that the driver's queue takes without waiting for the GPU */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double middle(double *times)
{
    qsort(times, BATCHES, sizeof *times, ascending);
    return times[BATCHES / 2];
}

/* The kernel of a compiled entry through the driver alone: what a launch costs at least. */
typedef struct Bare {
    int (*load)(void **, const void *);
    int (*function)(void **, void *, const char *);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
    int (*push)(void *);
    int (*pop)(void **);
    void *module, *kernel;
    unsigned threads;
} Bare;

static bool bare_open(Bare *bare, void *cuda, void *primary, rise_entry *entry)
{
    const void *cubin = NULL;
    rise_kernel kernel = {.size = sizeof kernel};
    void *popped;
    *(void **)&bare->load = dlsym(cuda, "cuModuleLoadData");
    *(void **)&bare->function = dlsym(cuda, "cuModuleGetFunction");
    *(void **)&bare->launch = dlsym(cuda, "cuLaunchKernel");
    *(void **)&bare->push = dlsym(cuda, "cuCtxPushCurrent_v2");
    *(void **)&bare->pop = dlsym(cuda, "cuCtxPopCurrent_v2");
    if (!bare->load || !bare->function || !bare->launch || !bare->push || !bare->pop || rise_entry_cubin(entry, NULL, &cubin, NULL, &err) || rise_entry_kernel(entry, 0, &kernel, &err) ||
        bare->push(primary))
        return false;
    bool good = bare->load(&bare->module, cubin) == 0 && bare->function(&bare->kernel, bare->module, kernel.name) == 0;
    bare->threads = (unsigned)kernel.threads[0];
    bare->pop(&popped);
    return good;
}

/* Host time of a launch, with the arrays on the device: the median of batches, librise's and the driver's in turn. */
static bool launch_times(Fixture *f, const Bare *bare, void *primary, void *stream, void *out, void *in, int n)
{
    double ours[BATCHES], theirs[BATCHES];
    void *params[] = {&out, &in, &n}, *popped;
    bool good = bare->push(primary) == 0; /* as in a program that works in one CUDA context all along */
    for (int b = 0; good && b < BATCHES; b++) {
        double t0 = now();
        for (int k = 0; good && k < BATCH; k++)
            good = rise_call_launch(f->call, stream, &err) == RISE_OK;
        double t1 = now();
        good = good && rise_call_wait(f->call, &err) == RISE_OK;
        double t2 = now();
        for (int k = 0; good && k < BATCH; k++)
            good = bare->launch(bare->kernel, (unsigned)(n + 1023) / 1024, 1, 1, bare->threads, 1, 1, 0, stream, params, NULL) == 0;
        double t3 = now();
        good = good && rise_call_launch(f->call, stream, &err) == RISE_OK && rise_call_wait(f->call, &err) == RISE_OK;
        ours[b] = (t1 - t0) * 1e3 / BATCH;
        theirs[b] = (t3 - t2) * 1e3 / BATCH;
    }
    bare->pop(&popped);
    if (good) {
        double a = middle(ours), b = middle(theirs);
        printf("# a warm launch of sum.rise takes %.2f us of the host, a bare cuLaunchKernel of the same kernel %.2f us\n", a, b);
        printf("# more than a bare cuLaunchKernel, us: %.3f\n", a - b);
    }
    return good;
}

/* From the folder where examples/ is. */
static void show_times(rise_context *context, void *cuda, void *primary, void *stream)
{
    enum { M = 1 << 16 };
    Fixture f = {0};
    Bare bare = {0};
    void *in = NULL, *out = NULL;
    f.context = context;
    double t0 = now();
    bool good = rise_program_from_file(context, "examples/sum.rise", &f.program, &err) == RISE_OK && rise_entry_get(f.program, "sumBlocks", NULL, &f.entry, &err) == RISE_OK;
    double t1 = now();
    good = good && rise_entry_load(f.entry, &err) == RISE_OK;
    double t2 = now();
    if (good)
        printf("# from text to a loaded kernel, ms: %.2f, of which risec's own part %.2f\n", t2 - t0, t1 - t0);
    good = good && rise_call_new(f.entry, &f.call, &err) == RISE_OK && rise_alloc(context, M * 4, &in, &err) == RISE_OK && rise_alloc(context, M * 4, &out, &err) == RISE_OK &&
           input(&f, "xs", RISE_F32, M, in, RISE_DEVICE) && rise_call_output(f.call, "result", RISE_F32, out, M * 4, RISE_DEVICE, &err) == RISE_OK &&
           rise_call_launch(f.call, stream, &err) == RISE_OK && rise_call_wait(f.call, &err) == RISE_OK && bare_open(&bare, cuda, primary, f.entry) &&
           launch_times(&f, &bare, primary, stream, out, in, M);
    tell(good, "times", err.text);
    end(&f);
    rise_free(context, in);
    rise_free(context, out);
}

static void test_points(rise_context *context, void *a, void *b)
{
    test_host(context);
    test_device(context, NULL, "device-arrays");
    test_device(context, a, "device-arrays-own-stream");
    test_last_block(context, a, b);
    test_shift(context, GRID, "grid-sync");
    test_shift(context, NEXT, "next-kernel");
    test_rows(context);
    test_unaligned(context);
    test_indices(context);
    test_threads(context, a, b);
}

/* `gpu_smoke sim`: what needs no GPU, on the simulator, so that the tests themselves are tested. `gpu_smoke times`: what examples/sum.rise costs a program that begins with it. `gpu_smoke arch`:
 * the GPU's architecture. `gpu_smoke fresh`: one launch. */
int main(int argc, char **argv)
{
    bool sim = argc > 1 && strcmp(argv[1], "sim") == 0, times = argc > 1 && strcmp(argv[1], "times") == 0;
    if (argc > 1 && strcmp(argv[1], "fresh") == 0)
        return !works();
    rise_context_options options = {.size = sizeof options, .device = sim ? RISE_SIM : RISE_GPU};
    rise_context *context = NULL;
    double start_ms = now();
    int status = rise_context_new(&options, &context, &err);
    double started_ms = now();
    if (argc > 1 && strcmp(argv[1], "arch") == 0 && status == RISE_OK) {
        printf("%s\n", rise_context_arch(context));
        rise_context_free(context);
        return 0;
    }
    tell(status == RISE_OK, "context", err.text);
    if (status != RISE_OK)
        return 1;
    printf("# %s\n", rise_context_device_name(context));
    printf("# a context, ms: %.2f\n", started_ms - start_ms);
    if (sim) {
        test_points(context, NULL, NULL);
        rise_context_free(context);
        printf("%s\n", failures ? "FAILED" : "passed");
        return failures != 0;
    }
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
    int (*stream_create)(void **, unsigned) = NULL;
    int (*set_current)(void *) = NULL;
    int (*retain)(void **, int) = NULL;
    void *primary = NULL, *a = NULL, *b = NULL;
    if (cuda) {
        *(void **)&stream_create = dlsym(cuda, "cuStreamCreate");
        *(void **)&set_current = dlsym(cuda, "cuCtxSetCurrent");
        *(void **)&retain = dlsym(cuda, "cuDevicePrimaryCtxRetain");
    }
    bool streams = stream_create && set_current && retain && retain(&primary, 0) == 0 && set_current(primary) == 0 && stream_create(&a, 1) == 0 && stream_create(&b, 1) == 0 && set_current(NULL) == 0;
    tell(streams, "own-streams", "libcuda gives none");
    if (times) {
        show_times(context, cuda, primary, a);
        rise_context_free(context);
        return failures != 0;
    }
    test_points(context, a, b);
    test_kernels(context);
    if (streams)
        show_times(context, cuda, primary, a);
    rise_context_free(context);
    test_fault();
    printf("%s\n", failures ? "FAILED" : "passed");
    return failures != 0;
}
