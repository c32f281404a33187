/* Tokens in words, and the words of other languages that a text has. */
#include "frontend/parse_mistakes.h"

enum {
    MISTAKES = 20,     /* reported of one item */
    ASK_STEPS = 2000,  /* reductions looked through when asking what might stand here: enough for every tree within its limit */
    WORD_SHOWN = 30,
    FAR = 2000         /* bytes before a mistake, in which the statement that it belongs to is looked for */
};

bool parse_can(Parser *ps, int kind) { return engine_accepts(ps, kind, ASK_STEPS); }

const char *parse_kind_text(int kind)
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
        return parse_kind_text(T_END);
    if (token_starts_item(token.kind))
        return ctx_printf(ps->ctx, "%s, which starts the next item", parse_kind_text(token.kind));
    int size = (int)(token.hi - token.lo), shown = size > WORD_SHOWN ? WORD_SHOWN : size;
    while (shown > 0 && shown < size && ((unsigned char)ps->text[token.lo + (uint32_t)shown] & 0xc0) == 0x80)
        shown--;
    return ctx_printf(ps->ctx, "`%.*s%s`", shown, ps->text + token.lo, shown < size ? "..." : "");
}

const char *parse_source_of(Parser *ps, Token token)
{
    int size = (int)(token.hi - token.lo);
    return size > WORD_SHOWN ? "x" : ctx_printf(ps->ctx, "%.*s", size, ps->text + token.lo);
}

Diag *parse_mistake(Parser *ps, DiagCode code, Span span, const char *fmt, ...)
{
    ps->fed = 0;
    /* A header has one mistake: what follows it is most likely meant in another language as well. */
    bool same = ps->quiet || (ps->header_broken && !ps->has_body);
    if (same || ++ps->mistakes > MISTAKES) {
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

bool is_name_byte(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

bool token_starts_operand(int kind)
{
    switch (kind) {
    case T_NAME: case T_INT: case T_FLOAT: case T_STRING: case T_UNDERSCORE: case T_FUN: case T_LET: case T_IF: case T_UNROLL: case T_NOT:
        return true;
    default: return kind >= T_UNIT && kind <= T_COMMUTATIVE;
    }
}

bool token_is_operator(int kind) { return (kind >= T_PIPE && kind <= T_POW) || kind == T_AND || kind == T_OR; }
bool token_is_comparison(int kind) { return kind >= T_EQEQ && kind <= T_GE; }
bool token_is_closer(int kind) { return kind == T_RP || kind == T_RBRACKET || kind == T_RBRACE; }
bool token_is_opener(int kind) { return kind == T_LP || kind == T_LBRACKET || kind == T_LBRACE; }
int token_closer_of(int opener) { return opener + 1; }
bool token_is_word(int kind) { return (kind >= T_DEF && kind <= T_NOT); }
bool parse_adjacent(Parser *ps) { return ps->prev.hi == ps->tok.lo; }

const char *parse_item_name(Parser *ps)
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
Span parse_gap_or_token(Parser *ps)
{
    if (ps->prev.hi && (ps->tok.kind == T_END || token_starts_item(ps->tok.kind)))
        return parse_span(ps, ps->prev.hi, ps->prev.hi);
    return token_span(ps, ps->tok);
}

/* ---- words of other languages ----------------------------------------------------------------------------------------- */

const Foreign *parse_foreign(Parser *ps, Token token, ForeignPlace place)
{
    return foreign_find(ps->text + token.lo, token.hi - token.lo, place);
}

/* Where the word begins that ends at this byte. */
static uint32_t word_start(const char *text, uint32_t at)
{
    while (at > 0 && is_name_byte(text[at - 1]))
        at--;
    return at;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static uint32_t blanks_before(const char *text, uint32_t at)
{
    while (at > 0 && is_blank(text[at - 1]))
        at--;
    return at;
}

static uint32_t blanks_after(const char *text, uint32_t at)
{
    while (is_blank(text[at]))
        at++;
    return at;
}

static bool is_one_of(const char *word, uint32_t size, const char *const *words)
{
    for (; *words; words++)
        if (strlen(*words) == size && memcmp(*words, word, size) == 0)
            return true;
    return false;
}

/* Whether the file gives this name a meaning of its own. */
static bool is_declared(Parser *ps, const char *word, uint32_t size)
{
    static const char *const declares[] = {"def", "entry", "operator", "let", "fun", "strategy", NULL};
    for (const char *at = ps->text; (at = strstr(at, word)); at += size) {
        uint32_t lo = (uint32_t)(at - ps->text), before = blanks_before(ps->text, lo), start = word_start(ps->text, before);
        if (is_name_byte(at[size]) || (lo > 0 && is_name_byte(at[-1])))
            continue;
        if (ps->text[blanks_after(ps->text, lo + size)] == ':' || (before < lo && is_one_of(ps->text + start, before - start, declares)))
            return true;
    }
    return false;
}

bool parse_is_type_word(Parser *ps, Token token)
{
    return token.name && (parse_is_scalar(token.name) || parse_foreign(ps, token, FOREIGN_TYPE));
}

const Foreign *parse_foreign_callee(Parser *ps, uint32_t bracket, Span *span)
{
    uint32_t lo = word_start(ps->text, bracket), size = bracket - lo;
    const Foreign *foreign = size ? foreign_find(ps->text + lo, size, FOREIGN_VALUE) : NULL;
    if (!foreign || is_declared(ps, foreign->word, size))
        return NULL;
    *span = parse_span(ps, lo, bracket);
    return foreign;
}

/* The byte behind the parenthesis that closes the one at `at`, or `end`. */
static uint32_t behind_parens(const char *text, uint32_t at, uint32_t end)
{
    int open = 0;
    for (; at < end; at++) {
        open += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
        if (open == 0)
            return at + 1;
    }
    return end;
}

/* Whether what begins here is read as one more operand: `w x`, `w {`. */
static bool operand_at(const char *text, uint32_t at)
{
    static const char *const joins[] = {"in", "then", "else", "and", "or", "at", NULL};
    uint32_t end = at;
    while (is_name_byte(text[end]))
        end++;
    return text[at] == '{' || text[at] == '"' || (end > at && !is_one_of(text + at, end - at, joins));
}

/* A statement goes on behind its word as no expression does: `for i`, `while (x < 3) {`. Inside its parentheses anything may be wrong. */
static bool reaches(Parser *ps, uint32_t behind)
{
    uint32_t next = blanks_after(ps->text, behind), end = ps->tok.lo;
    if (ps->text[next] != '(')
        return next == end && operand_at(ps->text, next);
    uint32_t closed = behind_parens(ps->text, next, end);
    return closed == end || operand_at(ps->text, blanks_after(ps->text, closed));
}

const Foreign *parse_foreign_statement(Parser *ps, Span *span)
{
    static const char *const opens[] = {"in", "then", "else", "and", "or", "not", NULL};
    uint32_t at = ps->body_eq.hi, end;
    if (ps->tok.lo - at > FAR)
        for (at = ps->tok.lo - FAR; is_name_byte(ps->text[at]);)
            at++;
    for (; ps->has_body && at <= ps->tok.lo && ps->text[at]; at = end) {
        if (ps->text[at] == '-' && ps->text[at + 1] == '-') {
            end = at + (uint32_t)strcspn(ps->text + at, "\n");
            continue;
        }
        for (end = at; is_name_byte(ps->text[end]);)
            end++;
        uint32_t before = blanks_before(ps->text, at), start = word_start(ps->text, before);
        bool begins = start == before ? !strchr(".)]}", ps->text[before - 1]) : before < at && is_one_of(ps->text + start, before - start, opens);
        const Foreign *foreign = end > at && begins ? foreign_find(ps->text + at, end - at, FOREIGN_STATEMENT) : NULL;
        if (foreign && reaches(ps, end) && !is_declared(ps, foreign->word, end - at)) {
            *span = parse_span(ps, at, end);
            return foreign;
        }
        end += end == at;
    }
    return NULL;
}

/* `lambda x: e`: its body, too, stands behind another sign. */
static void edit_body_sign(Parser *ps, Diag *diag, uint32_t at)
{
    bool inside = false;
    for (; is_name_byte(ps->text[at]) || strchr(" ,()", ps->text[at] ? ps->text[at] : '$'); at++)
        if (ps->text[at] == '(')
            inside = true; /* a tuple keeps its commas */
        else if (ps->text[at] == ',' && !inside)
            diag_edit(ps->ctx, diag, parse_span(ps, at, at + 1), "%s", "");
    uint32_t end = at + (ps->text[at] == '-' && ps->text[at + 1] == '>' ? 2 : strchr(":.", ps->text[at] ? ps->text[at] : '$') ? 1 : 0);
    if (end > at)
        diag_edit(ps->ctx, diag, parse_span(ps, at, end), is_blank(ps->text[at - 1]) ? "=>" : " =>");
}

void parse_report_foreign(Parser *ps, Span span, const Foreign *foreign)
{
    const char *word = ctx_printf(ps->ctx, "`%.*s`", (int)(span.hi - span.lo), ps->text + span.lo);
    if (foreign->place == FOREIGN_VALUE && parse_report_method(ps, span, foreign))
        return;
    Diag *diag = foreign->place == FOREIGN_VALUE       ? parse_mistake(ps, E0120, span, "nothing is called %s here", word)
                 : foreign->place == FOREIGN_STATEMENT ? parse_mistake(ps, E0120, span, "no expression starts with %s", word)
                                                       : parse_mistake(ps, E0120, span, "%s is not part of the language", word);
    foreign_hint(ps->ctx, diag, span, foreign);
    if (foreign->place == FOREIGN_STATEMENT && foreign->instead && foreign->instead[0])
        edit_body_sign(ps, diag, span.hi);
}
