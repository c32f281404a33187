#include "codegen/full_tiles.h"
#include "codegen/walk.h"

/* What is left of a condition in a full tile; NULL: nothing, it holds. */
static ImpExpr *rest_of(Ctx *ctx, ImpExpr *e)
{
    if (e->kind != IE_OP)
        return e;
    if (e->op.id == P_and) {
        ImpExpr *a = rest_of(ctx, e->op.args[0]), *b = rest_of(ctx, e->op.args[1]);
        return !a ? b : !b ? a : a == e->op.args[0] && b == e->op.args[1] ? e : imp_op2(ctx, P_and, SC_BOOL, a, b, e->span);
    }
    return e->op.spared ? NULL : e;
}

static void unguard_expr(void *user, ImpExpr **at)
{
    while ((*at)->kind == IE_COND) {
        ImpExpr *cond = rest_of(user, (*at)->cond.cond);
        if (cond) {
            (*at)->cond.cond = cond;
            return;
        }
        *at = (*at)->cond.then;
    }
}

/* v = 0; v = load, or a declaration and v = load: the first one goes. The loads are n statements from i on, and what they replace stands right before them.
 * How many statements went. */
static int drop_unread_starts(ImpBlock *block, int i, int n)
{
    int gone = 0;
    for (int k = i; k < i + n; k++) {
        ImpStmt *load = block->list.at[k - gone];
        bool found = load->kind == IS_VLOAD && !load->vec.declares;
        for (int j = i - gone - 1; j >= 0 && found; j--) {
            const ImpStmt *start = block->list.at[j];
            if (start->kind != IS_VSET && (start->kind != IS_DECL || start->var.value))
                break;
            if (imp_sets(start) != load->vec.var)
                continue;
            load->vec.declares = imp_declares(start);
            block_remove(block, j);
            gone++;
            break;
        }
    }
    return gone;
}

void tile_without_guards(Ctx *ctx, ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        walk_own(s, unguard_expr, ctx);
        if (s->kind == IS_FOR)
            tile_without_guards(ctx, &s->loop.body);
        if (s->kind != IS_IF)
            continue;
        tile_without_guards(ctx, &s->branch.then);
        tile_without_guards(ctx, &s->branch.otherwise);
        ImpExpr *cond = rest_of(ctx, s->branch.cond);
        if (cond) {
            s->branch.cond = cond;
            continue;
        }
        block_remove(block, i);
        ImpBlock then = s->branch.then;
        for (int j = 0; j < then.list.n; j++)
            block_insert(ctx, block, i + j, then.list.at[j]);
        i += then.list.n - 1 - drop_unread_starts(block, i, then.list.n);
    }
}

ImpStmt *tile_full_or_not(Ctx *ctx, const ImpStmt *loop)
{
    ImpStmt *choice = imp_stmt(ctx, NULL, IS_IF, loop->span), *ragged = imp_copy_stmt(ctx, loop);
    ragged->loop.full = NULL;
    ImpStmt *full = imp_copy_stmt(ctx, ragged);
    tile_without_guards(ctx, &full->loop.body);
    choice->branch.cond = loop->loop.full;
    vec_push(ctx, &choice->branch.then.list, full);
    vec_push(ctx, &choice->branch.otherwise.list, ragged);
    return choice;
}
