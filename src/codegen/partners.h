/* What one_memory.c and one_tile.c ask of one kernel. Private to src/codegen. */
#ifndef RISEC_CODEGEN_PARTNERS_H
#define RISEC_CODEGEN_PARTNERS_H

#include "codegen/one_memory.h"

/* May the result, a buffer of the kernel, be the memory of the input, another one? */
OneMemory partners_prove(Ctx *ctx, const ImpKernel *kernel, const ImpBuf *result, const ImpBuf *input);
/* The same of two buffers in shared memory whose life is one trip of this list of statements. Both may be
 * filled and read in it. */
bool partners_prove_shared(Ctx *ctx, const ImpKernel *kernel, const ImpBlock *list, const ImpBuf *later,
                           const ImpBuf *earlier);

#endif
