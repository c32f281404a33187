/* What stays of an entry when it has been compiled: the plan, in a few kilobytes of its own. All that it was made from goes with the instance. */
#include "internal.h"

typedef struct Keeping {
    Ctx *to;
    NatCopies nats;
    Table tests; /* from a condition to its copy: classes have most of theirs in common */
    const Plan *from;
    Plan *plan;
} Keeping;

static const char *text(Keeping *k, const char *from) { return from ? ctx_printf(k->to, "%s", from) : NULL; }
static Nat nat(Keeping *k, Nat from) { return nat_copied(&k->nats, from); }

static Nat *nats(Keeping *k, int n, const Nat *from)
{
    Nat *copies = NEWN(k->to, Nat, n + 1);
    for (int i = 0; i < n; i++)
        copies[i] = nat(k, from[i]);
    return copies;
}

/* ---- conditions over sizes, as launch_test takes them --------------------------------------------------------------------------- */

static Core *condition(Keeping *k, const Core *from)
{
    Core *core = NEW(k->to, Core);
    core->kind = from->kind;
    core->span = from->span;
    switch (from->kind) {
    case CORE_SIZE:
        core->size = nat(k, from->size);
        break;
    case CORE_LIT:
        core->lit = from->lit;
        break;
    case CORE_IF:
        core->cond.cond = condition(k, from->cond.cond);
        core->cond.then = condition(k, from->cond.then);
        core->cond.otherwise = condition(k, from->cond.otherwise);
        break;
    case CORE_PRIM:
        core->prim.id = from->prim.id;
        core->prim.n_args = from->prim.n_args;
        core->prim.args = NEWN(k->to, Core *, from->prim.n_args + 1);
        for (int i = 0; i < from->prim.n_args; i++)
            core->prim.args[i] = condition(k, from->prim.args[i]);
        if (from->prim.cast_type) {
            TypeNode *type = NEW(k->to, TypeNode);
            type->kind = from->prim.cast_type->kind;
            type->scalar = from->prim.cast_type->scalar;
            core->prim.cast_type = type;
        }
        break;
    case CORE_VAR:
    case CORE_LAMBDA:
    case CORE_LET:
    case CORE_TUPLE:
    case CORE_PROJ:
    case CORE_UNIT_ERROR: /* no conditions over sizes: without a value there, too */
        core->kind = CORE_UNIT_ERROR;
        break;
    }
    return core;
}

static Core *test(Keeping *k, const Core *from)
{
    Core *copy = table_get(&k->tests, from);
    if (!copy) {
        copy = condition(k, from);
        table_put(k->nats.ctx, &k->tests, from, copy);
    }
    return copy;
}

/* ---- the entry --------------------------------------------------------------------------------------------------------------------- */

/* What a call asks of it; no body, no inputs. */
static const CoreEntry *entry(Keeping *k, const CoreEntry *from)
{
    CoreEntry *core = NEW(k->to, CoreEntry);
    core->name = text(k, from->name);
    core->n_sizes = from->n_sizes;
    core->sizes = nats(k, from->n_sizes, from->sizes);
    core->n_tunables = from->n_tunables;
    core->tunable_names = NEWN(k->to, const char *, from->n_tunables + 1);
    core->tunable_values = NEWN(k->to, int64_t, from->n_tunables + 1);
    for (int i = 0; i < from->n_tunables; i++) {
        core->tunable_names[i] = text(k, from->tunable_names[i]);
        core->tunable_values[i] = from->tunable_values[i];
    }
    core->n_classes = from->n_classes;
    core->n_facts = from->n_facts;
    core->facts = NEWN(k->to, Core *, from->n_facts + 1);
    for (int i = 0; i < from->n_facts; i++)
        core->facts[i] = condition(k, from->facts[i]);
    return core;
}

static const unsigned char *in_place(Keeping *k, const unsigned char *from, int n)
{
    unsigned char *to = from ? NEWN(k->to, unsigned char, n + 1) : NULL;
    if (to)
        memcpy(to, from, (size_t)n);
    return to;
}

static void arguments(Keeping *k)
{
    Plan *plan = k->plan;
    plan->arguments = NEWN(k->to, Argument, plan->n_arguments + 1);
    for (int i = 0; i < plan->n_arguments; i++) {
        const Argument *from = &k->from->arguments[i];
        Argument *to = &plan->arguments[i];
        *to = *from;
        to->name = text(k, from->name);
        to->text = text(k, from->text);
        to->extents = nats(k, from->rank, from->extents);
        to->below = nat(k, from->below);
        to->in_place = in_place(k, from->in_place, plan->n_arguments - plan->n_results);
    }
}

/* ---- kernels ------------------------------------------------------------------------------------------------------------------------ */

/* How it is launched; nothing of what it does. */
static const ImpKernel *kernel(Keeping *k, const ImpKernel *from)
{
    ImpKernel *to = NEW(k->to, ImpKernel);
    to->n_sizes = from->n_sizes;
    to->sizes = nats(k, from->n_sizes, from->sizes);
    for (int a = 0; a < 3; a++) {
        to->threads[a] = from->threads[a];
        to->blocks[a] = nat(k, from->blocks[a]);
        to->once[a] = from->once[a];
    }
    to->cooperative = from->cooperative;
    to->least_blocks = from->least_blocks;
    to->shared_bytes = nat(k, from->shared_bytes);
    to->wide = from->wide;
    return to;
}

static void guards(Keeping *k, IndexGuards *to, const IndexGuards *from)
{
    *to = *from;
    to->at_least_one.at = nats(k, from->at_least_one.n, from->at_least_one.at);
    to->at_most_max.at = nats(k, from->at_most_max.n, from->at_most_max.at);
}

static void variant(Keeping *k, Variant *to, const Variant *from)
{
    *to = *from;
    to->kernel = kernel(k, from->kernel);
    to->name = text(k, from->name);
    to->buffers = NEWN(k->to, PlanBuffer, from->n_buffers + 1);
    for (int i = 0; i < from->n_buffers; i++) {
        to->buffers[i] = from->buffers[i];
        to->buffers[i].cells = nat(k, from->buffers[i].cells);
        to->buffers[i].turns = from->buffers[i].turns ? nat(k, from->buffers[i].turns) : NULL;
    }
    guards(k, &to->guards, &from->guards);
}

static void step(Keeping *k, Step *to, const Step *from)
{
    *to = (Step){.n = from->n, .choices = NEWN(k->to, Choice, from->n + 1), .group = from->group};
    to->repeat = from->repeat ? nat(k, from->repeat) : NULL;
    for (int i = 0; i < from->n; i++) {
        const ImpWhens *when = &from->choices[i].when;
        for (int w = 0; w < when->n; w++)
            vec_push(k->to, &to->choices[i].when, ((ImpWhen){test(k, when->at[w].test), when->at[w].holds}));
        to->choices[i].form = from->choices[i].form;
        to->choices[i].variant = k->plan->variants[from->choices[i].variant->number];
    }
}

static void kernels(Keeping *k)
{
    Plan *plan = k->plan;
    plan->steps = NEWN(k->to, Step, plan->n_steps + 1);
    plan->variants = NEWN(k->to, Variant *, plan->n_variants + 1);
    for (int v = 0; v < plan->n_variants; v++) {
        plan->variants[v] = NEW(k->to, Variant);
        variant(k, plan->variants[v], k->from->variants[v]);
    }
    for (int i = 0; i < plan->n_steps; i++)
        step(k, &plan->steps[i], &k->from->steps[i]);
    plan->temps = NEWN(k->to, Temp, plan->n_temps + 1);
    for (int i = 0; i < plan->n_temps; i++) {
        plan->temps[i] = k->from->temps[i];
        plan->temps[i].name = text(k, k->from->temps[i].name);
    }
}

static void keep(Ctx *to, void *user)
{
    Keeping *k = user;
    (void)to;
    *k->plan = *k->from;
    k->plan->core = entry(k, k->from->core);
    arguments(k);
    kernels(k);
    guards(k, &k->plan->tests, &k->from->tests);
}

void plan_keep(Ctx *ctx, const Plan *from, Ctx *to, Plan *plan)
{
    Keeping k = {.to = to, .nats = {.ctx = ctx, .to = to}, .from = from, .plan = plan};
    if (!ctx_try(to, keep, &k))
        ctx_out_of_memory(ctx);
}
