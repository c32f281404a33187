/* Memory of the device that a call has of its own. */
#include "gpu_call.h"

int memory_ensure(rise_call *call, CUdeviceptr *memory, size_t *has, size_t bytes, const char *name,
                  rise_error *error)
{
    const CudaApi *api = &call->context->gpu.api;
    if (*memory && *has >= bytes)
        return RISE_OK;
    if (call->recording)
        return must_prepare(call, "the launch needs memory", error);
    if (*memory)
        api->mem_free(*memory);
    *memory = 0;
    *has = 0;
    size_t wanted = bytes ? bytes : 1;
    int status = gpu_check(call->context, api->mem_alloc(memory, wanted), error,
                           "%s: allocating %zu bytes for %s", call->entry->plan.core->name, wanted, name);
    if (status == RISE_OK)
        *has = wanted;
    else
        *memory = 0;
    return status;
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

int memory_refuse(rise_call *call, const Wanted *wanted, size_t given_back, const char *what,
                  rise_error *error)
{
    enum { LITTLE = 1 << 24 }; /* asks nobody */
    rise_context *context = call->context;
    size_t has, all;
    if (call->recording || wanted->bytes <= LITTLE)
        return RISE_OK;
    int status = gpu_check(context, context->gpu.api.mem_info(&has, &all), error,
                           "asking for the memory of the device");
    if (status != RISE_OK || (uint64_t)wanted->bytes <= has + given_back)
        return status;
    return rise_fail(error, RISE_ERROR_DEVICE_MEMORY,
                     "%s: for these sizes %s take %lld bytes on the device, %lld of them for `%s`, and %s "
                     "has %zu of its %zu bytes free",
                     call->entry->plan.core->name, what, (long long)wanted->bytes,
                     (long long)wanted->largest, wanted->name, context->name, has + given_back, all);
}
