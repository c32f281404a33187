/* Steps in place: a loop's step computes the next state from the present one. Here the translated step says whether both may be the same registers or
 * memory, and is changed to use them:
 *
 *   next[i] = state[i] + row[i]; ... state = next   ->   state[i] = state[i] + row[i]
 *
 * Note [In place]. Cell c of the next state may lie where cell c of the present one lies if nobody reads the present one's after the next one's is written:
 *   - every read of c comes before every write that may touch c, in the text and in every loop around both;
 *   - around both there are only loops of maps, whose iterations write different cells, and the iteration that reads c writes c: its writer, the
 *     partner of the read, has the same index and stands in the list of statements around the read, later than it or around it;
 *   - in memory, where other threads read, a read without a partner stands in a statement before the writes: a barrier between both orders them. */
#include "codegen/sequences.h"
#include "codegen/walk.h"

/* Where an access stands: the lists of statements around it, outermost first, and the statement in each. */
typedef struct Spot {
    Nat at;
    int n; /* cells at, at + 1, ... */
    int depth;
    const ImpBlock **lists;
    int *pos;
    const ImpStmt **stmts;
} Spot;

enum { MAX_NESTING = 256 }; /* of lists of statements; deeper ones are not looked at */

typedef struct Spots {
    Lowering *lw;
    const StateLeaf *leaf;
    VEC(Spot) reads, writes;
    int depth;
    const ImpBlock *lists[MAX_NESTING];
    int pos[MAX_NESTING];
    const ImpStmt *stmts[MAX_NESTING];
    bool lost; /* too deep, or the present state is written: no answer */
} Spots;

static Spot spot_here(Spots *s, Nat at, int n)
{
    Ctx *ctx = s->lw->ctx;
    Spot spot = {at, n, s->depth, NEWN(ctx, const ImpBlock *, s->depth), NEWN(ctx, int, s->depth), NEWN(ctx, const ImpStmt *, s->depth)};
    memcpy(spot.lists, s->lists, sizeof *s->lists * (size_t)s->depth);
    memcpy(spot.pos, s->pos, sizeof *s->pos * (size_t)s->depth);
    memcpy(spot.stmts, s->stmts, sizeof *s->stmts * (size_t)s->depth);
    return spot;
}

static void find_reads(void *user, ImpExpr **at)
{
    Spots *s = user;
    const ImpExpr *e = *at;
    if (e->kind == IE_VAR && s->leaf->now.var && e->var.var == s->leaf->now.var)
        vec_push(s->lw->ctx, &s->reads, spot_here(s, e->var.slot, 1));
    if (e->kind == IE_LOAD && s->leaf->now.buf && e->mem.buf == s->leaf->now.buf)
        vec_push(s->lw->ctx, &s->reads, spot_here(s, e->mem.index, 1));
}

static void find_spots(Spots *s, ImpBlock *block)
{
    if (s->depth == MAX_NESTING) {
        s->lost = true;
        return;
    }
    int d = s->depth++;
    for (int i = 0; i < block->list.n && !s->lost; i++) {
        ImpStmt *stmt = block->list.at[i];
        s->lists[d] = block;
        s->pos[d] = i;
        s->stmts[d] = stmt;
        walk_own(stmt, find_reads, s);
        const ImpVar *var = stmt->kind == IS_SET ? stmt->var.var : NULL;
        bool vector = stmt->kind == IS_VSTORE;
        const ImpBuf *buf = vector ? stmt->vec.buf : stmt->kind == IS_STORE ? stmt->store.buf : NULL;
        if (stmt->kind == IS_VLOAD && stmt->vec.buf == s->leaf->now.buf)
            vec_push(s->lw->ctx, &s->reads, spot_here(s, stmt->vec.index, stmt->vec.n));
        if (var && var == s->leaf->next.var)
            vec_push(s->lw->ctx, &s->writes, spot_here(s, stmt->var.slot, 1));
        if (buf && buf == s->leaf->next.buf)
            vec_push(s->lw->ctx, &s->writes, spot_here(s, vector ? stmt->vec.index : stmt->store.index, vector ? stmt->vec.n : 1));
        s->lost |= (var && var == s->leaf->now.var) || (buf && buf == s->leaf->now.buf);
        if (stmt->kind == IS_FOR)
            find_spots(s, &stmt->loop.body);
        if (stmt->kind == IS_IF) {
            find_spots(s, &stmt->branch.then);
            find_spots(s, &stmt->branch.otherwise);
        }
    }
    s->depth = d;
}

/* Depth of the innermost list around both. */
static int common_list(const Spot *a, const Spot *b)
{
    int d = 0;
    while (d + 1 < a->depth && d + 1 < b->depth && a->pos[d] == b->pos[d] && a->lists[d + 1] == b->lists[d + 1])
        d++;
    return d;
}

/* Depth of the list of the innermost partner of a read, or -1. */
static int partner_depth(const Spots *s, const Spot *read)
{
    int best = -1;
    for (int i = 0; i < s->writes.n; i++) {
        const Spot *w = &s->writes.at[i];
        int d = w->depth - 1;
        if (w->at == read->at && w->n == read->n && d < read->depth && common_list(read, w) == d && read->pos[d] <= w->pos[d] && d > best)
            best = d;
    }
    return best;
}

static bool pair_is_safe(const Spots *s, const Spot *read, const Spot *write, int partner)
{
    Lowering *lw = s->lw;
    int d = common_list(read, write), loops = 0;
    for (int k = 0; k < d; k++)
        if (read->stmts[k]->kind == IS_FOR) {
            PrimId level = read->stmts[k]->loop.level;
            if (!is_parallel_map(level) && !is_seq_map(level))
                return false;
            loops++;
        }
    if (loops && partner < d)
        return false;
    if (read->pos[d] > write->pos[d])
        return nat_le(lw->ctx, lw->facts, nat_add_k(lw->ctx, read->at, read->n), write->at) ||
               nat_le(lw->ctx, lw->facts, nat_add_k(lw->ctx, write->at, write->n), read->at);
    return partner >= d || s->leaf->now.var || (d == 0 && read->pos[0] < write->pos[0]);
}

bool state_in_place(Lowering *lw, ImpBlock *body, const StateLeaf *leaf)
{
    Spots *s = NEW(lw->ctx, Spots);
    s->lw = lw;
    s->leaf = leaf;
    find_spots(s, body);
    for (int i = 0; i < s->reads.n && !s->lost; i++) {
        int partner = partner_depth(s, &s->reads.at[i]);
        for (int j = 0; j < s->writes.n; j++)
            if (!pair_is_safe(s, &s->reads.at[i], &s->writes.at[j], partner))
                return false;
    }
    return !s->lost;
}

/* ---- changing the step ---------------------------------------------------------------------------------------------------- */

typedef struct Rename {
    Lowering *lw;
    const StateLeaf *leaf;
    Nat now, next; /* added to indices of the present and of the next state */
} Rename;

static void rename_expr(void *user, ImpExpr **at)
{
    const Rename *r = user;
    const StateLeaf *leaf = r->leaf;
    ImpExpr *e = *at;
    if (e->kind == IE_VAR && leaf->next.var && e->var.var == leaf->next.var)
        *at = imp_var(r->lw->ctx, leaf->now.var, e->var.slot, e->span);
    if (e->kind == IE_LOAD && leaf->now.buf && (e->mem.buf == leaf->next.buf || e->mem.buf == leaf->now.buf)) {
        Nat shift = e->mem.buf == leaf->next.buf ? r->next : r->now;
        *at = imp_load(r->lw->ctx, leaf->now.buf, nat_add(r->lw->ctx, e->mem.index, shift), e->span);
    }
}

static bool assigns_itself(const ImpStmt *s)
{
    if (s->kind == IS_SET)
        return s->var.value->kind == IE_VAR && s->var.value->var.var == s->var.var && s->var.value->var.slot == s->var.slot;
    return s->kind == IS_STORE && s->store.value->kind == IE_LOAD && s->store.value->mem.buf == s->store.buf && s->store.value->mem.index == s->store.index;
}

static bool is_empty(const ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++)
        if (block->list.at[i]->kind != IS_NOTE)
            return false;
    return true;
}

static void rename_block(const Rename *r, ImpBlock *block)
{
    const StateLeaf *leaf = r->leaf;
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        bool gone = (s->kind == IS_DECL && leaf->next.var && s->var.var == leaf->next.var) || (s->kind == IS_ALLOC && s->alloc == leaf->next.buf);
        imp_own_exprs(r->lw->ctx, s); /* views may have put one expression into several statements */
        walk_own(s, rename_expr, (void *)r);
        if (s->kind == IS_SET && leaf->next.var && s->var.var == leaf->next.var)
            s->var.var = leaf->now.var;
        if (s->kind == IS_STORE && leaf->next.buf && s->store.buf == leaf->next.buf) {
            s->store.buf = leaf->now.buf;
            s->store.index = nat_add(r->lw->ctx, s->store.index, r->next);
        }
        if ((s->kind == IS_VLOAD || s->kind == IS_VSTORE) && (s->vec.buf == leaf->now.buf || (leaf->next.buf && s->vec.buf == leaf->next.buf))) {
            s->vec.index = nat_add(r->lw->ctx, s->vec.index, s->vec.buf == leaf->now.buf ? r->now : r->next);
            s->vec.buf = leaf->now.buf;
        }
        gone |= assigns_itself(s);
        if (s->kind == IS_FOR) {
            rename_block(r, &s->loop.body);
            gone |= is_empty(&s->loop.body);
        }
        if (s->kind == IS_IF) {
            rename_block(r, &s->branch.then);
            rename_block(r, &s->branch.otherwise);
            gone |= is_empty(&s->branch.then) && is_empty(&s->branch.otherwise);
        }
        if (gone)
            block_remove(block, i--);
    }
}

static void forget_buffer(ImpKernel *kernel, const ImpBuf *buf)
{
    int n = 0;
    for (int i = 0; i < kernel->bufs.n; i++)
        if (kernel->bufs.at[i] != buf) {
            kernel->bufs.at[n] = kernel->bufs.at[i];
            kernel->bufs.at[n]->id = n;
            n++;
        }
    kernel->bufs.n = n;
}

typedef struct VectorUse {
    const StateLeaf *leaf;
    int n;
} VectorUse;

static void vector_use(void *user, ImpStmt *s)
{
    VectorUse *u = user;
    bool vector = (s->kind == IS_VLOAD || s->kind == IS_VSTORE) && (s->vec.buf == u->leaf->now.buf || s->vec.buf == u->leaf->next.buf);
    if (vector && s->vec.n > u->n)
        u->n = s->vec.n;
}

Nat state_align_half(Lowering *lw, ImpBlock *body, const StateLeaf *leaf, Nat cells)
{
    VectorUse u = {leaf, 1};
    walk_stmts(body, vector_use, &u);
    return u.n == 1 ? cells : nat_mul_k(lw->ctx, nat_ceil_div(lw->ctx, cells, nat_const(lw->ctx, u.n)), u.n);
}

void state_share(Lowering *lw, ImpBlock *body, const StateLeaf *leaf, Nat now, Nat next)
{
    Rename r = {lw, leaf, now, next};
    rename_block(&r, body);
    if (leaf->next.buf && leaf->now.buf->align < leaf->next.buf->align)
        leaf->now.buf->align = leaf->next.buf->align;
    if (leaf->next.buf && leaf->next.buf->space == SPACE_SHARED)
        forget_buffer(lw->kernel, leaf->next.buf);
}
