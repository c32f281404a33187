/* One command line: parses it, runs one verb, prints the diagnostics, and turns what happened into an exit code. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver/driver.h"
#include "driver/interrupt.h"

/* ---- from start to end ---------------------------------------------------------------------------------------- */

typedef struct Start {
    int argc;
    char **argv;
    Driver driver;
    Ctx *ctx;
    bool enough; /* memory */
} Start;

/* The only one that does not look at a file, or print what it finds. */
static void cmd_lsp(Ctx *ctx, Driver *d)
{
    if (d->lsp) {
        driver_fail(d, d->lsp() == 0 ? STATUS_GOOD : STATUS_PROGRAM);
        return;
    }
    Diag *diag = driver_usage(ctx, d, E0680, "this `risec` is built without `lsp`");
    diag_help(ctx, diag, "the language server needs libjansson: install it (Debian: libjansson-dev), configure and build again");
}

/* `check` has tried them already, file by file. */
static void try_hints(Ctx *ctx, Driver *d)
{
    if (d->program && !d->session && ctx->diags.errors && d->line->verb != VERB_CHECK)
        driver_try_hints(ctx, d, d->path, d->program, 0);
}

void driver_line(Ctx *ctx, Driver *d, int argc, char **argv)
{
    d->line = options_parse(ctx, argc, argv);
    if (ctx->diags.errors) {
        driver_fail(d, STATUS_USAGE);
        return;
    }
    if (option_on(d->line, OPT_QUIET) && option_on(d->line, OPT_VERBOSE)) {
        driver_usage(ctx, d, E0621, "`--quiet` and `--verbose` contradict each other");
        return;
    }
    if (d->say)
        say_open(d->say, option_on(d->line, OPT_VERBOSE), !option_on(d->line, OPT_QUIET) && d->line->verb != VERB_REPL && d->line->verb != VERB_LSP);
    if (!driver_costs(ctx, d))
        return;
    switch (d->line->verb) {
    case VERB_COMPILE:
        cmd_compile(ctx, d);
        break;
    case VERB_NEW:
        cmd_new(ctx, d);
        break;
    case VERB_CHECK:
        cmd_check(ctx, d);
        break;
    case VERB_FMT:
        cmd_fmt(ctx, d);
        break;
    case VERB_TEST:
        cmd_test(ctx, d);
        break;
    case VERB_DOCTOR:
        cmd_doctor(ctx, d);
        break;
    case VERB_LOWER:
        cmd_lower(ctx, d);
        break;
    case VERB_RUN:
        cmd_run(ctx, d);
        break;
    case VERB_BENCH:
        cmd_bench(ctx, d);
        break;
    case VERB_TUNE:
        cmd_tune(ctx, d);
        break;
    case VERB_REPL:
        cmd_repl(ctx, d);
        break;
    case VERB_CACHE:
        cmd_cache(ctx, d);
        break;
    case VERB_LSP:
        cmd_lsp(ctx, d);
        break;
    case VERB_HELP:
        cmd_help(ctx, d);
        break;
    case VERB_EXPLAIN:
        cmd_explain(ctx, d);
        break;
    case VERB_VERSION:
        cmd_version(ctx, d);
        break;
    case VERB_COUNT:
        break;
    }
    driver_no_errors(ctx, d);
    try_hints(ctx, d);
}

static void run_verb(Ctx *ctx, void *user)
{
    Start *start = user;
    driver_line(ctx, &start->driver, start->argc, start->argv);
}

/* `check --json` gives them as what it prints. */
static void print_diagnostics(Ctx *ctx, void *user)
{
    Start *start = user;
    const CommandLine *line = start->driver.line;
    driver_only_errors(ctx, &start->driver);
    if (line && line->verb == VERB_CHECK && option_on(line, OPT_JSON)) {
        StrBuf json;
        sb_init(&json, ctx);
        diag_render_json(ctx, &json);
        if (ctx->files.write(ctx->files.user, "-", json.text, json.len) != FILE_OK)
            driver_fail(&start->driver, STATUS_USAGE);
        return;
    }
    if (ctx->diags.list.n == 0)
        return;
    StrBuf text;
    sb_init(&text, ctx);
    diag_render(ctx, &text, driver_colour());
    fwrite(text.text, 1, text.len, stderr);
}

static void run(void *user)
{
    Start *start = user;
    bool done = ctx_try(start->ctx, run_verb, start);
    say_close(start->driver.say);
    start->enough = ctx_try(start->ctx, print_diagnostics, start) && done;
}

int driver_command(int argc, char **argv) { return driver_command_with(argc, argv, NULL); }

int driver_command_with(int argc, char **argv, int (*lsp)(void))
{
    /* A reader that leaves (`risec ... | head`) shall be seen as a write that fails, not as a signal. */
    signal(SIGPIPE, SIG_IGN);
    /* So shall a file that gets larger than the user's limit. */
    signal(SIGXFSZ, SIG_IGN);
    Say said = {0};
    Start start = {.argc = argc, .argv = argv, .driver.lsp = lsp, .driver.say = &said};
    Interrupt interrupt = {0};
    start.driver.interrupt = &interrupt;
    interrupt_watch(&interrupt);
    Ctx *ctx = ctx_new(NULL, NULL);
    if (ctx)
        ctx->brake = &interrupt.brake;
    start.driver.files = ctx ? driver_files_new(ctx) : NULL;
    start.ctx = ctx;
    if (start.driver.files)
        stack_run(run, &start);
    if (!start.enough && !interrupt.brake.pulled) {
        fputs("risec: out of memory\n", stderr);
        start.driver.status = STATUS_MEMORY;
    }
    ctx_free(ctx);
    driver_files_free(start.driver.files);
    interrupt_end(&interrupt);
    return start.driver.status;
}
