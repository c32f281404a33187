/* In the place of the CUDA driver, for programs that include a header. It has two GPUs, whose memory is the host's and which run nothing. Each call that a
 * real driver would do something about is a line on standard output, or a number in `fake_cuda`, which the program may look up and change. */
#include "fake_cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

FakeCuda fake_cuda = {.arch = 90, .multiprocessors = 7, .resident = 2, .memory = (size_t)1 << 40, .devices = 2};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FakeContext primary[2];
static __thread FakeContext *current;

typedef struct Module {
    FakeContext *context; /* NULL: unloaded */
    char code[32];
} Module;

typedef struct Function {
    Module *module;
    char name[256];
    int shared;
} Function;

static void misuse(const char *what)
{
    fake_cuda.misuse++;
    printf("misuse: %s\n", what);
}

static int begin(void)
{
    pthread_mutex_lock(&lock);
    fake_cuda.calls++;
    int result = fake_cuda.fail_at && fake_cuda.calls == fake_cuda.fail_at ? fake_cuda.fail_with : 0;
    pthread_mutex_unlock(&lock);
    return result;
}

#define BEGIN                \
    do {                     \
        int result_ = begin(); \
        if (result_)         \
            return result_;  \
    } while (0)

static int is_launchable(const Function *f) { return f && f->module->context && f->module->context == current; }

int cuInit(unsigned flags) { BEGIN; return (void)flags, fake_cuda.init; }
int cuGetErrorString(int error, const char **text) { return *text = error == 700 ? "an illegal address" : NULL, error == 700 ? 0 : 1; }

int cuDeviceGet(int *device, int ordinal)
{
    BEGIN;
    *device = ordinal;
    return ordinal >= 0 && ordinal < fake_cuda.devices ? 0 : 101;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    BEGIN;
    (void)device;
    *value = attribute == 16 ? fake_cuda.multiprocessors : attribute == 75 ? fake_cuda.arch / 10 : attribute == 76 ? fake_cuda.arch % 10 : -1;
    return *value < 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    BEGIN;
    primary[device].device = device;
    if (!primary[device].id)
        primary[device].id = (unsigned long long)device + 1;
    *context = &primary[device];
    return 0;
}

int cuCtxGetCurrent(void **context) { BEGIN; return *context = current, 0; }
int cuCtxSetCurrent(void *context) { BEGIN; return current = context, 0; }
int cuCtxGetDevice(int *device) { BEGIN; return *device = current ? current->device : 0, current ? 0 : 201; }
int cuCtxGetId(void *context, unsigned long long *id) { BEGIN; return *id = ((FakeContext *)context)->id, 0; }

int cuModuleLoadData(void **module, const void *image)
{
    BEGIN;
    const char *code = image;
    int refused = strncmp(code, "ptx", 3) ? fake_cuda.refuse_cubins : fake_cuda.refuse_ptx;
    if (refused)
        return refused;
    Module *m = calloc(1, sizeof *m);
    m->context = current;
    snprintf(m->code, sizeof m->code, "%s", code);
    snprintf(fake_cuda.loaded, sizeof fake_cuda.loaded, "%s", code);
    pthread_mutex_lock(&lock);
    fake_cuda.loads++;
    pthread_mutex_unlock(&lock);
    *module = m;
    return 0;
}

int cuModuleUnload(void *module)
{
    BEGIN;
    Module *m = module;
    if (!m->context || m->context != current)
        misuse("a module is unloaded twice, or in another context");
    m->context = NULL;
    pthread_mutex_lock(&lock);
    fake_cuda.unloads++;
    pthread_mutex_unlock(&lock);
    return 0;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    BEGIN;
    Function *f = calloc(1, sizeof *f);
    f->module = module;
    snprintf(f->name, sizeof f->name, "%s", name);
    return *function = f, 0;
}

int cuFuncSetAttribute(void *function, int attribute, int value)
{
    BEGIN;
    if (attribute != 8)
        misuse("an attribute that nobody knows");
    ((Function *)function)->shared = value;
    return 0;
}

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t shared)
{
    BEGIN;
    (void)threads, (void)shared;
    if (!is_launchable(function))
        misuse("blocks of a kernel of another context");
    return *blocks = fake_cuda.resident, 0;
}

/* The bytes of each parameter, a digit each, by the name of the kernel: what the program says. */
typedef const char *ParametersOf(const char *kernel);

static int launch(Function *f, const unsigned grid[3], const unsigned block[3], unsigned shared, int cooperative, void *stream, void **args)
{
    void *symbol = dlsym(RTLD_DEFAULT, "parameters_of");
    ParametersOf *parameters_of;
    memcpy(&parameters_of, &symbol, sizeof symbol);
    if (!is_launchable(f))
        misuse("a kernel of another context, or of none");
    if (shared > (unsigned)f->shared && shared > 48 * 1024)
        misuse("more shared memory than the kernel may have");
    if (!grid[0] || !grid[1] || !grid[2])
        misuse("a grid without blocks");
    pthread_mutex_lock(&lock);
    fake_cuda.launches++;
    pthread_mutex_unlock(&lock);
    if (!symbol)
        return 0;
    printf("launch %s %u %u %u, %u %u %u, %u%s, stream %zx:", f->name, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, cooperative ? " cooperative" : "",
           (size_t)stream);
    const char *bytes = parameters_of(f->name);
    for (int i = 0; bytes[i]; i++) {
        unsigned long long value = 0;
        memcpy(&value, args[i], (size_t)(bytes[i] - '0'));
        printf(" %llx", value);
    }
    printf("\n");
    return 0;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, void **args, void **extra)
{
    BEGIN;
    (void)extra;
    return launch(function, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, shared, 0, stream, args);
}

int cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, void **args)
{
    BEGIN;
    return launch(function, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, shared, 1, stream, args);
}

int cuMemsetD8Async(unsigned long long memory, unsigned char value, size_t bytes, void *stream)
{
    BEGIN;
    printf("set %llx %u %zu, stream %zx\n", memory, value, bytes, (size_t)stream);
    return 0;
}

int cuMemGetInfo_v2(size_t *unused, size_t *all) { BEGIN; return *unused = *all = fake_cuda.memory, 0; }

int cuMemAlloc_v2(unsigned long long *memory, size_t bytes)
{
    BEGIN;
    void *address = bytes > fake_cuda.memory ? NULL : aligned_alloc(256, (bytes + 255) / 256 * 256);
    *memory = (unsigned long long)(size_t)address;
    return address ? 0 : 2;
}

int cuMemFree_v2(unsigned long long memory) { BEGIN; return free((void *)(size_t)memory), 0; }

int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes, void *stream)
{
    BEGIN;
    return (void)stream, memcpy((void *)(size_t)to, from, bytes), 0;
}

int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes, void *stream)
{
    BEGIN;
    return (void)stream, memcpy(to, (const void *)(size_t)from, bytes), 0;
}

int cuStreamSynchronize(void *stream) { BEGIN; return (void)stream, 0; }
