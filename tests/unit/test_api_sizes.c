/* Sizes and shapes of calls without data, on all devices: rise_call_infer. */
#include "api.h"

static const char PAIRS[] =
    "entry pairs {n: nat} {m: nat} (factor: i32) (xs: (2*n).f32) (ys: (n + m).i32): (n.f32, m.i32)\n"
    "  where n >= 2 =\n"
    "  (xs |> take(n) |> mapGlobal(id), ys |> drop(n) |> mapGlobal(fun y => y * factor))\n";

static void check_shape(rise_call *call, const char *name, int64_t wanted)
{
    int rank = -1;
    int64_t shape[2] = {-1, -1};
    GOOD(rise_call_shape(call, name, 2, &rank, shape, &err));
    CHECK(rank == 1 && shape[0] == wanted && shape[1] == -1);
}

static void test_infer(int device)
{
    int64_t n = 0, xs = 20, ys = 14;
    size_t bytes = 0;
    float data[20] = {0};
    int more[14] = {0}, factor = 2;
    fake_gpu_start();
    Fixture f = api_start(device, NULL, PAIRS);
    BAD(rise_call_infer(NULL, &err), RISE_ERROR_ARGUMENT, "call is NULL");
    BAD(rise_call_infer(f.call, &err), RISE_ERROR_ARGUMENT, "nothing gives the size n: give an input");
    BAD(rise_call_size_value(f.call, "n", &n, &err), RISE_ERROR_ARGUMENT, "sizes of the call are not known");
    BAD(rise_call_result(f.call, "result.1", NULL, &bytes, &err), RISE_ERROR_ARGUMENT, "not known");
    long before = fake_gpu.calls;
    GOOD(rise_call_input(f.call, "xs", RISE_F32, 1, &xs, NULL, RISE_DEVICE, &err));
    GOOD(rise_call_input(f.call, "ys", RISE_I32, 1, &ys, NULL, RISE_DEVICE, &err));
    GOOD(rise_call_infer(f.call, &err)); /* `factor` is missing, and tells no size */
    check_shape(f.call, "xs", 20);
    check_shape(f.call, "result.1", 10);
    check_shape(f.call, "result.2", 4);
    GOOD(rise_call_size_value(f.call, "n", &n, &err));
    GOOD(rise_call_result(f.call, "result.2", NULL, &bytes, &err));
    CHECK(n == 10 && bytes == 16);
    void *place;
    BAD(rise_call_result(f.call, "result.2", &place, &bytes, &err), RISE_ERROR_ARGUMENT, "not prepared");
    CHECK(fake_gpu.calls == before && fake_gpu.compilations == 0 && fake_gpu.memories == 0);
    /* A launch needs all of it. */
    BAD(rise_call_launch(f.call, NULL, &err), RISE_ERROR_ARGUMENT, "nothing is given for factor");
    GOOD(rise_call_scalar(f.call, "factor", RISE_I32, &factor, &err));
    BAD(rise_call_launch(f.call, NULL, &err), RISE_ERROR_ARGUMENT, "xs has 80 bytes, and its address is NULL");
    /* Other addresses of the same shapes, and results: what was found stays. */
    GOOD(rise_call_input(f.call, "xs", RISE_F32, 1, &xs, data, RISE_HOST, &err));
    GOOD(rise_call_output(f.call, "result.1", RISE_F32, data, 4, RISE_HOST, &err));
    check_shape(f.call, "result.1", 10);
    BAD(rise_call_launch(f.call, NULL, &err), RISE_ERROR_ARGUMENT, "takes 40 bytes");
    GOOD(rise_call_output(f.call, "result.1", RISE_F32, NULL, 0, RISE_HOST, &err));
    GOOD(rise_call_input(f.call, "ys", RISE_I32, 1, &ys, more, RISE_HOST, &err));
    GOOD(rise_call_launch(f.call, NULL, &err));
    /* Another shape: found again, and refused where it does not fit. */
    xs = 6;
    GOOD(rise_call_input(f.call, "xs", RISE_F32, 1, &xs, NULL, RISE_DEVICE, &err));
    BAD(rise_call_shape(f.call, "xs", 0, &(int){0}, NULL, &err), RISE_ERROR_ARGUMENT, "not known");
    GOOD(rise_call_infer(f.call, &err));
    check_shape(f.call, "result.2", 11);
    GOOD(rise_call_size(f.call, "m", 10, &err));
    BAD(rise_call_infer(f.call, &err), RISE_ERROR_ARGUMENT, "ys has the shape 14");
    GOOD(rise_call_size(f.call, "m", 11, &err));
    GOOD(rise_call_infer(f.call, &err));
    xs = 2;
    GOOD(rise_call_input(f.call, "xs", RISE_F32, 1, &xs, NULL, RISE_DEVICE, &err));
    BAD(rise_call_infer(f.call, &err), RISE_ERROR_ARGUMENT, "n >= 2");
    api_end(&f);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int device = RISE_GPU; device <= RISE_REF; device++)
        test_infer(device);
    return unit_end();
}
