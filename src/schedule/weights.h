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

typedef const Nest *(*FindNest)(void *user, const CoreVar *array);

/* The array of the nest as sums of values with weights exp(score), where the scores are a product of matrices; NULL: it is none. `from`: arrays before it that
 * it is made of, if nothing else reads them. */
Core *weighted_term(Ctx *ctx, const CoreEntry *entry, const Nest *nest, FindNest find, void *user, Weighted *from, int *next_var);
/* The same of an array over one axis, of what is made of folds of the rows of a product, which are never stored. */
Core *folded_term(Ctx *ctx, const CoreEntry *entry, const Nest *nest, FindNest find, void *user, Weighted *from, int *next_var);

#endif
