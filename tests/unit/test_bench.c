/* What `risec bench` measures with, on a driver of our own (fake_gpu.h) whose clock the test sets: percentiles, how many copies and rounds, what goes into a graph, turns,
 * failures. Times themselves are for tests/gpu/validate.sh. */
#include "driver/bench_gpu.h"
#include "driver/bench_hand.h"
#include "driver/tune.h"
#include "driver/run_gpu.h"
#include "executors.h"
#include "fake_gpu.h"
#include "unit.h"

static rise_error err;

/* ---- the rest of the driver ------------------------------------------------------------------------------------------------------ */

enum { GRAPHS = 64 };

static struct {
    bool capturing, refuses_capture, no_function;
    int streams, execs, graphs_made, graph_launches;
    long fail_at, calls; /* of the functions here */
    double now; /* the clock that contenders advance, in microseconds */
    double from, to;
    CUevent first; /* of a pair: the one before the work, which is recorded already */
    double graph_us[GRAPHS]; /* what a launch takes of the graph */
    double recorded; /* work captured so far */
} fake;

static CUresult turn(void) { return ++fake.calls == fake.fail_at ? 999 : CU_SUCCESS; }

/* What a contender does on the device takes this long. */
static void spend(double us)
{
    if (fake.capturing)
        fake.recorded += us;
    else
        fake.now += us;
}

static CUresult clock_mem_info(size_t *free_bytes, size_t *total)
{
    *free_bytes = *total = 64 << 20;
    return turn();
}

static CUresult clock_stream_create(CUstream *stream, unsigned flags)
{
    static char made;
    CHECK(flags == 1);
    CUresult result = turn();
    if (result == CU_SUCCESS) {
        *stream = &made;
        fake.streams++;
    }
    return result;
}

static CUresult clock_stream_destroy(CUstream stream)
{
    (void)stream;
    fake.streams--;
    return CU_SUCCESS;
}

static CUresult more_event_synchronize(CUevent event)
{
    (void)event;
    return turn();
}

static CUresult more_event_elapsed(float *ms, CUevent from, CUevent to)
{
    CHECK(from != to);
    *ms = (float)((fake.to - fake.from) / 1000);
    return turn();
}

static CUresult more_capture_begin(CUstream stream, int mode)
{
    CHECK(stream && mode == 1 && !fake.capturing);
    CUresult result = turn();
    fake.capturing = result == CU_SUCCESS;
    fake.recorded = 0;
    return result;
}

static CUresult more_capture_end(CUstream stream, CUgraph *graph)
{
    CHECK(stream && fake.capturing && fake.graphs_made < GRAPHS);
    fake.capturing = false;
    *graph = NULL;
    if (fake.refuses_capture)
        return 901;
    fake.graph_us[fake.graphs_made] = fake.recorded;
    *graph = &fake.graph_us[fake.graphs_made++];
    return turn();
}

static CUresult more_graph_instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    CHECK(graph && !flags);
    CUresult result = turn();
    *exec = result == CU_SUCCESS ? graph : NULL;
    fake.execs += result == CU_SUCCESS;
    return result;
}

static CUresult more_graph_launch(CUgraphExec exec, CUstream stream)
{
    CHECK(exec && stream);
    fake.graph_launches++;
    fake.now += *(double *)exec;
    return turn();
}

static CUresult more_graph_exec_destroy(CUgraphExec exec)
{
    CHECK(exec != NULL);
    fake.execs--;
    return CU_SUCCESS;
}

static CUresult more_graph_destroy(CUgraph graph)
{
    CHECK(graph != NULL);
    return CU_SUCCESS;
}

/* The first event of a pair is the one before the work. */
static CUresult clock_record(CUevent event, CUstream stream)
{
    (void)stream;
    if (!fake.first || event == fake.first) {
        fake.first = event;
        fake.from = fake.now;
    } else {
        fake.to = fake.now;
        fake.first = NULL;
    }
    return CU_SUCCESS;
}

typedef void (*AnyFunction)(void);

static AnyFunction fake_function(const char *name)
{
    AnyFunction function;
    void *address = fake_loader.symbol(NULL, NULL, name);
    memcpy(&function, &address, sizeof function);
    return function;
}

/* The fake loads what its own NVRTC made; the empty kernel is PTX. */
static CUresult ptx_load(CUmodule *module, const void *image, unsigned n, int *options, void **values)
{
    CUresult (*load)(CUmodule *, const void *, unsigned, int *, void **);
    AnyFunction function = fake_function("cuModuleLoadDataEx");
    memcpy(&load, &function, sizeof load);
    return load(module, strncmp(image, ".version", 8) == 0 ? "FAKE CODE\n risec_empty()\n" : image, n, options, values);
}

static void *loader_symbol(void *user, void *library, const char *name)
{
    static const struct {
        const char *name;
        AnyFunction function;
    } functions[] = {
#define CUDA_FN(name, symbol, params) {symbol, (AnyFunction)more_##name},
#include "driver/bench_gpu.def"
#undef CUDA_FN
        {"cuMemGetInfo_v2", (AnyFunction)clock_mem_info},
        {"cuStreamCreate", (AnyFunction)clock_stream_create},
        {"cuStreamDestroy_v2", (AnyFunction)clock_stream_destroy},
        {"cuEventRecord", (AnyFunction)clock_record},
        {"cuModuleLoadDataEx", (AnyFunction)ptx_load},
    };
    void *address = NULL;
    if (fake.no_function && strcmp(name, "cuGraphLaunch") == 0)
        return NULL;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(functions[i].name, name) == 0)
            memcpy(&address, &functions[i].function, sizeof address);
    return address ? address : fake_loader.symbol(user, library, name);
}

static LibraryLoader loader;

static int open_gpu(BenchGpu *gpu)
{
    loader = fake_loader;
    loader.symbol = loader_symbol;
    RiseSeams seams = {.loader = &loader, .cache_dir = ""};
    return bench_open(gpu, &seams, NULL, &err);
}

static void start(void)
{
    memset(&fake, 0, sizeof fake);
    fake_gpu_start();
}

static void check_clean(void)
{
    CHECK(fake.streams == 0 && fake.execs == 0 && !fake.capturing);
    CHECK(fake_gpu.memories == 0 && fake_gpu.modules == 0 && fake_gpu.events == 0 && fake_gpu.retained == 0 && fake_gpu.pushed == 0 && fake_gpu.misuse == 0);
}

/* ---- numbers ---------------------------------------------------------------------------------------------------------------------- */

static bool is_time(BenchTime t, int n, double median, double p10, double p90) { return t.n == n && t.median == median && t.p10 == p10 && t.p90 == p90; }

static void test_times(void)
{
    CHECK(is_time(bench_time(0, NULL), 0, 0, 0, 0));
    CHECK(is_time(bench_time(1, (double[]){7}), 1, 7, 7, 7));
    CHECK(is_time(bench_time(2, (double[]){9, 7}), 2, 9, 7, 9));
    CHECK(is_time(bench_time(3, (double[]){9, 7, 8}), 3, 8, 7, 9));
    CHECK(is_time(bench_time(11, (double[]){10, 0, 9, 1, 8, 2, 7, 3, 6, 4, 5}), 11, 5, 1, 9));
    CHECK(is_time(bench_time(11, (double[]){1000, 0, 9, 1, 8, 2, 7, 3, 6, 4, 5}), 11, 5, 1, 9)); /* one that is far out changes nothing */
}

static void test_copies(void)
{
    enum { MB = 1 << 20, CACHE = 60 * MB };
    size_t much = (size_t)100 << 30;
    CHECK(bench_copies(0, CACHE, much) == 1);
    CHECK(bench_copies(4096, CACHE, much) == BENCH_CHAIN);
    CHECK(bench_copies(20 * MB, CACHE, much) == 13);
    CHECK(bench_copies((size_t)300 * MB, CACHE, much) == 1);
    CHECK(bench_copies(4 * MB, 0, much) == 17); /* a cache whose size is not known */
    CHECK(bench_copies(20 * MB, CACHE, (size_t)100 * MB) == 2);
    CHECK(bench_copies(20 * MB, CACHE, 0) == 1);
    for (size_t bytes = 1; bytes < much; bytes *= 3) /* copies enough to leave the cache, where not the longest chain bounds them */
        CHECK(bench_copies(bytes, CACHE, much) == BENCH_CHAIN || bytes * (size_t)bench_copies(bytes, CACHE, much) > CACHE);
}

/* ---- the race ---------------------------------------------------------------------------------------------------------------------- */

typedef struct Runner {
    double us;
    int runs, fails_at;
    int copies; /* one more than the last that was asked for */
    char **order; /* where the letters of those that run go */
    char letter;
} Runner;

static int run(void *user, int copy, CUstream stream, rise_error *error)
{
    Runner *r = user;
    CHECK(stream != NULL);
    if (++r->runs == r->fails_at)
        return rise_fail(error, RISE_ERROR_DEVICE, "it fails");
    r->copies = copy + 1 > r->copies ? copy + 1 : r->copies;
    if (r->order && !fake.capturing)
        *(*r->order)++ = r->letter;
    spend(r->us);
    return RISE_OK;
}

static void test_race(void)
{
    BenchGpu gpu;
    Runner a = {.us = 3}, b = {.us = 50};
    BenchContender both[] = {{.run = run, .user = &a}, {.run = run, .user = &b}};
    start();
    CHECK(open_gpu(&gpu) == RISE_OK);
    CHECK(bench_race(&gpu, 2, both, 7, 11, &err) == RISE_OK);
    /* The time of a call: of the chain, that of the graph by its calls. */
    CHECK(both[0].chain.n == 11 && both[0].alone.n == 11 && both[1].chain.n == 11);
    for (int i = 0; i < 2; i++) {
        double us = i ? 50 : 3, d = both[i].chain.median - us, e = both[i].alone.median - us;
        CHECK(d < 1e-3 && d > -1e-3 && e < 1e-3 && e > -1e-3);
    }
    CHECK(a.runs == BENCH_WARM + BENCH_CHAIN + 11 && a.copies == 7);
    CHECK(fake.graphs_made == 2 && fake.graph_launches == 2 * (2 + 11));
    bench_close(&gpu);
    check_clean();
}

/* Another contender begins each round. */
static void test_turns(void)
{
    char text[100], *at = text;
    BenchGpu gpu;
    Runner runners[3];
    BenchContender all[3];
    start();
    CHECK(open_gpu(&gpu) == RISE_OK);
    for (int i = 0; i < 3; i++) {
        runners[i] = (Runner){.us = 5, .letter = (char)('a' + i), .order = &at};
        all[i] = (BenchContender){.run = run, .user = &runners[i]};
    }
    CHECK(bench_race(&gpu, 3, all, 2, 4, &err) == RISE_OK);
    *at = 0;
    CHECK_TEXT(text, "aaabbbccc" "abc" "bca" "cab" "abc");
    bench_close(&gpu);
    check_clean();
}

static void test_long_calls(void)
{
    BenchGpu gpu;
    Runner slow = {.us = 1e5}, slower = {.us = 1e7};
    BenchContender one = {.run = run, .user = &slow}, other = {.run = run, .user = &slower};
    start();
    CHECK(open_gpu(&gpu) == RISE_OK);
    CHECK(bench_race(&gpu, 1, &one, 1, 25, &err) == RISE_OK);
    CHECK(one.alone.n == 3 && one.chain.n == 3); /* as many as fit into BENCH_SECONDS */
    CHECK(slow.runs == BENCH_WARM + 2 + 3);      /* and a chain of two */
    CHECK(bench_race(&gpu, 1, &other, 1, 25, &err) == RISE_OK);
    CHECK(other.alone.n == 1 && other.chain.n == 1);
    bench_close(&gpu);
    check_clean();
}

static void test_no_capture(void)
{
    BenchGpu gpu;
    Runner a = {.us = 5};
    BenchContender one = {.run = run, .user = &a};
    start();
    CHECK(open_gpu(&gpu) == RISE_OK);
    fake.refuses_capture = true;
    CHECK(bench_race(&gpu, 1, &one, 1, 5, &err) == RISE_OK);
    CHECK(one.chain.n == 0 && one.alone.n == 5 && fake.graph_launches == 0);
    /* A contender that cannot do its work while it is captured: likewise. */
    fake.refuses_capture = false;
    a.runs = 0;
    a.fails_at = BENCH_WARM + 1;
    CHECK(bench_race(&gpu, 1, &one, 1, 5, &err) == RISE_OK);
    CHECK(one.chain.n == 0 && one.alone.n == 5 && fake.execs == 0);
    /* One that fails is told of. */
    a.runs = 0;
    a.fails_at = BENCH_WARM;
    CHECK(bench_race(&gpu, 1, &one, 1, 5, &err) == RISE_ERROR_DEVICE && strcmp(err.text, "it fails") == 0);
    bench_close(&gpu);
    check_clean();
}

static void test_floors(void)
{
    BenchGpu gpu;
    BenchFloors floors;
    start();
    CHECK(open_gpu(&gpu) == RISE_OK);
    CHECK(bench_floors(&gpu, &floors, &err) == RISE_OK);
    CHECK(floors.empty_chain.n == BENCH_ROUNDS && floors.empty_alone.n == BENCH_ROUNDS && fake_gpu.launches > BENCH_ROUNDS);
    bench_close(&gpu);
    check_clean();
}

/* ---- failures ------------------------------------------------------------------------------------------------------------------------ */

static void test_refusals(void)
{
    BenchGpu gpu;
    start();
    fake_gpu.no_driver = true;
    CHECK(open_gpu(&gpu) == RISE_ERROR_DEVICE && strstr(err.text, "there is no CUDA driver"));
    start();
    fake.no_function = true;
    CHECK(open_gpu(&gpu) == RISE_ERROR_DEVICE && strstr(err.text, "cuGraphLaunch"));
    check_clean();
    /* Each of the driver's functions fails once. */
    start();
    BenchFloors floors;
    CHECK(open_gpu(&gpu) == RISE_OK && bench_floors(&gpu, &floors, &err) == RISE_OK);
    bench_close(&gpu);
    long calls = fake.calls, told = 0;
    for (long k = 1; k <= calls; k++) {
        start();
        fake.fail_at = k;
        int status = open_gpu(&gpu);
        if (status == RISE_OK)
            status = bench_floors(&gpu, &floors, &err);
        told += status != RISE_OK;
        /* Without a graph there is no chain; all else is an error. */
        CHECK(status == RISE_OK ? floors.empty_chain.n == 0 || floors.copy_rate != 0 : status == RISE_ERROR_DEVICE && strstr(err.text, "(999)"));
        bench_close(&gpu);
        check_clean();
    }
    printf("each of %ld calls failed once, %ld with an error\n", calls, told);
    CHECK(told > calls / 2);
}

/* ---- hand-written kernels --------------------------------------------------------------------------------------------------------------- */

static void wrap(Ctx *ctx, void *user)
{
    (void)user;
    const char *text = bench_hand_wrapper(ctx, "/a/b.cu", "sum", 2, (const bool[]){false, false}, 1);
    CHECK(strstr(text, "#include \"/a/b.cu\"\n") == text);
    CHECK(strstr(text, "return sum_hand(Buffer{buffers[0]}, Buffer{buffers[1]}, Size{sizes[0]}, static_cast<cudaStream_t>(stream));") != NULL);
    CHECK(strstr(bench_hand_wrapper(ctx, "x.cu", "f", 1, (const bool[]){false}, 0), "f_hand(Buffer{buffers[0]}, static_cast<cudaStream_t>(stream));") != NULL);
    CHECK(strstr(bench_hand_wrapper(ctx, "x.cu", "f", 2, (const bool[]){false, true}, 0), "f_hand(Buffer{buffers[0]}, Value{buffers[1]}, static_cast") != NULL);
}

/* ---- `risec run --device gpu`: results are as large as the device makes them --------------------------------------------------------------- */

typedef struct GpuCase {
    BenchGpu gpu;
    Compiled program;
} GpuCase;

static void run_on_gpu(Ctx *ctx, void *user)
{
    GpuCase *g = user;
    const CoreEntry *entry = g->program.entry;
    int64_t n = 100, sms = gpu_multiprocessors(g->gpu.rise);
    Launch launch;
    Driver d = {.status = 0};
    CHECK(sms == 132 && sample_launch(ctx, entry, &n, &(SampleInputs){.seed = 1, .num_sm = sms}, &launch));
    CHECK(gpu_run(ctx, &d, g->gpu.rise, entry, &launch) && fake_gpu.launches == 1);
    CHECK(launch.n_results == 1 && launch.results[0].count == 32 * sms);
    /* What another device would give has no room for this one's result, and that is told. */
    launch.num_sm = 1;
    CHECK(!gpu_run(ctx, &d, g->gpu.rise, entry, &launch) && ctx->diags.errors == 1 && strstr(ctx->diags.list.at[0]->message, "result"));
}

static void test_gpu_run(void)
{
    GpuCase g;
    start();
    CHECK(open_gpu(&g.gpu) == RISE_OK);
    g.program = compile_file("tests/gpu/device_size_result.rise", "");
    CHECK(g.program.imp && ctx_try(g.program.ctx, run_on_gpu, &g));
    compiled_free(&g.program);
    bench_close(&g.gpu);
    check_clean();
}

/* ---- `risec tune`: candidates on a device where the threads of a block say how long a call takes ------------------------------------------ */

enum { TUNED_RUNS = 4, TUNED_SIZE = 100 };

static bool wrong_results; /* of kernels with 128 threads */

static void tuned_kernel(const FakeLaunch *launch)
{
    spend(launch->block[0] == 32 ? 10 : launch->block[0] == 64 ? 5 : 7);
    int *result = *(int **)launch->params[0], *xs = *(int **)launch->params[1];
    *result = wrong_results && launch->block[0] == 128;
    for (int i = 0; i < TUNED_SIZE; i++)
        *result += xs[i];
}

typedef struct TuneCase {
    BenchGpu gpu;
    Compiled program;
    int status;
    TuneCost costs[TUNED_RUNS];
    bool good;
} TuneCase;

static void tune_on_gpu(Ctx *ctx, void *user)
{
    static const int64_t threads[TUNED_RUNS] = {128, 32, 64, 2048};
    TuneCase *c = user;
    CommandLine line = {.verb = VERB_TUNE};
    Driver d = {.line = &line};
    vec_push(ctx, &line.given, ((Given){OPT_SET, "n", "100", TUNED_SIZE}));
    Tune t = {.ctx = ctx, .d = &d, .path = "tests/run/tunable.rise", .entry = c->program.entry, .on_gpu = true, .device = "A GPU", .rounds = 7, .gpu = c->gpu, .sizes.n_runs = 1};
    for (int i = 0; i < TUNED_RUNS; i++) {
        Candidate candidate = {.values = NEWN(ctx, int64_t, 2), .why = threads[i] > 1024 ? "too many" : NULL};
        candidate.values[0] = threads[i];
        candidate.values[1] = 4;
        vec_push(ctx, &t.candidates, candidate);
    }
    int64_t sizes[1] = {0};
    c->good = tune_open(&t) && tune_run(&t, 0, sizes, c->costs);
    CHECK(!c->good || sizes[0] == TUNED_SIZE);
    c->status = d.status;
    tune_close(&t); /* the GPU as well */
}

static TuneCase tune_once(long fail_at)
{
    TuneCase c = {.status = 0};
    start();
    fake_gpu.kernel = tuned_kernel;
    CHECK(open_gpu(&c.gpu) == RISE_OK);
    fake.fail_at = fail_at ? fake.calls + fail_at : 0;
    c.program = compile_file("tests/run/tunable.rise", "");
    CHECK(c.program.imp && ctx_try(c.program.ctx, tune_on_gpu, &c));
    compiled_free(&c.program);
    check_clean();
    return c;
}

static void test_tune(void)
{
    TuneCase c = tune_once(0);
    CHECK(c.good && c.status == 0);
    for (int i = 0; i < 3; i++) {
        double us = i == 0 ? 7 : i == 1 ? 10 : 5;
        const TuneCost *cost = &c.costs[i];
        CHECK(cost->known && cost->final && cost->cost > us - 1e-3 && cost->cost < us + 1e-3 && cost->low <= cost->cost && cost->cost <= cost->high);
    }
    CHECK(!c.costs[3].known); /* left out before */
    wrong_results = true;
    c = tune_once(0);
    CHECK(!c.good && c.status == STATUS_PROGRAM);
    wrong_results = false;
    for (long k = 1; k <= 40; k++) {
        c = tune_once(k);
        CHECK(c.good || c.status == STATUS_DEVICE);
    }
}

int main(void)
{
    test_times();
    test_copies();
    test_race();
    test_turns();
    test_long_calls();
    test_no_capture();
    test_floors();
    test_refusals();
    test_gpu_run();
    test_tune();
    Ctx *ctx = ctx_new(NULL, NULL);
    CHECK(ctx && ctx_try(ctx, wrap, NULL));
    ctx_free(ctx);
    return unit_end();
}
