/* Places in a text as LSP counts them: lines from 0, which end with \n, \r\n or \r, and in a line
 * UTF-16 code units; what is no UTF-8 counts one a byte. And addresses of files: URIs and paths. */
#ifndef RISEC_LSP_POSITIONS_H
#define RISEC_LSP_POSITIONS_H

#include "support/context.h"

typedef struct Place {
    uint32_t line, character;
} Place;

typedef struct Lines {
    const char *text;
    size_t size;
    int n;
    const uint32_t *starts;
    uint32_t front; /* bytes that the editor does not count: of a byte order mark that is in the
                       file alone */
} Lines;

/* on_disk: the text was read from a file, of which an editor shows no byte order mark. */
Lines lines_of(Ctx *ctx, const char *text, size_t size, bool on_disk);
Place lines_place(const Lines *lines, uint32_t at);
/* The byte at a place; one that is not there is the nearest before it. */
uint32_t lines_at(const Lines *lines, Place place);
/* The same for a text that is asked but once. */
size_t text_at(const char *text, size_t size, Place place);

/* `{"start": .., "end": ..}` */
void put_range(StrBuf *out, const Lines *lines, uint32_t lo, uint32_t hi);

/* The path of a file: URI, and the URI itself of any other. */
const char *uri_path(Ctx *ctx, const char *uri);
const char *path_uri(Ctx *ctx, const char *path);

#endif
