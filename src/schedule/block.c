/* Sequences whose state is small: one block has the state in shared memory, and goes through all steps.
 *
 *   repeatKernels(n, fun state k => step, start)
 *     ->  if cells <= CELLS then
 *           mapBlock of one block: reduceSeq over the steps of
 *             let next = generate{CELLS}(p => element p of step) |> mapThreads(id) |> toPrivate in
 *             next |> mapThreads(id) |> toShared
 *         else the same
 *
 * A block waits for its threads in less time than a launch takes. Arrays are flat, and CELLS long, so
 * that loops over threads have a constant number of trips. Each thread works out its elements alone:
 * steps with long folds stay launches, where threads share them. */
#include "frontend/costs.h"
#include "ir/scalar.h"
#include "schedule/shape.h"

enum {
    LEAST_CELLS = 1024,
    THREADS = 1024,
    SHARED_BYTES = 48 << 10, /* that a block has without asking */
    MOST_ARRAYS = 2,         /* in the state */
    MOST_RANK = 8
};

typedef struct InBlock {
    Ctx *ctx;
    CoreEntry entry; /* knows that the state is small, where it is */
    const NestSteps *steps;
    const Nests *step;
    int *next_var;
    Type array;  /* of the state: all are of one shape */
    int n_axes;
    Nat axes[MOST_RANK];
    Nat length;  /* of each array in shared memory */
    CoreVar *state, *k;
    VEC(const CoreVar *) vars; /* beside views */
    VEC(Core *) views;         /* what stands for these arrays */
    Core *cond;  /* that is to be tested; NULL: it is known */
} InBlock;

/* ---- what is small ----------------------------------------------------------------------------- */

/* Does a thread work it out soon? */
static bool is_light(const Core *term)
{
    if (term->kind == CORE_PRIM) {
        PrimId id = term->prim.id;
        bool fold = id == P_reduce || id == P_reduceSeq;
        Nat n = fold ? term->prim.args[2]->type->size : NULL;
        bool is_short = fold && nat_is_const(n) && n->value <= SHORT_FOLD;
        if (!is_short && id != P_index && id != P_generate && prim_rows[id].level != LEVEL_SCALAR)
            return false;
    }
    for (int i = 0; i < term_children(term); i++)
        if (!is_light(term_child(term, i)))
            return false;
    return true;
}

static Core *part(const Core *all, int n, int i) { return n == 1 ? (Core *)(uintptr_t)all : all->tuple.items[i]; }

static bool all_light(const Core *all, int n)
{
    if (n > 1 && all->kind != CORE_TUPLE)
        return false;
    for (int i = 0; i < n; i++)
        if (!is_light(part(all, n, i)))
            return false;
    return true;
}

static bool reads(const Core *term, const CoreVar *array)
{
    bool found = term->kind == CORE_VAR && term->var == array;
    for (int i = 0; i < term_children(term) && !found; i++)
        found = reads(term_child(term, i), array);
    return found;
}

/* The array of the step that is a part of the next state, and nothing else; NULL. */
static const Nest *own_nest(const InBlock *b, const Core *item)
{
    const Nest *found = NULL;
    for (int i = 0; i < b->step->list.n && item->kind == CORE_VAR; i++) {
        const Nest *nest = b->step->list.at[i];
        found = nest->var == item->var ? nest : found;
        if (nest->var != item->var && reads(nest->element, item->var))
            return NULL;
    }
    for (int i = 0; i < b->steps->n_arrays && found; i++) {
        const Core *other = part(b->step->result, b->steps->n_arrays, i);
        found = other == item || !reads(other, item->var) ? found : NULL;
    }
    return found;
}

/* Does the step store the array? */
static bool is_stored(const InBlock *b, const Nest *nest)
{
    bool stored = true;
    for (int i = 0; i < b->steps->n_arrays; i++)
        stored &= own_nest(b, part(b->step->result, b->steps->n_arrays, i)) != nest;
    return stored;
}

static int64_t bytes_of(Type array)
{
    while (array->kind == TY_ARRAY)
        array = array->elem;
    bool number = array->kind == TY_SCALAR && array->scalar != SC_BOOL;
    return number ? scalar_bytes(array->scalar) : SHARED_BYTES;
}

static bool same_shape(Type a, Type b)
{
    while (a->kind == TY_ARRAY && b->kind == TY_ARRAY && a->size == b->size) {
        a = a->elem;
        b = b->elem;
    }
    return a->kind != TY_ARRAY && b->kind != TY_ARRAY;
}

/* Finds the shape of the state, and how long its arrays are in shared memory. */
static bool has_room(InBlock *b)
{
    const NestSteps *steps = b->steps;
    Type all = steps->start->type;
    int64_t bytes = 0;
    if (steps->n_arrays > MOST_ARRAYS)
        return false;
    b->array = steps->n_arrays == 1 ? all : all->items[0];
    for (int i = 0; i < steps->n_arrays; i++) {
        Type array = steps->n_arrays == 1 ? all : all->items[i];
        bytes += 2 * bytes_of(array); /* before the step, and after it */
        if (!same_shape(array, b->array))
            return false;
    }
    for (int i = 0; i < b->step->list.n; i++)
        bytes += is_stored(b, b->step->list.at[i]) ? bytes_of(b->step->list.at[i]->var->type) : 0;
    for (Type type = b->array; type->kind == TY_ARRAY; type = type->elem) {
        if (b->n_axes == MOST_RANK)
            return false;
        b->axes[b->n_axes++] = type->size;
    }
    int64_t length = LEAST_CELLS;
    while (2 * length * bytes <= SHARED_BYTES && 2 * length <= costs_of(b->ctx)->of[COST_blockCells])
        length *= 2;
    b->length = nat_const(b->ctx, length);
    bool fits = length * bytes <= SHARED_BYTES && length <= costs_of(b->ctx)->of[COST_blockCells];
    return fits && (steps->n_arrays == 1 || b->n_axes == 1);
}

static bool is_simple(const InBlock *b)
{
    const Nests *step = b->step;
    if (!step->result || !all_light(step->result, b->steps->n_arrays) || !all_light(b->steps->start, b->steps->n_arrays))
        return false;
    for (int i = 0; i < step->list.n; i++) {
        const Nest *nest = step->list.at[i];
        if (nest->n_axes == 0 || nest->n_axes > MOST_RANK || nest->steps || nest->kept || !is_light(nest->element))
            return false;
    }
    return true;
}

/* ---- when ---------------------------------------------------------------------------------------- */

static Nat cells_of(const InBlock *b, int n, const Nat *axes)
{
    Nat cells = nat_const(b->ctx, 1);
    for (int i = 0; i < n; i++)
        cells = nat_mul(b->ctx, cells, axes[i]);
    return cells;
}

static bool want(InBlock *b, Nat least, Nat most, Span span)
{
    NatFacts *known = (NatFacts *)(uintptr_t)b->entry.known;
    if (nat_le(b->ctx, known, least, most))
        return true;
    if (nat_lt(b->ctx, known, most, least))
        return false;
    Core *test = make_compare(b->ctx, P_le, least, most, span), *both[2] = {b->cond, test};
    b->cond = b->cond ? make_prim(b->ctx, P_and, test->type, 0, NULL, 2, both, span) : test;
    nat_fact_le(b->ctx, known, least, most);
    return true;
}

/* That the array fits, and that its rows have elements. */
static bool want_small(InBlock *b, int n, const Nat *axes, Span span)
{
    bool fits = want(b, cells_of(b, n, axes), b->length, span);
    for (int i = 1; i < n && fits; i++)
        fits = want(b, nat_const(b->ctx, 1), axes[i], span);
    return fits;
}

static int nest_axes(const Nest *nest, Nat *axes)
{
    for (int i = 0; i < nest->n_axes; i++)
        axes[i] = nest->axes[i]->type->size;
    return nest->n_axes;
}

static bool find_condition(InBlock *b)
{
    Span span = b->steps->start->span;
    b->entry.known = nat_facts_new(b->ctx, (NatFacts *)(uintptr_t)b->entry.known);
    if (!want_small(b, b->n_axes, b->axes, span))
        return false;
    for (int i = 0; i < b->step->list.n; i++) {
        Nat axes[MOST_RANK];
        int n = nest_axes(b->step->list.at[i], axes);
        if (!want_small(b, n, axes, span))
            return false;
    }
    return true;
}

/* ---- arrays --------------------------------------------------------------------------------------- */

static Core *one_argument(const InBlock *b, PrimId id, Type type, int n_nats, const Nat *nats, Core *arg)
{
    return make_prim(b->ctx, id, type, n_nats, nats, 1, &arg, arg->span);
}

static CoreVar *axis_var(const InBlock *b, const char *name, Nat size, Span span)
{
    CoreVar *var = NEW(b->ctx, CoreVar);
    *var = *make_var(b->ctx, b->next_var, name, type_idx(b->ctx, size), span);
    return var;
}

/* The first elements of a flat array, by these axes. */
static Core *by_axes(const InBlock *b, Core *flat, int n, const Nat *axes)
{
    Nat counts[2] = {flat->type->size, cells_of(b, n, axes)};
    CoreVar *vars[MOST_RANK];
    if (counts[0] != counts[1])
        flat = one_argument(b, P_take, type_array(b->ctx, counts[1], flat->type->elem), 2, counts, flat);
    for (int i = 0; i < n; i++)
        vars[i] = axis_var(b, "i", axes[i], flat->span);
    return rows_split(b->ctx, &b->entry, n, vars, flat, b->next_var);
}

static Core *known_array(void *user, const CoreVar *var)
{
    const InBlock *b = user;
    for (int i = 0; i < b->vars.n; i++)
        if (b->vars.at[i] == var)
            return b->views.at[i];
    return NULL;
}

static void stand_for(InBlock *b, const CoreVar *var, Core *view)
{
    vec_push(b->ctx, &b->vars, var);
    vec_push(b->ctx, &b->views, view);
}

static Core *element_at(const InBlock *b, Core *array, int n, const Nat *at)
{
    if (array->kind == CORE_LET)
        return make_let(b->ctx, array->let.var, array->let.value, element_at(b, array->let.body, n, at));
    for (int i = 0; i < n; i++) {
        bool each = array->kind == CORE_PRIM && array->prim.id == P_generate && array->prim.args[0]->kind == CORE_LAMBDA;
        const Core *f = each ? array->prim.args[0] : NULL;
        array = each ? term_with_nat(b->ctx, b->next_var, f->lambda.body, f->lambda.params[0]->nat, at[i])
                     : make_index(b->ctx, array, at[i], array->span);
    }
    return array;
}

/* Element p of an array over these axes, whose element at given places `of` says. */
typedef Core *(*ElementOf)(const InBlock *b, const void *user, const Nat *at);

static Core *element_flat(const InBlock *b, Nat p, int n, const Nat *axes, ElementOf of, const void *user, Span span)
{
    Nat at[MOST_RANK], left = p;
    for (int i = n - 1; i >= 0; i--) {
        at[i] = i ? nat_mod(b->ctx, left, axes[i]) : left;
        left = i ? nat_div(b->ctx, left, axes[i]) : left;
    }
    TermCopy copy = {.ctx = b->ctx, .next_var = b->next_var, .by = known_array, .user = (void *)(uintptr_t)b};
    Core *element = copy_term(&copy, of(b, user, at));
    element = b->k ? term_with_nat(b->ctx, b->next_var, element, b->steps->step->nat, b->k->nat) : element;
    Nat cells = cells_of(b, n, axes);
    if (cells == b->length)
        return element;
    return make_if(b->ctx, make_compare(b->ctx, P_lt, p, cells, span), element,
                   make_zero(b->ctx, b->next_var, element->type, span), span);
}

static Core *by_threads(const InBlock *b, PrimId kept, Core *array)
{
    CoreVar *x = make_var(b->ctx, b->next_var, "x", array->type->elem, array->span);
    Core *args[2] = {make_function(b->ctx, 1, &x, make_ref(b->ctx, x, array->span)), array};
    array = make_prim(b->ctx, P_mapThreads, array->type, 1, &array->type->size, 2, args, array->span);
    return kept == P_COUNT ? array : one_argument(b, kept, array->type, 0, NULL, array);
}

static Core *flat_array(const InBlock *b, int n, const Nat *axes, ElementOf of, const void *user, Span span)
{
    CoreVar *p = make_var(b->ctx, b->next_var, "p", type_idx(b->ctx, b->length), span);
    return make_generate(b->ctx, p, element_flat(b, p->nat, n, axes, of, user, span), span);
}

/* ---- the parts of the kernel ----------------------------------------------------------------------- */

static Core *nest_element(const InBlock *b, const void *user, const Nat *at);

/* An element of all arrays of the state. */
static Core *state_element(const InBlock *b, const void *user, const Nat *at)
{
    const Core *all = user;
    int n = b->steps->n_arrays;
    Core *items[MOST_ARRAYS];
    for (int i = 0; i < n; i++) {
        const Nest *own = own_nest(b, part(all, n, i));
        items[i] = own ? nest_element(b, own, at) : element_at(b, part(all, n, i), b->n_axes, at);
    }
    return n == 1 ? items[0] : make_tuple(b->ctx, n, items, all->span);
}

static Core *nest_element(const InBlock *b, const void *user, const Nat *at)
{
    const Nest *nest = user;
    Core *element = nest->element;
    for (int i = 0; i < nest->n_axes; i++)
        element = term_with_nat(b->ctx, b->next_var, element, nest->axes[i]->nat, at[i]);
    return element;
}

/* The state's arrays, in the step. */
static void bind_state(InBlock *b, Span span)
{
    int n = b->steps->n_arrays;
    for (int i = 0; i < n; i++) {
        Core *flat = make_ref(b->ctx, b->state, span);
        if (n > 1) {
            CoreVar *p = make_var(b->ctx, b->next_var, "p", type_idx(b->ctx, b->length), span);
            Core *all = make_index(b->ctx, flat, p->nat, span);
            flat = make_generate(b->ctx, p, make_proj(b->ctx, all, i, span), span);
        }
        const CoreVar *var = b->steps->arrays[i];
        Core *view = by_axes(b, flat, b->n_axes, b->axes);
        stand_for(b, var, var->type->kind == TY_ARRAY ? view : make_index(b->ctx, view, nat_const(b->ctx, 0), span));
    }
}

/* A step: arrays that it stores, and the next state. */
static Core *step_term(InBlock *b, Span span)
{
    const Nests *step = b->step;
    CoreVar **vars = NEWN(b->ctx, CoreVar *, step->list.n + 1);
    Core **values = NEWN(b->ctx, Core *, step->list.n + 1); /* NULL: it is not stored */
    for (int i = 0; i < step->list.n; i++) {
        const Nest *nest = step->list.at[i];
        Nat axes[MOST_RANK];
        int n = nest_axes(nest, axes);
        if (!is_stored(b, nest))
            continue;
        values[i] = by_threads(b, P_toShared, flat_array(b, n, axes, nest_element, nest, span));
        vars[i] = make_var(b->ctx, b->next_var, nest->var->name, values[i]->type, span);
        stand_for(b, nest->var, by_axes(b, make_ref(b->ctx, vars[i], span), n, axes));
    }
    Core *next = by_threads(b, P_toPrivate, flat_array(b, b->n_axes, b->axes, state_element, step->result, span));
    CoreVar *var = make_var(b->ctx, b->next_var, "next", next->type, span);
    Core *term = by_threads(b, P_toShared, make_ref(b->ctx, var, span));
    term = make_let(b->ctx, var, next, term);
    for (int i = step->list.n - 1; i >= 0; i--)
        term = values[i] ? make_let(b->ctx, vars[i], values[i], term) : term;
    return term;
}

/* All steps by one block, as an array of one. */
static Core *block_term(InBlock *b)
{
    Ctx *ctx = b->ctx;
    const NestSteps *steps = b->steps;
    Span span = steps->start->span;
    Core *start = by_threads(b, P_toShared, flat_array(b, b->n_axes, b->axes, state_element, steps->start, span));
    Type index = type_idx(ctx, steps->n);
    CoreVar *each = make_var(ctx, b->next_var, "k", index, span);
    b->state = make_var(ctx, b->next_var, "state", start->type, span);
    b->k = make_var(ctx, b->next_var, "k", index, span);
    bind_state(b, span);
    CoreVar *params[2] = {b->state, b->k};
    Core *args[3] = {make_function(ctx, 2, params, step_term(b, span)), start,
                     make_generate(ctx, each, make_ref(ctx, each, span), span)};
    Core *last = make_prim(ctx, P_reduceSeq, start->type, 1, &steps->n, 3, args, span);
    Nat one = nat_const(ctx, 1);
    CoreVar *block = make_var(ctx, b->next_var, "block", type_idx(ctx, one), span);
    CoreVar *of = make_var(ctx, b->next_var, "block", type_idx(ctx, one), span);
    Core *blocks[2] = {make_function(ctx, 1, &block, by_threads(b, P_COUNT, last)),
                       make_generate(ctx, of, make_ref(ctx, of, span), span)};
    return make_prim(ctx, P_mapBlock, type_array(ctx, one, start->type), 1, &one, 2, blocks, span);
}

/* The state after the steps, by a kernel of its own. */
static Core *by_one_block(InBlock *b)
{
    Ctx *ctx = b->ctx;
    Core *blocks = block_term(b);
    Span span = blocks->span;
    Nat nats[2] = {nat_const(ctx, 1), b->length};
    Core *flat = one_argument(b, P_join, blocks->type->elem, 2, nats, blocks);
    Core *state = by_axes(b, flat, b->n_axes, b->axes);
    if (b->steps->n_arrays > 1)
        state = one_argument(b, P_unzip, b->steps->start->type, 1, &state->type->size, state);
    Core *nothing = make_int(ctx, 0, span);
    CoreVar *param = make_var(ctx, b->next_var, "_", nothing->type, span);
    Core *args[2] = {make_function(ctx, 1, &param, state), nothing};
    Core *next = make_prim(ctx, P_nextKernel, state->type, 0, NULL, 2, args, span);
    next->prim.options.threads = nat_const(ctx, THREADS);
    return next;
}

Core *steps_in_block(Ctx *ctx, const CoreEntry *entry, const NestSteps *steps, const Nests *step, Core *repeated,
                     int *next_var)
{
    InBlock b = {.ctx = ctx, .entry = *entry, .steps = steps, .step = step, .next_var = next_var};
    if (!is_simple(&b) || !has_room(&b) || !find_condition(&b))
        return repeated;
    Core *block = by_one_block(&b);
    return b.cond ? make_if(ctx, b.cond, block, repeated, repeated->span) : block;
}
