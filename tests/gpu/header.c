/* A header on a real GPU: sums of integers, which are exact, of sizes of all classes and unlike addresses, on one workspace; errors; loading and unloading.
 *
 *     echo 'entry sum {n: nat} (xs: n.f32): f32 = xs |> reduce((+), 0)' >sum.rise && risec sum.rise -o sum.h
 *     cc -std=c99 -I. tests/gpu/header.c -o header && ./header        (ends with 3 where there is no driver) */
#include <stdio.h>

#define SUM_IMPLEMENTATION
#include "sum.h"

enum { MOST = 1000001 };
static float host[MOST];

static int failed(const char *what, int error)
{
    if (error)
        printf("not ok header: %s: %s (%d)\n", what, sum_error_text(error), error);
    return error;
}

/* Whether the sum of n numbers from the first or second one on is right. */
static int right(float *result, const float *xs, void *workspace, size_t bytes, long long n, int from)
{
    double want = 0;
    float got = -1;
    for (long long i = 0; i < n; i++)
        want += host[i + from];
    if (failed("a launch", sum_launch(result, xs + from, workspace, bytes, n, NULL)) || failed("a result", sum_copy_to_host(&got, result, sizeof got, NULL)))
        return 0;
    if ((double)got != want)
        printf("not ok header: the sum of %lld numbers is %.0f, and not %.0f\n", n, (double)got, want);
    return (double)got == want;
}

int main(void)
{
    static const long long sizes[] = {0, 1, 31, 1000, 1025, 4096, 5000, 262144, 262145, 999999, 1000000};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    float *xs = NULL, *result = NULL;
    void *workspace = NULL;
    size_t bytes = 0, most = 0;
    int good = 1, error = sum_use_device(0);
    if (error == SUM_ERROR_NO_DRIVER) {
        printf("%s\n", sum_error_text(error));
        return 3;
    }
    if (failed("the first GPU", error))
        return 1;
    for (int i = 0; i < MOST; i++)
        host[i] = (float)(i % 7);
    for (int i = 0; i < SIZES; i++) {
        if (failed("the bytes of the workspace", sum_workspace(sizes[i], &bytes)))
            return 1;
        most = bytes > most ? bytes : most;
    }
    if (failed("memory", sum_device_alloc(&workspace, most)) || failed("memory", sum_device_alloc((void **)&xs, sizeof host)) ||
        failed("memory", sum_device_alloc((void **)&result, sizeof *result)) || failed("the input", sum_copy_to_device(xs, host, sizeof host, NULL)) ||
        failed("the workspace", sum_workspace_init(workspace, most, NULL)))
        return 1;
    for (int round = 0; good && round < 3; round++) {
        for (int i = 0; good && i < SIZES; i++)
            good = right(result, xs, workspace, most, sizes[i], 0) && right(result, xs, workspace, most, sizes[i], 1);
        good = good && !failed("unloading", sum_unload()) && !(round && failed("loading", sum_load()));
    }
    if (good && (sum_launch(result, xs, workspace, 16, 1000000, NULL) != SUM_ERROR_WORKSPACE || sum_launch(result, xs, workspace, most, -1, NULL) != SUM_ERROR_SIZE)) {
        printf("not ok header: what cannot be launched is not refused\n");
        good = 0;
    }
    good = good && !failed("waiting", sum_wait(NULL)) && !failed("freeing", sum_device_free(xs) || sum_device_free(result) || sum_device_free(workspace));
    if (good)
        printf("ok header: %d launches, of 1000000 numbers the last\n", 3 * 2 * SIZES);
    return !good;
}
