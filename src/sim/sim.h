/* The SIMT simulator: runs imp as a GPU would, and checks every access.
 *
 * A grid of blocks, each of warps of 32 lanes in lockstep with active masks; shared and global memory; shuffles; barriers. The order of
 * blocks and of warps between barriers comes from a seed. */
#ifndef RISEC_SIM_SIM_H
#define RISEC_SIM_SIM_H

#include "codegen/imp.h"
#include "sim/counters.h"

enum { SIM_WATCH_BYTES = 40 }; /* for each cell of a result and of the workspace: who wrote and read it */
#define LIMIT_GLOBAL_BYTES ((int64_t)16 << 30) /* of these */

typedef enum SimFindingKind {
    SIM_OUT_OF_BOUNDS, SIM_UNWRITTEN /* read of memory nobody wrote */, SIM_RACE, SIM_DIVERGENT_BARRIER,
    SIM_SHUFFLE_INACTIVE /* reads a lane that does not take part, or not all lanes get there */,
    SIM_OUTPUT_UNWRITTEN /* a cell of a result that no thread wrote */,
    SIM_INDEX_VALUE /* an idx computed or read, or a loop's index, is not in the range that the simplifier was told */, SIM_REGISTER_UNSET,
    SIM_MISALIGNED /* a vector access at an index that is no multiple of its width, or in a buffer that is not aligned so */,
    SIM_STUCK /* an exchange of totals that a device would wait in for ever */,
    SIM_ARITHMETIC /* an index leaves 64 bits (a loop's: 32), divides by 0, or a loop does not step forward */
} SimFindingKind;

typedef struct SimFinding {
    SimFindingKind kind;
    Span span;            /* the .rise text of the access */
    Span other;           /* RACE: of the access it conflicts with */
    int64_t block[3];
    int thread, other_thread; /* linear; -1: none. Of a race between blocks, the other one's within its block */
    const char *buffer;       /* NULL: none */
    int64_t cell;
    const char *text;     /* the whole finding in words */
    uint64_t times;       /* how often, at these two places; the rest tells of the first */
} SimFinding;

typedef struct SimOptions {
    uint64_t seed;        /* 0: blocks and warps in order of their numbers */
    int64_t grid[3];      /* 0: as the kernel's default launch. Axes that the kernel does not tell apart (grid[a] a constant) stay as they are */
    int form;             /* which of each kernel's bodies runs, 0 the first; the last one where there are fewer. Wide indices are used where the sizes need them */
    int max_findings;     /* different ones; 0: 10; the run stops there */
    uint64_t max_steps;   /* 0: no bound; warp instructions before the run is given up */
    int64_t max_bytes;    /* to watch what kernels write; 0: LIMIT_GLOBAL_BYTES */
    bool profile;         /* count by lines: SimReport.profile */
    const int *over;      /* of each input, 1 + the number of the result that takes its memory, as large as the input; 0: none. NULL: none does */
    bool roundings;       /* count them: SimReport.roundings; takes memory and time */
} SimOptions;

/* Loads and stores count cells, shuffles and barriers of a warp count warps, barriers of a block count blocks. */
typedef struct SimReport {
    VEC(SimFinding) findings;
    uint64_t warp_instructions, global_loads, global_stores, shared_loads, shared_stores, shuffles, block_barriers, warp_barriers;
    uint32_t roundings;  /* when they were counted: most of them one after the other, behind a result or what has decided one */
    SimProfile *profile; /* when it was asked for, else NULL; of a run that stopped early, what was counted until then */
} SimReport;

/* Can the simulator watch all results of a launch at its sizes? Says which one it cannot (E0642, E0644). Fills the shapes of
 * `results`, as many as the type of the result has components, and takes no memory for them. max_bytes: as in SimOptions. */
bool sim_takes_results(Ctx *ctx, const CoreEntry *entry, const Launch *launch, int64_t max_bytes, HostBuf *results);

/* Runs all kernels of the program; makes and fills launch->results. `options` may be NULL. Workspace that several kernels name alike is the same
 * memory. A kernel whose default grid has no blocks is not launched. True when it ran to the end without a finding. Findings are in the report
 * and, through sim_diagnose, as diagnostics. False with diagnostics (E06xx) also when the launch itself is impossible. */
bool sim_run(Ctx *ctx, const ImpProgram *program, Launch *launch, const SimOptions *options, SimReport *report);
void sim_diagnose(Ctx *ctx, const SimReport *report);

#endif
