/* risec: the command line. What it does stands in command.c, so that tests can do it many times in
 * one process. */
#include "driver/driver.h"
#ifdef RISEC_LSP
#include "lsp/lsp.h"
#endif

int main(int argc, char **argv)
{
#ifdef RISEC_LSP
    return driver_command_with(argc, argv, lsp_serve);
#else
    return driver_command(argc, argv);
#endif
}
