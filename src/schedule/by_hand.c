/* Which parts of a program the user lowered by hand. */
#include "ir/terms.h"
#include "schedule/nests.h"

/* Do patterns say which threads compute it? */
static bool says_who(const Core *term)
{
    switch (term->kind) {
    case CORE_LET: return says_who(term->let.body);
    case CORE_IF: return says_who(term->cond.then) && says_who(term->cond.otherwise);
    case CORE_PRIM:
        switch (prim_rows[term->prim.id].level) {
        case LEVEL_GRID: case LEVEL_BLOCK: case LEVEL_THREAD: case LEVEL_WARP: case LEVEL_LANE: return true;
        case LEVEL_SCALAR: return false;
        default: break;
        }
        break;
    default: break;
    }
    for (int i = 0; i < term_children(term); i++)
        if (term_child(term, i)->kind != CORE_LAMBDA && says_who(term_child(term, i)))
            return true;
    return false;
}

/* Does the kernel keep it in registers or in shared memory? */
static bool is_on_chip(const Core *value)
{
    switch (value->kind) {
    case CORE_LET: return is_on_chip(value->let.body);
    case CORE_PROJ: return is_on_chip(value->proj.value);
    case CORE_TUPLE:
        for (int i = 0; i < value->tuple.n; i++)
            if (!is_on_chip(value->tuple.items[i]))
                return false;
        return true;
    case CORE_PRIM: {
        PrimId id = value->prim.id;
        bool view = prim_rows[id].level == LEVEL_VIEW && value->prim.n_args;
        return id == P_toShared || id == P_toPrivate || (view && is_on_chip(value->prim.args[value->prim.n_args - 1]));
    }
    default: return value->kind == CORE_VAR;
    }
}

/* Does each array in it come from variables, through the patterns of one kernel? What is left open, what is stored, and what ends a kernel has nests of its own. */
static bool is_one_kernel(const Core *term)
{
    if (term->kind == CORE_IF && !term_is_over_sizes(term->cond.cond))
        return false;
    if (term->kind == CORE_LET && says_who(term->let.value) && !is_on_chip(term->let.value))
        return false;
    if (term->kind == CORE_PRIM) {
        PrimId id = term->prim.id;
        bool ends = id == P_nextKernel || id == P_gridSync || id == P_repeatKernels || id == P_toGlobal;
        if (ends || prim_rows[id].level == LEVEL_HIGH || prim_is_scatter(id))
            return false;
    }
    for (int i = 0; i < term_children(term); i++)
        if (term_child(term, i)->kind != CORE_LAMBDA && !is_one_kernel(term_child(term, i)))
            return false;
    return true;
}

bool term_is_by_hand(const Core *term)
{
    return term->type->kind == TY_ARRAY && says_who(term) && is_one_kernel(term);
}
