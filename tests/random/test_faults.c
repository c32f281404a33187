/* Planted faults: each is noticed by the simulator, by a finding or by a result that differs from the reference interpreter's, for some size, grid and schedule.
 *
 *     test_faults [--survivors FILE [--thorough]] [--only TEXT] [--every N [--part K]] [--sizes N,N...]... [--random N] [--seed N] FILE.rise...
 *
 * Faults that nothing notices must stand in the survivors file, a line `FILE:LINE: KERNEL: FAULT: PLACE -- why it changes nothing`, or `PLACE (N places) -- why`, where `KERNEL*` are
 * all kernels whose names begin so, which have N such places together; and all of
 * that file's lines about the given files must be of such faults: where all that look alike are listed, no more launches are made up to notice them, except with --thorough. --every plants only each N-th fault, beginning with number K, from 0 on, --only those whose
 * lines have TEXT in them; they cannot tell which lines of the file are stale, and --every prints how often it saw each. --sizes, which may be given up to eight times, adds a launch of these sizes. --random adds N random programs, whose survivors are only counted: in them much is computed that nobody uses. */
#include <stdio.h>
#include <stdlib.h>

#include "codegen/walk.h"
#include "raim.h"
#include "rcheck.h"
#include "rdata.h"
#include "rgen.h"
#include "rmarks.h"
#include "rmutate.h"
#include "rsame.h"
#include "rsurvivors.h"

/* Numbers of all inputs together, and steps of the simulator, of launches of three sizes. */
enum { MAX_CELLS = 40000, DEVICE_CELLS = 1 << 19, MANY_CELLS = 1 << 21, HUGE_CELLS = 1 << 25, MAX_STEPS = 1000000, MANY_STEPS = 10000000, HUGE_STEPS = 100000000 };
enum { MAX_TRIALS = 400, HUNTS = 80, MARK_HUNTS = 96, DEVICE_HUNTS = 24, HUGE_HUNTS = 4, AIMED = 24, AGAIN = 16, AIM_TRIES = 32, MARK_TRIES = 24 /* for one that the entry accepts */ };
enum { CHEAP_STEPS = 3000, OWN_STEPS = 200 /* what a launch costs beside its steps */, DEVICE_SMS = 80 /* so many that who finishes takes several turns over what the blocks have */, MAX_SIZES = 8, MAX_EXTRA = 8 };
static const int64_t sizes[] = {33, 1000, 1024, 1025, 192, 2, 64, 32, 1, 20, 45, 100, 1920, 4096, 2047, 8192, 20000, 31, 30, 4095, 0};
static const int64_t grids[][3] = {{0, 0, 0}, {1, 1, 1}, {2, 1, 3}, {3, 2, 1}};
enum { N_SIZES = sizeof sizes / sizeof *sizes, N_GRIDS = sizeof grids / sizeof *grids };
/* Where the entry has several sizes: one of them long, the others short. */
static const int64_t longs[] = {300, 1025, 4096}, shorts[] = {3, 5, 2};

/* ---- trials, with the reference's results ---------------------------------------------------------------------------------------------------------- */

typedef struct Prepared {
    Launch launch; /* results are the reference's */
    Arena memory;  /* what its buffers lie in */
    int64_t sizes[MAX_SIZES], grid[3], cells;
    int64_t num_sm;
    uint64_t seed, steps; /* steps: that it took when it was made */
    uint64_t most_steps;
    int data;
    int caught; /* faults that it noticed */
    bool sound; /* agreed with the reference when it was made, which was for a fault that is planted, or without one */
} Prepared;

/* Why a launch was not made: the entry or the reference refuses it, or it is too much to run here. */
typedef enum Why { WHY_REFUSED, WHY_CELLS, WHY_STEPS, WHYS } Why;

typedef struct Test {
    Compiled c;
    int n;
    Prepared trials[MAX_TRIALS];
    int hunts, by_device, by_marks, dropped;
    bool fresh;     /* what noticed the last fault was made for it: does it agree without the fault? */
    bool aiming;    /* at one fault: the launch is not kept, and may take longer */
    int aimed[WHYS], made; /* at the faults of a kernel: launches that were not run, by why, and those that were */
    Marks marks;
    bool random;
    int last; /* the trial that found the last fault is tried first */
    /* one run */
    int trial, form;
    bool noticed, ran, found; /* found: by the simulator */
    uint64_t steps;
    Why why; /* a launch was not made */
    int64_t too_long[3]; /* where the entry has one size: the least that took more than MAX_STEPS, MANY_STEPS, HUGE_STEPS; 0: none did */
    Launch launch; /* with the simulator's results */
    Arena memory;  /* what they lie in, until the next run */
} Test;

static bool same_results(const Launch *a, const Launch *b)
{
    for (int k = 0; k < a->n_results; k++)
        if (memcmp(a->results[k].bytes, b->results[k].bytes, (size_t)a->results[k].count * (size_t)scalar_bytes(a->results[k].elem)))
            return false;
    return true;
}

static uint64_t most_steps(const Test *t, const Prepared *p)
{
    return p->cells >= HUGE_CELLS ? HUGE_STEPS : p->cells >= MANY_CELLS || t->aiming ? MANY_STEPS : MAX_STEPS;
}

static void simulate(Ctx *ctx, void *user)
{
    Test *t = user;
    const Prepared *p = &t->trials[t->trial];
    Launch launch = p->launch;
    SimReport report = {.warp_instructions = 0};
    SimOptions options = {.seed = p->seed, .grid = {p->grid[0], p->grid[1], p->grid[2]}, .max_findings = 1, .max_steps = p->most_steps, .form = t->form};
    arena_free(&t->memory);
    arena_init(&t->memory, ctx);
    launch.memory = &t->memory;
    bool good = sim_run(ctx, t->c.imp, &launch, &options, &report);
    t->ran = good || report.findings.n > 0;
    t->steps = report.warp_instructions;
    t->found = report.findings.n > 0;
    t->noticed = t->found || (good && p->launch.results && !same_results(&launch, &p->launch));
    t->launch = launch;
    if (!t->ran && t->steps >= options.max_steps)
        t->why = WHY_STEPS;
}

static void prepare(Ctx *ctx, void *user)
{
    Test *t = user;
    Prepared *p = &t->trials[t->n];
    const CoreEntry *entry = t->c.entry;
    t->ran = entry->n_sizes <= MAX_SIZES && sample_launch(ctx, entry, p->sizes, &(SampleInputs){.seed = p->seed, .max_cells = p->cells, .memory = &p->memory}, &p->launch);
    if (!t->ran) {
        t->why = aim_accepts(entry, p->sizes, p->num_sm) ? WHY_CELLS : WHY_REFUSED;
        return;
    }
    t->why = WHY_REFUSED;
    p->launch.num_sm = p->num_sm;
    if (p->data != DATA_SMALL)
        data_fill(ctx, entry, &t->marks, (Data)p->data, p->seed, data_needs_exact_sums(t->c.imp), &p->launch);
    t->trial = t->n; /* the simulator says first whether it is too much work */
    simulate(ctx, t);
    p->steps = t->steps;
    t->ran = t->ran && interp_run(ctx, entry, &p->launch);
    p->sound = !t->found && t->ran && same_results(&t->launch, &p->launch);
}

/* The trial behind the last one becomes one of them, if it can be run. */
static void prepare_last(Test *t)
{
    Prepared *p = &t->trials[t->n];
    p->most_steps = most_steps(t, p);
    int64_t *too_long = t->c.entry->n_sizes == 1 ? &t->too_long[p->most_steps == HUGE_STEPS ? 2 : p->most_steps == MANY_STEPS] : NULL;
    t->why = WHY_STEPS; /* where memory runs out */
    if (too_long && *too_long && p->sizes[0] >= *too_long)
        return;
    arena_init(&p->memory, t->c.ctx);
    if (ctx_try(t->c.ctx, prepare, t) && t->ran) {
        t->n++;
        return;
    }
    arena_free(&p->memory);
    if (too_long && t->why == WHY_STEPS)
        *too_long = p->sizes[0];
}

static void add_trial_on(Test *t, const int64_t *at, int grid, Data data, int64_t cells, int64_t num_sm)
{
    if (t->n == MAX_TRIALS)
        return;
    Prepared *p = &t->trials[t->n];
    *p = (Prepared){.grid = {grids[grid][0], grids[grid][1], grids[grid][2]}, .seed = 5 + (uint64_t)t->n + 1001 * (uint64_t)t->dropped, .data = data, .cells = cells, .num_sm = num_sm};
    memcpy(p->sizes, at, sizeof p->sizes);
    prepare_last(t);
}

static void drop_last(Test *t)
{
    arena_free(&t->trials[--t->n].memory);
    t->dropped++;
}

static void test_free(Test *t)
{
    while (t->n)
        drop_last(t);
    arena_free(&t->memory);
    compiled_free(&t->c);
    free(t);
}

static void add_trial(Test *t, const int64_t *at, int grid, Data data, int64_t cells)
{
    add_trial_on(t, at, grid, data, cells, cells == DEVICE_CELLS ? 1 + (5 + t->n) * 37 % DEVICE_SMS : 0);
}

static void find_device_size(void *user, Nat var)
{
    bool *found = user;
    *found |= imp_is_device_size(var);
}

typedef struct DeviceSizes {
    Ctx *ctx;
    bool found;
} DeviceSizes;

static void look_in_nat(void *user, Nat nat)
{
    DeviceSizes *d = user;
    nat_each_var(d->ctx, nat, find_device_size, &d->found);
}

static void look_in_stmt(void *user, ImpStmt *s) { walk_nats(s, look_in_nat, user); }

/* Does something depend on how many multiprocessors there are: a number of blocks, or of what they work on in turn? */
static bool sized_by_device(Test *t)
{
    DeviceSizes d = {t->c.ctx, false};
    for (int k = 0; k < t->c.imp->kernels.n; k++) {
        look_in_nat(&d, t->c.imp->kernels.at[k]->blocks[0]);
        walk_stmts(&t->c.imp->kernels.at[k]->body, look_in_stmt, &d);
    }
    return d.found;
}

static void add_trials(Test *t)
{
    t->marks = marks_of(t->c.ctx, t->c.imp, HUGE_CELLS / 4);
    int64_t at[MAX_SIZES];
    int n = t->c.entry->n_sizes;
    for (int i = 0; i < N_SIZES; i++)
        for (int g = 0; g < N_GRIDS; g++) {
            for (int k = 0; k < MAX_SIZES; k++)
                at[k] = sizes[i];
            add_trial(t, at, g, (Data)((4 * i + g) % DATA_KINDS), MAX_CELLS);
        }
    for (int i = 0; i < 2 * (DATA_KINDS - DATA_FIRST_LOW); i++) {
        for (int k = 0; k < MAX_SIZES; k++)
            at[k] = i % 2 ? 1000 : 2047;
        add_trial(t, at, 0, (Data)(DATA_FIRST_LOW + i / 2), MAX_CELLS);
    }
    for (int i = 0; i < 4; i++) { /* whole tiles */
        for (int k = 0; k < MAX_SIZES; k++)
            at[k] = 1024 << i;
        add_trial(t, at, 0, DATA_NONE, MAX_CELLS);
    }
    for (int i = 0; n > 1 && i < n * 3; i++) {
        for (int k = 0; k < MAX_SIZES; k++)
            at[k] = k == i / 3 ? longs[i % 3] : shorts[i % 3];
        add_trial(t, at, 1, DATA_WIDE, MAX_CELLS);
    }
}

/* Launches with sizes at which the program itself makes a difference, or in one of them makes it. */
static void hunt_by_marks(Test *t)
{
    static const Data data[] = {DATA_FINE, DATA_WIDE, DATA_EDGE, DATA_LATE, DATA_SPARSE, DATA_SMALL, DATA_FINE, DATA_SPARSE, DATA_EDGE, DATA_NEGATIVE, DATA_FIRST_LOW, DATA_LAST_HIGH, DATA_ALONE, DATA_ALONE};
    uint64_t state = 55 + (uint64_t)t->by_marks;
    bool device = sized_by_device(t);
    for (int try = 0, n = t->n; try < MARK_TRIES && t->n == n; try++) {
        int64_t at[MAX_SIZES];
        for (int k = 0; k < MAX_SIZES; k++)
            at[k] = marks_size(&t->marks, t->c.entry->n_sizes, &state);
        if (t->by_marks % 8 == 7 && t->c.entry->n_sizes > 1) /* one very long */
            for (int k = 0, lengthy = random_below(&state, t->c.entry->n_sizes); k < MAX_SIZES; k++)
                at[k] = k == lengthy ? MANY_CELLS / (4 << random_below(&state, 4)) - random_below(&state, 9) : 1 + random_below(&state, 12);
        int64_t cells = t->by_marks % (t->c.entry->n_sizes > 1 ? 8 : 4) == (t->c.entry->n_sizes > 1 ? 7 : 3) ? MANY_CELLS : t->by_marks % 2 ? DEVICE_CELLS : MAX_CELLS;
        add_trial_on(t, at, random_below(&state, N_GRIDS), data[t->by_marks % (int)(sizeof data / sizeof *data)], cells, device ? 1 + random_below(&state, DEVICE_SMS) : 0);
    }
    t->by_marks++;
}

/* More launches, for what none of the others noticed. Where the entry has one size: some of so many elements that loops over blocks and over partial results take several turns. */
static void hunt(Test *t)
{
    if (t->by_marks < MARK_HUNTS) {
        hunt_by_marks(t);
        return;
    }
    if (t->by_device < DEVICE_HUNTS && t->c.entry->n_sizes == 1 && sized_by_device(t)) {
        static const Data data[] = {DATA_LATE, DATA_WIDE, DATA_LATE, DATA_FIRST_LOW};
        uint64_t state = 99 + (uint64_t)t->by_device;
        int64_t size[MAX_SIZES] = {DEVICE_CELLS - (t->by_device % 3 ? random_below(&state, DEVICE_CELLS / 2) : 0)};
        add_trial(t, size, 0, data[t->by_device++ % 4], DEVICE_CELLS);
        return;
    }
    if (t->by_device < DEVICE_HUNTS + HUGE_HUNTS && t->c.entry->n_sizes == 1 && sized_by_device(t)) { /* more partial results than threads */
        static const Data data[HUGE_HUNTS] = {DATA_WIDE, DATA_FINE, DATA_SPARSE, DATA_LATE};
        static const int64_t sms[HUGE_HUNTS] = {300, 250, 150, 100}; /* a last row of them of each length, where 256 threads take up to four */
        int k = t->by_device++ - DEVICE_HUNTS;
        int64_t size[MAX_SIZES] = {HUGE_CELLS / 4 - k % 2};
        add_trial_on(t, size, 0, data[k], HUGE_CELLS, sms[k]);
        return;
    }
    uint64_t state = 77 + (uint64_t)t->hunts;
    int n = t->c.entry->n_sizes;
    int64_t at[MAX_SIZES];
    static const Data large_data[] = {DATA_WIDE, DATA_LATE,     DATA_INFINITE,  DATA_LATE, DATA_FIRST_HIGH, DATA_LATE, DATA_INFINITE, DATA_LATE,
                                      DATA_FIRST_LOW, DATA_LAST_LOW, DATA_LAST_HIGH, DATA_LATE, DATA_SPECIAL,    DATA_LATE, DATA_POSITIVE, DATA_LATE};
    Data data = t->hunts % 3 == 2 ? DATA_LATE : (Data)(t->hunts % DATA_KINDS);
    bool large = n == 1 && t->hunts % 5 == 4;
    for (int k = 0; k < MAX_SIZES; k++)
        at[k] = large ? 600000 + random_below(&state, 1000000) : 1 + random_below(&state, n == 1 ? 4200 : 60);
    for (int k = 0; k < MAX_SIZES && !large && t->hunts % 2 == 1; k++) /* a multiple of what tiles often are, and one less */
        at[k] = (n == 1 && t->hunts % 4 == 1 ? 1024 : t->hunts % 8 == 3 ? 8 : 64) * (1 + at[k] % 4) - random_below(&state, 2);
    if (n > 1)
        at[random_below(&state, n)] *= 10;
    if (large)
        data = large_data[t->hunts / 5 % (int)(sizeof large_data / sizeof *large_data)];
    add_trial(t, at, large ? t->hunts % 2 : random_below(&state, N_GRIDS), data, large ? MANY_CELLS : MAX_CELLS);
    t->hunts++;
}

/* Does some trial notice what is planted? */
static bool noticed_by(Test *t, int trial)
{
    t->trial = trial;
    t->ran = t->noticed = false;
    ctx_try(t->c.ctx, simulate, t);
    if (t->noticed) {
        t->last = trial;
        t->trials[trial].caught++;
    }
    return t->noticed;
}

/* Small sizes are cheap; large ones, but not too large, have many partial results. `within`: one that is too large is worse; else it stays, for some
 * faults want as many numbers as can be. */
static bool is_better(const Test *t, const int64_t *a, const int64_t *b, bool large, bool within, int64_t most)
{
    double x = 1, y = 1;
    for (int k = 0; k < t->c.entry->n_sizes; k++) {
        x *= (double)a[k] + 1;
        y *= (double)b[k] + 1;
    }
    return large && !(within && y > (double)most) ? x > y && x <= (double)most : x < y;
}

/* How many numbers the inputs of a launch may have: more where smaller ones were refused. */
static int64_t aimed_cells(int try, int64_t size, int64_t large)
{
    static const int64_t cells[] = {MAX_CELLS, DEVICE_CELLS, MANY_CELLS, HUGE_CELLS};
    int64_t most = cells[4 * try / AIM_TRIES];
    most = most == MAX_CELLS && size >= MAX_CELLS ? DEVICE_CELLS : most;
    return large > most ? large : most;
}

/* A launch for this fault; false: found no sizes. Some values of the inputs show more than others. A third of the launches are large; where their number of blocks depends on
 * the device, every other one of these, and then all, have more partial results than threads. */
static bool add_aimed(Test *t, Aim *aim, int k)
{
    static const Data data[] = {DATA_FINE,   DATA_WIDE, DATA_LATE,     DATA_NEGATIVE, DATA_EDGE,    DATA_WIDE,      DATA_SPARSE,   DATA_EDGE,     DATA_FINE,   DATA_EDGE,
                                DATA_SPARSE, DATA_LATE, DATA_EDGE,     DATA_POSITIVE, DATA_EDGE,    DATA_SPECIAL,   DATA_LAST_HIGH, DATA_INFINITE, DATA_LAST_LOW, DATA_SPARSE,
                                DATA_SPECIAL, DATA_ALONE, DATA_ALONE,  DATA_ALONE,    DATA_ALONE,   DATA_TIES,      DATA_TIES,     DATA_TIES,     DATA_PEAK,    DATA_PEAK,      DATA_PEAK};
    static const Data huge_data[] = {DATA_PEAK, DATA_TIES, DATA_PEAK, DATA_FINE, DATA_PEAK, DATA_WIDE, DATA_PEAK, DATA_ALONE};
    uint64_t state = 33 + (uint64_t)k + 1001 * (uint64_t)t->dropped;
    const bool device = sized_by_device(t), large = k % 3 == 2, huge = device && large && (k % 2 || k >= 3 * AIMED), several = t->c.entry->n_sizes > 1;
    const int64_t most = huge ? 2 * MANY_CELLS : k % 2 ? DEVICE_CELLS : MAX_CELLS; /* of a large one */
    int64_t at[MAX_SIZES];
    const int n_data = sizeof data / sizeof *data, n_huge = sizeof huge_data / sizeof *huge_data;
    const Data wanted = huge ? huge_data[k / 3 % n_huge] : data[(k + k / n_data) % n_data];
    const bool *fixed = aim->fault->kernel->once, once = fixed[0] || fixed[1] || fixed[2];
    for (int try = 0, n = t->n, missed = 0; try < AIM_TRIES && t->n == n; try++) {
        int grid = once ? 0 : (k + try) % N_GRIDS;
        const int64_t num_sm = !device ? 0 : huge ? DEVICE_SMS + random_below(&state, 2 * DEVICE_SMS) : 1 + random_below(&state, DEVICE_SMS);
        if (!aim_sizes(aim, &t->marks, grids[grid], num_sm, &state, at)) {
            if (++missed == (once && !device ? 2 : N_GRIDS))
                return false;
            continue;
        }
        if (!large && ((several && k % 3 == 0) || try % 2))
            aim_shrink(aim, &t->marks, grids[grid], num_sm, &state, at);
        for (int again = 0; (large || (several && k / 3 % 2 == 0)) && again < AGAIN; again++) {
            int64_t other[MAX_SIZES];
            if (aim_sizes(aim, &t->marks, grids[grid], num_sm, &state, other) && is_better(t, other, at, large, huge, most))
                memcpy(at, other, sizeof at);
        }
        add_trial_on(t, at, grid, wanted, aimed_cells(try, at[0], large ? most : 0), num_sm);
        *(t->n > n ? &t->made : &t->aimed[t->why]) += 1;
    }
    return true;
}

/* Dear launches are spared where they would not get to the fault. */
static bool may_notice(const Test *t, const Aim *aim, int trial)
{
    const Prepared *p = &t->trials[trial];
    return p->steps < CHEAP_STEPS || aim_meets(aim, p->sizes, p->grid, p->num_sm, p->seed);
}

/* The work that a trial has been for each fault that it noticed. */
static double cost(const Prepared *p) { return ((double)p->steps + OWN_STEPS) / (p->caught + 0.1); }

/* Launches that are made up for faults, and notice them, are kept: where they are too many, the one that is least worth its work goes. */
static void make_room(Test *t)
{
    if (t->n < MAX_TRIALS)
        return;
    int worst = 0;
    for (int k = 1; k < t->n; k++)
        if (cost(&t->trials[k]) > cost(&t->trials[worst]))
            worst = k;
    Prepared last = t->trials[t->n - 1];
    t->trials[t->n - 1] = t->trials[worst];
    t->trials[worst] = last;
    t->last = 0;
    drop_last(t);
}

/* The one that noticed the last fault, then the most promising ones. */
static int order_trials(const Test *t, int *order)
{
    int n = 0;
    for (int k = 0; k < t->n; k++) {
        int at = n++;
        for (; at > 0 && order[at - 1] != t->last && (k == t->last || cost(&t->trials[k]) < cost(&t->trials[order[at - 1]])); at--)
            order[at] = order[at - 1];
        order[at] = k;
    }
    return n;
}

/* Is there a trial number k, made under the fault, and did it notice that? */
static bool made_notice(Test *t, int k)
{
    if (k == t->n || t->trials[k].sound)
        return false;
    t->last = k;
    t->trials[k].caught++;
    t->fresh = true;
    return true;
}

/* A launch that was made under a fault has to agree without it, too. */
static bool agrees_without(Test *t)
{
    t->trial = t->last;
    t->ran = t->noticed = false;
    ctx_try(t->c.ctx, simulate, t);
    return t->ran && !t->noticed;
}

static void print_launch(const Test *t, const Prepared *p)
{
    for (int k = 0; k < t->c.entry->n_sizes; k++)
        printf("%s%s = %lld", k ? ", " : "", t->c.entry->sizes[k]->name, (long long)p->sizes[k]);
    printf("; grid %lld %lld %lld, numSM %lld, data %d, seed %llu\n", (long long)p->grid[0], (long long)p->grid[1], (long long)p->grid[2], (long long)p->num_sm, p->data, (unsigned long long)p->seed);
}

/* `hunts`: also by launches that are made for it. */
static bool noticed(Test *t, int form, Aim *aim, bool hunts)
{
    t->form = form;
    int order[MAX_TRIALS], n_order = order_trials(t, order);
    for (int k = 0; k < n_order; k++)
        if (may_notice(t, aim, order[k]) && noticed_by(t, order[k]))
            return true;
    for (int k = 0, n_aimed = (t->c.entry->n_sizes == 1 ? 10 : 4) * AIMED; hunts && !t->random && k < n_aimed; k++) {
        make_room(t);
        int n = t->n;
        t->aiming = true;
        const bool found = add_aimed(t, aim, k);
        t->aiming = false;
        if (!found)
            break;
        if (made_notice(t, n))
            return true;
        if (t->n > n) /* it was for this fault alone */
            drop_last(t);
    }
    while (hunts && !t->random && t->hunts < HUNTS) {
        make_room(t);
        int n = t->n;
        hunt(t);
        if (made_notice(t, n))
            return true;
    }
    return false;
}

/* ---- one program -------------------------------------------------------------------------------------------------------------------------------------- */

typedef struct Totals {
    int every, part; /* only each so many-th fault, from this one on */
    const char *only;
    int n_extra;
    int64_t extra[MAX_EXTRA][MAX_SIZES]; /* sizes of launches more */
    bool thorough;
    long unreached; /* places in kernels that nothing launches */
    long seen, programs, planted[FAULT_KINDS], caught[FAULT_KINDS], none[FAULT_KINDS], known, far, wrong; /* far: of those that are known, out of reach */
} Totals;

/* Does the trial launch the kernel, which may be for a class of sizes? */
static bool launches(Test *t, const ImpKernel *kernel, const Prepared *p) { return imp_is_launched(t->c.imp, kernel, &p->launch); }

/* Some sizes are beyond what can be run here: nothing can be said of faults in their kernels. */
static bool is_reached(Test *t, ImpKernel *kernel)
{
    for (int n = 0; n < t->n; n++)
        if (launches(t, kernel, &t->trials[n]))
            return true;
    make_room(t);
    const Fault none = {.kernel = kernel};
    Aim aim = aim_take(t->c.ctx, t->c.imp, &none);
    int n = t->n;
    for (int k = 0; k < AIMED && !t->random && t->n == n; k++)
        if (!add_aimed(t, &aim, k))
            break;
    return t->n > n;
}

/* How many faults look alike? */
static int places_like(const Faults *faults, const Fault *f)
{
    int n = 0;
    for (int k = 0; k < faults->list.n; k++)
        n += faults->list.at[k].kind == f->kind && strcmp(faults->list.at[k].what, f->what) == 0;
    return n;
}

static void test_kernel(Test *t, const char *path, ImpKernel *kernel, int form, Survivors *s, Totals *totals)
{
    Ctx *ctx = t->c.ctx;
    Faults faults = faults_of(ctx, kernel);
    t->form = form;
    t->made = 0;
    memset(t->aimed, 0, sizeof t->aimed);
    if (!is_reached(t, kernel)) {
        if (!t->random)
            printf("%s: %s is launched by no size that can be run here: %d places without a fault\n", path, kernel->name, faults.list.n);
        totals->unreached += faults.list.n;
        return;
    }
    for (int k = 0; k < faults.list.n; k++) {
        Fault *f = &faults.list.at[k];
        if (totals->every > 1 && totals->seen++ % totals->every != totals->part)
            continue;
        if (fault_is_none(ctx, f)) {
            totals->none[f->kind]++;
            continue;
        }
        char text[SURVIVOR_LINE];
        int line = 0, column = 0;
        Span span = f->expr ? f->expr->span : f->stmt->span;
        if (span.file)
            source_position(ctx, span, &line, &column);
        snprintf(text, sizeof text, "%s:%d: %s: %s: %s", path, line, kernel->name, fault_names[f->kind], f->what);
        if (totals->only && !strstr(text, totals->only))
            continue;
        Aim aim = aim_take(ctx, t->c.imp, f);
        const int made = t->made, unmade = t->aimed[WHY_CELLS] + t->aimed[WHY_STEPS];
        t->fresh = false;
        fault_plant(ctx, f);
        aim_compare(&aim);
        bool caught = noticed(t, form, &aim, totals->thorough || !survivor_listed(s, text, places_like(&faults, f)));
        fault_remove(f);
        if (t->fresh && !agrees_without(t)) {
            totals->wrong++;
            printf("%s: %s fails without a fault: ", path, kernel->name);
            print_launch(t, &t->trials[t->last]);
        }
        totals->planted[f->kind]++;
        totals->caught[f->kind] += caught;
        if (caught || !s)
            continue;
        if (survivor_known(s, text, &totals->far))
            totals->known++;
        else {
            totals->wrong++;
            printf("%s\n", text);
            if (t->made == made)
                printf("    %s\n", t->aimed[WHY_CELLS] + t->aimed[WHY_STEPS] > unmade ? "no launch that comes there could be run" : "no sizes were found that come there");
            fflush(stdout);
        }
    }
    if (!t->random && (t->aimed[WHY_CELLS] || t->aimed[WHY_STEPS]))
        printf("%s: %s: %d launches were made for faults that the usual ones did not notice; not run were %d of too many numbers, %d of too many steps\n", path, kernel->name, t->made, t->aimed[WHY_CELLS], t->aimed[WHY_STEPS]);
}

static int cheaper(const void *a, const void *b)
{
    const Prepared *x = a, *y = b;
    return x->steps < y->steps ? -1 : x->steps > y->steps;
}

static void test_program(Test *t, const char *path, Survivors *s, Totals *totals)
{
    for (int k = 0; k < t->n; k++)
        if (!t->trials[k].sound) {
            totals->wrong++;
            printf("%s: fails without a fault\n", path);
            return;
        }
    t->last = 0;
    if (t->n == 0)
        return;
    qsort(t->trials, (size_t)t->n, sizeof *t->trials, cheaper);
    totals->programs++;
    for (int k = 0; k < t->c.imp->kernels.n; k++) {
        int form = 0;
        for (ImpKernel *kernel = t->c.imp->kernels.at[k]; kernel; kernel = kernel->otherwise) {
            test_kernel(t, path, kernel, form++, s, totals);
            if (imp_wide_twin(kernel)) /* the same statements */
                kernel = kernel->otherwise;
        }
    }
}

static void test_file(const char *path, Survivors *s, Totals *totals)
{
    for (int k = 0, n = 1; k < n; k++) {
        Test *t = calloc(1, sizeof *t);
        t->c = compile_entry(path, k, &n);
        arena_init(&t->memory, t->c.ctx);
        if (t->c.imp)
            add_trials(t);
        for (int i = 0; t->c.imp && i < totals->n_extra; i++)
            add_trial_on(t, totals->extra[i], 0, DATA_FINE, HUGE_CELLS, DEVICE_SMS);
        if (t->n == 0) {
            totals->wrong++;
            printf("%s: no size could be run\n", path);
        } else
            test_program(t, path, s, totals);
        test_free(t);
    }
}

static void test_random_program(uint64_t seed, const bool *scalars, Totals *totals)
{
    Pool *pool = pool_new();
    RProgram *p = generate_program(pool, seed, scalars);
    Test *t = calloc(1, sizeof *t);
    t->c = compile_quietly(program_text(p));
    arena_init(&t->memory, t->c.ctx);
    t->random = true;
    for (int k = 0; t->c.imp && k < 3 * TRIALS; k++) {
        RTrial r = random_trial(p, seed + 1000 * (uint64_t)(k / TRIALS), k % TRIALS);
        Prepared *trial = &t->trials[t->n];
        *trial = (Prepared){.grid = {r.grid, r.grid, r.grid}, .seed = r.seed, .data = k % DATA_KINDS, .cells = MAX_CELLS};
        random_sizes(&t->c, p, &r, trial->sizes);
        prepare_last(t);
    }
    if (t->n)
        test_program(t, "random", NULL, totals);
    test_free(t);
    pool_free(pool);
}

static void print_totals(const char *what, const Totals *t)
{
    long planted = 0, caught = 0, none = 0;
    printf("%s: %ld programs", what, t->programs);
    for (int k = 0; k < FAULT_KINDS; k++) {
        printf("%s%s %ld of %ld", k % 5 ? ", " : "\n  ", fault_names[k], t->caught[k], t->planted[k]);
        planted += t->planted[k];
        caught += t->caught[k];
        none += t->none[k];
    }
    printf("\n  noticed: %ld of %ld; not planted: %ld in kernels that nothing launches here, %ld proved to change nothing (comparison %ld, operands %ld, slot %ld)\n", caught, planted, t->unreached, none, t->none[FAULT_COMPARISON], t->none[FAULT_OPERANDS], t->none[FAULT_SLOT]);
}

/* N,N,... */
static void read_sizes(const char *text, int64_t into[MAX_SIZES])
{
    char *end = (char *)text;
    for (int k = 0; k < MAX_SIZES && *text; k++, text = *end == ',' ? end + 1 : end) {
        into[k] = strtoll(text, &end, 10);
        if (end == text)
            return;
    }
}

int main(int argc, char **argv)
{
    Survivors *s = calloc(1, sizeof *s);
    Totals files = {.every = 1}, random = {.every = 1};
    long count = 0;
    uint64_t seed = 1;
    bool scalars[SC_COUNT];
    lowered_scalars(scalars);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--thorough") == 0) {
            files.thorough = true;
            continue;
        }
        if (argv[i][0] != '-' || i + 1 == argc) {
            test_file(argv[i], s, &files);
            continue;
        }
        if (strcmp(argv[i], "--survivors") == 0) {
            if (!survivors_load(s, argv[i + 1])) {
                printf("%s cannot be read, or has more than %d lines\n", argv[i + 1], SURVIVORS_MAX);
                return 2;
            }
        } else if (strcmp(argv[i], "--random") == 0)
            count = strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--every") == 0)
            files.every = random.every = (int)strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--part") == 0)
            files.part = random.part = (int)strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--only") == 0)
            files.only = argv[i + 1];
        else if (strcmp(argv[i], "--sizes") == 0 && files.n_extra < MAX_EXTRA)
            read_sizes(argv[i + 1], files.extra[files.n_extra++]);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 10);
        i++;
    }
    for (long k = 0; k < count; k++)
        test_random_program(seed * 7919 + (uint64_t)k, scalars, &random);
    for (int i = 1; i < argc && files.every <= 1 && !files.only; i++)
        files.wrong += survivors_stale(s, argv[i]);
    if (files.every > 1)
        survivors_print_seen(s);
    print_totals("files", &files);
    if (count) {
        printf("random seed %llu\n", (unsigned long long)seed);
        print_totals("random", &random);
    }
    long planted = 0;
    for (int k = 0; k < FAULT_KINDS; k++)
        planted += files.planted[k] + random.planted[k];
    printf("%ld survivors known, %ld of them out of reach\nfaults: %ld checks, %ld wrong\n", files.known, files.far, planted, files.wrong + random.wrong);
    free(s);
    return files.wrong + random.wrong != 0;
}
