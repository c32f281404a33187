/* `:type`, `:run` and their like. Those that need more than the frontend are verbs of the command line, with the session for their file. */
#include "driver/repl.h"

#include "frontend/library.h"
#include "ir/prim.h"

typedef void CommandFn(Ctx *ctx, Turn *turn, const char *rest);
static CommandFn show_type, show_cuda, show_plan, run, help, quit;

static const struct {
    const char *name, *takes, *help;
    CommandFn *fn;
} commands[] = {
    {":type", "EXPRESSION", "its type, or the header of a function", show_type},
    {":run", "[NAME] n=1000 xs=uniform...", "run an entry or a definition: sizes and inputs as for --set and --arg of `risec run`, and its options", run},
    {":plan", "[NAME|EXPRESSION] n=1000...", "its kernels: what each computes, reads and stores", show_plan},
    {":cuda", "[NAME|EXPRESSION]", "its CUDA C", show_cuda},
    {":help", "", "this list", help},
    {":quit", "", "end; so does the end of the input", quit},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* ---- :help, :quit ------------------------------------------------------------------------------- */

static void help(Ctx *ctx, Turn *turn, const char *rest)
{
    (void)rest;
    repl_print(ctx, turn, "An expression is evaluated. `let x = e`, `def`, `entry`, `operator`, `import` and their like stay for the lines to come;\n"
                          "a name that is given again replaces the one before. An open bracket, or an operator at its end, continues a line.\n\n");
    for (int i = 0; i < COMMANDS; i++)
        repl_print(ctx, turn, "  %-36s %s\n", ctx_printf(ctx, "%s %s", commands[i].name, commands[i].takes), commands[i].help);
    repl_print(ctx, turn, "\nWithout NAME, the last entry or definition with parameters is meant. Ctrl-C ends what runs.\n");
}

static void quit(Ctx *ctx, Turn *turn, const char *rest)
{
    (void)ctx;
    (void)rest;
    turn->ends = true;
}

/* ---- words -------------------------------------------------------------------------------------- */

typedef struct Words {
    VEC(const char *) list;
} Words;

/* Blanks inside of brackets are a part of a word: xs=[1, 2]. */
static Words split(Ctx *ctx, const char *text)
{
    Words words = {0};
    for (const char *at = text; *(at += strspn(at, " \t\n"));) {
        const char *end = at;
        for (int depth = 0; *end && (depth > 0 || !strchr(" \t\n", *end)); end++)
            depth += (*end == '[') - (*end == ']');
        vec_push(ctx, &words.list, intern(ctx, at, (size_t)(end - at)));
        at = end;
    }
    return words;
}

/* ---- verbs -------------------------------------------------------------------------------------- */

/* What a command is about. */
typedef struct Subject {
    const char *name;
    Program *program;
    Words rest;
} Subject;

/* `n=1000`, `xs.1=[1, 2]`, `--verify` */
static bool is_option(const char *word)
{
    size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.");
    return strncmp(word, "--", 2) == 0 || (n > 0 && word[n] == '=' && word[n + 1] != '=');
}

static bool say_missing(Ctx *ctx, const char *name)
{
    Diag *diag = name ? diag_error(ctx, E0621, NO_SPAN, "there is no entry or definition `%s` in this session", name)
                      : diag_error(ctx, E0621, NO_SPAN, "there is no entry in this session yet, and no definition with parameters");
    diag_help(ctx, diag, "define one, as in `entry f {n: nat} (xs: n.f32): n.f32 = xs |> map(fun x => 2 * x)`");
    return false;
}

/* A name of the session, with options behind it; only options, which means the last item; or an expression. */
static bool find_subject(Ctx *ctx, Turn *turn, const char *rest, bool expressions, Subject *subject)
{
    Words words = split(ctx, rest);
    int n = words.list.n;
    *subject = (Subject){0};
    bool unnamed = n == 0 || is_option(words.list.at[0]);
    const SessionItem *item = unnamed ? session_last(turn->session) : session_find(turn->session, words.list.at[0]);
    int first = unnamed ? 0 : 1;
    if (item && (n == first || is_option(words.list.at[first]))) {
        subject->name = item->name;
        subject->program = session_program(ctx, turn->session, 0, NULL, item->name);
        for (int i = first; i < n; i++)
            vec_push(ctx, &subject->rest.list, words.list.at[i]);
        return ctx->diags.errors == 0;
    }
    if (unnamed || !expressions)
        return say_missing(ctx, unnamed ? NULL : words.list.at[0]);
    Typed typed = repl_definition(ctx, turn, rest, &subject->name);
    subject->program = session_program(ctx, turn->session, 1, &typed, subject->name);
    return ctx->diags.errors == 0;
}

static bool is_size(const Subject *subject, const char *name)
{
    const Item *item = program_item(subject->program, name ? subject->name : "");
    const char *known;
    bool tunable;
    for (int i = 0; item && (known = item_size(item, i, &tunable)); i++)
        if (strcmp(known, name) == 0)
            return true;
    return strcmp(name, "numSM") == 0 || strcmp(name, "maxResident") == 0;
}

/* `n=3` becomes `--set n=3`, and `xs=[1, 2]` `--arg xs=[1, 2]`. */
static void add_options(Ctx *ctx, const Subject *subject, Words *line)
{
    for (int i = 0; i < subject->rest.list.n; i++) {
        const char *word = subject->rest.list.at[i];
        if (is_option(word) && word[0] != '-')
            vec_push(ctx, &line->list, is_size(subject, intern(ctx, word, strcspn(word, "="))) ? "--set" : "--arg");
        vec_push(ctx, &line->list, word);
    }
}

/* A command line of risec, about the session. */
static void command_line(Ctx *ctx, Turn *turn, const Subject *subject, Words *line)
{
    Driver d = {.files = turn->d->files, .interrupt = turn->d->interrupt, .session = subject->program};
    add_options(ctx, subject, line);
    driver_line(ctx, &d, line->list.n, (char **)line->list.at);
    turn->failed |= d.status != STATUS_GOOD;
    turn->d->stdout_gone |= d.stdout_gone;
}

static void line_of(Ctx *ctx, Words *line, int n, const char *const *words)
{
    for (int i = 0; i < n; i++)
        vec_push(ctx, &line->list, words[i]);
}
#define LINE_OF(ctx, line, ...) line_of(ctx, line, (int)(sizeof (const char *[]){__VA_ARGS__} / sizeof(const char *)), (const char *[]){__VA_ARGS__})

static void run(Ctx *ctx, Turn *turn, const char *rest)
{
    Subject subject;
    Words line = {0};
    if (!find_subject(ctx, turn, rest, false, &subject))
        return;
    LINE_OF(ctx, &line, "risec", "run", SESSION_FILE, subject.name, "--untuned");
    command_line(ctx, turn, &subject, &line);
}

static void show_plan(Ctx *ctx, Turn *turn, const char *rest)
{
    Subject subject;
    Words line = {0};
    if (!find_subject(ctx, turn, rest, true, &subject))
        return;
    LINE_OF(ctx, &line, "risec", "lower", SESSION_FILE, subject.name, "--plan");
    command_line(ctx, turn, &subject, &line);
}

static void show_cuda(Ctx *ctx, Turn *turn, const char *rest)
{
    Subject subject;
    Words line = {0};
    if (!find_subject(ctx, turn, rest, true, &subject))
        return;
    LINE_OF(ctx, &line, "risec", SESSION_FILE, "--emit=cuda", "--entry", subject.name);
    command_line(ctx, turn, &subject, &line);
}

/* ---- :type -------------------------------------------------------------------------------------- */

/* The header of a function of the session, the language or the library; NULL: it is none. */
static const char *header_of(Ctx *ctx, Turn *turn, const char *name)
{
    const SessionItem *item = session_find(turn->session, name);
    PrimId prim = prim_find(name);
    if (!item)
        return prim == P_COUNT ? NULL : ctx_printf(ctx, "%s: %s", name, prim_signature(ctx, prim));
    if (!item->callable)
        return NULL;
    const AstFile *file = session_parse(ctx, &item->typed);
    StrBuf out;
    sb_init(&out, ctx);
    for (int i = 0; i < file->items.n; i++) {
        Item header = *file->items.at[i];
        header.body = NULL;
        header.doc = NULL;
        header.n_expects = 0;
        ast_print_item(&out, &header);
    }
    return out.text;
}

static void show_type(Ctx *ctx, Turn *turn, const char *rest)
{
    Words words = split(ctx, rest);
    const char *header = words.list.n == 1 ? header_of(ctx, turn, words.list.at[0]) : NULL;
    if (header) {
        size_t n = strlen(header);
        repl_print(ctx, turn, "%s%s", header, n && header[n - 1] == '\n' ? "" : "\n");
        return;
    }
    if (!words.list.n) {
        diag_error(ctx, E0621, NO_SPAN, "`:type` needs an expression, as in `:type 1 + 2`");
        return;
    }
    const CoreEntry *entry = repl_expression(ctx, turn, rest);
    if (entry)
        repl_print(ctx, turn, "%s\n", type_text(ctx, entry->result));
}

/* ---- a command ---------------------------------------------------------------------------------- */

void repl_command(Ctx *ctx, Turn *turn)
{
    const char *at = turn->typed.text + strspn(turn->typed.text, " \t");
    size_t n = strcspn(at, " \t\n");
    const char *name = intern(ctx, at, n);
    Nearest nearest;
    nearest_init(&nearest, name);
    for (int i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            commands[i].fn(ctx, turn, at + n + strspn(at + n, " \t"));
            return;
        }
        nearest_try(&nearest, commands[i].name);
    }
    uint32_t lo = (uint32_t)(at - turn->typed.text), file = session_source(ctx, &turn->typed);
    Span span = {file, lo, lo + (uint32_t)n};
    Diag *diag = diag_error(ctx, E0621, span, "there is no command `%s`", name);
    if (nearest.best)
        diag_propose(ctx, diag, span, "did you mean $?", "%s", nearest.best);
    else
        diag_help(ctx, diag, "`:help` lists the commands");
}
