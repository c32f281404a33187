/* Launches kernels that were compiled ahead of time, with CUDA's driver API and nothing of risec.
 *
 *     risec ../sum.rise -o sum.cubin --arch=sm_90 -o sum.json        (or -o sum.ptx, for any GPU)
 *     cc aot_launch.c -I$CUDA_HOME/include -lcuda -o aot_launch
 *     ./aot_launch sum.cubin 1000003
 *
 * What it knows of the kernels stands in sum.json: see docs/manifest.md. */
#include <stdio.h>
#include <stdlib.h>

#include <cuda.h>

static void need(CUresult status, const char *what)
{
    const char *text = NULL;
    if (status == CUDA_SUCCESS)
        return;
    cuGetErrorString(status, &text);
    fprintf(stderr, "%s: %s\n", what, text ? text : "?");
    exit(1);
}

/* "launches": there is one, with two variants; the first whose kernel's "guards" hold. "block" is 128, "grid" min(ceilDiv(n, 1024), 65535),
 * "dynamicSharedBytes" 0; "parameters" are the result, xs, and n as "type" says. */
static void launch(CUmodule module, CUdeviceptr result, CUdeviceptr xs, long long n, CUstream stream)
{
    CUfunction kernel;
    int n32 = (int)n;
    int small = n <= 2147483647 && n + 1023 <= 2147483647;
    if (!small && !(n <= 1099511627776 && n + 1023 <= 4503599627370496)) {
        fprintf(stderr, "n is too large\n");
        exit(1);
    }
    long long blocks = (n + 1023) / 1024;
    if (blocks > 65535)
        blocks = 65535;
    if (blocks == 0) /* nothing is launched */
        return;
    void *parameters[] = {&result, &xs, small ? (void *)&n32 : (void *)&n};
    need(cuModuleGetFunction(&kernel, module, small ? "sumBlocks" : "sumBlocks_64"), "cuModuleGetFunction");
    need(cuLaunchKernel(kernel, (unsigned)blocks, 1, 1, 128, 1, 1, 0, stream, parameters, NULL), "cuLaunchKernel");
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s sum.cubin|sum.ptx N\n", argv[0]);
        return 2;
    }
    long long n = atoll(argv[2]), n_parts = (n + 1023) / 1024; /* "count" of the result: ceilDiv(n, 1024) */
    float *xs = malloc((size_t)n * sizeof *xs + 1), *parts = malloc((size_t)n_parts * sizeof *parts + 1);
    if (!xs || !parts)
        return 1;
    double want = 0, total = 0;
    for (long long i = 0; i < n; i++) {
        xs[i] = (float)(i % 7);
        want += xs[i];
    }
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUstream stream;
    CUdeviceptr device_xs, device_parts;
    need(cuInit(0), "cuInit");
    need(cuDeviceGet(&device, 0), "cuDeviceGet");
    need(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    need(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    need(cuModuleLoad(&module, argv[1]), argv[1]);
    need(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    need(cuMemAlloc(&device_xs, (size_t)n * sizeof *xs + 1), "cuMemAlloc");
    need(cuMemAlloc(&device_parts, (size_t)n_parts * sizeof *parts + 1), "cuMemAlloc");
    need(cuMemcpyHtoDAsync(device_xs, xs, (size_t)n * sizeof *xs, stream), "cuMemcpyHtoDAsync");
    launch(module, device_parts, device_xs, n, stream);
    need(cuMemcpyDtoHAsync(parts, device_parts, (size_t)n_parts * sizeof *parts, stream), "cuMemcpyDtoHAsync");
    need(cuStreamSynchronize(stream), "cuStreamSynchronize");
    for (long long i = 0; i < n_parts; i++)
        total += parts[i];
    printf("the sum of %lld numbers is %.0f%s\n", n, total, total == want ? "" : ", which is wrong");
    cuMemFree(device_xs);
    cuMemFree(device_parts);
    cuStreamDestroy(stream);
    cuModuleUnload(module);
    cuDevicePrimaryCtxRelease(device);
    free(xs);
    free(parts);
    return total != want;
}
