/* What the pointers of a kernel promise CUDA's compiler. Note [Exchanged memory].
 *
 * A kernel exchanges values through a buffer in global memory when it both writes and reads it, or writes it twice: then a thread may meet in a cell what
 * another one wrote there, and barriers order the accesses. Such a pointer is not `__restrict__`: the word says that nobody else touches the
 * memory, no thread behind a barrier either, so that the compiler moves accesses over barriers. All other buffers are only read, or each
 * cell of them is stored to once; `__restrict__` lets loads of them pass stores, and go through the read-only cache (`ld.global.nc`).
 *
 * `c ? exchanged[i] : input[j]`, and the same in the branches of an `if`, the compiler of CUDA 13.0 joins to one load of a chosen address, which it then
 * takes for one of the input alone: through the read-only cache. So an input promises nothing either, where it is read on one side of a
 * condition and exchanged memory on the other. tests/scripts/barriers_hold.py reads the PTX for both. */
#include "codegen/cuda_internal.h"
#include "codegen/walk.h"

/* How the statements of a kernel use the memory that a buffer names. */
typedef struct MemoryUse {
    const ImpBuf *buf;
    bool read, written, combined; /* combined: atomics, tickets and mail, which do both */
} MemoryUse;

/* Two buffers of a kernel in global memory may name the same array. */
static bool is_memory(const ImpBuf *a, const ImpBuf *b)
{
    return a == b || (a->space == b->space && a->space != SPACE_SHARED && a->component == b->component);
}

static void use_by_expr(void *user, ImpExpr **at)
{
    MemoryUse *u = user;
    u->read |= (*at)->kind == IE_LOAD && is_memory((*at)->mem.buf, u->buf);
}

static void use_by_stmt(void *user, ImpStmt *s)
{
    MemoryUse *u = user;
    walk_own(s, use_by_expr, u);
    switch (s->kind) {
    case IS_STORE: u->written |= is_memory(s->store.buf, u->buf); break;
    case IS_VSTORE: u->written |= is_memory(s->vec.buf, u->buf); break;
    case IS_VLOAD: u->read |= is_memory(s->vec.buf, u->buf); break;
    case IS_ATOMIC: u->combined |= is_memory(s->atomic.buf, u->buf); break;
    case IS_TICKET: case IS_GRID_SYNC: u->combined |= is_memory(s->ticket.buf, u->buf); break;
    case IS_GIVE: case IS_AWAIT: u->combined |= is_memory(s->exchange.mail, u->buf); break;
    case IS_SERVE:
        for (int k = 0; k < s->serve.n_parts; k++)
            u->combined |= is_memory(s->serve.parts[k].mail, u->buf);
        break;
    case IS_DECL: case IS_SET: case IS_VSET: case IS_FOR: case IS_IF: case IS_SYNC: case IS_ALLOC: case IS_NOTE: break;
    }
}

static bool exchanges(const ImpKernel *kernel, const ImpBuf *buf)
{
    MemoryUse u = {.buf = buf};
    ImpBlock body = kernel->body;
    walk_stmts(&body, use_by_stmt, &u);
    return u.combined || (u.written && (u.read || buf->rewritten));
}

/* ---- sides of conditions ------------------------------------------------------------------------------------------------ */

/* What a part of the kernel reads: an input, exchanged memory. */
typedef struct Reads {
    bool input, exchanged;
} Reads;

typedef struct Sides {
    const ImpBuf *input;
    const bool *exchanged; /* by id */
    Reads reads;           /* of the part that is looked at */
    bool found;            /* the input on one side, exchanged memory on the other */
} Sides;

static void note_read(Sides *s, const ImpBuf *buf)
{
    s->reads.input |= buf == s->input;
    s->reads.exchanged |= s->exchanged[buf->id] && scalar_bytes(buf->elem) == scalar_bytes(s->input->elem);
}

static void note_load(void *user, ImpExpr **at)
{
    if ((*at)->kind == IE_LOAD)
        note_read(user, (*at)->mem.buf);
}

/* Begins to look at another part; gives what the one before reads. */
static Reads begin_part(Sides *s)
{
    Reads reads = s->reads;
    s->reads = (Reads){false, false};
    return reads;
}

/* Two sides were looked at, the second one last. */
static void meet(Sides *s, Reads before, Reads a)
{
    Reads b = s->reads;
    s->found |= (a.input && b.exchanged) || (a.exchanged && b.input);
    s->reads = (Reads){before.input || a.input || b.input, before.exchanged || a.exchanged || b.exchanged};
}

static void look_at(void *user, ImpExpr **at)
{
    Sides *s = user;
    ImpExpr *e = *at;
    bool select = e->kind == IE_OP && e->op.id == P_select;
    note_load(s, at);
    if (e->kind != IE_COND && !select)
        return;
    Reads before = begin_part(s);
    walk_expr(select ? &e->op.args[1] : &e->cond.then, note_load, s);
    Reads a = begin_part(s);
    walk_expr(select ? &e->op.args[2] : &e->cond.otherwise, note_load, s);
    meet(s, before, a);
}

static void look_block(Sides *s, const ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *stmt = block->list.at[i];
        walk_own(stmt, look_at, s);
        if (stmt->kind == IS_VLOAD)
            note_read(s, stmt->vec.buf);
        if (stmt->kind == IS_FOR)
            look_block(s, &stmt->loop.body);
        if (stmt->kind != IS_IF)
            continue;
        Reads before = begin_part(s);
        look_block(s, &stmt->branch.then);
        Reads a = begin_part(s);
        look_block(s, &stmt->branch.otherwise);
        meet(s, before, a);
    }
}

/* ---- promises ---------------------------------------------------------------------------------------------------------- */

void cuda_find_promises(Cuda *c, int n_bufs)
{
    const ImpKernel *k = c->kernel;
    bool *exchanged = NEWN(c->ctx, bool, n_bufs + 1), any = false;
    c->promises = NEWN(c->ctx, bool, n_bufs + 1);
    for (int i = 0; i < k->bufs.n; i++)
        any |= exchanged[k->bufs.at[i]->id] = k->bufs.at[i]->space != SPACE_SHARED && exchanges(k, k->bufs.at[i]);
    for (int i = 0; i < k->bufs.n; i++) {
        const ImpBuf *buf = k->bufs.at[i];
        Sides s = {.input = buf, .exchanged = exchanged};
        if (any && !exchanged[buf->id])
            look_block(&s, &k->body);
        c->promises[buf->id] = !exchanged[buf->id] && !s.found;
    }
}
