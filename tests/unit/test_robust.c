/* Everything that `risec check` and `risec --emit=cuda,manifest` do, on programs that are damaged, and with memory that runs out.
 *
 *     test_robust [--work MIB] [--changes N] [--seed N] FILE.rise...
 *
 * Each file is cut off at every byte, changed at random places, and compiled with the k-th allocation failing, for k over all of them. Of a file that takes long
 * to compile only a sample of these is tried: as many as allocate MIB mebibytes, and four allocations at least.
 * Whatever happens, there is a program or an error, the diagnostics can be shown, and all memory is given back. */
#include <inttypes.h>
#include <stdlib.h>

#include "codegen/lower.h"
#include "frontend/elab.h"
#include "support/context.h"
#include "unit.h"

/* ---- an allocator that counts, and fails at one call --------------------------------------------------------- */

typedef struct Meter {
    long calls, fail_at; /* fail_at 0: never */
    long live;
    size_t bytes;
} Meter;

static void *meter_alloc(void *user, size_t size)
{
    Meter *m = user;
    if (++m->calls == m->fail_at)
        return NULL;
    void *block = malloc(size);
    m->live += block != NULL;
    m->bytes += size;
    return block;
}

static void meter_free(void *user, void *block)
{
    Meter *m = user;
    m->live--;
    free(block);
}

/* ---- one compilation ------------------------------------------------------------------------------------------ */

typedef struct Job {
    const char *name, *text;
    size_t size;
    int entries, lowered;
    bool verified;
    size_t shown; /* bytes of diagnostics */
} Job;

static void compile(Ctx *ctx, void *user)
{
    Job *job = user;
    Program *program = program_from_text(ctx, job->name, job->text, job->size);
    CoreProgram *core = elab_all(ctx, program);
    job->entries = core->entries.n;
    job->verified = true;
    ImpProgram **imps = NEWN(ctx, ImpProgram *, core->entries.n + 1);
    int n = 0;
    for (int i = 0; i < core->entries.n; i++) {
        job->verified &= core_verify(ctx, core->entries.at[i]) == NULL;
        imps[n] = lower_entry(ctx, core->entries.at[i], (LowerPass)(PASS_COUNT - 1));
        n += imps[n] != NULL;
    }
    job->lowered = n;
    if (ctx->diags.errors)
        return;
    StrBuf out;
    sb_init(&out, ctx);
    for (int i = 0; i < core->entries.n; i++)
        core_print_entry(&out, core->entries.at[i]);
    for (int i = 0; i < n; i++)
        imp_print(&out, imps[i]);
    cuda_print(ctx, &out, n, imps, true);
    manifest_print(ctx, &out, n, imps);
}

static void show(Ctx *ctx, void *user)
{
    Job *job = user;
    StrBuf out;
    sb_init(&out, ctx);
    diag_render(ctx, &out, false);
    job->shown = out.len;
}

/* Each line of a diagnostic is short, and there are at most LIMIT_DIAGNOSTICS of them. */
enum { SHOWN_AT_MOST = LIMIT_DIAGNOSTICS * 4000 };

static bool good_end(const Ctx *ctx, const Job *job)
{
    bool spans = true;
    for (int i = 0; i < ctx->diags.list.n; i++) {
        const Span *s = &ctx->diags.list.at[i]->span;
        const Source *source = source_get(ctx, s->file);
        spans &= !source || (s->lo <= s->hi && s->hi <= source->size);
        spans &= ctx->diags.list.at[i]->code != E0510;
    }
    if (!spans || !job->verified || job->shown > SHOWN_AT_MOST)
        return false;
    return ctx->diags.errors ? job->shown > 0 : job->lowered == job->entries;
}

static bool compiles_or_says_why(const char *name, const char *text, size_t size)
{
    /* A block of its own, so that reading past the end is seen. */
    char *copy = malloc(size + 1);
    memcpy(copy, text, size);
    copy[size] = 0;
    Job job = {.name = name, .text = copy, .size = size};
    Ctx *ctx = ctx_new(NULL, NULL);
    bool good = ctx && ctx_try(ctx, compile, &job) && ctx_try(ctx, show, &job) && good_end(ctx, &job);
    if (!good) {
        printf("%s: %zu bytes, %d errors, %d of %d entries lowered, verified %d, %zu bytes shown:\n%s\n", name, size, ctx ? ctx->diags.errors : -1,
               job.lowered, job.entries, job.verified, job.shown, copy);
    }
    ctx_free(ctx);
    free(copy);
    return good;
}

/* ---- damage --------------------------------------------------------------------------------------------------- */

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % n;
}

/* A few edits: a byte lost, a byte changed, a piece copied or lost, a token from elsewhere put in. */
static size_t change(char *to, const char *text, size_t size)
{
    static const char *const pieces[] = {"(", ")", "0", "-1", "xs", " |> ", "split(0)", "f32", "n.", "transpose", "[", "]", "}", "{", "map", "fun x => ",
                                         "2^62", " where ", "9223372036854775807", "mapGlobal", "mapBlock", "mapLane", "toShared", "join", "drop(1)"};
    memcpy(to, text, size);
    for (uint64_t edits = 1 + random_below(3); edits > 0 && size > 1; edits--) {
        size_t at = random_below(size), n = 1 + random_below(12);
        if (n > size - at)
            n = size - at;
        const char *piece = pieces[random_below(sizeof pieces / sizeof *pieces)];
        switch (random_below(5)) {
        case 0:
            memmove(to + at, to + at + 1, size - at - 1);
            size--;
            break;
        case 1:
            to[at] = (char)(32 + random_below(95));
            break;
        case 2:
            memmove(to + at + n, to + at, size - at);
            size += n;
            break;
        case 3:
            memmove(to + at, to + at + n, size - at - n);
            size -= n;
            break;
        case 4:
            n = strlen(piece);
            memmove(to + at + n, to + at, size - at);
            memcpy(to + at, piece, n);
            size += n;
            break;
        }
    }
    return size;
}

enum { CHANGE_ADDS = 128 };

/* ---- memory that runs out -------------------------------------------------------------------------------------- */

enum { FAILURES = 150, FEWEST_FAILURES = 4 }; /* of one file; where there are more allocations, a sample */

static Meter measure(const char *name, const char *text, size_t size)
{
    Meter all = {0};
    Job job = {.name = name, .text = text, .size = size};
    Ctx *ctx = ctx_new(&(Allocator){&all, meter_alloc, meter_free}, NULL);
    CHECK(ctx && ctx_try(ctx, compile, &job));
    ctx_free(ctx);
    CHECK(all.live == 0);
    return all;
}

/* How many compilations allocate `work` mebibytes, beside the first block that each context has. */
static long affordable(long work, const Meter *one)
{
    enum { FIRST_BLOCK = 1 << 20, LEAST = 1 << 15 };
    long bytes = (long)one->bytes - FIRST_BLOCK;
    return (work << 20) / (bytes > LEAST ? bytes : LEAST);
}

static void check_out_of_memory(const char *name, const char *text, size_t size, long calls, long tries)
{
    Job job = {.name = name, .text = text, .size = size};
    tries = tries > FAILURES ? FAILURES : tries < FEWEST_FAILURES ? FEWEST_FAILURES : tries;
    for (long k = 1; k <= calls; k += 1 + calls / tries) {
        Meter m = {.fail_at = k};
        Ctx *ctx = ctx_new(&(Allocator){&m, meter_alloc, meter_free}, NULL);
        if (ctx) {
            CHECK(!ctx_try(ctx, compile, &job));
            CHECK(ctx->guard == NULL);
            /* The context is still good for another try. */
            CHECK(ctx_try(ctx, compile, &job) && ctx_try(ctx, show, &job));
        }
        ctx_free(ctx);
        CHECK(m.live == 0);
    }
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static char *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = malloc(1 << 20);
    *size = fread(text, 1, (1 << 20) - 1, file);
    text[*size] = 0;
    fclose(file);
    return text;
}

int main(int argc, char **argv)
{
    long work = 100, changes = 400;
    uint64_t seed = 20260101;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-' && i + 1 < argc) {
            long value = strtol(argv[i + 1], NULL, 10);
            if (strcmp(argv[i], "--work") == 0)
                work = value;
            else if (strcmp(argv[i], "--changes") == 0)
                changes = value;
            else if (strcmp(argv[i], "--seed") == 0)
                seed = (uint64_t)value;
            i++;
            continue;
        }
        size_t size = 0;
        char *text = read_whole(argv[i], &size);
        if (!CHECK(text != NULL))
            continue;
        Meter all = measure(argv[i], text, size);
        long most = affordable(work, &all);
        for (size_t end = 0; end <= size; end += 1 + size / (size_t)(most + 1))
            CHECK(compiles_or_says_why(argv[i], text, end));
        random_state = seed * 2 + 1;
        char *changed = malloc(size + CHANGE_ADDS);
        for (long k = 0; k < changes && k < most; k++) {
            size_t n = change(changed, text, size);
            CHECK(compiles_or_says_why(argv[i], changed, n));
        }
        free(changed);
        check_out_of_memory(argv[i], text, size, all.calls, most);
        free(text);
    }
    printf("robust: seed %" PRIu64 "\n", seed);
    printf("robust: %ld checks, %ld wrong\n", unit_checks, unit_failures);
    return unit_failures != 0;
}
