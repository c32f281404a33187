/* Pass steps: steps of a fold that follow each other are one, as many as a line holds.
 *
 *   acc = acc + a;  acc = acc + b  ->  acc = acc + a + b
 *   acc = 0;        acc = acc + a;  acc = acc + b  ->  acc = 0 + a + b
 *   acc = 0 + a + b;  ys[0] = acc  ->  ys[0] = 0 + a + b, where nothing else reads acc
 *
 * Keeps every value, and the order of operations. Leaves alone: operations that are rounded on
 * their own, and f16 and bf16, of which each step is rounded to the type. */
#include "codegen/branches.h"
#include "codegen/walk.h"

enum { WEIGHT = 18 };

typedef struct VarReads {
    const ImpVar *var;
    int n;
} VarReads;

static void count_reads(void *user, ImpExpr **at)
{
    VarReads *r = user;
    r->n += (*at)->kind == IE_VAR && (*at)->var.var == r->var;
}

/* acc = op(acc, e), where e does not read acc. */
static bool is_step(const ImpStmt *s)
{
    if (s->kind != IS_SET || s->var.var->slots != 1 || s->var.value->kind != IE_OP ||
        s->var.value->op.n != 2)
        return false;
    const ImpExpr *first = s->var.value->op.args[0];
    VarReads reads = {s->var.var, 0};
    walk_expr(&s->var.value->op.args[1], count_reads, &reads);
    return first->kind == IE_VAR && first->var.var == s->var.var && reads.n == 0;
}

static bool is_start(const ImpStmt *s)
{
    return s->kind == IS_DECL && s->var.value && s->var.value->kind == IE_LIT &&
           s->var.var->slots == 1 && !s->var.var->nat;
}

/* About the words that a reader has to take in. Names do not count, however long they are. */
static void weigh(void *user, ImpExpr **at)
{
    const ImpExpr *e = *at;
    bool infix = imp_is_infix(e);
    switch (e->kind) {
    case IE_VAR: case IE_LIT: *(int *)user += 1; break;
    case IE_LOAD: *(int *)user += 2 + e->mem.index->n_terms; break;
    case IE_OP: *(int *)user += infix ? 1 : 3; break;
    default: *(int *)user += 4; break;
    }
}

/* The value of both statements in one, or NULL. `op`: of the steps before, or P_COUNT. */
static ImpExpr *joined(Ctx *ctx, const ImpStmt *s, const ImpStmt *next, PrimId op)
{
    if (!is_step(next) || next->var.var != s->var.var)
        return NULL;
    const ImpExpr *step = next->var.value;
    if ((op != P_COUNT && step->op.id != op) || step->op.rounded || step->type == SC_F16 ||
        step->type == SC_BF16)
        return NULL;
    ImpExpr *both = imp_op_like(ctx, step, (ImpExpr *[]){s->var.value, step->op.args[1]});
    int weight = 0;
    walk_expr(&both, weigh, &weight);
    return weight <= WEIGHT ? both : NULL;
}

/* Joins what follows statement i to it. Gives the number of statements that went. */
static int join_steps(Ctx *ctx, const ImpBlock *block, int i)
{
    ImpStmt *s = block->list.at[i], all = *s;
    if (!is_step(s) && !is_start(s))
        return 0;
    PrimId op = is_step(s) ? s->var.value->op.id : P_COUNT;
    int n = 0;
    for (ImpExpr *both; i + n + 1 < block->list.n; n++, all.var.value = both) {
        const ImpStmt *next = block->list.at[i + n + 1];
        both = joined(ctx, &all, next, op);
        if (!both)
            break;
        op = next->var.value->op.id;
    }
    if (n + is_step(s) < 2) /* one step is written `acc += a` */
        return 0;
    s->var.value = all.var.value;
    return n;
}

/* A register without a name of the program's, that is declared only to be stored behind it. */
static bool is_passed_on(const ImpBlock *block, const ImpStmt *s, int next)
{
    const ImpStmt *store = next < block->list.n ? block->list.at[next] : NULL;
    if (s->kind != IS_DECL || !s->var.value || s->var.var->slots != 1 || s->var.var->nat ||
        s->var.var->named || !store || store->kind != IS_STORE ||
        store->store.value->kind != IE_VAR || store->store.value->var.var != s->var.var)
        return false;
    VarReads reads = {s->var.var, 0};
    ImpBlock rest = stmts_from(block, next);
    walk_block(&rest, count_reads, &reads);
    return reads.n == 1 && !block_sets(&rest, s->var.var);
}

static void join_block(Ctx *ctx, ImpBlock *block)
{
    int kept = 0;
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        i += join_steps(ctx, block, i);
        if (is_passed_on(block, s, i + 1))
            block->list.at[i + 1]->store.value = s->var.value;
        else
            block->list.at[kept++] = s;
        if (s->kind == IS_FOR)
            join_block(ctx, &s->loop.body);
        if (s->kind == IS_IF) {
            join_block(ctx, &s->branch.then);
            join_block(ctx, &s->branch.otherwise);
        }
    }
    block->list.n = kept;
}

void pass_steps(Lowering *lw) { join_block(lw->ctx, &lw->kernel->body); }
