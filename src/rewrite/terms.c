/* Terms as trees with places: children, what holds at them, and putting a term in place of another. */
#include "rewrite/internal.h"

Core *term_with_child(Ctx *ctx, const Core *term, int i, Core *child)
{
    Core *new = term_copy(ctx, term);
    for (int k = 0; k < term_children(term); k++)
        term_set_child(new, k, k == i ? child : term_child(term, k));
    return new;
}

bool term_binds(const Core *term, const CoreVar *var)
{
    bool binds = term->kind == CORE_LET && term->let.var == var;
    for (int i = 0; term->kind == CORE_LAMBDA && i < term->lambda.n; i++)
        binds |= term->lambda.params[i] == var;
    for (int i = 0; i < term_children(term) && !binds; i++)
        binds = term_binds(term_child(term, i), var);
    return binds;
}

static void highest_var(const Core *term, int *id)
{
    if (term->kind == CORE_VAR && term->var->id >= *id)
        *id = term->var->id + 1;
    for (int i = 0; term->kind == CORE_LAMBDA && i < term->lambda.n; i++)
        if (term->lambda.params[i]->id >= *id)
            *id = term->lambda.params[i]->id + 1;
    if (term->kind == CORE_LET && term->let.var->id >= *id)
        *id = term->let.var->id + 1;
    if (term->kind == CORE_PRIM && term->prim.options.place)
        highest_var(term->prim.options.place, id);
    for (int i = 0; i < term_children(term); i++)
        highest_var(term_child(term, i), id);
}

int term_next_var(const CoreEntry *entry)
{
    int id = 0;
    for (int i = 0; i < entry->n_inputs; i++)
        if (entry->inputs[i]->id >= id)
            id = entry->inputs[i]->id + 1;
    highest_var(entry->body, &id);
    return id;
}

/* The primitives that apply their function to the elements of an array, which then has at least one. */
static Nat elements_under(const Core *term)
{
    if (!prim_takes_elements(term->prim.id))
        return NULL;
    const Core *last = term->prim.n_args ? term->prim.args[term->prim.n_args - 1] : NULL;
    return last && last->kind != CORE_LAMBDA && last->type->kind == TY_ARRAY ? last->type->size : NULL;
}

/* There is at least one of so many. NULL: nothing is known. */
static void know_some(Ctx *ctx, const Here *here, Here *to, Nat size)
{
    if (!size || (size->kind == NAT_CONST && size->value > 0))
        return;
    if (to->facts == here->facts)
        to->facts = nat_facts_new(ctx, here->facts);
    nat_fact_le(ctx, to->facts, nat_const(ctx, 1), size);
}

const Here *here_child(Ctx *ctx, const Here *here, int i)
{
    Here *to = NEW(ctx, Here);
    Core *child = term_child(here->term, i);
    *to = (Here){child, here, i, here->facts};
    if (here->term->kind == CORE_IF && i > 0) {
        to->facts = nat_facts_new(ctx, here->facts);
        core_cond_facts(ctx, to->facts, here->term->cond.cond, i == 1);
    }
    if (child->kind == CORE_LAMBDA) {
        if (here->term->kind == CORE_PRIM)
            know_some(ctx, here, to, elements_under(here->term));
        for (int k = 0; k < child->lambda.n; k++)
            if (child->lambda.params[k]->type->kind == TY_IDX)
                know_some(ctx, here, to, child->lambda.params[k]->type->size);
    }
    return to;
}

Core *here_plug(Ctx *ctx, const Here *here, Core *term)
{
    for (; here->up; here = here->up)
        term = term_with_child(ctx, here->up->term, here->child, term);
    return term;
}

/* ---- levels ----------------------------------------------------------------------------------------------------------- */

PlaceLevel here_level(const Here *here)
{
    PlaceLevel level = AT_GRID;
    for (; here->up; here = here->up) {
        if (here->term->kind != CORE_LAMBDA || here->up->term->kind != CORE_PRIM)
            continue;
        PlaceLevel own = AT_GRID;
        switch ((int)here->up->term->prim.id) {
        case P_mapBlock: own = AT_BLOCK; break;
        case P_mapWarp: own = AT_WARP; break;
        case P_mapGlobal: case P_mapThreads: case P_mapLane: own = AT_THREAD; break;
        }
        level = own > level ? own : level;
    }
    return level;
}

Nat here_lanes(Ctx *ctx, const Here *here)
{
    for (; here->up; here = here->up)
        if (here->term->kind == CORE_LAMBDA && here->up->term->kind == CORE_PRIM && here->up->term->prim.id == P_mapWarp)
            return here->up->term->prim.options.lanes ? here->up->term->prim.options.lanes : nat_const(ctx, WARP_LANES);
    return NULL;
}

/* Where one block runs without a mapBlock around it: in the function of what comes after all blocks. */
static bool in_one_block(const Here *here)
{
    for (; here->up; here = here->up)
        if (here->term->kind == CORE_LAMBDA && here->up->term->kind == CORE_PRIM && (here->up->term->prim.id == P_nextKernel || here->up->term->prim.id == P_lastBlock))
            return true;
    return false;
}

bool here_has_level(const Here *here, PlaceLevel level)
{
    PlaceLevel own = here_level(here);
    return own == level || (level == AT_BLOCK && own == AT_GRID && in_one_block(here));
}

static const char *const level_names[] = {"grid", "block", "warp", "thread"};

const char *level_name(PlaceLevel level) { return level_names[level]; }

bool level_find(const char *name, PlaceLevel *level)
{
    for (int i = 0; i < 4; i++)
        if (strcmp(level_names[i], name) == 0) {
            *level = (PlaceLevel)i;
            return true;
        }
    return false;
}

/* ---- order --------------------------------------------------------------------------------------------------------------- */

int reading_order(const Core *term, int *order)
{
    int n = 0, children = term_children(term);
    bool prim = term->kind == CORE_PRIM;
    for (int i = 0; i < children && prim; i++)
        if (term->prim.args[i]->kind != CORE_LAMBDA)
            order[n++] = i;
    order[n++] = -1;
    for (int i = 0; i < children; i++)
        if (!prim || term->prim.args[i]->kind == CORE_LAMBDA)
            order[n++] = i;
    return n;
}
