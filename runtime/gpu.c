/* The CUDA driver: which device and which CUDA context, and what errors mean. */
#include "internal.h"

#include <stdio.h>

/* ---- errors ------------------------------------------------------------------------------------------------------------- */

/* After these the CUDA context can do nothing any more, and the process gets no other one: the driver gives the same error for it (seen with driver 580). */
static bool is_fatal(CUresult result)
{
    switch (result) {
    case 214: /* ECC_UNCORRECTABLE */
    case 220: /* NVLINK_UNCORRECTABLE */
    case 700: /* ILLEGAL_ADDRESS */
    case 702: /* LAUNCH_TIMEOUT */
    case 709: /* CONTEXT_IS_DESTROYED */
    case 710: /* ASSERT */
    case 714: /* HARDWARE_STACK_ERROR */
    case 715: /* ILLEGAL_INSTRUCTION */
    case 716: /* MISALIGNED_ADDRESS */
    case 717: /* INVALID_ADDRESS_SPACE */
    case 718: /* INVALID_PC */
    case 719: /* LAUNCH_FAILED */
        return true;
    }
    return false;
}

static const char *error_text(const CudaApi *api, CUresult result, bool name)
{
    const char *text = NULL;
    if ((name ? api->error_name : api->error_string)(result, &text) != CU_SUCCESS || !text)
        return name ? "an error that it has no name for" : "";
    return text;
}

static int lost(const RiseContext *context, rise_error *error)
{
    CUresult result = atomic_load(&context->gpu.lost);
    int status = rise_fail(error, RISE_ERROR_LOST, "the GPU has stopped at a fault (%s: %s), and CUDA does nothing more in this process: start a new process",
                           error_text(&context->gpu.api, result, true), error_text(&context->gpu.api, result, false));
    if (error)
        error->cuda = result;
    return status;
}

int gpu_check(RiseContext *context, CUresult result, rise_error *error, const char *fmt, ...)
{
    if (result == CU_SUCCESS)
        return RISE_OK;
    if (is_fatal(result)) {
        int none = 0;
        atomic_compare_exchange_strong(&context->gpu.lost, &none, result);
        return lost(context, error);
    }
    char what[160];
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    int status = result == CU_OUT_OF_MEMORY ? RISE_ERROR_DEVICE_MEMORY : RISE_ERROR_DEVICE;
    rise_fail(error, status, "%s: the CUDA driver says %s (%d): %s", what, error_text(&context->gpu.api, result, true), result,
              error_text(&context->gpu.api, result, false));
    if (error)
        error->cuda = result;
    return status;
}

/* ---- where we work -------------------------------------------------------------------------------------------------------- */

int gpu_enter(RiseContext *context, bool *pushed, rise_error *error)
{
    const Gpu *gpu = &context->gpu;
    CUcontext current = NULL;
    *pushed = false;
    if (atomic_load_explicit(&gpu->lost, memory_order_relaxed))
        return lost(context, error);
    if (gpu->api.ctx_current(&current) == CU_SUCCESS && current == gpu->context)
        return RISE_OK;
    int status = gpu_check(context, gpu->api.ctx_push(gpu->context), error, "making the CUDA context current");
    *pushed = status == RISE_OK;
    return status;
}

void gpu_leave(RiseContext *context, bool pushed)
{
    CUcontext popped;
    if (pushed)
        context->gpu.api.ctx_pop(&popped);
}

int gpu_own_stream(RiseContext *context, CUstream *stream, rise_error *error)
{
    Gpu *gpu = &context->gpu;
    int status = RISE_OK;
    pthread_mutex_lock(&context->lock);
    if (!gpu->stream)
        status = gpu_check(context, gpu->api.stream_create(&gpu->stream, CU_STREAM_NON_BLOCKING), error, "making a stream");
    if (status != RISE_OK)
        gpu->stream = NULL;
    *stream = gpu->stream;
    pthread_mutex_unlock(&context->lock);
    return status;
}

/* ---- opening -------------------------------------------------------------------------------------------------------------- */

/* CUDA says so itself where the parent has used it without librise. */
static int child_of_gpu(rise_error *error)
{
    return rise_fail(error, RISE_ERROR_DEVICE,
                     "this process is a child of fork, and its parent has used the GPU: CUDA works in the parent "
                     "only; start a new process (exec, or the start method \"spawn\" in Python) for a GPU");
}

static int start_driver(RiseContext *context, rise_error *error)
{
    const CudaApi *api = &context->gpu.api;
    if (fork_broke(IN_DRIVER))
        return child_of_gpu(error);
    CUresult result = api->init(0);
    if (result == CU_NOT_INITIALIZED)
        return child_of_gpu(error);
    if (result == CU_SUCCESS)
        fork_note(IN_DRIVER, 1);
    if (result == CU_STUB_LIBRARY)
        return rise_fail(error, RISE_ERROR_DEVICE, "libcuda.so.1 is the linker's stub and no driver; the simulator needs none");
    if (result == CU_NO_DEVICE)
        return rise_fail(error, RISE_ERROR_DEVICE, "the CUDA driver finds no GPU; the simulator needs none");
    int status = gpu_check(context, result, error, "starting the CUDA driver");
    int version = 0, count = 0;
    if (status == RISE_OK)
        status = gpu_check(context, api->driver_version(&version), error, "asking for the driver's version");
    if (status == RISE_OK && version < CUDA_DRIVER_OLDEST)
        return rise_fail(error, RISE_ERROR_DEVICE, "the CUDA driver is for CUDA %d.%d, and librise needs %d.%d or later", version / 1000, version % 1000 / 10,
                         CUDA_DRIVER_OLDEST / 1000, CUDA_DRIVER_OLDEST % 1000 / 10);
    if (status == RISE_OK)
        status = gpu_check(context, api->device_count(&count), error, "counting GPUs");
    if (status == RISE_OK && count < 1)
        return rise_fail(error, RISE_ERROR_DEVICE, "the CUDA driver finds no GPU; the simulator needs none");
    return status;
}

/* The caller's CUDA context, and its device. */
static int adopt(RiseContext *context, CUcontext theirs, rise_error *error)
{
    const CudaApi *api = &context->gpu.api;
    CUcontext popped;
    int status = gpu_check(context, api->ctx_push(theirs), error, "making the given CUDA context current");
    if (status != RISE_OK)
        return status;
    status = gpu_check(context, api->ctx_device(&context->gpu.device), error, "asking for the device of the CUDA context");
    api->ctx_pop(&popped);
    context->gpu.context = theirs;
    return status;
}

static int retain(RiseContext *context, int ordinal, rise_error *error)
{
    Gpu *gpu = &context->gpu;
    int count = 0;
    int status = gpu_check(context, gpu->api.device_count(&count), error, "counting GPUs");
    if (status == RISE_OK && (ordinal < 0 || ordinal >= count))
        return rise_fail(error, RISE_ERROR_DEVICE, "there is no GPU %d: the driver finds %d", ordinal, count);
    if (status == RISE_OK)
        status = gpu_check(context, gpu->api.device_get(&gpu->device, ordinal), error, "asking for GPU %d", ordinal);
    if (status == RISE_OK)
        status = gpu_check(context, gpu->api.primary_retain(&gpu->context, gpu->device), error, "asking for the primary CUDA context of GPU %d", ordinal);
    gpu->owns_primary = status == RISE_OK;
    return status;
}

/* A CUDA context in which something has faulted says so to whoever asks next. */
static int ask_health(RiseContext *context, rise_error *error)
{
    bool pushed;
    int status = gpu_enter(context, &pushed, error);
    if (status != RISE_OK)
        return status;
    CUresult result = context->gpu.api.stream_query(NULL);
    gpu_leave(context, pushed);
    if (is_fatal(result)) {
        rise_fail(error, RISE_ERROR_LOST, "the CUDA context of this GPU was lost to a fault (%s) before librise came: start a new process",
                  error_text(&context->gpu.api, result, true));
        if (error)
            error->cuda = result;
        return RISE_ERROR_LOST;
    }
    return RISE_OK;
}

static int describe(RiseContext *context, rise_error *error)
{
    Gpu *gpu = &context->gpu;
    int major = 0, minor = 0, cooperative = 0, pools = 0, version = 0;
    const struct {
        int attribute;
        int *value;
    } asked[] = {{CU_MAJOR, &major}, {CU_MINOR, &minor}, {CU_MULTIPROCESSORS, &gpu->sms}, {CU_MAX_SHARED_OPTIN, &gpu->max_shared}, {CU_COOPERATIVE, &cooperative}, {CU_MEMORY_POOLS, &pools}};
    char name[128] = "";
    int status = RISE_OK;
    for (size_t i = 0; status == RISE_OK && i < sizeof asked / sizeof asked[0]; i++)
        status = gpu_check(context, gpu->api.device_attribute(asked[i].value, asked[i].attribute, gpu->device), error, "asking for attribute %d of the GPU", asked[i].attribute);
    if (status == RISE_OK)
        status = gpu_check(context, gpu->api.device_name(name, sizeof name, gpu->device), error, "asking for the name of the GPU");
    if (status == RISE_OK)
        status = gpu_check(context, gpu->api.driver_version(&version), error, "asking for the driver's version");
    if (status != RISE_OK)
        return status;
    name[sizeof name - 1] = 0;
    gpu->arch = 10 * major + minor;
    gpu->cooperative = cooperative;
    gpu->pools = pools;
    snprintf(context->arch, sizeof context->arch, "sm_%d", gpu->arch);
    snprintf(context->name, sizeof context->name, "%s, %s, driver %d.%d", name, context->arch, version / 1000, version % 1000 / 10);
    if (gpu->arch < ARCH_MIN)
        return rise_fail(error, RISE_ERROR_DEVICE, "the GPU is %s, and librise needs sm_%d or later", context->name, ARCH_MIN);
    return RISE_OK;
}

int gpu_open(RiseContext *context, const rise_context_options *options, rise_error *error)
{
    Gpu *gpu = &context->gpu;
    CUcontext theirs = options->cuda_context;
    int status = cuda_api_load(context->seams.loader, &gpu->api, error);
    if (status != RISE_OK)
        return status;
    status = start_driver(context, error);
    if (status == RISE_OK && !theirs && gpu->api.ctx_current(&theirs) != CU_SUCCESS)
        theirs = NULL;
    if (status == RISE_OK)
        status = theirs ? adopt(context, theirs, error) : retain(context, options->ordinal, error);
    if (status == RISE_OK)
        status = ask_health(context, error);
    if (status == RISE_OK)
        status = describe(context, error);
    if (status != RISE_OK)
        gpu_close(context);
    return status;
}

void gpu_close(RiseContext *context)
{
    Gpu *gpu = &context->gpu;
    bool pushed;
    if (gpu->stream && gpu_enter(context, &pushed, NULL) == RISE_OK) {
        gpu->api.stream_destroy(gpu->stream);
        gpu_leave(context, pushed);
    }
    gpu->stream = NULL;
    if (gpu->owns_primary)
        gpu->api.primary_release(gpu->device);
    gpu->owns_primary = false;
    gpu->context = NULL;
}
