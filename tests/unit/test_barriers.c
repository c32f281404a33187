/* Every barrier is needed, and none is missing: for each program given (or the examples built in the repository), no run reports a finding, and with
 * any one barrier taken out some run reports a race. */
#include <stdio.h>

#include "executors.h"

static const int64_t sizes[] = {2, 8, 32, 256, 192, 1000, 1024, 4096, 8192, 20000};
static const int64_t grids[] = {0, 1, 2, 3};
enum { N_SIZES = sizeof sizes / sizeof *sizes, N_GRIDS = sizeof grids / sizeof *grids };

/* Where those show nothing, as the barrier is in a class of larger sizes, or of long rows or columns: the first size of an entry, and the others. */
static const int64_t lengths[] = {2052, 70003, 300007, 300008};
static const int64_t shapes[][2] = {{3, 2500}, {3, 2498}, {3, 3999}, {3, 4000}, {2, 5000}, {2, 4999}, {9001, 8}, {9001, 9}};
enum { SMALL_CELLS = 70000 };
/* Warp instructions after which a run is given up: the work of a program may grow with the square of its size. */
enum { MOST_STEPS = 1 << 22 };
enum { N_LENGTHS = sizeof lengths / sizeof *lengths, N_SHAPES = sizeof shapes / sizeof *shapes, SHAPE_CELLS = 400000 };

typedef struct Totals {
    long checks, wrong;
} Totals;

/* Is the kernel one of those that an entry of these sizes launches? */
static bool launches(const Compiled *c, const ImpKernel *kernel, int64_t *values)
{
    Launch launch = {.n_sizes = c->entry->n_sizes, .sizes = values};
    return imp_is_launched(c->imp, kernel, &launch);
}

/* Does a run of these sizes, in which the kernel takes part, end with a finding? */
static bool notices(Compiled *c, const ImpKernel *kernel, int64_t first, int64_t others, int64_t grid, int64_t cells, bool *reached)
{
    int64_t *values = NEWN(c->ctx, int64_t, c->entry->n_sizes + 1);
    for (int k = 0; k < c->entry->n_sizes; k++)
        values[k] = k ? others : first;
    if (!launches(c, kernel, values))
        return false;
    Outcome o = run_trial_at(c, (Trial){0, grid, 11, false, true, cells}, values, MOST_STEPS, NULL);
    *reached |= o != CANNOT;
    return o == FINDING;
}

/* A run that ends with a finding, now that a barrier of the kernel is gone. */
static bool is_noticed(Compiled *c, const ImpKernel *kernel, int n_sizes, bool *reached)
{
    bool found = false, several = c->entry->n_sizes > 1;
    for (int s = 0; s < n_sizes && !found; s++)
        for (int g = 0; g < N_GRIDS && !found; g++)
            found = notices(c, kernel, sizes[s], sizes[s], grids[g], SMALL_CELLS, reached);
    for (int s = 0; s < (several ? N_SHAPES : N_LENGTHS) && !found; s++)
        for (int64_t grid = 0; grid < 2 && !found; grid++)
            found = notices(c, kernel, several ? shapes[s][0] : lengths[s], shapes[s][1], grid, SHAPE_CELLS, reached);
    return found;
}

static int test_kernel(const char *path, Compiled *c, ImpKernel *kernel, int n_sizes, Totals *t)
{
    int barriers = imp_sync_count(kernel);
    for (int b = 0; b < barriers; b++) {
        bool reached = false;
        ImpStmt *sync = imp_drop_sync(kernel, b);
        bool found = is_noticed(c, kernel, n_sizes, &reached);
        imp_restore_sync(sync);
        if (!reached) {
            printf("%s: %d barriers in %s, which no size launches that can be run here\n", path, barriers, kernel->name);
            return 0;
        }
        t->checks++;
        if (!found) {
            t->wrong++;
            printf("%s: barrier %d of %s can be taken out and nothing notices\n", path, b, kernel->name);
        }
    }
    return barriers;
}

/* How many of the sizes are worth running; counts runs that are wrong. */
static int test_runs(const char *path, Compiled *c, Totals *t)
{
    int ran = 0, n_sizes = 0;
    for (bool enough = false; n_sizes < N_SIZES && !enough; n_sizes++)
        for (int g = 0; g < N_GRIDS; g++, t->checks++) {
            SimReport report = {.warp_instructions = 0};
            Outcome o = run_trial(c, (Trial){sizes[n_sizes], grids[g], 7 + (uint64_t)g, g == 0, true, SMALL_CELLS}, &report);
            t->wrong += o == DIFFER || o == FINDING; /* sizes that the facts refuse or that are too large are passed over */
            ran += o == AGREE;
            enough |= report.warp_instructions > 4 * TRIAL_ENOUGH;
        }
    if (!ran) {
        t->wrong++;
        printf("%s: no size could be run\n", path);
    }
    return n_sizes;
}

static void test_entry(const char *path, Compiled *c, Totals *t)
{
    t->checks++;
    if (!c->imp) {
        t->wrong++;
        return;
    }
    int n_sizes = test_runs(path, c, t), barriers = 0;
    long wrong = t->wrong;
    for (int k = 0; k < c->imp->kernels.n; k++)
        barriers += test_kernel(path, c, c->imp->kernels.at[k], n_sizes, t);
    if (t->wrong == wrong)
        printf("%s: %d barriers, each needed\n", path, barriers);
}

int main(int argc, char **argv)
{
    Totals t = {0, 0};
    for (int f = 1; f < argc; f++)
        for (int k = 0, n = 1; k < n; k++) {
            Compiled c = compile_entry(argv[f], k, &n);
            test_entry(argv[f], &c, &t);
            compiled_free(&c);
        }
    printf("barriers: %ld checks, %ld wrong\n", t.checks, t.wrong);
    return t.wrong != 0;
}
