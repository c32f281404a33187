/* What the files of host functions share: cuda_host.c has the function, its parameters and checks, cuda_launches.c what it launches, cuda_workspace.c the workspace
 * and its functions. */
#ifndef RISEC_CODEGEN_CUDA_HOST_H
#define RISEC_CODEGEN_CUDA_HOST_H

#include "codegen/cuda_internal.h"
#include "codegen/workspace.h"

typedef struct Host {
    Cuda *c;
    const ImpProgram *program;
    const char *const *kernels; /* their names in C, as imp_form counts */
    HostBuffers buffers;
    const char **names; /* of the buffers */
    Workspace space;
    const char *workspace, *base; /* the parameter, and the same as bytes; NULL: there is none */
    const char *bytes;            /* where the workspace's bytes go */
    bool several;                 /* they are the most of what several conditions ask for */
    VEC(const ImpWhens *) said;   /* conditions for which that is said */
    VEC(Nat) sizes;  /* the entry's, then what else a launch depends on */
    int depth;       /* of braces within the function */
    bool has_sms;    /* numSM is declared here */
    bool loops;      /* what is put repeats: */
    const ImpGroup *group; /* in the loop that is open */
    VEC(const char *) refused; /* conditions that were tested before, on the way to this place */
} Host;

typedef VEC(const ImpVariant *) HostRun;
/* Prints what is to be said of a variant; `alone`: between braces. */
typedef void (*HostPut)(Host *h, const ImpVariant *variant, bool alone);

/* A line of parameters. */
typedef struct HostLine {
    Cuda *c;
    size_t start, at; /* where parameters begin, and where the line is */
} HostLine;

/* ---- cuda_host.c ---- */
/* What the parameter of a buffer is called, or the pointer into the workspace. */
const char *host_param(const Host *h, const ImpBuf *buf);
void host_indent(const Host *h);
const char *host_margin(const Host *h); /* the same as text */
HostLine host_line_begin(Host *h, const char *function);
void host_put_param(HostLine *line, const char *text);
void host_put_checks(Host *h);
void host_refuse_if(const Host *h, const char *cond);
void host_refuse_large(Host *h, Nat nat); /* beyond WIDE_INDEX_MAX, unless that was said before */

/* ---- cuda_launches.c ---- */
CudaHostUse host_device_use(Ctx *ctx, const ImpKernel *k);
CudaHostUse host_test_use(Ctx *ctx, const ImpProgram *program); /* what size tests mention */
/* All variants of the program, in the order of the launches. */
HostRun host_all(Ctx *ctx, const ImpProgram *program);
/* if (n <= 4096) { ... } else { ... } around what is printed of each variant. */
void host_put_run(Host *h, const HostRun *run, int depth, HostPut put_each);
void host_return_error(const Host *h, const char *margin, const char *call);
void host_put_multiprocessors(Host *h, const char *margin); /* declares numSM, unless it is there */
void host_put_resident(const Host *h, const char *margin, const ImpKernel *k, const char *name, const char *shared, const char *var); /* declares var */
const char *host_kernel_name(const Host *h, const ImpKernel *kernel);
void host_put_test_sizes(Host *h); /* the device's, if size tests mention them */
void host_put_launches(Host *h);

/* ---- cuda_workspace.c ---- */
void host_put_workspace(Host *h, const CudaNames *names); /* its functions */
void host_put_base(Host *h);   /* checks the parameter */
void host_put_places(Host *h, const ImpKernel *k); /* pointers to the buffers of the kernel, in all its forms */
bool host_has_places(const ImpKernel *k);

#endif
