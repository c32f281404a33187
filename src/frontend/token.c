/* A source as the list of its tokens. What stands between tokens is blanks and comments only. */
#include "frontend/parse_internal.h"

typedef VEC(Comment) Comments;
typedef VEC(TokenText) Texts;

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static Comment comment_at(const char *text, uint32_t lo, uint32_t end)
{
    uint32_t hi = lo;
    while (hi < end && text[hi] != '\n' && text[hi] != '\r')
        hi++;
    uint32_t stop = hi;
    while (stop > lo && is_blank(text[stop - 1]))
        stop--;
    int lines = 0;
    for (; hi < end && is_blank(text[hi]); hi++)
        lines += text[hi] == '\n';
    return (Comment){lo, stop, lines > 1};
}

/* The comments in a gap. The first belongs to the token before the gap, if it begins on that
 * token's line. */
static void read_gap(Ctx *ctx, const char *text, uint32_t lo, uint32_t hi, TokenText *before,
                     TokenText *next)
{
    Comments above = {0};
    bool new_line = !before;
    for (uint32_t at = lo; at < hi; at++) {
        new_line |= text[at] == '\n';
        if (text[at] != '-' || at + 1 >= hi || text[at + 1] != '-')
            continue;
        Comment comment = comment_at(text, at, hi);
        if (new_line) {
            vec_push(ctx, &above, comment);
        } else {
            before->has_behind = true;
            before->behind = comment;
        }
        new_line = true;
        at = comment.hi - 1;
    }
    next->n_above = above.n;
    next->above = above.at;
}

static void match_brackets(Ctx *ctx, Texts *texts)
{
    VEC(int) open = {0};
    for (int i = 0; i < texts->n; i++) {
        TokenText *token = &texts->at[i];
        token->mate = -1;
        switch ((int)token->kind) {
        case T_LP:
        case T_LBRACKET:
        case T_LBRACE: vec_push(ctx, &open, i); break;
        case T_RP:
        case T_RBRACKET:
        case T_RBRACE:
            if (open.n == 0)
                break;
            token->mate = open.at[--open.n];
            texts->at[token->mate].mate = i;
            break;
        }
    }
}

TokenTexts *token_texts(Ctx *ctx, uint32_t file)
{
    const Source *source = source_get(ctx, file);
    Parser ps = {.ctx = ctx, .file = file, .text = source->text};
    ps.lex.text = ps.lex.cursor = (const unsigned char *)source->text;
    ps.lex.end = ps.lex.text + source->size;
    lex_start(&ps);
    uint32_t gap = (uint32_t)(ps.lex.cursor - ps.lex.text);
    Texts texts = {0};
    for (Token token = {.kind = T_NAME}; token.kind != T_END;) {
        token = lex_next(&ps);
        TokenText text = {.lo = token.lo, .hi = token.hi, .kind = (TokenKind)token.kind};
        if (token.kind == T_END)
            text.lo = text.hi = (uint32_t)source->size;
        read_gap(ctx, source->text, gap, text.lo, texts.n ? &texts.at[texts.n - 1] : NULL, &text);
        vec_push(ctx, &texts, text);
        gap = text.hi;
    }
    match_brackets(ctx, &texts);
    TokenTexts *out = NEW(ctx, TokenTexts);
    *out = (TokenTexts){source->text, texts.n - 1, texts.at};
    return out;
}
