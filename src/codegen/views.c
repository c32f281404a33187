#include "codegen/lowering.h"
#include "ir/index_map.h"
#include "codegen/walk.h"

View *view_new(Lowering *lw, ViewKind kind, Type type, Span span)
{
    View *v = NEW(lw->ctx, View);
    v->kind = kind;
    v->type = type;
    v->span = span;
    return v;
}

View *view_error(Lowering *lw, Type type)
{
    lw->failed = true;
    return view_new(lw, VIEW_ERROR, type, NO_SPAN);
}

View *view_copy(Lowering *lw, const View *v)
{
    View *copy = NEW(lw->ctx, View);
    *copy = *v;
    return copy;
}

static Nat simplify(Lowering *lw, Nat n) { return nat_simplify(lw->ctx, lw->facts, n); }

/* ---- index maps ------------------------------------------------------------------------------------------------------- */

static View *map_complete(Lowering *lw, View *v);

static View *map_with(Lowering *lw, const Core *prim, const Nat *nats, View *source, Type type, bool writing)
{
    View *v = view_new(lw, VIEW_MAP, type, prim->span);
    v->prim = prim;
    v->nats = nats;
    v->source = source;
    v->writing = writing;
    v->rank = index_map_rank(prim->prim.id, writing);
    return v->rank ? v : map_complete(lw, v);
}

View *view_map(Lowering *lw, const Core *prim, View *source, Type type, bool writing)
{
    Nat *nats = NEWN(lw->ctx, Nat, prim->prim.n_nats);
    for (int i = 0; i < prim->prim.n_nats; i++)
        nats[i] = lower_nat(lw, prim->prim.nats[i]);
    return map_with(lw, prim, nats, source, type, writing);
}

View *view_inverse(Lowering *lw, const View *map, View *acceptor)
{
    return map_with(lw, map->prim, map->nats, acceptor, map->source->type, !map->writing);
}

/* ---- applying an index -------------------------------------------------------------------------------------------------- */

static View *cond_view(Lowering *lw, ImpExpr *cond, View *then, View *otherwise, ImpBlock before_then, ImpBlock before_other)
{
    if (then->kind == VIEW_ERROR || otherwise->kind == VIEW_ERROR)
        return then->kind == VIEW_ERROR ? then : otherwise;
    View *v = view_new(lw, VIEW_COND, then->type, then->span);
    v->cond = cond;
    v->source = then;
    v->other = otherwise;
    v->before_then = before_then;
    v->before_other = before_other;
    return v;
}

/* Applying an index may take statements (an index that is loaded). On one side of a condition they must run only where that side is chosen: they
 * are kept with the view until it is read. */
typedef struct Aside {
    ImpBlock *out;
    NatFacts *facts;
} Aside;

static Aside aside(Lowering *lw, ImpBlock *before, const ImpExpr *cond)
{
    Aside saved = {lw->out, lw->facts};
    lw->out = before;
    lw->facts = nat_facts_new(lw->ctx, lw->facts);
    if (cond)
        assume(lw, cond);
    return saved;
}

static void aside_end(Lowering *lw, Aside saved)
{
    lw->out = saved.out;
    lw->facts = saved.facts;
}

/* All indices are there: go to the source. */
static View *map_complete(Lowering *lw, View *v)
{
    Nat out[INDEX_MAP_RANK];
    IndexBound bound;
    int n = index_map_apply(lw->ctx, lw->facts, v->prim->prim.id, v->writing, v->nats, v->at, out, &bound);
    ImpExpr *cond = bound.a ? nat_cmp(lw, bound.strict ? P_lt : P_le, bound.a, bound.b, v->span) : NULL;
    bool guarded = cond && !cond_is(lw, cond, true);
    ImpBlock before = {{0}};
    Aside saved = {0};
    if (guarded)
        saved = aside(lw, &before, cond);
    View *at = v->source;
    for (int i = 0; i < n; i++)
        at = view_at(lw, at, simplify(lw, out[i]));
    if (!guarded)
        return at;
    aside_end(lw, saved);
    View *guard = view_new(lw, VIEW_GUARD, at->type, v->span);
    guard->cond = cond;
    guard->source = at;
    guard->before_then = before;
    return guard;
}

static View *at_aside(Lowering *lw, View *v, Nat i, const ImpExpr *cond, ImpBlock *before)
{
    Aside saved = aside(lw, before, cond);
    View *at = view_at(lw, v, i);
    aside_end(lw, saved);
    return at;
}

static ImpBlock block_list_copy(Lowering *lw, const ImpBlock *block)
{
    ImpBlock copy = {{0}};
    for (int i = 0; i < block->list.n; i++)
        vec_push(lw->ctx, &copy.list, block->list.at[i]);
    return copy;
}

static View *pad_at(Lowering *lw, View *v, Nat i)
{
    Ctx *ctx = lw->ctx;
    Nat hi = nat_add(ctx, v->lo, v->size), inside = simplify(lw, nat_sub(ctx, i, v->lo));
    if (nat_lt(ctx, lw->facts, i, v->lo) || nat_le(ctx, lw->facts, hi, i))
        return v->other;
    ImpExpr *low = nat_le(ctx, lw->facts, v->lo, i) ? NULL : nat_cmp(lw, P_le, v->lo, i, v->span);
    ImpExpr *high = nat_lt(ctx, lw->facts, i, hi) ? NULL : nat_cmp(lw, P_lt, i, hi, v->span);
    if (!low && !high)
        return view_at(lw, v->source, inside);
    ImpExpr *cond = low && high ? imp_op2(ctx, P_and, SC_BOOL, low, high, v->span) : low ? low : high;
    ImpBlock before = {{0}};
    View *then = at_aside(lw, v->source, inside, cond, &before);
    return cond_view(lw, cond, then, v->other, before, (ImpBlock){{0}});
}

static View *concat_at(Lowering *lw, View *v, Nat i)
{
    Ctx *ctx = lw->ctx;
    if (nat_lt(ctx, lw->facts, i, v->lo))
        return view_at(lw, v->source, i);
    Nat beyond = simplify(lw, nat_sub(ctx, i, v->lo));
    if (nat_le(ctx, lw->facts, v->lo, i))
        return view_at(lw, v->other, beyond);
    ImpExpr *cond = nat_cmp(lw, P_lt, i, v->lo, v->span);
    ImpBlock before = {{0}}, before_other = {{0}};
    View *then = at_aside(lw, v->source, i, cond, &before), *otherwise = at_aside(lw, v->other, beyond, NULL, &before_other);
    return cond_view(lw, cond, then, otherwise, before, before_other);
}

View *view_cond_map(Lowering *lw, const View *v, ViewFn fn, void *user)
{
    ImpBlock before = block_list_copy(lw, &v->before_then), before_other = block_list_copy(lw, &v->before_other);
    Aside saved = aside(lw, &before, v->cond);
    View *then = fn(lw, v->source, user);
    aside_end(lw, saved);
    if (v->kind == VIEW_GUARD) {
        View *guard = view_copy(lw, v);
        guard->type = then->type;
        guard->source = then;
        guard->before_then = before;
        return guard;
    }
    saved = aside(lw, &before_other, NULL);
    View *otherwise = fn(lw, v->other, user);
    aside_end(lw, saved);
    return cond_view(lw, v->cond, then, otherwise, before, before_other);
}

static View *at_index(Lowering *lw, View *v, void *i) { return view_at(lw, v, *(Nat *)i); }

/* A register for an index into `size` elements, which other indices may then mention. */
static Nat index_in_register(Lowering *lw, const char *name, ImpExpr *e, Nat size)
{
    ImpVar *var = lower_new_var(lw, name, e->type, e->span);
    var->constant = true;
    var->nat = nat_var(lw->ctx, name, nat_const(lw->ctx, 0), nat_add_k(lw->ctx, size, -1));
    ImpStmt *s = lower_emit(lw, IS_DECL, e->span);
    s->var.var = var;
    s->var.value = e;
    return var->nat;
}

/* An integer expression as a nat: itself, or a register that indices may mention. */
static Nat scalar_as_nat(Lowering *lw, ImpExpr *e, Nat size)
{
    if (e->kind == IE_NAT)
        return e->nat;
    if (e->kind == IE_VAR && e->var.var->nat)
        return e->var.var->nat;
    return index_in_register(lw, "at", e, size);
}

/* A view may mention its index more than once, so that under many views it would grow without bound: a large one is computed on its own. Nothing is
 * known of it then but its range, so that this is for indices of which nothing is known anyway. */
enum { INDEX_NODES = 60 };

typedef struct OfBlock {
    const Lowering *lw;
    bool others;
} OfBlock;

static void find_finer(void *user, Nat var)
{
    OfBlock *of = user;
    const Lowering *lw = of->lw;
    bool known = only_sizes(lw, var) || imp_is_device_size(var);
    for (int a = 0; a < 3; a++)
        known |= var == lw->kernel->block[a] || var == lw->kernel->grid[a] || var == lw->open.of_block[a];
    of->others |= !known;
}

/* Is it the same for all threads of a block, and in all steps of its loops? Then it gets a name of its own. */
static bool same_in_block(const Lowering *lw, Nat nat)
{
    OfBlock of = {lw, false};
    nat_each_var(lw->ctx, nat, find_finer, &of);
    return !of.others;
}

/* How many nodes the nat has, up to about `most`. What is the same in all of a block counts once. */
static int index_nodes(const Lowering *lw, Nat nat, int most)
{
    int n = 1;
    if (!nat || nat_is_const(nat) || nat_nodes(nat) == 1 || same_in_block(lw, nat))
        return n;
    if (nat->kind != NAT_SUM)
        return n + index_nodes(lw, nat->a, most) + (nat->b ? index_nodes(lw, nat->b, most) : 0);
    for (int i = 0; i < nat->n_terms; i++)
        for (int j = 0; j < nat->terms[i].n_factors && n <= most; j++)
            n += index_nodes(lw, nat->terms[i].factors[j], most - n);
    return n;
}

static Nat small_index(Lowering *lw, const View *v, Nat i)
{
    if (v->type->kind != TY_ARRAY || (nat_nodes(i) <= INDEX_NODES || index_nodes(lw, i, INDEX_NODES) <= INDEX_NODES))
        return i;
    return index_in_register(lw, "index", imp_nat(lw->ctx, i, SC_I32, v->span), lower_nat(lw, v->type->size));
}

/* Do the levels that are open say which instance of the dimension's level this is? In a row of threads, warps and lanes say the thread, and
 * the thread its warp and lane. */
static bool level_is_known(const Lowering *lw, const RegDim *dim)
{
    if (level_is_open(lw, dim->level, dim->axis))
        return true;
    if (!threads_in_a_row(lw->kernel))
        return false;
    if (dim->level == P_mapThreads && dim->axis == 0)
        return level_is_open(lw, P_mapWarp, 0) && level_is_open(lw, P_mapLane, 0);
    return (dim->level == P_mapWarp || dim->level == P_mapLane) && level_is_open(lw, P_mapThreads, 0);
}

/* An element's place, in terms of the level that holds it. */
static Nat place_here(const Lowering *lw, const RegDim *dim, Nat p)
{
    const ImpKernel *k = lw->kernel;
    if (level_is_open(lw, dim->level, dim->axis) || !level_is_known(lw, dim))
        return p;
    return dim->level == P_mapThreads ? lanes_to_thread(lw, p) : nat_subst(lw->ctx, p, k->thread[0], nat_add(lw->ctx, nat_mul_k(lw->ctx, k->warp, k->lanes), k->lane));
}

static View *reg_at(Lowering *lw, View *v, Nat i)
{
    Ctx *ctx = lw->ctx;
    const RegDim *dim = &v->dims[0];
    View *at = view_copy(lw, v);
    at->type = v->type->elem;
    at->dims = v->dims + 1;
    at->n_dims = v->n_dims - 1;
    Type cell = v->type;
    while (cell->kind == TY_ARRAY)
        cell = cell->elem;
    int64_t inner = type_width(cell);
    for (int k = 1; k < v->n_dims; k++)
        inner *= v->dims[k].slots;
    Nat slot = i;
    if (dim->level != P_mapSeq) {
        static const char *const things[] = {"block", "thread", "warp", "lane"};
        const char *thing = dim->level == P_mapLane ? things[3] : dim->level == P_mapWarp ? things[2] : dim->level == P_mapBlock ? things[0] : things[1];
        Nat count = level_count(lw, dim->level, dim->axis), p = nat_add(ctx, nat_mul_k(ctx, i, dim->place.stride), dim->place.shift);
        p = place_here(lw, dim, p);
        Nat owner = simplify(lw, nat_mod(ctx, p, count)), id = level_id(lw, dim->level, dim->axis);
        bool here = level_is_known(lw, dim) &&
                    (nat_equal(ctx, lw->facts, owner, id) || (nat_le(ctx, lw->facts, owner, id) && nat_le(ctx, lw->facts, id, owner)));
        if (!here && v->spread) {
            at->var = v->spread;
            return at;
        }
        if (!here) {
            Diag *d = lower_error(lw, E0403, v->span, "a private value is read by another %s than the one that holds it", thing);
            bool open = level_is_open(lw, dim->level, dim->axis) && id->kind == NAT_VAR;
            const char *where = ctx_printf(ctx, "element %s lives in the registers of %s %s", nat_text(ctx, i), thing, nat_text(ctx, owner));
            if (!open)
                diag_label(ctx, d, "%s", where);
            else if (nat_equal(ctx, lw->facts, nat_subst(ctx, owner, id, nat_const(ctx, 0)), owner) && !nat_is_const(owner))
                diag_label(ctx, d, "each %s reads elements that live in the registers of others", thing);
            else if (nat_is_const(owner))
                diag_label(ctx, d, "%s, and every %s reads it", where, thing);
            else
                diag_label(ctx, d, "%s i reads element %s, which lives in the registers of %s %s", thing, nat_text(ctx, nat_subst(ctx, i, id, nat_var(ctx, "i", NULL, NULL))), thing,
                           nat_text(ctx, nat_subst(ctx, owner, id, nat_var(ctx, "i", NULL, NULL))));
            diag_help(ctx, d, dim->level == P_mapLane ? "exchange it with a shuffle (shflDown, shflUp, shflXor), or keep it in shared memory: `toShared`"
                                                      : "keep it in shared memory: `toShared` instead of `toPrivate`");
            return view_error(lw, at->type);
        }
        slot = dim->slots == 1 ? nat_const(ctx, 0) : simplify(lw, nat_div(ctx, p, count));
    }
    at->slot = nat_add(ctx, v->slot, nat_mul_k(ctx, slot, inner));
    return at;
}

/* A cell that several threads may write. */
static View *as_unordered(Lowering *lw, View *v)
{
    View *copy = view_copy(lw, v);
    copy->unordered = true;
    if (v->kind == VIEW_GUARD)
        copy->source = as_unordered(lw, v->source);
    if (v->n)
        copy->items = NEWN(lw->ctx, View *, v->n);
    for (int k = 0; k < v->n; k++)
        copy->items[k] = as_unordered(lw, v->items[k]);
    return copy;
}

static View *generated_at(Lowering *lw, const View *v, Nat i)
{
    View *arg = view_new(lw, VIEW_SCALAR, v->lambda->lambda.params[0]->type, v->span);
    arg->expr = imp_nat(lw->ctx, i, type_scalar_of(lw->ctx, arg->type), v->span);
    return lower_apply_read(lw, v->lambda, v->env, 1, &arg);
}

View *view_at(Lowering *lw, View *v, Nat i)
{
    Ctx *ctx = lw->ctx;
    i = small_index(lw, v, i);
    switch (v->kind) {
    case VIEW_ERROR: return v;
    case VIEW_SCALAR: case VIEW_TUPLE: break;
    case VIEW_VECTOR: return vector_part(lw, v, i);
    case VIEW_AS_VECTOR: case VIEW_AS_SCALAR: return vector_at(lw, v, i);
    case VIEW_BUF: {
        View *at = view_copy(lw, v);
        at->type = v->type->elem;
        if (v->layout && at->type->kind == TY_ARRAY)
            at->row = nat_add(ctx, v->row, nat_mul(ctx, i, layout_rows(lw, at->type)));
        at->offset = nat_add(ctx, v->offset, at->type->kind == TY_ARRAY ? nat_mul(ctx, i, layout_cells(lw, at->type, v->layout)) : nat_mul_k(ctx, layout_column(lw, v, i), type_width(at->type)));
        return at;
    }
    case VIEW_REG: return reg_at(lw, v, i);
    case VIEW_ZIP: {
        View *at = view_new(lw, v->type->elem->kind == TY_TUPLE ? VIEW_TUPLE : VIEW_ZIP, v->type->elem, v->span);
        at->n = v->n;
        at->items = NEWN(ctx, View *, v->n);
        for (int k = 0; k < v->n; k++)
            at->items[k] = view_at(lw, v->items[k], i);
        return at;
    }
    case VIEW_PROJ: return view_proj(lw, view_at(lw, v->source, i), v->k);
    case VIEW_EACH: return v->writing ? each_at(lw, v, i) : shared_at(lw, v, i, each_at);
    case VIEW_MAP: {
        View *at = view_copy(lw, v);
        at->type = v->type->elem;
        at->at[at->got++] = i;
        return at->got == at->rank ? map_complete(lw, at) : at;
    }
    case VIEW_WINDOWS: return windows_refuse(lw, v);
    case VIEW_RING: return view_at(lw, v->source, simplify(lw, nat_mod(ctx, nat_add(ctx, v->lo, i), v->size)));
    case VIEW_ATOMIC: {
        View *at = view_copy(lw, v);
        at->type = v->type->elem;
        return at;
    }
    case VIEW_PAD: return pad_at(lw, v, i);
    case VIEW_CONCAT: return concat_at(lw, v, i);
    case VIEW_COND: case VIEW_GUARD: return view_cond_map(lw, v, at_index, &i);
    case VIEW_GEN: return shared_at(lw, v, i, generated_at);
    case VIEW_GATHER: {
        View *at = v->drops ? number_at(lw, v, i) : view_at(lw, v->source, scalar_as_nat(lw, view_scalar(lw, view_at(lw, v->other, i)), lower_nat(lw, v->size)));
        return v->unordered ? as_unordered(lw, at) : at;
    }
    }
    lower_error(lw, E0510, v->span, "risec lost track of an array here");
    return view_error(lw, v->type);
}

View *view_proj(Lowering *lw, View *v, int k)
{
    switch (v->kind) {
    case VIEW_ERROR: return v;
    case VIEW_TUPLE: case VIEW_ZIP: return v->items[k];
    case VIEW_COND: return cond_view(lw, v->cond, view_proj(lw, v->source, k), view_proj(lw, v->other, k), v->before_then, v->before_other);
    case VIEW_GUARD: {
        View *at = view_copy(lw, v);
        at->source = view_proj(lw, v->source, k);
        at->type = at->source->type;
        return at;
    }
    case VIEW_VECTOR: case VIEW_AS_VECTOR: case VIEW_AS_SCALAR: break; /* of scalars, never of tuples */
    case VIEW_SCALAR: case VIEW_BUF: case VIEW_REG: case VIEW_PROJ: case VIEW_MAP: case VIEW_PAD: case VIEW_GEN: case VIEW_EACH: case VIEW_GATHER: case VIEW_CONCAT:
    case VIEW_WINDOWS: case VIEW_RING: case VIEW_ATOMIC: {
        View *at = view_new(lw, VIEW_PROJ, v->type, v->span);
        Type t = v->type;
        Nat sizes[LIMIT_ARRAY_RANK];
        int rank = 0;
        for (; t->kind == TY_ARRAY; t = t->elem)
            sizes[rank++] = t->size;
        t = t->items[k];
        while (rank)
            t = type_array(lw->ctx, sizes[--rank], t);
        at->type = t;
        at->source = v;
        at->k = k;
        return at;
    }
    }
    return v;
}

/* ---- scalars ------------------------------------------------------------------------------------------------------------ */

typedef struct Rename {
    Lowering *lw;
    ImpVar *from, *to;
} Rename;

static void rename_expr(void *user, ImpExpr **at)
{
    const Rename *r = user;
    if ((*at)->kind == IE_VAR && (*at)->var.var == r->from)
        (*at)->var.var = r->to;
}

static Nat rename_nat(void *user, Nat nat)
{
    const Rename *r = user;
    return r->from->nat && nat_mentions(nat, r->from->nat) ? nat_subst(r->lw->ctx, nat, r->from->nat, r->to->nat) : nat;
}

static void rename_stmt(void *user, ImpStmt *s)
{
    const Rename *r = user;
    walk_own(s, rename_expr, user);
    map_nats(s, rename_nat, user);
    if ((s->kind == IS_DECL || s->kind == IS_SET) && s->var.var == r->from)
        s->var.var = r->to;
    if ((s->kind == IS_VSET || s->kind == IS_VLOAD) && s->vec.var == r->from)
        s->vec.var = r->to;
}

/* The statements that were kept with the view, once more, and the value that they lead to: with registers of their own. */
static ImpExpr *side_scalar(Lowering *lw, ImpBlock *block, const ImpBlock *before, View *view)
{
    for (int i = 0; i < before->list.n; i++)
        vec_push(lw->ctx, &block->list, imp_copy_stmt(lw->ctx, before->list.at[i]));
    lw->out = block;
    ImpExpr *value = imp_copy_expr(lw->ctx, view_scalar(lw, view));
    imp_own_all(lw->ctx, block); /* a view that is read twice gives both the same conditions */
    ImpStmt last = {.kind = IS_SET, .var = {.slot = nat_const(lw->ctx, 0)}};
    for (int i = 0; i < before->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        ImpVar *var = imp_declares(s) ? imp_sets(s) : NULL;
        if (!var)
            continue;
        Rename r = {lw, var, lower_new_var(lw, var->name, var->type, var->span)};
        int id = r.to->id;
        *r.to = *r.from;
        r.to->id = id;
        if (r.from->nat)
            r.to->nat = nat_var(lw->ctx, r.from->nat->name, r.from->nat->lo, r.from->nat->hi);
        walk_stmts(block, rename_stmt, &r);
        last.var.value = value;
        rename_stmt(&r, &last);
        value = last.var.value;
    }
    return value;
}

/* A guarded value: a conditional expression when neither side needs statements, else a register set in the branches. */
static ImpExpr *cond_scalar(Lowering *lw, View *v)
{
    Ctx *ctx = lw->ctx;
    ImpBlock then = {{0}}, otherwise = {{0}}, *out = lw->out;
    NatFacts *facts = lw->facts;
    lw->facts = nat_facts_new(ctx, facts);
    assume(lw, v->cond);
    ImpExpr *a = side_scalar(lw, &then, &v->before_then, v->source);
    lw->facts = facts;
    ImpExpr *b = side_scalar(lw, &otherwise, &v->before_other, v->other);
    lw->out = out;
    if (!then.list.n && !otherwise.list.n) {
        if (imp_same_value(a, b)) /* two parts of an array, one behind the other as they lie */
            return a;
        if (a->kind == IE_COND && imp_same_value(a->cond.otherwise, b)) /* two pads with the same value */
            return imp_cond(ctx, imp_op2(ctx, P_and, SC_BOOL, v->cond, a->cond.cond, v->span), a->cond.then, b, v->span);
        return imp_cond(ctx, v->cond, a, b, v->span);
    }
    ImpVar *var = lower_new_var(lw, "value", a->type, v->span);
    lower_emit(lw, IS_DECL, v->span)->var.var = var;
    ImpStmt *s = lower_emit(lw, IS_IF, v->span);
    s->branch.cond = v->cond;
    s->branch.then = then;
    s->branch.otherwise = otherwise;
    ImpBlock *sides[2] = {&s->branch.then, &s->branch.otherwise};
    for (int k = 0; k < 2; k++) {
        ImpStmt *set = imp_stmt(ctx, sides[k], IS_SET, v->span);
        set->var.var = var;
        set->var.slot = nat_const(ctx, 0);
        set->var.value = k ? b : a;
    }
    return imp_var(ctx, var, nat_const(ctx, 0), v->span);
}

ImpExpr *view_scalar(Lowering *lw, View *v)
{
    Ctx *ctx = lw->ctx;
    switch (v->kind) {
    case VIEW_SCALAR: return v->expr;
    case VIEW_BUF: return imp_load(ctx, v->buf, simplify(lw, v->offset), v->span);
    case VIEW_REG: return imp_var(ctx, v->var, v->slot, v->span);
    case VIEW_COND: return cond_scalar(lw, v);
    case VIEW_GUARD:
        for (int i = 0; i < v->before_then.list.n; i++)
            vec_push(ctx, &lw->out->list, imp_copy_stmt(ctx, v->before_then.list.at[i]));
        return view_scalar(lw, v->source);
    case VIEW_ERROR: case VIEW_TUPLE: case VIEW_ZIP: case VIEW_PROJ: case VIEW_MAP: case VIEW_PAD: case VIEW_GEN: case VIEW_EACH: case VIEW_GATHER: case VIEW_CONCAT:
    case VIEW_VECTOR: case VIEW_AS_VECTOR: case VIEW_AS_SCALAR: case VIEW_WINDOWS: case VIEW_RING: case VIEW_ATOMIC: break;
    }
    lw->failed = true;
    return imp_lit(ctx, scalar_int(SC_I32, 0), v->span);
}

/* ---- the writing side ------------------------------------------------------------------------------------------------------ */

Placement view_owner(Lowering *lw, const View *v, PrimId level, int axis)
{
    Placement place = {0, NULL};
    switch (v->kind) {
    case VIEW_REG:
        if (v->n_dims && v->dims[0].level == level && v->dims[0].axis == axis)
            place = v->dims[0].place;
        break;
    case VIEW_ZIP:
        for (int k = 0; k < v->n && !place.stride; k++)
            place = view_owner(lw, v->items[k], level, axis);
        break;
    case VIEW_PROJ: case VIEW_EACH: return view_owner(lw, v->source, level, axis);
    case VIEW_MAP:
        if (v->got || (v->prim->prim.id != P_take && v->prim->prim.id != P_drop))
            break;
        place = view_owner(lw, v->source, level, axis);
        if (place.stride && v->prim->prim.id == P_drop)
            place.shift = nat_add(lw->ctx, place.shift, nat_mul_k(lw->ctx, v->nats[1], place.stride));
        break;
    case VIEW_ERROR: case VIEW_SCALAR: case VIEW_BUF: case VIEW_TUPLE: case VIEW_PAD: case VIEW_COND: case VIEW_GEN: case VIEW_GATHER:
    case VIEW_CONCAT: case VIEW_GUARD: case VIEW_VECTOR: case VIEW_AS_VECTOR: case VIEW_AS_SCALAR: case VIEW_WINDOWS: case VIEW_RING: case VIEW_ATOMIC: break;
    }
    return place;
}

bool view_is_private(const View *v)
{
    switch (v->kind) {
    case VIEW_REG: return true;
    case VIEW_TUPLE: case VIEW_ZIP: case VIEW_VECTOR: return v->n > 0 && view_is_private(v->items[0]);
    case VIEW_PROJ: case VIEW_MAP: case VIEW_EACH: case VIEW_GUARD: case VIEW_AS_VECTOR: case VIEW_AS_SCALAR: case VIEW_RING: return view_is_private(v->source);
    case VIEW_ERROR: case VIEW_SCALAR: case VIEW_BUF: case VIEW_PAD: case VIEW_COND: case VIEW_GEN: case VIEW_GATHER: case VIEW_CONCAT:
    case VIEW_WINDOWS: case VIEW_ATOMIC: return false;
    }
    return false;
}

bool view_all_private(const View *v)
{
    for (int k = 0; k < v->n; k++)
        if (!view_all_private(v->items[k]))
            return false;
    return (!v->source || view_all_private(v->source)) && v->kind != VIEW_BUF;
}

bool view_one_writer(Lowering *lw, const ImpBuf *buf, Span span)
{
    const char *missing = NULL;
    if (!single_writer(lw, buf->space != SPACE_SHARED, &missing)) {
        Diag *d = lower_error(lw, E0405, span, "several %s would write this result", !strncmp(missing, "mapBlock", 8) ? "blocks" : "threads");
        diag_label(lw->ctx, d, "nothing says which one: there is no %s around it", missing);
        diag_help(lw->ctx, d, "let the first one do it: `split(n) |> %s(reduceSeq(f, z))` makes of n elements an array of one, `generate{n = 1}(fun _ => e) |> %s(id)` of a value e without "
                  "%s in it; or hand the elements of an array out: `%s(f)`", missing, missing, missing, missing);
        return false;
    }
    return true;
}

static void store_buf(Lowering *lw, View *acceptor, ImpExpr *value, Span span)
{
    if (!view_one_writer(lw, acceptor->buf, span))
        return;
    ImpStmt *s = lower_emit(lw, IS_STORE, span);
    s->store.buf = acceptor->buf;
    s->store.index = simplify(lw, acceptor->offset);
    s->store.value = value;
    s->store.unordered = acceptor->unordered;
}

void view_store(Lowering *lw, View *acceptor, ImpExpr *value, Span span)
{
    switch (acceptor->kind) {
    case VIEW_ERROR: return;
    case VIEW_BUF: store_buf(lw, acceptor, value, span); return;
    case VIEW_ATOMIC:
        if (view_one_writer(lw, acceptor->source->buf, span)) /* for each element: otherwise it would be combined several times */
            atomic_store(lw, acceptor, value, span);
        return;
    case VIEW_REG: {
        ImpStmt *s = lower_emit(lw, IS_SET, span);
        s->var.var = acceptor->var;
        s->var.slot = acceptor->slot;
        s->var.value = value;
        return;
    }
    case VIEW_GUARD: {
        if (cond_is(lw, acceptor->cond, false))
            return;
        ImpStmt *s = lower_emit(lw, IS_IF, span);
        s->branch.cond = acceptor->cond;
        ImpBlock *out = lw->out;
        for (int i = 0; i < acceptor->before_then.list.n; i++)
            vec_push(lw->ctx, &s->branch.then.list, imp_copy_stmt(lw->ctx, acceptor->before_then.list.at[i]));
        lw->out = &s->branch.then;
        view_store(lw, acceptor->source, value, span);
        lw->out = out;
        return;
    }
    case VIEW_SCALAR: case VIEW_TUPLE: case VIEW_ZIP: case VIEW_PROJ: case VIEW_MAP: case VIEW_PAD: case VIEW_COND: case VIEW_GEN: case VIEW_EACH: case VIEW_GATHER:
    case VIEW_CONCAT: case VIEW_VECTOR: case VIEW_AS_VECTOR: case VIEW_AS_SCALAR: case VIEW_WINDOWS: case VIEW_RING: break;
    }
    lower_error(lw, E0510, span, "risec lost track of where this result goes");
}
