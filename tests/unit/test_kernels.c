/* Kernels of librise that are compiled when they are launched, or ahead: one after the other, by several threads, given up, refused, while a stream records, for ranges of sizes. On
 * a driver and an NVRTC of our own (fake_gpu.h).
 *
 * test_kernels [--seed N] [--ranges N]: the seed of the random ranges, and how many for each program. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "fake_gpu.h"
#include "unit.h"

static const char CASES[] = "entry pick {n: nat} (xs: n.i32): n.i32 = if n <= 4096 then xs |> mapGlobal(id) else xs |> mapGlobal(id) |> nextKernel(mapGlobal(fun x => x + 1))\n";
static const char VECTOR[] = "entry copy {n: nat} (xs: (4*n).f32): (4*n).f32 = xs |> asVector(4) |> mapGlobal(id) |> asScalar\n";

static rise_error err;
#define GOOD(call)                                                      \
    do {                                                                \
        if (!CHECK((call) == RISE_OK)) {                                \
            printf("%s: %s\n", rise_status_name(err.status), err.text); \
            exit(unit_end());                                           \
        }                                                               \
    } while (0)
#define BAD(call, code, part)                                                           \
    do {                                                                                \
        memset(&err, 0xee, sizeof err);                                                 \
        int status_ = (call);                                                           \
        if (!CHECK(status_ == (code) && err.status == (code) && strstr(err.text, (part)))) \
            printf("got %s: %s\n", rise_status_name(status_), status_ ? err.text : ""); \
    } while (0)

/* Addresses that nothing reads. */
static char *const FAR = (char *)0x100000000;
static char *const FARTHER = (char *)0x4000000000000;

typedef struct Fixture {
    rise_context *context;
    rise_program *program;
    rise_entry *entry;
    rise_call *call;
} Fixture;

static _Atomic(int (*)(void *user)) poll_now; /* threads that compile call it */
static int poll_host(void *user)
{
    int (*poll)(void *user) = poll_now;
    return poll ? poll(user) : 0;
}

static Fixture start(const char *text)
{
    Fixture f = {0};
    rise_context_options options = {.size = sizeof options, .device = RISE_GPU, .poll = poll_host};
    RiseSeams seams = {.loader = &fake_loader, .cache_dir = ""};
    fake_gpu_start();
    poll_now = NULL;
    GOOD(context_new(&options, &seams, &f.context, &err));
    GOOD(rise_program_from_text(f.context, "test.rise", text, (size_t)-1, &f.program, &err));
    GOOD(rise_entry_get(f.program, NULL, NULL, &f.entry, &err));
    GOOD(rise_call_new(f.entry, &f.call, &err));
    return f;
}

static void end(Fixture *f)
{
    rise_call_free(f->call);
    rise_program_free(f->program);
    rise_context_free(f->context);
    CHECK(fake_gpu.memories == 0 && fake_gpu.modules == 0 && fake_gpu.leaked == 0 && fake_gpu.retained == 0 && fake_gpu.pushed == 0 && fake_gpu.misuse == 0);
}

static int set_far(rise_call *call, int64_t n, int shift, rise_error *error)
{
    int type = rise_type_of(call_of(call, NULL)->entry->plan.arguments[1].elem);
    int status = rise_call_input(call, "xs", type, 1, &n, FAR + shift, RISE_DEVICE, error);
    return status ? status : rise_call_output(call, "result", type, FARTHER, (size_t)1 << 50, RISE_DEVICE, error);
}

/* ---- gates: what NVRTC waits for --------------------------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool inside, open_gate;

static void set(bool *flag)
{
    pthread_mutex_lock(&lock);
    *flag = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void wait_for(const bool *flag)
{
    pthread_mutex_lock(&lock);
    while (!*flag)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static bool no_gate; /* who comes from now on goes through */

static int wait_at_gate(const char *text)
{
    (void)text;
    pthread_mutex_lock(&lock);
    bool through = no_gate;
    pthread_mutex_unlock(&lock);
    if (through)
        return 0;
    set(&inside);
    wait_for(&open_gate);
    return 0;
}

typedef struct Launcher {
    pthread_t thread;
    rise_entry *entry;
    int64_t n;
    int status;
    rise_error error;
} Launcher;

static void *launch_once(void *user)
{
    Launcher *l = user;
    rise_call *call = NULL;
    l->status = rise_call_new(l->entry, &call, &l->error);
    l->status = l->status ? l->status : set_far(call, l->n, 0, &l->error);
    l->status = l->status ? l->status : rise_call_launch(call, NULL, &l->error);
    l->status = l->status ? l->status : rise_call_wait(call, &l->error);
    rise_call_free(call);
    return NULL;
}

static void begin(Launcher *l, rise_entry *entry, int64_t n)
{
    *l = (Launcher){.entry = entry, .n = n};
    CHECK(pthread_create(&l->thread, NULL, launch_once, l) == 0);
}

/* ---- when --------------------------------------------------------------------------------------------------------------------------- */

/* Each class of sizes when it comes, and each kernel once. */
static void test_when(void)
{
    Fixture f = start(CASES);
    GOOD(set_far(f.call, 100, 0, &err));
    CHECK(fake_gpu.compilations == 0);
    GOOD(rise_call_prepare(f.call, &err));
    CHECK(fake_gpu.compilations == 1 && fake_gpu.modules == 1 && fake_gpu.launches == 0);
    GOOD(rise_call_launch(f.call, NULL, &err));
    GOOD(set_far(f.call, 5000, 0, &err));
    GOOD(rise_call_launch(f.call, NULL, &err));
    CHECK(fake_gpu.compilations == 3 && fake_gpu.launches == 3);
    GOOD(set_far(f.call, 200, 0, &err));
    GOOD(rise_call_launch(f.call, NULL, &err));
    CHECK(fake_gpu.compilations == 3 && fake_gpu.launches == 4);
    rise_kernel kernel = {.size = sizeof kernel};
    int more = 0;
    for (int k = 0; k < rise_entry_kernel_count(f.entry); k++) {
        bool ready = kernel_is_ready(entry_of(f.entry, NULL), k);
        long before = fake_gpu.compilations;
        GOOD(rise_entry_kernel(f.entry, k, &kernel, &err));
        CHECK(kernel.registers == 24 && fake_gpu.compilations == before + !ready);
        more += !ready;
    }
    CHECK(more > 0 && fake_gpu.compilations == 3 + more);
    GOOD(rise_entry_load(f.entry, &err));
    CHECK(fake_gpu.compilations == 3 + more);
    GOOD(rise_entry_compile(f.entry, "sm_80", &err));
    CHECK(fake_gpu.compilations == 2 * (3 + more) && fake_gpu.modules == 3 + more);
    end(&f);
}

/* ---- threads ------------------------------------------------------------------------------------------------------------------------- */

static void test_same_kernel(void)
{
    enum { THREADS = 8 };
    Launcher all[THREADS];
    Fixture f = start(CASES);
    fake_gpu.compile = wait_at_gate;
    inside = open_gate = false;
    for (int i = 0; i < THREADS; i++)
        begin(&all[i], f.entry, 5000);
    wait_for(&inside); /* one of them compiles; the others wait for it, or come later */
    set(&open_gate);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(all[i].thread, NULL);
        CHECK(all[i].status == RISE_OK);
    }
    CHECK(fake_gpu.compilations == 2 && fake_gpu.modules == 2 && fake_gpu.launches == 2 * THREADS);
    end(&f);
}

/* While a kernel is compiled, those that are ready are launched, and others are compiled. */
static void test_ready_ones(void)
{
    Launcher slow;
    Fixture f = start(CASES);
    GOOD(set_far(f.call, 100, 0, &err));
    GOOD(rise_call_prepare(f.call, &err));
    fake_gpu.compile = wait_at_gate;
    inside = open_gate = false;
    begin(&slow, f.entry, 5000);
    wait_for(&inside);
    for (int i = 0; i < 10; i++) {
        GOOD(set_far(f.call, 100 + i, 0, &err));
        GOOD(rise_call_launch(f.call, NULL, &err));
    }
    CHECK(fake_gpu.launches == 10);
    set(&no_gate);
    rise_kernel kernel = {.size = sizeof kernel};
    for (int k = 0; k < rise_entry_kernel_count(f.entry); k++)
        if (entry_of(f.entry, NULL)->plan.variants[k]->kernel->wide)
            GOOD(rise_entry_kernel(f.entry, k, &kernel, &err));
    set(&open_gate);
    pthread_join(slow.thread, NULL);
    CHECK(slow.status == RISE_OK && fake_gpu.launches == 12);
    no_gate = false;
    end(&f);
}

/* ---- given up, refused --------------------------------------------------------------------------------------------------------------- */

static bool polled;
static _Thread_local bool stops;

static int stop_inside(void *user)
{
    bool now;
    (void)user;
    pthread_mutex_lock(&lock);
    now = stops && inside;
    pthread_mutex_unlock(&lock);
    if (now)
        set(&polled);
    return now;
}

static int compile_until_polled(const char *text)
{
    (void)text;
    set(&inside);
    wait_for(&polled);
    return 0;
}

static void test_given_up(void)
{
    Fixture f = start(CASES);
    GOOD(set_far(f.call, 5000, 0, &err));
    fake_gpu.compile = compile_until_polled;
    poll_now = stop_inside;
    inside = polled = false;
    stops = true;
    BAD(rise_call_launch(f.call, NULL, &err), RISE_ERROR_CANCELLED, "cancelled");
    CHECK(fake_gpu.compilations >= 1 && fake_gpu.launches == 0); /* where the word came as NVRTC was done with all, kernels may be ready */
    stops = false;
    fake_gpu.compile = NULL;
    GOOD(rise_call_launch(f.call, NULL, &err));
    CHECK(fake_gpu.modules == 2 && fake_gpu.launches == 2);
    end(&f);
}

/* Who waits for another's compilation gives up alone. */
static void test_waiter_gives_up(void)
{
    Launcher slow;
    Fixture f = start(CASES);
    GOOD(set_far(f.call, 100, 0, &err));
    fake_gpu.compile = wait_at_gate;
    inside = open_gate = false;
    begin(&slow, f.entry, 100);
    wait_for(&inside);
    poll_now = stop_inside;
    stops = true;
    BAD(rise_call_prepare(f.call, &err), RISE_ERROR_CANCELLED, "cancelled");
    stops = false;
    set(&open_gate);
    pthread_join(slow.thread, NULL);
    CHECK(slow.status == RISE_OK && fake_gpu.compilations == 1);
    GOOD(rise_call_launch(f.call, NULL, &err));
    CHECK(fake_gpu.compilations == 1);
    end(&f);
}

static int refuse(const char *text) { return strstr(text, "__global__") ? 6 : 0; }

/* The text of that kernel is kept, and the next call tries again. */
static void test_refused(void)
{
    Fixture f = start(CASES);
    char path[UNIT_PATH], kept[4096] = "";
    GOOD(set_far(f.call, 100, 0, &err));
    fake_gpu.compile = refuse;
    BAD(rise_call_launch(f.call, NULL, &err), RISE_ERROR_BUG, "the text is kept in /");
    const char *at = strstr(err.text, "kept in /");
    CHECK(at && sscanf(at, "kept in %255[^;]", path) == 1);
    FILE *file = at ? fopen(path, "r") : NULL;
    if (CHECK(file)) {
        kept[fread(kept, 1, sizeof kept - 1, file)] = 0;
        fclose(file);
        unlink(path);
    }
    const char *kernel = strstr(kept, "__global__");
    CHECK(kernel && !strstr(kernel + 1, "__global__"));
    fake_gpu.compile = NULL;
    GOOD(rise_call_launch(f.call, NULL, &err));
    CHECK(fake_gpu.modules == 1 && fake_gpu.launches == 1);
    end(&f);
}

/* ---- while a stream records ----------------------------------------------------------------------------------------------------------- */

static void test_recording(void)
{
    char stream;
    Fixture f = start(VECTOR);
    GOOD(set_far(f.call, 4096, 0, &err));
    fake_gpu_record(&stream);
    BAD(rise_call_launch(f.call, &stream, &err), RISE_ERROR_ARGUMENT, "call rise_call_prepare before the recording begins");
    CHECK(fake_gpu.compilations == 0 && fake_gpu.modules == 0);
    fake_gpu_record_end();
    GOOD(rise_call_prepare(f.call, &err));
    fake_gpu_record(&stream);
    GOOD(rise_call_launch(f.call, &stream, &err));
    /* Other arguments for the same kernel are no harm. */
    GOOD(set_far(f.call, 1024, 0, &err));
    GOOD(rise_call_launch(f.call, &stream, &err));
    /* Those of another kernel are. */
    GOOD(set_far(f.call, 1024, 4, &err));
    BAD(rise_call_launch(f.call, &stream, &err), RISE_ERROR_ARGUMENT, "not compiled");
    GOOD(set_far(f.call, 1024, 0, &err));
    GOOD(rise_call_output(f.call, "result", RISE_F32, NULL, 0, RISE_DEVICE, &err));
    BAD(rise_call_launch(f.call, &stream, &err), RISE_ERROR_ARGUMENT, "needs memory");
    CHECK(fake_gpu.compilations == 1 && fake_gpu.launches == 0);
    fake_gpu_record_end();
    GOOD(rise_call_launch(f.call, &stream, &err));
    CHECK(fake_gpu.launches == 1);
    fake_gpu_replay();
    CHECK(fake_gpu.launches == 3);
    end(&f);
}

/* ---- ranges ---------------------------------------------------------------------------------------------------------------------------- */

static void test_range(void)
{
    int64_t least = 0, most = 4096, no = -1;
    Fixture f = start(CASES);
    BAD(rise_entry_prepare(f.entry, &no, &most, &err), RISE_ERROR_ARGUMENT, "-1 to 4096 is no range for the size n");
    BAD(rise_entry_prepare(f.entry, &most, &least, &err), RISE_ERROR_ARGUMENT, "4096 to 0 is no range");
    BAD(rise_entry_prepare(f.entry, NULL, &no, &err), RISE_ERROR_ARGUMENT, "0 to -1 is no range");
    BAD(rise_entry_prepare(NULL, NULL, NULL, &err), RISE_ERROR_ARGUMENT, "entry");
    CHECK(fake_gpu.compilations == 0);
    GOOD(rise_entry_prepare(f.entry, &least, &most, &err));
    CHECK(fake_gpu.compilations == 1);
    least = 4097;
    most = 1 << 30;
    GOOD(rise_entry_prepare(f.entry, &least, &most, &err));
    CHECK(fake_gpu.compilations == 3);
    most = (int64_t)1 << 31; /* from here on with 64 bits, too */
    GOOD(rise_entry_prepare(f.entry, &least, &most, &err));
    CHECK(fake_gpu.compilations == 5);
    GOOD(rise_entry_prepare(f.entry, NULL, NULL, &err));
    CHECK(fake_gpu.compilations == 5); /* no 64 bits for at most 4096 */
    end(&f);
    f = start(VECTOR);
    GOOD(rise_entry_prepare(f.entry, &least, &least, &err));
    CHECK(fake_gpu.compilations == 2); /* and the one without vectors */
    end(&f);
}

static uint64_t random_state;

static int64_t random_below(int64_t n)
{
    random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
    return (int64_t)((random_state >> 20) % (uint64_t)n);
}

/* Sizes of all magnitudes, and those beside powers of two. */
static int64_t random_size(void)
{
    int64_t size = (int64_t)1 << random_below(33);
    return random_below(2) ? size - 1 + random_below(3) : size + random_below(size);
}

static int64_t argument_extent(const rise_call *call, int k, int d)
{
    int64_t value = 0;
    Launch launch = {.n_sizes = call_of(call, NULL)->entry->plan.core->n_sizes, .sizes = call_of(call, NULL)->set_values};
    return launch_nat(NULL, call_of(call, NULL)->entry->plan.core, &launch, call_of(call, NULL)->entry->plan.arguments[k].extents[d], &value) ? value : -1;
}

/* RISE_OK, or what is wrong with such sizes. */
static int prepare_random(rise_call *call, int n_sizes, const int64_t *least, const int64_t *most)
{
    const Plan *plan = &call_of(call, NULL)->entry->plan;
    int status = RISE_OK;
    for (int i = 0; i < n_sizes; i++) {
        int64_t n = random_below(3) ? least[i] + random_below(most[i] - least[i] + 1) : random_below(2) ? least[i] : most[i];
        GOOD(rise_call_size(call, plan->core->sizes[i]->name, n, &err));
    }
    for (int k = 0; k < plan->n_arguments; k++) {
        const Argument *a = &plan->arguments[k];
        int64_t shape[8];
        static const char scalar[8];
        char *at = FAR + ((size_t)k << 50) + (random_below(3) ? 0 : scalar_bytes(a->elem));
        for (int d = 0; d < a->rank; d++)
            if ((shape[d] = argument_extent(call, k, d)) < 0)
                return RISE_ERROR_ARGUMENT;
        if (a->is_result)
            GOOD(rise_call_output(call, a->name, rise_type_of(a->elem), at, SIZE_MAX, RISE_DEVICE, &err));
        else if (a->by_value)
            GOOD(rise_call_scalar(call, a->name, rise_type_of(a->elem), scalar, &err));
        else
            GOOD(rise_call_input(call, a->name, rise_type_of(a->elem), a->rank, shape, at, RISE_DEVICE, &err));
    }
    status = rise_call_prepare(call, &err);
    CHECK(status == RISE_OK || status == RISE_ERROR_ARGUMENT || status == RISE_ERROR_DEVICE || status == RISE_ERROR_DEVICE_MEMORY);
    return status;
}

/* After a range has been prepared, no launch in it compiles anything. */
static void test_random_ranges(const char *text, int ranges, int launches)
{
    int prepared = 0, all = 0;
    for (int r = 0; r < ranges; r++) {
        Fixture f = start(text);
        int n = rise_entry_size_count(f.entry);
        int64_t least[8], most[8];
        for (int i = 0; i < n; i++) {
            int64_t a = random_size(), b = random_below(3) ? random_size() : a + random_below(100);
            least[i] = a < b ? a : b;
            most[i] = a < b ? b : a;
        }
        GOOD(rise_entry_prepare(f.entry, least, most, &err));
        long before = fake_gpu.compilations;
        all += entry_of(f.entry, NULL)->plan.n_variants;
        prepared += (int)before;
        for (int k = 0; k < launches; k++)
            if (prepare_random(f.call, n, least, most) == RISE_OK && !CHECK(fake_gpu.compilations == before)) {
                printf("%s", text);
                for (int i = 0; i < n; i++)
                    printf("  %lld to %lld: %lld\n", (long long)least[i], (long long)most[i], (long long)call_of(f.call, NULL)->sizes[i]);
                break;
            }
        end(&f);
    }
    CHECK(prepared > 0 && prepared < all);
    printf("%d ranges: %d of %d kernels\n", ranges, prepared, all);
}

static const char *const random_texts[] = {
    "entry e {n: nat} (xs: n.f32): f32 = xs |> reduce((+), 0)\n",
    "entry e {n: nat} (xs: n.f32): n.f32 = xs |> scan((+), 0)\n",
    "entry e {n m: nat} (a: n.m.f32): m.f32 = a |> transpose |> map(reduce((+), 0))\n",
    "entry e {n m: nat} (a: n.m.f32) (x: m.f32): n.f32 = a |> map(fun row => zip(row, x) |> map(fun (p, q) => p * q) |> reduce((+), 0))\n",
    "entry e {n m: nat} (a: n.m.f32): m.n.f32 = a |> transpose\n",
    "entry e {n m k: nat} (a: n.k.f32) (b: k.m.f32): n.m.f32 = a |> map(fun row => b |> transpose |> map(fun column => zip(row, column) |> map(fun (p, q) => p * q) |> reduce((+), 0)))\n",
    "entry e {n: nat} (xs: n.i32): n.i32 = if n % 3 == 0 and not (n < 100) or n == 7 then xs |> mapGlobal(id) else xs |> mapGlobal(fun x => x + 1)\n"};

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    int ranges = 10;
    random_state = 20261123;
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "--seed") == 0)
            random_state = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--ranges") == 0)
            ranges = atoi(argv[i + 1]);
    printf("seed %llu\n", (unsigned long long)random_state);
    test_when();
    test_same_kernel();
    test_ready_ones();
    test_given_up();
    test_waiter_gives_up();
    test_refused();
    test_recording();
    test_range();
    for (size_t i = 0; ranges > 0 && i < sizeof random_texts / sizeof random_texts[0]; i++)
        test_random_ranges(random_texts[i], ranges, 40);
    return unit_end();
}
