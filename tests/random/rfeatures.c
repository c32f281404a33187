#include "rfeatures.h"

const char *const feature_names[FEATURES] = {"let with several readers", "rank 3",
                                             "if over sizes",            "if over data",
                                             "several results",          "array state",
                                             "axis of 0",                "axis of 1"};

typedef struct Look {
    const CoreEntry *entry;
    const int64_t *sizes;
    unsigned found;
} Look;

static void find(Look *l, Feature feature, bool there)
{
    l->found |= there ? 1u << feature : 0;
}

static bool computes(const Core *e)
{
    PrimLevel level = e->kind == CORE_PRIM ? prim_rows[e->prim.id].level : LEVEL_VIEW;
    return level == LEVEL_HIGH || level == LEVEL_SEQ;
}

static bool has_array(Type t)
{
    for (int k = 0; t->kind == TY_TUPLE && k < t->n_items; k++)
        if (has_array(t->items[k]))
            return true;
    return t->kind == TY_ARRAY;
}

/* Calls `visit` for each part of a term. */
static void each_part(const Core *e, void (*visit)(const Core *part, void *user), void *user)
{
    switch (e->kind) {
    case CORE_PRIM:
        for (int k = 0; k < e->prim.n_args; k++)
            visit(e->prim.args[k], user);
        break;
    case CORE_LAMBDA: visit(e->lambda.body, user); break;
    case CORE_LET:
        visit(e->let.value, user);
        visit(e->let.body, user);
        break;
    case CORE_TUPLE:
        for (int k = 0; k < e->tuple.n; k++)
            visit(e->tuple.items[k], user);
        break;
    case CORE_PROJ: visit(e->proj.value, user); break;
    case CORE_IF:
        visit(e->cond.cond, user);
        visit(e->cond.then, user);
        visit(e->cond.otherwise, user);
        break;
    default: break;
    }
}

/* ---- readers ---------------------------------------------------------------------------------- */

typedef struct Reading {
    const CoreVar *var;
    const Core *around, *first; /* what computes here, and what read it first */
    bool several;
} Reading;

static void look_for_readers(const Core *e, void *user)
{
    Reading *r = user;
    const Core *around = r->around;
    if (e->kind == CORE_VAR && e->var == r->var && around) {
        r->several |= r->first && r->first != around;
        r->first = r->first ? r->first : around;
    }
    if (computes(e))
        r->around = e;
    each_part(e, look_for_readers, r);
    r->around = around;
}

static void look_for_work(const Core *e, void *user)
{
    bool *found = user;
    *found |= computes(e);
    each_part(e, look_for_work, found);
}

static bool is_shared(const Core *let)
{
    bool computed = false;
    look_for_work(let->let.value, &computed);
    Reading r = {.var = let->let.var};
    look_for_readers(let->let.body, &r);
    return computed && has_array(let->let.var->type) && r.several;
}

/* ---- conditions ------------------------------------------------------------------------------- */

static void look_for_data(const Core *e, void *user)
{
    unsigned *kinds = user;
    *kinds |= e->kind == CORE_VAR && e->var->type->kind != TY_IDX ? 2u : e->kind == CORE_SIZE ? 1u : 0;
    each_part(e, look_for_data, user);
}

static void look_at_if(Look *l, const Core *e)
{
    unsigned kinds = 0; /* 1: sizes, 2: data */
    look_for_data(e->cond.cond, &kinds);
    find(l, FEATURE_IF_SIZES, kinds == 1 && has_array(e->type));
    find(l, FEATURE_IF_DATA, kinds & 2 && has_array(e->type));
}

/* ---- axes ------------------------------------------------------------------------------------- */

static bool size_value(void *user, Nat var, int64_t *value)
{
    const Look *l = user;
    for (int k = 0; k < l->entry->n_sizes; k++)
        if (l->entry->sizes[k] == var) {
            *value = l->sizes[k];
            return true;
        }
    return false;
}

static void look_at_length(Look *l, Type over)
{
    int64_t n;
    if (!l->sizes || over->kind != TY_ARRAY || nat_eval(over->size, size_value, l, &n) != NAT_EVAL_OK)
        return;
    find(l, FEATURE_AXIS_0, n == 0);
    find(l, FEATURE_AXIS_1, n == 1);
}

/* What is computed with so many axes around it. */
static void look(Look *l, const Core *e, int axes);

static void look_at_prim(Look *l, const Core *e, int axes)
{
    PrimId id = e->prim.id;
    bool opens = id == P_map || id == P_generate, whole = id == P_scan || id == P_scanExcl;
    for (int k = 0; k < e->prim.n_args; k++)
        look(l, e->prim.args[k], axes + (opens && e->prim.args[k]->kind == CORE_LAMBDA));
    if (!computes(e))
        return;
    look_at_length(l, e->prim.args[e->prim.n_args - 1]->type);
    find(l, FEATURE_RANK3, (!opens || !has_array(e->type->elem)) && axes + opens + whole >= 3);
    find(l, FEATURE_STATE, id == P_reduceSeq && has_array(e->type));
}

static void look(Look *l, const Core *e, int axes)
{
    switch (e->kind) {
    case CORE_PRIM: look_at_prim(l, e, axes); return;
    case CORE_LAMBDA: look(l, e->lambda.body, axes); return;
    case CORE_LET:
        find(l, FEATURE_SHARED, is_shared(e));
        look(l, e->let.value, axes);
        look(l, e->let.body, axes);
        return;
    case CORE_TUPLE:
        for (int k = 0; k < e->tuple.n; k++)
            look(l, e->tuple.items[k], axes);
        return;
    case CORE_PROJ: look(l, e->proj.value, axes); return;
    case CORE_IF:
        look_at_if(l, e);
        look(l, e->cond.cond, axes);
        look(l, e->cond.then, axes);
        look(l, e->cond.otherwise, axes);
        return;
    default: return;
    }
}

unsigned features_of(const CoreEntry *entry, const int64_t *sizes)
{
    Look l = {entry, sizes, 0};
    look(&l, entry->body, 0);
    find(&l, FEATURE_RESULTS, entry->result->kind == TY_TUPLE);
    return l.found;
}
