/* Arguments that do not fit: what newcomers most likely mean. Each function adds to a message that says what does not fit, and gives true if it did. */
#include "frontend/elab_internal.h"

static bool is_literal(const Value v) { return v.kind == V_LIT || (v.kind == V_NAT && v.literal) || (v.kind == V_CORE && v.core->kind == CORE_LIT); }

static bool is_callee(const char *callee, PrimId prim) { return callee && strcmp(callee, prim_name(prim)) == 0; }

/* The source from the start of the primitive's call that is being evaluated, if it begins with the primitive's name; NULL. */
static const char *call_text(const Elab *e, const char *callee)
{
    const Source *source = source_get(e->ctx, e->prim_span.file);
    const char *at = source ? source->text + e->prim_span.lo : NULL;
    return at && callee && strncmp(at, callee, strlen(callee)) == 0 ? at : NULL;
}

static bool stands_behind_pipe(const Elab *e)
{
    const char *text = source_get(e->ctx, e->prim_span.file)->text;
    uint32_t at = e->prim_span.lo;
    while (at > 0 && strchr(" \n", text[at - 1]))
        at--;
    return at > 1 && text[at - 2] == '|' && text[at - 1] == '>';
}

Span behind_name(const Elab *e, const char *callee)
{
    if (!call_text(e, callee))
        return NO_SPAN;
    uint32_t at = e->prim_span.lo + (uint32_t)strlen(callee);
    return (Span){e->prim_span.file, at, at};
}

/* ---- what a fold starts from ------------------------------------------------------------------------------------------------ */

/* `map(fun x => x > 0) |> reduce((+), 0)`, and a function of an element and a sum of another type. */
static bool hint_start(Elab *e, Diag *d, const char *callee, const Hole *hole, Value arg)
{
    static const PrimId folds[] = {P_reduce, P_reduceSeq, P_reduceSeqUnroll, P_scan, P_scanExcl, P_scanSeq, P_scanSeqExcl};
    bool fold = false;
    for (size_t i = 0; i < sizeof folds / sizeof *folds; i++)
        fold |= is_callee(callee, folds[i]);
    Type elem = hole && hole->filled && kind_is_type(hole->kind) ? type_resolve(e, hole->type) : NULL;
    if (!fold || !elem || !call_text(e, callee) || !is_literal(arg))
        return false;
    if (elem->kind == TY_SCALAR && elem->scalar == SC_BOOL) {
        diag_propose(e->ctx, d, arg.span, "`or` starts from `false`, and `and` from `true`: write $", "%s", arg.kind == V_LIT && arg.lit->mag == 1 ? "true" : "false");
        diag_or_else(e->ctx, d);
        diag_help(e->ctx, d, "to count, make numbers of the bools first: `map(fun b => if b then 1 else 0) |> %s(...)`", callee);
        if (stands_behind_pipe(e))
            diag_edit(e->ctx, d, span_start(e->prim_span), "map(fun b => if b then 1 else 0) |> ");
        return true;
    }
    if (is_callee(callee, P_reduce) && elem->kind == TY_TUPLE) {
        Span name = {e->prim_span.file, e->prim_span.lo, e->prim_span.lo + (uint32_t)strlen(callee)};
        propose_mapped_fold(e, d, e->prim_span, "`reduce` combines two values of one type: compute them first, $");
        diag_propose(e->ctx, d, name, "`reduce` combines two values of one type; a function of a result and an element folds by $, and in parallel after `map`", "%s", prim_name(P_reduceSeq));
        return true;
    }
    return false;
}

/* ---- signs ---------------------------------------------------------------------------------------------------------------------- */

/* `2,5`: two arguments, where one number is meant. */
static bool hint_comma(Elab *e, Diag *d, Value arg)
{
    const Source *source = source_get(e->ctx, arg.span.file);
    uint32_t lo = arg.span.lo;
    if (!source || !is_literal(arg) || lo < 2 || source->text[lo - 1] != ',' || source->text[lo - 2] < '0' || source->text[lo - 2] > '9' ||
        source->text[lo] < '0' || source->text[lo] > '9')
        return false;
    uint32_t digit = lo - 1;
    while (digit > 0 && source->text[digit - 1] >= '0' && source->text[digit - 1] <= '9')
        digit--;
    diag_propose(e->ctx, d, (Span){arg.span.file, digit, arg.span.hi}, "a fraction has a point: $", "%.*s.%.*s", (int)(lo - 1 - digit), source->text + digit,
                 (int)(arg.span.hi - lo), source->text + lo);
    return true;
}

/* `sq(xs)` of an array, where `sq` is of its elements; beside `map(sq(xs), xs)`. */
bool hint_elements(Elab *e, Diag *d, const char *callee, Value arg)
{
    Type t = arg.kind == V_CORE ? type_resolve(e, arg.core->type) : NULL;
    const char *xs = span_text(e, arg.span), *text = source_get(e->ctx, arg.span.file) ? source_get(e->ctx, arg.span.file)->text : NULL;
    size_t n = callee ? strlen(callee) : 0;
    if (!t || t->kind != TY_ARRAY || type_resolve(e, t->elem)->kind == TY_ARRAY || !xs || !n || arg.span.lo < n + 1)
        return false;
    Span call = {arg.span.file, arg.span.lo - 1 - (uint32_t)n, arg.span.hi + 1};
    if (text[arg.span.lo - 1] != '(' || text[arg.span.hi] != ')' || strncmp(text + call.lo, callee, n) != 0)
        return false;
    const char *map = prim_name(P_map);
    size_t m = strlen(map);
    bool inside = call.lo > m && text[call.lo - 1] == '(' && strncmp(text + call.lo - 1 - m, map, m) == 0;
    if (inside)
        diag_propose(e->ctx, d, call, "`map` takes the function itself: $", "%s", callee);
    else
        diag_propose(e->ctx, d, call, "apply it to each element: $", "(%s |> map(%s))", xs, callee);
    return true;
}

/* One number beside an array of rows, where elements are meant: nothing has joined them, or they are to be taken one by one. */
static bool hint_joined(Elab *e, Diag *d, const char *callee, const Hole *hole, Value arg)
{
    Type elem = hole && hole->filled && kind_is_type(hole->kind) ? type_resolve(e, hole->type) : NULL;
    if (!elem || elem->kind != TY_ARRAY || !is_literal(arg) || !call_text(e, callee) || !stands_behind_pipe(e))
        return false;
    const char *rows = tyt(e, elem), *call = span_text(e, e->prim_span);
    if (call) {
        diag_propose(e->ctx, d, e->prim_span, ctx_printf(e->ctx, "the elements are rows, %s each; for each of them it is $", rows), "%s(%s)", prim_name(P_map), call);
        diag_or_else(e->ctx, d);
        diag_propose(e->ctx, d, e->prim_span, ctx_printf(e->ctx, "the elements are rows, %s each; for each column it is $", rows), "%s |> %s(%s)", prim_name(P_transpose), prim_name(P_map), call);
        diag_or_else(e->ctx, d);
    }
    diag_propose(e->ctx, d, span_start(e->prim_span), ctx_printf(e->ctx, "the elements are rows, %s each; $ in front of it makes one array of them", rows), "%s |> ", prim_name(P_join));
    if (is_callee(callee, P_padCst) || is_callee(callee, P_padTo)) {
        diag_or_else(e->ctx, d);
        const char *each = ctx_printf(e->ctx, "the elements are rows, %s each, and so is what is added: $; `map(%s(...))` pads each row", rows, callee);
        diag_propose(e->ctx, d, arg.span, each, "%s(fun _ => %s)", prim_name(P_generate), span_text(e, arg.span) ? span_text(e, arg.span) : "0");
    }
    return true;
}

/* `|> unzip` of tuples that are no pairs. */
static bool hint_unzip(Elab *e, Diag *d, const char *callee, Type elem)
{
    enum { MOST = 6 };
    if (!is_callee(callee, P_unzip) || !elem || elem->kind != TY_TUPLE || elem->n_items > MOST)
        return false;
    const char *parts = "";
    for (int i = 1; i <= elem->n_items; i++)
        parts = ctx_printf(e->ctx, "%s%sts |> map(fun t => t.%d)", parts, i > 1 ? ", " : "", i);
    const char *name = stands_behind_pipe(e) && call_text(e, callee) ? callee : NULL;
    Span word = {e->prim_span.file, e->prim_span.lo, e->prim_span.lo + (name ? (uint32_t)strlen(name) : 0)};
    diag_propose(e->ctx, d, name ? word : NO_SPAN,
                 ctx_printf(e->ctx, "`unzip` takes pairs apart; of %d components it is $", elem->n_items),
                 "(fun ts => (%s))", parts);
    return true;
}

/* Tuples that stand where rows do, and one element where an array does. */
static bool hint_rows(Elab *e, Diag *d, const char *callee, Value arg)
{
    Type t = arg.kind == V_CORE ? type_resolve(e, arg.core->type) : NULL;
    t = t && t->kind == TY_ARRAY ? type_resolve(e, t->elem) : NULL;
    const char *words = span_text(e, arg.span);
    if (hint_unzip(e, d, callee, t))
        return true;
    if (is_callee(callee, P_join) && t && t->kind == TY_TUPLE)
        diag_note(e->ctx, d, NO_SPAN, "a tuple is no row: one of %d elements is `generate{n = %d}(fun i => if i == 0 then a else b)`", t->n_items, t->n_items);
    else if (is_callee(callee, P_concat) && is_literal(arg) && words)
        diag_propose(e->ctx, d, arg.span, "an array of one element is $", "generate{n = 1}(fun _ => %s)", words);
    else
        return false;
    return true;
}

void propose_beside(Elab *e, Diag *d, const char *callee)
{
    const Ast *call = is_callee(callee, P_concat) ? expression_at(e, e->prim_span) : NULL;
    bool both = call && call->kind == AST_CALL && call->call.n == 2;
    const char *a = both ? span_text(e, call->call.items[0]->span) : NULL, *b = both ? span_text(e, call->call.items[1]->span) : NULL;
    if (!a || !b)
        return;
    diag_or_else(e->ctx, d);
    diag_propose(e->ctx, d, call->span, "`concat` puts rows below each other; side by side, two matrices are $", "%s(%s, %s) |> %s(fun (x, y) => %s(x, y))", prim_name(P_zip), a, b,
                 prim_name(P_map), callee);
    diag_or_else(e->ctx, d);
}

bool hint_argument(Elab *e, Diag *d, const char *callee, const Hole *hole, Value arg)
{
    Type t = hole && hole->filled && kind_is_type(hole->kind) ? hole->type : NULL;
    Type parts = t ? type_resolve(e, t) : NULL;
    for (int i = 0; arg.kind == V_TUPLE && parts && parts->kind == TY_TUPLE && parts->n_items == arg.tuple.n && i < arg.tuple.n; i++)
        if (propose_extreme(e, d, arg.tuple.items[i].span, parts->items[i]))
            return true;
    return (t && propose_extreme(e, d, arg.span, t)) || hint_comma(e, d, arg) || hint_elements(e, d, callee, arg) || hint_rows(e, d, callee, arg) || hint_joined(e, d, callee, hole, arg) ||
           hint_start(e, d, callee, hole, arg);
}

/* Of arrays that should be as long as each other, one has a few elements more: `zip(xs, xs |> drop(1))`. */
void propose_shorter(Elab *e, Diag *d, const Ast *pattern, const Env *env, Value arg)
{
    Ctx *ctx = e->ctx;
    const Nat want = e->mis.want_size, got = e->mis.got_size;
    int n;
    const Ast **sizes, *elem;
    flatten_array(e, pattern, &n, &sizes, &elem);
    const Ast *size = n ? sizes[0] : NULL;
    const Env *found = size && size->kind == AST_NAME ? env_find(env, size->name.text, NULL) : NULL;
    const Hole *hole = found && found->value.kind == V_HOLE ? found->value.hole : NULL;
    Nat more = want ? nat_sub(ctx, got, want) : NULL;
    if (!more || !nat_is_const(more) || more->value == 0 || nat_is_const(got) || !hole || !hole->filled || hole->nat != want)
        return;
    const bool longer = more->value > 0;
    const Span span = longer ? arg.span : hole->from;
    if (!span.file)
        return;
    propose_around(e, d, span, "what has no partner in the other array is left out by $", ctx_printf(ctx, "take(%s, ", nat_text(ctx, longer ? want : got)), ")");
}

/* `take(n / 2.0)` */
void propose_whole(Elab *e, Diag *d, Span span)
{
    const char *words = span_text(e, span), *point = strstr(words, ".0");
    bool digits = point[2] >= '0' && point[2] <= '9';
    if (!digits)
        diag_propose(e->ctx, d, span, "this is a whole number here: $", "%.*s%s", (int)(point - words), words, point + 2);
}

/* ---- indices -------------------------------------------------------------------------------------------------------------------------- */

void edit_not_empty(Elab *e, Diag *d, Nat size)
{
    const Item *entry = e->entry;
    Ctx *ctx = e->ctx;
    if (!size || nat_le(ctx, e->facts, nat_const(ctx, 1), size) || !entry || !entry->result)
        return;
    const char *fact = at_least_text(e, size, 1);
    DiagEdit own = d->edits.n ? d->edits.at[0] : (DiagEdit){.text = NULL};
    diag_help(ctx, d, "%s; the header has to say `where %s`", d->help, fact);
    if (!own.text || e->frame)
        return;
    diag_edit(ctx, d, own.span, "%s", own.text);
    edit_where(e, d, fact);
}

void propose_index_or(Elab *e, Diag *d, Span number, Nat size)
{
    const char *words = span_text(e, number);
    diag_propose(e->ctx, d, words ? number : NO_SPAN, "a number may lie outside, and $ is index 0 then", "indexOr(%s, 0, %s)", size ? nat_text(e->ctx, size) : "n", words ? words : "k");
    edit_not_empty(e, d, size);
}

/* Numbers where indices of an array are wanted: `gather(keys, table)`. */
void propose_indices(Elab *e, Diag *d, const Ast *bound, const Env *env, Value numbers)
{
    bool open = pattern_open(bound, env);
    Nat size = open ? NULL : eval_nat(e, bound, env);
    propose_around(e, d, size ? numbers.span : NO_SPAN, "make indices of numbers, and 0 where one is none: $", "",
                   ctx_printf(e->ctx, " |> map(indexOr(%s, 0))", size ? nat_text(e->ctx, size) : "n"));
    edit_not_empty(e, d, size);
}

/* ---- order of arguments ------------------------------------------------------------------------------------------------------------------ */

/* `generate(n, f)`, `generate(f, n)`: the length is no argument. */
bool propose_made(Elab *e, Diag *d, const Fun *f, Value length, Span text)
{
    const char *words = span_text(e, length.span), *given = f->span.file ? span_text(e, f->span) : NULL;
    if (f->kind != F_PRIM || f->prim != P_generate || !words || (length.kind != V_NAT && length.kind != V_CORE))
        return false;
    const char *name = fun_name(f);
    diag_help(e->ctx, d, "how many elements it makes follows from the context, or is said in braces: `%s{n = %s}(fun ...)`", name, words);
    if (given && strcmp(given, name) == 0) {
        diag_edit(e->ctx, d, span_end(f->span), "{n = %s}", words);
        diag_edit(e->ctx, d, text, "%s", "");
    }
    return true;
}

/* Data where a function belongs: seen at once, whatever else is missing. */
bool is_function_missing(Elab *e, const Fun *f, int n, const Value *args)
{
    const Item *header = fun_header(e, f);
    for (int i = 0, k = 0; header && i < header->n_params; i++) {
        const Param *p = &header->params[i];
        if (p->implicit || k++ < f->n_args)
            continue;
        int at = k - 1 - f->n_args;
        if (at >= n)
            break;
        ValueKind kind = args[at].kind;
        if (param_kind(p) != KIND_FUN || kind == V_FUN || kind == V_ERROR || kind == V_HOLE)
            continue;
        bool others = false;
        for (int j = 0; j < n; j++)
            others |= args[j].kind == V_FUN;
        const char *words = span_text(e, args[at].span);
        Diag *d = elab_error(e, E0311, args[at].span, "`%s` wants a function for `%s`, and this is %s", fun_name(f), p->name ? p->name : "_", value_text(e, args[at]));
        bool length = n >= 2 && at == 0 && args[1].kind == V_FUN && args[1].span.lo > args[0].span.hi && words;
        if (kind == V_TYPE && words)
            diag_propose(e->ctx, d, args[at].span, "a conversion is the function $", "cast(%s)", words);
        else if (length && propose_made(e, d, f, args[0], (Span){args[0].span.file, args[0].span.lo, args[1].span.lo}))
            ;
        else if (others && at == 0 && propose_function_first(e, d, order_text(e, header, fun_name(f)), n, args))
            ;
        else if (others || n + f->n_args > 1)
            note_order(e, d, header, fun_name(f));
        else
            diag_help(e->ctx, d, "the function comes first, and the data last: `%s |> %s(fun x => ...)`", words ? words : "xs", fun_name(f));
        return true;
    }
    return false;
}

/* ---- functions of two values ----------------------------------------------------------------------------------------------------------- */

/* `max(xs)` of an array. */
bool propose_fold(Elab *e, Diag *d, const Fun *f)
{
    if (f->kind != F_PRIM || f->n_args != 1 || fun_arity(e, f) != 1 || f->args[0].kind != V_CORE)
        return false;
    Type t = type_resolve(e, f->args[0].core->type);
    t = t->kind == TY_ARRAY ? type_resolve(e, t->elem) : NULL;
    ScalarValue unit;
    if (!t || t->kind != TY_SCALAR || !scalar_unit(f->prim, t->scalar, &unit))
        return false;
    const char *xs = span_text(e, f->args[0].span), *name = prim_name(f->prim);
    bool sign = !(name[0] >= 'a' && name[0] <= 'z') || f->prim == P_and || f->prim == P_or;
    diag_propose(e->ctx, d, xs && f->span.file ? f->span : NO_SPAN, ctx_printf(e->ctx, "`%s` is of two values; of all elements it is $", name), "%s |> reduce(%s%s%s, %s)", xs ? xs : "xs",
                 sign ? "(" : "", name, sign ? ")" : "", unit_word(f->prim, t->scalar));
    return true;
}
