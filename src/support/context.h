/* The context: the first argument of every call. Owns all memory, names, sources and diagnostics of a compilation.
 *
 * A context is used by one thread at a time; only its brake may be pulled by others. There is no state outside it. The two seams below let a host replace
 * allocation and file access, and let tests make each call fail. */
#ifndef RISEC_SUPPORT_CONTEXT_H
#define RISEC_SUPPORT_CONTEXT_H

#include <setjmp.h>

#include "support/base.h"
#include "support/diag.h"
#include "support/stack.h"

typedef struct Allocator {
    void *user;
    void *(*alloc)(void *user, size_t size); /* aligned to 16 bytes; NULL: out of memory */
    void (*free)(void *user, void *block);
} Allocator;

/* FILE_UNFIT: it is none of the kind that was asked for. FILE_OUTSIDE: the host does not let a program read it. */
typedef enum FileStatus { FILE_OK, FILE_MISSING, FILE_UNREADABLE, FILE_TOO_LARGE, FILE_UNWRITABLE, FILE_UNFIT, FILE_OUTSIDE } FileStatus;

/* What a path may name. A program names regular files alone: reading another kind can wait for ever, or change the world. */
typedef enum FileKind {
    FILE_REGULAR,
    FILE_ANY /* what a user names to the driver: also a pipe or a device; "-" is standard input */
} FileKind;

typedef struct FileAccess {
    void *user;
    /* Reads a whole file into memory from ctx_alloc, with a zero byte behind it. `limit`: largest accepted size in bytes. */
    FileStatus (*read)(void *user, Ctx *ctx, const char *path, FileKind kind, size_t limit, char **bytes, size_t *size);
    FileStatus (*write)(void *user, const char *path, const void *bytes, size_t size);
} FileAccess;

/* Ends a computation before its end. The contexts that take part in it share one, and look at it often. */
typedef struct Brake {
    _Atomic int pulled; /* set to 1 by any thread, or by a handler of a signal: from the next look on, all jumps out */
    uint64_t looks;    /* so many */
    uint64_t pull_at;  /* for tests: the look that pulls; 0: none does */
} Brake;

struct InternTable;
struct NatStore;
struct TypeStore;
struct PrimTable;

struct Ctx {
    Allocator alloc;
    FileAccess files;
    Arena arena;
    jmp_buf *guard; /* where an allocation that fails jumps to */
    Stack stack;    /* what was left of it when the context was made, or the outermost ctx_try began */
    Brake *brake;   /* or NULL */
    const Ctx *whole; /* whose names, sources and headers this one sees (ctx_new_inside); or NULL */
    struct InternTable *names;
    Sources sources;
    Diags diags;
    struct NatStore *nats;   /* made by src/ir on first use */
    struct TypeStore *types;
    struct PrimTable *prims;
    const struct Costs *costs;    /* of the device that is scheduled for (frontend/costs.h); NULL: nobody has asked */
    struct TriedLowering *tried;  /* by src/codegen: what lower_rewritten made last, until it is used; or NULL */
};

/* NULL when there is no memory for it. A NULL seam means the C library's. */
Ctx *ctx_new(const Allocator *alloc, const FileAccess *files);
/* For a part of what `whole` does, whose memory goes before the rest: with its seams and its brake. */
Ctx *ctx_new_part(const Ctx *whole);
/* For a part that goes on from what `whole` has: it sees the names, sources and headers of primitives that are there, and adds its own. NULL: the
 * whole's seams. `whole` must not change while a part of it lives; so any number of threads may have one each. Nats and types are a part's own. */
Ctx *ctx_new_inside(const Ctx *whole, const Allocator *alloc, const FileAccess *files);
void ctx_free(Ctx *ctx);
/* Runs fn in such a part of ctx, and forgets it but for its diagnostics, which are ctx's then. fn may also add to what ctx has. */
void ctx_do_inside(Ctx *ctx, void (*fn)(Ctx *part, void *user), void *user);

/* Runs `fn(ctx, user)`; false when memory ran out inside it. Nests. Every entry point that allocates is called through
 * this (or inside something that is): the context stays usable afterwards. */
bool ctx_try(Ctx *ctx, void (*fn)(Ctx *ctx, void *user), void *user);
/* Jumps to the innermost guard. For code that holds something to close: run the part that allocates in ctx_try, close,
 * then call this. */
_Noreturn void ctx_out_of_memory(Ctx *ctx);
/* The same, where something other than memory is the reason, which whoever called ctx_try first knows. */
_Noreturn void ctx_end(Ctx *ctx);

/* Notices that the brake was pulled: then it ends as if memory had run out, so nothing else has to be ready for it. arena_alloc looks; what
 * works for long without asking for memory looks itself, about every millisecond. */
static inline void ctx_look(Ctx *ctx)
{
    Brake *brake = ctx->brake;
    if (!brake)
        return;
    if (++brake->looks == brake->pull_at)
        brake->pulled = 1;
    if (brake->pulled)
        ctx_end(ctx);
}

/* Is so little of the stack left that whoever recurs must go back? */
static inline bool ctx_near_end(const Ctx *ctx) { return stack_is_near_end(&ctx->stack); }

/* For round i of a loop whose rounds are short. */
static inline void ctx_look_at(Ctx *ctx, int64_t i)
{
    if ((i & 4095) == 0)
        ctx_look(ctx);
}

/* memset and memcpy, looking between pieces. */
void ctx_clear(Ctx *ctx, void *to, size_t size);
void ctx_copy(Ctx *ctx, void *to, const void *from, size_t size);

/* The rest of a file that is open, which is then closed; as FileAccess.read. */
FileStatus file_read_open(Ctx *ctx, int file, size_t limit, char **bytes, size_t *size);
/* Writes a whole file; a regular one is replaced when all of it is there, and not touched before. "-" is standard output. False: errno says why. */
bool file_write(const char *path, const void *bytes, size_t size);
/* "there is no such file" */
const char *file_status_text(FileStatus status);

#endif
