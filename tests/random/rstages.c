/* High-level programs of several stages: arrays with several readers, of three axes, and by conditions. */
#include "rgen.h"

/* ---- elements --------------------------------------------------------------------------------- */

/* Of this type, out of x, and of `also`, where that is given. */
static Node *element_of(Gen *g, RVar *x, RVar *also, Scalar s)
{
    if (!also)
        return random_value_of(g, x, s, 2);
    static const PrimId ops[] = {P_add, P_sub, P_max, P_min};
    Node *args[2] = {random_value_of(g, x, s, 1), random_value_of(g, also, s, 1)};
    return node_prim(g, s == SC_BOOL ? P_ne : ops[below(g, 4)], 2, args);
}

/* An array like xs of these scalars: elements by themselves, or with what their row comes to. */
static Node *scalars_of(Gen *g, Node *xs, RVar *also, Scalar s)
{
    RVar *x = var_new(g, xs->type->elem);
    int scope = g->n_scope;
    scope_push(g, x);
    Node *body;
    if (x->type->kind != R_ARRAY) {
        body = element_of(g, x, also, s);
    } else if (chance(g, 30)) {
        Node *total = random_fold(g, P_reduce, node_var(g, x));
        RVar *t = var_new(g, total->type);
        scope_push(g, t);
        body = node_let(g, t, total, scalars_of(g, node_var(g, x), t, s));
    } else {
        body = scalars_of(g, node_var(g, x), also, s);
    }
    g->n_scope = scope;
    Node *args[2] = {node_lambda(g, 1, &x, body), xs};
    return node_prim(g, P_map, 2, args);
}

Node *random_cube(Gen *g, Node *xs)
{
    xs = views_to_rank(g, xs, 3);
    return scalars_of(g, xs, NULL, random_scalar(g));
}

/* ---- conditions --------------------------------------------------------------------------------- */

static Node *number_of(Gen *g, Node *e)
{
    while (e->type->kind == R_TUPLE)
        e = node_proj(g, e, below(g, e->type->n));
    return e;
}

/* Over sizes where the program has any, or over data: an input, what is in scope, or all of v. */
static Node *condition(Gen *g, RVar *v)
{
    if (g->p->n_names && chance(g, 55))
        return random_test(g);
    Scalar s = chance(g, 50) ? SC_I32 : SC_F32;
    RVar *input = chance(g, 35) ? input_of(g, type_of_scalar(g->p, s)) : NULL;
    Node *value = input ? node_var(g, input) : number_of(g, random_fold(g, P_reduce, node_var(g, v)));
    static const PrimId tests[] = {P_lt, P_gt, P_le, P_ne};
    s = value->type->scalar;
    Node *args[2] = {value, random_lit(g, s)};
    return node_prim(g, s == SC_BOOL ? P_ne : tests[below(g, 4)], 2, args);
}

Node *random_branches(Gen *g, Node *xs)
{
    RVar *v = var_new(g, xs->type);
    Scalar s = random_scalar(g);
    int scope = g->n_scope;
    Node *cond = condition(g, v);
    scope_push(g, v);
    Node *args[3] = {cond, scalars_of(g, node_var(g, v), NULL, s), NULL}, *e = node_new(g, N_IF);
    bool flat = args[1]->type->elem->kind == R_SCALAR && s != SC_BOOL;
    Node *other = scalars_of(g, chance(g, 30) ? node_prim1(g, P_reverse, node_var(g, v)) : node_var(g, v), NULL, s);
    args[2] = flat && rtype_equal(v->type, args[1]->type) && chance(g, 40) ? node_var(g, v) : flat && chance(g, 40) ? random_fold(g, P_scan, other) : other;
    if (chance(g, 40)) {
        Node *first = args[1];
        args[1] = args[2];
        args[2] = first;
    }
    g->n_scope = scope;
    e->n = 3;
    memcpy(e->args, args, sizeof args);
    return node_let(g, v, xs, node_done(g, e));
}

/* ---- several readers ------------------------------------------------------------------------------ */

/* Three neighbours each. */
static Node *stencil(Gen *g, Node *xs)
{
    Node *padded = node_new(g, N_PRIM), *windows = node_new(g, N_PRIM);
    padded->prim = P_padClamp;
    windows->prim = P_slide;
    padded->n_sizes = windows->n_sizes = 2;
    padded->sizes[0] = padded->sizes[1] = windows->sizes[1] = size_const(1);
    windows->sizes[0] = size_const(3);
    padded->n = windows->n = 1;
    padded->args[0] = xs;
    windows->args[0] = node_done(g, padded);
    node_done(g, windows);
    RVar *w = var_new(g, windows->type->elem);
    int scope = g->n_scope;
    scope_push(g, w);
    Node *args[2] = {node_lambda(g, 1, &w, random_fold(g, P_reduce, node_var(g, w))), windows};
    g->n_scope = scope;
    return node_prim(g, P_map, 2, args);
}

static Node *reader(Gen *g, RVar *v)
{
    Node *xs = node_var(g, v);
    switch (below(g, 4)) {
    case 0: return random_fold(g, P_scan, xs);
    case 1: return size_least(v->type->size) >= 1 ? stencil(g, xs) : random_fold(g, P_scanExcl, xs);
    case 2: xs = node_prim1(g, P_reverse, xs); break;
    default: break;
    }
    return scalars_of(g, xs, NULL, random_scalar(g));
}

Node *random_shared(Gen *g, Node *xs)
{
    xs = scalars_of(g, xs, NULL, random_scalar(g));
    RVar *v = var_new(g, xs->type);
    int scope = g->n_scope;
    scope_push(g, v);
    Node *body;
    if (chance(g, 40)) { /* what all of it comes to, for each element */
        Node *total = random_fold(g, P_reduce, node_var(g, v));
        RVar *t = var_new(g, total->type);
        scope_push(g, t);
        body = node_let(g, t, total, scalars_of(g, node_var(g, v), t, random_scalar(g)));
    } else {
        Node *zips[2] = {reader(g, v), reader(g, v)};
        body = node_prim(g, P_zip, 2, zips);
        if (rtype_is_flat(body->type->elem))
            body = scalars_of(g, body, NULL, random_scalar(g));
    }
    g->n_scope = scope;
    return node_let(g, v, xs, body);
}
