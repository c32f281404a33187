#ifndef RISEC_SCHEDULE_WEIGHTS_H
#define RISEC_SCHEDULE_WEIGHTS_H

#include "schedule/nests.h"

enum { MOST_WEIGHTS = 8 };

/* The arrays that lead to weighted sums, as of attention: scores, what is largest in a row of them, weights, their totals, and sums. */
typedef struct Weighted {
    const Nest *nests[MOST_WEIGHTS];
    int n;
    int rows; /* axes that all of them have first */
} Weighted;

enum { MOST_ROW_VALUES = 2 };

/* Arrays of numbers of the same rows, which may be made of what is largest in a row and of the
 * total. */
typedef struct RowValues {
    const Nest **nests;
    int n;
} RowValues;

typedef const Nest *(*FindNest)(void *user, const CoreVar *array);

/* The array of the nest as sums of values with weights exp(score), where the scores are a product of matrices; NULL: it is none. `from`: arrays before it that
 * it is made of, if nothing else reads them. */
Core *weighted_term(Ctx *ctx, const CoreEntry *entry, const Nest *nest, FindNest find, void *user, Weighted *from, int *next_var);
/* The same with a number of each row for each of `values`, as an array of tuples. Those that are
 * made of something else are left out of `values`; NULL where none is left, or too many. */
Core *weighted_rows_term(Ctx *ctx, const CoreEntry *entry, const Nest *nest, RowValues *values,
                         FindNest find, void *user, Weighted *from, int *next_var);
/* The same of an array over one axis, of what is made of folds of the rows of a product, which are never stored. */
Core *folded_term(Ctx *ctx, const CoreEntry *entry, const Nest *nest, FindNest find, void *user, Weighted *from, int *next_var);

#endif
