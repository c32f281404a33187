/* Memory of the device that a call has of its own. It comes from the caller's functions, if the context
 * has some; else from the driver, in the order of streams, so that a launch that needs more than the one
 * before waits for nothing. A driver without that order gives and takes it as it is, which waits for the
 * whole device. */
#include "gpu_call.h"

enum { DEVICE_ALIGN = 256 };

int memory_stream(RiseCall *call, CUstream *stream, rise_error *error)
{
    *stream = call->stream;
    return call->launching ? RISE_OK : gpu_own_stream(call->context, stream, error);
}

static int ask_caller(RiseCall *call, DeviceBlock *block, const char *name, rise_error *error)
{
    const rise_device_allocator *from = &call->context->device_alloc;
    const char *entry = call->entry->plan.core->name;
    void *at = from->alloc(from->user, block->bytes, block->home);
    if (!at)
        return rise_fail(error, RISE_ERROR_DEVICE_MEMORY,
                         "%s: the device_allocator of the context has no %zu bytes for %s", entry,
                         block->bytes, name);
    if ((uintptr_t)at % DEVICE_ALIGN) {
        from->free(from->user, at, block->bytes, block->home);
        return rise_fail(error, RISE_ERROR_ARGUMENT,
                         "%s: the device_allocator of the context gave %p, which is no multiple of %d",
                         entry, at, DEVICE_ALIGN);
    }
    block->at = (CUdeviceptr)(uintptr_t)at;
    return RISE_OK;
}

static int take(RiseCall *call, DeviceBlock *block, size_t bytes, const char *name, rise_error *error)
{
    RiseContext *context = call->context;
    const CudaApi *api = &context->gpu.api;
    DeviceBlock b = {.bytes = bytes ? bytes : 1};
    int status = memory_stream(call, &b.home, error);
    if (status != RISE_OK)
        return status;
    call->enqueued = true;
    if (context->device_alloc.alloc)
        status = ask_caller(call, &b, name, error);
    else
        status = gpu_check(context,
                           context->gpu.pools ? api->mem_alloc_async(&b.at, b.bytes, b.home)
                                              : api->mem_alloc(&b.at, b.bytes),
                           error, "%s: allocating %zu bytes for %s", call->entry->plan.core->name, b.bytes,
                           name);
    if (status == RISE_OK)
        *block = b;
    return status;
}

/* The functions of the caller get it back on the stream for which they gave it. */
static void give_caller(RiseCall *call, const DeviceBlock *block)
{
    const rise_device_allocator *from = &call->context->device_alloc;
    if (call->busy && call->stream != block->home && follow_launch(call, block->home, NULL) != RISE_OK)
        call->context->gpu.api.stream_synchronize(call->stream);
    from->free(from->user, (void *)(uintptr_t)block->at, block->bytes, block->home);
}

void memory_give(RiseCall *call, DeviceBlock *block)
{
    RiseContext *context = call->context;
    CUstream last = call->stream;
    if (!block->at)
        return;
    if (context->device_alloc.free)
        give_caller(call, block);
    else if (context->gpu.pools && (call->busy || gpu_own_stream(context, &last, NULL) == RISE_OK))
        context->gpu.api.mem_free_async(block->at, last);
    else
        context->gpu.api.mem_free(block->at);
    *block = (DeviceBlock){0};
}

int memory_ensure(RiseCall *call, DeviceBlock *block, size_t bytes, const char *name, rise_error *error)
{
    if (block->at && block->bytes >= bytes)
        return RISE_OK;
    if (call->recording)
        return must_prepare(call, "the launch needs memory", error);
    memory_give(call, block);
    return take(call, block, bytes, name, error);
}

void memory_want(Wanted *wanted, int64_t bytes, const char *name)
{
    if (!add_fits(wanted->bytes, bytes, &wanted->bytes))
        wanted->bytes = INT64_MAX;
    if (bytes > wanted->largest) {
        wanted->largest = bytes;
        wanted->name = name;
    }
}

int memory_refuse(RiseCall *call, const Wanted *wanted, size_t given_back, const char *what,
                  rise_error *error)
{
    enum { LITTLE = 1 << 24 }; /* asks nobody */
    RiseContext *context = call->context;
    const CudaApi *api = &context->gpu.api;
    size_t has, all;
    if (call->recording || wanted->bytes <= LITTLE || context->device_alloc.alloc)
        return RISE_OK;
    /* What was given back in the order of streams may still count: once more when all is done. */
    for (int tries = context->gpu.pools ? 2 : 1; tries > 0; tries--) {
        int status = gpu_check(context, api->mem_info(&has, &all), error, "asking for the memory of the device");
        if (status != RISE_OK || (uint64_t)wanted->bytes <= has + given_back)
            return status;
        if (tries > 1)
            api->ctx_synchronize();
    }
    return rise_fail(error, RISE_ERROR_DEVICE_MEMORY,
                     "%s: for these sizes %s take %lld bytes on the device, %lld of them for `%s`, and %s "
                     "has %zu of its %zu bytes free",
                     call->entry->plan.core->name, what, (long long)wanted->bytes,
                     (long long)wanted->largest, wanted->name, context->name, has + given_back, all);
}
