/* Pass unrolling: what is written out in all is bounded.
 *
 *   unrolled for i < 11 { unrolled for j < 12 { unrolled for k < 12 { s } } }   ->  for i < 11 { for j < 12 { unrolled for k < 12 { s } } }
 *
 * Loops that are marked to be unrolled multiply when they are nested, and a compiler that is told to write out a hundred thousand operations takes minutes. Where
 * a kernel has more of them than UNROLLED_MOST, the loops that multiply most stay loops, outer before inner ones.
 *
 * Requires: nothing. Keeps: all but the marks. */
#include "codegen/lowering.h"
#include "codegen/walk.h"

enum { UNROLLED_MOST = 1 << 14 }; /* operations and statements of a kernel */

static int64_t capped(int64_t n) { return n < INT32_MAX ? n : INT32_MAX; }

static void count_op(void *user, ImpExpr **at) { *(int64_t *)user += (*at)->kind != IE_LIT && (*at)->kind != IE_NAT && (*at)->kind != IE_VAR; }

static int64_t trips(const ImpStmt *loop)
{
    const Nat lo = loop->loop.lo, hi = loop->loop.hi, step = loop->loop.step;
    if (!nat_is_const(lo) || !nat_is_const(hi) || !nat_is_const(step) || step->value < 1)
        return 1;
    return hi->value > lo->value ? div_up(hi->value - lo->value, step->value) : 0;
}

/* What the block becomes when it is written out. */
static int64_t written_out(const ImpBlock *block)
{
    int64_t n = 0;
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_NOTE || s->kind == IS_ALLOC)
            continue;
        n++;
        walk_own(s, count_op, &n);
        if (s->kind == IS_FOR)
            n += capped(written_out(&s->loop.body) * (s->loop.unroll ? capped(trips(s)) : 1));
        if (s->kind == IS_IF)
            n += written_out(&s->branch.then) + written_out(&s->branch.otherwise);
    }
    return capped(n);
}

/* Of the outermost loops that are unrolled: those that become more than `most` by themselves stay loops, and what is inside is looked at in turn. */
static void keep_rolled(ImpBlock *block, int64_t most)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_IF) {
            keep_rolled(&s->branch.then, most);
            keep_rolled(&s->branch.otherwise, most);
        }
        if (s->kind != IS_FOR)
            continue;
        if (s->loop.unroll && capped(trips(s)) * written_out(&s->loop.body) > most) {
            s->loop.unroll = false;
            s->loop.rolled = true;
        }
        if (!s->loop.unroll)
            keep_rolled(&s->loop.body, most);
    }
}

void pass_unrolling(Lowering *lw)
{
    ImpBlock *body = &lw->kernel->body;
    for (int64_t most = UNROLLED_MOST; most > 0 && written_out(body) > UNROLLED_MOST; most /= 2)
        keep_rolled(body, most);
}
