/* The index maps of views (prims.def): from an element's indices in a view to those in what it is a view of. */
#ifndef RISEC_IR_INDEX_MAP_H
#define RISEC_IR_INDEX_MAP_H

#include "ir/nat.h"
#include "ir/prim.h"

enum { INDEX_MAP_RANK = 4 /* indices on either side, at most */ };

/* The condition of a map that writes: a < b, or a <= b. a is NULL where there is none. */
typedef struct IndexBound {
    Nat a, b;
    bool strict;
} IndexBound;

/* How many indices of the view a map takes; 0 also where the primitive has none. */
int index_map_rank(PrimId prim, bool write);
/* `nats`: the primitive's. Fills out[INDEX_MAP_RANK], and gives how many there are. */
int index_map_apply(Ctx *ctx, const NatFacts *facts, PrimId prim, bool write, const Nat *nats, const Nat *in, Nat *out, IndexBound *bound);

#endif
