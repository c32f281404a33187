/* Pass translate: core to imp, by two mutually recursive translations (after DPIA): lower_write(E, A) writes the value of E through
 * acceptor A; lower_read(E) makes E readable and gives a view of it.
 *
 *   mapP f xs written to A   =  for P i { f xs[i] written to A[i] }
 *   reduceSeq op z xs read   =  acc = z; for i { acc = op acc xs[i] }; acc
 *   toMem E read             =  a new buffer, E written to it; the buffer
 *
 * Requires core that core_verify accepts. Establishes: every index is a nat over sizes, ids and loop variables; every store has one writer.
 * Leaves out: barriers, places of shared buffers, names of C. */
#include "codegen/sequences.h"
#include "ir/result_place.h"

/* ---- writing -------------------------------------------------------------------------------------------------------------------------------- */

typedef struct MapWrite {
    const Core *map;
    View *xs, *acceptor;
    const Env *env;
    Windows windows; /* of a sequential map */
} MapWrite;

static void map_step(Lowering *lw, Nat i, void *user)
{
    const MapWrite *w = user;
    const Core *f = w->map->prim.args[0];
    const Env *saved = lw->env;
    lw->env = w->env;
    lower_bind(lw, f->lambda.params[0], w->windows.xs ? windows_at(lw, &w->windows, i) : view_at(lw, w->xs, i), f->lambda.body);
    lower_write(lw, f->lambda.body, view_at(lw, w->acceptor, i));
    lw->env = saved;
    if (w->windows.xs)
        windows_next(lw, &w->windows, i);
}

void lower_write_map_of(Lowering *lw, const Core *e, View *xs, View *acceptor)
{
    MapWrite w = {.map = e, .xs = xs, .acceptor = acceptor, .env = lw->env};
    PrimId id = e->prim.id;
    Nat n = lower_nat(lw, e->type->size);
    if (xs->kind == VIEW_ERROR || acceptor->kind == VIEW_ERROR)
        return;
    ImpStmt *note = lower_emit(lw, IS_NOTE, e->span);
    note->note = prim_name(id);
    if (is_seq_map(id)) {
        bool ok, unroll = lower_unrolled(lw, e, n, &ok);
        if (ok && windows_begin(lw, xs, &w.windows))
            seq_each(lw, e, n, unroll || vector_wants_unroll(w.xs, n), map_step, &w);
        return;
    }
    Placement place;
    if (!place_of_map(lw, e, &place))
        return;
    Placement owner = view_owner(lw, xs, id, e->prim.options.axis);
    if (owner.stride && !e->prim.options.place)
        place = owner;
    lower_place_registers(lw, acceptor, e, place);
    level_each(lw, e, n, place, map_step, &w);
}

bool lower_write_map(Lowering *lw, const Core *e, View *acceptor)
{
    lower_write_map_of(lw, e, lower_read(lw, e->prim.args[1]), acceptor);
    return true;
}

bool lower_write_zip(Lowering *lw, const Core *e, View *acceptor)
{
    for (int k = 0; k < e->prim.n_args; k++)
        lower_write(lw, e->prim.args[k], view_proj(lw, acceptor, k));
    return true;
}

bool lower_write_unzip(Lowering *lw, const Core *e, View *acceptor)
{
    View *v = view_new(lw, VIEW_ZIP, e->prim.args[0]->type, e->span);
    v->n = 2;
    v->items = NEWN(lw->ctx, View *, 2);
    v->items[0] = view_proj(lw, acceptor, 0);
    v->items[1] = view_proj(lw, acceptor, 1);
    lower_write(lw, e->prim.args[0], v);
    return true;
}

/* id, and what is stored further on: computed in place. */
bool lower_write_through(Lowering *lw, const Core *e, View *acceptor)
{
    if (e->type->kind != TY_ARRAY)
        return false;
    lower_write(lw, e->prim.args[0], acceptor);
    return true;
}

/* Views with an inverse index map: the source is written through it. */
static bool write_view(Lowering *lw, const Core *e, View *acceptor)
{
    const PrimRow *row = &prim_rows[e->prim.id];
    if (row->level != LEVEL_VIEW || !row->write[0])
        return false;
    const Core *source = e->prim.args[e->prim.n_args - 1];
    lower_write(lw, source, view_map(lw, e, acceptor, lower_type(lw, source->type), true));
    return true;
}

/* A value that only views make, of what is there: read, not written. */
static bool is_read(const Core *e)
{
    for (; e->kind == CORE_PRIM && prim_rows[e->prim.id].level == LEVEL_VIEW; e = e->prim.args[e->prim.n_args - 1])
        if (!e->prim.n_args || e->prim.id == P_generate)
            return true;
    return e->kind == CORE_VAR || e->kind == CORE_PROJ;
}

static bool any_level(const Levels *o)
{
    bool any = o->warp || o->lane;
    for (int axis = 0; axis < 3; axis++)
        any |= o->global[axis] || o->block[axis] || o->thread[axis];
    return any;
}

/* A `map` of the text inside a function that a level is given: of all that are left, the first. */
static const Ast *map_inside(const Ast *ast, bool inside)
{
    if (ast->kind == AST_CALL && inside && ast_is_word(ast->call.fn, prim_name(P_map)))
        return ast;
    const Ast *fn = ast->kind == AST_CALL ? ast->call.fn : NULL;
    while (fn && fn->kind == AST_BRACKET)
        fn = fn->call.fn;
    PrimId id = fn && fn->kind == AST_NAME ? prim_find(fn->name.text) : P_COUNT;
    inside |= id == P_mapBlock || id == P_mapThreads || id == P_mapWarp || id == P_mapGlobal;
    const Ast *found = NULL;
    for (int i = 0; i < ast_children(ast) && !found; i++)
        found = map_inside(ast_child(ast, i), inside);
    return found;
}

/* The level that may compute what stands in those that are open. */
static const char *next_level(const Levels *o)
{
    return o->warp && !o->lane ? "mapLane" : o->block[0] && !o->warp && !o->thread[0] ? "mapThreads" : o->thread[0] || o->lane || o->global[0] ? "mapSeq" : "mapGlobal";
}

/* `map` in a function of mapBlock, of which the library's rules have made something else. */
static bool report_map_inside(Lowering *lw, const Core *e)
{
    const Item *item = lw->entry->item;
    const Ast *map = item && item->body && !span_is_users(lw->ctx, e->span) && any_level(&lw->open) ? map_inside(item->body, false) : NULL;
    if (!map)
        return false;
    Diag *d = lower_error(lw, E0410, map->span, "nothing computes the elements of this array");
    diag_label(lw->ctx, d, "map says of no thread that it computes them");
    diag_propose(lw->ctx, d, map->call.fn->span, "say at which level they are computed: here it is $", "%s", next_level(&lw->open));
    return true;
}

static void no_writer(Lowering *lw, const Core *e)
{
    if (report_map_inside(lw, e))
        return;
    Diag *d = lower_error(lw, E0410, e->span, "nothing computes the elements of this array");
    bool padded = e->kind == CORE_PRIM && (e->prim.id == P_padTo || e->prim.id == P_padCst || e->prim.id == P_concat);
    diag_label(lw->ctx, d, padded ? "the padding has no writer" : "a layout view alone has no writer");
    const Levels *o = &lw->open;
    d->high = !any_level(o);
    diag_help(lw->ctx, d, "copy its elements at the level that stands here: `|> %s(id)`", next_level(o));
}

/* Is it there already, in the very cells that it is to be written to? */
static bool is_there(const Lowering *lw, const View *v, const View *acceptor)
{
    if (v->kind != acceptor->kind || v->n != acceptor->n)
        return false;
    if (v->kind == VIEW_BUF)
        return v->buf == acceptor->buf && v->type == acceptor->type && nat_equal(lw->ctx, lw->facts, v->offset, acceptor->offset);
    bool there = v->kind == VIEW_TUPLE || v->kind == VIEW_ZIP;
    for (int k = 0; there && k < v->n; k++)
        there = is_there(lw, v->items[k], acceptor->items[k]);
    return there;
}

static bool is_nested_scalars(Type type)
{
    bool scalars = type->kind != TY_ARRAY;
    for (int i = 0; i < type->n_items && scalars; i++)
        scalars = is_nested_scalars(type->items[i]);
    return scalars;
}

/* A tuple of tuples, part by part. */
static void write_nested(Lowering *lw, View *v, View *acceptor, Type type, Span span)
{
    int n = lower_scalar_count(type);
    for (int k = 0; n < 0 && k < type->n_items; k++)
        write_nested(lw, view_proj(lw, v, k), view_proj(lw, acceptor, k), type->items[k], span);
    for (int k = 0; k < n; k++)
        value_store(lw, lower_component(lw, acceptor, k, n), value_of(lw, lower_component(lw, v, k, n), "v"), span);
}

static void write_scalars(Lowering *lw, const Core *e, View *acceptor)
{
    View *v = lower_read(lw, e);
    int n = lower_scalar_count(e->type);
    if (v->kind == VIEW_ERROR)
        return;
    if (n < 0 && is_nested_scalars(e->type) && !view_is_in_place(acceptor)) {
        write_nested(lw, v, acceptor, e->type, e->span);
        return;
    }
    if (n < 0) { /* a tuple of arrays that is not taken apart */
        no_writer(lw, e);
        return;
    }
    Value values[LIMIT_TUPLE_ITEMS];
    bool there[LIMIT_TUPLE_ITEMS];
    bool in_place = (n > 1 || type_width(e->type) > 1) && view_is_in_place(acceptor);
    for (int k = 0; k < n; k++) {
        View *component = lower_component(lw, v, k, n);
        there[k] = is_there(lw, component, lower_component(lw, acceptor, k, n));
        if (!there[k])
            values[k] = value_of(lw, component, "v");
        if (!in_place || there[k])
            continue;
        Registers regs = registers_new(lw, "value", component->type, e->span); /* all is read before any of it is written over */
        for (int r = 0; r < regs.n / regs.width; r++)
            regs.vars[r]->constant = true;
        registers_set(lw, regs, values[k], true, e->span);
        values[k] = registers_value(lw, regs, e->span);
    }
    for (int k = 0; k < n; k++)
        if (!there[k])
            value_store(lw, lower_component(lw, acceptor, k, n), values[k], e->span);
}

static void write_if(Lowering *lw, const Core *e, View *acceptor)
{
    Ctx *ctx = lw->ctx;
    View *c = lower_read(lw, e->cond.cond);
    if (c->kind == VIEW_ERROR)
        return;
    ImpExpr *cond = view_scalar(lw, c);
    if (cond_is(lw, cond, true) || cond_is(lw, cond, false)) {
        lower_write(lw, cond_is(lw, cond, true) ? e->cond.then : e->cond.otherwise, acceptor);
        return;
    }
    ImpStmt *s = lower_emit(lw, IS_IF, e->span);
    s->branch.cond = cond;
    ImpBlock *out = lw->out;
    NatFacts *facts = lw->facts;
    for (int k = 0; k < 2; k++) {
        lw->out = k ? &s->branch.otherwise : &s->branch.then;
        lw->facts = nat_facts_new(ctx, facts);
        if (k == 0)
            assume(lw, cond);
        lower_write(lw, k ? e->cond.otherwise : e->cond.then, acceptor);
    }
    lw->out = out;
    lw->facts = facts;
}

/* What the term is of registers, or of memory, as it stands; NULL: it is computed. */
static View *stored_before(Lowering *lw, const Core *e)
{
    ResultRead read;
    if (e->kind == CORE_VAR || e->kind == CORE_PROJ || (e->kind == CORE_PRIM && prim_rows[e->prim.id].level == LEVEL_SHFL))
        return lower_read(lw, e);
    return result_read(e, &read) && !read.of_one ? view_proj(lw, lower_read(lw, read.array), read.component) : NULL;
}

static void write_term(Lowering *lw, const Core *e, View *acceptor)
{
    if (acceptor->kind == VIEW_ERROR)
        return;
    bool array = e->type->kind == TY_ARRAY;
    const Core *decided = lower_decided(lw, e);
    if (decided) {
        branch_enter(lw, e);
        lower_write(lw, decided, acceptor);
        branch_leave(lw, e);
        return;
    }
    switch (e->kind) {
    case CORE_LET: {
        if (lower_write_let_of_views(lw, e, acceptor))
            return;
        const Env *env = lw->env;
        lower_let(lw, e);
        lower_write(lw, e->let.body, acceptor);
        lw->env = env;
        return;
    }
    case CORE_IF:
        if (lower_scalar_count(e->type) < 0) {
            write_if(lw, e, acceptor);
            return;
        }
        break;
    case CORE_TUPLE:
        if (lower_scalar_count(e->type) < 0) {
            for (int k = 0; k < e->tuple.n; k++)
                lower_write(lw, e->tuple.items[k], view_proj(lw, acceptor, k));
            return;
        }
        break;
    case CORE_PRIM:
        if (e->prim.id == P_single && lower_scalar_count(e->type) >= 0 && is_read(e))
            break;
        if (lower_forms[e->prim.id].write ? lower_forms[e->prim.id].write(lw, e, acceptor) : write_view(lw, e, acceptor))
            return;
        if (array && prim_rows[e->prim.id].level != LEVEL_VIEW && prim_rows[e->prim.id].level != LEVEL_SHFL) {
            lower_read(lw, e); /* says why not */
            return;
        }
        break;
    case CORE_VAR: case CORE_LIT: case CORE_SIZE: case CORE_LAMBDA: case CORE_PROJ: case CORE_UNIT_ERROR: break;
    }
    View *v = array ? stored_before(lw, e) : NULL;
    if (array && !(v && (is_there(lw, v, acceptor) || copy_registers(lw, v, acceptor, e->span))))
        no_writer(lw, e);
    else if (!array)
        write_scalars(lw, e, acceptor);
}

void lower_write(Lowering *lw, const Core *e, View *acceptor)
{
    Sharing *sharing = share_nothing(lw);
    const Span around = lower_enter(lw, e);
    write_term(lw, e, acceptor);
    lw->users = around;
    lw->sharing = sharing;
}

void pass_translate(Lowering *lw) { lower_kernels(lw); }
