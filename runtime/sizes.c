/* The sizes of a call: from what the caller set and from the shapes of the inputs; and whether everything fits them. */
#include "internal.h"

/* ---- solving ---------------------------------------------------------------------------------------------------------------- */

static int size_number(const CoreEntry *core, Nat var)
{
    for (int i = 0; i < core->n_sizes; i++)
        if (core->sizes[i] == var)
            return i;
    return -1;
}

static bool known_value(void *user, Nat var, int64_t *value)
{
    const RiseCall *call = user;
    int i = size_number(call->entry->plan.core, var);
    if (i < 0 || !call->known[i])
        return false;
    *value = call->sizes[i];
    return true;
}

/* One term of a sum. Either its value, or the size that it leaves open with the number before it. */
static bool term_value(RiseCall *call, const NatTerm *term, int64_t *value, int *open)
{
    *value = term->coef;
    *open = -1;
    for (int i = 0; i < term->n_factors; i++) {
        int64_t factor;
        int size = size_number(call->entry->plan.core, term->factors[i]);
        if (size >= 0 && !call->known[size]) {
            if (*open >= 0)
                return false;
            *open = size;
        } else if (nat_eval(term->factors[i], known_value, call, &factor) != NAT_EVAL_OK || !mul_fits(*value, factor, value)) {
            return false;
        }
    }
    return true;
}

/* Finds the one size that `extent` leaves open, where it is linear in it: n, n + 1, 4*n, m*n + k. */
static bool solve(RiseCall *call, Nat extent, int64_t actual)
{
    NatTerm plain = {1, 1, &extent};
    const NatTerm *terms = extent->kind == NAT_SUM ? extent->terms : &plain;
    int n = extent->kind == NAT_SUM ? extent->n_terms : 1, unknown = -1;
    int64_t factor = 0, rest = actual;
    for (int i = 0; i < n; i++) {
        int64_t value;
        int open;
        if (!term_value(call, &terms[i], &value, &open) || (open >= 0 && unknown >= 0))
            return false;
        if (open >= 0) {
            unknown = open;
            factor = value;
        } else if (!sub_fits(rest, value, &rest)) {
            return false;
        }
    }
    if (unknown < 0 || factor == 0 || (factor == -1 && rest == INT64_MIN) || rest % factor != 0 || rest / factor < 0)
        return false;
    call->sizes[unknown] = rest / factor;
    return call->known[unknown] = true;
}

static bool has_shape(const RiseCall *call, int k) { return call->arguments[k].given && !call->entry->plan.arguments[k].is_result; }

static void infer(RiseCall *call)
{
    const Plan *plan = &call->entry->plan;
    for (int i = 0; i < plan->core->n_sizes; i++) {
        call->known[i] = call->set[i];
        call->sizes[i] = call->set_values[i];
    }
    for (bool found = true; found;) {
        found = false;
        for (int k = 0; k < plan->n_arguments; k++)
            for (int d = 0; has_shape(call, k) && d < plan->arguments[k].rank; d++)
                found |= solve(call, plan->arguments[k].extents[d], call->arguments[k].given_shape[d]);
    }
}

/* ---- words ------------------------------------------------------------------------------------------------------------------- */

static void note_sizes(const RiseCall *call, rise_error *error)
{
    const CoreEntry *core = call->entry->plan.core;
    for (int i = 0, n = 0; i < core->n_sizes; i++)
        if (call->known[i])
            rise_error_note(error, "%s%s = %lld", n++ ? ", " : "", core->sizes[i]->name, (long long)call->sizes[i]);
}

static void note_shape(int rank, const int64_t *shape, rise_error *error)
{
    for (int d = 0; d < rank; d++)
        rise_error_note(error, "%s%lld", d ? "." : "", (long long)shape[d]);
}

static int missing_size(RiseCall *call, rise_error *error)
{
    const Plan *plan = &call->entry->plan;
    for (int i = 0; i < plan->core->n_sizes; i++) {
        if (call->known[i])
            continue;
        const char *name = plan->core->sizes[i]->name;
        for (int k = 0; k < plan->n_arguments; k++)
            for (int d = 0; has_shape(call, k) && d < plan->arguments[k].rank; d++)
                if (nat_mentions(plan->arguments[k].extents[d], plan->core->sizes[i])) {
                    rise_fail(error, RISE_ERROR_ARGUMENT, "%s: no %s follows from the shape of %s: %s, which is ", plan->core->name, name, plan->arguments[k].name,
                              plan->arguments[k].text);
                    note_shape(plan->arguments[k].rank, call->arguments[k].given_shape, error);
                    rise_error_note(error, " here; rise_call_size sets a size");
                    return RISE_ERROR_ARGUMENT;
                }
        return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: nothing gives the size %s: give an input whose shape has it, or set it with rise_call_size",
                         plan->core->name, name);
    }
    return RISE_OK;
}

/* ---- what must hold ------------------------------------------------------------------------------------------------------------ */

int call_all_given(const RiseCall *call, rise_error *error)
{
    const Plan *plan = &call->entry->plan;
    for (int k = plan->n_results; k < plan->n_arguments; k++)
        if (!call->arguments[k].given)
            return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: nothing is given for %s: %s", plan->core->name, plan->arguments[k].name, plan->arguments[k].text);
    return RISE_OK;
}

/* Shapes and bytes of all arguments. False where one has no value: host_explain says why. */
static bool measure(RiseCall *call, const Launch *launch)
{
    const Plan *plan = &call->entry->plan;
    for (int k = 0; k < plan->n_arguments; k++) {
        const Argument *a = &plan->arguments[k];
        CallArgument *c = &call->arguments[k];
        bool fits = true, empty = false;
        int64_t bytes = 0;
        c->count = 1;
        for (int d = 0; d < a->rank; d++) {
            if (!launch_nat(NULL, plan->core, launch, a->extents[d], &c->shape[d]) || c->shape[d] < 0)
                return false;
            empty |= c->shape[d] == 0;
            fits = fits && mul_fits(c->count, c->shape[d], &c->count);
        }
        c->count = empty ? 0 : c->count;
        if (!empty && (!fits || !mul_fits(c->count, scalar_bytes(a->elem), &bytes)))
            return false;
        c->bytes = (size_t)bytes;
    }
    return true;
}

static int check_shape(const RiseCall *call, int k, rise_error *error)
{
    const Argument *a = &call->entry->plan.arguments[k];
    const CallArgument *c = &call->arguments[k];
    bool same = true;
    for (int d = 0; d < a->rank; d++)
        same &= c->shape[d] == c->given_shape[d];
    if (same)
        return RISE_OK;
    rise_fail(error, RISE_ERROR_ARGUMENT, "%s: %s has the shape ", call->entry->plan.core->name, a->name);
    note_shape(a->rank, c->given_shape, error);
    rise_error_note(error, ", and %s: %s wants ", a->name, a->text);
    note_shape(a->rank, c->shape, error);
    rise_error_note(error, " for ");
    note_sizes(call, error);
    return RISE_ERROR_ARGUMENT;
}

static int check_place(const RiseCall *call, int k, rise_error *error)
{
    const char *entry = call->entry->plan.core->name;
    const Argument *a = &call->entry->plan.arguments[k];
    const CallArgument *c = &call->arguments[k];
    if (a->is_result && c->capacity < c->bytes)
        return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: %s takes %zu bytes, and rise_call_output gave %zu", entry, a->name, c->bytes, c->capacity);
    if (!c->data && c->bytes)
        return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: %s has %zu bytes, and its address is NULL", entry, a->name, c->bytes);
    if ((uintptr_t)c->data % (uintptr_t)scalar_bytes(a->elem))
        return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: the address of %s is %p, which is no multiple of the %d bytes of its elements, %s", entry, a->name,
                         (void *)c->data, scalar_bytes(a->elem), scalar_name(a->elem));
    return RISE_OK;
}

static bool overlap(const CallArgument *a, const CallArgument *b)
{
    uintptr_t p = (uintptr_t)a->data, q = (uintptr_t)b->data;
    return a->bytes && b->bytes && p < q + b->bytes && q < p + a->bytes;
}

bool call_shares(const RiseCall *call, int k, int input)
{
    const CallArgument *r = &call->arguments[k], *c = &call->arguments[call->entry->plan.n_results + input];
    return r->given && c->given && !c->is_scalar && r->bytes && r->data == c->data && r->bytes == c->bytes;
}

bool call_in_place(const RiseCall *call)
{
    const Plan *plan = &call->entry->plan;
    const CallArgument *inputs = &call->arguments[plan->n_results];
    bool any = false;
    for (int k = 0; k < plan->n_results; k++)
        for (int i = 0; i < plan->n_arguments - plan->n_results; i++)
            any |= call_shares(call, k, i) && call->arguments[k].where == RISE_DEVICE && inputs[i].where == RISE_DEVICE;
    return any;
}

/* Result number k and argument number a overlap: RISE_OK where the program allows it. */
static int check_overlap(RiseCall *call, int k, int a, rise_error *error)
{
    const Plan *plan = &call->entry->plan;
    const char *entry = plan->core->name, *to = plan->arguments[k].name, *from = plan->arguments[a].name;
    int input = a - plan->n_results, status = RISE_OK;
    OneMemory found = ONE_MEMORY_ALLOWED;
    if (input < 0)
        return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: %s and %s overlap in memory: give each result memory of its own", entry, to, from);
    if (plan->arguments[k].in_place)
        found = (OneMemory)plan->arguments[k].in_place[input];
    else
        status = host_one_memory(call, k, input, &found, error);
    if (status != RISE_OK || (found == ONE_MEMORY_ALLOWED && call_shares(call, k, input)))
        return status;
    if (found == ONE_MEMORY_ALLOWED)
        return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: %s and %s overlap in a part of their memory: give %s all of the memory of %s, or none of it", entry, to, from, to, from);
    return rise_fail(error, RISE_ERROR_ARGUMENT, "%s: %s and %s overlap in memory, and %s cannot be computed in place of %s, as %s: give %s memory of its own", entry, to, from, to, from,
                     one_memory_why(found), to);
}

int call_check_places(RiseCall *call, rise_error *error)
{
    const Plan *plan = &call->entry->plan;
    for (int k = 0; k < plan->n_arguments; k++) {
        const CallArgument *c = &call->arguments[k];
        int status = c->given && !c->is_scalar ? check_place(call, k, error) : RISE_OK;
        for (int r = 0; status == RISE_OK && c->given && !c->is_scalar && r < plan->n_results && r < k; r++)
            if (call->arguments[r].given && overlap(&call->arguments[r], c))
                status = check_overlap(call, r, k, error);
        if (status != RISE_OK)
            return status;
    }
    return RISE_OK;
}

int call_size(RiseCall *call, rise_error *error)
{
    const Plan *plan = &call->entry->plan;
    const CoreEntry *core = plan->core;
    if (call->sized)
        return RISE_OK;
    infer(call);
    int status = missing_size(call, error);
    if (status != RISE_OK)
        return status;
    Launch launch = call_sizes(call, RESIDENT_UNKNOWN);
    bool holds = true;
    for (int i = 0; holds && i < core->n_facts; i++)
        holds = launch_test(NULL, core, &launch, core->facts[i], &holds) && holds;
    if (!holds || !measure(call, &launch))
        return host_explain(call, error);
    for (int k = plan->n_results; status == RISE_OK && k < plan->n_arguments; k++)
        if (call->arguments[k].given)
            status = check_shape(call, k, error);
    call->sized = status == RISE_OK;
    return status;
}
