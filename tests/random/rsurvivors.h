/* The faults that change nothing, from a file with a line and a reason for each. */
#ifndef RISEC_TESTS_RSURVIVORS_H
#define RISEC_TESTS_RSURVIVORS_H

#include <stdbool.h>

enum { SURVIVORS_MAX = 1000, SURVIVOR_LINE = 600 };

typedef struct Survivors {
    int n;
    char lines[SURVIVORS_MAX][SURVIVOR_LINE]; /* up to " -- " */
    bool proved[SURVIVORS_MAX];
    bool far[SURVIVORS_MAX]; /* no launch that can be run here gets there: the reason says so in its first words */
    int places[SURVIVORS_MAX], seen[SURVIVORS_MAX]; /* on one line there may be several such places */
} Survivors;

/* Adds the file's lines; false: it cannot be read, or has too many. */
bool survivors_load(Survivors *s, const char *path);
/* Are all of the `places` that have this line listed? Else nothing says which of them. s may be NULL. */
bool survivor_listed(const Survivors *s, const char *line, int places);
/* One more place with this line was noticed by nothing: is it listed, with a reason? Counts in *far those that are out of reach. */
bool survivor_known(Survivors *s, const char *line, long *far);
/* Prints what is listed about the file and was not seen as often; returns the number of such lines. */
int survivors_stale(Survivors *s, const char *path);

/* Prints how often each listed line was seen, where it was: for runs of which each plants a part of the faults. */
void survivors_print_seen(const Survivors *s);

#endif
