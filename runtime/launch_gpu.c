/* A launch on the GPU: what the emitted host function does (codegen/cuda_host.c), from the same tables. Preparing does everything that can fail for the sizes;
 * the launch itself then only copies what lies on the host and starts kernels. */
#include "gpu_call.h"

int must_prepare(const RiseCall *call, const char *what, rise_error *error)
{
    return rise_fail(error, RISE_ERROR_ARGUMENT,
                     "%s: the stream is recording, and %s: call rise_call_prepare before the recording begins",
                     call->entry->plan.core->name, what);
}

int launch_number(RiseCall *call, const CallStep *step, Nat nat, int64_t *value, rise_error *error)
{
    Launch launch = call_sizes(call, step->max_resident);
    if (launch_nat(NULL, call->entry->plan.core, &launch, nat, value))
        return RISE_OK;
    return rise_fail(error, RISE_ERROR_ARGUMENT,
                     "%s: these sizes are too large: what a launch of %s is computed from has no value in 64 bits",
                     call->entry->plan.core->name, step->variant->name);
}

/* ---- memory ------------------------------------------------------------------------------------ */

static int refuse_large_arguments(RiseCall *call, rise_error *error)
{
    Wanted wanted = {0};
    size_t given_back = 0;
    for (int k = 0; k < call->entry->plan.n_arguments; k++) {
        const CallArgument *c = &call->arguments[k];
        const Argument *a = &call->entry->plan.arguments[k];
        if (a->by_value || (c->given && c->where == RISE_DEVICE) || (c->own.at && c->own.bytes >= c->bytes))
            continue;
        memory_want(&wanted, c->bytes > INT64_MAX ? INT64_MAX : (int64_t)c->bytes, a->name);
        given_back += c->own.bytes;
    }
    return memory_refuse(call, &wanted, given_back, "inputs and results", error);
}

/* Where arrays lie. `get`: those that are not on the device get memory there; without it they have the
 * address that they would have if it had been got, as far as alignment goes. */
static int place_arguments(RiseCall *call, bool get, rise_error *error)
{
    int status = get ? refuse_large_arguments(call, error) : RISE_OK;
    for (int k = 0; status == RISE_OK && k < call->entry->plan.n_arguments; k++) {
        CallArgument *c = &call->arguments[k];
        const Argument *a = &call->entry->plan.arguments[k];
        if (a->by_value)
            continue;
        if (c->given && c->where == RISE_DEVICE) {
            c->address = (CUdeviceptr)(uintptr_t)c->data;
            continue;
        }
        if (get) {
            status = memory_ensure(call, &c->own, c->bytes, a->name, error);
            call->has_memory = true;
        }
        c->address = c->own.at;
    }
    return status;
}

/* ---- which variant, and how much of it ------------------------------------------------------------------------------------------------ */

/* Is every index below the bound that the variant's width sets? */
static bool indices_fit(RiseCall *call, const CallStep *step)
{
    Launch launch = call_sizes(call, step->max_resident);
    return index_guards_admit(call->entry->plan.core, &step->variant->guards, &launch, step->variant->kernel->wide);
}

static bool is_aligned(const RiseCall *call, const Variant *v)
{
    for (int i = 0; i < v->n_buffers; i++) {
        const PlanBuffer *b = &v->buffers[i];
        if (b->align && call->arguments[b->argument].address % (unsigned)b->align)
            return false;
    }
    return true;
}

static int measure_shared(RiseCall *call, CallStep *step, rise_error *error)
{
    const Variant *v = step->variant;
    const Function *f = &call->entry->functions[step->number];
    int64_t bytes = 0;
    step->shared = 0;
    if (!v->dynamic_shared)
        return RISE_OK;
    int status = launch_number(call, step, v->kernel->shared_bytes, &bytes, error);
    int64_t most = call->context->gpu.max_shared - f->shared;
    if (status == RISE_OK && (bytes < 0 || bytes > most))
        return rise_fail(error, RISE_ERROR_DEVICE, "%s: a block of %s needs %lld bytes of shared memory for these sizes, and %s gives it %lld", call->entry->plan.core->name, v->name,
                         (long long)bytes, call->context->name, (long long)most);
    step->shared = (unsigned)bytes;
    return status;
}

static int measure_threads(RiseCall *call, CallStep *step, rise_error *error)
{
    RiseContext *context = call->context;
    const Variant *v = step->variant;
    const Function *f = &call->entry->functions[step->number];
    int threads = v->kernel->threads[0] * v->kernel->threads[1] * v->kernel->threads[2], each = 0;
    if (threads > f->max_threads)
        return rise_fail(error, RISE_ERROR_DEVICE, "%s: %s has blocks of %d threads with %d registers each, and %s takes %d such threads", call->entry->plan.core->name, v->name, threads,
                         f->registers, context->name, f->max_threads);
    if (!v->asks_resident)
        return RISE_OK;
    if (v->kernel->cooperative && !context->gpu.cooperative)
        return rise_fail(error, RISE_ERROR_DEVICE, "%s: %s needs a cooperative launch (gridSync, scanBlocks), which %s cannot do", call->entry->plan.core->name, v->name, context->name);
    int status = gpu_check(context, context->gpu.api.occupancy(&each, f->function, threads, step->shared), error, "asking how many blocks of %s fit", v->name);
    if (status == RISE_OK && each < 1)
        return rise_fail(error, RISE_ERROR_DEVICE, "%s: no block of %s, with %u bytes of shared memory, fits on %s", call->entry->plan.core->name, v->name, step->shared, context->name);
    step->max_resident = (int64_t)each * context->gpu.sms;
    return status;
}

/* The conditions of the choice hold; false, too, where one has no value. */
static bool is_asked_for(RiseCall *call, const Choice *choice)
{
    Launch launch = call_sizes(call, RESIDENT_UNKNOWN);
    bool holds;
    return imp_when_holds(NULL, call->entry->plan.core, &choice->when, &launch, &holds) && holds;
}

/* The first choice from `at` on whose conditions and guards hold as far as is known without its function; from->n: none. `last`: the last one whose conditions hold. */
static int candidate(RiseCall *call, const Step *from, int at, const Variant **last)
{
    for (; at < from->n; at++) {
        const Variant *v = from->choices[at].variant;
        CallStep step = {.variant = v, .max_resident = RESIDENT_UNKNOWN};
        if (!is_asked_for(call, &from->choices[at]))
            continue;
        *last = v;
        if (is_aligned(call, v) && (v->guards_ask || indices_fit(call, &step)))
            break;
    }
    return at;
}

/* The first choice whose conditions and guards hold (imp.h, Note [Variants]); or one that may be it is noted as missing. `some`: it was found, and is ready. */
static int choose_variant(RiseCall *call, const Step *from, CallStep *step, bool *some, rise_error *error)
{
    const Variant *last = NULL;
    *some = false;
    for (int i = candidate(call, from, 0, &last); i < from->n; i = candidate(call, from, i + 1, &last)) {
        step->variant = from->choices[i].variant;
        step->max_resident = RESIDENT_UNKNOWN;
        step->number = step->variant->number + (call->in_place ? call->entry->plan.n_variants : 0);
        if (!kernel_is_ready(call->entry, step->number)) {
            call->missing[call->n_missing++] = step->number;
            return RISE_OK;
        }
        int status = measure_shared(call, step, error);
        if (status == RISE_OK)
            status = measure_threads(call, step, error);
        *some = status == RISE_OK;
        if (status != RISE_OK || indices_fit(call, step))
            return status;
    }
    *some = false;
    if (!last)
        return RISE_OK;
    return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: the sizes are too large for %s, whose indices have %d bits", call->entry->plan.core->name, last->name, last->kernel->wide ? 64 : 32);
}

static int measure_grid(RiseCall *call, CallStep *step, bool *some, rise_error *error)
{
    const ImpKernel *k = step->variant->kernel;
    int64_t left = step->max_resident;
    *some = true;
    for (int a = 2; a >= 0; a--) {
        int64_t blocks;
        int status = launch_number(call, step, k->blocks[a], &blocks, error);
        if (status != RISE_OK)
            return status;
        int most = kernel_max_grid(k, a);
        if (k->once[a] && blocks > most)
            return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: the sizes ask for %lld blocks on axis %c, and mapBlock[once] takes %d there at most", call->entry->plan.core->name,
                             (long long)blocks, "xyz"[a], most);
        blocks = blocks < 0 ? 0 : blocks > most ? most : blocks;
        if (k->cooperative) {
            blocks = blocks < left ? blocks : left;
            left = blocks ? left / blocks : left;
            if (a == 0 && blocks && blocks < k->least_blocks)
                blocks = k->least_blocks; /* the driver says that they do not fit */
        }
        step->grid[a] = (unsigned)blocks;
        *some &= blocks > 0;
    }
    return RISE_OK;
}

/* Where the launch finds the value of a kernel's parameter: an address, or the scalar itself, which the driver copies when the launch is enqueued. */
static void *buffer_param(RiseCall *call, const PlanBuffer *b, int64_t turns)
{
    if (b->temp >= 0)
        return &call->temps[b->swap >= 0 && turns % 2 ? b->swap : b->temp].memory;
    CallArgument *c = &call->arguments[b->argument];
    return call->entry->plan.arguments[b->argument].by_value ? (void *)c->data : &c->address;
}

static int set_params(RiseCall *call, CallStep *step, rise_error *error)
{
    const Variant *v = step->variant;
    int n = 0, status = RISE_OK;
    for (; n < v->n_buffers && status == RISE_OK; n++) {
        int64_t turns = 0;
        if (v->buffers[n].swap >= 0)
            status = launch_number(call, step, v->buffers[n].turns, &turns, error);
        step->params[n] = buffer_param(call, &v->buffers[n], turns);
    }
    for (int i = 0; status == RISE_OK && i < v->kernel->n_sizes; i++) {
        int64_t value;
        status = launch_number(call, step, v->kernel->sizes[i], &value, error);
        if (status == RISE_OK && !v->kernel->wide) {
            int narrow = (int)value;
            if (narrow != value)
                return rise_fail(error, RISE_ERROR_BUG, "%s: %s does not fit 32 bits: a bug in librise", v->name, v->kernel->sizes[i]->name);
            memcpy(&step->numbers[i], &narrow, sizeof narrow);
        } else {
            step->numbers[i] = value;
        }
        step->params[n++] = &step->numbers[i];
    }
    return status;
}

/* What turns change among the parameters, for this one. */
static void set_turn(RiseCall *call, CallStep *step, int64_t turn)
{
    const Variant *v = step->variant;
    for (int i = 0; i < v->n_buffers; i++)
        if (v->buffers[i].swap >= 0 && v->buffers[i].turns->device == NAT_TURN)
            step->params[i] = buffer_param(call, &v->buffers[i], turn);
    for (int i = 0; i < v->kernel->n_sizes; i++) {
        int narrow = (int)turn;
        if (v->kernel->sizes[i]->device == NAT_TURN)
            memcpy(&step->numbers[i], v->kernel->wide ? (void *)&turn : &narrow, v->kernel->wide ? sizeof turn : sizeof narrow);
    }
}

static int prepare_step(RiseCall *call, const Step *from, rise_error *error)
{
    CallStep *step = &call->steps[call->n_steps];
    bool some;
    int status = choose_variant(call, from, step, &some, error);
    step->group = from->group;
    step->repeat = 1;
    if (status == RISE_OK && some && from->repeat)
        status = launch_number(call, step, from->repeat, &step->repeat, error);
    if (status == RISE_OK && some)
        status = measure_grid(call, step, &some, error);
    if (status == RISE_OK && some)
        status = workspace_add(call, step, error);
    if (status == RISE_OK && some)
        status = set_params(call, step, error);
    call->n_steps += some;
    return status;
}

static int prepare_steps(RiseCall *call, rise_error *error)
{
    const Plan *plan = &call->entry->plan;
    int status = RISE_OK;
    call->n_steps = call->n_missing = 0;
    call->in_place = call_in_place(call);
    workspace_begin(call);
    for (int i = 0; status == RISE_OK && i < plan->n_steps; i++)
        status = prepare_step(call, &plan->steps[i], error);
    return status == RISE_OK && !call->n_missing ? workspace_measure(call, error) : status;
}

/* `get`: with the memory that it needs. */
static int prepare(RiseCall *call, bool get, rise_error *error)
{
    const Plan *plan = &call->entry->plan;
    Launch launch = call_sizes(call, RESIDENT_UNKNOWN);
    bool pushed;
    if (!index_guards_admit(plan->core, &plan->tests, &launch, true))
        return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: these sizes are too large for a kernel", plan->core->name);
    int status = gpu_enter(call->context, &pushed, error);
    if (status != RISE_OK)
        return status;
    status = place_arguments(call, get, error);
    if (status == RISE_OK)
        status = prepare_steps(call, error);
    if (status == RISE_OK && !call->n_missing && get)
        status = workspace_get(call, error);
    gpu_leave(call->context, pushed);
    return status;
}

/* What is missing is made outside of the GPU's context, as callbacks run meanwhile. A kernel whose guards ask the device may turn out not to be the one: then the next is tried. */
static int prepare_all(RiseCall *call, bool get, rise_error *error)
{
    int status = prepare(call, get, error);
    while (status == RISE_OK && call->n_missing) {
        if (call->recording)
            return must_prepare(call, "kernels of the launch are not compiled", error);
        status = kernels_get(call->entry, call->n_missing, call->missing, error);
        if (status == RISE_OK)
            status = prepare(call, get, error);
    }
    return status;
}

int gpu_measure(RiseCall *call, rise_error *error) { return prepare_all(call, false, error); }

/* Waits for what was enqueued on the stream of ours, also where preparing has failed: the memory is then
 * there for any stream. */
static int settle(RiseCall *call, rise_error *error)
{
    RiseContext *context = call->context;
    CUstream stream;
    bool pushed;
    int status = gpu_enter(context, &pushed, error);
    if (status != RISE_OK)
        return status;
    status = gpu_own_stream(context, &stream, error);
    if (status == RISE_OK)
        status = gpu_check(context, context->gpu.api.stream_synchronize(stream), error,
                           "%s: waiting until its memory is ready", call->entry->plan.core->name);
    gpu_leave(context, pushed);
    call->ready &= status == RISE_OK;
    return status;
}

int gpu_prepare(RiseCall *call, rise_error *error)
{
    call->enqueued = false;
    int status = prepare_all(call, true, error);
    if (!call->enqueued)
        return status;
    int settled = settle(call, status == RISE_OK ? error : NULL);
    return status == RISE_OK ? settled : status;
}

/* ---- the launch ------------------------------------------------------------------------------------------------------------------------ */

/* The device promises nothing about indices beyond their size, so the host looks while it can. */
static int check_indices(const RiseCall *call, int k, rise_error *error)
{
    const Argument *a = &call->entry->plan.arguments[k];
    const CallArgument *c = &call->arguments[k];
    Launch launch = call_sizes(call, RESIDENT_UNKNOWN);
    int64_t below = 0;
    if (!launch_nat(NULL, call->entry->plan.core, &launch, a->below, &below))
        below = 0;
    for (int64_t i = 0; i < c->count; i++) {
        int64_t value = scalar_load(a->elem, c->data + i * scalar_bytes(a->elem)).i;
        if (value < 0 || value >= below)
            return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: element %lld of %s: %s is %lld, and it must be below %lld", call->entry->plan.core->name, (long long)i, a->name, a->text,
                             (long long)value, (long long)below);
    }
    return RISE_OK;
}

static int copy_in(RiseCall *call, CUstream stream, rise_error *error)
{
    const Plan *plan = &call->entry->plan;
    int status = RISE_OK;
    for (int k = plan->n_results; status == RISE_OK && k < plan->n_arguments; k++) {
        CallArgument *c = &call->arguments[k];
        if (c->where == RISE_DEVICE || c->bytes == 0)
            continue;
        if (plan->arguments[k].is_index)
            status = check_indices(call, k, error);
        if (status == RISE_OK && !plan->arguments[k].by_value)
            status = gpu_check(call->context, call->context->gpu.api.copy_in(c->address, c->data, c->bytes, stream), error, "%s: copying %s to the device", plan->core->name,
                               plan->arguments[k].name);
    }
    return status;
}

static int start_kernel(RiseCall *call, const CallStep *s, CUstream stream, rise_error *error)
{
    const CudaApi *api = &call->context->gpu.api;
    const ImpKernel *k = s->variant->kernel;
    const unsigned t[3] = {(unsigned)k->threads[0], (unsigned)k->threads[1], (unsigned)k->threads[2]};
    CUfunction f = call->entry->functions[s->number].function;
    CUresult result = k->cooperative ? api->launch_cooperative(f, s->grid[0], s->grid[1], s->grid[2], t[0], t[1], t[2], s->shared, stream, s->params)
                                     : api->launch(f, s->grid[0], s->grid[1], s->grid[2], t[0], t[1], t[2], s->shared, stream, s->params, NULL);
    if (result == CU_SUCCESS)
        return RISE_OK;
    return gpu_check(call->context, result, error, "%s: launching %s on %u x %u x %u blocks", call->entry->plan.core->name, s->variant->name, s->grid[0], s->grid[1], s->grid[2]);
}

/* Those that repeat together stand beside each other. */
static int start_kernels(RiseCall *call, CUstream stream, rise_error *error)
{
    int status = RISE_OK;
    for (int i = 0, n; i < call->n_steps && status == RISE_OK; i += n) {
        CallStep *first = &call->steps[i];
        for (n = 1; first->group && i + n < call->n_steps && first[n].group == first->group;)
            n++;
        for (int64_t turn = 0; turn < first->repeat && status == RISE_OK; turn++)
            for (int k = 0; k < n && status == RISE_OK; k++) {
                set_turn(call, &first[k], turn);
                status = start_kernel(call, &first[k], stream, error);
            }
    }
    return status;
}

static int copy_out(RiseCall *call, CUstream stream, rise_error *error)
{
    const Plan *plan = &call->entry->plan;
    int status = RISE_OK;
    for (int k = 0; status == RISE_OK && k < plan->n_results; k++) {
        const CallArgument *c = &call->arguments[k];
        if (c->given && c->where == RISE_HOST && c->bytes)
            status = gpu_check(call->context, call->context->gpu.api.copy_out(c->data, c->address, c->bytes, stream), error, "%s: copying %s from the device", plan->core->name,
                               plan->arguments[k].name);
    }
    return status;
}

/* The call's event stands behind what is on its stream now. */
static int record_event(RiseCall *call, rise_error *error)
{
    RiseContext *context = call->context;
    const CudaApi *api = &context->gpu.api;
    int status = RISE_OK;
    if (!call->event)
        status = gpu_check(context, api->event_create(&call->event, CU_EVENT_NO_TIMING), error, "making an event");
    if (status == RISE_OK)
        status = gpu_check(context, api->event_record(call->event, call->stream), error,
                           "recording an event on the stream of the launch before");
    return status;
}

int follow_launch(RiseCall *call, CUstream stream, rise_error *error)
{
    RiseContext *context = call->context;
    int status = record_event(call, error);
    if (status == RISE_OK)
        status = gpu_check(context, context->gpu.api.stream_wait(stream, call->event, 0), error,
                           "waiting for the launch before");
    return status;
}

static int enqueue(RiseCall *call, CUstream stream, rise_error *error)
{
    int status = copy_in(call, stream, error);
    if (status == RISE_OK)
        status = workspace_clear(call, stream, error);
    if (status == RISE_OK)
        status = start_kernels(call, stream, error);
    return status == RISE_OK ? copy_out(call, stream, error) : status;
}

static int ask_recording(RiseCall *call, CUstream stream, bool *recording, rise_error *error)
{
    int capture = CU_STREAM_NOT_CAPTURING;
    int status = gpu_check(call->context, call->context->gpu.api.stream_capturing(stream, &capture), error,
                           "asking whether the stream is recording");
    *recording = capture != CU_STREAM_NOT_CAPTURING;
    return status;
}

/* From here on what the call does is in the order of this stream, unless it records: the call's own
 * memory may be in use on another one. */
static int begin(RiseCall *call, CUstream stream, rise_error *error)
{
    int status = ask_recording(call, stream, &call->recording, error);
    if (status != RISE_OK || call->recording)
        return status;
    if (call->busy && call->has_memory && call->stream != stream)
        status = follow_launch(call, stream, error);
    if (status == RISE_OK) {
        call->busy = true;
        call->asked = false;
        call->stream = stream;
    }
    return status;
}

static int prepare_launch(RiseCall *call, rise_error *error)
{
    call->launching = true;
    int status = prepare_all(call, true, error);
    call->launching = false;
    call->prepared = status == RISE_OK;
    return status;
}

/* What is recorded into a graph does not run now, and may never run: it leaves no trace in the call, and
 * its place among other launches is the caller's matter. */
int gpu_launch(RiseCall *call, CUstream stream, rise_error *error)
{
    bool pushed;
    int status = gpu_enter(call->context, &pushed, error);
    if (status != RISE_OK)
        return status;
    status = begin(call, stream, error);
    if (status == RISE_OK && !call->prepared) {
        gpu_leave(call->context, pushed); /* callbacks run meanwhile */
        pushed = false;
        status = prepare_launch(call, error);
        if (status == RISE_OK)
            status = gpu_enter(call->context, &pushed, error);
    }
    if (status == RISE_OK) {
        status = enqueue(call, stream, error);
        call->clears |= status != RISE_OK;
    }
    call->recording = false;
    gpu_leave(call->context, pushed);
    return status;
}

/* Neither waiting nor asking is possible while a stream records: it would end the record. */
static int refuse_recording(RiseCall *call, rise_error *error)
{
    bool recording;
    int status = ask_recording(call, call->stream, &recording, error);
    if (status != RISE_OK || !recording)
        return status;
    return rise_fail(error, RISE_ERROR_ARGUMENT,
                     "%s: the stream of the last launch is recording, and what is on it cannot be waited for meanwhile",
                     call->entry->plan.core->name);
}

/* Another stream may be recording meanwhile, of this thread or of another one. CUDA ends that where
 * somebody asks about ours, unless the thread is relaxed about it. */
static CUresult ask_relaxed(const RiseCall *call, bool wait)
{
    const CudaApi *api = &call->context->gpu.api;
    int mode = CU_CAPTURE_RELAXED;
    CUresult result = api->capture_mode(&mode);
    if (result != CU_SUCCESS)
        return result;
    result = wait          ? api->stream_synchronize(call->stream)
             : call->asked ? api->event_query(call->event)
                           : api->stream_query(call->stream);
    CUresult back = api->capture_mode(&mode);
    return result != CU_SUCCESS ? result : back;
}

/* The stream itself may get more work all the time, so at the first time that it is busy the event is
 * put behind what is there, and asked from then on. */
static int ask_done(RiseCall *call, rise_error *error)
{
    RiseContext *context = call->context;
    CUresult result = ask_relaxed(call, false);
    int status = RISE_OK;
    if (result == CU_NOT_READY && !call->asked) {
        status = record_event(call, error);
        call->asked = status == RISE_OK;
    } else if (result != CU_NOT_READY) {
        status = gpu_check(context, result, error, "%s: asking whether the launch is done", call->entry->plan.core->name);
        call->busy = status != RISE_OK;
        call->clears |= status != RISE_OK;
    }
    return status;
}

int gpu_done(RiseCall *call, bool *done, rise_error *error)
{
    bool pushed;
    if (call->busy || atomic_load(&call->context->gpu.lost)) {
        int status = gpu_enter(call->context, &pushed, error);
        if (status != RISE_OK)
            return status;
        status = refuse_recording(call, error);
        if (status == RISE_OK)
            status = ask_done(call, error);
        gpu_leave(call->context, pushed);
        if (status != RISE_OK)
            return status;
    }
    *done = !call->busy;
    return RISE_OK;
}

int gpu_wait(RiseCall *call, rise_error *error)
{
    bool pushed;
    if (!call->busy && !atomic_load(&call->context->gpu.lost))
        return RISE_OK;
    int status = gpu_enter(call->context, &pushed, error);
    if (status != RISE_OK)
        return status;
    status = refuse_recording(call, error);
    if (status == RISE_OK) {
        status = gpu_check(call->context, ask_relaxed(call, true), error,
                           "%s: waiting for the launch", call->entry->plan.core->name);
        call->busy = status != RISE_OK;
        call->clears |= status != RISE_OK;
    }
    gpu_leave(call->context, pushed);
    return status;
}

int gpu_read(RiseCall *call, const CallArgument *from, void *to, rise_error *error)
{
    const CudaApi *api = &call->context->gpu.api;
    bool pushed;
    int status = gpu_enter(call->context, &pushed, error);
    if (status != RISE_OK)
        return status;
    /* The launch has been waited for, and its stream may be gone. */
    CUstream stream;
    status = gpu_own_stream(call->context, &stream, error);
    if (status == RISE_OK)
        status = gpu_check(call->context, api->copy_out(to, from->address, from->bytes, stream), error,
                           "%s: copying a result from the device", call->entry->plan.core->name);
    if (status == RISE_OK)
        status = gpu_check(call->context, api->stream_synchronize(stream), error, "%s: waiting for a copy",
                           call->entry->plan.core->name);
    gpu_leave(call->context, pushed);
    return status;
}

/* The last launch may still copy from or to memory of the host. */
static bool is_on_host(const RiseCall *call)
{
    for (int k = 0; k < call->entry->plan.n_arguments; k++)
        if (call->arguments[k].given && call->arguments[k].where == RISE_HOST)
            return !call->entry->plan.arguments[k].by_value;
    return false;
}

void gpu_call_free(RiseCall *call)
{
    const CudaApi *api = &call->context->gpu.api;
    bool pushed;
    if (!call->has_memory && !call->event)
        return;
    bool lost = gpu_enter(call->context, &pushed, NULL) != RISE_OK;
    if (lost && !call->context->device_alloc.free)
        return; /* it went with the CUDA context */
    if (call->busy && is_on_host(call))
        api->stream_synchronize(call->stream);
    for (int k = 0; k < call->entry->plan.n_arguments; k++)
        memory_give(call, &call->arguments[k].own);
    memory_give(call, &call->workspace);
    if (call->event)
        api->event_destroy(call->event);
    gpu_leave(call->context, pushed);
}
