/* For clang's libFuzzer: bytes are a program, which goes through `risec check`, CUDA C, its printed core and small launches on the simulator beside the reference.
 * tests/fuzz/fuzz.sh builds and runs it.
 *
 * FUZZ_PLANT=1, 2 or 3 in the environment plants a fault that has to be found: planted.h. With
 * FUZZ_LOOKS it says how much each program takes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/driver.h"
#include "facts.h"
#include "mutate.h"
#include "pipeline.h"
#include "planted.h"

enum { LONGEST = 20000, MAX_STEPS = 20000, LAUNCHES = 1, ENTRIES = 2 };
/* Of the brake (support/context.h), for `check` and for the rest: a program that takes more, about a
 * second here, is given up, so that others have their turn. */
#define MOST_LOOKS 400000
#define MOST_BYTES ((size_t)512 << 20)

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out, size_t max_size, unsigned seed);

static const char *const name = "fuzz.rise";
static int plant; /* read once, before all */
static bool says_looks;

/* ---- what a program may ask of the world: its own text, and some memory ------------------------------------------------------------ */

typedef struct World {
    const char *text;
    size_t size, taken;
} World;

static FileStatus world_read(void *user, Ctx *ctx, const char *path, FileKind kind, size_t limit, char **bytes, size_t *size)
{
    const World *world = user;
    (void)kind;
    (void)limit;
    if (strcmp(path, name) != 0)
        return FILE_MISSING;
    *bytes = ctx_alloc(ctx, world->size + 1);
    memcpy(*bytes, world->text, world->size);
    (*bytes)[world->size] = 0;
    *size = world->size;
    return FILE_OK;
}

static FileStatus world_write(void *user, const char *path, const void *bytes, size_t size)
{
    (void)user;
    (void)path;
    (void)bytes;
    (void)size;
    return FILE_OK;
}

static void *world_alloc(void *user, size_t size)
{
    World *world = user;
    world->taken += size;
    return world->taken > MOST_BYTES ? NULL : malloc(size);
}

static void world_free(void *user, void *block)
{
    (void)user;
    free(block);
}

/* ---- check ---------------------------------------------------------------------------------------------------------------------------- */

typedef struct Check {
    Driver driver;
    bool plain; /* it ended with 0, or with 1 and an error, and what it says can be shown */
} Check;

static void check(Ctx *ctx, void *user)
{
    Check *c = user;
    StrBuf out;
    c->driver.line = options_parse(ctx, 3, (char *[]){"risec", "check", (char *)name, NULL});
    cmd_check(ctx, &c->driver);
    driver_no_errors(ctx, &c->driver);
    sb_init(&out, ctx);
    diag_render(ctx, &out, false);
    diag_render_json(ctx, &out);
    facts_of_diags(ctx);
    planted_in_check(ctx, plant);
    c->plain = c->driver.status == STATUS_GOOD || (c->driver.status == STATUS_PROGRAM && ctx->diags.errors > 0);
}

static void found(const char *what, const char *said)
{
    fprintf(stderr, "FOUND: %s %s\n", what, said);
    abort();
}

/* ---- what libFuzzer calls ---------------------------------------------------------------------------------------------------------------- */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    const char *set = getenv("FUZZ_PLANT");
    plant = set ? atoi(set) : 0;
    says_looks = getenv("FUZZ_LOOKS") != NULL;
    return 0;
}

static void say_looks(const Brake *brake)
{
    if (says_looks)
        fprintf(stderr, "LOOKS: %llu\n", (unsigned long long)brake->looks);
}

static void look_at_entry(Ctx *ctx, const CoreEntry *entry, ImpProgram *imp, int which)
{
    facts_of_entry(entry);
    planted_in_imp(ctx, entry, imp, which);
}

static void try_program(const char *text, size_t size)
{
    World world = {text, size, 0};
    Allocator alloc = {&world, world_alloc, world_free};
    FileAccess files = {&world, world_read, world_write};
    Check c = {.plain = true};
    Brake brake = {.pull_at = MOST_LOOKS};
    Ctx *ctx = ctx_new(&alloc, &files);
    if (ctx)
        ctx->brake = &brake;
    bool enough = ctx && ctx_try(ctx, check, &c);
    ctx_free(ctx);
    say_looks(&brake);
    if (!enough)
        return;
    if (!c.plain)
        found("check ends with another exit code than 0, or 1 with an error", "");
    if (c.driver.status != STATUS_GOOD)
        return;
    world.taken = 0;
    brake = (Brake){.pull_at = MOST_LOOKS};
    Pipe pipe = {.name = name, .text = text, .size = size, .seed = size, .launches = LAUNCHES, .entries = ENTRIES, .max_steps = MAX_STEPS, .typed_again = true, .change = look_at_entry, .plant = plant, .files = &files,
                 .brake = &brake};
    PipeResult r = pipe_run(&pipe, &alloc);
    say_looks(&brake);
    if (r.verdict == PIPE_REFUSED)
        found("accepted by check, and not compiled", r.said);
    /* A program that claims laws can be wrong by them: test_mutants asks `check --laws`, which takes long. */
    if (pipe_fails(r.verdict) && !(r.verdict == PIPE_DIFFERS && r.claims))
        found(pipe_names[r.verdict], r.said);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > LONGEST)
        return -1;
    char *text = calloc(size + 1, 1);
    memcpy(text, data, size);
    try_program(text, size);
    free(text);
    return 0;
}

/* Nothing where it is too long: then libFuzzer makes another one. */
static size_t put(Text text, uint8_t *out, size_t max_size)
{
    size_t size = text.size <= max_size ? text.size : 0;
    memcpy(out, text.at, size);
    free(text.at);
    return size;
}

/* Half of the time items of both; else a part of one in the other. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out, size_t max_size, unsigned seed)
{
    char *first = calloc(a_size + 1, 1), *second = calloc(b_size + 1, 1);
    memcpy(first, a, a_size);
    memcpy(second, b, b_size);
    Text one = {first, a_size}, other = {second, b_size};
    Text both = seed % 2 ? join_items(&one, &other, seed) : mutate(&one, &other, seed);
    size_t size = put(both, out, max_size);
    free(first);
    free(second);
    return size;
}

/* Mostly whole tokens, one or all that are alike; at times bytes. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    if (seed % 8 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    char *text = calloc(size + 1, 1);
    memcpy(text, data, size);
    Text own = {text, size};
    Text changed = seed % 2 ? exchange_all(&own, seed) : mutate(&own, &own, seed);
    size_t now = put(changed, data, max_size);
    free(text);
    return now ? now : size;
}
