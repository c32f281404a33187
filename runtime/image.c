/* Kernels that are compiled and loaded: one image for a text and an architecture in a context, however many entries and threads want it.
 *
 * An image is absent (no module, its turn is free), being made (somebody has its turn), or ready (it has a module, for good). One that could not be made is absent again:
 * its error went to who made it, and who waited tries in his turn. Nobody waits for an image while he has the turn of another, so no two wait for each other. */
#include "internal.h"

struct Image {
    struct Image *next;
    int refs; /* and the place in the list: under the context's lock */
    int arch;
    unsigned char key[SHA256_SIZE]; /* of the text */
    Turn turn;
    CUmodule module; /* whose turn it is; then it does not change any more */
};

static void image_free(RiseContext *context, Image *image)
{
    bool pushed;
    if (image->module && gpu_enter(context, &pushed, NULL) == RISE_OK) {
        context->gpu.api.ctx_synchronize(); /* one of its kernels may be running */
        context->gpu.api.module_unload(image->module);
        gpu_leave(context, pushed);
    }
    turn_destroy(&image->turn);
    context_dealloc(context, image);
}

static Image *image_new(RiseContext *context, const unsigned char *key, int arch, rise_error *error)
{
    Image *image = context_alloc(context, sizeof *image, error);
    if (!image)
        return NULL;
    *image = (Image){.refs = 1, .arch = arch};
    memcpy(image->key, key, sizeof image->key);
    turn_init(&image->turn);
    return image;
}

int image_get(RiseContext *context, const char *text, size_t size, int arch, Image **out, rise_error *error)
{
    unsigned char key[SHA256_SIZE];
    Sha256 sha;
    sha256_init(&sha);
    sha256_add(&sha, text, size);
    sha256_end(&sha, key);
    pthread_mutex_lock(&context->lock);
    Image *image = context->images;
    while (image && !(image->arch == arch && memcmp(image->key, key, sizeof key) == 0))
        image = image->next;
    if (image) {
        image->refs++;
    } else {
        image = image_new(context, key, arch, error);
        if (image) {
            image->next = context->images;
            context->images = image;
        }
    }
    pthread_mutex_unlock(&context->lock);
    *out = image;
    return image ? RISE_OK : RISE_ERROR_MEMORY;
}

void image_release(RiseContext *context, Image *image)
{
    if (!image)
        return;
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
    RiseContext *context;
    int n;
    CodeWork *works;
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
    toolchain_compile(ctx, &c->context->toolchain, c->n, c->works);
}

static int work_failed(const CodeWork *work, rise_error *error)
{
    return rise_fail(error, status_of(work->status), "%s", work->why.text ? work->why.text : "NVRTC failed");
}

int code_compile(RiseContext *context, Job *job, Ctx *ctx, int n, CodeWork *works, rise_error *error)
{
    Compiling c = {context, n, works};
    int status = job_try(job, ctx, compile, &c, error);
    for (int i = 0; status == RISE_OK && i < n; i++)
        if (works[i].status != CODE_GOOD)
            status = work_failed(&works[i], error);
    return status;
}

/* ---- for a device that is newer than NVRTC ---------------------------------------------------------------------------------- */

typedef struct Newest {
    RiseContext *context;
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

/* Cubins, or where NVRTC does not know the device, PTX of the newest architecture that it knows, which the driver compiles. */
static int loadable(RiseContext *context, Job *job, Ctx *ctx, int n, CodeWork *works, rise_error *error)
{
    int status = code_compile(context, job, ctx, n, works, error);
    Newest newest = {context, works[0].request.arch, 0};
    if (status != RISE_ERROR_NVRTC || works[0].status != CODE_BAD_ARCH || job_try(job, ctx, find_newest, &newest, NULL) != RISE_OK || newest.arch < ARCH_MIN)
        return status;
    for (int i = 0; i < n; i++) {
        works[i].request.form = CODE_PTX;
        works[i].request.arch = newest.arch;
    }
    return code_compile(context, job, ctx, n, works, error);
}

/* ---- loading --------------------------------------------------------------------------------------------------------------- */

static int load(RiseContext *context, Image *image, const CodeWork *work, rise_error *error)
{
    enum { ERROR_LOG = 5, ERROR_LOG_SIZE = 6 };
    char log[1024] = "";
    int options[] = {ERROR_LOG, ERROR_LOG_SIZE};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    CUmodule module = NULL;
    int status = gpu_check(context, context->gpu.api.module_load(&module, work->code.bytes, 2, options, values), error, "loading %s for %s", work->request.name, context->arch);
    log[sizeof log - 1] = 0;
    if (status != RISE_OK && log[0])
        rise_error_note(error, "\n%s", log);
    if (status == RISE_OK)
        image->module = module;
    return status;
}

/* In the turns of all of them. What one call compiles is compiled together. */
static int make(RiseContext *context, Job *job, int n, ImageWant *const *wants, rise_error *error)
{
    Ctx *ctx = ctx_new(&context->seams.alloc, NULL);
    CodeWork *works = ctx ? context_alloc(context, sizeof *works * (size_t)n, error) : NULL;
    int status = works ? RISE_OK : context_out_of_memory(error);
    for (int i = 0; status == RISE_OK && i < n; i++)
        works[i].request = (CodeRequest){.name = wants[i]->name, .text = wants[i]->text, .arch = wants[i]->image->arch, .form = CODE_CUBIN};
    if (status == RISE_OK)
        status = loadable(context, job, ctx, n, works, error);
    for (int i = 0; status == RISE_OK && i < n; i++)
        status = load(context, wants[i]->image, &works[i], error);
    context_dealloc(context, works);
    ctx_free(ctx);
    return status;
}

static int make_one(RiseContext *context, Job *job, ImageWant *want, rise_error *error)
{
    int status = turn_take(job, &want->image->turn, error);
    if (status != RISE_OK)
        return status;
    if (!want->image->module)
        status = make(context, job, 1, &want, error);
    want->module = want->image->module;
    turn_give(&want->image->turn);
    return status;
}

int images_load(RiseContext *context, Job *job, int n, ImageWant *wants, rise_error *error)
{
    ImageWant **ours = context_alloc(context, sizeof *ours * (size_t)n, error);
    int n_ours = 0, status = RISE_OK;
    if (!ours)
        return RISE_ERROR_MEMORY;
    for (int i = 0; i < n; i++) {
        if (!turn_try(&wants[i].image->turn))
            continue;
        wants[i].module = wants[i].image->module;
        if (wants[i].module)
            turn_give(&wants[i].image->turn);
        else
            ours[n_ours++] = &wants[i];
    }
    if (n_ours)
        status = make(context, job, n_ours, ours, error);
    for (int i = 0; i < n_ours; i++) {
        ours[i]->module = ours[i]->image->module;
        turn_give(&ours[i]->image->turn);
    }
    context_dealloc(context, ours);
    /* What others are making, or what is wanted twice. */
    for (int i = 0; status == RISE_OK && i < n; i++)
        if (!wants[i].module)
            status = make_one(context, job, &wants[i], error);
    return status;
}
