/* How a file comes to be written: regular files whole or not at all, everything else directly. */
#include "support/context.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Note [Whole files]
 * A regular file is written under another name in its folder, and renamed when all of it is there: whenever the process is killed or the disk is full, the path
 * names the old file or the new one. The new file has the old one's permissions, and its owner where the system lets us. A symbolic link stays one, and
 * what it leads to is replaced. A file that may not be written is not replaced either, though the folder would allow it. What a kill leaves behind is a file
 * `.risec-PID-N` in that folder. Pipes and devices are written directly: nothing can be put in their place. */

enum { MOST_LINKS = 40, MOST_NAMES = 1000, NEW_FILE = 0666 };

/* The place that `path` leads to, with no symbolic link at its end; there need not be a file. */
static bool follow(char place[PATH_MAX], const char *path)
{
    if ((size_t)snprintf(place, PATH_MAX, "%s", path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (int i = 0; i < MOST_LINKS; i++) {
        char to[PATH_MAX], next[PATH_MAX];
        ssize_t n = readlink(place, to, sizeof to - 1);
        if (n < 0)
            return errno == EINVAL || errno == ENOENT; /* no link, or nothing */
        to[n] = 0;
        const char *slash = strrchr(place, '/');
        int folder = to[0] == '/' || !slash ? 0 : (int)(slash - place + 1);
        if (snprintf(next, sizeof next, "%.*s%s", folder, place, to) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return false;
        }
        memcpy(place, next, sizeof next);
    }
    errno = ELOOP;
    return false;
}

static bool write_all(int file, const char *bytes, size_t size)
{
    while (size) {
        ssize_t n = write(file, bytes, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

/* Closed in any case. errno is that of the first failure. */
static bool write_and_close(int file, const char *bytes, size_t size)
{
    bool good = write_all(file, bytes, size);
    int why = errno;
    if (close(file) != 0 && good)
        return false;
    errno = why;
    return good;
}

/* A new file beside `place`, open for writing; its path. */
static int open_beside(const char *place, char path[PATH_MAX])
{
    const char *slash = strrchr(place, '/');
    int folder = slash ? (int)(slash - place + 1) : 0;
    for (int i = 0; i < MOST_NAMES; i++) {
        if (snprintf(path, PATH_MAX, "%.*s.risec-%ld-%d", folder, place, (long)getpid(), i) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, NEW_FILE);
        if (file >= 0 || errno != EEXIST)
            return file;
    }
    return -1;
}

/* `old`: the file that is there, or NULL. */
static bool replace(const char *place, const struct stat *old, const char *bytes, size_t size)
{
    char part[PATH_MAX];
    if (old && faccessat(AT_FDCWD, place, W_OK, AT_EACCESS) != 0)
        return false;
    int file = open_beside(place, part);
    if (file < 0)
        return false;
    bool good = true;
    if (old) {
        /* Another owner than before would be a pity; other permissions could show the file to others. The owner comes first, as giving a file away takes bits off. */
        if (old->st_uid != geteuid() || old->st_gid != getegid())
            good = fchown(file, old->st_uid, old->st_gid) == 0 || errno == EPERM;
        good = good && fchmod(file, old->st_mode & 07777) == 0;
    }
    if (good)
        good = write_and_close(file, bytes, size) && rename(part, place) == 0;
    else
        close(file);
    int why = errno;
    if (!good)
        unlink(part);
    errno = why;
    return good;
}

static bool same_file(const struct stat *a, const struct stat *b) { return a->st_dev == b->st_dev && a->st_ino == b->st_ino; }

static bool write_stdout(const void *bytes, size_t size)
{
    return fflush(stdout) == 0 && fwrite(bytes, 1, size, stdout) == size && fflush(stdout) == 0;
}

bool file_write(const char *path, const void *bytes, size_t size)
{
    char place[PATH_MAX];
    struct stat old, out;
    if (strcmp(path, "-") == 0)
        return write_stdout(bytes, size);
    bool there = stat(path, &old) == 0;
    if (!there && errno != ENOENT)
        return false;
    if (there && !S_ISREG(old.st_mode)) {
        int file = open(path, O_WRONLY | O_CLOEXEC);
        return file >= 0 && write_and_close(file, bytes, size);
    }
    /* By names such as /dev/stdout: what else is printed goes there, too. */
    if (there && fstat(STDOUT_FILENO, &out) == 0 && same_file(&old, &out))
        return write_stdout(bytes, size);
    return follow(place, path) && replace(place, there ? &old : NULL, bytes, size);
}
