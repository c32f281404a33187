/* What the files of a launch on the GPU share: launch_gpu.c, workspace_gpu.c and memory_gpu.c. */
#ifndef RISE_RUNTIME_GPU_CALL_H
#define RISE_RUNTIME_GPU_CALL_H

#include "internal.h"

/* While a stream records, nothing may be compiled, loaded, allocated or waited for. */
int must_prepare(const RiseCall *call, const char *what, rise_error *error);
/* A number of the launch; an error where it has none. */
int launch_number(RiseCall *call, const CallStep *step, Nat nat, int64_t *value, rise_error *error);

/* `stream` waits, on the device, for the last launch of the call. */
int follow_launch(RiseCall *call, CUstream stream, rise_error *error);

/* ---- memory_gpu.c -------------------------------------------------------------------------------- */

/* At least so many bytes, and never none, in place of what is there: for a launch in the order of its
 * stream, else on a stream of ours. Waits for nothing, where the driver knows such an order. */
int memory_ensure(RiseCall *call, DeviceBlock *block, size_t bytes, const char *name, rise_error *error);
/* Gives it back when the last launch is done with it. */
void memory_give(RiseCall *call, DeviceBlock *block);
/* The stream on which memory for the call is made ready. */
int memory_stream(RiseCall *call, CUstream *stream, rise_error *error);

/* What is to be allocated beside what the call has already. */
typedef struct Wanted {
    int64_t bytes, largest; /* INT64_MAX: more than can be counted */
    const char *name;       /* of the largest part */
} Wanted;

void memory_want(Wanted *wanted, int64_t bytes, const char *name);
/* Refuses what the device has no room for before any of it is allocated. `given_back`: bytes that the
 * allocation frees first. */
int memory_refuse(RiseCall *call, const Wanted *wanted, size_t given_back, const char *what,
                  rise_error *error);

/* ---- workspace_gpu.c ----------------------------------------------------------------------------- */

/* Before the kernels of a launch are chosen. */
void workspace_begin(RiseCall *call);
/* How much of the workspace the kernel of the step wants. */
int workspace_add(RiseCall *call, const CallStep *step, rise_error *error);
/* Once all have been chosen: call->needs, and where each buffer lies. */
int workspace_measure(RiseCall *call, rise_error *error);
/* Gives the launch its workspace: the caller's, or memory of the call whose flags are clear. */
int workspace_get(RiseCall *call, rise_error *error);
/* What has to be clear before the kernels start, and is not known to be. */
int workspace_clear(RiseCall *call, CUstream stream, rise_error *error);

#endif
