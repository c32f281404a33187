/* Folds over several axes, as sums of axes times strides: see axes.c. */
#ifndef RISEC_SCHEDULE_AXES_H
#define RISEC_SCHEDULE_AXES_H

#include "schedule/nests.h"

enum { MOST_AXES = 8 };

typedef struct Axis {
    CoreVar *var;
    bool folded;
    int first, n; /* of the parts that were merged */
} Axis;

typedef struct MemoryRead {
    const Core *term;
    Nat flat;
    Nat strides[MOST_AXES]; /* by axis */
    int order[MOST_AXES], n; /* the axes that it has, as they lie in memory */
} MemoryRead;

typedef struct Axes {
    Ctx *ctx;
    const CoreEntry *entry;
    int *next_var;
    int n; /* kept ones, then folded ones, each in the order of the result and of the fold */
    Axis list[MOST_AXES];
    int n_parts; /* before they were merged */
    Axis parts[MOST_AXES];
    CoreVar *folded; /* the axis of the fold, as it was */
    Core *element;   /* over the axes, as they were */
    VEC(MemoryRead) reads;
    bool named;         /* arrays by other dimensions are variables, */
    VEC(Core *) arrays; /* which these `let`s give */
    bool odd;         /* a read is of another form */
    Nat some;         /* what has to be 1 at least, as something is split by its factors */
} Axes;

/* The axes of a fold, merged where they lie beside each other in memory. False: its reads are of another form, or it has nothing but the axes of the nest. */
bool axes_of_fold(Axes *a, const Nest *nest);
/* The read of all axes, in whose order the others go. NULL: there is none. */
const MemoryRead *axes_widest(const Axes *a);
/* The axes of elements, merged in the same way. False: a read is of another form. */
bool axes_of_elements(Axes *a, const Nest *nest);
/* The nest by the axes that are left, as `term_of` has an array over them. NULL: it has none. */
Core *by_merged_axes(Axes *a, const Nest *nest, Core *(*term_of)(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int *next_var));

#endif
