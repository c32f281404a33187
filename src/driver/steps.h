/* `risec lower`: what its files share. cmd_lower.c is the verb, show_steps.c prints, verify_steps.c evaluates, count_steps.c simulates, save_steps.c keeps
 * steps in a file and reads them back. */
#ifndef RISEC_DRIVER_STEPS_H
#define RISEC_DRIVER_STEPS_H

#include "driver/driver.h"
#include "rewrite/rewrite.h"
#include "sim/counters.h"

enum { VERIFY_LAUNCHES = 8, VERIFY_CELLS = 1 << 14, VERIFY_STEPS = 1 << 23 };

typedef struct StepsVerified {
    uint64_t seed;
    int n_sizes, n_launches;
    int64_t *sizes[VERIFY_LAUNCHES]; /* of each launch that was tried, smaller ones first */
    bool rounded;                    /* floats were compared within a bound */
    int not_judged;                  /* so many programs took too long to evaluate */
} StepsVerified;

/* Evaluates the program before and after each step on random inputs of several small sizes. False with E0806, which names the first step that changes the
 * result, with the smallest sizes and the plainest inputs that show it; or with E0621 where nothing can be evaluated. */
bool verify_steps(Ctx *ctx, Driver *d, const CoreEntry *entry, const Rewriting *r, StepsVerified *out);

typedef struct StepCounts {
    bool known; /* the program compiles as it is after this step, and has run */
    Counts counts;
} StepCounts;

typedef struct StepsCounted {
    const char *sizes;  /* `n = 4096` */
    StepCounts *at;     /* before the first step, then after each */
} StepsCounted;

/* The entry with this body, as it stands: no strategy works on it any more. */
const CoreEntry *steps_as_it_stands(Ctx *ctx, const CoreEntry *entry, Core *body, CoreLaunch launch);
/* Runs the program on the simulator as it is after each step, where it compiles. False with diagnostics. */
bool count_steps(Ctx *ctx, Driver *d, const CoreEntry *entry, const Rewriting *r, StepsCounted *out);

/* What is shown beside the steps; either may be NULL. */
typedef struct StepsKnown {
    const StepsVerified *verified;
    const StepsCounted *counted;
} StepsKnown;

void show_trace(Ctx *ctx, StrBuf *out, const CoreEntry *entry, const Rewriting *r, StepsKnown known);
void show_json(Ctx *ctx, StrBuf *out, const Rewriting *r, const CoreEntry *lowered, StepsKnown known);
/* `n = 0, 1, 7; seed 0` */
void show_verified(StrBuf *out, const CoreEntry *entry, const StepsVerified *v);

/* Writes the steps to a file; reads them from one and makes them again. False with diagnostics. */
bool save_steps(Ctx *ctx, Driver *d, const char *path, const CoreEntry *entry, const Rewriting *r);
bool replay_steps(Ctx *ctx, Driver *d, const char *path, const CoreEntry *entry, int most, Rewriting *r);

#endif
