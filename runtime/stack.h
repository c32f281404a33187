/* Threads with a stack of their own choice: compiling recurses over what it compiles, and the thread of a caller may have as little as 64 KiB. */
#ifndef RISE_RUNTIME_STACK_H
#define RISE_RUNTIME_STACK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Memory of a stack is taken as it is used. */
enum { STACK_MIB = 64, STACK_BYTES = STACK_MIB << 20 };

/* Starts fn(arg) on a thread with a stack of `bytes`, which takes no signals: their handlers expect the program's own threads. False where
 * there is no such thread; else pthread_join waits for its end. */
bool stack_start(pthread_t *thread, size_t bytes, void *(*fn)(void *arg), void *arg);

#endif
