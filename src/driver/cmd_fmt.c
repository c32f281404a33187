/* `risec fmt FILE...` */
#include <limits.h>
#include <stdio.h>

#include "driver/folders.h"
#include "format/format.h"

typedef struct Work {
    Driver *d;
    const char *path;
    uint32_t file;
    int first, last; /* lines */
} Work;

/* `--lines A:B`; false with a diagnostic. */
static bool take_lines(Ctx *ctx, Driver *d, Work *work)
{
    const char *lines = option_text(d->line, OPT_LINES);
    int64_t first = 1, last = INT_MAX;
    if (lines) {
        const char *colon = strchr(lines, ':');
        const char *from = colon ? intern(ctx, lines, (size_t)(colon - lines)) : lines;
        if (!colon || !size_parse(from, &first) || !size_parse(colon + 1, &last) || first < 1 ||
            last < first || last > INT_MAX) {
            Diag *diag = driver_usage(ctx, d, E0621, "`--lines %s` names no lines", lines);
            diag_help(ctx, diag, "write the first and the last one, as in `--lines 10:20`");
            return false;
        }
    }
    work->first = (int)first;
    work->last = (int)last;
    return true;
}

/* Where the texts part. */
static void say_unformatted(Ctx *ctx, const Work *work, const Source *source, const StrBuf *text)
{
    uint32_t at = 0;
    while (at < source->size && at < text->len && source->text[at] == text->text[at])
        at++;
    uint32_t start = at, end = at;
    while (start > 0 && source->text[start - 1] != '\n')
        start--;
    while (end < source->size && source->text[end] != '\n' && source->text[end] != '\r')
        end++;
    Diag *diag = diag_error(ctx, E0670, (Span){work->file, start, end},
                            "this line is not as `risec fmt` writes it; it is the first one");
    diag_help(ctx, diag, "`risec fmt %s` formats it", work->path);
}

static void format_one(Ctx *ctx, void *user)
{
    Work *work = user;
    Driver *d = work->d;
    const Source *source = source_get(ctx, work->file);
    bool standard = strcmp(work->path, "-") == 0, check = option_on(d->line, OPT_FMT_CHECK);
    StrBuf text;
    sb_init(&text, ctx);
    switch (format_source(ctx, work->file, work->first, work->last, &text)) {
    case FORMAT_MISTAKE: driver_fail(d, STATUS_PROGRAM); return;
    case FORMAT_BUG:
        fprintf(stderr,
                "risec: a bug in risec, not in your program: %s would have other tokens after "
                "formatting, so it stays as it is\n"
                "Please report it, with the file.\n",
                source->name);
        driver_fail(d, STATUS_BUG);
        return;
    case FORMAT_GOOD: break;
    }
    say_step(d->say, "laid out %s", source->name);
    bool same = text.len == source->size && memcmp(text.text, source->text, text.len) == 0;
    const char *out = option_text(d->line, OPT_OUTPUT);
    if (check && !same)
        say_unformatted(ctx, work, source, &text);
    else if (!check && (out || standard))
        driver_write(ctx, d, out ? out : "-", text.text, text.len);
    else if (!same)
        driver_write_back(ctx, d, work->path, text.text, text.len);
}

void cmd_fmt(Ctx *ctx, Driver *d)
{
    Work work = {.d = d};
    if (!take_lines(ctx, d, &work))
        return;
    Paths paths = driver_paths(ctx, d);
    const OptId of_one[] = {OPT_LINES, OPT_OUTPUT};
    for (int i = 0; i < 2 && paths.list.n > 1; i++)
        if (option_on(d->line, of_one[i])) {
            driver_usage(ctx, d, E0621, "`--%s` is about one file, and %d are given",
                         option_rows[of_one[i]].name, paths.list.n);
            return;
        }
    for (int i = 0; i < paths.list.n; i++) {
        work.path = paths.list.at[i];
        say_work(d->say, "file %d of %d, %s", i + 1, paths.list.n, work.path);
        if (driver_source(ctx, d, work.path, &work.file))
            ctx_do_inside(ctx, format_one, &work);
    }
}
