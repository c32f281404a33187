/* Guards around what padded loads are made into (together.c, Note [Reading together]).
 *
 *   v = {i < n ? xs[i] : 0, ...}; i < n ? f(v.x) : c, ...  ->  f(v.x), ...    where f(0) is c
 *
 * Loads are padded with a value of which f makes c, to the bit, if there is one: literals are tried.
 * The same goes for registers that an `if` sets on both sides. Where the guard does not hold, f
 * computes with the padding of all its loads. So these have to be loaded already, under guards that say
 * what this one says, and nothing else may be read. What f gives is computed here only with functions
 * that are exact on every machine (literal_expr). */
#include "codegen/literals.h"
#include "codegen/together.h"
#include "codegen/walk.h"

typedef struct Known { /* a register, while statements are gone through */
    const ImpVar *var;
    ScalarValue value;
    bool inside; /* declared among these */
} Known;

typedef struct Trial {
    const Together *t;
    const ImpExpr *guard;   /* does not hold */
    const ScalarValue *pad; /* of all loads; NULL: they are registers, with paddings of their own */
    VEC(Known) known;
} Trial;

/* Does the guard say what the condition says, in so many words? */
static bool says(const ImpExpr *guard, const ImpExpr *cond)
{
    if (cond->kind == IE_OP && cond->op.id == P_and)
        return says(guard, cond->op.args[0]) && says(guard, cond->op.args[1]);
    if (imp_same_value(guard, cond))
        return true;
    return guard->kind == IE_OP && guard->op.id == P_and && (says(guard->op.args[0], cond) || says(guard->op.args[1], cond));
}

/* What a register that was loaded has where the guard does not hold. */
static bool padding(const Trial *trial, const ImpExpr *e, ScalarValue *value)
{
    for (int i = 0; i < trial->t->accesses.n && nat_is_const(e->var.slot); i++) {
        const Access *a = &trial->t->accesses.at[i];
        int k = (int)e->var.slot->value;
        if (a->var == e->var.var)
            return a->all && a->guards[k] && says(a->guards[k], trial->guard) &&
                   literal_value(a->others[k], value);
    }
    return false;
}

static Known *find_known(const Trial *trial, const ImpVar *var)
{
    for (int i = trial->known.n - 1; i >= 0; i--)
        if (trial->known.at[i].var == var)
            return &trial->known.at[i];
    return NULL;
}

/* Registers and loads; what is left to be loaded has no value. */
static bool known_here(void *user, const ImpExpr *e, ScalarValue *value)
{
    const Trial *trial = user;
    const Known *known = e->kind == IE_VAR ? find_known(trial, e->var.var) : NULL;
    if (known)
        *value = known->value;
    if (e->kind == IE_LOAD && trial->pad)
        *value = scalar_cast(e->type, *trial->pad);
    return known || (e->kind == IE_LOAD && trial->pad) || (e->kind == IE_VAR && padding(trial, e, value));
}

/* Goes through the statements, which set registers and do nothing else. False: they do, or it is not
 * known to what. */
static bool run(Trial *trial, const ImpBlock *block)
{
    Ctx *ctx = trial->t->ctx;
    for (int i = 0; i < block->list.n; i++) {
        const ImpStmt *s = block->list.at[i];
        ScalarValue value = {.type = SC_BOOL};
        if (s->kind != IS_DECL && s->kind != IS_SET)
            return false;
        Known *known = s->kind == IS_SET ? find_known(trial, s->var.var) : NULL;
        if (s->var.var->slots != 1 || s->var.var->nat || !s->var.value ||
            !literal_expr(s->var.value, known_here, trial, &value))
            return false;
        if (known)
            known->value = value;
        else
            vec_push(ctx, &trial->known, ((Known){s->var.var, value, s->kind == IS_DECL}));
    }
    return true;
}

/* Do both sides give the same registers the same values? */
static bool same_effects(Trial *trial, const ImpStmt *choice)
{
    Trial other = {trial->t, trial->guard, trial->pad, {0}};
    if (!run(trial, &choice->branch.then) || !run(&other, &choice->branch.otherwise))
        return false;
    int set[2] = {0, 0};
    for (int i = 0; i < other.known.n; i++)
        set[1] += !other.known.at[i].inside;
    for (int i = 0; i < trial->known.n; i++) {
        const Known *a = &trial->known.at[i], *b = find_known(&other, a->var);
        if (!a->inside && (!b || b->inside || !literal_same(a->value, b->value)))
            return false;
        set[0] += !a->inside;
    }
    return set[0] == set[1];
}

ImpExpr *index_part(Ctx *ctx, ImpExpr *cond)
{
    if (cond->kind != IE_OP || cond->op.n != 2)
        return NULL;
    if (cond->op.id != P_and)
        return cond->op.args[0]->kind == IE_NAT && cond->op.args[1]->kind == IE_NAT ? cond : NULL;
    return both_hold(ctx, index_part(ctx, cond->op.args[0]), index_part(ctx, cond->op.args[1]));
}

/* The rest of it. */
static ImpExpr *data_part(Ctx *ctx, ImpExpr *cond)
{
    if (cond->kind == IE_OP && cond->op.id == P_and)
        return both_hold(ctx, data_part(ctx, cond->op.args[0]), data_part(ctx, cond->op.args[1]));
    return index_part(ctx, cond) ? NULL : cond;
}

/* Is the guarded value also the right one where its guard does not hold? */
static bool is_right(const Together *t, const Guarded *g, const ScalarValue *pad)
{
    Trial trial = {.t = t, .pad = pad};
    ScalarValue value, otherwise, holds = {.type = SC_BOOL, .u = 1};
    if (g->choice) {
        trial.guard = g->choice->branch.cond;
        return same_effects(&trial, g->choice);
    }
    const ImpExpr *e = *g->at, *rest = data_part(t->ctx, e->cond.cond);
    trial.guard = index_part(t->ctx, e->cond.cond);
    if (!trial.guard || !literal_value(e->cond.otherwise, &otherwise) ||
        !literal_expr(e->cond.then, known_here, &trial, &value))
        return false;
    return (!rest || literal_expr(rest, known_here, &trial, &holds)) &&
           (!holds.u || literal_same(value, otherwise));
}

static bool all_right(const Together *t, const Guarded *g, int n, const ScalarValue *pad)
{
    for (int k = 0; k < n; k++)
        if (!is_right(t, &g[k], pad))
            return false;
    return n > 0;
}

/* The literals that are tried: 0, 1, and what the first guarded value is otherwise. */
static int candidates(const Guarded *first, ScalarValue *pads)
{
    const ImpExpr *otherwise = first->choice ? NULL : (*first->at)->cond.otherwise;
    const ImpBlock *list = first->choice ? &first->choice->branch.otherwise : NULL;
    int n = 0;
    pads[n++] = scalar_int(SC_I32, 0);
    pads[n++] = scalar_int(SC_I32, 1);
    if (list && list->list.n && list->list.at[0]->kind == IS_SET)
        otherwise = list->list.at[0]->var.value;
    return n + (otherwise && literal_value(otherwise, &pads[n]));
}

/* A padding of all loads with which the values are right without their guards; false: none is. */
static bool padding_for(const Together *t, const Guarded *g, int n, ScalarValue *pad)
{
    ScalarValue pads[3];
    int tried = n ? candidates(&g[0], pads) : 0;
    for (int i = 0; i < tried; i++)
        if (all_right(t, g, n, &pads[i])) {
            *pad = pads[i];
            return true;
        }
    return false;
}

static void open_choice(Ctx *ctx, ImpBlock *list, const ImpStmt *choice)
{
    int at = 0;
    while (list->list.at[at] != choice)
        at++;
    block_remove(list, at);
    for (int i = 0; i < choice->branch.then.list.n; i++)
        block_insert(ctx, list, at + i, choice->branch.then.list.at[i]);
}

static void drop_guard(Together *t, const Guarded *g)
{
    if (g->choice) {
        open_choice(t->ctx, t->lw->out, g->choice);
        return;
    }
    ImpExpr *e = *g->at, *rest = data_part(t->ctx, e->cond.cond);
    *g->at = rest ? imp_cond(t->ctx, rest, e->cond.then, e->cond.otherwise, e->span) : e->cond.then;
}

const ScalarValue *begin_guarded(Together *t, const Guarded *g, int n, ScalarValue *pad)
{
    const ScalarValue *before = t->pad;
    if (padding_for(t, g, n, pad))
        t->pad = pad;
    return before;
}

void end_guarded(Together *t, const Guarded *g, int n, const ScalarValue *before)
{
    t->pad = before;
    if (all_right(t, g, n, NULL))
        for (int k = 0; k < n; k++)
            drop_guard(t, &g[k]);
}
