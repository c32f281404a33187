/* librise as a guest: work that is given up at any moment, callbacks on the caller's thread, small stacks, floating-point modes, threads that do not
 * wait for each other, and what a text may read.
 *
 *     test_guest [--moments N] [--seed N]
 *
 * A moment is a look at the brake, of which a computation has the same number each time: no clock decides what passes. */
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* What a user does, in steps each of which is one job, or none where it was done before: the texts of an entry that is lowered come with it. */
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
            h->tests.pull_at = 1 + next_random(seed) % (looks[k] + 1);
            h->tests.looks = 0;
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
        h->tests.looks = 0;
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
    enum { TRIES = 10 };
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

/* ---- limits ------------------------------------------------------------------------------------------------------------------------ */

/* How a launch of `total` on n ones ends. */
static int launch_limited(int device, uint64_t steps, uint64_t memory, uint64_t result, Host *h)
{
    enum { MOST = 1000000 };
    static int32_t ones[MOST];
    rise_context_options options = {.size = sizeof options, .device = device, .max_steps = steps, .max_memory = memory, .max_result = result, .diagnostic = note,
                                    .diagnostic_user = h};
    RiseSeams seams = {.alloc = {&h->blocks, count_alloc, count_free}, .cache_dir = ""};
    static const char COPY[] = "entry copy {n: nat} (xs: n.i32): n.i32 = xs |> mapGlobal(fun x => x + 1) |> toGlobal |> mapGlobal(fun x => x - 1)\n";
    rise_context *context = NULL;
    rise_program *program;
    rise_entry *entry;
    rise_call *call;
    int64_t n = MOST;
    void *data;
    h->thread = pthread_self();
    GOOD(context_new(&options, &seams, &context, &err));
    GOOD(rise_program_from_text(context, "copy.rise", COPY, (size_t)-1, &program, &err));
    GOOD(rise_entry_get(program, NULL, NULL, &entry, &err));
    GOOD(rise_call_new(entry, &call, &err));
    GOOD(rise_call_input(call, "xs", RISE_I32, 1, &n, ones, RISE_HOST, &err));
    int status = rise_call_launch(call, NULL, &err), again = rise_call_launch(call, NULL, &err);
    CHECK(status == again && (status == RISE_OK || err.status == status));
    n = 10; /* a small one goes on */
    GOOD(rise_call_input(call, "xs", RISE_I32, 1, &n, ones, RISE_HOST, &err));
    GOOD(rise_call_launch(call, NULL, &err));
    GOOD(rise_call_result(call, "result", &data, NULL, &err));
    CHECK(((int32_t *)data)[9] == ones[9]);
    rise_call_free(call);
    rise_program_free(program);
    rise_context_free(context);
    CHECK(h->blocks == 0);
    return status;
}

static void test_limits(int device)
{
    Host h = {0};
    CHECK(launch_limited(device, 0, 0, 0, &h) == RISE_OK);
    CHECK(launch_limited(device, 100000000, 1000000000, 4000000, &h) == RISE_OK);
    CHECK(launch_limited(device, 10000, 0, 0, &h) == RISE_ERROR_LIMIT && strstr(err.text, "given up after 10000"));
    CHECK(launch_limited(device, 0, 8000000, 0, &h) == RISE_ERROR_LIMIT && strstr(err.text, "8000000 bytes of memory"));
    CHECK(launch_limited(device, 0, 0, 3999999, &h) == RISE_ERROR_LIMIT && strstr(err.text, "3999999 bytes"));
}

/* A file that is too large for the process is an error, and no signal. */
static void test_large_file(void)
{
    char path[] = "/tmp/risec_guest_XXXXXX", dir[] = "/tmp/risec_guest_XXXXXX";
    static char bytes[5000];
    int file = mkstemp(path);
    struct rlimit before, small;
    if (!CHECK(file >= 0 && mkdtemp(dir) && getrlimit(RLIMIT_FSIZE, &before) == 0))
        return;
    signal(SIGXFSZ, SIG_DFL);
    small = before;
    small.rlim_cur = 1024;
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    CHECK(quiet_write(file, bytes, sizeof bytes) == 1024);
    CHECK(quiet_write(file, bytes, sizeof bytes) == -1 && errno == EFBIG);
    Cache cache;
    CacheKeyMaker maker;
    CacheKey key;
    size_t size;
    cache_init(&cache, NULL, &library_loader, dir);
    cache_key_init(&maker, CACHE_KERNEL);
    cache_key_end(&maker, &key);
    cache_put(&cache, &key, bytes, sizeof bytes);
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    Ctx *ctx = ctx_new(NULL, NULL);
    CHECK(cache_get(ctx, &cache, &key, &size) == NULL);
    cache_put(&cache, &key, bytes, sizeof bytes);
    CHECK(cache_get(ctx, &cache, &key, &size) != NULL && size == sizeof bytes);
    ctx_free(ctx);
    sigset_t pending;
    CHECK(sigpending(&pending) == 0 && !sigismember(&pending, SIGXFSZ));
    close(file);
    remove(path);
    CHECK(cache_clear(&cache));
    rmdir(dir);
}

/* ---- what a text may read ---------------------------------------------------------------------------------------------------------- */

static char room[] = "/tmp/risec_guest_XXXXXX"; /* with `in`, the folder that is given, and things beside it */

static const char *in_room(const char *name)
{
    static char paths[4][4096];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", room, name);
    return path;
}

static void put_file(const char *name, const char *text)
{
    FILE *file = fopen(in_room(name), "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void make_room(void)
{
    CHECK(mkdtemp(room) != NULL);
    CHECK(mkdir(in_room("in"), 0700) == 0 && mkdir(in_room("in/sub"), 0700) == 0);
    put_file("secret.rise", "def half (x: f32): f32 = 17 * x\n");
    put_file("in/half.rise", "def half (x: f32): f32 = x / 2\n");
    put_file("in/words", "root daemon secret\n");
    put_file("in/sub/up.rise", "import \"../half.rise\"\ndef quarter (x: f32): f32 = half(half(x))\n");
    CHECK(mkfifo(in_room("in/pipe"), 0600) == 0);
    CHECK(symlink("half.rise", in_room("in/link.rise")) == 0 && symlink("sub", in_room("in/down")) == 0 && symlink("../half.rise", in_room("in/sub/back.rise")) == 0);
    CHECK(symlink("../secret.rise", in_room("in/out.rise")) == 0 && symlink("..", in_room("in/parent")) == 0 && symlink("loop", in_room("in/loop")) == 0);
    CHECK(symlink(in_room("in/half.rise"), in_room("in/absolute.rise")) == 0);
}

static void clear_room(void)
{
    static const char *const names[] = {"in/half.rise", "in/words", "in/sub/up.rise", "in/pipe", "in/link.rise", "in/down", "in/sub/back.rise", "in/out.rise", "in/parent", "in/loop",
                                        "in/absolute.rise", "in/f.rise.tune", "in/sub", "in", "secret.rise", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        remove(in_room(names[i]));
}

typedef struct Shelf {
    pthread_t thread;
    long asked, elsewhere, wrong;
    char last[256];
} Shelf;

static const char *read_shelf(void *user, const char *path, size_t *size)
{
    static const char HALF[] = "def half (x: f32): f32 = x / 2\n", UP[] = "import \"../half.rise\"\ndef quarter (x: f32): f32 = half(half(x))\n";
    Shelf *s = user;
    s->asked++;
    s->elsewhere += !pthread_equal(s->thread, pthread_self());
    snprintf(s->last, sizeof s->last, "%s", path);
    const char *text = strcmp(path, "half.rise") == 0 ? HALF : strcmp(path, "sub/up.rise") == 0 ? UP : strcmp(path, "words") == 0 ? "root daemon secret" : NULL;
    *size = text ? strlen(text) : 0;
    return text;
}

/* No words of another file. */
static void no_words(void *user, const rise_diagnostic *d)
{
    long *wrong = user;
    CHECK(!strstr(d->message, "root") && !(d->help && strstr(d->help, "root")));
    *wrong += strstr(d->message, "which the program reads, is wrong") && strcmp(d->file, "words") == 0;
}

enum { BY_NOTHING, BY_FOLDER, BY_FUNCTION };

/* The status of a text that imports `path` and uses `name`, under each way to read. */
static int import_by(int way, const char *path, const char *name, Shelf *shelf)
{
    char text[1024], folder[4096];
    snprintf(folder, sizeof folder, "%s", in_room("in"));
    snprintf(text, sizeof text, "import \"%s\"\nentry f {n: nat} (xs: n.f32): n.f32 = xs |> mapGlobal(%s)\n", path, name);
    *shelf = (Shelf){.thread = pthread_self()};
    rise_context_options options = {.size = sizeof options, .device = RISE_SIM, .folder = way == BY_FOLDER ? folder : NULL, .read = way == BY_FUNCTION ? read_shelf : NULL,
                                    .read_user = shelf, .diagnostic = no_words, .diagnostic_user = &shelf->wrong};
    rise_context *context;
    rise_program *program;
    rise_entry *entry;
    GOOD(rise_context_new(&options, &context, &err));
    int status = rise_program_from_text(context, "f.rise", text, (size_t)-1, &program, &err);
    if (status == RISE_OK)
        status = rise_entry_get(program, NULL, NULL, &entry, &err);
    CHECK(shelf->elsewhere == 0);
    rise_program_free(program);
    rise_context_free(context);
    return status;
}

static void test_reading(void)
{
    static const struct {
        const char *path, *name, *why[3]; /* NULL: it is read; "": not tried */
    } cases[] = {
        {"half.rise", "half", {"outside", NULL, NULL}},
        {"sub/up.rise", "quarter", {"outside", NULL, NULL}},
        {"./sub/../half.rise", "half", {"outside", NULL, NULL}},
        {"link.rise", "half", {"outside", NULL, ""}},
        {"down/up.rise", "quarter", {"outside", NULL, ""}},
        {"sub/back.rise", "half", {"outside", NULL, ""}},
        {"../secret.rise", "half", {"outside", "outside", "outside"}},
        {"sub/../../secret.rise", "half", {"outside", "outside", "outside"}},
        {"/etc/passwd", "half", {"outside", "outside", "outside"}},
        {"out.rise", "half", {"outside", "outside", ""}},
        {"parent/secret.rise", "half", {"outside", "outside", ""}},
        {"absolute.rise", "half", {"outside", "outside", ""}},
        {"loop", "half", {"outside", "`loop`", ""}},
        {"pipe", "half", {"outside", "no regular file", ""}},
        {"sub", "half", {"outside", "no regular file", "no such file"}},
        {"nothing.rise", "half", {"outside", "no such file", "no such file"}},
        {"-", "half", {"outside", "no such file", "no such file"}},
        {"words", "half", {"outside", "nothing is called `half`", "nothing is called `half`"}},
    };
    Shelf shelf;
    make_room();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int way = BY_NOTHING; way <= BY_FUNCTION; way++) {
            const char *why = cases[i].why[way];
            if (why && !why[0])
                continue;
            int status = import_by(way, cases[i].path, cases[i].name, &shelf);
            CHECK((shelf.wrong == 1) == (way != BY_NOTHING && strcmp(cases[i].path, "words") == 0));
            if (!CHECK(why ? status == RISE_ERROR_PROGRAM && strstr(err.text, why) : status == RISE_OK) || !CHECK(status == RISE_OK || !strstr(err.text, "root")))
                printf("%s by %d: %s\n", cases[i].path, way, status ? err.text : "good");
        }
    /* A tuning lies beside the text's name in the folder, and nowhere else: one that is wrong is noticed, and not quoted. */
    put_file("in/f.rise.tune", "secret\n");
    CHECK(import_by(BY_NOTHING, "std.block", "half", &shelf) == RISE_ERROR_PROGRAM);
    CHECK(import_by(BY_FOLDER, "half.rise", "half", &shelf) == RISE_ERROR_PROGRAM && strstr(err.text, "f.rise.tune:1:1") && !strstr(err.text, "secret"));
    CHECK(import_by(BY_FUNCTION, "half.rise", "half", &shelf) == RISE_OK && shelf.asked == 2);
    CHECK_TEXT(shelf.last, "f.rise.tune");
    rise_context *context;
    rise_context_options both = {.size = sizeof both, .device = RISE_SIM, .folder = ".", .read = read_shelf};
    CHECK(rise_context_new(&both, &context, &err) == RISE_ERROR_ARGUMENT && strstr(err.text, "both"));
    /* In the current folder lies a pipe by the name of the text's tuning, which would keep us for ever. */
    char here[4096];
    CHECK(getcwd(here, sizeof here) && chdir(room) == 0 && mkfifo("f.rise.tune", 0600) == 0);
    rise_program *program;
    rise_entry *entry;
    Host h = {0};
    context = open_context(&h, RISE_SIM);
    GOOD(rise_program_from_text(context, "f.rise", SMALL, (size_t)-1, &program, &err));
    GOOD(rise_entry_get(program, NULL, NULL, &entry, &err));
    rise_program_free(program);
    put_file("pipe.rise", "import \"f.rise.tune\"\n");
    CHECK(rise_program_from_file(context, "pipe.rise", &program, &err) == RISE_ERROR_PROGRAM && strstr(err.text, "no regular file"));
    CHECK(rise_program_from_file(context, "f.rise.tune", &program, &err) == RISE_ERROR_FILE && strstr(err.text, "no regular file"));
    CHECK(rise_program_from_file(context, "-", &program, &err) == RISE_ERROR_FILE && strstr(err.text, "no such file"));
    rise_context_free(context);
    remove("f.rise.tune");
    remove("pipe.rise");
    CHECK(chdir(here) == 0);
    clear_room();
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
        test_limits(device);
        test_moments(device, moments / 2, seed);
    }
    test_ready();
    test_askers();
    test_reading();
    test_large_file();
    return unit_end();
}
