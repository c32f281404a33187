/* Models of a scope: numbers for its variables under which all of its facts hold. What is wrong in
 * one of them has no proof, and is not searched for: a search that fails is the longest there is. */
#include "ir/nat_internal.h"

enum {
    SIZES = 8,
    LOOKUPS = 1000 /* of variables for one number: bounds may mention others, which have bounds */
};

typedef struct Model {
    int number; /* the first ones give all sizes the same number, and indices their least or most */
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
    bool alike = m->number < 2 * SIZES;
    return sizes[(uint32_t)(m->number + (alike ? 0 : (int)(var->id % 61) * 5)) % SIZES];
}

static bool value_of(void *user, Nat var, int64_t *value)
{
    Model *m = user;
    int64_t lo = 0, hi;
    if (m->left-- <= 0 || (var->lo && !number_of(m, var->lo, &lo)))
        return false;
    bool is_size = !var->hi || (nat_is_const(var->hi) && var->hi->value >= INT32_MAX);
    if (is_size) {
        *value = size_of(m, var);
        return *value >= lo;
    }
    if (!number_of(m, var->hi, &hi) || hi < lo)
        return false;
    bool most = m->number < 2 * SIZES ? m->number >= SIZES : (m->number + var->id) % 2;
    *value = most ? hi : lo;
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

static bool is_model(NatModels *models, Model *m)
{
    NatModelState *state = &models->state[m->number];
    if (*state == MODEL_UNKNOWN) {
        *state = MODEL_HOLDS;
        for (int i = 0; i < models->n && *state == MODEL_HOLDS; i++) {
            const NatFact *f = &models->facts[i];
            *state = truth(m, f->kind, f->a, f->b) == 1 ? MODEL_HOLDS : MODEL_FAILS;
        }
    }
    return *state == MODEL_HOLDS;
}

bool nat_refuted(NatEnv *env, NatFactKind kind, Nat a, Nat b)
{
    NatModels *models = env ? nat_env_models(env) : NULL;
    for (Model m = {0}; models && m.number < NAT_MODELS; m.number++)
        if (is_model(models, &m) && truth(&m, kind, a, b) == 0)
            return true;
    return false;
}
