/* Handles of librise: freed ones, those of another kind, pointers to anything, children of fork. Each
 * public function gets each of them. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api.h"

static const char SCALE[] =
    "entry scale {n: nat} (factor: i32) (xs: n.i32): n.i32 = xs |> mapGlobal(fun x => x * factor)\n";

/* ---- every function, with anything ------------------------------------------------------------------- */

/* The functions that have a status all refuse these, and the others do nothing and tell nothing. */
static void give_all(void *context, void *program, void *entry, void *call, const char *part)
{
    rise_program *p = NULL;
    rise_entry *e = NULL;
    rise_call *c = NULL;
    void *memory;
    const char *text;
    size_t size;
    int64_t one = 1;
    int number = 0;
    rise_argument argument = {.size = sizeof argument};
    rise_kernel kernel = {.size = sizeof kernel};
#define REFUSED(call_) BAD(call_, RISE_ERROR_ARGUMENT, part)
    REFUSED(rise_program_from_text(context, "t", SCALE, (size_t)-1, &p, &err));
    REFUSED(rise_program_from_file(context, "t", &p, &err));
    REFUSED(rise_alloc(context, 4, &memory, &err));
    REFUSED(rise_copy(context, &one, RISE_HOST, &one, RISE_HOST, 8, &err));
    REFUSED(rise_entry_get(program, NULL, NULL, &e, &err));
    REFUSED(rise_entry_argument(entry, 0, &argument, &err));
    REFUSED(rise_entry_cuda(entry, &text, &size, &err));
    REFUSED(rise_entry_manifest(entry, &text, &size, &err));
    REFUSED(rise_entry_compile(entry, "sm_80", &err));
    REFUSED(rise_entry_ptx(entry, "sm_80", &text, &size, &err));
    REFUSED(rise_entry_cubin(entry, "sm_80", (const void **)&text, &size, &err));
    REFUSED(rise_entry_load(entry, &err));
    REFUSED(rise_entry_prepare(entry, NULL, NULL, &err));
    REFUSED(rise_entry_kernel(entry, 0, &kernel, &err));
    REFUSED(rise_call_new(entry, &c, &err));
    REFUSED(rise_call_size(call, "n", 1, &err));
    REFUSED(rise_call_input(call, "xs", RISE_I32, 1, &one, &one, RISE_HOST, &err));
    REFUSED(rise_call_scalar(call, "factor", RISE_I32, &one, &err));
    REFUSED(rise_call_output(call, "result", RISE_I32, &one, 8, RISE_HOST, &err));
    REFUSED(rise_call_infer(call, &err));
    REFUSED(rise_call_workspace(call, &size, &err));
    REFUSED(rise_call_use_workspace(call, &one, 8, &err));
    REFUSED(rise_call_prepare(call, &err));
    REFUSED(rise_call_launch(call, NULL, &err));
    REFUSED(rise_call_wait(call, &err));
    REFUSED(rise_call_done(call, &number, &err));
    REFUSED(rise_call_size_value(call, "n", &one, &err));
    REFUSED(rise_call_shape(call, "xs", 1, &number, &one, &err));
    REFUSED(rise_call_result(call, "result", &memory, &size, &err));
    REFUSED(rise_call_read(call, "result", &one, 8, &err));
#undef REFUSED
    CHECK(!p && !e && !c && !memory && !text);
    CHECK(rise_call_launch(call, NULL, NULL) == RISE_ERROR_ARGUMENT);
    CHECK(rise_context_device(context) == RISE_AUTO && !rise_context_lost(context));
    CHECK(!rise_context_device_name(context)[0] && !rise_context_why(context)[0] && !rise_context_arch(context)[0]);
    CHECK(rise_program_entry_count(program) == 0 && !rise_program_entry_name(program, 0));
    CHECK(!rise_entry_name(entry) && !rise_entry_tuned(entry) && rise_entry_size_count(entry) == 0);
    CHECK(!rise_entry_size_name(entry, 0) && rise_entry_tunable_count(entry) == 0);
    CHECK(!rise_entry_tunable_name(entry, 0) && rise_entry_tunable_value(entry, 0) == 0);
    CHECK(rise_entry_argument_count(entry) == 0 && rise_entry_kernel_count(entry) == 0);
    rise_free(context, &one);
    rise_call_free(call);
    rise_entry_free(entry);
    rise_program_free(program);
    rise_context_free(context);
}

static void test_functions(void)
{
    static char object[4096];
    fake_gpu_start();
    Fixture f = api_start(RISE_SIM, NULL, SCALE);
    give_all(NULL, NULL, NULL, NULL, " is NULL");
    give_all(object, object, object, object, ", and never was one");
    give_all((void *)8, (void *)8, (void *)8, (void *)8, ", and never was one");
    give_all((void *)UINTPTR_MAX, (void *)UINTPTR_MAX, (void *)UINTPTR_MAX, (void *)UINTPTR_MAX, "and never was one");
    /* Of the next kind: nothing of it is freed by that. */
    give_all(f.program, f.entry, f.call, f.context, "is wanted");
    give_all(f.call, f.context, f.program, f.entry, "is wanted");
    CHECK(rise_entry_name(f.entry) && rise_program_entry_count(f.program) == 1);
    BAD(rise_call_wait((rise_call *)f.context, &err), RISE_ERROR_ARGUMENT,
        "a rise_context is given where a rise_call is wanted");
    Fixture g = f;
    rise_entry_free(f.entry);
    rise_call_free(f.call);
    rise_program_free(f.program);
    rise_context_free(f.context);
    give_all(g.context, g.program, g.entry, g.call, "was freed before");
    give_all(g.call, g.context, g.program, g.entry, "was freed before");
    /* Their places are used again, and they stay what they are. */
    f = api_start(RISE_SIM, NULL, SCALE);
    CHECK(f.call != g.call && f.context != g.context && f.entry != g.entry && f.program != g.program);
    give_all(g.context, g.program, g.entry, g.call, "was freed before");
    api_end(&f);
}

/* Any bits: no pattern is taken for a handle that it is not. */
static void test_bits(void)
{
    fake_gpu_start();
    Fixture f = api_start(RISE_SIM, NULL, SCALE);
    uint64_t seed = 20261126, taken = 0;
    for (int bit = 0; bit < (int)sizeof(void *) * 8; bit++) {
        uintptr_t other = (uintptr_t)f.call ^ (uintptr_t)1 << bit;
        CHECK(rise_call_wait((rise_call *)other, &err) == RISE_ERROR_ARGUMENT);
    }
    for (int i = 0; i < 1000000; i++) {
        seed = seed * 6364136223846793005 + 1442695040888963407;
        uintptr_t any = (uintptr_t)(seed ^ seed >> 29);
        taken += any != (uintptr_t)f.call && rise_call_wait((rise_call *)any, NULL) != RISE_ERROR_ARGUMENT;
    }
    CHECK(taken == 0);
    api_end(&f);
}

/* ---- lifetimes ----------------------------------------------------------------------------------------- */

/* What is kept by others lives on, under handles that are gone. */
static void test_lifetimes(void)
{
    fake_gpu_start();
    Fixture f = api_start(RISE_SIM, NULL, SCALE);
    rise_entry *again = NULL;
    int64_t n = 2;
    int xs[2] = {1, 2}, factor = 5, ys[2] = {0};
    void *memory;
    GOOD(rise_alloc(f.context, 100, &memory, &err));
    CHECK((uintptr_t)memory % 256 == 0);
    rise_free(f.context, (char *)memory + 4); /* not what was given */
    rise_free(f.context, xs);
    rise_free(f.context, memory);
    rise_free(f.context, memory);
    GOOD(rise_alloc(f.context, 100, &memory, &err)); /* goes with the context */
    GOOD(rise_entry_get(f.program, NULL, NULL, &again, &err));
    CHECK(again == f.entry);
    rise_entry_free(f.entry);
    CHECK(rise_entry_name(again)); /* one get is left */
    rise_entry_free(again);
    for (int k = 0; k < 3; k++)
        rise_entry_free(again); /* takes nothing from the call */
    rise_context_free(f.context);
    rise_context_free(f.context);
    rise_free(f.context, memory);
    GOOD(rise_call_input(f.call, "xs", RISE_I32, 1, &n, xs, RISE_HOST, &err));
    GOOD(rise_call_scalar(f.call, "factor", RISE_I32, &factor, &err));
    GOOD(rise_call_launch(f.call, NULL, &err));
    GOOD(rise_call_read(f.call, "result", ys, sizeof ys, &err));
    CHECK(ys[1] == 10);
    /* The program makes the entry again for who asks. */
    GOOD(rise_entry_get(f.program, NULL, NULL, &again, &err));
    CHECK(again != f.entry && strcmp(rise_entry_name(again), "scale") == 0);
    rise_program_free(f.program);
    rise_program_free(f.program);
    rise_call_free(f.call);
    rise_call_free(f.call);
    BAD(rise_call_new(again, &f.call, &err), RISE_ERROR_ARGUMENT, "the entry was freed before"); /* with its program */
}

/* More of them than a part of the table has. */
static void test_many(void)
{
    enum { MANY = 5000 };
    static rise_call *calls[MANY];
    fake_gpu_start();
    Fixture f = api_start(RISE_SIM, NULL, SCALE);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++)
            GOOD(rise_call_new(f.entry, &calls[i], &err));
        for (int i = 0; i < MANY; i += 2)
            rise_call_free(calls[i]);
        int live = 0;
        for (int i = 0; i < MANY; i++)
            live += rise_call_wait(calls[i], NULL) == RISE_OK;
        CHECK(live == MANY / 2);
        for (int i = 1; i < MANY; i += 2)
            rise_call_free(calls[i]);
    }
    api_end(&f);
}

/* ---- threads ------------------------------------------------------------------------------------------- */

static void *make_and_free(void *user)
{
    const Fixture *f = user;
    long wrong = 0;
    for (int i = 0; i < 2000; i++) {
        rise_entry *entry = NULL;
        rise_call *call = NULL;
        wrong += rise_entry_get(f->program, NULL, NULL, &entry, NULL) != RISE_OK;
        wrong += rise_call_new(entry, &call, NULL) != RISE_OK;
        rise_entry_free(entry);
        wrong += rise_call_size(call, "n", i, NULL) != RISE_OK;
        wrong += rise_call_size((rise_call *)f->program, "n", i, NULL) != RISE_ERROR_ARGUMENT;
        rise_call_free(call);
        wrong += rise_call_size(call, "n", i, NULL) != RISE_ERROR_ARGUMENT;
    }
    return (void *)(uintptr_t)wrong;
}

static void test_threads(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    fake_gpu_start();
    Fixture f = api_start(RISE_SIM, NULL, SCALE);
    rise_entry_free(f.entry); /* so that threads make and end its handle */
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, make_and_free, &f) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        CHECK(!wrong);
    }
    api_end(&f);
}

/* ---- fork ------------------------------------------------------------------------------------------------ */

static atomic_bool stop;

/* A child has the allocator of the address sanitizer as it was, perhaps locked by a thread that it has not:
 * there it is forked while nobody allocates. */
#if defined(__SANITIZE_ADDRESS__)
enum { BUSY = 0 };
#else
enum { BUSY = 1 };
#endif

/* Takes all the locks that there are, and the compiler's time. */
static void *work(void *user)
{
    const Fixture *f = user;
    for (int64_t n = 1; !atomic_load(&stop); n++) {
        rise_setting size = {"n", n};
        rise_entry_options options = {.size = sizeof options, .settings = &size, .n_settings = 1, .flags = RISE_SPECIALIZE};
        rise_entry *entry = NULL;
        rise_call *call = NULL;
        rise_entry_get(f->program, NULL, &options, &entry, NULL);
        rise_call_new(entry, &call, NULL);
        rise_call_free(call);
        rise_entry_free(entry);
    }
    return NULL;
}

/* What is wrong in a child: a number for each. */
static int in_child(const Fixture *f)
{
    rise_error e;
    rise_call *call = NULL;
    alarm(600); /* instead of a hang */
    if (rise_call_launch(f->call, NULL, &e) != RISE_ERROR_ARGUMENT || !strstr(e.text, "child of fork makes its own"))
        return 1;
    if (rise_call_new(f->entry, &call, &e) != RISE_ERROR_ARGUMENT || call || rise_program_entry_count(f->program))
        return 2;
    rise_call_free(f->call);
    rise_program_free(f->program);
    rise_context_free(f->context);
    Fixture own = api_start(RISE_SIM, NULL, SCALE);
    int64_t n = 2;
    int xs[2] = {1, 2}, factor = 5, ys[2] = {0};
    if (rise_call_input(own.call, "xs", RISE_I32, 1, &n, xs, RISE_HOST, &e) ||
        rise_call_scalar(own.call, "factor", RISE_I32, &factor, &e) || rise_call_launch(own.call, NULL, &e) ||
        rise_call_read(own.call, "result", ys, sizeof ys, &e) || ys[1] != 10)
        return 3;
    rise_call_free(own.call);
    rise_program_free(own.program);
    rise_context_free(own.context);
    return 0;
}

static int status_of_child(int (*fn)(const Fixture *f), const Fixture *f)
{
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(fn(f));
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void test_fork(void)
{
    pthread_t thread;
    fake_gpu_start();
    Fixture f = api_start(RISE_SIM, NULL, SCALE);
    CHECK(!BUSY || pthread_create(&thread, NULL, work, &f) == 0);
    for (int k = 0; k < 20; k++) {
        int status = status_of_child(in_child, &f);
        if (!CHECK(status == 0))
            printf("child %d: %d\n", k, status);
        nanosleep(&(struct timespec){0, 1000000L * k}, NULL);
    }
    atomic_store(&stop, true);
    if (BUSY)
        pthread_join(thread, NULL);
    api_end(&f); /* the parent's are as they were */
}

static int no_gpu(const Fixture *f)
{
    rise_context_options options = {.size = sizeof options, .device = RISE_GPU};
    RiseSeams seams = {.loader = &fake_loader, .cache_dir = ""};
    rise_context *context = NULL;
    rise_error e;
    (void)f;
    if (context_new(&options, &seams, &context, &e) != RISE_ERROR_DEVICE || !strstr(e.text, "child of fork"))
        return 1;
    options.device = RISE_AUTO;
    if (context_new(&options, &seams, &context, &e) != RISE_OK)
        return 2;
    return rise_context_device(context) == RISE_SIM && strstr(rise_context_why(context), "start a new process") ? 0 : 3;
}

static const Fixture *compiling;
static int child_status;

/* While a thread is inside NVRTC the process forks. */
static int compile_in_child(const Fixture *f)
{
    Fixture own = api_start(RISE_SIM, NULL, SCALE);
    const char *ptx;
    rise_error e;
    (void)f;
    int status = rise_entry_ptx(own.entry, "sm_80", &ptx, NULL, &e);
    return status == RISE_ERROR_NVRTC && strstr(e.text, "was inside NVRTC at that moment") ? 0 : 1;
}

static int fork_inside(const char *text)
{
    (void)text;
    child_status = status_of_child(compile_in_child, compiling);
    return 0;
}

static void test_fork_gpu(void)
{
    const char *ptx;
    fake_gpu_start();
    Fixture f = api_start(RISE_GPU, NULL, SCALE);
    CHECK(status_of_child(no_gpu, &f) == 0);
    compiling = &f;
    child_status = -1;
    fake_gpu.compile = fork_inside;
    GOOD(rise_entry_ptx(f.entry, "sm_80", &ptx, NULL, &err));
    CHECK(child_status == 0);
    fake_gpu.compile = NULL;
    GOOD(rise_entry_ptx(f.entry, "sm_90", &ptx, NULL, &err)); /* not in the parent */
    api_end(&f);
    fake_gpu_start();
    fake_gpu.init_result = CU_NOT_INITIALIZED; /* as where others have used CUDA before fork */
    CHECK(no_gpu(&f) == 0);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    test_functions();
    test_bits();
    test_lifetimes();
    test_many();
    test_threads();
    if (argc > 1 && strcmp(argv[1], "--no-fork") == 0) /* under a sanitizer that a child does without */
        return unit_end();
    test_fork();
    test_fork_gpu();
    return unit_end();
}
