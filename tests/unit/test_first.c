/* The first launch of one-line programs: which kernels are compiled, and how much text that is. On a driver of our own (fake_gpu.h).
 *
 * test_first --measure: with NVIDIA's NVRTC in place of the fake one, each program five times in a process of its own; prints the table of bench/results/README.md.
 * test_first --kernels FILE...: how long NVIDIA's NVRTC takes for the text of each kernel of the files, in processor seconds. */
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake_gpu.h"
#include "unit.h"

static rise_error err;
#define GOOD(call)                                                      \
    do {                                                                \
        if (!CHECK((call) == RISE_OK)) {                                \
            printf("%s: %s\n", rise_status_name(err.status), err.text); \
            exit(unit_end());                                           \
        }                                                               \
    } while (0)

#define SOFTMAX(rows) rows " |> map(fun row => let top = row |> reduce(max, -inf) in let es = row |> map(fun x => exp(x - top)) in " \
                           "let total = es |> reduce((+), 0) in es |> map(fun e => e / total))"
#define PRODUCT "a |> map(fun row => b |> transpose |> map(fun column => zip(row, column) |> map(fun (p, q) => p * q) |> reduce((+), 0)))"

/* A row or two for each line of the table "Which kernels you get" in docs/scheduling.md. */
static const struct {
    const char *what, *text;
    int64_t sizes[3];
    int kernels; /* of a launch */
} programs[] = {
    {"a sum", "entry e {n: nat} (xs: n.f32): f32 = xs |> reduce((+), 0)\n", {1 << 24}, 1},
    {"a sum of few elements", "entry e {n: nat} (xs: n.f32): f32 = xs |> reduce((+), 0)\n", {1000}, 1},
    {"a running sum", "entry e {n: nat} (xs: n.f32): n.f32 = xs |> scan((+), 0)\n", {1 << 24}, 1},
    {"a histogram", "entry e {n: nat} (xs: n.idx[256]): 256.i32 = xs |> map(fun b => (b, 1)) |> reduceByIndex((+), 0, 256)\n", {1 << 24}, 2},
    {"a scatter", "entry e {n m: nat} (is: n.idx[m]) (xs: n.f32) (ys: m.f32): m.f32 = xs |> scatterUnchecked(is, ys)\n", {1 << 20, 1 << 21}, 2},
    {"a transposition", "entry e {n m: nat} (a: n.m.f32): m.n.f32 = a |> transpose\n", {4096, 4096}, 1},
    {"sums of columns", "entry e {n m: nat} (a: n.m.f32): m.f32 = a |> transpose |> map(reduce((+), 0))\n", {4096, 4096}, 1},
    {"a product of matrices", "entry e {n m k: nat} (a: n.k.f32) (b: k.m.f32): n.m.f32 = " PRODUCT "\n", {4096, 4096, 4096}, 1},
    {"a small product", "entry e {n m k: nat} (a: n.k.f32) (b: k.m.f32): n.m.f32 = " PRODUCT "\n", {256, 256, 256}, 1},
    {"sums of rows", "entry e {n m: nat} (a: n.m.f32): n.f32 = a |> map(reduce((+), 0))\n", {4096, 4096}, 1},
    {"softmax of rows", "entry e {n m: nat} (a: n.m.f32): n.m.f32 = " SOFTMAX("a") "\n", {4096, 1024}, 1},
    {"softmax of columns", "entry e {n m: nat} (a: n.m.f32): m.n.f32 = " SOFTMAX("a |> transpose") "\n", {4096, 1024}, 5},
    {"softmax of columns, in place", "entry e {n m: nat} (a: n.m.f32): n.m.f32 = " SOFTMAX("a |> transpose") " |> transpose\n", {4096, 1024}, 5},
    {"a map", "entry e {n: nat} (xs: n.f32): n.f32 = xs |> map(fun x => 2 * x)\n", {1 << 24}, 1},
};
enum { N_PROGRAMS = sizeof programs / sizeof programs[0] };

/* ---- one launch ------------------------------------------------------------------------------------------------------------------ */

typedef struct First {
    rise_context *context;
    rise_program *program;
    rise_entry *entry;
    rise_call *call;
} First;

/* Addresses that nothing reads; each argument has its own. */
static void *far_away(int k) { return (void *)(uintptr_t)(0x100000000ull + ((unsigned long long)k << 44)); }

static void set_arguments(First *f, const int64_t *sizes)
{
    const Plan *plan = &entry_of(f->entry, NULL)->plan;
    Launch launch = {.n_sizes = plan->core->n_sizes, .sizes = call_of(f->call, NULL)->set_values};
    for (int i = 0; i < plan->core->n_sizes; i++)
        GOOD(rise_call_size(f->call, plan->core->sizes[i]->name, sizes[i], &err));
    for (int k = 0; k < plan->n_arguments; k++) {
        const Argument *a = &plan->arguments[k];
        int64_t shape[8];
        for (int d = 0; d < a->rank; d++)
            CHECK(launch_nat(NULL, plan->core, &launch, a->extents[d], &shape[d]));
        if (a->is_result)
            GOOD(rise_call_output(f->call, a->name, rise_type_of(a->elem), far_away(k), (size_t)1 << 40, RISE_DEVICE, &err));
        else
            GOOD(rise_call_input(f->call, a->name, rise_type_of(a->elem), a->rank, shape, far_away(k), RISE_DEVICE, &err));
    }
}

static First open_first(int which, const LibraryLoader *loader)
{
    First f = {0};
    rise_context_options options = {.size = sizeof options, .device = RISE_GPU};
    RiseSeams seams = {.loader = loader, .cache_dir = ""};
    GOOD(context_new(&options, &seams, &f.context, &err));
    GOOD(rise_program_from_text(f.context, "one.rise", programs[which].text, (size_t)-1, &f.program, &err));
    GOOD(rise_entry_get(f.program, NULL, NULL, &f.entry, &err));
    GOOD(rise_call_new(f.entry, &f.call, &err));
    set_arguments(&f, programs[which].sizes);
    return f;
}

static void close_first(First *f)
{
    rise_call_free(f->call);
    rise_program_free(f->program);
    rise_context_free(f->context);
    CHECK(fake_gpu.modules == 0 && fake_gpu.memories == 0 && fake_gpu.misuse == 0);
}

/* ---- what is compiled ------------------------------------------------------------------------------------------------------------- */

static size_t compiled_bytes;
static int compiled_kernels;

static int note_text(const char *text)
{
    compiled_bytes += strlen(text);
    for (const char *at = text; (at = strstr(at, "__global__")); at++)
        compiled_kernels++;
    return 0;
}

static void test_what(int which)
{
    fake_gpu_start();
    fake_gpu.compile = note_text;
    compiled_bytes = 0;
    compiled_kernels = 0;
    First f = open_first(which, &fake_loader);
    CHECK(fake_gpu.compilations == 0);
    GOOD(rise_call_launch(f.call, NULL, &err));
    int all = entry_of(f.entry, NULL)->plan.n_variants;
    if (!CHECK(fake_gpu.compilations == programs[which].kernels && compiled_kernels == programs[which].kernels && fake_gpu.launches == programs[which].kernels))
        printf("%s: %ld texts with %d kernels are compiled, %ld launched\n", programs[which].what, fake_gpu.compilations, compiled_kernels, fake_gpu.launches);
    /* Its part of the text: what else stands there is not compiled. The forms of a kernel share most of theirs. */
    CHECK(all > programs[which].kernels && compiled_bytes * 5 < entry_of(f.entry, NULL)->cuda_size * 3);
    GOOD(rise_call_launch(f.call, NULL, &err));
    CHECK(fake_gpu.compilations == programs[which].kernels);
    printf("%s: %d of %d kernels, %zu of %zu bytes\n", programs[which].what, programs[which].kernels, all, compiled_bytes, entry_of(f.entry, NULL)->cuda_size);
    close_first(&f);
}

/* ---- with NVIDIA's NVRTC ------------------------------------------------------------------------------------------------------------ */

static void *mixed_open(void *user, const char *name)
{
    return strcmp(name, "libcuda.so.1") == 0 ? fake_loader.open(user, name) : library_loader.open(library_loader.user, name);
}

static void *mixed_symbol(void *user, void *library, const char *name)
{
    return strncmp(name, "cu", 2) == 0 ? fake_loader.symbol(user, library, name) : library_loader.symbol(library_loader.user, library, name);
}

static void mixed_close(void *user, void *library) { (void)user, (void)library; }
static bool mixed_path(void *user, void *function, char *path, size_t size) { return fake_loader.path(user, function, path, size); }
static bool mixed_identify(void *user, const char *path, FileIdentity *identity) { return fake_loader.identify(user, path, identity); }
static const char *mixed_env(void *user, const char *name) { return (void)user, library_loader.env(library_loader.user, name); }
static const LibraryLoader mixed = {NULL, mixed_open, mixed_symbol, mixed_close, mixed_path, mixed_identify, mixed_env};

static double clock_of(clockid_t which)
{
    struct timespec t;
    clock_gettime(which, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct Loading {
    bool good;
    Toolchain *toolchain;
} Loading;

static void load_it(Ctx *ctx, void *user)
{
    Loading *l = user;
    StrBuf why;
    sb_init(&why, ctx);
    l->good = toolchain_nvrtc(l->toolchain, &why) != NULL;
}

typedef struct Times { /* processor seconds, of all threads */
    int kernels;
    double entry, first, all;
} Times;

static Times measure(int which, bool all)
{
    Times t = {0};
    double start = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    fake_gpu_start();
    fake_gpu.any_code = true;
    First f = open_first(which, &mixed);
    t.entry = clock_of(CLOCK_PROCESS_CPUTIME_ID) - start;
    t.kernels = entry_of(f.entry, NULL)->plan.n_variants;
    Ctx *ctx = ctx_new(NULL, NULL);
    Loading loading = {false, &context_of(f.context, NULL)->toolchain};
    if (!ctx_try(ctx, load_it, &loading) || !loading.good) {
        puts("there is no NVRTC");
        exit(2);
    }
    start = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    GOOD(rise_call_launch(f.call, NULL, &err));
    t.first = clock_of(CLOCK_PROCESS_CPUTIME_ID) - start;
    const void *cubin;
    start = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    if (all)
        GOOD(rise_entry_cubin(f.entry, NULL, &cubin, NULL, &err));
    t.all = clock_of(CLOCK_PROCESS_CPUTIME_ID) - start;
    ctx_free(ctx);
    close_first(&f);
    return t;
}

/* In a process of its own, which has loaded and compiled nothing. */
static Times measure_apart(int which, bool all)
{
    Times t = {0};
    int ends[2], status = 0;
    fflush(stdout);
    if (!CHECK(pipe(ends) == 0))
        return t;
    pid_t child = fork();
    if (child == 0) {
        t = measure(which, all);
        _exit(write(ends[1], &t, sizeof t) == sizeof t ? unit_end() : 1);
    }
    close(ends[1]);
    CHECK(child > 0 && read(ends[0], &t, sizeof t) == sizeof t && waitpid(child, &status, 0) == child && status == 0);
    close(ends[0]);
    return t;
}

/* The least of each: what others do on the machine only adds. */
static void measure_all(void)
{
    enum { RUNS = 5 };
    puts("| program | kernels | the entry is made | first launch | all kernels at once |\n|---|---|---|---|---|");
    for (int i = 0; i < N_PROGRAMS; i++) {
        Times least = measure_apart(i, true);
        for (int k = 1; k < RUNS; k++) {
            Times t = measure_apart(i, false);
            least.entry = t.entry < least.entry ? t.entry : least.entry;
            least.first = t.first < least.first ? t.first : least.first;
        }
        printf("| %s | %d of %d | %.2f | %.2f | %.2f |\n", programs[i].what, programs[i].kernels, least.kernels, least.entry, least.first, least.all);
    }
}

/* ---- kernel by kernel --------------------------------------------------------------------------------------------------------------- */

static void time_kernels(const Nvrtc *nvrtc, const char *path, rise_entry *entry)
{
    const char *all;
    GOOD(rise_entry_cuda(entry, &all, NULL, &err));
    for (int k = 0; k < entry_of(entry, NULL)->plan.n_variants; k++) {
        Ctx *ctx = ctx_new(NULL, NULL);
        StrBuf text;
        sb_init(&text, ctx);
        cuda_piece_text(&entry_of(entry, NULL)->pieces, k, entry_of(entry, NULL)->cuda, false, &text);
        CodeWork work = {.request = {.name = "e.cu", .text = text.text, .arch = 90, .form = CODE_CUBIN}}, *works = &work;
        double start = clock_of(CLOCK_PROCESS_CPUTIME_ID);
        nvrtc_compile(ctx, nvrtc, 1, &works);
        CHECK(work.status == CODE_GOOD);
        printf("%.3f %6zu %s %s\n", clock_of(CLOCK_PROCESS_CPUTIME_ID) - start, strlen(text.text), path, entry_of(entry, NULL)->plan.variants[k]->name);
        ctx_free(ctx);
    }
}

static void time_file(const Nvrtc *nvrtc, const char *path)
{
    First f = {0};
    rise_context_options options = {.size = sizeof options, .device = RISE_GPU};
    RiseSeams seams = {.loader = &fake_loader, .cache_dir = ""};
    fake_gpu_start();
    GOOD(context_new(&options, &seams, &f.context, &err));
    GOOD(rise_program_from_file(f.context, path, &f.program, &err));
    for (int i = 0; i < rise_program_entry_count(f.program); i++) {
        GOOD(rise_entry_get(f.program, rise_program_entry_name(f.program, i), NULL, &f.entry, &err));
        time_kernels(nvrtc, path, f.entry);
    }
    close_first(&f);
}

static void time_files(int n, char **paths)
{
    Nvrtc nvrtc;
    char why[NVRTC_WHY_MAX];
    if (!nvrtc_load(&library_loader, NULL, 0, &nvrtc, why)) {
        puts(why);
        exit(2);
    }
    for (int i = 0; i < n; i++)
        time_file(&nvrtc, paths[i]);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1 && strcmp(argv[1], "--measure") == 0)
        measure_all();
    else if (argc > 1 && strcmp(argv[1], "--kernels") == 0)
        time_files(argc - 2, argv + 2);
    else
        for (int i = 0; i < N_PROGRAMS; i++)
            test_what(i);
    return unit_end();
}
