/* Elements in another order of their axes, by boxes. A block takes a part of one axis, and all of the axes that lie behind it in memory or in the result: as an array of four dimensions,
 *
 *   xs: a.n.b.t  ->  transpose(map(box, transpose(xs))): c.n.d.t
 *
 * where n is that axis, and `box` exchanges the axes of a and b. So in memory the block reads runs of a part of n and all of b, and in the result it writes runs of a part of n and all
 * of d. The axes before n in memory and in the result say which array of four dimensions it is. */
#include "ir/terms.h"
#include "schedule/permute.h"
#include "schedule/row_views.h"
#include "schedule/shape.h"

enum {
    WORD = 16,        /* bytes: what a thread moves at once */
    BOX_WORDS = 768,  /* by the elements of a word: the most elements of a box for one index of n. `permuteEach` of lib/std/matrices.rise moves four of them at once: 48 KiB, which every GPU has */
    FEW_WORDS = 512,  /* by the same: of smaller arrays of four dimensions, a block would have several */
    BOX_RUNS = 128,   /* the most runs of a box: it has 16 KiB, so more are shorter than 128 bytes. A box of bytes may have twice as many */
    SHORT_ROW = 64,   /* bytes */
    SECTOR = 32,      /* bytes: rows of whole ones are copied at once, however short they are */
    MOST_BOXES = 5,   /* ways: strategies.patterns follows as many by size */
    SMALL = 1 << 21,  /* bytes: arrays that stay in a cache, and would be few boxes */
};

typedef struct AxisList {
    int n, at[MOST_AXES];
} AxisList;

typedef struct Box {
    int along;                               /* the axis n */
    AxisList which, before, behind;          /* in memory: z, a and b */
    AxisList result_before, result_behind;   /* in the result: c and d */
} Box;

static void append(AxisList *list, int axis) { list->at[list->n++] = axis; }

static Box box_along(const Permute *p, int along)
{
    Box box = {.along = along};
    bool behind = false, read_before[MOST_AXES] = {false};
    for (int k = 0; k < p->n_memory; k++) {
        int axis = p->memory[k];
        behind = behind || axis == along;
        read_before[axis] = !behind;
        if (axis != along && behind)
            append(&box.behind, axis);
        else if (axis > along)
            append(&box.before, axis);
    }
    for (int axis = 0; axis < p->nest->n_axes; axis++) {
        if (axis < along)
            append(read_before[axis] ? &box.which : &box.result_before, axis);
        else if (axis > along)
            append(&box.result_behind, axis);
    }
    return box;
}

/* Do all axes behind lie in the order of the result? */
static bool keeps_order(const Box *box)
{
    bool same = box->before.n == 0 && box->result_before.n == 0;
    for (int k = 0; k < box->behind.n; k++)
        same = same && box->behind.at[k] == box->result_behind.at[k];
    return same;
}

static void vars_of(const Permute *p, const AxisList *list, CoreVar **vars)
{
    for (int k = 0; k < list->n; k++)
        vars[k] = p->nest->axes[list->at[k]];
}

static Nat count_of(const Permute *p, const AxisList *list)
{
    CoreVar *vars[MOST_AXES];
    vars_of(p, list, vars);
    return axes_count(p->ctx, list->n, vars);
}

/* One index for all of these axes. */
static Nat index_of(const Permute *p, const AxisList *list)
{
    Nat index = nat_const(p->ctx, 0);
    for (int k = 0; k < list->n; k++) {
        const CoreVar *axis = p->nest->axes[list->at[k]];
        index = nat_add(p->ctx, nat_mul(p->ctx, index, axis->type->size), axis->nat);
    }
    return index;
}

static Core *flat_over(const Permute *p, const AxisList *list, Core *element, CoreVar **flat)
{
    CoreVar *vars[MOST_AXES];
    vars_of(p, list, vars);
    return flattened(p->ctx, list->n, vars, element, flat, p->next_var);
}

/* fun box: a.b.t => generate(c, d => its element) */
static Core *layout_of(const Permute *p, const Box *box, CoreVar *slab, Span span)
{
    Ctx *ctx = p->ctx;
    CoreVar *c, *d;
    Core *row = make_index(ctx, make_ref(ctx, slab, span), index_of(p, &box->before), span);
    Core *element = make_index(ctx, row, index_of(p, &box->behind), span);
    element = flat_over(p, &box->result_behind, element, &d);
    element = flat_over(p, &box->result_before, element, &c);
    return make_generate(ctx, c, make_generate(ctx, d, element, span), span);
}

/* The dimension at this depth, by its axes. One of no axes has one element, and goes. */
static Core *by_axes(const Permute *p, Core *array, int depth, const AxisList *list)
{
    CoreVar *vars[MOST_AXES];
    vars_of(p, list, vars);
    if (list->n > 0)
        return split_within(p->ctx, p->next_var, array, depth, list->n, vars);
    if (depth == 0)
        return array_joined(p->ctx, array);
    CoreVar *row = make_var(p->ctx, p->next_var, "row", array->type->elem, array->span);
    if (depth == 1 && row->type->elem->kind != TY_ARRAY) /* the last dimension, behind another one */
        return array_joined(p->ctx, array);
    return make_map(p->ctx, row, by_axes(p, make_ref(p->ctx, row, array->span), depth - 1, list), array);
}

static Core *boxes(const Permute *p, const Box *box)
{
    Ctx *ctx = p->ctx;
    const Nest *nest = p->nest;
    Span span = nest->element->span;
    CoreVar *which, *a, *b, *n = nest->axes[box->along];
    Core *element = flat_over(p, &box->behind, nest->element, &b);
    element = flat_over(p, &box->before, element, &a);
    element = flat_over(p, &box->which, element, &which);
    Core *all = array_over(ctx, which, array_over(ctx, a, array_over(ctx, n, array_over(ctx, b, element))));
    CoreVar *each = make_var(ctx, p->next_var, "each", all->type->elem, span);
    Core *slabs = transposed(ctx, make_ref(ctx, each, span));
    CoreVar *slab = make_var(ctx, p->next_var, "slab", slabs->type->elem, span);
    all = make_map(ctx, each, transposed(ctx, make_map(ctx, slab, layout_of(p, box, slab, span), slabs)), all);
    all = by_axes(p, all, 3, &box->result_behind);
    all = by_axes(p, all, 1, &box->result_before);
    all = by_axes(p, all, 0, &box->which);
    int order[MOST_AXES], k = 0;
    for (int i = 0; i < box->which.n; i++)
        order[k++] = box->which.at[i];
    for (int i = 0; i < box->result_before.n; i++)
        order[k++] = box->result_before.at[i];
    order[k++] = box->along;
    for (int i = 0; i < box->result_behind.n; i++)
        order[k++] = box->result_behind.at[i];
    return in_order_of_result(p, order, all);
}

static Core *and_also(const Permute *p, Core *before, Core *test)
{
    Core *tests[2] = {before, test};
    return before ? make_prim(p->ctx, P_and, before->type, 0, NULL, 2, tests, before->span) : test;
}

/* `before` and low < high, or low <= high. NULL: both are known to hold. */
static Core *and_compared(const Permute *p, Core *before, PrimId id, Nat low, Nat high, bool *never)
{
    const CoreEntry *entry = p->entry;
    bool strict = id == P_lt;
    *never = *never || (strict ? nat_le(p->ctx, entry->known, high, low) : nat_lt(p->ctx, entry->known, high, low));
    bool known = strict ? nat_lt(p->ctx, entry->known, low, high) : nat_le(p->ctx, entry->known, low, high);
    return known ? before : and_also(p, before, make_compare(p->ctx, id, low, high, p->nest->element->span));
}

/* When boxes along this axis are small, and have few runs. False: never. */
static bool box_fits(const Permute *p, const Box *box, Core **when)
{
    Ctx *ctx = p->ctx;
    int word = WORD / scalar_bytes(p->nest->element->type->scalar);
    bool never = false;
    Nat read = count_of(p, &box->before), written = count_of(p, &box->result_before);
    Nat runs = nat_is(read, 1) ? written : nat_is(written, 1) ? read : nat_max(ctx, read, written);
    Nat behind = count_of(p, &box->behind), size = nat_mul(ctx, read, behind);
    Nat padded = nat_mul(ctx, read, nat_add(ctx, behind, nat_const(ctx, 1))); /* as rows in shared memory may have one cell more */
    int last = p->nest->n_axes - 1;
    *when = NULL;
    if (p->memory[last] == last) { /* rows stay rows: longer ones are copied at once */
        Nat row = p->nest->axes[last]->type->size;
        *when = and_compared(p, NULL, P_lt, row, nat_const(ctx, SHORT_ROW * word / WORD), &never);
        *when = and_compared(p, *when, P_le, nat_const(ctx, 1), nat_mod(ctx, row, nat_const(ctx, SECTOR * word / WORD)), &never);
    }
    *when = and_compared(p, *when, P_le, runs, nat_const(ctx, word == WORD ? 2 * BOX_RUNS : BOX_RUNS), &never);
    if (size != runs)
        *when = and_compared(p, *when, P_le, padded, nat_const(ctx, BOX_WORDS * word), &never);
    if (box->which.n > 0) /* smaller ones are transposed several at a time */
        *when = and_compared(p, *when, P_lt, nat_const(ctx, FEW_WORDS * word), nat_mul(ctx, size, p->nest->axes[box->along]->type->size), &never);
    return !never;
}

/* The array element by element, in the order of the result. */
static Core *element_by_element(const Permute *p)
{
    const Nest *nest = p->nest;
    CoreVar *flat;
    Core *element = flattened(p->ctx, nest->n_axes, nest->axes, nest->element, &flat, p->next_var);
    return split_within(p->ctx, p->next_var, make_generate(p->ctx, flat, element, element->span), 0, nest->n_axes, nest->axes);
}

/* The ways, and when they are taken. NULL: always. */
static int box_ways(const Permute *p, Box *ways, Core **when)
{
    int n = 0;
    bool matrices = p->nest->n_axes == 3 && p->memory[0] == 0; /* the library has boxes for those */
    if (p->n_memory != p->nest->n_axes || matrices)
        return 0;
    for (int k = 0; k < p->n_memory && n < MOST_BOXES && (n == 0 || when[n - 1]); k++) {
        ways[n] = box_along(p, p->memory[k]);
        n += !keeps_order(&ways[n]) && box_fits(p, &ways[n], &when[n]);
    }
    return n;
}

bool has_boxes(const Permute *p)
{
    Box ways[MOST_BOXES];
    Core *when[MOST_BOXES];
    return box_ways(p, ways, when) > 0;
}

Core *in_boxes(const Permute *p, Core *otherwise)
{
    Box ways[MOST_BOXES];
    Core *when[MOST_BOXES], *term = otherwise;
    int n = box_ways(p, ways, when);
    bool large = false;
    Nat all = axes_count(p->ctx, p->nest->n_axes, p->nest->axes), most = nat_const(p->ctx, SMALL / scalar_bytes(p->nest->element->type->scalar));
    Core *small = and_compared(p, NULL, P_le, all, most, &large);
    if (n == 0 || (!small && !large))
        return otherwise;
    while (n-- > 0) {
        Core *way = boxes(p, &ways[n]);
        term = when[n] ? make_if(p->ctx, when[n], way, term, term->span) : way;
    }
    return large ? term : make_if(p->ctx, small, element_by_element(p), term, term->span);
}
