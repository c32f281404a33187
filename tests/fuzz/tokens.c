#include "tokens.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ir/sample.h"

const char *const operators[OPERATORS] = {"+", "-", "*", "/", "%", "^", "==", "!=", "<", "<=", ">", ">="};

static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool is_operator(const char *text, size_t size)
{
    for (int i = 0; i < OPERATORS; i++)
        if (strlen(operators[i]) == size && memcmp(operators[i], text, size) == 0)
            return true;
    return false;
}

static Token next_token(const Text *t, size_t at)
{
    char c = t->at[at];
    size_t end = at + 1;
    if (in_name(c)) {
        while (end < t->size && in_name(t->at[end]))
            end++;
        return (Token){at, end, isdigit((unsigned char)c) ? TOKEN_NUMBER : TOKEN_NAME};
    }
    if (c == '"') {
        while (end < t->size && t->at[end] != '"' && t->at[end] != '\n')
            end++;
        return (Token){at, end < t->size ? end + 1 : end, TOKEN_OTHER};
    }
    if (strchr("([{", c))
        return (Token){at, end, TOKEN_OPEN};
    if (strchr(")]}", c))
        return (Token){at, end, TOKEN_CLOSE};
    if (end < t->size && (strchr("=>.|&*", t->at[end]) && strchr("=<>!-|.&*", c)))
        end++;
    return (Token){at, end, is_operator(t->at + at, end - at) ? TOKEN_OPERATOR : TOKEN_OTHER};
}

Tokens tokens_of(const Text *t)
{
    Tokens found = {malloc((t->size + 1) * sizeof *found.at), 0};
    for (size_t at = 0; at < t->size;) {
        if (isspace((unsigned char)t->at[at])) {
            at++;
        } else if (t->at[at] == '-' && at + 1 < t->size && t->at[at + 1] == '-') {
            while (at < t->size && t->at[at] != '\n')
                at++;
        } else {
            Token token = next_token(t, at);
            found.at[found.n++] = token;
            at = token.hi;
        }
    }
    return found;
}

int below(uint64_t *state, int n) { return n > 0 ? (int)(sample_random(state) % (uint64_t)n) : 0; }

int some_token(const Tokens *tokens, TokenKind kind, uint64_t *state)
{
    int start = below(state, tokens->n);
    for (int k = 0; k < tokens->n; k++) {
        int i = (start + k) % tokens->n;
        if (tokens->at[i].kind == kind)
            return i;
    }
    return -1;
}

int closing_token(const Tokens *tokens, int i)
{
    for (int depth = 0; i < tokens->n; i++) {
        depth += tokens->at[i].kind == TOKEN_OPEN;
        depth -= tokens->at[i].kind == TOKEN_CLOSE;
        if (depth == 0)
            return i;
    }
    return -1;
}

bool is_text(const Text *t, Token token, const char *word)
{
    return strlen(word) == token.hi - token.lo && memcmp(t->at + token.lo, word, token.hi - token.lo) == 0;
}
