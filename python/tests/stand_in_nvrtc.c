/* In the place of NVRTC: the code of kernels is their text, in which the stand-in for the driver
 * finds what parameters they have. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nvrtcVersion(int *major, int *minor) { return *major = 13, *minor = 0, 0; }

int nvrtcCreateProgram(char **code, const char *text, const char *name, int n, const char *const *headers, const char *const *names)
{
    (void)name, (void)n, (void)headers, (void)names;
    const size_t bytes = strlen(text) + 16;
    *code = malloc(bytes);
    return *code && snprintf(*code, bytes, "FAKE CODE\n%s", text) > 0 ? 0 : 1;
}

int nvrtcDestroyProgram(char **code) { return free(*code), 0; }
int nvrtcCompileProgram(char *code, int n, const char *const *options) { return (void)code, (void)n, (void)options, 0; }
int nvrtcGetProgramLogSize(char *code, size_t *size) { return (void)code, *size = 1, 0; }
int nvrtcGetProgramLog(char *code, char *log) { return (void)code, *log = 0, 0; }
int nvrtcGetPTXSize(char *code, size_t *size) { return *size = strlen(code) + 1, 0; }
int nvrtcGetPTX(char *code, char *ptx) { return strcpy(ptx, code), 0; }
int nvrtcGetCUBINSize(char *code, size_t *size) { return *size = strlen(code) + 1, 0; }
int nvrtcGetCUBIN(char *code, char *cubin) { return strcpy(cubin, code), 0; }
const char *nvrtcGetErrorString(int result) { return result ? "NVRTC_ERROR" : "NVRTC_SUCCESS"; }
int nvrtcGetNumSupportedArchs(int *n) { return *n = 1, 0; }
int nvrtcGetSupportedArchs(int *archs) { return *archs = 90, 0; }
