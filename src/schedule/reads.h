/* How often a term reads the elements of the arrays that it mentions. */
#ifndef RISEC_SCHEDULE_READS_H
#define RISEC_SCHEDULE_READS_H

#include "ir/core.h"

typedef struct ArrayReads {
    const CoreVar *array;
    Nat uses;     /* how many elements the term asks for */
    bool at_most; /* conditions, paddings or lengths that depend on an index leave some out */
} ArrayReads;
typedef VEC(ArrayReads) ReadsOf;

/* Who computes a term. Threads that work together keep what `let` binds, and each function that uses a
 * scalar with a name reads it. A thread alone keeps scalars, and computes arrays with a name for each use.
 * WORK_VECTORS: a thread alone that loads vectors, even for elements whose condition does not hold. */
typedef enum TermWork { WORK_ALONE, WORK_VECTORS, WORK_TOGETHER } TermWork;

/* Of all that is free in the term, in the order in which it is met. */
void term_reads(Ctx *ctx, const NatFacts *known, const Core *term, TermWork work, ReadsOf *out);
/* How many elements an array has, in all dimensions; 1 of a scalar. */
Nat type_cells(Ctx *ctx, Type type);
/* The quotient, if it is one without remainder whatever the sizes are; else NULL. */
Nat nat_exact_quotient(Ctx *ctx, Nat a, Nat b);

#endif
