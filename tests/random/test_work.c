/* What the scheduler's kernels do, against the work of the program as it is written (W).
 *
 *     test_work [--exceptions FILE] [--least W] [--random N] [--seed N] [--only K] [--say 1] [FILE.rise...]
 *
 * The reference interpreter counts functions of scalars and elements read of named arrays, each `let` once: W is that pair. The simulator counts the
 * same of all lanes. Each of the two may be at most 2 W + 1000 for each kernel + 1000 for each block, where W is at least the number of elements of the
 * results: what a program reads to copy it has no name. Sizes grow until both are at least 10^6 (--least), or nothing larger can be run here. Of files: each entry that names no strategy and is lowered by the scheduler. --random: N random high-level programs, too.
 * Lines FILE:ENTRY FACTOR REASON of the exceptions name what may do more; one that needs none is an error, where its file is given. */
#include <stdio.h>
#include <stdlib.h>

#include "ir/terms.h"
#include "raim.h"
#include "rcheck.h"
#include "rgen.h"

enum { PER_KERNEL = 1000, PER_BLOCK = 1000, SMALLEST = 32, MAX_SIZES = 16, GROWTHS = 24, MAX_EXCEPTIONS = 200, GRADED_PERCENT = 80 };
static const int64_t max_cells = 1 << 23, ref_steps = 1 << 25;
static const uint64_t sim_steps = 1 << 25;
static const double bound = 2;

typedef struct Exception {
    char name[120];
    double factor;
    bool used, given;
} Exception;

typedef enum Came { GRADED, REFUSED_SIZES, TOO_LONG, NOT_SCHEDULED, CAME } Came;
static const char *const came_names[CAME] = {"graded", "accepts none of the sizes", "takes too long", "not the scheduler's"};

typedef struct Job {
    Compiled *c;
    int64_t least;
    int64_t scale; /* of the sizes that were run last */
    uint64_t seed;
    /* one size */
    int64_t sizes[MAX_SIZES];
    bool ran;
    EntryWork work;
    Counts counts;
    double factors[2]; /* functions, loads */
} Job;

static Exception exceptions[MAX_EXCEPTIONS];
static int n_exceptions;
static bool say;
static long graded, small, wrong, came[CAME];
static double worst[2];

static void read_exceptions(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[400];
    if (!file) {
        printf("%s: cannot be read\n", path);
        exit(1);
    }
    while (fgets(line, sizeof line, file) && n_exceptions < MAX_EXCEPTIONS) {
        Exception *e = &exceptions[n_exceptions];
        n_exceptions += line[0] != '#' && sscanf(line, "%119s %lf", e->name, &e->factor) == 2;
    }
    fclose(file);
}

/* ---- sizes --------------------------------------------------------------------------------------- */

/* About so many for each size of the entry; false: it accepts none near it. */
static bool sizes_near(const CoreEntry *entry, int64_t scale, int64_t *sizes)
{
    static const int64_t multiples[] = {1, 3, 100, 96, 19200};
    for (int m = 0; m < (int)(sizeof multiples / sizeof *multiples); m++) {
        int64_t size = (scale + multiples[m] - 1) / multiples[m] * multiples[m];
        for (int i = 0; i < entry->n_sizes; i++)
            sizes[i] = size;
        if (aim_accepts(entry, sizes, 0))
            return true;
    }
    return false;
}

/* ---- one launch ---------------------------------------------------------------------------------- */

static bool sample(Ctx *ctx, Job *j, Launch *launch)
{
    return sample_launch(ctx, j->c->entry, j->sizes, &(SampleInputs){.seed = j->seed, .max_cells = max_cells}, launch) && index_guards_take(ctx, j->c->imp, launch);
}

static void run_reference(Ctx *ctx, void *user)
{
    Job *j = user;
    Launch launch;
    if (!sample(ctx, j, &launch))
        return;
    launch.max_steps = ref_steps;
    j->ran = sample_run(ctx, j->c->entry, &launch);
    j->work = launch.work;
    int64_t cells = 0;
    for (int k = 0; k < launch.n_results && j->ran; k++)
        cells += launch.results[k].count;
    j->work.functions = j->work.functions > cells ? j->work.functions : cells;
    j->work.loads = j->work.loads > cells ? j->work.loads : cells;
}

static void run_simulator(Ctx *ctx, void *user)
{
    Job *j = user;
    Launch launch;
    SimReport report = {.warp_instructions = 0};
    SimOptions options = {.profile = true, .max_steps = sim_steps};
    if (!sample(ctx, j, &launch) || !sim_run(ctx, j->c->imp, &launch, &options, &report))
        return;
    j->ran = true;
    j->counts = report.profile->total;
}

/* Its memory goes again, unless it is asked for what is wrong. */
static bool run(Job *j, void (*how)(Ctx *ctx, void *user))
{
    j->ran = false;
    j->c->ctx->diags.list.n = j->c->ctx->diags.errors = 0;
    return ctx_try(j->c->ctx, how, j) && j->ran;
}

static int64_t work_of(EntryWork w) { return w.loads < w.functions ? w.loads : w.functions; }

/* Sizes for which the work is enough, or the largest that can be run. */
static bool grow(Job *j)
{
    const CoreEntry *entry = j->c->entry;
    Job kept = *j;
    bool some = false;
    for (int64_t k = 0, scale = SMALLEST; k < GROWTHS && entry->n_sizes <= MAX_SIZES; k++) {
        if (!sizes_near(entry, scale, j->sizes) || !run(j, run_reference)) {
            *j = kept;
            if (some)
                return true;
        } else {
            some = true;
            j->scale = scale;
            kept = *j;
            if (work_of(j->work) >= j->least || !entry->n_sizes)
                return true;
        }
        scale *= some && work_of(j->work) * 16 < j->least && entry->n_sizes == 1 ? 4 : 2;
    }
    return some;
}

/* Does it leave an order open? */
static bool is_high(const Core *term)
{
    bool high = term->kind == CORE_PRIM && prim_rows[term->prim.id].level == LEVEL_HIGH;
    for (int i = 0; i < term_children(term) && !high; i++)
        high = is_high(term_child(term, i));
    return high;
}

static Came grade(Job *j)
{
    if (!j->c->imp || j->c->entry->item->lowered || !is_high(j->c->entry->body))
        return NOT_SCHEDULED;
    if (!grow(j))
        return REFUSED_SIZES;
    if (!run(j, run_simulator))
        return TOO_LONG;
    const uint64_t *at = j->counts.at, did[2] = {at[COUNT_laneFunctions], at[COUNT_laneLoads]};
    const int64_t wanted[2] = {j->work.functions, j->work.loads};
    double spare = (double)(PER_KERNEL * at[COUNT_kernels] + PER_BLOCK * at[COUNT_blocks]);
    for (int k = 0; k < 2; k++) {
        double more = (double)did[k] - spare;
        j->factors[k] = more <= 0 ? 0 : more / (double)(wanted[k] > 0 ? wanted[k] : 1);
    }
    return GRADED;
}

/* ---- the verdict --------------------------------------------------------------------------------- */

static Exception *exception_of(const char *name)
{
    for (int k = 0; k < n_exceptions; k++)
        if (strcmp(exceptions[k].name, name) == 0)
            return &exceptions[k];
    return NULL;
}

/* False: it does too much. */
static bool judge(Job *j, const char *name)
{
    Came how = grade(j);
    came[how]++;
    if (how != GRADED) {
        if (say || how == TOO_LONG || how == REFUSED_SIZES)
            printf("%s: %s\n", name, came_names[how]);
        return true;
    }
    Exception *e = exception_of(name);
    double f = j->factors[0] > j->factors[1] ? j->factors[0] : j->factors[1], may = e ? e->factor : bound;
    if (e)
        e->used = f > bound;
    graded++;
    small += work_of(j->work) < j->least;
    for (int k = 0; k < 2 && !e; k++)
        worst[k] = j->factors[k] > worst[k] ? j->factors[k] : worst[k];
    if (f > may || say)
        printf("%s%s: functions %.2f W, loads %.2f W, %llu kernels, %llu blocks, W = (%lld, %lld) at %lld\n", f > may ? "FAILED " : "", name, j->factors[0], j->factors[1],
               (unsigned long long)j->counts.at[COUNT_kernels], (unsigned long long)j->counts.at[COUNT_blocks], (long long)j->work.functions, (long long)j->work.loads,
               (long long)j->scale);
    wrong += f > may;
    fflush(stdout);
    return f <= may;
}

static void judge_file(const char *path, int64_t least)
{
    for (int k = 0, n = 1; k < n; k++) {
        Compiled c = compile_entry(path, k, &n);
        char name[400];
        if (c.entry) {
            snprintf(name, sizeof name, "%s:%s", path, c.entry->name);
            Exception *e = exception_of(name);
            if (e)
                e->given = true;
            judge(&(Job){.c = &c, .least = least, .seed = 4}, name);
        }
        compiled_free(&c);
    }
}

static void judge_random(uint64_t seed, long k, const bool *scalars, int64_t least)
{
    Pool *pool = pool_new();
    const char *text = program_text(generate_scheduled_program(pool, seed * 1000003u + (uint64_t)k, scalars));
    Compiled c = compile_text("random", text, "");
    char name[60];
    snprintf(name, sizeof name, "random:%llu:%ld", (unsigned long long)seed, k);
    if (c.entry && !judge(&(Job){.c = &c, .least = least, .seed = 4}, name))
        printf("%s", text);
    compiled_free(&c);
    pool_free(pool);
}

int main(int argc, char **argv)
{
    long random = 0, only = -1;
    int64_t least = 1000000;
    uint64_t seed = 1;
    int files = 1;
    for (; files + 1 < argc && argv[files][0] == '-'; files += 2) {
        long value = strtol(argv[files + 1], NULL, 10);
        if (strcmp(argv[files], "--exceptions") == 0)
            read_exceptions(argv[files + 1]);
        else if (strcmp(argv[files], "--least") == 0)
            least = value;
        else if (strcmp(argv[files], "--random") == 0)
            random = value;
        else if (strcmp(argv[files], "--seed") == 0)
            seed = (uint64_t)value;
        else if (strcmp(argv[files], "--only") == 0)
            only = value;
        else if (strcmp(argv[files], "--say") == 0)
            say = value != 0;
    }
    bool scalars[SC_COUNT];
    lowered_scalars(scalars);
    printf("work: seed %llu\n", (unsigned long long)seed);
    for (int i = files; i < argc; i++)
        judge_file(argv[i], least);
    for (long k = only >= 0 ? only : 0; k < (only >= 0 ? only + 1 : random); k++)
        judge_random(seed, k, scalars, least);
    for (int k = 0; k < n_exceptions; k++)
        if (exceptions[k].given && !exceptions[k].used) {
            printf("FAILED %s: needs no exception any more\n", exceptions[k].name);
            wrong++;
        }
    printf("worst without an exception: functions %.2f W, loads %.2f W; %ld of less than %lld\n", worst[0], worst[1], small, (long long)least);
    for (int k = 0; k < CAME; k++)
        printf("%ld %s%s", came[k], came_names[k], k + 1 < CAME ? ", " : "\n");
    printf("work: %ld checks, %ld wrong\n", graded, wrong);
    return wrong != 0;
}
