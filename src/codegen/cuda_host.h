/* What the two files of host functions share: cuda_host.c has the function, its parameters and checks, cuda_launches.c what it launches. */
#ifndef RISEC_CODEGEN_CUDA_HOST_H
#define RISEC_CODEGEN_CUDA_HOST_H

#include "codegen/cuda_internal.h"

typedef struct Host {
    Cuda *c;
    const ImpProgram *program;
    HostBuffers buffers;
    const char **names; /* of the buffers */
    VEC(Nat) sizes;  /* the entry's, then what else a launch depends on */
    int depth;       /* of braces within the function */
    VEC(bool) braced; /* for each size test that is open, whether it has braces of its own */
} Host;

typedef struct Refusals { /* conditions that were tested before */
    VEC(const char *) list;
} Refusals;

/* ---- cuda_host.c ---- */
/* What the parameter of a buffer is called. */
const char *host_param(const Host *h, const ImpBuf *buf);
void host_indent(const Host *h);
/* Whether both are launched under the same size tests. */
bool host_same_when(const ImpKernel *a, const ImpKernel *b);
void host_put_guards(Host *h, const ImpKernel *of, Refusals *before);

/* ---- cuda_launches.c ---- */
CudaHostUse host_device_use(Ctx *ctx, const ImpKernel *k);
void host_put_launches(Host *h, const char *const *names);

#endif
