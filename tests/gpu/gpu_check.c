/* Programs on a GPU against the reference interpreter, through librise: one line for each program, in several processes, so that a fault or a hang ends none of the others.
 *
 *     gpu_check [options] files FILE.rise...      every entry of each file
 *     gpu_check [options] random COUNT            random low-level programs (tests/random)
 *     gpu_check [options] high COUNT              random high-level ones
 *
 *       --jobs N         processes; 0: none but this one (for tools that watch it). Default 1
 *       --seed N         of the random programs and of inputs. Default 1
 *       --first K        random programs: begin with program K of the seed. Default 0
 *       --sizes N,N...   files: values for all sizes of an entry, the same, then mixed. Default: the size classes of the tests
 *       --set NAME=N     files: a tunable; may be repeated
 *       --cells N        leave out launches with larger arrays. Default 70000
 *       --steps N        leave out launches that take the reference interpreter more steps. Default 100000000
 *       --in-place 1     results take the memory of inputs, on the device, where they may
 *       --plant low      change the lowest bit of each result's first element: everything that is compared to the bit must be found wrong
 *       --plant high     the highest bit but one instead: everything must be found wrong
 *       --device sim     (default: gpu) the simulator instead, so that this program is tested itself
 *       --compile sm_90  only compile, by NVRTC, without a GPU
 *
 * A result must be the reference's bit for bit (any NaN is any NaN), or what driver/judge.h takes for right; the line says how far it is off.
 * Those of a random program must be equal, but where it calls functions that GPU and CPU round differently (exp, sin, ...): these are judged, and counted apart.
 * Random low-level programs are compiled as `exact`: no product and sum is fused. Every third launch has floats that round. */
/* MAP_ANONYMOUS is not in POSIX. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "codegen/index_guards.h"
#include "driver/run_gpu.h"
#include "rcheck.h"
#include "rgen.h"
#include "rise.h"

enum { MAX_SETTINGS = 8, MAX_CLASSES = 40, MAX_JOBS = 64, HANG_SECONDS = 120, TEXT = 600, RANDOM_CELLS = 20000, RANDOM_TRIALS = 16 };

typedef enum Plant { PLANT_NONE, PLANT_LOW, PLANT_HIGH } Plant;

typedef struct Options {
    int jobs, device;
    bool in_place;
    long first;
    Plant plant;
    const char *compile;
    unsigned flags; /* of entries */
    uint64_t seed;
    int64_t cells, steps;
    int n_classes;
    int64_t classes[MAX_CLASSES];
    int n_settings;
    const char *settings[MAX_SETTINGS];
} Options;

static Options options = {.jobs = 1, .device = RISE_GPU, .seed = 1, .cells = 70000, .steps = 100000000};

/* ---- what came of one program --------------------------------------------------------------------------------------------------------- */

typedef enum Came { C_GOOD, C_LOOSE, /* to the bit, though nothing says that it must be */ C_INEXACT, C_UNCHECKED, /* some launch could not be judged */ C_FAILED, C_REFUSED, C_NOT_RUN, C_KINDS } Came;

typedef struct Result { /* goes through a pipe in one piece: smaller than PIPE_BUF */
    int came, code; /* of the refusal */
    int launches, in_place, exact, cannot, too_long, too_large;
    double seconds;
    char name[160], text[TEXT];
} Result;

static void fail(Result *r, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void fail(Result *r, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->text, sizeof r->text, fmt, args);
    va_end(args);
    r->came = C_FAILED;
}

static void sizes_words(const CoreEntry *entry, const Launch *launch, char *text, size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (int i = 0; i < entry->n_sizes && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%s = %lld", i ? ", " : "", entry->sizes[i]->name, (long long)launch->sizes[i]);
}

/* ---- one program --------------------------------------------------------------------------------------------------------------------------- */

typedef struct Subject {
    Ctx *ctx;
    const CoreEntry *entry;
    rise_program *program;
    rise_entry *compiled;
    const ImpProgram *imp;
    bool loose; /* floats may differ by rounding, and integers made of them */
    Result *result;
} Subject;

static rise_context *gpu;
static bool lost;

/* Of the first element. A bool has one bit, and the highest but one of a float makes it far larger or far smaller. */
static void plant(HostBuf *buf)
{
    int last = scalar_bytes(buf->elem) - 1;
    if (options.plant == PLANT_LOW || buf->elem == SC_BOOL)
        buf->bytes[0] ^= 1;
    else
        buf->bytes[last] ^= 0x40;
}

enum { MAX_SHARED = 16 };

/* Memory of the device for result number k and for the input that it may take the place of; NULL: there is none, or --in-place is not asked for. */
static void *shared_memory(Subject *p, const Launch *launch, int k, void *const *taken, int *input, rise_error *error)
{
    void *memory = NULL;
    size_t bytes = (size_t)launch->results[k].count * (size_t)scalar_bytes(launch->results[k].elem);
    for (*input = 0; options.in_place && bytes && *input < launch->n_buffers && *input < MAX_SHARED; ++*input)
        if (!taken[*input] && one_memory(p->ctx, p->imp, k, *input) == ONE_MEMORY_ALLOWED) {
            if (rise_alloc(gpu, bytes, &memory, error) == RISE_OK)
                rise_copy(gpu, memory, RISE_DEVICE, launch->buffers[*input].bytes, RISE_HOST, bytes, error);
            break;
        }
    return memory;
}

static int call_gpu(Subject *p, Launch *launch, rise_error *error)
{
    void *shared[MAX_SHARED] = {0}, *over[MAX_SHARED] = {0}; /* by input, by result */
    for (int k = 0, input; k < launch->n_results && k < MAX_SHARED; k++)
        if ((over[k] = shared_memory(p, launch, k, shared, &input, error)))
            shared[input] = over[k];
    rise_call *call = NULL;
    int status = rise_call_new(p->compiled, &call, error);
    for (int i = 0; status == RISE_OK && i < launch->n_sizes; i++)
        status = rise_call_size(call, p->entry->sizes[i]->name, launch->sizes[i], error);
    for (int k = 0; status == RISE_OK && k < launch->n_results + launch->n_buffers; k++) {
        bool is_result = k < launch->n_results;
        const HostBuf *buf = is_result ? &launch->results[k] : &launch->buffers[k - launch->n_results];
        rise_argument argument = {.size = sizeof argument};
        int type = gpu_type_of(buf->elem), own = is_result ? k : k - launch->n_results;
        void *device = own >= MAX_SHARED ? NULL : is_result ? over[own] : shared[own];
        unsigned char *data = device ? device : buf->bytes;
        int where = device ? RISE_DEVICE : RISE_HOST;
        p->result->in_place += is_result && device;
        status = rise_entry_argument(p->compiled, k, &argument, error);
        if (status == RISE_OK)
            status = is_result ? rise_call_output(call, argument.name, type, data, (size_t)buf->count * (size_t)scalar_bytes(buf->elem), where, error)
                               : rise_call_input(call, argument.name, type, buf->rank, buf->shape, data, where, error);
    }
    if (status == RISE_OK)
        status = rise_call_launch(call, NULL, error);
    if (status == RISE_OK)
        status = rise_call_wait(call, error);
    rise_call_free(call);
    for (int k = 0; k < MAX_SHARED; k++)
        if (over[k]) {
            const HostBuf *buf = &launch->results[k];
            if (status == RISE_OK)
                status = rise_copy(gpu, buf->bytes, RISE_HOST, over[k], RISE_DEVICE, (size_t)buf->count * (size_t)scalar_bytes(buf->elem), error);
            rise_free(gpu, over[k]);
        }
    for (int k = 0; options.plant && status == RISE_OK && k < launch->n_results; k++)
        if (launch->results[k].count)
            plant(&launch->results[k]);
    lost |= status == RISE_ERROR_LOST;
    return status;
}

static void new_results(Subject *p, Launch *launch, int fill)
{
    launch->n_results = type_component_count(p->entry->result);
    launch->results = NEWN(p->ctx, HostBuf, launch->n_results + 1);
    for (int k = 0; k < launch->n_results; k++) {
        launch_buffer(p->ctx, p->entry, launch, type_component(p->ctx, p->entry->result, k), &launch->results[k], true);
        if (launch->results[k].count)
            memset(launch->results[k].bytes, fill, (size_t)launch->results[k].count * (size_t)scalar_bytes(launch->results[k].elem));
    }
}

static void put_number(char *text, size_t size, Scalar type, const unsigned char *bytes)
{
    ScalarValue v = scalar_load(type, bytes);
    if (scalar_is_float(type))
        snprintf(text, size, "%.9g", v.f);
    else
        snprintf(text, size, "%lld", (long long)v.i);
}

static void compare(Subject *p, const Launch *got, const Launch *want)
{
    Judge judge = {.ctx = p->ctx, .entry = p->entry, .launch = *got, .imp = p->imp};
    judge.launch.max_steps = options.steps;
    Judgement j = judge_results(&judge, got->n_results, got->results, want->results, 1);
    Result *r = p->result;
    r->exact += j.verdict == JUDGED_EQUAL;
    if (j.verdict == JUDGED_EQUAL)
        return;
    bool bits = p->entry->exact && !p->loose; /* the same operations in the same order, each rounded alike */
    if (j.verdict != JUDGED_DIFFERENT && !bits) {
        int came = j.verdict == JUDGED_NEAR ? C_INEXACT : C_UNCHECKED;
        StrBuf text;
        sb_init(&text, p->ctx);
        if (came == C_INEXACT)
            judge_put(&text, &j);
        if (r->came < came)
            snprintf(r->text, sizeof r->text, "%s", came == C_INEXACT ? text.text : judge_why(p->ctx, &j));
        r->came = r->came < came || r->came == C_NOT_RUN ? came : r->came;
        return;
    }
    for (int i = 0; j.verdict != JUDGED_DIFFERENT && i < got->n_results; i++) /* within the bound is not enough: find the place */
        for (int64_t at = 0, n = scalar_bytes(got->results[i].elem); at < got->results[i].count; at++)
            if (memcmp(got->results[i].bytes + at * n, want->results[i].bytes + at * n, (size_t)n)) {
                j.result = i;
                j.cell = at;
                i = got->n_results;
                break;
            }
    char sizes[200], a[40], b[40];
    const HostBuf *g = &got->results[j.result], *w = &want->results[j.result];
    sizes_words(p->entry, got, sizes, sizeof sizes);
    put_number(a, sizeof a, g->elem, g->bytes + j.cell * scalar_bytes(g->elem));
    put_number(b, sizeof b, w->elem, w->bytes + j.cell * scalar_bytes(w->elem));
    fail(r, "%s: result %d, element %lld is %s instead of %s", sizes, j.result + 1, (long long)j.cell, a, b);
}

typedef struct Trying {
    Subject *p;
    const int64_t *sizes;
    SampleInputs how;
} Trying;

static void try_sizes(Ctx *ctx, void *user)
{
    Trying *t = user;
    Subject *p = t->p;
    Result *r = p->result;
    Launch launch, want;
    rise_error error = {.status = RISE_OK};
    ctx->diags.list.n = ctx->diags.errors = 0;
    if (!sample_launch(ctx, p->entry, t->sizes, &t->how, &launch)) {
        r->cannot++;
        return;
    }
    bool taken = index_guards_take(ctx, p->imp, &launch);
    want = launch;
    want.n_results = 0;
    want.results = NULL;
    want.max_steps = options.steps;
    if (taken && !interp_run(ctx, p->entry, &want)) {
        *(want.gave_up ? &r->too_long : &r->cannot) += 1;
        return;
    }
    new_results(p, &launch, 0xa5);
    int status = call_gpu(p, &launch, &error);
    if (!taken) { /* by no kernel: all executors refuse these sizes */
        char sizes[200];
        sizes_words(p->entry, &launch, sizes, sizeof sizes);
        r->cannot++;
        if (status != RISE_ERROR_ARGUMENT)
            fail(r, "%s: no kernel takes these sizes, and they are not refused: %s", sizes, rise_status_name(status));
        return;
    }
    r->launches++;
    if (r->came == C_NOT_RUN)
        r->came = C_GOOD;
    if (status == RISE_ERROR_DEVICE && (strstr(error.text, "shared memory") || strstr(error.text, "such threads"))) {
        r->too_large++;
        r->launches--;
    } else if (status != RISE_OK) {
        char sizes[200];
        sizes_words(p->entry, &launch, sizes, sizeof sizes);
        fail(r, "%s: %s: %.300s", sizes, rise_status_name(status), error.text);
    } else {
        compare(p, &launch, &want);
    }
}

/* What comes before the launches. */
static int make_ready(rise_entry *entry, Result *r, rise_error *error)
{
    if (!options.compile)
        return rise_entry_load(entry, error);
    int status = rise_entry_compile(entry, options.compile, error);
    if (status == RISE_OK)
        r->came = C_GOOD;
    return status;
}

static void end_program(Subject *p)
{
    rise_program_free(p->program);
    p->program = NULL;
}

/* ---- files ----------------------------------------------------------------------------------------------------------------------------------- */

static const int64_t usual_classes[] = {0, 1, 31, 32, 33, 45, 1000, 1023, 1024, 1025, 2047, 4099, 65537};

typedef struct FileJob {
    const char *path;
    int which, n_entries;
    Result *result;
} FileJob;

/* All sizes the same; then, where there are several, each another one. */
static void try_classes(Subject *p)
{
    enum { STEP = 5 };
    int n = p->entry->n_sizes, n_classes = options.n_classes ? options.n_classes : (int)(sizeof usual_classes / sizeof usual_classes[0]);
    const int64_t *classes = options.n_classes ? options.classes : usual_classes;
    int64_t *sizes = NEWN(p->ctx, int64_t, n + 1);
    for (int mixed = 0; mixed < (n > 1 ? 2 : 1); mixed++)
        for (int k = 0; k < n_classes && !lost; k++) {
            for (int i = 0; i < n; i++)
                sizes[i] = classes[(k + mixed * i * STEP) % n_classes];
            Trying t = {p, sizes, {.seed = options.seed + (uint64_t)k, .max_cells = options.cells, .wide = k % 2 != 0, .real = k % 3 == 2, .num_sm = gpu_multiprocessors(gpu)}};
            if (!ctx_try(p->ctx, try_sizes, &t))
                fail(p->result, "out of memory");
            if (n == 0)
                return;
        }
}

static void check_file(Ctx *ctx, void *user)
{
    FileJob *job = user;
    Result *r = job->result;
    ElabSetting settings[MAX_SETTINGS];
    rise_setting ours[MAX_SETTINGS];
    for (int i = 0; i < options.n_settings; i++) {
        const char *value = strchr(options.settings[i], '=');
        settings[i] = (ElabSetting){intern(ctx, options.settings[i], (size_t)(value - options.settings[i])), strtoll(value + 1, NULL, 10), NO_SPAN, false};
        ours[i] = (rise_setting){settings[i].name, settings[i].value};
    }
    Program *program = program_load(ctx, job->path);
    const char *slash = strrchr(job->path, '/');
    job->n_entries = program_entry_count(program);
    if (job->n_entries <= job->which) {
        fail(r, "it has no entries");
        return;
    }
    const char *name = program_entry_name(program, job->which);
    snprintf(r->name, sizeof r->name, "%s %s", slash ? slash + 1 : job->path, name);
    CoreEntry *entry = elab_entry(ctx, program, job->which, options.n_settings, settings);
    if (!entry) {
        fail(r, "risec refuses it");
        return;
    }
    Subject p = {.ctx = ctx, .entry = entry, .result = r, .imp = lower_entry(ctx, entry, (LowerPass)(PASS_COUNT - 1))};
    rise_error error;
    rise_entry_options how = {.size = sizeof how, .settings = ours, .n_settings = (size_t)options.n_settings,
                             .flags = options.flags};
    int status = rise_program_from_file(gpu, job->path, &p.program, &error);
    if (status == RISE_OK)
        status = rise_entry_get(p.program, name, &how, &p.compiled, &error);
    if (status == RISE_OK)
        status = make_ready(p.compiled, r, &error);
    if (status == RISE_OK && !options.compile)
        try_classes(&p);
    else if (status != RISE_OK)
        fail(r, "%s: %.300s", rise_status_name(status), error.text);
    lost |= status == RISE_ERROR_LOST;
    end_program(&p);
}

/* ---- random programs --------------------------------------------------------------------------------------------------------------------------- */

static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        char before = at > text ? at[-1] : ' ', after = at[n];
        bool letter = (before >= 'a' && before <= 'z') || (before >= 'A' && before <= 'Z') || (after >= 'a' && after <= 'z') || (after >= 'A' && after <= 'Z') || (after >= '0' && after <= '9');
        if (!letter)
            return true;
    }
    return false;
}

/* Functions that IEEE 754 does not fix to the bit. */
static bool is_loose(const char *text)
{
    static const char *const words[] = {"exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "tanh", "sinh", "cosh", "pow", "rsqrt", "erf", "sigmoid"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (has_word(text, words[i]))
            return true;
    return false;
}

/* The text with `exact` as the first clause of its entry. */
static char *exact_text(const char *text)
{
    static const char *const clauses[] = {" launch [", "\n  where ", "\n  expect [", " =\n"};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof clauses / sizeof clauses[0]; i++) {
        const char *at = strstr(text, clauses[i]);
        if (at && (!first || at < first))
            first = at;
    }
    size_t before = first ? (size_t)(first - text) : 0;
    char *out = malloc(strlen(text) + 8);
    if (out)
        sprintf(out, "%.*s%s%s", (int)before, text, first ? " exact" : "", text + before);
    return out;
}

static void check_random(const RProgram *rp, bool high, uint64_t seed, Result *r)
{
    char *text = high ? strdup(program_text(rp)) : exact_text(program_text(rp));
    Compiled c = compile_quietly(text);
    rise_error error = {.status = RISE_OK};
    if (!c.imp) {
        r->code = c.ctx ? first_error(c.ctx) : -1;
        r->came = C_REFUSED;
        if (!may_refuse(r->code))
            fail(r, "refused with %s", r->code < 0 ? "no code" : diag_code_name((DiagCode)r->code));
        compiled_free(&c);
        free(text);
        return;
    }
    Subject p = {.ctx = c.ctx, .entry = c.entry, .imp = c.imp, .result = r, .loose = is_loose(text)};
    rise_entry_options how = {.size = sizeof how, .flags = options.flags};
    int status = rise_program_from_text(gpu, "random", text, (size_t)-1, &p.program, &error);
    if (status == RISE_OK)
        status = rise_entry_get(p.program, NULL, &how, &p.compiled, &error);
    if (status == RISE_OK)
        status = make_ready(p.compiled, r, &error);
    if (status != RISE_OK)
        fail(r, "%s: %.400s", rise_status_name(status), error.text);
    /* More of them where the first sizes are none that the program accepts. */
    for (int k = 0; status == RISE_OK && !options.compile && k < (r->launches ? TRIALS : RANDOM_TRIALS) && !lost && r->came != C_FAILED; k++) {
        RTrial trial = random_trial(rp, seed, k);
        int64_t sizes[NAMES_MAX] = {0};
        random_sizes(&c, rp, &trial, sizes);
        Trying t = {&p, sizes, {.seed = trial.seed, .max_cells = RANDOM_CELLS, .wide = trial.seed % 2 != 0, .real = trial.seed % 3 == 0, .num_sm = gpu_multiprocessors(gpu)}};
        if (!ctx_try(c.ctx, try_sizes, &t))
            r->cannot++;
    }
    if (p.loose && r->came == C_GOOD)
        r->came = C_LOOSE;
    end_program(&p);
    compiled_free(&c);
    free(text);
}

/* ---- all units of work -------------------------------------------------------------------------------------------------------------------------- */

static struct {
    bool random, high;
    long n;
    char **files;
    int *entries; /* of a file: which one of it */
    bool scalars[SC_COUNT];
} units;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t program_seed(long k) { return options.seed * 1000003u + (uint64_t)(options.first + k); }

static void name_unit(long k, Result *r)
{
    *r = (Result){.came = C_NOT_RUN};
    if (units.random)
        snprintf(r->name, sizeof r->name, "%s-%ld", units.high ? "high" : "random", options.first + k);
    else
        snprintf(r->name, sizeof r->name, "%s", units.files[k]);
}

static void run_unit(long k, Result *r)
{
    double start = now();
    name_unit(k, r);
    alarm(options.jobs ? HANG_SECONDS : 0); /* tools slow everything down */
    if (units.random) {
        Pool *pool = pool_new();
        uint64_t seed = program_seed(k);
        check_random((units.high ? generate_scheduled_program : generate_program)(pool, seed, units.scalars), units.high, seed, r);
        pool_free(pool);
    } else {
        FileJob job = {.path = units.files[k], .which = units.entries[k], .result = r};
        Ctx *ctx = ctx_new(NULL, NULL);
        if (!ctx || !ctx_try(ctx, check_file, &job))
            fail(r, "out of memory");
        if (ctx)
            ctx_free(ctx);
    }
    alarm(0);
    r->seconds = now() - start;
}

static bool open_gpu(char *why, size_t size)
{
    rise_context_options how = {.size = sizeof how, .device = options.device, .no_disk_cache = units.random}; /* none of them comes again */
    rise_error error;
    if (rise_context_new(&how, &gpu, &error) == RISE_OK)
        return true;
    snprintf(why, size, "%.500s", error.text);
    return false;
}

/* ---- processes ------------------------------------------------------------------------------------------------------------------------------------ */

typedef struct Totals {
    long came[C_KINDS], launches, in_place, exact, cannot, too_long, too_large, codes[DIAG_CODE_COUNT];
} Totals;

static void tell(const Result *r, Totals *t)
{
    t->came[r->came]++;
    t->launches += r->launches;
    t->exact += r->exact;
    t->cannot += r->cannot;
    t->too_long += r->too_long;
    if (r->came == C_REFUSED)
        t->codes[r->code]++;
    t->too_large += r->too_large;
    t->in_place += r->in_place;
    if (r->came == C_FAILED)
        printf("not ok %s: %s\n", r->name, r->text);
    else if (!units.random)
        printf("%s %s: %d launches, %d to the bit%s%s\n", r->launches || options.compile ? "ok" : "not ok", r->name, r->launches, r->exact, r->text[0] ? "; " : "", r->text);
    fflush(stdout);
}

/* Units first, first + jobs, ... until one of them ends the process; *next: the one that is at work. */
static void run_units(int out, volatile long *next, int jobs)
{
    Result r;
    char why[TEXT] = "";
    bool open = open_gpu(why, sizeof why);
    while (*next < units.n) {
        if (open) {
            run_unit(*next, &r);
        } else {
            name_unit(*next, &r);
            fail(&r, "%s", why);
        }
        if (write(out, &r, sizeof r) != sizeof r)
            _exit(1);
        *next += jobs;
        if (lost) /* CUDA does nothing more in this process */
            _exit(0);
    }
    rise_context_free(gpu);
    _exit(0);
}

/* A worker: starts one process after the other until its units are done. */
static void work(int out, volatile long *next, int jobs)
{
    while (*next < units.n) {
        long at = *next;
        int status = 0;
        pid_t child = fork();
        if (child == 0)
            run_units(out, next, jobs);
        waitpid(child, &status, 0);
        if (child < 0 || (WIFSIGNALED(status) && *next < units.n)) {
            Result r;
            name_unit(*next, &r);
            fail(&r, WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "it hangs" : "the process ended by signal %d", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
            if (write(out, &r, sizeof r) != sizeof r)
                _exit(1);
            *next += jobs;
        } else if (*next == at) {
            _exit(1); /* no progress */
        }
    }
    _exit(0);
}

static long run_processes(Totals *t)
{
    int ends[2];
    long seen = 0;
    volatile long *next = mmap(NULL, MAX_JOBS * sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (next == MAP_FAILED || pipe(ends) != 0)
        return 0;
    fflush(stdout);
    for (int j = 0; j < options.jobs; j++) {
        next[j] = j;
        if (fork() == 0) {
            close(ends[0]);
            work(ends[1], &next[j], options.jobs);
        }
    }
    close(ends[1]);
    Result r;
    FILE *in = fdopen(ends[0], "rb");
    while (in && fread(&r, sizeof r, 1, in) == 1) {
        seen++;
        tell(&r, t);
    }
    while (wait(NULL) > 0)
        ;
    return seen;
}

static long run_here(Totals *t)
{
    Result r;
    char why[TEXT];
    long k = 0;
    if (!open_gpu(why, sizeof why)) {
        printf("not ok context: %s\n", why);
        return 0;
    }
    for (; k < units.n && !lost; k++) {
        run_unit(k, &r);
        tell(&r, t);
    }
    rise_context_free(gpu);
    return k;
}

/* ---- the command line ------------------------------------------------------------------------------------------------------------------------------- */

static void count_entries(Ctx *ctx, void *user)
{
    FileJob *job = user;
    job->n_entries = program_entry_count(program_load(ctx, job->path));
}

static void list_unit(char *file, int entry)
{
    static int room;
    if (units.n == room) {
        room = 2 * room + 64;
        units.files = realloc(units.files, (size_t)room * sizeof *units.files);
        units.entries = realloc(units.entries, (size_t)room * sizeof *units.entries);
        if (!units.files || !units.entries)
            exit(1);
    }
    units.files[units.n] = file;
    units.entries[units.n++] = entry;
}

/* All entries of the files; of a file that cannot be loaded one, which will then say why. */
static void list_files(int n, char **files)
{
    for (int i = 0; i < n; i++) {
        FileJob job = {.path = files[i]};
        Ctx *ctx = ctx_new(NULL, NULL);
        if (ctx)
            ctx_try(ctx, count_entries, &job);
        for (int k = 0; k < (job.n_entries ? job.n_entries : 1); k++)
            list_unit(files[i], k);
        if (ctx)
            ctx_free(ctx);
    }
}

static bool read_option(const char *name, const char *value)
{
    char *end;
    long long number = strtoll(value, &end, 10);
    if (strcmp(name, "--jobs") == 0 && number >= 0 && number <= MAX_JOBS)
        options.jobs = (int)number;
    else if (strcmp(name, "--plant") == 0 && (strcmp(value, "low") == 0 || strcmp(value, "high") == 0))
        options.plant = value[0] == 'l' ? PLANT_LOW : PLANT_HIGH;
    else if (strcmp(name, "--seed") == 0)
        options.seed = (uint64_t)number;
    else if (strcmp(name, "--first") == 0 && number >= 0)
        options.first = (long)number;
    else if (strcmp(name, "--in-place") == 0)
        options.in_place = number != 0;
    else if (strcmp(name, "--cells") == 0)
        options.cells = number;
    else if (strcmp(name, "--device") == 0 && (strcmp(value, "sim") == 0 || strcmp(value, "gpu") == 0))
        options.device = value[0] == 's' ? RISE_SIM : RISE_GPU;
    else if (strcmp(name, "--steps") == 0)
        options.steps = number;
    else if (strcmp(name, "--compile") == 0) {
        options.compile = value;
        options.device = RISE_SIM;
    } else if (strcmp(name, "--set") == 0 && options.n_settings < MAX_SETTINGS && strchr(value, '='))
        options.settings[options.n_settings++] = value;
    else if (strcmp(name, "--sizes") == 0)
        for (const char *at = value; *at && options.n_classes < MAX_CLASSES; at = *end ? end + 1 : end)
            options.classes[options.n_classes++] = strtoll(at, &end, 10);
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    int at = 1;
    while (at + 1 < argc && strncmp(argv[at], "--", 2) == 0 && read_option(argv[at], argv[at + 1]))
        at += 2;
    units.high = at < argc && strcmp(argv[at], "high") == 0;
    units.random = units.high || (at < argc && strcmp(argv[at], "random") == 0);
    if (at + 1 >= argc || (!units.random && strcmp(argv[at], "files") != 0)) {
        fprintf(stderr, "usage: gpu_check [--jobs N] [--seed N] [--first K] [--sizes N,N...] [--set NAME=N] [--cells N] [--steps N] [--in-place 1] [--plant low|high] [--device gpu|sim] [--compile ARCH] files FILE.rise... | random COUNT | high COUNT\n");
        return 2;
    }
    if (units.random) {
        units.n = strtol(argv[at + 1], NULL, 10);
        lowered_scalars(units.scalars);
    } else {
        list_files(argc - at - 1, argv + at + 1);
    }
    Totals totals = {.launches = 0};
    double start = now();
    long seen = options.jobs ? run_processes(&totals) : run_here(&totals);
    printf("# seed %llu, %ld programs: %ld to the bit, %ld with rounding, %ld wrong, %ld without a check, %ld refused, %ld not run, %ld with exp or the like and yet to the bit; %ld launches, %ld of them to the bit; "
           "%ld with sizes that the program does not take, %ld too long for the reference, %ld too large for the GPU; %.1f s\n",
           (unsigned long long)options.seed, seen, totals.came[C_GOOD], totals.came[C_INEXACT], totals.came[C_FAILED], totals.came[C_UNCHECKED], totals.came[C_REFUSED], totals.came[C_NOT_RUN], totals.came[C_LOOSE], totals.launches, totals.exact,
           totals.cannot, totals.too_long, totals.too_large, now() - start);
    if (options.in_place)
        printf("# %ld results in the memory of an input\n", totals.in_place);
    if (totals.came[C_REFUSED]) {
        printf("# refused:");
        for (int code = 0; code < DIAG_CODE_COUNT; code++)
            if (totals.codes[code])
                printf(" %s %ld", diag_code_name((DiagCode)code), totals.codes[code]);
        printf("\n");
    }
    bool good = seen == units.n && totals.came[C_FAILED] == 0 && totals.came[C_GOOD] > 0 && (!options.in_place || totals.in_place > 0);
    printf("%s\n", good ? "passed" : "FAILED");
    return !good;
}
