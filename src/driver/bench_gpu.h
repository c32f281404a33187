/* Measuring time on a GPU. Several contenders do the same work on the same data, turn by turn in one run:
 *
 *   chain   one call of many in a CUDA graph, over copies of the buffers that together are larger than the second-level cache: what a call costs
 *           in a program that keeps the GPU busy
 *   alone   one call between two events: with what it takes to start it
 *
 * and beside them what an empty kernel takes in both ways, and how fast the device copies memory. Times are medians, with the 10th and 90th percentile. */
#ifndef RISEC_DRIVER_BENCH_GPU_H
#define RISEC_DRIVER_BENCH_GPU_H

#include "rise.h"
#include "runtime/cuda_api.h"
#include "support/context.h"

struct RiseSeams;

typedef void *CUgraph, *CUgraphExec;

typedef struct BenchApi {
#define CUDA_FN(name, symbol, params) CUresult(*name) params;
#include "driver/bench_gpu.def"
#undef CUDA_FN
} BenchApi;

typedef struct BenchTime { /* microseconds; n = 0: not measured, and the rest is 0 */
    int n;
    double median, p10, p90;
} BenchTime;

/* Of n measured times, which are put in order. */
BenchTime bench_time(int n, double *us);

typedef struct BenchFloors {
    BenchTime empty_chain, empty_alone;
    double copy_rate; /* of device memory, bytes a second, read and written counted both */
} BenchFloors;

typedef struct BenchGpu {
    CudaApi api;
    BenchApi more;
    CUdevice device;
    CUcontext context; /* the primary one, current until bench_close */
    CUstream stream;
    CUevent from, to;
    CUmodule module;
    CUfunction empty;
    rise_context *rise; /* in the same CUDA context */
    size_t cache_bytes; /* the second-level cache */
} BenchGpu;

/* A rise_status, with *gpu closed again where it is not RISE_OK. `seams`: NULL, or what stands in for the world. `brake`: gives up what librise does for long, or NULL. */
int bench_open(BenchGpu *gpu, const struct RiseSeams *seams, Brake *brake, rise_error *error);
void bench_close(BenchGpu *gpu);
int bench_floors(BenchGpu *gpu, BenchFloors *floors, rise_error *error);
/* RISE_OK for CU_SUCCESS, else RISE_ERROR_DEVICE or RISE_ERROR_DEVICE_MEMORY with what the driver says. */
int bench_check(BenchGpu *gpu, CUresult result, rise_error *error, const char *what);
/* How many copies of `bytes` are made for the chain. */
int bench_copies(size_t bytes, size_t cache_bytes, size_t free_bytes);

enum { BENCH_CHAIN = 20, BENCH_ROUNDS = 25, BENCH_WARM = 3 };
#define BENCH_SECONDS 0.6 /* of one contender: fewer rounds, and shorter chains, where calls are long */

typedef struct BenchContender {
    /* Puts one call on the stream, with copy k of the buffers. 0, or an error in its own words. */
    int (*run)(void *user, int copy, CUstream stream, rise_error *error);
    void *user;
    BenchTime chain, alone; /* results. No chain where the work cannot be captured in a graph */
} BenchContender;

/* Each contender has run once on each copy before, and rightly. */
int bench_race(BenchGpu *gpu, int n, BenchContender *contenders, int copies, int rounds, rise_error *error);

#endif
