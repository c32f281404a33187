/* From the imp of a kernel to flat code.
 *
 * Before: a tree of statements over nats. After: instructions on registers of 32 lanes with explicit masks, which a warp can leave at a
 * barrier and enter again. Nats that have one value for the warp (sizes, the block, the warp, loops that start and step alike in all
 * lanes) are computed once, in scalar registers. An instruction runs only while some lane is active. */
#include "codegen/full_tiles.h"
#include "codegen/walk.h"
#include "sim/compile.h"

static void compile_block(Compiler *c, const ImpBlock *block);

/* ---- statements ---------------------------------------------------------------------------------------------------- */

static void emit_set(Compiler *c, int dst, int value)
{
    Ins *i = compile_emit(c, X_SET);
    i->dst = dst;
    i->a = value;
}

static void compile_set(Compiler *c, const ImpStmt *s)
{
    const ImpVar *var = s->var.var;
    struct IndexCosts *costs = c->costs;
    c->costs = index_name(costs, s) ? NULL : costs;
    int value = s->var.value ? compile_expr(c, s->var.value) : -1, reg = var_register(c, var);
    c->costs = costs;
    if (s->kind == IS_DECL) {
        Ins *i = compile_emit(c, X_UNSET);
        i->dst = reg;
        i->k = var->slots;
        for (int k = 0; value >= 0 && k < var->slots; k++)
            emit_set(c, reg + k, value);
    } else if (!s->var.slot || nat_is_const(s->var.slot)) {
        int64_t slot = s->var.slot ? s->var.slot->value : 0;
        if (slot < 0 || slot >= var->slots)
            compile_bug(c, ctx_printf(c->run->ctx, "sets slot %lld of `%s`, which has %d", (long long)slot, var->name, var->slots));
        else
            emit_set(c, reg + (int)slot, value);
    } else {
        int slot = compile_nat(c, s->var.slot, s->span);
        Ins *i = compile_emit(c, X_SET_SLOT);
        i->dst = value;
        i->a = slot;
        i->b = reg;
        i->c = var->id;
        i->k = var->slots;
        i->site = compile_site(c, s->span, NULL, true, "");
    }
    if (s->kind == IS_DECL)
        c->var_known[var->id] = value >= 0;
    index_bind(c->costs, var->nat);
    if (var->nat && value >= 0 && var->nat->kind == NAT_VAR)
        check_range(c, var->nat, reg, s->span);
}

static void compile_store(Compiler *c, const ImpStmt *s)
{
    if (s->store.buf->space == SPACE_INPUT)
        compile_bug(c, "writes an input");
    index_count(c->costs, s->store.index, true, c->place);
    int value = compile_expr(c, s->store.value), index = compile_nat(c, s->store.index, s->span);
    Ins *i = compile_emit(c, X_STORE);
    i->dst = value;
    i->a = index;
    i->b = s->store.buf->id;
    i->site = compile_site(c, s->span, s->store.buf, true, "");
    c->code->sites.at[i->site].unordered = s->store.unordered;
}

/* All values before the registers are set: they may be read in them. */
static void compile_vector_set(Compiler *c, const ImpStmt *s)
{
    int value[IMP_VECTOR_MAX], reg = var_register(c, s->vec.var);
    for (int k = 0; k < s->vec.n; k++) {
        int at = compile_expr(c, s->vec.values[k]);
        value[k] = register_temp(c);
        Ins *i = compile_emit(c, X_MOVE);
        i->dst = value[k];
        i->a = at;
    }
    for (int k = 0; k < s->vec.n; k++)
        emit_set(c, reg + k, value[k]);
}

/* The first half of an access of one cell. */
static Ins *compile_cell_access(Compiler *c, const ImpStmt *s, int k, OpCode op)
{
    Nat cell = nat_add_k(c->run->ctx, s->vec.index, k);
    index_count(c->costs, cell, true, s->span);
    int index = compile_nat(c, cell, s->span);
    Ins *i = compile_emit(c, op);
    i->a = index;
    i->b = s->vec.buf->id;
    i->site = compile_site(c, s->span, s->vec.buf, op == X_STORE, "");
    return i;
}

/* A vector of what may not be aligned: cell by cell, all loads before the registers are set. */
static void compile_cells(Compiler *c, const ImpStmt *s)
{
    int value[IMP_VECTOR_MAX];
    for (int k = 0; s->kind == IS_VSTORE && k < s->vec.n; k++)
        value[k] = compile_expr(c, s->vec.values[k]);
    for (int k = 0; k < s->vec.n; k++) {
        Ins *i = compile_cell_access(c, s, k, s->kind == IS_VSTORE ? X_STORE : X_LOAD);
        i->dst = s->kind == IS_VSTORE ? value[k] : (value[k] = register_temp(c));
    }
    for (int k = 0; s->kind == IS_VLOAD && k < s->vec.n; k++)
        emit_set(c, var_register(c, s->vec.var) + k, value[k]);
}

static void compile_vector(Compiler *c, const ImpStmt *s)
{
    if (s->kind != IS_VSTORE && (s->vec.var->slots != s->vec.n || !s->vec.var->vector))
        compile_bug(c, "moves a vector through registers of another size");
    if (s->kind != IS_VSTORE && s->vec.declares) {
        Ins *i = compile_emit(c, X_UNSET);
        i->dst = var_register(c, s->vec.var);
        i->k = s->vec.n;
    }
    if (s->kind == IS_VSET) {
        compile_vector_set(c, s);
        return;
    }
    if (s->kind == IS_VSTORE && s->vec.buf->space == SPACE_INPUT)
        compile_bug(c, "writes an input");
    if (s->vec.buf->space != SPACE_SHARED && s->vec.buf->space != SPACE_TEMP && c->run->kernel->unaligned) {
        compile_cells(c, s);
        return;
    }
    int first = c->code->operands.n, values[IMP_VECTOR_MAX] = {0};
    for (int k = 0; s->kind == IS_VSTORE && k < s->vec.n; k++)
        values[k] = compile_expr(c, s->vec.values[k]);
    for (int k = 0; s->kind == IS_VSTORE && k < s->vec.n; k++)
        run_push(c->arena, &c->code->operands, values[k]);
    index_count(c->costs, s->vec.index, true, s->span);
    int index = compile_nat(c, s->vec.index, s->span);
    Ins *i = compile_emit(c, s->kind == IS_VLOAD ? X_VLOAD : X_VSTORE);
    i->dst = s->kind == IS_VLOAD ? var_register(c, s->vec.var) : 0;
    i->a = index;
    i->b = s->vec.buf->id;
    i->c = first;
    i->k = s->vec.n;
    i->site = compile_site(c, s->span, s->vec.buf, s->kind == IS_VSTORE, "");
}

typedef struct OldReads {
    const ImpVar *old;
    bool found;
} OldReads;

static void find_old(void *user, ImpExpr **at)
{
    OldReads *r = user;
    r->found |= (*at)->kind == IE_VAR && (*at)->var.var == r->old;
}

/* Computes what does not hang on the old value, all lanes together. What only one side of a condition wants is left to it. */
static void compile_ready(Compiler *c, ImpExpr *e, const ImpVar *old)
{
    OldReads reads = {old, false};
    walk_expr(&e, find_old, &reads);
    if (!reads.found) {
        int operand = compile_expr(c, e);
        run_push(c->arena, &c->ready, ((Ready){e, operand}));
        return;
    }
    for (int k = 0; e->kind == IE_OP && k < e->op.n; k++)
        compile_ready(c, e->op.args[k], old);
    if (e->kind == IE_CAST)
        compile_ready(c, e->cast.value, old);
}

/* Lane by lane: each sees what the one before it left. */
static void compile_atomic(Compiler *c, const ImpStmt *s)
{
    compile_ready(c, s->atomic.value, s->atomic.old);
    int index = compile_nat(c, s->atomic.index, s->span), old = var_register(c, s->atomic.old), m = compile_masks(c, 2);
    uint32_t at = compile_site(c, s->span, s->atomic.buf, true, "");
    compile_emit(c, X_LANES)->m = m;
    int top = compile_here(c);
    compile_emit(c, X_LANE)->m = m;
    Ins *i = compile_emit(c, X_OLD);
    i->dst = old;
    i->a = index;
    i->b = s->atomic.buf->id;
    i->site = at;
    c->var_known[s->atomic.old->id] = true;
    int value = compile_expr(c, s->atomic.value);
    c->var_known[s->atomic.old->id] = false;
    i = compile_emit(c, X_ATOMIC);
    i->dst = value;
    i->a = index;
    i->b = s->atomic.buf->id;
    i->site = at;
    compile_emit(c, X_JUMP)->k = top;
    c->code->ins.at[top].k = compile_here(c);
    c->masks -= 2;
    c->ready.n = 0;
}

static void compile_ticket(Compiler *c, const ImpStmt *s)
{
    int value = register_temp(c);
    Ins *i = compile_emit(c, X_TICKET);
    i->dst = value;
    i->a = s->ticket.buf->id;
    i->site = compile_site(c, s->span, s->ticket.buf, true, "");
    i = compile_emit(c, X_STORE);
    i->dst = value;
    i->a = const_operand(c, 0);
    i->b = s->ticket.flag->id;
    i->site = compile_site(c, s->span, s->ticket.flag, true, "");
}

typedef struct FindServe {
    const ImpBuf *mail;
    const ImpStmt *found;
    int part;
} FindServe;

static void find_serve(void *user, ImpStmt *s)
{
    FindServe *f = user;
    for (int k = 0; s->kind == IS_SERVE && k < s->serve.n_parts; k++)
        if (s->serve.parts[k].mail == f->mail) {
            f->found = s;
            f->part = k;
        }
}

static void compile_serve(Compiler *c, const ImpStmt *s)
{
    int n = compile_nat(c, s->serve.n, s->span);
    for (int k = 0; k < s->serve.n_parts; k++) {
        Ins *i = compile_emit(c, X_SERVE);
        i->a = n;
        i->b = s->serve.parts[k].mail->id;
        i->site = compile_site(c, s->span, s->serve.parts[k].mail, true, "");
    }
}

static void set_known(Compiler *c, const ImpStmt *serve, bool known)
{
    for (int k = 0; k < serve->serve.n_parts; k++)
        c->var_known[serve->serve.parts[k].sum->id] = c->var_known[serve->serve.parts[k].next->id] = known;
}

static void compile_before(Compiler *c, const ImpStmt *give, const ImpBuf *mail, int sum, int unit, int index, int place)
{
    Ins *i = compile_emit(c, X_BEFORE);
    i->dst = sum;
    i->a = index;
    i->b = mail->id;
    i->c = unit;
    i->m = place;
    i->site = compile_site(c, give->span, mail, true, "");
}

static void compile_total(Compiler *c, const ImpBuf *mail, int sum)
{
    Ins *i = compile_emit(c, X_TOTAL);
    i->dst = sum;
    i->b = mail->id;
}

/* What the answering block makes of a total, all of whose parts are in their registers. */
static void compile_answer(Compiler *c, const ImpStmt *give, const ImpStmt *serve)
{
    Ctx *ctx = c->run->ctx;
    int n = serve->serve.n_parts, *sums = NEWN(ctx, int, n), index = compile_nat(c, give->exchange.index, give->span);
    int place = serve->serve.row ? compile_nat(c, nat_mod(ctx, give->exchange.index, serve->serve.row), give->span) : index;
    for (int k = 0; k < n; k++) {
        const ImpServed *part = &serve->serve.parts[k];
        compile_before(c, give, part->mail, var_register(c, part->sum), compile_expr(c, part->unit), index, place);
    }
    set_known(c, serve, true);
    for (int k = 0; k < n; k++)
        sums[k] = compile_expr(c, serve->serve.parts[k].value);
    set_known(c, serve, false);
    for (int k = 0; k < n; k++)
        compile_total(c, serve->serve.parts[k].mail, sums[k]);
}

static void compile_give(Compiler *c, const ImpStmt *s)
{
    FindServe f = {s->exchange.mail, NULL, 0};
    ImpBlock body = c->run->kernel->body;
    walk_stmts(&body, find_serve, &f);
    int total = compile_expr(c, s->exchange.value);
    if (!f.found) { /* no block answers, which is found in the end */
        int index = compile_nat(c, s->exchange.index, s->span);
        compile_before(c, s, s->exchange.mail, register_temp(c), total, index, index);
        compile_total(c, s->exchange.mail, total);
        return;
    }
    Ins *i = compile_emit(c, X_MOVE);
    i->dst = var_register(c, f.found->serve.parts[f.part].next);
    i->a = total;
    if (f.part == f.found->serve.n_parts - 1)
        compile_answer(c, s, f.found);
}

static void compile_await(Compiler *c, const ImpStmt *s)
{
    int before = register_temp(c), index = compile_nat(c, s->exchange.index, s->span);
    Ins *i = compile_emit(c, X_AWAIT);
    i->dst = before;
    i->a = index;
    i->b = s->exchange.mail->id;
    i->site = compile_site(c, s->span, s->exchange.mail, true, "");
    i = compile_emit(c, X_STORE);
    i->dst = before;
    i->a = const_operand(c, 0);
    i->b = s->exchange.cell->id;
    i->site = compile_site(c, s->span, s->exchange.cell, true, "");
}

static void compile_for(Compiler *c, const ImpStmt *s)
{
    index_count(c->costs, s->loop.lo, false, s->span);
    index_count(c->costs, s->loop.hi, false, s->span);
    index_count(c->costs, s->loop.step, false, s->span);
    int lo = compile_nat(c, s->loop.lo, s->span), hi = compile_nat(c, s->loop.hi, s->span), step = compile_nat(c, s->loop.step, s->span);
    /* Active lanes are always in the same trip: where they start and step alike, they have the same value. */
    int var = lo < 0 && step < 0 ? ~register_of(c, &c->scalars) : register_temp(c);
    int m = compile_masks(c, 2), bindings = c->bindings.n;
    uint32_t at = compile_site(c, s->span, NULL, false, "a loop bound");
    Ins *i = compile_emit(c, X_FOR);
    i->dst = var;
    i->a = lo;
    i->b = step;
    i->c = hi;
    i->m = m;
    i->site = at;
    int test = compile_here(c);
    i = compile_emit(c, X_TEST);
    i->prim = s->loop.unroll;
    i->a = var;
    i->b = hi;
    i->m = m;
    bind_nat(c, s->loop.var, var, -1);
    index_enter(c->costs, true, s->loop.unroll);
    index_bind(c->costs, s->loop.var);
    if (s->loop.var->kind == NAT_VAR)
        check_range(c, s->loop.var, var, s->span);
    run_push(c->arena, &c->loops, m + 1);
    compile_block(c, &s->loop.body);
    c->loops.n--;
    i = compile_emit(c, X_STEP);
    i->prim = s->loop.unroll;
    i->dst = var;
    i->a = step;
    i->m = m;
    i->k = test;
    i->site = at;
    index_leave(c->costs, compile_here(c) - 1);
    c->code->ins.at[test].k = compile_here(c);
    compile_emit(c, X_ENDFOR)->m = m;
    c->bindings.n = bindings;
    c->masks -= 2;
}

static void compile_branch(Compiler *c, const ImpBlock *block)
{
    int first = compile_here(c);
    index_enter(c->costs, false, false);
    compile_block(c, block);
    index_leave(c->costs, first);
}

static void compile_if(Compiler *c, const ImpStmt *s)
{
    int m = compile_masks(c, 2), cond = compile_expr(c, s->branch.cond);
    Ins *i = compile_emit(c, X_IF);
    i->a = cond;
    i->m = m;
    int branch = compile_here(c) - 1;
    compile_branch(c, &s->branch.then);
    c->code->ins.at[branch].k = compile_here(c);
    compile_emit(c, X_ELSE)->m = m;
    branch = compile_here(c) - 1;
    compile_branch(c, &s->branch.otherwise);
    c->code->ins.at[branch].k = compile_here(c);
    compile_emit(c, X_ENDIF)->m = m;
    c->masks -= 2;
}

static void compile_sync(Compiler *c, const ImpStmt *s)
{
    Ins *i = compile_emit(c, s->sync == SYNC_WARP ? X_SYNC_WARP : X_SYNC_BLOCK);
    i->a = c->code->sync_loops.n;
    i->b = c->loops.n;
    i->site = compile_site(c, s->span, NULL, false, "");
    for (int k = 0; k < c->loops.n; k++)
        run_push(c->arena, &c->code->sync_loops, c->loops.at[k]);
}

static void compile_stmt(Compiler *c, const ImpStmt *s)
{
    Mark m = register_mark(c);
    Span outer = c->statement;
    c->span = s->span;
    c->statement = c->place = outer.file && declares_input(c, s->span) ? outer : s->span;
    switch (s->kind) {
    case IS_DECL:
    case IS_SET: compile_set(c, s); break;
    case IS_STORE: compile_store(c, s); break;
    case IS_VSET:
    case IS_VLOAD:
    case IS_VSTORE: compile_vector(c, s); break;
    case IS_FOR:
        if (s->loop.full)
            compile_if(c, tile_full_or_not(c->run->ctx, s));
        else
            compile_for(c, s);
        break;
    case IS_IF: compile_if(c, s); break;
    case IS_SYNC: compile_sync(c, s); break;
    case IS_ATOMIC: compile_atomic(c, s); break;
    case IS_TICKET: compile_ticket(c, s); break;
    case IS_GIVE: compile_give(c, s); break;
    case IS_AWAIT: compile_await(c, s); break;
    case IS_SERVE: compile_serve(c, s); break;
    case IS_GRID_SYNC: compile_emit(c, X_SYNC_GRID)->site = compile_site(c, s->span, NULL, false, ""); break;
    case IS_ALLOC: compile_emit(c, X_ALLOC)->a = s->alloc->id; break;
    case IS_NOTE: break;
    }
    c->statement = c->place = outer;
    register_release(c, m);
}

static void compile_block(Compiler *c, const ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++)
        compile_stmt(c, block->list.at[i]);
    /* Outside of its block a declaration says nothing. */
    for (int i = 0; i < block->list.n; i++)
        if (block->list.at[i]->kind == IS_DECL)
            c->var_known[block->list.at[i]->var.var->id] = false;
}

/* ---- the kernel ---------------------------------------------------------------------------------------------------- */

static int hardware(Compiler *c, Nat nat, bool uniform)
{
    if (!nat || nat->kind != NAT_VAR)
        return NO_REG;
    int operand = uniform ? ~c->scalars.n++ : c->vectors.n++;
    bind_nat(c, nat, operand, -1);
    return operand;
}

static void bind_launch(Compiler *c)
{
    Run *run = c->run;
    const ImpKernel *k = run->kernel;
    const CoreEntry *entry = run->program->entry;
    for (int i = 0; i < entry->n_sizes; i++)
        bind_nat(c, entry->sizes[i], const_operand(c, run->launch->sizes[i]), -1);
    for (int a = 0; a < 3; a++)
        if (k->grid[a])
            bind_nat(c, k->grid[a], const_operand(c, run->grid[a]), -1);
    int64_t below = 1; /* threads that differ only in lower axes: a multiple of 32 keeps a warp within one value */
    for (int a = 0; a < 3; a++) {
        c->code->block_reg[a] = hardware(c, k->block[a], true);
        c->code->thread_reg[a] = hardware(c, k->thread[a], below % WARP == 0);
        below *= k->threads[a];
    }
    c->code->warp_reg = hardware(c, k->warp, k->lanes % WARP == 0);
    c->code->lane_reg = hardware(c, k->lane, false);
    for (int i = 0; i < k->vars.n; i++) {
        const ImpVar *var = k->vars.at[i];
        if (var->nat)
            bind_nat(c, var->nat, var_register(c, var), var->id);
    }
}

bool compile_kernel(Run *run, Code *code)
{
    const ImpKernel *kernel = run->kernel;
    Compiler c = {.run = run, .arena = run->arena, .code = code, .costs = index_costs_new(run, code)};
    size_t n = (size_t)kernel->vars.n;
    c.var_reg = ARENA_NEWN(run->arena, int, n);
    c.var_known = ARENA_NEWN(run->arena, bool, n);
    for (size_t i = 0; i < n; i++) {
        c.var_reg[i] = -1;
        if (kernel->vars.at[i]->id != (int)i || kernel->vars.at[i]->slots < 1)
            compile_bug(&c, "numbers its registers wrongly");
    }
    for (int i = 0; i < kernel->bufs.n; i++)
        if (kernel->bufs.at[i]->id != i)
            compile_bug(&c, "numbers its buffers wrongly");
    if (c.failed)
        return false;
    bind_launch(&c);
    compile_block(&c, &kernel->body);
    compile_emit(&c, X_END);
    code->n_vectors = c.vectors.n;
    code->n_scalars = c.scalars.n;
    return !c.failed;
}
