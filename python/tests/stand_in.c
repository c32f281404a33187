/* What Python's tests ask the stand-in for the driver, and the functions of the driver that only
 * the package calls. */
#include <stdio.h>
#include <string.h>

#include "fake_parts.h"

static char text[1 << 16], given[1 << 16];
static void (*python_kernel)(const char *name, void **params, void *stream);
static CUstream recorder;

static void kernel(const FakeLaunch *launch)
{
    if (python_kernel)
        python_kernel(launch->name, launch->params, launch->stream);
}

void stand_in_start(void)
{
    fake_gpu_start();
    fake_gpu.devices = 2;

    fake_gpu.kernel = kernel;
    fake_gpu.log = text;
    fake_gpu.log_room = sizeof text;
}

void stand_in_kernels(void (*function)(const char *, void **, void *)) { python_kernel = function; }
long stand_in_misuse(void) { return fake_gpu.misuse; }

const char *stand_in_log(void)
{
    strcpy(given, text);
    text[0] = 0;
    return given;
}

void *stand_in_memory(size_t bytes)
{
    CUdeviceptr memory = 0;
    fake_ctx_push(fake_gpu_primary());
    fake_mem_alloc(&memory, bytes);
    CUcontext popped;
    fake_ctx_pop(&popped);
    return (void *)(uintptr_t)memory;
}

void stand_in_record(void *stream)
{
    recorder = stream;
    fake_gpu_record(stream);
}

void stand_in_record_end(void)
{
    recorder = NULL;
    fake_gpu_record_end();
}

void stand_in_replay(void) { fake_gpu_replay(); }

/* ---- the driver --------------------------------------------------------------------------------- */

static void note(const char *what, CUstream stream)
{
    const size_t at = strlen(text);
    snprintf(text + at, sizeof text - at, "%s %#zx\n", what, (size_t)stream);
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    note("event on", stream);
    return fake_event_record(event, stream);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    note("wait on", stream);
    return fake_stream_wait(stream, event, flags);
}

/* All memory is that of GPU 0. */
CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr address)
{
    if (attribute != 9 || !fake_gpu_owns(address, 1))
        return 1;
    *(int *)value = 0;
    return CU_SUCCESS;
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, int *status, uint64_t *id, void *graph, void *nodes, void *n)
{
    (void)graph, (void)nodes, (void)n;
    *status = recorder && stream == recorder;
    *id = 77;
    return CU_SUCCESS;
}
