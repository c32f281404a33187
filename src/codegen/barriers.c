/* Pass barriers: synchronisation from dependencies, and no more of it.
 *
 * Walks the statements with the accesses that are not yet ordered before what follows. Where a statement may touch a cell that another thread touched,
 * a barrier goes in front of it: of the block, or of the warp when only threads of one warp meet. Loops are walked twice, so that one iteration's
 * accesses meet the next one's. At the end each barrier is taken out once on trial and stays out when nothing misses it, and
 * is put before the loop around it when that does.
 *
 * Requires: memory is planned (buffers may share bytes). Establishes: every two accesses of one cell by different threads of a block, one of them a
 * write, are ordered. Refuses: an order that only a barrier could give which some threads would not reach; memory of other blocks. */
#include "codegen/footprint.h"
#include "codegen/uniform.h"
#include "codegen/walk.h"

typedef struct StmtInfo {
    VEC(Access *) own;    /* of the statement itself */
    VEC(Access *) nested; /* of it and of everything in it */
    const Scope *inside, *inside_else;
    bool block_uniform, warp_uniform;
    bool hidden;          /* a barrier on trial */
} StmtInfo;

typedef struct Pending {
    Access *access;
    bool warp_synced;
    int carried; /* depth of the outermost loop whose next iteration has begun since; INT32_MAX: none */
} Pending;

typedef struct State {
    VEC(Pending) list;
} State;

typedef struct Barriers {
    Lowering *lw;
    Ctx *ctx;
    Uniform uniform;
    State now;
    VEC(State) spare; /* memory of states that are done with: there are many */
    int n_accesses;
    Table read;          /* buffers that the kernel reads */
    VEC(int) grid_syncs; /* how many accesses stand before each barrier of the grid */
    bool trial;    /* only look: is something not ordered? */
    bool violated, inserted;
    int loops;     /* around the statement that is walked */
    int most_loops; /* where barriers may be put around which there are no more; and no error is told. -1: anywhere */
    VEC(ImpStmt *) added; /* those that were put, by that limit, beside */
    VEC(ImpBlock *) added_to;
} Barriers;

/* ---- what each statement touches -------------------------------------------------------------------------------------------- */

static Scope *scope_new(Ctx *ctx, const Scope *parent)
{
    Scope *s = NEW(ctx, Scope);
    s->parent = parent;
    s->depth = scope_depth(parent) + 1;
    return s;
}

static const Scope *scope_cond(Ctx *ctx, const Scope *parent, const ImpExpr *cond, bool negated)
{
    Scope *s = scope_new(ctx, parent);
    s->cond = cond;
    s->negated = negated;
    return s;
}

typedef struct Combined {
    const ImpBuf *buf;
    bool found;
} Combined;

static void find_atomic(void *user, ImpStmt *s)
{
    Combined *c = user;
    c->found |= s->kind == IS_ATOMIC && s->atomic.buf == c->buf;
}

/* A result that atomics write: elsewhere results have one writer for each cell. */
static bool is_combined(const Barriers *b, const ImpBuf *buf)
{
    Combined c = {buf, false};
    if (buf->space == SPACE_OUTPUT)
        walk_stmts(&b->lw->kernel->body, find_atomic, &c);
    return c.found;
}

static Access *add_access(Barriers *b, StmtInfo *info, const ImpBuf *buf, bool write, Nat index, Span span, const Scope *scope)
{
    if (buf->space != SPACE_SHARED && buf->space != SPACE_TEMP && !buf->rewritten && !is_combined(b, buf))
        return NULL;
    Access *a = NEW(b->ctx, Access);
    *a = (Access){.buf = buf, .write = write, .index = index, .span = span, .scope = scope, .id = b->n_accesses++};
    vec_push(b->ctx, &info->own, a);
    return a;
}

static void collect_expr(Barriers *b, StmtInfo *info, const ImpExpr *e, const Scope *scope)
{
    switch (e->kind) {
    case IE_LIT: case IE_NAT: case IE_VAR: return;
    case IE_LOAD: add_access(b, info, e->mem.buf, false, e->mem.index, e->span, scope); return;
    case IE_OP:
        for (int i = 0; i < e->op.n; i++)
            collect_expr(b, info, e->op.args[i], scope);
        return;
    case IE_CAST: collect_expr(b, info, e->cast.value, scope); return;
    case IE_COND:
        collect_expr(b, info, e->cond.cond, scope);
        collect_expr(b, info, e->cond.then, scope_cond(b->ctx, scope, e->cond.cond, false));
        collect_expr(b, info, e->cond.otherwise, scope_cond(b->ctx, scope, e->cond.cond, true));
        return;
    case IE_SHFL:
        if (e->shfl.by)
            collect_expr(b, info, e->shfl.by, scope);
        collect_expr(b, info, e->shfl.value, scope);
        return;
    }
}

static void collect(Barriers *b, ImpBlock *block, const Scope *scope, const LoopSame *loops, StmtInfo *outer);

static void collect_nested(Barriers *b, ImpBlock *block, const Scope *scope, const LoopSame *loops, StmtInfo *info)
{
    StmtInfo inner = {.hidden = false};
    collect(b, block, scope, loops, &inner);
    for (int i = 0; i < inner.nested.n; i++)
        vec_push(b->ctx, &info->nested, inner.nested.at[i]);
}

static void collect(Barriers *b, ImpBlock *block, const Scope *scope, const LoopSame *loops, StmtInfo *outer)
{
    Ctx *ctx = b->ctx;
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        StmtInfo *info = s->info = NEW(ctx, StmtInfo);
        if ((s->kind == IS_DECL || s->kind == IS_SET) && s->var.value)
            collect_expr(b, info, s->var.value, scope);
        if (s->kind == IS_STORE) {
            collect_expr(b, info, s->store.value, scope);
            Access *a = add_access(b, info, s->store.buf, true, s->store.index, s->span, scope);
            if (a) {
                a->unordered = s->store.unordered;
                a->of = s;
            }
        }
        if (s->kind == IS_ATOMIC) {
            collect_expr(b, info, s->atomic.value, scope);
            Access *a = add_access(b, info, s->atomic.buf, true, s->atomic.index, s->span, scope);
            if (a)
                a->atomic = true;
        }
        if (s->kind == IS_TICKET) {
            add_access(b, info, s->ticket.flag, true, nat_const(ctx, 0), s->span, scope);
            add_access(b, info, s->ticket.buf, false, nat_const(ctx, 0), s->span, scope)->release = true;
        }
        if (s->kind == IS_GIVE)
            collect_expr(b, info, s->exchange.value, scope);
        if (s->kind == IS_AWAIT)
            add_access(b, info, s->exchange.cell, true, nat_const(ctx, 0), s->span, scope);
        if (s->kind == IS_GRID_SYNC)
            vec_push(ctx, &b->grid_syncs, b->n_accesses);
        if (s->kind == IS_VSET || s->kind == IS_VSTORE)
            for (int k = 0; k < s->vec.n; k++)
                collect_expr(b, info, s->vec.values[k], scope);
        if (s->kind == IS_VLOAD || s->kind == IS_VSTORE)
            for (int k = 0; k < s->vec.n; k++) {
                Access *a = add_access(b, info, s->vec.buf, s->kind == IS_VSTORE, nat_add_k(ctx, s->vec.index, k), s->span, scope);
                if (a && a->write)
                    a->of = s;
            }
        if (s->kind == IS_IF)
            collect_expr(b, info, s->branch.cond, scope);
        for (int k = 0; k < info->own.n; k++)
            vec_push(ctx, &info->nested, info->own.at[k]);
        if (s->kind == IS_FOR) {
            LoopSame loop = {loops, s->loop.var, uniform_loop(&b->uniform, loops, s)};
            info->block_uniform = loop.same & SAME_IN_BLOCK;
            info->warp_uniform = loop.same & SAME_IN_WARP;
            Scope *inner = scope_new(ctx, scope);
            inner->loop = s;
            inner->uniform = info->block_uniform;
            info->inside = inner;
            collect_nested(b, &s->loop.body, inner, &loop, info);
        }
        if (s->kind == IS_IF) {
            int same = s->branch.last ? SAME_IN_BLOCK | SAME_IN_WARP : uniform_expr(&b->uniform, loops, s->branch.cond);
            info->block_uniform = same & SAME_IN_BLOCK;
            info->warp_uniform = same & SAME_IN_WARP;
            info->inside = scope_cond(ctx, scope, s->branch.cond, false);
            ((Scope *)info->inside)->last = s->branch.last;
            info->inside_else = scope_cond(ctx, scope, s->branch.cond, true);
            collect_nested(b, &s->branch.then, info->inside, loops, info);
            collect_nested(b, &s->branch.otherwise, info->inside_else, loops, info);
        }
        for (int k = 0; k < info->nested.n; k++)
            vec_push(ctx, &outer->nested, info->nested.at[k]);
    }
}

/* ---- states ----------------------------------------------------------------------------------------------------------------------- */

static void state_add(Barriers *b, State *state, Pending p)
{
    for (int i = 0; i < state->list.n; i++) {
        Pending *q = &state->list.at[i];
        if (q->access == p.access && q->carried == p.carried) {
            q->warp_synced &= p.warp_synced;
            return;
        }
    }
    vec_push(b->ctx, &state->list, p);
}

static State state_new(Barriers *b)
{
    State s = b->spare.n ? b->spare.at[--b->spare.n] : (State){{0}};
    s.list.n = 0;
    return s;
}

static void state_drop(Barriers *b, State state) { vec_push(b->ctx, &b->spare, state); }

static State state_copy(Barriers *b, const State *from)
{
    State s = state_new(b);
    for (int i = 0; i < from->list.n; i++)
        vec_push(b->ctx, &s.list, from->list.at[i]);
    return s;
}

static void state_join(Barriers *b, State *into, const State *from)
{
    for (int i = 0; i < from->list.n; i++)
        state_add(b, into, from->list.at[i]);
}

static void apply_sync(Barriers *b, SyncScope scope)
{
    if (scope == SYNC_BLOCK)
        b->now.list.n = 0;
    else
        for (int i = 0; i < b->now.list.n; i++)
            b->now.list.at[i].warp_synced = true;
}

static int common_depth(const Scope *a, const Scope *b)
{
    int depth = scope_depth(a) < scope_depth(b) ? scope_depth(a) : scope_depth(b);
    while (depth && scope_at(a, depth) != scope_at(b, depth))
        depth--;
    return depth;
}

/* The same pairs meet again in each round and each trial. */
static Conflict conflict(Barriers *b, Access *x, Access *y, int still)
{
    if (still >= MET_DEPTHS)
        return access_conflict(b->lw, x, y, still);
    while (x->met.n < b->n_accesses * MET_DEPTHS)
        vec_push(b->ctx, &x->met, 0);
    signed char *met = &x->met.at[y->id * MET_DEPTHS + still];
    if (!*met)
        *met = (signed char)(access_conflict(b->lw, x, y, still) + 1);
    return (Conflict)(*met - 1);
}

/* Does a kernel that gives an array, an output or one for the next kernel, write it in two places? Each
 * element of a map has cells of its own there. A scatter writes over its background. */
static bool is_given(const Barriers *b, const Access *a, const Pending *p)
{
    const Access *other = p->access;
    bool carried = p->carried != INT32_MAX;
    if (a->buf->space == SPACE_OUTPUT)
        return carried;
    const bool next = a->buf->space == SPACE_TEMP && (a->buf->holds || a->buf->part);
    return next && other->buf == a->buf && a->write && other->write && !a->atomic && !other->atomic &&
           !table_get(&b->read, a->buf) && (carried || !a->buf->rewritten);
}

static Conflict needed(Barriers *b, Access *a, Pending *p, const Access **other)
{
    if (is_given(b, a, p))
        return CONFLICT_NONE;
    int still = common_depth(a->scope, p->access->scope);
    if (p->carried <= still)
        still = p->carried - 1;
    Conflict c = conflict(b, p->access, a, still);
    if (c == CONFLICT_WARP && p->warp_synced)
        return CONFLICT_NONE;
    if (c != CONFLICT_NONE)
        *other = p->access;
    return c;
}

static Conflict needed_for(Barriers *b, Access *const *accesses, int n, const Access **mine, const Access **other)
{
    Conflict worst = CONFLICT_NONE;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < b->now.list.n && worst != CONFLICT_BLOCK; i++) {
            const Access *with = NULL;
            Conflict c = needed(b, accesses[k], &b->now.list.at[i], &with);
            if (c > worst) {
                worst = c;
                *mine = accesses[k];
                *other = with;
            }
        }
    return worst;
}

/* ---- the walk ------------------------------------------------------------------------------------------------------------------------ */

typedef struct Place {
    bool block_ok, warp_ok; /* all threads of the block, of the warp get here together */
} Place;

static void refuse(Barriers *b, const Access *mine, const Access *other, SyncScope scope)
{
    Diag *d = lower_error(b->lw, E0407, mine->span, "this needs a barrier that some threads would not reach");
    diag_label(b->ctx, d, "it may %s what other threads of the %s %s", mine->write ? "overwrite" : "read", scope == SYNC_BLOCK ? "block" : "warp",
               other->write ? "write" : "read");
    diag_note(b->ctx, d, other->span, "here, inside a part that not all threads execute in step");
    if (mine->span.lo == other->span.lo && mine->span.file == other->span.file)
        diag_help(b->ctx, d, "risec cannot see that each cell has one writer: rearrange the array where it is read, not where it is stored, or make its sizes constants");
    else
        diag_help(b->ctx, d, "store the array before the level or the `if` that only some threads get into; a condition that is the same for all threads is none");
}

/* Puts a barrier before statement *i when it is needed, and steps over it. */
static void sync_before(Barriers *b, ImpBlock *list, int *i, Conflict need, Place place, const Access *mine, const Access *other)
{
    if (need == CONFLICT_NONE)
        return;
    if (b->trial) {
        b->violated = true;
        return;
    }
    SyncScope scope = need == CONFLICT_BLOCK ? SYNC_BLOCK : SYNC_WARP;
    bool fits = scope == SYNC_BLOCK ? place.block_ok : place.warp_ok;
    if (b->most_loops >= 0 && (!fits || b->loops > b->most_loops)) {
        b->violated = true;
        return;
    }
    if (!fits) {
        refuse(b, mine, other, scope);
        return;
    }
    ImpStmt *sync = imp_stmt(b->ctx, NULL, IS_SYNC, mine->span);
    sync->sync = scope;
    sync->info = NEW(b->ctx, StmtInfo);
    block_insert(b->ctx, list, (*i)++, sync);
    if (b->most_loops >= 0) {
        vec_push(b->ctx, &b->added, sync);
        vec_push(b->ctx, &b->added_to, list);
    }
    b->inserted = true;
    apply_sync(b, scope);
}

static void walk(Barriers *b, ImpBlock *list, Place place);

static bool waits_each_time(const ImpBlock *body)
{
    for (int i = 0; i < body->list.n; i++)
        if (body->list.at[i]->kind == IS_SYNC && body->list.at[i]->sync == SYNC_BLOCK && !body->list.at[i]->info->hidden)
            return true;
    return false;
}

/* The scope without the loop at this depth. */
static const Scope *scope_without(Ctx *ctx, const Scope *scope, int depth)
{
    if (scope->depth == depth)
        return scope->parent;
    Scope *s = NEW(ctx, Scope);
    *s = *scope;
    s->parent = scope_without(ctx, scope->parent, depth);
    s->depth = scope->depth - 1;
    return s;
}

/* The access as it is after the last iteration of a loop at this depth. */
static Access *last_access(Barriers *b, Access *a, const ImpStmt *loop, int depth)
{
    Ctx *ctx = b->ctx;
    Access *last = a->lasts;
    while (last && last->last_of != loop)
        last = last->next;
    if (last)
        return last;
    last = NEW(ctx, Access);
    *last = (Access){.buf = a->buf, .write = a->write, .span = a->span, .unordered = a->unordered, .id = b->n_accesses++, .scope = scope_without(ctx, a->scope, depth),
                     .last_of = loop, .next = a->lasts};
    last->index = nat_subst(ctx, a->index, loop->loop.var, nat_add_k(ctx, loop->loop.hi, -1));
    return a->lasts = last;
}

/* Where all threads wait in every iteration, what is not ordered after the loop happened in its last one. */
static void leave_loop(Barriers *b, const ImpStmt *s)
{
    int depth = s->info->inside->depth;
    if (!nat_is(s->loop.step, 1) || !waits_each_time(&s->loop.body))
        return;
    State after = state_new(b);
    for (int i = 0; i < b->now.list.n; i++) {
        Pending p = b->now.list.at[i];
        if (scope_at(p.access->scope, depth) == s->info->inside && p.carried != depth)
            p.access = last_access(b, p.access, s, depth);
        state_add(b, &after, p);
    }
    state_drop(b, b->now);
    b->now = after;
}

static void walk_loop(Barriers *b, ImpStmt *s, Place inner)
{
    State before = state_copy(b, &b->now);
    int depth = s->info->inside->depth;
    b->loops++;
    walk(b, &s->loop.body, inner);
    for (int round = 0; round < 4; round++) { /* what the next iteration meets; again as long as that adds barriers */
        b->inserted = false;
        State carried = state_new(b);
        for (int i = 0; i < b->now.list.n; i++) {
            Pending p = b->now.list.at[i];
            if (scope_at(p.access->scope, depth) == s->info->inside && depth < p.carried)
                p.carried = depth;
            state_add(b, &carried, p);
        }
        state_drop(b, b->now);
        b->now = carried;
        walk(b, &s->loop.body, inner);
        if (!b->inserted)
            break;
    }
    b->loops--;
    leave_loop(b, s);
    if (!nat_lt(b->ctx, b->lw->kernel->known, s->loop.lo, s->loop.hi))
        state_join(b, &b->now, &before);
    state_drop(b, before);
}

static void walk_branch(Barriers *b, ImpStmt *s, Place inner)
{
    State before = state_copy(b, &b->now);
    walk(b, &s->branch.then, inner);
    State after_then = b->now;
    b->now = before;
    walk(b, &s->branch.otherwise, inner);
    state_join(b, &b->now, &after_then);
    state_drop(b, after_then);
}

static void walk_statement(Barriers *b, ImpBlock *list, int *i, Place place)
{
    ImpStmt *s = list->list.at[*i];
    StmtInfo *info = s->info;
    bool compound = s->kind == IS_FOR || s->kind == IS_IF;
    const Access *mine = NULL, *other = NULL;
    if (!compound) {
        Conflict need = needed_for(b, info->own.at, info->own.n, &mine, &other);
        sync_before(b, list, i, need, place, mine, other);
    } else if (!info->block_uniform) { /* no barrier of the block can stand inside: it goes in front */
        Conflict need = needed_for(b, info->nested.at, info->nested.n, &mine, &other);
        if (need == CONFLICT_WARP && info->warp_uniform)
            need = needed_for(b, info->own.at, info->own.n, &mine, &other);
        sync_before(b, list, i, need, place, mine, other);
    } else {
        Conflict need = needed_for(b, info->own.at, info->own.n, &mine, &other);
        sync_before(b, list, i, need, place, mine, other);
    }
    for (int k = 0; k < info->own.n; k++)
        state_add(b, &b->now, (Pending){info->own.at[k], false, INT32_MAX});
    Place inner = {place.block_ok && info->block_uniform, place.warp_ok && info->warp_uniform};
    if (s->kind == IS_FOR)
        walk_loop(b, s, inner);
    if (s->kind == IS_IF)
        walk_branch(b, s, inner);
}

static void walk(Barriers *b, ImpBlock *list, Place place)
{
    for (int i = 0; i < list->list.n && !b->lw->failed && !b->violated; i++) { /* one violation is enough */
        ImpStmt *s = list->list.at[i];
        if (s->kind == IS_SYNC) {
            if (!s->info->hidden)
                apply_sync(b, s->sync);
        } else if (s->kind == IS_GRID_SYNC) {
            apply_sync(b, SYNC_BLOCK);
        } else
            walk_statement(b, list, &i, place);
    }
}

/* ---- afterwards ------------------------------------------------------------------------------------------------------------------------ */

static bool anything_missing(Barriers *b)
{
    b->now.list.n = 0;
    b->violated = false;
    walk(b, &b->lw->kernel->body, (Place){true, true});
    return b->violated;
}

static void drop_needless(Barriers *b, ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_FOR)
            drop_needless(b, &s->loop.body);
        if (s->kind == IS_IF) {
            drop_needless(b, &s->branch.then);
            drop_needless(b, &s->branch.otherwise);
        }
        if (s->kind != IS_SYNC)
            continue;
        s->info->hidden = true;
        if (!anything_missing(b))
            block_remove(block, i--);
        else
            s->info->hidden = false;
    }
}

static void take_out(ImpBlock *block, const ImpStmt *s)
{
    for (int i = 0; i < block->list.n; i++)
        if (block->list.at[i] == s) {
            block_remove(block, i);
            return;
        }
}

/* Puts barriers where one is missed, inside no more than so many loops. False, and without them: that does not do, or takes more than `most`. */
static bool others_do(Barriers *b, int loops, int64_t most)
{
    b->trial = false;
    b->most_loops = loops;
    b->added.n = b->added_to.n = 0;
    bool missing = anything_missing(b);
    b->trial = true;
    b->most_loops = -1;
    bool enough = !missing && b->added.n <= most && !anything_missing(b);
    for (int i = 0; i < b->added.n && !enough; i++)
        take_out(b->added_to.at[i], b->added.at[i]);
    return enough;
}

/* A barrier that may as well stand before the loop is not met in every trip; nor is one that orders more than that, where others outside of the loop order the rest. */
static void lift_out_of_loops(Barriers *b, ImpBlock *block, int loops)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_IF) {
            lift_out_of_loops(b, &s->branch.then, loops);
            lift_out_of_loops(b, &s->branch.otherwise, loops);
        }
        if (s->kind != IS_FOR)
            continue;
        lift_out_of_loops(b, &s->loop.body, loops + 1);
        while (block->list.at[i] != s) /* barriers were put in front of it */
            i++;
        int64_t trips = nat_is_const(s->loop.hi) && nat_is_const(s->loop.lo) && nat_is_const(s->loop.step) ? div_up(s->loop.hi->value - s->loop.lo->value, s->loop.step->value) : INT64_MAX;
        for (int k = 0; k < s->loop.body.list.n; k++) {
            ImpStmt *sync = s->loop.body.list.at[k];
            if (sync->kind != IS_SYNC)
                continue;
            block_remove(&s->loop.body, k);
            block_insert(b->ctx, block, i, sync);
            if (!anything_missing(b) || others_do(b, loops, trips - 2)) {
                i++;
                k--;
            } else {
                take_out(block, sync);
                block_insert(b->ctx, &s->loop.body, k, sync);
            }
        }
    }
}

/* Where a barrier of the warp and one of the block follow each other, one of the block in the place of the first or of the second may do for both. */
static void merge_neighbours(Barriers *b, ImpBlock *block)
{
    int before = -1;
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_FOR)
            merge_neighbours(b, &s->loop.body);
        if (s->kind == IS_IF) {
            merge_neighbours(b, &s->branch.then);
            merge_neighbours(b, &s->branch.otherwise);
        }
        if (s->kind != IS_SYNC)
            continue;
        int kept = i;
        ImpStmt *pair[2] = {before < 0 ? s : block->list.at[before], s};
        for (int k = 0; k < 2 && pair[0]->sync != pair[1]->sync; k++) {
            SyncScope scope = pair[k]->sync;
            pair[k]->sync = SYNC_BLOCK;
            pair[1 - k]->info->hidden = true;
            if (!anything_missing(b)) {
                block_remove(block, k ? before : i);
                kept = k ? i - 1 : before;
                i--;
                break;
            }
            pair[k]->sync = scope;
            pair[1 - k]->info->hidden = false;
        }
        before = kept;
    }
}

/* In the part that only the last block executes? */
static const Scope *last_part(const Scope *scope)
{
    while (scope && !scope->last)
        scope = scope->parent;
    return scope;
}

/* True where all that the write does in any block comes before the read: another part of the program, in the text before a meeting of the blocks
 * that the read comes after. */
static bool blocks_met(const Barriers *b, const Access *w, const Access *r)
{
    if (last_part(r->scope) && last_part(w->scope) == last_part(r->scope))
        return true; /* one block */
    if (last_part(r->scope) && w->id < r->id) /* every block takes its ticket after what it wrote, as the last one of an earlier meeting, too */
        return true;
    for (int i = 0; i < b->grid_syncs.n; i++)
        if (w->id < b->grid_syncs.at[i] && r->id >= b->grid_syncs.at[i])
            return true;
    return false;
}

/* Global memory of the grid: what a block wrote, another one may not read in the same launch. */
static void check_grid(Barriers *b, const StmtInfo *all)
{
    const ImpKernel *k = b->lw->kernel;
    for (int i = 0; i < all->nested.n && b->lw->any_block; i++)
        for (int j = 0; j < all->nested.n; j++) {
            const Access *w = all->nested.at[i], *r = all->nested.at[j];
            bool own_copy = false;
            for (int a = 0; a < 3; a++)
                own_copy |= nat_mentions(w->buf->count, k->grid[a]) && k->grid[a]->kind == NAT_VAR;
            if (w->buf->space != SPACE_TEMP || r->buf != w->buf || !w->write || r->write || r->release || own_copy || blocks_met(b, w, r) || access_owner(b->lw, w, r) != OWNER_UNKNOWN)
                continue;
            Diag *d = lower_error(b->lw, E0408, r->span, "this reads what other blocks wrote, in the same launch");
            diag_note(b->ctx, d, w->span, "written here; blocks run in any order and do not wait for each other");
            diag_help(b->ctx, d, "stay within the block: move `toGlobal` inside mapBlock, or go on in a second launch: `nextKernel`");
            return;
        }
}

void pass_barriers(Lowering *lw)
{
    Barriers b = {.lw = lw, .ctx = lw->ctx, .uniform = uniform_of(lw), .most_loops = -1};
    StmtInfo all = {.hidden = false};
    collect(&b, &lw->kernel->body, NULL, NULL, &all);
    check_grid(&b, &all);
    if (lw->failed || !all.nested.n)
        return;
    for (int i = 0; i < all.nested.n; i++)
        if (!all.nested.at[i]->write)
            table_put(b.ctx, &b.read, all.nested.at[i]->buf, all.nested.at[i]);
    walk(&b, &lw->kernel->body, (Place){true, true});
    if (lw->failed)
        return;
    b.trial = true;
    drop_needless(&b, &lw->kernel->body);
    lift_out_of_loops(&b, &lw->kernel->body, 0);
    drop_needless(&b, &lw->kernel->body);
    merge_neighbours(&b, &lw->kernel->body);
}
