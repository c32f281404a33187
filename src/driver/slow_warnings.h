#ifndef RISEC_DRIVER_SLOW_WARNINGS_H
#define RISEC_DRIVER_SLOW_WARNINGS_H

#include "driver/plan.h"

/* W0704: what a thread goes through alone, in the kernels that the scheduler made of the entry. */
void warn_slow_walks(Ctx *ctx, const CoreEntry *entry, const ImpProgram *program);
/* W0707: what is stored between kernels takes more than twice what inputs and results do, at these
 * sizes; `at` NULL: at all that are tried. */
void warn_stored(Ctx *ctx, const ImpProgram *program, const Launch *at);
/* W0708: blocks for no more than half of the multiprocessors, at the sizes of the plan. */
void warn_few_blocks(Ctx *ctx, const Plan *plan);

#endif
