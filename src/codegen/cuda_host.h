/* What the two files of host functions share: cuda_host.c has the function, its parameters and checks, cuda_launches.c what it launches. */
#ifndef RISEC_CODEGEN_CUDA_HOST_H
#define RISEC_CODEGEN_CUDA_HOST_H

#include "codegen/cuda_internal.h"

typedef struct Host {
    Cuda *c;
    const ImpProgram *program;
    const char *const *kernels; /* their names in C, as imp_form counts */
    HostBuffers buffers;
    const char **names; /* of the buffers */
    VEC(Nat) sizes;  /* the entry's, then what else a launch depends on */
    int depth;       /* of braces within the function */
    bool has_sms;    /* numSM is there from the start */
    VEC(const char *) refused; /* conditions that were tested before, on the way to this place */
} Host;

typedef VEC(const ImpVariant *) HostRun;
/* Prints what is to be said of a variant; `alone`: between braces. */
typedef void (*HostPut)(Host *h, const ImpVariant *variant, bool alone);

/* ---- cuda_host.c ---- */
/* What the parameter of a buffer is called. */
const char *host_param(const Host *h, const ImpBuf *buf);
void host_indent(const Host *h);

/* ---- cuda_launches.c ---- */
CudaHostUse host_device_use(Ctx *ctx, const ImpKernel *k);
CudaHostUse host_test_use(Ctx *ctx, const ImpProgram *program); /* what size tests mention */
/* All variants of the program, in the order of the launches. */
HostRun host_all(Ctx *ctx, const ImpProgram *program);
/* if (n <= 4096) { ... } else { ... } around what is printed of each variant. */
void host_put_run(Host *h, const HostRun *run, int depth, HostPut put_each);
void host_put_test_sizes(Host *h); /* the device's, if size tests mention them */
void host_put_launches(Host *h);

#endif
