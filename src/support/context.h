/* The context: the first argument of every call. Owns all memory, names, sources and diagnostics of a compilation.
 *
 * A context is used by one thread at a time. There is no state outside it. The two seams below let a host replace
 * allocation and file access, and let tests make each call fail. */
#ifndef RISEC_SUPPORT_CONTEXT_H
#define RISEC_SUPPORT_CONTEXT_H

#include <setjmp.h>

#include "support/base.h"
#include "support/diag.h"

typedef struct Allocator {
    void *user;
    void *(*alloc)(void *user, size_t size); /* aligned to 16 bytes; NULL: out of memory */
    void (*free)(void *user, void *block);
} Allocator;

typedef enum FileStatus { FILE_OK, FILE_MISSING, FILE_UNREADABLE, FILE_TOO_LARGE, FILE_UNWRITABLE } FileStatus;

typedef struct FileAccess {
    void *user;
    /* Reads a whole file ("-": standard input) into memory from ctx_alloc, with a zero byte behind it. `limit`: largest accepted size in bytes. */
    FileStatus (*read)(void *user, Ctx *ctx, const char *path, size_t limit, char **bytes, size_t *size);
    FileStatus (*write)(void *user, const char *path, const void *bytes, size_t size);
} FileAccess;

struct InternTable;
struct NatStore;
struct TypeStore;
struct PrimTable;

struct Ctx {
    Allocator alloc;
    FileAccess files;
    Arena arena;
    jmp_buf *guard; /* where an allocation that fails jumps to */
    struct InternTable *names;
    Sources sources;
    Diags diags;
    struct NatStore *nats;   /* made by src/ir on first use */
    struct TypeStore *types;
    struct PrimTable *prims;
};

/* NULL when there is no memory for it. A NULL seam means the C library's. */
Ctx *ctx_new(const Allocator *alloc, const FileAccess *files);
void ctx_free(Ctx *ctx);

/* Runs `fn(ctx, user)`; false when memory ran out inside it. Nests. Every entry point that allocates is called through
 * this (or inside something that is): the context stays usable afterwards. */
bool ctx_try(Ctx *ctx, void (*fn)(Ctx *ctx, void *user), void *user);
/* Jumps to the innermost guard. For code that holds something to close: run the part that allocates in ctx_try, close,
 * then call this. */
_Noreturn void ctx_out_of_memory(Ctx *ctx);

#endif
