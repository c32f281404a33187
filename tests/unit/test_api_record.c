/* Launches of librise that are recorded, given up, repeated, failed and replayed, on a driver that keeps a log (fake_gpu.h): each needs nothing of another. */
#include <stdlib.h>

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

typedef struct Fixture {
    rise_context *context;
    rise_program *program;
    rise_entry *entry;
    rise_call *call;
} Fixture;

static char log_text[4096];
static RiseCall *watched;
static int dirty; /* kernels that ran on workspace which was not zero where it should have been */

/* What a kernel that counts in its workspace finds there. It writes all over its data. */
static void look(const FakeLaunch *l)
{
    bool found = false;
    for (int i = 0; i < watched->n_steps && !found; i++) {
        const Variant *v = watched->steps[i].variant;
        if (strcmp(v->name, l->name) != 0)
            continue;
        found = true;
        for (int b = 0; b < v->n_buffers; b++) {
            CUdeviceptr at;
            if (v->buffers[b].temp < 0)
                continue;
            memcpy(&at, l->params[b], sizeof at);
            const CallTemp *temp = &watched->temps[v->buffers[b].temp];
            unsigned char *bytes = (unsigned char *)(uintptr_t)at;
            CHECK(at == temp->memory && at - watched->workspace.at + (size_t)temp->bytes <= watched->workspace.bytes && fake_gpu_owns(at, (size_t)temp->bytes));
            if (!watched->entry->plan.temps[v->buffers[b].temp].zero) {
                CHECK(at % 256 == 0);
                memset(bytes, 0x77, (size_t)temp->bytes);
                continue;
            }
            int64_t k = 0;
            while (k < temp->bytes && bytes[k] == 0)
                k++;
            dirty += k < temp->bytes;
        }
    }
    CHECK(found);
}

static void start(Fixture *f, const char *path, const char *text)
{
    *f = (Fixture){0};
    rise_context_options options = {.size = sizeof options, .device = RISE_GPU};
    RiseSeams seams = {.loader = &fake_loader, .cache_dir = ""};
    fake_gpu_start();
    fake_gpu.log = log_text;
    fake_gpu.log_room = sizeof log_text;
    log_text[0] = 0;
    GOOD(context_new(&options, &seams, &f->context, &err));
    GOOD(text ? rise_program_from_text(f->context, path, text, (size_t)-1, &f->program, &err) : rise_program_from_file(f->context, path, &f->program, &err));
    GOOD(rise_entry_get(f->program, NULL, NULL, &f->entry, &err));
    GOOD(rise_call_new(f->entry, &f->call, &err));
    watched = call_of(f->call, NULL);
    dirty = 0;
}

static void end(Fixture *f)
{
    rise_call_free(f->call);
    rise_program_free(f->program);
    rise_context_free(f->context);
    CHECK(fake_gpu.memories == 0 && fake_gpu.streams == 0 && fake_gpu.events == 0 && fake_gpu.leaked == 0 && fake_gpu.pushed == 0 && fake_gpu.misuse == 0);
}

/* Addresses that nothing reads. */
static void *const FAR = (void *)0x100000000;
static void *const FARTHER = (void *)0x4000000000000;

/* Buffers that each launch clears. */
static int cleared_by_launch(void)
{
    int n = 0;
    for (int i = 0; i < watched->entry->plan.n_temps; i++)
        n += watched->temps[i].clears;
    return n;
}

/* The log since the last check has a clearing of the flags, where `clears`, then what each launch clears, then each kernel; `word` stands before each. */
static void check_log(const char *what, const char *head, const char *word, bool clears, int kernels)
{
    char wanted[1024];
    int n = snprintf(wanted, sizeof wanted, "%s", head);
    /* A launch clears the flags that its kernels use, preparing all of them. */
    bool flags = clears && (kernels ? watched->flags_end != 0 : watched->workspace.at != 0);
    for (int i = 0; i < flags + (kernels ? cleared_by_launch() : 0); i++)
        n += snprintf(wanted + n, sizeof wanted - (size_t)n, "%sclear\n", word);
    for (int i = 0; i < kernels; i++)
        n += snprintf(wanted + n, sizeof wanted - (size_t)n, "%s%s\n", word, watched->steps[i].variant->name);
    if (!CHECK_TEXT(log_text, wanted))
        printf("in: %s\n", what);
    CHECK(dirty == 0);
    log_text[0] = 0;
}

static void spoil(void) { memset((void *)(uintptr_t)watched->workspace.at, 0xff, watched->workspace.bytes); }

/* All that may happen to the launches of a call whose arguments are there. */
static void sequence(Fixture *f, CUresult with)
{
    char a, b;
    fake_gpu.kernel = look;
    GOOD(rise_call_prepare(f->call, &err));
    check_log("prepare", "", "", true, 0);
    int kernels = call_of(f->call, NULL)->n_steps;
    CHECK(kernels > 0);

    fake_gpu_record(&a);
    GOOD(rise_call_launch(f->call, &a, &err));
    fake_gpu_record_end();
    check_log("a record that is given up", "", "record ", false, kernels);
    CHECK(!call_of(f->call, NULL)->busy);
    GOOD(rise_call_launch(f->call, &a, &err));
    check_log("a launch", "", "", false, kernels);
    GOOD(rise_call_launch(f->call, &b, &err));
    check_log("a launch on another stream", "", "", false, kernels);

    fake_gpu_record(&a); /* while the one on b may still run: it stays the one that the next is to wait for */
    GOOD(rise_call_launch(f->call, &a, &err));
    CHECK(call_of(f->call, NULL)->busy && call_of(f->call, NULL)->stream == &b);
    log_text[0] = 0;
    GOOD(rise_call_launch(f->call, &b, &err));
    fake_gpu_record_end();
    check_log("a launch beside a record", "", "", false, kernels);
    fake_gpu_replay();
    fake_gpu_replay();
    CHECK(strncmp(log_text, "replay\n", 7) == 0 && dirty == 0);
    log_text[0] = 0;

    /* The last kernel cannot be launched, and what the others left is anybody's guess. */
    fake_gpu.fail_at = fake_gpu.calls + 2 + cleared_by_launch() + kernels;
    fake_gpu.fail_with = with;
    CHECK(rise_call_launch(f->call, &b, &err) != RISE_OK && fake_gpu.failed && strncmp(fake_gpu.failed, "launch", 6) == 0);
    check_log("a launch that fails", "", "", false, kernels - 1);
    spoil();
    GOOD(rise_call_launch(f->call, &b, &err));
    check_log("a launch after one that failed", "", "", true, kernels);
    spoil();
    fake_gpu_record(&a);
    GOOD(rise_call_launch(f->call, &a, &err));
    fake_gpu_record_end();
    check_log("a record after a launch that failed", "", "record ", true, kernels);
    fake_gpu_replay();
    check_log("its replay", "replay\n", "", true, kernels);
    GOOD(rise_call_launch(f->call, &b, &err));
    check_log("the next launch", "", "", true, kernels);
    GOOD(rise_call_wait(f->call, &err));
}

static void test_example(const char *path, int64_t n)
{
    Fixture f;
    start(&f, path, NULL);
    int type = rise_type_of(entry_of(f.entry, NULL)->plan.arguments[entry_of(f.entry, NULL)->plan.n_results].elem);
    GOOD(rise_call_input(f.call, "xs", type, 1, &n, FAR, RISE_DEVICE, &err));
    for (int k = 0; k < entry_of(f.entry, NULL)->plan.n_results; k++)
        GOOD(rise_call_output(f.call, entry_of(f.entry, NULL)->plan.arguments[k].name, rise_type_of(entry_of(f.entry, NULL)->plan.arguments[k].elem), (char *)FARTHER + ((size_t)k << 40), (size_t)1 << 40, RISE_DEVICE, &err));
    sequence(&f, 1);
    end(&f);
}

/* ---- scalars --------------------------------------------------------------------------------------------------------------- */

static const char AXPY[] = "entry axpy {n: nat} (alpha: i32) (beta: f16) (t: bool) (xs: n.i32): n.i32 = xs |> mapGlobal(fun x => if t then x * alpha else cast(i32)(beta))\n";
static int seen_alpha;
static unsigned short seen_beta;
static bool seen_t;

/* result, alpha, beta, t, xs, n */
static void see(const FakeLaunch *l)
{
    memcpy(&seen_alpha, l->params[1], sizeof seen_alpha);
    memcpy(&seen_beta, l->params[2], sizeof seen_beta);
    memcpy(&seen_t, l->params[3], sizeof seen_t);
}

/* A graph keeps the value that was captured, whatever becomes of the call. */
static void test_scalars(void)
{
    Fixture f;
    char a;
    int64_t n = 100;
    int alpha = 7;
    unsigned short beta = 0x3c00;
    bool t = true;
    start(&f, "axpy.rise", AXPY);
    fake_gpu.kernel = see;
    GOOD(rise_call_scalar(f.call, "alpha", RISE_I32, &alpha, &err));
    GOOD(rise_call_scalar(f.call, "beta", RISE_F16, &beta, &err));
    GOOD(rise_call_input(f.call, "t", RISE_BOOL, 0, NULL, &t, RISE_HOST, &err)); /* read when a launch is enqueued */
    GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &n, FAR, RISE_DEVICE, &err));
    GOOD(rise_call_output(f.call, "result", RISE_I32, FARTHER, 400, RISE_DEVICE, &err));
    GOOD(rise_call_prepare(f.call, &err));
    fake_gpu_record(&a);
    GOOD(rise_call_launch(f.call, &a, &err));
    fake_gpu_record_end();
    alpha = 9;
    beta = 0x4000;
    t = false;
    GOOD(rise_call_scalar(f.call, "alpha", RISE_I32, &alpha, &err));
    GOOD(rise_call_scalar(f.call, "beta", RISE_F16, &beta, &err));
    CHECK(call_of(f.call, NULL)->prepared);
    GOOD(rise_call_launch(f.call, &a, &err));
    CHECK(seen_alpha == 9 && seen_beta == 0x4000 && !seen_t);
    fake_gpu_replay();
    CHECK(seen_alpha == 7 && seen_beta == 0x3c00 && seen_t);
    CHECK_TEXT(log_text, "record axpy\naxpy\nreplay\naxpy\n");
    CHECK(rise_call_input(f.call, "alpha", RISE_I32, 0, NULL, FAR, RISE_DEVICE, &err) == RISE_ERROR_ARGUMENT && strstr(err.text, "by value"));
    CHECK(call_of(f.call, NULL)->prepared); /* what fails has no other effect */
    rise_call_free(f.call);
    f.call = NULL;
    fake_gpu_replay();
    CHECK(seen_alpha == 7 && seen_beta == 0x3c00 && seen_t && fake_gpu.memories == 0);
    end(&f);
}

/* A new workspace is cleared when it is made, and only then; but mail that is too long for the flags is, by each launch. */
static void test_growing(void)
{
    static const int64_t sizes[] = {100, 100000, 5000, 10000000, 100000000, 100000, 100000000};
    Fixture f;
    start(&f, "examples/running_sum.rise", NULL);
    fake_gpu.kernel = look;
    for (int k = 0; k < 7; k++) {
        GOOD(rise_call_input(f.call, "xs", RISE_F32, 1, &sizes[k], FAR, RISE_DEVICE, &err));
        GOOD(rise_call_output(f.call, "result", RISE_F32, FARTHER, (size_t)1 << 40, RISE_DEVICE, &err));
        GOOD(rise_call_prepare(f.call, &err));
        CHECK((strstr(log_text, "clear") != NULL) == (k < 2 || k == 3 || k == 4));
        log_text[0] = 0;
        for (int again = 0; again < 2; again++) {
            GOOD(rise_call_launch(f.call, NULL, &err));
            CHECK((strstr(log_text, "clear") != NULL) == (sizes[k] == 100000000) && dirty == 0);
            log_text[0] = 0;
        }
    }
    end(&f);
}

/* One workspace has launches of all classes, one of which fails. Their data does not reach the flags, which are cleared once, and again after the failure. */
static void test_classes(void)
{
    static const int64_t sizes[] = {33000, 20, 400, 1000, 2000, 33000, 3000, 1000, 400, 2000, 20};
    Fixture f;
    start(&f, "tests/programs/workspace.rise", NULL);
    fake_gpu.kernel = look;
    for (int k = 0; k < 11; k++) {
        GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &sizes[k], FAR, RISE_DEVICE, &err));
        GOOD(rise_call_output(f.call, "result", RISE_I32, FARTHER, 4, RISE_DEVICE, &err));
        GOOD(rise_call_prepare(f.call, &err));
        check_log("prepare", "", "", k == 0, 0);
        if (k == 4) {
            fake_gpu.fail_at = fake_gpu.calls + 4; /* push, recording?, and the second of its kernels */
            fake_gpu.fail_with = 1;
            CHECK(rise_call_launch(f.call, NULL, &err) != RISE_OK && strcmp(fake_gpu.failed, "launch") == 0);
            spoil();
            log_text[0] = 0;
        }
        GOOD(rise_call_launch(f.call, NULL, &err));
        check_log("a launch", "", "", k >= 4, call_of(f.call, NULL)->n_steps);
    }
    end(&f);
}

/* ---- launches that repeat ---- */

#define REPEATED                                                                                  \
    "entry repeated {n steps: nat} (xs: n.i32): n.i32 =\n"                                        \
    "  xs |> mapGlobal(id) |> repeatKernels(steps, fun ys k =>\n"                                  \
    "    generate{n = n}(fun i => 3 * ys[n - 1 - i] + cast(i32)(k)) |> mapGlobal(id))\n"          \
    "  |> nextKernel(mapGlobal(fun y => y - 1))\n"

enum { CELLS = 5 };
static int last_turn;

/* What the kernels above do, to the addresses and numbers that they are given. */
static void work(const FakeLaunch *l)
{
    int *a, *b, turn;
    memcpy(&a, l->params[0], sizeof a);
    memcpy(&b, l->params[1], sizeof b);
    bool starts = strcmp(l->name, "repeated") == 0, ends = strcmp(l->name, "repeated_finish") == 0;
    CHECK(starts || ends || strcmp(l->name, "repeated_2") == 0);
    for (int i = 0; i < CELLS && starts; i++)
        b[i] = a[i];
    for (int i = 0; i < CELLS && ends; i++)
        a[i] = b[i] - 1;
    if (starts || ends)
        return;
    memcpy(&turn, l->params[3], sizeof turn);
    CHECK(turn == last_turn++ && a != b);
    for (int i = 0; i < CELLS; i++)
        b[i] = 3 * a[CELLS - 1 - i] + turn;
}

static void want_repeated(const int *xs, int steps, const int *result)
{
    int state[2][CELLS];
    memcpy(state[0], xs, sizeof state[0]);
    for (int k = 0; k < steps; k++)
        for (int i = 0; i < CELLS; i++)
            state[(k + 1) % 2][i] = 3 * state[k % 2][CELLS - 1 - i] + k;
    for (int i = 0; i < CELLS; i++)
        CHECK(result[i] == state[steps % 2][i] - 1);
    CHECK(last_turn == steps);
    last_turn = 0;
}

/* The same call with other counts, at once and as a recording, which keeps each turn's parameters. */
static void test_repeated(void)
{
    static const int64_t counts[] = {0, 1, 2, 5, 4, 16};
    Fixture f;
    char stream;
    int xs[CELLS] = {4, -1, 0, 7, 2}, result[CELLS];
    int64_t n = CELLS;
    start(&f, "repeated.rise", REPEATED);
    fake_gpu.kernel = work;
    GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &n, xs, RISE_DEVICE, &err));
    GOOD(rise_call_output(f.call, "result", RISE_I32, result, sizeof result, RISE_DEVICE, &err));
    for (int k = 0; k < 6; k++) {
        int steps = (int)counts[k];
        long before = fake_gpu.launches;
        GOOD(rise_call_size(f.call, "steps", steps, &err));
        GOOD(rise_call_launch(f.call, NULL, &err));
        want_repeated(xs, steps, result);
        CHECK(fake_gpu.launches == before + steps + 2);
        GOOD(rise_call_prepare(f.call, &err));
        fake_gpu_record(&stream);
        GOOD(rise_call_launch(f.call, &stream, &err));
        fake_gpu_record_end();
        memset(result, 0, sizeof result);
        fake_gpu_replay();
        want_repeated(xs, steps, result);
    }
    end(&f);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    test_example("examples/device_scan.rise", 100000);
    test_example("examples/argmax.rise", 1000000);
    test_example("examples/high/sum.rise", 1000000);
    test_example("examples/running_sum.rise", 100000);
    test_growing();
    test_classes();
    test_scalars();
    test_repeated();
    return unit_end();
}
