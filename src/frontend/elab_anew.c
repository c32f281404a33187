/* Expressions that are written anew: hints of a whole text in the place of another, made from the tree around a message. */
#include "frontend/elab_internal.h"

static const char *text_at(const Elab *e, Span span)
{
    const Source *source = source_get(e->ctx, span.file);
    return source ? source->text + span.lo : "";
}

static bool same_span(Span a, Span b) { return a.file == b.file && a.lo == b.lo && a.hi == b.hi; }

/* The nodes around a place, the outermost first: so many as there is room for, of the innermost. */
typedef struct Path {
    int n;
    const Ast *at[64];
} Path;

static Path path_to(const Elab *e, Span use)
{
    Path path = {0};
    const Item *item = span_is_users(e->ctx, use) ? item_holding(e, use) : NULL;
    const Ast *ast = item ? item->body : NULL;
    while (ast && span_holds(ast->span, use) && path.n < (int)(sizeof path.at / sizeof *path.at)) {
        path.at[path.n++] = ast;
        const Ast *next = NULL;
        for (int i = 0; i < ast_children(ast) && !next; i++)
            if (span_holds(ast_child(ast, i)->span, use))
                next = ast_child(ast, i);
        ast = next;
    }
    return path;
}

static bool mentions(const Ast *ast, const char *name)
{
    bool found = ast->kind == AST_NAME && strcmp(ast->name.text, name) == 0;
    for (int i = 0; i < ast_children(ast) && !found; i++)
        found = mentions(ast_child(ast, i), name);
    return found;
}

/* ---- `not x > 0` ---- */

void propose_not(Elab *e, Diag *d, Span operand)
{
    Path path = path_to(e, operand);
    for (int i = 1; i < path.n; i++) {
        const Ast *test = path.at[i - 1], *denied = path.at[i];
        if (test->kind != AST_BINARY || test->bin.op < OP_EQ || test->bin.op > OP_GE ||
            denied != test->bin.lhs || denied->kind != AST_UNARY || denied->bin.op != OP_NOT ||
            denied->parens)
            continue;
        Span whole = span_join(denied->bin.lhs->span, test->bin.rhs->span);
        const char *words = span_text(e, whole);
        diag_help(e->ctx, d, "`not` binds tighter than `%s`: write `not (%s)`",
                  ast_op_text(test->bin.op), words ? words : "...");
        diag_edit(e->ctx, d, span_start(whole), "(");
        diag_edit(e->ctx, d, span_end(whole), ")");
    }
}

/* ---- `xs[i + 1]` where `xs[i - 1]` is meant ---- */

static const Ast *moved_index(const Ast *ast, Span element)
{
    const Ast *index = ast->kind == AST_BRACKET && same_span(ast->span, element) && ast->call.n == 1
                           ? ast->call.items[0]
                           : NULL;
    bool moved = index && index->kind == AST_BINARY &&
                 (index->bin.op == OP_ADD || index->bin.op == OP_SUB) &&
                 index->bin.rhs->kind == AST_INT;
    return moved ? index : NULL;
}

void propose_other_side(Elab *e, Diag *d, Span element)
{
    Path path = path_to(e, element);
    const Ast *index = NULL;
    for (int i = 0; i < path.n && !index; i++)
        index = moved_index(path.at[i], element);
    const char *i = index ? span_text(e, index->bin.lhs->span) : NULL,
               *k = index ? span_text(e, index->bin.rhs->span) : NULL;
    if (!i || !k)
        return;
    const char *sign = index->bin.op == OP_ADD ? "-" : "+";
    DiagTry own = diag_put_aside(d);
    const char *array =
        ctx_printf(e->ctx, "%.*s", (int)(index->span.lo - element.lo), text_at(e, element));
    diag_help(e->ctx, d,
              "here it is `%s %s %s` that is known to be an index: did you mean `%s%s %s %s]`?", i,
              sign, k, array, i, sign, k);
    diag_edit(e->ctx, d, index->bin.op_span, "%s", sign);
    diag_put_back(e->ctx, d, own);
}

/* ---- `0.5 * x` of an integer ---- */

/* x / 2 for 0.5 * x, if the number is one part of a whole one; NULL. */
static const char *divided(Elab *e, const Ast *product, const Ast *number, const char *other)
{
    double parts =
        number->kind == AST_FLOAT && number->floating.value > 0 ? 1 / number->floating.value : 0;
    bool whole = parts >= 2 && parts <= 1000000 && (double)(int)parts == parts;
    return product->bin.op == OP_MUL && whole
               ? ctx_printf(e->ctx, ", or `%s / %d`", other, (int)parts)
               : "";
}

void propose_scaled(Elab *e, Diag *d, Span literal, Scalar type)
{
    Path path = path_to(e, literal);
    const Ast *binary = NULL;
    for (int i = 0; i < path.n; i++)
        if (path.at[i]->kind == AST_BINARY && path.at[i]->bin.op <= OP_DIV)
            binary = path.at[i];
    if (!binary)
        return;
    bool first = same_span(binary->bin.lhs->span, literal);
    const Ast *number = first ? binary->bin.lhs : binary->bin.rhs,
              *other = first ? binary->bin.rhs : binary->bin.lhs;
    const char *x = span_text(e, number->span), *y = span_text(e, other->span),
               *sign = ast_op_text(binary->bin.op), *name = scalar_name(type);
    if (!x || !y)
        return;
    const char *real = scalar_bytes(type) > 4 ? "f64" : "f32",
               *value = ctx_printf(e->ctx, other->parens ? "cast(%s)%s" : "cast(%s)(%s)", real, y);
    const char *text =
        ctx_printf(e->ctx, "cast(%s)(%s %s %s)", name, first ? x : value, sign, first ? value : x);
    diag_propose(e->ctx, d, binary->span,
                 ctx_printf(e->ctx, "in floats, and rounded towards 0 to %s: $%s", name,
                            divided(e, binary, number, y)),
                 "%s", text);
}

/* ---- operators ---- */

/* `operator name (a: f32) (b: f32): f32 unit 0, associative = ...`, as far as it is known. */
void explain_operator(Elab *e, Diag *d, const Fun *f, Type element, Value unit, bool commutative)
{
    const Ast *lambda = f->ast;
    const char *type = element && !type_zonk(e, element)->has_meta ? tyt(e, element) : "t",
               *start = unit.kind == V_ERROR ? NULL : span_text(e, unit.span);
    const char *body = span_text(e, lambda->lambda.body->span), *params = "";
    for (int i = 0; i < lambda->lambda.n; i++) {
        const char *name = span_text(e, lambda->lambda.params[i].span);
        params = ctx_printf(e->ctx, "%s (%s: %s)", params, name ? name : "a", type);
    }
    diag_help(
        e->ctx, d,
        "if its values may be regrouped, declare it, and its laws are tested: `operator op%s: %s "
        "unit %s, associative%s = %s`; `reduceSeq` takes any function, and folds in one thread",
        params, type, start ? start : "e", commutative ? ", commutative" : "", body ? body : "...");
}

/* ---- `reduce(fun acc (x, y) => acc + f(x, y), 0)` ---- */

static bool mentions_any(const Ast *ast, const Pattern *p)
{
    bool found = p->name && mentions(ast, p->name);
    for (int i = 0; i < p->n_items && !found; i++)
        found = mentions_any(ast, &p->items[i]);
    return found;
}

void propose_mapped_fold(Elab *e, Diag *d, Span call)
{
    Path path = path_to(e, call);
    const Ast *fold = path.n ? path.at[path.n - 1] : NULL;
    for (int i = 0; i < path.n; i++)
        if (same_span(path.at[i]->span, call))
            fold = path.at[i];
    const Ast *f = fold && fold->kind == AST_CALL && fold->call.n == 2 ? fold->call.items[0] : NULL;
    const Ast *body = f && f->kind == AST_LAMBDA && f->lambda.n == 2 ? f->lambda.body : NULL;
    if (!body || body->kind != AST_BINARY || (body->bin.op != OP_ADD && body->bin.op != OP_MUL) ||
        !f->lambda.params[0].name)
        return;
    const char *acc = f->lambda.params[0].name;
    bool left = ast_is_word(body->bin.lhs, acc), right = ast_is_word(body->bin.rhs, acc);
    const Ast *value = left ? body->bin.rhs : body->bin.lhs;
    const char *pattern = span_text(e, f->lambda.params[1].span),
               *words = span_text(e, value->span), *unit = span_text(e, fold->call.items[1]->span);
    if (left == right || mentions(value, acc) || !mentions_any(value, &f->lambda.params[1]) ||
        !pattern || !words || !unit)
        return;
    diag_propose(e->ctx, d, fold->span,
                 "`reduce` combines two values of one type: compute them first, $",
                 "%s(fun %s => %s) |> reduce((%s), %s)", prim_name(P_map), pattern, words,
                 ast_op_text(body->bin.op), unit);
    diag_or_else(e->ctx, d);
}

/* ---- `own |> mapLane(fun x => x + shflDown(1, x))` ---- */

void propose_shuffled(Elab *e, Diag *d, Span argument)
{
    const char *x = span_text(e, argument);
    Path path = path_to(e, argument);
    const Ast *shuffle = NULL, *pipe = NULL, *f = NULL;
    for (int i = 0; i < path.n; i++) {
        const Ast *ast = path.at[i], *step = ast->kind == AST_PIPE ? ast->bin.rhs : NULL;
        if (ast->kind == AST_CALL && ast->call.n == 2 &&
            same_span(ast->call.items[1]->span, argument))
            shuffle = ast;
        if (!step || callee_of_call(step) != P_mapLane || step->call.n != 1 ||
            step->call.items[0]->kind != AST_LAMBDA)
            continue;
        pipe = ast;
        f = step->call.items[0];
    }
    if (!x || !shuffle || !pipe || f->lambda.n != 1 || !f->lambda.params[0].name ||
        strcmp(f->lambda.params[0].name, x) != 0)
        return;
    const Ast *own = pipe->bin.lhs, *body = f->lambda.body;
    const char *array = span_text(e, own->span), *by = span_text(e, shuffle->call.items[0]->span),
               *words = span_text(e, body->span), *name = span_text(e, shuffle->call.fn->span);
    if (!array || !by || !words || !name || own->kind != AST_NAME)
        return;
    const char *other = strcmp(x, "y") == 0 ? "z" : "y", *start = text_at(e, body->span);
    const char *text =
        ctx_printf(e->ctx, "%.*s%s%.*s", (int)(shuffle->span.lo - body->span.lo), start, other,
                   (int)(body->span.hi - shuffle->span.hi), text_at(e, span_end(shuffle->span)));
    diag_propose(e->ctx, d, pipe->span,
                 "a shuffle takes the values of all 32 lanes at once, outside of `mapLane`: $",
                 "zip(%s, %s(%s, %s)) |> mapLane(fun (%s, %s) => %s)", array, name, by, array, x,
                 other, text);
    diag_or_else(e->ctx, d);
}
