/* The end of an array, of which a vector gets the cells that are there, in CUDA C.
 *
 *   v = (i < n ? xs[i] : 0, i + 1 < n ? xs[i + 1] : 0, ..., 0)  ->  load_fewer<float4>(xs, i, n, 0)
 *
 * That is how together.c loads where not all cells are there, so the last one is not. The helper
 * has the same conditions, in a loop. Before it stands the case in which all of them are there:
 *
 *   if (i + 3 < n) v = load4(xs + i); else v = ...  ->  v = i + 3 < n ? load4(xs + i) : ... */
#include "codegen/cuda_internal.h"

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
    if (last->kind != IE_LIT || !is_guarded(s->vec.values[0], last->lit, first))
        return false;
    const ImpBuf *buf = first->load->mem.buf;
    *start = nat_sub(c->ctx, first->load->mem.index, first->i);
    if (buf->space != SPACE_INPUT || cuda_loader(c, buf) || !nat_is_const(*start) ||
        (*start)->value < 0)
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

static void put_tail(Cuda *c, const ImpStmt *s, const GuardedCell *first, Nat start)
{
    const ImpBuf *buf = first->load->mem.buf;
    const char *vector = cuda_vector_type(c, buf->elem, s->vec.n);
    bool half = cuda_is_half(buf->elem);
    if (half)
        sb_printf(c->out, "%s(", cuda_half_from(c, buf->elem, s->vec.n));
    sb_printf(c->out, "%s<%s>(", cuda_helper(c, HELP_LOAD_FEWER, SC_I32), vector);
    cuda_put_start(c, buf, start);
    sb_puts(c->out, ", ");
    cuda_nat(c, first->i, C_ANY);
    sb_puts(c->out, ", ");
    cuda_nat(c, first->end, C_ANY);
    sb_puts(c->out, ", ");
    put_pad(c, s->vec.values[s->vec.n - 1]);
    sb_puts(c->out, half ? "))" : ")");
}

bool cuda_put_tail(Cuda *c, const ImpStmt *s)
{
    GuardedCell first;
    Nat start;
    if (!is_tail(c, s, &first, &start))
        return false;
    put_tail(c, s, &first, start);
    return true;
}

/* ---- all cells, or fewer --------------------------------------------------------------------- */

static const ImpStmt *shown_from(const ImpBlock *block, int *i)
{
    while (*i < block->list.n && !cuda_is_shown(block->list.at[*i]))
        ++*i;
    return *i < block->list.n ? block->list.at[(*i)++] : NULL;
}

static bool is_index(const ImpStmt *s)
{
    return s->kind == IS_DECL && s->var.var->nat && s->var.value && s->var.value->kind == IE_NAT;
}

/* What the block gives a vector, where it does no more than that. Before it may stand an index, of
 * which *index is the declaration, or NULL. NULL: the block does something else. */
static const ImpStmt *only_value(const ImpBlock *block, ImpStmtKind kind, const ImpStmt **index)
{
    int i = 0;
    const ImpStmt *s = shown_from(block, &i);
    *index = s && is_index(s) ? s : NULL;
    s = *index ? shown_from(block, &i) : s;
    return s && s->kind == kind && !s->vec.declares && !shown_from(block, &i) ? s : NULL;
}

typedef struct AllOrFewer {
    const ImpStmt *all, *fewer;
    GuardedCell first;
    Nat start;
} AllOrFewer;

static bool is_all_or_fewer(Cuda *c, const ImpStmt *s, AllOrFewer *found)
{
    const ImpStmt *index;
    if (s->kind != IS_IF)
        return false;
    found->all = only_value(&s->branch.then, IS_VLOAD, &index);
    if (!found->all || index)
        return false;
    found->fewer = only_value(&s->branch.otherwise, IS_VSET, &index);
    if (!found->fewer || found->fewer->vec.var != found->all->vec.var ||
        !is_tail(c, found->fewer, &found->first, &found->start))
        return false;
    if (index)
        found->first.i =
            nat_subst(c->ctx, found->first.i, index->var.var->nat, index->var.value->nat);
    return true;
}

const ImpVar *cuda_sets_all_or_fewer(Cuda *c, const ImpStmt *s)
{
    AllOrFewer found;
    return is_all_or_fewer(c, s, &found) ? found.all->vec.var : NULL;
}

void cuda_put_all_or_fewer(Cuda *c, const ImpStmt *s)
{
    AllOrFewer found;
    if (!is_all_or_fewer(c, s, &found))
        return;
    cuda_expr(c, s->branch.cond, C_OR);
    sb_puts(c->out, " ? ");
    cuda_put_loaded(c, found.all);
    sb_puts(c->out, " : ");
    put_tail(c, found.fewer, &found.first, found.start);
}
