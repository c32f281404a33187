#ifndef RISEC_SCHEDULE_SHAPE_H
#define RISEC_SCHEDULE_SHAPE_H

#include "ir/terms.h"
#include "schedule/nests.h"

/* The array of a nest, as the library's rules know it. */
Core *stage_term(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int *next_var);

/* The same; NULL where they know none of its form. */
Core *known_term(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int *next_var);

/* Gives each array of the list its value; of those that are read once for each row, the reader takes
 * them in, and results are values themselves. */
void nests_valued(Ctx *ctx, const CoreEntry *entry, Nests *nests, int *next_var);
/* The last of n arrays, of which each has row i by row i of those before it and of one matrix alone,
 * and which nothing else reads; NULL where they are not of this form. */
Core *rows_program(Ctx *ctx, int n, Nest *const *nests, int *next_var);

#endif
