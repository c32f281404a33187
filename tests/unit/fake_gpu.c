#include "fake_gpu.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

FakeGpu fake_gpu;

enum { MEMORIES = 4096, OBJECTS = 4096, DEPTH = 16, NAMES = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    unsigned char *at;
    size_t bytes;
} memories[MEMORIES];
static int n_memories;
static void *modules[OBJECTS], *events[OBJECTS], *streams[OBJECTS];
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
        free(events[i]);
        free(streams[i]);
        modules[i] = events[i] = streams[i] = NULL;
    }
    fake_gpu.memories = fake_gpu.modules = fake_gpu.events = fake_gpu.streams = 0;
}

static void keep(void **list, void *object, long *counter)
{
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < OBJECTS - 1 && list[i])
        i++;
    list[i] = object;
    ++*counter;
    pthread_mutex_unlock(&lock);
}

static bool drop(void **list, void *object, long *counter)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < OBJECTS && !found; i++)
        if (list[i] == object) {
            list[i] = NULL;
            found = true;
        }
    *counter -= found;
    pthread_mutex_unlock(&lock);
    return found;
}

void fake_gpu_start(void)
{
    destroy();
    fake_gpu = (FakeGpu){.version = 13000, .devices = 1, .arch = 90, .sms = 132, .max_shared = 232448, .cooperative = 1, .resident = 2, .max_threads = 1024, .nvrtc_newest = 120};
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
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n_memories; i++) {
        CUdeviceptr start = (CUdeviceptr)(uintptr_t)memories[i].at;
        found |= address >= start && bytes <= memories[i].bytes && address - start <= memories[i].bytes - bytes;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static void misuse(const char *what)
{
    printf("misuse of the driver: %s\n", what);
    pthread_mutex_lock(&lock);
    fake_gpu.misuse++;
    pthread_mutex_unlock(&lock);
}

/* CU_SUCCESS, or how this call shall fail. */
static CUresult turn(const char *name)
{
    pthread_mutex_lock(&lock);
    CUresult result = fake_gpu.sticky;
    if (++fake_gpu.calls == fake_gpu.fail_at) {
        result = fake_gpu.fail_with;
        fake_gpu.failed = name;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static void count(long *counter, long by)
{
    pthread_mutex_lock(&lock);
    *counter += by;
    pthread_mutex_unlock(&lock);
}

#define TURN()                                  \
    do {                                        \
        CUresult turn_ = turn(__func__ + 5);    \
        if (turn_ != CU_SUCCESS)                \
            return turn_;                       \
    } while (0)
/* For functions that work in the current context. */
#define INSIDE()                                \
    do {                                        \
        if (!fake_gpu_current()) {              \
            misuse(__func__);                   \
            return CU_INVALID_CONTEXT;          \
        }                                       \
        TURN();                                 \
    } while (0)

/* For what gives something back: librise could do nothing about a failure. */
#define BACK()                                  \
    do {                                        \
        if (!fake_gpu_current()) {              \
            misuse(__func__);                   \
            return CU_INVALID_CONTEXT;          \
        }                                       \
    } while (0)

/* ---- the driver --------------------------------------------------------------------------------------------------------- */

static CUresult fake_init(unsigned flags)
{
    (void)flags;
    TURN();
    return fake_gpu.init_result;
}

static CUresult fake_driver_version(int *version)
{
    TURN();
    *version = fake_gpu.version;
    return CU_SUCCESS;
}

static CUresult fake_error_name(CUresult error, const char **text)
{
    *text = error == CU_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : NULL;
    return *text ? CU_SUCCESS : 1;
}

static CUresult fake_error_string(CUresult error, const char **text)
{
    (void)error;
    *text = "as the test wants";
    return CU_SUCCESS;
}

static CUresult fake_device_count(int *n)
{
    TURN();
    *n = fake_gpu.devices;
    return CU_SUCCESS;
}

static CUresult fake_device_get(CUdevice *device, int ordinal)
{
    TURN();
    *device = 40 + ordinal;
    return CU_SUCCESS;
}

static CUresult fake_device_name(char *name, int size, CUdevice device)
{
    TURN();
    if (device < 40)
        misuse("a device that is none");
    snprintf(name, (size_t)size, "Fake GPU");
    return CU_SUCCESS;
}

static CUresult fake_device_attribute(int *value, int attribute, CUdevice device)
{
    TURN();
    if (device < 40)
        misuse("a device that is none");
    *value = attribute == CU_MULTIPROCESSORS    ? fake_gpu.sms
             : attribute == CU_MAJOR            ? fake_gpu.arch / 10
             : attribute == CU_MINOR            ? fake_gpu.arch % 10
             : attribute == CU_COOPERATIVE      ? fake_gpu.cooperative
             : attribute == CU_MAX_SHARED_OPTIN ? fake_gpu.max_shared
                                                : -1;
    return CU_SUCCESS;
}

static CUresult fake_primary_retain(CUcontext *context, CUdevice device)
{
    TURN();
    (void)device;
    fake_gpu.retained++;
    *context = &primary;
    return CU_SUCCESS;
}

static CUresult fake_primary_release(CUdevice device)
{
    (void)device;
    if (--fake_gpu.retained < 0)
        misuse("released too often");
    if (fake_gpu.retained == 0)
        destroy();
    return CU_SUCCESS;
}

static CUresult fake_ctx_current(CUcontext *context)
{
    *context = fake_gpu_current();
    return CU_SUCCESS;
}

static CUresult fake_ctx_push(CUcontext context)
{
    TURN();
    if (depth == DEPTH)
        misuse("pushed without end");
    else
        stack[depth++] = context;
    count(&fake_gpu.pushed, 1);
    return CU_SUCCESS;
}

static CUresult fake_ctx_pop(CUcontext *context)
{
    if (!depth)
        misuse("popped what was not pushed");
    *context = depth ? stack[--depth] : NULL;
    count(&fake_gpu.pushed, -1);
    return CU_SUCCESS;
}

static CUresult fake_ctx_device(CUdevice *device)
{
    INSIDE();
    *device = 40;
    return CU_SUCCESS;
}

static CUresult fake_ctx_synchronize(void)
{
    INSIDE();
    return CU_SUCCESS;
}

typedef struct FakeFunction {
    const char *text; /* the module's */
    char *name;
} FakeFunction;

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

static CUresult fake_module_load(CUmodule *module, const void *image, unsigned n, int *options, void **values)
{
    INSIDE();
    (void)n, (void)options, (void)values;
    if (strncmp(image, "FAKE CODE", 9) != 0)
        return 200;
    FakeModule *made = calloc(1, sizeof *made);
    char *copy = malloc(strlen(image) + 1);
    strcpy(copy, image);
    made->text = copy;
    keep(modules, made, &fake_gpu.modules);
    *module = made;
    return CU_SUCCESS;
}

static CUresult fake_module_unload(CUmodule module)
{
    BACK();
    if (drop(modules, module, &fake_gpu.modules))
        module_free(module);
    else
        misuse("unloaded what is no module");
    return CU_SUCCESS;
}

/* Where the text says `name(` as a kernel's own; NULL: nowhere. */
static const char *declaration(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at++)
        if (at > text && strchr(" \n", at[-1]) && at[n] == '(')
            return at;
    return NULL;
}

static CUresult fake_module_function(CUfunction *function, CUmodule module, const char *name)
{
    INSIDE();
    FakeModule *m = module;
    if (!declaration(m->text, name) || m->n == NAMES)
        return 500; /* NOT_FOUND */
    FakeFunction *f = malloc(sizeof *f);
    f->text = m->text;
    f->name = strcpy(malloc(strlen(name) + 1), name);
    *function = m->functions[m->n++] = f;
    return CU_SUCCESS;
}

static CUresult fake_function_attribute(int *value, int attribute, CUfunction function)
{
    INSIDE();
    (void)function;
    *value = attribute == CU_FUNCTION_MAX_THREADS ? fake_gpu.max_threads : attribute == CU_FUNCTION_REGISTERS ? 24 : attribute == CU_FUNCTION_SHARED ? 1024 : 0;
    return CU_SUCCESS;
}

static CUresult fake_function_set(CUfunction function, int attribute, int value)
{
    INSIDE();
    (void)function;
    if (attribute != CU_FUNCTION_MAX_DYNAMIC_SHARED || value < 0 || value + 1024 > fake_gpu.max_shared)
        misuse("a function's shared memory");
    return CU_SUCCESS;
}

static CUresult fake_occupancy(int *blocks, CUfunction function, int threads, size_t shared)
{
    INSIDE();
    (void)function;
    if (threads < 1 || threads > 1024 || shared > (size_t)fake_gpu.max_shared)
        misuse("occupancy");
    *blocks = fake_gpu.resident;
    return CU_SUCCESS;
}

/* ---- streams: what is enqueued, and the record ---------------------------------------------------------------------------------- */

enum { NODES = 64, PARAMS = 32 };

typedef enum NodeKind { NODE_KERNEL, NODE_COPY_IN, NODE_COPY_OUT, NODE_COPY_DEVICE, NODE_SET } NodeKind;

typedef struct Node {
    NodeKind kind;
    FakeLaunch launch;
    uint64_t values[PARAMS]; /* of the parameters; recorded by value, as CUDA does */
    void *params[PARAMS];
    void *to;
    const void *from;
    size_t bytes;
    unsigned char value;
} Node;

static Node nodes[NODES];
static int n_nodes;
static bool recording;
static CUstream recorder;

static void note(const char *fmt, ...)
{
    va_list args;
    if (!fake_gpu.log)
        return;
    pthread_mutex_lock(&lock);
    size_t at = strlen(fake_gpu.log);
    va_start(args, fmt);
    vsnprintf(fake_gpu.log + at, fake_gpu.log_room - at, fmt, args);
    va_end(args);
    pthread_mutex_unlock(&lock);
}

void fake_gpu_record(CUstream stream)
{
    n_nodes = 0;
    recording = true;
    recorder = stream;
}

void fake_gpu_record_end(void) { recording = false; }

static bool is_recording(CUstream stream) { return recording && recorder == stream; }

static const char *node_name(const Node *n)
{
    static const char *const names[] = {[NODE_KERNEL] = "launch", [NODE_COPY_IN] = "copy in", [NODE_COPY_OUT] = "copy out", [NODE_COPY_DEVICE] = "copy", [NODE_SET] = "clear"};
    return n->kind == NODE_KERNEL ? n->launch.name : names[n->kind];
}

static void run_node(const Node *n)
{
    note("%s\n", node_name(n));
    if (n->kind == NODE_KERNEL) {
        count(&fake_gpu.launches, 1);
        if (fake_gpu.kernel)
            fake_gpu.kernel(&n->launch);
    } else if (n->kind == NODE_SET) {
        memset(n->to, n->value, n->bytes);
    } else {
        memcpy(n->to, n->from, n->bytes);
    }
}

/* Bytes of the parameters of a kernel, from its text: a pointer, or a type's name. */
static int param_bytes(const char *param)
{
    static const struct {
        const char *name;
        int bytes;
    } types[] = {{"long long", 8}, {"double", 8}, {"short", 2}, {"char", 1}, {"bool", 1}};
    size_t end = strcspn(param, ",)");
    if (memchr(param, '*', end))
        return 8;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        const char *at = strstr(param, types[i].name);
        if (at && at < param + end)
            return types[i].bytes;
    }
    return 4;
}

static void keep_params(Node *n)
{
    const FakeFunction *f = n->launch.function;
    const char *param = declaration(f->text, f->name) + strlen(f->name) + 1;
    int k = 0;
    for (bool more = *param != ')'; more && k < PARAMS; k++) {
        memcpy(&n->values[k], n->launch.params[k], (size_t)param_bytes(param));
        n->params[k] = &n->values[k];
        param += strcspn(param, ",)");
        more = *param++ == ',';
    }
    n->launch.params = n->params;
}

/* Now, or as a node of the record. */
static CUresult enqueue(CUstream stream, const Node *n)
{
    if (!is_recording(stream)) {
        run_node(n);
        return CU_SUCCESS;
    }
    note("record %s\n", node_name(n));
    if (n_nodes == NODES) {
        misuse("a record that is too long for the test");
        return 1;
    }
    Node *kept = &nodes[n_nodes++];
    *kept = *n;
    if (kept->kind == NODE_KERNEL)
        keep_params(kept);
    return CU_SUCCESS;
}

void fake_gpu_replay(void)
{
    note("replay\n");
    for (int i = 0; i < n_nodes; i++)
        run_node(&nodes[i]);
}

static CUresult launch(CUstream stream, const FakeLaunch *l)
{
    for (int a = 0; a < 3; a++)
        if (l->grid[a] < 1 || l->block[a] < 1 || (a > 0 && l->grid[a] > 65535))
            misuse("a launch without blocks or threads, or with too many");
    if (l->shared > (unsigned)fake_gpu.max_shared || (l->cooperative && l->grid[0] * l->grid[1] * l->grid[2] > (unsigned)(fake_gpu.sms * fake_gpu.resident)))
        misuse("a launch that is too large");
    Node n = {.kind = NODE_KERNEL, .launch = *l};
    return enqueue(stream, &n);
}

static CUresult fake_launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream stream, void **params, void **extra)
{
    INSIDE();
    if (extra)
        misuse("both kinds of parameters");
    FakeLaunch l = {((FakeFunction *)f)->name, f, {gx, gy, gz}, {bx, by, bz}, shared, false, stream, params};
    return launch(stream, &l);
}

static CUresult fake_launch_cooperative(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream stream, void **params)
{
    INSIDE();
    FakeLaunch l = {((FakeFunction *)f)->name, f, {gx, gy, gz}, {bx, by, bz}, shared, true, stream, params};
    return launch(stream, &l);
}

static CUresult fake_mem_alloc(CUdeviceptr *memory, size_t bytes)
{
    INSIDE();
    if (!bytes)
        return 1; /* as CUDA does */
    unsigned char *at = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!at)
        return CU_OUT_OF_MEMORY;
    memset(at, 0xa5, bytes); /* nothing there is zero by luck */
    pthread_mutex_lock(&lock);
    if (n_memories < MEMORIES) {
        memories[n_memories].at = at;
        memories[n_memories++].bytes = bytes;
    }
    fake_gpu.memories = n_memories;
    pthread_mutex_unlock(&lock);
    *memory = (CUdeviceptr)(uintptr_t)at;
    return CU_SUCCESS;
}

static CUresult fake_mem_free(CUdeviceptr memory)
{
    BACK();
    void *at = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < n_memories; i++)
        if ((CUdeviceptr)(uintptr_t)memories[i].at == memory) {
            at = memories[i].at;
            memories[i] = memories[--n_memories];
            break;
        }
    fake_gpu.memories = n_memories;
    pthread_mutex_unlock(&lock);
    if (!at)
        misuse("freed what is no memory");
    free(at);
    return CU_SUCCESS;
}

static CUresult copy(NodeKind kind, CUdeviceptr device, void *to, const void *from, size_t bytes, CUstream stream)
{
    if (!bytes || !fake_gpu_owns(device, bytes)) {
        misuse("a copy to or from what is no memory of the device");
        return CU_SUCCESS;
    }
    Node n = {.kind = kind, .to = to, .from = from, .bytes = bytes};
    return enqueue(stream, &n);
}

static CUresult fake_copy_in(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    INSIDE();
    return copy(NODE_COPY_IN, to, (void *)(uintptr_t)to, from, bytes, stream);
}

static CUresult fake_copy_out(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    INSIDE();
    return copy(NODE_COPY_OUT, from, to, (const void *)(uintptr_t)from, bytes, stream);
}

static CUresult fake_copy_device(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    INSIDE();
    if (!fake_gpu_owns(from, bytes))
        misuse("a copy from what is no memory of the device");
    return copy(NODE_COPY_DEVICE, to, (void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes, stream);
}

static CUresult fake_set_bytes(CUdeviceptr memory, unsigned char value, size_t bytes, CUstream stream)
{
    INSIDE();
    Node n = {.kind = NODE_SET, .to = (void *)(uintptr_t)memory, .value = value, .bytes = bytes};
    if (fake_gpu_owns(memory, bytes))
        return enqueue(stream, &n);
    misuse("clearing what is no memory of the device");
    return CU_SUCCESS;
}

static CUresult fake_stream_create(CUstream *stream, unsigned flags)
{
    INSIDE();
    if (flags != CU_STREAM_NON_BLOCKING)
        misuse("a stream that waits for others");
    *stream = malloc(1);
    keep(streams, *stream, &fake_gpu.streams);
    return CU_SUCCESS;
}

static CUresult fake_stream_destroy(CUstream stream)
{
    BACK();
    if (drop(streams, stream, &fake_gpu.streams))
        free(stream);
    else
        misuse("destroyed what is no stream");
    return CU_SUCCESS;
}

static CUresult fake_stream_capturing(CUstream stream, int *status)
{
    INSIDE();
    *status = is_recording(stream);
    return CU_SUCCESS;
}

static CUresult fake_stream_query(CUstream stream)
{
    INSIDE();
    (void)stream;
    return CU_SUCCESS;
}

static CUresult fake_stream_synchronize(CUstream stream)
{
    INSIDE();
    if (is_recording(stream))
        misuse("waiting for a stream that is recording");
    return CU_SUCCESS;
}

static CUresult fake_stream_wait(CUstream stream, CUevent event, unsigned flags)
{
    INSIDE();
    (void)flags;
    if (!event || is_recording(stream))
        misuse("waiting for no event, or while recording");
    return CU_SUCCESS;
}

static CUresult fake_event_create(CUevent *event, unsigned flags)
{
    INSIDE();
    (void)flags;
    *event = malloc(1);
    keep(events, *event, &fake_gpu.events);
    return CU_SUCCESS;
}

static CUresult fake_event_record(CUevent event, CUstream stream)
{
    INSIDE();
    if (!event || is_recording(stream))
        misuse("an event that is none, or that would end up in a record");
    return CU_SUCCESS;
}

static CUresult fake_event_destroy(CUevent event)
{
    BACK();
    if (drop(events, event, &fake_gpu.events))
        free(event);
    else
        misuse("destroyed what is no event");
    return CU_SUCCESS;
}

/* ---- NVRTC: the code is the text --------------------------------------------------------------------------------------------- */

typedef struct FakeNvrtc {
    char *code;
    int arch;
    const char *result;
} FakeNvrtc;

static int rtc_version(int *major, int *minor)
{
    *major = 13;
    *minor = 0;
    return 0;
}

static int rtc_create(FakeNvrtc **program, const char *text, const char *name, int n, const char *const *headers, const char *const *names)
{
    (void)name, (void)n, (void)headers, (void)names;
    FakeNvrtc *p = calloc(1, sizeof *p);
    p->code = malloc(strlen(text) + 16);
    sprintf(p->code, "FAKE CODE\n%s", text);
    *program = p;
    return 0;
}

static int rtc_destroy(FakeNvrtc **program)
{
    free((*program)->code);
    free(*program);
    *program = NULL;
    return 0;
}

static int rtc_compile(FakeNvrtc *program, int n, const char *const *options)
{
    (void)program;
    for (int i = 0; i < n; i++) {
        const char *arch = strstr(options[i], "arch=");
        if (arch && atoi(strchr(arch, '_') + 1) > fake_gpu.nvrtc_newest)
            return 5; /* INVALID_OPTION */
    }
    count(&fake_gpu.compilations, 1);
    return 0;
}

static int rtc_size(FakeNvrtc *program, size_t *size)
{
    *size = strlen(program->code) + 1;
    return 0;
}

static int rtc_code(FakeNvrtc *program, char *code)
{
    strcpy(code, program->code);
    return 0;
}

static int rtc_log_size(FakeNvrtc *program, size_t *size)
{
    (void)program;
    *size = 1;
    return 0;
}

static int rtc_log(FakeNvrtc *program, char *log)
{
    (void)program;
    log[0] = 0;
    return 0;
}

static const char *rtc_error(int result) { return result == 5 ? "NVRTC_ERROR_INVALID_OPTION" : "an error"; }

static int rtc_arch_count(int *n)
{
    *n = 4;
    return 0;
}

static int rtc_archs(int *archs)
{
    archs[0] = 75;
    archs[1] = 80;
    archs[2] = 90;
    archs[3] = fake_gpu.nvrtc_newest;
    return 0;
}

/* ---- the loader ----------------------------------------------------------------------------------------------------------------- */

typedef void (*AnyFunction)(void);

static const struct {
    const char *name;
    AnyFunction function;
} functions[] = {
#define CUDA_FN(name, symbol, params) {symbol, (AnyFunction)fake_##name},
#include "runtime/cuda_api.def"
#undef CUDA_FN
    {"nvrtcVersion", (AnyFunction)rtc_version},
    {"nvrtcCreateProgram", (AnyFunction)rtc_create},
    {"nvrtcDestroyProgram", (AnyFunction)rtc_destroy},
    {"nvrtcCompileProgram", (AnyFunction)rtc_compile},
    {"nvrtcGetProgramLogSize", (AnyFunction)rtc_log_size},
    {"nvrtcGetProgramLog", (AnyFunction)rtc_log},
    {"nvrtcGetPTXSize", (AnyFunction)rtc_size},
    {"nvrtcGetPTX", (AnyFunction)rtc_code},
    {"nvrtcGetCUBINSize", (AnyFunction)rtc_size},
    {"nvrtcGetCUBIN", (AnyFunction)rtc_code},
    {"nvrtcGetErrorString", (AnyFunction)rtc_error},
    {"nvrtcGetNumSupportedArchs", (AnyFunction)rtc_arch_count},
    {"nvrtcGetSupportedArchs", (AnyFunction)rtc_archs},
};

static void *loader_open(void *user, const char *name)
{
    static char libraries[2];
    (void)user;
    if (strstr(name, "stubs"))
        misuse("the stubs");
    if (strcmp(name, "libcuda.so.1") == 0)
        return fake_gpu.no_driver ? NULL : &libraries[0];
    return strcmp(name, "libnvrtc.so.13") == 0 && !fake_gpu.no_nvrtc ? &libraries[1] : NULL;
}

static void *loader_symbol(void *user, void *library, const char *name)
{
    void *address = NULL;
    (void)user, (void)library;
    if (fake_gpu.no_symbol && strcmp(name, fake_gpu.no_symbol) == 0)
        return NULL;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(functions[i].name, name) == 0)
            memcpy(&address, &functions[i].function, sizeof address);
    return address;
}

static void loader_close(void *user, void *library) { (void)user, (void)library; }

static bool loader_path(void *user, void *function, char *path, size_t size)
{
    (void)user, (void)function, (void)path, (void)size;
    return false;
}

static bool loader_identify(void *user, const char *path, FileIdentity *identity)
{
    (void)user, (void)path, (void)identity;
    return false;
}

static const char *loader_env(void *user, const char *name)
{
    (void)user, (void)name;
    return NULL;
}

const LibraryLoader fake_loader = {NULL, loader_open, loader_symbol, loader_close, loader_path, loader_identify, loader_env};
