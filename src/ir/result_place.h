/* Where an array that kernels store stands among the results, so that they write it there. */
#ifndef RISEC_IR_RESULT_PLACE_H
#define RISEC_IR_RESULT_PLACE_H

#include "ir/core.h"

/* The results that it consists of, if it is a tuple or zip; else none. */
int result_items(const Core *term, Core ***items);

/* Is it the join of an array's rows, or of those of each of its elements? */
bool result_is_joined(const Core *term);
/* These, or the array whose rows are joined. */
int result_parts(const Core *term, Core ***items);
void result_set_part(Core *term, int i, Core *part);

/* The way to it: components of tuples and zips, the outermost first; then, if it is an array of one
 * whose element is the result, PLACE_OF_ONE. An array of tuples may have a place for each component
 * instead, or for some: the others are stored elsewhere. */
enum { PLACE_OF_ONE = -1 };
typedef struct ResultPlace {
    VEC(int) path;
    int n_parts; /* 0: it has one place */
    struct ResultPlace *parts;
    bool elsewhere; /* of a part: it is no result */
} ResultPlace;

/* The first place where the array is a result of `rest`, as it is: the same one in all branches, and
 * in what nextKernel goes on with. If there is none, the first places of its components. False: there
 * are none. */
bool result_place(Ctx *ctx, const Core *rest, const CoreVar *array, ResultPlace *place);
bool result_place_same(const ResultPlace *a, const ResultPlace *b);
/* Does the term compute what it gives, so that it can be written anywhere? Else it is what stands in
 * memory, looked at in some way, or a state that launches leave in one of two places. */
bool result_is_made(const Core *value);

typedef struct ResultRead { /* what a term is of an array */
    const Core *array; /* a variable */
    int component; /* of its elements; WHOLE_ELEMENT: all */
    bool of_one;   /* the element of an array of one, or its component */
} ResultRead;
enum { WHOLE_ELEMENT = -1 };
/* Is the term an array or a value, a component of all its elements, or the like of an array of one? */
bool result_read(const Core *term, ResultRead *read);

#endif
