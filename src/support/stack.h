/* The stack: threads with one of our own choice, and how much of it is left.
 *
 * What we compile is a tree, and walks over trees recur. So work is done on a thread with a large stack, and the height of every tree that is made is bounded by
 * what that stack bears (`levels`), whatever the walk. What recurs over more than one tree (a definition inside a definition, a view of a view) asks
 * ctx_near_end at each step. Nothing else counts levels, and the length of a text is bounded by memory alone. */
#ifndef RISEC_SUPPORT_STACK_H
#define RISEC_SUPPORT_STACK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define STACK_LARGE_FRAMES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define STACK_LARGE_FRAMES 1
#endif
#endif

/* Memory of a stack is taken as it is used. STACK_LEVEL: bytes that a walk may take for each level of a tree. So many levels fit into seven eighths of such a
 * stack in every build: STACK_LEVELS. */
#ifdef STACK_LARGE_FRAMES
enum { STACK_MIB = 1024, STACK_LEVEL = 24 << 10 };
#else
enum { STACK_MIB = 256, STACK_LEVEL = 6 << 10 };
#endif
/* Where there is no memory for so large a stack, it is halved down to this. */
enum { STACK_LEAST_MIB = 64, STACK_LEVELS = 36000 };

/* Starts fn(arg) on a thread with such a stack, which takes no signals: their handlers expect the program's own threads. False where
 * there is no such thread; else pthread_join waits for its end. */
bool stack_start(pthread_t *thread, void *(*fn)(void *arg), void *arg);
/* fn(arg) on such a stack, in place of the calling thread: it takes the signals meanwhile. On the caller's own stack where there is no other. */
void stack_run(void (*fn)(void *arg), void *arg);

/* The part of the thread's stack that is left to whoever asks. */
typedef struct Stack {
    uintptr_t end; /* what is below is kept for calls that do not recur */
    int levels;    /* of a tree that can be walked from here */
} Stack;

Stack stack_left(void);
static inline bool stack_is_near_end(const Stack *stack) { return (uintptr_t)__builtin_frame_address(0) < stack->end; }

#endif
