/* Where the elements of arrays are found. Nothing is computed here but indices and the conditions of
 * pads; a term that is looked at twice is there twice, so who does that gives it a name first. */
#include "schedule/value.h"

Value *value_new(Values *v, ValueKind kind, Type type, Span span, int n, Value *const *items)
{
    Value *value = NEW(v->ctx, Value);
    *value = (Value){.kind = kind, .type = type, .span = span, .n = n};
    value->items = NEWN(v->ctx, Value *, n + 1);
    for (int i = 0; i < n; i++)
        value->items[i] = items[i];
    return value;
}

Value *value_term(Values *v, Core *term)
{
    Value *value = value_new(v, VALUE_TERM, term->type, term->span, 0, NULL);
    value->term = term;
    return value;
}

Value *value_tuple(Values *v, int n, Value *const *items, Span span)
{
    Type *types = NEWN(v->ctx, Type, n + 1);
    for (int i = 0; i < n; i++)
        types[i] = items[i]->type;
    return value_new(v, VALUE_TUPLE, type_tuple(v->ctx, n, types), span, n, items);
}

static Nat simplify(const Values *v, Nat nat) { return nat_simplify(v->ctx, v->facts, nat); }

/* ---- another index for an axis ---- */

static Type type_with(Values *v, Type type, Nat var, Nat by)
{
    return type_subst(v->ctx, type, 1, &var, &by);
}

static Nat nat_with(Values *v, Nat nat, Nat var, Nat by)
{
    return nat && nat_mentions(nat, var) ? simplify(v, nat_subst(v->ctx, nat, var, by)) : nat;
}

static Value *value_with(Values *v, const Value *value, Nat var, Nat by);

/* A variable that the value binds, under a fresh name. */
static void bind_again(Values *v, Value *copy, Nat var, Nat by)
{
    const CoreVar *old = copy->var;
    copy->var = make_var(v->ctx, v->next_var, old->name, type_with(v, old->type, var, by), old->span);
    copy->items[0] = value_with(v, copy->items[0], old->nat, copy->var->nat);
}

static Value *value_with(Values *v, const Value *value, Nat var, Nat by)
{
    Value *copy = NEW(v->ctx, Value);
    *copy = *value;
    copy->type = type_with(v, value->type, var, by);
    copy->term = value->term ? term_with_nat(v->ctx, v->next_var, value->term, var, by) : NULL;
    copy->lo = nat_with(v, value->lo, var, by);
    for (int i = 0; i < value->n_given; i++)
        copy->given[i] = nat_with(v, value->given[i], var, by);
    if (value->kind == VALUE_MAP) {
        int n = prim_header(v->ctx, value->prim)->n_params;
        Nat *nats = NEWN(v->ctx, Nat, n + 1);
        for (int i = 0; i < n && value->nats[i]; i++)
            nats[i] = nat_with(v, value->nats[i], var, by);
        copy->nats = nats;
    }
    copy->items = NEWN(v->ctx, Value *, value->n + 1);
    for (int i = 0; i < value->n; i++)
        copy->items[i] = value_with(v, value->items[i], var, by);
    if (value->var)
        bind_again(v, copy, var, by);
    return copy;
}

/* ---- indices that are too long ---- */

/* Layouts over layouts mention an index more than once, so that it would grow without bound: a long
 * one is data. Nothing is known of it then but its range. */
enum { INDEX_NODES = 60 };

static Value *at_long(Values *v, const Value *array, Nat at)
{
    if (nat_nodes(at) <= INDEX_NODES)
        return value_at(v, array, at);
    Type type = type_idx(v->ctx, array->type->size);
    CoreVar *k = make_var(v->ctx, v->next_var, "k", type, array->span);
    Core *index = make_size(v->ctx, at, type, array->span);
    return value_let(v, k, index, value_at(v, array, k->nat));
}

/* ---- elements ---- */

static Value *map_at(Values *v, const Value *array, Nat at)
{
    Value *more = NEW(v->ctx, Value);
    *more = *array;
    more->type = array->type->elem;
    more->given[more->n_given++] = at;
    if (more->n_given < index_map_rank(array->prim, false))
        return more;
    Nat out[INDEX_MAP_RANK];
    IndexBound bound;
    int n = index_map_apply(v->ctx, v->facts, array->prim, false, array->nats, more->given, out, &bound);
    Value *value = array->items[0];
    for (int i = 0; i < n; i++)
        value = at_long(v, value, simplify(v, out[i]));
    return value;
}

/* The element where the condition holds. */
static Value *at_under(Values *v, const Value *array, Nat at, const Core *cond)
{
    NatFacts *outer = v->facts;
    v->facts = nat_facts_new(v->ctx, outer);
    core_cond_facts(v->ctx, v->facts, cond, true);
    Value *value = value_at(v, array, at);
    v->facts = outer;
    return value;
}

static Value *pad_at(Values *v, const Value *array, Nat at)
{
    const Value *source = array->items[0];
    Nat inside = simplify(v, nat_sub(v->ctx, at, array->lo));
    Nat end = nat_add(v->ctx, array->lo, source->type->size);
    if (nat_lt(v->ctx, v->facts, at, array->lo) || nat_le(v->ctx, v->facts, end, at))
        return array->items[1];
    bool low = nat_le(v->ctx, v->facts, array->lo, at), high = nat_lt(v->ctx, v->facts, at, end);
    if (low && high)
        return value_at(v, source, inside);
    Core *from = low ? NULL : make_compare(v->ctx, P_le, array->lo, at, array->span);
    Core *to = high ? NULL : make_compare(v->ctx, P_lt, at, end, array->span);
    Core *cond = from && to ? make_both(v->ctx, from, to) : from ? from : to;
    return value_choice(v, cond, at_under(v, source, inside, cond), array->items[1]);
}

static Value *concat_at(Values *v, const Value *array, Nat at)
{
    Nat beyond = simplify(v, nat_sub(v->ctx, at, array->lo));
    if (nat_lt(v->ctx, v->facts, at, array->lo))
        return value_at(v, array->items[0], at);
    if (nat_le(v->ctx, v->facts, array->lo, at))
        return value_at(v, array->items[1], beyond);
    Core *first = make_compare(v->ctx, P_lt, at, array->lo, array->span);
    Core *second = make_compare(v->ctx, P_le, array->lo, at, array->span);
    return value_choice(v, first, at_under(v, array->items[0], at, first),
                        at_under(v, array->items[1], beyond, second));
}

static Value *gather_at(Values *v, const Value *array, Nat at)
{
    Core *index = value_as_term(v, value_at(v, array->items[0], at));
    Nat nat = index_nat(index);
    if (nat)
        return value_at(v, array->items[1], nat);
    CoreVar *k = make_var(v->ctx, v->next_var, "k", index->type, array->span);
    return value_let(v, k, index, value_at(v, array->items[1], k->nat));
}

Value *value_at(Values *v, const Value *array, Nat at)
{
    Value *parts[8];
    switch (array->kind) {
    case VALUE_MAP:
        return map_at(v, array, at);
    case VALUE_ZIP:
        for (int i = 0; i < array->n; i++)
            parts[i] = value_at(v, array->items[i], at);
        return value_tuple(v, array->n, parts, array->span);
    case VALUE_PART:
        return value_part(v, value_at(v, array->items[0], at), array->part);
    case VALUE_PAD:
        return pad_at(v, array, at);
    case VALUE_CONCAT:
        return concat_at(v, array, at);
    case VALUE_GATHER:
        return gather_at(v, array, at);
    case VALUE_IF:
        return value_choice(v, array->term, value_at(v, array->items[0], at),
                            value_at(v, array->items[1], at));
    case VALUE_LET:
        return value_let(v, array->var, array->term, value_at(v, array->items[0], at));
    case VALUE_EACH:
        return value_with(v, array->items[0], array->var->nat, at);
    case VALUE_TERM: case VALUE_TUPLE:
        break;
    }
    return value_term(v, make_index(v->ctx, array->term, at, array->span));
}

Value *value_part(Values *v, const Value *tuple, int k)
{
    switch (tuple->kind) {
    case VALUE_TUPLE:
        return tuple->items[k];
    default:
        return value_term(v, make_proj(v->ctx, tuple->term, k, tuple->span));
    }
}

/* ---- putting them together ---- */

Value *value_choice(Values *v, Core *cond, Value *then, Value *otherwise)
{
    if (then->type->kind == TY_TUPLE) {
        int n = then->type->n_items;
        Value **items = NEWN(v->ctx, Value *, n + 1);
        for (int i = 0; i < n; i++)
            items[i] = value_choice(v, cond, value_part(v, then, i), value_part(v, otherwise, i));
        return value_tuple(v, n, items, then->span);
    }
    if (then->type->kind == TY_ARRAY) {
        Value *choice = value_new(v, VALUE_IF, then->type, then->span, 2, (Value *[]){then, otherwise});
        choice->term = cond;
        return choice;
    }
    return value_term(v, make_if(v->ctx, cond, then->term, otherwise->term, cond->span));
}

typedef struct Mentions {
    Nat var;
    bool found;
} Mentions;

static void look(void *user, Nat var)
{
    Mentions *m = user;
    m->found |= var == m->var;
}

static bool mentions(Values *v, const Value *value, Nat var)
{
    Mentions m = {.var = var};
    if (value->term)
        term_each_nat(v->ctx, value->term, look, &m);
    for (int i = 0; i < value->n_given; i++)
        m.found |= nat_mentions(value->given[i], var);
    if (value->lo)
        m.found |= nat_mentions(value->lo, var);
    for (int i = 0; value->kind == VALUE_MAP && value->nats[i]; i++)
        m.found |= nat_mentions(value->nats[i], var);
    for (int i = 0; i < value->n && !m.found; i++)
        m.found = mentions(v, value->items[i], var);
    return m.found;
}

Value *value_let(Values *v, CoreVar *var, Core *term, Value *in)
{
    if (in->kind == VALUE_TUPLE) {
        Value **items = NEWN(v->ctx, Value *, in->n + 1);
        for (int i = 0; i < in->n; i++)
            items[i] = value_let(v, var, term, in->items[i]);
        return value_tuple(v, in->n, items, in->span);
    }
    if (!mentions(v, in, var->nat))
        return in;
    if (in->type->kind != TY_ARRAY)
        return value_term(v, make_let(v->ctx, var, term, in->term));
    Value *let = value_new(v, VALUE_LET, in->type, in->span, 1, &in);
    let->var = var;
    let->term = term;
    return let;
}

Value *value_component(Values *v, Value *array, Type type, int k)
{
    if (array->kind == VALUE_ZIP)
        return array->items[k];
    Value *component = value_new(v, VALUE_PART, type, array->span, 1, &array);
    component->part = k;
    return component;
}

Value *value_each(Values *v, CoreVar *axis, Nat n, Value *element)
{
    if (element->kind == VALUE_TUPLE) {
        Value **items = NEWN(v->ctx, Value *, element->n + 1);
        for (int i = 0; i < element->n; i++)
            items[i] = value_each(v, axis, n, element->items[i]);
        return value_new(v, VALUE_ZIP, type_array(v->ctx, n, element->type), element->span,
                         element->n, items);
    }
    Type type = type_array(v->ctx, n, element->type);
    const Core *term = element->term;
    if (element->kind == VALUE_TERM && term->kind == CORE_PRIM && term->prim.id == P_index &&
        term->prim.nats[1] == axis->nat) {
        Value *whole = value_term(v, term->prim.args[0]);
        if (nat_equal(v->ctx, v->facts, whole->type->size, n) && !mentions(v, whole, axis->nat)) {
            whole->type = type;
            return whole;
        }
    }
    Value *each = value_new(v, VALUE_EACH, type, element->span, 1, &element);
    each->var = axis;
    return each;
}

/* The tuple of which these are all components, in their order; NULL. */
static Core *taken_apart(int n, Core *const *items)
{
    const Core *whole = n > 0 && items[0]->kind == CORE_PROJ ? items[0]->proj.value : NULL;
    for (int i = 0; i < n && whole; i++)
        if (items[i]->kind != CORE_PROJ || items[i]->proj.index != i || items[i]->proj.value != whole)
            return NULL;
    return (Core *)(uintptr_t)whole;
}

Core *value_as_term(Values *v, const Value *value)
{
    if (value->kind == VALUE_TERM && value->type == value->term->type)
        return value->term;
    if (value->kind == VALUE_TUPLE) {
        Core **items = NEWN(v->ctx, Core *, value->n + 1);
        for (int i = 0; i < value->n; i++)
            items[i] = value_as_term(v, value->items[i]);
        Core *whole = taken_apart(value->n, items);
        return whole && whole->type == value->type ? whole : make_tuple(v->ctx, value->n, items, value->span);
    }
    if (value->type->kind != TY_ARRAY)
        return value->term;
    CoreVar *i = make_var(v->ctx, v->next_var, "i", type_idx(v->ctx, value->type->size), value->span);
    return make_generate(v->ctx, i, value_as_term(v, value_at(v, value, i->nat)), value->span);
}
