/* NVRTC, whose code is the text, and the loader that finds both libraries. */
#include "fake_parts.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- NVRTC: the code is the text --------------------------------------------------------------------------------------------- */

typedef struct FakeNvrtc {
    char *code;
    int arch;
    const char *result;
} FakeNvrtc;

static int rtc_version(int *major, int *minor)
{
    *major = 13;
    *minor = 0;
    return 0;
}

static int rtc_create(FakeNvrtc **program, const char *text, const char *name, int n, const char *const *headers, const char *const *names)
{
    (void)name, (void)n, (void)headers, (void)names;
    FakeNvrtc *p = calloc(1, sizeof *p);
    p->code = malloc(strlen(text) + 16);
    sprintf(p->code, "FAKE CODE\n%s", text);
    *program = p;
    return 0;
}

static int rtc_destroy(FakeNvrtc **program)
{
    free((*program)->code);
    free(*program);
    *program = NULL;
    return 0;
}

static int rtc_compile(FakeNvrtc *program, int n, const char *const *options)
{
    fake_not_recording("NVRTC compiles while a stream records");
    for (int i = 0; i < n; i++) {
        const char *arch = strstr(options[i], "arch=");
        if (arch && atoi(strchr(arch, '_') + 1) > fake_gpu.nvrtc_newest)
            return 5; /* INVALID_OPTION */
    }
    fake_count(&fake_gpu.compilations, 1);
    return fake_gpu.compile ? fake_gpu.compile(program->code) : 0;
}

static int rtc_size(FakeNvrtc *program, size_t *size)
{
    *size = strlen(program->code) + 1;
    return 0;
}

static int rtc_code(FakeNvrtc *program, char *code)
{
    strcpy(code, program->code);
    return 0;
}

static int rtc_log_size(FakeNvrtc *program, size_t *size)
{
    (void)program;
    *size = 1;
    return 0;
}

static int rtc_log(FakeNvrtc *program, char *log)
{
    (void)program;
    log[0] = 0;
    return 0;
}

static const char *rtc_error(int result) { return result == 5 ? "NVRTC_ERROR_INVALID_OPTION" : "an error"; }

static int rtc_arch_count(int *n)
{
    *n = 4;
    return 0;
}

static int rtc_archs(int *archs)
{
    archs[0] = 75;
    archs[1] = 80;
    archs[2] = 90;
    archs[3] = fake_gpu.nvrtc_newest;
    return 0;
}

/* ---- the loader ----------------------------------------------------------------------------------------------------------------- */

typedef void (*AnyFunction)(void);

static const struct {
    const char *name;
    AnyFunction function;
} functions[] = {
#define CUDA_FN(name, symbol, params) {symbol, (AnyFunction)fake_##name},
#include "runtime/cuda_api.def"
#undef CUDA_FN
    {"nvrtcVersion", (AnyFunction)rtc_version},
    {"nvrtcCreateProgram", (AnyFunction)rtc_create},
    {"nvrtcDestroyProgram", (AnyFunction)rtc_destroy},
    {"nvrtcCompileProgram", (AnyFunction)rtc_compile},
    {"nvrtcGetProgramLogSize", (AnyFunction)rtc_log_size},
    {"nvrtcGetProgramLog", (AnyFunction)rtc_log},
    {"nvrtcGetPTXSize", (AnyFunction)rtc_size},
    {"nvrtcGetPTX", (AnyFunction)rtc_code},
    {"nvrtcGetCUBINSize", (AnyFunction)rtc_size},
    {"nvrtcGetCUBIN", (AnyFunction)rtc_code},
    {"nvrtcGetErrorString", (AnyFunction)rtc_error},
    {"nvrtcGetNumSupportedArchs", (AnyFunction)rtc_arch_count},
    {"nvrtcGetSupportedArchs", (AnyFunction)rtc_archs},
};

static void *loader_open(void *user, const char *name)
{
    static char libraries[2];
    (void)user;
    if (strstr(name, "stubs"))
        fake_misuse("the stubs");
    if (strcmp(name, "libcuda.so.1") == 0)
        return fake_gpu.no_driver ? NULL : &libraries[0];
    return strcmp(name, "libnvrtc.so.13") == 0 && !fake_gpu.no_nvrtc ? &libraries[1] : NULL;
}

static void *loader_symbol(void *user, void *library, const char *name)
{
    void *address = NULL;
    (void)user, (void)library;
    if (fake_gpu.no_symbol && strcmp(name, fake_gpu.no_symbol) == 0)
        return NULL;
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(functions[i].name, name) == 0)
            memcpy(&address, &functions[i].function, sizeof address);
    return address;
}

static void loader_close(void *user, void *library) { (void)user, (void)library; }

static bool loader_path(void *user, void *function, char *path, size_t size)
{
    (void)user, (void)function, (void)path, (void)size;
    return false;
}

static bool loader_identify(void *user, const char *path, FileIdentity *identity)
{
    (void)user, (void)path, (void)identity;
    return false;
}

static const char *loader_env(void *user, const char *name)
{
    (void)user, (void)name;
    return NULL;
}

const LibraryLoader fake_loader = {NULL, loader_open, loader_symbol, loader_close, loader_path, loader_identify, loader_env};
