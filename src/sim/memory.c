/* Loads and stores of a warp: bounds, memory nobody wrote, and races (Note [Happens-before] in sim_internal.h). */
#include "sim/sim_internal.h"

/* ---- cells --------------------------------------------------------------------------------------------------------- */

#define LOAD_AS(T, field)                                                             \
    for (int l = 0; l < WARP; l++)                                                    \
        if (mask >> l & 1) {                                                          \
            T x;                                                                      \
            memcpy(&x, bytes + index[l * stride] * (int64_t)sizeof x, sizeof x);      \
            dst->field[l] = x;                                                        \
        }                                                                             \
    break

static void load_cells(Scalar type, const unsigned char *bytes, uint32_t mask, const int64_t *index, int stride, Lanes *dst)
{
    switch (type) {
    case SC_I32: LOAD_AS(int32_t, i);
    case SC_I64: LOAD_AS(int64_t, i);
    case SC_U32: LOAD_AS(uint32_t, u);
    case SC_F32: LOAD_AS(float, f);
    case SC_F64: LOAD_AS(double, f);
    case SC_BOOL: case SC_I8: case SC_I16: case SC_U8: case SC_U16: case SC_U64: case SC_F16: case SC_BF16: case SC_COUNT:
        for (int l = 0; l < WARP; l++)
            if (mask >> l & 1)
                dst->u[l] = scalar_load(type, bytes + index[l * stride] * scalar_bytes(type)).u;
    }
}

#define STORE_AS(T, field)                                                            \
    for (int l = 0; l < WARP; l++)                                                    \
        if (mask >> l & 1) {                                                          \
            T x = (T)value->field[l];                                                 \
            memcpy(bytes + index[l * stride] * (int64_t)sizeof x, &x, sizeof x);      \
        }                                                                             \
    break

static void store_cells(Scalar type, unsigned char *bytes, uint32_t mask, const int64_t *index, int stride, const Lanes *value)
{
    switch (type) {
    case SC_I32: STORE_AS(int32_t, i);
    case SC_I64: STORE_AS(int64_t, i);
    case SC_U32: STORE_AS(uint32_t, u);
    case SC_F32: STORE_AS(float, f);
    case SC_F64: STORE_AS(double, f);
    case SC_BOOL: case SC_I8: case SC_I16: case SC_U8: case SC_U16: case SC_U64: case SC_F16: case SC_BF16: case SC_COUNT:
        for (int l = 0; l < WARP; l++)
            if (mask >> l & 1) {
                ScalarValue v = {.type = type};
                v.u = value->u[l];
                scalar_store(v, bytes + index[l * stride] * scalar_bytes(type));
            }
    }
}

static bool is_store(const Ins *ins) { return ins->op == X_STORE || ins->op == X_VSTORE; }

/* ---- bounds -------------------------------------------------------------------------------------------------------- */

static void out_of_bounds(Run *run, const Warp *warp, const Ins *ins, const Mem *mem, int lane, int64_t cell)
{
    FindingPlace place = {warp->number, lane, ins->site, NO_SITE, -1, mem->buf, cell};
    const char *verb = is_store(ins) ? "writes" : "reads", *name = mem->buf->name;
    sim_find(run, SIM_OUT_OF_BOUNDS, place, "%s %s[%lld], and %s has %lld %s", verb, name, (long long)cell, name, (long long)mem->count,
             mem->count == 1 ? "cell" : "cells");
}

static uint32_t in_bounds(Run *run, const Warp *warp, const Ins *ins, const Mem *mem, const int64_t *index, int stride)
{
    uint32_t outside = 0;
    for (int l = 0; l < WARP; l++)
        outside |= (uint32_t)((uint64_t)index[l * stride] >= (uint64_t)mem->count) << l;
    outside &= warp->mask;
    for (int l = 0; outside && l < WARP; l++)
        if (outside >> l & 1)
            out_of_bounds(run, warp, ins, mem, l, index[l * stride]);
    return warp->mask & ~outside;
}

/* ---- races --------------------------------------------------------------------------------------------------------- */

/* A thread at an access: what its happens-before is made of. */
typedef struct Actor {
    Run *run;
    const Warp *warp;
    const Ins *ins;
    const Mem *mem;
    uint32_t floor; /* accesses of earlier eras are gone (shared memory) or ordered (earlier launches) */
    uint32_t upto;  /* from floor to before this era, what there is belongs to other blocks of the launch; there is none in shared memory */
    uint32_t tag;   /* of shared memory: the buffer in its present life */
    int lane;
    int64_t cell;
} Actor;

/* Number of the block that was running at an era: the last one that started at or before it; -1: none. */
static int block_at(const Run *run, uint32_t era)
{
    int lo = 0, hi = run->block_eras.n;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (run->block_eras.at[mid] <= era)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo - 1;
}

static bool era_block(Run *run, uint32_t era, int64_t block[3])
{
    int number = block_at(run, era);
    if (number < 0 || number == LIMIT_BLOCK_ERAS - 1)
        return false;
    block_coordinates(run, number, block);
    return true;
}

/* Is what another block of this launch did, at the era, ordered before this access by tickets? */
static bool ordered_by_ticket(const Run *run, const Warp *warp, uint32_t me, uint32_t era, uint32_t thread, uint32_t epoch)
{
    int block = -1;
    for (int t = 0; t < run->kernel->bufs.n; t++) {
        const TicketMark *mine = &run->tickets[t].acquired;
        bool before_me = run->era > mine->era || me == mine->thread || ((int)mine->thread / WARP == warp->number && warp->epoch > mine->epoch);
        if (!mine->era || !before_me)
            continue;
        block = block < 0 ? block_at(run, era) : block;
        if (block < 0 || block >= run->tickets[t].released.n)
            continue;
        const TicketMark *its = &run->tickets[t].released.at[block];
        if (era < its->era || (era == its->era && (thread == its->thread || (thread / WARP == its->thread / WARP && epoch < its->epoch))))
            return true;
    }
    return false;
}

/* `verb` says what the other thread did, `thread` which one it was, in an earlier era or this one. */
static void race(const Actor *me, uint32_t era, uint32_t thread, uint32_t other_site, const char *verb)
{
    Run *run = me->run;
    FindingPlace place = {me->warp->number, me->lane, me->ins->site, other_site, (int)thread, me->mem->buf, me->cell};
    if (sim_repeats(run, SIM_RACE, place))
        return;
    bool here = me->mem->shared || era >= run->block_era;
    int64_t block[3];
    memcpy(block, run->block, sizeof block);
    const char *other = here || era_block(run, era, block) ? thread_text(run, block, (int)thread) : "a thread of another block";
    const char *why = !here                                   ? "nothing orders blocks of one launch"
                      : (int)thread / WARP == me->warp->number ? "no barrier of the warp or block is between"
                                                               : "no barrier of the block is between";
    sim_find(run, SIM_RACE, place, "%s %s[%lld], which %s %s; %s", is_store(me->ins) ? "writes" : "reads", me->mem->buf->name,
             (long long)me->cell, other, verb, why);
}

/* True when the last write of the cell is not ordered before this access. */
static inline bool races_with_write(const Run *run, const Warp *warp, uint32_t floor, uint32_t upto, uint32_t me, const Shadow *s)
{
    if (s->w_era != run->era) /* ordered by a barrier, unless another block of this launch wrote it */
        return s->w_era >= floor && s->w_era < upto && !ordered_by_ticket(run, warp, me, s->w_era, s->w_thread, s->w_epoch);
    if (s->w_atomic > READERS_ONE + 1)
        return s->w_atomic > READERS_LANES + 1 || (int)s->w_thread / WARP != warp->number || s->w_epoch == warp->epoch;
    return s->w_thread != me && ((int)s->w_thread / WARP != warp->number || s->w_epoch == warp->epoch);
}

/* True when a read since the last write is not ordered before this write; *who reads. */
static inline bool races_with_reads(const Run *run, const Warp *warp, uint32_t floor, uint32_t upto, uint32_t me, const Shadow *s, uint32_t *who)
{
    *who = s->r_thread;
    if (s->r_era != run->era)
        return s->r_era >= floor && s->r_era < upto && !ordered_by_ticket(run, warp, me, s->r_era, s->r_thread, s->r_epoch);
    bool same_warp = (int)s->r_thread / WARP == warp->number;
    if (s->r_many == READERS_WARPS) {
        if (same_warp)
            *who = s->r_other;
        return true;
    }
    if (!same_warp)
        return true;
    if (s->r_epoch != warp->epoch)
        return false;
    if (s->r_thread == me && s->r_many == READERS_LANES)
        *who = s->r_other;
    return *who != me;
}

static inline void first_read(const Run *run, const Warp *warp, uint32_t me, uint32_t at, Shadow *s)
{
    s->r_era = run->era;
    s->r_epoch = warp->epoch;
    s->r_thread = me & 1023u;
    s->r_other = 0;
    s->r_many = READERS_ONE;
    s->r_site = at;
}

/* Adds a read to the summary: one reader; several lanes of one warp since its last barrier; several warps since the block's last
 * barrier; several blocks. Readers that a barrier separates from all that may come are forgotten. */
static inline void note_read(const Run *run, const Warp *warp, uint32_t floor, uint32_t upto, uint32_t me, uint32_t at, Shadow *s)
{
    if (s->r_era < floor)
        first_read(run, warp, me, at, s);
    else if (s->r_era < upto)
        s->r_many = READERS_BLOCKS; /* the reader that is kept is of an earlier block than any writer to come */
    else if (s->r_era != run->era)
        first_read(run, warp, me, at, s);
    else if (s->r_many == READERS_WARPS)
        return;
    else if ((int)s->r_thread / WARP != warp->number) {
        s->r_many = READERS_WARPS;
        s->r_other = me & 1023u;
    } else if (s->r_epoch != warp->epoch)
        first_read(run, warp, me, at, s);
    else if (s->r_thread != me) {
        s->r_many = READERS_LANES;
        s->r_other = me & 1023u;
    }
}

static inline void note_write(const Run *run, const Warp *warp, uint32_t me, uint32_t tag, uint32_t at, Shadow *s)
{
    s->w_era = run->era;
    s->w_epoch = warp->epoch;
    s->w_tag = tag;
    s->w_site = at;
    s->w_thread = me & 1023u;
    s->w_atomic = 0;
    s->r_era = 0;
}

/* Of a cell whose last write was an atomic that nothing has ordered: who else did one. */
static uint32_t atomic_company(const Run *run, const Warp *warp, uint32_t me, const Shadow *s)
{
    if (!s->w_atomic || s->w_era != run->era)
        return READERS_ONE + 1;
    if ((int)s->w_thread / WARP != warp->number || s->w_atomic == READERS_WARPS + 1)
        return READERS_WARPS + 1;
    if (s->w_epoch != warp->epoch)
        return READERS_ONE + 1;
    return s->w_thread != me || s->w_atomic == READERS_LANES + 1 ? READERS_LANES + 1 : READERS_ONE + 1;
}

static void unwritten(const Actor *me, const Shadow *s)
{
    const char *name = me->mem->buf->name, *why = "and no thread has written it", *as = "";
    if (me->mem->shared && s->w_era >= me->floor) {
        const Mem *writer = &me->run->mems[s->w_tag % (uint32_t)me->run->kernel->bufs.n];
        why = writer == me->mem ? "which was written for an earlier use of the buffer only" : "whose bytes were last written as ";
        as = writer == me->mem ? "" : writer->buf->name;
    }
    FindingPlace place = {me->warp->number, me->lane, me->ins->site, NO_SITE, -1, me->mem->buf, me->cell};
    sim_find(me->run, SIM_UNWRITTEN, place, "reads %s[%lld], %s%s", name, (long long)me->cell, why, as);
}

static Actor actor(Run *run, const Warp *warp, const Ins *ins, const Mem *mem)
{
    Actor me = {.run = run, .warp = warp, .ins = ins, .mem = mem};
    me.floor = mem->shared ? run->life_era : run->kernel_era;
    me.upto = mem->shared ? run->life_era : run->block_era;
    if (mem->shared)
        me.tag = warp->life[mem->buf->id] * (uint32_t)run->kernel->bufs.n + (uint32_t)mem->buf->id;
    return me;
}

static void shadow_loads(Actor me, uint32_t mask, const int64_t *index, int stride)
{
    Run *run = me.run;
    const Warp *warp = me.warp;
    uint32_t thread = (uint32_t)warp->number * WARP;
    for (int l = 0; l < WARP; l++) {
        if (!(mask >> l & 1))
            continue;
        me.lane = l;
        me.cell = index[l * stride];
        Shadow *s = me.mem->shadow + me.cell * me.mem->granules;
        for (int g = 0; g < me.mem->granules; g++, s++) {
            if (races_with_write(run, warp, me.floor, me.upto, thread + (uint32_t)l, s))
                race(&me, s->w_era, s->w_thread, s->w_site, "wrote");
            else if (me.mem->shared ? s->w_era < me.floor || s->w_tag != me.tag : s->w_era == 0)
                unwritten(&me, s);
            note_read(run, warp, me.floor, me.upto, thread + (uint32_t)l, me.ins->site, s);
        }
    }
}

/* Stores of one scatterUnchecked, or of two copies of it. */
static bool may_meet(const Run *run, uint32_t a, uint32_t b)
{
    const Site *x = &run->code->sites.at[a], *y = &run->code->sites.at[b];
    return x->unordered && y->unordered && memcmp(&x->span, &y->span, sizeof x->span) == 0;
}

static void shadow_stores(Actor me, uint32_t mask, const int64_t *index, int stride)
{
    Run *run = me.run;
    const Warp *warp = me.warp;
    uint32_t thread = (uint32_t)warp->number * WARP, who;
    for (int l = 0; l < WARP; l++) {
        if (!(mask >> l & 1))
            continue;
        me.lane = l;
        me.cell = index[l * stride];
        Shadow *s = me.mem->shadow + me.cell * me.mem->granules;
        for (int g = 0; g < me.mem->granules; g++, s++) {
            if (races_with_write(run, warp, me.floor, me.upto, thread + (uint32_t)l, s) && !may_meet(run, me.ins->site, s->w_site))
                race(&me, s->w_era, s->w_thread, s->w_site, "wrote");
            else if (races_with_reads(run, warp, me.floor, me.upto, thread + (uint32_t)l, s, &who))
                race(&me, s->r_era, who, s->r_site, "read");
            note_write(run, warp, thread + (uint32_t)l, me.tag, me.ins->site, s);
        }
    }
}

static void shadow_atomics(Actor me, uint32_t mask, const int64_t *index, int stride)
{
    Run *run = me.run;
    const Warp *warp = me.warp;
    uint32_t thread = (uint32_t)warp->number * WARP, who;
    for (int l = 0; l < WARP; l++) {
        if (!(mask >> l & 1))
            continue;
        me.lane = l;
        me.cell = index[l * stride];
        Shadow *s = me.mem->shadow + me.cell * me.mem->granules;
        for (int g = 0; g < me.mem->granules; g++, s++) {
            uint32_t company = atomic_company(run, warp, thread + (uint32_t)l, s);
            if (!s->w_atomic && races_with_write(run, warp, me.floor, me.upto, thread + (uint32_t)l, s))
                race(&me, s->w_era, s->w_thread, s->w_site, "wrote");
            else if (me.mem->shared ? s->w_era < me.floor || s->w_tag != me.tag : s->w_era == 0)
                unwritten(&me, s);
            else if (races_with_reads(run, warp, me.floor, me.upto, thread + (uint32_t)l, s, &who))
                race(&me, s->r_era, who, s->r_site, "read");
            note_write(run, warp, thread + (uint32_t)l, me.tag, me.ins->site, s);
            s->w_atomic = company & 3u;
        }
    }
}

/* ---- accesses ------------------------------------------------------------------------------------------------------ */

static unsigned lanes_in(uint32_t mask) { return (unsigned)__builtin_popcount(mask); }

/* Gives the lanes whose cells exist. */
static uint32_t load(Run *run, Warp *warp, const Ins *ins, const int64_t *index, int stride)
{
    const Mem *mem = &run->mems[ins->b];
    uint32_t mask = in_bounds(run, warp, ins, mem, index, stride);
    Lanes value, *dst = &warp->v[ins->dst]; /* the index may be in dst */
    *(mem->shared ? &run->report->shared_loads : &run->report->global_loads) += lanes_in(mask);
    if (mem->shadow)
        shadow_loads(actor(run, warp, ins, mem), mask, index, stride);
    memset(&value, 0, sizeof value); /* what is out of bounds reads as 0 */
    load_cells(mem->buf->elem, mem->bytes, mask, index, stride, &value);
    *dst = value;
    return mask;
}

static uint32_t store(Run *run, Warp *warp, const Ins *ins, const int64_t *index, int stride)
{
    const Mem *mem = &run->mems[ins->b];
    uint32_t mask = in_bounds(run, warp, ins, mem, index, stride);
    *(mem->shared ? &run->report->shared_stores : &run->report->global_stores) += lanes_in(mask);
    shadow_stores(actor(run, warp, ins, mem), mask, index, stride);
    store_cells(mem->buf->elem, mem->bytes, mask, index, stride, &warp->v[ins->dst]);
    return mask;
}

void mem_load(Run *run, Warp *warp, const Ins *ins, const int64_t *index, int stride)
{
    int64_t from[WARP]; /* the value may replace the index */
    for (int l = 0; l < WARP; l++)
        from[l] = index[l * stride];
    uint32_t mask = load(run, warp, ins, from, 1);
    count_access(run, ins, &run->mems[ins->b], mask, from, 1, 1);
}

void mem_store(Run *run, Warp *warp, const Ins *ins, const int64_t *index, int stride)
{
    uint32_t mask = store(run, warp, ins, index, stride);
    count_access(run, ins, &run->mems[ins->b], mask, index, stride, 1);
}

/* ---- vector accesses ------------------------------------------------------------------------------------------------ */

/* Hardware takes the address as it is or stops; the emitted code promises that it fits. */
static void check_alignment(Run *run, Warp *warp, const Ins *ins, const int64_t *index, int stride)
{
    const ImpBuf *buf = run->mems[ins->b].buf;
    int64_t bytes = ins->k * scalar_bytes(buf->elem), base = buf->offset && nat_is_const(buf->offset) ? buf->offset->value : 0;
    for (int l = 0; l < WARP; l++) {
        if (!(warp->mask >> l & 1) || (index[l * stride] % ins->k == 0 && base % bytes == 0 && buf->align >= bytes))
            continue;
        FindingPlace place = {warp->number, l, ins->site, NO_SITE, -1, buf, index[l * stride]};
        sim_find(run, SIM_MISALIGNED, place, "%s %lld cells of %s at once, from %s[%lld] on, which is not aligned to %lld bytes",
                 is_store(ins) ? "writes" : "reads", (long long)ins->k, buf->name, buf->name, (long long)index[l * stride], (long long)bytes);
    }
}

void mem_load_vector(Run *run, Warp *warp, const Ins *ins, const int64_t *index, int stride)
{
    int64_t first[WARP], from[WARP];
    uint32_t mask = warp->mask;
    Ins one = *ins;
    for (int l = 0; l < WARP; l++) /* a component may replace the index */
        first[l] = index[l * stride];
    check_alignment(run, warp, ins, index, stride);
    for (int64_t k = 0; k < ins->k; k++) {
        for (int l = 0; l < WARP; l++)
            from[l] = first[l] + k;
        one.dst = ins->dst + (int)k;
        Lanes old = warp->v[one.dst];
        mask &= load(run, warp, &one, from, 1);
        for (int l = 0; l < WARP; l++) /* the register is a variable: other lanes keep theirs */
            if (!(warp->mask >> l & 1))
                warp->v[one.dst].u[l] = old.u[l];
        warp->set[one.dst] |= warp->mask;
    }
    count_access(run, ins, &run->mems[ins->b], mask, first, 1, (int)ins->k);
}

void mem_store_vector(Run *run, Warp *warp, const Ins *ins, const int64_t *index, int stride)
{
    int64_t to[WARP];
    uint32_t mask = warp->mask;
    Ins one = *ins;
    check_alignment(run, warp, ins, index, stride);
    for (int64_t k = 0; k < ins->k; k++) {
        for (int l = 0; l < WARP; l++)
            to[l] = index[l * stride] + k;
        one.dst = run->code->operands.at[ins->c + k];
        mask &= store(run, warp, &one, to, 1);
    }
    count_access(run, ins, &run->mems[ins->b], mask, index, stride, (int)ins->k);
}

/* ---- atomics --------------------------------------------------------------------------------------------------------- */

void mem_old(Run *run, Warp *warp, const Ins *ins, const int64_t *index, int stride)
{
    const Mem *mem = &run->mems[ins->b];
    uint32_t mask = in_bounds(run, warp, ins, mem, index, stride);
    shadow_atomics(actor(run, warp, ins, mem), mask, index, stride);
    load_cells(mem->buf->elem, mem->bytes, mask, index, stride, &warp->v[ins->dst]);
    warp->set[ins->dst] |= warp->mask;
}

void mem_atomic(Run *run, Warp *warp, const Ins *ins, const int64_t *index, int stride)
{
    const Mem *mem = &run->mems[ins->b];
    uint32_t mask = in_bounds(run, warp, ins, mem, index, stride);
    store_cells(mem->buf->elem, mem->bytes, mask, index, stride, &warp->v[ins->dst]);
}

void mem_ticket(Run *run, Warp *warp, const Ins *ins)
{
    unsigned char *cell = run->mems[ins->a].bytes;
    Lanes *dst = &warp->v[ins->dst];
    for (int l = 0; l < WARP; l++) {
        if (!(warp->mask >> l & 1))
            continue;
        uint32_t count;
        memcpy(&count, cell, sizeof count);
        bool last = (int64_t)count + 1 == run->blocks;
        count = last ? 0 : count + 1;
        memcpy(cell, &count, sizeof count);
        dst->u[l] = last;
        TicketMark mark = {run->era, warp->epoch, (uint32_t)(warp->number * WARP + l)};
        Tickets *tickets = &run->tickets[ins->a];
        if (last)
            tickets->acquired = mark;
        while (tickets->released.n < run->block_eras.n - 1)
            run_push(run->arena, &tickets->released, (TicketMark){0});
        if (tickets->released.n < run->block_eras.n)
            run_push(run->arena, &tickets->released, mark);
    }
}
