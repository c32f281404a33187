/* The state of sequential patterns: where accumulators lie, and steps that change them. Private to src/codegen.
 *
 * Note [State]. An accumulator with arrays in it lies where its start is stored: toPrivate, toShared or toGlobal. Each step is translated to compute the
 * next state beside the present one; then, component by component, it is changed to work in place where that keeps every value (Note [In place]). Where it
 * does not, registers are copied at the end of the step, and memory is doubled: even steps read the first half and write the second. */
#ifndef RISEC_CODEGEN_SEQUENCES_H
#define RISEC_CODEGEN_SEQUENCES_H

#include "codegen/lowering.h"

/* The registers or the buffer of one component. */
typedef struct StatePlace {
    ImpVar *var;
    ImpBuf *buf;
    const View *view; /* VIEW_REG or VIEW_BUF */
} StatePlace;

/* A component of the present state, and of the next one. */
typedef struct StateLeaf {
    StatePlace now, next;
} StateLeaf;

typedef struct StateLeaves {
    VEC(StateLeaf) list;
} StateLeaves;

/* ---- state.c ------------------------------------------------------------------------------------------------------------ */

/* Is the view registers or memory, seen through views that have all their cells in it? */
bool view_is_place(const View *view);
/* The start of an accumulator for `fold` (a primitive whose arguments are a function, the start and an array), in a place of its own. `into`: registers
 * that it may lie in, or NULL. An error view when it cannot lie anywhere (diagnosed). */
View *state_start(Lowering *lw, const Core *fold, View *into);
/* New places like those of `state`, in the same memory. */
View *state_like(Lowering *lw, View *state, StateLeaves *leaves);
/* The state with one component's registers exchanged for the next ones; with a buffer's cells `by` further on. */
View *state_replace(Lowering *lw, View *state, const StateLeaf *leaf);
View *state_shift(Lowering *lw, View *state, const ImpBuf *buf, Nat by);
/* What component k of n of a function's state is called. */
const char *state_name(Lowering *lw, const Core *lambda, int k, int n);
/* Refuses a step that gives its elements to other threads than hold the state. */
bool state_check_owners(Lowering *lw, const Core *step, const View *state);
/* Copies registers to registers that are held in the same way; false when they are not. */
bool copy_registers(Lowering *lw, const View *from, const View *to, Span span);
/* Stores private values: every thread those that it holds. False when the view is not private. */
bool copy_private(Lowering *lw, View *from, View *acceptor, Span span);
/* Is the value of this term in a place that nothing else uses? */
bool core_is_fresh(Lowering *lw, const Core *term);
/* toPrivate, toShared or toGlobal, as the term itself says; P_COUNT when it does not. */
PrimId core_stored_by(Lowering *lw, const Core *term);

/* Every element of a register array of n moves one place down. */
void registers_rotate(Lowering *lw, const View *array, int64_t n, Span span);

/* ---- windows.c ------------------------------------------------------------------------------------------------------------- */

typedef struct KeptWindows {
    View *windows, *store;
} KeptWindows;
/* The array that a sequential pattern goes through, and the windows in it. */
typedef struct Windows {
    View *xs;
    VEC(KeptWindows) list;
} Windows;
bool windows_begin(Lowering *lw, View *xs, Windows *windows); /* false: diagnosed */
View *windows_at(Lowering *lw, const Windows *windows, Nat i); /* computes what is new in element i */
void windows_next(Lowering *lw, const Windows *windows, Nat i); /* after what reads element i */

/* ---- in_place.c ------------------------------------------------------------------------------------------------------------ */

/* May the step, translated into body, work in place? See Note [In place]. */
bool state_in_place(Lowering *lw, ImpBlock *body, const StateLeaf *leaf);
/* Cells of one half of memory that alternates, so that vector accesses to both stay aligned. */
Nat state_align_half(Lowering *lw, ImpBlock *body, const StateLeaf *leaf, Nat cells);
/* Lets the step use one place for both: it reads cells `now` further on and writes cells `next` further on (0 for registers). */
void state_share(Lowering *lw, ImpBlock *body, const StateLeaf *leaf, Nat now, Nat next);

#endif
