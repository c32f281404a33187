/* With libedit a terminal has lines that can be edited, and a history; without it, plain lines. */
#include "driver/line_reader.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef RISEC_EDIT
#include <editline/readline.h>
#endif

#ifdef RISEC_EDIT

enum { HISTORY_LINES = 1000 };

static void make_folders(Ctx *ctx, const char *path)
{
    for (const char *at = path + 1; (at = strchr(at, '/')); at++)
        mkdir(intern(ctx, path, (size_t)(at - path)), 0700); /* the next step says whether it is there */
}

/* In $XDG_STATE_HOME/rise, or ~/.local/state/rise; NULL: there is no such place. */
static const char *history_path(Ctx *ctx)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    const char *path = state && state[0] == '/' ? ctx_printf(ctx, "%s/rise/history", state)
                       : home && home[0] == '/' ? ctx_printf(ctx, "%s/.local/state/rise/history", home)
                                                : NULL;
    if (path)
        make_folders(ctx, path);
    return path;
}

static void open_history(Ctx *ctx, LineReader *reader)
{
    reader->history = history_path(ctx);
    rl_initialize();
    using_history();
    stifle_history(HISTORY_LINES);
    if (reader->history)
        read_history(reader->history);
}

static void close_history(LineReader *reader)
{
    if (reader->history && write_history(reader->history) == 0)
        chmod(reader->history, 0600);
    clear_history();
}

static LineRead read_edited(LineReader *reader, const char *prompt)
{
    errno = 0;
    free(reader->line);
    reader->line = readline(prompt);
    if (!reader->line)
        return errno == EINTR ? LINE_INTERRUPTED : LINE_END;
    HIST_ENTRY *last = history_length ? history_get(history_base + history_length - 1) : NULL;
    if (reader->line[0] && !(last && strcmp(last->line, reader->line) == 0))
        add_history(reader->line);
    return LINE_GIVEN;
}

#else

static void open_history(Ctx *ctx, LineReader *reader)
{
    (void)ctx;
    reader->edits = false;
}

static void close_history(LineReader *reader) { (void)reader; }
static LineRead read_edited(LineReader *reader, const char *prompt)
{
    (void)prompt;
    (void)reader;
    return LINE_END; /* not reached: nothing is edited */
}

#endif

void line_reader_open(Ctx *ctx, LineReader *reader)
{
    const char *term = getenv("TERM");
    *reader = (LineReader){.terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)};
    reader->edits = reader->terminal && term && strcmp(term, "dumb") != 0;
    if (reader->edits)
        open_history(ctx, reader);
}

void line_reader_close(LineReader *reader)
{
    if (reader->edits)
        close_history(reader);
    free(reader->line);
}

LineRead line_reader_next(LineReader *reader, const char *prompt)
{
    if (reader->edits)
        return read_edited(reader, prompt);
    if (reader->terminal) {
        fputs(prompt, stdout);
        fflush(stdout);
    }
    errno = 0;
    ssize_t n = getline(&reader->line, &reader->room, stdin);
    if (n < 0) {
        bool interrupted = errno == EINTR;
        clearerr(stdin);
        return interrupted ? LINE_INTERRUPTED : LINE_END;
    }
    while (n > 0 && (reader->line[n - 1] == '\n' || reader->line[n - 1] == '\r'))
        reader->line[--n] = 0;
    return LINE_GIVEN;
}
