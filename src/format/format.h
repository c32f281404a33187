/* The formatter: the text of a program as `risec fmt` writes it. What comes out depends on the
 * tokens alone, on the comments, on whether each begins its line, and on whether an empty line
 * follows it; not on blanks and ends of lines. */
#ifndef RISEC_FORMAT_FORMAT_H
#define RISEC_FORMAT_FORMAT_H

#include "support/context.h"

typedef enum FormatStatus {
    FORMAT_GOOD,
    FORMAT_MISTAKE, /* the source does not parse: the diagnostics say why */
    FORMAT_BUG /* what came out has other tokens or comments: a bug in risec */
} FormatStatus;

/* Formats a source, or of it the items that stand on lines first to last (1 is the first one), the
 * others as they are. Warnings of the parser are forgotten. */
FormatStatus format_source(Ctx *ctx, uint32_t file, int first, int last, StrBuf *out);

#endif
