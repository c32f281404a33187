#include "ir/interp_internal.h"

/* ---- values ----------------------------------------------------------------------------------------------------- */

static int64_t rows_of(Interp *in, const Code *array) { return interp_size(in, &array->shape->comps[0].dims[0]); }

static inline int64_t stride_of(const Comp *comp) { return comp->by_address ? comp->bytes : scalar_bytes(comp->scalar); }

static inline Cell cell_load(Scalar scalar, const unsigned char *at)
{
    return (Cell){.i = scalar_load(scalar, at).i};
}

static inline void cell_store(Scalar scalar, Cell cell, unsigned char *at)
{
    scalar_store((ScalarValue){.type = scalar, .i = cell.i}, at);
}

/* New buffers for the arrays of a value. */
static void new_value(Interp *in, Span span, const Shape *shape, Cell *value)
{
    for (int k = 0; k < shape->n; k++)
        if (shape->comps[k].by_address)
            value[k].at = interp_alloc(in, span, shape->comps[k].bytes);
}

/* An element without copying its arrays; `row` is its shape. */
static inline void get_row(const Shape *row, const Cell *array, int64_t i, Cell *value)
{
    for (int k = 0; k < row->n; k++) {
        const Comp *comp = &row->comps[k];
        if (comp->by_address)
            value[k].at = array[k].at + i * comp->bytes;
        else
            value[k] = cell_load(comp->scalar, array[k].at + i * scalar_bytes(comp->scalar));
    }
}

static inline void put_row(const Shape *row, const Cell *array, int64_t i, const Cell *value)
{
    for (int k = 0; k < row->n; k++) {
        const Comp *comp = &row->comps[k];
        if (comp->by_address)
            memcpy(array[k].at + i * comp->bytes, value[k].at, (size_t)comp->bytes);
        else
            cell_store(comp->scalar, value[k], array[k].at + i * scalar_bytes(comp->scalar));
    }
}

static void copy_rows(Interp *in, const Shape *row, const Cell *to, int64_t at, const Cell *from, int64_t first, int64_t n)
{
    for (int k = 0; k < row->n; k++) {
        int64_t stride = stride_of(&row->comps[k]);
        ctx_copy(in->ctx, to[k].at + at * stride, from[k].at + first * stride, (size_t)(n * stride));
    }
}

static void copy_cells(Interp *in, int to, int from, int n) { memmove(&in->cells[to], &in->cells[from], sizeof(Cell) * (size_t)n); }

/* Of a number of any type, as its cell has it: a u64 that is too large for an i64 is negative. */
static inline bool is_index(int64_t i, int64_t n) { return i >= 0 && i < n; }

static int64_t checked_index(Interp *in, const Code *code, int64_t i, int64_t n)
{
    if (is_index(i, n))
        return i;
    diag_error(in->ctx, E0606, code->span, "%s uses the index %lld, and the array has %lld elements", prim_name(code->id), (long long)i,
               (long long)n);
    interp_stop(in);
}

/* ---- folds ------------------------------------------------------------------------------------------------------ */

/* The state of a fold, in the cells of the function's first parameter. Its arrays alternate between two buffers, because a step may
 * give parts of the old state anew. */
typedef struct State {
    const Shape *shape;
    int at;
    Cell *buffers[2]; /* NULL when the state has no arrays */
    int which;
} State;

static void state_init(Interp *in, const Code *code, const Shape *shape, State *state)
{
    *state = (State){.shape = shape, .at = code->lambda->params[0]};
    bool arrays = false;
    for (int k = 0; k < shape->n; k++)
        arrays |= shape->comps[k].by_address;
    for (int b = 0; arrays && b < 2; b++) {
        state->buffers[b] = (Cell *)(void *)interp_alloc(in, code->span, (int64_t)sizeof(Cell) * shape->n);
        new_value(in, code->span, shape, state->buffers[b]);
    }
}

static inline void state_set(Interp *in, State *state, const Cell *value)
{
    Cell *cells = &in->cells[state->at];
    memmove(cells, value, sizeof(Cell) * (size_t)state->shape->n);
    if (!state->buffers[0])
        return;
    state->which ^= 1;
    const Cell *buffer = state->buffers[state->which];
    for (int k = 0; k < state->shape->n; k++)
        if (state->shape->comps[k].by_address) {
            memcpy(buffer[k].at, cells[k].at, (size_t)state->shape->comps[k].bytes);
            cells[k].at = buffer[k].at;
        }
}

/* The chain of roundings in a fold of n elements whose order is open; 0: it is fixed, or nothing rounds. See Note [Open order]. */
static double open_chain(const Interp *in, const Code *code, int64_t n)
{
    switch ((int)code->id) {
    case P_reduce: case P_scan: case P_scanExcl: case P_reduceByIndex: case P_atomicReduce: case P_scanBlocks: case P_scanRowBlocks:
        in->launch->order_open = true;
        return in->shadow ? fmin((double)n * (double)code->lambda->roundings, in->longest) : 0;
    }
    return 0;
}

/* f's body, within a fold with this chain. */
static inline void eval_step(Interp *in, const Lambda *f, double chain)
{
    double around = in->chain;
    in->chain = chain > 0 ? chain : around;
    interp_eval(in, f->body);
    in->chain = around;
}

/* state = f(state, xs[i]) for i in [from, to). `out`: where state i goes, before the step (exclusive) or after it; or NULL. */
static void fold_range(Interp *in, const Code *code, State *state, const Code *xs, const Shape *row, int64_t from, int64_t to, const Cell *out,
                       bool exclusive)
{
    const Lambda *f = code->lambda;
    const Cell *array = &in->cells[xs->at];
    double chain = open_chain(in, code, rows_of(in, xs));
    Mark mark = interp_mark(in);
    for (int64_t i = from; i < to; i++) {
        if (out && exclusive)
            put_row(state->shape, out, i, &in->cells[state->at]);
        get_row(row, array, i, &in->cells[f->params[1]]);
        eval_step(in, f, chain);
        state_set(in, state, &in->cells[f->body->at]);
        if (out && !exclusive)
            put_row(state->shape, out, i, &in->cells[state->at]);
        interp_release(in, mark);
    }
    if (chain > 0 && out)
        interp_close(in, state->shape, out, from, to - from, chain);
    else if (chain > 0)
        interp_close(in, state->shape, &in->cells[state->at], 0, 1, chain);
}

static void fold(Interp *in, const Code *code, State *state, const Code *xs, const Shape *row, int64_t from, const Cell *out, bool exclusive)
{
    fold_range(in, code, state, xs, row, from, rows_of(in, xs), out, exclusive);
}

/* Where the order is open and the program itself says that it may be: the two halves apart, each from the unit, and the second before the first.
 * An operator whose laws do not hold then gives something else than from left to right, which is how one cell is updated. */
static void combine_halves(Interp *in, const Code *code, State *state, const Code *xs, const Shape *row)
{
    const Lambda *op = code->lambda;
    const Cell *unit = &in->cells[code->args[1]->at];
    int64_t n = rows_of(in, xs), half = n / 2;
    Cell *first = (Cell *)(void *)interp_alloc(in, code->span, (int64_t)sizeof(Cell) * row->n);
    state_set(in, state, unit);
    fold_range(in, code, state, xs, row, 0, half, NULL, false);
    memcpy(first, &in->cells[state->at], sizeof(Cell) * (size_t)row->n);
    state_set(in, state, unit);
    fold_range(in, code, state, xs, row, half, n, NULL, false);
    memcpy(&in->cells[op->params[1]], first, sizeof(Cell) * (size_t)row->n);
    interp_eval(in, op->body);
    state_set(in, state, &in->cells[op->body->at]);
}

/* The 32 elements of xs, combined by the lanes of a warp: each with the one whose number differs by 16, by 8, 4, 2, 1. What lane 0 has then. */
static void combine_lanes(Interp *in, const Code *code, int64_t n, Cell *out)
{
    const Code *xs = code->args[code->n - 1];
    const Shape *row = code->arg_rows[code->n - 1];
    const Lambda *f = code->lambda;
    Cell *lanes[2];
    for (int b = 0; b < 2; b++) {
        lanes[b] = (Cell *)(void *)interp_alloc(in, code->span, (int64_t)sizeof(Cell) * xs->shape->n);
        new_value(in, code->span, xs->shape, lanes[b]);
    }
    copy_rows(in, row, lanes[0], 0, &in->cells[xs->at], 0, n);
    int now = 0;
    Mark mark = interp_mark(in);
    for (int64_t d = n / 2; d > 0; d /= 2, now = !now)
        for (int64_t i = 0; i < d; i++) {
            get_row(row, lanes[now], i, &in->cells[f->params[0]]);
            get_row(row, lanes[now], i + d, &in->cells[f->params[1]]);
            interp_eval(in, f->body);
            put_row(row, lanes[!now], i, &in->cells[f->body->at]);
            interp_release(in, mark);
        }
    copy_rows(in, row, out, 0, lanes[now], 0, 1);
}

/* Cells of `out`, of n, that a number which is off by so much may mean. */
static void spoil_around(const Shape *row, const Cell *out, int64_t n, int64_t number, double off)
{
    int64_t from = 0, to = n;
    if (off < (double)n) {
        from = number - (int64_t)off > 0 ? number - (int64_t)off : 0;
        to = number + (int64_t)off + 1 < n ? number + (int64_t)off + 1 : n;
    }
    if (from < to)
        interp_spoil(row, out, from, to - from);
}

static void reduce_by_index(Interp *in, Code *code)
{
    const Lambda *op = code->lambda;
    const Code *xs = code->args[2];
    const Shape *row = code->row, *pair = code->arg_rows[2];
    Cell *out = &in->cells[code->at];
    const Cell *array = &in->cells[xs->at];
    int64_t n = rows_of(in, xs), k = interp_size(in, &code->nats[1]);
    new_value(in, code->span, code->shape, out);
    for (int64_t j = 0; j < k; j++, interp_tick(in))
        put_row(row, out, j, &in->cells[code->args[1]->at]);
    State state;
    state_init(in, code, row, &state);
    double chain = open_chain(in, code, n);
    Mark mark = interp_mark(in);
    for (int64_t i = 0; i < n; i++) {
        Scalar number = pair->comps[0].scalar;
        double off;
        int64_t j = checked_index(in, code, interp_number_at(in, number, array[0].at + i * scalar_room(in, number), &off), k);
        /* The pair's second component: its shape is the row's. */
        get_row(row, array + 1, i, &in->cells[op->params[1]]);
        get_row(row, out, j, &in->cells[op->params[0]]);
        eval_step(in, op, chain);
        state_set(in, &state, &in->cells[op->body->at]);
        put_row(row, out, j, &in->cells[state.at]);
        if (off > 0)
            spoil_around(row, out, k, j, off);
        interp_release(in, mark);
    }
    if (chain > 0)
        interp_close(in, row, out, 0, k, chain);
}

static void iterate(Interp *in, Code *code)
{
    const Lambda *f = code->lambda;
    const Shape *row = code->row;
    int64_t m = interp_size(in, &code->nats[0]), n = interp_size(in, &code->nats[1]), k = interp_size(in, &code->nats[2]), l = m;
    for (int64_t i = 0; i < k && l && n != 1; i++)
        if (!mul_fits(l, n, &l))
            interp_too_large(in, code->span);
    Cell *buffers[2];
    for (int b = 0; b < 2; b++) {
        buffers[b] = (Cell *)(void *)interp_alloc(in, code->span, (int64_t)sizeof(Cell) * row->n);
        for (int c = 0; c < row->n; c++) {
            int64_t bytes;
            if (!mul_fits(l, stride_of(&row->comps[c]), &bytes))
                interp_too_large(in, code->span);
            buffers[b][c].at = interp_alloc(in, code->span, bytes);
        }
    }
    copy_cells(in, f->params[0], code->args[1]->at, row->n);
    Mark mark = interp_mark(in);
    for (int64_t i = 0; i < k; i++) {
        l = n ? l / n : 0;
        in->cells[f->nats[0]].i = l;
        interp_eval(in, f->body);
        const Cell *buffer = buffers[i & 1];
        copy_rows(in, row, buffer, 0, &in->cells[f->body->at], 0, l);
        memcpy(&in->cells[f->params[0]], buffer, sizeof(Cell) * (size_t)row->n);
        interp_release(in, mark);
    }
    copy_cells(in, code->at, f->params[0], row->n);
}

static void repeat_kernels(Interp *in, Code *code)
{
    const Lambda *f = code->lambda;
    int64_t k = interp_size(in, &code->nats[0]);
    State state;
    state_init(in, code, code->shape, &state);
    state_set(in, &state, &in->cells[code->args[1]->at]);
    Mark mark = interp_mark(in);
    for (int64_t i = 0; i < k; i++) {
        interp_set_index(in, code->span, f->params[1], i);
        interp_eval(in, f->body);
        state_set(in, &state, &in->cells[f->body->at]);
        interp_release(in, mark);
    }
    copy_cells(in, code->at, state.at, code->shape->n);
}

/* Each element by f and then g, with the state of a fold over the first components of what f gives, which begins again in each row. */
static void scan_blocks(Interp *in, const Code *code)
{
    enum { OP, UNIT, F, G, XS };
    const Lambda *op = code->lambdas[OP], *f = code->lambdas[F], *g = code->lambdas[G];
    const Code *xs = code->args[XS];
    Cell *out = &in->cells[code->at];
    const Cell *array = &in->cells[xs->at];
    State state;
    new_value(in, code->span, code->shape, out);
    state_init(in, code, code->args[UNIT]->shape, &state);
    state_set(in, &state, &in->cells[code->args[UNIT]->at]);
    int n = state.shape->n;
    int64_t row = code->id == P_scanRowBlocks ? interp_size(in, &code->nats[1]) : 0, elements = rows_of(in, xs) * (row ? row : 1);
    double chain = open_chain(in, code, elements);
    Mark mark = interp_mark(in);
    for (int64_t i = 0; i < elements; i++) {
        get_row(code->arg_rows[XS], array, i, &in->cells[f->params[0]]);
        interp_eval(in, f->body);
        if (row && i % row == 0)
            state_set(in, &state, &in->cells[code->args[UNIT]->at]);
        copy_cells(in, g->params[0], state.at, n);
        if (chain > 0) { /* what the state is to g: the fold so far has ended */
            new_value(in, code->span, state.shape, &in->cells[g->params[0]]);
            copy_rows(in, state.shape, &in->cells[g->params[0]], 0, &in->cells[state.at], 0, 1);
            interp_close(in, state.shape, &in->cells[g->params[0]], 0, 1, chain);
        }
        copy_cells(in, g->params[1], f->body->at + n, f->body->shape->n - n);
        interp_eval(in, g->body);
        put_row(code->row, out, i, &in->cells[g->body->at]);
        copy_cells(in, op->params[1], f->body->at, n);
        eval_step(in, op, chain);
        state_set(in, &state, &in->cells[op->body->at]);
        interp_release(in, mark);
    }
}

/* ---- maps and views --------------------------------------------------------------------------------------------- */

/* The value of a function for one element: a step, also where nothing is worked out. */
static void call(Interp *in, const Lambda *f)
{
    if (f->body->kind == CODE_PLACE || f->body->kind == CODE_PART)
        interp_steps(in, 1);
    interp_eval(in, f->body);
}

/* out[i] = f(xs[i]) for rows of `row` in and `to` out. */
static void map_rows(Interp *in, const Code *code, const Cell *out, const Shape *to, const Cell *xs, const Shape *row, int64_t n)
{
    const Lambda *f = code->lambda;
    Mark mark = interp_mark(in);
    for (int64_t i = 0; i < n; i++) {
        get_row(row, xs, i, &in->cells[f->params[0]]);
        call(in, f);
        put_row(to, out, i, &in->cells[f->body->at]);
        interp_release(in, mark);
    }
}

static void map(Interp *in, Code *code)
{
    const Code *xs = code->args[1];
    new_value(in, code->span, code->shape, &in->cells[code->at]);
    map_rows(in, code, &in->cells[code->at], code->row, &in->cells[xs->at], code->arg_rows[1], rows_of(in, xs));
}

static void generate(Interp *in, Code *code)
{
    const Lambda *f = code->lambda;
    Cell *out = &in->cells[code->at];
    int64_t n = rows_of(in, code);
    new_value(in, code->span, code->shape, out);
    Mark mark = interp_mark(in);
    for (int64_t i = 0; i < n; i++) {
        interp_set_index(in, code->span, f->params[0], i);
        interp_eval(in, f->body);
        put_row(code->row, out, i, &in->cells[f->body->at]);
        interp_release(in, mark);
    }
}

/* Windows of `size` rows, `step` apart. */
static void slide(Interp *in, const Code *code, const Cell *xs, const Shape *row, int64_t size, int64_t step)
{
    Cell *out = &in->cells[code->at];
    int64_t n = rows_of(in, code);
    new_value(in, code->span, code->shape, out);
    for (int64_t i = 0; i < n; i++) {
        copy_rows(in, row, out, i * size, xs, i * step, size);
        interp_tick(in);
    }
}

/* Windows of f's values. */
static void map_and_slide(Interp *in, Code *code)
{
    /* The row of the result is a window; its rows are f's values. */
    const Shape *value = code->lambda->body->shape;
    const Code *xs = code->args[1];
    int64_t n = rows_of(in, xs), size = interp_size(in, &code->nats[1]);
    Cell *values = (Cell *)(void *)interp_alloc(in, code->span, (int64_t)sizeof(Cell) * value->n);
    interp_refresh(in, code->lambda->body->shape);
    for (int k = 0; k < value->n; k++) {
        int64_t bytes;
        if (!mul_fits(stride_of(&value->comps[k]), n, &bytes))
            interp_too_large(in, code->span);
        values[k].at = interp_alloc(in, code->span, bytes);
    }
    map_rows(in, code, values, value, &in->cells[xs->at], code->arg_rows[1], n);
    slide(in, code, values, value, size, 1);
}

static void transpose(Interp *in, Code *code)
{
    const Code *xs = code->args[0];
    int64_t n = rows_of(in, xs), m = rows_of(in, code);
    Cell *out = &in->cells[code->at];
    const Cell *array = &in->cells[xs->at];
    new_value(in, code->span, code->shape, out);
    for (int k = 0; k < code->shape->n && n > 0 && m > 0; k++) {
        size_t stride = (size_t)(code->arg_rows[0]->comps[k].bytes / m);
        unsigned char *to = out[k].at;
        const unsigned char *from = array[k].at;
        for (int64_t j = 0; j < m; j++)
            for (int64_t i = 0; i < n; i++, to += stride) {
                memcpy(to, from + (size_t)(i * m + j) * stride, stride);
                interp_tick(in);
            }
    }
}

/* l copies of `before`, the array, r copies of `after`. */
static void pad(Interp *in, Code *code, int64_t l, int64_t r, const Cell *before, const Cell *after, const Code *xs)
{
    Cell *out = &in->cells[code->at];
    int64_t n = rows_of(in, xs);
    new_value(in, code->span, code->shape, out);
    for (int64_t i = 0; i < l; i++) {
        put_row(code->row, out, i, before);
        interp_tick(in);
    }
    copy_rows(in, code->row, out, l, &in->cells[xs->at], 0, n);
    for (int64_t i = 0; i < r; i++) {
        put_row(code->row, out, l + n + i, after);
        interp_tick(in);
    }
}

static void pad_clamp(Interp *in, Code *code)
{
    const Code *xs = code->args[0];
    const Shape *row = code->row;
    int64_t n = rows_of(in, xs), l = interp_size(in, &code->nats[1]), r = interp_size(in, &code->nats[2]);
    Cell *ends = (Cell *)(void *)interp_alloc(in, code->span, 2 * (int64_t)sizeof(Cell) * row->n);
    if (l + r > 0) {
        checked_index(in, code, 0, n);
        get_row(row, &in->cells[xs->at], 0, ends);
        get_row(row, &in->cells[xs->at], n - 1, ends + row->n);
    }
    pad(in, code, l, r, ends, ends + row->n, xs);
}

typedef enum Order { ORDER_REVERSE, ORDER_STRIDE, ORDER_FUNCTION, ORDER_INDICES, ORDER_DOWN, ORDER_UP, ORDER_XOR, ORDER_ONE } Order;

/* out[i] = xs[p(i)]. */
static void permute(Interp *in, Code *code, Order order, int xs_arg)
{
    const Code *xs = code->args[xs_arg];
    const Cell *array = &in->cells[xs->at];
    Cell *out = &in->cells[code->at];
    int64_t n = rows_of(in, xs), m = rows_of(in, code), k = 0;
    if (order == ORDER_STRIDE)
        k = interp_size(in, &code->nats[1]);
    else if (order >= ORDER_DOWN)
        k = interp_size(in, &code->nats[0]);
    new_value(in, code->span, code->shape, out);
    Mark mark = interp_mark(in);
    for (int64_t i = 0; i < m; i++) {
        int64_t p = 0;
        double off = 0;
        switch (order) {
        case ORDER_REVERSE:
            p = n - 1 - i;
            break;
        case ORDER_STRIDE:
            p = i / (n / k) + k * (i % (n / k));
            break;
        case ORDER_FUNCTION:
            interp_set_index(in, code->span, code->lambda->params[0], i);
            interp_eval(in, code->lambda->body);
            p = interp_number(in, code->lambda->body, &off);
            interp_release(in, mark);
            break;
        case ORDER_INDICES:
            p = interp_number_at(in, SC_I64, in->cells[code->args[0]->at].at + i * scalar_room(in, SC_I64), &off);
            break;
        case ORDER_DOWN:
            p = i + k < n ? i + k : i;
            break;
        case ORDER_UP:
            p = i >= k ? i - k : i;
            break;
        case ORDER_XOR:
            p = i ^ k;
            break;
        case ORDER_ONE:
            p = k;
            break;
        }
        copy_rows(in, code->row, out, i, array, checked_index(in, code, p, n), 1);
        if (off > 0)
            interp_spoil(code->row, out, i, 1);
    }
}

static void scatter(Interp *in, Code *code)
{
    const Code *is = code->args[0], *background = code->args[1], *xs = code->args[2];
    int64_t n = rows_of(in, xs), m = rows_of(in, background);
    bool drops = code->id == P_scatterDrop;
    Scalar number = code->arg_rows[0]->comps[0].scalar;
    Cell *out = &in->cells[code->at];
    new_value(in, code->span, code->shape, out);
    copy_rows(in, code->row, out, 0, &in->cells[background->at], 0, m);
    unsigned char *written = interp_alloc(in, code->span, m);
    ctx_clear(in->ctx, written, (size_t)m);
    for (int64_t i = 0; i < n; i++, interp_tick(in)) {
        double off;
        int64_t p = interp_number_at(in, number, in->cells[is->at].at + i * scalar_room(in, number), &off);
        if (off > 0)
            spoil_around(code->row, out, m, p, off);
        if (drops && !is_index(p, m))
            continue;
        checked_index(in, code, p, m);
        if (written[p] && code->id == P_scatter) {
            diag_error(in->ctx, E0607, code->span, "scatter writes the cell %lld twice, the second time from element %lld", (long long)p,
                       (long long)i);
            interp_stop(in);
        }
        if (in->shadow && written[p])
            interp_write_again(in, code->row, out, p, &in->cells[xs->at], i);
        else
            copy_rows(in, code->row, out, p, &in->cells[xs->at], i, 1);
        in->launch->place_repeats |= written[p];
        written[p] = 1;
        if (off > 0)
            interp_spoil(code->row, out, p, 1);
    }
}

static void concat(Interp *in, Code *code)
{
    Cell *out = &in->cells[code->at];
    int64_t n = rows_of(in, code->args[0]), m = rows_of(in, code->args[1]);
    new_value(in, code->span, code->shape, out);
    copy_rows(in, code->row, out, 0, &in->cells[code->args[0]->at], 0, n);
    copy_rows(in, code->row, out, n, &in->cells[code->args[1]->at], 0, m);
}

/* xs[i]. On shadows, an element whose number is undecided is, too. */
static void element(Interp *in, Code *code, const Code *xs)
{
    Cell *out = &in->cells[code->at];
    int64_t i = checked_index(in, code, interp_size(in, &code->nats[1]), rows_of(in, xs));
    if (!in->shadow || !interp_size_off(in, &code->nats[1])) {
        get_row(code->shape, &in->cells[xs->at], i, out);
        return;
    }
    new_value(in, code->span, code->shape, out);
    copy_rows(in, code->shape, out, 0, &in->cells[xs->at], i, 1);
    interp_spoil(code->shape, out, 0, 1);
}

/* ---- primitives ------------------------------------------------------------------------------------------------- */

static void eval_prim(Interp *in, Code *code)
{
    for (int k = 0; k < code->n; k++)
        if (code->args[k])
            interp_eval(in, code->args[k]);
    interp_refresh(in, code->shape);
    interp_refresh(in, code->row);
    for (int k = 0; k < code->n; k++)
        interp_refresh(in, code->arg_rows[k]);
    Cell *out = &in->cells[code->at];
    Code *last = code->n ? code->args[code->n - 1] : NULL;
    State state;
    if (prim_rows[code->id].level == LEVEL_SCALAR) {
        interp_vector(in, code);
        return;
    }
    switch ((int)code->id) {
    case P_id:
    case P_readOnce:
    case P_keepCached:
    case P_readTogether:
    case P_split:
    case P_splitDrop:
    case P_join:
    case P_take:
    case P_unzip:
    case P_asVector:
    case P_asScalar:
    case P_toGlobal:
    case P_toShared:
    case P_toPrivate:
        /* The same scalars in the same places. */
        copy_cells(in, code->at, last->at, code->shape->n);
        return;
    case P_zip:
    case P_zip3:
    case P_zip4: {
        int at = code->at;
        for (int k = 0; k < code->n; k++) {
            copy_cells(in, at, code->args[k]->at, code->args[k]->shape->n);
            at += code->args[k]->shape->n;
        }
        return;
    }
    case P_drop: {
        int64_t k = interp_size(in, &code->nats[1]);
        for (int c = 0; c < code->shape->n; c++)
            out[c].at = in->cells[last->at + c].at + k * stride_of(&code->row->comps[c]);
        return;
    }
    case P_single:
        get_row(code->shape, &in->cells[last->at], 0, out);
        return;
    case P_index:
        element(in, code, last);
        return;
    case P_transpose:
        transpose(in, code);
        return;
    case P_slide:
        slide(in, code, &in->cells[last->at], code->arg_rows[0], interp_size(in, &code->nats[1]), interp_size(in, &code->nats[2]));
        return;
    case P_padCst: {
        const Cell *c = &in->cells[code->args[0]->at];
        pad(in, code, interp_size(in, &code->nats[1]), interp_size(in, &code->nats[2]), c, c, last);
        return;
    }
    case P_padTo: {
        const Cell *c = &in->cells[code->args[0]->at];
        pad(in, code, 0, rows_of(in, code) - rows_of(in, last), c, c, last);
        return;
    }
    case P_padClamp:
        pad_clamp(in, code);
        return;
    case P_reverse:
        permute(in, code, ORDER_REVERSE, 0);
        return;
    case P_stride:
        permute(in, code, ORDER_STRIDE, 0);
        return;
    case P_reorder:
        permute(in, code, ORDER_FUNCTION, 1);
        return;
    case P_gather:
    case P_shfl:
        permute(in, code, ORDER_INDICES, 1);
        return;
    case P_shflDown:
        permute(in, code, ORDER_DOWN, 0);
        return;
    case P_shflUp:
        permute(in, code, ORDER_UP, 0);
        return;
    case P_shflXor:
        permute(in, code, ORDER_XOR, 0);
        return;
    case P_broadcast:
        permute(in, code, ORDER_ONE, 0);
        return;
    case P_scatter:
    case P_scatterUnchecked:
    case P_scatterDrop:
        scatter(in, code);
        return;
    case P_concat:
        concat(in, code);
        return;
    case P_generate:
        generate(in, code);
        return;
    case P_map:
    case P_mapSeq:
    case P_mapSeqUnroll:
    case P_mapGlobal:
    case P_mapBlock:
    case P_mapThreads:
    case P_mapWarp:
    case P_mapLane:
        map(in, code);
        return;
    case P_reduceWarp:
        new_value(in, code->span, code->shape, out);
        combine_lanes(in, code, rows_of(in, last), out);
        return;
    case P_atomicReduce:
        state_init(in, code, code->arg_rows[2], &state); /* the unit is in the cell before */
        if (code->lambda->declared && !state.buffers[0]) {
            combine_halves(in, code, &state, last, code->arg_rows[2]);
        } else {
            state_set(in, &state, &in->cells[code->args[1]->at]);
            fold(in, code, &state, last, code->arg_rows[2], 0, NULL, false);
        }
        new_value(in, code->span, code->shape, out);
        put_row(code->row, out, 0, &in->cells[state.at]);
        return;
    case P_reduce: /* from the unit on, as threads do: max(-inf, nan) is -inf */
    case P_reduceSeq:
    case P_reduceSeqUnroll:
        state_init(in, code, code->shape, &state);
        state_set(in, &state, &in->cells[code->args[1]->at]);
        fold(in, code, &state, last, code->arg_rows[2], 0, NULL, false);
        copy_cells(in, code->at, state.at, code->shape->n);
        return;
    case P_scanSeq:
    case P_scanSeqExcl:
        new_value(in, code->span, code->shape, out);
        state_init(in, code, code->row, &state);
        state_set(in, &state, &in->cells[code->args[1]->at]);
        fold(in, code, &state, last, code->arg_rows[2], 0, out, code->id == P_scanSeqExcl);
        return;
    case P_scan:
        new_value(in, code->span, code->shape, out);
        state_init(in, code, code->row, &state);
        state_set(in, &state, &in->cells[code->args[1]->at]);
        fold(in, code, &state, last, code->row, 0, out, false);
        return;
    case P_scanExcl:
        new_value(in, code->span, code->shape, out);
        state_init(in, code, code->row, &state);
        state_set(in, &state, &in->cells[code->args[1]->at]);
        fold(in, code, &state, last, code->row, 0, out, true);
        return;
    case P_reduceByIndex:
        reduce_by_index(in, code);
        return;
    case P_iterate:
        iterate(in, code);
        return;
    case P_circularBuffer:
    case P_rotateValues:
        map_and_slide(in, code);
        return;
    case P_scanBlocks:
    case P_scanRowBlocks:
        scan_blocks(in, code);
        return;
    case P_repeatKernels:
        repeat_kernels(in, code);
        return;
    case P_nextKernel:
    case P_lastBlock:
    case P_gridSync:
        copy_cells(in, code->lambda->params[0], last->at, last->shape->n);
        interp_eval(in, code->lambda->body);
        copy_cells(in, code->at, code->lambda->body->at, code->shape->n);
        return;
    }
    diag_error(in->ctx, E0510, code->span, "the reference interpreter does not know %s", prim_name(code->id));
    interp_stop(in);
}

/* ---- terms ------------------------------------------------------------------------------------------------------ */

void interp_steps(Interp *in, int64_t n)
{
    in->steps_left -= n;
    if (in->steps_left > 0)
        return;
    in->launch->gave_up = true;
    interp_stop(in);
}

void interp_eval(Interp *in, Code *code)
{
    for (;;) {
        switch (code->kind) {
        case CODE_PLACE:
            return;
        case CODE_PART:
            code = code->args[0];
            continue;
        case CODE_LIT:
            interp_literal(in, code);
            return;
        case CODE_SIZE:
            interp_size_value(in, code);
            return;
        case CODE_SCALAR:
            interp_steps(in, 1);
            interp_scalar(in, code);
            interp_count(in, code);
            return;
        case CODE_PRIM:
            interp_steps(in, 1);
            eval_prim(in, code);
            interp_count(in, code);
            return;
        case CODE_LET:
            for (int k = 0; k < code->n - 1; k++)
                interp_eval(in, code->args[k]);
            code = code->args[code->n - 1];
            continue;
        case CODE_TUPLE: {
            for (int k = 0; k < code->n; k++)
                interp_eval(in, code->args[k]);
            int at = code->at;
            for (int k = 0; k < code->n; k++) {
                copy_cells(in, at, code->args[k]->at, code->args[k]->shape->n);
                at += code->args[k]->shape->n;
            }
            return;
        }
        case CODE_IF:
            interp_eval(in, code->args[0]);
            interp_count(in, code);
            interp_choose(in, code, code->args[0], code->args[1], code->args[2]);
            return;
        }
    }
}
