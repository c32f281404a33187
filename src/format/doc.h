/* A small algebra of layouts, after Wadler and Leijen: a document is a text together with the ways
 * in which it may be broken into lines, and doc_put chooses. Knows nothing of the language;
 * docs/hacking.md, "The formatter", has an overview.
 *
 * A document is laid out flat, on one line, or broken. A group is flat where it fits, with what
 * follows it on the same line; otherwise the lines that belong to it are broken, and the groups in
 * it choose for themselves. Comments go with the token that they belong to: what has one inside is
 * never flat. */
#ifndef RISEC_FORMAT_DOC_H
#define RISEC_FORMAT_DOC_H

#include "support/context.h"

enum {
    DOC_COLUMNS = 100,
    DOC_NEVER = 1 << 20
};

typedef struct Doc Doc;
typedef struct Docs {
    Ctx *ctx;
    VEC(const Doc *) list;
} Docs;

Docs docs_new(Ctx *ctx);
void docs_add(Docs *docs, const Doc *doc);
void docs_text(Docs *docs, const char *text);

/* Nothing at all. */
const Doc *doc_empty(Ctx *ctx);
/* Some bytes of one line. Not copied. */
const Doc *doc_text(Ctx *ctx, const char *text, size_t n);
/* A comment behind a token, and one on a line of its own above it. The text is not copied. */
const Doc *doc_behind(Ctx *ctx, const char *text, size_t n);
const Doc *doc_above(Ctx *ctx, const char *text, size_t n);
/* One after the other. */
const Doc *doc_list(Docs *docs);
const Doc *doc_pair(Ctx *ctx, const Doc *a, const Doc *b);
/* A blank when flat, and the end of a line when broken. doc_cut: nothing when flat. doc_far:
 * nothing, but the end of a line when broken far on the right. */
const Doc *doc_line(Ctx *ctx);
const Doc *doc_break(Ctx *ctx); /* never flat, nor is what holds it */
const Doc *doc_blank(Ctx *ctx); /* always a blank, but before a comment */
const Doc *doc_cut(Ctx *ctx);
const Doc *doc_far(Ctx *ctx);
/* Its lines begin two columns further in than the lines around it; doc_align: where it begins
 * itself. */
const Doc *doc_nest(Ctx *ctx, const Doc *doc);
const Doc *doc_align(Ctx *ctx, const Doc *doc);
const Doc *doc_group(Ctx *ctx, const Doc *doc);
/* Flat, whatever is around it. */
const Doc *doc_flat(Ctx *ctx, const Doc *doc);
/* In a broken group: `a` where its first line fits, else `b`. doc_short: where all lines of `a`
 * fit. Flat it is `a`. */
const Doc *doc_either(Ctx *ctx, const Doc *a, const Doc *b);
const Doc *doc_short(Ctx *ctx, const Doc *a, const Doc *b);
/* The same, marked as one that is better read on lines of its own. So is what holds it. */
const Doc *doc_busy(Ctx *ctx, const Doc *doc);
/* Busy, and marked as one whose first line reads well behind other things: `fun x =>`. What holds
 * it is not. */
const Doc *doc_hanging(Ctx *ctx, const Doc *doc);

/* Columns when flat; DOC_NEVER where it cannot be. */
int doc_width(const Doc *doc);
bool doc_is_busy(const Doc *doc);
bool doc_hangs(const Doc *doc);

/* Laid out from the start of a line on, with the end of its last line. */
void doc_put(StrBuf *out, const Doc *doc);

#endif
