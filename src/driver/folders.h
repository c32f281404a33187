/* The files that a command line names. */
#ifndef RISEC_DRIVER_FOLDERS_H
#define RISEC_DRIVER_FOLDERS_H

#include "driver/driver.h"

typedef struct Paths {
    VEC(const char *) list;
} Paths;

/* The files of the words; of a folder all .rise files below it, in the order of their names. Links
 * to folders, and folders whose names begin with a point, are passed by. A diagnostic where there
 * is no file at all. */
Paths driver_paths(Ctx *ctx, Driver *d);

#endif
