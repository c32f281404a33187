/* Pass roll: statements that repeat themselves become a loop, which CUDA's compiler writes out.
 *
 *   x += shflXor(16, x);  x += shflXor(8, x);  x += shflXor(4, x);  x += shflXor(2, x);  ...
 *     ->  unrolled for i = 0 until 5 { x += shflXor(16 / 2^i, x) }
 *
 * A group of statements is compared with the one behind it. Where their indices differ by constants
 * that are multiples of one distance, it is a step: of 1 each time, twice as far each time, or half
 * as far. Registers that a group declares are its own.
 *
 * Keeps: all values, and the order of all that is done. */
#include "codegen/lowering.h"
#include "codegen/walk.h"

enum {
    LEAST_STEPS = 3,      /* that are worth a loop, of a group of several statements */
    LEAST_OF_TWO = 8,     /* lines of a step, of which there are two */
    LEAST_LINES = 4,      /* that its steps have in all */
    LEAST_ON_A_LINE = 10, /* steps of one fold, which are printed behind each other, a + b + c ... */
    LEAST_NESTED = 6,     /* or within each other, min(min(a, b), c) ... */
    MOST_STATEMENTS = 12, /* of a group */
    MOST_WRITTEN = 256,   /* statements that a loop stands for: CUDA's compiler writes it out */
    MOST_OWN = 16         /* registers of a group */
};

typedef enum Progress { BY_ONE, DOUBLED, HALVED, PROGRESS_COUNT } Progress;

typedef struct Own {
    ImpVar *mine, *its; /* declared in the loop, and in the group that is compared with it */
} Own;

typedef struct Roll {
    Ctx *ctx;
    Nat var; /* of the loop */
    Progress progress;
    int64_t first;   /* distance of the first group; 0: none is known yet */
    int64_t between; /* from it to the second one's */
    int64_t step;    /* the group that is compared; -1: the second one, and the first becomes the
                        loop's body */
    Own own[MOST_OWN];
    int n_own;
} Roll;

/* ---- numbers --------------------------------------------------------------------------------- */

/* How far the groups are, by the number of the group, whose range is as wide as can be used. */
static Nat distance(Roll *r)
{
    if (r->progress == BY_ONE)
        return r->var;
    Nat power = nat_pow(r->ctx, nat_const(r->ctx, 2), r->var);
    return r->progress == DOUBLED ? nat_mul_k(r->ctx, power, r->first)
                                  : nat_div(r->ctx, nat_const(r->ctx, r->first), power);
}

/* The first difference that is met says what the distances are. */
static bool begin(Roll *r, int64_t difference)
{
    switch (r->progress) {
    case BY_ONE: r->between = 1; break;
    case DOUBLED: r->first = r->between = difference; break;
    case HALVED:
        r->between = difference;
        if (difference >= 0 || difference < -INT32_MAX)
            return false;
        r->first = -2 * difference;
        break;
    case PROGRESS_COUNT: break;
    }
    return r->progress == BY_ONE || r->first > 0;
}

/* *at of the first group with the same number of the second one: as a number of the loop's body. */
static bool join(Roll *r, Nat *at, Nat other)
{
    if (*at == other)
        return true;
    Nat difference = nat_sub(r->ctx, other, *at);
    if (!nat_is_const(difference) || nat_is_error(difference))
        return false;
    if (!r->between && !begin(r, difference->value))
        return false;
    if (difference->value % r->between)
        return false;
    Nat far = nat_add_k(r->ctx, distance(r), -r->first);
    *at = nat_add(r->ctx, *at, nat_mul_k(r->ctx, far, difference->value / r->between));
    return !nat_is_error(*at);
}

static bool same_nat(Roll *r, Nat *at, Nat other)
{
    if (!*at || !other)
        return *at == other;
    if (r->step < 0)
        return join(r, at, other);
    return nat_subst(r->ctx, *at, r->var, nat_const(r->ctx, r->step)) == other;
}

/* ---- expressions ----------------------------------------------------------------------------- */

static bool same_var(const Roll *r, const ImpVar *mine, const ImpVar *its)
{
    for (int i = 0; i < r->n_own; i++)
        if (r->own[i].mine == mine || r->own[i].its == its)
            return r->own[i].mine == mine && r->own[i].its == its;
    return mine == its;
}

static bool same_expr(Roll *r, ImpExpr *a, const ImpExpr *b);

static bool same_exprs(Roll *r, int n, ImpExpr **a, ImpExpr *const *b)
{
    for (int i = 0; i < n; i++)
        if (!same_expr(r, a[i], b[i]))
            return false;
    return true;
}

static bool same_expr(Roll *r, ImpExpr *a, const ImpExpr *b)
{
    if (a->kind != b->kind || a->type != b->type)
        return false;
    switch (a->kind) {
    case IE_LIT: return a->lit.type == b->lit.type && a->lit.u == b->lit.u;
    case IE_NAT: return same_nat(r, &a->nat, b->nat);
    case IE_VAR:
        return same_var(r, a->var.var, b->var.var) &&
               (a->var.var->vector ? a->var.slot == b->var.slot
                                   : same_nat(r, &a->var.slot, b->var.slot));
    case IE_LOAD: return a->mem.buf == b->mem.buf && same_nat(r, &a->mem.index, b->mem.index);
    case IE_OP:
        return a->op.id == b->op.id && a->op.n == b->op.n && a->op.rounded == b->op.rounded &&
               a->op.spared == b->op.spared && same_exprs(r, a->op.n, a->op.args, b->op.args);
    case IE_CAST: return same_expr(r, a->cast.value, b->cast.value);
    case IE_COND:
        return same_expr(r, a->cond.cond, b->cond.cond) &&
               same_expr(r, a->cond.then, b->cond.then) &&
               same_expr(r, a->cond.otherwise, b->cond.otherwise);
    case IE_SHFL:
        return a->shfl.id == b->shfl.id && a->shfl.op == b->shfl.op &&
               a->shfl.value->type == b->shfl.value->type && (!a->shfl.by == !b->shfl.by) &&
               (!a->shfl.by || same_expr(r, a->shfl.by, b->shfl.by)) &&
               same_expr(r, a->shfl.value, b->shfl.value);
    }
    return false;
}

/* ---- statements ------------------------------------------------------------------------------ */

/* A register of the group's own, or the first group's, set anew. `declares`: the second one. */
static bool same_declaration(Roll *r, ImpVar *mine, ImpVar *its, bool declares)
{
    if (mine == its && !declares)
        return true;
    if (!declares || mine->type != its->type || mine->slots != its->slots ||
        mine->vector != its->vector || mine->nat || its->nat || mine->constant != its->constant ||
        r->n_own == MOST_OWN)
        return false;
    r->own[r->n_own++] = (Own){mine, its};
    return true;
}

static bool same_vec(Roll *r, ImpStmt *a, const ImpStmt *b)
{
    if (b->kind != a->kind || a->vec.n != b->vec.n)
        return false;
    if (a->kind != IS_VSET &&
        (a->vec.buf != b->vec.buf || !same_nat(r, &a->vec.index, b->vec.index)))
        return false;
    if (a->kind != IS_VLOAD && !same_exprs(r, a->vec.n, a->vec.values, b->vec.values))
        return false;
    if (a->kind == IS_VSTORE)
        return true;
    return a->vec.declares ? same_declaration(r, a->vec.var, b->vec.var, b->vec.declares)
                           : !b->vec.declares && same_var(r, a->vec.var, b->vec.var);
}

static bool same_stmt(Roll *r, ImpStmt *a, const ImpStmt *b);

/* Comments count for nothing. */
static int next_stmt(const ImpBlock *block, int i)
{
    while (i < block->list.n && block->list.at[i]->kind == IS_NOTE)
        i++;
    return i;
}

static bool same_block(Roll *r, ImpBlock *a, const ImpBlock *b)
{
    int i = next_stmt(a, 0), j = next_stmt(b, 0), own = r->n_own;
    bool same = true;
    while (same && i < a->list.n && j < b->list.n) {
        same = same_stmt(r, a->list.at[i], b->list.at[j]);
        i = next_stmt(a, i + 1);
        j = next_stmt(b, j + 1);
    }
    r->n_own = own;
    return same && i == a->list.n && j == b->list.n;
}

static bool same_stmt(Roll *r, ImpStmt *a, const ImpStmt *b)
{
    switch (a->kind) {
    case IS_DECL:
        if ((b->kind != IS_DECL && b->kind != IS_SET) || a->var.var->vector || a->var.var->nat ||
            !a->var.value != !b->var.value)
            return false;
        return (!a->var.value || same_expr(r, a->var.value, b->var.value)) &&
               same_declaration(r, a->var.var, b->var.var, b->kind == IS_DECL);
    case IS_SET:
        return b->kind == IS_SET && same_var(r, a->var.var, b->var.var) &&
               same_expr(r, a->var.value, b->var.value) &&
               (a->var.var->vector ? a->var.slot == b->var.slot
                                   : same_nat(r, &a->var.slot, b->var.slot));
    case IS_STORE:
        return b->kind == IS_STORE && a->store.buf == b->store.buf &&
               a->store.unordered == b->store.unordered &&
               same_expr(r, a->store.value, b->store.value) &&
               same_nat(r, &a->store.index, b->store.index);
    case IS_IF:
        return b->kind == IS_IF && a->branch.last == b->branch.last &&
               same_expr(r, a->branch.cond, b->branch.cond) &&
               same_block(r, &a->branch.then, &b->branch.then) &&
               same_block(r, &a->branch.otherwise, &b->branch.otherwise);
    case IS_SYNC: return b->kind == IS_SYNC && a->sync == b->sync;
    case IS_VSET:
    case IS_VLOAD:
    case IS_VSTORE: return same_vec(r, a, b);
    case IS_ATOMIC:
    case IS_TICKET:
    case IS_GRID_SYNC:
    case IS_GIVE:
    case IS_AWAIT:
    case IS_SERVE:
    case IS_FOR:
    case IS_ALLOC:
    case IS_NOTE: break;
    }
    return false;
}

/* ---- groups ---------------------------------------------------------------------------------- */

typedef struct Run {
    ImpBlock body;   /* of the loop */
    int steps, size; /* groups, and statements of one */
    Nat var;
} Run;

static bool same_group(Roll *r, const ImpBlock *body, ImpStmt *const *group)
{
    r->n_own = 0;
    for (int i = 0; i < body->list.n; i++)
        if (!same_stmt(r, body->list.at[i], group[i]))
            return false;
    return true;
}

/* As many groups of `size` statements, from the first of n on, as follow each other. */
static Run run_of(Lowering *lw, ImpStmt **stmts, int n, int size, Progress progress)
{
    Ctx *ctx = lw->ctx;
    int most = progress == BY_ONE ? MOST_WRITTEN : 30; /* of which 2^i has 31 bits */
    Roll r = {.ctx = ctx, .progress = progress, .step = -1};
    r.var = nat_var(ctx, "i", nat_const(ctx, 0), nat_const(ctx, most - 1));
    Run run = {.size = size, .steps = 1, .var = r.var};
    for (int i = 0; i < size; i++)
        vec_push(ctx, &run.body.list, imp_copy_stmt(ctx, stmts[i]));
    if (!same_group(&r, &run.body, stmts + size))
        return run;
    most = n / size < most ? n / size : most;
    for (r.step = 1; r.step < most && same_group(&r, &run.body, stmts + r.step * size); r.step++)
        run.steps++;
    return run;
}

static void find_shuffle(void *user, ImpExpr **at) { *(bool *)user |= (*at)->kind == IE_SHFL; }

/* Lines, more or less: one statement alone stands behind its condition. */
static int lines_of(const ImpBlock *block)
{
    int n = 0;
    for (int i = 0; i < block->list.n; i++) {
        const ImpStmt *s = block->list.at[i];
        int lines = s->kind == IS_FOR  ? lines_of(&s->loop.body)
                    : s->kind == IS_IF ? lines_of(&s->branch.then) + lines_of(&s->branch.otherwise)
                                       : 0;
        n += lines > 1 ? lines + 1 : s->kind != IS_NOTE;
    }
    return n;
}

/* How many lines are worth it. acc = acc + xs[i]: several are one line of text (steps.c). */
static int least_lines(const Run *run)
{
    bool shuffles = false, nested = false;
    for (int i = 0; i < run->size; i++) {
        ImpStmt *s = run->body.list.at[i];
        walk_own(s, find_shuffle, &shuffles);
        if (shuffles || s->kind != IS_SET || s->var.value->kind != IE_OP)
            return LEAST_LINES;
        nested |= !imp_is_infix(s->var.value);
    }
    return nested ? LEAST_NESTED : LEAST_ON_A_LINE;
}

static bool is_worth_it(const Run *run)
{
    int lines = lines_of(&run->body), all = run->steps * lines;
    return run->steps >= (lines >= LEAST_OF_TWO ? 2 : LEAST_STEPS) && all >= least_lines(run) &&
           all <= MOST_WRITTEN;
}

/* Can the two begin groups that are the same? Asked before anything is copied. */
static bool look_alike(const ImpStmt *a, const ImpStmt *b)
{
    switch (a->kind) {
    case IS_DECL:
        return (b->kind == IS_DECL || b->kind == IS_SET) && a->var.var->type == b->var.var->type &&
               a->var.value && b->var.value && a->var.value->kind == b->var.value->kind;
    case IS_SET:
        return b->kind == IS_SET && a->var.var->type == b->var.var->type &&
               a->var.value->kind == b->var.value->kind;
    case IS_STORE:
        return b->kind == IS_STORE && a->store.buf == b->store.buf &&
               a->store.value->kind == b->store.value->kind;
    case IS_VSET: return b->kind == IS_VSET && a->vec.n == b->vec.n;
    case IS_VLOAD:
    case IS_VSTORE: return b->kind == a->kind && a->vec.buf == b->vec.buf && a->vec.n == b->vec.n;
    case IS_IF:
    case IS_SYNC: return a->kind == b->kind;
    default: return false;
    }
}

/* ---- registers that the groups declare ------------------------------------------------------- */

typedef struct Mentions {
    const ImpVar *var;
    bool found;
} Mentions;

static void mentions_expr(void *user, ImpExpr **at)
{
    Mentions *m = user;
    m->found |= (*at)->kind == IE_VAR && (*at)->var.var == m->var;
}

static void mentions_stmt(void *user, ImpStmt *s)
{
    Mentions *m = user;
    m->found |= imp_sets(s) == m->var;
    walk_own(s, mentions_expr, m);
}

static bool is_mentioned(const ImpVar *var, const ImpBlock *block)
{
    Mentions m = {.var = var};
    walk_stmts((ImpBlock *)block, mentions_stmt, &m);
    return m.found;
}

/* What is read behind the loop is declared before it, which is right where each group sets the same
 * register. False: a group has a register of its own, and that is read behind. */
static bool declare_before(Lowering *lw, ImpStmt **stmts, Run *run, const ImpBlock *behind,
                           ImpBlock *before)
{
    Ctx *ctx = lw->ctx;
    for (int i = 0; i < run->steps * run->size; i++) {
        ImpStmt *s = stmts[i];
        if (!imp_declares(s) || !is_mentioned(imp_sets(s), behind))
            continue;
        if (s->kind != IS_DECL || i >= run->size || stmts[i + run->size]->kind != IS_SET)
            return false;
        ImpStmt *decl = imp_stmt(ctx, before, IS_DECL, s->span), *set = run->body.list.at[i];
        decl->var.var = s->var.var;
        set->kind = IS_SET;
        set->var.slot = nat_const(ctx, 0);
    }
    return true;
}

typedef struct Sets {
    const ImpVar *var;
    int n;
} Sets;

static void count_sets(void *user, ImpStmt *s)
{
    Sets *sets = user;
    sets->n += imp_sets(s) == sets->var;
}

/* What only its declaration sets is a constant of the step. */
static void mark_constants(ImpBlock *body)
{
    for (int i = 0; i < body->list.n; i++) {
        ImpStmt *s = body->list.at[i];
        if (s->kind != IS_DECL || !s->var.value)
            continue;
        Sets sets = {.var = s->var.var};
        walk_stmts(body, count_sets, &sets);
        s->var.var->constant |= sets.n == 1;
    }
}

/* ---- the walk -------------------------------------------------------------------------------- */

typedef struct Places {
    VEC(ImpStmt *) stmts; /* of a block, without comments */
    VEC(int) at;          /* where each stands in it */
} Places;

typedef struct Exact {
    Ctx *ctx;
    Nat var, by;
} Exact;

static Nat exact_nat(void *user, Nat nat)
{
    const Exact *x = user;
    return nat_subst(x->ctx, nat, x->var, x->by);
}

static void exact_stmt(void *user, ImpStmt *s) { map_nats(s, exact_nat, user); }

/* The number of steps is known now, and with it how large the body's numbers are. */
static void set_range(Ctx *ctx, Run *run)
{
    Exact x = {ctx, run->var, nat_var(ctx, "i", nat_const(ctx, 0), nat_const(ctx, run->steps - 1))};
    walk_stmts(&run->body, exact_stmt, &x);
    run->var = x.by;
}

/* The comments among the statements of the first group stand in the body, too. */
static void keep_notes(Ctx *ctx, const ImpBlock *block, const int *at, Run *run)
{
    for (int k = run->size - 1; k > 0; k--)
        for (int p = at[k] - 1; p > at[k - 1]; p--)
            block_insert(ctx, &run->body, k, block->list.at[p]);
}

/* The loop in place of its steps; gives the number of statements and comments that the block has
 * less. */
static int put_loop(Lowering *lw, ImpBlock *block, const int *at, Run *run, const ImpBlock *before)
{
    Ctx *ctx = lw->ctx;
    int from = at[0], to = at[run->steps * run->size - 1], was = block->list.n;
    set_range(ctx, run);
    ImpStmt *loop = imp_stmt(ctx, NULL, IS_FOR, block->list.at[from]->span);
    loop->loop.var = run->var;
    loop->loop.lo = nat_const(ctx, 0);
    loop->loop.hi = nat_const(ctx, run->steps);
    loop->loop.step = nat_const(ctx, 1);
    loop->loop.level = P_mapSeqUnroll;
    loop->loop.unroll = true;
    loop->loop.repeats = true;
    mark_constants(&run->body);
    keep_notes(ctx, block, at, run);
    loop->loop.body = run->body;
    block->list.at[from] = loop;
    memmove(block->list.at + from + 1, block->list.at + to + 1,
            sizeof *block->list.at * (size_t)(block->list.n - to - 1));
    block->list.n -= to - from;
    for (int i = 0; i < before->list.n; i++)
        block_insert(ctx, block, from + i, before->list.at[i]);
    return was - block->list.n;
}

/* Looks for groups that begin with the first of n statements. */
static bool find_run(Lowering *lw, ImpStmt **stmts, int n, Run *run)
{
    for (int size = 1; size <= MOST_STATEMENTS && 2 * size <= n; size++) {
        bool alike = true;
        for (int k = 0; k < size && alike; k++)
            alike = look_alike(stmts[k], stmts[size + k]);
        for (int p = 0; alike && p < PROGRESS_COUNT; p++) {
            *run = run_of(lw, stmts, n, size, (Progress)p);
            if (is_worth_it(run))
                return true;
        }
    }
    return false;
}

/* Do the steps become a loop, but for the first one at most? */
static bool becomes_loop(Lowering *lw, const ImpBlock *steps, int first)
{
    Run run;
    for (int k = 0; k <= first + 1 && k < steps->list.n; k++)
        if (find_run(lw, steps->list.at + k, steps->list.n - k, &run))
            return k + run.steps * run.size == steps->list.n;
    return false;
}

static void sink_loads(Lowering *lw, ImpBlock *block, const int *reads)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpBlock steps = {{0}};
        int first, n = roll_sink_loads(lw, block, i, reads, &steps, &first);
        if (!n || !becomes_loop(lw, &steps, first))
            continue;
        for (int k = 0; k < n; k++)
            block_remove(block, i);
        for (int k = 0; k < steps.list.n; k++)
            block_insert(lw->ctx, block, i + k, steps.list.at[k]);
        i += steps.list.n - 1;
    }
}

static void roll_block(Lowering *lw, ImpBlock *block, const int *reads)
{
    sink_loads(lw, block, reads);
    Ctx *ctx = lw->ctx;
    Places places = {.stmts = {0}};
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_FOR)
            roll_block(lw, &s->loop.body, reads);
        if (s->kind == IS_IF) {
            roll_block(lw, &s->branch.then, reads);
            roll_block(lw, &s->branch.otherwise, reads);
        }
        if (s->kind != IS_NOTE) {
            vec_push(ctx, &places.stmts, s);
            vec_push(ctx, &places.at, i);
        }
    }
    for (int i = 0, removed = 0; i < places.stmts.n; i++) {
        Run run;
        ImpStmt **stmts = places.stmts.at + i;
        if (!find_run(lw, stmts, places.stmts.n - i, &run))
            continue;
        int n = run.steps * run.size;
        for (int k = i; k < i + n; k++)
            places.at.at[k] -= removed;
        ImpBlock before = {{0}}, behind = stmts_from(block, places.at.at[i + n - 1] + 1);
        if (declare_before(lw, stmts, &run, &behind, &before)) {
            removed += put_loop(lw, block, places.at.at + i, &run, &before);
            i += n - 1;
        } else {
            for (int k = i; k < i + n; k++)
                places.at.at[k] += removed;
        }
    }
}

void pass_roll(Lowering *lw)
{
    roll_make_arrays(lw);
    roll_block(lw, &lw->kernel->body, roll_count_reads(lw->ctx, lw->kernel));
}
