#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tokens.h"

static const char *const starts[] = {"import" /* first */, "def", "entry", "operator", "rule", "strategy"};
enum { STARTS = sizeof starts / sizeof starts[0], NAME_BYTES = 100 };

/* Of the words that begin items, those outside of brackets. An item goes to the next one. */
typedef struct Items {
    int *at; /* tokens; at[n] is behind the last one */
    int n;
} Items;

static bool is_start(const Text *t, Token token)
{
    for (int i = 0; i < STARTS; i++)
        if (is_text(t, token, starts[i]))
            return true;
    return false;
}

static Items items_of(const Text *t, const Tokens *tokens)
{
    Items items = {malloc(((size_t)tokens->n + 1) * sizeof *items.at), 0};
    for (int i = 0, depth = 0; i < tokens->n; i++) {
        depth += tokens->at[i].kind == TOKEN_OPEN;
        depth -= tokens->at[i].kind == TOKEN_CLOSE;
        if (depth <= 0 && is_start(t, tokens->at[i]))
            items.at[items.n++] = i;
    }
    items.at[items.n] = tokens->n;
    return items;
}

static Token name_of(const Tokens *tokens, const Items *items, int item)
{
    int i = items->at[item] + 1;
    return i < tokens->n ? tokens->at[i] : (Token){0, 0, TOKEN_OTHER};
}

/* A program with its tokens. */
typedef struct Read {
    const Text *text;
    Tokens tokens;
    Items items;
} Read;

static Read read_of(const Text *t)
{
    Read r = {.text = t, .tokens = tokens_of(t)};
    r.items = items_of(t, &r.tokens);
    return r;
}

static void free_read(Read *r)
{
    free(r->items.at);
    free(r->tokens.at);
}

static bool equal_words(const Read *a, Token x, const Read *b, Token y)
{
    size_t size = x.hi - x.lo;
    return size == y.hi - y.lo && memcmp(a->text->at + x.lo, b->text->at + y.lo, size) == 0;
}

static bool names_item(const Read *r, const Read *of, Token word)
{
    for (int k = 0; k < r->items.n; k++)
        if (equal_words(r, name_of(&r->tokens, &r->items, k), of, word))
            return true;
    return false;
}

static void append(Text *out, const char *bytes, size_t size)
{
    memcpy(out->at + out->size, bytes, size);
    out->size += size;
    out->at[out->size] = 0;
}

/* Items [first, end) of `from`; names of items that both have get a number behind them, which
 * makes them others most of the time. */
static void append_items(Text *out, const Read *to, const Read *from, int first, int end,
                         int number)
{
    char suffix[NAME_BYTES];
    int n = snprintf(suffix, sizeof suffix, "_%d", number), last = from->items.at[end];
    size_t at = from->tokens.at[from->items.at[first]].lo;
    for (int i = from->items.at[first]; i < last; i++) {
        Token token = from->tokens.at[i];
        if (token.kind != TOKEN_NAME || is_start(from->text, token))
            continue;
        if (names_item(to, from, token) && names_item(from, from, token)) {
            append(out, from->text->at + at, token.hi - at);
            append(out, suffix, (size_t)n);
            at = token.hi;
        }
    }
    append(out, from->text->at + at, from->tokens.at[last - 1].hi - at);
    append(out, "\n", 1);
}

Text join_items(const Text *program, const Text *other, uint64_t seed)
{
    uint64_t state = seed;
    Read to = read_of(program), from = read_of(other);
    size_t names = (size_t)from.tokens.n * NAME_BYTES;
    Text out = {malloc(program->size + other->size + names + 3), 0};
    int first = below(&state, from.items.n), end = below(&state, 3) ? first + 1 : from.items.n;
    if (below(&state, 3) == 0)
        first = 0;
    /* Imports stand first. */
    bool imports = from.items.n && is_text(from.text, from.tokens.at[from.items.at[first]], starts[0]);
    if (imports)
        append_items(&out, &to, &from, first, end, below(&state, 1000));
    append(&out, program->at, program->size);
    append(&out, "\n", 1);
    if (from.items.n && !imports)
        append_items(&out, &to, &from, first, end, below(&state, 1000));
    free_read(&to);
    free_read(&from);
    return out;
}
