/* The tokens of a program, and some of them at random. */
#ifndef RISEC_TESTS_TOKENS_H
#define RISEC_TESTS_TOKENS_H

#include "mutate.h"

typedef enum TokenKind {
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_OPERATOR,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_OTHER
} TokenKind;

typedef struct Token {
    size_t lo, hi;
    TokenKind kind;
} Token;

typedef struct Tokens {
    Token *at;
    int n;
} Tokens;

enum { OPERATORS = 12 };
extern const char *const operators[OPERATORS];

/* Without blanks and comments. The caller frees what `at` points to. */
Tokens tokens_of(const Text *t);
bool is_text(const Text *t, Token token, const char *word);
/* The token that closes the group which token i opens, or -1. */
int closing_token(const Tokens *tokens, int i);

/* A random number from 0 to n - 1. */
int below(uint64_t *state, int n);
/* A random token of this kind, or -1. */
int some_token(const Tokens *tokens, TokenKind kind, uint64_t *state);

#endif
