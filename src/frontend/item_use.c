/* Where an entry uses what is written elsewhere: the place in the program that a mistake found in a library is about. */
#include <ctype.h>

#include "frontend/elab_internal.h"

enum { MAX_DEPTH = 8 }; /* of definitions that use each other */

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The first mention of the name in the item's body; a span of file 0 when there is none. Comments are passed over. */
static Span mention(const Ctx *ctx, const Item *item, const char *name)
{
    const Source *source = source_get(ctx, item->span.file);
    size_t n = strlen(name), from = item->body ? item->body->span.lo : item->span.hi;
    for (size_t i = from; source && i + n <= item->span.hi && i + n <= source->size; i++) {
        if (source->text[i] == '-' && source->text[i + 1] == '-')
            while (i < source->size && source->text[i] != '\n')
                i++;
        else if (!memcmp(source->text + i, name, n) && !is_word(source->text[i + n]) && (i == 0 || !is_word(source->text[i - 1])))
            return (Span){.file = item->span.file, .lo = (uint32_t)i, .hi = (uint32_t)(i + n)};
    }
    return NO_SPAN;
}

static bool holds(const Item *item, Span span) { return item->span.file == span.file && item->span.lo <= span.lo && span.hi <= item->span.hi; }

static Span use_of(const Ctx *ctx, const Program *program, const Item *user, const Item *used, int depth)
{
    Span at = mention(ctx, user, used->name);
    if (at.file || depth == MAX_DEPTH)
        return at;
    for (int f = 0; f < program->files.n && !at.file; f++)
        for (int i = 0; i < program->files.at[f]->items.n && !at.file; i++) {
            const Item *between = program->files.at[f]->items.at[i];
            if (between != used && between->kind == ITEM_DEF && mention(ctx, between, used->name).file)
                at = use_of(ctx, program, user, between, depth + 1);
        }
    return at;
}

const Item *program_item_around(const Program *program, Span inside)
{
    for (int f = 0; program && f < program->files.n; f++)
        for (int i = 0; i < program->files.at[f]->items.n; i++)
            if (holds(program->files.at[f]->items.at[i], inside))
                return program->files.at[f]->items.at[i];
    return NULL;
}

Span item_use(const Ctx *ctx, const Program *program, const Item *user, Span inside)
{
    const Item *item = program_item_around(program, inside);
    return item && item->kind == ITEM_DEF ? use_of(ctx, program, user, item, 0) : NO_SPAN;
}
