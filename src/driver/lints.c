#include "driver/lints.h"

#include "codegen/walk.h"
#include "rewrite/rewrite.h"

enum { LINT_TRIPS = 4096 }; /* elements that one block, or one thread, may well go through */

/* The first loop that has no such bound. */
typedef struct LongLoop {
    Ctx *ctx;
    const ImpKernel *kernel;
    const ImpStmt *found; /* or NULL */
} LongLoop;

static void look_at(void *user, ImpStmt *stmt)
{
    LongLoop *l = user;
    if (stmt->kind == IS_FOR && !l->found && !nat_le(l->ctx, l->kernel->known, nat_sub(l->ctx, stmt->loop.hi, stmt->loop.lo), nat_const(l->ctx, LINT_TRIPS)))
        l->found = stmt;
}

static const ImpStmt *long_loop(Ctx *ctx, const ImpKernel *kernel)
{
    LongLoop l = {.ctx = ctx, .kernel = kernel};
    walk_stmts((ImpBlock *)&kernel->body, look_at, &l);
    return l.found;
}

static bool one_block(const ImpKernel *kernel) { return nat_is(kernel->blocks[0], 1) && nat_is(kernel->blocks[1], 1) && nat_is(kernel->blocks[2], 1); }

static bool one_thread(const ImpKernel *kernel) { return kernel->threads[0] * kernel->threads[1] * kernel->threads[2] == 1; }

static Span place_of(const Ctx *ctx, const CoreEntry *entry, const ImpStmt *loop)
{
    return span_is_users(ctx, loop->span) ? loop->span : span_is_users(ctx, loop->users) ? loop->users : entry->name_span;
}

typedef struct Known {
    const CoreEntry *entry;
    bool all;
} Known;

static void know(void *user, Nat var)
{
    Known *known = user;
    bool size = false;
    for (int i = 0; i < known->entry->n_sizes; i++)
        size |= known->entry->sizes[i] == var;
    known->all &= size;
}

/* "n elements", where the user knows what n is. */
static const char *elements_of(Ctx *ctx, const CoreEntry *entry, const ImpStmt *loop)
{
    Known known = {entry, true};
    nat_each_var(ctx, loop->loop.hi, know, &known);
    return known.all ? ctx_printf(ctx, "%s elements", nat_text(ctx, loop->loop.hi)) : "all elements";
}

/* How many loops over threads or blocks there are, and what only blocks have. */
typedef struct Levels {
    int loops, shared;
} Levels;

static void count_level(void *user, ImpStmt *stmt)
{
    Levels *levels = user;
    PrimId level = stmt->kind == IS_FOR ? stmt->loop.level : P_COUNT;
    levels->loops += level == P_mapGlobal || level == P_mapBlock || level == P_mapThreads || level == P_mapWarp || level == P_mapLane;
    levels->shared += stmt->kind == IS_SYNC || stmt->kind == IS_ALLOC;
}

static bool begins_with(const Source *source, Span span, const char *word)
{
    size_t n = strlen(word);
    return source && span.lo + n < source->size && strncmp(source->text + span.lo, word, n) == 0 && strchr("([{ ", source->text[span.lo + n]);
}

/* Where the loop is the only one of its kind, and nothing is shared, `mapGlobal` is right in its place. */
static void propose_global(Ctx *ctx, Diag *diag, const ImpKernel *kernel, const ImpStmt *loop)
{
    Levels levels = {0};
    const Source *source = source_get(ctx, loop->span.file);
    PrimId level = loop->loop.level;
    const char *word = level == P_mapBlock ? "mapBlock" : level == P_mapThreads ? "mapThreads" : begins_with(source, loop->span, "mapSeq") ? "mapSeq" : NULL;
    walk_stmts((ImpBlock *)&kernel->body, count_level, &levels);
    bool alone = levels.loops == (level == P_mapBlock || level == P_mapThreads);
    if (!word || !alone || levels.shared || !span_is_users(ctx, loop->span) || strncmp(source->text + loop->span.lo, word, strlen(word)) != 0)
        return;
    diag_propose(ctx, diag, (Span){loop->span.file, loop->span.lo, loop->span.lo + (uint32_t)strlen(word)}, "$ gives the elements to the threads of all blocks", "mapGlobal");
}

static void warn_thread(Ctx *ctx, const CoreEntry *entry, const ImpKernel *kernel, const ImpStmt *loop)
{
    Diag *diag;
    if (one_block(kernel))
        diag = diag_warning(ctx, W0711, place_of(ctx, entry, loop), "one thread goes through %s here, and the rest of the device waits", elements_of(ctx, entry, loop));
    else
        diag = diag_warning(ctx, W0711, place_of(ctx, entry, loop), "each block of `%s` has one thread here, and a warp has 32", kernel->name);
    diag_note(ctx, diag, NO_SPAN, "%s", one_block(kernel) ? "give elements to threads by `mapGlobal`, or parts by `split(k) |> mapGlobal(...)`; without levels, risec chooses them"
                                                          : "a block can have threads by `mapThreads` inside of `mapBlock`; without levels, risec chooses them");
    propose_global(ctx, diag, kernel, loop);
}

static bool says_blocks(const CoreEntry *entry)
{
    for (int i = 0; i < entry->item->n_launch; i++)
        if (strcmp(entry->item->launch[i].name, "blocks") == 0)
            return true;
    return false;
}

void warn_idle(Ctx *ctx, const CoreEntry *entry, const ImpProgram *imp)
{
    const ImpStmt *first = NULL;
    bool alone = true; /* each kernel has one block, of several threads */
    if (!entry->item || entry_is_high(entry))
        return;
    for (int k = 0; k < imp->kernels.n; k++) {
        const ImpKernel *kernel = imp->kernels.at[k];
        const ImpStmt *loop = long_loop(ctx, kernel);
        alone &= one_block(kernel) && !one_thread(kernel);
        first = first ? first : loop;
        if (loop && one_thread(kernel) && !item_accepts(entry->item, W0711))
            warn_thread(ctx, entry, kernel, loop);
    }
    if (!alone || !first || item_accepts(entry->item, W0710))
        return;
    Diag *diag = diag_warning(ctx, W0710, place_of(ctx, entry, first), "`%s` runs in one block, whatever its sizes: one multiprocessor works", entry->name);
    diag_label(ctx, diag, "its threads go through %s here", elements_of(ctx, entry, first));
    diag_note(ctx, diag, NO_SPAN, "%s", says_blocks(entry) ? "without `blocks` in `launch [...]` it follows from the sizes"
                                                           : "work is spread over blocks by `mapGlobal`, or `split(k) |> mapBlock(...)`; without levels, risec chooses them");
    if (imp->kernels.n == 1 && !says_blocks(entry))
        propose_global(ctx, diag, imp->kernels.at[0], first);
}
