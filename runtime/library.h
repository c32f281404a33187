/* Shared libraries and the environment, as a table of functions, so that tests can stand in for both.
 *
 * NVIDIA's libraries are loaded by name when they are first needed, and stay loaded: what they allocate belongs to the process. */
#ifndef RISE_RUNTIME_LIBRARY_H
#define RISE_RUNTIME_LIBRARY_H

#include "support/base.h"

/* What tells one file from another, or from what it was before. */
typedef struct FileIdentity {
    uint64_t device, inode, size, seconds, nanoseconds; /* the last two: when it was changed */
} FileIdentity;

typedef struct LibraryLoader {
    void *user;
    void *(*open)(void *user, const char *name); /* NULL: there is none, or it cannot be loaded */
    void *(*symbol)(void *user, void *library, const char *name);
    void (*close)(void *user, void *library);
    /* The file that a function was loaded from, copied to `path`. False when that is not known. */
    bool (*path)(void *user, void *function, char *path, size_t size);
    bool (*identify)(void *user, const char *path, FileIdentity *identity);
    /* NULL where the variable is not set, and in a program that runs with more rights than who started it: its environment is not to be
     * trusted with the choice of what is loaded. */
    const char *(*env)(void *user, const char *name);
} LibraryLoader;

extern const LibraryLoader library_loader; /* the system's */

/* One function of a library: where its address goes in a struct of function pointers. */
typedef struct LibrarySymbol {
    const char *name;
    size_t offset;
    bool optional; /* NULL where the library does not have it */
} LibrarySymbol;

/* Fills the struct `api`. Gives the name of the first function that is missing, NULL when there is none. */
const char *library_symbols(const LibraryLoader *loader, void *library, int n, const LibrarySymbol *symbols, void *api);

#endif
