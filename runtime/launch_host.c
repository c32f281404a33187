/* A launch on the simulator or the reference interpreter. */
#include "internal.h"

#include "codegen/index_guards.h"
#include "sim/sim.h"

typedef struct HostRun {
    RiseCall *call;
    Job *job;
    void (*fn)(Ctx *ctx, void *user);
    Instance *instance;
    int status;
    rise_error *error;
} HostRun;

/* The arguments of the call as the executors take them; shapes and sizes are the call's own. */
static Launch make_launch(Ctx *ctx, const RiseCall *call)
{
    const Plan *plan = &call->entry->plan;
    Launch launch = call_sizes(call, RESIDENT_UNKNOWN);
    launch.n_buffers = plan->n_arguments - plan->n_results;
    launch.buffers = NEWN(ctx, HostBuf, launch.n_buffers + 1);
    for (int i = 0; i < launch.n_buffers; i++) {
        const CallArgument *c = &call->arguments[plan->n_results + i];
        launch.buffers[i] = (HostBuf){plan->arguments[plan->n_results + i].elem, plan->arguments[plan->n_results + i].rank, c->shape, c->count, c->data};
    }
    return launch;
}

/* Of each input the result that takes its memory: SimOptions.over. */
static const int *results_over(Ctx *ctx, const RiseCall *call)
{
    const Plan *plan = &call->entry->plan;
    int inputs = plan->n_arguments - plan->n_results, *over = NEWN(ctx, int, inputs + 1);
    for (int i = 0; i < inputs; i++)
        for (int k = 0; k < plan->n_results; k++)
            if (call_shares(call, k, i))
                over[i] = k + 1;
    return over;
}

static void take_results(HostRun *r, const Launch *launch)
{
    if (!job_commit(r->job))
        return;
    for (int k = 0; k < launch->n_results; k++) {
        const CallArgument *c = &r->call->arguments[k];
        if (c->bytes)
            memcpy(c->given ? c->data : c->own_host, launch->results[k].bytes, c->bytes);
    }
}

static void run(Ctx *ctx, void *user)
{
    HostRun *r = user;
    const RiseContext *context = r->call->context;
    Launch launch = make_launch(ctx, r->call);
    SimReport report = {0};
    bool good;
    if (context->device == RISE_SIM) {
        SimOptions options = {.seed = context->sim_seed, .max_steps = context->max_steps, .over = results_over(ctx, r->call)};
        good = sim_run(ctx, r->instance->imp, &launch, &options, &report);
        if (report.findings.n)
            sim_diagnose(ctx, &report);
    } else {
        launch.max_steps = context->max_steps > INT64_MAX ? INT64_MAX : (int64_t)context->max_steps;
        const Instance *instance = r->instance;
        good = launch_check(ctx, instance->core, &launch) && index_guards_take(ctx, instance->imp, &launch) && interp_run(ctx, instance->core, &launch);
    }
    r->status = program_report(r->call->entry->program, r->job, ctx, false, r->error);
    if (report.findings.n) {
        r->status = RISE_ERROR_FAULT;
        if (r->error)
            r->error->status = RISE_ERROR_FAULT;
    } else if (launch.gave_up) {
        r->status = rise_fail(r->error, RISE_ERROR_LIMIT, "%s: given up after %llu functions applied", r->instance->core->name, (unsigned long long)context->max_steps);
    } else if (r->status == RISE_OK && !good) {
        r->status = rise_fail(r->error, RISE_ERROR_BUG, "the launch failed without a reason: a bug in librise");
    }
    if (r->status == RISE_OK)
        take_results(r, &launch);
}

static int in_instance(Job *job, void *user, rise_error *error)
{
    HostRun *r = user;
    r->job = job;
    r->error = error;
    int status = instance_take(r->call->entry, job, &r->instance, error);
    if (status != RISE_OK)
        return status;
    Meter *meter = &r->instance->meter;
    uint64_t more = r->call->context->max_memory;
    meter->most = more && more < SIZE_MAX - meter->bytes ? meter->bytes + (size_t)more : 0;
    status = job_try(job, r->instance->ctx, r->fn, r, error);
    if (status == RISE_ERROR_MEMORY && meter->over)
        status = rise_fail(error, RISE_ERROR_LIMIT, "%s: the launch needs more than %llu bytes of memory", r->instance->core->name, (unsigned long long)more);
    meter->most = 0;
    meter->over = false;
    r->instance->ctx->diags = (Diags){0};
    instance_give(r->call->entry, r->instance);
    return status == RISE_OK ? r->status : status;
}

static int run_job(RiseCall *call, void (*fn)(Ctx *ctx, void *user), rise_error *error)
{
    HostRun r = {.call = call, .fn = fn};
    return context_job(call->context, in_instance, &r, error);
}

int host_launch(RiseCall *call, rise_error *error) { return run_job(call, run, error); }

static void explain(Ctx *ctx, void *user)
{
    HostRun *r = user;
    const CoreEntry *core = r->instance->core;
    const Plan *plan = &r->call->entry->plan;
    Launch launch = call_sizes(r->call, RESIDENT_UNKNOWN);
    launch.n_buffers = -1; /* so that it ends after the facts */
    launch_check(ctx, core, &launch);
    bool facts = false;
    for (int i = 0; i < ctx->diags.list.n; i++)
        facts |= ctx->diags.list.at[i]->code != E0603;
    if (!facts) {
        ctx->diags.list.n = ctx->diags.errors = 0;
        HostBuf buf;
        for (int k = 0; k < plan->n_results; k++)
            launch_buffer(ctx, core, &launch, type_component(ctx, core->result, k), &buf, false);
        for (int i = 0; i < core->n_inputs; i++)
            for (int k = 0; k < type_component_count(core->inputs[i]->type); k++)
                launch_buffer(ctx, core, &launch, type_component(ctx, core->inputs[i]->type, k), &buf, false);
    } else { /* only those that are about facts */
        int n = 0;
        for (int i = 0; i < ctx->diags.list.n; i++)
            if (ctx->diags.list.at[i]->code != E0603)
                ctx->diags.list.at[n++] = ctx->diags.list.at[i];
        ctx->diags.list.n = ctx->diags.errors = n;
    }
    r->status = program_report(r->call->entry->program, r->job, ctx, true, r->error);
    if (r->status == RISE_OK)
        r->status = rise_fail(r->error, RISE_ERROR_BUG, "the sizes do not fit, and nothing says why: a bug in librise");
}

int host_explain(RiseCall *call, rise_error *error) { return run_job(call, explain, error); }

typedef struct Asked {
    HostRun run; /* first */
    int result, input;
    OneMemory *found;
} Asked;

static void ask(Ctx *ctx, void *user)
{
    const Asked *a = user;
    const ImpProgram *imp = a->run.instance->imp;
    *a->found = imp ? one_memory(ctx, imp, a->result, a->input) : ONE_MEMORY_UNKNOWN;
}

int host_one_memory(RiseCall *call, int result, int input, OneMemory *found, rise_error *error)
{
    Asked a = {{.call = call, .fn = ask}, result, input, found};
    return context_job(call->context, in_instance, &a, error);
}
