/* Elements in another order of their axes: permute.c by transpositions of matrices, boxes.c by
 * boxes that pass through shared memory. */
#ifndef RISEC_SCHEDULE_PERMUTE_H
#define RISEC_SCHEDULE_PERMUTE_H

#include "schedule/axes.h"
#include "schedule/nests.h"

typedef struct Permute {
    Ctx *ctx;
    const CoreEntry *entry;
    const Nest *nest;
    int *next_var;
    int memory[MOST_AXES], n_memory; /* the axes of what is read, as they lie there */
} Permute;

/* The array over axes that go this way, by the axes of the result. */
Core *in_order_of_result(const Permute *p, int *axes, Core *all);
/* Are there sizes for which boxes are small enough? */
bool has_boxes(const Permute *p);
/* By boxes where sizes allow it, element by element where the array is small, and otherwise this
 * term. It is this term alone where no box can be small enough, or the array is known to be small. */
Core *in_boxes(const Permute *p, Core *otherwise);

#endif
