/* What the files that make a list of nests share.
 *
 * Note [Places]
 * The place of a term is a stack: axes that are open, conditions that hold, and indices that are
 * data. A nest that is made there has the axes that it mentions. The conditions stand around its
 * element, in their order, with the indices that they or the element mention; an axis that it does
 * not mention has at least one element, unless the reads are in bounds without that.
 *
 * Note [Sequences]
 * A sequence has arrays as state. Its step is evaluated as the body of a map over the steps is, with a
 * variable for each array of the state. A nest that does not depend on the state has an element for
 * each step, and is of the list around. Others are of the sequence's own list: of one sequence for all
 * elements of the axes around, which are axes of its state, too; but in the step of another one, of the
 * sequence that stands there. */
#ifndef RISEC_SCHEDULE_BUILD_H
#define RISEC_SCHEDULE_BUILD_H

#include "schedule/nests.h"
#include "schedule/value.h"

typedef enum PlaceKind { PLACE_AXIS, PLACE_GUARD, PLACE_INDEX } PlaceKind;

typedef struct Place {
    PlaceKind kind;
    CoreVar *var;    /* axis, index */
    Core *term;      /* guard: the condition; index: its value */
    NatFacts *outer; /* what is known around it */
} Place;

typedef struct Reads { /* of a variable */
    int n;
    int functions; /* around where it gets its value */
} Reads;

typedef struct Sequence { /* whose step is evaluated */
    int places;    /* outside of it, whose axes its nests do not have */
    int from, to;  /* places of the step's number */
    Nests *nests;  /* that depend on its state */
} Sequence;

typedef struct Build {
    Values v; /* v.facts: of the place */
    Ctx *ctx;
    NatFacts *known; /* of the entry */
    Nests *nests;
    VEC(Sequence) sequences; /* the innermost last */
    Table depth_of;   /* variables of a state, and nests that depend on one: of how many sequences */
    EndsOpen ends_open;
    const CoreEntry *entry;
    VEC(Place) places;
    VEC(Value *) env;  /* by id of the variable */
    VEC(Reads) reads;  /* the same */
    Table of_nat;     /* from a variable of nats to its place, counted from 1 */
    Table by_key;     /* of nests, by core_key */
    TermCopy copy;    /* nats that have become others, and terms for variables */
    VEC(Core *) arrays; /* `let`s without a body: arrays around the primitive that is copied */
    int next_var;
    bool ragged; /* a length has no bound that is known: the map around is one nest */
} Build;

/* ---- places.c ---- */
void place_push(Build *b, PlaceKind kind, CoreVar *var, Core *term);
/* Back to how many there were; the value keeps the indices that it mentions. */
Value *place_pop(Build *b, int n, Value *value);
/* Opens an axis over so many elements: where that depends on the place, over at most so many, under
 * the condition that the index is below. */
CoreVar *open_axis(Build *b, const char *name, Nat length, Span span);
/* Read from memory or known: nothing is computed. */
bool is_read(const Core *term);
/* The array of a nest, closed. */
Core *close_nest(Ctx *ctx, const Nest *nest);
/* What the term is at this place, as a nest; gives what reads it here. */
Core *nest_of(Build *b, Core *element, const char *name);
/* What has a value at this place without its conditions, under them: else 0. */
Core *guarded_here(Build *b, Core *element);
/* The nest of a term that is the same at all places. */
Core *nest_of_all(Build *b, Core *element, const char *name);
/* Is it the same at all places? */
bool nat_of_all(Build *b, Nat nat);
/* Leaves out what nothing reads. */
void nests_drop_unread(Build *b, Nests *nests);
/* Forgets the nests from number n on of the outermost list. */
void nests_forget(Build *b, int n);

/* ---- build.c ---- */

typedef struct Mark {
    int places, nats;
} Mark;

Mark mark_here(const Build *b);
Value *back_to(Build *b, Mark mark, Value *value);
Value *build_value(Build *b, const Core *term, const char *name);
/* Gives a variable its value. */
void build_bind(Build *b, CoreVar *var, Value *value);
bool holds_index(Type type);
/* An array of the list, in which it is computed. */
Value *build_copied(Build *b, const Value *value, const char *name);

/* ---- results.c ---- */

/* The value as results of this type, each an array of the list or an input. */
Core *build_results(Build *b, Value *value, Type type);

/* ---- sequence.c ---- */

/* A sequence whose state has arrays; NULL where it stays as it is. */
Value *eval_sequence(Build *b, const Core *term, const char *name);

#endif

