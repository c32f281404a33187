/* map: of a function that each reader or writer of an element applies.
 *
 *   map f xs read        =  element i is f of element i of xs, computed where it is read
 *   map f xs written to A =  element i of xs written to A[i] through f, a chain of views that have an inverse
 *
 * A map that computes something for a thread to store says at which level: strategies see to that. */
#include "codegen/lowering.h"

/* Is e made of x by views alone? */
static bool moves_only(const Core *e, const CoreVar *x)
{
    while (e->kind == CORE_PRIM && e->prim.n_args == 1 && prim_rows[e->prim.id].level == LEVEL_VIEW)
        e = e->prim.args[0];
    if (e->kind == CORE_LET)
        return moves_only(e->let.body, e->let.var) && moves_only(e->let.value, x);
    return e->kind == CORE_PRIM ? map_is_of_views(e) && moves_only(e->prim.args[1], x) : e->kind == CORE_VAR && e->var == x;
}

bool map_is_of_views(const Core *e)
{
    return e->prim.id == P_map && moves_only(e->prim.args[0]->lambda.body, e->prim.args[0]->lambda.params[0]);
}

View *lower_read_map(Lowering *lw, const Core *e) { return map_view(lw, e, lower_read(lw, e->prim.args[1])); }

View *map_view(Lowering *lw, const Core *e, View *xs)
{
    View *v = view_new(lw, VIEW_EACH, lower_type(lw, e->type), e->span);
    v->source = xs;
    v->lambda = e->prim.args[0];
    v->env = lw->env;
    return v->source->kind == VIEW_ERROR ? v->source : v;
}

/* Is e made of x by views that can be written through? */
static bool is_writable(const Core *e, const CoreVar *x)
{
    if (e->kind == CORE_VAR)
        return e->var == x;
    if (e->kind == CORE_LET)
        return is_writable(e->let.value, x) && is_writable(e->let.body, e->let.var); /* the short one first: lets are followed by lets */
    if (e->kind != CORE_PRIM || e->prim.n_args < 1)
        return false;
    const Core *source = e->prim.args[e->prim.n_args - 1];
    if (e->prim.id == P_map) {
        const Core *f = e->prim.args[0];
        return is_writable(f->lambda.body, f->lambda.params[0]) && is_writable(source, x);
    }
    return (e->prim.id == P_id || prim_rows[e->prim.id].write[0]) && is_writable(source, x);
}

static View *each_written(Lowering *lw, const Core *map, View *acceptor)
{
    View *v = view_new(lw, VIEW_EACH, lower_type(lw, map->prim.args[1]->type), map->span);
    v->source = acceptor;
    v->lambda = map->prim.args[0];
    v->env = lw->env;
    v->writing = true;
    return v;
}

/* Where x is to be written, for e, which is made of it, to go to the acceptor. */
static View *written_through(Lowering *lw, const Core *e, View *acceptor)
{
    while (e->kind == CORE_PRIM || e->kind == CORE_LET) {
        if (e->kind == CORE_LET) {
            acceptor = written_through(lw, e->let.body, acceptor);
            e = e->let.value;
            continue;
        }
        const Core *source = e->prim.args[e->prim.n_args - 1];
        if (e->prim.id == P_map)
            acceptor = each_written(lw, e, acceptor);
        else if (e->prim.id != P_id)
            acceptor = view_map(lw, e, acceptor, lower_type(lw, source->type), true);
        e = source;
    }
    return acceptor;
}

bool lower_write_let_of_views(Lowering *lw, const Core *let, View *acceptor)
{
    if (let->type->kind != TY_ARRAY || let->let.value->type->kind != TY_ARRAY || !is_writable(let->let.body, let->let.var))
        return false;
    lower_write(lw, let->let.value, written_through(lw, let->let.body, acceptor));
    return true;
}

/* The step that computes a map where these levels are open: a rule of rules.lowering, and the level
 * around it. */
static const char *missing_step(Ctx *ctx, const Levels *open)
{
    bool thread = open->thread[0] || open->thread[1] || open->thread[2],
         block = open->block[0] || open->block[1] || open->block[2];
    bool global = open->global[0] || open->global[1] || open->global[2];
    const char *rule = open->lane || thread || (global && !block && !open->warp) ? "mapToSeq"
                       : open->warp                                              ? "mapToLane"
                       : block                                                   ? "mapToThreads"
                                                                                 : "mapToGlobal";
    const char *inside = open->lane   ? "mapLane"
                         : open->warp ? "mapWarp"
                         : thread     ? "mapThreads"
                         : block      ? "mapBlock"
                         : global     ? "mapGlobal"
                                      : NULL;
    return inside ? ctx_printf(ctx, "%s at map inside %s", rule, inside)
                  : ctx_printf(ctx, "%s at map", rule);
}

bool lower_write_map_view(Lowering *lw, const Core *e, View *acceptor)
{
    const Core *f = e->prim.args[0];
    if (is_writable(f->lambda.body, f->lambda.params[0])) {
        lower_write(lw, e->prim.args[1], each_written(lw, e, acceptor));
        return true;
    }
    Diag *d = lower_error(lw, E0410, e->span, "nothing computes the elements of this array");
    d->high = true;
    diag_label(lw->ctx, d, "map says of no thread that it computes them");
    if (lw->entry->item && lw->entry->item->lowered)
        diag_help(lw->ctx, d,
                  "the strategy needs a further step for it, as `%s` of `rules.lowering`",
                  missing_step(lw->ctx, &lw->open));
    else
        diag_help(lw->ctx, d, "say which level does: mapGlobal, mapBlock, mapThreads, mapWarp, mapLane or mapSeq; views in a map can be written through where they only move elements, as reverse, split and take do");
    return true;
}

View *each_at(Lowering *lw, const View *v, Nat i)
{
    View *element = view_at(lw, v->source, i);
    if (!v->writing)
        return lower_apply_read(lw, v->lambda, v->env, 1, &element);
    const Env *env = lw->env;
    lw->env = v->env;
    View *at = written_through(lw, v->lambda->lambda.body, element);
    lw->env = env;
    return at;
}
