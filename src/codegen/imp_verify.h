/* What passes must keep: see imp_verify.c. Private to src/codegen. */
#ifndef RISEC_CODEGEN_IMP_VERIFY_H
#define RISEC_CODEGEN_IMP_VERIFY_H

#include "codegen/imp.h"

/* The name of a register or index that is mentioned out of its scope, and the statement that does; NULL: there is none. */
const char *imp_verify(Ctx *ctx, const ImpKernel *kernel, Span *where);
/* A buffer whose cells, bytes or place do not fit into 64 bits; NULL: none. */
const ImpBuf *imp_lost_buffer(Ctx *ctx, const ImpKernel *kernel);
/* Is there a number that does not, in some statement or of the launch? `where`: the statement, or nowhere. */
bool imp_lost_number(const ImpKernel *kernel, Span *where);

#endif
