/* Memory, text and limits that every part of risec stands on. Knows nothing of the language.
 *
 * All memory of a compilation comes from the arenas of one Ctx and is given back when the Ctx is freed. An allocation
 * that fails does not return: it jumps to the innermost CTX_GUARD (see context.h), so that no caller checks for NULL and
 * nothing leaks. Nothing here prints, exits or aborts. */
#ifndef RISEC_SUPPORT_BASE_H
#define RISEC_SUPPORT_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct Ctx Ctx;

#if defined(__GNUC__)
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define PRINTF_LIKE(fmt, args)
#endif

/* ---- arenas ------------------------------------------------------------------------------------------------ */

typedef struct ArenaChunk ArenaChunk;
typedef struct Arena {
    Ctx *ctx;
    ArenaChunk *chunks; /* newest first */
    size_t most;        /* bytes of a chunk, but for larger blocks: what stays for long wastes less. 0: as is fast */
} Arena;

void arena_init(Arena *arena, Ctx *ctx);
void arena_free(Arena *arena);
/* Zeroed, aligned to 16 bytes. Never NULL; jumps to the guard of the context when memory runs out. */
void *arena_alloc(Arena *arena, size_t size);

#define ARENA_NEW(arena, T) ((T *)arena_alloc((arena), sizeof(T)))
#define ARENA_NEWN(arena, T, n) ((T *)arena_alloc((arena), sizeof(T) * (size_t)(n)))
/* In the context's own arena, which lives as long as the context. */
#define NEW(ctx, T) ((T *)ctx_alloc((ctx), sizeof(T)))
#define NEWN(ctx, T, n) ((T *)ctx_alloc((ctx), sizeof(T) * (size_t)(n)))
void *ctx_alloc(Ctx *ctx, size_t size);

/* ---- growable arrays, in the context's arena ------------------------------------------------------------------ */

#define VEC(T) \
    struct {   \
        T *at; \
        int n, cap; \
    }
#define vec_push(ctx, vec, ...)                                                                                 \
    do {                                                                                                        \
        if ((vec)->n == (vec)->cap)                                                                             \
            (vec)->at = vec_grow_((ctx), (vec)->at, (vec)->n, &(vec)->cap, sizeof *(vec)->at);                   \
        (vec)->at[(vec)->n++] = (__VA_ARGS__);                                                                   \
    } while (0)
void *vec_grow_(Ctx *ctx, void *at, int n, int *cap, size_t item);

/* ---- text ---------------------------------------------------------------------------------------------------- */

/* A growing text, always terminated. Memory from the context's arena. */
typedef struct StrBuf {
    Ctx *ctx;
    char *text;
    size_t len, cap;
} StrBuf;

void sb_init(StrBuf *sb, Ctx *ctx);
void sb_putn(StrBuf *sb, const char *text, size_t n);
void sb_puts(StrBuf *sb, const char *text);
void sb_putc(StrBuf *sb, char c);
void sb_printf(StrBuf *sb, const char *fmt, ...) PRINTF_LIKE(2, 3);
void sb_vprintf(StrBuf *sb, const char *fmt, va_list args);
/* The shortest decimal text that reads back as the same float (single = true) or double; inf, nan and -inf as words. */
void sb_put_float(StrBuf *sb, double value, bool single);
/* A JSON string, with its quotes. */
void sb_put_json(StrBuf *sb, const char *text);

const char *ctx_printf(Ctx *ctx, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Interned: equal texts are the same pointer, so names compare with ==. */
const char *intern(Ctx *ctx, const char *text, size_t n);
const char *intern_z(Ctx *ctx, const char *text);
/* Only to notice changes. */
uint64_t text_hash(const char *text, size_t n);

/* ---- checked arithmetic: true when the exact result fits ------------------------------------------------------ */

static inline bool add_fits(int64_t a, int64_t b, int64_t *r) { return !__builtin_add_overflow(a, b, r); }
static inline bool sub_fits(int64_t a, int64_t b, int64_t *r) { return !__builtin_sub_overflow(a, b, r); }
static inline bool mul_fits(int64_t a, int64_t b, int64_t *r) { return !__builtin_mul_overflow(a, b, r); }
/* a / b rounded up, of a positive b. (a + b - 1 need not fit.) */
static inline int64_t div_up(int64_t a, int64_t b) { return a > 0 ? (a - 1) / b + 1 : a / b; }
/* Rounded towards minus infinity, as nats are. b > 0. */
static inline int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }
static inline int64_t floor_mod(int64_t a, int64_t b) { return a % b < 0 ? a % b + b : a % b; }

/* ---- limits: each has a diagnostic --------------------------------------------------------------------------- */

enum {
    LIMIT_SOURCE_BYTES = 16 << 20,
    LIMIT_CORE_TERMS = 400000,    /* after definitions and unroll are expanded */
    LIMIT_ELAB_STEPS = 4000000,   /* expressions evaluated for one entry */
    LIMIT_UNROLL_ITEMS = 4096,
    LIMIT_UNROLL_TRIPS = 64,      /* of a ...Unroll loop written out */
    LIMIT_DIAGNOSTICS = 100,
    LIMIT_IMPORT_DEPTH = 64,
    LIMIT_IMP_STATEMENTS = 65536,
    LIMIT_ARRAY_RANK = 32,
    LIMIT_TUPLE_ITEMS = 64,
    LIMIT_TOTAL_BYTES = 32,
    LIMIT_VECTOR_WIDTH = 64,
    LIMIT_EXPECT_CELLS = 1 << 25, /* of all inputs and results, in a run for an `expect` clause */
    LIMIT_EXPECT_STEPS = 1 << 24, /* warp instructions of such a run */
    LIMIT_EXPECT_BYTES = 1 << 29, /* that the simulator takes to watch it */
    LIMIT_TYPE_COMPONENTS = 1024  /* scalars of a tuple, nested ones included */
};

#endif
