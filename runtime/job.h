/* Work that takes long: on a thread of librise, while the caller's own thread waits, and serves what the work asks of the caller.
 *
 * So the caller's stack may be small and its floating-point mode anything; its callbacks run on its own thread; and it can give the work up. */
#ifndef RISE_RUNTIME_JOB_H
#define RISE_RUNTIME_JOB_H

#include <pthread.h>

#include "error.h"
#include "support/context.h"

typedef struct Job Job;
typedef int (*JobWork)(Job *job, void *user, rise_error *error);

/* What the waiting thread asks from time to time whether the work is to be given up; and, for tests, what may go wrong. */
typedef struct JobTests {
    bool no_thread;   /* as where none can be made */
    uint64_t pull_at; /* the look at the brake that pulls it, of each job; 0: none */
    uint64_t looks;   /* out: of the last job */
} JobTests;
typedef struct JobOptions {
    int (*poll)(void *user); /* or NULL */
    void *poll_user;
    JobTests *tests;         /* or NULL */
} JobOptions;

/* Gives what `work` gives, or RISE_ERROR_CANCELLED. *error is written only where it fails. */
int job_run(const JobOptions *options, JobWork work, void *user, rise_error *error);

/* ---- for the work ------------------------------------------------------------------------------------------------------ */

/* ctx_try, which the job's brake ends: RISE_OK, or why it ended, with the text in *error. */
int job_try(Job *job, Ctx *ctx, void (*fn)(Ctx *ctx, void *user), void *user, rise_error *error);
/* Runs fn(user) on the caller's thread. */
void job_ask(Job *job, void (*fn)(void *user), void *user);
/* Before what others see is changed: from here on the caller cannot give up. False where it has. */
bool job_commit(Job *job);

/* ---- taking turns ------------------------------------------------------------------------------------------------------ */

/* A lock that is held while something is made that several may want. Who waits for it can give up. */
typedef struct Turn {
    pthread_mutex_t lock;
    pthread_cond_t free;
    bool taken;
} Turn;

void turn_init(Turn *turn);
void turn_destroy(Turn *turn);
/* RISE_OK, or RISE_ERROR_CANCELLED. */
int turn_take(Job *job, Turn *turn, rise_error *error);
bool turn_try(Turn *turn); /* without waiting */
void turn_give(Turn *turn);

#endif
