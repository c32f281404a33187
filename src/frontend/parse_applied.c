/* Functions that are applied as in Haskell and ML: `f x y`, `reduce (+) 0`; and casts of C. */
#include "frontend/parse_mistakes.h"
#include "ir/prim.h"

enum { CALL_SHOWN = 120 /* bytes of a call that is written anew */ };

/* ---- what stands beside a name -------------------------------------------------------------------------------------------------- */

static uint32_t behind_bracket(const char *text, uint32_t at)
{
    int open = 0;
    for (; text[at] && text[at] != '\n'; at++) {
        open += (text[at] == '(' || text[at] == '[' || text[at] == '{') - (text[at] == ')' || text[at] == ']' || text[at] == '}');
        if (open == 0)
            return at + 1;
    }
    return at;
}

/* The bracket that the one at `at` closes, on its line; `at` itself: none. */
static uint32_t opened_at(const char *text, uint32_t at)
{
    int open = 0;
    for (uint32_t i = at;; i--) {
        open += (text[i] == ')') - (text[i] == '(');
        if (open == 0)
            return i;
        if (i == 0 || text[i] == '\n')
            return at;
    }
}

static bool is_word_of_language(const char *text, uint32_t n)
{
    static const char *const words[] = {"in", "then", "else", "if", "and", "or", "not", "let", "fun", "at", "where", "unroll"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && strncmp(words[i], text, n) == 0)
            return true;
    return false;
}

/* Behind one operand of those that stand beside each other; `at` itself: none begins here. */
static uint32_t behind_operand(const char *text, uint32_t at)
{
    uint32_t end = at;
    while (is_name_byte(text[end]) || (text[end] == '.' && end > at && is_name_byte(text[end + 1])))
        end++;
    if (end > at && is_word_of_language(text + at, end - at))
        return at;
    while (text[end] == '(' || (end > at && text[end] == '['))
        end = behind_bracket(text, end);
    return end;
}

/* Where the name begins that stands before this byte on its line, maybe apart; the byte itself: none does. */
static uint32_t callee_before(const char *text, uint32_t at)
{
    uint32_t end = at, start;
    while (end > 0 && text[end - 1] == ' ')
        end--;
    for (start = end; start > 0 && is_name_byte(text[start - 1]);)
        start--;
    bool name = start < end && (text[start] < '0' || text[start] > '9') && !is_word_of_language(text + start, end - start);
    return name ? start : at;
}

static uint32_t put_call(StrBuf *sb, const char *text, uint32_t name, int *n);

/* `(x + 1)` is an argument without its parentheses, and `(f x)` one that is a call; `(+)` and `(a, b)` keep theirs. */
static void put_argument(StrBuf *sb, const char *text, uint32_t lo, uint32_t hi)
{
    bool strip = hi - lo <= CALL_SHOWN && text[lo] == '(' && text[hi - 1] == ')' && behind_bracket(text, lo) == hi && (is_name_byte(text[lo + 1]) || text[lo + 1] == '(');
    int open = 0;
    for (uint32_t at = lo; at < hi && strip; at++) {
        open += (text[at] == '(' || text[at] == '[') - (text[at] == ')' || text[at] == ']');
        strip = !(text[at] == ',' && open == 1);
    }
    StrBuf call;
    sb_init(&call, sb->ctx);
    int n = 0;
    if (strip && callee_before(text, lo + 1 + (uint32_t)strcspn(text + lo + 1, " ()")) == lo + 1 && put_call(&call, text, lo + 1, &n) == hi - 1 && n)
        sb_puts(sb, call.text);
    else
        sb_putn(sb, text + lo + strip, hi - lo - 2 * (uint32_t)strip);
}

/* The call that is meant by a name and the operands beside it on the line: n of them. The byte behind. */
static uint32_t put_call(StrBuf *sb, const char *text, uint32_t name, int *n)
{
    uint32_t at = name;
    while (is_name_byte(text[at]))
        at++;
    sb_putn(sb, text + name, at - name);
    sb_putc(sb, '(');
    *n = 0;
    uint32_t end = behind_bracket(text, at);
    if (text[at] == '(' && at > name && text[end - 1] == ')') {
        sb_putn(sb, text + at + 1, end - at - 2);
        at = end;
        ++*n;
    }
    for (;; ++*n) {
        uint32_t lo = at, hi;
        while (text[lo] == ' ')
            lo++;
        hi = behind_operand(text, lo);
        if (hi == lo)
            break;
        sb_puts(sb, *n ? ", " : "");
        put_argument(sb, text, lo, hi);
        at = hi;
    }
    sb_putc(sb, ')');
    return at;
}

/* `f (g x) y`: where g's call is an argument, the call of f is written anew, too. */
static bool propose_call(Parser *ps, Diag *diag, uint32_t name)
{
    const char *text = ps->text;
    uint32_t outer = name > 0 && text[name - 1] == '(' ? callee_before(text, name - 1) : name;
    if (outer + 1 < name && propose_call(ps, diag, outer))
        diag_or_else(ps->ctx, diag);
    StrBuf sb;
    sb_init(&sb, ps->ctx);
    int n;
    uint32_t end = put_call(&sb, text, name, &n);
    if (!n || end == name || end - name > CALL_SHOWN)
        return false;
    diag_propose(ps->ctx, diag, parse_span(ps, name, end), n > 1 ? "all arguments stand in one pair of parentheses, with commas between them: $" : "functions are applied with parentheses: $", "%s", sb.text);
    return true;
}

/* At the sign of `reduce (+) 0`. */
static bool is_operator_applied(Parser *ps)
{
    return ps->has_body && ps->prev.kind == T_LP && token_is_operator(ps->tok.kind) && ps->text[ps->tok.hi] == ')' && callee_before(ps->text, ps->prev.lo) < ps->prev.lo;
}

/* ---- repairs ------------------------------------------------------------------------------------------------------------------------ */

/* `(float) x`. */
static bool propose_cast(Parser *ps, Diag *diag, bool operand)
{
    if (ps->prev.kind != T_RP)
        return false;
    uint32_t hi = ps->prev.lo, lo = hi;
    while (lo > 0 && is_name_byte(ps->text[lo - 1]))
        lo--;
    if (lo == 0 || lo == hi || ps->text[lo - 1] != '(')
        return false;
    const Foreign *foreign = foreign_find(ps->text + lo, hi - lo, FOREIGN_TYPE);
    const char *type = foreign && foreign->instead ? foreign->instead : ctx_printf(ps->ctx, "%.*s", (int)(hi - lo), ps->text + lo);
    if (!(foreign && foreign->instead) && !parse_is_scalar(type))
        return false;
    diag_propose(ps->ctx, diag, operand ? parse_span(ps, lo - 1, ps->tok.hi) : NO_SPAN, "a value is converted by $", "cast(%s)(%s)", type, operand ? parse_source_of(ps, ps->tok) : "...");
    return true;
}

/* `xs map(f)`: the pipe is missing. */
static void propose_pipe(Parser *ps, Diag *diag)
{
    uint32_t name = ps->tok.lo, lo = ps->prev.kind == T_RP ? callee_before(ps->text, opened_at(ps->text, ps->prev.lo)) : ps->prev.lo;
    uint32_t end = behind_operand(ps->text, name);
    if (ps->tok.kind != T_NAME || ps->text[ps->tok.hi] != '(' || end - lo > CALL_SHOWN)
        return;
    const char *last = ctx_printf(ps->ctx, "%.*s", (int)(ps->prev.hi - lo), ps->text + lo);
    const char *call = ctx_printf(ps->ctx, "%.*s", (int)(end - name), ps->text + name), *callee = parse_source_of(ps, ps->tok);
    diag_help(ps->ctx, diag, "a `|>` is missing in front of `%s`: write `%s |> %s`", callee, last, call);
    diag_edit(ps->ctx, diag, parse_span(ps, name, name), "|> ");
}

/* `reduce((+) 0)`: in the brackets of a call, a comma is missing. */
static bool propose_comma(Parser *ps, Diag *diag, const Place *place)
{
    uint32_t lo = ps->prev.lo, end = behind_operand(ps->text, ps->tok.lo);
    if (place->context != IN_BRACKET || !ps->has_body || engine_symbol(ps, place->bracket) != T_LP)
        return false;
    if (ps->prev.kind == T_RP)
        lo = callee_before(ps->text, opened_at(ps->text, lo));
    if (end == ps->tok.lo || end - lo > CALL_SHOWN)
        return false;
    diag_help(ps->ctx, diag, "arguments are separated by commas: `%.*s, %.*s`", (int)(ps->prev.hi - lo), ps->text + lo,
              (int)(end - ps->tok.lo), ps->text + ps->tok.lo);
    diag_edit(ps->ctx, diag, parse_span(ps, ps->prev.hi, ps->prev.hi), ",");
    return true;
}

/* Operands that stand beside each other: a call without its parentheses, or a sign is missing between them. */
static bool propose_sign(Parser *ps, Diag *diag, const Place *place)
{
    if (!ps->has_body || (ps->prev.kind != T_NAME && ps->prev.kind != T_RP && ps->prev.kind != T_INT && ps->prev.kind != T_FLOAT))
        return false;
    bool closed = ps->prev.kind == T_RP, called = ps->prev.kind == T_NAME || closed, pattern = false;
    uint32_t opened = closed ? opened_at(ps->text, ps->prev.lo) : ps->tok.lo, name = callee_before(ps->text, opened);
    if (ps->tok.kind == T_NAME) {
        PrimId prim = prim_find(parse_source_of(ps, ps->tok));
        pattern = prim != P_COUNT && prim_rows[prim].level != LEVEL_SCALAR;
        propose_pipe(ps, diag);
        if (pattern && diag->help && ps->prev.kind != T_INT)
            return true;
        diag_or_else(ps->ctx, diag);
    }
    bool call = called && name < opened && propose_call(ps, diag, name);
    if (call)
        diag_or_else(ps->ctx, diag);
    return propose_comma(ps, diag, place) || (call && propose_call(ps, diag, name));
}

/* `every mapToSeq`: which of the places is said behind `at`. */
static bool propose_place(Parser *ps, Diag *diag)
{
    const char *before = parse_source_of(ps, ps->prev);
    for (int i = PICK_FIRST; ps->tok.kind == T_NAME && i < PICK_COUNT; i++)
        if (strcmp(before, place_picks[i]) == 0) {
            diag_help(ps->ctx, diag, "`%s` is said of a place, which stands behind `at`: `%s at %s map`", before, parse_source_of(ps, ps->tok), before);
            return true;
        }
    return false;
}

Repair parse_repair_applied(Parser *ps, const Place *place, bool news)
{
    int kind = ps->tok.kind;
    if (is_operator_applied(ps)) {
        if (news) {
            uint32_t name = callee_before(ps->text, ps->prev.lo);
            Diag *diag = parse_mistake(ps, E0102, parse_span(ps, ps->prev.lo, ps->tok.hi + 1), "`(%s)` stands beside the function, and not in its parentheses", parse_source_of(ps, ps->tok));
            propose_call(ps, diag, name);
        }
        parse_broken(ps);
        return SKIP;
    }
    if (!token_starts_operand(kind) || !token_ends_operand(ps->prev.kind) || ps->prev.kind == T_STRING || place->context == IN_LET_PATTERN ||
        place->context == IN_FUN || (!ps->has_body && (place->context == IN_ITEM || parse_can(ps, T_EQ))) || ps->item->kind == ITEM_IMPORT)
        return NOT_MINE;
    if (ps->has_body && kind == T_NAME && (ps->prev.kind == T_NAME || ps->prev.kind == T_RP) && parse_parameters_ahead(ps)) {
        if (news)
            parse_report_no_fun(ps);
        parse_broken(ps);
        return SKIP;
    }
    if (news) {
        bool operand = kind == T_NAME || kind == T_INT || kind == T_FLOAT;
        Diag *diag = parse_mistake(ps, E0102, token_span(ps, ps->tok), "expected an operator, found %s", parse_token_text(ps, ps->tok));
        const char *fn = parse_source_of(ps, ps->prev), *arg = operand ? parse_source_of(ps, ps->tok) : ctx_printf(ps->ctx, "%s ...", parse_source_of(ps, ps->tok));
        if (ps->strategic && propose_place(ps, diag))
            ;
        else if (kind == T_IF)
            diag_help(ps->ctx, diag, "write `if c then a else b`");
        else if (kind == T_LET)
            diag_help(ps->ctx, diag, "a `let` stands before what uses it: `let y = e in ...`");
        else if (propose_cast(ps, diag, operand))
            ;
        else if (propose_sign(ps, diag, place))
            ;
        else if (!ps->has_body && operand && parse_is_type_word(ps, ps->prev) && parse_is_type_word(ps, ps->tok))
            diag_propose(ps->ctx, diag, span_join(token_span(ps, ps->prev), token_span(ps, ps->tok)), "the components of a tuple are separated by commas: $", "%s, %s", fn, arg);
        else if (ps->prev.kind == T_NAME && operand)
            diag_propose(ps->ctx, diag, span_join(token_span(ps, ps->prev), token_span(ps, ps->tok)), "functions are applied with parentheses: $", "%s(%s)", fn, arg);
        else if (ps->prev.kind == T_NAME)
            diag_help(ps->ctx, diag, "functions are applied with parentheses: `%s(%s)`", fn, arg);
        else if (place->context == IN_BRACKET && (ps->prev.kind == T_INT || ps->prev.kind == T_FLOAT))
            diag_propose(ps->ctx, diag, parse_span(ps, ps->prev.lo, ps->tok.hi), "arguments are separated by commas: $", "%s, %s", fn, operand ? arg : parse_source_of(ps, ps->tok));
        else if (ps->prev.kind == T_RP)
            diag_help(ps->ctx, diag, "all arguments stand in one pair of parentheses, after commas: `f(a, %s)`", arg);
    }
    parse_broken(ps);
    if (kind != T_NAME && kind != T_INT && kind != T_FLOAT && !(kind >= T_UNIT && kind <= T_COMMUTATIVE))
        return SKIP;
    parse_advance(ps);
    return GO_ON;
}
