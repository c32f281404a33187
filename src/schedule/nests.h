/* A high-level program as a list of nests: docs/nests.md. */
#ifndef RISEC_SCHEDULE_NESTS_H
#define RISEC_SCHEDULE_NESTS_H

#include "ir/core.h"

typedef struct Nests Nests;

/* A sequence whose steps are lists of their own: repeatKernels(n, fun state step => list, start). */
typedef struct NestSteps {
    Nat n;
    CoreVar *state, *step;
    Nests *nests; /* of a step; the result is the next state */
    int n_arrays;
    CoreVar **arrays; /* that the list has for those of the state; numbers are arrays of one in it */
    Core *start;
} NestSteps;

/* An array and the term of an element. */
typedef struct Nest {
    CoreVar *var;   /* the array; without axes, the element itself */
    int n_axes;
    CoreVar **axes; /* indices, the outermost first; their types say how many there are */
    Core *element;  /* over the axes, the inputs and the nests before it; an array, where one
                       primitive makes it */
    Core *value;    /* the whole, where it is stored; else NULL */
    bool in_parts;  /* its element is the whole, written for its threads */
    bool kept;      /* it is stored: the program says so (toGlobal, nextKernel), or it is of rows */
    bool of_rows;   /* a kernel works it out with folds of its row, and a fold of all reads it */
    bool given;     /* it is a result, and a part of the tuples of `with` */
    const NestSteps *steps; /* of which the element is a group of launches; else NULL */
    const struct Nest *with; /* whose kernel computes it, too, and keeps it on chip; else NULL */
} Nest;

/* To store an element of an array, and to have it there, in reads of an element from memory. */
typedef struct StoreCost {
    double write, read;
    double launch; /* an element's part of it; 0 where it is not known how many elements there are */
} StoreCost;

/* What was decided of an array, and by which numbers. */
typedef struct NestChoice {
    const Nest *nest;
    const Nest *with;   /* as nest has it, once that is decided */
    bool inlined;       /* computed where it is read */
    bool whole;         /* a fold, or another primitive that kernels are made for: never inlined */
    bool by_one;        /* one thread goes through it in order, alone: it computes nothing again */
    bool too_long;      /* its term would grow without bound */
    double reads, cost; /* of an element; cost in reads from memory */
    int size;           /* reads and functions of an element */
    StoreCost stored;
    const Core *cond;   /* of two lists it is in the one for which this condition over sizes */
    bool holds;         /* holds, or does not; NULL: in both */
} NestChoice;
typedef VEC(NestChoice) NestChoices;
enum { NEST_MANY = 1000000000 }; /* reads of an element, or its cost: not known, or many */

typedef VEC(Nest *) NestList;

/* A list, and what comes after it: the result, or one of two lists by a condition over sizes. */
struct Nests {
    NestList list; /* each reads only those before it */
    Core *result;     /* the nests and inputs that it is read from; NULL: */
    Core *cond;
    Nests *then, *otherwise;
};

/* Does a term end with a product, or may it, that could become part of a sum? */
typedef bool (*EndsOpen)(const Core *term);
/* Ids of variables from *next_var on are fresh; raised. */
Nests *nests_of(Ctx *ctx, const CoreEntry *entry, EndsOpen ends_open, int *next_var);
/* The list of those that are stored; others are computed where they are read. What was decided of
 * each array is added to *said. */
Nests *nests_stored(Ctx *ctx, const CoreEntry *entry, const Nests *nests, EndsOpen ends_open,
                    int *next_var, NestChoices *said);
/* The term, which is evaluated so many times, with the arrays of a list computed where it reads them;
 * NULL where that would compute something much oftener than once. */
Core *nests_inlined(Ctx *ctx, const CoreEntry *entry, const Nests *nests, Core *term,
                    Nat evaluated, EndsOpen ends_open, int *next_var);
/* The sequence with this list for a step. */
Core *nests_repeated(Ctx *ctx, const NestSteps *steps, const Nests *step, int *next_var);
/* As the body of an entry, which is of this type: each nest a `let` of `generate`s. */
Core *nests_body(Ctx *ctx, const Nests *nests, Type type);

/* ---- by_hand.c ---- */

/* Is the array computed by one kernel that the user lowered by hand, or by one of several, as sizes choose? */
bool term_is_by_hand(const Core *term);

#endif
