/* See choice.h.
 *
 * Note [Tables]
 * A function that only compares components of its two arguments, and gives one of them, is known by a table: for each way in which the components can be related
 * (less, equal, greater, NaN on either side), which argument it gives. So it is evaluated once for each row, with relations in place of
 * numbers; what cannot be evaluated so, such as arithmetic, makes it no such function. Two spellings with the same table are the same function, but for the sign of a
 * zero where all components are equal. */
#include "ir/choice.h"

typedef enum Relation { LESS, EQUAL, GREATER, FIRST_NAN, SECOND_NAN, BOTH_NAN, RELATIONS } Relation;

/* What a term is worth in a row of the table. */
typedef struct Worth {
    enum { UNKNOWN, TRUTH, COMPONENT, PAIR } kind;
    bool truth;
    int side, component; /* COMPONENT: of which argument, and which one */
    const struct Worth *items; /* PAIR */
} Worth;

typedef struct Known {
    const CoreVar *var;
    Worth worth;
    const struct Known *up;
} Known;

typedef struct Row {
    Ctx *ctx;
    Relation relation[2];
} Row;

static Worth unknown(void) { return (Worth){.kind = UNKNOWN}; }
static Worth truth(bool is) { return (Worth){.kind = TRUTH, .truth = is}; }

/* As both are seen from the other side. */
static Relation turned(Relation r)
{
    switch (r) {
    case LESS: return GREATER;
    case GREATER: return LESS;
    case FIRST_NAN: return SECOND_NAN;
    case SECOND_NAN: return FIRST_NAN;
    default: return r;
    }
}

/* How a component is related to itself. */
static Relation to_itself(Relation r, int side)
{
    return r == BOTH_NAN || r == (side == 0 ? FIRST_NAN : SECOND_NAN) ? BOTH_NAN : EQUAL;
}

static Worth compared(PrimId op, Relation r, Worth a, Worth b)
{
    switch ((int)op) {
    case P_lt: return truth(r == LESS);
    case P_le: return truth(r == LESS || r == EQUAL);
    case P_gt: return truth(r == GREATER);
    case P_ge: return truth(r == GREATER || r == EQUAL);
    case P_eq: return truth(r == EQUAL);
    case P_ne: return truth(r != EQUAL);
    case P_min: return r == LESS || r == EQUAL || r == SECOND_NAN ? a : b;
    case P_max: return r == GREATER || r == EQUAL || r == SECOND_NAN ? a : b;
    }
    return unknown();
}

static Worth of_truths(PrimId op, bool a, bool b)
{
    switch ((int)op) {
    case P_and: return truth(a && b);
    case P_or: return truth(a || b);
    case P_eq: return truth(a == b);
    case P_ne: return truth(a != b);
    }
    return unknown();
}

static Worth worth_of(const Row *row, const Core *term, const Known *known);

static Worth worth_of_prim(const Row *row, const Core *term, const Known *known)
{
    PrimId op = term->prim.id;
    if (term->prim.n_args == 1) {
        Worth x = worth_of(row, term->prim.args[0], known);
        return op == P_id ? x : op == P_not && x.kind == TRUTH ? truth(!x.truth) : unknown();
    }
    if (term->prim.n_args != 2)
        return unknown();
    Worth a = worth_of(row, term->prim.args[0], known), b = worth_of(row, term->prim.args[1], known);
    if (a.kind == TRUTH && b.kind == TRUTH)
        return of_truths(op, a.truth, b.truth);
    if (a.kind != COMPONENT || b.kind != COMPONENT || a.component != b.component)
        return unknown();
    Relation r = row->relation[a.component];
    return compared(op, a.side == b.side ? to_itself(r, a.side) : a.side == 0 ? r : turned(r), a, b);
}

static Worth worth_of(const Row *row, const Core *term, const Known *known)
{
    Worth value;
    switch (term->kind) {
    case CORE_VAR:
        while (known && known->var != term->var)
            known = known->up;
        return known ? known->worth : unknown();
    case CORE_LIT:
        return term->lit.type == SC_BOOL ? truth(term->lit.i != 0) : unknown();
    case CORE_PRIM:
        return worth_of_prim(row, term, known);
    case CORE_LET: {
        Known own = {term->let.var, worth_of(row, term->let.value, known), known};
        return worth_of(row, term->let.body, &own);
    }
    case CORE_TUPLE: {
        Worth *items = NEWN(row->ctx, Worth, term->tuple.n);
        for (int i = 0; i < term->tuple.n; i++)
            items[i] = worth_of(row, term->tuple.items[i], known);
        return term->tuple.n == 2 ? (Worth){.kind = PAIR, .items = items} : unknown();
    }
    case CORE_PROJ:
        value = worth_of(row, term->proj.value, known);
        return value.kind == PAIR ? value.items[term->proj.index] : unknown();
    case CORE_IF:
        value = worth_of(row, term->cond.cond, known);
        return value.kind == TRUTH ? worth_of(row, value.truth ? term->cond.then : term->cond.otherwise, known) : unknown();
    case CORE_SIZE:
    case CORE_LAMBDA:
    case CORE_UNIT_ERROR:
        break;
    }
    return unknown();
}

/* Whether the function gives in this row the argument `side`; -1: either, but one of them. A component that is equal in both is of either. */
static bool gives(const Row *row, const Core *lambda, int side)
{
    Worth parts[2][2];
    Known known[2];
    for (int s = 0; s < 2; s++) {
        for (int k = 0; k < 2; k++)
            parts[s][k] = (Worth){.kind = COMPONENT, .side = s, .component = k};
        known[s] = (Known){lambda->lambda.params[s], {.kind = PAIR, .items = parts[s]}, s ? &known[0] : NULL};
    }
    Worth result = worth_of(row, lambda->lambda.body, &known[1]);
    if (result.kind != PAIR)
        return false;
    for (int k = 0; k < 2; k++) {
        const Worth *own = &result.items[k];
        if (own->kind != COMPONENT || own->component != k)
            return false;
        if (row->relation[k] == EQUAL || row->relation[k] == BOTH_NAN)
            continue;
        if (side < 0)
            side = own->side;
        if (own->side != side)
            return false;
    }
    return true;
}

static bool is_pair_of_scalars(Type t)
{
    return t->kind == TY_TUPLE && t->n_items == 2 && t->items[0]->kind == TY_SCALAR && t->items[1]->kind == TY_SCALAR;
}

/* What is to be given in a row: the first argument, the second, or either. An argument that has NaN already is none that a fold from a unit without one has. */
static int wanted(Relation number, Relation place, Relation before)
{
    if (number == FIRST_NAN || number == BOTH_NAN || place == FIRST_NAN || place == BOTH_NAN)
        return -1;
    if (number != EQUAL)
        return number == SECOND_NAN || number == before ? 0 : 1;
    return place == EQUAL ? -1 : place == GREATER ? 1 : 0;
}

static bool has_table(Row *row, const Core *lambda, int by, Relation before)
{
    Type t = lambda->lambda.params[0]->type;
    for (int n = 0; n < RELATIONS; n++)
        for (int k = 0; k < RELATIONS; k++) {
            bool real = (n < FIRST_NAN || scalar_is_float(t->items[by]->scalar)) && (k < FIRST_NAN || scalar_is_float(t->items[1 - by]->scalar));
            row->relation[by] = (Relation)n;
            row->relation[1 - by] = (Relation)k;
            if (real && !gives(row, lambda, wanted((Relation)n, (Relation)k, before)))
                return false;
        }
    return true;
}

bool choice_order(Ctx *ctx, const Core *lambda, int by, ChoiceOrder *out)
{
    static const struct {
        Relation relation;
        ChoiceOrder order;
    } orders[] = {{LESS, {P_lt, P_min}}, {GREATER, {P_gt, P_max}}};
    if (lambda->kind != CORE_LAMBDA || lambda->lambda.n != 2 || lambda->lambda.n_nats || !is_pair_of_scalars(lambda->lambda.params[0]->type))
        return false;
    Row row = {.ctx = ctx};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (has_table(&row, lambda, by, orders[i].relation)) {
            *out = orders[i].order;
            return true;
        }
    return false;
}
