/* `risec run --device gpu`: through librise, as any other program would. */
#ifndef RISEC_DRIVER_RUN_GPU_H
#define RISEC_DRIVER_RUN_GPU_H

#include "driver/driver.h"
#include "ir/interp.h"
#include "rise.h"

/* The GPU, or NULL: with a diagnostic (E0629) unless `quiet`. rise_context_free ends it. */
rise_context *gpu_find(Ctx *ctx, Driver *d, bool quiet);
/* For Launch.num_sm; 0 where that is no GPU. (maxResident is of a kernel, and known at its launch.) */
int64_t gpu_multiprocessors(const rise_context *gpu);
/* Runs the entry, which has been checked and lowered; makes and fills launch->results. False with diagnostics. */
bool gpu_run(Ctx *ctx, Driver *d, rise_context *gpu, const CoreEntry *entry, Launch *launch);

/* What of it `risec bench` needs, too. Says what went wrong with `what` (E0629), and `help` where there is no GPU that could be used. */
void gpu_failed(Ctx *ctx, Driver *d, const char *what, const char *help, const rise_error *error);
/* The entry with its tunables, from the text that was checked. A rise_status; *program is the caller's also where it fails. */
int gpu_entry(Ctx *ctx, rise_context *gpu, const CoreEntry *core, rise_program **program, rise_entry **entry, rise_error *error);
int gpu_type_of(Scalar scalar); /* a rise_type */

#endif
