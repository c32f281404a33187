/* How large an index can be: what index_guards.c finds on its way through a kernel, and what
 * index_bounds.c makes of it. Private to these. */
#ifndef RISEC_CODEGEN_INDEX_BOUNDS_H
#define RISEC_CODEGEN_INDEX_BOUNDS_H

#include "codegen/index_guards.h"

typedef struct Bounds {
    Ctx *ctx;
    const ImpKernel *kernel;
    NatFacts *known; /* the entry's facts */
    NatFacts *facts; /* these, and the guards so far */
    bool element;    /* the nat is about an element: an index, or what is computed with it */
    NatFacts *here;  /* these, and that the loops around are not empty */
    IndexGuards *guards;
    Table done;       /* looked at before: what follows from the facts then does so later */
    VEC(Nat) vars;    /* loop variables met so far, and of how much each stays below or at; sums of them that conditions around bound */
    VEC(Nat) most;
    VEC(Nat) ends;    /* beside vars: where the loop ends, or what the condition compares with */
    VEC(const ImpStmt *) bools; /* declarations of conditions with a name */
    VEC(Nat) names;   /* index parts with a name, and what they stand for */
    VEC(Nat) meant;
} Bounds;

bool index_not_negative(Bounds *b, Nat nat);
/* The most that a nat which is never negative can be; over the sizes it is what it is. */
Nat index_highest(Bounds *b, Nat nat);
/* At least |nat|, over the sizes; guards what is computed on the way. */
Nat index_bound(Bounds *b, Nat nat);
/* Adds the condition that the number fits an int, unless others imply it. */
void index_guard(Bounds *b, Nat nat);

#endif
