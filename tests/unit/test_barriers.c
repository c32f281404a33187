/* Every barrier is needed, and none is missing: for each program given (or the examples built in the repository), no run reports a finding, and with
 * any one barrier taken out some run reports a race. */
#include <stdio.h>

#include "executors.h"

static const int64_t sizes[] = {2, 8, 32, 192, 1000, 1024, 4096, 8192, 20000};
static const int64_t grids[] = {0, 1, 2, 3};
enum { N_SIZES = sizeof sizes / sizeof *sizes, N_GRIDS = sizeof grids / sizeof *grids };

int main(int argc, char **argv)
{
    long checks = 0, wrong = 0;
    for (int f = 1; f < argc; f++) {
        Compiled c = compile_file(argv[f], "");
        int ran = 0, n_sizes = 0;
        checks++;
        if (!c.imp) {
            wrong++;
            compiled_free(&c);
            continue;
        }
        for (bool enough = false; n_sizes < N_SIZES && !enough; n_sizes++)
            for (int g = 0; g < N_GRIDS; g++, checks++) {
                SimReport report = {.warp_instructions = 0};
                Outcome o = run_trial(&c, (Trial){sizes[n_sizes], grids[g], 7 + (uint64_t)g, g == 0, true, 40000}, &report);
                wrong += o == DIFFER || o == FINDING; /* sizes that the facts refuse or that are too large are passed over */
                ran += o == AGREE;
                enough |= report.warp_instructions > 4 * TRIAL_ENOUGH;
            }
        if (!ran) {
            wrong++;
            printf("%s: no size could be run\n", argv[f]);
        }
        int barriers = 0;
        for (int k = 0; k < c.imp->kernels.n; k++) {
            ImpKernel *kernel = c.imp->kernels.at[k];
            for (int b = 0; b < imp_sync_count(kernel); b++) {
                ImpStmt *sync = imp_drop_sync(kernel, b);
                bool found = false;
                for (int s = 0; s < n_sizes && !found; s++)
                    for (int g = 0; g < N_GRIDS && !found; g++)
                        found = run_trial(&c, (Trial){sizes[s], grids[g], 11, false, true, 40000}, NULL) == FINDING;
                imp_restore_sync(sync);
                checks++;
                barriers++;
                if (!found) {
                    wrong++;
                    printf("%s: barrier %d can be taken out and nothing notices\n", argv[f], b);
                }
            }
        }
        printf("%s: %d barriers, each needed\n", argv[f], barriers);
        compiled_free(&c);
    }
    printf("barriers: %ld checks, %ld wrong\n", checks, wrong);
    return wrong != 0;
}
