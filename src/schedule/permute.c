/* Elements in another order of their axes. With as few axes as lie apart in memory, an array
 *
 *   generate(a, b, c, d => xs[d][b][a][c])
 *
 * is a transposition of matrices. The columns of a matrix are neighbours in memory: they go through the last axes there. The rows are neighbours in the result: they go
 * through its last axes. The other axes say which matrix it is. Here a row has the index d of the result, and a column the indices b, a and c:
 *
 *   xs: d.(b.a.c)  ->  transposed: (b.a.c).d  ->  split: b.a.c.d  ->  its axes exchanged: a.b.c.d
 *
 * An axis that could belong to both belongs to the columns, unless the rows are short: sizes choose between the ways to take axes. Where boxes are small (boxes.c), they come first. */
#include "ir/terms.h"
#include "schedule/permute.h"
#include "schedule/shape.h"

enum {
    RANK = 4, /* the library copies arrays with as many axes */
    LONG_ENOUGH = 256, /* elements that lie beside each other: more are hardly faster */
    MOST_WAYS = 4,     /* strategies.patterns follows as many by size */
    FEW_WAYS = 2,      /* beside boxes: the one with the fewest rows, and the one with the most */
};

/* Which axes are rows and columns. The others come first. */
typedef struct Groups {
    int n_rows; /* the last ones of the result */
    int n_columns; /* the last ones in memory */
} Groups;

typedef struct Along {
    const Permute *p;
    int reads[MOST_AXES]; /* by axis: those whose neighbours lie along it */
} Along;

static void count_along(void *user, Core *read)
{
    Along *a = user;
    const Nest *nest = a->p->nest;
    Nat flat = flat_index(a->p->ctx, read);
    for (int i = 0; i < nest->n_axes; i++)
        a->reads[i] += nat_mentions(flat, nest->axes[i]->nat) && is_next(a->p->ctx, a->p->entry, flat, nest->axes[i]->nat);
}

/* The axis along which an array is read whose elements are written along the last axis; -1: there is none. */
static int axis_read_along(const Permute *p)
{
    const Nest *nest = p->nest;
    Along along = {.p = p};
    int last = nest->n_axes - 1, most = last;
    each_read(nest->element, count_along, &along);
    for (int i = 0; i < nest->n_axes; i++) {
        if (along.reads[i] > along.reads[most])
            most = i;
        for (int k = 0; k < nest->n_axes; k++)
            if (nat_mentions(nest->axes[k]->type->size, nest->axes[i]->nat))
                return -1;
    }
    return most == last || along.reads[last] > 0 ? -1 : most;
}

/* The array over its axes, of which the first ones are one. */
static Core *first_merged(const Permute *p, int merged, CoreVar **flat)
{
    const Nest *nest = p->nest;
    Core *term = flattened(p->ctx, merged, nest->axes, nest->element, flat, p->next_var);
    for (int i = nest->n_axes - 1; i >= merged; i--)
        term = make_generate(p->ctx, nest->axes[i], term, term->span);
    return make_generate(p->ctx, *flat, term, term->span);
}

/* The library has programs for elements over four axes: of more, the first ones are one. */
static Core *over_four_axes(const Permute *p)
{
    int merged = p->nest->n_axes - RANK + 1;
    CoreVar *flat;
    return merged < 2 ? NULL : rows_split(p->ctx, p->entry, merged, p->nest->axes, first_merged(p, merged, &flat), p->next_var);
}

/* The order in memory of a read along this axis; of the axis alone, where no read is of all axes. */
static void find_memory(Permute *p, const Axes *a, int across)
{
    p->memory[0] = across;
    p->n_memory = 1;
    for (int r = 0; r < a->reads.n; r++) {
        const MemoryRead *read = &a->reads.at[r];
        if (read->n <= p->n_memory || read->order[read->n - 1] != across)
            continue;
        p->n_memory = read->n;
        for (int k = 0; k < read->n; k++)
            p->memory[k] = read->order[k];
    }
}

/* As many columns as there are behind the rows. */
static Groups with_rows(const Permute *p, int n_rows)
{
    Groups groups = {n_rows, 0};
    for (int k = p->n_memory - 1; k >= 0 && p->memory[k] < p->nest->n_axes - n_rows; k--)
        groups.n_columns++;
    return groups;
}

static bool is_column(const Permute *p, Groups groups, int axis)
{
    for (int k = p->n_memory - groups.n_columns; k < p->n_memory; k++)
        if (p->memory[k] == axis)
            return true;
    return false;
}

/* An array of arrays with the dimensions at this depth and at the next one exchanged. */
static Core *exchanged(const Permute *p, int depth, Core *array)
{
    if (depth == 0)
        return transposed(p->ctx, array);
    CoreVar *row = make_var(p->ctx, p->next_var, "row", array->type->elem, array->span);
    return make_map(p->ctx, row, exchanged(p, depth - 1, make_ref(p->ctx, row, array->span)), array);
}

Core *in_order_of_result(const Permute *p, int *axes, Core *all)
{
    for (int to = 0; to < p->nest->n_axes; to++) {
        int at = to;
        while (axes[at] != to)
            at++;
        for (; at > to; at--) {
            all = exchanged(p, at - 1, all);
            axes[at] = axes[at - 1];
            axes[at - 1] = to;
        }
    }
    return all;
}

static Core *transposed_by(const Permute *p, Groups groups)
{
    Ctx *ctx = p->ctx;
    const Nest *nest = p->nest;
    int order[MOST_AXES], n = 0, before = nest->n_axes - groups.n_rows - groups.n_columns;
    for (int i = 0; i < nest->n_axes - groups.n_rows; i++)
        if (!is_column(p, groups, i))
            order[n++] = i;
    for (int k = p->n_memory - groups.n_columns; k < p->n_memory; k++)
        order[n++] = p->memory[k];
    for (int i = nest->n_axes - groups.n_rows; i < nest->n_axes; i++)
        order[n++] = i;
    CoreVar *axes[MOST_AXES], *which, *column, *row;
    for (int i = 0; i < n; i++)
        axes[i] = nest->axes[order[i]];
    Core *element = flattened(ctx, groups.n_rows, axes + before + groups.n_columns, nest->element, &row, p->next_var);
    element = flattened(ctx, groups.n_columns, axes + before, element, &column, p->next_var);
    if (before > 0)
        element = flattened(ctx, before, axes, element, &which, p->next_var);
    Core *all = array_over(ctx, row, array_over(ctx, column, element));
    if (before > 0) {
        Core *matrices = array_over(ctx, which, all);
        CoreVar *each = make_var(ctx, p->next_var, "matrix", matrices->type->elem, element->span);
        all = make_map(ctx, each, transposed(ctx, make_ref(ctx, each, element->span)), matrices);
    } else {
        all = transposed(ctx, all);
    }
    int depth = before > 0;
    all = split_within(ctx, p->next_var, all, depth + 1, groups.n_rows, axes + before + groups.n_columns);
    all = split_within(ctx, p->next_var, all, depth, groups.n_columns, axes + before);
    return in_order_of_result(p, order, split_within(ctx, p->next_var, all, 0, before, axes));
}

static Nat size_of(const Permute *p, const int *axes, int n)
{
    Nat size = nat_const(p->ctx, 1);
    for (int i = 0; i < n; i++)
        size = nat_mul(p->ctx, size, p->nest->axes[axes[i]]->type->size);
    return size;
}

static Nat columns_of(const Permute *p, Groups groups) { return size_of(p, p->memory + p->n_memory - groups.n_columns, groups.n_columns); }

static Nat rows_of(const Permute *p, Groups groups)
{
    int axes[MOST_AXES];
    for (int i = 0; i < groups.n_rows; i++)
        axes[i] = p->nest->n_axes - groups.n_rows + i;
    return size_of(p, axes, groups.n_rows);
}

/* All ways to take axes for rows and columns, those with the fewest rows first. Of ways with the same columns, the one with the most rows. */
static int find_ways(const Permute *p, Groups *ways)
{
    int n = 0, across = p->memory[p->n_memory - 1];
    for (int n_rows = 1; n_rows < p->nest->n_axes - across; n_rows++) {
        Groups way = with_rows(p, n_rows);
        n -= n > 0 && (n == MOST_WAYS || ways[n - 1].n_columns == way.n_columns);
        ways[n++] = way;
    }
    return n;
}

/* More rows are no gain where there are enough, or where the columns that are left would be fewer. */
static Core *transpositions(const Permute *p)
{
    Ctx *ctx = p->ctx;
    Groups ways[MOST_WAYS];
    int n = find_ways(p, ways);
    if (n > FEW_WAYS && has_boxes(p)) {
        ways[FEW_WAYS - 1] = ways[n - 1];
        n = FEW_WAYS;
    }
    Core *term = transposed_by(p, ways[n - 1]);
    for (int i = n - 2; i >= 0; i--) {
        Nat enough = nat_min(ctx, nat_const(ctx, LONG_ENOUGH), columns_of(p, ways[i + 1])), rows = rows_of(p, ways[i]);
        if (nat_lt(ctx, p->entry->known, rows, enough))
            continue;
        Core *way = transposed_by(p, ways[i]), *stay = make_compare(ctx, P_le, enough, rows, term->span);
        term = nat_le(ctx, p->entry->known, enough, rows) ? way : make_if(ctx, stay, way, term, term->span);
    }
    return all_or_none(ctx, p->entry, p->nest, in_boxes(p, term), p->next_var);
}

/* An array of which each element is read once, with its dimensions in the order of the axes. NULL: the element is something else. */
static Core *in_other_order(const Permute *p)
{
    const Nest *nest = p->nest;
    int rank, order[MOST_AXES];
    const Core *read = nest->element, *first, *base = term_base(read, &rank, &first);
    if (base->kind != CORE_VAR || rank != nest->n_axes)
        return NULL;
    for (int at = rank - 1; at >= 0; at--, read = read->prim.args[0]) {
        int axis = 0;
        while (axis < rank && read->prim.nats[1] != nest->axes[axis]->nat)
            axis++;
        if (axis == rank)
            return NULL;
        order[at] = axis;
    }
    for (int i = 0; i < rank; i++)
        for (int k = 0; k < i; k++)
            if (order[i] == order[k])
                return NULL;
    return in_order_of_result(p, order, make_ref(p->ctx, base->var, base->span));
}

/* By a program of the library, or as an array with its dimensions in another order. */
static Core *known_or_ordered(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int *next_var)
{
    const Permute p = {.ctx = ctx, .entry = entry, .nest = nest, .next_var = next_var};
    Core *term = known_term(ctx, entry, nest, next_var);
    return term ? term : in_other_order(&p);
}

Core *permutation(Ctx *ctx, const CoreEntry *entry, const Nest *nest, int *next_var)
{
    Permute p = {.ctx = ctx, .entry = entry, .nest = nest, .next_var = next_var};
    Axes a = {.ctx = ctx, .entry = entry, .next_var = next_var, .element = nest->element, .named = true};
    bool found = axes_of_elements(&a, nest);
    Core *merged = found && a.n != nest->n_axes && a.n >= 2 ? by_merged_axes(&a, nest, known_or_ordered) : NULL;
    if (merged)
        return merged;
    if (nest->n_axes > MOST_AXES)
        return over_four_axes(&p);
    for (int i = 0; i < nest->n_axes; i++)
        found = found && a.list[i].var == nest->axes[i];
    if (!found)
        a.reads.n = 0;
    int across = axis_read_along(&p);
    find_memory(&p, &a, across < 0 ? nest->n_axes - 1 : across);
    if (across >= 0)
        return transpositions(&p);
    if (!has_boxes(&p))
        return over_four_axes(&p);
    CoreVar *flat;
    int split = nest->n_axes > RANK ? nest->n_axes - RANK + 1 : 1;
    Core *rows = split_within(ctx, next_var, first_merged(&p, split, &flat), 0, split, nest->axes);
    return all_or_none(ctx, entry, nest, in_boxes(&p, rows), next_var);
}
