/* Blocks that are numbered from the last one, where the program reverses what they work on: kernels begin their blocks in order, and the last elements may take
 * longest. Part of pass 1, translate.
 *
 *   mapBlock[once] over reverse(xs): block b reads xs[blocks - 1 - b]    ->  b = gridDim.x - 1 - blockIdx.x, and block b reads xs[b]
 *
 * What a block computes hangs on its number alone, so another numbering changes no result. Kernels whose blocks wait for each other keep theirs. */
#include "codegen/lowering.h"
#include "codegen/walk.h"

typedef struct Turn {
    Ctx *ctx;
    const NatFacts *known;
    Nat block;     /* the number of a block */
    VEC(Nat) vars; /* it, and variables with bounds that hang on it; and */
    VEC(Nat) by;   /* what stands for each */
    int now, then; /* nodes of all that mentions it */
    bool waits;
} Turn;

static Nat turned(const Turn *t, Nat nat)
{
    if (!nat || !nat->has_vars)
        return nat;
    Nat new = nat_subst_many(t->ctx, nat, t->vars.n, t->vars.at, t->by.at);
    return new == nat ? nat : nat_simplify(t->ctx, t->known, new);
}

static void is_now(Turn *t, Nat var, Nat by)
{
    vec_push(t->ctx, &t->vars, var);
    vec_push(t->ctx, &t->by, by);
}

static void count_nodes(void *user, Nat nat)
{
    Turn *t = user;
    if (!nat_mentions(nat, t->block))
        return;
    t->now += nat_nodes(nat);
    t->then += nat_nodes(turned(t, nat));
}

static void look_at(void *user, ImpStmt *s)
{
    Turn *t = user;
    t->waits |= s->kind == IS_TICKET || s->kind == IS_GRID_SYNC || s->kind == IS_GIVE || s->kind == IS_AWAIT || s->kind == IS_SERVE;
    walk_nats(s, count_nodes, t);
}

/* The variable with its bounds as they are now. */
static Nat turned_var(Turn *t, Nat var)
{
    Nat lo = turned(t, var->lo), hi = turned(t, var->hi);
    if (lo == var->lo && hi == var->hi)
        return var;
    Nat new = nat_var(t->ctx, var->name, lo, hi);
    is_now(t, var, new);
    return new;
}

static Nat turn_nat(void *user, Nat nat) { return turned(user, nat); }

static void turn_stmt(void *user, ImpStmt *s)
{
    Turn *t = user;
    ImpVar *set = imp_declares(s) ? imp_sets(s) : NULL;
    if (s->kind == IS_FOR)
        s->loop.var = turned_var(t, s->loop.var);
    if (set && set->nat)
        set->nat = turned_var(t, set->nat);
    map_nats(s, turn_nat, t);
}

void number_from_last(Lowering *lw)
{
    ImpKernel *k = lw->kernel;
    for (int a = 0; a < 3; a++) {
        if (!k->once[a] || k->block[a]->kind != NAT_VAR)
            continue;
        Turn t = {.ctx = lw->ctx, .known = k->known, .block = k->block[a]};
        is_now(&t, t.block, nat_sub(lw->ctx, nat_add_k(lw->ctx, k->blocks[a], -1), t.block));
        walk_stmts(&k->body, look_at, &t);
        if (t.waits || t.then >= t.now)
            continue;
        walk_stmts(&k->body, turn_stmt, &t);
        k->from_last[a] = true;
    }
}
