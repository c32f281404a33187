/* risec: the command line. What it does stands in command.c, so that tests can do it many times in
 * one process. */
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "driver/driver.h"
#ifdef RISEC_LSP
#include "lsp/lsp.h"
#endif

/* A context is made and freed for each entry. Where its memory went back to the system each time, half of the time of `check` would be spent on getting it again. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

int main(int argc, char **argv)
{
    keep_memory();
#ifdef RISEC_LSP
    return driver_command_with(argc, argv, lsp_serve);
#else
    return driver_command(argc, argv);
#endif
}
