#include "driver/results.h"

#include <math.h>

static ScalarValue cell_of(const HostBuf *buf, int64_t i) { return scalar_load(buf->elem, buf->bytes + i * scalar_bytes(buf->elem)); }

/* ---- for people ----------------------------------------------------------------------------------------------- */

typedef struct Shown {
    StrBuf *out;
    const HostBuf *buf;
} Shown;

/* The element after i in an array of n of which the middle is left out; sets *skipped when it jumps. */
static int64_t shown_next(int64_t i, int64_t n, bool *skipped)
{
    *skipped = n > RESULTS_SHOWN && i == RESULTS_FIRST - 1;
    return *skipped ? n - RESULTS_LAST : i + 1;
}

/* Dimension `dim` and all inside it; the first cell is number `at`. */
static void show(const Shown *s, int dim, int64_t at, int64_t cells, int indent)
{
    if (dim == s->buf->rank) {
        scalar_put(s->out, s->buf->elem, cell_of(s->buf, at));
        return;
    }
    int64_t n = s->buf->shape[dim], inner = n ? cells / n : 0;
    bool row = dim + 1 == s->buf->rank, skipped = false;
    sb_putc(s->out, '[');
    for (int64_t i = 0; i < n; i = shown_next(i, n, &skipped)) {
        if (i > 0)
            sb_puts(s->out, row ? ", " : ",");
        if (i > 0 && !row)
            sb_printf(s->out, "\n%*s", indent + 1, "");
        if (skipped)
            sb_puts(s->out, row ? "..., " : "...,");
        if (skipped && !row)
            sb_printf(s->out, "\n%*s", indent + 1, "");
        show(s, dim + 1, at + i * inner, inner, indent + 1);
    }
    sb_putc(s->out, ']');
}

void results_print(StrBuf *out, const HostBuf *buf)
{
    Shown shown = {out, buf};
    show(&shown, 0, 0, buf->count, 0);
    sb_putc(out, '\n');
}

void results_put_index(StrBuf *out, const HostBuf *buf, int64_t cell)
{
    int64_t inner = buf->count;
    for (int i = 0; i < buf->rank && inner > 0; i++) {
        inner /= buf->shape[i];
        sb_printf(out, "[%lld]", (long long)(cell / inner));
        cell %= inner;
    }
}

void results_put_cell(StrBuf *out, const HostBuf *buf, int64_t cell) { scalar_put(out, buf->elem, cell_of(buf, cell)); }

/* Dimension `dim` of an array whose first cell is number `at`, all on this line. */
static void put_row(StrBuf *out, const HostBuf *buf, int dim, int64_t at, int64_t cells)
{
    if (dim == buf->rank) {
        results_put_cell(out, buf, at);
        return;
    }
    int64_t n = buf->shape[dim], inner = n ? cells / n : 0;
    bool skipped = false;
    sb_putc(out, '[');
    for (int64_t i = 0; i < n; i = shown_next(i, n, &skipped)) {
        sb_puts(out, i ? skipped ? ", ..., " : ", " : "");
        put_row(out, buf, dim + 1, at + i * inner, inner);
    }
    sb_putc(out, ']');
}

void results_put_row(StrBuf *out, const HostBuf *buf) { put_row(out, buf, 0, 0, buf->count); }

void results_put_inputs(StrBuf *out, const CoreEntry *entry, const Launch *launch)
{
    int b = 0;
    for (int i = 0; i < entry->n_inputs; i++) {
        int n = type_component_count(entry->inputs[i]->type);
        for (int k = 0; k < n; k++, b++) {
            sb_printf(out, "%s%s", b ? ", " : "", entry->inputs[i]->name);
            if (n > 1)
                sb_printf(out, ".%d", k + 1);
            sb_puts(out, " = ");
            put_row(out, &launch->buffers[b], 0, 0, launch->buffers[b].count);
        }
    }
}

void results_put_shape(StrBuf *out, const HostBuf *buf)
{
    for (int i = 0; i < buf->rank; i++)
        sb_printf(out, "%lld.", (long long)buf->shape[i]);
    sb_puts(out, scalar_name(buf->elem));
}

/* ---- JSON ----------------------------------------------------------------------------------------------------- */

void results_json(StrBuf *out, const HostBuf *buf)
{
    sb_printf(out, "{\"type\": \"%s\", \"shape\": [", scalar_name(buf->elem));
    for (int i = 0; i < buf->rank; i++)
        sb_printf(out, "%s%lld", i ? ", " : "", (long long)buf->shape[i]);
    sb_puts(out, "], \"values\": ");
    if (buf->count > RESULTS_JSON_ELEMENTS) {
        sb_puts(out, "null}");
        return;
    }
    sb_putc(out, '[');
    for (int64_t i = 0; i < buf->count; i++) {
        ScalarValue value = cell_of(buf, i);
        bool word = scalar_is_float(buf->elem) && !isfinite(value.f);
        sb_puts(out, i ? ", " : "");
        sb_puts(out, word ? "\"" : "");
        scalar_put(out, buf->elem, value);
        sb_puts(out, word ? "\"" : "");
    }
    sb_puts(out, "]}");
}

/* ---- comparing ------------------------------------------------------------------------------------------------ */

/* The distance from 1 to the next number. */
static double epsilon_of(Scalar type)
{
    return type == SC_F16 ? 0x1p-10 : type == SC_BF16 ? 0x1p-7 : type == SC_F32 ? 0x1p-23 : 0x1p-52;
}

InputScale results_scale(const Launch *launch)
{
    InputScale scale = {0, 0};
    for (int b = 0; b < launch->n_buffers; b++) {
        const HostBuf *buf = &launch->buffers[b];
        scale.elements += (double)buf->count;
        for (int64_t i = 0; scalar_is_float(buf->elem) && i < buf->count; i++) {
            double v = fabs(cell_of(buf, i).f);
            if (isfinite(v))
                scale.sum += v;
        }
    }
    return scale;
}

static bool same_bits(Scalar type, ScalarValue a, ScalarValue b)
{
    if (!scalar_is_float(type))
        return a.i == b.i;
    return (isnan(a.f) && isnan(b.f)) || a.u == b.u;
}

static bool same_shape(const HostBuf *a, const HostBuf *b)
{
    if (a->elem != b->elem || a->rank != b->rank)
        return false;
    for (int i = 0; i < a->rank; i++) {
        if (a->shape[i] != b->shape[i])
            return false;
    }
    return true;
}

static void compare_cell(Comparison *c, int result, const HostBuf *got, const HostBuf *want, int64_t cell, const InputScale *scale)
{
    ScalarValue a = cell_of(got, cell), b = cell_of(want, cell);
    if (same_bits(got->elem, a, b))
        return;
    c->exact = false;
    double error = 0, bound = 0;
    bool near = false;
    if (scalar_is_float(got->elem)) {
        c->float_bound = true;
        error = fabs(a.f - b.f);
        bound = c->wanted_exact ? 0 : (scale->elements + 8) * epsilon_of(got->elem) * fmax(fabs(b.f), scale->sum);
        near = (a.f == b.f || !c->wanted_exact) && error <= bound && isfinite(a.f) && isfinite(b.f); /* a NaN or an infinity is near only to itself */
        /* -0 for 0 has the error 0, and so has a bound of 0. */
        if (near && (c->bound == 0 || error * c->bound > c->max_error * bound)) {
            c->max_error = error;
            c->bound = bound;
        }
    }
    if (near || !c->equal)
        return;
    c->equal = false;
    c->result = result;
    c->cell = cell;
    c->cell_error = error;
    c->cell_bound = bound;
}

bool results_small_integers(const Launch *launch, int n, const HostBuf *results)
{
    double largest = 0x1p53, sum = 0;
    for (int r = 0; r < n + launch->n_buffers; r++) {
        Scalar elem = r < n ? results[r].elem : launch->buffers[r - n].elem;
        if (scalar_is_float(elem))
            largest = fmin(largest, 2 / epsilon_of(elem));
    }
    for (int b = 0; b < launch->n_buffers; b++) {
        const HostBuf *buf = &launch->buffers[b];
        for (int64_t i = 0; i < buf->count; i++) {
            ScalarValue v = cell_of(buf, i);
            double x = fabs(scalar_is_float(buf->elem) ? v.f : scalar_is_signed(buf->elem) ? (double)v.i : (double)v.u);
            sum += x;
            if (!(sum < largest) || x != floor(x))
                return false;
        }
    }
    return true;
}

Comparison results_compare(const Launch *launch, int n, const HostBuf *got, const HostBuf *want, bool exact)
{
    InputScale scale = results_scale(launch);
    return results_compare_scaled(&scale, n, got, want, exact);
}

Comparison results_compare_scaled(const InputScale *scale, int n, const HostBuf *got, const HostBuf *want, bool exact)
{
    Comparison c = {.equal = true, .exact = true, .wanted_exact = exact};
    for (int r = 0; r < n; r++) {
        if (!same_shape(&got[r], &want[r])) {
            c.equal = c.exact = false;
            c.shapes_differ = true;
            c.result = r;
            return c;
        }
    }
    for (int r = 0; r < n; r++) {
        for (int64_t i = 0; i < got[r].count; i++)
            compare_cell(&c, r, &got[r], &want[r], i, scale);
    }
    return c;
}
