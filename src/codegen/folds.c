/* Folds that stand again, as part of pass values: a loop that computes what a loop before it has
 * computed goes.
 *
 *   a = 0; for (j < n) a += xs[j];  y = f(a);  b = 0; for (j < n) b += xs[j];  z = g(b)
 *     ->  a = 0; for (j < n) a += xs[j];  y = f(a);  z = g(a)
 *
 * Neighbours that are read together have such folds where what is computed of them is the same for
 * all: four cells of a column, say, each of which is divided by the column's sum. */
#include "codegen/defs.h"
#include "codegen/walk.h"

enum { WINDOW = 64 /* statements, in which a fold is looked for again */ };

/* A loop and the registers that it computes, declared right before it. */
typedef struct Fold {
    int first, loop; /* statements of the block */
    VEC(ImpVar *) vars; /* of it, and those declared in it; in the order of the text */
    VEC(Nat) counters;  /* of it and of loops in it */
    bool only;          /* it does nothing but set these */
} Fold;

/* ---- what is one ----------------------------------------------------------------------------- */

static bool has_var(const Fold *f, const ImpVar *var)
{
    bool found = false;
    for (int i = 0; i < f->vars.n && !found; i++)
        found = f->vars.at[i] == var;
    return found;
}

static void collect(Ctx *ctx, Fold *f, const ImpBlock *block)
{
    for (int i = 0; i < block->list.n && f->only; i++) {
        ImpStmt *s = block->list.at[i];
        ImpVar *var = imp_sets(s);
        switch (s->kind) {
        case IS_NOTE: break;
        case IS_DECL: case IS_SET: case IS_VSET: case IS_VLOAD:
            if (imp_declares(s))
                vec_push(ctx, &f->vars, var);
            f->only = !var->nat && has_var(f, var);
            break;
        case IS_FOR:
            vec_push(ctx, &f->counters, s->loop.var);
            collect(ctx, f, &s->loop.body);
            break;
        case IS_IF:
            collect(ctx, f, &s->branch.then);
            collect(ctx, f, &s->branch.otherwise);
            break;
        default: f->only = false; break;
        }
    }
}

/* Are the registers that statements `first` to `loop` declare set nowhere else? */
static bool is_whole(const Defs *defs, const ImpBlock *block, const Fold *f)
{
    for (int i = f->first; i < f->loop; i++) {
        const Sites *sites = defs_of(defs, block->list.at[i]->var.var);
        for (int k = 0; k < sites->at.n; k++) {
            const ImpStmt *s = sites->at.at[k];
            while (s && s != block->list.at[i] && s != block->list.at[f->loop])
                s = s->info->around;
            if (!s)
                return false;
        }
    }
    return true;
}

static bool fold_at(const Defs *defs, const ImpBlock *block, int i, Fold *f)
{
    *f = (Fold){i, i, .only = true};
    if (block->list.at[i]->kind != IS_FOR)
        return false;
    while (f->first > 0 && block->list.at[f->first - 1]->kind == IS_DECL &&
           block->list.at[f->first - 1]->var.value && !block->list.at[f->first - 1]->var.var->constant)
        f->first--;
    for (int k = f->first; k < i; k++)
        vec_push(defs->ctx, &f->vars, block->list.at[k]->var.var);
    const ImpBlock loop = {.list = {&block->list.at[i], 1, 0}};
    collect(defs->ctx, f, &loop);
    return f->only && f->first < i && is_whole(defs, block, f);
}

/* ---- whether two are the same ---------------------------------------------------------------- */

static bool same_block(const ImpBlock *a, const ImpBlock *b);

static bool same_values(const ImpStmt *a, const ImpStmt *b)
{
    bool same = a->vec.n == b->vec.n && a->vec.declares == b->vec.declares && a->vec.buf == b->vec.buf;
    if (a->kind == IS_VLOAD)
        return same && a->vec.index == b->vec.index;
    for (int i = 0; same && i < a->vec.n; i++)
        same = imp_same_value(a->vec.values[i], b->vec.values[i]);
    return same;
}

static bool same_or_none(const ImpExpr *a, const ImpExpr *b) { return a && b ? imp_same_value(a, b) : a == b; }

static bool same_stmt(const ImpStmt *a, const ImpStmt *b)
{
    if (a->kind != b->kind || imp_sets(a) != imp_sets(b))
        return false;
    switch (a->kind) {
    case IS_NOTE: return true;
    case IS_DECL: return same_or_none(a->var.value, b->var.value);
    case IS_SET: return a->var.slot == b->var.slot && imp_same_value(a->var.value, b->var.value);
    case IS_VSET: case IS_VLOAD: return same_values(a, b);
    case IS_FOR:
        return a->loop.lo == b->loop.lo && a->loop.hi == b->loop.hi && a->loop.step == b->loop.step &&
               same_or_none(a->loop.full, b->loop.full) && same_block(&a->loop.body, &b->loop.body);
    case IS_IF:
        return imp_same_value(a->branch.cond, b->branch.cond) &&
               same_block(&a->branch.then, &b->branch.then) &&
               same_block(&a->branch.otherwise, &b->branch.otherwise);
    default: return false;
    }
}

static bool same_block(const ImpBlock *a, const ImpBlock *b)
{
    bool same = a->list.n == b->list.n;
    for (int i = 0; same && i < a->list.n; i++)
        same = same_stmt(a->list.at[i], b->list.at[i]);
    return same;
}

typedef struct Rename {
    Ctx *ctx;
    const Fold *to, *from;
} Rename;

static ImpVar *renamed(const Rename *r, ImpVar *var)
{
    for (int i = 0; var && i < r->from->vars.n; i++)
        if (r->from->vars.at[i] == var)
            return r->to->vars.at[i];
    return var;
}

static Nat rename_nat(void *user, Nat nat)
{
    const Rename *r = user;
    return nat->has_vars ? nat_subst_many(r->ctx, nat, r->from->counters.n, r->from->counters.at, r->to->counters.at) : nat;
}

static void rename_expr(void *user, ImpExpr **at)
{
    const Rename *r = user;
    ImpVar *to = (*at)->kind == IE_VAR ? renamed(r, (*at)->var.var) : NULL;
    if (to && to != (*at)->var.var)
        *at = imp_var(r->ctx, to, (*at)->var.slot, (*at)->span);
}

static void rename_stmt(void *user, ImpStmt *s)
{
    const Rename *r = user;
    walk_own(s, rename_expr, user);
    map_nats(s, rename_nat, user);
    if (s->kind == IS_DECL || s->kind == IS_SET)
        s->var.var = renamed(r, s->var.var);
    if (s->kind == IS_VSET || s->kind == IS_VLOAD)
        s->vec.var = renamed(r, s->vec.var);
}

static bool same_fold(Ctx *ctx, const ImpBlock *block, const Fold *a, const Fold *b)
{
    if (a->loop - a->first != b->loop - b->first || a->vars.n != b->vars.n || a->counters.n != b->counters.n)
        return false;
    for (int i = 0; i < a->vars.n; i++) {
        const ImpVar *x = a->vars.at[i], *y = b->vars.at[i];
        if (x->type != y->type || x->slots != y->slots || x->vector != y->vector)
            return false;
    }
    Rename rename = {ctx, a, b};
    ImpBlock of_a = {0}, of_b = {0};
    for (int i = 0; i <= a->loop - a->first; i++) {
        vec_push(ctx, &of_a.list, block->list.at[a->first + i]);
        vec_push(ctx, &of_b.list, imp_copy_stmt(ctx, block->list.at[b->first + i]));
    }
    walk_stmts(&of_b, rename_stmt, &rename);
    return same_block(&of_a, &of_b);
}

/* ---- once instead of twice ------------------------------------------------------------------- */

typedef struct Between {
    const Defs *defs;
    const ImpStmt *by;
    bool changes;
} Between;

static void changes(void *user, ImpExpr **at)
{
    Between *b = user;
    b->changes = b->changes || defs_change(b->defs, *at, b->by);
}

/* Has the first one, computed where the second one stands, the same value? */
static bool keeps(const Defs *defs, const ImpBlock *block, const Fold *a, const Fold *b)
{
    Between between = {.defs = defs};
    for (int i = a->loop + 1; i < b->first && !between.changes; i++) {
        between.by = block->list.at[i];
        for (int k = a->first; k <= a->loop; k++)
            walk_stmt(block->list.at[k], changes, &between);
    }
    return !between.changes;
}

static void round_stmt(void *user, ImpStmt *s)
{
    (void)user;
    if ((s->kind == IS_SET || s->kind == IS_DECL) && s->var.value)
        values_round(s->var.value);
}

static void use_first(Ctx *ctx, ImpBlock *block, const Fold *a, const Fold *b)
{
    Rename rename = {ctx, a, b};
    ImpBlock rest = stmts_from(block, b->loop + 1), of_a = {.list = {block->list.at + a->loop, 1, 0}};
    walk_block(&rest, rename_expr, &rename);
    walk_stmts(&of_a, round_stmt, NULL);
    for (int i = b->first; i <= b->loop; i++)
        block_remove(block, b->first);
}

static void visit(const Defs *defs, ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        Fold a, b;
        if (s->kind == IS_IF) {
            visit(defs, &s->branch.then);
            visit(defs, &s->branch.otherwise);
        }
        if (s->kind == IS_FOR)
            visit(defs, &s->loop.body);
        if (!fold_at(defs, block, i, &a))
            continue;
        for (int k = i + 1; k < block->list.n && k < i + WINDOW; k++) {
            if (!fold_at(defs, block, k, &b) || !same_fold(defs->ctx, block, &a, &b) || !keeps(defs, block, &a, &b))
                continue;
            use_first(defs->ctx, block, &a, &b);
            k = b.first - 1;
        }
    }
}

void values_of_folds(Lowering *lw)
{
    Defs defs = {.ctx = lw->ctx};
    defs_note(&defs, &lw->kernel->body, NULL);
    visit(&defs, &lw->kernel->body);
}
