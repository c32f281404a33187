/* Pass loops: what several loops compute for the same elements is computed in one.
 *
 *   for (i ...) r1[i] = f(xs[i]);  for (j ...) r2[j] = g(xs[j])
 *     ->  for (i ...) { r1[i] = f(xs[i]);  r2[i] = g(xs[i]) }
 *
 * So several results over the same axes read once what they share. Results that a thread computes of
 * a row are stored in one loop, too: rows of 12,001 elements with two results took twice as long in two
 * (H200). Neighbouring branches that ask the
 * same of the sizes are one first, so that the loops in them are neighbours, too. The loops stand behind each other,
 * count alike, hold nothing that other threads take part in, and share no registers. No memory that one
 * of them writes is read or written by the other. */
#include "codegen/lowering.h"
#include "codegen/walk.h"

typedef struct Touched {
    bool *reads, *writes; /* by ImpBuf.id */
    bool *uses, *sets;    /* by ImpVar.id */
    bool alone;           /* nothing that other threads take part in */
} Touched;

static void note_read(void *user, ImpExpr **at)
{
    Touched *t = user;
    if ((*at)->kind == IE_LOAD)
        t->reads[(*at)->mem.buf->id] = true;
    if ((*at)->kind == IE_VAR)
        t->uses[(*at)->var.var->id] = true;
    t->alone &= (*at)->kind != IE_SHFL;
}

static void note_touched(void *user, ImpStmt *s)
{
    Touched *t = user;
    switch (s->kind) {
    case IS_STORE: t->writes[s->store.buf->id] = true; break;
    case IS_VSTORE: t->writes[s->vec.buf->id] = true; break;
    case IS_VLOAD: t->reads[s->vec.buf->id] = t->sets[s->vec.var->id] = true; break;
    case IS_VSET: t->sets[s->vec.var->id] = true; break;
    case IS_DECL: case IS_SET: t->sets[s->var.var->id] = true; break;
    case IS_FOR: case IS_IF: case IS_NOTE: break;
    default: t->alone = false; break;
    }
    t->alone &= s->prefetch == 0;
    walk_own(s, note_read, t);
}

static Touched touched_by(const Lowering *lw, ImpStmt *loop)
{
    Ctx *ctx = lw->ctx;
    const int n = lw->kernel->bufs.n + 1, n_vars = lw->kernel->vars.n + 1;
    Touched t = {NEWN(ctx, bool, n), NEWN(ctx, bool, n), NEWN(ctx, bool, n_vars),
                 NEWN(ctx, bool, n_vars), true};
    walk_stmts(&loop->loop.body, note_touched, &t);
    return t;
}

/* Do both count the same elements, of the grid or of what a thread computes of a row? */
static bool counts_alike(const ImpStmt *a, const ImpStmt *b)
{
    const PrimId level = a->loop.level;
    return (level == P_mapGlobal || level == P_mapSeq) && level == b->loop.level &&
           a->loop.lo == b->loop.lo && a->loop.hi == b->loop.hi && a->loop.step == b->loop.step &&
           a->loop.tiles == b->loop.tiles &&
           a->loop.unroll == b->loop.unroll && a->loop.at_once == b->loop.at_once && !a->loop.full &&
           !b->loop.full && a->prefetch == 0 && b->prefetch == 0;
}

/* Does one of them change something that the other one changes or reads? */
static bool meet(int n, const bool *changes, const bool *reads, const bool *other_changes,
                 const bool *other_reads)
{
    bool found = false;
    for (int i = 0; i < n && !found; i++)
        found = (changes[i] && (other_reads[i] || other_changes[i])) ||
                (other_changes[i] && reads[i]);
    return found;
}

/* Does it store to results alone? Each thread has its own cells of these. */
static bool gives_results(const Lowering *lw, const Touched *t)
{
    bool results = false, others = false;
    for (int i = 0; i < lw->kernel->bufs.n; i++)
        if (t->writes[lw->kernel->bufs.at[i]->id])
            *(lw->kernel->bufs.at[i]->space == SPACE_OUTPUT ? &results : &others) = true;
    return results && !others;
}

static bool may_fuse(const Lowering *lw, ImpStmt *a, ImpStmt *b)
{
    if (!counts_alike(a, b))
        return false;
    const Touched x = touched_by(lw, a), y = touched_by(lw, b);
    if (a->loop.level != P_mapGlobal && !(gives_results(lw, &x) && gives_results(lw, &y)))
        return false;
    return x.alone && y.alone && !meet(lw->kernel->bufs.n, x.writes, x.reads, y.writes, y.reads) &&
           !meet(lw->kernel->vars.n, x.sets, x.uses, y.sets, y.uses);
}

typedef struct Renamed {
    Ctx *ctx;
    Nat from, to;
} Renamed;

static Nat renamed(void *user, Nat nat)
{
    const Renamed *r = user;
    return nat_subst(r->ctx, nat, r->from, r->to);
}

static void rename_in(void *user, ImpStmt *s) { map_nats(s, renamed, user); }

/* ---- vectors that both load ---- */

/* if (a full vector) v = cells; else v = (a cell, another if it is there, ...): for one vector or
 * more. */
static bool is_load_of_vectors(const ImpStmt *s)
{
    const ImpBlock *then = &s->branch.then, *otherwise = &s->branch.otherwise;
    bool loads = s->kind == IS_IF && then->list.n > 0 && then->list.n == otherwise->list.n;
    for (int i = 0; loads && i < then->list.n; i++) {
        const ImpStmt *all = then->list.at[i], *fewer = otherwise->list.at[i];
        loads = all->kind == IS_VLOAD && fewer->kind == IS_VSET && all->vec.var == fewer->vec.var;
    }
    return loads;
}

/* Do both give their vectors the same? */
static bool gives_same(const ImpStmt *a, const ImpStmt *b)
{
    bool same = a->vec.n == b->vec.n && a->vec.declares == b->vec.declares;
    if (a->kind == IS_VLOAD)
        return same && a->vec.buf == b->vec.buf && a->vec.index == b->vec.index;
    for (int i = 0; i < a->vec.n && same; i++)
        same = imp_same_value(a->vec.values[i], b->vec.values[i]);
    return same;
}

typedef struct TimesSet {
    const ImpVar *var;
    int n;
} TimesSet;

static void count_sets(void *user, ImpStmt *s)
{
    TimesSet *t = user;
    bool vector = s->kind == IS_VLOAD || s->kind == IS_VSET;
    t->n += (vector && s->vec.var == t->var) || (s->kind == IS_SET && s->var.var == t->var);
}

/* Does the register keep what these loads give it? */
static bool keeps(const ImpBlock *block, const ImpVar *var, int loads)
{
    TimesSet t = {var, 0};
    ImpBlock all = stmts_from(block, 0);
    walk_stmts(&all, count_sets, &t);
    return t.n == loads;
}

enum { LOADS_ALONE = 1, LOADS_EITHER = 2 /* all cells, or fewer */ };

/* The register that has what number `at` of these loads is; NULL: none. */
static ImpVar *loaded_before(const ImpBlock *before, const ImpStmt *loads, int at)
{
    for (int i = 0; i < before->list.n; i++) {
        const ImpStmt *other = before->list.at[i];
        if (!is_load_of_vectors(other) || !imp_same_value(other->branch.cond, loads->branch.cond))
            continue;
        for (int k = 0; k < other->branch.then.list.n; k++) {
            const ImpStmt *all = other->branch.then.list.at[k];
            if (gives_same(all, loads->branch.then.list.at[at]) &&
                gives_same(other->branch.otherwise.list.at[k], loads->branch.otherwise.list.at[at]) &&
                keeps(before, all->vec.var, LOADS_EITHER))
                return all->vec.var;
        }
    }
    return NULL;
}

typedef struct Replaced {
    ImpVar *var, *by;
} Replaced;

static void replace_var(void *user, ImpExpr **at)
{
    const Replaced *r = user;
    if ((*at)->kind == IE_VAR && (*at)->var.var == r->var)
        (*at)->var.var = r->by;
}

static void remove_declaration(ImpBlock *block, const ImpVar *var)
{
    for (int i = block->list.n - 1; i >= 0; i--)
        if (block->list.at[i]->kind == IS_DECL && block->list.at[i]->var.var == var)
            block_remove(block, i);
}

/* A vector that a statement alone has loaded; NULL: there is none. */
static ImpVar *plainly_loaded_before(const ImpBlock *before, const ImpStmt *load)
{
    for (int i = 0; i < before->list.n; i++) {
        const ImpStmt *other = before->list.at[i];
        if (other->kind == IS_VLOAD && gives_same(other, load) && keeps(before, other->vec.var, LOADS_ALONE))
            return other->vec.var;
    }
    return NULL;
}

/* Vectors that have been loaded before are not loaded again. */
static void share_vectors(const ImpBlock *before, ImpBlock *block)
{
    for (int i = block->list.n - 1; i >= 0; i--) {
        ImpStmt *loads = block->list.at[i];
        if (loads->kind == IS_VLOAD) {
            Replaced r = {loads->vec.var, plainly_loaded_before(before, loads)};
            if (r.by && keeps(block, r.var, LOADS_ALONE)) {
                block_remove(block, i);
                walk_block(block, replace_var, &r);
            }
        }
        if (!is_load_of_vectors(loads))
            continue;
        ImpBlock *then = &loads->branch.then, *otherwise = &loads->branch.otherwise;
        for (int k = then->list.n - 1; k >= 0; k--) {
            Replaced r = {then->list.at[k]->vec.var, loaded_before(before, loads, k)};
            if (!r.by || !keeps(block, r.var, LOADS_EITHER))
                continue;
            block_remove(then, k);
            block_remove(otherwise, k);
            walk_block(block, replace_var, &r);
            remove_declaration(block, r.var);
        }
        for (i = block->list.n - 1; i >= 0 && block->list.at[i] != loads; i--) /* declarations are gone */
            ;
        if (then->list.n == 0)
            block_remove(block, i);
    }
}

/* ---- the loops ---- */

static void note_store(void *user, ImpStmt *s)
{
    *(bool *)user |= s->kind == IS_STORE || s->kind == IS_VSTORE;
}

/* The statements before the first one that stores, and the note before that: how many. */
static int before_stores(const ImpBlock *block)
{
    int n = block->list.n;
    for (bool stores = true; n > 0 && stores; n -= stores) { /* the first that leaves none before it */
        ImpBlock before = stmts_from(block, 0);
        before.list.n = n;
        stores = false;
        walk_stmts(&before, note_store, &stores);
    }
    return n > 0 && n < block->list.n && block->list.at[n - 1]->kind == IS_NOTE ? n - 1 : n;
}

static void add_all(const Lowering *lw, ImpBlock *to, const ImpBlock *from, int first)
{
    for (int i = first; i < from->list.n; i++)
        vec_push(lw->ctx, &to->list, from->list.at[i]);
}

/* The statements from number `at` on, up to the next condition: the number of that. */
static int add_to_condition(const Lowering *lw, ImpBlock *to, const ImpBlock *from, int at,
                            bool notes)
{
    for (; at < from->list.n && from->list.at[at]->kind != IS_IF; at++)
        if (notes || from->list.at[at]->kind != IS_NOTE)
            vec_push(lw->ctx, &to->list, from->list.at[at]);
    return at;
}

/* What both store, each in its own order. A condition that both have is asked once. */
static ImpBlock stores_of(const Lowering *lw, const ImpBlock *a, const ImpBlock *b)
{
    ImpBlock both = {0};
    int i = add_to_condition(lw, &both, a, 0, true), k = add_to_condition(lw, &both, b, 0, false);
    while (i < a->list.n && k < b->list.n) {
        ImpStmt *x = a->list.at[i], *y = b->list.at[k];
        if (!imp_same_value(x->branch.cond, y->branch.cond))
            break;
        x->branch.then = stores_of(lw, &x->branch.then, &y->branch.then);
        x->branch.otherwise = stores_of(lw, &x->branch.otherwise, &y->branch.otherwise);
        vec_push(lw->ctx, &both.list, x);
        i = add_to_condition(lw, &both, a, i + 1, true);
        k = add_to_condition(lw, &both, b, k + 1, false);
    }
    add_all(lw, &both, a, i);
    add_all(lw, &both, b, k);
    return both;
}

/* The second loop's statements go into the first loop: what they compute, before anything is stored,
 * so that what both load is loaded once. */
static void fuse(const Lowering *lw, ImpStmt *a, ImpStmt *b)
{
    Renamed r = {lw->ctx, b->loop.var, a->loop.var};
    ImpBlock *to = &a->loop.body;
    const ImpBlock first = *to;
    walk_stmts(&b->loop.body, rename_in, &r);
    share_vectors(&first, &b->loop.body);
    const ImpBlock second = b->loop.body;
    const int computed[2] = {before_stores(&first), before_stores(&second)};
    const ImpBlock stores[2] = {stmts_from(&first, computed[0]), stmts_from(&second, computed[1])};
    const ImpBlock all = stores_of(lw, &stores[0], &stores[1]);
    *to = (ImpBlock){0};
    for (int i = 0; i < computed[0]; i++)
        vec_push(lw->ctx, &to->list, first.list.at[i]);
    for (int i = 0; i < computed[1]; i++)
        if (second.list.at[i]->kind != IS_NOTE) /* those of the first loop stay */
            vec_push(lw->ctx, &to->list, second.list.at[i]);
    add_all(lw, to, &all, 0);
}

static void fuse_in(Lowering *lw, ImpBlock *body);

/* The statement behind this one and the notes between them: which it is; -1: there is none. */
static int behind(const ImpBlock *body, int i)
{
    int next = i + 1;
    while (next < body->list.n && body->list.at[next]->kind == IS_NOTE)
        next++;
    return next < body->list.n ? next : -1;
}

static void remove_behind(ImpBlock *body, int i, int last)
{
    for (; last > i; last--)
        block_remove(body, last);
}

/* ---- branches ---- */

static void find_changing(void *user, ImpExpr **at)
{
    *(bool *)user |= (*at)->kind == IE_LOAD || (*at)->kind == IE_VAR;
}

/* Nothing but loops over elements of the grid, whatever the condition, which is about sizes. */
static bool is_of_grid(const Lowering *lw, ImpStmt *s)
{
    if (s->kind == IS_NOTE)
        return true;
    if (s->kind == IS_FOR)
        return s->loop.level == P_mapGlobal && s->prefetch == 0 && touched_by(lw, s).alone;
    if (s->kind != IS_IF || s->branch.last)
        return false;
    bool changing = false;
    walk_expr(&s->branch.cond, find_changing, &changing);
    for (int i = 0; i < s->branch.then.list.n && !changing; i++)
        changing = !is_of_grid(lw, s->branch.then.list.at[i]);
    for (int i = 0; i < s->branch.otherwise.list.n && !changing; i++)
        changing = !is_of_grid(lw, s->branch.otherwise.list.at[i]);
    return !changing;
}

/* if (c) { a } else { b }  if (c) { d } else { e }  ->  if (c) { a d } else { b e } */
static void join_branches(Lowering *lw, ImpBlock *body, int i)
{
    ImpStmt *s = body->list.at[i];
    for (int next; (next = behind(body, i)) > 0;) {
        ImpStmt *other = body->list.at[next];
        if (other->kind != IS_IF || !imp_same_value(s->branch.cond, other->branch.cond) ||
            !is_of_grid(lw, s) || !is_of_grid(lw, other))
            break;
        add_all(lw, &s->branch.then, &other->branch.then, 0);
        add_all(lw, &s->branch.otherwise, &other->branch.otherwise, 0);
        remove_behind(body, i, next);
    }
    fuse_in(lw, &s->branch.then);
    fuse_in(lw, &s->branch.otherwise);
}

/* ---- the pass ---- */

static void fuse_in(Lowering *lw, ImpBlock *body)
{
    for (int i = 0; i < body->list.n; i++) {
        ImpStmt *s = body->list.at[i];
        if (s->kind == IS_IF)
            join_branches(lw, body, i);
        if (s->kind == IS_FOR)
            fuse_in(lw, &s->loop.body);
        for (int next; s->kind == IS_FOR && (next = behind(body, i)) > 0;) {
            ImpStmt *other = body->list.at[next];
            if (other->kind != IS_FOR || !may_fuse(lw, s, other))
                break;
            fuse(lw, s, other);
            remove_behind(body, i, next);
        }
    }
}

void pass_loops(Lowering *lw) { fuse_in(lw, &lw->kernel->body); }
