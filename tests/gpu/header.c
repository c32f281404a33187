/* A header on a real GPU: sums of integers, which are exact, of sizes of all classes and unlike addresses, on one workspace; a CUDA graph, replayed with other
 * data; results of several types; errors; loading and unloading.
 *
 *     risec tests/gpu/header.rise -o sum.h
 *     cc -std=c99 -I. tests/gpu/header.c -o header && ./header        (ends with 3 where there is no driver) */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

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

/* A function of the driver, of which the header has none. */
static int driver(const char *name, void *to)
{
    void *address = dlsym(dlopen("libcuda.so.1", RTLD_NOW), name);
    memcpy(to, &address, sizeof address);
    if (!address)
        printf("not ok header: the driver has no %s\n", name);
    return !address;
}

/* Twice the first half is the sum of both halves, when the second has been written over with the first. */
static int graph(float *result, float *xs, void *workspace, size_t bytes)
{
    enum { HALF = 500000, ALL = 2 * HALF };
    int (*create)(void **, unsigned), (*begin)(void *, int), (*end)(void *, void **), (*instantiate)(void **, void *, unsigned long long), (*start)(void *, void *);
    void *stream = NULL, *recorded = NULL, *ready = NULL;
    double sums[2] = {0, 0};
    float got[2] = {-1, -1};
    if (driver("cuStreamCreate", &create) || driver("cuStreamBeginCapture_v2", &begin) || driver("cuStreamEndCapture", &end) ||
        driver("cuGraphInstantiateWithFlags", &instantiate) || driver("cuGraphLaunch", &start))
        return 0;
    for (int i = 0; i < ALL; i++)
        sums[i / HALF] += host[i];
    if (failed("unloading", sum_unload()) || failed("loading", sum_load()) || failed("a stream", create(&stream, 1)) || failed("recording", begin(stream, 0)) ||
        failed("a recorded launch", sum_launch(result, xs, workspace, bytes, ALL, stream)) || failed("the end of recording", end(stream, &recorded)) ||
        failed("a graph", instantiate(&ready, recorded, 0)))
        return 0;
    for (int k = 0; k < 2; k++) {
        if (failed("a graph's launch", start(ready, stream)) || failed("a graph's result", sum_copy_to_host(&got[k], result, sizeof *got, stream)) ||
            failed("a graph's input", sum_copy_to_device(xs + HALF, host, HALF * sizeof *host, stream)))
            return 0;
    }
    if ((double)got[0] != sums[0] + sums[1] || (double)got[1] != 2 * sums[0])
        printf("not ok header: a graph gives %.0f and %.0f, and not %.0f and %.0f\n", (double)got[0], (double)got[1], sums[0] + sums[1], 2 * sums[0]);
    return (double)got[0] == sums[0] + sums[1] && (double)got[1] == 2 * sums[0];
}

/* Halves by their bits, bytes and truth values; two of the inputs are scalars. */
static int types(void)
{
    enum { N = 7000, TWO = 0x4000 };
    static const uint16_t bits[7] = {0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600}, doubled[7] = {0, 0x4000, 0x4400, 0x4600, 0x4800, 0x4900, 0x4a00};
    static uint16_t halves[N];
    static uint8_t numbers[N], less[N];
    size_t sizes[3] = {0, 0, 0};
    void *device[5];
    int wrong = 0;
    if (failed("bytes of results", sum_types_result_bytes(N, &sizes[0], &sizes[1], &sizes[2])))
        return 0;
    wrong += sizes[0] != sizeof halves || sizes[1] != N || sizes[2] != N;
    for (int i = 0; i < 5; i++)
        if (failed("memory", sum_device_alloc(&device[i], sizeof halves)))
            return 0;
    for (int i = 0; i < N; i++) {
        halves[i] = bits[i % 7];
        numbers[i] = (uint8_t)i;
    }
    if (failed("halves", sum_copy_to_device(device[3], halves, sizeof halves, NULL)) || failed("bytes", sum_copy_to_device(device[4], numbers, N, NULL)) ||
        failed("no elements", sum_types_launch((uint16_t *)device[0], (uint8_t *)device[1], (uint8_t *)device[2], TWO, 200, 1, (uint16_t *)device[3], (uint8_t *)device[4], 0, NULL)) ||
        failed("types", sum_types_launch((uint16_t *)device[0], (uint8_t *)device[1], (uint8_t *)device[2], TWO, 200, 1, (uint16_t *)device[3], (uint8_t *)device[4], N, NULL)) ||
        failed("halves", sum_copy_to_host(halves, device[0], sizeof halves, NULL)) || failed("bytes", sum_copy_to_host(numbers, device[1], N, NULL)) ||
        failed("truth values", sum_copy_to_host(less, device[2], N, NULL)))
        return 0;
    for (int i = 0; i < N; i++)
        wrong += halves[i] != doubled[i % 7] || numbers[i] != (uint8_t)(i + 200) || less[i] != (i % 7 < 2);
    if (wrong)
        printf("not ok header: %d of %d elements of several types are wrong\n", wrong, N);
    for (int i = 0; i < 5; i++)
        wrong += failed("freeing", sum_device_free(device[i])) != 0;
    return !wrong;
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
    good = good && types() && graph(result, xs, workspace, most);
    good = good && !failed("waiting", sum_wait(NULL)) && !failed("freeing", sum_device_free(xs) || sum_device_free(result) || sum_device_free(workspace));
    if (good)
        printf("ok header: %d sums, three types, a graph\n", 3 * 2 * SIZES);
    return !good;
}
