/* `risec run --device gpu`: through librise, as any other program would. */
#ifndef RISEC_DRIVER_RUN_GPU_H
#define RISEC_DRIVER_RUN_GPU_H

#include "driver/driver.h"
#include "ir/interp.h"
#include "rise.h"

/* The GPU, or NULL: with a diagnostic (E0629) unless `quiet`. rise_context_free ends it. */
rise_context *gpu_find(Ctx *ctx, Driver *d, bool quiet);
/* Runs the entry, which has been checked and lowered; makes and fills launch->results. False with diagnostics. */
bool gpu_run(Ctx *ctx, Driver *d, rise_context *gpu, const CoreEntry *entry, Launch *launch);

#endif
