/* Mistakes of the grammar: what to say, and where to go on.
 *
 * The engine's stack is as it was before the refused token, so it tells what is open there, and engine_accepts what could stand there.
 * First come the mistakes that people make often, each with its own words and a way to go on as if it had been written right; then the
 * general "expected this, found that". After that the text is skipped to a word or bracket at which something that is open ends, and
 * the engine goes on from there with BROKEN in place of what was skipped. A mistake within two tokens of the last is not reported:
 * it is the same one, seen twice. The tree of an item with a mistake is not used (parse_broken), unless the repair is certain. */
#include "frontend/parse_internal.h"

enum {
    RECOVERIES = 40,     /* in one item; then the rest of it is given up */
    MISTAKES = 20,       /* reported of one item */
    NEWS_AFTER = 2,      /* tokens */
    ASK_STEPS = 2000,    /* reductions looked through when asking what might stand here: enough for every tree within its limit */
    WORD_SHOWN = 30
};

/* ---- where we are ------------------------------------------------------------------------------------------------- */

typedef enum Context { IN_ITEM, IN_BRACKET, IN_LET_PATTERN, IN_LET_VALUE, IN_IF, IN_THEN, IN_FUN, IN_UNROLL } Context;

/* What is open, from the top of the stack down to the innermost bracket or the item. */
typedef struct Place {
    Context context; /* the innermost of what is open */
    int at;          /* the stack index of its first word; 0 for the item */
    int bracket;     /* of the innermost bracket; 0 when there is none */
    int comma;       /* of the last comma directly inside that bracket, or 0 */
    int let, let_eq, cond, then, fun; /* of the innermost of each above the bracket, or 0; let_eq: of the let's `=` */
} Place;

static void note(Place *place, Context context, int index, int *slot)
{
    if (!place->at) {
        place->context = context;
        place->at = index;
    }
    if (!*slot)
        *slot = index;
}

static Place find_place(Parser *ps)
{
    Place place = {.context = IN_ITEM};
    int closed = 0, lets = 0, ifs = 0, funs = 0, eq = 0, unroll = 0;
    for (int i = engine_depth(ps); i > 0; i--) {
        int symbol = engine_symbol(ps, i);
        switch (symbol) {
        case T_RP: case T_RBRACKET: case T_RBRACE:
            closed++;
            continue;
        case T_LP: case T_LBRACKET: case T_LBRACE:
            if (closed-- == 0) {
                note(&place, IN_BRACKET, i, &place.bracket);
                return place;
            }
            continue;
        default: break;
        }
        if (closed)
            continue;
        switch (symbol) {
        case T_COMMA:
            if (!place.comma)
                place.comma = i;
            break;
        case T_IN: lets++; break;
        case T_EQ:
            if (!lets)
                eq = i;
            break;
        case T_LET:
            if (lets) {
                lets--;
                break;
            }
            if (!place.let)
                place.let_eq = eq;
            note(&place, eq ? IN_LET_VALUE : IN_LET_PATTERN, i, &place.let);
            eq = 0;
            break;
        case T_UNROLL:
            if (lets)
                lets--;
            note(&place, IN_UNROLL, i, &unroll);
            break;
        case T_ELSE: ifs++; break;
        case T_THEN:
            if (!ifs) {
                note(&place, IN_THEN, i, &place.then);
                ifs++;
            }
            break;
        case T_IF:
            if (ifs)
                ifs--;
            else
                note(&place, IN_IF, i, &place.cond);
            break;
        case T_DARROW: funs++; break;
        case T_FUN:
            if (funs)
                funs--;
            else
                note(&place, IN_FUN, i, &place.fun);
            break;
        default: break;
        }
    }
    return place;
}

static bool can(Parser *ps, int kind) { return engine_accepts(ps, kind, ASK_STEPS); }

/* ---- words ---------------------------------------------------------------------------------------------------------- */

static const char *kind_text(int kind)
{
    switch ((TokenKind)kind) {
    case T_END: return "the end of the file";
#define T(name, text) case T_##name: return text;
    PARSE_TOKENS(T)
#undef T
    case T_COUNT: break;
    }
    return "";
}

/* The token as it was written, between backquotes. */
const char *parse_token_text(Parser *ps, Token token)
{
    if (token.kind == T_END)
        return kind_text(T_END);
    if (token_starts_item(token.kind))
        return ctx_printf(ps->ctx, "%s, which starts the next item", kind_text(token.kind));
    int size = (int)(token.hi - token.lo), shown = size > WORD_SHOWN ? WORD_SHOWN : size;
    while (shown > 0 && shown < size && ((unsigned char)ps->text[token.lo + (uint32_t)shown] & 0xc0) == 0x80)
        shown--;
    return ctx_printf(ps->ctx, "`%.*s%s`", shown, ps->text + token.lo, shown < size ? "..." : "");
}

static const char *source_of(Parser *ps, Token token)
{
    int size = (int)(token.hi - token.lo);
    return size > WORD_SHOWN ? "x" : ctx_printf(ps->ctx, "%.*s", size, ps->text + token.lo);
}

Diag *parse_mistake(Parser *ps, DiagCode code, Span span, const char *fmt, ...)
{
    ps->fed = 0;
    if (++ps->mistakes > MISTAKES) {
        memset(&ps->spare, 0, sizeof ps->spare);
        return &ps->spare;
    }
    StrBuf sb;
    sb_init(&sb, ps->ctx);
    va_list args;
    va_start(args, fmt);
    sb_vprintf(&sb, fmt, args);
    va_end(args);
    return diag_error(ps->ctx, code, span, "%s", sb.text);
}

static bool starts_operand(int kind)
{
    switch (kind) {
    case T_NAME: case T_INT: case T_FLOAT: case T_STRING: case T_UNDERSCORE: case T_FUN: case T_LET: case T_IF: case T_UNROLL: case T_NOT:
        return true;
    default: return kind >= T_UNIT && kind <= T_COMMUTATIVE;
    }
}

static bool is_operator(int kind) { return (kind >= T_PIPE && kind <= T_POW) || kind == T_AND || kind == T_OR; }
static bool is_comparison(int kind) { return kind >= T_EQEQ && kind <= T_GE; }
static bool is_closer(int kind) { return kind == T_RP || kind == T_RBRACKET || kind == T_RBRACE; }
static bool is_opener(int kind) { return kind == T_LP || kind == T_LBRACKET || kind == T_LBRACE; }
static bool is_word(int kind) { return (kind >= T_DEF && kind <= T_NOT); }
static int closer_of(int opener) { return opener + 1; }

static bool adjacent(Parser *ps) { return ps->prev.hi == ps->tok.lo; }

static const char *item_name(Parser *ps)
{
    if (ps->item->name)
        return ctx_printf(ps->ctx, "`%s`", ps->item->name);
    switch (ps->item->kind) {
    case ITEM_DEF: return "the definition";
    case ITEM_ENTRY: return "the entry";
    case ITEM_OPERATOR: return "the operator";
    case ITEM_IMPORT: return "the import";
    case ITEM_RULE: return "the rule";
    case ITEM_STRATEGY: return "the strategy";
    case ITEM_ERROR: break;
    }
    return "this item";
}

/* Where a token is missing rather than wrong (the next line, the next item, the end): just behind the one before. */
static Span gap_or_token(Parser *ps)
{
    if (ps->prev.hi && (ps->tok.kind == T_END || token_starts_item(ps->tok.kind)))
        return parse_span(ps, ps->prev.hi, ps->prev.hi);
    return token_span(ps, ps->tok);
}

/* What could stand here, in the words of the language. */
static const char *expected(Parser *ps, const Place *place)
{
    Ctx *ctx = ps->ctx;
    int prev = ps->prev.kind;
    const char *after = parse_token_text(ps, ps->prev);
    if (token_starts_item(prev) || ps->prev.hi == 0)
        after = kind_text(prev);
    if (ps->item->kind == ITEM_IMPORT)
        return can(ps, T_STRING) ? "a module (`std.warp`) or a file (`\"other.rise\"`)" : can(ps, T_END) ? "the end of the import" : "a name";
    if (prev == T_DOT)
        return "the number of a component, or a type, after `.`";
    if (can(ps, T_INT))
        return ctx_printf(ctx, "%s after %s", can(ps, T_MINUS) || can(ps, T_FUN) ? "an expression" : "a type", after);
    if (place->context == IN_ITEM && !ps->has_body && can(ps, T_EQ)) {
        if (ps->item->result || ps->item->n_where || !can(ps, T_COLON))
            return ctx_printf(ctx, "`=` and the body of %s", item_name(ps));
        return ctx_printf(ctx, "a parameter, `:` or `=` in the header of %s", item_name(ps));
    }
    if (can(ps, T_IN))
        return place->context == IN_LET_VALUE ? "`in` and what the `let` is for" : "`in`";
    if (can(ps, T_THEN))
        return "`then`";
    if (can(ps, T_ELSE))
        return "`else`: an `if` has both branches";
    if (can(ps, T_DARROW))
        return can(ps, T_NAME) ? "another parameter, or `=>` and the body of the function" : "`=>` and the body of the function";
    if (place->context == IN_LET_PATTERN && can(ps, T_EQ))
        return "`=` and the value of the `let`";
    if (place->context == IN_BRACKET) {
        int open = engine_symbol(ps, place->bracket), close = closer_of(open);
        bool colon = can(ps, T_COLON) && !ps->has_body;
        bool comma = can(ps, T_COMMA) && !(can(ps, T_EQ) && !ps->has_body); /* not between parameters: see E0111 */
        if (can(ps, close))
            return ctx_printf(ctx, comma ? "`,` or %s" : colon ? "`:` and a type, or %s" : "%s", kind_text(close));
        if (colon)
            return "`:` and a type";
        if (can(ps, T_EQ))
            return ctx_printf(ctx, "`=` after %s", after);
    }
    static const struct { int kind; const char *text; } others[] = {
        {T_NAME, "a name"}, {T_UNDERSCORE, "a name"}, {T_STRING, "a text"}, {T_LBRACKET, "`[`"}, {T_LP, "`(`"}, {T_ARROW, "`->`"},
        {T_BY, "`by`"}, {T_ASSOCIATIVE, "`associative` or `commutative`"}, {T_COLON, "`:` and a type"}, {T_COMMA, "`,`"},
    };
    bool whole = can(ps, T_END);
    for (size_t i = 0; !whole && i < sizeof others / sizeof *others; i++)
        if (can(ps, others[i].kind))
            return ctx_printf(ctx, "%s after %s", others[i].text, after);
    return whole ? ctx_printf(ctx, "an operator or the end of %s", item_name(ps)) : "something else";
}

#define STRATEGY_IN_HEADER "a strategy of several words stands in parentheses: `lowered by (a at map ; b)`"

/* { e } behind the type of the result, as a body. */
static bool is_body_in_braces(Parser *ps, const Place *place)
{
    int at = place->bracket;
    return at > 2 && !ps->has_body && engine_symbol(ps, at) == T_LBRACE && engine_symbol(ps, at - 1) < 0 && engine_symbol(ps, at - 2) == T_COLON;
}

/* A hint for a general mistake, where the usual reason is known. */
static void hint(Parser *ps, Diag *diag, const Place *place)
{
    Ctx *ctx = ps->ctx;
    int kind = ps->tok.kind, prev = ps->prev.kind;
    if (kind == T_STAR && prev == T_STAR && adjacent(ps))
        diag_help(ctx, diag, "a power of sizes is written with `^`, one of floats `pow(a, b)`");
    else if (kind == T_LT && prev == T_LT && adjacent(ps))
        diag_help(ctx, diag, "to shift bits, write `shl(a, b)`");
    else if (is_operator(kind) && (prev == T_LP || prev == T_COMMA))
        diag_propose(ctx, diag, token_span(ps, ps->tok), "an operator as a function stands in parentheses: $", "(%s)", source_of(ps, ps->tok));
    else if (kind == T_RP && prev == T_LP)
        diag_help(ctx, diag, "a function is applied to one argument at least, and there is no empty tuple");
    else if (kind == T_RP && is_operator(prev))
        diag_help(ctx, diag, "there are no sections: write `fun x => x %s ...`", source_of(ps, ps->prev));
    else if ((kind == T_INT || kind == T_FLOAT || kind == T_NAME) && is_operator(prev) && place->context == IN_BRACKET &&
             place->bracket == engine_depth(ps) - 1)
        diag_propose(ctx, diag, span_join(token_span(ps, ps->prev), token_span(ps, ps->tok)), "there are no sections: write $", "fun x => x %s %s", source_of(ps, ps->prev),
                     source_of(ps, ps->tok));
    else if (kind == T_LBRACKET && can(ps, T_INT))
        diag_help(ctx, diag, "a list stands only after `in`");
    else if (kind == T_COLON && place->context == IN_FUN)
        diag_help(ctx, diag, "a parameter with a type stands in parentheses: `fun (x: f32) => ...`");
    else if (place->context == IN_LET_PATTERN && starts_operand(kind) && prev == T_NAME)
        diag_help(ctx, diag, "for a function, write `let %s = fun %s => ... in ...`", source_of(ps, ps->prev), kind == T_NAME ? source_of(ps, ps->tok) : "x");
    else if (is_word(kind) && !(token_starts_item(kind) && ps->tok.first) && can(ps, T_NAME) && !can(ps, T_FUN))
        diag_help(ctx, diag, "%s is a word of the language and cannot be a name", kind_text(kind));
    else if (kind == T_COMMA && place->context == IN_BRACKET && !ps->has_body && prev == T_NAME &&
             can(ps, T_COLON))
        diag_propose(ctx, diag, span_join(token_span(ps, ps->prev), token_span(ps, ps->tok)),
                     "names of one type stand behind each other, without commas", "%s", source_of(ps, ps->prev));
    else if (kind == T_COMMA && place->context == IN_BRACKET && !ps->has_body)
        diag_help(ctx, diag, "each parameter stands in its own parentheses, with its type: `(a: f32) (b: f32)`");
    else if (kind == T_LBRACKET && !ps->has_body && strcmp(source_of(ps, ps->prev), "launch") == 0)
        diag_help(ctx, diag, "`launch [...]` stands behind the parameters and the type of the result: `(xs: n.f32): n.f32 launch [...] =`");
    else if (kind == T_ARROW && !ps->has_body && place->context == IN_ITEM)
        diag_help(ctx, diag, "the type of the result stands behind `:`, as in `(xs: n.f32): n.f32`");
    else if (is_body_in_braces(ps, place))
        diag_help(ctx, diag, "the body stands behind `=`, without braces: `%s %s (...): t = e`", ps->item->kind == ITEM_ENTRY ? "entry" : "def", ps->item->name ? ps->item->name : "f");
    else if (kind == T_EQ && prev == T_COLON && adjacent(ps))
        diag_propose(ctx, diag, span_join(token_span(ps, ps->prev), token_span(ps, ps->tok)), "write $", "=");
    else if (prev == T_EQEQ && place->context == IN_ITEM && !ps->has_body)
        diag_help(ctx, diag, "in `where`, equality is `==`; the body comes after a single `=`");
    else if (ps->item->kind == ITEM_ENTRY && !ps->has_body && kind == T_NAME && strcmp(source_of(ps, ps->tok), "at") == 0)
        diag_help(ctx, diag, STRATEGY_IN_HEADER);
}

/* ---- repairs: the mistakes whose meaning is plain -------------------------------------------------------------------- */

typedef enum Repair { NOT_MINE, GO_ON, SKIP } Repair;

static void feed_instead(Parser *ps, int kind)
{
    Token token = ps->tok;
    token.kind = (uint8_t)kind;
    engine_feed(ps, kind, token);
    parse_advance(ps);
    ps->prev.kind = (uint8_t)kind;
}

static void insert(Parser *ps, int kind)
{
    Token token = {.lo = ps->tok.lo, .hi = ps->tok.lo, .kind = (uint8_t)kind};
    engine_feed(ps, kind, token);
    ps->prev.kind = (uint8_t)kind;
}

static bool is_name_byte(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/* Whether a word of the language ends at this byte, behind which a new expression begins. */
static bool ends_word(const char *text, uint32_t at)
{
    static const char *const words[] = {"in", "then", "else", "if", "and", "or", "not"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        uint32_t n = (uint32_t)strlen(words[i]);
        if (at >= n && strncmp(text + at - n, words[i], n) == 0 && (at == n || !is_name_byte(text[at - n - 1])))
            return true;
    }
    return false;
}

/* Where the parameters begin before which `fun` is missing: `x` and `(a, b)` go back to here from the token at hand. */
static uint32_t parameters_start(Parser *ps)
{
    uint32_t at = ps->prev.hi, start = ps->prev.lo;
    for (;;) {
        bool tuple = at > 0 && ps->text[at - 1] == ')';
        if (tuple) {
            int open = 0;
            do {
                at--;
                open += ps->text[at] == ')' ? 1 : ps->text[at] == '(' ? -1 : 0;
            } while (open > 0 && at > 0);
        } else {
            while (at > 0 && is_name_byte(ps->text[at - 1]))
                at--;
        }
        start = at;
        while (at > 0 && (ps->text[at - 1] == ' ' || ps->text[at - 1] == '\n'))
            at--;
        if (at == start || at == 0 || (!is_name_byte(ps->text[at - 1]) && ps->text[at - 1] != ')') || ends_word(ps->text, at))
            return start;
    }
}

static void report_no_fun(Parser *ps)
{
    uint32_t at = parameters_start(ps);
    Diag *diag = parse_mistake(ps, E0105, parse_span(ps, at, ps->prev.hi), "a function starts with `fun`");
    diag_help(ps->ctx, diag, "write `fun %.*s%s => ...`", (int)(ps->prev.hi - at), ps->text + at, ps->tok.kind == T_DARROW ? "" : " ...");
    diag_edit(ps->ctx, diag, parse_span(ps, at, at), "fun ");
}

/* In a body `x => e` has no other meaning: the function begins where its parameters do. */
static Repair repair_no_fun(Parser *ps, const Place *place, bool news)
{
    if (ps->tok.kind != T_DARROW || !ps->has_body || place->context == IN_FUN || (ps->prev.kind != T_NAME && ps->prev.kind != T_RP && ps->prev.kind != T_UNDERSCORE))
        return NOT_MINE;
    if (news)
        report_no_fun(ps);
    parse_broken(ps);
    return SKIP;
}

/* Whether more parameters and `=>` follow: `acc x => ...`. */
static bool parameters_ahead(Parser *ps)
{
    for (const char *at = ps->text + ps->tok.lo; *at; at++) {
        if (at[0] == '=' && at[1] == '>')
            return true;
        if (!is_name_byte(*at) && !strchr(" ,()", *at))
            return false;
    }
    return false;
}

static Repair repair_arrow(Parser *ps, const Place *place, bool news)
{
    int kind = ps->tok.kind, right = kind == T_ARROW ? T_DARROW : T_ARROW;
    if ((kind != T_ARROW && kind != T_DARROW) || !can(ps, right))
        return NOT_MINE;
    if (kind == T_ARROW && place->context == IN_FUN && ps->text[engine_token(ps, place->at).lo] == '\\')
        news = false; /* said at the backslash */
    if (news && kind == T_ARROW) {
        Diag *diag = parse_mistake(ps, E0105, token_span(ps, ps->tok), "a function's body follows `=>`, and `->` stands only in types");
        diag_propose(ps->ctx, diag, token_span(ps, ps->tok), "write $", "=>");
    } else if (news) {
        Diag *diag = parse_mistake(ps, E0105, token_span(ps, ps->tok), "the type of a function is written with `->`, and `=>` only after `fun`");
        diag_propose(ps->ctx, diag, token_span(ps, ps->tok), "write $", "->");
    }
    feed_instead(ps, right);
    return GO_ON;
}

/* A call's argument `name = e`: given by name, which braces do. */
static bool is_named_argument(Parser *ps, const Place *place)
{
    int depth = engine_depth(ps);
    return place->context == IN_BRACKET && engine_symbol(ps, place->bracket) == T_LP && ps->prev.kind == T_NAME && depth > 1 &&
           (place->bracket == depth - 1 || place->comma == depth - 1) && place->bracket > 1 && engine_symbol(ps, place->bracket - 1) < 0;
}

/* `x = e` where an expression starts: what other languages assign. */
static bool is_assignment(Parser *ps)
{
    int depth = engine_depth(ps), before = depth > 1 ? engine_symbol(ps, depth - 1) : 0;
    return ps->prev.kind == T_NAME && (before == T_DARROW || before == T_IN || before == T_ELSE || before == T_THEN || before == T_EQ);
}

/* Whether the `=` that the body began with may be meant to compare, in a `where` that lacks a comparison. */
static bool is_where_cut(const Parser *ps)
{
    const Ast *last = ps->item->n_where ? ps->item->where[ps->item->n_where - 1] : NULL;
    return last && !(last->kind == AST_BINARY && last->bin.op >= OP_EQ && last->bin.op <= OP_GE);
}

static Repair repair_eq(Parser *ps, const Place *place, bool news)
{
    if (ps->tok.kind != T_EQ || !can(ps, T_EQEQ))
        return NOT_MINE;
    if (place->context == IN_ITEM && ps->has_body && is_where_cut(ps)) {
        if (news) {
            Diag *diag = parse_mistake(ps, E0104, ps->body_eq, "the body of %s starts at this `=`, and then comes another `=`", item_name(ps));
            diag_note(ps->ctx, diag, token_span(ps, ps->tok), "the second `=`");
            diag_propose(ps->ctx, diag, ps->body_eq, "in `where`, equality is written $", "==");
        }
        parse_broken(ps);
    } else if (news) {
        Diag *diag = parse_mistake(ps, E0104, token_span(ps, ps->tok), "`=` does not compare");
        if (is_named_argument(ps, place))
            diag_help(ps->ctx, diag, "equality is `==`; an argument is given by name in braces: `f{%s = ...}`", source_of(ps, ps->prev));
        else if (is_assignment(ps)) {
            diag_help(ps->ctx, diag, "equality is written `==`; nothing is assigned: name a value by `let %s = ... in`, and fold with `reduceSeq`", source_of(ps, ps->prev));
            diag_edit(ps->ctx, diag, span_start(token_span(ps, ps->prev)), "let ");
        } else
            diag_propose(ps->ctx, diag, token_span(ps, ps->tok), "equality is written $", "==");
    }
    if (is_named_argument(ps, place) || is_assignment(ps))
        parse_broken(ps);
    feed_instead(ps, T_EQEQ);
    return GO_ON;
}

static Repair repair_let(Parser *ps, const Place *place, bool news)
{
    int kind = ps->tok.kind;
    if (place->context == IN_LET_PATTERN && kind == T_LT && ps->text[ps->tok.hi] == '-' && can(ps, T_EQ)) {
        if (news) {
            Diag *diag = parse_mistake(ps, E0101, parse_span(ps, ps->tok.lo, ps->tok.hi + 1), "expected `=` and the value of the `let`, found `<-`");
            diag_propose(ps->ctx, diag, parse_span(ps, ps->tok.lo, ps->tok.hi + 1), "write `let x = e in ...`", "=");
        }
        feed_instead(ps, T_EQ);
        parse_advance(ps);
        return GO_ON;
    }
    /* What follows a call or a number on the same line is no argument of it. */
    bool ended = ps->prev.kind == T_RP || ps->prev.kind == T_INT || ps->prev.kind == T_FLOAT;
    bool apart = kind == T_SEMI || kind == T_LET || ((ps->tok.first || ended) && starts_operand(kind));
    if (place->context != IN_LET_VALUE || !apart || !token_ends_operand(ps->prev.kind) || !can(ps, T_IN))
        return NOT_MINE;
    if (news) {
        Span after = kind == T_SEMI ? token_span(ps, ps->tok) : parse_span(ps, ps->prev.hi, ps->prev.hi);
        Diag *diag = parse_mistake(ps, E0106, after, "expected `in` after the value of this `let`, found %s", parse_token_text(ps, ps->tok));
        diag_note(ps->ctx, diag, token_span(ps, engine_token(ps, place->at)), "the `let`");
        diag_propose(ps->ctx, diag, after, "write `let x = e in ...`, with the `in` here", " in");
    }
    if (kind == T_SEMI)
        feed_instead(ps, T_IN);
    else
        insert(ps, T_IN);
    return GO_ON;
}

static Repair repair_if(Parser *ps, const Place *place, bool news)
{
    bool apart = !starts_operand(ps->tok.kind) || ps->tok.first;
    if (place->context != IN_THEN || !token_ends_operand(ps->prev.kind) || !apart || is_comparison(ps->tok.kind) || ps->tok.kind == T_EQ ||
        ps->tok.kind == T_SEMI || ps->tok.kind == T_HASH || !can(ps, T_ELSE))
        return NOT_MINE;
    if (news) {
        Diag *diag = parse_mistake(ps, E0107, gap_or_token(ps), "expected `else`, found %s: an `if` has both branches", parse_token_text(ps, ps->tok));
        diag_note(ps->ctx, diag, token_span(ps, engine_token(ps, place->at)), "this branch is the only one");
    }
    parse_broken(ps);
    insert(ps, T_ELSE);
    insert(ps, T_BROKEN);
    return GO_ON;
}

/* Words and operators after which an expression starts. */
static bool wants_operand(int kind)
{
    return is_operator(kind) || kind == T_DARROW || kind == T_EQ || kind == T_IN || kind == T_IF || kind == T_THEN || kind == T_ELSE || kind == T_LP || kind == T_COMMA || kind == T_LBRACE;
}

/* { e } where other languages group or begin a block. */
static Repair repair_braces(Parser *ps, const Place *place, bool news)
{
    int at = place->bracket;
    if (at < 2 || !ps->has_body || engine_symbol(ps, at) != T_LBRACE)
        return NOT_MINE;
    int before = engine_symbol(ps, at - 1);
    bool branch = at > 2 && before < 0 && engine_symbol(ps, at - 2) == T_IF;
    if (!branch && !wants_operand(before))
        return NOT_MINE;
    if (news && branch) {
        Diag *diag = parse_mistake(ps, E0101, token_span(ps, engine_token(ps, at)), "expected `then`, found `{`");
        diag_help(ps->ctx, diag, "write `if c then a else b`; braces group nothing");
    } else if (news) {
        Diag *diag = parse_mistake(ps, E0101, token_span(ps, engine_token(ps, at)), "expected an expression after %s, found `{`", kind_text(before));
        diag_help(ps->ctx, diag, "braces group nothing: write parentheses, `( ... )`, or nothing around it");
    }
    parse_broken(ps);
    for (int open = 0; ps->tok.kind != T_END && !token_starts_item(ps->tok.kind) && (open > 0 || ps->tok.kind != T_RBRACE); parse_advance(ps))
        open += ps->tok.kind == T_LBRACE ? 1 : ps->tok.kind == T_RBRACE ? -1 : 0;
    engine_pop_to(ps, at - 1);
    if (branch)
        insert(ps, T_THEN);
    insert(ps, T_BROKEN);
    if (ps->tok.kind == T_RBRACE) {
        parse_advance(ps);
        ps->prev.kind = T_RP;
    }
    return GO_ON;
}

static Repair repair_closer(Parser *ps, const Place *place, bool news)
{
    int kind = ps->tok.kind;
    if (!is_closer(kind))
        return NOT_MINE;
    if (!place->bracket) {
        if (news)
            parse_mistake(ps, E0103, token_span(ps, ps->tok), "this %s closes nothing", kind_text(kind));
        parse_broken(ps);
        parse_advance(ps);
        ps->prev.kind = (uint8_t)kind;
        return GO_ON;
    }
    int open = engine_symbol(ps, place->bracket);
    if (kind == closer_of(open))
        return NOT_MINE;
    if (news) {
        Diag *diag = parse_mistake(ps, E0103, token_span(ps, ps->tok), "%s does not close %s", kind_text(kind), kind_text(open));
        diag_note(ps->ctx, diag, token_span(ps, engine_token(ps, place->bracket)), "opened here");
    }
    parse_broken(ps);
    if (can(ps, closer_of(open)))
        feed_instead(ps, closer_of(open));
    else
        parse_advance(ps);
    return GO_ON;
}

static Repair repair_unclosed(Parser *ps, const Place *place, bool news)
{
    if (!place->bracket || (ps->tok.kind != T_END && !token_starts_item(ps->tok.kind)) || !token_ends_operand(ps->prev.kind))
        return NOT_MINE;
    int open = engine_symbol(ps, place->bracket);
    if (news) {
        Diag *diag = parse_mistake(ps, E0103, gap_or_token(ps), "expected %s, found %s", kind_text(closer_of(open)), parse_token_text(ps, ps->tok));
        diag_note(ps->ctx, diag, token_span(ps, engine_token(ps, place->bracket)), "opened here");
    }
    return SKIP;
}

static Repair repair_juxtaposed(Parser *ps, const Place *place, bool news)
{
    int kind = ps->tok.kind;
    if (!starts_operand(kind) || !token_ends_operand(ps->prev.kind) || ps->prev.kind == T_STRING || place->context == IN_LET_PATTERN ||
        place->context == IN_FUN || (!ps->has_body && (place->context == IN_ITEM || can(ps, T_EQ))) || ps->item->kind == ITEM_IMPORT)
        return NOT_MINE;
    if (ps->has_body && kind == T_NAME && (ps->prev.kind == T_NAME || ps->prev.kind == T_RP) && parameters_ahead(ps)) {
        if (news)
            report_no_fun(ps);
        parse_broken(ps);
        return SKIP;
    }
    if (news) {
        bool operand = kind == T_NAME || kind == T_INT || kind == T_FLOAT;
        Diag *diag = parse_mistake(ps, E0102, token_span(ps, ps->tok), "expected an operator, found %s", parse_token_text(ps, ps->tok));
        const char *fn = source_of(ps, ps->prev), *arg = operand ? source_of(ps, ps->tok) : ctx_printf(ps->ctx, "%s ...", source_of(ps, ps->tok));
        if (strcmp(fn, "for") == 0 || strcmp(fn, "while") == 0)
            diag_help(ps->ctx, diag, "there are no loops: `xs |> mapSeq(f)` applies f to each element, `xs |> reduceSeq(f, start)` folds them");
        else if (strcmp(fn, "return") == 0)
            diag_propose(ps->ctx, diag, token_span(ps, ps->prev), "the body is an expression, and its value the result: leave `return` out", "%s", "");
        else if (ps->prev.kind == T_NAME && operand)
            diag_propose(ps->ctx, diag, span_join(token_span(ps, ps->prev), token_span(ps, ps->tok)), "functions are applied with parentheses: $", "%s(%s)", fn, arg);
        else if (ps->prev.kind == T_NAME)
            diag_help(ps->ctx, diag, "functions are applied with parentheses: `%s(%s)`", fn, arg);
        else if (place->context == IN_BRACKET && (ps->prev.kind == T_INT || ps->prev.kind == T_FLOAT))
            diag_propose(ps->ctx, diag, parse_span(ps, ps->prev.lo, ps->tok.hi), "arguments are separated by commas: $", "%s, %s", fn, operand ? arg : source_of(ps, ps->tok));
        else if (ps->prev.kind == T_RP)
            diag_help(ps->ctx, diag, "functions are applied with parentheses: `(%s)`", arg);
    }
    parse_broken(ps);
    if (kind != T_NAME && kind != T_INT && kind != T_FLOAT && !(kind >= T_UNIT && kind <= T_COMMUTATIVE))
        return SKIP;
    parse_advance(ps);
    return GO_ON;
}

static Repair repair_other(Parser *ps, bool news)
{
    int kind = ps->tok.kind;
    bool over = kind == T_END || kind == T_WHERE || token_starts_item(kind);
    if (ps->item->kind == ITEM_RULE && over && can(ps, T_EQUATION)) {
        if (news) {
            Diag *diag = parse_mistake(ps, E0113, gap_or_token(ps), "a rule is an equation, and `== right side` is missing");
            diag_note(ps->ctx, diag, NO_SPAN, "its `==` stands outside brackets: `let`, `if` and `fun` on its left side stand in parentheses");
        }
        parse_broken(ps);
        return SKIP;
    }
    if ((kind == T_SEMI || kind == T_ORELSE) && !ps->strategic) {
        if (news) {
            Diag *diag = parse_mistake(ps, E0112, token_span(ps, ps->tok), "%s belongs to a strategy, and %s is none", kind_text(kind), item_name(ps));
            if (ps->item->kind == ITEM_ENTRY && !ps->has_body)
                diag_help(ps->ctx, diag, STRATEGY_IN_HEADER);
            else if (kind == T_SEMI)
                diag_note(ps->ctx, diag, NO_SPAN, "steps are chained with `|>` or `>>`, and values are named with `let x = e in`");
        }
        parse_broken(ps);
        return SKIP;
    }
    if (is_comparison(kind) && token_ends_operand(ps->prev.kind)) {
        if (news) {
            Diag *diag = parse_mistake(ps, E0108, token_span(ps, ps->tok), "comparisons do not chain");
            diag_help(ps->ctx, diag, "write `a < b and b < c`, or use parentheses");
        }
        parse_broken(ps);
        if (!can(ps, T_AND))
            return SKIP;
        feed_instead(ps, T_AND);
        return GO_ON;
    }
    return NOT_MINE;
}

/* ---- going on ---------------------------------------------------------------------------------------------------------- */

/* Drops what is on the stack above `depth`, puts `filler` there, and sees whether `next` may follow. Undone when not. */
static bool resume(Parser *ps, int depth, int filler, int next)
{
    int before = engine_depth(ps);
    if (depth <= 0 || depth > before)
        return false;
    engine_pop_to(ps, depth);
    if (!can(ps, filler)) {
        engine_pop_to(ps, before);
        return false;
    }
    insert(ps, filler);
    return can(ps, next);
}

/* Skips to a token at which something that is open goes on. False at the end of the item. */
static bool skip(Parser *ps, const Place *place)
{
    int open = 0, lets = 0, ifs = 0, funs = 0;
    bool fresh = ps->synced != ps->tok.lo + 1;
    bool header = !ps->has_body && ps->item->kind != ITEM_IMPORT;
    for (;; parse_advance(ps), fresh = true) {
        int kind = ps->tok.kind;
        if (kind == T_END || token_starts_item(kind))
            return false;
        if (is_opener(kind)) {
            open++;
            continue;
        }
        if (is_closer(kind) && open > 0) {
            open--;
            continue;
        }
        if (open > 0 || !fresh)
            continue;
        ps->synced = ps->tok.lo + 1;
        switch (kind) {
        case T_RP: case T_RBRACKET: case T_RBRACE:
            if (!place->bracket)
                continue;
            ps->tok.kind = (uint8_t)closer_of(engine_symbol(ps, place->bracket));
            return resume(ps, place->bracket, T_BROKEN, ps->tok.kind);
        case T_COMMA:
            if (!lets && !ifs && !funs && place->bracket &&
                resume(ps, place->comma > place->bracket ? place->comma : place->bracket, T_BROKEN, kind))
                return true;
            break;
        case T_LET: case T_UNROLL: lets++; break;
        case T_IN:
            if (lets)
                lets--;
            else if (place->let_eq && resume(ps, place->let_eq, T_BROKEN, kind))
                return true;
            break;
        case T_IF: ifs++; break;
        case T_THEN:
            if (!ifs && place->cond > place->let && resume(ps, place->cond, T_BROKEN, kind))
                return true;
            break;
        case T_ELSE:
            if (ifs)
                ifs--;
            else if (place->then && resume(ps, place->then, T_BROKEN, kind))
                return true;
            break;
        case T_FUN: funs++; break;
        case T_DARROW:
            if (funs)
                funs--;
            else if (place->context == IN_FUN && resume(ps, place->fun, T_UNDERSCORE, kind))
                return true;
            break;
        case T_EQ:
            if (place->context == IN_LET_PATTERN && resume(ps, place->let, T_UNDERSCORE, kind))
                return true;
            if (header && !lets && !place->bracket) {
                /* The body may still be looked at, although nobody will use it. */
                engine_start(ps);
                engine_feed(ps, T_RESUME, ps->tok);
                return true;
            }
            break;
        default: break;
        }
    }
}

bool parse_recover(Parser *ps)
{
    bool news = ps->fed >= NEWS_AFTER;
    if (ps->recoveries++ >= RECOVERIES)
        return false;
    Place place = find_place(ps);
    Repair repair = repair_braces(ps, &place, news);
    if (repair == NOT_MINE)
        repair = repair_no_fun(ps, &place, news);
    if (repair == NOT_MINE)
        repair = repair_arrow(ps, &place, news);
    if (repair == NOT_MINE)
        repair = repair_eq(ps, &place, news);
    if (repair == NOT_MINE)
        repair = repair_let(ps, &place, news);
    if (repair == NOT_MINE)
        repair = repair_closer(ps, &place, news);
    if (repair == NOT_MINE)
        repair = repair_if(ps, &place, news);
    if (repair == NOT_MINE)
        repair = repair_unclosed(ps, &place, news);
    if (repair == NOT_MINE)
        repair = repair_juxtaposed(ps, &place, news);
    if (repair == NOT_MINE)
        repair = repair_other(ps, news);
    if (repair == GO_ON)
        return true;
    if (repair == NOT_MINE && news) {
        const char *wanted = expected(ps, &place), *found = parse_token_text(ps, ps->tok);
        Diag *diag = parse_mistake(ps, E0101, gap_or_token(ps), "expected %s, found %s", wanted, found);
        hint(ps, diag, &place);
    }
    parse_broken(ps);
    return skip(ps, &place);
}
