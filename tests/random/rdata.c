#include "rdata.h"

#include <math.h>

#include "codegen/walk.h"
#include "rtree.h"

static const double GOLDEN = 0.6180339887498949; /* multiples of it, less what is whole, lie evenly */
enum { FINE_BITS = 24, EXACT_CELLS = 1 << 16 /* of which numbers below 100 and one of 2^20 have an exact sum */, TIE_BITS = 14 /* elements of a block's warps */ };

/* How one buffer is filled. */
typedef struct Spread {
    Data data;
    uint64_t seed;
    int64_t most, often, late, end, only; /* `only`: the one place that is another; -1: there is none */
    int64_t row;
    double edge, peak; /* peak: of the first row, between 0 and 1 */
    bool alone;
} Spread;

/* Near the beginning or the end of a tile or a row. */
static int64_t place_in_tile(int64_t count, const Marks *marks, const Launch *launch, uint64_t *state)
{
    int kind = random_below(state, launch->n_sizes ? 3 : 2);
    int64_t tile = kind == 2 ? launch->sizes[random_below(state, launch->n_sizes)] : kind == 1 && marks->n ? marks->at[random_below(state, marks->n)] : (int64_t)1 << random_below(state, 12);
    tile = tile > 0 && tile < count ? tile : 1;
    int64_t at = tile * random_below(state, (int)(count / tile) + 1) - random_below(state, random_below(state, 2) ? 2 : 8);
    return at < 0 || at >= count ? count - 1 : at;
}

static bool is_peak(const Spread *s, int64_t i)
{
    int64_t row = i / s->row;
    return i % s->row == (int64_t)(fmod(s->peak + (double)row * GOLDEN, 1) * (double)s->row);
}

static Spread spread_of(const HostBuf *buf, Data data, const Marks *marks, const Launch *launch, uint64_t seed, uint64_t turn, uint64_t *state)
{
    Spread s = {.data = data, .seed = seed, .only = -1, .end = buf->count};
    bool small = scalar_bytes(buf->elem) == 1 || buf->elem == SC_I16 || buf->elem == SC_U16 || buf->elem == SC_F16 || buf->elem == SC_BF16;
    s.edge = marks->n_literals && seed % 3 ? marks->literals[random_below(state, marks->n_literals)] : 1;
    s.most = small ? 120 : 1 << 20;
    s.often = seed % 4 == 0 ? 50000 : seed % 4 == 1 ? 3000 : 24;
    s.late = buf->count > 1 ? random_below(state, (int)(buf->count / 2)) : 0;
    s.alone = buf->count > 1 && (data == DATA_ALONE || ((data == DATA_SPARSE || data == DATA_EDGE) && seed / 3 % 2));
    if (s.alone)
        s.only = data == DATA_ALONE && seed % 4 ? random_below(state, (int)buf->count) : place_in_tile(buf->count, marks, launch, state);
    s.row = launch->n_sizes ? launch->sizes[launch->n_sizes - 1] : 0;
    s.row = s.row > 0 && buf->count % s.row == 0 ? s.row : buf->count;
    s.peak = fmod((double)turn * GOLDEN, 1);
    if (data == DATA_TIES) {
        int64_t near = (int64_t)2 << random_below(state, TIE_BITS);
        s.often = near < 16 ? 2 : near / (2 + random_below(state, 7)); /* some two to eight of them */
        s.late = random_below(state, 3) ? s.late : 0;
        s.end = s.late + near;
    }
    return s;
}

/* What a drawn number, 1 to `most`, becomes as element i. */
static int64_t whole(const Spread *s, int64_t i, int64_t count, int64_t v)
{
    static const int64_t sparse[] = {1999, 7, 97, 23};
    switch (s->data) {
    case DATA_FIRST_LOW:
    case DATA_FIRST_HIGH: return i ? v % 100 : s->data == DATA_FIRST_LOW ? -s->most : s->most;
    case DATA_LAST_LOW:
    case DATA_LAST_HIGH: return i < count - 1 ? v % 100 : s->data == DATA_LAST_LOW ? -s->most : s->most;
    case DATA_LATE: return i >= s->late && v % s->often < 2 ? (v % s->often ? s->most : -s->most) : v % 100;
    case DATA_TIES: return i >= s->late && i < s->end && v % s->often == 0 ? (s->seed & 1 ? -s->most : s->most) : v % 100;
    case DATA_PEAK: return !is_peak(s, i) ? v % 100 : s->seed & 1 ? -s->most : s->most;
    case DATA_SPARSE: return (s->alone ? i != s->only : v % sparse[s->seed / 8 % 4] != 0) ? 0 : 1 + v % 5;
    case DATA_NEGATIVE: return -v;
    case DATA_WIDE: return v & 1 ? -v : v;
    default: return v;
    }
}

static double edge_number(const Spread *s, int64_t i, int64_t v)
{
    static const int64_t often[] = {7, 97, 1999};
    return s->edge + ((s->alone ? i != s->only : v % often[s->seed % 3] != 0) ? 0 : v % 3 == 0 ? -2 : v % 3 == 1 ? 1 : 2);
}

static double lone_number(const Spread *s, int64_t i, int64_t v)
{
    const bool few = s->seed / 12 % 2, there = i == s->only || (few && v % 600 == 0), low = s->seed & 1;
    if (few)
        return there ? (double)(low ? -s->most : s->most) : (double)(v % 100);
    return !there ? (double)NAN : s->seed % 3 == 0 ? (double)(low ? -s->most : s->most) : low ? -(double)INFINITY : (double)INFINITY;
}

/* The element as a float; v: as a whole number. */
static double number(const Spread *s, int64_t i, int64_t v, uint64_t *state)
{
    switch (s->data) {
    case DATA_FINE: return (double)(v & 1 ? v : -v) / 3 / (double)(1 << (s->seed % 2 ? random_below(state, FINE_BITS) : FINE_BITS));
    case DATA_EDGE: return edge_number(s, i, v);
    case DATA_SPECIAL: return s->seed & 1 && v % 8 == 0 ? (double)v : v % 8 == 1 || !(s->seed & 1) ? (double)NAN : s->seed / 2 % 2 ? (double)INFINITY : -(double)INFINITY;
    case DATA_ALONE: return s->alone ? lone_number(s, i, v) : (double)v;
    case DATA_TIES: return s->seed / 2 % 2 ? (double)v : v == s->most ? (double)INFINITY : v == -s->most ? -(double)INFINITY : (double)NAN;
    case DATA_NONE: return (double)NAN;
    case DATA_INFINITE: return i == 0 ? (double)NAN : s->seed & 1 ? (double)INFINITY : -(double)INFINITY;
    default: return (double)v;
    }
}

static void spread(HostBuf *buf, Data data, const Marks *marks, const Launch *launch, uint64_t seed, uint64_t turn, uint64_t *state)
{
    const Spread s = spread_of(buf, data, marks, launch, seed, turn, state);
    for (int64_t i = 0; i < buf->count; i++) {
        int64_t v = whole(&s, i, buf->count, 1 + random_below(state, (int)s.most));
        if (buf->count == 1) /* what decides by its sign */
            v = v % 4 - 1;
        double f = number(&s, i, v, state);
        scalar_store(scalar_is_float(buf->elem) ? scalar_float(buf->elem, f) : scalar_int(buf->elem, data == DATA_EDGE ? (int64_t)f : v), buf->bytes + i * scalar_bytes(buf->elem));
    }
}

static void find_float_atomic(void *user, ImpStmt *s)
{
    bool *found = user;
    *found |= s->kind == IS_ATOMIC && scalar_is_float(s->atomic.buf->elem);
}

bool data_needs_exact_sums(ImpProgram *program)
{
    bool found = false;
    for (int k = 0; imp_form(program, k); k++)
        walk_stmts(&imp_form(program, k)->body, find_float_atomic, &found);
    return found;
}

void data_fill(Ctx *ctx, const CoreEntry *entry, const Marks *marks, Data data, uint64_t seed, bool exact_sums, Launch *launch)
{
    uint64_t state = seed;
    const uint64_t kind = (seed * 0x9E3779B97F4A7C15u) >> 40; /* the seeds of launches made in turn are no multiples of some step apart */
    int b = 0;
    for (int i = 0; i < entry->n_inputs; i++)
        for (int k = 0; k < type_component_count(entry->inputs[i]->type); k++, b++) {
            Type t = type_component(ctx, entry->inputs[i]->type, k);
            while (t->kind == TY_ARRAY)
                t = t->elem;
            HostBuf *buf = &launch->buffers[b];
            bool rounds = exact_sums && scalar_is_float(buf->elem) && (data < DATA_FIRST_LOW || data >= DATA_FINE || buf->count > EXACT_CELLS);
            if (t->kind != TY_IDX && buf->elem != SC_BOOL && !rounds)
                spread(buf, data, marks, launch, kind, seed, &state);
        }
}
