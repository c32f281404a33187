/* For pass roll: loads that stand before the steps that use them, each at its step.
 *
 *   v = cells[0 .. 3];  w = cells[4 .. 7];  acc = op(acc, v.x);  ...;  acc = op(acc, w.w)
 *     ->  v = cells[0 .. 3];  acc = op(acc, v.x);  ...;  w = cells[4 .. 7];  acc = op(acc, w.x); ...
 *
 * which is a loop, if there are some more. CUDA's compiler writes it out and loads early again.
 * Nothing between the load and its step does more than set registers, so that the value is the
 * same. */
#include "codegen/lowering.h"
#include "codegen/walk.h"

enum {
    LEAST_READS = 3,
    LEAST_OF_VECTORS = 12, /* some steps that read parts of vectors are one line */
    MOST_LOADS = 16,
    MOST_READS = 128
};

typedef struct Loads {
    Ctx *ctx;
    ImpStmt *at[MOST_LOADS];
    bool put[MOST_LOADS]; /* at its step */
    int n;
    int left;             /* reads of all that are not seen yet */
    ImpBlock *into;       /* loads at the step that is looked at */
} Loads;

static void find_register(void *user, ImpExpr **at) { *(bool *)user |= (*at)->kind == IE_VAR; }

/* What may stand at its step. */
static bool is_load(ImpStmt *s)
{
    if (s->kind == IS_VLOAD)
        return s->vec.declares && s->vec.var->constant;
    if (s->kind != IS_DECL || !s->var.value || !s->var.var->constant || s->var.var->slots != 1 ||
        s->var.var->nat)
        return false;
    const ImpExpr *e = s->var.value;
    bool asks = false; /* registers, which may change before the step */
    walk_own(s, find_register, &asks);
    return !asks && (e->kind == IE_LOAD || (e->kind == IE_COND && e->cond.then->kind == IE_LOAD &&
                                            e->cond.otherwise->kind == IE_LIT));
}

static void find_shuffle(void *user, ImpExpr **at) { *(bool *)user |= (*at)->kind == IE_SHFL; }

static bool sets_registers(ImpStmt *s);

static bool all_set_registers(const ImpBlock *block)
{
    bool all = true;
    for (int i = 0; i < block->list.n && all; i++)
        all = sets_registers(block->list.at[i]);
    return all;
}

/* May the load come behind the statement? */
static bool sets_registers(ImpStmt *s)
{
    bool shuffles = false;
    walk_own(s, find_shuffle, &shuffles);
    switch (s->kind) {
    case IS_DECL: case IS_SET: case IS_VSET: return !shuffles;
    case IS_IF:
        return !shuffles && all_set_registers(&s->branch.then) &&
               all_set_registers(&s->branch.otherwise);
    default: return false;
    }
}

/* ---- the load at its step -------------------------------------------------------------------- */

static void use_load(void *user, ImpExpr **at)
{
    Loads *loads = user;
    for (int i = 0; (*at)->kind == IE_VAR && i < loads->n; i++) {
        if (imp_sets(loads->at[i]) != (*at)->var.var)
            continue;
        loads->left--;
        if (!loads->put[i])
            vec_push(loads->ctx, &loads->into->list, imp_copy_stmt(loads->ctx, loads->at[i]));
        loads->put[i] = true;
    }
}

typedef struct One {
    const ImpVar *var;
    ImpExpr **at;
    int n;
} One;

static void find_one(void *user, ImpExpr **at)
{
    One *one = user;
    if ((*at)->kind == IE_VAR && (*at)->var.var == one->var) {
        one->at = at;
        one->n++;
    }
}

/* What is read once needs no name there. */
static void put_in(ImpBlock *loads, ImpStmt *s, const int *reads)
{
    int kept = 0;
    for (int i = 0; i < loads->list.n; i++) {
        ImpStmt *load = loads->list.at[i];
        One one = {.var = imp_sets(load)};
        walk_own(s, find_one, &one);
        if (load->kind == IS_DECL && reads[one.var->id] == 1 && one.n == 1 && s->kind != IS_IF)
            *one.at = load->var.value;
        else
            loads->list.at[kept++] = load;
    }
    loads->list.n = kept;
}

static void count_read(void *user, ImpExpr **at)
{
    if ((*at)->kind == IE_VAR)
        ((int *)user)[(*at)->var.var->id]++;
}

/* How often each register is read, by ImpVar.id. */
int *roll_count_reads(Ctx *ctx, ImpKernel *kernel)
{
    int *reads = NEWN(ctx, int, kernel->vars.n + 1);
    walk_block(&kernel->body, count_read, reads);
    return reads;
}

/* Statement i of the block and what follows are loads, and registers made of these. Gives how many
 * statements that is, and the same with each load at its step, the first one at number *first. 0:
 * there are none. */
int roll_sink_loads(Lowering *lw, const ImpBlock *block, int i, const int *reads,
                    ImpBlock *at_steps, int *first)
{
    Loads loads = {.ctx = lw->ctx};
    int j = i;
    bool vectors = false;
    for (; j < block->list.n && loads.n < MOST_LOADS && is_load(block->list.at[j]); j++) {
        loads.left += reads[imp_sets(block->list.at[j])->id];
        vectors |= block->list.at[j]->kind == IS_VLOAD;
        loads.at[loads.n++] = block->list.at[j];
    }
    if (loads.left < (vectors ? LEAST_OF_VECTORS : LEAST_READS) || loads.left > MOST_READS)
        return 0;
    for (*first = -1; j < block->list.n && loads.left; j++) {
        ImpStmt *s = block->list.at[j];
        if (at_steps->list.n > MOST_READS || !sets_registers(s))
            return 0;
        ImpStmt *copy = imp_copy_stmt(lw->ctx, s);
        ImpBlock own = {{0}};
        loads.into = &own;
        walk_stmt(copy, use_load, &loads);
        if (*first < 0 && own.list.n)
            *first = at_steps->list.n;
        put_in(&own, copy, reads);
        for (int k = 0; k < own.list.n; k++)
            vec_push(lw->ctx, &at_steps->list, own.list.at[k]);
        vec_push(lw->ctx, &at_steps->list, copy);
    }
    return loads.left ? 0 : j - i;
}
