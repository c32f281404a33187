#include "driver/nearby.h"

#include <dirent.h>
#include <sys/stat.h>

bool path_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool path_ends_in(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n > m && strcmp(name + n - m, suffix) == 0;
}

typedef struct Search { /* of a folder, which is closed whatever happens */
    DIR *folder;
    const char *suffix;
    Nearest nearest;
} Search;

static void try_names(Ctx *ctx, void *user)
{
    Search *search = user;
    for (struct dirent *entry; (entry = readdir(search->folder));)
        if (path_ends_in(entry->d_name, search->suffix))
            nearest_try(&search->nearest, intern(ctx, entry->d_name, strlen(entry->d_name)));
}

const char *nearby_file(Ctx *ctx, const char *path, const char *suffix)
{
    const char *with = ctx_printf(ctx, "%s%s", path, suffix), *slash = strrchr(path, '/');
    int before = slash ? (int)(slash - path) + 1 : 0;
    if (is_file(with))
        return with;
    Search search = {.folder = opendir(before ? ctx_printf(ctx, "%.*s", before, path) : "."),
                     .suffix = suffix};
    if (!search.folder)
        return NULL;
    nearest_init(&search.nearest, path + before);
    bool read = ctx_try(ctx, try_names, &search);
    closedir(search.folder);
    if (!read)
        ctx_out_of_memory(ctx);
    const char *found =
        search.nearest.best ? ctx_printf(ctx, "%.*s%s", before, path, search.nearest.best) : NULL;
    return found && is_file(found) ? found : NULL;
}
