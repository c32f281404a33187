/* Pass conditions: what the branches and loops around a place already say is not asked again.
 *
 *   if (i < n) result[i] = i < n ? xs[i] : 0   ->  if (i < n) result[i] = xs[i]
 *
 * Requires: nothing. Keeps every value and every access that happens. */
#include "codegen/guards.h"
#include "codegen/lowering.h"
#include "codegen/quotients.h"
#include "codegen/walk.h"

/* a < b without a minus: `i - lane + 31 >= 31` is `i >= lane`. */
static ImpExpr *without_minus(Lowering *lw, ImpExpr *e)
{
    Ctx *ctx = lw->ctx;
    Nat d = nat_sub(ctx, e->op.args[0]->nat, e->op.args[1]->nat), left = nat_const(ctx, 0), right = left;
    if (d->kind != NAT_SUM)
        return e;
    for (int i = 0; i < d->n_terms; i++) {
        Nat product = nat_const(ctx, d->terms[i].coef < 0 ? -d->terms[i].coef : d->terms[i].coef);
        for (int k = 0; k < d->terms[i].n_factors; k++)
            product = nat_mul(ctx, product, d->terms[i].factors[k]);
        if (d->terms[i].coef < 0)
            right = nat_add(ctx, right, product);
        else
            left = nat_add(ctx, left, product);
    }
    return left->has_vars ? nat_cmp(lw, e->op.id, left, right, e->span) : e;
}

static int terms_of(Nat n) { return n->kind == NAT_SUM ? n->n_terms : !nat_is(n, 0); }

/* Without quotients, and without what both sides have. */
static ImpExpr *tidy(Lowering *lw, ImpExpr *e)
{
    if (!is_nat_comparison(e))
        return e;
    ImpExpr *whole = without_quotient(lw, e);
    if (whole != e)
        return without_minus(lw, whole);
    Nat a = e->op.args[0]->nat, b = e->op.args[1]->nat;
    return terms_of(nat_sub(lw->ctx, a, b)) < terms_of(a) + terms_of(b) ? without_minus(lw, e) : e;
}

/* What is left to ask of one term; NULL: nothing, it holds. One that fails is the literal. */
static ImpExpr *decided_term(Lowering *lw, ImpExpr *term)
{
    ImpExpr *known = numbers_as_nats(lw, term);
    if (term->kind != IE_LIT && cond_is(lw, known, false))
        return imp_lit(lw->ctx, (ScalarValue){.type = SC_BOOL, .i = 0}, term->span);
    return cond_is(lw, known, true) ? NULL : tidy(lw, term);
}

/* The terms of a conjunction. A term is decided under those beside it, so many on each side: all of them would take a time that is a power of their number. */
enum { BESIDE = 8 };
typedef VEC(ImpExpr *) Terms;

static void add_terms(Lowering *lw, Terms *terms, ImpExpr *cond)
{
    if (cond->kind == IE_OP && cond->op.id == P_and) {
        add_terms(lw, terms, cond->op.args[0]);
        add_terms(lw, terms, cond->op.args[1]);
        return;
    }
    vec_push(lw->ctx, terms, cond);
}

/* Up to BESIDE of the terms that are left, from `at` on in steps of 1 or -1, hold. */
static void assume_beside(Lowering *lw, const Terms *terms, int at, int step)
{
    for (int n = 0; at >= 0 && at < terms->n && n < BESIDE; at += step)
        if (terms->at[at] && !(step > 0 && may_divide_by_0(lw, terms->at[at]))) {
            assume(lw, numbers_as_nats(lw, terms->at[at]));
            n++;
        }
}

/* Decides term i under those before it, and those behind it where they are decided too. */
static void decide_beside(Lowering *lw, Terms *terms, int i, bool behind)
{
    if (!terms->at[i])
        return;
    NatFacts *facts = lw->facts;
    lw->facts = nat_facts_new(lw->ctx, facts);
    assume_beside(lw, terms, i - 1, -1);
    if (behind)
        assume_beside(lw, terms, i + 1, 1);
    terms->at[i] = decided_term(lw, terms->at[i]);
    lw->facts = facts;
}

/* What is left to ask; NULL: nothing, it holds. A condition that fails is the literal. */
static ImpExpr *decided(Lowering *lw, ImpExpr *cond)
{
    if (cond->kind != IE_OP || cond->op.id != P_and)
        return decided_term(lw, cond);
    Terms given = {0}, left = {0};
    add_terms(lw, &given, cond);
    for (int i = 0; i < given.n; i++)
        vec_push(lw->ctx, &left, given.at[i]);
    for (int k = 0; k < 2 * left.n - 1; k++) {
        int i = k < left.n ? k : 2 * left.n - 2 - k;
        decide_beside(lw, &left, i, k >= left.n);
        if (left.at[i] && left.at[i]->kind == IE_LIT)
            return left.at[i];
    }
    ImpExpr *all = NULL;
    bool same = true;
    for (int i = 0; i < left.n; i++) {
        same = same && left.at[i] == given.at[i];
        if (left.at[i])
            all = all ? imp_op2(lw->ctx, P_and, SC_BOOL, all, left.at[i], cond->span) : left.at[i];
    }
    return same ? cond : all;
}

/* a ? (b ? x : 0) : 0  ->  a && b ? x : 0 */
static void join_choices(Lowering *lw, ImpExpr *e)
{
    ImpExpr *then = e->cond.then, *otherwise = e->cond.otherwise;
    if (then->kind != IE_COND || otherwise->kind != IE_LIT ||
        !imp_same_value(then->cond.otherwise, otherwise))
        return;
    e->cond.cond = imp_op2(lw->ctx, P_and, SC_BOOL, e->cond.cond, then->cond.cond, e->span);
    e->cond.then = then->cond.then;
}

static void decide_expr(void *user, ImpExpr **at)
{
    Lowering *lw = user;
    while ((*at)->kind == IE_COND) {
        join_choices(lw, *at);
        ImpExpr *cond = decided(lw, (*at)->cond.cond);
        if (cond && cond->kind == IE_LIT) {
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

/* The block where `cond` holds, or does not. */
static void decide_under(Lowering *lw, ImpBlock *block, ImpExpr *cond, bool holds)
{
    NatFacts *facts = lw->facts;
    lw->facts = nat_facts_new(lw->ctx, facts);
    (holds ? assume : assume_not)(lw, numbers_as_nats(lw, cond));
    conditions_in_block(lw, block);
    lw->facts = facts;
}

void conditions_in_loop(Lowering *lw, ImpStmt *s)
{
    NatFacts *facts = lw->facts;
    lw->facts = nat_facts_new(lw->ctx, facts);
    nat_fact_le(lw->ctx, lw->facts, s->loop.lo, s->loop.var);
    nat_fact_le(lw->ctx, lw->facts, nat_add_k(lw->ctx, s->loop.var, 1), s->loop.hi);
    conditions_in_block(lw, &s->loop.body);
    lw->facts = facts;
}

void conditions_in_block(Lowering *lw, ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        walk_own(s, decide_expr, lw);
        if (s->kind == IS_FOR)
            conditions_in_loop(lw, s);
        if (s->kind != IS_IF)
            continue;
        ImpExpr *cond = s->branch.last ? s->branch.cond : decided(lw, s->branch.cond);
        if (!cond || cond->kind == IE_LIT) {
            ImpBlock then = cond ? s->branch.otherwise : s->branch.then;
            block_remove(block, i);
            for (int k = 0; k < then.list.n; k++)
                block_insert(lw->ctx, block, i + k, then.list.at[k]);
            i--;
            continue;
        }
        s->branch.cond = cond;
        decide_under(lw, &s->branch.then, cond, true);
        decide_under(lw, &s->branch.otherwise, cond, false);
    }
}

void pass_conditions(Lowering *lw)
{
    lw->facts = nat_facts_new(lw->ctx, (NatFacts *)lw->entry->known);
    lw->quotients = quotients_compared(lw->ctx, &lw->kernel->body);
    conditions_in_block(lw, &lw->kernel->body);
    lw->quotients = NULL;
}
