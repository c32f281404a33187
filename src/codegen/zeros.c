/* Pass zeros: what is 0 under a condition is chosen once more, so that ptxas cannot lose the 0.
 *
 *   if (c) { v = a*b } else { v = 0 }   ->   if (c) { v = a*b } else { v = 0 }  v = c ? v : 0
 *
 * ptxas of CUDA 13.0 makes of the left side, for sm_90 and 64-bit integers: CS2R v, SRZ, which clears two registers, and below the condition IMAD.WIDE v, which
 * fills them. What reads v next waits for the second instruction alone. Where the condition holds in no lane of the warp, it reads the lower register before the
 * first one has cleared it: v is what that register had before. (tests/gpu/lost_zero.rise; found by a random program.) The printer writes such a choice as
 * zero_unless(c, v), whose selp reads no register where c does not hold.
 *
 * Requires: nothing. Keeps: all values. */
#include "codegen/lowering.h"
#include "codegen/walk.h"

static bool is_zero(const ImpExpr *e) { return e->kind == IE_LIT ? e->lit.i == 0 : e->kind == IE_NAT && nat_is(e->nat, 0); }

bool imp_may_lose_zero(const ImpExpr *value, const ImpExpr *zero)
{
    return (value->type == SC_I64 || value->type == SC_U64) && is_zero(zero) && value->kind != IE_LIT && value->kind != IE_LOAD;
}

/* The statement of the block that sets the register that s sets; NULL: none. */
static const ImpStmt *also_sets(const ImpBlock *block, const ImpStmt *s)
{
    for (int i = 0; i < block->list.n; i++) {
        const ImpStmt *t = block->list.at[i];
        if (t->kind == IS_SET && t->var.var == s->var.var && t->var.slot == s->var.slot)
            return t;
    }
    return NULL;
}

typedef struct Reads {
    const ImpBlock *set; /* is anything that it sets read? */
    const ImpVar *var;
    bool found;
} Reads;

static void set_here(void *user, ImpStmt *s)
{
    Reads *r = user;
    r->found |= imp_sets(s) == r->var;
}

static void read_here(void *user, ImpExpr **at)
{
    Reads *r = user;
    const ImpExpr *e = *at;
    r->found |= e->kind == IE_LOAD || e->kind == IE_SHFL;
    if (e->kind == IE_VAR) {
        r->var = e->var.var;
        walk_stmts((ImpBlock *)r->set, set_here, r);
    }
}

/* A copy of the condition that holds after the statement as it does before; a register where it would not. */
static ImpExpr *lasting_condition(Lowering *lw, ImpBlock *block, int *at)
{
    ImpStmt *s = block->list.at[*at];
    Reads then = {.set = &s->branch.then}, otherwise = {.set = &s->branch.otherwise};
    walk_expr(&s->branch.cond, read_here, &then);
    walk_expr(&s->branch.cond, read_here, &otherwise);
    if (then.found || otherwise.found) {
        ImpStmt *decl = imp_stmt(lw->ctx, NULL, IS_DECL, s->span);
        decl->var.var = lower_new_var(lw, "holds", SC_BOOL, s->span);
        decl->var.slot = nat_const(lw->ctx, 0);
        decl->var.value = s->branch.cond;
        block_insert(lw->ctx, block, (*at)++, decl);
        s->branch.cond = imp_var(lw->ctx, decl->var.var, decl->var.slot, s->span);
    }
    return imp_copy_expr(lw->ctx, s->branch.cond);
}

/* The 0 that the register of `set` has before statement i of the block, which declares it; NULL: another value, or it is not known. */
static const ImpExpr *zero_before(const ImpBlock *block, int i, const ImpStmt *set)
{
    for (int k = i - 1; k >= 0; k--) {
        ImpStmt *s = block->list.at[k];
        Reads r = {.var = set->var.var};
        ImpBlock one = {.list = {.at = &s, .n = 1}};
        walk_stmts(&one, set_here, &r);
        if (r.found)
            return s->kind == IS_DECL && s->var.value && is_zero(s->var.value) ? s->var.value : NULL;
    }
    return NULL;
}

/* Chooses again what one branch of statement *at sets to 0; *at becomes the last statement that belongs to it. */
static void choose_again(Lowering *lw, ImpBlock *block, int *at)
{
    ImpStmt *s = block->list.at[*at];
    int last = *at;
    for (int side = 0; side < 2; side++) {
        const ImpBlock *zeros = side ? &s->branch.then : &s->branch.otherwise, *values = side ? &s->branch.otherwise : &s->branch.then;
        for (int i = 0; i < values->list.n; i++) {
            const ImpStmt *value = values->list.at[i];
            if (value->kind != IS_SET)
                continue;
            const ImpStmt *other = also_sets(zeros, value);
            const ImpExpr *zero = other ? other->var.value : zeros->list.n == 0 ? zero_before(block, *at, value) : NULL;
            if (!zero || !imp_may_lose_zero(value->var.value, zero))
                continue;
            int before = *at;
            ImpExpr *cond = lasting_condition(lw, block, at), *kept = imp_var(lw->ctx, value->var.var, value->var.slot, value->span);
            last += *at - before;
            ImpExpr *none = imp_copy_expr(lw->ctx, zero);
            ImpStmt *again = imp_stmt(lw->ctx, NULL, IS_SET, value->span);
            again->var.var = value->var.var;
            again->var.slot = value->var.slot;
            again->var.value = imp_cond(lw->ctx, cond, side ? none : kept, side ? kept : none, zero->span);
            block_insert(lw->ctx, block, ++last, again);
        }
    }
    *at = last;
}

static void zeros_in(Lowering *lw, ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_FOR)
            zeros_in(lw, &s->loop.body);
        if (s->kind == IS_IF) {
            zeros_in(lw, &s->branch.then);
            zeros_in(lw, &s->branch.otherwise);
            choose_again(lw, block, &i);
        }
    }
}

void pass_zeros(Lowering *lw) { zeros_in(lw, &lw->kernel->body); }
