/* What reads the registers that stand for neighbours (together.c, Note [Reading together]): a load in
 * the value of one goes under a guard only if all that reads the register stands under it, as in
 *
 *   x = xs[i]; i < n ? (n <= 100 ? x : sqrt(x)) : 0
 *
 * where the guard of the load is i < n, though x is first found under n <= 100. */
#include "codegen/together.h"
#include "codegen/walk.h"

void guards_begin(Together *t, const Places *inside)
{
    vec_push(t->ctx, &t->guarding, ((Guarding){inside, t->under.n}));
    for (int k = 0; k < t->n; k++)
        vec_push(t->ctx, &t->under, ((Evaluated){inside->at[k], NULL}));
}

void guards_end(Together *t) { t->under.n = t->guarding.at[--t->guarding.n].from; }

typedef struct VarReads {
    Ctx *ctx;
    const ImpVar *var;
    VEC(ImpExpr **) at; /* each once: statements, and values in them, may both be gone through */
} VarReads;

static void note_read(void *user, ImpExpr **at)
{
    VarReads *reads = user;
    bool known = (*at)->kind != IE_VAR || (*at)->var.var != reads->var;
    for (int i = 0; i < reads->at.n && !known; i++)
        known = reads->at.at[i] == at;
    if (!known)
        vec_push(reads->ctx, &reads->at, at);
}

static int all_reads(const Together *t, const ImpVar *var)
{
    VarReads reads = {t->ctx, var, {0}};
    ImpBlock emitted = stmts_from(t->lw->out, t->from);
    walk_block(&emitted, note_read, &reads);
    for (int i = 0; i < t->exprs.n; i++)
        walk_expr(t->exprs.at[i], note_read, &reads);
    return reads.at.n;
}

/* Under guards number g, and those inside of them. */
static int reads_under(const Together *t, const ImpVar *var, int g)
{
    VarReads reads = {t->ctx, var, {0}};
    for (int i = t->guarding.at[g].from; i < t->under.n; i++)
        if (t->under.at[i].block)
            walk_block(t->under.at[i].block, note_read, &reads);
        else
            walk_expr(t->under.at[i].expr, note_read, &reads);
    return reads.at.n;
}

static bool is_declared(const ImpBlock *list, int from, const ImpVar *var)
{
    for (int i = from; i < list->list.n; i++)
        if (list->list.at[i]->kind == IS_DECL && list->list.at[i]->var.var == var)
            return true;
    return false;
}

bool guard_of_readers(const Together *t, const ImpVar *var, int k, ImpExpr **guard)
{
    int all = all_reads(t, var);
    for (int g = t->guarding.n - 1; g >= 0; g--)
        if (reads_under(t, var, g) == all) {
            *guard = t->guarding.at[g].places->guard[k];
            return true;
        }
    *guard = NULL;
    return is_declared(t->lw->out, t->from, var);
}

void values_begin(Together *t, const Places *p, const Places *values, ImpStmt *const *choices)
{
    for (int k = 0; k < t->n; k++)
        if (choices[k])
            vec_push(t->ctx, &t->under, ((Evaluated){NULL, &choices[k]->branch.otherwise}));
        else if (values->at[k] != p->at[k])
            vec_push(t->ctx, &t->under, ((Evaluated){values->at[k], NULL}));
    vec_push(t->ctx, &t->guarding, ((Guarding){values, t->under.n}));
    for (int k = 0; k < t->n; k++)
        if (choices[k])
            vec_push(t->ctx, &t->under, ((Evaluated){NULL, &choices[k]->branch.then}));
}
