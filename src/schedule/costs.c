/* What an element costs, and whether it is cheaper stored, by the table of the device (ir/costs.h). */
#include "schedule/groups.h"
#include "schedule/inline.h"
#include "schedule/shape.h"

typedef struct Part {
    double cost;
    int size;
} Part;

typedef struct Cost {
    const Nest *nest;
    Part sum, shared; /* of what is read; of what others read, too, and is worked out once: the most */
    bool heavy;
} Cost;

static void add_part(Cost *cost, double reads, int size)
{
    cost->sum.cost += reads;
    cost->sum.size += size;
}

static void add_read(const Inline *in, const Core *base, int indices, Cost *cost)
{
    const Info *info = table_get(&in->of_var, base->var);
    if (!info || !info->inlined) { /* an array of fewer axes stays in a cache */
        bool all = indices >= cost->nest->n_axes || base->type->kind == TY_SCALAR; /* a number, in a register */
        add_part(cost, !all ? cost_in_reads(in->costs, COST_cacheAccess) : indices > 0, !all || indices > 0);
    } else if (info->local && info->places > 1) {
        cost->shared.cost = info->cost > cost->shared.cost ? info->cost : cost->shared.cost;
        cost->shared.size = info->size > cost->shared.size ? info->size : cost->shared.size;
    } else {
        add_part(cost, info->cost, info->size);
    }
}

/* A read that stands in several places of an element is one value. */
static void add_cost(Inline *in, const Core *term, Cost *cost)
{
    int indices;
    const Core *first, *base = term_base(term, &indices, &first);
    if (base->kind == CORE_VAR) {
        if (inline_bind_of(in, term))
            return;
        add_read(in, base, indices, cost);
        vec_push(in->ctx, &in->binds, ((Bind){.read = term}));
        return;
    }
    if (term->kind == CORE_PRIM) {
        PrimId id = term->prim.id;
        cost->heavy |= inline_stays(id) || id == P_generate;
        if (prim_rows[id].level == LEVEL_SCALAR)
            add_part(cost, cost_in_reads(in->costs, prim_rows[id].cost), 1);
    }
    for (int i = 0; i < term_children(term); i++) {
        int mark = in->binds.n;
        add_cost(in, term_child(term, i), cost);
        if (inline_opens_scope(term, i))
            in->binds.n = mark;
    }
}

static Cost cost_of(Inline *in, const Nest *nest)
{
    Cost cost = {.nest = nest};
    int mark = in->binds.n;
    add_cost(in, nest->element, &cost);
    in->binds.n = mark;
    return cost;
}

static bool is_heavy(Inline *in, const Nest *nest)
{
    return cost_of(in, nest).heavy || nest->element->type->kind == TY_ARRAY;
}

/* Are both results over the same axes, which nothing reads, element by element? One loop computes them. */
static bool are_of_one_loop(Inline *in, const Info *a, const Info *b)
{
    const Info *both[] = {a, b};
    bool same = same_axes(a->nest, b->nest);
    for (int i = 0; i < 2 && same; i++)
        same = both[i]->whole == 1 && both[i]->reads == 0 && !both[i]->nest->steps &&
               !is_heavy(in, both[i]->nest);
    return same;
}

/* The element that it is a part of, in the end, if there is one for all its readers, or one loop
 * computes them; else itself. */
static Info *part_of(Inline *in, Table *whole, Info *info)
{
    Info *all = NULL;
    for (int i = 0; i < info->readers.n; i++) {
        Info *of = table_get(whole, info->readers.at[i]);
        if (!of || (all && of != all && !are_of_one_loop(in, of, all)))
            return info;
        all = all ? all : of;
    }
    return all ? all : info;
}

/* What is named within one element, however often it is read there, is no array. */
void inline_find_local(Inline *in)
{
    Table whole = {0};
    for (int i = in->infos.n - 1; i >= 0; i--) {
        Info *info = in->infos.at[i];
        bool may = !info->spread && !info->whole && !info->nest->kept && !info->nest->steps && !is_heavy(in, info->nest);
        Info *of = may ? part_of(in, &whole, info) : info;
        info->local = of != info;
        table_put(in->ctx, &whole, info, of);
    }
}

static int64_t bytes_of(Ctx *ctx, Type type)
{
    int64_t bytes = 0;
    for (int i = 0; type->kind == TY_TUPLE && i < type->n_items; i++)
        bytes += bytes_of(ctx, type->items[i]);
    return type->kind == TY_TUPLE ? bytes : (int64_t)type_width(type) * scalar_bytes(type_scalar_of(ctx, type));
}

/* What it takes to store an element. Of an array whose length the program fixes it is known whether
 * it stays in a cache, and what a launch is for each element; others are taken for large ones, and
 * so are numbers, as a kernel of their own is not worth it. */
static StoreCost store_cost(const Inline *in, const Nest *nest)
{
    const Costs *costs = in->costs;
    StoreCost cost = {.write = cost_in_reads(costs, COST_memoryWrite), .read = 1};
    Nat n = inline_cells(in->ctx, nest->var->type);
    if (nest->n_axes == 0 || !nat_is_const(n) || n->value == 0 || type_gives_arrays(nest->element->type))
        return cost;
    Type elem = nest->var->type;
    while (elem->kind == TY_ARRAY)
        elem = elem->elem;
    if (n->value <= costs->of[COST_cacheBytes] / bytes_of(in->ctx, elem))
        cost.write = cost.read = cost_in_reads(costs, COST_cacheAccess);
    const int64_t lanes = costs->of[COST_lanes];
    cost.launch = cost_in_reads(costs, COST_launch) / (double)(n->value > lanes ? n->value : lanes);
    return cost;
}

/* Is it made of folds that it alone reads, each for its own element? Then their kernel computes it. */
static bool is_of_own_folds(const Inline *in, const Info *info)
{
    for (int i = 0; i < in->infos.n; i++) {
        const Info *fold = in->infos.at[i];
        if (term_is(fold->nest->element, P_reduce) && !fold->spread && !fold->whole && fold->readers.n == 1 && fold->readers.at[0] == info)
            return true;
    }
    return false;
}

void inline_choose(Inline *in, Info *info)
{
    const Cost cost = cost_of(in, info->nest);
    double c = cost.sum.cost + cost.shared.cost, r = info->local ? 1 : info->reads;
    info->heavy = cost.heavy || info->nest->element->type->kind == TY_ARRAY;
    info->cost = c;
    info->size = cost.sum.size + cost.shared.size;
    info->stored = store_cost(in, info->nest);
    const StoreCost s = info->stored;
    info->alone = info->whole == 1 && r == 0;
    info->on_chip = info->nest->n_axes >= 2 && info->places > 1 && c > s.read && !info->elsewhere && !info->whole &&
                    !info->heavy && !info->refuted && !info->nest->kept && !info->local;
    /* Where a result is read on, a read more is accepted for one kernel less. */
    double once = (info->whole && info->spread ? s.read : c + s.write) + s.launch;
    bool again = r * (c - s.read) <= (info->by_one ? 0 : once); /* it would be the longer for it */
    bool read_on = info->whole && info->spread;
    bool cheap = (r <= 1 && !read_on) || (again && !(read_on && is_of_own_folds(in, info)));
    info->too_long = info->size > INLINE_LARGEST || (cheap && r >= NEST_MANY && info->size > INLINE_OFTEN);
    info->inlined = !info->alone && !info->heavy && !info->on_chip && !info->nest->kept && !info->too_long && cheap;
}
