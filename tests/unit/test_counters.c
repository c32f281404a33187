/* What the simulator counts, against counts made by hand on kernels built by hand, and against a plain model of sectors and banks on random
 * accesses. */
#include <stdlib.h>

#include "sim/sim_internal.h"
#include "unit.h"

/* ---- building ------------------------------------------------------------------------------------------------------------- */

enum { CELLS = 32 * 33 + 1 };

/* A kernel of some warps. Every statement gets a line of its own, from 1 on. */
typedef struct Test {
    Ctx *ctx;
    CoreEntry entry;
    ImpProgram program;
    ImpKernel *kernel;
    Launch launch;
    SimReport report;
    HostBuf input;
    CoreVar var, *vars[1];
    ImpBuf *xs, *ys;
    ImpBlock *out;
    Nat t; /* the thread */
    int line;
    uint32_t file;
} Test;

static Nat K(Test *t, int64_t k) { return nat_const(t->ctx, k); }

static ImpBuf *buffer(Test *t, ImpSpace space, const char *name, Scalar elem, int64_t count)
{
    ImpBuf *b = NEW(t->ctx, ImpBuf);
    *b = (ImpBuf){.id = t->kernel->bufs.n, .name = name, .space = space, .elem = elem, .count = K(t, count)};
    vec_push(t->ctx, &t->kernel->bufs, b);
    return b;
}

static void add_kernel(Test *t, int threads, int blocks)
{
    Ctx *ctx = t->ctx;
    ImpKernel *k = NEW(ctx, ImpKernel);
    *k = (ImpKernel){.name = "kernel", .entry = &t->entry, .lanes = WARP_LANES};
    for (int a = 0; a < 3; a++) {
        k->threads[a] = a ? 1 : threads;
        k->blocks[a] = K(t, a ? 1 : blocks);
        k->grid[a] = K(t, 1);
        k->block[a] = k->thread[a] = K(t, 0);
    }
    k->grid[0] = nat_var(ctx, "grid", K(t, 1), NULL);
    k->block[0] = nat_var(ctx, "block", K(t, 0), nat_add_k(ctx, k->grid[0], -1));
    k->thread[0] = t->t = nat_var(ctx, "thread", K(t, 0), K(t, threads - 1));
    k->warp = threads > 32 ? nat_var(ctx, "warp", K(t, 0), K(t, threads / 32 - 1)) : K(t, 0);
    k->lane = nat_var(ctx, "lane", K(t, 0), K(t, 31));
    vec_push(ctx, &t->program.kernels, k);
    imp_launch_always(ctx, &t->program, k);
    t->kernel = k;
    t->out = &k->body;
}

/* An input of CELLS cells and a result with a cell for each thread. */
static Test *start(Scalar elem, int threads, int blocks)
{
    static const char lines[] = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    Ctx *ctx = ctx_new(NULL, NULL);
    Test *t = NEW(ctx, Test);
    t->ctx = ctx;
    t->file = source_add(ctx, "kernel.rise", lines, sizeof lines - 1);
    t->program.entry = &t->entry;
    t->entry.name = "entry";
    t->var = (CoreVar){.name = "xs", .type = type_array(ctx, K(t, CELLS), type_scalar(ctx, elem))};
    t->vars[0] = &t->var;
    t->entry.inputs = t->vars;
    t->entry.n_inputs = t->launch.n_buffers = 1;
    t->entry.result = type_array(ctx, K(t, (int64_t)threads * blocks), type_scalar(ctx, elem));
    t->launch.buffers = &t->input;
    launch_buffer(ctx, &t->entry, &t->launch, t->var.type, &t->input, true);
    add_kernel(t, threads, blocks);
    t->ys = buffer(t, SPACE_OUTPUT, "ys", elem, (int64_t)threads * blocks);
    t->xs = buffer(t, SPACE_INPUT, "xs", elem, CELLS);
    return t;
}

static Span here(const Test *t) { return (Span){t->file, (uint32_t)(t->line - 1) * 2, (uint32_t)(t->line - 1) * 2 + 1}; }
static ImpStmt *stmt(Test *t, ImpStmtKind kind)
{
    t->line++;
    return imp_stmt(t->ctx, t->out, kind, here(t));
}

static ImpExpr *load(Test *t, ImpBuf *buf, Nat index) { return imp_load(t->ctx, buf, index, here(t)); }
static ImpExpr *nat(Test *t, Nat n) { return imp_nat(t->ctx, n, SC_I32, here(t)); }
static ImpExpr *less(Test *t, Nat a, Nat b) { return imp_op2(t->ctx, P_lt, SC_BOOL, nat(t, a), nat(t, b), here(t)); }
static Nat times(Test *t, Nat a, int64_t k) { return nat_mul_k(t->ctx, a, k); }

static void store(Test *t, ImpBuf *buf, Nat index, ImpExpr *value)
{
    ImpStmt *s = stmt(t, IS_STORE);
    s->store.buf = buf;
    s->store.index = index;
    s->store.value = value;
}

/* ys[the thread of the grid] = value */
static void give(Test *t, ImpExpr *value)
{
    store(t, t->ys, nat_add(t->ctx, times(t, t->kernel->block[0], t->kernel->threads[0]), t->t), value);
}

static bool run(Test *t)
{
    static const SimOptions options = {.profile = true};
    bool good = sim_run(t->ctx, &t->program, &t->launch, &options, &t->report);
    for (int i = 0; i < t->report.findings.n; i++)
        printf("finding: %s\n", t->report.findings.at[i].text);
    return CHECK(good) && CHECK(t->report.profile);
}

static void finish(Test *t) { ctx_free(t->ctx); }

static uint64_t total(const Test *t, CounterId id) { return t->report.profile->total.at[id]; }
static double ratio(const Test *t, CounterId id) { return counter_value(&t->report.profile->total, id); }
static const SimLine *line_of(const Test *t, int line)
{
    for (int i = 0; i < t->report.profile->lines.n; i++)
        if (t->report.profile->lines.at[i].line == line)
            return &t->report.profile->lines.at[i];
    return NULL;
}
static uint64_t at_line(const Test *t, int line, CounterId id)
{
    const SimLine *l = line_of(t, line);
    return l ? l->counts.at[id] : 0;
}

/* ---- global memory ---------------------------------------------------------------------------------------------------------- */

static void check_sectors(Scalar elem, int64_t scale, int64_t offset, uint64_t sectors, uint64_t needed, int64_t stride)
{
    Test *t = start(elem, 32, 1);
    ImpStmt *s = stmt(t, IS_DECL);
    ImpVar *x = NEW(t->ctx, ImpVar);
    *x = (ImpVar){.name = "x", .type = elem, .slots = 1};
    vec_push(t->ctx, &t->kernel->vars, x);
    s->var.var = x;
    s->var.value = load(t, t->xs, nat_add_k(t->ctx, times(t, t->t, scale), offset));
    give(t, imp_var(t->ctx, x, K(t, 0), here(t)));
    if (run(t)) {
        CHECK(at_line(t, 1, COUNT_sectors) == sectors && at_line(t, 1, COUNT_sectorsNeeded) == needed);
        CHECK(at_line(t, 1, COUNT_globalRequests) == 1 && at_line(t, 1, COUNT_loads) == 1 && at_line(t, 1, COUNT_stores) == 0);
        uint64_t written = (uint64_t)scalar_bytes(elem);
        CHECK(at_line(t, 2, COUNT_sectors) == written && at_line(t, 2, COUNT_sectorsNeeded) == written && at_line(t, 2, COUNT_stores) == 1);
        CHECK(total(t, COUNT_sectors) == sectors + written && ratio(t, COUNT_sectorsPerWarp) == (double)(sectors + written) / 2);
        const SimLine *line = line_of(t, 1);
        CHECK(line->accesses.n == 1 && line->accesses.at[0].stride_kind == STRIDE_SAME && line->accesses.at[0].stride == stride);
        CHECK(!line->accesses.at[0].store && !line->accesses.at[0].shared && line->accesses.at[0].bytes == scalar_bytes(elem));
        CHECK(total(t, COUNT_sharedRequests) == 0 && total(t, COUNT_bankConflicts) == 0);
    }
    finish(t);
}

static void test_global(void)
{
    check_sectors(SC_F32, 1, 0, 4, 4, 1);     /* coalesced: 128 bytes */
    check_sectors(SC_F32, 2, 0, 8, 4, 2);     /* 256 bytes, of which half are used */
    check_sectors(SC_F32, 32, 0, 32, 4, 32);  /* a sector for each lane */
    check_sectors(SC_F32, 1, 1, 5, 4, 1);     /* bytes 4 to 132 */
    check_sectors(SC_F32, 1, 8, 4, 4, 1);     /* from the second sector on */
    check_sectors(SC_F32, 0, 7, 1, 1, 0);     /* broadcast */
    check_sectors(SC_F32, -1, 31, 4, 4, -1);  /* backwards */
    check_sectors(SC_F64, 1, 0, 8, 8, 1);
    check_sectors(SC_F64, 2, 0, 16, 8, 2);
    check_sectors(SC_F64, 1, 1, 9, 8, 1);
    check_sectors(SC_I8, 1, 0, 1, 1, 1);
    check_sectors(SC_U16, 1, 0, 2, 2, 1);
}

/* Only lanes that take part count, and an access of none is no request. */
static void test_masks(void)
{
    Test *t = start(SC_F32, 64, 1);
    give(t, imp_lit(t->ctx, scalar_float(SC_F32, 1), here(t)));
    ImpStmt *s = stmt(t, IS_IF);
    s->branch.cond = less(t, t->t, K(t, 8));
    t->out = &s->branch.then;
    give(t, load(t, t->xs, times(t, t->t, 8)));
    if (run(t)) {
        CHECK(at_line(t, 3, COUNT_globalRequests) == 2 && at_line(t, 3, COUNT_sectors) == 8 + 1 && at_line(t, 3, COUNT_sectorsNeeded) == 1 + 1);
        CHECK(at_line(t, 2, COUNT_branches) == 2 && at_line(t, 2, COUNT_divergentBranches) == 1); /* the second warp goes on together */
        CHECK(at_line(t, 3, COUNT_loads) == 1 && at_line(t, 3, COUNT_laneInstructions) == 8 * at_line(t, 3, COUNT_instructions));
        CHECK(at_line(t, 3, COUNT_laneLoads) == 8 && at_line(t, 3, COUNT_laneFunctions) == 8 * at_line(t, 3, COUNT_arithmetic));
        CHECK(total(t, COUNT_warps) == 2 && total(t, COUNT_threads) == 64 && total(t, COUNT_blocks) == 1 && total(t, COUNT_kernels) == 1);
        CHECK(total(t, COUNT_elements) == CELLS);
    }
    finish(t);
}

/* ---- shared memory ---------------------------------------------------------------------------------------------------------- */

/* Fills the tile by neighbouring lanes, then reads it with a stride: lines 2 and 4. */
static void check_banks(Scalar elem, int64_t scale, uint64_t conflicts, int ways)
{
    Test *t = start(elem, 32, 1);
    ImpBuf *tile = buffer(t, SPACE_SHARED, "tile", elem, 32 * 33);
    ImpStmt *s = stmt(t, IS_FOR);
    ImpBlock *body = t->out;
    s->loop.var = nat_var(t->ctx, "i", NULL, NULL);
    s->loop.lo = t->t;
    s->loop.hi = K(t, 32 * 33);
    s->loop.step = K(t, 32);
    t->out = &s->loop.body;
    store(t, tile, s->loop.var, load(t, t->xs, s->loop.var));
    t->out = body;
    stmt(t, IS_SYNC)->sync = SYNC_WARP;
    give(t, load(t, tile, times(t, t->t, scale)));
    if (run(t)) {
        CHECK(at_line(t, 2, COUNT_sharedRequests) == 33 && at_line(t, 2, COUNT_bankConflicts) == 0);
        CHECK(at_line(t, 4, COUNT_sharedRequests) == 1 && at_line(t, 4, COUNT_bankConflicts) == conflicts);
        CHECK(ratio(t, COUNT_conflictsPerAccess) == (double)conflicts / 34);
        const SimLine *line = line_of(t, 4);
        for (int i = 0; i < line->accesses.n; i++)
            CHECK(line->accesses.at[i].ways == (line->accesses.at[i].shared ? ways : 0));
        CHECK(at_line(t, 3, COUNT_warpBarriers) == 1 && total(t, COUNT_blockBarriers) == 0 && ratio(t, COUNT_barriers) == 0);
    }
    finish(t);
}

static void test_shared(void)
{
    check_banks(SC_F32, 1, 0, 1);
    check_banks(SC_F32, 2, 1, 2);
    check_banks(SC_F32, 4, 3, 4);
    check_banks(SC_F32, 32, 31, 32);
    check_banks(SC_F32, 33, 0, 1); /* padded rows */
    check_banks(SC_F32, 31, 0, 1);
    check_banks(SC_F32, 0, 0, 1);  /* one word for all */
    check_banks(SC_I8, 1, 0, 1);   /* four lanes share a word */
    check_banks(SC_I8, 4, 0, 1);
    check_banks(SC_I8, 8, 1, 2);
    check_banks(SC_F64, 1, 0, 1);  /* by halves of a warp, from here */
    check_banks(SC_F64, 2, 2, 2);
    check_banks(SC_F64, 32, 30, 16);
    check_banks(SC_F64, 33, 0, 1);
}

/* ---- divergence -------------------------------------------------------------------------------------------------------------- */

/* Line 1: a loop; line 2: within it. */
static Test *looping(Nat (*hi)(Test *t), bool unroll)
{
    Test *t = start(SC_F32, 32, 1);
    ImpStmt *s = stmt(t, IS_FOR);
    s->loop.var = nat_var(t->ctx, "i", NULL, NULL);
    s->loop.lo = K(t, 0);
    s->loop.hi = hi(t);
    s->loop.step = K(t, 1);
    s->loop.unroll = unroll;
    ImpBlock *body = t->out;
    t->out = &s->loop.body;
    give(t, load(t, t->xs, t->t));
    t->out = body;
    give(t, load(t, t->xs, t->t));
    return t;
}

static Nat up_to_thread(Test *t) { return t->t; }
static Nat five(Test *t) { return K(t, 5); }

static void test_loops(void)
{
    Test *t = looping(up_to_thread, false);
    if (run(t)) { /* lane l leaves at test number l; the last one leaves nobody behind */
        CHECK(at_line(t, 1, COUNT_branches) == 32 && at_line(t, 1, COUNT_divergentBranches) == 31);
        CHECK(at_line(t, 1, COUNT_indexArithmetic) == 31);
        CHECK(at_line(t, 2, COUNT_stores) == 31 && at_line(t, 2, COUNT_sectors) == 2 * (8 * (4 + 3 + 2 + 1) - 4));
        CHECK(ratio(t, COUNT_lanesPerInstruction) < 32);
    }
    finish(t);
    t = looping(five, false);
    if (run(t)) {
        CHECK(at_line(t, 1, COUNT_branches) == 6 && at_line(t, 1, COUNT_divergentBranches) == 0 && at_line(t, 1, COUNT_indexArithmetic) == 5);
        CHECK(at_line(t, 2, COUNT_loads) == 5 && ratio(t, COUNT_lanesPerInstruction) == 32);
    }
    finish(t);
    t = looping(five, true);
    if (run(t))
        CHECK(total(t, COUNT_branches) == 0 && at_line(t, 1, COUNT_indexArithmetic) == 0 && at_line(t, 2, COUNT_loads) == 5);
    finish(t);
}

static void check_branch(int64_t below, uint64_t divergent)
{
    for (int conditional = 0; conditional < 2; conditional++) {
        Test *t = start(SC_F32, 32, 1);
        if (conditional) {
            ImpExpr *cond = less(t, t->t, K(t, below));
            give(t, imp_cond(t->ctx, cond, load(t, t->xs, t->t), load(t, t->xs, K(t, 0)), here(t)));
        } else {
            ImpStmt *s = stmt(t, IS_IF);
            s->branch.cond = less(t, t->t, K(t, below));
            t->out = &s->branch.then;
            give(t, load(t, t->xs, t->t));
            t->out = &s->branch.otherwise;
            give(t, load(t, t->xs, K(t, 0)));
        }
        if (run(t)) {
            CHECK(total(t, COUNT_branches) == !conditional && total(t, COUNT_divergentBranches) == (conditional ? 0 : divergent));
            CHECK(total(t, COUNT_divergentSelects) == (conditional ? divergent : 0));
            CHECK(total(t, COUNT_arithmetic) == (conditional ? 2 : 1)); /* the comparison, and a selection */
            CHECK(total(t, COUNT_loads) == 1 + divergent);
        }
        finish(t);
    }
}

/* ---- indices ------------------------------------------------------------------------------------------------------------------ */

/* Within a loop of 5 trips, perhaps unrolled, in one warp: a load at `index` of the counter and the thread. Line 2. */
static uint64_t looped_index(Nat (*index)(Test *t, Nat i), bool unroll, bool twice)
{
    Test *t = start(SC_F32, 32, 1);
    ImpStmt *s = stmt(t, IS_FOR);
    s->loop.var = nat_var(t->ctx, "i", K(t, 0), K(t, 4));
    s->loop.lo = K(t, 0);
    s->loop.hi = K(t, 5);
    s->loop.step = K(t, 1);
    s->loop.unroll = unroll;
    t->out = &s->loop.body;
    for (int k = 0; k < 1 + twice; k++)
        store(t, t->ys, t->t, load(t, t->xs, index(t, s->loop.var)));
    uint64_t operations = 0;
    if (run(t)) {
        operations = total(t, COUNT_indexArithmetic) - (unroll ? 0 : 5);
        CHECK(total(t, COUNT_loads) == (twice ? 10 : 5) && ratio(t, COUNT_lanesPerInstruction) == 32);
    }
    finish(t);
    return operations;
}

static Nat row(Test *t, Nat i) { return nat_add(t->ctx, times(t, i, 32), t->t); }                 /* i*32 + t */
static Nat column(Test *t, Nat i) { return nat_add(t->ctx, times(t, t->t, 32), i); }              /* t*32 + i */
static Nat fixed(Test *t, Nat i) { return (void)i, nat_add_k(t->ctx, times(t, t->t, 2), 7); }     /* t*2 + 7 */
static Nat square(Test *t, Nat i) { return nat_add(t->ctx, nat_mul(t->ctx, i, t->t), t->t); }     /* i*t + t */
static Nat divided(Test *t, Nat i) { return nat_div(t->ctx, row(t, i), K(t, 99)); }               /* (i*32 + t) / 99 */

static void test_indices(void)
{
    CHECK(looped_index(row, false, false) == 5 && looped_index(row, true, false) == 0 && looped_index(row, false, true) == 5);
    CHECK(looped_index(column, false, false) == 1 + 5 && looped_index(column, true, false) == 1);
    CHECK(looped_index(fixed, false, false) == 1 && looped_index(fixed, true, true) == 1);
    CHECK(looped_index(square, false, false) == 5 && looped_index(square, true, false) == 5);
    CHECK(looped_index(divided, false, true) == 10 && looped_index(divided, true, false) == 10);
    /* In a branch that no warp takes, nothing is computed; a condition's number is no address, so its constant is added. */
    Test *t = start(SC_F32, 32, 1);
    ImpStmt *s = stmt(t, IS_IF);
    s->branch.cond = less(t, nat_add_k(t->ctx, times(t, t->t, 3), 1), K(t, 0));
    t->out = &s->branch.then;
    store(t, t->ys, t->t, load(t, t->xs, times(t, t->t, 5)));
    t->out = &s->branch.otherwise;
    store(t, t->ys, t->t, load(t, t->xs, times(t, t->t, 7)));
    if (run(t))
        CHECK(at_line(t, 2, COUNT_indexArithmetic) == 0 && at_line(t, 3, COUNT_indexArithmetic) == 1 && total(t, COUNT_indexArithmetic) == 3);
    finish(t);
}

/* ---- shuffles, barriers, instructions -------------------------------------------------------------------------------------------- */

static void check_shuffle(Scalar elem, uint64_t each)
{
    Test *t = start(elem, 96, 2);
    give(t, imp_shfl(t->ctx, P_shflXor, K(t, 16), load(t, t->xs, t->t), here(t)));
    if (run(t)) {
        CHECK(total(t, COUNT_shuffles) == 6 * each && total(t, COUNT_warps) == 6 && t->report.shuffles == 6);
        /* a load, a store, and block*96 + thread: block*96 is one instruction of each warp, the sum the other */
        CHECK(total(t, COUNT_indexArithmetic) == 12 && total(t, COUNT_instructions) == 6 * each + 6 + 6 + 12);
        CHECK(ratio(t, COUNT_instructionsPerElement) == 32.0 * (double)total(t, COUNT_instructions) / CELLS);
    }
    finish(t);
}

static void test_barriers(void)
{
    Test *t = start(SC_F32, 128, 3);
    stmt(t, IS_SYNC)->sync = SYNC_BLOCK;
    give(t, load(t, t->xs, t->t));
    stmt(t, IS_SYNC)->sync = SYNC_WARP;
    stmt(t, IS_SYNC)->sync = SYNC_BLOCK;
    if (run(t)) {
        CHECK(total(t, COUNT_blockBarriers) == 6 && total(t, COUNT_warpBarriers) == 12 && total(t, COUNT_barrierInstructions) == 36);
        CHECK(at_line(t, 1, COUNT_blockBarriers) == 3 && at_line(t, 3, COUNT_warpBarriers) == 12 && at_line(t, 4, COUNT_blockBarriers) == 3);
        CHECK(ratio(t, COUNT_barriers) == 2 && total(t, COUNT_blocks) == 3 && t->report.block_barriers == 6);
    }
    finish(t);
}

/* Two kernels add up; the same program without a profile gives none, and the same results. */
static void test_kernels(void)
{
    Test *t = start(SC_I32, 32, 4);
    for (int i = 0; i < CELLS; i++)
        t->input.bytes[i * 4] = (unsigned char)i;
    give(t, load(t, t->xs, t->t));
    ImpKernel *first = t->kernel;
    add_kernel(t, 64, 2);
    t->kernel->bufs = first->bufs;
    give(t, imp_op2(t->ctx, P_add, SC_I32, load(t, t->xs, t->t), load(t, t->xs, t->t), here(t)));
    if (run(t)) {
        CHECK(total(t, COUNT_kernels) == 2 && total(t, COUNT_blocks) == 6 && total(t, COUNT_warps) == 8 && total(t, COUNT_threads) == 256);
        CHECK(at_line(t, 1, COUNT_loads) == 4 && at_line(t, 2, COUNT_loads) == 8 && total(t, COUNT_arithmetic) == 4);
        CHECK(t->report.profile->lines.n == 2 && t->report.profile->lines.at[0].line == 1);
        const SimKernel *launched = t->report.profile->kernels.at;
        CHECK(t->report.profile->kernels.n == 2 && launched[0].blocks[0] == 4 && launched[1].blocks[0] == 2);
        CHECK(launched[0].threads[0] == 32 && launched[1].threads[0] == 64);
        for (int id = 0; id < COUNTERS_COUNTED; id++)
            CHECK(id == COUNT_elements || launched[0].counts.at[id] + launched[1].counts.at[id] == t->report.profile->total.at[id]);
        CHECK(launched[0].counts.at[COUNT_loads] == 4 && launched[1].counts.at[COUNT_loads] == 8);
        HostBuf with = t->launch.results[0];
        SimReport plain;
        CHECK(sim_run(t->ctx, &t->program, &t->launch, NULL, &plain) && !plain.profile);
        CHECK(plain.warp_instructions == t->report.warp_instructions && plain.global_loads == t->report.global_loads);
        CHECK(memcmp(with.bytes, t->launch.results[0].bytes, (size_t)with.count * 4) == 0);
    }
    finish(t);
}

/* ---- sectors and banks by a plain model ---------------------------------------------------------------------------------------------- */

enum { MODEL_CELLS = 4096, MODEL_BYTES = MODEL_CELLS * 16, RANDOM_CASES = 4000 };

typedef struct Model {
    uint64_t sectors, needed, wavefronts, conflicts, requests;
} Model;

static void model_global(Model *m, uint32_t mask, const int64_t *at, int width)
{
    static bool bytes[MODEL_BYTES];
    uint64_t used = 0;
    memset(bytes, 0, sizeof bytes);
    for (int l = 0; l < WARP; l++)
        for (int b = 0; mask >> l & 1 && b < width; b++)
            bytes[at[l] + b] = true;
    for (int sector = 0; sector < MODEL_BYTES / 32; sector++) {
        int here_used = 0;
        for (int b = 0; b < 32; b++)
            here_used += bytes[sector * 32 + b];
        used += (uint64_t)here_used;
        m->sectors += here_used > 0;
    }
    m->needed += (used + 31) / 32;
}

/* Wavefronts: each serves one word of every bank, to all lanes of the phase that want it. */
static void model_shared(Model *m, uint32_t mask, const int64_t *at, int width)
{
    int phases = width <= 4 ? 1 : width <= 8 ? 2 : 4, lanes = WARP / phases;
    for (int p = 0; p < phases; p++) {
        static bool wanted[MODEL_BYTES / 4];
        memset(wanted, 0, sizeof wanted);
        for (int l = p * lanes; l < (p + 1) * lanes; l++)
            for (int b = 0; mask >> l & 1 && b < width; b++)
                wanted[(at[l] + b) / 4] = true;
        int wavefronts = 0, left = 1;
        while (left) {
            left = 0;
            for (int bank = 0; bank < 32; bank++)
                for (int w = bank; w < MODEL_BYTES / 4; w += 32)
                    if (wanted[w]) {
                        wanted[w] = false;
                        left = 1;
                        break;
                    }
            wavefronts += left;
        }
        m->wavefronts += (uint64_t)wavefronts;
        m->conflicts += wavefronts > 1 ? (uint64_t)wavefronts - 1 : 0;
    }
}

/* One access through the simulator's own hook. */
static void hook(Ctx *ctx, const ImpBuf *buf, bool shared, int cells, uint32_t mask, const int64_t *index, Counts *counts)
{
    Arena arena;
    arena_init(&arena, ctx);
    static const SimOptions options = {.profile = true};
    SimProfile profile = {0};
    SimReport report = {.profile = &profile};
    Mem mem = {.buf = buf, .cell_bytes = scalar_bytes(buf->elem), .shared = shared, .base = 0};
    Ins ins = {.op = X_LOAD};
    Span span = NO_SPAN;
    Code code = {0};
    code.ins.at = &ins;
    code.ins.n = 1;
    code.spans.at = &span;
    ImpKernel kernel = {.threads = {32, 1, 1}, .lanes = WARP_LANES};
    Launch launch = {0};
    Run run_ = {.ctx = ctx, .arena = &arena, .options = &options, .report = &report, .mems = &mem, .kernel = &kernel, .launch = &launch};
    run_.code = &code;
    count_begin(&run_);
    count_access(&run_, &code.ins.at[0], &mem, mask, index, 1, cells);
    count_end(&run_);
    *counts = profile.total;
    arena_free(&arena);
}

static void test_random(uint64_t seed)
{
    static const Scalar elems[] = {SC_I8, SC_U16, SC_F32, SC_F64};
    printf("random accesses from seed %llu\n", (unsigned long long)seed);
    Ctx *ctx = ctx_new(NULL, NULL);
    int wrong = 0;
    for (int n = 0; n < RANDOM_CASES && wrong < 3; n++) {
        Scalar elem = elems[next_random(&seed) % 4];
        int size = scalar_bytes(elem), cells = 1 << next_random(&seed) % 3;
        if (size * cells > 16)
            cells = 16 / size;
        ImpBuf buf = {.name = "xs", .elem = elem};
        uint32_t mask = next_random(&seed) % 3 ? FULL_MASK : (uint32_t)next_random(&seed);
        int64_t index[WARP], at[WARP], scale = (int64_t)(next_random(&seed) % 40), from = (int64_t)(next_random(&seed) % 64);
        bool scattered = next_random(&seed) % 2;
        for (int l = 0; l < WARP; l++) {
            index[l] = scattered ? (int64_t)(next_random(&seed) % 256) * cells : (from + l * scale) * cells;
            at[l] = index[l] * size;
        }
        Model want = {0};
        Counts got;
        bool shared = n % 2;
        (shared ? model_shared : model_global)(&want, mask, at, size * cells);
        hook(ctx, &buf, shared, cells, mask, index, &got);
        bool same = got.at[COUNT_sectors] == want.sectors && got.at[COUNT_sectorsNeeded] == want.needed &&
                    got.at[COUNT_bankConflicts] == want.conflicts && got.at[COUNT_sharedWavefronts] == want.wavefronts &&
                    got.at[COUNT_globalRequests] + got.at[COUNT_sharedRequests] == (mask != 0);
        if (!CHECK(same) && wrong++ < 3)
            printf("case %d: %d bytes a lane, mask %08x: %llu sectors for %llu, %llu conflicts for %llu\n", n, size * cells, mask,
                   (unsigned long long)got.at[COUNT_sectors], (unsigned long long)want.sectors,
                   (unsigned long long)got.at[COUNT_bankConflicts], (unsigned long long)want.conflicts);
    }
    ctx_free(ctx);
}

static void test_table(void)
{
    for (int id = 0; id < COUNTER_COUNT; id++)
        CHECK(counter_find(counter_rows[id].name) == (CounterId)id && counter_rows[id].text[0]);
    CHECK(counter_find("barrier") == COUNTER_COUNT);
    Counts none = {{0}};
    CHECK(counter_value(&none, COUNT_sectorsPerWarp) == 0);
}

int main(int argc, char **argv)
{
    test_global();
    test_masks();
    test_shared();
    test_loops();
    check_branch(16, 1);
    check_branch(32, 0);
    check_branch(0, 0);
    check_shuffle(SC_F32, 1);
    check_shuffle(SC_I32, 1);
    check_shuffle(SC_F64, 2);
    test_indices();
    test_barriers();
    test_kernels();
    test_table();
    test_random(argc > 1 ? strtoull(argv[1], NULL, 0) : 1);
    return unit_end();
}
