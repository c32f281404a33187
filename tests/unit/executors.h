/* Compiles an entry and runs it on the reference interpreter and the simulator, for the tests. */
#ifndef RISEC_TESTS_EXECUTORS_H
#define RISEC_TESTS_EXECUTORS_H

#include "codegen/lower.h"
#include "frontend/elab.h"
#include "sim/sim.h"

typedef struct Compiled {
    Ctx *ctx;
    CoreEntry *entry;
    ImpProgram *imp;
} Compiled;

/* Compiles the first entry of a text or a file, with tunables given as "name=value name=value". Prints diagnostics and gives imp NULL when
 * that fails. The context is made here; compiled_free frees it. */
Compiled compile_text(const char *name, const char *text, const char *settings);
Compiled compile_file(const char *path, const char *settings);
void compiled_free(Compiled *c);

/* Fills inputs with small integers (so that float sums are exact) from the seed, runs on sim with the grid (0: default) and compares with ref, bit
 * for bit. All sizes of the entry get the value n. */
typedef enum Outcome { AGREE, DIFFER, FINDING, CANNOT } Outcome;
typedef struct Trial {
    int64_t n, grid;
    uint64_t seed;
    bool compare; /* also run ref; else only look for findings */
    bool quiet;
    int64_t max_cells; /* of any one array; 0: no limit */
} Trial;
Outcome run_trial(Compiled *c, Trial trial, SimReport *report);

#endif
