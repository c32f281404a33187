/* risec: the command line. What it does stands in command.c, so that tests can do it many times in one process. */
#include "driver/driver.h"

int main(int argc, char **argv) { return driver_command(argc, argv); }
