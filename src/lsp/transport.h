/* Messages as LSP frames them: headers, an empty line, so many bytes of JSON. Knows nothing of what
 * they say. */
#ifndef RISEC_LSP_TRANSPORT_H
#define RISEC_LSP_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>

enum { TRANSPORT_MOST_BYTES = 64 << 20 }; /* of a message */

typedef enum ReadStatus {
    READ_GOOD,
    READ_END,      /* nothing more comes */
    READ_UNFRAMED, /* headers without a length: what follows is read as the next message's headers
                    */
    READ_TOO_LARGE /* passed over */
} ReadStatus;

typedef struct Transport {
    int in, out; /* files */
    char buffer[16384];
    size_t at, n; /* of the buffer */
} Transport;

/* READ_GOOD: *body is the caller's to free. It waits until a message is there. */
ReadStatus transport_read(Transport *transport, char **body, size_t *size);
/* False where the reader has gone. */
bool transport_write(Transport *transport, const char *body, size_t size);

#endif
