/* Entries of librise in numbers of bytes: what one keeps, what making it takes, that its program is parsed once; and who keeps one that is freed. Also that
 * a context does not change while parts of it are at work. */
#include <pthread.h>
#include <stdlib.h>

#include "fake_gpu.h"
#include "support/embedded.h"
#include "unit.h"

static rise_error err;
#define GOOD(call)                                                    \
    do {                                                              \
        if (!CHECK((call) == RISE_OK))                                \
            printf("%d: %s\n", err.status, err.text);                 \
    } while (0)

/* ---- an allocator that counts bytes ------------------------------------------------------------------------------------------ */

typedef struct Block {
    struct Block *next, *before; /* of those that are there */
    size_t size;
} Block;
enum { HEAD = 32 };

typedef struct Bytes {
    pthread_mutex_t lock;
    size_t now, most, all;
    Block *blocks;
} Bytes;

static void *counted_alloc(void *user, size_t size)
{
    Bytes *b = user;
    char *whole = malloc(HEAD + size);
    if (!whole)
        return NULL;
    Block *block = (Block *)(void *)whole;
    pthread_mutex_lock(&b->lock);
    *block = (Block){b->blocks, NULL, size};
    if (b->blocks)
        b->blocks->before = block;
    b->blocks = block;
    b->now += size;
    b->all += size;
    b->most = b->now > b->most ? b->now : b->most;
    pthread_mutex_unlock(&b->lock);
    return whole + HEAD;
}

static void counted_free(void *user, void *at)
{
    Bytes *b = user;
    Block *block = (Block *)(void *)((char *)at - HEAD);
    pthread_mutex_lock(&b->lock);
    b->now -= block->size;
    if (block->next)
        block->next->before = block->before;
    *(block->before ? &block->before->next : &b->blocks) = block->next;
    pthread_mutex_unlock(&b->lock);
    free(block);
}

static Bytes counted(void) { return (Bytes){.lock = PTHREAD_MUTEX_INITIALIZER}; }

static rise_context *open_context(Bytes *bytes, int device)
{
    rise_context_options options = {.size = sizeof options, .device = device};
    RiseSeams seams = {.alloc = {bytes, counted_alloc, counted_free}, .cache_dir = "", .loader = device == RISE_GPU ? &fake_loader : NULL};
    rise_context *context = NULL;
    GOOD(context_new(&options, &seams, &context, &err));
    return context;
}

/* ---- texts -------------------------------------------------------------------------------------------------------------------- */

enum { LINE = 160 };

static const char *const forms[] = {
    "entry e%d {n: nat} (xs: n.f32): f32 = xs |> map(fun x => x * %d.5) |> reduce((+), 0)\n",
    "entry e%d {n m: nat} (a: n.m.f32) (x: m.f32): n.f32 = a |> map(fun r => zip(r, x) |> map(fun (p, q) => p * q + %d.0) |> reduce((+), 0))\n",
    "entry e%d {n: nat} (xs: n.f32): n.f32 = xs |> mapGlobal(fun x => x * %d.5)\n",
    "entry e%d {n: nat} (xs: n.f32): n.f32 = xs |> map(fun x => x * %d.5)\n"};
enum { FORM_MIXED = -1, FORM_REDUCTION = 0, FORM_LOW = 2, FORM_MAP = 3 };

static char *text_of(int n, int form)
{
    char *text = malloc((size_t)n * LINE + 1), *at = text;
    *text = 0;
    for (int i = 0; i < n; i++)
        at += snprintf(at, LINE, forms[form < 0 ? i % 3 : form], i, i + 1);
    return text;
}

static rise_program *program_with(rise_context *context, int n, int form)
{
    char *text = text_of(n, form);
    rise_program *program = NULL;
    GOOD(rise_program_from_text(context, "entries.rise", text, (size_t)-1, &program, &err));
    free(text);
    return program;
}

static rise_entry *entry_number(rise_program *program, int k)
{
    char name[16];
    rise_entry *entry = NULL;
    snprintf(name, sizeof name, "e%d", k);
    GOOD(rise_entry_get(program, name, NULL, &entry, &err));
    return entry;
}

static bool launch(rise_entry *entry, float factor)
{
    float xs[3] = {1, 2, 3}, sum = 0;
    int64_t n = 3;
    rise_call *call = NULL;
    bool good = rise_call_new(entry, &call, &err) == RISE_OK && rise_call_input(call, "xs", RISE_F32, 1, &n, xs, RISE_HOST, &err) == RISE_OK &&
                rise_call_output(call, "result", RISE_F32, &sum, sizeof sum, RISE_HOST, &err) == RISE_OK && rise_call_launch(call, NULL, &err) == RISE_OK;
    rise_call_free(call);
    return good && sum == 6 * factor;
}

/* ---- bytes --------------------------------------------------------------------------------------------------------------------- */

enum { ENTRY_BYTES = 224 << 10, PROGRAM_BYTES = 16 << 20, MOST_BYTES = 60 << 20 };

/* With its texts. Also what all of them take when they are freed: nothing. */
static void test_bytes(int device, int n)
{
    Bytes bytes = counted();
    rise_context *context = open_context(&bytes, device);
    rise_program *program = program_with(context, n, FORM_MIXED);
    size_t before = bytes.now, largest = 0;
    rise_entry **entries = malloc(sizeof *entries * (size_t)n);
    const char *text;
    for (int k = 0; k < 2; k++) { /* from here on there are the modules of strategies */
        rise_entry *entry = entry_number(program, 0);
        GOOD(rise_entry_cuda(entry, &text, NULL, &err));
        rise_entry_free(entry);
    }
    size_t base = bytes.now;
    for (int k = 0; k < n; k++) {
        size_t was = bytes.now;
        entries[k] = entry_number(program, k);
        GOOD(rise_entry_cuda(entries[k], &text, NULL, &err));
        largest = bytes.now - was > largest ? bytes.now - was : largest;
    }
    CHECK(largest > 0 && largest < ENTRY_BYTES);
    CHECK(base < PROGRAM_BYTES && bytes.most < MOST_BYTES);
    printf("device %d: the program takes %zu bytes, then %zu; an entry with its texts at most %zu; %d of them %zu, and never more than %zu\n", device, before, base, largest, n,
           bytes.now - base, bytes.most);
    for (int k = 0; k < n; k++)
        rise_entry_free(entries[k]);
    CHECK(bytes.now == base);
    free(entries);
    rise_program_free(program);
    rise_context_free(context);
    CHECK(bytes.now == 0);
}

/* On a GPU, with its texts and all of its kernels loaded: no code is kept, as the driver has it. */
static void test_loaded(int n)
{
    Bytes bytes = counted();
    fake_gpu_start();
    rise_context *context = open_context(&bytes, RISE_GPU);
    rise_program *program = program_with(context, n, FORM_MIXED);
    size_t largest = 0;
    const char *text;
    for (int k = 0; k < n; k++) {
        size_t was = bytes.now;
        rise_entry *entry = entry_number(program, k);
        GOOD(rise_entry_load(entry, &err));
        GOOD(rise_entry_cuda(entry, &text, NULL, &err));
        size_t takes = k > 1 ? bytes.now - was : 0; /* the first ones bring the modules of strategies */
        largest = takes > largest ? takes : largest;
    }
    CHECK(largest > 0 && largest < ENTRY_BYTES && fake_gpu.modules > n);
    printf("an entry with its texts and all kernels loaded takes at most %zu bytes\n", largest);
    rise_program_free(program);
    CHECK(fake_gpu.modules == 0);
    rise_context_free(context);
    CHECK(bytes.now == 0 && fake_gpu.misuse == 0);
}

/* All are launched, and none is freed. */
static void test_launched(int device, int n)
{
    Bytes bytes = counted();
    rise_context *context = open_context(&bytes, device);
    rise_program *program = program_with(context, n, FORM_REDUCTION);
    for (int k = 0; k < n; k++)
        CHECK(launch(entry_number(program, k), (float)k + 1.5f));
    CHECK(bytes.most < MOST_BYTES);
    printf("device %d: %d entries that were launched take %zu bytes, and never more than %zu\n", device, n, bytes.now, bytes.most);
    rise_program_free(program);
    rise_context_free(context);
    CHECK(bytes.now == 0);
}

/* Making an entry takes as much, whatever else stands in the text. */
static void test_parsed_once(void)
{
    size_t took[2];
    for (int i = 0; i < 2; i++) {
        Bytes bytes = counted();
        rise_context *context = open_context(&bytes, RISE_SIM);
        rise_program *program = program_with(context, i ? 3000 : 1, FORM_LOW);
        size_t before = bytes.all;
        entry_number(program, 0);
        took[i] = bytes.all - before;
        rise_program_free(program);
        rise_context_free(context);
    }
    CHECK(took[1] < took[0] + (256 << 10)); /* the table of sources, and a list of names */
    printf("an entry alone takes %zu bytes to make, and %zu among 3,000 others\n", took[0], took[1]);
}

/* ---- who keeps it ---------------------------------------------------------------------------------------------------------------- */

static void test_free(int device)
{
    Bytes bytes = counted();
    rise_context *context = open_context(&bytes, device);
    rise_program *program = program_with(context, 2, FORM_REDUCTION);
    rise_entry_free(NULL);
    rise_entry *first = entry_number(program, 0), *second = entry_number(program, 0);
    CHECK(first == second);
    rise_entry_free(first); /* once for each get */
    CHECK(strcmp(rise_entry_name(second), "e0") == 0 && launch(second, 1.5f));
    rise_call *call = NULL;
    float xs[2] = {1, 2}, sum = 0;
    int64_t n = 2;
    GOOD(rise_call_new(second, &call, &err));
    rise_entry_free(second); /* the call keeps it */
    GOOD(rise_call_input(call, "xs", RISE_F32, 1, &n, xs, RISE_HOST, &err));
    GOOD(rise_call_output(call, "result", RISE_F32, &sum, sizeof sum, RISE_HOST, &err));
    GOOD(rise_call_launch(call, NULL, &err));
    GOOD(rise_call_wait(call, &err));
    CHECK(sum == 4.5f);
    /* As long as somebody keeps it, it is the same one; but what was given back is gone. */
    rise_entry *third = entry_number(program, 0);
    CHECK(entry_of(third, NULL) == call_of(call, NULL)->entry);
    CHECK(third != second && !rise_entry_name(second));
    rise_entry_free(second);
    CHECK(rise_entry_name(third) != NULL);
    rise_entry_free(third);
    size_t before = bytes.now;
    rise_call_free(call); /* now it goes, with what launches had of it */
    CHECK(bytes.now < before);
    size_t without = bytes.now;
    for (int i = 0; i < 3; i++) {
        rise_entry *again = entry_number(program, 0);
        CHECK(launch(again, 1.5f));
        rise_entry_free(again);
        CHECK(bytes.now <= without + (8 << 20)); /* the first one brings the modules of strategies */
        without = bytes.now;
    }
    /* What could not be made leaves nothing. */
    rise_entry *none = NULL;
    CHECK(rise_entry_get(program, "e0", &(rise_entry_options){.size = sizeof(rise_entry_options), .settings = &(rise_setting){"k", 1}, .n_settings = 1}, &none, &err) ==
              RISE_ERROR_ARGUMENT && !none);
    CHECK(bytes.now == without);
    entry_number(program, 1); /* not freed: it goes with the program */
    rise_program_free(program);
    rise_context_free(context);
    CHECK(bytes.now == 0);
}

/* ---- tables of costs ------------------------------------------------------------------------------------------------------------ */

/* The library's table with another number for one entry. */
static char *costs_with(const char *entry, const char *number)
{
    const LibFile *file = NULL;
    for (int i = 0; i < risec_lib_file_count; i++)
        if (strcmp(risec_lib_files[i].name, "device.rise") == 0)
            file = &risec_lib_files[i];
    char *text = calloc(file->size + strlen(number) + 1, 1), head[64];
    snprintf(head, sizeof head, "def %s: nat = ", entry);
    const char *from = strstr(file->text, head) + strlen(head), *to = from + strcspn(from, "\n");
    snprintf(text, file->size + strlen(number) + 1, "%.*s%s%s", (int)(from - file->text), file->text, number, to);
    return text;
}

static int said_costs;

static void hear(void *user, const rise_diagnostic *d)
{
    (void)user;
    said_costs += strcmp(d->code, "E0663") == 0 && strcmp(d->file, "costs") == 0 && d->line > 1;
}

static const char COSTLY[] = "entry f {n: nat} (xs: n.f32): (n - 1).f32 where n >= 1 =\n"
                             "  let ys = xs |> map(fun x => exp(exp(exp(exp(exp(exp(exp(exp(exp(exp(x))))))))))) in\n"
                             "  zip(take(n - 1, ys), drop(1, ys)) |> map(fun (a, b) => b - a)\n";

/* Entries by different tables are different ones: one kernel where exponentials cost nothing. */
static void test_costs(int device)
{
    rise_context_options options = {.size = sizeof options, .device = device, .diagnostic = hear};
    rise_context *context = NULL;
    rise_program *program = NULL;
    rise_entry *plain = NULL, *free_exp = NULL, *again = NULL, *none = NULL;
    char *cheap = costs_with("exponential", "0"), *bad = costs_with("exponential", "-1");
    rise_entry_options by_cheap = {.size = sizeof by_cheap, .costs = cheap}, by_bad = {.size = sizeof by_bad, .costs = bad};
    const char *text, *other;
    GOOD(rise_context_new(&options, &context, &err));
    GOOD(rise_program_from_text(context, "costly.rise", COSTLY, (size_t)-1, &program, &err));
    GOOD(rise_entry_get(program, NULL, NULL, &plain, &err));
    GOOD(rise_entry_get(program, NULL, &by_cheap, &free_exp, &err));
    GOOD(rise_entry_get(program, NULL, &by_cheap, &again, &err));
    CHECK(plain != free_exp && again == free_exp);
    GOOD(rise_entry_manifest(plain, &text, NULL, &err));
    GOOD(rise_entry_manifest(free_exp, &other, NULL, &err));
    CHECK(strstr(text, "f_finish") && !strstr(other, "f_finish"));
    const char *hash = strstr(text, "\"costs\": \""), *other_hash = strstr(other, "\"costs\": \"");
    CHECK(hash && other_hash && strncmp(hash, other_hash, 27) != 0);
    said_costs = 0;
    CHECK(rise_entry_get(program, NULL, &by_bad, &none, &err) == RISE_ERROR_PROGRAM && !none && said_costs == 1);
    CHECK(strstr(err.text, "E0663"));
    rise_program_free(program);
    rise_context_free(context);
    free(cheap);
    free(bad);
}

/* ---- threads --------------------------------------------------------------------------------------------------------------------- */

typedef struct Worker {
    pthread_t thread;
    rise_program *program;
    int seed, n, wrong;
} Worker;

static void *work(void *user)
{
    Worker *w = user;
    for (int i = 0; i < w->n; i++) {
        char name[16];
        int k = (w->seed + i * i) % 3;
        rise_error own = {0};
        rise_entry *entry = NULL;
        rise_call *call = NULL;
        float xs[3] = {1, 2, 3}, ys[3] = {0}, by = (float)k + 1.5f;
        int64_t n = 3;
        snprintf(name, sizeof name, "e%d", k);
        bool good = rise_entry_get(w->program, name, NULL, &entry, &own) == RISE_OK && rise_call_new(entry, &call, &own) == RISE_OK;
        if (i % 2)
            rise_entry_free(entry);
        good = good && rise_call_input(call, "xs", RISE_F32, 1, &n, xs, RISE_HOST, &own) == RISE_OK &&
               rise_call_output(call, "result", RISE_F32, ys, sizeof ys, RISE_HOST, &own) == RISE_OK && rise_call_launch(call, NULL, &own) == RISE_OK;
        rise_call_free(call);
        if (i % 2 == 0)
            rise_entry_free(entry);
        w->wrong += !good || ys[0] != by || ys[1] != 2 * by || ys[2] != 3 * by;
    }
    return NULL;
}

/* Entries are made, freed and made again by all of them, inside of the same parsed program. */
static void test_threads(int device, int n)
{
    enum { THREADS = 8 };
    Bytes bytes = counted();
    rise_context *context = open_context(&bytes, device);
    rise_program *program = program_with(context, 3, FORM_MAP);
    size_t before = bytes.now;
    Worker workers[THREADS];
    for (int t = 0; t < THREADS; t++) {
        workers[t] = (Worker){.program = program, .seed = t, .n = n};
        pthread_create(&workers[t].thread, NULL, work, &workers[t]);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(workers[t].thread, NULL);
        CHECK(workers[t].wrong == 0);
    }
    CHECK(bytes.now < before + (16 << 20)); /* the modules of strategies; no entry is left */
    rise_program_free(program);
    rise_context_free(context);
    CHECK(bytes.now == 0);
}

/* ---- parts of a context -------------------------------------------------------------------------------------------------------------- */

/* Of all bytes that there are, gaps included. */
__attribute__((no_sanitize("address"))) static uint64_t sum_of(const Bytes *bytes)
{
    uint64_t sum = 0;
    for (const Block *b = bytes->blocks; b; b = b->next)
        for (size_t i = 0; i < b->size; i++)
            sum = (sum ^ ((const unsigned char *)b)[HEAD + i]) * 0x100000001b3u;
    return sum;
}

static void compile_part(Ctx *part, void *user)
{
    const Program *whole = user;
    Program *program = program_inside(part, whole);
    for (int k = 0; k < program_entry_count(program); k++) {
        CoreEntry *entry = elab_entry(part, program, k, 0, NULL);
        ImpProgram *imp = entry ? lower_entry(part, entry, (LowerPass)(PASS_COUNT - 1)) : NULL;
        StrBuf text;
        sb_init(&text, part);
        if (imp)
            cuda_print(part, &text, 1, &imp, false);
        CHECK(imp || part->diags.errors);
    }
}

typedef struct Loaded {
    const char *path;
    Program *program;
} Loaded;

static void load(Ctx *ctx, void *user)
{
    Loaded *l = user;
    l->program = program_load(ctx, l->path);
}

/* No byte of the whole changes, so threads may share it. */
static void test_whole(const char *path)
{
    Bytes bytes = counted(), of_part = counted();
    Ctx *ctx = ctx_new(&(Allocator){&bytes, counted_alloc, counted_free}, NULL);
    Loaded loaded = {path, NULL};
    CHECK(ctx_try(ctx, load, &loaded));
    uint64_t before = sum_of(&bytes);
    Ctx *part = ctx_new_inside(ctx, &(Allocator){&of_part, counted_alloc, counted_free}, NULL);
    CHECK(ctx_try(part, compile_part, loaded.program));
    if (!CHECK(sum_of(&bytes) == before))
        printf("%s: the context of the program has changed\n", path);
    ctx_free(part);
    CHECK(of_part.now == 0);
    ctx_free(ctx);
    CHECK(bytes.now == 0);
}

/* test_entries [--entries N] FILE..., or test_entries --threads N: only what threads do, N times each. */
int main(int argc, char **argv)
{
    int n = 40, first = 1;
    if (argc > 2 && strcmp(argv[1], "--threads") == 0) {
        test_threads(RISE_SIM, atoi(argv[2]));
        test_threads(RISE_REF, atoi(argv[2]));
        return unit_end();
    }
    if (argc > 2 && strcmp(argv[1], "--entries") == 0) {
        n = atoi(argv[2]);
        first = 3;
    }
    test_bytes(RISE_SIM, n);
    test_bytes(RISE_REF, n);
    test_loaded(n < 40 ? n : 40);
    test_launched(RISE_SIM, n / 2);
    test_launched(RISE_REF, n / 2);
    test_parsed_once();
    test_free(RISE_SIM);
    test_free(RISE_REF);
    test_costs(RISE_SIM);
    test_costs(RISE_REF);
    test_threads(RISE_SIM, n / 8);
    test_threads(RISE_REF, n / 8);
    for (int i = first; i < argc; i++)
        test_whole(argv[i]);
    return unit_end();
}
