#include "rsame.h"

#include "codegen/walk.h"

/* ---- another slot with the same number ----------------------------------------------------------------------------------------------- */

/* The block that the statement stands in, and where. */
static const ImpBlock *block_with(const ImpBlock *block, const ImpStmt *stmt, int *at)
{
    for (int i = 0; i < block->list.n; i++) {
        const ImpStmt *s = block->list.at[i];
        const ImpBlock *found = NULL;
        if (s == stmt) {
            *at = i;
            return block;
        }
        if (s->kind == IS_FOR)
            found = block_with(&s->loop.body, stmt, at);
        if (s->kind == IS_IF) {
            found = block_with(&s->branch.then, stmt, at);
            found = found ? found : block_with(&s->branch.otherwise, stmt, at);
        }
        if (found)
            return found;
    }
    return NULL;
}

typedef struct Sets {
    const ImpVar *var;
    bool found;
} Sets;

static void find_set(void *user, ImpStmt *s)
{
    Sets *f = user;
    f->found |= imp_sets(s) == f->var;
}

/* All slots start with one number. */
static bool starts_equal(const ImpStmt *s)
{
    if (s->kind == IS_DECL)
        return s->var.value && s->var.value->kind == IE_LIT;
    if (s->kind != IS_VSET || !s->vec.declares)
        return false;
    for (int i = 0; i < s->vec.n; i++)
        if (s->vec.values[i]->kind != IE_LIT || s->vec.values[i]->lit.u != s->vec.values[0]->lit.u)
            return false;
    return true;
}

/* The register was declared before the statement in the same block, and nothing has changed it since. */
static bool slots_are_equal(const Fault *f)
{
    int at;
    const ImpVar *var = f->expr->var.var;
    const ImpBlock *block = block_with(&f->kernel->body, f->stmt, &at);
    for (int i = at - 1; block && i >= 0; i--) {
        ImpStmt *s = block->list.at[i];
        if (imp_declares(s) && imp_sets(s) == var)
            return starts_equal(s);
        Sets sets = {var, false};
        walk_stmts(&(ImpBlock){.list = {&s, 1, 1}}, find_set, &sets);
        if (sets.found)
            return false;
    }
    return false;
}

/* ---- a difference of which only the square is used ------------------------------------------------------------------------------------------ */

typedef struct Squares {
    const ImpVar *var; /* a register, or this slot of a vector */
    int slot;
    bool odd; /* used otherwise */
} Squares;

static bool is_squares_var(const ImpExpr *e, const Squares *q)
{
    return e->kind == IE_VAR && e->var.var == q->var && (q->var->slots == 1 || !nat_is_const(e->var.slot) || e->var.slot->value == q->slot);
}

static int factors(const ImpExpr *e, const Squares *q)
{
    if (e->kind == IE_OP && e->op.id == P_mul)
        return factors(e->op.args[0], q) + factors(e->op.args[1], q);
    return is_squares_var(e, q);
}

static void count_factors(const ImpExpr *e, Squares *q);

/* What is below a product, but is no product itself. */
static void count_below(const ImpExpr *e, Squares *q)
{
    if (e->kind == IE_OP && e->op.id == P_mul) {
        count_below(e->op.args[0], q);
        count_below(e->op.args[1], q);
    } else if (!is_squares_var(e, q))
        count_factors(e, q);
}

/* Products have the register as a factor twice, four times and so on, and nothing else has it. */
static void count_factors(const ImpExpr *e, Squares *q)
{
    if (is_squares_var(e, q))
        q->odd = true;
    if (e->kind == IE_CAST)
        count_factors(e->cast.value, q);
    if (e->kind == IE_COND) {
        count_factors(e->cond.cond, q);
        count_factors(e->cond.then, q);
        count_factors(e->cond.otherwise, q);
    }
    if (e->kind == IE_SHFL) {
        if (e->shfl.by)
            count_factors(e->shfl.by, q);
        count_factors(e->shfl.value, q);
    }
    if (e->kind == IE_OP && e->op.id == P_mul) {
        q->odd |= factors(e, q) % 2 != 0;
        count_below(e, q);
    } else if (e->kind == IE_OP)
        for (int i = 0; i < e->op.n; i++)
            count_factors(e->op.args[i], q);
}

/* Only whole expressions: the walk comes by their parts, too, which the whole has counted. */
static void count_stmt(void *user, ImpStmt *s)
{
    Squares *q = user;
    switch (s->kind) {
    case IS_DECL: case IS_SET:
        if (s->var.value)
            count_factors(s->var.value, q);
        break;
    case IS_STORE: count_factors(s->store.value, q); break;
    case IS_ATOMIC: count_factors(s->atomic.value, q); break;
    case IS_GIVE: count_factors(s->exchange.value, q); break;
    case IS_SERVE:
        for (int k = 0; k < s->serve.n_parts; k++) {
            count_factors(s->serve.parts[k].value, q);
            count_factors(s->serve.parts[k].unit, q);
        }
        break;
    case IS_VSET: case IS_VSTORE:
        for (int i = 0; i < s->vec.n; i++)
            count_factors(s->vec.values[i], q);
        break;
    case IS_IF: count_factors(s->branch.cond, q); break;
    case IS_AWAIT: case IS_TICKET: case IS_GRID_SYNC: case IS_VLOAD: case IS_FOR: case IS_SYNC: case IS_ALLOC: case IS_NOTE: break;
    }
}

/* Is e this difference, or a product with it as a factor? */
static bool is_factor(const ImpExpr *e, const ImpExpr *difference)
{
    if (e->kind == IE_OP && e->op.id == P_mul)
        return is_factor(e->op.args[0], difference) != is_factor(e->op.args[1], difference);
    return e == difference;
}

/* -x * -x = x * x, (-x) * y = -(x * y), and a - b = -(b - a) or both are 0, rounded or not. */
static bool is_squared(const Fault *f)
{
    const ImpStmt *s = f->stmt;
    Squares q = {0};
    if (f->expr->op.id != P_sub)
        return false;
    if (s->kind == IS_DECL && s->var.value && s->var.var->slots == 1 && is_factor(s->var.value, f->expr))
        q.var = s->var.var;
    for (int i = 0; s->kind == IS_VSET && s->vec.declares && i < s->vec.n; i++)
        if (is_factor(s->vec.values[i], f->expr)) {
            q.var = s->vec.var;
            q.slot = i;
        }
    if (!q.var || !q.var->constant)
        return false;
    walk_stmts(&f->kernel->body, count_stmt, &q);
    return !q.odd;
}

/* ---- a comparison of numbers that cannot be so near ------------------------------------------------------------------------------------------- */

/* What decides is whether b - a is `near`: not where, with some step c, it is elsewhere between two multiples of c. */
static bool is_never(Ctx *ctx, const NatFacts *facts, Nat a, Nat b, int64_t near)
{
    for (int64_t c = 2; c <= 32; c *= 2)
        for (int64_t k = 1; k < c; k++)
            if (nat_divides(ctx, facts, nat_const(ctx, c), nat_add_k(ctx, nat_sub(ctx, b, a), k - near)))
                return true;
    return false;
}

static bool never_so_near(Ctx *ctx, const Fault *f)
{
    const ImpExpr *a = f->expr->op.args[0], *b = f->expr->op.args[1];
    if (a->kind != IE_NAT || b->kind != IE_NAT)
        return false;
    int64_t near = f->expr->op.id == P_le ? -1 : 0; /* a <= b + 1; a <= b, a >= b, a > b - 1 */
    return is_never(ctx, f->kernel->known, a->nat, b->nat, near) || nat_differ(ctx, f->kernel->known, a->nat, nat_add_k(ctx, b->nat, -near));
}

bool fault_is_none(Ctx *ctx, const Fault *f)
{
    switch (f->kind) {
    case FAULT_SLOT: return f->expr && slots_are_equal(f);
    case FAULT_MIN_MAX: return imp_same_value(f->expr->op.args[0], f->expr->op.args[1]);
    case FAULT_OPERANDS: return is_squared(f);
    case FAULT_COMPARISON: return never_so_near(ctx, f);
    default: return false;
    }
}
