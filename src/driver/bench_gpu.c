#include "driver/bench_gpu.h"

#include <stdlib.h>

#include "driver/interrupt.h"
#include "runtime/internal.h"

enum { CU_CACHE_BYTES = 38, CU_CAPTURE_THREAD_LOCAL = 1 };
enum { COPY_BYTES = 1 << 30, MEGABYTE = 1 << 20 };

/* Runs wherever risec's kernels do. */
static const char EMPTY_PTX[] = ".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry risec_empty()\n{\n    ret;\n}\n";

/* ---- numbers ------------------------------------------------------------------------------------------------------------ */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The nearest of the times: no time is made up between two. */
static double quantile(int n, const double *us, double q) { return us[(int)(q * (n - 1) + 0.5)]; }

BenchTime bench_time(int n, double *us)
{
    if (n < 1)
        return (BenchTime){0};
    qsort(us, (size_t)n, sizeof *us, ascending);
    return (BenchTime){n, quantile(n, us, 0.5), quantile(n, us, 0.1), quantile(n, us, 0.9)};
}

int bench_copies(size_t bytes, size_t cache_bytes, size_t free_bytes)
{
    size_t rotate = 4 * cache_bytes > (size_t)64 * MEGABYTE ? 4 * cache_bytes : (size_t)64 * MEGABYTE;
    size_t copies = bytes ? rotate / bytes + 1 : 1;
    if (copies > BENCH_CHAIN)
        copies = BENCH_CHAIN;
    while (copies > 1 && copies > free_bytes / 2 / bytes)
        copies--;
    return (int)copies;
}

/* ---- the device ----------------------------------------------------------------------------------------------------------- */

int bench_check(BenchGpu *gpu, CUresult result, rise_error *error, const char *what)
{
    const char *name = NULL, *text = NULL;
    if (result == CU_SUCCESS)
        return RISE_OK;
    if (!gpu->api.error_name || gpu->api.error_name(result, &name) != CU_SUCCESS || !name)
        name = "an error that it has no name for";
    if (!gpu->api.error_string || gpu->api.error_string(result, &text) != CU_SUCCESS || !text)
        text = "";
    rise_fail(error, result == CU_OUT_OF_MEMORY ? RISE_ERROR_DEVICE_MEMORY : RISE_ERROR_DEVICE, "%s: the CUDA driver says %s (%d): %s", what, name, result, text);
    if (error)
        error->cuda = result;
    return result == CU_OUT_OF_MEMORY ? RISE_ERROR_DEVICE_MEMORY : RISE_ERROR_DEVICE;
}

#define TRY(call, what)                                                     \
    do {                                                                    \
        int status_ = bench_check(gpu, (call), error, (what));              \
        if (status_ != RISE_OK)                                             \
            return status_;                                                 \
    } while (0)

static int load_more(BenchGpu *gpu, const LibraryLoader *loader, rise_error *error)
{
    static const LibrarySymbol symbols[] = {
#define CUDA_FN(name, symbol, params) {symbol, offsetof(BenchApi, name), false},
#include "driver/bench_gpu.def"
#undef CUDA_FN
    };
    void *library = loader->open(loader->user, "libcuda.so.1");
    const char *missing = library ? library_symbols(loader, library, (int)(sizeof symbols / sizeof symbols[0]), symbols, &gpu->more) : symbols[0].name;
    return missing ? rise_fail(error, RISE_ERROR_DEVICE, "the CUDA driver has no %s, which measuring needs", missing) : RISE_OK;
}

/* librise works in whichever CUDA context is current, and so do the hand-written kernels, through the CUDA runtime: the primary one. */
static int enter(BenchGpu *gpu, rise_error *error)
{
    int bytes = 0;
    TRY(gpu->api.device_get(&gpu->device, 0), "asking for the GPU");
    TRY(gpu->api.primary_retain(&gpu->context, gpu->device), "asking for the primary CUDA context");
    CUresult result = gpu->api.ctx_push(gpu->context);
    if (result != CU_SUCCESS) {
        gpu->api.primary_release(gpu->device);
        gpu->context = NULL;
    }
    TRY(result, "making the CUDA context current");
    TRY(gpu->api.device_attribute(&bytes, CU_CACHE_BYTES, gpu->device), "asking for the size of the cache");
    gpu->cache_bytes = bytes > 0 ? (size_t)bytes : 0;
    return RISE_OK;
}

static int make_clock(BenchGpu *gpu, rise_error *error)
{
    TRY(gpu->api.stream_create(&gpu->stream, CU_STREAM_NON_BLOCKING), "making a stream");
    TRY(gpu->api.event_create(&gpu->from, 0), "making an event");
    TRY(gpu->api.event_create(&gpu->to, 0), "making an event");
    TRY(gpu->api.module_load(&gpu->module, EMPTY_PTX, 0, NULL, NULL), "loading an empty kernel");
    TRY(gpu->api.module_function(&gpu->empty, gpu->module, "risec_empty"), "loading an empty kernel");
    return RISE_OK;
}

int bench_open(BenchGpu *gpu, const struct RiseSeams *seams, Brake *brake, rise_error *error)
{
    const LibraryLoader *loader = seams && seams->loader ? seams->loader : &library_loader;
    rise_context_options options = {.size = sizeof options, .device = RISE_GPU, .poll = interrupt_poll, .poll_user = brake};
    rise_context *first = NULL;
    memset(gpu, 0, sizeof *gpu);
    /* librise knows what can be wrong with a driver, and says it. */
    int status = context_new(&options, seams, &first, error);
    if (status != RISE_OK)
        return status;
    status = cuda_api_load(loader, &gpu->api, error);
    if (status == RISE_OK)
        status = load_more(gpu, loader, error);
    if (status == RISE_OK)
        status = enter(gpu, error);
    if (status == RISE_OK)
        status = make_clock(gpu, error);
    if (status == RISE_OK)
        status = context_new(&options, seams, &gpu->rise, error);
    rise_context_free(first);
    if (status != RISE_OK)
        bench_close(gpu);
    return status;
}

void bench_close(BenchGpu *gpu)
{
    CUcontext popped;
    rise_context_free(gpu->rise);
    if (gpu->module)
        gpu->api.module_unload(gpu->module);
    if (gpu->from)
        gpu->api.event_destroy(gpu->from);
    if (gpu->to)
        gpu->api.event_destroy(gpu->to);
    if (gpu->stream)
        gpu->api.stream_destroy(gpu->stream);
    if (gpu->context) {
        gpu->api.ctx_pop(&popped);
        gpu->api.primary_release(gpu->device);
    }
    memset(gpu, 0, sizeof *gpu);
}

/* ---- one time --------------------------------------------------------------------------------------------------------------- */

static int start_clock(BenchGpu *gpu, rise_error *error)
{
    TRY(gpu->api.event_record(gpu->from, gpu->stream), "recording an event");
    return RISE_OK;
}

static int stop_clock(BenchGpu *gpu, double *us, rise_error *error)
{
    float ms = 0;
    TRY(gpu->api.event_record(gpu->to, gpu->stream), "recording an event");
    TRY(gpu->more.event_synchronize(gpu->to), "waiting for what is measured");
    TRY(gpu->more.event_elapsed(&ms, gpu->from, gpu->to), "reading the time between two events");
    *us = (double)ms * 1000;
    return RISE_OK;
}

static int time_alone(BenchGpu *gpu, const BenchContender *c, int copy, double *us, rise_error *error)
{
    int status = start_clock(gpu, error);
    if (status == RISE_OK)
        status = c->run(c->user, copy, gpu->stream, error);
    return status == RISE_OK ? stop_clock(gpu, us, error) : status;
}

static int time_graph(BenchGpu *gpu, CUgraphExec graph, int calls, double *us, rise_error *error)
{
    int status = start_clock(gpu, error);
    if (status != RISE_OK)
        return status;
    TRY(gpu->more.graph_launch(graph, gpu->stream), "launching a graph");
    status = stop_clock(gpu, us, error);
    *us /= calls;
    return status;
}

/* NULL where the work cannot be captured: some functions of the CUDA runtime cannot. */
static CUgraphExec capture(BenchGpu *gpu, const BenchContender *c, int copies, int calls)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    int status = 0;
    if (gpu->more.capture_begin(gpu->stream, CU_CAPTURE_THREAD_LOCAL) != CU_SUCCESS)
        return NULL;
    for (int i = 0; i < calls && !status; i++)
        status = c->run(c->user, i % copies, gpu->stream, NULL);
    if (gpu->more.capture_end(gpu->stream, &graph) != CU_SUCCESS || status || gpu->more.graph_instantiate(&exec, graph, 0) != CU_SUCCESS)
        exec = NULL;
    if (graph)
        gpu->more.graph_destroy(graph);
    return exec;
}

/* ---- the race ----------------------------------------------------------------------------------------------------------------- */

typedef struct Lane { /* one contender while it runs */
    CUgraphExec graph;
    int calls;
    double *chain, *alone;
    int n_chain, n_alone;
} Lane;

/* How often can something of this length be measured? */
static int affordable(double us, int most)
{
    double n = BENCH_SECONDS * 1e6 / (us > 1 ? us : 1);
    return n >= most ? most : n < 1 ? 1 : (int)n;
}

/* Measures once to know how long it takes, makes the graph, and runs it until everything is warm. Gives the rounds that there is time for. */
static int prepare(BenchGpu *gpu, const BenchContender *c, Lane *lane, int copies, int *rounds, rise_error *error)
{
    double once = 0;
    int status = RISE_OK;
    for (int k = 0; status == RISE_OK && k < BENCH_WARM; k++)
        status = time_alone(gpu, c, k % copies, &once, error);
    if (status != RISE_OK)
        return status;
    *rounds = affordable(2 * once, *rounds);
    lane->calls = affordable(once * *rounds, BENCH_CHAIN);
    lane->graph = capture(gpu, c, copies, lane->calls);
    for (int k = 0; lane->graph && k < 2; k++)
        TRY(gpu->more.graph_launch(lane->graph, gpu->stream), "launching a graph");
    TRY(gpu->api.stream_synchronize(gpu->stream), "warming up");
    return RISE_OK;
}

static int turn(BenchGpu *gpu, const BenchContender *c, Lane *lane, int copy, rise_error *error)
{
    int status = RISE_OK;
    if (lane->graph)
        status = time_graph(gpu, lane->graph, lane->calls, &lane->chain[lane->n_chain++], error);
    return status == RISE_OK ? time_alone(gpu, c, copy, &lane->alone[lane->n_alone++], error) : status;
}

static int run_race(BenchGpu *gpu, int n, BenchContender *contenders, Lane *lanes, int copies, int rounds, rise_error *error)
{
    int status = RISE_OK;
    for (int i = 0; status == RISE_OK && i < n; i++)
        status = prepare(gpu, &contenders[i], &lanes[i], copies, &rounds, error);
    /* Another one begins each round: nobody always comes after the same one. */
    for (int round = 0; status == RISE_OK && round < rounds; round++)
        for (int i = 0; status == RISE_OK && i < n; i++) {
            int k = (round + i) % n;
            status = turn(gpu, &contenders[k], &lanes[k], round % copies, error);
        }
    for (int i = 0; status == RISE_OK && i < n; i++) {
        contenders[i].chain = bench_time(lanes[i].n_chain, lanes[i].chain);
        contenders[i].alone = bench_time(lanes[i].n_alone, lanes[i].alone);
    }
    return status;
}

int bench_race(BenchGpu *gpu, int n, BenchContender *contenders, int copies, int rounds, rise_error *error)
{
    Lane *lanes = calloc((size_t)n + 1, sizeof *lanes);
    double *times = calloc((size_t)n * (size_t)rounds * 2 + 1, sizeof *times);
    int status = lanes && times ? RISE_OK : rise_fail(error, RISE_ERROR_MEMORY, "out of memory");
    for (int i = 0; status == RISE_OK && i < n; i++) {
        lanes[i].chain = times + (size_t)i * (size_t)rounds * 2;
        lanes[i].alone = lanes[i].chain + rounds;
    }
    if (status == RISE_OK)
        status = run_race(gpu, n, contenders, lanes, copies, rounds, error);
    for (int i = 0; lanes && i < n; i++)
        if (lanes[i].graph)
            gpu->more.graph_exec_destroy(lanes[i].graph);
    free(lanes);
    free(times);
    return status;
}

/* ---- floors -------------------------------------------------------------------------------------------------------------------- */

static int run_empty(void *user, int copy, CUstream stream, rise_error *error)
{
    BenchGpu *gpu = user;
    (void)copy;
    TRY(gpu->api.launch(gpu->empty, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL), "launching an empty kernel");
    return RISE_OK;
}

typedef struct CopyWork {
    BenchGpu *gpu;
    CUdeviceptr from, to;
    size_t bytes;
} CopyWork;

static int run_copy(void *user, int copy, CUstream stream, rise_error *error)
{
    CopyWork *work = user;
    BenchGpu *gpu = work->gpu;
    (void)copy;
    TRY(gpu->api.copy_device(work->to, work->from, work->bytes, stream), "copying on the device");
    return RISE_OK;
}

static int measure_copy(BenchGpu *gpu, CopyWork *work, double *rate, rise_error *error)
{
    BenchContender copy = {.run = run_copy, .user = work};
    /* No zeros: some devices move them faster. */
    TRY(gpu->api.set_bytes(work->from, 0x5a, work->bytes, gpu->stream), "filling memory");
    int status = bench_race(gpu, 1, &copy, 1, BENCH_ROUNDS, error);
    if (status == RISE_OK)
        *rate = 2e6 * (double)work->bytes / copy.alone.median;
    return status;
}

int bench_floors(BenchGpu *gpu, BenchFloors *floors, rise_error *error)
{
    BenchContender empty = {.run = run_empty, .user = gpu};
    size_t free_bytes = 0, total = 0;
    memset(floors, 0, sizeof *floors);
    int status = bench_race(gpu, 1, &empty, 1, BENCH_ROUNDS, error);
    if (status != RISE_OK)
        return status;
    floors->empty_chain = empty.chain;
    floors->empty_alone = empty.alone;
    TRY(gpu->api.mem_info(&free_bytes, &total), "asking for free memory");
    CopyWork work = {.gpu = gpu, .bytes = free_bytes / 8 < COPY_BYTES ? free_bytes / 8 : COPY_BYTES};
    TRY(gpu->api.mem_alloc(&work.from, work.bytes), "memory to copy");
    status = bench_check(gpu, gpu->api.mem_alloc(&work.to, work.bytes), error, "memory to copy to");
    if (status == RISE_OK) {
        status = measure_copy(gpu, &work, &floors->copy_rate, error);
        gpu->api.mem_free(work.to);
    }
    gpu->api.mem_free(work.from);
    return status;
}
