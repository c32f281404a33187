/* scanBlocks(op, unit, f, g, xs): a scan over the elements of a grid in one pass.
 *
 *   if (this is the last block)   its first warp answers the totals, in the order of the elements
 *   else for (i = block; i < n; i += blocks - 1)
 *       (total, rest) = f xs[i]   rest stays in registers and shared memory
 *       before = exchange total   what op makes of the totals before it
 *       g before rest             written to A[i]
 *
 * Where it can, a block gives the next total before it waits (scan_pipeline.c). Each exchange has words of its own in global memory, zero before and after. All blocks are resident (a cooperative launch), so whoever has the least
 * element that is not done waits for nobody but the last block. The totals are combined in a fixed grouping: results are the same in every run. */
#include "codegen/lowering.h"

typedef struct Scan {
    const Core *pattern;
    View *xs, *acceptor;
    const Env *env;
    ImpBuf *mail, *cell;
    Type total;
    int split; /* statements of a step up to where it waits */
} Scan;

enum { ARG_OP, ARG_UNIT, ARG_F, ARG_G, ARG_XS };

static bool refuse(Lowering *lw, Span span, const char *what, const char *help)
{
    Diag *d = lower_error(lw, E0425, span, "%s", what);
    diag_help(lw->ctx, d, "%s", help);
    return false;
}

static bool scan_fits(Lowering *lw, const Core *e)
{
    Type t = e->prim.args[ARG_UNIT]->type;
    if (!lower_at_grid_level(lw, e))
        return false;
    if (t->kind != TY_SCALAR && t->kind != TY_IDX)
        return refuse(lw, e->span, "the totals of scanBlocks are no scalars", "give the grid one scalar of each block; what else the block knows may stay with it, in f's second component");
    for (int a = 1; a < 3; a++)
        if (lw->kernel->grid[a]->kind == NAT_VAR)
            return refuse(lw, e->span, "scanBlocks in a grid of several axes", "its blocks stand in a row: leave mapBlock[y] and mapBlock[z] to another kernel, by `nextKernel`");
    return true;
}

/* ---- the block that answers ------------------------------------------------------------------------------------------------------- */

/* op over two registers, as one expression; false when it takes more than that (diagnosed). */
static bool combine(Lowering *lw, const Core *op, ImpStmt *serve)
{
    Ctx *ctx = lw->ctx;
    ImpBlock *out = lw->out, steps = {{0}};
    ImpVar *vars[2] = {serve->serve.sum, serve->serve.next};
    View *args[2];
    for (int k = 0; k < 2; k++) {
        args[k] = view_new(lw, VIEW_SCALAR, op->lambda.params[k]->type, op->span);
        args[k]->expr = imp_var(ctx, vars[k], nat_const(ctx, 0), op->span);
    }
    lw->out = &steps;
    View *result = lower_apply_read(lw, op, lw->env, 2, args);
    serve->serve.value = result->kind == VIEW_ERROR ? NULL : view_scalar(lw, result);
    lw->out = out;
    if (!serve->serve.value)
        return false;
    if (steps.list.n)
        return refuse(lw, op->span, "this operator computes in several steps, and the totals are combined by one expression", "write the operator as one expression, without `let`");
    return true;
}

static void serve_totals(Lowering *lw, const Scan *scan, Nat n)
{
    Ctx *ctx = lw->ctx;
    const Core *e = scan->pattern;
    ImpBlock *out = lw->out;
    Scalar elem = scan->cell->elem;
    ImpStmt *serve = imp_stmt(ctx, NULL, IS_SERVE, e->span);
    serve->serve.mail = scan->mail;
    serve->serve.n = n;
    serve->serve.lane = lw->kernel->lane;
    serve->serve.sum = lower_new_var(lw, "a", elem, e->span);
    serve->serve.next = lower_new_var(lw, "b", elem, e->span);
    if (lw->kernel->warp->kind == NAT_VAR) {
        ImpStmt *s = lower_emit(lw, IS_IF, e->span);
        s->branch.cond = nat_cmp(lw, P_eq, lw->kernel->warp, nat_const(ctx, 0), e->span);
        lw->out = &s->branch.then;
    }
    serve->serve.unit = view_scalar(lw, lower_read(lw, e->prim.args[ARG_UNIT]));
    if (combine(lw, e->prim.args[ARG_OP], serve))
        vec_push(ctx, &lw->out->list, serve);
    lw->out = out;
}

/* ---- the others ---------------------------------------------------------------------------------------------------------------------- */

/* A statement for the first thread of the block. */
static ImpStmt *exchange(Lowering *lw, const Scan *scan, ImpStmtKind kind, Nat i)
{
    ImpStmt *s = imp_stmt(lw->ctx, lw->out, kind, scan->pattern->span);
    s->exchange.mail = scan->mail;
    s->exchange.index = i;
    return s;
}

static void give_total(Lowering *lw, Scan *scan, Nat i, View *total)
{
    Span span = scan->pattern->span;
    ImpBlock *out = lw->out;
    ImpStmt *s = lower_emit(lw, IS_IF, span); /* threads are a whole number of warps */
    s->branch.cond = first_thread(lw, span);
    lw->out = &s->branch.then;
    ImpExpr *value = view_scalar(lw, total);
    exchange(lw, scan, IS_GIVE, i)->exchange.value = value;
    lw->out = out;
    scan->split = out->list.n;
    s = lower_emit(lw, IS_IF, span);
    s->branch.cond = first_thread(lw, span);
    lw->out = &s->branch.then;
    exchange(lw, scan, IS_AWAIT, i)->exchange.cell = scan->cell;
    lw->out = out;
}

static void scan_step(Lowering *lw, Nat i, void *user)
{
    Scan *scan = user;
    const Core *e = scan->pattern, *g = e->prim.args[ARG_G];
    View *x = view_at(lw, scan->xs, i);
    View *taken = lower_apply_read(lw, e->prim.args[ARG_F], scan->env, 1, &x);
    if (taken->kind == VIEW_ERROR)
        return;
    give_total(lw, scan, i, view_proj(lw, taken, 0));
    View *before = view_new(lw, VIEW_SCALAR, scan->total, e->span);
    before->expr = imp_load(lw->ctx, scan->cell, nat_const(lw->ctx, 0), e->span);
    const Env *saved = lw->env;
    lw->env = scan->env;
    lower_bind(lw, g->lambda.params[0], before, g->lambda.body);
    lower_bind(lw, g->lambda.params[1], view_proj(lw, taken, 1), g->lambda.body);
    lower_write(lw, g->lambda.body, view_at(lw, scan->acceptor, i));
    lw->env = saved;
}

bool lower_write_scan_blocks(Lowering *lw, const Core *e, View *acceptor)
{
    Ctx *ctx = lw->ctx;
    Scan scan = {.pattern = e, .acceptor = acceptor, .total = lower_type(lw, e->prim.args[ARG_UNIT]->type)};
    if (acceptor->kind == VIEW_ERROR || !scan_fits(lw, e))
        return true;
    scan.xs = lower_read(lw, e->prim.args[ARG_XS]);
    scan.env = lw->env;
    if (scan.xs->kind == VIEW_ERROR)
        return true;
    Nat n = lower_nat(lw, e->type->size);
    Scalar elem = type_scalar_of(ctx, scan.total);
    scan.mail = lower_new_buf(lw, SPACE_TEMP, "mail", SC_U64, nat_mul_k(ctx, n, imp_mail_words(elem)), e->span);
    scan.mail->zero = true;
    scan.cell = lower_new_buf(lw, SPACE_SHARED, "prefix", elem, nat_const(ctx, 1), e->span);
    lw->kernel->cooperative = true;
    lw->kernel->totals = lw->kernel->totals ? nat_max(ctx, lw->kernel->totals, n) : n;
    lower_emit(lw, IS_NOTE, e->span)->note = prim_name(e->prim.id);
    lower_emit(lw, IS_ALLOC, e->span)->alloc = scan.cell;
    ImpStmt *s = lower_emit(lw, IS_IF, e->span);
    s->branch.cond = nat_cmp(lw, P_eq, lw->kernel->block[0], nat_add_k(ctx, lw->kernel->grid[0], -1), e->span);
    ImpBlock *out = lw->out;
    lw->out = &s->branch.then;
    serve_totals(lw, &scan, n);
    lw->out = &s->branch.otherwise;
    if (!lw->failed) {
        blocks_but_last_each(lw, e, n, scan_step, &scan);
        if (!lw->failed)
            scan_pipeline(lw, lw->out, scan.split);
    }
    lw->out = out;
    return true;
}
