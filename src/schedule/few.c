/* Few long rows: a program of rows keeps as many blocks busy as there are rows. Where there are few, and none fits on chip, each of its
 * arrays is computed by kernels of its own, among which folds split their rows. As only sizes tell, the list gets a second form under a
 * condition over them. */
#include "schedule/shape.h"

enum {
    FEW_ROWS = 128,  /* fewer than a device has multiprocessors; all folds of them split their rows if these are long */
    LONG_ROW = 32768 /* the most that a block keeps of a row: the longest class of lib/strategies/rows.rise */
};

bool rows_are_few(Ctx *ctx, const NatFacts *known, const LongRows *rows)
{
    return nat_le(ctx, known, rows->rows, nat_const(ctx, FEW_ROWS)) && nat_le(ctx, known, nat_const(ctx, LONG_ROW + 1), rows->length);
}

Nests *nests_copy(Ctx *ctx, const Nests *nests, int *next_var)
{
    TermCopy copy = {.ctx = ctx, .next_var = next_var};
    Nests *new = NEW(ctx, Nests);
    *new = (Nests){0};
    for (int i = 0; i < nests->list.n; i++) {
        const Nest *old = nests->list.at[i];
        Nest *nest = NEW(ctx, Nest);
        *nest = *old;
        nest->axes = NEWN(ctx, CoreVar *, old->n_axes + 1);
        for (int k = 0; k < old->n_axes; k++) {
            const CoreVar *axis = old->axes[k];
            nest->axes[k] = make_var(ctx, next_var, axis->name, copy_type(&copy, axis->type), axis->span);
            vec_push(ctx, &copy.bound, axis);
            vec_push(ctx, &copy.fresh, nest->axes[k]);
            vec_push(ctx, &copy.from, axis->nat);
            vec_push(ctx, &copy.to, nest->axes[k]->nat);
        }
        nest->element = copy_term(&copy, old->element);
        copy.from.n = copy.to.n = 0; /* nests may share axes */
        copy.bound.n = copy.fresh.n = i;
        nest->var = make_var(ctx, next_var, old->var->name, copy_type(&copy, old->var->type), old->var->span);
        vec_push(ctx, &copy.bound, old->var);
        vec_push(ctx, &copy.fresh, nest->var);
        vec_push(ctx, &new->list, nest);
    }
    new->result = copy_term(&copy, nests->result);
    return new;
}

bool nests_have_steps(const Nests *nests)
{
    for (int i = 0; i < nests->list.n; i++)
        if (nests->list.at[i]->steps)
            return true;
    return false;
}

const Nests *rows_staged(Ctx *ctx, const CoreEntry *entry, const Nests *nests, const LongRows *rows, int *next_var)
{
    const Nat few = nat_const(ctx, FEW_ROWS), most = nat_const(ctx, LONG_ROW);
    const bool decided = nat_le(ctx, entry->known, nat_add_k(ctx, few, 1), rows->rows) || nat_le(ctx, entry->known, rows->length, most);
    if (decided || !nests->result || nests_have_steps(nests) || rows_are_few(ctx, entry->known, rows))
        return NULL;
    const Span span = nests->result->span;
    Core *conds[2] = {make_compare(ctx, P_le, rows->rows, few, span), make_compare(ctx, P_gt, rows->length, most, span)};
    Nests *both = NEW(ctx, Nests);
    *both = (Nests){0};
    both->cond = make_prim(ctx, P_and, conds[0]->type, 0, NULL, 2, conds, span);
    both->then = nests_copy(ctx, nests, next_var);
    both->otherwise = (Nests *)(uintptr_t)nests;
    return both;
}
