/* How values lie in shared memory: toShared[pad = k], toShared[swizzle], toShared[inPlace].
 *
 * Note [Shared layouts]. Shared memory has 32 banks of 4 bytes. Cells of one column collide in a bank where the rows' length shares a factor with the
 * number of cells in all banks. pad = k puts k unused cells after each row. swizzle needs none: it rotates row r by r / period * step cells, where
 * `period` rows lie in different banks by themselves, and `step` cells are one bank. A column's cells then lie in as many banks as there are.
 *
 * Note [In place]. toShared[inPlace](map(f, xs)) writes element i of the result where element i of xs was read from (of a zip: of its first array). The
 * translation gives the result a buffer of its own, ImpBuf.replaces the old one, and goes on as always; its view is that of xs with the buffers
 * exchanged. At the end, when all accesses are there, every such pair of buffers is proved to be one: no cell is read as the old buffer's after it was
 * written as the new one's. Until then every IE_LOAD says by its buffer which of the values of a cell it means, wherever the load ended up. */
#include "codegen/footprint.h"
#include "codegen/uniform.h"
#include "codegen/walk.h"

enum { BANK_BYTES = 4, ALL_BANKS_BYTES = 32 * BANK_BYTES };

/* ---- layouts ------------------------------------------------------------------------------------------------------------- */

typedef struct Sizes {
    const CoreEntry *entry;
    bool others;
} Sizes;

static void find_other(void *user, Nat var)
{
    Sizes *s = user;
    for (int i = 0; i < s->entry->n_sizes; i++)
        if (s->entry->sizes[i] == var)
            return;
    s->others = true;
}

bool only_sizes(const Lowering *lw, Nat nat)
{
    Sizes s = {lw->entry, false};
    nat_each_var(lw->ctx, nat, find_other, &s);
    return !s.others;
}

static Nat product(Lowering *lw, Type t, Nat pad)
{
    Nat n = nat_const(lw->ctx, 1);
    for (; t->kind == TY_ARRAY; t = t->elem) {
        Nat cells = lower_nat(lw, t->size);
        n = nat_mul(lw->ctx, n, pad && t->elem->kind != TY_ARRAY ? nat_add(lw->ctx, cells, pad) : cells);
    }
    return nat_mul_k(lw->ctx, n, type_width(t));
}

Nat layout_cells(Lowering *lw, Type t, const BufLayout *layout) { return product(lw, t, layout ? layout->pad : NULL); }

Nat layout_rows(Lowering *lw, Type t)
{
    Nat n = nat_const(lw->ctx, 1);
    for (; t->kind == TY_ARRAY && t->elem->kind == TY_ARRAY; t = t->elem)
        n = nat_mul(lw->ctx, n, lower_nat(lw, t->size));
    return n;
}

static Nat row_length(Lowering *lw, Type t)
{
    while (t->kind == TY_ARRAY && t->elem->kind == TY_ARRAY)
        t = t->elem;
    return t->kind == TY_ARRAY ? lower_nat(lw, t->size) : nat_const(lw->ctx, 1);
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t t = a % b;
        a = b;
        b = t;
    }
    return a;
}

const BufLayout *layout_of(Lowering *lw, const PrimOptions *options, Type t, Scalar elem)
{
    if (!options || (!options->pad && !options->swizzle))
        return NULL;
    BufLayout *layout = NEW(lw->ctx, BufLayout);
    if (options->pad)
        layout->pad = lower_nat(lw, options->pad);
    layout->period = 1;
    int64_t width = options->swizzle ? row_length(lw, t)->value : 0;
    while (t->kind == TY_ARRAY)
        t = t->elem;
    int bytes = scalar_bytes(elem) * type_width(t);
    int64_t cells = ALL_BANKS_BYTES / bytes, bank = bytes < BANK_BYTES ? BANK_BYTES / bytes : 1;
    int64_t common = gcd(width, cells);
    if (width > 0 && cells > 0 && common > bank) {
        layout->period = cells / common;
        layout->step = bank;
    }
    return layout;
}

Nat layout_column(Lowering *lw, const View *v, Nat i)
{
    Ctx *ctx = lw->ctx;
    if (!v->layout || !v->layout->step)
        return i;
    Nat turn = nat_mul_k(ctx, nat_div(ctx, v->row, nat_const(ctx, v->layout->period)), v->layout->step);
    return nat_mod(ctx, nat_add(ctx, i, turn), lower_nat(lw, v->type->size));
}

bool layout_check(Lowering *lw, const Core *e)
{
    Ctx *ctx = lw->ctx;
    const PrimOptions *o = &e->prim.options;
    Diag *d = NULL;
    if (o->in_place && o->prefetch) {
        d = lower_error(lw, E0430, e->span, "inPlace with prefetch: what is replaced is still read when the next step's elements come");
        diag_help(ctx, d, "leave one out");
    } else if (o->in_place && (o->pad || o->swizzle)) {
        d = lower_error(lw, E0430, e->span, "inPlace with %s: the cells are where they are", o->pad ? "pad" : "swizzle");
        diag_help(ctx, d, "give the layout where the array is stored first, and `toShared[inPlace]` here");
    } else if (o->pad && o->swizzle) {
        d = lower_error(lw, E0430, e->span, "pad and swizzle at once: either alone parts the columns' banks");
        diag_help(ctx, d, "leave one out: `toShared[swizzle]` takes no memory, `toShared[pad = 1]` no arithmetic");
    } else if (o->pad && !only_sizes(lw, lower_nat(lw, o->pad))) {
        d = lower_error(lw, E0430, e->span, "pad = %s is not known when the kernel is launched", nat_text(ctx, o->pad));
        diag_help(ctx, d, "compute it from numbers, tunables (nat parameters with a default) and the entry's sizes");
    } else if (o->swizzle && !nat_is_const(row_length(lw, e->type))) {
        d = lower_error(lw, E0430, e->span, "swizzle needs rows of constant length, and these have %s elements", nat_text(ctx, row_length(lw, e->type)));
        diag_help(ctx, d, "split into rows of constant length first, or use `toShared[pad = 1]`");
    }
    return !d;
}

/* ---- in place: the target --------------------------------------------------------------------------------------------------- */

/* One toShared[inPlace]. */
typedef struct InPlace {
    struct InPlace *before;
    const Core *term;
    ImpStmt *first, *last;  /* the statements of the map, in one list */
    int from, to, depth;    /* their positions in the text, and how many scopes are around them */
    int n_bufs;
    ImpBuf *bufs[LIMIT_TUPLE_ITEMS]; /* new ones */
    bool shared_cells;      /* several parts of the result lie in one buffer */
} InPlace;

/* Views of the same cells, with the new buffers in place of the old. NULL: it is no invertible view of shared memory. */
static View *overwritten(Lowering *lw, InPlace *in, const View *v)
{
    View *copy = NEW(lw->ctx, View);
    *copy = *v;
    switch (v->kind) {
    case VIEW_BUF:
        if (v->buf->space != SPACE_SHARED)
            return NULL;
        for (int k = 0; k < in->n_bufs; k++)
            if (in->bufs[k]->replaces == v->buf) {
                in->shared_cells = true;
                copy->buf = in->bufs[k];
                return copy;
            }
        if (in->n_bufs == LIMIT_TUPLE_ITEMS)
            return NULL;
        copy->buf = in->bufs[in->n_bufs++] = lower_new_buf(lw, SPACE_SHARED, v->buf->name, v->buf->elem, v->buf->count, v->buf->span);
        copy->buf->replaces = v->buf;
        return copy;
    case VIEW_MAP:
        if (!prim_rows[v->prim->prim.id].write[0])
            return NULL;
        copy->source = overwritten(lw, in, v->source);
        return copy->source ? copy : NULL;
    case VIEW_PROJ: case VIEW_AS_VECTOR: case VIEW_AS_SCALAR:
        copy->source = overwritten(lw, in, v->source);
        return copy->source ? copy : NULL;
    case VIEW_TUPLE: case VIEW_ZIP:
        copy->items = NEWN(lw->ctx, View *, v->n);
        for (int k = 0; k < v->n; k++)
            if (!(copy->items[k] = overwritten(lw, in, v->items[k])))
                return NULL;
        return copy;
    case VIEW_ERROR: case VIEW_SCALAR: case VIEW_REG: case VIEW_PAD: case VIEW_COND: case VIEW_GEN: case VIEW_EACH: case VIEW_GATHER: case VIEW_CONCAT: case VIEW_GUARD:
    case VIEW_VECTOR: case VIEW_WINDOWS: case VIEW_RING: case VIEW_ATOMIC:
        return NULL;
    }
    return NULL;
}

static bool same_type(Lowering *lw, Type a, Type b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->kind == TY_SCALAR)
        return false;
    if (a->kind == TY_TUPLE) {
        bool same = a->n_items == b->n_items;
        for (int k = 0; same && k < a->n_items; k++)
            same = same_type(lw, a->items[k], b->items[k]);
        return same;
    }
    if (!nat_equal(lw->ctx, lw->facts, lower_nat(lw, a->size), lower_nat(lw, b->size)))
        return false;
    return a->kind == TY_IDX || same_type(lw, a->elem, b->elem);
}

/* Of arrays that are zipped, those that lie somewhere: what generate gives has no cells. */
static View *without_generated(Lowering *lw, View *xs)
{
    if (xs->kind != VIEW_ZIP)
        return xs;
    Ctx *ctx = lw->ctx;
    View *v = view_new(lw, VIEW_ZIP, NULL, xs->span);
    Type *types = NEWN(ctx, Type, xs->n);
    v->items = NEWN(ctx, View *, xs->n);
    for (int k = 0; k < xs->n; k++)
        if (xs->items[k]->kind != VIEW_GEN) {
            types[v->n] = xs->items[k]->type->elem;
            v->items[v->n++] = xs->items[k];
        }
    if (v->n == 0 || v->n == xs->n)
        return xs;
    v->type = type_array(ctx, xs->type->size, type_tuple(ctx, v->n, types));
    return v->n == 1 ? v->items[0] : v;
}

/* What is written over: the array, those of the arrays that it zips which have cells, or the first of them, whichever has the result's type. */
static View *first_like(Lowering *lw, View *xs, Type type)
{
    while (!same_type(lw, xs->type, type)) {
        if (xs->type->kind != TY_ARRAY || xs->type->elem->kind != TY_TUPLE)
            return NULL;
        View *stored = without_generated(lw, xs);
        xs = stored != xs ? stored : view_proj(lw, xs, 0);
    }
    return xs;
}

static View *refuse_target(Lowering *lw, const Core *e, const char *what, const char *help)
{
    Diag *d = lower_error(lw, E0431, e->span, "%s", what);
    diag_help(lw->ctx, d, "%s", help);
    return view_error(lw, e->type);
}

static View *in_place(Lowering *lw, const Core *term, const Core *e)
{
    Ctx *ctx = lw->ctx;
    if (e->kind == CORE_LET) {
        const Env *env = lw->env;
        View *value = lower_read(lw, e->let.value);
        lower_bind(lw, e->let.var, value, e->let.body);
        View *v = in_place(lw, term, e->let.body);
        lw->env = env;
        return v;
    }
    bool prim = e->kind == CORE_PRIM;
    if (prim && prim_rows[e->prim.id].level == LEVEL_VIEW && e->prim.n_args == 1 && e->type->kind == TY_ARRAY && prim_rows[e->prim.id].read[0])
        return lower_apply_view(lw, e, in_place(lw, term, e->prim.args[0]));
    if (!prim || (!is_parallel_map(e->prim.id) && !is_seq_map(e->prim.id)))
        return refuse_target(lw, term, "toShared[inPlace] stores what a map computes over the elements that it replaces, and this is no map",
                             "map over the array in shared memory, as in `xs |> mapThreads(f) |> toShared[inPlace]`, or leave [inPlace] out");
    View *xs = lower_read(lw, e->prim.args[1]);
    if (xs->kind == VIEW_ERROR)
        return xs;
    View *old = first_like(lw, xs, lower_type(lw, e->type));
    if (!old) {
        const char *read = type_text(ctx, xs->type), *written = type_text(ctx, e->type);
        return refuse_target(lw, term, ctx_printf(ctx, "the map reads %s and computes %s: they do not fit the same cells", read, written),
                             "leave [inPlace] out: `toShared` stores the result in cells of its own");
    }
    InPlace *in = NEW(ctx, InPlace);
    in->before = lw->in_place;
    in->term = term;
    View *acceptor = overwritten(lw, in, old);
    if (!acceptor)
        return refuse_target(lw, term, "the elements that the map reads first are no plain part of an array in shared memory",
                             "store them first, as in `mapThreads(id) |> toShared`; in a `zip`, the first array is the one to be replaced");
    lw->in_place = in;
    int from = lw->out->list.n;
    lower_write_map_of(lw, e, xs, acceptor);
    if (lw->out->list.n > from) {
        in->first = lw->out->list.at[from];
        in->last = lw->out->list.at[lw->out->list.n - 1];
    }
    acceptor->type = lower_type(lw, e->type);
    return acceptor;
}

View *lower_read_in_place(Lowering *lw, const Core *e)
{
    lw->hint = NULL;
    return in_place(lw, e, e->prim.args[0]);
}

bool view_is_in_place(const View *v)
{
    switch (v->kind) {
    case VIEW_BUF: return v->buf->replaces != NULL;
    case VIEW_TUPLE: case VIEW_ZIP: case VIEW_VECTOR:
        for (int k = 0; k < v->n; k++)
            if (view_is_in_place(v->items[k]))
                return true;
        return false;
    case VIEW_PROJ: case VIEW_MAP: case VIEW_EACH: case VIEW_GUARD: case VIEW_AS_VECTOR: case VIEW_AS_SCALAR: return view_is_in_place(v->source);
    case VIEW_ERROR: case VIEW_SCALAR: case VIEW_REG: case VIEW_PAD: case VIEW_COND: case VIEW_GEN: case VIEW_GATHER: case VIEW_CONCAT:
    case VIEW_WINDOWS: case VIEW_RING: case VIEW_ATOMIC: return false;
    }
    return false;
}

/* ---- in place: the proof ------------------------------------------------------------------------------------------------------ */

typedef struct Touch {
    Access access;
    int position; /* of the statement in the text */
    Span where;   /* what the program computes there */
} Touch;

typedef struct Proof {
    Lowering *lw;
    Ctx *ctx;
    Uniform uniform;
    int now;
    Span where;
    VEC(Touch *) touches;
    const Scope **alloc; /* by buffer: the scope of its IS_ALLOC */
} Proof;

static ImpBuf *root(ImpBuf *buf)
{
    while (buf->replaces)
        buf = buf->replaces;
    return buf;
}

static const Scope *scope_under(const Proof *p, const Scope *parent, const ImpExpr *cond, bool negated, int same)
{
    Scope *s = NEW(p->ctx, Scope);
    *s = (Scope){.parent = parent, .depth = scope_depth(parent) + 1, .cond = cond, .negated = negated, .uniform = same & SAME_IN_BLOCK};
    return s;
}

static const Scope *scope_of_loop(const Proof *p, const Scope *parent, const ImpStmt *loop, int same)
{
    Scope *s = NEW(p->ctx, Scope);
    *s = (Scope){.parent = parent, .depth = scope_depth(parent) + 1, .loop = loop, .uniform = same & SAME_IN_BLOCK};
    return s;
}

static void touch(Proof *p, ImpBuf *buf, bool write, Nat index, Span span, const Scope *scope)
{
    if (buf->space != SPACE_SHARED)
        return;
    Touch *t = NEW(p->ctx, Touch);
    t->access = (Access){.buf = buf, .write = write, .index = index, .span = span, .scope = scope};
    t->position = p->now;
    t->where = p->where;
    vec_push(p->ctx, &p->touches, t);
}

static void collect_loads(Proof *p, const ImpExpr *e, const Scope *scope)
{
    switch (e->kind) {
    case IE_LIT: case IE_NAT: case IE_VAR: return;
    case IE_LOAD: touch(p, e->mem.buf, false, e->mem.index, e->span, scope); return;
    case IE_OP:
        for (int i = 0; i < e->op.n; i++)
            collect_loads(p, e->op.args[i], scope);
        return;
    case IE_CAST: collect_loads(p, e->cast.value, scope); return;
    case IE_COND:
        collect_loads(p, e->cond.cond, scope);
        collect_loads(p, e->cond.then, scope_under(p, scope, e->cond.cond, false, 0));
        collect_loads(p, e->cond.otherwise, scope_under(p, scope, e->cond.cond, true, 0));
        return;
    case IE_SHFL:
        if (e->shfl.by)
            collect_loads(p, e->shfl.by, scope);
        collect_loads(p, e->shfl.value, scope);
        return;
    }
}

static void collect(Proof *p, const ImpBlock *block, const Scope *scope, const LoopSame *loops)
{
    for (int i = 0; i < block->list.n; i++) {
        const ImpStmt *s = block->list.at[i];
        p->now++;
        p->where = s->span;
        int same;
        for (InPlace *in = p->lw->in_place; in; in = in->before)
            if (in->first == s) {
                in->from = p->now;
                in->depth = scope_depth(scope);
            }
        switch (s->kind) {
        case IS_DECL: case IS_SET:
            if (s->var.value)
                collect_loads(p, s->var.value, scope);
            break;
        case IS_STORE:
            collect_loads(p, s->store.value, scope);
            touch(p, s->store.buf, true, s->store.index, s->span, scope);
            break;
        case IS_VSET: case IS_VLOAD: case IS_VSTORE:
            for (int k = 0; s->kind != IS_VLOAD && k < s->vec.n; k++)
                collect_loads(p, s->vec.values[k], scope);
            for (int k = 0; s->kind != IS_VSET && k < s->vec.n; k++)
                touch(p, s->vec.buf, s->kind == IS_VSTORE, nat_add_k(p->ctx, s->vec.index, k), s->span, scope);
            break;
        case IS_FOR: {
            LoopSame loop = {loops, s->loop.var, uniform_loop(&p->uniform, loops, s)};
            collect(p, &s->loop.body, scope_of_loop(p, scope, s, loop.same), &loop);
            break;
        }
        case IS_IF:
            same = uniform_expr(&p->uniform, loops, s->branch.cond);
            collect_loads(p, s->branch.cond, scope);
            collect(p, &s->branch.then, scope_under(p, scope, s->branch.cond, false, same), loops);
            collect(p, &s->branch.otherwise, scope_under(p, scope, s->branch.cond, true, same), loops);
            break;
        case IS_ALLOC: p->alloc[s->alloc->id] = scope; break;
        case IS_ATOMIC:
            collect_loads(p, s->atomic.value, scope);
            touch(p, s->atomic.buf, true, s->atomic.index, s->span, scope);
            break;
        case IS_GIVE: collect_loads(p, s->exchange.value, scope); break;
        case IS_TICKET: case IS_GRID_SYNC: case IS_AWAIT: case IS_SERVE: case IS_SYNC: case IS_NOTE: break;
        }
        for (InPlace *in = p->lw->in_place; in; in = in->before)
            if (in->last == s)
                in->to = p->now;
    }
}

static int common_depth(const Scope *a, const Scope *b)
{
    int depth = scope_depth(a) < scope_depth(b) ? scope_depth(a) : scope_depth(b);
    a = scope_at(a, depth);
    b = scope_at(b, depth);
    while (a != b) {
        a = a->parent;
        b = b->parent;
    }
    return scope_depth(a);
}

/* Is buf the one that `by` replaces, directly or by steps? */
static bool is_older(const ImpBuf *buf, const ImpBuf *by)
{
    for (by = by->replaces; by; by = by->replaces)
        if (by == buf)
            return true;
    return false;
}

static void refuse_stale(Proof *p, const InPlace *in, const Touch *load, bool again)
{
    Diag *d = lower_error(p->lw, E0432, load->where, "this reads an array that was replaced in place");
    diag_label(p->ctx, d, "cell %s of `%s`", nat_text(p->ctx, load->access.index), load->access.buf->name);
    diag_note(p->ctx, d, in->term->span, again ? "it was written over here, one time earlier round the loop" : "it was written over here");
    propose_without(p->ctx, d, in->term->span, P_toShared, "inPlace", "go on with the result of toShared[inPlace], or leave [inPlace] out there: `toShared`");
}

static void refuse_crossing(Proof *p, const InPlace *in, const Touch *load, const Touch *store)
{
    Diag *d = lower_error(p->lw, E0431, in->term->span, "not every cell is proved to be read by no one but the thread that writes over it, before it does");
    diag_note(p->ctx, d, store->where, "this reads cell %s of `%s` and writes cell %s", nat_text(p->ctx, load->access.index), load->access.buf->name,
              nat_text(p->ctx, store->access.index));
    propose_without(p->ctx, d, in->term->span, P_toShared, "inPlace",
                    nat_is_const(root((ImpBuf *)load->access.buf)->count) ? "leave [inPlace] out: `toShared` stores the result in cells of its own"
                    : "leave [inPlace] out: `toShared` stores the result in cells of its own; only arrays of constant size can be compared cell by cell");
}

/* Is a loop among the scopes around, deeper than `from` and not deeper than `to`? */
static bool has_loop(const Scope *scope, int from, int to)
{
    for (scope = scope_at(scope, to); scope && scope->depth > from; scope = scope->parent)
        if (scope->loop)
            return true;
    return false;
}

/* Do these lie in the two branches of an `if` that all threads of the block take alike? */
static bool are_alternatives(const Scope *a, const Scope *b, int common)
{
    a = scope_at(a, common + 1);
    b = scope_at(b, common + 1);
    return a && b && a->depth == common + 1 && b->depth == common + 1 && a->cond && a->cond == b->cond && a->negated != b->negated && a->uniform;
}

/* One read of a cell as it was before the in-place write `store`. False: refused. */
static bool check_load(Proof *p, const InPlace *in, Touch *load, Touch *store)
{
    const Scope *alloc = p->alloc[root((ImpBuf *)store->access.buf)->id];
    int still = scope_depth(alloc), common = common_depth(load->access.scope, store->access.scope);
    if (are_alternatives(load->access.scope, store->access.scope, common) && !has_loop(store->access.scope, still, common))
        return true;
    if (load->position > store->position) {
        refuse_stale(p, in, load, false);
        return false;
    }
    if (load->position < in->from) { /* a barrier can stand between, but not between two trips of a loop */
        bool again = has_loop(store->access.scope, still, common);
        if (again)
            refuse_stale(p, in, load, true);
        return !again;
    }
    bool outer_loop = has_loop(store->access.scope, still, in->depth); /* without, each element comes once, and its cell is read by it alone */
    if ((load->access.index == store->access.index && !outer_loop) || footprint_read_first(p->lw, &load->access, &store->access, still, common))
        return true;
    if (outer_loop && load->access.index == store->access.index)
        refuse_stale(p, in, load, true);
    else
        refuse_crossing(p, in, load, store);
    return false;
}

/* No cell gets two elements. */
static bool check_stores(Proof *p, const InPlace *in)
{
    for (int i = 0; i < p->touches.n; i++)
        for (int j = 0; j <= i; j++) {
            Touch *a = p->touches.at[i], *b = p->touches.at[j];
            if (!a->access.write || !b->access.write || a->access.buf != b->access.buf || a->position < in->from || a->position > in->to || !a->access.buf->replaces)
                continue;
            int still = scope_depth(p->alloc[root((ImpBuf *)a->access.buf)->id]);
            if (!footprint_apart(p->lw, &a->access, &b->access, still) && (i != j || in->shared_cells)) {
                Diag *d = lower_error(p->lw, E0431, in->term->span, "two elements of the result may go to one cell");
                diag_note(p->ctx, d, a->access.span, "cell %s is written here%s", nat_text(p->ctx, a->access.index), i == j ? ", perhaps twice" : "");
                propose_without(p->ctx, d, in->term->span, P_toShared, "inPlace", "leave [inPlace] out, or replace an array whose elements lie in cells of their own");
                return false;
            }
        }
    return true;
}

static bool check(Proof *p, const InPlace *in)
{
    if (!check_stores(p, in))
        return false;
    for (int i = 0; i < p->touches.n; i++) {
        Touch *store = p->touches.at[i];
        if (!store->access.write || store->position < in->from || store->position > in->to || !store->access.buf->replaces)
            continue;
        for (int j = 0; j < p->touches.n; j++) {
            Touch *load = p->touches.at[j];
            const ImpBuf *mine = load->access.buf, *its = store->access.buf;
            if (!load->access.write && mine != its && root((ImpBuf *)mine) == root((ImpBuf *)its) && !is_older(its, mine) && !check_load(p, in, load, store))
                return false;
        }
    }
    return true;
}

static void use_root(void *user, ImpExpr **at)
{
    (void)user;
    if ((*at)->kind == IE_LOAD)
        (*at)->mem.buf = root((*at)->mem.buf);
}

static void move_to_root(void *user, ImpStmt *s)
{
    (void)user;
    if (s->kind == IS_ATOMIC)
        s->atomic.buf = root(s->atomic.buf);
    if (s->kind == IS_STORE)
        s->store.buf = root(s->store.buf);
    if (s->kind == IS_VLOAD || s->kind == IS_VSTORE) {
        int align = s->vec.buf->align;
        s->vec.buf = root(s->vec.buf);
        s->vec.buf->align = s->vec.buf->align < align ? align : s->vec.buf->align;
    }
}

void layout_finish_in_place(Lowering *lw)
{
    if (!lw->in_place)
        return;
    ImpKernel *kernel = lw->kernel;
    Proof p = {.lw = lw, .ctx = lw->ctx, .uniform = uniform_of(lw), .alloc = NEWN(lw->ctx, const Scope *, kernel->bufs.n)};
    collect(&p, &kernel->body, NULL, NULL);
    for (const InPlace *in = lw->in_place; in; in = in->before)
        if (in->first && !check(&p, in))
            return;
    walk_block(&kernel->body, use_root, NULL);
    walk_stmts(&kernel->body, move_to_root, NULL);
    int n = 0;
    for (int i = 0; i < kernel->bufs.n; i++)
        if (!kernel->bufs.at[i]->replaces) {
            kernel->bufs.at[n] = kernel->bufs.at[i];
            kernel->bufs.at[n]->id = n;
            n++;
        }
    kernel->bufs.n = n;
    lw->in_place = NULL;
}
