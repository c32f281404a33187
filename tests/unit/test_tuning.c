/* Tuning files: what is read back, that no damaged one does harm, and that a tuned entry computes the same in each class, on the simulator and through librise. */
#include "frontend/tuning.h"

#include <stdlib.h>

#include "codegen/lower.h"
#include "runtime/internal.h"
#include "sim/sim.h"
#include "unit.h"

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* ---- files that are texts here --------------------------------------------------------------------------------------------- */

static const char program_text[] =
    "entry sum {n: nat} (threads: nat = 64 in [32, 64, 128]) (each: nat = 4 in [1, 2, 4]) (xs: n.i32): 1.i32\n"
    "  where threads * each <= 512 launch [threads = threads] =\n"
    "  xs |> padTo(threads * each, 0) |> split(threads * each) |> mapBlock(fun part =>\n"
    "          part |> split(each) |> mapThreads(reduceSeq((+), 0)) |> toShared |> split(threads) |> mapThreads(reduceSeq((+), 0))) |> join |> toGlobal\n"
    "     |> lastBlock(fun sums => sums |> padTo(32, 0) |> split(32) |> transpose |> mapThreads(reduceSeq((+), 0)) |> toShared |> split(32)\n"
    "          |> mapThreads(reduceSeq((+), 0)))\n";

/* What says nothing of threads, and two strategies that do. */
static const char high_text[] =
    "import rules.algorithmic\nimport rules.lowering\n"
    "strategy parts (k: nat = 64 in [32, 64]) = launch[threads = 32] ; reduceSplit(k) at reduce ; mapToGlobal at map ; reduceToSeq at reduce inside mapGlobal ; again\n"
    "strategy again = finishNextKernel at reduce ; byOne at reduce\n"
    "rule byOne {n: nat} {t: data} (op: t -> t -> t) (unit: t) (xs: n.t): reduce(op, unit, xs) == generate{n = 1}(fun _ => reduceSeq(op, unit, xs)) |> mapGlobal(id) |> single\n"
    "entry sum {n: nat} (xs: n.i32): i32 = xs |> reduce((+), 0)\n";

static const char *program_file = program_text; /* p.rise */

static struct {
    char tune[4096];
    size_t size;
} files;

static FileStatus read_text(void *user, Ctx *ctx, const char *path, FileKind kind, size_t limit, char **bytes, size_t *size)
{
    (void)user, (void)kind, (void)limit;
    bool tune = strcmp(path, "p.rise.tune") == 0;
    if (!tune && strcmp(path, "p.rise") != 0)
        return FILE_MISSING;
    if (tune && !files.size)
        return FILE_MISSING;
    const char *from = tune ? files.tune : program_file;
    *size = tune ? files.size : strlen(program_file);
    *bytes = ctx_alloc(ctx, *size + 1); /* just this size, so that a sanitizer sees a step over the end */
    memcpy(*bytes, from, *size);
    (*bytes)[*size] = 0;
    return FILE_OK;
}

static FileStatus write_nothing(void *user, const char *path, const void *bytes, size_t size)
{
    (void)user, (void)path, (void)bytes, (void)size;
    return FILE_UNWRITABLE;
}

static const FileAccess access_here = {NULL, read_text, write_nothing};

static void set_tune(const char *classes, uint64_t hash)
{
    int n = snprintf(files.tune, sizeof files.tune, "tuning 1 -- a comment\n\n-- another\nentry other on \"sim\" hash 0123456789abcdef\n  else: k = 1\nentry sum on \"sim\" hash %016llx\n%s",
                     (unsigned long long)hash, classes);
    files.size = (size_t)n;
}

static const char classes_text[] = "  n <= 64: threads = 32, each = 1\n  n*n <= 1000000: threads = 128 -- each: the default\n  else: each = 2, threads = 64\n";

/* ---- reading ------------------------------------------------------------------------------------------------------------------ */

static void read_back(Ctx *ctx, void *user)
{
    Tuning tuning;
    (void)user;
    set_tune(classes_text, 0xfedcba9876543210u);
    CHECK(tuning_parse(ctx, "t", files.tune, files.size, &tuning) && tuning.sections.n == 2);
    const TuneSection *section = tuning_find(&tuning, "sum", "sim");
    CHECK(section && section->n_classes == 3 && section->hash == 0xfedcba9876543210u);
    CHECK(!tuning_find(&tuning, "sum", "gpu") && !tuning_find(&tuning, "su", "sim"));
    const ElabClass *c = section->classes;
    CHECK(c[0].n_sizes == 1 && c[0].most == 64 && c[0].n_settings == 2 && c[0].settings[0].value == 32);
    CHECK(c[1].n_sizes == 2 && c[1].most == 1000000 && c[1].n_settings == 1);
    CHECK(c[2].n_sizes == 0 && strcmp(c[2].settings[0].name, "each") == 0 && c[2].settings[0].value == 2);
    /* Sections with the comments above them make the whole text. */
    CHECK(tuning.sections.at[0].end == tuning.sections.at[1].begin && tuning.sections.at[1].end == files.size);
    CHECK_TEXT(tuning_device(ctx, "NVIDIA H200, sm_90, driver 13.0"), "NVIDIA H200");
}

/* Either it is refused with one located error, or all that was read can be walked. */
static void survives(Ctx *ctx, const char *text, size_t size)
{
    Tuning tuning;
    int errors = ctx->diags.errors;
    char *copy = ctx_alloc(ctx, size + 1);
    memcpy(copy, text, size);
    copy[size] = 0;
    ctx->diags.list.n = 0;
    if (!tuning_parse(ctx, "t", copy, size, &tuning)) {
        CHECK(ctx->diags.errors == errors + 1 && tuning.sections.n == 0);
        CHECK(ctx->diags.list.n == 1 && ctx->diags.list.at[0]->code == E0660 && ctx->diags.list.at[0]->span.file && ctx->diags.list.at[0]->span.hi <= size);
        return;
    }
    CHECK(ctx->diags.errors == errors);
    for (int i = 0; i < tuning.sections.n; i++) {
        const TuneSection *s = &tuning.sections.at[i];
        CHECK(s->begin < s->end && s->end <= size && s->n_classes > 0 && s->classes[s->n_classes - 1].n_sizes == 0 && s->entry[0] && s->device[0]);
        for (int k = 0; k < s->n_classes; k++)
            CHECK(s->classes[k].n_settings > 0 && s->classes[k].most >= 0);
    }
}

typedef struct Damage {
    size_t from, to;
} Damage;

static void cut_off(Ctx *ctx, void *user)
{
    const Damage *d = user;
    for (size_t size = d->from; size < d->to; size++)
        survives(ctx, files.tune, size);
}

static void damaged(Ctx *ctx, void *user)
{
    static const char bytes[] = "\0\n\r\t \"-,:=*<0129ae\x80\xff";
    char text[sizeof files.tune];
    (void)user;
    for (int round = 0; round < 60; round++) {
        memcpy(text, files.tune, files.size);
        for (uint64_t k = next() % 3; k < 3; k++)
            text[next() % files.size] = bytes[next() % (sizeof bytes - 1)];
        survives(ctx, text, files.size);
    }
}

static void in_fresh_ctx(void (*fn)(Ctx *, void *), void *user)
{
    Ctx *ctx = ctx_new(NULL, &access_here);
    CHECK(ctx && ctx_try(ctx, fn, user));
    ctx_free(ctx);
}

/* ---- using ---------------------------------------------------------------------------------------------------------------------- */

static void find_hash(Ctx *ctx, void *user)
{
    CoreEntry *entry = elab_entry(ctx, program_load(ctx, "p.rise"), 0, 0, NULL);
    CHECK(entry);
    *(uint64_t *)user = tuning_hash(ctx, entry);
}

typedef struct Use {
    const char *device;
    bool set;
    int classes, errors, warnings;
} Use;

static void use(Ctx *ctx, void *user)
{
    Use *u = user;
    const TuneSection *section;
    ElabSetting setting = {.name = "each", .value = 1};
    CoreEntry *entry = tuned_entry(ctx, program_load(ctx, "p.rise"), 0, "p.rise", u->device, u->set, &setting, &section);
    CHECK((entry == NULL) == (ctx->diags.errors > 0));
    u->classes = entry ? entry->n_classes : -1;
    u->errors = ctx->diags.errors;
    u->warnings = ctx->diags.warnings;
    CHECK(!entry || (section != NULL) == (u->classes > 0));
    CHECK(!entry || core_verify(ctx, entry) == NULL);
}

static Use used(const char *device, bool set)
{
    Use u = {.device = device, .set = set};
    in_fresh_ctx(use, &u);
    return u;
}

static void who_uses_it(uint64_t hash)
{
    set_tune(classes_text, hash);
    CHECK(used("sim", false).classes == 3);
    CHECK(used("sim", true).classes == 0 && used("gpu", false).classes == 0 && used(NULL, false).classes == 0);
    set_tune(classes_text, hash + 1);
    Use stale = used("sim", false);
    CHECK(stale.classes == 0 && stale.errors == 0 && stale.warnings == 1);
    static const char *const bad[] = {
        "  else: other = 1\n", "  m <= 4: each = 1\n  else: each = 2\n", "  else: threads = 128, each = 8\n", "  n <= 4: threads = 9223372036854775807\n  else: each = 1\n", "  threads\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        set_tune(bad[i], hash);
        CHECK(used("sim", false).errors > 0);
    }
    /* A tunable is a constant: its condition holds always, and the classes behind it are never reached. */
    set_tune("  threads <= 1000: each = 1\n  else: each = 2\n", hash);
    CHECK(used("sim", false).classes == 1);
    files.size = 0;
    CHECK(used("sim", false).classes == 0);
}

/* ---- librise -------------------------------------------------------------------------------------------------------------------- */

static int sum_by(rise_entry *entry, int64_t n, rise_error *error)
{
    int *xs = malloc(sizeof *xs * (size_t)(n + 1)), got = -1, want = 0;
    rise_call *call = NULL;
    for (int64_t i = 0; i < n; i++)
        want += xs[i] = (int)(next() % 1000);
    int status = rise_call_new(entry, &call, error);
    if (!status)
        status = rise_call_input(call, "xs", RISE_I32, 1, &n, xs, RISE_HOST, error);
    if (!status)
        status = rise_call_launch(call, NULL, error);
    if (!status)
        status = rise_call_read(call, "result", &got, sizeof got, error);
    rise_call_free(call);
    free(xs);
    return status ? status : got == want ? RISE_OK : -1;
}

static int warnings_told;

static void told(void *user, const rise_diagnostic *d)
{
    (void)user;
    warnings_told += d->is_warning && strcmp(d->code, "W0702") == 0;
}

static void by_librise(int device, uint64_t hash)
{
    Ctx *plain = ctx_new(NULL, NULL);
    RiseSeams seams = {.alloc = plain->alloc, .files = access_here};
    rise_context_options how = {.size = sizeof how, .device = device, .diagnostic = told};
    rise_entry_options untuned = {.size = sizeof untuned, .flags = RISE_UNTUNED};
    rise_setting each = {"each", 4}, n100 = {"n", 100};
    rise_entry_options set = {.size = sizeof set, .settings = &each, .n_settings = 1}, fixed = {.size = sizeof fixed, .settings = &n100, .n_settings = 1, .flags = RISE_SPECIALIZE};
    rise_context *context = NULL;
    rise_program *program = NULL;
    rise_entry *entry = NULL, *other = NULL;
    rise_error error = {0};
    set_tune(classes_text, hash);
    CHECK(context_new(&how, &seams, &context, &error) == RISE_OK);
    CHECK(program_of_file(context, "p.rise", program_text, strlen(program_text), &program, &error) == RISE_OK);
    CHECK(rise_entry_get(program, NULL, NULL, &entry, &error) == RISE_OK && rise_entry_tuned(entry) == (device == RISE_SIM));
    for (int64_t n = 0; n < 2100; n += n > 60 && n < 68 ? 1 : n > 995 && n < 1003 ? 1 : 31)
        CHECK(sum_by(entry, n, &error) == RISE_OK);
    CHECK(rise_entry_get(program, NULL, &untuned, &other, &error) == RISE_OK && !rise_entry_tuned(other) && (other != entry));
    CHECK(sum_by(other, 1000, &error) == RISE_OK);
    CHECK(rise_entry_get(program, NULL, &set, &other, &error) == RISE_OK && !rise_entry_tuned(other));
    CHECK(rise_entry_get(program, NULL, &fixed, &other, &error) == RISE_OK && rise_entry_tuned(other) == (device == RISE_SIM));
    CHECK(sum_by(other, 100, &error) == RISE_OK && sum_by(other, 101, &error) != RISE_OK);
    rise_program_free(program);
    /* One that no longer fits is told, and one that is damaged is an error. */
    set_tune(classes_text, hash ^ 1);
    warnings_told = 0;
    CHECK(rise_program_from_file(context, "p.rise", &program, &error) == RISE_OK);
    CHECK(rise_entry_get(program, NULL, NULL, &entry, &error) == RISE_OK && !rise_entry_tuned(entry) && (warnings_told > 0) == (device == RISE_SIM));
    CHECK(sum_by(entry, 1000, &error) == RISE_OK);
    rise_program_free(program);
    set_tune("  n < 4: each = 1\n", hash);
    CHECK(rise_program_from_file(context, "p.rise", &program, &error) == RISE_OK);
    CHECK(rise_entry_get(program, NULL, NULL, &entry, &error) == (device == RISE_SIM ? RISE_ERROR_PROGRAM : RISE_OK));
    CHECK(device == RISE_REF || strstr(error.text, "p.rise.tune:7:5: error[E0660]"));
    rise_program_free(program);
    rise_context_free(context);
    ctx_free(plain);
}

static void high_hash(Ctx *ctx, void *user)
{
    Program *program = program_from_text(ctx, "p.rise", high_text, sizeof high_text - 1);
    *(uint64_t *)user = tuning_hash(ctx, elab_entry(ctx, program, 0, 0, NULL));
}

/* An entry without tunables: its classes are lowered by strategies, with launches of their own. */
static void by_strategies(int device)
{
    uint64_t hash = 0;
    Ctx *plain = ctx_new(NULL, NULL);
    RiseSeams seams = {.alloc = plain->alloc, .files = access_here};
    rise_context_options how = {.size = sizeof how, .device = device};
    rise_entry_options given = {.size = sizeof given, .strategy = "parts(48)"}, wrong = {.size = sizeof wrong, .strategy = "parts at nothing"};
    rise_context *context = NULL;
    rise_program *program = NULL;
    rise_entry *entry = NULL, *other = NULL;
    rise_error error = {0};
    const char *cuda;
    size_t size;
    in_fresh_ctx(high_hash, &hash);
    program_file = high_text;
    set_tune("  n <= 64: lowered by parts{k = 32} -- a comment\n  n <= 1000: as written\n  else: lowered by parts\n", hash);
    CHECK(context_new(&how, &seams, &context, &error) == RISE_OK && rise_program_from_file(context, "p.rise", &program, &error) == RISE_OK);
    CHECK(rise_entry_get(program, NULL, NULL, &entry, &error) == RISE_OK && rise_entry_tuned(entry) == (device == RISE_SIM));
    for (int64_t n = 0; n < 2100; n += n > 60 && n < 68 ? 1 : n > 995 && n < 1003 ? 1 : 31)
        CHECK(sum_by(entry, n, &error) == RISE_OK);
    CHECK(rise_entry_get(program, NULL, &given, &other, &error) == RISE_OK && other != entry && !rise_entry_tuned(other));
    CHECK(sum_by(other, 1000, &error) == RISE_OK);
    CHECK(device == RISE_REF || (rise_entry_cuda(other, &cuda, &size, &error) == RISE_OK && strstr(cuda, "48") && !strstr(cuda, "__shfl")));
    CHECK(rise_entry_get(program, NULL, &given, &entry, &error) == RISE_OK && other == entry);
    CHECK(device == RISE_REF || (rise_entry_get(program, NULL, &wrong, &other, &error) == RISE_ERROR_PROGRAM && strstr(error.text, "E0802")));
    rise_program_free(program);
    set_tune("  else: lowered by\n", hash);
    CHECK(rise_program_from_file(context, "p.rise", &program, &error) == RISE_OK);
    CHECK(device == RISE_REF || (rise_entry_get(program, NULL, NULL, &entry, &error) == RISE_ERROR_PROGRAM && strstr(error.text, "E0660")));
    rise_program_free(program);
    set_tune("  else: lowered by parts )\n", hash);
    CHECK(rise_program_from_file(context, "p.rise", &program, &error) == RISE_OK);
    CHECK(device == RISE_REF || rise_entry_get(program, NULL, NULL, &entry, &error) == RISE_ERROR_PROGRAM);
    rise_program_free(program);
    rise_context_free(context);
    ctx_free(plain);
    program_file = program_text;
}

int main(void)
{
    uint64_t hash = 0;
    in_fresh_ctx(read_back, NULL);
    for (size_t from = 0; from < files.size; from += 16) { /* a context takes so many files */
        Damage d = {from, from + 16 < files.size ? from + 16 : files.size};
        in_fresh_ctx(cut_off, &d);
    }
    for (int k = 0; k < 50; k++)
        in_fresh_ctx(damaged, NULL);
    in_fresh_ctx(find_hash, &hash);
    who_uses_it(hash);
    by_librise(RISE_SIM, hash);
    by_librise(RISE_REF, hash);
    by_strategies(RISE_SIM);
    by_strategies(RISE_REF);
    printf("tuning: %ld checks, %ld wrong\n", unit_checks, unit_failures);
    return unit_failures != 0;
}
