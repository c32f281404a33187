/* How the blocks of a kernel meet: nextKernel, lastBlock, gridSync. Each first stores x in global memory; then f(x) is written
 *
 * In a nextKernel, repeatKernels(k, f, x) first stores x, then begins kernels that are launched again and again (repeat.c).
 *
 *   nextKernel(f, x)  by a new kernel
 *   lastBlock(f, x)   by the block that takes the last ticket: if (thread 0) last = ticket; if (last) ...
 *   gridSync(f, x)    by all blocks, after a barrier of the grid */
#include "codegen/lowering.h"
#include "ir/result_place.h"
#include "ir/terms.h"

/* ---- what the blocks leave in global memory ------------------------------------------------------------------------------ */

/* Can the term be read as it stands, without anything being computed first? */
static bool is_stored(const Core *e)
{
    switch (e->kind) {
    case CORE_VAR: case CORE_LIT: case CORE_SIZE: case CORE_LAMBDA: case CORE_UNIT_ERROR: return true;
    case CORE_LET: case CORE_IF: return false;
    case CORE_PROJ: return is_stored(e->proj.value);
    case CORE_TUPLE:
        for (int i = 0; i < e->tuple.n; i++)
            if (!is_stored(e->tuple.items[i]))
                return false;
        return true;
    case CORE_PRIM:
        if (prim_is_scatter(e->prim.id))
            return false;
        if (prim_rows[e->prim.id].level != LEVEL_VIEW && prim_rows[e->prim.id].level != LEVEL_SCALAR)
            return false;
        for (int i = 0; i < e->prim.n_args; i++)
            if (!is_stored(e->prim.args[i]))
                return false;
        return true;
    }
    return false;
}

static View *stage(Lowering *lw, const Core *e, const CoreVar *of);

static View *stage_items(Lowering *lw, ViewKind kind, const Core *e, int n, Core **items, const CoreVar *of)
{
    View *v = view_new(lw, kind, lower_type(lw, e->type), e->span);
    v->n = n;
    v->items = NEWN(lw->ctx, View *, n);
    for (int k = 0; k < n; k++) {
        v->items[k] = stage(lw, items[k], of);
        if (v->items[k]->kind == VIEW_ERROR)
            return v->items[k];
    }
    return v;
}

static bool is_zip(PrimId id) { return id == P_zip || id == P_zip3 || id == P_zip4; }

/* Views that lower_apply_view applies to whatever its last argument is; the others are there already. */
static bool is_applied_view(const Core *e)
{
    if (prim_rows[e->prim.id].level != LEVEL_VIEW || lower_forms[e->prim.id].read)
        return false;
    for (int i = 0; i + 1 < e->prim.n_args; i++)
        if (!is_stored(e->prim.args[i]))
            return false;
    return true;
}

/* The parameter's name when the program gave it one that says something. */
const char *lower_stage_name(const CoreVar *of)
{
    return of->named && of->name && strlen(of->name) > 1 ? of->name : "temp";
}

/* Makes the term readable by all blocks, later: what it computes is written to global memory, here. Layout views around what is computed stay
 * views, and what lies in global memory stays where it is. */
static View *stage(Lowering *lw, const Core *e, const CoreVar *of)
{
    if (is_stored(e))
        return lower_read(lw, e);
    if (e->kind == CORE_LET) {
        const Env *env = lw->env;
        lw->hint = e->let.var->name;
        View *value = lower_read(lw, e->let.value);
        lw->hint = NULL;
        lower_bind(lw, e->let.var, value, e->let.body);
        View *v = stage(lw, e->let.body, of);
        lw->env = env;
        return v;
    }
    if (e->kind == CORE_TUPLE)
        return stage_items(lw, VIEW_TUPLE, e, e->tuple.n, e->tuple.items, of);
    if (e->kind == CORE_PROJ)
        return view_proj(lw, stage(lw, e->proj.value, of), e->proj.index);
    if (e->kind == CORE_PRIM) {
        PrimId id = e->prim.id;
        if (is_zip(id))
            return stage_items(lw, VIEW_ZIP, e, e->prim.n_args, e->prim.args, of);
        if (is_applied_view(e))
            return lower_apply_view(lw, e, stage(lw, e->prim.args[e->prim.n_args - 1], of));
        if (id == P_toPrivate || id == P_toShared)
            return stage(lw, e->prim.args[0], of);
        if (id == P_toGlobal) {
            lw->hint = lower_stage_name(of);
            return lower_read(lw, e);
        }
    }
    View *v = lower_buffers(lw, lower_type(lw, e->type), (BufMaker){.space = SPACE_TEMP, .name = lower_stage_name(of), .span = e->span, .holds = of});
    lower_write(lw, e, v);
    return v;
}

/* ---- places ------------------------------------------------------------------------------------------------------------------- */

bool lower_at_grid_level(Lowering *lw, const Core *e)
{
    static const Levels none;
    if (lw->out == &lw->kernel->body && !memcmp(&lw->open, &none, sizeof none))
        return true;
    Diag *d = lower_error(lw, E0422, e->span, "%s stands inside a part that only some blocks or threads execute", prim_name(e->prim.id));
    diag_label(lw->ctx, d, "all blocks of the kernel meet here");
    diag_help(lw->ctx, d, "write it at the level of the grid: `xs |> mapBlock(f) |> %s(g)`", prim_name(e->prim.id));
    return false;
}

/* ---- nextKernel --------------------------------------------------------------------------------------------------------------- */

/* Memory as it lies. */
static bool is_plain(const View *v)
{
    bool plain = v->kind == VIEW_BUF || v->kind == VIEW_TUPLE || v->kind == VIEW_ZIP;
    for (int k = 0; plain && k < v->n; k++)
        plain = is_plain(v->items[k]);
    return plain;
}

/* The same cells as an array of one. */
static View *as_array_of_one(Lowering *lw, const View *v)
{
    View *array = view_copy(lw, v);
    array->kind = v->kind == VIEW_TUPLE ? VIEW_ZIP : v->kind;
    array->type = type_array(lw->ctx, nat_const(lw->ctx, 1), v->type);
    array->items = NEWN(lw->ctx, View *, v->n + 1);
    for (int k = 0; k < v->n; k++)
        array->items[k] = as_array_of_one(lw, v->items[k]);
    return array;
}

/* The arrays of a component of tuples. */
static Type component_arrays(Ctx *ctx, Type type, int component)
{
    return type->kind == TY_ARRAY ? type_array(ctx, type->size, component_arrays(ctx, type->elem, component)) : type->items[component];
}

/* Memory for a component of the array's elements, of which other components are results. */
static View *component_elsewhere(Lowering *lw, const CoreVar *var, int component)
{
    Type type = component_arrays(lw->ctx, lower_type(lw, var->type), component);
    return lower_buffers(lw, type, (BufMaker){.space = SPACE_TEMP, .name = lower_stage_name(var), .span = var->span, .holds = var});
}

/* What there is of the results at this place, if it is memory; else NULL. */
static View *at_place(Lowering *lw, const CoreVar *var, const ResultPlace *place, View *acceptor)
{
    View *v = acceptor;
    if (place->n_parts) {
        v = view_new(lw, VIEW_ZIP, lower_type(lw, var->type), acceptor->span);
        v->n = place->n_parts;
        v->items = NEWN(lw->ctx, View *, v->n);
        for (int i = 0; i < v->n; i++) {
            v->items[i] = place->parts[i].elsewhere ? NULL : at_place(lw, var, &place->parts[i], acceptor);
            if (!v->items[i] && !place->parts[i].elsewhere)
                return NULL;
        }
        for (int i = 0; i < v->n; i++)
            if (!v->items[i])
                v->items[i] = component_elsewhere(lw, var, i);
        return v;
    }
    for (int i = 0; i < place->path.n && is_plain(v); i++)
        v = place->path.at[i] == PLACE_OF_ONE ? as_array_of_one(lw, v) : view_proj(lw, v, place->path.at[i]);
    return is_plain(v) ? v : NULL;
}

View *lower_result_place(Lowering *lw, const Core *rest, const CoreVar *var, View *acceptor)
{
    ResultPlace place = {0};
    return acceptor && result_place(lw->ctx, rest, var, &place) ? at_place(lw, var, &place, acceptor) : NULL;
}

void mark_complete(const View *v, bool complete)
{
    if (v->kind == VIEW_BUF && v->buf->space != SPACE_INPUT)
        v->buf->complete = complete && !v->buf->part;
    for (int k = 0; k < v->n; k++)
        mark_complete(v->items[k], complete);
}

/* Tells the parts of a state by their names in its step: a result is the same on all ways, and has no name. */
static void mark_part(const View *v, const CoreVar *name)
{
    if (v->kind == VIEW_BUF && v->buf->space == SPACE_TEMP)
        v->buf->part = name;
    for (int k = 0; k < v->n; k++)
        mark_part(v->items[k], name);
}

/* Stores what nextKernel goes on with: in the place that it has among the results, or in the workspace. */
static View *stored_for_next(Lowering *lw, const Core *e, View *acceptor)
{
    const Core *f = e->prim.args[0], *given = e->prim.args[1];
    const CoreVar *param = f->lambda.params[0];
    if (term_repeat(given))
        return lower_repeat(lw, given, param);
    View *into = result_is_made(given) ? lower_result_place(lw, f->lambda.body, param, acceptor) : NULL;
    if (!into)
        return stage(lw, given, param);
    mark_part(into, param);
    mark_complete(into, false);
    lower_write(lw, given, into);
    return into;
}

/* Begins the next kernel with f's parameter bound; false when it cannot (diagnosed). */
static bool begin_next(Lowering *lw, const Core *e, View *acceptor)
{
    const Core *f = e->prim.args[0];
    if (!lower_at_grid_level(lw, e))
        return false;
    View *x = stored_for_next(lw, e, acceptor);
    if (x->kind == VIEW_ERROR || lw->failed)
        return false;
    kernel_begin(lw, e, f->lambda.body);
    mark_complete(x, !term_repeat(e->prim.args[1]));
    lower_bind(lw, f->lambda.params[0], x, f->lambda.body);
    return true;
}

bool lower_write_next_kernel(Lowering *lw, const Core *e, View *acceptor)
{
    const Env *env = lw->env;
    if (begin_next(lw, e, acceptor))
        lower_write(lw, e->prim.args[0]->lambda.body, acceptor);
    lw->env = env;
    return true;
}

View *lower_read_next_kernel(Lowering *lw, const Core *e)
{
    const Env *env = lw->env;
    View *v = begin_next(lw, e, NULL) ? lower_read(lw, e->prim.args[0]->lambda.body) : view_error(lw, e->type);
    lw->env = env;
    return v;
}

/* ---- lastBlock and gridSync ------------------------------------------------------------------------------------------------- */

ImpExpr *first_thread(Lowering *lw, Span span)
{
    ImpExpr *first = NULL;
    for (int a = 0; a < 3; a++) {
        if (lw->kernel->threads[a] == 1)
            continue;
        ImpExpr *here = nat_cmp(lw, P_eq, lw->kernel->thread[a], nat_const(lw->ctx, 0), span);
        first = first ? imp_op2(lw->ctx, P_and, SC_BOOL, first, here, span) : here;
    }
    return first;
}

/* What must be zero before the first launch, and is again after each. */
static ImpBuf *counter(Lowering *lw, const char *name, int cells, Span span)
{
    ImpBuf *buf = lower_new_buf(lw, SPACE_TEMP, name, SC_U32, nat_const(lw->ctx, cells), span);
    buf->zero = true;
    return buf;
}

static void write_rest(Lowering *lw, const Core *f, View *x, View *acceptor)
{
    const Env *env = lw->env;
    lower_bind(lw, f->lambda.params[0], x, f->lambda.body);
    lower_write(lw, f->lambda.body, acceptor);
    lw->env = env;
}

static View *staged(Lowering *lw, const Core *e)
{
    if (!lower_at_grid_level(lw, e))
        return NULL;
    View *x = stage(lw, e->prim.args[1], e->prim.args[0]->lambda.params[0]);
    return x->kind == VIEW_ERROR || lw->failed ? NULL : x;
}

bool lower_write_last_block(Lowering *lw, const Core *e, View *acceptor)
{
    View *x = staged(lw, e);
    if (!x)
        return true;
    if (!kernel_has_blocks(lw->kernel)) { /* it is the last one anyway */
        write_rest(lw, e->prim.args[0], x, acceptor);
        return true;
    }
    ImpBuf *flag = lower_new_buf(lw, SPACE_SHARED, "last", SC_BOOL, nat_const(lw->ctx, 1), e->span);
    lower_emit(lw, IS_NOTE, e->span)->note = prim_name(e->prim.id);
    lower_emit(lw, IS_ALLOC, e->span)->alloc = flag;
    ImpBlock *out = lw->out;
    ImpExpr *first = first_thread(lw, e->span);
    if (first) {
        ImpStmt *s = lower_emit(lw, IS_IF, e->span);
        s->branch.cond = first;
        lw->out = &s->branch.then;
    }
    ImpStmt *ticket = lower_emit(lw, IS_TICKET, e->span);
    ticket->ticket.buf = counter(lw, "ticket", 1, e->span);
    ticket->ticket.flag = flag;
    lw->out = out;
    ImpStmt *s = lower_emit(lw, IS_IF, e->span);
    s->branch.cond = imp_load(lw->ctx, flag, nat_const(lw->ctx, 0), e->span);
    s->branch.last = true;
    NatFacts *facts = lw->facts;
    lw->out = &s->branch.then;
    lw->facts = nat_facts_new(lw->ctx, facts);
    lw->alone = true;
    lw->any_block = false;
    write_rest(lw, e->prim.args[0], x, acceptor);
    lw->alone = false;
    lw->any_block = true;
    lw->facts = facts;
    lw->out = out;
    return true;
}

bool lower_write_grid_sync(Lowering *lw, const Core *e, View *acceptor)
{
    View *x = staged(lw, e);
    if (!x)
        return true;
    if (kernel_has_blocks(lw->kernel)) {
        lower_emit(lw, IS_NOTE, e->span)->note = prim_name(e->prim.id);
        ImpBuf *barrier = counter(lw, "barrier", 2, e->span);
        barrier->rounds = true;
        lower_emit(lw, IS_GRID_SYNC, e->span)->ticket.buf = barrier;
        lw->kernel->cooperative = true;
    }
    write_rest(lw, e->prim.args[0], x, acceptor);
    return true;
}
