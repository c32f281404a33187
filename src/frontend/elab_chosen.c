/* Functions of two pairs in a fold: `fun ((a, i), (b, j)) => ...`, which takes one tuple, and the
 * search for a greatest or least element, which chooses one of its arguments by a comparison. */
#include "frontend/elab_internal.h"

/* ---- the greater of two pairs ---- */

/* `if b > a then (b, j) else (a, i)` of `fun (a, i) (b, j)`. */
typedef struct Choice {
    const Pattern *params;  /* both */
    int by;                 /* the component that is compared */
    bool greater;           /* the greater one is chosen */
    bool last;              /* of equal ones, the last */
} Choice;

/* Which of the arguments the expression gives back; -1: something else. */
static int argument_given(const Pattern *params, const Ast *ast)
{
    for (int k = 0; k < 2; k++) {
        const Pattern *p = &params[k];
        bool same = p->name ? ast_is_word(ast, p->name)
                            : ast->kind == AST_TUPLE && ast->list.n == p->n_items;
        for (int i = 0; same && !p->name && i < ast->list.n; i++)
            same = p->items[i].name && ast_is_word(ast->list.items[i], p->items[i].name);
        if (same)
            return k;
    }
    return -1;
}

/* The component of an argument that the expression is; false: something else. */
static bool component_given(const Pattern *params, const Ast *ast, int *argument, int *component)
{
    for (int k = 0; k < 2; k++) {
        *argument = k;
        for (int i = 0; i < params[k].n_items; i++)
            if (params[k].items[i].name && ast_is_word(ast, params[k].items[i].name)) {
                *component = i;
                return true;
            }
        if (params[k].name && ast->kind == AST_DOT && ast_is_word(ast->bin.lhs, params[k].name) &&
            ast->bin.rhs->kind == AST_INT) {
            *component = (int)ast->bin.rhs->integer.value - 1;
            return *component == 0 || *component == 1;
        }
    }
    return false;
}

static bool read_choice(const Ast *body, Choice *c)
{
    const Ast *cond = body->kind == AST_IF ? body->cond.cond : NULL;
    if (cond && cond->kind == AST_BINARY && cond->bin.op == OP_OR)
        cond = cond->bin.lhs; /* what follows is about equal ones */
    if (!cond || cond->kind != AST_BINARY)
        return false;
    const AstOp op = cond->bin.op;
    const bool above = op == OP_GT || op == OP_GE, strict = op == OP_GT || op == OP_LT;
    const int then = argument_given(c->params, body->cond.then),
              otherwise = argument_given(c->params, body->cond.otherwise);
    int left, right, by;
    if (!(above || op == OP_LT || op == OP_LE) || then < 0 || otherwise < 0 || then == otherwise ||
        !component_given(c->params, cond->bin.lhs, &left, &by) ||
        !component_given(c->params, cond->bin.rhs, &right, &c->by) || left == right || by != c->by)
        return false;
    c->greater = above == (left == then);
    c->last = (strict ? otherwise : then) == 1 && body->cond.cond == cond;
    return true;
}

/* Its arguments, also where one tuple holds both; NULL. */
static const Pattern *both_arguments(const Ast *lambda)
{
    if (lambda->lambda.n == 2)
        return lambda->lambda.params;
    const Pattern *one = lambda->lambda.n == 1 ? &lambda->lambda.params[0] : NULL;
    return one && one->n_items == 2 ? one->items : NULL;
}

/* The call that has this function as its first argument; NULL. */
static const Ast *call_with(Elab *e, const Ast *lambda)
{
    const Item *item = item_holding(e, lambda->span);
    const Ast *ast = item ? item->body : NULL, *found = NULL;
    while (ast && span_holds(ast->span, lambda->span)) {
        if (ast->kind == AST_CALL && ast->call.n >= 2 && ast->call.items[0] == lambda)
            found = ast;
        const Ast *next = NULL;
        for (int i = 0; i < ast_children(ast) && !next; i++)
            if (span_holds(ast_child(ast, i)->span, lambda->span))
                next = ast_child(ast, i);
        ast = next;
    }
    return found;
}

/* A literal has the type that it gets where nothing says another. */
static Type scalar_meant(Elab *e, Type t)
{
    t = type_zonk(e, t);
    return t->kind == TY_META ? type_scalar(e->ctx, e->metas.at[t->meta].preferred) : t;
}

/* The value that no other of its type goes before. */
static const char *worst(Type t, bool greater)
{
    return t->kind == TY_SCALAR ? unit_word(greater ? P_max : P_min, t->scalar) : NULL;
}

/* The operator's header, and with `below` what stands below it, too. */
static const char *choice_text(Elab *e, const Choice *c, const char *name, const Type parts[2],
                               const char *units, const char *below)
{
    const int by = c->by + 1, at = 2 - c->by;
    const char *sign = c->greater ? ">" : "<", *tie = c->last ? ">" : "<";
    const char *type = ctx_printf(e->ctx, "(%s, %s)", tyt(e, parts[0]), tyt(e, parts[1]));
    return ctx_printf(e->ctx,
                      "operator %s (a: %s) (b: %s): %s%sunit %s, associative, commutative =%s"
                      "if b.%d %s a.%d or (b.%d == a.%d and b.%d %s a.%d) then b else a",
                      name, type, type, type, below, units, below, by, sign, by, by, by, at, tie,
                      at);
}

const char *propose_chosen(Elab *e, Diag *d, const Ast *lambda, Type element)
{
    Choice c = {.params = both_arguments(lambda)};
    Type pair = type_resolve(e, element), parts[2];
    const Ast *call = call_with(e, lambda);
    const char *callee = call ? span_text(e, call->call.fn->span) : NULL;
    if (!c.params || !read_choice(lambda->lambda.body, &c) || pair->kind != TY_TUPLE ||
        pair->n_items != 2 || !callee)
        return NULL;
    const int at = 1 - c.by;
    const bool index = type_resolve(e, pair->items[at])->kind == TY_IDX;
    for (int i = 0; i < 2; i++)
        parts[i] = index && i == at ? type_scalar(e->ctx, SC_I64) : scalar_meant(e, pair->items[i]);
    const char *value = worst(parts[c.by], c.greater), *place = worst(parts[at], c.last);
    if (!value || !place)
        return NULL;
    const char *name = name_not_used(e, c.greater ? "larger" : "smaller");
    const char *units = ctx_printf(e->ctx, "(%s, %s)", at ? value : place, at ? place : value);
    const char *help = ctx_printf(e->ctx, "`%s(%s, %s)` with `%s`", callee, name, units,
                                  choice_text(e, &c, name, parts, units, " "));
    if (index)
        help = ctx_printf(e->ctx,
                          "the place alone is `arg%s` of `std.order`; for both, make pairs with "
                          "`cast(i64)(i)`, and write %s",
                          c.greater ? "max" : "min", help);
    else
        help = ctx_printf(e->ctx, "declare the choice with an order of equal ones: %s", help);
    if (index && call->call.n != 2)
        return help;
    diag_help(e->ctx, d, "%s", help);
    if (index)
        diag_edit(e->ctx, d, span_start(call->span), "%s |> ",
                  at ? "map(fun (x, i) => (x, cast(i64)(i)))"
                     : "map(fun (i, x) => (cast(i64)(i), x))");
    diag_edit(e->ctx, d, lambda->span, "%s", name);
    diag_edit(e->ctx, d, call->call.items[1]->span, "%s", units);
    diag_edit(e->ctx, d, span_end(item_holding(e, lambda->span)->span), "\n\n%s",
              choice_text(e, &c, name, parts, units, "\n  "));
    diag_or_else(e->ctx, d);
    return help;
}

/* ---- one tuple for two arguments ---- */

/* Whether this is no function, whatever its names stand for. */
static bool is_data(const Ast *body)
{
    while (body->kind == AST_LET)
        body = body->let.body;
    return body->kind == AST_TUPLE || body->kind == AST_BINARY || body->kind == AST_UNARY ||
           body->kind == AST_INT || body->kind == AST_FLOAT ||
           (body->kind == AST_IF && is_data(body->cond.then));
}

/* As a parameter of its own; NULL: too long to be shown. */
static const char *parameter_text(Elab *e, const Pattern *p)
{
    const char *words = span_text(e, p->span), *type = p->type ? span_text(e, p->type->span) : "";
    if (!words || !type || (p->type && !p->name))
        return NULL;
    return p->type ? ctx_printf(e->ctx, "(%s: %s)", p->name, type) : words;
}

/* `also_one`: the pattern may be that of the element alone. */
static void propose_apart(Elab *e, Diag *d, const Pattern *pair, bool also_one)
{
    const char *a = parameter_text(e, &pair->items[0]), *b = parameter_text(e, &pair->items[1]);
    const char *whole = span_text(e, pair->span);
    if (a && b) {
        diag_help(e->ctx, d, "two arguments have no parentheses around them: `fun %s %s => ...`", a,
                  b);
        diag_edit(e->ctx, d, pair->span, "%s %s", a, b);
    }
    if (!also_one || !whole)
        return;
    const char *acc = pattern_binds(pair, "acc") ? "_" : "acc";
    diag_or_else(e->ctx, d);
    diag_help(e->ctx, d,
              "if only the element is a tuple, write as many parameters: `fun %s %s => ...`", acc,
              whole);
    diag_edit(e->ctx, d, span_start(pair->span), "%s ", acc);
}

/* The primitive of the text that is given this; P_COUNT: another function hands it on. */
static PrimId caller_of(const Elab *e, Span argument)
{
    const Source *source = source_get(e->ctx, e->prim_span.file);
    const bool inside = source && span_holds(e->prim_span, argument);
    const char *at = inside ? source->text + e->prim_span.lo : "";
    size_t n = 0;
    while ((at[n] >= 'a' && at[n] <= 'z') || (at[n] >= 'A' && at[n] <= 'Z'))
        n++;
    return prim_find(ctx_printf(e->ctx, "%.*s", (int)n, at));
}

bool report_one_tuple(Elab *e, Value f, int n, const Value *args)
{
    const Fun *fun = unwrapped(f.fun);
    const Ast *lambda = fun->kind == F_CLOSURE && fun->n_args == 0 ? fun->ast : NULL;
    if (n != 2 || !lambda || lambda->lambda.n != 1 || lambda->lambda.params[0].n_items != 2 ||
        args[0].kind != V_CORE)
        return false;
    const Pattern *pair = &lambda->lambda.params[0];
    const bool fits = pattern_fits(e, pair, args[0].core->type, NULL, NULL);
    if (fits && !is_data(lambda->lambda.body))
        return false;
    const PrimId caller = caller_of(e, lambda->span);
    const char *who = "this function is called with 2 arguments";
    if (caller != P_COUNT)
        who = ctx_printf(e->ctx, "`%s` calls its function with 2 arguments", prim_name(caller));
    Diag *d = elab_error(e, E0316, pair->span, "%s, and this pattern takes one tuple apart", who);
    if (caller != P_COUNT && prim_regroups(caller))
        propose_chosen(e, d, lambda, args[0].core->type);
    const bool element =
        args[1].kind == V_CORE && pattern_fits(e, pair, args[1].core->type, NULL, NULL);
    propose_apart(e, d, pair, element);
    return true;
}
