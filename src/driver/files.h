/* What a command read, so that it does not write over it: files.c. */
#ifndef RISEC_DRIVER_FILES_H
#define RISEC_DRIVER_FILES_H

#include "support/context.h"

typedef struct DriverFiles DriverFiles;

typedef enum FileRole {
    FILE_UNKNOWN, /* this command did not read it */
    FILE_INPUT,   /* a program, what it imports, an array, a trace, a hand-written kernel */
    FILE_TUNING   /* the tuning file beside a program, which `risec tune` writes anew */
} FileRole;

/* From now on the context's files are known. NULL: no memory. */
DriverFiles *driver_files_new(Ctx *ctx);
void driver_files_free(DriverFiles *files);
/* Of the file that the path names now, if there is one. */
FileRole driver_files_role(const DriverFiles *files, const char *path);
/* This file, unless it is an input, is what tuning writes anew. */
void driver_files_is_tuning(DriverFiles *files, Ctx *ctx, const char *path);

/* "MADE...: READ...", a rule of make: the files that were read, in that order. */
void driver_files_rule(const DriverFiles *files, StrBuf *out, int n, const char *const *made);

#endif
