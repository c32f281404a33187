/* How many neighbours of an array 16 bytes hold. */
#ifndef RISEC_IR_NEIGHBOURS_H
#define RISEC_IR_NEIGHBOURS_H

#include "ir/core.h"

/* So many elements of the array, one after the other, take 16 bytes of the widest of the arrays that they are read from. At least 1. */
int core_neighbours(Ctx *ctx, const Core *array);
/* Is it, in the last two dimensions, the transposition of an array? */
bool core_is_across(const Core *array);

#endif
