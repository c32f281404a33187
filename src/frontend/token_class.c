#include "frontend/token_class.h"

#include "frontend/elab_internal.h"
#include "frontend/parse_internal.h"

const char *token_class_name(TokenClass c)
{
    static const char *const names[] = {
#define C(id, name) name,
        TOKEN_CLASSES(C)
#undef C
    };
    return names[c];
}

TokenClass token_class_of_name(const char *name)
{
    if (prim_find(name) != P_COUNT)
        return TOKEN_PRIMITIVE;
    switch (builtin_find(name)) {
    case BUILTIN_KIND:
    case BUILTIN_SCALAR:
    case BUILTIN_TYPE:
        return TOKEN_TYPE;
    case BUILTIN_CONST:
    case BUILTIN_BOOL:
        return TOKEN_CONSTANT;
    case BUILTIN_NATFN:
    case BUILTIN_DEVICE:
    case BUILTIN_HALVING:
    case BUILTIN_TOMEM:
        return TOKEN_FUNCTION;
    case BUILTIN_NONE:
        break;
    }
    return TOKEN_NAME;
}

static TokenClass class_of(int kind, const char *name)
{
    switch (kind) {
    case T_NAME:
        return name ? token_class_of_name(name) : TOKEN_NAME;
    case T_INT:
    case T_FLOAT:
        return TOKEN_NUMBER;
    case T_STRING:
        return TOKEN_TEXT;
    case T_LP:
    case T_RP:
    case T_LBRACKET:
    case T_RBRACKET:
    case T_LBRACE:
    case T_RBRACE:
        return TOKEN_BRACKET;
    case T_COMMA:
    case T_SEMI:
    case T_COLON:
    case T_DOT:
        return TOKEN_SEPARATOR;
    case T_UNDERSCORE:
        return TOKEN_NAME;
    default:
        break;
    }
    if ((kind >= T_DEF && kind <= T_NOT) || (kind >= T_UNIT && kind <= T_COMMUTATIVE))
        return TOKEN_KEYWORD;
    return TOKEN_OPERATOR;
}

/* Those that a text can name: operators have other names. */
static bool is_word(const char *name)
{
    return (name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z');
}

static const char *const texts[] = {"", /* T_END */
#define T(name, text) text,
                                    PARSE_TOKENS(T)
#undef T
};

/* Of a keyword, which stands in backquotes; 0: it is none. */
static size_t keyword_length(int kind)
{
    size_t n = strlen(texts[kind]);
    return class_of(kind, NULL) == TOKEN_KEYWORD && n > 2 ? n - 2 : 0;
}

static bool is_keyword(const char *name)
{
    for (int kind = 1; kind < T_COUNT; kind++)
        if (keyword_length(kind) == strlen(name) &&
            strncmp(texts[kind] + 1, name, strlen(name)) == 0)
            return true;
    return false;
}

static void put_words(StrBuf *out, TokenClass wanted)
{
    const char *between = "";
    sb_printf(out, "\"%s\": [", token_class_name(wanted));
    for (int kind = 1; wanted == TOKEN_KEYWORD && kind < T_COUNT; kind++) {
        if (keyword_length(kind) == 0)
            continue;
        sb_printf(out, "%s\"%.*s\"", between, (int)keyword_length(kind), texts[kind] + 1);
        between = ", ";
    }
    for (int id = 0; id < P_COUNT; id++) {
        const char *name = prim_name((PrimId)id);
        if (wanted != TOKEN_PRIMITIVE || !is_word(name) || is_keyword(name))
            continue;
        sb_printf(out, "%s\"%s\"", between, prim_name((PrimId)id));
        between = ", ";
    }
    for (const char *const *word = builtin_names(); *word; word++) {
        if (token_class_of_name(*word) != wanted)
            continue;
        sb_printf(out, "%s\"%s\"", between, *word);
        between = ", ";
    }
    sb_puts(out, "]");
}

void token_words_json(StrBuf *out)
{
    static const TokenClass classes[] = {TOKEN_KEYWORD, TOKEN_PRIMITIVE, TOKEN_TYPE, TOKEN_CONSTANT,
                                         TOKEN_FUNCTION};
    sb_puts(out, "{");
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        sb_puts(out, i ? ",\n " : "");
        put_words(out, classes[i]);
    }
    sb_puts(out, "}\n");
}

/* The comments of a gap between two tokens. */
static void add_comments(Ctx *ctx, const char *text, uint32_t lo, uint32_t hi, ClassedTokens *out)
{
    for (uint32_t at = lo; at + 1 < hi; at++) {
        if (text[at] != '-' || text[at + 1] != '-')
            continue;
        uint32_t end = at;
        while (end < hi && text[end] != '\n' && text[end] != '\r')
            end++;
        uint32_t line = at;
        while (line > 0 && (text[line - 1] == ' ' || text[line - 1] == '\t'))
            line--;
        bool first = line == 0 || text[line - 1] == '\n';
        bool doc = first && end - at > 2 && text[at + 2] == '|' &&
                   (end - at == 3 || text[at + 3] != '>');
        vec_push(ctx, &out->list,
                 ((ClassedToken){at, end, doc ? TOKEN_DOC : TOKEN_COMMENT, 0, NULL}));
        at = end;
    }
}

void class_tokens(Ctx *ctx, uint32_t file, ClassedTokens *out)
{
    const Source *source = source_get(ctx, file);
    const Diags said = ctx->diags;
    Parser ps = {.ctx = ctx, .file = file, .text = source->text};
    ps.lex.text = ps.lex.cursor = (const unsigned char *)source->text;
    ps.lex.end = ps.lex.text + source->size;
    ctx->diags = (Diags){0};
    lex_start(&ps);
    uint32_t gap = (uint32_t)(ps.lex.cursor - ps.lex.text);
    for (;;) {
        Token token = lex_next(&ps);
        uint32_t lo = token.kind == T_END ? (uint32_t)source->size : token.lo;
        add_comments(ctx, source->text, gap, lo, out);
        if (token.kind == T_END)
            break;
        TokenClass c = class_of(token.kind, token.name);
        vec_push(ctx, &out->list, ((ClassedToken){token.lo, token.hi, c, token.kind, token.name}));
        gap = token.hi;
    }
    ctx->diags = said;
}

void class_tokens_print(Ctx *ctx, StrBuf *out, uint32_t file)
{
    const Source *source = source_get(ctx, file);
    ClassedTokens tokens = {0};
    class_tokens(ctx, file, &tokens);
    for (int i = 0; i < tokens.list.n; i++) {
        const ClassedToken *t = &tokens.list.at[i];
        int line, column;
        source_position(ctx, (Span){file, t->lo, t->hi}, &line, &column);
        sb_printf(out, "%d:%d %s ", line, column, token_class_name(t->token_class));
        sb_putn(out, source->text + t->lo, t->hi - t->lo);
        sb_putc(out, '\n');
    }
}
