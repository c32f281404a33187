/* `risec help`, `risec explain`, `risec --version`, and the documents that are made from tables of the source. */
#include <stdlib.h>

#include "driver/driver.h"
#include "frontend/token_class.h"
#include "driver/profile.h"
#include "frontend/rule.h"
#include "ir/prim.h"
#include "rewrite/manual.h"
#include "version.h"

static void put(Ctx *ctx, Driver *d, const StrBuf *text) { driver_write(ctx, d, "-", text->text, text->len); }

/* ---- help ----------------------------------------------------------------------------------------------------- */

/* The names of a class of primitives, in lines. */
static void put_primitives(StrBuf *out)
{
    static const struct {
        PrimId first;
        const char *title;
    } groups[] = {
        {P_id, "Data layout:"}, {P_map, "Order left open:"}, {P_mapSeq, "One thread:"}, {P_mapGlobal, "Parallel:"},
        {P_toGlobal, "Memory:"}, {P_shflDown, "Warp:"}, {P_nextKernel, "Grid:"}, {P_add, "Scalar functions:"},
    };
    enum { GROUPS = sizeof groups / sizeof groups[0], WIDTH = 76 };
    for (int g = 0; g < GROUPS; g++) {
        int end = g + 1 < GROUPS ? (int)groups[g + 1].first : P_COUNT, column = 0;
        sb_printf(out, "%s\n ", groups[g].title);
        for (int id = groups[g].first; id < end; id++) {
            int n = (int)strlen(prim_name((PrimId)id)) + 1;
            if (column + n > WIDTH) {
                sb_puts(out, "\n ");
                column = 0;
            }
            sb_printf(out, " %s", prim_name((PrimId)id));
            column += n;
        }
        sb_putc(out, '\n');
    }
}

static void put_topics(StrBuf *out)
{
    sb_puts(out, "risec help TOPIC, with TOPIC one of\n\n");
    for (int i = 0; i < help_topic_count; i++)
        sb_printf(out, "  %-12s %s\n", help_topics[i].name, help_topics[i].title);
    sb_puts(out, "  options      all options\n"
                 "  primitives   the names of all primitives; `risec help split` is about one of them\n"
                 "  std          the modules of the library; `risec help std.warp` prints one\n"
                 "  rules        the rules and strategies of the library\n"
                 "  conditions   what the `where` of a rule may say\n"
                 "  run, check   the options of a verb\n"
                 "\nA code such as E0303 is explained by `risec explain E0303`.\n");
}

/* False: there is no such verb. */
static bool put_verb_options(StrBuf *out, const char *word, const char *before)
{
    Verb verb = strcmp(word, "compile") == 0 ? VERB_COMPILE : verb_find(word);
    if (verb == VERB_COUNT)
        return false;
    sb_puts(out, before);
    options_usage_verb(out->ctx, out, verb);
    return true;
}

static bool put_topic(Ctx *ctx, StrBuf *out, const char *word)
{
    const char *text = help_topic_text(word);
    if (text) {
        options_put_wrapped(out, text);
        if (strcmp(word, "profile") == 0)
            profile_put_counters(out);
        put_verb_options(out, word, "\n");
        return true;
    }
    /* `run` and the others before the primitives: no primitive has such a name. */
    if (put_verb_options(out, word, ""))
        return true;
    if (strcmp(word, "options") == 0) {
        options_usage(ctx, out);
        return true;
    }
    if (strcmp(word, "topics") == 0) {
        put_topics(out);
        return true;
    }
    if (strcmp(word, "primitives") == 0) {
        put_primitives(out);
        return true;
    }
    return false;
}

static bool put_option_help(StrBuf *out, const char *word)
{
    while (*word == '-')
        word++;
    for (int id = 0; id < OPT_COUNT; id++) {
        const OptRow *row = &option_rows[id];
        if (row->hidden || strcmp(row->name, word) != 0)
            continue;
        sb_printf(out, "--%s%s%s\n\n  %s\n\nIt belongs to", row->name, row->arg[0] ? " " : "", row->arg, row->help);
        const char *between = " ";
        for (int v = 0; v < VERB_COUNT; v++) {
            if (row->verbs & 1u << v) {
                sb_printf(out, "%s`risec %s`", between, verb_rows[v].usage);
                between = ", ";
            }
        }
        sb_puts(out, ".\n");
        return true;
    }
    return false;
}

static bool put_library(Ctx *ctx, StrBuf *out, const char *word)
{
    StrBuf text;
    sb_init(&text, ctx);
    bool found = library_help(ctx, &text, word);
    if (found)
        options_put_wrapped(out, text.text);
    return found;
}

static void unknown_topic(Ctx *ctx, Driver *d, const char *word)
{
    Nearest nearest;
    nearest_init(&nearest, word);
    for (int i = 0; i < help_topic_count; i++)
        nearest_try(&nearest, help_topics[i].name);
    for (int v = 0; v < VERB_COUNT; v++) {
        if (verb_rows[v].name[0])
            nearest_try(&nearest, verb_rows[v].name);
    }
    for (int id = 0; id < P_COUNT; id++)
        nearest_try(&nearest, prim_name((PrimId)id));
    for (int id = 0; id < OPT_COUNT; id++) {
        if (!option_rows[id].hidden)
            nearest_try(&nearest, option_rows[id].name);
    }
    Diag *diag = driver_usage(ctx, d, E0621, "there is no help on `%s`", word);
    if (nearest.best)
        diag_help(ctx, diag, "did you mean `risec help %s`?", nearest.best);
    else
        diag_help(ctx, diag, "`risec help topics` and `risec help primitives` list what there is");
}

/* ---- documents ------------------------------------------------------------------------------------------------ */

/* `bad:` and `good:` lines of an explanation (and lines that go on from them, indented) become a block of code. */
static void put_explanation(StrBuf *out, const char *text)
{
    bool code = false;
    while (*text) {
        size_t n = strcspn(text, "\n");
        bool example = strncmp(text, "bad:", 4) == 0 || strncmp(text, "good:", 5) == 0 || (code && *text == ' ');
        if (example != code)
            sb_puts(out, example ? "\n```\n" : "```\n\n");
        code = example;
        sb_putn(out, text, n);
        sb_putc(out, '\n');
        text += n + (text[n] == '\n');
    }
    if (code)
        sb_puts(out, "```\n");
}

/* The title of the codes that begin with the same three characters. A new group without one shows its prefix. */
static const char *group_title(const char *code)
{
    static const struct {
        const char *prefix, *title;
    } groups[] = {
        {"E00", "Text"}, {"E01", "Grammar"}, {"E02", "Names and definitions"}, {"E03", "Types and sizes"}, {"E04", "Levels and memory"},
        {"E05", "Limits, and what is not lowered"}, {"E06", "Running"}, {"E08", "Strategies and rules"}, {"W07", "Warnings"},
    };
    for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++)
        if (strncmp(code, groups[g].prefix, 3) == 0)
            return groups[g].title;
    return code;
}

/* The document docs/errors.md. */
static void errors_manual(Ctx *ctx, StrBuf *out)
{
    DiagCode *codes = NEWN(ctx, DiagCode, DIAG_CODE_COUNT + 1);
    int n = 0;
    for (int c = 0; c < (int)DIAG_CODE_COUNT; c++) {
        int at = n++;
        for (; at > 0 && strcmp(diag_code_name(codes[at - 1]), diag_code_name((DiagCode)c)) > 0; at--)
            codes[at] = codes[at - 1];
        codes[at] = (DiagCode)c;
    }
    sb_puts(out, "# Diagnostics\n\nMade from the table `src/support/diag_codes.def`; do not edit. `risec explain CODE` prints the same.\n");
    for (int i = 0; i < n; i++) {
        const char *code = diag_code_name(codes[i]);
        if (i == 0 || strncmp(code, diag_code_name(codes[i - 1]), 3) != 0)
            sb_printf(out, "\n## %s\n", group_title(code));
        sb_printf(out, "\n### %s: %s\n\n", code, diag_code_title(codes[i]));
        put_explanation(out, diag_code_explanation(codes[i]));
    }
}

/* --emit-docs=DOCUMENT; man is that of the verb behind it, else of compiling. */
static void put_document(Ctx *ctx, Driver *d, StrBuf *out, const char *document)
{
    const char *word = d->line->words.n ? d->line->words.at[0] : NULL;
    Verb verb = word ? verb_find(word) : VERB_COMPILE;
    if (strcmp(document, "primitives") == 0)
        prim_manual(ctx, out);
    else if (strcmp(document, "errors") == 0)
        errors_manual(ctx, out);
    else if (strcmp(document, "counters") == 0)
        profile_manual(out);
    else if (strcmp(document, "rules") == 0)
        rules_manual(ctx, out);
    else if (strcmp(document, "library") == 0)
        library_manual(ctx, out);
    else if (strcmp(document, "words") == 0)
        token_words_json(out);
    else if (strcmp(document, "bash") == 0)
        options_bash(out);
    else if (strcmp(document, "zsh") == 0)
        options_zsh(out);
    else if (strcmp(document, "fish") == 0)
        options_fish(out);
    else if (verb != VERB_COUNT)
        options_man(out, verb);
    else
        unknown_topic(ctx, d, word);
}

void cmd_help(Ctx *ctx, Driver *d)
{
    const CommandLine *line = d->line;
    StrBuf out;
    sb_init(&out, ctx);
    if (option_on(line, OPT_EMIT_DOCS)) {
        put_document(ctx, d, &out, option_text(line, OPT_EMIT_DOCS));
    } else if (line->words.n == 0) {
        options_overview(ctx, &out);
    } else if (line->words.n > 1) {
        driver_usage(ctx, d, E0621, "help is given on one topic at a time: `risec help %s`", line->words.at[0]);
        return;
    } else {
        const char *word = line->words.at[0];
        PrimId id = prim_find(word);
        if (id != P_COUNT)
            prim_help(ctx, &out, id);
        else if (diag_code_find(word) != DIAG_CODE_COUNT) {
            cmd_explain(ctx, d);
            return;
        } else if (strcmp(word, "rules") == 0) {
            StrBuf list;
            sb_init(&list, ctx);
            rules_list(ctx, &list);
            options_put_wrapped(&out, list.text);
        } else {
            StrBuf condition; /* it may have the name of something else, too */
            sb_init(&condition, ctx);
            bool found = rule_condition_help(&condition, word);
            bool other = put_topic(ctx, &out, word) || put_option_help(&out, word) || rules_help(ctx, &out, word) || put_library(ctx, &out, word);
            if (!found && !other) {
                unknown_topic(ctx, d, word);
                return;
            }
            sb_puts(&out, found && other ? "\n" : "");
            options_put_wrapped(&out, condition.text);
        }
    }
    if (driver_no_errors(ctx, d))
        put(ctx, d, &out);
}

/* ---- explain, version ----------------------------------------------------------------------------------------- */

void cmd_explain(Ctx *ctx, Driver *d)
{
    const CommandLine *line = d->line;
    if (line->words.n != 1) {
        driver_usage(ctx, d, E0621, "`risec explain` takes one code, as in `risec explain E0303`");
        return;
    }
    DiagCode code = diag_code_find(line->words.at[0]);
    if (code == DIAG_CODE_COUNT) {
        Diag *diag = driver_usage(ctx, d, E0621, "there is no diagnostic `%s`", line->words.at[0]);
        DiagCode meant = diag_code_find(ctx_printf(ctx, "E%04d", atoi(line->words.at[0])));
        if (meant != DIAG_CODE_COUNT)
            diag_help(ctx, diag, "did you mean `risec explain %s`?", diag_code_name(meant));
        else
            diag_help(ctx, diag, "codes look like E0303 and stand in square brackets behind `error` or `warning`");
        return;
    }
    StrBuf out;
    sb_init(&out, ctx);
    sb_printf(&out, "%s: %s\n\n", diag_code_name(code), diag_code_title(code));
    options_put_wrapped(&out, diag_code_explanation(code));
    put(ctx, d, &out);
}

void cmd_version(Ctx *ctx, Driver *d)
{
    StrBuf out;
    sb_init(&out, ctx);
    sb_puts(&out, "risec " RISEC_VERSION "\n");
    put(ctx, d, &out);
}
