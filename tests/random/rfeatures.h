/* What a high-level program has, found in the terms that the compiler reads, not in what the generator meant. */
#ifndef RISEC_TESTS_RFEATURES_H
#define RISEC_TESTS_RFEATURES_H

#include "ir/core.h"

typedef enum Feature {
    FEATURE_SHARED,   /* a `let` of an array that is computed, with two readers or more that compute */
    FEATURE_RANK3,    /* an element for three axes */
    FEATURE_IF_SIZES, /* an array by a condition over sizes */
    FEATURE_IF_DATA,  /* an array by a condition over data */
    FEATURE_RESULTS,  /* several results */
    FEATURE_STATE,    /* a sequence whose state has arrays */
    FEATURE_AXIS_0,   /* in a launch: something computes over an axis of 0 */
    FEATURE_AXIS_1,   /* of 1 */
    FEATURES
} Feature;
extern const char *const feature_names[FEATURES];

/* A bit for each feature. `sizes` are those of a launch, in the order of the entry; NULL: without
 * features of launches. */
unsigned features_of(const CoreEntry *entry, const int64_t *sizes);

#endif
