#include "frontend/foreign.h"

#include "support/context.h"

static const Foreign words[] = {
#define FOREIGN(word, place, help, instead) {#word, FOREIGN_##place, help, instead},
#include "frontend/foreign.def"
#undef FOREIGN
};

const Foreign *foreign_find(const char *word, size_t size, ForeignPlace place)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].place == place && strlen(words[i].word) == size && memcmp(words[i].word, word, size) == 0)
            return &words[i];
    return NULL;
}

void foreign_hint(Ctx *ctx, Diag *diag, Span span, const Foreign *foreign)
{
    const char *help = foreign->help, *at = foreign->instead ? strchr(help, '$') : NULL;
    if (at)
        diag_help(ctx, diag, "%.*s%s%s", (int)(at - help), help, foreign->instead, at + 1);
    else if (foreign->instead)
        diag_help(ctx, diag, "%s", help);
    else
        diag_note(ctx, diag, NO_SPAN, "%s", help);
    if (foreign->instead)
        diag_edit(ctx, diag, span, "%s", foreign->instead);
}
