/* librise as a program sees it, on the simulator and the reference interpreter: only rise.h is included.
 *
 *     test_api [--threads N] [--operations N]
 *
 * Every function, the mistakes that callers make, memory that runs out at every allocation, and threads. The GPU is in test_api_gpu.c. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "rise.h"
#include "unit.h"

static const char SCALE[] = "entry scale {n: nat} (factor: f32) (xs: n.f32): n.f32 = xs |> mapGlobal(fun x => x * factor)\n";
static const char MANY[] =
    "-- Two entries; sizes that shapes tell and one that they do not; tunables; facts; several results; indices.\n"
    "entry pairs {n: nat} {m: nat} (block: nat = 32 in [32, 64]) (xs: (2*n).f32) (ys: (n + m).i32): (n.f32, m.i32)\n"
    "  where n % 2 == 0, block % 32 == 0 =\n"
    "  (xs |> take(n) |> mapGlobal(id), ys |> drop(n) |> mapGlobal(fun y => y + 1))\n"
    "entry pick {n m: nat} (is: m.idx[n]) (xs: n.f32): m.f32 = xs |> gather(is) |> mapGlobal(id)\n"
    "entry ones (n: nat): n.i32 = generate(fun (i: idx[n]) => 1i32) |> mapGlobal(id)\n";
static const char RACE[] = "entry race {n: nat} (xs: n.f32): 32.f32 where n >= 64 =\n"
                           "  xs |> take(64) |> split(64) |> mapBlock(fun part => part |> split(2) |> mapThreads(reduceSeq((+), 0))) |> join\n";

static const char POWER[] = "entry power (k: nat) (xs: 10.i32): 10.i32 = generate{n = 10}(fun i => xs[(2 ^ k * 3 + i) % 10]) |> mapGlobal(id)\n";
static const char ONCE_Y[] = "entry once {n: nat} (xs: n.1.i32): n.1.i32 = xs |> mapBlock[y, once](mapThreads(id))\n";
/* No kernel is made of it: the array that the function computes is stored nowhere. */
static const char NO_KERNEL[] = "entry power (k: nat) (xs: 10.i32): 10.i32 = xs |> mapGlobal(fun x =>\n"
                                "  let ys = generate{n = 10}(fun i => xs[(2 ^ k * 3 + i) % 10]) |> mapThreads(fun y => y + 1) in ys[0] + x)\n";

static rise_error err;
/* What it was for makes no sense without it. */
#define GOOD(call)                                                                 \
    do {                                                                           \
        if (!CHECK((call) == RISE_OK)) {                                           \
            printf("%s: %s\n", rise_status_name(err.status), err.text);            \
            exit(unit_end());                                                      \
        }                                                                          \
    } while (0)
/* It fails so, and the text has `part` in it. */
#define BAD(call, code, part)                                                                       \
    do {                                                                                            \
        memset(&err, 0xee, sizeof err);                                                             \
        int status_ = (call);                                                                       \
        if (!CHECK(status_ == (code) && err.status == (code) && strstr(err.text, (part))))          \
            printf("got %s: %s\n", rise_status_name(status_), status_ ? err.text : "");             \
    } while (0)

typedef struct Told {
    int n, warnings, line;
    char code[8], message[256];
} Told;

static void note(void *user, const rise_diagnostic *d)
{
    Told *told = user;
    told->warnings += d->is_warning;
    if (told->n++ == 0) {
        told->line = d->line;
        snprintf(told->code, sizeof told->code, "%s", d->code);
        snprintf(told->message, sizeof told->message, "%s", d->message);
    }
}

static rise_context *open_context(int device, Told *told, const rise_allocator *allocator)
{
    rise_context_options options = {.size = sizeof options, .device = device, .diagnostic = told ? note : NULL, .diagnostic_user = told, .allocator = allocator};
    rise_context *context = NULL;
    GOOD(rise_context_new(&options, &context, &err));
    return context;
}

static rise_program *open_program(rise_context *context, const char *text)
{
    rise_program *program = NULL;
    GOOD(rise_program_from_text(context, "test.rise", text, (size_t)-1, &program, &err));
    return program;
}

/* ---- what works ---------------------------------------------------------------------------------------------------------- */

static void test_scale(int device)
{
    enum { N = 1000 };
    static float xs[N], ys[N];
    int64_t n = N, got = 0;
    float factor = 3;
    rise_context *context = open_context(device, NULL, NULL);
    rise_program *program = open_program(context, SCALE);
    rise_entry *entry = NULL, *again = NULL;
    rise_call *call = NULL;
    for (int i = 0; i < N; i++)
        xs[i] = (float)i;
    CHECK(rise_context_device(context) == device);
    CHECK(rise_context_device_name(context)[0] && rise_context_arch(context)[0] == 0 && !rise_context_lost(context));
    CHECK(rise_program_entry_count(program) == 1);
    CHECK_TEXT(rise_program_entry_name(program, 0), "scale");
    CHECK(!rise_program_entry_name(program, 1) && !rise_program_entry_name(program, -1));
    GOOD(rise_entry_get(program, NULL, NULL, &entry, &err));
    GOOD(rise_entry_get(program, "scale", NULL, &again, &err));
    CHECK(entry == again);
    CHECK_TEXT(rise_entry_name(entry), "scale");
    GOOD(rise_entry_load(entry, &err));
    GOOD(rise_call_new(entry, &call, &err));
    GOOD(rise_call_scalar(call, "factor", RISE_F32, &factor, &err));
    GOOD(rise_call_input(call, "xs", RISE_F32, 1, &n, xs, RISE_HOST, &err));
    GOOD(rise_call_launch(call, NULL, &err));
    GOOD(rise_call_wait(call, &err));
    GOOD(rise_call_read(call, "result", ys, sizeof ys, &err));
    CHECK(ys[0] == 0 && ys[1] == 3 && ys[999] == 2997);
    GOOD(rise_call_size_value(call, "n", &got, &err));
    CHECK(got == N);
    /* Again: another scalar, a shorter input, the result in place. */
    factor = 2;
    n = 10;
    GOOD(rise_call_scalar(call, "factor", RISE_F32, &factor, &err));
    GOOD(rise_call_input(call, "xs", RISE_F32, 1, &n, xs + 100, RISE_DEVICE, &err));
    GOOD(rise_call_output(call, "result", RISE_F32, ys, 10 * sizeof *ys, RISE_HOST, &err));
    GOOD(rise_call_prepare(call, &err));
    int rank = -1;
    int64_t shape[2] = {-1, -1};
    void *data = NULL;
    size_t bytes = 0;
    GOOD(rise_call_shape(call, "result", 2, &rank, shape, &err));
    GOOD(rise_call_result(call, "result", &data, &bytes, &err));
    CHECK(rank == 1 && shape[0] == 10 && shape[1] == -1 && data == ys && bytes == 40);
    GOOD(rise_call_launch(call, NULL, &err));
    CHECK(ys[0] == 200 && ys[9] == 218 && ys[10] == 30);
    /* Nothing at all. */
    n = 0;
    GOOD(rise_call_input(call, "xs", RISE_F32, 1, &n, NULL, RISE_HOST, &err));
    GOOD(rise_call_launch(call, NULL, &err));
    GOOD(rise_call_read(call, "result", NULL, 0, &err));
    /* In any order: what is needed stays. */
    rise_context_free(context);
    rise_program_free(program);
    n = 1;
    GOOD(rise_call_input(call, "xs", RISE_F32, 1, &n, xs + 7, RISE_HOST, &err));
    GOOD(rise_call_launch(call, NULL, &err));
    CHECK(ys[0] == 14);
    rise_call_free(call);
}

static void test_many(int device)
{
    enum { N = 4, M = 3 };
    float xs[2 * N] = {1, 2, 3, 4, 5, 6, 7, 8}, a[N];
    int32_t ys[N + M] = {0, 0, 0, 0, 10, 20, 30}, b[M];
    int64_t two_n = 2 * N, nm = N + M;
    rise_context *context = open_context(device, NULL, NULL);
    rise_program *program = open_program(context, MANY);
    rise_entry *entry = NULL, *wide = NULL;
    rise_call *call = NULL;
    rise_setting settings[] = {{"block", 64}};
    rise_entry_options options = {.size = sizeof options, .settings = settings, .n_settings = 1};
    GOOD(rise_entry_get(program, "pairs", NULL, &entry, &err));
    GOOD(rise_entry_get(program, "pairs", &options, &wide, &err));
    CHECK(entry != wide);
    CHECK(rise_entry_size_count(entry) == 2 && rise_entry_tunable_count(entry) == 1);
    CHECK_TEXT(rise_entry_size_name(entry, 1), "m");
    CHECK_TEXT(rise_entry_tunable_name(entry, 0), "block");
    CHECK(rise_entry_tunable_value(entry, 0) == 32 && rise_entry_tunable_value(wide, 0) == 64);
    CHECK(!rise_entry_size_name(entry, 2) && !rise_entry_tunable_name(entry, -1) && rise_entry_tunable_value(entry, 9) == 0);
    CHECK(rise_entry_argument_count(entry) == 4);
    rise_argument argument = {.size = sizeof argument};
    GOOD(rise_entry_argument(entry, 1, &argument, &err));
    CHECK_TEXT(argument.name, "result.2");
    CHECK_TEXT(argument.text, "m.i32");
    CHECK(argument.is_result && argument.type == RISE_I32 && argument.rank == 1 && !argument.is_index);
    GOOD(rise_entry_argument(entry, 2, &argument, &err));
    CHECK_TEXT(argument.name, "xs");
    CHECK_TEXT(argument.text, "(2*n).f32");
    GOOD(rise_call_new(entry, &call, &err));
    GOOD(rise_call_input(call, "xs", RISE_F32, 1, &two_n, xs, RISE_HOST, &err));
    GOOD(rise_call_input(call, "ys", RISE_I32, 1, &nm, ys, RISE_HOST, &err));
    GOOD(rise_call_output(call, "result.2", RISE_I32, b, sizeof b, RISE_HOST, &err));
    GOOD(rise_call_launch(call, NULL, &err));
    GOOD(rise_call_read(call, "result.1", a, sizeof a, &err));
    CHECK(a[0] == 1 && a[3] == 4 && b[0] == 11 && b[2] == 31);
    /* A size that is given has to agree; facts and shapes are checked. */
    GOOD(rise_call_size(call, "m", 2, &err));
    BAD(rise_call_launch(call, NULL, &err), RISE_ERROR_ARGUMENT, "ys has the shape 7");
    BAD(rise_call_result(call, "result.1", NULL, NULL, &err), RISE_ERROR_ARGUMENT, "not known");
    GOOD(rise_call_size(call, "m", 3, &err));
    GOOD(rise_call_launch(call, NULL, &err));
    BAD(rise_call_output(call, "result.2", RISE_F32, b, sizeof b, RISE_HOST, &err), RISE_ERROR_ARGUMENT, "are i32, and those given are f32");
    GOOD(rise_call_output(call, "result.2", RISE_I32, b, sizeof b - 1, RISE_HOST, &err));
    BAD(rise_call_launch(call, NULL, &err), RISE_ERROR_ARGUMENT, "takes 12 bytes");
    GOOD(rise_call_output(call, "result.2", RISE_I32, ys + 4, 12, RISE_HOST, &err));
    BAD(rise_call_launch(call, NULL, &err), RISE_ERROR_ARGUMENT, "overlap");
    GOOD(rise_call_output(call, "result.2", RISE_I32, (char *)b + 1, 12, RISE_HOST, &err));
    BAD(rise_call_launch(call, NULL, &err), RISE_ERROR_ARGUMENT, "no multiple of the 4 bytes");
    GOOD(rise_call_output(call, "result.2", RISE_I32, NULL, 0, RISE_HOST, &err));
    two_n = 6;
    nm = 6;
    GOOD(rise_call_input(call, "xs", RISE_F32, 1, &two_n, xs, RISE_HOST, &err));
    GOOD(rise_call_input(call, "ys", RISE_I32, 1, &nm, ys, RISE_HOST, &err));
    BAD(rise_call_launch(call, NULL, &err), RISE_ERROR_ARGUMENT, "n % 2");
    two_n = 5;
    rise_call_free(call);
    GOOD(rise_call_new(entry, &call, &err));
    GOOD(rise_call_input(call, "ys", RISE_I32, 1, &nm, ys, RISE_HOST, &err));
    GOOD(rise_call_input(call, "xs", RISE_F32, 1, &two_n, xs, RISE_HOST, &err));
    BAD(rise_call_launch(call, NULL, &err), RISE_ERROR_ARGUMENT, "no n follows from the shape of xs: (2*n).f32, which is 5");
    rise_call_free(call);
    rise_program_free(program);
    rise_context_free(context);
}

static void test_sizes_and_indices(int device)
{
    rise_context *context = open_context(device, NULL, NULL);
    rise_program *program = open_program(context, MANY);
    rise_entry *ones = NULL, *fixed = NULL, *pick = NULL;
    rise_call *call = NULL;
    int32_t out[5] = {0};
    int64_t value;
    GOOD(rise_entry_get(program, "ones", NULL, &ones, &err));
    GOOD(rise_call_new(ones, &call, &err));
    BAD(rise_call_launch(call, NULL, &err), RISE_ERROR_ARGUMENT, "nothing gives the size n");
    BAD(rise_call_size(call, "n", -1, &err), RISE_ERROR_ARGUMENT, "at least 0");
    BAD(rise_call_size(call, "m", 1, &err), RISE_ERROR_ARGUMENT, "its sizes are `n`");
    GOOD(rise_call_size(call, "n", 5, &err));
    GOOD(rise_call_launch(call, NULL, &err));
    GOOD(rise_call_read(call, "result", out, sizeof out, &err));
    CHECK(out[0] == 1 && out[4] == 1);
    BAD(rise_call_read(call, "result", out, 4, &err), RISE_ERROR_ARGUMENT, "has 20 bytes, and 4 are asked for");
    BAD(rise_call_size_value(call, "k", &value, &err), RISE_ERROR_ARGUMENT, "no size `k`");
    rise_call_free(call);
    /* A size that is compiled in. */
    rise_setting settings[] = {{"n", 3}};
    rise_entry_options options = {.size = sizeof options, .settings = settings, .n_settings = 1};
    BAD(rise_entry_get(program, "ones", &options, &fixed, &err), RISE_ERROR_ARGUMENT, "RISE_SPECIALIZE compiles it in");
    CHECK(!fixed);
    options.flags = RISE_SPECIALIZE;
    GOOD(rise_entry_get(program, "ones", &options, &fixed, &err));
    CHECK(rise_entry_size_count(fixed) == 0 && rise_entry_tunable_value(fixed, 0) == 3);
    GOOD(rise_call_new(fixed, &call, &err));
    BAD(rise_call_size(call, "n", 5, &err), RISE_ERROR_ARGUMENT, "a constant of the compilation, 3");
    GOOD(rise_call_launch(call, NULL, &err));
    GOOD(rise_call_read(call, "result", out, 12, &err));
    rise_call_free(call);
    settings[0].value = -1;
    BAD(rise_entry_get(program, "ones", &options, &fixed, &err), RISE_ERROR_PROGRAM, "sizes are not negative");
    /* Indices in memory of the host are looked at. */
    int32_t is[3] = {2, 0, 1};
    float xs[3] = {1, 2, 3}, got[3];
    int64_t three = 3;
    rise_argument argument = {.size = sizeof argument};
    GOOD(rise_entry_get(program, "pick", NULL, &pick, &err));
    GOOD(rise_entry_argument(pick, 1, &argument, &err));
    CHECK(argument.is_index);
    GOOD(rise_call_new(pick, &call, &err));
    int64_t is64[3] = {2, 0, 1};
    GOOD(rise_call_input(call, "is", argument.type, 1, &three, argument.type == RISE_I64 ? (void *)is64 : (void *)is, RISE_HOST, &err));
    GOOD(rise_call_input(call, "xs", RISE_F32, 1, &three, xs, RISE_HOST, &err));
    GOOD(rise_call_launch(call, NULL, &err));
    GOOD(rise_call_read(call, "result", got, sizeof got, &err));
    CHECK(got[0] == 3 && got[1] == 1 && got[2] == 2);
    is[1] = 3;
    is64[1] = 3;
    BAD(rise_call_launch(call, NULL, &err), RISE_ERROR_ARGUMENT, "is[1] is 3");
    rise_call_free(call);
    rise_program_free(program);
    rise_context_free(context);
}

static void test_texts(void)
{
    rise_context *context = open_context(RISE_SIM, NULL, NULL);
    rise_program *program = open_program(context, SCALE);
    rise_entry *entry = NULL;
    const char *text = NULL, *same = NULL;
    const void *bytes = &text;
    size_t size = 0;
    GOOD(rise_entry_get(program, NULL, NULL, &entry, &err));
    GOOD(rise_entry_cuda(entry, &text, &size, &err));
    GOOD(rise_entry_cuda(entry, &same, NULL, &err));
    CHECK(text == same && strlen(text) == size && strstr(text, "__global__") && strstr(text, "scale_launch"));
    GOOD(rise_entry_manifest(entry, &text, &size, &err));
    CHECK(strlen(text) == size && strstr(text, "\"name\": \"scale\""));
    CHECK(rise_entry_kernel_count(entry) >= 1);
    rise_kernel kernel = {.size = sizeof kernel};
    GOOD(rise_entry_kernel(entry, 0, &kernel, &err));
    CHECK_TEXT(kernel.name, "scale");
    CHECK(kernel.registers == -1 && kernel.threads[0] == 256 && kernel.index_bits == 32);
    BAD(rise_entry_kernel(entry, 99, &kernel, &err), RISE_ERROR_ARGUMENT, "no number 99");
    BAD(rise_entry_compile(entry, NULL, &err), RISE_ERROR_ARGUMENT, "sm_90");
    BAD(rise_entry_compile(entry, "compute_90", &err), RISE_ERROR_ARGUMENT, "compute_90");
    BAD(rise_entry_cubin(entry, "sm_20", &bytes, &size, &err), RISE_ERROR_ARGUMENT, "sm_20");
    CHECK(!bytes);
    rise_program_free(program);
    rise_context_free(context);
}

/* ---- what does not ----------------------------------------------------------------------------------------------------------- */

/* NVRTC that is named is the one that is taken, or nothing is. */
static void test_nvrtc_path(void)
{
    rise_context_options options = {.size = sizeof options, .device = RISE_SIM, .no_disk_cache = 1, .nvrtc_path = "a/b"};
    rise_context *context = NULL;
    rise_entry *entry = NULL;
    const char *ptx;
    BAD(rise_context_new(&options, &context, &err), RISE_ERROR_ARGUMENT, "nvrtc_path is a/b: a path has to begin with /");
    options.nvrtc_path = "/absent/libnvrtc.so.12";
    GOOD(rise_context_new(&options, &context, &err));
    rise_program *program = open_program(context, SCALE);
    GOOD(rise_entry_get(program, NULL, NULL, &entry, &err));
    BAD(rise_entry_ptx(entry, "sm_80", &ptx, NULL, &err), RISE_ERROR_NVRTC, "the NVRTC that nvrtc_path names, /absent/libnvrtc.so.12, cannot be");
    rise_program_free(program);
    rise_context_free(context);
}

static void test_mistakes(void)
{
    Told told = {0};
    rise_context *context = open_context(RISE_SIM, &told, NULL);
    rise_program *program = (rise_program *)&told;
    rise_entry *entry = NULL;
    rise_call *call = NULL;
    rise_context_options options = {.size = sizeof options, .device = 9};
    rise_context *none = (rise_context *)&told;
    BAD(rise_context_new(&options, &none, &err), RISE_ERROR_ARGUMENT, "no rise_device");
    CHECK(!none);
    options.size = 3;
    BAD(rise_context_new(&options, &none, &err), RISE_ERROR_ARGUMENT, "size");
    struct {
        rise_context_options options;
        int more;
    } newer = {{.size = sizeof newer, .device = RISE_REF}, 0};
    GOOD(rise_context_new(&newer.options, &none, &err));
    rise_context_free(none);
    newer.more = 1;
    BAD(rise_context_new(&newer.options, &none, &err), RISE_ERROR_ARGUMENT, "does not know");
    CHECK(rise_context_new(&newer.options, &none, NULL) == RISE_ERROR_ARGUMENT);
    BAD(rise_program_from_text(context, "bad.rise", "entry f {n: nat} (xs: n.f32): n.f32 =\n  xs |> mapGlobal(fun x => y)\n", (size_t)-1, &program, &err), RISE_ERROR_PROGRAM,
        "bad.rise:2:");
    CHECK(!program && told.n == 1 && told.line == 2 && told.code[0] == 'E' && strstr(told.message, "y"));
    char folder[UNIT_PATH], absent[UNIT_PATH + 16];
    unit_folder(folder);
    snprintf(absent, sizeof absent, "%s/absent.rise", folder);
    BAD(rise_program_from_file(context, absent, &program, &err), RISE_ERROR_FILE, absent);
    rmdir(folder);
    BAD(rise_program_from_text(context, NULL, "", 0, &program, &err), RISE_ERROR_ARGUMENT, "name is NULL");
    program = open_program(context, "entry a (n: nat): n.i32 = generate(fun (i: idx[n]) => 1i32) |> mapGlobal(id)\nentry b {n: nat} (xs: n.f32): 1.f32 = xs |> split(2) |> join |> take(1)\n");
    told.n = 0;
    BAD(rise_entry_get(program, "b", NULL, &entry, &err), RISE_ERROR_PROGRAM, "test.rise:2:");
    CHECK(!entry && told.n >= 1);
    BAD(rise_entry_get(program, NULL, NULL, &entry, &err), RISE_ERROR_ARGUMENT, "it has `a`, `b`");
    BAD(rise_entry_get(program, "c", NULL, &entry, &err), RISE_ERROR_ARGUMENT, "no entry `c`");
    rise_setting twice[] = {{"n", 1}, {"n", 2}}, unknown[] = {{"k", 1}};
    rise_entry_options settings = {.size = sizeof settings, .settings = twice, .n_settings = 2, .flags = RISE_SPECIALIZE};
    BAD(rise_entry_get(program, "a", &settings, &entry, &err), RISE_ERROR_ARGUMENT, "twice");
    settings.settings = unknown;
    settings.n_settings = 1;
    BAD(rise_entry_get(program, "a", &settings, &entry, &err), RISE_ERROR_ARGUMENT, "no size or tunable `k`");
    settings.flags = 0x80;
    BAD(rise_entry_get(program, "a", &settings, &entry, &err), RISE_ERROR_ARGUMENT, "does not know");
    rise_program_free(program);
    program = open_program(context, SCALE);
    GOOD(rise_entry_get(program, NULL, NULL, &entry, &err));
    GOOD(rise_call_new(entry, &call, &err));
    float x = 1;
    int64_t one = 1, minus = -1;
    BAD(rise_call_launch(call, NULL, &err), RISE_ERROR_ARGUMENT, "nothing is given for factor");
    BAD(rise_call_input(call, "result", RISE_F32, 1, &one, &x, RISE_HOST, &err), RISE_ERROR_ARGUMENT, "no input `result`");
    BAD(rise_call_output(call, "xs", RISE_F32, &x, 4, RISE_HOST, &err), RISE_ERROR_ARGUMENT, "its results are `result`");
    BAD(rise_call_input(call, "xs", RISE_F64, 1, &one, &x, RISE_HOST, &err), RISE_ERROR_ARGUMENT, "are f32, and those given are f64");
    BAD(rise_call_input(call, "xs", 0, 1, &one, &x, RISE_HOST, &err), RISE_ERROR_ARGUMENT, "?");
    BAD(rise_call_input(call, "xs", RISE_F32, 2, &one, &x, RISE_HOST, &err), RISE_ERROR_ARGUMENT, "1 dimensions, and 2 are given");
    BAD(rise_call_input(call, "xs", RISE_F32, 1, &minus, &x, RISE_HOST, &err), RISE_ERROR_ARGUMENT, "extent -1");
    BAD(rise_call_input(call, "xs", RISE_F32, 1, &one, &x, 7, &err), RISE_ERROR_ARGUMENT, "RISE_HOST or RISE_DEVICE");
    BAD(rise_call_scalar(call, "xs", RISE_F32, &x, &err), RISE_ERROR_ARGUMENT, "no scalar");
    GOOD(rise_call_scalar(call, "factor", RISE_F32, &x, &err));
    GOOD(rise_call_input(call, "xs", RISE_F32, 1, &one, NULL, RISE_HOST, &err));
    BAD(rise_call_launch(call, NULL, &err), RISE_ERROR_ARGUMENT, "its address is NULL");
    rise_call_free(call);
    rise_program_free(program);
    BAD(rise_call_launch(NULL, NULL, &err), RISE_ERROR_ARGUMENT, "call is NULL");
    BAD(rise_call_wait(NULL, &err), RISE_ERROR_ARGUMENT, "call is NULL");
    BAD(rise_entry_get(NULL, NULL, NULL, &entry, &err), RISE_ERROR_ARGUMENT, "program is NULL");
    BAD(rise_call_new(NULL, &call, &err), RISE_ERROR_ARGUMENT, "entry is NULL");
    BAD(rise_entry_cuda(NULL, NULL, NULL, &err), RISE_ERROR_ARGUMENT, "text is NULL");
    rise_context_free(NULL);
    rise_program_free(NULL);
    rise_call_free(NULL);
    rise_free(context, NULL);
    CHECK_TEXT(rise_status_name(RISE_ERROR_LOST), "RISE_ERROR_LOST");
    CHECK_TEXT(rise_status_name(-3), "?");
    CHECK_TEXT(rise_type_name(RISE_BF16), "bf16");
    CHECK_TEXT(rise_type_name(99), "?");
    CHECK(rise_type_bytes(RISE_BOOL) == 1 && rise_type_bytes(RISE_F64) == 8 && rise_type_bytes(0) == 0);
    CHECK(rise_version()[0] >= '0');
    rise_context_free(context);
}

/* A long text is cut at the end of a character, and always ends. */
static void test_long_text(void)
{
    rise_context *context = open_context(RISE_SIM, NULL, NULL);
    rise_program *program = NULL;
    static char name[4001];
    for (int shift = 0; shift < 3; shift++) {
        size_t n = 0;
        for (int i = 0; i < shift; i++)
            name[n++] = 'x';
        while (n + 2 < 3000) {
            name[n++] = (char)0xc3;
            name[n++] = (char)0xa9;
        }
        name[n] = 0;
        CHECK(rise_program_from_file(context, name, &program, &err) == RISE_ERROR_FILE);
        size_t length = strlen(err.text);
        CHECK(length >= sizeof err.text - 5 && strcmp(err.text + length - 3, "...") == 0 && (err.text[length - 4] & 0xc0) == 0x80);
    }
    rise_context_free(context);
}

static void test_fault(void)
{
    /* No program of today's checker has a race; one that reads what it was promised not to does. */
    rise_context *context = open_context(RISE_SIM, NULL, NULL);
    rise_program *program = open_program(context, RACE);
    rise_entry *entry = NULL;
    rise_call *call = NULL;
    static float xs[64], out[32];
    int64_t n = 64;
    GOOD(rise_entry_get(program, NULL, NULL, &entry, &err));
    GOOD(rise_call_new(entry, &call, &err));
    GOOD(rise_call_input(call, "xs", RISE_F32, 1, &n, xs, RISE_HOST, &err));
    GOOD(rise_call_launch(call, NULL, &err));
    GOOD(rise_call_read(call, "result", out, sizeof out, &err));
    n = 63;
    GOOD(rise_call_input(call, "xs", RISE_F32, 1, &n, xs, RISE_HOST, &err));
    BAD(rise_call_launch(call, NULL, &err), RISE_ERROR_ARGUMENT, "n >= 64");
    rise_call_free(call);
    rise_program_free(program);
    rise_context_free(context);
}

static void test_memory(void)
{
    rise_context *context = open_context(RISE_SIM, NULL, NULL);
    void *memory = NULL, *none = NULL, *huge = &memory;
    int in[4] = {1, 2, 3, 4}, out[4] = {0};
    GOOD(rise_alloc(context, sizeof in, &memory, &err));
    GOOD(rise_alloc(context, 0, &none, &err));
    CHECK(memory && none && (uintptr_t)memory % 256 == 0);
    GOOD(rise_copy(context, memory, RISE_DEVICE, in, RISE_HOST, sizeof in, &err));
    GOOD(rise_copy(context, out, RISE_HOST, memory, RISE_DEVICE, sizeof in, &err));
    CHECK(out[3] == 4);
    BAD(rise_copy(context, out, 5, memory, RISE_DEVICE, 1, &err), RISE_ERROR_ARGUMENT, "RISE_HOST or RISE_DEVICE");
    BAD(rise_copy(context, NULL, RISE_HOST, memory, RISE_DEVICE, 1, &err), RISE_ERROR_ARGUMENT, "to is NULL");
    BAD(rise_alloc(context, SIZE_MAX, &huge, &err), RISE_ERROR_MEMORY, "memory");
    CHECK(!huge);
    rise_free(context, memory);
    rise_free(context, none);
    rise_context_free(context);
}

/* ---- memory that runs out ------------------------------------------------------------------------------------------------------- */

typedef struct Meter {
    long calls, fail_at, live;
} Meter;

static void *meter_alloc(void *user, size_t bytes)
{
    Meter *m = user;
    if (++m->calls == m->fail_at)
        return NULL;
    void *block = malloc(bytes);
    m->live += block != NULL;
    return block;
}

static void meter_free(void *user, void *block)
{
    ((Meter *)user)->live--;
    free(block);
}

static int cycle(rise_context *context, rise_error *error)
{
    rise_program *program = NULL;
    rise_entry *entry;
    rise_call *call = NULL;
    float xs[5] = {1, 2, 3, 4, 5}, ys[5] = {0}, factor = 2;
    int64_t n = 5;
    const char *text;
    int status = rise_program_from_text(context, "test.rise", SCALE, (size_t)-1, &program, error);
    status = status ? status : rise_entry_get(program, NULL, NULL, &entry, error);
    status = status ? status : rise_entry_cuda(entry, &text, NULL, error);
    status = status ? status : rise_call_new(entry, &call, error);
    status = status ? status : rise_call_scalar(call, "factor", RISE_F32, &factor, error);
    status = status ? status : rise_call_input(call, "xs", RISE_F32, 1, &n, xs, RISE_HOST, error);
    status = status ? status : rise_call_launch(call, NULL, error);
    status = status ? status : rise_call_read(call, "result", ys, sizeof ys, error);
    if (status == RISE_OK && ys[4] != 10)
        status = -1;
    rise_call_free(call);
    rise_program_free(program);
    return status;
}

/* What librise says of a launch of 10 numbers with this k. */
static void launch_power(rise_entry *power, int64_t k, int fits)
{
    enum { N = 10 };
    int32_t xs[N], got[N];
    int64_t n = N, base = 3;
    rise_call *call = NULL;
    for (int i = 0; i < N; i++)
        xs[i] = i;
    for (int i = 0; i < k; i++)
        base = base * 2 % N;
    GOOD(rise_call_new(power, &call, &err));
    GOOD(rise_call_input(call, "xs", RISE_I32, 1, &n, xs, RISE_HOST, &err));
    GOOD(rise_call_size(call, "k", k, &err));
    if (fits) {
        GOOD(rise_call_launch(call, NULL, &err));
        GOOD(rise_call_read(call, "result", got, sizeof got, &err));
        for (int i = 0; i < N; i++)
            CHECK(got[i] == (base + i) % N);
    } else {
        BAD(rise_call_launch(call, NULL, &err), RISE_ERROR_ARGUMENT, "these sizes are too large for a kernel");
    }
    rise_call_free(call);
}

/* The simulator and the reference refuse the sizes that no kernel takes, as the GPU does (test_api_gpu.c). */
static void test_too_large(int device)
{
    rise_context *context = open_context(device, NULL, NULL);
    rise_program *program = open_program(context, POWER);
    rise_entry *entry = NULL;
    GOOD(rise_entry_get(program, "power", NULL, &entry, &err));
    for (int64_t k = 0; k <= 64; k++)
        launch_power(entry, k, k <= 50);
    rise_program_free(program);
    static int32_t xs[65536];
    int64_t shape[2] = {65535, 1};
    rise_call *call = NULL;
    program = open_program(context, ONCE_Y);
    GOOD(rise_entry_get(program, "once", NULL, &entry, &err));
    GOOD(rise_call_new(entry, &call, &err));
    GOOD(rise_call_input(call, "xs", RISE_I32, 2, shape, xs, RISE_HOST, &err));
    GOOD(rise_call_launch(call, NULL, &err));
    shape[0]++;
    GOOD(rise_call_input(call, "xs", RISE_I32, 2, shape, xs, RISE_HOST, &err));
    BAD(rise_call_launch(call, NULL, &err), RISE_ERROR_ARGUMENT, "blocks on axis y");
    rise_call_free(call);
    rise_program_free(program);
    rise_context_free(context);
}

/* An entry of which no kernel is made has no such sizes, and what is wrong with it is not told by a launch on the reference. */
static void test_no_kernel(void)
{
    Told told = {0};
    int32_t xs[10] = {7, 1}, got[10];
    int64_t n = 10;
    rise_context *context = open_context(RISE_REF, &told, NULL);
    rise_program *program = open_program(context, NO_KERNEL);
    rise_entry *entry = NULL;
    rise_call *call = NULL;
    GOOD(rise_entry_get(program, "power", NULL, &entry, &err));
    GOOD(rise_call_new(entry, &call, &err));
    GOOD(rise_call_input(call, "xs", RISE_I32, 1, &n, xs, RISE_HOST, &err));
    GOOD(rise_call_size(call, "k", 51, &err));
    GOOD(rise_call_launch(call, NULL, &err));
    GOOD(rise_call_read(call, "result", got, sizeof got, &err));
    CHECK(got[0] == 8 && got[1] == 2 && told.n == 0);
    const char *cuda;
    size_t size;
    BAD(rise_entry_cuda(entry, &cuda, &size, &err), RISE_ERROR_PROGRAM, "E0");
    CHECK(told.n > 0);
    rise_call_free(call);
    rise_program_free(program);
    rise_context_free(context);
}

static void test_out_of_memory(int device)
{
    Meter meter = {0};
    rise_allocator allocator = {&meter, meter_alloc, meter_free};
    rise_context_options options = {.size = sizeof options, .device = device, .allocator = &allocator};
    rise_context *context = NULL;
    meter.fail_at = 1;
    BAD(rise_context_new(&options, &context, &err), RISE_ERROR_MEMORY, "memory");
    meter = (Meter){0};
    GOOD(rise_context_new(&options, &context, &err));
    long before = meter.live;
    GOOD(cycle(context, &err));
    long calls = meter.calls, failed = 0, wrong = 0;
    CHECK(meter.live == before);
    for (long k = 1; k < calls; k++) {
        meter.calls = 0;
        meter.fail_at = k;
        int status = cycle(context, &err);
        failed += status == RISE_ERROR_MEMORY && err.status == RISE_ERROR_MEMORY;
        wrong += status != RISE_ERROR_MEMORY || meter.live != before;
    }
    meter.fail_at = 0;
    GOOD(cycle(context, &err)); /* it goes on */
    printf("device %d: each of %ld allocations failed once, %ld times with an error\n", device, calls - 1, failed);
    CHECK(wrong == 0 && failed > 20);
    rise_context_free(context);
    CHECK(meter.live == 0);
}

/* ---- threads -------------------------------------------------------------------------------------------------------------------- */

typedef struct Worker {
    rise_context *context;
    rise_program *program;
    rise_entry *seen;
    int number, operations, wrong;
} Worker;

static int work(Worker *w, int k)
{
    enum { N = 70 };
    float xs[N], ys[N], factor = (float)(w->number + 1);
    int64_t n = 1 + (k * 7 + w->number) % N;
    rise_error error;
    rise_program *own = NULL, *program = w->program;
    rise_entry *entry = NULL;
    rise_call *call = NULL;
    const char *text;
    for (int i = 0; i < N; i++)
        xs[i] = (float)(i + k);
    int status = k % 25 == 0 ? rise_program_from_text(w->context, "own.rise", SCALE, (size_t)-1, &own, &error) : RISE_OK;
    program = own ? own : program;
    status = status ? status : rise_entry_get(program, "scale", NULL, &entry, &error);
    status = status ? status : rise_entry_cuda(entry, &text, NULL, &error);
    status = status ? status : rise_call_new(entry, &call, &error);
    status = status ? status : rise_call_scalar(call, "factor", RISE_F32, &factor, &error);
    status = status ? status : rise_call_input(call, "xs", RISE_F32, 1, &n, xs, RISE_HOST, &error);
    status = status ? status : rise_call_launch(call, NULL, &error);
    status = status ? status : rise_call_read(call, "result", ys, (size_t)n * sizeof *ys, &error);
    int wrong = status != RISE_OK;
    for (int64_t i = 0; !wrong && i < n; i++)
        wrong = ys[i] != xs[i] * factor;
    if (!own)
        wrong |= w->seen && w->seen != entry;
    if (!own)
        w->seen = entry;
    /* And one that fails, beside the others. */
    if (!wrong && k % 10 == 3) {
        status = rise_call_input(call, "xs", RISE_F64, 1, &n, xs, RISE_HOST, &error);
        wrong = status != RISE_ERROR_ARGUMENT || !strstr(error.text, "f64");
    }
    rise_call_free(call);
    rise_program_free(own);
    return wrong;
}

static void *worker(void *user)
{
    Worker *w = user;
    for (int k = 0; k < w->operations; k++)
        w->wrong += work(w, k);
    return NULL;
}

enum { MAX_THREADS = 64 };

static void test_threads(int device, int n, int operations)
{
    rise_context *context = open_context(device, NULL, NULL);
    rise_program *program = open_program(context, SCALE);
    static Worker workers[MAX_THREADS];
    pthread_t threads[MAX_THREADS];
    int started = 0, wrong = 0;
    for (int i = 0; i < n; i++)
        workers[i] = (Worker){context, program, NULL, i, operations, 0};
    for (; started < n && pthread_create(&threads[started], NULL, worker, &workers[started]) == 0; started++)
        ;
    CHECK(started == n);
    for (int i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        wrong += workers[i].wrong;
        CHECK(workers[i].seen == workers[0].seen); /* made once */
    }
    CHECK(wrong == 0);
    rise_program_free(program);
    rise_context_free(context);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    int threads = 4, operations = 50;
    for (int i = 1; i + 1 < argc; i += 2)
        *(strcmp(argv[i], "--threads") == 0 ? &threads : &operations) = atoi(argv[i + 1]);
    for (int device = RISE_SIM; device <= RISE_REF; device++) {
        test_scale(device);
        test_many(device);
        test_sizes_and_indices(device);
        test_too_large(device);
        test_out_of_memory(device);
        test_threads(device, threads < MAX_THREADS ? threads : MAX_THREADS, operations);
    }
    test_no_kernel();
    test_texts();
    test_mistakes();
    test_nvrtc_path();
    test_long_text();
    test_fault();
    test_memory();
    return unit_end();
}
