#include "support/context.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the C library behind the seams -------------------------------------------------------------------------- */

static void *libc_alloc(void *user, size_t size)
{
    (void)user;
    return malloc(size);
}

static void libc_free(void *user, void *block)
{
    (void)user;
    free(block);
}

typedef struct Reading {
    int file;
    size_t limit;
    char *bytes;
    size_t size;
    FileStatus status;
} Reading;

/* What comes, up to `room` bytes; -1 for an error. A signal that wants to end all this is seen between two reads. */
static ssize_t read_some(Ctx *ctx, int file, char *to, size_t room)
{
    for (;;) {
        ssize_t got = read(file, to, room);
        if (got >= 0 || errno != EINTR)
            return got;
        ctx_look(ctx);
    }
}

static void read_all(Ctx *ctx, void *user)
{
    Reading *r = user;
    size_t cap = 16 << 10;
    r->bytes = ctx_alloc(ctx, cap + 1);
    for (;;) {
        ssize_t got = read_some(ctx, r->file, r->bytes + r->size, cap - r->size);
        if (got < 0) {
            r->status = FILE_UNREADABLE;
            return;
        }
        if (got == 0)
            return;
        r->size += (size_t)got;
        if (r->size > r->limit) {
            r->status = FILE_TOO_LARGE;
            return;
        }
        if (r->size < cap)
            continue;
        char *wider = ctx_alloc(ctx, cap * 2 + 1);
        memcpy(wider, r->bytes, r->size);
        r->bytes = wider;
        cap *= 2;
    }
}

/* Open for reading, or -1. A named pipe that nobody writes does not keep us: only what may be a pipe is waited for. */
static int open_kind(const char *path, FileKind kind, FileStatus *status)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | (kind == FILE_REGULAR ? O_NONBLOCK : 0));
    struct stat st;
    if (file < 0) {
        *status = errno == ENOENT || errno == ENOTDIR ? FILE_MISSING : FILE_UNREADABLE;
        return -1;
    }
    if (fstat(file, &st) == 0 && (S_ISREG(st.st_mode) || (kind == FILE_ANY && !S_ISDIR(st.st_mode))))
        return file;
    *status = FILE_UNFIT;
    close(file);
    return -1;
}

FileStatus file_read_open(Ctx *ctx, int file, size_t limit, char **bytes, size_t *size)
{
    Reading r = {.file = file, .limit = limit, .status = FILE_OK};
    if (!ctx_try(ctx, read_all, &r)) {
        close(file);
        ctx_out_of_memory(ctx);
    }
    close(file);
    if (r.status == FILE_OK) {
        r.bytes[r.size] = 0;
        *bytes = r.bytes;
        *size = r.size;
    }
    return r.status;
}

static FileStatus libc_read(void *user, Ctx *ctx, const char *path, FileKind kind, size_t limit, char **bytes, size_t *size)
{
    (void)user;
    FileStatus status = FILE_UNREADABLE;
    int file = kind == FILE_ANY && strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open_kind(path, kind, &status);
    return file < 0 ? status : file_read_open(ctx, file, limit, bytes, size);
}

static FileStatus libc_write(void *user, const char *path, const void *bytes, size_t size)
{
    (void)user;
    return file_write(path, bytes, size) ? FILE_OK : FILE_UNWRITABLE;
}

const char *file_status_text(FileStatus status)
{
    static const char *const texts[] = {
        [FILE_OK] = "it is there",
        [FILE_MISSING] = "there is no such file",
        [FILE_UNREADABLE] = "it cannot be read",
        [FILE_TOO_LARGE] = "it is too large",
        [FILE_UNWRITABLE] = "it cannot be written",
        [FILE_UNFIT] = "it is no regular file",
        [FILE_OUTSIDE] = "it is outside of what this program may read",
    };
    return texts[status];
}

static const Allocator libc_allocator = {NULL, libc_alloc, libc_free};
static const FileAccess libc_files = {NULL, libc_read, libc_write};

/* ---- the context --------------------------------------------------------------------------------------------- */

Ctx *ctx_new(const Allocator *alloc, const FileAccess *files)
{
    if (!alloc)
        alloc = &libc_allocator;
    Ctx *ctx = alloc->alloc(alloc->user, sizeof *ctx);
    if (!ctx)
        return NULL;
    memset(ctx, 0, sizeof *ctx);
    ctx->alloc = *alloc;
    ctx->files = files ? *files : libc_files;
    ctx->stack = stack_left();
    arena_init(&ctx->arena, ctx);
    return ctx;
}

Ctx *ctx_new_part(const Ctx *whole)
{
    Ctx *ctx = ctx_new(&whole->alloc, &whole->files);
    if (!ctx)
        return NULL;
    ctx->brake = whole->brake;
    ctx->costs = whole->costs;
    return ctx;
}

Ctx *ctx_new_inside(const Ctx *whole, const Allocator *alloc, const FileAccess *files)
{
    Ctx *ctx = ctx_new(alloc ? alloc : &whole->alloc, files ? files : &whole->files);
    if (!ctx)
        return NULL;
    ctx->brake = whole->brake;
    ctx->costs = whole->costs;
    ctx->whole = whole;
    ctx->sources = whole->sources;
    ctx->sources.of_whole = ctx->sources.list.cap = ctx->sources.list.n; /* the first one that is added moves the list */
    return ctx;
}

void ctx_free(Ctx *ctx)
{
    if (!ctx)
        return;
    arena_free(&ctx->arena);
    Allocator alloc = ctx->alloc;
    alloc.free(alloc.user, ctx);
}

bool ctx_try(Ctx *ctx, void (*fn)(Ctx *ctx, void *user), void *user)
{
    jmp_buf here;
    jmp_buf *volatile outer = ctx->guard;
    if (setjmp(here)) {
        ctx->guard = outer;
        return false;
    }
    if (!outer)
        ctx->stack = stack_left();
    ctx->guard = &here;
    fn(ctx, user);
    ctx->guard = outer;
    return true;
}

typedef struct Inside {
    Ctx *part;
    void (*fn)(Ctx *part, void *user);
    void *user;
    bool enough;
} Inside;

static void inside(Ctx *ctx, void *user)
{
    Inside *in = user;
    in->enough = ctx_try(in->part, in->fn, in->user);
    if (in->enough)
        diags_keep(ctx, in->part);
}

/* Guarded twice: what the part does may also ask ctx for memory. */
void ctx_do_inside(Ctx *ctx, void (*fn)(Ctx *part, void *user), void *user)
{
    Inside in = {.part = ctx_new_inside(ctx, NULL, NULL), .fn = fn, .user = user};
    bool enough = in.part && ctx_try(ctx, inside, &in) && in.enough;
    ctx_free(in.part);
    if (!enough)
        ctx_out_of_memory(ctx);
}

enum { PIECE = 4 << 20 }; /* bytes between two looks: about a millisecond */

void ctx_clear(Ctx *ctx, void *to, size_t size)
{
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < PIECE ? size - at : PIECE;
        memset((char *)to + at, 0, n);
        if (n == PIECE)
            ctx_look(ctx);
    }
}

void ctx_copy(Ctx *ctx, void *to, const void *from, size_t size)
{
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < PIECE ? size - at : PIECE;
        memcpy((char *)to + at, (const char *)from + at, n);
        if (n == PIECE)
            ctx_look(ctx);
    }
}

void ctx_end(Ctx *ctx)
{
    /* Without a guard the caller has broken the contract of ctx_try, and there is nowhere to go. */
    if (!ctx->guard)
        abort();
    longjmp(*ctx->guard, 1);
}

void ctx_out_of_memory(Ctx *ctx) { ctx_end(ctx); }
