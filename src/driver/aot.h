/* Ahead of time: CUDA C to PTX and cubins, through NVRTC and the cache of kernels. Needs no GPU. */
#ifndef RISEC_DRIVER_AOT_H
#define RISEC_DRIVER_AOT_H

#include "codegen/lower.h"
#include "driver/driver.h"
#include "runtime/nvrtc.h"

/* What --arch says (90 for sm_90 or compute_90), or what the form takes without it. False with a diagnostic. `path`: of the output. */
bool aot_arch(Ctx *ctx, Driver *d, CodeForm form, const char *path, int *arch);
/* What --arch says of a header, from the newest to the oldest: a list, as in sm_80,sm_90. Without it, what GPUs in use have. */
typedef struct Archs {
    bool given;
    VEC(int) at;
} Archs;
bool aot_archs(Ctx *ctx, Driver *d, const char *path, Archs *archs);
/* Compiles the kernels for all of them, and PTX for the oldest; gives the text of the header. Where --arch said nothing, those are left out that NVRTC does not know. *newest: the first
 * cubin, and what it is for. */
bool aot_header(Ctx *ctx, Driver *d, const Header *header, const Archs *archs, const char *source, const char *text, Code *code, Code *newest, int *newest_arch);
/* Compiles what risec has emitted for the program at `source`. False with a diagnostic. */
bool aot_compile(Ctx *ctx, Driver *d, CodeForm form, int arch, const char *source, const char *text, Code *code);

#endif
