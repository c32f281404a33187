/* The end of an array, of which a vector gets the cells that are there: how together.c loads where
 * not all cells are there, so that the last one is not.
 *
 *   v = (i < n ? xs[i] : 0, i + 1 < n ? xs[i + 1] : 0, ..., 0)
 *
 * Before it mostly stands the case in which all of them are there:
 *
 *   if i + 3 < n { v = xs[i .. i + 3] } else { v = ... } */
#include "codegen/tails.h"
#include "codegen/walk.h"

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

bool tail_find(Ctx *ctx, const ImpStmt *s, Tail *tail)
{
    const ImpExpr *last = s->kind == IS_VSET ? s->vec.values[s->vec.n - 1] : NULL;
    GuardedCell first, cell;
    if (!last || last->kind != IE_LIT || !is_guarded(s->vec.values[0], last->lit, &first))
        return false;
    ImpBuf *buf = first.load->mem.buf;
    *tail = (Tail){buf, nat_sub(ctx, first.load->mem.index, first.i), first.i, first.end};
    if (buf->space == SPACE_SHARED || buf->hint != HINT_NONE || !nat_is_const(tail->start) ||
        tail->start->value < 0)
        return false;
    for (int k = 1; k < s->vec.n - 1; k++)
        if (!is_guarded(s->vec.values[k], last->lit, &cell) || cell.load->mem.buf != buf ||
            cell.end != first.end || cell.i != nat_add_k(ctx, first.i, k) ||
            cell.load->mem.index != nat_add_k(ctx, first.load->mem.index, k))
            return false;
    return true;
}

/* ---- all cells, or fewer --------------------------------------------------------------------- */

static bool is_nothing(const ImpStmt *s)
{
    return s->kind == IS_ALLOC || (s->kind == IS_DECL && s->var.second);
}

static const ImpStmt *next_of(const ImpBlock *block, int *i)
{
    while (*i < block->list.n && is_nothing(block->list.at[*i]))
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
    const ImpStmt *s = next_of(block, &i);
    *index = s && is_index(s) ? s : NULL;
    s = *index ? next_of(block, &i) : s;
    return s && s->kind == kind && !s->vec.declares && !next_of(block, &i) ? s : NULL;
}

bool tail_find_both(Ctx *ctx, const ImpStmt *s, AllOrFewer *found)
{
    const ImpStmt *index;
    if (s->kind != IS_IF)
        return false;
    found->all = only_value(&s->branch.then, IS_VLOAD, &index);
    if (!found->all || index)
        return false;
    found->fewer = only_value(&s->branch.otherwise, IS_VSET, &index);
    if (!found->fewer || found->fewer->vec.var != found->all->vec.var ||
        !tail_find(ctx, found->fewer, &found->tail))
        return false;
    if (index) { /* its declaration is not printed */
        Nat *const of_tail[] = {&found->tail.start, &found->tail.i, &found->tail.end};
        for (int i = 0; i < 3; i++)
            *of_tail[i] = nat_subst(ctx, *of_tail[i], index->var.var->nat, index->var.value->nat);
    }
    return true;
}

typedef struct OtherSlot {
    const ImpVar *var;
    int slot;
    bool found;
} OtherSlot;

static void find_other_slot(void *user, ImpExpr **at)
{
    OtherSlot *o = user;
    o->found |= (*at)->kind == IE_VAR && (*at)->var.var == o->var && !nat_is((*at)->var.slot, o->slot);
}

bool tail_by_component(const ImpStmt *s)
{
    bool own = false; /* otherwise one assignment of the whole is shorter */
    for (int k = 0; k < s->vec.n; k++) {
        ImpExpr *value = s->vec.values[k];
        OtherSlot other = {s->vec.var, k, false}, any = {s->vec.var, -1, false};
        walk_expr(&value, find_other_slot, &other);
        walk_expr(&value, find_other_slot, &any);
        if (other.found)
            return false;
        own |= any.found;
    }
    return own;
}
