/* Ctrl-C: what a command does ends at its next look at the brake, so that no file is left half written; then risec ends as the signal ends programs. */
#ifndef RISEC_DRIVER_INTERRUPT_H
#define RISEC_DRIVER_INTERRUPT_H

#include <pthread.h>

#include "support/context.h"

typedef struct Interrupt {
    Brake brake;
    bool session; /* only what runs ends, and not the process: another SIGINT before that does end it */
    pthread_t thread; /* which waits for the signal */
    bool watched;     /* there is one */
} Interrupt;

/* From here on SIGINT pulls the brake. Not where whoever started us has it ignored. */
void interrupt_watch(Interrupt *interrupt);
/* Ends the watch. Ends the process, too, as by SIGINT, where the brake was pulled. */
void interrupt_end(Interrupt *interrupt);
/* Ends the watch alone. From here on SIGINT interrupts the calling thread's reading. */
void interrupt_pause(Interrupt *interrupt);
/* For rise_context_options.poll: `brake` is a Brake, or NULL. */
int interrupt_poll(void *brake);

#endif
