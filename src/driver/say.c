#include "driver/say.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { SHOW_AFTER_MS = 1000, SHOW_EVERY_MS = 100, COLUMNS = 80 };

static struct timespec now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t;
}

static double ms_since(struct timespec then)
{
    struct timespec t = now();
    return (double)(t.tv_sec - then.tv_sec) * 1e3 + (double)(t.tv_nsec - then.tv_nsec) * 1e-6;
}

/* ---- the line of progress ------------------------------------------------------------------------- */

static int columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : COLUMNS;
}

static void take_away(Say *say)
{
    if (say->stands)
        fputs("\r\033[K", stderr);
    fflush(stderr);
    say->stands = false;
    say->shown[0] = 0;
}

/* One that is too long for its line could not be taken back. */
static void show(Say *say)
{
    char line[sizeof say->shown];
    int n = columns() - 1;
    snprintf(line, sizeof line, "%.*s%s%s", SAY_WIDTH - 3, say->work, say->work[0] && say->part[0] ? ": " : "", say->part);
    if (!line[0] || strcmp(line, say->shown) == 0)
        return;
    strcpy(say->shown, line);
    while (n > 0 && n < (int)strlen(line) && ((unsigned char)line[n] & 0xc0) == 0x80)
        n--;
    fprintf(stderr, "\r\033[K%.*s", n, line);
    fflush(stderr);
    say->stands = true;
}

static void wait_ms(Say *say, int ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    while (!say->over && pthread_cond_timedwait(&say->changed, &say->lock, &until) != ETIMEDOUT) {
    }
}

static void *watch(void *user)
{
    Say *say = user;
    pthread_mutex_lock(&say->lock);
    wait_ms(say, SHOW_AFTER_MS);
    while (!say->over) {
        show(say);
        wait_ms(say, SHOW_EVERY_MS);
    }
    pthread_mutex_unlock(&say->lock);
    return NULL;
}

/* ---- from open to close --------------------------------------------------------------------------- */

void say_open(Say *say, bool verbose, bool progress)
{
    const char *term = getenv("TERM");
    sigset_t all, before;
    *say = (Say){.verbose = verbose, .begun = now()};
    say->step = say->begun;
    if (!progress || verbose || !isatty(STDERR_FILENO) || !term || strcmp(term, "dumb") == 0)
        return;
    pthread_mutex_init(&say->lock, NULL);
    pthread_cond_init(&say->changed, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    say->shows = pthread_create(&say->thread, NULL, watch, say) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void say_close(Say *say)
{
    if (!say || !say->shows)
        return;
    pthread_mutex_lock(&say->lock);
    say->over = true;
    pthread_cond_signal(&say->changed);
    pthread_mutex_unlock(&say->lock);
    pthread_join(say->thread, NULL);
    take_away(say);
    pthread_cond_destroy(&say->changed);
    pthread_mutex_destroy(&say->lock);
    say->shows = false;
}

void say_pause(Say *say)
{
    if (!say || !say->shows)
        return;
    pthread_mutex_lock(&say->lock);
    take_away(say);
}

void say_resume(Say *say)
{
    if (say && say->shows)
        pthread_mutex_unlock(&say->lock);
}

/* ---- what is said --------------------------------------------------------------------------------- */

static void put_line(const char *fmt, va_list args)
{
    fputs("risec: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
}

void say_note(Say *say, const char *fmt, ...)
{
    va_list args;
    if (!say)
        return;
    va_start(args, fmt);
    say_pause(say);
    put_line(fmt, args);
    say_resume(say);
    va_end(args);
}

void say(Say *to, const char *fmt, ...)
{
    va_list args;
    if (!to || !to->verbose)
        return;
    va_start(args, fmt);
    put_line(fmt, args);
    va_end(args);
}

void say_step(Say *say, const char *fmt, ...)
{
    va_list args;
    if (!say || !say->verbose)
        return;
    va_start(args, fmt);
    fputs("risec: ", stderr);
    vfprintf(stderr, fmt, args);
    fprintf(stderr, ": %.1f ms\n", ms_since(say->step));
    va_end(args);
    say->step = now();
}

static void set(Say *say, char *text, const char *fmt, va_list args)
{
    pthread_mutex_lock(&say->lock);
    if (text == say->work)
        say->part[0] = 0;
    vsnprintf(text, SAY_WIDTH, fmt, args);
    pthread_mutex_unlock(&say->lock);
}

void say_work(Say *say, const char *fmt, ...)
{
    va_list args;
    if (!say || !say->shows)
        return;
    va_start(args, fmt);
    set(say, say->work, fmt, args);
    va_end(args);
}

void say_part(Say *say, const char *fmt, ...)
{
    va_list args;
    if (!say || !say->shows)
        return;
    va_start(args, fmt);
    set(say, say->part, fmt, args);
    va_end(args);
}
