/* What a program gives, as its list of arrays has it: tuples, and zips where elements are tuples that
 * have arrays in them. */
#include "schedule/build.h"

/* Are the arrays of as many elements, however their sizes are written? */
static bool is_as_large(Build *b, Type a, Type other)
{
    bool same = true;
    for (; same && a->kind == TY_ARRAY && other->kind == TY_ARRAY; a = a->elem, other = other->elem)
        same = nat_equal(b->ctx, b->known, a->size, other->size);
    return same && a == other;
}

/* The same value of an equal type: a size may be written in two ways. What stands in memory stays
 * as it is. */
static Value *of_type(Build *b, Value *value, Type type)
{
    if (value->kind == VALUE_TERM && is_as_large(b, value->term->type, type))
        return value_term(&b->v, value->term);
    if (value->type == type)
        return value;
    if (value->kind == VALUE_TUPLE) {
        Value **items = NEWN(b->ctx, Value *, value->n + 1);
        for (int i = 0; i < value->n; i++)
            items[i] = of_type(b, value->items[i], type->items[i]);
        return value_tuple(&b->v, value->n, items, value->span);
    }
    Value *same = NEW(b->ctx, Value);
    *same = *value;
    same->type = type;
    if (value->kind == VALUE_ZIP) {
        same->items = NEWN(b->ctx, Value *, value->n + 1);
        for (int i = 0; i < value->n; i++)
            same->items[i] = of_type(b, value->items[i],
                                     type_array(b->ctx, type->size, type->elem->items[i]));
    }
    return same;
}

/* Tuples that arrays are part of are no elements for a thread: each component is an array of its
 * own. */
static bool comes_apart(const Value *value)
{
    enum { MOST_ZIPPED = 4 };
    Type type = value->type;
    return value->kind != VALUE_TERM && type->kind == TY_ARRAY && type->elem->kind == TY_TUPLE &&
           type->elem->n_items <= MOST_ZIPPED && type_gives_arrays(type->elem);
}

/* What the program gives: arrays are nests, or inputs. */
static Value *result_of(Build *b, Value *value)
{
    if (value->type->kind == TY_TUPLE && (value->kind == VALUE_TUPLE || type_gives_arrays(value->type))) {
        const int n = value->type->n_items;
        Value **items = NEWN(b->ctx, Value *, n + 1);
        for (int i = 0; i < n; i++)
            items[i] = result_of(b, value_part(&b->v, value, i));
        return value_tuple(&b->v, n, items, value->span);
    }
    if (comes_apart(value)) {
        Type type = value->type;
        int n = type->elem->n_items;
        Value **items = NEWN(b->ctx, Value *, n + 1);
        for (int i = 0; i < n; i++) {
            Type part = type_array(b->ctx, type->size, type->elem->items[i]);
            items[i] = result_of(b, value_component(&b->v, value, part, i));
        }
        return value_new(&b->v, VALUE_ZIP, type, value->span, n, items);
    }
    return value->kind == VALUE_TERM ? value : build_copied(b, value, "result");
}

static bool has_zip(const Value *value)
{
    bool has = value->kind == VALUE_ZIP;
    for (int i = 0; value->kind == VALUE_TUPLE && i < value->n && !has; i++)
        has = has_zip(value->items[i]);
    return has;
}

static Core *result_term(Build *b, const Value *value)
{
    const bool arrays = value->kind == VALUE_TUPLE && type_gives_arrays(value->type); /* each is copied by kernels of its own, if it is */
    if (!arrays && !has_zip(value))
        return value_as_term(&b->v, value);
    static const PrimId zips[] = {P_COUNT, P_COUNT, P_zip, P_zip3, P_zip4};
    Core **items = NEWN(b->ctx, Core *, value->n + 1);
    for (int i = 0; i < value->n; i++)
        items[i] = result_term(b, value->items[i]);
    if (value->kind == VALUE_TUPLE)
        return make_tuple(b->ctx, value->n, items, value->span);
    return make_prim(b->ctx, zips[value->n], value->type, 1, &value->type->size, value->n, items,
                     value->span);
}

/* The arrays whose rows are joined: by all, or by each element of it; NULL: none. */
static Value *rows_to_join(Build *b, const Value *value)
{
    if (value->kind == VALUE_MAP && value->prim == P_join && value->n_given == 0)
        return value->items[0];
    Value *rows = value->kind == VALUE_EACH ? rows_to_join(b, value->items[0]) : NULL;
    return rows ? value_each(&b->v, value->var, value->type->size, rows) : NULL;
}

static Core *rows_joined(Build *b, const Value *value, Core *rows, Type type)
{
    if (value->kind == VALUE_MAP) {
        Nat nats[2] = {rows->type->size, rows->type->elem->size};
        return make_prim(b->ctx, P_join, type, 2, nats, 1, &rows, value->span);
    }
    CoreVar *row = make_var(b->ctx, b->v.next_var, "row", rows->type->elem, value->span);
    Core *of_row = rows_joined(b, value->items[0], make_ref(b->ctx, row, value->span), type->elem);
    return make_map(b->ctx, row, of_row, rows);
}

Core *build_results(Build *b, Value *value, Type type)
{
    /* The elements keep their axes: a fold of rows that are joined is one of rows. */
    Value *rows = rows_to_join(b, value);
    if (rows)
        return rows_joined(b, value, build_results(b, rows, rows->type), type);
    return result_term(b, of_type(b, result_of(b, value), type));
}
