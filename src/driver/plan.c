/* Gathers the plan of an entry: kernels and their grids from the program that is compiled, and arrays
 * and stages by plan_stages.c. */
#include "driver/plan.h"

#include "codegen/index_guards.h"
#include "codegen/one_memory.h"
#include "codegen/walk.h"
#include "driver/sizes.h"
#include "driver/steps.h"
#include "ir/key.h"

/* ---- kernels ----------------------------------------------------------------------------------- */

/* Do the kernels of what follows know the buffer by this name? */
static bool is_held(const ImpBuf *buf, const CoreVar *name)
{
    while (buf && buf->holds != name)
        buf = buf->merged;
    return buf != NULL;
}

/* Do the kernels of a step know it by this name as a part of the state? */
static bool is_part(const ImpBuf *buf, const CoreVar *name)
{
    while (buf && buf->part != name)
        buf = buf->merged;
    return buf != NULL;
}

/* Is the buffer one of the results that the array is? */
static bool is_part_of_result(const Plan *plan, const PlanArray *array, const ImpBuf *buf)
{
    bool found = false;
    for (int i = 0; array->place == PLAN_PART && plan->arrays.at[array->of].place == PLAN_RESULT && i < array->components.n; i++)
        found |= array->components.at[i] == buf->component;
    return found;
}

/* Does the stage write the buffer? */
static bool is_of(const Plan *plan, const PlanStage *stage, const ImpBuf *buf)
{
    const PlanArray *array = stage->makes >= 0 ? &plan->arrays.at[stage->makes] : NULL;
    if (buf->space != SPACE_OUTPUT)
        return array && array->holds && (is_held(buf, array->holds) || is_part(buf, array->holds));
    return !array || is_part_of_result(plan, array, buf);
}

bool plan_excludes(const Plan *plan, const ImpWhens *a, const ImpWhens *b)
{
    for (int i = 0; i < a->n; i++)
        for (int k = 0; k < b->n; k++)
            if (a->at[i].holds != b->at[k].holds && core_same(plan->ctx, a->at[i].test, b->at[k].test))
                return true;
    return false;
}

bool plan_is_of(const PlanVariant *variant, int stage)
{
    bool found = false;
    for (int i = 0; i < variant->stages.n && !found; i++)
        found = variant->stages.at[i] == stage;
    return found;
}

/* Instead of stages that a launch may have beside this one. */
static void set_stage(const Plan *plan, PlanVariant *v, int stage)
{
    int n = 0;
    for (int i = 0; i < v->stages.n; i++)
        if (plan_excludes(plan, &plan->stages.at[v->stages.at[i]].when, &plan->stages.at[stage].when))
            v->stages.at[n++] = v->stages.at[i];
    v->stages.n = n;
    vec_push(plan->ctx, &v->stages, stage);
}

/* The stages whose arrays the kernel leaves, or whose parts of the result: in each branch, the first one
 * that has the buffer. The last stage writes what the others have left. */
static void find_stages(const Plan *plan, PlanVariant *v)
{
    const ImpKernel *kernel = v->variant->kernel;
    for (int i = 0; i < kernel->bufs.n; i++) {
        const ImpBuf *buf = kernel->bufs.at[i];
        if ((buf->space != SPACE_TEMP && buf->space != SPACE_OUTPUT) || !kernel_writes(kernel, buf))
            continue;
        for (int s = plan->stages.n - 1; s >= 0; s--) {
            const PlanStage *stage = &plan->stages.at[s];
            if (stage->step == (kernel->group != NULL) && !plan_excludes(plan, &stage->when, &v->variant->when) && is_of(plan, stage, buf))
                set_stage(plan, v, s);
        }
    }
}

bool plan_same_when(const Plan *plan, const ImpWhens *a, const ImpWhens *b)
{
    bool same = a->n == b->n;
    for (int i = 0; i < a->n && same; i++)
        same = a->at[i].holds == b->at[i].holds && core_same(plan->ctx, a->at[i].test, b->at[i].test);
    return same;
}

bool plan_begins_branch(const Plan *plan, int stage)
{
    const ImpWhens *when = &plan->stages.at[stage].when;
    bool first = when->n > 0;
    for (int s = 0; s < stage && first; s++)
        first = !plan_same_when(plan, when, &plan->stages.at[s].when);
    return first;
}

static const char *name_of(const Plan *plan, const ImpKernel *kernel)
{
    int k = 0;
    while (imp_form(plan->program, k) != kernel)
        k++;
    return plan->names[k];
}

/* Those of the conditions that the sizes do not decide for all the plan. */
static ImpWhens undecided(const Plan *plan, const ImpWhens *whens)
{
    ImpWhens left = {0};
    for (int i = 0; i < whens->n; i++) {
        const ImpWhens opposite = {.at = &(ImpWhen){whens->at[i].test, !whens->at[i].holds}, .n = 1};
        if (!plan_excludes(plan, &plan->decided, &opposite))
            vec_push(plan->ctx, &left, whens->at[i]);
    }
    return left;
}

static void add_launches(Plan *plan)
{
    Ctx *ctx = plan->ctx;
    plan->names = cuda_kernel_names(ctx, plan->program);
    for (int i = 0; i < plan->program->launches.n; i++) {
        PlanLaunch launch = {.launch = &plan->program->launches.at[i]};
        for (int v = 0; v < launch.launch->variants.n; v++) {
            const ImpVariant *variant = &launch.launch->variants.at[v];
            if (plan_excludes(plan, &plan->decided, &variant->when))
                continue;
            PlanVariant new = {.variant = variant, .when = undecided(plan, &variant->when), .name = name_of(plan, variant->kernel)};
            find_stages(plan, &new);
            vec_push(ctx, &launch.variants, new);
        }
        if (launch.variants.n)
            vec_push(ctx, &plan->launches, launch);
    }
}

/* Adds the stages of the other variant that may be of this one, too, and of none that it has. */
static void share_stages(const Plan *plan, const PlanVariant *other, PlanVariant *v)
{
    for (int i = 0; i < other->stages.n; i++) {
        const ImpWhens *when = &plan->stages.at[other->stages.at[i]].when;
        bool new = !plan_excludes(plan, when, &v->variant->when);
        for (int k = 0; k < v->stages.n; k++)
            new &= plan_excludes(plan, when, &plan->stages.at[v->stages.at[k]].when);
        if (new)
            vec_push(plan->ctx, &v->stages, other->stages.at[i]);
    }
}

/* The stages that other variants of the launch are of, under conditions that may hold with these; else, as
 * it leaves only what is its own stage's, those of the next launch. */
static void set_stages_beside(const Plan *plan, int launch, PlanVariant *v)
{
    for (int i = launch; i < plan->launches.n && !v->stages.n; i++) {
        const PlanLaunch *here = &plan->launches.at[i];
        for (int k = 0; k < here->variants.n; k++)
            if (!plan_excludes(plan, &here->variants.at[k].variant->when, &v->variant->when))
                share_stages(plan, &here->variants.at[k], v);
    }
    if (!v->stages.n)
        vec_push(plan->ctx, &v->stages, plan->stages.n - 1);
}

static void list_kernels(Plan *plan)
{
    for (int s = 0; s < plan->stages.n; s++)
        for (int i = 0; i < plan->launches.n; i++) {
            bool has = false;
            for (int v = 0; v < plan->launches.at[i].variants.n; v++)
                has |= plan_is_of(&plan->launches.at[i].variants.at[v], s);
            if (has)
                vec_push(plan->ctx, &plan->stages.at[s].kernels, i);
        }
}

/* Of kernels that write no array of the plan: those of empty arrays, and those that only prepare. */
static void complete_stages(Plan *plan)
{
    for (int i = plan->launches.n - 1; i >= 0; i--) {
        PlanLaunch *launch = &plan->launches.at[i];
        for (int v = 0; v < launch->variants.n; v++)
            if (!launch->variants.at[v].stages.n)
                set_stages_beside(plan, i, &launch->variants.at[v]);
    }
    list_kernels(plan);
}

/* Does the buffer have the array, or a component of it? */
static bool is_in(const Plan *plan, const PlanArray *array, const ImpBuf *buf)
{
    int first = 0;
    if (array->place == PLAN_INPUT) {
        for (int i = 0; plan->entry->inputs[i] != array->var; i++)
            first += type_component_count(plan->entry->inputs[i]->type);
        return buf->space == SPACE_INPUT && buf->component >= first && buf->component < first + type_component_count(array->type);
    }
    bool found = array->holds && buf->space == SPACE_TEMP && (is_held(buf, array->holds) || is_part(buf, array->holds));
    return found || (buf->space == SPACE_OUTPUT && is_part_of_result(plan, array, buf));
}

static bool kernel_reads_array(const Plan *plan, const ImpKernel *kernel, const PlanArray *array)
{
    bool reads = false;
    for (int b = 0; b < kernel->bufs.n && !reads; b++) {
        const ImpBuf *buf = kernel->bufs.at[b];
        reads = (is_in(plan, array, buf) || (buf->swap && is_in(plan, array, buf->swap))) && kernel_reads(kernel, buf);
    }
    return reads;
}

/* The letters of the stage's branch: A to Z, AA and so on; "" of what is in all branches. */
static const char *letters(const Plan *plan, const PlanStage *stage)
{
    int n = 0;
    const char *text = "";
    for (int s = 0; stage->when.n; s++) {
        n += plan_begins_branch(plan, s);
        if (plan_same_when(plan, &plan->stages.at[s].when, &stage->when))
            break;
    }
    for (; n > 0; n = (n - 1) / 26)
        text = ctx_printf(plan->ctx, "%c%s", 'A' + (n - 1) % 26, text);
    return text;
}

/* How many kernels there may be up to launch i, for sizes that may have this. */
static int place_of(const Plan *plan, const ImpWhens *when, int i, const int *places)
{
    int before = 0;
    for (int k = 0; k < i; k++)
        for (int s = 0; s < plan->stages.n; s++) {
            int place = places[k * plan->stages.n + s];
            if (place > before && !plan_excludes(plan, &plan->stages.at[s].when, when))
                before = place;
        }
    return before + 1;
}

static void name_kernels(Plan *plan)
{
    Ctx *ctx = plan->ctx;
    const int n = plan->stages.n;
    int *places = NEWN(ctx, int, plan->launches.n * n + 1); /* of the launch and the stage; 0: it is not of it */
    for (int i = 0; i < plan->launches.n; i++)
        for (int s = 0; s < n; s++) {
            PlanStage *stage = &plan->stages.at[s];
            bool has = false;
            for (int k = 0; k < stage->kernels.n; k++)
                has |= stage->kernels.at[k] == i;
            if (!has)
                continue;
            const int place = place_of(plan, &stage->when, i, places);
            places[i * n + s] = place;
            plan->most = place > plan->most ? place : plan->most;
            vec_push(ctx, &stage->names, ctx_printf(ctx, "%s%d", letters(plan, stage), place));
        }
}

/* Which kernels of the stage read what it reads. */
static void find_readers(Plan *plan, int s)
{
    PlanStage *stage = &plan->stages.at[s];
    int n = 0;
    for (int r = 0; r < stage->reads.n; r++) {
        PlanReads reads = stage->reads.at[r];
        for (int i = 0; i < stage->kernels.n; i++) {
            const PlanLaunch *launch = &plan->launches.at[stage->kernels.at[i]];
            bool any = false;
            for (int v = 0; v < launch->variants.n && !any; v++)
                any = plan_is_of(&launch->variants.at[v], s) && kernel_reads_array(plan, launch->variants.at[v].variant->kernel, &plan->arrays.at[reads.array]);
            if (any)
                vec_push(plan->ctx, &reads.kernels, stage->kernels.at[i]);
        }
        if (reads.kernels.n)
            stage->reads.at[n++] = reads;
    }
    stage->reads.n = n;
}

/* Has a kernel the array in this buffer? Arrays of different branches may share one. */
static bool holds_array(const Plan *plan, const WorkBuffer *buffer, const CoreVar *array)
{
    const ImpProgram *program = plan->program;
    for (int k = 0; k < program->kernels.n; k++)
        for (int b = 0; b < program->kernels.at[k]->bufs.n; b++) {
            const ImpBuf *both[2] = {program->kernels.at[k]->bufs.at[b], program->kernels.at[k]->bufs.at[b]->swap};
            for (int i = 0; i < 2; i++)
                if (both[i] && is_held(both[i], array) && workspace_buffer(plan->ctx, &plan->space, both[i]) == buffer)
                    return true;
        }
    return false;
}

/* Stored arrays have the bytes of their buffers: two of them, where launches that repeat change them. */
static void measure_stored(Plan *plan)
{
    for (int i = 0; i < plan->arrays.n; i++) {
        PlanArray *array = &plan->arrays.at[i];
        Nat bytes = nat_const(plan->ctx, 0);
        for (int b = 0; b < plan->space.buffers.n; b++) {
            const WorkBuffer *buffer = &plan->space.buffers.at[b];
            if (array->holds && holds_array(plan, buffer, array->holds)) {
                bytes = nat_add(plan->ctx, bytes, buffer->bytes);
                array->buffers++;
            }
        }
        array->bytes = array->buffers ? bytes : array->bytes;
    }
}

/* Is the buffer one of those that have the arrays of the plan? */
static bool holds_any(const Plan *plan, const WorkBuffer *buffer)
{
    bool any = false;
    for (int i = 0; i < plan->arrays.n && !any; i++)
        any = plan->arrays.at[i].holds && holds_array(plan, buffer, plan->arrays.at[i].holds);
    return any;
}

/* May the variant be launched, at the plan's sizes if there are any? */
static bool may_launch(const Plan *plan, const PlanLaunch *launch, const PlanVariant *variant)
{
    bool known = plan->at && !plan->device_open;
    for (int v = 0; plan->at && v < launch->variants.n; v++)
        known |= launch->variants.at[v].chosen;
    return variant->chosen || !known;
}

/* Which kernels of the stage write the buffer, and which read it. */
static void find_users(const Plan *plan, const WorkBuffer *buffer, PlanPartial *partial)
{
    Ctx *ctx = plan->ctx;
    const PlanStage *stage = &plan->stages.at[partial->stage];
    for (int i = 0; i < stage->kernels.n; i++) {
        const PlanLaunch *launch = &plan->launches.at[stage->kernels.at[i]];
        bool writes = false, reads = false;
        for (int v = 0; v < launch->variants.n; v++) {
            const PlanVariant *variant = &launch->variants.at[v];
            const ImpKernel *kernel = variant->variant->kernel;
            if (!plan_is_of(variant, partial->stage) || !may_launch(plan, launch, variant))
                continue;
            for (int b = 0; b < kernel->bufs.n; b++) {
                const ImpBuf *buf = kernel->bufs.at[b];
                const bool here = buf->space == SPACE_TEMP && workspace_buffer(ctx, &plan->space, buf) == buffer;
                writes |= here && kernel_writes(kernel, buf);
                reads |= here && kernel_reads(kernel, buf);
            }
        }
        if (writes)
            vec_push(ctx, &partial->writers, stage->kernels.at[i]);
        if (reads)
            vec_push(ctx, &partial->readers, stage->kernels.at[i]);
    }
}

/* What a template leaves for its own next kernel is no array of the program, and is stored all the same. What
 * only the blocks of one kernel exchange is not between kernels, and flags are no values. */
static void add_partial(Plan *plan)
{
    for (int b = 0; b < plan->space.buffers.n; b++) {
        const WorkBuffer *buffer = &plan->space.buffers.at[b];
        if (buffer->zero || holds_any(plan, buffer))
            continue;
        for (int s = 0; s < plan->stages.n; s++) {
            PlanPartial partial = {.name = buffer->name, .bytes = buffer->bytes, .stage = s};
            find_users(plan, buffer, &partial);
            const int readers = partial.readers.n;
            if (partial.writers.n && readers && partial.readers.at[readers - 1] > partial.writers.at[0])
                vec_push(plan->ctx, &plan->partial, partial);
        }
    }
}

static void add_shares(Plan *plan)
{
    Ctx *ctx = plan->ctx;
    const CoreEntry *entry = plan->entry;
    for (int r = 0; r < type_component_count(entry->result); r++)
        for (int i = 0, input = 0; i < entry->n_inputs; i++) {
            Type type = entry->inputs[i]->type;
            for (int k = 0; k < type_component_count(type); k++)
                if (one_memory(ctx, plan->program, r, input++) == ONE_MEMORY_ALLOWED)
                    vec_push(ctx, &plan->shares, ((PlanShare){type_component_name(ctx, "result", entry->result, r),
                                                              type_component_name(ctx, entry->inputs[i]->name, type, k)}));
        }
}

/* ---- at sizes ---------------------------------------------------------------------------------- */

bool plan_value(const Plan *plan, Nat nat, int64_t *value)
{
    return plan->at && launch_nat(NULL, plan->entry, plan->at, nat, value);
}

static void choose_form(Plan *plan, PlanVariant *v)
{
    const ImpKernel *kernel = v->variant->kernel, *twin = imp_wide_twin(kernel);
    bool narrow = index_guards_admit(plan->program->entry, index_guards(plan->ctx, kernel), plan->at, false);
    v->form = twin && !narrow ? twin : kernel;
    v->name = name_of(plan, v->form);
    for (int a = 0; a < 3; a++)
        if (!plan_value(plan, kernel_grid(plan->ctx, v->form, a), &v->blocks[a])) {
            v->blocks[a] = -1;
            plan->device_open = true;
        }
}

static void choose_variants(Plan *plan)
{
    for (int i = 0; i < plan->launches.n; i++) {
        PlanLaunch *launch = &plan->launches.at[i];
        ImpKernel *chosen;
        if (!imp_choose(NULL, plan->program->entry, launch->launch, plan->at, &chosen)) {
            plan->device_open = true;
            continue;
        }
        bool found = false;
        for (int v = 0; v < launch->variants.n && chosen; v++) {
            PlanVariant *variant = &launch->variants.at[v];
            bool holds = false;
            imp_when_holds(NULL, plan->program->entry, &variant->variant->when, plan->at, &holds);
            variant->chosen = holds && !found;
            found |= holds;
            if (variant->chosen)
                choose_form(plan, variant);
        }
    }
}

static int64_t workspace_at(Plan *plan)
{
    int64_t most = 0, bytes;
    for (int i = 0; i < plan->launches.n; i++)
        for (int v = 0; v < plan->launches.at[i].variants.n; v++) {
            const PlanVariant *variant = &plan->launches.at[i].variants.at[v];
            if (!variant->chosen)
                continue;
            if (!plan_value(plan, workspace_bytes(&plan->space, variant->variant), &bytes))
                return -1;
            most = bytes > most ? bytes : most;
        }
    return most;
}

/* The sizes that --set gives, if it gives any: then it gives all. False with diagnostics. */
static bool take_sizes(Plan *plan, Driver *d)
{
    Ctx *ctx = plan->ctx;
    Launch *at = NEW(ctx, Launch);
    bool any = false;
    at->num_sm = at->max_resident = -1;
    for (int i = 0; i < plan->entry->n_sizes; i++)
        any |= option_sets(d->line, plan->entry->sizes[i]->name);
    for (int i = 0; i < d->line->given.n; i++) {
        const Given *given = &d->line->given.at[i];
        if (given->id == OPT_SET && !strcmp(given->name, "numSM"))
            at->num_sm = given->number;
        if (given->id == OPT_SET && !strcmp(given->name, "maxResident"))
            at->max_resident = given->number;
    }
    if (!any && plan->entry->n_sizes)
        return true;
    if (!sizes_infer(ctx, d, plan->entry, 0, NULL, at))
        return false;
    Launch device = *at; /* some one, where nothing says which: it decides which kernels' indices are checked */
    device.num_sm = at->num_sm < 0 ? 1 : at->num_sm;
    device.max_resident = at->max_resident < 0 ? 4 : at->max_resident;
    if (!launch_check_sizes(ctx, plan->entry, at) || !index_guards_take(ctx, plan->program, &device)) {
        driver_fail(d, STATUS_PROGRAM);
        return false;
    }
    plan->at = at;
    return true;
}

Plan *driver_plan(Ctx *ctx, Driver *d, const CoreEntry *entry, const Rewriting *r)
{
    Plan *plan = NEW(ctx, Plan);
    *plan = (Plan){.ctx = ctx, .entry = entry, .lowered = r->entry, .workspace_bytes = -1};
    const CoreEntry *as_is = steps_as_it_stands(ctx, r->entry, r->entry->body, r->entry->launch);
    plan->program = lower_entry(ctx, as_is, (LowerPass)(PASS_COUNT - 1));
    if (!plan->program) {
        driver_fail(d, STATUS_PROGRAM);
        return NULL;
    }
    if (!take_sizes(plan, d))
        return NULL;
    plan_add_stages(plan, r);
    add_launches(plan);
    complete_stages(plan);
    name_kernels(plan);
    for (int s = 0; s < plan->stages.n; s++)
        find_readers(plan, s);
    workspace_plan(ctx, plan->program, &plan->space);
    measure_stored(plan);
    add_shares(plan);
    if (plan->at) {
        choose_variants(plan);
        plan->workspace_bytes = workspace_at(plan);
    }
    add_partial(plan);
    return plan;
}
