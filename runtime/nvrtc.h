/* NVRTC, NVIDIA's compiler of CUDA C: found, loaded and called. No header of CUDA is needed to build this, and no GPU to run it.
 *
 * Only for text that risec has emitted, with options that are ours alone. Nothing here is kept between calls, and any number of
 * threads may compile with one Nvrtc. toolchain.h adds the cache; a host of kernels calls that. */
#ifndef RISE_RUNTIME_NVRTC_H
#define RISE_RUNTIME_NVRTC_H

#include "runtime/library.h"
#include "support/context.h"

typedef struct NvrtcProgramImpl *NvrtcProgram;

/* The functions of the library; an int is an nvrtcResult. Tests put their own here. */
typedef struct NvrtcApi {
    int (*version)(int *major, int *minor);
    int (*create)(NvrtcProgram *program, const char *text, const char *name, int n, const char *const *headers, const char *const *names);
    int (*destroy)(NvrtcProgram *program);
    int (*compile)(NvrtcProgram program, int n, const char *const *options);
    int (*log_size)(NvrtcProgram program, size_t *size); /* with the terminator, as of the PTX */
    int (*log)(NvrtcProgram program, char *log);
    int (*ptx_size)(NvrtcProgram program, size_t *size);
    int (*ptx)(NvrtcProgram program, char *ptx);
    int (*cubin_size)(NvrtcProgram program, size_t *size);
    int (*cubin)(NvrtcProgram program, char *cubin);
    const char *(*error_text)(int result);
    int (*arch_count)(int *n); /* this and the next: NULL before NVRTC 11.2 */
    int (*archs)(int *archs);  /* ascending, 90 for sm_90 */
} NvrtcApi;

enum { NVRTC_PATH_MAX = 1024, NVRTC_WHY_MAX = 1024 };

typedef struct Nvrtc {
    NvrtcApi api;
    int major, minor;
    char path[NVRTC_PATH_MAX]; /* "" when it is not known */
    /* Runs `fn` on up to n threads with large stacks and waits for all; false when there is no such thread. NULL: threads of the system. */
    bool (*on_stacks)(int n, void (*fn)(void *arg), void *arg);
} Nvrtc;

/* Looks for libnvrtc.so.13, .12, .11.2 and .11 by these names; docs/compiled.md has the order of the places.
 * Never takes the stubs, which have no version in their names. `named`: a folder in which it is looked for
 * first, or the library, which is then the only one that is taken; NULL: nothing. `max_major`: the newest
 * major version to take, that of the driver, which may not load the code of a newer one; 0: any. False with
 * the reason in `why`, of NVRTC_WHY_MAX bytes. */
bool nvrtc_load(const LibraryLoader *loader, const char *named, int max_major, Nvrtc *nvrtc, char *why);

typedef enum CodeForm { CODE_CUBIN, CODE_PTX } CodeForm;

/* Emitted code is tested from sm_75 on, and needs what sm_70 brought: threads of a warp that are scheduled on their own. */
enum { ARCH_MIN = 70, ARCH_MAX = 999 };

typedef struct CodeRequest {
    const char *name; /* of the text, in messages: "sum.cu" */
    const char *text; /* CUDA C, terminated */
    int arch;         /* 90: sm_90 for a cubin, compute_90 for PTX */
    CodeForm form;
    bool line_info;   /* lines for profilers and debuggers, as #line gives them */
} CodeRequest;

typedef enum CodeStatus {
    CODE_GOOD,
    CODE_NO_COMPILER, /* no NVRTC that can be used */
    CODE_BAD_ARCH,    /* this NVRTC does not know the architecture */
    CODE_REFUSED,     /* NVRTC finds fault with the text: a bug in risec */
    CODE_FAILED       /* NVRTC or the machine failed */
} CodeStatus;

typedef struct Code {
    const char *bytes; /* with a zero byte behind them, which `size` does not count; in memory of the context */
    size_t size;
    const char *log;   /* what NVRTC said, "" for nothing, which is the rule */
    bool cached;       /* from the disk, without NVRTC; then log is "" */
    int major, minor;  /* of the NVRTC that made it */
} Code;

enum { NVRTC_MAX_OPTIONS = 4 };

/* The options of a compilation, in memory of the context; gives their number. They belong to the key of a cached kernel. */
int nvrtc_options(Ctx *ctx, const CodeRequest *request, const char *options[NVRTC_MAX_OPTIONS]);

/* One of several texts that are compiled together. */
typedef struct CodeWork {
    CodeRequest request;
    CodeStatus status;
    Code code;
    StrBuf why; /* whatever went wrong, in one or more lines; of a text that is refused, that says where it was saved */
} CodeWork;

/* Compiles them, several at a time where there are processors. Where the context's brake is pulled, no further one is begun. */
void nvrtc_compile(Ctx *ctx, const Nvrtc *nvrtc, int n, CodeWork *const *works);

#endif
