/* librise's way to the GPU, on a driver of our own (fake_gpu.h): what kernels get, what is refused, every call of the driver and every allocation failing in turn,
 * a device that is lost, threads. That the real driver agrees is for tests/gpu/validate.sh. */
#include <stdlib.h>

#include "fake_gpu.h"
#include "unit.h"

static const char SCALE[] = "entry scale {n: nat} (factor: i32) (xs: n.i32): n.i32 = xs |> mapGlobal(fun x => x * factor)\n";
static const char LAST[] =
    "entry sum {n: nat} (xs: n.i32): 1.i32 =\n"
    "  xs |> padTo(256, 0) |> split(256) |> mapBlock(fun chunk => chunk |> split(8) |> mapThreads(reduceSeq((+), 0)) |> toShared\n"
    "          |> split(32) |> mapThreads(reduceSeq((+), 0))) |> join\n"
    "     |> lastBlock(fun partials => partials |> padTo(32, 0) |> split(32) |> transpose |> mapThreads(reduceSeq((+), 0)) |> toShared\n"
    "          |> split(32) |> mapThreads(reduceSeq((+), 0)))\n";
static const char GRID[] = "entry shift {n: nat} (xs: n.i32): n.i32 =\n"
                           "  xs |> mapGlobal(fun x => x + 1) |> gridSync(fun ys => ys |> reverse |> mapGlobal(fun y => y * 2))\n";
static const char ROWS[] = "entry rows {n: nat} (xs: 2.n.f32): 2.n.f32 =\n"
                           "  xs |> mapBlock(fun row => row |> mapThreads(id) |> toShared |> reverse |> mapThreads(id))\n";
static const char VECTOR[] = "entry copy {n: nat} (xs: (4*n).f32): (4*n).f32 = xs |> asVector(4) |> mapGlobal(id) |> asScalar\n";
static const char CASES[] = "entry pick {n: nat} (xs: n.i32): n.i32 = if n <= 4096 then xs |> mapGlobal(id) else xs |> mapGlobal(id) |> nextKernel(mapGlobal(id))\n";
static const char LAUNCHES[] =
    "entry chain {n: nat} (xs: n.i32): n.i32 =\n"
    "  xs |> mapGlobal(fun x => x + 1)\n"
    "     |> nextKernel(fun a => if n < 32 then a |> mapThreads(fun x => x * 2) else a |> mapGlobal(fun x => x * 2))\n"
    "     |> nextKernel(fun b => if n <= 1000*numSM then b |> mapGlobal(fun x => x + 3)\n"
    "                            else b |> mapGlobal(fun x => x + 1) |> nextKernel(mapGlobal(fun x => x + 2)))\n";
static const char DEVICE[] = "entry spread {n: nat} (xs: n.i32): n.i32 launch [blocks = numSM * 2, threads = 64] = xs |> mapGlobal(id)\n";
static const char POWER[] = "entry power (k: nat) (xs: 10.i32): 10.i32 = generate{n = 10}(fun i => xs[(2 ^ k * 3 + i) % 10]) |> mapGlobal(id)\n";
static const char ONCE[] = "entry once {n: nat} (xs: n.32.i32): n.32.i32 = xs |> mapBlock[once](mapThreads(id))\n";
static const char ONCE_Y[] = "entry once {n: nat} (xs: n.32.i32): n.32.i32 = xs |> mapBlock[y, once](mapThreads(id))\n";
static const char PRODUCT[] = "entry product {n k m: nat} (xs: n.k.f32) (ys: k.m.f32): n.m.f32 = xs |> map(fun row => ys |> transpose |> map(fun column =>\n"
                              "  zip(row, column) |> map(fun (x, y) => x * y) |> reduce((+), 0)))\n";
static const char PICK[] = "entry pick {n m: nat} (is: m.idx[n]) (xs: n.f32): m.f32 = xs |> gather(is) |> mapGlobal(id)\n";

static rise_error err;
#define GOOD(call)                                                      \
    do {                                                                \
        if (!CHECK((call) == RISE_OK)) {                                \
            printf("%s: %s\n", rise_status_name(err.status), err.text); \
            exit(unit_end());                                           \
        }                                                               \
    } while (0)
#define BAD(call, code, part)                                                           \
    do {                                                                                \
        memset(&err, 0xee, sizeof err);                                                 \
        int status_ = (call);                                                           \
        if (!CHECK(status_ == (code) && err.status == (code) && strstr(err.text, (part)))) \
            printf("got %s: %s\n", rise_status_name(status_), status_ ? err.text : ""); \
    } while (0)

/* ---- a context ------------------------------------------------------------------------------------------------------------- */

typedef struct AllocMeter {
    long calls, fail_at, live;
} AllocMeter;

static void *meter_alloc(void *user, size_t bytes)
{
    AllocMeter *m = user;
    if (++m->calls == m->fail_at)
        return NULL;
    void *block = malloc(bytes);
    m->live += block != NULL;
    return block;
}

static void meter_free(void *user, void *block)
{
    ((AllocMeter *)user)->live--;
    free(block);
}

static int open_with(int device, AllocMeter *meter, rise_context **context)
{
    rise_context_options options = {.size = sizeof options, .device = device};
    RiseSeams seams = {.loader = &fake_loader, .cache_dir = ""};
    if (meter)
        seams.alloc = (Allocator){meter, meter_alloc, meter_free};
    return context_new(&options, &seams, context, &err);
}

static rise_context *open_context(void)
{
    rise_context *context = NULL;
    GOOD(open_with(RISE_GPU, NULL, &context));
    return context;
}

/* Nothing is left of what the driver gave. */
static void check_clean(void) { CHECK(fake_gpu.memories == 0 && fake_gpu.modules == 0 && fake_gpu.events == 0 && fake_gpu.streams == 0 && fake_gpu.leaked == 0 && fake_gpu.retained == 0 && fake_gpu.pushed == 0 && fake_gpu.misuse == 0); }

typedef struct Fixture {
    rise_context *context;
    rise_program *program;
    rise_entry *entry;
    rise_call *call;
} Fixture;

static Fixture start(const char *text)
{
    Fixture f = {0};
    f.context = open_context();
    GOOD(rise_program_from_text(f.context, "test.rise", text, (size_t)-1, &f.program, &err));
    GOOD(rise_entry_get(f.program, NULL, NULL, &f.entry, &err));
    GOOD(rise_call_new(f.entry, &f.call, &err));
    return f;
}

static void end(Fixture *f)
{
    rise_call_free(f->call);
    rise_program_free(f->program);
    rise_context_free(f->context);
    check_clean();
}

/* ---- what a kernel was given ------------------------------------------------------------------------------------------------ */

static FakeLaunch last;
static char last_name[64];
static int64_t last_size; /* of the last launch: its last parameter, as wide as its name says */
static int dirty;         /* cells of workspace that were not zero where they should have been */
static RiseCall *watched;

static void note_launch(const FakeLaunch *l)
{
    last = *l;
    snprintf(last_name, sizeof last_name, "%s", l->name);
    for (int i = 0; watched && i < watched->n_steps; i++) {
        const Variant *v = watched->steps[i].variant;
        if (strcmp(v->name, l->name) != 0)
            continue;
        int n = v->n_buffers + v->kernel->n_sizes;
        int narrow;
        memcpy(&narrow, l->params[n - 1], sizeof narrow);
        if (v->kernel->wide)
            memcpy(&last_size, l->params[n - 1], sizeof last_size);
        else
            last_size = narrow;
        for (int b = 0; b < v->n_buffers; b++) {
            CUdeviceptr at;
            memcpy(&at, l->params[b], sizeof at);
            if (v->buffers[b].temp < 0 || !watched->entry->plan.temps[v->buffers[b].temp].zero)
                continue;
            const CallTemp *temp = &watched->temps[v->buffers[b].temp];
            CHECK(temp->memory == at && fake_gpu_owns(at, (size_t)temp->bytes));
            for (int64_t k = 0; k < temp->bytes; k++)
                dirty += ((unsigned char *)(uintptr_t)at)[k] != 0;
        }
    }
}

/* result, factor, xs, n */
static void run_scale(const FakeLaunch *l)
{
    CUdeviceptr result, xs;
    int factor, n;
    memcpy(&result, l->params[0], sizeof result);
    memcpy(&factor, l->params[1], sizeof factor);
    memcpy(&xs, l->params[2], sizeof xs);
    memcpy(&n, l->params[3], sizeof n);
    if (!fake_gpu_owns(result, (size_t)n * 4) || !fake_gpu_owns(xs, (size_t)n * 4)) {
        fake_gpu.misuse++;
        return;
    }
    for (int i = 0; i < n; i++)
        ((int *)(uintptr_t)result)[i] = ((int *)(uintptr_t)xs)[i] * factor;
}

/* ---- opening ------------------------------------------------------------------------------------------------------------------ */

static void refused(int status, const char *part)
{
    rise_context *context = NULL;
    BAD(open_with(RISE_GPU, NULL, &context), status, part);
    CHECK(!context);
    if (status == RISE_ERROR_DEVICE) {
        GOOD(open_with(RISE_AUTO, NULL, &context));
        CHECK(rise_context_device(context) == RISE_SIM);
        rise_context_free(context);
    }
    check_clean();
}

static void test_open(void)
{
    fake_gpu_start();
    fake_gpu.no_driver = true;
    refused(RISE_ERROR_DEVICE, "looked for libcuda.so.1");
    refused(RISE_ERROR_DEVICE, "the simulator needs none");
    fake_gpu_start();
    fake_gpu.no_symbol = "cuLaunchCooperativeKernel";
    refused(RISE_ERROR_DEVICE, "has no cuLaunchCooperativeKernel: the driver is older than CUDA 11.2");
    fake_gpu_start();
    fake_gpu.version = 10020;
    refused(RISE_ERROR_DEVICE, "is for CUDA 10.2");
    fake_gpu_start();
    fake_gpu.init_result = CU_STUB_LIBRARY;
    refused(RISE_ERROR_DEVICE, "stub");
    fake_gpu_start();
    fake_gpu.init_result = CU_NO_DEVICE;
    refused(RISE_ERROR_DEVICE, "no GPU");
    fake_gpu_start();
    fake_gpu.devices = 0;
    refused(RISE_ERROR_DEVICE, "no GPU");
    fake_gpu_start();
    fake_gpu.arch = 61;
    refused(RISE_ERROR_DEVICE, "sm_61");
    fake_gpu_start();
    fake_gpu.sticky = 700; /* as of a context that others have lost: not even the start works */
    refused(RISE_ERROR_LOST, "ILLEGAL_ADDRESS");
    fake_gpu_start();
    rise_context_options options = {.size = sizeof options, .device = RISE_GPU, .ordinal = 3};
    RiseSeams seams = {.loader = &fake_loader, .cache_dir = ""};
    rise_context *context = NULL;
    BAD(context_new(&options, &seams, &context, &err), RISE_ERROR_DEVICE, "no GPU 3");
    check_clean();
    context = open_context();
    CHECK_TEXT(rise_context_device_name(context), "Fake GPU, sm_90, driver 13.0");
    CHECK_TEXT(rise_context_arch(context), "sm_90");
    CHECK(fake_gpu.retained == 1 && !fake_gpu_current());
    rise_context_free(context);
    check_clean();
    /* A CUDA context of the caller is used, and not held. */
    char theirs;
    fake_gpu_set_current(&theirs);
    context = open_context();
    CHECK(fake_gpu.retained == 0 && context_of(context, NULL)->gpu.context == &theirs && fake_gpu_current() == &theirs);
    rise_context_free(context);
    fake_gpu_set_current(NULL);
    options = (rise_context_options){.size = sizeof options, .device = RISE_GPU, .cuda_context = &theirs};
    GOOD(context_new(&options, &seams, &context, &err));
    CHECK(context_of(context, NULL)->gpu.context == &theirs && !fake_gpu_current());
    rise_context_free(context);
    check_clean();
}

/* ---- launching ------------------------------------------------------------------------------------------------------------------ */

static void test_scale(void)
{
    enum { N = 1000 };
    int xs[N], ys[N], factor = 3;
    int64_t n = N;
    fake_gpu_start();
    fake_gpu.kernel = run_scale;
    Fixture f = start(SCALE);
    for (int i = 0; i < N; i++)
        xs[i] = i;
    GOOD(rise_call_scalar(f.call, "factor", RISE_I32, &factor, &err));
    GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &n, xs, RISE_HOST, &err));
    GOOD(rise_call_launch(f.call, NULL, &err));
    GOOD(rise_call_read(f.call, "result", ys, sizeof ys, &err));
    CHECK(ys[0] == 0 && ys[999] == 2997 && fake_gpu.launches == 1 && fake_gpu.compilations == 1);
    factor = -1;
    GOOD(rise_call_scalar(f.call, "factor", RISE_I32, &factor, &err));
    GOOD(rise_call_output(f.call, "result", RISE_I32, ys, sizeof ys, RISE_HOST, &err));
    GOOD(rise_call_launch(f.call, NULL, &err));
    GOOD(rise_call_wait(f.call, &err));
    CHECK(ys[999] == -999);
    void *place = &place;
    GOOD(rise_call_result(f.call, "result", &place, NULL, &err));
    CHECK(!place);
    GOOD(rise_call_read(f.call, "result", xs, sizeof xs, &err));
    CHECK(xs[999] == -999);
    /* Everything on the device: a launch asks whether the stream is recording, and starts the kernel. */
    void *a, *b;
    GOOD(rise_alloc(f.context, sizeof xs, &a, &err));
    GOOD(rise_alloc(f.context, sizeof xs, &b, &err));
    GOOD(rise_copy(f.context, a, RISE_DEVICE, xs, RISE_HOST, sizeof xs, &err));
    GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &n, a, RISE_DEVICE, &err));
    GOOD(rise_call_output(f.call, "result", RISE_I32, b, sizeof xs, RISE_DEVICE, &err));
    GOOD(rise_call_launch(f.call, NULL, &err));
    fake_gpu_set_current(fake_gpu_primary());
    long before = fake_gpu.calls;
    for (int k = 0; k < 10; k++)
        GOOD(rise_call_launch(f.call, NULL, &err));
    CHECK(fake_gpu.calls == before + 20);
    fake_gpu_set_current(NULL);
    GOOD(rise_copy(f.context, ys, RISE_HOST, b, RISE_DEVICE, sizeof ys, &err));
    CHECK(ys[999] == 999);
    GOOD(rise_copy(f.context, a, RISE_DEVICE, b, RISE_DEVICE, sizeof ys, &err));
    GOOD(rise_call_output(f.call, "result", RISE_I32, (int *)a + 1, sizeof xs, RISE_DEVICE, &err));
    BAD(rise_call_launch(f.call, NULL, &err), RISE_ERROR_ARGUMENT, "overlap");
    /* Nothing to do: no kernel. */
    n = 0;
    before = fake_gpu.launches;
    GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &n, NULL, RISE_DEVICE, &err));
    GOOD(rise_call_launch(f.call, NULL, &err));
    CHECK(fake_gpu.launches == before);
    /* A program of the same text is compiled already. */
    rise_program *again = NULL;
    rise_entry *entry = NULL;
    rise_call *other = NULL;
    GOOD(rise_program_from_text(f.context, "test.rise", SCALE, (size_t)-1, &again, &err));
    GOOD(rise_entry_get(again, NULL, NULL, &entry, &err));
    GOOD(rise_call_new(entry, &other, &err));
    GOOD(rise_call_scalar(other, "factor", RISE_I32, &factor, &err));
    GOOD(rise_call_input(other, "xs", RISE_I32, 1, &n, NULL, RISE_DEVICE, &err));
    GOOD(rise_call_prepare(other, &err));
    CHECK(fake_gpu.compilations == 1 && fake_gpu.modules == 1);
    rise_call_free(other);
    rise_program_free(again);
    rise_kernel kernel = {.size = sizeof kernel};
    GOOD(rise_entry_kernel(f.entry, 0, &kernel, &err));
    CHECK(kernel.registers == 24 && kernel.max_threads == 1024 && kernel.static_shared == 1024 && kernel.spills == 0);
    const char *ptx;
    size_t size;
    GOOD(rise_entry_ptx(f.entry, "sm_80", &ptx, &size, &err));
    CHECK(strlen(ptx) == size && fake_gpu.compilations == 2);
    rise_free(f.context, a);
    rise_free(f.context, b);
    end(&f);
}

/* Addresses that nothing reads. */
static void *const FAR = (void *)0x100000000;
static void *const FARTHER = (void *)0x4000000000000;

static int launch_far(Fixture *f, int type, int64_t n, int shift)
{
    fake_gpu.kernel = note_launch;
    watched = call_of(f->call, NULL);
    last_name[0] = 0;
    int status = rise_call_input(f->call, "xs", type, 1, &n, (char *)FAR + shift, RISE_DEVICE, &err);
    status = status ? status : rise_call_output(f->call, "result", type, FARTHER, (size_t)1 << 50, RISE_DEVICE, &err);
    status = status ? status : rise_call_launch(f->call, NULL, &err);
    watched = NULL;
    return status;
}

static void test_variants(void)
{
    int factor = 1;
    fake_gpu_start();
    Fixture f = start(SCALE);
    GOOD(rise_call_scalar(f.call, "factor", RISE_I32, &factor, &err));
    GOOD(launch_far(&f, RISE_I32, 1000, 0));
    CHECK_TEXT(last_name, "scale");
    CHECK(last.grid[0] == 4 && last.grid[1] == 1 && last.block[0] == 256 && last_size == 1000 && !last.cooperative);
    GOOD(launch_far(&f, RISE_I32, (int64_t)1 << 33, 0));
    CHECK_TEXT(last_name, "scale_64");
    CHECK(last.grid[0] == 65535 && last_size == (int64_t)1 << 33);
    BAD(launch_far(&f, RISE_I32, (int64_t)1 << 41, 0), RISE_ERROR_ARGUMENT, "too large");
    fake_gpu.max_threads = 128;
    end(&f);
    f = start(SCALE);
    GOOD(rise_call_scalar(f.call, "factor", RISE_I32, &factor, &err));
    BAD(launch_far(&f, RISE_I32, 1000, 0), RISE_ERROR_DEVICE, "256 threads");
    end(&f);
    fake_gpu_start();
    f = start(VECTOR);
    GOOD(launch_far(&f, RISE_F32, 4096, 0));
    CHECK_TEXT(last_name, "copy");
    GOOD(launch_far(&f, RISE_F32, 4096, 4));
    CHECK(strcmp(last_name, "copy") != 0 && !strstr(last_name, "64"));
    BAD(launch_far(&f, RISE_F32, 4096, 2), RISE_ERROR_ARGUMENT, "no multiple of the 4 bytes");
    end(&f);
    f = start(CASES);
    GOOD(launch_far(&f, RISE_I32, 4096, 0));
    CHECK(call_of(f.call, NULL)->n_steps == 1);
    GOOD(launch_far(&f, RISE_I32, 4097, 0));
    CHECK(call_of(f.call, NULL)->n_steps == 2);
    end(&f);
    f = start(DEVICE);
    GOOD(launch_far(&f, RISE_I32, 1 << 20, 0));
    CHECK(last.grid[0] == 264 && last.block[0] == 64);
    end(&f);
}

/* Which kernels a launch of n elements starts, one after the other. */
static const char *launched_for(Fixture *f, int64_t n)
{
    static char names[512];
    size_t at = 0;
    names[0] = 0;
    GOOD(launch_far(f, RISE_I32, n, 0));
    for (int i = 0; i < call_of(f->call, NULL)->n_steps; i++)
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", i ? " " : "", call_of(f->call, NULL)->steps[i].variant->name);
    return names;
}

/* Each launch is chosen by itself, by sizes and by the 132 multiprocessors; a branch has a kernel more. Where none takes the sizes, nothing is launched. */
static void test_launches(void)
{
    fake_gpu_start();
    fake_gpu.kernel = note_launch;
    Fixture f = start(LAUNCHES);
    CHECK_TEXT(launched_for(&f, 31), "chain chain_small_2 chain_small_finish");
    CHECK_TEXT(launched_for(&f, 32), "chain chain_large_2 chain_small_finish");
    CHECK_TEXT(launched_for(&f, 132000), "chain chain_large_2 chain_small_finish");
    CHECK_TEXT(launched_for(&f, 132001), "chain chain_large_2 chain_large_3 chain_large_finish");
    long before = fake_gpu.launches;
    BAD(launch_far(&f, RISE_I32, (int64_t)1 << 41, 0), RISE_ERROR_ARGUMENT, "too large");
    CHECK(fake_gpu.launches == before);
    end(&f);
}

/* Powers: 31 bits, 64 bits, no kernel. */
static void test_powers(void)
{
    fake_gpu_start();
    Fixture f = start(POWER);
    for (int64_t k = 0; k <= 64; k++) {
        GOOD(rise_call_size(f.call, "k", k, &err));
        if (k <= 50) {
            GOOD(launch_far(&f, RISE_I32, 10, 0));
            CHECK_TEXT(last_name, k <= 29 ? "power" : "power_64");
        } else {
            BAD(launch_far(&f, RISE_I32, 10, 0), RISE_ERROR_ARGUMENT, "too large");
        }
    }
    end(&f);
}

/* A block for each row: axis x takes 2^31 - 1, the others 65,535. */
static void test_rows(void)
{
    static const char *const texts[] = {ONCE, ONCE_Y};
    for (int axis = 0; axis < 2; axis++) {
        int64_t shape[2] = {65535, 32};
        fake_gpu_start();
        fake_gpu.kernel = note_launch;
        Fixture f = start(texts[axis]);
        GOOD(rise_call_output(f.call, "result", RISE_I32, FARTHER, (size_t)1 << 40, RISE_DEVICE, &err));
        for (; shape[0] < 200000; shape[0] += 65535) {
            GOOD(rise_call_input(f.call, "xs", RISE_I32, 2, shape, FAR, RISE_DEVICE, &err));
            if (axis == 0 || shape[0] <= 65535) {
                GOOD(rise_call_launch(f.call, NULL, &err));
                CHECK(last.grid[axis] == shape[0]);
            } else {
                BAD(rise_call_launch(f.call, NULL, &err), RISE_ERROR_ARGUMENT, "on axis y, and mapBlock[once] takes 65535 there");
            }
        }
        end(&f);
    }
}

/* A product's rows lie on axis x: there may be forty million of them. */
static void test_many_rows(void)
{
    int64_t xs[2] = {40000000, 16}, ys[2] = {16, 16};
    fake_gpu_start();
    fake_gpu.kernel = note_launch;
    Fixture f = start(PRODUCT);
    GOOD(rise_call_input(f.call, "xs", RISE_F32, 2, xs, FAR, RISE_DEVICE, &err));
    GOOD(rise_call_input(f.call, "ys", RISE_F32, 2, ys, FAR, RISE_DEVICE, &err));
    GOOD(rise_call_output(f.call, "result", RISE_F32, FARTHER, (size_t)1 << 40, RISE_DEVICE, &err));
    GOOD(rise_call_launch(f.call, NULL, &err));
    CHECK(last.grid[0] > 65535);
    end(&f);
}

static void test_shared(void)
{
    fake_gpu_start();
    fake_gpu.kernel = note_launch;
    Fixture f = start(ROWS);
    static const struct {
        int64_t n;
        bool fits;
    } cases[] = {{10, true}, {12288, true}, {12289, true}, {57856, true}, {57857, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t shape[2] = {2, cases[i].n};
        GOOD(rise_call_input(f.call, "xs", RISE_F32, 2, shape, FAR, RISE_DEVICE, &err));
        GOOD(rise_call_output(f.call, "result", RISE_F32, FARTHER, (size_t)1 << 40, RISE_DEVICE, &err));
        if (cases[i].fits) {
            GOOD(rise_call_launch(f.call, NULL, &err));
            CHECK(last.shared == 4 * cases[i].n);
        } else {
            BAD(rise_call_launch(f.call, NULL, &err), RISE_ERROR_DEVICE, "231428 bytes of shared memory");
        }
    }
    end(&f);
}

static void test_workspace(void)
{
    fake_gpu_start();
    dirty = 0;
    Fixture f = start(LAST);
    for (int k = 0; k < 5; k++)
        GOOD(launch_far(&f, RISE_I32, k * 5000, 0));
    CHECK(dirty == 0 && fake_gpu.launches == 5 && fake_gpu.memories == 1); /* also of no elements */
    /* A launch that fails may leave a count behind. */
    fake_gpu.fail_at = fake_gpu.calls + 3; /* push, recording?, launch */
    fake_gpu.fail_with = 1;
    BAD(rise_call_launch(f.call, NULL, &err), RISE_ERROR_DEVICE, "launching sum");
    CHECK_TEXT(fake_gpu.failed, "launch");
    CHECK(call_of(f.call, NULL)->clears);
    long before = fake_gpu.calls;
    GOOD(rise_call_launch(f.call, NULL, &err));
    CHECK(fake_gpu.calls == before + 4); /* cleared first */
    /* Another stream waits for the first one. */
    char stream;
    before = fake_gpu.events;
    GOOD(rise_call_launch(f.call, &stream, &err));
    CHECK(fake_gpu.events == before + 1 && last.stream == &stream);
    GOOD(rise_call_wait(f.call, &err));
    end(&f);
}

/* What the device has no room for is refused before anything of it is allocated. */
static void test_large(void)
{
    static const char TWICE[] = "entry twice {n: nat} (xs: n.i32): n.i32 =\n"
                                "  xs |> mapGlobal(fun x => x + 1) |> nextKernel(fun ys => ys |> reverse |> mapGlobal(fun y => 2 * y))\n";
    const int64_t n = 1 << 25, more = (int64_t)1 << 29;
    fake_gpu_start();
    fake_gpu.memory = ((size_t)1 << 28) + 4096;
    Fixture f = start(TWICE);
    GOOD(launch_far(&f, RISE_I32, n, 0));
    CHECK(fake_gpu.memories == 1);
    BAD(launch_far(&f, RISE_I32, more, 0), RISE_ERROR_DEVICE_MEMORY, "twice: for these sizes arrays between kernels take 2147487744 bytes on the device, 2147483648 of them for `");
    CHECK(strstr(err.text, "has 268439552 of its 268439552 bytes free") && fake_gpu.memories == 1 && err.cuda == 0);
    GOOD(launch_far(&f, RISE_I32, 2 * n, 0)); /* in place of the smaller one */
    GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &more, FAR, RISE_HOST, &err));
    BAD(rise_call_launch(f.call, NULL, &err), RISE_ERROR_DEVICE_MEMORY, "twice: for these sizes inputs and results take 2147483648 bytes on the device, 2147483648 of them for `xs`");
    end(&f);
}

/* Of a chain of arrays two are there at once: they lie upon those before. */
static void test_places(void)
{
    static const char CHAIN[] = "entry chain {n: nat} (xs: n.i32): n.i32 =\n"
                                "  xs |> mapGlobal(fun x => x + 1) |> nextKernel(reverse >> mapGlobal(fun x => x + 2)) |> nextKernel(reverse >> mapGlobal(fun x => x + 3))\n"
                                "     |> nextKernel(reverse >> mapGlobal(fun x => x + 4)) |> nextKernel(reverse >> mapGlobal(fun x => x + 5)) |> nextKernel(mapGlobal(id))\n";
    fake_gpu_start();
    Fixture f = start(CHAIN);
    GOOD(launch_far(&f, RISE_I32, 1 << 24, 0));
    CHECK(call_of(f.call, NULL)->n_steps == 6 && call_of(f.call, NULL)->workspace.bytes == 4096 + ((size_t)2 << 26));
    end(&f);
}

static void test_cooperative(void)
{
    fake_gpu_start();
    fake_gpu.sms = 3;
    Fixture f = start(GRID);
    GOOD(launch_far(&f, RISE_I32, 1 << 20, 0));
    CHECK(last.cooperative && last.grid[0] == 6);
    GOOD(launch_far(&f, RISE_I32, 300, 0));
    CHECK(last.grid[0] == 2);
    fake_gpu.resident = 0;
    BAD(launch_far(&f, RISE_I32, 301, 0), RISE_ERROR_DEVICE, "fits on");
    end(&f);
    fake_gpu_start();
    fake_gpu.cooperative = 0;
    f = start(GRID);
    BAD(launch_far(&f, RISE_I32, 300, 0), RISE_ERROR_DEVICE, "cooperative");
    end(&f);
}

static void test_indices(void)
{
    fake_gpu_start();
    Fixture f = start(PICK);
    int is[2] = {1, 2};
    int64_t is64[2] = {1, 2}, two = 2;
    float xs[2] = {1, 2};
    rise_argument argument = {.size = sizeof argument};
    GOOD(rise_entry_argument(f.entry, 1, &argument, &err));
    void *data = argument.type == RISE_I64 ? (void *)is64 : (void *)is;
    GOOD(rise_call_input(f.call, "is", argument.type, 1, &two, data, RISE_HOST, &err));
    GOOD(rise_call_input(f.call, "xs", RISE_F32, 1, &two, xs, RISE_HOST, &err));
    BAD(rise_call_launch(f.call, NULL, &err), RISE_ERROR_ARGUMENT, "element 1 of is");
    is[1] = 0;
    is64[1] = 0;
    GOOD(rise_call_launch(f.call, NULL, &err));
    end(&f);
}

/* ---- what goes wrong --------------------------------------------------------------------------------------------------------------- */

static void test_compiler(void)
{
    fake_gpu_start();
    fake_gpu.no_nvrtc = true;
    Fixture f = start(SCALE);
    BAD(rise_entry_load(f.entry, &err), RISE_ERROR_NVRTC, "libnvrtc");
    end(&f);
    /* A device that NVRTC does not know yet gets PTX. */
    fake_gpu_start();
    fake_gpu.arch = 121;
    f = start(SCALE);
    GOOD(rise_entry_load(f.entry, &err));
    CHECK(fake_gpu.compilations == 2 && fake_gpu.modules == 2); /* with indices of 32 and of 64 bits */
    const void *cubin;
    BAD(rise_entry_cubin(f.entry, NULL, &cubin, NULL, &err), RISE_ERROR_NVRTC, "121");
    end(&f);
}

static int cycle(AllocMeter *meter)
{
    rise_context *context = NULL;
    rise_program *program = NULL;
    rise_entry *entry;
    rise_call *call = NULL;
    int xs[5] = {1, 2, 3, 4, 5}, ys[5] = {0}, factor = 2, streams[2];
    int64_t n = 5;
    int status = open_with(RISE_GPU, meter, &context);
    status = status ? status : rise_program_from_text(context, "test.rise", SCALE, (size_t)-1, &program, &err);
    status = status ? status : rise_entry_get(program, NULL, NULL, &entry, &err);
    status = status ? status : rise_call_new(entry, &call, &err);
    status = status ? status : rise_call_scalar(call, "factor", RISE_I32, &factor, &err);
    status = status ? status : rise_call_input(call, "xs", RISE_I32, 1, &n, xs, RISE_HOST, &err);
    status = status ? status : rise_call_launch(call, &streams[0], &err);
    status = status ? status : rise_call_launch(call, &streams[1], &err);
    status = status ? status : rise_call_read(call, "result", ys, sizeof ys, &err);
    if (status == RISE_OK && ys[4] != 10)
        status = -1;
    rise_call_free(call);
    rise_program_free(program);
    rise_context_free(context);
    return status;
}

static void test_failing_driver(CUresult with, int status)
{
    fake_gpu_start();
    fake_gpu.kernel = run_scale;
    GOOD(cycle(NULL));
    long calls = fake_gpu.calls, wrong = 0, kept = 0;
    check_clean();
    for (long k = 1; k <= calls; k++) {
        fake_gpu_start();
        fake_gpu.kernel = run_scale;
        fake_gpu.fail_at = k;
        fake_gpu.fail_with = with;
        int got = cycle(NULL);
        /* Some may fail without harm: asking for the driver's version again, which chooses the NVRTC; asking how a context is; waiting before a module goes, and
         * entering the context to give things back, which then stay there until it goes. */
        bool harmless = fake_gpu.failed && (strcmp(fake_gpu.failed, "driver_version") == 0 || strcmp(fake_gpu.failed, "ctx_synchronize") == 0 ||
                                            (strcmp(fake_gpu.failed, "stream_query") == 0 && status != RISE_ERROR_LOST) || strcmp(fake_gpu.failed, "ctx_push") == 0);
        kept += got == RISE_OK;
        if (got != status && !(got == RISE_OK && harmless)) {
            printf("call %ld, %s: %s\n", k, fake_gpu.failed ? fake_gpu.failed : "?", rise_status_name(got));
            wrong++;
        }
        bool lost_some = status == RISE_ERROR_LOST || (fake_gpu.failed && strcmp(fake_gpu.failed, "ctx_push") == 0);
        CHECK(fake_gpu.retained == 0 && fake_gpu.pushed == 0 && fake_gpu.misuse == 0);
        if (!lost_some)
            check_clean();
    }
    printf("each of %ld calls of the driver failed once with %d, %ld without harm\n", calls, with, kept);
    CHECK(wrong == 0 && calls > 30 && kept < 8);
}

static void test_failing_memory(void)
{
    AllocMeter meter = {0};
    fake_gpu_start();
    fake_gpu.kernel = run_scale;
    GOOD(cycle(&meter));
    long calls = meter.calls, wrong = 0;
    CHECK(meter.live == 0);
    for (long k = 1; k <= calls; k++) {
        meter = (AllocMeter){.fail_at = k};
        int got = cycle(&meter);
        if (got != RISE_ERROR_MEMORY || meter.live != 0)
            printf("allocation %ld: %s %s, %ld left\n", k, rise_status_name(got), err.text, meter.live), wrong++;
        check_clean();
    }
    printf("each of %ld allocations failed once\n", calls);
    CHECK(wrong == 0 && calls > 30);
}

static void test_lost(void)
{
    int xs[5] = {1, 2, 3, 4, 5}, ys[5] = {0}, factor = 2;
    int64_t n = 5;
    fake_gpu_start();
    fake_gpu.kernel = run_scale;
    Fixture f = start(SCALE);
    GOOD(rise_call_scalar(f.call, "factor", RISE_I32, &factor, &err));
    GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &n, xs, RISE_HOST, &err));
    GOOD(rise_call_launch(f.call, NULL, &err));
    CHECK(!rise_context_lost(f.context));
    fake_gpu.sticky = 700;
    BAD(rise_call_wait(f.call, &err), RISE_ERROR_LOST, "CUDA_ERROR_ILLEGAL_ADDRESS");
    CHECK(err.cuda == 700 && rise_context_lost(f.context));
    BAD(rise_call_launch(f.call, NULL, &err), RISE_ERROR_LOST, "start a new process");
    BAD(rise_call_read(f.call, "result", ys, sizeof ys, &err), RISE_ERROR_LOST, "start a new process");
    void *memory;
    BAD(rise_alloc(f.context, 4, &memory, &err), RISE_ERROR_LOST, "start a new process");
    rise_context *other = NULL;
    BAD(open_with(RISE_GPU, NULL, &other), RISE_ERROR_LOST, "ILLEGAL_ADDRESS");
    rise_call_free(f.call);
    rise_program_free(f.program);
    rise_context_free(f.context);
    CHECK(fake_gpu.retained == 0 && fake_gpu.misuse == 0 && fake_gpu.leaked > 0); /* it went with the context */
    BAD(open_with(RISE_GPU, NULL, &other), RISE_ERROR_LOST, "start a new process"); /* also when nothing of the first one is left */
    BAD(open_with(RISE_AUTO, NULL, &other), RISE_ERROR_LOST, "start a new process");
    GOOD(open_with(RISE_SIM, NULL, &other));
    rise_context_free(other);
    fake_gpu_start(); /* a new process */
    fake_gpu.kernel = run_scale;
    GOOD(cycle(NULL));
}

/* ---- threads ---------------------------------------------------------------------------------------------------------------------- */

typedef struct Worker {
    rise_program *program;
    int number, wrong;
} Worker;

static void *work(void *user)
{
    enum { M = 50 };
    Worker *w = user;
    for (int k = 0; k < 40; k++) {
        rise_error error;
        rise_entry *entry = NULL;
        rise_call *call = NULL;
        int xs[M], ys[M], factor = w->number + 1;
        int64_t n = 1 + k % M;
        for (int i = 0; i < M; i++)
            xs[i] = i + k;
        int status = rise_entry_get(w->program, NULL, NULL, &entry, &error);
        status = status ? status : rise_call_new(entry, &call, &error);
        status = status ? status : rise_call_scalar(call, "factor", RISE_I32, &factor, &error);
        status = status ? status : rise_call_input(call, "xs", RISE_I32, 1, &n, xs, RISE_HOST, &error);
        status = status ? status : rise_call_launch(call, NULL, &error);
        status = status ? status : rise_call_read(call, "result", ys, (size_t)n * 4, &error);
        w->wrong += status != RISE_OK || ys[n - 1] != xs[n - 1] * factor;
        rise_call_free(call);
    }
    return NULL;
}

static void test_threads(void)
{
    enum { THREADS = 8 };
    fake_gpu_start();
    fake_gpu.kernel = run_scale;
    Fixture f = start(SCALE);
    Worker workers[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (Worker){f.program, i, 0};
        CHECK(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK(workers[i].wrong == 0);
    }
    CHECK(fake_gpu.compilations == 1 && fake_gpu.modules == 1 && fake_gpu.launches == THREADS * 40);
    end(&f);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    test_open();
    test_scale();
    test_variants();
    test_launches();
    test_powers();
    test_rows();
    test_many_rows();
    test_shared();
    test_workspace();
    test_large();
    test_places();
    test_cooperative();
    test_indices();
    test_compiler();
    test_failing_driver(1, RISE_ERROR_DEVICE);
    test_failing_driver(CU_OUT_OF_MEMORY, RISE_ERROR_DEVICE_MEMORY);
    test_failing_driver(700, RISE_ERROR_LOST);
    test_failing_memory();
    test_lost();
    test_threads();
    return unit_end();
}
