/* Part of pass indices: what of an index a loop does not change is computed before it.
 *
 *   for (i < 8) ... xs[block*1024 + warp*256 + i*32 + lane]
 *     ->  const int base = block*1024 + warp*256 + lane;  for (i < 8) ... xs[base + i*32]
 *
 * Loops over blocks and over the grid's threads usually run once, and those of pass roll are written
 * out: they count as no loop. */
#include "codegen/indices.h"
#include "codegen/walk.h"

typedef struct Find {
    Lowering *lw;
    VEC(Nat) inner; /* variables that the loop changes */
    Nat part;
} Find;

static void inner_var(void *user, ImpStmt *s)
{
    Find *f = user;
    if (s->kind == IS_FOR)
        vec_push(f->lw->ctx, &f->inner, s->loop.var);
    if (s->kind == IS_DECL && s->var.var->nat)
        vec_push(f->lw->ctx, &f->inner, s->var.var->nat);
}

static Nat term_nat(Ctx *ctx, const NatTerm *t)
{
    Nat product = nat_const(ctx, t->coef);
    for (int k = 0; k < t->n_factors; k++)
        product = nat_mul(ctx, product, t->factors[k]);
    return product;
}

static bool changes(const Find *f, const NatTerm *t)
{
    for (int k = 0; k < t->n_factors; k++)
        for (int v = 0; v < f->inner.n; v++)
            if (nat_mentions(t->factors[k], f->inner.at[v]))
                return true;
    return false;
}

/* The terms before the first that changes, without the constant. Those that might divide by 0 stay.
 * With the terms behind it, too, products and sums of rows would take more registers. */
static void find_in_nat(Find *f, Nat nat)
{
    Ctx *ctx = f->lw->ctx;
    Nat part = nat_const(ctx, 0);
    bool varies = false;
    for (int i = 0; i < nat->n_terms && !f->part && !varies; i++) {
        Nat term = term_nat(ctx, &nat->terms[i]);
        varies = changes(f, &nat->terms[i]);
        if (!varies && nat->terms[i].n_factors > 0 && imp_divides_safely(ctx, f->lw->kernel->known, term))
            part = nat_add(ctx, part, term);
    }
    if (varies && nat_cost(part) >= WORTH_A_NAME)
        f->part = part;
}

static void find_in_expr(void *user, ImpExpr **at)
{
    if ((*at)->kind == IE_LOAD)
        find_in_nat(user, (*at)->mem.index);
}

static void find_in_stmt(void *user, ImpStmt *s)
{
    walk_own(s, find_in_expr, user);
    if (s->kind == IS_STORE)
        find_in_nat(user, s->store.index);
    if (s->kind == IS_VLOAD || s->kind == IS_VSTORE)
        find_in_nat(user, s->vec.index);
}

Nat part_before_loop(Lowering *lw, ImpStmt *loop)
{
    Find find = {.lw = lw};
    if (loop->loop.level == P_mapBlock || loop->loop.level == P_mapGlobal || loop->loop.repeats)
        return NULL;
    vec_push(lw->ctx, &find.inner, loop->loop.var);
    walk_stmts(&loop->loop.body, inner_var, &find);
    walk_stmts(&loop->loop.body, find_in_stmt, &find);
    return find.part;
}
