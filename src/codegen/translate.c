/* Pass 1, translate: core to imp, by two mutually recursive translations (after DPIA): lower_write(E, A) writes the value of E through
 * acceptor A; lower_read(E) makes E readable and gives a view of it.
 *
 *   mapP f xs written to A   =  for P i { f xs[i] written to A[i] }
 *   reduceSeq op z xs read   =  acc = z; for i { acc = op acc xs[i] }; acc
 *   toMem E read             =  a new buffer, E written to it; the buffer
 *
 * Requires core that core_verify accepts. Establishes: every index is a nat over sizes, ids and loop variables; every store has one writer.
 * Leaves out: barriers, places of shared buffers, names of C. */
#include "codegen/lowering.h"

/* ---- small things ----------------------------------------------------------------------------------------------------- */

Diag *lower_error(Lowering *lw, DiagCode code, Span span, const char *fmt, ...)
{
    va_list args;
    StrBuf text;
    sb_init(&text, lw->ctx);
    va_start(args, fmt);
    sb_vprintf(&text, fmt, args);
    va_end(args);
    lw->failed = true;
    return diag_error(lw->ctx, code, span, "%s", text.text);
}

ImpStmt *lower_emit(Lowering *lw, ImpStmtKind kind, Span span)
{
    if (++lw->n_statements == LIMIT_IMP_STATEMENTS)
        lower_error(lw, E0503, lw->entry->name_span, "`%s` becomes more than %d statements", lw->entry->name, LIMIT_IMP_STATEMENTS);
    return imp_stmt(lw->ctx, lw->out, kind, span);
}

ImpVar *lower_new_var(Lowering *lw, const char *name, Scalar type, Span span)
{
    ImpVar *var = NEW(lw->ctx, ImpVar);
    if (type == SC_F16 || type == SC_BF16)
        lower_error(lw, E0502, span, "%s does not become CUDA in this version", scalar_name(type));
    var->id = lw->kernel->vars.n;
    var->name = name;
    var->type = type;
    var->slots = 1;
    var->span = span;
    vec_push(lw->ctx, &lw->kernel->vars, var);
    return var;
}

ImpBuf *lower_new_buf(Lowering *lw, ImpSpace space, const char *name, Scalar elem, Nat count, Span span)
{
    ImpBuf *buf = NEW(lw->ctx, ImpBuf);
    if (elem == SC_F16 || elem == SC_BF16)
        lower_error(lw, E0502, span, "%s does not become CUDA in this version", scalar_name(elem));
    buf->id = lw->kernel->bufs.n;
    buf->name = name;
    buf->space = space;
    buf->elem = elem;
    buf->count = count;
    buf->span = span;
    buf->group = -1;
    vec_push(lw->ctx, &lw->kernel->bufs, buf);
    return buf;
}

Nat lower_nat(Lowering *lw, Nat nat)
{
    for (const Env *e = lw->env; e && nat->has_vars; e = e->next)
        if (e->nat && e->nat != e->value)
            nat = nat_subst(lw->ctx, nat, e->nat, e->value);
    return nat->has_vars ? nat_simplify(lw->ctx, lw->facts, nat) : nat;
}

Type lower_type(Lowering *lw, Type t)
{
    if (t->kind == TY_ARRAY)
        return type_array(lw->ctx, lower_nat(lw, t->size), lower_type(lw, t->elem));
    return t;
}

ImpExpr *nat_cmp(Lowering *lw, PrimId op, Nat a, Nat b, Span span)
{
    return imp_op2(lw->ctx, op, SC_BOOL, imp_nat(lw->ctx, a, SC_I32, span), imp_nat(lw->ctx, b, SC_I32, span), span);
}

static bool is_nat_comparison(const ImpExpr *e)
{
    return e->kind == IE_OP && e->op.n == 2 && e->op.args[0]->kind == IE_NAT && e->op.args[1]->kind == IE_NAT;
}

bool cond_is(Lowering *lw, ImpExpr *e, bool value)
{
    Ctx *ctx = lw->ctx;
    if (e->kind == IE_LIT)
        return (e->lit.i != 0) == value;
    if (!is_nat_comparison(e))
        return false;
    Nat a = e->op.args[0]->nat, b = e->op.args[1]->nat;
    PrimId op = e->op.id;
    if (op == P_gt || op == P_ge) {
        Nat t = a;
        a = b;
        b = t;
        op = op == P_gt ? P_lt : P_le;
    }
    if (op == P_eq || op == P_ne)
        return (op == P_eq) == value ? nat_equal(ctx, lw->facts, a, b) : nat_lt(ctx, lw->facts, a, b) || nat_lt(ctx, lw->facts, b, a);
    if (op == P_lt)
        return value ? nat_lt(ctx, lw->facts, a, b) : nat_le(ctx, lw->facts, b, a);
    return op == P_le && (value ? nat_le(ctx, lw->facts, a, b) : nat_lt(ctx, lw->facts, b, a));
}

void assume(Lowering *lw, const ImpExpr *e)
{
    Ctx *ctx = lw->ctx;
    if (e->kind == IE_OP && e->op.id == P_and) {
        assume(lw, e->op.args[0]);
        assume(lw, e->op.args[1]);
        return;
    }
    if (!is_nat_comparison(e))
        return;
    Nat a = e->op.args[0]->nat, b = e->op.args[1]->nat;
    if (e->op.id == P_lt)
        nat_fact_le(ctx, lw->facts, nat_add_k(ctx, a, 1), b);
    else if (e->op.id == P_le)
        nat_fact_le(ctx, lw->facts, a, b);
    else if (e->op.id == P_gt)
        nat_fact_le(ctx, lw->facts, nat_add_k(ctx, b, 1), a);
    else if (e->op.id == P_ge)
        nat_fact_le(ctx, lw->facts, b, a);
    else if (e->op.id == P_eq)
        nat_fact_eq(ctx, lw->facts, a, b);
    else if (e->op.id == P_ne)
        nat_fact_ne(ctx, lw->facts, a, b);
}

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

static Nat cell_count(Lowering *lw, Type t)
{
    Nat n = nat_const(lw->ctx, 1);
    for (; t->kind == TY_ARRAY; t = t->elem)
        n = nat_mul(lw->ctx, n, lower_nat(lw, t->size));
    return n;
}

typedef struct BufMaker {
    ImpSpace space;
    const char *name;
    bool several; /* components: number the names */
    Span span;
    int first;    /* component number of the first */
} BufMaker;

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
    Nat which, n = cell_count(lw, t), copies = instance_copies(lw, maker->space, &which);
    const char *name = maker->several ? ctx_printf(ctx, "%s_%d", maker->name, component + 1) : maker->name;
    ImpBuf *buf = lower_new_buf(lw, maker->space, name, type_scalar_of(ctx, innermost(t)), nat_mul(ctx, copies, n), maker->span);
    buf->component = maker->first + component;
    buf->type = t;
    View *v = view_new(lw, VIEW_BUF, t, maker->span);
    v->buf = buf;
    v->offset = nat_mul(ctx, which, n);
    if (maker->space == SPACE_SHARED)
        lower_emit(lw, IS_ALLOC, maker->span)->alloc = buf;
    return v;
}

static View *buffers(Lowering *lw, Type t, BufMaker maker)
{
    int component = 0;
    maker.several = type_component_count(t) > 1;
    return view_of_leaves(lw, t, buf_leaf, &maker, &component, maker.span);
}

/* ---- private values -------------------------------------------------------------------------------------------------------- */

static bool is_parallel_map(PrimId id) { return id == P_mapGlobal || id == P_mapBlock || id == P_mapThreads || id == P_mapWarp || id == P_mapLane; }
static bool is_seq_map(PrimId id) { return id == P_mapSeq || id == P_mapSeqUnroll; }

typedef struct RegMaker {
    int n_dims;
    RegDim *dims;
    int64_t slots;
    Span span;
    const char *name;
} RegMaker;

static bool private_dim(Lowering *lw, const Core *e, RegMaker *maker)
{
    Ctx *ctx = lw->ctx;
    RegDim *dim = &maker->dims[maker->n_dims];
    bool parallel = is_parallel_map(e->prim.id);
    *dim = (RegDim){.level = parallel ? e->prim.id : P_mapSeq, .axis = e->prim.options.axis, .extent = lower_nat(lw, e->type->size), .shift = nat_const(ctx, 0)};
    Nat count = parallel ? level_count(lw, e->prim.id, dim->axis) : nat_const(ctx, 1);
    if (!nat_is_const(dim->extent) || !nat_is_const(count)) {
        Diag *d = lower_error(lw, E0411, e->span, "a private array of %s elements%s: registers need a constant number", nat_text(ctx, dim->extent),
                              nat_is_const(count) ? "" : " over the blocks of a grid");
        diag_help(ctx, d, "split it into pieces of constant size first, or keep it in memory: `toShared` or `toGlobal`");
        return false;
    }
    int64_t m = dim->extent->value;
    dim->slots = m <= 0 ? 1 : (m + count->value - 1) / count->value;
    if (maker->slots > 4096 / dim->slots) {
        Diag *d = lower_error(lw, E0411, e->span, "a private array of %lld elements in one thread: no thread has so many registers",
                              (long long)(maker->slots * dim->slots));
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
    case CORE_LET: return private_dims(lw, e->let.body, maker);
    case CORE_IF: return private_dims(lw, e->cond.then, maker);
    case CORE_PRIM:
        if (prim_rows[e->prim.id].level == LEVEL_MEM)
            return private_dims(lw, e->prim.args[0], maker);
        if (is_parallel_map(e->prim.id) || is_seq_map(e->prim.id))
            return private_dim(lw, e, maker) && private_dims(lw, e->prim.args[0]->lambda.body, maker);
        break;
    case CORE_VAR: case CORE_LIT: case CORE_SIZE: case CORE_LAMBDA: case CORE_TUPLE: case CORE_PROJ: case CORE_UNIT_ERROR: break;
    }
    Diag *d = lower_error(lw, E0410, e->span, "nothing computes the elements that are to be stored here");
    diag_help(lw->ctx, d, "a view alone has no writer: copy with `mapThreads(id)`, `mapLane(id)` or `mapSeq(id)`, whatever level stands here");
    return false;
}

static View *reg_leaf(Lowering *lw, Type t, int component, void *user)
{
    const RegMaker *maker = user;
    (void)component;
    View *v = view_new(lw, VIEW_REG, t, maker->span);
    v->var = lower_new_var(lw, maker->name, type_scalar_of(lw->ctx, innermost(t)), maker->span);
    v->var->slots = (int)maker->slots;
    v->slot = nat_const(lw->ctx, 0);
    v->dims = maker->dims;
    v->n_dims = maker->n_dims;
    lower_emit(lw, IS_DECL, maker->span)->var.var = v->var;
    return v;
}

static View *apply_view(Lowering *lw, const Core *e, View *source);

/* toPrivate(e). Layout views around what is computed are kept as views: they move nothing, and the registers stay where they are computed. */
static View *read_private(Lowering *lw, const Core *e)
{
    const char *hint = lw->hint;
    if (e->kind == CORE_LET) {
        const Env *env = lw->env;
        lw->hint = e->let.var->name;
        View *value = lower_read(lw, e->let.value);
        lower_bind(lw, e->let.var, value, e->let.body);
        lw->hint = hint;
        View *v = read_private(lw, e->let.body);
        lw->env = env;
        return v;
    }
    if (e->kind == CORE_PRIM && prim_rows[e->prim.id].level == LEVEL_VIEW && e->type->kind == TY_ARRAY && prim_rows[e->prim.id].read[0] &&
        e->prim.n_args == 1)
        return apply_view(lw, e, read_private(lw, e->prim.args[0]));
    if (e->type->kind != TY_ARRAY || (e->kind == CORE_PRIM && prim_rows[e->prim.id].level == LEVEL_SHFL))
        return lower_read(lw, e);
    if (e->kind == CORE_VAR || (e->kind == CORE_PRIM && prim_rows[e->prim.id].level == LEVEL_MEM)) {
        View *v = lower_read(lw, e);
        if (v->kind == VIEW_ERROR || view_is_private(v))
            return v;
    }
    RegMaker maker = {.dims = NEWN(lw->ctx, RegDim, LIMIT_ARRAY_RANK), .slots = 1, .span = e->span, .name = hint ? hint : "value"};
    lw->hint = NULL;
    if (!private_dims(lw, e, &maker))
        return view_error(lw, e->type);
    int component = 0;
    View *v = view_of_leaves(lw, lower_type(lw, e->type), reg_leaf, &maker, &component, e->span);
    lower_write(lw, e, v);
    return v;
}

/* What a map writes to private memory lies where the map runs. */
static void place_registers(Lowering *lw, View *acceptor, const Core *map, Nat shift)
{
    for (int k = 0; k < acceptor->n; k++)
        place_registers(lw, acceptor->items[k], map, shift);
    if (acceptor->source && acceptor->kind == VIEW_GUARD)
        place_registers(lw, acceptor->source, map, shift);
    if (acceptor->kind != VIEW_REG || !acceptor->n_dims)
        return;
    RegDim *dim = &acceptor->dims[0];
    Nat count = level_count(lw, map->prim.id, map->prim.options.axis);
    dim->shift = shift;
    if (!nat_is(shift, 0) && !nat_le(lw->ctx, lw->facts, nat_add(lw->ctx, dim->extent, shift), nat_mul_k(lw->ctx, count, dim->slots))) {
        Diag *d = lower_error(lw, E0404, map->span, "the elements that drop leaves do not fit the registers of their owners");
        diag_help(lw->ctx, d, "keep the array in shared memory: `toShared` before `drop`");
    }
}

/* ---- memory --------------------------------------------------------------------------------------------------------------------- */

static View *read_memory(Lowering *lw, const Core *e)
{
    Ctx *ctx = lw->ctx;
    const Core *arg = e->prim.args[0];
    const Levels *o = &lw->open;
    const PrimOptions *opt = &e->prim.options;
    if (opt->pad || opt->swizzle || opt->in_place) {
        Diag *d = lower_error(lw, E0501, e->span, "%s[%s] does not become CUDA in this version", prim_name(e->prim.id),
                              opt->pad ? "pad" : opt->swizzle ? "swizzle" : "inPlace");
        diag_help(ctx, d, "leave the brackets out: `%s`", prim_name(e->prim.id));
        return view_error(lw, e->type);
    }
    if (e->prim.id == P_toPrivate)
        return read_private(lw, arg);
    bool in_block = o->block[0] || o->block[1] || o->block[2] || o->global[0] || o->global[1] || o->global[2];
    if (e->prim.id == P_toShared && lw->any_block && !in_block) {
        Diag *d = lower_error(lw, E0406, e->span, "toShared stands outside a block: every block has shared memory of its own");
        diag_help(ctx, d, "move it inside mapBlock, or use `toGlobal`");
        return view_error(lw, e->type);
    }
    const char *name = lw->hint ? lw->hint : e->prim.id == P_toShared ? "shared" : "temp";
    lw->hint = NULL;
    View *v = buffers(lw, lower_type(lw, e->type),
                      (BufMaker){.space = e->prim.id == P_toShared ? SPACE_SHARED : SPACE_TEMP, .name = name, .span = e->span});
    lower_write(lw, arg, v);
    return v;
}

/* ---- shuffles --------------------------------------------------------------------------------------------------------------------- */

static View *shuffle_component(Lowering *lw, const Core *e, View *source)
{
    Ctx *ctx = lw->ctx;
    Levels saved = lw->open;
    lw->open.lane = true;
    ImpExpr *own = view_scalar(lw, view_at(lw, source, lw->kernel->lane));
    lw->open = saved;
    ImpVar *var = lower_new_var(lw, "other", own->type, e->span);
    var->constant = true;
    ImpStmt *s = lower_emit(lw, IS_DECL, e->span);
    s->var.var = var;
    s->var.value = imp_shfl(ctx, e->prim.id, lower_nat(lw, e->prim.nats[0]), own, e->span);
    View *v = view_new(lw, VIEW_REG, source->type, e->span);
    v->var = var;
    v->slot = nat_const(ctx, 0);
    v->n_dims = 1;
    v->dims = NEW(ctx, RegDim);
    *v->dims = (RegDim){.level = P_mapLane, .extent = nat_const(ctx, 32), .slots = 1, .shift = nat_const(ctx, 0)};
    return v;
}

/* All lanes execute it, here: what consumes it may run in fewer. */
static View *read_shuffle(Lowering *lw, const Core *e)
{
    Ctx *ctx = lw->ctx;
    View *source = lower_read(lw, e->prim.args[0]);
    if (source->kind == VIEW_ERROR)
        return source;
    if (lw->open.lane || !lw->open.warp) {
        Diag *d = lower_error(lw, E0412, e->span, lw->open.lane ? "a shuffle inside mapLane: it works on the 32 values of a whole warp"
                                                                : "a shuffle outside a warp");
        diag_help(ctx, d, lw->open.lane ? "move it out: `xs |> mapLane(f) |> toPrivate |> %s(...) |> mapLane(g)`"
                                        : "put it inside mapWarp: `split(32) |> mapWarp(fun part => ...)`", prim_name(e->prim.id));
        return view_error(lw, e->type);
    }
    if (!view_is_private(source) || !view_owner_shift(lw, source, P_mapLane, 0)) {
        Diag *d = lower_error(lw, E0413, e->prim.args[0]->span, "a shuffle needs one private element in each lane");
        diag_label(ctx, d, "these values are not in the lanes' registers");
        diag_help(ctx, d, "put them there first: `mapLane(id) |> toPrivate |> %s(...)`", prim_name(e->prim.id));
        return view_error(lw, e->type);
    }
    Type elem = e->type->elem;
    if (elem->kind != TY_TUPLE)
        return shuffle_component(lw, e, source);
    View *v = view_new(lw, VIEW_ZIP, e->type, e->span);
    v->n = elem->n_items;
    v->items = NEWN(ctx, View *, v->n);
    for (int k = 0; k < v->n; k++) {
        if (!type_is_scalar_like(elem->items[k])) {
            lower_error(lw, E0501, e->span, "a shuffle of nested tuples does not become CUDA in this version");
            return view_error(lw, e->type);
        }
        v->items[k] = shuffle_component(lw, e, view_proj(lw, source, k));
    }
    return v;
}

/* ---- binding --------------------------------------------------------------------------------------------------------------------------- */

/* How often the value of var (component k, or -1: any) is read; more than once also when a function of a pattern reads it. */
static int count_uses(const Core *e, const CoreVar *var, int k)
{
    int n = 0;
    switch (e->kind) {
    case CORE_VAR: return e->var == var;
    case CORE_LIT: case CORE_SIZE: case CORE_UNIT_ERROR: return 0;
    case CORE_PRIM:
        for (int i = 0; i < e->prim.n_args; i++)
            n += count_uses(e->prim.args[i], var, k);
        return n;
    case CORE_LAMBDA: return 2 * count_uses(e->lambda.body, var, k);
    case CORE_LET: return count_uses(e->let.value, var, k) + count_uses(e->let.body, var, k);
    case CORE_TUPLE:
        for (int i = 0; i < e->tuple.n; i++)
            n += count_uses(e->tuple.items[i], var, k);
        return n;
    case CORE_PROJ:
        if (e->proj.value->kind == CORE_VAR && e->proj.value->var == var)
            return k < 0 || e->proj.index == k;
        return count_uses(e->proj.value, var, k);
    case CORE_IF: return count_uses(e->cond.cond, var, k) + count_uses(e->cond.then, var, k) + count_uses(e->cond.otherwise, var, k);
    }
    return n;
}

static void push_env(Lowering *lw, const CoreVar *var, View *view, Nat nat, Nat value)
{
    Env *env = NEW(lw->ctx, Env);
    *env = (Env){lw->env, var, view, nat, value};
    lw->env = env;
}

static bool is_trivial(const ImpExpr *e) { return e->kind == IE_LIT || e->kind == IE_NAT || e->kind == IE_VAR; }

/* A scalar that is read several times is computed once, in a register. */
static View *in_register(Lowering *lw, View *view, const char *name, int uses)
{
    ImpExpr *value = view_scalar(lw, view);
    View *v = view_new(lw, VIEW_SCALAR, view->type, view->span);
    v->expr = value;
    if (uses <= 1 || is_trivial(value))
        return v;
    ImpVar *var = lower_new_var(lw, name, value->type, view->span);
    var->constant = var->named = true;
    ImpStmt *s = lower_emit(lw, IS_DECL, view->span);
    s->var.var = var;
    s->var.value = value;
    v->expr = imp_var(lw->ctx, var, nat_const(lw->ctx, 0), view->span);
    return v;
}

void lower_bind(Lowering *lw, const CoreVar *var, View *view, const Core *scope)
{
    Ctx *ctx = lw->ctx;
    if (view->kind == VIEW_ERROR) {
        push_env(lw, var, view, var->nat, var->nat);
        return;
    }
    if (var->nat && var->type->kind == TY_IDX) {
        View *v = in_register(lw, view, var->name, 1);
        Nat value;
        if (v->expr->kind == IE_NAT)
            value = v->expr->nat;
        else {
            ImpVar *reg = lower_new_var(lw, var->name, v->expr->type, view->span);
            reg->constant = true;
            reg->nat = nat_var(ctx, var->name, nat_const(ctx, 0), nat_add_k(ctx, lower_nat(lw, var->type->size), -1));
            ImpStmt *s = lower_emit(lw, IS_DECL, view->span);
            s->var.var = reg;
            s->var.value = v->expr;
            value = reg->nat;
            v->expr = imp_nat(ctx, value, v->expr->type, view->span);
        }
        push_env(lw, var, v, var->nat, value);
        return;
    }
    if (type_is_scalar_like(view->type))
        view = in_register(lw, view, var->name, count_uses(scope, var, -1));
    else if (view->type->kind == TY_TUPLE) {
        View *v = view_new(lw, VIEW_TUPLE, view->type, view->span);
        v->n = view->type->n_items;
        v->items = NEWN(ctx, View *, v->n);
        for (int k = 0; k < v->n; k++) {
            v->items[k] = view_proj(lw, view, k);
            if (type_is_scalar_like(view->type->items[k]))
                v->items[k] = in_register(lw, v->items[k], ctx_printf(ctx, "%s_%d", var->name, k + 1), count_uses(scope, var, k));
        }
        view = v;
    }
    push_env(lw, var, view, NULL, NULL);
}

View *lower_apply_read(Lowering *lw, const Core *lambda, const Env *env, int n, View **args)
{
    const Env *saved = lw->env;
    lw->env = env;
    for (int k = 0; k < n; k++)
        lower_bind(lw, lambda->lambda.params[k], args[k], lambda->lambda.body);
    View *v = lower_read(lw, lambda->lambda.body);
    lw->env = saved;
    return v;
}

/* ---- reading ------------------------------------------------------------------------------------------------------------------------------ */

static View *scalar_view(Lowering *lw, Type type, ImpExpr *e)
{
    View *v = view_new(lw, VIEW_SCALAR, type, e->span);
    v->expr = e;
    return v;
}

/* Names are compiler-made for one-letter parameters: they say nothing outside the lambda. */
static const char *acc_name(Lowering *lw, const Core *lambda, int k, int n)
{
    const char *name = lambda->lambda.params[0]->name;
    if (!name || strlen(name) < 2)
        name = "acc";
    return n > 1 ? ctx_printf(lw->ctx, "%s_%d", name, k + 1) : name;
}

typedef struct Fold {
    const Core *lambda;
    View *acc, *xs;
    const Env *env;
    int n;
    ImpVar **vars;
} Fold;

static int scalar_components(Type t)
{
    if (t->kind != TY_TUPLE)
        return type_is_scalar_like(t) ? 1 : -1;
    for (int k = 0; k < t->n_items; k++)
        if (!type_is_scalar_like(t->items[k]))
            return -1;
    return t->n_items;
}

static View *component(Lowering *lw, View *v, int k, int n) { return n == 1 && v->type->kind != TY_TUPLE ? v : view_proj(lw, v, k); }

static void emit_set(Lowering *lw, ImpVar *var, ImpExpr *value, Span span)
{
    ImpStmt *s = lower_emit(lw, IS_SET, span);
    s->var.var = var;
    s->var.slot = nat_const(lw->ctx, 0);
    s->var.value = value;
}

static void fold_step(Lowering *lw, Nat i, void *user)
{
    Fold *fold = user;
    Ctx *ctx = lw->ctx;
    View *args[2] = {fold->acc, view_at(lw, fold->xs, i)};
    View *next = lower_apply_read(lw, fold->lambda, fold->env, 2, args);
    if (next->kind == VIEW_ERROR)
        return;
    ImpExpr *values[LIMIT_TUPLE_ITEMS];
    for (int k = 0; k < fold->n; k++) {
        values[k] = view_scalar(lw, component(lw, next, k, fold->n));
        if (fold->n > 1) { /* all of the old state is read before any of it changes */
            ImpVar *var = lower_new_var(lw, ctx_printf(ctx, "next_%d", k + 1), values[k]->type, fold->lambda->span);
            var->constant = true;
            ImpStmt *s = lower_emit(lw, IS_DECL, fold->lambda->span);
            s->var.var = var;
            s->var.value = values[k];
            values[k] = imp_var(ctx, var, nat_const(ctx, 0), fold->lambda->span);
        }
    }
    for (int k = 0; k < fold->n; k++)
        emit_set(lw, fold->vars[k], values[k], fold->lambda->span);
}

static bool unrolled(Lowering *lw, const Core *e, Nat n, bool *ok)
{
    *ok = true;
    if (e->prim.id != P_mapSeqUnroll && e->prim.id != P_reduceSeqUnroll)
        return false;
    if (nat_is_const(n) && n->value <= LIMIT_UNROLL_TRIPS)
        return true;
    Diag *d = lower_error(lw, E0414, e->span, "%s over %s elements: only a constant number up to %d is written out", prim_name(e->prim.id),
                          nat_text(lw->ctx, n), LIMIT_UNROLL_TRIPS);
    diag_help(lw->ctx, d, "use `%s`", e->prim.id == P_mapSeqUnroll ? "mapSeq" : "reduceSeq");
    return *ok = false;
}

static View *read_reduce(Lowering *lw, const Core *e)
{
    Ctx *ctx = lw->ctx;
    bool ok;
    Nat size = lower_nat(lw, e->prim.args[2]->type->size);
    bool unroll = unrolled(lw, e, size, &ok);
    Fold fold = {.lambda = e->prim.args[0], .env = lw->env, .n = scalar_components(e->type)};
    if (fold.n < 0) {
        Diag *d = lower_error(lw, E0501, e->span, "%s with an accumulator of type %s does not become CUDA in this version", prim_name(e->prim.id),
                              type_text(ctx, e->type));
        diag_help(ctx, d, "accumulate scalars or tuples of scalars");
        return view_error(lw, e->type);
    }
    fold.xs = lower_read(lw, e->prim.args[2]);
    View *init = lower_read(lw, e->prim.args[1]);
    if (!ok || fold.xs->kind == VIEW_ERROR || init->kind == VIEW_ERROR)
        return view_error(lw, e->type);
    lw->hint = NULL;
    View *items[LIMIT_TUPLE_ITEMS];
    fold.vars = NEWN(ctx, ImpVar *, fold.n);
    for (int k = 0; k < fold.n; k++) {
        ImpExpr *start = view_scalar(lw, component(lw, init, k, fold.n));
        fold.vars[k] = lower_new_var(lw, acc_name(lw, fold.lambda, k, fold.n), start->type, e->span);
        ImpStmt *s = lower_emit(lw, IS_DECL, e->span);
        s->var.var = fold.vars[k];
        s->var.value = start;
        items[k] = scalar_view(lw, e->type->kind == TY_TUPLE ? e->type->items[k] : e->type, imp_var(ctx, fold.vars[k], nat_const(ctx, 0), e->span));
    }
    if (e->type->kind == TY_TUPLE) {
        fold.acc = view_new(lw, VIEW_TUPLE, e->type, e->span);
        fold.acc->n = fold.n;
        fold.acc->items = NEWN(ctx, View *, fold.n);
        memcpy(fold.acc->items, items, sizeof *items * (size_t)fold.n);
    } else
        fold.acc = items[0];
    seq_each(lw, e, size, unroll, fold_step, &fold);
    return fold.acc;
}

static View *apply_view(Lowering *lw, const Core *e, View *source)
{
    Ctx *ctx = lw->ctx;
    Type type = lower_type(lw, e->type);
    if (source->kind == VIEW_ERROR)
        return source;
    const Nat *nats = e->prim.nats;
    View *v;
    switch (e->prim.id) {
    case P_id: return source;
    case P_unzip:
        v = view_new(lw, VIEW_TUPLE, type, e->span);
        v->n = 2;
        v->items = NEWN(ctx, View *, 2);
        v->items[0] = view_proj(lw, source, 0);
        v->items[1] = view_proj(lw, source, 1);
        return v;
    case P_index: return view_at(lw, source, lower_nat(lw, nats[1]));
    case P_padCst: case P_padTo:
        v = view_new(lw, VIEW_PAD, type, e->span);
        v->size = lower_nat(lw, nats[0]);
        v->lo = e->prim.id == P_padCst ? lower_nat(lw, nats[1]) : nat_const(ctx, 0);
        v->source = source;
        v->other = lower_read(lw, e->prim.args[0]);
        return v->other->kind == VIEW_ERROR ? v->other : v;
    default: break;
    }
    if (prim_rows[e->prim.id].read[0])
        return view_map(lw, e, source, type, false);
    lower_error(lw, E0501, e->span, "%s does not become CUDA in this version", prim_name(e->prim.id));
    return view_error(lw, type);
}

static View *read_view_prim(Lowering *lw, const Core *e)
{
    Ctx *ctx = lw->ctx;
    PrimId id = e->prim.id;
    Core **args = e->prim.args;
    Type type = lower_type(lw, e->type);
    View *v;
    switch (id) {
    case P_zip: case P_zip3: case P_zip4:
        v = view_new(lw, VIEW_ZIP, type, e->span);
        v->n = e->prim.n_args;
        v->items = NEWN(ctx, View *, v->n);
        for (int k = 0; k < v->n; k++) {
            v->items[k] = lower_read(lw, args[k]);
            if (v->items[k]->kind == VIEW_ERROR)
                return v->items[k];
        }
        return v;
    case P_generate:
        v = view_new(lw, VIEW_GEN, type, e->span);
        v->lambda = args[0];
        v->env = lw->env;
        return v;
    case P_gather: case P_reorder:
        v = view_new(lw, VIEW_GATHER, type, e->span);
        v->source = lower_read(lw, args[1]);
        v->size = args[1]->type->size;
        if (id == P_gather)
            v->other = lower_read(lw, args[0]);
        else {
            v->other = view_new(lw, VIEW_GEN, type_array(ctx, type->size, type_idx(ctx, type->size)), e->span);
            v->other->lambda = args[0];
            v->other->env = lw->env;
        }
        return v->source->kind == VIEW_ERROR ? v->source : v->other->kind == VIEW_ERROR ? v->other : v;
    case P_concat:
        v = view_new(lw, VIEW_CONCAT, type, e->span);
        v->source = lower_read(lw, args[0]);
        v->other = lower_read(lw, args[1]);
        v->lo = lower_nat(lw, args[0]->type->size);
        return v->source->kind == VIEW_ERROR ? v->source : v->other->kind == VIEW_ERROR ? v->other : v;
    default: return apply_view(lw, e, lower_read(lw, args[e->prim.n_args - 1]));
    }
}

static View *read_scalar_prim(Lowering *lw, const Core *e)
{
    Ctx *ctx = lw->ctx;
    if (!type_is_scalar_like(e->type) || e->type->kind == TY_VEC) {
        lower_error(lw, E0501, e->span, "%s on values of type %s does not become CUDA in this version", prim_name(e->prim.id), type_text(ctx, e->type));
        return view_error(lw, e->type);
    }
    ImpExpr *args[8];
    for (int k = 0; k < e->prim.n_args; k++) {
        View *v = lower_read(lw, e->prim.args[k]);
        if (v->kind == VIEW_ERROR)
            return v;
        args[k] = view_scalar(lw, v);
    }
    Scalar type = type_scalar_of(ctx, e->type);
    ImpExpr *value = e->prim.id == P_cast ? imp_cast(ctx, type, args[0], e->span) : imp_op(ctx, e->prim.id, type, e->prim.n_args, args, e->span);
    for (int k = 0; e->prim.id != P_cast && k < 2; k++)
        if (cond_is(lw, value, k == 0))
            value = imp_lit(ctx, scalar_int(SC_BOOL, k == 0), e->span);
    return scalar_view(lw, e->type, value);
}

static View *read_if(Lowering *lw, const Core *e)
{
    Ctx *ctx = lw->ctx;
    View *c = lower_read(lw, e->cond.cond);
    if (c->kind == VIEW_ERROR)
        return c;
    ImpExpr *cond = view_scalar(lw, c);
    if (cond_is(lw, cond, true))
        return lower_read(lw, e->cond.then);
    if (cond_is(lw, cond, false))
        return lower_read(lw, e->cond.otherwise);
    int n = scalar_components(e->type);
    ImpBlock sides[2] = {{{0}}}, *out = lw->out;
    NatFacts *facts = lw->facts;
    View *views[2];
    ImpExpr *values[2][LIMIT_TUPLE_ITEMS];
    for (int k = 0; k < 2; k++) {
        lw->out = &sides[k];
        lw->facts = nat_facts_new(ctx, facts);
        if (k == 0)
            assume(lw, cond);
        views[k] = lower_read(lw, k ? e->cond.otherwise : e->cond.then);
        for (int i = 0; i < n && views[k]->kind != VIEW_ERROR; i++)
            values[k][i] = view_scalar(lw, component(lw, views[k], i, n));
    }
    lw->out = out;
    lw->facts = facts;
    for (int k = 0; k < 2; k++)
        if (views[k]->kind == VIEW_ERROR)
            return views[k];
    bool plain = !sides[0].list.n && !sides[1].list.n;
    if (n < 0 && !plain) {
        Diag *d = lower_error(lw, E0411, e->span, "an array that `if` chooses is computed here but stored nowhere");
        diag_help(ctx, d, "store the chosen one: `toShared(if ... )` or `toPrivate(if ...)`");
        return view_error(lw, e->type);
    }
    if (n < 0) {
        View *v = view_new(lw, VIEW_COND, e->type, e->span);
        v->cond = cond;
        v->source = views[0];
        v->other = views[1];
        return v;
    }
    View *result = view_new(lw, VIEW_TUPLE, e->type, e->span);
    result->n = n;
    result->items = NEWN(ctx, View *, n);
    ImpVar *vars[LIMIT_TUPLE_ITEMS] = {NULL};
    for (int i = 0; i < n && !plain; i++) {
        vars[i] = lower_new_var(lw, "chosen", values[0][i]->type, e->span);
        lower_emit(lw, IS_DECL, e->span)->var.var = vars[i];
    }
    if (!plain) {
        ImpStmt *s = lower_emit(lw, IS_IF, e->span);
        s->branch.cond = cond;
        for (int k = 0; k < 2; k++) {
            lw->out = &sides[k];
            for (int i = 0; i < n; i++)
                emit_set(lw, vars[i], values[k][i], e->span);
        }
        lw->out = out;
        s->branch.then = sides[0];
        s->branch.otherwise = sides[1];
    }
    for (int i = 0; i < n; i++) {
        Type t = e->type->kind == TY_TUPLE ? e->type->items[i] : e->type;
        result->items[i] = scalar_view(lw, t, plain ? imp_cond(ctx, cond, values[0][i], values[1][i], e->span)
                                                    : imp_var(ctx, vars[i], nat_const(ctx, 0), e->span));
    }
    return e->type->kind == TY_TUPLE ? result : result->items[0];
}

static View *read_prim(Lowering *lw, const Core *e)
{
    Ctx *ctx = lw->ctx;
    PrimId id = e->prim.id;
    switch (prim_rows[id].level) {
    case LEVEL_VIEW: return read_view_prim(lw, e);
    case LEVEL_SCALAR: return read_scalar_prim(lw, e);
    case LEVEL_MEM: return read_memory(lw, e);
    case LEVEL_SHFL:
        if (id == P_shflDown || id == P_shflUp || id == P_shflXor)
            return read_shuffle(lw, e);
        break;
    case LEVEL_SEQ:
        if (id == P_reduceSeq || id == P_reduceSeqUnroll)
            return read_reduce(lw, e);
        break;
    case LEVEL_HIGH: case LEVEL_GRID: case LEVEL_BLOCK: case LEVEL_THREAD: case LEVEL_WARP: case LEVEL_LANE: break;
    }
    if (!prim_is_lowered(id)) {
        Diag *d = lower_error(lw, E0501, e->span, "%s does not become CUDA in this version", prim_name(id));
        diag_help(ctx, d, prim_rows[id].level == LEVEL_HIGH ? "say how: mapGlobal, mapBlock, mapThreads, mapWarp, mapLane, mapSeq and reduceSeq; `--device ref` runs it as it is"
                                                            : "`--device ref` runs it");
    } else {
        Diag *d = lower_error(lw, E0415, e->span, "%s computes an array that is read here but stored nowhere", prim_name(id));
        diag_label(ctx, d, "its elements live nowhere");
        diag_help(ctx, d, "store it: `%s(...) |> %s`", prim_name(id),
                  id == P_mapGlobal || id == P_mapBlock ? "toGlobal" : id == P_mapLane || is_seq_map(id) ? "toPrivate" : "toShared");
    }
    return view_error(lw, e->type);
}

View *lower_read(Lowering *lw, const Core *e)
{
    Ctx *ctx = lw->ctx;
    switch (e->kind) {
    case CORE_VAR:
        for (const Env *env = lw->env; env; env = env->next)
            if (env->var == e->var)
                return env->view;
        break;
    case CORE_LIT: return scalar_view(lw, e->type, imp_lit(ctx, e->lit, e->span));
    case CORE_SIZE: return scalar_view(lw, e->type, imp_nat(ctx, lower_nat(lw, e->size), type_scalar_of(ctx, e->type), e->span));
    case CORE_PRIM: return read_prim(lw, e);
    case CORE_LET: {
        const Env *env = lw->env;
        const char *hint = lw->hint;
        lw->hint = e->let.var->name;
        View *value = lower_read(lw, e->let.value);
        lw->hint = hint;
        lower_bind(lw, e->let.var, value, e->let.body);
        View *v = lower_read(lw, e->let.body);
        lw->env = env;
        return v;
    }
    case CORE_TUPLE: {
        View *v = view_new(lw, VIEW_TUPLE, e->type, e->span);
        v->n = e->tuple.n;
        v->items = NEWN(ctx, View *, v->n);
        for (int k = 0; k < v->n; k++) {
            v->items[k] = lower_read(lw, e->tuple.items[k]);
            if (v->items[k]->kind == VIEW_ERROR)
                return v->items[k];
        }
        return v;
    }
    case CORE_PROJ: return view_proj(lw, lower_read(lw, e->proj.value), e->proj.index);
    case CORE_IF: return read_if(lw, e);
    case CORE_LAMBDA: case CORE_UNIT_ERROR: break;
    }
    return view_error(lw, e->type);
}

/* ---- writing -------------------------------------------------------------------------------------------------------------------------------- */

typedef struct MapWrite {
    const Core *map;
    View *xs, *acceptor;
    const Env *env;
} MapWrite;

static void map_step(Lowering *lw, Nat i, void *user)
{
    const MapWrite *w = user;
    const Core *f = w->map->prim.args[0];
    const Env *saved = lw->env;
    lw->env = w->env;
    lower_bind(lw, f->lambda.params[0], view_at(lw, w->xs, i), f->lambda.body);
    lower_write(lw, f->lambda.body, view_at(lw, w->acceptor, i));
    lw->env = saved;
}

static void write_map(Lowering *lw, const Core *e, View *acceptor)
{
    MapWrite w = {e, lower_read(lw, e->prim.args[1]), acceptor, lw->env};
    PrimId id = e->prim.id;
    Nat n = lower_nat(lw, e->type->size);
    if (w.xs->kind == VIEW_ERROR || acceptor->kind == VIEW_ERROR)
        return;
    ImpStmt *note = lower_emit(lw, IS_NOTE, e->span);
    note->note = prim_name(id);
    if (is_seq_map(id)) {
        bool ok, unroll = unrolled(lw, e, n, &ok);
        if (ok)
            seq_each(lw, e, n, unroll, map_step, &w);
        return;
    }
    if (e->prim.options.place) {
        Diag *d = lower_error(lw, E0501, e->span, "mapThreads[place = ...] does not become CUDA in this version");
        diag_help(lw->ctx, d, "leave the brackets out: element i goes to thread i");
        return;
    }
    Nat shift = view_owner_shift(lw, w.xs, id, e->prim.options.axis);
    if (!shift)
        shift = nat_const(lw->ctx, 0);
    place_registers(lw, acceptor, e, shift);
    level_each(lw, e, n, shift, map_step, &w);
}

/* Views on the writing side: the source is written through the inverse map. */
static bool write_view(Lowering *lw, const Core *e, View *acceptor)
{
    const Core *source = e->prim.args[e->prim.n_args - 1];
    View *v;
    switch (e->prim.id) {
    case P_id: lower_write(lw, source, acceptor); return true;
    case P_zip: case P_zip3: case P_zip4:
        for (int k = 0; k < e->prim.n_args; k++)
            lower_write(lw, e->prim.args[k], view_proj(lw, acceptor, k));
        return true;
    case P_unzip:
        v = view_new(lw, VIEW_ZIP, source->type, e->span);
        v->n = 2;
        v->items = NEWN(lw->ctx, View *, 2);
        v->items[0] = view_proj(lw, acceptor, 0);
        v->items[1] = view_proj(lw, acceptor, 1);
        lower_write(lw, source, v);
        return true;
    default: break;
    }
    if (!prim_rows[e->prim.id].write[0])
        return false;
    lower_write(lw, source, view_map(lw, e, acceptor, lower_type(lw, source->type), true));
    return true;
}

static void no_writer(Lowering *lw, const Core *e)
{
    Diag *d = lower_error(lw, E0410, e->span, "nothing computes the elements of this array");
    bool padded = e->kind == CORE_PRIM && (e->prim.id == P_padTo || e->prim.id == P_padCst || e->prim.id == P_concat);
    diag_label(lw->ctx, d, padded ? "the padding has no writer" : "a layout view alone has no writer");
    const Levels *o = &lw->open;
    diag_help(lw->ctx, d, "copy its elements at the level that stands here: `|> %s(id)`",
              o->warp && !o->lane ? "mapLane" : o->block[0] && !o->warp && !o->thread[0] ? "mapThreads" : o->thread[0] || o->lane || o->global[0] ? "mapSeq" : "mapGlobal");
}

static void write_scalars(Lowering *lw, const Core *e, View *acceptor)
{
    View *v = lower_read(lw, e);
    int n = scalar_components(e->type);
    if (v->kind == VIEW_ERROR)
        return;
    if (n < 0) { /* a tuple of arrays that is not taken apart */
        no_writer(lw, e);
        return;
    }
    ImpExpr *values[LIMIT_TUPLE_ITEMS];
    for (int k = 0; k < n; k++)
        values[k] = view_scalar(lw, component(lw, v, k, n));
    for (int k = 0; k < n; k++)
        view_store(lw, component(lw, acceptor, k, n), values[k], e->span);
}

static void write_if(Lowering *lw, const Core *e, View *acceptor)
{
    Ctx *ctx = lw->ctx;
    View *c = lower_read(lw, e->cond.cond);
    if (c->kind == VIEW_ERROR)
        return;
    ImpExpr *cond = view_scalar(lw, c);
    if (cond_is(lw, cond, true) || cond_is(lw, cond, false)) {
        lower_write(lw, cond_is(lw, cond, true) ? e->cond.then : e->cond.otherwise, acceptor);
        return;
    }
    ImpStmt *s = lower_emit(lw, IS_IF, e->span);
    s->branch.cond = cond;
    ImpBlock *out = lw->out;
    NatFacts *facts = lw->facts;
    for (int k = 0; k < 2; k++) {
        lw->out = k ? &s->branch.otherwise : &s->branch.then;
        lw->facts = nat_facts_new(ctx, facts);
        if (k == 0)
            assume(lw, cond);
        lower_write(lw, k ? e->cond.otherwise : e->cond.then, acceptor);
    }
    lw->out = out;
    lw->facts = facts;
}

void lower_write(Lowering *lw, const Core *e, View *acceptor)
{
    if (acceptor->kind == VIEW_ERROR)
        return;
    bool array = e->type->kind == TY_ARRAY;
    switch (e->kind) {
    case CORE_LET: {
        const Env *env = lw->env;
        lw->hint = e->let.var->name;
        View *value = lower_read(lw, e->let.value);
        lw->hint = NULL;
        lower_bind(lw, e->let.var, value, e->let.body);
        lower_write(lw, e->let.body, acceptor);
        lw->env = env;
        return;
    }
    case CORE_IF:
        if (scalar_components(e->type) < 0) {
            write_if(lw, e, acceptor);
            return;
        }
        break;
    case CORE_TUPLE:
        if (scalar_components(e->type) < 0) {
            for (int k = 0; k < e->tuple.n; k++)
                lower_write(lw, e->tuple.items[k], view_proj(lw, acceptor, k));
            return;
        }
        break;
    case CORE_PRIM:
        if (is_parallel_map(e->prim.id) || is_seq_map(e->prim.id)) {
            write_map(lw, e, acceptor);
            return;
        }
        if (e->prim.id == P_single || e->prim.id == P_unzip || (array && prim_rows[e->prim.id].level == LEVEL_VIEW)) {
            if (write_view(lw, e, acceptor))
                return;
        } else if (array && prim_rows[e->prim.id].level == LEVEL_MEM) { /* what is stored further on is computed in place */
            lower_write(lw, e->prim.args[0], acceptor);
            return;
        } else if (array && prim_rows[e->prim.id].level != LEVEL_SHFL) {
            lower_read(lw, e); /* says why not */
            return;
        }
        break;
    case CORE_VAR: case CORE_LIT: case CORE_SIZE: case CORE_LAMBDA: case CORE_PROJ: case CORE_UNIT_ERROR: break;
    }
    if (array)
        no_writer(lw, e);
    else
        write_scalars(lw, e, acceptor);
}

/* ---- the pass ---------------------------------------------------------------------------------------------------------------------------------- */

void pass_translate(Lowering *lw)
{
    Ctx *ctx = lw->ctx;
    const CoreEntry *entry = lw->entry;
    ImpKernel *kernel = NEW(ctx, ImpKernel);
    kernel->name = entry->name;
    kernel->entry = entry;
    lw->kernel = kernel;
    lw->out = &kernel->body;
    lw->facts = nat_facts_new(ctx, (NatFacts *)entry->known);
    vec_push(ctx, &lw->program->kernels, kernel);
    launch_plan(lw);
    View *result = buffers(lw, entry->result, (BufMaker){.space = SPACE_OUTPUT, .name = "result", .span = entry->name_span});
    int first = 0;
    for (int i = 0; i < entry->n_inputs; i++) {
        CoreVar *var = entry->inputs[i];
        View *v = buffers(lw, var->type, (BufMaker){.space = SPACE_INPUT, .name = var->name, .span = var->span, .first = first});
        first += type_component_count(var->type);
        lower_bind(lw, var, v, entry->body);
    }
    lower_write(lw, entry->body, result);
}
