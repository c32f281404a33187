/* Folds and scans: the sequential patterns that carry a state from element to element.
 *
 *   reduceSeq f z xs read           =  state = z; for i { state = f state xs[i] }; state
 *   scanSeq f z xs written to A     =  state = z; for i { state = f state xs[i]; A[i] = state }
 *   scanSeqExcl f z xs written to A =  state = z; for i { A[i] = state; state = f state xs[i] }
 *
 * A state of scalars is registers that are set together; one with arrays in it, see Note [State]. */
#include "codegen/sequences.h"

typedef struct Half {
    const ImpBuf *buf;
    Nat cells; /* of one half */
    Nat at;    /* which half the state is in, as far as steps are written out */
} Half;

typedef struct Fold {
    const Core *pattern, *lambda;
    const Env *env;
    View *state, *xs;
    Windows windows;
    View *out;       /* scans: the acceptor */
    int n;           /* scalars of the state; -1: it has arrays in it */
    Registers *registers; /* of scalars */
    bool written_out;
    VEC(Half) halves; /* of buffers that hold two states */
} Fold;

/* ---- states of scalars ---------------------------------------------------------------------------------------------------- */

int lower_scalar_count(Type t)
{
    if (t->kind != TY_TUPLE)
        return type_is_scalar_like(t) ? 1 : -1;
    for (int k = 0; k < t->n_items; k++)
        if (!type_is_scalar_like(t->items[k]))
            return -1;
    return t->n_items;
}

View *lower_component(Lowering *lw, View *v, int k, int n) { return n == 1 && v->type->kind != TY_TUPLE ? v : view_proj(lw, v, k); }

void lower_emit_set(Lowering *lw, ImpVar *var, ImpExpr *value, Span span)
{
    ImpStmt *s = lower_emit(lw, IS_SET, span);
    s->var.var = var;
    s->var.slot = nat_const(lw->ctx, 0);
    s->var.value = value;
}

static void scalar_step(Lowering *lw, Fold *fold, View *x)
{
    Ctx *ctx = lw->ctx;
    View *args[2] = {fold->state, x};
    View *next = lower_apply_read(lw, fold->lambda, fold->env, 2, args);
    if (next->kind == VIEW_ERROR)
        return;
    Value values[LIMIT_TUPLE_ITEMS];
    for (int k = 0; k < fold->n; k++) {
        View *component = lower_component(lw, next, k, fold->n);
        values[k] = value_of(lw, component, "v");
        if (fold->n > 1) { /* all of the old state is read before any of it changes */
            Registers regs = registers_new(lw, ctx_printf(ctx, "next_%d", k + 1), component->type, fold->lambda->span);
            for (int r = 0; r < regs.n / regs.width; r++)
                regs.vars[r]->constant = true;
            registers_set(lw, regs, values[k], true, fold->lambda->span);
            values[k] = registers_value(lw, regs, fold->lambda->span);
        }
    }
    for (int k = 0; k < fold->n; k++)
        registers_set(lw, fold->registers[k], values[k], false, fold->lambda->span);
}

static View *scalar_start(Lowering *lw, Fold *fold)
{
    Ctx *ctx = lw->ctx;
    const Core *e = fold->pattern;
    Type type = fold->lambda->type;
    View *init = lower_read(lw, e->prim.args[1]);
    if (init->kind == VIEW_ERROR)
        return init;
    lw->hint = NULL;
    View *items[LIMIT_TUPLE_ITEMS];
    fold->registers = NEWN(ctx, Registers, fold->n);
    for (int k = 0; k < fold->n; k++) {
        Type t = type->kind == TY_TUPLE ? type->items[k] : type;
        fold->registers[k] = registers_new(lw, state_name(lw, fold->lambda, k, fold->n), t, e->span);
        registers_set(lw, fold->registers[k], value_of(lw, lower_component(lw, init, k, fold->n), "v"), true, e->span);
        items[k] = value_view(lw, t, registers_value(lw, fold->registers[k], e->span), e->span);
    }
    if (type->kind != TY_TUPLE)
        return items[0];
    View *state = view_new(lw, VIEW_TUPLE, type, e->span);
    state->n = fold->n;
    state->items = NEWN(ctx, View *, fold->n);
    memcpy(state->items, items, sizeof *items * (size_t)fold->n);
    return state;
}

/* ---- states with arrays ------------------------------------------------------------------------------------------------------ */

static Half *half_of(Lowering *lw, Fold *fold, ImpBuf *buf)
{
    for (int k = 0; k < fold->halves.n; k++)
        if (fold->halves.at[k].buf == buf)
            return &fold->halves.at[k];
    vec_push(lw->ctx, &fold->halves, ((Half){buf, buf->count, nat_const(lw->ctx, 0)}));
    return &fold->halves.at[fold->halves.n - 1];
}

/* Lets the step of one component end where the next one begins. */
static void settle(Lowering *lw, Fold *fold, ImpBlock *body, const StateLeaf *leaf, Nat step)
{
    Ctx *ctx = lw->ctx;
    Nat zero = nat_const(ctx, 0), one = nat_const(ctx, 1), two = nat_const(ctx, 2);
    bool in_place = state_in_place(lw, body, leaf);
    for (int k = 0; k < lw->kernel->bufs.n && leaf->now.buf && !in_place; k++)
        if (lw->kernel->bufs.at[k]->replaces == leaf->now.buf) {
            Diag *d = lower_error(lw, E0441, fold->lambda->lambda.body->span, "this step writes over the accumulator in place, and reads elements of it that others write");
            propose_without(ctx, d, lw->kernel->bufs.at[k]->span, P_toShared, "inPlace", "leave [inPlace] out: `toShared`");
            return;
        }
    if (leaf->now.var) {
        if (in_place)
            state_share(lw, body, leaf, zero, zero);
        else if (fold->written_out)
            fold->state = state_replace(lw, fold->state, leaf);
        else
            copy_registers(lw, leaf->next.view, leaf->now.view, fold->lambda->span);
        return;
    }
    Half *half = half_of(lw, fold, leaf->now.buf);
    Nat now = half->at, next = half->at;
    if (!in_place && nat_is_const(step))
        half->at = next = nat_sub(ctx, one, now);
    else if (!in_place) {
        now = nat_mod(ctx, step, two);
        next = nat_mod(ctx, nat_add(ctx, step, one), two);
        half->at = NULL; /* the parity of the number of steps */
    }
    if (!in_place)
        half->cells = state_align_half(lw, body, leaf, half->cells);
    if (!in_place)
        leaf->now.buf->count = nat_mul(ctx, half->cells, two);
    state_share(lw, body, leaf, nat_mul(ctx, now, half->cells), nat_mul(ctx, next, half->cells));
}

static void check_placements(Lowering *lw, const Fold *fold, const StateLeaf *leaf)
{
    const View *a = leaf->now.view, *b = leaf->next.view;
    for (int k = 0; a->kind == VIEW_REG && k < a->n_dims; k++)
        if (a->dims[k].place.stride != b->dims[k].place.stride || !nat_equal(lw->ctx, lw->facts, a->dims[k].place.shift, b->dims[k].place.shift)) {
            Diag *d = lower_error(lw, E0442, fold->lambda->lambda.body->span, "this gives the accumulator's elements to other threads than hold them");
            diag_label(lw->ctx, d, "what drop leaves stays with its owners, and [place = ...] chooses others");
            diag_help(lw->ctx, d, "keep the accumulator in shared memory: `toShared` for the start and for each step");
            return;
        }
}

static void array_step(Lowering *lw, Fold *fold, View *x, Nat i)
{
    ImpBlock *out = lw->out, body = {{0}};
    StateLeaves leaves = {{0}};
    const Env *saved = lw->env;
    NatFacts *facts = lw->facts;
    lw->out = &body;
    lw->step = &body;
    lw->facts = nat_facts_new(lw->ctx, facts);
    View *next = state_like(lw, fold->state, &leaves);
    lw->env = fold->env;
    lower_bind(lw, fold->lambda->lambda.params[0], fold->state, fold->lambda->lambda.body);
    lower_bind(lw, fold->lambda->lambda.params[1], x, fold->lambda->lambda.body);
    lower_write(lw, fold->lambda->lambda.body, next);
    lw->env = saved;
    for (int k = 0; k < leaves.list.n && !lw->failed; k++) {
        check_placements(lw, fold, &leaves.list.at[k]);
        settle(lw, fold, &body, &leaves.list.at[k], i);
    }
    lw->out = out;
    lw->step = out;
    lw->facts = facts;
    for (int k = 0; k < body.list.n; k++)
        vec_push(lw->ctx, &out->list, body.list.at[k]);
}

/* The state after all steps. */
static View *array_end(Lowering *lw, Fold *fold, Nat n)
{
    View *state = fold->state;
    for (int k = 0; k < fold->halves.n; k++) {
        const Half *half = &fold->halves.at[k];
        Nat at = half->at ? half->at : nat_mod(lw->ctx, n, nat_const(lw->ctx, 2));
        if (!nat_is(at, 0))
            state = state_shift(lw, state, half->buf, nat_mul(lw->ctx, at, half->cells));
    }
    return state;
}

/* ---- folds ---------------------------------------------------------------------------------------------------------------------- */

enum { FEW = 4 }; /* elements of a scan whose steps are written out, so that a unit before the first one is none */

static bool is_scan_of_few(const Core *e) { return e->prim.id == P_scanSeq || e->prim.id == P_scanSeqExcl; }

static bool fold_begin(Lowering *lw, Fold *fold, View *into)
{
    const Core *e = fold->pattern;
    fold->lambda = e->prim.args[0];
    fold->env = lw->env;
    fold->n = lower_scalar_count(fold->lambda->type);
    bool ok;
    Nat size = lower_nat(lw, e->prim.args[2]->type->size);
    fold->written_out = lower_unrolled(lw, e, size, &ok);
    fold->xs = lower_read(lw, e->prim.args[2]);
    if (!ok || fold->xs->kind == VIEW_ERROR)
        return false;
    fold->written_out |= vector_wants_unroll(fold->xs, size) || (is_scan_of_few(e) && nat_is_const(size) && size->value <= FEW);
    fold->state = fold->n < 0 ? state_start(lw, e, into) : scalar_start(lw, fold);
    if (fold->state->kind == VIEW_ERROR || !windows_begin(lw, fold->xs, &fold->windows))
        return false;
    return (fold->n >= 0 || state_check_owners(lw, fold->lambda->lambda.body, fold->state));
}

static void step(Lowering *lw, Fold *fold, Nat i)
{
    View *x = windows_at(lw, &fold->windows, i);
    if (fold->n < 0)
        array_step(lw, fold, x, i);
    else
        scalar_step(lw, fold, x);
    windows_next(lw, &fold->windows, i);
}

static void fold_step(Lowering *lw, Nat i, void *user) { step(lw, user, i); }

/* The final state, in `into` when that is given. */
static View *run_fold(Lowering *lw, const Core *e, View *into)
{
    Fold fold = {.pattern = e};
    Nat n = lower_nat(lw, e->prim.args[2]->type->size);
    if (!fold_begin(lw, &fold, into))
        return view_error(lw, e->type);
    seq_each(lw, e, n, fold.written_out, fold_step, &fold);
    View *state = fold.n < 0 ? array_end(lw, &fold, n) : fold.state;
    if (into && state != into && !lw->failed)
        copy_registers(lw, state, into, e->span);
    return lw->failed ? view_error(lw, e->type) : state;
}

View *lower_read_reduce(Lowering *lw, const Core *e) { return run_fold(lw, e, NULL); }

/* An accumulator with arrays: in the registers where the result belongs, or copied there by those that hold it. */
bool lower_write_reduce(Lowering *lw, const Core *e, View *acceptor)
{
    if (lower_scalar_count(e->type) >= 0)
        return false;
    bool direct = core_stored_by(lw, e) == P_toPrivate && view_is_place(acceptor) && view_all_private(acceptor);
    View *v = run_fold(lw, e, direct ? acceptor : NULL);
    if (direct || v->kind == VIEW_ERROR || copy_private(lw, v, acceptor, e->span))
        return true;
    Diag *d = lower_error(lw, E0410, e->span, "nothing copies what this %s accumulates to where it belongs", prim_name(e->prim.id));
    diag_label(lw->ctx, d, "the accumulator lies in memory that all threads see: nothing says which of them copies it");
    diag_help(lw->ctx, d, "copy it at the level that stands here: `|> mapThreads(id)`");
    return true;
}

/* ---- scans ------------------------------------------------------------------------------------------------------------------------ */

static void put_state(Lowering *lw, const Fold *fold, View *to)
{
    for (int k = 0; k < fold->n; k++)
        value_store(lw, lower_component(lw, to, k, fold->n), value_of(lw, lower_component(lw, fold->state, k, fold->n), "v"), fold->pattern->span);
    if (fold->n >= 0 || copy_private(lw, fold->state, to, fold->pattern->span))
        return;
    Diag *d = lower_error(lw, E0410, fold->pattern->span, "nothing copies the states of this %s to where they belong", prim_name(fold->pattern->prim.id));
    diag_label(lw->ctx, d, "they lie in memory that all threads see: nothing says which of them copies");
    diag_help(lw->ctx, d, "keep the state in registers: `toPrivate` for its start and for each step");
}

static void scan_step(Lowering *lw, Nat i, void *user)
{
    Fold *fold = user;
    bool exclusive = fold->pattern->prim.id == P_scanSeqExcl;
    View *to = view_at(lw, fold->out, i);
    if (exclusive)
        put_state(lw, fold, to);
    if (exclusive && nat_is(nat_sub(lw->ctx, lower_nat(lw, fold->pattern->type->size), i), 1))
        return; /* nobody reads the state after the last element */
    step(lw, fold, i);
    if (!exclusive && !lw->failed)
        put_state(lw, fold, to);
}

bool lower_write_scan(Lowering *lw, const Core *e, View *acceptor)
{
    Fold fold = {.pattern = e, .out = acceptor};
    if (acceptor->kind == VIEW_ERROR)
        return true;
    lower_emit(lw, IS_NOTE, e->span)->note = prim_name(e->prim.id);
    if (!fold_begin(lw, &fold, NULL))
        return true;
    seq_each(lw, e, lower_nat(lw, e->type->size), fold.written_out, scan_step, &fold);
    return true;
}

/* ---- iterate -------------------------------------------------------------------------------------------------------------------------- */

/* The sizes change from step to step, and with them the text: the steps are written out. */
static bool iterate_steps(Lowering *lw, const Core *e, int64_t *steps)
{
    Nat k = lower_nat(lw, e->prim.nats[2]);
    *steps = nat_is_const(k) ? k->value : 0;
    if (nat_is_const(k) && k->value <= LIMIT_UNROLL_TRIPS)
        return true;
    Diag *d = lower_error(lw, E0414, e->span, "iterate with %s steps: only a constant number up to %d is written out", nat_text(lw->ctx, k), LIMIT_UNROLL_TRIPS);
    diag_help(lw->ctx, d, "make it a tunable, as in `(steps: nat = 8)`, or use `reduceSeq`, whose state keeps its size");
    return false;
}

/* Binds the parameters for the step that leaves m * n^left elements. */
static void iterate_bind(Lowering *lw, const Core *e, int64_t left, View *xs)
{
    const Core *f = e->prim.args[0];
    Nat l = lower_nat(lw, e->prim.nats[0]), n = lower_nat(lw, e->prim.nats[1]);
    for (int64_t i = 0; i < left; i++)
        l = nat_mul(lw->ctx, l, n);
    lower_bind_nat(lw, f->lambda.nats[0], l);
    lower_bind(lw, f->lambda.params[0], xs, f->lambda.body);
}

/* What the last but `left` steps give. */
static View *iterate_read(Lowering *lw, const Core *e, int64_t steps, int64_t left)
{
    const Env *saved = lw->env;
    View *xs = lower_read(lw, e->prim.args[1]);
    for (int64_t i = steps; i-- > left && xs->kind != VIEW_ERROR;) {
        iterate_bind(lw, e, i, xs);
        xs = lower_read(lw, e->prim.args[0]->lambda.body);
        lw->env = saved;
    }
    return xs;
}

View *lower_read_iterate(Lowering *lw, const Core *e)
{
    int64_t steps;
    return iterate_steps(lw, e, &steps) ? iterate_read(lw, e, steps, 0) : view_error(lw, e->type);
}

/* The last step writes the result. */
bool lower_write_iterate(Lowering *lw, const Core *e, View *acceptor)
{
    int64_t steps;
    const Env *saved = lw->env;
    if (!iterate_steps(lw, e, &steps))
        return true;
    if (steps == 0) {
        lower_write(lw, e->prim.args[1], acceptor);
        return true;
    }
    View *xs = iterate_read(lw, e, steps, 1);
    if (xs->kind == VIEW_ERROR)
        return true;
    iterate_bind(lw, e, 0, xs);
    lower_write(lw, e->prim.args[0]->lambda.body, acceptor);
    lw->env = saved;
    return true;
}
