/* Every barrier is needed, and none is missing: for each program given (or the examples built in the repository), no run reports a finding, and with
 * any one barrier taken out some run reports a race. */
#include <stdio.h>

#include "executors.h"

static const int64_t sizes[] = {2, 8, 32, 256, 192, 1000, 1024, 4096, 8192, 20000};
static const int64_t grids[] = {0, 1, 2, 3};
enum { N_SIZES = sizeof sizes / sizeof *sizes, N_GRIDS = sizeof grids / sizeof *grids };

typedef struct Totals {
    long checks, wrong;
} Totals;

static void test_entry(const char *path, Compiled *c, Totals *t)
{
    int ran = 0, n_sizes = 0;
    t->checks++;
    if (!c->imp) {
        t->wrong++;
        return;
    }
    for (bool enough = false; n_sizes < N_SIZES && !enough; n_sizes++)
        for (int g = 0; g < N_GRIDS; g++, t->checks++) {
            SimReport report = {.warp_instructions = 0};
            Outcome o = run_trial(c, (Trial){sizes[n_sizes], grids[g], 7 + (uint64_t)g, g == 0, true, 70000}, &report);
            t->wrong += o == DIFFER || o == FINDING; /* sizes that the facts refuse or that are too large are passed over */
            ran += o == AGREE;
            enough |= report.warp_instructions > 4 * TRIAL_ENOUGH;
        }
    if (!ran) {
        t->wrong++;
        printf("%s: no size could be run\n", path);
    }
    int barriers = 0;
    for (int k = 0; k < c->imp->kernels.n; k++) {
        ImpKernel *kernel = c->imp->kernels.at[k];
        for (int b = 0; b < imp_sync_count(kernel); b++) {
            ImpStmt *sync = imp_drop_sync(kernel, b);
            bool found = false;
            for (int s = 0; s < n_sizes && !found; s++)
                for (int g = 0; g < N_GRIDS && !found; g++)
                    found = run_trial(c, (Trial){sizes[s], grids[g], 11, false, true, 70000}, NULL) == FINDING;
            imp_restore_sync(sync);
            t->checks++;
            barriers++;
            if (!found) {
                t->wrong++;
                printf("%s: barrier %d can be taken out and nothing notices\n", path, b);
            }
        }
    }
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
