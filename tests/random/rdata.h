/* What the inputs of a launch hold, so that a fault in the kernel shows in its results. */
#ifndef RISEC_TESTS_RDATA_H
#define RISEC_TESTS_RDATA_H

#include "ir/interp.h"
#include "rmarks.h"

/* Beside small integers: numbers that differ, of any sign or all of one. Then a smallest and a largest one are in one place only, and no number that a
 * kernel makes up stands for none. Special: floats that a fold may start with, too; infinite: nothing else. Late: the smallest and the largest one are in many places, from
 * anywhere in the first half on. First, last: this element is the smallest or the largest. Fine: numbers of any magnitude, or all small, whose sums and products are rounded.
 * Sparse: mostly zeros. Edge: mostly one of the program's own numbers, or 1, with neighbours here and there. Both: or in one place only, the first or the last one of a tile rather than another. Alone: an infinity
 * or a number in one place, anywhere, among what no comparison picks, or the smallest or the largest here and there among small ones. None: no number at all. Ties: the largest or the smallest in
 * a few places, not further apart than what a block's warps look at together, among small ones or among what no comparison picks.
 * Peak: the largest or the smallest once in each row, or in all, in a place that moves evenly from one seed to the next. */
typedef enum Data { DATA_SMALL, DATA_WIDE, DATA_NEGATIVE, DATA_POSITIVE, DATA_SPECIAL, DATA_INFINITE, DATA_LATE, DATA_FIRST_LOW, DATA_FIRST_HIGH, DATA_LAST_LOW, DATA_LAST_HIGH, DATA_KINDS, DATA_FINE = DATA_KINDS, DATA_SPARSE, DATA_EDGE, DATA_ALONE, DATA_NONE, DATA_TIES, DATA_PEAK } Data;

/* Does the order in which blocks arrive decide bits? Then sums have to be exact. */
bool data_needs_exact_sums(ImpProgram *program);
/* Fills the inputs but those of indices and truth values. The same seed gives the same data. */
void data_fill(Ctx *ctx, const CoreEntry *entry, const Marks *marks, Data data, uint64_t seed, bool exact_sums, Launch *launch);

#endif
