/* Hints that propose a text: where in the source it goes. */
#include "frontend/elab_internal.h"

/* ---- did you mean ----------------------------------------------------------------------------------------------------------- */

static bool same_letter(char a, char b) { return a == b || (a ^ b) == 32; }

/* Letters that are wrong, missing or too many, and pairs that changed places. */
static int edit_distance(const char *a, const char *b, int limit)
{
    enum { LONGEST = 40 };
    int n = (int)strlen(a), m = (int)strlen(b);
    int rows[3][LONGEST + 1];
    if (n > LONGEST || m > LONGEST || (n > m ? n - m : m - n) > limit)
        return limit + 1;
    for (int j = 0; j <= m; j++)
        rows[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *row = rows[i % 3], *before = rows[(i + 2) % 3], *before_that = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            int best = before[j - 1] + !same_letter(a[i - 1], b[j - 1]);
            best = before[j] + 1 < best ? before[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            bool turned = i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]);
            row[j] = turned && before_that[j - 2] + 1 < best ? before_that[j - 2] + 1 : best;
        }
    }
    return rows[n % 3][m];
}

const char *did_you_mean(Ctx *ctx, const char *name, int n, const char *const *candidates)
{
    (void)ctx;
    int length = (int)strlen(name), limit = length <= 5 ? 1 : length <= 8 ? 2 : 3;
    const char *best = NULL;
    for (int i = 0; i < n; i++) {
        const char *c = candidates[i];
        if (!c || strcmp(c, name) == 0)
            continue;
        int d = edit_distance(name, c, limit);
        /* A short name that shares no letter is no misspelling. */
        if (d <= limit && d < length && d < (int)strlen(c)) {
            best = c;
            limit = d - 1;
        }
    }
    return best;
}

/* The same letters but for one that is missing or too many, or two that changed places. */
static bool is_slip(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    return edit_distance(a, b, 1) <= 1 && (n != m || edit_distance(a, b, 0) == 0 || strspn(a, b) == n);
}

const char *misspelt(const char *name, int n, const char *const *candidates)
{
    for (int i = 0; i < n; i++)
        if (strcmp(name, candidates[i]) != 0 && is_slip(name, candidates[i]))
            return candidates[i];
    return NULL;
}

/* ---- texts for places ------------------------------------------------------------------------------------------------------- */

/* Where a step can be put before the one that stands there; NO_SPAN: it stands behind no pipe. */
Span behind_pipe(Elab *e, Span span)
{
    const Source *source = source_get(e->ctx, span.file);
    const char *text = source ? source->text : "";
    uint32_t at = source ? span.lo : 0;
    while (at > 0 && strchr(" \n", text[at - 1]))
        at--;
    return at > 1 && text[at - 1] == '>' && text[at - 2] == '|' ? span_start(span) : NO_SPAN;
}

/* Whether the parenthesis that a text begins with ends with it. */
static bool closes_last(const char *text)
{
    int open = 0;
    for (; *text; text++) {
        open += *text == '(' ? 1 : *text == ')' ? -1 : 0;
        if (open == 0)
            return text[1] == 0;
    }
    return false;
}

void propose_around(Elab *e, Diag *d, Span span, const char *help, const char *before, const char *after)
{
    const char *words = span_text(e, span);
    bool twice = words && after[0] == ')' && words[0] == '(' && closes_last(words);
    const char *text = twice ? ctx_printf(e->ctx, "%.*s%s%s", (int)strlen(before) - 1, before, words, after + 1) : ctx_printf(e->ctx, "%s%s%s", before, words ? words : "...", after);
    diag_propose(e->ctx, d, span, help, "%s", text);
    if (words)
        return;
    /* What is too long to be quoted stays as it is, between two insertions. */
    d->edits.n = 0;
    diag_edit(e->ctx, d, span_start(span), "%s", before);
    diag_edit(e->ctx, d, span_end(span), "%s", after);
}

bool relates_names(const char *fact)
{
    int names = 0;
    for (const char *at = fact; *at;) {
        size_t n = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        names += n > 0 && (*at < '0' || *at > '9') && at[n] != '(';
        at += n > 0 ? n : 1;
    }
    return names > 1;
}

void edit_where(Elab *e, Diag *d, const char *fact)
{
    const Item *entry = e->entry;
    if (entry && entry->n_where)
        diag_edit(e->ctx, d, span_end(entry->where[entry->n_where - 1]->span), ", %s", fact);
    else if (entry && entry->result)
        diag_edit(e->ctx, d, span_end(entry->result->span), " where %s", fact);
}

void propose_where(Elab *e, Diag *d, const char *fact, const char *or_else)
{
    if (relates_names(fact)) {
        diag_help(e->ctx, d, "a fact that relates sizes is stated in the header, where it always holds: `where %s`%s", fact, or_else ? or_else : "");
        return;
    }
    diag_help(e->ctx, d, "add `where %s` to the entry%s", fact, or_else ? or_else : "");
    edit_where(e, d, fact);
}

/* ---- conversions ---------------------------------------------------------------------------------------------------------------- */

/* Bits that every whole number up to some size takes without rounding. */
static int whole_bits(Scalar s)
{
    switch (s) {
    case SC_BF16:
        return 8;
    case SC_F16:
        return 11;
    case SC_F32:
        return 24;
    case SC_F64:
        return 53;
    default:
        return 8 * scalar_bytes(s) - (scalar_is_signed(s) ? 1 : 0);
    }
}

bool scalar_keeps(Scalar from, Scalar to)
{
    if (from == to)
        return true;
    if (scalar_is_float(from))
        return scalar_is_float(to) && (to == SC_F64 || (to == SC_F32 && from != SC_F64));
    if (scalar_is_int(to) && scalar_is_signed(from) && !scalar_is_signed(to))
        return false;
    return scalar_is_int(from) && whole_bits(from) <= whole_bits(to);
}

static Scalar scalar_of_result(Elab *e)
{
    Type t = e->result ? type_resolve(e, e->result) : NULL;
    while (t && t->kind == TY_ARRAY)
        t = type_resolve(e, t->elem);
    return t && t->kind == TY_SCALAR ? t->scalar : SC_COUNT;
}

Scalar float_for(Elab *e, Scalar whole)
{
    Scalar want = scalar_of_result(e);
    if (want != SC_COUNT && !scalar_is_float(want))
        return SC_COUNT;
    return want == SC_F64 || (whole != SC_COUNT && scalar_bytes(whole) > 4) ? SC_F64 : SC_F32;
}

/* The side that can become the other's type, and what the header wants the result to be, decide. A conversion that loses bits is not proposed; whole numbers
 * of 32 bits become floats of 32, which rounds the largest, as it does in other languages. */
static bool propose_no_suffix(Elab *e, Diag *d, const Value *v)
{
    const char *words = v->kind == V_CORE && v->core->kind == CORE_LIT ? span_text(e, v->span) : NULL;
    size_t digits = words ? strcspn(words, "iufb") : 0;
    if (!words || !words[digits] || words[0] < '0' || words[0] > '9' || words[1] == 'x')
        return false;
    diag_propose(e->ctx, d, v->span, "leave out the suffix: $", "%.*s", (int)digits, words);
    diag_or_else(e->ctx, d);
    return true;
}

const char *cast_loss(Scalar from, Scalar to)
{
    if (scalar_is_int(from) && scalar_is_int(to))
        return "keeps the low bits: large numbers wrap around";
    if (scalar_is_int(to))
        return "cuts off fractions; a number out of range becomes the nearest one in it";
    return "rounds; numbers that are too large become `inf`";
}

void propose_one_type(Elab *e, Diag *d, bool truth, const Value *a, Scalar sa, const Value *b, Scalar sb)
{
    bool up = scalar_keeps(sa, sb), down = scalar_keeps(sb, sa);
    if (!propose_no_suffix(e, d, a))
        propose_no_suffix(e, d, b);
    if (!up && !down) {
        up = sa != SC_BOOL && scalar_is_int(sa) && sb == SC_F32 && scalar_bytes(sa) <= 4;
        down = sb != SC_BOOL && scalar_is_int(sb) && sa == SC_F32 && scalar_bytes(sb) <= 4;
    }
    if (a->span.file && a->span.file == b->span.file && a->span.lo == b->span.lo && a->span.hi == b->span.hi) {
        diag_note(e->ctx, d, NO_SPAN, "this function gets both: where it folds, the start and the elements have one type; a start without a suffix takes theirs");
        return;
    }
    Scalar to = up ? sb : sa, want = truth ? SC_COUNT : scalar_of_result(e);
    bool fits = want != (up ? sa : sb);
    if ((up || down) && fits) {
        propose_around(e, d, up ? a->span : b->span, "convert one side: $", ctx_printf(e->ctx, "cast(%s)(", scalar_name(to)), ")");
    } else if (up || down) {
        const char *wide = scalar_name(to), *narrow = scalar_name(up ? sa : sb), *x = span_text(e, a->span), *y = span_text(e, b->span);
        x = x ? ctx_printf(e->ctx, "(%s)", x) : " of the left side";
        y = y ? ctx_printf(e->ctx, "(%s)", y) : " of the right side";
        diag_help(e->ctx, d, "`cast(%s)%s` loses nothing, but then this is %s; `cast(%s)%s` may lose bits", wide, up ? x : y, wide, narrow, up ? y : x);
    } else if (sa == SC_BOOL || sb == SC_BOOL) {
        const Value *v = sa == SC_BOOL ? a : b;
        propose_around(e, d, v->span, "a bool is no number: $ makes one of it", "(if ", " then 1 else 0)");
    } else {
        diag_help(e->ctx, d, "neither type holds all values of the other: say by `cast` what both are to become");
    }
}

/* The division in an expression of integers, or in what its names are bound to; NULL. */
static const Ast *find_division(Elab *e, const Ast *ast, int depth)
{
    enum { MOST = 6 };
    if (!ast || depth > MOST)
        return NULL;
    if (ast->kind == AST_NAME)
        return find_division(e, bound_to(e, ast->span), depth + 1);
    if (ast->kind == AST_LET)
        return find_division(e, ast->let.body, depth);
    if (ast->kind != AST_BINARY && ast->kind != AST_UNARY)
        return NULL;
    if (ast->kind == AST_BINARY && ast->bin.op == OP_DIV)
        return ast;
    const Ast *found = NULL;
    for (int i = 0; i < ast_children(ast) && !found; i++)
        found = find_division(e, ast_child(ast, i), depth);
    return found;
}

Span division_behind(Elab *e, Span span)
{
    const Ast *division = find_division(e, expression_at(e, span), 0);
    return division ? division->span : span;
}

static void propose_division(Elab *e, Diag *d, const Ast *division, const char *type, bool both)
{
    const Ast *a = division->bin.lhs, *b = division->bin.rhs;
    const char *x = span_text(e, a->span), *y = span_text(e, b->span);
    const char *left = ctx_printf(e->ctx, "cast(%s)%s", type, a->parens ? "" : "("), *right = ctx_printf(e->ctx, "cast(%s)%s", type, b->parens ? "" : "(");
    diag_help(e->ctx, d, "a division of integers drops the fraction: convert before it: `%s%s%s / %s%s%s`", left, x ? x : "...", a->parens ? "" : ")", both ? right : "", y ? y : "...", both && !b->parens ? ")" : "");
    diag_edit(e->ctx, d, span_start(a->span), "%s", left);
    if (!a->parens)
        diag_edit(e->ctx, d, span_end(a->span), ")");
    if (both)
        diag_edit(e->ctx, d, span_start(b->span), "%s", right);
    if (both && !b->parens)
        diag_edit(e->ctx, d, span_end(b->span), ")");
}

/* `a / b` where a float is wanted: what is converted behind the division has lost its fraction. A size needs no conversion. */
static bool propose_float_quotient(Elab *e, Diag *d, Span span, Scalar to)
{
    const Ast *division = find_division(e, expression_at(e, span), 0);
    if (!division)
        return false;
    propose_division(e, d, division, scalar_name(to), false);
    diag_or_else(e->ctx, d);
    propose_division(e, d, division, scalar_name(to), true);
    return true;
}

/* A sum that is computed in a narrow type and converted then: what is lost is lost. Behind a pipe the elements are converted before. A fold in order may start from
 * any value: whether its narrow integers are to wrap, only the user knows, and there is no edit. */
static bool propose_wide_fold(Elab *e, Diag *d, Value v, Scalar from, Scalar to)
{
    const Core *core = v.kind == V_CORE ? v.core : NULL;
    while (core && core->kind == CORE_LET)
        core = core->let.body;
    bool fold = core && core->kind == CORE_PRIM && (core->prim.id == P_reduce || core->prim.id == P_reduceSeq || core->prim.id == P_reduceSeqUnroll);
    bool wider = scalar_keeps(from, to) || (scalar_is_int(from) && scalar_is_float(to));
    Span at = fold && wider ? behind_pipe(e, core->span) : NO_SPAN;
    if (!at.file)
        return false;
    const char *name = scalar_name(to), *fold_name = prim_name(core->prim.id);
    if (core->prim.id != P_reduce && scalar_is_int(from) && scalar_bytes(from) < scalar_bytes(SC_I32)) {
        diag_help(e->ctx, d, "to compute all in %s, put `map(cast(%s)) |>` in front of `%s`; to convert what wraps in %s, write `cast(%s)(...)` around the fold",
                  name, name, fold_name, scalar_name(from), name);
        return true;
    }
    diag_propose(e->ctx, d, at, ctx_printf(e->ctx, "convert the elements, so that all is computed in %s: put $ in front of `%s`", name, fold_name), "map(cast(%s)) |> ", name);
    diag_or_else(e->ctx, d);
    return false;
}

void propose_conversion(Elab *e, Diag *d, Span span, Value v, Scalar from, Scalar to)
{
    if (propose_wide_fold(e, d, v, from, to))
        return;
    const char *words = span_text(e, span);
    bool literal = v.kind == V_CORE && v.core->kind == CORE_LIT && words;
    size_t digits = literal ? strcspn(words, "iufb") : 0;
    if (literal && words[digits] && scalar_is_int(from) && to != SC_BOOL)
        diag_propose(e->ctx, d, span, "leave out the suffix: $", "%.*s", (int)digits, words);
    else if (from == SC_BOOL)
        diag_propose(e->ctx, d, words ? span : NO_SPAN, "choose two values: $", "if %s then 1 else 0", words ? words : "c");
    else if (to == SC_BOOL)
        diag_propose(e->ctx, d, words ? span : NO_SPAN, "compare it: $", "%s != 0", words ? words : "x");
    else if (scalar_is_int(from) && scalar_is_float(to) && propose_float_quotient(e, d, span, to))
        return;
    else if (scalar_keeps(from, to) || (scalar_is_int(from) && scalar_is_float(to)))
        propose_around(e, d, span, "convert it: $", ctx_printf(e->ctx, "cast(%s)(", scalar_name(to)), ")");
    else
        diag_help(e->ctx, d, "where %s is meant, write `cast(%s)(%s)`, which %s", scalar_name(to), scalar_name(to), words ? words : "...", cast_loss(from, to));
}

/* inf where an integer is wanted, as in `reduce(max, -inf)`: integers have a lowest and a highest one. */
bool propose_extreme(Elab *e, Diag *d, Span span, Type want)
{
    Type t = type_resolve(e, want);
    const char *words = span_text(e, span), *text = source_get(e->ctx, span.file) ? source_get(e->ctx, span.file)->text : NULL;
    t = t->kind == TY_VEC ? type_resolve(e, t->elem) : t;
    bool negative = words && *words == '-';
    if (t->kind != TY_SCALAR || !scalar_is_int(t->scalar) || !words || strcmp(words + (negative ? 1 + strspn(words + 1, " ") : 0), "inf") != 0)
        return false;
    for (uint32_t at = span.lo; at > 0 && !negative && (text[at - 1] == ' ' || text[at - 1] == '-'); at--)
        if (text[at - 1] == '-') {
            negative = true;
            span.lo = at - 1;
        }
    diag_propose(e->ctx, d, span, ctx_printf(e->ctx, "integers have no infinity; the %s %s is $", negative ? "lowest" : "highest", scalar_name(t->scalar)), "%s",
                 negative ? "lowest" : "highest");
    return true;
}

void propose_scalar(Elab *e, Diag *d, Span span, Value v, Type want)
{

    if (!d || d->help || !want || propose_extreme(e, d, span, want) || v.kind != V_CORE)
        return;
    Type from = type_resolve(e, v.core->type), to = type_resolve(e, want);
    if (from->kind == TY_IDX && to->kind == TY_SCALAR && to->scalar != SC_BOOL)
        propose_around(e, d, span, "an index is no number: write $", ctx_printf(e->ctx, "cast(%s)(", scalar_name(to->scalar)), ")");
    else if (from->kind == TY_SCALAR && to->kind == TY_SCALAR && from->scalar != to->scalar)
        propose_conversion(e, d, span, v, from->scalar, to->scalar);
}

void propose_map(Elab *e, Diag *d, Span span, const char *sign, const Value *a, bool a_is_array, const Value *b, bool b_is_array)
{
    const char *x = span_text(e, a->span), *y = span_text(e, b->span);
    propose_row(e, d, a_is_array ? a : b);
    propose_elementwise(e, d, a_is_array ? a->span : b->span);
    if (a_is_array && b_is_array)
        diag_propose(e->ctx, d, x && y ? span : NO_SPAN, "apply it to the elements: $", "zip(%s, %s) |> map(fun (a, b) => a %s b)", x && y ? x : "xs", x && y ? y : "ys", sign);
    else if (a_is_array)
        diag_propose(e->ctx, d, x && y ? span : NO_SPAN, "apply it to each element: $", "%s |> map(fun v => v %s %s)", x && y ? x : "xs", sign, x && y ? y : "a");
    else
        diag_propose(e->ctx, d, x && y ? span : NO_SPAN, "apply it to each element: $", "%s |> map(fun v => %s %s v)", x && y ? y : "xs", x && y ? x : "a", sign);
    if (a_is_array != b_is_array)
        propose_sum(e, d, a_is_array ? a : b);
}

/* The array that this expression names, `xs` of `xs[i][j]`, and its type there; NULL. */
static Type named_array(Elab *e, const Env *env, const Ast *ast)
{
    if (ast->kind == AST_NAME) {
        const Env *there = env_find(env, ast->name.text, NULL);
        return there && there->value.kind == V_CORE ? type_resolve(e, there->value.core->type) : NULL;
    }
    Type outer = ast->kind == AST_BRACKET && ast->call.n == 1 ? named_array(e, env, ast->call.fn) : NULL;
    return outer && outer->kind == TY_ARRAY ? type_resolve(e, outer->elem) : NULL;
}

/* Where `xs[index]` stands in this expression: the size of xs; NULL. */
static Nat indexed_size(Elab *e, const Env *env, const Ast *ast, const char *index, const char **array)
{
    if (ast->kind == AST_BRACKET && ast->call.n == 1 && ast_is_word(ast->call.items[0], index)) {
        Type type = named_array(e, env, ast->call.fn);
        *array = span_text(e, ast->call.fn->span);
        if (type && type->kind == TY_ARRAY && *array)
            return type->size;
    }
    Nat size = NULL;
    for (int i = 0; i < ast_children(ast) && !size; i++)
        size = indexed_size(e, env, ast_child(ast, i), index, array);
    return size;
}

void propose_length(Elab *e, Diag *d, const Fun *generate, Nat result)
{
    const Span call = generate->span;
    const Source *source = source_get(e->ctx, call.file);
    const char *name = "generate", *array = NULL;
    size_t n = strlen(name);
    const Fun *f = generate->args[0].kind == V_FUN ? generate->args[0].fun : NULL;
    Nat indexed = f && f->ast && f->ast->kind == AST_LAMBDA && f->ast->lambda.n == 1 && f->ast->lambda.params[0].name
                      ? indexed_size(e, f->env, f->ast->lambda.body, f->ast->lambda.params[0].name, &array)
                      : NULL;
    if (!indexed && !result) {
        diag_note(e->ctx, d, NO_SPAN, "a length is given in braces, as in `generate{n = 32}(...)`");
        return;
    }
    const char *size = nat_text(e->ctx, indexed ? indexed : result);
    diag_help(e->ctx, d, "say how many elements it has: `%s{n = %s}(...)`, if as many as %s", name, size, indexed ? ctx_printf(e->ctx, "`%s`", array) : "the result");
    if (source && call.lo + n <= source->size && strncmp(source->text + call.lo, name, n) == 0)
        diag_edit(e->ctx, d, (Span){call.file, call.lo + (uint32_t)n, call.lo + (uint32_t)n}, "{n = %s}", size);
}

/* `1 / 3` as `1.0 / 3.0`. */
void propose_float_division(Elab *e, Diag *d, Span span)
{
    const char *words = span_text(e, span);
    StrBuf sb;
    sb_init(&sb, e->ctx);
    bool word = false;
    for (const char *c = words; c && *c; c++) {
        bool digit = *c >= '0' && *c <= '9', goes_on = (c[1] >= '0' && c[1] <= '9') || c[1] == '_' || c[1] == '.';
        word = (word && (digit || *c == '_')) || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        sb_putc(&sb, *c);
        sb_puts(&sb, digit && !word && !goes_on ? ".0" : "");
    }
    diag_propose(e->ctx, d, words ? span : NO_SPAN, "write float literals: $", "%s", words ? sb.text : "1.0 / 3.0");
}

/* ---- functions where data is needed ------------------------------------------------------------------------------------------------ */

const char *wants_text(Elab *e, const Fun *f)
{
    int arity = fun_arity(e, f);
    const char *name = fun_name(f);
    int given = unwrapped(f)->n_args;
    if (name && given)
        return ctx_printf(e->ctx, "`%s` has %d of its %d arguments here", name, given, given + arity);
    return ctx_printf(e->ctx, "%s%s%s still wants %d argument%s", name ? "`" : "it", name ? name : "", name ? "`" : "", arity, arity == 1 ? "" : "s");
}

const char *unit_word(PrimId op, Scalar type)
{
    bool is_float = scalar_is_float(type);
    return op == P_max ? (is_float ? "-inf" : "lowest") : op == P_min ? (is_float ? "inf" : "highest") : op == P_mul ? "1" : op == P_bitAnd ? (scalar_is_signed(type) ? "-1" : "highest") : op == P_and ? "true" : op == P_or ? "false" : "0";
}

/* A function of several arguments has got a tuple of so many: of `fun x y => e`, `fun (x, y) => e` is meant. */
static bool propose_tuple(Elab *e, Diag *d, const Fun *f)
{
    int n = fun_arity(e, f) + 1;
    if (n < 2 || f->n_args != 1 || f->args[0].kind != V_CORE)
        return false;
    Type given = type_resolve(e, f->args[0].core->type);
    if (given->kind != TY_TUPLE || given->n_items != n)
        return false;
    if (f->kind != F_CLOSURE) {
        Fun bare = *f;
        bare.n_args = 0;
        const char *name = fun_name(f), *written = span_text(e, f->span), *text = "";
        for (int i = 0; i < n; i++)
            text = ctx_printf(e->ctx, "%s%s%s", text, i ? ", " : "", param_name(e, &bare, i));
        bool plain = name && written && strcmp(name, written) == 0;
        const char *taken = "its argument is a tuple here: take it apart by $";
        if (name && written && written[0] == '(' && n == 2) /* `(+)` */
            diag_propose(e->ctx, d, f->span, taken, "fun (a, b) => a %s b", name);
        else
            diag_propose(e->ctx, d, plain ? f->span : NO_SPAN, taken, "fun (%s) => %s(%s)", text, name ? name : "f", text);
        return true;
    }
    const Pattern *params = f->ast->lambda.params;
    const char *text = "(";
    for (int i = 0; i < n; i++) {
        const char *own = span_text(e, params[i].span);
        text = ctx_printf(e->ctx, "%s%s%s", text, i ? ", " : "", own ? own : "...");
    }
    diag_help(e->ctx, d, "its one argument is a tuple: take it apart by `%s)`", text);
    for (int i = 0; i + 1 < n; i++)
        diag_edit(e->ctx, d, (Span){params[0].span.file, params[i].span.hi, params[i + 1].span.lo}, ", ");
    diag_edit(e->ctx, d, span_start(params[0].span), "(");
    diag_edit(e->ctx, d, span_end(params[n - 1].span), ")");
    return true;
}

/* The scalars of an array, or of a row of it. */
static Scalar scalar_inside(const Elab *e, Value v)
{
    Type t = v.kind == V_CORE ? type_resolve(e, v.core->type) : NULL;
    while (t && t->kind == TY_ARRAY)
        t = type_resolve(e, t->elem);
    return t && t->kind == TY_SCALAR ? t->scalar : SC_COUNT;
}

/* `reduce((+))`: the data took the place of the unit. */
static bool propose_unit(Elab *e, Diag *d, const Fun *f)
{
    Fun bare = *f;
    bare.n_args = 0;
    const char *taken = f->n_args == 2 ? param_name(e, &bare, 1) : "";
    if (f->kind != F_PRIM || fun_arity(e, f) != 1 || (strcmp(taken, "unit") != 0 && strcmp(taken, "init") != 0))
        return false;
    const Fun *op = f->args[0].kind == V_FUN ? unwrapped(f->args[0].fun) : NULL;
    if (f->args[1].kind != V_CORE || type_resolve(e, f->args[1].core->type)->kind != TY_ARRAY)
        return false;
    Scalar s = scalar_inside(e, f->args[1]);
    ScalarValue unit;
    const char *text = !op || op->n_args ? NULL : op->kind == F_ITEM && op->item->unit ? span_text(e, op->item->unit->span) : NULL;
    if (op && op->kind == F_PRIM && s != SC_COUNT && scalar_unit(op->prim, s, &unit))
        text = unit_word(op->prim, s);
    const char *name = fun_name(f), *first = span_text(e, f->args[0].span);
    diag_help(e->ctx, d, "`%s` starts from a value, which stands behind the function: `%s(%s, %s)`", name, name, first ? first : "op", text ? text : taken);
    if (text)
        diag_edit(e->ctx, d, span_end(f->args[0].span), ", %s", text);
    return true;
}

void note_wanted(Elab *e, Diag *d, const Fun *f)
{
    const char *name = fun_name(f);
    f = unwrapped(f);
    if (propose_zip(e, d, d->span) || propose_tuple(e, d, f) || propose_fold(e, d, f))
        return;
    propose_found_sizes(e, d, f);
    if (!name) {
        diag_note(e->ctx, d, NO_SPAN, "a pattern takes its function first and the data last: `mapSeq(f, xs)`, `xs |> mapSeq(f)`");
        return;
    }
    if (propose_unit(e, d, f) || (!f->n_args && fun_arity(e, f) == 1 && propose_composed(e, d)))
        return;
    Fun bare = *f;
    bare.n_args = 0;
    StrBuf sb;
    sb_init(&sb, e->ctx);
    int n = fun_arity(e, &bare);
    for (int k = 0; k < n; k++)
        sb_printf(&sb, "%s`%s`", k ? ", " : "", param_name(e, &bare, k));
    diag_note(e->ctx, d, NO_SPAN, "`%s` takes %s%s%s", name, sb.text, n > 1 ? ", in this order" : "",
              f->n_args ? "" : "; functions are chained by `>>`, and values by `|>`");
}

void propose_index(Elab *e, Diag *d, Span array, Span index, Span call)
{
    const char *xs = span_text(e, array), *i = index.lo >= array.hi ? span_text(e, index) : NULL;
    if (xs && i && call.lo == array.lo)
        diag_propose(e->ctx, d, call, "an element is $", "%s[%s]", xs, i);
    else
        diag_note(e->ctx, d, NO_SPAN, "the element at i is `%s[i]`", xs ? xs : "xs");
}

/* `fun x => e` where a function of two is needed. */
void propose_parameters(Elab *e, Diag *d, const Fun *f, int n, const Value *args)
{
    static const char *const names[] = {"acc", "x", "y", "z"};
    const Ast *lambda = f->ast;
    int given = lambda->lambda.n;
    Type last = args[n - 1].kind == V_CORE ? type_resolve(e, args[n - 1].core->type) : NULL;
    if (n == given + 1 && last && last->kind == TY_IDX) { /* of repeatKernels */
        const char *first = span_text(e, lambda->lambda.params[0].span), *step = first && strcmp(first, "k") == 0 ? "i" : "k";
        diag_help(e->ctx, d, "behind the value comes the number of the step: `fun %s %s => ...`", first ? first : "x", step);
        diag_edit(e->ctx, d, span_end(lambda->lambda.params[given - 1].span), " %s", step);
        return;
    }
    n += f->n_args;
    StrBuf sb;
    sb_init(&sb, e->ctx);
    int missing = n - lambda->lambda.n;
    for (int i = 0; i < missing; i++)
        sb_printf(&sb, "%s ", i < 4 ? names[i] : "_");
    for (int i = 0; i < lambda->lambda.n; i++)
        sb_printf(&sb, "%s ", span_text(e, lambda->lambda.params[i].span) ? span_text(e, lambda->lambda.params[i].span) : "x");
    diag_help(e->ctx, d, "write as many parameters: `fun %s=> ...`", sb.text);
}

bool is_only_element(const Elab *e, Type t)
{
    t = type_resolve(e, t);
    return t->kind == TY_ARRAY && nat_is_const(t->size) && t->size->value == 1 && type_resolve(e, t->elem)->kind == TY_SCALAR;
}

/* Whether brackets may follow it as it stands: a name, or a call. */
static bool is_closed(const char *text)
{
    int open = 0;
    for (; *text; text++) {
        open += (*text == '(' || *text == '[') - (*text == ')' || *text == ']');
        if (open == 0 && strchr(" \t\n|+-*/%^<>=", *text))
            return false;
    }
    return true;
}

const char *order_text(Elab *e, const Item *header, const char *name)
{
    StrBuf sb;
    sb_init(&sb, e->ctx);
    for (int i = 0, n = 0; i < header->n_params; i++)
        if (!header->params[i].implicit)
            sb_printf(&sb, "%s`%s`", n++ ? ", " : "", header->params[i].name ? header->params[i].name : "_");
    return ctx_printf(e->ctx, strchr(sb.text, ',') ? "`%s` takes %s, in this order" : "`%s` takes %s alone", name, sb.text);
}

void note_order(Elab *e, Diag *d, const Item *header, const char *name) { diag_note(e->ctx, d, NO_SPAN, "%s", order_text(e, header, name)); }

void propose_only_element(Elab *e, Diag *d, Span span)
{
    const char *words = span_text(e, span);
    bool closed = words && is_closed(words);
    propose_around(e, d, span, "its only element is $", closed ? "" : "(", closed ? "[0]" : ")[0]");
}
