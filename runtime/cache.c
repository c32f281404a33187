#include "runtime/cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* An entry: the header, the bytes, and SHA-256 of both. */
enum {
    MAGIC_SIZE = 8,
    LENGTH_SIZE = 8,
    HEADER_SIZE = MAGIC_SIZE + SHA256_SIZE + LENGTH_SIZE,
    FRAME_SIZE = HEADER_SIZE + SHA256_SIZE,
    NAME_SIZE = 2 * SHA256_SIZE + 8 /* of an entry's file, with the terminator */
};
static const char magic[MAGIC_SIZE + 1] = "risekc01";

static const char hits_name[] = "hits", misses_name[] = "misses", unfinished_prefix[] = "new-", kernel_prefix[] = "k-", note_prefix[] = "n-";

/* ---- the directory ---------------------------------------------------------------------------------------------------- */

void cache_init(Cache *cache, const CacheFiles *files, const LibraryLoader *loader, const char *dir)
{
    memset(cache, 0, sizeof *cache);
    cache->files = files ? *files : cache_files;
    cache->limit = CACHE_LIMIT_BYTES;
    const char *base = "", *below = "";
    if (!dir) {
        base = loader->env(loader->user, "XDG_CACHE_HOME");
        below = "/rise";
        if (!base || base[0] != '/') {
            base = loader->env(loader->user, "HOME");
            below = "/.cache/rise";
        }
        /* A relative path would be another cache in each directory. */
        if (!base || base[0] != '/')
            return;
        dir = "";
    }
    if (snprintf(cache->dir, sizeof cache->dir, "%s%s%s", base, dir, below) >= (int)sizeof cache->dir)
        cache->dir[0] = 0;
}

/* The directory, open, and seen to be ours alone to write; -1. */
static int open_dir(const Cache *cache)
{
    const CacheFiles *f = &cache->files;
    if (!cache->dir[0])
        return -1;
    int dir = f->open_dir(f->user, cache->dir);
    CacheStat st;
    if (dir >= 0 && !(f->stat(f->user, dir, &st) && st.ours)) {
        f->close(f->user, dir);
        return -1;
    }
    return dir;
}

/* Made if need be, and the directory around it, too: both for their owner only. */
static int make_and_open_dir(const Cache *cache)
{
    const CacheFiles *f = &cache->files;
    int dir = open_dir(cache);
    if (dir >= 0 || !cache->dir[0])
        return dir;
    char around[CACHE_PATH_MAX];
    strcpy(around, cache->dir);
    char *slash = strrchr(around, '/');
    if (slash && slash > around) {
        *slash = 0;
        f->make_dir(f->user, around);
    }
    return f->make_dir(f->user, cache->dir) ? open_dir(cache) : -1;
}

static bool starts_with(const char *text, const char *start) { return strncmp(text, start, strlen(start)) == 0; }

static void entry_name(const CacheKey *key, char name[NAME_SIZE])
{
    strcpy(name, key->kind == CACHE_KERNEL ? kernel_prefix : note_prefix);
    char *at = name + strlen(name);
    for (int i = 0; i < SHA256_SIZE; i++)
        at += snprintf(at, 3, "%02x", key->bytes[i]);
}

static bool is_entry_name(const char *name, const char *prefix)
{
    return starts_with(name, prefix) && strlen(name) == strlen(prefix) + 2 * SHA256_SIZE &&
           strspn(name + strlen(prefix), "0123456789abcdef") == 2 * SHA256_SIZE;
}

/* ---- hits and misses ---------------------------------------------------------------------------------------------------- */

/* A byte more; what goes wrong costs the count and nothing else. */
static void count_one(const Cache *cache, int dir, const char *name)
{
    const CacheFiles *f = &cache->files;
    int file = f->open_append(f->user, dir, name);
    if (file < 0)
        return;
    CacheStat st;
    if (f->stat(f->user, file, &st) && st.regular && st.ours && st.size < CACHE_LIMIT_COUNT)
        (void)f->write(f->user, file, ".", 1);
    f->close(f->user, file);
}

/* ---- keys --------------------------------------------------------------------------------------------------------------- */

static void put_number(unsigned char out[8], uint64_t number)
{
    for (int i = 0; i < 8; i++)
        out[i] = (unsigned char)(number >> (8 * i));
}

void cache_key_init(CacheKeyMaker *maker, CacheKind kind)
{
    maker->kind = kind;
    sha256_init(&maker->sha);
    cache_key_number(maker, (uint64_t)kind);
}

void cache_key_add(CacheKeyMaker *maker, const void *bytes, size_t size)
{
    cache_key_number(maker, size);
    sha256_add(&maker->sha, bytes, size);
}

void cache_key_text(CacheKeyMaker *maker, const char *text) { cache_key_add(maker, text, strlen(text)); }

void cache_key_number(CacheKeyMaker *maker, uint64_t number)
{
    unsigned char bytes[8];
    put_number(bytes, number);
    sha256_add(&maker->sha, bytes, sizeof bytes);
}

void cache_key_end(CacheKeyMaker *maker, CacheKey *key)
{
    key->kind = maker->kind;
    sha256_end(&maker->sha, key->bytes);
}

/* ---- getting ------------------------------------------------------------------------------------------------------------ */

static void make_header(const CacheKey *key, uint64_t size, unsigned char header[HEADER_SIZE])
{
    memcpy(header, magic, MAGIC_SIZE);
    memcpy(header + MAGIC_SIZE, key->bytes, SHA256_SIZE);
    put_number(header + MAGIC_SIZE + SHA256_SIZE, size);
}

typedef struct Getting {
    const Cache *cache;
    const CacheKey *key;
    int file;
    const char *bytes; /* NULL: a miss */
    size_t size;
} Getting;

/* Reads the file, and believes nothing of it: it must be, byte for byte, what cache_put makes of the key and some bytes. */
static void read_entry(Ctx *ctx, void *user)
{
    Getting *g = user;
    const CacheFiles *f = &g->cache->files;
    CacheStat st;
    if (!f->stat(f->user, g->file, &st) || !st.regular || !st.ours || st.size < FRAME_SIZE || st.size > CACHE_LIMIT_ENTRY + FRAME_SIZE)
        return;
    size_t whole = (size_t)st.size, got = 0;
    unsigned char *bytes = NEWN(ctx, unsigned char, whole + 1);
    /* To one byte beyond the end: a file that still grows is not ours. */
    for (ssize_t n = 1; n > 0 && got <= whole; got += (size_t)(n > 0 ? n : 0)) {
        n = f->read(f->user, g->file, bytes + got, whole + 1 - got);
        if (n < 0)
            return;
    }
    if (got != whole)
        return;
    unsigned char header[HEADER_SIZE], digest[SHA256_SIZE];
    make_header(g->key, whole - FRAME_SIZE, header);
    Sha256 sha;
    sha256_init(&sha);
    sha256_add(&sha, bytes, whole - SHA256_SIZE);
    sha256_end(&sha, digest);
    if (memcmp(bytes, header, HEADER_SIZE) != 0 || memcmp(bytes + whole - SHA256_SIZE, digest, SHA256_SIZE) != 0)
        return;
    g->size = whole - FRAME_SIZE;
    bytes[HEADER_SIZE + g->size] = 0;
    g->bytes = (const char *)bytes + HEADER_SIZE;
    f->touch(f->user, g->file);
}

const char *cache_get(Ctx *ctx, const Cache *cache, const CacheKey *key, size_t *size)
{
    const CacheFiles *f = &cache->files;
    int dir = open_dir(cache);
    if (dir < 0)
        return NULL;
    char name[NAME_SIZE];
    entry_name(key, name);
    Getting g = {cache, key, f->open_read(f->user, dir, name), NULL, 0};
    bool enough = true;
    if (g.file >= 0) {
        enough = ctx_try(ctx, read_entry, &g);
        f->close(f->user, g.file);
    }
    if (enough && key->kind == CACHE_KERNEL)
        count_one(cache, dir, g.bytes ? hits_name : misses_name);
    f->close(f->user, dir);
    if (!enough)
        ctx_out_of_memory(ctx);
    *size = g.size;
    return g.bytes;
}

/* ---- making room -------------------------------------------------------------------------------------------------------- */

enum { OLDEST_MAX = 128 };

typedef struct Aged {
    int64_t seconds;
    char name[NAME_SIZE];
} Aged;

/* What one walk over the directory finds. The entries that were not used for longest are those to go when room is made; there is place
 * for some of them, and another walk finds the next. */
typedef struct Survey {
    const Cache *cache;
    int dir;
    int64_t entries;       /* kernels */
    uint64_t kernel_bytes;
    uint64_t bytes;        /* notes included */
    int64_t stale_before;  /* unfinished files that were not changed since then are removed */
    bool aged;             /* find the oldest, too */
    int n_oldest;
    Aged oldest[OLDEST_MAX]; /* ascending */
} Survey;

static bool stat_regular(const Cache *cache, int dir, const char *name, CacheStat *st)
{
    return cache->files.stat_name(cache->files.user, dir, name, st) && st->regular;
}

static void insert_aged(Survey *s, const char *name, int64_t seconds)
{
    int at = s->n_oldest;
    if (at == OLDEST_MAX && seconds >= s->oldest[--at].seconds)
        return;
    s->n_oldest = at + 1;
    for (; at > 0 && s->oldest[at - 1].seconds > seconds; at--)
        s->oldest[at] = s->oldest[at - 1];
    s->oldest[at].seconds = seconds;
    strcpy(s->oldest[at].name, name);
}

static bool survey_name(void *arg, const char *name)
{
    Survey *s = arg;
    const CacheFiles *f = &s->cache->files;
    CacheStat st;
    bool kernel = is_entry_name(name, kernel_prefix);
    bool unfinished = starts_with(name, unfinished_prefix);
    if (!(kernel || unfinished || is_entry_name(name, note_prefix)) || !stat_regular(s->cache, s->dir, name, &st))
        return true;
    if (unfinished) {
        if (st.seconds < s->stale_before)
            f->remove(f->user, s->dir, name);
        return true;
    }
    s->entries += kernel;
    s->kernel_bytes += kernel ? st.size : 0;
    s->bytes += st.size;
    if (s->aged)
        insert_aged(s, name, st.seconds);
    return true;
}

static void make_room(const Cache *cache, int dir)
{
    const CacheFiles *f = &cache->files;
    uint64_t most = cache->limit;
    for (;;) {
        Survey s = {.cache = cache, .dir = dir, .stale_before = f->now(f->user) - CACHE_STALE_SECONDS, .aged = true};
        if (!f->list(f->user, dir, survey_name, &s) || s.bytes <= most)
            return;
        /* A quarter goes at once, so that this is rare. */
        most = cache->limit / 4 * 3;
        bool gone = false;
        for (int i = 0; i < s.n_oldest && s.bytes > most; i++) {
            CacheStat st;
            if (!stat_regular(cache, dir, s.oldest[i].name, &st) || !f->remove(f->user, dir, s.oldest[i].name))
                continue;
            s.bytes -= st.size < s.bytes ? st.size : s.bytes;
            gone = true;
        }
        if (!gone)
            return;
    }
}

/* ---- putting ------------------------------------------------------------------------------------------------------------ */

static bool write_all(const Cache *cache, int file, const void *bytes, size_t size)
{
    const CacheFiles *f = &cache->files;
    for (const char *at = bytes; size > 0;) {
        ssize_t put = f->write(f->user, file, at, size);
        if (put <= 0)
            return false;
        at += put;
        size -= (size_t)put;
    }
    return true;
}

/* A new file that no other writer has. The address of the name tells the threads of a process apart; where a process that died left
 * one of the same name, the next is tried. */
static int open_unfinished(const Cache *cache, int dir, char name[NAME_SIZE])
{
    enum { TRIALS = 16 };
    const CacheFiles *f = &cache->files;
    int file = -1;
    for (int i = 0; i < TRIALS && file < 0; i++) {
        snprintf(name, NAME_SIZE, "%s%ld-%jx-%d", unfinished_prefix, (long)getpid(), (uintmax_t)(uintptr_t)name, i);
        file = f->open_new(f->user, dir, name);
    }
    return file;
}

bool cache_put(const Cache *cache, const CacheKey *key, const void *bytes, size_t size)
{
    const CacheFiles *f = &cache->files;
    if (size > CACHE_LIMIT_ENTRY || size > cache->limit)
        return false;
    int dir = make_and_open_dir(cache);
    if (dir < 0)
        return false;
    char unfinished[NAME_SIZE], name[NAME_SIZE];
    entry_name(key, name);
    int file = open_unfinished(cache, dir, unfinished);
    bool good = false;
    if (file >= 0) {
        unsigned char header[HEADER_SIZE], digest[SHA256_SIZE];
        make_header(key, size, header);
        Sha256 sha;
        sha256_init(&sha);
        sha256_add(&sha, header, sizeof header);
        sha256_add(&sha, bytes, size);
        sha256_end(&sha, digest);
        good = write_all(cache, file, header, sizeof header) && write_all(cache, file, bytes, size) && write_all(cache, file, digest, sizeof digest);
        good = f->close(f->user, file) && good;
        good = good && f->rename(f->user, dir, unfinished, name);
        if (!good)
            f->remove(f->user, dir, unfinished);
    }
    if (good)
        make_room(cache, dir);
    f->close(f->user, dir);
    return good;
}

/* ---- looking at it, and clearing it --------------------------------------------------------------------------------------- */

void cache_report(const Cache *cache, CacheReport *report)
{
    const CacheFiles *f = &cache->files;
    *report = (CacheReport){0};
    int dir = cache->dir[0] ? f->open_dir(f->user, cache->dir) : -1;
    report->there = dir >= 0;
    if (dir < 0)
        return;
    CacheStat st;
    Survey s = {.cache = cache, .dir = dir};
    report->usable = f->stat(f->user, dir, &st) && st.ours && f->list(f->user, dir, survey_name, &s);
    report->entries = s.entries;
    report->bytes = s.kernel_bytes;
    report->hits = stat_regular(cache, dir, hits_name, &st) ? st.size : 0;
    report->misses = stat_regular(cache, dir, misses_name, &st) ? st.size : 0;
    f->close(f->user, dir);
}

typedef struct Clearing {
    const Cache *cache;
    int dir;
    bool good;
} Clearing;

static bool clear_name(void *arg, const char *name)
{
    Clearing *c = arg;
    const CacheFiles *f = &c->cache->files;
    bool made_here = is_entry_name(name, kernel_prefix) || is_entry_name(name, note_prefix) || starts_with(name, unfinished_prefix) ||
                     strcmp(name, hits_name) == 0 || strcmp(name, misses_name) == 0;
    if (made_here && !f->remove(f->user, c->dir, name))
        c->good = false;
    return true;
}

bool cache_clear(const Cache *cache)
{
    const CacheFiles *f = &cache->files;
    int dir = open_dir(cache);
    if (dir < 0)
        return false;
    Clearing c = {cache, dir, true};
    bool listed = f->list(f->user, dir, clear_name, &c);
    f->close(f->user, dir);
    return listed && c.good;
}
