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

bool ast_mentions(const Ast *ast, const char *name)
{
    bool found = ast->kind == AST_NAME && strcmp(ast->name.text, name) == 0;
    for (int i = 0; i < ast_children(ast) && !found; i++)
        found = ast_mentions(ast_child(ast, i), name);
    return found;
}

/* ---- functions one after the other ---- */

/* `map(exp)`, `exp >> sqrt`: it is a function that gives another scalar than is wanted, no value. */
bool propose_converted(Elab *e, Diag *d, Span at, Span function, Type got, Type want)
{
    Path path = path_to(e, at);
    const Ast *outer = path.n > 1 ? path.at[path.n - 2] : NULL;
    bool last = outer && outer->kind == AST_COMPOSE && same_span(outer->bin.rhs->span, at);
    if (!d || d->help || (!last && !same_span(at, function)) || got->kind != TY_SCALAR ||
        want->kind != TY_SCALAR || !span_is_users(e->ctx, at))
        return false;
    diag_propose(e->ctx, d, span_end(at), "convert what it gives: put $ behind it", " >> cast(%s)",
                 scalar_name(want->scalar));
    return true;
}

/* A function of one value is the only argument of a call: both are meant, one after the other. */
bool propose_composed(Elab *e, Diag *d)
{
    Path path = path_to(e, d->span);
    const char *inner = span_text(e, d->span);
    for (int i = 0; inner && i < path.n; i++) {
        Span call = path.at[i]->span;
        const char *text = text_at(e, call);
        const uint32_t n = d->span.lo - call.lo;
        const Ast *outer = i > 0 ? path.at[i - 1] : NULL;
        if (path.at[i]->kind != AST_CALL || d->span.hi + 1 != call.hi || !n || text[n - 1] != '(')
            continue;
        const char *x = outer && outer->kind == AST_LAMBDA && outer->lambda.n == 1
                            ? outer->lambda.params[0].name
                            : NULL;
        if (x) {
            diag_propose(e->ctx, d, d->span, "apply it, too: $", "%s(%s)", inner, x);
            return true;
        }
        diag_propose(e->ctx, d, call, "one function after the other is $", "%s >> %.*s", inner,
                     (int)n - 1, text);
        return true;
    }
    return false;
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

/* ---- `if c then 1.0 else 0.0` of an integer ---- */

/* Whether an operand of it has its type, so that another literal computes something else. */
static bool computes(const Ast *ast)
{
    PrimId callee = callee_of_call(ast);
    return ast->kind == AST_BINARY || (callee != P_COUNT && prim_rows[callee].level == LEVEL_SCALAR);
}

/* One more edit for each float without a fraction that is a value by itself, and what the first is
 * and becomes. */
static void edit_whole(Elab *e, Diag *d, const Ast *ast, const char **was, const char **becomes)
{
    const char *words =
        ast->kind == AST_FLOAT && !ast->floating.suffix ? span_text(e, ast->span) : NULL;
    size_t digits = words ? strspn(words, "0123456789") : 0;
    if (digits && words[digits] == '.' &&
        strspn(words + digits + 1, "0") == strlen(words + digits + 1)) {
        const char *whole = ctx_printf(e->ctx, "%.*s", (int)digits, words);
        diag_edit(e->ctx, d, ast->span, "%s", whole);
        *was = *was ? *was : words;
        *becomes = *becomes ? *becomes : whole;
    }
    for (int i = 0; i < ast_children(ast); i++)
        if (!computes(ast) && !(ast->kind == AST_IF && ast_child(ast, i) == ast->cond.cond))
            edit_whole(e, d, ast_child(ast, i), was, becomes);
}

/* The outermost `if` of those that have this among their branches; itself where there is none. */
static const Ast *branches_around(Elab *e, Span span)
{
    Path path = path_to(e, span);
    const Ast *found = NULL;
    for (int i = 0; i < path.n; i++) {
        bool goes_on = found && (path.at[i]->kind == AST_IF || same_span(path.at[i]->span, span));
        if (!goes_on)
            found = path.at[i]->kind == AST_IF || same_span(path.at[i]->span, span) ? path.at[i]
                                                                                    : NULL;
        if (same_span(path.at[i]->span, span))
            return found;
    }
    return NULL;
}

void propose_whole_literals(Elab *e, Diag *d, Span span, Value got, Type want)
{
    Type to = want ? type_resolve(e, want) : NULL,
         from = got.kind == V_CORE ? type_resolve(e, got.core->type) : NULL;
    bool literal = got.kind == V_LIT ? got.lit->is_float
                                     : from && from->kind == TY_META && e->metas.at[from->meta].literal;
    const Ast *ast = literal ? branches_around(e, span) : NULL;
    const char *was = NULL, *becomes = NULL;
    if (!d || d->help || !to || to->kind != TY_SCALAR || !scalar_is_int(to->scalar) || !ast)
        return;
    diag_or_else(e->ctx, d);
    edit_whole(e, d, ast, &was, &becomes);
    if (!was)
        return;
    d->help = ctx_printf(
        e->ctx, "a literal with a point is a float: for %s, write `%s` in the place of `%s`",
        scalar_name(to->scalar), becomes, was);
    diag_or_else(e->ctx, d);
}

/* ---- `reduce(fun acc (x, y) => acc + f(x, y), 0)` ---- */

static bool mentions_any(const Ast *ast, const Pattern *p)
{
    bool found = p->name && ast_mentions(ast, p->name);
    for (int i = 0; i < p->n_items && !found; i++)
        found = mentions_any(ast, &p->items[i]);
    return found;
}

/* What joins `acc` and a value: the operator as a function, and the value; NULL: the function is
 * none of that kind. */
static const char *joined_with(Elab *e, const Ast *body, const char *acc, const Ast **value)
{
    const Ast *a = NULL, *b = NULL;
    const char *op = NULL;
    if (body->kind == AST_BINARY && (body->bin.op == OP_ADD || body->bin.op == OP_MUL ||
                                     body->bin.op == OP_AND || body->bin.op == OP_OR)) {
        a = body->bin.lhs;
        b = body->bin.rhs;
        op = ctx_printf(e->ctx, "(%s)", ast_op_text(body->bin.op));
    }
    PrimId prim = callee_of_call(body);
    if (prim != P_COUNT && prim_has_laws(prim) && body->call.n == 2) {
        a = body->call.items[0];
        b = body->call.items[1];
        op = prim_name(prim);
    }
    if (!op || ast_is_word(a, acc) == ast_is_word(b, acc))
        return NULL;
    *value = ast_is_word(a, acc) ? b : a;
    return op;
}

void propose_mapped_fold(Elab *e, Diag *d, Span call, const char *why)
{
    Path path = path_to(e, call);
    const Ast *fold = path.n ? path.at[path.n - 1] : NULL;
    for (int i = 0; i < path.n; i++)
        if (same_span(path.at[i]->span, call))
            fold = path.at[i];
    const Ast *f = fold && fold->kind == AST_CALL && (fold->call.n == 2 || fold->call.n == 3)
                       ? fold->call.items[0]
                       : NULL;
    const char *acc = f && f->kind == AST_LAMBDA && f->lambda.n == 2 ? f->lambda.params[0].name
                                                                       : NULL;
    const Ast *value = NULL;
    const char *op = acc ? joined_with(e, f->lambda.body, acc, &value) : NULL;
    if (!op || ast_mentions(value, acc) || !mentions_any(value, &f->lambda.params[1]) ||
        ast_is_word(value, f->lambda.params[1].name ? f->lambda.params[1].name : ""))
        return;
    const char *pattern = span_text(e, f->lambda.params[1].span),
               *words = span_text(e, value->span), *unit = span_text(e, fold->call.items[1]->span),
               *name = span_text(e, fold->call.fn->span),
               *array = fold->call.n == 3 ? span_text(e, fold->call.items[2]->span) : "";
    if (!pattern || !words || !unit || !name || !array)
        return;
    diag_propose(e->ctx, d, fold->span, why, "%s%s%s(fun %s => %s) |> %s(%s, %s)", array,
                 *array ? " |> " : "", prim_name(P_map), pattern, words, name, op, unit);
    diag_or_else(e->ctx, d);
}

/* ---- functions without laws ---- */

const char *name_not_used(Elab *e, const char *base)
{
    const char *name = base;
    for (int i = 2; scope_find(e->program->files.at[0], intern(e->ctx, name, strlen(name)),
                               &(const FileScope *){NULL});
         i++)
        name = ctx_printf(e->ctx, "%s%d", base, i);
    return name;
}

/* `operator op (a: f32) (b: f32): f32 unit 0, associative = ...`, behind the item. */
static void propose_declaration(Elab *e, Diag *d, const Ast *lambda, const char *type,
                                const char *unit, bool commutative)
{
    enum { LONGEST = 120 };
    const Item *item = item_holding(e, lambda->span);
    Span body = lambda->lambda.body->span;
    const char *text = text_at(e, body), *params = "", *name = name_not_used(e, "op");
    size_t size = body.hi - body.lo;
    if (!item || size > LONGEST || memchr(text, '\n', size))
        return;
    for (int i = 0; i < lambda->lambda.n; i++) {
        const char *own = span_text(e, lambda->lambda.params[i].span);
        params = ctx_printf(e->ctx, "%s (%s: %s)", params, own ? own : "a", type);
    }
    const char *declared = ctx_printf(
        e->ctx, "operator %s%s: %s unit %s, associative%s = %.*s", name, params, type, unit,
        commutative ? ", commutative" : "", (int)size, text);
    diag_help(e->ctx, d, "declare it, and use `%s` here; its laws are tested: `%s`", name, declared);
    diag_edit(e->ctx, d, lambda->span, "%s", name);
    diag_edit(e->ctx, d, span_end(item->span), "\n\n%s", declared);
    diag_or_else(e->ctx, d);
}

/* Both laws, which is faster, or the one that is needed. They are tested. */
void propose_laws(Elab *e, Diag *d, const Item *operator, bool associative, bool commutative)
{
    const Ast *before = operator->unit;
    const char *unit = before ? span_text(e, before->span) : NULL;
    if (!unit || !span_is_users(e->ctx, operator->span))
        return;
    for (int n = 2; n > 0; n--) {
        const char *laws = ctx_printf(e->ctx, "%s%s", associative ? "" : ", associative",
                                      commutative || n < 2 ? "" : ", commutative");
        if (!*laws)
            continue;
        diag_help(e->ctx, d, "its header says so by `unit %s%s`, and that is tested", unit, laws);
        diag_edit(e->ctx, d, span_end(before->span), "%s", laws);
        diag_or_else(e->ctx, d);
    }
}

void propose_in_order(Elab *e, Diag *d, const char *callee)
{
    static const PrimId pairs[][2] = {
        {P_reduce, P_reduceSeq}, {P_scan, P_scanSeq}, {P_scanExcl, P_scanSeqExcl}};
    Span end = behind_name(e, callee);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (strcmp(callee, prim_name(pairs[i][0])) != 0)
            continue;
        Span name = end;
        name.lo -= (uint32_t)strlen(callee);
        diag_propose(e->ctx, d, end.file ? name : NO_SPAN,
                     "$ takes any function, and goes on in order, in one thread", "%s",
                     prim_name(pairs[i][1]));
    }
}

void propose_lawful(Elab *e, Diag *d, const Fun *f, const char *callee, Type element, Value unit,
                    bool commutative)
{
    const char *type = element && !type_zonk(e, element)->has_meta ? tyt(e, element) : NULL,
               *start = unit.kind == V_ERROR ? NULL : span_text(e, unit.span);
    propose_mapped_fold(e, d, e->prim_span, "what is done to each element comes first: $");
    if (type && start)
        propose_declaration(e, d, f->ast, type, start, commutative);
    const char *chosen = element ? propose_chosen(e, d, f->ast, element) : NULL;
    if (chosen) {
        diag_help(e->ctx, d, "%s", chosen);
        return;
    }
    propose_in_order(e, d, callee);
    if (!d->help)
        diag_help(e->ctx, d,
                  "declare it as an operator: `operator op (a: t) (b: t): t unit e, associative%s = "
                  "...`",
                  commutative ? ", commutative" : "");
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
