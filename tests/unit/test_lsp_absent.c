/* `risec lsp` where the build has no language server: E0680 says so, and how to get one. Where
 * there is one, it is started. */
#include <stdio.h>
#include <unistd.h>

#include "driver/driver.h"
#include "unit.h"

enum { SAID = 4096 };

static int served;

static int serve(void)
{
    served++;
    return 0;
}

/* What the command says, in `said`; gives its exit code. */
static int command(int (*lsp)(void), char *said)
{
    char *argv[] = {"risec", "lsp", NULL};
    FILE *log = tmpfile();
    int before = dup(STDERR_FILENO);
    dup2(fileno(log), STDERR_FILENO);
    int status = driver_command_with(2, argv, lsp);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(log);
    size_t n = fread(said, 1, SAID - 1, log);
    said[n] = 0;
    fclose(log);
    return status;
}

int main(void)
{
    char said[SAID];
    CHECK(command(NULL, said) == STATUS_USAGE);
    CHECK(strstr(said, "error[E0680]") && strstr(said, "libjansson-dev"));
    CHECK(command(serve, said) == STATUS_GOOD && served == 1 && !said[0]);
    return unit_end();
}
