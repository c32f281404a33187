/* The thesis's variants: elemsWarp times elemsBlock, shflDown and shflXor, for sizes that nothing divides. sim equals ref, no finding.
 * Arguments: the two programs, then optionally the largest size. */
#include <stdio.h>
#include <stdlib.h>

#include "executors.h"

static const int64_t sizes[] = {0, 1, 31, 32, 33, 1000, 1023, 1024, 1025, 2047, 65537, 1000003};

int main(int argc, char **argv)
{
    long checks = 0, wrong = 0;
    int64_t largest = INT64_MAX;
    for (int f = 1; f < argc; f++) {
        if (argv[f][0] >= '0' && argv[f][0] <= '9') {
            largest = strtoll(argv[f], NULL, 10);
            continue;
        }
        for (int warp = 32; warp <= 512; warp *= 2) {
            for (int times = 1; times <= 32; times *= 2) {
                char settings[64];
                snprintf(settings, sizeof settings, "elemsWarp=%d elemsBlock=%d", warp, warp * times);
                Compiled c = compile_file(argv[f], settings);
                for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                    if (sizes[s] > largest)
                        continue;
                    checks++;
                    if (!c.imp || run_trial(&c, (Trial){sizes[s], 0, (uint64_t)(s + 1), true, false, 0}, NULL) != AGREE) {
                        wrong++;
                        printf("%s %s n=%lld\n", argv[f], settings, (long long)sizes[s]);
                    }
                }
                compiled_free(&c);
            }
        }
    }
    printf("variants: %ld checks, %ld wrong\n", checks, wrong);
    return wrong != 0;
}
