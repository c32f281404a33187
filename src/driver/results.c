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

void results_print_all(StrBuf *out, int n, const HostBuf *results)
{
    for (int k = 0; k < n; k++) {
        if (n > 1)
            sb_printf(out, ".%d: %s", k + 1, results[k].rank > 1 ? "\n" : "");
        results_print(out, &results[k]);
    }
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
