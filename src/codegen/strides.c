/* Pass strides: a loop that goes through the grid's elements counts in elements and not in trips.
 *
 *   for (i < ceilDiv(n, 32768)) if (i*32768 + block*512 + thread < n) sum += xs[i*32768 + block*512 + thread]
 *     ->  for (i = block*512 + thread; i < n; i += 32768) sum += xs[i]
 *
 *   for (i < ceilDiv(n, blocks*8192)) for (j < 8) if (i*blocks*8192 + block*8192 + j*1024 + thread < n) ...
 *     ->  for (tile = block; tile < ceilDiv(n, 8192); tile += blocks) for (j < 8) if (tile*8192 + j*1024 + thread < n) ...
 *
 * The variable v of the loop must occur as stride * v + start alone, with one stride and one start; the trips that the new loop leaves out must do nothing
 * (units.h), and the old loop must go as far as the new one. A loop inside is taken for the rounds of a tile, which all threads of the block begin
 * together; then the start leaves the thread out.
 *
 * Requires: barriers are placed. Leaves loops alone that start alike in all blocks and have a constant stride: pass tiles has a way for those. Keeps every
 * value and every access. */
#include "codegen/guards.h"
#include "codegen/units.h"
#include "codegen/walk.h"

typedef struct Strides {
    Lowering *lw;
    Ctx *ctx;
    const Units *units;
    ImpStmt *loop;
    Nat stride, start;  /* as the mentions so far have them; NULL: none yet */
    Nat step;           /* the stride, spelled so that it is never 0 */
    bool plain;         /* no mention is of another form */
    VEC(Bound) inside;  /* variables of the loops in it */
    VEC(Nat) changing;  /* those, and names of indices */
    VEC(Nat) ends;      /* where the loop might end: guards of its elements fail from there on */
} Strides;

static Nat term_nat(Ctx *ctx, const NatTerm *t)
{
    Nat product = nat_const(ctx, t->coef);
    for (int k = 0; k < t->n_factors; k++)
        product = nat_mul(ctx, product, t->factors[k]);
    return product;
}

/* s where the nat is s * v + what does not mention v; NULL where it is not. */
static Nat stride_of(Ctx *ctx, Nat nat, Nat v)
{
    Nat d = nat_sub(ctx, nat, nat_subst(ctx, nat, v, nat_const(ctx, 0)));
    if (d == v)
        return nat_const(ctx, 1);
    if (d->kind != NAT_SUM || d->n_terms != 1)
        return NULL;
    Nat s = nat_const(ctx, d->terms[0].coef);
    int times = 0;
    for (int k = 0; k < d->terms[0].n_factors; k++)
        if (d->terms[0].factors[k] == v)
            times++;
        else
            s = nat_mul(ctx, s, d->terms[0].factors[k]);
    return times == 1 && !nat_mentions(s, v) ? s : NULL;
}

static int n_terms(Nat nat) { return nat->kind == NAT_SUM ? nat->n_terms : !nat_is(nat, 0); }

static Nat term_at(Ctx *ctx, Nat nat, int i) { return nat->kind == NAT_SUM ? term_nat(ctx, &nat->terms[i]) : nat; }

static bool has_term(Ctx *ctx, Nat nat, Nat term)
{
    for (int i = 0; i < n_terms(nat); i++)
        if (term_at(ctx, nat, i) == term)
            return true;
    return false;
}

/* The terms of `nat` that `keep` keeps. */
static Nat terms_that(Strides *s, Nat nat, bool (*keep)(Strides *s, Nat term, Nat other), Nat other)
{
    Nat sum = nat_const(s->ctx, 0);
    for (int i = 0; i < n_terms(nat); i++) {
        Nat term = term_at(s->ctx, nat, i);
        if (term->has_vars && keep(s, term, other))
            sum = nat_add(s->ctx, sum, term);
    }
    return sum;
}

static bool is_in(Strides *s, Nat term, Nat other) { return has_term(s->ctx, other, term); }

/* Known before the loop; and in a loop over tiles, the same for all threads. */
static bool may_start(Strides *s, Nat term, Nat other)
{
    (void)other;
    for (int i = 0; i < s->changing.n; i++)
        if (nat_mentions(term, s->changing.at[i]))
            return false;
    return !s->inside.n || guard_thread_ids(s->lw, term).n == 0;
}

static void look_at_nat(void *user, Nat nat)
{
    Strides *s = user;
    Nat v = s->loop->loop.var;
    if (!s->plain || !nat_mentions(nat, v))
        return;
    Nat stride = stride_of(s->ctx, nat, v), rest = nat_subst(s->ctx, nat, v, nat_const(s->ctx, 0));
    s->plain = stride && (!s->stride || stride == s->stride);
    s->start = !s->start ? terms_that(s, rest, may_start, NULL) : terms_that(s, s->start, is_in, rest);
    s->stride = stride;
}

static void look_at_stmt(void *user, ImpStmt *stmt) { walk_nats(stmt, look_at_nat, user); }

static void note_changing(void *user, ImpStmt *stmt)
{
    Strides *s = user;
    if (stmt->kind == IS_FOR) {
        vec_push(s->ctx, &s->inside, ((Bound){stmt->loop.var, stmt->loop.lo, nat_add_k(s->ctx, stmt->loop.hi, -1)}));
        vec_push(s->ctx, &s->changing, stmt->loop.var);
    }
    if (stmt->kind == IS_DECL && stmt->var.var->nat)
        vec_push(s->ctx, &s->changing, stmt->var.var->nat);
}

/* ---- where the loop ends ---------------------------------------------------------------------------------------------------- */

/* A guard d <= 0 with d = stride*v + start + rest fails for every thread and round where stride*v + start >= 1 - the least rest. */
static void note_end(Strides *s, const ImpExpr *e)
{
    Ctx *ctx = s->ctx;
    Nat v = s->loop->loop.var, d = guard_excess(ctx, e);
    if (!d || !nat_mentions(d, v))
        return;
    Nat most = nat_sub(ctx, nat_add(ctx, nat_mul(ctx, s->stride, v), s->start), d); /* -rest */
    for (int i = s->inside.n - 1; i >= 0 && most; i--)
        most = guard_largest(ctx, s->lw->facts, most, &s->inside.at[i]);
    if (!most)
        return;
    ThreadIds ids = guard_thread_ids(s->lw, most);
    for (int i = 0; i < ids.n && most; i++)
        most = guard_largest(ctx, s->lw->facts, most, &(Bound){ids.found[i], ids.found[i]->lo, ids.found[i]->hi});
    if (!most || nat_is_error(most) || nat_mentions(most, v))
        return;
    for (int i = 0; i < s->changing.n; i++)
        if (nat_mentions(most, s->changing.at[i]))
            return;
    vec_push(ctx, &s->ends, nat_simplify(ctx, s->lw->facts, nat_add_k(ctx, most, 1)));
}

static void note_ends(void *user, ImpExpr **at)
{
    const ImpExpr *e = *at;
    if (e->kind == IE_OP && e->op.n == 2)
        note_end(user, e);
}

/* Does nothing happen in the trips from there on? */
static bool ends_at(Strides *s, Nat end)
{
    Lowering *lw = s->lw;
    NatFacts *facts = lw->facts;
    lw->facts = nat_facts_new(s->ctx, facts);
    nat_fact_le(s->ctx, lw->facts, nat_const(s->ctx, 0), s->loop->loop.var);
    nat_fact_le(s->ctx, lw->facts, end, nat_add(s->ctx, nat_mul(s->ctx, s->stride, s->loop->loop.var), s->start));
    bool nothing = units_nothing(s->units, lw, &s->loop->loop.body);
    lw->facts = facts;
    return nothing;
}

/* Does the old loop go as far? That is, stride*hi + start >= end; and a / stride * stride > a - stride. */
static bool goes_to(Strides *s, Nat end)
{
    Ctx *ctx = s->ctx;
    Nat hi = s->loop->loop.hi, least = nat_mul(ctx, s->stride, hi);
    if (hi->kind == NAT_DIV && nat_equal(ctx, s->lw->facts, hi->b, s->stride))
        least = nat_add_k(ctx, nat_sub(ctx, hi->a, s->stride), 1);
    return nat_le(ctx, s->lw->facts, end, nat_add(ctx, least, s->start));
}

/* ---- the new loop -------------------------------------------------------------------------------------------------------------- */

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a < 0 ? -a : a;
}

static int64_t common_factor(Ctx *ctx, Nat nat, int64_t with)
{
    for (int i = 0; i < n_terms(nat); i++) {
        Nat term = term_at(ctx, nat, i);
        with = gcd(with, term->kind == NAT_SUM ? term->terms[0].coef : nat_is_const(term) ? term->value : 1);
    }
    return with;
}

static Nat divided(Ctx *ctx, Nat nat, int64_t by) { return nat_div(ctx, nat, nat_const(ctx, by)); }

typedef struct Subst {
    const Strides *strides;
    Nat by; /* stride*v + start */
} Subst;

static Nat subst_nat(void *user, Nat nat)
{
    const Subst *u = user;
    const Strides *s = u->strides;
    if (!nat_mentions(nat, s->loop->loop.var))
        return nat;
    return nat_add(s->ctx, nat_sub(s->ctx, nat_subst(s->ctx, nat, s->loop->loop.var, nat_const(s->ctx, 0)), s->start), u->by);
}

static void subst_stmt(void *user, ImpStmt *s) { map_nats(s, subst_nat, user); }

static void count_in_elements(Strides *s, Nat end)
{
    Ctx *ctx = s->ctx;
    ImpStmt *loop = s->loop;
    int64_t g = common_factor(ctx, s->start, common_factor(ctx, s->step, 0));
    Nat var = nat_var(ctx, s->inside.n ? "tile" : loop->loop.var->name, nat_const(ctx, 0), NULL);
    Subst u = {s, nat_mul_k(ctx, var, g)};
    walk_stmts(&loop->loop.body, subst_stmt, &u);
    loop->loop.var = var;
    loop->loop.tiles = s->inside.n > 0;
    loop->loop.lo = divided(ctx, s->start, g);
    loop->loop.hi = nat_simplify(ctx, s->lw->facts, nat_ceil_div(ctx, end, nat_const(ctx, g)));
    loop->loop.step = divided(ctx, s->step, g);
}

/* Adds that the loop has trips, or that it has none. */
static void assume_trips(Strides *s, bool some)
{
    NatFacts *facts = s->lw->facts = nat_facts_new(s->ctx, s->lw->facts);
    Nat hi = s->loop->loop.hi, a = hi->kind == NAT_DIV ? hi->a : hi, b = hi->kind == NAT_DIV ? hi->b : nat_const(s->ctx, 1);
    if (some)
        nat_fact_le(s->ctx, facts, b, a);
    else
        nat_fact_le(s->ctx, facts, nat_add_k(s->ctx, a, 1), b);
}

/* The new loop has no trip where the old one has none. */
static bool none_without(Strides *s, Nat end)
{
    NatFacts *facts = s->lw->facts;
    assume_trips(s, false);
    bool none = nat_le(s->ctx, s->lw->facts, end, s->start);
    s->lw->facts = facts;
    return none;
}

/* The first end that will do; NULL when there is none. */
static Nat find_end(Strides *s)
{
    Ctx *ctx = s->ctx;
    NatFacts *facts = s->lw->facts;
    Nat found = NULL;
    assume_trips(s, true);
    const Nat hi = s->loop->loop.hi;
    s->step = hi->kind == NAT_DIV && nat_equal(ctx, s->lw->facts, hi->b, s->stride) ? hi->b : s->stride;
    if (nat_le(ctx, facts, nat_const(ctx, 1), s->step) && nat_le(ctx, facts, nat_const(ctx, 0), s->start)) {
        walk_block(&s->loop->loop.body, note_ends, s);
        for (int i = 0; i < s->ends.n && !found; i++)
            if (ends_at(s, s->ends.at[i]) && goes_to(s, s->ends.at[i]))
                found = s->ends.at[i];
    }
    s->lw->facts = facts;
    return found && none_without(s, found) ? found : NULL;
}

static void try_loop(Strides *s, ImpStmt *loop)
{
    Ctx *ctx = s->ctx;
    *s = (Strides){.lw = s->lw, .ctx = ctx, .units = s->units, .loop = loop, .plain = true};
    if (prim_rows[loop->loop.level].level != LEVEL_SEQ || loop->loop.unroll || nat_is_const(loop->loop.hi) || !nat_is(loop->loop.lo, 0) || !nat_is(loop->loop.step, 1))
        return;
    walk_stmts(&loop->loop.body, note_changing, s);
    walk_stmts(&loop->loop.body, look_at_stmt, s);
    if (!s->plain || !s->stride)
        return;
    bool of_block = false;
    for (int i = 0; i < n_terms(s->start); i++)
        of_block |= guard_thread_ids(s->lw, term_at(ctx, s->start, i)).n == 0;
    if (nat_is_const(s->stride) && !of_block)
        return;
    Nat end = find_end(s);
    if (!end)
        return;
    count_in_elements(s, end);
    conditions_in_loop(s->lw, loop);
}

static void stride_block(Strides *s, ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *stmt = block->list.at[i];
        if (stmt->kind == IS_FOR) {
            try_loop(s, stmt);
            NatFacts *facts = s->lw->facts;
            s->lw->facts = nat_facts_new(s->ctx, facts);
            nat_fact_le(s->ctx, s->lw->facts, stmt->loop.lo, stmt->loop.var);
            nat_fact_le(s->ctx, s->lw->facts, nat_add_k(s->ctx, stmt->loop.var, 1), stmt->loop.hi);
            stride_block(s, &stmt->loop.body);
            s->lw->facts = facts;
        }
        if (stmt->kind == IS_IF) {
            stride_block(s, &stmt->branch.then);
            stride_block(s, &stmt->branch.otherwise);
        }
    }
}

void pass_strides(Lowering *lw)
{
    Strides s = {.lw = lw, .ctx = lw->ctx, .units = units_of(lw)};
    lw->facts = nat_facts_new(lw->ctx, (NatFacts *)lw->kernel->known);
    stride_block(&s, &lw->kernel->body);
}
