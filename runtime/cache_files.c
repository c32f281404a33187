/* The seam of the cache, by calls of POSIX. */
#include "runtime/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool system_make_dir(void *user, const char *path)
{
    (void)user;
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static int system_open_dir(void *user, const char *path)
{
    (void)user;
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int system_open_read(void *user, int dir, const char *name)
{
    (void)user;
    return openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static int system_open_new(void *user, int dir, const char *name)
{
    (void)user;
    return openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static int system_open_append(void *user, int dir, const char *name)
{
    (void)user;
    return openat(dir, name, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
}

static void describe(const struct stat *st, CacheStat *out)
{
    out->regular = S_ISREG(st->st_mode);
    out->ours = st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
    out->size = (uint64_t)st->st_size;
    out->seconds = (int64_t)st->st_mtim.tv_sec;
}

static bool system_stat(void *user, int file, CacheStat *out)
{
    (void)user;
    struct stat st;
    if (fstat(file, &st) != 0)
        return false;
    describe(&st, out);
    return true;
}

static bool system_stat_name(void *user, int dir, const char *name, CacheStat *out)
{
    (void)user;
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    describe(&st, out);
    return true;
}

static ssize_t system_read(void *user, int file, void *bytes, size_t size)
{
    (void)user;
    ssize_t got;
    do {
        got = read(file, bytes, size);
    } while (got < 0 && errno == EINTR);
    return got;
}

/* Over the process's limit on the size of files (RLIMIT_FSIZE), a write sends SIGXFSZ, which ends a process that does not expect it. We do not: it is
 * kept from this thread, and taken away again unless it was there before. */
ssize_t quiet_write(int file, const void *bytes, size_t size)
{
    sigset_t over, before, pending;
    sigemptyset(&over);
    sigaddset(&over, SIGXFSZ);
    sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &over, &before);
    ssize_t put;
    do {
        put = write(file, bytes, size);
    } while (put < 0 && errno == EINTR);
    int error = errno, signal;
    sigpending(&pending);
    if (put < 0 && error == EFBIG && !was_pending && sigismember(&pending, SIGXFSZ))
        sigwait(&over, &signal);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return put;
}

static ssize_t system_write(void *user, int file, const void *bytes, size_t size)
{
    (void)user;
    return quiet_write(file, bytes, size);
}

static bool system_touch(void *user, int file)
{
    (void)user;
    return futimens(file, NULL) == 0;
}

static bool system_close(void *user, int file)
{
    (void)user;
    return close(file) == 0;
}

static bool system_rename(void *user, int dir, const char *from, const char *to)
{
    (void)user;
    return renameat(dir, from, dir, to) == 0;
}

static bool system_remove(void *user, int dir, const char *name)
{
    (void)user;
    return unlinkat(dir, name, 0) == 0;
}

static bool system_list(void *user, int dir, bool (*see)(void *arg, const char *name), void *arg)
{
    (void)user;
    int again = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (again < 0)
        return false;
    DIR *names = fdopendir(again);
    if (!names) {
        close(again);
        return false;
    }
    const struct dirent *entry;
    while ((entry = readdir(names)) && see(arg, entry->d_name)) {
    }
    return closedir(names) == 0;
}

static int64_t system_now(void *user)
{
    (void)user;
    return (int64_t)time(NULL);
}

const CacheFiles cache_files = {
    .make_dir = system_make_dir,
    .open_dir = system_open_dir,
    .open_read = system_open_read,
    .open_new = system_open_new,
    .open_append = system_open_append,
    .stat = system_stat,
    .stat_name = system_stat_name,
    .read = system_read,
    .write = system_write,
    .touch = system_touch,
    .close = system_close,
    .rename = system_rename,
    .remove = system_remove,
    .list = system_list,
    .now = system_now,
};
