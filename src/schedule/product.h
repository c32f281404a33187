#ifndef RISEC_SCHEDULE_PRODUCT_H
#define RISEC_SCHEDULE_PRODUCT_H

#include "schedule/nests.h"

/* The array of a nest that is a fold, as a product of matrices, or as products of many; with `then`, the array of that nest, whose elements are made of those of the
 * product at their own indices. NULL: it is no product. */
Core *product_term(Ctx *ctx, const CoreEntry *entry, const Nest *nest, const Nest *then, int *next_var);

#endif
