/* What risec says of its work, on standard error: steps with their times for --verbose, and progress on a terminal. */
#ifndef RISEC_DRIVER_SAY_H
#define RISEC_DRIVER_SAY_H

#include <pthread.h>
#include <time.h>

#include "support/context.h"

enum { SAY_WIDTH = 256 };

/* Functions take NULL, and are silent then. One thread works and says; another one shows how far it is. */
typedef struct Say {
    bool verbose;
    struct timespec begun, step; /* of the command, and of the step that runs */
    bool shows;                  /* there is the other thread */
    pthread_t thread;
    pthread_mutex_t lock; /* of the rest, and of standard error while something else is printed */
    pthread_cond_t changed;
    bool over, stands; /* a line of progress is on the terminal */
    char work[SAY_WIDTH], part[SAY_WIDTH], shown[2 * SAY_WIDTH];
} Say;

/* `progress`: where standard error is a terminal that can take a line back. */
void say_open(Say *say, bool verbose, bool progress);
/* Takes the line of progress away. */
void say_close(Say *say);

/* A line. Who calls it looks whether --quiet is given. */
void say_note(Say *say, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* With --verbose, a line: what was found or written. */
void say(Say *say, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The same with the time since the last step, or the begin: what was done in it. */
void say_step(Say *say, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* What is done now, and which part of that: shown when the command has run for a second. */
void say_work(Say *say, const char *fmt, ...) PRINTF_LIKE(2, 3);
void say_part(Say *say, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Around what is printed by others. */
void say_pause(Say *say);
void say_resume(Say *say);

#endif
