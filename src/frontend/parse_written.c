/* Expressions of other languages that are written anew, from their text: options and arrays in other
 * brackets, numpy's choice, methods, results that are compared together, brackets that nothing closes. */
#include "frontend/parse_mistakes.h"
#include "ir/prim.h"

enum {
    MOST_PARTS = 4, /* of an array or a tuple that is written anew */
    PART_SHOWN = 60 /* bytes of each */
};

/* ---- texts between brackets ---- */

typedef struct Parts {
    int n;
    uint32_t close; /* the byte of the bracket that ends them */
    const char *at[MOST_PARTS];
} Parts;

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static uint32_t behind_comment(const char *text, uint32_t at)
{
    bool comment = text[at] == '-' && text[at + 1] == '-';
    return comment ? at + (uint32_t)strcspn(text + at, "\n") : at;
}

static bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
static bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

/* One more part, without the blanks around it. False: it is empty, or too long, or there are too many. */
static bool add_part(Parser *ps, Parts *parts, uint32_t lo, uint32_t hi)
{
    while (lo < hi && is_blank(ps->text[lo]))
        lo++;
    while (hi > lo && is_blank(ps->text[hi - 1]))
        hi--;
    if (lo == hi || hi - lo > PART_SHOWN || parts->n == MOST_PARTS ||
        memchr(ps->text + lo, '\n', hi - lo))
        return false;
    parts->at[parts->n++] = ctx_printf(ps->ctx, "%.*s", (int)(hi - lo), ps->text + lo);
    return true;
}

/* The parts between commas in the bracket that opens at this byte. */
static bool parts_of(Parser *ps, uint32_t open, Parts *parts)
{
    const char *text = ps->text;
    int depth = 0;
    *parts = (Parts){0};
    for (uint32_t at = open, lo = open + 1; text[at]; at++) {
        at = behind_comment(text, at);
        depth += opens(text[at]) - closes(text[at]);
        bool ends = depth == 0, comma = depth == 1 && text[at] == ',';
        if ((ends || comma) && !add_part(ps, parts, lo, at))
            return false;
        parts->close = at;
        if (ends || !text[at])
            return ends;
        lo = comma ? at + 1 : lo;
    }
    return false;
}

static uint32_t name_start(const char *text, uint32_t at)
{
    while (at > 0 && is_name_byte(text[at - 1]))
        at--;
    return at;
}

static const char *text_between(Parser *ps, uint32_t lo, uint32_t hi)
{
    while (hi > lo && is_blank(ps->text[hi - 1]))
        hi--;
    return ctx_printf(ps->ctx, "%.*s", (int)(hi - lo), ps->text + lo);
}

static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += n)
        if ((at == text || !is_name_byte(at[-1])) && !is_name_byte(at[n]))
            return true;
    return false;
}

/* ---- `toShared(pad = 1)` ---- */

static bool is_option(const char *name, size_t n, const char *option, size_t n_option)
{
    PrimId prim = n < PART_SHOWN ? prim_find(name) : P_COUNT;
    const char *at = prim == P_COUNT ? "" : prim_rows[prim].options;
    for (; *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        if (size == n_option && strncmp(at, option, size) == 0)
            return true;
        at += size;
    }
    return false;
}

bool parse_propose_option(Parser *ps, Diag *diag, const Place *place)
{
    Token open = engine_token(ps, place->bracket);
    uint32_t lo = name_start(ps->text, open.lo);
    const char *name = text_between(ps, lo, open.lo);
    Parts parts;
    if (!is_option(name, strlen(name), ps->text + ps->prev.lo, ps->prev.hi - ps->prev.lo))
        return false;
    bool alone = parts_of(ps, open.lo, &parts) && parts.n == 1;
    const char *given =
        alone ? parts.at[0] : ctx_printf(ps->ctx, "%s = ...", parse_source_of(ps, ps->prev));
    diag_help(ps->ctx, diag, "options stand in square brackets: `%s[%s]`", name, given);
    if (alone) {
        diag_edit(ps->ctx, diag, token_span(ps, open), "[");
        diag_edit(ps->ctx, diag, parse_span(ps, parts.close, parts.close + 1), "]");
    }
    return true;
}

/* ---- `[a, b]` ---- */

static bool propose_array(Parser *ps, Diag *diag)
{
    Parts parts;
    if (ps->tok.kind != T_LBRACKET || !ps->has_body || !parts_of(ps, ps->tok.lo, &parts))
        return false;
    StrBuf sb;
    sb_init(&sb, ps->ctx);
    for (int i = 0; i < parts.n; i++) {
        if (has_word(parts.at[i], "for") || strstr(parts.at[i], ".."))
            return false;
        if (i + 1 < parts.n)
            sb_printf(&sb, "if i == %d then %s else ", i, parts.at[i]);
        else
            sb_puts(&sb, parts.at[i]);
    }
    const char *n = parts.n == 1 ? "one element" : ctx_printf(ps->ctx, "%d elements", parts.n);
    diag_propose(ps->ctx, diag, parse_span(ps, ps->tok.lo, parts.close + 1),
                 ctx_printf(ps->ctx, "there are no lists: an array of %s is $", n),
                 "generate{n = %d}(fun %s => %s)", parts.n, parts.n == 1 ? "_" : "i", sb.text);
    return true;
}

/* ---- `(xs: n.f32): [f32, i32]` ---- */

/* Whether a text is a type: what stands behind its last point is a scalar. */
static bool is_type_text(const char *text)
{
    const char *point = strrchr(text, '.'), *word = point ? point + 1 : text;
    const Foreign *foreign = foreign_find(word, strlen(word), FOREIGN_TYPE);
    return parse_is_scalar(word) || (foreign && foreign->instead);
}

static bool propose_tuple_type(Parser *ps, Diag *diag)
{
    Parts parts;
    if (ps->tok.kind != T_LBRACKET || ps->has_body || !parse_can(ps, T_LP) || !parse_in_type(ps) ||
        !parts_of(ps, ps->tok.lo, &parts) || parts.n < 2)
        return false;
    Span span = parse_span(ps, ps->tok.lo, parts.close + 1);
    const char *words = parts.at[0];
    for (int i = 1; i < parts.n; i++)
        words = ctx_printf(ps->ctx, "%s, %s", words, parts.at[i]);
    bool all = true;
    for (int i = 0; i < parts.n; i++)
        all &= is_type_text(parts.at[i]);
    if (all)
        diag_propose(ps->ctx, diag, span, "a tuple is written $", "(%s)", words);
    else if (parts.n == 2 && is_type_text(parts.at[1]))
        diag_propose(ps->ctx, diag, span, "an array has its size in front: $", "%s.%s", parts.at[0],
                     parts.at[1]);
    return diag->help != NULL;
}

/* ---- `where(xs > 0, xs, 0)` ---- */

/* What an element of the array is called, where no part speaks of something of this name. */
static const char *element_name(Parser *ps, const char *array, const Parts *parts)
{
    size_t n = strlen(array);
    const char *name =
        n > 1 && array[n - 1] == 's' ? ctx_printf(ps->ctx, "%.*s", (int)n - 1, array) : "v";
    for (int i = 0; i < parts->n; i++)
        if (has_word(parts->at[i], name))
            return "v";
    return name;
}

/* Whether it is one value: an argument of a function around it, or a parameter of a scalar's type. */
static bool is_one_value(Parser *ps, const char *name)
{
    for (int i = engine_depth(ps); i > 0; i--) {
        if (engine_symbol(ps, i) != T_FUN)
            continue;
        uint32_t lo = engine_token(ps, i).hi, hi = lo;
        while (hi < ps->tok.lo && strncmp(ps->text + hi, "=>", 2) != 0)
            hi++;
        if (has_word(ctx_printf(ps->ctx, "%.*s", (int)(hi - lo), ps->text + lo), name))
            return true;
    }
    for (int i = 0; i < ps->params.n; i++) {
        const Param *p = &ps->params.at[i];
        const char *type = p->name && strcmp(p->name, name) == 0 && p->kind && p->kind->kind == AST_NAME ? p->kind->name.text : NULL;
        if (type && parse_is_scalar(type))
            return true;
    }
    return false;
}

static bool propose_choice(Parser *ps, Diag *diag)
{
    Parts parts;
    uint32_t open = ps->tok.hi;
    if (ps->tok.kind != T_WHERE || !ps->has_body || ps->text[open] != '(' ||
        !parts_of(ps, open, &parts) || parts.n != 3)
        return false;
    const char *condition = parts.at[0];
    size_t n = 0;
    while (is_name_byte(condition[n]))
        n++;
    if (!n || !condition[n])
        return false;
    const char *array = ctx_printf(ps->ctx, "%.*s", (int)n, condition);
    if (is_one_value(ps, array)) {
        diag_propose(ps->ctx, diag, parse_span(ps, ps->tok.lo, parts.close + 1), "a choice is $",
                     "(if %s then %s else %s)", condition, parts.at[1], parts.at[2]);
        return true;
    }
    const char *x = element_name(ps, array, &parts), *choice[2];
    for (int i = 0; i < 2; i++)
        choice[i] = strcmp(parts.at[i + 1], array) == 0 ? x : parts.at[i + 1];
    diag_propose(ps->ctx, diag, parse_span(ps, ps->tok.lo, parts.close + 1),
                 "a choice for each element is $", "%s |> map(fun %s => if %s%s then %s else %s)",
                 array, x, x, condition + n, choice[0], choice[1]);
    return true;
}

/* ---- `expect result == (a, b) for ...` ---- */

/* The stack index of the `expect` that is being read; 0: none is. */
static int expect_index(Parser *ps)
{
    bool compared = false;
    for (int i = engine_depth(ps); i > 0 && !ps->has_body; i--) {
        compared |= engine_symbol(ps, i) == T_EQEQ;
        if (engine_symbol(ps, i) == T_EXPECT)
            return compared ? i : 0;
    }
    return 0;
}

/* Where the inputs end that a clause is for: at the next clause, at the body, or at the end of the line. */
static uint32_t clause_end(const char *text, uint32_t at)
{
    int depth = 0;
    for (; text[at]; at++) {
        depth += opens(text[at]) - closes(text[at]);
        bool body = text[at] == '=' && is_blank(text[at + 1]) &&
                    text[at + 1 + strspn(text + at + 1, " ")] == '\n';
        if (depth == 0 && (body || text[at] == '\n'))
            break;
    }
    return at;
}

static bool propose_components(Parser *ps, Diag *diag, const Place *place)
{
    Parts parts;
    int expect = expect_index(ps);
    if (!expect || ps->tok.kind != T_LBRACKET || !place->bracket ||
        engine_symbol(ps, place->bracket) != T_LP ||
        !parts_of(ps, engine_token(ps, place->bracket).lo, &parts) || parts.n < 2)
        return false;
    uint32_t word = engine_token(ps, expect).lo, result = engine_token(ps, expect).hi;
    while (is_blank(ps->text[result]))
        result++;
    uint32_t behind = result, end = clause_end(ps->text, parts.close + 1);
    while (is_name_byte(ps->text[behind]))
        behind++;
    const char *name = text_between(ps, result, behind),
               *inputs = text_between(ps, parts.close + 1, end);
    StrBuf sb;
    sb_init(&sb, ps->ctx);
    for (int i = 0; i < parts.n; i++)
        sb_printf(&sb, "%sexpect %s.%d == %s%s", i ? "\n  " : "", name, i + 1, parts.at[i], inputs);
    diag_help(ps->ctx, diag,
              "several results are compared one by one: `expect %s.1 == %s%s`, and `%s.2` in "
              "another clause",
              name, parts.at[0], inputs, name);
    diag_edit(ps->ctx, diag, parse_span(ps, word, end), "%s%s", sb.text,
              ps->text[end] == '=' ? " " : "");
    return true;
}

bool parse_propose_written(Parser *ps, Diag *diag, const Place *place)
{
    return propose_components(ps, diag, place) || propose_tuple_type(ps, diag) ||
           propose_array(ps, diag) || propose_choice(ps, diag);
}

/* ---- `xs |> map(fun x => x * x |> reduce((+), 0)` ---- */

/* Does the text mention a parameter of the function whose `=>` stands at `arrow`? */
static bool mentions_params(Parser *ps, uint32_t arrow, uint32_t lo, uint32_t hi)
{
    const char *rest = text_between(ps, lo, hi);
    bool found = false;
    for (uint32_t at = arrow; at > 0 && !found;) {
        while (at > 0 && !is_name_byte(ps->text[at - 1]) && ps->text[at - 1] != '|')
            at--;
        uint32_t start = name_start(ps->text, at);
        const char *word = text_between(ps, start, at);
        if (start == at || strcmp(word, "fun") == 0)
            break;
        found = has_word(rest, word);
        at = start;
    }
    return found;
}

/* Of each pipe in a function, the bracket may be closed in front of it, if nothing behind it needs the
 * function's parameters. */
void parse_propose_closer(Parser *ps, Diag *diag, const Place *place)
{
    Token open = engine_token(ps, place->bracket);
    const char *text = ps->text, *closer = open.kind == T_LBRACKET ? "]"
                                           : open.kind == T_LBRACE ? "}"
                                                                   : ")";
    uint32_t start = name_start(text, open.lo);
    uint32_t function = 0; /* where its `=>` stands */
    int depth = 0;
    for (uint32_t at = open.lo; at < ps->prev.hi; at++) {
        at = behind_comment(text, at);
        depth += opens(text[at]) - closes(text[at]);
        if (!function && depth == 1 && text[at] == '=' && text[at + 1] == '>')
            function = at;
        if (!function || depth != 1 || text[at] != '|' || text[at + 1] != '>')
            continue;
        uint32_t end = at;
        while (end > open.hi && is_blank(text[end - 1]))
            end--;
        if (end - start > 2 * PART_SHOWN || memchr(text + start, '\n', end - start) ||
            mentions_params(ps, function, at, ps->prev.hi))
            continue;
        diag_help(ps->ctx, diag,
                  "the function ends before this `|>`, and so does the bracket: `%.*s%s |> ...`",
                  (int)(end - start), text + start, closer);
        diag_edit(ps->ctx, diag, parse_span(ps, end, end), "%s", closer);
        diag_or_else(ps->ctx, diag);
    }
}

/* ---- `xs.sum()` ---- */

/* Whether a pipe may stand here without parentheses. */
static bool stands_alone(const char *text, uint32_t lo, uint32_t hi)
{
    while (lo > 0 && is_blank(text[lo - 1]))
        lo--;
    while (is_blank(text[hi]))
        hi++;
    bool before = lo > 0 && strchr("=(,", text[lo - 1]);
    bool behind = !text[hi] || strchr("),|", text[hi]) ||
                  (strncmp(text + hi, "in", 2) == 0 && !is_name_byte(text[hi + 2]));
    return before && behind;
}

/* Where the value begins that a dot stands behind: a name, or a call and what is before its own dot. */
static uint32_t receiver_start(const char *text, uint32_t dot)
{
    uint32_t at = dot;
    for (;;) {
        while (at > 0 && text[at - 1] == ')') {
            int open = 0;
            do {
                at--;
                open += (text[at] == ')') - (text[at] == '(');
            } while (open > 0 && at > 0);
        }
        at = name_start(text, at);
        if (at < 2 || text[at - 1] != '.' || (!is_name_byte(text[at - 2]) && text[at - 2] != ')'))
            return at;
        at--;
    }
}

/* The same of several in a chain is one mistake. */
static bool report_method(Parser *ps, uint32_t name, uint32_t end, const char *instead,
                          DiagCode code)
{
    const char *text = ps->text;
    uint32_t lo = name > 1 && text[name - 1] == '.' ? receiver_start(text, name - 1) : name,
             hi = end + 2;
    if (lo + 1 >= name || text[end] != '(' || text[end + 1] != ')')
        return false;
    if (ps->told_method)
        return true;
    ps->told_method = true;
    const char *array = text_between(ps, lo, name - 1), *method = text_between(ps, name, end);
    Diag *diag =
        code == E0120
            ? parse_mistake(ps, code, parse_span(ps, lo, hi), "nothing is called `%s` here", method)
            : parse_mistake(ps, code, parse_span(ps, lo, hi),
                            "`%s` stands behind a dot, and without arguments", method);
    bool alone = stands_alone(text, lo, hi);
    diag_help(ps->ctx, diag, "there are no methods: write `%s |> %s`", array, instead);
    if (text[hi] != '.')
        diag_edit(ps->ctx, diag, parse_span(ps, lo, hi), "%s%s |> %s%s", alone ? "" : "(", array,
                  instead, alone ? "" : ")");
    return true;
}

bool parse_report_method(Parser *ps, Span name, const Foreign *foreign)
{
    return foreign->instead && report_method(ps, name.lo, name.hi, foreign->instead, E0120);
}

/* `xs.reverse()` of a name that may mean something. */
bool parse_report_own_method(Parser *ps)
{
    if (!ps->has_body || ps->tok.kind != T_RP || ps->prev.kind != T_LP)
        return false;
    uint32_t end = ps->prev.lo, name = name_start(ps->text, end);
    return name < end && report_method(ps, name, end, text_between(ps, name, end), E0101);
}

/* ---- a result without a type ---- */

/* Behind the bracket of the last parameter, or behind the name. */
static uint32_t header_end(Parser *ps)
{
    const Item *item = ps->item;
    const char *text = ps->text;
    if (!item->n_params)
        return item->name_span.hi;
    int open = 1;
    uint32_t at = item->params[item->n_params - 1].span.hi;
    for (; text[at] && open > 0; at++)
        open += opens(text[at]) - closes(text[at]);
    return at;
}

static void propose_type(Parser *ps, Diag *diag, const char *type)
{
    uint32_t end = header_end(ps);
    diag_help(ps->ctx, diag, "write `: %s` after the last parameter, where the body gives that",
              type);
    diag_edit(ps->ctx, diag, parse_span(ps, end, end), ": %s", type);
    diag_or_else(ps->ctx, diag);
}

/* What the body gives is tried: the types of the parameters and their elements, and arrays of their sizes. */
void parse_propose_result(Parser *ps, Diag *diag)
{
    enum {
        MOST = 6
    };
    static const char *const scalars[] = {"f32", "i32", "bool", "f64", "u32"};
    const Item *item = ps->item;
    const char *arrays[MOST], *elements[MOST + 5];
    int n = 0, n_elements = 0;
    for (int i = 0; i < item->n_params && n < MOST; i++) {
        const Param *p = &item->params[i];
        const Ast *type = p->kind, *element = type;
        while (element && element->kind == AST_DOT)
            element = element->bin.rhs;
        if (!type || ast_is_nat(type) || element->kind != AST_NAME)
            continue;
        arrays[n++] = text_between(ps, p->kind_span.lo, p->kind_span.hi);
        propose_type(ps, diag, arrays[n - 1]);
        bool known = element == type;
        for (int k = 0; k < n_elements && !known; k++)
            known = strcmp(elements[k], element->name.text) == 0;
        if (!known)
            elements[n_elements++] = element->name.text;
    }
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
        elements[n_elements++] = scalars[i];
    for (int k = 0; k < n_elements; k++)
        propose_type(ps, diag, elements[k]);
    for (int i = 0; i < item->n_params; i++)
        for (int k = 0;
             k < n_elements && item->params[i].implicit && ast_is_nat(item->params[i].kind); k++)
            propose_type(ps, diag, ctx_printf(ps->ctx, "%s.%s", item->params[i].name, elements[k]));
}
