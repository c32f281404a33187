/* Calls: the arguments of a launch, and the same steps for every device. */
#include "internal.h"

/* ---- making one --------------------------------------------------------------------------------------------------------------- */

static bool call_tables(RiseCall *call, rise_error *error)
{
    RiseContext *context = call->context;
    const Plan *plan = &call->entry->plan;
    size_t sizes = (size_t)plan->core->n_sizes, params = (size_t)plan->max_params;
    call->sizes = context_alloc(context, sizeof(int64_t) * sizes, error);
    call->set_values = context_alloc(context, sizeof(int64_t) * sizes, error);
    call->set = context_alloc(context, sizeof(bool) * sizes, error);
    call->known = context_alloc(context, sizeof(bool) * sizes, error);
    call->arguments = context_alloc(context, sizeof(CallArgument) * (size_t)plan->n_arguments, error);
    call->temps = context_alloc(context, sizeof(CallTemp) * (size_t)plan->n_temps, error);
    call->steps = context_alloc(context, sizeof(CallStep) * (size_t)plan->n_steps, error);
    call->missing = context_alloc(context, sizeof(int) * (size_t)plan->n_steps, error);
    if (!call->missing || !call->sizes || !call->set_values || !call->set || !call->known || !call->arguments || !call->temps || !call->steps)
        return false;
    for (int k = 0; k < plan->n_arguments; k++) {
        size_t bytes = sizeof(int64_t) * (size_t)plan->arguments[k].rank;
        call->arguments[k].given_shape = context_alloc(context, bytes, error);
        call->arguments[k].shape = context_alloc(context, bytes, error);
        if (!call->arguments[k].given_shape || !call->arguments[k].shape)
            return false;
    }
    for (int i = 0; i < plan->n_steps; i++) {
        call->steps[i].params = context_alloc(context, sizeof(void *) * params, error);
        call->steps[i].numbers = context_alloc(context, sizeof(int64_t) * params, error);
        if (!call->steps[i].params || !call->steps[i].numbers)
            return false;
    }
    return true;
}

static void call_free(RiseCall *call)
{
    RiseContext *context = call->context;
    RiseEntry *entry = call->entry;
    RiseProgram *program = entry->program;
    const Plan *plan = &call->entry->plan;
    if (context->device == RISE_GPU && call->temps && call->arguments)
        gpu_call_free(call);
    for (int k = 0; call->arguments && k < plan->n_arguments; k++) {
        context_dealloc(context, call->arguments[k].given_shape);
        context_dealloc(context, call->arguments[k].shape);
        context_dealloc(context, call->arguments[k].own_host);
    }
    for (int i = 0; call->steps && i < plan->n_steps; i++) {
        context_dealloc(context, call->steps[i].params);
        context_dealloc(context, call->steps[i].numbers);
    }
    context_dealloc(context, call->sizes);
    context_dealloc(context, call->set_values);
    context_dealloc(context, call->set);
    context_dealloc(context, call->known);
    context_dealloc(context, call->arguments);
    context_dealloc(context, call->temps);
    context_dealloc(context, call->steps);
    context_dealloc(context, call->missing);
    context_dealloc(context, call);
    entry_release(entry);
    program_release(program);
}

int rise_call_new(rise_entry *handle, rise_call **out, rise_error *error)
{
    if (!out)
        return argument_null(error, "call");
    *out = NULL;
    RiseEntry *entry = entry_of(handle, error);
    if (!entry)
        return RISE_ERROR_ARGUMENT;
    RiseContext *context = entry->program->context;
    RiseCall *call = context_alloc(context, sizeof *call, error);
    if (!call)
        return RISE_ERROR_MEMORY;
    call->entry = entry;
    call->context = context;
    atomic_fetch_add(&entry->program->refs, 1);
    entry_hold(entry);
    *out = call_tables(call, error) ? handle_new(HANDLE_CALL, call, error) : NULL;
    if (*out)
        return RISE_OK;
    call_free(call);
    return RISE_ERROR_MEMORY;
}

void rise_call_free(rise_call *handle)
{
    RiseCall *call = handle_take(HANDLE_CALL, handle);
    if (call)
        call_free(call);
}

/* ---- arguments ------------------------------------------------------------------------------------------------------------------ */

static void list_arguments(const Plan *plan, bool results, rise_error *error)
{
    int n = 0;
    for (int k = 0; k < plan->n_arguments; k++)
        if (plan->arguments[k].is_result == results)
            rise_error_note(error, "%s`%s`", n++ ? ", " : results ? "; its results are " : "; its inputs are ", plan->arguments[k].name);
}

/* The argument of that name, and of that type where it is not 0; NULL with an error. */
static CallArgument *find(RiseCall *call, const char *name, bool is_result, int type, int *number, rise_error *error)
{
    if (!name) {
        argument_null(error, "name");
        return NULL;
    }
    const Plan *plan = &call->entry->plan;
    *number = plan_argument(plan, name);
    if (*number < 0 || plan->arguments[*number].is_result != is_result) {
        rise_fail(error, RISE_ERROR_ARGUMENT, "%s has no %s `%s`", plan->core->name, is_result ? "result" : "input", name);
        list_arguments(plan, is_result, error);
        return NULL;
    }
    const Argument *a = &plan->arguments[*number];
    if (type && scalar_of_type(type) != (int)a->elem) {
        rise_fail(error, RISE_ERROR_ARGUMENT, "%s: the elements of %s: %s are %s, and those given are %s", plan->core->name, a->name, a->text, scalar_name(a->elem),
                  rise_type_name(type));
        return NULL;
    }
    return &call->arguments[*number];
}

int rise_call_size(rise_call *handle, const char *name, int64_t value, rise_error *error)
{
    RiseCall *call = call_of(handle, error);
    if (!call)
        return RISE_ERROR_ARGUMENT;
    if (!name)
        return argument_null(error, "name");
    const CoreEntry *core = call->entry->plan.core;
    for (int i = 0; i < core->n_sizes; i++) {
        if (strcmp(core->sizes[i]->name, name) != 0)
            continue;
        if (value < 0)
            return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: the size %s is %lld, and sizes are at least 0", core->name, name, (long long)value);
        call->set[i] = true;
        call->set_values[i] = value;
        call->sized = call->prepared = false;
        return RISE_OK;
    }
    for (int i = 0; i < core->n_tunables; i++)
        if (strcmp(core->tunable_names[i], name) == 0)
            return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: `%s` is a constant of the compilation, %lld; rise_entry_get sets it", core->name, name, (long long)core->tunable_values[i]);
    rise_fail(error, RISE_ERROR_ARGUMENT, "%s has no size `%s`", core->name, name);
    for (int i = 0; i < core->n_sizes; i++)
        rise_error_note(error, "%s`%s`", i ? ", " : "; its sizes are ", core->sizes[i]->name);
    return RISE_ERROR_ARGUMENT;
}

static bool is_place(int where) { return where == RISE_HOST || where == RISE_DEVICE; }

int rise_call_input(rise_call *handle, const char *name, int type, int rank, const int64_t *shape, const void *data, int where, rise_error *error)
{
    RiseCall *call = call_of(handle, error);
    if (!call)
        return RISE_ERROR_ARGUMENT;
    int k;
    CallArgument *c = find(call, name, false, type ? type : -1, &k, error);
    if (!c)
        return RISE_ERROR_ARGUMENT;
    const Argument *a = &call->entry->plan.arguments[k];
    if (!is_place(where))
        return rise_fail(error, RISE_ERROR_ARGUMENT, "memory is RISE_HOST or RISE_DEVICE");
    if (rank != a->rank)
        return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: %s: %s has %d dimensions, and %d are given", call->entry->plan.core->name, a->name, a->text, a->rank, rank);
    if (rank && !shape)
        return argument_null(error, "shape");
    if (a->by_value && where == RISE_DEVICE && call->context->device == RISE_GPU)
        return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: %s is a scalar, which kernels take by value: give it in memory of the host, or by rise_call_scalar",
                         call->entry->plan.core->name, a->name);
    for (int d = 0; d < rank; d++)
        if (shape[d] < 0)
            return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: %s has the extent %lld in dimension %d", call->entry->plan.core->name, a->name, (long long)shape[d], d + 1);
    size_t bytes = sizeof *shape * (size_t)rank;
    call->sized &= c->given && (rank == 0 || memcmp(c->given_shape, shape, bytes) == 0);
    if (rank)
        memcpy(c->given_shape, shape, bytes);
    c->given = true;
    c->is_scalar = false;
    c->where = where;
    c->data = (unsigned char *)data; /* only read */
    call->prepared = false;
    return RISE_OK;
}

static void note_numbers(rise_error *error, const char *between, int n, const int64_t *at)
{
    for (int i = 0; i < n; i++)
        rise_error_note(error, "%s%lld", i ? between : "", (long long)at[i]);
}

/* The stride in bytes that dimension d has in a dense array; false where it has no value in 64 bits. */
static bool dense_stride(int type, int rank, const int64_t *shape, int d, int64_t *stride)
{
    *stride = (int64_t)rise_type_bytes(type);
    while (++d < rank)
        if (!mul_fits(*stride, shape[d], stride))
            return false;
    return true;
}

static int not_dense(const char *name, int type, int rank, const int64_t *shape, const int64_t *strides,
                     rise_error *error)
{
    rise_fail(error, RISE_ERROR_ARGUMENT, "%s has the strides ", name);
    note_numbers(error, ", ", rank, strides);
    rise_error_note(error, " bytes, and an array of ");
    note_numbers(error, ".", rank, shape);
    rise_error_note(error, " %s that lies row by row has ", rise_type_name(type));
    for (int d = 0; d < rank; d++) {
        int64_t dense;
        rise_error_note(error, d ? ", " : "");
        if (dense_stride(type, rank, shape, d, &dense))
            note_numbers(error, "", 1, &dense);
        else
            rise_error_note(error, "one beyond 64 bits");
    }
    rise_error_note(error, ": copy it into a dense one first");
    return RISE_ERROR_ARGUMENT;
}

int rise_check_dense(const char *name, int type, int rank, const int64_t *shape, const int64_t *strides,
                     rise_error *error)
{
    bool empty = false, dense = true;
    if (!name || (rank > 0 && !shape))
        return argument_null(error, name ? "shape" : "name");
    if (!rise_type_bytes(type))
        return rise_fail(error, RISE_ERROR_ARGUMENT, "%d is no rise_type", type);
    if (rank < 0)
        return rise_fail(error, RISE_ERROR_ARGUMENT, "%s has %d dimensions", name, rank);
    for (int d = 0; d < rank; d++) {
        if (shape[d] < 0)
            return rise_fail(error, RISE_ERROR_ARGUMENT, "%s has the extent %lld in dimension %d", name,
                             (long long)shape[d], d + 1);
        empty |= shape[d] == 0;
    }
    for (int d = 0; strides && !empty && d < rank; d++) {
        int64_t wanted;
        bool has = dense_stride(type, rank, shape, d, &wanted);
        dense &= shape[d] == 1 || (has && strides[d] == wanted);
    }
    return dense ? RISE_OK : not_dense(name, type, rank, shape, strides, error);
}

int rise_call_scalar(rise_call *handle, const char *name, int type, const void *value, rise_error *error)
{
    RiseCall *call = call_of(handle, error);
    if (!call)
        return RISE_ERROR_ARGUMENT;
    int k;
    CallArgument *c = find(call, name, false, type ? type : -1, &k, error);
    if (!c)
        return RISE_ERROR_ARGUMENT;
    const Argument *a = &call->entry->plan.arguments[k];
    if (a->rank)
        return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: %s is no scalar: %s", call->entry->plan.core->name, a->name, a->text);
    if (!value)
        return argument_null(error, "value");
    memcpy(c->scalar, value, (size_t)scalar_bytes(a->elem));
    if (!c->given || !c->is_scalar)
        call->prepared = false;
    c->given = c->is_scalar = true;
    c->where = RISE_HOST;
    c->data = c->scalar;
    return RISE_OK;
}

int rise_call_output(rise_call *handle, const char *name, int type, void *data, size_t bytes, int where, rise_error *error)
{
    RiseCall *call = call_of(handle, error);
    if (!call)
        return RISE_ERROR_ARGUMENT;
    int k;
    CallArgument *c = find(call, name, true, type ? type : -1, &k, error);
    if (!c)
        return RISE_ERROR_ARGUMENT;
    if (!is_place(where))
        return rise_fail(error, RISE_ERROR_ARGUMENT, "memory is RISE_HOST or RISE_DEVICE");
    c->given = data != NULL;
    c->data = data;
    c->capacity = bytes;
    c->where = where;
    call->prepared = false;
    return RISE_OK;
}

/* ---- launching ------------------------------------------------------------------------------------------------------------------- */

Launch call_sizes(const RiseCall *call, int64_t max_resident)
{
    bool gpu = call->context->device == RISE_GPU;
    return (Launch){.n_sizes = call->entry->plan.core->n_sizes, .sizes = call->sizes, .num_sm = call->context->gpu.sms, .max_resident = gpu ? max_resident : 0};
}

/* Memory of the host for the results that have no other place. */
static int host_prepare(RiseCall *call, rise_error *error)
{
    uint64_t most = call->context->max_result, bytes = 0;
    for (int k = 0; most && k < call->entry->plan.n_results; k++) {
        bytes = call->arguments[k].bytes > UINT64_MAX - bytes ? UINT64_MAX : bytes + call->arguments[k].bytes;
        if (bytes > most)
            return rise_fail(error, RISE_ERROR_LIMIT, "%s: the results need more than %llu bytes", call->entry->plan.core->name, (unsigned long long)most);
    }
    for (int k = 0; k < call->entry->plan.n_results; k++) {
        CallArgument *c = &call->arguments[k];
        if (c->given || (c->own_host && c->own_host_bytes >= c->bytes))
            continue;
        context_dealloc(call->context, c->own_host);
        c->own_host = context_alloc(call->context, c->bytes, error);
        c->own_host_bytes = c->own_host ? c->bytes : 0;
        if (!c->own_host)
            return RISE_ERROR_MEMORY;
    }
    return RISE_OK;
}

int rise_call_infer(rise_call *handle, rise_error *error)
{
    RiseCall *call = call_of(handle, error);
    return call ? call_size(call, error) : RISE_ERROR_ARGUMENT;
}

/* All that can be said without the device. */
static int check(RiseCall *call, rise_error *error)
{
    int status = call_all_given(call, error);
    if (status == RISE_OK)
        status = call_size(call, error);
    return status == RISE_OK ? call_check_places(call, error) : status;
}

static int prepare(RiseCall *call, rise_error *error)
{
    if (call->prepared)
        return RISE_OK;
    int status = check(call, error);
    if (status == RISE_OK)
        status = call->context->device == RISE_GPU ? gpu_prepare(call, error) : host_prepare(call, error);
    call->prepared = status == RISE_OK;
    return status;
}

int rise_call_prepare(rise_call *handle, rise_error *error)
{
    RiseCall *call = call_of(handle, error);
    return call ? prepare(call, error) : RISE_ERROR_ARGUMENT;
}

int rise_call_workspace(rise_call *handle, size_t *bytes, rise_error *error)
{
    if (!bytes)
        return argument_null(error, "bytes");
    *bytes = 0;
    RiseCall *call = call_of(handle, error);
    if (!call)
        return RISE_ERROR_ARGUMENT;
    int status = call_size(call, error);
    if (status == RISE_OK && call->context->device == RISE_GPU && !call->prepared)
        status = gpu_measure(call, error);
    if (status == RISE_OK)
        *bytes = (size_t)call->needs;
    return status;
}

int rise_call_use_workspace(rise_call *handle, void *memory, size_t bytes, rise_error *error)
{
    RiseCall *call = call_of(handle, error);
    if (!call)
        return RISE_ERROR_ARGUMENT;
    if (!memory && bytes)
        return argument_null(error, "memory");
    call->is_lent = memory != NULL;
    call->lent = memory;
    call->lent_bytes = bytes;
    call->prepared = false;
    return RISE_OK;
}

int rise_call_launch(rise_call *handle, void *stream, rise_error *error)
{
    RiseCall *call = call_of(handle, error);
    if (!call)
        return RISE_ERROR_ARGUMENT;
    bool gpu = call->context->device == RISE_GPU;
    int status = RISE_OK;
    if (!call->prepared)
        status = gpu ? check(call, error) : prepare(call, error);
    if (status != RISE_OK)
        return status;
    return gpu ? gpu_launch(call, stream, error) : host_launch(call, error);
}

static int wait(RiseCall *call, rise_error *error)
{
    return call->context->device == RISE_GPU ? gpu_wait(call, error) : RISE_OK;
}

int rise_call_wait(rise_call *handle, rise_error *error)
{
    RiseCall *call = call_of(handle, error);
    return call ? wait(call, error) : RISE_ERROR_ARGUMENT;
}

int rise_call_done(rise_call *handle, int *done, rise_error *error)
{
    bool is_done = true;
    if (!done)
        return argument_null(error, "done");
    *done = 0;
    RiseCall *call = call_of(handle, error);
    if (!call)
        return RISE_ERROR_ARGUMENT;
    int status = call->context->device == RISE_GPU ? gpu_done(call, &is_done, error) : RISE_OK;
    *done = status == RISE_OK && is_done;
    return status;
}

/* ---- afterwards ------------------------------------------------------------------------------------------------------------------- */

static int must_be_prepared(const RiseCall *call, rise_error *error)
{
    if (call->prepared)
        return RISE_OK;
    return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: the call is not prepared: its arguments have changed, or there was no rise_call_prepare or launch yet",
                     call->entry->plan.core->name);
}

static int must_be_sized(const RiseCall *call, rise_error *error)
{
    if (call->sized)
        return RISE_OK;
    return rise_fail(error, RISE_ERROR_ARGUMENT,
                     "%s: the sizes of the call are not known: its shapes have changed, or there was "
                     "no rise_call_infer, rise_call_prepare or launch yet",
                     call->entry->plan.core->name);
}

int rise_call_size_value(rise_call *handle, const char *name, int64_t *value, rise_error *error)
{
    RiseCall *call = call_of(handle, error);
    if (!call)
        return RISE_ERROR_ARGUMENT;
    if (!name || !value)
        return argument_null(error, name ? "value" : "name");
    int status = must_be_sized(call, error);
    const CoreEntry *core = call->entry->plan.core;
    for (int i = 0; status == RISE_OK && i < core->n_sizes; i++)
        if (strcmp(core->sizes[i]->name, name) == 0) {
            *value = call->sizes[i];
            return RISE_OK;
        }
    return status != RISE_OK ? status : rise_fail(error, RISE_ERROR_ARGUMENT, "%s has no size `%s`", core->name, name);
}

int rise_call_shape(rise_call *handle, const char *name, int max_rank, int *rank, int64_t *shape, rise_error *error)
{
    RiseCall *call = call_of(handle, error);
    if (!call)
        return RISE_ERROR_ARGUMENT;
    if (!name || !rank)
        return argument_null(error, name ? "rank" : "name");
    int k = plan_argument(&call->entry->plan, name);
    if (k < 0)
        return rise_fail(error, RISE_ERROR_ARGUMENT, "%s has no argument `%s`", call->entry->plan.core->name, name);
    int status = must_be_sized(call, error);
    if (status != RISE_OK)
        return status;
    *rank = call->entry->plan.arguments[k].rank;
    for (int d = 0; shape && d < *rank && d < max_rank; d++)
        shape[d] = call->arguments[k].shape[d];
    return RISE_OK;
}

static void *result_place(const RiseCall *call, const CallArgument *c)
{
    if (call->context->device != RISE_GPU)
        return c->given ? c->data : c->own_host;
    return c->given && c->where == RISE_HOST ? NULL : (void *)(uintptr_t)c->address;
}

int rise_call_result(rise_call *handle, const char *name, void **data, size_t *bytes, rise_error *error)
{
    int k;
    if (data)
        *data = NULL;
    RiseCall *call = call_of(handle, error);
    if (!call)
        return RISE_ERROR_ARGUMENT;
    CallArgument *c = find(call, name, true, 0, &k, error);
    if (!c)
        return RISE_ERROR_ARGUMENT;
    int status = data ? must_be_prepared(call, error) : must_be_sized(call, error);
    if (status != RISE_OK)
        return status;
    if (data)
        *data = result_place(call, c);
    if (bytes)
        *bytes = c->bytes;
    return RISE_OK;
}

int rise_call_read(rise_call *handle, const char *name, void *to, size_t bytes, rise_error *error)
{
    RiseCall *call = call_of(handle, error);
    if (!call)
        return RISE_ERROR_ARGUMENT;
    int k;
    CallArgument *c = find(call, name, true, 0, &k, error);
    if (!c)
        return RISE_ERROR_ARGUMENT;
    int status = must_be_prepared(call, error);
    if (status != RISE_OK)
        return status;
    if (bytes != c->bytes)
        return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: %s has %zu bytes, and %zu are asked for", call->entry->plan.core->name, name, c->bytes, bytes);
    if (!to && bytes)
        return argument_null(error, "to");
    status = wait(call, error);
    if (status != RISE_OK || !bytes)
        return status;
    void *place = result_place(call, c);
    if (call->context->device == RISE_GPU && place)
        return gpu_read(call, c, to, error);
    memmove(to, place ? place : c->data, bytes);
    return RISE_OK;
}
