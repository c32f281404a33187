/* What a loop in one thread loads again in each trip, from an input, at an index that it does not change, is loaded before it.
 *
 *   for (j < n) acc += xs[j] * w[i]   ->   const float w_i = w[i];  for (j < n) acc += xs[j] * w_i
 *
 * The loop may have no trip, so the index has to be seen to lie within the input where the loop stands. What an `if` in it chooses stays there. A constant that is such a value moves with its name. Loops over blocks and over the grid's threads usually run once:
 * they count as no loop. Keeps every value. */
#include "codegen/lowering.h"
#include "codegen/walk.h"

enum { MOST_MOVED = 8 /* of one loop: each keeps a register */ };

typedef struct Loads {
    Lowering *lw;
    ImpStmt *loop;
    VEC(Nat) inner;      /* loop variables and indices that the loop changes */
    VEC(ImpVar *) set;   /* registers that it sets or declares */
    int moved;
} Loads;

static void note_inner(void *user, ImpStmt *s)
{
    Loads *l = user;
    ImpVar *var = imp_sets(s);
    if (s->kind == IS_FOR)
        vec_push(l->lw->ctx, &l->inner, s->loop.var);
    if (s->kind == IS_SERVE) {
        vec_push(l->lw->ctx, &l->set, s->serve.sum);
        vec_push(l->lw->ctx, &l->set, s->serve.next);
    }
    if (!var)
        return;
    vec_push(l->lw->ctx, &l->set, var);
    if (var->nat)
        vec_push(l->lw->ctx, &l->inner, var->nat);
}

static void note_loop(Loads *l)
{
    ImpStmt *one[1] = {l->loop};
    ImpBlock block = {.list = {one, 1, 1}};
    l->inner.n = l->set.n = 0;
    walk_stmts(&block, note_inner, l);
}

static bool is_fixed_nat(const Loads *l, Nat nat)
{
    for (int i = 0; i < l->inner.n; i++)
        if (nat_mentions(nat, l->inner.at[i]))
            return false;
    return true;
}

static bool is_fixed_var(const Loads *l, const ImpVar *var)
{
    for (int i = 0; i < l->set.n; i++)
        if (l->set.at[i] == var)
            return false;
    return true;
}

static bool is_within(const Loads *l, const ImpExpr *load)
{
    Ctx *ctx = l->lw->ctx;
    return nat_le(ctx, l->lw->facts, nat_const(ctx, 0), load->mem.index) && nat_lt(ctx, l->lw->facts, load->mem.index, load->mem.buf->count);
}

static bool is_fixed(const Loads *l, const ImpExpr *e, bool *loads);

/* Where the condition holds; NULL: anywhere. */
static bool is_fixed_under(const Loads *l, const ImpExpr *cond, const ImpExpr *e, bool *loads)
{
    NatFacts *facts = l->lw->facts;
    l->lw->facts = nat_facts_new(l->lw->ctx, facts);
    if (cond)
        assume(l->lw, cond);
    bool fixed = is_fixed(l, e, loads);
    l->lw->facts = facts;
    return fixed;
}

/* Has the expression the same value in each trip, and before the loop, where it may be evaluated, too? */
static bool is_fixed(const Loads *l, const ImpExpr *e, bool *loads)
{
    switch (e->kind) {
    case IE_LIT: return true;
    case IE_NAT: return is_fixed_nat(l, e->nat);
    case IE_VAR: return e->var.var->constant && is_fixed_var(l, e->var.var) && is_fixed_nat(l, e->var.slot);
    case IE_LOAD:
        *loads |= !imp_is_parameter(e);
        return e->mem.buf->space == SPACE_INPUT && is_fixed_nat(l, e->mem.index) && is_within(l, e);
    case IE_OP:
        for (int i = 0; i < e->op.n; i++)
            if (!is_fixed_under(l, i > 0 && e->op.id == P_and ? e->op.args[0] : NULL, e->op.args[i], loads))
                return false;
        return true;
    case IE_CAST: return is_fixed(l, e->cast.value, loads);
    case IE_COND:
        return is_fixed(l, e->cond.cond, loads) && is_fixed_under(l, e->cond.cond, e->cond.then, loads) && is_fixed(l, e->cond.otherwise, loads);
    case IE_SHFL: return false;
    }
    return false;
}

/* ---- constants ----------------------------------------------------------------------------------------------------------- */

/* Constants that the body declares and that have the same value in each trip. */
static int move_constants(Loads *l, ImpBlock *around, int at)
{
    ImpBlock *body = &l->loop->loop.body;
    for (int i = 0; i < body->list.n && l->moved < MOST_MOVED; i++) {
        ImpStmt *s = body->list.at[i];
        bool loads = false;
        if (s->kind != IS_DECL || !s->var.value || !s->var.var->constant || s->var.var->slots != 1 || !is_fixed(l, s->var.value, &loads) || !loads)
            continue;
        block_remove(body, i--);
        block_insert(l->lw->ctx, around, at++, s);
        l->moved++;
        note_loop(l);
    }
    return at;
}

/* ---- loads ----------------------------------------------------------------------------------------------------------------- */

typedef struct Replace {
    const ImpExpr *load;
    ImpVar *var;
    Lowering *lw;
} Replace;

static void replace_load(void *user, ImpExpr **at)
{
    const Replace *r = user;
    if (imp_same_value(*at, r->load))
        *at = imp_var(r->lw->ctx, r->var, nat_const(r->lw->ctx, 0), (*at)->span);
}

/* The first load that could as well be before the loop; not of what a condition chooses, which may be for few trips. */
static const ImpExpr *find_load(const Loads *l, const ImpExpr *e)
{
    const ImpExpr *found = NULL;
    bool loads = false;
    switch (e->kind) {
    case IE_LIT: case IE_NAT: case IE_VAR: break;
    case IE_LOAD: return is_fixed(l, e, &loads) && loads ? e : NULL;
    case IE_OP:
        for (int i = 0; i < e->op.n && !found; i++)
            found = find_load(l, e->op.args[i]);
        break;
    case IE_CAST: found = find_load(l, e->cast.value); break;
    case IE_COND: found = find_load(l, e->cond.cond); break;
    case IE_SHFL: found = find_load(l, e->shfl.value); break;
    }
    return found;
}

static const ImpExpr *find_in_stmt(const Loads *l, const ImpStmt *s)
{
    const ImpExpr *found = NULL;
    switch (s->kind) {
    case IS_DECL: case IS_SET: return s->var.value ? find_load(l, s->var.value) : NULL;
    case IS_STORE: return find_load(l, s->store.value);
    case IS_IF: return find_load(l, s->branch.cond);
    case IS_VSET: case IS_VSTORE:
        for (int k = 0; k < s->vec.n && !found; k++)
            found = find_load(l, s->vec.values[k]);
        return found;
    case IS_FOR:
        for (int k = 0; k < s->loop.body.list.n && !found; k++)
            found = find_in_stmt(l, s->loop.body.list.at[k]);
        return found;
    default: return NULL;
    }
}

static int move_loads(Loads *l, ImpBlock *around, int at)
{
    for (; l->moved < MOST_MOVED; l->moved++) {
        const ImpExpr *load = find_in_stmt(l, l->loop);
        if (!load)
            break;
        ImpVar *var = lower_new_var(l->lw, value_name(l->lw, load), load->type, load->span);
        var->constant = true;
        ImpStmt *decl = imp_stmt(l->lw->ctx, NULL, IS_DECL, l->loop->span);
        decl->var.var = var;
        decl->var.value = imp_copy_expr(l->lw->ctx, load);
        Replace r = {decl->var.value, var, l->lw};
        walk_stmt(l->loop, replace_load, &r);
        block_insert(l->lw->ctx, around, at++, decl);
    }
    return at;
}

/* ---- loops ----------------------------------------------------------------------------------------------------------------- */

static bool in_one_thread(const ImpStmt *loop)
{
    PrimId level = loop->loop.level;
    return level != P_mapBlock && level != P_mapGlobal && level != P_mapWarp && level != P_mapThreads && level != P_mapLane && level != P_scanBlocks;
}

static void visit(Lowering *lw, ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        NatFacts *facts = lw->facts;
        if (s->kind == IS_FOR) {
            Loads l = {.lw = lw, .loop = s};
            note_loop(&l);
            if (in_one_thread(s)) {
                i = move_constants(&l, block, i);
                i = move_loads(&l, block, i);
            }
            lw->facts = nat_facts_new(lw->ctx, facts);
            nat_fact_le(lw->ctx, lw->facts, s->loop.lo, s->loop.var);
            nat_fact_le(lw->ctx, lw->facts, nat_add_k(lw->ctx, s->loop.var, 1), s->loop.hi);
            visit(lw, &s->loop.body);
        } else if (s->kind == IS_IF) {
            lw->facts = nat_facts_new(lw->ctx, facts);
            assume(lw, s->branch.cond);
            visit(lw, &s->branch.then);
            lw->facts = nat_facts_new(lw->ctx, facts);
            visit(lw, &s->branch.otherwise);
        }
        lw->facts = facts;
    }
}

void loads_before_loops(Lowering *lw)
{
    lw->facts = nat_facts_new(lw->ctx, (NatFacts *)lw->kernel->known);
    visit(lw, &lw->kernel->body);
}
