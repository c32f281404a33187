/* repeatKernels(k, f, x), which nextKernel goes on with: x is stored; the kernels of f are launched k
 * times; then the next kernel reads the state after the last turn.
 *
 * Each buffer of the state is two, of which a step reads the one and writes the other. They change
 * places with each turn: the host gives kernels their addresses (ImpBuf.swap), so that a kernel is one
 * text for all turns and its buffers are apart. */
#include "codegen/ways.h"
#include "ir/terms.h"

/* The buffer as kernels know it that begin when it has changed places so many times. */
static ImpBuf *swapped_buf(Lowering *lw, const ImpBuf *buf, ImpBuf *with, Nat turns)
{
    ImpBuf *swapped = NEW(lw->ctx, ImpBuf);
    *swapped = *buf;
    swapped->id = lw->globals.n;
    swapped->swap = with;
    swapped->turns = turns;
    vec_push(lw->ctx, &lw->globals, swapped);
    return swapped;
}

/* The view of a state, of which `with` is the view of what it changes places with. */
static View *swapped(Lowering *lw, const View *state, const View *with, Nat turns)
{
    View *v = NEW(lw->ctx, View);
    *v = *state;
    if (v->kind == VIEW_BUF)
        v->buf = swapped_buf(lw, state->buf, with->buf, turns);
    v->items = NEWN(lw->ctx, View *, v->n + 1);
    for (int i = 0; i < v->n; i++)
        v->items[i] = swapped(lw, state->items[i], with->items[i], turns);
    return v;
}

static View *turn_view(Lowering *lw, const ImpGroup *group, Span span)
{
    Type type = type_idx(lw->ctx, group->count);
    View *v = view_new(lw, VIEW_SCALAR, type, span);
    v->expr = imp_nat(lw->ctx, group->turn, type_scalar_of(lw->ctx, type), span);
    return v;
}

typedef struct State {
    View *now, *next;
    const ImpGroup *group;
} State;

/* Launches of a step, and what they begin with. */
static void write_turns(Lowering *lw, const Core *e, const State *state)
{
    const ImpGroup *group = state->group;
    const Core *f = e->prim.args[0];
    const Env *env = lw->env;
    lower_write(lw, e->prim.args[1], state->now);
    lw->group = group;
    kernel_begin(lw, e, f->lambda.body);
    lower_bind(lw, f->lambda.params[0], swapped(lw, state->now, state->next, group->turn), f->lambda.body);
    lower_bind(lw, f->lambda.params[1], turn_view(lw, group, e->span), f->lambda.body);
    lower_write(lw, f->lambda.body, swapped(lw, state->next, state->now, group->turn));
    lw->group = NULL;
    lw->env = env;
}

/* Where sizes choose: what is no group goes to where the group would leave it. */
static void write_state(Lowering *lw, const Core *value, const State *state)
{
    const Core *decided = lower_decided(lw, value);
    if (decided) {
        branch_enter(lw, value);
        write_state(lw, decided, state);
        branch_leave(lw, value);
    } else if (value->kind == CORE_PRIM && value->prim.id == P_repeatKernels) {
        write_turns(lw, value, state);
    } else {
        lower_write(lw, value, swapped(lw, state->now, state->next, state->group->count));
    }
}

View *lower_repeat(Lowering *lw, const Core *value, const CoreVar *of)
{
    const char *name = lower_stage_name(of);
    const Core *e = term_repeat(value);
    Type type = lower_type(lw, e->type);
    if (lw->group) {
        Diag *d = lower_error(lw, E0422, e->span, "repeatKernels stands in a step of another one");
        diag_help(lw->ctx, d, "let the step compute it in one kernel, or write the two as one repetition");
        return view_error(lw, type);
    }
    const char *next_name = ctx_printf(lw->ctx, "%s_next", name);
    State state = {.group = way_group(lw, e, lower_nat(lw, e->prim.nats[0]))};
    state.now = lower_buffers(lw, type, (BufMaker){.space = SPACE_TEMP, .name = name, .span = e->span, .holds = of});
    state.next = lower_buffers(lw, type, (BufMaker){.space = SPACE_TEMP, .name = next_name, .span = e->span, .holds = of});
    write_state(lw, value, &state);
    return swapped(lw, state.now, state.next, state.group->count);
}

View *lower_read_repeat(Lowering *lw, const Core *e)
{
    Diag *d = lower_error(lw, E0422, e->span, "nothing goes on with the state of this repeatKernels");
    diag_label(lw->ctx, d, "its kernels are launched before the one that reads it");
    diag_help(lw->ctx, d, "write it at the level of the grid: `x |> repeatKernels(k, f) |> nextKernel(g)`");
    return view_error(lw, lower_type(lw, e->type));
}
