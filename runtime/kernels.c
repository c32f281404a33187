/* The kernels of an entry: each is compiled from a text of its own and loaded when a launch needs it, or when somebody has asked for it before. */
#include "internal.h"

/* ---- the table ------------------------------------------------------------------------------------------------------------------ */

int kernels_new(RiseEntry *entry, rise_error *error)
{
    if (entry->program->context->device != RISE_GPU)
        return RISE_OK;
    entry->functions = context_alloc(entry->program->context, sizeof(Function) * (size_t)entry->plan.n_variants * 2, error);
    return entry->functions ? RISE_OK : RISE_ERROR_MEMORY;
}

void kernels_free(RiseEntry *entry)
{
    for (int k = 0; entry->functions && k < 2 * entry->plan.n_variants; k++)
        image_release(entry->program->context, entry->functions[k].image);
    context_dealloc(entry->program->context, entry->functions);
    entry->functions = NULL;
}

bool kernel_is_ready(const RiseEntry *entry, int k) { return atomic_load_explicit(&entry->functions[k].ready, memory_order_acquire); }

static int ask_function(RiseContext *context, const Variant *v, CUmodule module, Function *f, rise_error *error)
{
    const CudaApi *api = &context->gpu.api;
    const struct {
        int attribute, *value;
    } asked[] = {{CU_FUNCTION_REGISTERS, &f->registers}, {CU_FUNCTION_SHARED, &f->shared}, {CU_FUNCTION_LOCAL, &f->local}, {CU_FUNCTION_MAX_THREADS, &f->max_threads}};
    int status = gpu_check(context, api->module_function(&f->function, module, v->name), error, "looking for the kernel %s", v->name);
    for (size_t i = 0; status == RISE_OK && i < sizeof asked / sizeof asked[0]; i++)
        status = gpu_check(context, api->function_attribute(asked[i].value, asked[i].attribute, f->function), error, "asking for attribute %d of %s", asked[i].attribute, v->name);
    /* As much as there is, once: a launch is charged for what it asks for, and two threads need not agree on a number. */
    if (status == RISE_OK && v->dynamic_shared)
        status = gpu_check(context, api->function_set(f->function, CU_FUNCTION_MAX_DYNAMIC_SHARED, context->gpu.max_shared - f->shared), error,
                           "allowing %s %d bytes of shared memory", v->name, context->gpu.max_shared - f->shared);
    return status;
}

/* The table holds the image from here on, unless another thread was first. */
static int publish(RiseEntry *entry, int k, ImageWant *want, rise_error *error)
{
    Function asked = {0}, *f = &entry->functions[k];
    int status = ask_function(entry->program->context, entry->plan.variants[k % entry->plan.n_variants], want->module, &asked, error);
    if (status != RISE_OK)
        return status;
    pthread_mutex_lock(&entry->program->lock);
    if (!f->image) {
        f->image = want->image;
        f->function = asked.function;
        f->registers = asked.registers;
        f->shared = asked.shared;
        f->local = asked.local;
        f->max_threads = asked.max_threads;
        want->image = NULL;
        atomic_store_explicit(&f->ready, true, memory_order_release);
    }
    pthread_mutex_unlock(&entry->program->lock);
    return RISE_OK;
}

/* ---- getting them --------------------------------------------------------------------------------------------------------------- */

typedef struct Getting {
    RiseEntry *entry;
    int n;
    const int *numbers;
    int arch;
    bool load;      /* else only compiled */
    CodeWork *works;
} Getting;

static void cut_texts(Ctx *ctx, void *user)
{
    Getting *g = user;
    g->works = NEWN(ctx, CodeWork, g->n + 1);
    for (int i = 0; i < g->n; i++) {
        StrBuf text;
        sb_init(&text, ctx);
        int n = g->entry->plan.n_variants, k = g->numbers[i];
        cuda_piece_text(&g->entry->pieces, k % n, g->entry->cuda, k >= n, &text);
        g->works[i].request = (CodeRequest){.name = entry_file_name(g->entry), .text = text.text, .arch = g->arch, .form = CODE_CUBIN};
    }
}

static int load_in_job(Job *job, const Getting *g, ImageWant *wants, rise_error *error)
{
    RiseContext *context = g->entry->program->context;
    bool pushed;
    int status = gpu_enter(context, &pushed, error);
    if (status != RISE_OK)
        return status;
    for (int i = 0; status == RISE_OK && i < g->n; i++) {
        const CodeRequest *request = &g->works[i].request;
        wants[i] = (ImageWant){.name = request->name, .text = request->text};
        status = image_get(context, request->text, strlen(request->text), g->arch, &wants[i].image, error);
    }
    if (status == RISE_OK)
        status = images_load(context, job, g->n, wants, error);
    for (int i = 0; status == RISE_OK && i < g->n; i++)
        status = publish(g->entry, g->numbers[i], &wants[i], error);
    gpu_leave(context, pushed);
    for (int i = 0; i < g->n; i++)
        image_release(context, wants[i].image);
    return status;
}

static int get_in_job(Job *job, void *user, rise_error *error)
{
    Getting *g = user;
    RiseContext *context = g->entry->program->context;
    int status = entry_texts(job, g->entry, error);
    if (status != RISE_OK)
        return status;
    Ctx *ctx = ctx_new(&context->seams.alloc, NULL);
    ImageWant *wants = ctx ? context_alloc(context, sizeof *wants * (size_t)g->n, error) : NULL;
    status = wants ? job_try(job, ctx, cut_texts, g, error) : context_out_of_memory(error);
    if (status == RISE_OK)
        status = g->load ? load_in_job(job, g, wants, error) : code_compile(context, job, ctx, g->n, g->works, error);
    context_dealloc(context, wants);
    ctx_free(ctx);
    return status;
}

int kernels_get(RiseEntry *entry, int n, const int *numbers, rise_error *error)
{
    RiseContext *context = entry->program->context;
    Getting g = {.entry = entry, .n = n, .numbers = numbers, .arch = context->gpu.arch, .load = true};
    return n ? context_job(context, get_in_job, &g, error) : RISE_OK;
}

/* Numbers of kernels that are wanted; with `load`, of those only that are not ready. */
static int get_some(RiseEntry *entry, bool load, int arch, const bool *wanted, rise_error *error)
{
    RiseContext *context = entry->program->context;
    int n = 0, *numbers = context_alloc(context, sizeof(int) * (size_t)entry->plan.n_variants, error);
    if (!numbers)
        return RISE_ERROR_MEMORY;
    for (int k = 0; k < entry->plan.n_variants; k++)
        if ((!wanted || wanted[k]) && !(load && kernel_is_ready(entry, k)))
            numbers[n++] = k;
    Getting g = {.entry = entry, .n = n, .numbers = numbers, .arch = arch, .load = load};
    int status = n ? context_job(context, get_in_job, &g, error) : RISE_OK;
    context_dealloc(context, numbers);
    return status;
}

int rise_entry_compile(rise_entry *handle, const char *arch, rise_error *error)
{
    RiseEntry *entry = entry_of(handle, error);
    if (!entry)
        return RISE_ERROR_ARGUMENT;
    int number, status = entry_arch(entry, arch, &number, error);
    return status == RISE_OK ? get_some(entry, false, number, NULL, error) : status;
}

int rise_entry_load(rise_entry *handle, rise_error *error)
{
    RiseEntry *entry = entry_of(handle, error);
    if (!entry)
        return RISE_ERROR_ARGUMENT;
    RiseContext *context = entry->program->context;
    return context->device == RISE_GPU ? get_some(entry, true, context->gpu.arch, NULL, error) : RISE_OK;
}

int rise_entry_prepare(rise_entry *handle, const int64_t *least, const int64_t *most, rise_error *error)
{
    RiseEntry *entry = entry_of(handle, error);
    if (!entry)
        return RISE_ERROR_ARGUMENT;
    RiseContext *context = entry->program->context;
    const CoreEntry *core = entry->plan.core;
    for (int i = 0; i < core->n_sizes; i++)
        if ((least && least[i] < 0) || (most && most[i] < (least ? least[i] : 0)))
            return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: %lld to %lld is no range for the size %s", core->name, least ? (long long)least[i] : 0,
                             most ? (long long)most[i] : (long long)INT64_MAX, core->sizes[i]->name);
    if (context->device != RISE_GPU)
        return RISE_OK;
    bool *wanted = context_alloc(context, sizeof(bool) * (size_t)entry->plan.n_variants, error);
    if (!wanted)
        return RISE_ERROR_MEMORY;
    plan_in_range(&entry->plan, context->gpu.sms, least, most, wanted);
    int status = get_some(entry, true, context->gpu.arch, wanted, error);
    context_dealloc(context, wanted);
    return status;
}

int rise_entry_kernel(rise_entry *handle, int k, rise_kernel *kernel, rise_error *error)
{
    RiseEntry *entry = entry_of(handle, error);
    if (!entry)
        return RISE_ERROR_ARGUMENT;
    if (!kernel)
        return argument_null(error, "kernel");
    if (kernel->size < sizeof kernel->size)
        return rise_fail(error, RISE_ERROR_ARGUMENT, "rise_kernel.size is not set");
    if (k < 0 || k >= entry->plan.n_variants)
        return rise_fail(error, RISE_ERROR_ARGUMENT, "%s has %d kernels, and no number %d", entry->plan.core->name, entry->plan.n_variants, k);
    int status = entry->functions && !kernel_is_ready(entry, k) ? kernels_get(entry, 1, &k, error) : RISE_OK;
    if (status != RISE_OK)
        return status;
    const Variant *v = entry->plan.variants[k];
    const int *t = v->kernel->threads;
    rise_kernel told = {sizeof told, v->name, {t[0], t[1], t[2]}, -1, -1, -1, -1, v->kernel->wide ? 64 : 32};
    if (entry->functions) {
        const Function *f = &entry->functions[k];
        told.registers = f->registers;
        told.static_shared = f->shared;
        told.spills = f->local;
        told.max_threads = f->max_threads;
    }
    struct_put(kernel, &told, sizeof told);
    return RISE_OK;
}
