/* Who gets to a statement, as far as uniform.c can tell that threads agree.
 *
 * A cell has one writer: a store to it is refused where all threads of a warp get together and
 * agree on the cell. The same goes for what one thread of a block does (a ticket, a total of an
 * exchange) and for what one warp does. And all threads of a block get to its barriers, all blocks'
 * threads to those of the grid, all lanes of a warp to a shuffle and to a barrier of the warp.
 *
 * What is not seen here: two stores that meet in a cell, and a store at an index that differs
 * between threads but not between all of them. Barriers order those, and the simulator finds what
 * they do not. */
#include "codegen/imp_verify.h"

#include "codegen/uniform.h"
#include "codegen/walk.h"

typedef struct Writers {
    Uniform uniform;
    int threads; /* of a block */
    const char *fault;
} Writers;

/* Threads that agree on all of this are several. */
static bool are_several(const Writers *w, int same)
{
    return w->threads > 1 && (same & SAME_IN_WARP);
}

const char imp_lost_lanes[] = "a shuffle that not all lanes of the warp get to";

static void find_shuffle(void *user, ImpExpr **at) { *(bool *)user |= (*at)->kind == IE_SHFL; }

static const char *fault_of(const Writers *w, ImpStmt *s, const LoopSame *loops, int place)
{
    const Uniform *u = &w->uniform;
    bool shuffles = false;
    walk_own(s, find_shuffle, &shuffles);
    if (shuffles && !(place & SAME_IN_WARP))
        return imp_lost_lanes;
    switch (s->kind) {
    case IS_STORE:
        return !s->store.unordered && are_several(w, place & uniform_nat(u, loops, s->store.index))
                   ? "a cell that several threads write"
                   : NULL;
    case IS_VSTORE:
        return are_several(w, place & uniform_nat(u, loops, s->vec.index))
                   ? "cells that several threads write"
                   : NULL;
    case IS_TICKET:
    case IS_GIVE:
    case IS_AWAIT:
        return are_several(w, place) ? "what one thread of a block does, done by several" : NULL;
    case IS_SERVE:
        return w->threads > 32 && (place & SAME_IN_BLOCK) ? "what one warp does, done by several"
                                                          : NULL;
    case IS_SYNC:
        return place & (s->sync == SYNC_WARP ? SAME_IN_WARP : SAME_IN_BLOCK)
                   ? NULL
                   : "a barrier that not all threads get to";
    case IS_GRID_SYNC:
        return place & SAME_IN_BLOCK ? NULL : "a barrier that not all threads get to";
    case IS_DECL:
    case IS_SET:
    case IS_VSET:
    case IS_VLOAD:
    case IS_ATOMIC:
    case IS_FOR:
    case IS_IF:
    case IS_ALLOC:
    case IS_NOTE: break;
    }
    return NULL;
}

static void check_block(Writers *w, const ImpBlock *block, const LoopSame *loops, int place,
                        Span *where)
{
    for (int i = 0; i < block->list.n && !w->fault; i++) {
        ImpStmt *s = block->list.at[i];
        w->fault = fault_of(w, s, loops, place);
        if (w->fault)
            *where = s->span;
        else if (s->kind == IS_FOR) {
            LoopSame loop = {loops, s->loop.var, uniform_loop(&w->uniform, loops, s)};
            check_block(w, &s->loop.body, &loop, place & loop.same, where);
        } else if (s->kind == IS_IF) {
            int inside = place &
                         (s->branch.last ? SAME_EVERYWHERE
                                         : uniform_expr(&w->uniform, loops, s->branch.cond));
            check_block(w, &s->branch.then, loops, inside, where);
            check_block(w, &s->branch.otherwise, loops, inside, where);
        }
    }
}

const char *imp_writers_fault(Ctx *ctx, const ImpKernel *kernel, Span *where)
{
    Lowering lw = {.ctx = ctx, .kernel = (ImpKernel *)kernel};
    Writers w = {.uniform = uniform_of(&lw),
                 .threads = kernel->threads[0] * kernel->threads[1] * kernel->threads[2]};
    check_block(&w, &kernel->body, NULL, SAME_EVERYWHERE, where);
    return w.fault;
}
