/* What a command read is not overwritten by what it writes, unless the user forces it. */
#include "driver/files.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "frontend/tuning.h"

typedef struct KnownFile {
    dev_t device;
    ino_t inode;
    FileRole role;
    char *path; /* by which it was read; NULL: it was not */
} KnownFile;

/* Of one command. Files are known by what the system calls them, so that other names, links and hard links are the same file. */
struct DriverFiles {
    FileAccess below;
    KnownFile *known;
    int n, cap;
};

static bool identity(const char *path, KnownFile *file)
{
    struct stat st;
    if (strcmp(path, "-") == 0 ? fstat(0, &st) != 0 : stat(path, &st) != 0)
        return false;
    *file = (KnownFile){st.st_dev, st.st_ino, FILE_UNKNOWN, NULL};
    return S_ISREG(st.st_mode);
}

static KnownFile *find(const DriverFiles *files, const KnownFile *file)
{
    for (int i = 0; i < files->n; i++)
        if (files->known[i].device == file->device && files->known[i].inode == file->inode)
            return &files->known[i];
    return NULL;
}

static FileRole role_of(const DriverFiles *files, const KnownFile *file)
{
    const KnownFile *known = find(files, file);
    return known ? known->role : FILE_UNKNOWN;
}

/* What it was first it stays. */
static void know(DriverFiles *files, Ctx *ctx, const char *path, FileRole role)
{
    KnownFile file;
    if (!identity(path, &file) || role_of(files, &file) != FILE_UNKNOWN)
        return;
    if (files->n == files->cap) {
        int cap = files->cap ? files->cap * 2 : 16;
        KnownFile *wider = realloc(files->known, (size_t)cap * sizeof *wider);
        if (!wider)
            ctx_out_of_memory(ctx);
        files->known = wider;
        files->cap = cap;
    }
    file.role = role;
    files->known[files->n++] = file;
}

static void was_read(DriverFiles *files, Ctx *ctx, const char *path)
{
    KnownFile file;
    KnownFile *known = identity(path, &file) ? find(files, &file) : NULL;
    if (!known || known->path || strcmp(path, "-") == 0)
        return;
    known->path = malloc(strlen(path) + 1);
    if (!known->path)
        ctx_out_of_memory(ctx);
    strcpy(known->path, path);
}

static FileStatus read_known(void *user, Ctx *ctx, const char *path, FileKind kind, size_t limit, char **bytes, size_t *size)
{
    DriverFiles *files = user;
    FileStatus status = files->below.read(files->below.user, ctx, path, kind, limit, bytes, size);
    if (status == FILE_OK) {
        know(files, ctx, path, FILE_INPUT);
        was_read(files, ctx, path);
        /* The tuning file of a program belongs to it, whether this command asks for it or not. */
        know(files, ctx, ctx_printf(ctx, "%s%s", path, TUNING_SUFFIX), FILE_TUNING);
    }
    return status;
}

static FileStatus write_below(void *user, const char *path, const void *bytes, size_t size)
{
    DriverFiles *files = user;
    return files->below.write(files->below.user, path, bytes, size);
}

DriverFiles *driver_files_new(Ctx *ctx)
{
    DriverFiles *files = calloc(1, sizeof *files);
    if (!files)
        return NULL;
    files->below = ctx->files;
    ctx->files = (FileAccess){files, read_known, write_below};
    return files;
}

void driver_files_free(DriverFiles *files)
{
    for (int i = 0; files && i < files->n; i++)
        free(files->known[i].path);
    if (files)
        free(files->known);
    free(files);
}

FileRole driver_files_role(const DriverFiles *files, const char *path)
{
    KnownFile file;
    return strcmp(path, "-") != 0 && identity(path, &file) ? role_of(files, &file) : FILE_UNKNOWN;
}

void driver_files_is_tuning(DriverFiles *files, Ctx *ctx, const char *path) { know(files, ctx, path, FILE_TUNING); }

/* A path in a rule of make. */
static void put_path(StrBuf *out, const char *path)
{
    for (; *path; path++) {
        if (strchr(" \t#\\", *path))
            sb_puts(out, "\\");
        sb_printf(out, *path == '$' ? "$%c" : "%c", *path);
    }
}

void driver_files_rule(const DriverFiles *files, StrBuf *out, int n, const char *const *made)
{
    for (int i = 0; i < n; i++) {
        sb_puts(out, i ? " " : "");
        put_path(out, made[i]);
    }
    sb_puts(out, ":");
    for (int i = 0; i < files->n; i++) {
        if (!files->known[i].path)
            continue;
        sb_puts(out, " \\\n  ");
        put_path(out, files->known[i].path);
    }
    sb_puts(out, "\n");
}
