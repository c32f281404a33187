/* Comparisons of sizes around elements, for the passes that make loops go without them. Private to src/codegen. */
#ifndef RISEC_CODEGEN_GUARDS_H
#define RISEC_CODEGEN_GUARDS_H

#include "codegen/lowering.h"

typedef struct Bound { /* a variable: first and last value, over what stands outside */
    Nat var, lo, hi;
} Bound;

/* L <= R as L - R, which is at most 0 where the comparison holds; NULL for other expressions. */
Nat guard_excess(Ctx *ctx, const ImpExpr *e);
/* Does the condition compare indices alone? */
bool asks_indices(const ImpExpr *cond);
/* The largest value of `nat` for var in [lo, hi], or more (of thread / 2 and the like its own bound is taken); NULL when the way in which it depends on var is not plain. */
Nat guard_largest(Ctx *ctx, const NatFacts *facts, Nat nat, const Bound *b);

typedef struct ThreadIds { /* that a nat mentions: of threads, warps and lanes */
    const ImpKernel *kernel;
    Nat found[5];
    int n;
} ThreadIds;
ThreadIds guard_thread_ids(Lowering *lw, Nat nat);

/* May the condition divide by 0 here? Then those before it keep it from that: it is no reason to drop them. */
bool may_divide_by_0(Lowering *lw, ImpExpr *cond);

#endif
