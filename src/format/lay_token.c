/* Tokens as documents. */
#include "format/lay.h"

TokenKind lay_kind(const Lay *l) { return l->tokens->at[l->at].kind; }

int lay_token_at(const Lay *l, uint32_t byte)
{
    int lo = 0, hi = l->tokens->n;
    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;
        if (l->tokens->at[middle].lo < byte)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

int lay_behind(const Lay *l, Span span) { return lay_token_at(l, span.hi); }

const Doc *lay_token(Lay *l)
{
    const TokenText *token = &l->tokens->at[l->at++];
    const char *text = l->tokens->text;
    const Doc *doc = doc_text(l->ctx, text + token->lo, token->hi - token->lo);
    if (!token->n_above && !token->has_behind)
        return doc;
    Docs docs = docs_new(l->ctx);
    for (int i = 0; i < token->n_above; i++)
        docs_add(&docs, doc_above(l->ctx, text + token->above[i].lo,
                                  token->above[i].hi - token->above[i].lo));
    docs_add(&docs, doc);
    if (token->has_behind)
        docs_add(&docs,
                 doc_behind(l->ctx, text + token->behind.lo, token->behind.hi - token->behind.lo));
    return doc_list(&docs);
}

static bool opens(TokenKind kind) { return kind == T_LP || kind == T_LBRACKET || kind == T_LBRACE; }
static bool closes(TokenKind kind)
{
    return kind == T_RP || kind == T_RBRACKET || kind == T_RBRACE;
}

bool lay_blank(const Lay *l, int i)
{
    TokenKind before = l->tokens->at[i - 1].kind, kind = l->tokens->at[i].kind;
    if (opens(before) || closes(kind) || kind == T_COMMA || kind == T_COLON || before == T_HASH ||
        before == T_DOT)
        return false;
    if (kind == T_DOT)
        return false;
    return true;
}

const Ast *lay_part_at(const Lay *l, const Parts *parts, int token)
{
    int lo = 0, hi = parts->list.n;
    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;
        if (parts->list.at[middle]->span.lo < l->tokens->at[token].lo)
            lo = middle + 1;
        else
            hi = middle;
    }
    bool there = lo < parts->list.n && parts->list.at[lo]->span.lo == l->tokens->at[token].lo;
    return there ? parts->list.at[lo] : NULL;
}

const Doc *lay_mixed(Lay *l, int end, const Parts *parts)
{
    Docs all = docs_new(l->ctx),
         group = docs_new(l->ctx); /* what stands between commas is a group */
    int first = l->at;
    while (l->at < end) {
        if (l->at > first && l->tokens->at[l->at - 1].kind == T_COMMA) {
            docs_add(&all, doc_group(l->ctx, doc_list(&group)));
            group = docs_new(l->ctx);
            docs_add(&group, doc_line(l->ctx));
        } else if (l->at > first && lay_blank(l, l->at)) {
            docs_add(&group, doc_blank(l->ctx));
        }
        const Ast *part = lay_part_at(l, parts, l->at);
        docs_add(&group, part ? lay_expr(l, part) : lay_token(l));
    }
    docs_add(&all, doc_group(l->ctx, doc_list(&group)));
    return doc_list(&all);
}
