/* Windows that a sequential pattern goes through: rotateValues and circularBuffer, each value computed once.
 *
 *   rotateValues(3, f, xs)    w[0] = f(xs[0]); w[1] = f(xs[1]);
 *                             for i { w[2] = f(xs[i + 2]); ...window i is w...; w[0] = w[1]; w[1] = w[2] }
 *   circularBuffer(3, f, xs)  the same, but value k stays in ring[k % 3]: window i is ring[i % 3], ring[(i + 1) % 3], ring[(i + 2) % 3]
 *
 * They are read by mapSeq, reduceSeq and scanSeq alone, which go from window to window. */
#include "codegen/sequences.h"

/* Registers or memory for `size` values of f. */
static View *store_for(Lowering *lw, const View *v)
{
    Ctx *ctx = lw->ctx;
    const Core *e = v->prim, *f = e->prim.args[0];
    const char *name = e->prim.id == P_rotateValues ? "window" : "ring";
    PrimId where = type_is_scalar_like(f->type) || f->type->kind == TY_TUPLE ? P_toPrivate : core_stored_by(lw, f->lambda.body);
    Type type = type_array(ctx, v->size, lower_type(lw, f->type));
    if (where == P_COUNT) {
        Diag *d = lower_error(lw, E0415, f->lambda.body->span, "the values of this %s are arrays that are stored nowhere", prim_name(e->prim.id));
        diag_help(ctx, d, "store what its function computes: `... |> toPrivate`%s", e->prim.id == P_circularBuffer ? " or `... |> toShared`" : "");
        return view_error(lw, type);
    }
    if (where != P_toPrivate && e->prim.id == P_rotateValues) {
        Diag *d = lower_error(lw, E0443, f->lambda.body->span, "rotateValues keeps its values in registers, and these lie in memory");
        propose_primitive(ctx, d, e, P_circularBuffer, "use $, which leaves each value where it is");
        return view_error(lw, type);
    }
    if (where != P_toPrivate)
        return lower_buffers(lw, type, (BufMaker){.space = where == P_toShared ? SPACE_SHARED : SPACE_TEMP, .name = name, .span = e->span});
    Core *map = NEW(ctx, Core); /* stands for the map that fills them */
    *map = (Core){.kind = CORE_PRIM, .span = e->span, .type = type};
    map->prim.id = P_mapSeq;
    map->prim.n_args = 2;
    map->prim.args = e->prim.args;
    return lower_new_private(lw, map, name);
}

View *lower_read_windows(Lowering *lw, const Core *e)
{
    View *v = view_new(lw, VIEW_WINDOWS, lower_type(lw, e->type), e->span);
    v->prim = e;
    v->env = lw->env;
    v->size = lower_nat(lw, e->prim.nats[1]);
    v->source = lower_read(lw, e->prim.args[1]);
    return v->source->kind == VIEW_ERROR ? v->source : v;
}

View *windows_refuse(Lowering *lw, const View *v)
{
    const char *name = prim_name(v->prim->prim.id);
    Diag *d = lower_error(lw, E0443, v->span, "the windows of %s are read here in an order that it cannot follow", name);
    diag_help(lw->ctx, d, "go through them by mapSeq, reduceSeq or scanSeq, directly or through zip; or use `slide(%s, 1)`", nat_text(lw->ctx, v->size));
    return view_error(lw, v->type->elem);
}

/* Computes value k into its place. */
static void load_value(Lowering *lw, const KeptWindows *kept, Nat k, Nat slot)
{
    const View *v = kept->windows;
    const Core *f = v->prim->prim.args[0];
    const Env *saved = lw->env;
    View *x = view_at(lw, v->source, k);
    lw->env = v->env;
    lower_bind(lw, f->lambda.params[0], x, f->lambda.body);
    lower_write(lw, f->lambda.body, view_at(lw, kept->store, slot));
    lw->env = saved;
}

static void load_early(Lowering *lw, Nat k, void *user) { load_value(lw, user, k, k); }

/* Finds the windows in the array that a pattern goes through, from first to last. */
static void find_windows(Lowering *lw, View *v, Windows *w)
{
    bool take = v->kind == VIEW_MAP && v->prim->prim.id == P_take && !v->writing && !v->got;
    if (v->kind == VIEW_WINDOWS)
        vec_push(lw->ctx, &w->list, ((KeptWindows){v, NULL}));
    for (int k = 0; v->kind == VIEW_ZIP && k < v->n; k++)
        find_windows(lw, v->items[k], w);
    if (v->kind == VIEW_PROJ || take)
        find_windows(lw, v->source, w);
}

bool windows_begin(Lowering *lw, View *xs, Windows *w)
{
    w->xs = xs;
    find_windows(lw, xs, w);
    for (int i = 0; i < w->list.n; i++) {
        KeptWindows *kept = &w->list.at[i];
        kept->store = store_for(lw, kept->windows);
        if (kept->store->kind == VIEW_ERROR)
            return false;
        seq_each(lw, kept->windows->prim, nat_add_k(lw->ctx, kept->windows->size, -1), false, load_early, kept);
    }
    return !lw->failed;
}

static bool is_ring(const KeptWindows *kept) { return kept->windows->prim->prim.id == P_circularBuffer; }

static View *kept_window(Lowering *lw, const KeptWindows *kept, Nat i)
{
    Ctx *ctx = lw->ctx;
    Nat size = kept->windows->size, last = nat_add(ctx, i, nat_add_k(ctx, size, -1));
    Nat slot = is_ring(kept) ? nat_simplify(ctx, lw->facts, nat_mod(ctx, last, size)) : nat_add_k(ctx, size, -1);
    load_value(lw, kept, last, slot);
    if (!is_ring(kept))
        return kept->store;
    View *ring = view_new(lw, VIEW_RING, kept->store->type, kept->windows->span);
    ring->source = kept->store;
    ring->lo = i;
    ring->size = size;
    return ring;
}

static View *element(Lowering *lw, const Windows *w, View *v, Nat i)
{
    for (int k = 0; k < w->list.n; k++)
        if (w->list.at[k].windows == v)
            return kept_window(lw, &w->list.at[k], i);
    if (v->kind == VIEW_PROJ)
        return view_proj(lw, element(lw, w, v->source, i), v->k);
    if (v->kind == VIEW_MAP && v->prim->prim.id == P_take && !v->writing && !v->got)
        return element(lw, w, v->source, i);
    if (v->kind != VIEW_ZIP)
        return view_at(lw, v, i);
    View *at = view_new(lw, v->type->elem->kind == TY_TUPLE ? VIEW_TUPLE : VIEW_ZIP, v->type->elem, v->span);
    at->n = v->n;
    at->items = NEWN(lw->ctx, View *, v->n);
    for (int k = 0; k < v->n; k++)
        at->items[k] = element(lw, w, v->items[k], i);
    return at;
}

View *windows_at(Lowering *lw, const Windows *w, Nat i) { return w->list.n ? element(lw, w, w->xs, i) : view_at(lw, w->xs, i); }

void windows_next(Lowering *lw, const Windows *w, Nat i)
{
    bool last = nat_is(nat_sub(lw->ctx, w->xs->type->size, i), 1);
    for (int k = 0; k < w->list.n && !last && !lw->failed; k++)
        if (!is_ring(&w->list.at[k]))
            registers_rotate(lw, w->list.at[k].store, w->list.at[k].windows->size->value, w->list.at[k].windows->span);
}
