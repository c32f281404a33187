/* Hand-written kernels for `risec bench --vs`: FILE.cu defines a host function ENTRY_hand (tests/handwritten/README.md says which parameters it has). nvcc compiles it,
 * with a few lines that call it, to a shared object. */
#ifndef RISEC_DRIVER_BENCH_HAND_H
#define RISEC_DRIVER_BENCH_HAND_H

#include "driver/driver.h"

typedef struct BenchHand {
    const char *path;  /* of FILE.cu */
    const char *text;
    void *library;
    /* buffers: of the results, then of the inputs; sizes in order. 0, or a cudaError_t; BENCH_HAND_NARROW where a size does not fit its int. */
    int (*run)(void *const *buffers, const long long *sizes, void *stream);
} BenchHand;
enum { BENCH_HAND_NARROW = -1 };

/* Reads it, and looks for the function. False with a diagnostic. Needs no CUDA. */
bool bench_hand_read(Ctx *ctx, Driver *d, const char *path, const char *entry, BenchHand *hand);
/* What nvcc compiles: FILE.cu and a function of BenchHand.run's type around ENTRY_hand. values: which of the buffers are scalars in memory of the host, which
 * ENTRY_hand takes by value. */
const char *bench_hand_wrapper(Ctx *ctx, const char *path, const char *entry, int n_buffers, const bool *values, int n_sizes);
/* Compiles it for "sm_90" and loads it; `keep`: the folder where the object stays and is found again, or NULL. False with a diagnostic. */
bool bench_hand_load(Ctx *ctx, Driver *d, const char *entry, int n_buffers, const bool *values, int n_sizes, const char *arch, const char *keep, BenchHand *hand);
/* $NVCC, else nvcc of the PATH or of the toolkit; NULL: there is none. */
const char *nvcc_find(Ctx *ctx);
/* "13.0", as it says itself; NULL: it does not. */
const char *nvcc_version(Ctx *ctx, const char *nvcc);
void bench_hand_close(BenchHand *hand);

#endif
