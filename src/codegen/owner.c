/* Whether two accesses of a buffer meet a cell only from the same thread, where footprints cannot enumerate the cells: by the form of the indices.
 *
 * Both indices must be the same function of the same loops, and that function must be one to one: then a cell tells the values of all variables in
 * it. A hardware id among them, or a loop that hands its trips out by one, is the same on both sides. What those ids leave open (the lanes of a
 * warp, say, when only the warp is told) may still differ.
 *
 * One store of an array is one to one whatever its index looks like, for the views on the writing side only move cells or leave them out; its own
 * parallel maps are told by each cell, then, in every run of the statements around it on which neither its index nor their bounds depend. */
#include "codegen/footprint.h"

enum { MAX_LOOPS = 32, MAX_TERMS = 8, MAX_WIDTH = 16 };

typedef struct Loops {
    const ImpStmt *at[MAX_LOOPS]; /* innermost first */
    int n;
} Loops;

static bool loops_around(const Scope *s, Loops *loops)
{
    loops->n = 0;
    for (; s; s = s->parent)
        if (s->loop) {
            if (loops->n == MAX_LOOPS)
                return false;
            loops->at[loops->n++] = s->loop;
        }
    return true;
}

/* Are the loops around b those around a, with other names, and is b's index then a's, but for a constant? */
static bool same_function(Ctx *ctx, const Access *a, const Access *b, const Loops *la, const Loops *lb, int64_t *shift)
{
    Nat from[MAX_LOOPS], to[MAX_LOOPS];
    int n = 0;
    if (la->n != lb->n)
        return false;
    for (int i = la->n - 1; i >= 0; i--) { /* outermost first */
        const ImpStmt *x = la->at[i], *y = lb->at[i];
        if (nat_subst_many(ctx, y->loop.lo, n, from, to) != x->loop.lo || nat_subst_many(ctx, y->loop.hi, n, from, to) != x->loop.hi ||
            nat_subst_many(ctx, y->loop.step, n, from, to) != x->loop.step)
            return false;
        from[n] = y->loop.var;
        to[n++] = x->loop.var;
    }
    Nat apart = nat_sub(ctx, nat_subst_many(ctx, b->index, n, from, to), a->index);
    *shift = nat_is_const(apart) ? apart->value : 0;
    return nat_is_const(apart);
}

/* ---- one to one ------------------------------------------------------------------------------------------------------------ */

typedef struct Term { /* coefficient * variable */
    Nat coef, var;
} Term;

/* The index as a sum of coefficient * variable, the coefficients over the sizes alone; -1 when it is no such sum. */
static int split_terms(Lowering *lw, Nat index, Term terms[MAX_TERMS])
{
    Ctx *ctx = lw->ctx;
    int n = 0;
    if (index->kind == NAT_VAR && !only_sizes(lw, index)) {
        terms[0] = (Term){nat_const(ctx, 1), index};
        return 1;
    }
    if (index->kind != NAT_SUM)
        return only_sizes(lw, index) ? 0 : -1;
    for (int i = 0; i < index->n_terms; i++) {
        const NatTerm *t = &index->terms[i];
        Term term = {nat_const(ctx, t->coef), NULL};
        for (int k = 0; k < t->n_factors; k++) {
            if (only_sizes(lw, t->factors[k]))
                term.coef = nat_mul(ctx, term.coef, t->factors[k]);
            else if (t->factors[k]->kind != NAT_VAR || term.var)
                return -1;
            else
                term.var = t->factors[k];
        }
        if (!term.var)
            continue;
        int k = 0;
        while (k < n && terms[k].var != term.var)
            k++;
        if (k == MAX_TERMS)
            return -1;
        if (k == n)
            terms[n++] = term;
        else
            terms[k].coef = nat_add(ctx, terms[k].coef, term.coef);
    }
    return n;
}

/* What the conditions that stand around both accesses, and the entry, say. */
static NatFacts *facts_of_both(Lowering *lw, const Access *a, const Access *b)
{
    NatFacts *before = lw->facts, *facts = nat_facts_new(lw->ctx, (NatFacts *)lw->kernel->known);
    lw->facts = facts;
    for (const Scope *s = a->scope; s; s = s->parent)
        for (const Scope *r = b->scope; s->cond && !s->negated && r; r = r->parent)
            if (r->cond && !r->negated && imp_same_value(s->cond, r->cond)) {
                assume(lw, s->cond);
                break;
            }
    lw->facts = before;
    return facts;
}

/* The index of the term with the smallest coefficient that is more than `below`, of those not taken yet; -1: there is none. */
static int next_term(Ctx *ctx, const NatFacts *facts, const Term *terms, int taken, int n, Nat below)
{
    int next = -1;
    for (int i = taken; i < n; i++)
        if (nat_lt(ctx, facts, below, terms[i].coef) && (next < 0 || nat_le(ctx, facts, terms[i].coef, terms[next].coef)))
            next = i;
    return next;
}

/* Each coefficient is more than all smaller terms together can make up: a number in mixed radix, whose digits can be read off. A digit with a negative
 * coefficient counts down from its highest value, as in a reversed row. What the terms can make up is the sum of their highest values, or less where
 * a condition says so: of base*m + i*256 + thread, i*256 + thread is below m where `i*256 + thread < m`. */
static bool one_to_one(Lowering *lw, const NatFacts *facts, Term *terms, int n)
{
    Ctx *ctx = lw->ctx;
    const Nat zero = nat_const(ctx, 0);
    bool down[MAX_TERMS];
    for (int i = 0; i < n; i++) {
        down[i] = nat_lt(ctx, facts, terms[i].coef, zero);
        if (down[i])
            terms[i].coef = nat_sub(ctx, zero, terms[i].coef);
    }
    Nat below = zero, sum = zero; /* the most that the terms taken so far add up to, and their sum; NULL: it counts down somewhere */
    for (int taken = 0; taken < n; taken++) {
        int next = next_term(ctx, facts, terms, taken, n, below);
        if (next < 0 && sum && (next = next_term(ctx, facts, terms, taken, n, sum)) >= 0)
            below = nat_add_k(ctx, terms[next].coef, -1);
        if (next < 0)
            return false;
        Term t = terms[next];
        sum = sum && !down[next] ? nat_add(ctx, sum, nat_mul(ctx, t.coef, t.var)) : NULL;
        terms[next] = terms[taken];
        down[next] = down[taken];
        terms[taken] = t;
        bool last = taken == n - 1;
        if (!t.var->lo || !nat_le(ctx, facts, zero, t.var->lo) || (!last && !t.var->hi))
            return false;
        if (!last)
            below = nat_add(ctx, below, nat_mul(ctx, t.coef, t.var->hi));
    }
    return true;
}

/* Cells whose distance is no multiple of what divides all terms: other parts of vectors. */
static bool never_meet(Lowering *lw, const NatFacts *facts, const Term *terms, int n, int64_t shift)
{
    for (int64_t width = 2; width <= MAX_WIDTH; width *= 2) {
        bool all = shift % width != 0;
        for (int i = 0; i < n && all; i++)
            all = nat_divides(lw->ctx, facts, nat_const(lw->ctx, width), terms[i].coef);
        if (all)
            return true;
    }
    return false;
}

/* ---- who is told -------------------------------------------------------------------------------------------------------------- */

typedef struct Told {
    Lowering *lw;
    bool block[3], thread[3], warp, lane;
} Told;

static void tell(void *user, Nat var)
{
    Told *t = user;
    const ImpKernel *k = t->lw->kernel;
    for (int a = 0; a < 3; a++) {
        t->block[a] |= var == k->block[a];
        t->thread[a] |= var == k->thread[a];
    }
    t->warp |= var == k->warp;
    t->lane |= var == k->lane;
}

/* A loop from id + ... in steps of the number of instances gives each trip to one of them: its variable tells the ids in its start. */
static void tell_loop(Told *t, const ImpStmt *loop)
{
    switch (prim_rows[loop->loop.level].level) {
    case LEVEL_GRID: case LEVEL_BLOCK: case LEVEL_THREAD: case LEVEL_WARP: case LEVEL_LANE: nat_each_var(t->lw->ctx, loop->loop.lo, tell, t); break;
    default: break;
    }
}

/* A condition `id == c` around both accesses. */
static void tell_condition(Told *t, const ImpExpr *e)
{
    if (e->kind != IE_OP || e->op.n != 2)
        return;
    if (e->op.id == P_and) {
        tell_condition(t, e->op.args[0]);
        tell_condition(t, e->op.args[1]);
    } else if (e->op.id == P_eq && e->op.args[0]->kind == IE_NAT && e->op.args[1]->kind == IE_NAT && nat_is_const(e->op.args[1]->nat) &&
               e->op.args[0]->nat->kind == NAT_VAR)
        tell(t, e->op.args[0]->nat);
}

/* Is the same comparison around both? */
static void tell_conditions(Told *t, const Access *a, const Access *b)
{
    for (const Scope *s = a->scope; s; s = s->parent)
        for (const Scope *r = b->scope; s->cond && !s->negated && r; r = r->parent)
            if (r->cond && !r->negated && imp_same_value(s->cond, r->cond)) {
                tell_condition(t, s->cond);
                break;
            }
}

/* ---- one store ---------------------------------------------------------------------------------------------------------------- */

static bool has_block(const ImpBlock *block, const ImpBlock *wanted)
{
    bool found = block == wanted;
    for (int i = 0; i < block->list.n && !found; i++) {
        const ImpStmt *s = block->list.at[i];
        found = (s->kind == IS_FOR && has_block(&s->loop.body, wanted)) ||
                (s->kind == IS_IF && (has_block(&s->branch.then, wanted) || has_block(&s->branch.otherwise, wanted)));
    }
    return found;
}

typedef struct Own {
    Lowering *lw;
    const Loops *loops; /* those of the store's maps, and of what stands around inside the buffer's home */
    bool others;        /* something else is mentioned than sizes, hardware ids, and these loops */
    bool ids_only;      /* not even the loops may be */
} Own;

static void check_own(void *user, Nat var)
{
    Own *own = user;
    Told id = {.lw = own->lw};
    tell(&id, var);
    bool known = id.warp || id.lane || only_sizes(own->lw, var) || imp_is_device_size(var);
    for (int a = 0; a < 3; a++)
        known |= id.block[a] || id.thread[a] || var == own->lw->kernel->grid[a];
    for (int i = 0; i < own->loops->n && !own->ids_only; i++)
        known |= own->loops->at[i]->loop.var == var && prim_rows[own->loops->at[i]->loop.level].level != LEVEL_SEQ;
    own->others |= !known;
}

static const ImpStmt *store_of(const Access *a) { return a->of && a->of->kind == IS_VSTORE ? a->of->vec.first : a->of; }

/* The cells of one vector are one store. */
static bool is_one_store(const Access *a, const Access *b) { return a == b || (a->of && store_of(a) == store_of(b) && !a->last_of && !b->last_of); }

/* Fills *told with what each cell of the store tells, and gives true, where it is one to one as said above. */
static bool tell_store(Told *told, const Access *a, const Loops *all)
{
    Lowering *lw = told->lw;
    const ImpBuf *buf = a->buf;
    Loops loops = {.n = 0};
    if (!a->write || a->unordered || a->atomic || (buf->home && !has_block(&lw->kernel->body, buf->home)))
        return false;
    for (int i = 0; i < all->n && !(buf->home && has_block(&all->at[i]->loop.body, buf->home)); i++)
        loops.at[loops.n++] = all->at[i];
    Own own = {lw, &loops, false, false};
    nat_each_var(lw->ctx, a->index, check_own, &own);
    own.ids_only = true;
    for (int i = 0; i < loops.n; i++)
        if (prim_rows[loops.at[i]->loop.level].level != LEVEL_SEQ) {
            nat_each_var(lw->ctx, loops.at[i]->loop.lo, check_own, &own);
            nat_each_var(lw->ctx, loops.at[i]->loop.step, check_own, &own);
            tell_loop(told, loops.at[i]);
        }
    nat_each_var(lw->ctx, a->index, tell, told);
    return !own.others;
}

/* The same of two accesses whose index says it by its form. */
static bool tell_same(Told *told, const Access *a, const Access *b, const Loops *la, const Loops *lb)
{
    Term terms[MAX_TERMS];
    int64_t shift;
    if (!same_function(told->lw->ctx, a, b, la, lb, &shift))
        return false;
    int n = split_terms(told->lw, a->index, terms);
    if (n < 0)
        return false;
    NatFacts *facts = facts_of_both(told->lw, a, b);
    if (shift && never_meet(told->lw, facts, terms, n, shift)) {
        *told = (Told){told->lw, {true, true, true}, {true, true, true}, true, true};
        return true;
    }
    if (shift || !one_to_one(told->lw, facts, terms, n))
        return false;
    for (int i = 0; i < n; i++) {
        tell(told, terms[i].var);
        for (int k = 0; k < la->n; k++)
            if (la->at[k]->loop.var == terms[i].var)
                tell_loop(told, la->at[k]);
    }
    return true;
}

Owner access_owner(Lowering *lw, const Access *a, const Access *b)
{
    Loops la, lb;
    Told told = {.lw = lw}, none = told;
    if (!loops_around(a->scope, &la) || !loops_around(b->scope, &lb))
        return OWNER_UNKNOWN;
    if (!tell_same(&told, a, b, &la, &lb)) {
        told = none;
        if (!is_one_store(a, b) || !tell_store(&told, a, &la))
            return OWNER_UNKNOWN;
    }
    tell_conditions(&told, a, b);
    const ImpKernel *k = lw->kernel;
    bool block = true, thread = true, warp = told.warp || k->threads[0] * k->threads[1] * k->threads[2] <= 32;
    for (int i = 0; i < 3; i++) {
        block &= told.block[i] || nat_is_const(k->block[i]);
        thread &= told.thread[i] || k->threads[i] == 1;
    }
    if (a->buf->space != SPACE_SHARED && !block)
        return OWNER_UNKNOWN;
    return thread || (warp && told.lane) ? OWNER_THREAD : warp ? OWNER_WARP : OWNER_BLOCK;
}
