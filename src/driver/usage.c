/* What `risec --help` and `risec help VERB` print, from the tables of verbs and options. */
#include "driver/options.h"

enum { HELP_COLUMN = 26, HELP_WIDTH = 80 };

/* Text in a column of its own, broken between words. `at`: the column where the line stands now. */
static void put_column(StrBuf *out, const char *text, int at, int column)
{
    if (at >= column - 1) {
        sb_putc(out, '\n');
        at = 0;
    }
    sb_printf(out, "%*s", column - at, "");
    at = column;
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (at > column && at + 1 + n > HELP_WIDTH) {
            sb_printf(out, "\n%*s", column, "");
            at = column;
        } else if (at > column) {
            sb_putc(out, ' ');
            at++;
        }
        sb_putn(out, text, (size_t)n);
        at += n;
        text += n + (text[n] == ' ');
    }
    sb_putc(out, '\n');
}

void options_put_wrapped(StrBuf *out, const char *text)
{
    int at = 0; /* columns of the line so far; 0: at its start */
    while (*text) {
        int n = (int)strcspn(text, "\n");
        bool verbatim = n == 0 || *text == ' ' || strncmp(text, "bad:", 4) == 0 || strncmp(text, "good:", 5) == 0;
        if (verbatim && at)
            sb_putc(out, '\n');
        at = verbatim ? 0 : at;
        if (verbatim) {
            sb_putn(out, text, (size_t)n);
            sb_putc(out, '\n');
        }
        for (const char *word = text; !verbatim && word < text + n;) {
            int len = (int)strcspn(word, " \n");
            if (at && at + 1 + len > HELP_WIDTH) {
                sb_putc(out, '\n');
                at = 0;
            }
            sb_puts(out, at ? " " : "");
            at += len + (at ? 1 : 0);
            sb_putn(out, word, (size_t)len);
            word += len + (word[len] == ' ');
        }
        text += n + (text[n] == '\n');
    }
    if (at)
        sb_putc(out, '\n');
}

/* The first clause of what a table says. */
static const char *brief(Ctx *ctx, const char *help)
{
    const char *end = help;
    while (*end && !(strchr(".:;", *end) && (end[1] == ' ' || !end[1])))
        end++;
    return intern(ctx, help, (size_t)(end - help));
}

static void put_option(Ctx *ctx, StrBuf *out, const OptRow *row, const char *help)
{
    StrBuf head;
    sb_init(&head, ctx);
    sb_puts(&head, "  ");
    if (row->letter)
        sb_printf(&head, "-%c, ", row->letter);
    sb_printf(&head, "--%s", row->name);
    if (row->arg[0])
        sb_printf(&head, "%s%s", row->kind == OK_CHOICE ? "=" : " ", row->arg);
    sb_puts(out, head.text);
    put_column(out, help, (int)head.len, HELP_COLUMN);
}

/* The options of just these verbs, under their names. */
static void put_options(Ctx *ctx, StrBuf *out, unsigned verbs)
{
    sb_puts(out, verbs == OPT_ALL_VERBS ? "\nOthers" : "\nOptions for ");
    bool first = true;
    for (int v = 0; v < VERB_COUNT && verbs != OPT_ALL_VERBS; v++) {
        if (!(verbs & 1u << v))
            continue;
        bool last = verbs >> v == 1;
        sb_printf(out, "%s%s", first ? "" : last ? " and " : ", ", v == VERB_COMPILE ? "compiling" : verb_rows[v].name);
        first = false;
    }
    sb_puts(out, ":\n");
    for (int id = 0; id < OPT_COUNT; id++) {
        if (option_rows[id].verbs == verbs && !option_rows[id].hidden)
            put_option(ctx, out, &option_rows[id], option_rows[id].help);
    }
}

static void put_verb(Ctx *ctx, StrBuf *out, Verb verb, const char *help)
{
    const char *head = ctx_printf(ctx, "  risec %s", verb_rows[verb].usage);
    sb_puts(out, head);
    put_column(out, help, (int)strlen(head), 34);
}

static const char what[] = "risec compiles RISE, a language of data-parallel patterns, to CUDA C.\n\n";

void options_overview(Ctx *ctx, StrBuf *out)
{
    sb_puts(out, what);
    for (int v = 0; v < VERB_COUNT; v++)
        put_verb(ctx, out, (Verb)v, brief(ctx, verb_rows[v].help));
    sb_puts(out, "\nCommon options:\n");
    for (int id = 0; id < OPT_COUNT; id++)
        if (option_rows[id].common)
            put_option(ctx, out, &option_rows[id], brief(ctx, option_rows[id].help));
    sb_puts(out, "\n`-` as FILE.rise is standard input.\n\n"
                 "  risec run --help        the options of a verb, here of run\n"
                 "  risec help options      all options\n"
                 "  risec help topics       what else there is to read\n");
}

void options_usage(Ctx *ctx, StrBuf *out)
{
    sb_puts(out, what);
    for (int v = 0; v < VERB_COUNT; v++)
        put_verb(ctx, out, (Verb)v, verb_rows[v].help);
    for (int id = 0; id < OPT_COUNT; id++) {
        bool known = option_rows[id].hidden || option_rows[id].verbs == OPT_ALL_VERBS;
        for (int before = 0; before < id && !known; before++)
            known = option_rows[before].verbs == option_rows[id].verbs && !option_rows[before].hidden;
        if (!known)
            put_options(ctx, out, option_rows[id].verbs);
    }
    put_options(ctx, out, OPT_ALL_VERBS);
    sb_puts(out, "\n`-` as FILE.rise is standard input. `risec help topics` lists what else there is\nto read.\n");
}

void options_usage_verb(Ctx *ctx, StrBuf *out, Verb verb)
{
    put_verb(ctx, out, verb, verb_rows[verb].help);
    sb_puts(out, "\nOptions:\n");
    for (int id = 0; id < OPT_COUNT; id++) {
        if (option_shown((OptId)id, verb))
            put_option(ctx, out, &option_rows[id], option_rows[id].help);
    }
}
