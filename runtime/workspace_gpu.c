/* The workspace of a launch on the GPU: how much it needs, where what lies in it, and whose memory it
 * is. docs/manifest.md says what lies in a workspace. */
#include "gpu_call.h"

#include "codegen/workspace.h"

/* ---- how much -------------------------------------------------------------------------------------- */

static int too_large(const RiseCall *call, rise_error *error)
{
    return rise_fail(error, RISE_ERROR_ARGUMENT,
                     "%s: these sizes are too large: the bytes of the workspace have no value in 64 bits",
                     call->entry->plan.core->name);
}

void workspace_begin(RiseCall *call)
{
    for (int i = 0; i < call->entry->plan.n_temps; i++)
        call->temps[i] = (CallTemp){.bytes = -1};
}

static void need_bytes(CallTemp *temp, int64_t bytes)
{
    if (bytes > temp->bytes)
        temp->bytes = bytes;
}

int workspace_add(RiseCall *call, const CallStep *step, rise_error *error)
{
    int status = RISE_OK;
    for (int i = 0; status == RISE_OK && i < step->variant->n_buffers; i++) {
        const PlanBuffer *b = &step->variant->buffers[i];
        int64_t cells, bytes;
        if (b->temp < 0)
            continue;
        status = launch_number(call, step, b->cells, &cells, error);
        if (status == RISE_OK && (cells < 0 || !mul_fits(cells, b->cell_bytes, &bytes)))
            return too_large(call, error);
        if (status != RISE_OK)
            continue;
        need_bytes(&call->temps[b->temp], bytes);
        if (b->swap >= 0) /* after an odd number of turns it is this one, which no other launch may have */
            need_bytes(&call->temps[b->swap], bytes);
    }
    return status;
}

/* The bytes of places that several have, one after the other. */
static void measure_shared_places(RiseCall *call)
{
    const Plan *plan = &call->entry->plan;
    for (int i = 0; i < plan->n_temps; i++) {
        int over = plan->temps[i].over;
        if (over >= 0 && call->temps[i].bytes > call->temps[over].bytes)
            call->temps[over].bytes = call->temps[i].bytes;
    }
}

/* Those that this launch has, in the order of codegen/workspace.c: offsets from the workspace's first byte. */
static bool place(RiseCall *call)
{
    const Plan *plan = &call->entry->plan;
    int64_t at = plan->flags, bytes = plan->flags;
    bool fits = true, any = false;
    call->flags_end = 0;
    for (int i = 0; fits && i < plan->n_temps; i++) {
        const Temp *temp = &plan->temps[i];
        CallTemp *c = &call->temps[i];
        if (c->bytes < 0)
            continue;
        any = true;
        if (temp->over >= 0) {
            c->offset = call->temps[temp->over].offset;
            continue;
        }
        c->clears = temp->zero && c->bytes > temp->room;
        bool among_flags = temp->zero && !c->clears;
        c->offset = among_flags ? temp->flag : at;
        if (among_flags && temp->flag + c->bytes > call->flags_end)
            call->flags_end = temp->flag + c->bytes;
        if (!temp->data)
            continue;
        fits = add_fits(at, c->bytes, &bytes) && add_fits(bytes, WORKSPACE_STEP - 1, &at);
        at = at / WORKSPACE_STEP * WORKSPACE_STEP;
    }
    call->needs = any ? bytes : 0;
    return fits;
}

int workspace_measure(RiseCall *call, rise_error *error)
{
    measure_shared_places(call);
    return place(call) ? RISE_OK : too_large(call, error);
}

/* ---- whose memory ---------------------------------------------------------------------------------- */

static int clear(RiseCall *call, CUdeviceptr at, int64_t bytes, CUstream stream, rise_error *error)
{
    const CudaApi *api = &call->context->gpu.api;
    return gpu_check(call->context, api->set_bytes(at, 0, (size_t)bytes, stream), error,
                     "%s: clearing the workspace", call->entry->plan.core->name);
}

/* The flags of a new workspace become zero here, and not in the launch: one may be recorded, and never
 * run. On a stream of ours this is waited for, by gpu_prepare. */
static int make_ready(RiseCall *call, rise_error *error)
{
    CUstream stream;
    if (call->ready)
        return RISE_OK;
    if (call->recording)
        return must_prepare(call, "its workspace is not clear", error);
    int status = memory_stream(call, &stream, error);
    if (status == RISE_OK)
        status = clear(call, call->workspace.at, call->entry->plan.flags, stream, error);
    call->enqueued = true;
    call->ready = status == RISE_OK;
    return status;
}

static int refuse_large(RiseCall *call, rise_error *error)
{
    const Plan *plan = &call->entry->plan;
    Wanted wanted = {0};
    if (call->workspace.at && call->workspace.bytes >= (size_t)call->needs)
        return RISE_OK;
    for (int i = 0; i < plan->n_temps; i++)
        memory_want(&wanted, call->temps[i].bytes > 0 ? call->temps[i].bytes : 0, plan->temps[i].name);
    wanted.bytes = call->needs;
    return memory_refuse(call, &wanted, call->workspace.bytes, "arrays between kernels", error);
}

static int get_own(RiseCall *call, rise_error *error)
{
    call->has_memory = true;
    call->ready &= call->workspace.bytes >= (size_t)call->needs;
    int status = refuse_large(call, error);
    if (status == RISE_OK)
        status = memory_ensure(call, &call->workspace, (size_t)call->needs, "the workspace", error);
    if (status == RISE_OK)
        status = make_ready(call, error);
    call->base = call->workspace.at;
    return status;
}

/* Argument k has a byte of the workspace. */
static bool meets(const RiseCall *call, int k)
{
    const CallArgument *c = &call->arguments[k];
    uintptr_t at = (uintptr_t)c->data, lent = (uintptr_t)call->lent;
    bool on_device = c->given && c->where == RISE_DEVICE;
    return on_device && at < lent + (uintptr_t)call->needs && lent < at + c->bytes;
}

static int take_lent(RiseCall *call, rise_error *error)
{
    const Plan *plan = &call->entry->plan;
    if (call->lent_bytes < (size_t)call->needs)
        return rise_fail(error, RISE_ERROR_ARGUMENT,
                         "%s: a launch of these sizes needs a workspace of %lld bytes, and "
                         "rise_call_use_workspace gave %zu",
                         plan->core->name, (long long)call->needs, call->lent_bytes);
    if ((uintptr_t)call->lent % (uintptr_t)plan->align)
        return rise_fail(error, RISE_ERROR_ARGUMENT,
                         "%s: the address of the workspace is %p, which is no multiple of %d bytes",
                         plan->core->name, call->lent, plan->align);
    for (int k = 0; k < plan->n_arguments; k++)
        if (meets(call, k))
            return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: %s and the workspace overlap in memory",
                             plan->core->name, plan->arguments[k].name);
    call->base = (CUdeviceptr)(uintptr_t)call->lent;
    return RISE_OK;
}

int workspace_get(RiseCall *call, rise_error *error)
{
    call->base = 0;
    if (!call->needs)
        return RISE_OK;
    int status = call->is_lent ? take_lent(call, error) : get_own(call, error);
    for (int i = 0; status == RISE_OK && i < call->entry->plan.n_temps; i++)
        call->temps[i].memory = call->base + (CUdeviceptr)call->temps[i].offset;
    return status;
}

/* After a launch that failed nobody knows what the flags are, and never in memory of the caller. */
int workspace_clear(RiseCall *call, CUstream stream, rise_error *error)
{
    int status = RISE_OK;
    if (call->flags_end && (call->clears || call->is_lent))
        status = clear(call, call->base, call->flags_end, stream, error);
    for (int i = 0; status == RISE_OK && i < call->entry->plan.n_temps; i++)
        if (call->temps[i].clears)
            status = clear(call, call->temps[i].memory, call->temps[i].bytes, stream, error);
    return status;
}
