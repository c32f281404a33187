#include "stack.h"

#include <signal.h>

bool stack_start(pthread_t *thread, size_t bytes, void *(*fn)(void *arg), void *arg)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_attr_setstacksize(&attributes, bytes) == 0 && pthread_create(thread, &attributes, fn, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}
