#include "codegen/uniform.h"

typedef struct NatLook {
    const Uniform *u;
    const LoopSame *loops;
    int same;
} NatLook;

static void look_at_var(void *user, Nat var)
{
    NatLook *look = user;
    const ImpKernel *k = look->u->lw->kernel;
    for (int a = 0; a < 3; a++) {
        if (var == k->thread[a])
            look->same = 0;
        if (var == k->block[a] || var == k->grid[a])
            return;
    }
    if (var == k->lane)
        look->same = 0;
    if (var == k->warp)
        look->same &= k->lanes == WARP_LANES ? SAME_IN_WARP : 0;
    for (const LoopSame *l = look->loops; l; l = l->parent)
        if (l->var == var) {
            look->same &= l->same;
            return;
        }
    const ImpVar *held = table_get(&look->u->by_nat, var);
    if (held)
        look->same &= look->u->vars[held->id];
}

int uniform_nat(const Uniform *u, const LoopSame *loops, Nat nat)
{
    NatLook look = {u, loops, SAME_EVERYWHERE};
    nat_each_var(u->lw->ctx, nat, look_at_var, &look);
    return look.same;
}

int uniform_expr(const Uniform *u, const LoopSame *loops, const ImpExpr *e)
{
    int same = SAME_EVERYWHERE;
    switch (e->kind) {
    case IE_LIT: return same;
    case IE_NAT: return uniform_nat(u, loops, e->nat);
    case IE_VAR: return u->vars[e->var.var->id] & uniform_nat(u, loops, e->var.slot);
    case IE_LOAD: return uniform_nat(u, loops, e->mem.index);
    case IE_OP:
        for (int i = 0; i < e->op.n; i++)
            same &= uniform_expr(u, loops, e->op.args[i]);
        return same;
    case IE_CAST: return uniform_expr(u, loops, e->cast.value);
    case IE_COND:
        return uniform_expr(u, loops, e->cond.cond) & uniform_expr(u, loops, e->cond.then) & uniform_expr(u, loops, e->cond.otherwise);
    case IE_SHFL:
        if (e->shfl.id == P_reduceWarp || (e->shfl.id == P_shfl && e->shfl.lanes == WARP_LANES && uniform_expr(u, loops, e->shfl.by) & SAME_IN_WARP))
            return SAME_IN_WARP;
        return 0;
    }
    return 0;
}

int uniform_loop(const Uniform *u, const LoopSame *loops, const ImpStmt *s)
{
    return uniform_nat(u, loops, s->loop.lo) & uniform_nat(u, loops, s->loop.hi) & uniform_nat(u, loops, s->loop.step);
}

/* Takes away from the registers set in the block what their values, or the way there (`place`), do not have. True when something changed. */
static bool lessen(Uniform *u, const ImpBlock *block, const LoopSame *loops, int place)
{
    bool changed = false;
    for (int i = 0; i < block->list.n; i++) {
        const ImpStmt *s = block->list.at[i];
        int same = place;
        switch (s->kind) {
        case IS_DECL: case IS_SET:
            if (s->kind == IS_SET)
                same &= uniform_nat(u, loops, s->var.slot);
            same = s->var.value ? same & uniform_expr(u, loops, s->var.value) : SAME_EVERYWHERE;
            break;
        case IS_VSET:
            for (int k = 0; k < s->vec.n; k++)
                same &= uniform_expr(u, loops, s->vec.values[k]);
            break;
        case IS_VLOAD: same &= uniform_nat(u, loops, s->vec.index); break;
        case IS_FOR: {
            LoopSame loop = {loops, s->loop.var, uniform_loop(u, loops, s)};
            changed |= lessen(u, &s->loop.body, &loop, place & loop.same);
            break;
        }
        case IS_IF:
            same &= uniform_expr(u, loops, s->branch.cond);
            changed |= lessen(u, &s->branch.then, loops, same);
            changed |= lessen(u, &s->branch.otherwise, loops, same);
            break;
        default: same = 0; /* whatever else sets a register */
        }
        const ImpVar *var = imp_sets(s);
        if (var && u->vars[var->id] & ~same) {
            u->vars[var->id] &= (unsigned char)same;
            changed = true;
        }
    }
    return changed;
}

Uniform uniform_of(Lowering *lw)
{
    const ImpKernel *k = lw->kernel;
    int ids = 0;
    for (int i = 0; i < k->vars.n; i++)
        ids = k->vars.at[i]->id >= ids ? k->vars.at[i]->id + 1 : ids;
    Uniform u = {.lw = lw, .vars = NEWN(lw->ctx, unsigned char, ids + 1)};
    for (int i = 0; i < k->vars.n; i++)
        if (k->vars.at[i]->nat)
            table_put(lw->ctx, &u.by_nat, k->vars.at[i]->nat, k->vars.at[i]);
    memset(u.vars, SAME_EVERYWHERE, (size_t)ids + 1);
    while (lessen(&u, &k->body, NULL, SAME_EVERYWHERE))
        ;
    return u;
}
