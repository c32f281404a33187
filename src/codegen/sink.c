/* Pass sink: what only one branch needs is computed there.
 *
 *   float acc = 0; for (i < k) acc += c ? xs[i] : 0; if (c) result[j] = acc  ->  if (c) { float acc = 0; for (i < k) acc += xs[i]; result[j] = acc }
 *   int p; if (c) { p = e; ... }                                            ->  if (c) { const int p = e; ... }
 *   if (c) s; if (c) t                                                      ->  if (c) { s; t }
 *
 * Only loops and what belongs to them move, and declarations: a load that stands far from its use may stand there to be early. Nothing moves over a
 * barrier but what reads registers alone.
 *
 * Requires: barriers are placed. Establishes: what the branch's condition says is not asked in it again. Keeps every value that is used. Leaves alone:
 * shuffles, which all lanes execute; stores. */
#include "codegen/branches.h"
#include "codegen/walk.h"

typedef struct Look {
    bool loads, shuffles, effects, names; /* names: of indices */
} Look;

static void look_at_expr(void *user, ImpExpr **at)
{
    Look *l = user;
    l->loads |= (*at)->kind == IE_LOAD && (*at)->mem.buf->space != SPACE_INPUT;
    l->shuffles |= (*at)->kind == IE_SHFL;
}

static void look_at_stmt(void *user, ImpStmt *s)
{
    Look *l = user;
    switch (s->kind) {
    case IS_DECL: l->names |= s->var.var->nat != NULL; break;
    case IS_SET: case IS_FOR: case IS_IF: case IS_NOTE: break;
    default: l->effects = true;
    }
    walk_own(s, look_at_expr, l);
}

static Look look(ImpStmt *s)
{
    Look l = {false, false, false, false};
    ImpBlock one = {.list = {&s, 1, 1}};
    walk_stmts(&one, look_at_stmt, &l);
    return l;
}

/* The registers that a statement sets. */
typedef struct VarList {
    Ctx *ctx;
    VEC(const ImpVar *) list;
} VarList;

static void note_set(void *user, ImpStmt *s)
{
    VarList *v = user;
    if (imp_sets(s))
        vec_push(v->ctx, &v->list, imp_sets(s));
}

/* Is the register declared in the statements before `end`, or within statement `own`? */
static bool declared_here(ImpBlock *block, int end, const ImpVar *var)
{
    for (int i = 0; i < end; i++)
        if (imp_declares(block->list.at[i]) && imp_sets(block->list.at[i]) == var)
            return true;
    return false;
}

typedef struct Declares {
    const ImpVar *var;
    bool found;
} Declares;

static void find_decl(void *user, ImpStmt *s)
{
    Declares *d = user;
    d->found |= imp_declares(s) && imp_sets(s) == d->var;
}

static bool declares(ImpStmt *s, const ImpVar *var)
{
    Declares d = {var, false};
    ImpBlock one = {.list = {&s, 1, 1}};
    walk_stmts(&one, find_decl, &d);
    return d.found;
}

/* May statement i move into the branch at j, over those between that stay? */
static bool may_move(Ctx *ctx, ImpBlock *block, int i, int j)
{
    ImpStmt *s = block->list.at[i], *branch = block->list.at[j];
    Look l = look(s);
    if (l.effects || l.shuffles || l.names || (l.loads && i + 1 < j))
        return false;
    ImpBlock one = {.list = {&s, 1, 1}};
    VarList sets = {.ctx = ctx};
    walk_stmts(&one, note_set, &sets);
    for (int k = 0; k < sets.list.n; k++) {
        const ImpVar *var = sets.list.at[k];
        if (stmt_reads(branch, var) || !(declares(s, var) || declared_here(block, i, var)))
            return false;
        for (int t = i + 1; t < block->list.n; t++)
            if (t != j && stmt_mentions(block->list.at[t], var))
                return false;
    }
    for (int t = i + 1; t < j; t++) { /* what it reads is not set on the way */
        ImpStmt *stays = block->list.at[t];
        ImpBlock between = {.list = {&stays, 1, 1}};
        VarList changed = {.ctx = ctx};
        walk_stmts(&between, note_set, &changed);
        for (int k = 0; k < changed.list.n; k++)
            if (stmt_mentions(s, changed.list.at[k]))
                return false;
    }
    return sets.list.n > 0;
}

static bool is_worth(const ImpStmt *s) { return s->kind == IS_FOR || (s->kind == IS_DECL && !s->var.value); }

/* Moves what it can into the branch at j; gives its new place. */
static int fill_branch(Ctx *ctx, ImpBlock *block, int j)
{
    ImpStmt *branch = block->list.at[j];
    bool begun = false;
    for (int i = j - 1; i >= 0; i--) {
        ImpStmt *s = block->list.at[i];
        bool belongs = begun && (s->kind == IS_DECL || s->kind == IS_SET || s->kind == IS_FOR);
        if ((!is_worth(s) && !belongs) || !may_move(ctx, block, i, j))
            continue;
        begun = true;
        bool noted = i > 0 && block->list.at[i - 1]->kind == IS_NOTE && i + 1 == j;
        for (int k = 0; k <= noted; k++) { /* and the note of what is moved */
            block_insert(ctx, &branch->branch.then, 0, block->list.at[i - k]);
            block_remove(block, i - k);
            j--;
        }
        i -= noted;
    }
    return j;
}

static void decide_branch(Lowering *lw, ImpStmt *branch)
{
    ImpBlock one = {.list = {&branch, 1, 1}};
    conditions_in_block(lw, &one);
}

static void sink_block(Lowering *lw, ImpBlock *block)
{
    NatFacts *facts = lw->facts;
    for (int j = 0; j < block->list.n; j++) {
        ImpStmt *s = block->list.at[j];
        if (s->kind == IS_IF && !s->branch.otherwise.list.n && !s->branch.last) {
            int before = j;
            j = fill_branch(lw->ctx, block, j);
            if (j != before)
                decide_branch(lw, s);
        }
        if (s->kind != IS_FOR && s->kind != IS_IF)
            continue;
        lw->facts = nat_facts_new(lw->ctx, facts);
        if (s->kind == IS_FOR) {
            nat_fact_le(lw->ctx, lw->facts, s->loop.lo, s->loop.var);
            nat_fact_le(lw->ctx, lw->facts, nat_add_k(lw->ctx, s->loop.var, 1), s->loop.hi);
            sink_block(lw, &s->loop.body);
        } else {
            assume(lw, s->branch.cond);
            sink_block(lw, &s->branch.then);
            lw->facts = facts;
            sink_block(lw, &s->branch.otherwise);
        }
        lw->facts = facts;
    }
}

void pass_sink(Lowering *lw)
{
    branches_join(lw->ctx, &lw->kernel->body);
    lw->facts = nat_facts_new(lw->ctx, (NatFacts *)lw->kernel->known);
    sink_block(lw, &lw->kernel->body);
    branches_merge(lw->ctx, &lw->kernel->body);
    registers_forward(lw);
}
