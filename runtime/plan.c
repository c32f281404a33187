/* What of an entry does not change from launch to launch, as tables, so that a launch neither searches nor allocates. */
#include "internal.h"

#include "codegen/cuda_internal.h"
#include "codegen/workspace.h"

static const struct {
    int type;
    Scalar scalar;
} types[] = {{RISE_BOOL, SC_BOOL}, {RISE_I8, SC_I8},   {RISE_I16, SC_I16}, {RISE_I32, SC_I32}, {RISE_I64, SC_I64}, {RISE_U8, SC_U8},  {RISE_U16, SC_U16},
             {RISE_U32, SC_U32},   {RISE_U64, SC_U64}, {RISE_F16, SC_F16}, {RISE_BF16, SC_BF16}, {RISE_F32, SC_F32}, {RISE_F64, SC_F64}};
enum { N_TYPES = sizeof types / sizeof types[0] };

int scalar_of_type(int type)
{
    for (int i = 0; i < N_TYPES; i++)
        if (types[i].type == type)
            return (int)types[i].scalar;
    return -1;
}

int rise_type_of(Scalar scalar)
{
    for (int i = 0; i < N_TYPES; i++)
        if (types[i].scalar == scalar)
            return types[i].type;
    return 0;
}

size_t rise_type_bytes(int type) { return scalar_of_type(type) < 0 ? 0 : (size_t)scalar_bytes((Scalar)scalar_of_type(type)); }
const char *rise_type_name(int type) { return scalar_of_type(type) < 0 ? "?" : scalar_name((Scalar)scalar_of_type(type)); }

int plan_argument(const Plan *plan, const char *name)
{
    for (int i = 0; i < plan->n_arguments; i++)
        if (strcmp(plan->arguments[i].name, name) == 0)
            return i;
    return -1;
}

/* ---- arguments -------------------------------------------------------------------------------------------------------------- */

static void add_arguments(Ctx *ctx, Plan *plan, Type type, const char *name, bool is_result)
{
    int n = type_component_count(type);
    for (int k = 0; k < n; k++) {
        Argument *a = &plan->arguments[plan->n_arguments++];
        Type t = type_component(ctx, type, k);
        *a = (Argument){.name = type_component_name(ctx, name, type, k), .text = type_text(ctx, t), .is_result = is_result, .elem = type_scalar_of(ctx, t)};
        a->extents = NEWN(ctx, Nat, LIMIT_ARRAY_RANK + 1);
        for (; (t->kind == TY_ARRAY || t->kind == TY_VEC) && a->rank <= LIMIT_ARRAY_RANK; t = t->elem)
            a->extents[a->rank++] = t->size;
        a->by_value = !is_result && a->rank == 0;
        a->is_index = t->kind == TY_IDX;
        a->below = a->is_index ? t->size : NULL;
    }
}

static void make_arguments(Ctx *ctx, Plan *plan)
{
    const CoreEntry *core = plan->core;
    int n = plan->n_results = type_component_count(core->result);
    for (int i = 0; i < core->n_inputs; i++)
        n += type_component_count(core->inputs[i]->type);
    plan->arguments = NEWN(ctx, Argument, n + 1);
    add_arguments(ctx, plan, core->result, "result", true);
    for (int i = 0; i < core->n_inputs; i++)
        add_arguments(ctx, plan, core->inputs[i]->type, core->inputs[i]->name, false);
}

static void make_in_place(Ctx *ctx, const ImpProgram *imp, Plan *plan)
{
    int inputs = plan->n_arguments - plan->n_results;
    for (int k = 0; k < plan->n_results; k++) {
        unsigned char *found = NEWN(ctx, unsigned char, inputs + 1);
        for (int i = 0; i < inputs; i++)
            found[i] = (unsigned char)one_memory(ctx, imp, k, i);
        plan->arguments[k].in_place = found;
    }
}

/* ---- the workspace ------------------------------------------------------------------------------------------------------------ */

static void make_temps(Ctx *ctx, const ImpProgram *imp, Plan *plan)
{
    Workspace space;
    workspace_plan(ctx, imp, &space);
    plan->n_temps = space.buffers.n;
    plan->temps = NEWN(ctx, Temp, space.buffers.n + 1);
    plan->flags = space.flags;
    plan->align = space.align;
    for (int i = 0; i < space.buffers.n; i++) {
        const WorkBuffer *b = &space.buffers.at[i];
        plan->temps[i] = (Temp){.name = b->buf->name, .zero = b->zero, .data = b->offset != NULL, .flag = b->flag, .room = b->room, .over = b->over};
    }
}

/* ---- kernels ---------------------------------------------------------------------------------------------------------------- */

static int temp_of(const Plan *plan, const ImpBuf *buf)
{
    int i = 0;
    while (strcmp(plan->temps[i].name, buf->name) != 0)
        i++;
    return i;
}

static void note_resident(void *user, Nat var)
{
    if (var->device == NAT_MAX_RESIDENT)
        *(bool *)user = true;
}

static void make_variant(Ctx *ctx, Plan *plan, const ImpKernel *kernel, const char *name, Variant *v)
{
    *v = (Variant){.kernel = kernel, .name = name, .number = plan->n_variants, .dynamic_shared = kernel_shared_is_dynamic(kernel)};
    plan->variants[plan->n_variants++] = v;
    v->asks_resident = kernel->cooperative;
    v->buffers = NEWN(ctx, PlanBuffer, kernel->bufs.n + 1);
    for (int i = 0; i < kernel->bufs.n; i++) {
        const ImpBuf *buf = kernel->bufs.at[i];
        if (buf->space == SPACE_SHARED)
            continue;
        PlanBuffer *b = &v->buffers[v->n_buffers++];
        *b = (PlanBuffer){.argument = -1, .temp = -1, .swap = -1, .align = imp_align(kernel, buf), .cells = kernel_cells(ctx, kernel, buf), .cell_bytes = scalar_bytes(buf->elem)};
        if (buf->swap) {
            b->swap = temp_of(plan, buf->swap);
            b->turns = buf->turns;
        }
        if (buf->space == SPACE_TEMP)
            b->temp = temp_of(plan, buf);
        else
            b->argument = buf->component + (buf->space == SPACE_OUTPUT ? 0 : plan->n_results);
        nat_each_var(ctx, b->cells, note_resident, &v->asks_resident);
    }
    for (int a = 0; a < 3; a++)
        nat_each_var(ctx, kernel->blocks[a], note_resident, &v->asks_resident);
    for (int i = 0; i < kernel->n_sizes; i++)
        note_resident(&v->asks_resident, kernel->sizes[i]);
    v->guards = *index_guards(ctx, kernel);
    for (int i = 0; i < v->guards.at_least_one.n; i++)
        nat_each_var(ctx, v->guards.at_least_one.at[i], note_resident, &v->guards_ask);
    for (int i = 0; i < v->guards.at_most_max.n; i++)
        nat_each_var(ctx, v->guards.at_most_max.at[i], note_resident, &v->guards_ask);
    v->asks_resident |= v->guards_ask;
    if (v->n_buffers + kernel->n_sizes > plan->max_params)
        plan->max_params = v->n_buffers + kernel->n_sizes;
}

static const Variant *variant_of(const Plan *plan, const ImpKernel *kernel)
{
    int k = 0;
    while (plan->variants[k]->kernel != kernel)
        k++;
    return plan->variants[k];
}

/* Each variant of the launch, in all of its forms. */
static void make_step(Ctx *ctx, const Plan *plan, const ImpLaunch *place, Step *step)
{
    int n = 0;
    for (int i = 0; i < place->variants.n; i++)
        for (const ImpKernel *k = place->variants.at[i].kernel; k; k = k->otherwise)
            n++;
    step->choices = NEWN(ctx, Choice, n + 1);
    step->repeat = place->group ? place->group->count : NULL;
    for (int i = 0; i < place->variants.n; i++) {
        int form = 0;
        for (const ImpKernel *k = place->variants.at[i].kernel; k; k = k->otherwise)
            step->choices[step->n++] = (Choice){place->variants.at[i].when, variant_of(plan, k), form++};
    }
}

static void make_kernels(Ctx *ctx, const ImpProgram *imp, Plan *plan)
{
    const CudaNames names = cuda_names(ctx, cuda_globals(ctx), imp); /* as cuda_print names them */
    plan->variants = NEWN(ctx, Variant *, names.n_kernels + 1);
    Variant *variants = NEWN(ctx, Variant, names.n_kernels + 1);
    for (int k = 0; k < names.n_kernels; k++)
        make_variant(ctx, plan, imp_form(imp, k), names.kernels[k], &variants[k]);
    plan->n_steps = imp->launches.n;
    plan->steps = NEWN(ctx, Step, plan->n_steps + 1);
    for (int i = 0; i < plan->n_steps; i++) {
        const ImpGroup *group = imp->launches.at[i].group;
        make_step(ctx, plan, &imp->launches.at[i], &plan->steps[i]);
        bool again = group && i > 0 && imp->launches.at[i - 1].group == group;
        plan->steps[i].group = !group ? 0 : again ? plan->steps[i - 1].group : i + 1;
    }
}

void plan_make(Ctx *ctx, const CoreEntry *core, const ImpProgram *imp, Plan *plan)
{
    *plan = (Plan){.core = core};
    make_arguments(ctx, plan);
    if (imp) {
        make_in_place(ctx, imp, plan);
        make_temps(ctx, imp, plan);
        make_kernels(ctx, imp, plan);
        index_guards_of_tests(ctx, imp, &plan->tests);
    }
}
