/* Expressions as documents: what is written on one line where it fits, and where it is broken
 * otherwise. */
#include "format/lay.h"

enum {
    SHORT_HEAD = 8, /* columns: what is piped stands on the line of its first stage */
    SHORT_TAIL = 12, /* columns: what may stand behind a function's last line */
    LARGE =
        60, /* columns: what is wider has lines of its own, if it is not alone on a line anyhow; */
    LARGE_FUNCTION = 32 /* so has what holds a function and is wider than this */
};

static const Doc *lay_in(Lay *l, const Ast *ast, bool inner);

/* ---- lists --------------------------------------------------------------------------------- */

/* Is it better read on lines of its own? */
static bool is_large(const Doc *doc)
{
    return doc_width(doc) > (doc_is_busy(doc) ? LARGE_FUNCTION : LARGE);
}

/* As many items on a line as fit; but what is large has lines of its own. */
static const Doc *fill(Lay *l, int n, const Doc *const *items)
{
    Docs docs = docs_new(l->ctx);
    for (int i = 0; i < n; i++) {
        if (i == 0) {
            docs_add(&docs, items[i]);
        } else if (is_large(items[i]) || is_large(items[i - 1])) {
            docs_add(&docs, doc_line(l->ctx));
            docs_add(&docs, items[i]);
        } else {
            docs_add(&docs, doc_group(l->ctx, doc_pair(l->ctx, doc_line(l->ctx), items[i])));
        }
    }
    return doc_list(&docs);
}

typedef struct List {
    const Doc *open, *close;
    int n;
    const Doc **items; /* with the commas behind them */
    int hanging; /* the only one that is busy, if it hangs; else -1 */
    bool steps; /* which is `a ; b` */
    bool busy;
} List;

/* One item with its name and the comma behind it. */
static bool list_item(Lay *l, const Ast *ast, const Doc **item)
{
    Docs docs = docs_new(l->ctx);
    int start = lay_token_at(l, ast->span.lo);
    while (l->at < start) { /* pad = */
        docs_add(&docs, lay_token(l));
        docs_add(&docs, doc_blank(l->ctx));
    }
    const Doc *doc = lay_expr(l, ast);
    docs_add(&docs, doc);
    if (lay_kind(l) == T_COMMA)
        docs_add(&docs, lay_token(l));
    *item = doc_list(&docs);
    return doc_hangs(doc);
}

static List take_list(Lay *l, int n, Ast *const *items)
{
    List list = {
        .open = lay_token(l), .n = n, .items = NEWN(l->ctx, const Doc *, n), .hanging = -1};
    int busy = 0;
    for (int i = 0; i < n; i++) {
        if (list_item(l, items[i], &list.items[i])) {
            list.hanging = i;
            list.steps = items[i]->kind == AST_SEQ || items[i]->kind == AST_ORELSE;
        }
        busy += doc_is_busy(list.items[i]);
    }
    list.close = lay_token(l);
    list.busy = busy > 0;
    if (busy != 1)
        list.hanging = -1;
    return list;
}

/* f(a,
 *   b) */
static const Doc *aligned_list(Lay *l, const List *list, bool flat)
{
    const Doc **items = list->items;
    if (flat) {
        items = NEWN(l->ctx, const Doc *, list->n);
        for (int i = 0; i < list->n; i++)
            items[i] = doc_flat(l->ctx, list->items[i]);
    }
    Docs docs = docs_new(l->ctx);
    docs_add(&docs, list->open);
    docs_add(&docs, doc_far(l->ctx));
    docs_add(&docs, doc_align(l->ctx, fill(l, list->n, items)));
    docs_add(&docs, list->close);
    return doc_list(&docs);
}

/* f(a,
 *   b) */
static const Doc *nested_list(Lay *l, const List *list)
{
    int leading = 0, width = 0;
    while (leading + 1 < list->n && !is_large(list->items[leading]))
        width += doc_width(list->items[leading++]);
    if (width > LARGE)
        leading = 0;
    Docs docs = docs_new(l->ctx);
    docs_add(&docs, list->open);
    docs_add(&docs, doc_flat(l->ctx, fill(l, leading, list->items)));
    docs_add(&docs, doc_nest(l->ctx, doc_pair(l->ctx, leading ? doc_line(l->ctx) : doc_cut(l->ctx),
                                              fill(l, list->n - leading, list->items + leading))));
    docs_add(&docs, list->close);
    return doc_list(&docs);
}

/* f(a, fun x =>
 *   b) */
static const Doc *hanging_list(Lay *l, const List *list)
{
    Docs docs = docs_new(l->ctx);
    docs_add(&docs, list->open);
    for (int i = 0; i < list->n; i++) {
        if (i > 0)
            docs_add(&docs, doc_blank(l->ctx));
        const Doc *item = list->items[i];
        if (i == list->hanging && list->steps)
            item = doc_nest(l->ctx, doc_pair(l->ctx, doc_cut(l->ctx), item));
        docs_add(&docs, i == list->hanging ? item : doc_flat(l->ctx, item));
    }
    docs_add(&docs, list->close);
    return doc_list(&docs);
}

/* From the bracket that opens to the one that closes. `called`: what a function is applied to. */
static const Doc *lay_list(Lay *l, int n, Ast *const *items, bool called)
{
    List list = take_list(l, n, items);
    if (!list.busy || !called)
        return doc_group(l->ctx, aligned_list(l, &list, false));
    int tail = 0;
    for (int i = list.hanging + 1; i < n; i++)
        tail += doc_width(list.items[i]);
    const Doc *doc = nested_list(l, &list);
    bool hanging = list.hanging >= 0 && tail <= SHORT_TAIL;
    if (hanging)
        doc = doc_either(l->ctx, hanging_list(l, &list), doc);
    if (!hanging || tail > 0)
        doc = doc_short(l->ctx, aligned_list(l, &list, true), doc);
    doc = doc_group(l->ctx, doc);
    return hanging ? doc_hanging(l->ctx, doc) : doc;
}

static const Doc *lay_call(Lay *l, const Ast *ast)
{
    const Doc *fn = lay_expr(l, ast->call.fn),
              *list = lay_list(l, ast->call.n, ast->call.items, true);
    const Doc *doc = doc_pair(l->ctx, doc_width(fn) > LARGE ? fn : doc_flat(l->ctx, fn), list);
    return doc_hangs(list) && !doc_is_busy(fn) ? doc_hanging(l->ctx, doc) : doc;
}

/* ---- operators ----------------------------------------------------------------------------- */

/* Operators of one class are read from left to right, and are broken together. */
static int op_class(const Ast *ast)
{
    if (ast->kind != AST_BINARY)
        return -(int)ast->kind;
    switch (ast->bin.op) {
    case OP_SUB: return OP_ADD;
    case OP_DIV:
    case OP_MOD: return OP_MUL;
    case OP_ADD:
    case OP_MUL:
    case OP_POW:
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
    case OP_AND:
    case OP_OR:
    case OP_NEG:
    case OP_NOT: break;
    }
    return (int)ast->bin.op;
}

static bool goes_on(const Ast *chain, const Ast *lhs)
{
    return lhs->kind == chain->kind && !lhs->parens && op_class(lhs) == op_class(chain) &&
           !(lhs->kind == AST_BINARY &&
             (lhs->bin.op == OP_POW || (lhs->bin.op >= OP_EQ && lhs->bin.op <= OP_GE)));
}

/* a, b, c of `a op b op c`. */
static void chain_parts(Ctx *ctx, const Ast *chain, Parts *parts)
{
    const Ast *at = chain;
    for (;; at = at->bin.lhs) {
        vec_push(ctx, &parts->list, at->bin.rhs);
        if (!goes_on(chain, at->bin.lhs))
            break;
    }
    vec_push(ctx, &parts->list, at->bin.lhs);
    for (int i = 0, j = parts->list.n - 1; i < j; i++, j--) {
        const Ast *part = parts->list.at[i];
        parts->list.at[i] = parts->list.at[j];
        parts->list.at[j] = part;
    }
}

static bool is_operand(const Ast *ast)
{
    switch (ast->kind) {
    case AST_NAME:
    case AST_INT:
    case AST_FLOAT:
    case AST_CALL:
    case AST_NAMED:
    case AST_BRACKET:
    case AST_DOT:
    case AST_TUPLE: return true;
    default: return ast->parens;
    }
}

/* `2*n + 1`, `2^20`: without blanks, because of what binds less tightly beside it. */
static bool is_tight(const Ast *ast, bool inner)
{
    const Ast *at = ast;
    if (ast->bin.op == OP_POW)
        return is_operand(ast->bin.lhs) && is_operand(ast->bin.rhs);
    for (; inner; at = at->bin.lhs) {
        if (at->bin.op != OP_MUL || !is_operand(at->bin.rhs))
            return false;
        if (!goes_on(ast, at->bin.lhs))
            return is_operand(at->bin.lhs);
    }
    return false;
}

/* Operators stand at the start of a line; but `;` at the end. */
static const Doc *lay_operators(Lay *l, const Ast *ast, bool inner)
{
    Parts parts = {0};
    chain_parts(l->ctx, ast, &parts);
    int n = parts.list.n;
    const Doc **docs = NEWN(l->ctx, const Doc *, n);
    bool tight = ast->kind == AST_BINARY && is_tight(ast, inner), semicolon = ast->kind == AST_SEQ;
    bool arithmetic = ast->kind == AST_BINARY && ast->bin.op != OP_AND && ast->bin.op != OP_OR;
    for (int i = 0; i < n; i++) {
        Docs docs_of = docs_new(l->ctx);
        if (i > 0 && !semicolon) {
            docs_add(&docs_of, lay_token(l));
            docs_add(&docs_of, tight ? doc_empty(l->ctx) : doc_blank(l->ctx));
        }
        docs_add(&docs_of, doc_align(l->ctx, lay_in(l, parts.list.at[i], arithmetic)));
        if (semicolon && i + 1 < n) {
            docs_add(&docs_of, doc_blank(l->ctx));
            docs_add(&docs_of, lay_token(l));
        }
        docs[i] = doc_list(&docs_of);
    }
    if (tight) {
        Docs all = docs_new(l->ctx);
        for (int i = 0; i < n; i++)
            docs_add(&all, docs[i]);
        return doc_list(&all);
    }
    const Doc *doc = fill(l, n, docs);
    doc = doc_group(l->ctx, doc_align(l->ctx, semicolon ? doc : doc_nest(l->ctx, doc)));
    return semicolon || ast->kind == AST_ORELSE ? doc_hanging(l->ctx, doc) : doc;
}

/* s -> t -> u; several names in one binder are several arrows of the tree. */
static const Doc *lay_arrows(Lay *l, const Ast *ast)
{
    Docs all = docs_new(l->ctx);
    for (;; ast = ast->bin.rhs) {
        const Ast *lhs = ast->bin.lhs;
        while (lhs->kind == AST_BINDER && ast->bin.rhs->kind == AST_ARROW &&
               ast->bin.rhs->bin.lhs->span.lo == lhs->span.lo)
            ast = ast->bin.rhs;
        docs_add(&all, lay_expr(l, lhs));
        docs_add(&all, doc_line(l->ctx));
        docs_add(&all, lay_token(l));
        docs_add(&all, doc_blank(l->ctx));
        if (ast->bin.rhs->kind != AST_ARROW || ast->bin.rhs->parens)
            break;
    }
    docs_add(&all, lay_expr(l, ast->bin.rhs));
    return doc_group(l->ctx, doc_align(l->ctx, doc_nest(l->ctx, doc_list(&all))));
}

static const Doc *lay_unary(Lay *l, const Ast *ast)
{
    Docs docs = docs_new(l->ctx);
    docs_add(&docs, lay_token(l));
    if (ast->bin.op == OP_NOT || lay_kind(l) == T_MINUS) /* `--` would be a comment */
        docs_add(&docs, doc_blank(l->ctx));
    docs_add(&docs, lay_in(l, ast->bin.lhs, true));
    return doc_list(&docs);
}

/* Does something stand directly behind this point, on its line? */
static bool point_goes_on(const TokenText *point)
{
    return point->kind == T_DOT && !point->n_above && !point->has_behind && !point[1].n_above;
}

/* Would the number before the point at l->at be read on with it, if no blank stood between? As
 * `1.2` and `1.` are, but not `1.2.f32`. */
static bool reads_on(const Lay *l)
{
    const TokenText *point = &l->tokens->at[l->at];
    if (point[-1].kind != T_INT || (l->at > 1 && point[-2].kind == T_DOT))
        return point[-1].kind == T_FLOAT;
    return !point_goes_on(point) ||
           (point[1].kind == T_INT && (point[1].has_behind || !point_goes_on(&point[2])));
}

static const Doc *lay_dot(Lay *l, const Ast *ast)
{
    Docs docs = docs_new(l->ctx);
    docs_add(&docs, lay_in(l, ast->bin.lhs, true));
    if (reads_on(l))
        docs_add(&docs, doc_blank(l->ctx));
    docs_add(&docs, lay_token(l));
    docs_add(&docs, lay_in(l, ast->bin.rhs, true));
    return doc_list(&docs);
}

/* ---- pipes --------------------------------------------------------------------------------- */

static const Doc *lay_pipe(Lay *l, const Ast *ast)
{
    Parts parts = {0};
    chain_parts(l->ctx, ast, &parts);
    int n = parts.list.n - 1;
    const Doc **stages = NEWN(l->ctx, const Doc *, n), *alone = NULL;
    const Doc *head = doc_align(l->ctx, lay_expr(l, parts.list.at[0]));
    bool short_head = doc_width(head) <= SHORT_HEAD && !doc_is_busy(head);
    for (int i = 0; i < n; i++) {
        const Doc *pipe = doc_pair(l->ctx, lay_token(l), doc_blank(l->ctx)),
                  *stage = lay_expr(l, parts.list.at[i + 1]);
        stages[i] = doc_pair(l->ctx, pipe, doc_align(l->ctx, stage));
        if (n == 1 && doc_hangs(stage) && !doc_is_busy(head))
            alone = doc_pair(l->ctx, pipe, stage);
    }
    const Doc *rest = fill(l, n, stages);
    const Doc *before = doc_pair(l->ctx, alone ? doc_flat(l->ctx, head) : head, doc_blank(l->ctx));
    const Doc *beside = doc_pair(l->ctx, before, alone ? alone : doc_align(l->ctx, rest));
    const Doc *below = doc_pair(l->ctx, head,
                                doc_nest(l->ctx, doc_pair(l->ctx, doc_line(l->ctx), rest)));
    const Doc *doc = short_head ? beside : alone ? doc_either(l->ctx, beside, below) : below;
    return doc_group(l->ctx, doc_align(l->ctx, doc));
}

/* ---- words --------------------------------------------------------------------------------- */

void lay_pattern_parts(Lay *l, Parts *parts, const Pattern *pattern)
{
    for (int i = 0; i < pattern->n_items; i++)
        lay_pattern_parts(l, parts, &pattern->items[i]);
    if (pattern->type)
        vec_push(l->ctx, &parts->list, pattern->type);
}

/* `fun x (y, z) =>` and `let (x, y) =`: one line, if it is not very long. */
static const Doc *lay_binding(Lay *l, int end, const Parts *types)
{
    const Doc *doc = lay_mixed(l, end, types);
    return doc_width(doc) > LARGE ? doc : doc_flat(l->ctx, doc);
}

/* What is bound: on the same line where it fits, or hangs; else below. */
static const Doc *lay_assigned(Lay *l, const Ast *ast)
{
    const Doc *doc = lay_expr(l, ast);
    if (doc_hangs(doc) && ast->kind != AST_SEQ && ast->kind != AST_ORELSE)
        return doc_pair(l->ctx, doc_blank(l->ctx), doc);
    return doc_group(l->ctx, doc_nest(l->ctx, doc_pair(l->ctx, doc_line(l->ctx), doc)));
}

static const Doc *lay_lambda(Lay *l, const Ast *ast)
{
    Parts types = {0};
    for (int i = 0; i < ast->lambda.n; i++)
        lay_pattern_parts(l, &types, &ast->lambda.params[i]);
    Docs docs = docs_new(l->ctx);
    docs_add(&docs, lay_binding(l, lay_token_at(l, ast->lambda.body->span.lo), &types));
    docs_add(&docs,
             doc_nest(l->ctx, doc_pair(l->ctx, doc_line(l->ctx), lay_expr(l, ast->lambda.body))));
    return doc_hanging(l->ctx, doc_group(l->ctx, doc_list(&docs)));
}

/* No group: where what holds it is broken, each `let` has a line. So it has where there are
 * several. */
static const Doc *lay_lets(Lay *l, const Ast *ast)
{
    Docs docs = docs_new(l->ctx);
    bool several = ast->let.body->kind == AST_LET && !ast->let.body->parens;
    for (; ast->kind == AST_LET && (docs.list.n == 0 || !ast->parens); ast = ast->let.body) {
        Parts types = {0};
        lay_pattern_parts(l, &types, ast->let.pattern);
        docs_add(&docs, lay_binding(l, lay_token_at(l, ast->let.value->span.lo), &types));
        docs_add(&docs, lay_assigned(l, ast->let.value));
        docs_add(&docs, doc_blank(l->ctx));
        docs_add(&docs, lay_token(l));
        docs_add(&docs, several ? doc_break(l->ctx) : doc_line(l->ctx));
    }
    docs_add(&docs, lay_expr(l, ast));
    return doc_busy(l->ctx, doc_align(l->ctx, doc_list(&docs)));
}

typedef struct Branch {
    const Doc *words, *value; /* `else if c then` */
    const Ast *otherwise; /* or NULL */
} Branch;

/* `ast` is the whole `if`, or what follows an `else`. */
static Branch lay_branch(Lay *l, const Ast *ast)
{
    Docs words = docs_new(l->ctx);
    bool condition = ast->kind == AST_IF && !(ast->parens && lay_kind(l) == T_ELSE);
    if (lay_kind(l) == T_ELSE) {
        docs_add(&words, lay_token(l));
        if (condition)
            docs_add(&words, doc_blank(l->ctx));
    }
    if (condition) {
        docs_add(&words, lay_token(l));
        docs_add(&words, doc_blank(l->ctx));
        docs_add(&words, lay_expr(l, ast->cond.cond));
        docs_add(&words, doc_blank(l->ctx));
        docs_add(&words, lay_token(l));
    }
    const Doc *value = lay_expr(l, condition ? ast->cond.then : ast);
    return (Branch){doc_list(&words), value, condition ? ast->cond.otherwise : NULL};
}

/* Each branch on a line where all fit on theirs; else each on the lines below its words. */
static const Doc *lay_ifs(Lay *l, const Ast *ast)
{
    VEC(Branch) branches = {0};
    int width = 0;
    do {
        vec_push(l->ctx, &branches, lay_branch(l, ast));
        const Branch *last = &branches.at[branches.n - 1];
        width += width > LARGE ? 0 : doc_width(last->words) + doc_width(last->value) + 2;
        ast = last->otherwise;
    } while (ast);
    bool several = branches.n > 2 && width > LARGE;
    Docs one = docs_new(l->ctx), lines = docs_new(l->ctx);
    for (int i = 0; i < branches.n; i++) {
        const Branch *branch = &branches.at[i];
        if (i > 0) {
            docs_add(&one, several ? doc_break(l->ctx) : doc_line(l->ctx));
            docs_add(&lines, doc_line(l->ctx));
        }
        docs_add(&one, doc_flat(l->ctx, branch->words));
        docs_add(&one, doc_blank(l->ctx));
        docs_add(&one, doc_flat(l->ctx, branch->value));
        docs_add(&lines, branch->words);
        docs_add(&lines, doc_nest(l->ctx, doc_pair(l->ctx, doc_line(l->ctx), branch->value)));
    }
    const Doc *doc = doc_short(l->ctx, doc_list(&one), doc_list(&lines));
    return doc_busy(l->ctx, doc_group(l->ctx, doc_align(l->ctx, doc)));
}

static const Doc *lay_unroll(Lay *l, const Ast *ast)
{
    Docs docs = docs_new(l->ctx);
    for (int i = 0; i < 3; i++) { /* unroll d in */
        docs_add(&docs, lay_token(l));
        docs_add(&docs, doc_blank(l->ctx));
    }
    docs_add(&docs, lay_expr(l, ast->unroll.list));
    docs_add(&docs, doc_blank(l->ctx));
    docs_add(&docs, lay_token(l));
    docs_add(&docs, lay_expr(l, ast->unroll.fn));
    docs_add(&docs, lay_token(l));
    return doc_group(l->ctx, doc_list(&docs));
}

/* f at outermost map */
static const Doc *lay_place(Lay *l, const Ast *ast)
{
    Docs docs = docs_new(l->ctx), words = docs_new(l->ctx);
    docs_add(&docs, lay_expr(l, ast->at.what));
    docs_add(&words, doc_line(l->ctx));
    for (int end = lay_behind(l, ast->at.words[ast->at.n - 1].span), first = l->at; l->at < end;) {
        if (l->at > first && lay_blank(l, l->at))
            docs_add(&words, doc_blank(l->ctx));
        docs_add(&words, lay_token(l));
    }
    docs_add(&docs, doc_group(l->ctx, doc_nest(l->ctx, doc_list(&words))));
    return doc_align(l->ctx, doc_list(&docs));
}

/* Tokens that stand close together, up to `end`; with a blank behind a label. */
static const Doc *lay_close(Lay *l, int end)
{
    Docs docs = docs_new(l->ctx);
    while (l->at < end)
        docs_add(&docs, lay_token(l));
    return doc_list(&docs);
}

static const Doc *lay_labelled(Lay *l, const Ast *ast)
{
    const Doc *label = lay_close(l, lay_behind(l, ast->label.name_span));
    return doc_pair(l->ctx, doc_pair(l->ctx, label, doc_blank(l->ctx)),
                    lay_in(l, ast->label.operand, true));
}

/* ---- all of them --------------------------------------------------------------------------- */

static const Doc *lay_kinds(Lay *l, const Ast *ast, int end, bool inner)
{
    switch (ast->kind) {
    case AST_NAME:
    case AST_INT:
    case AST_FLOAT:
    case AST_OPFUN:
    case AST_ERROR: return lay_close(l, end);
    case AST_CALL:
    case AST_NAMED:
    case AST_BRACKET: return lay_call(l, ast);
    case AST_TUPLE:
    case AST_LIST: return lay_list(l, ast->list.n, ast->list.items, false);
    case AST_DOT: return lay_dot(l, ast);
    case AST_UNARY: return lay_unary(l, ast);
    case AST_BINARY:
    case AST_COMPOSE:
    case AST_SEQ:
    case AST_ORELSE: return lay_operators(l, ast, inner);
    case AST_PIPE: return lay_pipe(l, ast);
    case AST_ARROW: return lay_arrows(l, ast);
    case AST_BINDER: {
        Parts kind = {0};
        vec_push(l->ctx, &kind.list, ast->binder.param->kind);
        return lay_mixed(l, end, &kind);
    }
    case AST_LAMBDA: return lay_lambda(l, ast);
    case AST_LET: return lay_lets(l, ast);
    case AST_IF: return lay_ifs(l, ast);
    case AST_UNROLL: return lay_unroll(l, ast);
    case AST_AT: return lay_place(l, ast);
    case AST_LABEL: return lay_labelled(l, ast);
    }
    return lay_close(l, end);
}

/* Is the next bracket one around the whole of it, which the tree does not have? */
static bool is_wrapped(const Lay *l, const Ast *ast, int end)
{
    bool own = ast->kind == AST_TUPLE || ast->kind == AST_OPFUN || ast->kind == AST_BINDER;
    const TokenText *token = &l->tokens->at[l->at];
    if (!ast->parens || token->kind != T_LP || token->mate != end - 1)
        return false;
    return !own || (token[1].kind == T_LP && token[1].mate == end - 2);
}

/* inner: an operand of an operator, or of a dot. */
static const Doc *lay_in(Lay *l, const Ast *ast, bool inner)
{
    int end = lay_behind(l, ast->span), n = 0;
    Docs docs = docs_new(l->ctx);
    for (; is_wrapped(l, ast, end); end--, n++)
        docs_add(&docs, lay_token(l));
    const Doc *doc = lay_kinds(l, ast, end, inner);
    if (n == 0)
        return doc;
    docs_add(&docs, doc_align(l->ctx, doc));
    while (n-- > 0)
        docs_add(&docs, lay_token(l));
    return doc_group(l->ctx, doc_list(&docs));
}

const Doc *lay_expr(Lay *l, const Ast *ast) { return lay_in(l, ast, false); }
