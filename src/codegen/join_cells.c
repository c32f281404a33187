/* Pass vectors: components of a vector that lost their guards move in one access.
 *
 *   acc.x += xs[4*i]; acc.y += xs[4*i + 1]; ...  ->  const float4 v = reinterpret_cast<const float4 *>(xs)[i]; acc.x += v.x; acc.y += v.y; ...
 *
 * A vector of a padded array whose length is no multiple of its width has a guard for each component (Note [Vector values]); in full tiles they are
 * gone. Cells that the program reads as one vector (`group`) are joined with each other, and so are neighbours that one thread reads one after the
 * other anyway, as an unrolled fold does, where they fill one access. Stores are joined only where the program writes a vector.
 *
 * Requires: tiles are split. Keeps every value; adds no access. */
#include "codegen/lowering.h"
#include "codegen/walk.h"

typedef struct Join {
    Lowering *lw;
    Ctx *ctx;
    const NatFacts *facts;
    VEC(ImpExpr **) cells; /* loads that are always evaluated, of one group and buffer */
    int group;
    const ImpBuf *buf;     /* NULL: the first that is found decides */
} Join;

enum { GROUP_TRIED = -1, WINDOW = 24 /* statements: cells that wait for longer cost registers */ };

/* ---- loads --------------------------------------------------------------------------------------------------------- */

static void collect(Join *j, ImpExpr **at)
{
    ImpExpr *e = *at;
    switch (e->kind) {
    case IE_LIT: case IE_NAT: case IE_VAR: break;
    case IE_LOAD:
        if (e->mem.group == GROUP_TRIED || (j->buf && (e->mem.group != j->group || e->mem.buf != j->buf)))
            break;
        j->group = e->mem.group;
        j->buf = e->mem.buf;
        vec_push(j->ctx, &j->cells, at);
        break;
    case IE_OP:
        for (int i = 0; i < (e->op.id == P_and || e->op.id == P_or ? 1 : e->op.n); i++)
            collect(j, &e->op.args[i]);
        break;
    case IE_CAST: collect(j, &e->cast.value); break;
    case IE_COND: collect(j, &e->cond.cond); break;
    case IE_SHFL: collect(j, &e->shfl.value); break;
    }
}

static bool only_sets(const ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        const ImpStmt *s = block->list.at[i];
        if (s->kind == IS_IF ? !only_sets(&s->branch.then) || !only_sets(&s->branch.otherwise) : s->kind != IS_DECL && s->kind != IS_SET && s->kind != IS_VSET)
            return false;
    }
    return true;
}

/* The expressions that the statement evaluates before anything else, each once. False where later statements cannot be looked at: another
 * thread may meet this one there, or it changes cells. */
static bool collect_stmt(Join *j, ImpStmt *s)
{
    bool fixed = j->buf && j->buf->space == SPACE_INPUT;
    switch (s->kind) {
    case IS_NOTE: case IS_ALLOC: return true;
    case IS_DECL: case IS_SET:
        if (s->var.value)
            collect(j, &s->var.value);
        return !s->var.var->nat; /* an index that is data: later loads may need it */
    case IS_VSET:
        for (int k = 0; k < s->vec.n; k++)
            collect(j, &s->vec.values[k]);
        return true;
    case IS_VLOAD: return true;
    case IS_STORE: collect(j, &s->store.value); return fixed;
    case IS_VSTORE:
        for (int k = 0; k < s->vec.n; k++)
            collect(j, &s->vec.values[k]);
        return fixed;
    case IS_IF: collect(j, &s->branch.cond); return only_sets(&s->branch.then) && only_sets(&s->branch.otherwise);
    case IS_ATOMIC: case IS_TICKET: case IS_GRID_SYNC: case IS_GIVE: case IS_AWAIT: case IS_SERVE: case IS_FOR: case IS_SYNC: return false;
    }
    return false;
}

static const ImpExpr *cell_at(const Join *j, Nat first, int k)
{
    for (int i = 0; i < j->cells.n; i++)
        if (nat_is(nat_sub(j->ctx, (*j->cells.at[i])->mem.index, first), k))
            return *j->cells.at[i];
    return NULL;
}

static bool starts_access(const Join *j, Nat index, int w)
{
    return nat_divides(j->ctx, j->facts, nat_const(j->ctx, w), index);
}

/* The w cells from `first` on become one access before statement i. */
static void join_load(Join *j, ImpBlock *block, int i, Nat first, int w)
{
    const ImpExpr *cell = cell_at(j, first, 0);
    ImpBuf *buf = cell->mem.buf;
    ImpVar *var = lower_new_var(j->lw, "v", buf->elem, cell->span);
    var->slots = w;
    var->vector = var->constant = true;
    buf_needs(buf, w);
    ImpStmt *s = imp_stmt(j->ctx, NULL, IS_VLOAD, cell->span);
    s->vec.var = var;
    s->vec.buf = buf;
    s->vec.index = first;
    s->vec.n = w;
    s->vec.declares = true;
    for (int k = 0; k < j->cells.n; k++) {
        ImpExpr **at = j->cells.at[k];
        Nat distance = (*at)->kind == IE_LOAD ? nat_sub(j->ctx, (*at)->mem.index, first) : NULL;
        if (distance && nat_is_const(distance) && distance->value >= 0 && distance->value < w)
            *at = imp_var(j->ctx, var, distance, (*at)->span);
    }
    block_insert(j->ctx, block, i, s);
}

static int widest(Scalar elem)
{
    int w = elem == SC_BOOL ? 1 : IMP_VECTOR_MAX;
    while (w > 1 && w * scalar_bytes(elem) > ACCESS_BYTES_MAX)
        w /= 2;
    return w;
}

/* A vector register that gets the cells of one group as they are is loaded. */
static void load_register(Join *j, ImpStmt *s)
{
    int w = s->vec.n;
    const ImpExpr *first = s->kind == IS_VSET ? s->vec.values[0] : NULL;
    if (!first || first->kind != IE_LOAD || first->mem.group < 1 || (j->lw->narrow && first->mem.buf->space != SPACE_SHARED) ||
        w * scalar_bytes(first->mem.buf->elem) < ACCESS_BYTES_MIN || !starts_access(j, first->mem.index, w))
        return;
    ImpBuf *buf = first->mem.buf;
    Nat index = first->mem.index;
    for (int k = 1; k < w; k++) {
        const ImpExpr *e = s->vec.values[k];
        if (e->kind != IE_LOAD || e->mem.group != first->mem.group || e->mem.buf != buf || !nat_is(nat_sub(j->ctx, e->mem.index, index), k))
            return;
    }
    buf_needs(buf, w);
    s->kind = IS_VLOAD;
    s->vec.buf = buf;
    s->vec.index = index;
}

/* Joins one access of the cells that were collected; false: none of them makes one. */
static bool join_some(Join *j, ImpBlock *block, int i)
{
    if (j->cells.n < 2 || (j->lw->narrow && j->buf->space != SPACE_SHARED))
        return false;
    int most = widest(j->buf->elem);
    for (int w = most; w >= 2 && (w == most || j->group); w /= 2) /* what was no vector must fill one */
        for (int k = 0; k < j->cells.n; k++) {
            Nat first = (*j->cells.at[k])->mem.index;
            bool whole = w * scalar_bytes(j->buf->elem) >= ACCESS_BYTES_MIN && starts_access(j, first, w);
            for (int c = 1; c < w && whole; c++)
                whole = cell_at(j, first, c) != NULL;
            if (whole) {
                join_load(j, block, i, first, w);
                return true;
            }
        }
    return false;
}

/* Later statements count where nothing before them can change the cells: those of inputs always, others within one statement. Returns the
 * number of accesses that now stand before statement i. */
static int join_loads(Join *j, ImpBlock *block, int i)
{
    int joined = 0;
    for (;;) {
        j->cells.n = 0;
        j->buf = NULL;
        bool on = collect_stmt(j, block->list.at[i + joined]);
        if (!j->buf)
            return joined;
        for (int k = i + joined + 1; on && k < block->list.n && k < i + joined + WINDOW; k++)
            on = collect_stmt(j, block->list.at[k]);
        if (join_some(j, block, i + joined))
            joined++;
        else /* they stay as they are; the next group */
            for (int k = 0; k < j->cells.n; k++)
                (*j->cells.at[k])->mem.group = GROUP_TRIED;
    }
}

/* ---- stores --------------------------------------------------------------------------------------------------------- */

static void find_load(void *user, ImpExpr **at)
{
    const ImpExpr *e = *at;
    *(bool *)user |= e->kind == IE_LOAD && e->mem.buf->space != SPACE_INPUT;
}

/* Stores that follow each other to neighbours of one group. */
static bool join_stores(Join *j, ImpBlock *block, int i)
{
    ImpStmt *first = block->list.at[i];
    if (first->kind != IS_STORE || !first->store.group || (j->lw->narrow && first->store.buf->space != SPACE_SHARED))
        return false;
    int n = 1;
    for (; i + n < block->list.n; n++) {
        const ImpStmt *s = block->list.at[i + n];
        if (s->kind != IS_STORE || s->store.group != first->store.group || s->store.buf != first->store.buf || !nat_is(nat_sub(j->ctx, s->store.index, first->store.index), n))
            break;
    }
    int w = imp_vector_width(first->store.buf->elem, n);
    if (w < 2 || w * scalar_bytes(first->store.buf->elem) < ACCESS_BYTES_MIN || !starts_access(j, first->store.index, w))
        return false;
    bool loads = false;
    for (int k = 0; k < w; k++)
        walk_own(block->list.at[i + k], find_load, &loads);
    if (loads)
        return false;
    ImpStmt *s = imp_stmt(j->ctx, NULL, IS_VSTORE, first->span);
    s->vec.buf = first->store.buf;
    s->vec.index = first->store.index;
    s->vec.n = w;
    for (int k = 0; k < w; k++)
        s->vec.values[k] = block->list.at[i + k]->store.value;
    buf_needs(s->vec.buf, w);
    block->list.at[i] = s;
    for (int k = 1; k < w; k++)
        block_remove(block, i + 1);
    return true;
}

static void join_block(Join *j, ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_FOR)
            join_block(j, &s->loop.body);
        if (s->kind == IS_IF) {
            join_block(j, &s->branch.then);
            join_block(j, &s->branch.otherwise);
        }
        join_stores(j, block, i);
        load_register(j, block->list.at[i]);
        i += join_loads(j, block, i);
    }
}

void pass_vectors(Lowering *lw)
{
    Join j = {.lw = lw, .ctx = lw->ctx, .facts = lw->kernel->known};
    join_block(&j, &lw->kernel->body);
}
