/* Pass tiles: a loop whose guards hold everywhere but in the last tile runs without them there.
 *
 *   for (i < 8) acc += block*1024 + i*128 + thread < n ? xs[...] : 0
 *     ->  full where block*1024 + 1024 <= n: for (i < 8) acc += (full or ... < n) ? xs[...] : 0      one loop, two codes (full_tiles.h)
 *
 *   for (i < ceilDiv(m, 32)) acc += i*32 + lane < m ? xs[...] : 0
 *     ->  for (i < m / 32) acc += xs[...];  if (m % 32 != 0) acc += m / 32 * 32 + lane < m ? xs[...] : 0
 *                                           (the condition stays away where nothing would happen in that trip)
 *
 *   acc += 4*thread < n ? xs[4*thread] : 0; acc += 4*thread + 1 < n ? ...; ...  ->  if (1024 <= n) { acc += xs[4*thread]; ... } else { ... }
 *
 * A guard L <= R holds for all threads and all trips of a loop when the largest value of L - R over them is at most 0: loop variables and thread
 * ids are replaced by the bound that makes it largest. What is left mentions only what is the same for all threads, or is fixed before the loop.
 * What the last block does once is not copied.
 *
 * Requires: barriers are placed. Loops with a shuffle in them stay as they are; so do those with a barrier, unless vectors are loaded under guards there. Keeps every value and every access. */
#include "codegen/branches.h"
#include "codegen/full_tiles.h"
#include "codegen/guards.h"
#include "codegen/units.h"
#include "codegen/walk.h"

enum {
    MIN_SPARED = 4,            /* guards that a full tile must spare a thread, for the text to be worth it */
    MAX_WORK = 48,             /* operations for each instruction that is spared: of more it is less than 3 % */
    MAX_FULL_CONDITIONS = 3
};

#define MANY ((int64_t)1 << 40) /* are as good as more */

typedef struct Tiles {
    Ctx *ctx;
    Lowering *lw;
    NatFacts *facts;
    VEC(Bound) bounds;   /* of the loops around, outer before inner */
    VEC(Nat) full;       /* each <= 0 where all guards hold */
    VEC(Nat) guards;     /* L - R of the comparisons that they make true */
    bool blocked;        /* a shuffle, say: the loop cannot be copied */
    bool waits;          /* a barrier of the block: so all threads are in the same trips of all loops around, and decide alike */
    bool vectors;        /* vectors are loaded under guards that are spared */
    bool rare;           /* only the last block gets here, and once: guards cost nothing */
    int64_t spared;      /* guards per run of the loop in one thread */
    int64_t cost;        /* of these, in instructions */
    int64_t work;        /* operations, likewise */
    bool busy;           /* the loop around has so much to do that its guards do not count */
} Tiles;

/* ---- guards ----------------------------------------------------------------------------------------------------------- */

/* The largest value over the loops from `first` on and over the threads; NULL when there is none that can be written down. */
static Nat largest_over(Tiles *t, Nat nat, int first)
{
    for (int i = t->bounds.n - 1; i >= first && nat; i--)
        nat = guard_largest(t->ctx, t->facts, nat, &t->bounds.at[i]);
    if (!nat)
        return NULL;
    ThreadIds ids = guard_thread_ids(t->lw, nat);
    for (int i = 0; i < ids.n && nat; i++)
        nat = guard_largest(t->ctx, t->facts, nat, &(Bound){ids.found[i], ids.found[i]->lo, ids.found[i]->hi});
    return nat ? nat_simplify(t->ctx, t->facts, nat) : NULL;
}

/* L - R + 1 <= 0 where L and R lie multiples of c apart: so L - R + c <= 0. The guard of a vector's first cell says it of all of them. */
static Nat in_steps(Tiles *t, Nat d)
{
    Nat apart = nat_add_k(t->ctx, d, -1);
    int64_t c = 1;
    while (c < IMP_VECTOR_MAX && nat_divides(t->ctx, t->facts, nat_const(t->ctx, 2 * c), apart))
        c *= 2;
    return nat_add_k(t->ctx, apart, c);
}

static bool note_guard(Tiles *t, const ImpExpr *e, int first)
{
    if (e->kind == IE_OP && e->op.id == P_and) {
        bool a = note_guard(t, e->op.args[0], first);
        return note_guard(t, e->op.args[1], first) || a;
    }
    Nat d = guard_excess(t->ctx, e);
    Nat most = d ? largest_over(t, in_steps(t, d), first) : NULL;
    if (!most || nat_is_error(most) || nat_is_const(most))
        return false;
    int k = 0;
    while (k < t->full.n && !nat_le(t->ctx, t->facts, most, t->full.at[k])) {
        if (nat_le(t->ctx, t->facts, t->full.at[k], most)) /* the stronger one says both */
            t->full.at[k] = most;
        else
            k++;
    }
    if (k == t->full.n) {
        if (k == MAX_FULL_CONDITIONS)
            return false;
        vec_push(t->ctx, &t->full, most);
    }
    vec_push(t->ctx, &t->guards, d);
    return true;
}

typedef struct Place {
    Tiles *tiles;
    int64_t times; /* how often a thread gets here in one run of the loop */
    int first;     /* its variables are the bounds from here on */
} Place;

static int64_t add_capped(int64_t a, int64_t b) { return a < MANY && b < MANY - a ? a + b : MANY; }

/* Loops in loops. */
static int64_t times_each(int64_t times, int64_t trips)
{
    return trips > 0 && times > MANY / trips ? MANY : times * trips < MANY ? times * trips : MANY;
}

/* A guard: a comparison, and zeros for what it guards. */
static void spare(Tiles *t, int bytes, int64_t times)
{
    t->spared = add_capped(t->spared, times);
    t->cost = add_capped(t->cost, times_each(times, 1 + div_up(bytes, 4)));
}

static void visit_expr(void *user, ImpExpr **at)
{
    const Place *p = user;
    if ((*at)->kind == IE_OP)
        p->tiles->work = add_capped(p->tiles->work, p->times);
    if ((*at)->kind == IE_SHFL)
        p->tiles->blocked = true;
    if ((*at)->kind == IE_COND && note_guard(p->tiles, (*at)->cond.cond, p->first))
        spare(p->tiles, scalar_bytes((*at)->type), p->times);
}

static int64_t trips(const ImpStmt *loop)
{
    if (nat_is_const(loop->loop.lo) && nat_is_const(loop->loop.hi) && nat_is_const(loop->loop.step) && loop->loop.step->value > 0) {
        int64_t lo = loop->loop.lo->value, hi = loop->loop.hi->value;
        return hi <= lo ? 0 : (int64_t)(((uint64_t)hi - (uint64_t)lo - 1) / (uint64_t)loop->loop.step->value) + 1;
    }
    return MIN_SPARED; /* unknown: taken for a few */
}

static void push_bound(Tiles *t, const ImpStmt *loop)
{
    vec_push(t->ctx, &t->bounds, ((Bound){loop->loop.var, loop->loop.lo, nat_add_k(t->ctx, loop->loop.hi, -1)}));
}

/* Under `i + 1 < n` the loop's variable i is at most n - 2. Gives the bound that it had before; NULL: the condition says nothing of it. */
static Nat narrow_bound(Tiles *t, const ImpExpr *cond, int first)
{
    Bound *b = first < t->bounds.n ? &t->bounds.at[first] : NULL;
    Nat d = b ? guard_excess(t->ctx, cond) : NULL, most = d ? nat_sub(t->ctx, b->var, d) : NULL;
    if (!most || nat_is_error(most) || nat_mentions(most, b->var) || !nat_le(t->ctx, t->facts, most, b->hi))
        return NULL;
    Nat hi = b->hi;
    b->hi = most;
    return hi;
}

static bool loads_vectors(const ImpStmt *choice) { return choice->branch.then.list.n && choice->branch.then.list.at[0]->kind == IS_VLOAD; }

/* Of the vector that is loaded there. */
static int guarded_bytes(const ImpBlock *then)
{
    const ImpStmt *s = then->list.n ? then->list.at[0] : NULL;
    return s && s->kind == IS_VLOAD ? s->vec.n * scalar_bytes(s->vec.var->type) : 4;
}

static void visit_block(Tiles *t, ImpBlock *block, int64_t times, int first)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        Place place = {t, times, first};
        walk_own(s, visit_expr, &place);
        bool spared;
        Nat hi;
        switch (s->kind) {
        case IS_FOR:
            push_bound(t, s);
            visit_block(t, &s->loop.body, times_each(times, trips(s)), first);
            t->bounds.n--;
            break;
        case IS_IF:
            spared = note_guard(t, s->branch.cond, first);
            if (spared)
                spare(t, guarded_bytes(&s->branch.then), times);
            t->vectors |= spared && loads_vectors(s);
            hi = narrow_bound(t, s->branch.cond, first);
            visit_block(t, &s->branch.then, times, first);
            if (hi)
                t->bounds.at[first].hi = hi;
            visit_block(t, &s->branch.otherwise, times, first);
            break;
        case IS_SYNC:
            t->waits |= s->sync == SYNC_BLOCK;
            t->blocked |= s->sync != SYNC_BLOCK;
            break;
        case IS_TICKET: case IS_GRID_SYNC: case IS_GIVE: case IS_AWAIT: case IS_SERVE: t->blocked = true; break;
        case IS_DECL: t->blocked |= s->var.var->nat != NULL; break;
        case IS_SET: case IS_STORE: case IS_VSET: case IS_VLOAD: case IS_VSTORE: case IS_ATOMIC: case IS_ALLOC: case IS_NOTE: break;
        }
    }
}

/* ---- conditions that a full tile spares ------------------------------------------------------------------------------------ */

static void mark_condition(const Tiles *t, ImpExpr *e)
{
    if (e->kind == IE_OP && e->op.id == P_and) {
        mark_condition(t, e->op.args[0]);
        mark_condition(t, e->op.args[1]);
        return;
    }
    Nat d = guard_excess(t->ctx, e);
    for (int i = 0; d && i < t->guards.n; i++)
        e->op.spared |= t->guards.at[i] == d;
}

static void mark_choice(void *user, ImpExpr **at)
{
    if ((*at)->kind == IE_COND)
        mark_condition(user, (*at)->cond.cond);
}

static void mark_stmt(void *user, ImpStmt *s)
{
    walk_own(s, mark_choice, user);
    if (s->kind == IS_IF)
        mark_condition(user, s->branch.cond);
}

static void mark(Tiles *t, ImpBlock *block) { walk_stmts(block, mark_stmt, t); }

/* ---- the two ways to split ---------------------------------------------------------------------------------------------------- */

/* d is k - f * (a % c), at most 0 only where a % c is c - 1, so that c divides a + 1. Gives a + 1, or NULL. */
static Nat multiple_of(Ctx *ctx, Nat d, Nat *c)
{
    if (d->kind != NAT_SUM || d->n_terms != 2 || d->terms[0].n_factors != 1 || d->terms[1].n_factors)
        return NULL;
    Nat mod = d->terms[0].factors[0];
    int64_t f = -d->terms[0].coef, k = d->terms[1].coef, most, next;
    if (mod->kind != NAT_MOD || !nat_is_const(mod->b) || f < 1 || !mul_fits(f, mod->b->value - 1, &most) || k > most || !add_fits(most, -f, &next) || k <= next)
        return NULL;
    *c = mod->b;
    return nat_add_k(ctx, mod->a, 1);
}

/* d <= 0 as L <= R, without a minus sign: `block*1024 + 1024 <= n`. */
static ImpExpr *as_comparison(Tiles *t, Nat d, Span span)
{
    Ctx *ctx = t->ctx;
    Nat c, multiple = multiple_of(ctx, d, &c);
    if (multiple)
        return nat_cmp(t->lw, P_eq, nat_mod(ctx, multiple, c), nat_const(ctx, 0), span);
    Nat left = nat_const(ctx, 0), right = left;
    if (d->kind != NAT_SUM)
        left = d;
    for (int i = 0; i < d->n_terms; i++) {
        const NatTerm *term = &d->terms[i];
        Nat product = nat_const(ctx, term->coef < 0 ? -term->coef : term->coef);
        for (int j = 0; j < term->n_factors; j++)
            product = nat_mul(ctx, product, term->factors[j]);
        if (term->coef < 0)
            right = nat_add(ctx, right, product);
        else
            left = nat_add(ctx, left, product);
    }
    return nat_cmp(t->lw, P_le, left, right, span);
}

/* Do all guards hold nowhere? Rows of at most 2048 numbers whose length 4 does not divide, say, are never full. */
static bool never_full(Tiles *t)
{
    Nat zero = nat_const(t->ctx, 0);
    for (int k = 0; k < t->full.n; k++)
        if (nat_le(t->ctx, t->facts, zero, t->full.at[k]) && nat_differ(t->ctx, t->facts, t->full.at[k], zero))
            return true;
    return false;
}

/* All guards hold. */
static ImpExpr *full_condition(Tiles *t, Span span)
{
    ImpExpr *all = NULL;
    for (int k = 0; k < t->full.n; k++) {
        ImpExpr *e = as_comparison(t, t->full.at[k], span);
        all = all ? imp_op2(t->ctx, P_and, SC_BOOL, all, e, span) : e;
    }
    return all;
}

/* All trips of the loop are full, or none needs to be: one condition decides before the loop, which stays one. */
static bool split_whole(Tiles *t, ImpStmt *loop)
{
    loop->loop.full = full_condition(t, loop->span);
    mark(t, &loop->loop.body);
    return true;
}

typedef struct Subst {
    Tiles *tiles;
    Nat var, by;
} Subst;

static Nat subst_nat(void *user, Nat nat)
{
    const Subst *s = user;
    return nat_mentions(nat, s->var) ? nat_simplify(s->tiles->ctx, s->tiles->facts, nat_subst(s->tiles->ctx, nat, s->var, s->by)) : nat;
}

static void subst_stmt(void *user, ImpStmt *s) { map_nats(s, subst_nat, user); }

/* Does nothing in the block happen where c divides x? */
static bool needs_remainder(Tiles *t, const ImpBlock *block, Nat x, Nat c)
{
    NatFacts *facts = t->lw->facts;
    t->lw->facts = nat_facts_new(t->ctx, t->facts);
    nat_fact_le(t->ctx, t->lw->facts, x, nat_mul(t->ctx, nat_div(t->ctx, x, c), c));
    bool all = true;
    for (int i = 0; i < block->list.n && all; i++) {
        const ImpStmt *s = block->list.at[i];
        all = s->kind == IS_IF && !s->branch.otherwise.list.n && condition_fails(t->lw, s->branch.cond);
    }
    t->lw->facts = facts;
    return all;
}

/* Puts the loop from x / c to ceil(x / c) at place i: no loop, but one more trip unless c divides x. */
static void last_trip(Tiles *t, ImpBlock *block, int i, Nat x, Nat c)
{
    Ctx *ctx = t->ctx;
    ImpStmt *loop = block->list.at[i];
    if (!nat_equal(ctx, t->facts, loop->loop.hi, nat_ceil_div(ctx, x, c)))
        return;
    ImpBlock body = loop->loop.body;
    Subst s = {t, loop->loop.var, loop->loop.lo};
    walk_stmts(&body, subst_stmt, &s);
    units_leave_out(units_of(t->lw), t->lw, &body);
    Nat remainder = nat_mod(ctx, x, c), zero = nat_const(ctx, 0);
    if (needs_remainder(t, &body, x, c) || nat_differ(ctx, t->facts, remainder, zero)) {
        block_remove(block, i);
        for (int k = 0; k < body.list.n; k++)
            block_insert(ctx, block, i + k, body.list.at[k]);
        return;
    }
    ImpStmt *last = imp_stmt(ctx, NULL, IS_IF, loop->span);
    last->branch.cond = nat_cmp(t->lw, P_ne, remainder, zero, loop->span);
    last->branch.then = body;
    block->list.at[i] = last;
}

/* c * v + rest <= 0 holds for v < ceil((1 - rest) / c) = x / c, x = c - rest: the first trips are full, and the last ones are not. */
static bool split_range(Tiles *t, ImpBlock *block, int i)
{
    Ctx *ctx = t->ctx;
    ImpStmt *loop = block->list.at[i];
    Nat v = loop->loop.var, d = t->full.at[0], rest = nat_subst(ctx, d, v, nat_const(ctx, 0)), c = nat_sub(ctx, d, rest);
    if (t->full.n != 1 || !nat_is(loop->loop.step, 1) || !nat_is(loop->loop.lo, 0))
        return false;
    c = c == v ? nat_const(ctx, 1) : c->kind == NAT_SUM && c->n_terms == 1 && c->terms[0].n_factors == 1 ? nat_const(ctx, c->terms[0].coef) : NULL;
    if (!c || c->value < 1)
        return false;
    Nat x = nat_simplify(ctx, t->facts, nat_sub(ctx, c, rest)), end = nat_simplify(ctx, t->facts, nat_div(ctx, x, c));
    if (!nat_le(ctx, t->facts, nat_const(ctx, 0), end) || !nat_le(ctx, t->facts, end, loop->loop.hi) || nat_equal(ctx, t->facts, end, loop->loop.hi))
        return false;
    ImpStmt *full = imp_copy_stmt(ctx, loop);
    full->loop.hi = end;
    loop->loop.lo = end;
    last_trip(t, block, i, x, c);
    mark(t, &full->loop.body);
    tile_without_guards(ctx, &full->loop.body);
    block_insert(ctx, block, i, full);
    return true;
}

static bool is_busy(const Tiles *t) { return t->cost && t->work / t->cost > MAX_WORK; }

static void begin(Tiles *t)
{
    t->full.n = t->guards.n = 0;
    t->blocked = t->waits = t->vectors = false;
    t->spared = t->cost = t->work = 0;
}

/* Looks for the guards of the loop: of all its trips together (`whole`), or of each for itself. */
static void look_at(Tiles *t, ImpStmt *loop, bool whole)
{
    int first = t->bounds.n;
    begin(t);
    push_bound(t, loop);
    bool constant = nat_is_const(loop->loop.lo) && nat_is_const(loop->loop.hi);
    visit_block(t, &loop->loop.body, constant ? times_each(1, trips(loop)) : MIN_SPARED, whole ? first : first + 1);
    t->bounds.n = first;
}

static bool split(Tiles *t, ImpBlock *block, int i)
{
    ImpStmt *loop = block->list.at[i];
    bool constant = nat_is_const(loop->loop.lo) && nat_is_const(loop->loop.hi);
    if (loop->loop.level == P_mapBlock || loop->loop.level == P_mapGlobal || loop->loop.first || (t->rare && constant))
        return false;
    look_at(t, loop, constant);
    if (t->blocked || t->spared < MIN_SPARED || is_busy(t))
        return false;
    if (t->waits && t->vectors && !constant)
        look_at(t, loop, true);
    if (!t->full.n || never_full(t) || (t->waits && !t->vectors))
        return false;
    return constant || t->waits ? split_whole(t, loop) : split_range(t, block, i);
}

/* ---- guards that stand one after the other, in no loop ------------------------------------------------------------------------- */

static bool is_straight(const ImpStmt *s)
{
    if (s->kind != IS_IF)
        return s->kind == IS_DECL || s->kind == IS_SET || s->kind == IS_VSET || s->kind == IS_STORE;
    bool straight = true;
    for (int k = 0; k < s->branch.then.list.n; k++)
        straight &= is_straight(s->branch.then.list.at[k]);
    for (int k = 0; k < s->branch.otherwise.list.n; k++)
        straight &= is_straight(s->branch.otherwise.list.at[k]);
    return straight;
}

/* Is a register that statements i to end - 1 declare needed after them? */
static bool escapes(ImpBlock *block, int i, int end)
{
    for (int k = i; k < end; k++) {
        const ImpStmt *s = block->list.at[k];
        if (!imp_declares(s))
            continue;
        const ImpVar *var = imp_sets(s);
        bool needed = var->nat != NULL;
        for (int j = end; j < block->list.n && !needed; j++)
            needed = stmt_mentions(block->list.at[j], var);
        if (needed)
            return true;
    }
    return false;
}

/* Guards in the statement, if it were in a loop of one trip. */
static int64_t guards_of(Tiles *t, ImpBlock *block, int i, int n)
{
    begin(t);
    ImpBlock run = {.list = {block->list.at + i, n, 0}};
    visit_block(t, &run, 1, t->bounds.n);
    return t->blocked || t->waits ? 0 : t->spared;
}

/* One condition that is asked several times is left to the reader. */
static bool differ(const Tiles *t)
{
    bool differ = false;
    for (int i = 1; i < t->guards.n; i++)
        differ |= t->guards.at[i] != t->guards.at[0];
    return differ;
}

/* As split_whole, for the statements from i on. */
static bool split_run(Tiles *t, ImpBlock *block, int i)
{
    Ctx *ctx = t->ctx;
    if (t->rare || t->busy || !is_straight(block->list.at[i]) || !guards_of(t, block, i, 1))
        return false;
    int end = i + 1;
    for (int k = i + 1; k < block->list.n && is_straight(block->list.at[k]); k++)
        if (guards_of(t, block, k, 1))
            end = k + 1;
    if (guards_of(t, block, i, end - i) < MIN_SPARED || never_full(t) || !differ(t) || escapes(block, i, end))
        return false;
    ImpStmt *choice = imp_stmt(ctx, NULL, IS_IF, block->list.at[i]->span);
    choice->branch.cond = full_condition(t, choice->span);
    for (int k = i; k < end; k++) {
        vec_push(ctx, &choice->branch.then.list, imp_copy_stmt(ctx, block->list.at[k]));
        vec_push(ctx, &choice->branch.otherwise.list, block->list.at[k]);
    }
    mark(t, &choice->branch.then);
    tile_without_guards(ctx, &choice->branch.then);
    for (int k = i + 1; k < end; k++)
        block_remove(block, i + 1);
    block->list.at[i] = choice;
    return true;
}

static void split_loops(Tiles *t, ImpBlock *block)
{
    Ctx *ctx = t->ctx;
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (split_run(t, block, i))
            continue;
        if (s->kind == IS_FOR) {
            int before = block->list.n;
            if (split(t, block, i)) {
                i += block->list.n - before;
                i += tile_loads_first(t->lw, block, i);
                continue;
            }
            NatFacts *facts = t->facts;
            bool rare = t->rare;
            bool busy = t->busy;
            t->rare &= nat_is_const(s->loop.hi);
            begin(t);
            visit_block(t, &s->loop.body, 1, t->bounds.n);
            t->busy = is_busy(t);
            t->facts = nat_facts_new(ctx, facts);
            nat_fact_le(ctx, t->facts, nat_add_k(ctx, s->loop.var, 1), s->loop.hi);
            nat_fact_le(ctx, t->facts, s->loop.lo, s->loop.var);
            push_bound(t, s);
            split_loops(t, &s->loop.body);
            t->bounds.n--;
            t->facts = facts;
            t->rare = rare;
            t->busy = busy;
        }
        if (s->kind == IS_IF) {
            bool rare = t->rare;
            t->rare |= s->branch.last;
            split_loops(t, &s->branch.then);
            t->rare = rare;
            if (!loads_vectors(s)) /* what one thread does where a vector goes past the end */
                split_loops(t, &s->branch.otherwise);
        }
    }
}

void pass_tiles(Lowering *lw)
{
    Tiles t = {.ctx = lw->ctx, .lw = lw, .facts = nat_facts_new(lw->ctx, (NatFacts *)lw->kernel->known)};
    split_loops(&t, &lw->kernel->body);
}
