/* Arrays as text: in brackets, `[[1, 2], [3, 4]]`, or as lines of numbers with commas, semicolons
 * or blanks between them, as in CSV. A line has no commas beside semicolons: they may be decimal
 * ones. Lines that are empty, or begin with #, are passed by. */
#ifndef RISEC_DRIVER_TEXT_DATA_H
#define RISEC_DRIVER_TEXT_DATA_H

#include "ir/interp.h"

/* What the text is for. */
typedef struct TextWanted {
    const char *name; /* "xs" */
    Type type; /* of it, for messages */
    Scalar elem;
    int rank;
} TextWanted;

/* Is it an array in brackets, and no name of a file? */
bool text_is_inline(const char *value);
/* Reads a text, which messages call `source` and show. All of buf is made here. False with a
 * diagnostic at the place that is wrong (E0671). The text must live as long as the context. */
bool text_read(Ctx *ctx, const TextWanted *wanted, const char *source, const char *text,
               size_t size, HostBuf *buf);

#endif
