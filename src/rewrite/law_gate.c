/* What a lowering may regroup: operators whose laws are needed are tried before anything is lowered by them.
 *
 * Note [Which laws are needed]
 * prim_regroups has the table of docs/language.md, "Operators and laws". A pattern that leaves the order open needs what its operator declares, of values that begin with the
 * unit where it has one: each part of a whole pattern is started from the unit. Where there is no unit, or rules combine elements as they are (`lawful` in
 * their conditions), the laws are needed of all values. */
#include "rewrite/internal.h"
#include "rewrite/laws.h"
#include <math.h>

typedef struct Gate {
    Ctx *ctx;
    const CoreEntry *entry;
    int next_var;
    VEC(const Item *) lawful[2]; /* operators that have their laws of any values: without the unit, with it */
    bool allowed;
    bool advises; /* nothing is refused: what is doubtful is said */
} Gate;

static bool known_lawful(const Gate *g, const Item *operator, bool unit)
{
    for (int i = 0; i < g->lawful[unit].n; i++)
        if (g->lawful[unit].at[i] == operator)
            return true;
    return false;
}

static bool of_unit(const OperatorReport *r) { return strcmp(r->law, "unit") == 0; }

static bool is_refuted(Gate *g, const LawOperator *op, OperatorReport *r)
{
    law_test_operator(g->ctx, op, LAW_SEED, r);
    return r->law && !r->from_unit;
}

/* The unit is none for some values, and the fold starts from it: of such elements alone the result is another. */
static void warn_unit(Gate *g, const Core *term, LawOperator op, OperatorReport *r)
{
    Ctx *ctx = g->ctx;
    const Item *declared = op.declared;
    if (!r->law || r->special || !of_unit(r) || !span_is_users(ctx, declared->name_span) || item_accepts(g->entry->item, W0713))
        return;
    if (term && law_of_elements(ctx, &op, term->prim.args[term->prim.n_args - 1])) {
        law_test_operator(ctx, &op, LAW_SEED, r);
        if (!r->law || r->special || !of_unit(r))
            return;
    }
    law_warn_operator(ctx, declared, r, term);
}

static void check_use(Gate *g, const Core *term, bool from_unit)
{
    const Core *lambda = term->prim.args[0];
    const Item *declared = lambda->lambda.op;
    if (!declared || known_lawful(g, declared, from_unit))
        return;
    LawOperator op = law_operator(lambda, from_unit ? term->prim.args[1] : NULL, g->next_var);
    OperatorReport r;
    if (!is_refuted(g, &op, &r)) {
        vec_push(g->ctx, &g->lawful[from_unit], declared);
        if (g->advises)
            warn_unit(g, term, op, &r);
        return;
    }
    if (g->advises)
        return; /* has been refused */
    /* It may have its laws of the values that the program makes, as a count is never negative. */
    if (law_of_elements(g->ctx, &op, term->prim.args[term->prim.n_args - 1]) && !is_refuted(g, &op, &r))
        return;
    g->allowed = false;
    Diag *d = law_report_operator(g->ctx, declared, span_is_users(g->ctx, term->span) ? term->span : g->entry->name_span, term, &r);
    if (d)
        diag_note(g->ctx, d, term->span, "`%s` combines in any order that the laws allow", prim_name(term->prim.id));
}

static void check_term(Gate *g, const Core *term)
{
    const PrimRegroups *regroups = term->kind == CORE_PRIM ? prim_regroups(term->prim.id) : NULL;
    if (regroups)
        check_use(g, term, regroups->from_unit);
    for (int i = 0; i < term_children(term); i++)
        check_term(g, term_child(term, i));
}

bool laws_allow(Ctx *ctx, const CoreEntry *entry)
{
    Gate g = {.ctx = ctx, .entry = entry, .next_var = term_next_var(entry), .allowed = true};
    check_term(&g, entry->body);
    return g.allowed;
}

void laws_advise(Ctx *ctx, const CoreEntry *entry)
{
    Gate g = {.ctx = ctx, .entry = entry, .next_var = term_next_var(entry), .advises = true};
    if (entry->item)
        check_term(&g, entry->body);
}

bool law_holds_for_all(Ctx *ctx, const Core *lambda, const char **why)
{
    if (!lambda->lambda.op)
        return true; /* min and max of NaN, too, are alike in every order */
    LawOperator op = law_operator_alone(lambda, NULL);
    OperatorReport r;
    law_test_operator(ctx, &op, LAW_SEED, &r);
    if (r.law)
        *why = law_counter_text(ctx, &op, &r);
    return !r.law;
}

/* ---- words ------------------------------------------------------------------------------------------------------------------ */

static void put_cells(StrBuf *out, const HostBuf *buf)
{
    for (int64_t i = 0; i < buf->count; i++) {
        sb_puts(out, i ? ", " : buf->rank ? "[" : "");
        scalar_put(out, buf->elem, scalar_load(buf->elem, buf->bytes + i * scalar_bytes(buf->elem)));
    }
    sb_puts(out, buf->rank ? "]" : "");
}

/* `a = 1, b.1 = nan`: the values that the sides are of. */
static void put_values(StrBuf *out, const OperatorReport *r)
{
    for (int i = 0; i < r->n_values; i++)
        for (int k = 0; k < r->half; k++) {
            sb_printf(out, "%s%c", i + k ? ", " : "", 'a' + i);
            if (r->half > 1)
                sb_printf(out, ".%d", k + 1);
            sb_puts(out, " = ");
            put_cells(out, &r->launch.results[(2 + i) * r->half + k]);
        }
}

/* One half of the results: a value of the operator's type. */
static void put_side(StrBuf *out, const OperatorReport *r, int side)
{
    int n = r->half;
    for (int k = 0; k < n; k++) {
        sb_puts(out, k ? ", " : n > 1 ? "(" : "");
        put_cells(out, &r->launch.results[side * n + k]);
    }
    sb_puts(out, n > 1 ? ")" : "");
}

static void put_sides(StrBuf *out, const OperatorReport *r)
{
    sb_printf(out, "`%s` is ", r->left);
    put_side(out, r, 0);
    sb_printf(out, ", and `%s` is ", r->right);
    put_side(out, r, 1);
}

const char *law_values_text(Ctx *ctx, const OperatorReport *r)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    sb_puts(&sb, r->n_values ? "for " : "");
    put_values(&sb, r);
    sb_puts(&sb, r->n_values ? ", " : "");
    put_sides(&sb, r);
    return sb.text;
}

/* What is wrong: of the unit alone, or for which values. */
static const char *law_broken_text(Ctx *ctx, const char *unit_of, const Item *operator, const OperatorReport *r, const char *sep)
{
    StrBuf inputs;
    sb_init(&inputs, ctx);
    put_values(&inputs, r);
    if (!of_unit(r))
        return ctx_printf(ctx, "`%s` is not %s: %s%s", operator->name, r->law, sep, inputs.text);
    if (!r->n_values)
        return ctx_printf(ctx, "%s `%s`, combined with itself, gives another value", unit_of, operator->name);
    return ctx_printf(ctx, "%s `%s` changes a value: for %s", unit_of, operator->name, inputs.text);
}

/* Infinities that cancel out: only the unit itself was NaN's reason. */
static bool unit_makes_nan(const OperatorReport *r)
{
    const HostBuf *made = &r->launch.results[0], *unit = &r->launch.results[r->half];
    if (r->n_values || r->half != 1 || made->count != 1 || !scalar_is_float(made->elem))
        return false;
    return isnan(scalar_load(made->elem, made->bytes).f) && isinf(scalar_load(unit->elem, unit->bytes).f);
}

void law_warn_operator(Ctx *ctx, const Item *operator, const OperatorReport *r, const Core *fold)
{
    StrBuf sides;
    sb_init(&sides, ctx);
    put_sides(&sides, r);
    bool unit = of_unit(r);
    Span span = unit && operator->unit ? operator->unit->span : operator->name_span;
    Diag *d = diag_warning(ctx, W0713, span, "%s", law_broken_text(ctx, "this unit of", operator, r, "for "));
    diag_label(ctx, d, "%s", sides.text);
    if (fold && span_is_users(ctx, fold->span))
        diag_note(ctx, d, fold->span, "this starts from the unit, as if it were one of the elements");
    if (unit)
        diag_help(ctx, d, "a unit changes nothing: for the least of values it is `inf` or `highest`, for the largest `-inf` or `lowest`, for a sum 0%s",
                  fold ? "; where no such values come, say so by `accept [W0713]` before the body of the entry" : "");
    else
        diag_help(ctx, d, "leave the law out: then nothing is regrouped by it, and `reduceSeq` folds in order");
}

const char *law_counter_text(Ctx *ctx, const LawOperator *op, const OperatorReport *r)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    sb_printf(&sb, "`%s` is not %s for all values: %s", op->declared->name, r->law, law_values_text(ctx, r));
    return sb.text;
}

bool law_fails_for_nan(const OperatorReport *r)
{
    bool nan = false;
    for (int i = 2 * r->half; i < (2 + r->n_values) * r->half; i++) {
        const HostBuf *buf = &r->launch.results[i];
        for (int64_t k = 0; k < buf->count && scalar_is_float(buf->elem); k++)
            nan |= isnan(scalar_load(buf->elem, buf->bytes + k * scalar_bytes(buf->elem)).f);
    }
    return nan && r->special && r->from_unit;
}

/* What needs no laws in the place of what stands there. */
static const char *in_order(const Ctx *ctx, Span use)
{
    const Source *source = source_get(ctx, use.file);
    bool scan = source && strncmp(source->text + use.lo, "scan", 4) == 0;
    return scan ? "scanSeq` goes on step by step" : "reduceSeq` folds";
}

static bool of_order(const OperatorReport *r) { return strcmp(r->law, "commutative") == 0; }

/* Two tuples that differ, and not in what they are most likely compared by. */
static bool is_tie(const OperatorReport *r)
{
    if (!of_order(r) || r->half < 2 || r->n_values != 2)
        return false;
    const HostBuf *a = &r->launch.results[2 * r->half], *b = &r->launch.results[3 * r->half];
    return a->count == 1 && b->count == 1 && memcmp(a->bytes, b->bytes, (size_t)scalar_bytes(a->elem)) == 0;
}

/* Whether it gives one of its two values: which of them, a condition says. */
static bool chooses(const Item *operator)
{
    const Ast *body = operator->body;
    while (body && body->kind == AST_LET)
        body = body->let.body;
    return body && body->kind == AST_IF;
}

/* The sign between a component of the value that is taken and that of the other: the unit, which loses against all, shows it. NULL: it does not. */
static const char *sign_by_unit(const Item *operator, int component)
{
    const Ast *unit = operator->unit;
    const Ast *part = unit && unit->kind == AST_TUPLE && component < unit->list.n ? unit->list.items[component] : NULL;
    bool negated = part && part->kind == AST_UNARY && part->bin.op == OP_NEG;
    part = negated ? part->bin.lhs : part;
    if (!part)
        return NULL;
    if (ast_is_word(part, "highest") || ast_is_word(part, "inf"))
        return negated ? ">" : "<";
    return ast_is_word(part, "lowest") ? ">" : NULL;
}

static void explain_tie(Ctx *ctx, Diag *d, const Item *operator, const OperatorReport *r)
{
    const char *first = sign_by_unit(operator, 0), *second = sign_by_unit(operator, 1);
    const char *equal = "here `a.1` and `b.1` are equal: decide by a further component there";
    if (r->half == 2 && first && second)
        diag_help(ctx, d, "%s, as by `if b.1 %s a.1 or (b.1 == a.1 and b.2 %s a.2) then b else a`", equal, first, second);
    else
        diag_help(ctx, d, "%s, as by the place in `b.1 > a.1 or (b.1 == a.1 and b.2 > a.2)`", equal);
}

/* Whether what folds by it can do without `commutative`. fold: or NULL, of which nothing is known. */
static bool works_in_order(const Core *fold)
{
    const PrimRegroups *regroups = fold ? prim_regroups(fold->prim.id) : NULL;
    return !regroups || !regroups->commutative;
}

/* An edit that takes the law out, with the comma before it. */
static void edit_law_out(Ctx *ctx, Diag *d, const Item *operator, const char *name)
{
    for (int i = 0; i < operator->n_laws; i++) {
        const Law *law = &operator->laws[i];
        Span span = law->span;
        const char *text = source_get(ctx, span.file)->text;
        while (span.lo > 0 && strchr(" \n", text[span.lo - 1]))
            span.lo--;
        if (strcmp(law->name, name) == 0 && !law->within && span.lo > 0 && text[span.lo - 1] == ',')
            diag_edit(ctx, d, (Span){span.file, span.lo - 1, span.hi}, "%s", "");
    }
}

static void explain_not_commutative(Ctx *ctx, Diag *d, const Item *operator, const Core *fold)
{
    const char *who = fold ? ctx_printf(ctx, "`%s` needs", prim_name(fold->prim.id)) : "`reduce` and `scan` need";
    diag_help(ctx, d, "leave `commutative` out of its header: %s only `associative`", who);
    edit_law_out(ctx, d, operator, "commutative");
}

Diag *law_report_operator(Ctx *ctx, const Item *operator, Span use, const Core *fold, const OperatorReport *r)
{
    StrBuf sides;
    sb_init(&sides, ctx);
    put_sides(&sides, r);
    bool unit = of_unit(r);
    const char *broken = law_broken_text(ctx, "the unit of", operator, r, "");
    Diag *d = diag_error_of_user(ctx, E0808, operator->name_span, use, "the operator of the library", "%s", broken);
    diag_label(ctx, d, "%s", sides.text);
    if (unit && unit_makes_nan(r))
        diag_help(ctx, d, "infinities make NaN there: decide for the unit before you calculate with it, as by `if a == %s then b else ...`", r->right);
    else if (unit)
        diag_help(ctx, d, "declare a unit that changes no value; where there is none, `%s in one thread, from any start, with a `def`", in_order(ctx, use));
    else if (is_tie(r) && chooses(operator))
        explain_tie(ctx, d, operator, r);
    else if (of_order(r) && works_in_order(fold))
        explain_not_commutative(ctx, d, operator, fold);
    else
        diag_help(ctx, d, "take `%s` out of its header; without it, `%s in one thread", r->law, in_order(ctx, use));
    if (r->special)
        diag_note(ctx, d, NO_SPAN, "it fails only where a number is NaN, infinite, -0 or at an end of its type: no others were found");
    if (r->from_unit)
        diag_note(ctx, d, NO_SPAN, "its laws hold of values that were combined with its unit, so a lowering that starts each part from the unit is right");
    return d;
}
