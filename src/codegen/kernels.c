/* Entries of several kernels: how each begins, and what they share.
 *
 * While an entry is translated, all kernels refer to the same buffers of global memory, and views made for one kernel are read in another. At the
 * end each kernel gets buffers, registers and expressions of its own; what could not come along is refused. */
#include "codegen/ways.h"
#include "codegen/walk.h"

bool kernel_has_blocks(const ImpKernel *kernel)
{
    return kernel->grid[0]->kind == NAT_VAR || kernel->grid[1]->kind == NAT_VAR || kernel->grid[2]->kind == NAT_VAR;
}

/* ---- beginning one ------------------------------------------------------------------------------------------------------ */

ImpKernel *kernel_before(Lowering *lw)
{
    Ctx *ctx = lw->ctx;
    ImpKernel *kernel = lw->kernel;
    if (kernel->init)
        return kernel->init;
    Nat zero = nat_const(ctx, 0), one = nat_const(ctx, 1);
    ImpKernel *init = NEW(ctx, ImpKernel);
    init->entry = kernel->entry;
    init->known = kernel->known;
    init->group = kernel->group;
    init->warp = init->lane = zero;
    init->lanes = WARP_LANES;
    for (int a = 0; a < 3; a++) {
        init->threads[a] = 1;
        init->blocks[a] = init->grid[a] = one;
        init->block[a] = init->thread[a] = zero;
    }
    way_kernel_before(lw, init);
    return kernel->init = init;
}

void kernel_end(Lowering *lw)
{
    if (lw->kernel && !lw->failed)
        layout_finish_in_place(lw);
}

void kernel_begin(Lowering *lw, const Core *start, const Core *scope)
{
    Ctx *ctx = lw->ctx;
    const CoreEntry *entry = lw->entry;
    kernel_end(lw);
    ImpKernel *kernel = NEW(ctx, ImpKernel);
    kernel->name = entry->name; /* until all kernels are there */
    kernel->entry = entry;
    kernel->group = lw->group;
    kernel->lanes = WARP_LANES;
    way_kernel(lw, kernel, start);
    kernel->known = lw->known;
    lw->kernel = kernel;
    lw->most_statements = lw->n_statements + LIMIT_IMP_STATEMENTS;
    lw->out = &kernel->body;
    lw->facts = nat_facts_new(ctx, lw->known);
    launch_plan(lw, start);
    way_facts(lw);
    for (int i = 0; i < entry->n_inputs; i++) /* a scalar that several places read goes into a register of this kernel */
        lower_bind(lw, entry->inputs[i], lw->inputs[i], scope);
}

/* ---- what a kernel has of its own ----------------------------------------------------------------------------------------- */

typedef struct Owner {
    Lowering *lw;
    ImpKernel *kernel;
    ImpBuf **copies; /* of lw->globals; NULL: not used */
    Span span;
} Owner;

static void left_behind(Owner *o, Span span, const char *name, const char *what)
{
    if (o->lw->failed)
        return; /* once is enough */
    Diag *d = lower_error(o->lw, E0421, span, "%s does not live on in the next kernel", name ? ctx_printf(o->lw->ctx, "`%s`", name) : "this value");
    diag_label(o->lw->ctx, d, "it lies in %s of the kernel before", what);
    diag_help(o->lw->ctx, d, "store it in global memory before `nextKernel`: `toGlobal`");
}

static ImpKernel *kernel_of(const Owner *o, const ImpVar *var)
{
    for (int k = 0; k < o->lw->ways->begun.n; k++) {
        ImpKernel *kernel = o->lw->ways->begun.at[k].kernel;
        if (var->id < kernel->vars.n && kernel->vars.at[var->id] == var)
            return kernel;
    }
    return NULL;
}

typedef struct FindDecl {
    const ImpVar *var;
    ImpExpr *value;
    bool again; /* set a second time */
} FindDecl;

static void find_decl(void *user, ImpStmt *s)
{
    FindDecl *f = user;
    if ((s->kind != IS_DECL && s->kind != IS_SET) || s->var.var != f->var)
        return;
    f->again |= f->value || s->kind == IS_SET;
    f->value = s->var.value;
}

static void find_local(void *user, ImpExpr **at)
{
    const ImpExpr *e = *at;
    bool *local = user;
    *local |= e->kind == IE_VAR || e->kind == IE_SHFL || (e->kind == IE_LOAD && e->mem.buf->space != SPACE_INPUT);
}

static void round_product(void *user, ImpExpr **at)
{
    (void)user;
    if ((*at)->kind == IE_OP && (*at)->op.id == P_mul && scalar_is_float((*at)->type))
        (*at)->op.rounded = true;
}

/* The value of another kernel's register where this kernel can compute it as well: from inputs and sizes alone. */
static ImpExpr *computed_again(const Owner *o, const ImpVar *var)
{
    ImpKernel *home = kernel_of(o, var);
    FindDecl f = {var, NULL, false};
    if (!home || !var->constant)
        return NULL;
    walk_stmts(&home->body, find_decl, &f);
    bool local = f.again || !f.value;
    if (f.value)
        walk_expr(&f.value, find_local, &local);
    if (local)
        return NULL;
    walk_expr(&f.value, round_product, NULL); /* both kernels get the same bits */
    return imp_copy_expr(o->lw->ctx, f.value);
}

static void own_expr(void *user, ImpExpr **at)
{
    Owner *o = user;
    const ImpExpr *e = *at;
    if (e->kind != IE_VAR || kernel_of(o, e->var.var) == o->kernel)
        return;
    ImpExpr *again = computed_again(o, e->var.var);
    if (again)
        *at = again;
    else
        left_behind(o, e->span, e->var.var->named ? e->var.var->name : NULL, "a register");
}

static void own_buf(void *user, ImpBuf **at)
{
    Owner *o = user;
    Ctx *ctx = o->lw->ctx;
    ImpBuf *buf = *at;
    if (buf->space == SPACE_SHARED) {
        bool mine = false;
        for (int i = 0; i < o->kernel->bufs.n; i++)
            mine |= o->kernel->bufs.at[i] == buf;
        if (!mine)
            left_behind(o, o->span, buf->name, "the shared memory");
        return;
    }
    ImpBuf **copy = &o->copies[buf->id];
    if (*copy == NULL) {
        *copy = NEW(ctx, ImpBuf);
        **copy = *buf;
        (*copy)->align = 0;
    }
    *at = *copy;
}

static void foreign_nat(void *user, Nat var)
{
    Owner *o = user;
    for (int k = 0; k < o->lw->ways->begun.n; k++) {
        const ImpKernel *kernel = o->lw->ways->begun.at[k].kernel;
        bool its = var == kernel->warp || var == kernel->lane;
        for (int a = 0; a < 3; a++)
            its |= var == kernel->grid[a] || var == kernel->block[a] || var == kernel->thread[a];
        for (int i = 0; i < kernel->vars.n; i++)
            its |= kernel->vars.at[i]->nat == var;
        if (its && kernel != o->kernel)
            left_behind(o, o->span, NULL, "registers");
    }
}

static void own_nat(void *user, Nat nat)
{
    Owner *o = user;
    nat_each_var(o->lw->ctx, nat, foreign_nat, o);
}

static void own_values(void *user, ImpStmt *s)
{
    Owner *o = user;
    o->span = s->span;
    imp_own_exprs(o->lw->ctx, s);
    walk_own(s, own_expr, o);
    walk_nats(s, own_nat, o);
}

static void own_bufs(void *user, ImpStmt *s)
{
    Owner *o = user;
    o->span = s->span;
    walk_bufs(s, own_buf, o);
    if (s->kind == IS_VLOAD || s->kind == IS_VSTORE) { /* this kernel needs it, whatever others do */
        int bytes = s->vec.n * scalar_bytes(s->vec.buf->elem);
        s->vec.buf->align = s->vec.buf->align > bytes ? s->vec.buf->align : bytes;
    }
}

typedef struct VarReads {
    const ImpVar *var;
    bool found;
} VarReads;

static void find_read(void *user, ImpExpr **at)
{
    VarReads *r = user;
    r->found |= (*at)->kind == IE_VAR && (*at)->var.var == r->var;
}

/* Scalar inputs that this kernel has no use for. */
static void drop_unread(ImpKernel *kernel)
{
    for (int i = 0; i < kernel->body.list.n; i++) {
        const ImpStmt *s = kernel->body.list.at[i];
        VarReads r = {s->var.var, false};
        if (s->kind != IS_DECL || !s->var.value || !s->var.var->constant || s->var.var->nat)
            continue;
        walk_block(&kernel->body, find_read, &r);
        if (!r.found)
            block_remove(&kernel->body, i--);
    }
}

/* What other kernels computed. All kernels still refer to the same buffers. */
void own_kernel_values(Lowering *lw, ImpKernel *kernel)
{
    Owner o = {.lw = lw, .kernel = kernel};
    walk_stmts(&kernel->body, own_values, &o);
}

void own_kernel_bufs(Lowering *lw, ImpKernel *kernel, const ImpHint *hints, int n_hints)
{
    Ctx *ctx = lw->ctx;
    Owner o = {.lw = lw, .kernel = kernel};
    o.copies = NEWN(ctx, ImpBuf *, lw->globals.n);
    drop_unread(kernel);
    walk_stmts(&kernel->body, own_bufs, &o);
    VEC(ImpBuf *) bufs = {0};
    for (int i = 0; i < lw->globals.n; i++)
        if (o.copies[i]) {
            o.copies[i]->hint = i < n_hints ? hints[i] : HINT_NONE;
            vec_push(ctx, &bufs, o.copies[i]);
        }
    for (int i = 0; i < kernel->bufs.n; i++)
        vec_push(ctx, &bufs, kernel->bufs.at[i]);
    for (int i = 0; i < bufs.n; i++)
        bufs.at[i]->id = i;
    kernel->bufs.at = bufs.at;
    kernel->bufs.n = bufs.n;
    kernel->bufs.cap = bufs.cap;
}

/* ---- all of them ---------------------------------------------------------------------------------------------------------------- */

void lower_kernels(Lowering *lw)
{
    Ctx *ctx = lw->ctx;
    const CoreEntry *entry = lw->entry;
    lw->known = nat_facts_new(ctx, (NatFacts *)entry->known);
    lw->ways = NEW(ctx, Ways);
    View *result = lower_buffers(lw, entry->result, (BufMaker){.space = SPACE_OUTPUT, .name = "result", .span = entry->name_span});
    lw->inputs = NEWN(ctx, View *, entry->n_inputs);
    int first = 0;
    for (int i = 0; i < entry->n_inputs; i++) {
        CoreVar *var = entry->inputs[i];
        View *written = i >= entry->n_inputs - entry->n_names ? lower_result_place(lw, entry->body, var, result) : NULL;
        lw->inputs[i] = written ? written : lower_buffers(lw, var->type, (BufMaker){.space = SPACE_INPUT, .name = var->name, .span = var->span, .first = first});
        mark_complete(lw->inputs[i], true);
        first += type_component_count(var->type);
    }
    ways_go(lw, result);
}
