/* Comparisons of quotients, without a division. Private to src/codegen. */
#ifndef RISEC_CODEGEN_QUOTIENTS_H
#define RISEC_CODEGEN_QUOTIENTS_H

#include "codegen/lowering.h"

typedef struct Quotients Quotients;

/* The quotients by sizes that comparisons of the statements mention. */
Quotients *quotients_compared(Ctx *ctx, ImpBlock *body);
/* `k + i/m < n` as `i < (n - k)*m`, if only comparisons mention the quotient, and some buffer has so many cells; else e itself. */
ImpExpr *without_quotient(Lowering *lw, ImpExpr *e);

#endif
