/* librise as a guest: work that is given up at any moment, callbacks on the caller's thread, small stacks, floating-point modes, threads that do not
 * wait for each other.
 *
 *     test_guest [--moments N] [--seed N]
 *
 * A moment is a look at the brake, of which a computation has the same number each time: no clock decides what passes. */
#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>

#include "runtime/internal.h"
#include "unit.h"

static rise_error err;
#define GOOD(call)                                                      \
    do {                                                                \
        if (!CHECK((call) == RISE_OK)) {                                \
            printf("%s: %s\n", rise_status_name(err.status), err.text); \
            exit(unit_end());                                           \
        }                                                               \
    } while (0)

static const char SUMS[] =
    "import std.block\n"
    "entry sums {n: nat} (xs: n.i32): ceilDiv(n, 256).i32 =\n"
    "  xs |> padTo(256, 0) |> split(256) |> mapBlock(fun chunk => chunk |> split(8) |> mapThreads(reduceSeq((+), 0)) |> toShared\n"
    "          |> split(32) |> mapThreads(reduceSeq((+), 0))) |> join\n"
    "entry total {n: nat} (xs: n.i32): i32 = xs |> reduce((+), 0)\n";

/* ---- memory that is counted ------------------------------------------------------------------------------------------------ */

static void *count_alloc(void *user, size_t bytes)
{
    void *block = malloc(bytes);
    atomic_fetch_add((atomic_long *)user, block != NULL);
    return block;
}

static void count_free(void *user, void *block)
{
    atomic_fetch_sub((atomic_long *)user, 1);
    free(block);
}

typedef struct Host {
    atomic_long blocks;
    JobTests tests;
    pthread_t thread;
    long polls, told, elsewhere; /* and callbacks on another thread */
    long stop_at;                /* the poll that says so; 0: none */
} Host;

static int poll_host(void *user)
{
    Host *h = user;
    h->elsewhere += !pthread_equal(h->thread, pthread_self());
    return ++h->polls == h->stop_at;
}

static void note(void *user, const rise_diagnostic *d)
{
    Host *h = user;
    (void)d;
    h->told++;
    h->elsewhere += !pthread_equal(h->thread, pthread_self());
}

static rise_context *open_context(Host *h, int device)
{
    h->thread = pthread_self();
    rise_context_options options = {.size = sizeof options, .device = device, .diagnostic = note, .diagnostic_user = h, .poll = poll_host, .poll_user = h};
    RiseSeams seams = {.alloc = {&h->blocks, count_alloc, count_free}, .cache_dir = "", .job_tests = &h->tests};
    rise_context *context = NULL;
    GOOD(context_new(&options, &seams, &context, &err));
    return context;
}

/* ---- giving up ------------------------------------------------------------------------------------------------------------- */

enum { N = 1000, BLOCKS = (N + 255) / 256 };

/* What a user does, in steps each of which is one job. */
typedef struct Session {
    rise_context *context;
    rise_program *program;
    rise_entry *entry;
    rise_call *call;
    const char *name, *text;
    int32_t xs[N], ys[BLOCKS];
} Session;

static int step_program(Session *s) { return rise_program_from_text(s->context, "sums.rise", SUMS, (size_t)-1, &s->program, &err); }
static int step_entry(Session *s) { return rise_entry_get(s->program, s->name, NULL, &s->entry, &err); }
static int step_text(Session *s) { return rise_entry_cuda(s->entry, &s->text, NULL, &err); }
static int step_launch(Session *s) { return rise_call_launch(s->call, NULL, &err); }

typedef int (*SessionStep)(Session *s);
static const SessionStep session_steps[] = {step_program, step_entry, step_text, step_launch};
enum { STEPS = 4 };

static void begin(Session *s, rise_context *context, const char *name)
{
    memset(s, 0, sizeof *s);
    s->context = context;
    s->name = name;
    for (int i = 0; i < N; i++)
        s->xs[i] = i * 7 % 1000;
    memset(s->ys, 0x55, sizeof s->ys);
}

static void make_call(Session *s)
{
    int64_t n = N;
    GOOD(rise_call_new(s->entry, &s->call, &err));
    GOOD(rise_call_input(s->call, "xs", RISE_I32, 1, &n, s->xs, RISE_HOST, &err));
    GOOD(rise_call_output(s->call, "result", RISE_I32, s->ys, sizeof s->ys, RISE_HOST, &err));
}

static void end(Session *s)
{
    rise_call_free(s->call);
    rise_program_free(s->program);
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* One session in which each step is given up some times, each time at another look, before it is let go on to its end. The steps
 * after that work, and the values are right. */
static void session(rise_context *context, Host *h, const char *name, int tries, const uint64_t looks[STEPS], uint64_t *seed, uint64_t counted[STEPS], long *stopped)
{
    Session s;
    begin(&s, context, name);
    for (int k = 0; k < STEPS; k++) {
        if (k == 3)
            make_call(&s);
        bool done = false;
        for (int i = 0; i < tries && !done; i++) {
            h->tests.pull_at = 1 + next_random(seed) % looks[k];
            int status = session_steps[k](&s);
            bool untouched = true;
            for (int b = 0; b < BLOCKS; b++)
                untouched &= s.ys[b] == 0x55555555;
            /* What was made before need not be made again: the second try may have fewer looks. */
            done = status == RISE_OK && h->tests.looks < h->tests.pull_at;
            if (done)
                break;
            ++*stopped;
            if (!CHECK(status == RISE_ERROR_CANCELLED && err.status == status && strstr(err.text, "cancelled")))
                printf("%s, step %d, look %llu of %llu: %s\n", name, k, (unsigned long long)h->tests.pull_at, (unsigned long long)looks[k], err.text);
            CHECK(untouched && (k > 0 || !s.program) && (k > 1 || !s.entry) && (k > 2 || !s.text));
        }
        h->tests.pull_at = 0;
        if (!done)
            GOOD(session_steps[k](&s));
        counted[k] = h->tests.looks;
    }
    int32_t sum = 0, all = 0;
    for (int i = 0; i < N; i++)
        sum += s.xs[i];
    for (int i = 0; i < (strcmp(name, "total") == 0 ? 1 : BLOCKS); i++)
        all += s.ys[i];
    CHECK(all == sum);
    end(&s);
}

static void test_moments(int device, long moments, uint64_t seed)
{
    enum { TRIES = 5 };
    static const char *const names[] = {"sums", "total"};
    Host h = {0};
    rise_context *context = open_context(&h, device);
    uint64_t looks[2][STEPS], some[STEPS];
    long stopped = 0;
    for (int e = 0; e < 2; e++)
        session(context, &h, names[e], 0, NULL, &seed, looks[e], &stopped);
    while (stopped < moments) {
        int e = (int)(next_random(&seed) % 2);
        session(context, &h, names[e], TRIES, looks[e], &seed, some, &stopped);
    }
    printf("device %d: given up at %ld moments, of %llu looks in a text, %llu in an entry, %llu in its code, %llu in a launch\n", device, stopped,
           (unsigned long long)looks[0][0], (unsigned long long)looks[0][1], (unsigned long long)looks[0][2], (unsigned long long)looks[0][3]);
    rise_context_free(context);
    CHECK(h.elsewhere == 0);
    CHECK(h.blocks == 0);
}

/* Work without end, which only poll ends. */
static void test_endless(int device)
{
    static const char ENDLESS[] = "entry f (x: f32): 1.f32 = generate{n = 1000000000000}(fun i => x) |> split(1000000000000) |> mapGlobal(reduceSeq((+), 0))\n";
    Host h = {0};
    rise_context *context = open_context(&h, device);
    rise_program *program;
    rise_entry *entry;
    rise_call *call;
    float x = 1;
    GOOD(rise_program_from_text(context, "endless.rise", ENDLESS, (size_t)-1, &program, &err));
    GOOD(rise_entry_get(program, NULL, NULL, &entry, &err));
    GOOD(rise_call_new(entry, &call, &err));
    GOOD(rise_call_scalar(call, "x", RISE_F32, &x, &err));
    h.polls = 0;
    h.stop_at = 4;
    int status = rise_call_launch(call, NULL, &err);
    if (device == RISE_SIM)
        CHECK(status == RISE_ERROR_CANCELLED && h.polls == 4); /* and never after it said so */
    else
        CHECK(status != RISE_OK); /* the interpreter may refuse the array */
    CHECK(h.elsewhere == 0);
    long polls = h.polls;
    rise_call_free(call);
    CHECK(h.polls == polls);
    h.polls = 0;
    h.stop_at = 1;
    rise_program *other = program;
    CHECK(rise_program_from_text(context, "f", SUMS, (size_t)-1, &other, &err) == RISE_ERROR_CANCELLED && other == NULL && h.polls == 1);
    rise_program_free(program);
    rise_context_free(context);
    CHECK(h.blocks == 0);
}

/* ---- the caller's thread --------------------------------------------------------------------------------------------------- */

static char *chain_of_definitions(void)
{
    char *text = malloc(64 << 10), *at = text;
    at += sprintf(at, "def g0 (x: f32): f32 = x\n");
    for (int i = 1; i <= 280; i++)
        at += sprintf(at, "def g%d (x: f32): f32 = if x > %d then g%d(x + 1) else x\n", i, i, i - 1);
    sprintf(at, "entry f {n: nat} (xs: n.f32): n.f32 = xs |> mapGlobal(g280)\n");
    return text;
}

static char *nested_ifs(void)
{
    char *text = malloc(64 << 10), *at = text;
    at += sprintf(at, "entry f {n: nat} (xs: n.f32): n.f32 = xs |> mapGlobal(fun x => ");
    for (int i = 0; i < 190; i++)
        at += sprintf(at, "if x > %d then ", i);
    at += sprintf(at, "x");
    for (int i = 0; i < 190; i++)
        at += sprintf(at, " else %d", i);
    sprintf(at, ")\n");
    return text;
}

typedef struct Small {
    Host host;
    int device;
    const char *text;
    rise_error error;
    int status;
} Small;

static void *on_small_stack(void *user)
{
    Small *s = user;
    rise_context_options options = {.size = sizeof options, .device = s->device, .no_disk_cache = 1};
    rise_context *context;
    rise_program *program = NULL;
    rise_entry *entry;
    rise_call *call = NULL;
    const char *cuda;
    int64_t n = 4;
    float xs[4] = {1, 2, 3, 400}, ys[4];
    s->status = rise_context_new(&options, &context, &s->error);
    if (s->status != RISE_OK)
        return NULL;
    if ((s->status = rise_program_from_text(context, "deep.rise", s->text, (size_t)-1, &program, &s->error)) == RISE_OK &&
        (s->status = rise_entry_get(program, NULL, NULL, &entry, &s->error)) == RISE_OK && (s->status = rise_entry_cuda(entry, &cuda, NULL, &s->error)) == RISE_OK &&
        (s->status = rise_call_new(entry, &call, &s->error)) == RISE_OK &&
        (s->status = rise_call_input(call, "xs", RISE_F32, 1, &n, xs, RISE_HOST, &s->error)) == RISE_OK &&
        (s->status = rise_call_launch(call, NULL, &s->error)) == RISE_OK)
        s->status = rise_call_read(call, "result", ys, sizeof ys, &s->error);
    rise_call_free(call);
    rise_program_free(program);
    rise_context_free(context);
    return NULL;
}

static void test_small_stack(void)
{
    char *texts[] = {chain_of_definitions(), nested_ifs()};
    for (int t = 0; t < 2; t++)
        for (int device = RISE_SIM; device <= RISE_REF; device++) {
            Small s = {.device = device, .text = texts[t]};
            pthread_t thread;
            pthread_attr_t attributes;
            pthread_attr_init(&attributes);
            CHECK(pthread_attr_setstacksize(&attributes, 64 << 10) == 0);
            if (!CHECK(pthread_create(&thread, &attributes, on_small_stack, &s) == 0))
                continue;
            pthread_join(thread, NULL);
            pthread_attr_destroy(&attributes);
            if (!CHECK(s.status == RISE_OK))
                printf("text %d, device %d: %s\n", t, device, s.error.text);
        }
    free(texts[0]);
    free(texts[1]);
}

static void test_no_thread(void)
{
    Host h = {0};
    rise_context *context = open_context(&h, RISE_SIM);
    rise_program *program;
    h.tests.no_thread = true;
    CHECK(rise_program_from_text(context, "f", SUMS, (size_t)-1, &program, &err) == RISE_ERROR_MEMORY && !program && strstr(err.text, "no thread with a stack of 64 MiB"));
    h.tests.no_thread = false;
    GOOD(rise_program_from_text(context, "f", SUMS, (size_t)-1, &program, &err));
    rise_program_free(program);
    rise_context_free(context);
    CHECK(h.blocks == 0);
}

/* Diagnostics come on the thread of the caller, and success leaves the error alone. */
static void test_told(void)
{
    Host h = {0};
    rise_error error;
    rise_context_options options = {.size = sizeof options, .device = RISE_SIM};
    rise_context *context = open_context(&h, RISE_SIM), *plain;
    rise_program *program;
    CHECK(rise_program_from_text(context, "wrong.rise", "entry f (x: f32): f32 = y + z\n", (size_t)-1, &program, &err) == RISE_ERROR_PROGRAM);
    CHECK(h.told == 2 && h.elsewhere == 0);
    CHECK_TEXT(rise_context_why(context), "");
    rise_context_free(context);
    memset(&error, 0xee, sizeof error);
    options.device = RISE_AUTO;
    GOOD(rise_context_new(&options, &plain, &error));
    for (size_t i = 0; i < sizeof error; i++)
        if (((unsigned char *)&error)[i] != 0xee) {
            CHECK(!"*error is left alone");
            break;
        }
    CHECK((rise_context_device(plain) == RISE_SIM) == (rise_context_why(plain)[0] != 0));
    CHECK_TEXT(rise_context_why(NULL), "");
    rise_context_free(plain);
}

/* ---- floating-point modes ---------------------------------------------------------------------------------------------------- */

static const char SMALL[] = "entry f {n: nat} (xs: n.f32): n.f32 = xs |> mapGlobal(fun x => max(x, 1e-42) / 3 + 0.1)\n";

static void run_small(int device, char *cuda, size_t size, float *result)
{
    rise_context_options options = {.size = sizeof options, .device = device};
    rise_context *context;
    rise_program *program;
    rise_entry *entry;
    rise_call *call;
    const char *text;
    int64_t n = 1;
    float x = -1;
    GOOD(rise_context_new(&options, &context, &err));
    GOOD(rise_program_from_text(context, "small.rise", SMALL, (size_t)-1, &program, &err));
    GOOD(rise_entry_get(program, NULL, NULL, &entry, &err));
    GOOD(rise_entry_cuda(entry, &text, NULL, &err));
    snprintf(cuda, size, "%s", text);
    GOOD(rise_call_new(entry, &call, &err));
    GOOD(rise_call_input(call, "xs", RISE_F32, 1, &n, &x, RISE_HOST, &err));
    GOOD(rise_call_launch(call, NULL, &err));
    GOOD(rise_call_read(call, "result", result, sizeof *result, &err));
    rise_call_free(call);
    rise_program_free(program);
    rise_context_free(context);
}

static void test_modes(int device)
{
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    static char want[1 << 14], got[1 << 14];
    float right, value;
    run_small(device, want, sizeof want, &right);
    CHECK(strstr(want, "0.1f") && strstr(want, "1e-42f"));
    for (int i = 0; i < 4; i++) {
        fesetround(modes[i]);
#if defined(__SSE__)
        unsigned mode = __builtin_ia32_stmxcsr();
        __builtin_ia32_ldmxcsr(mode | 0x8040); /* denormals are zero, on the way in and out */
#endif
        run_small(device, got, sizeof got, &value);
        CHECK(fegetround() == modes[i]);
#if defined(__SSE__)
        CHECK((__builtin_ia32_stmxcsr() & 0x8040) == 0x8040);
        __builtin_ia32_ldmxcsr(mode);
#endif
        fesetround(FE_TONEAREST);
        CHECK(strcmp(got, want) == 0);
        CHECK(memcmp(&value, &right, sizeof value) == 0);
    }
}

/* ---- threads that do not wait for each other ------------------------------------------------------------------------------------ */

/* The maker of one entry stands still in a callback, in the middle of the work, until another thread has got the entry that is ready. */
typedef struct Meeting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool inside, got;
    rise_program *program;
} Meeting;

static void stand_still(void *user, const rise_diagnostic *d)
{
    Meeting *m = user;
    (void)d;
    pthread_mutex_lock(&m->lock);
    m->inside = true;
    pthread_cond_broadcast(&m->changed);
    while (!m->got)
        pthread_cond_wait(&m->changed, &m->lock);
    pthread_mutex_unlock(&m->lock);
}

static void *make_wrong(void *user)
{
    rise_entry *entry;
    rise_error error;
    return rise_entry_get(((Meeting *)user)->program, "wrong", NULL, &entry, &error) == RISE_ERROR_PROGRAM ? user : NULL;
}

static void test_ready(void)
{
    static const char TWO[] = "entry ready {n: nat} (xs: n.f32): n.f32 = xs |> mapGlobal(id)\n"
                              "entry wrong {n: nat} (xs: n.32.f32): n.32.f32 = xs |> mapBlock(mapBlock(id))\n";
    Meeting m = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false, NULL};
    rise_context_options options = {.size = sizeof options, .device = RISE_SIM, .diagnostic = stand_still, .diagnostic_user = &m};
    rise_context *context;
    rise_entry *first, *second;
    pthread_t maker;
    void *good;
    GOOD(rise_context_new(&options, &context, &err));
    GOOD(rise_program_from_text(context, "two.rise", TWO, (size_t)-1, &m.program, &err));
    GOOD(rise_entry_get(m.program, "ready", NULL, &first, &err));
    CHECK(pthread_create(&maker, NULL, make_wrong, &m) == 0);
    pthread_mutex_lock(&m.lock);
    while (!m.inside)
        pthread_cond_wait(&m.changed, &m.lock);
    pthread_mutex_unlock(&m.lock);
    GOOD(rise_entry_get(m.program, "ready", NULL, &second, &err)); /* would never return if it waited for the other */
    CHECK(first == second);
    pthread_mutex_lock(&m.lock);
    m.got = true;
    pthread_cond_broadcast(&m.changed);
    pthread_mutex_unlock(&m.lock);
    pthread_join(maker, &good);
    CHECK(good);
    rise_program_free(m.program);
    rise_context_free(context);
}

/* Of two that want the same entry, one gives up: the other gets it. */
typedef struct Asker {
    rise_program *program;
    rise_entry *entry;
    int status;
} Asker;

static void *ask(void *user)
{
    Asker *a = user;
    rise_error error;
    a->status = rise_entry_get(a->program, "total", NULL, &a->entry, &error);
    return NULL;
}

static int every_third(void *user) { return atomic_fetch_add((atomic_int *)user, 1) % 3 == 2; }

static void test_askers(void)
{
    enum { ASKERS = 6, ROUNDS = 20 };
    atomic_int asked = 0;
    rise_context_options options = {.size = sizeof options, .device = RISE_SIM, .poll = every_third, .poll_user = &asked};
    rise_context *context;
    GOOD(rise_context_new(&options, &context, &err));
    for (int round = 0; round < ROUNDS; round++) {
        rise_program *program;
        while (rise_program_from_text(context, "sums.rise", SUMS, (size_t)-1, &program, &err) == RISE_ERROR_CANCELLED) {
        }
        Asker askers[ASKERS];
        pthread_t threads[ASKERS];
        rise_entry *entry = NULL;
        for (int i = 0; i < ASKERS; i++) {
            askers[i] = (Asker){program, NULL, -1};
            CHECK(pthread_create(&threads[i], NULL, ask, &askers[i]) == 0);
        }
        for (int i = 0; i < ASKERS; i++) {
            pthread_join(threads[i], NULL);
            entry = askers[i].entry ? askers[i].entry : entry;
            CHECK(askers[i].status == RISE_OK || askers[i].status == RISE_ERROR_CANCELLED);
        }
        for (int i = 0; i < ASKERS; i++)
            CHECK(askers[i].entry == (askers[i].status == RISE_OK ? entry : NULL));
        rise_program_free(program);
    }
    rise_context_free(context);
}

int main(int argc, char **argv)
{
    long moments = 1000;
    uint64_t seed = 20261122;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--moments") == 0)
            moments = strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 10);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("seed %llu\n", (unsigned long long)seed);
    test_no_thread();
    test_told();
    test_small_stack();
    for (int device = RISE_SIM; device <= RISE_REF; device++) {
        test_modes(device);
        test_endless(device);
        test_moments(device, moments / 2, seed);
    }
    test_ready();
    test_askers();
    return unit_end();
}
