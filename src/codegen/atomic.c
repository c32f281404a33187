/* atomicReduce(op, unit, xs): a reduction into one cell, to which every thread comes with its elements.
 *
 *   atomicReduce(op, z, xs) written to A  =  A[0] := z, earlier; xs written to an acceptor that puts op(A[0], x) into A[0] in one step */
#include "codegen/lowering.h"
#include "codegen/walk.h"

static bool refuse(Lowering *lw, Span span, const char *what, const char *help)
{
    Diag *d = lower_error(lw, E0424, span, "%s", what);
    diag_help(lw->ctx, d, "%s", help);
    return true;
}

/* ---- the unit, first --------------------------------------------------------------------------------------------------------- */

static void store_unit(Lowering *lw, const Core *unit, const View *cell)
{
    ImpExpr *value = view_scalar(lw, lower_read(lw, unit));
    ImpStmt *s = lower_emit(lw, IS_STORE, unit->span);
    s->store.buf = cell->buf;
    s->store.index = nat_simplify(lw->ctx, lw->facts, cell->offset);
    s->store.value = value;
}

/* By a small kernel before this one, since nothing else comes before all blocks. */
static void unit_before_grid(Lowering *lw, const Core *unit, const View *cell)
{
    ImpKernel *kernel = lw->kernel, *init = kernel_before(lw);
    ImpBlock *out = lw->out;
    lw->kernel = init;
    lw->out = &init->body;
    store_unit(lw, unit, cell);
    lw->kernel = kernel;
    lw->out = out;
}

/* By the first of the threads that share the cell. */
static void unit_in_block(Lowering *lw, const Core *unit, const View *cell)
{
    const Levels *o = &lw->open;
    bool own = o->lane || o->thread[0] || o->thread[1] || o->thread[2] || o->global[0] || o->global[1] || o->global[2];
    ImpExpr *first = own ? NULL : o->warp ? nat_cmp(lw, P_eq, lw->kernel->lane, nat_const(lw->ctx, 0), unit->span) : first_thread(lw, unit->span);
    ImpBlock *out = lw->out;
    if (first) {
        ImpStmt *s = lower_emit(lw, IS_IF, unit->span);
        s->branch.cond = first;
        lw->out = &s->branch.then;
    }
    store_unit(lw, unit, cell);
    lw->out = out;
}

/* Do the threads that come to the cell belong to one block? Else some axis of the grid is handed out within the reduction, or not at all. */
static bool one_block_comes(const Lowering *lw, const View *cell)
{
    for (int a = 0; a < 3 && !lw->alone && cell->buf->space != SPACE_SHARED; a++)
        if (lw->kernel->grid[a]->kind == NAT_VAR && !lw->open.block[a] && !lw->open.global[a])
            return false;
    return true;
}

/* ---- the elements ------------------------------------------------------------------------------------------------------------- */

static void find_old(void *user, ImpExpr **at)
{
    const ImpVar **var = user;
    if ((*at)->kind == IE_VAR && (*at)->var.var == *var)
        *var = NULL;
}

void atomic_store(Lowering *lw, const View *acceptor, ImpExpr *value, Span span)
{
    Ctx *ctx = lw->ctx;
    const View *cell = acceptor->source;
    const Core *op = acceptor->prim->prim.args[0];
    ImpVar *old = lower_new_var(lw, "old", cell->buf->elem, span);
    ImpBlock *out = lw->out, before = {{0}};
    View *args[2];
    for (int k = 0; k < 2; k++) {
        args[k] = view_new(lw, VIEW_SCALAR, op->lambda.params[k]->type, span);
        args[k]->expr = k ? value : imp_var(ctx, old, nat_const(ctx, 0), span);
    }
    lw->out = &before;
    View *result = lower_apply_read(lw, op, acceptor->env, 2, args);
    ImpExpr *next = result->kind == VIEW_ERROR ? NULL : view_scalar(lw, result);
    lw->out = out;
    if (!next)
        return;
    for (int i = 0; i < before.list.n; i++) { /* what depends on the cell would have to be computed within the step */
        const ImpVar *found = old;
        walk_stmt(before.list.at[i], find_old, &found);
        if (!found) {
            refuse(lw, op->span, "this operator computes with the cell's value in several steps, and an atomic takes one expression",
                   "write the operator as one expression, without `let`; or combine with `lastBlock` instead");
            return;
        }
        vec_push(ctx, &out->list, before.list.at[i]);
    }
    ImpStmt *s = lower_emit(lw, IS_ATOMIC, span);
    s->atomic.buf = cell->buf;
    s->atomic.index = nat_simplify(ctx, lw->facts, cell->offset);
    s->atomic.old = old;
    s->atomic.value = next;
}

/* The type of 32 bits that has all values of this one. */
static Scalar wider(Scalar s) { return scalar_is_float(s) ? SC_F32 : scalar_is_signed(s) ? SC_I32 : SC_U32; }

bool lower_write_atomic_reduce(Lowering *lw, const Core *e, View *acceptor)
{
    Type t = e->type->elem;
    if (acceptor->kind == VIEW_ERROR)
        return true;
    if (!type_is_scalar_like(t))
        return refuse(lw, e->span, "atomicReduce of tuples: their components lie in different buffers, and an atomic changes one cell",
                      "reduce each component by itself, or let `lastBlock` or `nextKernel` combine what the blocks have");
    if (scalar_bytes(type_scalar_of(lw->ctx, t)) < 4)
        return refuse(lw, e->span, ctx_printf(lw->ctx, "`atomicReduce` needs values of 32 or 64 bits, and these are %s", scalar_name(type_scalar_of(lw->ctx, t))),
                      ctx_printf(lw->ctx, "convert them before it, by `cast(%s)`, and the result behind it: `|> nextKernel(mapGlobal(cast(%s)))`",
                                 scalar_name(wider(type_scalar_of(lw->ctx, t))), scalar_name(type_scalar_of(lw->ctx, t))));
    View *cell = view_at(lw, acceptor, nat_const(lw->ctx, 0));
    if (cell->kind == VIEW_ERROR)
        return true;
    if (cell->kind != VIEW_BUF)
        return refuse(lw, e->span, "atomicReduce into what is no cell of memory", "it combines into one cell: `toShared`, `toGlobal`, or the result of the entry");
    const Core *unit = e->prim.args[1];
    if (one_block_comes(lw, cell))
        unit_in_block(lw, unit, cell);
    else if (lw->out == &lw->kernel->body)
        unit_before_grid(lw, unit, cell);
    else
        return refuse(lw, e->span, "several blocks come to this cell, and others to other cells: none of them can set it before all the others come",
                      "give the elements of a cell to one block: `mapBlock(fun row => row |> mapThreads(f) |> atomicReduce(op, z))`; or let each block reduce its part, and combine the parts with `nextKernel`");
    View *v = view_new(lw, VIEW_ATOMIC, lower_type(lw, e->prim.args[2]->type), e->span);
    v->source = cell;
    v->prim = e;
    v->env = lw->env;
    lower_write(lw, e->prim.args[2], v);
    return true;
}
