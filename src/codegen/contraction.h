/* Which products of an entry may be joined with a sum, and which not. */
#ifndef RISEC_CODEGEN_CONTRACTION_H
#define RISEC_CODEGEN_CONTRACTION_H

#include "ir/core.h"

/* The entry with PrimOptions.rounded on each product of f32 or f64 that is used more than once or computed in several places; on all where it is `exact`. */
const CoreEntry *rounded_products(Ctx *ctx, const CoreEntry *entry);
/* Before strategies: only on those of views that stand in several places, which they may change in one of them. */
const CoreEntry *rounded_copies(Ctx *ctx, const CoreEntry *entry);

#endif
