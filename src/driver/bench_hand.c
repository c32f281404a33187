/* realpath is of X/Open. */
#define _XOPEN_SOURCE 700
#include "driver/bench_hand.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/sha256.h"

extern char **environ;

enum { SHOWN_LINES = 8, KEY_BYTES = 8 };

/* ---- the file --------------------------------------------------------------------------------------------------------------- */

static bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

static bool mentions(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = text; (at = strstr(at, name)) != NULL; at++)
        if ((at == text || !is_word(at[-1])) && !is_word(at[n]))
            return true;
    return false;
}

bool bench_hand_read(Ctx *ctx, Driver *d, const char *path, const char *entry, BenchHand *hand)
{
    char *text = NULL;
    size_t size = 0;
    *hand = (BenchHand){.path = path};
    if (ctx->files.read(ctx->files.user, ctx, path, FILE_ANY, LIMIT_SOURCE_BYTES, &text, &size) != FILE_OK) {
        driver_usage(ctx, d, E0655, "--vs %s: the file cannot be read", path);
        return false;
    }
    hand->text = text;
    const char *name = ctx_printf(ctx, "%s_hand", entry);
    if (mentions(text, name))
        return true;
    Diag *diag = driver_usage(ctx, d, E0655, "--vs %s: it has no function `%s`", path, name);
    diag_help(ctx, diag, "`extern \"C\" int %s(results..., inputs..., sizes..., cudaStream_t stream)` is what is called", name);
    return false;
}

const char *bench_hand_wrapper(Ctx *ctx, const char *path, const char *entry, int n_buffers, const bool *values, int n_sizes)
{
    StrBuf out;
    sb_init(&out, ctx);
    sb_printf(&out, "#include \"%s\"\n", path);
    sb_puts(&out, "#include <type_traits>\n"
                  "namespace risec_bench {\n"
                  "struct Narrow {};\n"
                  "struct Buffer {\n"
                  "    void *at;\n"
                  "    template <typename T> operator T *() const { return static_cast<T *>(at); }\n"
                  "};\n"
                  "struct Value {\n"
                  "    const void *at;\n"
                  "    template <typename T> operator T() const\n"
                  "    {\n"
                  "        static_assert(!std::is_pointer<T>::value, \"a scalar is a parameter by value\");\n"
                  "        return *static_cast<const T *>(at);\n"
                  "    }\n"
                  "};\n"
                  "struct Size {\n"
                  "    long long value;\n"
                  "    template <typename T> operator T() const\n"
                  "    {\n"
                  "        if (static_cast<long long>(static_cast<T>(value)) != value)\n"
                  "            throw Narrow();\n"
                  "        return static_cast<T>(value);\n"
                  "    }\n"
                  "};\n"
                  "}\n"
                  "extern \"C\" int risec_bench_hand(void *const *buffers, const long long *sizes, void *stream)\n"
                  "{\n"
                  "    using namespace risec_bench;\n"
                  "    auto run = [&] {\n"
                  "        return ");
    sb_printf(&out, "%s_hand(", entry);
    for (int i = 0; i < n_buffers; i++)
        sb_printf(&out, "%s{buffers[%d]}, ", values[i] ? "Value" : "Buffer", i);
    for (int i = 0; i < n_sizes; i++)
        sb_printf(&out, "Size{sizes[%d]}, ", i);
    sb_puts(&out, "static_cast<cudaStream_t>(stream));\n"
                  "    };\n"
                  "    try {\n"
                  "        if constexpr (std::is_void<decltype(run())>::value) {\n"
                  "            run();\n"
                  "            return static_cast<int>(cudaGetLastError());\n"
                  "        } else {\n"
                  "            return static_cast<int>(run());\n"
                  "        }\n"
                  "    } catch (Narrow) {\n");
    sb_printf(&out, "        return %d;\n    }\n}\n", BENCH_HAND_NARROW);
    return out.text;
}

/* ---- nvcc --------------------------------------------------------------------------------------------------------------------- */

const char *nvcc_find(Ctx *ctx)
{
    const char *own = getenv("NVCC"), *path = getenv("PATH");
    if (own && own[0])
        return own;
    for (const char *at = path ? path : ""; *at;) {
        int n = (int)strcspn(at, ":");
        const char *file = ctx_printf(ctx, "%.*s/nvcc", n, at);
        if (n && access(file, X_OK) == 0)
            return file;
        at += n + (at[n] == ':');
    }
    const char *homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    for (size_t i = 0; i < sizeof homes / sizeof homes[0]; i++) {
        const char *file = homes[i] && homes[i][0] ? ctx_printf(ctx, "%s/bin/nvcc", homes[i]) : NULL;
        if (file && access(file, X_OK) == 0)
            return file;
    }
    return NULL;
}

/* Runs it with its messages in `log`; its exit code, or -1. */
static int run_program(char *const *argv, const char *log)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return -1;
    bool started = posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC, 0600) == 0 &&
                   posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO) == 0 && posix_spawnp(&child, argv[0], &actions, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (!started)
        return -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

const char *nvcc_version(Ctx *ctx, const char *nvcc)
{
    const char *folder = getenv("TMPDIR"), *version = NULL;
    char *log = strcpy(ctx_alloc(ctx, PATH_MAX), ""), line[400];
    snprintf(log, PATH_MAX, "%s/risec-XXXXXX", folder && folder[0] ? folder : "/tmp");
    int made = mkstemp(log);
    if (made < 0)
        return NULL;
    close(made);
    char *argv[] = {strcpy(ctx_alloc(ctx, strlen(nvcc) + 1), nvcc), strcpy(ctx_alloc(ctx, 16), "--version"), NULL};
    FILE *file = run_program(argv, log) == 0 ? fopen(log, "r") : NULL;
    while (file && !version && fgets(line, sizeof line, file)) {
        const char *at = strstr(line, "release ");
        if (at)
            version = intern(ctx, at + 8, strcspn(at + 8, ", \n"));
    }
    if (file)
        fclose(file);
    unlink(log);
    return version;
}

/* The first lines of what nvcc said, as notes. */
static void note_log(Ctx *ctx, Diag *diag, const char *log)
{
    char line[400];
    FILE *file = fopen(log, "r");
    for (int i = 0; file && i < SHOWN_LINES && fgets(line, sizeof line, file); i++) {
        line[strcspn(line, "\n")] = 0;
        if (line[0])
            diag_note(ctx, diag, NO_SPAN, "%s", line);
    }
    if (file)
        fclose(file);
}

static bool compile(Ctx *ctx, Driver *d, const char *folder, const char *wrapper, const char *arch, const char *object, const BenchHand *hand)
{
    const char *source = ctx_printf(ctx, "%s/hand.cu", folder), *log = ctx_printf(ctx, "%s/log", folder);
    const char *nvcc = nvcc_find(ctx);
    if (!nvcc) {
        driver_fail(d, STATUS_DEVICE);
        Diag *diag = diag_error(ctx, E0655, NO_SPAN, "--vs %s: there is no nvcc to compile it", hand->path);
        diag_help(ctx, diag, "nvcc is in the CUDA toolkit; NVCC, PATH or CUDA_HOME tells where");
        return false;
    }
    if (!driver_write(ctx, d, source, wrapper, strlen(wrapper)))
        return false;
    const char *argv[] = {nvcc, "-O3", "-std=c++17", ctx_printf(ctx, "-arch=%s", arch), "-shared", "-Xcompiler", "-fPIC", "-o", object, source, NULL};
    char *copies[sizeof argv / sizeof argv[0]] = {NULL};
    for (int i = 0; argv[i]; i++)
        copies[i] = strcpy(ctx_alloc(ctx, strlen(argv[i]) + 1), argv[i]);
    int code = run_program(copies, log);
    if (code != 0) {
        Diag *diag = driver_usage(ctx, d, E0655, "--vs %s: %s", hand->path, code < 0 ? "nvcc cannot be run" : "nvcc does not compile it, with the parameters that it is called with");
        note_log(ctx, diag, log);
    }
    unlink(source);
    unlink(log);
    return code == 0;
}

static bool load(Ctx *ctx, Driver *d, const char *object, BenchHand *hand)
{
    hand->library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (hand->library)
        *(void **)&hand->run = dlsym(hand->library, "risec_bench_hand");
    if (hand->run)
        return true;
    const char *why = dlerror();
    driver_usage(ctx, d, E0655, "--vs %s: what nvcc made of it cannot be loaded: %s", hand->path, why ? why : object);
    return false;
}

/* All that decides what is compiled, but for what FILE.cu includes. */
static const char *object_name(Ctx *ctx, const char *entry, const char *wrapper, const char *text, const char *arch)
{
    Sha256 sha;
    unsigned char digest[SHA256_SIZE];
    StrBuf name;
    sha256_init(&sha);
    sha256_add(&sha, wrapper, strlen(wrapper) + 1);
    sha256_add(&sha, text, strlen(text) + 1);
    sha256_add(&sha, arch, strlen(arch) + 1);
    sha256_end(&sha, digest);
    sb_init(&name, ctx);
    sb_printf(&name, "%s_hand_", entry);
    for (int i = 0; i < KEY_BYTES; i++)
        sb_printf(&name, "%02x", digest[i]);
    sb_puts(&name, ".so");
    return name.text;
}

bool bench_hand_load(Ctx *ctx, Driver *d, const char *entry, int n_buffers, const bool *values, int n_sizes, const char *arch, const char *keep, BenchHand *hand)
{
    char absolute[PATH_MAX];
    if (!realpath(hand->path, absolute) || strpbrk(absolute, "\"\\\n")) {
        driver_usage(ctx, d, E0655, "--vs %s: the path cannot stand in an #include", hand->path);
        return false;
    }
    const char *wrapper = bench_hand_wrapper(ctx, absolute, entry, n_buffers, values, n_sizes);
    const char *kept = keep ? ctx_printf(ctx, "%s/%s", keep, object_name(ctx, entry, wrapper, hand->text, arch)) : NULL;
    if (kept && access(kept, R_OK) == 0)
        return load(ctx, d, kept, hand);
    const char *base = keep ? keep : getenv("TMPDIR");
    char *folder = NULL;
    const char *pattern = ctx_printf(ctx, "%s/risec-bench-XXXXXX", base && base[0] ? base : "/tmp");
    folder = strcpy(ctx_alloc(ctx, strlen(pattern) + 1), pattern);
    if (!mkdtemp(folder)) {
        driver_usage(ctx, d, E0628, "%s: a folder cannot be made there: %s", pattern, strerror(errno));
        return false;
    }
    const char *object = ctx_printf(ctx, "%s/hand.so", folder);
    bool good = compile(ctx, d, folder, wrapper, arch, object, hand);
    if (good && kept && rename(object, kept) != 0)
        kept = NULL;
    good = good && load(ctx, d, kept ? kept : object, hand);
    unlink(object); /* what is loaded stays */
    rmdir(folder);
    return good;
}

void bench_hand_close(BenchHand *hand)
{
    if (hand->library)
        dlclose(hand->library);
    hand->library = NULL;
    hand->run = NULL;
}
