#include "driver/other_tools.h"

#include <stdlib.h>

typedef struct Other {
    OtherPlace place;
    const char *word, *help;
} Other;

static const Other others[] = {
#define OTHER(place, word, help) {OTHER_##place, word, help},
#include "driver/other_tools.def"
#undef OTHER
};

const char *other_tools_help(OtherPlace place, const char *word)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *row = others[i].word;
        if (others[i].place == place && strncmp(row, word, place == OTHER_LETTER ? 1 : strlen(row) + 1) == 0)
            return others[i].help;
    }
    return NULL;
}

bool other_tools_size(const char *text, int64_t *value)
{
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end || !(number >= 0 && number < 9e15) || number != (double)(int64_t)number)
        return false;
    *value = (int64_t)number;
    return true;
}

static bool is_path(const char *word) { return strpbrk(word, "./") || strcmp(word, "-") == 0; }

bool other_tools_verb(Ctx *ctx, const CommandLine *line)
{
    const char *word = line->words.n ? line->words.at[0] : NULL;
    if (!word || is_path(word))
        return false;
    const char *help = other_tools_help(OTHER_VERB, word), *file = line->words.n > 1 ? line->words.at[1] : NULL;
    Nearest nearest;
    nearest_init(&nearest, word);
    for (int v = 0; v < VERB_COUNT; v++)
        if (verb_rows[v].name[0] != '-')
            nearest_try(&nearest, verb_rows[v].name);
    if (!file && !help)
        return false; /* a file without a suffix, more likely */
    Diag *diag = diag_error(ctx, E0621, NO_SPAN, "there is no verb `%s`", word);
    if (help)
        diag_help(ctx, diag, "%s", help);
    else if (nearest.best)
        diag_help(ctx, diag, "did you mean `risec %s %s`?", nearest.best, file);
    else
        diag_help(ctx, diag, "verbs are check, run, test, bench, tune, lower, fmt and doctor; without one a file is compiled: `risec FILE.rise -o FILE.cu`");
    return true;
}

/* A word that gives something a value; a file is none, whatever its name has. */
static bool is_pair(const char *word)
{
    const char *equals = strchr(word, '=');
    return equals && equals > word && equals[1] && (size_t)(equals - word) == strcspn(word, "=./");
}

bool other_tools_pairs(Ctx *ctx, const CommandLine *line)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    const char *first = NULL;
    for (int i = 1; i < line->words.n; i++) {
        const char *word = line->words.at[i];
        int64_t size;
        if (!is_pair(word))
            continue;
        first = first ? first : word;
        sb_printf(&sb, "%s%s %s", sb.len ? " " : "", size_parse(strchr(word, '=') + 1, &size) ? "--set" : "--arg", word);
    }
    if (!first)
        return false;
    Diag *diag = diag_error(ctx, E0621, NO_SPAN, "`%s` stands alone, and belongs to an option", first);
    diag_help(ctx, diag, "sizes are given by `--set` and inputs by `--arg`: `%s`", sb.text);
    return true;
}
