/* Handles: what rise.h gives to callers in place of pointers. A handle is the number of a place in a table,
 * with the kind of what is there and how often the place was used before. So one that was freed, one of
 * another kind, and any pointer of the caller's are told from those that stand for something.
 *
 * The table is the process's, the only thing in librise that is. A look takes no lock. */
#ifndef RISE_RUNTIME_HANDLES_H
#define RISE_RUNTIME_HANDLES_H

#include <stdbool.h>

#include "error.h"

typedef enum HandleKind { HANDLE_CONTEXT, HANDLE_PROGRAM, HANDLE_ENTRY, HANDLE_CALL } HandleKind;

/* NULL with RISE_ERROR_MEMORY. */
void *handle_new(HandleKind kind, void *object, rise_error *error);
/* The object; NULL with RISE_ERROR_ARGUMENT, which says what the handle is instead. */
void *handle_get(HandleKind kind, const void *handle, rise_error *error);
/* Ends the handle, and gives the object to one caller only; NULL where the handle stands for nothing. */
void *handle_take(HandleKind kind, const void *handle);

/* ---- fork -------------------------------------------------------------------------------------------- */

/* A child of fork has none of its parent's objects: their handles are ended there. What else of the parent
 * cannot go on is noted here, before and after. */
typedef enum Unforkable {
    IN_DRIVER, /* the CUDA driver has been started */
    IN_NVRTC   /* a thread is inside NVRTC */
} Unforkable;
void fork_note(Unforkable what, int by); /* +1 where it begins, -1 where it ends */
/* This process is a child, and its parent was there when it forked. */
bool fork_broke(Unforkable what);

#endif
