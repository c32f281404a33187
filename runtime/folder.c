#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_PATH_MAX = 4096, LINKS_MAX = 16 };

bool folder_path(char *path)
{
    size_t out = 0;
    if (path[0] == '/')
        return false;
    for (const char *at = path; *at;) {
        size_t n = strcspn(at, "/");
        const char *next = at + n + (at[n] == '/');
        if (n == 2 && at[0] == '.' && at[1] == '.') {
            if (out == 0)
                return false;
            while (out > 0 && path[--out] != '/') {
            }
        } else if (n > 0 && !(n == 1 && at[0] == '.')) {
            if (out > 0)
                path[out++] = '/';
            memmove(path + out, at, n); /* never before what is still to be read */
            out += n;
        }
        at = next;
    }
    path[out] = 0;
    return true;
}

typedef enum Walk { WALK_OPEN, WALK_LINK, WALK_FAILED } Walk;

/* path = what is before `at`, then what the link there says, then the rest. */
static Walk follow(int dir, char *path, size_t at, size_t n, FileStatus *status)
{
    char name[FOLDER_PATH_MAX], target[FOLDER_PATH_MAX], whole[FOLDER_PATH_MAX];
    memcpy(name, path + at, n);
    name[n] = 0;
    ssize_t size = readlinkat(dir, name, target, sizeof target - 1);
    *status = FILE_UNREADABLE;
    if (size < 0)
        return WALK_FAILED;
    target[size] = 0;
    if (snprintf(whole, sizeof whole, "%.*s%s%s", (int)at, path, target, path + at + n) >= (int)sizeof whole)
        return WALK_FAILED;
    *status = FILE_OUTSIDE;
    if (target[0] == '/' || !folder_path(whole))
        return WALK_FAILED;
    strcpy(path, whole);
    return WALK_LINK;
}

/* From part to part, each in the folder that was opened before, so that nothing can be exchanged behind our back. */
static Walk walk(const char *folder, char *path, int *file, FileStatus *status)
{
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *status = FILE_MISSING;
    for (size_t at = 0; dir >= 0;) {
        size_t n = strcspn(path + at, "/");
        bool last = path[at + n] == 0;
        path[at + n] = 0;
        int next = openat(dir, path + at, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | (last ? O_NONBLOCK : O_DIRECTORY));
        int error = errno;
        if (!last)
            path[at + n] = '/';
        if (next < 0) {
            *status = error == ENOENT ? FILE_MISSING : FILE_UNREADABLE;
            Walk how = error == ELOOP || error == ENOTDIR ? follow(dir, path, at, n, status) : WALK_FAILED;
            close(dir);
            return how;
        }
        close(dir);
        if (last) {
            *file = next;
            return WALK_OPEN;
        }
        dir = next;
        at += n + 1;
    }
    return WALK_FAILED;
}

FileStatus folder_read(Ctx *ctx, const char *folder, const char *given, size_t limit, char **bytes, size_t *size)
{
    char path[FOLDER_PATH_MAX];
    FileStatus status = FILE_UNREADABLE;
    if (strlen(given) >= sizeof path)
        return FILE_UNREADABLE;
    strcpy(path, given);
    if (!folder_path(path))
        return FILE_OUTSIDE;
    int file = -1;
    Walk how = WALK_LINK;
    for (int links = 0; how == WALK_LINK && links <= LINKS_MAX; links++)
        how = walk(folder, path, &file, &status);
    if (how != WALK_OPEN)
        return status;
    struct stat st;
    if (fstat(file, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(file);
        return FILE_UNFIT;
    }
    return file_read_open(ctx, file, limit, bytes, size);
}
