/* Which products and sums of an entry may be joined, and which not. */
#ifndef RISEC_CODEGEN_CONTRACTION_H
#define RISEC_CODEGEN_CONTRACTION_H

#include "ir/core.h"
#include "support/table.h"

/* The entry with PrimOptions.rounded on each product of f32 or f64 that is used more than once or computed in several places, and on the sums of library functions'
 * values that are; on all where it is `exact`. */
const CoreEntry *rounded_operations(Ctx *ctx, const CoreEntry *entry);
/* Before strategies: only on what views end with that stand in several places, which they may change in one of them. */
const CoreEntry *rounded_copies(Ctx *ctx, const CoreEntry *entry);

/* ---- for contraction*.c --------------------------------------------------------------------------------------------------- */

/* What is to be marked comes to `found`; a library function that is there has several uses. */
void contraction_find(Ctx *ctx, const CoreEntry *entry, Table *found);
/* The terms in a term; own: where they stand when it has no list of them. */
int contraction_parts(const Core *e, Core **own, Core *const **at);
/* A product or sum of f32 or f64. */
bool contraction_joins(const Core *e);
/* What ends with a product, or may: one of f32 or f64, a function of CUDA's library, a division by a constant. */
bool contraction_ends_open(const Core *e);

#endif
