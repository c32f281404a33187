/* Random high-level programs: maps, reductions, scans and bins, nested, with views between them; no word about threads or memory. */
#include "rgen.h"

#include <stdio.h>

/* ---- operators that are known to be associative ------------------------------------------------------------------------------- */

/* x op y, of the same type; partial, so that it is printed as the operator itself. */
static Node *scalar_operator(Gen *g, PrimId id, const RType *t)
{
    RVar *vars[2] = {var_new(g, t), var_new(g, t)};
    Node *args[2] = {node_var(g, vars[0]), node_var(g, vars[1])};
    Node *f = node_lambda(g, 2, vars, node_prim(g, id, 2, args));
    f->partial = true;
    return f;
}

static Node *extreme(Gen *g, Scalar s, bool least)
{
    Node *e = node_lit(g, s, least ? -1 : 1);
    e->extreme = true;
    return e;
}

/* An operator over elements of this type, and its unit. False: there is none that two orders of combining agree on to the bit. */
static bool an_operator(Gen *g, const RType *t, bool exact_sums, Node **op, Node **unit)
{
    if (t->kind == R_TUPLE && t->n == 2 && rtype_equal(t->items[0], t->items[1]) && t->items[0]->kind == R_SCALAR && t->items[0]->scalar == SC_I32) {
        /* Declared in the program: composition of x -> a*x + b, which does not commute, or sums. */
        RVar *vars[2] = {var_new(g, t), var_new(g, t)};
        *op = node_lambda(g, 2, vars, node_var(g, vars[0]));
        bool affine = chance(g, 60);
        (*op)->spelled = affine ? "affine" : "sums";
        Node *u = node_new(g, N_TUPLE);
        u->n = 2;
        u->args[0] = node_lit(g, SC_I32, affine);
        u->args[1] = node_lit(g, SC_I32, 0);
        *unit = node_done(g, u);
        return true;
    }
    if (t->kind != R_SCALAR || t->scalar == SC_BOOL)
        return false;
    bool rounds = !scalar_is_int(t->scalar) && !exact_sums;
    PrimId id = !rounds && chance(g, 60) ? P_add : chance(g, 50) ? P_min : P_max;
    *op = scalar_operator(g, id, t);
    *unit = id == P_add ? node_lit(g, t->scalar, 0) : extreme(g, t->scalar, id == P_max);
    return true;
}

/* Inputs are small integers: sums of them alone are exact in any float but the short ones. */
static bool only_inputs(const Node *e)
{
    if (e->kind == N_VAR)
        return e->vars[0]->input;
    bool good = e->kind == N_PRIM && prim_rows[e->prim].level == LEVEL_VIEW && e->prim != P_generate;
    for (int k = 0; k < e->n && good; k++)
        good = e->args[k]->kind == N_LIT || only_inputs(e->args[k]);
    return good;
}

static bool sums_are_exact(const Node *xs)
{
    const RType *t = xs->type->elem;
    return t->kind == R_SCALAR && (t->scalar == SC_F32 || t->scalar == SC_F64) && only_inputs(xs);
}

/* ---- patterns ------------------------------------------------------------------------------------------------------------------- */

static Node *result(Gen *g, Node *xs, int depth);

static Node *mapped(Gen *g, Node *xs, int depth)
{
    RVar *x = var_new(g, xs->type->elem);
    int scope = g->n_scope;
    scope_push(g, x);
    Node *body = x->type->kind == R_ARRAY ? result(g, node_var(g, x), depth - 1) : x->type->kind == R_TUPLE && !rtype_is_flat(x->type) ? random_value_of(g, x, random_scalar(g), 2) : random_flat(g, x, 2);
    g->n_scope = scope;
    Node *args[2] = {node_lambda(g, 1, &x, body), xs};
    return node_prim(g, P_map, 2, args);
}

/* Elements for which there is an operator: two numbers, or one. */
static Node *with_operator(Gen *g, Node *xs, Node **op, Node **unit)
{
    if (an_operator(g, xs->type->elem, sums_are_exact(xs), op, unit))
        return xs;
    RVar *x = var_new(g, xs->type->elem);
    int scope = g->n_scope;
    scope_push(g, x);
    Node *body;
    if (chance(g, 30)) {
        body = node_new(g, N_TUPLE);
        body->n = 2;
        body->args[0] = random_value_of(g, x, SC_I32, 1);
        body->args[1] = random_value_of(g, x, SC_I32, 1);
        node_done(g, body);
    } else {
        body = random_value_of(g, x, chance(g, 60) ? SC_I32 : SC_U32, 2);
    }
    g->n_scope = scope;
    Node *args[2] = {node_lambda(g, 1, &x, body), xs};
    xs = node_prim(g, P_map, 2, args);
    an_operator(g, xs->type->elem, false, op, unit);
    return xs;
}

Node *random_fold(Gen *g, PrimId id, Node *xs)
{
    Node *op, *unit;
    xs = with_operator(g, xs, &op, &unit);
    Node *args[3] = {op, unit, xs};
    return node_prim(g, id, 3, args);
}

static Node *binned(Gen *g, Node *xs)
{
    RType *idx = POOL_NEW(g->p->pool, RType);
    idx->kind = R_IDX;
    idx->size = size_const(1 + below(g, 20));
    RVar *bins = input_of(g, type_of_array(g->p, xs->type->size, idx));
    if (!bins)
        return NULL;
    Node *op, *unit;
    Node *values = with_operator(g, xs, &op, &unit);
    Node *zips[2] = {node_var(g, bins), values};
    Node *e = node_new(g, N_PRIM);
    e->prim = P_reduceByIndex;
    e->n_sizes = 1;
    e->sizes[0] = idx->size;
    e->n = 3;
    e->args[0] = op;
    e->args[1] = unit;
    e->args[2] = node_prim(g, P_zip, 2, zips);
    return node_done(g, e);
}

/* The state after a step for each element of xs: each element by itself, or with the one across from it. NULL: not of this array. */
static Node *sequence(Gen *g, Node *xs)
{
    const RType *t = xs->type->elem;
    bool rows = t->kind == R_ARRAY && t->elem->kind == R_SCALAR;
    RVar *start = rows || t->kind == R_SCALAR ? input_of(g, rows ? t : xs->type) : NULL;
    if (!start)
        return NULL;
    RVar *vars[2] = {var_new(g, start->type), var_new(g, t)};
    Node *state = node_var(g, vars[0]), *all = state;
    if (chance(g, 40)) {
        Node *sides[2] = {state, node_prim1(g, P_reverse, node_var(g, vars[0]))};
        all = node_prim(g, P_zip, 2, sides);
    }
    if (rows) {
        Node *sides[2] = {all, node_var(g, vars[1])};
        all = node_prim(g, P_zip, 2, sides);
    }
    RVar *x = var_new(g, all->type->elem);
    int scope = g->n_scope;
    if (!rows)
        scope_push(g, vars[1]);
    scope_push(g, x);
    Node *value = random_value_of(g, x, start->type->elem->scalar, 2);
    g->n_scope = scope;
    Node *elements[2] = {node_lambda(g, 1, &x, value), all};
    Node *args[3] = {node_lambda(g, 2, vars, node_prim(g, P_map, 2, elements)), node_var(g, start), xs};
    return node_prim(g, P_reduceSeq, 3, args);
}

/* What a thread makes of a row in order: of all of the array, or of each of its rows. NULL: elements are no numbers. */
static Node *in_order(Gen *g, Node *xs)
{
    const RType *elem = xs->type->elem;
    if (elem->kind == R_ARRAY) {
        RVar *row = var_new(g, elem);
        Node *made = in_order(g, node_var(g, row));
        Node *args[2] = {made ? node_lambda(g, 1, &row, made) : NULL, xs};
        return made ? node_prim(g, P_map, 2, args) : NULL;
    }
    if (elem->kind != R_SCALAR)
        return NULL;
    RVar *x = var_new(g, elem), *acc = var_new(g, NULL), *vars[2] = {acc, x};
    Node *init = random_constant(g, elem);
    acc->type = init->type;
    int scope = g->n_scope;
    scope_push(g, acc);
    scope_push(g, x);
    Node *args[3] = {node_lambda(g, 2, vars, random_fold_step(g, acc, x, 1)), init, xs};
    g->n_scope = scope;
    return node_prim(g, chance(g, 70) ? P_scanSeq : P_scanSeqExcl, 3, args);
}

/* What is made of an array: another one, or one value. */
static Node *result(Gen *g, Node *xs, int depth)
{
    xs = random_views(g, xs, below(g, 3));
    Node *after = g->scheduled && depth > 0 && xs->type->kind == R_ARRAY && chance(g, 25) ? sequence(g, xs) : NULL;
    xs = after ? after : xs;
    if (g->scheduled && depth > 0 && xs->type->kind == R_ARRAY && chance(g, 10))
        xs = random_branches(g, xs);
    for (int k = below(g, 3); k > 0 && xs->type->kind == R_ARRAY && depth > 0; k--) {
        int what = below(g, 10);
        Node *more = what < 6 ? mapped(g, xs, depth) : what < 7 ? random_fold(g, P_scan, xs) : what < 8 ? random_fold(g, P_scanExcl, xs) : what < 9 ? binned(g, xs) : g->scheduled ? in_order(g, xs) : NULL;
        if (more && rtype_volume(more->type) < 20000)
            xs = random_views(g, more, below(g, 2));
    }
    if (xs->type->kind == R_ARRAY && chance(g, 25)) { /* named, and used twice */
        RVar *v = var_new(g, xs->type);
        int scope = g->n_scope;
        scope_push(g, v);
        Node *zips[2] = {node_var(g, v), chance(g, 50) ? node_prim1(g, P_reverse, node_var(g, v)) : random_fold(g, P_scan, node_var(g, v))};
        Node *body = chance(g, 40) ? random_fold(g, P_reduce, node_var(g, v)) : mapped(g, node_prim(g, P_zip, 2, zips), 0);
        g->n_scope = scope;
        return node_let(g, v, xs, body);
    }
    if (xs->type->kind == R_ARRAY && chance(g, 40))
        return random_fold(g, P_reduce, xs);
    return xs;
}

/* Something that depends on a whole reduction. */
static Node *about_total(Gen *g, Node *xs)
{
    Node *total = random_fold(g, P_reduce, node_copy(g->p, xs));
    RVar *v = var_new(g, total->type);
    int scope = g->n_scope;
    scope_push(g, v);
    Node *body = chance(g, 30) ? random_flat(g, v, 2) : mapped(g, xs, 1);
    g->n_scope = scope;
    return node_let(g, v, total, body);
}

/* Stages that only the scheduler takes, one after the other. */
static Node *staged(Gen *g, Node *xs)
{
    int what = below(g, 100);
    if (what < 30)
        xs = random_cube(g, random_views(g, xs, below(g, 2)));
    if (what >= 20 && what < 55)
        xs = random_branches(g, random_views(g, xs, below(g, 2)));
    if (what < 10 || what >= 50)
        xs = random_shared(g, random_views(g, xs, below(g, 2)));
    return xs->type->kind == R_ARRAY && chance(g, 40) ? result(g, xs, 1) : xs;
}

static Node *one_result(Gen *g, Node *xs)
{
    if (g->scheduled && chance(g, 50))
        return staged(g, xs);
    return chance(g, 12) ? about_total(g, xs) : result(g, xs, 2);
}

static Node *map_of(Gen *g, RVar *x, Node *body, Node *xs)
{
    Node *args[2] = {node_lambda(g, 1, &x, body), xs};
    return node_prim(g, P_map, 2, args);
}

/* A fold of each row. */
static Node *folded_rows(Gen *g, RVar *rows)
{
    RVar *row = var_new(g, rows->type->elem);
    return map_of(g, row, random_fold(g, P_reduce, node_var(g, row)), node_var(g, rows));
}

/* Rows of elements that are made of those of a row and of a value for it. */
static Node *rows_beside(Gen *g, RVar *rows, RVar *values)
{
    Node *both[2] = {node_var(g, rows), node_var(g, values)}, *zip = node_prim(g, P_zip, 2, both);
    RVar *pair = var_new(g, zip->type->elem), *value = var_new(g, values->type->elem), *x = var_new(g, rows->type->elem->elem);
    int scope = g->n_scope;
    scope_push(g, value);
    scope_push(g, x);
    Node *body = map_of(g, x, random_flat(g, x, 2), node_proj(g, node_var(g, pair), 0));
    g->n_scope = scope;
    return map_of(g, pair, node_let(g, value, node_proj(g, node_var(g, pair), 1), body), zip);
}

/* Several results that are made of the same rows, some of which are read on. NULL: the source has no rows. */
static Node *results_of_rows(Gen *g)
{
    enum { MOST = 4 };
    Node *source = random_source(g), *values[MOST];
    if (source->type->kind != R_ARRAY || source->type->elem->kind != R_ARRAY || source->type->elem->elem->kind != R_SCALAR)
        return NULL;
    RVar *vars[MOST] = {var_new(g, source->type)};
    int n = 0;
    values[n++] = source;
    values[n] = folded_rows(g, vars[0]);
    vars[n] = var_new(g, values[n]->type);
    values[++n] = rows_beside(g, vars[0], vars[1]);
    vars[n] = var_new(g, values[n]->type);
    values[++n] = chance(g, 50) ? folded_rows(g, vars[2]) : rows_beside(g, vars[0], vars[1]);
    vars[n] = var_new(g, values[n]->type);
    Node *e = node_new(g, N_TUPLE);
    for (int k = 1; k < MOST; k++)
        if (chance(g, 70) || e->n + (MOST - k) <= 2)
            e->args[e->n++] = node_var(g, vars[k]);
    if (chance(g, 40)) {
        Node *total = random_fold(g, P_reduce, node_var(g, vars[chance(g, 50) ? 1 : 3]));
        e->args[e->n++] = total;
    }
    e = node_done(g, e);
    for (int k = MOST - 1; k >= 0; k--)
        e = node_let(g, vars[k], values[k], e);
    return e;
}

static bool has_pattern(const Node *e)
{
    bool has = e->kind == N_PRIM && prim_rows[e->prim].level == LEVEL_HIGH;
    for (int k = 0; k < e->n && !has; k++)
        has = has_pattern(e->args[k]);
    return has;
}

static RProgram *high_program(Pool *pool, uint64_t seed, const bool scalars[SC_COUNT], bool scheduled)
{
    RProgram *p = POOL_NEW(pool, RProgram);
    p->pool = pool;
    Gen *g = &(Gen){.p = p, .rng = seed * 0x2545f4914f6cdd1du + 0x51f7, .scalars = scalars, .scheduled = scheduled};
    p->prelude = "operator affine (a: (i32, i32)) (b: (i32, i32)): (i32, i32) unit (1, 0), associative = (a.1 * b.1, a.2 * b.1 + b.2)\n"
                 "operator sums (a: (i32, i32)) (b: (i32, i32)): (i32, i32) unit (0, 0), associative, commutative = (a.1 + b.1, a.2 + b.2)\n";
    make_names(g);
    const bool rows = (seed * 0x9e3779b97f4a7c15u) >> 60 == 5; /* so that other programs stay what they are */
    if (rows && (p->body = results_of_rows(g)))
        return p;
    int outputs = chance(g, 80) ? 1 : 2 + below(g, 2);
    Node *items[3] = {NULL};
    RVar *all = NULL; /* what all results are made of, some of the time */
    Node *computed = NULL;
    if (scheduled && outputs > 1 && chance(g, 50)) {
        computed = mapped(g, random_views(g, random_source(g), below(g, 3)), 1);
        all = var_new(g, computed->type);
    }
    for (int k = 0; k < outputs; k++) {
        items[k] = one_result(g, all ? node_var(g, all) : random_source(g));
        if (!has_pattern(items[k]) && items[k]->type->kind == R_ARRAY)
            items[k] = mapped(g, items[k], 2);
    }
    p->body = items[0];
    if (outputs > 1) {
        Node *e = node_new(g, N_TUPLE);
        e->n = outputs;
        memcpy(e->args, items, sizeof *items * (size_t)outputs);
        p->body = node_done(g, e);
    }
    if (all)
        p->body = node_let(g, all, computed, p->body);
    return p;
}

RProgram *generate_high_program(Pool *pool, uint64_t seed, const bool scalars[SC_COUNT]) { return high_program(pool, seed, scalars, false); }

RProgram *generate_scheduled_program(Pool *pool, uint64_t seed, const bool scalars[SC_COUNT]) { return high_program(pool, seed, scalars, true); }
