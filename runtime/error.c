#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put(rise_error *error, size_t at, const char *fmt, va_list args)
{
    size_t room = sizeof error->text - at;
    int n = vsnprintf(error->text + at, room, fmt, args);
    if (n < 0)
        error->text[at] = 0;
    if (n < 0 || (size_t)n < room)
        return;
    size_t end = sizeof error->text - sizeof "...";
    while (end > 0 && ((unsigned char)error->text[end] & 0xc0) == 0x80)
        end--;
    memcpy(error->text + end, "...", sizeof "...");
}

int rise_fail(rise_error *error, int status, const char *fmt, ...)
{
    if (!error)
        return status;
    va_list args;
    va_start(args, fmt);
    put(error, 0, fmt, args);
    va_end(args);
    error->status = status;
    error->cuda = 0;
    return status;
}

void rise_error_note(rise_error *error, const char *fmt, ...)
{
    if (!error)
        return;
    size_t at = strlen(error->text);
    if (at + 8 > sizeof error->text)
        return;
    va_list args;
    va_start(args, fmt);
    put(error, at, fmt, args);
    va_end(args);
}

const char *rise_status_name(int status)
{
    static const struct {
        int status;
        const char *name;
    } names[] = {
#define STATUS(s) {s, #s}
        STATUS(RISE_OK), STATUS(RISE_ERROR_PROGRAM), STATUS(RISE_ERROR_ARGUMENT), STATUS(RISE_ERROR_DEVICE), STATUS(RISE_ERROR_MEMORY),
        STATUS(RISE_ERROR_DEVICE_MEMORY), STATUS(RISE_ERROR_FILE), STATUS(RISE_ERROR_NVRTC), STATUS(RISE_ERROR_FAULT), STATUS(RISE_ERROR_LOST), STATUS(RISE_ERROR_CANCELLED), STATUS(RISE_ERROR_LIMIT),
        STATUS(RISE_ERROR_BUG),
#undef STATUS
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].status == status)
            return names[i].name;
    return "?";
}
