/* Pass dead: what nobody reads is not computed, and what a register holds is not copied.
 *
 *   float sum = 0; int n = 0; for (...) { sum += xs[i]; n++; } ys[0] = sum;
 *     ->  float sum = 0; for (...) sum += xs[i]; ys[0] = sum;
 *   const float x = v.x; a = x * x  ->  a = v.x * v.x, if v.x does not change while x is there
 *   float x; a = 1; x = b + 1       ->  a = 1; const float x = b + 1
 *   float x = 0; if (c) { x = a; b = x }  ->  if (c) { const float x = a; b = x }
 *
 * A register that only dead registers read is dead, and so is a loop or a branch in which nothing is
 * left to do, with the registers that it alone asks. nvcc would warn of them.
 *
 * A copy that is an index may have a range, which is known under a condition only. So it stays, but
 * is marked as a second name (ImpStmt.var.second).
 *
 * Keeps: stores, barriers and what else others see; notes and IS_ALLOC where a statement is left. */
#include "codegen/branches.h"
#include "codegen/defs.h"
#include "codegen/walk.h"

/* ---- copies ---------------------------------------------------------------------------------- */

typedef struct Copies {
    Ctx *ctx;
    ImpExpr **of; /* by ImpVar.id: what it is a copy of; NULL: of nothing */
    bool of_vectors; /* only copies of their components */
} Copies;

/* The declaration of a constant that is another register all its life. */
static bool is_copy(const ImpBlock *block, int i)
{
    const ImpStmt *s = block->list.at[i];
    const ImpVar *var = s->kind == IS_DECL ? s->var.var : NULL;
    if (!var || !var->constant || var->slots != 1 || !s->var.value || s->var.value->kind != IE_VAR)
        return false;
    const ImpVar *of = s->var.value->var.var;
    ImpBlock rest = stmts_from(block, i + 1);
    return (of->slots == 1 || of->vector) && (of->constant || !block_sets(&rest, of));
}

static void forward(void *user, ImpExpr **at)
{
    const Copies *c = user;
    ImpExpr *of = (*at)->kind == IE_VAR ? c->of[(*at)->var.var->id] : NULL;
    if (of)
        *at = imp_copy_expr(c->ctx, of);
}

static void forward_in(Copies *c, ImpBlock *block)
{
    int kept = 0;
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        walk_own(s, forward, c);
        bool copy = is_copy(block, i) && (!c->of_vectors || s->var.value->var.var->vector);
        if (s->kind == IS_DECL) {
            s->var.second = copy && s->var.var->nat;
            copy &= !s->var.second;
            c->of[s->var.var->id] = copy ? s->var.value : NULL;
        }
        if (s->kind == IS_FOR)
            forward_in(c, &s->loop.body);
        if (s->kind == IS_IF) {
            forward_in(c, &s->branch.then);
            forward_in(c, &s->branch.otherwise);
        }
        if (!copy)
            block->list.at[kept++] = s;
    }
    block->list.n = kept;
}

static void forward_copies(Lowering *lw, bool of_vectors)
{
    Copies copies = {lw->ctx, NEWN(lw->ctx, ImpExpr *, lw->kernel->vars.n + 1), of_vectors};
    forward_in(&copies, &lw->kernel->body);
}

void dead_vector_copies(Lowering *lw) { forward_copies(lw, true); }

/* ---- declarations whose value nobody reads --------------------------------------------------- */

typedef struct Sets {
    const ImpVar *var;
    int n;
} Sets;

static void count_sets(void *user, ImpStmt *s)
{
    Sets *sets = user;
    sets->n += imp_sets(s) == sets->var;
}

/* The statement of the block itself that gives the register its only value there; or NULL. (A loop
 * and its copy, for the last tile, have declarations of their own of one register.) */
static ImpStmt *only_set(const ImpBlock *block, int i)
{
    const ImpStmt *decl = block->list.at[i];
    if (decl->kind != IS_DECL || decl->var.value || decl->var.var->slots != 1)
        return NULL;
    ImpBlock rest = stmts_from(block, i + 1);
    Sets sets = {decl->var.var, 0};
    walk_stmts(&rest, count_sets, &sets);
    for (int j = 0; sets.n == 1 && j < rest.list.n; j++) {
        ImpStmt *s = rest.list.at[j];
        if (s->kind == IS_SET && s->var.var == decl->var.var)
            return s;
    }
    return NULL;
}

/* A declaration without a value, or with literals. */
static bool is_start(const ImpStmt *s)
{
    if (s->kind == IS_DECL)
        return !s->var.var->nat && (!s->var.value || s->var.value->kind == IE_LIT);
    bool literals = s->kind == IS_VSET && s->vec.declares;
    for (int k = 0; literals && k < s->vec.n; k++)
        literals = s->vec.values[k]->kind == IE_LIT;
    return literals;
}

/* Does it give the register a value as a whole, whatever that had before? */
static bool sets_whole(ImpStmt *s, const ImpVar *var)
{
    const bool vector = s->kind == IS_VSET || s->kind == IS_VLOAD;
    const bool whole = vector ? s->vec.n == var->slots : s->kind == IS_SET && var->slots == 1;
    return whole && imp_sets(s) == var && !stmt_reads(s, var);
}

/* The only statement of the list, from number `from` on, that mentions the register; or the first, if all others
 * come after it. */
static ImpStmt *mentioned_in(const ImpBlock *block, int from, const ImpVar *var, bool alone)
{
    ImpStmt *found = NULL;
    for (int j = from; j < block->list.n; j++) {
        ImpStmt *s = block->list.at[j];
        if (!stmt_mentions(s, var))
            continue;
        if (found)
            return alone ? NULL : found;
        found = s;
    }
    return found;
}

/* Where one branch alone mentions what statement i of the block declares: what gives it its first value there.
 * NULL: it is not so. */
static ImpStmt *set_in_branch(const ImpBlock *block, int i)
{
    const ImpVar *var = is_start(block->list.at[i]) ? imp_sets(block->list.at[i]) : NULL;
    ImpStmt *s = var ? mentioned_in(block, i + 1, var, true) : NULL;
    while (s && s->kind == IS_IF) {
        ImpStmt *then = mentioned_in(&s->branch.then, 0, var, false);
        ImpStmt *otherwise = mentioned_in(&s->branch.otherwise, 0, var, false);
        if (stmt_reads(s, var) || (then && otherwise))
            return NULL;
        const ImpBlock *branch = then ? &s->branch.then : &s->branch.otherwise;
        s = mentioned_in(branch, 0, var, false);
        if (s->kind != IS_IF)
            return sets_whole(s, var) ? s : NULL;
        s = mentioned_in(branch, 0, var, true);
    }
    return NULL;
}

static void declare_here(const Defs *defs, ImpStmt *set)
{
    ImpVar *var = imp_sets(set);
    if (set->kind == IS_SET)
        set->kind = IS_DECL;
    else
        set->vec.declares = true;
    var->constant = defs_of(defs, var)->at.n == 2;
}

static void declare_where_set(const Defs *defs, ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_FOR)
            declare_where_set(defs, &s->loop.body);
        if (s->kind == IS_IF) {
            declare_where_set(defs, &s->branch.then);
            declare_where_set(defs, &s->branch.otherwise);
        }
        ImpStmt *set = only_set(block, i);
        set = set ? set : set_in_branch(block, i);
        if (!set)
            continue;
        declare_here(defs, set);
        block_remove(block, i--);
    }
}

/* ---- needs ----------------------------------------------------------------------------------- */

typedef struct Dead {
    Ctx *ctx;
    Defs defs;
    bool *read;                /* by ImpVar.id */
    VEC(const ImpVar *) found; /* read; what sets them is not looked at yet */
} Dead;

static void read_var(Dead *d, const ImpVar *var)
{
    if (d->read[var->id])
        return;
    d->read[var->id] = true;
    vec_push(d->ctx, &d->found, var);
}

static void read_nat_var(void *user, Nat nat)
{
    const Sites *sites = defs_of(&((Dead *)user)->defs, nat);
    for (int i = 0; sites && i < sites->at.n; i++)
        if (imp_sets(sites->at.at[i]))
            read_var(user, imp_sets(sites->at.at[i]));
}

static void read_nat(void *user, Nat nat) { nat_each_var(((Dead *)user)->ctx, nat, read_nat_var, user); }

static void read_expr(void *user, ImpExpr **at)
{
    if ((*at)->kind == IE_VAR)
        read_var(user, (*at)->var.var);
}

/* And so are the loops and branches around it. */
static void is_needed(Dead *d, ImpStmt *s)
{
    for (; s && !s->info->needed; s = s->info->around) {
        s->info->needed = true;
        walk_own(s, read_expr, d);
        walk_nats(s, read_nat, d);
    }
}

/* What sets a register waits until the register is read, a loop until something in it is needed. */
static void find_need(void *user, ImpStmt *s)
{
    switch (s->kind) {
    case IS_DECL: case IS_SET: case IS_VSET: case IS_VLOAD: case IS_FOR: case IS_IF:
    case IS_ALLOC: case IS_NOTE: break;
    case IS_STORE: case IS_VSTORE: case IS_ATOMIC: case IS_TICKET: case IS_GRID_SYNC:
    case IS_GIVE: case IS_AWAIT: case IS_SERVE: case IS_SYNC: is_needed(user, s); break;
    }
}

static void remove_dead(ImpBlock *block)
{
    int kept = 0;
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (!s->info->needed && s->kind != IS_ALLOC && s->kind != IS_NOTE)
            continue;
        block->list.at[kept++] = s;
        if (s->kind == IS_FOR)
            remove_dead(&s->loop.body);
        if (s->kind == IS_IF) {
            remove_dead(&s->branch.then);
            remove_dead(&s->branch.otherwise);
        }
    }
    block->list.n = kept;
}

void pass_dead(Lowering *lw)
{
    ImpKernel *k = lw->kernel;
    forward_copies(lw, false);
    Dead d = {.ctx = lw->ctx, .defs = {.ctx = lw->ctx}, .read = NEWN(lw->ctx, bool, k->vars.n + 1)};
    defs_note(&d.defs, &k->body, NULL);
    walk_stmts(&k->body, find_need, &d);
    while (d.found.n) {
        const Sites *sites = defs_of(&d.defs, d.found.at[--d.found.n]);
        for (int i = 0; sites && i < sites->at.n; i++)
            is_needed(&d, sites->at.at[i]);
    }
    remove_dead(&k->body);
    Defs left = {.ctx = lw->ctx};
    defs_note(&left, &k->body, NULL);
    declare_where_set(&left, &k->body);
}
