/* Random layout views, on the reading and on the writing side. */
#include "rgen.h"

#include <stdio.h>

enum { VOLUME_MAX = 20000, SIZE_GUESS = 300 };

static int64_t size_guess(RSize s)
{
    if (!s.atom)
        return s.add;
    int64_t a = s.atom->kind == ATOM_NAME ? SIZE_GUESS / s.atom->unit + 1 : size_guess(s.atom->of) / s.atom->by + 1;
    return s.coef * a + s.add;
}

int64_t rtype_volume(const RType *t)
{
    if (t->kind != R_ARRAY)
        return 1;
    int64_t n = size_guess(t->size), m = rtype_volume(t->elem);
    return n > 0 && m > INT64_MAX / 1024 / n ? INT64_MAX / 1024 : n * m;
}

int random_count(Gen *g)
{
    static const int few[] = {1, 2, 3, 4, 5, 7, 8, 16}, some[] = {31, 32, 32, 32, 33, 45, 64, 64, 100, 128}, many[] = {256, 512, 1000, 1023, 1024, 1025};
    int k = below(g, 100);
    return k < 35 ? few[below(g, 8)] : k < 92 ? some[below(g, 10)] : many[below(g, 6)];
}

/* A divisor of the size above 1, or 0. */
static int64_t divisor(Gen *g, RSize s)
{
    static const int ks[] = {2, 3, 4, 5, 8, 16, 32, 32, 32, 64, 64, 128, 25, 20, 100, 11, 15};
    for (int tries = 0; tries < 12; tries++) {
        int64_t k = ks[below(g, (int)(sizeof ks / sizeof *ks))];
        if (size_divides(k, s))
            return k;
    }
    return size_is_const(s) && s.add > 1 && chance(g, 30) ? s.add : 0;
}

static Node *with_sizes(Gen *g, PrimId id, int n_sizes, int64_t a, int64_t b, int n, Node *const *args)
{
    Node *e = node_new(g, N_PRIM);
    e->prim = id;
    e->n_sizes = n_sizes;
    e->sizes[0] = size_const(a);
    e->sizes[1] = size_const(b);
    e->n = n;
    memcpy(e->args, args, sizeof *args * (size_t)n);
    e->call = chance(g, 15);
    return node_done(g, e);
}

/* Another array of the same length: an input, an input of indices as numbers, the positions themselves, or a view of xs. */
static Node *beside(Gen *g, Node *xs)
{
    RSize n = xs->type->size;
    switch (below(g, 6)) {
    case 0: case 1: {
        RVar *v = input_of(g, type_of_array(g->p, n, type_of_scalar(g->p, random_scalar(g))));
        if (v)
            return node_var(g, v);
        break;
    }
    case 2: case 3: {
        Node *e = node_new(g, N_PRIM);
        RType *idx = POOL_NEW(g->p->pool, RType);
        idx->kind = R_IDX;
        idx->size = n;
        RVar *i = var_new(g, idx);
        int scope = g->n_scope;
        scope_push(g, i);
        Node *body = chance(g, 25) ? node_var(g, i) : random_value_of(g, i, random_scalar(g), 1);
        g->n_scope = scope;
        e->prim = P_generate;
        e->n_sizes = 1;
        e->sizes[0] = n;
        e->n = 1;
        e->args[0] = node_lambda(g, 1, &i, body);
        e->args[0]->partial = false;
        return node_done(g, e);
    }
    case 4: return node_prim1(g, P_reverse, node_copy(g->p, xs));
    default: break;
    }
    return node_copy(g->p, xs);
}

/* Can xs be written down twice? A stored value would be computed twice, which is allowed but makes programs long. */
static bool cheap(const Node *e)
{
    if (e->kind == N_VAR)
        return true;
    if (e->kind != N_PRIM || prim_rows[e->prim].level != LEVEL_VIEW)
        return false;
    for (int k = 0; k < e->n; k++)
        if (!cheap(e->args[k]) && e->args[k]->kind != N_LIT && e->args[k]->kind != N_TUPLE && e->args[k]->kind != N_LAMBDA)
            return false;
    return true;
}

static Node *zipped(Gen *g, Node *xs)
{
    if (!cheap(xs))
        return NULL;
    int n = chance(g, 75) ? 2 : 3 + below(g, 2);
    static const PrimId ids[] = {P_zip, P_zip3, P_zip4};
    Node *args[4] = {xs};
    for (int k = 1; k < n; k++)
        args[k] = beside(g, xs);
    return node_prim(g, ids[n - 2], n, args);
}

static Node *gathered(Gen *g, Node *xs)
{
    RType *idx = POOL_NEW(g->p->pool, RType);
    idx->kind = R_IDX;
    idx->size = xs->type->size;
    RSize m = chance(g, 60) ? xs->type->size : size_const(random_count(g));
    RVar *is = input_of(g, type_of_array(g->p, m, idx));
    if (!is)
        return NULL;
    Node *args[2] = {node_var(g, is), xs};
    return node_prim(g, P_gather, 2, args);
}

static Node *concatenated(Gen *g, Node *xs)
{
    if (!cheap(xs))
        return NULL;
    RVar *v = NULL;
    if (rtype_is_flat(xs->type->elem) && xs->type->elem->kind == R_SCALAR && chance(g, 50))
        v = input_of(g, type_of_array(g->p, size_const(random_count(g)), xs->type->elem));
    Node *other = v ? node_var(g, v) : node_copy(g->p, xs);
    Node *args[2] = {xs, other};
    if (chance(g, 50)) {
        args[0] = other;
        args[1] = xs;
    }
    return node_prim(g, P_concat, 2, args);
}

/* One view of this kind, or NULL where it does not fit. */
static Node *one_view(Gen *g, PrimId id, Node *xs)
{
    const RType *t = xs->type;
    RSize n = t->size;
    int64_t least = size_least(n), k;
    Node *args[2] = {NULL, xs};
    switch (id) {
    case P_readTogether: return size_is_const(n) && n.add <= 64 ? node_prim1(g, id, xs) : NULL;
    case P_id: case P_reverse: case P_readOnce: case P_keepCached: return node_prim1(g, id, xs);
    case P_split: case P_stride:
        k = divisor(g, n);
        return k ? node_prim_k(g, id, k, xs) : NULL;
    case P_splitDrop:
        k = 1 + below(g, 12);
        return size_is_const(n) && k > n.add ? NULL : node_prim_k(g, id, k, xs);
    case P_join:
        return t->elem->kind == R_ARRAY && (!n.atom || !t->elem->size.atom) ? node_prim1(g, id, xs) : NULL;
    case P_transpose: return t->elem->kind == R_ARRAY ? node_prim1(g, id, xs) : NULL;
    case P_zip: return zipped(g, xs);
    case P_unzip: return t->elem->kind == R_TUPLE && t->elem->n == 2 ? node_proj(g, node_prim1(g, id, xs), below(g, 2)) : NULL;
    case P_take: case P_drop:
        if (least < 1)
            return NULL;
        k = 1 + below(g, least > 40 && chance(g, 70) ? 40 : (int)least);
        return id == P_drop && k == least ? NULL : node_prim_k(g, id, k, xs);
    case P_slide: {
        if (least < 2)
            return NULL;
        k = 1 + below(g, least > 5 ? 5 : (int)least);
        return with_sizes(g, id, 2, k, 1 + below(g, chance(g, 60) ? 1 : 4), 1, &xs);
    }
    case P_padCst:
        args[0] = random_constant(g, t->elem);
        return args[0] ? with_sizes(g, id, 2, below(g, 4), below(g, 4), 2, args) : NULL;
    case P_padTo:
        args[0] = random_constant(g, t->elem);
        return args[0] ? with_sizes(g, id, 1, random_count(g), 0, 2, args) : NULL;
    case P_padClamp: return least >= 1 ? with_sizes(g, id, 2, below(g, 4), below(g, 4), 1, &xs) : NULL;
    case P_gather: return gathered(g, xs);
    case P_reorder: {
        Node *e = node_new(g, N_PRIM);
        e->prim = id;
        e->n = 1;
        e->args[0] = xs;
        e->value = least >= 1 ? below(g, 5) : 0;
        e->call = chance(g, 15);
        return node_done(g, e);
    }
    case P_concat: return concatenated(g, xs);
    case P_asVector: return random_as_vector(g, xs);
    case P_asScalar: return t->elem->kind == R_VEC ? node_prim1(g, id, xs) : NULL;
    case P_single: return size_equal(n, size_const(1)) && t->elem->kind == R_ARRAY ? node_prim1(g, id, xs) : NULL;
    case P_index: return least >= 1 && t->elem->kind == R_ARRAY ? node_prim_k(g, id, below(g, least > 8 ? 8 : (int)least), xs) : NULL;
    default: return NULL;
    }
}

Node *random_views(Gen *g, Node *xs, int n)
{
    static const PrimId ids[] = {P_id, P_readOnce, P_keepCached, P_readTogether, P_readTogether, P_readTogether, P_reverse, P_split,  P_split,  P_stride,   P_splitDrop, P_join,   P_transpose, P_transpose, P_zip,   P_zip,    P_unzip, P_take,
                                 P_drop, P_slide,  P_slide, P_padCst, P_padTo, P_padClamp, P_gather,    P_reorder, P_concat,   P_single,    P_index, P_asVector, P_asScalar};
    for (int k = 0, tries = 0; k < n && tries < 6 * n; tries++) {
        int inputs = g->p->n_inputs;
        PrimId id = ids[below(g, (int)(sizeof ids / sizeof *ids))];
        Node *v = prim_is_lowered(id) ? one_view(g, id, xs) : NULL;
        if (!v || v->type->kind != R_ARRAY || rtype_volume(v->type) > VOLUME_MAX || rtype_rank(v->type) > 5) {
            g->p->n_inputs = inputs;
            continue;
        }
        xs = v;
        k++;
    }
    return xs;
}

/* Every cell that is left must be written: views that only leave cells out, or move them. */
Node *random_write_views(Gen *g, Node *xs, int n)
{
    static const PrimId ids[] = {P_reverse, P_split, P_splitDrop, P_join, P_join, P_transpose, P_transpose, P_take, P_drop, P_stride, P_id, P_asScalar, P_asScalar, P_asScalar};
    for (int k = 0; k < n; k++) {
        if (xs->type->kind != R_ARRAY)
            return xs;
        RSize s = xs->type->size;
        Node *v;
        if (s.atom && s.atom->kind == ATOM_CEIL && s.coef == s.atom->by && s.add == 0 && chance(g, 60)) { /* what was padded goes again */
            v = with_sizes(g, P_take, 1, 0, 0, 1, &xs);
            v->sizes[0] = s.atom->of;
            node_done(g, v);
        } else
            v = one_view(g, ids[below(g, (int)(sizeof ids / sizeof *ids))], xs);
        if (v && v->type->kind == R_ARRAY && rtype_rank(v->type) <= 5)
            xs = v;
    }
    return xs;
}

Node *views_to_rank(Gen *g, Node *xs, int rank)
{
    while (rtype_rank(xs->type) < rank) {
        int64_t k = divisor(g, xs->type->size);
        if (k && chance(g, 80)) {
            xs = node_prim_k(g, P_split, k, xs);
            continue;
        }
        k = random_count(g);
        Node *args[2] = {random_constant(g, xs->type->elem), xs};
        int64_t volume = rtype_volume(xs->type->elem);
        while (k > 1 && k * volume > VOLUME_MAX / 4)
            k /= 2;
        if (args[0] && chance(g, 85)) {
            xs = node_prim_k(g, P_split, k, with_sizes(g, P_padTo, 1, k, 0, 2, args));
        } else
            xs = node_prim_k(g, P_splitDrop, k > 8 ? 1 + k % 8 : k, xs);
    }
    return xs;
}
