/* The work of a program as it is written, each `let` once: functions of scalars that are applied, but
 * for comparisons of sizes and indices, and elements that are read of arrays with a name. What has no
 * name, as a map that is folded, is not read: whoever folds it may compute it there. */
#include "ir/interp_internal.h"

/* Is component c of the array in memory: an input's, or that of a `let`? */
static bool in_memory(const Code *array, int c)
{
    switch (array->kind) {
    case CODE_PLACE: case CODE_PART:
        return true;
    case CODE_LET:
        return in_memory(array->args[array->n - 1], c);
    case CODE_IF:
        return in_memory(array->args[1], c) || in_memory(array->args[2], c);
    case CODE_TUPLE:
        break;
    case CODE_PRIM:
        if (array->id != P_zip && array->id != P_zip3 && array->id != P_zip4)
            return (prim_rows[array->id].level == LEVEL_VIEW || array->id == P_index) && array->id != P_generate &&
                   in_memory(array->args[array->n - 1], c);
        break;
    case CODE_LIT: case CODE_SIZE: case CODE_SCALAR:
        return false;
    }
    for (int k = 0; k < array->n; k++) {
        int components = array->args[k]->shape->n;
        if (c < components)
            return in_memory(array->args[k], c);
        c -= components;
    }
    return false;
}

/* Scalars of an element that are in memory. */
static int64_t scalars_read(const Code *array, const Shape *element)
{
    int64_t n = 0;
    for (int c = 0; c < element->n; c++)
        n += element->comps[c].n_dims == 0 && in_memory(array, c);
    return n;
}

void interp_count(Interp *in, const Code *code)
{
    EntryWork *work = &in->launch->work;
    if (code->kind != CODE_PRIM) {
        bool of_sizes = code->id >= P_eq && code->id <= P_ge;
        for (int k = 0; k < code->n && of_sizes; k++)
            of_sizes = code->args[k]->kind == CODE_SIZE;
        work->functions += !of_sizes;
        return;
    }
    if (code->id == P_index) {
        work->loads += scalars_read(code->args[0], code->shape);
        return;
    }
    PrimLevel level = prim_rows[code->id].level;
    if (level == LEVEL_VIEW && code->id != P_gather && !prim_is_scatter(code->id))
        return;
    for (int k = 0; k < code->n; k++)
        if (code->args[k] && code->arg_rows[k])
            work->loads += interp_size(in, &code->args[k]->shape->comps[0].dims[0]) *
                           scalars_read(code->args[k], code->arg_rows[k]);
}
