#define _GNU_SOURCE /* pthread_getattr_np */
#include "support/stack.h"

#include <signal.h>

/* ---- threads ------------------------------------------------------------------------------------------------------ */

/* With the mask of signals that the caller has. */
static bool start(pthread_t *thread, void *(*fn)(void *arg), void *arg)
{
    for (size_t mib = STACK_MIB; mib >= STACK_LEAST_MIB; mib /= 2) {
        pthread_attr_t attributes;
        if (pthread_attr_init(&attributes) != 0)
            return false;
        bool started = pthread_attr_setstacksize(&attributes, mib << 20) == 0 && pthread_create(thread, &attributes, fn, arg) == 0;
        pthread_attr_destroy(&attributes);
        if (started)
            return true;
    }
    return false;
}

bool stack_start(pthread_t *thread, void *(*fn)(void *arg), void *arg)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = start(thread, fn, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

typedef struct Call {
    void (*fn)(void *arg);
    void *arg;
    sigset_t signals;
} Call;

static void *run(void *user)
{
    Call *call = user;
    pthread_sigmask(SIG_SETMASK, &call->signals, NULL);
    call->fn(call->arg);
    return NULL;
}

void stack_run(void (*fn)(void *arg), void *arg)
{
    Call call = {.fn = fn, .arg = arg};
    pthread_t thread;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &call.signals);
    bool started = start(&thread, run, &call);
    if (started)
        pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, &call.signals, NULL);
    if (!started)
        fn(arg);
}

/* ---- what is left --------------------------------------------------------------------------------------------------- */

/* Of a thread whose stack has no known size: less than any that is common. */
enum { STACK_UNKNOWN = 1 << 20 };

Stack stack_left(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), low = here - STACK_UNKNOWN;
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        void *from;
        size_t size;
        if (pthread_attr_getstack(&attributes, &from, &size) == 0 && (uintptr_t)from < here)
            low = (uintptr_t)from;
        pthread_attr_destroy(&attributes);
    }
    /* A thread's stack may be without limit. Ours are not, and walks are made for those. */
    if (here - low > (uintptr_t)STACK_MIB << 20)
        low = here - ((uintptr_t)STACK_MIB << 20);
    uintptr_t end = low + (here - low) / 8;
    uintptr_t levels = (here - end) / STACK_LEVEL;
    return (Stack){end, levels < STACK_LEVELS ? (int)levels : STACK_LEVELS};
}
