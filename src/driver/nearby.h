/* What a path leads to, and what it was likely to be where that is missing. */
#ifndef RISEC_DRIVER_NEARBY_H
#define RISEC_DRIVER_NEARBY_H

#include "driver/driver.h"

bool path_is_folder(const char *path);
/* Has it this suffix, and something before it? */
bool path_ends_in(const char *path, const char *suffix);
/* The file in the same folder whose name is nearest: `path` with the suffix, or with a typing
 * mistake less. NULL: there is none. */
const char *nearby_file(Ctx *ctx, const char *path, const char *suffix);

#endif
