/* Programs of many shapes, all their entries: sim equals ref for the size classes, without a finding; every barrier is needed. Arguments: the programs;
 * a number is the largest size of those after it. */
#include <stdio.h>
#include <stdlib.h>

#include "executors.h"

static const int64_t sizes[] = {0, 1, 2, 20, 31, 32, 33, 45, 64, 96, 100, 192, 1000, 1023, 1024, 1025, 2047, 4096, 8192};
static const int64_t grids[] = {0, 1, 2};

typedef struct Totals {
    long checks, wrong;
} Totals;

static void test_entry(const char *path, Compiled c, int64_t largest, Totals *t)
{
    int ran = 0;
    if (!c.imp)
        t->wrong++;
    bool enough = false;
    for (size_t s = 0; c.imp && s < sizeof sizes / sizeof *sizes && sizes[s] <= largest && !enough; s++)
        for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
            SimReport report = {.warp_instructions = 0};
            int64_t n = sizes[s];
            Outcome o = run_trial(&c, (Trial){n, grids[g], 3 + s, true, true, 40000}, &report);
            t->checks++;
            enough |= report.warp_instructions > TRIAL_ENOUGH;
            ran += o == AGREE;
            if (o == DIFFER || o == FINDING) {
                t->wrong++;
                printf("%s: n = %lld, grid %lld: %s %s\n", path, (long long)n, (long long)grids[g], o == DIFFER ? "differs" : "finding",
                       report.findings.n ? report.findings.at[0].text : "");
            }
        }
    if (!ran) { /* sizes that the entry's facts refuse are skipped, but not all of them */
        t->wrong++;
        printf("%s: no size could be run\n", path);
    }
}

int main(int argc, char **argv)
{
    Totals t = {0, 0};
    int64_t largest = INT64_MAX;
    for (int f = 1; f < argc; f++) {
        if (argv[f][0] >= '0' && argv[f][0] <= '9') {
            largest = strtoll(argv[f], NULL, 10);
            continue;
        }
        for (int k = 0, n = 1; k < n; k++) {
            Compiled c = compile_entry(argv[f], k, &n);
            test_entry(argv[f], c, largest, &t);
            compiled_free(&c);
        }
    }
    printf("programs: %ld checks, %ld wrong\n", t.checks, t.wrong);
    return t.wrong != 0;
}
