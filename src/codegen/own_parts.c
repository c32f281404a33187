/* Blocks with parts of their own: whether each block reads and stores to cells that no other one touches, and all of
 * its reads come before all of its stores, with a barrier between. Then the result may lie in the memory of the input.
 * Note [Partners] has the other way to prove it.
 *
 * The accesses stand in one loop over the blocks' numbers, or in none. Block b has the cells from b*s on, s of them,
 * where s is a number of sizes; that all indices are among them is proved from the loops and conditions around them. */
#include "codegen/partners_internal.h"

#include "ir/nat.h"

typedef struct Part {
    const Look *look;
    Nat block, first, size; /* the block's number, its first cell, and how many it has */
    int depth;              /* of the list in which the barrier stands */
} Part;

static const ImpStmt *statement_at(const Spot *spot, int depth) { return spot->lists[depth]->list.at[spot->pos[depth]]; }

/* The loop over blocks that the access stands in; NULL: none. */
static const ImpStmt *block_loop(const Spot *spot)
{
    const ImpStmt *s = spot->depth > 1 ? statement_at(spot, 0) : NULL;
    return s && s->kind == IS_FOR && s->loop.level == P_mapBlock ? s : NULL;
}

typedef struct Sizes {
    const ImpKernel *kernel;
    bool others;
} Sizes;

static void note_other(void *user, Nat var)
{
    Sizes *v = user;
    v->others |= !partners_is_size(v->kernel, var);
}

static bool is_of_sizes(const Look *l, Nat nat)
{
    Sizes v = {l->kernel, false};
    nat_each_var(l->ctx, nat, note_other, &v);
    return !v.others;
}

/* What the condition says of numbers, where it holds. */
static void add_fact(const Part *p, NatFacts *facts, const Cond *cond)
{
    Ctx *ctx = p->look->ctx;
    const ImpExpr *e = cond->cond;
    if (e->kind != IE_OP || e->op.n != 2 || e->op.args[0]->kind != IE_NAT || e->op.args[1]->kind != IE_NAT)
        return;
    Nat a = partners_spelled(p->look, e->op.args[0]->nat), b = partners_spelled(p->look, e->op.args[1]->nat);
    PrimId id = e->op.id;
    if (!partners_is_steady(p->look, a) || !partners_is_steady(p->look, b)) /* it may have changed since */
        return;
    if (cond->negated)
        id = id == P_lt ? P_ge : id == P_le ? P_gt : id == P_gt ? P_le : id == P_ge ? P_lt : P_COUNT;
    if (id == P_lt || id == P_le)
        nat_fact_le(ctx, facts, nat_add_k(ctx, a, id == P_lt), b);
    else if (id == P_gt || id == P_ge)
        nat_fact_le(ctx, facts, nat_add_k(ctx, b, id == P_gt), a);
}

/* Are all cells of the access the block's own? */
static bool is_inside(const Part *p, const Spot *spot)
{
    Ctx *ctx = p->look->ctx;
    Path path;
    if (!partners_path(spot, 0, &path))
        return false;
    NatFacts *facts = nat_facts_new(ctx, (NatFacts *)(uintptr_t)p->look->kernel->known);
    for (int i = 0; i < path.n_loops; i++) {
        Nat var = path.loops[i]->loop.var;
        nat_fact_le(ctx, facts, partners_spelled(p->look, path.loops[i]->loop.lo), var);
        nat_fact_le(ctx, facts, nat_add_k(ctx, var, 1), partners_spelled(p->look, path.loops[i]->loop.hi));
    }
    for (int i = 0; i < path.n_conds; i++)
        add_fact(p, facts, &path.conds[i]);
    Nat index = nat_subst_many(ctx, partners_spelled(p->look, spot->index), spot->n_fixed, spot->fixed, spot->trip);
    Nat last = nat_add_k(ctx, index, spot->cells);
    return partners_is_steady(p->look, index) && nat_le(ctx, facts, p->first, index) && nat_le(ctx, facts, last, nat_add(ctx, p->first, p->size));
}

/* Is there a barrier of the block behind the reads and before the stores? */
static bool has_barrier(const Part *p, int last_read, int first_write)
{
    const ImpBlock *list = p->look->writes.at[0]->lists[p->depth];
    for (int i = last_read + 1; i < first_write; i++) {
        const ImpStmt *s = list->list.at[i];
        if (s->kind == IS_SYNC && s->sync == SYNC_BLOCK)
            return true;
    }
    return false;
}

bool blocks_have_parts(const Look *look)
{
    const ImpKernel *k = look->kernel;
    if (look->writes.n == 0)
        return false;
    Ctx *ctx = look->ctx;
    const Spot *write = look->writes.at[0];
    const ImpStmt *loop = block_loop(write);
    bool others = (k->block[1] && !nat_is_const(k->block[1])) || (k->block[2] && !nat_is_const(k->block[2]));
    Part p = {.look = look, .block = loop ? loop->loop.var : k->block[0], .depth = loop != NULL};
    if (others || !p.block || p.block->kind != NAT_VAR)
        return false;
    Nat index = partners_spelled(look, write->index);
    p.size = nat_sub(ctx, nat_subst(ctx, index, p.block, nat_add_k(ctx, p.block, 1)), index);
    p.first = nat_mul(ctx, p.block, p.size);
    int last_read = -1, first_write = write->pos[p.depth];
    bool own = is_of_sizes(look, p.size);
    for (int i = 0; i < look->reads.n + look->writes.n && own; i++) {
        bool reads = i < look->reads.n;
        const Spot *spot = reads ? look->reads.at[i] : look->writes.at[i - look->reads.n];
        own = block_loop(spot) == loop && (!loop || spot->pos[0] == write->pos[0]) && is_inside(&p, spot);
        if (reads)
            last_read = own && spot->pos[p.depth] > last_read ? spot->pos[p.depth] : last_read;
        else
            first_write = own && spot->pos[p.depth] < first_write ? spot->pos[p.depth] : first_write;
    }
    return own && has_barrier(&p, last_read, first_write);
}
