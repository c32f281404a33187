/* The loads of neighbours that are read together (together.c, Note [Reading together]): what says
 * that all guards hold, and one access for several cells. */
#include "codegen/guards.h"
#include "codegen/together.h"
#include "codegen/walk.h"

/* ---- guards ------------------------------------------------------------------------------------------------------------ */

ImpExpr *both_hold(Ctx *ctx, ImpExpr *a, ImpExpr *b) { return !a ? b : !b ? a : imp_op2(ctx, P_and, SC_BOOL, a, b, b->span); }

void add_conjuncts(Ctx *ctx, Conjuncts *c, ImpExpr *cond)
{
    if (cond->kind == IE_OP && cond->op.id == P_and) {
        add_conjuncts(ctx, c, cond->op.args[0]);
        add_conjuncts(ctx, c, cond->op.args[1]);
        return;
    }
    c->indices &= cond->kind == IE_OP && cond->op.n == 2 && cond->op.args[0]->kind == IE_NAT && cond->op.args[1]->kind == IE_NAT;
    for (int i = 0; i < c->list.n; i++)
        if (imp_same_value(c->list.at[i], cond))
            return;
    vec_push(ctx, &c->list, cond);
}

/* Is `c` true wherever `d` is, as i < n where i + 3 < n? */
static bool follows_from(Ctx *ctx, const ImpExpr *c, const ImpExpr *d)
{
    Nat a = guard_excess(ctx, c), b = guard_excess(ctx, d), apart = a && b ? nat_sub(ctx, a, b) : NULL;
    return apart && nat_is_const(apart) && apart->value <= 0;
}

static bool follows_from_others(Lowering *lw, const Conjuncts *c, int which)
{
    for (int i = 0; i < c->list.n; i++)
        if (i != which && follows_from(lw->ctx, c->list.at[which], c->list.at[i]))
            return true;
    NatFacts *facts = lw->facts;
    int end = which < c->safe ? c->safe : c->list.n;
    lw->facts = nat_facts_new(lw->ctx, facts);
    for (int i = 0; i < c->list.n; i++)
        if (i != which && i < end)
            assume(lw, c->list.at[i]);
    bool follows = cond_is(lw, c->list.at[which], true);
    lw->facts = facts;
    return follows;
}

/* Conditions that cannot divide by 0 come first, and keep the others from it. */
static void safe_first(Lowering *lw, Conjuncts *c)
{
    Conjuncts others = {0};
    for (int i = 0; i < c->list.n; i++)
        if (may_divide_by_0(lw, c->list.at[i]))
            vec_push(lw->ctx, &others.list, c->list.at[i]);
        else
            c->list.at[c->safe++] = c->list.at[i];
    for (int i = 0; i < others.list.n; i++)
        c->list.at[c->safe + i] = others.list.at[i];
}

ImpExpr *all_hold(Lowering *lw, ImpExpr *const *guards, int n)
{
    Conjuncts c = {.indices = true};
    for (int k = 0; k < n; k++)
        if (guards[k])
            add_conjuncts(lw->ctx, &c, guards[k]);
    if (!c.indices || !c.list.n)
        return NULL;
    safe_first(lw, &c);
    for (int i = 0; i < c.list.n && c.list.n > 1;)
        if (follows_from_others(lw, &c, i)) {
            c.safe -= i < c.safe;
            for (int k = i + 1; k < c.list.n; k++)
                c.list.at[k - 1] = c.list.at[k];
            c.list.n--;
        } else
            i++;
    ImpExpr *all = c.list.at[0];
    for (int i = 1; i < c.list.n; i++)
        all = imp_op2(lw->ctx, P_and, SC_BOOL, all, c.list.at[i], all->span);
    return all;
}

/* ---- one access -------------------------------------------------------------------------------------------------------- */

static bool any_guard(const Places *p, int k, int n)
{
    bool any = false;
    for (int j = k; j < k + n; j++)
        any |= p->guard[j] != NULL;
    return any;
}

/* How many of the loads from number k on are one access where all guards hold. That it starts at a multiple of its width has to
 * be so where it is put: guards around single cells may say it of what is not loaded. */
static int load_width(Together *t, const Places *p, int k)
{
    const ImpExpr *first = *p->at[k];
    const ImpBuf *buf = first->mem.buf;
    if (buf->by_value)
        return 1;
    for (int w = IMP_VECTOR_MAX; w > 1; w /= 2) {
        if (w > t->n - k || imp_vector_width(buf->elem, w) != w || w * scalar_bytes(buf->elem) < ACCESS_BYTES_MIN)
            continue;
        bool fits = nat_divides(t->ctx, t->facts, nat_const(t->ctx, w), first->mem.index);
        for (int j = 1; j < w && fits; j++) {
            const ImpExpr *e = *p->at[k + j];
            fits = e->kind == IE_LOAD && e->mem.buf == buf && nat_is(nat_sub(t->ctx, e->mem.index, first->mem.index), j);
        }
        if (fits)
            return w;
    }
    return 1;
}

static ImpStmt *vector_load(Together *t, ImpBlock *into, ImpVar *var, const ImpExpr *first, bool declares)
{
    ImpStmt *s = imp_stmt(t->ctx, into, IS_VLOAD, first->span);
    s->vec.var = var;
    s->vec.buf = first->mem.buf;
    s->vec.index = first->mem.index;
    s->vec.n = var->slots;
    s->vec.declares = declares;
    return s;
}

/* The cells one by one, those whose guards may hold though not all do. `others`: instead of the rest. */
static ImpStmt *tail_load(Together *t, ImpBlock *into, ImpVar *var, const Places *p, int k, const ImpExpr *all, ImpExpr *const *others)
{
    Lowering *lw = t->lw;
    NatFacts *facts = lw->facts;
    ImpStmt *s = imp_stmt(t->ctx, into, IS_VSET, t->span);
    s->vec.var = var;
    s->vec.n = var->slots;
    lw->facts = nat_facts_new(t->ctx, facts);
    assume_not(lw, all);
    bool any = false;
    for (int j = 0; j < var->slots; j++) {
        ImpExpr *guard = p->guard[k + j];
        bool none = guard && (imp_same_value(guard, all) || condition_fails(lw, guard));
        any |= !none;
        s->vec.values[j] = none ? others[j] : guard ? imp_cond(t->ctx, guard, *p->at[k + j], others[j], t->span) : *p->at[k + j];
    }
    lw->facts = facts;
    s->vec.declares = !any; /* for the caller: it is the start */
    return s;
}

/* The same cells, under the same guard. */
static bool is_same_access(const Access *a, const ImpExpr *first, int w, const ImpExpr *all)
{
    return a->first->mem.buf == first->mem.buf && a->first->mem.index == first->mem.index && a->var->slots == w && !a->all == !all && (!all || imp_same_value(a->all, all));
}

/* Does each cell have the same guard, and the same value where that does not hold? i + 3 < n says
 * that all hold of i < n, i + 1 < n, ..., and also of i + 3 < n four times. */
static bool is_same_otherwise(const Access *a, ImpExpr *const *guards, ImpExpr *const *others)
{
    bool same = true;
    for (int j = 0; a->all && j < a->var->slots && same; j++)
        same = !a->guards[j] == !guards[j] && (!guards[j] || imp_same_value(a->guards[j], guards[j])) &&
               imp_same_value(a->others[j], others[j]);
    return same;
}

/* The statement that asks this already, and where it stands among the loads; NULL: none does. */
static ImpStmt *same_choice(const Together *t, const ImpExpr *all, int *at)
{
    ImpStmt *choice = NULL;
    for (int i = 0; i < t->accesses.n && !choice; i++)
        if (t->accesses.at[i].choice && imp_same_value(t->accesses.at[i].all, all))
            choice = t->accesses.at[i].choice;
    for (int i = 0; i < t->loads.list.n; i++)
        if (t->loads.list.at[i] == choice)
            *at = i;
    return choice;
}

/* `loaded`: a register that has the cells where all guards hold; or NULL. */
static ImpStmt *guarded_load(Together *t, ImpVar *var, const Places *p, int k, ImpExpr *all, ImpExpr *const *others, ImpVar *loaded)
{
    ImpBlock tail = {{0}};
    int at = t->loads.list.n;
    ImpStmt *choice = same_choice(t, all, &at), *start = tail_load(t, &tail, var, p, k, all, others);
    if (!choice) {
        choice = imp_stmt(t->ctx, &t->loads, IS_IF, t->span);
        choice->branch.cond = all;
    }
    if (!start->vec.declares) {
        vec_push(t->ctx, &choice->branch.otherwise.list, start);
        start = imp_stmt(t->ctx, NULL, IS_DECL, t->span);
        start->var.var = var;
    }
    block_insert(t->ctx, &t->loads, at, start);
    if (!loaded) {
        vector_load(t, &choice->branch.then, var, *p->at[k], false);
        return choice;
    }
    ImpStmt *copy = imp_stmt(t->ctx, &choice->branch.then, IS_VSET, t->span);
    copy->vec.var = var;
    copy->vec.n = var->slots;
    for (int j = 0; j < var->slots; j++)
        copy->vec.values[j] = imp_var(t->ctx, loaded, nat_const(t->ctx, j), t->span);
    return choice;
}

/* Loads w cells from number k on into a vector register. `others`: what its parts are where guards do not hold. */
static ImpVar *load_here(Together *t, const Places *p, int k, int w, ImpExpr *const *others)
{
    const ImpExpr *first = *p->at[k];
    ImpExpr *all = all_hold(t->lw, p->guard + k, w);
    if (!all && any_guard(p, k, w))
        return NULL;
    ImpVar *loaded = NULL;
    for (int i = 0; i < t->accesses.n; i++) {
        const Access *a = &t->accesses.at[i];
        if (is_same_access(a, first, w, all) && is_same_otherwise(a, p->guard + k, others))
            return a->var;
        if (is_same_access(a, first, w, all) && !loaded)
            loaded = a->var;
    }
    ImpVar *var = lower_new_var(t->lw, t->name, first->type, t->span);
    var->slots = w;
    var->vector = true;
    var->constant = !all;
    buf_needs(first->mem.buf, w);
    Access access = {.first = first, .all = all, .var = var};
    if (all) {
        memcpy(access.guards, p->guard + k, sizeof *p->guard * (size_t)w);
        memcpy(access.others, others, sizeof *others * (size_t)w);
        access.choice = guarded_load(t, var, p, k, all, others, loaded);
    } else
        vector_load(t, &t->loads, var, first, true);
    vec_push(t->ctx, &t->accesses, access);
    return var;
}

static ImpVar *load_cells(Together *t, const Places *p, int k, int w, ImpExpr *const *others)
{
    NatFacts *facts = t->lw->facts;
    t->lw->facts = t->facts;
    ImpVar *var = load_here(t, p, k, w, others);
    t->lw->facts = facts;
    return var;
}

static ImpExpr *pad_of(Together *t, Scalar type) { return imp_lit(t->ctx, t->pad ? scalar_cast(type, *t->pad) : scalar_int(type, 0), t->span); }

/* Is d <= 0 said in so many words? */
static bool is_said(Ctx *ctx, const ImpExpr *guard, Nat d)
{
    if (guard->kind == IE_OP && guard->op.id == P_and)
        return is_said(ctx, guard->op.args[0], d) || is_said(ctx, guard->op.args[1], d);
    Nat known = guard_excess(ctx, guard), apart = known ? nat_sub(ctx, d, known) : NULL;
    return apart && nat_is_const(apart) && apart->value <= 0;
}

/* Is the cell there, in memory that nobody changes, wherever the guard holds? */
static bool is_there(Together *t, const ImpExpr *cell, const ImpExpr *guard)
{
    Lowering *lw = t->lw;
    const ImpBuf *buf = cell->mem.buf;
    Nat index = cell->mem.index, end = nat_add_k(t->ctx, index, 1), count = buf->count;
    NatFacts *facts = lw->facts;
    lw->facts = nat_facts_new(t->ctx, t->facts);
    if (guard)
        assume(lw, guard);
    bool there = (buf->space == SPACE_INPUT || buf->complete) && nat_le(t->ctx, lw->facts, nat_const(t->ctx, 0), index) &&
                 ((guard && is_said(t->ctx, guard, nat_sub(t->ctx, end, count))) || nat_le(t->ctx, lw->facts, end, count));
    lw->facts = facts;
    return there;
}

/* May these cells be loaded though nobody may ask for them? */
static bool are_there(Together *t, const Places *p, int k, int w)
{
    bool there = true;
    for (int j = k; j < k + w && there; j++)
        there = is_there(t, *p->at[j], p->guard[j]);
    return there;
}

void join_loads(Together *t, const Places *p, ImpExpr **const *whole, ImpExpr *const *otherwise)
{
    for (int k = 0, w; k < t->n; k += w) {
        w = load_width(t, p, k);
        if (w == 1 || (t->sometimes && !are_there(t, p, k, w)))
            continue;
        ImpExpr *others[IMP_VECTOR_MAX];
        for (int j = 0; j < w; j++)
            others[j] = otherwise ? otherwise[k + j] : pad_of(t, (*p->at[k])->type);
        ImpVar *var = load_cells(t, p, k, w, others);
        for (int j = 0; j < w && var; j++)
            *(whole ? whole : p->at)[k + j] = imp_var(t->ctx, var, nat_const(t->ctx, j), t->span);
    }
}

/* ---- cells that are loaded already --------------------------------------------------------------------------------------- */

typedef struct Covered {
    const Together *t;
    const Access *by;   /* cells that are loaded whatever holds */
    const ImpVar *narrow; /* whose slots are these cells from number `first` on; NULL: loads of single cells are looked at */
    int64_t first;
} Covered;

/* Which of the cells it is; -1: none. */
static int64_t cell_of(const Covered *c, const ImpBuf *buf, Nat index)
{
    const ImpExpr *first = c->by->first;
    Nat apart = buf == first->mem.buf ? nat_sub(c->t->ctx, index, first->mem.index) : NULL;
    return apart && nat_is_const(apart) && apart->value >= 0 && apart->value < c->by->var->slots ? apart->value : -1;
}

static void read_covered(void *user, ImpExpr **at)
{
    const Covered *c = user;
    const ImpExpr *e = *at;
    int64_t cell = -1;
    if (c->narrow && e->kind == IE_VAR && e->var.var == c->narrow && nat_is_const(e->var.slot))
        cell = c->first + e->var.slot->value;
    if (!c->narrow && e->kind == IE_LOAD)
        cell = cell_of(c, e->mem.buf, e->mem.index);
    if (cell >= 0)
        *at = imp_var(c->t->ctx, c->by->var, nat_const(c->t->ctx, cell), e->span);
}

/* In all that comes after the loads. */
static void walk_after(const Together *t, Covered *c)
{
    ImpBlock emitted = stmts_from(t->lw->out, t->from);
    walk_block(&emitted, read_covered, c);
    for (int i = 0; i < t->exprs.n; i++)
        walk_expr(t->exprs.at[i], read_covered, c);
}

static void drop_load(Together *t, const ImpVar *var)
{
    for (int i = 0; i < t->loads.list.n; i++)
        if (t->loads.list.at[i]->kind == IS_VLOAD && t->loads.list.at[i]->vec.var == var) {
            block_remove(&t->loads, i);
            return;
        }
}

/* Loads of fewer cells, and of single ones, give way to one that has them. */
void share_loads(Together *t)
{
    if (t->from < 0)
        return;
    for (int i = 0; i < t->accesses.n; i++) {
        Covered c = {.t = t, .by = &t->accesses.at[i]};
        const ImpBuf *buf = c.by->first->mem.buf;
        if (c.by->all || (buf->space != SPACE_INPUT && !buf->complete))
            continue;
        walk_after(t, &c);
        for (int k = 0; k < t->accesses.n; k++) {
            const Access *narrow = &t->accesses.at[k];
            const int cells = c.by->var->slots;
            c.first = cell_of(&c, narrow->first->mem.buf, narrow->first->mem.index);
            if (narrow->all || narrow->var->slots >= cells || c.first < 0 || c.first + narrow->var->slots > cells)
                continue;
            c.narrow = narrow->var;
            walk_after(t, &c);
            drop_load(t, narrow->var);
        }
    }
}
