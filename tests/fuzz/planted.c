#include "planted.h"

#include <limits.h>
#include <stdlib.h>

#include "rmutate.h"

static bool has_error(const Ctx *ctx, DiagCode code)
{
    for (int i = 0; i < ctx->diags.list.n; i++)
        if (ctx->diags.list.at[i]->code == code)
            return true;
    return false;
}

void planted_in_check(Ctx *ctx, int plant)
{
    if (plant != 1 || !has_error(ctx, E0204) || !has_error(ctx, E0303))
        return;
    volatile char *buffer = calloc(8, 1);
    buffer[7] = buffer[ctx->diags.errors > 0 ? 8 : 0];
    free((void *)buffer);
}

/* In an int, as somebody might. */
static void add_constants(Type t, int *total)
{
    for (; t->kind == TY_ARRAY; t = t->elem)
        if (nat_is_const(t->size) && t->size->value > 0 && t->size->value <= INT_MAX)
            *total += (int)t->size->value;
}

static Scalar element(Type t)
{
    while (t->kind == TY_ARRAY)
        t = t->elem;
    return t->kind == TY_SCALAR ? t->scalar : SC_BOOL;
}

static void plant_min_max(Ctx *ctx, ImpProgram *imp)
{
    for (int k = 0; k < imp->kernels.n; k++) {
        Faults faults = faults_of(ctx, imp->kernels.at[k]);
        for (int i = 0; i < faults.list.n; i++)
            if (faults.list.at[i].kind == FAULT_MIN_MAX && faults.list.at[i].expr->type == SC_U16) {
                fault_plant(ctx, &faults.list.at[i]);
                return;
            }
    }
}

void planted_in_imp(Ctx *ctx, const CoreEntry *entry, ImpProgram *imp, int plant)
{
    int sum = 0;
    for (int i = 0; plant == 2 && i < entry->n_inputs; i++)
        if (element(entry->inputs[i]->type) == SC_U64)
            add_constants(entry->inputs[i]->type, &sum);
    if (sum < 0) /* so that it is computed */
        abort();
    if (plant == 3)
        plant_min_max(ctx, imp);
}

void planted_any(Ctx *ctx, const CoreEntry *entry, ImpProgram *imp, int which)
{
    (void)entry;
    if (!imp->kernels.n)
        return;
    Faults faults = faults_of(ctx, imp->kernels.at[which % imp->kernels.n]);
    if (faults.list.n)
        fault_plant(ctx, &faults.list.at[which / imp->kernels.n % faults.list.n]);
}
