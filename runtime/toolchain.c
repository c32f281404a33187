#include "runtime/toolchain.h"

#include "version.h"

void toolchain_init(Toolchain *t, const LibraryLoader *loader, const CacheFiles *files, const char *cache_dir,
                    const char *named, int max_major)
{
    memset(t, 0, sizeof *t);
    t->loader = loader ? *loader : library_loader;
    t->named = named;
    t->max_major = max_major;
    cache_init(&t->cache, files, &t->loader, cache_dir);
    pthread_mutex_init(&t->lock, NULL);
}

void toolchain_done(Toolchain *t) { pthread_mutex_destroy(&t->lock); }

/* The library stays where it is once it is there, so that its address may leave the lock. */
static const Nvrtc *load(Toolchain *t)
{
    pthread_mutex_lock(&t->lock);
    if (t->state == NVRTC_NOT_TRIED)
        t->state = nvrtc_load(&t->loader, t->named, t->max_major, &t->nvrtc, t->why) ? NVRTC_LOADED : NVRTC_MISSING;
    bool good = t->state == NVRTC_LOADED;
    pthread_mutex_unlock(&t->lock);
    return good ? &t->nvrtc : NULL;
}

const Nvrtc *toolchain_nvrtc(Toolchain *t, StrBuf *why)
{
    const Nvrtc *nvrtc = load(t);
    if (!nvrtc)
        sb_puts(why, t->why);
    return nvrtc;
}

/* Note [The version without the library]
 *
 * A kernel's key holds the version of the NVRTC that compiled it. To ask the library costs 9 ms to load it, of which a hit takes none
 * otherwise. So an entry of the cache remembers, for all that decides which library is found, the version and the file; it holds while
 * that file is the same. Should another library be found in truth (a program that has one loaded already), then the kernel that is
 * hit was still compiled from the same text by the version in its key: the note decides where to look, never what is valid. */
typedef struct VersionNote {
    FileIdentity file;
    int32_t major, minor;
    char path[NVRTC_PATH_MAX]; /* terminated, and zero behind that */
} VersionNote;

static CacheKey note_key(const Toolchain *t)
{
    static const char *const variables[] = {"LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"};
    CacheKeyMaker maker;
    cache_key_init(&maker, CACHE_NOTE);
    cache_key_text(&maker, RISEC_VERSION);
    cache_key_number(&maker, (uint64_t)t->max_major);
    cache_key_text(&maker, t->named ? t->named : "");
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = t->loader.env(t->loader.user, variables[i]);
        cache_key_text(&maker, value ? value : "");
    }
    FileIdentity known = {0}; /* ldconfig has been run since, or never was */
    t->loader.identify(t->loader.user, "/etc/ld.so.cache", &known);
    cache_key_add(&maker, &known, sizeof known);
    CacheKey key;
    cache_key_end(&maker, &key);
    return key;
}

static bool remembered_version(Ctx *ctx, const Toolchain *t, const CacheKey *key, int *major, int *minor)
{
    size_t size;
    const char *bytes = cache_get(ctx, &t->cache, key, &size);
    VersionNote note;
    FileIdentity now;
    if (!bytes || size != sizeof note)
        return false;
    memcpy(&note, bytes, sizeof note);
    if (note.path[NVRTC_PATH_MAX - 1] || !t->loader.identify(t->loader.user, note.path, &now) || memcmp(&now, &note.file, sizeof now) != 0)
        return false;
    *major = note.major;
    *minor = note.minor;
    return true;
}

static void remember_version(const Toolchain *t, const CacheKey *key, const Nvrtc *nvrtc)
{
    VersionNote note;
    memset(&note, 0, sizeof note);
    if (!nvrtc->path[0] || !t->loader.identify(t->loader.user, nvrtc->path, &note.file))
        return;
    note.major = nvrtc->major;
    note.minor = nvrtc->minor;
    strcpy(note.path, nvrtc->path);
    cache_put(&t->cache, key, &note, sizeof note);
}

static CacheKey code_key(Ctx *ctx, const CodeRequest *request, int major, int minor)
{
    CacheKeyMaker maker;
    cache_key_init(&maker, CACHE_KERNEL);
    cache_key_text(&maker, RISEC_VERSION);
    cache_key_number(&maker, (uint64_t)major);
    cache_key_number(&maker, (uint64_t)minor);
    /* The options say the architecture and the form. */
    const char *options[NVRTC_MAX_OPTIONS];
    int n = nvrtc_options(ctx, request, options);
    cache_key_number(&maker, (uint64_t)n);
    for (int i = 0; i < n; i++)
        cache_key_text(&maker, options[i]);
    /* Line information has the name in it. */
    cache_key_text(&maker, request->name);
    cache_key_text(&maker, request->text);
    CacheKey key;
    cache_key_end(&maker, &key);
    return key;
}

/* The version of the NVRTC that is or would be loaded: as it is remembered, else by loading it. False where there is none. */
static bool find_version(Ctx *ctx, Toolchain *t, int *major, int *minor)
{
    CacheKey note = note_key(t);
    if (t->cache.dir[0] && remembered_version(ctx, t, &note, major, minor))
        return true;
    const Nvrtc *nvrtc = load(t);
    if (!nvrtc)
        return false;
    *major = nvrtc->major;
    *minor = nvrtc->minor;
    if (t->cache.dir[0])
        remember_version(t, &note, nvrtc);
    return true;
}

static bool find_code(Ctx *ctx, const Toolchain *t, int major, int minor, CodeWork *work)
{
    CacheKey key = code_key(ctx, &work->request, major, minor);
    size_t size;
    const char *bytes = cache_get(ctx, &t->cache, &key, &size);
    if (!bytes)
        return false;
    work->code = (Code){bytes, size, "", true, major, minor};
    work->status = CODE_GOOD;
    return true;
}

static void compile_missing(Ctx *ctx, Toolchain *t, int n, CodeWork *const *works)
{
    const Nvrtc *nvrtc = load(t);
    if (nvrtc)
        nvrtc_compile(ctx, nvrtc, n, works);
    for (int i = 0; i < n; i++) {
        CodeWork *work = works[i];
        if (!nvrtc) {
            work->status = CODE_NO_COMPILER;
            sb_puts(&work->why, t->why);
        } else if (work->status == CODE_GOOD) {
            CacheKey key = code_key(ctx, &work->request, work->code.major, work->code.minor);
            cache_put(&t->cache, &key, work->code.bytes, work->code.size);
        }
    }
}

void toolchain_compile(Ctx *ctx, Toolchain *t, int n, CodeWork *works)
{
    int major = 0, minor = 0, n_missing = 0;
    CodeWork **missing = NEWN(ctx, CodeWork *, n + 1);
    bool known = find_version(ctx, t, &major, &minor);
    for (int i = 0; i < n; i++) {
        sb_init(&works[i].why, ctx);
        if (!known || !find_code(ctx, t, major, minor, &works[i]))
            missing[n_missing++] = &works[i];
    }
    if (n_missing)
        compile_missing(ctx, t, n_missing, missing);
}
