/* `expect` clauses: runs entries, and sees that counters of the simulator are what they say
 * (docs/profiling.md), or that results are (docs/tools.md). */
#ifndef RISEC_DRIVER_EXPECT_H
#define RISEC_DRIVER_EXPECT_H

#include "driver/driver.h"

/* What became of a clause. Texts are the caller's context's. */
typedef struct ExpectOutcome {
    const char *entry;
    int line;
    bool counters, good;
    int64_t runs, failed;
    const char *against; /* of a result: "wanted"; or NULL */
    const char *first; /* members of a JSON object on the first run that failed; or NULL */
} ExpectOutcome;

typedef VEC(ExpectOutcome) ExpectOutcomes;

/* The line on which it begins. */
int expect_line(const Ctx *ctx, const Expect *clause);
/* All clauses of the program's entries, and those of the files that `--expect` names; with
 * `--entry`, of that one only; with `--clause`, those on that line. What does not hold is in the
 * diagnostics. The program has no errors.
 * `outcomes`: gets one for each clause of an entry; or NULL. */
void expect_check(Ctx *ctx, Driver *d, Program *program, const char *path,
                  ExpectOutcomes *outcomes);
/* Of the clauses that stand at the entries, whether they give all sizes; nothing is run. */
void expect_check_sizes(Ctx *ctx, Driver *d, Program *program);

/* A clause about a result. Fills runs, failed, against and first (in `keep`). */
typedef struct ExpectResult {
    Ctx *keep;
    Driver *d;
    Program *program;
    int number; /* of the entry */
    const Expect *clause;
    const char *path; /* of the program */
    ExpectOutcome *outcome;
} ExpectResult;
void expect_result(Ctx *ctx, const ExpectResult *what);

#endif
