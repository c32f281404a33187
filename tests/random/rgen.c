/* Random programs: sizes, inputs, levels, memory. */
#include "rgen.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- sizes and inputs -------------------------------------------------------------------------------------------------------------------------- */

void make_names(Gen *g)
{
    static const char *const names[NAMES_MAX] = {"n", "m"};
    static const int units[] = {2, 32, 32, 64, 96, 100, 128, 192, 256}, leasts[] = {1, 2, 5, 8, 20, 33}, factors[] = {2, 4, 8, 16, 32};
    g->p->n_names = chance(g, 6) ? 0 : chance(g, 30) ? 2 : 1;
    for (int k = 0; k < g->p->n_names; k++) {
        RAtom *a = POOL_NEW(g->p->pool, RAtom);
        *a = (RAtom){.kind = ATOM_NAME, .name = names[k], .unit = 1};
        if (chance(g, 30))
            a->unit = units[below(g, 9)];
        if (chance(g, 30))
            a->least = a->unit > 1 ? 1 : leasts[below(g, 6)];
        if (a->unit == 1 && chance(g, 25))
            a->by = factors[below(g, 5)]; /* inputs have lengths like 32*n */
        g->p->names[k] = a;
    }
}

static RSize name_size(Gen *g)
{
    const RAtom *a = g->p->names[below(g, g->p->n_names)];
    return (RSize){a->by && chance(g, 70) ? a->by : a->unit, a, 0};
}

static const RType *random_elem(Gen *g)
{
    if (chance(g, 85))
        return type_of_scalar(g->p, random_scalar(g));
    RType *t = POOL_NEW(g->p->pool, RType);
    t->kind = R_TUPLE;
    t->n = 2 + below(g, 2);
    for (int k = 0; k < t->n; k++)
        t->items[k] = type_of_scalar(g->p, random_scalar(g));
    return t;
}

static const RType *random_array(Gen *g)
{
    const RType *t = random_elem(g);
    int rank = chance(g, 55) ? 1 : chance(g, 75) ? 2 : 3, named = g->p->n_names && chance(g, 88) ? below(g, rank) : -1;
    for (int k = 0; k < rank; k++) {
        bool name = k == named || (g->p->n_names && rank == 2 && chance(g, 15));
        RSize s = name ? name_size(g) : size_const(rank == 1 ? random_count(g) : 1 + below(g, rank == 2 ? 40 : 9));
        t = type_of_array(g->p, s, t);
    }
    return t;
}

RVar *input_new(Gen *g, const RType *type)
{
    if (g->p->n_inputs == INPUTS_MAX)
        return NULL;
    RVar *v = POOL_NEW(g->p->pool, RVar);
    v->name = pool_printf(g->p->pool, "%c%s", 'a' + g->p->n_inputs, "s");
    if (strcmp(v->name, "as") == 0 || strcmp(v->name, "is") == 0)
        v->name = pool_printf(g->p->pool, "xs");
    v->type = type;
    v->input = true;
    return g->p->inputs[g->p->n_inputs++] = v;
}

RVar *input_of(Gen *g, const RType *type)
{
    for (int k = 0; k < g->p->n_inputs; k++)
        if (rtype_equal(g->p->inputs[k]->type, type) && chance(g, 60))
            return g->p->inputs[k];
    return input_new(g, type);
}

static void make_defs(Gen *g)
{
    int n = chance(g, 40) ? 1 + below(g, 2) : 0;
    for (int k = 0; k < n; k++) {
        RDef *d = POOL_NEW(g->p->pool, RDef);
        d->is_operator = chance(g, 40);
        d->name = pool_printf(g->p->pool, d->is_operator ? "op%d" : "f%d", k);
        Scalar t = random_scalar(g);
        while (d->is_operator && t == SC_BOOL)
            t = random_scalar(g);
        d->n = d->is_operator ? 2 : 1 + below(g, 3); /* what its body may mention */
        for (int i = 0; i < d->n; i++) {
            d->params[i] = var_new(g, type_of_scalar(g->p, d->is_operator || chance(g, 70) ? t : random_scalar(g)));
            scope_push(g, d->params[i]);
        }
        if (d->is_operator) {
            Node *args[2] = {node_var(g, d->params[0]), node_var(g, d->params[1])};
            d->body = node_prim(g, chance(g, 50) ? P_add : P_max, 2, args);
        } else
            d->body = random_value_of(g, d->params[below(g, d->n)], t, 2);
        g->n_scope = 0;
        g->p->defs[g->p->n_defs++] = d;
    }
}

/* ---- levels ------------------------------------------------------------------------------------------------------------------------------------------- */

typedef enum Place { AT_LEAF, AT_BLOCK, AT_WARP } Place;
typedef struct Level {
    PrimId map;
    int axis;
} Level;

static Node *in_block(Gen *g, RVar *v);
static Node *in_warp(Gen *g, RVar *v);

static int rank_wanted(const Gen *g, Place place)
{
    return place == AT_LEAF ? 0 : place == AT_WARP ? 1 : g->by_threads ? (g->by_warps && g->thread_axes < 2 ? 2 : g->thread_axes) : 2;
}

static Node *at_place(Gen *g, Place place, RVar *v)
{
    return place == AT_BLOCK ? in_block(g, v) : place == AT_WARP ? in_warp(g, v) : random_leaf(g, v, 2 + below(g, 2));
}

static Node *map_node(Gen *g, Level level, RVar *x, Node *body, Node *xs)
{
    Node *args[2] = {node_lambda(g, 1, &x, body), xs};
    Node *e = node_prim(g, level.map, 2, args);
    e->axis = level.axis;
    if (level.map == P_mapThreads && chance(g, 4)) {
        e->place[0] = 1 + below(g, 4);
        e->place[1] = below(g, 8);
    }
    return e;
}

/* Maps over xs at these levels, the outermost first, with views between them; then what stands at `place`. */
static Node *stage(Gen *g, Node *xs, const Level *levels, int n, Place place)
{
    int scope = g->n_scope, rank = n + rank_wanted(g, place);
    xs = views_to_rank(g, random_views(g, xs, below(g, 3)), rank);
    RVar *x = var_new(g, xs->type->elem);
    scope_push(g, x);
    Node *body = n > 1 ? stage(g, node_var(g, x), levels + 1, n - 1, place) : at_place(g, place, x);
    g->n_scope = scope;
    Node *e = map_node(g, levels[0], x, body, xs);
    return chance(g, 5) ? random_scatter(g, e) : random_write_views(g, e, below(g, 3));
}

/* The same without any view, so that each thread finds in its registers what it put there; the element becomes a scalar. */
static Node *plain_stage(Gen *g, Node *xs, const Level *levels, int n)
{
    int scope = g->n_scope;
    RVar *x = var_new(g, xs->type->elem);
    scope_push(g, x);
    Node *body = n > 1 ? plain_stage(g, node_var(g, x), levels + 1, n - 1) : random_flat(g, x, 2);
    g->n_scope = scope;
    return map_node(g, levels[0], x, body, xs);
}

static bool constant_sizes(const RType *t, int n)
{
    for (; n > 0; n--, t = t->elem)
        if (!size_is_const(t->size))
            return false;
    return true;
}

/* A readable array of the same length beside private values, sometimes. */
static Node *with_company(Gen *g, Node *xs, int n_levels)
{
    if (n_levels > 1 || !chance(g, 35))
        return xs;
    RVar *v = input_of(g, type_of_array(g->p, xs->type->size, type_of_scalar(g->p, random_scalar(g))));
    if (!v)
        return xs;
    Node *args[2] = {xs, node_var(g, v)};
    return node_prim(g, P_zip, 2, args);
}

/* A chain through the registers of the threads. NULL where the sizes are not known. */
static Node *private_chain(Gen *g, Node *xs, const Level *levels, int n)
{
    xs = views_to_rank(g, xs, n);
    if (!constant_sizes(xs->type, n))
        return NULL;
    Node *e = plain_stage(g, xs, levels, n);
    int steps = 1 + below(g, 2);
    for (int k = 0; k < steps; k++)
        e = plain_stage(g, with_company(g, node_prim1(g, P_toPrivate, e), n), levels, n);
    return random_write_views(g, e, below(g, 2));
}

/* ---- in a block ------------------------------------------------------------------------------------------------------------------------------------------ */

static int thread_levels(Gen *g, Level *levels)
{
    int n = g->thread_axes;
    for (int k = 0; k < n; k++)
        levels[k] = (Level){P_mapThreads, n - 1 - k};
    if (n > 1 && chance(g, 25)) {
        Level l = levels[0];
        levels[0] = levels[n - 1];
        levels[n - 1] = l;
    }
    return n;
}

static Node *block_stage(Gen *g, Node *xs)
{
    Level levels[3] = {{P_mapWarp, 0}};
    if (g->by_warps && (!g->by_threads || chance(g, 50)))
        return stage(g, xs, levels, 1, AT_WARP);
    int n = thread_levels(g, levels);
    if (n == 1 && chance(g, 12)) {
        Node *e = below(g, 2) ? NULL : random_row_fold(g, views_to_rank(g, xs, 2), P_mapThreads, chance(g, 60) ? P_toPrivate : P_toShared);
        e = e || !rtype_is_flat(xs->type->elem) ? e : random_hits(g, xs, P_mapThreads);
        if (e)
            return e;
    }
    Node *e = chance(g, 20) ? private_chain(g, random_views(g, xs, below(g, 2)), levels, n) : NULL;
    return e ? e : stage(g, xs, levels, n, AT_LEAF);
}

enum { SHARED_MAX = 3000 };

/* How it lies in shared memory. */
static void lay_out(Gen *g, Node *e)
{
    const RType *t = e->type;
    while (t->elem->kind == R_ARRAY)
        t = t->elem;
    e->axis = 1 + below(g, size_is_const(t->size) ? SWIZZLE : SWIZZLE - 1);
}

/* Each element of a shared array, that nothing else reads, is replaced. */
static Node *in_place(Gen *g, Node *xs)
{
    Level levels[3];
    int n = thread_levels(g, levels), scope = g->n_scope;
    if (rtype_rank(xs->type) != n || !g->by_threads)
        return xs;
    const RType *t = xs->type;
    while (t->kind == R_ARRAY)
        t = t->elem;
    if (t->kind != R_SCALAR)
        return xs;
    Node *cells = xs;
    for (int k = 0; k < n; k++) { /* maps from the outside in */
        levels[k].map = P_mapThreads;
        levels[k].axis = n - 1 - k;
    }
    RVar *vars[3];
    t = xs->type;
    for (int k = 0; k < n; k++, t = t->elem)
        vars[k] = var_new(g, t->elem);
    scope_push(g, vars[n - 1]);
    Node *body = random_value_of(g, vars[n - 1], vars[n - 1]->type->scalar, 2);
    g->n_scope = scope;
    for (int k = n - 1; k >= 0; k--)
        body = map_node(g, levels[k], vars[k], body, k ? node_var(g, vars[k - 1]) : cells);
    Node *e = node_prim1(g, P_toShared, body);
    e->axis = IN_PLACE;
    return e;
}

static Node *in_block(Gen *g, RVar *v)
{
    int scope = g->n_scope, n_lets = 0, stores = below(g, 10), n = stores < 3 ? 0 : stores < 7 ? 1 : stores < 9 ? 2 : 3;
    RVar *lets[3];
    Node *values[3], *cur = node_var(g, v);
    for (int k = 0; k < n; k++) {
        Node *e = block_stage(g, cur);
        if (e->type->kind != R_ARRAY)
            break;
        bool shared = rtype_volume(e->type) <= SHARED_MAX && chance(g, 85);
        if (chance(g, 5)) {
            Node *cell = random_atomic(g, e);
            e = cell ? cell : e;
        }
        cur = node_prim1(g, shared ? P_toShared : P_toGlobal, e);
        if (shared && chance(g, 15))
            lay_out(g, cur);
        else if (shared && chance(g, 12))
            cur = in_place(g, cur);
        if (shared && g->by_threads && g->thread_axes == 1 && chance(g, 15)) {
            Node *halved = random_iterate(g, cur, P_mapThreads, P_toShared);
            cur = halved ? halved : cur;
        }
        if (chance(g, 40)) {
            RVar *s = var_new(g, cur->type);
            lets[n_lets] = s;
            values[n_lets++] = cur;
            scope_push(g, s);
            cur = node_var(g, s);
        }
    }
    Node *e = block_stage(g, cur);
    g->n_scope = scope;
    for (int k = n_lets - 1; k >= 0; k--)
        e = node_let(g, lets[k], values[k], e);
    return e;
}

/* ---- in a warp -------------------------------------------------------------------------------------------------------------------------------------------- */

/* Values of the lanes' registers after a shuffle, or beside one. */
static Node *shuffled(Gen *g, Node *xs, bool named)
{
    static const PrimId ids[] = {P_shflDown, P_shflUp, P_shflXor, P_broadcast};
    if (!named && chance(g, 20))
        return random_shfl(g, xs);
    Node *e = node_prim_k(g, ids[below(g, 4)], below(g, 32), xs);
    e->named = named;
    return e;
}

static Node *lane_map(Gen *g, Node *xs)
{
    Level lane = {P_mapLane, 0};
    return plain_stage(g, xs, &lane, 1);
}

/* Scalars of the same type, as a tree or a scan wants them: op of a lane's value and another's. */
static Node *unrolled(Gen *g, Node *xs)
{
    static const int down[] = {16, 8, 4, 2, 1}, up[] = {1, 2, 4, 8, 16};
    RVar *x = var_new(g, xs->type), *pair;
    Node *zips[2] = {node_var(g, x), shuffled(g, node_var(g, x), true)};
    Node *both = node_prim(g, P_zip, 2, zips);
    pair = var_new(g, both->type->elem);
    Node *parts[2] = {node_proj(g, node_var(g, pair), 0), node_proj(g, node_var(g, pair), 1)};
    static const PrimId ops[] = {P_add, P_min, P_max, P_sub};
    PrimId op = xs->type->elem->scalar == SC_BOOL ? P_or : ops[below(g, 4)];
    Node *body = node_prim1(g, P_toPrivate, map_node(g, (Level){P_mapLane, 0}, pair, node_prim(g, op, 2, parts), both));
    Node *e = node_new(g, N_UNROLL);
    e->n = 2;
    e->args[0] = xs;
    e->args[1] = node_lambda(g, 1, &x, body);
    e->args[1]->partial = false;
    e->n_list = 5;
    memcpy(e->list, chance(g, 50) ? down : up, sizeof down);
    return node_done(g, e);
}

/* std.warp's trees. */
static Node *warp_tree(Gen *g, Node *xs)
{
    RVar *vars[2] = {var_new(g, xs->type->elem), var_new(g, xs->type->elem)};
    Node *args[2] = {node_var(g, vars[0]), node_var(g, vars[1])};
    PrimId op = xs->type->elem->scalar == SC_BOOL ? P_and : chance(g, 50) ? P_add : P_max;
    Node *e = node_new(g, N_TREE);
    e->value = below(g, 3);
    e->n = 2;
    e->args[0] = node_lambda(g, 2, vars, node_prim(g, op, 2, args));
    e->args[1] = xs;
    return node_done(g, e);
}

static Node *in_lanes(Gen *g, Node *xs)
{
    Node *e = lane_map(g, xs);
    int steps = 1 + below(g, 3);
    for (int k = 0; k < steps; k++) {
        bool full = size_equal(e->type->size, size_const(32));
        Node *p = node_prim1(g, P_toPrivate, e);
        RVar *v = var_new(g, p->type);
        if (full && e->type->elem->kind == R_SCALAR && chance(g, 12))
            return warp_tree(g, p);
        if (full && e->type->elem->kind == R_SCALAR && chance(g, 15))
            return lane_map(g, random_reduce_warp(g, p));
        if (full && e->type->elem->kind == R_SCALAR && chance(g, 20))
            e = lane_map(g, unrolled(g, p));
        else if (full && chance(g, 75)) {
            Node *own = node_var(g, v), *other = shuffled(g, node_var(g, v), false);
            Node *zips[3] = {own, other, NULL};
            if (chance(g, 30))
                e = lane_map(g, shuffled(g, p, false));
            else {
                int n = chance(g, 25) ? 3 : 2;
                if (n == 3)
                    zips[2] = shuffled(g, node_var(g, v), false);
                e = node_let(g, v, p, lane_map(g, node_prim(g, n == 3 ? P_zip3 : P_zip, n, zips)));
            }
        } else
            e = lane_map(g, with_company(g, p, 1));
    }
    if (chance(g, 40)) {
        Node *p = node_prim1(g, P_toPrivate, e);
        int64_t n = p->type->size.add;
        if (n > 1)
            p = node_prim_k(g, chance(g, 50) ? P_take : P_drop, 1 + below(g, (int)n - 1), p);
        e = lane_map(g, p);
    }
    return random_write_views(g, e, below(g, 2));
}

static Node *in_warp(Gen *g, RVar *v)
{
    Level lane = {P_mapLane, 0};
    Node *xs = random_views(g, node_var(g, v), below(g, 2));
    if (chance(g, 75)) {
        if (chance(g, 70) && !size_equal(xs->type->size, size_const(32))) { /* a whole warp: 32 columns */
            if (size_divides(32, xs->type->size))
                xs = node_prim1(g, P_transpose, node_prim_k(g, P_split, 32, xs));
            else if (size_least(xs->type->size) >= 32)
                xs = node_prim_k(g, P_take, 32, xs);
        }
        if (size_is_const(xs->type->size) && xs->type->size.add >= 1)
            return in_lanes(g, xs);
    }
    if (chance(g, 35)) {
        Node *e = stage(g, xs, &lane, 1, AT_LEAF);
        if (e->type->kind == R_ARRAY && rtype_volume(e->type) <= SHARED_MAX / 16)
            return stage(g, node_prim1(g, chance(g, 80) ? P_toShared : P_toGlobal, e), &lane, 1, AT_LEAF);
        return e;
    }
    return stage(g, xs, &lane, 1, AT_LEAF);
}

/* ---- whole programs ------------------------------------------------------------------------------------------------------------------------------------------ */

typedef enum Shape { BY_GLOBAL, BY_BLOCK, ONE_BLOCK, BLOCKS_ONLY, ONE_THREAD, N_SHAPES } Shape;

Node *random_source(Gen *g)
{
    RVar *v = input_of(g, random_array(g));
    if (!v)
        v = g->p->inputs[0];
    for (int k = 0; v->type->kind != R_ARRAY || v->type->elem->kind == R_IDX; k++)
        v = g->p->inputs[k];
    return node_var(g, v);
}

static Node *output_from(Gen *g, Shape shape, int axes, Node *xs)
{
    Level levels[3];
    for (int k = 0; k < axes; k++)
        levels[k] = (Level){shape == BY_GLOBAL ? P_mapGlobal : P_mapBlock, axes - 1 - k};
    switch (shape) {
    case BY_GLOBAL:
        if (axes == 1 && chance(g, 6)) /* each thread reads back what it wrote */
            return plain_stage(g, node_prim1(g, P_toGlobal, plain_stage(g, xs, levels, 1)), levels, 1);
        return stage(g, xs, levels, axes, AT_LEAF);
    case BY_BLOCK: return stage(g, xs, levels, axes, AT_BLOCK);
    case BLOCKS_ONLY: return stage(g, xs, levels, axes, AT_LEAF);
    case ONE_BLOCK: return in_block(g, xs->vars[0]); /* without an outer map there is no element: the input itself */
    default: return random_leaf(g, xs->vars[0], 3);
    }
}

/* The grid goes on with what it made. */
static Node *finished(Gen *g, Node *e)
{
    static const PrimId ids[] = {P_nextKernel, P_nextKernel, P_lastBlock, P_gridSync};
    PrimId id = ids[below(g, 4)];
    int scope = g->n_scope;
    RVar *v = var_new(g, e->type);
    scope_push(g, v);
    Shape shape = chance(g, 50) ? BY_GLOBAL : id == P_lastBlock || chance(g, 40) ? ONE_BLOCK : BY_BLOCK;
    if (shape == BY_GLOBAL)
        g->thread_axes = 1;
    Node *body = output_from(g, shape, 1, node_var(g, v));
    g->n_scope = scope;
    Node *args[2] = {node_lambda(g, 1, &v, body), e};
    return node_prim(g, id, 2, args);
}

static Node *output(Gen *g, Shape shape, int axes, bool alone)
{
    Node *xs = random_source(g);
    if (shape == BY_GLOBAL && chance(g, 4) && rtype_is_flat(xs->type->elem)) {
        Node *e = random_hits(g, xs, P_mapGlobal);
        if (e)
            return e;
    }
    Node *e = alone && shape == BY_BLOCK && g->by_threads && g->thread_axes == 1 && chance(g, 9) ? random_block_scan(g, xs) : NULL;
    if (!e)
        e = output_from(g, shape, axes, xs);
    if (chance(g, 7)) {
        Node *cell = random_atomic(g, e);
        e = cell ? cell : e;
    }
    for (int k = 0; k < 2 && alone && shape != ONE_THREAD && shape != BLOCKS_ONLY && e->type->kind == R_ARRAY && chance(g, 16); k++)
        e = finished(g, e);
    Node *repeated = alone && shape != ONE_THREAD && shape != BLOCKS_ONLY && chance(g, 12) ? random_repeated(g, e) : NULL;
    return repeated ? repeated : e;
}

static Shape choose_shape(Gen *g, int *axes)
{
    int k = below(g, 100);
    Shape shape = k < 30 ? BY_GLOBAL : k < 82 ? BY_BLOCK : k < 92 ? ONE_BLOCK : k < 97 ? BLOCKS_ONLY : ONE_THREAD;
    *axes = chance(g, 70) ? 1 : chance(g, 75) ? 2 : 3;
    g->thread_axes = chance(g, 75) ? 1 : chance(g, 75) ? 2 : 3;
    g->by_warps = chance(g, 40);
    g->by_threads = !g->by_warps || (g->thread_axes == 1 && chance(g, 40));
    if (shape == BY_GLOBAL || !g->by_threads)
        g->thread_axes = 1;
    return shape;
}

static void make_launch(Gen *g, Shape shape)
{
    static const int threads[] = {32, 32, 64, 64, 96, 128, 128, 256, 512, 1024};
    /* On axis x; what other axes want multiplies it, 8 for mapGlobal[y]. */
    if (shape != ONE_THREAD && shape != BLOCKS_ONLY && g->thread_axes == 1 && chance(g, 25))
        g->p->threads = threads[below(g, shape == BY_GLOBAL ? 7 : 10)];
    if ((shape == BY_BLOCK || shape == BY_GLOBAL) && chance(g, 12))
        g->p->blocks = 1 + below(g, 9);
    if (chance(g, 12))
        g->p->tunable = 32;
}

RProgram *generate_program(Pool *pool, uint64_t seed, const bool scalars[SC_COUNT])
{
    RProgram *p = POOL_NEW(pool, RProgram);
    p->pool = pool;
    Gen g = {.p = p, .rng = seed * 0x2545f4914f6cdd1du + 0x9e37, .scalars = scalars};
    int axes;
    make_defs(&g); /* first: they know none of the entry's sizes */
    make_names(&g);
    if (chance(&g, 20)) {
        RVar *a = input_new(&g, type_of_scalar(p, random_scalar(&g)));
        scope_push(&g, a);
    }
    Shape shape = choose_shape(&g, &axes);
    int outputs = chance(&g, 78) ? 1 : 2 + below(&g, 2);
    Node *items[3];
    for (int k = 0; k < outputs; k++)
        items[k] = output(&g, shape, axes, outputs == 1);
    if (outputs == 1) {
        const RType *t = items[0]->type;
        p->body = items[0];
        if (t->kind == R_ARRAY && t->elem->kind == R_TUPLE && t->elem->n == 2 && chance(&g, 30))
            p->body = node_prim1(&g, P_unzip, p->body);
        else if (t->kind == R_ARRAY && size_equal(t->size, size_const(1)) && chance(&g, 60))
            p->body = node_prim1(&g, P_single, p->body);
        else if (t->kind == R_ARRAY && chance(&g, 6)) {
            Node *zips[2] = {p->body, node_copy(p, p->body)};
            p->body = node_prim(&g, P_zip, 2, zips);
        }
    } else {
        Node *e = node_new(&g, N_TUPLE);
        e->n = outputs;
        memcpy(e->args, items, sizeof *items * (size_t)outputs);
        p->body = node_done(&g, e);
    }
    if (chance(&g, 6))
        p->body = random_size_test(&g, p->body);
    make_launch(&g, shape);
    return p;
}
