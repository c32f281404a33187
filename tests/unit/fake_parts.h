/* What the files of the fake share: fake_gpu.c, fake_streams.c and fake_nvrtc.c. */
#ifndef RISEC_TESTS_FAKE_PARTS_H
#define RISEC_TESTS_FAKE_PARTS_H

#include <pthread.h>

#include "fake_gpu.h"

enum { OBJECTS = 4096 };

extern pthread_mutex_t fake_lock;
extern void *fake_events[OBJECTS], *fake_streams[OBJECTS]; /* that are there now */

/* Puts an object into a list, and counts it; takes it out again: false where it is not there. */
void fake_keep(void **list, void *object, long *counter);
bool fake_drop(void **list, void *object, long *counter);
void fake_misuse(const char *what);
bool fake_is_recording(CUstream stream);
void fake_not_recording(const char *what); /* is misuse while any stream records */
/* CU_SUCCESS, or how this call shall fail. */
CUresult fake_turn(const char *name);
void fake_count(long *counter, long by);

typedef struct FakeFunction {
    const char *text; /* the module's */
    char *name;
} FakeFunction;

/* Where a kernel is declared in a module's text; NULL: nowhere. */
const char *fake_declaration(const char *text, const char *name);

#define CUDA_FN(name, symbol, params) CUresult fake_##name params;
#include "runtime/cuda_api.def"
#undef CUDA_FN

#define TURN()                                    \
    do {                                          \
        CUresult turn_ = fake_turn(__func__ + 5); \
        if (turn_ != CU_SUCCESS)                  \
            return turn_;                         \
    } while (0)

/* For functions that work in the current context. */
#define INSIDE()                                  \
    do {                                          \
        if (!fake_gpu_current()) {                \
            fake_misuse(__func__);                \
            return CU_INVALID_CONTEXT;            \
        }                                         \
        TURN();                                   \
    } while (0)

/* For what gives something back: librise could do nothing about a failure. */
#define BACK()                                    \
    do {                                          \
        if (!fake_gpu_current()) {                \
            fake_misuse(__func__);                \
            return CU_INVALID_CONTEXT;            \
        }                                         \
    } while (0)

#endif
