/* Compiled kernels kept on disk, so that a program compiles a text once and not at every start.
 *
 * One file an entry, in a directory that only its owner can read. The name of the file is a 256-bit hash of everything that decides the
 * bytes inside (CacheKey), and the file ends with the same hash of itself. It is written under another name and renamed when it is whole.
 * So any number of processes and threads may use one directory, and may be killed at any time. Whatever is wrong (no directory, a full
 * disk, a file that is damaged, cut, foreign, a link, another user's) is a miss, and costs a compilation; nothing here reports an error.
 * No fsync: an entry that a crash of the machine tears is a damaged one.
 *
 * The files `hits` and `misses` grow by a byte for each; their sizes are the counts. */
#ifndef RISE_RUNTIME_CACHE_H
#define RISE_RUNTIME_CACHE_H

#include <sys/types.h>

#include "runtime/library.h"
#include "runtime/sha256.h"
#include "support/context.h"

typedef enum CacheKind {
    CACHE_KERNEL, /* its gets count as hits and misses */
    CACHE_NOTE    /* what helps to find kernels; no entry to who looks at the cache */
} CacheKind;

typedef struct CacheKey {
    CacheKind kind;
    unsigned char bytes[SHA256_SIZE];
} CacheKey;

typedef struct CacheStat {
    bool regular, ours; /* ours: the owner is the user of this process, and nobody else may write to it */
    uint64_t size;
    int64_t seconds; /* of its last change or use, since 1970 */
} CacheStat;

/* The seam: calls of the system, with errors as -1 or false. `dir` is an open directory, and names have no slash. */
typedef struct CacheFiles {
    void *user;
    bool (*make_dir)(void *user, const char *path); /* for its owner only; true also when it is there */
    int (*open_dir)(void *user, const char *path);
    int (*open_read)(void *user, int dir, const char *name);   /* follows no link, and does not wait for a pipe */
    int (*open_new)(void *user, int dir, const char *name);    /* for writing; fails when it is there */
    int (*open_append)(void *user, int dir, const char *name); /* follows no link */
    bool (*stat)(void *user, int file, CacheStat *stat);       /* of a file or directory */
    bool (*stat_name)(void *user, int dir, const char *name, CacheStat *stat); /* of a link itself */
    ssize_t (*read)(void *user, int file, void *bytes, size_t size);
    ssize_t (*write)(void *user, int file, const void *bytes, size_t size);
    bool (*touch)(void *user, int file); /* it has been used now */
    bool (*close)(void *user, int file);
    bool (*rename)(void *user, int dir, const char *from, const char *to);
    bool (*remove)(void *user, int dir, const char *name);
    /* Calls `see` with each name, until it gives false. */
    bool (*list)(void *user, int dir, bool (*see)(void *arg, const char *name), void *arg);
    int64_t (*now)(void *user); /* seconds since 1970 */
} CacheFiles;

extern const CacheFiles cache_files; /* the system's */
/* write(2), without the signal that a file which is too large for the process would raise. */
ssize_t quiet_write(int file, const void *bytes, size_t size);

enum {
    CACHE_PATH_MAX = 1024,
    CACHE_LIMIT_ENTRY = 64 << 20,  /* bytes of an entry; larger ones are not kept */
    CACHE_LIMIT_BYTES = 256 << 20, /* of all entries: beyond it, those go that were not used for longest */
    CACHE_LIMIT_COUNT = 16 << 20,  /* hits and misses are not counted further */
    CACHE_STALE_SECONDS = 3600     /* after which an unfinished file is taken for one whose writer has died */
};

typedef struct Cache {
    CacheFiles files;
    char dir[CACHE_PATH_MAX]; /* "": there is no cache, and every get is a miss */
    uint64_t limit;           /* bytes of all entries */
} Cache;

/* `dir` NULL: $XDG_CACHE_HOME/rise, else $HOME/.cache/rise, else none. Touches no file: the directory is made with its first entry. */
void cache_init(Cache *cache, const CacheFiles *files, const LibraryLoader *loader, const char *dir);

/* A key is made of parts, each of which counts with its length. */
typedef struct CacheKeyMaker {
    CacheKind kind;
    Sha256 sha;
} CacheKeyMaker;
void cache_key_init(CacheKeyMaker *maker, CacheKind kind);
void cache_key_add(CacheKeyMaker *maker, const void *bytes, size_t size);
void cache_key_text(CacheKeyMaker *maker, const char *text);
void cache_key_number(CacheKeyMaker *maker, uint64_t number);
void cache_key_end(CacheKeyMaker *maker, CacheKey *key);

/* The bytes, in memory of the context, with a zero byte behind them; NULL for a miss. */
const char *cache_get(Ctx *ctx, const Cache *cache, const CacheKey *key, size_t *size);
/* False when it could not be kept. */
bool cache_put(const Cache *cache, const CacheKey *key, const void *bytes, size_t size);

typedef struct CacheReport {
    bool there;           /* the directory */
    bool usable;          /* and it is ours, and can be read */
    int64_t entries;
    uint64_t bytes;       /* of them */
    uint64_t hits, misses; /* since the cache was cleared */
} CacheReport;
void cache_report(const Cache *cache, CacheReport *report);
/* Removes all entries, unfinished ones, and the counts; other files stay. False when something of it is still there. */
bool cache_clear(const Cache *cache);

#endif
