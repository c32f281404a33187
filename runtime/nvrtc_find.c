/* Where NVRTC is: the order of the search, and what of it can be used. */
#include "runtime/nvrtc.h"

#include <stdio.h>

#define SYMBOL(field, name, optional) {name, offsetof(NvrtcApi, field), optional}
static const LibrarySymbol symbols[] = {
    SYMBOL(version, "nvrtcVersion", false),
    SYMBOL(create, "nvrtcCreateProgram", false),
    SYMBOL(destroy, "nvrtcDestroyProgram", false),
    SYMBOL(compile, "nvrtcCompileProgram", false),
    SYMBOL(log_size, "nvrtcGetProgramLogSize", false),
    SYMBOL(log, "nvrtcGetProgramLog", false),
    SYMBOL(ptx_size, "nvrtcGetPTXSize", false),
    SYMBOL(ptx, "nvrtcGetPTX", false),
    SYMBOL(cubin_size, "nvrtcGetCUBINSize", false),
    SYMBOL(cubin, "nvrtcGetCUBIN", false),
    SYMBOL(error_text, "nvrtcGetErrorString", false),
    SYMBOL(arch_count, "nvrtcGetNumSupportedArchs", true),
    SYMBOL(archs, "nvrtcGetSupportedArchs", true),
};
#undef SYMBOL

/* CUDA 11 kept one name from 11.2 to its end; the last row is that of distributions that made their own. */
static const struct {
    const char *name;
    int major;
} versions[] = {{"libnvrtc.so.13", 13}, {"libnvrtc.so.12", 12}, {"libnvrtc.so.11.2", 11}, {"libnvrtc.so.11", 11}};

enum { VERSION_COUNT = sizeof versions / sizeof versions[0] };

/* Kinds of folders by what is in them. */
enum {
    IS_TOOLKIT = 1, /* lib64, lib */
    IS_WHEELS = 2,  /* what pip unpacks: nvidia/cu13/lib, nvidia/cuda_nvrtc/lib */
    IS_PYTHON = 4,  /* lib/python3.N/site-packages with wheels */
    IS_LIBRARY = 8  /* the library itself */
};

/* Where it is looked for, in this order, after what the caller names and where the system looks. */
static const struct {
    const char *variable, *folder;
    int kinds;
} places[] = {
    {"CUDA_HOME", NULL, IS_TOOLKIT},
    {"CUDA_PATH", NULL, IS_TOOLKIT},
    {"VIRTUAL_ENV", NULL, IS_PYTHON},
    {"CONDA_PREFIX", NULL, IS_TOOLKIT | IS_PYTHON},
    {NULL, "/usr/local/cuda", IS_TOOLKIT},
};

enum { PLACE_COUNT = sizeof places / sizeof places[0], PYTHON_NEWEST = 40, PYTHON_OLDEST = 6 };

typedef struct Search {
    const LibraryLoader *loader;
    int max_major;
    Nvrtc *nvrtc;
    char unfit[NVRTC_WHY_MAX]; /* the last library that was found and cannot be used, and why */
} Search;

/* ---- one library ------------------------------------------------------------------------------------- */

/* False, with the reason in `unfit`, when the library is none that can be used; it is closed then. */
static bool take_library(Search *s, void *library, const char *name)
{
    const LibraryLoader *loader = s->loader;
    Nvrtc *nvrtc = s->nvrtc;
    const char *missing =
        library_symbols(loader, library, sizeof symbols / sizeof symbols[0], symbols, &nvrtc->api);
    if (missing)
        snprintf(s->unfit, NVRTC_WHY_MAX, "%.500s has no function %s", name, missing);
    else if (nvrtc->api.version(&nvrtc->major, &nvrtc->minor) != 0)
        snprintf(s->unfit, NVRTC_WHY_MAX, "%.500s does not tell its version", name);
    else if (s->max_major && nvrtc->major > s->max_major)
        snprintf(s->unfit, NVRTC_WHY_MAX, "%.500s is of CUDA %d, and the driver of CUDA %d", name,
                 nvrtc->major, s->max_major);
    else {
        void *address;
        memcpy(&address, &nvrtc->api.version, sizeof address);
        if (!loader->path(loader->user, address, nvrtc->path, sizeof nvrtc->path))
            nvrtc->path[0] = 0;
        return true;
    }
    loader->close(loader->user, library);
    return false;
}

static bool try_name(Search *s, const char *name)
{
    void *library = s->loader->open(s->loader->user, name);
    return library && take_library(s, library, name);
}

/* ---- folders ----------------------------------------------------------------------------------------- */

/* All versions in `root/below`; root NULL: where the system looks. */
static bool try_folder(Search *s, const char *root, const char *below)
{
    for (int v = 0; v < VERSION_COUNT; v++) {
        char name[NVRTC_PATH_MAX];
        int n = root ? snprintf(name, sizeof name, "%s%s/%s", root, below, versions[v].name)
                     : snprintf(name, sizeof name, "%s", versions[v].name);
        bool too_new = s->max_major && versions[v].major > s->max_major;
        if (!too_new && n < (int)sizeof name && try_name(s, name))
            return true;
    }
    return false;
}

static bool is_folder(const Search *s, const char *path)
{
    char inside[NVRTC_PATH_MAX];
    FileIdentity identity;
    return snprintf(inside, sizeof inside, "%s/.", path) < (int)sizeof inside &&
           s->loader->identify(s->loader->user, inside, &identity);
}

static bool try_wheels(Search *s, const char *root)
{
    return try_folder(s, root, "/nvidia/cu13/lib") || try_folder(s, root, "/nvidia/cuda_nvrtc/lib");
}

static bool try_python(Search *s, const char *root)
{
    for (int minor = PYTHON_NEWEST; minor >= PYTHON_OLDEST; minor--) {
        char packages[NVRTC_PATH_MAX];
        int n = snprintf(packages, sizeof packages, "%s/lib/python3.%d/site-packages", root, minor);
        if (n < (int)sizeof packages && is_folder(s, packages) && try_wheels(s, packages))
            return true;
    }
    return false;
}

static bool try_root(Search *s, const char *root, int kinds)
{
    return ((kinds & IS_LIBRARY) && try_folder(s, root, "")) ||
           ((kinds & IS_TOOLKIT) && (try_folder(s, root, "/lib64") || try_folder(s, root, "/lib"))) ||
           ((kinds & IS_WHEELS) && try_wheels(s, root)) || ((kinds & IS_PYTHON) && try_python(s, root));
}

static bool try_places(Search *s)
{
    if (try_folder(s, NULL, ""))
        return true;
    for (int i = 0; i < PLACE_COUNT; i++) {
        const char *root = places[i].folder;
        if (places[i].variable)
            root = s->loader->env(s->loader->user, places[i].variable);
        if (root && root[0] == '/' && try_root(s, root, places[i].kinds))
            return true;
    }
    return false;
}

/* ---- the search -------------------------------------------------------------------------------------- */

static void say_missing(const Search *s, const char *folder, char *why)
{
    size_t n = (size_t)snprintf(why, NVRTC_WHY_MAX, "there is no NVRTC, NVIDIA's compiler: looked for");
    const char *between = " ";
    for (int v = 0; v < VERSION_COUNT; v++) {
        if (s->max_major && versions[v].major > s->max_major)
            continue;
        n += (size_t)snprintf(why + n, NVRTC_WHY_MAX - n, "%s%s", between, versions[v].name);
        between = ", ";
    }
    if (s->max_major && s->max_major < versions[VERSION_COUNT - 1].major)
        n += (size_t)snprintf(why + n, NVRTC_WHY_MAX - n, " one for a driver of CUDA %d, which is too old",
                              s->max_major);
    if (folder)
        n += (size_t)snprintf(why + n, NVRTC_WHY_MAX - n, " in %.300s,", folder);
    n += (size_t)snprintf(why + n, NVRTC_WHY_MAX - n,
                          " where the system looks for libraries, in lib64 and lib of $CUDA_HOME, $CUDA_PATH "
                          "and /usr/local/cuda, and in $VIRTUAL_ENV and $CONDA_PREFIX");
    if (s->unfit[0])
        snprintf(why + n, NVRTC_WHY_MAX - n, "; %.400s", s->unfit);
}

bool nvrtc_load(const LibraryLoader *loader, const char *named, int max_major, Nvrtc *nvrtc, char *why)
{
    Search s = {.loader = loader, .max_major = max_major, .nvrtc = nvrtc};
    memset(nvrtc, 0, sizeof *nvrtc);
    bool in_folder = named && is_folder(&s, named);
    bool found = in_folder ? try_root(&s, named, IS_LIBRARY | IS_TOOLKIT | IS_WHEELS | IS_PYTHON)
                           : named && try_name(&s, named);
    if (!found && (!named || in_folder))
        found = try_places(&s);
    if (found)
        return true;
    memset(nvrtc, 0, sizeof *nvrtc);
    if (!named || in_folder)
        say_missing(&s, named, why);
    else
        snprintf(why, NVRTC_WHY_MAX, "the NVRTC that nvrtc_path names, %.300s, cannot be loaded%s%.400s", named,
                 s.unfit[0] ? ": " : "", s.unfit);
    return false;
}
