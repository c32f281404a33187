/* See neighbours.h.
 *
 * Note [Widest array]. A thread reads w neighbours of each array that the elements come from. With 16 bytes of the widest one, its accesses are as wide as they can be, and
 * those of the others leave no gaps. More would take two accesses of the widest, each of which touches all sectors of both. What counts is what lies in memory: a map
 * that makes doubles of bytes reads bytes. Arrays that a map's function looks up are not read along with the elements. */
#include "ir/neighbours.h"

enum { ACCESS_BYTES = 16 };

typedef struct Bound {
    const CoreVar *var;
    const struct Bound *up;
} Bound;

typedef struct Widest {
    Ctx *ctx;
    int bytes; /* of a cell; 0: none so far */
} Widest;

static void add_cells(Widest *w, Type t)
{
    if (t->kind == TY_TUPLE) {
        for (int i = 0; i < t->n_items; i++)
            add_cells(w, t->items[i]);
        return;
    }
    if (t->kind == TY_ARRAY) {
        add_cells(w, t->elem);
        return;
    }
    int64_t bytes = t->kind == TY_ERROR ? 0 : scalar_bytes(type_scalar_of(w->ctx, t));
    if (t->kind == TY_VEC)
        bytes = nat_is_const(t->size) && t->size->value < ACCESS_BYTES / bytes ? t->size->value * bytes : ACCESS_BYTES;
    if (bytes > w->bytes)
        w->bytes = (int)bytes;
}

static bool has_array(Type t)
{
    bool any = t->kind == TY_ARRAY;
    for (int i = 0; t->kind == TY_TUPLE && i < t->n_items && !any; i++)
        any = has_array(t->items[i]);
    return any;
}

static bool is_bound(const Bound *bound, const CoreVar *var)
{
    while (bound && bound->var != var)
        bound = bound->up;
    return bound != NULL;
}

/* The variable that it is, or is a component of; NULL. */
static const CoreVar *variable_of(const Core *term)
{
    while (term->kind == CORE_PROJ)
        term = term->proj.value;
    return term->kind == CORE_VAR ? term->var : NULL;
}

static void read_from(Widest *w, const Core *term, const Bound *bound)
{
    const CoreVar *var = variable_of(term);
    switch (term->kind) {
    case CORE_VAR: case CORE_PROJ:
        if (!var)
            read_from(w, term->proj.value, bound);
        else if (has_array(term->type) && !is_bound(bound, var))
            add_cells(w, term->type);
        break;
    case CORE_PRIM:
        for (int i = 0; i < term->prim.n_args; i++)
            if (term->prim.args[i]->kind != CORE_LAMBDA || term->prim.id == P_generate)
                read_from(w, term->prim.args[i], bound);
        break;
    case CORE_LAMBDA: read_from(w, term->lambda.body, bound); break;
    case CORE_LET: {
        Bound inside = {term->let.var, bound};
        read_from(w, term->let.value, bound);
        read_from(w, term->let.body, &inside);
        break;
    }
    case CORE_TUPLE:
        for (int i = 0; i < term->tuple.n; i++)
            read_from(w, term->tuple.items[i], bound);
        break;
    case CORE_IF:
        read_from(w, term->cond.cond, bound);
        read_from(w, term->cond.then, bound);
        read_from(w, term->cond.otherwise, bound);
        break;
    case CORE_LIT: case CORE_SIZE: case CORE_UNIT_ERROR: break;
    }
}

int core_neighbours(Ctx *ctx, const Core *array)
{
    Widest w = {ctx, 0};
    read_from(&w, array, NULL);
    if (!w.bytes)
        add_cells(&w, array->type);
    return w.bytes ? ACCESS_BYTES / w.bytes : 1;
}

bool core_is_across(const Core *array)
{
    if (array->kind != CORE_PRIM)
        return false;
    bool each = array->prim.id == P_map || array->prim.id == P_generate;
    if (each && array->prim.args[0]->kind == CORE_LAMBDA && array->type->elem->kind == TY_ARRAY)
        return core_is_across(array->prim.args[0]->lambda.body);
    return array->prim.id == P_transpose && array->type->elem->elem->kind != TY_ARRAY;
}
