/* Files inside a folder, for programs that are not trusted: no path, and no link, leads out of it. */
#ifndef RISE_RUNTIME_FOLDER_H
#define RISE_RUNTIME_FOLDER_H

#include "support/context.h"

/* Takes `.`, `..` and empty parts out of a path, in place. False where it is absolute, or leads out of the folder that it starts in. */
bool folder_path(char *path);
/* Reads the regular file that `path` names in `folder`, as FileAccess.read. Symbolic links are followed inside the folder. */
FileStatus folder_read(Ctx *ctx, const char *folder, const char *path, size_t limit, char **bytes, size_t *size);

#endif
