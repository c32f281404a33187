/* A length that other languages ask a function for: here it has a name, which the text says. */
#include "frontend/elab_resolve.h"

/* The `depth`th elements of what has this type: an array, if the type says so. */
typedef struct Written {
    const Ast *type; /* NULL: not known */
    int depth;
} Written;

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool same_span(Span a, Span b)
{
    return a.file == b.file && a.lo == b.lo && a.hi == b.hi;
}

static const Local *local_find(const Local *scope, const char *name)
{
    while (scope && (!scope->name || strcmp(scope->name, name) != 0))
        scope = scope->up;
    return scope;
}

/* `xs |> map(fun x => ...)`, where x is bound. */
static bool binds_element(const Ast *pipe, Span at)
{
    const Ast *step = pipe->kind == AST_PIPE ? pipe->bin.rhs : NULL;
    PrimId prim = step ? callee_of_call(step) : P_COUNT;
    const Ast *f = prim != P_COUNT && step->call.n == 1 ? step->call.items[0] : NULL;
    return f && f->kind == AST_LAMBDA && f->lambda.n == 1 && prim_takes_elements(prim) &&
           same_span(f->lambda.params[0].span, at);
}

/* What the name that is bound here is an element of (*element), or another name for; NULL. */
static const Ast *bound_from(const Ast *ast, Span at, bool *element)
{
    *element = binds_element(ast, at);
    if (*element)
        return ast->bin.lhs;
    if (ast->kind == AST_LET && same_span(ast->let.pattern->span, at))
        return ast->let.value;
    for (int i = 0; i < ast_children(ast); i++)
        if (span_holds(ast_child(ast, i)->span, at))
            return bound_from(ast_child(ast, i), at, element);
    return NULL;
}

static Written type_of(const Resolver *r, const Local *local)
{
    for (int i = 0; local && i < r->item->n_params; i++)
        if (same_span(r->item->params[i].span, local->at))
            return (Written){r->item->params[i].kind, 0};
    bool element = false;
    const Ast *from =
        local && r->item->body ? bound_from(r->item->body, local->at, &element) : NULL;
    if (!from || from->kind != AST_NAME)
        return (Written){NULL, 0};
    Written outer = type_of(r, local_find(local->up, from->name.text));
    outer.depth += element;
    return outer;
}

/* The size in `n.m.f32` of its arrays that lie `depth` deep; NULL. */
static const Ast *size_at(const Ast *type, int depth)
{
    int n = 0;
    for (const Ast *at = type; at && at->kind == AST_DOT; at = at->bin.lhs)
        n++;
    if (depth >= n)
        return NULL;
    for (int i = n; i > depth; i--)
        type = type->bin.lhs;
    return type->kind == AST_DOT ? type->bin.rhs : type;
}

bool propose_length_of(Resolver *r, Diag *d, Span word, const Local *scope)
{
    enum { LONGEST = 60 };
    const char *text = source_get(r->ctx, word.file)->text;
    bool method = word.lo > 0 && text[word.lo - 1] == '.';
    uint32_t lo = method ? word.lo - 1 : word.hi + 1, hi = lo;
    while (method && lo > 0 && is_name_byte(text[lo - 1]))
        lo--;
    while (!method && is_name_byte(text[hi]))
        hi++;
    if (lo == hi || hi - lo > LONGEST || (!method && (text[word.hi] != '(' || text[hi] != ')')) ||
        (method && text[word.hi] == '('))
        return false;
    const char *array = ctx_printf(r->ctx, "%.*s", (int)(hi - lo), text + lo);
    Written type = r->item ? type_of(r, local_find(scope, array)) : (Written){NULL, 0};
    const Ast *size = size_at(type.type, type.depth);
    if (!size || size->span.hi - size->span.lo > LONGEST)
        return false;
    diag_propose(r->ctx, d, (Span){word.file, method ? lo : word.lo, method ? word.hi : hi + 1},
                 ctx_printf(r->ctx, "a length has a name: that of `%s` is $", array), "%.*s",
                 (int)(size->span.hi - size->span.lo), text + size->span.lo);
    return true;
}
