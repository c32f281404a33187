/* The kinds of tokens, and a source as the list of its tokens with the comments between them. */
#ifndef RISEC_FRONTEND_TOKEN_H
#define RISEC_FRONTEND_TOKEN_H

#include "support/context.h"

/* Every terminal of the grammar with its name in messages. The order is the engine's: grammar/rise.y
 * lists the same names in %token and asserts that the numbers agree. Number 0 is the end of an item. */
#define PARSE_TOKENS(T) \
    T(NAME, "a name") \
    T(INT, "a number") \
    T(FLOAT, "a number") \
    T(STRING, "a text in quotes") \
    T(UNDERSCORE, "`_`") \
    T(DEF, "`def`") \
    T(ENTRY, "`entry`") \
    T(OPERATOR, "`operator`") \
    T(IMPORT, "`import`") \
    T(RULE, "`rule`") \
    T(STRATEGY, "`strategy`") \
    T(FUN, "`fun`") \
    T(LET, "`let`") \
    T(IN, "`in`") \
    T(IF, "`if`") \
    T(THEN, "`then`") \
    T(ELSE, "`else`") \
    T(WHERE, "`where`") \
    T(UNROLL, "`unroll`") \
    T(AND, "`and`") \
    T(OR, "`or`") \
    T(NOT, "`not`") \
    T(LP, "`(`") \
    T(RP, "`)`") \
    T(LBRACKET, "`[`") \
    T(RBRACKET, "`]`") \
    T(LBRACE, "`{`") \
    T(RBRACE, "`}`") \
    T(COMMA, "`,`") \
    T(COLON, "`:`") \
    T(DOT, "`.`") \
    T(EQ, "`=`") \
    T(DARROW, "`=>`") \
    T(ARROW, "`->`") \
    T(PIPE, "`|>`") \
    T(COMPOSE, "`>>`") \
    T(EQEQ, "`==`") \
    T(NE, "`!=`") \
    T(LT, "`<`") \
    T(LE, "`<=`") \
    T(GT, "`>`") \
    T(GE, "`>=`") \
    T(PLUS, "`+`") \
    T(MINUS, "`-`") \
    T(STAR, "`*`") \
    T(SLASH, "`/`") \
    T(PERCENT, "`%`") \
    T(POW, "`^`") \
    T(SEMI, "`;`") \
    T(ORELSE, "`<+`") \
    T(HASH, "`#`") \
    T(UNIT, "`unit`")        /* from here: words only where they are expected, else names */ \
    T(LAUNCH, "`launch`") \
    T(EXACT, "`exact`") \
    T(LOWERED, "`lowered`") \
    T(BY, "`by`") \
    T(WITHIN, "`within`") \
    T(EXPECT, "`expect`") \
    T(ACCEPT, "`accept`") \
    T(FOR, "`for`") \
    T(LEVEL, "`level`") \
    T(AT, "`at`") \
    T(ASSOCIATIVE, "`associative`") \
    T(COMMUTATIVE, "`commutative`") \
    T(EQUATION, "`==`")      /* the `==` of a rule, outside brackets */ \
    T(SIGNATURE, "")         /* from here: never in a text. Starts a primitive's header */ \
    T(EXPECTATIONS, "")      /* starts a file of expectations */ \
    T(RESUME, "")            /* starts the body of an item whose header is broken */ \
    T(BROKEN, "")            /* stands for what was skipped after a mistake */

typedef enum TokenKind {
    T_END,
#define T(name, text) T_##name,
    PARSE_TOKENS(T)
#undef T
    T_COUNT
} TokenKind;

/* A comment: the bytes from its `--` to the last one that is no blank. */
typedef struct Comment {
    uint32_t lo, hi;
    bool breaks; /* an empty line follows */
} Comment;

/* A token with its comments: those on lines of their own above it, and the one behind it. */
typedef struct TokenText {
    uint32_t lo, hi;
    TokenKind kind;
    int mate; /* of a bracket: the number of the one that closes or opens it; else -1 */
    int n_above;
    Comment *above;
    bool has_behind;
    Comment behind;
} TokenText;

typedef struct TokenTexts {
    const char *text; /* of the source */
    int n;            /* without the last one, T_END: at[n], which may have comments above it */
    TokenText *at;
} TokenTexts;

/* The tokens of a source that parses without mistakes. */
TokenTexts *token_texts(Ctx *ctx, uint32_t file);

#endif
