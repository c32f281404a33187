/* Pass apart: loads that one condition guards have a guard each, where a loop is unrolled.
 *
 *   own[i] = c ? xs[a] + ys[b] : 0   ->   x = c ? xs[a] : 0;  y = c ? ys[b] : 0;  own[i] = x + y
 *
 * A single guarded load is predicated. Several are a branch, before which CUDA's compiler does not
 * move the loads of the next trip: rows of 4,095 elements to which others are added took 1.09 times as
 * long on an H200. Where the guard does not hold, each load gives a literal of which the term makes the
 * value that is asked for, to the bit: 0 and 1 are tried.
 *
 * Requires: nothing. Keeps every value, bit for bit, and every access that happens. */
#include "codegen/guards.h"
#include "codegen/literals.h"
#include "codegen/lowering.h"
#include "codegen/walk.h"

enum { MOST_LOADS = 4 };

typedef struct Loads {
    const ImpExpr *at[MOST_LOADS]; /* different ones */
    ImpVar *var[MOST_LOADS];
    int n;
    bool others; /* more, or loads that a condition in the term decides on */
} Loads;

static int place_of(const Loads *l, const ImpExpr *load)
{
    int k = 0;
    while (k < l->n && !imp_same_value(l->at[k], load))
        k++;
    return k;
}

static void note_load(void *user, ImpExpr **at)
{
    Loads *l = user;
    const ImpExpr *e = *at;
    bool chooses = e->kind == IE_COND || (e->kind == IE_OP && (e->op.id == P_and || e->op.id == P_or));
    l->others |= chooses || e->kind == IE_SHFL || (e->kind == IE_LOAD && e->mem.buf->space == SPACE_SHARED);
    if (e->kind != IE_LOAD || place_of(l, e) < l->n)
        return;
    l->others |= l->n == MOST_LOADS;
    if (l->n < MOST_LOADS)
        l->at[l->n++] = e;
}

static bool padded(void *user, const ImpExpr *e, ScalarValue *value)
{
    const ScalarValue *pad = user;
    if (e->kind == IE_LOAD)
        *value = scalar_cast(e->type, *pad);
    return e->kind == IE_LOAD;
}

/* What all loads may give where the guard does not hold; false: none of the literals that are tried. */
static bool find_pad(const ImpExpr *choice, ScalarValue *pad)
{
    ScalarValue wanted, value;
    for (int k = 0; k < 2; k++) {
        *pad = scalar_int(SC_I32, k);
        bool known = literal_value(choice->cond.otherwise, &wanted) && literal_expr(choice->cond.then, padded, pad, &value);
        if (known && literal_same(value, wanted))
            return true;
    }
    return false;
}

static void read_register(void *user, ImpExpr **at)
{
    struct { Ctx *ctx; const Loads *l; } *r = user;
    if ((*at)->kind == IE_LOAD)
        *at = imp_var(r->ctx, r->l->var[place_of(r->l, *at)], nat_const(r->ctx, 0), (*at)->span);
}

/* How many statements it puts in front of statement i. */
static int load_apart(Lowering *lw, ImpBlock *block, int i)
{
    Ctx *ctx = lw->ctx;
    ImpStmt *s = block->list.at[i];
    ImpExpr *choice = s->kind == IS_DECL || s->kind == IS_SET ? s->var.value : NULL;
    Loads loads = {.n = 0};
    ScalarValue pad;
    if (!choice || choice->kind != IE_COND || !asks_indices(choice->cond.cond))
        return 0;
    walk_expr(&choice->cond.then, note_load, &loads);
    if (loads.n < 2 || loads.others || !find_pad(choice, &pad))
        return 0;
    for (int k = 0; k < loads.n; k++) {
        ImpExpr *load = imp_copy_expr(ctx, loads.at[k]), *otherwise = imp_lit(ctx, scalar_cast(load->type, pad), load->span);
        ImpStmt *decl = imp_stmt(ctx, NULL, IS_DECL, s->span);
        loads.var[k] = decl->var.var = lower_new_var(lw, "v", load->type, load->span);
        decl->var.var->constant = true;
        decl->var.slot = nat_const(ctx, 0);
        decl->var.value = imp_cond(ctx, imp_copy_expr(ctx, choice->cond.cond), load, otherwise, load->span);
        block_insert(ctx, block, i + k, decl);
    }
    s->var.value = imp_copy_expr(ctx, choice->cond.then);
    struct { Ctx *ctx; const Loads *l; } reader = {ctx, &loads};
    walk_expr(&s->var.value, read_register, &reader);
    return loads.n;
}

static void loads_apart(Lowering *lw, ImpBlock *block, bool unrolled)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_FOR)
            loads_apart(lw, &s->loop.body, s->loop.unroll);
        if (s->kind == IS_IF) {
            loads_apart(lw, &s->branch.then, unrolled);
            loads_apart(lw, &s->branch.otherwise, unrolled);
        }
        if (unrolled)
            i += load_apart(lw, block, i);
    }
}

void pass_apart(Lowering *lw) { loads_apart(lw, &lw->kernel->body, false); }
