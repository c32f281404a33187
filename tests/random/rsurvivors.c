#include "rsurvivors.h"

#include <stdio.h>
#include <string.h>

enum { LEAST_REASON = 12 };
static const char FAR[] = " -- out of reach: ";

bool survivors_load(Survivors *s, const char *path)
{
    FILE *file = fopen(path, "r");
    char line[2 * SURVIVOR_LINE];
    if (!file)
        return false;
    while (fgets(line, sizeof line, file)) {
        char *why = strstr(line, " -- ");
        if (line[0] == '#' || !why)
            continue;
        if (s->n == SURVIVORS_MAX) {
            fclose(file);
            return false;
        }
        s->proved[s->n] = strlen(why) > LEAST_REASON;
        s->far[s->n] = strncmp(why, FAR, strlen(FAR)) == 0;
        *why = 0;
        s->places[s->n] = 1;
        char *times = strrchr(line, '(');
        int places, length = 0;
        if (times && sscanf(times, "(%d places)%n", &places, &length) == 1 && length > 0 && times[length] == 0) { /* no parenthesis of the place itself */
            s->places[s->n] = places;
            times[-1] = 0;
        }
        snprintf(s->lines[s->n++], SURVIVOR_LINE, "%.*s", SURVIVOR_LINE - 1, line);
    }
    fclose(file);
    return true;
}

/* The line of the file, in which `*` at the end of the kernel's name stands for any letters, digits and underscores, is this one. */
static bool survivor_is(const char *listed, const char *line)
{
    const char *kernel = strstr(listed, ": "), *star = kernel ? strstr(kernel + 2, ": ") : NULL;
    if (!star || star[-1] != '*')
        return strcmp(listed, line) == 0;
    size_t before = (size_t)(star - 1 - listed);
    if (strncmp(listed, line, before) != 0)
        return false;
    line += before;
    return strcmp(line + strspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"), star) == 0;
}

bool survivor_listed(const Survivors *s, const char *line, int places)
{
    for (int k = 0; s && k < s->n; k++)
        if (survivor_is(s->lines[k], line))
            return s->places[k] >= places;
    return false;
}

bool survivor_known(Survivors *s, const char *line, long *far)
{
    for (int k = 0; k < s->n; k++)
        if (survivor_is(s->lines[k], line)) {
            s->seen[k]++;
            *far += s->far[k];
            return s->proved[k] && s->seen[k] <= s->places[k];
        }
    return false;
}

int survivors_stale(Survivors *s, const char *path)
{
    int stale = 0;
    for (int k = 0; k < s->n; k++)
        if (s->seen[k] < s->places[k] && strncmp(s->lines[k], path, strlen(path)) == 0 && s->lines[k][strlen(path)] == ':') {
            printf("%d of %d survive: %s\n", s->seen[k], s->places[k], s->lines[k]);
            stale++;
        }
    return stale;
}

void survivors_print_seen(const Survivors *s)
{
    for (int k = 0; k < s->n; k++)
        if (s->seen[k])
            printf("seen %d of %d: %s\n", s->seen[k], s->places[k], s->lines[k]);
}
