/* Where the state of a sequential pattern lies. See Note [State]. */
#include "codegen/sequences.h"

/* ---- what a term says about its place ------------------------------------------------------------------------------------ */

static bool is_layout(const Core *e)
{
    return e->kind == CORE_PRIM && prim_rows[e->prim.id].level == LEVEL_VIEW && e->prim.n_args == 1 && prim_rows[e->prim.id].read[0];
}

static bool is_fold(const Core *e) { return e->kind == CORE_PRIM && (e->prim.id == P_reduceSeq || e->prim.id == P_reduceSeqUnroll); }
static bool is_scan(const Core *e) { return e->kind == CORE_PRIM && (e->prim.id == P_scanSeq || e->prim.id == P_scanSeqExcl); }
static bool is_map(const Core *e) { return e->kind == CORE_PRIM && (is_parallel_map(e->prim.id) || is_seq_map(e->prim.id)); }

/* The term that a variable is bound to by a let, and so on. */
static const Core *behind(Lowering *lw, const Core *e)
{
    for (const Env *env = lw->env; env && e->kind == CORE_VAR; env = env->next)
        if (env->var == e->var && env->let)
            e = env->let->let.value;
    return e;
}

PrimId core_stored_by(Lowering *lw, const Core *e)
{
    e = behind(lw, e);
    switch (e->kind) {
    case CORE_LET: return core_stored_by(lw, e->let.body);
    case CORE_IF: {
        PrimId then = core_stored_by(lw, e->cond.then);
        return then == P_COUNT ? core_stored_by(lw, e->cond.otherwise) : then;
    }
    case CORE_TUPLE: { /* of its arrays, when all agree */
        PrimId all = P_COUNT;
        for (int k = 0; k < e->tuple.n; k++) {
            if (type_is_scalar_like(e->tuple.items[k]->type))
                continue;
            PrimId one = core_stored_by(lw, e->tuple.items[k]);
            if (one == P_COUNT || (all != P_COUNT && all != one))
                return P_COUNT;
            all = one;
        }
        return all;
    }
    case CORE_PRIM:
        if (prim_rows[e->prim.id].level == LEVEL_MEM)
            return e->prim.id;
        if (prim_rows[e->prim.id].level == LEVEL_SHFL)
            return P_toPrivate;
        if (is_layout(e))
            return core_stored_by(lw, e->prim.args[0]);
        if (is_fold(e)) {
            PrimId start = core_stored_by(lw, e->prim.args[1]);
            return start == P_COUNT ? core_stored_by(lw, e->prim.args[0]->lambda.body) : start;
        }
        return e->prim.id == P_iterate ? core_stored_by(lw, e->prim.args[0]->lambda.body) : P_COUNT;
    case CORE_VAR: case CORE_LIT: case CORE_SIZE: case CORE_LAMBDA: case CORE_PROJ: case CORE_UNIT_ERROR: break;
    }
    return P_COUNT;
}

bool core_is_fresh(Lowering *lw, const Core *e)
{
    switch (e->kind) {
    case CORE_LET: return core_is_fresh(lw, e->let.body);
    case CORE_TUPLE:
        for (int k = 0; k < e->tuple.n; k++)
            if (!type_is_scalar_like(e->tuple.items[k]->type) && !core_is_fresh(lw, e->tuple.items[k]))
                return false;
        return true;
    case CORE_VAR:
        for (const Env *env = lw->env; env; env = env->next)
            if (env->var == e->var)
                return env->once;
        return false;
    case CORE_PRIM: {
        PrimLevel level = prim_rows[e->prim.id].level;
        if (level == LEVEL_MEM || level == LEVEL_VIEW) {
            bool fresh = e->prim.n_args > 0 && !e->prim.options.in_place;
            for (int k = 0; k < e->prim.n_args; k++)
                fresh &= core_is_fresh(lw, e->prim.args[k]);
            return fresh;
        }
        return is_map(e) || is_fold(e) || is_scan(e) || level == LEVEL_SHFL;
    }
    case CORE_IF: case CORE_LIT: case CORE_SIZE: case CORE_LAMBDA: case CORE_PROJ: case CORE_UNIT_ERROR: break;
    }
    return false;
}

static const Core *component(Lowering *lw, const Core *e, int k)
{
    while (e->kind == CORE_LET)
        e = e->let.body;
    e = behind(lw, e);
    return e->kind == CORE_TUPLE ? e->tuple.items[k] : NULL;
}

/* Start and step, component by component: do they say one place? */
static bool places_agree(Lowering *lw, const Core *fold, Type type, const Core *start, const Core *step)
{
    if (type->kind == TY_TUPLE) {
        for (int k = 0; k < type->n_items; k++) {
            const Core *a = component(lw, start, k), *b = component(lw, step, k);
            if (a && b && !places_agree(lw, fold, type->items[k], a, b))
                return false;
        }
        return true;
    }
    if (type->kind != TY_ARRAY)
        return true;
    PrimId a = core_stored_by(lw, start), b = core_stored_by(lw, step);
    if (a != P_COUNT && b != P_COUNT && a != b) {
        Diag *d = lower_error(lw, E0440, step->span, "the accumulator of %s starts in one place, and each step stores it in another", prim_name(fold->prim.id));
        diag_label(lw->ctx, d, "the step says %s", prim_name(b));
        diag_note(lw->ctx, d, start->span, "the start says %s", prim_name(a));
        diag_help(lw->ctx, d, "say the same of both: `... |> %s`", prim_name(b));
        return false;
    }
    return true;
}

/* ---- places -------------------------------------------------------------------------------------------------------------------- */

bool view_is_place(const View *v)
{
    switch (v->kind) {
    case VIEW_REG: case VIEW_BUF: return true;
    case VIEW_TUPLE: case VIEW_ZIP:
        for (int k = 0; k < v->n; k++)
            if (!view_is_place(v->items[k]))
                return false;
        return true;
    case VIEW_MAP: return !strchr(prim_rows[v->prim->prim.id].read, '|') && view_is_place(v->source);
    case VIEW_PROJ: return view_is_place(v->source);
    case VIEW_ERROR: case VIEW_SCALAR: case VIEW_PAD: case VIEW_COND: case VIEW_GEN: case VIEW_EACH: case VIEW_GATHER: case VIEW_ATOMIC: case VIEW_CONCAT: case VIEW_GUARD:
    case VIEW_VECTOR: case VIEW_AS_VECTOR: case VIEW_AS_SCALAR: case VIEW_WINDOWS: case VIEW_RING: break;
    }
    return false;
}

typedef View *(*LeafFn)(Lowering *lw, const View *leaf, void *user);

/* The same view over other registers and buffers. */
static View *replace_leaves(Lowering *lw, View *v, LeafFn fn, void *user)
{
    if (v->kind == VIEW_REG || v->kind == VIEW_BUF)
        return fn(lw, v, user);
    View *copy = NEW(lw->ctx, View);
    *copy = *v;
    if (v->n) {
        copy->items = NEWN(lw->ctx, View *, v->n);
        for (int k = 0; k < v->n; k++)
            copy->items[k] = replace_leaves(lw, v->items[k], fn, user);
    }
    if (v->source)
        copy->source = replace_leaves(lw, v->source, fn, user);
    return copy;
}

static int64_t slot_count(const View *reg)
{
    Type cell = reg->type;
    while (cell->kind == TY_ARRAY)
        cell = cell->elem;
    int64_t n = type_width(cell);
    for (int k = 0; k < reg->n_dims; k++)
        n *= reg->dims[k].slots;
    return n;
}

static View *new_registers(Lowering *lw, const View *like, const char *name, int slots)
{
    View *v = NEW(lw->ctx, View);
    *v = *like;
    v->var = lower_new_var(lw, name, like->var->type, like->span);
    v->var->slots = slots;
    v->dims = NEWN(lw->ctx, RegDim, like->n_dims);
    for (int k = 0; k < like->n_dims; k++)
        v->dims[k] = like->dims[k];
    lower_emit(lw, IS_DECL, like->span)->var.var = v->var;
    return v;
}

static View *next_leaf(Lowering *lw, const View *leaf, void *user)
{
    StateLeaves *leaves = user;
    for (int i = 0; i < leaves->list.n; i++) {
        const StateLeaf *known = &leaves->list.at[i];
        if ((leaf->var && known->now.var == leaf->var) || (leaf->buf && known->now.buf == leaf->buf))
            return (View *)known->next.view;
    }
    View *v;
    if (leaf->kind == VIEW_REG)
        v = new_registers(lw, leaf, "next", leaf->var->slots);
    else {
        const ImpBuf *buf = leaf->buf;
        v = NEW(lw->ctx, View);
        *v = *leaf;
        v->buf = lower_new_buf(lw, buf->space, buf->name, buf->elem, buf->count, buf->span);
        v->buf->component = buf->component;
        v->buf->type = buf->type;
        if (buf->space == SPACE_SHARED)
            lower_emit(lw, IS_ALLOC, leaf->span)->alloc = v->buf;
    }
    vec_push(lw->ctx, &leaves->list, ((StateLeaf){{leaf->var, leaf->buf, leaf}, {v->var, v->buf, v}}));
    return v;
}

View *state_like(Lowering *lw, View *state, StateLeaves *leaves) { return replace_leaves(lw, state, next_leaf, leaves); }

static View *other_leaf(Lowering *lw, const View *leaf, void *user)
{
    const StateLeaf *change = user;
    (void)lw;
    return (View *)(leaf->kind == VIEW_REG && leaf->var == change->now.var ? change->next.view : leaf);
}

View *state_replace(Lowering *lw, View *state, const StateLeaf *leaf) { return replace_leaves(lw, state, other_leaf, (void *)leaf); }

typedef struct Shift {
    const ImpBuf *buf;
    Nat by;
} Shift;

static View *shift_leaf(Lowering *lw, const View *leaf, void *user)
{
    const Shift *shift = user;
    if (leaf->kind != VIEW_BUF || leaf->buf != shift->buf)
        return (View *)leaf;
    View *v = NEW(lw->ctx, View);
    *v = *leaf;
    v->offset = nat_add(lw->ctx, leaf->offset, shift->by);
    return v;
}

View *state_shift(Lowering *lw, View *state, const ImpBuf *buf, Nat by)
{
    Shift shift = {buf, by};
    return replace_leaves(lw, state, shift_leaf, &shift);
}

/* ---- the start --------------------------------------------------------------------------------------------------------------------- */

/* Names are compiler-made for one-letter parameters: they say nothing outside the lambda. */
const char *state_name(Lowering *lw, const Core *lambda, int k, int n)
{
    const CoreVar *var = lambda->lambda.params[0];
    const char *name = var->name, *part = n > 1 && var->parts && var->type->kind == TY_TUPLE && var->type->n_items == n ? var->parts[k] : NULL;
    if (part && strlen(part) >= 2)
        return part;
    if (!name || strlen(name) < 2)
        name = "acc";
    return n > 1 ? ctx_printf(lw->ctx, "%s_%d", name, k + 1) : name;
}

static View *scalar_state(Lowering *lw, View *start, const char *name)
{
    Value value = value_of(lw, start, name);
    View *v = view_new(lw, VIEW_REG, start->type, start->span);
    v->var = lower_new_var(lw, name, value.parts[0]->type, start->span);
    v->var->slots = value.n;
    v->slot = nat_const(lw->ctx, 0);
    lower_emit(lw, IS_DECL, start->span)->var.var = v->var;
    for (int k = 0; k < value.n; k++) {
        ImpStmt *s = lower_emit(lw, IS_SET, start->span);
        s->var.var = v->var;
        s->var.slot = nat_const(lw->ctx, k);
        s->var.value = value.parts[k];
    }
    return v;
}

typedef struct LeafNames {
    const char *name;
    int n, given; /* leaves; those of several are numbered */
} LeafNames;

static int count_leaves(const View *v)
{
    if (v->kind == VIEW_REG || v->kind == VIEW_BUF)
        return 1;
    int n = v->source ? count_leaves(v->source) : 0;
    for (int k = 0; k < v->n; k++)
        n += count_leaves(v->items[k]);
    return n;
}

static const char *next_leaf_name(Lowering *lw, LeafNames *names)
{
    names->given++;
    return names->n > 1 ? ctx_printf(lw->ctx, "%s_%d", names->name, names->given) : names->name;
}

static View *compact_leaf(Lowering *lw, const View *leaf, void *user)
{
    View *v = new_registers(lw, leaf, next_leaf_name(lw, user), (int)slot_count(leaf));
    v->slot = nat_const(lw->ctx, 0);
    return v;
}

/* The steps go on with it, under their own name. */
static View *mutable_leaf(Lowering *lw, const View *leaf, void *user)
{
    const char *name = next_leaf_name(lw, user);
    if (leaf->var) {
        leaf->var->constant = false;
        leaf->var->name = name;
    } else if (leaf->buf)
        leaf->buf->name = name;
    return (View *)leaf;
}

/* The value as state that the steps may change. */
static View *own_state(Lowering *lw, const Core *fold, const Core *start, View *v, bool fresh, const char *name)
{
    if (v->kind == VIEW_ERROR)
        return v;
    if (type_is_scalar_like(v->type))
        return scalar_state(lw, v, name);
    if (v->type->kind == TY_TUPLE) {
        View *own = view_new(lw, VIEW_TUPLE, v->type, v->span);
        own->n = v->type->n_items;
        own->items = NEWN(lw->ctx, View *, own->n);
        for (int k = 0; k < own->n; k++) {
            own->items[k] = own_state(lw, fold, start, view_proj(lw, v, k), fresh, ctx_printf(lw->ctx, "%s_%d", name, k + 1));
            if (own->items[k]->kind == VIEW_ERROR)
                return own->items[k];
        }
        return own;
    }
    LeafNames names = {name, count_leaves(v), 0};
    if (fresh && view_is_place(v))
        return replace_leaves(lw, v, mutable_leaf, &names);
    if (view_is_place(v) && view_is_private(v)) {
        View *own = replace_leaves(lw, v, compact_leaf, &names);
        copy_registers(lw, v, own, v->span);
        return own;
    }
    Diag *d = lower_error(lw, E0441, start->span, "the accumulator of %s has no place of its own", prim_name(fold->prim.id));
    diag_label(lw->ctx, d, "%s", view_is_place(v) ? "this array is used elsewhere too, and the steps would change it" : "nothing copies these elements");
    if (lw->entry->costs) /* the scheduler has put the fold there */
        diag_help(lw->ctx, d, "the scheduler folds numbers, and tuples of them: `transpose |> map(reduce(op, unit))` folds arrays element by element, with an operator of two elements");
    else
        diag_help(lw->ctx, d, "copy it: `... |> mapThreads(id) |> toShared`, or `mapSeq(id) |> toPrivate`, whatever level stands here");
    return view_error(lw, v->type);
}

View *state_start(Lowering *lw, const Core *fold, View *into)
{
    const Core *lambda = fold->prim.args[0], *step = lambda->lambda.body, *start = fold->prim.args[1];
    if (!places_agree(lw, fold, fold->type, start, step))
        return view_error(lw, fold->type);
    if (into) {
        if (!state_check_owners(lw, start, into))
            return view_error(lw, fold->type);
        lower_write(lw, start, into);
        return into;
    }
    lw->hint = state_name(lw, lambda, 0, 1);
    View *v = lower_read(lw, start);
    lw->hint = NULL;
    return own_state(lw, fold, start, v, core_is_fresh(lw, start), state_name(lw, lambda, 0, 1));
}

/* ---- who holds what --------------------------------------------------------------------------------------------------------------------- */

static bool has_parallel_map(const Core *e)
{
    switch (e->kind) {
    case CORE_LET: return has_parallel_map(e->let.value) || has_parallel_map(e->let.body);
    case CORE_PRIM:
        if (is_parallel_map(e->prim.id))
            return true;
        for (int k = 0; k < e->prim.n_args; k++)
            if (has_parallel_map(e->prim.args[k]))
                return true;
        return false;
    case CORE_LAMBDA: return has_parallel_map(e->lambda.body);
    case CORE_TUPLE:
        for (int k = 0; k < e->tuple.n; k++)
            if (has_parallel_map(e->tuple.items[k]))
                return true;
        return false;
    case CORE_PROJ: return has_parallel_map(e->proj.value);
    case CORE_IF: return has_parallel_map(e->cond.then) || has_parallel_map(e->cond.otherwise);
    case CORE_VAR: case CORE_LIT: case CORE_SIZE: case CORE_UNIT_ERROR: break;
    }
    return false;
}

/* Does the term hand its elements to those that hold dims? */
static bool dims_match(Lowering *lw, const Core *e, const RegDim *dims, int n)
{
    if (n == 0)
        return true;
    switch (e->kind) {
    case CORE_LET: return dims_match(lw, e->let.body, dims, n);
    case CORE_IF: return dims_match(lw, e->cond.then, dims, n) && dims_match(lw, e->cond.otherwise, dims, n);
    case CORE_VAR: case CORE_PROJ: return true; /* is copied, when its registers are alike */
    case CORE_PRIM:
        if (prim_rows[e->prim.id].level == LEVEL_MEM)
            return dims_match(lw, e->prim.args[0], dims, n);
        if (is_fold(e))
            return dims_match(lw, e->prim.args[1], dims, n) && dims_match(lw, e->prim.args[0]->lambda.body, dims, n);
        if (is_map(e) || is_scan(e)) {
            bool parallel = is_parallel_map(e->prim.id);
            return dims->level == (parallel ? e->prim.id : P_mapSeq) && (!parallel || dims->axis == e->prim.options.axis) &&
                   dims_match(lw, e->prim.args[0]->lambda.body, dims + 1, n - 1);
        }
        if (prim_rows[e->prim.id].level == LEVEL_SHFL)
            return dims->level == P_mapLane;
        break;
    case CORE_LIT: case CORE_SIZE: case CORE_LAMBDA: case CORE_TUPLE: case CORE_UNIT_ERROR: break;
    }
    for (int k = 0; k < n; k++)
        if (dims[k].level != P_mapSeq)
            return false;
    return !has_parallel_map(e);
}

static const View *first_registers(const View *v)
{
    if (v->kind == VIEW_REG)
        return v;
    for (int k = 0; k < v->n; k++) {
        const View *found = first_registers(v->items[k]);
        if (found)
            return found;
    }
    return v->source ? first_registers(v->source) : NULL;
}

static bool owners_match(Lowering *lw, const Core *e, const View *state)
{
    if (type_is_scalar_like(e->type))
        return true;
    if (e->kind == CORE_LET)
        return owners_match(lw, e->let.body, state);
    if (e->kind == CORE_IF)
        return owners_match(lw, e->cond.then, state) && owners_match(lw, e->cond.otherwise, state);
    if (e->kind == CORE_PRIM && prim_rows[e->prim.id].level == LEVEL_MEM)
        return owners_match(lw, e->prim.args[0], state);
    if (e->kind == CORE_TUPLE || (e->kind == CORE_PRIM && (e->prim.id == P_zip || e->prim.id == P_zip3 || e->prim.id == P_zip4))) {
        int n = e->kind == CORE_TUPLE ? e->tuple.n : e->prim.n_args;
        for (int k = 0; k < n && state->n == n; k++)
            if (!owners_match(lw, e->kind == CORE_TUPLE ? e->tuple.items[k] : e->prim.args[k], state->items[k]))
                return false;
        return true;
    }
    if (is_layout(e) && state->kind == VIEW_MAP && state->prim->prim.id == e->prim.id)
        return owners_match(lw, e->prim.args[0], state->source);
    if (e->type->kind == TY_TUPLE)
        return true; /* its items are written one by one */
    const View *reg = first_registers(state);
    return !reg || dims_match(lw, e, reg->dims, reg->n_dims);
}

bool state_check_owners(Lowering *lw, const Core *step, const View *state)
{
    if (owners_match(lw, step, state))
        return true;
    Diag *d = lower_error(lw, E0442, step->span, "this gives the accumulator's elements to other threads than hold them");
    const View *reg = first_registers(state);
    diag_note(lw->ctx, d, reg->span, "the accumulator lies in the registers that this fills");
    diag_help(lw->ctx, d, "compute the start and each step by the same maps, or keep the accumulator in shared memory: `toShared` for both");
    return false;
}

/* ---- copying ------------------------------------------------------------------------------------------------------------------------------- */

static bool same_dim(Lowering *lw, const RegDim *a, const RegDim *b)
{
    return a->level == b->level && a->axis == b->axis && a->slots == b->slots && nat_equal(lw->ctx, lw->facts, a->extent, b->extent) &&
           a->place.stride == b->place.stride && nat_equal(lw->ctx, lw->facts, a->place.shift, b->place.shift);
}

static bool same_nats(const View *a, const View *b)
{
    for (int k = 0; k < a->prim->prim.n_nats; k++)
        if (a->prim->prim.id != b->prim->prim.id || a->nats[k] != b->nats[k])
            return false;
    return a->prim->prim.id == b->prim->prim.id;
}

static bool held_alike(Lowering *lw, const View *a, const View *b)
{
    if (a->kind != b->kind || a->n != b->n || (a->kind == VIEW_REG && (a->n_dims != b->n_dims || a->var->type != b->var->type)))
        return false;
    if (a->kind == VIEW_REG) {
        for (int k = 0; k < a->n_dims; k++)
            if (!same_dim(lw, &a->dims[k], &b->dims[k]))
                return false;
        return true;
    }
    for (int k = 0; k < a->n; k++)
        if (!held_alike(lw, a->items[k], b->items[k]))
            return false;
    if (a->kind == VIEW_MAP)
        return same_nats(a, b) && a->writing == b->writing && !a->got && !b->got && held_alike(lw, a->source, b->source);
    return a->kind == VIEW_TUPLE || a->kind == VIEW_ZIP;
}

/* to[slot] = from[slot], n slots. */
static void move_slots(Lowering *lw, ImpVar *to, Nat to_slot, ImpVar *from, Nat from_slot, int64_t n, Span span)
{
    Ctx *ctx = lw->ctx;
    Nat slot = nat_const(ctx, 0);
    ImpBlock *out = lw->out;
    if (n > 1) {
        ImpStmt *loop = lower_emit(lw, IS_FOR, span);
        slot = nat_var(ctx, "i", nat_const(ctx, 0), nat_const(ctx, n - 1));
        loop->loop.var = slot;
        loop->loop.lo = nat_const(ctx, 0);
        loop->loop.hi = nat_const(ctx, n);
        loop->loop.step = nat_const(ctx, 1);
        loop->loop.level = P_mapSeq;
        loop->loop.unroll = true;
        lw->out = &loop->loop.body;
    }
    ImpStmt *s = lower_emit(lw, IS_SET, span);
    s->var.var = to;
    s->var.slot = nat_add(ctx, to_slot, slot);
    s->var.value = imp_var(ctx, from, nat_add(ctx, from_slot, slot), span);
    lw->out = out;
}

static void copy_slots(Lowering *lw, const View *from, const View *to, Span span)
{
    for (int k = 0; k < from->n; k++)
        copy_slots(lw, from->items[k], to->items[k], span);
    if (from->kind == VIEW_MAP)
        copy_slots(lw, from->source, to->source, span);
    if (from->kind == VIEW_REG)
        move_slots(lw, to->var, to->slot, from->var, from->slot, slot_count(from), span);
}

void registers_rotate(Lowering *lw, const View *array, int64_t n, Span span)
{
    for (int k = 0; k < array->n; k++)
        registers_rotate(lw, array->items[k], n, span);
    int64_t slots = slot_count(array);
    if (array->kind == VIEW_REG && n > 1)
        move_slots(lw, array->var, array->slot, array->var, nat_add_k(lw->ctx, array->slot, slots / n), slots / n * (n - 1), span);
}

bool copy_registers(Lowering *lw, const View *from, const View *to, Span span)
{
    if (!held_alike(lw, from, to))
        return false;
    copy_slots(lw, from, to, span);
    return true;
}

typedef struct PrivateCopy {
    View *from, *to;
    Span span;
} PrivateCopy;

static void copy_element(Lowering *lw, Nat i, void *user)
{
    const PrivateCopy *c = user;
    copy_private(lw, view_at(lw, c->from, i), view_at(lw, c->to, i), c->span);
}

bool copy_private(Lowering *lw, View *from, View *to, Span span)
{
    Ctx *ctx = lw->ctx;
    if (type_is_scalar_like(from->type)) {
        value_store(lw, to, value_of(lw, from, "v"), span);
        return true;
    }
    if (!view_is_private(from))
        return false;
    if (from->kind == VIEW_TUPLE || from->kind == VIEW_ZIP) {
        for (int k = 0; k < from->n; k++)
            if (!copy_private(lw, from->items[k], view_proj(lw, to, k), span))
                return false;
        return true;
    }
    if (from->kind == VIEW_MAP && !from->got && prim_rows[from->prim->prim.id].write[0])
        return copy_private(lw, from->source, view_inverse(lw, from, to), span);
    if (from->kind != VIEW_REG)
        return false;
    RegDim *dim = &from->dims[0];
    PrivateCopy c = {from, to, span};
    Core *map = NEW(ctx, Core); /* stands for the map that filled the registers */
    *map = (Core){.kind = CORE_PRIM, .span = span, .type = from->type};
    map->prim.id = dim->level;
    map->prim.options.axis = dim->axis;
    if (dim->level == P_mapSeq)
        seq_each(lw, map, dim->extent, false, copy_element, &c);
    else
        level_each(lw, map, dim->extent, dim->place, copy_element, &c);
    return true;
}
