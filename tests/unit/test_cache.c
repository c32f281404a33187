/* SHA-256 against the standard's examples; the cache with damaged files, other people's files, and each call of the system failing;
 * processes that share a directory while some are killed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/cache.h"
#include "unit.h"

enum { PATH_SIZE = 2 * CACHE_PATH_MAX };

static uint64_t random_state = 20240601;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % n;
}

/* ---- SHA-256 ---------------------------------------------------------------------------------------------------------- */

static void sha_hex(const unsigned char digest[SHA256_SIZE], char hex[2 * SHA256_SIZE + 1])
{
    for (int i = 0; i < SHA256_SIZE; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

/* `times` copies of `text`, given in pieces of `piece` bytes at most. */
static void check_sha(const char *text, int times, size_t piece, const char *want)
{
    Sha256 sha;
    unsigned char digest[SHA256_SIZE];
    char hex[2 * SHA256_SIZE + 1];
    sha256_init(&sha);
    for (int i = 0; i < times; i++) {
        size_t n = strlen(text);
        for (size_t at = 0; at < n; at += piece)
            sha256_add(&sha, text + at, n - at < piece ? n - at : piece);
    }
    sha256_end(&sha, digest);
    sha_hex(digest, hex);
    CHECK_TEXT(hex, want);
}

/* NIST's examples for FIPS 180, and the lengths around a block, from which padding follows. */
static void test_sha(void)
{
    for (size_t piece = 1; piece <= 64; piece += 7) {
        check_sha("", 1, piece, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        check_sha("abc", 1, piece, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        check_sha("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1, piece,
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        check_sha("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu", 1, piece,
                  "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    }
    check_sha("aaaaaaaaaa", 100000, 64, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    check_sha("a", 55, 1, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    check_sha("a", 56, 1, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
    check_sha("a", 63, 1, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
    check_sha("a", 64, 1, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
    check_sha("a", 65, 1, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0");
}

/* ---- a directory for each test ---------------------------------------------------------------------------------------- */

static char scratch[512]; /* of this run of the test */
static int scratch_count;

static void new_dir(char *dir, size_t size) { snprintf(dir, size, "%s/%d", scratch, scratch_count++); }

static Cache new_cache(void)
{
    Cache cache;
    char dir[600];
    new_dir(dir, sizeof dir);
    cache_init(&cache, NULL, &library_loader, dir);
    return cache;
}

static CacheKey key_of(const char *text)
{
    CacheKeyMaker maker;
    CacheKey key;
    cache_key_init(&maker, CACHE_KERNEL);
    cache_key_text(&maker, text);
    cache_key_end(&maker, &key);
    return key;
}

/* The path of the only entry. */
static void entry_path(const Cache *cache, const CacheKey *key, char path[PATH_SIZE])
{
    char hex[2 * SHA256_SIZE + 1];
    sha_hex(key->bytes, hex);
    snprintf(path, PATH_SIZE, "%s/k-%s", cache->dir, hex);
}

static size_t slurp(const char *path, char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(bytes, 1, size, file) : 0;
    if (file)
        fclose(file);
    return n;
}

static void spill(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, size, file) == size);
    if (file)
        fclose(file);
}

static bool is_hit(Ctx *ctx, const Cache *cache, const CacheKey *key, const char *bytes, size_t size)
{
    size_t got = 0;
    const char *found = cache_get(ctx, cache, key, &got);
    /* A hit with other bytes is the one thing that must never be. */
    if (found)
        CHECK(got == size && memcmp(found, bytes, size) == 0 && found[size] == 0);
    return found != NULL;
}

/* ---- what it is for ----------------------------------------------------------------------------------------------------- */

static void test_keys(void)
{
    CacheKeyMaker a, b;
    CacheKey x, y;
    cache_key_init(&a, CACHE_KERNEL);
    cache_key_init(&b, CACHE_KERNEL);
    cache_key_text(&a, "ab");
    cache_key_text(&a, "c");
    cache_key_text(&b, "a");
    cache_key_text(&b, "bc");
    cache_key_end(&a, &x);
    cache_key_end(&b, &y);
    CHECK(memcmp(x.bytes, y.bytes, SHA256_SIZE) != 0);
}

static void test_hits(Ctx *ctx, void *user)
{
    (void)user;
    Cache cache = new_cache();
    CacheKey key = key_of("one"), other = key_of("two");
    CacheReport report;
    cache_report(&cache, &report);
    CHECK(!report.there && !report.usable && report.entries == 0 && report.hits == 0);
    CHECK(!is_hit(ctx, &cache, &key, "", 0)); /* no directory yet, and none is made for a miss */
    CHECK(access(cache.dir, F_OK) != 0);
    CHECK(cache_put(&cache, &key, "hello", 5));
    struct stat st;
    CHECK(stat(cache.dir, &st) == 0 && (st.st_mode & 0777) == 0700);
    CHECK(is_hit(ctx, &cache, &key, "hello", 5));
    CHECK(!is_hit(ctx, &cache, &other, "", 0));
    CHECK(cache_put(&cache, &other, "", 0));
    CHECK(is_hit(ctx, &cache, &other, "", 0));
    CHECK(cache_put(&cache, &key, "hello", 5)); /* again, as a second process would */
    cache_report(&cache, &report);
    CHECK(report.usable && report.entries == 2 && report.bytes == 2 * 80 + 5 && report.hits == 2 && report.misses == 1);

    char path[PATH_SIZE];
    entry_path(&cache, &key, path);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
    snprintf(path, sizeof path, "%s/notes of the user", cache.dir);
    spill(path, "mine", 4);
    CHECK(cache_clear(&cache));
    cache_report(&cache, &report);
    CHECK(report.usable && report.entries == 0 && report.bytes == 0 && report.hits == 0 && report.misses == 0);
    CHECK(access(path, F_OK) == 0);
    CHECK(!is_hit(ctx, &cache, &key, "", 0));

    Cache none;
    cache_init(&none, NULL, &library_loader, "");
    CHECK(!cache_put(&none, &key, "x", 1) && !is_hit(ctx, &none, &key, "x", 1) && !cache_clear(&none));
}

/* ---- where it is -------------------------------------------------------------------------------------------------------- */

typedef struct Env {
    const char *xdg, *home;
} Env;

static const char *env_of(void *user, const char *name)
{
    const Env *env = user;
    return strcmp(name, "XDG_CACHE_HOME") == 0 ? env->xdg : strcmp(name, "HOME") == 0 ? env->home : NULL;
}

static void test_place(void)
{
    static const struct {
        Env env;
        const char *dir;
    } cases[] = {
        {{"/x", "/h"}, "/x/rise"}, {{NULL, "/h"}, "/h/.cache/rise"}, {{"", "/h"}, "/h/.cache/rise"}, {{"relative", "/h"}, "/h/.cache/rise"},
        {{NULL, NULL}, ""},        {{NULL, "relative"}, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Env env = cases[i].env;
        LibraryLoader loader = library_loader;
        loader.user = &env;
        loader.env = env_of;
        Cache cache;
        cache_init(&cache, NULL, &loader, NULL);
        CHECK_TEXT(cache.dir, cases[i].dir);
    }
    char longer[CACHE_PATH_MAX + 10];
    memset(longer, 'x', sizeof longer);
    longer[0] = '/';
    longer[sizeof longer - 1] = 0;
    Cache cache;
    cache_init(&cache, NULL, &library_loader, longer);
    CHECK_TEXT(cache.dir, "");
}

/* ---- damage ------------------------------------------------------------------------------------------------------------- */

/* 10,000 files that differ from the right one in a byte, or end early, or go on: all are misses, and writing again mends them. */
static void test_damage(Ctx *ctx, void *user)
{
    (void)user;
    enum { SIZE = 1000, CHANGES = 10000, WHOLE = SIZE + 80 };
    static char bytes[SIZE], whole[WHOLE + 100], bad[WHOLE + 100];
    for (int i = 0; i < SIZE; i++)
        bytes[i] = (char)random_below(256);
    Cache cache = new_cache();
    CacheKey key = key_of("damage");
    char path[PATH_SIZE];
    entry_path(&cache, &key, path);
    CHECK(cache_put(&cache, &key, bytes, SIZE));
    CHECK(slurp(path, whole, sizeof whole) == WHOLE);
    int hits = 0, file = open(path, O_RDWR);
    CHECK(file >= 0);
    for (int i = 0; i < CHANGES; i++) {
        /* Every byte once, then any. */
        size_t at = i < WHOLE ? (size_t)i : random_below(WHOLE);
        memcpy(bad, whole, WHOLE);
        size_t n = WHOLE;
        if (i < WHOLE || i % 2)
            bad[at] = (char)(bad[at] ^ (1 + random_below(255)));
        else
            n = at;
        if (i >= WHOLE && i % 64 == 0)
            n = WHOLE + 1 + random_below(100);
        CHECK(pwrite(file, bad, n, 0) == (ssize_t)n && ftruncate(file, (off_t)n) == 0);
        hits += is_hit(ctx, &cache, &key, bytes, SIZE);
    }
    close(file);
    CHECK(hits == 0);
    CHECK(cache_put(&cache, &key, bytes, SIZE));
    CHECK(is_hit(ctx, &cache, &key, bytes, SIZE));

    /* A whole entry under the name of another one. */
    CacheKey other = key_of("another");
    entry_path(&cache, &other, path);
    spill(path, whole, WHOLE);
    CHECK(!is_hit(ctx, &cache, &other, bytes, SIZE));
}

/* ---- other files ---------------------------------------------------------------------------------------------------------- */

static void test_foreign(Ctx *ctx, void *user)
{
    (void)user;
    Cache cache = new_cache();
    CacheKey key = key_of("foreign");
    char path[PATH_SIZE], aside[PATH_SIZE + 10];
    entry_path(&cache, &key, path);
    CHECK(cache_put(&cache, &key, "good", 4));
    snprintf(aside, sizeof aside, "%s.aside", path);

    /* A link, even to the right bytes; then a write must replace the link and not what it points to. */
    CHECK(rename(path, aside) == 0 && symlink(aside, path) == 0);
    CHECK(!is_hit(ctx, &cache, &key, "good", 4));
    CHECK(cache_put(&cache, &key, "good", 4));
    struct stat st;
    CHECK(lstat(path, &st) == 0 && S_ISREG(st.st_mode));
    CHECK(is_hit(ctx, &cache, &key, "good", 4));

    /* A pipe is not waited for; a directory is in the way for good. */
    unlink(path);
    CHECK(mkfifo(path, 0600) == 0);
    CHECK(!is_hit(ctx, &cache, &key, "good", 4));
    unlink(path);
    CHECK(mkdir(path, 0700) == 0);
    CHECK(!is_hit(ctx, &cache, &key, "good", 4) && !cache_put(&cache, &key, "good", 4));
    rmdir(path);

    /* Others may write to the file, or to the directory. */
    CHECK(cache_put(&cache, &key, "good", 4));
    CHECK(chmod(path, 0622) == 0 && !is_hit(ctx, &cache, &key, "good", 4));
    CHECK(chmod(path, 0600) == 0 && is_hit(ctx, &cache, &key, "good", 4));
    CHECK(chmod(cache.dir, 0777) == 0);
    CHECK(!is_hit(ctx, &cache, &key, "good", 4) && !cache_put(&cache, &key, "good", 4) && !cache_clear(&cache));
    CacheReport report;
    cache_report(&cache, &report);
    CHECK(report.there && !report.usable);
    CHECK(chmod(cache.dir, 0700) == 0 && is_hit(ctx, &cache, &key, "good", 4));

    /* Counts that are a link: nothing is written through it. */
    snprintf(path, sizeof path, "%s/hits", cache.dir);
    spill(aside, "", 0);
    unlink(path);
    CHECK(symlink(aside, path) == 0);
    CHECK(is_hit(ctx, &cache, &key, "good", 4));
    CHECK(stat(aside, &st) == 0 && st.st_size == 0);

    /* A file where the directory should be, and a directory that cannot be made. */
    Cache file = new_cache();
    spill(file.dir, "", 0);
    CHECK(!cache_put(&file, &key, "good", 4) && !is_hit(ctx, &file, &key, "good", 4));
    Cache far;
    char dir[600];
    snprintf(dir, sizeof dir, "%s/no/such/folder", scratch);
    cache_init(&far, NULL, &library_loader, dir);
    CHECK(!cache_put(&far, &key, "good", 4) && !is_hit(ctx, &far, &key, "good", 4));

    if (geteuid() != 0) {
        CHECK(chmod(cache.dir, 0500) == 0);
        CHECK(!cache_put(&cache, &key, "good", 4) && is_hit(ctx, &cache, &key, "good", 4));
        CHECK(chmod(cache.dir, 0700) == 0);
    }
}

/* ---- each call fails ------------------------------------------------------------------------------------------------------ */

typedef struct Failing {
    long calls, fail_at; /* the call of that number fails; 0: none */
    bool short_calls;    /* reads and writes move one byte at a time */
    int open;            /* descriptors that were not closed */
    int written;         /* the file that was made last */
    bool lost;           /* it could not be closed: what was written may not be there */
} Failing;

static bool fails(void *user)
{
    Failing *f = user;
    return ++f->calls == f->fail_at;
}

static int opened(void *user, int file)
{
    ((Failing *)user)->open += file >= 0;
    return file;
}

static bool f_make_dir(void *u, const char *p) { return !fails(u) && cache_files.make_dir(NULL, p); }
static int f_open_dir(void *u, const char *p) { return fails(u) ? -1 : opened(u, cache_files.open_dir(NULL, p)); }
static int f_open_read(void *u, int d, const char *n) { return fails(u) ? -1 : opened(u, cache_files.open_read(NULL, d, n)); }
static int f_open_new(void *u, int d, const char *n)
{
    Failing *f = u;
    return f->written = fails(u) ? -1 : opened(u, cache_files.open_new(NULL, d, n));
}
static int f_open_append(void *u, int d, const char *n) { return fails(u) ? -1 : opened(u, cache_files.open_append(NULL, d, n)); }
static bool f_stat(void *u, int f, CacheStat *s) { return !fails(u) && cache_files.stat(NULL, f, s); }
static bool f_stat_name(void *u, int d, const char *n, CacheStat *s) { return !fails(u) && cache_files.stat_name(NULL, d, n, s); }
static ssize_t f_read(void *u, int f, void *b, size_t n)
{
    return fails(u) ? -1 : cache_files.read(NULL, f, b, ((Failing *)u)->short_calls && n > 1 ? 1 : n);
}
static ssize_t f_write(void *u, int f, const void *b, size_t n)
{
    return fails(u) ? -1 : cache_files.write(NULL, f, b, ((Failing *)u)->short_calls && n > 1 ? 1 : n);
}
static bool f_touch(void *u, int f) { return !fails(u) && cache_files.touch(NULL, f); }
static bool f_close(void *u, int f)
{
    Failing *failing = u;
    failing->open--;
    bool good = cache_files.close(NULL, f) && !fails(u);
    failing->lost |= !good && f == failing->written;
    if (f == failing->written)
        failing->written = -1;
    return good;
}
static bool f_rename(void *u, int d, const char *a, const char *b) { return !fails(u) && cache_files.rename(NULL, d, a, b); }
static bool f_remove(void *u, int d, const char *n) { return !fails(u) && cache_files.remove(NULL, d, n); }
static bool f_list(void *u, int d, bool (*see)(void *, const char *), void *arg) { return !fails(u) && cache_files.list(NULL, d, see, arg); }
static int64_t f_now(void *u)
{
    (void)u;
    return cache_files.now(NULL);
}

static Cache failing_cache(Failing *failing)
{
    Cache cache = new_cache();
    cache.files = (CacheFiles){failing, f_make_dir, f_open_dir, f_open_read, f_open_new, f_open_append, f_stat, f_stat_name,
                               f_read, f_write, f_touch, f_close, f_rename, f_remove, f_list, f_now};
    return cache;
}

static bool count_unfinished(void *arg, const char *name)
{
    *(int *)arg += strncmp(name, "new-", 4) == 0;
    return true;
}

/* What a program does, with call `fail_at` failing; then, with all calls good again, everything works and nothing is left behind. */
static long try_with_failure(Ctx *ctx, long fail_at, bool short_calls)
{
    Failing failing = {0, fail_at, short_calls, 0, -1, false};
    Cache cache = failing_cache(&failing);
    CacheKey key = key_of("failing"), more = key_of("more");
    CacheReport report;
    bool put = cache_put(&cache, &key, "bytes of it", 11);
    CHECK(!(put && failing.lost));
    int dir = cache_files.open_dir(NULL, cache.dir), unfinished = 0;
    if (dir >= 0) {
        CHECK(cache_files.list(NULL, dir, count_unfinished, &unfinished) && unfinished == 0);
        close(dir);
    }
    bool hit = is_hit(ctx, &cache, &key, "bytes of it", 11);
    CHECK(!hit || put);
    cache.limit = 100; /* the next entry makes the first one go */
    cache_put(&cache, &more, "more bytes", 10);
    is_hit(ctx, &cache, &more, "more bytes", 10);
    cache_report(&cache, &report);
    cache_clear(&cache);
    long calls = failing.calls;
    CHECK(failing.open == 0);

    failing.fail_at = 0;
    cache.limit = CACHE_LIMIT_BYTES;
    CHECK(cache_put(&cache, &key, "bytes of it", 11));
    CHECK(is_hit(ctx, &cache, &key, "bytes of it", 11));
    CHECK(cache_clear(&cache) && failing.open == 0);
    cache_report(&cache, &report);
    CHECK(report.usable && report.entries == 0);
    CHECK(rmdir(cache.dir) == 0); /* empty: no unfinished file is left */
    return calls;
}

static void test_failing(Ctx *ctx, void *user)
{
    (void)user;
    long calls = try_with_failure(ctx, 0, false);
    CHECK(calls > 50);
    for (long k = 1; k <= calls; k++)
        try_with_failure(ctx, k, false);
    try_with_failure(ctx, 0, true);
}

/* Memory that runs out inside a get closes what is open, and the next get is good. */
typedef struct Tight {
    long allocs, fail_at;
} Tight;

static void *tight_alloc(void *user, size_t size)
{
    Tight *t = user;
    return ++t->allocs == t->fail_at ? NULL : malloc(size);
}

static void tight_free(void *user, void *block)
{
    (void)user;
    free(block);
}

static void get_large(Ctx *ctx, void *user)
{
    size_t size;
    CacheKey key = key_of("large");
    CHECK(cache_get(ctx, user, &key, &size) != NULL);
}

static void test_memory(void)
{
    static char large[200000];
    Failing failing = {0};
    Cache cache = failing_cache(&failing);
    CacheKey key = key_of("large");
    CHECK(cache_put(&cache, &key, large, sizeof large));
    Tight tight = {0};
    Allocator alloc = {&tight, tight_alloc, tight_free};
    Ctx *ctx = ctx_new(&alloc, NULL);
    tight.fail_at = tight.allocs + 1;
    CHECK(!ctx_try(ctx, get_large, &cache) && failing.open == 0);
    CHECK(ctx_try(ctx, get_large, &cache) && failing.open == 0);
    ctx_free(ctx);
}

/* ---- room ------------------------------------------------------------------------------------------------------------------- */

static void set_age(const Cache *cache, const char *name, long seconds)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", cache->dir, name);
    struct timespec now, times[2];
    clock_gettime(CLOCK_REALTIME, &now);
    times[0] = times[1] = (struct timespec){now.tv_sec - seconds, 0};
    CHECK(utimensat(AT_FDCWD, path, times, 0) == 0);
}

static void test_room(Ctx *ctx, void *user)
{
    (void)user;
    enum { ENTRIES = 400, SIZE = 20 };
    Cache cache = new_cache();
    CacheKey keys[ENTRIES];
    char text[SIZE + 1], hex[2 * SHA256_SIZE + 1], name[100];
    cache.limit = (SIZE + 80) * (ENTRIES - 1);
    for (int i = 0; i < ENTRIES; i++) {
        snprintf(text, sizeof text, "%020d", i);
        keys[i] = key_of(text);
        if (i == ENTRIES - 1) { /* the last one has all others made room for it: the later, the older, but the first was used just now */
            CHECK(is_hit(ctx, &cache, &keys[0], "00000000000000000000", SIZE));
        }
        CHECK(cache_put(&cache, &keys[i], text, SIZE));
        sha_hex(keys[i].bytes, hex);
        snprintf(name, sizeof name, "k-%s", hex);
        if (i < ENTRIES - 1)
            set_age(&cache, name, i == 0 ? 100000 : 1000 + i);
    }
    CacheReport report;
    cache_report(&cache, &report);
    CHECK(report.bytes <= cache.limit / 4 * 3 && report.bytes > cache.limit / 4 * 3 - 2 * (SIZE + 80));
    CHECK(is_hit(ctx, &cache, &keys[ENTRIES - 1], "00000000000000000399", SIZE));
    CHECK(is_hit(ctx, &cache, &keys[0], "00000000000000000000", SIZE));
    CHECK(is_hit(ctx, &cache, &keys[1], "00000000000000000001", SIZE));
    CHECK(!is_hit(ctx, &cache, &keys[ENTRIES - 2], "", 0));
    CHECK(!is_hit(ctx, &cache, &keys[ENTRIES - 90], "", 0));

    /* More than the cache may hold. */
    static char large[(SIZE + 80) * ENTRIES];
    CHECK(!cache_put(&cache, &keys[1], large, sizeof large));

    /* An unfinished file goes when its writer must be dead, and not before. */
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/new-1-1-0", cache.dir);
    spill(path, "x", 1);
    CHECK(cache_put(&cache, &keys[1], "00000000000000000001", SIZE) && access(path, F_OK) == 0);
    set_age(&cache, "new-1-1-0", 2 * CACHE_STALE_SECONDS);
    CHECK(cache_put(&cache, &keys[1], "00000000000000000001", SIZE) && access(path, F_OK) != 0);
}

/* ---- processes ---------------------------------------------------------------------------------------------------------------- */

/* Puts and gets until it is killed, or `rounds` times. Exits with 0 unless a get gave wrong bytes or its own memory ran out. */
static void worker(const Cache *cache, int number, int rounds)
{
    enum { KEYS = 12 };
    static char bytes[KEYS][40000];
    Ctx *ctx = ctx_new(NULL, NULL);
    random_state += (uint64_t)number * 977;
    unit_failures = 0;
    for (int k = 0; k < KEYS; k++)
        memset(bytes[k], 'a' + k, sizeof bytes[k]);
    for (int i = 0; rounds == 0 || i < rounds; i++) {
        int k = (int)random_below(KEYS);
        char text[8];
        snprintf(text, sizeof text, "p%d", k);
        CacheKey key = key_of(text);
        size_t n = 3000u * (unsigned)(k + 1), got = 0;
        const char *found = cache_get(ctx, cache, &key, &got);
        if (found && (got != n || memcmp(found, bytes[k], n) != 0))
            _exit(1);
        if (!found || random_below(4) == 0)
            cache_put(cache, &key, bytes[k], n);
        if (i % 64 == 0) {
            ctx_free(ctx);
            ctx = ctx_new(NULL, NULL);
        }
    }
    _exit(0);
}

/* 16 processes on one directory, of which 8 are killed and replaced again and again while the others work. The directory is smaller than
 * what they write, so that room is made all the time. */
static void test_processes(Ctx *ctx, void *user)
{
    (void)user;
    enum { STEADY = 8, VICTIMS = 8, KILLS = 60 };
    Cache cache = new_cache();
    cache.limit = 150000;
    pid_t steady[STEADY], victims[VICTIMS];
    fflush(stdout);
    for (int i = 0; i < STEADY; i++) {
        if ((steady[i] = fork()) == 0)
            worker(&cache, i, 120);
    }
    for (int i = 0; i < VICTIMS; i++) {
        if ((victims[i] = fork()) == 0)
            worker(&cache, 100 + i, 0);
    }
    int wrong = 0, status;
    for (int i = 0; i < KILLS; i++) {
        int k = i % VICTIMS;
        nanosleep(&(struct timespec){0, 1000 * (500 + (long)random_below(2000))}, NULL);
        kill(victims[k], SIGKILL);
        CHECK(waitpid(victims[k], &status, 0) == victims[k]);
        wrong += !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        if ((victims[k] = fork()) == 0)
            worker(&cache, 1000 + i, 0);
    }
    for (int i = 0; i < VICTIMS; i++) {
        kill(victims[i], SIGKILL);
        waitpid(victims[i], &status, 0);
    }
    for (int i = 0; i < STEADY; i++) {
        CHECK(waitpid(steady[i], &status, 0) == steady[i]);
        wrong += !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    CHECK(wrong == 0);
    CacheKey key = key_of("after");
    CHECK(cache_put(&cache, &key, "good", 4) && is_hit(ctx, &cache, &key, "good", 4));
    CacheReport report;
    cache_report(&cache, &report);
    CHECK(report.usable && report.bytes <= cache.limit + 16 * 40000);
    CHECK(cache_clear(&cache) && rmdir(cache.dir) == 0);
}

static void run(void (*fn)(Ctx *ctx, void *user))
{
    Ctx *ctx = ctx_new(NULL, NULL);
    CHECK(ctx && ctx_try(ctx, fn, NULL));
    ctx_free(ctx);
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(scratch, sizeof scratch, "%s/risec-cache-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(scratch)) {
        perror(scratch);
        return 1;
    }
    test_sha();
    test_keys();
    test_place();
    run(test_hits);
    run(test_damage);
    run(test_foreign);
    run(test_failing);
    test_memory();
    run(test_room);
    run(test_processes);
    char remove[600];
    snprintf(remove, sizeof remove, "rm -rf '%s'", scratch);
    CHECK(system(remove) == 0);
    return unit_end();
}
