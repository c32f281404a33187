/* Values that the lanes of a warp exchange in registers. */
#include "codegen/lowering.h"

static View *shuffle_component(Lowering *lw, const Core *e, View *source)
{
    Ctx *ctx = lw->ctx;
    Levels saved = lw->open;
    lw->open.lane = true;
    ImpExpr *own = view_scalar(lw, view_at(lw, source, lw->kernel->lane));
    lw->open = saved;
    ImpVar *var = lower_new_var(lw, "other", own->type, e->span);
    var->constant = true;
    ImpStmt *s = lower_emit(lw, IS_DECL, e->span);
    s->var.var = var;
    s->var.value = imp_shfl(ctx, e->prim.id, lower_nat(lw, e->prim.nats[0]), own, e->span);
    View *v = view_new(lw, VIEW_REG, source->type, e->span);
    v->var = var;
    v->slot = nat_const(ctx, 0);
    v->n_dims = 1;
    v->dims = NEW(ctx, RegDim);
    *v->dims = (RegDim){.level = P_mapLane, .extent = nat_const(ctx, 32), .slots = 1, .place = {1, nat_const(ctx, 0)}};
    return v;
}

/* All lanes execute it, here: what consumes it may run in fewer. */
View *lower_read_shuffle(Lowering *lw, const Core *e)
{
    Ctx *ctx = lw->ctx;
    View *source = lower_read(lw, e->prim.args[0]);
    if (source->kind == VIEW_ERROR)
        return source;
    if (lw->open.lane || !lw->open.warp) {
        Diag *d = lower_error(lw, E0412, e->span, lw->open.lane ? "a shuffle inside mapLane: it works on the 32 values of a whole warp"
                                                                : "a shuffle outside a warp");
        diag_help(ctx, d, lw->open.lane ? "move it out: `xs |> mapLane(f) |> toPrivate |> %s(...) |> mapLane(g)`"
                                        : "put it inside mapWarp: `split(32) |> mapWarp(fun part => ...)`", prim_name(e->prim.id));
        return view_error(lw, e->type);
    }
    if (!view_is_private(source) || !view_owner(lw, source, P_mapLane, 0).stride) {
        Diag *d = lower_error(lw, E0413, e->prim.args[0]->span, "a shuffle needs one private element in each lane");
        diag_label(ctx, d, "these values are not in the lanes' registers");
        diag_help(ctx, d, "put them there first: `mapLane(id) |> toPrivate |> %s(...)`", prim_name(e->prim.id));
        return view_error(lw, e->type);
    }
    Type elem = e->type->elem;
    if (elem->kind != TY_TUPLE)
        return shuffle_component(lw, e, source);
    View *v = view_new(lw, VIEW_ZIP, e->type, e->span);
    v->n = elem->n_items;
    v->items = NEWN(ctx, View *, v->n);
    for (int k = 0; k < v->n; k++) {
        if (!type_is_scalar_like(elem->items[k])) {
            lower_error(lw, E0501, e->span, "a shuffle of nested tuples does not become CUDA in this version");
            return view_error(lw, e->type);
        }
        v->items[k] = shuffle_component(lw, e, view_proj(lw, source, k));
    }
    return v;
}

