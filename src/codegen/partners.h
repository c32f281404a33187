/* What one_memory.c asks of one kernel. Private to src/codegen. */
#ifndef RISEC_CODEGEN_PARTNERS_H
#define RISEC_CODEGEN_PARTNERS_H

#include "codegen/one_memory.h"

/* May the result, a buffer of the kernel, be the memory of the input, another one? */
OneMemory partners_prove(Ctx *ctx, const ImpKernel *kernel, const ImpBuf *result, const ImpBuf *input);

#endif
