/* Values that the lanes of a warp exchange in registers. All lanes execute a shuffle, where it stands in the program: what consumes its result may run
 * in fewer. */
#include "codegen/lowering.h"

/* ---- where a shuffle may stand ---------------------------------------------------------------------------------------------- */

static bool has_array(Type t)
{
    bool found = t->kind == TY_ARRAY;
    for (int k = 0; t->kind == TY_TUPLE && k < t->n_items; k++)
        found |= has_array(t->items[k]);
    return found;
}

/* False when `source` cannot be exchanged here (diagnosed). */
static bool may_shuffle(Lowering *lw, const Core *e, const View *source)
{
    Ctx *ctx = lw->ctx;
    const char *name = prim_name(e->prim.id);
    Span span = e->prim.args[e->prim.n_args - 1]->span;
    Diag *d = NULL;
    if (lw->open.lane || !lw->open.warp) {
        d = lower_error(lw, E0412, e->span, lw->open.lane ? "a shuffle inside mapLane: it works on the 32 values of a whole warp" : "a shuffle outside a warp");
        diag_help(ctx, d, lw->open.lane ? "move it out: `xs |> mapLane(f) |> toPrivate |> %s(...) |> mapLane(g)`"
                                        : "put it inside mapWarp: `split(32) |> mapWarp(fun part => part |> mapLane(f) |> toPrivate |> %s(...) |> mapLane(g)) |> join`", name);
    } else if (!nat_equal(ctx, lw->facts, lower_nat(lw, source->type->size), nat_const(ctx, lw->kernel->lanes))) {
        d = lower_error(lw, E0413, span, "`%s` takes %s values, and mapWarp gives an element to %d lanes here", name, nat_text(ctx, lower_nat(lw, source->type->size)), lw->kernel->lanes);
        Nat n = lower_nat(lw, source->type->size);
        bool more = nat_is_const(n) && n->value > lw->kernel->lanes;
        const char *fewer = ctx_printf(ctx, "put `padTo(%d, e)` before their first `mapLane`, with an e that changes no result", lw->kernel->lanes);
        const char *share = ctx_printf(ctx, "let each lane fold several of them first: `split(k) |> mapLane(reduceSeq(op, e)) |> toPrivate`, with %d rows of k", lw->kernel->lanes);
        if (e->prim.id == P_reduceWarp)
            diag_help(ctx, d, "%s%s", lanes_fit(n) ? ctx_printf(ctx, "let as many lanes compute an element, `mapWarp[lanes = %s]`, or ", nat_text(ctx, n)) : "", more ? share : fewer);
        else
            diag_help(ctx, d, "a part of a warp has `reduceWarp`; the other shuffles are for whole warps: `mapWarp` without `lanes`");
    } else if (view_is_private(source) && !view_owner(lw, source, P_mapLane, 0).stride) {
        d = lower_error(lw, E0413, span, "a shuffle needs element i in lane i");
        diag_label(ctx, d, "these private values lie elsewhere");
        diag_help(ctx, d, "put them into the lanes through shared memory: `toShared` instead of `toPrivate`, then `mapLane(id) |> toPrivate |> %s(...)`; `shfl` rearranges lanes", name);
    } else if (!view_is_private(source)) {
        d = lower_error(lw, E0413, span, "a shuffle needs one private element in each lane");
        diag_label(ctx, d, "these values are not in the lanes' registers");
        diag_help(ctx, d, "put them there first: `mapLane(id) |> toPrivate |> %s(...)`", name);
    } else if (has_array(source->type->elem)) {
        d = lower_error(lw, E0413, span, "a shuffle exchanges one scalar, or a tuple of them, of each lane");
        diag_label(ctx, d, "here each lane has %s", type_text(ctx, source->type->elem));
        diag_help(ctx, d, "shuffle the elements one by one, each from an array `32.t`, or exchange the arrays through shared memory: `toShared`");
    }
    return !d;
}

/* ---- registers of lanes --------------------------------------------------------------------------------------------------------- */

static ImpVar *role_var(Lowering *lw, ImpRole role, Scalar type, Span span)
{
    static const char *const names[] = {[ROLE_NONE] = "source", [ROLE_OWN] = "value", [ROLE_OTHER] = "other", [ROLE_TEST] = "holds"};
    ImpVar *var = lower_new_var(lw, names[role], type, span);
    var->role = role;
    return var;
}

static ImpVar *declare(Lowering *lw, ImpRole role, ImpExpr *value, Span span)
{
    ImpVar *var = role_var(lw, role, value->type, span);
    var->constant = true;
    ImpStmt *s = lower_emit(lw, IS_DECL, span);
    s->var.var = var;
    s->var.value = value;
    return var;
}

/* A register, or one for all components of a vector, that holds the value from here on. */
static ImpVar *keep(Lowering *lw, ImpRole role, Value value, Span span)
{
    if (value.n == 1)
        return declare(lw, role, value.parts[0], span);
    ImpVar *var = role_var(lw, role, value.parts[0]->type, span);
    var->slots = value.n;
    var->vector = imp_vector_width(var->type, value.n) == value.n;
    if (var->vector) {
        registers_set(lw, (Registers){value.n, value.n, &var}, value, true, span);
        return var;
    }
    lower_emit(lw, IS_DECL, span)->var.var = var;
    for (int k = 0; k < value.n; k++) {
        ImpStmt *s = lower_emit(lw, IS_SET, span);
        s->var.var = var;
        s->var.slot = nat_const(lw->ctx, k);
        s->var.value = value.parts[k];
    }
    return var;
}

static Value kept(Lowering *lw, ImpVar *var, Span span)
{
    Value value = {var->slots, NEWN(lw->ctx, ImpExpr *, var->slots)};
    for (int k = 0; k < value.n; k++)
        value.parts[k] = imp_var(lw->ctx, var, nat_const(lw->ctx, k), span);
    return value;
}

/* The value as other lanes have it. */
static Value exchanged(Lowering *lw, PrimId id, ImpExpr *by, Value own, Span span)
{
    Value value = {own.n, NEWN(lw->ctx, ImpExpr *, own.n)};
    for (int k = 0; k < own.n; k++) {
        value.parts[k] = imp_shfl_by(lw->ctx, id, by, own.parts[k], span);
        if (id == P_shfl)
            value.parts[k]->shfl.lanes = lw->kernel->lanes;
    }
    return value;
}

static bool is_simple(const ImpExpr *e) { return e->kind == IE_LIT || e->kind == IE_NAT || e->kind == IE_VAR; }

/* An array of `extent` scalars in the lanes' registers: element i in lane i. */
static View *lane_registers(Lowering *lw, Type type, ImpVar *var, PrimId level, int64_t extent, Span span)
{
    Ctx *ctx = lw->ctx;
    View *v = view_new(lw, VIEW_REG, type, span);
    v->var = var;
    v->slot = nat_const(ctx, 0);
    v->n_dims = 1;
    v->dims = NEW(ctx, RegDim);
    *v->dims = (RegDim){.level = level, .extent = nat_const(ctx, extent), .slots = 1, .place = {1, nat_const(ctx, 0)}};
    return v;
}

/* What this lane has of an array with one element in each lane. */
static View *own_element(Lowering *lw, View *array)
{
    Levels saved = lw->open;
    lw->open.lane = true;
    View *v = view_at(lw, array, lw->kernel->lane);
    lw->open = saved;
    return v;
}

static Value own_value(Lowering *lw, View *element)
{
    Levels saved = lw->open;
    lw->open.lane = true;
    Value value = value_of(lw, element, "value");
    lw->open = saved;
    return value;
}

/* ---- shuffles --------------------------------------------------------------------------------------------------------------------- */

static View *shuffled(Lowering *lw, const Core *e, PrimId id, ImpExpr *by, View *source)
{
    Type elem = source->type->elem;
    if (elem->kind != TY_TUPLE) {
        Value other = exchanged(lw, id, by, own_value(lw, own_element(lw, source)), e->span);
        return lane_registers(lw, source->type, keep(lw, ROLE_OTHER, other, e->span), P_mapLane, 32, e->span);
    }
    View *v = view_new(lw, VIEW_ZIP, source->type, e->span);
    v->n = elem->n_items;
    v->items = NEWN(lw->ctx, View *, v->n);
    for (int k = 0; k < v->n; k++)
        v->items[k] = shuffled(lw, e, id, by, view_proj(lw, source, k));
    return v;
}

View *lower_read_shuffle(Lowering *lw, const Core *e)
{
    Ctx *ctx = lw->ctx;
    PrimId id = e->prim.id;
    View *source = lower_read(lw, e->prim.args[e->prim.n_args - 1]);
    if (source->kind == VIEW_ERROR)
        return source;
    if (!may_shuffle(lw, e, source))
        return view_error(lw, e->type);
    ImpExpr *by;
    if (id == P_shfl) {
        View *lanes = lower_read(lw, e->prim.args[0]);
        if (lanes->kind != VIEW_ERROR)
            lanes = own_element(lw, lanes);
        if (lanes->kind == VIEW_ERROR)
            return lanes;
        by = own_value(lw, lanes).parts[0];
        if (!is_simple(by) && e->type->elem->kind != TY_SCALAR)
            by = imp_var(ctx, declare(lw, ROLE_NONE, by, e->span), nat_const(ctx, 0), e->span);
    } else
        by = imp_nat(ctx, lower_nat(lw, e->prim.nats[0]), SC_I32, e->span);
    return shuffled(lw, e, id == P_broadcast ? P_shfl : id, by, source);
}

/* ---- reduceWarp --------------------------------------------------------------------------------------------------------------------- */

/* The scalars and vectors of a value, tuples taken apart. */
typedef struct Leaves {
    int n;
    ImpVar **vars;
} Leaves;

static void collect_leaves(Lowering *lw, View *v, Leaves *leaves, Span span)
{
    if (v->type->kind == TY_TUPLE)
        for (int k = 0; k < v->type->n_items; k++)
            collect_leaves(lw, view_proj(lw, v, k), leaves, span);
    else
        leaves->vars[leaves->n++] = keep(lw, ROLE_OWN, own_value(lw, v), span);
}

static Leaves leaves_of(Lowering *lw, View *v, Span span)
{
    Leaves leaves = {0, NEWN(lw->ctx, ImpVar *, type_component_count(v->type))};
    collect_leaves(lw, v, &leaves, span);
    return leaves;
}

static View *value_of_leaves(Lowering *lw, Type t, const Leaves *leaves, int *at, Span span)
{
    if (t->kind != TY_TUPLE)
        return value_view(lw, t, kept(lw, leaves->vars[(*at)++], span), span);
    View *v = view_new(lw, VIEW_TUPLE, t, span);
    v->n = t->n_items;
    v->items = NEWN(lw->ctx, View *, v->n);
    for (int k = 0; k < v->n; k++)
        v->items[k] = value_of_leaves(lw, t->items[k], leaves, at, span);
    return v;
}

/* The result: element 0 of an array of one. */
static View *result_of_leaves(Lowering *lw, Type t, const Leaves *leaves, const Leaves *spread, int *at, Span span)
{
    Type array = type_array(lw->ctx, nat_const(lw->ctx, 1), t);
    if (t->kind != TY_TUPLE) {
        View *v = lane_registers(lw, array, leaves->vars[*at], spread ? P_mapLane : P_mapSeq, 1, span);
        v->spread = spread ? spread->vars[*at] : NULL;
        ++*at;
        return v;
    }
    View *v = view_new(lw, VIEW_ZIP, array, span);
    v->n = t->n_items;
    v->items = NEWN(lw->ctx, View *, v->n);
    for (int k = 0; k < v->n; k++)
        v->items[k] = result_of_leaves(lw, t->items[k], leaves, spread, at, span);
    return v;
}

/* The scalar function that the operator is, of its two parameters in either order, when exchanging them changes no bit; else P_COUNT. */
static PrimId symmetric_function(const Core *op)
{
    static const PrimId symmetric[] = {P_add, P_mul, P_min, P_max, P_and, P_or, P_bitAnd, P_bitOr, P_bitXor};
    const Core *body = op->lambda.body;
    if (op->lambda.n != 2 || body->kind != CORE_PRIM || body->prim.n_args != 2)
        return P_COUNT;
    for (int k = 0; k < 2; k++)
        if (body->prim.args[k]->kind != CORE_VAR || (body->prim.args[k]->var != op->lambda.params[0] && body->prim.args[k]->var != op->lambda.params[1]))
            return P_COUNT;
    if (body->prim.args[0]->var == body->prim.args[1]->var)
        return P_COUNT;
    for (size_t k = 0; k < sizeof symmetric / sizeof *symmetric; k++)
        if (symmetric[k] == body->prim.id)
            return body->prim.id;
    return P_COUNT;
}

/* One instruction does integers of up to 32 bits, bools as numbers, and the least and largest float: any order gives the same bits. NULL: not this. */
static ImpExpr *in_one(Lowering *lw, PrimId function, ImpExpr *own, Span span)
{
    Scalar type = own->type;
    bool is_bool = type == SC_BOOL;
    if (type == SC_F32 && (function == P_min || function == P_max))
        return imp_reduce_warp(lw->ctx, function, own, span);
    if ((!scalar_is_int(type) && !is_bool) || scalar_bytes(type) > 4 || function == P_COUNT || function == P_mul)
        return NULL;
    Scalar wide = scalar_is_signed(type) ? SC_I32 : SC_U32;
    if (is_bool)
        function = function == P_and ? P_bitAnd : function == P_or ? P_bitOr : function;
    ImpExpr *value = imp_reduce_warp(lw->ctx, function, type == wide ? own : imp_cast(lw->ctx, wide, own, span), span);
    return type == wide ? value : imp_cast(lw->ctx, type, value, span);
}

/* x = op(x, shflXor(m, x)) for m = 16, 8, 4, 2, 1, or in fewer steps in a part of a warp. */
static bool reduce_tree(Lowering *lw, const Core *e, Type elem, Leaves *mine)
{
    Ctx *ctx = lw->ctx;
    const Core *op = e->prim.args[0];
    for (int64_t mask = lw->kernel->lanes / 2; mask > 0; mask /= 2) {
        Leaves other = {mine->n, NEWN(ctx, ImpVar *, mine->n)};
        ImpExpr *by = imp_nat(ctx, nat_const(ctx, mask), SC_I32, e->span);
        for (int k = 0; k < mine->n; k++)
            other.vars[k] = keep(lw, ROLE_OTHER, exchanged(lw, P_shflXor, by, kept(lw, mine->vars[k], e->span), e->span), e->span);
        int a = 0, b = 0;
        View *args[2] = {value_of_leaves(lw, elem, mine, &a, e->span), value_of_leaves(lw, elem, &other, &b, e->span)};
        Levels saved = lw->open;
        lw->open.lane = true;
        View *next = lower_apply_read(lw, op, lw->env, 2, args);
        lw->open = saved;
        if (next->kind == VIEW_ERROR)
            return false;
        *mine = leaves_of(lw, next, op->span);
    }
    return true;
}

View *lower_read_reduce_warp(Lowering *lw, const Core *e)
{
    Ctx *ctx = lw->ctx;
    const Core *op = e->prim.args[0];
    View *source = lower_read(lw, e->prim.args[1]);
    if (source->kind == VIEW_ERROR)
        return source;
    if (!may_shuffle(lw, e, source))
        return view_error(lw, e->type);
    Type elem = lower_type(lw, e->type)->elem;
    PrimId function = symmetric_function(op);
    View *own = own_element(lw, source);
    bool scalar = elem->kind == TY_SCALAR || elem->kind == TY_IDX;
    ImpExpr *single = scalar && lw->kernel->lanes == WARP_LANES ? in_one(lw, function, own_value(lw, own).parts[0], e->span) : NULL;
    Leaves mine, spread;
    if (single) {
        mine = (Leaves){1, NEW(ctx, ImpVar *)};
        mine.vars[0] = declare(lw, ROLE_OWN, single, e->span);
    } else {
        mine = leaves_of(lw, own, e->span);
        if (!reduce_tree(lw, e, elem, &mine))
            return view_error(lw, e->type);
    }
    bool same = elem->kind != TY_TUPLE && function != P_COUNT; /* in all lanes, to the bit */
    spread = (Leaves){0, NEWN(ctx, ImpVar *, mine.n)};
    ImpExpr *first = imp_nat(ctx, nat_const(ctx, 0), SC_I32, e->span);
    for (int k = 0; k < mine.n && !same; k++)
        spread.vars[k] = keep(lw, ROLE_OWN, exchanged(lw, P_shfl, first, kept(lw, mine.vars[k], e->span), e->span), e->span);
    int at = 0;
    return result_of_leaves(lw, elem, &mine, same ? NULL : &spread, &at, e->span);
}
