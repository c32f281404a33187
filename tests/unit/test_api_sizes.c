/* Sizes and shapes of calls without data, on all devices (rise_call_infer), and strides. */
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

static int strided(int64_t a, int64_t b, int64_t c, int64_t x, int64_t y, int64_t z)
{
    int64_t shape[3] = {a, b, c}, strides[3] = {x, y, z};
    return rise_check_dense("xs", RISE_F32, 3, shape, strides, &err);
}

static void test_strides(void)
{
    const int64_t big = (int64_t)1 << 40, one = 1;
    GOOD(strided(2, 3, 4, 48, 16, 4));
    GOOD(strided(1, 3, 4, 7, 16, 4));    /* of one element: any */
    GOOD(strided(2, 3, 1, 12, 4, -900)); /* likewise the last */
    GOOD(strided(2, 0, 4, 1, 2, 3));     /* of no elements: any */
    GOOD(strided(1, 1, 1, 0, 0, 0));
    GOOD(rise_check_dense("xs", RISE_F64, 0, NULL, NULL, &err));
    GOOD(rise_check_dense("xs", RISE_F64, 1, &one, NULL, &err));
    BAD(strided(2, 3, 4, 4, 8, 24), RISE_ERROR_ARGUMENT,
        "xs has the strides 4, 8, 24 bytes, and an array of 2.3.4 f32 that lies row by row has 48, 16, 4: "
        "copy it into a dense one first");
    BAD(strided(2, 3, 4, 96, 32, 8), RISE_ERROR_ARGUMENT, "copy it");  /* every other one */
    BAD(strided(2, 3, 4, 48, 16, -4), RISE_ERROR_ARGUMENT, "copy it"); /* reversed */
    BAD(strided(2, 3, 4, 0, 16, 4), RISE_ERROR_ARGUMENT, "copy it");   /* broadcast */
    BAD(strided(2, 3, 4, 64, 16, 4), RISE_ERROR_ARGUMENT, "copy it");  /* rows with a gap */
    BAD(strided(2, 3, 4, 12, 4, 1), RISE_ERROR_ARGUMENT, "copy it");   /* in elements */
    BAD(strided(big, big, big, 0, 0, 4), RISE_ERROR_ARGUMENT, "has one beyond 64 bits, 4398046511104, 4:");
    BAD(strided(2, -3, 4, 48, 16, 4), RISE_ERROR_ARGUMENT, "xs has the extent -3 in dimension 2");
    BAD(rise_check_dense("xs", 99, 1, &one, &one, &err), RISE_ERROR_ARGUMENT, "99 is no rise_type");
    BAD(rise_check_dense("xs", RISE_F32, -1, &one, &one, &err), RISE_ERROR_ARGUMENT, "-1 dimensions");
    BAD(rise_check_dense("xs", RISE_F32, 1, NULL, &one, &err), RISE_ERROR_ARGUMENT, "shape is NULL");
    BAD(rise_check_dense(NULL, RISE_F32, 1, &one, &one, &err), RISE_ERROR_ARGUMENT, "name is NULL");
    CHECK(rise_check_dense("xs", RISE_F32, 1, &(int64_t){2}, &one, NULL) == RISE_ERROR_ARGUMENT);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int device = RISE_GPU; device <= RISE_REF; device++)
        test_infer(device);
    test_strides();
    return unit_end();
}
