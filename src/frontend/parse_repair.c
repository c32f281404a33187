/* Mistakes of the grammar whose meaning is plain: each has words of its own, and a way to go on as if it had been written right. */
#include "frontend/parse_mistakes.h"

void parse_feed_instead(Parser *ps, int kind)
{
    Token token = ps->tok;
    token.kind = (uint8_t)kind;
    engine_feed(ps, kind, token);
    parse_advance(ps);
    ps->prev.kind = (uint8_t)kind;
}

void parse_insert(Parser *ps, int kind)
{
    Token token = {.lo = ps->tok.lo, .hi = ps->tok.lo, .kind = (uint8_t)kind};
    engine_feed(ps, kind, token);
    ps->prev.kind = (uint8_t)kind;
}

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

void parse_report_no_fun(Parser *ps)
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
        parse_report_no_fun(ps);
    parse_broken(ps);
    return SKIP;
}

bool parse_parameters_ahead(Parser *ps)
{
    for (const char *at = ps->text + ps->tok.lo; *at; at++) {
        if (strncmp(at, "fun ", 4) == 0 && !is_name_byte(at[-1]))
            return false;
        if (at[0] == '=' && at[1] == '>')
            return true;
        if (!is_name_byte(*at) && !strchr(" ,()", *at))
            return false;
    }
    return false;
}

/* `fun x, y => e`. */
static Repair repair_commas(Parser *ps, const Place *place, bool news)
{
    if (ps->tok.kind != T_COMMA || place->context != IN_FUN || (ps->prev.kind != T_NAME && ps->prev.kind != T_RP && ps->prev.kind != T_UNDERSCORE))
        return NOT_MINE;
    if (news) {
        Diag *diag = parse_mistake(ps, E0105, token_span(ps, ps->tok), "parameters stand behind each other, without commas");
        diag_help(ps->ctx, diag, "write `fun x y => ...`; a function of a pair takes it apart by `fun (x, y) => ...`");
    }
    parse_broken(ps);
    parse_advance(ps);
    return GO_ON;
}

/* `fun x = e`, `fun x. e`. */
static Repair repair_body_sign(Parser *ps, const Place *place, bool news)
{
    int kind = ps->tok.kind;
    if ((kind != T_EQ && kind != T_DOT) || place->context != IN_FUN || !parse_can(ps, T_DARROW))
        return NOT_MINE;
    if (news) {
        Diag *diag = parse_mistake(ps, E0105, token_span(ps, ps->tok), "a function's body stands behind `=>`");
        diag_propose(ps->ctx, diag, token_span(ps, ps->tok), "write $", parse_adjacent(ps) ? " =>" : "=>");
    }
    parse_feed_instead(ps, T_DARROW);
    return GO_ON;
}

static Repair repair_arrow(Parser *ps, const Place *place, bool news)
{
    int kind = ps->tok.kind, right = kind == T_ARROW ? T_DARROW : T_ARROW;
    if ((kind != T_ARROW && kind != T_DARROW) || !parse_can(ps, right))
        return NOT_MINE;
    if (kind == T_ARROW && place->context == IN_FUN && ps->text[engine_token(ps, place->at).lo] != 'f')
        news = false; /* said where it began */
    if (news && kind == T_ARROW) {
        Diag *diag = parse_mistake(ps, E0105, token_span(ps, ps->tok), "a function's body follows `=>`, and `->` stands only in types");
        diag_propose(ps->ctx, diag, token_span(ps, ps->tok), "write $", "=>");
    } else if (news) {
        Diag *diag = parse_mistake(ps, E0105, token_span(ps, ps->tok), "the type of a function is written with `->`, and `=>` only after `fun`");
        diag_propose(ps->ctx, diag, token_span(ps, ps->tok), "write $", "->");
    }
    parse_feed_instead(ps, right);
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
    int depth = engine_depth(ps);
    while (ps->prev.kind == T_RBRACKET && depth > 1 && engine_symbol(ps, depth) != T_LBRACKET)
        depth--;
    depth -= ps->prev.kind == T_RBRACKET;
    int before = depth > 1 ? engine_symbol(ps, depth - 1) : 0;
    return (ps->prev.kind == T_NAME || ps->prev.kind == T_RBRACKET) && (before == T_DARROW || before == T_IN || before == T_ELSE || before == T_THEN || before == T_EQ);
}

/* Whether the `=` that the body began with may be meant to compare, in a `where` that lacks a comparison. */
static bool is_where_cut(const Parser *ps)
{
    const Ast *last = ps->item->n_where ? ps->item->where[ps->item->n_where - 1] : NULL;
    return last && !(last->kind == AST_BINARY && last->bin.op >= OP_EQ && last->bin.op <= OP_GE);
}

static Repair repair_eq(Parser *ps, const Place *place, bool news)
{
    if (ps->tok.kind != T_EQ || !parse_can(ps, T_EQEQ))
        return NOT_MINE;
    if (ps->item->kind == ITEM_RULE && !place->bracket && parse_can(ps, T_EQUATION)) {
        if (news)
            diag_propose(ps->ctx, parse_mistake(ps, E0113, token_span(ps, ps->tok), "the sides of a rule are equal by `==`"), token_span(ps, ps->tok), "write $", "==");
        parse_feed_instead(ps, T_EQUATION);
        ps->open = 1;
        return GO_ON;
    }
    if (place->context == IN_ITEM && ps->has_body && is_where_cut(ps)) {
        if (news) {
            Diag *diag = parse_mistake(ps, E0104, ps->body_eq, "the body of %s starts at this `=`, and then comes another `=`", parse_item_name(ps));
            diag_note(ps->ctx, diag, token_span(ps, ps->tok), "the second `=`");
            diag_propose(ps->ctx, diag, ps->body_eq, "in `where`, equality is written $", "==");
        }
        ps->item->n_where--; /* of it, there is nothing more to say */
        parse_broken(ps);
    } else if (news) {
        Diag *diag = parse_mistake(ps, E0104, token_span(ps, ps->tok), "`=` does not compare");
        const Foreign *argument = is_named_argument(ps, place) ? parse_foreign(ps, ps->prev, FOREIGN_ARGUMENT) : NULL;
        if (is_named_argument(ps, place) && parse_propose_option(ps, diag, place))
            ;
        else if (argument)
            foreign_hint(ps->ctx, diag, NO_SPAN, argument);
        else if (is_named_argument(ps, place))
            diag_help(ps->ctx, diag, "equality is `==`; arguments are known by their order, and sizes and types alone have names, in braces: `f{n = 4}(xs)`");
        else if (is_assignment(ps) && ps->prev.kind == T_RBRACKET)
            diag_help(ps->ctx, diag, "nothing is assigned: the body is the result, and `generate(fun i => ...)` or `map` makes its elements");
        else if (is_assignment(ps)) {
            diag_help(ps->ctx, diag, "equality is written `==`; nothing is assigned: name a value by `let %s = ... in`, and fold with `reduceSeq`", parse_source_of(ps, ps->prev));
            diag_edit(ps->ctx, diag, span_start(token_span(ps, ps->prev)), "let ");
            ps->told_let = true;
        } else
            diag_propose(ps->ctx, diag, token_span(ps, ps->tok), "equality is written $", "==");
    }
    if (is_named_argument(ps, place) || is_assignment(ps))
        parse_broken(ps);
    parse_feed_instead(ps, T_EQEQ);
    return GO_ON;
}

/* Whether the `in` of the innermost `let` still comes, in its brackets. */
static bool has_in_ahead(const Parser *ps)
{
    int open = 0, lets = 1;
    for (const char *at = ps->text + ps->tok.lo; *at && lets > 0; at++) {
        bool word = is_name_byte(*at) && !is_name_byte(at[-1]);
        size_t n = 0;
        while (word && is_name_byte(at[n]))
            n++;
        open += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
        if (open < 0 || (at[0] == '-' && at[1] == '-'))
            return false;
        lets += n == 3 && strncmp(at, "let", n) == 0;
        lets -= n == 2 && strncmp(at, "in", n) == 0;
    }
    return lets == 0;
}

/* Behind a value, on a new line or behind a comma or a semicolon: `y = e`. The name; NULL. */
static const char *next_binding(Parser *ps)
{
    int kind = ps->tok.kind;
    bool sign = kind == T_COMMA || kind == T_SEMI;
    const char *at = ps->text + (sign ? ps->tok.hi : ps->tok.lo);
    at += strspn(at, " \n");
    size_t n = 0;
    while (is_name_byte(at[n]))
        n++;
    const char *behind = at + n + strspn(at + n, " ");
    bool binds = n && behind[0] == '=' && behind[1] != '=' && behind[1] != '>';
    return binds && (sign || (kind == T_NAME && ps->tok.first)) ? ctx_printf(ps->ctx, "%.*s", (int)n, at) : NULL;
}

/* `let x = a NEWLINE y = b NEWLINE in e`. The same words for each such name of an item: they are one mistake. */
static Repair repair_let_next(Parser *ps, const Place *place, bool news)
{
    bool sign = ps->tok.kind == T_COMMA || ps->tok.kind == T_SEMI;
    const char *name = place->context == IN_LET_VALUE && token_ends_operand(ps->prev.kind) && parse_can(ps, T_IN) ? next_binding(ps) : NULL;
    if (!name)
        return NOT_MINE;
    if (news) {
        Diag *diag = parse_mistake(ps, E0106, token_span(ps, ps->tok), "a `let` names one value, and the next name needs its own `let ... in`");
        diag_note(ps->ctx, diag, token_span(ps, engine_token(ps, place->at)), "the `let`");
        diag_help(ps->ctx, diag, "end the value by `in`, and go on with `let %s = ... in`", name);
        if (sign) {
            diag_edit(ps->ctx, diag, token_span(ps, ps->tok), " in let");
        } else {
            diag_edit(ps->ctx, diag, parse_span(ps, ps->prev.hi, ps->prev.hi), " in");
            diag_edit(ps->ctx, diag, span_start(token_span(ps, ps->tok)), "let ");
        }
    }
    if (sign)
        parse_feed_instead(ps, T_IN);
    else
        parse_insert(ps, T_IN);
    parse_insert(ps, T_LET);
    return GO_ON;
}

static Repair repair_let(Parser *ps, const Place *place, bool news)
{
    int kind = ps->tok.kind;
    if (place->context == IN_LET_PATTERN && kind == T_LT && ps->text[ps->tok.hi] == '-' && parse_can(ps, T_EQ)) {
        if (news) {
            Diag *diag = parse_mistake(ps, E0101, parse_span(ps, ps->tok.lo, ps->tok.hi + 1), "expected `=` and the value of the `let`, found `<-`");
            diag_propose(ps->ctx, diag, parse_span(ps, ps->tok.lo, ps->tok.hi + 1), "write `let x = e in ...`", "=");
        }
        parse_feed_instead(ps, T_EQ);
        parse_advance(ps);
        return GO_ON;
    }
    /* What follows a call or a number on the same line is no argument of it. */
    bool ended = ps->prev.kind == T_RP || ps->prev.kind == T_INT || ps->prev.kind == T_FLOAT;
    ended &= !ps->tok.first && place->context == IN_LET_VALUE && !has_in_ahead(ps);
    bool apart = kind == T_SEMI || kind == T_LET || ((ps->tok.first || ended) && token_starts_operand(kind));
    if (place->context != IN_LET_VALUE || !apart || !token_ends_operand(ps->prev.kind) || !parse_can(ps, T_IN))
        return NOT_MINE;
    if (news) {
        Span after = kind == T_SEMI ? token_span(ps, ps->tok) : parse_span(ps, ps->prev.hi, ps->prev.hi);
        Diag *diag = parse_mistake(ps, E0106, after, "expected `in` after the value of this `let`, found %s", parse_token_text(ps, ps->tok));
        diag_note(ps->ctx, diag, token_span(ps, engine_token(ps, place->at)), "the `let`");
        diag_propose(ps->ctx, diag, after, "write `let x = e in ...`, with the `in` here", " in");
    }
    if (kind == T_SEMI)
        parse_feed_instead(ps, T_IN);
    else
        parse_insert(ps, T_IN);
    return GO_ON;
}

/* Where a line starts that may go on what stands before it, `(a, b)` and `-x`, and that is no deeper than the `let`: before this one its value ends. 0: none. */
static uint32_t line_behind_value(const Parser *ps, Token let)
{
    uint32_t start = let.lo;
    while (start > 0 && ps->text[start - 1] != '\n')
        start--;
    int open = 0;
    for (uint32_t at = let.hi; at < ps->tok.lo; at++) {
        open += (ps->text[at] == '(' || ps->text[at] == '[') - (ps->text[at] == ')' || ps->text[at] == ']');
        if (ps->text[at] != '\n' || open)
            continue;
        uint32_t first = at + 1 + (uint32_t)strspn(ps->text + at + 1, " ");
        bool goes_on = ps->text[first] == '(' || (ps->text[first] == '-' && ps->text[first + 1] != '-');
        if (first < ps->tok.lo && goes_on && first - at - 1 <= let.lo - start)
            return first;
    }
    return 0;
}

/* The end has come, and no `in`: what follows on another line was read as an argument, or there is nothing. */
static Repair repair_let_end(Parser *ps, const Place *place, bool news)
{
    bool over = ps->tok.kind == T_END || token_starts_item(ps->tok.kind) || token_is_closer(ps->tok.kind);
    if (place->context != IN_LET_VALUE || !over || !token_ends_operand(ps->prev.kind) || !parse_can(ps, T_IN))
        return NOT_MINE;
    if (!news)
        return SKIP;
    Token let = engine_token(ps, place->at);
    uint32_t next = line_behind_value(ps, let), end = next;
    while (end > let.hi && strchr(" \n", ps->text[end - 1]))
        end--;
    if (!next) {
        Diag *diag = parse_mistake(ps, E0106, token_span(ps, let), "this `let` has no `in`, and nothing that it is for");
        diag_note(ps->ctx, diag, parse_gap_or_token(ps), "its value ends here");
        diag_help(ps->ctx, diag, "write `let x = e in ...`");
        return SKIP;
    }
    Diag *diag = parse_mistake(ps, E0106, parse_span(ps, end, end), "expected `in` after the value of this `let`: the next line is read as a part of it");
    diag_note(ps->ctx, diag, token_span(ps, let), "the `let`");
    diag_propose(ps->ctx, diag, parse_span(ps, end, end), "write `let x = e in ...`, with the `in` here", " in");
    return SKIP;
}

/* `if (c) a else b`. */
static Repair repair_then(Parser *ps, const Place *place, bool news)
{
    if (place->context != IN_IF || ps->prev.kind != T_RP || !token_starts_operand(ps->tok.kind) || !parse_can(ps, T_THEN))
        return NOT_MINE;
    if (news) {
        Diag *diag = parse_mistake(ps, E0101, token_span(ps, ps->tok), "expected `then`, found %s", parse_token_text(ps, ps->tok));
        diag_help(ps->ctx, diag, "write `if c then a else b`");
        diag_edit(ps->ctx, diag, span_start(token_span(ps, ps->tok)), "then ");
    }
    parse_insert(ps, T_THEN);
    return GO_ON;
}

/* The `if` as far as it is written, if that is short. */
static const char *if_text(Parser *ps, const Place *place)
{
    enum { LONGEST = 60 };
    int at = place->at;
    while (at > 1 && engine_symbol(ps, at) != T_IF)
        at--;
    uint32_t lo = engine_token(ps, at).lo, hi = ps->prev.hi;
    bool shown = lo < hi && hi - lo <= LONGEST && !memchr(ps->text + lo, '\n', hi - lo);
    return shown ? ctx_printf(ps->ctx, "%.*s", (int)(hi - lo), ps->text + lo) : "if c then a";
}

static Repair repair_if(Parser *ps, const Place *place, bool news)
{
    bool apart = !token_starts_operand(ps->tok.kind) || ps->tok.first;
    if (place->context != IN_THEN || !token_ends_operand(ps->prev.kind) || !apart || token_is_comparison(ps->tok.kind) || ps->tok.kind == T_EQ ||
        ps->tok.kind == T_SEMI || ps->tok.kind == T_HASH || !parse_can(ps, T_ELSE))
        return NOT_MINE;
    if (news) {
        Diag *diag = parse_mistake(ps, E0107, parse_gap_or_token(ps), "expected `else`, found %s: an `if` has both branches", parse_token_text(ps, ps->tok));
        diag_note(ps->ctx, diag, token_span(ps, engine_token(ps, place->at)), "this branch is the only one");
        diag_help(ps->ctx, diag, "behind it, `else` and the value for all other cases: `%s else ...`", if_text(ps, place));
    }
    parse_broken(ps);
    parse_insert(ps, T_ELSE);
    parse_insert(ps, T_BROKEN);
    return GO_ON;
}

/* Words and operators after which an expression starts. */
static bool wants_operand(int kind)
{
    return token_is_operator(kind) || kind == T_DARROW || kind == T_EQ || kind == T_IN || kind == T_IF || kind == T_THEN || kind == T_ELSE || kind == T_LP || kind == T_COMMA || kind == T_LBRACE;
}

/* Is what stands before this the condition of an `if`? */
static bool in_condition(Parser *ps, int at)
{
    int symbol = 0;
    do
        symbol = --at > 0 ? engine_symbol(ps, at) : T_EQ;
    while (symbol < 0 || token_is_operator(symbol) || token_is_comparison(symbol) || symbol == T_NOT);
    return symbol == T_IF;
}

/* { e } where other languages group or begin a block. */
static Repair repair_braces(Parser *ps, const Place *place, bool news)
{
    int at = place->bracket;
    if (at < 2 || !ps->has_body || engine_symbol(ps, at) != T_LBRACE)
        return NOT_MINE;
    int before = engine_symbol(ps, at - 1);
    bool branch = before < 0 && in_condition(ps, at);
    if (!branch && !wants_operand(before))
        return NOT_MINE;
    news &= !ps->told_braces;
    ps->told_braces |= news;
    if (news && branch) {
        Diag *diag = parse_mistake(ps, E0101, token_span(ps, engine_token(ps, at)), "expected `then`, found `{`");
        diag_help(ps->ctx, diag, "write `if c then a else b`; braces group nothing");
    } else if (news) {
        Diag *diag = parse_mistake(ps, E0101, token_span(ps, engine_token(ps, at)), "expected an expression after %s, found `{`", parse_kind_text(before));
        diag_help(ps->ctx, diag, "braces group nothing: write parentheses, `( ... )`, or nothing around it");
    }
    parse_broken(ps);
    for (int open = 0; ps->tok.kind != T_END && !token_starts_item(ps->tok.kind) && (open > 0 || ps->tok.kind != T_RBRACE); parse_advance(ps))
        open += ps->tok.kind == T_LBRACE ? 1 : ps->tok.kind == T_RBRACE ? -1 : 0;
    engine_pop_to(ps, at - 1);
    if (branch)
        parse_insert(ps, T_THEN);
    parse_insert(ps, T_BROKEN);
    if (ps->tok.kind == T_RBRACE) {
        parse_advance(ps);
        ps->prev.kind = T_RP;
    }
    return GO_ON;
}

/* `... # a comment`: no label stands behind an operand. */
static Repair repair_comment(Parser *ps, const Place *place, bool news)
{
    (void)place;
    if (ps->tok.kind != T_HASH || ps->strategic || !token_ends_operand(ps->prev.kind))
        return NOT_MINE;
    if (news)
        parse_report_comment(ps);
    parse_skip_line(ps);
    return GO_ON;
}

static Repair repair_other(Parser *ps, const Place *place, bool news)
{
    (void)place;
    int kind = ps->tok.kind;
    bool over = kind == T_END || kind == T_WHERE || token_starts_item(kind);
    if (ps->item->kind == ITEM_RULE && over && parse_can(ps, T_EQUATION)) {
        if (news) {
            Diag *diag = parse_mistake(ps, E0113, parse_gap_or_token(ps), "a rule is an equation, and `== right side` is missing");
            diag_note(ps->ctx, diag, NO_SPAN, "its `==` stands outside brackets: `let`, `if` and `fun` on its left side stand in parentheses");
        }
        parse_broken(ps);
        return SKIP;
    }
    if ((kind == T_SEMI || kind == T_ORELSE) && !ps->strategic) {
        if (news) {
            Diag *diag = parse_mistake(ps, E0112, token_span(ps, ps->tok), "%s belongs to a strategy, and %s is none", parse_kind_text(kind), parse_item_name(ps));
            if (ps->item->kind == ITEM_ENTRY && !ps->has_body)
                diag_help(ps->ctx, diag, STRATEGY_IN_HEADER);
            else if (kind == T_SEMI)
                diag_note(ps->ctx, diag, NO_SPAN, "steps are chained with `|>` or `>>`, and values are named with `let x = e in`");
        }
        parse_broken(ps);
        return SKIP;
    }
    if (token_is_comparison(kind) && token_ends_operand(ps->prev.kind) && parse_can(ps, T_AND)) {
        const bool name = ps->prev.kind == T_NAME;
        if (news && name && kind == T_GT && parse_is_type_word(ps, ps->prev)) { /* `static_cast<float>(x)` */
            const Foreign *type = parse_foreign(ps, ps->prev, FOREIGN_TYPE);
            Diag *diag = parse_mistake(ps, E0101, token_span(ps, ps->prev), "types stand in no angle brackets");
            diag_help(ps->ctx, diag, "a value is converted by `cast(%s)(x)`", type && type->instead ? type->instead : ps->prev.name);
        } else if (news) {
            Diag *diag = parse_mistake(ps, E0108, token_span(ps, ps->tok), "comparisons do not chain");
            if (name) { /* `0 < x < 1` */
                diag_help(ps->ctx, diag, "compare twice: write `and %s` before this sign", parse_source_of(ps, ps->prev));
                diag_edit(ps->ctx, diag, span_start(token_span(ps, ps->tok)), "and %s ", parse_source_of(ps, ps->prev));
            } else
                diag_help(ps->ctx, diag, "compare twice: `a < b and b < c`");
        }
        parse_broken(ps);
        parse_feed_instead(ps, T_AND);
        return GO_ON;
    }
    return NOT_MINE;
}

/* `entry entry`: a word that starts an item, where its name should stand. `import rule.lowering`: whoever looks for the module knows what is near. */
static Repair repair_item_word(Parser *ps, const Place *place, bool news)
{
    (void)place;
    if (!token_starts_item(ps->tok.kind) || ps->tok.first || !token_starts_item(ps->prev.kind))
        return NOT_MINE;
    const bool module = ps->item->kind == ITEM_IMPORT && ps->text[ps->tok.hi] == '.';
    if (news && !module)
        parse_mistake(ps, E0101, token_span(ps, ps->tok), "%s is a word of the language and cannot be a name", parse_kind_text(ps->tok.kind));
    if (!module)
        parse_broken(ps);
    ps->tok.name = intern(ps->ctx, ps->text + ps->tok.lo, ps->tok.hi - ps->tok.lo);
    parse_feed_instead(ps, T_NAME);
    return GO_ON;
}

/* Words of other languages. A statement takes the rest of the item with it. */
static Repair repair_foreign(Parser *ps, const Place *place, bool news)
{
    Span span;
    const Foreign *foreign = news ? parse_foreign_statement(ps, &span) : NULL;
    if (foreign) {
        parse_report_foreign(ps, span, foreign);
        return GIVE_UP;
    }
    bool infix = ps->has_body && ps->tok.kind == T_NAME && token_ends_operand(ps->prev.kind);
    foreign = infix ? parse_foreign(ps, ps->tok, FOREIGN_INFIX) : NULL;
    if (!foreign && ps->has_body && place->context == IN_BRACKET && token_is_opener(engine_symbol(ps, place->bracket)))
        foreign = parse_foreign_callee(ps, engine_token(ps, place->bracket).lo, &span);
    else
        span = token_span(ps, ps->tok);
    if (!foreign)
        return NOT_MINE;
    if (news)
        parse_report_foreign(ps, span, foreign);
    parse_broken(ps);
    return SKIP;
}

/* In the order in which they are asked. */
Repair parse_repair(Parser *ps, const Place *place, bool news)
{
    static Repair (*const repairs[])(Parser *, const Place *, bool) = {
        repair_item_word, parse_repair_moved, repair_braces, repair_foreign, repair_no_fun, repair_commas, repair_body_sign, repair_arrow, parse_repair_type_open, repair_eq, repair_let_next, repair_let, repair_let_end, parse_repair_closer, repair_then,
        repair_if, parse_repair_unclosed, repair_comment, parse_repair_applied, repair_other,
    };
    for (size_t i = 0; i < sizeof repairs / sizeof *repairs; i++) {
        Repair repair = repairs[i](ps, place, news);
        if (repair != NOT_MINE)
            return repair;
    }
    return NOT_MINE;
}
