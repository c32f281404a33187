/* Contexts: what they are made of, memory of the host and of the device. */
#include "internal.h"

#include <stdlib.h>

#include "version.h"

const char *rise_version(void) { return RISEC_VERSION; }

/* ---- small things ----------------------------------------------------------------------------------------------------- */

int context_out_of_memory(rise_error *error) { return rise_fail(error, RISE_ERROR_MEMORY, "out of memory"); }

void *context_alloc(RiseContext *context, size_t size, rise_error *error)
{
    void *block = context->seams.alloc.alloc(context->seams.alloc.user, size ? size : 1);
    if (block)
        memset(block, 0, size);
    else
        context_out_of_memory(error);
    return block;
}

void context_dealloc(RiseContext *context, void *block)
{
    if (block)
        context->seams.alloc.free(context->seams.alloc.user, block);
}

char *context_copy(RiseContext *context, const char *text, size_t size, rise_error *error)
{
    char *copy = context_alloc(context, size + 1, error);
    if (copy && size)
        memcpy(copy, text, size);
    return copy;
}

bool struct_get(void *ours, size_t our_size, const void *theirs)
{
    size_t size;
    memset(ours, 0, our_size);
    if (!theirs)
        return true;
    memcpy(&size, theirs, sizeof size);
    if (size < sizeof size)
        return false;
    memcpy(ours, theirs, size < our_size ? size : our_size);
    /* What a newer caller knows and we do not must be left at zero. */
    for (size_t i = our_size; i < size; i++)
        if (((const unsigned char *)theirs)[i])
            return false;
    return true;
}

void struct_put(void *theirs, const void *ours, size_t our_size)
{
    size_t size;
    memcpy(&size, theirs, sizeof size);
    size_t known = size < our_size ? size : our_size;
    if (known > sizeof size)
        memcpy((char *)theirs + sizeof size, (const char *)ours + sizeof size, known - sizeof size);
}

int context_job(const RiseContext *context, JobWork work, void *user, rise_error *error) { return job_run(&context->job, work, user, error); }

int argument_null(rise_error *error, const char *what) { return rise_fail(error, RISE_ERROR_ARGUMENT, "%s is NULL", what); }

static void *libc_alloc(void *user, size_t size)
{
    (void)user;
    return malloc(size);
}

static void libc_free(void *user, void *block)
{
    (void)user;
    free(block);
}

RiseContext *context_of(const rise_context *handle, rise_error *error)
{
    return handle_get(HANDLE_CONTEXT, handle, error);
}

RiseProgram *program_of(const rise_program *handle, rise_error *error)
{
    return handle_get(HANDLE_PROGRAM, handle, error);
}

RiseEntry *entry_of(const rise_entry *handle, rise_error *error)
{
    return handle_get(HANDLE_ENTRY, handle, error);
}

RiseCall *call_of(const rise_call *handle, rise_error *error)
{
    return handle_get(HANDLE_CALL, handle, error);
}

/* ---- memory of the host in place of a device's ---------------------------------------------------- */

enum { DEVICE_ALIGN = 256 };

/* At the start of its block; what is given out is aligned as memory of a GPU is. */
struct HostMemory {
    HostMemory *next;
    void *at;
};

static int host_alloc(RiseContext *context, size_t bytes, void **memory, rise_error *error)
{
    if (bytes > SIZE_MAX - 2 * DEVICE_ALIGN)
        return context_out_of_memory(error);
    Allocator alloc = context->seams.alloc;
    HostMemory *block = alloc.alloc(alloc.user, sizeof *block + DEVICE_ALIGN + bytes);
    if (!block)
        return context_out_of_memory(error);
    uintptr_t after = (uintptr_t)block + sizeof *block;
    block->at = (void *)((after + DEVICE_ALIGN - 1) / DEVICE_ALIGN * DEVICE_ALIGN);
    pthread_mutex_lock(&context->lock);
    block->next = context->memory;
    context->memory = block;
    pthread_mutex_unlock(&context->lock);
    *memory = block->at;
    return RISE_OK;
}

/* Nothing where it is no memory of the context. */
static void host_free(RiseContext *context, const void *memory)
{
    pthread_mutex_lock(&context->lock);
    HostMemory **at = &context->memory;
    while (*at && (*at)->at != memory)
        at = &(*at)->next;
    HostMemory *found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&context->lock);
    context_dealloc(context, found);
}

/* ---- making and ending one ---------------------------------------------------------------------------------------------- */

static void usual_seams(const rise_context_options *options, RiseSeams *seams)
{
    if (!seams->alloc.alloc && options->allocator)
        seams->alloc = (Allocator){options->allocator->user, options->allocator->alloc, options->allocator->free};
    if (!seams->alloc.alloc)
        seams->alloc = (Allocator){NULL, libc_alloc, libc_free};
    if (!seams->loader)
        seams->loader = &library_loader;
    if (!seams->cache_files)
        seams->cache_files = &cache_files;
    if (options->no_disk_cache)
        seams->cache_dir = "";
}

static int choose_device(RiseContext *context, const rise_context_options *options, rise_error *error)
{
    context->device = options->device;
    if (options->device == RISE_AUTO || options->device == RISE_GPU) {
        rise_error why = {0};
        int status = gpu_open(context, options, &why);
        context->device = status == RISE_OK ? RISE_GPU : RISE_SIM;
        if (status != RISE_OK && (status != RISE_ERROR_DEVICE || options->device == RISE_GPU)) {
            if (error)
                *error = why;
            return status;
        }
        memcpy(context->why, why.text, sizeof why.text);
    }
    if (context->device != RISE_GPU)
        strcpy(context->name, context->device == RISE_SIM ? "SIMT simulator" : "reference interpreter");
    return RISE_OK;
}

int context_new(const rise_context_options *given, const RiseSeams *given_seams, rise_context **out, rise_error *error)
{
    rise_context_options options;
    RiseSeams seams = given_seams ? *given_seams : (RiseSeams){0};
    if (!out)
        return argument_null(error, "context");
    *out = NULL;
    if (!struct_get(&options, sizeof options, given) || options.reserved)
        return rise_fail(error, RISE_ERROR_ARGUMENT, "rise_context_options.size is not sizeof(rise_context_options), or an option is set that this version does not know: begin with `rise_context_options options = {.size = sizeof options}`");
    if (options.device < RISE_AUTO || options.device > RISE_REF)
        return rise_fail(error, RISE_ERROR_ARGUMENT, "%d is no rise_device", (int)options.device);
    if (options.folder && options.read)
        return rise_fail(error, RISE_ERROR_ARGUMENT, "programs from text read from a folder or by a function, and both are given");
    if (options.allocator && (!options.allocator->alloc || !options.allocator->free))
        return rise_fail(error, RISE_ERROR_ARGUMENT, "an allocator has two functions, and one of them is NULL");
    if (options.device_allocator && (!options.device_allocator->alloc || !options.device_allocator->free))
        return rise_fail(error, RISE_ERROR_ARGUMENT, "a device_allocator has two functions, and one of them is NULL");
    if (options.nvrtc_path && strchr(options.nvrtc_path, '/') && options.nvrtc_path[0] != '/')
        return rise_fail(error, RISE_ERROR_ARGUMENT, "nvrtc_path is %.500s: a path has to begin with /", options.nvrtc_path);
    usual_seams(&options, &seams);
    RiseContext *context = seams.alloc.alloc(seams.alloc.user, sizeof *context);
    if (!context)
        return context_out_of_memory(error);
    memset(context, 0, sizeof *context);
    context->seams = seams;
    atomic_init(&context->refs, 1);
    context->diagnostic = options.diagnostic;
    context->diagnostic_user = options.diagnostic_user;
    context->sim_seed = options.sim_seed;
    context->max_steps = options.max_steps;
    context->max_memory = options.max_memory;
    context->max_result = options.max_result;
    if (options.device_allocator)
        context->device_alloc = *options.device_allocator;
    context->read = options.read;
    context->read_user = options.read_user;
    context->job = (JobOptions){options.poll, options.poll_user, seams.job_tests};
    pthread_mutex_init(&context->lock, NULL);
    int status = RISE_OK;
    if (options.folder && !(context->folder = context_copy(context, options.folder, strlen(options.folder), error)))
        status = RISE_ERROR_MEMORY;
    if (options.nvrtc_path && !(context->nvrtc_path = context_copy(context, options.nvrtc_path, strlen(options.nvrtc_path), error)))
        status = RISE_ERROR_MEMORY;
    if (status == RISE_OK)
        status = choose_device(context, &options, error);
    int driver_major = 0;
    if (status == RISE_OK && context->device == RISE_GPU) {
        int version = 0;
        if (context->gpu.api.driver_version(&version) == CU_SUCCESS)
            driver_major = version / 1000;
    }
    toolchain_init(&context->toolchain, seams.loader, seams.cache_files, seams.cache_dir, context->nvrtc_path, driver_major);
    if (status == RISE_OK && !(*out = handle_new(HANDLE_CONTEXT, context, error)))
        status = RISE_ERROR_MEMORY;
    if (status != RISE_OK)
        context_release(context);
    return status;
}

int rise_context_new(const rise_context_options *options, rise_context **context, rise_error *error)
{
    return context_new(options, NULL, context, error);
}

void context_release(RiseContext *context)
{
    if (atomic_fetch_sub_explicit(&context->refs, 1, memory_order_acq_rel) != 1)
        return;
    gpu_close(context);
    while (context->memory)
        host_free(context, context->memory->at);
    toolchain_done(&context->toolchain);
    pthread_mutex_destroy(&context->lock);
    context_dealloc(context, context->folder);
    context_dealloc(context, context->nvrtc_path);
    Allocator alloc = context->seams.alloc;
    alloc.free(alloc.user, context);
}

void rise_context_free(rise_context *handle)
{
    RiseContext *context = handle_take(HANDLE_CONTEXT, handle);
    if (context)
        context_release(context);
}

int rise_context_device(const rise_context *handle)
{
    const RiseContext *context = context_of(handle, NULL);
    return context ? context->device : RISE_AUTO;
}

const char *rise_context_device_name(const rise_context *handle)
{
    const RiseContext *context = context_of(handle, NULL);
    return context ? context->name : "";
}

const char *rise_context_why(const rise_context *handle)
{
    const RiseContext *context = context_of(handle, NULL);
    return context ? context->why : "";
}

const char *rise_context_arch(const rise_context *handle)
{
    const RiseContext *context = context_of(handle, NULL);
    return context ? context->arch : "";
}

int rise_context_lost(const rise_context *handle)
{
    const RiseContext *context = context_of(handle, NULL);
    return context && atomic_load(&context->gpu.lost) != 0;
}

/* ---- memory of the device for callers ----------------------------------------------------------- */

int rise_alloc(rise_context *handle, size_t bytes, void **memory, rise_error *error)
{
    if (!memory)
        return argument_null(error, "memory");
    *memory = NULL;
    RiseContext *context = context_of(handle, error);
    if (!context)
        return RISE_ERROR_ARGUMENT;
    if (context->device != RISE_GPU)
        return host_alloc(context, bytes, memory, error);
    bool pushed;
    CUdeviceptr at = 0;
    int status = gpu_enter(context, &pushed, error);
    if (status != RISE_OK)
        return status;
    status = gpu_check(context, context->gpu.api.mem_alloc(&at, bytes ? bytes : 1), error, "allocating %zu bytes on the device", bytes);
    gpu_leave(context, pushed);
    if (status == RISE_OK)
        *memory = (void *)(uintptr_t)at;
    return status;
}

void rise_free(rise_context *handle, void *memory)
{
    RiseContext *context = context_of(handle, NULL);
    if (!context || !memory)
        return;
    if (context->device != RISE_GPU) {
        host_free(context, memory);
        return;
    }
    bool pushed;
    if (gpu_enter(context, &pushed, NULL) != RISE_OK)
        return; /* it went with the CUDA context */
    context->gpu.api.mem_free((CUdeviceptr)(uintptr_t)memory);
    gpu_leave(context, pushed);
}

static int gpu_copy(RiseContext *context, void *to, int to_where, const void *from, int from_where, size_t bytes, rise_error *error)
{
    const CudaApi *api = &context->gpu.api;
    CUdeviceptr device_to = (CUdeviceptr)(uintptr_t)to, device_from = (CUdeviceptr)(uintptr_t)from;
    bool pushed;
    int status = gpu_enter(context, &pushed, error);
    if (status != RISE_OK)
        return status;
    status = gpu_check(context, api->ctx_synchronize(), error, "waiting for the device");
    if (status == RISE_OK) {
        CUresult result = to_where == RISE_HOST     ? api->copy_out(to, device_from, bytes, NULL)
                          : from_where == RISE_HOST ? api->copy_in(device_to, from, bytes, NULL)
                                                    : api->copy_device(device_to, device_from, bytes, NULL);
        status = gpu_check(context, result, error, "copying %zu bytes", bytes);
    }
    if (status == RISE_OK)
        status = gpu_check(context, api->stream_synchronize(NULL), error, "waiting for a copy");
    gpu_leave(context, pushed);
    return status;
}

int rise_copy(rise_context *handle, void *to, int to_where, const void *from, int from_where, size_t bytes, rise_error *error)
{
    RiseContext *context = context_of(handle, error);
    if (!context)
        return RISE_ERROR_ARGUMENT;
    if ((to_where != RISE_HOST && to_where != RISE_DEVICE) || (from_where != RISE_HOST && from_where != RISE_DEVICE))
        return rise_fail(error, RISE_ERROR_ARGUMENT, "memory is RISE_HOST or RISE_DEVICE");
    if (bytes == 0)
        return RISE_OK;
    if (!to || !from)
        return argument_null(error, to ? "from" : "to");
    if (context->device == RISE_GPU && (to_where == RISE_DEVICE || from_where == RISE_DEVICE))
        return gpu_copy(context, to, to_where, from, from_where, bytes, error);
    memmove(to, from, bytes);
    return RISE_OK;
}
