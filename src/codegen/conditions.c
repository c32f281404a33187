/* Pass conditions: what the branches and loops around a place already say is not asked again.
 *
 *   if (i < n) result[i] = i < n ? xs[i] : 0   ->  if (i < n) result[i] = xs[i]
 *
 * Requires: nothing. Keeps every value and every access that happens. */
#include "codegen/lowering.h"
#include "codegen/walk.h"

static ImpExpr *decided(Lowering *lw, ImpExpr *cond)
{
    if (cond->kind != IE_OP || cond->op.id != P_and)
        return cond_is(lw, cond, true) ? NULL : cond;
    ImpExpr *a = decided(lw, cond->op.args[0]), *b = decided(lw, cond->op.args[1]);
    return !a ? b : !b ? a : a == cond->op.args[0] && b == cond->op.args[1] ? cond : imp_op2(lw->ctx, P_and, SC_BOOL, a, b, cond->span);
}

static void decide_expr(void *user, ImpExpr **at)
{
    Lowering *lw = user;
    while ((*at)->kind == IE_COND) {
        ImpExpr *cond = decided(lw, (*at)->cond.cond);
        if (cond && cond_is(lw, cond, false)) {
            *at = (*at)->cond.otherwise;
            continue;
        }
        if (cond) {
            (*at)->cond.cond = cond;
            return;
        }
        *at = (*at)->cond.then;
    }
}

static void decide_block(Lowering *lw, ImpBlock *block);

static void decide_under(Lowering *lw, ImpBlock *block, const ImpExpr *cond)
{
    NatFacts *facts = lw->facts;
    lw->facts = nat_facts_new(lw->ctx, facts);
    if (cond)
        assume(lw, cond);
    decide_block(lw, block);
    lw->facts = facts;
}

void conditions_in_loop(Lowering *lw, ImpStmt *s)
{
    NatFacts *facts = lw->facts;
    lw->facts = nat_facts_new(lw->ctx, facts);
    nat_fact_le(lw->ctx, lw->facts, s->loop.lo, s->loop.var);
    nat_fact_le(lw->ctx, lw->facts, nat_add_k(lw->ctx, s->loop.var, 1), s->loop.hi);
    decide_block(lw, &s->loop.body);
    lw->facts = facts;
}

static void decide_block(Lowering *lw, ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        walk_own(s, decide_expr, lw);
        if (s->kind == IS_FOR)
            conditions_in_loop(lw, s);
        if (s->kind != IS_IF)
            continue;
        ImpExpr *cond = decided(lw, s->branch.cond);
        if (!cond) {
            ImpBlock then = s->branch.then;
            block_remove(block, i);
            for (int k = 0; k < then.list.n; k++)
                block_insert(lw->ctx, block, i + k, then.list.at[k]);
            i--;
            continue;
        }
        s->branch.cond = cond;
        decide_under(lw, &s->branch.then, cond);
        decide_under(lw, &s->branch.otherwise, NULL);
    }
}

void pass_conditions(Lowering *lw)
{
    lw->facts = nat_facts_new(lw->ctx, (NatFacts *)lw->entry->known);
    decide_block(lw, &lw->kernel->body);
}
