/* The general mistake of the grammar: what could stand here, what was found, and a hint by what stands around it. */
#include "frontend/parse_mistakes.h"

/* What could stand here, in the words of the language. */
static const char *expected(Parser *ps, const Place *place)
{
    Ctx *ctx = ps->ctx;
    int prev = ps->prev.kind;
    const char *after = parse_token_text(ps, ps->prev);
    if (token_starts_item(prev) || ps->prev.hi == 0)
        after = parse_kind_text(prev);
    if (ps->item->kind == ITEM_IMPORT)
        return parse_can(ps, T_STRING) ? "a module (`std.warp`) or a file (`\"other.rise\"`)" : parse_can(ps, T_END) ? "the end of the import" : "a name";
    if (prev == T_DOT)
        return "the number of a component, or a type, after `.`";
    if (parse_can(ps, T_INT)) {
        const char *what = parse_can(ps, T_MINUS) || parse_can(ps, T_FUN) ? "an expression" : "a type";
        bool written = ps->prev.hi > source_get(ctx, ps->file)->added;
        return written ? ctx_printf(ctx, "%s after %s", what, after) : what;
    }
    if (place->context == IN_ITEM && !ps->has_body && parse_can(ps, T_EQ)) {
        if (ps->item->result || ps->item->n_where || !parse_can(ps, T_COLON))
            return ctx_printf(ctx, "`=` and the body of %s", parse_item_name(ps));
        return ctx_printf(ctx, "a parameter, `:` or `=` in the header of %s", parse_item_name(ps));
    }
    if (parse_can(ps, T_IN))
        return place->context == IN_LET_VALUE ? "`in` and what the `let` is for" : "`in`";
    if (parse_can(ps, T_THEN))
        return "`then`";
    if (parse_can(ps, T_ELSE))
        return "`else`: an `if` has both branches";
    if (parse_can(ps, T_DARROW))
        return parse_can(ps, T_NAME) ? "another parameter, or `=>` and the body of the function" : "`=>` and the body of the function";
    if (place->context == IN_LET_PATTERN && parse_can(ps, T_EQ))
        return "`=` and the value of the `let`";
    if (place->context == IN_BRACKET) {
        int open = engine_symbol(ps, place->bracket), close = token_closer_of(open);
        bool colon = parse_can(ps, T_COLON) && !ps->has_body;
        bool comma = parse_can(ps, T_COMMA) && !(parse_can(ps, T_EQ) && !ps->has_body); /* not between parameters: see E0111 */
        if (parse_can(ps, close))
            return ctx_printf(ctx, comma ? "`,` or %s" : colon ? "`:` and a type, or %s" : "%s", parse_kind_text(close));
        if (colon)
            return "`:` and a type";
        if (parse_can(ps, T_EQ))
            return ctx_printf(ctx, "`=` after %s", after);
    }
    static const struct { int kind; const char *text; } others[] = {
        {T_NAME, "a name"}, {T_UNDERSCORE, "a name"}, {T_STRING, "a text"}, {T_LBRACKET, "`[`"}, {T_LP, "`(`"}, {T_ARROW, "`->`"},
        {T_BY, "`by`"}, {T_ASSOCIATIVE, "`associative` or `commutative`"}, {T_COLON, "`:` and a type"}, {T_COMMA, "`,`"},
    };
    bool whole = parse_can(ps, T_END);
    for (size_t i = 0; !whole && i < sizeof others / sizeof *others; i++)
        if (parse_can(ps, others[i].kind))
            return ctx_printf(ctx, "%s after %s", others[i].text, after);
    return whole ? ctx_printf(ctx, "an operator or the end of %s", parse_item_name(ps)) : "something else";
}

/* ---- what has to hold for a row of the table ----------------------------------------------------------------------------- */

typedef bool Holds(Parser *ps, const Place *place);

/* { e } behind the type of the result, as a body. */
static bool is_body_in_braces(Parser *ps, const Place *place)
{
    int at = place->bracket;
    return at > 2 && engine_symbol(ps, at) == T_LBRACE && engine_symbol(ps, at - 1) < 0 && engine_symbol(ps, at - 2) == T_COLON;
}

static bool is_section(Parser *ps, const Place *place)
{
    return place->context == IN_BRACKET && place->bracket == engine_depth(ps) - 1 && token_is_operator(ps->prev.kind);
}

static bool is_reserved(Parser *ps, const Place *place)
{
    (void)place;
    return !(token_starts_item(ps->tok.kind) && ps->tok.first) && parse_can(ps, T_NAME) && !parse_can(ps, T_FUN);
}

static bool wants_type(Parser *ps, const Place *place)
{
    (void)place;
    return parse_can(ps, T_INT) && !parse_can(ps, T_MINUS);
}

static bool wants_expression(Parser *ps, const Place *place)
{
    (void)place;
    return parse_can(ps, T_INT);
}

static bool wants_colon(Parser *ps, const Place *place)
{
    (void)place;
    return parse_can(ps, T_COLON);
}

static bool is_adjacent(Parser *ps, const Place *place)
{
    (void)place;
    return parse_adjacent(ps);
}

static bool is_size_computed(Parser *ps, const Place *place)
{
    (void)place;
    return parse_in_type(ps) && (ps->prev.kind != T_NAME || !parse_is_type_word(ps, ps->prev));
}

static bool is_type_read(Parser *ps, const Place *place)
{
    (void)place;
    return parse_in_type(ps);
}

static bool is_statement(Parser *ps, const Place *place)
{
    (void)place;
    return parse_in_type(ps) && !parse_is_type_word(ps, ps->prev) && parse_foreign(ps, ps->prev, FOREIGN_STATEMENT);
}

static bool is_typed_value(Parser *ps, const Place *place)
{
    (void)place;
    return parse_can(ps, T_ARROW) && !parse_can(ps, T_PIPE) && !parse_can(ps, T_COMMA);
}

static bool is_before_params(Parser *ps, const Place *place)
{
    (void)place;
    return ps->params.n == 0 && !ps->item->result;
}

bool parse_after_where(Parser *ps, const Place *place)
{
    for (int i = place->bracket ? place->bracket - 1 : engine_depth(ps); i > 0; i--)
        if (engine_symbol(ps, i) == T_WHERE)
            return true;
    return ps->item->n_where > 0;
}

static bool is_in_index(Parser *ps, const Place *place) { return place->bracket && engine_symbol(ps, place->bracket) == T_LBRACKET; }
static bool is_in_parens(Parser *ps, const Place *place) { return place->bracket && engine_symbol(ps, place->bracket) == T_LP; }

static bool is_import(Parser *ps, const Place *place)
{
    (void)place;
    return ps->item->kind == ITEM_IMPORT;
}

static bool is_launch(Parser *ps, const Place *place)
{
    (void)place;
    return strcmp(parse_source_of(ps, ps->prev), "launch") == 0;
}

/* `f()`. */
static bool is_called_empty(Parser *ps, const Place *place)
{
    (void)place;
    return ps->prev.lo > 0 && is_name_byte(ps->text[ps->prev.lo - 1]);
}

static bool is_strategy(Parser *ps, const Place *place)
{
    (void)place;
    return ps->strategic;
}

/* `fun x => x + )`, beside `(x +)`. */
static bool is_more_than_section(Parser *ps, const Place *place) { return place->context != IN_BRACKET || engine_depth(ps) > place->bracket + 2; }

/* `xs: n f32`. */
static bool is_element_type(Parser *ps, const Place *place)
{
    (void)place;
    return parse_in_type(ps) && parse_is_type_word(ps, ps->tok);
}

/* `: ()`. */
static bool is_result(Parser *ps, const Place *place) { return place->bracket > 1 && engine_symbol(ps, place->bracket - 1) == T_COLON; }

static bool is_operator(Parser *ps, const Place *place)
{
    (void)place;
    return ps->item->kind == ITEM_OPERATOR && !ps->item->unit;
}

/* `xs: n*f32`. */
static bool is_before_type(Parser *ps, const Place *place)
{
    (void)place;
    uint32_t lo = ps->tok.hi, hi;
    while (ps->text[lo] == ' ')
        lo++;
    for (hi = lo; is_name_byte(ps->text[hi]);)
        hi++;
    return parse_in_type(ps) && hi > lo && parse_is_scalar(ctx_printf(ps->ctx, "%.*s", (int)(hi - lo), ps->text + lo));
}

/* `y := e`. */
static bool is_assigned(Parser *ps, const Place *place)
{
    (void)place;
    return ps->text[ps->tok.hi] == '=';
}

/* `(t: nat = 128 in 128, 256)`. */
static bool is_candidate(Parser *ps, const Place *place)
{
    uint32_t at = engine_token(ps, place->bracket).hi;
    while (at + 4 <= ps->tok.lo && strncmp(ps->text + at, " in ", 4) != 0)
        at++;
    return at + 4 <= ps->tok.lo;
}

/* `operator f (a: t) (b: t) unit e: t`. */
static bool is_early_unit(Parser *ps, const Place *place)
{
    (void)place;
    return ps->item->kind == ITEM_OPERATOR && !ps->item->result && strcmp(parse_source_of(ps, ps->prev), "unit") == 0;
}

static bool is_at(Parser *ps, const Place *place)
{
    (void)place;
    return ps->item->kind == ITEM_ENTRY && strcmp(parse_source_of(ps, ps->tok), "at") == 0;
}

/* `where level block`. */
static bool is_level(Parser *ps, const Place *place)
{
    return ps->item->kind == ITEM_RULE && parse_after_where(ps, place) && strcmp(parse_source_of(ps, ps->prev), "level") == 0;
}

/* ---- the table of hints ------------------------------------------------------------------------------------------------------ */

enum { ANY = -1, OPERAND = -2, OPERATOR = -3, WORD = -4, NUMBER = -5 }; /* for kinds of tokens */

typedef enum Part { ANYWHERE, HEADER, BODY } Part;
typedef enum EditAt { NO_EDIT, EDIT_FOUND, EDIT_BEFORE, EDIT_BOTH } EditAt;

/* The first row that fits is said. In texts, {found} is the refused token, {before} the one before it, {item} how the item begins. */
typedef struct Hint {
    int found, before;
    Part part;
    int context; /* or ANY */
    Holds *holds; /* more that has to hold; may be NULL */
    const char *help;
    EditAt at;
    const char *edit;
} Hint;

#define NO_SECTIONS "there are no sections: write "
#define ARRAY_TYPE "an array of n elements of type f32 is `n.f32`"
#define BRANCHES "write `if c then a else b`"

static const Hint hints[] = {
    {ANY, ANY, ANYWHERE, ANY, is_import, "an import is `import std.block` or `import \"other.rise\"`, each on a line of its own", NO_EDIT, NULL},
    /* headers */
    {T_RP, T_LP, HEADER, ANY, is_result, "an entry gives its result as a value: declare its type, such as `n.f32`", NO_EDIT, NULL},
    {T_RP, T_LP, HEADER, ANY, NULL, "without parameters the name stands alone: leave `()` out", EDIT_BOTH, ""},
    {T_RBRACE, T_LBRACE, HEADER, ANY, NULL, "without sizes to declare, leave `{}` out", EDIT_BOTH, ""},
    {T_LBRACKET, ANY, HEADER, ANY, is_launch, "`launch [...]` stands behind the parameters and the type of the result: `(xs: n.f32): n.f32 launch [...] =`", NO_EDIT, NULL},
    {T_LBRACKET, T_NAME, HEADER, IN_ITEM, is_before_params, "sizes are parameters in braces, `{n: nat}`, and an array has its size in front: `n.f32`", NO_EDIT, NULL},
    {T_LT, T_NAME, HEADER, IN_ITEM, is_before_params, "sizes and types are parameters in braces: `{n: nat} {t: data}`", NO_EDIT, NULL},
    {T_MINUS, T_NAME, HEADER, IN_ITEM, is_before_params, "a name has no `-`: write `_` in its place", EDIT_FOUND, "_"},
    {T_DOT, T_NAME, HEADER, IN_ITEM, is_before_params, "a name has no `.`: write `_` in its place", EDIT_FOUND, "_"},
    {T_LBRACKET, ANY, HEADER, ANY, wants_type, ARRAY_TYPE, NO_EDIT, NULL},
    {T_LT, T_NAME, HEADER, ANY, is_type_read, ARRAY_TYPE, NO_EDIT, NULL},
    {T_STAR, T_NAME, HEADER, ANY, is_before_type, "an array of n elements is written with a point: $", EDIT_FOUND, "."},
    {OPERATOR, ANY, HEADER, ANY, is_size_computed, "a size that is computed stands in parentheses, as in `(2*n).f32`", NO_EDIT, NULL},
    {ANY, T_NAME, HEADER, IN_ITEM, is_statement, "the body stands behind `=`, and is an expression: `{item} (xs: n.f32): f32 = ...`", NO_EDIT, NULL},
    {T_MINUS, T_NAME, HEADER, IN_BRACKET, wants_colon, "a name has no `-`: write `_` in its place", EDIT_FOUND, "_"},
    {T_NAME, T_NAME, HEADER, ANY, is_element_type, "a size and the type of the elements are joined by a point: $", EDIT_BOTH, "{before}.{found}"},
    {T_DOT, T_NAME, HEADER, IN_BRACKET, wants_colon, "a type stands behind a colon: `(xs: n.f32)`", NO_EDIT, NULL},
    {T_LBRACKET, T_NAME, HEADER, IN_BRACKET, wants_colon, "a parameter is its name, a colon and its type, and an array's size stands before its elements: `({before}: n.f32)`", NO_EDIT, NULL},
    {T_STAR, T_NAME, HEADER, ANY, NULL, "there are no pointers: a parameter is `(xs: n.f32)`, its name first", NO_EDIT, NULL},
    {T_STAR, T_COLON, HEADER, ANY, NULL, "there are no pointers: " ARRAY_TYPE, NO_EDIT, NULL},
    {T_COLON, T_NAME, HEADER, ANY, parse_after_where, "the parameters come first: `{item} {n: nat} (xs: n.f32): n.f32 where n > 3 = ...`", NO_EDIT, NULL},
    {T_COMMA, T_NAME, HEADER, IN_BRACKET, wants_colon, "names of one type stand behind each other, without commas", EDIT_BOTH, "{before}"},
    {T_COMMA, ANY, HEADER, IN_BRACKET, NULL, "each parameter stands in its own parentheses, with its type: `(a: f32) (b: f32)`", NO_EDIT, NULL},
    {T_ARROW, ANY, HEADER, IN_ITEM, NULL, "the type of the result stands behind $, as in `(xs: n.f32): n.f32`", EDIT_FOUND, ":"},
    {T_DARROW, ANY, HEADER, IN_ITEM, NULL, "the body stands behind $", EDIT_FOUND, "="},
    {ANY, ANY, HEADER, ANY, is_body_in_braces, "the body stands behind `=`, without braces: `{item} (...): t = e`", NO_EDIT, NULL},
    {T_LBRACE, ANY, HEADER, IN_ITEM, NULL, "the body stands behind `=`, without braces: `{item} (...): t = e`", NO_EDIT, NULL},
    {T_EQ, T_COLON, ANYWHERE, ANY, is_adjacent, "write $", EDIT_BOTH, "="},
    {ANY, T_EQEQ, HEADER, IN_ITEM, NULL, "in `where`, equality is `==`; the body comes after a single `=`", NO_EDIT, NULL},
    {NUMBER, T_COMMA, HEADER, IN_BRACKET, is_candidate, "the values that are tried stand in brackets: `in [128, 256]`", NO_EDIT, NULL},
    {ANY, ANY, HEADER, IN_ITEM, is_early_unit, "the type of the result stands first: `{item} ...: t unit e, associative = ...`", NO_EDIT, NULL},
    {T_NAME, ANY, HEADER, ANY, is_at, STRATEGY_IN_HEADER, NO_EDIT, NULL},
    {T_AT, ANY, HEADER, ANY, is_at, STRATEGY_IN_HEADER, NO_EDIT, NULL},
    {T_COMMA, ANY, HEADER, IN_ITEM, is_operator, "what changes nothing stands in front of the laws: `: f32 unit 0, associative, commutative = ...`", NO_EDIT, NULL},
    {T_PIPE, ANY, HEADER, IN_ITEM, NULL, "the body stands behind `=`", EDIT_FOUND, "= ... |>"},
    {WORD, ANY, ANYWHERE, ANY, is_reserved, "{found} is a word of the language and cannot be a name", NO_EDIT, NULL},
    {T_NAME, ANY, ANYWHERE, ANY, is_level, "the level is no condition, and stands without `where`: `== ... level {found} where n >= 1`", NO_EDIT, NULL},
    /* operators and brackets */
    {OPERATOR, T_LP, ANYWHERE, ANY, NULL, "an operator as a function stands in parentheses: $", EDIT_FOUND, "({found})"},
    {OPERATOR, T_COMMA, ANYWHERE, ANY, NULL, "an operator as a function stands in parentheses: $", EDIT_FOUND, "({found})"},
    {T_RP, T_LP, BODY, ANY, is_called_empty, "a function stands without `()`: leave it out", EDIT_BOTH, ""},
    {T_RP, T_LP, ANYWHERE, ANY, NULL, "a function is applied to one argument at least, and there is no empty tuple", NO_EDIT, NULL},
    {T_RP, T_COMMA, ANYWHERE, ANY, NULL, "nothing stands behind the last argument: leave this comma out", EDIT_BEFORE, ""},
    {T_RBRACKET, T_COMMA, ANYWHERE, ANY, NULL, "nothing stands behind the last one: leave this comma out", EDIT_BEFORE, ""},
    {T_COMMA, ANY, ANYWHERE, IN_ITEM, is_strategy, "steps follow each other by $", EDIT_FOUND, " ;"},
    {T_COMMA, ANY, BODY, IN_ITEM, NULL, "several values are a tuple, in parentheses: `(a, b)`", NO_EDIT, NULL},
    {T_RP, T_MINUS, BODY, IN_BRACKET, is_section, "the negative, as a function, is $", EDIT_BEFORE, "neg"},
    {T_RP, OPERATOR, ANYWHERE, ANY, is_more_than_section, "behind `{before}` an operand is missing", NO_EDIT, NULL},
    {T_RP, OPERATOR, ANYWHERE, ANY, NULL, NO_SECTIONS "`fun x => x {before} ...`", NO_EDIT, NULL},
    {T_NAME, ANY, ANYWHERE, ANY, is_section, NO_SECTIONS "$", EDIT_BOTH, "fun x => x {before} {found}"},
    {NUMBER, ANY, ANYWHERE, ANY, is_section, NO_SECTIONS "$", EDIT_BOTH, "fun x => x {before} {found}"},
    {T_WHERE, T_EQ, BODY, IN_ITEM, NULL, "`where` stands in the header, before the `=`", NO_EDIT, NULL},
    {T_COLON, T_NAME, BODY, ANY, is_assigned, "a value is named by `let {before} = ... in ...`", NO_EDIT, NULL},
    {T_WHERE, ANY, BODY, ANY, wants_expression, "a choice is `if c then a else b`, and for each element `xs |> map(fun x => if c then a else b)`", NO_EDIT, NULL},
    {T_UNDERSCORE, ANY, BODY, ANY, wants_expression, "`_` is only a parameter that is not used: write `fun a b => ...`", NO_EDIT, NULL},
    /* bodies */
    {T_STRING, ANY, BODY, ANY, NULL, "there are no texts: data are numbers, bools, tuples and arrays of these", NO_EDIT, NULL},
    {T_LBRACKET, ANY, BODY, ANY, wants_expression, "there are no lists: `generate(fun i => ...)` makes an array, and `xs |> map(f)` one of another", NO_EDIT, NULL},
    {T_COLON, ANY, BODY, ANY, is_in_index, "a part of an array is `xs |> drop(1) |> take(2)`", NO_EDIT, NULL},
    {T_COLON, ANY, BODY, IN_IF, NULL, BRANCHES, NO_EDIT, NULL},
    {T_COLON, ANY, BODY, IN_THEN, NULL, BRANCHES, NO_EDIT, NULL},
    {T_COLON, T_ELSE, BODY, ANY, NULL, BRANCHES, NO_EDIT, NULL},
    {T_COMMA, ANY, BODY, IN_IF, NULL, BRANCHES, NO_EDIT, NULL},
    {T_COLON, ANY, BODY, IN_FUN, NULL, "a parameter with a type stands in parentheses: `fun (x: f32) => ...`", NO_EDIT, NULL},
    {T_COLON, ANY, BODY, ANY, is_in_parens, "types stand in headers and patterns: `fun (x: f32) => ...`, `let (y: f32) = ... in`", NO_EDIT, NULL},
    {ANY, T_RP, BODY, ANY, is_typed_value, "types stand in headers and patterns: `fun (x: f32) => ...`, `let (y: f32) = ... in`", NO_EDIT, NULL},
    {OPERAND, T_NAME, BODY, IN_LET_PATTERN, NULL, "for a function, write `let {before} = fun {found} => ... in ...`", NO_EDIT, NULL},
    {T_LP, T_NAME, BODY, IN_LET_PATTERN, NULL, "for a function, write `let {before} = fun x => ... in ...`", NO_EDIT, NULL},
    {T_COMMA, T_NAME, BODY, IN_LET_PATTERN, NULL, "a tuple is taken apart in parentheses: `let (a, b) = ... in ...`", NO_EDIT, NULL},
    {T_PIPE, ANY, BODY, ANY, wants_expression, "a pipe starts from a value: `xs |> f`; functions are joined by `>>`", NO_EDIT, NULL},
    {T_EQ, OPERATOR, BODY, ANY, NULL, "values do not change: name a new one by `let y = ... in`", NO_EDIT, NULL},
};

static bool is_kind(int kind, int row)
{
    switch (row) {
    case ANY: return true;
    case OPERAND: return token_starts_operand(kind);
    case OPERATOR: return token_is_operator(kind);
    case WORD: return token_is_word(kind);
    case NUMBER: return kind == T_INT || kind == T_FLOAT;
    default: return kind == row;
    }
}

static const char *item_start(Parser *ps)
{
    static const char *const words[] = {
        [ITEM_DEF] = "def", [ITEM_ENTRY] = "entry", [ITEM_OPERATOR] = "operator", [ITEM_RULE] = "rule", [ITEM_STRATEGY] = "strategy", [ITEM_IMPORT] = "import", [ITEM_ERROR] = "def"};
    return ctx_printf(ps->ctx, "%s %s", words[ps->item->kind], ps->item->name ? ps->item->name : "f");
}

static const char *filled(Parser *ps, const char *text)
{
    const struct { const char *mark, *words; } marks[] = {
        {"{found}", ps->tok.kind == T_NAME || token_is_operator(ps->tok.kind) || is_kind(ps->tok.kind, NUMBER) ? parse_source_of(ps, ps->tok) : parse_kind_text(ps->tok.kind)},
        {"{before}", parse_source_of(ps, ps->prev)},
        {"{item}", item_start(ps)},
    };
    StrBuf sb;
    sb_init(&sb, ps->ctx);
    while (*text) {
        size_t i = 0, n = sizeof marks / sizeof *marks;
        while (i < n && strncmp(text, marks[i].mark, strlen(marks[i].mark)) != 0)
            i++;
        sb_puts(&sb, i < n ? marks[i].words : "");
        if (i == n)
            sb_putc(&sb, *text);
        text += i < n ? strlen(marks[i].mark) : 1;
    }
    return sb.text ? sb.text : "";
}

static void hint(Parser *ps, Diag *diag, const Place *place)
{
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        const Hint *h = &hints[i];
        if (!is_kind(ps->tok.kind, h->found) || !is_kind(ps->prev.kind, h->before) || (h->part == HEADER && ps->has_body) || (h->part == BODY && !ps->has_body) ||
            (h->context != ANY && h->context != (int)place->context) || (h->holds && !h->holds(ps, place)))
            continue;
        if (h->holds == is_reserved)
            ps->bad_word = ps->tok.kind;
        Span found = token_span(ps, ps->tok), before = token_span(ps, ps->prev);
        Span at = h->at == EDIT_FOUND ? found : h->at == EDIT_BEFORE ? before : h->at == EDIT_BOTH ? span_join(before, found) : NO_SPAN;
        if (h->at == NO_EDIT)
            diag_help(ps->ctx, diag, "%s", filled(ps, h->help));
        else
            diag_propose(ps->ctx, diag, at, filled(ps, h->help), "%s", filled(ps, h->edit));
        return;
    }
}

/* `expects [...]`: a misspelt word where a clause of the header could begin. */
static bool propose_clause(Parser *ps, Diag *diag, const Place *place)
{
    static const char *const words[] = {"where", "launch", "lowered", "expect", "accept", "exact"};
    if (ps->tok.kind != T_NAME || ps->has_body || place->context != IN_ITEM || !parse_can(ps, T_WHERE))
        return false;
    const char *near = did_you_mean(ps->ctx, parse_source_of(ps, ps->tok), sizeof words / sizeof *words, words);
    if (near)
        diag_propose(ps->ctx, diag, token_span(ps, ps->tok), "did you mean $?", "%s", near);
    return near != NULL;
}

void parse_report_unexpected(Parser *ps, const Place *place)
{
    if (parse_report_own_method(ps))
        return;
    const char *wanted = expected(ps, place), *found = parse_token_text(ps, ps->tok);
    Diag *diag = parse_mistake(ps, E0101, parse_gap_or_token(ps), "expected %s, found %s", wanted, found);
    if (!parse_propose_written(ps, diag, place) && !propose_clause(ps, diag, place))
        hint(ps, diag, place);
}
