/* What all verbs use to fail and to write. */
#include "driver/driver.h"

#include "rewrite/laws.h"

#include "frontend/costs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool driver_colour(void)
{
    const char *no = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && !(no && no[0]) && !(term && strcmp(term, "dumb") == 0);
}

void driver_fail(Driver *d, int status)
{
    if (status > d->status)
        d->status = status;
}

void driver_only_errors(Ctx *ctx, const Driver *d)
{
    Diags *diags = &ctx->diags;
    int n = 0;
    if (!d->line || !option_on(d->line, OPT_QUIET))
        return;
    for (int i = 0; i < diags->list.n; i++)
        if (!diags->list.at[i]->warning)
            diags->list.at[n++] = diags->list.at[i];
    diags->list.n = n;
    diags->warnings = 0;
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

/* `tuning`: a tuning file may be written. */
static bool may_write(Ctx *ctx, Driver *d, const char *path, bool tuning)
{
    FileRole role = driver_files_role(d->files, path);
    if (role == FILE_UNKNOWN || (role == FILE_TUNING && tuning) || option_on(d->line, OPT_FORCE))
        return true;
    Diag *diag = driver_usage(ctx, d, E0636, "%s: %s", path,
                              role == FILE_TUNING ? "this is the tuning file of the program" : "this file is read by the same command");
    diag_help(ctx, diag, "write to another file, or say `--force` to lose what is in this one");
    return false;
}

bool driver_may_write(Ctx *ctx, Driver *d, const char *path) { return may_write(ctx, d, path, false); }

bool driver_may_tune(Ctx *ctx, Driver *d, const char *path)
{
    driver_files_is_tuning(d->files, ctx, path);
    return may_write(ctx, d, path, true);
}

static bool write_whole(Ctx *ctx, Driver *d, const char *path, const void *bytes, size_t size)
{
    say_pause(d->say);
    errno = 0;
    bool good = ctx->files.write(ctx->files.user, path, bytes, size) == FILE_OK, standard = strcmp(path, "-") == 0;
    const char *why = errno ? strerror(errno) : "it cannot be written";
    say_resume(d->say);
    if (good && !standard)
        say(d->say, "wrote %s, %zu bytes", path, size);
    if (good)
        return true;
    driver_fail(d, STATUS_USAGE);
    if (standard && errno == EPIPE)
        d->stdout_gone = true;
    else
        diag_error(ctx, E0628, NO_SPAN, "%s: %s", standard ? "standard output" : path, why);
    return false;
}

bool driver_write(Ctx *ctx, Driver *d, const char *path, const void *bytes, size_t size)
{
    return driver_may_write(ctx, d, path) && write_whole(ctx, d, path, bytes, size);
}

bool driver_write_tuning(Ctx *ctx, Driver *d, const char *path, const void *bytes, size_t size)
{
    return driver_may_tune(ctx, d, path) && write_whole(ctx, d, path, bytes, size);
}

bool driver_write_back(Ctx *ctx, Driver *d, const char *path, const void *bytes, size_t size) { return write_whole(ctx, d, path, bytes, size); }

bool driver_source(Ctx *ctx, Driver *d, const char *path, uint32_t *file)
{
    char *text;
    size_t size;
    FileStatus status = ctx->files.read(ctx->files.user, ctx, path, FILE_ANY, LIMIT_SOURCE_BYTES, &text, &size);
    if (status == FILE_OK)
        *file = source_add(ctx, path, text, size);
    else
        driver_usage(ctx, d, E0205, "cannot read `%s`: %s", path, status == FILE_TOO_LARGE ? "it is larger than 16 MiB" : file_status_text(status));
    return status == FILE_OK;
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

bool driver_costs(Ctx *ctx, Driver *d)
{
    const char *path = option_text(d->line, OPT_COSTS);
    char *text;
    size_t size;
    if (!path)
        return true;
    FileStatus status = ctx->files.read(ctx->files.user, ctx, path, FILE_ANY, LIMIT_SOURCE_BYTES, &text, &size);
    if (status != FILE_OK) {
        driver_usage(ctx, d, E0621, "`--costs %s`: the file cannot be read: %s", path, file_status_text(status));
        return false;
    }
    ctx->costs = costs_parse(ctx, source_add(ctx, path, text, size));
    return ctx->costs || driver_no_errors(ctx, d);
}

ImpProgram *driver_lower(Ctx *ctx, Driver *d, const CoreEntry *entry, LowerPass last)
{
    int before = ctx->diags.list.n;
    ImpProgram *imp = lower_entry(ctx, entry, last);
    if (imp) {
        say_step(d->say, "lowered `%s` to %d kernel%s", entry->name, imp->kernels.n, imp->kernels.n == 1 ? "" : "s");
        laws_advise(ctx, entry);
        return imp;
    }
    driver_fail(d, STATUS_PROGRAM);
    if (entry->n_classes && ctx->diags.list.n > before)
        diag_note(ctx, ctx->diags.list.at[before], entry->classes[0].span, "`%s` is tuned, from this line on", entry->name);
    return NULL;
}

/* The class of a launch; NULL where the entry is not tuned. */
static const CoreClass *class_of(Ctx *ctx, const CoreEntry *entry, const Launch *launch)
{
    for (int k = 0; k < entry->n_classes; k++) {
        bool holds = true;
        if (!entry->classes[k].test || (launch_test(ctx, entry, launch, entry->classes[k].test, &holds) && holds))
            return &entry->classes[k];
    }
    return NULL;
}

const int64_t *driver_tunables(Ctx *ctx, const CoreEntry *entry, const Launch *launch)
{
    const CoreClass *class = class_of(ctx, entry, launch);
    return class ? class->tunable_values : entry->tunable_values;
}

void driver_put_tuned(Ctx *ctx, StrBuf *out, const CoreEntry *entry, const Launch *launch)
{
    const CoreClass *class = class_of(ctx, entry, launch);
    const char *between = " (tuned: ";
    for (int i = 0; class && i < entry->n_tunables; i++, between = ", ")
        sb_printf(out, "%s%s = %lld", between, entry->tunable_names[i], (long long)class->tunable_values[i]);
    if (class && class->strategy)
        sb_printf(out, "%slowered by %s", between, class->strategy);
    else if (class && between[0] != ',')
        sb_puts(out, " (tuned");
    sb_puts(out, class ? ")" : "");
}

void driver_put_tunables(Ctx *ctx, StrBuf *out, const CoreEntry *entry, const Launch *launch)
{
    const CoreClass *class = class_of(ctx, entry, launch);
    const int64_t *tunables = driver_tunables(ctx, entry, launch);
    sb_puts(out, "\"tunables\": {");
    for (int i = 0; i < entry->n_tunables; i++)
        sb_printf(out, "%s\"%s\": %lld", i ? ", " : "", entry->tunable_names[i], (long long)tunables[i]);
    sb_puts(out, class ? "}, \"tuned\": true" : "}");
    if (class && class->strategy) {
        sb_puts(out, ", \"strategy\": ");
        sb_put_json(out, class->strategy);
    }
}
