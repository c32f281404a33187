/* What nothing computes yet is copied, whatever its type: an equation can say it for arrays of one rank, and not for tuples with arrays in them.
 *
 *     xs : n.(m.f32, i32)   becomes   xs |> mapGlobal(fun x => (x.1 |> mapSeq(id), x.2))
 */
#include "rewrite/runner.h"

static Core *new_term(Ctx *ctx, Core term)
{
    Core *new = NEW(ctx, Core);
    *new = term;
    new->height = 1;
    for (int i = 0; i < term_children(new); i++) {
        int height = term_child(new, i)->height;
        if (height >= new->height)
            new->height = height + 1;
    }
    return new;
}

static Core *new_name(Runner *r, const Core *of, const char *name, Type type, CoreVar **var)
{
    *var = NEW(r->ctx, CoreVar);
    **var = (CoreVar){.id = r->next_var++, .name = name, .type = type, .span = of->span};
    return new_term(r->ctx, (Core){.kind = CORE_VAR, .span = of->span, .type = type, .var = *var});
}

static Core *copy_of(Runner *r, Core *xs, PrimId map);

/* map(fun x => copy of x, xs) */
static Core *copy_of_array(Runner *r, Core *xs, PrimId map)
{
    Ctx *ctx = r->ctx;
    Core term = {.kind = CORE_PRIM, .span = xs->span, .users = xs->users, .type = xs->type}, function = {.kind = CORE_LAMBDA, .span = xs->span, .users = xs->users, .type = xs->type->elem};
    Nat *nats = NEWN(ctx, Nat, 1);
    nats[0] = xs->type->size;
    function.lambda.n = 1;
    function.lambda.params = NEWN(ctx, CoreVar *, 1);
    function.lambda.body = copy_of(r, new_name(r, xs, "x", xs->type->elem, function.lambda.params), P_mapSeq);
    term.prim.id = map;
    term.prim.n_nats = 1;
    term.prim.nats = nats;
    term.prim.n_args = 2;
    term.prim.args = NEWN(ctx, Core *, 2);
    term.prim.args[0] = new_term(ctx, function);
    term.prim.args[1] = xs;
    return new_term(ctx, term);
}

/* A name, or a component of one: it may be said often. */
static bool is_name(const Core *term) { return term->kind == CORE_VAR || (term->kind == CORE_PROJ && is_name(term->proj.value)); }

/* let t = xs in (copy of t.1, copy of t.2, ...) */
static Core *copy_of_tuple(Runner *r, Core *xs, PrimId map)
{
    Ctx *ctx = r->ctx;
    Core let = {.kind = CORE_LET, .span = xs->span, .users = xs->users, .type = xs->type}, tuple = {.kind = CORE_TUPLE, .span = xs->span, .users = xs->users, .type = xs->type};
    Core *name = is_name(xs) ? xs : new_name(r, xs, "t", xs->type, &let.let.var);
    tuple.tuple.n = xs->type->n_items;
    tuple.tuple.items = NEWN(ctx, Core *, tuple.tuple.n);
    for (int i = 0; i < tuple.tuple.n; i++) {
        Core part = {.kind = CORE_PROJ, .span = xs->span, .users = xs->users, .type = xs->type->items[i]};
        part.proj.index = i;
        part.proj.value = name;
        tuple.tuple.items[i] = copy_of(r, new_term(ctx, part), map);
    }
    if (is_name(xs))
        return new_term(ctx, tuple);
    let.let.value = xs;
    let.let.body = new_term(ctx, tuple);
    return new_term(ctx, let);
}

static Core *copy_of(Runner *r, Core *xs, PrimId map)
{
    if (!type_gives_arrays(xs->type))
        return xs;
    return xs->type->kind == TY_ARRAY ? copy_of_array(r, xs, map) : copy_of_tuple(r, xs, map);
}

Core *copy_in_order(Runner *r, Span span, const Here *here)
{
    if (!type_gives_arrays(here->term->type))
        return strategy_fail(r, span, "copyInOrder", here, "it is no array, and has none in it");
    if (here_level(here) != AT_GRID)
        return strategy_fail(r, span, "copyInOrder", here, "it is a copy by the threads of the grid, and stands in what one of them does");
    return strategy_step(r, "copyInOrder", NULL, here, copy_of(r, here->term, P_mapGlobal), span);
}
