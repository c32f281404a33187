#include "runtime/nvrtc.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/cache.h"
#include "support/stack.h"

/* ---- finding and loading ------------------------------------------------------------------------------------------ */

#define SYMBOL(field, name, optional) {name, offsetof(NvrtcApi, field), optional}
static const LibrarySymbol symbols[] = {
    SYMBOL(version, "nvrtcVersion", false),
    SYMBOL(create, "nvrtcCreateProgram", false),
    SYMBOL(destroy, "nvrtcDestroyProgram", false),
    SYMBOL(compile, "nvrtcCompileProgram", false),
    SYMBOL(log_size, "nvrtcGetProgramLogSize", false),
    SYMBOL(log, "nvrtcGetProgramLog", false),
    SYMBOL(ptx_size, "nvrtcGetPTXSize", false),
    SYMBOL(ptx, "nvrtcGetPTX", false),
    SYMBOL(cubin_size, "nvrtcGetCUBINSize", false),
    SYMBOL(cubin, "nvrtcGetCUBIN", false),
    SYMBOL(error_text, "nvrtcGetErrorString", false),
    SYMBOL(arch_count, "nvrtcGetNumSupportedArchs", true),
    SYMBOL(archs, "nvrtcGetSupportedArchs", true),
};
#undef SYMBOL

/* CUDA 11 kept one name from 11.2 to its end; the last row is that of distributions that made their own. */
static const struct {
    const char *name;
    int major;
} versions[] = {{"libnvrtc.so.13", 13}, {"libnvrtc.so.12", 12}, {"libnvrtc.so.11.2", 11}, {"libnvrtc.so.11", 11}};

/* Where libraries are looked for: a variable with the folder of CUDA, or that folder; neither: where the system looks. */
static const struct {
    const char *variable, *folder;
} places[] = {{NULL, NULL}, {"CUDA_HOME", NULL}, {"CUDA_PATH", NULL}, {NULL, "/usr/local/cuda"}};

enum { VERSION_COUNT = sizeof versions / sizeof versions[0], PLACE_COUNT = sizeof places / sizeof places[0] };

/* False, with the reason in `why`, when the library is none that can be used; it is closed then. */
static bool take_library(const LibraryLoader *loader, void *library, const char *name, int max_major, Nvrtc *nvrtc, char *why)
{
    const char *missing = library_symbols(loader, library, sizeof symbols / sizeof symbols[0], symbols, &nvrtc->api);
    if (missing)
        snprintf(why, NVRTC_WHY_MAX, "%.500s has no function %s", name, missing);
    else if (nvrtc->api.version(&nvrtc->major, &nvrtc->minor) != 0)
        snprintf(why, NVRTC_WHY_MAX, "%.500s does not tell its version", name);
    else if (max_major && nvrtc->major > max_major)
        snprintf(why, NVRTC_WHY_MAX, "%.500s is of CUDA %d, and the driver of CUDA %d", name, nvrtc->major, max_major);
    else {
        void *address;
        memcpy(&address, &nvrtc->api.version, sizeof address);
        if (!loader->path(loader->user, address, nvrtc->path, sizeof nvrtc->path))
            nvrtc->path[0] = 0;
        return true;
    }
    loader->close(loader->user, library);
    return false;
}

/* The path of a library in one of the places; false when there is no such place. */
static bool library_name(const LibraryLoader *loader, int place, int version, char *name, size_t size)
{
    const char *folder = places[place].folder;
    if (places[place].variable)
        folder = loader->env(loader->user, places[place].variable);
    else if (!folder)
        return snprintf(name, size, "%s", versions[version].name) < (int)size;
    return folder && folder[0] == '/' && snprintf(name, size, "%s/lib64/%s", folder, versions[version].name) < (int)size;
}

bool nvrtc_load(const LibraryLoader *loader, int max_major, Nvrtc *nvrtc, char *why)
{
    char name[NVRTC_PATH_MAX], unfit[NVRTC_WHY_MAX] = "";
    memset(nvrtc, 0, sizeof *nvrtc);
    for (int place = 0; place < PLACE_COUNT; place++) {
        for (int v = 0; v < VERSION_COUNT; v++) {
            if (max_major && versions[v].major > max_major)
                continue;
            if (!library_name(loader, place, v, name, sizeof name))
                continue;
            void *library = loader->open(loader->user, name);
            if (library && take_library(loader, library, name, max_major, nvrtc, unfit))
                return true;
        }
    }
    memset(nvrtc, 0, sizeof *nvrtc);
    size_t n = (size_t)snprintf(why, NVRTC_WHY_MAX, "there is no NVRTC, NVIDIA's compiler: looked for");
    const char *between = " ";
    for (int v = 0; v < VERSION_COUNT; v++) {
        if (max_major && versions[v].major > max_major)
            continue;
        n += (size_t)snprintf(why + n, NVRTC_WHY_MAX - n, "%s%s", between, versions[v].name);
        between = ", ";
    }
    if (max_major && max_major < versions[VERSION_COUNT - 1].major)
        n += (size_t)snprintf(why + n, NVRTC_WHY_MAX - n, " one for a driver of CUDA %d, which is too old", max_major);
    n += (size_t)snprintf(why + n, NVRTC_WHY_MAX - n, " where the system looks for libraries, and in lib64 of $CUDA_HOME, $CUDA_PATH and /usr/local/cuda");
    if (unfit[0])
        snprintf(why + n, NVRTC_WHY_MAX - n, "; %s", unfit);
    return false;
}

/* ---- threads with large stacks ---------------------------------------------------------------------------------------- */

typedef struct StackCall {
    void (*fn)(void *arg);
    void *arg;
} StackCall;

static void *call_on_stack(void *user)
{
    StackCall *call = user;
    call->fn(call->arg);
    return NULL;
}

enum { THREADS_MAX = 16 };

static bool threads_on_stacks(int n, void (*fn)(void *arg), void *arg)
{
    StackCall call = {fn, arg};
    pthread_t threads[THREADS_MAX];
    int started = 0;
    while (started < n && started < THREADS_MAX && stack_start(&threads[started], call_on_stack, &call))
        started++;
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return started > 0;
}

static int processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (int)n;
}

/* ---- compiling ------------------------------------------------------------------------------------------------------ */

/* Of nvrtcResult: the text, or an option, is at fault. */
enum { RESULT_INVALID_OPTION = 5, RESULT_COMPILATION = 6 };

int nvrtc_options(Ctx *ctx, const CodeRequest *request, const char *options[NVRTC_MAX_OPTIONS])
{
    int n = 0;
    options[n++] = ctx_printf(ctx, "--gpu-architecture=%s_%d", request->form == CODE_PTX ? "compute" : "sm", request->arch);
    options[n++] = "--std=c++17";
    if (request->line_info)
        options[n++] = "--generate-line-info";
    return n;
}

typedef struct Compilation {
    const Nvrtc *nvrtc;
    const CodeRequest *request;
    const char *options[NVRTC_MAX_OPTIONS];
    int n_options;
    bool created;
    NvrtcProgram program;
    const char *call; /* the last one */
    int result;       /* of it */
    char *log;
    size_t log_size, size;
    char *bytes;
    CodeWork *work;
} Compilation;

typedef struct Batch {
    int n;
    Compilation *at;
    const Brake *brake;
    atomic_int next;
} Batch;

/* On a large stack: allocates nothing, for a failure could not jump from here. */
static void compile_on_stack(void *arg)
{
    Batch *batch = arg;
    for (int i; !(batch->brake && batch->brake->pulled) && (i = atomic_fetch_add(&batch->next, 1)) < batch->n;) {
        Compilation *c = &batch->at[i];
        const NvrtcApi *api = &c->nvrtc->api;
        c->call = "nvrtcCreateProgram";
        c->result = api->create(&c->program, c->request->text, c->request->name, 0, NULL, NULL);
        if (c->result != 0)
            continue;
        c->created = true;
        c->call = "nvrtcCompileProgram";
        c->result = api->compile(c->program, c->n_options, c->options);
    }
}

static void fetch_log(Ctx *ctx, Compilation *c)
{
    const NvrtcApi *api = &c->nvrtc->api;
    c->log = NEWN(ctx, char, 1);
    if (api->log_size(c->program, &c->log_size) != 0)
        return;
    char *log = NEWN(ctx, char, c->log_size + 1);
    if (api->log(c->program, log) != 0)
        return;
    for (size_t n = strlen(log); n > 0 && (log[n - 1] == '\n' || log[n - 1] == ' '); n--)
        log[n - 1] = 0;
    c->log = log;
}

static void fetch_code(Ctx *ctx, Compilation *c)
{
    const NvrtcApi *api = &c->nvrtc->api;
    bool ptx = c->request->form == CODE_PTX;
    c->call = ptx ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize";
    c->result = (ptx ? api->ptx_size : api->cubin_size)(c->program, &c->size);
    if (c->result != 0)
        return;
    c->bytes = NEWN(ctx, char, c->size + 1);
    c->call = ptx ? "nvrtcGetPTX" : "nvrtcGetCUBIN";
    c->result = (ptx ? api->ptx : api->cubin)(c->program, c->bytes);
    /* PTX comes with its terminator. */
    if (ptx)
        c->size = strlen(c->bytes);
}

/* Keeps the text for the report of a bug, in a file of its own. The path, or NULL with errno. */
static const char *save_text(Ctx *ctx, const char *text)
{
    const char *folder = getenv("TMPDIR");
    char *path = NULL;
    StrBuf template;
    sb_init(&template, ctx);
    sb_printf(&template, "%s/risec-refused-XXXXXX", folder && folder[0] == '/' ? folder : "/tmp");
    path = template.text;
    int file = mkstemp(path);
    if (file < 0)
        return NULL;
    bool good = true;
    for (size_t n = strlen(text); good && n > 0;) {
        ssize_t put = quiet_write(file, text, n);
        good = put > 0;
        if (put > 0) {
            text += put;
            n -= (size_t)put;
        }
    }
    int error = errno;
    good = close(file) == 0 && good;
    if (good)
        return path;
    unlink(path);
    errno = error;
    return NULL;
}

static CodeStatus refused(Ctx *ctx, const Compilation *c, StrBuf *why)
{
    const Nvrtc *nvrtc = c->nvrtc;
    sb_printf(why, "a bug in risec, not in your program: NVRTC %d.%d refuses the CUDA C of %s (%s)\n", nvrtc->major, nvrtc->minor,
              c->request->name, nvrtc->api.error_text(c->result));
    const char *path = save_text(ctx, c->request->text);
    if (path)
        sb_printf(why, "the text is kept in %s; please report it with your program\n", path);
    else
        sb_printf(why, "the text cannot be kept in a temporary file: %s\n", strerror(errno));
    sb_puts(why, "options:");
    for (int i = 0; i < c->n_options; i++)
        sb_printf(why, " %s", c->options[i]);
    sb_printf(why, "\n%s", c->log);
    return CODE_REFUSED;
}

/* Sorted out before NVRTC sees the option: a machine of a newer kind is no bug in risec. */
static CodeStatus check_arch(Ctx *ctx, const Nvrtc *nvrtc, const CodeRequest *request, StrBuf *why)
{
    int n = 0;
    if (!nvrtc->api.arch_count || !nvrtc->api.archs || nvrtc->api.arch_count(&n) != 0 || n <= 0)
        return CODE_GOOD;
    int *archs = NEWN(ctx, int, n);
    if (nvrtc->api.archs(archs) != 0)
        return CODE_GOOD;
    for (int i = 0; i < n; i++) {
        if (archs[i] == request->arch)
            return CODE_GOOD;
    }
    sb_printf(why, "NVRTC %d.%d compiles for", nvrtc->major, nvrtc->minor);
    for (int i = 0; i < n; i++)
        sb_printf(why, "%s sm_%d", i ? "," : "", archs[i]);
    sb_printf(why, ", and not for sm_%d", request->arch);
    return CODE_BAD_ARCH;
}

static CodeStatus finish(Ctx *ctx, Compilation *c, Code *code, StrBuf *why)
{
    const Nvrtc *nvrtc = c->nvrtc;
    if (c->created)
        fetch_log(ctx, c);
    if (c->result == 0)
        fetch_code(ctx, c);
    if (c->created && !c->bytes && (c->result == RESULT_COMPILATION || c->result == RESULT_INVALID_OPTION))
        return refused(ctx, c, why);
    if (c->result != 0) {
        sb_printf(why, "%s of NVRTC %d.%d fails on %s: %s", c->call, nvrtc->major, nvrtc->minor, c->request->name, nvrtc->api.error_text(c->result));
        sb_printf(why, "%s%s", c->created && c->log[0] ? "\n" : "", c->created ? c->log : "");
        return CODE_FAILED;
    }
    *code = (Code){c->bytes, c->size, c->log, false, nvrtc->major, nvrtc->minor};
    return CODE_GOOD;
}

static void finish_all(Ctx *ctx, void *user)
{
    Batch *batch = user;
    ctx_look(ctx); /* so that all of them have been compiled */
    for (int i = 0; i < batch->n; i++) {
        CodeWork *work = batch->at[i].work;
        work->status = finish(ctx, &batch->at[i], &work->code, &work->why);
    }
}

static void compile_batch(Ctx *ctx, const Nvrtc *nvrtc, Batch *batch)
{
    int threads = batch->n < processors() ? batch->n : processors();
    if (!(nvrtc->on_stacks ? nvrtc->on_stacks : threads_on_stacks)(threads, compile_on_stack, batch)) {
        for (int i = 0; i < batch->n; i++) {
            batch->at[i].work->status = CODE_FAILED;
            sb_printf(&batch->at[i].work->why, "there is no thread with a stack of %d MiB to compile on", STACK_LEAST_MIB);
        }
        return;
    }
    /* The programs of NVRTC are not lost when memory runs out. */
    bool enough = ctx_try(ctx, finish_all, batch);
    for (int i = 0; i < batch->n; i++)
        if (batch->at[i].created)
            nvrtc->api.destroy(&batch->at[i].program);
    if (!enough)
        ctx_out_of_memory(ctx);
}

void nvrtc_compile(Ctx *ctx, const Nvrtc *nvrtc, int n, CodeWork *const *works)
{
    Batch batch = {.at = NEWN(ctx, Compilation, n + 1), .brake = ctx->brake};
    for (int i = 0; i < n; i++) {
        CodeWork *work = works[i];
        memset(&work->code, 0, sizeof work->code);
        work->status = check_arch(ctx, nvrtc, &work->request, &work->why);
        if (work->status != CODE_GOOD)
            continue;
        Compilation *c = &batch.at[batch.n++];
        *c = (Compilation){.nvrtc = nvrtc, .request = &work->request, .work = work};
        c->n_options = nvrtc_options(ctx, &work->request, c->options);
    }
    if (batch.n)
        compile_batch(ctx, nvrtc, &batch);
}
