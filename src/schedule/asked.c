#include "schedule/asked.h"

static bool has_size(Type type) { return type->kind == TY_ARRAY || type->kind == TY_VEC; }

static bool has_scalars(Type type)
{
    bool found = type->kind != TY_ARRAY && type->kind != TY_TUPLE;
    for (int i = 0; i < type->n_items && !found; i++)
        found = has_scalars(type->items[i]);
    return found;
}

/* The component of a tuple that the path leads to, as far as it is known there. */
static Type along(Type type, Asked asked, int *path)
{
    while (type->kind == TY_TUPLE && *path < asked.n_path)
        type = type->items[asked.path[(*path)++]];
    return type;
}

Type asked_type(Type type, Asked asked)
{
    int path = 0;
    for (int i = 0; i < asked.n; i++) {
        type = along(type, asked, &path);
        type = has_size(type) ? type->elem : type;
    }
    return along(type, asked, &path);
}

Asked asked_dims(Ctx *ctx, Type type, Asked asked, int n)
{
    int path = 0;
    Nat *dims = NEWN(ctx, Nat, n + asked.n);
    for (int i = 0; i < asked.n || i < n; i++) {
        type = along(type, asked, &path);
        dims[i] = i < asked.n ? asked.dims[i] : type->size;
        type = has_size(type) ? type->elem : type;
    }
    asked.dims = dims;
    asked.n = asked.n > n ? asked.n : n;
    return asked;
}

Asked asked_first(Ctx *ctx, Asked asked, int drop, int n, Nat a, Nat b)
{
    const Nat new[2] = {a, b};
    Nat *dims = NEWN(ctx, Nat, n + asked.n);
    for (int i = 0; i < n; i++)
        dims[i] = new[i];
    for (int i = drop; i < asked.n; i++)
        dims[n + i - drop] = asked.dims[i];
    asked.dims = dims;
    asked.n = n + asked.n - drop;
    return asked;
}

Asked asked_component(Ctx *ctx, Asked asked, int component)
{
    int *path = NEWN(ctx, int, asked.n_path + 1);
    path[0] = component;
    for (int i = 0; i < asked.n_path; i++)
        path[i + 1] = asked.path[i];
    asked.path = path;
    asked.n_path++;
    return asked;
}

Asked asked_below(Asked asked)
{
    asked.path++;
    asked.n_path--;
    return asked;
}

/* All of the type that the path leads to; an element that is a tuple of scalars is one. */
static Nat cells_along(Ctx *ctx, Type type, Asked asked, int path)
{
    type = along(type, asked, &path);
    if (has_size(type))
        return nat_mul(ctx, type->size, cells_along(ctx, type->elem, asked, path));
    Nat n = nat_const(ctx, has_scalars(type) ? 1 : 0);
    for (int i = 0; i < type->n_items; i++)
        if (type_gives_arrays(type->items[i]))
            n = nat_add(ctx, n, cells_along(ctx, type->items[i], (Asked){0}, 0));
    return n;
}

Nat asked_elements(Ctx *ctx, Type type, Asked asked, bool scalars)
{
    int path = 0;
    Nat n = nat_const(ctx, 1);
    for (int i = 0; i < asked.n; i++) {
        type = along(type, asked, &path);
        n = nat_mul(ctx, n, asked.dims[i]);
        type = has_size(type) ? type->elem : type;
    }
    if (!scalars)
        return nat_mul(ctx, n, cells_along(ctx, type, asked, path));
    return has_scalars(along(type, asked, &path)) ? n : nat_const(ctx, 0);
}
