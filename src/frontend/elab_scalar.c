/* Literals, arithmetic on sizes and on data, comparisons, casts, units. */
#include <math.h>

#include "frontend/elab_internal.h"

PrimId prim_of_op(AstOp op)
{
    switch (op) {
    case OP_ADD:
        return P_add;
    case OP_SUB:
        return P_sub;
    case OP_MUL:
        return P_mul;
    case OP_DIV:
        return P_div;
    case OP_MOD:
        return P_mod;
    case OP_EQ:
        return P_eq;
    case OP_NE:
        return P_ne;
    case OP_LT:
        return P_lt;
    case OP_LE:
        return P_le;
    case OP_GT:
        return P_gt;
    case OP_GE:
        return P_ge;
    case OP_AND:
        return P_and;
    case OP_OR:
        return P_or;
    case OP_NEG:
        return P_neg;
    case OP_NOT:
        return P_not;
    case OP_POW:
        break;
    }
    return P_COUNT;
}

static bool is_comparison(AstOp op) { return op >= OP_EQ && op <= OP_GE; }

/* ---- sizes -------------------------------------------------------------------------------------------------------- */

/* True or false where the facts decide it: then only that branch of an `if` is elaborated. */
static bool compare_known(Elab *e, AstOp op, Nat a, Nat b, bool *holds)
{
    Ctx *ctx = e->ctx;
    const NatFacts *facts = e->facts;
    switch ((int)op) {
    case OP_GT:
    case OP_GE: {
        Nat t = a;
        a = b;
        b = t;
        op = op == OP_GT ? OP_LT : OP_LE;
        break;
    }
    case OP_EQ:
    case OP_NE: {
        bool equal = nat_equal(ctx, facts, a, b) || (nat_is(b, 0) && a->kind == NAT_MOD && nat_divides(ctx, facts, a->b, a->a));
        bool differ = !equal && (nat_lt(ctx, facts, a, b) || nat_lt(ctx, facts, b, a));
        *holds = op == OP_EQ ? equal : differ;
        return equal || differ;
    }
    }
    bool yes = op == OP_LT ? nat_lt(ctx, facts, a, b) : nat_le(ctx, facts, a, b);
    bool no = !yes && (op == OP_LT ? nat_le(ctx, facts, b, a) : nat_lt(ctx, facts, b, a));
    *holds = yes;
    return yes || no;
}

static Nat divisor(Elab *e, Nat b, Span span)
{
    if (nat_le(e->ctx, e->facts, nat_const(e->ctx, 1), b))
        return b;
    Diag *d = elab_error(e, E0307, span, nat_is_const(b) ? "a size is divided by %s" : "the divisor `%s` may be 0", nat_text(e->ctx, b));
    if (!nat_is_const(b)) {
        diag_label(e->ctx, d, "%s >= 1 is not known", nat_text(e->ctx, b));
        if (only_entry_sizes(e, b))
            propose_where(e, d, at_least_text(e, b, 1), NULL);
    } else {
        diag_label(e->ctx, d, "divisors of sizes are at least 1");
    }
    return NULL;
}

static Value nat_binary(Elab *e, AstOp op, Value va, Value vb, Span span)
{
    Ctx *ctx = e->ctx;
    LetBind *lets = NULL;
    Nat a, b, r = NULL;
    bool inexact = va.inexact || vb.inexact;
    value_to_nat(e, va, &a, &lets);
    value_to_nat(e, vb, &b, &lets);
    if (nat_is_error(a) || nat_is_error(b))
        return v_error(span);
    if (is_comparison(op)) {
        bool holds;
        Core *core;
        if (compare_known(e, op, a, b, &holds)) {
            core = core_bool(e, span, holds);
        } else {
            Type i64 = type_scalar(ctx, SC_I64);
            Core *args[2] = {core_size(e, va.span, a, i64), core_size(e, vb.span, b, i64)};
            core = core_prim(e, prim_of_op(op), span, type_scalar(ctx, SC_BOOL), 0, NULL, 2, args);
        }
        return v_core(e, lets_wrap(e, lets, core));
    }
    switch ((int)op) {
    case OP_ADD:
        r = nat_add(ctx, a, b);
        break;
    case OP_SUB:
        r = nat_sub(ctx, a, b);
        break;
    case OP_MUL:
        r = nat_mul(ctx, a, b);
        break;
    case OP_DIV:
    case OP_MOD:
        if (!divisor(e, b, vb.span))
            return v_error(span);
        r = op == OP_DIV ? nat_div(ctx, a, b) : nat_mod(ctx, a, b);
        if (nat_is_const(a) && nat_is_const(b) && op == OP_DIV)
            inexact |= floor_mod(a->value, b->value) != 0;
        break;
    case OP_POW:
        if (!nat_le(ctx, e->facts, nat_const(ctx, 0), b)) {
            elab_error(e, E0306, vb.span, "the exponent `%s` may be negative", nat_text(ctx, b));
            return v_error(span);
        }
        r = nat_pow(ctx, a, b);
        break;
    }
    if (!nat_checked(e, r, span))
        return v_error(span);
    Value v = v_nat(r, span);
    v.literal = va.kind == V_NAT && va.literal && vb.kind == V_NAT && vb.literal;
    v.from_idx = va.kind == V_CORE || vb.kind == V_CORE || va.from_idx || vb.from_idx;
    v.inexact = v.literal && inexact;
    v.quotient = op == OP_DIV ? quotient_of_sizes(e, a, b, va.span, vb.span, span) : NULL;
    v.lets = lets;
    return v;
}

Value eval_natfn(Elab *e, const char *name, int n, const Value *args, Span span)
{
    Ctx *ctx = e->ctx;
    LetBind *lets = NULL;
    Nat a[2];
    for (int i = 0; i < n; i++) {
        if (args[i].kind == V_ERROR)
            return v_error(span);
        if (!value_to_nat(e, args[i], &a[i], &lets)) {
            elab_error(e, E0322, args[i].span, "`%s` is of sizes, and this is %s", name, value_text(e, args[i]));
            return v_error(span);
        }
    }
    Nat r;
    if (strcmp(name, "pow2") == 0) {
        if (!nat_le(ctx, e->facts, nat_const(ctx, 0), a[0])) {
            elab_error(e, E0306, args[0].span, "the exponent `%s` may be negative", nat_text(ctx, a[0]));
            return v_error(span);
        }
        r = nat_pow(ctx, nat_const(ctx, 2), a[0]);
    } else {
        if (!divisor(e, a[1], args[1].span))
            return v_error(span);
        r = nat_ceil_div(ctx, a[0], a[1]);
    }
    if (!nat_checked(e, r, span))
        return v_error(span);
    Value v = v_nat(r, span);
    for (int i = 0; i < n; i++)
        v.from_idx |= args[i].kind == V_CORE || args[i].from_idx;
    v.lets = lets;
    return v;
}

Value prim_on_nats(Elab *e, PrimId id, const Value *args, Span span, bool *done)
{
    Ctx *ctx = e->ctx;
    *done = false;
    int n = id == P_log2 ? 1 : 2;
    bool literal = true, from_idx = false;
    for (int i = 0; i < n; i++) {
        if (!value_is_natable(e, args[i]))
            return v_error(span);
        literal &= args[i].kind == V_NAT && args[i].literal;
        from_idx |= args[i].kind == V_CORE || args[i].from_idx;
    }
    *done = true;
    LetBind *lets = NULL;
    Nat a = NULL, b = NULL, r;
    value_to_nat(e, args[0], &a, &lets);
    if (n == 2)
        value_to_nat(e, args[1], &b, &lets);
    if (id == P_log2) {
        if (!nat_le(ctx, e->facts, nat_const(ctx, 1), a)) {
            Diag *d = elab_error(e, E0306, args[0].span, "`log2` of a size wants at least 1");
            diag_label(ctx, d, "%s >= 1 is not known", nat_text(ctx, a));
            return v_error(span);
        }
        r = nat_log2(ctx, a);
    } else {
        r = id == P_min ? nat_min(ctx, a, b) : nat_max(ctx, a, b);
    }
    if (!nat_checked(e, r, span))
        return v_error(span);
    Value v = v_nat(r, span);
    v.literal = literal;
    v.from_idx = from_idx;
    v.lets = lets;
    return v;
}

/* ---- data --------------------------------------------------------------------------------------------------------- */

static bool as_bool(Elab *e, Value v, const char *what, Core **core)
{
    if (value_to_core(e, v, type_scalar(e->ctx, SC_BOOL), core))
        return true;
    Diag *d = elab_error(e, E0318, v.span, "`%s` wants conditions, and this is %s", what, value_text(e, v));
    if (strcmp(what, "not") == 0)
        propose_not(e, d, v.span);
    return false;
}

/* Are both the same comparison of sizes? Of others the literals may have no types yet. */
static bool same_comparison(const Core *x, const Core *y)
{
    if (x->kind != CORE_PRIM || y->kind != CORE_PRIM || x->prim.id != y->prim.id || x->prim.n_args != 2)
        return false;
    for (int i = 0; i < 2; i++) {
        const Core *a = x->prim.args[i], *b = y->prim.args[i];
        if (a->kind != CORE_SIZE || b->kind != CORE_SIZE || a->size != b->size)
            return false;
    }
    return true;
}

/* Is the comparison of sizes y one of those that x combines? */
static bool has_operand(const Core *x, PrimId id, const Core *y)
{
    if (x->kind == CORE_PRIM && x->prim.id == id)
        return has_operand(x->prim.args[0], id, y) || has_operand(x->prim.args[1], id, y);
    return same_comparison(x, y);
}

static Value eval_logic(Elab *e, AstOp op, Value a, Value b, Span span)
{
    const char *what = op == OP_AND ? "and" : "or";
    Core *x, *y;
    if (!as_bool(e, a, what, &x) || !as_bool(e, b, what, &y))
        return v_error(span);
    /* Conditions on tunables are known here. */
    bool stops = op == OP_OR;
    if (x->kind == CORE_LIT)
        return v_core(e, (x->lit.i != 0) == stops ? x : y);
    if (y->kind == CORE_LIT)
        return v_core(e, (y->lit.i != 0) == stops ? y : x);
    if (has_operand(x, prim_of_op(op), y))
        return v_core(e, x);
    Core *args[2] = {x, y};
    return v_core(e, core_prim(e, prim_of_op(op), span, type_scalar(e->ctx, SC_BOOL), 0, NULL, 2, args));
}

static const char *kind_wanted(ParamKind kind)
{
    switch (kind) {
    case KIND_NUM:
        return "numbers";
    case KIND_INT:
        return "integers";
    case KIND_FLOAT:
        return "floats";
    case KIND_SCALAR:
        return "scalars";
    case KIND_NAT:
    case KIND_DATA:
    case KIND_VALUE:
    case KIND_FUN:
        break;
    }
    return "data";
}

/* `a + b` of tuples: `(a.1 + b.1, a.2 + b.2)`. */
static void propose_components(Elab *e, Diag *d, Span span, const char *sign, int n, const char *a, const char *b)
{
    StrBuf sb;
    sb_init(&sb, e->ctx);
    bool names = a && b && !strpbrk(a, " (+-*/") && !strpbrk(b, " (+-*/");
    for (int i = 0; i < n; i++)
        sb_printf(&sb, "%s%s.%d %s %s.%d", i ? ", " : "", names ? a : "a", i + 1, sign, names ? b : "b", i + 1);
    diag_propose(e->ctx, d, names ? span : NO_SPAN, "apply it to the components: $", "(%s)", sb.text);
}

/* What an index becomes beside this operand. */
static const char *index_partner(Elab *e, Value other)
{
    Type t = other.kind == V_CORE ? type_resolve(e, other.core->type) : NULL;
    if (t && t->kind == TY_SCALAR && t->scalar != SC_BOOL)
        return scalar_name(t->scalar);
    bool to_float = other.kind == V_LIT && other.lit->is_float && float_for(e, SC_COUNT) != SC_COUNT;
    return scalar_name(to_float ? float_for(e, SC_COUNT) : SC_I32);
}

static bool is_poly(Value v) { return v.kind == V_NAT || v.kind == V_LIT; }

static bool is_array(const Elab *e, Value v) { return v.kind == V_CORE && type_resolve(e, v.core->type)->kind == TY_ARRAY; }

static void propose_remainder(Elab *e, Diag *d, Span span, const char *x, const char *y)
{
    bool simple = x && y && !strpbrk(x, " +-*/") && !strpbrk(y, " +-*/");
    if (!simple)
        x = "x", y = "y";
    diag_propose(e->ctx, d, simple ? span : NO_SPAN, "of floats it is $", "(%s - %s * floor(%s / %s))", x, y, x, y);
}

Value eval_binary(Elab *e, AstOp op, Value a, Value b, Span span, Span op_span)
{
    Ctx *ctx = e->ctx;
    if (a.kind == V_ERROR || b.kind == V_ERROR)
        return v_error(span);
    const char *sign = ast_op_text(op);
    if (op == OP_MOD)
        note_remainder(e, a.span, b.span);
    if (op == OP_AND || op == OP_OR)
        return eval_logic(e, op, a, b, span);
    bool negative_division = (op == OP_DIV || op == OP_MOD) && a.kind == V_NAT && a.literal && nat_is_const(a.nat) && a.nat->value < 0;
    if (value_is_natable(e, a) && value_is_natable(e, b) && !negative_division)
        return nat_binary(e, op, a, b, span);
    if (op == OP_POW) {
        Diag *d = elab_error(e, E0322, op_span, "`^` is a power of sizes, and this is data");
        Type t = a.kind == V_CORE ? type_resolve(e, a.core->type) : NULL, other = b.kind == V_CORE ? type_resolve(e, b.core->type) : NULL;
        t = !t || (t->kind == TY_META && other) ? other : t;
        bool whole = t && (t->kind == TY_IDX || (t->kind == TY_SCALAR && scalar_is_int(t->scalar)));
        const char *x = span_text(e, a.span), *y = span_text(e, b.span);
        if (whole && t->kind != TY_IDX) {
            diag_propose(ctx, d, x && y ? span : NO_SPAN, "exclusive or of the bits is $", "bitXor(%s, %s)", x && y ? x : "a", x && y ? y : "b");
        } else if (whole)
            diag_note(ctx, d, NO_SPAN, "exclusive or of bits is `bitXor(a, b)`, a power of floats `pow(a, b)`");
        else
            diag_propose(ctx, d, x && y ? span : NO_SPAN, "of floats it is $", "pow(%s, %s)", x && y ? x : "a", x && y ? y : "b");
        return v_error(span);
    }
    for (int i = 0; i < 2; i++) {
        Value v = i ? b : a;
        if (v.kind == V_FUN || v.kind == V_TYPE) {
            Diag *d = elab_error(e, E0318, op_span, "`%s` wants numbers, and its %s operand is %s", sign, i ? "right" : "left", value_text(e, v));
            const Source *source = source_get(ctx, v.span.file);
            const char *behind = source && v.span.hi + 2 < source->size ? source->text + v.span.hi : "", *name = span_text(e, v.span);
            if (v.kind == V_FUN && name && behind[0] == ' ' && behind[1] == '-' && behind[2] != ' ') { /* `exp -x` */
                diag_help(ctx, d, "an argument stands in parentheses: `%s(-...)`", name);
                return v_error(span);
            }
            diag_note(ctx, d, v.span, "%s", v.kind == V_FUN ? wants_text(e, v.fun) : "this one");
            if (v.kind == V_FUN && op == OP_GT && i == 1)
                diag_propose(ctx, d, op_span, "a pipe is $", "|>");
            else if (v.kind == V_FUN)
                note_wanted(e, d, v.fun);
            return v_error(span);
        }
    }
    Core *x, *y;
    /* The typed operand says what a literal is. */
    bool swap = is_poly(a) && !is_poly(b);
    Value first = swap ? b : a, second = swap ? a : b;
    x = value_core(e, first);
    if (x->kind == CORE_UNIT_ERROR)
        return v_error(span);
    ParamKind kind = op == OP_EQ || op == OP_NE ? KIND_SCALAR : op == OP_MOD ? KIND_INT : KIND_NUM;
    if (!type_constrain(e, x->type, kind)) {
        Diag *d = elab_error(e, E0318, op_span, "`%s` wants %s, and its %s operand is %s", sign, kind_wanted(kind), swap ? "right" : "left", tyt(e, x->type));
        if (type_resolve(e, x->type)->kind == TY_IDX)
            propose_around(e, d, first.span, "an index is no number: write $", ctx_printf(ctx, "cast(%s)(", index_partner(e, second)), ")");
        else if (type_resolve(e, x->type)->kind == TY_VEC && x->type->has_meta)
            diag_help(ctx, d, "say of what type its components are, as in `0.0f32`");
        else if (is_only_element(e, x->type))
            propose_only_element(e, d, first.span);
        else if (type_resolve(e, x->type)->kind == TY_ARRAY)
            propose_map(e, d, span, sign, &a, !swap || is_array(e, a), &b, swap || is_array(e, b));
        else if (op == OP_MOD && type_resolve(e, x->type)->kind == TY_SCALAR)
            propose_remainder(e, d, span, span_text(e, a.span), span_text(e, b.span));
        else if (type_resolve(e, x->type)->kind == TY_SCALAR && type_resolve(e, x->type)->scalar == SC_BOOL && kind == KIND_NUM)
            propose_around(e, d, first.span, "a bool is no number: $ makes one of it", "(if ", " then 1 else 0)");
        else if (type_resolve(e, x->type)->kind == TY_TUPLE)
            propose_components(e, d, span, sign, type_resolve(e, x->type)->n_items, span_text(e, a.span), span_text(e, b.span));
        return v_error(span);
    }
    if (is_vector(e, second) && type_resolve(e, x->type)->kind == TY_SCALAR) {
        first = v_core(e, x);
        if (splat_operand(e, &first, type_resolve(e, second.core->type)))
            x = value_core(e, first);
    } else if (second.kind == V_CORE && type_resolve(e, x->type)->kind == TY_VEC && !is_vector(e, second)) {
        splat_operand(e, &second, type_resolve(e, x->type));
    }
    if (!value_to_core(e, second, x->type, &y)) {
        if (e->mis.kind == MIS_REPORTED)
            return v_error(span);
        Diag *d;
        const char *tx = tyt(e, x->type), *ty = value_text(e, second);
        DiagCode code = e->mis.from_idx ? E0328 : E0301;
        bool from_idx = e->mis.from_idx;
        if (second.kind == V_CORE)
            d = elab_error(e, code, op_span, "`%s` of %s and %s", sign, swap ? ty : tx, swap ? tx : ty);
        else
            d = elab_error(e, code, second.span, "`%s` of %s and %s", sign, swap ? ty : tx, swap ? tx : ty);
        Type head = type_resolve(e, x->type);
        Type other = second.kind == V_CORE ? type_resolve(e, second.core->type) : NULL;
        const Value *left = swap ? &second : &first, *right = swap ? &first : &second;
        if (head->kind == TY_SCALAR && head->scalar == SC_BOOL && !other && (op == OP_EQ || op == OP_NE))
            diag_help(ctx, d, "a bool is a condition by itself: write it alone, or `not` before it");
        else if (other && head->kind == TY_SCALAR && other->kind == TY_SCALAR)
            propose_one_type(e, d, is_comparison(op), left, swap ? other->scalar : head->scalar, right, swap ? head->scalar : other->scalar);
        else if (head->kind == TY_SCALAR && other && is_only_element(e, other))
            propose_only_element(e, d, second.span);
        else if (head->kind == TY_SCALAR && other && other->kind == TY_ARRAY)
            propose_map(e, d, span, sign, left, swap, right, !swap);
        else if (head->kind == TY_SCALAR && (from_idx || (other && other->kind == TY_IDX)))
            propose_around(e, d, second.span, "an index is no number: write $", ctx_printf(ctx, "cast(%s)(", tx), ")");
        else if (head->kind == TY_IDX && other && other->kind == TY_SCALAR)
            propose_around(e, d, first.span, "an index is no number: write $", ctx_printf(ctx, "cast(%s)(", scalar_name(other->scalar)), ")");
        else if (second.kind == V_LIT && second.lit->is_float && head->kind == TY_SCALAR && scalar_is_int(head->scalar)) {
            diag_label(ctx, d, "a float literal, and the other side is %s", tx);
            Scalar to = float_for(e, head->scalar);
            double whole = second.lit->f;
            const char *digits = span_text(e, second.span);
            if (to == SC_COUNT && whole == floor(whole) && digits && strchr(digits, '.'))
                diag_propose(ctx, d, second.span, "write an integer: $", "%.*s", (int)strcspn(digits, "."), digits);
            else if (to == SC_COUNT)
                propose_scaled(e, d, second.span, head->scalar);
            else if (to != SC_COUNT)
                propose_around(e, d, first.span, "convert the other side: $", ctx_printf(ctx, "cast(%s)(", scalar_name(to)), ")");
        }
        return v_error(span);
    }
    if (y->kind == CORE_UNIT_ERROR)
        return v_error(span);
    Type t = is_comparison(op) ? type_scalar(ctx, SC_BOOL) : type_resolve(e, x->type);
    if (is_comparison(op) && type_resolve(e, x->type)->kind == TY_VEC) {
        elab_error(e, E0318, op_span, "`%s` compares scalars, and these are %s", sign, tyt(e, x->type));
        return v_error(span);
    }
    Core *args[2] = {swap ? y : x, swap ? x : y};
    Core *core = core_prim(e, prim_of_op(op), span, t, 0, NULL, 2, args);
    if (is_comparison(op))
        doubt_compared(e, core);
    return v_core(e, core);
}

/* `-128i8`: the sign belongs to the literal. `core` was made just now. */
bool negate_literal(Elab *e, Core *core)
{
    if (core->kind != CORE_LIT || e->lits.n == 0 || e->lits.at[e->lits.n - 1].core != core)
        return false;
    Lit *lit = &e->lits.at[e->lits.n - 1].lit;
    lit->negative = !lit->negative;
    return true;
}

Value eval_unary(Elab *e, AstOp op, Value a, Span span)
{
    Ctx *ctx = e->ctx;
    if (a.kind == V_ERROR)
        return a;
    if (op == OP_NOT) {
        Core *x;
        if (!as_bool(e, a, "not", &x))
            return v_error(span);
        if (x->kind == CORE_LIT)
            return v_core(e, core_bool(e, span, !x->lit.i));
        return v_core(e, core_prim(e, P_not, span, x->type, 0, NULL, 1, &x));
    }
    if (value_is_natable(e, a)) {
        Value zero = v_nat(nat_const(ctx, 0), span);
        zero.literal = true;
        return nat_binary(e, OP_SUB, zero, a, span);
    }
    if (a.kind == V_LIT) {
        Lit *lit = NEW(ctx, Lit);
        *lit = *a.lit;
        lit->negative = !lit->negative;
        a.lit = lit;
        a.span = span;
        /* -2^63 is a size again. */
        if (!lit->is_float && !lit->name && lit->negative && lit->mag == (uint64_t)1 << 63) {
            Value v = v_nat(nat_const(ctx, INT64_MIN), span);
            v.literal = true;
            return v;
        }
        return a;
    }
    Core *x = value_core(e, a);
    if (x->kind == CORE_UNIT_ERROR)
        return v_error(span);
    if (!type_constrain(e, x->type, KIND_NUM)) {
        Diag *d = elab_error(e, E0318, span, "`-` wants a number, and this is %s", tyt(e, x->type));
        if (is_array(e, v_core(e, x)))
            propose_around(e, d, a.span, "apply it to each element: $", "", " |> map(fun v => -v)");
        return v_error(span);
    }
    return v_core(e, core_prim(e, P_neg, span, type_resolve(e, x->type), 0, NULL, 1, &x));
}

/* ---- literals ------------------------------------------------------------------------------------------------------ */

Core *literal_core(Elab *e, Lit lit, bool inexact, Type type, Span span)
{
    Core *core = core_new(e, CORE_LIT, span, type);
    PendingLit p = {core, lit, inexact, e->frame};
    vec_push(e->ctx, &e->lits, p);
    return core;
}

Value named_constant(Elab *e, const char *name, Type type, Span span)
{
    bool is_float = strcmp(name, "inf") == 0 || strcmp(name, "nan") == 0;
    Lit lit = {.is_float = is_float, .name = name};
    if (!type) {
        Lit *own = NEW(e->ctx, Lit);
        *own = lit;
        return (Value){.kind = V_LIT, .span = span, .lit = own};
    }
    type = type_resolve(e, type);
    if (type->kind == TY_ERROR)
        return v_error(span);
    ScalarValue v;
    if (type->kind != TY_SCALAR || !scalar_named(type->scalar, name, &v)) {
        elab_error(e, E0319, span, "%s has no `%s`", tyt(e, type), name);
        return v_error(span);
    }
    return v_core(e, literal_core(e, lit, false, type, span));
}

static void int_out_of_range(Elab *e, const PendingLit *p, Scalar s)
{
    ScalarValue lo, hi;
    const char *sign = p->lit.negative ? "-" : "";
    Diag *d = elab_error(e, E0319, p->core->span, "%s%llu does not fit %s", sign, (unsigned long long)p->lit.mag, scalar_name(s));
    if (!scalar_named(s, "lowest", &lo) || !scalar_named(s, "highest", &hi))
        return;
    if (scalar_is_signed(s))
        diag_label(e->ctx, d, "%s holds %lld to %lld", scalar_name(s), (long long)lo.i, (long long)hi.i);
    else
        diag_label(e->ctx, d, "%s holds 0 to %llu", scalar_name(s), (unsigned long long)hi.u);
    const char *wide = scalar_bytes(s) < 4 && p->lit.mag <= INT32_MAX ? "i32" : "i64";
    if (p->lit.negative && !scalar_is_signed(s))
        diag_help(e->ctx, d, "numbers below 0 need a signed type: convert the other operand, as by `cast(i64)(x)`");
    else if (scalar_bytes(s) < 8 && p->lit.mag <= INT64_MAX)
        diag_help(e->ctx, d, "%s holds it: convert the operands before anything is computed, as by `cast(%s)(x)`; the result is of that type, too", wide, wide);
}

static void float_out_of_range(Elab *e, const PendingLit *p, Scalar s, double value)
{
    Diag *d = elab_error(e, E0319, p->core->span, "this literal is too large for %s", scalar_name(s));
    ScalarValue most, wide;
    StrBuf shown;
    sb_init(&shown, e->ctx);
    if (!scalar_named(s, "highest", &most) || !scalar_named(SC_F32, "highest", &wide))
        return;
    sb_put_float(&shown, most.f, s != SC_F64);
    diag_label(e->ctx, d, "%s holds at most %s", scalar_name(s), shown.text);
    const char *other = s == SC_F16 && value <= wide.f ? "f32" : "f64";
    diag_help(e->ctx, d, "%s holds it: convert the operands before anything is computed, as by `cast(%s)(x)`, and the result is of that type, too; infinity is `inf`", other, other);
}

static void finish_literal(Elab *e, const PendingLit *p)
{
    Core *core = p->core;
    const Lit *lit = &p->lit;
    core->type = type_zonk(e, core->type);
    if (core->type->kind == TY_VEC) {
        PendingLit scalar = *p;
        Type vec = core->type;
        scalar.core = core_new(e, CORE_LIT, core->span, vec->elem);
        finish_literal(e, &scalar);
        *core = *core_splat(e, scalar.core, vec);
        return;
    }
    Scalar s = core->type->kind == TY_SCALAR ? core->type->scalar : SC_I32;
    if (lit->name) {
        if (!scalar_named(s, lit->name, &core->lit)) {
            elab_error(e, E0319, core->span, "%s has no `%s`", scalar_name(s), lit->name);
            core->lit = scalar_int(s, 0);
        } else if (lit->negative && scalar_is_float(s)) {
            core->lit.f = -core->lit.f;
        } else if (lit->negative) {
            core->lit = scalar_int(s, (int64_t)(0 - core->lit.u));
        }
        return;
    }
    if (scalar_is_float(s)) {
        double f = lit->is_float ? lit->f : (double)lit->mag;
        core->lit = scalar_float(s, lit->negative ? -f : f);
        if (p->inexact) {
            const Span at = division_behind(e, core->span);
            Diag *d = elab_error(e, E0319, at, "this division of integer literals is %s%llu, rounded down", lit->negative ? "-" : "", (unsigned long long)lit->mag);
            if (at.lo == core->span.lo)
                diag_label(e->ctx, d, "%s is needed here", scalar_name(s));
            else
                diag_note(e->ctx, d, core->span, "%s is needed here", scalar_name(s));
            propose_float_division(e, d, at);
        } else if (isfinite(f) && !isfinite(core->lit.f)) {
            float_out_of_range(e, p, s, f);
        }
        return;
    }
    uint64_t most = s == SC_U64 ? UINT64_MAX : (uint64_t)INT64_MAX;
    bool fits = lit->negative ? lit->mag <= (uint64_t)1 << 63 : lit->mag <= most;
    int64_t value = (int64_t)(lit->negative ? 0 - lit->mag : lit->mag);
    if (fits && s == SC_U64)
        fits = !lit->negative || lit->mag == 0;
    else if (fits)
        fits = scalar_int_fits(s, value);
    if (!fits)
        int_out_of_range(e, p, s);
    core->lit = scalar_int(s, fits ? value : 0);
}

/* Types that nothing said get their defaults; then every literal gets its bits. */
void finish_literals(Elab *e)
{
    for (int i = 0; i < e->metas.n; i++) {
        Meta *m = &e->metas.at[i];
        if (m->solution || m->any)
            continue;
        Scalar s = m->preferred;
        for (int k = 0; !(m->mask >> s & 1) && k < SC_COUNT; k++)
            s = (Scalar)k;
        m->solution = type_scalar(e->ctx, s);
    }
    for (int i = 0; i < e->lits.n; i++) {
        e->frame = e->lits.at[i].frame;
        finish_literal(e, &e->lits.at[i]);
    }
    e->frame = NULL;
    for (int i = 0; i < e->sizes_used.n; i++) {
        Core *core = e->sizes_used.at[i];
        core->type = type_zonk(e, core->type);
        if (core->type->kind == TY_VEC) {
            Core *scalar = core_new(e, CORE_SIZE, core->span, core->type->elem);
            scalar->size = core->size;
            *core = *core_splat(e, scalar, core->type);
            core = scalar;
        }
        if (core->type->kind == TY_SCALAR && scalar_is_int(core->type->scalar) && nat_is_const(core->size) &&
            !(core->type->scalar == SC_U64 ? core->size->value >= 0 : scalar_int_fits(core->type->scalar, core->size->value)))
            elab_error(e, E0319, core->span, "the size %lld does not fit %s", (long long)core->size->value, scalar_name(core->type->scalar));
    }
}

/* ---- casts --------------------------------------------------------------------------------------------------------- */

Value apply_cast(Elab *e, const Fun *f, Value arg, Span span)
{
    Ctx *ctx = e->ctx;
    Type to = type_resolve(e, f->cast_type);
    if (arg.kind == V_ERROR || to->kind == TY_ERROR)
        return v_error(span);
    Core *x;
    bool fits = arg.kind == V_NAT && to->kind == TY_SCALAR &&
                !(arg.literal && scalar_is_int(to->scalar) && to->scalar != SC_BOOL && !scalar_int_fits(to->scalar, arg.nat->value));
    if (fits && arg.literal) {
        x = core_new(e, CORE_LIT, span, to);
        x->lit = scalar_cast(to->scalar, scalar_int(SC_I64, arg.nat->value));
        return v_core(e, lets_wrap(e, arg.lets, x));
    }
    /* A size is an integer of any range: as data of the type it is already converted. A literal that does not fit wraps, as casts do. */
    if (fits && to->scalar != SC_BOOL) {
        x = core_new(e, CORE_SIZE, span, to);
        x->size = arg.nat;
        doubt_quotient(e, arg.quotient, x, span);
        return v_core(e, lets_wrap(e, arg.lets, x));
    }
    x = value_core(e, arg);
    if (x->kind == CORE_UNIT_ERROR)
        return v_error(span);
    Type from = type_resolve(e, x->type);
    bool good = (from->kind == TY_SCALAR || from->kind == TY_IDX || (from->kind == TY_META && !e->metas.at[from->meta].any)) && to->kind == TY_SCALAR;
    if (from->kind == TY_VEC && to->kind == TY_VEC)
        good = nat_equal(ctx, e->facts, from->size, to->size) && type_resolve(e, to->elem)->kind == TY_SCALAR;
    if (!good) {
        Diag *d = elab_error(e, E0327, span, "%s cannot be cast to %s", tyt(e, from), tyt(e, to));
        if (to->kind == TY_IDX) {
            const char *words = span_text(e, arg.span), *size = nat_text(ctx, to->size);
            diag_label(ctx, d, "nothing says that the number is an index");
            diag_propose(ctx, d, words ? span : NO_SPAN, ctx_printf(ctx, "say what the index is where it is none: $ is the number from 0 to below %s, else 0", size),
                         "indexOr(%s, 0, %s)", size, words ? words : "...");
        } else if (from->kind == TY_ARRAY)
            diag_propose(ctx, d, f->span, "cast the elements: $", "map(cast(%s))", tyt(e, to));
        return v_error(span);
    }
    if (from->kind == TY_SCALAR && to->kind == TY_SCALAR && from->scalar == to->scalar) /* it changes nothing */
        return v_core(e, x);
    Core *core = core_prim(e, P_cast, span, to, 0, NULL, 1, &x);
    core->prim.cast_type = to;
    doubt_cast_quotient(e, arg, core, span);
    return v_core(e, core);
}
