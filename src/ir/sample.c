#include "ir/sample.h"

#include <math.h>

uint64_t sample_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* What a try that may fail says is of no interest. */
typedef struct Silence {
    int n, errors, warnings, dropped;
} Silence;

static Silence silence_begin(const Ctx *ctx) { return (Silence){ctx->diags.list.n, ctx->diags.errors, ctx->diags.warnings, ctx->diags.dropped}; }

static void silence_end(Ctx *ctx, Silence s)
{
    ctx->diags.list.n = s.n;
    ctx->diags.errors = s.errors;
    ctx->diags.warnings = s.warnings;
    ctx->diags.dropped = s.dropped;
}

/* ---- inputs ------------------------------------------------------------------------------------------------------------ */

static ScalarValue real_value(Scalar elem, const SampleInputs *how, uint64_t *state)
{
    double x = (double)(sample_random(state) >> 11) * 0x1p-53;
    if (how->seed % 3 == 1)
        x = 2 * x - 1;
    else if (how->seed % 3 == 2)
        x = ldexp(x - 0.5, (int)(sample_random(state) % 13) - 6);
    return scalar_float(elem, x);
}

/* A value for an input: of an index, below `bound`; else from -spread to spread, or any integer. */
static ScalarValue input_value(Scalar elem, bool index, int64_t bound, const SampleInputs *how, uint64_t *state)
{
    int64_t spread = how->spread ? how->spread : 8;
    if (index)
        return scalar_int(elem, bound > 0 ? (int64_t)(sample_random(state) % (uint64_t)bound) : 0);
    if (how->wide && elem != SC_BOOL && !scalar_is_float(elem))
        return scalar_int(elem, (int64_t)sample_random(state));
    if (how->real && scalar_is_float(elem))
        return real_value(elem, how, state);
    int64_t v = (int64_t)(sample_random(state) % (uint64_t)(2 * spread + 1));
    if (scalar_is_float(elem))
        return scalar_float(elem, (double)(v - spread));
    return scalar_int(elem, scalar_is_signed(elem) ? v - spread : v);
}

static Type innermost(Type t)
{
    while (t->kind == TY_ARRAY || t->kind == TY_VEC)
        t = t->elem;
    return t;
}

static bool result_fits(Ctx *ctx, const CoreEntry *entry, const SampleInputs *how, const Launch *launch)
{
    for (int k = 0; k < type_component_count(entry->result); k++) {
        HostBuf buf;
        if (!launch_buffer(ctx, entry, launch, type_component(ctx, entry->result, k), &buf, false) || (how->max_cells && buf.count > how->max_cells))
            return false;
    }
    return true;
}

bool sample_launch(Ctx *ctx, const CoreEntry *entry, const int64_t *sizes, const SampleInputs *how, Launch *launch)
{
    uint64_t state = how->seed;
    *launch = (Launch){.n_sizes = entry->n_sizes, .num_sm = how->num_sm, .memory = how->memory};
    launch->sizes = NEWN(ctx, int64_t, entry->n_sizes + 1);
    for (int i = 0; i < entry->n_sizes; i++)
        launch->sizes[i] = sizes[i];
    for (int i = 0; i < entry->n_inputs; i++)
        launch->n_buffers += type_component_count(entry->inputs[i]->type);
    launch->buffers = NEWN(ctx, HostBuf, launch->n_buffers + 1);
    int b = 0;
    for (int i = 0; i < entry->n_inputs; i++)
        for (int k = 0; k < type_component_count(entry->inputs[i]->type); k++) {
            Type t = type_component(ctx, entry->inputs[i]->type, k), inner = innermost(t);
            HostBuf *buf = &launch->buffers[b++];
            if (!launch_buffer(ctx, entry, launch, t, buf, false) || (how->max_cells && buf->count > how->max_cells))
                return false;
            if (!launch_buffer(ctx, entry, launch, t, buf, true))
                return false;
            int64_t bound = 0;
            if (inner->kind == TY_IDX && !launch_nat(ctx, entry, launch, inner->size, &bound))
                return false;
            for (int64_t at = 0; at < buf->count; at++)
                scalar_store(input_value(buf->elem, inner->kind == TY_IDX, bound, how, &state), buf->bytes + at * scalar_bytes(buf->elem));
        }
    return launch_check(ctx, entry, launch) && result_fits(ctx, entry, how, launch);
}

/* ---- running ----------------------------------------------------------------------------------------------------------- */

bool sample_run(Ctx *ctx, const CoreEntry *entry, Launch *launch)
{
    launch->n_results = type_component_count(entry->result);
    launch->results = NEWN(ctx, HostBuf, launch->n_results + 1);
    launch->gave_up = false;
    for (int k = 0; k < launch->n_results; k++)
        if (!launch_buffer(ctx, entry, launch, type_component(ctx, entry->result, k), &launch->results[k], true))
            return false;
    return interp_run(ctx, entry, launch) && !launch->gave_up;
}

static bool same_shape(const HostBuf *a, const HostBuf *b)
{
    bool same = a->elem == b->elem && a->rank == b->rank && a->count == b->count;
    for (int i = 0; same && i < a->rank; i++)
        same = a->shape[i] == b->shape[i];
    return same;
}

static bool same_cell(const HostBuf *a, const HostBuf *b, int64_t cell)
{
    int bytes = scalar_bytes(a->elem);
    ScalarValue x = scalar_load(a->elem, a->bytes + cell * bytes), y = scalar_load(b->elem, b->bytes + cell * bytes);
    bool nans = scalar_is_float(a->elem) && x.f != x.f && y.f != y.f;
    return nans || x.u == y.u;
}

bool sample_same(const Launch *a, const Launch *b, int *result, int64_t *cell)
{
    for (int r = 0; r < a->n_results; r++) {
        *result = r;
        *cell = -1;
        if (!same_shape(&a->results[r], &b->results[r]))
            return false;
        for (int64_t i = 0; i < a->results[r].count; i++)
            if (!same_cell(&a->results[r], &b->results[r], i)) {
                *cell = i;
                return false;
            }
    }
    return true;
}

void sample_plain_zeros(const Launch *launch)
{
    for (int r = 0; r < launch->n_results; r++) {
        const HostBuf *buf = &launch->results[r];
        for (int64_t i = 0; scalar_is_float(buf->elem) && i < buf->count; i++) {
            unsigned char *at = buf->bytes + i * scalar_bytes(buf->elem);
            if (scalar_load(buf->elem, at).f == 0)
                scalar_store(scalar_float(buf->elem, 0), at);
        }
    }
}

/* ---- sizes ---------------------------------------------------------------------------------------------------------------- */

typedef struct Marks {
    int n;
    int64_t *at;
} Marks;

static void add_mark(Marks *m, int64_t value)
{
    if (value < -SAMPLE_LARGEST || value > SAMPLE_LARGEST)
        return;
    if (value < 0)
        value = -value;
    for (int i = 0; i < m->n; i++)
        if (m->at[i] == value)
            return;
    if (value > 1 && m->n < SAMPLE_MARKS)
        m->at[m->n++] = value;
}

static void nat_marks(Marks *m, Nat nat)
{
    if (!nat)
        return;
    if (nat->kind == NAT_CONST)
        add_mark(m, nat->value);
    for (int i = 0; i < nat->n_terms; i++) {
        add_mark(m, nat->terms[i].coef);
        for (int k = 0; k < nat->terms[i].n_factors; k++)
            nat_marks(m, nat->terms[i].factors[k]);
    }
    nat_marks(m, nat->a);
    nat_marks(m, nat->b);
}

static void core_marks(Marks *m, const Core *term)
{
    switch (term->kind) {
    case CORE_SIZE:
        nat_marks(m, term->size);
        break;
    case CORE_LIT:
        if (scalar_is_int(term->lit.type))
            add_mark(m, term->lit.i);
        break;
    case CORE_PRIM:
        for (int i = 0; i < term->prim.n_nats; i++)
            nat_marks(m, term->prim.nats[i]);
        for (int i = 0; i < term->prim.n_args; i++)
            core_marks(m, term->prim.args[i]);
        break;
    case CORE_LAMBDA:
        core_marks(m, term->lambda.body);
        break;
    case CORE_LET:
        core_marks(m, term->let.value);
        core_marks(m, term->let.body);
        break;
    case CORE_TUPLE:
        for (int i = 0; i < term->tuple.n; i++)
            core_marks(m, term->tuple.items[i]);
        break;
    case CORE_PROJ:
        core_marks(m, term->proj.value);
        break;
    case CORE_IF:
        core_marks(m, term->cond.cond);
        core_marks(m, term->cond.then);
        core_marks(m, term->cond.otherwise);
        break;
    case CORE_VAR:
    case CORE_UNIT_ERROR:
        break;
    }
}

int sample_marks(const CoreEntry *entry, int64_t marks[SAMPLE_MARKS])
{
    Marks m = {0, marks};
    for (int i = 0; i < entry->n_facts; i++)
        core_marks(&m, entry->facts[i]);
    core_marks(&m, entry->body);
    return m.n;
}

/* Whether the entry takes these sizes, and its arrays are small. */
static bool accepts(Ctx *ctx, const CoreEntry *entry, const SampleInputs *how, int64_t *sizes)
{
    Launch launch = {.n_sizes = entry->n_sizes, .sizes = sizes, .num_sm = how->num_sm};
    HostBuf buf;
    for (int i = 0; i < entry->n_facts; i++) {
        bool holds;
        if (!launch_test(NULL, entry, &launch, entry->facts[i], &holds) || !holds)
            return false;
    }
    for (int i = 0; i < entry->n_inputs; i++)
        for (int k = 0; k < type_component_count(entry->inputs[i]->type); k++)
            if (!launch_buffer(ctx, entry, &launch, type_component(ctx, entry->inputs[i]->type, k), &buf, false) || (how->max_cells && buf.count > how->max_cells))
                return false;
    return result_fits(ctx, entry, how, &launch);
}

/* Small; or about a mark, or a few times one. */
static int64_t random_size(uint64_t *state, bool small, int n_marks, const int64_t *marks)
{
    enum { TINY = 6, SMALL = 34, TIMES = 3 };
    uint64_t r = sample_random(state);
    int64_t mark = n_marks ? marks[(r >> 8) % (uint64_t)n_marks] : SMALL;
    if (small)
        return (int64_t)((r >> 16) % (r % 2 ? TINY : SMALL));
    if (r % 2)
        return mark - 1 + (int64_t)((r >> 16) % 3);
    return mark * (1 + (int64_t)((r >> 16) % TIMES)) + (r >> 32 & 1 ? (int64_t)((r >> 33) % TINY) : 0);
}

static int64_t total(const int64_t *sizes, int n)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += sizes[i];
    return sum;
}

int sample_sizes(Ctx *ctx, const CoreEntry *entry, const SampleInputs *how, const int64_t *fixed, int n_marks, const int64_t *marks, int most, int64_t **sizes)
{
    enum { TRIES = 4000, EQUAL = 4 };
    uint64_t state = how->seed ^ 0x5851f42d4c957f2du;
    Silence silence = silence_begin(ctx);
    int n = 0, width = entry->n_sizes;
    int64_t *trial = NEWN(ctx, int64_t, width + 1);
    for (int k = 0; k < TRIES && n < most; k++) {
        for (int i = 0; i < width; i++)
            trial[i] = fixed && fixed[i] >= 0 ? fixed[i] : k < EQUAL ? k : random_size(&state, k % 4 == 0, n_marks, marks);
        bool fresh = accepts(ctx, entry, how, trial);
        for (int i = 0; i < n && fresh; i++)
            fresh = memcmp(sizes[i], trial, sizeof *trial * (size_t)width) != 0;
        if (!fresh)
            continue;
        int at = n++;
        int64_t *own = NEWN(ctx, int64_t, width + 1);
        memcpy(own, trial, sizeof *trial * (size_t)width);
        for (; at > 0 && total(sizes[at - 1], width) > total(own, width); at--)
            sizes[at] = sizes[at - 1];
        sizes[at] = own;
        if (width == 0)
            break;
    }
    silence_end(ctx, silence);
    return n;
}

/* ---- shrinking --------------------------------------------------------------------------------------------------------- */

/* The next plainer value after `was`: 0, then 1, then half. False: there is none. */
static bool plainer(Scalar elem, ScalarValue was, int step, ScalarValue *to)
{
    double now = scalar_is_float(elem) ? was.f : scalar_is_signed(elem) ? (double)was.i : (double)was.u;
    bool large = !(now > -0x1p62 && now < 0x1p62); /* or no number */
    if (large && step == 2)
        return false;
    double next = step < 2 ? step : (double)(int64_t)(now / 2);
    if (now == next || now == 0 || (now == 1 && step == 1) || (step == 2 && (now == 1 || next == 0)))
        return false;
    *to = scalar_is_float(elem) ? scalar_float(elem, next) : scalar_int(elem, (int64_t)next);
    return true;
}

static bool shrink_cell(HostBuf *buf, int64_t cell, const Launch *launch, SampleShows shows, void *user)
{
    enum { STEPS = 3 };
    unsigned char *at = buf->bytes + cell * scalar_bytes(buf->elem);
    ScalarValue was = scalar_load(buf->elem, at), to;
    for (int step = 0; step < STEPS; step++) {
        if (!plainer(buf->elem, was, step, &to))
            continue;
        scalar_store(to, at);
        if (shows(user, launch))
            return true;
        scalar_store(was, at);
    }
    return false;
}

void sample_shrink_values(Ctx *ctx, Launch *launch, SampleShows shows, void *user)
{
    enum { MOST_CELLS = 200, ROUNDS = 12 };
    Silence silence = silence_begin(ctx);
    bool again = true;
    for (int round = 0; again && round < ROUNDS; round++) {
        again = false;
        for (int b = 0; b < launch->n_buffers; b++)
            for (int64_t i = 0; i < launch->buffers[b].count && i < MOST_CELLS; i++)
                again |= shrink_cell(&launch->buffers[b], i, launch, shows, user);
    }
    silence_end(ctx, silence);
}
