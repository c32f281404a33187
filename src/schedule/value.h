/* What a term stands for while it is evaluated with symbolic indices: docs/nests.md. */
#ifndef RISEC_SCHEDULE_VALUE_H
#define RISEC_SCHEDULE_VALUE_H

#include "ir/index_map.h"
#include "ir/terms.h"

typedef enum ValueKind {
    VALUE_TERM,   /* term: a scalar, or what stands in memory */
    VALUE_TUPLE,  /* items */
    /* Arrays: */
    VALUE_MAP,    /* items[0] by the index map of a primitive, of which n_given indices are given */
    VALUE_ZIP,    /* items together */
    VALUE_PART,   /* component `part` of the elements of items[0] */
    VALUE_PAD,    /* lo times items[1], items[0], then items[1] again */
    VALUE_CONCAT, /* items[0], of lo elements, then items[1] */
    VALUE_GATHER, /* items[1] at the indices items[0] */
    VALUE_IF,     /* items[0] where the term holds, else items[1] */
    VALUE_LET,    /* items[0], which mentions var, an index: the term */
    VALUE_EACH    /* items[0] for each value of var, an axis */
} ValueKind;

typedef struct Value Value;
struct Value {
    ValueKind kind;
    Type type;
    Span span;
    Core *term;
    CoreVar *var;
    PrimId prim;
    const Nat *nats;
    int n_given;
    Nat given[INDEX_MAP_RANK];
    Nat lo;
    int part;
    int n;
    Value **items;
};

/* What values are made in. */
typedef struct Values {
    Ctx *ctx;
    int *next_var;
    NatFacts *facts; /* of the place */
} Values;

Value *value_new(Values *v, ValueKind kind, Type type, Span span, int n, Value *const *items);
Value *value_term(Values *v, Core *term);
Value *value_tuple(Values *v, int n, Value *const *items, Span span);
/* Element `at` of an array. */
Value *value_at(Values *v, const Value *array, Nat at);
/* Component k of a tuple. */
Value *value_part(Values *v, const Value *tuple, int k);
/* Component k of all elements of an array of tuples; it has this type. */
Value *value_component(Values *v, Value *array, Type type, int k);
Value *value_choice(Values *v, Core *cond, Value *then, Value *otherwise);
/* What mentions an index that is data. */
Value *value_let(Values *v, CoreVar *var, Core *term, Value *in);
/* The array of n elements, of which `element` is that at the axis. */
Value *value_each(Values *v, CoreVar *axis, Nat n, Value *element);
/* As a term; arrays that do not stand in memory are generated. */
Core *value_as_term(Values *v, const Value *value);

#endif
