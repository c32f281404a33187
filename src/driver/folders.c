#include "driver/folders.h"
#include "driver/nearby.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
    DEEPEST = 64 /* folders in each other */
};

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

typedef struct Reading { /* of one folder: it is closed, whatever happens */
    DIR *folder;
    const char *path;
    Paths names;
} Reading;

static void read_names(Ctx *ctx, void *user)
{
    Reading *reading = user;
    for (struct dirent *entry; (entry = readdir(reading->folder));)
        if (entry->d_name[0] != '.')
            vec_push(ctx, &reading->names.list,
                     ctx_printf(ctx, "%s%s%s", reading->path,
                                reading->path[strlen(reading->path) - 1] == '/' ? "" : "/",
                                entry->d_name));
}

static void add_below(Ctx *ctx, Driver *d, Paths *paths, const char *path, int depth)
{
    Reading reading = {.folder = opendir(path), .path = path};
    if (!reading.folder || depth == DEEPEST) {
        driver_usage(ctx, d, E0621, "%s: %s", path,
                     reading.folder ? "the folders are nested too deeply" : strerror(errno));
        if (reading.folder)
            closedir(reading.folder);
        return;
    }
    bool read = ctx_try(ctx, read_names, &reading);
    closedir(reading.folder);
    if (!read)
        ctx_out_of_memory(ctx);
    if (reading.names.list.n)
        qsort(reading.names.list.at, (size_t)reading.names.list.n, sizeof *reading.names.list.at,
              by_name);
    for (int i = 0; i < reading.names.list.n; i++) {
        const char *name = reading.names.list.at[i];
        struct stat st;
        if (lstat(name, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode))
            add_below(ctx, d, paths, name, depth + 1);
        else if (path_ends_in(name, ".rise") && !path_is_folder(name))
            vec_push(ctx, &paths->list, name);
    }
}

Paths driver_paths(Ctx *ctx, Driver *d)
{
    Paths paths = {0};
    const CommandLine *line = d->line;
    if (line->words.n == 0) {
        Diag *diag = driver_usage(ctx, d, E0621, "no file is given");
        diag_help(ctx, diag, "the usage is `risec %s`", verb_rows[line->verb].usage);
    }
    for (int i = 0; i < line->words.n; i++) {
        const char *word = line->words.at[i];
        int before = paths.list.n, errors = ctx->diags.errors;
        if (!path_is_folder(word))
            vec_push(ctx, &paths.list, word);
        else
            add_below(ctx, d, &paths, word, 0);
        if (paths.list.n == before && ctx->diags.errors == errors)
            driver_usage(ctx, d, E0621, "%s: there is no .rise file in this folder, nor below it",
                         word);
    }
    return paths;
}
