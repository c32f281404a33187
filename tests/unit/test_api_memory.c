/* Memory of the device on a driver of our own (fake_gpu.h): how large a workspace is, and whose it is. */
#include "api.h"
#include "fake_parts.h"

/* A ticket, and results of blocks: flags and data. */
static const char LAST[] =
    "entry sum {n: nat} (xs: n.i32): 1.i32 =\n"
    "  xs |> padTo(256, 0) |> split(256) |> mapBlock(fun chunk =>\n"
    "          chunk |> split(8) |> mapThreads(reduceSeq((+), 0)) |> toShared\n"
    "          |> split(32) |> mapThreads(reduceSeq((+), 0))) |> join\n"
    "     |> lastBlock(fun partials =>\n"
    "          partials |> padTo(32, 0) |> split(32) |> transpose\n"
    "          |> mapThreads(reduceSeq((+), 0)) |> toShared |> split(32)\n"
    "          |> mapThreads(reduceSeq((+), 0)))\n";
static const char SCALE[] =
    "entry scale {n: nat} (xs: n.i32): n.i32 = xs |> mapGlobal(fun x => x * 3)\n";

/* One block computes the states, where an odd number of launches would leave them; `sums` is stored before that and read afterwards. */
static const char TURNS[] =
    "entry turns {n: nat} (xs: 31.n.i32) (cs: (n + 3).i32): (29.(n + 3).f32, 31.i32)\n"
    "  where n % 2 == 0 =\n"
    "  let sums = xs |> map(scan((+), 0)) in\n"
    "  (sums |> drop(2) |> map(fun row =>\n"
    "     cs |> reduceSeq(fun state c => zip(state, state |> reverse) |> map(fun (a, b) => a + b + c), cs)\n"
    "        |> map(fun x => cast(f32)(x))),\n"
    "   sums |> map(fun row => let top = row |> reduce(max, lowest) in row |> map(fun x => x - top) |> reduceSeq((-), 1)))\n";

/* Addresses that nothing reads. */
static void *const FAR = (void *)0x100000000;
static void *const FARTHER = (void *)0x4000000000000;

static RiseCall *watched;
static CUdeviceptr workspace; /* of the last launch: its lowest address there */
static int dirty;             /* flags that were not zero */

/* Looks at what is in the workspace, and leaves something else there. */
static void look(const FakeLaunch *l)
{
    workspace = 0;
    for (int i = 0; i < watched->n_steps; i++) {
        const Variant *v = watched->steps[i].variant;
        for (int b = 0; b < v->n_buffers && strcmp(v->name, l->name) == 0; b++) {
            CUdeviceptr at;
            if (v->buffers[b].temp < 0)
                continue;
            memcpy(&at, l->params[b], sizeof at);
            const CallTemp *temp = &watched->temps[v->buffers[b].temp];
            unsigned char *bytes = (unsigned char *)(uintptr_t)at;
            CHECK(fake_gpu_owns(at, (size_t)temp->bytes));
            for (int64_t k = 0; k < temp->bytes; k++) {
                bool zero = watched->entry->plan.temps[v->buffers[b].temp].zero;
                dirty += zero && bytes[k] != 0;
                bytes[k] = zero ? 0 : 0x77;
            }
            if (!workspace || at < workspace)
                workspace = at;
        }
    }
}

static Fixture start_far(const char *text, int64_t n)
{
    fake_gpu_start();
    fake_gpu.kernel = look;
    dirty = 0;
    Fixture f = api_start(RISE_GPU, NULL, text);
    watched = call_of(f.call, NULL);
    GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &n, FAR, RISE_DEVICE, &err));
    GOOD(rise_call_output(f.call, "result", RISE_I32, FARTHER, (size_t)1 << 40, RISE_DEVICE, &err));
    return f;
}

static int states; /* parameters that change places with each turn */

/* Every array of the workspace has bytes of its own, where the launch looks for it. */
static void look_at_places(const FakeLaunch *l)
{
    for (int i = 0; i < watched->n_steps; i++) {
        const Variant *v = watched->steps[i].variant;
        for (int b = 0; b < v->n_buffers && strcmp(v->name, l->name) == 0; b++) {
            const PlanBuffer *buf = &v->buffers[b];
            CUdeviceptr at;
            if (buf->temp < 0)
                continue;
            memcpy(&at, l->params[b], sizeof at);
            const CallTemp *temp = &watched->temps[buf->temp], *swap = buf->swap < 0 ? temp : &watched->temps[buf->swap];
            CHECK(at == temp->memory || at == swap->memory);
            temp = at == temp->memory ? temp : swap;
            CHECK(temp->bytes >= 0 && fake_gpu_owns(at, (size_t)temp->bytes));
            states += buf->swap >= 0;
        }
    }
}

static void test_turns(void)
{
    for (int64_t n = 2; n <= 138; n += 34) {
        const int64_t xs[2] = {31, n}, cs = n + 3;
        fake_gpu_start();
        fake_gpu.kernel = look_at_places;
        states = 0;
        Fixture f = api_start(RISE_GPU, NULL, TURNS);
        watched = call_of(f.call, NULL);
        GOOD(rise_call_input(f.call, "xs", RISE_I32, 2, xs, FAR, RISE_DEVICE, &err));
        GOOD(rise_call_input(f.call, "cs", RISE_I32, 1, &cs, FAR, RISE_DEVICE, &err));
        GOOD(rise_call_output(f.call, "result.1", RISE_F32, FARTHER, (size_t)1 << 40, RISE_DEVICE, &err));
        GOOD(rise_call_output(f.call, "result.2", RISE_I32, (char *)FARTHER + ((size_t)1 << 41), (size_t)1 << 40, RISE_DEVICE, &err));
        GOOD(rise_call_launch(f.call, NULL, &err));
        CHECK(states == 2); /* who computes the states, and who reads them */
        api_end(&f);
    }
}

/* Asked of shapes, then of a launch that allocates what was said. */
static void test_query(void)
{
    size_t bytes = 1, again = 0;
    int64_t n = 100000;
    fake_gpu_start();
    Fixture f = api_start(RISE_GPU, NULL, LAST);
    BAD(rise_call_workspace(f.call, &bytes, &err), RISE_ERROR_ARGUMENT, "nothing gives the size n");
    CHECK(bytes == 0);
    BAD(rise_call_workspace(f.call, NULL, &err), RISE_ERROR_ARGUMENT, "bytes is NULL");
    BAD(rise_call_workspace(NULL, &bytes, &err), RISE_ERROR_ARGUMENT, "call is NULL");
    GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &n, NULL, RISE_DEVICE, &err));
    GOOD(rise_call_workspace(f.call, &bytes, &err));
    CHECK(bytes == 4096 + 4 * 391 && fake_gpu.memories == 0 && fake_gpu.streams == 0);
    GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &n, FAR, RISE_DEVICE, &err));
    GOOD(rise_call_output(f.call, "result", RISE_I32, FARTHER, 4, RISE_DEVICE, &err));
    GOOD(rise_call_prepare(f.call, &err));
    GOOD(rise_call_workspace(f.call, &again, &err));
    CHECK(again == bytes && call_of(f.call, NULL)->workspace.bytes == bytes && fake_gpu.memories == 1);
    n = 1 << 24;
    GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &n, FAR, RISE_HOST, &err));
    GOOD(rise_call_workspace(f.call, &again, &err));
    CHECK(again > bytes && fake_gpu.memories == 1); /* asking leaves what is there */
    api_end(&f);
    f = start_far(SCALE, 1000);
    GOOD(rise_call_workspace(f.call, &bytes, &err));
    CHECK(bytes == 0);
    GOOD(rise_call_launch(f.call, NULL, &err)); /* asking is not preparing */
    CHECK(fake_gpu.launches == 1 && fake_gpu.memories == 0);
    api_end(&f);
    for (int device = RISE_SIM; device <= RISE_REF; device++) {
        f = api_start(device, NULL, LAST);
        GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &n, NULL, RISE_HOST, &err));
        bytes = 1;
        GOOD(rise_call_workspace(f.call, &bytes, &err));
        CHECK(bytes == 0);
        api_end(&f);
    }
}

/* Memory of the caller, full of anything, another one each time. */
static void test_lent(void)
{
    size_t bytes;
    void *mine, *other;
    char stream;
    Fixture f = start_far(LAST, 100000);
    GOOD(rise_call_workspace(f.call, &bytes, &err));
    GOOD(rise_alloc(f.context, bytes + 4096, &mine, &err));
    GOOD(rise_alloc(f.context, bytes, &other, &err));
    BAD(rise_call_use_workspace(f.call, NULL, 4, &err), RISE_ERROR_ARGUMENT, "memory is NULL");
    BAD(rise_call_use_workspace(NULL, mine, bytes, &err), RISE_ERROR_ARGUMENT, "call is NULL");
    GOOD(rise_call_use_workspace(f.call, mine, bytes - 1, &err));
    BAD(rise_call_launch(f.call, NULL, &err), RISE_ERROR_ARGUMENT,
        "sum: a launch of these sizes needs a workspace of 5660 bytes, and rise_call_use_workspace gave 5659");
    GOOD(rise_call_use_workspace(f.call, (char *)mine + 4, bytes, &err));
    BAD(rise_call_launch(f.call, NULL, &err), RISE_ERROR_ARGUMENT, "which is no multiple of 16 bytes");
    GOOD(rise_call_use_workspace(f.call, mine, bytes, &err));
    for (int k = 0; k < 3; k++) {
        GOOD(rise_call_launch(f.call, NULL, &err));
        CHECK(dirty == 0 && workspace - (CUdeviceptr)(uintptr_t)mine < bytes);
        memset(mine, 0xff, bytes);
    }
    memset(other, 0xff, bytes);
    GOOD(rise_call_use_workspace(f.call, other, bytes, &err));
    GOOD(rise_call_launch(f.call, &stream, &err)); /* waits for nobody */
    CHECK(dirty == 0 && workspace - (CUdeviceptr)(uintptr_t)other < bytes && fake_gpu.events == 0);
    /* It needs nothing to be prepared for a record, and each replay clears it. */
    memset(mine, 0xff, bytes);
    GOOD(rise_call_use_workspace(f.call, mine, bytes, &err));
    fake_gpu_record(&stream);
    GOOD(rise_call_launch(f.call, &stream, &err));
    fake_gpu_record_end();
    for (int k = 0; k < 2; k++) {
        fake_gpu_replay();
        CHECK(dirty == 0);
        memset(mine, 0xff, bytes);
    }
    CHECK(fake_gpu.memories == 2); /* the call has none of its own */
    GOOD(rise_call_output(f.call, "result", RISE_I32, (char *)mine + 128, 4, RISE_DEVICE, &err));
    BAD(rise_call_launch(f.call, NULL, &err), RISE_ERROR_ARGUMENT,
        "result and the workspace overlap in memory");
    GOOD(rise_call_output(f.call, "result", RISE_I32, (char *)mine + 8192, 4, RISE_DEVICE, &err));
    GOOD(rise_call_launch(f.call, NULL, &err));
    GOOD(rise_call_use_workspace(f.call, NULL, 0, &err));
    GOOD(rise_call_launch(f.call, NULL, &err));
    CHECK(dirty == 0 && fake_gpu.memories == 3);
    rise_free(f.context, mine);
    rise_free(f.context, other);
    api_end(&f);
}

/* ---- whose order, and whose memory ------------------------------------------------------------------- */

static void launch_n(Fixture *f, int64_t n, CUstream stream)
{
    GOOD(rise_call_input(f->call, "xs", RISE_I32, 1, &n, FAR, RISE_DEVICE, &err));
    GOOD(rise_call_launch(f->call, stream, &err));
}

/* Sizes that grow: on a driver that knows the order of streams nobody waits. */
static void test_growing(bool pools)
{
    char a, b;
    Fixture f = start_far(LAST, 1000);
    fake_gpu.pools = context_of(f.context, NULL)->gpu.pools = pools;
    for (int64_t n = 1000; n < 1 << 24; n *= 4)
        launch_n(&f, n, &a);
    CHECK(fake_gpu.memories == 1 && dirty == 0 && fake_gpu.streams == 0);
    CHECK(pools ? fake_gpu.waits == 0 && fake_gpu.freed_on == (CUstream)&a : fake_gpu.waits > 3);
    /* On another stream: that one waits for the first, and has the memory from then on. */
    launch_n(&f, 1 << 26, &b);
    CHECK(fake_gpu.events == 1 && dirty == 0 && (!pools || fake_gpu.freed_on == (CUstream)&b));
    /* Prepared, it is memory for any stream, and nothing of the last launch is waited for. */
    int64_t n = 1 << 27;
    GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &n, FAR, RISE_DEVICE, &err));
    GOOD(rise_call_prepare(f.call, &err));
    CHECK(fake_gpu.streams == 1 && call_of(f.call, NULL)->workspace.home == (pools ? context_of(f.context, NULL)->gpu.stream : call_of(f.call, NULL)->workspace.home));
    CHECK(!pools || fake_gpu.freed_on == (CUstream)&b);
    launch_n(&f, 1 << 27, &a);
    GOOD(rise_call_wait(f.call, &err));
    launch_n(&f, 1 << 28, &a);
    CHECK(dirty == 0 && (!pools || fake_gpu.waits == 0));
    api_end(&f);
}

typedef struct Pool {
    long live, allocs, frees, wrong;
    bool empty, crooked;
    CUdeviceptr at[64];
    size_t bytes[64];
    void *streams[64];
} Pool;

static void *pool_alloc(void *user, size_t bytes, void *stream)
{
    Pool *p = user;
    CUdeviceptr at = 0;
    int i = 0;
    p->allocs++;
    p->wrong += !bytes || fake_gpu_current() != fake_gpu_primary();
    if (p->empty)
        return NULL;
    CHECK(fake_mem_alloc(&at, bytes + 256) == CU_SUCCESS);
    while (p->at[i])
        i++;
    p->at[i] = at + (p->crooked ? 64 : 0);
    p->bytes[i] = bytes;
    p->streams[i] = stream;
    p->live++;
    return (void *)(uintptr_t)p->at[i];
}

static void pool_free(void *user, void *memory, size_t bytes, void *stream)
{
    Pool *p = user;
    int i = 0;
    while (i < 63 && p->at[i] != (CUdeviceptr)(uintptr_t)memory)
        i++;
    p->frees++;
    p->live--;
    p->wrong += p->at[i] != (CUdeviceptr)(uintptr_t)memory || p->bytes[i] != bytes || p->streams[i] != stream;
    p->at[i] = 0;
    fake_mem_free((CUdeviceptr)(uintptr_t)memory / 256 * 256);
}

/* The caller's functions get the bytes and the stream that they gave, and are never asked for none. */
static void test_hooks(void)
{
    char a, b;
    Pool pool = {0};
    rise_device_allocator from = {&pool, pool_alloc, NULL};
    rise_context_options options = {.size = sizeof options, .device = RISE_GPU, .device_allocator = &from};
    RiseSeams seams = {.loader = &fake_loader, .cache_dir = ""};
    rise_context *context;
    fake_gpu_start();
    fake_gpu.kernel = look;
    BAD(context_new(&options, &seams, &context, &err), RISE_ERROR_ARGUMENT, "a device_allocator has two functions");
    from.free = pool_free;
    Fixture f = api_start(RISE_GPU, &options, LAST);
    from = (rise_device_allocator){0}; /* it was copied */
    watched = call_of(f.call, NULL);
    dirty = 0;
    launch_n(&f, 100000, &a);
    CHECK(pool.live == 2 && dirty == 0 && pool.streams[0] == &a && pool.streams[1] == &a); /* and the result */
    launch_n(&f, 1000000, &b); /* the workspace grows, and comes back on the first stream */
    CHECK(pool.live == 2 && pool.frees == 1 && pool.wrong == 0 && fake_gpu.events == 1);
    int64_t n = 1 << 26;
    GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &n, FAR, RISE_DEVICE, &err));
    GOOD(rise_call_prepare(f.call, &err));
    GOOD(rise_call_wait(f.call, &err));
    CHECK(pool.frees == 2 && pool.live == 2 && pool.wrong == 0);
    pool.empty = true;
    n = 1 << 28;
    GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &n, FAR, RISE_DEVICE, &err));
    BAD(rise_call_launch(f.call, &a, &err), RISE_ERROR_DEVICE_MEMORY,
        "sum: the device_allocator of the context has no 4198400 bytes for the workspace");
    pool.empty = false;
    pool.crooked = true;
    BAD(rise_call_launch(f.call, &a, &err), RISE_ERROR_ARGUMENT, "which is no multiple of 256");
    pool.crooked = false;
    GOOD(rise_call_launch(f.call, &a, &err));
    CHECK(dirty == 0 && pool.live == 2);
    api_end(&f);
    CHECK(pool.live == 0 && pool.wrong == 0 && pool.allocs == pool.frees + 1);
}

/* ---- the end of a launch ------------------------------------------------------------------------------ */

static int is_done(rise_call *call)
{
    int done = -1;
    GOOD(rise_call_done(call, &done, &err));
    return done;
}

/* Asking waits for nothing, and ends for a stream that gets more and more to do. */
static void test_done(void)
{
    char a, b;
    int done = 1;
    Fixture f = start_far(LAST, 100000);
    BAD(rise_call_done(f.call, NULL, &err), RISE_ERROR_ARGUMENT, "done is NULL");
    BAD(rise_call_done(NULL, &done, &err), RISE_ERROR_ARGUMENT, "call is NULL");
    CHECK(is_done(f.call) == 1);
    GOOD(rise_call_launch(f.call, &a, &err));
    CHECK(is_done(f.call) == 1 && fake_gpu.events == 0);
    GOOD(rise_call_launch(f.call, &a, &err));
    fake_gpu.busy_stream = fake_gpu.busy_event = true;
    CHECK(is_done(f.call) == 0 && is_done(f.call) == 0 && fake_gpu.events == 1);
    fake_gpu.busy_event = false; /* and the stream goes on */
    CHECK(is_done(f.call) == 1);
    long before = fake_gpu.calls;
    CHECK(is_done(f.call) == 1 && fake_gpu.calls == before);
    GOOD(rise_call_launch(f.call, &a, &err)); /* a new one, which the old event says nothing of */
    CHECK(is_done(f.call) == 0);
    fake_gpu.busy_event = true;
    CHECK(is_done(f.call) == 0);
    GOOD(rise_call_wait(f.call, &err));
    CHECK(is_done(f.call) == 1);
    fake_gpu.busy_stream = fake_gpu.busy_event = false;
    GOOD(rise_call_launch(f.call, &a, &err));
    fake_gpu_record(&a);
    BAD(rise_call_done(f.call, &done, &err), RISE_ERROR_ARGUMENT, "the stream of the last launch is recording");
    CHECK(done == 0);
    BAD(rise_call_wait(f.call, &err), RISE_ERROR_ARGUMENT, "the stream of the last launch is recording");
    fake_gpu_record_end();
    fake_gpu_record(&b); /* which may belong to somebody else */
    fake_gpu.busy_stream = true;
    CHECK(is_done(f.call) == 0 && is_done(f.call) == 1);
    GOOD(rise_call_launch(f.call, &a, &err));
    GOOD(rise_call_wait(f.call, &err));
    fake_gpu.busy_stream = false;
    fake_gpu_record_end();
    GOOD(rise_call_launch(f.call, &a, &err));
    fake_gpu.fail_at = fake_gpu.calls + 4; /* push, recording?, relaxed, query */
    fake_gpu.fail_with = 1;
    BAD(rise_call_done(f.call, &done, &err), RISE_ERROR_DEVICE, "asking whether the launch is done");
    CHECK(call_of(f.call, NULL)->clears && is_done(f.call) == 1);
    api_end(&f);
    for (int device = RISE_SIM; device <= RISE_REF; device++) {
        f = api_start(device, NULL, SCALE);
        CHECK(is_done(f.call) == 1);
        api_end(&f);
    }
}

/* What was given back in the order of a stream may still count: it is looked at twice before refusing. */
static void test_refusal(void)
{
    Fixture f = start_far(LAST, 1 << 28);
    fake_gpu.memory = 1 << 20;
    GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &(int64_t){(int64_t)1 << 32}, FAR, RISE_DEVICE, &err));
    BAD(rise_call_launch(f.call, NULL, &err), RISE_ERROR_DEVICE_MEMORY, "arrays between kernels take");
    CHECK(fake_gpu.waits == 1 && fake_gpu.memories == 0);
    api_end(&f);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    test_query();
    test_turns();
    test_lent();
    test_growing(true);
    test_growing(false);
    test_hooks();
    test_refusal();
    test_done();
    return unit_end();
}
