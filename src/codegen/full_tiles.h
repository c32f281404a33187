/* Full tiles (pass tiles): a loop whose `spared` conditions all hold where loop.full does.
 *
 * The conditions mean what they say with or without the mark, so that passes and the guards of indices need not know of it. The printer writes the body once,
 * as a function of `full`, and CUDA's compiler makes two codes of it. The simulator runs what these are. */
#ifndef RISEC_CODEGEN_FULL_TILES_H
#define RISEC_CODEGEN_FULL_TILES_H

#include "codegen/lowering.h"

/* Takes the spared conditions out, of which all hold. */
void tile_without_guards(Ctx *ctx, ImpBlock *block);
/* if (full) the loop without its spared conditions; else the loop. */
ImpStmt *tile_full_or_not(Ctx *ctx, const ImpStmt *loop);

/* loads_first.c: makes statement i of the block, if it is a loop that is full or not, two: one that loads all of the tile, and one that uses it.
 * How many statements are new. */
int tile_loads_first(Lowering *lw, ImpBlock *block, int i);

#endif
