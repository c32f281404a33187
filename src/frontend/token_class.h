/* A source as the list of its words, each with what it is to a reader: what editors colour, and
 * what `risec --emit=tokens` prints. Any text has one, also one that does not parse. */
#ifndef RISEC_FRONTEND_TOKEN_CLASS_H
#define RISEC_FRONTEND_TOKEN_CLASS_H

#include "support/context.h"

#define TOKEN_CLASSES(C) \
    C(COMMENT, "comment") /* `--` to the end of the line */ \
    C(DOC, "doc")         /* `--|` at the start of a line */ \
    C(KEYWORD, "keyword") /* `def`, `let`, and words such as `unit` where they mean something */ \
    C(NAME, "name")       /* the user's and the library's */ \
    C(PRIMITIVE, "primitive") /* `map`, `split` */ \
    C(TYPE, "type")           /* `f32`, `idx`, `nat`, `num` */ \
    C(CONSTANT, "constant")   /* `true`, `inf` */ \
    C(FUNCTION, "function")   /* of sizes and the like: `ceilDiv`, `numSM`, `halving`, `toMem` */ \
    C(NUMBER, "number") \
    C(TEXT, "text") \
    C(OPERATOR, "operator") \
    C(BRACKET, "bracket") \
    C(SEPARATOR, "separator") /* `,` `;` `:` `.` */

typedef enum TokenClass {
#define C(id, name) TOKEN_##id,
    TOKEN_CLASSES(C)
#undef C
    TOKEN_CLASS_COUNT
} TokenClass;

const char *token_class_name(TokenClass c);
TokenClass token_class_of_name(const char *name); /* of what the lexer calls a name */

typedef struct ClassedToken {
    uint32_t lo, hi;
    TokenClass token_class;
    int kind;         /* of the lexer (frontend/parse_internal.h); 0: a comment */
    const char *name; /* interned, of what may be a name; else NULL */
} ClassedToken;

typedef struct ClassedTokens {
    VEC(ClassedToken) list;
} ClassedTokens;

/* Says nothing of mistakes. */
void class_tokens(Ctx *ctx, uint32_t file, ClassedTokens *out);
/* The words of each class that is made of words, as an object of JSON: what grammars of editors are
 * made of. */
void token_words_json(StrBuf *out);
/* A line for each: where it is, its class, its text. */
void class_tokens_print(Ctx *ctx, StrBuf *out, uint32_t file);

#endif
