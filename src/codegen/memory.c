/* Pass memory: every shared buffer gets its bytes. Buffers whose lives do not meet share them.
 *
 * The life of a buffer is from its IS_ALLOC to its last access, stretched to the end of every loop that the access is in and the IS_ALLOC is not.
 * IS_ALLOC first moves down to where its buffer is first used.
 *
 * Requires: IS_ALLOC comes before the accesses, in a list of statements that holds them all. Establishes: offset and group of shared buffers, shared_bytes of the kernel. Offsets are
 * constants, but for buffers whose size is known only at launch: those lie behind the others, one after the other. */
#include "codegen/lowering.h"
#include "codegen/walk.h"

enum { SHARED_MAX = 227 * 1024, /* of any device */ CELLS_MAX = 1 << 30 /* cells of a buffer that are counted: more is too many anyway */ };

typedef struct Life {
    ImpBuf *buf;
    int from, to;
    int64_t offset, bytes;
} Life;

typedef struct Planner {
    Ctx *ctx;
    Life *lives; /* by buffer id; buf NULL where it is not shared */
    int now;          /* statements so far, in order of text */
    VEC(int) flags;   /* ids of those that live as long as the kernel */
    VEC(int) shared;  /* ids of the shared buffers */
} Planner;

static void touch(Planner *p, const ImpBuf *buf)
{
    if (buf->space == SPACE_SHARED && p->lives[buf->id].to < p->now)
        p->lives[buf->id].to = p->now;
}

static void touch_buf(void *user, ImpBuf **at) { touch(user, *at); }

static void plan_lives(Planner *p, ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        p->now++;
        if (s->kind != IS_ALLOC)
            walk_bufs(s, touch_buf, p);
        if (s->kind == IS_AWAIT)
            vec_push(p->ctx, &p->flags, s->exchange.cell->id);
        if (s->kind == IS_TICKET) /* a word of its own: to share bytes would take barriers */
            vec_push(p->ctx, &p->flags, s->ticket.flag->id);
        if (s->kind == IS_ALLOC) {
            Life *life = &p->lives[s->alloc->id];
            life->buf = s->alloc;
            life->from = life->to = p->now;
        }
        if (s->kind == IS_IF) {
            plan_lives(p, &s->branch.then);
            plan_lives(p, &s->branch.otherwise);
        }
        if (s->kind == IS_FOR) {
            int start = p->now;
            plan_lives(p, &s->loop.body);
            p->now++;
            for (int b = 0; b < p->shared.n; b++) { /* every buffer from outside that the loop uses lives to its end */
                Life *life = &p->lives[p->shared.at[b]];
                if (life->buf && life->from <= start && life->to > start)
                    life->to = p->now;
            }
        }
    }
}

/* ---- IS_ALLOC moves down to the first statement that uses the buffer ------------------------------------------------------ */

typedef struct Uses {
    const ImpBuf *buf;
    bool found;
} Uses;

static void find_buf(void *user, ImpBuf **at)
{
    Uses *u = user;
    u->found |= *at == u->buf;
}

static void find_use(void *user, ImpStmt *s)
{
    if (s->kind != IS_ALLOC)
        walk_bufs(s, find_buf, user);
}

static bool uses_buffer(ImpStmt *s, const ImpBuf *buf)
{
    Uses u = {buf, false};
    ImpBlock one = {.list = {&s, 1, 1}};
    walk_stmts(&one, find_use, &u);
    return u.found;
}

static void sink_allocs(Ctx *ctx, ImpBlock *block)
{
    for (int i = block->list.n - 1; i >= 0; i--) { /* from the end, so that what is moved is not met again */
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_FOR)
            sink_allocs(ctx, &s->loop.body);
        if (s->kind == IS_IF) {
            sink_allocs(ctx, &s->branch.then);
            sink_allocs(ctx, &s->branch.otherwise);
        }
        if (s->kind != IS_ALLOC)
            continue;
        int to = i + 1;
        while (to < block->list.n && !uses_buffer(block->list.at[to], s->alloc))
            to++;
        block_remove(block, i);
        if (to <= block->list.n)
            block_insert(ctx, block, to - 1, s);
    }
}

static int64_t align_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

static void place(Planner *p, int n_bufs, int b)
{
    Life *life = &p->lives[b];
    int64_t align = scalar_bytes(life->buf->elem), offset = 0;
    while (align < 16 && 2 * align <= life->bytes) /* its neighbours may yet be moved together */
        align *= 2;
    for (bool moved = true; moved;) { /* the lowest place that no buffer alive at the same time takes */
        moved = false;
        for (int k = 0; k < n_bufs; k++) {
            Life *other = &p->lives[k];
            if (k == b || !other->buf || other->offset < 0 || other->to < life->from || life->to < other->from)
                continue;
            if (offset < other->offset + other->bytes && other->offset < offset + life->bytes) {
                offset = align_up(other->offset + other->bytes, align);
                moved = true;
            }
        }
    }
    life->offset = offset;
}

void pass_memory(Lowering *lw)
{
    Ctx *ctx = lw->ctx;
    ImpKernel *kernel = lw->kernel;
    int n = kernel->bufs.n;
    Planner p = {.ctx = ctx, .lives = NEWN(ctx, Life, n)};
    for (int b = 0; b < n; b++)
        if (kernel->bufs.at[b]->space == SPACE_SHARED)
            vec_push(ctx, &p.shared, b);
    sink_allocs(ctx, &kernel->body);
    plan_lives(&p, &kernel->body);
    for (int i = 0; i < p.flags.n; i++) {
        p.lives[p.flags.at[i]].from = 0;
        p.lives[p.flags.at[i]].to = p.now;
    }
    int64_t total = 0;
    for (int b = 0; b < n; b++) {
        Life *life = &p.lives[b];
        life->offset = -1;
        if (life->buf && nat_is_const(life->buf->count))
            life->bytes = (life->buf->count->value < CELLS_MAX ? life->buf->count->value : CELLS_MAX) * scalar_bytes(life->buf->elem);
    }
    for (int b = 0; b < n; b++) {
        Life *life = &p.lives[b];
        if (!life->buf || !nat_is_const(life->buf->count))
            continue;
        place(&p, n, b);
        life->buf->offset = nat_const(ctx, life->offset);
        if (life->offset + life->bytes > total)
            total = life->offset + life->bytes;
    }
    Nat bytes = nat_const(ctx, total);
    for (int b = 0; b < n; b++) {
        Life *life = &p.lives[b];
        if (!life->buf || nat_is_const(life->buf->count))
            continue;
        bytes = nat_mul_k(ctx, nat_ceil_div(ctx, bytes, nat_const(ctx, 16)), 16);
        life->buf->offset = bytes;
        bytes = nat_add(ctx, bytes, nat_mul_k(ctx, life->buf->count, scalar_bytes(life->buf->elem)));
    }
    kernel->shared_bytes = bytes;
    for (int b = 0; b < n; b++) /* groups: buffers that share bytes, directly or through others */
        if (p.lives[b].buf)
            p.lives[b].buf->group = b;
    for (bool changed = true; changed;) {
        changed = false;
        for (int a = 0; a < n; a++)
            for (int b = 0; b < n; b++) {
                Life *x = &p.lives[a], *y = &p.lives[b];
                if (!x->buf || !y->buf || x->offset < 0 || y->offset < 0 || x->buf->group <= y->buf->group)
                    continue;
                if (x->offset < y->offset + y->bytes && y->offset < x->offset + x->bytes) {
                    x->buf->group = y->buf->group;
                    changed = true;
                }
            }
    }
    NatRange range = nat_range(ctx, kernel->known, bytes);
    if (range.has_lo && range.lo > SHARED_MAX) { /* for all sizes */
        const Life *largest = NULL;
        for (int b = 0; b < n; b++)
            if (p.lives[b].buf && (!largest || p.lives[b].bytes > largest->bytes))
                largest = &p.lives[b];
        bool located = largest && largest->buf->span.file;
        Diag *d = lower_error(lw, E0416, located ? largest->buf->span : lw->entry->name_span,
                              "`%s` needs %s%lld bytes of shared memory in each block; no device has more than %d", lw->entry->name,
                              nat_is_const(bytes) && range.lo < CELLS_MAX ? "" : "at least ", (long long)range.lo, SHARED_MAX);
        if (located && largest->bytes && largest->bytes < range.lo)
            diag_label(lw->ctx, d, "the largest part: %lld bytes", (long long)largest->bytes);
        diag_help(ctx, d, "make the pieces that toShared stores smaller");
    }
}
