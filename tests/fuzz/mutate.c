#include "mutate.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/prim.h"
#include "ir/sample.h"
#include "tokens.h"

static const char *const types[] = {"bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"};
static const char *const numbers[] = {"0", "1", "2", "3", "4", "5", "8", "16", "31", "32", "33", "64", "100", "128", "256", "1000", "1024", "65536", "2147483647", "2147483648", "4294967296", "9223372036854775807"};
/* Where something ends. */
static const char *const limits[] = {"0", "1", "1073741824", "2147483647", "2147483648", "4294967295",
                                     "4294967296", "9223372036854775807"};
/* Of a size n. */
static const char *const sizes[] = {"(%s + 1)", "(%s - 1)", "(2 * %s)", "(%s / 2)", "ceilDiv(%s, 2)", "(%s %% 4)", "(%s * 32)", "(%s ^ 2)"};
#define COUNT(table) ((int)(sizeof(table) / sizeof(table)[0]))

/* ---- places ---------------------------------------------------------------------------------------------------------------------- */

/* From a `|>` to where its stage ends: at the next one of its depth, or where its group does. */
static bool some_stage(const Text *t, const Tokens *tokens, uint64_t *state, int *first, int *end)
{
    int start = below(state, tokens->n);
    for (int k = 0; k < tokens->n; k++) {
        int i = (start + k) % tokens->n, depth = 0;
        if (!is_text(t, tokens->at[i], "|>"))
            continue;
        for (*first = i++; i < tokens->n; i++) {
            Token token = tokens->at[i];
            depth += token.kind == TOKEN_OPEN;
            depth -= token.kind == TOKEN_CLOSE;
            if (depth < 0 || (depth == 0 && (is_text(t, token, "|>") || is_text(t, token, ",") || is_text(t, token, "entry") || is_text(t, token, "def"))))
                break;
        }
        *end = i;
        return true;
    }
    return false;
}

static size_t end_of(const Tokens *tokens, int end) { return tokens->at[end - 1].hi; }

/* ---- changes --------------------------------------------------------------------------------------------------------------------- */

/* The text with `size` bytes of `with` instead of [lo, hi). */
static Text spliced(const Text *t, size_t lo, size_t hi, const char *with, size_t size)
{
    Text out = {malloc(t->size - (hi - lo) + size + 1), t->size - (hi - lo) + size};
    memcpy(out.at, t->at, lo);
    memcpy(out.at + lo, with, size);
    memcpy(out.at + lo + size, t->at + hi, t->size - hi);
    out.at[out.size] = 0;
    return out;
}

static Text token_becomes(const Text *t, Token token, const char *word) { return spliced(t, token.lo, token.hi, word, strlen(word)); }

static Text copied(const Text *t) { return spliced(t, 0, 0, "", 0); }

/* All tokens that are as this one, and where it is a type the ends of numbers. Then the program is
 * still well typed, most of the time. */
static Text all_become(const Text *t, const Tokens *tokens, Token as, const char *to)
{
    Text out = copied(t);
    size_t size = as.hi - as.lo;
    for (int i = tokens->n - 1; i >= 0; i--) {
        Token token = tokens->at[i];
        if (as.kind == TOKEN_NAME && token.kind == TOKEN_NUMBER && token.hi - token.lo > size)
            token.lo = token.hi - size;
        if (token.hi - token.lo == size && memcmp(t->at + token.lo, t->at + as.lo, size) == 0) {
            Text next = token_becomes(&out, token, to);
            free(out.at);
            out = next;
        }
    }
    return out;
}

/* [a.lo, a.hi) and [b.lo, b.hi) change places; a is before b. */
static Text exchanged(const Text *t, Token a, Token b)
{
    Text right = spliced(t, b.lo, b.hi, t->at + a.lo, a.hi - a.lo), both = spliced(&right, a.lo, a.hi, t->at + b.lo, b.hi - b.lo);
    free(right.at);
    return both;
}

static Text change_number(const Text *t, const Tokens *tokens, uint64_t *state)
{
    int i = some_token(tokens, TOKEN_NUMBER, state);
    if (i < 0)
        return copied(t);
    Token token = tokens->at[i];
    while (token.hi > token.lo + 1 && !isdigit((unsigned char)t->at[token.hi - 1])) /* a suffix that is all letters stays */
        token.hi--;
    char near[32];
    unsigned long value = strtoul(t->at + token.lo, NULL, 10);
    snprintf(near, sizeof near, "%lu", below(state, 2) ? value + 1 : value > 0 ? value - 1 : 2);
    return token_becomes(t, token, below(state, 3) == 0 ? near : numbers[below(state, COUNT(numbers))]);
}

static Text change_name(const Text *t, const Tokens *tokens, uint64_t *state)
{
    int i = some_token(tokens, TOKEN_NAME, state), k = some_token(tokens, TOKEN_NAME, state);
    if (i < 0)
        return copied(t);
    Token to = tokens->at[k];
    return spliced(t, tokens->at[i].lo, tokens->at[i].hi, t->at + to.lo, to.hi - to.lo);
}

/* A primitive becomes another one. */
static Text change_primitive(const Text *t, const Tokens *tokens, uint64_t *state)
{
    for (int tries = 0; tries < 50; tries++) {
        int i = some_token(tokens, TOKEN_NAME, state);
        for (int id = 0; i >= 0 && id < P_COUNT; id++)
            if (is_text(t, tokens->at[i], prim_name((PrimId)id)))
                return token_becomes(t, tokens->at[i], prim_name((PrimId)below(state, P_COUNT)));
    }
    return copied(t);
}

static Text change_type(const Text *t, const Tokens *tokens, uint64_t *state)
{
    const char *to = types[below(state, COUNT(types))];
    int start = below(state, tokens->n);
    for (int k = 0; k < tokens->n; k++) {
        Token token = tokens->at[(start + k) % tokens->n];
        for (int j = 0; token.kind == TOKEN_NAME && j < COUNT(types); j++)
            if (is_text(t, token, types[j])) {
                if (below(state, 2))
                    return token_becomes(t, token, to);
                return all_become(t, tokens, token, to);
            }
    }
    return copied(t);
}

static Text change_operator(const Text *t, const Tokens *tokens, uint64_t *state)
{
    int i = some_token(tokens, TOKEN_OPERATOR, state);
    return i < 0 ? copied(t) : token_becomes(t, tokens->at[i], operators[below(state, OPERATORS)]);
}

static Text change_size(const Text *t, const Tokens *tokens, uint64_t *state)
{
    int i = some_token(tokens, below(state, 3) ? TOKEN_NAME : TOKEN_NUMBER, state);
    char name[100], with[200];
    if (i < 0 || tokens->at[i].hi - tokens->at[i].lo >= sizeof name)
        return copied(t);
    snprintf(name, sizeof name, "%.*s", (int)(tokens->at[i].hi - tokens->at[i].lo), t->at + tokens->at[i].lo);
    snprintf(with, sizeof with, sizes[below(state, COUNT(sizes))], name);
    return token_becomes(t, tokens->at[i], with);
}

static Text change_stage(const Text *t, const Tokens *tokens, uint64_t *state)
{
    int a, a_end, b, b_end;
    if (!some_stage(t, tokens, state, &a, &a_end) || !some_stage(t, tokens, state, &b, &b_end))
        return copied(t);
    Token from = {tokens->at[a].lo, end_of(tokens, a_end), TOKEN_OTHER}, to = {tokens->at[b].lo, end_of(tokens, b_end), TOKEN_OTHER};
    switch (below(state, 4)) {
    case 0: return spliced(t, from.lo, from.hi, "", 0);
    case 1: return spliced(t, from.hi, from.hi, t->at + from.lo, from.hi - from.lo);
    case 2: return spliced(t, to.hi, to.hi, t->at + from.lo, from.hi - from.lo);
    default: return from.hi <= to.lo ? exchanged(t, from, to) : to.hi <= from.lo ? exchanged(t, to, from) : copied(t);
    }
}

/* A group in brackets becomes another one, of this program or of another. */
static Text change_group(const Text *t, const Tokens *tokens, const Text *other, uint64_t *state)
{
    const Text *source = below(state, 2) ? t : other;
    Tokens theirs = tokens_of(source);
    int a = some_token(tokens, TOKEN_OPEN, state), b = some_token(&theirs, TOKEN_OPEN, state);
    int a_end = a < 0 ? -1 : closing_token(tokens, a), b_end = b < 0 ? -1 : closing_token(&theirs, b);
    Text out;
    if (a_end < 0 || b_end < 0)
        out = copied(t);
    else
        out = spliced(t, tokens->at[a].lo, tokens->at[a_end].hi, source->at + theirs.at[b].lo, theirs.at[b_end].hi - theirs.at[b].lo);
    free(theirs.at);
    return out;
}

static Text change_token(const Text *t, const Tokens *tokens, uint64_t *state)
{
    int i = below(state, tokens->n);
    Token token = tokens->at[i];
    switch (below(state, 3)) {
    case 0: return spliced(t, token.lo, token.hi, "", 0);
    case 1: return spliced(t, token.hi, token.hi, t->at + token.lo, token.hi - token.lo);
    default: return i + 1 < tokens->n ? exchanged(t, token, tokens->at[i + 1]) : copied(t);
    }
}

static Text change_once(const Text *t, const Text *other, uint64_t *state)
{
    Tokens tokens = tokens_of(t);
    int how = below(state, 100);
    Text out = tokens.n == 0 ? copied(t)
             : how < 24      ? change_number(t, &tokens, state)
             : how < 40      ? change_type(t, &tokens, state)
             : how < 54      ? change_operator(t, &tokens, state)
             : how < 64      ? change_primitive(t, &tokens, state)
             : how < 74      ? change_size(t, &tokens, state)
             : how < 86      ? change_stage(t, &tokens, state)
             : how < 92      ? change_name(t, &tokens, state)
             : how < 97      ? change_group(t, &tokens, other, state)
                             : change_token(t, &tokens, state);
    free(tokens.at);
    return out;
}

typedef enum WordKind { WORD_TYPE, WORD_NUMBER, WORD_OPERATOR, WORD_PRIMITIVE, WORD_KINDS } WordKind;

static bool is_word(const Text *t, Token token, WordKind kind)
{
    if (kind == WORD_NUMBER || kind == WORD_OPERATOR)
        return token.kind == (kind == WORD_NUMBER ? TOKEN_NUMBER : TOKEN_OPERATOR);
    int n = kind == WORD_TYPE ? COUNT(types) : P_COUNT;
    for (int i = 0; token.kind == TOKEN_NAME && i < n; i++)
        if (is_text(t, token, kind == WORD_TYPE ? types[i] : prim_name((PrimId)i)))
            return true;
    return false;
}

static const char *some_word(WordKind kind, uint64_t *state)
{
    switch (kind) {
    case WORD_TYPE: return types[below(state, COUNT(types))];
    case WORD_NUMBER:
        return below(state, 2) ? limits[below(state, COUNT(limits))] : numbers[below(state, COUNT(numbers))];
    case WORD_OPERATOR: return operators[below(state, OPERATORS)];
    default: return prim_name((PrimId)below(state, P_COUNT));
    }
}

/* A kind first: there are more primitives than types in a program, and more numbers than sizes. */
Text exchange_all(const Text *program, uint64_t seed)
{
    uint64_t state = seed;
    Tokens tokens = tokens_of(program);
    WordKind kind = (WordKind)below(&state, WORD_KINDS);
    int start = below(&state, tokens.n), k = 0;
    while (k < tokens.n && !is_word(program, tokens.at[(start + k) % tokens.n], kind))
        k++;
    Text out;
    if (k < tokens.n)
        out = all_become(program, &tokens, tokens.at[(start + k) % tokens.n], some_word(kind, &state));
    else
        out = copied(program);
    free(tokens.at);
    return out;
}

Text number_at_limit(const Text *program, uint64_t seed)
{
    uint64_t state = seed;
    Tokens tokens = tokens_of(program);
    int i = some_token(&tokens, TOKEN_NUMBER, &state);
    Text out = i < 0 ? copied(program)
                     : token_becomes(program, tokens.at[i], limits[below(&state, COUNT(limits))]);
    free(tokens.at);
    return out;
}

Text mutate(const Text *program, const Text *other, uint64_t seed)
{
    uint64_t state = seed;
    int changes = 1 + (below(&state, 3) == 0) + (below(&state, 9) == 0);
    Text out = copied(program);
    for (int k = 0; k < changes; k++) {
        Text next = change_once(&out, other, &state);
        free(out.at);
        out = next;
    }
    return out;
}
