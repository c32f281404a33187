/* What passes must keep: see imp_verify.c. Private to src/codegen. */
#ifndef RISEC_CODEGEN_IMP_VERIFY_H
#define RISEC_CODEGEN_IMP_VERIFY_H

#include "codegen/imp.h"

/* What is wrong with the kernel, in words, and the statement that is; NULL: nothing. */
const char *imp_verify(Ctx *ctx, const ImpKernel *kernel, Span *where);
/* imp_writers.c, as imp_verify: of who gets to a statement. */
/* What it says of a shuffle: the parts of a warp may go different ways (mapWarp[lanes = k]), and then the program is at fault, not risec. */
extern const char imp_lost_lanes[];
const char *imp_writers_fault(Ctx *ctx, const ImpKernel *kernel, Span *where);
/* imp_types.c: what is wrong with the types of the expression itself, or of the statement's own operands; NULL: nothing. */
const char *imp_expr_fault(Ctx *ctx, const ImpExpr *e);
const char *imp_stmt_fault(Ctx *ctx, const ImpStmt *s);
/* A buffer whose cells, bytes or place do not fit into 64 bits; NULL: none. */
const ImpBuf *imp_lost_buffer(Ctx *ctx, const ImpKernel *kernel);
/* Is there a number that does not, in some statement or of the launch? `where`: the statement, or nowhere. */
bool imp_lost_number(const ImpKernel *kernel, Span *where);

#endif
