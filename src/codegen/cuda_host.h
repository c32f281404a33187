/* What the files of host functions share: cuda_host.c has the function, its parameters and checks, cuda_launches.c what it launches, cuda_workspace.c the workspace
 * and its functions, and cuda_calls.c the words in which a .cu file and a header differ. */
#ifndef RISEC_CODEGEN_CUDA_HOST_H
#define RISEC_CODEGEN_CUDA_HOST_H

#include "codegen/cuda_internal.h"
#include "codegen/workspace.h"

/* Why a launch is refused. */
typedef enum HostRefusal { REFUSE_SIZE, REFUSE_OVERFLOW, REFUSE_WORKSPACE } HostRefusal;

/* A refusal that was printed: another condition may join it. */
typedef struct HostRefused {
    const StrBuf *out;
    size_t paren, end; /* where its condition ends, and where it does */
    int depth;
    HostRefusal why;
} HostRefused;

typedef struct Host {
    Cuda *c;
    const ImpProgram *program;
    const char *const *kernels; /* their names in C, as imp_form counts */
    HostBuffers buffers;
    const char **names; /* of the buffers */
    Workspace space;
    const char *workspace, *base; /* the parameter, and the same as bytes; NULL: there is none */
    const char *given;            /* the parameter that says how many they are, in a header */
    const char *bytes;            /* where the workspace's bytes go */
    bool several;                 /* they are the most of what several conditions ask for */
    int said;                     /* for how many that is said before */
    IndexProducts products; /* products of sizes that were tested on the way to any launch */
    VEC(Nat) sizes;  /* the entry's, then what else a launch depends on */
    int depth;       /* of braces within the function */
    bool has_sms;    /* numSM is declared here */
    bool launched;   /* something is, before */
    bool loops;      /* what is put repeats: */
    const ImpGroup *group; /* in the loop that is open */
    VEC(const char *) refused; /* conditions that were tested before, on the way to this place */
    HostRefused last;
    StrBuf *declarations;      /* in a header: where the functions are declared */
} Host;

typedef ImpVariants HostRun;
/* Prints what is to be said of a variant; `alone`: between braces. */
typedef void (*HostPut)(Host *h, const ImpVariant *variant, bool alone);

/* A function: its parameters, then its body. */
typedef struct HostFunction {
    Host *h;
    StrBuf *out, line, body; /* where it goes, and what there is of it */
    bool own;
    VEC(const char *) params, names; /* with their types, and alone */
} HostFunction;

/* ---- cuda_host.c ---- */
/* What the parameter of a buffer is called, or the pointer into the workspace. */
const char *host_param(const Host *h, const ImpBuf *buf);
void host_indent(const Host *h);
const char *host_margin(const Host *h); /* the same as text */
StrBuf *host_comments(const Host *h);      /* where a function is described */
const char *host_what(const Host *h);      /* what is launched */
const char *host_errors(const Host *h);    /* "a cudaError_t" */
/* A name of the program. A header writes `N_` for N, as whoever includes it may have a macro of that name. */
const char *host_claim(const Host *h, const char *name);
/* Puts the sizes as parameters. */
void host_put_size_params(HostFunction *f);
void host_put_checks(Host *h);
void host_refuse_if(const Host *h, HostRefusal why, const char *cond);
const char *host_nat(const Host *h, Nat nat, CPrec prec); /* as text of C */
void host_refuse_large(Host *h, Nat nat); /* beyond WIDE_INDEX_MAX, unless that was said before, or cannot be */

/* ---- cuda_counts.c ---- */
/* Declares what the number repeats, and gives it in terms of that. */
Nat host_name_counts(Host *h, Nat nat);
bool host_has_counts(const Host *h, Nat nat); /* does it repeat any? */

/* ---- cuda_launches.c ---- */
CudaHostUse host_device_use(Ctx *ctx, const ImpKernel *k);
CudaHostUse host_test_use(Ctx *ctx, const ImpProgram *program); /* what size tests mention */
/* All variants of the program, in the order of the launches. */
HostRun host_all(Ctx *ctx, const ImpProgram *program);
/* if (n <= 4096) { ... } else { ... } around what is printed of each variant. */
void host_put_run(Host *h, const HostRun *run, int depth, HostPut put_each);
void host_put_multiprocessors(Host *h, const char *margin); /* declares numSM, unless it is there */
void host_put_resident(const Host *h, const char *margin, const ImpKernel *k, const char *name, const char *shared, const char *var); /* declares var */
const char *host_kernel_name(const Host *h, const ImpKernel *kernel);
void host_put_test_sizes(Host *h); /* the device's, if size tests mention them */
void host_put_launches(Host *h);

/* ---- cuda_workspace.c ---- */
void host_put_workspace(Host *h, const CudaNames *names); /* its functions */
void host_put_base(Host *h, const CudaNames *names); /* checks the parameter */
void host_put_device_sizes(Host *h, Nat nat); /* declares what it depends on beside the sizes */
void host_put_places(Host *h, const ImpKernel *k); /* pointers to the buffers of the kernel, in all its forms */
void host_put_gap(const Host *h); /* an empty line behind a function, and in a header behind its declaration */
bool host_has_places(const ImpKernel *k);

/* ---- cuda_calls.c ---- */
/* Whatever is printed until the end belongs to the function. `own`: nobody else calls it. */
void host_function_begin(Host *h, HostFunction *f, const char *name, bool own);
void host_put_param(HostFunction *f, const char *type, const char *name); /* type: "float *", "long long " */
void host_function_body(HostFunction *f); /* behind the last parameter */
void host_function_end(HostFunction *f, const char *result); /* what it returns */
const char *host_type(const Host *h, Scalar s);
const char *host_stream_type(const Host *h);
const char *host_refusal(const Host *h, HostRefusal why);
void host_return_error(const Host *h, const char *margin, const char *call);
const char *host_call_multiprocessors(const Host *h, const char *var);
const char *host_call_resident(const Host *h, const char *kernel, int threads, const char *shared, const char *var);
const char *host_call_fits(const Host *h, const char *bytes);
const char *host_call_clear(const Host *h, const char *memory, const char *bytes);
/* The call of a kernel as a statement; blocks: `n` expressions of C. */
void host_put_call(Host *h, const ImpKernel *k, const char *name, const char *margin, int n, const char *const blocks[3], const char *shared);
/* The kernel may have so much of it. */
void host_put_dynamic_shared(const Host *h, const char *margin, const char *kernel, const char *shared);
bool host_call_is_block(const Host *h, const ImpKernel *k); /* it is more than one statement */

#endif
