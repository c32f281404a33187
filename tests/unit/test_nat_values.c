/* Nats against direct evaluation.
 *
 *   test_nat_values [random checks] [seed]
 *
 * All expressions of up to three operators over small values; random ones with ranges, with facts, and with values near
 * 2^31, 2^32 and 2^63. A check is one comparison. Prints the seed, and `nat values: N checks, W wrong` last. */
#include <stdlib.h>

#include "nat_check.h"

/* ---- all small expressions ------------------------------------------------------------------------------------------------- */

enum { MAX_ASSIGNMENTS = 120, LEAVES = 6, SETS = 4 };

typedef struct Small {
    Nat nat;
    uint8_t op;
    uint16_t a, b; /* into the level lists, for messages */
    int8_t defined[MAX_ASSIGNMENTS];
    int16_t values[MAX_ASSIGNMENTS];
} Small;

typedef struct Universe {
    Ctx *ctx;
    int set;
    Assignment assignments[MAX_ASSIGNMENTS];
    int n_assignments;
    Small *level[3];
    int n[3];
    int64_t turn;
} Universe;

/* Set 0: x free, y in [1, 4], z in [0, y - 1]. Set 1: n >= 0, k >= 1, i in [0, n - 1]. Set 2: n, m >= 0,
 * p in [0, n*m - 1]: that there is a p says that n and m are not 0. Set 3: the same of an n and an m
 * that may be negative. */
static void make_leaves(Universe *u)
{
    Ctx *ctx = u->ctx;
    Nat leaves[LEAVES];
    int n = 0;
    if (u->set == 0) {
        Nat x = nat_var(ctx, "x", NULL, NULL), y = nat_var(ctx, "y", nat_const(ctx, 1), nat_const(ctx, 4));
        Nat z = nat_var(ctx, "z", nat_const(ctx, 0), nat_add_k(ctx, y, -1));
        static const int64_t xs[] = {-4, -1, 0, 1, 3, 6, 11};
        for (int i = 0; i < 7; i++)
            for (int64_t yy = 1; yy <= 4; yy++)
                for (int64_t zz = 0; zz < yy; zz++)
                    u->assignments[n++] = (Assignment){{x, y, z}, {xs[i], yy, zz}, 3};
        Nat made[LEAVES] = {x, y, z, nat_const(ctx, 1), nat_const(ctx, 2), nat_const(ctx, 3)};
        memcpy(leaves, made, sizeof made);
    } else if (u->set >= 2) {
        Nat least = u->set == 2 ? nat_const(ctx, 0) : NULL;
        Nat rows = nat_var(ctx, "n", least, NULL), columns = nat_var(ctx, "m", least, NULL);
        Nat place = nat_var(ctx, "p", nat_const(ctx, 0), nat_add_k(ctx, nat_mul(ctx, rows, columns), -1));
        static const int64_t positive[] = {1, 2, 3, 5}, any[] = {-3, -1, 1, 2};
        const int64_t *lengths = least ? positive : any;
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                for (int64_t k = 0; k < lengths[i] * lengths[j]; k += 1 + (lengths[i] * lengths[j] > 6) * (k % 2 + 1))
                    u->assignments[n++] = (Assignment){{rows, columns, place}, {lengths[i], lengths[j], k}, 3};
        Nat made[LEAVES] = {rows, columns, place, nat_const(ctx, 1), nat_const(ctx, 2), nat_mul(ctx, rows, columns)};
        memcpy(leaves, made, sizeof made);
    } else {
        Nat size = nat_var(ctx, "n", nat_const(ctx, 0), NULL), k = nat_var(ctx, "k", nat_const(ctx, 1), NULL);
        Nat i = nat_var(ctx, "i", nat_const(ctx, 0), nat_add_k(ctx, size, -1));
        static const int64_t ks[] = {1, 2, 4, 7};
        for (int64_t nn = 1; nn <= 5; nn++)
            for (int64_t ii = 0; ii < nn; ii++)
                for (int j = 0; j < 4; j++)
                    u->assignments[n++] = (Assignment){{size, k, i}, {nn, ks[j], ii}, 3};
        Nat made[LEAVES] = {size, k, i, nat_const(ctx, 0), nat_const(ctx, 4), nat_const(ctx, -3)};
        memcpy(leaves, made, sizeof made);
    }
    u->n_assignments = n;
    for (int l = 0; l < LEAVES; l++) {
        Small *s = &u->level[0][l];
        s->nat = leaves[l];
        for (int t = 0; t < n; t++) {
            int64_t v = 0;
            nat_eval(leaves[l], value_of, &u->assignments[t], &v);
            s->defined[t] = 1;
            s->values[t] = (int16_t)v;
        }
    }
    u->n[0] = LEAVES;
}

static void check_small(Universe *u, Nat r, Op op, const Small *a, const Small *b, int t)
{
    if (!a->defined[t] || !b->defined[t])
        return;
    Value d = direct(op, (Value){true, a->values[t]}, (Value){true, b->values[t]});
    if (!d.defined)
        return;
    int64_t v = 0;
    NatEval e = nat_eval(r, value_of, &u->assignments[t], &v);
    tally.checks++;
    if (e != NAT_EVAL_OK || v != d.v)
        fail("(%s) %c (%s) = %s\n  at%s gives %" PRId64 " (%d), directly %" PRId64, nat_text(u->ctx, a->nat), op_names[op],
             nat_text(u->ctx, b->nat), nat_text(u->ctx, r), describe(u->ctx, &u->assignments[t]), v, (int)e, (int64_t)d.v);
}

static void combine(Universe *u, int la, int lb, int to)
{
    for (int op = 0; op < OP_COUNT; op++)
        for (int i = 0; i < u->n[la]; i++)
            for (int j = 0; j < u->n[lb]; j++) {
                const Small *a = &u->level[la][i], *b = &u->level[lb][j];
                Small *s = &u->level[to][u->n[to]++];
                s->nat = apply(u->ctx, (Op)op, a->nat, b->nat);
                for (int t = 0; t < u->n_assignments; t++) {
                    Value d = {false, 0};
                    if (a->defined[t] && b->defined[t])
                        d = direct((Op)op, (Value){true, a->values[t]}, (Value){true, b->values[t]});
                    s->defined[t] = d.defined;
                    s->values[t] = (int16_t)d.v;
                    check_small(u, s->nat, (Op)op, a, b, t);
                }
            }
}

static void make_levels(Universe *u)
{
    u->n[0] = u->n[1] = u->n[2] = 0;
    make_leaves(u);
    combine(u, 0, 0, 1);
    combine(u, 0, 1, 2);
    combine(u, 1, 0, 2);
}

/* What is proved of two expressions holds for all values. */
static void check_proved(Universe *u, const Small *a, const Small *b)
{
    bool le = nat_le(u->ctx, NULL, a->nat, b->nat), lt = nat_lt(u->ctx, NULL, a->nat, b->nat), eq = nat_equal(u->ctx, NULL, a->nat, b->nat);
    for (int t = 0; t < u->n_assignments; t++) {
        if (!a->defined[t] || !b->defined[t])
            continue;
        tally.checks += 3;
        tally.proved += le + lt + eq;
        if ((le && a->values[t] > b->values[t]) || (lt && a->values[t] >= b->values[t]) || (eq && a->values[t] != b->values[t]))
            fail("%s %s %s is proved\n  at%s it is false", nat_text(u->ctx, a->nat), eq ? "==" : lt ? "<" : "<=", nat_text(u->ctx, b->nat),
                 describe(u->ctx, &u->assignments[t]));
    }
}

static void check_all_proved(Universe *u)
{
    for (int i = 0; i < u->n[1]; i++)
        for (int j = 0; j < u->n[1]; j++)
            check_proved(u, &u->level[1][i], &u->level[1][j]);
    for (int i = (int)(u->turn++ % 7); i < u->n[2]; i += 7)
        for (int j = 0; j < u->n[0]; j++) {
            check_proved(u, &u->level[2][i], &u->level[0][j]);
            check_proved(u, &u->level[0][j], &u->level[2][i]);
        }
}

static Nat same_vars(Ctx *ctx, Nat a, const Assignment *vars)
{
    /* Through other variables and back would lose the ranges; a substitution by themselves rebuilds everything. */
    return nat_subst_many(ctx, a, vars->n, vars->vars, vars->vars);
}

static void combine_last(Universe *u, int la, int lb, Op op, int per_expression)
{
    for (int i = 0; i < u->n[la]; i++)
        for (int j = 0; j < u->n[lb]; j++) {
            const Small *a = &u->level[la][i], *b = &u->level[lb][j];
            Nat r = apply(u->ctx, op, a->nat, b->nat);
            for (int t = 0; t < per_expression; t++)
                check_small(u, r, op, a, b, (int)(u->turn++ % u->n_assignments));
            if (u->turn % 7 == 0)
                CHECK(same_vars(u->ctx, r, &u->assignments[0]) == r, "%s is no normal form", nat_text(u->ctx, r));
        }
}

static void test_all_small(int per_expression)
{
    Universe u = {0};
    u.level[0] = malloc(sizeof(Small) * LEAVES);
    u.level[1] = malloc(sizeof(Small) * LEAVES * LEAVES * OP_COUNT);
    u.level[2] = malloc(sizeof(Small) * 2 * LEAVES * LEAVES * OP_COUNT * LEAVES * OP_COUNT);
    if (!u.level[0] || !u.level[1] || !u.level[2])
        abort();
    for (u.set = 0; u.set < SETS; u.set++)
        for (int op = 0; op < OP_COUNT; op++) { /* a context each, so that memory stays small */
            u.ctx = ctx_new(NULL, NULL);
            make_levels(&u);
            if (op == 0)
                check_all_proved(&u);
            combine_last(&u, 0, 2, (Op)op, per_expression);
            combine_last(&u, 2, 0, (Op)op, per_expression);
            combine_last(&u, 1, 1, (Op)op, per_expression);
            ctx_free(u.ctx);
        }
    for (int i = 0; i < 3; i++)
        free(u.level[i]);
}

/* ---- random ------------------------------------------------------------------------------------------------------------------- */

typedef struct Rng {
    uint64_t s;
} Rng;

static uint64_t next(Rng *r)
{
    uint64_t z = r->s += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int below(Rng *r, int n) { return (int)(next(r) % (uint64_t)n); }

enum { POOL = 40, SAMPLES = 14, MAX_FACTS = 4 };

typedef struct Item {
    Nat nat;
    Op op;
    int a, b; /* -1: a leaf */
} Item;

typedef struct FactItem {
    int kind; /* 0: a <= b, 1: a == b, 2: a != b */
    int a, b;
} FactItem;

typedef struct Round {
    Ctx *ctx;
    Rng rng;
    bool big;
    Assignment vars;
    Item pool[POOL + 4 * MAX_FACTS + 4];
    int n;
    Assignment samples[SAMPLES];
    Value values[SAMPLES][POOL + 4 * MAX_FACTS + 4];
    bool holds[SAMPLES];
    int n_samples;
    FactItem facts[MAX_FACTS];
    int n_facts;
} Round;

static int64_t random_k(Round *r)
{
    static const int64_t near[] = {INT64_C(1) << 31, INT64_C(1) << 32, INT64_C(1) << 62, INT64_MAX, INT64_MIN, INT64_C(1) << 20};
    static const int64_t steps[] = {1, 2, 3, 4, 8, 16, 32, 64, 6, 12, 1024, 256};
    if (r->big && below(&r->rng, 3) == 0) {
        int64_t k = near[below(&r->rng, 6)], d = below(&r->rng, 5) - 2;
        return k == INT64_MAX ? k - below(&r->rng, 3) : k == INT64_MIN ? k + below(&r->rng, 3) : k + d;
    }
    switch (below(&r->rng, 4)) {
    case 0:
        return below(&r->rng, 9);
    case 1:
        return below(&r->rng, 8) - 4;
    default:
        return steps[below(&r->rng, 12)];
    }
}

static int leaf(Round *r, Nat a)
{
    r->pool[r->n] = (Item){a, OP_ADD, -1, -1};
    return r->n++;
}

static int node(Round *r, Op op, int a, int b)
{
    r->pool[r->n] = (Item){apply(r->ctx, op, r->pool[a].nat, r->pool[b].nat), op, a, b};
    return r->n++;
}

static void random_vars(Round *r)
{
    static const char *const names[] = {"n", "m", "k", "i", "j", "l"};
    Ctx *ctx = r->ctx;
    int n = 2 + below(&r->rng, 4);
    r->vars.n = 0;
    for (int i = 0; i < n; i++) {
        Nat lo = NULL, hi = NULL, older = i ? r->vars.vars[below(&r->rng, i)] : NULL;
        int64_t k = random_k(r);
        switch (below(&r->rng, 9)) {
        case 0:
            break;
        case 8: /* below a product */
            lo = nat_const(ctx, 0);
            hi = older ? nat_add_k(ctx, nat_mul(ctx, older, r->vars.vars[below(&r->rng, i)]), -1) : NULL;
            break;
        case 1:
        case 2:
            lo = nat_const(ctx, below(&r->rng, 2));
            break;
        case 3:
            lo = nat_const(ctx, 0);
            hi = nat_const(ctx, k < 0 ? -(k + 1) : k);
            break;
        case 4:
            hi = nat_const(ctx, k);
            break;
        case 5:
        case 6:
            lo = nat_const(ctx, below(&r->rng, 4) ? 0 : below(&r->rng, 5) - 2);
            hi = older ? nat_add_k(ctx, older, below(&r->rng, 4) ? -1 : below(&r->rng, 5) - 2) : nat_const(ctx, 31);
            break;
        default: {
            Nat by = nat_const(ctx, k < 1 ? 4 : k);
            lo = nat_const(ctx, 0);
            hi = older ? nat_add_k(ctx, below(&r->rng, 2) ? nat_ceil_div(ctx, older, by) : nat_div(ctx, older, by), -1) : NULL;
            break;
        }
        }
        r->vars.vars[i] = nat_var(ctx, names[i], lo, hi);
        r->vars.n++;
        leaf(r, r->vars.vars[i]);
    }
}

static int operand(Round *r)
{
    if (below(&r->rng, 4) == 0)
        return leaf(r, nat_const(r->ctx, random_k(r)));
    return below(&r->rng, 3) ? below(&r->rng, r->n) : below(&r->rng, r->vars.n);
}

/* Shapes that the rules look for, over random parts. */
static void random_items(Round *r)
{
    while (r->n < POOL - 8) {
        int a = operand(r), b = operand(r);
        if (r->n >= POOL - 8)
            break;
        switch (below(&r->rng, 11)) {
        case 3: { /* 2^x, x^2, log2 */
            int two = leaf(r, nat_const(r->ctx, 2));
            if (below(&r->rng, 2))
                node(r, OP_POW, two, node(r, OP_ADD, a, two));
            else
                node(r, OP_LOG2, node(r, OP_POW, two, a), a);
            node(r, OP_POW, b, two);
            break;
        }
        case 0: { /* b*(a/b) +- a%b, perhaps with the wrong sign or order */
            int q = node(r, OP_DIV, a, b), p = node(r, OP_MUL, q, b), m = node(r, OP_MOD, a, b);
            int s = node(r, below(&r->rng, 2) ? OP_ADD : OP_SUB, p, m);
            node(r, below(&r->rng, 2) ? OP_ADD : OP_SUB, below(&r->rng, 2) ? a : s, below(&r->rng, 2) ? p : m);
            break;
        }
        case 1: { /* (a*b + c) / b or % b */
            int c = below(&r->rng, r->n), p = node(r, OP_MUL, a, b), s = node(r, OP_ADD, p, c);
            node(r, OP_DIV, s, b);
            node(r, OP_MOD, s, b);
            break;
        }
        case 2: { /* ceilDiv, and rounding up */
            int s = node(r, OP_ADD, a, b), one = leaf(r, nat_const(r->ctx, 1)), t = node(r, OP_SUB, s, one), q = node(r, OP_DIV, t, b);
            node(r, OP_MUL, q, b);
            break;
        }
        case 4: { /* d*(a/(c*d)) and a/c, perhaps less b */
            int d = leaf(r, nat_const(r->ctx, 1 + below(&r->rng, 6))), c = leaf(r, nat_const(r->ctx, 1 + below(&r->rng, 8)));
            int q = node(r, OP_DIV, a, node(r, OP_MUL, c, d)), p = node(r, OP_MUL, q, d);
            node(r, OP_DIV, a, c);
            node(r, OP_SUB, p, b);
            break;
        }
        default:
            node(r, (Op)below(&r->rng, OP_COUNT), a, b);
            break;
        }
    }
}

/* One value for every variable, oldest first, within its range. */
static bool sample(Round *r, Assignment *s)
{
    *s = r->vars;
    for (int i = 0; i < s->n; i++) {
        Nat v = s->vars[i];
        Assignment known = *s;
        known.n = i;
        int64_t lo = INT64_MIN, hi = INT64_MAX, x;
        if (v->lo && nat_eval(v->lo, value_of, &known, &lo) != NAT_EVAL_OK)
            return false;
        if (v->hi && nat_eval(v->hi, value_of, &known, &hi) != NAT_EVAL_OK)
            return false;
        if (lo > hi)
            return false;
        int64_t base = lo != INT64_MIN ? lo : hi != INT64_MAX ? hi : 0;
        uint64_t width = (uint64_t)hi - (uint64_t)lo;
        int64_t spread = below(&r->rng, 3) ? 12 : 3000;
        switch (below(&r->rng, 6)) {
        case 0:
            x = lo != INT64_MIN ? lo : hi;
            break;
        case 1:
            x = hi != INT64_MAX ? hi : lo;
            break;
        case 2:
            if (r->big) {
                x = random_k(r);
                break;
            }
            /* fall through */
        case 3:
            x = (int64_t)((uint64_t)lo + (width == UINT64_MAX ? next(&r->rng) : next(&r->rng) % (width + 1)));
            if (r->big || (lo != INT64_MIN && hi != INT64_MAX))
                break;
            /* fall through */
        default:
            x = (int64_t)((uint64_t)base + (uint64_t)below(&r->rng, (int)spread) -
                          (uint64_t)(lo == INT64_MIN ? (hi == INT64_MAX ? spread / 2 : spread - 1) : 0));
            break;
        }
        if (x < lo || x > hi || (!r->big && (x > INT64_C(1) << 40 || x < -(INT64_C(1) << 40))))
            x = base;
        s->values[i] = x;
    }
    return true;
}

static void evaluate(Round *r, int s, int from)
{
    for (int i = from; i < r->n; i++) {
        const Item *item = &r->pool[i];
        Value *v = &r->values[s][i];
        if (item->a >= 0) {
            *v = direct(item->op, r->values[s][item->a], r->values[s][item->b]);
        } else {
            int64_t x = 0;
            v->defined = nat_eval(item->nat, value_of, &r->samples[s], &x) == NAT_EVAL_OK;
            v->v = x;
        }
    }
}

/* True of sample 0. Returns false when nothing came of it. */
static bool random_fact(Round *r)
{
    const Value *v = r->values[0];
    int a = below(&r->rng, r->n), b = below(&r->rng, 2) ? below(&r->rng, r->n) : below(&r->rng, r->vars.n);
    FactItem *f = &r->facts[r->n_facts];
    if (!v[a].defined || !v[b].defined || nat_is_error(r->pool[a].nat) || nat_is_error(r->pool[b].nat))
        return false;
    switch (below(&r->rng, 5)) {
    case 0: { /* a % k == what it is */
        int k = leaf(r, nat_const(r->ctx, 1 + below(&r->rng, 2) * 7 + below(&r->rng, 33)));
        int other = below(&r->rng, r->n);
        if (below(&r->rng, 3) == 0)
            k = below(&r->rng, r->vars.n);
        else if (below(&r->rng, 2) && nat_is_const(r->pool[other].nat)) /* one that divides something already */
            k = other;
        evaluate(r, 0, k);
        int m = node(r, OP_MOD, below(&r->rng, 2) ? b : below(&r->rng, r->vars.n), k);
        evaluate(r, 0, m);
        if (!v[m].defined || v[m].v > INT64_MAX)
            return false;
        *f = (FactItem){1, m, leaf(r, nat_const(r->ctx, (int64_t)v[m].v))};
        break;
    }
    case 1: { /* a == b + difference */
        Wide d = v[a].v - v[b].v;
        if (d > INT64_MAX || d < INT64_MIN)
            return false;
        int k = leaf(r, nat_const(r->ctx, (int64_t)d));
        *f = (FactItem){1, a, node(r, OP_ADD, b, k)};
        break;
    }
    case 2:
        if (v[a].v == v[b].v)
            return false;
        *f = (FactItem){2, a, b};
        break;
    default:
        *f = v[a].v <= v[b].v ? (FactItem){0, a, b} : (FactItem){0, b, a};
        break;
    }
    r->n_facts++;
    return true;
}

static bool fact_holds(const Round *r, int s, const FactItem *f)
{
    const Value *a = &r->values[s][f->a], *b = &r->values[s][f->b];
    if (!a->defined || !b->defined)
        return false;
    switch (f->kind) {
    case 0:
        return a->v <= b->v;
    case 1:
        return a->v == b->v;
    default:
        return a->v != b->v;
    }
}

static void report(Round *r, int s, const char *what, Nat given, Nat other)
{
    char buf[1000] = "";
    for (int f = 0; f < r->n_facts; f++) {
        static const char *const rel[] = {"<=", "==", "!="};
        size_t n = strlen(buf);
        snprintf(buf + n, sizeof buf - n, "\n  fact %s %s %s", nat_text(r->ctx, r->pool[r->facts[f].a].nat), rel[r->facts[f].kind],
                 nat_text(r->ctx, r->pool[r->facts[f].b].nat));
    }
    fail("%s: %s\n  and %s\n  at%s%s", what, nat_text(r->ctx, given), other ? nat_text(r->ctx, other) : "-",
         describe(r->ctx, &r->samples[s]), buf);
}

/* Direct and by nat_eval; overflow of the evaluation is no wrong answer. */
static void check_value(Round *r, int s, int item, Nat a, const char *what)
{
    Value d = r->values[s][item];
    int64_t x = 0;
    if (!d.defined)
        return;
    NatEval e = nat_eval(a, value_of, &r->samples[s], &x);
    tally.checks++;
    if (e == NAT_EVAL_OVERFLOW) {
        tally.overflows++;
        if (!r->big && nat_is_error(a))
            tally.overflows--, tally.checks--;
        return;
    }
    if (e != NAT_EVAL_OK || x != d.v) {
        const Item *i = &r->pool[item];
        char buf[600];
        snprintf(buf, sizeof buf, "%s %d: %" PRId64 " for %" PRId64 " of (%s) %c (%s)", what, (int)e, x, (int64_t)d.v,
                 i->a < 0 ? "" : nat_text(r->ctx, r->pool[i->a].nat), op_names[i->op], i->a < 0 ? "" : nat_text(r->ctx, r->pool[i->b].nat));
        report(r, s, buf, a, r->pool[item].nat);
    }
}

static void check_relations(Round *r, const NatFacts *facts, bool with_facts)
{
    Ctx *ctx = r->ctx;
    for (int t = 0; t < 6; t++) {
        int a = below(&r->rng, r->n), b = below(&r->rng, r->n), s0 = 0;
        Nat x = r->pool[a].nat, y = r->pool[b].nat;
        if (!r->values[s0][a].defined || !r->values[s0][b].defined || nat_is_error(x) || nat_is_error(y))
            continue;
        /* Shifted so that the relation holds tightly somewhere, else nearly nothing is provable. */
        Wide d = r->values[s0][a].v - r->values[s0][b].v;
        for (int s = 0; s < r->n_samples && t % 2; s++)
            if (r->values[s][a].defined && r->values[s][b].defined && (!with_facts || r->holds[s]) && r->values[s][a].v - r->values[s][b].v > d)
                d = r->values[s][a].v - r->values[s][b].v;
        if (d > INT64_C(1) << 61 || d < -(INT64_C(1) << 61))
            continue;
        if (t % 3 == 2)
            d -= 1;
        Nat z = nat_add_k(ctx, y, (int64_t)d);
        bool le = nat_le(ctx, facts, x, z), lt = nat_lt(ctx, facts, x, z), eq = nat_equal(ctx, facts, x, z);
        bool div = nat_divides(ctx, facts, y, x);
        NatFacts *fewer = nat_facts_new(ctx, (NatFacts *)(uintptr_t)facts);
        nat_fact_le(ctx, fewer, x, nat_add_k(ctx, z, below(&r->rng, 3) - 1));
        bool none = nat_no_scope(ctx, fewer);
        for (int s = 0; s < r->n_samples; s++) {
            Value va = r->values[s][a], vb = r->values[s][b];
            if (!va.defined || !vb.defined || (with_facts && !r->holds[s]))
                continue;
            tally.checks += 5;
            tally.proved += le + lt + eq + div + none;
            if (none && va.v < vb.v + d)
                report(r, s, "no scope", x, z);
            if (le && va.v > vb.v + d)
                report(r, s, "<=", x, z);
            if (lt && va.v >= vb.v + d)
                report(r, s, "<", x, z);
            if (eq && va.v != vb.v + d)
                report(r, s, "==", x, z);
            if (div && (vb.v < 1 || va.v % vb.v != 0))
                report(r, s, "divides", y, x);
        }
    }
    for (int t = 0; t < 4; t++) {
        int a = below(&r->rng, r->n);
        NatRange range = nat_range(ctx, facts, r->pool[a].nat);
        for (int s = 0; s < r->n_samples; s++)
            if (r->values[s][a].defined && (!with_facts || r->holds[s])) {
                tally.checks++;
                if ((range.has_lo && r->values[s][a].v < range.lo) || (range.has_hi && r->values[s][a].v > range.hi))
                    report(r, s, "range", r->pool[a].nat, range.has_lo ? nat_const(ctx, range.lo) : NULL);
            }
    }
}

static void check_facts(Round *r)
{
    Ctx *ctx = r->ctx;
    int wanted = 1 + below(&r->rng, MAX_FACTS);
    for (int t = 0; t < 3 * MAX_FACTS && r->n_facts < wanted; t++)
        if (r->n < POOL + 4 * MAX_FACTS)
            random_fact(r);
    NatFacts *outer = nat_facts_new(ctx, NULL), *facts = outer;
    for (int s = 0; s < r->n_samples; s++) {
        evaluate(r, s, 0);
        r->holds[s] = true;
        for (int f = 0; f < r->n_facts; f++)
            r->holds[s] &= fact_holds(r, s, &r->facts[f]);
    }
    for (int f = 0; f < r->n_facts; f++) {
        Nat a = r->pool[r->facts[f].a].nat, b = r->pool[r->facts[f].b].nat;
        if (f == 2)
            facts = nat_facts_new(ctx, outer);
        (r->facts[f].kind == 0 ? nat_fact_le : r->facts[f].kind == 1 ? nat_fact_eq : nat_fact_ne)(ctx, facts, a, b);
    }
    for (int i = 0; i < r->n; i++) {
        Nat a = nat_simplify(ctx, facts, r->pool[i].nat);
        for (int s = 0; s < r->n_samples; s++)
            if (r->holds[s])
                check_value(r, s, i, a, "simplify");
        if (i % 8 == 0)
            CHECK(nat_simplify(ctx, facts, r->pool[i].nat) == a, "simplify twice: %s", nat_text(ctx, a));
    }
    check_relations(r, facts, true);
}

static void check_forms(Round *r, const Names *names)
{
    Ctx *ctx = r->ctx;
    for (int i = 0; i < r->n; i += 3) {
        Nat a = r->pool[i].nat;
        if (nat_is_error(a))
            continue;
        Nat again = same_vars(ctx, a, &r->vars);
        if (r->big && nat_is_error(again)) /* a sum in another order may leave 64 bits on its way */
            continue;
        CHECK(again == a, "no normal form: %s\n  becomes %s\n  with%s", nat_text(ctx, a), nat_text(ctx, again), describe(ctx, &r->samples[0]));
        const char *text = nat_text(ctx, a);
        Nat back = read_nat(ctx, names, text);
        CHECK(back == a || (r->big && nat_is_error(back)), "%s reads back as %s\n  with%s", text, nat_text(ctx, back), describe(ctx, &r->samples[0]));
        int helpers;
        text = c_text(ctx, a, NULL, &helpers);
        back = read_nat(ctx, names, text);
        CHECK(back == a || (r->big && nat_is_error(back)), "C: %s reads back as %s\n  with%s", text, nat_text(ctx, back), describe(ctx, &r->samples[0]));
    }
}

static uint64_t random_round(Ctx *ctx, uint64_t seed)
{
    static Round round;
    Round *r = &round;
    memset(r, 0, sizeof *r);
    r->ctx = ctx;
    r->rng.s = seed;
    r->big = below(&r->rng, 4) == 0;
    random_vars(r);
    random_items(r);
    for (int t = 0; t < 4 * SAMPLES && r->n_samples < SAMPLES; t++)
        if (sample(r, &r->samples[r->n_samples])) {
            evaluate(r, r->n_samples, 0);
            r->n_samples++;
        }
    uint64_t print = 1469598103934665603u;
    for (int i = 0; i < r->n; i++)
        for (const char *c = nat_text(ctx, r->pool[i].nat); *c; c++)
            print = (print ^ (unsigned char)*c) * 1099511628211u;
    if (r->n_samples == 0)
        return print;
    for (int i = 0; i < r->n; i++)
        for (int s = 0; s < r->n_samples; s++)
            check_value(r, s, i, r->pool[i].nat, "value");
    Names names = {.n = r->vars.n};
    memcpy(names.vars, r->vars.vars, sizeof(Nat) * (size_t)r->vars.n);
    check_forms(r, &names);
    check_relations(r, NULL, false);
    check_facts(r);
    return print;
}

static void test_random(int64_t checks, uint64_t seed)
{
    int64_t until = tally.checks + checks;
    for (uint64_t batch = 0; tally.checks < until; batch++) {
        /* Many rounds share a context: what was made before must not change what comes out. */
        Ctx *ctx = ctx_new(NULL, NULL);
        for (int i = 0; i < 20; i++) {
            uint64_t s = (seed << 32) + batch * 20 + (uint64_t)i;
            int64_t wrong = tally.wrong;
            uint64_t print = random_round(ctx, s);
            if (tally.wrong != wrong)
                printf("  in round %" PRIu64 "\n", s);
            if (i == 19) {
                Ctx *fresh = ctx_new(NULL, NULL);
                CHECK(random_round(fresh, s) == print, "another context, other results: round %" PRIu64, s);
                ctx_free(fresh);
            }
        }
        ctx_free(ctx);
    }
}

int main(int argc, char **argv)
{
    int64_t checks = argc > 1 ? strtoll(argv[1], NULL, 10) : 8000000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    bool reduced = checks < 1000000; /* for slow builds */
    test_all_small(reduced ? 1 : 4);
    printf("nat values: %" PRId64 " checks of small expressions\n", tally.checks);
    test_random(checks, seed);
    printf("nat values: seed %" PRIu64 ", %" PRId64 " of these were of relations proved, %" PRId64 " evaluations left 64 bits\n", seed, tally.proved,
           tally.overflows);
    printf("nat values: %" PRId64 " checks, %" PRId64 " wrong\n", tally.checks, tally.wrong);
    return tally.wrong != 0;
}
