/* Where values are stored: buffers in memory, and registers. */
#include "codegen/sequences.h"

/* ---- views over components --------------------------------------------------------------------------------------------- */

typedef View *(*LeafMaker)(Lowering *lw, Type type, int component, void *user);

static Type innermost(Type t)
{
    while (t->kind == TY_ARRAY)
        t = t->elem;
    return t;
}

static Type with_innermost(Lowering *lw, Type t, Type inner)
{
    return t->kind == TY_ARRAY ? type_array(lw->ctx, t->size, with_innermost(lw, t->elem, inner)) : inner;
}

/* A view of type t whose components are made one by one, in the order of type_component. */
static View *view_of_leaves(Lowering *lw, Type t, LeafMaker leaf, void *user, int *component, Span span)
{
    Type inner = innermost(t);
    if (inner->kind != TY_TUPLE)
        return leaf(lw, t, (*component)++, user);
    View *v = view_new(lw, t->kind == TY_ARRAY ? VIEW_ZIP : VIEW_TUPLE, t, span);
    v->n = inner->n_items;
    v->items = NEWN(lw->ctx, View *, v->n);
    for (int k = 0; k < v->n; k++)
        v->items[k] = view_of_leaves(lw, with_innermost(lw, t, inner->items[k]), leaf, user, component, span);
    return v;
}

/* One copy of the buffer for each open instance that the space does not separate: a number of copies and this thread's. */
static Nat instance_copies(Lowering *lw, ImpSpace space, Nat *which)
{
    Ctx *ctx = lw->ctx;
    Nat copies = nat_const(ctx, 1);
    *which = nat_const(ctx, 0);
    if (space != SPACE_SHARED && space != SPACE_TEMP)
        return copies;
    const Levels *o = &lw->open;
    struct { bool open; PrimId level; int axis; } parts[] = {
        {o->block[2] && space == SPACE_TEMP, P_mapBlock, 2}, {o->block[1] && space == SPACE_TEMP, P_mapBlock, 1},
        {o->block[0] && space == SPACE_TEMP, P_mapBlock, 0}, {o->global[2], P_mapGlobal, 2}, {o->global[1], P_mapGlobal, 1},
        {o->global[0], P_mapGlobal, 0}, {o->thread[2], P_mapThreads, 2}, {o->thread[1], P_mapThreads, 1}, {o->thread[0], P_mapThreads, 0},
        {o->warp, P_mapWarp, 0}, {o->lane, P_mapLane, 0}};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        if (!parts[k].open)
            continue;
        PrimId level = space == SPACE_SHARED && parts[k].level == P_mapGlobal ? P_mapThreads : parts[k].level;
        Nat count = level_count(lw, level, parts[k].axis);
        *which = nat_add(ctx, nat_mul(ctx, *which, count), level_id(lw, level, parts[k].axis));
        copies = nat_mul(ctx, copies, count);
    }
    return copies;
}

static View *buf_leaf(Lowering *lw, Type t, int component, void *user)
{
    Ctx *ctx = lw->ctx;
    const BufMaker *maker = user;
    Scalar elem = type_scalar_of(ctx, innermost(t));
    const BufLayout *layout = layout_of(lw, maker->options, t, elem);
    Nat which, n = layout_cells(lw, t, layout), copies = instance_copies(lw, maker->space, &which);
    const char *name = maker->several ? ctx_printf(ctx, "%s_%d", maker->name, component + 1) : maker->name;
    ImpBuf *buf = lower_new_buf(lw, maker->space, name, elem, nat_mul(ctx, copies, n), maker->span);
    if (maker->space != SPACE_TEMP)
        buf->component = maker->first + component;
    buf->type = t;
    buf->holds = maker->holds;
    buf->by_value = imp_by_value(maker->space, t);
    View *v = view_new(lw, VIEW_BUF, t, maker->span);
    v->buf = buf;
    v->offset = nat_mul(ctx, which, n);
    v->layout = layout;
    v->row = nat_const(ctx, 0);
    if (maker->space == SPACE_SHARED)
        lower_emit(lw, IS_ALLOC, maker->span)->alloc = buf;
    return v;
}

View *lower_buffers(Lowering *lw, Type t, BufMaker maker)
{
    int component = 0;
    maker.several = type_component_count(t) > 1;
    return view_of_leaves(lw, t, buf_leaf, &maker, &component, maker.span);
}

/* ---- private values -------------------------------------------------------------------------------------------------------- */

bool is_parallel_map(PrimId id) { return id == P_mapGlobal || id == P_mapBlock || id == P_mapThreads || id == P_mapWarp || id == P_mapLane; }
bool is_seq_map(PrimId id) { return id == P_mapSeq || id == P_mapSeqUnroll; }

typedef struct RegMaker {
    int n_dims;
    RegDim *dims;
    int64_t slots;
    Span span;
    const char *name;
    VEC(const Core *) lets; /* around what is looked at */
} RegMaker;

/* The elements that one of `threads` threads has at most; as many as can be counted where they are more. */
static int64_t slots_of(const RegDim *dim, bool placed, int64_t threads)
{
    int64_t last, shift = placed && nat_is_const(dim->place.shift) ? dim->place.shift->value : 0;
    if (!mul_fits(dim->extent->value - 1, dim->place.stride, &last) || !add_fits(last, shift, &last))
        return INT64_MAX;
    return last <= 0 ? 1 : last / threads + 1;
}

static bool private_dim(Lowering *lw, const Core *e, RegMaker *maker)
{
    Ctx *ctx = lw->ctx;
    RegDim *dim = &maker->dims[maker->n_dims];
    bool parallel = is_parallel_map(e->prim.id);
    *dim = (RegDim){.level = parallel ? e->prim.id : P_mapSeq, .axis = e->prim.options.axis, .extent = lower_nat(lw, e->type->size)};
    if (!place_of_map(lw, e, &dim->place))
        return false;
    Nat count = parallel ? level_count(lw, e->prim.id, dim->axis) : nat_const(ctx, 1);
    if (!nat_is_const(dim->extent) || !nat_is_const(count)) {
        Diag *d = lower_error(lw, E0411, e->span, "a private array of %s elements%s: registers need a constant number", nat_text(ctx, dim->extent),
                              nat_is_const(count) ? "" : " over the blocks of a grid");
        diag_help(ctx, d, "split it into pieces of constant size first, or keep it in memory: `toShared` or `toGlobal`");
        return false;
    }
    dim->slots = slots_of(dim, e->prim.options.place != NULL, count->value);
    if (maker->slots > 4096 / dim->slots) {
        int64_t all;
        bool fits = mul_fits(maker->slots, dim->slots, &all);
        Diag *d = lower_error(lw, E0411, e->span, "a private array of %s%lld elements in one thread: no thread has so many registers",
                              fits ? "" : "more than ", (long long)(fits ? all : INT64_MAX));
        diag_help(ctx, d, "keep it in memory: `toShared` or `toGlobal`");
        return false;
    }
    maker->slots *= dim->slots;
    maker->n_dims++;
    return true;
}

/* The dimensions of the registers that hold the array e, from the maps that compute it. False when it has no writer or does not fit. */
static bool private_dims(Lowering *lw, const Core *e, RegMaker *maker)
{
    if (e->type->kind != TY_ARRAY)
        return true;
    switch (e->kind) {
    case CORE_LET:
        vec_push(lw->ctx, &maker->lets, e);
        return private_dims(lw, e->let.body, maker);
    case CORE_VAR:
        for (int i = maker->lets.n - 1; i >= 0; i--)
            if (maker->lets.at[i]->let.var == e->var)
                return private_dims(lw, maker->lets.at[i]->let.value, maker);
        break;
    case CORE_IF: return private_dims(lw, e->cond.then, maker);
    case CORE_PRIM:
        if (prim_rows[e->prim.id].level == LEVEL_MEM)
            return private_dims(lw, e->prim.args[0], maker);
        if (is_parallel_map(e->prim.id) || is_seq_map(e->prim.id))
            return private_dim(lw, e, maker) && private_dims(lw, e->prim.args[0]->lambda.body, maker);
        if (e->prim.id == P_scanSeq || e->prim.id == P_scanSeqExcl)
            return private_dim(lw, e, maker) && private_dims(lw, e->prim.args[1], maker);
        if (e->prim.id == P_reduceSeq || e->prim.id == P_reduceSeqUnroll)
            return private_dims(lw, e->prim.args[1], maker);
        break;
    case CORE_LIT: case CORE_SIZE: case CORE_LAMBDA: case CORE_TUPLE: case CORE_PROJ: case CORE_UNIT_ERROR: break;
    }
    Diag *d = lower_error(lw, E0410, e->span, "nothing computes the elements that are to be stored here");
    d->high = e->kind == CORE_PRIM && prim_rows[e->prim.id].level == LEVEL_HIGH;
    if (e->kind == CORE_PRIM && e->prim.id == P_atomicReduce)
        diag_help(lw->ctx, d, "atomicReduce updates a cell of memory that the threads share: `toShared` instead of `toPrivate`");
    else
        diag_help(lw->ctx, d, "a view alone has no writer: copy with `mapThreads(id)`, `mapLane(id)` or `mapSeq(id)`, whatever level stands here");
    return false;
}

static View *reg_leaf(Lowering *lw, Type t, int component, void *user)
{
    const RegMaker *maker = user;
    (void)component;
    View *v = view_new(lw, VIEW_REG, t, maker->span);
    v->var = lower_new_var(lw, maker->name, type_scalar_of(lw->ctx, innermost(t)), maker->span);
    v->var->slots = (int)maker->slots * type_width(innermost(t));
    v->slot = nat_const(lw->ctx, 0);
    v->dims = maker->dims;
    v->n_dims = maker->n_dims;
    ImpStmt *decl = lower_emit(lw, IS_DECL, maker->span);
    decl->var.var = v->var;
    /* Nothing writes a register of an array without elements. What reads it is never reached, and is C all the same. */
    for (int k = 0; k < maker->n_dims; k++)
        if (nat_is(maker->dims[k].extent, 0) && v->var->slots == 1)
            decl->var.value = imp_lit(lw->ctx, scalar_int(v->var->type, 0), maker->span);
    return v;
}

View *lower_new_private(Lowering *lw, const Core *e, const char *name)
{
    RegMaker maker = {.dims = NEWN(lw->ctx, RegDim, LIMIT_ARRAY_RANK), .slots = 1, .span = e->span, .name = name};
    if (!private_dims(lw, e, &maker))
        return view_error(lw, e->type);
    int component = 0;
    return view_of_leaves(lw, lower_type(lw, e->type), reg_leaf, &maker, &component, e->span);
}

/* toPrivate(e). Layout views around what is computed are kept as views: they move nothing, and the registers stay where they are computed. */
static View *read_private(Lowering *lw, const Core *e)
{
    const char *hint = lw->hint;
    if (e->kind == CORE_LET) {
        const Env *env = lw->env;
        lower_let(lw, e);
        lw->hint = hint;
        View *v = read_private(lw, e->let.body);
        lw->env = env;
        return v;
    }
    if (e->kind == CORE_PRIM && prim_rows[e->prim.id].level == LEVEL_VIEW && e->type->kind == TY_ARRAY && prim_rows[e->prim.id].read[0] &&
        e->prim.n_args == 1)
        return lower_apply_view(lw, e, read_private(lw, e->prim.args[0]));
    if (e->kind == CORE_PRIM && map_is_of_views(e))
        return map_view(lw, e, read_private(lw, e->prim.args[1]));
    if (e->type->kind != TY_ARRAY || (e->kind == CORE_PRIM && prim_rows[e->prim.id].level == LEVEL_SHFL))
        return lower_read(lw, e);
    if (e->kind == CORE_VAR || core_stored_by(lw, e) == P_toPrivate || (e->kind == CORE_PRIM && prim_rows[e->prim.id].level == LEVEL_MEM)) { /* it has a place: perhaps this one */
        View *v = lower_read(lw, e);
        if (v->kind == VIEW_ERROR || view_is_private(v))
            return v;
    }
    lw->hint = NULL;
    View *v = lower_new_private(lw, e, hint ? hint : "value");
    if (v->kind == VIEW_ERROR)
        return v;
    bool failed = lw->failed;
    lw->failed = false;
    lower_write(lw, e, v);
    if (lw->failed) /* what reads them now would only say so again */
        return view_error(lw, e->type);
    lw->failed = failed;
    return v;
}

/* What a map writes to private memory lies where the map runs. */
void lower_place_registers(Lowering *lw, View *acceptor, const Core *map, Placement place)
{
    for (int k = 0; k < acceptor->n; k++)
        lower_place_registers(lw, acceptor->items[k], map, place);
    if (acceptor->source && (acceptor->kind == VIEW_GUARD || acceptor->kind == VIEW_EACH))
        lower_place_registers(lw, acceptor->source, map, place);
    if (acceptor->kind != VIEW_REG || !acceptor->n_dims)
        return;
    RegDim *dim = &acceptor->dims[0];
    Nat count = level_count(lw, map->prim.id, map->prim.options.axis);
    bool plain = place.stride == 1 && nat_is(place.shift, 0);
    Nat last = nat_add(lw->ctx, nat_mul_k(lw->ctx, nat_add_k(lw->ctx, dim->extent, -1), place.stride), place.shift);
    dim->place = place;
    if (!plain && !nat_lt(lw->ctx, lw->facts, last, nat_mul_k(lw->ctx, count, dim->slots))) {
        Diag *d = lower_error(lw, E0404, map->span, "the elements that drop leaves do not fit the registers of their owners");
        diag_help(lw->ctx, d, "keep the array in shared memory: `toShared` before `drop`");
    }
}

/* ---- memory --------------------------------------------------------------------------------------------------------------------- */

View *lower_read_memory(Lowering *lw, const Core *e)
{
    Ctx *ctx = lw->ctx;
    const Core *arg = e->prim.args[0];
    const Levels *o = &lw->open;
    const PrimOptions *opt = &e->prim.options;
    if (e->prim.id == P_toPrivate)
        return read_private(lw, arg);
    if (!layout_check(lw, e))
        return view_error(lw, e->type);
    if (opt->in_place)
        return lower_read_in_place(lw, e);
    bool in_block = o->block[0] || o->block[1] || o->block[2] || o->global[0] || o->global[1] || o->global[2];
    if (e->prim.id == P_toShared && lw->any_block && !in_block) {
        Diag *d = lower_error(lw, E0406, e->span, "toShared stands outside a block: every block has shared memory of its own");
        if (propose_meeting(lw, d, e))
            diag_help(ctx, d, "move it inside mapBlock; to go on with what all blocks have made, they meet first: `lastBlock(fun xs => ...)`, or `nextKernel(fun xs => ...)`");
        else
            diag_help(ctx, d, "move it inside mapBlock, or use `toGlobal`; an argument of `mapBlock(reduceSeq(f, ...))` is computed outside, of `mapBlock(fun part => part |> "
                              "reduceSeq(f, ...))` inside");
        return view_error(lw, e->type);
    }
    if (opt->prefetch && !prefetch_check(lw, e))
        return view_error(lw, e->type);
    int from = lw->out->list.n;
    const char *name = lw->hint ? lw->hint : e->prim.id == P_toShared ? "shared" : "temp";
    lw->hint = NULL;
    View *v = lower_buffers(lw, lower_type(lw, e->type),
                      (BufMaker){.space = e->prim.id == P_toShared ? SPACE_SHARED : SPACE_TEMP, .name = name, .span = e->span, .options = opt});
    lower_write(lw, arg, v);
    if (opt->prefetch)
        prefetch_mark(lw, v, from);
    return v;
}
