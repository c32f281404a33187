/* Things in another order, number or nesting than they are wanted: arguments, components, patterns. Each function adds to a message that says what does not fit. */
#include "frontend/elab_internal.h"

static bool is_name_byte(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

static const char *text_of(const Elab *e, Span span) { return source_get(e->ctx, span.file) ? source_get(e->ctx, span.file)->text : NULL; }

/* ---- patterns ------------------------------------------------------------------------------------------------------------------ */

static int leaves_of(const Elab *e, Type t)
{
    t = type_resolve(e, t);
    int n = t->kind != TY_TUPLE;
    for (int i = 0; t->kind == TY_TUPLE && i < t->n_items; i++)
        n += leaves_of(e, t->items[i]);
    return n;
}

static void put_nested(Elab *e, StrBuf *sb, Type t, const Pattern *pattern, int *k)
{
    t = type_resolve(e, t);
    if (t->kind != TY_TUPLE) {
        sb_puts(sb, span_text(e, pattern->items[(*k)++].span));
        return;
    }
    for (int i = 0; i < t->n_items; i++) {
        sb_puts(sb, i ? ", " : "(");
        put_nested(e, sb, t->items[i], pattern, k);
    }
    sb_putc(sb, ')');
}

/* `fun (a, b, c) => e` of a pair in a pair. */
void propose_nested(Elab *e, Diag *d, const Pattern *pattern, Value v)
{
    Type t = v.kind == V_CORE ? type_resolve(e, v.core->type) : NULL;
    if (!t || t->kind != TY_TUPLE || leaves_of(e, t) != pattern->n_items)
        return;
    for (int i = 0; i < pattern->n_items; i++)
        if (!pattern->items[i].name || !span_text(e, pattern->items[i].span))
            return;
    StrBuf sb;
    sb_init(&sb, e->ctx);
    int k = 0;
    put_nested(e, &sb, t, pattern, &k);
    diag_propose(e->ctx, d, pattern->span, "the pattern is nested as the tuple is: $", "%s", sb.text);
}

/* ---- components ------------------------------------------------------------------------------------------------------------------- */

/* The item that is elaborated where this stands. */
static const Item *item_around(const Elab *e, Span span)
{
    const Item *item = e->frame ? e->frame->item : e->entry;
    return item && item->span.file == span.file && item->span.lo <= span.lo && span.hi <= item->span.hi ? item : NULL;
}

/* `t.0`: who counts from 0 does so wherever he takes a component of it. */
void propose_counted(Elab *e, Diag *d, Span span)
{
    const char *words = span_text(e, span), *text = text_of(e, span);
    size_t n = 0;
    while (words && is_name_byte(words[n]))
        n++;
    const Item *item = item_around(e, span);
    if (!item || !n || words[n] != '.' || strcmp(words + n, ".0") != 0)
        return;
    diag_help(e->ctx, d, "the first component is `%.*s.1`, the second `%.*s.2`", (int)n, words, (int)n, words);
    for (uint32_t at = item->span.lo; at + n + 1 < item->span.hi; at++) {
        const char *digits = text + at + n + 1;
        bool named = strncmp(text + at, words, n) == 0 && text[at + n] == '.' && (at == 0 || (!is_name_byte(text[at - 1]) && text[at - 1] != '.'));
        if (!named || digits[0] < '0' || digits[0] > '8' || is_name_byte(digits[1]))
            continue;
        uint32_t lo = at + (uint32_t)n + 1;
        diag_edit(e->ctx, d, (Span){span.file, lo, lo + 1}, "%c", digits[0] + 1);
    }
}

/* The tuple that a function gives, of which the array consists; NULL. */
static const Core *tuple_made(const Core *array)
{
    const Core *core = array->kind == CORE_PRIM && array->prim.n_args > 0 && array->prim.args[0]->kind == CORE_LAMBDA ? array->prim.args[0]->lambda.body : NULL;
    while (core && core->kind == CORE_LET)
        core = core->let.body;
    return core && core->kind == CORE_TUPLE ? core : NULL;
}

/* Pairs whose second component is the index that has to stand first. */
bool propose_turned(Elab *e, Diag *d, const char *callee, Value v)
{
    Type t = v.kind == V_CORE ? type_resolve(e, v.core->type) : NULL;
    t = t && t->kind == TY_ARRAY ? type_resolve(e, t->elem) : NULL;
    bool turned = t && t->kind == TY_TUPLE && t->n_items == 2 && type_resolve(e, t->items[1])->kind == TY_IDX && type_resolve(e, t->items[0])->kind != TY_IDX;
    if (!turned || !callee || strcmp(callee, prim_name(P_reduceByIndex)) != 0)
        return false;
    const Core *tuple = tuple_made(v.core);
    const char *first = tuple ? span_text(e, tuple->tuple.items[0]->span) : NULL, *second = tuple ? span_text(e, tuple->tuple.items[1]->span) : NULL;
    if (first && second && span_text(e, tuple->span)) {
        diag_propose(e->ctx, d, tuple->span, "the bin stands first, and the value second: $", "(%s, %s)", second, first);
        diag_or_else(e->ctx, d);
    }
    propose_around(e, d, v.span, "the bin stands first, and the value second: $", "", " |> map(fun (v, k) => (k, v))");
    return true;
}

/* Bins that are numbers, and have to be indices below `bound`. */
void propose_bins(Elab *e, Diag *d, Nat bound, Value v)
{
    const char *n = bound ? nat_text(e->ctx, bound) : "n";
    const Core *tuple = tuple_made(v.core);
    const Ast *zip = expression_at(e, v.span);
    const char *first = tuple ? span_text(e, tuple->tuple.items[0]->span) : NULL;
    Type pair = type_resolve(e, type_resolve(e, v.core->type)->elem);
    const char *otherwise = ctx_printf(e->ctx, first ? "; or `indexOr(%s, 0, %s)` makes bin 0 of other numbers" : "; or `indexOr(%s, 0)` makes bin 0 of other numbers", n, first);
    propose_index_type(e, d, type_resolve(e, pair->items[0]), bound, otherwise);
    if (first)
        diag_note(e->ctx, d, tuple->tuple.items[0]->span, "the bin is %s", tyt(e, tuple->tuple.items[0]->type));
    if (first && bound) {
        diag_propose(e->ctx, d, tuple->tuple.items[0]->span, "bins are indices, and a number may be none: $ is bin 0 then", "indexOr(%s, 0, %s)", n, first);
        diag_or_else(e->ctx, d);
    }
    if (zip && bound && zip->kind == AST_CALL && ast_is_word(zip->call.fn, prim_name(P_zip))) {
        propose_around(e, d, zip->call.items[0]->span, "bins are indices, and a number may be none: $ makes indices, and bin 0 of what is none", "", ctx_printf(e->ctx, " |> map(indexOr(%s, 0))", n));
        diag_or_else(e->ctx, d);
    }
    propose_around(e, d, bound ? v.span : NO_SPAN, "bins are indices, and a number may be none: $ makes indices, and bin 0 of what is none", "", ctx_printf(e->ctx, " |> map(fun (k, v) => (indexOr(%s, 0, k), v))", n));
    edit_not_empty(e, d, bound);
}

/* ---- arguments ---------------------------------------------------------------------------------------------------------------------- */

/* Two arguments of a call that stand in its parentheses, in each other's place. */
static void exchange(Elab *e, Diag *d, const char *order, Span a, Span b)
{
    const char *x = span_text(e, a), *y = span_text(e, b);
    if (!x || !y || a.file != b.file || (a.hi > b.lo && b.hi > a.lo))
        return;
    DiagTry own = diag_put_aside(d);
    bool before = a.lo < b.lo;
    diag_help(e->ctx, d, "%s: exchange `%s` and `%s`", order, before ? x : y, before ? y : x);
    diag_edit(e->ctx, d, a, "%s", y);
    diag_edit(e->ctx, d, b, "%s", x);
    diag_put_back(e->ctx, d, own);
}

/* The next order of n numbers, as in a dictionary. False: this was the last. */
static bool next_order(int *order, int n)
{
    int i = n - 2, k = n - 1;
    while (i >= 0 && order[i] > order[i + 1])
        i--;
    if (i < 0)
        return false;
    while (order[k] < order[i])
        k--;
    int was = order[i];
    order[i] = order[k];
    order[k] = was;
    for (int lo = i + 1, hi = n - 1; lo < hi; lo++, hi--) {
        was = order[lo];
        order[lo] = order[hi];
        order[hi] = was;
    }
    return true;
}

bool propose_function_first(Elab *e, Diag *d, const char *order, int n, const Value *args)
{
    enum { MOST = 4 };
    const char *words[MOST], *function = NULL;
    int numbers[MOST] = {0, 1, 2, 3}, others = 0, written = 0;
    while (written < n && written < MOST && (!written || args[written].span.lo > args[written - 1].span.hi)) {
        const char *text = span_text(e, args[written].span);
        bool first = args[written].kind == V_FUN && !function;
        if (!text)
            return false;
        function = first ? text : function;
        if (!first)
            words[others++] = text;
        written++;
    }
    if (!function || !others)
        return false;
    Span span = span_join(args[0].span, args[written - 1].span);
    do {
        const char *text = function;
        for (int i = 0; i < others; i++)
            text = ctx_printf(e->ctx, "%s, %s", text, words[numbers[i]]);
        diag_propose(e->ctx, d, span, ctx_printf(e->ctx, "%s: $", order), "%s", text);
        diag_or_else(e->ctx, d);
    } while (next_order(numbers, others));
    diag_help(e->ctx, d, "%s", order);
    return true;
}

void propose_exchange(Elab *e, Diag *d, const Item *header, const char *name, int wrong, const Value *values)
{
    for (int i = 0; d && i < header->n_params; i++)
        if (i != wrong && !header->params[i].implicit && values[i].kind != V_ERROR)
            exchange(e, d, order_text(e, header, name), values[wrong].span, values[i].span);
    const Param *p = &header->params[wrong];
    int wanted = 0, given = 0, explicit = 0;
    for (const Ast *at = p->kind; at && at->kind == AST_DOT; at = at->bin.lhs)
        wanted++;
    for (Type t = values[wrong].kind == V_CORE ? values[wrong].core->type : NULL; t && t->kind == TY_ARRAY; t = t->elem)
        given++;
    for (int i = 0; i < header->n_params; i++)
        explicit += !header->params[i].implicit;
    if (d && !d->help && explicit == 1 && wanted > 0 && given == wanted + 1)
        diag_help(e->ctx, d, "for each row of it: `map(%s)`", name);
}

/* Two arrays whose lengths differ: one of them may be a matrix that lies the other way. */
void propose_transposed(Elab *e, Diag *d, const Item *header, const Value *values)
{
    for (int i = 0; d && d->code == E0302 && i < header->n_params; i++) {
        Type t = values[i].kind == V_CORE && !header->params[i].implicit ? type_resolve(e, values[i].core->type) : NULL;
        if (!t || t->kind != TY_ARRAY || type_resolve(e, t->elem)->kind != TY_ARRAY)
            continue;
        DiagTry own = diag_put_aside(d);
        propose_around(e, d, values[i].span, "this matrix may lie the other way: $", "transpose(", ")");
        diag_put_back(e->ctx, d, own);
    }
}

/* ---- indices that are declared as numbers ------------------------------------------------------------------------------------------- */

/* A number of an input is to be an index of an array of that size: the input may be declared so. */
void propose_index_type(Elab *e, Diag *d, Type number, Nat size, const char *otherwise)
{
    const Item *entry = e->entry;
    if (!entry || !size || !(nat_is_const(size) || only_entry_sizes(e, size)) || number->kind != TY_SCALAR)
        return;
    const char *idx = ctx_printf(e->ctx, "idx[%s]", nat_text(e->ctx, size));
    DiagTry own = diag_put_aside(d);
    for (int i = 0; i < entry->n_params; i++) {
        const Ast *type = entry->params[i].kind;
        while (type && type->kind == AST_DOT)
            type = type->bin.rhs;
        if (!type || !ast_is_word(type, scalar_name(number->scalar)) || !entry->params[i].name)
            continue;
        const char *name = entry->params[i].name;
        diag_propose(e->ctx, d, type->span, ctx_printf(e->ctx, "if `%s` holds such indices, declare it with $ in the place of %s, and each launch tests them%s", name, scalar_name(number->scalar), otherwise), "%s", idx);
        diag_or_else(e->ctx, d);
    }
    diag_put_back(e->ctx, d, own);
}

/* ---- operators ------------------------------------------------------------------------------------------------------------------------- */

/* A definition that an operator could be: of two values of one type, which is the result's. */
static bool is_of_one_type(Elab *e, const Item *def)
{
    const char *types[3] = {NULL, NULL, def->result ? span_text(e, def->result->span) : NULL};
    int n = 0;
    for (int i = 0; i < def->n_params; i++) {
        if (def->params[i].implicit || !def->params[i].kind || n == 2)
            return false;
        types[n++] = span_text(e, def->params[i].kind->span);
    }
    return n == 2 && def->n_where == 0 && types[0] && types[1] && types[2] && strcmp(types[0], types[2]) == 0 && strcmp(types[1], types[2]) == 0;
}

/* `reduce((-), e)`: no operator has such laws, and its inverse does the same at the end. */
static void propose_undone(Elab *e, Diag *d, bool sub, const char *callee)
{
    bool scan = strcmp(callee, prim_name(P_scan)) == 0, excl = strcmp(callee, prim_name(P_scanExcl)) == 0;
    PrimId in_order = scan ? P_scanSeq : excl ? P_scanSeqExcl : P_reduceSeq;
    diag_label(e->ctx, d, "%s, so nothing may be regrouped", sub ? "(a - b) - c is not a - (b - c)" : "(a / b) / c is not a / (b / c)");
    const char *does = sub ? "subtracts one element after another from e" : "divides e by one element after another";
    const char *inverse = ctx_printf(e->ctx, "xs |> %s(%s)", scan || excl ? callee : prim_name(P_reduce), sub ? "(+), 0" : "(*), 1"), *sign = sub ? "-" : "/";
    const char *parallel = scan || excl ? ctx_printf(e->ctx, "%s |> map(fun y => e %s y)", inverse, sign) : ctx_printf(e->ctx, "e %s (%s)", sign, inverse);
    if (!scan && !excl && strcmp(callee, prim_name(P_reduce)) != 0) {
        diag_help(e->ctx, d, "combine by `(%s)`, and then %s", sub ? "+" : "*", sub ? "subtract each result from the value to start from" : "divide the value to start from by each result");
        return;
    }
    propose_in_order(e, d, callee);
    Span name = d->help && d->edits.n ? d->edits.at[0].span : NO_SPAN;
    diag_help(e->ctx, d, "`%s((%s), e)` %s, in one thread; in parallel that is `%s`", prim_name(in_order), sign, does, parallel);
    if (name.file)
        diag_edit(e->ctx, d, name, "%s", prim_name(in_order));
}

void propose_operator(Elab *e, Diag *d, const Fun *f, const char *callee, bool commutative, Value unit)
{
    const Item *def = f->kind == F_ITEM && f->item->kind == ITEM_DEF ? f->item : NULL;
    if (f->kind == F_PRIM && (f->prim == P_sub || f->prim == P_div)) {
        propose_undone(e, d, f->prim == P_sub, callee);
        return;
    }
    const char *start = unit.kind == V_ERROR ? NULL : span_text(e, unit.span);
    if (def && start && is_of_one_type(e, def)) {
        const char *laws = ctx_printf(e->ctx, "unit %s, associative%s", start, commutative ? ", commutative" : "");
        diag_help(e->ctx, d, "if what it combines may be regrouped, declare it as an operator: `operator %s ... %s = ...`", def->name, laws);
        diag_edit(e->ctx, d, (Span){def->span.file, def->span.lo, def->span.lo + 3}, "operator");
        diag_edit(e->ctx, d, span_end(def->result->span), " %s", laws);
        diag_or_else(e->ctx, d);
    }
    diag_note(e->ctx, d, NO_SPAN, "`%s` takes any function, and folds in one thread", prim_name(strncmp(callee, "scan", 4) == 0 ? P_scanSeq : P_reduceSeq));
}
