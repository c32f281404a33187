#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H
#include <stddef.h>

/* What a CUcontext points to. */
typedef struct FakeContext {
    int device;
    unsigned long long id;
} FakeContext;

typedef struct FakeCuda {
    /* What there is. */
    int init; /* what cuInit says */
    int arch, multiprocessors, resident, devices;
    size_t memory;
    int refuse_cubins, refuse_ptx; /* what the loader of modules says to them */
    long fail_at;                  /* the call of this number fails; 0: none */
    int fail_with;
    /* What happened. */
    long calls, launches, loads, unloads, misuse;
    char loaded[32]; /* the code that was loaded last */
} FakeCuda;

extern FakeCuda fake_cuda;
#endif
