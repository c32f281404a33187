/* A high-level program as a list of nests: docs/nests.md. */
#ifndef RISEC_SCHEDULE_NESTS_H
#define RISEC_SCHEDULE_NESTS_H

#include "ir/core.h"

/* An array and the term of an element. */
typedef struct Nest {
    CoreVar *var;   /* the array; without axes, the element itself */
    int n_axes;
    CoreVar **axes; /* indices, the outermost first; their types say how many there are */
    Core *element;  /* over the axes, the inputs and the nests before it; an array, where one
                       primitive makes it */
    Core *value;    /* the whole, where it is stored; else NULL */
} Nest;

/* A list, and what comes after it: the result, or one of two lists by a condition over sizes. */
typedef struct Nests Nests;
struct Nests {
    VEC(Nest *) list; /* each reads only those before it */
    Core *result;     /* the nests and inputs that it is read from; NULL: */
    Core *cond;
    Nests *then, *otherwise;
};

/* Does a term end with a product, or may it, that could become part of a sum? */
typedef bool (*EndsOpen)(const Core *term);
/* Ids of variables from *next_var on are fresh; raised. */
Nests *nests_of(Ctx *ctx, const CoreEntry *entry, EndsOpen ends_open, int *next_var);
/* The list of those that are stored; others are computed where they are read. */
Nests *nests_stored(Ctx *ctx, const CoreEntry *entry, const Nests *nests, EndsOpen ends_open,
                    int *next_var);
/* The term, which is evaluated so many times, with the arrays of a list computed where it reads them;
 * NULL where that would compute something much oftener than once. */
Core *nests_inlined(Ctx *ctx, const CoreEntry *entry, const Nests *nests, Core *term,
                    Nat evaluated, EndsOpen ends_open, int *next_var);
/* As the body of an entry: each nest a `let` of `generate`s. */
Core *nests_body(Ctx *ctx, const Nests *nests);

#endif
