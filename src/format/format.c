#include "format/format.h"

#include <limits.h>

#include "format/lay.h"

typedef struct Formatting {
    Ctx *ctx;
    uint32_t file;
    const TokenTexts *tokens;
    const AstFile *tree;
    StrBuf *out;
} Formatting;

/* ---- comments between items ---------------------------------------------------------------- */

static void put_above(Formatting *f, const TokenText *token)
{
    for (int i = 0; i < token->n_above; i++) {
        const Comment *comment = &token->above[i];
        sb_putn(f->out, f->tokens->text + comment->lo, comment->hi - comment->lo);
        bool last = token->kind == T_END && i + 1 == token->n_above;
        sb_puts(f->out, comment->breaks && !last ? "\n\n" : "\n");
    }
}

/* ---- a whole file -------------------------------------------------------------------------- */

/* The item, without the comments above it. */
static const Doc *item_doc(Formatting *f, Lay *l, const Item *item)
{
    TokenText *token = &f->tokens->at[l->at];
    int n_above = token->n_above;
    token->n_above = 0;
    const Doc *doc = lay_item(l, item);
    token->n_above = n_above;
    return doc;
}

static void format_all(Formatting *f)
{
    Lay l = {f->ctx, f->tokens, 0};
    ItemKind before = ITEM_ERROR;
    bool short_before = false;
    for (int i = 0; i < f->tree->items.n; i++) {
        const Item *item = f->tree->items.at[i];
        const TokenText *token = &f->tokens->at[l.at];
        const Doc *doc = item_doc(f, &l, item);
        bool fits = doc_width(doc) <= DOC_COLUMNS;
        bool together = item->kind == before && fits && short_before && token->n_above == 0;
        if (i > 0 && !together)
            sb_putc(f->out, '\n');
        put_above(f, token);
        doc_put(f->out, doc);
        before = item->kind;
        short_before = fits;
    }
    const TokenText *end = &f->tokens->at[f->tokens->n];
    if (end->n_above && f->tree->items.n)
        sb_putc(f->out, '\n');
    put_above(f, end);
}

/* ---- some lines of it ---------------------------------------------------------------------- */

static int line_of(const Formatting *f, uint32_t at)
{
    int line, column;
    source_position(f->ctx, (Span){f->file, at, at}, &line, &column);
    return line;
}

static uint32_t comment_or_token_end(const TokenText *token)
{
    return token->has_behind ? token->behind.hi : token->hi;
}

/* Each item, from the first comment above it to the one behind it, is formatted or stays. */
static void format_lines(Formatting *f, int first, int last)
{
    Lay l = {f->ctx, f->tokens, 0};
    const char *text = f->tokens->text;
    uint32_t copied = 0;
    for (int i = 0; i < f->tree->items.n; i++) {
        const TokenText *token = &f->tokens->at[l.at];
        uint32_t lo = token->n_above ? token->above[0].lo : token->lo;
        const Doc *doc = item_doc(f, &l, f->tree->items.at[i]);
        uint32_t hi = comment_or_token_end(&f->tokens->at[l.at - 1]);
        if (line_of(f, lo) > last || line_of(f, hi) < first)
            continue;
        uint32_t indent = lo; /* blanks at the start of its first line go */
        while (indent > copied && (text[indent - 1] == ' ' || text[indent - 1] == '\t'))
            indent--;
        sb_putn(f->out, text + copied,
                (indent > copied && text[indent - 1] != '\n' ? lo : indent) - copied);
        put_above(f, token);
        doc_put(f->out, doc);
        f->out->text[--f->out->len] = 0; /* the end of its last line is in the text */
        copied = hi;
        while (text[copied] == ' ' || text[copied] == '\t')
            copied++;
    }
    sb_puts(f->out, text + copied);
}

/* ---- is it the same program? --------------------------------------------------------------- */

typedef struct Compared {
    const TokenTexts *tokens;
    const StrBuf *out;
    bool same;
} Compared;

static bool same_bytes(const char *a, uint32_t a_lo, uint32_t a_hi, const char *b, uint32_t b_lo,
                       uint32_t b_hi)
{
    return a_hi - a_lo == b_hi - b_lo && memcmp(a + a_lo, b + b_lo, a_hi - a_lo) == 0;
}

static bool same_comments(const char *a_text, const TokenText *a, const char *b_text,
                          const TokenText *b)
{
    if (a->n_above != b->n_above || a->has_behind != b->has_behind)
        return false;
    for (int i = 0; i < a->n_above; i++)
        if (!same_bytes(a_text, a->above[i].lo, a->above[i].hi, b_text, b->above[i].lo,
                        b->above[i].hi))
            return false;
    return !a->has_behind ||
           same_bytes(a_text, a->behind.lo, a->behind.hi, b_text, b->behind.lo, b->behind.hi);
}

static void compare(Ctx *part, void *user)
{
    Compared *c = user;
    const TokenTexts *a = c->tokens,
                     *b = token_texts(part, source_add(part, "", c->out->text, c->out->len));
    bool same = a->n == b->n && part->diags.errors == 0;
    for (int i = 0; same && i <= a->n; i++)
        same = a->at[i].kind == b->at[i].kind &&
               same_comments(a->text, &a->at[i], b->text, &b->at[i]) &&
               same_bytes(a->text, a->at[i].lo, a->at[i].hi, b->text, b->at[i].lo, b->at[i].hi);
    c->same = same;
    part->diags = (Diags){0};
}

FormatStatus format_source(Ctx *ctx, uint32_t file, int first, int last, StrBuf *out)
{
    const Diags before = ctx->diags;
    ctx->diags = (Diags){0};
    const AstFile *tree = parse_file(ctx, file);
    if (ctx->diags.errors)
        return FORMAT_MISTAKE;
    ctx->diags = before;
    const TokenTexts *tokens = token_texts(ctx, file);
    Formatting f = {ctx, file, tokens, tree, out};
    if (first <= 1 && last == INT_MAX)
        format_all(&f);
    else
        format_lines(&f, first, last);
    Compared compared = {tokens, out, false};
    ctx_do_inside(ctx, compare, &compared);
    return compared.same ? FORMAT_GOOD : FORMAT_BUG;
}
