/* Vectors that the text writes in ways of its own: those at the end of an array, and those that are
 * set component by component. Private to src/codegen. */
#ifndef RISEC_CODEGEN_TAILS_H
#define RISEC_CODEGEN_TAILS_H

#include "codegen/imp.h"

/* The cells start + i, start + i + 1, ... of buf, as far as i, i + 1, ... are below end. */
typedef struct Tail {
    ImpBuf *buf;
    Nat start, i, end;
} Tail;

/* Does the statement give a vector these? Its last value is what the others get. */
bool tail_find(Ctx *ctx, const ImpStmt *stmt, Tail *tail);

/* A vector that gets all cells under a condition, or else those that are there. */
typedef struct AllOrFewer {
    const ImpStmt *all, *fewer; /* VLOAD, VSET */
    Tail tail;
} AllOrFewer;

bool tail_find_both(Ctx *ctx, const ImpStmt *stmt, AllOrFewer *found);

/* Is a vector register set one component after the other? Then no value reads a component other
 * than its own, and one does read that. */
bool tail_by_component(const ImpStmt *vset);

#endif
