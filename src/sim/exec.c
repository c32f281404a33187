/* Runs the code of a kernel: a warp up to its next barrier of the block, the warps of a block by turns, the blocks of a grid. */
#include "sim/sim_internal.h"

/* ---- findings of a warp -------------------------------------------------------------------------------------------- */

static int first_lane(uint32_t mask)
{
    for (int l = 0; l < WARP; l++)
        if (mask >> l & 1)
            return l;
    return -1;
}

static FindingPlace place_of(const Warp *warp, uint32_t lanes, const Ins *ins)
{
    return (FindingPlace){warp->number, first_lane(lanes), ins->site, NO_SITE, -1, NULL, 0};
}

static void not_set(Run *run, const Warp *warp, uint32_t lanes, const Ins *ins, int var)
{
    sim_find(run, SIM_REGISTER_UNSET, place_of(warp, lanes, ins), "reads the register `%s`, which has no value yet",
             run->kernel->vars.at[var]->name);
}

/* Indices are 32-bit in the emitted code: there, a larger one would wrap. */
static void check_index(Run *run, const Warp *warp, uint32_t mask, const Ins *ins, const int64_t *x, int stride)
{
    uint32_t bad = 0;
    for (int l = 0; l < WARP; l++)
        bad |= (uint32_t)(x[l * stride] > run->index_max || x[l * stride] < -run->index_max - 1) << l;
    bad &= mask;
    if (bad)
        sim_find(run, SIM_ARITHMETIC, place_of(warp, bad, ins), "computes %s of %lld, which leaves the 32 bits of an index",
                 run->code->sites.at[ins->site].what, (long long)x[first_lane(bad) * stride]);
}

/* ---- operands ------------------------------------------------------------------------------------------------------ */

static inline const int64_t *operand(const Warp *warp, int r, int *stride)
{
    *stride = r >= 0;
    return r >= 0 ? warp->v[r].i : &warp->s[~r];
}

static int64_t first_operand(const Warp *warp, int r)
{
    int stride;
    const int64_t *value = operand(warp, r, &stride);
    return value[first_lane(warp->mask) * stride];
}

static uint32_t lanes_true(const Lanes *x)
{
    uint32_t mask = 0;
    for (int l = 0; l < WARP; l++)
        mask |= (uint32_t)(x->i[l] != 0) << l;
    return mask;
}

static void copy_lanes(Lanes *dst, const Lanes *from, uint32_t mask)
{
    if (mask == FULL_MASK)
        *dst = *from;
    else
        for (int l = 0; l < WARP; l++)
            if (mask >> l & 1)
                dst->u[l] = from->u[l];
}

/* ---- instructions -------------------------------------------------------------------------------------------------- */

static void index_arithmetic(Run *run, Warp *warp, const Ins *ins)
{
    int sa, sb;
    const int64_t *a = operand(warp, ins->a, &sa), *b = operand(warp, ins->b, &sb);
    bool scalar = ins->dst < 0;
    int64_t *dst = scalar ? &warp->s[~ins->dst] : warp->v[ins->dst].i;
    uint32_t divisor = 0, mask = scalar ? 1 : warp->mask;
    uint32_t bad = lanes_nat((OpCode)ins->op, ins->k, scalar ? 1 : WARP, dst, a, sa, b, sb, mask, &divisor);
    uint32_t lanes = scalar ? warp->mask : divisor | bad;
    if (divisor)
        sim_find(run, SIM_ARITHMETIC, place_of(warp, lanes, ins), "computes an index with a %s below 1",
                 ins->op == N_LOG2 ? "logarithm of a number" : "divisor");
    else if (bad)
        sim_find(run, SIM_ARITHMETIC, place_of(warp, lanes, ins), "computes an index that leaves 64 bits");
}

static void nat_value(Run *run, Warp *warp, const Ins *ins)
{
    int sa;
    const int64_t *a = operand(warp, ins->a, &sa);
    if (ins->type == SC_I32)
        check_index(run, warp, warp->mask, ins, a, sa);
    lanes_of_nat((Scalar)ins->type, warp->mask, &warp->v[ins->dst], a, sa);
}

static void check_range(Run *run, Warp *warp, const Ins *ins)
{
    int sa, sb, sc;
    const int64_t *a = operand(warp, ins->a, &sa), *b = operand(warp, ins->b, &sb), *c = operand(warp, ins->c, &sc);
    uint32_t bad = 0;
    for (int l = 0; l < WARP; l++)
        bad |= (uint32_t)((ins->k & 1 && a[l * sa] < b[l * sb]) || (ins->k & 2 && a[l * sa] > c[l * sc])) << l;
    bad &= warp->mask;
    if (!bad)
        return;
    int l = first_lane(bad);
    bool high = ins->k & 2 && a[l * sa] > c[l * sc];
    sim_find(run, SIM_INDEX_VALUE, place_of(warp, bad, ins), "has the value %lld for the index `%s`, which is %s %lld",
             (long long)a[l * sa], run->code->sites.at[ins->site].what, high ? "at most" : "at least",
             (long long)(high ? c[l * sc] : b[l * sb]));
}

/* Only for functions whose result does not depend on the order. */
static void reduce_lanes(PrimId op, Scalar type, Lanes *dst, const Lanes *from)
{
    Lanes acc = *from, other;
    for (int d = WARP / 2; d > 0; d /= 2) {
        for (int l = 0; l < WARP; l++)
            other.u[l] = acc.u[l ^ d];
        lanes_apply(op, type, FULL_MASK, &acc, &acc, &other, NULL);
    }
    *dst = acc;
}

static void shuffle(Run *run, Warp *warp, const Ins *ins)
{
    if (warp->mask != FULL_MASK) {
        int lane = first_lane(~warp->mask);
        FindingPlace place = {warp->number, lane, ins->site, NO_SITE, warp->number * WARP + first_lane(warp->mask), NULL, 0};
        if (warp->all >> lane & 1)
            sim_find(run, SIM_SHUFFLE_INACTIVE, place, "does not get to a shuffle that needs all 32 lanes of its warp; %d of them do",
                     __builtin_popcount(warp->mask));
        else
            sim_find(run, SIM_SHUFFLE_INACTIVE, place, "does not exist, and a shuffle needs all 32 lanes of its warp");
    }
    run->report->shuffles++;
    if (ins->prim == P_reduceWarp) {
        reduce_lanes((PrimId)ins->b, (Scalar)ins->type, &warp->v[ins->dst], &warp->v[ins->a]);
        return;
    }
    int stride;
    const int64_t *by = operand(warp, ins->b, &stride);
    Lanes from = warp->v[ins->a], *dst = &warp->v[ins->dst];
    uint32_t bad = 0;
    int64_t distance[WARP]; /* dst may be the register of the distances */
    for (int l = 0; l < WARP; l++)
        distance[l] = by[l * stride];
    for (int l = 0; l < WARP; l++) {
        int64_t d = distance[l], source = l;
        if (d < 0 || d >= ins->k)
            bad |= (1u << l) & warp->mask;
        else
            source = ins->prim == P_shfl    ? l / ins->k * ins->k + d
                     : ins->prim == P_shflXor ? (l ^ d) : ins->prim == P_shflUp ? l - d : l + d;
        dst->u[l] = from.u[source >= 0 && source < WARP ? source : l];
    }
    if (bad)
        sim_find(run, SIM_INDEX_VALUE, place_of(warp, bad, ins), "shuffles by %lld, among %d lanes", (long long)distance[first_lane(bad)], (int)ins->k);
}

static void register_slot(Run *run, Warp *warp, const Ins *ins)
{
    int stride;
    const int64_t *slot = operand(warp, ins->a, &stride);
    uint32_t unset = 0, outside = 0;
    Lanes *value = &warp->v[ins->dst], read;
    memset(&read, 0, sizeof read);
    for (int l = 0; l < WARP; l++) {
        if (!(warp->mask >> l & 1))
            continue;
        int64_t k = slot[l * stride];
        if (k < 0 || k >= ins->k) {
            outside |= 1u << l;
            continue;
        }
        int reg = ins->b + (int)k;
        if (ins->op == X_GET_SLOT) {
            unset |= (~warp->set[reg] >> l & 1) << l;
            read.u[l] = warp->v[reg].u[l];
        } else {
            warp->set[reg] |= 1u << l;
            warp->v[reg].u[l] = value->u[l];
        }
    }
    const char *name = run->kernel->vars.at[ins->c]->name;
    if (outside) {
        int l = first_lane(outside);
        FindingPlace place = place_of(warp, outside, ins);
        place.cell = slot[l * stride];
        sim_find(run, SIM_OUT_OF_BOUNDS, place, "%s slot %lld of the registers `%s`, which are %lld",
                 ins->op == X_GET_SLOT ? "reads" : "sets", (long long)place.cell, name, (long long)ins->k);
    }
    if (unset)
        not_set(run, warp, unset, ins, ins->c);
    if (ins->op == X_GET_SLOT)
        *value = read;
}

static void loop_start(Run *run, Warp *warp, const Ins *ins)
{
    int sa, sb, sc;
    const int64_t *lo = operand(warp, ins->a, &sa), *step = operand(warp, ins->b, &sb), *hi = operand(warp, ins->c, &sc);
    uint32_t stuck = 0;
    warp->masks[ins->m] = warp->mask;
    warp->masks[ins->m + 1] = 0;
    for (int l = 0; l < WARP; l++)
        stuck |= (uint32_t)(step[l * sb] < 1) << l;
    stuck &= warp->mask;
    if (stuck) {
        sim_find(run, SIM_ARITHMETIC, place_of(warp, stuck, ins), "runs a loop in steps of %lld", (long long)step[first_lane(stuck) * sb]);
        warp->mask &= ~stuck; /* it would not end */
    }
    check_index(run, warp, warp->mask, ins, lo, sa);
    check_index(run, warp, warp->mask, ins, hi, sc);
    if (ins->dst < 0)
        warp->s[~ins->dst] = *lo;
    else
        for (int l = 0; l < WARP; l++)
            warp->v[ins->dst].i[l] = lo[l * sa];
}

/* The lanes that go on. */
static uint32_t loop_test(const Warp *warp, const Ins *ins)
{
    int sa, sb;
    const int64_t *i = operand(warp, ins->a, &sa), *hi = operand(warp, ins->b, &sb);
    uint32_t on = 0;
    if (!sa && !sb)
        return *i < *hi ? warp->mask : 0;
    for (int l = 0; l < WARP; l++)
        on |= (uint32_t)(i[l * sa] < hi[l * sb]) << l;
    return on & warp->mask;
}

static void loop_step(Run *run, Warp *warp, const Ins *ins)
{
    int sa, sd;
    const int64_t *step = operand(warp, ins->a, &sa), *var = operand(warp, ins->dst, &sd);
    uint32_t bad = 0;
    warp->masks[ins->m + 1]++;
    for (int l = 0; l < (sd ? WARP : 1); l++) {
        int64_t next;
        bad |= (uint32_t)!add_fits(var[l], step[l * sa], &next) << l;
        if (ins->dst < 0)
            warp->s[~ins->dst] = next;
        else
            warp->v[ins->dst].i[l] = next;
    }
    bad &= sd ? warp->mask : 1;
    if (bad) {
        sim_find(run, SIM_ARITHMETIC, place_of(warp, sd ? bad : warp->mask, ins), "runs a loop whose index leaves 64 bits");
        run->stop = true; /* it wrapped: the loop would start again */
    }
    check_index(run, warp, warp->mask, ins, var, sd);
}

static void warp_barrier(Run *run, Warp *warp, const Ins *ins)
{
    uint32_t missing = warp->all & ~warp->mask;
    if (missing) {
        FindingPlace place = place_of(warp, missing, ins);
        place.other_thread = warp->number * WARP + first_lane(warp->mask);
        sim_find(run, SIM_DIVERGENT_BARRIER, place, "does not get to a barrier of its warp at which other lanes wait");
    }
    warp->epoch++;
    run->report->warp_barriers++;
}

/* ---- a warp -------------------------------------------------------------------------------------------------------- */

/* A warp looks at the brake after so many steps, and before the first. */
enum { LOOK_STEPS = 1024 };

static uint64_t until_look(const Run *run, uint64_t steps) { return run->steps_left - steps < LOOK_STEPS ? run->steps_left : steps + LOOK_STEPS; }

/* Runs the warp until it waits at a barrier of the block (the instruction before warp->pc) or ends; at barriers of the warp, others may
 * have their turn, too. */
static void run_warp(Run *run, Warp *w)
{
    const Ins *code = run->code->ins.at;
    uint64_t steps = 0, most = until_look(run, 0);
    ctx_look(run->ctx);
    Executed *executed = count_executed(run);
    while (!run->stop) {
        const Ins *ins = &code[w->pc++];
        if (steps++ == most) {
            ctx_look(run->ctx);
            if (most == run->steps_left) {
                run->stop = true;
                steps--; /* this one is not taken */
                break;
            }
            most = until_look(run, most);
        }
        if (executed) {
            executed[ins - code].times++;
            executed[ins - code].lanes += (uint64_t)__builtin_popcount(w->mask);
        }
        if (w->counts)
            count_roundings(run, w, ins);
        switch ((OpCode)ins->op) {
        case X_END: w->state = WARP_DONE; goto out;
        case X_IF: {
            uint32_t on = lanes_true(&w->v[ins->a]) & w->mask;
            count_split(run, ins, w->mask, on);
            w->masks[ins->m] = w->mask;
            w->masks[ins->m + 1] = w->mask & ~on;
            w->mask = on;
            if (!on)
                w->pc = (int)ins->k;
            break;
        }
        case X_ELSE:
            w->mask = w->masks[ins->m + 1];
            if (!w->mask)
                w->pc = (int)ins->k;
            break;
        case X_ENDIF:
        case X_ENDFOR: w->mask = w->masks[ins->m]; break;
        case X_FOR: loop_start(run, w, ins); break;
        case X_TEST: {
            uint32_t on = loop_test(w, ins);
            count_split(run, ins, w->mask, on);
            w->mask = on;
            if (!on)
                w->pc = (int)ins->k;
            break;
        }
        case X_STEP:
            loop_step(run, w, ins);
            w->pc = (int)ins->k;
            break;
        case X_SYNC_WARP:
            warp_barrier(run, w, ins);
            if (run->options->seed && next_random(&run->random) & 1)
                goto out;
            break;
        case X_SYNC_BLOCK: w->state = WARP_WAITS; goto out;
        case X_SYNC_GRID: w->state = WARP_WAITS_FOR_GRID; goto out;
        case X_TICKET: mem_ticket(run, w, ins); break;
        case X_BEFORE:
        case X_AWAIT:
        case X_SERVE: {
            int64_t at = first_operand(w, ins->a);
            if (ins->op == X_BEFORE)
                exchange_before(run, w, ins, at, first_operand(w, ins->m));
            else if (ins->op == X_AWAIT)
                exchange_await(run, w, ins, at);
            else
                exchange_serve(run, w, ins, at);
            break;
        }
        case X_TOTAL: exchange_total(run, w, ins); break;
        case X_LANES:
            w->masks[ins->m] = w->masks[ins->m + 1] = w->mask;
            break;
        case X_LANE: {
            uint32_t *left = &w->masks[ins->m + 1];
            w->mask = *left ? *left & -*left : w->masks[ins->m];
            if (*left == 0)
                w->pc = (int)ins->k;
            *left &= *left - 1;
            break;
        }
        case X_JUMP: w->pc = (int)ins->k; break;
        case X_OLD:
        case X_ATOMIC: {
            int stride;
            const int64_t *index = operand(w, ins->a, &stride);
            (ins->op == X_OLD ? mem_old : mem_atomic)(run, w, ins, index, stride);
            break;
        }
        case X_ALLOC: w->life[ins->a]++; break;
        case X_UNSET:
            for (int64_t k = 0; k < ins->k; k++)
                w->set[ins->dst + k] &= ~w->mask;
            break;
        case X_SET: w->set[ins->dst] |= w->mask; /* fall through */
        case X_MOVE: copy_lanes(&w->v[ins->dst], &w->v[ins->a], w->mask); break;
        case X_CHECK_SET:
            if (w->mask & ~w->set[ins->a])
                not_set(run, w, w->mask & ~w->set[ins->a], ins, (int)ins->k);
            break;
        case X_GET_SLOT:
        case X_SET_SLOT: register_slot(run, w, ins); break;
        case X_LOAD:
        case X_STORE: {
            int stride;
            const int64_t *index = operand(w, ins->a, &stride);
            (ins->op == X_LOAD ? mem_load : mem_store)(run, w, ins, index, stride);
            break;
        }
        case X_VLOAD:
        case X_VSTORE: {
            int stride;
            const int64_t *index = operand(w, ins->a, &stride);
            (ins->op == X_VLOAD ? mem_load_vector : mem_store_vector)(run, w, ins, index, stride);
            break;
        }
        case X_APPLY:
            lanes_apply((PrimId)ins->prim, (Scalar)ins->type, w->mask, &w->v[ins->dst], &w->v[ins->a],
                        ins->b >= 0 ? &w->v[ins->b] : NULL, ins->c >= 0 ? &w->v[ins->c] : NULL);
            break;
        case X_CAST: lanes_cast((Scalar)ins->type, (Scalar)ins->k, w->mask, &w->v[ins->dst], &w->v[ins->a]); break;
        case X_SHFL: shuffle(run, w, ins); break;
        case X_NAT: nat_value(run, w, ins); break;
        case X_RANGE: check_range(run, w, ins); break;
        case N_ADDMUL: case N_MULK: case N_ADD: case N_MUL: case N_DIV: case N_MOD: case N_MIN: case N_MAX: case N_POW: case N_LOG2:
            index_arithmetic(run, w, ins);
            break;
        }
    }
out:
    run->steps_left -= steps > run->steps_left ? run->steps_left : steps;
    run->report->warp_instructions += steps;
}

/* ---- a block ------------------------------------------------------------------------------------------------------- */

static void start_block(Run *run)
{
    const Code *code = run->code;
    for (int n = 0; n < run->n_warps; n++) {
        Warp *w = &run->warps[n];
        w->state = WARP_READY;
        w->pc = 0;
        w->mask = w->all;
        w->epoch = 0;
        memset(w->set, 0, sizeof *w->set * (size_t)code->n_vectors);
        memset(w->life, 0, sizeof *w->life * (size_t)run->kernel->bufs.n);
        for (int a = 0; a < 3; a++)
            if (code->block_reg[a] != NO_REG)
                w->s[~code->block_reg[a]] = run->block[a];
    }
}

/* Whether a warp waits at the same barrier as another, in the same trips of the loops around it. */
static bool same_barrier(const Run *run, const Warp *a, const Warp *b)
{
    if (a->pc != b->pc)
        return false;
    const Ins *ins = &run->code->ins.at[a->pc - 1];
    for (int k = 0; k < ins->b; k++) {
        int slot = run->code->sync_loops.at[ins->a + k];
        if (a->masks[slot] != b->masks[slot])
            return false;
    }
    return true;
}

/* All warps have stopped. False when all of them have ended; else the barrier that they wait at lets them go. */
static bool meet(Run *run)
{
    const Warp *first = NULL;
    for (int n = 0; n < run->n_warps && !first; n++)
        if (run->warps[n].state == WARP_WAITS)
            first = &run->warps[n];
    if (!first)
        return false;
    const Ins *ins = &run->code->ins.at[first->pc - 1];
    for (int n = 0; n < run->n_warps; n++) {
        const Warp *w = &run->warps[n];
        FindingPlace place = {n, first_lane(w->all), ins->site, NO_SITE, first->number * WARP + first_lane(first->mask), NULL, 0};
        if (w->state == WARP_DONE)
            sim_find(run, SIM_DIVERGENT_BARRIER, place, "has ended, and thread %d waits at a barrier of the block", place.other_thread);
        else if (w->mask != w->all) {
            const Ins *at = &run->code->ins.at[w->pc - 1];
            place = place_of(w, w->all & ~w->mask, at);
            place.other_thread = n * WARP + first_lane(w->mask);
            sim_find(run, SIM_DIVERGENT_BARRIER, place, "does not get to a barrier of the block at which thread %d of its warp waits",
                     place.other_thread);
        } else if (!same_barrier(run, first, w)) {
            place.other = run->code->ins.at[w->pc - 1].site;
            sim_find(run, SIM_DIVERGENT_BARRIER, place, "waits at another barrier of the block, or in another trip of a loop, than thread %d",
                     place.other_thread);
        }
    }
    for (int n = 0; n < run->n_warps; n++)
        if (run->warps[n].state == WARP_WAITS)
            run->warps[n].state = WARP_READY;
    run->era++;
    run->report->block_barriers++;
    count_meeting(run, ins);
    return true;
}

static void shuffle_order(Run *run, int *order)
{
    for (int n = run->n_warps - 1; n > 0 && run->options->seed; n--) {
        int other = (int)(next_random(&run->random) % (uint64_t)(n + 1)), t = order[n];
        order[n] = order[other];
        order[other] = t;
    }
}

/* Until all warps have ended or wait for the grid. */
static void run_block(Run *run)
{
    int order[SIM_MAX_THREADS / WARP];
    for (int n = 0; n < run->n_warps; n++)
        order[n] = n;
    do {
        bool ready = true;
        while (ready && !run->stop) {
            shuffle_order(run, order);
            ready = false;
            for (int n = 0; n < run->n_warps && !run->stop; n++) {
                Warp *w = &run->warps[order[n]];
                if (w->state == WARP_READY)
                    run_warp(run, w);
                ready = ready || w->state == WARP_READY;
            }
        }
    } while (!run->stop && meet(run));
}

/* ---- the grid ------------------------------------------------------------------------------------------------------ */

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

void block_coordinates(const Run *run, int64_t number, int64_t block[3])
{
    int64_t n = run->blocks > INT32_MAX ? number : (number * run->perm_mul + run->perm_add) % run->blocks;
    block[0] = n % run->grid[0];
    block[1] = n / run->grid[0] % run->grid[1];
    block[2] = n / run->grid[0] / run->grid[1];
}

static void forget_blocks(Run *run)
{
    run->block_eras.n = 0;
    for (int b = 0; b < run->kernel->bufs.n; b++)
        run->tickets[b].released.n = 0;
}

/* Block number n runs from here on. */
static void begin_block(Run *run, int64_t n)
{
    run->block_era = ++run->era;
    for (int b = 0; b < run->kernel->bufs.n; b++)
        run->tickets[b].acquired = (TicketMark){0};
    if (run->block_eras.n < LIMIT_BLOCK_ERAS)
        run_push(run->lasting, &run->block_eras, run->block_era);
    block_coordinates(run, n, run->block);
    if (run->era > UINT32_MAX - (1u << 30)) /* eras are numbered in 32 bits */
        run->stop = true;
}

/* A warp that has ended while others wait for the grid, or that not all lanes of have come. */
static void check_grid_barrier(Run *run, int64_t at_barrier)
{
    const Ins *waits = NULL;
    for (int n = 0; n < run->n_warps; n++)
        if (run->warps[n].state == WARP_WAITS_FOR_GRID)
            waits = &run->code->ins.at[run->warps[n].pc - 1];
    for (int n = 0; n < run->n_warps && at_barrier; n++) {
        const Warp *w = &run->warps[n];
        if (w->state == WARP_WAITS_FOR_GRID && w->mask == w->all)
            continue;
        const Ins *ins = waits ? waits : &run->code->ins.at[0];
        sim_find(run, SIM_DIVERGENT_BARRIER, place_of(w, w->state == WARP_DONE ? w->all : w->all & ~w->mask, ins),
                 "does not get to a barrier of the grid at which others wait");
    }
}

/* All blocks are resident: each runs to its next barrier of the grid by turns. */
static void run_together(Run *run)
{
    Resident *blocks = ARENA_NEWN(run->arena, Resident, run->blocks);
    for (int64_t n = 0; n < run->blocks; n++)
        if (!set_resident(run, &blocks[n]))
            return;
    for (bool first = true, waits = true; waits && !run->stop; first = false) {
        int64_t at_barrier = 0;
        run->kernel_era = run->era + 1;
        forget_blocks(run);
        for (int64_t n = 0; n < run->blocks && !run->stop; n++) {
            run->warps = blocks[n].warps;
            run->mems = blocks[n].mems;
            begin_block(run, n);
            if (first) {
                blocks[n].life_era = run->block_era;
                start_block(run);
            }
            run->life_era = blocks[n].life_era;
            run_block(run);
            blocks[n].waits = false;
            for (int w = 0; w < run->n_warps; w++)
                blocks[n].waits |= run->warps[w].state == WARP_WAITS_FOR_GRID;
            at_barrier += blocks[n].waits;
        }
        waits = at_barrier > 0;
        for (int64_t n = 0; n < run->blocks && !run->stop && waits; n++) {
            run->warps = blocks[n].warps;
            block_coordinates(run, n, run->block);
            check_grid_barrier(run, at_barrier);
            for (int w = 0; w < run->n_warps; w++)
                if (run->warps[w].state == WARP_WAITS_FOR_GRID)
                    run->warps[w].state = WARP_READY;
        }
    }
}

void run_grid(Run *run)
{
    run->perm_mul = 1;
    run->perm_add = 0;
    if (run->options->seed && run->blocks <= INT32_MAX && run->kernel->least_blocks < 2) {
        do
            run->perm_mul = (int64_t)(next_random(&run->random) % (uint64_t)run->blocks);
        while (gcd(run->perm_mul, run->blocks) != 1);
        run->perm_add = (int64_t)(next_random(&run->random) % (uint64_t)run->blocks);
    }
    if (run->kernel->cooperative) {
        run_together(run);
        return;
    }
    run->kernel_era = run->era + 1;
    forget_blocks(run);
    for (int64_t n = 0; n < run->blocks && !run->stop; n++) {
        begin_block(run, n);
        run->life_era = run->block_era;
        start_block(run);
        run_block(run);
    }
}
