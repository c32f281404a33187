/* The nodes: hash-consing, what is known of each from the start (ranges), and remembered results.
 *
 * Nothing here simplifies; what comes in is in normal form, or is scaffolding of the prover. */
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
    struct NatAnswers *answers;
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

const Nat *nat_factors(Ctx *ctx, const Nat *factors, int n)
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

int nat_log2_floor(int64_t x)
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
        r.lo = a.has_lo && a.lo >= 1 ? nat_log2_floor(a.lo) : 0;
        if (a.has_hi && a.hi >= 1) {
            r.has_hi = true;
            r.hi = nat_log2_floor(a.hi);
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
    f.divides = f.nat.kind == NAT_DIV || f.nat.kind == NAT_MOD;
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

int nat_nodes(Nat a) { return (int)nat_full(a)->weight; }

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

static NatFull *new_var(Ctx *ctx, const char *name, Nat lo, Nat hi)
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
    return f;
}

Nat nat_var(Ctx *ctx, const char *name, Nat lo, Nat hi) { return &new_var(ctx, name, lo, hi)->nat; }

static const char *const device_names[] = {[NAT_NUM_SM] = "numSM", [NAT_MAX_RESIDENT] = "maxResident"};

NatDevice nat_device_find(const char *name)
{
    for (NatDevice which = NAT_NUM_SM; which <= NAT_MAX_RESIDENT; which++)
        if (strcmp(device_names[which], name) == 0)
            return which;
    return NAT_NO_DEVICE;
}

Nat nat_device_var(Ctx *ctx, NatDevice which)
{
    NatFull *f = new_var(ctx, device_names[which], nat_const(ctx, 1), NULL);
    f->nat.device = which;
    return &f->nat;
}

Nat nat_turn_var(Ctx *ctx, Nat count)
{
    NatFull *f = new_var(ctx, "turn", nat_const(ctx, 0), nat_add_k(ctx, count, -1));
    f->nat.device = NAT_TURN;
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

struct NatAnswers **nat_answers(Ctx *ctx) { return &store_of(ctx)->answers; }
