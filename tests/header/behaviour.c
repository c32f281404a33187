/* What the functions of a header do beside launching the right kernels: errors, contexts, threads, unloading. With tests/header/fake_cuda.c in the place of the driver. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "fake_cuda.h"

#define SUM_IMPLEMENTATION
#include "sum.h"

static FakeCuda *fake;
static int checks, wrong;

static void check(int good, int line)
{
    checks++;
    wrong += !good;
    if (!good)
        printf("# behaviour.c:%d: not so\n", line);
}
#define CHECK(what) check(what, __LINE__)
#define IS(call, code) check((call) == (code), __LINE__)

enum { N = 1 << 20 };
static float *result, *xs;
static void *workspace;
static size_t bytes;

static int launch(void) { return sum_launch(result, xs, workspace, bytes, N, NULL); }

static void no_driver_yet(void)
{
    fake->init = 34;
    IS(sum_use_device(0), SUM_ERROR_NO_DRIVER);
    fake->init = 100;
    IS(sum_use_device(0), SUM_ERROR_DEVICE);
    fake->init = 803;
    IS(sum_use_device(0), 803);
    fake->init = 0;
    IS(sum_wait(NULL), SUM_ERROR_NO_CONTEXT);
}

static void contexts(void)
{
    IS(sum_load(), SUM_ERROR_NO_CONTEXT);
    IS(launch(), SUM_ERROR_WORKSPACE); /* said before the driver is asked */
    IS(sum_workspace(N, &bytes), SUM_ERROR_NO_CONTEXT);
    IS(sum_unload(), SUM_ERROR_NO_CONTEXT);
    IS(sum_device_alloc(&workspace, 16), SUM_ERROR_NO_CONTEXT);
    CHECK(!workspace);
    IS(sum_device_free(&bytes), SUM_ERROR_NO_CONTEXT);
    IS(sum_copy_to_device(&bytes, &bytes, 1, NULL), SUM_ERROR_NO_CONTEXT);
    IS(sum_copy_to_host(&bytes, &bytes, 1, NULL), SUM_ERROR_NO_CONTEXT);
    IS(sum_use_device(2), SUM_ERROR_DEVICE);
    IS(sum_use_device(-1), SUM_ERROR_DEVICE);
    IS(sum_use_device(0), SUM_OK);
    IS(fake->loads, 0);
}

static void sizes(void)
{
    size_t unused = 0;
    IS(sum_result_bytes(N, &unused), SUM_OK);
    IS(unused, sizeof(float));
    IS(sum_result_bytes(-1, &unused), SUM_ERROR_SIZE);
    IS(sum_workspace(-1, &unused), SUM_ERROR_SIZE);
    IS(sum_launch(result, xs, workspace, bytes, (long long)1 << 41, NULL), SUM_ERROR_SIZE);
    IS(sum_workspace(N, &bytes), SUM_OK);
    IS(sum_device_alloc(&workspace, bytes), SUM_OK);
    IS(sum_device_alloc((void **)&xs, N * sizeof *xs), SUM_OK);
    IS(sum_device_alloc((void **)&result, sizeof *result), SUM_OK);
    IS(sum_workspace_init(workspace, bytes, NULL), SUM_OK);
    IS(sum_workspace_init(workspace, 16, NULL), SUM_ERROR_WORKSPACE);
    IS(sum_workspace_init((char *)workspace + 8, bytes, NULL), SUM_ERROR_WORKSPACE);
    IS(sum_launch(result, xs, workspace, bytes - 1, N, NULL), SUM_ERROR_WORKSPACE);
    IS(sum_launch(result, xs, NULL, bytes, N, NULL), SUM_ERROR_WORKSPACE);
    IS(fake->launches, 0);
}

static void copies(void)
{
    static const float some[3] = {1, 2, 3};
    float back[3] = {0, 0, 0};
    IS(sum_copy_to_device(xs, some, sizeof some, NULL), SUM_OK);
    IS(sum_copy_to_host(back, xs, sizeof back, NULL), SUM_OK);
    CHECK(!memcmp(some, back, sizeof some));
    IS(sum_device_free(NULL), SUM_OK);
}

static void *launches(void *device)
{
    const long times = 100;
    long failed = sum_use_device(*(int *)device) != 0;
    for (long i = 0; i < times; i++)
        failed += launch() != 0;
    return (void *)failed;
}

/* Eight threads on two GPUs: one module for each. */
static void threads(void)
{
    static int devices[] = {0, 1};
    pthread_t all[8];
    void *failed;
    long before = fake->launches;
    for (int i = 0; i < 8; i++)
        CHECK(!pthread_create(&all[i], NULL, launches, &devices[i % 2]));
    for (int i = 0; i < 8; i++) {
        CHECK(!pthread_join(all[i], &failed));
        CHECK(!failed);
    }
    IS(fake->launches - before, 800);
    IS(fake->loads, 2);
    CHECK(!strcmp(fake->loaded, "cubin 90"));
}

static void unloading(void)
{
    IS(sum_unload(), SUM_OK);
    IS(fake->unloads, 1);
    IS(sum_unload(), SUM_OK);
    IS(fake->unloads, 1);
    IS(launch(), SUM_OK);
    IS(fake->loads, 3);
    IS(sum_use_device(1), SUM_OK);
    IS(launch(), SUM_OK);
    IS(fake->loads, 3);
    IS(sum_unload(), SUM_OK);
    IS(fake->unloads, 2);
    IS(sum_use_device(0), SUM_OK);
}

/* A context that has the address of one that is gone: its module went with it. */
static void same_address(void)
{
    long loads = fake->loads, unloads = fake->unloads;
    int (*get)(void **);
    void *symbol = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxGetCurrent"), *context;
    memcpy(&get, &symbol, sizeof symbol);
    get(&context);
    ((FakeContext *)context)->id = 77;
    IS(launch(), SUM_OK);
    IS(fake->loads, loads + 1);
    IS(fake->unloads, unloads);
}

/* What is loaded on a GPU of this architecture; NULL: nothing. */
static void code_for(int arch, const char *code)
{
    IS(sum_unload(), SUM_OK);
    fake->arch = arch;
    IS(sum_load(), code ? SUM_OK : SUM_ERROR_DEVICE);
    CHECK(!code || !strcmp(fake->loaded, code));
}

static void architectures(void)
{
    code_for(75, "cubin 75");
    code_for(80, "cubin 80");
    code_for(87, "cubin 86");
    code_for(89, "cubin 89");
    code_for(90, "cubin 90");
    code_for(103, "cubin 100");
    code_for(121, "cubin 120");
    code_for(110, "ptx 75");
    code_for(70, NULL);
    fake->refuse_cubins = 209;
    code_for(90, "ptx 75");
    fake->refuse_ptx = 222;
    IS(sum_unload(), SUM_OK);
    IS(sum_load(), SUM_ERROR_OLD_DRIVER);
    IS(launch(), SUM_ERROR_OLD_DRIVER);
    fake->refuse_cubins = 2;
    IS(sum_load(), 2);
    fake->refuse_cubins = fake->refuse_ptx = 0;
    IS(launch(), SUM_OK);
}

/* Each call of the driver that a launch makes fails in turn: it says so, and the next one works. */
static void failures(void)
{
    int k = 0;
    for (int good = 0; !good; k++) {
        IS(sum_unload(), SUM_OK);
        fake->fail_at = fake->calls + 1 + k;
        fake->fail_with = 700;
        int error = launch();
        good = fake->calls < fake->fail_at;
        IS(error, good ? SUM_OK : 700);
        fake->fail_at = 0;
        IS(launch(), SUM_OK);
    }
    CHECK(k > 8);
}

static void texts(void)
{
    for (int error = SUM_OK; error >= SUM_ERROR_MEMORY; error--) {
        CHECK(strlen(sum_error_text(error)) > 5);
        for (int other = SUM_OK; other > error; other--)
            CHECK(strcmp(sum_error_text(error), sum_error_text(other)));
    }
    CHECK(strlen(sum_error_text(12345)) > 5);
    CHECK(strlen(sum_error_text(-12345)) > 5);
}

int main(void)
{
    fake = (FakeCuda *)dlsym(dlopen("libcuda.so.1", RTLD_NOW), "fake_cuda");
    if (!fake)
        return 2;
    no_driver_yet();
    contexts();
    sizes();
    copies();
    threads();
    unloading();
    same_address();
    architectures();
    failures();
    texts();
    CHECK(!strcmp(sum_error_text(700), "an illegal address"));
    IS(fake->misuse, 0);
    printf("%d checks, %d wrong\n", checks, wrong);
    return wrong != 0 || checks < 100;
}
