/* Documents for tokens, expressions and items. Not for anyone but src/format.
 *
 * The tokens are gone through from the first to the last, each once; the tree says where what
 * begins and ends. So nothing is lost that the tree does not hold: parentheses that are not needed,
 * the order of clauses, the way a number is written. */
#ifndef RISEC_FORMAT_LAY_H
#define RISEC_FORMAT_LAY_H

#include "format/doc.h"
#include "frontend/ast.h"
#include "frontend/token.h"

typedef struct Parts {
    VEC(const Ast *) list;
} Parts;

typedef struct Lay {
    Ctx *ctx;
    const TokenTexts *tokens;
    int at; /* the next token */
} Lay;

/* ---- tokens: lay_token.c ------------------------------------------------------------------- */

TokenKind lay_kind(const Lay *l);
/* The number of the token that begins at this byte, or of the next one. */
int lay_token_at(const Lay *l, uint32_t byte);
/* The number of the first token behind a span. */
int lay_behind(const Lay *l, Span span);
/* The next token, with its comments. */
const Doc *lay_token(Lay *l);
/* Whether a blank stands between tokens `i - 1` and `i`, where no operator is one of them. */
bool lay_blank(const Lay *l, int i);
/* The expression of `parts`, which are in order, that begins with this token; or NULL. */
const Ast *lay_part_at(const Lay *l, const Parts *parts, int token);
/* The tokens before token `end`, and in between the expressions of `parts`, which are in order. A
 * line may end behind a comma. */
const Doc *lay_mixed(Lay *l, int end, const Parts *parts);

/* ---- expressions: lay_expr.c --------------------------------------------------------------- */

const Doc *lay_expr(Lay *l, const Ast *ast);
/* Adds the types in a pattern. */
void lay_pattern_parts(Lay *l, Parts *parts, const Pattern *pattern);

/* ---- items: lay_item.c --------------------------------------------------------------------- */

const Doc *lay_item(Lay *l, const Item *item);

#endif
