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
    const char *else_header; /* more words of a sum: that the header may be wrong; or "" */
    const char *instead;     /* of what the message has explained so far; or NULL */
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
        diag_propose(m->e->ctx, m->d, span_end(m->span), help, " |> %s", text);
}

/* Whether a text turns an array, itself or where its names are bound: that its result lies the other way may be meant. */
static bool turns(Elab *e, const Ast *ast)
{
    const Ast *value = ast->kind == AST_NAME ? bound_to(e, ast->span) : NULL;
    bool found = ast_is_word(ast, prim_name(P_transpose)) || (value && turns(e, value));
    for (int i = 0; i < ast_children(ast) && !found; i++)
        found = turns(e, ast_child(ast, i));
    return found;
}

/* Where the body turns its array, the header may be what is wrong. */
static const char *turned_help(const Missing *m)
{
    const Ast *body = m->else_header[0] ? expression_at(m->e, m->span) : NULL;
    const char *help = "its two sizes are exchanged; rows become columns by $";
    return body && turns(m->e, body) ? ctx_printf(m->e->ctx, "%s, or, if they are exchanged on purpose, the header says `%s`", help, tyt(m->e, m->got)) : help;
}

/* `xs |> transpose`, where `xs` lies as it is wanted: without the last step. */
static void unturned(Missing *m)
{
    const Ast *chain = expression_at(m->e, m->span), *from = NULL;
    if (chain && chain->kind == AST_PIPE && ast_is_word(chain->bin.rhs, prim_name(P_transpose)))
        from = chain->bin.lhs;
    else if (chain && callee_of_call(chain) == P_transpose && chain->call.n == 1)
        from = chain->call.items[0];
    if (!from)
        return;
    Span before = {chain->span.file, chain->span.lo, from->span.lo}, behind = {chain->span.file, from->span.hi, chain->span.hi};
    diag_or_else(m->e->ctx, m->d);
    diag_help(m->e->ctx, m->d, "its two sizes are exchanged by `transpose`: leave it out%s",
              m->else_header[0] ? ctx_printf(m->e->ctx, ", or, if they are exchanged on purpose, declare `%s`", tyt(m->e, m->got)) : "");
    if (before.lo < before.hi)
        diag_edit(m->e->ctx, m->d, before, "%s", "");
    diag_edit(m->e->ctx, m->d, behind, "%s", "");
    diag_or_else(m->e->ctx, m->d);
}

/* `want`, with parts of an array joined, cut or turned. */
static void rearranged(Missing *m)
{
    Elab *e = m->e;
    Type inner = elements(e, m->got), rows = elements(e, inner), part = elements(e, m->want);
    if (rows && same_type(e, m->want, array_of(e, length(e, inner), array_of(e, length(e, m->got), rows)))) {
        unturned(m);
        step(m, turned_help(m), "transpose");
    }
    if (rows && same_type(e, m->want, joined(e, m->got)))
        step(m, "the parts become one array again by $", "join");
    if (rows && elements(e, rows) && same_type(e, m->want, array_of(e, length(e, m->got), joined(e, inner))))
        step(m, "the parts of each element become one array by $", "map(join)");
    if (rows && elements(e, rows) && same_type(e, m->want, joined(e, joined(e, m->got))))
        step(m, "the parts become one array again by $", "join |> join");
    if (inner && part && elements(e, part) && same_type(e, joined(e, m->want), m->got))
        step(m, ctx_printf(e->ctx, "parts of %s elements are made by $", nat_text(e->ctx, length(e, part))), ctx_printf(e->ctx, "split(%s)", nat_text(e->ctx, length(e, part))));
}

/* A result for each row, where one for each column has the size that is wanted; not where the array is turned already. */
static void by_columns(Missing *m)
{
    Elab *e = m->e;
    const Ast *chain = expression_at(e, m->span);
    bool sizes = elements(e, m->got) && elements(e, m->want) && !nat_equal(e->ctx, e->facts, length(e, m->got), length(e, m->want));
    if (!sizes || !chain || chain->kind != AST_PIPE || chain->bin.rhs->kind != AST_CALL || chain->bin.rhs->call.fn->kind != AST_NAME || turns(e, chain))
        return;
    diag_or_else(e->ctx, m->d);
    diag_propose(e->ctx, m->d, span_start(chain->bin.rhs->span), ctx_printf(e->ctx, "this has an element for each row; for each column, put $ in front of the last `%s`", chain->bin.rhs->call.fn->name.text), "transpose |> ");
}

/* `a |> take(4) |> take(3)`: the last step is of the array itself, where one for each row is meant. */
static void by_rows(Missing *m)
{
    Elab *e = m->e;
    const Ast *chain = expression_at(e, m->span), *last = chain && chain->kind == AST_PIPE ? chain->bin.rhs : NULL;
    const char *words = last && last->kind == AST_CALL && last->call.fn->kind == AST_NAME ? span_text(e, last->span) : NULL;
    PrimId prim = words ? prim_find(last->call.fn->name.text) : P_COUNT;
    if (prim == P_COUNT || prim_rows[prim].level != LEVEL_VIEW || !elements(e, elements(e, m->got)) || !elements(e, elements(e, m->want)))
        return;
    diag_or_else(e->ctx, m->d);
    diag_propose(e->ctx, m->d, last->span, ctx_printf(e->ctx, "`%s` is of the array itself, here of its rows; of each row it is $", words),
                 "map(%s)", words);
    diag_or_else(e->ctx, m->d);
}

/* `scanExcl(op, e)`, where one element more is wanted: the total. */
static void with_total(Missing *m)
{
    Elab *e = m->e;
    const Ast *chain = expression_at(e, m->span), *last = chain && chain->kind == AST_PIPE ? chain->bin.rhs : chain;
    bool excl = last && callee_of_call(last) == P_scanExcl && last->call.n >= 2 && elements(e, m->got) && elements(e, m->want);
    Nat more = excl ? nat_sub(e->ctx, length(e, m->want), length(e, m->got)) : NULL;
    const char *op = excl ? span_text(e, last->call.items[0]->span) : NULL, *unit = excl ? span_text(e, last->call.items[1]->span) : NULL;
    if (!more || !nat_is(more, 1) || !op || !unit)
        return;
    const char *array = last->call.n > 2 ? span_text(e, last->call.items[2]->span) : NULL;
    diag_or_else(e->ctx, m->d);
    diag_propose(e->ctx, m->d, last->span, "the total of all comes last by $", "%s%s%s(%s, %s) |> %s(1, 0, %s)", array ? array : "", array ? " |> " : "", prim_name(P_scan), op, unit, prim_name(P_padCst), unit);
    diag_or_else(e->ctx, m->d);
}

/* A chain that ends with `join`: of other parts than those that are one array. */
static void joined_otherwise(Missing *m)
{
    static const char *const others[] = {"map(join)", "transpose |> map(join)", "map(transpose) |> join", "map(transpose) |> join |> join", "join |> join"};
    Elab *e = m->e;
    const Ast *chain = expression_at(e, m->span), *last = chain && chain->kind == AST_PIPE ? chain->bin.rhs : NULL;
    if (!last || !ast_is_word(last, prim_name(P_join)) || m->want->kind != TY_ARRAY)
        return;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        diag_or_else(e->ctx, m->d);
        diag_propose(e->ctx, m->d, last->span, "the parts are put together by $, in the place of the last `join`", "%s", others[i]);
        diag_or_else(e->ctx, m->d);
    }
}

/* `want`, as a fold of what there is. */
static void folded(Missing *m)
{
    Elab *e = m->e;
    Type inner = elements(e, m->got), rows = elements(e, inner);
    const char *else_header = m->else_header;
    if (is_number(inner) && same_type(e, m->want, inner) && is_only_element(e, m->got)) {
        diag_or_else(e->ctx, m->d);
        propose_only_element(e, m->d, m->span);
        if (m->d->help)
            m->d->help = ctx_printf(e->ctx, "%s%s", m->d->help, else_header);
    } else if (is_number(inner) && same_type(e, m->want, inner))
        step(m, ctx_printf(e->ctx, "this is still an array; if its sum is meant: $%s", else_header), "reduce((+), 0)");
    if (is_number(rows) && same_type(e, m->want, rows))
        step(m, ctx_printf(e->ctx, "this is still an array of arrays; if the sum of all is meant: $%s", else_header), "join |> reduce((+), 0)");
    if (is_number(rows) && same_type(e, m->want, array_of(e, length(e, m->got), rows)))
        step(m, ctx_printf(e->ctx, "each element is still an array; if their sums are meant: $%s", else_header), "map(reduce((+), 0))");
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
    step(m, kept ? "each element is converted by $" : ctx_printf(e->ctx, "each element is converted by $, which %s", cast_loss(from->scalar, to->scalar)), text);
}

/* Rows, or rows of rows, that are longer than those that are wanted: `take` was given the array itself. */
static void shortened(Missing *m)
{
    Elab *e = m->e;
    Type got = m->got, want = m->want;
    const char *take = "";
    int depth = 0;
    for (; elements(e, got) && elements(e, want) && nat_equal(e->ctx, e->facts, got->size, want->size); depth++) {
        got = elements(e, got);
        want = elements(e, want);
    }
    if (!depth || got->kind != TY_ARRAY || want->kind != TY_ARRAY || !nat_le(e->ctx, e->facts, want->size, got->size) ||
        !same_type(e, elements(e, got), elements(e, want)))
        return;
    const char *size = nat_text(e->ctx, want->size), *plain = ctx_printf(e->ctx, "take(%s)", size);
    for (int i = 0; i < depth; i++)
        take = ctx_printf(e->ctx, "map(%s)", i ? take : plain);
    const char *help = ctx_printf(e->ctx, "the rows are too long; %s elements of each are kept by $", size);
    step(m, help, take);
    m->instead = ctx_printf(e->ctx, "rows have %s elements, and the header says %s: `%s` leaves elements out",
                            nat_text(e->ctx, got->size), size, take);
}

/* The list of an `unroll` in a chain that halves to the end of it; NULL. */
static const Ast *find_list(const Ast *ast, const char **name)
{
    const Ast *found = ast->kind == AST_UNROLL && ast->unroll.list->kind == AST_LIST && ast->unroll.list->list.n > 0 ? ast->unroll.list : NULL;
    if (found)
        *name = ast->unroll.name;
    for (int i = 0; i < ast_children(ast) && !found; i++)
        found = find_list(ast_child(ast, i), name);
    return found;
}

/* A tree whose steps end too early. */
static void halved(Missing *m)
{
    Elab *e = m->e;
    const char *name = NULL;
    const Ast *chain = expression_at(e, m->span), *list = chain ? find_list(chain, &name) : NULL;
    if (!list || m->want->kind != TY_ARRAY || !nat_is_const(m->got->size) || !nat_is_const(m->want->size))
        return;
    int64_t left = m->got->size->value, wanted = m->want->size->value, last = left;
    const Ast *end = list->list.items[list->list.n - 1];
    StrBuf more;
    sb_init(&more, e->ctx);
    while (last > wanted && last % 2 == 0)
        sb_printf(&more, ", %lld", (long long)(last /= 2));
    if (last != wanted || last == left)
        return;
    diag_help(e->ctx, m->d, "after the last step of the `unroll`, of %s = %s, %lld elements are left; its list lacks `%s`", name, span_text(e, end->span) ? span_text(e, end->span) : "...", (long long)left, more.text);
    diag_edit(e->ctx, m->d, span_end(end->span), "%s", more.text);
    diag_or_else(e->ctx, m->d);
}

/* The one component of that type, of a tuple or of each element. */
static void picked(Missing *m)
{
    Elab *e = m->e;
    Type tuple = m->got->kind == TY_TUPLE ? m->got : elements(e, m->got), want = m->got->kind == TY_TUPLE ? m->want : elements(e, m->want);
    if (!tuple || !want || tuple->kind != TY_TUPLE)
        return;
    int n = 0, which = 0;
    for (int i = 0; i < tuple->n_items; i++)
        if (same_type(e, tuple->items[i], want)) {
            n++;
            which = i + 1;
        }
    if (n != 1)
        return;
    diag_or_else(e->ctx, m->d);
    const char *words = span_text(e, m->span);
    bool name = words && !strpbrk(words, " (|.");
    if (m->got->kind == TY_TUPLE)
        propose_around(e, m->d, m->span, "one of its components is wanted: $", name ? "" : "(", ctx_printf(e->ctx, name ? ".%d" : ").%d", which));
    else
        step(m, "one component of each element is wanted: $", ctx_printf(e->ctx, "map(fun t => t.%d)", which));
}

void propose_step(Elab *e, Diag *d, Span span, Type got, Type want, bool body)
{
    if (!d || !got || !want || !span_is_users(e->ctx, span))
        return;
    got = type_zonk(e, got);
    want = type_zonk(e, want);
    Missing m = {e, d, span, got, want, body ? ctx_printf(e->ctx, "; if all of it is meant, the header says `%s`", tyt(e, got)) : "", NULL};
    if (got->has_meta || want->has_meta || want->kind == TY_ERROR || (got->kind != TY_ARRAY && got->kind != TY_TUPLE))
        return;
    bool explains = d->help && d->edits.n == 0; /* for where none of these mends */
    DiagTry own = explains ? diag_put_aside(d) : (DiagTry){0};
    picked(&m);
    if (got->kind == TY_ARRAY)
        halved(&m);
    by_rows(&m);
    shortened(&m);
    rearranged(&m);
    if (got->kind == TY_ARRAY)
        joined_otherwise(&m);
    with_total(&m);
    by_columns(&m);
    folded(&m);
    converted(&m);
    Type pair = elements(e, got);
    if (pair && pair->kind == TY_TUPLE && pair->n_items == 2 && want->kind == TY_TUPLE)
        step(&m, "an array of pairs becomes a pair of arrays by $", "unzip");
    if (m.instead && explains)
        own.help = m.instead;
    diag_put_back(e->ctx, d, own);
}

/* ---- parameters ------------------------------------------------------------------------------------------------------------------- */

bool span_holds(Span outer, Span inner) { return outer.file == inner.file && outer.lo <= inner.lo && inner.hi <= outer.hi; }

/* Known, or that of a literal. */
static bool is_said(Elab *e, Type t)
{
    t = type_zonk(e, t);
    return !t->has_meta || t->kind == TY_META;
}

bool pattern_fits(Elab *e, const Pattern *p, Type t, const char *name, Type *named)
{
    t = type_resolve(e, t);
    if (p->name && name && strcmp(p->name, name) == 0)
        *named = t;
    bool fits = p->n_items == 0 || (t->kind == TY_TUPLE && t->n_items == p->n_items);
    for (int i = 0; i < p->n_items && fits; i++)
        fits = pattern_fits(e, &p->items[i], t->items[i], name, named);
    return fits;
}

/* Do both patterns fit in each other's place? And would a name that the message is about have
 * another type there, which is no number if an index is wanted? */
static bool may_turn(Elab *e, const Diag *d, const Pattern *p, const Type types[2])
{
    const char *name = span_text(e, d->span);
    Type now = NULL, turned = NULL;
    if (!pattern_fits(e, &p[0], types[1], name, &turned) ||
        !pattern_fits(e, &p[1], types[0], name, &turned))
        return false;
    pattern_fits(e, &p[0], types[0], name, &now);
    pattern_fits(e, &p[1], types[1], name, &now);
    bool number = now && now->kind == TY_SCALAR && turned && turned->kind == TY_SCALAR;
    return !now || !turned || !(same_type(e, now, turned) || (d->code == E0328 && number));
}

/* `fun step state => ...` where the state comes first, and `fun (i, x) => ...` of pairs (x, i). */
void propose_parameters_turned(Elab *e, Diag *d)
{
    const Ast *lambda = e->lambda;
    if (!lambda || !span_holds(lambda->lambda.body->span, d->span) || !span_is_users(e->ctx, lambda->span))
        return;
    bool tuple = lambda->lambda.n == 1 && lambda->lambda.params[0].n_items == 2;
    const Pattern *p = tuple ? lambda->lambda.params[0].items : lambda->lambda.params;
    Type types[2] = {NULL, NULL}, given = tuple && e->lambda_args[0].kind == V_CORE ? type_resolve(e, e->lambda_args[0].core->type) : NULL;
    for (int i = 0; i < 2 && (tuple || lambda->lambda.n == 2); i++)
        types[i] = tuple ? (given && given->kind == TY_TUPLE && given->n_items == 2 ? given->items[i] : NULL) : e->lambda_args[i].kind == V_CORE ? e->lambda_args[i].core->type : NULL;
    if (!types[0] || !types[1] || !is_said(e, types[0]) || !is_said(e, types[1]) || same_type(e, types[0], types[1]))
        return;
    const char *first = span_text(e, p[0].span), *second = span_text(e, p[1].span);
    if (!first || !second || p[0].type || p[1].type || !may_turn(e, d, p, types))
        return;
    diag_help(e->ctx, d, tuple ? "the first component is %s, and the second %s; exchange them: `fun %s%s%s %s%s => ...`" : "the function is given %s first, and then %s; exchange its parameters: `fun %s%s%s %s%s => ...`", tyt(e, types[0]), tyt(e, types[1]), tuple ? "(" : "", second, tuple ? "," : "", first, tuple ? ")" : "");
    diag_edit(e->ctx, d, p[0].span, "%s", second);
    diag_edit(e->ctx, d, p[1].span, "%s", first);
    diag_or_else(e->ctx, d);
}

/* ---- what a name is bound to ------------------------------------------------------------------------------------------------------- */

bool pattern_binds(const Pattern *p, const char *name)
{
    bool found = p->name && strcmp(p->name, name) == 0;
    for (int i = 0; i < p->n_items && !found; i++)
        found = pattern_binds(&p->items[i], name);
    return found;
}

/* The innermost `let` or function around `use` that binds the name. */
static const Ast *find_binder(const Ast *ast, const char *name, Span use)
{
    const Ast *found = NULL;
    while (ast && span_holds(ast->span, use)) {
        if (ast->kind == AST_LET && span_holds(ast->let.body->span, use) && pattern_binds(ast->let.pattern, name))
            found = ast;
        for (int i = 0; ast->kind == AST_LAMBDA && i < ast->lambda.n; i++)
            if (pattern_binds(&ast->lambda.params[i], name))
                found = ast;
        const Ast *next = NULL;
        for (int i = 0; i < ast_children(ast) && !next; i++)
            if (span_holds(ast_child(ast, i)->span, use))
                next = ast_child(ast, i);
        ast = next;
    }
    return found;
}

const Item *item_holding(const Elab *e, Span use)
{
    for (const Frame *frame = e->frame; frame; frame = frame->up)
        if (span_holds(frame->item->span, use))
            return frame->item;
    return e->entry && span_holds(e->entry->span, use) ? e->entry : NULL;
}

const Ast *bound_to(Elab *e, Span use)
{
    const char *name = span_text(e, use);
    const Item *item = item_holding(e, use);
    const Ast *binder = name && item && item->body ? find_binder(item->body, name, use) : NULL;
    return binder && binder->kind == AST_LET && binder->let.pattern->name ? binder->let.value : NULL;
}

const Ast *expression_at(Elab *e, Span span)
{
    const Item *item = item_holding(e, span);
    const Ast *ast = item ? item->body : NULL;
    while (ast && span_holds(ast->span, span)) {
        if (ast->span.lo == span.lo && ast->span.hi == span.hi)
            return ast;
        const Ast *next = NULL;
        for (int i = 0; i < ast_children(ast) && !next; i++)
            if (span_holds(ast_child(ast, i)->span, span))
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

const Ast *pipe_binding(const Ast *ast, const char *name, Span use)
{
    const Ast *found = NULL;
    while (ast && span_holds(ast->span, use)) {
        const Ast *step = ast->kind == AST_PIPE && ast->bin.rhs->kind == AST_CALL ? ast->bin.rhs : NULL;
        for (int i = 0; step && i < step->call.n; i++) {
            const Ast *f = step->call.items[i];
            for (int k = 0; f->kind == AST_LAMBDA && span_holds(f->lambda.body->span, use) && k < f->lambda.n; k++)
                if (pattern_binds(&f->lambda.params[k], name))
                    found = ast;
        }
        const Ast *next = NULL;
        for (int i = 0; i < ast_children(ast) && !next; i++)
            if (span_holds(ast_child(ast, i)->span, use))
                next = ast_child(ast, i);
        ast = next;
    }
    return found;
}

/* `b |> map(fun row => ...)` where the columns of b fit. */
void propose_columns(Elab *e, Diag *d, Value v)
{
    const char *name = span_text(e, v.span);
    const Item *item = item_holding(e, v.span);
    const Ast *pipe = name && item && item->body ? pipe_binding(item->body, name, v.span) : NULL;
    const char *whole = pipe ? span_text(e, pipe->bin.lhs->span) : NULL;
    if (!pipe)
        return;
    diag_or_else(e->ctx, d);
    diag_propose(e->ctx, d, span_start(pipe->bin.rhs->span), ctx_printf(e->ctx, "`%s` is a row of %s%s%s; for its columns, put $ in front of the `%.*s`", name, whole ? "`" : "", whole ? whole : "the array", whole ? "`" : "",
                 pipe->bin.rhs->call.fn->kind == AST_NAME ? (int)strlen(pipe->bin.rhs->call.fn->name.text) : 3, pipe->bin.rhs->call.fn->kind == AST_NAME ? pipe->bin.rhs->call.fn->name.text : "map"),
                 "transpose |> ");
    diag_or_else(e->ctx, d);
}

/* An argument whose place wants no such rows, whatever else it wants. */
void propose_argument(Elab *e, Diag *d, const Ast *pattern, const Env *env, Value v)
{
    if (v.kind != V_CORE)
        return;
    Type t = v.core->type;
    if (!pattern_open(pattern, env)) {
        propose_step(e, d, v.span, t, eval_type(e, pattern, env), false);
    } else if (elements(e, elements(e, t)) && span_is_users(e->ctx, v.span)) {
        Missing m = {e, d, v.span, t, NULL, "", NULL};
        diag_or_else(e->ctx, d);
        step(&m, "the parts become one array again by $", "join");
        step(&m, "rows become columns by $", "transpose");
        diag_or_else(e->ctx, d);
    }
}

static bool in_arguments(const Ast *call, Span use)
{
    bool found = false;
    for (int i = 0; i < call->call.n && !found; i++)
        found = span_holds(call->call.items[i]->span, use);
    return found;
}

/* The innermost pipe into a call that has this among its arguments, and not in a function of the text; NULL. */
static const Ast *find_pipe(const Ast *ast, Span use)
{
    const Ast *found = NULL;
    while (ast && span_holds(ast->span, use)) {
        found = ast->kind == AST_LAMBDA ? NULL : ast->kind == AST_PIPE && ast->bin.rhs->kind == AST_CALL && in_arguments(ast->bin.rhs, use) ? ast : found;
        const Ast *next = NULL;
        for (int i = 0; i < ast_children(ast) && !next; i++)
            if (span_holds(ast_child(ast, i)->span, use))
                next = ast_child(ast, i);
        ast = next;
    }
    return found;
}

/* One element, where a pattern wants an array: nothing has cut the array into parts. */
void propose_parts(Elab *e, Diag *d, Value v)
{
    static const int sizes[] = {256, 128, 512, 1024, 64, 32};
    enum { N = sizeof sizes / sizeof *sizes };
    Type t = v.kind == V_CORE ? type_resolve(e, v.core->type) : NULL;
    if (!t || (t->kind != TY_SCALAR && t->kind != TY_TUPLE) || !span_is_users(e->ctx, e->prim_span))
        return;
    const Item *item = item_holding(e, e->prim_span);
    const char *name = span_text(e, v.span);
    const Ast *bound = bound_to(e, v.span);
    for (int i = 0; bound && i < item->n_params; i++)
        if (item->params[i].name && strcmp(item->params[i].name, name) == 0) {
            diag_note(e->ctx, d, bound->span, "`%s` is this here", name);
            diag_help(e->ctx, d, "this `let` hides the parameter `%s`: give it another name", name);
            return;
        }
    const Ast *pipe = item && item->body && name ? pipe_binding(item->body, name, v.span) : NULL;
    pipe = pipe || !item || !item->body ? pipe : find_pipe(item->body, e->prim_span);
    const Ast *step = pipe ? pipe->bin.rhs : NULL;
    const char *who = step && step->call.fn->kind == AST_NAME ? step->call.fn->name.text : NULL;
    for (int i = who && prim_find(who) == P_mapWarp ? N - 1 : 0; who && i < N; i++) {
        diag_or_else(e->ctx, d);
        diag_help(e->ctx, d, "`%s` gives one element to its function; cut the array into parts first: `split(%d) |> %s(...) |> join`", who, sizes[i], who);
        diag_edit(e->ctx, d, span_start(step->span), "split(%d) |> ", sizes[i]);
        diag_edit(e->ctx, d, span_end(step->span), " |> join");
    }
    diag_or_else(e->ctx, d);
    if (who)
        diag_help(e->ctx, d, "`%s` gives one element to its function; cut the array into parts first, `split(k) |> %s(...) |> join`, of a k that divides its size", who, who);
}
