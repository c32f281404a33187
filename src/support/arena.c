#include <stdlib.h>

#include "support/base.h"
#include "support/context.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISON 1
#endif
#endif

/* In a sanitizer build the gaps between allocations are poisoned, so that running over the end of one is seen although
 * its chunk goes on, and chunks are small, so that tests in which an allocation fails meet more places. */
#ifdef ARENA_POISON
#include <sanitizer/asan_interface.h>
enum { RED_ZONE = 16, CHUNK_SMALLEST = 512, CHUNK_LARGEST = 4 << 10 };
#define POISON(at, size) ASAN_POISON_MEMORY_REGION(at, size)
#define UNPOISON(at, size) ASAN_UNPOISON_MEMORY_REGION(at, size)
#else
enum { RED_ZONE = 0, CHUNK_SMALLEST = 16 << 10, CHUNK_LARGEST = 1 << 20 };
#define POISON(at, size) ((void)0)
#define UNPOISON(at, size) ((void)0)
#endif

enum { ALIGNMENT = 16 };

struct ArenaChunk {
    ArenaChunk *next;
    size_t size, used; /* of the bytes behind the header */
};

enum { HEADER = (sizeof(ArenaChunk) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT };

static char *chunk_bytes(ArenaChunk *chunk) { return (char *)chunk + HEADER; }

void arena_init(Arena *arena, Ctx *ctx)
{
    arena->ctx = ctx;
    arena->chunks = NULL;
    arena->most = 0;
}

void arena_free(Arena *arena)
{
    ArenaChunk *chunk = arena->chunks;
    while (chunk) {
        ArenaChunk *next = chunk->next;
        UNPOISON(chunk_bytes(chunk), chunk->size);
        arena->ctx->alloc.free(arena->ctx->alloc.user, chunk);
        chunk = next;
    }
    arena->chunks = NULL;
}

static ArenaChunk *chunk_new(Ctx *ctx, size_t size)
{
    ArenaChunk *chunk = ctx->alloc.alloc(ctx->alloc.user, HEADER + size);
    if (!chunk)
        ctx_out_of_memory(ctx);
    chunk->next = NULL;
    chunk->size = size;
    chunk->used = 0;
    POISON(chunk_bytes(chunk), size);
    return chunk;
}

void *arena_alloc(Arena *arena, size_t size)
{
    Ctx *ctx = arena->ctx;
    ctx_look(ctx);
    /* A negative count that became a size ends here too. */
    if (size > SIZE_MAX / 4)
        ctx_out_of_memory(ctx);
    size_t step = (size + RED_ZONE + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (step == 0)
        step = ALIGNMENT;
    ArenaChunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < step) {
        if (chunk && step > CHUNK_SMALLEST / 4 && step > (chunk->size - chunk->used) / 4) {
            /* A large block gets its own chunk behind the newest, whose rest stays in use. */
            ArenaChunk *own = chunk_new(ctx, step);
            own->next = chunk->next;
            chunk->next = own;
            chunk = own;
        } else {
            size_t next = chunk ? chunk->size * 2 : CHUNK_SMALLEST;
            size_t most = arena->most ? arena->most : CHUNK_LARGEST;
            if (next > most)
                next = most;
            if (next < step)
                next = step;
            ArenaChunk *newest = chunk_new(ctx, next);
            newest->next = chunk;
            arena->chunks = newest;
            chunk = newest;
        }
    }
    char *block = chunk_bytes(chunk) + chunk->used;
    chunk->used += step;
    UNPOISON(block, size);
    if (size <= CHUNK_LARGEST)
        memset(block, 0, size);
    else
        ctx_clear(ctx, block, size);
    return block;
}

void *ctx_alloc(Ctx *ctx, size_t size) { return arena_alloc(&ctx->arena, size); }

void *vec_grow_(Ctx *ctx, void *at, int n, int *cap, size_t item)
{
    if (*cap > INT32_MAX / 2)
        ctx_out_of_memory(ctx);
    int first = item > 32 ? 2 : 8; /* most lists are short */
    int wider = *cap ? *cap * 2 : first;
    void *grown = ctx_alloc(ctx, (size_t)wider * item);
    if (n)
        memcpy(grown, at, (size_t)n * item);
    *cap = wider;
    return grown;
}
