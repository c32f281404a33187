#include "driver/options.h"
#include "driver/other_tools.h"

#include <stdlib.h>

enum {
    COMPILE = 1 << VERB_COMPILE,
    NEW = 1 << VERB_NEW,
    CHECK = 1 << VERB_CHECK,
    FMT = 1 << VERB_FMT,
    TEST = 1 << VERB_TEST,
    LOWER = 1 << VERB_LOWER,
    RUN = 1 << VERB_RUN,
    REPL = 1 << VERB_REPL,
    BENCH = 1 << VERB_BENCH,
    TUNE = 1 << VERB_TUNE,
    CACHE = 1 << VERB_CACHE,
    DOCTOR = 1 << VERB_DOCTOR,
    HELP = 1 << VERB_HELP,
    WORKS = COMPILE | NEW | CHECK | FMT | TEST | LOWER | RUN | BENCH | TUNE,
    ALL = (1 << VERB_COUNT) - 1
};

const VerbRow verb_rows[VERB_COUNT] = {
    [VERB_COMPILE] = {"", "FILE.rise [-o OUT]", "Compile to CUDA C on standard output; or to OUT, whose suffix chooses the form."},
    [VERB_NEW] = {"new", "new NAME", "Make the folder NAME with a new program: its test, a caller in C, and a CMakeLists.txt that builds and tests them."},
    [VERB_CHECK] = {"check", "check FILE.rise|FOLDER...", "Only diagnose, and check `expect` clauses on the simulator. Says nothing when all is well."},
    [VERB_FMT] = {"fmt", "fmt FILE.rise|FOLDER...", "Format programs where they lie, each in the one way; `-` from standard input to standard output."},
    [VERB_TEST] = {"test", "test FILE.rise|FOLDER...", "Check the `expect` clauses of entries: results beside those of other programs or data, and counters."},
    [VERB_LOWER] = {"lower", "lower FILE.rise [ENTRY]", "Rewrite an entry by its strategy, and print the program that comes out."},
    [VERB_RUN] = {"run", "run FILE.rise [ENTRY]", "Run an entry: the only one, if it is not named."},
    [VERB_REPL] = {"repl", "repl", "Evaluate expressions and definitions as they are typed, or come through a pipe; `:help` lists its commands."},
    [VERB_BENCH] = {"bench", "bench FILE.rise [ENTRY]", "Time an entry on the GPU, alone or beside hand-written kernels."},
    [VERB_TUNE] = {"tune", "tune FILE.rise [ENTRY]", "Find the best values of an entry's tunables, and keep them in FILE.rise.tune."},
    [VERB_CACHE] = {"cache", "cache [clear]", "Show the cache of compiled kernels, or clear it."},
    [VERB_DOCTOR] = {"doctor", "doctor [FILE.rise...]", "Say what of CUDA was found and where, and what works without the rest."},
    [VERB_LSP] = {"lsp", "lsp", "Serve an editor over standard input and output: see docs/editors.md."},
    [VERB_HELP] = {"help", "help [TOPIC]", "Help on a primitive, an option, a verb or a topic."},
    [VERB_EXPLAIN] = {"explain", "explain CODE", "Say more about a diagnostic, such as E0303."},
    [VERB_VERSION] = {"version", "--version", "Print the version."},
};

const OptRow option_rows[OPT_COUNT] = {
    [OPT_OUTPUT] = {"output", 'o', OK_TEXT, "OUT", COMPILE | FMT | TUNE, true, false,
                    "Write to OUT in the form of its suffix: `.cu` CUDA C with host functions, `.h` a header for C and C++ with compiled kernels and functions that launch them, `.ptx` or `.cubin` its kernels compiled by NVRTC, `.json` the manifest. `-` is standard "
                    "output. fmt: the formatted program; default: the file itself. tune: the tuning file; default: FILE.rise.tune.", true},
    [OPT_EMIT] = {"emit", 0, OK_CHOICE, "tokens|ast|core|nests|imp|cuda|manifest|ptx|cubin|header", COMPILE, false, false,
                  "Print this form of the program instead, whatever the suffix of OUT.", true},
    [OPT_STOP_AFTER] = {"stop-after", 0, OK_TEXT, "PASS", COMPILE, false, false,
                        "With --emit=imp: the program as it is after PASS: "
                        "translate, prefetch, literals, loops, registers, conditions, units, one_tile, memory, barriers, sink, apart, strides, tiles, unrolling, values, roll, zeros, indices, dead, divisions, steps, names, outline."},
    [OPT_ENTRY] = {"entry", 0, OK_TEXT, "NAME", COMPILE | CHECK | TEST, false, false, "Only this entry. Default: all entries of the file."},
    [OPT_CLAUSE] = {"clause", 0, OK_NUMBER, "LINE", TEST, false, false, "Only the `expect` clauses that begin on this line of the file."},
    [OPT_LINE] = {"line", 0, OK_FLAG, "", COMPILE, false, false,
                  "Put #line directives into the CUDA C, and tables of lines into PTX and cubins, so that tools name lines of the .rise file."},
    [OPT_DEPFILE] = {"depfile", 0, OK_TEXT, "FILE", COMPILE, false, false,
                     "Write a rule for make to FILE: what is written depends on the program and on all that it imports."},
    [OPT_ARCH] = {"arch", 0, OK_TEXT, "sm_NN", COMPILE, false, false,
                  "The GPU that PTX or a cubin is for, as in sm_90. A cubin runs on that one, and PTX on it and all later ones. Default for PTX: "
                  "sm_75. A header takes a list, as in sm_80,sm_90, of what to have cubins for; default: sm_75 to sm_120, as far as NVRTC knows them.", true},
    [OPT_SET] = {"set", 0, OK_PAIR, "NAME=NAT", COMPILE | CHECK | TEST | LOWER | RUN | BENCH | TUNE, true, false,
                 "Give a tunable, or (for run, test, bench and lower --plan) a size. NAT is an integer, or a sum of products such as 2^20+1.", true},
    [OPT_VERIFY_EACH] = {"verify-each", 0, OK_FLAG, "", COMPILE | CHECK | LOWER | RUN, false, false,
                         "lower: evaluate the program before and after each step on random inputs of several small sizes, and name the first step that changes the result. "
                         "Else: re-check all types of the program between the passes, which finds bugs of risec, not of the program."},
    [OPT_ARG] = {"arg", 0, OK_PAIR, "NAME=VALUE", TEST | LOWER | RUN | BENCH | TUNE, true, false,
                 "Give an input (NAME.1, NAME.2 for the components of a tuple). VALUE: a file.npy, a text file of numbers, an array as in xs=[1,2,3], iota, ones, zeros, const:V, "
                 "uniform[:LO:HI], normal, special, small, or a number, which all elements of an array are.", true},
    [OPT_DEVICE] = {"device", 0, OK_CHOICE, "auto|gpu|sim|ref", TEST | RUN | TUNE, false, false,
                    "Where to run: sim (the default) is the simulator of a GPU, which checks every access; ref the reference interpreter; gpu an "
                    "NVIDIA GPU; auto gpu where there is one, else sim. tune: gpu (the default) measures time, sim estimates it from what the simulator "
                    "counts.", true},
    [OPT_SEED] = {"seed", 0, OK_NUMBER, "N", CHECK | TEST | LOWER | RUN | BENCH | TUNE, false, false,
                  "Seed of generated inputs and of the order in which the simulator runs blocks and warps. Default: 0."},
    [OPT_OUT] = {"out", 0, OK_TEXT, "FILE.npy", RUN, false, false,
                 "Write the result; several results go to FILE.1.npy, FILE.2.npy, and so on."},
    [OPT_VERIFY] = {"verify", 0, OK_FLAG, "", RUN, false, false,
                    "Also run the reference interpreter and compare: see `risec help verify`.", true},
    [OPT_EXPECT] = {"expect", 0, OK_TEXT, "FILE", CHECK | RUN, false, false,
                    "run: compare with the results in FILE.npy, written by --out, in the same way as --verify. check: also check the `expect` "
                    "clauses in FILE."},
    [OPT_JSON] = {"json", 0, OK_FLAG, "", CHECK | TEST | LOWER | RUN | BENCH | CACHE | DOCTOR, false, false, "Print one JSON object: see `risec help json`.", true},
    [OPT_GRID] = {"grid", 0, OK_NUMBER, "N", RUN, false, false,
                  "Simulate with N blocks instead of the default launch. The result is the same for any N >= 1."},
    [OPT_MAX_FINDINGS] = {"max-findings", 0, OK_NUMBER, "N", RUN, false, false,
                          "Stop the simulator after N findings (races, bad accesses). Default: 10."},
    [OPT_STATS] = {"stats", 0, OK_FLAG, "", RUN, false, false,
                   "Print what was counted. sim: instructions, memory accesses, barriers. ref: the work of the program as written, that is functions of scalars applied, and elements read of arrays with a name."},
    [OPT_PROFILE] = {"profile", 0, OK_FLAG, "", LOWER | RUN, false, false,
                     "Count on the simulator, line by line, what a GPU would do: memory traffic, bank conflicts, divergence, instructions. See "
                     "`risec help profile`. lower: with --trace or --json, what each step changes in these counts, for sizes given by --set or small ones.", true},
    [OPT_SIZES] = {"sizes", 0, OK_PAIR, "NAME=NAT,NAT...", BENCH | TUNE, true, false,
                   "Time, or tune, for each of these values of a size. Where several sizes have lists, they go in step."},
    [OPT_VS] = {"vs", 0, OK_TEXT, "FILE.cu", BENCH, true, false,
                "Also time the hand-written kernel in FILE.cu (its host function ENTRY_hand), in turn with ours, and compare its results with ours: see "
                "`risec help bench`."},
    [OPT_KEEP] = {"keep", 0, OK_TEXT, "DIR", BENCH, false, false,
                  "With --vs: keep what nvcc makes in the folder DIR, and use it again while FILE.cu is the same."},
    [OPT_ROUNDS] = {"rounds", 0, OK_NUMBER, "N", BENCH | TUNE, false, false, "Measure N times. Default: 25; fewer where calls take long."},
    [OPT_CSV] = {"csv", 0, OK_FLAG, "", BENCH, false, false, "Print comma-separated values, a line for each kernel and size."},
    [OPT_BY] = {"by", 0, OK_TEXT, "NAME[*NAME...]", TUNE, false, false,
                "Tell classes apart by this size, or by the product of these. Default: of all sizes that have lists."},
    [OPT_TUNED] = {"tuned", 0, OK_TEXT, "DEVICE", COMPILE, false, false,
                   "Use what FILE.rise.tune says for DEVICE, as in `--tuned \"NVIDIA H200\"`: see `risec help tuning`."},
    [OPT_UNTUNED] = {"untuned", 0, OK_FLAG, "", RUN | BENCH, false, false, "Do not use FILE.rise.tune."},
    [OPT_STRATEGY] = {"strategy", 0, OK_TEXT, "STRATEGY", LOWER, false, false,
                      "Rewrite by this strategy instead of the entry's own: a name, or an expression such as `mapToGlobal at map`. The file imports the modules of the rules that are named: "
                      "`import rules.lowering`."},
    [OPT_COSTS] = {"costs", 0, OK_TEXT, "FILE", COMPILE | CHECK | TEST | LOWER | RUN | BENCH | TUNE, false, false,
                   "Schedule for the device whose table of costs is in FILE, instead of that in lib/device.rise: by it the scheduler says which arrays are stored. `bench/costs` measures a "
                   "table."},
    [OPT_TRACE] = {"trace", 0, OK_FLAG, "", LOWER, false, false, "Print each step: the rule, where, its law, and the term before and after."},
    [OPT_PLAN] = {"plan", 0, OK_FLAG, "", LOWER, false, false,
                  "Print the plan of the entry instead: its kernels in order, what each computes and who does it, what is stored between them and why, how often arrays are read, blocks and threads; with "
                  "numbers where --set gives the sizes. With --json as an object. See `risec help plan`.", true},
    [OPT_STEP] = {"step", 0, OK_NUMBER, "N", LOWER, false, false, "Stop after N steps."},
    [OPT_SAVE] = {"save", 0, OK_TEXT, "TRACE", LOWER, false, false, "Write the steps to the file TRACE, from which --replay makes them again."},
    [OPT_REPLAY] = {"replay", 0, OK_TEXT, "TRACE", LOWER, false, false,
                    "Make the steps in the file TRACE again, instead of any strategy; where the program has changed, say which step fits no more."},
    [OPT_LAWS] = {"laws", 0, OK_FLAG, "", CHECK, false, false,
                  "Also test the rules and the operators of the file on random sizes, functions and values, and show the smallest counter-example: see docs/strategies.md."},
    [OPT_STRATEGIES] = {"strategies", 0, OK_TEXT, "S,S...", TUNE, false, false,
                        "Try these strategies beside the entry's own, each with all combinations of the candidates that its parameters have, as in "
                        "`strategy blocks (k: nat = 256 in [128, 256]) = ...`."},
    [OPT_FMT_CHECK] = {"check", 0, OK_FLAG, "", FMT, false, false, "Change nothing: say where a file is not formatted, with exit code 1."},
    [OPT_LINES] = {"lines", 0, OK_TEXT, "A:B", FMT, false, false, "Format only the definitions and entries that stand on lines A to B, the first being 1."},
    [OPT_JOBS] = {"jobs", 'j', OK_NUMBER, "N", TEST, false, false, "Work on N files at a time. Default: 1."},
    [OPT_QUIET] = {"quiet", 'q', OK_FLAG, "", WORKS | REPL, false, false,
                   "Only say what is wrong: no warnings, no progress on a terminal. test, tune, new: nothing of what is well, either.", true},
    [OPT_VERBOSE] = {"verbose", 'v', OK_FLAG, "", WORKS, false, false,
                     "Say on standard error what was found, how long each step took, and which files were written. test: also what was checked, clause by clause."},
    [OPT_EMIT_DOCS] = {"emit-docs", 0, OK_CHOICE, "primitives|errors|counters|rules|library|words|man|bash|zsh|fish", HELP, false, true,
                       "Print the document that is made from a table of the source."},
    [OPT_FORCE] = {"force", 0, OK_FLAG, "", COMPILE | LOWER | RUN | TUNE, false, false,
                   "Also write over a file that this command reads: the program, what it imports, an input, a trace, a tuning file."},
    [OPT_HELP] = {"help", 'h', OK_FLAG, "", OPT_ALL_VERBS, false, false, "Print this.", true},
    [OPT_VERSION] = {"version", 'V', OK_FLAG, "", OPT_ALL_VERBS, false, false, "Print the version."},
};

bool option_shown(OptId id, Verb verb) { return option_rows[id].verbs & 1u << verb && !option_rows[id].hidden; }

Verb verb_find(const char *name)
{
    int v = 0;
    while (v < VERB_COUNT && (!verb_rows[v].name[0] || strcmp(verb_rows[v].name, name) != 0))
        v++;
    return (Verb)v;
}

/* ---- the nearest word ----------------------------------------------------------------------------------------- */

enum { NEAREST_LONGEST = 40 };
#define NAME_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."

/* Edits (insert, delete, replace, exchange of neighbours) between two words of at most NEAREST_LONGEST bytes. */
static int edits_between(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b);
    int rows[3][NEAREST_LONGEST + 1];
    int *before = rows[0], *last = rows[1], *now = rows[2];
    for (int j = 0; j <= m; j++)
        last[j] = j;
    for (int i = 1; i <= n; i++) {
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            int best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        int *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[m];
}

void nearest_init(Nearest *nearest, const char *wanted)
{
    size_t n = strlen(wanted);
    *nearest = (Nearest){wanted, NULL, n <= 3 ? 1 : n <= 6 ? 2 : 3};
    /* `distance` is one more than what is still taken for a typing mistake. */
    nearest->distance += 1;
}

void nearest_try(Nearest *nearest, const char *word)
{
    if (strlen(nearest->wanted) > NEAREST_LONGEST || strlen(word) > NEAREST_LONGEST)
        return;
    int distance = edits_between(nearest->wanted, word);
    /* Replacing every letter of a short word is no typing mistake. */
    if (distance < nearest->distance && distance < (int)strlen(word)) {
        nearest->distance = distance;
        nearest->best = word;
    }
}

/* ---- sizes ---------------------------------------------------------------------------------------------------- */

static bool size_number(const char **at, int64_t *value)
{
    if (**at < '0' || **at > '9')
        return false;
    int64_t v = 0;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        if (!mul_fits(v, 10, &v) || !add_fits(v, **at - '0', &v))
            return false;
    }
    *value = v;
    return true;
}

static bool size_power(const char **at, int64_t *value)
{
    int64_t base, exponent;
    if (!size_number(at, &base))
        return false;
    *value = base;
    if (**at != '^')
        return true;
    ++*at;
    if (!size_number(at, &exponent) || (exponent > 64 && base > 1))
        return false;
    int64_t power = 1;
    for (int64_t i = 0; i < exponent && base > 1; i++) {
        if (!mul_fits(power, base, &power))
            return false;
    }
    *value = base > 1 || exponent == 0 ? power : base;
    return true;
}

static bool size_product(const char **at, int64_t *value)
{
    int64_t factor;
    if (!size_power(at, value))
        return false;
    while (**at == '*') {
        ++*at;
        if (!size_power(at, &factor) || !mul_fits(*value, factor, value))
            return false;
    }
    return true;
}

bool size_parse(const char *text, int64_t *value)
{
    int64_t term;
    if (!size_product(&text, value))
        return false;
    while (*text == '+' || *text == '-') {
        bool plus = *text++ == '+';
        if (!size_product(&text, &term) || !(plus ? add_fits(*value, term, value) : sub_fits(*value, term, value)))
            return false;
    }
    return *text == 0 && *value >= 0;
}

/* ---- parsing -------------------------------------------------------------------------------------------------- */

typedef struct Parsing {
    Ctx *ctx;
    CommandLine *line;
    int argc;
    char **argv;
    int at;
} Parsing;

static OptId find_long(const char *name, size_t n)
{
    for (int id = 0; id < OPT_COUNT; id++) {
        if (strlen(option_rows[id].name) == n && memcmp(option_rows[id].name, name, n) == 0)
            return (OptId)id;
    }
    return OPT_COUNT;
}

static OptId find_letter(char letter)
{
    for (int id = 0; id < OPT_COUNT; id++) {
        if (option_rows[id].letter && option_rows[id].letter == letter)
            return (OptId)id;
    }
    return OPT_COUNT;
}

/* `--n 1000`, `--xs=ones`, `-n 1000`. */
static bool propose_pair(Parsing *p, Diag *diag, const char *name)
{
    const char *equals = strchr(p->argv[p->at], '='), *value = equals ? equals + 1 : p->at + 1 < p->argc ? p->argv[p->at + 1] : "-";
    int64_t size;
    if (value[0] == '-' || !value[0] || (!equals && strstr(value, ".rise")))
        return false;
    bool number = size_parse(value, &size);
    diag_help(p->ctx, diag, "%s is given by `--%s %s=%s`", number ? "a size or tunable" : "an input", number ? "set" : "arg", name, value);
    return true;
}

static void unknown_option(Parsing *p, const char *word, const char *name)
{
    Diag *diag = diag_error(p->ctx, E0621, NO_SPAN, "there is no option `%s`", word);
    Nearest nearest;
    nearest_init(&nearest, name);
    for (int id = 0; id < OPT_COUNT; id++) {
        if (!option_rows[id].hidden)
            nearest_try(&nearest, option_rows[id].name);
    }
    enum { SHORT = 3 }; /* of so few letters, one more or another one makes another word */
    const char *given = intern(p->ctx, name, strcspn(name, "="));
    const char *other = other_tools_help(word[1] == '-' ? OTHER_OPTION : OTHER_LETTER, name);
    if (other)
        diag_help(p->ctx, diag, "%s", other);
    else if (nearest.best && !(strlen(given) <= SHORT && propose_pair(p, diag, given)))
        diag_help(p->ctx, diag, "did you mean `--%s`?", nearest.best);
    else if (!diag->help && ((word[1] != '-' && given[1]) || !propose_pair(p, diag, given)))
        diag_help(p->ctx, diag, "`risec help options` lists them");
}

/* True when `value` is one of the words in `choices`, separated by bars. */
static bool is_choice(const char *choices, const char *value)
{
    size_t n = strlen(value);
    for (const char *at = choices; *at;) {
        size_t len = strcspn(at, "|");
        if (len == n && memcmp(at, value, n) == 0)
            return true;
        at += len + (at[len] == '|');
    }
    return false;
}

static void bad_choice(Parsing *p, const OptRow *row, const char *value)
{
    Diag *diag = diag_error(p->ctx, E0621, NO_SPAN, "`--%s` is one of %s, and `%s` is not", row->name, row->arg, value);
    Nearest nearest;
    nearest_init(&nearest, value);
    for (const char *at = row->arg; *at;) {
        size_t len = strcspn(at, "|");
        nearest_try(&nearest, intern(p->ctx, at, len));
        at += len + (at[len] == '|');
    }
    const char *other = other_tools_help(OTHER_CHOICE, value);
    if (other)
        diag_help(p->ctx, diag, "%s", other);
    else if (nearest.best)
        diag_help(p->ctx, diag, "did you mean `--%s=%s`?", row->name, nearest.best);
}

static void no_pair(Parsing *p, const OptRow *row, const Given *given)
{
    const char *example = given->id == OPT_SET     ? "n=1000"
                          : given->id == OPT_SIZES ? "n=2^10,2^20"
                                                   : "xs=uniform",
               *name = given->value;
    const char *next = p->at + 1 < p->argc ? p->argv[p->at + 1] : "-";
    Diag *diag = diag_error(p->ctx, E0621, NO_SPAN,
                            "`--%s` needs a name and a value, as in `--%s %s`, and got `%s`",
                            row->name, row->name, example, name);
    bool value = next[0] != '-' && next[0] && !strstr(next, ".rise") && !strchr(name, '=');
    if (value && name[strspn(name, NAME_BYTES)] == 0)
        diag_help(p->ctx, diag,
                  strpbrk(next, "[](){}*; ") ? "they are one word: `--%s '%s=%s'`"
                                             : "they are one word: `--%s %s=%s`",
                  row->name, name, next);
}

static bool take_value(Parsing *p, const OptRow *row, Given *given)
{
    const char *equals;
    switch (row->kind) {
    case OK_FLAG:
    case OK_TEXT:
        if (row->kind == OK_TEXT && !given->value[0]) {
            diag_error(p->ctx, E0621, NO_SPAN, "`--%s` needs a value: --%s %s", row->name, row->name, row->arg);
            return false;
        }
        return true;
    case OK_CHOICE:
        if (is_choice(row->arg, given->value))
            return true;
        bad_choice(p, row, given->value);
        return false;
    case OK_NUMBER:
        if (size_parse(given->value, &given->number))
            return true;
        diag_error(p->ctx, E0621, NO_SPAN, "`--%s` needs an integer of at least 0, and `%s` is not one", row->name, given->value);
        return false;
    case OK_PAIR:
        equals = strchr(given->value, '=');
        if (!equals || equals == given->value || !equals[1]) {
            no_pair(p, row, given);
            return false;
        }
        given->name = intern(p->ctx, given->value, (size_t)(equals - given->value));
        given->value = equals + 1;
        if (given->id == OPT_SET && !size_parse(given->value, &given->number)) {
            Diag *diag = diag_error(p->ctx, E0621, NO_SPAN, "`--set %s=%s`: a size or tunable is an integer of at least 0, below 2^63",
                                    given->name, given->value);
            int64_t whole;
            if (other_tools_size(given->value, &whole))
                diag_help(p->ctx, diag, "write it out: `--set %s=%lld`; sums, products and powers such as 10^6 are understood, too", given->name, (long long)whole);
            else if (strpbrk(given->value, ".eE"))
                diag_help(p->ctx, diag, "an input of the entry is given by `--arg %s=%s`", given->name, given->value);
            return false;
        }
        return true;
    }
    return true;
}

/* `value`: what stands behind `=` (or directly behind the letter), else NULL. */
static void take_option(Parsing *p, OptId id, const char *value)
{
    const OptRow *row = &option_rows[id];
    if (row->kind == OK_FLAG && value) {
        diag_error(p->ctx, E0621, NO_SPAN, "`--%s` takes no value, and got `%s`", row->name, value);
        return;
    }
    if (row->kind != OK_FLAG && !value) {
        if (p->at + 1 >= p->argc) {
            diag_error(p->ctx, E0621, NO_SPAN, "`--%s` needs a value: --%s %s", row->name, row->name, row->arg);
            return;
        }
        value = p->argv[++p->at];
    }
    Given given = {id, NULL, value, 0};
    if (!take_value(p, row, &given))
        return;
    for (int i = 0; i < p->line->given.n; i++) {
        const Given *other = &p->line->given.at[i];
        if (other->id != id || (row->many && (!given.name || strcmp(given.name, other->name) != 0)))
            continue;
        if (row->kind == OK_FLAG)
            return;
        diag_error(p->ctx, E0621, NO_SPAN, "`--%s%s%s` is given twice: `%s` and `%s`", row->name, given.name ? " " : "",
                   given.name ? given.name : "", other->value, given.value);
        return;
    }
    vec_push(p->ctx, &p->line->given, given);
}

static void take_letters(Parsing *p, const char *word)
{
    for (const char *at = word + 1; *at; at++) {
        OptId id = find_letter(*at);
        if (id == OPT_COUNT) {
            unknown_option(p, word, word + 1);
            return;
        }
        if (option_rows[id].kind != OK_FLAG) {
            take_option(p, id, at[1] ? at + 1 : NULL);
            return;
        }
        take_option(p, id, NULL);
    }
}

static void take_word(Parsing *p, const char *word, bool only_operands)
{
    if (only_operands || word[0] != '-' || !word[1]) {
        vec_push(p->ctx, &p->line->words, word);
    } else if (word[1] != '-') {
        take_letters(p, word);
    } else {
        const char *equals = strchr(word, '=');
        size_t n = equals ? (size_t)(equals - word) : strlen(word);
        OptId id = find_long(word + 2, n - 2);
        if (id == OPT_COUNT)
            unknown_option(p, intern(p->ctx, word, n), intern(p->ctx, word + 2, n - 2));
        else
            take_option(p, id, equals ? equals + 1 : NULL);
    }
}

/* The first operand may be a verb; it is no operand then. */
static void find_verb(CommandLine *line)
{
    if (line->words.n) {
        Verb verb = verb_find(line->words.at[0]);
        if (verb != VERB_COUNT) {
            line->verb = verb;
            memmove(line->words.at, line->words.at + 1, sizeof *line->words.at * (size_t)(line->words.n - 1));
            line->words.n--;
        }
    }
    /* `risec run --help` is `risec help run`; alone, --help and --emit-docs are the verb. */
    if (option_on(line, OPT_HELP) || option_on(line, OPT_EMIT_DOCS)) {
        if (line->verb != VERB_HELP)
            line->words.n = 0;
        if (option_on(line, OPT_HELP) && line->verb != VERB_HELP && line->verb != VERB_COMPILE)
            line->words.at[line->words.n++] = verb_rows[line->verb].name;
        line->verb = VERB_HELP;
    } else if (option_on(line, OPT_VERSION)) {
        line->verb = VERB_VERSION;
    }
}

static void check_verbs(Ctx *ctx, const CommandLine *line)
{
    /* With --help beside them, other options do not matter. */
    if (line->verb == VERB_VERSION || (line->verb == VERB_HELP && option_on(line, OPT_HELP)))
        return;
    for (int i = 0; i < line->given.n; i++) {
        const OptRow *row = &option_rows[line->given.at[i].id];
        if (row->verbs & 1u << line->verb)
            continue;
        const char *verb = verb_rows[line->verb].name;
        Diag *diag = diag_error(ctx, E0621, NO_SPAN, "`--%s` does not belong to `risec%s%s`", row->name, verb[0] ? " " : "",
                                verb[0] ? verb : " FILE.rise");
        StrBuf verbs;
        sb_init(&verbs, ctx);
        for (int v = 0; v < VERB_COUNT; v++)
            if (row->verbs & 1u << v)
                sb_printf(&verbs, "%s`risec %s`", !verbs.len ? "" : row->verbs >> v == 1 ? " and " : ", ", verb_rows[v].usage);
        if (line->given.at[i].id == OPT_ENTRY && strstr(verb_rows[line->verb].usage, "[ENTRY]"))
            diag_help(ctx, diag, "here, the entry stands behind the file: `risec %s FILE.rise %s`", verb, line->given.at[i].value);
        else if (row->verbs & RUN && line->verb == VERB_COMPILE)
            diag_help(ctx, diag, "did you mean `risec run FILE.rise --%s`?", row->name);
        else
            diag_help(ctx, diag, "it belongs to %s", verbs.text);
    }
}

CommandLine *options_parse(Ctx *ctx, int argc, char **argv)
{
    Parsing p = {ctx, NEW(ctx, CommandLine), argc, argv, 1};
    p.line->verb = VERB_COMPILE;
    bool only_operands = false;
    for (; p.at < argc; p.at++) {
        if (!only_operands && strcmp(argv[p.at], "--") == 0)
            only_operands = true;
        else
            take_word(&p, argv[p.at], only_operands);
    }
    find_verb(p.line);
    check_verbs(ctx, p.line);
    return p.line;
}

const Given *option_get(const CommandLine *line, OptId id)
{
    for (int i = line->given.n - 1; i >= 0; i--) {
        if (line->given.at[i].id == id)
            return &line->given.at[i];
    }
    return NULL;
}

bool option_on(const CommandLine *line, OptId id) { return option_get(line, id) != NULL; }

const char *option_text(const CommandLine *line, OptId id)
{
    const Given *given = option_get(line, id);
    return given ? given->value : NULL;
}

bool option_sets(const CommandLine *line, const char *name)
{
    for (int i = 0; i < line->given.n; i++) {
        if (line->given.at[i].id == OPT_SET && strcmp(line->given.at[i].name, name) == 0)
            return true;
    }
    return false;
}

int64_t option_number(const CommandLine *line, OptId id, int64_t otherwise)
{
    const Given *given = option_get(line, id);
    return given ? given->number : otherwise;
}
