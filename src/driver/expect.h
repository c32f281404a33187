/* `risec check`: runs entries on the simulator and sees that its counters are what `expect` clauses say. docs/profiling.md. */
#ifndef RISEC_DRIVER_EXPECT_H
#define RISEC_DRIVER_EXPECT_H

#include "driver/driver.h"

/* All clauses of the program's entries, and those of the files that `--expect` names; with `--entry`, of that one only. What does not hold
 * is in the diagnostics. The program has no errors. */
void expect_check(Ctx *ctx, Driver *d, Program *program, const char *path);
/* Of the clauses that stand at the entries, whether they give all sizes; nothing is run. */
void expect_check_sizes(Ctx *ctx, Driver *d, Program *program);

#endif
