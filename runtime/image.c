/* CUDA C, compiled for an architecture and loaded; once for a text in a context, however many entries and threads want it. */
#include "internal.h"

struct Image {
    struct Image *next;
    int refs; /* and the place in the list: under the context's lock */
    int arch;
    char *name, *text;
    size_t size;
    Turn turn;
    Ctx *ctx; /* of the code; this and all below: whose turn it is */
    Code code[2];
    bool made[2]; /* by CodeForm */
    Code older;   /* PTX of an older architecture, for the driver to compile */
    CUmodule module;
};

static void image_free(rise_context *context, Image *image)
{
    bool pushed;
    if (image->module && gpu_enter(context, &pushed, NULL) == RISE_OK) {
        context->gpu.api.ctx_synchronize(); /* one of its kernels may be running */
        context->gpu.api.module_unload(image->module);
        gpu_leave(context, pushed);
    }
    ctx_free(image->ctx);
    turn_destroy(&image->turn);
    context_dealloc(context, image->name);
    context_dealloc(context, image->text);
    context_dealloc(context, image);
}

static Image *image_new(rise_context *context, const char *name, const char *text, size_t size, int arch, rise_error *error)
{
    Image *image = context_alloc(context, sizeof *image, error);
    if (!image)
        return NULL;
    *image = (Image){.refs = 1, .arch = arch, .size = size};
    turn_init(&image->turn);
    image->name = context_copy(context, name, strlen(name), error);
    image->text = image->name ? context_copy(context, text, size, error) : NULL;
    image->ctx = image->text ? ctx_new(&context->seams.alloc, NULL) : NULL;
    if (image->ctx)
        return image;
    context_out_of_memory(error);
    image_free(context, image);
    return NULL;
}

int image_get(rise_context *context, const char *name, const char *text, size_t size, int arch, Image **out, rise_error *error)
{
    pthread_mutex_lock(&context->lock);
    Image *image = context->images;
    while (image && !(image->arch == arch && image->size == size && memcmp(image->text, text, size) == 0))
        image = image->next;
    if (image) {
        image->refs++;
    } else {
        image = image_new(context, name, text, size, arch, error);
        if (image) {
            image->next = context->images;
            context->images = image;
        }
    }
    pthread_mutex_unlock(&context->lock);
    *out = image;
    return image ? RISE_OK : RISE_ERROR_MEMORY;
}

void image_release(rise_context *context, Image *image)
{
    pthread_mutex_lock(&context->lock);
    bool last = --image->refs == 0;
    for (Image **at = &context->images; last && *at; at = &(*at)->next)
        if (*at == image) {
            *at = image->next;
            break;
        }
    pthread_mutex_unlock(&context->lock);
    if (last)
        image_free(context, image);
}

/* ---- compiling ------------------------------------------------------------------------------------------------------------- */

typedef struct Compiling {
    rise_context *context;
    CodeRequest request;
    Code code;
    CodeStatus status;
    rise_error *error;
} Compiling;

static int status_of(CodeStatus status)
{
    switch (status) {
    case CODE_GOOD:
        return RISE_OK;
    case CODE_NO_COMPILER:
    case CODE_BAD_ARCH:
        return RISE_ERROR_NVRTC;
    case CODE_REFUSED:
        return RISE_ERROR_BUG;
    case CODE_FAILED:
        return RISE_ERROR_NVRTC;
    }
    return RISE_ERROR_BUG;
}

static void compile(Ctx *ctx, void *user)
{
    Compiling *c = user;
    StrBuf why;
    sb_init(&why, ctx);
    sb_puts(&why, "");
    c->status = toolchain_compile(ctx, &c->context->toolchain, &c->request, &c->code, &why);
    if (c->status != CODE_GOOD)
        rise_fail(c->error, status_of(c->status), "%s", why.text ? why.text : "NVRTC failed");
}

/* In the image's turn. */
static int code_for(rise_context *context, Job *job, Image *image, CodeForm form, int arch, Code *code, CodeStatus *how, rise_error *error)
{
    Compiling c = {.context = context, .error = error};
    c.request = (CodeRequest){.name = image->name, .text = image->text, .arch = arch, .form = form};
    *how = CODE_FAILED;
    int status = job_try(job, image->ctx, compile, &c, error);
    if (status != RISE_OK)
        return status;
    *how = c.status;
    *code = c.code;
    return status_of(c.status);
}

static int code_in_turn(rise_context *context, Job *job, Image *image, CodeForm form, CodeStatus *how, rise_error *error)
{
    *how = CODE_GOOD;
    if (image->made[form])
        return RISE_OK;
    int status = code_for(context, job, image, form, image->arch, &image->code[form], how, error);
    image->made[form] = status == RISE_OK;
    return status;
}

int image_code(rise_context *context, Job *job, Image *image, CodeForm form, const Code **code, rise_error *error)
{
    CodeStatus how;
    int status = turn_take(job, &image->turn, error);
    if (status != RISE_OK)
        return status;
    status = code_in_turn(context, job, image, form, &how, error);
    turn_give(&image->turn);
    *code = &image->code[form];
    return status;
}

/* ---- loading --------------------------------------------------------------------------------------------------------------- */

typedef struct Newest {
    rise_context *context;
    int below, arch;
} Newest;

static void find_newest(Ctx *ctx, void *user)
{
    Newest *newest = user;
    StrBuf why;
    sb_init(&why, ctx);
    const Nvrtc *nvrtc = toolchain_nvrtc(&newest->context->toolchain, &why);
    int n = 0;
    if (!nvrtc || !nvrtc->api.arch_count || !nvrtc->api.archs || nvrtc->api.arch_count(&n) != 0 || n < 1 || n > ARCH_MAX)
        return;
    int *archs = NEWN(ctx, int, n);
    if (nvrtc->api.archs(archs) != 0)
        return;
    for (int i = 0; i < n; i++)
        if (archs[i] < newest->below && archs[i] > newest->arch)
            newest->arch = archs[i];
}

/* Code for the device: a cubin, or from an NVRTC that is older than the device, PTX of the newest architecture it knows, which the driver compiles. */
static int loadable(rise_context *context, Job *job, Image *image, const Code **code, rise_error *error)
{
    CodeStatus how;
    int status = code_in_turn(context, job, image, CODE_CUBIN, &how, error);
    *code = &image->code[CODE_CUBIN];
    Newest newest = {context, image->arch, 0};
    if (how != CODE_BAD_ARCH || job_try(job, image->ctx, find_newest, &newest, NULL) != RISE_OK || newest.arch < ARCH_MIN)
        return status;
    *code = &image->older;
    return code_for(context, job, image, CODE_PTX, newest.arch, &image->older, &how, error);
}

static int load(rise_context *context, Job *job, Image *image, rise_error *error)
{
    enum { ERROR_LOG = 5, ERROR_LOG_SIZE = 6 };
    const Code *code;
    int status = loadable(context, job, image, &code, error);
    if (status != RISE_OK)
        return status;
    char log[1024] = "";
    int options[] = {ERROR_LOG, ERROR_LOG_SIZE};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    CUmodule module = NULL;
    status = gpu_check(context, context->gpu.api.module_load(&module, code->bytes, 2, options, values), error, "loading %s for %s", image->name, context->arch);
    log[sizeof log - 1] = 0;
    if (status != RISE_OK && log[0])
        rise_error_note(error, "\n%s", log);
    if (status == RISE_OK)
        image->module = module;
    return status;
}

int image_module(rise_context *context, Job *job, Image *image, CUmodule *module, rise_error *error)
{
    int status = turn_take(job, &image->turn, error);
    if (status != RISE_OK)
        return status;
    if (!image->module)
        status = load(context, job, image, error);
    turn_give(&image->turn);
    *module = image->module;
    return status;
}
