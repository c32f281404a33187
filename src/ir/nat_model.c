/* Models of a scope: numbers for its variables under which all of its facts hold. What is wrong in
 * one of them has no proof, and is not searched for: a search that fails is the longest there is. */
#include "ir/nat_internal.h"

enum {
    SIZES = 8,
    TRIES = 160, /* the first ones know nothing of the facts */
    PLAIN = 32,
    LOOKUPS = 1000 /* of variables for one number: bounds mention others, which have bounds, and so on, deeper than the stack */
};

/* What a variable is in the models of the environment that asked last. It is found once: its bounds mention others, which have bounds. */
struct NatValues {
    const NatEnv *env;
    uint32_t known; /* by model: of those in which it has a value */
    int tried; /* value: in the one of this number that is tried, and may be no model; from 1 */
    int64_t value;
    int64_t of[NAT_MODELS];
};
_Static_assert(NAT_MODELS <= 32, "known has a bit for each");

typedef struct Model {
    Ctx *ctx;
    const NatEnv *env; /* or NULL */
    NatModels *models;
    int at;     /* among those that hold; -1: it is tried */
    int number; /* the first ones give all sizes the same number, and indices their least and most in turn; the last ones take sizes from the pool */
    int left;   /* lookups */
} Model;

static bool value_of(void *user, Nat var, int64_t *value);

static bool number_of(Model *m, Nat a, int64_t *value)
{
    return nat_eval(a, value_of, m, value) == NAT_EVAL_OK;
}

static int64_t size_of(const Model *m, Nat var)
{
    static const int64_t sizes[SIZES] = {4096, 1, 64, 1000, 100003, 1 << 20, 7, 2048};
    if (m->number >= PLAIN) {
        uint32_t mixed = (uint32_t)m->number * 2654435769u + var->id * 40503u * (uint32_t)(m->number | 1);
        return m->models->pool[(mixed >> 7 & 0xffff) % (uint32_t)m->models->n_pool];
    }
    bool alike = m->number < 2 * SIZES;
    return sizes[(uint32_t)(alike ? m->number / 2 : m->number + (int)(var->id % 61) * 5) % SIZES];
}

static bool compute_value(Model *m, Nat var, int64_t *value)
{
    Nat n, k;
    int64_t lo = 0, hi;
    if (m->env && nat_env_witness(m->env, var, &n, &k)) {
        if (m->left-- <= 0 || !number_of(m, n, &lo) || !number_of(m, k, &hi) || hi < 1)
            return false;
        *value = floor_div(lo, hi);
        return true;
    }
    if (m->left-- <= 0 || (var->lo && !number_of(m, var->lo, &lo)))
        return false;
    bool is_size = !var->hi || (nat_is_const(var->hi) && var->hi->value >= INT32_MAX);
    if (is_size) {
        *value = size_of(m, var);
        return *value >= lo && (!var->hi || *value <= var->hi->value);
    }
    if (!number_of(m, var->hi, &hi) || hi < lo)
        return false;
    bool most = (m->number < 2 * SIZES ? (uint32_t)m->number : (uint32_t)m->number + var->id) % 2;
    *value = most ? hi : lo;
    return true;
}

static struct NatValues *values_of(const Model *m, Nat var)
{
    NatFull *full = (NatFull *)(uintptr_t)var; /* a cache */
    if (!full->values)
        full->values = NEW(m->ctx, struct NatValues);
    if (full->values->env != m->env) {
        full->values->env = m->env;
        full->values->known = 0;
        full->values->tried = 0;
    }
    return full->values;
}

static bool value_of(void *user, Nat var, int64_t *value)
{
    Model *m = user;
    struct NatValues *values = values_of(m, var);
    bool known = m->at < 0 ? values->tried == m->number + 1 : values->known >> m->at & 1;
    if (known) {
        *value = m->at < 0 ? values->value : values->of[m->at];
        return true;
    }
    if (!compute_value(m, var, value))
        return false;
    if (m->at < 0) {
        values->tried = m->number + 1;
        values->value = *value;
    } else {
        values->known |= 1u << m->at;
        values->of[m->at] = *value;
    }
    return true;
}

/* 1: it holds there, 0: it does not, -1: it has no value. */
static int truth(Model *m, NatFactKind kind, Nat a, Nat b)
{
    int64_t x, y;
    m->left = LOOKUPS;
    if (!number_of(m, a, &x) || !number_of(m, b, &y) || (kind == FACT_DIVIDES && x < 1))
        return -1;
    switch (kind) {
    case FACT_LE: return x <= y;
    case FACT_EQ: return x == y;
    case FACT_NE: return x != y;
    case FACT_DIVIDES: return y % x == 0;
    }
    return -1;
}

/* ---- numbers for sizes ------------------------------------------------------------------------------------------------------- */

static void pool_number(NatModels *models, int64_t number)
{
    bool known = number < 1 || number > INT64_C(1) << 40 || models->n_pool == NAT_POOL;
    for (int i = 0; i < models->n_pool; i++)
        known |= models->pool[i] == number;
    if (!known)
        models->pool[models->n_pool++] = number;
}

static void pool_beside(NatModels *models, int64_t number)
{
    for (int d = -1; d <= 1; d++)
        pool_number(models, (number < 0 ? -number : number) + d);
}

static void pool_nat(NatModels *models, Nat a)
{
    if (!a)
        return;
    if (a->kind == NAT_CONST && a->value > INT64_MIN / 2 && a->value < INT64_MAX / 2)
        pool_beside(models, a->value);
    pool_nat(models, a->a);
    pool_nat(models, a->b);
    for (int i = 0; i < a->n_terms; i++) {
        if (!a->terms[i].n_factors && a->terms[i].coef > INT64_MIN / 2 && a->terms[i].coef < INT64_MAX / 2)
            pool_beside(models, a->terms[i].coef);
        for (int k = 0; k < a->terms[i].n_factors; k++)
            pool_nat(models, a->terms[i].factors[k]);
    }
}

/* What the facts speak of, and the numbers beside that, and some large and small ones. */
static void fill_pool(NatModels *models)
{
    static const int64_t some[] = {4096, 1, 64, 1000, 100003, 1 << 20, 2048, 256, 12, 1 << 28};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        pool_number(models, some[i]);
    for (int i = 0; i < models->n && models->n_pool < NAT_POOL; i++) {
        pool_nat(models, models->facts[i].a);
        pool_nat(models, models->facts[i].b);
    }
}

/* ---- models ------------------------------------------------------------------------------------------------------------------- */

static bool fact_holds(Model *m, const NatFact *fact) { return truth(m, fact->kind, fact->a, fact->b) == 1; }

/* First the fact that did not hold last. Then the newest first: one that says much, such as an equality that is only supposed, seldom holds. */
static bool holds(NatModels *models, Model *m)
{
    if (models->n > 0 && !fact_holds(m, &models->facts[models->failed]))
        return false;
    for (int i = models->n - 1; i >= 0; i--)
        if (!fact_holds(m, &models->facts[i])) {
            models->failed = i;
            return false;
        }
    return true;
}

/* Model i of those under which the facts hold. They are looked for when they are asked for. */
static bool model_at(Ctx *ctx, const NatEnv *env, NatModels *models, int i, Model *m)
{
    *m = (Model){.ctx = ctx, .env = env, .models = models, .at = -1};
    while (i >= models->n_held && models->n_held < NAT_MODELS && models->tried < (env ? TRIES : PLAIN)) {
        if (models->tried == PLAIN)
            fill_pool(models);
        m->number = models->tried++;
        if (holds(models, m))
            models->held[models->n_held++] = (unsigned char)m->number;
    }
    if (i >= models->n_held)
        return false;
    m->number = models->held[i];
    m->at = i;
    return true;
}

bool nat_refuted(Ctx *ctx, NatEnv *env, NatFactKind kind, Nat a, Nat b)
{
    Model m;
    for (int i = 0; env && model_at(ctx, env, nat_env_models(env), i, &m); i++)
        if (truth(&m, kind, a, b) == 0)
            return true;
    return false;
}

static bool number_of_poly(Model *m, const Poly *p, int64_t *value)
{
    *value = 0;
    for (int i = 0; i < p->n; i++) {
        int64_t term = p->at[i].coef, factor;
        for (int k = 0; k < p->at[i].n_factors; k++)
            if (!number_of(m, p->at[i].factors[k], &factor) || !mul_fits(term, factor, &term))
                return false;
        if (!add_fits(*value, term, value))
            return false;
    }
    return true;
}

bool nat_is_negative_somewhere(Ctx *ctx, NatEnv *env, const Poly *p, Nat a, Nat b)
{
    NatModels none = {0};
    Model m;
    int64_t value;
    for (int i = 0; model_at(ctx, env, env ? nat_env_models(env) : &none, i, &m); i++) {
        m.left = LOOKUPS;
        if (number_of_poly(&m, p, &value) && value < 0 && (!a || number_of(&m, a, &value)) && (!b || number_of(&m, b, &value)))
            return true;
    }
    return false;
}
