/* The lexer: bytes to tokens. Spec: docs/language.md. Generated C goes to the build tree only:
 *     re2c -W --no-generation-date --no-debug-info -o rise_lexer.c rise.re
 *
 * What is wrong with the text itself (a character that is no part of the language, a number that does not fit, another language's
 * comment) is reported here, each mistake once, and a token is given that lets the parser go on as if it had been written right. */
#include <stdio.h>
#include <stdlib.h>

#include "frontend/parse_internal.h"
#include "support/utf8.h"

typedef unsigned char Byte;

static Span span_of(const Parser *ps, const Byte *lo, const Byte *hi)
{
    return (Span){ps->file, (uint32_t)(lo - ps->lex.text), (uint32_t)(hi - ps->lex.text)};
}

static bool is_digit(Byte c) { return c >= '0' && c <= '9'; }
static bool is_word(Byte c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c); }

bool token_ends_operand(int kind)
{
    switch (kind) {
    case T_NAME: case T_INT: case T_FLOAT: case T_STRING: case T_UNDERSCORE: case T_RP: case T_RBRACKET: case T_RBRACE: return true;
    default: return kind >= T_UNIT && kind <= T_COMMUTATIVE;
    }
}

/* ---- documentation comments ----------------------------------------------------------------------------------- */

/* A line `--| text`; lines that follow each other are one block, an empty line between starts another. */
static void doc_line(Parser *ps, const Byte *lo, const Byte *hi)
{
    Lexer *lx = &ps->lex;
    if (!lx->has_doc || lx->doc_breaks > 1)
        sb_init(&lx->doc, ps->ctx);
    else
        sb_putc(&lx->doc, '\n');
    if (lo < hi && *lo == ' ')
        lo++;
    sb_putn(&lx->doc, (const char *)lo, (size_t)(hi - lo));
    lx->has_doc = true;
    lx->doc_breaks = 0;
}

const char *lex_take_doc(Parser *ps)
{
    const char *doc = ps->lex.has_doc ? ps->lex.doc.text : NULL;
    ps->lex.has_doc = false;
    return doc;
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static const char *const int_suffixes[] = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"};
static const char *const float_suffixes[] = {"f16", "bf16", "f32", "f64"};
enum { C_SUFFIXES = 12 };
static const char *const c_suffixes[C_SUFFIXES] = {"f", "F", "l", "L", "ll", "LL", "u", "U", "ul", "UL", "ull", "ULL"};

static bool among(const char *const *list, int n, const Byte *text, size_t size)
{
    for (int i = 0; i < n; i++)
        if (strlen(list[i]) == size && memcmp(list[i], text, size) == 0)
            return true;
    return false;
}

bool lex_int_value(const char *text, size_t n, uint64_t *value, size_t *digits)
{
    uint64_t base = 10, v = 0;
    bool fits = true;
    size_t i = 0;
    if (n > 2 && text[0] == '0' && text[1] == 'x') {
        base = 16;
        i = 2;
    }
    for (; i < n; i++) {
        int c = (unsigned char)text[i], d;
        if (is_digit((Byte)c))
            d = c - '0';
        else if (base == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
            d = (c | 32) - 'a' + 10;
        else
            break;
        fits = fits && !__builtin_mul_overflow(v, base, &v) && !__builtin_add_overflow(v, (uint64_t)d, &v);
    }
    *value = fits ? v : UINT64_MAX;
    *digits = i;
    return fits;
}

/* strtod reads the point that the host program's locale wants, so it is given none: 12.5e3 goes in as 125e2. */
double lex_float_value(Ctx *ctx, const char *text, size_t n, size_t *digits)
{
    char few[80];
    char *plain = n < sizeof few - 24 ? few : ctx_alloc(ctx, n + 24);
    size_t length = 0, i = 0;
    long exponent = 0, places = 0;
    for (; i < n && is_digit((Byte)text[i]); i++)
        plain[length++] = text[i];
    if (i < n && text[i] == '.')
        for (i++; i < n && is_digit((Byte)text[i]); i++, places++)
            plain[length++] = text[i];
    size_t e = i;
    if (e < n && (text[e] == 'e' || text[e] == 'E')) {
        bool negative = ++e < n && text[e] == '-';
        if (e < n && (text[e] == '-' || text[e] == '+'))
            e++;
        size_t first = e;
        for (; e < n && is_digit((Byte)text[e]); e++)
            if (exponent < 100000000)
                exponent = exponent * 10 + (text[e] - '0');
        if (e > first)
            i = e;
        if (negative)
            exponent = -exponent;
    }
    *digits = i;
    snprintf(plain + length, 24, "e%ld", exponent - places);
    return strtod(plain, NULL);
}

typedef enum NumberForm { FORM_DEC, FORM_HEX, FORM_POINT, FORM_EXPONENT } NumberForm;

static void suffix_mistake(Parser *ps, const Byte *start, const Byte *lo, const Byte *hi)
{
    int n = hi - lo > 20 ? 20 : (int)(hi - lo);
    Diag *diag = parse_mistake(ps, E0004, span_of(ps, lo, hi), "`%.*s` is not a suffix of a number", n, (const char *)lo);
    if (*lo == '_')
        diag_help(ps->ctx, diag, "the digits of a number are written together, as in 1000000");
    else if (lo == start + 1 && *start == '0' && (*lo == 'x' || *lo == 'X' || *lo == 'b' || *lo == 'o'))
        diag_help(ps->ctx, diag, "numbers are decimal, or hexadecimal with lower case x, as in 0x1f");
    else if (among(c_suffixes, C_SUFFIXES, lo, (size_t)n))
        diag_propose(ps->ctx, diag, span_of(ps, lo, hi), "a number has the type that its place wants: leave the suffix out, or write one such as f32, i64, u32", "%s", "");
    else if ((*lo == 'e' || *lo == 'E') && n == 1)
        diag_help(ps->ctx, diag, "an exponent has digits, as in 1e6");
    else if (strchr("iufb", *lo) && strpbrk(ctx_printf(ps->ctx, "%.*s", n, (const char *)lo), "0123456789"))
        diag_help(ps->ctx, diag, "suffixes are i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64, as in 7u8 or 1.5f64");
    else
        diag_propose(ps->ctx, diag, span_of(ps, start, hi), "a product has its sign: $", "%.*s * %.*s", (int)(lo - start), (const char *)start, n, (const char *)lo);
}

/* `def 2fast`. */
static bool is_name_wanted(int before) { return before == T_DEF || before == T_ENTRY || before == T_OPERATOR || before == T_RULE || before == T_STRATEGY || before == T_LET || before == T_FUN; }

static int name_mistake(Parser *ps, const Byte *start, const Byte *letter, const Byte *hi)
{
    Diag *diag = parse_mistake(ps, E0004, span_of(ps, start, hi), "a name does not begin with a digit");
    if (hi - start < 20)
        diag_propose(ps->ctx, diag, span_of(ps, start, hi), "a letter is first: $", "%.*s%.*s", (int)(hi - letter), (const char *)letter, (int)(letter - start), (const char *)start);
    return T_NAME;
}

/* The text after a `.` that makes the number before it an integer: `16.16.f32` is an array type and no float. */
static bool continues_dot(const Byte *at) { return *at == '.' && (is_word(at[1]) || at[1] == '('); }

/* [start, end) is the longest number of its form. Gives the token's kind and leaves the cursor behind it. */
static int number(Parser *ps, const Byte *start, const Byte *end, NumberForm form)
{
    Lexer *lx = &ps->lex;
    bool after_dot = lx->last == T_DOT;
    if (form != FORM_HEX && form != FORM_DEC && (after_dot || (form == FORM_POINT && continues_dot(end)))) {
        for (end = start; is_digit(*end);)
            end++;
        form = FORM_DEC;
    }
    const Byte *suffix = end;
    while (is_word(*end))
        end++;
    lx->cursor = end;
    if (end > suffix && *suffix != '_' && is_name_wanted(lx->last))
        return name_mistake(ps, start, suffix, end);
    bool whole = form == FORM_DEC || form == FORM_HEX;
    size_t n_suffix = (size_t)(end - suffix);
    bool is_int_suffix = among(int_suffixes, 8, suffix, n_suffix);
    bool is_float_suffix = among(float_suffixes, 4, suffix, n_suffix);
    if (n_suffix && !is_int_suffix && !is_float_suffix) {
        suffix_mistake(ps, start, suffix, end);
    } else if (is_int_suffix && !whole) {
        Diag *diag = parse_mistake(ps, E0004, span_of(ps, start, end), "a number with a fraction or an exponent cannot be %.*s",
                                   (int)n_suffix, (const char *)suffix);
        diag_help(ps->ctx, diag, "leave out the fraction, or use f16, bf16, f32 or f64");
    }
    size_t size = (size_t)(suffix - start), digits;
    if (whole) {
        uint64_t value;
        if (!lex_int_value((const char *)start, size, &value, &digits) && !is_float_suffix) {
            Diag *diag = parse_mistake(ps, E0005, span_of(ps, start, end), "this number needs more than 64 bits");
            diag_note(ps->ctx, diag, NO_SPAN, ps->has_body ? "the largest integer is 18446744073709551615; a larger float is written with an exponent, as in `1e20`"
                                                             : "no array has that many elements: a size that the caller chooses is a parameter, as in `{n: nat} (xs: n.f32)`");
        }
    } else if (lex_float_value(ps->ctx, (const char *)start, size, &digits) > 1.7976931348623157e308) {
        Diag *diag = parse_mistake(ps, E0006, span_of(ps, start, end), "this number is larger than any f64");
        diag_help(ps->ctx, diag, "infinity is written `inf`");
    }
    if (form != FORM_DEC || after_dot || n_suffix || *end != '.')
        return whole ? T_INT : T_FLOAT;
    /* `5.` before something that no projection or array type goes on with. */
    const Byte *next = end + 1;
    while (*next == ' ' || *next == '\t')
        next++;
    if (is_word(*next) || *next == '(')
        return T_INT;
    Diag *diag = parse_mistake(ps, E0003, span_of(ps, start, end + 1), "a float has digits on both sides of its point");
    diag_help(ps->ctx, diag, "write `%.*s.0`", size > 20 ? 20 : (int)size, (const char *)start);
    lx->cursor = end + 1;
    return T_FLOAT;
}

/* ---- what is no part of the language ------------------------------------------------------------------------------ */

typedef struct Lookalike {
    uint32_t point;
    TokenKind kind; /* taken for this; T_END: as if it were a space */
    const char *help;
} Lookalike;

static const Lookalike lookalikes[] = {
    {0x2192, T_ARROW, "write `->`"},      {0x21d2, T_DARROW, "write `=>`"},     {0x03bb, T_FUN, "write `fun x => e`"},
    {0x00d7, T_STAR, "write `*`"},        {0x00b7, T_STAR, "write `*`"},        {0x22c5, T_STAR, "write `*`"},
    {0x00f7, T_SLASH, "write `/`"},       {0x2212, T_MINUS, "write `-`"},       {0x2013, T_MINUS, "write `-`"},
    {0x2264, T_LE, "write `<=`"},         {0x2265, T_GE, "write `>=`"},         {0x2260, T_NE, "write `!=`"},
    {0x2227, T_AND, "write `and`"},       {0x2228, T_OR, "write `or`"},         {0x00ac, T_NOT, "write `not`"},
    {0x2218, T_COMPOSE, "`f >> g` is first f, then g"},
    {0x201c, T_END, NULL},                {0x201d, T_END, NULL},
    {0x00a0, T_END, "write an ordinary space"}, {0x200b, T_END, "delete it"}, {0x202f, T_END, "write an ordinary space"},
    {0x3000, T_END, "write an ordinary space"}, {0xfeff, T_END, "delete it"},
};

static const Lookalike *lookalike(uint32_t point)
{
    for (size_t i = 0; i < sizeof lookalikes / sizeof *lookalikes; i++)
        if (lookalikes[i].point == point)
            return &lookalikes[i];
    return NULL;
}

static size_t decode(const Parser *ps, const Byte *at, uint32_t *point)
{
    return utf8_decode((const char *)at, (size_t)(ps->lex.end - at), point);
}

static int take_lookalike(Parser *ps, const Byte *at, size_t n, const Lookalike *like)
{
    Lexer *lx = &ps->lex;
    bool quote = like->point == 0x201c || like->point == 0x201d, import = ps->item && ps->item->kind == ITEM_IMPORT;
    bool body = lx->in_fun && like->kind == T_ARROW;
    bool said = (quote && lx->quoted) || (body && lx->foreign_fun);
    if (quote)
        lx->quoted = !lx->quoted;
    if (said)
        return body ? T_DARROW : (int)like->kind;
    Diag *diag;
    if (utf8_printable(like->point) && (like->kind != T_END || quote))
        diag = parse_mistake(ps, E0002, span_of(ps, at, at + n), "the character `%.*s` (U+%04X) is not part of the language", (int)n, (const char *)at, (unsigned)like->point);
    else
        diag = parse_mistake(ps, E0002, span_of(ps, at, at + n), "the invisible character U+%04X is not part of the language", (unsigned)like->point);
    if (quote)
        diag_help(ps->ctx, diag, "%s", import ? "a text stands in plain quotes: \"...\"" : "there are no texts: leave the quotes out");
    else if (body)
        diag_propose(ps->ctx, diag, span_of(ps, at, at + n), "write $", "=>");
    else
        diag_help(ps->ctx, diag, "%s", like->help);
    return body ? T_DARROW : (int)like->kind;
}

/* At a byte of 0x80 or more. [start, at) are the letters of a word before it, if any. Gives the kind to go on with, T_END for none. */
static int foreign(Parser *ps, const Byte *start, const Byte *at)
{
    uint32_t point = 0;
    size_t n = decode(ps, at, &point);
    const Lookalike *like = n ? lookalike(point) : NULL;
    if (like) {
        ps->lex.cursor = at + n;
        return take_lookalike(ps, at, n, like);
    }
    /* The rest of the word goes with it, so that a name in another alphabet is one mistake. */
    const Byte *end = at + (n ? n : 1);
    while (is_word(*end) || *end >= 0x80) {
        uint32_t next = 0;
        size_t step = decode(ps, end, &next);
        if (step && lookalike(next))
            break;
        end += step ? step : 1;
    }
    ps->lex.cursor = end;
    Diag *diag;
    if (!n)
        diag = parse_mistake(ps, E0002, span_of(ps, at, at + 1), "the byte 0x%02X is not part of a UTF-8 character", *at);
    else if (utf8_printable(point))
        diag = parse_mistake(ps, E0002, span_of(ps, at, at + n), "the character `%.*s` (U+%04X) is not part of the language", (int)n,
                             (const char *)at, (unsigned)point);
    else
        diag = parse_mistake(ps, E0002, span_of(ps, at, at + n), "the character U+%04X is not part of the language", (unsigned)point);
    diag_help(ps->ctx, diag, "names are made of the letters a to z and A to Z, digits and `_`; comments may hold any text");
    /* Alone between operands it is more likely a sign than a name. */
    return at > start || end > at + n || (n && point >= 0xc0 && point < 0x2000) ? T_NAME : T_END;
}

static void stray(Parser *ps, const Byte *lo, const Byte *hi)
{
    Diag *diag;
    if (*lo == '?' && ps->told_ternary)
        return;
    if (*lo > 32 && *lo < 127)
        diag = parse_mistake(ps, E0002, span_of(ps, lo, hi), "the character `%c` is not part of the language", *lo);
    else
        diag = parse_mistake(ps, E0002, span_of(ps, lo, hi), "the control character 0x%02X is not part of the language", *lo);
    switch (*lo) {
    case '?': parse_propose_if(ps, diag, (uint32_t)(lo - ps->lex.text)); break;
    case '@':
        if (ps->strategic) {
            diag_propose(ps->ctx, diag, span_of(ps, lo, hi), "a place stands behind $, as in `mapToGlobal at map`", "at");
            break;
        }
        diag_help(ps->ctx, diag, "a product of matrices has no sign: each row of a meets each column of b, as in `a |> map(fun r => b |> transpose |> map(fun c => ...))`"); break;
    case '`': diag_help(ps->ctx, diag, "a function stands before its arguments: `f(a, b)`"); break;
    case '&': diag_help(ps->ctx, diag, "write `and` between bools, `bitAnd(a, b)` between integers"); break;
    case '|': diag_help(ps->ctx, diag, "a pipe is `|>`; between bools write `or`, between integers `bitOr(a, b)`"); break;
    case '~': diag_help(ps->ctx, diag, "for bools write `not`, for integers `bitXor(a, -1)`"); break;
    case '$': diag_help(ps->ctx, diag, "write parentheses: `f(g(x))`, or a pipe: `x |> g |> f`"); break;
    default: break;
    }
}

static void not_an_operator(Parser *ps, const Byte *lo, const Byte *hi, const char *write)
{
    Diag *diag = parse_mistake(ps, E0010, span_of(ps, lo, hi), "`%.*s` is not an operator", (int)(hi - lo), (const char *)lo);
    diag_propose(ps->ctx, diag, span_of(ps, lo, hi), "write $", "%s", write);
}

typedef struct Sign {
    const char *text;
    TokenKind kind;
    bool certain;
    const char *help, *instead;
} Sign;

static const Sign signs[] = {
#define SIGN(text, kind, certain, help, instead) {text, T_##kind, certain, help, instead},
#include "frontend/foreign_signs.def"
#undef SIGN
};

/* The sign of another language that starts here, or NULL. */
static const Sign *sign_at(const Byte *at)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (at[1] == (Byte)signs[i].text[1] && strncmp((const char *)at, signs[i].text, strlen(signs[i].text)) == 0)
            return &signs[i];
    return NULL;
}

static int foreign_sign(Parser *ps, const Byte *lo, const Sign *sign)
{
    const Byte *hi = lo + strlen(sign->text);
    size_t own = ps->own_sign_size, common = own < strlen(sign->text) ? own : strlen(sign->text);
    bool told = ps->own_sign && strncmp(ps->own_sign, sign->text, common) == 0;
    Diag *diag = told ? &ps->spare : parse_mistake(ps, E0010, span_of(ps, lo, hi), "`%s` is not an operator", sign->text);
    if (sign->instead)
        diag_propose(ps->ctx, diag, span_of(ps, lo, hi), sign->help, "%s", sign->instead);
    else
        diag_help(ps->ctx, diag, "%s", sign->help);
    if (!sign->certain && ps->item)
        parse_broken(ps);
    bool whole = told && own > strlen(sign->text) && strncmp((const char *)lo, ps->own_sign, own) == 0;
    ps->lex.cursor = whole ? lo + own : hi;
    return (int)sign->kind;
}

/* Whether what follows `a--` reads as an operand. Two words in a row are prose. */
static bool operand_follows(const Byte *at)
{
    if (*at == '(')
        return true;
    const Byte *end = at;
    while (is_word(*end))
        end++;
    return end > at && !(*end == ' ' && is_word(end[1]));
}

/* `\x -> e` becomes `fun x => e`: the arrow, too, is another one. */
static void edit_body_arrow(Parser *ps, Diag *diag, const Byte *at)
{
    while (is_word(*at) || (*at && strchr(" ,()", *at)))
        at++;
    if (at[0] == '-' && at[1] == '>')
        diag_edit(ps->ctx, diag, span_of(ps, at, at + 2), "=>");
}

/* `|x|`, the parameters of a closure: where their second bar stands, else NULL. */
static const Byte *second_bar(const Lexer *lx, const Byte *at)
{
    const Byte *end = at + 1;
    while (is_word(*end) || (*end && strchr(" ,()&", *end)))
        end++;
    return *end == '|' && end[1] != '>' && end > at + 1 && !token_ends_operand(lx->last) ? end : NULL;
}

/* ---- the tokens --------------------------------------------------------------------------------------------------- */

void lex_start(Parser *ps)
{
    Lexer *lx = &ps->lex;
    /* A byte order mark is what some editors put at the front of UTF-8; it means nothing. */
    if (lx->cursor == lx->text && lx->end - lx->text >= 3 && memcmp(lx->text, "\xef\xbb\xbf", 3) == 0)
        lx->cursor += 3;
    lx->last = T_END;
    lx->last_end = lx->cursor;
}

Token lex_next(Parser *ps)
{
    Lexer *lx = &ps->lex;
    const Byte *start, *cur, *mar;
    bool first = lx->last == T_END && lx->cursor == lx->last_end; /* also behind a byte order mark */
    int kind;
again:
    start = cur = lx->cursor;
    const Sign *sign = *start && strchr("!%&*+-./:<=|", *start) ? sign_at(start) : NULL;
    if (sign) {
        kind = foreign_sign(ps, start, sign);
        cur = lx->cursor;
        goto done;
    }
#define SKIP do { lx->cursor = cur; goto again; } while (0)
#define TOKEN(k) do { kind = (k); goto done; } while (0)
    /*!re2c
    re2c:yyfill:enable = 0;
    re2c:define:YYCTYPE = Byte;
    re2c:define:YYCURSOR = cur;
    re2c:define:YYMARKER = mar;

    digit = [0-9];
    word = [A-Za-z_][A-Za-z0-9_]*;
    line = [^\n\r\x00];
    exponent = [eE][+-]?digit+;

    [ \t\r\f\v]+ { SKIP; }
    "\n" { first = true; lx->doc_breaks++; SKIP; }

    "--" line* {
        if (token_ends_operand(lx->last) && start == lx->last_end) {
            Diag *diag = parse_mistake(ps, E0008, span_of(ps, start, start + 2), "`--` starts a comment, and it stands directly after an operand");
            diag_help(ps->ctx, diag, "to subtract, write a space between the signs: `a - -b`; before a comment, too, write a space");
            if (operand_follows(start + 2)) {
                cur = start + 1;
                TOKEN(T_MINUS);
            }
        } else if (start[2] == '|' && start[3] != '>' && first) {
            doc_line(ps, start + 3, cur);
        }
        SKIP;
    }
    "//" line* {
        Diag *diag = parse_mistake(ps, E0009, span_of(ps, start, start + 2), "`//` is not part of the language");
        if (token_ends_operand(lx->last) && lx->last_end == start - 1 && is_word(start[2 + (start[2] == ' ')]))
            diag_help(ps->ctx, diag, "a comment starts with `--`; numbers are divided by `/`, which drops the remainder of integers");
        else
            diag_propose(ps->ctx, diag, span_of(ps, start, start + 2), "a comment starts with $", "--");
        SKIP;
    }
    "/*" {
        const Byte *close = (const Byte *)strstr((const char *)cur, "*" "/");
        Diag *diag = parse_mistake(ps, E0009, span_of(ps, start, cur), "`/*` is not part of the language");
        diag_help(ps->ctx, diag, "a comment starts with `--` and ends with its line");
        cur = close ? close + 2 : lx->end;
        SKIP;
    }

    "def" { TOKEN(T_DEF); }
    "entry" { TOKEN(T_ENTRY); }
    "operator" { TOKEN(T_OPERATOR); }
    "import" { TOKEN(T_IMPORT); }
    "rule" { TOKEN(T_RULE); }
    "strategy" { TOKEN(T_STRATEGY); }
    "fun" { TOKEN(T_FUN); }
    "let" { TOKEN(T_LET); }
    "in" { TOKEN(T_IN); }
    "if" { TOKEN(T_IF); }
    "then" { TOKEN(T_THEN); }
    "else" { TOKEN(T_ELSE); }
    "where" { TOKEN(T_WHERE); }
    "unroll" { TOKEN(T_UNROLL); }
    "and" { TOKEN(T_AND); }
    "or" { TOKEN(T_OR); }
    "not" { TOKEN(T_NOT); }
    "unit" { TOKEN(T_UNIT); }
    "launch" { TOKEN(T_LAUNCH); }
    "exact" { TOKEN(T_EXACT); }
    "lowered" { TOKEN(T_LOWERED); }
    "by" { TOKEN(T_BY); }
    "within" { TOKEN(T_WITHIN); }
    "expect" { TOKEN(T_EXPECT); }
    "accept" { TOKEN(T_ACCEPT); }
    "for" { TOKEN(T_FOR); }
    "level" { TOKEN(T_LEVEL); }
    "at" { TOKEN(T_AT); }
    "associative" { TOKEN(T_ASSOCIATIVE); }
    "commutative" { TOKEN(T_COMMUTATIVE); }
    "_" { TOKEN(T_UNDERSCORE); }
    word { TOKEN(T_NAME); }
    word [']+ {
        /* As in mathematics and in Haskell. It stays one name, so that it is one mistake. */
        if (!lx->primed) {
            Diag *diag = parse_mistake(ps, E0002, span_of(ps, cur - 1, cur), "the character `'` is not part of the language");
            diag_help(ps->ctx, diag, "a name is made of letters, digits and `_`: write `%.*s_`", (int)strcspn((const char *)start, "'"), (const char *)start);
        }
        lx->primed = true;
        TOKEN(T_NAME);
    }

    "0x" [0-9a-fA-F]+ { kind = number(ps, start, cur, FORM_HEX); cur = lx->cursor; goto done; }
    digit+ { kind = number(ps, start, cur, FORM_DEC); cur = lx->cursor; goto done; }
    digit+ "." digit+ { kind = number(ps, start, cur, FORM_POINT); cur = lx->cursor; goto done; }
    digit+ ("." digit+)? exponent { kind = number(ps, start, cur, FORM_EXPONENT); cur = lx->cursor; goto done; }
    "." digit+ exponent? {
        if (token_ends_operand(lx->last)) {
            cur = start + 1;
            TOKEN(T_DOT);
        }
        Diag *diag = parse_mistake(ps, E0003, span_of(ps, start, cur), "a float has digits on both sides of its point");
        diag_help(ps->ctx, diag, "write `0%.*s`", cur - start > 20 ? 20 : (int)(cur - start), (const char *)start);
        while (is_word(*cur))
            cur++;
        TOKEN(T_FLOAT);
    }

    ["] [^"\n\r\x00]* ["] { TOKEN(T_STRING); }
    ["] [^"\n\r\x00]* {
        Diag *diag = parse_mistake(ps, E0007, span_of(ps, start, cur), "this text has no closing quote");
        diag_help(ps->ctx, diag, "a text ends on the line where it starts: \"other.rise\"");
        TOKEN(T_STRING);
    }

    ['] [^'\n\r\x00]* ['] {
        Diag *diag = parse_mistake(ps, E0002, span_of(ps, start, start + 1), "the character `'` is not part of the language");
        if (ps->item && ps->item->kind == ITEM_IMPORT)
            diag_help(ps->ctx, diag, "the text after `import` stands in double quotes: \"other.rise\"");
        else if (cur - start == 3 && start[1] >= 32 && start[1] < 127)
            diag_propose(ps->ctx, diag, span_of(ps, start, cur), ctx_printf(ps->ctx, "there are no characters: the number of `%c` is $", start[1]), "%d", start[1]);
        else
            diag_help(ps->ctx, diag, "there are no texts and no characters: data are numbers, bools, tuples and arrays of these");
        TOKEN(T_STRING);
    }

    "(" { TOKEN(T_LP); }
    ")" { TOKEN(T_RP); }
    "[" { TOKEN(T_LBRACKET); }
    "]" { TOKEN(T_RBRACKET); }
    "{" { TOKEN(T_LBRACE); }
    "}" { TOKEN(T_RBRACE); }
    "," { TOKEN(T_COMMA); }
    ":" { TOKEN(T_COLON); }
    "." { TOKEN(T_DOT); }
    "=" { TOKEN(T_EQ); }
    "=>" { TOKEN(T_DARROW); }
    "->" { TOKEN(T_ARROW); }
    "|>" { TOKEN(T_PIPE); }
    ">>" { TOKEN(T_COMPOSE); }
    "==" { TOKEN(T_EQEQ); }
    "!=" { TOKEN(T_NE); }
    "<" { TOKEN(T_LT); }
    "<=" { TOKEN(T_LE); }
    ">" { TOKEN(T_GT); }
    ">=" { TOKEN(T_GE); }
    "+" { TOKEN(T_PLUS); }
    "-" { TOKEN(T_MINUS); }
    "*" { TOKEN(T_STAR); }
    "/" { TOKEN(T_SLASH); }
    "%" { TOKEN(T_PERCENT); }
    "^" { TOKEN(T_POW); }
    ";" { TOKEN(T_SEMI); }
    "<+" { TOKEN(T_ORELSE); }
    "#" { TOKEN(T_HASH); }

    "!" { not_an_operator(ps, start, cur, is_word(*cur) ? "not " : "not"); TOKEN(T_NOT); }
    [\\] {
        Diag *diag = parse_mistake(ps, E0011, span_of(ps, start, cur), "a function is not written with `\\`");
        diag_help(ps->ctx, diag, "write `fun x => e`");
        diag_edit(ps->ctx, diag, span_of(ps, start, cur), "fun ");
        edit_body_arrow(ps, diag, cur);
        TOKEN(T_FUN);
    }
    [\x80-\xff] {
        kind = foreign(ps, start, start);
        cur = lx->cursor;
        if (kind == T_END)
            SKIP;
        goto done;
    }
    "\x00" {
        /* parse.c has refused texts with a zero byte inside: this is the end. */
        cur = start;
        TOKEN(T_END);
    }
    "|" {
        if (lx->bars) {
            lx->bars = false;
            TOKEN(T_DARROW);
        }
        if (second_bar(lx, start)) {
            Diag *diag = parse_mistake(ps, E0011, span_of(ps, start, second_bar(lx, start) + 1), "a function is not written with bars");
            const Byte *params = cur + strspn((const char *)cur, "& ");
            diag_help(ps->ctx, diag, "write `fun %.*s => e`", (int)(second_bar(lx, start) - params), (const char *)params);
            lx->bars = true;
            TOKEN(T_FUN);
        }
        stray(ps, start, cur);
        SKIP;
    }
    "&" {
        if (!lx->bars)
            stray(ps, start, cur);
        SKIP;
    }
    * {
        while (*cur == *start)
            cur++;
        stray(ps, start, cur);
        SKIP;
    }
    */
#undef SKIP
#undef TOKEN
done:
    lx->cursor = cur;
    if (*cur >= 0x80 && (kind == T_NAME || kind == T_UNDERSCORE || (kind >= T_DEF && kind <= T_NOT) || (kind >= T_UNIT && kind <= T_COMMUTATIVE))) {
        uint32_t point = 0;
        size_t n = decode(ps, cur, &point);
        if (!(n && lookalike(point))) {
            kind = foreign(ps, start, cur);
            cur = lx->cursor;
        }
    }
    if (kind == T_FUN || kind == T_DARROW || kind == T_ARROW) {
        lx->in_fun = kind == T_FUN;
        lx->foreign_fun = kind == T_FUN && *start != 'f';
    }
    if (kind != T_END && !token_starts_item(kind))
        lx->has_doc = false;
    lx->last = (uint8_t)kind;
    lx->last_end = cur;
    Token token = {.kind = (uint8_t)kind, .first = first};
    token.lo = (uint32_t)(start - lx->text);
    token.hi = (uint32_t)(cur - lx->text);
    if (kind == T_NAME || (kind >= T_UNIT && kind <= T_COMMUTATIVE))
        token.name = intern(ps->ctx, (const char *)start, (size_t)(cur - start));
    return token;
}
