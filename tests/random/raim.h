/* Sizes for which a launch gets to the place of a planted fault and goes another way there than without it, as far as sizes decide. */
#ifndef RISEC_TESTS_RAIM_H
#define RISEC_TESTS_RAIM_H

#include "rmarks.h"
#include "rmutate.h"

typedef struct Aim {
    Ctx *ctx;
    const CoreEntry *entry;
    const ImpProgram *program;
    const Fault *fault;
    VEC(const ImpStmt *) path;     /* the loops and conditions around it, outer before inner */
    VEC(bool) otherwise;           /* in which branch */
    VEC(const ImpStmt *) names;    /* declarations of registers that nats mention */
    ImpExpr *root, *sound, *wrong; /* the condition in which something is changed, without and with the fault; NULL: none */
} Aim;

/* Before the fault is planted, and after. */
Aim aim_take(Ctx *ctx, const ImpProgram *program, const Fault *fault);
void aim_compare(Aim *aim);
/* Looks for sizes among those near the marks, for this grid (0: the default); false: found none. */
bool aim_sizes(Aim *aim, const Marks *marks, const int64_t grid[3], int64_t num_sm, uint64_t *state, int64_t *sizes);
/* Smaller sizes, one by one, for which the launch still does what aim_sizes looked for. */
void aim_shrink(Aim *aim, const Marks *marks, const int64_t grid[3], int64_t num_sm, uint64_t *state, int64_t *sizes);
/* Do these sizes satisfy what the entry states about them? */
bool aim_accepts(const CoreEntry *entry, const int64_t *sizes, int64_t num_sm);
/* May a launch with these sizes notice the fault? Tries some threads and trips, so that now and then it says no where it does. */
bool aim_meets(const Aim *aim, const int64_t *sizes, const int64_t grid[3], int64_t num_sm, uint64_t seed);

#endif
