/* What a term asks for of an array: for counting reads. */
#ifndef RISEC_SCHEDULE_ASKED_H
#define RISEC_SCHEDULE_ASKED_H

#include "ir/core.h"

/* So many indices of each of the first dimensions, and all of those that are left. Of tuples, the
 * component that the path leads to: dimensions count on in it. */
typedef struct Asked {
    int n, n_path;
    const Nat *dims;
    const int *path;
} Asked;

/* What each of the things that are asked for is. */
Type asked_type(Type type, Asked asked);
/* How many elements of an array in memory; `scalars`: none of those that are arrays. A tuple of
 * scalars is one. */
Nat asked_elements(Ctx *ctx, Type type, Asked asked, bool scalars);

/* With n dimensions, at least. */
Asked asked_dims(Ctx *ctx, Type type, Asked asked, int n);
/* With n dimensions, a and b, instead of the first `drop`. */
Asked asked_first(Ctx *ctx, Asked asked, int drop, int n, Nat a, Nat b);
/* Of the component. */
Asked asked_component(Ctx *ctx, Asked asked, int component);
/* Of the tuple's component that the path begins with. */
Asked asked_below(Asked asked);

#endif
