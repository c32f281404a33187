/* What the runs for a clause about a result share with what is said of them. Not for anyone else.
 */
#ifndef RISEC_DRIVER_EXPECT_RUN_H
#define RISEC_DRIVER_EXPECT_RUN_H

#include "driver/expect.h"
#include "driver/judge.h"
#include "rise.h"

/* A name behind `for`, with its values. */
typedef struct Sample {
    const char *name;
    int first, n; /* of clause->given */
} Sample;

typedef struct Testing {
    Ctx *ctx;
    const ExpectResult *what;
    const Expect *clause;
    Driver *d;
    int n_samples;
    Sample *samples;
    int *chosen; /* which value of each, counted from its first one */
    const CoreEntry *entry, *other; /* other: or NULL */
    const ImpProgram *imp;
    int component; /* of the result, from 0; -1: all */
    rise_context *gpu;
    int64_t cells;
    Diag *said; /* of the first difference */
} Testing;

/* One run. */
typedef struct Run {
    CommandLine line; /* as somebody would give it on the command line */
    Launch launch;
    const char *kind; /* of the inputs that nothing gives; NULL: all are given */
    bool drawn; /* some that are given are drawn from the seed */
    int64_t seed;
    HostBuf *want;
    Judgement judgement;
} Run;

/* The name of component c of an input, as --arg has it; and what is given for it in a run, or NULL.
 */
const char *expect_input_name(Ctx *ctx, const CoreVar *input, int c);
const char *expect_input_value(const Run *run, const char *input);
/* Reports a run whose result is not as it should be: the first one, and counts the others. */
void expect_say(Testing *t, Run *run);

#endif
