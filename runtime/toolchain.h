/* From CUDA C to code that the driver loads: the cache, and behind it NVRTC, which is loaded only when it is needed.
 *
 * One Toolchain may be used by several threads, each with its own Ctx. */
#ifndef RISE_RUNTIME_TOOLCHAIN_H
#define RISE_RUNTIME_TOOLCHAIN_H

#include <pthread.h>

#include "runtime/cache.h"
#include "runtime/nvrtc.h"

typedef struct Toolchain {
    LibraryLoader loader;
    const char *named; /* NVRTC, see nvrtc_load */
    Cache cache;
    int max_major; /* of NVRTC, see nvrtc_load */
    pthread_mutex_t lock;
    enum { NVRTC_NOT_TRIED, NVRTC_LOADED, NVRTC_MISSING } state; /* this and the rest under the lock */
    Nvrtc nvrtc;
    char why[NVRTC_WHY_MAX]; /* it is missing */
} Toolchain;

/* NULL stands for the system's loader or files, and for the usual directory of the cache; "" is no cache. `named` and
 * `max_major` are those of nvrtc_load; the text stays the caller's. */
void toolchain_init(Toolchain *toolchain, const LibraryLoader *loader, const CacheFiles *files, const char *cache_dir,
                    const char *named, int max_major);
void toolchain_done(Toolchain *toolchain);

/* Loads NVRTC unless that was done. NULL with the reason in `why`. */
const Nvrtc *toolchain_nvrtc(Toolchain *toolchain, StrBuf *why);

/* Code for texts: each from the cache, else compiled and put there. As nvrtc_compile; `why` is made here. */
void toolchain_compile(Ctx *ctx, Toolchain *toolchain, int n, CodeWork *works);

#endif
