#include "rtree.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- memory and chance ---------------------------------------------------------------------------------------------------------- */

enum { CHUNK_BYTES = 1 << 16 };
typedef struct Chunk {
    struct Chunk *next;
    size_t used, size;
    _Alignas(16) char bytes[];
} Chunk;
struct Pool {
    Chunk *chunks;
};

static void *must(void *block)
{
    if (!block) {
        printf("random: out of memory\n");
        exit(1);
    }
    return block;
}

Pool *pool_new(void) { return must(calloc(1, sizeof(Pool))); }

void pool_free(Pool *pool)
{
    for (Chunk *c = pool->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(pool);
}

void *pool_alloc(Pool *pool, size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (!pool->chunks || pool->chunks->size - pool->chunks->used < size) {
        size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;
        Chunk *c = must(malloc(sizeof *c + room));
        *c = (Chunk){.next = pool->chunks, .size = room};
        pool->chunks = c;
    }
    char *at = pool->chunks->bytes + pool->chunks->used;
    pool->chunks->used += size;
    return memset(at, 0, size);
}

char *pool_printf(Pool *pool, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *text = pool_alloc(pool, (size_t)n + 1);
    va_start(args, fmt);
    vsnprintf(text, (size_t)n + 1, fmt, args);
    va_end(args);
    return text;
}

uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int random_below(uint64_t *state, int n) { return (int)(random_next(state) % (uint64_t)n); }

/* ---- sizes ------------------------------------------------------------------------------------------------------------------------ */

bool size_equal(RSize a, RSize b) { return a.atom == b.atom && a.coef == b.coef && a.add == b.add; }

static int64_t atom_least(const RAtom *a)
{
    switch (a->kind) {
    case ATOM_NAME: return a->least;
    case ATOM_CEIL: return (size_least(a->of) + a->by - 1) / a->by;
    case ATOM_DIV: return size_least(a->of) / a->by;
    }
    return 0;
}

int64_t size_least(RSize s) { return s.atom ? s.coef * atom_least(s.atom) + s.add : s.add; }

bool size_divides(int64_t k, RSize s) { return k >= 1 && s.coef % k == 0 && s.add % k == 0; }

RSize size_plus(RSize a, int64_t k) { return (RSize){a.coef, a.atom, a.add + k}; }

static RSize size_over(RSize s, int64_t k) { return (RSize){s.coef / k, s.atom, s.add / k}; }

static RSize size_times(RSize s, int64_t k) { return k == 0 ? size_const(0) : (RSize){s.coef * k, s.atom, s.add * k}; }

const RAtom *program_atom(RProgram *p, RAtomKind kind, RSize of, int64_t by)
{
    for (const RAtom *a = p->atoms; a; a = a->next)
        if (a->kind == kind && a->by == by && size_equal(a->of, of))
            return a;
    RAtom *a = POOL_NEW(p->pool, RAtom);
    *a = (RAtom){.kind = kind, .of = of, .by = by, .next = p->atoms};
    p->atoms = a;
    return a;
}

static RSize size_ceil(RProgram *p, RSize s, int64_t k)
{
    if (!s.atom)
        return size_const((s.add + k - 1) / k);
    return size_divides(k, s) ? size_over(s, k) : (RSize){1, program_atom(p, ATOM_CEIL, s, k), 0};
}

static RSize size_floor(RProgram *p, RSize s, int64_t k)
{
    if (!s.atom)
        return size_const(s.add / k);
    return size_divides(k, s) ? size_over(s, k) : (RSize){1, program_atom(p, ATOM_DIV, s, k), 0};
}

/* ---- types -------------------------------------------------------------------------------------------------------------------------- */

RType *type_of_scalar(RProgram *p, Scalar s)
{
    RType *t = POOL_NEW(p->pool, RType);
    t->kind = R_SCALAR;
    t->scalar = s;
    return t;
}

RType *type_of_idx(RProgram *p, RSize size)
{
    RType *t = POOL_NEW(p->pool, RType);
    t->kind = R_IDX;
    t->size = size;
    return t;
}

RType *type_of_array(RProgram *p, RSize size, const RType *elem)
{
    RType *t = POOL_NEW(p->pool, RType);
    t->kind = R_ARRAY;
    t->size = size;
    t->elem = elem;
    return t;
}

bool rtype_equal(const RType *a, const RType *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->kind != b->kind)
        return false;
    switch (a->kind) {
    case R_SCALAR: return a->scalar == b->scalar;
    case R_VEC: return a->scalar == b->scalar && a->width == b->width;
    case R_IDX: return size_equal(a->size, b->size);
    case R_ARRAY: return size_equal(a->size, b->size) && rtype_equal(a->elem, b->elem);
    case R_TUPLE:
        for (int k = 0; k < a->n && a->n == b->n; k++)
            if (!rtype_equal(a->items[k], b->items[k]))
                return false;
        return a->n == b->n;
    }
    return false;
}

bool rtype_is_flat(const RType *t)
{
    if (t->kind != R_TUPLE)
        return t->kind != R_ARRAY && t->kind != R_VEC;
    for (int k = 0; k < t->n; k++)
        if (t->items[k]->kind != R_SCALAR && t->items[k]->kind != R_IDX)
            return false;
    return true;
}

int rtype_rank(const RType *t) { return t->kind == R_ARRAY ? 1 + rtype_rank(t->elem) : 0; }

static bool is_vec(const RType *t) { return t->kind == R_VEC; }
static bool is_num(const RType *t) { return t->kind == R_SCALAR && t->scalar != SC_BOOL; }
static bool is_bool(const RType *t) { return t->kind == R_SCALAR && t->scalar == SC_BOOL; }
static bool is_int(const RType *t) { return t->kind == R_SCALAR && scalar_is_int(t->scalar); }
static bool is_float(const RType *t) { return t->kind == R_SCALAR && scalar_is_float(t->scalar); }

/* ---- the types of primitives ------------------------------------------------------------------------------------------------------------ */

int prim_functions(PrimId id)
{
    switch (id) {
    case P_mapSeq: case P_mapSeqUnroll: case P_mapGlobal: case P_mapBlock: case P_mapThreads: case P_mapWarp: case P_mapLane: case P_reduceSeq:
    case P_reduceSeqUnroll: case P_generate: case P_scanSeq: case P_scanSeqExcl: case P_circularBuffer: case P_rotateValues: case P_reduceWarp: case P_nextKernel:
    case P_lastBlock: case P_gridSync: case P_atomicReduce: case P_scanBlocks: case P_scanRowBlocks: case P_repeatKernels: case P_map: case P_reduce: case P_scan: case P_scanExcl: case P_reduceByIndex:
        return 1;
    default: return 0;
    }
}

/* Component by component; a scalar stands for a vector of it. */
static const RType *vector_op_type(const Node *e, const RType *a, const RType *b)
{
    const RType *v = is_vec(a) ? a : b, *other = is_vec(a) ? b : a;
    bool fits = is_vec(other) ? rtype_equal(v, other) : other->kind == R_SCALAR && other->scalar == v->scalar && e->prim != P_min && e->prim != P_max;
    return fits && (e->prim == P_add || e->prim == P_sub || e->prim == P_mul || e->prim == P_min || e->prim == P_max) ? v : NULL;
}

static const RType *scalar_prim_type(RProgram *p, const Node *e)
{
    const RType *a = e->args[0]->type, *b = e->n > 1 ? e->args[1]->type : a;
    if (e->n == 2 && (is_vec(a) || is_vec(b)))
        return vector_op_type(e, a, b);
    switch (e->prim) {
    case P_add: case P_sub: case P_mul: case P_div: case P_min: case P_max: return is_num(a) && rtype_equal(a, b) ? a : NULL;
    case P_mod: case P_bitAnd: case P_bitOr: case P_bitXor: case P_shl: case P_shr: return is_int(a) && rtype_equal(a, b) ? a : NULL;
    case P_eq: case P_ne: return a->kind == R_SCALAR && rtype_equal(a, b) ? type_of_scalar(p, SC_BOOL) : NULL;
    case P_lt: case P_le: case P_gt: case P_ge: return is_num(a) && rtype_equal(a, b) ? type_of_scalar(p, SC_BOOL) : NULL;
    case P_and: case P_or: case P_not: return is_bool(a) && is_bool(b) ? a : NULL;
    case P_neg: case P_abs: return is_num(a) ? a : NULL;
    case P_popc: case P_clz: return is_int(a) ? a : NULL;
    case P_pow: case P_fma: return is_float(a) && rtype_equal(a, b) && (e->n < 3 || rtype_equal(a, e->args[2]->type)) ? a : NULL;
    case P_cast: return a->kind == R_SCALAR || a->kind == R_IDX ? type_of_scalar(p, e->scalar) : NULL;
    case P_indexOr: return is_int(a) && e->sizes[1].add < size_least(e->sizes[0]) ? type_of_idx(p, e->sizes[0]) : NULL;
    case P_select: return is_bool(a) && rtype_equal(b, e->args[2]->type) ? b : NULL;
    default: return is_float(a) ? a : NULL;
    }
}

static const RType *zip_type(RProgram *p, const Node *e)
{
    RType *t = POOL_NEW(p->pool, RType);
    t->kind = R_TUPLE;
    t->n = e->n;
    for (int k = 0; k < e->n; k++) {
        const RType *a = e->args[k]->type;
        if (a->kind != R_ARRAY || !size_equal(a->size, e->args[0]->type->size))
            return NULL;
        t->items[k] = a->elem;
    }
    return type_of_array(p, e->args[0]->type->size, t);
}

static const RType *unzip_type(RProgram *p, const RType *xs)
{
    if (xs->elem->kind != R_TUPLE || xs->elem->n != 2)
        return NULL;
    RType *t = POOL_NEW(p->pool, RType);
    t->kind = R_TUPLE;
    t->n = 2;
    for (int k = 0; k < 2; k++)
        t->items[k] = type_of_array(p, xs->size, xs->elem->items[k]);
    return t;
}

/* Views of one array, the last argument. */
static const RType *view_type(RProgram *p, const Node *e)
{
    const RType *xs = e->args[e->n - 1]->type;
    int64_t k = e->sizes[0].add;
    if (is_vec(xs) && e->prim == P_index)
        return k >= 0 && k < xs->width ? type_of_scalar(p, xs->scalar) : NULL;
    if (is_vec(xs) && e->prim == P_asScalar)
        return type_of_array(p, size_const(xs->width), type_of_scalar(p, xs->scalar));
    if (xs->kind != R_ARRAY)
        return NULL;
    RSize n = xs->size;
    switch (e->prim) {
    case P_split: return size_divides(k, n) ? type_of_array(p, size_over(n, k), type_of_array(p, size_const(k), xs->elem)) : NULL;
    case P_splitDrop: return k >= 1 ? type_of_array(p, size_floor(p, n, k), type_of_array(p, size_const(k), xs->elem)) : NULL;
    case P_join: {
        if (xs->elem->kind != R_ARRAY || (n.atom && xs->elem->size.atom))
            return NULL;
        RSize m = xs->elem->size;
        return type_of_array(p, m.atom ? size_times(m, n.add) : size_times(n, m.add), xs->elem->elem);
    }
    case P_transpose: return xs->elem->kind == R_ARRAY ? type_of_array(p, xs->elem->size, type_of_array(p, n, xs->elem->elem)) : NULL;
    case P_unzip: return unzip_type(p, xs);
    case P_take: { /* a constant number, or what a padding was put behind */
        RSize s = e->sizes[0];
        bool unpad = n.atom && n.atom->kind == ATOM_CEIL && n.coef == n.atom->by && n.add == 0 && size_equal(n.atom->of, s);
        return unpad || size_equal(s, n) || (!s.atom && s.add >= 0 && s.add <= size_least(n)) ? type_of_array(p, s, xs->elem) : NULL;
    }
    case P_drop: return k >= 0 && k <= size_least(n) ? type_of_array(p, size_plus(n, -k), xs->elem) : NULL;
    case P_slide: {
        int64_t step = e->sizes[1].add;
        if (k < 1 || step < 1 || k > size_least(n))
            return NULL;
        return type_of_array(p, size_plus(size_floor(p, size_plus(n, -k), step), 1), type_of_array(p, size_const(k), xs->elem));
    }
    case P_padCst: return rtype_equal(e->args[0]->type, xs->elem) ? type_of_array(p, size_plus(n, k + e->sizes[1].add), xs->elem) : NULL;
    case P_padClamp: return size_least(n) >= 1 ? type_of_array(p, size_plus(n, k + e->sizes[1].add), xs->elem) : NULL;
    case P_padTo: return k >= 1 && rtype_equal(e->args[0]->type, xs->elem) ? type_of_array(p, size_times(size_ceil(p, n, k), k), xs->elem) : NULL;
    case P_gather: {
        const RType *is = e->args[0]->type;
        return is->kind == R_ARRAY && is->elem->kind == R_IDX && size_equal(is->elem->size, n) ? type_of_array(p, is->size, xs->elem) : NULL;
    }
    case P_reorder: return size_least(n) >= 1 || e->value == 0 ? xs : NULL;
    case P_reverse: case P_readOnce: case P_keepCached: return xs;
    case P_readTogether: return size_is_const(n) && n.add <= 64 ? xs : NULL;
    case P_stride: return size_divides(k, n) ? xs : NULL;
    case P_concat: {
        const RType *a = e->args[0]->type;
        if (a->kind != R_ARRAY || !rtype_equal(a->elem, xs->elem) || (a->size.atom && n.atom && a->size.atom != n.atom))
            return NULL;
        RSize s = {a->size.coef + n.coef, n.atom ? n.atom : a->size.atom, a->size.add + n.add};
        return type_of_array(p, s, xs->elem);
    }
    case P_asVector: {
        if (!is_num(xs->elem) || !size_divides(k, n))
            return NULL;
        RType *v = type_of_scalar(p, xs->elem->scalar);
        v->kind = R_VEC;
        v->width = (int)k;
        return type_of_array(p, size_over(n, k), v);
    }
    case P_asScalar: return is_vec(xs->elem) ? type_of_array(p, size_times(n, xs->elem->width), type_of_scalar(p, xs->elem->scalar)) : NULL;
    case P_scatter: case P_scatterUnchecked: case P_scatterDrop: {
        const RType *is = e->args[0]->type, *back = e->args[1]->type;
        if (is->kind != R_ARRAY || back->kind != R_ARRAY || !size_equal(is->size, n))
            return NULL;
        bool fits = e->prim == P_scatterDrop ? is_int(is->elem) : is->elem->kind == R_IDX && size_equal(is->elem->size, back->size);
        return fits && rtype_equal(back->elem, xs->elem) && (e->prim == P_scatter || xs->elem->kind == R_SCALAR) ? back : NULL;
    }
    case P_single: return size_equal(n, size_const(1)) ? xs->elem : NULL;
    case P_index: return k >= 0 && k < size_least(n) ? xs->elem : NULL;
    default: return NULL;
    }
}

static const RType *prim_type(RProgram *p, const Node *e)
{
    const RType *last = e->args[e->n - 1]->type;
    if (e->prim == P_nextKernel || e->prim == P_lastBlock || e->prim == P_gridSync)
        return e->args[0]->type;
    if (e->prim == P_repeatKernels)
        return rtype_equal(e->args[0]->type, last) ? last : NULL;
    if (e->prim == P_scanBlocks || e->prim == P_scanRowBlocks) {
        const RType *unit = e->args[1]->type, *taken = e->args[2]->type;
        bool rows = e->prim == P_scanRowBlocks;
        bool fits = last->kind == R_ARRAY && (!rows || last->elem->kind == R_ARRAY) && taken->kind == R_TUPLE && taken->n == 2 && rtype_equal(e->args[0]->type, unit) && rtype_equal(taken->items[0], unit);
        const RType *row = fits && rows ? type_of_array(p, last->elem->size, e->args[3]->type) : e->args[3]->type;
        return fits ? type_of_array(p, last->size, row) : NULL;
    }
    if (e->prim == P_atomicReduce || e->prim == P_reduceWarp) {
        bool fits = last->kind == R_ARRAY && rtype_equal(e->args[0]->type, last->elem) && rtype_equal(e->args[e->n - 2]->type, last->elem);
        return fits && (e->prim == P_atomicReduce || size_equal(last->size, size_const(32))) ? type_of_array(p, size_const(1), last->elem) : NULL;
    }
    switch (prim_rows[e->prim].level) {
    case LEVEL_SCALAR: return scalar_prim_type(p, e);
    case LEVEL_MEM: return last;
    case LEVEL_SHFL: return last->kind == R_ARRAY && size_equal(last->size, size_const(32)) && rtype_is_flat(last->elem) ? last : NULL;
    case LEVEL_VIEW: break;
    default:
        if (last->kind != R_ARRAY)
            return NULL;
        if (e->prim == P_reduce || e->prim == P_scan || e->prim == P_scanExcl) {
            bool fits = rtype_equal(e->args[0]->type, last->elem) && rtype_equal(e->args[1]->type, last->elem);
            return !fits ? NULL : e->prim == P_reduce ? last->elem : last;
        }
        if (e->prim == P_reduceByIndex) {
            const RType *t = last->elem;
            bool fits = t->kind == R_TUPLE && t->n == 2 && t->items[0]->kind == R_IDX && size_equal(t->items[0]->size, e->sizes[0]) && rtype_equal(e->args[0]->type, t->items[1]) &&
                        rtype_equal(e->args[1]->type, t->items[1]);
            return fits ? type_of_array(p, e->sizes[0], t->items[1]) : NULL;
        }
        if (e->prim == P_reduceSeq || e->prim == P_reduceSeqUnroll)
            return rtype_equal(e->args[0]->type, e->args[1]->type) ? e->args[1]->type : NULL;
        if (e->prim == P_scanSeq || e->prim == P_scanSeqExcl)
            return rtype_equal(e->args[0]->type, e->args[1]->type) ? type_of_array(p, last->size, e->args[1]->type) : NULL;
        if (e->prim == P_circularBuffer || e->prim == P_rotateValues) {
            int64_t k = e->sizes[0].add;
            return k >= 1 && k <= size_least(last->size) ? type_of_array(p, size_plus(last->size, 1 - k), type_of_array(p, size_const(k), e->args[0]->type)) : NULL;
        }
        return type_of_array(p, last->size, e->args[0]->type);
    }
    switch (e->prim) {
    case P_id: return last;
    case P_zip: case P_zip3: case P_zip4: return zip_type(p, e);
    case P_generate: return type_of_array(p, e->sizes[0], e->args[0]->type);
    default: return view_type(p, e);
    }
}

static const RType *tuple_type(RProgram *p, const Node *e)
{
    RType *t = POOL_NEW(p->pool, RType);
    t->kind = R_TUPLE;
    t->n = e->n;
    for (int k = 0; k < e->n; k++)
        t->items[k] = e->args[k]->type;
    return t;
}

const RType *node_type(RProgram *p, const Node *e)
{
    for (int k = 0; k < e->n; k++)
        if (!e->args[k] || !e->args[k]->type)
            return NULL;
    switch (e->kind) {
    case N_VAR: return e->vars[0]->type;
    case N_LIT: case N_SIZE: return type_of_scalar(p, e->scalar);
    case N_PRIM: return prim_type(p, e);
    case N_LAMBDA: return e->args[0]->type;
    case N_LET: return e->args[1]->type;
    case N_TUPLE: return tuple_type(p, e);
    case N_PROJ: return e->args[0]->type->kind == R_TUPLE && e->value < e->args[0]->type->n ? e->args[0]->type->items[e->value] : NULL;
    case N_IF: return is_bool(e->args[0]->type) && rtype_equal(e->args[1]->type, e->args[2]->type) ? e->args[1]->type : NULL;
    case N_INDEX: {
        const RType *xs = e->args[0]->type, *i = e->args[1]->type;
        return xs->kind == R_ARRAY && i->kind == R_IDX && size_equal(xs->size, i->size) ? xs->elem : NULL;
    }
    case N_CALL: {
        const RDef *d = p->defs[e->value];
        for (int k = 0; k < d->n; k++)
            if (!rtype_equal(d->params[k]->type, e->args[k]->type))
                return NULL;
        return d->body->type;
    }
    case N_INDICES: return size_equal(e->value == INDEX_SPREAD ? size_times(e->sizes[0], 2) : e->sizes[0], e->sizes[1]) ? type_of_array(p, e->sizes[0], type_of_idx(p, e->sizes[1])) : NULL;
    case N_TEST: return type_of_scalar(p, SC_BOOL);
    case N_ITERATE: {
        const RType *xs = e->args[1]->type;
        int64_t k = (int64_t)1 << e->value;
        return xs->kind == R_ARRAY && size_is_const(xs->size) && xs->size.add % k == 0 && rtype_equal(e->args[0]->type, xs->elem) ? type_of_array(p, size_const(xs->size.add / k), xs->elem) : NULL;
    }
    case N_UNROLL: return rtype_equal(e->args[0]->type, e->args[1]->type) ? e->args[0]->type : NULL;
    case N_TREE: {
        const RType *xs = e->args[1]->type;
        return xs->kind == R_ARRAY && size_equal(xs->size, size_const(32)) && rtype_equal(e->args[0]->type, xs->elem) ? type_of_array(p, size_const(1), xs->elem) : NULL;
    }
    }
    return NULL;
}

/* ---- retyping a whole tree ----------------------------------------------------------------------------------------------------------------- */

/* What the parameters of a function argument are, once the data arguments have types. */
static bool bind_lambda(RProgram *p, const Node *e, const Node *f)
{
    if (e->kind == N_UNROLL) {
        f->vars[0]->type = e->args[0]->type;
        return true;
    }
    const RType *last = e->prim == P_generate && e->kind == N_PRIM ? NULL : e->args[e->n - 1]->type;
    if (e->kind == N_PRIM && (e->prim == P_nextKernel || e->prim == P_lastBlock || e->prim == P_gridSync)) {
        f->vars[0]->type = last;
        return true;
    }
    if (e->kind == N_PRIM && e->prim == P_repeatKernels) {
        f->vars[0]->type = last;
        f->vars[1]->type = type_of_idx(p, e->sizes[0]);
        return true;
    }
    if (e->kind == N_PRIM && e->prim == P_scanRowBlocks && f == e->args[2]) {
        bool rows = last && last->kind == R_ARRAY && last->elem->kind == R_ARRAY;
        f->vars[0]->type = rows ? last->elem->elem : NULL;
        return rows;
    }
    if (e->kind == N_PRIM && (e->prim == P_scanBlocks || e->prim == P_scanRowBlocks) && f != e->args[2]) {
        const RType *taken = e->args[2]->type;
        f->vars[0]->type = f->vars[1]->type = e->args[1]->type;
        if (f != e->args[3])
            return true;
        f->vars[1]->type = taken && taken->kind == R_TUPLE ? taken->items[1] : NULL;
        return f->vars[1]->type != NULL;
    }
    if (e->kind == N_TREE || e->kind == N_ITERATE || (e->kind == N_PRIM && (e->prim == P_reduceWarp || e->prim == P_atomicReduce))) {
        f->vars[0]->type = f->vars[1]->type = last->kind == R_ARRAY ? last->elem : NULL;
        return last->kind == R_ARRAY;
    }
    if (!last) {
        f->vars[0]->type = type_of_idx(p, e->sizes[0]);
        return true;
    }
    if (last->kind != R_ARRAY)
        return false;
    if (f->n_vars == 2)
        f->vars[0]->type = e->args[1]->type;
    f->vars[f->n_vars - 1]->type = last->elem;
    return true;
}

bool node_retype(RProgram *p, Node *e)
{
    if (e->kind == N_LET) {
        if (!node_retype(p, e->args[0]))
            return false;
        e->vars[0]->type = e->args[0]->type;
        if (!node_retype(p, e->args[1]))
            return false;
    } else {
        for (int k = 0; k < e->n; k++)
            if (e->kind == N_LAMBDA || e->args[k]->kind != N_LAMBDA)
                if (!node_retype(p, e->args[k]))
                    return false;
        for (int k = 0; k < e->n && e->kind != N_LAMBDA; k++)
            if (e->args[k]->kind == N_LAMBDA && (!bind_lambda(p, e, e->args[k]) || !node_retype(p, e->args[k])))
                return false;
    }
    e->type = node_type(p, e);
    return e->type != NULL;
}

bool program_retype(RProgram *p)
{
    for (int k = 0; k < p->n_defs; k++)
        if (!node_retype(p, p->defs[k]->body))
            return false;
    return node_retype(p, p->body);
}

/* ---- copies -------------------------------------------------------------------------------------------------------------------------------------- */

enum { RENAMED_MAX = 512 };
typedef struct Copy {
    RProgram *p; /* into whose pool */
    bool fresh;  /* bound variables get new names */
    int n;
    struct { const RVar *from; RVar *to; } vars[RENAMED_MAX];
    int n_atoms;
    struct { const RAtom *from; const RAtom *to; } atoms[RENAMED_MAX];
} Copy;

static const RAtom *copy_atom(Copy *c, const RAtom *from);

static RSize copy_size(Copy *c, RSize s)
{
    if (s.atom)
        s.atom = copy_atom(c, s.atom);
    return s;
}

static const RAtom *copy_atom(Copy *c, const RAtom *from)
{
    for (int k = 0; k < c->n_atoms; k++)
        if (c->atoms[k].from == from)
            return c->atoms[k].to;
    if (from->kind == ATOM_NAME)
        return from; /* of the same program */
    return program_atom(c->p, from->kind, copy_size(c, from->of), from->by);
}

static const RType *copy_type(Copy *c, const RType *t)
{
    if (!t)
        return NULL;
    RType *to = POOL_NEW(c->p->pool, RType);
    *to = *t;
    to->size = copy_size(c, t->size);
    to->elem = copy_type(c, t->elem);
    for (int k = 0; k < t->n; k++)
        to->items[k] = copy_type(c, t->items[k]);
    return to;
}

static RVar *copied(const Copy *c, RVar *from)
{
    for (int k = c->n - 1; k >= 0; k--)
        if (c->vars[k].from == from)
            return c->vars[k].to;
    return from;
}

static RVar *copy_var(Copy *c, RVar *from)
{
    RVar *to = POOL_NEW(c->p->pool, RVar);
    *to = *from;
    to->name = pool_printf(c->p->pool, "%s", from->name);
    to->type = copy_type(c, from->type);
    if (c->n < RENAMED_MAX) {
        c->vars[c->n].from = from;
        c->vars[c->n++].to = to;
    }
    return to;
}

static Node *copy_node(Copy *c, const Node *from)
{
    Node *to = POOL_NEW(c->p->pool, Node);
    *to = *from;
    int scope = c->n;
    for (int k = 0; k < from->n_vars; k++)
        to->vars[k] = from->kind == N_VAR ? copied(c, from->vars[k]) : copy_var(c, from->vars[k]);
    for (int k = 0; k < from->n_sizes; k++)
        to->sizes[k] = copy_size(c, from->sizes[k]);
    for (int k = 0; k < from->n; k++)
        to->args[k] = copy_node(c, from->args[k]);
    to->type = copy_type(c, from->type);
    c->n = scope;
    return to;
}

Node *node_copy(RProgram *p, const Node *node)
{
    Copy c = {.p = p};
    return copy_node(&c, node);
}

RProgram *program_copy(const RProgram *from, Pool *pool)
{
    RProgram *p = POOL_NEW(pool, RProgram);
    *p = *from;
    p->pool = pool;
    p->atoms = NULL;
    Copy *c = POOL_NEW(pool, Copy);
    c->p = p;
    for (int k = 0; k < p->n_names; k++) {
        p->names[k] = POOL_NEW(pool, RAtom);
        *p->names[k] = *from->names[k];
        c->atoms[c->n_atoms].from = from->names[k];
        c->atoms[c->n_atoms++].to = p->names[k];
    }
    for (int k = 0; k < p->n_inputs; k++)
        p->inputs[k] = copy_var(c, from->inputs[k]);
    for (int k = 0; k < p->n_defs; k++) {
        RDef *d = POOL_NEW(pool, RDef);
        *d = *from->defs[k];
        int scope = c->n;
        for (int i = 0; i < d->n; i++)
            d->params[i] = copy_var(c, d->params[i]);
        d->body = copy_node(c, d->body);
        c->n = scope;
        p->defs[k] = d;
    }
    p->body = copy_node(c, from->body);
    return p;
}
