/* Few long rows: a program of rows keeps as many blocks busy as there are rows. Where there are few, and none fits on chip, each of its
 * arrays is computed by kernels of its own, among which folds split their rows.
 *
 * Many short rows: threads of a block share the loads and stores of such rows, but of one result alone. So each of several results is computed
 * by kernels of its own.
 *
 * As only sizes tell, the list gets other forms under conditions over them. */
#include "schedule/shape.h"

enum {
    FEW_ROWS = 128,  /* fewer than a device has multiprocessors; all folds of them split their rows if these are long */
    LONG_ROW = 32768, /* the most that a block keeps of a row: the longest class of lib/strategies/rows.rise */
    FEW_SHORT_ROWS = 16384, SHORT_ROW = 20 /* about manyShortRows and fewStaged of lib/rules/rows.rise */
};

bool rows_are_few(Ctx *ctx, const NatFacts *known, const RowSizes *rows)
{
    return nat_le(ctx, known, rows->rows, nat_const(ctx, FEW_ROWS)) && nat_le(ctx, known, nat_const(ctx, LONG_ROW + 1), rows->length);
}

bool rows_are_short(Ctx *ctx, const NatFacts *known, const RowSizes *rows)
{
    return rows->short_apart && nat_lt(ctx, known, nat_const(ctx, FEW_SHORT_ROWS), rows->rows) && nat_le(ctx, known, rows->length, nat_const(ctx, SHORT_ROW));
}

/* Nothing is kept because a kernel has its row on chip. */
static void forget_rows(Nests *nests)
{
    for (int i = 0; i < nests->list.n; i++) {
        Nest *nest = nests->list.at[i];
        nest->kept &= !nest->of_rows;
        nest->of_rows = false;
    }
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

typedef struct Bounds { /* low <= most, and high > above */
    Nat low, most, high, above;
} Bounds;

/* A copy of the list where both sizes are in the bounds, and else the other one; this one, if that is known. `staged`: each array has
 * kernels of its own there. */
static const Nests *in_bounds(Ctx *ctx, const NatFacts *known, const Nests *nests, const Bounds *b, const Nests *other, bool staged,
                              int *next_var)
{
    const bool low_holds = nat_le(ctx, known, b->low, b->most), high_holds = nat_lt(ctx, known, b->above, b->high);
    if ((low_holds && high_holds) || nat_lt(ctx, known, b->most, b->low) || nat_le(ctx, known, b->high, b->above))
        return other;
    const Span span = nests->result->span;
    Core *conds[2] = {make_compare(ctx, P_le, b->low, b->most, span), make_compare(ctx, P_gt, b->high, b->above, span)};
    Nests *both = NEW(ctx, Nests);
    *both = (Nests){0};
    const bool one = low_holds || high_holds; /* is left to be asked */
    both->cond = one ? conds[low_holds] : make_prim(ctx, P_and, conds[0]->type, 0, NULL, 2, conds, span);
    both->then = nests_copy(ctx, nests, next_var);
    if (staged)
        forget_rows(both->then);
    both->otherwise = (Nests *)(uintptr_t)other;
    return both;
}

const Nests *rows_staged(Ctx *ctx, const CoreEntry *entry, const Nests *nests, const RowSizes *rows, int *next_var)
{
    const Bounds many_short = {rows->length, nat_const(ctx, SHORT_ROW), rows->rows, nat_const(ctx, FEW_SHORT_ROWS)};
    const Bounds few_long = {rows->rows, nat_const(ctx, FEW_ROWS), rows->length, nat_const(ctx, LONG_ROW)};
    const Nests *all = nests;
    if (!nests->result || nests_have_steps(nests))
        return NULL;
    if (rows->short_apart)
        all = in_bounds(ctx, entry->known, nests, &many_short, all, false, next_var);
    all = in_bounds(ctx, entry->known, nests, &few_long, all, true, next_var);
    return all == nests ? NULL : all;
}
