/* What the scheduler's kernels do, against the work of the program as it is written (W).
 *
 *     test_work [--exceptions FILE] [--least W] [--random N] [--first K] [--seed N] [--only K]
 *               [--most STEPS] [--say 1] [FILE.rise...]
 *
 * The reference interpreter counts functions of scalars and elements read of named arrays, each
 * `let` once: W is that pair. The simulator counts the same of all lanes. Each of the two may be at
 * most 2 W + 1000 for each kernel + 1000 for each block, where W is at least the number of elements
 * of the results: what a program reads to copy it has no name.
 *
 * Sizes grow until both numbers of W are at least 10^6 (--least), while W grows and as far as can be
 * run here. A program is not graded where neither gets there, and where its kernels take more than
 * --most steps (warp instructions) or too much memory; both are counted, the latter named.
 *
 * Of files: each entry that names no strategy and is lowered by the scheduler. --random: N random
 * high-level programs, too, from number K on (--first). Lines FILE:ENTRY FACTOR REASON of the
 * exceptions name what may do more; one that needs none is an error, where its file is given. */
#include <stdio.h>
#include <stdlib.h>

#include "ir/terms.h"
#include "raim.h"
#include "rcheck.h"
#include "rgen.h"

enum { PER_KERNEL = 1000, PER_BLOCK = 1000, SMALLEST = 32, MAX_SIZES = 16, GROWTHS = 24 };
enum { MAX_EXCEPTIONS = 200 };
/* So many times larger sizes without more work, of at least so many: it does not grow with them. */
enum { STILL = 4, STILL_FROM = 1 << 13 };
static const int64_t max_cells = 1 << 23, ref_steps = 1 << 25;
static uint64_t sim_steps = 1 << 25;
static const double bound = 2;

typedef struct Exception {
    char name[120];
    double factor;
    bool used, given;
} Exception;

typedef enum Came { GRADED, SMALL, REFUSED_SIZES, TOO_LONG, ENDED, NOT_SCHEDULED, CAME } Came;
static const char *const came_names[CAME] = {
    [GRADED] = "graded", [SMALL] = "of less work at any size",
    [REFUSED_SIZES] = "accept none of the sizes",
    [TOO_LONG] = "take too long", [ENDED] = "end with an error",
    [NOT_SCHEDULED] = "not the scheduler's",
};

typedef struct Job {
    Compiled *c;
    int64_t least;
    int64_t scale; /* of the sizes that were run last */
    uint64_t seed;
    /* one size */
    int64_t sizes[MAX_SIZES];
    bool ran, gave_up;
    EntryWork work;
    const SimProfile *profile;
    Counts counts;
    double factors[2]; /* functions, loads */
} Job;

static Exception exceptions[MAX_EXCEPTIONS];
static int n_exceptions;
static bool say;
static long wrong, over, came[CAME];
static double worst[2], most; /* without an exception; of all */
static char most_name[400];

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
    static const int64_t multiples[] = {1, 3, 96, 100, 19200};
    for (int m = 0; m < (int)(sizeof multiples / sizeof *multiples) && multiples[m] <= scale; m++) {
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
    j->gave_up = launch.gave_up;
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
    if (!sample(ctx, j, &launch))
        return;
    j->ran = sim_run(ctx, j->c->imp, &launch, &options, &report);
    sim_diagnose(ctx, &report);
    j->gave_up = !j->ran && (first_error(ctx) == E0643 || first_error(ctx) == E0644);
    j->profile = report.profile;
    if (report.profile)
        j->counts = report.profile->total;
}

/* Its memory goes again, unless it is asked for what is wrong. */
static bool run(Job *j, void (*how)(Ctx *ctx, void *user))
{
    j->ran = j->gave_up = false;
    j->c->ctx->diags.list.n = j->c->ctx->diags.errors = 0;
    return ctx_try(j->c->ctx, how, j) && j->ran;
}

static int64_t least_of(EntryWork w) { return w.loads < w.functions ? w.loads : w.functions; }
static int64_t most_of(EntryWork w) { return w.loads > w.functions ? w.loads : w.functions; }

/* Sizes for which both numbers are enough, or the largest that can be run, if they make more work. */
static Came grow(Job *j)
{
    const CoreEntry *entry = j->c->entry;
    Job kept = *j;
    bool some = false, gave_up = false;
    for (int64_t k = 0, scale = SMALLEST; k < GROWTHS && entry->n_sizes <= MAX_SIZES; k++) {
        if (!sizes_near(entry, scale, j->sizes) || !run(j, run_reference)) {
            gave_up |= j->gave_up;
            if (some)
                break;
            scale *= 2;
            continue;
        }
        j->scale = scale;
        bool more = least_of(j->work) > least_of(kept.work) || most_of(j->work) >= most_of(kept.work) * 3 / 2;
        if (!some || more)
            kept = *j;
        some = true;
        bool still = scale >= STILL_FROM && scale >> STILL >= kept.scale;
        if (least_of(kept.work) >= j->least || !entry->n_sizes || still)
            break;
        scale *= least_of(kept.work) * 16 < j->least && entry->n_sizes == 1 ? 4 : 2;
    }
    *j = kept;
    if (!some)
        return gave_up ? TOO_LONG : REFUSED_SIZES;
    return most_of(j->work) >= j->least ? GRADED : SMALL;
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
    Came how = grow(j);
    if (how != GRADED)
        return how;
    if (!run(j, run_simulator))
        return j->gave_up ? TOO_LONG : ENDED;
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

static void print_errors(Ctx *ctx)
{
    StrBuf text;
    sb_init(&text, ctx);
    diag_render(ctx, &text, false);
    printf("%s", text.text ? text.text : "");
}

/* The kernels that do more than a quarter of W. */
static void print_kernels(const Job *j)
{
    for (int k = 0; k < j->profile->kernels.n; k++) {
        const SimKernel *kernel = &j->profile->kernels.at[k];
        const uint64_t *at = kernel->counts.at;
        double functions = (double)at[COUNT_laneFunctions] / (double)(j->work.functions + 1);
        double loads = (double)at[COUNT_laneLoads] / (double)(j->work.loads + 1);
        if (functions > 0.25 || loads > 0.25)
            printf("  %s: functions %.2f W, loads %.2f W, %llu blocks\n", kernel->name, functions,
                   loads, (unsigned long long)at[COUNT_blocks]);
    }
}

/* False: it does too much. */
static bool judge(Job *j, const char *name)
{
    Came how = grade(j);
    came[how]++;
    if (how != GRADED) {
        if (say || how == TOO_LONG || how == ENDED || how == REFUSED_SIZES)
            printf("%s%s: %s, W = (%lld, %lld) at %lld\n", how == ENDED ? "FAILED " : "", name,
                   came_names[how], (long long)j->work.functions, (long long)j->work.loads,
                   (long long)j->scale);
        if (how == ENDED)
            print_errors(j->c->ctx);
        wrong += how == ENDED;
        fflush(stdout);
        return how != ENDED;
    }
    Exception *e = exception_of(name);
    double f = j->factors[0] > j->factors[1] ? j->factors[0] : j->factors[1], may = e ? e->factor : bound;
    if (e)
        e->used = f > bound;
    over += f > bound;
    if (f > most) {
        most = f;
        snprintf(most_name, sizeof most_name, "%s", name);
    }
    for (int k = 0; k < 2 && !e; k++)
        worst[k] = j->factors[k] > worst[k] ? j->factors[k] : worst[k];
    if (f > may || say)
        printf("%s%s: functions %.2f W, loads %.2f W, %llu kernels, %llu blocks, "
               "W = (%lld, %lld) at %lld\n",
               f > may ? "FAILED " : "", name, j->factors[0], j->factors[1],
               (unsigned long long)j->counts.at[COUNT_kernels],
               (unsigned long long)j->counts.at[COUNT_blocks], (long long)j->work.functions,
               (long long)j->work.loads, (long long)j->scale);
    if (f > may)
        print_kernels(j);
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
    Exception *e = exception_of(name);
    if (e)
        e->given = true;
    if (c.entry && !judge(&(Job){.c = &c, .least = least, .seed = 4}, name))
        printf("%s", text);
    compiled_free(&c);
    pool_free(pool);
}

int main(int argc, char **argv)
{
    long random = 0, first = 0;
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
        else if (strcmp(argv[files], "--first") == 0)
            first = value;
        else if (strcmp(argv[files], "--only") == 0) {
            first = value;
            random = 1;
        } else if (strcmp(argv[files], "--most") == 0)
            sim_steps = (uint64_t)value;
        else if (strcmp(argv[files], "--say") == 0)
            say = value != 0;
    }
    bool scalars[SC_COUNT];
    lowered_scalars(scalars);
    printf("work: seed %llu\n", (unsigned long long)seed);
    for (int i = files; i < argc; i++)
        judge_file(argv[i], least);
    for (long k = first; k < first + random; k++)
        judge_random(seed, k, scalars, least);
    for (int k = 0; k < n_exceptions; k++)
        if (exceptions[k].given && !exceptions[k].used) {
            printf("FAILED %s: needs no exception any more\n", exceptions[k].name);
            wrong++;
        }
    printf("worst without an exception: functions %.2f W, loads %.2f W\n", worst[0], worst[1]);
    printf("%ld do more than %.0f W", over, bound);
    printf(over ? ", %s most: %.2f W\n" : "\n", most_name, most);
    for (int k = 0; k < CAME; k++)
        printf("%ld %s%s", came[k], came_names[k], k + 1 < CAME ? ", " : "\n");
    printf("work: %ld checks, %ld wrong\n", came[GRADED], wrong);
    return wrong != 0;
}
