/* Lines that a user types, or that come through a pipe: line_reader.c. */
#ifndef RISEC_DRIVER_LINE_READER_H
#define RISEC_DRIVER_LINE_READER_H

#include "support/context.h"

typedef struct LineReader {
    bool terminal; /* there is a prompt */
    bool edits;    /* lines are edited, and kept in a history */
    char *line;    /* the last one, without its end */
    size_t room;
    const char *history; /* its file; or NULL */
    char *added;         /* the last line that went there */
} LineReader;

typedef enum LineRead { LINE_GIVEN, LINE_INTERRUPTED, LINE_END } LineRead;

void line_reader_open(Ctx *ctx, LineReader *reader);
/* reader->line lives until the next call. Ctrl-C gives LINE_INTERRUPTED. */
LineRead line_reader_next(LineReader *reader, const char *prompt);
void line_reader_close(LineReader *reader);

#endif
