/* For pass roll: registers of one name and type that are declared one after the other become an
 * array, so that steps which set one each, or read one each, differ in an index alone.
 *
 *   float next, next_1;  next = xs[i];  next_1 = xs[i + 256]
 *     ->  float next[2];  next[0] = xs[i];  next[1] = xs[i + 256]
 *
 * Each is mentioned by a constant slot as long as its steps are no loop, and CUDA's compiler writes
 * that loop out: the array stays in registers. */
#include "codegen/lowering.h"
#include "codegen/walk.h"

enum { LEAST_REGISTERS = 4 }; /* fewer have names of their own, as the parts of a tuple */

typedef struct Place { /* of a register in its array; of others NULL */
    ImpVar *array;
    int slot;
} Place;

typedef struct Arrays {
    Ctx *ctx;
    Place *places; /* by ImpVar.id */
    bool *declared;
    bool *fixed;   /* those that something else than one declaration and assignments sets */
} Arrays;

static void find_fixed(void *user, ImpStmt *s)
{
    Arrays *a = user;
    const ImpVar *var = imp_sets(s);
    for (int k = 0; s->kind == IS_SERVE && k < s->serve.n_parts; k++)
        a->fixed[s->serve.parts[k].sum->id] = a->fixed[s->serve.parts[k].next->id] = true;
    if (!var || s->kind == IS_SET)
        return;
    bool plain = s->kind == IS_DECL && !s->var.value && !a->declared[var->id];
    a->fixed[var->id] |= !plain; /* one of a loop and its copy has several declarations */
    a->declared[var->id] = true;
}

/* May the register that the statement declares be part of an array? */
static bool is_free(const Arrays *a, const ImpStmt *s)
{
    const ImpVar *var = s->kind == IS_DECL && !s->var.value ? s->var.var : NULL;
    return var && var->slots == 1 && !var->vector && !var->nat && !a->fixed[var->id];
}

/* A name that is the same text in the same place was given for the same thing. */
static bool goes_with(const ImpVar *a, const ImpVar *b)
{
    return a->type == b->type && a->name == b->name && a->role == b->role;
}

static void find_arrays(Arrays *a, ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_FOR)
            find_arrays(a, &s->loop.body);
        if (s->kind == IS_IF) {
            find_arrays(a, &s->branch.then);
            find_arrays(a, &s->branch.otherwise);
        }
        int n = 0;
        while (i + n < block->list.n && is_free(a, block->list.at[i + n]) &&
               goes_with(s->var.var, block->list.at[i + n]->var.var))
            n++;
        if (n < LEAST_REGISTERS)
            continue;
        ImpVar *array = s->var.var;
        for (int k = 0; k < n; k++)
            a->places[block->list.at[i + k]->var.var->id] = (Place){array, k};
        array->slots = n;
        for (int k = 1; k < n; k++)
            block_remove(block, i + 1);
    }
}

static void use_expr(void *user, ImpExpr **at)
{
    const Arrays *a = user;
    const Place *place = (*at)->kind == IE_VAR ? &a->places[(*at)->var.var->id] : NULL;
    if (!place || !place->array)
        return;
    ImpExpr *slot = imp_var(a->ctx, place->array, nat_const(a->ctx, place->slot), (*at)->span);
    *at = slot;
}

static void use_stmt(void *user, ImpStmt *s)
{
    const Arrays *a = user;
    walk_own(s, use_expr, user);
    const Place *place = s->kind == IS_SET ? &a->places[s->var.var->id] : NULL;
    if (!place || !place->array)
        return;
    s->var.var = place->array;
    s->var.slot = nat_const(a->ctx, place->slot);
}

void roll_make_arrays(Lowering *lw)
{
    int n = lw->kernel->vars.n;
    Arrays a = {lw->ctx, NEWN(lw->ctx, Place, n + 1), NEWN(lw->ctx, bool, n + 1),
                NEWN(lw->ctx, bool, n + 1)};
    walk_stmts(&lw->kernel->body, find_fixed, &a);
    find_arrays(&a, &lw->kernel->body);
    walk_stmts(&lw->kernel->body, use_stmt, &a);
}
