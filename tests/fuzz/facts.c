#include "facts.h"

/* libFuzzer takes all bytes of this section for counters, and clears them before each program. */
enum { FACTS = 1 << 16 };
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t facts[FACTS];

typedef enum FactKind { FACT_TOGETHER, FACT_SIZE, FACT_RESULT, FACT_INSIDE, FACT_SCALAR } FactKind;

static void fact(FactKind kind, int a, int b)
{
    uint32_t hash = ((uint32_t)kind * 1009u + (uint32_t)a) * 2003u + (uint32_t)b;
    hash *= 2654435769u;
    facts[hash >> 16] = 1;
}

void facts_of_diags(const Ctx *ctx)
{
    for (int i = 0; i < ctx->diags.list.n; i++)
        for (int k = 0; k < ctx->diags.list.n; k++) {
            int a = (int)ctx->diags.list.at[i]->code, b = (int)ctx->diags.list.at[k]->code;
            if (a < b)
                fact(FACT_TOGETHER, a, b);
        }
}

/* The scalar in an array; SC_COUNT for tuples. */
static int scalar_of(Type t)
{
    while (t->kind == TY_ARRAY || t->kind == TY_VEC)
        t = t->elem;
    return t->kind == TY_SCALAR ? (int)t->scalar : SC_COUNT;
}

static int bits_of(int64_t value)
{
    int bits = 0;
    for (; value > 0; value >>= 1)
        bits++;
    return bits;
}

static void facts_of_type(Type t, int scalar)
{
    for (int depth = 0; t->kind == TY_ARRAY; t = t->elem, depth++)
        if (nat_is_const(t->size))
            fact(FACT_SIZE, scalar, depth * 64 + bits_of(t->size->value));
}

static void facts_of_term(const Core *term, int around)
{
    switch (term->kind) {
    case CORE_PRIM:
        fact(FACT_INSIDE, around, term->prim.id);
        fact(FACT_SCALAR, term->prim.id, scalar_of(term->type));
        for (int i = 0; i < term->prim.n_args; i++)
            facts_of_term(term->prim.args[i], term->prim.id);
        break;
    case CORE_LAMBDA: facts_of_term(term->lambda.body, around); break;
    case CORE_LET:
        facts_of_term(term->let.value, around);
        facts_of_term(term->let.body, around);
        break;
    case CORE_TUPLE:
        for (int i = 0; i < term->tuple.n; i++)
            facts_of_term(term->tuple.items[i], around);
        break;
    case CORE_PROJ: facts_of_term(term->proj.value, around); break;
    case CORE_IF:
        facts_of_term(term->cond.cond, around);
        facts_of_term(term->cond.then, around);
        facts_of_term(term->cond.otherwise, around);
        break;
    case CORE_VAR: case CORE_LIT: case CORE_SIZE: case CORE_UNIT_ERROR: break;
    }
}

void facts_of_entry(const CoreEntry *entry)
{
    int result = scalar_of(entry->result);
    for (int i = 0; i < entry->n_inputs; i++) {
        int scalar = scalar_of(entry->inputs[i]->type);
        fact(FACT_RESULT, result, scalar);
        facts_of_type(entry->inputs[i]->type, scalar);
    }
    facts_of_type(entry->result, result);
    facts_of_term(entry->body, P_COUNT);
}
