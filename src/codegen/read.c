/* Reading: makes the value of a term readable, and gives a view of it. Emits the statements that this takes. */
#include "codegen/contraction.h"
#include "codegen/sequences.h"
#include "codegen/uses.h"
#include "codegen/walk.h"
#include "ir/terms.h"

/* ---- binding --------------------------------------------------------------------------------------------------------------------------- */

static void push_env(Lowering *lw, const CoreVar *var, View *view, Nat nat, Nat value)
{
    Env *env = NEW(lw->ctx, Env);
    *env = (Env){.next = lw->env, .var = var, .view = view, .nat = nat, .value = value};
    env->numbers = nat && nat != value ? env : lw->env ? lw->env->numbers : NULL;
    lw->env = env;
}

/* An index cast to an integer costs nothing either: in most kernels it is that integer. */
bool is_trivial(const ImpExpr *e)
{
    if (e->kind == IE_CAST && !scalar_is_float(e->type))
        return e->cast.value->kind == IE_NAT;
    return e->kind == IE_LIT || e->kind == IE_NAT || e->kind == IE_VAR || imp_is_parameter(e);
}

static bool chooses(const Core *term)
{
    bool found = term->kind == CORE_IF;
    for (int i = 0; i < term_children(term) && !found; i++)
        found = chooses(term_child(term, i));
    return found;
}

/* Is it a load, or little more? A product is not: CUDA's compiler might join each of its copies with something else. */
static bool is_light(const ImpExpr *e)
{
    if (e->kind == IE_CAST)
        return is_light(e->cast.value);
    bool sum = e->kind == IE_OP && (e->op.id == P_add || e->op.id == P_sub);
    for (int i = 0; i < 2 && sum; i++)
        sum = e->op.args[i]->kind == IE_LOAD || is_trivial(e->op.args[i]);
    return sum || e->kind == IE_LOAD || is_trivial(e);
}

/* A scalar or vector that is read several times is computed once, in registers. substituted: but what is_light stands wherever it is read. */
static View *in_register(Lowering *lw, View *view, const char *name, int uses, bool substituted)
{
    Value value = value_of(lw, view, name);
    bool trivial = true;
    for (int k = 0; k < value.n; k++)
        trivial &= substituted ? is_light(value.parts[k]) : is_trivial(value.parts[k]);
    if (uses <= 1 || trivial)
        return value_view(lw, view->type, value, view->span);
    Registers regs = registers_new(lw, name, view->type, view->span);
    for (int k = 0; k < regs.n / regs.width; k++)
        regs.vars[k]->constant = regs.vars[k]->named = true;
    registers_set(lw, regs, value, true, view->span);
    return value_view(lw, view->type, registers_value(lw, regs, view->span), view->span);
}

View *lower_in_register(Lowering *lw, View *view, const char *name) { return in_register(lw, view, name, 2, false); }

const char *lower_part_name(Lowering *lw, const CoreVar *var, int k)
{
    return var->parts && var->parts[k] ? var->parts[k] : ctx_printf(lw->ctx, "%s_%d", var->name, k + 1);
}

/* The scalars of a tuple, also of tuples in it, in registers where they are read several times. uses: of the tuple; whole: how often one that it
 * stands in is read. name: that of the tuple, NULL for var's own. substituted: as above. */
static View *bind_parts(Lowering *lw, const CoreVar *var, View *view, Type of_type, const Uses *uses, int whole, const char *name, bool substituted)
{
    View *v = view_new(lw, VIEW_TUPLE, of_type, view->span);
    v->n = of_type->n_items;
    v->items = NEWN(lw->ctx, View *, v->n);
    whole += uses_as_whole(uses);
    for (int k = 0; k < v->n; k++) {
        Type type = of_type->items[k];
        const Uses *part = uses_of_part(uses, k);
        const char *part_name = name ? ctx_printf(lw->ctx, "%s_%d", name, k + 1) : lower_part_name(lw, var, k);
        v->items[k] = view_proj(lw, view, k);
        if (type_is_scalar_like(type))
            v->items[k] = in_register(lw, v->items[k], part_name, whole + uses_count(part), substituted);
        else if (type->kind == TY_TUPLE)
            v->items[k] = bind_parts(lw, var, v->items[k], type, part, whole, part_name, substituted);
    }
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
        View *v = in_register(lw, view, var->name, 1, false);
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
    /* readTogether joins loads in expressions, and gives each a register. One that stands in a statement under a guard would stay alone, and so
     * would one in a condition. */
    bool substituted = lw->together && term_is_elementwise(scope) && !chooses(scope);
    if (type_is_scalar_like(view->type))
        view = in_register(lw, view, var->name, uses_count(uses_of(lw, var, scope)), substituted);
    else if (view->type->kind == TY_TUPLE)
        view = bind_parts(lw, var, view, view->type, uses_of(lw, var, scope), 0, NULL, substituted);
    push_env(lw, var, view, NULL, NULL);
}

void lower_bind_nat(Lowering *lw, Nat nat, Nat value) { push_env(lw, NULL, NULL, nat, value); }

void lower_let(Lowering *lw, const Core *let)
{
    bool once = core_is_fresh(lw, let->let.value) && uses_count(uses_of(lw, let->let.var, let->let.body)) == 1;
    lw->hint = let->let.var->name;
    View *value = lower_read(lw, let->let.value);
    lw->hint = NULL;
    if ((value->kind == VIEW_EACH || value->kind == VIEW_GEN) && !value->name)
        value->name = let->let.var->name;
    lower_bind(lw, let->let.var, value, let->let.body);
    Env *env = (Env *)lw->env;
    env->let = let;
    env->once = once;
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

bool lower_unrolled(Lowering *lw, const Core *e, Nat n, bool *ok)
{
    *ok = true;
    if (e->prim.id != P_mapSeqUnroll && e->prim.id != P_reduceSeqUnroll)
        return false;
    if (nat_is_const(n) && n->value <= LIMIT_UNROLL_TRIPS)
        return true;
    Diag *d = lower_error(lw, E0414, e->span, "%s over %s elements: only a constant number up to %d is written out", prim_name(e->prim.id),
                          nat_text(lw->ctx, n), LIMIT_UNROLL_TRIPS);
    propose_primitive(lw->ctx, d, e, e->prim.id == P_mapSeqUnroll ? P_mapSeq : P_reduceSeq, "use $");
    return *ok = false;
}

View *lower_apply_view(Lowering *lw, const Core *e, View *source)
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

View *lower_read_zip(Lowering *lw, const Core *e)
{
    View *v = view_new(lw, VIEW_ZIP, lower_type(lw, e->type), e->span);
    v->n = e->prim.n_args;
    v->items = NEWN(lw->ctx, View *, v->n);
    for (int k = 0; k < v->n; k++) {
        v->items[k] = lower_read(lw, e->prim.args[k]);
        if (v->items[k]->kind == VIEW_ERROR)
            return v->items[k];
    }
    return v;
}

View *lower_read_generate(Lowering *lw, const Core *e)
{
    View *v = view_new(lw, VIEW_GEN, lower_type(lw, e->type), e->span);
    v->lambda = e->prim.args[0];
    v->env = lw->env;
    return v;
}

/* gather and reorder. */
View *lower_read_gather(Lowering *lw, const Core *e)
{
    Ctx *ctx = lw->ctx;
    Core **args = e->prim.args;
    View *v = view_new(lw, VIEW_GATHER, lower_type(lw, e->type), e->span);
    v->source = lower_read(lw, args[1]);
    v->size = lower_nat(lw, args[1]->type->size);
    if (e->prim.id == P_gather)
        v->other = lower_read(lw, args[0]);
    else {
        v->other = view_new(lw, VIEW_GEN, type_array(ctx, v->type->size, type_idx(ctx, v->type->size)), e->span);
        v->other->lambda = args[0];
        v->other->env = lw->env;
    }
    return v->source->kind == VIEW_ERROR ? v->source : v->other->kind == VIEW_ERROR ? v->other : v;
}

View *lower_read_concat(Lowering *lw, const Core *e)
{
    View *v = view_new(lw, VIEW_CONCAT, lower_type(lw, e->type), e->span);
    v->source = lower_read(lw, e->prim.args[0]);
    v->other = lower_read(lw, e->prim.args[1]);
    v->lo = lower_nat(lw, e->prim.args[0]->type->size);
    return v->source->kind == VIEW_ERROR ? v->source : v->other->kind == VIEW_ERROR ? v->other : v;
}

/* What a comparison of constants gives, and `and`, `or` with a known side; else itself. */
static ImpExpr *fold_op(Lowering *lw, ImpExpr *e)
{
    bool comparison = e->op.id >= P_eq && e->op.id <= P_ge;
    if (e->op.n != 2)
        return e;
    ImpExpr *a = e->op.args[0], *b = e->op.args[1];
    if (comparison && a->kind == IE_LIT && b->kind == IE_LIT)
        return imp_lit(lw->ctx, scalar_apply(e->op.id, a->type, (ScalarValue[]){a->lit, b->lit}), e->span);
    if (e->op.id == P_and || e->op.id == P_or)
        for (int k = 0; k < 2; k++) {
            if (cond_is(lw, e->op.args[k], e->op.id == P_and))
                return e->op.args[!k];
            if (cond_is(lw, e->op.args[k], e->op.id == P_or))
                return e->op.args[k];
        }
    return e;
}

/* Vectors: component by component; a scalar operand (the condition of select) goes with each. */
static View *read_scalar_prim(Lowering *lw, const Core *e)
{
    Ctx *ctx = lw->ctx;
    if (!type_is_scalar_like(e->type)) {
        lower_error(lw, E0501, e->span, "%s on values of type %s does not become CUDA in this version", prim_name(e->prim.id), type_text(ctx, e->type));
        return view_error(lw, e->type);
    }
    Value args[8], result = {.n = type_width(e->type)};
    for (int k = 0; k < e->prim.n_args; k++) {
        View *v = lower_read(lw, e->prim.args[k]);
        if (v->kind == VIEW_ERROR)
            return v;
        args[k] = value_of(lw, v, "v");
    }
    Scalar type = type_scalar_of(ctx, e->type);
    result.parts = NEWN(ctx, ImpExpr *, result.n);
    for (int i = 0; i < result.n; i++) {
        ImpExpr *at[8], *value;
        for (int k = 0; k < e->prim.n_args; k++)
            at[k] = args[k].parts[args[k].n > 1 ? i : 0];
        if (e->prim.id == P_cast) {
            value = imp_cast(ctx, type, at[0], e->span);
        } else {
            value = imp_op(ctx, e->prim.id, type, e->prim.n_args, at, e->span);
            value->op.rounded = e->prim.options.rounded && contraction_joins(e);
            value = fold_op(lw, value);
        }
        for (int k = 0; e->prim.id != P_cast && k < 2; k++)
            if (cond_is(lw, value, k == 0))
                value = imp_lit(ctx, scalar_int(SC_BOOL, k == 0), e->span);
        result.parts[i] = value;
    }
    return value_view(lw, e->type, result, e->span);
}

static void find_data(void *user, ImpExpr **at)
{
    *(bool *)user |= (*at)->kind == IE_LOAD || (*at)->kind == IE_SHFL || (*at)->kind == IE_OP;
}

/* Does a condition compute with values, and not only compare indices? */
static bool asks_data(ImpExpr *cond)
{
    bool asks = false;
    bool comparison = cond->kind == IE_OP && cond->op.n == 2 && cond->op.args[0]->kind == IE_NAT && cond->op.args[1]->kind == IE_NAT;
    if (!comparison)
        walk_expr(&cond, find_data, &asks);
    return asks;
}

static View *read_if(Lowering *lw, const Core *e)
{
    Ctx *ctx = lw->ctx;
    const Core *decided = lower_decided(lw, e);
    if (decided)
        return lower_read(lw, decided);
    View *c = lower_read(lw, e->cond.cond);
    if (c->kind == VIEW_ERROR)
        return c;
    ImpExpr *cond = view_scalar(lw, c);
    if (cond_is(lw, cond, true))
        return lower_read(lw, e->cond.then);
    if (cond_is(lw, cond, false))
        return lower_read(lw, e->cond.otherwise);
    int n = lower_scalar_count(e->type);
    ImpBlock sides[2] = {{{0}}}, *out = lw->out;
    NatFacts *facts = lw->facts;
    View *views[2];
    Value values[2][LIMIT_TUPLE_ITEMS];
    for (int k = 0; k < 2; k++) {
        lw->out = &sides[k];
        lw->facts = nat_facts_new(ctx, facts);
        if (k == 0)
            assume(lw, cond);
        views[k] = lower_read(lw, k ? e->cond.otherwise : e->cond.then);
        for (int i = 0; i < n && views[k]->kind != VIEW_ERROR; i++)
            values[k][i] = value_of(lw, lower_component(lw, views[k], i, n), "v");
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
    Registers regs[LIMIT_TUPLE_ITEMS];
    for (int i = 0; i < n && !plain; i++) {
        regs[i] = registers_new(lw, "chosen", e->type->kind == TY_TUPLE ? e->type->items[i] : e->type, e->span);
        registers_declare(lw, regs[i], e->span);
    }
    if (!plain) {
        ImpStmt *s = lower_emit(lw, IS_IF, e->span);
        s->branch.cond = cond;
        for (int k = 0; k < 2; k++) {
            lw->out = &sides[k];
            for (int i = 0; i < n; i++)
                registers_set(lw, regs[i], values[k][i], false, e->span);
        }
        lw->out = out;
        s->branch.then = sides[0];
        s->branch.otherwise = sides[1];
    }
    if (plain && n > 1 && asks_data(cond)) { /* once, and before what it asks about changes */
        ImpVar *holds = lower_new_var(lw, "holds", SC_BOOL, e->span);
        holds->role = ROLE_TEST;
        holds->constant = true;
        ImpStmt *s = lower_emit(lw, IS_DECL, e->span);
        s->var.var = holds;
        s->var.value = cond;
        cond = imp_var(ctx, holds, nat_const(ctx, 0), e->span);
    }
    for (int i = 0; i < n; i++) {
        Type t = e->type->kind == TY_TUPLE ? e->type->items[i] : e->type;
        Value value = plain ? value_choose(lw, cond, values[0][i], values[1][i], e->span) : registers_value(lw, regs[i], e->span);
        result->items[i] = value_view(lw, t, value, e->span);
    }
    return e->type->kind == TY_TUPLE ? result : result->items[0];
}

/* What a condition decides on is not joined with its neighbours. */
static View *read_choice(Lowering *lw, const Core *e)
{
    bool together = lw->together;
    lw->together = false;
    View *v = read_if(lw, e);
    lw->together = together;
    return v;
}

/* Whether what the function gives is made by atomicReduce, under views and maps: that wants memory. */
static bool makes_atomic(const Core *e)
{
    while (true) {
        if (e->kind == CORE_LAMBDA)
            e = e->lambda.body;
        else if (e->kind == CORE_LET)
            e = e->let.body;
        else if (e->kind == CORE_PRIM && e->prim.id != P_atomicReduce && e->prim.n_args > 0 && prim_rows[e->prim.id].level == LEVEL_VIEW)
            e = e->prim.args[e->prim.n_args - 1];
        else
            return e->kind == CORE_PRIM && e->prim.id == P_atomicReduce;
    }
}

/* The end of a map's function, where that stores its own value; NULL. */
static const Core *stored_inside(const Core *e)
{
    const Core *f = e->prim.n_args > 0 && e->prim.args[0]->kind == CORE_LAMBDA ? e->prim.args[0]->lambda.body : NULL;
    while (f && f->kind == CORE_LET)
        f = f->let.body;
    return f && f->kind == CORE_PRIM && prim_rows[f->prim.id].level == LEVEL_MEM ? f : NULL;
}

/* `place`: where it may be stored, within a block. */
void refuse_unstored(Lowering *lw, const Core *e, const char *place)
{
    Ctx *ctx = lw->ctx;
    const char *name = prim_name(e->prim.id);
    Diag *d = lower_error(lw, E0415, e->span, "%s computes an array that is read here but stored nowhere", name);
    diag_label(ctx, d, "its elements live nowhere");
    const Core *inner = stored_inside(e);
    if (inner && span_is_users(ctx, inner->span)) {
        const char *store = prim_name(inner->prim.id);
        diag_note(ctx, d, inner->span, "this stores what one call of the function gives");
        diag_help(ctx, d, "write `%s` behind `%s(...)`, outside of its function", store, name);
        return;
    }
    bool in_grid = false, in_block = false;
    for (int axis = 0; axis < 3; axis++) {
        in_block |= lw->open.block[axis];
        in_grid |= lw->open.global[axis];
    }
    if (prim_is_scatter(e->prim.id) && in_grid)
        diag_help(ctx, d, "a block can compute it: `mapBlock(fun row => ... %s(is, background, row |> mapThreads(f)))`", name);
    else if (e->prim.id == P_mapGlobal && in_grid)
        diag_help(ctx, d, "the thread that reads it may compute it: `mapSeq(...) |> toPrivate`");
    else if (lw->any_block && !in_grid && !in_block && prim_rows[e->prim.id].level != LEVEL_SEQ)
        diag_help(ctx, d, "blocks do not wait for each other: go on in the next kernel, `%s(...) |> nextKernel(fun ys => ...)`", name);
    else
        diag_help(ctx, d, "store it: `%s(...) |> %s`", name, place);
}

static bool has_prim(const Core *core, PrimId id)
{
    bool found = core->kind == CORE_PRIM && core->prim.id == id;
    for (int i = 0; i < term_children(core) && !found; i++)
        found = has_prim(term_child(core, i), id);
    return found;
}

static View *read_prim(Lowering *lw, const Core *e)
{
    Ctx *ctx = lw->ctx;
    PrimId id = e->prim.id;
    if (lower_forms[id].read)
        return lower_forms[id].read(lw, e);
    if (prim_rows[id].level == LEVEL_SCALAR)
        return read_scalar_prim(lw, e);
    if (prim_rows[id].level == LEVEL_VIEW && prim_is_lowered(id))
        return lower_apply_view(lw, e, lower_read(lw, e->prim.args[e->prim.n_args - 1]));
    if (!prim_is_lowered(id)) {
        Diag *d = lower_error(lw, E0501, e->span, prim_rows[id].level == LEVEL_HIGH ? "no step of the strategy has lowered this %s" : "%s does not become CUDA in this version", prim_name(id));
        d->high = prim_rows[id].level == LEVEL_HIGH;
        if (d->high)
            diag_help(ctx, d, "the strategy needs a further step for it, as in `mapToGlobal at map ; reduceToSeq at reduce` of `rules.lowering`%s; `risec lower` shows what is left. Without `lowered by`, risec chooses the kernels itself",
                      has_prim(lw->entry->body, P_nextKernel) ? ", or, inside of what holds it, `inFunction(reduceToSeq at reduce) at nextKernel`" : "");
        else
            diag_help(ctx, d, "`--device ref` runs it");
    } else {
        bool private = id == P_mapLane || (prim_rows[id].level == LEVEL_SEQ && !makes_atomic(e->prim.args[0]));
        refuse_unstored(lw, e, private ? "toPrivate" : "toShared");
    }
    return view_error(lw, e->type);
}

static View *read_term(Lowering *lw, const Core *e)
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
        lower_let(lw, e);
        lw->hint = hint;
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
    case CORE_IF: return read_choice(lw, e);
    case CORE_LAMBDA: case CORE_UNIT_ERROR: break;
    }
    return view_error(lw, e->type);
}

View *lower_read(Lowering *lw, const Core *e)
{
    const Span around = lower_enter(lw, e);
    View *v = read_term(lw, e);
    lw->users = around;
    return v;
}
