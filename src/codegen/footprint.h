/* Footprints: which thread of a block touches which cells of a buffer, by one access of the program.
 *
 * Exact where an index depends on thread ids and on loops with constant bounds, by going through all of them; where it depends on something else
 * as well, that part must be the same on both sides of a comparison, or the worst is assumed. */
#ifndef RISEC_CODEGEN_FOOTPRINT_H
#define RISEC_CODEGEN_FOOTPRINT_H

#include "codegen/lowering.h"
#include "codegen/walk.h"

/* The loops and conditions around an access, innermost first. */
typedef struct Scope {
    const struct Scope *parent;
    int depth;               /* 1 for the outermost */
    const ImpStmt *loop;     /* a loop, or */
    const ImpExpr *cond;     /* a condition that holds */
    bool negated;            /* it does not */
    bool last;               /* the condition that this is the last block */
    bool uniform;            /* a loop whose bounds, or an `if` whose condition, is the same for all threads of the block */
} Scope;

typedef struct Footprint Footprint;
typedef struct Access {
    const ImpBuf *buf;
    bool write;
    bool atomic;       /* a write that others of its kind may meet */
    bool release;      /* none at all: what happened before in the block's memory of the grid must be ordered before it */
    Nat index;
    Span span;
    const Scope *scope;
    const ImpStmt *of; /* the store of one cell, or of a vector's cells, that writes it; NULL: none does */
    Footprint **cache; /* by number of scopes that stand still */
    bool unordered;    /* a store whose meeting itself in a cell is the program's wish */
    int id;
    struct Access *lasts;      /* a list of copies: the access as it is after the last iteration of a loop */
    const ImpStmt *last_of;    /* of such a copy: the loop */
    struct Access *next;       /* of such a copy: the next one in the list */
    VEC(signed char) met; /* conflicts found before: by still (up to MET_DEPTHS) and the other's id; 0 not yet, else Conflict + 1 */
} Access;

enum { MET_DEPTHS = 4 };
typedef enum Conflict { CONFLICT_NONE, CONFLICT_WARP, CONFLICT_BLOCK } Conflict;

/* Whether two different threads may touch one cell by these accesses, at least one of them a write; CONFLICT_WARP: only threads of one warp. `still`:
 * the outermost so many scopes, common to both, are in the same iteration. */
Conflict access_conflict(Lowering *lw, Access *a, Access *b, int still);
/* owner.c: what two accesses of one buffer that meet in a cell have in common, whatever the cell: their block, their warp, the thread. */
typedef enum Owner { OWNER_UNKNOWN, OWNER_BLOCK, OWNER_WARP, OWNER_THREAD } Owner;
Owner access_owner(Lowering *lw, const Access *a, const Access *b);
/* For toShared[inPlace]. Both go through the accesses in their threads' own order, with the outermost `still` scopes in one iteration; false when the
 * cells cannot be told.
 * True when each cell that both touch is read by one thread alone, the one that writes it, and there no later than it is written; a pass through
 * the `common` scopes that they share reads before it writes. */
bool footprint_read_first(Lowering *lw, Access *read, Access *write, int still, int common);
/* True when no cell is touched twice: by both accesses, or by one of them (they may be the same). */
bool footprint_apart(Lowering *lw, Access *a, Access *b, int still);
int scope_depth(const Scope *scope);
const Scope *scope_at(const Scope *scope, int depth);

#endif
