/* Results in the memory of inputs, on each device: allowed where the kernels read a cell before they write it,
 * with kernels of their own on a GPU, and refused elsewhere. */
#include "api.h"
#include "fake_parts.h"

enum { N = 4 };

static const char SCALE[] = "entry scale {n: nat} (factor: i32) (xs: n.i32): n.i32 = xs |> mapGlobal(fun x => factor * x)\n";
static const char SUM[] = "entry sum {n: nat} (xs: n.i32) (ys: n.i32): n.i32 = zip(xs, ys) |> mapGlobal(fun (x, y) => 10 * x + y)\n";
static const char TURN[] = "entry turn {n: nat} (xs: n.i32): n.i32 = xs |> reverse |> mapGlobal(id)\n";
static const char PAIR[] =
    "entry pair {n: nat} (xs: n.i32): (n.i32, n.i32) = (xs |> mapGlobal(id), xs |> reverse |> mapGlobal(fun x => x + 1))\n";
static const char BOTH[] = "entry both {n: nat} (xs: n.i32): (n.i32, n.i32) = unzip(xs |> mapGlobal(fun x => (2 * x, 3 * x)))\n";

static const int64_t four = N;

static int give(Fixture *f, const char *name, const int *data) { return rise_call_input(f->call, name, RISE_I32, 1, &four, data, RISE_DEVICE, &err); }

static int take(Fixture *f, const char *name, int *data) { return rise_call_output(f->call, name, RISE_I32, data, sizeof(int[N]), RISE_DEVICE, &err); }

static int launch(Fixture *f) { return rise_call_launch(f->call, NULL, &err); }

/* ---- the simulator and the reference ------------------------------------------------------------------------ */

static void test_scale(int device)
{
    int xs[N] = {1, 2, 3, 4}, apart[N + 1], factor = 2;
    Fixture f = api_start(device, NULL, SCALE);
    GOOD(rise_call_scalar(f.call, "factor", RISE_I32, &factor, &err));
    GOOD(give(&f, "xs", xs));
    GOOD(take(&f, "result", xs));
    GOOD(launch(&f));
    GOOD(launch(&f));
    CHECK(xs[0] == 4 && xs[3] == 16);
    GOOD(take(&f, "result", apart));
    GOOD(launch(&f));
    CHECK(xs[3] == 16 && apart[3] == 32);
    /* A part. */
    GOOD(give(&f, "xs", apart + 1));
    BAD(launch(&f), RISE_ERROR_ARGUMENT, "scale: result and xs overlap in a part of their memory: give result all of the memory of xs, or none of it");
    /* No elements: nothing is shared. */
    int64_t none = 0;
    GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &none, apart, RISE_HOST, &err));
    GOOD(launch(&f));
    api_end(&f);
}

static void test_two_inputs(int device)
{
    int xs[N] = {1, 2, 3, 4}, ys[N] = {5, 6, 7, 8};
    Fixture f = api_start(device, NULL, SUM);
    GOOD(give(&f, "xs", xs));
    GOOD(give(&f, "ys", ys));
    GOOD(take(&f, "result", ys));
    GOOD(launch(&f));
    CHECK(xs[0] == 1 && ys[0] == 15 && ys[3] == 48);
    GOOD(give(&f, "ys", xs));
    GOOD(take(&f, "result", xs));
    GOOD(launch(&f)); /* all three */
    CHECK(xs[0] == 11 && xs[3] == 44);
    GOOD(give(&f, "ys", xs + 1));
    BAD(launch(&f), RISE_ERROR_ARGUMENT, "result and ys overlap in a part");
    api_end(&f);
}

static void test_refused(int device)
{
    int xs[N] = {1, 2, 3, 4}, other[N];
    Fixture f = api_start(device, NULL, TURN);
    GOOD(give(&f, "xs", xs));
    GOOD(take(&f, "result", xs));
    BAD(launch(&f), RISE_ERROR_ARGUMENT,
        "turn: result and xs overlap in memory, and result cannot be computed in place of xs, as a kernel reads elements of the input after it, or another thread, may have "
        "written there: give result memory of its own");
    CHECK(xs[0] == 1 && xs[3] == 4);
    GOOD(take(&f, "result", other));
    GOOD(launch(&f));
    CHECK(other[0] == 4);
    api_end(&f);
    /* One loop computes both results, and another thread reads the element for the second one. */
    f = api_start(device, NULL, PAIR);
    GOOD(give(&f, "xs", xs));
    GOOD(take(&f, "result.1", xs));
    GOOD(take(&f, "result.2", other));
    BAD(launch(&f), RISE_ERROR_ARGUMENT, "result.1 and xs overlap in memory");
    api_end(&f);
    /* Both results in one memory. */
    f = api_start(device, NULL, BOTH);
    GOOD(give(&f, "xs", xs));
    GOOD(take(&f, "result.1", other));
    GOOD(take(&f, "result.2", other));
    BAD(launch(&f), RISE_ERROR_ARGUMENT, "both: result.1 and result.2 overlap in memory: give each result memory of its own");
    GOOD(take(&f, "result.2", xs));
    GOOD(launch(&f));
    CHECK(other[0] == 2 && xs[0] == 3);
    api_end(&f);
}

/* ---- a GPU ---------------------------------------------------------------------------------------------------- */

static bool last_in_place;

static void run_scale(const FakeLaunch *l)
{
    CUdeviceptr result, xs;
    int factor;
    memcpy(&result, l->params[0], sizeof result);
    memcpy(&factor, l->params[1], sizeof factor);
    memcpy(&xs, l->params[2], sizeof xs);
    last_in_place = strstr(((const FakeFunction *)l->function)->text, "#define __restrict__\n") != NULL;
    for (int i = 0; i < N; i++)
        ((int *)(uintptr_t)result)[i] = ((int *)(uintptr_t)xs)[i] * factor;
}

/* Kernels of their own, which are compiled when they are launched first. Those of other launches stay as they are. */
static void test_gpu(void)
{
    int xs[N] = {1, 2, 3, 4}, factor = 2;
    void *a, *b;
    fake_gpu_start();
    fake_gpu.kernel = run_scale;
    Fixture f = api_start(RISE_GPU, NULL, SCALE);
    GOOD(rise_alloc(f.context, sizeof xs, &a, &err));
    GOOD(rise_alloc(f.context, sizeof xs, &b, &err));
    GOOD(rise_copy(f.context, a, RISE_DEVICE, xs, RISE_HOST, sizeof xs, &err));
    GOOD(rise_call_scalar(f.call, "factor", RISE_I32, &factor, &err));
    GOOD(give(&f, "xs", a));
    GOOD(take(&f, "result", b));
    GOOD(launch(&f));
    CHECK(!last_in_place && fake_gpu.compilations == 1);
    for (int k = 0; k < 2; k++) {
        GOOD(take(&f, "result", a));
        GOOD(launch(&f));
        CHECK(last_in_place && fake_gpu.compilations == 2);
    }
    GOOD(rise_copy(f.context, xs, RISE_HOST, a, RISE_DEVICE, sizeof xs, &err));
    CHECK(xs[0] == 4 && xs[3] == 16);
    GOOD(take(&f, "result", b));
    GOOD(launch(&f));
    CHECK(!last_in_place && fake_gpu.compilations == 2);
    GOOD(take(&f, "result", (int *)((char *)a + sizeof(int))));
    BAD(launch(&f), RISE_ERROR_ARGUMENT, "overlap in a part");
    /* Arrays of the host are copied: kernels see two. */
    GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &four, xs, RISE_HOST, &err));
    GOOD(rise_call_output(f.call, "result", RISE_I32, xs, sizeof xs, RISE_HOST, &err));
    GOOD(launch(&f));
    GOOD(rise_call_wait(f.call, &err));
    CHECK(!last_in_place && xs[0] == 8 && xs[3] == 32);
    rise_free(f.context, a);
    rise_free(f.context, b);
    api_end(&f);
}

/* While a stream records nothing is compiled: these kernels have to be there before, like all others. */
static void test_recording(void)
{
    int xs[N] = {1, 2, 3, 4}, factor = 2;
    void *a, *b;
    fake_gpu_start();
    fake_gpu.kernel = run_scale;
    Fixture f = api_start(RISE_GPU, NULL, SCALE);
    GOOD(rise_alloc(f.context, sizeof xs, &a, &err));
    GOOD(rise_alloc(f.context, sizeof xs, &b, &err));
    GOOD(rise_copy(f.context, a, RISE_DEVICE, xs, RISE_HOST, sizeof xs, &err));
    GOOD(rise_call_scalar(f.call, "factor", RISE_I32, &factor, &err));
    GOOD(give(&f, "xs", a));
    GOOD(take(&f, "result", b));
    GOOD(launch(&f));
    GOOD(take(&f, "result", a));
    fake_gpu_record(NULL);
    BAD(launch(&f), RISE_ERROR_ARGUMENT, "call rise_call_prepare before the recording begins");
    fake_gpu_record_end();
    GOOD(rise_call_prepare(f.call, &err));
    fake_gpu_record(NULL);
    GOOD(launch(&f));
    fake_gpu_record_end();
    rise_free(f.context, a);
    rise_free(f.context, b);
    api_end(&f);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    fake_gpu_start();
    for (int device = RISE_SIM; device <= RISE_REF; device++) {
        test_scale(device);
        test_two_inputs(device);
        test_refused(device);
    }
    test_gpu();
    test_recording();
    return unit_end();
}
