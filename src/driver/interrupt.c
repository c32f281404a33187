#include "driver/interrupt.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

/* What does not look at the brake (a kernel on a GPU, NVRTC, a pipe that nobody reads) has so long; a second Ctrl-C does not wait. */
enum { GRACE_SECONDS = 2 };

static void only_interrupt(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
}

static _Noreturn void die(void)
{
    sigset_t set;
    only_interrupt(&set);
    signal(SIGINT, SIG_DFL);
    raise(SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    _exit(128 + SIGINT); /* not reached */
}

/* All other threads have the signal blocked. */
static void *wait_for_signal(void *user)
{
    Interrupt *interrupt = user;
    const struct timespec grace = {.tv_sec = GRACE_SECONDS};
    sigset_t set;
    int got;
    only_interrupt(&set);
    if (sigwait(&set, &got) != 0)
        return NULL;
    interrupt->brake.pulled = 1;
    if (interrupt->session)
        sigwait(&set, &got);
    else
        sigtimedwait(&set, NULL, &grace);
    die();
}

void interrupt_watch(Interrupt *interrupt)
{
    struct sigaction now;
    sigset_t set;
    *interrupt = (Interrupt){.session = interrupt->session};
    if (sigaction(SIGINT, NULL, &now) != 0 || now.sa_handler == SIG_IGN)
        return;
    only_interrupt(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    interrupt->watched = pthread_create(&interrupt->thread, NULL, wait_for_signal, interrupt) == 0;
    if (!interrupt->watched)
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* False where there was none. */
static bool stop_watching(Interrupt *interrupt)
{
    bool watched = interrupt->watched;
    if (watched) {
        pthread_cancel(interrupt->thread); /* all waits are places where that is noticed */
        pthread_join(interrupt->thread, NULL);
    }
    interrupt->watched = false;
    return watched;
}

static void nothing(int signal_number) { (void)signal_number; }

void interrupt_pause(Interrupt *interrupt)
{
    const struct sigaction action = {.sa_handler = nothing}; /* no SA_RESTART */
    sigset_t set;
    if (!stop_watching(interrupt))
        return;
    only_interrupt(&set);
    sigaction(SIGINT, &action, NULL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void interrupt_end(Interrupt *interrupt)
{
    sigset_t set;
    if (!stop_watching(interrupt))
        return;
    if (interrupt->brake.pulled)
        die();
    only_interrupt(&set);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

int interrupt_poll(void *brake) { return brake && ((const Brake *)brake)->pulled; }
