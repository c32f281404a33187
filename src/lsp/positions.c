#include "lsp/positions.h"

#include <ctype.h>
#include <stdio.h>

#include "support/utf8.h"

/* The byte behind the end of the line that holds `at`; `size` in the last line. */
static size_t next_line(const char *text, size_t size, size_t at)
{
    for (; at < size; at++) {
        if (text[at] == '\n')
            return at + 1;
        if (text[at] == '\r')
            return at + (at + 1 < size && text[at + 1] == '\n' ? 2 : 1);
    }
    return size;
}

static bool ends_line(const char *text, size_t start, size_t end)
{
    return end > start && (text[end - 1] == '\n' || text[end - 1] == '\r');
}

/* Bytes and code units of the character at `at`. */
static size_t step(const char *text, size_t size, size_t at, uint32_t *units)
{
    uint32_t point = 0;
    size_t n = utf8_decode(text + at, size - at, &point);
    *units = n == 4 ? 2 : 1;
    return n ? n : 1;
}

static uint32_t bom_of(const char *text, size_t size)
{
    return size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

Lines lines_of(Ctx *ctx, const char *text, size_t size, bool on_disk)
{
    Lines lines = {.text = text, .size = size, .front = on_disk ? bom_of(text, size) : 0};
    VEC(uint32_t) starts = {0};
    vec_push(ctx, &starts, lines.front);
    for (size_t at = lines.front; at < size;) {
        size_t next = next_line(text, size, at);
        if (ends_line(text, at, next))
            vec_push(ctx, &starts, (uint32_t)next);
        at = next;
    }
    lines.n = starts.n;
    lines.starts = starts.at;
    return lines;
}

Place lines_place(const Lines *lines, uint32_t at)
{
    int lo = 0, hi = lines->n;
    if (at > lines->size)
        at = (uint32_t)lines->size;
    while (hi - lo > 1) {
        int middle = lo + (hi - lo) / 2;
        if (lines->starts[middle] <= at)
            lo = middle;
        else
            hi = middle;
    }
    Place place = {(uint32_t)lo, 0};
    for (size_t i = lines->starts[lo]; i < at;) {
        uint32_t units;
        i += step(lines->text, lines->size, i, &units);
        place.character += units;
    }
    return place;
}

/* In the line that begins at `start`. */
static size_t column_at(const char *text, size_t size, size_t start, uint32_t character)
{
    size_t at = start;
    for (uint32_t seen = 0; at < size && text[at] != '\n' && text[at] != '\r';) {
        uint32_t units;
        size_t n = step(text, size, at, &units);
        seen += units;
        if (seen > character)
            break;
        at += n;
    }
    return at;
}

uint32_t lines_at(const Lines *lines, Place place)
{
    if (place.line >= (uint32_t)lines->n)
        return (uint32_t)lines->size;
    return (uint32_t)column_at(lines->text, lines->size, lines->starts[place.line],
                               place.character);
}

size_t text_at(const char *text, size_t size, Place place)
{
    size_t at = 0;
    for (uint32_t line = 0; line < place.line; line++) {
        size_t next = next_line(text, size, at);
        if (!ends_line(text, at, next))
            return size;
        at = next;
    }
    return column_at(text, size, at, place.character);
}

void put_range(StrBuf *out, const Lines *lines, uint32_t lo, uint32_t hi)
{
    Place a = lines_place(lines, lo), b = lines_place(lines, hi);
    sb_printf(out,
              "{\"start\":{\"line\":%u,\"character\":%u},\"end\":{\"line\":%u,\"character\":%u}}",
              a.line, a.character, b.line, b.character);
}

/* ---- addresses --------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    return !isxdigit((unsigned char)c) ? -1
           : isdigit((unsigned char)c) ? c - '0'
                                       : (c | 32) - 'a' + 10;
}

const char *uri_path(Ctx *ctx, const char *uri)
{
    if (strncmp(uri, "file://", 7) != 0)
        return uri;
    const char *at = strchr(uri + 7, '/');
    StrBuf path;
    sb_init(&path, ctx);
    for (; at && *at; at++) {
        int high = *at == '%' ? hex_digit(at[1]) : -1, low = high >= 0 ? hex_digit(at[2]) : -1;
        if (low >= 0 && high * 16 + low > 0) {
            sb_putc(&path, (char)(high * 16 + low));
            at += 2;
        } else {
            sb_putc(&path, *at);
        }
    }
    return path.len ? path.text : uri;
}

const char *path_uri(Ctx *ctx, const char *path)
{
    if (path[0] != '/')
        return path;
    StrBuf uri;
    sb_init(&uri, ctx);
    sb_puts(&uri, "file://");
    for (; *path; path++) {
        if (isalnum((unsigned char)*path) || strchr("/-._~", *path))
            sb_putc(&uri, *path);
        else
            sb_printf(&uri, "%%%02X", (unsigned char)*path);
    }
    return uri.text;
}
