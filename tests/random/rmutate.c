#include "rmutate.h"

#include "codegen/walk.h"

const char *const fault_names[FAULT_KINDS] = {"barrier dropped",   "store index + 1", "load index + 1", "guard lost",      "choice lost",   "shuffle changed",   "min and max swapped",
                                              "operands swapped",  "comparison changed", "last trip lost", "step doubled",  "first trip lost", "initial value", "wrong slot",
                                              "atomic made plain", "atomic operation", "ticket too early", "ticket unordered", "grid sync dropped",
                                              "totals unanswered", "total misplaced",    "totals combined otherwise"};

/* ---- where -------------------------------------------------------------------------------------------------------------------------------------- */

static void add(Faults *f, FaultKind kind, ImpExpr *e, const char *what)
{
    vec_push(f->ctx, &f->list, (Fault){.kind = kind, .kernel = f->kernel, .stmt = f->at, .expr = e, .what = what});
}

/* (a op b) matters when turned round. */
static bool ordered(PrimId id)
{
    switch (id) {
    case P_sub: case P_div: case P_mod: case P_lt: case P_le: case P_gt: case P_ge: case P_shl: case P_shr: case P_pow: return true;
    default: return false;
    }
}

/* The comparison that differs where both sides are equal; P_COUNT: none. */
static PrimId other_comparison(PrimId id)
{
    switch (id) {
    case P_lt: return P_le;
    case P_le: return P_lt;
    case P_gt: return P_ge;
    case P_ge: return P_gt;
    default: return P_COUNT;
    }
}

/* A condition over sizes and indices, as far as it is one. */
static const char *condition_text(Ctx *ctx, const ImpExpr *e)
{
    if (e->kind == IE_NAT)
        return nat_text(ctx, e->nat);
    if (e->kind == IE_VAR)
        return e->var.var->name;
    if (e->kind == IE_OP && e->op.n == 2)
        return ctx_printf(ctx, "%s %s %s", condition_text(ctx, e->op.args[0]), prim_name(e->op.id), condition_text(ctx, e->op.args[1]));
    return "..";
}

/* Of what is compared or computed: itself where it is sizes and indices, else its type. */
static const char *operation_text(Ctx *ctx, const ImpExpr *e)
{
    if (e->op.args[0]->kind == IE_NAT && e->op.args[1]->kind == IE_NAT)
        return condition_text(ctx, e);
    return ctx_printf(ctx, "%s of %s", prim_name(e->op.id), scalar_name(e->op.args[0]->type));
}

static void look_at_expr(void *user, ImpExpr **at)
{
    Faults *f = user;
    ImpExpr *e = *at;
    switch (e->kind) {
    case IE_LOAD: add(f, FAULT_LOAD_INDEX, e, ctx_printf(f->ctx, "%s[%s]", e->mem.buf->name, nat_text(f->ctx, e->mem.index))); break;
    case IE_COND: add(f, FAULT_CHOICE, e, ctx_printf(f->ctx, "%s ?:", condition_text(f->ctx, e->cond.cond))); break;
    case IE_SHFL:
        if (e->shfl.id != P_reduceWarp)
            add(f, FAULT_SHUFFLE, e, ctx_printf(f->ctx, "%s %s", prim_name(e->shfl.id), e->shfl.by->kind == IE_NAT ? nat_text(f->ctx, e->shfl.by->nat) : ""));
        break;
    case IE_OP:
        if (e->op.id == P_min || e->op.id == P_max)
            add(f, FAULT_MIN_MAX, e, prim_name(e->op.id));
        else if (other_comparison(e->op.id) != P_COUNT)
            add(f, FAULT_COMPARISON, e, operation_text(f->ctx, e));
        if (ordered(e->op.id) && e->op.n == 2 && !imp_same_value(e->op.args[0], e->op.args[1]))
            add(f, FAULT_OPERANDS, e, operation_text(f->ctx, e));
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
    case IS_IF: add(f, FAULT_GUARD, NULL, ctx_printf(f->ctx, "if %s%s", condition_text(f->ctx, s->branch.cond), s->branch.otherwise.list.n ? " else" : "")); break;
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
    case IS_ATOMIC:
        add(f, FAULT_STORE_INDEX, NULL, ctx_printf(f->ctx, "%s[%s]", s->atomic.buf->name, nat_text(f->ctx, s->atomic.index)));
        add(f, FAULT_ATOMIC, NULL, s->atomic.buf->name);
        if (s->atomic.value->kind == IE_OP && s->atomic.value->op.id != P_min && s->atomic.value->op.id != P_max) /* those are swapped as elsewhere */
            add(f, FAULT_ATOMIC_OP, NULL, prim_name(s->atomic.value->op.id));
        break;
    case IS_TICKET:
        add(f, FAULT_TICKET, NULL, s->ticket.buf->name);
        add(f, FAULT_NO_TICKET, NULL, s->ticket.buf->name);
        break;
    case IS_GRID_SYNC: add(f, FAULT_GRID_SYNC, NULL, s->ticket.buf->name); break;
    case IS_GIVE: case IS_AWAIT: add(f, FAULT_EXCHANGE, NULL, s->exchange.mail->name); break;
    case IS_SERVE:
        add(f, FAULT_SERVE, NULL, s->serve.parts[0].mail->name);
        if (s->serve.parts[0].value->kind == IE_OP && s->serve.parts[0].value->op.id != P_min && s->serve.parts[0].value->op.id != P_max)
            add(f, FAULT_SUM, NULL, prim_name(s->serve.parts[0].value->op.id));
        break;
    case IS_VSET: case IS_ALLOC: case IS_NOTE: break;
    }
    walk_own(s, look_at_expr, f);
}

Faults faults_of(Ctx *ctx, ImpKernel *kernel)
{
    Faults f = {.ctx = ctx, .kernel = kernel};
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
    case FAULT_COMPARISON: {
        ImpExpr *b = e->op.args[1];
        if (b->kind != IE_NAT || (e->op.id != P_le && e->op.id != P_gt)) {
            e->op.id = other_comparison(e->op.id);
            break;
        }
        ImpExpr **args = NEWN(ctx, ImpExpr *, 2); /* one too many, not one too few: that would only take the careful way more often */
        args[0] = e->op.args[0];
        args[1] = imp_nat(ctx, nat_add_k(ctx, b->nat, e->op.id == P_le ? 1 : -1), b->type, b->span);
        e->op.args = args;
        break;
    }
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

typedef struct Swap {
    Ctx *ctx;
    const ImpVar *old;
    ImpExpr *with;
} Swap;

static void swap_old(void *user, ImpExpr **at)
{
    const Swap *w = user;
    if ((*at)->kind == IE_VAR && (*at)->var.var == w->old)
        *at = imp_copy_expr(w->ctx, w->with);
}

/* The cell's value is read like any other, computed with, and stored. */
static void make_plain(Ctx *ctx, ImpStmt *s)
{
    ImpStmt old = *s;
    Swap w = {ctx, old.atomic.old, imp_load(ctx, old.atomic.buf, old.atomic.index, s->span)};
    ImpExpr *value = imp_copy_expr(ctx, old.atomic.value);
    walk_expr(&value, swap_old, &w);
    s->kind = IS_STORE;
    memset(&s->store, 0, sizeof s->store);
    s->store.buf = old.atomic.buf;
    s->store.index = old.atomic.index;
    s->store.value = value;
}

static void change_operation(Ctx *ctx, ImpExpr **value)
{
    ImpExpr *e = imp_copy_expr(ctx, *value);
    switch (e->op.id) {
    case P_add: e->op.id = P_sub; break;
    case P_bitAnd: e->op.id = P_bitOr; break;
    case P_bitOr: case P_bitXor: e->op.id = P_bitAnd; break;
    case P_and: e->op.id = P_or; break;
    case P_or: e->op.id = P_and; break;
    default: e = e->op.args[0]; /* what the thread adds is forgotten, or what was there */
    }
    *value = e;
}

/* Instead of the ticket: statements that count in its cell, in one branch that is always taken. */
static void count_otherwise(Ctx *ctx, Fault *f, bool unordered)
{
    ImpStmt *s = f->stmt, *ticket = imp_stmt(ctx, NULL, IS_TICKET, s->span);
    ImpVar *old = NEW(ctx, ImpVar);
    *old = (ImpVar){.id = f->kernel->vars.n, .name = "counted", .type = SC_U32, .slots = 1, .constant = true, .span = s->span};
    vec_push(ctx, &f->kernel->vars, old);
    ImpKernel *twin = (ImpKernel *)imp_wide_twin(f->kernel); /* has the same statements */
    if (twin && twin->vars.n == old->id)
        vec_push(ctx, &twin->vars, old);
    *ticket = *s;
    ImpExpr *one = imp_lit(ctx, scalar_int(SC_U32, 1), s->span), *was = imp_var(ctx, old, nat_const(ctx, 0), s->span);
    s->kind = IS_IF;
    memset(&s->branch, 0, sizeof s->branch);
    s->branch.cond = always(ctx, s->span);
    ImpStmt *count = imp_stmt(ctx, &s->branch.then, IS_ATOMIC, s->span);
    count->atomic.buf = ticket->ticket.buf;
    count->atomic.index = nat_const(ctx, 0);
    count->atomic.old = old;
    if (!unordered) { /* the first block finds a count of one */
        count->atomic.value = imp_op2(ctx, P_max, SC_U32, was, one, s->span);
        vec_push(ctx, &s->branch.then.list, ticket);
        return;
    }
    Nat blocks = nat_const(ctx, 1);
    for (int k = 0; k < 3; k++)
        blocks = nat_mul(ctx, blocks, f->kernel->grid[k]);
    ImpExpr *last = imp_op2(ctx, P_eq, SC_BOOL, was, imp_nat(ctx, nat_add_k(ctx, blocks, -1), SC_U32, s->span), s->span);
    count->atomic.value = imp_cond(ctx, last, imp_lit(ctx, scalar_int(SC_U32, 0), s->span), imp_op2(ctx, P_add, SC_U32, was, one, s->span), s->span);
    ImpStmt *store = imp_stmt(ctx, &s->branch.then, IS_STORE, s->span);
    store->store.buf = ticket->ticket.flag;
    store->store.index = nat_const(ctx, 0);
    store->store.value = imp_copy_expr(ctx, last);
}

static void plant_in_stmt(Ctx *ctx, Fault *f)
{
    ImpStmt *s = f->stmt;
    switch (f->kind) {
    case FAULT_ATOMIC: make_plain(ctx, s); break;
    case FAULT_ATOMIC_OP: change_operation(ctx, &s->atomic.value); break;
    case FAULT_TICKET: count_otherwise(ctx, f, false); break;
    case FAULT_NO_TICKET: count_otherwise(ctx, f, true); break;
    case FAULT_EXCHANGE: s->exchange.index = nat_add_k(ctx, s->exchange.index, 1); break;
    case FAULT_SUM: change_operation(ctx, &s->serve.parts[0].value); break;
    case FAULT_BARRIER: case FAULT_GRID_SYNC: case FAULT_SERVE:
        s->kind = IS_NOTE;
        s->note = "a barrier was here";
        break;
    case FAULT_STORE_INDEX:
        if (s->kind == IS_STORE)
            s->store.index = nat_add_k(ctx, s->store.index, 1);
        else if (s->kind == IS_ATOMIC)
            s->atomic.index = nat_add_k(ctx, s->atomic.index, 1);
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
        plant_in_stmt(ctx, fault);
}

void fault_remove(Fault *fault)
{
    if (fault->expr)
        *fault->expr = fault->old_expr;
    else
        *fault->stmt = fault->old_stmt;
}
