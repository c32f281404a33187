/* What a run on the simulator cost, line by line: memory traffic, bank conflicts, divergence, instructions by kind. docs/profiling.md
 * defines each counter; counters.def names them. It counts what a GPU would do, and knows no time. */
#ifndef RISEC_SIM_COUNTERS_H
#define RISEC_SIM_COUNTERS_H

#include "support/context.h"

typedef enum CounterId {
#define COUNTER(id, heading, text) COUNT_##id,
#define LAUNCHED(id, text)
#define RATIO(id, scale, over, under, text)
#include "sim/counters.def"
#undef COUNTER
#undef LAUNCHED
    COUNTERS_OF_LINES,
    COUNTERS_BEFORE_LAUNCHED = COUNTERS_OF_LINES - 1,
#define COUNTER(id, heading, text)
#define LAUNCHED(id, text) COUNT_##id,
#include "sim/counters.def"
#undef LAUNCHED
#undef RATIO
    COUNTERS_COUNTED,
    COUNTERS_BEFORE_RATIOS = COUNTERS_COUNTED - 1,
#define LAUNCHED(id, text)
#define RATIO(id, scale, over, under, text) COUNT_##id,
#include "sim/counters.def"
#undef COUNTER
#undef LAUNCHED
#undef RATIO
    COUNTER_COUNT
} CounterId;

typedef struct CounterRow {
    const char *name, *heading, *text;
    int scale;               /* of a ratio, else 0 */
    CounterId over, under;
} CounterRow;

extern const CounterRow counter_rows[COUNTER_COUNT];
CounterId counter_find(const char *name); /* COUNTER_COUNT: there is none */

typedef struct Counts {
    uint64_t at[COUNTERS_COUNTED];
} Counts;

/* Of a ratio over nothing: 0. Whole numbers are exact up to 2^53. */
double counter_value(const Counts *counts, CounterId id);

enum { STRIDE_NONE, STRIDE_SAME, STRIDE_MIXED };

/* The loads, or the stores, of one buffer at one line. */
typedef struct SimAccess {
    const char *buffer;
    bool store, shared;
    int bytes;        /* that one lane moves at once */
    Counts counts;
    int ways;         /* SHARED: the most words of one bank that a wavefront would have to serve: 1 is free of conflicts */
    int stride_kind;  /* whether neighbouring lanes were always `stride` cells apart */
    int64_t stride;
} SimAccess;

typedef struct SimLine {
    uint32_t file; /* 0: of no line */
    int line;
    Counts counts;
    VEC(SimAccess) accesses;
} SimLine;

/* One launch of a kernel. */
typedef struct SimKernel {
    const char *name;
    int64_t blocks[3];
    int threads[3];
    Counts counts;
} SimKernel;

typedef struct SimProfile {
    VEC(SimLine) lines; /* the program's file first, in order of their lines */
    VEC(SimKernel) kernels; /* in the order of their launches */
    Counts total;
} SimProfile;

#endif
