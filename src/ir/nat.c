#include "ir/nat.h"

#include "ir/nat_internal.h"

/* ---- the store -------------------------------------------------------------------------------------------------------- */

enum { SMALL_LO = -64, SMALL_HI = 1100, MEMO_SLOTS = 2048 };

typedef struct NatMono {
    uint32_t hash;
    int n;
    Nat factors[];
} NatMono;

typedef struct NatMemo {
    Nat a, b, result;
    NatKind op;
} NatMemo;

struct NatStore {
    Nat *nodes; /* open addressing; cap a power of two */
    uint32_t node_cap, node_count;
    NatMono **monos; /* products of two or more atoms, so that equal products have equal factor pointers */
    uint32_t mono_cap, mono_count;
    uint32_t next_id;
    Nat error;
    Nat small[SMALL_HI - SMALL_LO + 1];
    NatMemo memo[MEMO_SLOTS];
};

static struct NatStore *store_of(Ctx *ctx)
{
    if (ctx->nats)
        return ctx->nats;
    struct NatStore *s = NEW(ctx, struct NatStore);
    s->node_cap = 1024;
    s->nodes = NEWN(ctx, Nat, s->node_cap);
    s->mono_cap = 256;
    s->monos = NEWN(ctx, NatMono *, s->mono_cap);
    NatFull *error = NEW(ctx, NatFull);
    error->nat.kind = NAT_ERROR;
    error->nat.id = s->next_id++;
    error->weight = 1;
    error->self[0] = &error->nat;
    s->error = &error->nat;
    ctx->nats = s;
    return s;
}

static inline uint32_t mix(uint32_t h, uint64_t x)
{
    uint64_t v = (x ^ h) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(v ^ (v >> 29) ^ (v >> 43));
}

static uint32_t hash_factors(const Nat *factors, int n)
{
    uint32_t h = (uint32_t)n;
    for (int i = 0; i < n; i++)
        h = mix(h, factors[i]->id);
    return h;
}

/* `factors` may be on the caller's stack; the result is for good. */
static const Nat *intern_factors(Ctx *ctx, const Nat *factors, int n)
{
    if (n == 0)
        return NULL;
    if (n == 1)
        return nat_full(factors[0])->self;
    struct NatStore *s = store_of(ctx);
    uint32_t h = hash_factors(factors, n), mask = s->mono_cap - 1, at = h & mask;
    for (; s->monos[at]; at = (at + 1) & mask) {
        NatMono *m = s->monos[at];
        if (m->hash == h && m->n == n && memcmp(m->factors, factors, sizeof(Nat) * (size_t)n) == 0)
            return m->factors;
    }
    NatMono *m = ctx_alloc(ctx, sizeof(NatMono) + sizeof(Nat) * (size_t)n);
    m->hash = h;
    m->n = n;
    memcpy(m->factors, factors, sizeof(Nat) * (size_t)n);
    if (s->mono_count * 2 >= s->mono_cap) {
        uint32_t cap = s->mono_cap * 2;
        NatMono **monos = NEWN(ctx, NatMono *, cap);
        for (uint32_t i = 0; i < s->mono_cap; i++)
            if (s->monos[i]) {
                uint32_t to = s->monos[i]->hash & (cap - 1);
                while (monos[to])
                    to = (to + 1) & (cap - 1);
                monos[to] = s->monos[i];
            }
        s->monos = monos;
        s->mono_cap = cap;
        for (at = h & (cap - 1); monos[at];)
            at = (at + 1) & (cap - 1);
    }
    s->monos[at] = m;
    s->mono_count++;
    return m->factors;
}

static bool same_node(Nat x, Nat y)
{
    if (x->hash != y->hash || x->kind != y->kind || x->value != y->value || x->a != y->a || x->b != y->b || x->n_terms != y->n_terms)
        return false;
    for (int i = 0; i < x->n_terms; i++)
        if (x->terms[i].coef != y->terms[i].coef || x->terms[i].factors != y->terms[i].factors)
            return false;
    return true;
}

/* ---- ranges -------------------------------------------------------------------------------------------------------------- */

/* Extended integers: +-EXT_INF is infinite, or finite and at least that large. As a lower bound +EXT_INF therefore
 * still holds, and as an upper one -EXT_INF. */
__extension__ typedef __int128 Ext;
#define EXT_INF ((Ext)1 << 100)

typedef struct ExtRange {
    Ext lo, hi;
} ExtRange;

static Ext ext_clamp(Ext x) { return x > EXT_INF ? EXT_INF : x < -EXT_INF ? -EXT_INF : x; }

static Ext ext_mul(Ext a, Ext b)
{
    Ext r;
    if (a == 0 || b == 0)
        return 0;
    if (__builtin_mul_overflow(a, b, &r))
        return (a < 0) == (b < 0) ? EXT_INF : -EXT_INF;
    return ext_clamp(r);
}

static ExtRange ext_of(NatRange r) { return (ExtRange){r.has_lo ? r.lo : -EXT_INF, r.has_hi ? r.hi : EXT_INF}; }

static NatRange ext_back(ExtRange e)
{
    NatRange r = {0};
    if (e.lo >= INT64_MIN) {
        r.has_lo = true;
        r.lo = e.lo > INT64_MAX ? INT64_MAX : (int64_t)e.lo;
    }
    if (e.hi <= INT64_MAX) {
        r.has_hi = true;
        r.hi = e.hi < INT64_MIN ? INT64_MIN : (int64_t)e.hi;
    }
    return r;
}

static ExtRange ext_range_mul(ExtRange a, ExtRange b)
{
    if (a.lo >= 0 && b.lo >= 0)
        return (ExtRange){ext_mul(a.lo, b.lo), ext_mul(a.hi, b.hi)};
    Ext c[4] = {ext_mul(a.lo, b.lo), ext_mul(a.lo, b.hi), ext_mul(a.hi, b.lo), ext_mul(a.hi, b.hi)};
    ExtRange r = {c[0], c[0]};
    for (int i = 1; i < 4; i++) {
        if (c[i] < r.lo)
            r.lo = c[i];
        if (c[i] > r.hi)
            r.hi = c[i];
    }
    return r;
}

static NatRange terms_range(const NatEnv *env, const NatTerm *t, int n)
{
    ExtRange sum = {0, 0};
    bool no_lo = false, no_hi = false;
    for (int i = 0; i < n; i++) {
        ExtRange r = {t[i].coef, t[i].coef};
        for (int j = 0; j < t[i].n_factors; j++)
            r = ext_range_mul(r, ext_of(env ? nat_env_range(env, t[i].factors[j]) : nat_full(t[i].factors[j])->range));
        no_lo |= r.lo == -EXT_INF;
        no_hi |= r.hi == EXT_INF;
        sum.lo = ext_clamp(sum.lo + r.lo);
        sum.hi = ext_clamp(sum.hi + r.hi);
    }
    if (no_lo)
        sum.lo = -EXT_INF;
    if (no_hi)
        sum.hi = EXT_INF;
    return ext_back(sum);
}

NatRange poly_range(const NatEnv *env, const Poly *p) { return terms_range(env, p->at, p->n); }

/* base ^ exp for base, exp >= 0, or EXT_INF. */
static Ext ext_pow(Ext base, Ext exp)
{
    if (exp == 0 || base == 1)
        return 1;
    if (base == 0)
        return 0;
    if (exp > 128)
        return EXT_INF;
    Ext r = 1;
    for (int i = 0; i < (int)exp; i++)
        r = ext_mul(r, base);
    return r;
}

static int log2_floor(int64_t x)
{
    int r = 0;
    while (x >>= 1)
        r++;
    return r;
}

static NatRange atom_range(const NatFull *f)
{
    const NatNode *x = &f->nat;
    NatRange r = {0}, a = {0}, b = {0};
    if (x->a)
        a = nat_full(x->a)->range;
    if (x->b)
        b = nat_full(x->b)->range;
    switch (x->kind) {
    case NAT_ERROR:
        break;
    case NAT_CONST:
        r = (NatRange){true, true, x->value, x->value};
        break;
    case NAT_VAR:
        if (x->lo) {
            r.has_lo = nat_full(x->lo)->range.has_lo;
            r.lo = nat_full(x->lo)->range.lo;
        }
        if (x->hi) {
            r.has_hi = nat_full(x->hi)->range.has_hi;
            r.hi = nat_full(x->hi)->range.hi;
        }
        break;
    case NAT_SUM:
        r = terms_range(NULL, x->terms, x->n_terms);
        break;
    case NAT_DIV: /* b >= 1; towards zero as b grows when a >= 0, towards -1 when a < 0 */
        if (!f->divisor_ok || (b.has_hi && b.hi < 1)) /* no value of the variables gets here */
            break;
        if (!b.has_lo || b.lo < 1)
            b.lo = 1;
        if (a.has_lo) {
            r.has_lo = true;
            r.lo = a.lo < 0 ? floor_div(a.lo, b.lo) : b.has_hi ? floor_div(a.lo, b.hi) : 0;
        }
        if (a.has_hi) {
            r.has_hi = true;
            r.hi = a.hi >= 0 ? floor_div(a.hi, b.lo) : b.has_hi ? floor_div(a.hi, b.hi) : -1;
        }
        break;
    case NAT_MOD:
        if (!f->divisor_ok || (b.has_hi && b.hi < 1))
            break;
        r.has_lo = true;
        r.lo = 0;
        if (b.has_hi) {
            r.has_hi = true;
            r.hi = b.hi - 1;
        }
        if (a.has_lo && a.lo >= 0 && a.has_hi && (!r.has_hi || a.hi < r.hi)) {
            r.has_hi = true;
            r.hi = a.hi;
        }
        break;
    case NAT_MIN:
        r.has_lo = a.has_lo && b.has_lo;
        r.lo = a.lo < b.lo ? a.lo : b.lo;
        r.has_hi = a.has_hi || b.has_hi;
        r.hi = !a.has_hi ? b.hi : !b.has_hi ? a.hi : a.hi < b.hi ? a.hi : b.hi;
        break;
    case NAT_MAX:
        r.has_hi = a.has_hi && b.has_hi;
        r.hi = a.hi > b.hi ? a.hi : b.hi;
        r.has_lo = a.has_lo || b.has_lo;
        r.lo = !a.has_lo ? b.lo : !b.has_lo ? a.lo : a.lo > b.lo ? a.lo : b.lo;
        break;
    case NAT_POW: /* defined for b >= 0 only */
        if (a.has_lo && a.lo >= 1) {
            ExtRange e;
            e.lo = ext_pow(a.lo, b.has_lo && b.lo > 0 ? b.lo : 0);
            e.hi = a.has_hi && b.has_hi && b.hi >= 0 ? ext_pow(a.hi, b.hi) : EXT_INF;
            r = ext_back(e);
        }
        break;
    case NAT_LOG2: /* defined for a >= 1 only */
        r.has_lo = true;
        r.lo = a.has_lo && a.lo >= 1 ? log2_floor(a.lo) : 0;
        if (a.has_hi && a.hi >= 1) {
            r.has_hi = true;
            r.hi = log2_floor(a.hi);
        }
        break;
    }
    return r;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------------- */

static void absorb(NatFull *f, Nat child)
{
    const NatFull *c = nat_full(child);
    f->weight += c->weight;
    if (c->height >= f->height)
        f->height = (uint16_t)(c->height + 1);
    f->nat.has_vars |= c->nat.has_vars;
    f->symbolic |= c->symbolic;
}

/* The node like `proto`, whose hash is set and whose terms may be on the stack. */
static Nat intern_node(Ctx *ctx, const NatFull *proto)
{
    struct NatStore *s = store_of(ctx);
    uint32_t mask = s->node_cap - 1, at = proto->nat.hash & mask;
    for (; s->nodes[at]; at = (at + 1) & mask)
        if (same_node(s->nodes[at], &proto->nat))
            return s->nodes[at];

    NatFull f = *proto;
    f.weight = 1;
    f.height = 1;
    if (f.nat.a)
        absorb(&f, f.nat.a);
    if (f.nat.b)
        absorb(&f, f.nat.b);
    f.divides = f.divisor_ok && (f.nat.kind == NAT_DIV || f.nat.kind == NAT_MOD);
    for (int i = 0; i < f.nat.n_terms; i++) {
        f.weight++;
        for (int j = 0; j < f.nat.terms[i].n_factors; j++) {
            absorb(&f, f.nat.terms[i].factors[j]);
            f.divides |= nat_full(f.nat.terms[i].factors[j])->divides;
        }
    }
    if (f.weight > NAT_MAX_WEIGHT || f.height > NAT_MAX_HEIGHT)
        return s->error;
    f.range = atom_range(&f);

    NatFull *node = NEW(ctx, NatFull);
    if (f.nat.n_terms) {
        NatTerm *terms = NEWN(ctx, NatTerm, f.nat.n_terms);
        memcpy(terms, f.nat.terms, sizeof(NatTerm) * (size_t)f.nat.n_terms);
        f.nat.terms = terms;
    }
    if (s->node_count * 2 >= s->node_cap) {
        uint32_t cap = s->node_cap * 2;
        Nat *nodes = NEWN(ctx, Nat, cap);
        for (uint32_t i = 0; i < s->node_cap; i++)
            if (s->nodes[i]) {
                uint32_t to = s->nodes[i]->hash & (cap - 1);
                while (nodes[to])
                    to = (to + 1) & (cap - 1);
                nodes[to] = s->nodes[i];
            }
        s->nodes = nodes;
        s->node_cap = cap;
        for (at = f.nat.hash & (cap - 1); nodes[at];)
            at = (at + 1) & (cap - 1);
    }
    f.nat.id = s->next_id++;
    *node = f;
    node->self[0] = &node->nat;
    s->nodes[at] = &node->nat;
    s->node_count++;
    return &node->nat;
}

Nat nat_error(Ctx *ctx) { return store_of(ctx)->error; }

Nat nat_const(Ctx *ctx, int64_t value)
{
    struct NatStore *s = store_of(ctx);
    bool small = value >= SMALL_LO && value <= SMALL_HI;
    if (small && s->small[value - SMALL_LO])
        return s->small[value - SMALL_LO];
    NatFull f = {.nat = {.kind = NAT_CONST, .value = value, .hash = mix(NAT_CONST, (uint64_t)value)}};
    Nat r = intern_node(ctx, &f);
    if (small)
        s->small[value - SMALL_LO] = r;
    return r;
}

Nat nat_var(Ctx *ctx, const char *name, Nat lo, Nat hi)
{
    struct NatStore *s = store_of(ctx);
    NatFull *f = NEW(ctx, NatFull);
    f->nat.kind = NAT_VAR;
    f->nat.name = intern_z(ctx, name);
    f->nat.lo = lo && !nat_is_error(lo) ? lo : NULL;
    f->nat.hi = hi && !nat_is_error(hi) ? hi : NULL;
    f->nat.has_vars = true;
    f->symbolic = (f->nat.lo && f->nat.lo->has_vars) || (f->nat.hi && f->nat.hi->has_vars);
    f->weight = 1;
    f->height = 1;
    f->range = atom_range(f);
    f->nat.id = s->next_id++;
    f->nat.hash = mix(NAT_VAR, f->nat.id);
    f->self[0] = &f->nat;
    return &f->nat;
}

Nat nat_atom(Ctx *ctx, NatKind kind, Nat a, Nat b, bool divisor_ok)
{
    NatFull f = {.nat = {.kind = kind, .a = a, .b = b}, .divisor_ok = divisor_ok};
    f.nat.hash = mix(mix(kind, a->id), b ? b->id : 0);
    return intern_node(ctx, &f);
}

Nat nat_mate(Ctx *ctx, Nat x)
{
    NatFull *f = (NatFull *)(uintptr_t)x; /* nodes live in writable memory; the mate is a cache, not part of the value */
    if (!f->mate) {
        /* Its making may ask for it again: then the bare atom serves. */
        f->mate = nat_atom(ctx, x->kind == NAT_DIV ? NAT_MOD : NAT_DIV, x->a, x->b, f->divisor_ok);
        f->mate = x->kind == NAT_DIV ? nat_mod_in(ctx, NULL, x->a, x->b) : nat_div_in(ctx, NULL, x->a, x->b);
    }
    return f->mate;
}

static NatMemo *memo_slot(Ctx *ctx, NatKind op, Nat a, Nat b)
{
    return &store_of(ctx)->memo[mix(mix(op, a->id), b->id) & (MEMO_SLOTS - 1)];
}

Nat nat_memo_get(Ctx *ctx, NatKind op, Nat a, Nat b)
{
    NatMemo *m = memo_slot(ctx, op, a, b);
    return m->a == a && m->b == b && m->op == op ? m->result : NULL;
}

void nat_memo_put(Ctx *ctx, NatKind op, Nat a, Nat b, Nat result) { *memo_slot(ctx, op, a, b) = (NatMemo){a, b, result, op}; }

/* ---- terms and polynomials ------------------------------------------------------------------------------------------------ */

NatTerm nat_atom_term(Nat atom, int64_t coef) { return (NatTerm){coef, 1, nat_full(atom)->self}; }

void nat_view(Nat a, NatView *v)
{
    v->at = &v->one;
    v->n = 1;
    switch (a->kind) {
    case NAT_CONST:
        v->n = a->value != 0;
        v->one = TERM_K(a->value);
        return;
    case NAT_SUM:
        v->at = a->terms;
        v->n = a->n_terms;
        return;
    case NAT_ERROR:
    case NAT_VAR:
    case NAT_DIV:
    case NAT_MOD:
    case NAT_MIN:
    case NAT_MAX:
    case NAT_POW:
    case NAT_LOG2:
        v->one = nat_atom_term(a, 1);
        return;
    }
}

/* Lexicographic, so that n*m, n, m, 1 is in order: the pure lexicographic order of monomials, the oldest atom the largest. */
static int mono_cmp(const NatTerm *x, const NatTerm *y)
{
    if (x->factors == y->factors)
        return 0;
    for (int i = 0; i < x->n_factors && i < y->n_factors; i++)
        if (x->factors[i] != y->factors[i])
            return x->factors[i]->id < y->factors[i]->id ? -1 : 1;
    return x->n_factors > y->n_factors ? -1 : 1;
}

bool term_multiply(Ctx *ctx, const NatTerm *x, const NatTerm *y, NatTerm *r)
{
    if (!mul_fits(x->coef, y->coef, &r->coef))
        return false;
    if (!y->n_factors || !x->n_factors) {
        const NatTerm *t = y->n_factors ? y : x;
        int n = t->n_factors;
        r->factors = t->factors;
        r->n_factors = n;
        return true;
    }
    if (x->n_factors + y->n_factors > NAT_MAX_DEGREE)
        return false;
    Nat merged[NAT_MAX_DEGREE];
    int n = 0, i = 0, j = 0;
    while (i < x->n_factors || j < y->n_factors)
        merged[n++] = j == y->n_factors || (i < x->n_factors && x->factors[i]->id <= y->factors[j]->id) ? x->factors[i++] : y->factors[j++];
    r->factors = intern_factors(ctx, merged, n);
    r->n_factors = n;
    return true;
}

bool mono_divide(Ctx *ctx, const NatTerm *a, const NatTerm *by, NatTerm *q)
{
    if (by->n_factors > a->n_factors)
        return false;
    Nat rest[NAT_MAX_DEGREE];
    int n = 0, j = 0;
    for (int i = 0; i < a->n_factors; i++)
        if (j < by->n_factors && a->factors[i] == by->factors[j])
            j++;
        else
            rest[n++] = a->factors[i];
    if (j != by->n_factors)
        return false;
    q->n_factors = n;
    q->factors = intern_factors(ctx, rest, n);
    q->coef = 1;
    return true;
}

bool term_divide(Ctx *ctx, const NatTerm *a, const NatTerm *by, NatTerm *q)
{
    if (by->coef == 0 || by->coef == -1 ? a->coef == INT64_MIN || by->coef == 0 : a->coef % by->coef != 0)
        return false;
    int64_t coef = a->coef / by->coef;
    if (!mono_divide(ctx, a, by, q))
        return false;
    q->coef = coef;
    return true;
}

int64_t gcd_i64(int64_t a, int64_t b)
{
    if (a == INT64_MIN)
        a = b == INT64_MIN || b == 0 ? INT64_C(1) << 62 : b & -b;
    if (b == INT64_MIN)
        b = a ? a & -a : INT64_C(1) << 62;
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

NatTerm term_gcd(Ctx *ctx, const NatTerm *a, const NatTerm *b)
{
    Nat common[NAT_MAX_DEGREE];
    int n = 0, i = 0, j = 0;
    while (i < a->n_factors && j < b->n_factors)
        if (a->factors[i] == b->factors[j]) {
            common[n++] = a->factors[i++];
            j++;
        } else if (a->factors[i]->id < b->factors[j]->id)
            i++;
        else
            j++;
    return (NatTerm){gcd_i64(a->coef, b->coef), n, intern_factors(ctx, common, n)};
}

void poly_init(Ctx *ctx, Poly *p)
{
    p->ctx = ctx;
    p->overflow = false;
    p->n = 0;
    p->cap = POLY_SMALL;
    p->at = p->small;
}

static void poly_reserve(Poly *p, int n)
{
    if (n <= p->cap)
        return;
    int cap = p->cap;
    while (cap < n)
        cap *= 2;
    NatTerm *at = NEWN(p->ctx, NatTerm, cap);
    memcpy(at, p->at, sizeof(NatTerm) * (size_t)p->n);
    p->at = at;
    p->cap = cap;
}

void poly_copy(Ctx *ctx, Poly *p, const Poly *from)
{
    poly_init(ctx, p);
    p->overflow = from->overflow;
    poly_reserve(p, from->n);
    memcpy(p->at, from->at, sizeof(NatTerm) * (size_t)from->n);
    p->n = from->n;
}

void poly_push(Poly *p, NatTerm t)
{
    poly_reserve(p, p->n + 1);
    p->at[p->n++] = t;
}

void poly_add_terms(Poly *p, const NatTerm *t, int n, NatTerm by)
{
    if (p->overflow || n == 0 || by.coef == 0)
        return;
    if (p->n + n > NAT_MAX_TERMS) {
        p->overflow = true;
        return;
    }
    NatTerm small[2 * POLY_SMALL];
    NatTerm *sum = p->n + n <= 2 * POLY_SMALL ? small : NEWN(p->ctx, NatTerm, p->n + n);
    int i = 0, k = 0;
    for (int j = 0; j < n; j++) {
        NatTerm s;
        if (!term_multiply(p->ctx, &t[j], &by, &s)) {
            p->overflow = true;
            return;
        }
        int order = 1;
        while (i < p->n && (order = mono_cmp(&p->at[i], &s)) < 0)
            sum[k++] = p->at[i++];
        if (i < p->n && order == 0) {
            if (!add_fits(p->at[i].coef, s.coef, &s.coef)) {
                p->overflow = true;
                return;
            }
            i++;
            if (s.coef)
                sum[k++] = s;
        } else {
            sum[k++] = s;
        }
    }
    while (i < p->n)
        sum[k++] = p->at[i++];
    poly_reserve(p, k);
    memcpy(p->at, sum, sizeof(NatTerm) * (size_t)k);
    p->n = k;
}

void poly_add_nat(Poly *p, Nat a, NatTerm by)
{
    if (nat_is_error(a)) {
        p->overflow = true;
        return;
    }
    NatView v;
    nat_view(a, &v);
    poly_add_terms(p, v.at, v.n, by);
}

void poly_add_poly(Poly *p, const Poly *a, NatTerm by)
{
    p->overflow |= a->overflow;
    poly_add_terms(p, a->at, a->n, by);
}

void poly_add_product(Poly *p, const Poly *a, const Poly *b, int64_t k)
{
    p->overflow |= a->overflow || b->overflow;
    for (int i = 0; i < a->n && !p->overflow; i++) {
        NatTerm by = a->at[i];
        if (!mul_fits(by.coef, k, &by.coef))
            p->overflow = true;
        poly_add_terms(p, b->at, b->n, by);
    }
}

bool poly_divide(Ctx *ctx, const Poly *p, Nat b, Poly *q, Poly *r)
{
    NatView v;
    nat_view(b, &v);
    poly_init(ctx, q);
    if (p->overflow || v.n == 0)
        return false;
    poly_copy(ctx, r, p);
    const NatTerm *lead = &v.at[0];
    if (lead->coef == INT64_MIN)
        return false;
    int steps = 0;
    for (int i = 0; i < r->n;) {
        NatTerm t;
        int64_t k = 0;
        if (lead->n_factors <= r->at[i].n_factors) {
            int64_t c = r->at[i].coef;
            if (c == INT64_MIN && (lead->coef == 1 || lead->coef == -1))
                return false; /* the quotient has no negation */
            k = nat_is_const(b) && r->at[i].n_factors == 0 ? floor_div(c, lead->coef) : c / lead->coef;
        }
        if (k == 0 || !mono_divide(ctx, &r->at[i], lead, &t)) {
            i++;
            continue;
        }
        if (++steps > 64)
            return false;
        t.coef = k;
        poly_add_terms(q, &t, 1, TERM_K(1));
        t.coef = -k;
        poly_add_terms(r, v.at, v.n, t); /* touches no term before i: those of b * t after its leading one are smaller */
        if (q->overflow || r->overflow)
            return false;
    }
    return true;
}

Nat poly_nat_raw(Poly *p)
{
    if (p->overflow)
        return nat_error(p->ctx);
    if (p->n == 0)
        return nat_const(p->ctx, 0);
    if (p->n == 1) {
        if (p->at[0].n_factors == 0)
            return nat_const(p->ctx, p->at[0].coef);
        if (p->at[0].n_factors == 1 && p->at[0].coef == 1)
            return p->at[0].factors[0];
    }
    NatFull f = {.nat = {.kind = NAT_SUM, .n_terms = p->n, .terms = p->at}};
    uint32_t h = NAT_SUM;
    for (int i = 0; i < p->n; i++)
        h = mix(mix(h, (uint64_t)p->at[i].coef), hash_factors(p->at[i].factors, p->at[i].n_factors));
    f.nat.hash = h;
    return intern_node(p->ctx, &f);
}

/* ---- constructors --------------------------------------------------------------------------------------------------------- */

static Nat linear(Ctx *ctx, Nat a, int64_t ka, Nat b, int64_t kb)
{
    Poly p;
    poly_init(ctx, &p);
    poly_add_nat(&p, a, TERM_K(ka));
    poly_add_nat(&p, b, TERM_K(kb));
    return nat_sum_in(ctx, NULL, &p);
}

Nat nat_add(Ctx *ctx, Nat a, Nat b) { return nat_is(a, 0) ? b : nat_is(b, 0) ? a : linear(ctx, a, 1, b, 1); }
Nat nat_sub(Ctx *ctx, Nat a, Nat b) { return nat_is(b, 0) ? a : linear(ctx, a, 1, b, -1); }
Nat nat_add_k(Ctx *ctx, Nat a, int64_t k) { return nat_add(ctx, a, nat_const(ctx, k)); }
Nat nat_mul_k(Ctx *ctx, Nat a, int64_t k) { return nat_mul(ctx, a, nat_const(ctx, k)); }

Nat nat_mul(Ctx *ctx, Nat a, Nat b)
{
    if (nat_is_error(a) || nat_is_error(b))
        return nat_error(ctx);
    if (nat_is(a, 1))
        return b;
    if (nat_is(b, 1))
        return a;
    NatView va, vb;
    nat_view(a, &va);
    nat_view(b, &vb);
    Poly p;
    poly_init(ctx, &p);
    for (int i = 0; i < va.n && !p.overflow; i++)
        poly_add_terms(&p, vb.at, vb.n, va.at[i]);
    return nat_sum_in(ctx, NULL, &p);
}

Nat nat_div(Ctx *ctx, Nat a, Nat b) { return nat_div_in(ctx, NULL, a, b); }
Nat nat_mod(Ctx *ctx, Nat a, Nat b) { return nat_mod_in(ctx, NULL, a, b); }
Nat nat_min(Ctx *ctx, Nat a, Nat b) { return nat_min_max_in(ctx, NULL, NAT_MIN, a, b); }
Nat nat_max(Ctx *ctx, Nat a, Nat b) { return nat_min_max_in(ctx, NULL, NAT_MAX, a, b); }

Nat nat_ceil_div(Ctx *ctx, Nat a, Nat b)
{
    Poly p;
    poly_init(ctx, &p);
    poly_add_nat(&p, a, TERM_K(1));
    poly_add_nat(&p, b, TERM_K(1));
    poly_add_k(&p, -1);
    return nat_div(ctx, nat_sum_in(ctx, NULL, &p), b);
}

Nat nat_min_max_in(Ctx *ctx, NatEnv *env, NatKind kind, Nat a, Nat b)
{
    if (nat_is_error(a) || nat_is_error(b))
        return nat_error(ctx);
    if (a == b)
        return a;
    if (nat_is_const(a) && nat_is_const(b))
        return (a->value < b->value) == (kind == NAT_MIN) ? a : b;
    if (nat_is_const(a) || (a->id > b->id && !nat_is_const(b))) { /* a constant's id tells only when it was first used */
        Nat t = a;
        a = b;
        b = t;
    }
    Nat r = env ? NULL : nat_memo_get(ctx, kind, a, b);
    if (r)
        return r;
    Poly d;
    poly_init(ctx, &d);
    poly_add_nat(&d, b, TERM_K(1));
    poly_add_nat(&d, a, TERM_K(-1));
    if (nat_prove(ctx, env, &d, a, b)) {
        r = kind == NAT_MIN ? a : b;
    } else {
        poly_init(ctx, &d);
        poly_add_nat(&d, a, TERM_K(1));
        poly_add_nat(&d, b, TERM_K(-1));
        if (nat_prove(ctx, env, &d, a, b))
            r = kind == NAT_MIN ? b : a;
        else
            r = nat_atom(ctx, kind, a, b, false);
    }
    if (!env)
        nat_memo_put(ctx, kind, a, b, r);
    return r;
}

Nat nat_pow(Ctx *ctx, Nat a, Nat b)
{
    if (nat_is_error(a) || nat_is_error(b) || (nat_is_const(b) && b->value < 0))
        return nat_error(ctx);
    if (nat_is(b, 0) || nat_is(a, 1))
        return nat_const(ctx, 1);
    if (nat_is(b, 1))
        return a;
    if (nat_is_const(b)) {
        if (nat_is(a, 0))
            return a;
        if (nat_is(a, -1))
            return nat_const(ctx, b->value % 2 ? -1 : 1);
        /* A power of a sum has binomially many terms, one of a product its degree: what is too large stays a power. */
        NatView v;
        nat_view(a, &v);
        int64_t limit = nat_is_const(a) ? 64 : a->kind == NAT_SUM && v.n > 1 ? 6 : NAT_MAX_DEGREE;
        if (b->value > limit)
            return nat_is_const(a) ? nat_error(ctx) : nat_atom(ctx, NAT_POW, a, b, false);
        Nat r = a;
        for (int64_t i = 1; i < b->value; i++)
            r = nat_mul(ctx, r, a);
        return nat_is_error(r) && !nat_is_const(a) ? nat_atom(ctx, NAT_POW, a, b, false) : r;
    }
    /* a ^ (x + k) = a^k * a^x where x >= 0, so that no smaller exponent becomes negative. */
    NatView v;
    nat_view(b, &v);
    int64_t k = v.n && v.at[v.n - 1].n_factors == 0 ? v.at[v.n - 1].coef : 0;
    if (k > 0 && k <= 62 && nat_is_const(a)) {
        Nat rest = nat_add_k(ctx, b, -k);
        if (nat_prove_nat(ctx, NULL, rest, b, NULL)) {
            Nat factor = nat_pow(ctx, a, nat_const(ctx, k));
            if (!nat_is_error(factor))
                return nat_mul(ctx, factor, nat_pow(ctx, a, rest));
        }
    }
    return nat_atom(ctx, NAT_POW, a, b, false);
}

Nat nat_log2(Ctx *ctx, Nat a)
{
    if (nat_is_error(a) || (nat_is_const(a) && a->value < 1))
        return nat_error(ctx);
    if (nat_is_const(a))
        return nat_const(ctx, log2_floor(a->value));
    /* log2(2^k * 2^x) = k + x; where the power is defined x is >= 0. */
    NatView v;
    nat_view(a, &v);
    if (v.n == 1 && v.at[0].n_factors == 1 && v.at[0].coef > 0 && (v.at[0].coef & (v.at[0].coef - 1)) == 0) {
        Nat p = v.at[0].factors[0];
        if (p->kind == NAT_POW && nat_is(p->a, 2))
            return nat_add_k(ctx, p->b, log2_floor(v.at[0].coef));
    }
    return nat_atom(ctx, NAT_LOG2, a, NULL, false);
}

/* ---- substitution ---------------------------------------------------------------------------------------------------------- */

typedef struct Subst {
    Ctx *ctx;
    int n;
    const Nat *vars, *by;
    uint32_t oldest; /* a node made before all vars cannot mention one */
} Subst;

static Nat subst(const Subst *s, Nat a)
{
    Ctx *ctx = s->ctx;
    if (a->id < s->oldest || !a->has_vars)
        return a;
    switch (a->kind) {
    case NAT_ERROR:
    case NAT_CONST:
        return a;
    case NAT_VAR:
        for (int i = 0; i < s->n; i++)
            if (s->vars[i] == a)
                return s->by[i];
        return a;
    case NAT_SUM: {
        Nat sum = nat_const(ctx, 0);
        for (int i = 0; i < a->n_terms; i++) {
            Nat product = nat_const(ctx, a->terms[i].coef);
            for (int j = 0; j < a->terms[i].n_factors; j++)
                product = nat_mul(ctx, product, subst(s, a->terms[i].factors[j]));
            sum = nat_add(ctx, sum, product);
        }
        return sum;
    }
    case NAT_DIV:
        return nat_div(ctx, subst(s, a->a), subst(s, a->b));
    case NAT_MOD:
        return nat_mod(ctx, subst(s, a->a), subst(s, a->b));
    case NAT_MIN:
        return nat_min(ctx, subst(s, a->a), subst(s, a->b));
    case NAT_MAX:
        return nat_max(ctx, subst(s, a->a), subst(s, a->b));
    case NAT_POW:
        return nat_pow(ctx, subst(s, a->a), subst(s, a->b));
    case NAT_LOG2:
        return nat_log2(ctx, subst(s, a->a));
    }
    return a;
}

Nat nat_subst_many(Ctx *ctx, Nat a, int n, const Nat *vars, const Nat *by)
{
    Subst s = {ctx, n, vars, by, UINT32_MAX};
    for (int i = 0; i < n; i++)
        if (vars[i]->id < s.oldest)
            s.oldest = vars[i]->id;
    return n ? subst(&s, a) : a;
}

Nat nat_subst(Ctx *ctx, Nat a, Nat var, Nat by) { return nat_subst_many(ctx, a, 1, &var, &by); }

bool nat_mentions(Nat a, Nat var)
{
    if (a == var)
        return true;
    if (a->id < var->id)
        return false;
    if ((a->a && nat_mentions(a->a, var)) || (a->b && nat_mentions(a->b, var)))
        return true;
    for (int i = 0; i < a->n_terms; i++)
        for (int j = 0; j < a->terms[i].n_factors; j++)
            if (nat_mentions(a->terms[i].factors[j], var))
                return true;
    return false;
}

typedef struct VarList {
    VEC(Nat) list; /* in order of id */
} VarList;

static void collect_vars(Ctx *ctx, Nat a, VarList *vars)
{
    if (!a->has_vars)
        return;
    if (a->kind == NAT_VAR) {
        int at = vars->list.n;
        while (at > 0 && vars->list.at[at - 1]->id >= a->id)
            at--;
        if (at < vars->list.n && vars->list.at[at] == a)
            return;
        vec_push(ctx, &vars->list, a);
        memmove(vars->list.at + at + 1, vars->list.at + at, sizeof(Nat) * (size_t)(vars->list.n - 1 - at));
        vars->list.at[at] = a;
        return;
    }
    if (a->a)
        collect_vars(ctx, a->a, vars);
    if (a->b)
        collect_vars(ctx, a->b, vars);
    for (int i = 0; i < a->n_terms; i++)
        for (int j = 0; j < a->terms[i].n_factors; j++)
            collect_vars(ctx, a->terms[i].factors[j], vars);
}

void nat_each_var(Ctx *ctx, Nat a, void (*fn)(void *user, Nat var), void *user)
{
    VarList vars = {0};
    collect_vars(ctx, a, &vars);
    for (int i = 0; i < vars.list.n; i++)
        fn(user, vars.list.at[i]);
}
