#include "job.h"

#include <errno.h>
#include <fenv.h>
#include <string.h>
#include <time.h>

/* The caller is asked, and a turn looks at the brake, so often: a quarter of what is promised, as threads do not always run when they could. */
enum { POLL_MS = 5 };

struct Job {
    JobWork work;
    void *user;
    Brake brake;
    pthread_mutex_t lock; /* for all below */
    pthread_cond_t changed;
    void (*ask)(void *user); /* NULL: nothing */
    void *ask_user;
    bool done, committed;
    int status;
    rise_error error;
};

static int cancelled(rise_error *error) { return rise_fail(error, RISE_ERROR_CANCELLED, "cancelled: the context's poll function said so"); }

/* ---- waiting ---------------------------------------------------------------------------------------------------------- */

static void cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

static struct timespec after(int ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += ms * 1000000L;
    at.tv_sec += at.tv_nsec / 1000000000L;
    at.tv_nsec %= 1000000000L;
    return at;
}

static bool is_past(const struct timespec *at)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > at->tv_sec || (now.tv_sec == at->tv_sec && now.tv_nsec >= at->tv_nsec);
}

/* ---- the thread of the work --------------------------------------------------------------------------------------------- */

static void *run(void *arg)
{
    Job *job = arg;
    fesetenv(FE_DFL_ENV); /* a thread starts with the mode of the one that made it */
    int status = job->work(job, job->user, &job->error);
    pthread_mutex_lock(&job->lock);
    job->status = status;
    job->done = true;
    pthread_cond_broadcast(&job->changed);
    pthread_mutex_unlock(&job->lock);
    return NULL;
}

int job_try(Job *job, Ctx *ctx, void (*fn)(Ctx *ctx, void *user), void *user, rise_error *error)
{
    ctx->brake = &job->brake;
    bool enough = ctx_try(ctx, fn, user);
    ctx->brake = NULL;
    if (enough)
        return RISE_OK;
    return job->brake.pulled ? cancelled(error) : rise_fail(error, RISE_ERROR_MEMORY, "out of memory");
}

void job_ask(Job *job, void (*fn)(void *user), void *user)
{
    pthread_mutex_lock(&job->lock);
    job->ask_user = user;
    job->ask = fn;
    pthread_cond_broadcast(&job->changed);
    while (job->ask)
        pthread_cond_wait(&job->changed, &job->lock);
    pthread_mutex_unlock(&job->lock);
}

bool job_commit(Job *job)
{
    pthread_mutex_lock(&job->lock);
    job->committed = !job->brake.pulled;
    bool committed = job->committed;
    pthread_mutex_unlock(&job->lock);
    return committed;
}

/* ---- the thread of the caller ------------------------------------------------------------------------------------------- */

/* Until the work is done. Under the job's lock, but for callbacks that the work waits for; poll is asked under it, so that a commit and a
 * word to give up are one before the other. */
static void serve(Job *job, const JobOptions *options)
{
    struct timespec next = after(POLL_MS);
    while (!job->done) {
        bool asks = options->poll && !job->committed && !job->brake.pulled;
        if (job->ask) {
            pthread_mutex_unlock(&job->lock);
            job->ask(job->ask_user); /* only this thread changes it now */
            pthread_mutex_lock(&job->lock);
            job->ask = NULL;
            pthread_cond_broadcast(&job->changed);
        } else if (!asks) {
            pthread_cond_wait(&job->changed, &job->lock);
        } else if (!is_past(&next)) {
            pthread_cond_timedwait(&job->changed, &job->lock, &next);
        }
        if (asks && !job->done && !job->committed && is_past(&next)) {
            if (options->poll(options->poll_user))
                job->brake.pulled = 1;
            next = after(POLL_MS);
        }
    }
}

int job_run(const JobOptions *options, JobWork work, void *user, rise_error *error)
{
    if (options->poll && options->poll(options->poll_user))
        return cancelled(error);
    Job job = {.work = work, .user = user};
    pthread_t thread;
    if (options->tests)
        job.brake.pull_at = options->tests->pull_at;
    pthread_mutex_init(&job.lock, NULL);
    cond_init(&job.changed);
    bool started = !(options->tests && options->tests->no_thread) && stack_start(&thread, run, &job);
    if (started) {
        pthread_mutex_lock(&job.lock);
        serve(&job, options);
        pthread_mutex_unlock(&job.lock);
        pthread_join(thread, NULL);
    }
    pthread_cond_destroy(&job.changed);
    pthread_mutex_destroy(&job.lock);
    if (!started)
        return rise_fail(error, RISE_ERROR_MEMORY, "there is no thread with a stack of %d MiB to work on", STACK_LEAST_MIB);
    if (options->tests)
        options->tests->looks = job.brake.looks;
    if (job.brake.pulled && !job.committed)
        return cancelled(error);
    if (job.status != RISE_OK && error)
        *error = job.error;
    return job.status;
}

/* ---- turns ---------------------------------------------------------------------------------------------------------------- */

void turn_init(Turn *turn)
{
    pthread_mutex_init(&turn->lock, NULL);
    cond_init(&turn->free);
    turn->taken = false;
}

void turn_destroy(Turn *turn)
{
    pthread_cond_destroy(&turn->free);
    pthread_mutex_destroy(&turn->lock);
}

int turn_take(Job *job, Turn *turn, rise_error *error)
{
    pthread_mutex_lock(&turn->lock);
    while (turn->taken && !job->brake.pulled) {
        struct timespec soon = after(POLL_MS);
        pthread_cond_timedwait(&turn->free, &turn->lock, &soon);
    }
    bool ours = !turn->taken;
    turn->taken = true;
    pthread_mutex_unlock(&turn->lock);
    return ours ? RISE_OK : cancelled(error);
}

bool turn_try(Turn *turn)
{
    pthread_mutex_lock(&turn->lock);
    bool ours = !turn->taken;
    turn->taken = true;
    pthread_mutex_unlock(&turn->lock);
    return ours;
}

void turn_give(Turn *turn)
{
    pthread_mutex_lock(&turn->lock);
    turn->taken = false;
    pthread_cond_signal(&turn->free);
    pthread_mutex_unlock(&turn->lock);
}
