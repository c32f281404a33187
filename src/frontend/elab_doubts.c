/* What the language allows and hardly anybody means. It is noted while an entry is elaborated, and
 * said of its text when the types are known; `check` gives it with its other advice.
 *
 * Note [Quotients]
 * A division of sizes or integers is exact, or it is rounded down. Where it becomes a float without
 * a name in between, the fraction was hardly to go. A `let` takes the doubt away, and so does
 * `a % b` of the same a and b: then rows and columns are counted. */
#include <math.h>

#include "frontend/elab_internal.h"

struct Quotient {
    Span span, above, below; /* all of it, and its two sides */
    Nat a, b;                /* of sizes; or NULL */
    bool zero;               /* a < b is known */
    bool data_below;         /* the divisor is no size: it does not become a float by itself */
};

/* Without the parentheses around all of it. */
static Span inside_parens(const Elab *e, Span span)
{
    const char *text = source_get(e->ctx, span.file)->text;
    int depth = 0;
    if (text[span.lo] != '(')
        return span;
    for (uint32_t at = span.lo; at < span.hi; at++) {
        depth += (text[at] == '(') - (text[at] == ')');
        if (depth == 0)
            return at + 1 == span.hi ? (Span){span.file, span.lo + 1, at} : span;
    }
    return span;
}

static bool is_listened_to(const Elab *e, Span span)
{
    return !e->quiet && e->entry && span_is_users(e->ctx, span);
}

static void note(Elab *e, Doubt doubt)
{
    doubt.frame = e->frame;
    vec_push(e->ctx, &e->doubts, doubt);
}

/* ---- quotients ------------------------------------------------------------------------------- */

const Quotient *quotient_of_sizes(Elab *e, Nat a, Nat b, Span above, Span below, Span span)
{
    bool exact = nat_divides(e->ctx, e->facts, b, a);
    if (e->quiet || exact || (nat_is_const(a) && nat_is_const(b)))
        return NULL;
    Quotient *q = NEW(e->ctx, Quotient);
    *q = (Quotient){.span = span, .above = above, .below = below, .a = a, .b = b};
    q->zero = nat_nonneg(e, a) && nat_lt(e->ctx, e->facts, a, b);
    return q;
}

void doubt_quotient(Elab *e, const Quotient *q, const Core *number, Span whole)
{
    if (q && is_listened_to(e, q->span))
        note(e, (Doubt){.kind = DOUBT_QUOTIENT, .core = number, .quotient = q, .span = whole});
}

void doubt_cast_quotient(Elab *e, Value arg, const Core *number, Span whole)
{
    const Core *x = arg.kind == V_CORE ? arg.core : NULL;
    bool written = x && x->kind == CORE_PRIM && x->prim.id == P_div && x->span.lo == arg.span.lo &&
                   x->span.file == arg.span.file;
    if (!written || !scalar_is_int(type_scalar_of(e->ctx, type_zonk(e, x->type))))
        return;
    Quotient *q = NEW(e->ctx, Quotient);
    *q =
        (Quotient){.span = x->span, .above = x->prim.args[0]->span, .below = x->prim.args[1]->span};
    q->data_below = x->prim.args[1]->kind != CORE_SIZE && x->prim.args[1]->kind != CORE_LIT;
    doubt_quotient(e, q, number, whole);
}

void note_remainder(Elab *e, Span above, Span below)
{
    if (is_listened_to(e, above))
        vec_push(e->ctx, &e->remainders, ((Remainder){above, below}));
}

static bool same_text(Elab *e, Span a, Span b)
{
    const char *s = span_text(e, a), *t = span_text(e, b);
    return s && t && strcmp(s, t) == 0;
}

static bool has_remainder(Elab *e, const Quotient *q)
{
    for (int i = 0; i < e->remainders.n; i++)
        if (same_text(e, e->remainders.at[i].above, q->above) &&
            same_text(e, e->remainders.at[i].below, q->below))
            return true;
    return false;
}

/* What stands on one side; NULL: it is long, or a name for what is written elsewhere. */
static const char *side_text(Elab *e, const Quotient *q, Span side)
{
    bool within = side.file == q->span.file && q->span.lo <= side.lo && side.hi <= q->span.hi;
    return within ? span_text(e, side) : NULL;
}

static const char *as_float(Elab *e, const char *text, Scalar type)
{
    size_t n = text ? strlen(text) : 0;
    if (!text)
        return NULL;
    if (strspn(text, "0123456789") == n)
        return ctx_printf(e->ctx, "%s.0", text);
    bool parens = text[0] == '(' && text[n - 1] == ')';
    return ctx_printf(e->ctx, parens ? "cast(%s)%s" : "cast(%s)(%s)", scalar_name(type), text);
}

static char byte_before(const char *text, uint32_t at)
{
    while (at && strchr(" \t\n", text[at - 1]))
        at--;
    return at ? text[at - 1] : 0;
}

/* What stands around the span may bind tighter than a division. */
static bool needs_parens(Elab *e, Span span)
{
    const Source *s = source_get(e->ctx, span.file);
    uint32_t next = span.hi + (uint32_t)strspn(s->text + span.hi, " \t\n");
    char before = byte_before(s->text, span.lo), behind = s->text[next];
    return (before && strchr("*/%-", before)) || behind == '|';
}

/* The cast and its operand, or the quotient alone; NO_SPAN: the cast stands elsewhere, as behind a
 * pipe. */
static Span to_replace(const Elab *e, const Doubt *doubt)
{
    Span whole = doubt->span, inner = doubt->quotient->span;
    if (!whole.file)
        return inside_parens(e, inner);
    return whole.file == inner.file && whole.lo <= inner.lo && inner.hi <= whole.hi ? whole
                                                                                    : NO_SPAN;
}

static void propose_division(Elab *e, Diag *d, const Doubt *doubt, Scalar type)
{
    const Quotient *q = doubt->quotient;
    const char *above = side_text(e, q, q->above), *below = side_text(e, q, q->below);
    bool known = above && below;
    Span span = known ? to_replace(e, doubt) : NO_SPAN;
    above = as_float(e, known ? above : "a", type);
    below = q->data_below ? as_float(e, known ? below : "b", type) : known ? below : "b";
    bool parens = span.file && needs_parens(e, span);
    const char *help =
        ctx_printf(e->ctx, "divide as %s: $; where the whole number is meant, name it by a `let`",
                   scalar_name(type));
    diag_propose(e->ctx, d, span, help, "%s%s / %s%s", parens ? "(" : "", above, below,
                 parens ? ")" : "");
}

static void say_quotient(Elab *e, const Doubt *doubt)
{
    const Quotient *q = doubt->quotient;
    Type t = type_zonk(e, doubt->core->type);
    t = t->kind == TY_VEC ? t->elem : t;
    if (t->kind != TY_SCALAR || !scalar_is_float(t->scalar) || has_remainder(e, q))
        return;
    Span span = inside_parens(e, q->span);
    const char *text = span_text(e, span);
    Diag *d = diag_warning(e->ctx, W0715, span, "the fraction of %s is gone before it becomes %s",
                           text ? ctx_printf(e->ctx, "`%s`", text) : "this division",
                           scalar_name(t->scalar));
    if (q->zero)
        diag_label(e->ctx, d, "always 0: %s is below %s", nat_text(e->ctx, q->a),
                   nat_text(e->ctx, q->b));
    else if (q->a && nat_is_const(q->a) && !nat_is_const(q->b))
        diag_label(e->ctx, d, "0 where %s > %s", nat_text(e->ctx, q->b), nat_text(e->ctx, q->a));
    else
        diag_label(e->ctx, d, "rounded down to a whole number");
    propose_division(e, d, doubt, t->scalar);
}

/* ---- comparisons ----------------------------------------------------------------------------- */

void doubt_compared(Elab *e, const Core *test)
{
    if (is_listened_to(e, test->span))
        note(e, (Doubt){.kind = DOUBT_COMPARED, .core = test, .span = test->span});
}

static bool is_nan(const Core *core)
{
    return core->kind == CORE_LIT && scalar_is_float(core->lit.type) && isnan(core->lit.f);
}

static bool is_zero(const Core *core)
{
    return (core->kind == CORE_LIT && !scalar_is_float(core->lit.type) && core->lit.u == 0) ||
           (core->kind == CORE_SIZE && nat_is(core->size, 0));
}

static void say_nan(Elab *e, const Doubt *doubt, const Core *other)
{
    PrimId id = doubt->core->prim.id;
    const char *x = span_text(e, other->span);
    bool simple = x && !strpbrk(x, " +-*/|<>=");
    Diag *d =
        diag_warning(e->ctx, W0716, doubt->span, "this is %s: NaN equals nothing, not even itself",
                     id == P_ne ? "always true" : "never true");
    const char *sign = id == P_ne ? "==" : "!=";
    if (id != P_eq && id != P_ne)
        diag_help(e->ctx, d, "only a NaN differs from itself: `x != x` finds it");
    else
        diag_propose(e->ctx, d, simple ? doubt->span : NO_SPAN,
                     id == P_eq ? "only a NaN differs from itself: write $"
                                : "all but a NaN equal themselves: write $",
                     "%s %s %s", simple ? x : "x", sign, simple ? x : "x");
}

/* Types that stand for any number: what is empty for one of them is not for others. */
static bool is_generic(const Frame *frame)
{
    for (int i = 0; frame && i < frame->item->n_params; i++)
        if (kind_is_type(param_kind(&frame->item->params[i])))
            return true;
    return false;
}

static void say_below_zero(Elab *e, const Doubt *doubt, const Core *x, bool holds)
{
    const char *type = scalar_name(type_zonk(e, x->type)->scalar);
    Diag *d = diag_warning(e->ctx, W0716, doubt->span, "this is %s: a %s is at least 0",
                           holds ? "always true" : "never true", type);
    bool difference = x->kind == CORE_PRIM && x->prim.id == P_sub;
    const char *a = difference ? span_text(e, x->prim.args[0]->span) : NULL,
               *b = difference ? span_text(e, x->prim.args[1]->span) : NULL;
    if (!difference)
        diag_help(e->ctx, d,
                  "leave the test out; where numbers below 0 come, the type is i32 or another with "
                  "a sign");
    else
        diag_label(e->ctx, d, "the difference wraps around to a large number");
    if (difference)
        diag_propose(e->ctx, d, a && b ? doubt->span : NO_SPAN, "compare the two: $", "%s %s %s",
                     a && b ? a : "a", holds ? ">=" : "<", a && b ? b : "b");
}

/* `x < 0`, `0 > x`, and their opposites. */
static void look_below_zero(Elab *e, const Doubt *doubt)
{
    const Core *const *args = (const Core *const *)doubt->core->prim.args;
    PrimId id = doubt->core->prim.id;
    bool turned = is_zero(args[0]);
    const Core *x = turned ? args[1] : args[0], *zero = turned ? args[0] : args[1];
    Type t = type_zonk(e, x->type);
    bool never = id == (turned ? P_gt : P_lt), always = id == (turned ? P_le : P_ge);
    bool is_unsigned =
        t->kind == TY_SCALAR && scalar_is_int(t->scalar) && !scalar_is_signed(t->scalar);
    if (is_unsigned && is_zero(zero) && x->kind != CORE_LIT && (never || always) &&
        !is_generic(doubt->frame))
        say_below_zero(e, doubt, x, always);
}

static void say_compared(Elab *e, const Doubt *doubt)
{
    const Core *test = doubt->core, *const *args = (const Core *const *)test->prim.args;
    for (int i = 0; i < 2; i++)
        if (is_nan(args[i])) {
            say_nan(e, doubt, args[1 - i]);
            return;
        }
    look_below_zero(e, doubt);
}

/* ---- what gives an unspecified value --------------------------------------------------------- */

void doubt_operation(Elab *e, const Core *operation)
{
    const Core *by = operation->prim.args[1];
    bool constant = by->kind == CORE_LIT || (by->kind == CORE_SIZE && nat_is_const(by->size));
    if (constant && is_listened_to(e, operation->span))
        note(e, (Doubt){.kind = DOUBT_UNSPECIFIED, .core = operation, .span = operation->span});
}

static Type scalar_or_element(Elab *e, Type t)
{
    t = type_zonk(e, t);
    return t->kind == TY_VEC ? t->elem : t;
}

static void say_shifted(Elab *e, const Doubt *doubt, int64_t by, Scalar type)
{
    int bits = 8 * scalar_bytes(type);
    if ((by >= 0 && by < bits) || is_generic(doubt->frame))
        return;
    Diag *d = diag_warning(e->ctx, W0720, doubt->span, "a shift by %lld gives an unspecified value",
                           (long long)by);
    diag_label(e->ctx, d, "%s has %d bits", scalar_name(type), bits);
    if (by >= bits && by < 64)
        diag_help(e->ctx, d, "shift by 0 to %d, or convert the operand first, as by `cast(%s)(x)`",
                  bits - 1, scalar_is_signed(type) ? "i64" : "u64");
    else
        diag_help(e->ctx, d, "shift by 0 to %d", bits - 1);
}

static void say_unspecified(Elab *e, const Doubt *doubt)
{
    const Core *by = doubt->core->prim.args[1];
    PrimId id = doubt->core->prim.id;
    Type t = scalar_or_element(e, doubt->core->type);
    if (t->kind != TY_SCALAR || !scalar_is_int(t->scalar))
        return;
    int64_t value = by->kind == CORE_SIZE ? by->size->value : by->lit.i;
    if (id == P_shl || id == P_shr) {
        say_shifted(e, doubt, value, t->scalar);
    } else if (value == 0) {
        Diag *d = diag_warning(e->ctx, W0720, doubt->span,
                               "an integer that is divided by 0 gives an unspecified value");
        diag_help(e->ctx, d, "divide by another number, or convert to a float first, as by "
                             "`cast(f32)(x)`, where a division by 0 gives `inf` or `nan`");
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

void finish_doubts(Elab *e, Diags *found)
{
    Ctx *ctx = e->ctx;
    const Diags said = ctx->diags;
    ctx->diags = (Diags){0};
    for (int i = 0; i < e->doubts.n; i++) {
        static const struct {
            DiagCode code;
            void (*say)(Elab *, const Doubt *);
        } kinds[] = {[DOUBT_QUOTIENT] = {W0715, say_quotient},
                     [DOUBT_COMPARED] = {W0716, say_compared},
                     [DOUBT_UNSPECIFIED] = {W0720, say_unspecified}};
        const Doubt *doubt = &e->doubts.at[i];
        if (!item_accepts(e->entry, kinds[doubt->kind].code))
            kinds[doubt->kind].say(e, doubt);
    }
    if (!item_accepts(e->entry, W0717))
        advise_units(e);
    *found = ctx->diags;
    ctx->diags = said;
}
