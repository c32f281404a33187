/* Pads before functions: what is fetched a step ahead waits in registers as it is in memory, and is computed with where it is used. Part of pass 2, prefetch.
 *
 *   i < n ? f(xs[i]) : f(0)                                    ->  f(i < n ? xs[i] : 0)
 *   x = {f(0), ...}; if (i < n) { y = xs[i..]; x = f(y) }      ->  y = {0, ...}; if (i < n) y = xs[i..]; x = f(y)
 *
 * Otherwise, a thread would wait for its loads before it computes the step in between. Only a function whose value for some padding is known to be the old
 * padding goes: a conversion, a product with a constant, max(x, 0). */
#include "codegen/literals.h"
#include "codegen/lowering.h"
#include "codegen/walk.h"

typedef struct Padding { /* a value for what is loaded */
    const ImpExpr *loaded; /* this, or any component of */
    const ImpVar *vector;  /* this register */
    ScalarValue value;
} Padding;

static bool padding_is(void *user, const ImpExpr *e, ScalarValue *value)
{
    const Padding *p = user;
    if (e != p->loaded && !(p->vector && e->kind == IE_VAR && e->var.var == p->vector))
        return false;
    *value = p->value;
    return true;
}

static bool gives(const ImpExpr *e, Padding *p, ScalarValue pad)
{
    ScalarValue value;
    return literal_expr(e, padding_is, p, &value) && literal_same(value, pad);
}

/* Finds a padding of this type with which all of the expressions are `pads`. */
static bool find_padding(Padding *p, Scalar type, int n, ImpExpr *const *values, const ScalarValue *pads)
{
    const ScalarValue tried[] = {scalar_cast(type, pads[0]), scalar_cast(type, scalar_int(SC_I32, 0))};
    for (size_t t = 0; t < sizeof tried / sizeof *tried; t++) {
        int same = 0;
        p->value = tried[t];
        while (same < n && gives(values[same], p, pads[same]))
            same++;
        if (same == n)
            return true;
    }
    return false;
}

/* ---- of a number ----------------------------------------------------------------------------------------------------------- */

/* A cell of memory, or of memory or a literal. */
static bool is_loaded(const ImpExpr *e)
{
    return e->kind == IE_LOAD || (e->kind == IE_COND && is_loaded(e->cond.then) && e->cond.otherwise->kind == IE_LIT);
}

/* How often the expression loads; *at is where it does. */
static int loads_in(ImpExpr **e, ImpExpr ***at)
{
    int n = 0;
    if (is_loaded(*e)) {
        *at = e;
        return 1;
    }
    if ((*e)->kind == IE_CAST)
        return loads_in(&(*e)->cast.value, at);
    for (int i = 0; (*e)->kind == IE_OP && i < (*e)->op.n; i++)
        n += loads_in(&(*e)->op.args[i], at);
    return n;
}

static void pad_first(void *user, ImpExpr **at)
{
    Ctx *ctx = user;
    ImpExpr *e = *at, **loaded;
    ScalarValue pad;
    if (e->kind != IE_COND)
        return;
    pad_first(ctx, &e->cond.then);
    if (is_loaded(e->cond.then) || loads_in(&e->cond.then, &loaded) != 1 || !literal_value(e->cond.otherwise, &pad))
        return;
    Padding p = {.loaded = *loaded};
    if (!find_padding(&p, (*loaded)->type, 1, &e->cond.then, &pad))
        return;
    *loaded = imp_cond(ctx, e->cond.cond, *loaded, imp_lit(ctx, p.value, e->span), e->span);
    *at = e->cond.then;
}

/* ---- of a vector ------------------------------------------------------------------------------------------------------------ */

typedef struct Mentions {
    const ImpVar *var;
    int n;
} Mentions;

static void count_mention(void *user, ImpExpr **at)
{
    Mentions *m = user;
    m->n += (*at)->kind == IE_VAR && (*at)->var.var == m->var;
}

static void count_elsewhere(void *user, ImpStmt *s)
{
    if (s->kind != IS_STORE && s->kind != IS_VSTORE)
        walk_own(s, count_mention, user);
}

static bool is_copy_of(const ImpStmt *set, const ImpVar *var)
{
    bool copy = true;
    for (int k = 0; k < set->vec.n && copy; k++)
        copy = set->vec.values[k]->kind == IE_VAR && set->vec.values[k]->var.var == var;
    return copy;
}

/* if (...) { y = xs[i..]; x = f(y); ... }: the load. NULL: the statement is no such thing. */
static ImpStmt *loads_alone(const ImpStmt *guard)
{
    const ImpBlock *then = &guard->branch.then;
    if (guard->kind != IS_IF || guard->branch.otherwise.list.n || then->list.n < 2)
        return NULL;
    ImpStmt *load = then->list.at[0];
    bool copies = true;
    if (load->kind != IS_VLOAD || !load->vec.declares)
        return NULL;
    for (int i = 1; i < then->list.n; i++) {
        if (then->list.at[i]->kind != IS_VSET || then->list.at[i]->vec.declares)
            return NULL;
        copies = copies && is_copy_of(then->list.at[i], load->vec.var);
    }
    return copies ? NULL : load;
}

/* Where one of the statements right before number `at` gives the vector literals; -1: none does. */
static int padded_at(const ImpBlock *block, int at, const ImpVar *vector, ScalarValue *pads)
{
    while (--at >= 0 && block->list.at[at]->kind == IS_VSET && block->list.at[at]->vec.declares) {
        const ImpStmt *pad = block->list.at[at];
        if (pad->vec.var != vector)
            continue;
        for (int k = 0; k < pad->vec.n; k++)
            if (!literal_value(pad->vec.values[k], &pads[k]))
                return -1;
        return at;
    }
    return -1;
}

/* Is there one padding for all vectors that are made of the load? */
static bool can_be_late(ImpBlock *all, const ImpBlock *block, int at, Padding *p)
{
    const ImpBlock *then = &block->list.at[at]->branch.then;
    const ImpStmt *load = then->list.at[0];
    ScalarValue pads[IMP_VECTOR_MAX];
    p->vector = load->vec.var;
    for (int i = 1; i < then->list.n; i++) {
        const ImpStmt *set = then->list.at[i];
        const ScalarValue before = p->value;
        if (padded_at(block, at, set->vec.var, pads) < 0 || !find_padding(p, load->vec.var->type, set->vec.n, set->vec.values, pads) ||
            (i > 1 && !literal_same(p->value, before)))
            return false;
        Mentions m = {set->vec.var, 0};
        walk_stmts(all, count_elsewhere, &m);
        if (m.n > 0)
            return false;
    }
    return true;
}

/* Returns where the statements behind the guard begin. */
static int pad_vectors_first(Lowering *lw, ImpBlock *all, ImpBlock *block, int at, LateValues *late)
{
    Ctx *ctx = lw->ctx;
    ImpStmt *guard = block->list.at[at], *load = loads_alone(guard);
    Padding p = {NULL};
    if (!load || !can_be_late(all, block, at, &p))
        return at + 1;
    ImpVar *loaded = load->vec.var;
    ScalarValue pads[IMP_VECTOR_MAX];
    for (int behind = 1; guard->branch.then.list.n > 1; behind++) {
        ImpStmt *set = guard->branch.then.list.at[1];
        block_remove(&guard->branch.then, 1);
        block_remove(block, padded_at(block, at--, set->vec.var, pads));
        set->vec.declares = set->vec.var->constant = true;
        block_insert(ctx, block, at + behind, set);
        vec_push(ctx, late, ((LateValue){loaded, set->vec.var}));
    }
    ImpStmt *pad = imp_stmt(ctx, NULL, IS_VSET, load->span);
    pad->vec.var = loaded;
    pad->vec.n = loaded->slots;
    pad->vec.declares = true;
    for (int k = 0; k < loaded->slots; k++)
        pad->vec.values[k] = imp_lit(ctx, p.value, load->span);
    load->vec.declares = loaded->constant = false;
    block_insert(ctx, block, at, pad);
    return at + 2;
}

void pads_first(Lowering *lw, ImpBlock *all, ImpBlock *block, LateValues *late)
{
    for (int i = 0; i < block->list.n;) {
        ImpStmt *s = block->list.at[i];
        walk_own(s, pad_first, lw->ctx);
        if (s->kind == IS_IF) {
            pads_first(lw, all, &s->branch.then, late);
            pads_first(lw, all, &s->branch.otherwise, late);
            i = pad_vectors_first(lw, all, block, i, late);
        } else {
            i++;
        }
    }
}
