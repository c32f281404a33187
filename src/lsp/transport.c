#include "lsp/transport.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { HEADER_BYTES = 1024 }; /* of a line; what is longer is no header of ours */

/* The next byte, or -1 at the end. */
static int next_byte(Transport *t)
{
    while (t->at == t->n) {
        ssize_t got = read(t->in, t->buffer, sizeof t->buffer);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return -1;
        t->at = 0;
        t->n = (size_t)got;
    }
    return (unsigned char)t->buffer[t->at++];
}

/* A line without its end; what does not fit is left out. False at the end of the input. */
static bool read_line(Transport *t, char *line)
{
    size_t n = 0;
    for (;;) {
        int c = next_byte(t);
        if (c < 0)
            return false;
        if (c == '\n')
            break;
        if (n + 1 < HEADER_BYTES)
            line[n++] = (char)c;
    }
    if (n > 0 && line[n - 1] == '\r')
        n--;
    line[n] = 0;
    return true;
}

/* `Content-Length: 12`; -1: it is another header, or no number. */
static long long length_of(const char *line)
{
    static const char name[] = "content-length:";
    if (strncasecmp(line, name, sizeof name - 1) != 0)
        return -1;
    const char *at = line + sizeof name - 1;
    while (*at == ' ' || *at == '\t')
        at++;
    if (!isdigit((unsigned char)*at))
        return -1;
    long long length = 0;
    for (; isdigit((unsigned char)*at); at++)
        if (length <= TRANSPORT_MOST_BYTES)
            length = length * 10 + (*at - '0');
    while (*at == ' ' || *at == '\t')
        at++;
    return *at ? -1 : length;
}

static bool read_body(Transport *t, char *body, size_t size)
{
    for (size_t i = 0; i < size;) {
        if (t->at == t->n) {
            int c = next_byte(t);
            if (c < 0)
                return false;
            body[i++] = (char)c;
            continue;
        }
        size_t some = t->n - t->at < size - i ? t->n - t->at : size - i;
        memcpy(body + i, t->buffer + t->at, some);
        t->at += some;
        i += some;
    }
    return true;
}

ReadStatus transport_read(Transport *t, char **body, size_t *size)
{
    char line[HEADER_BYTES];
    long long length = -1;
    for (bool any = false;; any = true) {
        if (!read_line(t, line))
            return READ_END;
        if (!line[0] && any)
            break;
        long long here = length_of(line);
        if (here >= 0)
            length = here;
    }
    if (length < 0)
        return READ_UNFRAMED;
    char *bytes = length <= TRANSPORT_MOST_BYTES ? malloc((size_t)length + 1) : NULL;
    if (!bytes) {
        for (long long i = 0; i < length; i++)
            if (next_byte(t) < 0)
                return READ_END;
        return READ_TOO_LARGE;
    }
    if (!read_body(t, bytes, (size_t)length)) {
        free(bytes);
        return READ_END;
    }
    bytes[length] = 0;
    *body = bytes;
    *size = (size_t)length;
    return READ_GOOD;
}

static bool write_all(int file, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t done = write(file, bytes, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        bytes += done;
        size -= (size_t)done;
    }
    return true;
}

bool transport_write(Transport *t, const char *body, size_t size)
{
    char header[64];
    int n = snprintf(header, sizeof header, "Content-Length: %zu\r\n\r\n", size);
    return write_all(t->out, header, (size_t)n) && write_all(t->out, body, size);
}
