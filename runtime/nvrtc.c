#include "runtime/nvrtc.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/cache.h"
#include "runtime/handles.h"
#include "support/stack.h"

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
    const char *folder = library_loader.env(NULL, "TMPDIR");
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

static void fail_all(Batch *batch, const char *why)
{
    for (int i = 0; i < batch->n; i++) {
        batch->at[i].work->status = CODE_FAILED;
        sb_puts(&batch->at[i].work->why, why);
    }
}

static void compile_batch(Ctx *ctx, const Nvrtc *nvrtc, Batch *batch)
{
    int threads = batch->n < processors() ? batch->n : processors();
    if (fork_broke(IN_NVRTC)) {
        fail_all(batch, "this process is a child of fork, and a thread of its parent was inside NVRTC at that moment: "
                        "NVRTC may wait for that thread for ever; start a new process");
        return;
    }
    fork_note(IN_NVRTC, 1);
    bool started = (nvrtc->on_stacks ? nvrtc->on_stacks : threads_on_stacks)(threads, compile_on_stack, batch);
    fork_note(IN_NVRTC, -1);
    if (!started) {
        fail_all(batch, ctx_printf(ctx, "there is no thread with a stack of %d MiB to compile on", STACK_LEAST_MIB));
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
