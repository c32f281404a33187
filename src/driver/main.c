/* risec: the command line. Parses it, runs one verb, prints the diagnostics, and turns what happened into an exit code. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "driver/driver.h"

void driver_fail(Driver *d, int status)
{
    if (status > d->status)
        d->status = status;
}

Diag *driver_usage(Ctx *ctx, Driver *d, DiagCode code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    StrBuf text;
    sb_init(&text, ctx);
    sb_vprintf(&text, fmt, args);
    va_end(args);
    driver_fail(d, STATUS_USAGE);
    return diag_error(ctx, code, NO_SPAN, "%s", text.text);
}

bool driver_write(Ctx *ctx, Driver *d, const char *path, const void *bytes, size_t size)
{
    errno = 0;
    if (ctx->files.write(ctx->files.user, path, bytes, size) == FILE_OK)
        return true;
    const char *why = errno ? strerror(errno) : "it cannot be written";
    bool standard = strcmp(path, "-") == 0;
    driver_fail(d, STATUS_USAGE);
    if (standard && errno == EPIPE)
        d->stdout_gone = true;
    else
        diag_error(ctx, E0628, NO_SPAN, "%s: %s", standard ? "standard output" : path, why);
    return false;
}

bool driver_verify(Ctx *ctx, Driver *d, const CoreEntry *entry)
{
    const char *fault = core_verify(ctx, entry);
    if (!fault)
        return true;
    fprintf(stderr, "risec: a bug in risec, not in your program: the typed form of `%s` is wrong: %s\n"
                    "Please report it, with the program.\n", entry->name, fault);
    driver_fail(d, STATUS_BUG);
    return false;
}

bool driver_no_errors(Ctx *ctx, Driver *d)
{
    if (ctx->diags.errors == 0)
        return d->status == STATUS_GOOD;
    driver_fail(d, STATUS_PROGRAM);
    for (int i = 0; i < ctx->diags.list.n; i++) {
        if (ctx->diags.list.at[i]->code == E0510) /* a bug in risec */
            driver_fail(d, STATUS_BUG);
    }
    return false;
}

/* ---- from start to end ---------------------------------------------------------------------------------------- */

typedef struct Start {
    int argc;
    char **argv;
    Driver driver;
} Start;

static void run_verb(Ctx *ctx, void *user)
{
    Start *start = user;
    Driver *d = &start->driver;
    d->line = options_parse(ctx, start->argc, start->argv);
    if (ctx->diags.errors) {
        driver_fail(d, STATUS_USAGE);
        return;
    }
    switch (d->line->verb) {
    case VERB_COMPILE:
        cmd_compile(ctx, d);
        break;
    case VERB_CHECK:
        cmd_check(ctx, d);
        break;
    case VERB_RUN:
        cmd_run(ctx, d);
        break;
    case VERB_CACHE:
        cmd_cache(ctx, d);
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
}

static bool wants_colour(void)
{
    const char *no = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && !(no && no[0]) && !(term && strcmp(term, "dumb") == 0);
}

static void print_diagnostics(Ctx *ctx, void *user)
{
    (void)user;
    if (ctx->diags.list.n == 0)
        return;
    StrBuf text;
    sb_init(&text, ctx);
    diag_render(ctx, &text, wants_colour());
    fwrite(text.text, 1, text.len, stderr);
}

int main(int argc, char **argv)
{
    /* A reader that leaves (`risec ... | head`) shall be seen as a write that fails, not as a signal. */
    signal(SIGPIPE, SIG_IGN);
    Start start = {argc, argv, {0}};
    Ctx *ctx = ctx_new(NULL, NULL);
    bool enough = ctx && ctx_try(ctx, run_verb, &start);
    enough = ctx && ctx_try(ctx, print_diagnostics, NULL) && enough;
    if (!enough) {
        fputs("risec: out of memory\n", stderr);
        start.driver.status = STATUS_MEMORY;
    }
    ctx_free(ctx);
    return start.driver.status;
}
