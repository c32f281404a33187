/* Imp as pseudo-code, for people and goldens. Nats appear as they will in C; a div or mod whose dividend is not proved >= 0 shows as
 * floor_div or floor_mod. */
#include "codegen/c_names.h"
#include "codegen/imp.h"

typedef struct Printer {
    Ctx *ctx;
    StrBuf *out;
    CNames *names;
    const NatFacts *facts;
    int depth;
} Printer;

static void print_nat(Printer *p, Nat nat, int min_prec) { nat_print_c(p->ctx, p->out, nat, p->facts, NAT_INT, c_names_of, p->names, min_prec); }

static void put(Printer *p, const char *text) { sb_puts(p->out, text); }

static void line(Printer *p)
{
    for (int i = 0; i < p->depth; i++)
        put(p, "  ");
}

/* ---- expressions ----------------------------------------------------------------------------------------------------- */

typedef enum Prec { PREC_ANY, PREC_OR, PREC_AND, PREC_COMPARE, PREC_SUM, PREC_PRODUCT, PREC_ATOM } Prec;

static Prec infix_prec(PrimId id)
{
    switch ((int)id) {
    case P_or:
        return PREC_OR;
    case P_and:
        return PREC_AND;
    case P_eq: case P_ne: case P_lt: case P_le: case P_gt: case P_ge:
        return PREC_COMPARE;
    case P_add: case P_sub:
        return PREC_SUM;
    case P_mul: case P_div: case P_mod:
        return PREC_PRODUCT;
    }
    return PREC_ATOM;
}

static void print_expr(Printer *p, const ImpExpr *e, Prec prec);

static void print_op(Printer *p, const ImpExpr *e, Prec prec)
{
    if (e->op.spared) {
        ImpExpr plain = *e;
        plain.op.spared = false;
        put(p, "spared(");
        print_expr(p, &plain, PREC_ANY);
        put(p, ")");
        return;
    }
    if (e->op.rounded) {
        ImpExpr plain = *e;
        plain.op.rounded = false;
        put(p, "rounded(");
        print_op(p, &plain, PREC_ANY);
        put(p, ")");
        return;
    }
    Prec own = e->op.n == 2 ? infix_prec(e->op.id) : PREC_ATOM;
    if (own == PREC_ATOM) {
        sb_printf(p->out, "%s(", prim_name(e->op.id));
        for (int i = 0; i < e->op.n; i++) {
            put(p, i ? ", " : "");
            print_expr(p, e->op.args[i], PREC_ANY);
        }
        put(p, ")");
        return;
    }
    put(p, prec > own ? "(" : "");
    bool sizes = own == PREC_COMPARE && e->op.args[0]->kind == IE_NAT && e->op.args[1]->kind == IE_NAT; /* compared as they are */
    if (sizes)
        print_nat(p, e->op.args[0]->nat, 0);
    else
        print_expr(p, e->op.args[0], own == PREC_COMPARE ? own + 1 : own);
    sb_printf(p->out, " %s ", prim_name(e->op.id));
    if (sizes)
        print_nat(p, e->op.args[1]->nat, 0);
    else
        print_expr(p, e->op.args[1], own + 1);
    put(p, prec > own ? ")" : "");
}

static void print_slot(Printer *p, const ImpVar *var, Nat slot)
{
    put(p, var->name);
    if (var->slots == 1)
        return;
    put(p, "[");
    print_nat(p, slot, 0);
    put(p, "]");
}

static void print_cell(Printer *p, const ImpBuf *buf, Nat index)
{
    put(p, buf->name);
    if (buf->by_value)
        return;
    put(p, "[");
    print_nat(p, index, 0);
    put(p, "]");
}

static void print_expr(Printer *p, const ImpExpr *e, Prec prec)
{
    switch (e->kind) {
    case IE_LIT:
        scalar_value_print(p->out, e->lit);
        break;
    case IE_NAT:
        if (e->type == SC_I32) {
            print_nat(p, e->nat, prec <= PREC_SUM ? 0 : prec == PREC_PRODUCT ? 1 : 2);
        } else {
            sb_printf(p->out, "%s(", scalar_name(e->type));
            print_nat(p, e->nat, 0);
            put(p, ")");
        }
        break;
    case IE_VAR:
        print_slot(p, e->var.var, e->var.slot);
        break;
    case IE_LOAD:
        print_cell(p, e->mem.buf, e->mem.index);
        break;
    case IE_OP:
        print_op(p, e, prec);
        break;
    case IE_CAST:
        sb_printf(p->out, "%s(", scalar_name(e->type));
        print_expr(p, e->cast.value, PREC_ANY);
        put(p, ")");
        break;
    case IE_COND:
        put(p, prec > PREC_ANY ? "(if " : "if ");
        print_expr(p, e->cond.cond, PREC_OR);
        put(p, " then ");
        print_expr(p, e->cond.then, PREC_OR);
        put(p, " else ");
        print_expr(p, e->cond.otherwise, PREC_ANY);
        put(p, prec > PREC_ANY ? ")" : "");
        break;
    case IE_SHFL:
        sb_printf(p->out, "%s(", prim_name(e->shfl.id));
        if (e->shfl.by)
            print_expr(p, e->shfl.by, PREC_ANY);
        else
            put(p, prim_name(e->shfl.op));
        put(p, ", ");
        print_expr(p, e->shfl.value, PREC_ANY);
        if (e->shfl.lanes != WARP_LANES)
            sb_printf(p->out, ", %d", e->shfl.lanes);
        put(p, ")");
        break;
    }
}

/* ---- statements ------------------------------------------------------------------------------------------------------ */

static void print_block(Printer *p, const ImpBlock *block);

static void print_cells(Printer *p, const ImpStmt *s)
{
    sb_printf(p->out, "%s[", s->vec.buf->name);
    print_nat(p, s->vec.index, 0);
    put(p, " .. ");
    print_nat(p, nat_add_k(p->ctx, s->vec.index, s->vec.n - 1), 0);
    put(p, "]");
}

static void print_var_stmt(Printer *p, const ImpStmt *s)
{
    const ImpVar *var = s->var.var;
    if (s->kind == IS_SET) {
        print_slot(p, var, s->var.slot);
        put(p, " := ");
        print_expr(p, s->var.value, PREC_ANY);
        return;
    }
    sb_printf(p->out, "%s %s: ", var->constant ? "let" : "var", var->name);
    if (var->vector)
        sb_printf(p->out, "vec[%d, %s]", var->slots, scalar_name(var->type));
    else if (var->slots != 1)
        sb_printf(p->out, "%d.%s", var->slots, scalar_name(var->type));
    else
        put(p, scalar_name(var->type));
    if (s->var.value) {
        put(p, " = ");
        print_expr(p, s->var.value, PREC_ANY);
    }
    if (var->nat)
        c_names_set(p->names, var->nat, var->name);
}

/* v := (a, b) or v := xs[4*i .. 4*i + 3], and likewise a store. */
static void print_vec(Printer *p, const ImpStmt *s)
{
    if (s->kind == IS_VSTORE) {
        print_cells(p, s);
    } else if (s->vec.declares) {
        sb_printf(p->out, "%s %s: vec[%d, %s]", s->vec.var->constant ? "let" : "var", s->vec.var->name, s->vec.n, scalar_name(s->vec.var->type));
    } else {
        put(p, s->vec.var->name);
    }
    put(p, s->kind != IS_VSTORE && s->vec.declares ? " = " : " := ");
    if (s->kind == IS_VLOAD) {
        print_cells(p, s);
        return;
    }
    put(p, "(");
    for (int k = 0; k < s->vec.n; k++) {
        put(p, k ? ", " : "");
        print_expr(p, s->vec.values[k], PREC_ANY);
    }
    put(p, ")");
}

static void print_for(Printer *p, const ImpStmt *s)
{
    int mark = c_names_mark(p->names);
    put(p, s->loop.unroll ? "unrolled for " : "for ");
    const char *name = c_name_claim_loop(p->names, s->loop.var->name);
    sb_printf(p->out, "%s = ", name);
    print_nat(p, s->loop.lo, 0);
    put(p, " until ");
    print_nat(p, s->loop.hi, 0);
    if (!nat_is(s->loop.step, 1)) {
        put(p, " step ");
        print_nat(p, s->loop.step, 0);
    }
    if (s->loop.full) {
        put(p, ", full where ");
        print_expr(p, s->loop.full, PREC_ANY);
    }
    c_names_set(p->names, s->loop.var, name);
    sb_printf(p->out, " { -- %s\n", prim_name(s->loop.level));
    print_block(p, &s->loop.body);
    line(p);
    put(p, "}");
    c_names_release(p->names, mark);
}

static void print_stmt(Printer *p, const ImpStmt *s)
{
    switch (s->kind) {
    case IS_DECL:
    case IS_SET:
        print_var_stmt(p, s);
        break;
    case IS_STORE:
        print_cell(p, s->store.buf, s->store.index);
        put(p, " := ");
        print_expr(p, s->store.value, PREC_ANY);
        break;
    case IS_VSET:
    case IS_VLOAD:
    case IS_VSTORE:
        print_vec(p, s);
        break;
    case IS_ATOMIC:
        put(p, "atomic ");
        print_cell(p, s->atomic.buf, s->atomic.index);
        sb_printf(p->out, " := fun %s => ", s->atomic.old->name);
        print_expr(p, s->atomic.value, PREC_ANY);
        break;
    case IS_TICKET:
        sb_printf(p->out, "%s[0] := last ticket of %s", s->ticket.flag->name, s->ticket.buf->name);
        break;
    case IS_GRID_SYNC:
        sb_printf(p->out, "sync grid by %s", s->ticket.buf->name);
        break;
    case IS_GIVE:
        put(p, "give ");
        print_cell(p, s->exchange.mail, s->exchange.index);
        put(p, " := ");
        print_expr(p, s->exchange.value, PREC_ANY);
        break;
    case IS_AWAIT:
        sb_printf(p->out, "%s[0] := before ", s->exchange.cell->name);
        print_cell(p, s->exchange.mail, s->exchange.index);
        break;
    case IS_SERVE:
        for (int k = 0; k < s->serve.n_parts; k++) {
            const ImpServed *part = &s->serve.parts[k];
            sb_printf(p->out, "%s%s from ", k ? ", " : "serve ", part->mail->name);
            print_expr(p, part->unit, PREC_ANY);
            sb_printf(p->out, " by fun %s %s => ", part->sum->name, part->next->name);
            print_expr(p, part->value, PREC_ANY);
        }
        if (s->serve.row)
            sb_printf(p->out, " in rows of %s", nat_text(p->ctx, s->serve.row));
        break;
    case IS_FOR:
        print_for(p, s);
        break;
    case IS_IF:
        put(p, "if ");
        print_expr(p, s->branch.cond, PREC_ANY);
        put(p, " {\n");
        print_block(p, &s->branch.then);
        line(p);
        put(p, "}");
        if (s->branch.otherwise.list.n) {
            put(p, " else {\n");
            print_block(p, &s->branch.otherwise);
            line(p);
            put(p, "}");
        }
        break;
    case IS_SYNC:
        put(p, s->sync == SYNC_WARP ? "sync warp" : "sync block");
        break;
    case IS_ALLOC:
        sb_printf(p->out, "alloc %s", s->alloc->name);
        break;
    case IS_NOTE:
        sb_printf(p->out, "-- %s", s->note);
        break;
    }
    put(p, "\n");
}

static void print_block(Printer *p, const ImpBlock *block)
{
    p->depth++;
    for (int i = 0; i < block->list.n; i++) {
        const ImpCall *call = block->list.at[i]->call;
        line(p);
        if (call) {
            sb_printf(p->out, "-- function %s for %d:\n", call->function->name, call->n);
            line(p);
        }
        print_stmt(p, block->list.at[i]);
    }
    p->depth--;
}

/* ---- kernels --------------------------------------------------------------------------------------------------------- */

static void print_buf(Printer *p, const ImpBuf *buf)
{
    static const char *const spaces[] = {[SPACE_INPUT] = "input", [SPACE_OUTPUT] = "output", [SPACE_TEMP] = "temp", [SPACE_SHARED] = "shared"};
    if (buf->by_value) {
        sb_printf(p->out, "  value %s: %s\n", buf->name, scalar_name(buf->elem));
        return;
    }
    sb_printf(p->out, "  %s %s: ", spaces[buf->space], buf->name);
    print_nat(p, buf->count, 2);
    sb_printf(p->out, ".%s", scalar_name(buf->elem));
    if (buf->offset) {
        put(p, " at byte ");
        print_nat(p, buf->offset, 0);
    }
    if (buf->offset && buf->group >= 0)
        sb_printf(p->out, ", group %d", buf->group);
    if (buf->align)
        sb_printf(p->out, ", aligned to %d", buf->align);
    if (buf->swap) {
        sb_printf(p->out, ", or %s where ", buf->swap->name);
        print_nat(p, buf->turns, 2);
        put(p, " is odd");
    }
    put(p, "\n");
}

static void print_per_axis(Printer *p, const char *what, const Nat n[3])
{
    sb_printf(p->out, "  %s ", what);
    int last = 2;
    while (last > 0 && nat_is(n[last], 1))
        last--;
    for (int a = 0; a <= last; a++) {
        put(p, a ? " x " : "");
        print_nat(p, n[a], last ? 2 : 0);
    }
    put(p, "\n");
}

static void print_rest(Printer *p, const ImpKernel *k)
{
    for (int i = 0; i < k->n_sizes; i++)
        sb_printf(p->out, "%s%s", i ? ", " : "", k->sizes[i]->name);
    put(p, ")\n");
    /* Names of the kernel first, so that loop variables step aside. */
    for (int i = 0; i < k->bufs.n; i++)
        c_name_claim(p->names, k->bufs.at[i]->name);
    for (int i = 0; i < k->n_sizes; i++)
        c_names_set(p->names, k->sizes[i], c_name_claim(p->names, k->sizes[i]->name));
    for (int i = 0; i < k->vars.n; i++)
        c_name_claim(p->names, k->vars.at[i]->name);
    Nat threads[3];
    for (int a = 0; a < 3; a++)
        threads[a] = nat_const(p->ctx, k->threads[a]);
    print_per_axis(p, "threads", threads);
    print_per_axis(p, "blocks", k->blocks);
    for (int a = 0; a < 3; a++)
        if (k->from_last[a])
            sb_printf(p->out, "  blocks numbered from the last along %c\n", "xyz"[a]);
    if (k->group) {
        put(p, "  repeated for turn until ");
        print_nat(p, k->group->count, 0);
        put(p, "\n");
    }
    for (int i = 0; i < k->bufs.n; i++)
        print_buf(p, k->bufs.at[i]);
    if (k->shared_bytes && !nat_is(k->shared_bytes, 0)) {
        put(p, "  shared bytes ");
        print_nat(p, k->shared_bytes, 0);
        put(p, "\n");
    }
    put(p, "{\n");
    print_block(p, &k->body);
    put(p, "}\n");
}

static void print_kernel(Printer *p, const ImpKernel *k)
{
    for (const ImpKernel *other = k->otherwise; other; other = other->otherwise)
        if (other->unaligned)
            sb_printf(p->out, "-- where its buffers are not so aligned, vectors cell by cell: %s\n", other->name);
    sb_printf(p->out, "kernel %s(", k->name);
    print_rest(p, k);
}

void imp_print_kernel(StrBuf *out, const ImpKernel *kernel)
{
    Printer p = {.ctx = out->ctx, .out = out, .names = c_names_new(out->ctx, false), .facts = kernel->known};
    print_rest(&p, kernel);
}

void imp_print(StrBuf *out, const ImpProgram *program)
{
    for (int i = 0; i < program->kernels.n; i++) { /* its other forms have the same body */
        const ImpKernel *k = program->kernels.at[i];
        Printer p = {.ctx = out->ctx, .out = out, .names = c_names_new(out->ctx, false), .facts = k->known};
        put(&p, i ? "\n" : "");
        print_kernel(&p, k);
    }
}
