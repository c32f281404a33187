/* Expressions of imp as CUDA C. */
#include "codegen/cuda_internal.h"
#include "codegen/walk.h"

#include <math.h>

static void put(Cuda *c, const char *text) { sb_puts(c->out, text); }

static bool is_small(Scalar s) { return scalar_is_int(s) && scalar_bytes(s) < 4; } /* C computes with them as int */

/* ---- nats and places -------------------------------------------------------------------------------------------------- */

static bool is_long(const Cuda *c, Nat nat)
{
    for (int i = 0; i < c->longs.n; i++)
        if (nat_mentions(nat, c->longs.at[i]))
            return true;
    return false;
}

bool nat_is_wide(const Cuda *c, Nat nat)
{
    for (int i = 0; i < c->wide.n; i++)
        if (nat_mentions(nat, c->wide.at[i]))
            return true;
    return is_long(c, nat);
}

CudaIndex cuda_nat_type(const Cuda *c, Nat nat) { return is_long(c, nat) ? INDEX_LONG : nat_is_wide(c, nat) ? c->index : INDEX_INT; }

const char *cuda_index_type(CudaIndex type)
{
    static const char *const types[] = {[INDEX_INT] = "int", [INDEX_LONG] = "long long", [INDEX_PARAMETER] = "Index"};
    return types[type];
}

void cuda_index_is(Cuda *c, Nat var, CudaIndex type)
{
    if (type == INDEX_LONG)
        vec_push(c->ctx, &c->longs, var);
    else if (type == INDEX_PARAMETER)
        vec_push(c->ctx, &c->wide, var);
}

static bool fits_int(const Cuda *c, Nat nat)
{
    NatRange r = nat_range(c->ctx, c->facts, nat);
    return r.has_lo && r.has_hi && r.lo >= -INDEX_MAX && r.hi <= INDEX_MAX;
}

/* With 64-bit indices: is there a part without a wide variable that int could not hold? */
static bool outgrows_int(const Cuda *c, Nat nat)
{
    if (!nat->has_vars)
        return false;
    if (nat->kind != NAT_VAR && !nat_is_wide(c, nat) && !fits_int(c, nat))
        return true;
    if ((nat->a && outgrows_int(c, nat->a)) || (nat->b && outgrows_int(c, nat->b)))
        return true;
    for (int i = 0; i < nat->n_terms; i++) {
        const NatTerm *t = &nat->terms[i];
        Nat narrow = nat_const(c->ctx, t->coef); /* the variables that are int, multiplied first or last */
        for (int k = 0; k < t->n_factors; k++) {
            if (outgrows_int(c, t->factors[k]))
                return true;
            if (!nat_is_wide(c, t->factors[k]))
                narrow = nat_mul(c->ctx, narrow, t->factors[k]);
        }
        if (narrow->has_vars && narrow->kind != NAT_VAR && !fits_int(c, narrow))
            return true;
    }
    return false;
}

static const char *as_index(void *user, Nat var)
{
    const Cuda *c = user;
    return ctx_printf(c->ctx, "(%s)%s", cuda_index_type(c->index), c_names_get(c->names, var));
}

void cuda_nat(Cuda *c, Nat nat, CPrec prec)
{
    int min_prec = prec <= C_SUM ? 0 : prec == C_PRODUCT ? 1 : 2;
    bool wide = !c->kernel || c->kernel->wide, cast = c->kernel && wide && outgrows_int(c, nat);
    bool narrow = !wide || (c->kernel && !cast && !nat_is_wide(c, nat)); /* int holds each part of it */
    NatNumbers numbers = narrow ? NAT_INT : NAT_LONG_LONG;
    if (c->header)
        cuda_nat_helpers(c, nat_print_plain_c(c->ctx, c->out, nat, c->facts, numbers, c_names_of, c->names, min_prec, c->header->lower));
    else
        cuda_nat_helpers(c, nat_print_named_c(c->ctx, c->out, nat, c->facts, numbers, cast ? as_index : c_names_of, cast ? (void *)c : c->names, min_prec, c->divisors));
}

const char *cuda_slot_name(Cuda *c, const ImpVar *var, Nat slot)
{
    const char *name = c->var_names[var->id];
    return var->vector ? cuda_vector_part(c, name, var, (int)slot->value) : name;
}

const char *cuda_claim(Cuda *c, const ImpVar *var)
{
    return c_name_claim(c->names, var->base ? var->base : var->name);
}

void cuda_slot(Cuda *c, const ImpVar *var, Nat slot)
{
    put(c, cuda_slot_name(c, var, slot));
    if (var->slots == 1 || var->vector)
        return;
    put(c, "[");
    cuda_nat(c, slot, C_ANY);
    put(c, "]");
}

void cuda_cell(Cuda *c, const ImpBuf *buf, Nat index)
{
    Nat shift = c->buf_shifts[buf->id];
    put(c, c->buf_names[buf->id]);
    if (c->buf_scalars[buf->id])
        return;
    put(c, "[");
    cuda_nat(c, shift ? nat_add(c->ctx, index, shift) : index, C_ANY);
    put(c, "]");
}

const char *cuda_loader(Cuda *c, const ImpBuf *buf)
{
    switch (buf->by_value ? HINT_NONE : buf->hint) {
    case HINT_NONE: break;
    case HINT_STREAM: return buf->elem == SC_BOOL ? NULL : "__ldcs"; /* which has no bool */
    case HINT_KEEP: return cuda_helper(c, HELP_LOAD_KEPT, SC_I32);
    }
    return NULL;
}

void cuda_load_cell(Cuda *c, const ImpBuf *buf, Nat index)
{
    const char *loader = cuda_loader(c, buf);
    if (loader)
        sb_printf(c->out, "%s(&", loader);
    cuda_cell(c, buf, index);
    put(c, loader ? ")" : "");
}

/* ---- literals ----------------------------------------------------------------------------------------------------------- */

static void put_float(Cuda *c, ScalarValue v)
{
    bool single = v.type != SC_F64;
    if (isnan(v.f)) {
        put(c, single ? "__int_as_float(0x7fffffff)" : "__longlong_as_double(0x7fffffffffffffffll)");
        return;
    }
    if (signbit(v.f))
        put(c, "-");
    if (isinf(v.f)) {
        sb_printf(c->out, "%s%s", single ? "" : "(double)", cuda_helper(c, HELP_INFINITE, SC_F32));
        return;
    }
    StrBuf text;
    sb_init(&text, c->ctx);
    sb_put_float(&text, fabs(v.f), single);
    put(c, text.text);
    if (!strpbrk(text.text, ".e"))
        put(c, ".0");
    put(c, single ? "f" : "");
}

static void put_literal(Cuda *c, ScalarValue v, CPrec prec)
{
    bool number = v.type != SC_BOOL, is_float = scalar_is_float(v.type);
    bool least = (v.type == SC_I32 && v.i == INT32_MIN) || (v.type == SC_I64 && v.i == INT64_MIN);
    bool negative = number && (is_float ? signbit(v.f) && !isnan(v.f) : scalar_is_signed(v.type) && v.i < 0);
    bool paren = prec > (least ? C_SUM : C_UNARY) && negative;
    /* A minus behind another one is no decrement; a - -1 reads badly, but so does the program. */
    put(c, paren ? "(" : "");
    if (!number)
        put(c, v.i ? "true" : "false");
    else if (is_float)
        put_float(c, v);
    else if (least)
        put(c, v.type == SC_I32 ? "-2147483647 - 1" : "-9223372036854775807ll - 1");
    else if (scalar_is_signed(v.type))
        sb_printf(c->out, "%lld%s", (long long)v.i, v.type == SC_I64 ? "ll" : "");
    else
        sb_printf(c->out, "%llu%s", (unsigned long long)v.u, v.type == SC_U64 ? "ull" : v.type == SC_U32 ? "u" : "");
    put(c, paren ? ")" : "");
}

static void put_nat_value(Cuda *c, const ImpExpr *e, CPrec prec)
{
    if (e->type == CUDA_AS_IT_IS) {
        cuda_nat(c, e->nat, prec);
        return;
    }
    CudaIndex type = cuda_nat_type(c, e->nat);
    if (nat_is_const(e->nat)) {
        put_literal(c, scalar_int(e->type, e->nat->value), prec);
        return;
    }
    if ((e->type == SC_I32 && type == INDEX_INT) || (e->type == SC_I64 && type == INDEX_LONG)) {
        cuda_nat(c, e->nat, prec);
        return;
    }
    if (e->type == SC_BF16) { /* a float may have rounded it already */
        sb_printf(c->out, "%s((double)", cuda_helper(c, HELP_TO_ODD, SC_F64));
        cuda_nat(c, e->nat, C_UNARY);
        put(c, ")");
        return;
    }
    put(c, prec > C_UNARY ? "(" : "");
    sb_printf(c->out, "(%s)", cuda_value_type(e->type));
    cuda_nat(c, e->nat, C_UNARY);
    put(c, prec > C_UNARY ? ")" : "");
}

/* ---- operators ---------------------------------------------------------------------------------------------------------- */

static bool has_shuffle(const ImpExpr *e)
{
    switch (e->kind) {
    case IE_LIT: case IE_NAT: case IE_VAR: case IE_LOAD:
        return false;
    case IE_OP:
        for (int i = 0; i < e->op.n; i++)
            if (has_shuffle(e->op.args[i]))
                return true;
        return false;
    case IE_CAST:
        return has_shuffle(e->cast.value);
    case IE_COND:
        return has_shuffle(e->cond.cond) || has_shuffle(e->cond.then) || has_shuffle(e->cond.otherwise);
    case IE_SHFL:
        return true;
    }
    return false;
}

static void put_args(Cuda *c, const ImpExpr *e)
{
    put(c, "(");
    for (int i = 0; i < e->op.n; i++) {
        put(c, i ? ", " : "");
        cuda_expr(c, e->op.args[i], C_ANY);
    }
    put(c, ")");
}

static void put_call(Cuda *c, const char *name, const ImpExpr *e)
{
    put(c, name);
    put_args(c, e);
}

/* What an infix expression is in C, or C_ATOM: to put parentheses where people want them. */
static CPrec infix_prec(const ImpExpr *e)
{
    const char *text;
    CPrec prec = C_ATOM;
    if (e->kind == IE_OP && e->op.n == 2)
        cuda_operator(e->op.id, &text, &prec);
    if (e->kind == IE_OP && (e->op.id == P_shl || e->op.id == P_shr))
        prec = C_SHIFT;
    return prec;
}

/* People do not know by heart how these bind. */
static CPrec operand_prec(const ImpExpr *operand, CPrec own, bool right)
{
    CPrec inner = infix_prec(operand);
    bool bits = own == C_SHIFT || (own >= C_BIT_OR && own <= C_BIT_AND);
    if (bits && (inner != own || right || own == C_SHIFT))
        return C_UNARY;
    if (own == C_OR && inner == C_AND)
        return C_UNARY;
    if ((own == C_OR || own == C_AND) && inner == own) /* a && (b && c) */
        return own;
    if (own == C_EQUAL && (inner == C_LESS || inner == C_EQUAL))
        return C_UNARY;
    return right || own == C_LESS ? own + 1 : own;
}

static void put_infix(Cuda *c, const char *op, CPrec own, const ImpExpr *a, const ImpExpr *b, CPrec prec)
{
    bool paren = prec > own;
    put(c, paren ? "(" : "");
    cuda_expr(c, a, operand_prec(a, own, false));
    sb_printf(c->out, " %s ", op);
    cuda_expr(c, b, operand_prec(b, own, true));
    put(c, paren ? ")" : "");
}

/* Opens a cast; the operand is to be printed at what is given back. */
static void open_cast(Cuda *c, Scalar type, CPrec prec)
{
    put(c, prec > C_UNARY ? "(" : "");
    sb_printf(c->out, "(%s)", cuda_value_type(type));
}

static void close_cast(Cuda *c, CPrec prec) { put(c, prec > C_UNARY ? ")" : ""); }

static bool is_literal(const ImpExpr *e, int64_t *value)
{
    if (e->kind == IE_LIT && !scalar_is_float(e->lit.type)) {
        *value = e->lit.i;
        return true;
    }
    if (e->kind == IE_NAT && nat_is_const(e->nat)) {
        *value = scalar_int(e->type, e->nat->value).i;
        return true;
    }
    return false;
}

/* What wraps or must not trap, and so is a helper; false when the plain operator is right. */
static bool int_helper(const ImpExpr *e, Scalar t, CudaHelper *helper)
{
    bool is_signed = scalar_is_signed(t), wraps = is_signed && !is_small(t);
    Scalar wide = is_small(t) ? SC_I32 : t;
    bool wide_signed = scalar_is_signed(wide);
    int64_t k;
    switch ((int)e->op.id) {
    case P_add:
        *helper = HELP_WRAP_ADD;
        return wraps;
    case P_sub:
        *helper = HELP_WRAP_SUB;
        return wraps;
    case P_mul:
        *helper = HELP_WRAP_MUL;
        return wraps;
    case P_abs:
        *helper = HELP_WRAP_ABS;
        return wraps;
    case P_div:
        *helper = wide_signed ? HELP_SAFE_DIV : HELP_SAFE_DIV_U;
        return !is_literal(e->op.args[1], &k) || k == 0 || (is_signed && k == -1);
    case P_mod:
        *helper = wide_signed ? HELP_SAFE_MOD : HELP_SAFE_MOD_U;
        return !is_literal(e->op.args[1], &k) || k == 0 || (is_signed && k == -1);
    case P_shl:
        *helper = wide_signed ? HELP_SHIFT_LEFT : HELP_SHIFT_LEFT_U;
        return is_signed || !is_literal(e->op.args[1], &k) || k < 0 || k >= 8 * scalar_bytes(t);
    case P_shr:
        *helper = wide_signed ? HELP_SHIFT_RIGHT : HELP_SHIFT_RIGHT_U;
        return !is_literal(e->op.args[1], &k) || k < 0 || k >= 8 * scalar_bytes(t);
    }
    return false;
}

/* Narrow types: the result of the int arithmetic may lie outside. */
static bool leaves_small(PrimId id, Scalar t)
{
    return is_small(t) && (id == P_add || id == P_sub || id == P_mul || id == P_shl || id == P_neg || (id == P_abs && scalar_is_signed(t)) ||
                           (id == P_div && scalar_is_signed(t)));
}

static void put_bit_count(Cuda *c, const ImpExpr *e, Scalar t, CPrec prec)
{
    bool clz = e->op.id == P_clz, wide = scalar_bytes(t) == 8;
    int missing = clz ? 32 - 8 * scalar_bytes(t) : 0; /* leading zeros that the type does not have */
    bool cast = t == SC_U32 || wide, paren = is_small(t) && missing && prec > C_SUM;
    if (cast)
        open_cast(c, t, prec);
    put(c, paren ? "(" : "");
    sb_printf(c->out, "%s%s(", clz ? "__clz" : "__popc", wide ? "ll" : "");
    if (is_small(t) && scalar_is_signed(t))
        sb_printf(c->out, "(%s)", t == SC_I8 ? "unsigned char" : "unsigned short");
    cuda_expr(c, e->op.args[0], is_small(t) && scalar_is_signed(t) ? C_UNARY : C_ANY);
    put(c, ")");
    if (is_small(t) && missing)
        sb_printf(c->out, " - %d", missing);
    put(c, paren ? ")" : "");
    if (cast)
        close_cast(c, prec);
}

/* (a + b) + c of a narrow type: ints are brought back once, for which there are few enough. */
static void put_small_sum(Cuda *c, const ImpExpr *e, int terms)
{
    enum { MOST_TERMS = 4096 }; /* of 16 bits */
    const ImpExpr *first = e->op.args[0];
    bool goes_on = first->kind == IE_OP && first->op.id == P_add && first->type == e->type;
    if (goes_on && terms < MOST_TERMS)
        put_small_sum(c, first, terms + 1);
    else
        cuda_expr(c, first, C_SUM);
    put(c, " + ");
    cuda_expr(c, e->op.args[1], C_PRODUCT);
}

static void put_int_op(Cuda *c, const ImpExpr *e, Scalar t, CPrec prec)
{
    PrimId id = e->op.id;
    const char *text;
    CPrec own;
    CudaHelper helper;
    bool narrow = leaves_small(id, t);
    if (narrow) { /* the sum of ints, brought back */
        open_cast(c, t, prec);
        if (id == P_mul && t == SC_U16) { /* 65535 * 65535 leaves int */
            put(c, "((unsigned)");
            cuda_expr(c, e->op.args[0], C_UNARY);
            put(c, " * ");
            cuda_expr(c, e->op.args[1], C_UNARY);
            put(c, ")");
            close_cast(c, prec);
            return;
        }
        if (id == P_add) {
            put(c, "(");
            put_small_sum(c, e, 2);
            put(c, ")");
            close_cast(c, prec);
            return;
        }
    }
    CPrec outer = narrow ? C_UNARY : prec;
    if (scalar_is_signed(t) && prim_compares(id) && cuda_operator(id, &text, &own)) {
        put_infix(c, text, own, cuda_compared(c, e->op.args[0]), cuda_compared(c, e->op.args[1]), outer);
    } else if (cuda_put_negation(c, e, t, outer)) {
        /* done */
    } else if (int_helper(e, t, &helper)) {
        put_call(c, cuda_helper(c, helper, is_small(t) ? SC_I32 : t), e);
    } else if (id == P_min || id == P_max) {
        put_call(c, id == P_min ? "min" : "max", e);
    } else if (id == P_popc || id == P_clz) {
        put_bit_count(c, e, t, outer);
    } else if (id == P_abs) {
        if (scalar_is_signed(t))
            put_call(c, "abs", e);
        else
            cuda_expr(c, e->op.args[0], outer);
    } else if (id == P_shl || id == P_shr) {
        put_infix(c, id == P_shl ? "<<" : ">>", C_SHIFT, e->op.args[0], e->op.args[1], outer);
    } else if (cuda_operator(id, &text, &own)) {
        put_infix(c, text, own, e->op.args[0], e->op.args[1], outer);
    }
    if (narrow)
        close_cast(c, prec);
}

static void put_float_op(Cuda *c, const ImpExpr *e, Scalar t, CPrec prec)
{
    PrimId id = e->op.id;
    const char *text;
    CPrec own;
    if (id == P_neg) {
        put(c, prec > C_UNARY ? "(-" : "-");
        bool minus = e->op.args[0]->kind == IE_LIT || (e->op.args[0]->kind == IE_OP && e->op.args[0]->op.id == P_neg);
        cuda_expr(c, e->op.args[0], minus ? C_ATOM : C_UNARY);
        put(c, prec > C_UNARY ? ")" : "");
    } else if (e->op.rounded) { /* else nvcc may join it with another, also of a later statement */
        const char *name = id == P_mul ? "mul" : id == P_add ? "add" : "sub";
        put_call(c, ctx_printf(c->ctx, "__%c%s_rn", t == SC_F64 ? 'd' : 'f', name), e);
    } else if (id == P_fma && cuda_is_half(t)) {
        put_call(c, cuda_half_fma(c, t), e);
    } else if (id == P_div && cuda_is_half(t)) {
        put_call(c, cuda_half_quotient(c, t), e);
    } else if (cuda_operator(id, &text, &own)) {
        put_infix(c, text, own, e->op.args[0], e->op.args[1], prec);
    } else if (cuda_function(id, t)) {
        put_call(c, cuda_function(id, t), e);
    }
}

/* i - 1 and 0 as i and 1. */
static void without_constant(Ctx *ctx, Nat *a, Nat *b)
{
    if ((*a)->kind != NAT_SUM || !nat_is(*b, 0))
        return;
    for (int i = 0; i < (*a)->n_terms; i++)
        if ((*a)->terms[i].n_factors == 0 && (*a)->terms[i].coef < 0) {
            *b = nat_const(ctx, -(*a)->terms[i].coef);
            *a = nat_add(ctx, *a, *b);
            return;
        }
}

/* `lane < 1` says that lane is 0, and reads better so; a constant stands on the right. */
static void put_nat_comparison(Cuda *c, const ImpExpr *e, CPrec prec)
{
    static const PrimId mirrored[] = {[P_eq - P_eq] = P_eq, [P_ne - P_eq] = P_ne, [P_lt - P_eq] = P_gt,
                                      [P_le - P_eq] = P_ge, [P_gt - P_eq] = P_lt, [P_ge - P_eq] = P_le};
    PrimId id = e->op.id;
    Nat a = e->op.args[0]->nat, b = e->op.args[1]->nat;
    if (nat_is_const(a) && !nat_is_const(b)) {
        Nat t = a;
        a = b;
        b = t;
        id = mirrored[id - P_eq];
    }
    if (nat_is_const(b) && nat_is_const(a) == false) {
        without_constant(c->ctx, &a, &b);
        NatRange r = nat_range(c->ctx, c->facts, a);
        int64_t k = b->value;
        if (r.has_lo && ((id == P_lt && k == r.lo + 1) || (id == P_le && k == r.lo))) {
            id = P_eq;
            b = nat_const(c->ctx, r.lo);
        } else if (r.has_hi && ((id == P_gt && k == r.hi - 1) || (id == P_ge && k == r.hi))) {
            id = P_eq;
            b = nat_const(c->ctx, r.hi);
        }
    }
    const char *text = "";
    CPrec own = C_LESS;
    cuda_operator(id, &text, &own);
    put(c, prec > own ? "(" : "");
    cuda_nat(c, a, C_SUM);
    sb_printf(c->out, " %s ", text);
    cuda_nat(c, b, C_SUM);
    put(c, prec > own ? ")" : "");
}

static void put_choice(Cuda *c, const ImpExpr *cond, const ImpExpr *then, const ImpExpr *otherwise, CPrec prec)
{
    bool is_and = otherwise->kind == IE_LIT && otherwise->type == SC_BOOL && !otherwise->lit.i;
    bool is_or = then->kind == IE_LIT && then->type == SC_BOOL && then->lit.i;
    if (is_and || is_or) {
        put_infix(c, is_and ? "&&" : "||", is_and ? C_AND : C_OR, cond, is_and ? then : otherwise, prec);
        return;
    }
    const bool copies = c->copies; /* of bits, which lose no zero */
    bool hidden = !copies && imp_may_lose_zero(then, otherwise), inverse = !copies && !hidden && imp_may_lose_zero(otherwise, then);
    if (hidden || inverse) {
        put(c, cuda_helper(c, HELP_ZERO_UNLESS, then->type));
        put(c, "(");
        (inverse ? cuda_not : cuda_expr)(c, cond, C_ANY);
        put(c, ", ");
        const ImpExpr *value = hidden ? then : otherwise;
        if (value->kind == IE_VAR) {
            cuda_expr(c, value, C_ANY);
            put(c, ")");
            return;
        }
        prec = C_ANY;
    }
    bool paren = prec > C_CHOICE;
    put(c, paren ? "(" : "");
    c->copies = false;
    cuda_expr(c, cond, C_OR);
    c->copies = copies;
    put(c, " ? ");
    cuda_expr(c, then, C_OR);
    put(c, " : ");
    cuda_expr(c, otherwise, C_CHOICE);
    put(c, paren || hidden || inverse ? ")" : "");
}

void cuda_not(Cuda *c, const ImpExpr *e, CPrec prec)
{
    ImpExpr turned = *e;
    if (e->kind == IE_OP && prim_compares(e->op.id) && !scalar_is_float(e->op.args[0]->type)) {
        turned.op.id = prim_opposite(e->op.id);
        cuda_expr(c, &turned, prec);
        return;
    }
    put(c, prec > C_UNARY ? "(!" : "!");
    cuda_expr(c, e, C_UNARY);
    put(c, prec > C_UNARY ? ")" : "");
}

static void put_bool_op(Cuda *c, const ImpExpr *e, CPrec prec)
{
    const char *text;
    CPrec own;
    if (e->op.id == P_not) {
        cuda_not(c, e->op.args[0], prec);
        return;
    }
    if ((e->op.id == P_and || e->op.id == P_or) && has_shuffle(e->op.args[1])) { /* both sides are computed */
        bool both = e->op.id == P_and;
        put_infix(c, both ? "&" : "|", both ? C_BIT_AND : C_BIT_OR, e->op.args[0], e->op.args[1], prec);
        return;
    }
    if (cuda_operator(e->op.id, &text, &own))
        put_infix(c, text, own, e->op.args[0], e->op.args[1], prec);
}

static void put_op(Cuda *c, const ImpExpr *e, CPrec prec)
{
    PrimId id = e->op.id;
    if (id == P_select) {
        if (has_shuffle(e->op.args[1]) || has_shuffle(e->op.args[2])) {
            sb_printf(c->out, "%s<%s>", cuda_helper(c, HELP_BOTH, SC_I32), cuda_value_type(e->type));
            put_args(c, e);
        } else {
            put_choice(c, e->op.args[0], e->op.args[1], e->op.args[2], prec);
        }
        return;
    }
    Scalar t = e->op.args[0]->type;
    /* Of sizes and indices: as they are. Of values in a kernel with 64-bit indices, after the cast to their type. */
    if (prim_compares(id) && e->op.args[0]->kind == IE_NAT && e->op.args[1]->kind == IE_NAT && !scalar_is_float(t) &&
        (t == SC_I64 || !c->kernel || !c->kernel->wide))
        put_nat_comparison(c, e, prec);
    else if (t == SC_BOOL)
        put_bool_op(c, e, prec);
    else if (scalar_is_float(t))
        put_float_op(c, e, t, prec);
    else
        put_int_op(c, e, t, prec);
}

/* ---- casts and shuffles ------------------------------------------------------------------------------------------------- */

static void put_cast(Cuda *c, const ImpExpr *e, CPrec prec)
{
    static const CudaHelper saturate[SC_COUNT] = {[SC_I8] = HELP_TO_I8, [SC_I16] = HELP_TO_I16, [SC_I32] = HELP_TO_I32, [SC_I64] = HELP_TO_I64,
                                                  [SC_U8] = HELP_TO_U8, [SC_U16] = HELP_TO_U16, [SC_U32] = HELP_TO_U32, [SC_U64] = HELP_TO_U64};
    const ImpExpr *value = e->cast.value;
    Scalar from = value->type, to = e->type;
    bool wide_int = scalar_is_int(from) && scalar_bytes(from) >= 4;
    from = cuda_is_half(from) ? SC_F32 : from;
    if (value->kind == IE_NAT && from == SC_I64 && to != SC_BOOL && !cuda_is_half(to)) { /* an index has the bits that it needs */
        const ImpExpr direct = {.kind = IE_NAT, .type = to, .span = value->span, .nat = value->nat};
        put_nat_value(c, &direct, prec);
    } else if (from == to || (from == SC_F32 && cuda_is_half(to))) { /* what rounds is around it */
        cuda_expr(c, value, prec);
    } else if (cuda_is_half(to) && (from == SC_F64 || (to == SC_BF16 && wide_int))) { /* a float may round it before */
        bool is_long = scalar_bytes(from) == 8 && from != SC_F64;
        sb_printf(c->out, "%s(", cuda_helper(c, HELP_TO_ODD, SC_F64));
        if (is_long)
            sb_printf(c->out, "%s(", cuda_helper(c, scalar_is_signed(from) ? HELP_STICKY : HELP_STICKY_U, from));
        else if (from != SC_F64)
            put(c, "(double)");
        cuda_expr(c, value, is_long || from == SC_F64 ? C_ANY : C_UNARY);
        put(c, is_long ? "))" : ")");
    } else if (to == SC_BOOL) {
        put(c, prec > C_EQUAL ? "(" : "");
        cuda_expr(c, value, C_LESS);
        put(c, from == SC_F32 ? " != 0.0f" : from == SC_F64 ? " != 0.0" : " != 0");
        put(c, prec > C_EQUAL ? ")" : "");
    } else if (scalar_is_float(from) && !scalar_is_float(to)) {
        sb_printf(c->out, "%s(", cuda_helper(c, saturate[to], from));
        cuda_expr(c, value, C_ANY);
        put(c, ")");
    } else {
        open_cast(c, to, prec);
        cuda_expr(c, value, C_UNARY);
        close_cast(c, prec);
    }
}

/* Does all of the condition hold in a full tile? */
static bool is_spared(const ImpExpr *e)
{
    bool both = e->kind == IE_OP && e->op.id == P_and;
    return both ? is_spared(e->op.args[0]) && is_spared(e->op.args[1])
                : e->kind == IE_OP && e->op.spared;
}

static void put_full_or(Cuda *c, const ImpExpr *e, CPrec prec)
{
    const char *full = c->full;
    c->full = NULL;
    sb_printf(c->out, "%s%s || ", prec > C_OR ? "(" : "", full);
    put_op(c, e, e->op.id == P_and ? C_UNARY : C_AND);
    put(c, prec > C_OR ? ")" : "");
    c->full = full;
}

static void put_warp_reduction(Cuda *c, const ImpExpr *e)
{
    static const struct { PrimId op; CudaHelper helper; } rows[] = {{P_add, HELP_REDUCE_ADD}, {P_min, HELP_REDUCE_MIN}, {P_max, HELP_REDUCE_MAX},
                                                                    {P_bitAnd, HELP_REDUCE_AND}, {P_bitOr, HELP_REDUCE_OR}, {P_bitXor, HELP_REDUCE_XOR}};
    if (e->type == SC_F32)
        sb_printf(c->out, "%s(", cuda_helper(c, e->shfl.op == P_min ? HELP_REDUCE_MIN_F32 : HELP_REDUCE_MAX_F32, e->type));
    else
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (rows[i].op == e->shfl.op)
                sb_printf(c->out, "%s(", cuda_helper(c, rows[i].helper, e->type));
    cuda_expr(c, e->shfl.value, C_ANY);
    put(c, ")");
}

static void put_shuffle(Cuda *c, const ImpExpr *e, CPrec prec)
{
    const char *name = e->shfl.id == P_shfl ? "__shfl_sync" : e->shfl.id == P_shflXor ? "__shfl_xor_sync" : e->shfl.id == P_shflUp ? "__shfl_up_sync" : "__shfl_down_sync";
    if (e->shfl.id == P_reduceWarp) {
        put_warp_reduction(c, e);
        return;
    }
    bool small = is_small(e->type), is_bool = e->type == SC_BOOL;
    if (small)
        open_cast(c, e->type, prec);
    put(c, is_bool && prec > C_EQUAL ? "(" : "");
    sb_printf(c->out, "%s(0xffffffff, ", name);
    put(c, small || is_bool ? "(int)" : "");
    cuda_expr(c, e->shfl.value, small || is_bool ? C_UNARY : C_ANY);
    put(c, ", ");
    cuda_expr(c, e->shfl.by, C_ANY);
    if (e->shfl.lanes != WARP_LANES)
        sb_printf(c->out, ", %d", e->shfl.lanes);
    put(c, ")");
    if (is_bool)
        put(c, prec > C_EQUAL ? " != 0)" : " != 0");
    if (small)
        close_cast(c, prec);
}

void cuda_unrounded(Cuda *c, const ImpExpr *e, CPrec prec)
{
    switch (e->kind) {
    case IE_LIT:
        if (c->copies && cuda_is_half(e->type))
            cuda_put_literal_bits(c, e);
        else
            put_literal(c, e->lit, prec);
        break;
    case IE_NAT:
        put_nat_value(c, e, prec);
        break;
    case IE_VAR:
        if (cuda_is_bits(c, e->var.var) && !c->copies)
            cuda_half_slot(c, e->var.var, e->var.slot);
        else
            cuda_slot(c, e->var.var, e->var.slot);
        break;
    case IE_LOAD:
        if (cuda_is_half(e->type) && !c->copies)
            cuda_half_load(c, e);
        else
            cuda_load_cell(c, e->mem.buf, e->mem.index);
        break;
    case IE_OP:
        if (c->full && is_spared(e))
            put_full_or(c, e, prec);
        else
            put_op(c, e, prec);
        break;
    case IE_CAST:
        put_cast(c, e, prec);
        break;
    case IE_COND:
        put_choice(c, e->cond.cond, e->cond.then, e->cond.otherwise, prec);
        break;
    case IE_SHFL:
        put_shuffle(c, e, prec);
        break;
    }
}

void cuda_expr(Cuda *c, const ImpExpr *e, CPrec prec)
{
    if (cuda_is_half(e->type) && cuda_half_rounds(e))
        cuda_half_round(c, e);
    else
        cuda_unrounded(c, e, prec);
}

/* ---- assignment ----------------------------------------------------------------------------------------------------------- */

static bool is_place(const ImpExpr *e, const ImpExpr *target)
{
    if (e->kind != target->kind)
        return false;
    if (e->kind == IE_LOAD)
        return e->mem.buf == target->mem.buf && e->mem.index == target->mem.index;
    return e->var.var == target->var.var && (e->var.var->slots == 1 || e->var.slot == target->var.slot);
}

/* v = v op e as v op= e: the same bits, for a float's + and * also with the operands exchanged. */
static bool put_compound(Cuda *c, const ImpExpr *target, const ImpExpr *value)
{
    const char *text;
    CPrec own;
    CudaHelper helper;
    if (value->kind != IE_OP || value->op.n != 2 || is_small(value->type) || value->type == SC_BOOL || cuda_is_half(value->type))
        return false;
    PrimId id = value->op.id;
    bool is_float = scalar_is_float(value->type);
    if (!cuda_operator(id, &text, &own) || own == C_AND || own == C_OR || value->op.rounded)
        return false;
    if (!is_float && int_helper(value, value->type, &helper))
        return false;
    bool commutes = id == P_add || id == P_mul || id == P_bitAnd || id == P_bitOr || id == P_bitXor;
    const ImpExpr *rest = is_place(value->op.args[0], target)               ? value->op.args[1]
                          : commutes && is_place(value->op.args[1], target) ? value->op.args[0]
                                                                          : NULL;
    if (!rest)
        return false;
    sb_printf(c->out, " %s= ", text);
    cuda_expr(c, rest, C_ANY);
    return true;
}

void cuda_assign(Cuda *c, const ImpExpr *target, const ImpExpr *value)
{
    if (put_compound(c, target, value))
        return;
    put(c, " = ");
    if (target->kind == IE_LOAD && cuda_is_half(target->type))
        cuda_half_store(c, value);
    else if (target->kind == IE_VAR && cuda_is_bits(c, target->var.var))
        cuda_put_copy(c, value, C_ANY);
    else
        cuda_expr(c, value, C_ANY);
}
