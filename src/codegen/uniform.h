/* Which values are the same in all threads of a block, or of a warp. Private to src/codegen. */
#ifndef RISEC_CODEGEN_UNIFORM_H
#define RISEC_CODEGEN_UNIFORM_H

#include "codegen/lowering.h"

enum { SAME_IN_WARP = 1, SAME_IN_BLOCK = 2, SAME_EVERYWHERE = SAME_IN_WARP | SAME_IN_BLOCK }; /* bits; a block's is a warp's, too */

/* Loops around a place, innermost first: a loop's variable is the same where its bounds are. */
typedef struct LoopSame {
    const struct LoopSame *parent;
    Nat var;
    int same;
} LoopSame;

typedef struct Uniform {
    Lowering *lw;
    unsigned char *vars; /* by ImpVar.id */
    Table by_nat;        /* the register that indices mention by a nat variable */
} Uniform;

/* Looks through the whole kernel. Requires: accesses by different threads of which one is a write are ordered, or will be by barriers that come to stand
 * where all threads of the block get: then threads that load one cell in step get one value. */
Uniform uniform_of(Lowering *lw);
int uniform_nat(const Uniform *u, const LoopSame *loops, Nat nat);
int uniform_expr(const Uniform *u, const LoopSame *loops, const ImpExpr *e);
int uniform_loop(const Uniform *u, const LoopSame *loops, const ImpStmt *loop); /* its bounds */

#endif
