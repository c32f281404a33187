/* What the unit tests share: each check is counted, a failing one is printed, and the last line of a test's output is
 * `N checks, N failed`. */
#ifndef RISEC_TESTS_UNIT_H
#define RISEC_TESTS_UNIT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long unit_checks, unit_failures;

static inline int unit_check(int good, const char *what, const char *file, int line)
{
    unit_checks++;
    if (!good) {
        unit_failures++;
        printf("%s:%d: failed: %s\n", file, line, what);
    }
    return good;
}

static inline int unit_text(const char *got, const char *want, const char *file, int line)
{
    unit_checks++;
    if (strcmp(got, want) == 0)
        return 1;
    unit_failures++;
    printf("%s:%d: got:\n%s\nwant:\n%s\n", file, line, got, want);
    return 0;
}

#define CHECK(x) unit_check((x) ? 1 : 0, #x, __FILE__, __LINE__)
#define CHECK_TEXT(got, want) unit_text((got), (want), __FILE__, __LINE__)

/* The path of a new, empty folder, whose parent is TMPDIR or /tmp: what is looked for in it is not there, whatever else this machine has. */
enum { UNIT_PATH = 4096 };

static inline int unit_folder(char path[UNIT_PATH])
{
    const char *tmp = getenv("TMPDIR");
    snprintf(path, UNIT_PATH, "%s/risec-unit-XXXXXX", tmp ? tmp : "/tmp");
    return unit_check(mkdtemp(path) != NULL, "a new folder", __FILE__, __LINE__);
}

static inline int unit_end(void)
{
    printf("%ld checks, %ld failed\n", unit_checks, unit_failures);
    return unit_failures != 0;
}

#endif
