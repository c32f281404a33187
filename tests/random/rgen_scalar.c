/* Random expressions of one thread: scalars, folds, sequential maps. */
#include "rgen.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- nodes --------------------------------------------------------------------------------------------------------------------------------- */

Node *node_new(Gen *g, NodeKind kind)
{
    Node *e = POOL_NEW(g->p->pool, Node);
    e->kind = kind;
    return e;
}

Node *node_done(Gen *g, Node *e)
{
    e->type = node_type(g->p, e);
    if (!e->type) {
        printf("random: the generator built a node that has no type: kind %d, %s\n", (int)e->kind, e->kind == N_PRIM ? prim_name(e->prim) : "");
        fflush(stdout);
        abort();
    }
    return e;
}

RVar *var_new(Gen *g, const RType *type)
{
    RVar *v = POOL_NEW(g->p->pool, RVar);
    v->type = type;
    v->name = pool_printf(g->p->pool, "v%d", ++g->counter);
    return v;
}

Node *node_var(Gen *g, RVar *v)
{
    Node *e = node_new(g, N_VAR);
    e->n_vars = 1;
    e->vars[0] = v;
    return node_done(g, e);
}

static Node *prim_raw(Gen *g, PrimId id, int n, Node *const *args)
{
    Node *e = node_new(g, N_PRIM);
    e->prim = id;
    e->n = n;
    memcpy(e->args, args, sizeof *args * (size_t)n);
    e->call = chance(g, 15);
    return e;
}

Node *node_prim(Gen *g, PrimId id, int n, Node *const *args) { return node_done(g, prim_raw(g, id, n, args)); }
Node *node_prim1(Gen *g, PrimId id, Node *xs) { return node_prim(g, id, 1, &xs); }

Node *node_prim_k(Gen *g, PrimId id, int64_t k, Node *xs)
{
    Node *e = prim_raw(g, id, 1, &xs);
    e->n_sizes = 1;
    e->sizes[0] = size_const(k);
    return node_done(g, e);
}

Node *node_lambda(Gen *g, int n, RVar *const *vars, Node *body)
{
    Node *e = node_new(g, N_LAMBDA);
    e->n_vars = n;
    memcpy(e->vars, vars, sizeof *vars * (size_t)n);
    e->n = 1;
    e->args[0] = body;
    e->partial = chance(g, 70);
    return node_done(g, e);
}

Node *node_lit(Gen *g, Scalar s, int value)
{
    Node *e = node_new(g, N_LIT);
    e->scalar = s;
    e->value = value;
    return node_done(g, e);
}

Node *node_proj(Gen *g, Node *of, int k)
{
    Node *e = node_new(g, N_PROJ);
    e->n = 1;
    e->args[0] = of;
    e->value = k;
    return node_done(g, e);
}

Node *node_let(Gen *g, RVar *v, Node *value, Node *body)
{
    Node *e = node_new(g, N_LET);
    e->n_vars = 1;
    e->vars[0] = v;
    e->n = 2;
    e->args[0] = value;
    e->args[1] = body;
    return node_done(g, e);
}

static Node *node_if(Gen *g, Node *cond, Node *then, Node *otherwise)
{
    Node *e = node_new(g, N_IF);
    e->n = 3;
    e->args[0] = cond;
    e->args[1] = then;
    e->args[2] = otherwise;
    return node_done(g, e);
}

static Node *node_tuple(Gen *g, int n, Node *const *items)
{
    Node *e = node_new(g, N_TUPLE);
    e->n = n;
    memcpy(e->args, items, sizeof *items * (size_t)n);
    return node_done(g, e);
}

void scope_push(Gen *g, RVar *v)
{
    if (g->n_scope < SCOPE_MAX)
        g->scope[g->n_scope++] = v;
}

/* ---- scalars ----------------------------------------------------------------------------------------------------------------------------------- */

Scalar random_scalar(Gen *g)
{
    static const Scalar common[] = {SC_F32, SC_F32, SC_F32, SC_I32, SC_I32, SC_F64, SC_I64, SC_U32};
    if (chance(g, 70))
        return common[below(g, (int)(sizeof common / sizeof *common))];
    Scalar s;
    do
        s = (Scalar)below(g, SC_COUNT);
    while (!g->scalars[s]);
    return s;
}

static Scalar random_number_type(Gen *g)
{
    Scalar s;
    do
        s = random_scalar(g);
    while (s == SC_BOOL);
    return s;
}

Node *random_lit(Gen *g, Scalar s)
{
    if (s == SC_BOOL)
        return node_lit(g, s, below(g, 2));
    bool negative = scalar_is_float(s) || scalar_is_signed(s);
    return node_lit(g, s, below(g, 8) - (negative ? 3 : 0));
}

Node *random_cast(Gen *g, Scalar want, Node *e)
{
    if (e->type->kind == R_SCALAR && e->type->scalar == want)
        return e;
    Node *c = prim_raw(g, P_cast, 1, &e);
    c->scalar = want;
    return node_done(g, c);
}

/* Number k of the scalars that v holds, or NULL. */
static Node *part_of(Gen *g, RVar *v, int k)
{
    if (v->type->kind == R_SCALAR || v->type->kind == R_IDX)
        return k == 0 ? node_var(g, v) : NULL;
    if (v->type->kind == R_VEC)
        return k == 0 ? node_prim_k(g, P_index, below(g, v->type->width), node_var(g, v)) : NULL;
    if (v->type->kind != R_TUPLE || k >= v->type->n)
        return NULL;
    Node *e = node_proj(g, node_var(g, v), k);
    if (e->type->kind == R_TUPLE)
        e = node_proj(g, e, below(g, e->type->n));
    if (e->type->kind == R_VEC)
        e = node_prim_k(g, P_index, below(g, e->type->width), e);
    return e->type->kind == R_ARRAY || e->type->kind == R_TUPLE ? NULL : e;
}

static Node *from_scope(Gen *g, Scalar want)
{
    for (int tries = 0; tries < 8 && g->n_scope; tries++) {
        int a = below(g, g->n_scope), b = below(g, g->n_scope); /* rather one of the inner ones */
        RVar *v = g->scope[a > b ? a : b];
        Node *e = part_of(g, v, v->type->kind == R_TUPLE ? below(g, v->type->n) : 0);
        if (e)
            return random_cast(g, want, e);
    }
    return random_lit(g, want);
}

/* A primitive of scalars that gives this type: the header of its row says which types it takes. */
static bool scalar_prim_fits(PrimId id, Scalar want)
{
    const char *h = prim_rows[id].header;
    size_t n = strlen(h);
    bool gives_bool = n > 6 && strcmp(h + n - 6, ": bool") == 0;
    if (prim_rows[id].level != LEVEL_SCALAR || !prim_is_lowered(id) || gives_bool != (want == SC_BOOL))
        return false;
    if (gives_bool || strncmp(h, "{t: num}", 8) == 0)
        return true;
    return strncmp(h, "{t: int}", 8) == 0 ? scalar_is_int(want) : strncmp(h, "{t: float}", 10) == 0 && scalar_is_float(want);
}

static int parameter_count(PrimId id)
{
    int n = 0;
    for (const char *at = prim_rows[id].header; *at; at++)
        n += *at == '(';
    return n;
}

static Node *scalar_prim(Gen *g, Scalar want, int depth)
{
    PrimId fits[P_COUNT];
    int n_fits = 0;
    for (int id = 0; id < P_COUNT; id++)
        if (scalar_prim_fits((PrimId)id, want))
            fits[n_fits++] = (PrimId)id;
    static const PrimId common[] = {P_add, P_add, P_sub, P_mul, P_min, P_max};
    PrimId id = want != SC_BOOL && chance(g, 50) ? common[below(g, 6)] : fits[below(g, n_fits)];
    Scalar of = want;
    if (want == SC_BOOL && strncmp(prim_rows[id].header, "{t:", 3) == 0)
        of = random_number_type(g);
    Node *args[3];
    int n = parameter_count(id);
    for (int k = 0; k < n; k++)
        args[k] = random_value(g, of, depth - 1);
    if (id == P_neg && args[0]->kind == N_LIT) /* -3u32 is a literal, and none of u32 */
        return args[0];
    /* Where the language leaves the value open, stay away. */
    bool shift = id == P_shl || id == P_shr;
    if (shift || ((id == P_div || id == P_mod) && scalar_is_int(of)))
        args[1] = node_lit(g, of, shift ? below(g, 7) : 1 + below(g, 7));
    return node_prim(g, id, n, args);
}

/* An array in scope, or NULL. */
static RVar *array_in_scope(Gen *g)
{
    for (int tries = 0; tries < 4 && g->n_scope; tries++) {
        RVar *v = g->scope[below(g, g->n_scope)];
        if (v->type->kind == R_ARRAY)
            return v;
    }
    return NULL;
}

/* A number as an index below n, which is at least 1. */
static Node *computed_index(Gen *g, RSize n)
{
    static const Scalar numbers[] = {SC_I8, SC_U8, SC_I32, SC_U32, SC_I64, SC_U64};
    Node *number = from_scope(g, numbers[below(g, 6)]), *e = node_new(g, N_PRIM);
    int64_t least = size_least(n);
    e->prim = P_indexOr;
    e->n_sizes = 2;
    e->sizes[0] = n;
    e->sizes[1] = size_const(below(g, least > 8 ? 8 : (int)least));
    e->n = 1;
    e->args[0] = number;
    return node_done(g, e);
}

/* An element of an array in scope, at a constant, at an index in scope or at a computed one. */
static Node *element(Gen *g, Scalar want)
{
    RVar *v = array_in_scope(g);
    if (!v)
        return NULL;
    Node *e = node_var(g, v);
    while (e->type->kind == R_ARRAY) {
        RVar *i = NULL;
        for (int k = 0; k < g->n_scope; k++)
            if (g->scope[k]->type->kind == R_IDX && size_equal(g->scope[k]->type->size, e->type->size))
                i = g->scope[k];
        int64_t least = size_least(e->type->size);
        if (least >= 1 && chance(g, 20)) {
            Node *at = node_new(g, N_INDEX);
            at->n = 2;
            at->args[0] = e;
            at->args[1] = computed_index(g, e->type->size);
            e = node_done(g, at);
        } else if (i && (least < 1 || chance(g, 60))) {
            Node *at = node_new(g, N_INDEX);
            at->n = 2;
            at->args[0] = e;
            at->args[1] = node_var(g, i);
            e = node_done(g, at);
        } else if (least >= 1)
            e = node_prim_k(g, P_index, below(g, least > 8 ? 8 : (int)least), e);
        else
            return NULL;
    }
    if (e->type->kind == R_TUPLE)
        e = node_proj(g, e, below(g, e->type->n));
    if (e->type->kind == R_VEC)
        e = node_prim_k(g, P_index, below(g, e->type->width), e);
    return e->type->kind == R_TUPLE || e->type->kind == R_ARRAY ? NULL : random_cast(g, want, e);
}

static Node *let_value(Gen *g, Scalar want, int depth)
{
    int scope = g->n_scope;
    Node *value = random_value(g, random_scalar(g), depth - 1);
    RVar *v = var_new(g, value->type);
    scope_push(g, v);
    Node *body = random_value_of(g, v, want, depth - 1);
    g->n_scope = scope;
    return node_let(g, v, value, body);
}

static Node *call_def(Gen *g, Scalar want, int depth)
{
    for (int k = 0; k < g->p->n_defs; k++) {
        const RDef *d = g->p->defs[k];
        if (d->is_operator || d->body->type->scalar != want)
            continue;
        Node *e = node_new(g, N_CALL);
        e->value = k;
        e->n = d->n;
        for (int i = 0; i < d->n; i++)
            e->args[i] = random_value(g, d->params[i]->type->scalar, depth - 1);
        return node_done(g, e);
    }
    return NULL;
}

/* A size as a number; of the small types only what fits is allowed, so: of the large ones. */
static Node *size_value(Gen *g, Scalar want)
{
    if (!g->p->n_names || (want != SC_I32 && want != SC_I64 && want != SC_F32 && want != SC_F64))
        return NULL;
    const RAtom *a = g->p->names[below(g, g->p->n_names)];
    Node *e = node_new(g, N_SIZE);
    e->scalar = want;
    e->n_sizes = 1;
    e->sizes[0] = (RSize){a->unit, a, 0};
    return node_done(g, e);
}

Node *random_value(Gen *g, Scalar want, int depth)
{
    if (depth <= 0)
        return chance(g, 80) ? from_scope(g, want) : random_lit(g, want);
    Node *e = NULL;
    switch (below(g, 17)) {
    case 0: case 1: case 2: e = from_scope(g, want); break;
    case 11: /* more comparisons and conditions */
        if (want != SC_BOOL) {
            Node *cond = random_value(g, SC_BOOL, depth);
            return node_if(g, cond, random_value(g, want, depth - 1), random_value(g, want, 0));
        }
        break;
    case 3: e = random_cast(g, want, random_value(g, random_scalar(g), depth - 1)); break;
    case 4:
        return node_if(g, random_value(g, SC_BOOL, depth - 1), random_value(g, want, depth - 1), random_value(g, want, depth - 1));
    case 5: {
        Node *args[3] = {random_value(g, SC_BOOL, depth - 1), random_value(g, want, depth - 1), random_value(g, want, depth - 1)};
        return node_prim(g, P_select, 3, args);
    }
    case 6: return let_value(g, want, depth);
    case 7: e = element(g, want); break;
    case 8: e = call_def(g, want, depth); break;
    case 9: e = size_value(g, want); break;
    case 10: {
        RVar *v = array_in_scope(g);
        if (v && depth > 1 && rtype_volume(v->type) <= 64) {
            Node *r = random_reduce(g, node_var(g, v), 1);
            e = r->type->kind == R_TUPLE ? NULL : random_cast(g, want, r);
        }
        break;
    }
    default: break;
    }
    return e ? e : scalar_prim(g, want, depth);
}

Node *random_value_of(Gen *g, RVar *v, Scalar want, int depth)
{
    Node *e = NULL;
    if (v->type->kind == R_ARRAY) {
        e = random_reduce(g, node_var(g, v), depth - 1);
        if (e->type->kind == R_TUPLE)
            e = node_proj(g, e, below(g, e->type->n));
    } else
        for (int k = v->type->kind == R_TUPLE ? below(g, v->type->n) : 0; !e && k >= 0; k--) {
            e = part_of(g, v, k);
            if (!e && v->type->kind == R_TUPLE && v->type->items[k]->kind == R_ARRAY && depth > 0) {
                e = random_reduce(g, node_proj(g, node_var(g, v), k), depth - 1);
                if (e->type->kind == R_TUPLE)
                    e = node_proj(g, e, below(g, e->type->n));
            }
        }
    if (!e)
        return random_value(g, want, depth);
    e = random_cast(g, want, e);
    if (depth <= 0 || chance(g, 15))
        return e;
    static const PrimId ops[] = {P_add, P_add, P_sub, P_mul, P_min, P_max};
    PrimId id = want == SC_BOOL ? (chance(g, 50) ? P_or : P_ne) : ops[below(g, 6)];
    Node *args[2] = {e, random_value(g, want, depth - 1)};
    if (chance(g, 30)) {
        args[0] = args[1];
        args[1] = e;
    }
    return node_prim(g, id, 2, args);
}

Node *random_flat(Gen *g, RVar *v, int depth)
{
    if (chance(g, 82))
        return random_value_of(g, v, random_scalar(g), depth);
    Node *items[3];
    int n = 2 + below(g, 2);
    for (int k = 0; k < n; k++)
        items[k] = random_value_of(g, v, random_scalar(g), depth - 1);
    return node_tuple(g, n, items);
}

Node *random_constant(Gen *g, const RType *t)
{
    if (t->kind == R_SCALAR)
        return random_lit(g, t->scalar);
    if (t->kind != R_TUPLE)
        return NULL;
    Node *items[TUPLE_MAX];
    for (int k = 0; k < t->n; k++)
        if (!(items[k] = random_constant(g, t->items[k])))
            return NULL;
    return node_tuple(g, t->n, items);
}

/* ---- folds ------------------------------------------------------------------------------------------------------------------------------------------ */

/* The next value of one accumulator: it takes in the old one and the element. */
static Node *fold_value(Gen *g, Node *acc, RVar *x, int depth)
{
    static const PrimId ops[] = {P_add, P_add, P_add, P_sub, P_min, P_max};
    Scalar t = acc->type->scalar;
    Node *args[2] = {acc, random_value_of(g, x, t, depth)};
    PrimId id = t == SC_BOOL ? (chance(g, 50) ? P_or : P_ne) : ops[below(g, 6)];
    if (chance(g, 25)) {
        args[1] = acc;
        args[0] = random_value_of(g, x, t, depth);
    }
    return node_prim(g, id, 2, args);
}

/* acc op x with nothing around it, so that it prints as (op). */
static Node *plain_fold(Gen *g, RVar *acc, RVar *x)
{
    Node *args[2] = {node_var(g, acc), node_var(g, x)};
    Scalar t = acc->type->scalar;
    for (int k = 0; k < g->p->n_defs && chance(g, 70); k++) {
        const RDef *d = g->p->defs[k];
        if (d->n == 2 && rtype_equal(d->body->type, acc->type) && rtype_equal(d->params[0]->type, acc->type) && rtype_equal(d->params[1]->type, acc->type)) {
            Node *e = node_new(g, N_CALL);
            e->value = k;
            e->n = 2;
            memcpy(e->args, args, sizeof args);
            return node_done(g, e);
        }
    }
    static const PrimId ints[] = {P_add, P_add, P_min, P_max, P_bitXor, P_bitOr, P_bitAnd, P_mul}, floats[] = {P_add, P_add, P_min, P_max},
                        bools[] = {P_and, P_or, P_ne, P_eq};
    return node_prim(g, t == SC_BOOL ? bools[below(g, 4)] : scalar_is_int(t) ? ints[below(g, 8)] : floats[below(g, 4)], 2, args);
}

Node *random_fold_step(Gen *g, RVar *acc, RVar *x, int depth)
{
    bool same = x->type->kind == R_SCALAR && rtype_equal(acc->type, x->type);
    return same && chance(g, 50) ? plain_fold(g, acc, x) : fold_value(g, node_var(g, acc), x, depth);
}

Node *random_reduce(Gen *g, Node *xs, int depth)
{
    int scope = g->n_scope;
    const RType *elem = xs->type->elem;
    RVar *x = var_new(g, elem), *acc = var_new(g, NULL);
    RVar *vars[2] = {acc, x};
    Node *init, *body;
    bool small = size_is_const(xs->type->size) && xs->type->size.add <= 16;
    if (elem->kind == R_SCALAR && chance(g, 50)) {
        init = random_lit(g, elem->scalar);
        acc->type = init->type;
        body = plain_fold(g, acc, x);
    } else {
        int n = chance(g, 25) ? 2 : 1;
        Node *items[2];
        for (int k = 0; k < n; k++)
            items[k] = random_lit(g, random_scalar(g));
        init = n == 1 ? items[0] : node_tuple(g, n, items);
        acc->type = init->type;
        scope_push(g, acc);
        scope_push(g, x);
        for (int k = 0; k < n; k++)
            items[k] = fold_value(g, n == 1 ? node_var(g, acc) : node_proj(g, node_var(g, acc), k), x, depth);
        body = n == 1 ? items[0] : node_tuple(g, n, items);
    }
    g->n_scope = scope;
    Node *args[3] = {node_lambda(g, 2, vars, body), init, xs};
    return node_prim(g, small && chance(g, 40) ? P_reduceSeqUnroll : P_reduceSeq, 3, args);
}

/* ---- what one thread makes of its element ------------------------------------------------------------------------------------------------------------ */

enum { PRIVATE_MAX = 64, UNROLL_MAX = 12 };

Node *random_seq_map(Gen *g, Node *xs, int depth)
{
    int scope = g->n_scope;
    RVar *x = var_new(g, xs->type->elem);
    scope_push(g, x);
    Node *body = chance(g, 12) && rtype_is_flat(x->type) && x->type->kind != R_IDX ? node_prim1(g, P_id, node_var(g, x)) : random_leaf(g, x, depth);
    g->n_scope = scope;
    Node *args[2] = {node_lambda(g, 1, &x, body), xs};
    bool small = size_is_const(xs->type->size) && xs->type->size.add <= UNROLL_MAX;
    return node_prim(g, small && chance(g, 40) ? P_mapSeqUnroll : P_mapSeq, 2, args);
}

/* An array that this thread keeps, to read it again. */
static Node *kept(Gen *g, Node *xs, int depth)
{
    Node *c = random_seq_map(g, xs, depth);
    bool constant = true;
    for (const RType *t = c->type; t->kind == R_ARRAY; t = t->elem)
        constant &= size_is_const(t->size);
    if (!constant || rtype_volume(c->type) > PRIVATE_MAX)
        return NULL;
    return node_prim1(g, P_toPrivate, c);
}

Node *random_leaf(Gen *g, RVar *v, int depth)
{
    if (v->type->kind == R_TUPLE && !rtype_is_flat(v->type)) /* with arrays in it, or nested */
        return random_value_of(g, v, random_scalar(g), depth);
    if (v->type->kind == R_VEC && chance(g, 75))
        return random_vector(g, v, depth);
    if (v->type->kind != R_ARRAY)
        return random_flat(g, v, depth);
    int scope = g->n_scope;
    Node *xs = random_views(g, node_var(g, v), below(g, 3));
    if (xs->type->kind != R_ARRAY)
        xs = node_var(g, v);
    Node *e = chance(g, 28) ? random_pattern(g, xs, depth - 1) : NULL;
    if (e) {
        g->n_scope = scope;
        return e;
    }
    switch (below(g, 8)) {
    case 0: case 1: case 2: e = random_reduce(g, xs, depth - 1); break;
    case 3: e = random_seq_map(g, xs, depth - 1); break;
    case 4: case 5: { /* a fold, and then what it gives is used */
        Node *r = random_reduce(g, xs, depth - 1);
        RVar *s = var_new(g, r->type);
        scope_push(g, s);
        Node *body = chance(g, 50) ? random_seq_map(g, node_var(g, v), depth - 1) : random_flat(g, s, depth);
        e = node_let(g, s, r, body);
        break;
    }
    default: { /* kept in registers, read again */
        Node *k = kept(g, xs, depth - 1);
        if (!k) {
            e = random_reduce(g, xs, depth - 1);
            break;
        }
        RVar *s = var_new(g, k->type);
        bool bound = chance(g, 50);
        if (bound)
            scope_push(g, s);
        Node *again = random_views(g, bound ? node_var(g, s) : k, below(g, 3));
        if (again->type->kind != R_ARRAY)
            again = bound ? node_var(g, s) : k;
        e = chance(g, 50) ? random_reduce(g, again, depth - 1) : random_write_views(g, random_seq_map(g, again, depth - 1), below(g, 2));
        if (bound)
            e = node_let(g, s, k, e);
    }
    }
    g->n_scope = scope;
    if (e->type->kind == R_ARRAY && chance(g, 10)) {
        Node *other = node_copy(g->p, e);
        e = node_if(g, random_value(g, SC_BOOL, 2), e, other);
    }
    return e;
}
