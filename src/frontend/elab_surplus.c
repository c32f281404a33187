/* Calls that are given an argument too many, or that ask for one too many: hints, all tried. */
#include "frontend/elab_internal.h"

/* How many arguments a primitive takes; 0: it is none. */
static int arguments_of(Elab *e, PrimId prim)
{
    const Item *header = prim == P_COUNT ? NULL : prim_header(e->ctx, prim);
    int n = 0;
    for (int i = 0; header && i < header->n_params; i++)
        n += !header->params[i].implicit;
    return n;
}

static const Ast *child_holding(const Ast *ast, Span use)
{
    for (int i = 0; i < ast_children(ast); i++)
        if (span_holds(ast_child(ast, i)->span, use))
            return ast_child(ast, i);
    return NULL;
}

static const Ast *body_around(const Elab *e, Span use)
{
    const Item *item = span_is_users(e->ctx, use) ? item_holding(e, use) : NULL;
    return item ? item->body : NULL;
}

/* ---- `xs |> map(f, xs)` ---- */

static void without_last(Elab *e, Diag *d, const Ast *call)
{
    const Ast *last = call->call.items[call->call.n - 1];
    const char *words = span_text(e, last->span), *name = prim_name(callee_of_call(call));
    bool only = call->call.n == 1;
    uint32_t lo = only ? call->call.fn->span.hi : call->call.items[call->call.n - 2]->span.hi;
    diag_or_else(e->ctx, d);
    diag_help(e->ctx, d, "`%s` has its array twice, from the pipe and as `%s`: leave `%s%s%s` out",
              name, words ? words : "its last argument", only ? "(" : ", ", words ? words : "...",
              only ? ")" : "");
    diag_edit(e->ctx, d, (Span){call->span.file, lo, only ? call->span.hi : last->span.hi}, "%s",
              "");
    diag_or_else(e->ctx, d);
}

void propose_once(Elab *e, Diag *d, Span use)
{
    if (!d)
        return;
    DiagTry own = diag_put_aside(d);
    for (const Ast *ast = body_around(e, use); ast && span_holds(ast->span, use);
         ast = child_holding(ast, use)) {
        const Ast *call = ast->kind == AST_PIPE ? ast->bin.rhs : NULL;
        const Ast *last = call && call->kind == AST_CALL && call->call.n > 0
                              ? call->call.items[call->call.n - 1]
                              : NULL;
        bool literal =
            last && (last->kind == AST_INT || last->kind == AST_FLOAT); /* of a decimal comma */
        if (last && !literal && span_holds(call->span, use) &&
            arguments_of(e, callee_of_call(call)) == call->call.n)
            without_last(e, d, call);
    }
    diag_put_back(e->ctx, d, own);
}

/* ---- `map(f, xs, ys)` ---- */

/* A function and one array. */
static bool takes_elements(Elab *e, PrimId prim)
{
    const Item *header = prim == P_COUNT ? NULL : prim_header(e->ctx, prim);
    int functions = 0, values = 0;
    for (int i = 0; header && i < header->n_params; i++) {
        ParamKind kind = param_kind(&header->params[i]);
        functions += !header->params[i].implicit && kind == KIND_FUN;
        values += !header->params[i].implicit && kind == KIND_VALUE;
    }
    return functions == 1 && values == 1 && arguments_of(e, prim) == 2 && prim_takes_elements(prim);
}

/* The function, of so many values, as one of a tuple. */
static bool edit_function(Elab *e, Diag *d, const Ast *f, int n)
{
    static const char *const names[] = {"a", "b", "c"};
    const Pattern *p = f->kind == AST_LAMBDA ? f->lambda.params : NULL;
    const char *words = span_text(e, f->span), *list = "";
    if (p && f->lambda.n != n)
        return false;
    for (int i = 0; p && i + 1 < n; i++)
        diag_edit(e->ctx, d, (Span){f->span.file, p[i].span.hi, p[i + 1].span.lo}, ", ");
    if (p) {
        diag_edit(e->ctx, d, span_start(p[0].span), "(");
        diag_edit(e->ctx, d, span_end(p[n - 1].span), ")");
        return true;
    }
    for (int i = 0; i < n; i++)
        list = ctx_printf(e->ctx, "%s%s%s", list, i ? ", " : "", names[i]);
    if (!words || (f->kind == AST_OPFUN && n != 2))
        return false;
    if (f->kind == AST_OPFUN)
        diag_edit(e->ctx, d, f->span, "fun (a, b) => a %s b", ast_op_text(f->bin.op));
    else
        diag_edit(e->ctx, d, f->span, "fun (%s) => %s(%s)", list, words, list);
    return true;
}

static const char *function_text(Elab *e, const Ast *f, int n)
{
    const char *list = "", *words = span_text(e, f->span);
    for (int i = 0; i < n; i++) {
        const char *name = f->kind == AST_LAMBDA ? span_text(e, f->lambda.params[i].span) : NULL;
        list = ctx_printf(e->ctx, "%s%s%s", list, i ? ", " : "",
                          name     ? name
                          : i == 0 ? "a"
                          : i == 1 ? "b"
                                   : "c");
    }
    if (f->kind == AST_OPFUN && n == 2)
        return ctx_printf(e->ctx, "fun (%s) => a %s b", list, ast_op_text(f->bin.op));
    if (f->kind == AST_LAMBDA || !words)
        return ctx_printf(e->ctx, "fun (%s) => ...", list);
    return ctx_printf(e->ctx, "fun (%s) => %s(%s)", list, words, list);
}

bool propose_zip(Elab *e, Diag *d, Span function)
{
    const Ast *call = NULL;
    for (const Ast *ast = body_around(e, function); ast && span_holds(ast->span, function);
         ast = child_holding(ast, function))
        if (ast->kind == AST_CALL && takes_elements(e, callee_of_call(ast)) &&
            (ast->call.n == 3 || ast->call.n == 4) &&
            span_holds(ast->call.items[0]->span, function))
            call = ast;
    if (!d || !call)
        return false;
    int arrays = call->call.n - 1;
    const Ast *f = call->call.items[0];
    Span rest = span_join(call->call.items[1]->span, call->call.items[arrays]->span);
    const char *name = prim_name(callee_of_call(call)),
               *zip = prim_name(arrays == 2 ? P_zip : P_zip3), *words = span_text(e, rest);
    diag_or_else(e->ctx, d);
    diag_help(e->ctx, d, "`%s` takes one array, here of tuples: `%s(%s, %s(%s))`", name, name,
              f->kind != AST_LAMBDA || f->lambda.n == arrays ? function_text(e, f, arrays)
                                                             : "fun (a, b) => ...",
              zip, words ? words : "xs, ys");
    if (!edit_function(e, d, f, arrays))
        return true;
    diag_edit(e->ctx, d, span_start(rest), "%s(", zip);
    diag_edit(e->ctx, d, span_end(rest), ")");
    return true;
}

/* ---- `def f (n: nat) (xs: n.f32)` ---- */

void propose_found_sizes(Elab *e, Diag *d, const Fun *f)
{
    const Item *item = f->kind == F_ITEM && f->item->kind == ITEM_DEF ? f->item : NULL;
    const char *text = item && span_is_users(e->ctx, item->span)
                           ? source_get(e->ctx, item->span.file)->text
                           : NULL;
    for (int i = 0; text && i < item->n_params; i++) {
        const Param *p = &item->params[i];
        if (p->implicit || !p->name || param_kind(p) != KIND_NAT || !param_is_fixed(item, p) ||
            text[p->span.lo - 1] != '(' || text[p->kind_span.hi] != ')')
            continue;
        uint32_t lo = p->span.lo - 1, hi = p->kind_span.hi;
        diag_or_else(e->ctx, d);
        diag_help(e->ctx, d,
                  "`%s` takes the size `%s` as an argument, and its arrays say it: in its header "
                  "write `{%s: nat}`",
                  item->name, p->name, p->name);
        diag_edit(e->ctx, d, (Span){item->span.file, lo, lo + 1}, "{");
        diag_edit(e->ctx, d, (Span){item->span.file, hi, hi + 1}, "}");
        diag_or_else(e->ctx, d);
    }
}
