/* The command line: one table of verbs and one of options, from which come parsing, usage, manual pages and what shells complete. */
#ifndef RISEC_DRIVER_OPTIONS_H
#define RISEC_DRIVER_OPTIONS_H

#include "support/context.h"

typedef enum Verb { VERB_COMPILE, VERB_NEW, VERB_CHECK, VERB_FMT, VERB_TEST, VERB_LOWER, VERB_RUN, VERB_REPL, VERB_BENCH, VERB_TUNE, VERB_CACHE, VERB_DOCTOR, VERB_LSP, VERB_HELP, VERB_EXPLAIN, VERB_VERSION, VERB_COUNT } Verb;

typedef enum OptId {
    OPT_OUTPUT, OPT_EMIT, OPT_STOP_AFTER, OPT_ENTRY, OPT_CLAUSE, OPT_LINE, OPT_DEPFILE, OPT_ARCH, OPT_SET, OPT_VERIFY_EACH,
    OPT_ARG, OPT_DEVICE, OPT_SEED, OPT_OUT, OPT_VERIFY, OPT_EXPECT, OPT_JSON, OPT_GRID, OPT_MAX_FINDINGS, OPT_STATS, OPT_PROFILE,
    OPT_SIZES, OPT_VS, OPT_KEEP, OPT_ROUNDS, OPT_CSV, OPT_BY, OPT_TUNED, OPT_UNTUNED,
    OPT_STRATEGY, OPT_COSTS, OPT_TRACE, OPT_PLAN, OPT_STEP, OPT_SAVE, OPT_REPLAY, OPT_LAWS, OPT_STRATEGIES,
    OPT_FMT_CHECK, OPT_LINES, OPT_JOBS, OPT_QUIET, OPT_VERBOSE, OPT_FORCE, OPT_EMIT_DOCS, OPT_HELP, OPT_VERSION,
    OPT_COUNT
} OptId;

typedef enum OptKind {
    OK_FLAG,
    OK_TEXT,
    OK_CHOICE, /* one of the words in `arg`, separated by bars */
    OK_NUMBER, /* an integer >= 0 */
    OK_PAIR    /* NAME=VALUE, any number of times */
} OptKind;

typedef struct OptRow {
    const char *name;  /* without the dashes */
    char letter;       /* of the short form, or 0 */
    OptKind kind;
    const char *arg;   /* as the usage shows it */
    unsigned verbs;    /* set of 1 << Verb */
    bool many;         /* may be given again */
    bool hidden;
    const char *help;
    bool common;       /* the overview has it */
} OptRow;

enum { OPT_ALL_VERBS = (1 << VERB_COUNT) - 1 }; /* `verbs` of an option that each verb has */

typedef struct VerbRow {
    const char *name;  /* "" for compiling, which has no word */
    const char *usage; /* what follows `risec` */
    const char *help;
} VerbRow;

extern const OptRow option_rows[OPT_COUNT];
extern const VerbRow verb_rows[VERB_COUNT];

/* Does the verb have this option, and may people know of it? */
bool option_shown(OptId id, Verb verb);
/* The verb of this name; VERB_COUNT where there is none. */
Verb verb_find(const char *name);

typedef struct Given { /* one option as given */
    OptId id;
    const char *name;  /* PAIR: before the first `=`; else NULL */
    const char *value; /* NULL for a flag */
    int64_t number;    /* NUMBER, and the value of --set */
} Given;

typedef struct CommandLine {
    Verb verb;
    VEC(const char *) words; /* operands, in order: files, an entry, a topic */
    VEC(Given) given;
} CommandLine;

/* Always gives a command line; what is wrong with it is in the diagnostics. */
CommandLine *options_parse(Ctx *ctx, int argc, char **argv);
bool option_on(const CommandLine *line, OptId id);
/* The last one given; NULL when there is none. */
const Given *option_get(const CommandLine *line, OptId id);
const char *option_text(const CommandLine *line, OptId id);
/* Is there a --set for this size or tunable? */
bool option_sets(const CommandLine *line, const char *name);
int64_t option_number(const CommandLine *line, OptId id, int64_t otherwise);

/* The usage: an overview of verbs and common options, all of all verbs, or one verb with its options. */
void options_overview(Ctx *ctx, StrBuf *out);
void options_usage(Ctx *ctx, StrBuf *out);
void options_usage_verb(Ctx *ctx, StrBuf *out, Verb verb);
/* The manual page (roff) of a verb; that of compiling is risec.1, and names the others. */
void options_man(StrBuf *out, Verb verb);
/* What a shell reads to complete the command line. */
void options_bash(StrBuf *out);
void options_zsh(StrBuf *out);
void options_fish(StrBuf *out);
/* Lines that are not indented are filled to 80 columns; indented ones, empty ones, and those that start with `bad:` or `good:` stay. */
void options_put_wrapped(StrBuf *out, const char *text);

/* A size on the command line: digits, and `^ * + -` on them, as in 2^20+1. False when it is none, or leaves 64 bits. */
bool size_parse(const char *text, int64_t *value);

/* Collects words, and tells the one that is nearest to what was written: a typing mistake away, else NULL. */
typedef struct Nearest {
    const char *wanted;
    const char *best;
    int distance;
} Nearest;
void nearest_init(Nearest *nearest, const char *wanted);
void nearest_try(Nearest *nearest, const char *word);

#endif
