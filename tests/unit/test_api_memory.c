/* Memory of the device on a driver of our own (fake_gpu.h): how large a workspace is, and whose it is. */
#include "api.h"

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

/* Addresses that nothing reads. */
static void *const FAR = (void *)0x100000000;
static void *const FARTHER = (void *)0x4000000000000;

static rise_call *watched;
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
    watched = f.call;
    GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &n, FAR, RISE_DEVICE, &err));
    GOOD(rise_call_output(f.call, "result", RISE_I32, FARTHER, (size_t)1 << 40, RISE_DEVICE, &err));
    return f;
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
    CHECK(again == bytes && f.call->workspace_bytes == bytes && fake_gpu.memories == 1);
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

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    test_query();
    test_lent();
    return unit_end();
}
