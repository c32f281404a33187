/* `risec test FILE|FOLDER...`: the `expect` clauses of each file, each file by itself. */
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/expect.h"
#include "driver/folders.h"

enum {
    MOST_JOBS = 256
};

/* What is known of a file when it is done; a process of its own sends it through a pipe, with the
 * texts behind it. */
typedef struct Tally {
    int status;
    int clauses, failed;
    int64_t runs;
    size_t out_size, err_size;
} Tally;

typedef struct Test { /* one file */
    Driver *d;
    const char *path;
    bool named; /* on the command line, and not found in a folder */
    Tally tally;
    StrBuf out, err; /* the whole command's context */
} Test;

/* ---- one file -------------------------------------------------------------------------------- */

static bool check_settings(Ctx *ctx, Driver *d, const Program *program)
{
    int n = program_entry_count(program);
    const Item **items = NEWN(ctx, const Item *, n + 1);
    for (int k = 0; k < n; k++)
        items[k] = program_entry_item(program, k);
    return driver_check_settings(ctx, d, n, items, true);
}

static void put_outcome_json(StrBuf *out, const ExpectOutcome *o)
{
    sb_puts(out, "{\"entry\": ");
    sb_put_json(out, o->entry);
    sb_printf(out, ", \"line\": %d, \"kind\": \"%s\", \"against\": ", o->line,
              o->counters ? "counters" : "result");
    if (o->against)
        sb_put_json(out, o->against);
    else
        sb_puts(out, "null");
    sb_printf(out, ", \"holds\": %s, \"runs\": %lld, \"failed\": %lld", o->good ? "true" : "false",
              (long long)o->runs, (long long)o->failed);
    if (o->first)
        sb_printf(out, ", \"first\": {%s}", o->first);
    sb_puts(out, "}");
}

static void put_json(Ctx *ctx, Test *test, const ExpectOutcomes *outcomes)
{
    StrBuf *out = &test->out, report;
    sb_init(&report, ctx);
    diag_render_json(ctx, &report);
    sb_puts(out, "{\"file\": ");
    sb_put_json(out, test->path);
    sb_puts(out, ", \"checks\": [");
    for (int i = 0; i < outcomes->n; i++) {
        sb_puts(out, i ? ", " : "");
        put_outcome_json(out, &outcomes->at[i]);
    }
    sb_printf(out, "], \"report\": %.*s}", (int)report.len - 1, report.text);
}

static void put_text(Test *test, const ExpectOutcomes *outcomes)
{
    StrBuf *out = &test->out;
    const Tally *tally = &test->tally;
    if (option_on(test->d->line, OPT_QUIET))
        return;
    for (int i = 0; option_on(test->d->line, OPT_VERBOSE) && i < outcomes->n; i++) {
        const ExpectOutcome *o = &outcomes->at[i];
        sb_printf(out, "%s:%d: %s: %s%s%s %s, %lld run%s\n", test->path, o->line, o->entry,
                  o->counters ? "counters" : "result", o->against ? " == " : "",
                  o->against ? o->against : "", o->good ? "holds" : "does not hold",
                  (long long)o->runs, o->runs == 1 ? "" : "s");
    }
    if (tally->clauses)
        sb_printf(out, "%s: %d of %d hold, %lld run%s\n", test->path,
                  tally->clauses - tally->failed, tally->clauses, (long long)tally->runs,
                  tally->runs == 1 ? "" : "s");
}

/* The memory of a file goes before the next one; its messages are printed, not kept. */
static void run_test(Ctx *ctx, void *user)
{
    Test *test = user;
    Driver d = *test->d;
    ExpectOutcomes outcomes = {0};
    Program *program;
    d.status = STATUS_GOOD;
    if (driver_load(ctx, &d, test->path, &program) && driver_no_errors(ctx, &d) &&
        check_settings(ctx, &d, program))
        expect_check(ctx, &d, program, test->path, &outcomes);
    say_step(d.say, "checked the `expect` clauses of %s", test->path);
    if (outcomes.n == 0 && test->named && ctx->diags.errors == 0) {
        const char *entry = option_text(d.line, OPT_ENTRY);
        const int64_t line = option_number(d.line, OPT_CLAUSE, 0);
        const char *in = line ? ctx_printf(ctx, "line %lld of ", (long long)line) : entry ? ctx_printf(ctx, "%s in ", entry) : "";
        Diag *diag = driver_usage(ctx, &d, E0672, "no check: %s%s has no `expect` clause", in, test->path);
        diag_help(ctx, diag, "write `expect result == other for n = 0, 1, 1000` before the body");
        d.status = STATUS_PROGRAM;
    }
    driver_no_errors(ctx, &d);
    driver_only_errors(ctx, &d);
    Tally *tally = &test->tally;
    tally->status = d.status;
    tally->clauses = outcomes.n;
    for (int i = 0; i < outcomes.n; i++) {
        tally->failed += !outcomes.at[i].good;
        tally->runs += outcomes.at[i].runs;
    }
    if (option_on(d.line, OPT_JSON)) {
        put_json(ctx, test, &outcomes);
    } else {
        diag_render(ctx, &test->err, driver_colour());
        put_text(test, &outcomes);
    }
    ctx->diags = (Diags){0};
}

/* ---- several at a time -------------------------------------------------------------------------
 */

static bool write_all(int file, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        ssize_t n = write(file, at, size);
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static bool read_all(int file, void *bytes, size_t size)
{
    char *at = bytes;
    while (size > 0) {
        ssize_t n = read(file, at, size);
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static _Noreturn void be_child(Ctx *ctx, Test *test, int file)
{
    Driver d = *test->d;
    d.say = NULL; /* its thread and its lock are the parent's */
    test->d = &d;
    ctx_do_inside(ctx, run_test, test);
    Tally *tally = &test->tally;
    tally->out_size = test->out.len;
    tally->err_size = test->err.len;
    bool sent = write_all(file, tally, sizeof *tally) &&
                write_all(file, test->out.text, test->out.len) &&
                write_all(file, test->err.text, test->err.len);
    _exit(sent ? 0 : 1);
}

typedef struct Job {
    pid_t child; /* -1: there is none, and the file waits for the parent */
    int file;
} Job;

static Job start(Ctx *ctx, Test *test)
{
    int ends[2];
    if (pipe(ends) != 0)
        return (Job){-1, -1};
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        be_child(ctx, test, ends[1]);
    }
    close(ends[1]);
    if (child < 0)
        close(ends[0]);
    return (Job){child, ends[0]};
}

static void take_text(StrBuf *text, int file, size_t size, bool *good)
{
    char *bytes = ctx_alloc(text->ctx, size + 1);
    *good = *good && read_all(file, bytes, size);
    if (*good)
        sb_putn(text, bytes, size);
}

static void finish(Ctx *ctx, Test *test, Job job)
{
    if (job.child < 0) {
        ctx_do_inside(ctx, run_test, test);
        return;
    }
    int ended;
    Tally *tally = &test->tally;
    bool good = read_all(job.file, tally, sizeof *tally);
    take_text(&test->out, job.file, good ? tally->out_size : 0, &good);
    take_text(&test->err, job.file, good ? tally->err_size : 0, &good);
    close(job.file);
    while (waitpid(job.child, &ended, 0) < 0)
        ctx_look(ctx);
    if (good)
        return;
    *tally = (Tally){.status = STATUS_BUG, .clauses = 1, .failed = 1};
    sb_printf(&test->err, "risec: the check of %s has ended without an answer\n", test->path);
}

/* ---- all files ---------------------------------------------------------------------------------
 */

typedef struct Totals {
    int files, without, clauses, failed;
} Totals;

static void show(Ctx *ctx, Driver *d, Test *test, Totals *totals, StrBuf *json)
{
    driver_fail(d, test->tally.status);
    totals->files++;
    totals->without += test->tally.clauses == 0;
    totals->clauses += test->tally.clauses;
    totals->failed += test->tally.failed;
    if (option_on(d->line, OPT_JSON)) {
        sb_printf(json, "%s%s", totals->files > 1 ? ", " : "", test->out.text);
    } else {
        say_pause(d->say);
        fwrite(test->err.text, 1, test->err.len, stderr);
        say_resume(d->say);
        if (test->out.len)
            driver_write(ctx, d, "-", test->out.text, test->out.len);
    }
}

static void put_totals(Ctx *ctx, Driver *d, const Totals *totals, const StrBuf *json)
{
    StrBuf out;
    sb_init(&out, ctx);
    if (option_on(d->line, OPT_JSON)) {
        sb_printf(&out, "{\"files\": [%s], \"checks\": %d, \"failed\": %d, \"exit\": %d}\n",
                  json->text, totals->clauses, totals->failed, d->status);
    } else if (totals->files > 1 && !option_on(d->line, OPT_QUIET)) {
        sb_printf(&out, "%d of %d hold in %d files", totals->clauses - totals->failed,
                  totals->clauses, totals->files - totals->without);
        if (totals->without)
            sb_printf(&out, ", and %d have no `expect` clause", totals->without);
        sb_putc(&out, '\n');
    }
    if (out.len)
        driver_write(ctx, d, "-", out.text, out.len);
}

static bool is_named(const Driver *d, const char *path)
{
    for (int i = 0; i < d->line->words.n; i++)
        if (strcmp(d->line->words.at[i], path) == 0)
            return true;
    return false;
}

void cmd_test(Ctx *ctx, Driver *d)
{
    int64_t jobs = option_number(d->line, OPT_JOBS, 1);
    Paths paths = driver_paths(ctx, d);
    int n = paths.list.n, started = 0;
    if (jobs < 1 || jobs > MOST_JOBS) {
        driver_usage(ctx, d, E0621, "`--jobs` is a number of files from 1 to %d", MOST_JOBS);
        return;
    }
    Test *tests = NEWN(ctx, Test, n + 1);
    Job *running = NEWN(ctx, Job, n + 1);
    Totals totals = {0};
    StrBuf json;
    sb_init(&json, ctx);
    for (int i = 0; i < n; i++) {
        const char *path = paths.list.at[i];
        tests[i] = (Test){.d = d, .path = path, .named = is_named(d, path)};
        sb_init(&tests[i].out, ctx);
        sb_init(&tests[i].err, ctx);
    }
    for (int i = 0; i < n; i++) {
        for (; started < n && started < i + jobs; started++)
            running[started] = jobs > 1 && n > 1 ? start(ctx, &tests[started]) : (Job){-1, -1};
        say_work(d->say, "file %d of %d, %s", i + 1, n, tests[i].path);
        finish(ctx, &tests[i], running[i]);
        show(ctx, d, &tests[i], &totals, &json);
    }
    put_totals(ctx, d, &totals, &json);
}
