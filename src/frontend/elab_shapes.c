/* One type stands where another is wanted: the step that is missing at the end of a chain, and what its binding should have said. All are tried
 * (Diag.tries); an order says which is likelier. */
#include "frontend/elab_internal.h"

/* ---- types ---------------------------------------------------------------------------------------------------------------------- */

static bool same_type(Elab *e, Type a, Type b)
{
    a = type_resolve(e, a);
    b = type_resolve(e, b);
    if (a == b)
        return true;
    if (a->kind != b->kind || a->n_items != b->n_items)
        return false;
    if (a->kind == TY_ARRAY || a->kind == TY_VEC)
        return nat_equal(e->ctx, e->facts, a->size, b->size) && same_type(e, a->elem, b->elem);
    bool same = a->kind == TY_TUPLE;
    for (int i = 0; i < a->n_items && same; i++)
        same = same_type(e, a->items[i], b->items[i]);
    return same;
}

/* The elements of an array; NULL: it is none. */
static Type elements(const Elab *e, Type t)
{
    t = t ? type_resolve(e, t) : NULL;
    return t && t->kind == TY_ARRAY ? type_resolve(e, t->elem) : NULL;
}

static Nat length(const Elab *e, Type t) { return type_resolve(e, t)->size; }

static Type array_of(Elab *e, Nat n, Type elem) { return type_array(e->ctx, n, elem); }

static Type joined(Elab *e, Type t) { return array_of(e, nat_mul(e->ctx, length(e, t), length(e, elements(e, t))), elements(e, elements(e, t))); }

static bool is_number(Type t) { return t && t->kind == TY_SCALAR && t->scalar != SC_BOOL; }

/* ---- a missing step --------------------------------------------------------------------------------------------------------------- */

typedef struct Missing {
    Elab *e;
    Diag *d;
    Span span;
    Type got, want;
} Missing;

static void step(Missing *m, const char *help, const char *text)
{
    const char *words = span_text(m->e, m->span);
    const Source *source = source_get(m->e->ctx, m->span.file);
    const char *at = source ? source->text + m->span.lo : "";
    bool open = strncmp(at, "if ", 3) == 0 || strncmp(at, "let ", 4) == 0 || strncmp(at, "fun ", 4) == 0;
    diag_or_else(m->e->ctx, m->d);
    if (words || open)
        propose_around(m->e, m->d, m->span, help, open ? "(" : "", ctx_printf(m->e->ctx, open ? ") |> %s" : " |> %s", text));
    else
        diag_propose(m->e->ctx, m->d, span_end(m->span), ctx_printf(m->e->ctx, "%s at its end", help), " |> %s", text);
}

/* `want`, with parts of an array joined, cut or turned. */
static void rearranged(Missing *m)
{
    Elab *e = m->e;
    Type inner = elements(e, m->got), rows = elements(e, inner), part = elements(e, m->want);
    if (rows && same_type(e, m->want, array_of(e, length(e, inner), array_of(e, length(e, m->got), rows))))
        step(m, "its two sizes are exchanged; rows become columns by $", "transpose");
    if (rows && same_type(e, m->want, joined(e, m->got)))
        step(m, "the parts become one array again by $", "join");
    if (rows && elements(e, rows) && same_type(e, m->want, array_of(e, length(e, m->got), joined(e, inner))))
        step(m, "the parts of each element become one array by $", "map(join)");
    if (rows && elements(e, rows) && same_type(e, m->want, joined(e, joined(e, m->got))))
        step(m, "the parts become one array again by $", "join |> join");
    if (inner && part && elements(e, part) && same_type(e, joined(e, m->want), m->got))
        step(m, ctx_printf(e->ctx, "parts of %s elements are made by $", nat_text(e->ctx, length(e, part))), ctx_printf(e->ctx, "split(%s)", nat_text(e->ctx, length(e, part))));
}

/* `want`, as a fold of what there is. */
static void folded(Missing *m)
{
    Elab *e = m->e;
    Type inner = elements(e, m->got), rows = elements(e, inner);
    if (is_number(inner) && same_type(e, m->want, inner))
        step(m, "this is still an array; if its sum is meant: $", "reduce((+), 0)");
    if (is_number(rows) && same_type(e, m->want, rows))
        step(m, "this is still an array of arrays; if the sum of all is meant: $", "join |> reduce((+), 0)");
    if (is_number(rows) && same_type(e, m->want, array_of(e, length(e, m->got), rows)))
        step(m, "each element is still an array; if their sums are meant: $", "map(reduce((+), 0))");
}

/* Each number converted, however deep it lies. */
static void converted(Missing *m)
{
    Elab *e = m->e;
    Type from = elements(e, m->got), to = elements(e, m->want);
    int depth = 1;
    for (; from && to && elements(e, from) && elements(e, to); depth++) {
        from = elements(e, from);
        to = elements(e, to);
    }
    bool index = from && from->kind == TY_IDX;
    if (!is_number(to) || !(index || is_number(from)) || same_type(e, from, to))
        return;
    const char *text = ctx_printf(e->ctx, "cast(%s)", scalar_name(to->scalar));
    while (depth-- > 0)
        text = ctx_printf(e->ctx, "map(%s)", text);
    bool kept = index || scalar_keeps(from->scalar, to->scalar) || (scalar_is_int(from->scalar) && scalar_is_float(to->scalar));
    step(m, kept ? "each element is converted by $" : "$ converts each element, and drops what does not fit", text);
}

void propose_step(Elab *e, Diag *d, Span span, Type got, Type want)
{
    if (!d || !got || !want || !span_is_users(e->ctx, span))
        return;
    got = type_zonk(e, got);
    want = type_zonk(e, want);
    Missing m = {e, d, span, got, want};
    if (got->has_meta || want->has_meta || want->kind == TY_ERROR || got->kind != TY_ARRAY)
        return;
    rearranged(&m);
    folded(&m);
    converted(&m);
    Type pair = elements(e, got);
    if (pair && pair->kind == TY_TUPLE && pair->n_items == 2 && want->kind == TY_TUPLE)
        step(&m, "an array of pairs becomes a pair of arrays by $", "unzip");
    diag_or_else(e->ctx, d);
}

/* ---- what a name is bound to ------------------------------------------------------------------------------------------------------- */

static bool holds(Span outer, Span inner) { return outer.file == inner.file && outer.lo <= inner.lo && inner.hi <= outer.hi; }

static bool binds(const Pattern *p, const char *name)
{
    bool found = p->name && strcmp(p->name, name) == 0;
    for (int i = 0; i < p->n_items && !found; i++)
        found = binds(&p->items[i], name);
    return found;
}

/* The innermost `let` or function around `use` that binds the name. */
static const Ast *find_binder(const Ast *ast, const char *name, Span use)
{
    const Ast *found = NULL;
    while (ast && holds(ast->span, use)) {
        if (ast->kind == AST_LET && holds(ast->let.body->span, use) && binds(&ast->let.pattern, name))
            found = ast;
        for (int i = 0; ast->kind == AST_LAMBDA && i < ast->lambda.n; i++)
            if (binds(&ast->lambda.params[i], name))
                found = ast;
        const Ast *next = NULL;
        for (int i = 0; i < ast_children(ast) && !next; i++)
            if (holds(ast_child(ast, i)->span, use))
                next = ast_child(ast, i);
        ast = next;
    }
    return found;
}

static const Item *item_around(const Elab *e, Span use)
{
    for (const Frame *frame = e->frame; frame; frame = frame->up)
        if (holds(frame->item->span, use))
            return frame->item;
    return e->entry && holds(e->entry->span, use) ? e->entry : NULL;
}

const Ast *bound_to(Elab *e, Span use)
{
    const char *name = span_text(e, use);
    const Item *item = item_around(e, use);
    const Ast *binder = name && item && item->body ? find_binder(item->body, name, use) : NULL;
    return binder && binder->kind == AST_LET && binder->let.pattern.name ? binder->let.value : NULL;
}

const Ast *expression_at(Elab *e, Span span)
{
    const Item *item = item_around(e, span);
    const Ast *ast = item ? item->body : NULL;
    while (ast && holds(ast->span, span)) {
        if (ast->span.lo == span.lo && ast->span.hi == span.hi)
            return ast;
        const Ast *next = NULL;
        for (int i = 0; i < ast_children(ast) && !next; i++)
            if (holds(ast_child(ast, i)->span, span))
                next = ast_child(ast, i);
        ast = next;
    }
    return NULL;
}

void propose_sum(Elab *e, Diag *d, const Value *array)
{
    if (array->kind != V_CORE || !is_number(elements(e, array->core->type)) || !span_is_users(e->ctx, array->span))
        return;
    const Ast *value = bound_to(e, array->span);
    const char *name = span_text(e, array->span);
    diag_or_else(e->ctx, d);
    if (value)
        diag_propose(e->ctx, d, span_end(value->span), ctx_printf(e->ctx, "`%s` is an array, %s; if its sum is meant, $ at the end of its `let`", name, tyt(e, array->core->type)), " |> reduce((+), 0)");
    else
        propose_around(e, d, array->span, ctx_printf(e->ctx, "this is an array, %s; if its sum is meant: $", tyt(e, array->core->type)), "(", " |> reduce((+), 0))");
}
