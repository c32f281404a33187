/* What belongs to another part of the item, or to an item of another kind: clauses behind the body, steps of a strategy in a definition,
 * clauses without their brackets. */
#include "frontend/parse_mistakes.h"

enum { MOVED = 200 /* bytes of a clause that an edit moves */ };

/* Skips the rest of the item; gives the byte behind its last token. */
static uint32_t skip_item(Parser *ps)
{
    uint32_t end = ps->tok.hi;
    bool quiet = ps->quiet;
    ps->quiet = true;
    for (; ps->tok.kind != T_END && !token_starts_item(ps->tok.kind); parse_advance(ps))
        end = ps->tok.hi;
    ps->quiet = quiet;
    return end;
}

static uint32_t behind_blanks(const Parser *ps, uint32_t at)
{
    while (ps->text[at] && strchr(" \t\r\n", ps->text[at]))
        at++;
    return at;
}

static uint32_t behind_word(const Parser *ps, uint32_t at)
{
    while (is_name_byte(ps->text[at]))
        at++;
    return at;
}

static bool is_symbol(Parser *ps, int index, int kind) { return index > 0 && engine_symbol(ps, index) == kind; }

/* `s = e`, behind `where`: Haskell defines names there. */
static bool defines_name(const Parser *ps, uint32_t at)
{
    at = behind_blanks(ps, at);
    const char *sign = ps->text + at + strcspn(ps->text + at, "=<>!\n");
    return is_name_byte(ps->text[at]) && sign[0] == '=' && sign[1] != '=';
}

/* Where the expression begins that the stack ends with. */
static uint32_t expression_start(Parser *ps)
{
    int closed = 0;
    for (int i = engine_depth(ps); i > 0; i--) {
        int symbol = engine_symbol(ps, i);
        bool opener = token_is_opener(symbol);
        if (!closed && (opener || symbol == T_IN || symbol == T_DARROW || symbol == T_COMMA || symbol == T_EQ || symbol == T_THEN || symbol == T_ELSE))
            return behind_blanks(ps, engine_token(ps, i).hi);
        closed += token_is_closer(symbol) - (opener && closed);
    }
    return ps->prev.hi;
}

/* The end of `x = e` behind a `where`: of its brackets, of the item, or of what is around it. */
static uint32_t definition_end(const Parser *ps, uint32_t at)
{
    int open = 0;
    uint32_t end = at;
    for (; ps->text[at]; at++) {
        char c = ps->text[at];
        if (open == 0 && (strchr(")],", c) || (c == '\n' && ps->text[at + 1] && !strchr(" \n", ps->text[at + 1]))))
            break;
        open += (c == '(' || c == '[') - (c == ')' || c == ']');
        end = strchr(" \t\r\n", c) ? end : at + 1;
    }
    return end;
}

/* `e where x = a`. */
static void report_where(Parser *ps)
{
    uint32_t name = behind_blanks(ps, ps->tok.hi), end = definition_end(ps, name), start = expression_start(ps);
    int size = (int)(behind_word(ps, name) - name);
    Diag *diag = parse_mistake(ps, E0101, token_span(ps, ps->tok), "`where` names no values: it stands in the header, and holds facts about sizes");
    diag_help(ps->ctx, diag, "a value is named in front of what uses it: `let %.*s = ... in ...`", size, ps->text + name);
    const char *sign = memchr(ps->text + name, '=', end - name), *text = ctx_printf(ps->ctx, "%.*s", (int)(end - name), ps->text + name);
    bool one = sign && !memchr(ps->text + name, '\n', end - name) && !strstr(text, "--");
    if (!one || start >= ps->prev.hi || end - name > MOVED)
        return;
    diag_edit(ps->ctx, diag, parse_span(ps, start, start), "let %s in ", text);
    diag_edit(ps->ctx, diag, parse_span(ps, ps->prev.hi, end), "%s", "");
}

static void skip_definition(Parser *ps)
{
    uint32_t end = definition_end(ps, behind_blanks(ps, ps->tok.hi));
    bool quiet = ps->quiet;
    ps->quiet = true;
    while (ps->tok.kind != T_END && !token_starts_item(ps->tok.kind) && ps->tok.lo < end)
        parse_advance(ps);
    ps->quiet = quiet;
}

/* Behind the body there is nothing. */
static Repair repair_clause(Parser *ps, const Place *place, bool news)
{
    int kind = ps->tok.kind;
    if (kind == T_WHERE && ps->has_body && defines_name(ps, ps->tok.hi) && token_ends_operand(ps->prev.kind)) {
        if (news)
            report_where(ps);
        parse_broken(ps);
        skip_definition(ps);
        return SKIP;
    }
    bool clause = kind == T_WHERE || (kind == T_EXACT && (!ps->text[ps->tok.hi] || ps->text[ps->tok.hi] == '\n')) || kind == T_LOWERED || kind == T_EXPECT || (kind == T_LAUNCH && ps->text[behind_blanks(ps, ps->tok.hi)] == '[');
    if (!clause || !ps->has_body || place->bracket || !token_ends_operand(ps->prev.kind) || !parse_can(ps, T_END))
        return NOT_MINE;
    Token word = ps->tok, last = ps->prev;
    const char *found = parse_token_text(ps, word);
    Diag *diag = !news ? &ps->spare : parse_mistake(ps, E0101, token_span(ps, word), "expected an operator or the end of %s, found %s", parse_item_name(ps), found);
    uint32_t end = skip_item(ps);
    diag_help(ps->ctx, diag, "%s stands in the header, in front of the `=`", found);
    const char *text = end - word.lo < MOVED ? ctx_printf(ps->ctx, "%.*s", (int)(end - word.lo), ps->text + word.lo) : NULL;
    if (text && !strstr(text, "--")) {
        diag_edit(ps->ctx, diag, span_start(ps->body_eq), "%s ", text);
        diag_edit(ps->ctx, diag, parse_span(ps, last.hi, end), "%s", "");
    }
    return GIVE_UP;
}

/* `= lowered by s = e`, `= lowered by s e`. */
static Repair repair_early_body(Parser *ps, const Place *place, bool news)
{
    (void)place;
    if (!ps->has_body || strcmp(parse_source_of(ps, ps->tok), "by") != 0 || strcmp(parse_source_of(ps, ps->prev), "lowered") != 0 || behind_blanks(ps, ps->body_eq.hi) != ps->prev.lo)
        return NOT_MINE;
    if (news) {
        const uint32_t lo = ps->prev.lo, hi = ps->tok.hi, name = behind_blanks(ps, hi), end = behind_word(ps, name), next = behind_blanks(ps, end);
        Diag *diag = parse_mistake(ps, E0101, parse_span(ps, lo, hi), "`lowered by` stands in the header, in front of the `=`");
        const bool word = end > name; /* else its end is not known here */
        diag_help(ps->ctx, diag, "the body comes behind it: `... lowered by %.*s = ...`", word ? (int)(end - name) : 7, word ? ps->text + name : "(a ; b)");
        if (word)
            diag_edit(ps->ctx, diag, parse_span(ps, ps->body_eq.lo, lo), "%s", "");
        if (word && ps->text[next] != '=')
            diag_edit(ps->ctx, diag, parse_span(ps, end, end), " =");
    }
    parse_broken(ps);
    return GIVE_UP;
}

/* The text between two bytes without the blanks around it. */
static const char *trimmed(Parser *ps, uint32_t lo, uint32_t hi)
{
    lo = behind_blanks(ps, lo);
    while (hi > lo && strchr(" \t", ps->text[hi - 1]))
        hi--;
    return hi > lo ? ctx_printf(ps->ctx, "%.*s", (int)(hi - lo), ps->text + lo) : "";
}

/* ---- `c ? a : b` -------------------------------------------------------------------------------------------------------------- */

/* Where the expression begins that ends before this byte: behind an open bracket, a comma, `=`, `=>`, `|>` or a word. */
static uint32_t text_start(const Parser *ps, uint32_t at)
{
    static const char *const words[] = {"in", "then", "else"};
    int closed = 0;
    for (; at > 0; at--) {
        const char *c = ps->text + at - 1;
        closed += strchr(")]}", *c) != NULL;
        if (!closed && (strchr("([{,:", *c) || (*c == '=' && at > 1 && !strchr("=<>!", c[-1]) && c[1] != '=') || (*c == '>' && at > 1 && c[-1] == '=')))
            break;
        closed -= closed && strchr("([{", *c);
        for (size_t i = 0; i < sizeof words / sizeof *words && !closed; i++) {
            size_t n = strlen(words[i]);
            if (at > n && strncmp(ps->text + at - n, words[i], n) == 0 && !is_name_byte(ps->text[at - n - 1]) && !is_name_byte(ps->text[at]))
                return behind_blanks(ps, at);
        }
    }
    return behind_blanks(ps, at);
}

/* Whether the item ends before this byte: a line begins with another one. */
static bool item_ends(const Parser *ps, uint32_t at) { return !ps->text[at] || (ps->text[at] == '\n' && ps->text[at + 1] && !strchr(" \n", ps->text[at + 1])); }

/* The colon of the sign; 0: there is none of its own. */
static uint32_t colon_of(const Parser *ps, uint32_t sign)
{
    int open = 0, inner = 0;
    for (uint32_t at = sign + 1; !item_ends(ps, at) && open >= 0; at++) {
        open += (strchr("([{", ps->text[at]) != NULL) - (strchr(")]}", ps->text[at]) != NULL);
        if (!open && ps->text[at] == ':' && inner-- == 0)
            return at;
        inner += !open && ps->text[at] == '?';
    }
    return 0;
}

void parse_propose_if(Parser *ps, Diag *diag, uint32_t sign)
{
    uint32_t first = text_start(ps, sign), own = colon_of(ps, sign);
    bool shown = own && own - first < MOVED && !memchr(ps->text + first, '\n', own - first);
    if (shown)
        diag_help(ps->ctx, diag, "write `if %s then %s else ...`", trimmed(ps, first, sign), trimmed(ps, sign + 1, own));
    else
        diag_help(ps->ctx, diag, "write `if c then a else b`");
    ps->told_ternary = true;
    for (uint32_t at = sign; !item_ends(ps, at); at++) {
        uint32_t colon = ps->text[at] == '?' ? colon_of(ps, at) : 0;
        if (ps->text[at] == '-' && ps->text[at + 1] == '-')
            at += (uint32_t)strcspn(ps->text + at, "\n") - 1;
        if (!colon)
            continue;
        uint32_t start = text_start(ps, at);
        diag_edit(ps->ctx, diag, parse_span(ps, start, start), "if ");
        diag_edit(ps->ctx, diag, parse_span(ps, at, at + 1), "then");
        diag_edit(ps->ctx, diag, parse_span(ps, colon, colon + 1), "else");
    }
}

/* Behind a value of `expect`: at the `for`, another clause or the body. */
static uint32_t expected_end(const Parser *ps, uint32_t at)
{
    static const char *const ends[] = {"for ", "expect ", "where ", "launch ", "lowered ", "=", "--"};
    int open = 0;
    uint32_t end = at;
    for (; ps->text[at] && (ps->text[at] != '\n' || open); at++) {
        char c = ps->text[at];
        for (size_t i = 0; i < sizeof ends / sizeof *ends && !open && ps->text[at - 1] == ' '; i++)
            if (strncmp(ps->text + at, ends[i], strlen(ends[i])) == 0)
                return end;
        open += (c == '(' || c == '[') - (c == ')' || c == ']');
        end = c == ' ' ? end : at + 1;
    }
    return end;
}

/* `expect f([1, 2]) == 4`: a call as in tests of other languages. `at`: where the name begins. */
void parse_propose_expect(Parser *ps, Diag *diag, uint32_t at)
{
    diag_help(ps->ctx, diag, "an expectation speaks of `result`, and names the inputs behind it: `expect result == [2, 4] for xs = [1, 2]`");
    uint32_t lo = at, open = behind_word(ps, at);
    if (ps->text[open] != '(' || !ps->item->name || strncmp(ps->item->name, ps->text + lo, open - lo) != 0 || strlen(ps->item->name) != open - lo)
        return;
    StrBuf given;
    sb_init(&given, ps->ctx);
    int depth = 0, n = 0, k = -1;
    for (at = open; ps->text[at] && ps->text[at] != '\n'; at++) {
        char c = ps->text[at];
        depth += (c == '(' || c == '[') - (c == ')' || c == ']');
        if (depth == 0)
            break;
        if (depth == 1 && (c == ',' || at == open)) {
            do
                k++;
            while (k < ps->params.n && ps->params.at[k].implicit);
            if (k >= ps->params.n || !ps->params.at[k].name)
                return;
            sb_printf(&given, n++ ? ", %s = " : "%s = ", ps->params.at[k].name);
            at = behind_blanks(ps, at + 1) - 1;
        } else {
            sb_putc(&given, c);
        }
    }
    uint32_t sign = behind_blanks(ps, at + 1), value = sign + 2;
    if (depth || !n || ps->text[sign] != '=' || ps->text[sign + 1] != '=')
        return;
    value = behind_blanks(ps, value);
    uint32_t end = expected_end(ps, value);
    diag_propose(ps->ctx, diag, parse_span(ps, lo, end), "an expectation speaks of the result, and names the inputs behind it: $", "result == %.*s for %s", (int)(end - value), ps->text + value, given.text);
}

/* `expect (f(2) == 4)`, `expect f([2]) == 4`. */
static Repair repair_expect(Parser *ps, const Place *place, bool news)
{
    int at = place->bracket;
    if (!ps->has_body && is_symbol(ps, at, T_LP) && at > 2 && engine_symbol(ps, at - 1) < 0 && is_symbol(ps, at - 2, T_EXPECT)) {
        if (news) {
            uint32_t lo = behind_blanks(ps, engine_token(ps, at - 2).hi);
            Diag *diag = parse_mistake(ps, E0119, parse_span(ps, lo, engine_token(ps, at).lo), "`expect` compares counters in brackets, or `result`");
            parse_propose_expect(ps, diag, lo);
        }
        return GIVE_UP;
    }
    if (ps->has_body || !is_symbol(ps, at, T_LP) || !is_symbol(ps, at - 1, T_EXPECT))
        return NOT_MINE;
    if (news) {
        Diag *diag = parse_mistake(ps, E0101, token_span(ps, engine_token(ps, at)), "an expectation of a result stands without parentheses");
        diag_help(ps->ctx, diag, "leave them out: `expect result == [2, 4] for xs = [1, 2]`");
        uint32_t open = engine_token(ps, at).lo, close = open;
        for (int depth = 0; ps->text[close] && (depth += (ps->text[close] == '(') - (ps->text[close] == ')')) > 0;)
            close++;
        diag_edit(ps->ctx, diag, parse_span(ps, open, open + 1), "%s", "");
        diag_edit(ps->ctx, diag, parse_span(ps, close, close + 1), "%s", "");
    }
    return GIVE_UP;
}

/* `expect ... for n = 1, 2 for xs = iota`. */
static Repair repair_second_for(Parser *ps, const Place *place, bool news)
{
    if (ps->tok.kind != T_FOR || place->context != IN_ITEM || ps->has_body || !parse_can(ps, T_COMMA) || !parse_can(ps, T_EXPECT))
        return NOT_MINE;
    if (news) {
        Span gap = parse_span(ps, ps->prev.hi, ps->tok.hi);
        diag_propose(ps->ctx, parse_mistake(ps, E0101, token_span(ps, ps->tok), "one clause has one `for`"), gap, "more values stand behind $", ",");
    }
    parse_feed_instead(ps, T_COMMA);
    return GO_ON;
}

/* `launch threads = 128`. */
static Repair repair_launch(Parser *ps, const Place *place, bool news)
{
    (void)place;
    if (ps->has_body || ps->prev.kind != T_LAUNCH || (ps->tok.kind != T_NAME && ps->tok.kind != T_LP) || !parse_can(ps, T_LBRACKET))
        return NOT_MINE;
    if (!news)
        return GIVE_UP;
    uint32_t lo = ps->tok.lo, hi = lo, end = lo + (uint32_t)strcspn(ps->text + lo, ")\n");
    bool round = ps->tok.kind == T_LP && ps->text[end] == ')';
    for (uint32_t at = lo; is_name_byte(ps->text[at]);) {
        at = behind_blanks(ps, behind_word(ps, at));
        if (ps->text[at] != '=')
            break;
        hi = at = behind_word(ps, behind_blanks(ps, at + 1));
        if (ps->text[at] == ',')
            at = behind_blanks(ps, at + 1);
    }
    Diag *diag = parse_mistake(ps, E0101, token_span(ps, ps->tok), "expected `[` after `launch`, found %s", parse_token_text(ps, ps->tok));
    if (round && end - lo < MOVED)
        diag_propose(ps->ctx, diag, parse_span(ps, lo, end + 1), "options of a launch stand in square brackets: $", "[%.*s]", (int)(end - lo - 1), ps->text + lo + 1);
    else if (hi > lo && hi - lo < MOVED)
        diag_propose(ps->ctx, diag, parse_span(ps, lo, hi), "options of a launch stand in brackets: $", "[%.*s]", (int)(hi - lo), ps->text + lo);
    else
        diag_help(ps->ctx, diag, "options of a launch stand in brackets: `launch [threads = 128]`");
    return GIVE_UP;
}

/* `operator (<>)`. Where the sign is used, it is the same mistake. */
static Repair repair_operator_name(Parser *ps, const Place *place, bool news)
{
    (void)place;
    if (ps->prev.kind != T_OPERATOR || ps->item->name || ps->tok.name || ps->tok.first)
        return NOT_MINE;
    uint32_t lo = ps->tok.lo, hi = lo + (uint32_t)strcspn(ps->text + lo, " \n{");
    if (news) {
        Diag *diag = parse_mistake(ps, E0101, parse_span(ps, lo, hi), "an operator has a name, and no sign of its own");
        diag_help(ps->ctx, diag, "write `operator f (a: f32) (b: f32): f32 ...`; it is used as a function: `reduce(f, unit)`");
    }
    bool bracket = ps->text[lo] == '(';
    ps->own_sign = ps->text + lo + bracket;
    ps->own_sign_size = strcspn(ps->own_sign, ") \n{");
    return GIVE_UP;
}

/* `def s = a ; b`. */
static Repair repair_strategy(Parser *ps, const Place *place, bool news)
{
    if ((ps->tok.kind != T_SEMI && ps->tok.kind != T_ORELSE) || ps->item->kind != ITEM_DEF || ps->item->result || ps->params.n > 0 || !ps->has_body ||
        place->context == IN_LET_VALUE || place->let)
        return NOT_MINE;
    if (news) {
        Diag *diag = parse_mistake(ps, E0112, token_span(ps, ps->tok), "%s belongs to a strategy, and %s is none", parse_kind_text(ps->tok.kind), parse_item_name(ps));
        Span item = ps->item->span;
        diag_propose(ps->ctx, diag, parse_span(ps, item.lo, behind_word(ps, item.lo)), "rules are put together in a $", "strategy");
    }
    return GIVE_UP;
}

/* `mapToGlobal at map` in a definition or a body. */
static Repair repair_at(Parser *ps, const Place *place, bool news)
{
    (void)place;
    if (!ps->has_body || ps->strategic || !token_ends_operand(ps->prev.kind) || ps->tok.kind != T_NAME || strcmp(parse_source_of(ps, ps->tok), "at") != 0)
        return NOT_MINE;
    if (news) {
        Diag *diag = parse_mistake(ps, E0112, token_span(ps, ps->tok), "`at` belongs to a strategy, and %s is none", parse_item_name(ps));
        Span item = ps->item->span;
        if (ps->item->kind == ITEM_DEF)
            diag_propose(ps->ctx, diag, parse_span(ps, item.lo, behind_word(ps, item.lo)), "rules are put together in a $", "strategy");
        else
            diag_help(ps->ctx, diag, STRATEGY_IN_HEADER);
    }
    return GIVE_UP;
}

/* `f(a; b)`, `launch [blocks = 128; threads = 256]`, `where n >= 1; m >= 1`. */
static Repair repair_separator(Parser *ps, const Place *place, bool news)
{
    const bool conditions = !ps->has_body && parse_after_where(ps, place);
    if (ps->tok.kind != T_SEMI || ps->strategic || (place->context != IN_BRACKET && !conditions) || !parse_can(ps, T_COMMA))
        return NOT_MINE;
    if (news && place->context != IN_BRACKET) {
        Diag *diag = parse_mistake(ps, E0101, token_span(ps, ps->tok), "expected `,` and a condition, or `=` and the body of %s, found `;`", parse_item_name(ps));
        diag_propose(ps->ctx, diag, token_span(ps, ps->tok), "conditions are separated by $", ",");
    } else if (news) {
        Diag *diag = parse_mistake(ps, E0101, token_span(ps, ps->tok), "expected `,` or %s, found `;`", parse_kind_text(token_closer_of(engine_symbol(ps, place->bracket))));
        diag_propose(ps->ctx, diag, token_span(ps, ps->tok), "between brackets, $ stands between one and the next", ",");
    }
    parse_feed_instead(ps, T_COMMA);
    return GO_ON;
}

/* `fun (x) { e }`. */
static Repair repair_fun_braces(Parser *ps, const Place *place, bool news)
{
    if (ps->tok.kind != T_LBRACE || place->context != IN_FUN || !parse_can(ps, T_DARROW))
        return NOT_MINE;
    Token open = ps->tok;
    Diag *diag = !news ? &ps->spare : parse_mistake(ps, E0105, token_span(ps, open), "the body of a function stands behind `=>`, and not in braces");
    diag_help(ps->ctx, diag, "write `fun x => e`");
    parse_broken(ps);
    bool quiet = ps->quiet;
    ps->quiet = true;
    int depth = 0;
    do {
        depth += ps->tok.kind == T_LBRACE ? 1 : ps->tok.kind == T_RBRACE ? -1 : 0;
        if (depth > 0)
            parse_advance(ps);
    } while (depth > 0 && ps->tok.kind != T_END && !token_starts_item(ps->tok.kind));
    ps->quiet = quiet;
    parse_insert(ps, T_DARROW);
    parse_insert(ps, T_BROKEN);
    if (ps->tok.kind != T_RBRACE)
        return GO_ON;
    diag_edit(ps->ctx, diag, token_span(ps, open), "=>");
    diag_edit(ps->ctx, diag, token_span(ps, ps->tok), "%s", "");
    parse_advance(ps);
    ps->prev.kind = T_RP;
    return GO_ON;
}

/* The first size of an input, `n` of `(xs: n.f32)`. */
static const char *length_of(Parser *ps, const char *name)
{
    for (int i = 0; i < ps->params.n; i++) {
        const Param *p = &ps->params.at[i];
        const Ast *type = p->kind;
        while (type && type->kind == AST_DOT)
            type = type->bin.lhs;
        if (p->name && strcmp(p->name, name) == 0 && type && type != p->kind && type->kind == AST_NAME)
            return type->name.text;
    }
    return "n";
}

/* `xs[1:]`, `xs[:-1]`, `xs[2:5]`. Several of an item are one mistake. */
static Repair repair_slice(Parser *ps, const Place *place, bool news)
{
    if (ps->tok.kind != T_COLON || !ps->has_body || !is_symbol(ps, place->bracket, T_LBRACKET))
        return NOT_MINE;
    uint32_t open = engine_token(ps, place->bracket).lo, close = open + (uint32_t)strcspn(ps->text + open, "]\n"), lo = open;
    while (lo > 0 && is_name_byte(ps->text[lo - 1]))
        lo--;
    size_t plain = open + 1 + strcspn(ps->text + open + 1, "[(,");
    if (lo == open || ps->text[close] != ']' || plain < close || memchr(ps->text + ps->tok.hi, ':', close - ps->tok.hi))
        return NOT_MINE;
    const char *xs = trimmed(ps, lo, open), *from = trimmed(ps, open + 1, ps->tok.lo), *to = trimmed(ps, ps->tok.hi, close);
    if (from[0] == '-')
        return NOT_MINE;
    const char *end = to[0] == '-' ? ctx_printf(ps->ctx, "%s - %s", length_of(ps, xs), to + 1) : to;
    const char *rest = from[0] ? ctx_printf(ps->ctx, "drop(%s, %s)", from, xs) : xs;
    const char *part = !to[0] ? rest : from[0] ? ctx_printf(ps->ctx, "take(%s - %s, %s)", end, from, rest) : ctx_printf(ps->ctx, "take(%s, %s)", end, rest);
    Span whole = parse_span(ps, lo, close + 1);
    if (!ps->slice && news) {
        ps->slice = parse_mistake(ps, E0101, whole, "there are no slices of arrays");
        diag_propose(ps->ctx, ps->slice, whole, "this part of the array is $", "%s", part);
    } else if (ps->slice) {
        diag_note(ps->ctx, ps->slice, whole, "and this one `%s`", part);
        diag_edit(ps->ctx, ps->slice, whole, "%s", part);
    }
    return SKIP;
}

/* `...;` at the end of an item. */
static Repair repair_last_semicolon(Parser *ps, const Place *place, bool news)
{
    (void)place;
    if (ps->tok.kind != T_SEMI || ps->strategic || !parse_can(ps, T_END))
        return NOT_MINE;
    Token sign = ps->tok;
    parse_advance(ps);
    if (ps->tok.kind == T_END || token_starts_item(ps->tok.kind)) {
        if (news)
            diag_propose(ps->ctx, parse_mistake(ps, E0112, token_span(ps, sign), "nothing ends with `;`"), token_span(ps, sign), "leave it out", "%s", "");
        ps->prev = sign;
        ps->prev.kind = T_RP;
        return GO_ON;
    }
    if (news) {
        Diag *diag = parse_mistake(ps, E0112, token_span(ps, sign), "`;` belongs to a strategy, and %s is none", parse_item_name(ps));
        diag_note(ps->ctx, diag, NO_SPAN, "steps are chained with `|>` or `>>`, and values are named with `let x = e in`");
    }
    parse_broken(ps);
    return SKIP;
}

/* `(x as f32)`: names, until the bracket closes. */
static Repair repair_as(Parser *ps, const Place *place, bool news)
{
    if (ps->tok.kind != T_RP || !ps->has_body || ps->prev.kind != T_NAME || !is_symbol(ps, place->bracket, T_LP))
        return NOT_MINE;
    uint32_t lo = behind_blanks(ps, engine_token(ps, place->bracket).hi), name = behind_word(ps, lo), as = behind_blanks(ps, name);
    if (name == lo || strncmp(ps->text + as, "as ", 3) != 0 || behind_blanks(ps, as + 2) != ps->prev.lo)
        return NOT_MINE;
    if (news) {
        const Foreign *type = parse_foreign(ps, ps->prev, FOREIGN_TYPE);
        Diag *diag = parse_mistake(ps, E0120, parse_span(ps, as, as + 2), "`as` is not part of the language");
        diag_propose(ps->ctx, diag, parse_span(ps, lo, ps->prev.hi), "a value is converted by $", "cast(%s)(%.*s)", type && type->instead ? type->instead : ps->prev.name,
                     (int)(name - lo), ps->text + lo);
    }
    parse_broken(ps);
    return SKIP;
}

/* `unit = 0`. */
static Repair repair_unit_sign(Parser *ps, const Place *place, bool news)
{
    (void)place;
    if (ps->tok.kind != T_EQ || ps->has_body || ps->prev.kind != T_UNIT)
        return NOT_MINE;
    const Token unit = ps->prev;
    if (news)
        diag_propose(ps->ctx, parse_mistake(ps, E0101, token_span(ps, ps->tok), "the unit stands without a `=`"), token_span(ps, ps->tok), "leave it out", "%s", "");
    parse_advance(ps);
    ps->prev = unit;
    return GO_ON;
}

/* `operator f (a: t) (b: t): t = unit e, associative` and then the body. */
static Repair repair_late_unit(Parser *ps, const Place *place, bool news)
{
    (void)place;
    uint32_t at = ps->body_eq.hi;
    while (ps->has_body && strchr(" \n\t\r", ps->text[at]) && ps->text[at])
        at++;
    if (ps->item->kind != ITEM_OPERATOR || !ps->has_body || ps->item->unit || strncmp(ps->text + at, "unit", 4) != 0 || is_name_byte(ps->text[at + 4]))
        return NOT_MINE;
    if (news) {
        Diag *diag = parse_mistake(ps, E0101, parse_span(ps, at, at + 4), "`unit` and the laws stand in the header, before the `=`");
        diag_help(ps->ctx, diag, "move the `=` behind them: `: t unit e, associative = ...`");
    }
    ps->header_broken = true;
    return GIVE_UP;
}

Repair parse_repair_moved(Parser *ps, const Place *place, bool news)
{
    static Repair (*const repairs[])(Parser *, const Place *, bool) = {
        repair_operator_name, repair_as, repair_late_unit, repair_unit_sign, repair_clause, repair_early_body, repair_expect, repair_second_for, repair_launch, repair_at, repair_strategy, repair_separator, repair_slice, repair_fun_braces, repair_last_semicolon,
    };
    for (size_t i = 0; i < sizeof repairs / sizeof *repairs; i++) {
        Repair repair = repairs[i](ps, place, news);
        if (repair != NOT_MINE)
            return repair;
    }
    return NOT_MINE;
}
