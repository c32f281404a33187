/* Pass unrolling: what is written out in all is bounded, and nothing is written out that gains nothing by it.
 *
 *   unrolled for i < 11 { unrolled for j < 12 { unrolled for k < 12 { s } } }   ->  for i < 11 { for j < 12 { unrolled for k < 12 { s } } }
 *   unrolled for i < 16 { for j < n { s } }                                     ->  for i < 16 { for j < n { s } }
 *   unrolled for i < 16 { unrolled for j < 16 { acc += xs[...] } }              ->  for i < 16, 4 at once { unrolled for j < 16 { acc += xs[...] } }
 *
 * Loops that are marked to be unrolled multiply when they are nested, and a compiler that is told to write out a hundred thousand operations takes minutes. Where
 * a kernel has more of them than UNROLLED_MOST, the loops that multiply most stay loops, outer before inner ones.
 *
 * A loop is unrolled so that loads of several steps are under way at once, and so that arrays in registers have constant indices. A step that has a loop of its own
 * ends before the next one begins, and ENOUGH_LOADS keep the memory busy: more would only make the code long.
 *
 * Requires: nothing. Keeps: all but the marks. */
#include "codegen/lowering.h"
#include "codegen/walk.h"

enum {
    UNROLLED_MOST = 1 << 14, /* operations and statements of a kernel */
    ENOUGH_LOADS = 64        /* of a thread at once */
};

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

static void stay_loop(ImpStmt *loop, int64_t at_once)
{
    loop->loop.unroll = false;
    loop->loop.at_once = (int)at_once;
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
        if (s->loop.unroll && capped(trips(s)) * written_out(&s->loop.body) > most)
            stay_loop(s, 1);
        if (!s->loop.unroll)
            keep_rolled(&s->loop.body, most);
    }
}

/* ---- what gains nothing ------------------------------------------------------------------------------------------------------- */

typedef struct Step {
    Nat var;      /* of the loop */
    bool indexes; /* an array in registers */
    int64_t loads, times;
} Step;

static bool in_memory(const ImpBuf *buf) { return buf->space != SPACE_SHARED && !buf->by_value; }

static void look_at_expr(void *user, ImpExpr **at)
{
    Step *step = user;
    step->indexes |= (*at)->kind == IE_VAR && nat_mentions((*at)->var.slot, step->var);
    step->loads += (*at)->kind == IE_LOAD && in_memory((*at)->mem.buf) ? step->times : 0;
}

static bool look_at_step(ImpBlock *block, Step *step);

/* Of two ways a thread goes one. */
static bool look_at_choice(ImpStmt *s, Step *step)
{
    Step then = *step, otherwise = *step;
    bool stays = look_at_step(&s->branch.then, &then) | look_at_step(&s->branch.otherwise, &otherwise);
    step->indexes |= then.indexes | otherwise.indexes;
    step->loads = !s->branch.otherwise.list.n || then.loads < otherwise.loads ? then.loads : otherwise.loads;
    return stays;
}

/* Gives whether a loop in it stays one. */
static bool look_at_step(ImpBlock *block, Step *step)
{
    bool stays = false;
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        int64_t times = step->times;
        walk_own(s, look_at_expr, step);
        switch (s->kind) {
        case IS_SET: step->indexes |= nat_mentions(s->var.slot, step->var); break;
        case IS_VLOAD: step->loads += in_memory(s->vec.buf) ? times : 0; break;
        case IS_FOR:
            stays |= !s->loop.unroll;
            step->times = capped(times * capped(trips(s)));
            stays |= look_at_step(&s->loop.body, step);
            step->times = times;
            break;
        case IS_IF:
            stays |= look_at_choice(s, step);
            break;
        default: break;
        }
    }
    return stays;
}

/* Inner loops first: an outer one asks what has become of them. */
static void keep_steps(ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_IF) {
            keep_steps(&s->branch.then);
            keep_steps(&s->branch.otherwise);
        }
        if (s->kind != IS_FOR)
            continue;
        keep_steps(&s->loop.body);
        Step step = {.var = s->loop.var, .times = 1};
        bool stays = look_at_step(&s->loop.body, &step);
        if (!s->loop.unroll || step.indexes || (!stays && !step.loads))
            continue;
        int64_t at_once = stays ? 1 : div_up(ENOUGH_LOADS, step.loads), n = trips(s);
        while (at_once < n && n % at_once)
            at_once++;
        if (at_once < n)
            stay_loop(s, at_once);
    }
}

void pass_unrolling(Lowering *lw)
{
    ImpBlock *body = &lw->kernel->body;
    keep_steps(body);
    for (int64_t most = UNROLLED_MOST; most > 0 && written_out(body) > UNROLLED_MOST; most /= 2)
        keep_rolled(body, most);
}
