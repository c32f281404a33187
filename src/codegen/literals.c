/* Pass literals: what literals decide is decided.
 *
 *   c ? true : false              ->  c
 *   c and true, 2 < 3, not false  ->  c, true, true
 *   (c ? 1 : 0) != 0              ->  c
 *   (a ? (c ? 1 : 0) : 0) != 0    ->  a and c
 *   1.0 * x, 0 + i                ->  x, i              a float may be -0
 *   if true { s } else { t }      ->  s
 *   float a = 0; ... if (a == 0) { a = e }  ->  float a = 0; ... a = e     while nothing else sets a
 *   float a = 0; a = e            ->  float a; a = e                       when e does not read a
 *
 * Requires: nothing. Keeps every value, bit for bit, but for what a NaN carries; accesses only vanish with the branches that are never taken. */
#include <math.h>

#include "codegen/literals.h"
#include "codegen/branches.h"
#include "codegen/walk.h"

bool literal_same(ScalarValue a, ScalarValue b)
{
    const bool number = !scalar_is_float(a.type) || a.f == b.f;
    return a.type == b.type && number && (scalar_is_float(a.type) ? !signbit(a.f) == !signbit(b.f) : a.u == b.u);
}

bool literal_value(const ImpExpr *e, ScalarValue *value)
{
    if (e->kind == IE_LIT)
        *value = e->lit;
    else if (e->kind == IE_NAT && nat_is_const(e->nat) && scalar_is_int(e->type))
        *value = scalar_int(e->type, e->nat->value);
    else
        return false;
    return true;
}

bool literal_exact(PrimId id)
{
    switch ((int)id) {
    case P_add: case P_sub: case P_mul: case P_neg: case P_abs: case P_min: case P_max: case P_floor: case P_ceil: case P_round:
    case P_bitAnd: case P_bitOr: case P_bitXor: return true;
    default: return false;
    }
}

static bool is_logical(PrimId id) { return (id >= P_eq && id <= P_ge) || id == P_and || id == P_or || id == P_not; }

bool literal_apply(PrimId id, Scalar type, const ScalarValue *args, ScalarValue *value)
{
    if (!literal_exact(id) && !is_logical(id))
        return false;
    *value = scalar_apply(id, type, args);
    return !scalar_is_float(value->type) || !isnan(value->f);
}

enum { MAX_ARGS = 3 };

static bool is_number(ScalarValue v, double number) { return scalar_is_float(v.type) ? v.f == number : (double)v.i == number; }

/* Is the value the product itself? Of another one CUDA's compiler may take more digits, for a sum (contraction.h). */
static bool exact_product(const ScalarValue *args)
{
    bool exact = !scalar_is_float(args[0].type);
    for (int i = 0; i < 2; i++)
        exact |= is_number(args[i], 0) || is_number(args[i], 1) || is_number(args[i], -1);
    return exact;
}

/* A conversion that the language leaves open has no value here. */
static bool cast_value(Scalar to, ScalarValue from, ScalarValue *value)
{
    *value = scalar_cast(to, from);
    return !scalar_is_float(from.type) || scalar_is_float(to) || scalar_cast(from.type, *value).f == from.f;
}

bool literal_expr(const ImpExpr *e, LiteralFn known, void *user, ScalarValue *value)
{
    ScalarValue args[MAX_ARGS];
    if (literal_value(e, value) || known(user, e, value))
        return true;
    switch (e->kind) {
    case IE_LIT: case IE_NAT: case IE_VAR: case IE_LOAD: case IE_SHFL: return false;
    case IE_CAST: return literal_expr(e->cast.value, known, user, &args[0]) && cast_value(e->type, args[0], value);
    case IE_COND:
        if (!literal_expr(e->cond.cond, known, user, &args[0]) || !literal_expr(e->cond.then, known, user, &args[1]) ||
            !literal_expr(e->cond.otherwise, known, user, &args[2]))
            return false;
        *value = args[0].u ? args[1] : args[2];
        return true;
    case IE_OP: break;
    }
    if (e->op.n > MAX_ARGS)
        return false;
    for (int i = 0; i < e->op.n; i++)
        if (!literal_expr(e->op.args[i], known, user, &args[i]))
            return false;
    return (e->op.id != P_mul || exact_product(args)) && literal_apply(e->op.id, e->op.args[0]->type, args, value);
}

/* ---- expressions ---------------------------------------------------------------------------------------------------------------- */

/* x, where e is f(x, unit) or f(unit, x) for any x; or the literal that e is for any x; else NULL. */
static ImpExpr *without_neutral(Ctx *ctx, const ImpExpr *e)
{
    ScalarValue k, unit;
    for (int i = 0; i < 2 && e->op.n == 2; i++) {
        ImpExpr *other = e->op.args[1 - i];
        if (!literal_value(e->op.args[i], &k))
            continue;
        if (!scalar_is_float(k.type) && scalar_unit(e->op.id, k.type, &unit) && k.u == unit.u)
            return other;
        switch ((int)e->op.id) {
        case P_and: return k.u ? other : imp_lit(ctx, k, e->span);
        case P_or: return k.u ? imp_lit(ctx, k, e->span) : other;
        case P_mul:
            if (scalar_is_float(k.type) && k.f == 1)
                return other;
        }
    }
    return NULL;
}

/* What a choice of literals is when it is compared with a literal, args[1 - side]; NULL: it is no such choice. */
static ImpExpr *compared_choice(Ctx *ctx, const ImpExpr *e, const ImpExpr *choice, int side, ScalarValue *args)
{
    ScalarValue value;
    if (literal_value(choice, &args[side]))
        return literal_apply(e->op.id, args[side].type, args, &value) ? imp_lit(ctx, value, e->span) : NULL;
    const bool select = choice->kind == IE_OP && choice->op.id == P_select;
    if (!select && choice->kind != IE_COND)
        return NULL;
    ImpExpr *cond = select ? choice->op.args[0] : choice->cond.cond;
    ImpExpr *then = compared_choice(ctx, e, select ? choice->op.args[1] : choice->cond.then, side, args);
    ImpExpr *otherwise = then ? compared_choice(ctx, e, select ? choice->op.args[2] : choice->cond.otherwise, side, args) : NULL;
    ScalarValue a, b;
    if (!otherwise || !literal_value(otherwise, &b) || (b.u && !literal_value(then, &a)))
        return NULL;
    ImpExpr *both[2] = {cond, then};
    if (b.u)
        return a.u ? otherwise : imp_op(ctx, P_not, SC_BOOL, 1, &cond, e->span);
    return literal_value(then, &a) ? (a.u ? cond : otherwise) : imp_op(ctx, P_and, SC_BOOL, 2, both, e->span);
}

static ImpExpr *without_choice(Ctx *ctx, const ImpExpr *e)
{
    ScalarValue args[2];
    for (int i = 0; i < 2 && e->op.id >= P_eq && e->op.id <= P_ge; i++) {
        ImpExpr *compared = literal_value(e->op.args[1 - i], &args[1 - i]) ? compared_choice(ctx, e, e->op.args[i], i, args) : NULL;
        if (compared)
            return compared;
    }
    return NULL;
}

static ImpExpr *folded_op(Ctx *ctx, ImpExpr *e)
{
    ScalarValue args[MAX_ARGS], value;
    ImpExpr *left = without_neutral(ctx, e);
    left = left ? left : without_choice(ctx, e);
    if (left)
        return left;
    if (e->op.n > MAX_ARGS)
        return e;
    for (int i = 0; i < e->op.n; i++)
        if (!literal_value(e->op.args[i], &args[i]))
            return e;
    return literal_apply(e->op.id, e->op.args[0]->type, args, &value) ? imp_lit(ctx, value, e->span) : e;
}

static ImpExpr *folded_cond(Ctx *ctx, ImpExpr *e)
{
    ScalarValue c, then, otherwise;
    if (literal_value(e->cond.cond, &c))
        return c.u ? e->cond.then : e->cond.otherwise;
    if (e->type != SC_BOOL || !literal_value(e->cond.then, &then) || !literal_value(e->cond.otherwise, &otherwise))
        return e;
    if (!then.u == !otherwise.u)
        return e->cond.then;
    return then.u ? e->cond.cond : imp_op(ctx, P_not, SC_BOOL, 1, &e->cond.cond, e->span);
}

static ImpExpr *folded_cast(Ctx *ctx, ImpExpr *e)
{
    ScalarValue from, value;
    bool known = literal_value(e->cast.value, &from) && cast_value(e->type, from, &value);
    return known ? imp_lit(ctx, value, e->span) : e;
}

/* The operands are folded already. */
static void fold(void *user, ImpExpr **at)
{
    if ((*at)->kind == IE_OP)
        *at = folded_op(user, *at);
    else if ((*at)->kind == IE_COND)
        *at = folded_cond(user, *at);
    else if ((*at)->kind == IE_CAST)
        *at = folded_cast(user, *at);
}

/* ---- registers that hold a literal ------------------------------------------------------------------------------------------------ */

typedef struct Holds {
    Ctx *ctx;
    const ImpVar *var;
    ScalarValue value;
    int n; /* mentions of var that are left */
} Holds;

static bool is_it(const Holds *h, const ImpExpr *e) { return e->kind == IE_VAR && e->var.var == h->var; }

/* A comparison of the register with a literal; the register itself, where it is a bool. */
static void decide(void *user, ImpExpr **at)
{
    Holds *h = user;
    ImpExpr *e = *at;
    ScalarValue args[2], value;
    if (is_it(h, e) && e->type == SC_BOOL)
        *at = imp_lit(h->ctx, h->value, e->span);
    if (e->kind != IE_OP || e->op.n != 2 || !is_logical(e->op.id))
        return;
    for (int i = 0; i < 2; i++) {
        if (is_it(h, e->op.args[i]))
            args[i] = h->value;
        else if (!literal_value(e->op.args[i], &args[i]))
            return;
    }
    if (literal_apply(e->op.id, args[0].type, args, &value))
        *at = imp_lit(h->ctx, value, e->span);
}

static void count(void *user, ImpExpr **at)
{
    Holds *h = user;
    h->n += is_it(h, *at);
}

/* The statement's own expressions may be others' as well, for which the literal may not hold. */
static void decide_own(void *user, ImpStmt *s)
{
    Holds *h = user, here = {h->ctx, h->var, h->value, 0};
    walk_own(s, count, &here);
    if (here.n > 0) {
        imp_own_exprs(h->ctx, s);
        walk_own(s, decide, h);
    }
}

/* From statement i, which gives the register a literal, to the next that sets it. */
static void use_literal(Ctx *ctx, ImpBlock *list, int i)
{
    ImpStmt *first = list->list.at[i];
    Holds h = {ctx, first->var.var, {.type = SC_BOOL}, 0};
    if (h.var->slots != 1 || h.var->nat || !first->var.value || !literal_value(first->var.value, &h.value))
        return;
    for (int j = i + 1; j < list->list.n; j++) {
        ImpStmt *s = list->list.at[j];
        ImpBlock one = {.list = {&s, 1, 1}};
        if (!block_sets(&one, h.var)) {
            walk_stmts(&one, decide_own, &h);
            walk_stmt(s, count, &h);
            continue;
        }
        decide_own(&h, s);
        walk_own(s, count, &h);
        if (first->kind == IS_DECL && s->kind == IS_SET && h.n == 0)
            first->var.value = NULL;
        return;
    }
}

/* ---- statements ----------------------------------------------------------------------------------------------------------------------- */

/* Puts the branch that is taken in the place of statement i, which is an `if`. */
static bool take_branch(Ctx *ctx, ImpBlock *list, int i)
{
    const ImpStmt *s = list->list.at[i];
    ScalarValue c;
    if (s->kind != IS_IF || !literal_value(s->branch.cond, &c))
        return false;
    const ImpBlock *taken = c.u ? &s->branch.then : &s->branch.otherwise;
    block_remove(list, i);
    for (int k = 0; k < taken->list.n; k++)
        block_insert(ctx, list, i + k, taken->list.at[k]);
    return true;
}

static void visit(Ctx *ctx, ImpBlock *list)
{
    for (int i = 0; i < list->list.n; i++) {
        ImpStmt *s = list->list.at[i];
        walk_own_inner_first(s, fold, ctx);
        if (take_branch(ctx, list, i)) {
            i--;
            continue;
        }
        if (s->kind == IS_DECL || s->kind == IS_SET)
            use_literal(ctx, list, i);
        if (s->kind == IS_FOR)
            visit(ctx, &s->loop.body);
        if (s->kind == IS_IF) {
            visit(ctx, &s->branch.then);
            visit(ctx, &s->branch.otherwise);
        }
    }
}

static void fold_own(void *user, ImpStmt *s)
{
    imp_own_exprs(user, s);
    walk_own_inner_first(s, fold, user);
}

void literals_fold(Ctx *ctx, ImpBlock *block) { walk_stmts(block, fold_own, ctx); }

void pass_literals(Lowering *lw)
{
    enum { TURNS = 2 }; /* a branch that is gone reads nothing any more */
    for (int k = 0; k < TURNS; k++)
        visit(lw->ctx, &lw->kernel->body);
}
