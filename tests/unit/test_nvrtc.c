/* NVRTC behind its table of functions: what is looked for and in which order, each call failing, the stack; and the way from text to code
 * through the cache. NVIDIA's library is not needed here; tests/scripts/aot.sh calls it. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/toolchain.h"
#include "unit.h"

/* ---- a library that is not there -------------------------------------------------------------------------------------- */

/* The table of functions takes no user data, as NVRTC does not: what the fake knows is one struct, used by one test at a time. */
static struct Fake {
    const char *has;        /* the one name that can be opened; NULL: none */
    const char *lacks;      /* a function that is missing */
    const char *cuda_home, *venv, *conda;
    const char *folder;     /* the one that is there; NULL: none */
    int major, minor;
    const char *fail;       /* the call that gives `result` */
    int result;
    const char *log;
    char opened[4000];      /* names, each with a newline */
    int libraries, programs, compiles; /* open; not destroyed; in all */
    char options[200];
    bool on_thread;
    pthread_t caller;
    uint64_t changed;       /* of the library's file */
    const char *bad;        /* texts with this in them are refused */
    Brake *pull;            /* by compilation number pull_at */
    int pull_at;
} fake;

struct NvrtcProgramImpl {
    bool used;
    char code[100];
};
enum { PROGRAMS = 16 };
static struct NvrtcProgramImpl all_programs[PROGRAMS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_program(NvrtcProgram program) { return program >= all_programs && program < all_programs + PROGRAMS && program->used; }

static int result_of(const char *call) { return fake.fail && strcmp(fake.fail, call) == 0 ? fake.result : 0; }

static int fake_version(int *major, int *minor)
{
    *major = fake.major;
    *minor = fake.minor;
    return result_of("version");
}

static int fake_create(NvrtcProgram *program, const char *text, const char *name, int n, const char *const *headers, const char *const *names)
{
    CHECK(text && name && n == 0 && !headers && !names);
    if (result_of("create"))
        return result_of("create");
    pthread_mutex_lock(&lock);
    *program = all_programs;
    while ((*program)->used)
        ++*program;
    (*program)->used = true;
    snprintf((*program)->code, sizeof (*program)->code, "code of %s", text);
    fake.programs++;
    pthread_mutex_unlock(&lock);
    return 0;
}

static int fake_destroy(NvrtcProgram *program)
{
    CHECK(is_program(*program));
    (*program)->used = false;
    *program = NULL;
    fake.programs--;
    return 0;
}

static int fake_compile(NvrtcProgram program, int n, const char *const *options)
{
    pthread_mutex_lock(&lock);
    CHECK(is_program(program));
    fake.compiles++;
    if (fake.pull && fake.compiles == fake.pull_at)
        fake.pull->pulled = 1;
    fake.on_thread = !pthread_equal(pthread_self(), fake.caller);
    fake.options[0] = 0;
    for (int i = 0; i < n; i++) {
        strcat(fake.options, i ? " " : "");
        strcat(fake.options, options[i]);
    }
    pthread_mutex_unlock(&lock);
    /* More than the default stack of a thread: it must be there. */
    volatile char deep[40 << 20];
    deep[0] = 1;
    deep[sizeof deep - 1] = 1;
    return fake.bad && strstr(program->code, fake.bad) ? 6 : result_of("compile");
}

static int fake_log_size(NvrtcProgram program, size_t *size)
{
    (void)program;
    *size = strlen(fake.log) + 1;
    return result_of("log_size");
}

static int fake_log(NvrtcProgram program, char *log)
{
    (void)program;
    strcpy(log, fake.log);
    return result_of("log");
}

static int fake_ptx_size(NvrtcProgram program, size_t *size)
{
    *size = strlen(program->code) + 1;
    return result_of("ptx_size");
}

static int fake_ptx(NvrtcProgram program, char *ptx)
{
    strcpy(ptx, program->code);
    return result_of("ptx");
}

static int fake_cubin_size(NvrtcProgram program, size_t *size)
{
    *size = strlen(program->code);
    return result_of("cubin_size");
}

static int fake_cubin(NvrtcProgram program, char *cubin)
{
    memcpy(cubin, program->code, strlen(program->code));
    return result_of("cubin");
}

static const char *fake_error_text(int result)
{
    static const char *const texts[] = {"NVRTC_0", "NVRTC_1", "NVRTC_2", "NVRTC_3", "NVRTC_4", "NVRTC_5", "NVRTC_6", "NVRTC_7"};
    return texts[result];
}

static int fake_arch_count(int *n)
{
    *n = 3;
    return result_of("arch_count");
}

static int fake_archs(int *archs)
{
    archs[0] = 75;
    archs[1] = 80;
    archs[2] = 90;
    return result_of("archs");
}

static void *address(void (*function)(void))
{
    void *at;
    memcpy(&at, &function, sizeof at);
    return at;
}

static void *fake_open(void *user, const char *name)
{
    (void)user;
    strcat(fake.opened, name);
    strcat(fake.opened, "\n");
    if (!fake.has || strcmp(fake.has, name) != 0)
        return NULL;
    fake.libraries++;
    return &fake;
}

static void *fake_symbol(void *user, void *library, const char *name)
{
    (void)user;
    static const struct {
        const char *name;
        void (*function)(void);
    } functions[] = {
        {"nvrtcVersion", (void (*)(void))fake_version},
        {"nvrtcCreateProgram", (void (*)(void))fake_create},
        {"nvrtcDestroyProgram", (void (*)(void))fake_destroy},
        {"nvrtcCompileProgram", (void (*)(void))fake_compile},
        {"nvrtcGetProgramLogSize", (void (*)(void))fake_log_size},
        {"nvrtcGetProgramLog", (void (*)(void))fake_log},
        {"nvrtcGetPTXSize", (void (*)(void))fake_ptx_size},
        {"nvrtcGetPTX", (void (*)(void))fake_ptx},
        {"nvrtcGetCUBINSize", (void (*)(void))fake_cubin_size},
        {"nvrtcGetCUBIN", (void (*)(void))fake_cubin},
        {"nvrtcGetErrorString", (void (*)(void))fake_error_text},
        {"nvrtcGetNumSupportedArchs", (void (*)(void))fake_arch_count},
        {"nvrtcGetSupportedArchs", (void (*)(void))fake_archs},
    };
    CHECK(library == &fake);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (strcmp(functions[i].name, name) == 0 && !(fake.lacks && strcmp(fake.lacks, name) == 0))
            return address(functions[i].function);
    }
    return NULL;
}

static void fake_close(void *user, void *library)
{
    (void)user;
    CHECK(library == &fake);
    fake.libraries--;
}

static bool fake_path(void *user, void *function, char *path, size_t size)
{
    (void)user;
    CHECK(function == address((void (*)(void))fake_version));
    return snprintf(path, size, "/lib/%s", fake.has) < (int)size;
}

static bool fake_identify(void *user, const char *path, FileIdentity *identity)
{
    (void)user;
    size_t n = strlen(path);
    if (n > 2 && strcmp(path + n - 2, "/.") == 0)
        return fake.folder && strlen(fake.folder) == n - 2 && strncmp(fake.folder, path, n - 2) == 0;
    if (!fake.has || strcmp(path, "/etc/ld.so.cache") == 0)
        return false;
    *identity = (FileIdentity){1, 2, 3, fake.changed, 5};
    return true;
}

static const char *fake_env(void *user, const char *name)
{
    (void)user;
    return strcmp(name, "CUDA_HOME") == 0      ? fake.cuda_home
           : strcmp(name, "VIRTUAL_ENV") == 0  ? fake.venv
           : strcmp(name, "CONDA_PREFIX") == 0 ? fake.conda
                                               : NULL;
}

static const LibraryLoader fake_loader = {NULL, fake_open, fake_symbol, fake_close, fake_path, fake_identify, fake_env};

static void fake_reset(void)
{
    memset(&fake, 0, sizeof fake);
    fake.has = "libnvrtc.so.13";
    fake.major = 13;
    fake.log = "";
    fake.caller = pthread_self();
}

/* ---- loading ---------------------------------------------------------------------------------------------------------- */

static void test_order(void)
{
    Nvrtc nvrtc;
    char why[NVRTC_WHY_MAX];
    fake_reset();
    fake.has = NULL;
    fake.cuda_home = "/opt/cuda";
    CHECK(!nvrtc_load(&fake_loader, NULL, 0, &nvrtc, why));
    CHECK_TEXT(fake.opened, "libnvrtc.so.13\nlibnvrtc.so.12\nlibnvrtc.so.11.2\nlibnvrtc.so.11\n"
                            "/opt/cuda/lib64/libnvrtc.so.13\n/opt/cuda/lib64/libnvrtc.so.12\n/opt/cuda/lib64/libnvrtc.so.11.2\n"
                            "/opt/cuda/lib64/libnvrtc.so.11\n"
                            "/opt/cuda/lib/libnvrtc.so.13\n/opt/cuda/lib/libnvrtc.so.12\n/opt/cuda/lib/libnvrtc.so.11.2\n"
                            "/opt/cuda/lib/libnvrtc.so.11\n"
                            "/usr/local/cuda/lib64/libnvrtc.so.13\n/usr/local/cuda/lib64/libnvrtc.so.12\n"
                            "/usr/local/cuda/lib64/libnvrtc.so.11.2\n/usr/local/cuda/lib64/libnvrtc.so.11\n"
                            "/usr/local/cuda/lib/libnvrtc.so.13\n/usr/local/cuda/lib/libnvrtc.so.12\n"
                            "/usr/local/cuda/lib/libnvrtc.so.11.2\n/usr/local/cuda/lib/libnvrtc.so.11\n");
    CHECK_TEXT(why, "there is no NVRTC, NVIDIA's compiler: looked for libnvrtc.so.13, libnvrtc.so.12, libnvrtc.so.11.2, libnvrtc.so.11 where the "
                    "system looks for libraries, in lib64 and lib of $CUDA_HOME, $CUDA_PATH and /usr/local/cuda, and in $VIRTUAL_ENV "
                    "and $CONDA_PREFIX");

    /* No newer than the driver; a relative folder is no folder. */
    fake_reset();
    fake.has = NULL;
    fake.cuda_home = "cuda";
    CHECK(!nvrtc_load(&fake_loader, NULL, 12, &nvrtc, why));
    CHECK(!strstr(fake.opened, ".13") && strncmp(fake.opened, "libnvrtc.so.12\n", 15) == 0 && !strstr(fake.opened, "\ncuda/"));
    CHECK(!nvrtc_load(&fake_loader, NULL, 10, &nvrtc, why) && strstr(why, "CUDA 10, which is too old"));

    fake_reset();
    fake.has = "/usr/local/cuda/lib64/libnvrtc.so.12";
    fake.major = 12;
    fake.minor = 8;
    CHECK(nvrtc_load(&fake_loader, NULL, 0, &nvrtc, why) && nvrtc.major == 12 && nvrtc.minor == 8 && fake.libraries == 1);
    CHECK_TEXT(nvrtc.path, "/lib//usr/local/cuda/lib64/libnvrtc.so.12");

    /* A library under the name of an older version. */
    CHECK(!nvrtc_load(&fake_loader, NULL, 11, &nvrtc, why));
    fake_reset();
    fake.has = "libnvrtc.so.12";
    CHECK(!nvrtc_load(&fake_loader, NULL, 12, &nvrtc, why) && fake.libraries == 0);
    CHECK(strstr(why, "; libnvrtc.so.12 is of CUDA 13, and the driver of CUDA 12"));
}

/* What was opened before the one that is there, or all of it. */
static const char *found_in(const char *named, const char *has)
{
    static char why[NVRTC_WHY_MAX];
    Nvrtc nvrtc;
    fake.opened[0] = 0;
    fake.has = has;
    fake.major = 12;
    return nvrtc_load(&fake_loader, named, 12, &nvrtc, why) ? fake.opened : why;
}

/* Wheels of pip and conda, and what the caller names. */
static void test_places(void)
{
    fake_reset();
    fake.venv = "/venv";
    fake.conda = "/conda";
    fake.folder = "/venv/lib/python3.11/site-packages";
    const char *opened = found_in(NULL, "/venv/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
    CHECK(strstr(opened, "libnvrtc.so.12\n") == opened && !strstr(opened, "python3.12"));
    CHECK(strstr(opened, "site-packages/nvidia/cu13/lib/libnvrtc.so.12\n") && !strstr(opened, "/conda"));
    opened = found_in(NULL, "/conda/lib/libnvrtc.so.12");
    CHECK(strstr(opened, "/venv/") && !strstr(opened, "/usr/local"));
    fake.folder = "/conda/lib/python3.9/site-packages";
    opened = found_in(NULL, "/conda/lib/python3.9/site-packages/nvidia/cu13/lib/libnvrtc.so.12");
    CHECK(strstr(opened, "/conda/lib64/") && !strstr(opened, "/venv/") && !strstr(opened, "/usr/local"));
    fake.venv = "venv"; /* no absolute path */
    fake.folder = "venv/lib/python3.11/site-packages";
    CHECK(strstr(found_in(NULL, "none"), "and in $VIRTUAL_ENV and $CONDA_PREFIX"));
    CHECK(!strstr(fake.opened, "\nvenv"));

    /* A folder by name comes first, and is not the only one. */
    fake.folder = "/mine";
    static const char *const below[] = {"", "/lib64", "/lib", "/nvidia/cu13/lib", "/nvidia/cuda_nvrtc/lib"};
    for (int i = 0; i < 5; i++) {
        char has[100];
        snprintf(has, sizeof has, "/mine%s/libnvrtc.so.12", below[i]);
        opened = found_in("/mine", has);
        CHECK(strstr(opened, has) && strncmp(opened, "/mine/libnvrtc.so.12\n", 21) == 0);
        CHECK(!strstr(opened, "\nlib"));
    }
    opened = found_in("/mine", "libnvrtc.so.12");
    CHECK(strstr(opened, "\nlibnvrtc.so.12\n") && strncmp(opened, "/mine/", 6) == 0);
    CHECK(strstr(found_in("/mine", "none"), "libnvrtc.so.11 in /mine, where the system"));

    /* A file by name, and a name for the loader, are the only ones. */
    CHECK_TEXT(found_in("/other/libnvrtc.so.12.8", "/other/libnvrtc.so.12.8"), "/other/libnvrtc.so.12.8\n");
    CHECK_TEXT(found_in("libmine.so", "libmine.so"), "libmine.so\n");
    CHECK_TEXT(found_in("/absent", "libnvrtc.so.12"), "the NVRTC that nvrtc_path names, /absent, cannot be loaded");
    CHECK_TEXT(fake.opened, "/absent\n");
    fake.lacks = "nvrtcVersion";
    CHECK_TEXT(found_in("/mine.so", "/mine.so"),
               "the NVRTC that nvrtc_path names, /mine.so, cannot be loaded: /mine.so has no function nvrtcVersion");
}

static void test_missing_functions(void)
{
    static const char *const needed[] = {"nvrtcVersion", "nvrtcCreateProgram", "nvrtcDestroyProgram", "nvrtcCompileProgram", "nvrtcGetProgramLogSize",
                                         "nvrtcGetProgramLog", "nvrtcGetPTXSize", "nvrtcGetPTX", "nvrtcGetCUBINSize", "nvrtcGetCUBIN",
                                         "nvrtcGetErrorString"};
    Nvrtc nvrtc;
    char why[NVRTC_WHY_MAX];
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        fake_reset();
        fake.lacks = needed[i];
        CHECK(!nvrtc_load(&fake_loader, NULL, 0, &nvrtc, why) && fake.libraries == 0);
        char want[100];
        snprintf(want, sizeof want, "; libnvrtc.so.13 has no function %s", needed[i]);
        CHECK(strstr(why, want) != NULL);
    }
    fake_reset();
    fake.lacks = "nvrtcGetSupportedArchs";
    CHECK(nvrtc_load(&fake_loader, NULL, 0, &nvrtc, why) && !nvrtc.api.archs);
    fake_reset();
    fake.fail = "version";
    fake.result = 7;
    CHECK(!nvrtc_load(&fake_loader, NULL, 0, &nvrtc, why) && fake.libraries == 0 && strstr(why, "does not tell its version"));
}

/* ---- compiling ---------------------------------------------------------------------------------------------------------- */

static CodeRequest request(CodeForm form) { return (CodeRequest){"t.cu", "text", 90, form, false}; }

static CodeStatus compile(Ctx *ctx, const CodeRequest *r, Code *code, StrBuf *why)
{
    Nvrtc nvrtc;
    char none[NVRTC_WHY_MAX];
    CHECK(nvrtc_load(&fake_loader, NULL, 0, &nvrtc, none));
    CodeWork work = {.request = *r}, *works = &work;
    sb_init(&work.why, ctx);
    nvrtc_compile(ctx, &nvrtc, 1, &works);
    CodeStatus status = work.status;
    *code = work.code;
    *why = work.why;
    CHECK(fake.programs == 0);
    CHECK((status == CODE_GOOD) == (why->len == 0));
    return status;
}

static void test_good(Ctx *ctx, void *user)
{
    (void)user;
    Code code;
    StrBuf why;
    CodeRequest r = request(CODE_CUBIN);
    fake_reset();
    CHECK(compile(ctx, &r, &code, &why) == CODE_GOOD && code.size == 12 && strcmp(code.bytes, "code of text") == 0 && !code.log[0]);
    CHECK(fake.on_thread);
    CHECK_TEXT(fake.options, "--gpu-architecture=sm_90 --std=c++17");
    r = request(CODE_PTX);
    r.line_info = true;
    fake.log = "a warning\n";
    CHECK(compile(ctx, &r, &code, &why) == CODE_GOOD && code.size == 12 && strcmp(code.bytes, "code of text") == 0);
    CHECK_TEXT(fake.options, "--gpu-architecture=compute_90 --std=c++17 --generate-line-info");
    CHECK_TEXT(code.log, "a warning");
}

static void test_arch(Ctx *ctx, void *user)
{
    (void)user;
    Code code;
    StrBuf why;
    CodeRequest r = request(CODE_CUBIN);
    r.arch = 100;
    fake_reset();
    CHECK(compile(ctx, &r, &code, &why) == CODE_BAD_ARCH && fake.compiles == 0);
    CHECK_TEXT(why.text, "NVRTC 13.0 compiles for sm_75, sm_80, sm_90, and not for sm_100");
    /* Where it cannot be asked, it says so itself when it compiles. */
    static const char *const calls[] = {"arch_count", "archs"};
    for (int i = 0; i < 2; i++) {
        fake_reset();
        fake.fail = calls[i];
        fake.result = 1;
        CHECK(compile(ctx, &r, &code, &why) == CODE_GOOD);
    }
}

static void test_calls_fail(Ctx *ctx, void *user)
{
    (void)user;
    static const struct {
        const char *call;
        CodeForm form;
        const char *name;
    } cases[] = {
        {"create", CODE_CUBIN, "nvrtcCreateProgram"}, {"compile", CODE_CUBIN, "nvrtcCompileProgram"}, {"cubin_size", CODE_CUBIN, "nvrtcGetCUBINSize"},
        {"cubin", CODE_CUBIN, "nvrtcGetCUBIN"},       {"ptx_size", CODE_PTX, "nvrtcGetPTXSize"},      {"ptx", CODE_PTX, "nvrtcGetPTX"},
    };
    Code code;
    StrBuf why;
    char want[200];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CodeRequest r = request(cases[i].form);
        fake_reset();
        fake.fail = cases[i].call;
        fake.result = 1;
        CHECK(compile(ctx, &r, &code, &why) == CODE_FAILED);
        snprintf(want, sizeof want, "%s of NVRTC 13.0 fails on t.cu: NVRTC_1", cases[i].name);
        CHECK_TEXT(why.text, want);
    }
    /* The log is only talk. */
    static const char *const logs[] = {"log_size", "log"};
    for (int i = 0; i < 2; i++) {
        CodeRequest r = request(CODE_CUBIN);
        fake_reset();
        fake.fail = logs[i];
        fake.result = 1;
        fake.log = "lost";
        CHECK(compile(ctx, &r, &code, &why) == CODE_GOOD && !code.log[0]);
    }
}

static bool no_thread(int n, void (*fn)(void *arg), void *arg)
{
    (void)n;
    (void)fn;
    (void)arg;
    return false;
}

static void test_no_thread(Ctx *ctx, void *user)
{
    (void)user;
    Nvrtc nvrtc;
    char none[NVRTC_WHY_MAX];
    CodeWork work = {.request = request(CODE_CUBIN)}, *works = &work;
    sb_init(&work.why, ctx);
    fake_reset();
    CHECK(nvrtc_load(&fake_loader, NULL, 0, &nvrtc, none));
    nvrtc.on_stacks = no_thread;
    nvrtc_compile(ctx, &nvrtc, 1, &works);
    CHECK(work.status == CODE_FAILED);
    CHECK_TEXT(work.why.text, "there is no thread with a stack of 64 MiB to compile on");
}

/* ---- several at a time ---------------------------------------------------------------------------------------------------- */

enum { BATCH = 9 };

static bool alone(int n, void (*fn)(void *arg), void *arg)
{
    CHECK(n >= 1);
    stack_run(fn, arg);
    return true;
}

static void compile_batch(Ctx *ctx, CodeWork works[BATCH], bool on_one)
{
    static char texts[BATCH][24];
    Nvrtc nvrtc;
    char none[NVRTC_WHY_MAX];
    CodeWork *list[BATCH];
    CHECK(nvrtc_load(&fake_loader, NULL, 0, &nvrtc, none));
    if (on_one)
        nvrtc.on_stacks = alone;
    for (int i = 0; i < BATCH; i++) {
        snprintf(texts[i], sizeof texts[i], "text %d", i);
        works[i] = (CodeWork){.request = {"t.cu", texts[i], 90, CODE_PTX, false}};
        sb_init(&works[i].why, ctx);
        list[i] = &works[i];
    }
    nvrtc_compile(ctx, &nvrtc, BATCH, list);
}

/* Each gets its own code; one that is refused is no harm to the others. */
static void test_batch(Ctx *ctx, void *user)
{
    CodeWork works[BATCH];
    (void)user;
    fake_reset();
    fake.bad = "text 4";
    compile_batch(ctx, works, false);
    CHECK(fake.programs == 0 && fake.compiles == BATCH);
    for (int i = 0; i < BATCH; i++) {
        CHECK(works[i].status == (i == 4 ? CODE_REFUSED : CODE_GOOD));
        if (i != 4)
            CHECK(strstr(works[i].code.bytes, works[i].request.text) != NULL);
    }
    const char *kept = strstr(works[4].why.text, "/"), *end = kept ? strchr(kept, ';') : NULL;
    CHECK(end && unlink(ctx_printf(ctx, "%.*s", (int)(end - kept), kept)) == 0);
}

static void batch_to_be_stopped(Ctx *ctx, void *user)
{
    CodeWork works[BATCH];
    (void)user;
    compile_batch(ctx, works, true);
}

/* The compilation at hand is finished, and no other one is begun. */
static void test_stopped(void)
{
    for (int k = 1; k <= BATCH; k++) {
        Brake brake = {0};
        Ctx *ctx = ctx_new(NULL, NULL);
        fake_reset();
        fake.pull = &brake;
        fake.pull_at = k;
        ctx->brake = &brake;
        CHECK(!ctx_try(ctx, batch_to_be_stopped, NULL));
        CHECK(fake.programs == 0 && fake.compiles == k);
        ctx_free(ctx);
    }
}

/* A text that NVRTC refuses is kept. */
static void test_refused(Ctx *ctx, void *user)
{
    (void)user;
    Code code;
    StrBuf why;
    CodeRequest r = request(CODE_CUBIN);
    for (int result = 5; result <= 6; result++) {
        fake_reset();
        fake.fail = "compile";
        fake.result = result;
        fake.log = "t.cu(1): error: this is no CUDA C\n";
        CHECK(compile(ctx, &r, &code, &why) == CODE_REFUSED && !code.bytes);
        CHECK(strstr(why.text, "a bug in risec, not in your program: NVRTC 13.0 refuses the CUDA C of t.cu (NVRTC_"));
        CHECK(strstr(why.text, "\noptions: --gpu-architecture=sm_90 --std=c++17\nt.cu(1): error: this is no CUDA C"));
        char path[500] = "", text[10] = "";
        const char *at = strstr(why.text, "is kept in ");
        CHECK(at && sscanf(at, "is kept in %499[^;]", path) == 1);
        FILE *file = fopen(path, "r");
        CHECK(file && fread(text, 1, sizeof text, file) == 4 && strcmp(text, "text") == 0);
        if (file)
            fclose(file);
        unlink(path);
    }
    char before[UNIT_PATH], dir[UNIT_PATH], absent[UNIT_PATH + 16];
    const char *tmp = getenv("TMPDIR");
    snprintf(before, sizeof before, "%s", tmp ? tmp : "/tmp");
    unit_folder(dir);
    snprintf(absent, sizeof absent, "%s/absent", dir);
    setenv("TMPDIR", absent, 1);
    CHECK(compile(ctx, &r, &code, &why) == CODE_REFUSED && strstr(why.text, "the text cannot be kept in a temporary file: "));
    setenv("TMPDIR", before, 1);
    rmdir(dir);
}

/* ---- memory that runs out ------------------------------------------------------------------------------------------------- */

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

static void compile_long(Ctx *ctx, void *user)
{
    Code code;
    StrBuf why;
    CodeRequest r = request(CODE_CUBIN);
    (void)user;
    compile(ctx, &r, &code, &why);
    CHECK(strlen(code.log) == 99999);
}

static void test_memory(void)
{
    static char log[100000];
    memset(log, 'x', sizeof log - 1);
    long fail_at = 1;
    for (bool enough = false; !enough; fail_at++) {
        Tight tight = {0};
        Allocator alloc = {&tight, tight_alloc, tight_free};
        Ctx *ctx = ctx_new(&alloc, NULL);
        tight = (Tight){0, fail_at};
        fake_reset();
        fake.log = log;
        enough = ctx_try(ctx, compile_long, NULL);
        CHECK(fake.programs == 0);
        ctx_free(ctx);
    }
    CHECK(fail_at > 2); /* it failed at least once */
}

/* ---- the way through the cache -------------------------------------------------------------------------------------------- */

static CodeStatus through(Ctx *ctx, Toolchain *t, const CodeRequest *r, Code *code)
{
    CodeWork work = {.request = *r};
    toolchain_compile(ctx, t, 1, &work);
    *code = work.code;
    return work.status;
}

static void test_toolchain(Ctx *ctx, void *user)
{
    const char *dir = user;
    fake_reset();
    CodeRequest r = request(CODE_CUBIN);
    Code code;
    Toolchain t;
    toolchain_init(&t, &fake_loader, NULL, dir, NULL, 0);
    CHECK(through(ctx, &t, &r, &code) == CODE_GOOD && !code.cached && fake.compiles == 1);
    CHECK(through(ctx, &t, &r, &code) == CODE_GOOD && code.cached && fake.compiles == 1 && strcmp(code.bytes, "code of text") == 0);
    toolchain_done(&t);

    /* Another process: a hit does not load the library. */
    fake.opened[0] = 0;
    toolchain_init(&t, &fake_loader, NULL, dir, NULL, 0);
    CHECK(through(ctx, &t, &r, &code) == CODE_GOOD && code.cached && !fake.opened[0] && code.major == 13);
    /* Whatever matters makes another entry. */
    CodeRequest others[] = {r, r, r, r, r};
    others[0].text = "texu";
    others[1].arch = 80;
    others[2].form = CODE_PTX;
    others[3].line_info = true;
    others[4].name = "u.cu";
    for (int i = 0; i < 5; i++) {
        CHECK(through(ctx, &t, &others[i], &code) == CODE_GOOD && !code.cached && fake.compiles == 2 + i);
        CHECK(through(ctx, &t, &others[i], &code) == CODE_GOOD && code.cached);
    }
    toolchain_done(&t);

    /* Another NVRTC in the same place: seen by its file. */
    fake.minor = 1;
    fake.changed = 1;
    toolchain_init(&t, &fake_loader, NULL, dir, NULL, 0);
    CHECK(through(ctx, &t, &r, &code) == CODE_GOOD && !code.cached && code.minor == 1);
    CHECK(through(ctx, &t, &r, &code) == CODE_GOOD && code.cached && code.minor == 1);
    toolchain_done(&t);
    /* Another driver, which takes none of that version. */
    fake.opened[0] = 0;
    toolchain_init(&t, &fake_loader, NULL, dir, NULL, 12);
    CHECK(through(ctx, &t, &r, &code) == CODE_NO_COMPILER && !strstr(fake.opened, "so.13"));
    toolchain_done(&t);

    CacheReport report;
    Cache cache;
    cache_init(&cache, NULL, &fake_loader, dir);
    cache_report(&cache, &report);
    CHECK(report.entries == 7 && report.hits == 8 && report.misses == 7);

    /* Without a library nothing is tried twice, and without a cache all is compiled. */
    fake_reset();
    fake.has = NULL;
    toolchain_init(&t, &fake_loader, NULL, "", NULL, 0);
    CHECK(through(ctx, &t, &r, &code) == CODE_NO_COMPILER);
    fake.opened[0] = 0;
    CHECK(through(ctx, &t, &r, &code) == CODE_NO_COMPILER && !fake.opened[0]);
    toolchain_done(&t);
    fake_reset();
    toolchain_init(&t, &fake_loader, NULL, "", NULL, 0);
    CHECK(through(ctx, &t, &r, &code) == CODE_GOOD && through(ctx, &t, &r, &code) == CODE_GOOD && fake.compiles == 2);
    /* What is refused is not kept. */
    toolchain_done(&t);
    fake.fail = "compile";
    fake.result = 1;
    toolchain_init(&t, &fake_loader, NULL, dir, NULL, 0);
    r.text = "bad";
    CHECK(through(ctx, &t, &r, &code) == CODE_FAILED);
    fake.fail = NULL;
    CHECK(through(ctx, &t, &r, &code) == CODE_GOOD && !code.cached);
    toolchain_done(&t);
    CHECK(cache_clear(&cache) && rmdir(dir) == 0);
}

static void run(void (*fn)(Ctx *ctx, void *user), void *user)
{
    Ctx *ctx = ctx_new(NULL, NULL);
    CHECK(ctx && ctx_try(ctx, fn, user));
    ctx_free(ctx);
}

int main(void)
{
    test_order();
    test_places();
    test_missing_functions();
    run(test_good, NULL);
    run(test_arch, NULL);
    run(test_calls_fail, NULL);
    run(test_no_thread, NULL);
    run(test_batch, NULL);
    test_stopped();
    run(test_refused, NULL);
    test_memory();
    char dir[UNIT_PATH];
    if (unit_folder(dir))
        run(test_toolchain, dir);
    return unit_end();
}
