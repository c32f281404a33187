/* What together.c and its loads share. Private to these two. */
#ifndef RISEC_CODEGEN_TOGETHER_H
#define RISEC_CODEGEN_TOGETHER_H

#include "codegen/lowering.h"

/* Cells that are loaded already. */
typedef struct Access {
    const ImpExpr *first, *all;
    ImpExpr *guards[IMP_VECTOR_MAX], *others[IMP_VECTOR_MAX]; /* of a guarded one */
    ImpVar *var;
    ImpStmt *choice; /* that asks whether all guards hold; NULL: nothing does */
} Access;

/* What is evaluated under guards: an expression, or else statements. */
typedef struct Evaluated {
    ImpExpr **expr;
    ImpBlock *block;
} Evaluated;

struct Places;
typedef struct Guarding { /* guards around what is looked at, and the first that is evaluated there */
    const struct Places *places;
    int from;
} Guarding;

typedef struct Together {
    Lowering *lw;
    Ctx *ctx;
    int n;           /* expressions, at most LIMIT_VECTOR_WIDTH */
    const char *name;
    Span span;
    ImpBlock loads;  /* what is put before the expressions, and before what was emitted for them */
    VEC(Access) accesses;
    NatFacts *facts; /* where the loads are put: there guards around an expression say nothing */
    int from;        /* statements of lw->out emitted for them; -1: none that may be changed */
    int sometimes;   /* what is looked at now is behind so many conditions over data */
    VEC(ImpExpr **) exprs;  /* all of them */
    VEC(Evaluated) under;   /* guards: parts of them, and of the statements that give registers their values */
    VEC(Guarding) guarding; /* the innermost last */
    const ScalarValue *pad; /* what loads give where guards do not hold, if nobody says it; NULL: 0 */
} Together;

/* The same place in each expression, and what holds where it is evaluated (NULL: always). */
typedef struct Places {
    ImpExpr **at[LIMIT_VECTOR_WIDTH];
    ImpExpr *guard[LIMIT_VECTOR_WIDTH];
} Places;

typedef struct Conjuncts {
    VEC(ImpExpr *) list;
    bool indices; /* all compare indices, which may be asked anywhere */
    int safe;     /* how many of them cannot divide by 0: the first ones */
} Conjuncts;

/* Both of two guards; NULL: always. */
ImpExpr *both_hold(Ctx *ctx, ImpExpr *a, ImpExpr *b);
void add_conjuncts(Ctx *ctx, Conjuncts *c, ImpExpr *cond);
/* What says that all of n guards hold (NULL: one that always does), without what follows from
 * the rest of it; NULL where a guard asks for data, or none is there. */
ImpExpr *all_hold(Lowering *lw, ImpExpr *const *guards, int n);
/* All places load. `whole`: the guarded expressions around them, with these values otherwise;
 * NULL: what the loads give without their guards matters not. */
void join_loads(Together *t, const Places *p, ImpExpr **const *whole, ImpExpr *const *otherwise);
/* Afterwards: cells that one load has are read from it, and not loaded once more. */
void share_loads(Together *t);

/* ---- together_guards.c ---- */

/* Begins with what is evaluated only under guards: parts of what is looked at here. */
void guards_begin(Together *t, const Places *inside);
/* Begins with the values of the registers at p, some of which are set on both sides of an `if`: what
 * else that evaluates is under the guards around alone. */
void values_begin(Together *t, const Places *p, const Places *values, ImpStmt *const *choices);
void guards_end(Together *t);
/* The guard of all that reads a register: that of place k, unless something else reads it, too, and must
 * find it loaded. False: there is none that says where it gets its value. */
bool guard_of_readers(const Together *t, const ImpVar *var, int k, ImpExpr **guard);

/* ---- together_pads.c ---- */

/* A guarded value: an expression with a condition, or else a register that an `if` of lw->out sets on
 * both sides. */
typedef struct Guarded {
    ImpExpr **at;
    ImpStmt *choice;
} Guarded;

/* What a condition says of indices alone, of what has to hold. NULL: nothing. */
ImpExpr *index_part(Ctx *ctx, ImpExpr *cond);
/* Before the loads inside of guards are joined: finds what they are padded with, into *pad. Gives what
 * end_guarded wants. */
const ScalarValue *begin_guarded(Together *t, const Guarded *g, int n, ScalarValue *pad);
/* Takes guards away where the values are right with the padding of the loads, which are joined. */
void end_guarded(Together *t, const Guarded *g, int n, const ScalarValue *before);

#endif
