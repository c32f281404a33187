/* The compiler on one entry, in a Ctx of its own. Any number of them may run at once; see Instance. */
#include "frontend/costs.h"
#include "frontend/tuning.h"
#include "internal.h"

enum { INSTANCE_GROWTH = 4 << 20 }; /* bytes, after which one is thrown away */
enum { INSTANCES_IDLE = 32 << 20 }; /* bytes that idle ones of a context take, but for the last that was used */

enum { METER_HEAD = 16 }; /* bytes before a block, which keep its size: as many as blocks are aligned to */

static void *meter_alloc(void *user, size_t size)
{
    Meter *meter = user;
    const Allocator *alloc = &meter->context->seams.alloc;
    if (size > SIZE_MAX - METER_HEAD)
        return NULL;
    size += METER_HEAD;
    if (meter->most && (meter->bytes > meter->most || size > meter->most - meter->bytes)) {
        meter->over = true;
        return NULL;
    }
    char *block = alloc->alloc(alloc->user, size);
    if (!block)
        return NULL;
    meter->bytes += size;
    memcpy(block, &size, sizeof size);
    return block + METER_HEAD;
}

static void meter_free(void *user, void *block)
{
    Meter *meter = user;
    const Allocator *alloc = &meter->context->seams.alloc;
    char *whole = (char *)block - METER_HEAD;
    size_t size;
    memcpy(&size, whole, sizeof size);
    meter->bytes -= size;
    alloc->free(alloc->user, whole);
}

typedef struct Making {
    Job *job;
    const RiseEntry *entry;
    Instance *instance;
    bool silent;
    int status;
    rise_error *error;
} Making;

/* The device's name in tuning files; NULL where they do not count. */
static const char *tuned_for(Ctx *ctx, const RiseEntry *entry)
{
    const RiseContext *context = entry->program->context;
    if ((entry->flags & RISE_UNTUNED) || entry->program->reads == READS_NOTHING || context->device == RISE_REF)
        return NULL;
    return context->device == RISE_SIM ? TUNING_SIM : tuning_device(ctx, context->name);
}

static void elaborate(Ctx *ctx, void *user)
{
    Making *m = user;
    const RiseProgram *p = m->entry->program;
    Program *program = m->instance->program = program_inside(ctx, m->instance->base->program);
    const TuneSection *section;
    ElabClass all = {.strategy = m->entry->strategy};
    const char *costs = m->entry->costs;
    if (costs)
        ctx->costs = costs_parse(ctx, source_add(ctx, "costs", costs, strlen(costs)));
    if (costs && !ctx->costs)
        m->instance->core = NULL;
    else if (all.strategy)
        m->instance->core = elab_entry_tuned(ctx, program, m->entry->number, (int)m->entry->n_settings, m->entry->settings, 1, &all);
    else
        m->instance->core = tuned_entry(ctx, program, m->entry->number, p->name, tuned_for(ctx, m->entry), (int)m->entry->n_settings, m->entry->settings, &section);
    m->status = program_report(p, m->job, ctx, m->silent, m->error);
    if (m->status == RISE_OK && !m->instance->core)
        m->status = rise_fail(m->error, RISE_ERROR_BUG, "the entry is neither right nor wrong: a bug in librise");
}

static void lower(Ctx *ctx, void *user)
{
    Making *m = user;
    m->instance->imp = lower_entry(ctx, m->instance->core, (LowerPass)(PASS_COUNT - 1));
    m->status = program_report(m->instance->reader.program, m->job, ctx, m->silent, m->error);
    if (m->status == RISE_OK && !m->instance->imp)
        m->status = rise_fail(m->error, RISE_ERROR_BUG, "the entry is neither lowered nor refused: a bug in librise");
    if (m->status != RISE_OK)
        m->instance->imp = NULL;
    if (program_more_count(m->instance->program, m->instance->base->program) > 0)
        base_note(m->instance->reader.program, m->instance->base, m->instance->program);
}

int instance_lower(Instance *instance, Job *job, bool silent, rise_error *error)
{
    Making m = {.job = job, .instance = instance, .silent = silent, .error = error};
    if (instance->imp)
        return RISE_OK;
    int status = job_try(job, instance->ctx, lower, &m, error);
    return status == RISE_OK ? m.status : status;
}

int instance_new(RiseEntry *entry, Job *job, bool only_typed, bool silent, Instance **out, rise_error *error)
{
    RiseContext *context = entry->program->context;
    Instance *instance = context_alloc(context, sizeof *instance, error);
    *out = NULL;
    if (!instance)
        return RISE_ERROR_MEMORY;
    instance->entry = entry;
    int status = base_get(entry->program, job, &instance->base, error);
    if (status != RISE_OK) {
        context_dealloc(context, instance);
        return status;
    }
    instance->meter.context = context;
    Allocator metered = {&instance->meter, meter_alloc, meter_free};
    instance->reader = (Reader){entry->program, job};
    FileAccess files = program_files(&instance->reader);
    instance->ctx = ctx_new_inside(instance->base->ctx, &metered, &files);
    Making m = {job, entry, instance, silent, RISE_OK, error};
    status = instance->ctx ? job_try(job, instance->ctx, elaborate, &m, error) : context_out_of_memory(error);
    instance->reader.job = NULL;
    if (status == RISE_OK)
        status = m.status;
    if (status == RISE_OK && !only_typed)
        status = instance_lower(instance, job, silent, error);
    if (status != RISE_OK) {
        instance_free(context, instance);
        return status;
    }
    instance->fresh = instance->meter.bytes;
    *out = instance;
    return RISE_OK;
}

void instance_free(RiseContext *context, Instance *instance)
{
    if (!instance)
        return;
    ctx_free(instance->ctx);
    context_dealloc(context, instance);
}

static void lower_for_sizes(Ctx *ctx, void *user)
{
    Instance *instance = user;
    instance->imp = lower_quietly(ctx, instance->core);
}

/* One that launches. The reference interpreter takes the sizes for which there is a kernel, so that it is asked for, too. */
static int instance_for_launch(RiseEntry *entry, Job *job, Instance **instance, rise_error *error)
{
    RiseContext *context = entry->program->context;
    int status = instance_new(entry, job, context->device != RISE_SIM, true, instance, error);
    if (status != RISE_OK || context->device != RISE_REF)
        return status;
    status = job_try(job, (*instance)->ctx, lower_for_sizes, *instance, error);
    (*instance)->fresh = (*instance)->meter.bytes;
    if (status != RISE_OK) {
        instance_free(context, *instance);
        *instance = NULL;
    }
    return status;
}

/* ---- idle ones -------------------------------------------------------------------------------------------------------------- */

int instance_take(RiseEntry *entry, Job *job, Instance **instance, rise_error *error)
{
    RiseContext *context = entry->program->context;
    pthread_mutex_lock(&context->lock);
    Instance **at = &context->idle;
    while (*at && (*at)->entry != entry)
        at = &(*at)->next;
    *instance = *at;
    if (*at)
        *at = (*at)->next;
    pthread_mutex_unlock(&context->lock);
    return *instance ? RISE_OK : instance_for_launch(entry, job, instance, error);
}

static void free_list(RiseContext *context, Instance *list)
{
    while (list) {
        Instance *next = list->next;
        instance_free(context, list);
        list = next;
    }
}

/* The newest one stays, and of the others as many as fit. */
void instance_give(RiseEntry *entry, Instance *instance)
{
    RiseContext *context = entry->program->context;
    if (instance->meter.bytes - instance->fresh > INSTANCE_GROWTH) {
        instance_free(context, instance);
        return;
    }
    pthread_mutex_lock(&context->lock);
    instance->next = context->idle;
    context->idle = instance;
    size_t bytes = instance->meter.bytes;
    Instance **at = &instance->next;
    while (*at && (bytes += (*at)->meter.bytes) <= INSTANCES_IDLE)
        at = &(*at)->next;
    Instance *gone = *at;
    *at = NULL;
    pthread_mutex_unlock(&context->lock);
    free_list(context, gone);
}

void instances_drop(const RiseEntry *entry)
{
    RiseContext *context = entry->program->context;
    Instance *gone = NULL;
    pthread_mutex_lock(&context->lock);
    for (Instance **at = &context->idle; *at;) {
        Instance *instance = *at;
        if (instance->entry != entry) {
            at = &instance->next;
            continue;
        }
        *at = instance->next;
        instance->next = gone;
        gone = instance;
    }
    pthread_mutex_unlock(&context->lock);
    free_list(context, gone);
}
