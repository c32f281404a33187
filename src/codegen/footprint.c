#include "codegen/footprint.h"

enum { MAX_VISITS = 1 << 18, MAX_CELLS = 1 << 18, MAX_KNOWN = 32, FIRST_LOOP = 5 };

struct Footprint {
    bool unknown;     /* any cell, by the threads below */
    Nat base;         /* the part of the index that is the same for all threads, not known here */
    int64_t lo, n;    /* cells base + lo .. base + lo + n - 1 */
    int *thread;      /* the first thread that touches the cell, or -1 */
    unsigned char *many; /* 1: other threads of its warp too; 2: of other warps too */
    int only_thread, only_warp; /* of all that get here: the one, or -1 */
    bool empty;
    int64_t *first, *last; /* NULL, or of each cell: the passes of its threads that touch it; see Visit.pass */
    bool twice;            /* some cell is touched more than once */
    Nat varying;           /* the rest of the index, and the loops that were gone through */
    int n_loops;
    Nat *loops;
    const Footprint *next; /* another one of the same scope */
};

int scope_depth(const Scope *scope) { return scope ? scope->depth : 0; }

const Scope *scope_at(const Scope *scope, int depth)
{
    while (scope && scope->depth > depth)
        scope = scope->parent;
    return scope;
}

/* ---- known variables ----------------------------------------------------------------------------------------------- */

typedef struct Visit {
    Lowering *lw;
    int n_known;
    Nat known[MAX_KNOWN]; /* thread x, y, z, warp, lane, then loops */
    int64_t value[MAX_KNOWN];
    int n_scopes;
    const Scope *scopes[MAX_KNOWN]; /* that are gone through, outermost first */
    Nat base, varying;
    bool mixed;
    int64_t visits;
    Footprint *fp;
    bool counting; /* first round: only the range of cells */
    int thread;
    int64_t lo, hi;
    int common;   /* scopes; each time a thread is through them, it begins another pass */
    int64_t pass;
} Visit;

typedef struct VarKinds {
    const Visit *v;
    bool known, unknown;
} VarKinds;

static int known_slot(const Visit *v, Nat var)
{
    for (int i = 0; i < v->n_known; i++)
        if (v->known[i] == var)
            return i;
    return -1;
}

static void classify(void *user, Nat var)
{
    VarKinds *k = user;
    if (known_slot(k->v, var) >= 0)
        k->known = true;
    else
        k->unknown = true;
}

static VarKinds kinds(const Visit *v, Nat n)
{
    VarKinds k = {v, false, false};
    nat_each_var(v->lw->ctx, n, classify, &k);
    return k;
}

static bool lookup(void *user, Nat var, int64_t *value)
{
    const Visit *v = user;
    int slot = known_slot(v, var);
    if (slot < 0)
        return false;
    *value = v->value[slot];
    return true;
}

/* Fast where the nat is linear in known variables, which nearly all are. */
static bool evaluate(Visit *v, Nat n, int64_t *result)
{
    if (n->kind == NAT_CONST) {
        *result = n->value;
        return true;
    }
    if (n->kind == NAT_VAR)
        return lookup(v, n, result);
    if (n->kind == NAT_SUM) {
        int64_t sum = 0;
        for (int i = 0; i < n->n_terms; i++) {
            const NatTerm *t = &n->terms[i];
            int64_t x = t->coef, f;
            for (int k = 0; k < t->n_factors; k++) {
                if (!evaluate(v, t->factors[k], &f) || !mul_fits(x, f, &x))
                    return false;
            }
            if (!add_fits(sum, x, &sum))
                return false;
        }
        *result = sum;
        return true;
    }
    return nat_eval(n, lookup, v, result) == NAT_EVAL_OK;
}

/* 1 holds, 0 does not, -1 not known here. */
static int condition(Visit *v, const ImpExpr *e)
{
    if (e->kind == IE_LIT)
        return e->lit.i != 0;
    if (e->kind != IE_OP || e->op.n != 2)
        return -1;
    if (e->op.id == P_and || e->op.id == P_or) {
        int a = condition(v, e->op.args[0]), b = condition(v, e->op.args[1]);
        int decides = e->op.id == P_or;
        if (a == decides || b == decides)
            return decides;
        return a < 0 || b < 0 ? -1 : !decides;
    }
    const ImpExpr *x = e->op.args[0], *y = e->op.args[1];
    int64_t a, b;
    if (x->kind != IE_NAT || y->kind != IE_NAT || !evaluate(v, x->nat, &a) || !evaluate(v, y->nat, &b))
        return -1;
    switch (e->op.id) {
    case P_lt: return a < b;
    case P_le: return a <= b;
    case P_gt: return a > b;
    case P_ge: return a >= b;
    case P_eq: return a == b;
    case P_ne: return a != b;
    default: return -1;
    }
}

/* Splits the index into what is known for each thread and what is only known to be the same for all. */
static void split_index(Visit *v, Nat index)
{
    Ctx *ctx = v->lw->ctx;
    v->base = v->varying = nat_const(ctx, 0);
    NatTerm single = {1, 1, &index};
    const NatTerm *terms = index->kind == NAT_SUM ? index->terms : &single;
    int n = index->kind == NAT_SUM ? index->n_terms : 1;
    for (int i = 0; i < n; i++) {
        Nat term = nat_const(ctx, terms[i].coef);
        for (int k = 0; k < terms[i].n_factors; k++)
            term = nat_mul(ctx, term, terms[i].factors[k]);
        VarKinds kind = kinds(v, term);
        if (kind.known && kind.unknown)
            v->mixed = true;
        if (kind.unknown)
            v->base = nat_add(ctx, v->base, term);
        else
            v->varying = nat_add(ctx, v->varying, term);
    }
}

/* ---- going through threads and iterations --------------------------------------------------------------------------------- */

static void touch_cell(Visit *v)
{
    Footprint *fp = v->fp;
    int64_t cell;
    fp->empty = false;
    if (fp->only_thread == -2) {
        fp->only_thread = v->thread;
        fp->only_warp = v->thread / 32;
    }
    if (fp->only_thread != v->thread)
        fp->only_thread = -1;
    if (fp->only_warp != v->thread / 32)
        fp->only_warp = -1;
    if (fp->unknown || !evaluate(v, v->varying, &cell)) {
        fp->unknown = true;
        return;
    }
    if (v->counting) {
        if (cell < v->lo) v->lo = cell;
        if (cell > v->hi) v->hi = cell;
        return;
    }
    int64_t at = cell - fp->lo;
    if (at < 0 || at >= fp->n) { /* a bound of a variable was wrong: believe nothing */
        fp->unknown = true;
        return;
    }
    if (fp->first && fp->thread[at] < 0)
        fp->first[at] = fp->last[at] = v->pass;
    else if (fp->first)
        fp->last[at] = v->pass;
    fp->twice |= fp->thread[at] >= 0;
    if (fp->thread[at] < 0)
        fp->thread[at] = v->thread;
    else if (fp->thread[at] != v->thread)
        fp->many[at] |= fp->thread[at] / 32 == v->thread / 32 ? 1 : 2;
}

static void go(Visit *v, int at)
{
    ctx_look_at(v->lw->ctx, v->visits);
    if (++v->visits > MAX_VISITS) { /* the threads that are left may touch any cell, too */
        v->fp->unknown = true;
        v->fp->empty = false;
        v->fp->only_thread = v->fp->only_warp = -1;
        return;
    }
    if (at == v->common)
        v->pass++;
    if (at == v->n_scopes) {
        touch_cell(v);
        return;
    }
    const Scope *scope = v->scopes[at];
    if (scope->cond) {
        int holds = condition(v, scope->cond);
        if (holds < 0 || holds == !scope->negated)
            go(v, at + 1);
        return;
    }
    int slot = known_slot(v, scope->loop->loop.var);
    int64_t lo, hi, step;
    if (slot < 0) { /* stands still, or its bounds are not known: the variable stays unknown */
        go(v, at + 1);
        return;
    }
    if (!evaluate(v, scope->loop->loop.lo, &lo) || !evaluate(v, scope->loop->loop.hi, &hi) || !evaluate(v, scope->loop->loop.step, &step) || step < 1) {
        v->fp->unknown = true;
        go(v, v->n_scopes);
        return;
    }
    for (int64_t i = lo; i < hi && v->visits <= MAX_VISITS; i += step) {
        v->value[slot] = i;
        go(v, at + 1);
    }
}

static void all_threads(Visit *v)
{
    const int *t = v->lw->kernel->threads;
    int total = t[0] * t[1] * t[2];
    v->visits = 0;
    for (int i = 0; i < total; i++) {
        v->thread = i;
        v->pass = 0;
        v->value[0] = i % t[0];
        v->value[1] = i / t[0] % t[1];
        v->value[2] = i / (t[0] * t[1]);
        v->value[3] = i / v->lw->kernel->lanes;
        v->value[4] = i % v->lw->kernel->lanes;
        go(v, 0);
    }
}

static bool bounds_known(const Visit *v, const ImpStmt *loop)
{
    return !kinds(v, loop->loop.lo).unknown && !kinds(v, loop->loop.hi).unknown && !kinds(v, loop->loop.step).unknown;
}

typedef struct VarMention {
    Nat var;
    bool found;
} VarMention;

static void find_mention(void *user, ImpExpr **at)
{
    VarMention *m = user;
    m->found |= (*at)->kind == IE_NAT && nat_mentions((*at)->nat, m->var);
}

/* Does it matter for the access which trip of the loop at depth d it is? */
static bool trip_matters(const Access *a, int d)
{
    VarMention m = {scope_at(a->scope, d)->loop->loop.var, nat_mentions(a->index, scope_at(a->scope, d)->loop->loop.var)};
    for (const Scope *s = a->scope; scope_depth(s) > d && !m.found; s = s->parent) {
        ImpExpr *cond = (ImpExpr *)s->cond;
        if (cond)
            walk_expr(&cond, find_mention, &m);
        else
            m.found = nat_mentions(s->loop->loop.lo, m.var) || nat_mentions(s->loop->loop.hi, m.var) || nat_mentions(s->loop->loop.step, m.var);
    }
    return m.found;
}

/* What was found for an access in the same scope whose cells lie a constant away: a vector's cells,
 * or statements that are written out. */
static bool as_found(Visit *v, const Scope *scope)
{
    Footprint *fp = v->fp;
    const void *key = scope ? (const void *)scope : v->lw->kernel;
    fp->varying = v->varying;
    fp->n_loops = v->n_known - FIRST_LOOP;
    fp->loops = NEWN(v->lw->ctx, Nat, fp->n_loops + 1);
    memcpy(fp->loops, v->known + FIRST_LOOP, sizeof *fp->loops * (size_t)fp->n_loops);
    const Footprint *of = table_get(&v->lw->footprints, key);
    fp->next = of;
    table_put(v->lw->ctx, &v->lw->footprints, key, fp);
    for (; of; of = of->next) {
        Nat shift = nat_sub(v->lw->ctx, v->varying, of->varying);
        int64_t lo;
        bool loops = of->n_loops == fp->n_loops &&
                     memcmp(of->loops, fp->loops, sizeof *fp->loops * (size_t)fp->n_loops) == 0;
        if (!loops || !nat_is_const(shift) || !add_fits(of->lo, shift->value, &lo))
            continue;
        Footprint found = *of;
        found.base = fp->base;
        found.varying = fp->varying;
        found.next = fp->next;
        found.lo = lo;
        *fp = found;
        return true;
    }
    return false;
}

/* `common`: as in Visit, for a buffer that lives within the scopes that stand still; -1: passes do not matter. */
static Footprint *footprint_new(Lowering *lw, const Access *a, int still, int common)
{
    Ctx *ctx = lw->ctx;
    const ImpKernel *k = lw->kernel;
    Footprint *fp = NEW(ctx, Footprint);
    Visit v = {.lw = lw, .fp = fp, .common = common, .n_known = FIRST_LOOP, .known = {k->thread[0], k->thread[1], k->thread[2], k->warp, k->lane}};
    fp->empty = true;
    fp->only_thread = fp->only_warp = -2;
    int depth = scope_depth(a->scope);
    if (depth > MAX_KNOWN - FIRST_LOOP) {
        fp->unknown = true;
        fp->empty = false;
        fp->only_thread = fp->only_warp = -1;
        return fp;
    }
    for (int d = 1; d <= depth; d++) {
        const Scope *scope = scope_at(a->scope, d);
        v.scopes[v.n_scopes++] = scope;
        bool stands = d <= still && scope->loop && (scope->uniform || (common >= 0 && !nat_mentions(a->index, scope->loop->loop.var)));
        if (scope->loop && common < 0 && !trip_matters(a, d))
            continue; /* any trip is like all of them */
        if (scope->loop && !stands && bounds_known(&v, scope->loop))
            v.known[v.n_known++] = scope->loop->loop.var;
        else if (scope->loop && !stands && nat_mentions(a->index, scope->loop->loop.var))
            fp->unknown = true;
    }
    split_index(&v, a->index);
    fp->unknown |= v.mixed;
    fp->base = v.base;
    if (common < 0 && !fp->unknown && as_found(&v, a->scope))
        return fp;
    NatRange range = nat_range(lw->ctx, NULL, v.varying);
    v.lo = range.lo;
    v.hi = range.hi;
    if (fp->unknown || !range.has_lo || !range.has_hi || range.hi - range.lo >= MAX_CELLS / 16) { /* too wide to be the cells: count them */
        v.counting = true;
        v.lo = INT64_MAX;
        v.hi = INT64_MIN;
        all_threads(&v);
        if (fp->empty || fp->unknown)
            return fp;
    }
    if (v.hi - v.lo >= MAX_CELLS) {
        fp->unknown = true;
        return fp;
    }
    fp->lo = v.lo;
    fp->n = v.hi - v.lo + 1;
    fp->thread = NEWN(ctx, int, fp->n);
    fp->many = NEWN(ctx, unsigned char, fp->n);
    if (common >= 0) {
        fp->first = NEWN(ctx, int64_t, fp->n);
        fp->last = NEWN(ctx, int64_t, fp->n);
    }
    for (int64_t i = 0; i < fp->n; i++)
        fp->thread[i] = -1;
    v.counting = false;
    all_threads(&v);
    return fp;
}

static Footprint *footprint(Lowering *lw, Access *a, int still)
{
    int depth = scope_depth(a->scope);
    if (!a->cache)
        a->cache = NEWN(lw->ctx, Footprint *, depth + 1);
    if (still > depth)
        still = depth;
    for (const Scope *s = scope_at(a->scope, still); s; s = s->parent) { /* only loops that would be gone through, or that the index mentions, matter */
        const ImpStmt *loop = s->loop;
        if (loop && (nat_mentions(a->index, loop->loop.var) || (nat_is_const(loop->loop.hi) && nat_is_const(loop->loop.lo))))
            break;
        still--;
    }
    if (!a->cache[still])
        a->cache[still] = footprint_new(lw, a, still, -1);
    return a->cache[still];
}

/* ---- comparing ----------------------------------------------------------------------------------------------------------------- */

static Conflict worst(const Footprint *a, const Footprint *b)
{
    if (a->only_thread >= 0 && a->only_thread == b->only_thread)
        return CONFLICT_NONE;
    return a->only_warp >= 0 && a->only_warp == b->only_warp ? CONFLICT_WARP : CONFLICT_BLOCK;
}

static Conflict cell_conflict(const Footprint *a, int64_t i, const Footprint *b, int64_t j)
{
    if (a->thread[i] < 0 || b->thread[j] < 0)
        return CONFLICT_NONE;
    if (((a->many[i] | b->many[j]) & 2) || a->thread[i] / 32 != b->thread[j] / 32)
        return CONFLICT_BLOCK;
    return a->thread[i] != b->thread[j] || a->many[i] || b->many[j] ? CONFLICT_WARP : CONFLICT_NONE;
}

/* cell_conflict finds nothing in any of n cells. In one loop without branches, as this is asked of all pairs of accesses, and mostly so. */
static bool cells_apart(const Footprint *a, int64_t i, const Footprint *b, int64_t j, int64_t n)
{
    int shared = 0;
    for (int64_t k = 0; k < n; k++) {
        int x = a->thread[i + k], y = b->thread[j + k];
        shared |= (x >= 0) & (y >= 0) & ((x != y) | (a->many[i + k] != 0) | (b->many[j + k] != 0));
    }
    return !shared;
}

/* Does the buffer end before the other one begins? */
static bool ends_before(const ImpBuf *a, const ImpBuf *b)
{
    return a->offset && b->offset && nat_is_const(a->offset) && nat_is_const(b->offset) && nat_is_const(a->count) &&
           a->offset->value + a->count->value * scalar_bytes(a->elem) <= b->offset->value;
}

/* Buffers of one group share bytes, directly or through others. */
static bool may_alias(const ImpBuf *a, const ImpBuf *b)
{
    return a == b || (a->space == SPACE_SHARED && b->space == SPACE_SHARED && a->group >= 0 && a->group == b->group && !ends_before(a, b) && !ends_before(b, a));
}

/* Whoever takes a ticket (b) does so for all of its block. */
static Conflict release_conflict(Lowering *lw, Access *a, Access *b, int still)
{
    Footprint *x = footprint(lw, a, still), *y = footprint(lw, b, still);
    return x->empty || y->empty ? CONFLICT_NONE : worst(x, y);
}

static Conflict worse(Conflict a, Conflict b) { return a > b ? a : b; }

/* Do they meet, the second one's cells lying delta further on? */
static Conflict cells_conflict(const Access *a, const Footprint *x, const Access *b, const Footprint *y, Nat delta)
{
    if (!nat_is_const(delta))
        return worst(x, y);
    int64_t sa = scalar_bytes(a->buf->elem), sb = scalar_bytes(b->buf->elem);
    int64_t oa = a->buf->offset ? a->buf->offset->value : 0, ob = b->buf->offset ? b->buf->offset->value : 0;
    if (a->buf == b->buf)
        oa = ob = 0;
    Conflict found = CONFLICT_NONE;
    if (sa == sb && (oa - ob) % sa == 0) { /* cell i of one is cell i + shift of the other */
        int64_t shift = (oa - ob) / sa + x->lo - delta->value - y->lo, from = shift < 0 ? -shift : 0, to = x->n < y->n - shift ? x->n : y->n - shift;
        if (cells_apart(x, from, y, from + shift, to - from))
            return CONFLICT_NONE;
        for (int64_t i = from; i < to && found != CONFLICT_BLOCK; i++)
            found = worse(found, cell_conflict(x, i, y, i + shift));
        return found;
    }
    for (int64_t i = 0; i < x->n && found != CONFLICT_BLOCK; i++) {
        int64_t from = oa + (x->lo + i) * sa, to = from + sa; /* bytes */
        int64_t j = floor_div(from - ob, sb) - delta->value - y->lo, last = floor_div(to - 1 - ob, sb) - delta->value - y->lo;
        for (j = j < 0 ? 0 : j; j <= last && j < y->n; j++)
            found = worse(found, cell_conflict(x, i, y, j));
    }
    return found;
}

static void keep_var(void *user, Nat var) { *(Nat *)user = var; }

typedef struct Parity {
    Nat even, odd; /* the number, where its variable is 2*half, and 2*half + 1 */
} Parity;

/* The same numbers meet for many pairs of accesses. */
static const Parity *parity_of(Lowering *lw, Nat number, Nat var)
{
    Parity *parity = table_get(&lw->parities, number);
    if (!parity) {
        Ctx *ctx = lw->ctx;
        Nat half = nat_var(ctx, "half", nat_const(ctx, 0), NULL), even = nat_mul_k(ctx, half, 2);
        parity = NEW(ctx, Parity);
        *parity = (Parity){nat_subst(ctx, number, var, even), nat_subst(ctx, number, var, nat_add_k(ctx, even, 1))};
        table_put(ctx, &lw->parities, number, parity);
    }
    return parity;
}

/* As cells_conflict; where the distance hangs on whether one variable is even, both cases for themselves: buffers that alternate. */
static Conflict parity_conflict(Lowering *lw, const Access *a, const Footprint *x, const Access *b, const Footprint *y, Nat delta)
{
    Nat var = NULL;
    if (!nat_is_const(delta))
        nat_each_var(lw->ctx, delta, keep_var, &var);
    if (!var)
        return cells_conflict(a, x, b, y, delta);
    const Parity *parity = parity_of(lw, delta, var);
    return worse(cells_conflict(a, x, b, y, parity->even), cells_conflict(a, x, b, y, parity->odd));
}

Conflict access_conflict(Lowering *lw, Access *a, Access *b, int still)
{
    if (a->release || (a->atomic && b->atomic))
        return CONFLICT_NONE;
    if (b->release)
        return a->write && a->buf->space == SPACE_TEMP ? release_conflict(lw, a, b, still) : CONFLICT_NONE;
    if ((!a->write && !b->write) || !may_alias(a->buf, b->buf))
        return CONFLICT_NONE;
    if (a->unordered && b->unordered && a->buf == b->buf && !memcmp(&a->span, &b->span, sizeof a->span))
        return CONFLICT_NONE;
    Footprint *x = footprint(lw, a, still), *y = footprint(lw, b, still);
    if (x->empty || y->empty)
        return CONFLICT_NONE;
    if (x->unknown || y->unknown) {
        Owner owner = a->buf == b->buf ? access_owner(lw, a, b) : OWNER_UNKNOWN;
        return owner == OWNER_THREAD ? CONFLICT_NONE : owner == OWNER_WARP && worst(x, y) == CONFLICT_BLOCK ? CONFLICT_WARP : worst(x, y);
    }
    if (a->buf != b->buf && !nat_is(y->base, 0))
        return worst(x, y);
    return parity_conflict(lw, a, x, b, y, x->base == y->base ? nat_const(lw->ctx, 0) : nat_sub(lw->ctx, y->base, x->base));
}

/* ---- in place ---------------------------------------------------------------------------------------------------------------- */

/* How far y's cells lie from x's where both are known; false when they are not. */
static bool comparable(Lowering *lw, const Footprint *x, const Footprint *y, int64_t *delta)
{
    Nat d = nat_sub(lw->ctx, y->base, x->base);
    *delta = nat_is_const(d) ? d->value : 0;
    return !x->unknown && !y->unknown && nat_is_const(d);
}

bool footprint_read_first(Lowering *lw, Access *read, Access *write, int still, int common)
{
    const Footprint *r = footprint_new(lw, read, still, common), *w = footprint_new(lw, write, still, common);
    int64_t delta;
    if (r->empty || w->empty)
        return true;
    if (!comparable(lw, r, w, &delta))
        return false;
    for (int64_t i = 0; i < r->n; i++) {
        int64_t j = r->lo + i - delta - w->lo;
        if (r->thread[i] < 0 || j < 0 || j >= w->n || w->thread[j] < 0)
            continue;
        if (r->many[i] || w->many[j] || r->thread[i] != w->thread[j] || r->last[i] > w->first[j])
            return false;
    }
    return true;
}

bool footprint_apart(Lowering *lw, Access *a, Access *b, int still)
{
    const Footprint *x = footprint_new(lw, a, still, 0), *y = a == b ? x : footprint_new(lw, b, still, 0);
    int64_t delta;
    if (x->empty || y->empty)
        return true;
    if (!comparable(lw, x, y, &delta) || x->twice || y->twice)
        return false;
    for (int64_t i = 0; i < x->n && x != y; i++) {
        int64_t j = x->lo + i - delta - y->lo;
        if (x->thread[i] >= 0 && j >= 0 && j < y->n && y->thread[j] >= 0)
            return false;
    }
    return true;
}
