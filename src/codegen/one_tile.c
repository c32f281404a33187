/* Pass one_tile: an array in shared memory that is computed in place.
 *
 *   b[i] = f(a[i]), and nobody reads a[i] afterwards   ->   a[i] = f(a[i])
 *
 * If each thread that reads a cell of `a` stores to the same cell of `b` afterwards, then `b` is `a`.
 * So blocks need half of the memory, and more of them are on a multiprocessor. partners.c proves it. A
 * program has such arrays if its blocks stage rows, if each thread computes its own rows, and if the
 * results pass through shared memory, too.
 *
 * Requires: IS_ALLOC comes before the accesses, in a list of statements that holds them all. Keeps every
 * value. */
#include "codegen/lowering.h"
#include "codegen/partners.h"
#include "codegen/walk.h"

typedef struct Rename {
    ImpBuf *from, *to;
} Rename;

static void rename_buf(void *user, ImpBuf **at)
{
    const Rename *r = user;
    if (*at == r->from)
        *at = r->to;
}

static void rename_in(void *user, ImpStmt *s) { walk_bufs(s, rename_buf, user); }

static bool is_shared_alloc(const ImpStmt *s)
{
    return s->kind == IS_ALLOC && s->alloc->space == SPACE_SHARED && !s->alloc->rewritten;
}

/* As many cells of one type, which live as long. */
static bool alike(const ImpBuf *a, const ImpBuf *b)
{
    return a->elem == b->elem && a->count == b->count && a->home == b->home;
}

/* An array whose place the array that statement `at` allocates can take. NULL: there is none. */
static ImpBuf *place_for(Lowering *lw, const ImpBlock *block, int at)
{
    const ImpBuf *later = block->list.at[at]->alloc;
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (i != at && is_shared_alloc(s) && alike(s->alloc, later) &&
            partners_prove_shared(lw->ctx, lw->kernel, block, later, s->alloc))
            return s->alloc;
    }
    return NULL;
}

/* A cell that is stored to itself: what is a copy of the earlier array. */
static bool stores_to_itself(const ImpStmt *s)
{
    if (s->kind != IS_STORE || s->store.buf->space != SPACE_SHARED || s->store.value->kind != IE_LOAD)
        return false;
    return s->store.value->mem.buf == s->store.buf && s->store.value->mem.index == s->store.index;
}

static void remove_copies(ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        bool empty = stores_to_itself(s);
        if (s->kind == IS_FOR) {
            remove_copies(&s->loop.body);
            empty = s->loop.body.list.n == 0;
        }
        if (s->kind == IS_IF) {
            remove_copies(&s->branch.then);
            remove_copies(&s->branch.otherwise);
            empty = s->branch.then.list.n == 0 && s->branch.otherwise.list.n == 0;
        }
        if (empty)
            block_remove(block, i--);
    }
}

/* How many arrays lie where others lay. */
static int use_places(Lowering *lw, ImpBlock *block)
{
    int used = 0;
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_FOR)
            used += use_places(lw, &s->loop.body);
        if (s->kind == IS_IF)
            used += use_places(lw, &s->branch.then) + use_places(lw, &s->branch.otherwise);
        ImpBuf *place = is_shared_alloc(s) ? place_for(lw, block, i) : NULL;
        if (!place)
            continue;
        Rename r = {s->alloc, place};
        place->align = place->align > s->alloc->align ? place->align : s->alloc->align;
        block_remove(block, i--);
        walk_stmts(block, rename_in, &r);
        used++;
    }
    return used;
}

void pass_one_tile(Lowering *lw)
{
    if (use_places(lw, &lw->kernel->body) > 0)
        remove_copies(&lw->kernel->body);
}
