/* Filling rise_error. */
#ifndef RISE_RUNTIME_ERROR_H
#define RISE_RUNTIME_ERROR_H

#include "rise.h"

#if defined(__GNUC__)
#define RISE_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define RISE_PRINTF(fmt, args)
#endif

/* Fills *error unless it is NULL; gives `status`. Text that is too long ends in "...", at the end of a character. The arguments may not lie in
 * error->text: see rise_error_note. */
int rise_fail(rise_error *error, int status, const char *fmt, ...) RISE_PRINTF(3, 4);
/* Adds to the text of a failure that is there. */
void rise_error_note(rise_error *error, const char *fmt, ...) RISE_PRINTF(2, 3);

#endif
