#include "support/context.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

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
    FILE *file;
    size_t limit;
    char *bytes;
    size_t size;
    FileStatus status;
} Reading;

static void read_all(Ctx *ctx, void *user)
{
    Reading *r = user;
    size_t cap = 16 << 10;
    r->bytes = ctx_alloc(ctx, cap + 1);
    for (;;) {
        r->size += fread(r->bytes + r->size, 1, cap - r->size, r->file);
        if (ferror(r->file)) {
            r->status = FILE_UNREADABLE;
            return;
        }
        if (r->size > r->limit) {
            r->status = FILE_TOO_LARGE;
            return;
        }
        if (r->size < cap)
            return;
        char *wider = ctx_alloc(ctx, cap * 2 + 1);
        memcpy(wider, r->bytes, r->size);
        r->bytes = wider;
        cap *= 2;
    }
}

static FileStatus libc_read(void *user, Ctx *ctx, const char *path, size_t limit, char **bytes, size_t *size)
{
    (void)user;
    bool standard = strcmp(path, "-") == 0;
    Reading r = {.limit = limit, .status = FILE_OK};
    r.file = standard ? stdin : fopen(path, "rb");
    if (!r.file)
        return errno == ENOENT || errno == ENOTDIR ? FILE_MISSING : FILE_UNREADABLE;
    bool enough = ctx_try(ctx, read_all, &r);
    if (!standard)
        fclose(r.file);
    if (!enough)
        ctx_out_of_memory(ctx);
    if (r.status == FILE_OK) {
        r.bytes[r.size] = 0;
        *bytes = r.bytes;
        *size = r.size;
    }
    return r.status;
}

/* A file that could not be written whole is left as it is: the path may be a device. */
static FileStatus libc_write(void *user, const char *path, const void *bytes, size_t size)
{
    (void)user;
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdout : fopen(path, "wb");
    if (!file)
        return FILE_UNWRITABLE;
    bool good = fwrite(bytes, 1, size, file) == size;
    good = (standard ? fflush(file) : fclose(file)) == 0 && good;
    return good ? FILE_OK : FILE_UNWRITABLE;
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
    arena_init(&ctx->arena, ctx);
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
    ctx->guard = &here;
    fn(ctx, user);
    ctx->guard = outer;
    return true;
}

void ctx_out_of_memory(Ctx *ctx)
{
    /* Without a guard the caller has broken the contract of ctx_try, and there is nowhere to go. */
    if (!ctx->guard)
        abort();
    longjmp(*ctx->guard, 1);
}
