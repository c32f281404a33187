/* In the place of NVRTC, for headers whose code nobody runs: a cubin is the word `cubin` and its architecture. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Program {
    char code[32];
} Program;

int nvrtcVersion(int *major, int *minor) { return *major = 13, *minor = 0, 0; }

int nvrtcCreateProgram(Program **program, const char *text, const char *name, int n, const char *const *headers, const char *const *names)
{
    (void)text, (void)name, (void)n, (void)headers, (void)names;
    *program = calloc(1, sizeof **program);
    return *program ? 0 : 1;
}

int nvrtcDestroyProgram(Program **program) { return free(*program), 0; }

/* sm_121 and later are unknown to it: nvrtcResult 5. */
int nvrtcCompileProgram(Program *program, int n, const char *const *options)
{
    for (int i = 0; i < n; i++) {
        const char *arch = strchr(options[i], '_');
        if (strncmp(options[i], "--gpu-architecture=", 19) || !arch)
            continue;
        if (atoi(arch + 1) > 120)
            return 5;
        snprintf(program->code, sizeof program->code, "%s %s", strstr(options[i], "compute") ? "ptx" : "cubin", arch + 1);
    }
    return 0;
}

int nvrtcGetProgramLogSize(Program *program, size_t *size) { return (void)program, *size = 1, 0; }
int nvrtcGetProgramLog(Program *program, char *log) { return (void)program, *log = 0, 0; }
int nvrtcGetPTXSize(Program *program, size_t *size) { return *size = strlen(program->code) + 1, 0; }
int nvrtcGetPTX(Program *program, char *ptx) { return strcpy(ptx, program->code), 0; }
int nvrtcGetCUBINSize(Program *program, size_t *size) { return *size = strlen(program->code) + 1, 0; }
int nvrtcGetCUBIN(Program *program, char *cubin) { return strcpy(cubin, program->code), 0; }
const char *nvrtcGetErrorString(int result) { return result == 5 ? "NVRTC_ERROR_INVALID_OPTION" : "NVRTC_ERROR_OTHER"; }
int nvrtcGetNumSupportedArchs(int *n) { return *n = 7, 0; }
int nvrtcGetSupportedArchs(int *archs)
{
    static const int known[] = {75, 80, 86, 89, 90, 100, 120};
    memcpy(archs, known, sizeof known);
    return 0;
}
