/* The end of an array, of which a vector gets the cells that are there, in CUDA C.
 *
 *   v = (i < n ? xs[i] : 0, i + 1 < n ? xs[i + 1] : 0, ..., 0)  ->  v = load_fewer<16>(xs, i, n, 0);
 *
 * That is how together.c loads where not all cells are there, so the last one is not. Eight cells and
 * more are shorter so; fewer are a line or four. The helper has the same conditions, in a loop. */
#include "codegen/cuda_internal.h"

enum { LEAST_CELLS = 8 };

static bool is_pad(const ImpExpr *e, ScalarValue pad)
{
    return e->kind == IE_LIT && e->lit.type == pad.type && e->lit.u == pad.u;
}

/* i < end ? load : pad */
typedef struct GuardedCell {
    const ImpExpr *load;
    Nat i, end;
} GuardedCell;

static bool is_guarded(const ImpExpr *e, ScalarValue pad, GuardedCell *cell)
{
    if (e->kind != IE_COND || e->cond.then->kind != IE_LOAD || !is_pad(e->cond.otherwise, pad))
        return false;
    const ImpExpr *cond = e->cond.cond;
    if (cond->kind != IE_OP || cond->op.id != P_lt || cond->op.args[0]->kind != IE_NAT ||
        cond->op.args[1]->kind != IE_NAT)
        return false;
    *cell = (GuardedCell){e->cond.then, cond->op.args[0]->nat, cond->op.args[1]->nat};
    return true;
}

/* The first cell, where all are neighbours and guarded alike. *start: the cell that has i = 0. */
static bool is_tail(Cuda *c, const ImpStmt *s, GuardedCell *first, Nat *start)
{
    const ImpExpr *last = s->vec.values[s->vec.n - 1];
    if (s->vec.n < LEAST_CELLS || last->kind != IE_LIT || !is_guarded(s->vec.values[0], last->lit, first))
        return false;
    const ImpBuf *buf = first->load->mem.buf;
    *start = nat_sub(c->ctx, first->load->mem.index, first->i);
    if (buf->space != SPACE_INPUT || cuda_loader(c, buf) || !nat_is_const(*start) || (*start)->value < 0)
        return false;
    for (int k = 1; k < s->vec.n - 1; k++) {
        GuardedCell cell;
        if (!is_guarded(s->vec.values[k], last->lit, &cell) || cell.load->mem.buf != buf ||
            cell.end != first->end || cell.i != nat_add_k(c->ctx, first->i, k) ||
            cell.load->mem.index != nat_add_k(c->ctx, first->load->mem.index, k))
            return false;
    }
    return true;
}

static void put_pad(Cuda *c, const ImpExpr *pad)
{
    if (pad->type == SC_F16)
        sb_printf(c->out, "%#x", f16_from_double(pad->lit.f));
    else if (pad->type == SC_BF16)
        sb_printf(c->out, "%#x", bf16_from_double(pad->lit.f));
    else
        cuda_expr(c, pad, C_ANY);
}

bool cuda_put_tail(Cuda *c, const ImpStmt *s)
{
    GuardedCell first;
    Nat start;
    if (!is_tail(c, s, &first, &start))
        return false;
    const ImpBuf *buf = first.load->mem.buf;
    bool half = cuda_is_half(buf->elem);
    if (half)
        sb_printf(c->out, "%s(", cuda_half_from(c, buf->elem, s->vec.n));
    cuda_helper(c, HELP_CELLS, SC_I32);
    sb_printf(c->out, "%s<%d>(", cuda_helper(c, HELP_LOAD_FEWER, SC_I32), s->vec.n);
    cuda_put_start(c, buf, start);
    sb_puts(c->out, ", ");
    cuda_nat(c, first.i, C_ANY);
    sb_puts(c->out, ", ");
    cuda_nat(c, first.end, C_ANY);
    sb_puts(c->out, ", ");
    put_pad(c, s->vec.values[s->vec.n - 1]);
    sb_puts(c->out, half ? "))" : ")");
    return true;
}
