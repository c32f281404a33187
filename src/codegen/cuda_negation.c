/* Negations of integers, which ptxas of CUDA 13.0 must not see: of two signed 32-bit minima or maxima that it joins to one instruction (VIMNMX3, sm_90) it
 * loses the sign of an operand that is a plain negation, so that acc = min(acc, -x) takes x. A negation of another width ends as one of 32 bits by a cast.
 * So all are written by wrap_neg, and so are those that the compiler may find: products by negative numbers, as in x + x * -2, differences of terms that share something, as in
 * y - (x + y), and differences of what it may know to be 0, as where a loop is unrolled. */
#include "codegen/cuda_internal.h"
#include "codegen/walk.h"

static bool is_number(const ImpExpr *e, int64_t value)
{
    if (e->kind == IE_LIT)
        return scalar_is_int(e->type) && e->lit.i == value;
    return e->kind == IE_NAT && nat_is(e->nat, value);
}

/* -x, 0 - x, x * -1 and -1 * x: x; else NULL. */
static const ImpExpr *negated(const ImpExpr *e)
{
    ImpExpr **args = e->op.args;
    switch ((int)e->op.id) {
    case P_neg: return args[0];
    case P_sub: return is_number(args[0], 0) ? args[1] : NULL;
    case P_mul: return is_number(args[1], -1) ? args[0] : is_number(args[0], -1) ? args[1] : NULL;
    }
    return NULL;
}

/* ---- what may become one ---------------------------------------------------------------------------------------------------------- */

/* x * -k: k; else 0. The least value has no k. */
static int64_t negative_factor(const ImpExpr *e, const ImpExpr **x)
{
    for (int i = 0; e->op.id == P_mul && i < 2; i++) {
        const ImpExpr *k = e->op.args[i];
        bool negative = k->kind == IE_LIT && scalar_is_signed(k->type) && k->lit.i < 0 && k->lit.i > INT32_MIN;
        *x = e->op.args[1 - i];
        if (negative)
            return -k->lit.i;
    }
    return 0;
}

/* What is computed from terms so that the compiler may take it apart. */
static bool is_arithmetic(const ImpExpr *e)
{
    return e->kind == IE_OP && (e->op.id == P_add || e->op.id == P_sub || e->op.id == P_mul || e->op.id == P_neg);
}

/* Does the term add up, among others, this variable or cell? */
static bool has_leaf(const ImpExpr *e, const ImpExpr *leaf)
{
    for (int i = 0; is_arithmetic(e) && i < e->op.n; i++)
        if (has_leaf(e->op.args[i], leaf))
            return true;
    if (e->kind != leaf->kind)
        return false;
    if (e->kind == IE_VAR)
        return e->var.var == leaf->var.var && e->var.slot == leaf->var.slot;
    return e->kind == IE_LOAD && e->mem.buf == leaf->mem.buf && e->mem.index == leaf->mem.index;
}

/* Do both read a variable or a cell? */
static bool share(const ImpExpr *a, const ImpExpr *b)
{
    if (!is_arithmetic(a))
        return has_leaf(b, a);
    for (int i = 0; i < a->op.n; i++)
        if (share(a->op.args[i], b))
            return true;
    return false;
}

/* ---- what the compiler may know ----------------------------------------------------------------------------------------------- */

typedef struct Origin {
    const Cuda *c;
    bool data; /* something in it comes from memory or from another lane */
} Origin;

static void look(void *user, ImpExpr **at)
{
    Origin *s = user;
    const ImpExpr *e = *at;
    s->data |= e->kind == IE_LOAD || e->kind == IE_SHFL || (e->kind == IE_VAR && !s->c->known[e->var.var->id]);
}

static bool may_be_known(const Cuda *c, ImpExpr *e)
{
    Origin s = {c, false};
    walk_expr(&e, look, &s);
    return !s.data;
}

typedef struct Known {
    Cuda *c;
    bool changed;
} Known;

static void note(void *user, ImpStmt *s)
{
    Known *k = user;
    const ImpVar *var = imp_sets(s);
    if (!var || k->c->known[var->id])
        return;
    bool known = (s->kind == IS_DECL || s->kind == IS_SET) && s->var.value && may_be_known(k->c, s->var.value);
    for (int i = 0; s->kind == IS_VSET && i < s->vec.n; i++)
        known |= may_be_known(k->c, s->vec.values[i]);
    k->c->known[var->id] = known;
    k->changed |= known;
}

void cuda_find_known(Cuda *c, int n_vars)
{
    c->known = NEWN(c->ctx, bool, n_vars);
    ImpBlock body = c->kernel->body;
    Known k = {c, true};
    while (k.changed) {
        k.changed = false;
        walk_stmts(&body, note, &k);
    }
}

/* ---- text -------------------------------------------------------------------------------------------------------------------------- */

static void put_negated(Cuda *c, const ImpExpr *e, Scalar t)
{
    Scalar as = scalar_bytes(t) < 4 ? SC_I32 : t;
    sb_printf(c->out, "%s(", cuda_helper(c, scalar_bytes(t) == 8 ? HELP_WRAP_NEG_WIDE : HELP_WRAP_NEG, as));
    cuda_expr(c, e, C_ANY);
    sb_puts(c->out, ")");
}

bool cuda_put_negation(Cuda *c, const ImpExpr *e, Scalar t, CPrec prec)
{
    const ImpExpr *positive = negated(e);
    if (positive) {
        put_negated(c, positive, t);
        return true;
    }
    int64_t factor = negative_factor(e, &positive);
    if (factor) {
        ImpExpr product = *e, k = {.kind = IE_LIT, .type = e->type, .span = e->span, .lit = {e->type, {factor}}};
        product.op.args = (ImpExpr *[]){(ImpExpr *)(uintptr_t)positive, &k};
        put_negated(c, &product, t);
        return true;
    }
    if (e->op.id != P_sub || e->op.args[0]->kind == IE_LIT ||
        !(may_be_known(c, e->op.args[0]) || share(e->op.args[0], e->op.args[1])))
        return false;
    bool wraps = scalar_is_signed(t) && scalar_bytes(t) >= 4, paren = !wraps && prec > C_SUM;
    if (wraps)
        sb_printf(c->out, "%s", cuda_helper(c, HELP_WRAP_ADD, t));
    sb_puts(c->out, wraps || paren ? "(" : "");
    cuda_expr(c, e->op.args[0], wraps ? C_ANY : C_SUM);
    sb_puts(c->out, wraps ? ", " : " + ");
    put_negated(c, e->op.args[1], t);
    sb_puts(c->out, wraps || paren ? ")" : "");
    return true;
}
