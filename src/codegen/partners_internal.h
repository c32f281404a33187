/* What partners.c and own_parts.c share: the accesses of a kernel to an input and a result, and where they stand. */
#ifndef RISEC_CODEGEN_PARTNERS_INTERNAL_H
#define RISEC_CODEGEN_PARTNERS_INTERNAL_H

#include "codegen/partners.h"

enum { MAX_NESTING = 48, MAX_LOOPS = 16, MAX_CONDS = 32, MAX_FIXED = 4, MAX_COPIES = 64, MAX_MATCHES = 1 << 14 };

/* Where an access stands: the lists around it, outermost first, and the statement of each. */
typedef struct Spot {
    Nat index;
    int cells, depth;
    int n_fixed; /* loop variables, and the trip of each: loops with few trips count as written out */
    Nat fixed[MAX_FIXED], trip[MAX_FIXED];
    const ImpBlock *lists[MAX_NESTING];
    int pos[MAX_NESTING];
    int n_conds; /* of expressions around it, in the last statement */
    struct Cond {
        const ImpExpr *cond;
        bool negated;
    } conds[MAX_CONDS];
} Spot;

typedef struct Cond Cond;
typedef VEC(Spot *) Spots;

typedef struct Look {
    Ctx *ctx;
    const ImpKernel *kernel;
    const ImpBuf *result, *input;
    int n_names; /* of indices, and what they stand for */
    Nat *names, *values;
    int n_loops; /* their variables */
    const Nat *loops;
    Spots reads, writes;
    Spot here;
    int grid_sync; /* the first one, among the kernel's own statements; -1: none */
    bool shared;   /* both are of each block: its blocks need not be told apart */
    OneMemory found;
} Look;

/* The loops and conditions from list number `from` down to an access, outermost first. */
typedef struct Path {
    int n_loops, n_conds;
    const ImpStmt *loops[MAX_LOOPS];
    Cond conds[MAX_CONDS];
} Path;

/* The loops and conditions from list number `from` down to an access; false: there are too many. */
bool partners_path(const Spot *spot, int from, Path *path);
/* The number with what the names in it stand for. */
Nat partners_spelled(const Look *look, Nat nat);
/* Made of sizes, ids and loop variables alone: it has one value wherever it stands in their scope. */
bool partners_is_steady(const Look *look, Nat nat);
/* A size of the entry, of the device or of the grid. */
bool partners_is_size(const ImpKernel *kernel, Nat var);
/* Does each block read and store to cells of its own, with a barrier between? */
bool blocks_have_parts(const Look *look);

#endif
