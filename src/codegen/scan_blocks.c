/* scanBlocks(op, unit, f, g, xs): a scan over the elements of a grid in one pass. scanRowBlocks: over those of each row.
 *
 *   if (this is the last block)   its first warp answers the totals, in the order of the elements
 *   else for (i = block; i < n; i += blocks - 1)
 *       (total, rest) = f xs[i]   rest stays in registers and shared memory
 *       before = exchange total   what op makes of the totals before it
 *       g before rest             written to A[i]
 *
 * Where it can, a block gives the next total before it waits (scan_pipeline.c). Each exchange has words of its own in global memory, zero before and after. All blocks are resident (a cooperative launch), so whoever has the least
 * element that is not done waits for nobody but the last block. The totals are combined in a fixed grouping: results are the same in every run.
 *
 * A total that is a tuple goes in parts, each with mail and a cell of its own. Nothing says when the parts of one total arrive: who reads them waits for each. */
#include "codegen/lowering.h"
#include "codegen/sequences.h"
#include "codegen/walk.h"

typedef struct Scan {
    const Core *pattern;
    View *xs, *acceptor;
    const Env *env;
    int n;                /* parts of a total */
    ImpBuf **mail, **cell;
    Type total;
    int split; /* statements of a step up to where it waits */
} Scan;

enum { ARG_OP, ARG_UNIT, ARG_F, ARG_G, ARG_XS };

static bool refuse(Lowering *lw, Span span, const char *what, const char *help)
{
    Diag *d = lower_error(lw, E0425, span, "%s", what);
    diag_help(lw->ctx, d, "%s", help);
    return false;
}

bool scans_blocks(PrimId id) { return id == P_scanBlocks || id == P_scanRowBlocks; }

Nat scanned_elements(Lowering *lw, const Core *e)
{
    Nat n = lower_nat(lw, e->type->size);
    return e->prim.id == P_scanRowBlocks ? nat_mul(lw->ctx, n, lower_nat(lw, e->type->elem->size)) : n;
}

/* Element i of the array, or of all rows of the matrix. */
static View *element(Lowering *lw, const Core *e, View *array, Nat i)
{
    if (e->prim.id != P_scanRowBlocks)
        return view_at(lw, array, i);
    Nat row = lower_nat(lw, e->type->elem->size);
    return view_at(lw, view_at(lw, array, nat_div(lw->ctx, i, row)), nat_mod(lw->ctx, i, row));
}

static Type part_type(Type total, int k) { return total->kind == TY_TUPLE ? total->items[k] : total; }

static bool scan_fits(Lowering *lw, const Core *e, Type total)
{
    if (!lower_at_grid_level(lw, e))
        return false;
    if (!type_is_total(total))
        return refuse(lw, e->span, ctx_printf(lw->ctx, "the totals of %s are more than a tuple of scalars with %d bytes", prim_name(e->prim.id), LIMIT_TOTAL_BYTES),
                      "give the grid a few scalars of each block; what else the block knows may stay with it, in f's second component");
    for (int a = 1; a < 3; a++)
        if (lw->kernel->grid[a]->kind == NAT_VAR)
            return refuse(lw, e->span, ctx_printf(lw->ctx, "%s in a grid of several axes", prim_name(e->prim.id)), "its blocks stand in a row: leave mapBlock[y] and mapBlock[z] to another kernel, by `nextKernel`");
    return true;
}

/* ---- the block that answers ------------------------------------------------------------------------------------------------------- */

/* The total, or what is made of totals, of which these are the parts. */
static View *of_parts(Lowering *lw, const Scan *scan, ImpExpr *const *parts)
{
    Span span = scan->pattern->span;
    View *tuple = view_new(lw, VIEW_TUPLE, scan->total, span);
    tuple->n = scan->n;
    tuple->items = NEWN(lw->ctx, View *, scan->n);
    for (int k = 0; k < scan->n; k++) {
        tuple->items[k] = view_new(lw, VIEW_SCALAR, part_type(scan->total, k), span);
        tuple->items[k]->expr = parts[k];
    }
    return scan->total->kind == TY_TUPLE ? tuple : tuple->items[0];
}

/* A parameter of op: a register for each part. */
static View *operand(Lowering *lw, const Scan *scan, const char *name, ImpStmt *serve, bool next)
{
    Ctx *ctx = lw->ctx;
    Span span = scan->pattern->span;
    ImpExpr **parts = NEWN(ctx, ImpExpr *, scan->n);
    for (int k = 0; k < scan->n; k++) {
        ImpVar *var = lower_new_var(lw, name, scan->cell[k]->elem, span);
        *(next ? &serve->serve.parts[k].next : &serve->serve.parts[k].sum) = var;
        parts[k] = imp_var(ctx, var, nat_const(ctx, 0), span);
    }
    return of_parts(lw, scan, parts);
}

/* What registers have after some steps, as expressions. */
typedef struct Known {
    Ctx *ctx;
    VEC(const ImpVar *) vars;
    VEC(ImpExpr *) values;
} Known;

static int known_at(const Known *known, const ImpVar *var)
{
    int k = known->vars.n - 1;
    while (k >= 0 && known->vars.at[k] != var)
        k--;
    return k;
}

static void write_in(void *user, ImpExpr **at)
{
    const Known *known = user;
    int k = (*at)->kind == IE_VAR ? known_at(known, (*at)->var.var) : -1;
    if (k >= 0)
        *at = known->values.at[k];
}

/* The expression without the registers of the steps. */
static ImpExpr *written_in(Known *known, const ImpExpr *e)
{
    ImpExpr *all = imp_copy_expr(known->ctx, e);
    walk_expr(&all, write_in, known);
    return imp_copy_expr(known->ctx, all);
}

static void learn(Known *known, const ImpVar *var, ImpExpr *value)
{
    int k = known_at(known, var);
    if (k >= 0) {
        known->values.at[k] = value;
        return;
    }
    vec_push(known->ctx, &known->vars, var);
    vec_push(known->ctx, &known->values, value);
}

static bool learn_steps(Known *known, const ImpBlock *steps);

/* Registers that either side sets. */
static bool learn_choice(Known *known, const ImpStmt *s)
{
    ImpExpr *cond = written_in(known, s->branch.cond);
    Known sides[2] = {{.ctx = known->ctx}, {.ctx = known->ctx}};
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < known->vars.n; i++)
            learn(&sides[k], known->vars.at[i], known->values.at[i]);
        if (!learn_steps(&sides[k], k ? &s->branch.otherwise : &s->branch.then))
            return false;
    }
    for (int i = 0; i < sides[0].vars.n; i++) {
        int other = known_at(&sides[1], sides[0].vars.at[i]);
        ImpExpr *then = sides[0].values.at[i];
        if (other >= 0 && sides[1].values.at[other] != then)
            learn(known, sides[0].vars.at[i], imp_cond(known->ctx, cond, then, sides[1].values.at[other], s->span));
    }
    return true;
}

/* False: a step does more than set registers. */
static bool learn_steps(Known *known, const ImpBlock *steps)
{
    for (int i = 0; i < steps->list.n; i++) {
        const ImpStmt *s = steps->list.at[i];
        bool sets = (s->kind == IS_DECL || s->kind == IS_SET) && s->var.var->slots == 1;
        if (sets && s->var.value)
            learn(known, s->var.var, written_in(known, s->var.value));
        else if (!sets && (s->kind != IS_IF || !learn_choice(known, s)))
            return false;
    }
    return true;
}

/* op over two registers, as one expression for each part; false when it takes more than that (diagnosed). */
static bool combine(Lowering *lw, const Scan *scan, ImpStmt *serve)
{
    Ctx *ctx = lw->ctx;
    const Core *op = scan->pattern->prim.args[ARG_OP];
    ImpBlock *out = lw->out, steps = {{0}};
    View *args[2] = {operand(lw, scan, "a", serve, false), operand(lw, scan, "b", serve, true)};
    lw->out = &steps;
    View *result = lower_apply_read(lw, op, lw->env, 2, args);
    for (int k = 0; k < scan->n && result->kind != VIEW_ERROR; k++)
        serve->serve.parts[k].value = view_scalar(lw, lower_component(lw, result, k, scan->n));
    lw->out = out;
    if (result->kind == VIEW_ERROR || lw->failed)
        return false;
    Known known = {.ctx = ctx};
    bool one = learn_steps(&known, &steps);
    for (int k = 0; k < scan->n && one; k++)
        serve->serve.parts[k].value = written_in(&known, serve->serve.parts[k].value);
    if (!one)
        return refuse(lw, op->span, "this operator computes in several steps, and the totals are combined by one expression", "write the operator as one expression, without loops");
    return true;
}

static void serve_totals(Lowering *lw, const Scan *scan, Nat n)
{
    Ctx *ctx = lw->ctx;
    const Core *e = scan->pattern;
    ImpBlock *out = lw->out;
    ImpStmt *serve = imp_stmt(ctx, NULL, IS_SERVE, e->span);
    serve->serve.n_parts = scan->n;
    serve->serve.parts = NEWN(ctx, ImpServed, scan->n);
    serve->serve.n = n;
    serve->serve.row = e->prim.id == P_scanRowBlocks ? lower_nat(lw, e->prim.nats[1]) : NULL;
    serve->serve.lane = lw->kernel->lane;
    if (lw->kernel->warp->kind == NAT_VAR) {
        ImpStmt *s = lower_emit(lw, IS_IF, e->span);
        s->branch.cond = nat_cmp(lw, P_eq, lw->kernel->warp, nat_const(ctx, 0), e->span);
        lw->out = &s->branch.then;
    }
    View *unit = lower_read(lw, e->prim.args[ARG_UNIT]);
    for (int k = 0; k < scan->n && unit->kind != VIEW_ERROR; k++) {
        serve->serve.parts[k].mail = scan->mail[k];
        serve->serve.parts[k].unit = view_scalar(lw, lower_component(lw, unit, k, scan->n));
    }
    if (unit->kind != VIEW_ERROR && combine(lw, scan, serve))
        vec_push(ctx, &lw->out->list, serve);
    lw->out = out;
}

/* ---- the others ---------------------------------------------------------------------------------------------------------------------- */

/* A statement for the first thread of the block. */
static ImpStmt *exchange(Lowering *lw, const Scan *scan, int k, ImpStmtKind kind, Nat i)
{
    ImpStmt *s = imp_stmt(lw->ctx, lw->out, kind, scan->pattern->span);
    s->exchange.mail = scan->mail[k];
    s->exchange.index = i;
    return s;
}

static void give_total(Lowering *lw, Scan *scan, Nat i, View *total)
{
    Span span = scan->pattern->span;
    ImpBlock *out = lw->out;
    ImpStmt *s = lower_emit(lw, IS_IF, span); /* threads are a whole number of warps */
    s->branch.cond = first_thread(lw, span);
    lw->out = &s->branch.then;
    View *args[2] = {lower_read(lw, scan->pattern->prim.args[ARG_UNIT]), total};
    total = lower_apply_read(lw, scan->pattern->prim.args[ARG_OP], scan->env, 2, args); /* what begins with the unit keeps the laws */
    ImpExpr **values = NEWN(lw->ctx, ImpExpr *, scan->n);
    for (int k = 0; k < scan->n && total->kind != VIEW_ERROR; k++)
        values[k] = view_scalar(lw, lower_component(lw, total, k, scan->n));
    for (int k = 0; k < scan->n && total->kind != VIEW_ERROR; k++)
        exchange(lw, scan, k, IS_GIVE, i)->exchange.value = values[k];
    lw->out = out;
    scan->split = out->list.n;
    s = lower_emit(lw, IS_IF, span);
    s->branch.cond = first_thread(lw, span);
    lw->out = &s->branch.then;
    for (int k = 0; k < scan->n; k++)
        exchange(lw, scan, k, IS_AWAIT, i)->exchange.cell = scan->cell[k];
    lw->out = out;
}

/* What is before the element, in shared memory. */
static View *prefix(Lowering *lw, const Scan *scan)
{
    ImpExpr **parts = NEWN(lw->ctx, ImpExpr *, scan->n);
    for (int k = 0; k < scan->n; k++)
        parts[k] = imp_load(lw->ctx, scan->cell[k], nat_const(lw->ctx, 0), scan->pattern->span);
    return of_parts(lw, scan, parts);
}

static void scan_step(Lowering *lw, Nat i, void *user)
{
    Scan *scan = user;
    const Core *e = scan->pattern, *g = e->prim.args[ARG_G];
    View *x = element(lw, e, scan->xs, i);
    View *taken = lower_apply_read(lw, e->prim.args[ARG_F], scan->env, 1, &x);
    if (taken->kind == VIEW_ERROR)
        return;
    give_total(lw, scan, i, view_proj(lw, taken, 0));
    const Env *saved = lw->env;
    lw->env = scan->env;
    lower_bind(lw, g->lambda.params[0], prefix(lw, scan), g->lambda.body);
    lower_bind(lw, g->lambda.params[1], view_proj(lw, taken, 1), g->lambda.body);
    lower_write(lw, g->lambda.body, element(lw, e, scan->acceptor, i));
    lw->env = saved;
}

/* The mail and the cell of each part of a total. */
static void make_memory(Lowering *lw, Scan *scan, Nat n)
{
    Ctx *ctx = lw->ctx;
    Span span = scan->pattern->span;
    scan->mail = NEWN(ctx, ImpBuf *, scan->n);
    scan->cell = NEWN(ctx, ImpBuf *, scan->n);
    for (int k = 0; k < scan->n; k++) {
        Scalar elem = type_scalar_of(ctx, part_type(scan->total, k));
        scan->mail[k] = lower_new_buf(lw, SPACE_TEMP, "mail", SC_U64, nat_mul_k(ctx, n, imp_mail_words(elem)), span);
        scan->mail[k]->zero = true;
        scan->cell[k] = lower_new_buf(lw, SPACE_SHARED, "prefix", elem, nat_const(ctx, 1), span);
    }
}

bool lower_write_scan_blocks(Lowering *lw, const Core *e, View *acceptor)
{
    Ctx *ctx = lw->ctx;
    Scan scan = {.pattern = e, .acceptor = acceptor, .total = lower_type(lw, e->prim.args[ARG_UNIT]->type)};
    if (acceptor->kind == VIEW_ERROR || !scan_fits(lw, e, scan.total))
        return true;
    scan.n = lower_scalar_count(scan.total);
    scan.xs = lower_read(lw, e->prim.args[ARG_XS]);
    scan.env = lw->env;
    if (scan.xs->kind == VIEW_ERROR)
        return true;
    Nat n = scanned_elements(lw, e);
    if (nat_is(n, 0))
        return true;
    make_memory(lw, &scan, n);
    lw->kernel->cooperative = true;
    lw->kernel->totals = lw->kernel->totals ? nat_max(ctx, lw->kernel->totals, n) : n;
    lower_emit(lw, IS_NOTE, e->span)->note = prim_name(e->prim.id);
    for (int k = 0; k < scan.n; k++)
        lower_emit(lw, IS_ALLOC, e->span)->alloc = scan.cell[k];
    ImpStmt *s = lower_emit(lw, IS_IF, e->span);
    s->branch.cond = nat_cmp(lw, P_eq, lw->kernel->block[0], nat_add_k(ctx, lw->kernel->grid[0], -1), e->span);
    ImpBlock *out = lw->out;
    lw->out = &s->branch.then;
    serve_totals(lw, &scan, n);
    lw->out = &s->branch.otherwise;
    if (!lw->failed) {
        blocks_but_last_each(lw, e, n, scan_step, &scan);
        if (!lw->failed)
            scan_pipeline(lw, lw->out, scan.split);
    }
    lw->out = out;
    return true;
}
