/* Compiles an entry and runs it on the reference interpreter and the simulator, for the tests. */
#ifndef RISEC_TESTS_EXECUTORS_H
#define RISEC_TESTS_EXECUTORS_H

#include "codegen/index_guards.h"
#include "codegen/lower.h"
#include "codegen/one_memory.h"
#include "frontend/elab.h"
#include "driver/judge.h"
#include "ir/sample.h"
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
/* Entry k of a file, and how many it has: for (int k = 0, n = 1; k < n; k++) compile_entry(path, k, &n). */
Compiled compile_entry(const char *path, int k, int *n);
void compiled_free(Compiled *c);

/* Fills inputs as sample_launch does (integers of any value for odd seeds), runs on sim with the grid (0: default) and compares with ref, bit
 * for bit. All sizes of the entry get the value n. */
typedef enum Outcome { AGREE, DIFFER, FINDING, CANNOT } Outcome;
typedef struct Trial {
    int64_t n, grid;
    uint64_t seed;
    bool compare; /* also run ref; else only look for findings */
    bool quiet;
    int64_t max_cells; /* of any one array; 0: no limit */
} Trial;
/* Warp instructions of a run after which larger sizes are left out: they would take long and show nothing new. */
#ifdef __SANITIZE_ADDRESS__
enum { TRIAL_ENOUGH = 1 << 15 };
#else
enum { TRIAL_ENOUGH = 1 << 18 };
#endif

/* A launch on both: ref runs the entry as it is written, sim what was made of it, in each of its variants. The launch's inputs stay as they are. */
typedef struct Both {
    SimOptions options;
    bool compare;     /* also run ref */
    SimReport *report;
    Launch sim, ref;  /* after AGREE: the results of each; of sim the last variant's */
    Judgement judgement; /* of what differs in its bits; of several variants, the one that says least */
    bool to_the_bit;  /* what agrees does so to the bit; else a judge was asked about other bits: the order is open and something was rounded, or places repeat */
} Both;
Outcome run_both(Ctx *ctx, const CoreEntry *entry, const ImpProgram *imp, const Launch *launch, Both *b);

Outcome run_trial(Compiled *c, Trial trial, SimReport *report);
/* The same with its own value for each size of the entry instead of n, and a limit of the simulator's steps: a run that is given up gives CANNOT. */
Outcome run_trial_at(Compiled *c, Trial trial, const int64_t *sizes, uint64_t max_steps, SimReport *report);
/* As run_trial or, where `sizes` are given, as run_trial_at, on the simulator with results in the memory of inputs: SimOptions.over. */
Outcome run_trial_over(Compiled *c, Trial trial, const int64_t *sizes, uint64_t max_steps, const int *over, SimReport *report);
/* What the compiler says of a result and an input, by their numbers among components. */
OneMemory ask_one_memory(const Compiled *c, int result, int input);
int count_inputs(const CoreEntry *entry); /* by component */

#endif
