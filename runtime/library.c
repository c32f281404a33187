/* secure_getenv and dladdr are not in POSIX. */
#define _GNU_SOURCE
#include "runtime/library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>

static void *system_open(void *user, const char *name)
{
    (void)user;
    return dlopen(name, RTLD_LAZY | RTLD_LOCAL);
}

static void *system_symbol(void *user, void *library, const char *name)
{
    (void)user;
    return dlsym(library, name);
}

static void system_close(void *user, void *library)
{
    (void)user;
    dlclose(library);
}

static bool system_path(void *user, void *function, char *path, size_t size)
{
    (void)user;
    Dl_info info;
    if (!dladdr(function, &info) || !info.dli_fname || strlen(info.dli_fname) >= size)
        return false;
    strcpy(path, info.dli_fname);
    return true;
}

static bool system_identify(void *user, const char *path, FileIdentity *identity)
{
    (void)user;
    struct stat st;
    if (stat(path, &st) != 0)
        return false;
    *identity = (FileIdentity){(uint64_t)st.st_dev, (uint64_t)st.st_ino, (uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec,
                               (uint64_t)st.st_mtim.tv_nsec};
    return true;
}

static const char *system_env(void *user, const char *name)
{
    (void)user;
    return secure_getenv(name);
}

const LibraryLoader library_loader = {NULL, system_open, system_symbol, system_close, system_path, system_identify, system_env};

const char *library_symbols(const LibraryLoader *loader, void *library, int n, const LibrarySymbol *symbols, void *api)
{
    for (int i = 0; i < n; i++) {
        void *address = loader->symbol(loader->user, library, symbols[i].name);
        if (!address && !symbols[i].optional)
            return symbols[i].name;
        /* POSIX lets a function's address travel in a void *; C has no cast for it. */
        memcpy((char *)api + symbols[i].offset, &address, sizeof address);
    }
    return NULL;
}
