/* The driver: devices, contexts, modules, memory, and the list of what there is. */
#include "fake_parts.h"

#include <stdio.h>
#include <stdlib.h>

FakeGpu fake_gpu;

enum { MEMORIES = 4096, DEPTH = 16, NAMES = 64 };

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    unsigned char *at;
    size_t bytes;
} memories[MEMORIES];
static int n_memories;
static void *modules[OBJECTS];
void *fake_events[OBJECTS], *fake_streams[OBJECTS];
static char primary; /* its address is the primary context */
static _Thread_local CUcontext stack[DEPTH];
static _Thread_local int depth;

static void module_free(void *module);

/* A CUDA context that goes takes with it what is in it. */
static void destroy(void)
{
    fake_gpu.leaked += fake_gpu.memories + fake_gpu.modules + fake_gpu.events + fake_gpu.streams;
    while (n_memories)
        free(memories[--n_memories].at);
    for (int i = 0; i < OBJECTS; i++) {
        if (modules[i])
            module_free(modules[i]);
        free(fake_events[i]);
        free(fake_streams[i]);
        modules[i] = fake_events[i] = fake_streams[i] = NULL;
    }
    fake_gpu.memories = fake_gpu.modules = fake_gpu.events = fake_gpu.streams = 0;
}

void fake_keep(void **list, void *object, long *counter)
{
    pthread_mutex_lock(&fake_lock);
    int i = 0;
    while (i < OBJECTS - 1 && list[i])
        i++;
    list[i] = object;
    ++*counter;
    pthread_mutex_unlock(&fake_lock);
}

bool fake_drop(void **list, void *object, long *counter)
{
    bool found = false;
    pthread_mutex_lock(&fake_lock);
    for (int i = 0; i < OBJECTS && !found; i++)
        if (list[i] == object) {
            list[i] = NULL;
            found = true;
        }
    *counter -= found;
    pthread_mutex_unlock(&fake_lock);
    return found;
}

void fake_gpu_start(void)
{
    destroy();
    fake_gpu = (FakeGpu){.version = 13000, .devices = 1, .arch = 90, .sms = 132, .max_shared = 232448, .cooperative = 1, .resident = 2, .max_threads = 1024, .nvrtc_newest = 120, .memory = (size_t)1 << 40, .pools = 1};
    depth = 0;
    fake_gpu_record_end();
}

CUcontext fake_gpu_primary(void) { return &primary; }
CUcontext fake_gpu_current(void) { return depth ? stack[depth - 1] : NULL; }

void fake_gpu_set_current(CUcontext context)
{
    depth = context ? 1 : 0;
    stack[0] = context;
}

bool fake_gpu_owns(CUdeviceptr address, size_t bytes)
{
    bool found = false;
    pthread_mutex_lock(&fake_lock);
    for (int i = 0; i < n_memories; i++) {
        CUdeviceptr start = (CUdeviceptr)(uintptr_t)memories[i].at;
        found |= address >= start && bytes <= memories[i].bytes && address - start <= memories[i].bytes - bytes;
    }
    pthread_mutex_unlock(&fake_lock);
    return found;
}

void fake_misuse(const char *what)
{
    printf("misuse of the driver: %s\n", what);
    pthread_mutex_lock(&fake_lock);
    fake_gpu.misuse++;
    pthread_mutex_unlock(&fake_lock);
}

/* CU_SUCCESS, or how this call shall fail. */
CUresult fake_turn(const char *name)
{
    pthread_mutex_lock(&fake_lock);
    CUresult result = fake_gpu.sticky;
    if (++fake_gpu.calls == fake_gpu.fail_at) {
        result = fake_gpu.fail_with;
        fake_gpu.failed = name;
    }
    pthread_mutex_unlock(&fake_lock);
    return result;
}

void fake_count(long *counter, long by)
{
    pthread_mutex_lock(&fake_lock);
    *counter += by;
    pthread_mutex_unlock(&fake_lock);
}
/* ---- the driver --------------------------------------------------------------------------------------------------------- */

CUresult fake_init(unsigned flags)
{
    (void)flags;
    TURN();
    return fake_gpu.init_result;
}

CUresult fake_driver_version(int *version)
{
    TURN();
    *version = fake_gpu.version;
    return CU_SUCCESS;
}

CUresult fake_error_name(CUresult error, const char **text)
{
    *text = error == CU_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : NULL;
    return *text ? CU_SUCCESS : 1;
}

CUresult fake_error_string(CUresult error, const char **text)
{
    (void)error;
    *text = "as the test wants";
    return CU_SUCCESS;
}

CUresult fake_device_count(int *n)
{
    TURN();
    *n = fake_gpu.devices;
    return CU_SUCCESS;
}

CUresult fake_device_get(CUdevice *device, int ordinal)
{
    TURN();
    *device = 40 + ordinal;
    return CU_SUCCESS;
}

CUresult fake_device_name(char *name, int size, CUdevice device)
{
    TURN();
    if (device < 40)
        fake_misuse("a device that is none");
    snprintf(name, (size_t)size, "Fake GPU");
    return CU_SUCCESS;
}

CUresult fake_device_attribute(int *value, int attribute, CUdevice device)
{
    TURN();
    if (device < 40)
        fake_misuse("a device that is none");
    *value = attribute == CU_MULTIPROCESSORS    ? fake_gpu.sms
             : attribute == CU_MAJOR            ? fake_gpu.arch / 10
             : attribute == CU_MINOR            ? fake_gpu.arch % 10
             : attribute == CU_COOPERATIVE      ? fake_gpu.cooperative
             : attribute == CU_MAX_SHARED_OPTIN ? fake_gpu.max_shared
             : attribute == CU_MEMORY_POOLS     ? fake_gpu.pools
                                                : -1;
    return CU_SUCCESS;
}

CUresult fake_primary_retain(CUcontext *context, CUdevice device)
{
    TURN();
    (void)device;
    fake_gpu.retained++;
    *context = &primary;
    return CU_SUCCESS;
}

CUresult fake_primary_release(CUdevice device)
{
    (void)device;
    if (--fake_gpu.retained < 0)
        fake_misuse("released too often");
    if (fake_gpu.retained == 0)
        destroy();
    return CU_SUCCESS;
}

CUresult fake_ctx_current(CUcontext *context)
{
    *context = fake_gpu_current();
    return CU_SUCCESS;
}

CUresult fake_ctx_push(CUcontext context)
{
    TURN();
    if (depth == DEPTH)
        fake_misuse("pushed without end");
    else
        stack[depth++] = context;
    fake_count(&fake_gpu.pushed, 1);
    return CU_SUCCESS;
}

CUresult fake_ctx_pop(CUcontext *context)
{
    if (!depth)
        fake_misuse("popped what was not pushed");
    *context = depth ? stack[--depth] : NULL;
    fake_count(&fake_gpu.pushed, -1);
    return CU_SUCCESS;
}

CUresult fake_ctx_device(CUdevice *device)
{
    INSIDE();
    *device = 40;
    return CU_SUCCESS;
}

CUresult fake_ctx_synchronize(void)
{
    INSIDE();
    fake_count(&fake_gpu.waits, 1);
    return CU_SUCCESS;
}

typedef struct FakeModule {
    const char *text;
    FakeFunction *functions[NAMES];
    int n;
} FakeModule;

static void module_free(void *module)
{
    FakeModule *m = module;
    for (int i = 0; i < m->n; i++) {
        free(m->functions[i]->name);
        free(m->functions[i]);
    }
    free((char *)m->text);
    free(m);
}

CUresult fake_module_load(CUmodule *module, const void *image, unsigned n, int *options, void **values)
{
    INSIDE();
    (void)n, (void)options, (void)values;
    fake_not_recording("a module is loaded while a stream records");
    if (!fake_gpu.any_code && strncmp(image, "FAKE CODE", 9) != 0)
        return 200;
    FakeModule *made = calloc(1, sizeof *made);
    char *copy = malloc(strlen(image) + 1);
    strcpy(copy, image);
    made->text = copy;
    fake_keep(modules, made, &fake_gpu.modules);
    *module = made;
    return CU_SUCCESS;
}

CUresult fake_module_unload(CUmodule module)
{
    BACK();
    if (fake_drop(modules, module, &fake_gpu.modules))
        module_free(module);
    else
        fake_misuse("unloaded what is no module");
    return CU_SUCCESS;
}

/* Where the text says `name(` as a kernel's own; NULL: nowhere. */
const char *fake_declaration(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at++)
        if (at > text && strchr(" \n", at[-1]) && at[n] == '(')
            return at;
    return NULL;
}

CUresult fake_module_function(CUfunction *function, CUmodule module, const char *name)
{
    INSIDE();
    FakeModule *m = module;
    if (!fake_gpu.any_code && !fake_declaration(m->text, name))
        return 500; /* NOT_FOUND */
    FakeFunction *f = malloc(sizeof *f);
    f->text = m->text;
    f->name = strcpy(malloc(strlen(name) + 1), name);
    pthread_mutex_lock(&fake_lock); /* as the driver, which threads may ask at once */
    bool room = m->n < NAMES;
    if (room)
        *function = m->functions[m->n++] = f;
    pthread_mutex_unlock(&fake_lock);
    if (room)
        return CU_SUCCESS;
    free((char *)(uintptr_t)f->name);
    free(f);
    return 500;
}

CUresult fake_function_attribute(int *value, int attribute, CUfunction function)
{
    INSIDE();
    (void)function;
    *value = attribute == CU_FUNCTION_MAX_THREADS ? fake_gpu.max_threads : attribute == CU_FUNCTION_REGISTERS ? 24 : attribute == CU_FUNCTION_SHARED ? 1024 : 0;
    return CU_SUCCESS;
}

CUresult fake_function_set(CUfunction function, int attribute, int value)
{
    INSIDE();
    (void)function;
    if (attribute != CU_FUNCTION_MAX_DYNAMIC_SHARED || value < 0 || value + 1024 > fake_gpu.max_shared)
        fake_misuse("a function's shared memory");
    return CU_SUCCESS;
}

CUresult fake_occupancy(int *blocks, CUfunction function, int threads, size_t shared)
{
    INSIDE();
    (void)function;
    if (threads < 1 || threads > 1024 || shared > (size_t)fake_gpu.max_shared)
        fake_misuse("occupancy");
    *blocks = fake_gpu.resident;
    return CU_SUCCESS;
}

/* ---- memory ---------------------------------------------------------------------------------------------------------------- */

static CUresult keep_memory(CUdeviceptr *memory, size_t bytes)
{
    if (!bytes)
        return 1; /* as CUDA does */
    unsigned char *at = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!at)
        return CU_OUT_OF_MEMORY;
    memset(at, 0xa5, bytes); /* nothing there is zero by luck */
    pthread_mutex_lock(&fake_lock);
    if (n_memories < MEMORIES) {
        memories[n_memories].at = at;
        memories[n_memories++].bytes = bytes;
    }
    fake_gpu.memories = n_memories;
    pthread_mutex_unlock(&fake_lock);
    *memory = (CUdeviceptr)(uintptr_t)at;
    return CU_SUCCESS;
}

CUresult fake_mem_alloc(CUdeviceptr *memory, size_t bytes)
{
    INSIDE();
    fake_not_recording("memory is allocated while a stream records");
    return keep_memory(memory, bytes);
}

CUresult fake_mem_alloc_async(CUdeviceptr *memory, size_t bytes, CUstream stream)
{
    INSIDE();
    if (fake_is_recording(stream) || !fake_gpu.pools)
        fake_misuse("memory in the order of a stream that records, or that the driver does not know");
    return keep_memory(memory, bytes);
}

CUresult fake_mem_info(size_t *free_bytes, size_t *total)
{
    INSIDE();
    size_t used = 0;
    pthread_mutex_lock(&fake_lock);
    for (int i = 0; i < n_memories; i++)
        used += memories[i].bytes;
    pthread_mutex_unlock(&fake_lock);
    *total = fake_gpu.memory;
    *free_bytes = fake_gpu.memory - used;
    return CU_SUCCESS;
}

static CUresult drop_memory(CUdeviceptr memory)
{
    void *at = NULL;
    pthread_mutex_lock(&fake_lock);
    for (int i = 0; i < n_memories; i++)
        if ((CUdeviceptr)(uintptr_t)memories[i].at == memory) {
            at = memories[i].at;
            memories[i] = memories[--n_memories];
            break;
        }
    fake_gpu.memories = n_memories;
    pthread_mutex_unlock(&fake_lock);
    if (!at)
        fake_misuse("freed what is no memory");
    free(at);
    return CU_SUCCESS;
}

CUresult fake_mem_free(CUdeviceptr memory)
{
    BACK();
    fake_count(&fake_gpu.waits, 1);
    return drop_memory(memory);
}

CUresult fake_mem_free_async(CUdeviceptr memory, CUstream stream)
{
    BACK();
    if (fake_is_recording(stream) || !fake_gpu.pools)
        fake_misuse("memory given back to a stream that records, or that the driver does not know");
    pthread_mutex_lock(&fake_lock);
    fake_gpu.freed_on = stream;
    pthread_mutex_unlock(&fake_lock);
    return drop_memory(memory);
}
