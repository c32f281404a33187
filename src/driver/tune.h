/* `risec tune`: what its files share. cmd_tune.c finds the candidates and writes the tuning file, tune_measure.c says how good each is. */
#ifndef RISEC_DRIVER_TUNE_H
#define RISEC_DRIVER_TUNE_H

#include "codegen/imp.h"
#include "driver/bench_work.h"
#include "frontend/tuning.h"

enum { TUNE_MAX_CANDIDATES = 512 };

/* Values of all tunables of the entry, and a strategy. */
typedef struct Candidate {
    int64_t *values;
    const char *strategy;  /* NULL: the entry's own */
    const char *why;       /* it cannot be used: E0409 and a few words; else NULL */
    rise_program *program; /* on a GPU */
    rise_entry *compiled;
} Candidate;

typedef struct TuneCost {
    bool known, final; /* final: measured turn by turn with the defaults, so that it may be kept */
    double cost, low, high; /* microseconds, with the 10th and 90th percentile; on the simulator estimated cycles, all three the same */
} TuneCost;

typedef struct Tune {
    Ctx *ctx;
    Driver *d;
    const char *path;
    int number; /* of the entry in its program */
    const CoreEntry *entry; /* with the defaults, and what --set says */
    const ImpProgram *imp;  /* of it */
    bool on_gpu;
    const char *device;
    const char *unit;
    BenchSizes sizes;
    int rounds;
    bool *tuned; /* beside the tunables */
    VEC(const char *) strategies; /* beside the entry's own, each with values for its parameters */
    VEC(const char *) by; /* the sizes whose product tells classes apart */
    VEC(Candidate) candidates; /* the first one is the defaults */
    VEC(const char *) notes;
    BenchGpu gpu;
} Tune;

/* Those of --strategies, with each combination of their parameters' candidates. False with diagnostics. */
bool tune_strategies(Tune *t);
/* The settings that make a candidate. */
ElabSetting *tune_settings(Ctx *ctx, const Tune *t, const Candidate *candidate);
/* The entry with these values, in a context of its own (the caller frees it): typed, checked against the defaults, lowered. Sets candidate->why where that
 * fails; *interface: because callers would see the difference (E0661). NULL: no memory for a context. */
typedef struct TuneTrial {
    const Tune *tune;
    Candidate *candidate;
    bool interface;
    CoreEntry *entry;
    ImpProgram *imp;
} TuneTrial;
Ctx *tune_try(const Tune *t, Candidate *candidate, TuneTrial *trial);

/* Compiles and loads all candidates where that is needed. False with diagnostics. */
bool tune_open(Tune *t);
void tune_close(Tune *t);
/* What each candidate costs at the sizes of one run, all judged by the program's reference. False with diagnostics. */
bool tune_run(Tune *t, int run, int64_t *sizes, TuneCost *costs);

#endif
