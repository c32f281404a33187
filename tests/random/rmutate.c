#include "rmutate.h"

#include "codegen/walk.h"

const char *const fault_names[FAULT_KINDS] = {"barrier dropped", "store index + 1", "load index + 1", "guard lost",   "choice lost",  "shuffle changed", "min and max swapped",
                                              "operands swapped", "last trip lost",  "step doubled",   "first trip lost", "initial value", "wrong slot"};

/* ---- where -------------------------------------------------------------------------------------------------------------------------------------- */

static void add(Faults *f, FaultKind kind, ImpExpr *e, const char *what)
{
    vec_push(f->ctx, &f->list, (Fault){.kind = kind, .stmt = f->at, .expr = e, .what = what});
}

/* (a op b) matters when turned round. */
static bool ordered(PrimId id)
{
    switch (id) {
    case P_sub: case P_div: case P_mod: case P_lt: case P_le: case P_gt: case P_ge: case P_shl: case P_shr: case P_pow: return true;
    default: return false;
    }
}

static void look_at_expr(void *user, ImpExpr **at)
{
    Faults *f = user;
    ImpExpr *e = *at;
    switch (e->kind) {
    case IE_LOAD: add(f, FAULT_LOAD_INDEX, e, ctx_printf(f->ctx, "%s[%s]", e->mem.buf->name, nat_text(f->ctx, e->mem.index))); break;
    case IE_COND: add(f, FAULT_CHOICE, e, "?:"); break;
    case IE_SHFL:
        if (e->shfl.id != P_reduceWarp)
            add(f, FAULT_SHUFFLE, e, ctx_printf(f->ctx, "%s %s", prim_name(e->shfl.id), e->shfl.by->kind == IE_NAT ? nat_text(f->ctx, e->shfl.by->nat) : ""));
        break;
    case IE_OP:
        if (e->op.id == P_min || e->op.id == P_max)
            add(f, FAULT_MIN_MAX, e, prim_name(e->op.id));
        else if (ordered(e->op.id) && e->op.n == 2 && !imp_same_value(e->op.args[0], e->op.args[1]))
            add(f, FAULT_OPERANDS, e, prim_name(e->op.id));
        break;
    case IE_VAR:
        if (e->var.var->slots > 1 && nat_is_const(e->var.slot))
            add(f, FAULT_SLOT, e, ctx_printf(f->ctx, "%s[%s]", e->var.var->name, nat_text(f->ctx, e->var.slot)));
        break;
    case IE_LIT: case IE_NAT: case IE_CAST: break;
    }
}

static void look_at_stmt(void *user, ImpStmt *s)
{
    Faults *f = user;
    f->at = s;
    switch (s->kind) {
    case IS_SYNC: add(f, FAULT_BARRIER, NULL, s->sync == SYNC_WARP ? "of the warp" : "of the block"); break;
    case IS_STORE: add(f, FAULT_STORE_INDEX, NULL, ctx_printf(f->ctx, "%s[%s]", s->store.buf->name, nat_text(f->ctx, s->store.index))); break;
    case IS_VSTORE: add(f, FAULT_STORE_INDEX, NULL, ctx_printf(f->ctx, "%s[%s]", s->vec.buf->name, nat_text(f->ctx, s->vec.index))); break;
    case IS_VLOAD: add(f, FAULT_LOAD_INDEX, NULL, ctx_printf(f->ctx, "%s[%s]", s->vec.buf->name, nat_text(f->ctx, s->vec.index))); break;
    case IS_IF: add(f, FAULT_GUARD, NULL, s->branch.otherwise.list.n ? "if else" : "if"); break;
    case IS_FOR: {
        const char *what = ctx_printf(f->ctx, "%s < %s", s->loop.var->name, nat_text(f->ctx, s->loop.hi));
        add(f, FAULT_LOOP_END, NULL, what);
        add(f, FAULT_LOOP_STEP, NULL, what);
        add(f, FAULT_LOOP_START, NULL, what);
        break;
    }
    case IS_DECL:
        if (s->var.value && s->var.value->kind == IE_LIT)
            add(f, FAULT_INITIAL, NULL, s->var.var->name);
        break;
    case IS_SET:
        if (s->var.var->slots > 1 && nat_is_const(s->var.slot))
            add(f, FAULT_SLOT, NULL, ctx_printf(f->ctx, "%s[%s] =", s->var.var->name, nat_text(f->ctx, s->var.slot)));
        break;
    case IS_VSET: case IS_ATOMIC: case IS_TICKET: case IS_GRID_SYNC: case IS_ALLOC: case IS_NOTE: break;
    }
    walk_own(s, look_at_expr, f);
}

Faults faults_of(Ctx *ctx, ImpKernel *kernel)
{
    Faults f = {.ctx = ctx};
    walk_stmts(&kernel->body, look_at_stmt, &f);
    return f;
}

/* ---- what --------------------------------------------------------------------------------------------------------------------------------------- */

static ImpExpr *always(Ctx *ctx, Span span) { return imp_lit(ctx, (ScalarValue){.type = SC_BOOL, .i = 1}, span); }

static ScalarValue another(ScalarValue v)
{
    if (v.type == SC_BOOL)
        return scalar_int(SC_BOOL, !v.i);
    ScalarValue least, most; /* the units of max and min become a number between */
    bool extreme = scalar_named(v.type, "lowest", &least) && scalar_named(v.type, "highest", &most) && (v.u == least.u || v.u == most.u);
    if (scalar_is_float(v.type))
        return scalar_float(v.type, extreme || v.f - v.f != 0 ? 0 : v.f + 1);
    return scalar_int(v.type, extreme && scalar_is_signed(v.type) ? 0 : (int64_t)(v.u + 1));
}

static Nat next_slot(Ctx *ctx, Nat slot, int slots) { return nat_const(ctx, (slot->value + 1) % slots); }

static ImpExpr *other_lane(Ctx *ctx, const ImpExpr *by)
{
    if (by->kind == IE_NAT && nat_is_const(by->nat))
        return imp_nat(ctx, nat_const(ctx, by->nat->value > 1 ? by->nat->value / 2 : by->nat->value + 1), by->type, by->span);
    if (by->kind == IE_NAT)
        return imp_nat(ctx, nat_mod(ctx, nat_add_k(ctx, by->nat, 1), nat_const(ctx, 32)), by->type, by->span);
    return imp_nat(ctx, nat_const(ctx, 1), by->type, by->span);
}

static void plant_in_expr(Ctx *ctx, FaultKind kind, ImpExpr *e)
{
    switch (kind) {
    case FAULT_LOAD_INDEX: e->mem.index = nat_add_k(ctx, e->mem.index, 1); break;
    case FAULT_CHOICE: e->cond.cond = always(ctx, e->span); break;
    case FAULT_SHUFFLE: e->shfl.by = other_lane(ctx, e->shfl.by); break;
    case FAULT_MIN_MAX: e->op.id = e->op.id == P_min ? P_max : P_min; break;
    case FAULT_OPERANDS: {
        ImpExpr **args = NEWN(ctx, ImpExpr *, 2); /* the old ones are put back */
        args[0] = e->op.args[1];
        args[1] = e->op.args[0];
        e->op.args = args;
        break;
    }
    case FAULT_SLOT: e->var.slot = next_slot(ctx, e->var.slot, e->var.var->slots); break;
    default: break;
    }
}

static void plant_in_stmt(Ctx *ctx, FaultKind kind, ImpStmt *s)
{
    switch (kind) {
    case FAULT_BARRIER:
        s->kind = IS_NOTE;
        s->note = "a barrier was here";
        break;
    case FAULT_STORE_INDEX:
        if (s->kind == IS_STORE)
            s->store.index = nat_add_k(ctx, s->store.index, 1);
        else
            s->vec.index = nat_add_k(ctx, s->vec.index, s->vec.n);
        break;
    case FAULT_LOAD_INDEX: s->vec.index = nat_add_k(ctx, s->vec.index, s->vec.n); break;
    case FAULT_GUARD: s->branch.cond = always(ctx, s->span); break;
    case FAULT_LOOP_END: s->loop.hi = nat_sub(ctx, s->loop.hi, s->loop.step); break;
    case FAULT_LOOP_STEP: s->loop.step = nat_mul_k(ctx, s->loop.step, 2); break;
    case FAULT_LOOP_START: s->loop.lo = nat_add(ctx, s->loop.lo, s->loop.step); break;
    case FAULT_INITIAL: s->var.value = imp_lit(ctx, another(s->var.value->lit), s->span); break;
    case FAULT_SLOT: s->var.slot = next_slot(ctx, s->var.slot, s->var.var->slots); break;
    default: break;
    }
}

void fault_plant(Ctx *ctx, Fault *fault)
{
    fault->old_stmt = *fault->stmt;
    if (fault->expr) {
        fault->old_expr = *fault->expr;
        plant_in_expr(ctx, fault->kind, fault->expr);
    } else
        plant_in_stmt(ctx, fault->kind, fault->stmt);
}

void fault_remove(Fault *fault)
{
    if (fault->expr)
        *fault->expr = fault->old_expr;
    else
        *fault->stmt = fault->old_stmt;
}
