/* What newcomers may have meant by a text whose type does not fit: hints from the tree around a
 * message. Whether one mends the program, the driver tries (Diag.tries). */
#include "frontend/elab_internal.h"

enum {
    TEXT_SHOWN = 200, /* bytes of an expression that is written anew */
    MOST_ARRAYS = 3,  /* that are zipped */
    MOST_ROWS = 6     /* names that are tried */
};

static const char *source_text(const Elab *e, Span span)
{
    const Source *source = source_get(e->ctx, span.file);
    return source ? source->text : "";
}

static bool is_word_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* ---- orders ---- */

PrimId callee_of_call(const Ast *call)
{
    const Ast *fn = call->kind == AST_CALL ? call->call.fn : NULL;
    while (fn && (fn->kind == AST_BRACKET || fn->kind == AST_NAMED))
        fn = fn->call.fn;
    return fn && fn->kind == AST_NAME ? prim_find(fn->name.text) : P_COUNT;
}

/* Whether its function takes the result so far, and then an element, maybe of another type. */
static bool folds_in_order(PrimId prim)
{
    return prim == P_reduceSeq || prim == P_reduceSeqUnroll || prim == P_scanSeq ||
           prim == P_scanSeqExcl;
}

/* `reduceSeq(fun x count => ...)` */
static void propose_fold_turned(Elab *e, Diag *d, const Ast *call)
{
    const Ast *f = call->call.n ? call->call.items[0] : NULL;
    if (!folds_in_order(callee_of_call(call)) || f->kind != AST_LAMBDA || f->lambda.n != 2)
        return;
    const Pattern *p = f->lambda.params;
    const char *first = span_text(e, p[0].span), *second = span_text(e, p[1].span);
    if (!first || !second)
        return;
    diag_or_else(e->ctx, d);
    diag_help(e->ctx, d,
              "`%s` gives its function the result so far, and then the element; exchange the "
              "parameters: `fun %s %s => ...`",
              prim_name(callee_of_call(call)), second, first);
    diag_edit(e->ctx, d, p[0].span, "%s", second);
    diag_edit(e->ctx, d, p[1].span, "%s", first);
    diag_or_else(e->ctx, d);
}

/* `slide(1, 3)`: the sizes of a call in each other's place. `about`: words that come first; or "". */
static void propose_sizes_turned(Elab *e, Diag *d, const Ast *call, const char *about)
{
    PrimId prim = callee_of_call(call);
    const Item *header = prim == P_COUNT ? NULL : prim_header(e->ctx, prim);
    int sizes = 0;
    for (int i = 0; header && i < header->n_params && sizes < 2; i++) {
        if (header->params[i].implicit)
            continue;
        if (param_kind(&header->params[i]) != KIND_NAT)
            break;
        sizes++;
    }
    if (sizes < 2 || call->call.n < 2)
        return;
    const Ast *a = call->call.items[0], *b = call->call.items[1];
    const char *x = span_text(e, a->span), *y = span_text(e, b->span), *name = prim_name(prim);
    if (!x || !y || strcmp(x, y) == 0)
        return;
    diag_or_else(e->ctx, d);
    diag_help(e->ctx, d, "%s%s: `%s(%s, %s%s)`", about, order_text(e, header, name), name, y, x,
              call->call.n > 2 ? ", ..." : "");
    diag_edit(e->ctx, d, a->span, "%s", y);
    diag_edit(e->ctx, d, b->span, "%s", x);
    diag_or_else(e->ctx, d);
}

static void propose_orders(Elab *e, Diag *d, const Ast *ast, int depth)
{
    enum {
        DEEPEST = 12
    };
    if (depth > DEEPEST)
        return;
    if (ast->kind == AST_CALL) {
        propose_fold_turned(e, d, ast);
        propose_sizes_turned(e, d, ast, "");
    }
    for (int i = 0; i < ast_children(ast); i++)
        propose_orders(e, d, ast_child(ast, i), depth + 1);
}

void propose_meant(Elab *e, Diag *d, Span span)
{
    const Ast *ast = d && span_is_users(e->ctx, span) ? expression_at(e, span) : NULL;
    if (!ast)
        return;
    DiagTry own = diag_put_aside(d);
    propose_orders(e, d, ast, 0);
    diag_put_back(e->ctx, d, own);
}

/* ---- windows ---- */

/* The call whose result is an array of the text; NULL. */
static const Ast *maker_of(Elab *e, const Ast *array)
{
    const Ast *value = array->kind == AST_NAME ? bound_to(e, array->span) : array;
    if (value && value->kind == AST_PIPE)
        value = value->bin.rhs;
    return value && value->kind == AST_CALL ? value : NULL;
}

void propose_windows_turned(Elab *e, Diag *d, Span window)
{
    const char *name = span_text(e, window);
    const Item *item = item_holding(e, window);
    const Ast *pipe = name && item && item->body ? pipe_binding(item->body, name, window) : NULL;
    const Ast *call = pipe ? maker_of(e, pipe->bin.lhs) : NULL;
    const char *words = call ? span_text(e, call->span) : NULL;
    if (words)
        propose_sizes_turned(e, d, call,
                             ctx_printf(e->ctx, "`%s` comes from `%s`, and ", name, words));
}

/* The size of the windows of a chain of calls, which are one apart; 0: it makes none. */
static int64_t window_of(const Ast *chain)
{
    for (; chain && chain->kind == AST_PIPE; chain = chain->bin.lhs) {
        const Ast *call = chain->bin.rhs, *const *args = (const Ast *const *)call->call.items;
        if (callee_of_call(call) == P_slide && call->call.n == 2 && args[0]->kind == AST_INT &&
            args[1]->kind == AST_INT && args[1]->integer.value == 1 &&
            args[0]->integer.value < INT32_MAX)
            return (int64_t)args[0]->integer.value;
    }
    return 0;
}

const char *windows_text(Elab *e, Span body, Type got, Type want)
{
    const Ast *chain = expression_at(e, body);
    int64_t size = chain ? window_of(chain) : 0;
    bool arrays = got->kind == TY_ARRAY && want && want->kind == TY_ARRAY;
    Nat lost = arrays && size > 1 ? nat_sub(e->ctx, want->size, got->size) : NULL;
    if (!lost || !nat_is(lost, size - 1))
        return "";
    return ctx_printf(e->ctx,
                      "; to keep the length, the ends are repeated first: `padClamp(%lld, %lld) |> "
                      "slide(%lld, 1)`",
                      (long long)((size - 1) / 2), (long long)(size / 2), (long long)size);
}

/* ---- arithmetic of arrays ---- */

static bool is_arithmetic(const Ast *ast)
{
    PrimId callee = callee_of_call(ast);
    return (ast->kind == AST_BINARY && ast->bin.op <= OP_MOD) ||
           (ast->kind == AST_UNARY && ast->bin.op == OP_NEG) ||
           (callee != P_COUNT && prim_rows[callee].level == LEVEL_SCALAR);
}

/* The largest arithmetic around a place: only arithmetic lies between them. */
static const Ast *arithmetic_around(const Ast *ast, Span use)
{
    const Ast *found = NULL;
    while (ast && span_holds(ast->span, use)) {
        found = !is_arithmetic(ast) ? NULL : found ? found : ast;
        if (ast->span.lo == use.lo && ast->span.hi == use.hi)
            return found;
        const Ast *next = NULL;
        for (int i = 0; i < ast_children(ast) && !next; i++)
            if (span_holds(ast_child(ast, i)->span, use))
                next = ast_child(ast, i);
        if (next && next->kind == AST_NAME)
            return found;
        ast = next;
    }
    return found;
}

typedef struct Elementwise {
    Elab *e;
    const Item *item;
    Span operand;
    const char *operand_name;
    int n; /* arrays */
    const char *arrays[MOST_ARRAYS + 1], *elements[MOST_ARRAYS + 1];
    int n_uses;
    struct {
        Span span;
        int array;
    } uses[16];
} Elementwise;

static bool is_array_name(const Elementwise *w, const Ast *name)
{
    if (w->operand_name && strcmp(w->operand_name, name->name.text) == 0)
        return true;
    for (int i = 0; i < w->item->n_params; i++) {
        const Param *p = &w->item->params[i];
        if (p->name && strcmp(p->name, name->name.text) == 0)
            return p->kind && p->kind->kind == AST_DOT;
    }
    return false;
}

/* Notes where arrays are used. False: they are too many. */
static bool find_uses(Elementwise *w, const Ast *ast)
{
    if (ast->kind == AST_NAME && is_array_name(w, ast)) {
        int k = 0;
        while (k < w->n && strcmp(w->arrays[k], ast->name.text) != 0)
            k++;
        if (k == MOST_ARRAYS || w->n_uses == (int)(sizeof w->uses / sizeof *w->uses))
            return false;
        w->arrays[k] = ast->name.text;
        w->n = k == w->n ? k + 1 : w->n;
        w->uses[w->n_uses].span = ast->span;
        w->uses[w->n_uses++].array = k;
        return true;
    }
    bool good = ast->kind == AST_NAME || ast->kind == AST_INT || ast->kind == AST_FLOAT ||
                ast->kind == AST_OPFUN || is_arithmetic(ast);
    for (int i = 0; good && i < ast_children(ast); i++)
        good = find_uses(w, ast_child(ast, i));
    return good;
}

static bool has_word(const char *text, size_t size, const char *word)
{
    size_t n = strlen(word);
    for (size_t at = 0; at + n <= size; at++)
        if (strncmp(text + at, word, n) == 0 && (at == 0 || !is_word_byte(text[at - 1])) &&
            !is_word_byte(text[at + n]))
            return true;
    return false;
}

/* Names for elements that mean nothing else in the text: `x` of `xs`, or a letter. */
static void name_elements(Elementwise *w, const char *text, size_t size)
{
    static const char *const letters[] = {"a", "b", "c", "u", "v", "w"};
    size_t next = 0;
    for (int i = 0; i < w->n; i++) {
        size_t n = strlen(w->arrays[i]);
        const char *own = ctx_printf(w->e->ctx, "%.*s", (int)n - 1, w->arrays[i]);
        if (n > 1 && w->arrays[i][n - 1] == 's' && !has_word(text, size, own)) {
            w->elements[i] = own;
            continue;
        }
        while (next + 1 < sizeof letters / sizeof *letters && has_word(text, size, letters[next]))
            next++;
        w->elements[i] = letters[next++];
    }
}

static const char *names_text(Elementwise *w, const char *const *names)
{
    const char *text = names[0];
    for (int i = 1; i < w->n; i++)
        text = ctx_printf(w->e->ctx, "%s, %s", text, names[i]);
    return text;
}

void propose_elementwise(Elab *e, Diag *d, Span operand)
{
    const Item *item = item_holding(e, operand);
    const Ast *whole = item && item->body ? arithmetic_around(item->body, operand) : NULL;
    size_t size = whole ? whole->span.hi - whole->span.lo : 0;
    const char *text = whole ? source_text(e, whole->span) + whole->span.lo : NULL,
               *name = span_text(e, operand);
    Elementwise w = {.e = e,
                     .item = item,
                     .operand = operand,
                     .operand_name = name && is_word_byte(*name) ? name : NULL};
    if (!whole || size > TEXT_SHOWN || memchr(text, '\n', size) || !find_uses(&w, whole) || !w.n)
        return;
    name_elements(&w, text, size);
    StrBuf sb;
    sb_init(&sb, e->ctx);
    uint32_t at = whole->span.lo + whole->parens, end = whole->span.hi - whole->parens;
    for (int i = 0; i < w.n_uses; i++) {
        sb_putn(&sb, source_text(e, whole->span) + at, w.uses[i].span.lo - at);
        sb_puts(&sb, w.elements[w.uses[i].array]);
        at = w.uses[i].span.hi;
    }
    sb_putn(&sb, source_text(e, whole->span) + at, end - at);
    const char *arrays = names_text(&w, w.arrays), *elements = names_text(&w, w.elements);
    const char *head =
        w.n == 1 ? arrays
                 : ctx_printf(e->ctx, "%s(%s)", prim_name(w.n == 2 ? P_zip : P_zip3), arrays);
    diag_or_else(e->ctx, d);
    diag_propose(e->ctx, d, whole->span, "arithmetic is of numbers; for each element it is $",
                 "%s%s |> map(fun %s%s%s => %s)%s", whole->parens ? "(" : "", head,
                 w.n > 1 ? "(" : "", elements, w.n > 1 ? ")" : "", sb.text,
                 whole->parens ? ")" : "");
    diag_or_else(e->ctx, d);
}

/* ---- rows ---- */

typedef struct Names {
    int n;
    const char *at[MOST_ROWS];
} Names;

static void add_name(Names *names, const char *name, const char * not )
{
    if (!name || names->n == MOST_ROWS || strcmp(name, not ) == 0)
        return;
    names->at[names->n++] = name;
}

/* The names that functions and lets around a place bind, the outermost first. */
static void names_around(const Ast *ast, Span use, const char * not, Names *names)
{
    while (ast && span_holds(ast->span, use)) {
        for (int i = 0; ast->kind == AST_LAMBDA && i < ast->lambda.n; i++)
            add_name(names, ast->lambda.params[i].name, not );
        if (ast->kind == AST_LET && span_holds(ast->let.body->span, use))
            add_name(names, ast->let.pattern->name, not );
        const Ast *next = NULL;
        for (int i = 0; i < ast_children(ast) && !next; i++)
            if (span_holds(ast_child(ast, i)->span, use))
                next = ast_child(ast, i);
        ast = next;
    }
}

/* `xs |> map(fun row => ... xs |> map(fun x => x + 1))` where x is to be an element of `row`. */
void propose_row(Elab *e, Diag *d, const Value *v)
{
    const char *name = span_text(e, v->span);
    const Item *item = item_holding(e, v->span);
    const Ast *pipe = name && item && item->body ? pipe_binding(item->body, name, v->span) : NULL;
    const Ast *array = pipe ? pipe->bin.lhs : NULL;
    while (array && array->kind == AST_PIPE)
        array = array->bin.lhs;
    if (!array || array->kind != AST_NAME || v->kind != V_CORE)
        return;
    Names names = {0};
    names_around(item->body, array->span, array->name.text, &names);
    for (int i = 0; i < names.n; i++) {
        diag_or_else(e->ctx, d);
        diag_propose(e->ctx, d, array->span,
                     ctx_printf(e->ctx,
                                "`%s` has rows, and `%s` is one of them, %s; did you mean $?",
                                array->name.text, name, tyt(e, v->core->type)),
                     "%s", names.at[i]);
        diag_or_else(e->ctx, d);
    }
}
