/* Counting: hooks that the executor calls, and the sums over lines at the end of a kernel. Each instruction of the flat code has its own
 * tally; nothing of this is touched in a run without a profile. */
#include "sim/sim_internal.h"

enum { SECTOR = 32 /* bytes */, BANKS = 32, WORD = 4 /* bytes of a bank */, WIDEST = 16 /* bytes of a lane in one access */ };

/* ---- the table ------------------------------------------------------------------------------------------------------- */

const CounterRow counter_rows[COUNTER_COUNT] = {
#define COUNTER(id, head, what) [COUNT_##id] = {.name = #id, .heading = head, .text = what},
#define LAUNCHED(id, what) [COUNT_##id] = {.name = #id, .heading = "", .text = what},
#define RATIO(id, by, num, den, what) \
    [COUNT_##id] = {.name = #id, .heading = "", .text = what, .scale = by, .over = COUNT_##num, .under = COUNT_##den},
#include "sim/counters.def"
#undef COUNTER
#undef LAUNCHED
#undef RATIO
};

CounterId counter_find(const char *name)
{
    int id = 0;
    while (id < COUNTER_COUNT && strcmp(counter_rows[id].name, name) != 0)
        id++;
    return (CounterId)id;
}

double counter_value(const Counts *counts, CounterId id)
{
    const CounterRow *row = &counter_rows[id];
    if (id < COUNTERS_COUNTED)
        return (double)counts->at[id];
    uint64_t under = counts->at[row->under];
    return under ? (double)row->scale * (double)counts->at[row->over] / (double)under : 0;
}

/* ---- tallies --------------------------------------------------------------------------------------------------------- */

/* What an instruction did, beyond how often it ran. */
typedef struct Tally {
    uint64_t requests, sectors, needed, wavefronts, conflicts, splits, meetings;
    int64_t stride;
    int ways, stride_kind, bytes;
} Tally;

struct Profiler {
    Executed *executed; /* beside the kernel's instructions, as are */
    Tally *tallies;
};

Executed *count_executed(const Run *run) { return run->profiler ? run->profiler->executed : NULL; }

static Tally *tally(const Run *run, const Ins *ins) { return &run->profiler->tallies[ins - run->code->ins.at]; }

void count_split(Run *run, const Ins *ins, uint32_t before, uint32_t on)
{
    if (run->profiler && on && on != before)
        tally(run, ins)->splits++;
}

void count_meeting(Run *run, const Ins *ins)
{
    if (run->profiler)
        tally(run, ins)->meetings++;
}

/* ---- accesses -------------------------------------------------------------------------------------------------------- */

/* The bytes [at, at + width) of each lane that takes part. */
typedef struct Touch {
    int n, width;
    int64_t at[WARP];
} Touch;

static void sort(int n, int64_t *x)
{
    for (int i = 1; i < n; i++) {
        int64_t v = x[i];
        int j = i;
        for (; j > 0 && x[j - 1] > v; j--)
            x[j] = x[j - 1];
        x[j] = v;
    }
}

static void count_sectors(Tally *t, Touch touch)
{
    int64_t bytes = 0, end = -1, last = -1;
    sort(touch.n, touch.at);
    for (int i = 0; i < touch.n; i++) {
        int64_t lo = touch.at[i], hi = lo + touch.width, first = lo / SECTOR;
        bytes += hi > end ? hi - (lo > end ? lo : end) : 0;
        end = hi > end ? hi : end;
        if (first <= last)
            first = last + 1;
        t->sectors += (uint64_t)((hi - 1) / SECTOR - first + 1);
        last = (hi - 1) / SECTOR;
    }
    t->needed += (uint64_t)((bytes + SECTOR - 1) / SECTOR);
}

/* The most words that one bank has to serve. Lanes that want the same word are served together. */
static int words_of_a_bank(const Touch *touch)
{
    int64_t words[BANKS][WARP];
    int n[BANKS] = {0}, most = 0;
    for (int i = 0; i < touch->n; i++)
        for (int64_t word = touch->at[i] / WORD; word <= (touch->at[i] + touch->width - 1) / WORD; word++) {
            int bank = (int)(word % BANKS), k = 0;
            while (k < n[bank] && words[bank][k] != word)
                k++;
            if (k == n[bank] && k < WARP)
                words[bank][n[bank]++] = word;
            if (n[bank] > most)
                most = n[bank];
        }
    return most;
}

/* Up to 4 bytes a lane, the warp is served at once; with 8 by halves, with 16 by quarters, so that each phase moves up to 128 bytes. */
static void count_banks(Tally *t, uint32_t mask, const int64_t *at, int width)
{
    int lanes = width <= WORD ? WARP : width <= 2 * WORD ? WARP / 2 : WARP / 4;
    for (int first = 0; first < WARP; first += lanes) {
        Touch phase = {.width = width};
        for (int l = first; l < first + lanes; l++)
            if (mask >> l & 1)
                phase.at[phase.n++] = at[l];
        int ways = words_of_a_bank(&phase);
        t->wavefronts += (uint64_t)ways;
        t->conflicts += ways > 1 ? (uint64_t)ways - 1 : 0;
        if (ways > t->ways)
            t->ways = ways;
    }
}

static void note_stride(Tally *t, int64_t stride)
{
    if (t->stride_kind == STRIDE_NONE) {
        t->stride_kind = STRIDE_SAME;
        t->stride = stride;
    } else if (t->stride != stride)
        t->stride_kind = STRIDE_MIXED;
}

static void count_strides(Tally *t, uint32_t mask, const int64_t *index, int stride)
{
    for (int l = 1; l < WARP && t->stride_kind != STRIDE_MIXED; l++)
        if (mask >> (l - 1) & mask >> l & 1)
            note_stride(t, index[l * stride] - index[(l - 1) * stride]);
}

void count_access(Run *run, const Ins *ins, const Mem *mem, uint32_t mask, const int64_t *index, int stride, int cells)
{
    if (!run->profiler || !mask)
        return;
    Tally *t = tally(run, ins);
    Touch touch = {.width = mem->cell_bytes * cells};
    int64_t at[WARP];
    t->bytes = touch.width;
    count_strides(t, mask, index, stride);
    for (int done = 0; done < touch.width; done += WIDEST) { /* what is wider takes several accesses */
        int width = touch.width - done < WIDEST ? touch.width - done : WIDEST;
        t->requests++;
        Touch part = {.width = width};
        for (int l = 0; l < WARP; l++)
            if (mask >> l & 1) {
                at[l] = mem->base + index[l * stride] * mem->cell_bytes + done;
                part.at[part.n++] = at[l];
            }
        if (mem->shared)
            count_banks(t, mask, at, width);
        else
            count_sectors(t, part);
    }
}

/* ---- the end of a kernel --------------------------------------------------------------------------------------------- */

/* The kind of an instruction, and how many of the GPU's it stands for; 0 where it is the simulator's own, or costs nothing. */
static int kind_of(const Ins *ins, CounterId *kind)
{
    switch ((OpCode)ins->op) {
    case X_END: case X_ELSE: case X_ENDIF: case X_FOR: case X_ENDFOR: case X_ALLOC: case X_UNSET: case X_SET: case X_MOVE:
    case X_CHECK_SET: case X_GET_SLOT: case X_SET_SLOT: case X_RANGE: return 0;
    case X_IF: *kind = ins->prim ? COUNT_arithmetic : COUNT_branches; return 1;
    case X_TEST: *kind = COUNT_branches; return !ins->prim;
    case X_STEP: *kind = COUNT_indexArithmetic; return !ins->prim; /* all other: see count_indices */
    case X_LANE: case X_JUMP: case X_OLD: case X_ATOMIC: return 0; /* an atomic is one instruction of its warp */
    case X_LANES:
    case X_TICKET: *kind = COUNT_atomics; return 1;
    case X_BEFORE: *kind = COUNT_stores; return 1;
    case X_AWAIT: *kind = COUNT_loads; return 1;
    case X_TOTAL: case X_SERVE: return 0;
    case X_SYNC_GRID:
    case X_SYNC_WARP:
    case X_SYNC_BLOCK: *kind = COUNT_barrierInstructions; return 1;
    case X_LOAD:
    case X_VLOAD: *kind = COUNT_loads; return 1;
    case X_STORE:
    case X_VSTORE: *kind = COUNT_stores; return 1;
    case X_APPLY:
    case X_CAST: *kind = COUNT_arithmetic; return 1;
    case X_SHFL: *kind = COUNT_shuffles; return scalar_bytes((Scalar)ins->type) > WORD ? 2 : 1;
    case X_NAT: *kind = COUNT_arithmetic; return scalar_is_float((Scalar)ins->type); /* an integer is the index itself */
    case N_ADDMUL: case N_MULK: case N_ADD: case N_MUL: case N_DIV: case N_MOD: case N_MIN: case N_MAX: case N_POW: case N_LOG2:
        return 0; /* see count_indices */
    }
    return 0;
}

static Counts counts_of(const Run *run, int at)
{
    const Ins *ins = &run->code->ins.at[at];
    const Tally *t = &run->profiler->tallies[at];
    Counts c = {{0}};
    CounterId kind;
    /* One operator alone between an atomic's halves is the atomic's own. What is more is computed by each lane in turn. */
    bool inside = at > 0 && ins->op == X_APPLY && ins[-1].op == X_OLD && ins[1].op == X_ATOMIC;
    uint64_t weight = inside ? 0 : (uint64_t)kind_of(ins, &kind);
    Executed executed = run->profiler->executed[at];
    if (weight) {
        c.at[kind] = c.at[COUNT_instructions] = weight * executed.times;
        c.at[COUNT_laneInstructions] = weight * executed.lanes;
        bool of_values = ins->op == X_CAST || ins->op == X_NAT || (ins->op == X_APPLY && !ins->m);
        if (kind == COUNT_arithmetic && of_values)
            c.at[COUNT_laneFunctions] = weight * executed.lanes;
    }
    if (ins->op == X_LOAD || ins->op == X_VLOAD)
        c.at[COUNT_laneLoads] = executed.lanes * (uint64_t)(ins->op == X_VLOAD ? ins->k : 1);
    c.at[ins->op == X_IF && ins->prim ? COUNT_divergentSelects : COUNT_divergentBranches] = t->splits;
    if (ins->op == X_SYNC_BLOCK)
        c.at[COUNT_blockBarriers] = t->meetings;
    if (ins->op == X_SYNC_WARP)
        c.at[COUNT_warpBarriers] = executed.times;
    if (ins->op == X_LOAD || ins->op == X_STORE || ins->op == X_VLOAD || ins->op == X_VSTORE) {
        bool shared = run->mems[ins->b].shared;
        c.at[shared ? COUNT_sharedRequests : COUNT_globalRequests] = t->requests;
        c.at[COUNT_sharedWavefronts] = t->wavefronts;
        c.at[COUNT_bankConflicts] = t->conflicts;
        c.at[COUNT_sectors] = t->sectors;
        c.at[COUNT_sectorsNeeded] = t->needed;
    }
    return c;
}

static void add_counts(Counts *to, const Counts *c)
{
    for (int i = 0; i < COUNTERS_COUNTED; i++)
        to->at[i] += c->at[i];
}

/* Of the kernel that runs, and of the launch. */
static void add_to_totals(SimProfile *profile, const Counts *c)
{
    add_counts(&profile->kernels.at[profile->kernels.n - 1].counts, c);
    add_counts(&profile->total, c);
}

static SimLine *find_line(Run *run, Span span)
{
    SimProfile *profile = run->report->profile;
    int line = 0, column, i = 0;
    if (span.file)
        source_position(run->ctx, span, &line, &column);
    for (; i < profile->lines.n; i++)
        if (profile->lines.at[i].file == span.file && profile->lines.at[i].line == line)
            return &profile->lines.at[i];
    vec_push(run->ctx, &profile->lines, (SimLine){.file = span.file, .line = line});
    return &profile->lines.at[i];
}

static void add_access(Run *run, SimLine *line, int at, const Counts *c)
{
    const Ins *ins = &run->code->ins.at[at];
    const Tally *t = &run->profiler->tallies[at];
    const Mem *mem = &run->mems[ins->b];
    bool store = ins->op != X_LOAD && ins->op != X_VLOAD;
    int i = 0;
    while (i < line->accesses.n && (line->accesses.at[i].store != store || strcmp(line->accesses.at[i].buffer, mem->buf->name) != 0))
        i++;
    if (i == line->accesses.n)
        vec_push(run->ctx, &line->accesses,
                 (SimAccess){.buffer = mem->buf->name, .store = store, .shared = mem->shared, .bytes = t->bytes});
    SimAccess *a = &line->accesses.at[i];
    add_counts(&a->counts, c);
    if (t->ways > a->ways)
        a->ways = t->ways;
    if (t->bytes > a->bytes)
        a->bytes = t->bytes;
    if (a->stride_kind == STRIDE_NONE || t->stride_kind == STRIDE_MIXED) {
        a->stride_kind = t->stride_kind;
        a->stride = t->stride;
    } else if (t->stride_kind == STRIDE_SAME && t->stride != a->stride)
        a->stride_kind = STRIDE_MIXED;
}

static void count_indices(Run *run)
{
    const Code *code = run->code;
    for (int i = 0; i < code->index_costs.n; i++) {
        const IndexCost *cost = &code->index_costs.at[i];
        Executed home = run->profiler->executed[code->homes.at[cost->home]];
        uint64_t operations = (uint64_t)cost->operations;
        Counts c = {{0}};
        c.at[COUNT_indexArithmetic] = c.at[COUNT_instructions] = operations * home.times;
        c.at[COUNT_laneInstructions] = operations * home.lanes;
        if (!home.times)
            continue;
        add_counts(&find_line(run, cost->place)->counts, &c);
        add_to_totals(run->report->profile, &c);
    }
}

static bool any(const Counts *c)
{
    for (int i = 0; i < COUNTERS_OF_LINES; i++)
        if (c->at[i])
            return true;
    return false;
}

void count_begin(Run *run)
{
    if (!run->options->profile)
        return;
    run->profiler = ARENA_NEW(run->arena, struct Profiler);
    run->profiler->executed = ARENA_NEWN(run->arena, Executed, run->code->ins.n);
    run->profiler->tallies = ARENA_NEWN(run->arena, Tally, run->code->ins.n);
}

void count_end(Run *run)
{
    if (!run->profiler)
        return;
    const int *t = run->kernel->threads;
    SimProfile *profile = run->report->profile;
    SimKernel kernel = {.name = run->kernel->name, .threads = {t[0], t[1], t[2]}};
    for (int a = 0; a < 3; a++)
        kernel.blocks[a] = run->grid[a];
    vec_push(run->ctx, &profile->kernels, kernel);
    for (int at = 0; at < run->code->ins.n; at++) {
        Counts c = counts_of(run, at);
        if (!any(&c))
            continue;
        SimLine *line = find_line(run, run->code->spans.at[at]);
        add_counts(&line->counts, &c);
        add_to_totals(profile, &c);
        if (run->profiler->tallies[at].requests)
            add_access(run, line, at, &c);
    }
    count_indices(run);
    Counts launched = {{0}};
    launched.at[COUNT_kernels] = 1;
    launched.at[COUNT_blocks] = (uint64_t)run->blocks;
    launched.at[COUNT_warps] = (uint64_t)run->blocks * (uint64_t)run->n_warps;
    launched.at[COUNT_threads] = (uint64_t)run->blocks * (uint64_t)(t[0] * t[1] * t[2]);
    add_to_totals(profile, &launched);
    run->profiler = NULL;
}

static bool comes_before(const SimLine *a, const SimLine *b)
{
    return a->file != b->file ? a->file < b->file : a->line < b->line;
}

void count_finish(Run *run)
{
    SimProfile *profile = run->report->profile;
    if (!profile)
        return;
    for (int i = 1; i < profile->lines.n; i++)
        for (int j = i; j > 0 && comes_before(&profile->lines.at[j], &profile->lines.at[j - 1]); j--) {
            SimLine line = profile->lines.at[j];
            profile->lines.at[j] = profile->lines.at[j - 1];
            profile->lines.at[j - 1] = line;
        }
    const Launch *l = run->launch;
    uint64_t elements = 0;
    for (int i = 0; i < (l->n_buffers ? l->n_buffers : l->n_results); i++) {
        int64_t count = (l->n_buffers ? l->buffers : l->results)[i].count;
        if (count > 0 && (uint64_t)count > elements)
            elements = (uint64_t)count;
    }
    profile->total.at[COUNT_elements] = elements;
}
