/* What the files of the simulator share, and nobody else includes.
 *
 * compile.c turns the imp of a kernel into flat code over registers of 32 lanes, so that a warp can stop at a barrier and go on later.
 * exec.c runs that code: warps within a block, blocks within a grid. lanes.c is its arithmetic, memory.c its loads and stores with
 * their checks, report.c words findings, counters.c and index_cost.c count for profiles, sim.c sets up a launch.
 *
 * Note [Happens-before]. Two accesses of one cell, at least one a write, by different threads race unless they are ordered. What orders
 * them: a barrier of the block between them (the era differs), or, for lanes of one warp, a barrier of that warp (the epoch differs).
 * Launches are ordered, and so is what comes before and after a barrier of the grid. Other blocks are ordered only by tickets: what a block did before
 * its ticket comes before what the last block does after its own. Atomics do not race with each other, but with other accesses. Barriers do not depend on data, so whether two accesses are ordered does not
 * depend on the schedule, and a race is found in whatever order the warps ran. The shadow of a cell keeps its last write and a
 * summary of the reads since; that is enough: if an older access races with a new one, then it also raced with the write between,
 * which was reported. */
#ifndef RISEC_SIM_INTERNAL_H
#define RISEC_SIM_INTERNAL_H

#include "sim/sim.h"

enum {
    WARP = 32,
    SIM_MAX_THREADS = 1024,
    SIM_MAX_SHARED = 232448, /* bytes of a block, after the opt-in */
    SIM_MAX_FINDINGS = 10
};
#define FULL_MASK 0xffffffffu

/* One value per lane, as ScalarValue has it: integers sign- or zero-extended, floats as the double they are. */
typedef union Lanes {
    int64_t i[WARP];
    uint64_t u[WARP];
    double f[WARP];
} Lanes;

/* A growable array in the arena of the run, so that nothing of a run stays behind in the context. */
void *run_grow(Arena *arena, void *at, int n, int *cap, size_t item);
#define run_push(arena, vec, ...)                                                                \
    do {                                                                                         \
        if ((vec)->n == (vec)->cap)                                                              \
            (vec)->at = run_grow((arena), (vec)->at, (vec)->n, &(vec)->cap, sizeof *(vec)->at);  \
        (vec)->at[(vec)->n++] = (__VA_ARGS__);                                                   \
    } while (0)

/* ---- code -------------------------------------------------------------------------------------------------------- */

/* Registers are numbered: 0.. are vectors of 32 lanes; an operand below 0 is the scalar register ~operand, whose value all
 * lanes share. Only index arithmetic (N_...) has scalar operands. Masks m are slots of their own. */
typedef enum OpCode {
    X_END,
    X_IF,        /* m: mask, m+1: lanes of the else branch; lanes where a != 0 go on, or jump to k when there is none. prim 1: of a
                    conditional expression, which a GPU selects without a branch */
    X_ELSE,      /* the lanes of m+1 go on, or jump to k */
    X_ENDIF,     /* mask = m */
    X_FOR,       /* m: mask, m+1: trips so far; dst = a; b: the step */
    X_TEST,      /* lanes where a < b go on; with none left, jump to k. prim 1, here and in X_STEP: of a loop that is unrolled */
    X_STEP,      /* dst += a; jump to k */
    X_ENDFOR,    /* mask = m */
    X_SYNC_WARP,
    X_SYNC_BLOCK, /* a, b: the slots of trip counts of the loops around: sync_loops[a .. a+b) */
    X_SYNC_GRID, /* all blocks meet */
    X_TICKET,    /* dst = whether this is the last block to count in buffer a */
    X_BEFORE,    /* dst = the sum of the totals before number a, which is number m of its row, of the exchange by buffer b; c: the sum of none */
    X_TOTAL,     /* dst = that sum with total number a of buffer b */
    X_AWAIT,     /* dst = the sum of the totals before number a, of which this block has given its own */
    X_SERVE,     /* the exchange by buffer b, of a totals, is answered */
    X_LANES,     /* m: mask, m+1: the lanes that are still to come, one after the other */
    X_LANE,      /* the next one; with none left, mask = m and jump to k */
    X_JUMP,      /* to k */
    X_OLD,       /* dst = buffer b at a, the first half of an atomic */
    X_ATOMIC,    /* buffer b at a = dst, the second half */
    X_ALLOC,     /* a: buffer */
    X_UNSET,     /* registers dst .. dst+k-1: nothing in them yet */
    X_SET,       /* dst = a where the mask is */
    X_MOVE,      /* as X_SET, of a value that is no variable */
    X_CHECK_SET, /* a: variable's register; k: the ImpVar's index */
    X_GET_SLOT,  /* dst = register b + slot a, of k slots; c: the variable */
    X_SET_SLOT,  /* register b + slot a, of k slots = dst; c: the variable */
    X_LOAD,      /* dst = buffer b at a */
    X_STORE,     /* buffer b at a = dst */
    X_VLOAD,     /* registers dst .. dst+k-1 = buffer b from a on */
    X_VSTORE,    /* buffer b from a on = registers operands[c .. c+k) */
    X_APPLY,     /* dst = prim(a, b, c) at `type`; m: of indices alone */
    X_CAST,      /* dst = a; k: type of a; `type`: of dst */
    X_SHFL,      /* dst = a, of `type`, shuffled as `prim` by b; P_reduceWarp: all lanes of a combined by the scalar function b */
    X_NAT,       /* dst = index value a as a value of `type` */
    X_RANGE,     /* a is within b (when k & 1) and c (when k & 2), else the compiler assumed something wrong */
    N_ADDMUL,    /* dst = a + k * b */
    N_MULK,      /* dst = k * a */
    N_ADD, N_MUL, N_DIV, N_MOD, N_MIN, N_MAX, N_POW, N_LOG2
} OpCode;

_Static_assert(P_COUNT <= 256, "a primitive fits into Ins.prim");
typedef struct Ins {
    uint8_t op, prim, type;
    int32_t dst, a, b, c, m;
    uint32_t site;
    int64_t k;
} Ins;

/* A place of the program that findings name. */
typedef struct Site {
    Span span;
    const ImpBuf *buf; /* of an access, else NULL */
    bool store, unordered; /* unordered: stores of this place may meet each other in a cell */
    const char *what;  /* what is computed, for messages: "an index", "a loop bound" */
} Site;

typedef struct Preset { /* a register that keeps its value for the whole launch */
    int reg;
    uint64_t bits;
} Preset;

typedef struct IndexCost { /* of profiles: operations that are paid each time homes[home] runs */
    int home, operations;
    Span place;
} IndexCost;

typedef struct Code {
    VEC(Ins) ins;
    VEC(Span) spans;      /* beside ins: where each comes from */
    VEC(Site) sites;
    VEC(Preset) vectors;  /* constants in all lanes */
    VEC(Preset) scalars;  /* constants, sizes, the grid */
    VEC(int) sync_loops;
    VEC(int) operands;    /* of vector stores */
    VEC(IndexCost) index_costs;
    VEC(int) homes;       /* instructions */
    int n_vectors, n_scalars, n_masks;
    int thread_reg[3], block_reg[3], warp_reg, lane_reg; /* operands; INT32_MAX: not a variable of the kernel */
} Code;

enum { NO_REG = INT32_MAX };

/* ---- memory ------------------------------------------------------------------------------------------------------ */

enum { READERS_ONE, READERS_LANES /* of one warp */, READERS_WARPS, READERS_BLOCKS };

/* What happened to a granule of memory: see Note [Happens-before]. An era is a stretch of one block between two of its barriers,
 * numbered through the whole run from 1 on; 0 is never. */
typedef struct Shadow {
    uint32_t w_era, w_epoch, w_tag /* shared: buffer and its life */, w_site : 30, w_atomic : 2 /* 0: no atomic; else who, as r_many + 1 */;
    uint32_t r_era, r_epoch, r_site;
    uint32_t w_thread : 10, r_thread : 10, r_other : 10, r_many : 2; /* r_other: a second reader when r_many says so */
} Shadow;

/* Where a thread took a ticket: what its block did before that is ordered before what the last block does after its own. */
typedef struct TicketMark {
    uint32_t era, epoch; /* era 0: none */
    uint32_t thread;
} TicketMark;

typedef struct Tickets {
    VEC(TicketMark) released; /* by block, as block_eras */
    TicketMark acquired;      /* of the running block, when it took the last one */
} Tickets;

/* A buffer as the running kernel sees it. */
typedef struct Mem {
    const ImpBuf *buf;
    unsigned char *bytes;
    Shadow *shadow;       /* NULL: read-only */
    int64_t count;        /* cells that may be accessed */
    int cell_bytes, granules; /* of a cell */
    uint32_t *counts;     /* of roundings; NULL: not counted, or an input */
    int64_t base;         /* SHARED: its first byte within the block's memory; else 0: global buffers start on a sector */
    bool shared;
} Mem;

/* Memory that outlives a kernel: results, and workspace by name. */
typedef struct Global {
    ImpSpace space;
    int component;
    const char *name;
    Scalar elem;
    int64_t count;
    unsigned char *bytes;
    Shadow *shadow;
    uint32_t *counts; /* of roundings, or NULL */
    const ImpBuf *buf;
} Global;

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* The totals that blocks exchange by a buffer. Blocks run one after the other, in an order in which each finds the totals before its own: all that
 * the answering block does is done at once, and only looked for when its turn comes. */
typedef struct Exchange {
    int64_t given, awaited;
    uint64_t sum;             /* as in Lanes */
    uint32_t roundings;       /* behind the sum */
    VEC(uint64_t) before;     /* the sums before the totals that were given */
    bool served;
} Exchange;

typedef enum WarpState { WARP_READY, WARP_WAITS, WARP_WAITS_FOR_GRID, WARP_DONE } WarpState;


typedef struct Warp {
    int number;
    WarpState state;
    int pc;
    uint32_t mask, all;  /* active lanes; lanes that exist */
    uint32_t epoch;      /* barriers of the warp that it passed */
    Lanes *v;
    int64_t *s;
    uint32_t *masks;
    uint32_t *set;       /* per vector register: lanes in which it has a value */
    uint32_t *life;      /* per buffer: how often it came into use */
    uint32_t (*counts)[WARP]; /* of roundings, per vector register; NULL: not counted */
} Warp;

/* A block that waits at a barrier of the grid, or has ended: what has to be put back to go on with it. */
typedef struct Resident {
    Warp *warps;
    Mem *mems;
    uint32_t life_era;
    bool waits; /* for the grid */
} Resident;

typedef struct FindingKey {
    const ImpKernel *kernel;
    int kind;
    uint32_t site, other;
    const ImpBuf *buf;
    int finding; /* its index in the report */
} FindingKey;

typedef struct Run {
    Ctx *ctx;
    Arena *lasting;      /* of this run: gone at its end */
    Arena *arena;        /* of the kernel that runs: gone at its end */
    const ImpProgram *program;
    Launch *launch;
    const SimOptions *options;
    SimReport *report;
    VEC(FindingKey) keys; /* of the findings of this run */
    int found, max_findings;
    bool stop;            /* enough findings, or given up */
    bool failed;          /* a diagnostic says why */
    uint64_t steps_left, random;
    int64_t index_max;    /* largest value of an index register */
    uint32_t decided;     /* roundings behind a float that has decided an integer or a boolean, at most */
    struct Profiler *profiler; /* of the kernel; NULL: nothing is counted by lines */
    VEC(Global) globals;
    int64_t global_bytes; /* taken for them */

    /* the kernel */
    const ImpKernel *kernel;
    Code *code;
    int64_t grid[3], blocks; /* blocks: in total */
    int64_t perm_mul, perm_add; /* order of the blocks: number k is (k * mul + add) % blocks */
    Mem *mems;
    int n_warps;
    Warp *warps;
    uint32_t kernel_era;
    struct Tickets *tickets;  /* by buffer */
    Exchange *exchanges;      /* by buffer */
    VEC(uint32_t) block_eras; /* first era of each block run so far, of the first LIMIT_BLOCK_ERAS */

    /* the block */
    int64_t block[3];
    uint32_t block_era, era; /* block_era: its first one since all blocks met last */
    uint32_t life_era;       /* its first one */
} Run;

enum { LIMIT_BLOCK_ERAS = 1 << 20, LIMIT_RESIDENT_BLOCKS = 64 };

static inline uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u); /* splitmix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* compile.c. False with a diagnostic when the kernel is malformed (a bug in risec). `run` has the kernel, its grid and memory. */
bool compile_kernel(Run *run, Code *code);

/* sim.c: warps and shared memory of one more block. */
bool set_resident(Run *run, Resident *block);
/* exec.c: all blocks of the kernel that is set up in `run`. */
void run_grid(Run *run);
void block_coordinates(const Run *run, int64_t number, int64_t block[3]);

/* lanes.c */
void lanes_apply(PrimId prim, Scalar type, uint32_t mask, Lanes *dst, const Lanes *a, const Lanes *b, const Lanes *c);
void lanes_cast(Scalar to, Scalar from, uint32_t mask, Lanes *dst, const Lanes *a);
void lanes_of_nat(Scalar type, uint32_t mask, Lanes *dst, const int64_t *a, int stride);
/* Index arithmetic on n lanes (n = 1: scalar registers). Gives the lanes in which the result leaves 64 bits (or has no value); those of
 * `divisor` in which a divisor is below 1. */
uint32_t lanes_nat(OpCode op, int64_t k, int n, int64_t *dst, const int64_t *a, int stride_a, const int64_t *b, int stride_b, uint32_t mask,
                   uint32_t *divisor);

/* memory.c */
void mem_load(Run *run, Warp *warp, const Ins *ins, const int64_t *index, int stride);
void mem_old(Run *run, Warp *warp, const Ins *ins, const int64_t *index, int stride);
void mem_atomic(Run *run, Warp *warp, const Ins *ins, const int64_t *index, int stride);
void mem_ticket(Run *run, Warp *warp, const Ins *ins);
/* exchange.c: totals of blocks. exchange_blocks: as many as asked for, or just two, where they would wait for later ones. */
int64_t exchange_blocks(Run *run, int64_t blocks);
void exchange_before(Run *run, Warp *warp, const Ins *ins, int64_t index, int64_t place);
void exchange_await(Run *run, Warp *warp, const Ins *ins, int64_t index);
void exchange_total(Run *run, Warp *warp, const Ins *ins);
void exchange_serve(Run *run, const Warp *warp, const Ins *ins, int64_t n);
void exchange_check(Run *run); /* at the end of a kernel */
void mem_store(Run *run, Warp *warp, const Ins *ins, const int64_t *index, int stride);
/* Vector accesses: the cells of one lane are neighbours and move together. */
void mem_load_vector(Run *run, Warp *warp, const Ins *ins, const int64_t *index, int stride);
void mem_store_vector(Run *run, Warp *warp, const Ins *ins, const int64_t *index, int stride);

/* counters.c: what a profile counts. All but count_executed may be called in any run. */
void count_begin(Run *run);  /* a kernel, once it is compiled */
void count_end(Run *run);
void count_finish(Run *run); /* after the last one */
/* How often each instruction ran, and in how many lanes, for the executor to add to; NULL when nobody asked. */
typedef struct Executed {
    uint64_t times, lanes;
} Executed;
Executed *count_executed(const Run *run);
/* A branch: the lanes of `on`, of those active before, go on. */
void count_split(Run *run, const Ins *ins, uint32_t before, uint32_t on);
/* A block passed the barrier. */
void count_meeting(Run *run, const Ins *ins);
/* An access of the lanes in `mask`, each to `cells` consecutive cells from its index on. */
void count_access(Run *run, const Ins *ins, const Mem *mem, uint32_t mask, const int64_t *index, int stride, int cells);

/* roundings.c: the instruction is about to run; for runs that count roundings. */
void count_roundings(Run *run, Warp *warp, const Ins *ins);
/* Behind any cell of the results. */
uint32_t most_roundings(const Run *run);

/* index_cost.c: index arithmetic as it is left by a compiler, for profiles. NULL costs (no profile) take all calls. */
struct IndexCosts *index_costs_new(Run *run, Code *code);
/* A scope begins: the body of a loop, or a branch of an `if`. */
void index_enter(struct IndexCosts *costs, bool loop, bool unrolled);
/* It ends; the instruction `home` runs once for each time that it is entered. */
void index_leave(struct IndexCosts *costs, int home);
/* The variable gets its value in the present scope. */
void index_bind(struct IndexCosts *costs, Nat var);
/* The declaration of a name for an index with offsets: it costs nothing, and its uses what they cost without the name. False: it is none. */
bool index_name(struct IndexCosts *costs, const ImpStmt *decl);
void index_count(struct IndexCosts *costs, Nat index, bool address, Span place);

/* report.c. `lane` -1: the whole warp. Each pair of places is reported once, then counted. */
typedef struct FindingPlace {
    int warp, lane;
    uint32_t site, other; /* indices in code->sites; NO_SITE: none */
    int other_thread;     /* linear, -1: not known */
    const ImpBuf *buf;
    int64_t cell;
} FindingPlace;
#define NO_SITE UINT32_MAX
/* True when it is not the first of its kind at its places; counted then. */
bool sim_repeats(Run *run, SimFindingKind kind, FindingPlace place);
void sim_find(Run *run, SimFindingKind kind, FindingPlace place, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* "thread 37 of block 3 (warp 1, lane 5)" */
const char *thread_text(Run *run, const int64_t block[3], int thread);
void sim_bug(Run *run, Span span, const char *fmt, ...) PRINTF_LIKE(3, 4);

#endif
