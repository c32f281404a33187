/* Ahead of time: CUDA C to PTX and cubins, through NVRTC and the cache of kernels. Needs no GPU. */
#ifndef RISEC_DRIVER_AOT_H
#define RISEC_DRIVER_AOT_H

#include "driver/driver.h"
#include "runtime/nvrtc.h"

/* What --arch says (90 for sm_90 or compute_90), or what the form takes without it. False with a diagnostic. `path`: of the output. */
bool aot_arch(Ctx *ctx, Driver *d, CodeForm form, const char *path, int *arch);
/* Compiles what risec has emitted for the program at `source`. False with a diagnostic. */
bool aot_compile(Ctx *ctx, Driver *d, CodeForm form, int arch, const char *source, const char *text, Code *code);

#endif
