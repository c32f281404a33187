/* On a terminal, lines are edited and have a history by libedit, if the machine has it: it is looked for when it
 * is wanted, so that risec runs without it. Else lines are plain ones. */
#include "driver/line_reader.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HISTORY_LINES = 1000 };

/* What is used of libedit, as editline/readline.h declares it. */
static struct {
    int (*rl_initialize)(void);
    char *(*readline)(const char *prompt);
    void (*using_history)(void);
    void (*stifle_history)(int most);
    int (*read_history)(const char *path);
    int (*write_history)(const char *path);
    void (*clear_history)(void);
    int (*add_history)(const char *line);
} edit;

static bool find_edit(void)
{
    const struct {
        const char *name;
        void *at; /* a pointer to a function */
    } wanted[] = {{"rl_initialize", &edit.rl_initialize},   {"readline", &edit.readline},
                  {"using_history", &edit.using_history},   {"stifle_history", &edit.stifle_history},
                  {"read_history", &edit.read_history},     {"write_history", &edit.write_history},
                  {"clear_history", &edit.clear_history},   {"add_history", &edit.add_history}};
    void *library = dlopen("libedit.so.2", RTLD_LAZY | RTLD_LOCAL);
    bool found = library != NULL;
    for (size_t i = 0; found && i < sizeof wanted / sizeof *wanted; i++) {
        void *function = dlsym(library, wanted[i].name);
        memcpy(wanted[i].at, &function, sizeof function);
        found = function != NULL;
    }
    return found;
}

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
    edit.rl_initialize();
    edit.using_history();
    edit.stifle_history(HISTORY_LINES);
    if (reader->history)
        edit.read_history(reader->history);
}

static void close_history(LineReader *reader)
{
    if (reader->history && edit.write_history(reader->history) == 0)
        chmod(reader->history, 0600);
    edit.clear_history();
    free(reader->added);
}

static LineRead read_edited(LineReader *reader, const char *prompt)
{
    errno = 0;
    free(reader->line);
    reader->line = edit.readline(prompt);
    if (!reader->line)
        return errno == EINTR ? LINE_INTERRUPTED : LINE_END;
    if (reader->line[0] && !(reader->added && strcmp(reader->added, reader->line) == 0)) {
        edit.add_history(reader->line);
        free(reader->added);
        reader->added = strdup(reader->line);
    }
    return LINE_GIVEN;
}

void line_reader_open(Ctx *ctx, LineReader *reader)
{
    const char *term = getenv("TERM");
    *reader = (LineReader){.terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)};
    reader->edits = reader->terminal && term && strcmp(term, "dumb") != 0 && find_edit();
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
