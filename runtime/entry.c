/* Entries: made once for each set of settings, and what can be asked of them. */
#include "internal.h"

#include <stdlib.h>

static void codes_free(RiseEntry *entry);

/* ---- making ------------------------------------------------------------------------------------------------------------------- */

static void list_names(rise_error *error, const char *before, int n, const char *const *names)
{
    for (int i = 0; i < n; i++)
        rise_error_note(error, "%s`%s`", i ? ", " : before, names[i]);
}

static int find_number(const RiseProgram *program, const char *name, int *number, rise_error *error)
{
    for (*number = 0; name && *number < program->n_entries; ++*number)
        if (strcmp(program->entry_names[*number], name) == 0)
            return RISE_OK;
    *number = 0;
    if (!name && program->n_entries == 1)
        return RISE_OK;
    if (name)
        rise_fail(error, RISE_ERROR_ARGUMENT, "%s has no entry `%s`", program->name, name);
    else
        rise_fail(error, RISE_ERROR_ARGUMENT, "%s has %d entries, and none is named", program->name, program->n_entries);
    list_names(error, "; it has ", program->n_entries, (const char *const *)program->entry_names);
    return RISE_ERROR_ARGUMENT;
}

/* Each setting names a tunable, or a size that is to be compiled in. */
static int check_settings(const RiseEntry *entry, rise_error *error)
{
    const CoreEntry *core = entry->plan.core;
    for (size_t i = 0; i < entry->n_settings; i++) {
        const char *name = entry->settings[i].name;
        bool found = false;
        for (int k = 0; k < core->n_tunables; k++)
            found |= strcmp(core->tunable_names[k], name) == 0;
        if (found)
            continue;
        for (int k = 0; k < core->n_sizes; k++)
            if (strcmp(core->sizes[k]->name, name) == 0)
                return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: `%s` is a size, which a launch gives; RISE_SPECIALIZE compiles it in", core->name, name);
        rise_fail(error, RISE_ERROR_ARGUMENT, "%s has no size or tunable `%s`", core->name, name);
        list_names(error, "; its tunables are ", core->n_tunables, core->tunable_names);
        for (int k = 0; k < core->n_sizes; k++)
            rise_error_note(error, "%s`%s`", k ? ", " : "; its sizes are ", core->sizes[k]->name);
        return RISE_ERROR_ARGUMENT;
    }
    return RISE_OK;
}

static int settings_copy(RiseEntry *entry, const rise_entry_options *options, rise_error *error)
{
    RiseContext *context = entry->program->context;
    entry->flags = options->flags | (options->strategy ? RISE_UNTUNED : 0);
    if (options->strategy && !(entry->strategy = context_copy(context, options->strategy, strlen(options->strategy), error)))
        return RISE_ERROR_MEMORY;
    if (options->costs && !(entry->costs = context_copy(context, options->costs, strlen(options->costs), error)))
        return RISE_ERROR_MEMORY;
    entry->settings = context_alloc(context, sizeof(ElabSetting) * options->n_settings, error);
    if (!entry->settings)
        return RISE_ERROR_MEMORY;
    for (size_t i = 0; i < options->n_settings; i++) {
        const rise_setting *s = &options->settings[i];
        if (!s->name)
            return argument_null(error, "the name of a setting");
        char *name = context_copy(context, s->name, strlen(s->name), error);
        if (!name)
            return RISE_ERROR_MEMORY;
        size_t at = entry->n_settings++;
        for (; at > 0 && strcmp(name, entry->settings[at - 1].name) < 0; at--)
            entry->settings[at] = entry->settings[at - 1];
        entry->settings[at] = (ElabSetting){name, s->value, NO_SPAN, (options->flags & RISE_SPECIALIZE) != 0};
        if (at > 0 && strcmp(name, entry->settings[at - 1].name) == 0)
            return rise_fail(error, RISE_ERROR_ARGUMENT, "`%s` is set twice", s->name);
    }
    return RISE_OK;
}

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool same_entry(const RiseEntry *a, const RiseEntry *b)
{
    if (a->number != b->number || a->n_settings != b->n_settings || ((a->flags ^ b->flags) & RISE_UNTUNED))
        return false;
    if (!same_text(a->strategy, b->strategy) || !same_text(a->costs, b->costs))
        return false;
    for (size_t i = 0; i < a->n_settings; i++)
        if (a->settings[i].value != b->settings[i].value || strcmp(a->settings[i].name, b->settings[i].name) != 0)
            return false;
    return a->flags == b->flags || a->n_settings == 0;
}

/* ---- what is kept ------------------------------------------------------------------------------------------------------------- */

enum { KEPT_CHUNK = 4 << 10 };

typedef struct Keeping {
    RiseEntry *entry;
    const Instance *instance;
    StrBuf cuda, manifest;
    CudaPieces pieces;
} Keeping;

static void keep_plan(Ctx *ctx, void *user)
{
    const Keeping *k = user;
    Plan plan;
    plan_make(ctx, k->instance->core, k->instance->imp, &plan);
    plan_keep(ctx, &plan, k->entry->kept, &k->entry->plan);
}

static void print_texts(Ctx *ctx, void *user)
{
    Keeping *k = user;
    ImpProgram *imp = k->instance->imp;
    sb_init(&k->cuda, ctx);
    cuda_print_pieces(ctx, &k->cuda, imp, &k->pieces);
    sb_init(&k->manifest, ctx);
    manifest_print(ctx, &k->manifest, 1, &imp);
}

static void texts_free(RiseEntry *entry)
{
    RiseContext *context = entry->program->context;
    context_dealloc(context, entry->cuda);
    context_dealloc(context, entry->manifest);
    context_dealloc(context, entry->pieces.at);
    context_dealloc(context, entry->pieces.helpers);
    context_dealloc(context, entry->pieces.functions);
    entry->cuda = entry->manifest = NULL;
    entry->pieces = (CudaPieces){0};
}

static void *copy(RiseContext *context, const void *from, size_t size, rise_error *error)
{
    void *to = context_alloc(context, size, error);
    if (to && size)
        memcpy(to, from, size);
    return to;
}

/* Errors in them are in the instance's ctx; then there are no texts. */
static int keep_texts(Job *job, RiseEntry *entry, const Instance *instance, rise_error *error)
{
    RiseContext *context = entry->program->context;
    Keeping k = {.entry = entry, .instance = instance};
    int status = job_try(job, instance->ctx, print_texts, &k, error);
    if (status != RISE_OK || instance->ctx->diags.errors)
        return status;
    entry->cuda = context_copy(context, k.cuda.text, k.cuda.len, error);
    entry->manifest = context_copy(context, k.manifest.text, k.manifest.len, error);
    entry->pieces = k.pieces;
    entry->pieces.at = copy(context, k.pieces.at, sizeof *k.pieces.at * (size_t)k.pieces.n, error);
    entry->pieces.helpers = copy(context, k.pieces.helpers, sizeof *k.pieces.helpers * (size_t)k.pieces.n_helpers, error);
    const size_t functions = sizeof *k.pieces.functions * (size_t)k.pieces.n_functions;
    entry->pieces.functions = copy(context, k.pieces.functions, functions, error);
    const CudaPieces *pieces = &entry->pieces;
    if (!entry->cuda || !entry->manifest || !pieces->at || !pieces->helpers || !pieces->functions) {
        texts_free(entry);
        return RISE_ERROR_MEMORY;
    }
    entry->cuda_size = k.cuda.len;
    entry->manifest_size = k.manifest.len;
    atomic_store_explicit(&entry->has_texts, true, memory_order_release);
    return RISE_OK;
}

/* Where it is lowered anyway, the texts are made at once: later that would be lowering it again. */
static int keep_all(Job *job, RiseEntry *entry, const Instance *instance, rise_error *error)
{
    Keeping k = {.entry = entry, .instance = instance};
    entry->kept = ctx_new(&entry->program->context->seams.alloc, NULL);
    if (!entry->kept)
        return context_out_of_memory(error);
    entry->kept->arena.most = KEPT_CHUNK;
    int status = job_try(job, instance->ctx, keep_plan, &k, error);
    if (status == RISE_OK)
        status = check_settings(entry, error);
    if (status == RISE_OK && instance->imp)
        status = keep_texts(job, entry, instance, error);
    return status == RISE_OK ? kernels_new(entry, error) : status;
}

/* In the entry's turn. */
static int entry_make(Job *job, RiseEntry *entry, rise_error *error)
{
    RiseContext *context = entry->program->context;
    Instance *instance;
    int status = instance_new(entry, job, context->device == RISE_REF, false, &instance, error);
    if (status != RISE_OK)
        return status;
    status = keep_all(job, entry, instance, error);
    instance_free(context, instance);
    if (status == RISE_OK) {
        atomic_store_explicit(&entry->made, true, memory_order_release);
        return RISE_OK;
    }
    kernels_free(entry);
    ctx_free(entry->kept);
    entry->kept = NULL;
    entry->plan = (Plan){0};
    return status;
}

static int make_in_turn(Job *job, void *user, rise_error *error)
{
    RiseEntry *entry = user;
    int status = turn_take(job, &entry->turn, error);
    if (status != RISE_OK)
        return status;
    if (!atomic_load_explicit(&entry->made, memory_order_relaxed))
        status = entry_make(job, entry, error);
    turn_give(&entry->turn);
    return status;
}

/* The program's entry that is like `wanted`, or `wanted` itself from now on, with one thread more that asks for it. */
static RiseEntry *join(RiseProgram *program, RiseEntry *wanted)
{
    pthread_mutex_lock(&program->lock);
    RiseEntry *same = program->entries;
    while (same && !same_entry(same, wanted))
        same = same->next;
    if (!same) {
        same = wanted;
        same->next = program->entries;
        program->entries = same;
    }
    same->refs++;
    pthread_mutex_unlock(&program->lock);
    if (same != wanted)
        entry_free(wanted);
    return same;
}

void entry_hold(RiseEntry *entry)
{
    pthread_mutex_lock(&entry->program->lock);
    entry->refs++;
    pthread_mutex_unlock(&entry->program->lock);
}

void entry_release(RiseEntry *entry)
{
    RiseProgram *program = entry->program;
    pthread_mutex_lock(&program->lock);
    bool last = --entry->refs == 0;
    for (RiseEntry **at = &program->entries; last && *at; at = &(*at)->next)
        if (*at == entry) {
            *at = entry->next;
            break;
        }
    pthread_mutex_unlock(&program->lock);
    if (last)
        entry_free(entry);
}

/* With the last get that is given back the handle is gone; calls may need the entry on. */
static void give_back(RiseEntry *entry)
{
    pthread_mutex_lock(&entry->program->lock);
    void *handle = --entry->gets == 0 ? entry->handle : NULL;
    if (handle)
        entry->handle = NULL;
    pthread_mutex_unlock(&entry->program->lock);
    if (handle)
        handle_take(HANDLE_ENTRY, handle);
    entry_release(entry);
}

void rise_entry_free(rise_entry *handle)
{
    RiseEntry *entry = entry_of(handle, NULL);
    if (entry)
        give_back(entry);
}

/* The handle of an entry that somebody has got, for one get more. */
static int give_handle(RiseEntry *entry, rise_entry **out, rise_error *error)
{
    pthread_mutex_lock(&entry->program->lock);
    if (!entry->handle)
        entry->handle = handle_new(HANDLE_ENTRY, entry, error);
    entry->gets += entry->handle != NULL;
    *out = entry->handle;
    pthread_mutex_unlock(&entry->program->lock);
    return *out ? RISE_OK : RISE_ERROR_MEMORY;
}

static RiseEntry *entry_new(RiseProgram *program, int number, const rise_entry_options *options, rise_error *error)
{
    RiseEntry *entry = context_alloc(program->context, sizeof *entry, error);
    if (!entry)
        return NULL;
    entry->program = program;
    entry->number = number;
    turn_init(&entry->turn);
    if (settings_copy(entry, options, error) == RISE_OK)
        return entry;
    entry_free(entry);
    return NULL;
}

int rise_entry_get(rise_program *handle, const char *name, const rise_entry_options *given, rise_entry **out, rise_error *given_error)
{
    rise_entry_options options;
    rise_error own = {0}, *error = given_error ? given_error : &own;
    int number;
    if (!out)
        return argument_null(error, "entry");
    *out = NULL;
    RiseProgram *program = program_of(handle, error);
    if (!program)
        return RISE_ERROR_ARGUMENT;
    if (!struct_get(&options, sizeof options, given) || options.reserved || (options.flags & ~(uint32_t)(RISE_SPECIALIZE | RISE_UNTUNED)))
        return rise_fail(error, RISE_ERROR_ARGUMENT, "rise_entry_options.size is not sizeof(rise_entry_options), or an option is set that this version does not know: begin with `rise_entry_options options = {.size = sizeof options}`");
    if (options.n_settings && !options.settings)
        return argument_null(error, "settings");
    if (options.n_settings > LIMIT_UNROLL_ITEMS)
        return rise_fail(error, RISE_ERROR_ARGUMENT, "%zu settings are too many", options.n_settings);
    int status = find_number(program, name, &number, error);
    if (status != RISE_OK)
        return status;
    RiseEntry *wanted = entry_new(program, number, &options, error);
    if (!wanted)
        return error->status;
    RiseEntry *entry = join(program, wanted);
    if (!atomic_load_explicit(&entry->made, memory_order_acquire))
        status = context_job(program->context, make_in_turn, entry, error);
    if (status == RISE_OK)
        status = give_handle(entry, out, error);
    if (status != RISE_OK)
        entry_release(entry);
    return status;
}

void entry_free(RiseEntry *entry)
{
    if (entry->handle)
        handle_take(HANDLE_ENTRY, entry->handle);
    RiseContext *context = entry->program->context;
    instances_drop(entry);
    kernels_free(entry);
    codes_free(entry);
    ctx_free(entry->kept);
    texts_free(entry);
    for (size_t i = 0; i < entry->n_settings; i++)
        context_dealloc(context, (char *)entry->settings[i].name);
    context_dealloc(context, entry->settings);
    context_dealloc(context, entry->strategy);
    context_dealloc(context, entry->costs);
    turn_destroy(&entry->turn);
    context_dealloc(context, entry);
}

/* ---- what it is ----------------------------------------------------------------------------------------------------------------- */

#define OF(handle) const RiseEntry *entry = entry_of(handle, NULL)

const char *rise_entry_name(const rise_entry *handle)
{
    OF(handle);
    return entry ? entry->plan.core->name : NULL;
}

int rise_entry_tuned(const rise_entry *handle)
{
    OF(handle);
    return entry && !entry->strategy && entry->plan.core->n_classes > 0;
}

int rise_entry_size_count(const rise_entry *handle)
{
    OF(handle);
    return entry ? entry->plan.core->n_sizes : 0;
}

int rise_entry_tunable_count(const rise_entry *handle)
{
    OF(handle);
    return entry ? entry->plan.core->n_tunables : 0;
}

int rise_entry_argument_count(const rise_entry *handle)
{
    OF(handle);
    return entry ? entry->plan.n_arguments : 0;
}

int rise_entry_kernel_count(const rise_entry *handle)
{
    OF(handle);
    return entry ? entry->plan.n_variants : 0;
}

const char *rise_entry_size_name(const rise_entry *handle, int k)
{
    OF(handle);
    return entry && k >= 0 && k < entry->plan.core->n_sizes ? entry->plan.core->sizes[k]->name : NULL;
}

static bool is_tunable(const RiseEntry *entry, int k) { return entry && k >= 0 && k < entry->plan.core->n_tunables; }

const char *rise_entry_tunable_name(const rise_entry *handle, int k)
{
    OF(handle);
    return is_tunable(entry, k) ? entry->plan.core->tunable_names[k] : NULL;
}

int64_t rise_entry_tunable_value(const rise_entry *handle, int k)
{
    OF(handle);
    return is_tunable(entry, k) ? entry->plan.core->tunable_values[k] : 0;
}

#undef OF

int rise_entry_argument(const rise_entry *handle, int k, rise_argument *argument, rise_error *error)
{
    const RiseEntry *entry = entry_of(handle, error);
    if (!entry)
        return RISE_ERROR_ARGUMENT;
    if (!argument)
        return argument_null(error, "argument");
    if (argument->size < sizeof argument->size)
        return rise_fail(error, RISE_ERROR_ARGUMENT, "rise_argument.size is not set");
    if (k < 0 || k >= entry->plan.n_arguments)
        return rise_fail(error, RISE_ERROR_ARGUMENT, "%s has %d arguments, and no number %d", entry->plan.core->name, entry->plan.n_arguments, k);
    const Argument *a = &entry->plan.arguments[k];
    rise_argument told = {sizeof told, a->name, a->text, a->is_result, rise_type_of(a->elem), a->rank, a->is_index};
    struct_put(argument, &told, sizeof told);
    return RISE_OK;
}

/* ---- its text ----------------------------------------------------------------------------------------------------------------------- */

/* In the entry's turn. Where they were not kept: of REF, which does not lower, and where something is wrong with them, which is told now. */
static int make_texts(Job *job, RiseEntry *entry, rise_error *error)
{
    RiseContext *context = entry->program->context;
    Instance *instance;
    if (entry->cuda)
        return RISE_OK;
    int status = instance_new(entry, job, true, true, &instance, error);
    if (status != RISE_OK)
        return status;
    status = instance_lower(instance, job, context->device != RISE_REF, error);
    if (status == RISE_OK)
        status = keep_texts(job, entry, instance, error);
    if (status == RISE_OK)
        status = program_report(entry->program, job, instance->ctx, false, error);
    instance_free(context, instance);
    return status;
}

int entry_texts(Job *job, RiseEntry *entry, rise_error *error)
{
    if (atomic_load_explicit(&entry->has_texts, memory_order_acquire))
        return RISE_OK;
    int status = turn_take(job, &entry->turn, error);
    if (status != RISE_OK)
        return status;
    status = make_texts(job, entry, error);
    turn_give(&entry->turn);
    return status;
}

static int texts_in_job(Job *job, void *user, rise_error *error) { return entry_texts(job, user, error); }

static int get_text(rise_entry *handle, bool manifest, const char **text, size_t *size, rise_error *error)
{
    if (!text)
        return argument_null(error, "text");
    *text = NULL;
    RiseEntry *entry = entry_of(handle, error);
    if (!entry)
        return RISE_ERROR_ARGUMENT;
    int status = RISE_OK;
    if (!atomic_load_explicit(&entry->has_texts, memory_order_acquire))
        status = context_job(entry->program->context, texts_in_job, entry, error);
    if (status != RISE_OK)
        return status;
    *text = manifest ? entry->manifest : entry->cuda;
    if (size)
        *size = manifest ? entry->manifest_size : entry->cuda_size;
    return RISE_OK;
}

int rise_entry_cuda(rise_entry *handle, const char **text, size_t *size, rise_error *error) { return get_text(handle, false, text, size, error); }
int rise_entry_manifest(rise_entry *handle, const char **text, size_t *size, rise_error *error) { return get_text(handle, true, text, size, error); }

/* ---- its code --------------------------------------------------------------------------------------------------------------------- */

int entry_arch(const RiseEntry *entry, const char *arch, int *number, rise_error *error)
{
    const RiseContext *context = entry->program->context;
    if (!arch && context->device == RISE_GPU) {
        *number = context->gpu.arch;
        return RISE_OK;
    }
    if (!arch)
        return rise_fail(error, RISE_ERROR_ARGUMENT, "the context has no GPU, so the architecture has to be named, as in \"sm_90\"");
    char *end = NULL;
    long value = strncmp(arch, "sm_", 3) == 0 && arch[3] >= '0' && arch[3] <= '9' ? strtol(arch + 3, &end, 10) : 0;
    if (!end || *end || value < ARCH_MIN || value > ARCH_MAX)
        return rise_fail(error, RISE_ERROR_ARGUMENT, "`%s` is no architecture that librise knows: it is sm_%d or later, as in \"sm_90\"", arch, ARCH_MIN);
    *number = (int)value;
    return RISE_OK;
}

const char *entry_file_name(const RiseEntry *entry)
{
    const char *slash = strrchr(entry->program->name, '/');
    return slash ? slash + 1 : entry->program->name;
}

typedef struct Coding {
    RiseEntry *entry;
    int arch;
    CodeForm form;
    const Code *code;
} Coding;

static EntryCode *code_find(const Coding *c)
{
    EntryCode *code = c->entry->codes;
    while (code && (code->arch != c->arch || code->form != c->form))
        code = code->next;
    return code;
}

static int code_make(Job *job, const Coding *c, rise_error *error)
{
    RiseEntry *entry = c->entry;
    RiseContext *context = entry->program->context;
    EntryCode *made = context_alloc(context, sizeof *made, error);
    if (!made)
        return RISE_ERROR_MEMORY;
    CodeWork work = {.request = {.name = entry_file_name(entry), .text = entry->cuda, .arch = c->arch, .form = c->form}};
    Ctx *ctx = ctx_new(&context->seams.alloc, NULL);
    int status = ctx ? code_compile(context, job, ctx, 1, &work, error) : context_out_of_memory(error);
    if (status != RISE_OK) {
        ctx_free(ctx);
        context_dealloc(context, made);
        return status;
    }
    *made = (EntryCode){entry->codes, ctx, c->arch, c->form, work.code};
    entry->codes = made;
    return RISE_OK;
}

static void codes_free(RiseEntry *entry)
{
    while (entry->codes) {
        EntryCode *code = entry->codes;
        entry->codes = code->next;
        ctx_free(code->ctx);
        context_dealloc(entry->program->context, code);
    }
}

static int code_in_job(Job *job, void *user, rise_error *error)
{
    Coding *c = user;
    int status = entry_texts(job, c->entry, error);
    if (status == RISE_OK)
        status = turn_take(job, &c->entry->turn, error);
    if (status != RISE_OK)
        return status;
    if (!code_find(c))
        status = code_make(job, c, error);
    c->code = status == RISE_OK ? &code_find(c)->code : NULL;
    turn_give(&c->entry->turn);
    return status;
}

static int entry_code(rise_entry *handle, const char *arch, CodeForm form, const Code **code, rise_error *error)
{
    RiseEntry *entry = entry_of(handle, error);
    Coding c = {.entry = entry, .form = form};
    if (!entry)
        return RISE_ERROR_ARGUMENT;
    int status = entry_arch(entry, arch, &c.arch, error);
    if (status == RISE_OK)
        status = context_job(entry->program->context, code_in_job, &c, error);
    *code = c.code;
    return status;
}

int rise_entry_ptx(rise_entry *handle, const char *arch, const char **text, size_t *size, rise_error *error)
{
    const Code *code = NULL;
    if (!text)
        return argument_null(error, "text");
    *text = NULL;
    int status = entry_code(handle, arch, CODE_PTX, &code, error);
    if (status != RISE_OK)
        return status;
    *text = code->bytes;
    if (size)
        *size = code->size;
    return RISE_OK;
}

int rise_entry_cubin(rise_entry *handle, const char *arch, const void **bytes, size_t *size, rise_error *error)
{
    const Code *code = NULL;
    if (!bytes)
        return argument_null(error, "bytes");
    *bytes = NULL;
    int status = entry_code(handle, arch, CODE_CUBIN, &code, error);
    if (status != RISE_OK)
        return status;
    *bytes = code->bytes;
    if (size)
        *size = code->size;
    return RISE_OK;
}
