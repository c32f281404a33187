/* Random patterns of one thread, of a block, of a warp and of the grid, beside maps, folds and views. */
#include "rgen.h"

#include <stdio.h>

/* ---- parts ------------------------------------------------------------------------------------------------------------------------------------- */

static bool is_const_array(const RType *t) { return t->kind == R_ARRAY && size_is_const(t->size); }
static bool is_number(const RType *t) { return t->kind == R_SCALAR && t->scalar != SC_BOOL; }

/* (+) and the like: a declared operator that can be printed as one. */
static Node *plain_operator(Gen *g, PrimId id, const RType *t)
{
    RVar *vars[2] = {var_new(g, t), var_new(g, t)};
    Node *args[2] = {node_var(g, vars[0]), node_var(g, vars[1])};
    Node *f = node_lambda(g, 2, vars, node_prim(g, id, 2, args));
    f->partial = true;
    return f;
}

static Node *generated(Gen *g, RSize n, Node *value)
{
    Node *e = node_new(g, N_PRIM);
    RVar *i = var_new(g, type_of_idx(g->p, n));
    e->prim = P_generate;
    e->n_sizes = 1;
    e->sizes[0] = n;
    e->n = 1;
    e->args[0] = node_lambda(g, 1, &i, value);
    e->args[0]->partial = false;
    return node_done(g, e);
}

static Node *indices(Gen *g, RSize n, RSize below_what, IndexForm form)
{
    Node *e = node_new(g, N_INDICES);
    e->value = form;
    e->n_sizes = 2;
    e->sizes[0] = n;
    e->sizes[1] = below_what;
    return node_done(g, e);
}

static Node *mapped(Gen *g, PrimId map, RVar *x, Node *body, Node *xs)
{
    Node *args[2] = {node_lambda(g, 1, &x, body), xs};
    return node_prim(g, map, 2, args);
}

/* xs |> map(id) */
static Node *copied(Gen *g, PrimId map, Node *xs)
{
    RVar *x = var_new(g, xs->type->elem);
    return mapped(g, map, x, node_prim1(g, P_id, node_var(g, x)), xs);
}

/* ---- of one thread ------------------------------------------------------------------------------------------------------------------------------- */

enum { KEPT_MAX = 24, ROW_MAX = 16 };

static Node *scan(Gen *g, Node *xs, int depth)
{
    RVar *x = var_new(g, xs->type->elem), *acc = var_new(g, NULL), *vars[2] = {acc, x};
    Node *init = random_lit(g, random_scalar(g));
    acc->type = init->type;
    int scope = g->n_scope;
    scope_push(g, acc);
    scope_push(g, x);
    Node *args[3] = {node_lambda(g, 2, vars, random_fold_step(g, acc, x, depth)), init, xs};
    g->n_scope = scope;
    Node *e = node_prim(g, chance(g, 50) ? P_scanSeq : P_scanSeqExcl, 3, args);
    if (!size_is_const(e->type->size) || e->type->size.add > KEPT_MAX || chance(g, 50))
        return random_write_views(g, e, below(g, 2));
    e = node_prim1(g, P_toPrivate, e);
    return chance(g, 50) ? random_reduce(g, e, depth) : random_seq_map(g, random_views(g, e, below(g, 2)), depth);
}

/* Folds rows into a row of sums, with `map` in both places; sometimes a number goes along. */
Node *random_row_fold(Gen *g, Node *xs, PrimId map, PrimId store)
{
    const RType *row = xs->type->elem;
    if (!is_const_array(row) || row->elem->kind != R_SCALAR || row->size.add > (map == P_mapSeq ? ROW_MAX : 256))
        return NULL;
    bool both = map == P_mapSeq && is_number(row->elem) && chance(g, 30) && row->size.add >= 1;
    Node *start = node_prim1(g, store, copied(g, map, generated(g, row->size, random_lit(g, row->elem->scalar))));
    Node *items[2] = {start, random_lit(g, row->elem->scalar)};
    if (both) {
        Node *pair = node_new(g, N_TUPLE);
        pair->n = 2;
        memcpy(pair->args, items, sizeof items);
        start = node_done(g, pair);
    }
    RVar *acc = var_new(g, start->type), *x = var_new(g, row), *pair = NULL, *vars[2] = {acc, x};
    Node *zips[2] = {both ? node_proj(g, node_var(g, acc), 0) : node_var(g, acc), node_var(g, x)};
    Node *zipped = node_prim(g, P_zip, 2, zips);
    pair = var_new(g, zipped->type->elem);
    Node *parts[2] = {node_proj(g, node_var(g, pair), 0), node_proj(g, node_var(g, pair), 1)};
    static const PrimId ops[] = {P_add, P_sub, P_min, P_max};
    Node *next = node_prim(g, row->elem->scalar == SC_BOOL ? P_ne : ops[below(g, 4)], 2, parts);
    Node *body = node_prim1(g, store, mapped(g, map, pair, next, zipped));
    if (both) {
        Node *more[2] = {node_proj(g, node_var(g, acc), 1), node_prim_k(g, P_index, 0, node_var(g, x))};
        items[0] = body;
        items[1] = node_prim(g, P_add, 2, more);
        body = node_new(g, N_TUPLE);
        body->n = 2;
        memcpy(body->args, items, sizeof items);
        node_done(g, body);
    }
    Node *args[3] = {node_lambda(g, 2, vars, body), start, xs};
    Node *e = node_prim(g, P_reduceSeq, 3, args);
    if (both)
        e = node_proj(g, e, 0);
    return copied(g, map, e);
}

/* Windows of computed values, each read whole. */
static Node *windows(Gen *g, Node *xs, int depth)
{
    int64_t least = size_least(xs->type->size);
    if (least < 1 || rtype_volume(xs->type->elem) > KEPT_MAX)
        return NULL;
    RVar *x = var_new(g, xs->type->elem);
    int scope = g->n_scope;
    scope_push(g, x);
    Node *args[2] = {node_lambda(g, 1, &x, random_value_of(g, x, random_scalar(g), depth)), xs};
    g->n_scope = scope;
    Node *e = node_new(g, N_PRIM);
    e->prim = chance(g, 50) ? P_rotateValues : P_circularBuffer;
    e->n_sizes = 1;
    e->sizes[0] = size_const(1 + below(g, least > 4 ? 4 : (int)least));
    e->n = 2;
    memcpy(e->args, args, sizeof args);
    node_done(g, e);
    if (chance(g, 40))
        return random_reduce(g, e, 1);
    RVar *w = var_new(g, e->type->elem);
    return mapped(g, P_mapSeq, w, random_reduce(g, node_var(g, w), 1), e);
}

/* Halves an array, step by step, by `map`; each step is stored. */
Node *random_iterate(Gen *g, Node *xs, PrimId map, PrimId store)
{
    const RType *t = xs->type;
    if (!is_const_array(t) || t->elem->kind != R_SCALAR || t->size.add % 2 || t->size.add < 2 || (map == P_mapSeq && t->size.add > 2 * KEPT_MAX))
        return NULL;
    int most = 0;
    while (most < 5 && t->size.add % ((int64_t)2 << most) == 0)
        most++;
    RVar *vars[2] = {var_new(g, t->elem), var_new(g, t->elem)};
    Node *args[2] = {node_var(g, vars[0]), node_var(g, vars[1])};
    static const PrimId ops[] = {P_add, P_sub, P_min, P_max};
    Node *e = node_new(g, N_ITERATE);
    e->prim = map;
    e->value = 1 + below(g, most);
    e->n_list = 1;
    e->list[0] = (int)store;
    e->n = 2;
    e->args[0] = node_lambda(g, 2, vars, node_prim(g, t->elem->scalar == SC_BOOL ? P_ne : ops[below(g, 4)], 2, args));
    e->args[0]->partial = false;
    e->args[1] = xs;
    return node_done(g, e);
}

static const int widths[] = {2, 4, 4, 4, 8, 3, 16};

Node *random_as_vector(Gen *g, Node *xs)
{
    int w = widths[below(g, 7)];
    return is_number(xs->type->elem) && size_divides(w, xs->type->size) ? node_prim_k(g, P_asVector, w, xs) : NULL;
}

Node *random_vector(Gen *g, RVar *v, int depth)
{
    static const PrimId ops[] = {P_add, P_sub, P_mul, P_min, P_max};
    Node *e = node_var(g, v);
    for (int k = 1 + below(g, depth > 2 ? 3 : 2); k > 0; k--) {
        PrimId op = ops[below(g, 5)];
        bool call = op == P_min || op == P_max; /* of two vectors only */
        Node *args[2] = {e, call || chance(g, 40) ? node_var(g, v) : chance(g, 50) ? random_lit(g, v->type->scalar) : random_value(g, v->type->scalar, 1)};
        if (chance(g, 30)) {
            args[1] = e;
            args[0] = node_var(g, v);
        }
        e = node_prim(g, op, 2, args);
    }
    return e;
}

static Node *in_vectors(Gen *g, Node *xs, int depth)
{
    Node *vs = random_as_vector(g, xs);
    if (!vs)
        return NULL;
    RVar *v = var_new(g, vs->type->elem);
    if (chance(g, 60)) {
        Node *e = mapped(g, P_mapSeq, v, random_vector(g, v, depth), vs);
        return chance(g, 70) ? node_prim1(g, P_asScalar, e) : e;
    }
    RVar *acc = var_new(g, type_of_scalar(g->p, xs->type->elem->scalar)), *vars[2] = {acc, v};
    Node *sums[2] = {node_var(g, acc), random_reduce(g, node_prim1(g, P_asScalar, node_var(g, v)), 0)};
    if (sums[1]->type->kind == R_TUPLE)
        sums[1] = node_proj(g, sums[1], 0);
    sums[1] = random_cast(g, acc->type->scalar, sums[1]);
    Node *args[3] = {node_lambda(g, 2, vars, node_prim(g, P_add, 2, sums)), random_lit(g, acc->type->scalar), vs};
    return node_prim(g, P_reduceSeq, 3, args);
}

Node *random_pattern(Gen *g, Node *xs, int depth)
{
    switch (below(g, 6)) {
    case 0: case 1: return rtype_volume(xs->type->elem) == 1 ? scan(g, xs, depth) : NULL;
    case 2: return random_row_fold(g, xs, P_mapSeq, P_toPrivate);
    case 3: return windows(g, xs, depth);
    case 4: {
        Node *e = random_iterate(g, xs, P_mapSeq, P_toPrivate);
        return e ? random_seq_map(g, e, depth) : NULL;
    }
    default: return in_vectors(g, xs, depth);
    }
}

/* ---- of a warp ------------------------------------------------------------------------------------------------------------------------------------ */

/* Through indices: data, or computed ones. */
Node *random_shfl(Gen *g, Node *xs)
{
    RSize n = size_const(32);
    RVar *is = chance(g, 65) ? input_of(g, type_of_array(g->p, n, type_of_idx(g->p, n))) : NULL;
    static const IndexForm forms[] = {INDEX_SAME, INDEX_BACK, INDEX_ROUND};
    Node *args[2] = {is ? node_var(g, is) : indices(g, n, n, forms[below(g, 3)]), xs};
    return node_prim(g, P_shfl, 2, args);
}

static PrimId reduction(Gen *g, Scalar s)
{
    static const PrimId ints[] = {P_add, P_min, P_max, P_bitOr, P_bitXor, P_bitAnd}, floats[] = {P_add, P_min, P_max};
    return s == SC_BOOL ? (chance(g, 50) ? P_or : P_and) : scalar_is_int(s) ? ints[below(g, 6)] : floats[below(g, 3)];
}

Node *random_reduce_warp(Gen *g, Node *xs)
{
    const RType *t = xs->type->elem;
    if (t->kind != R_SCALAR)
        return NULL;
    Node *args[2] = {plain_operator(g, reduction(g, t->scalar), t), xs};
    return node_prim(g, P_reduceWarp, 2, args);
}

/* ---- of memory ------------------------------------------------------------------------------------------------------------------------------------ */

/* e is a map that is written: through indices, over a background. */
Node *random_scatter(Gen *g, Node *e)
{
    const RType *t = e->type;
    if (t->kind != R_ARRAY || !rtype_is_flat(t->elem) || t->elem->kind == R_IDX)
        return e;
    IndexForm form = (IndexForm)below(g, INDEX_FORMS);
    if (form == INDEX_ROUND && size_least(t->size) < 1)
        form = INDEX_SAME;
    RSize n = t->size, m = form == INDEX_SPREAD ? (RSize){2 * n.coef, n.atom, 2 * n.add} : n;
    Node *value = random_constant(g, t->elem);
    RVar *v = chance(g, 50) ? input_of(g, type_of_array(g->p, m, t->elem)) : NULL;
    if (!v && !value)
        return e;
    Node *args[3] = {indices(g, n, m, form), v ? node_var(g, v) : generated(g, m, value), e};
    return node_prim(g, t->elem->kind == R_SCALAR && chance(g, 40) ? P_scatterUnchecked : P_scatter, 3, args);
}

/* Which of those that meet in a cell stays, is open: they are all the same. */
Node *random_hits(Gen *g, Node *xs, PrimId map)
{
    RSize m = size_const(random_count(g));
    bool drops = chance(g, 50);
    static const Scalar numbers[] = {SC_I8, SC_U8, SC_I32, SC_U32, SC_I64, SC_U64};
    const RType *number = drops ? type_of_scalar(g->p, numbers[below(g, 6)]) : type_of_idx(g->p, m);
    RVar *is = input_of(g, type_of_array(g->p, xs->type->size, number));
    if (!is)
        return NULL;
    Scalar s = random_scalar(g);
    RVar *x = var_new(g, xs->type->elem);
    Node *args[3] = {node_var(g, is), generated(g, m, random_lit(g, s)), mapped(g, map, x, random_lit(g, s), xs)};
    return node_prim(g, drops ? P_scatterDrop : P_scatterUnchecked, 3, args);
}

/* ---- of the grid ---------------------------------------------------------------------------------------------------------------------------------- */

/* All elements into one cell. The bits of a sum of floats would depend on the order. */
Node *random_atomic(Gen *g, Node *e)
{
    while (e->type->kind == R_ARRAY && e->type->elem->kind == R_ARRAY) {
        if (e->type->size.atom && e->type->elem->size.atom)
            return NULL;
        e = node_prim1(g, P_join, e);
    }
    const RType *t = e->type->kind == R_ARRAY ? e->type->elem : NULL;
    if (!t || !is_number(t) || scalar_bytes(t->scalar) < 4)
        return NULL;
    PrimId id = reduction(g, t->scalar);
    if (id == P_bitAnd || (id == P_add && scalar_is_float(t->scalar)))
        id = P_max;
    Node *unit = node_lit(g, t->scalar, id == P_max ? -1 : 0);
    unit->extreme = id == P_max || id == P_min;
    Node *args[3] = {plain_operator(g, id, t), unit, e};
    return node_prim(g, P_atomicReduce, 3, args);
}

/* What a block takes in of a tile: its total of this type, and what it keeps. */
static Node *taken_in(Gen *g, RVar *tile, Scalar total)
{
    Node *sum = random_reduce(g, node_var(g, tile), 1), *kept = node_var(g, tile), *pair = node_new(g, N_TUPLE);
    while (sum->type->kind == R_TUPLE)
        sum = node_proj(g, sum, 0);
    int how = below(g, 4);
    if (how < 2)
        kept = node_prim1(g, how ? P_toShared : P_toPrivate, copied(g, P_mapThreads, kept));
    else if (how == 2)
        kept = node_prim_k(g, P_index, below(g, (int)tile->type->size.add), kept);
    pair->n = 2;
    pair->args[0] = random_cast(g, total, sum);
    pair->args[1] = kept;
    return node_done(g, pair);
}

/* The tiles of one block each, with what lies before them. Totals are exact, so that their order shows and the grouping does not. */
Node *random_block_scan(Gen *g, Node *xs)
{
    bool rows = chance(g, 30);
    xs = views_to_rank(g, xs, rows ? 3 : 2);
    const RType *tile_type = rows ? xs->type->elem->elem : xs->type->elem;
    Scalar s = random_scalar(g);
    if (!is_const_array(tile_type) || tile_type->size.add < 1 || tile_type->size.add > 256 || tile_type->elem->kind != R_SCALAR || scalar_bytes(s) == 2)
        return NULL;
    PrimId id = reduction(g, s);
    if (id == P_bitAnd)
        id = P_bitXor;
    if (scalar_is_float(s) && id == P_add)
        id = P_max;
    Node *unit = node_lit(g, s, id == P_max || id == P_and ? -1 : 0);
    unit->extreme = id == P_max || id == P_min;
    RVar *tile = var_new(g, tile_type), *before = var_new(g, type_of_scalar(g->p, s)), *kept = var_new(g, NULL), *x = var_new(g, NULL);
    Node *f = node_lambda(g, 1, &tile, taken_in(g, tile, s));
    kept->type = f->type->items[1];
    Node *rest = node_var(g, kept);
    if (rest->type->kind != R_ARRAY)
        rest = generated(g, size_const(1 + below(g, 40)), rest);
    x->type = rest->type->elem;
    int scope = g->n_scope;
    scope_push(g, before);
    scope_push(g, x);
    Node *both = node_new(g, N_TUPLE);
    both->n = 2;
    both->args[0] = random_value_of(g, before, random_scalar(g), 1);
    both->args[1] = random_value_of(g, x, random_scalar(g), 1);
    Node *value = mapped(g, P_mapThreads, x, chance(g, 50) ? node_done(g, both) : both->args[0], rest);
    g->n_scope = scope;
    RVar *vars[2] = {before, kept};
    Node *args[5] = {plain_operator(g, id, before->type), unit, f, node_lambda(g, 2, vars, value), xs};
    return random_write_views(g, node_prim(g, rows ? P_scanRowBlocks : P_scanBlocks, 5, args), below(g, 2));
}

/* Steps of the grid, of which each element reads the one across from it; and what goes on with them. NULL: not of this array. */
Node *random_repeated(Gen *g, Node *start)
{
    const RType *t = start->type;
    if (t->kind != R_ARRAY || t->elem->kind != R_SCALAR)
        return NULL;
    RSize count = size_const(below(g, 4));
    RVar *vars[2] = {var_new(g, t), var_new(g, type_of_idx(g->p, count))}, *after = var_new(g, t);
    Node *sides[2] = {node_var(g, vars[0]), node_prim1(g, P_reverse, node_var(g, vars[0]))};
    Node *both = node_prim(g, P_zip, 2, sides), *e = node_new(g, N_PRIM);
    RVar *x = var_new(g, both->type->elem);
    int scope = g->n_scope;
    scope_push(g, vars[1]);
    scope_push(g, x);
    Node *value = random_value_of(g, x, t->elem->scalar, 2);
    g->n_scope = scope;
    e->prim = P_repeatKernels;
    e->n_sizes = 1;
    e->sizes[0] = count;
    e->n = 2;
    e->args[0] = node_lambda(g, 2, vars, mapped(g, P_mapGlobal, x, value, both));
    e->args[1] = start;
    node_done(g, e);
    Node *args[2] = {node_lambda(g, 1, &after, copied(g, P_mapGlobal, node_var(g, after))), e};
    return node_prim(g, P_nextKernel, 2, args);
}

Node *random_test(Gen *g)
{
    static const int limits[] = {1, 2, 31, 40, 100, 1000};
    const RAtom *a = g->p->names[below(g, g->p->n_names)];
    Node *test = node_new(g, N_TEST);
    test->n_sizes = 1;
    test->sizes[0] = (RSize){a->unit, a, 0};
    test->value = limits[below(g, 6)] * a->unit;
    return node_done(g, test);
}

/* Both branches give the same; the second one goes on in a kernel of its own, sometimes. */
Node *random_size_test(Gen *g, Node *body)
{
    if (!g->p->n_names)
        return body;
    Node *test = random_test(g), *e = node_new(g, N_IF), *other = node_copy(g->p, body);
    const RType *t = body->type;
    if (t->kind == R_ARRAY && rtype_is_flat(t->elem) && t->elem->kind != R_IDX && chance(g, 50)) {
        RVar *v = var_new(g, t);
        Node *args[2] = {node_lambda(g, 1, &v, copied(g, P_mapGlobal, node_var(g, v))), other};
        other = node_prim(g, P_nextKernel, 2, args);
    }
    e->n = 3;
    e->args[0] = test;
    e->args[1] = body;
    e->args[2] = other;
    return node_done(g, e);
}
