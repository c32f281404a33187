/* Expressions of imp as instructions. */
#include "codegen/walk.h"
#include "sim/compile.h"

int var_register(Compiler *c, const ImpVar *var)
{
    if (c->var_reg[var->id] < 0) {
        c->var_reg[var->id] = c->vectors.n;
        c->vectors.n += var->slots;
    }
    return c->var_reg[var->id];
}

static int compile_var(Compiler *c, const ImpExpr *e)
{
    const ImpVar *var = e->var.var;
    int reg = var_register(c, var);
    if (!e->var.slot || nat_is_const(e->var.slot)) {
        int64_t slot = e->var.slot ? e->var.slot->value : 0;
        if (slot < 0 || slot >= var->slots) {
            compile_bug(c, ctx_printf(c->run->ctx, "reads slot %lld of `%s`, which has %d", (long long)slot, var->name, var->slots));
            return reg;
        }
        check_set(c, reg + (int)slot, var->id);
        return reg + (int)slot;
    }
    Mark m = register_mark(c);
    int slot = compile_nat(c, e->var.slot, e->span);
    register_release(c, m);
    int dst = register_temp(c);
    Ins *i = compile_emit(c, X_GET_SLOT);
    i->dst = dst;
    i->a = slot;
    i->b = reg;
    i->c = var->id;
    i->k = var->slots;
    i->site = compile_site(c, e->span, NULL, false, "");
    return dst;
}

static int compile_nat_value(Compiler *c, const ImpExpr *e)
{
    if (nat_is_const(e->nat))
        return register_preset(c, true, scalar_cast(e->type, (ScalarValue){.type = SC_I64, .i = e->nat->value}).u);
    Mark m = register_mark(c);
    index_count(c->costs, e->nat, false, c->place);
    int a = compile_nat(c, e->nat, e->span);
    if (e->type == SC_I64 && a >= 0)
        return a;
    register_release(c, m);
    int dst = register_temp(c);
    Ins *i = compile_emit(c, X_NAT);
    i->dst = dst;
    i->a = a;
    i->type = (uint8_t)e->type;
    i->site = compile_site(c, e->span, NULL, false, "an index");
    return dst;
}

/* How far a shuffle goes, or from which lane: an index where one value serves all lanes. */
static int compile_shuffle_lane(Compiler *c, const ImpExpr *by) { return by->kind == IE_NAT ? compile_nat(c, by->nat, by->span) : compile_expr(c, by); }

static int compile_cond(Compiler *c, const ImpExpr *e)
{
    int dst = register_temp(c), m = compile_masks(c, 2);
    Mark inner = register_mark(c);
    int cond = compile_expr(c, e->cond.cond);
    Ins *i = compile_emit(c, X_IF);
    i->prim = 1;
    i->a = cond;
    i->m = m;
    int branch = compile_here(c) - 1;
    register_release(c, inner);
    for (int side = 0; side < 2; side++) {
        int value = compile_expr(c, side ? e->cond.otherwise : e->cond.then);
        i = compile_emit(c, X_MOVE);
        i->dst = dst;
        i->a = value;
        register_release(c, inner);
        if (side == 0) {
            c->code->ins.at[branch].k = compile_here(c);
            compile_emit(c, X_ELSE)->m = m;
            branch = compile_here(c) - 1;
        }
    }
    c->code->ins.at[branch].k = compile_here(c);
    compile_emit(c, X_ENDIF)->m = m;
    c->masks -= 2;
    return dst;
}

typedef struct Contents {
    bool loads, shuffles;
} Contents;

static void note_contents(void *user, ImpExpr **at)
{
    Contents *contents = user;
    contents->loads |= (*at)->kind == IE_LOAD || ((*at)->kind == IE_NAT && nat_is_partial((*at)->nat));
    contents->shuffles |= (*at)->kind == IE_SHFL;
}

/* As && and || of C: what the right side loads, or divides by, may be there only where the left side says so. With a shuffle both sides are computed. */
static bool is_lazy(const ImpExpr *e)
{
    Contents right = {false, false};
    if (e->op.id != P_and && e->op.id != P_or)
        return false;
    walk_expr(&e->op.args[1], note_contents, &right);
    return right.loads && !right.shuffles;
}

/* A comparison of indices, or what is made of such. */
static bool asks_indices(const ImpExpr *e)
{
    bool logic = e->kind == IE_OP && (e->op.id == P_and || e->op.id == P_or || e->op.id == P_not);
    bool compares = e->kind == IE_OP && e->op.id >= P_eq && e->op.id <= P_ge;
    for (int j = 0; (logic || compares) && j < e->op.n; j++)
        if (logic ? !asks_indices(e->op.args[j]) : e->op.args[j]->kind != IE_NAT)
            return false;
    return logic || compares;
}

static int compile_op(Compiler *c, const ImpExpr *e)
{
    if (is_lazy(e)) {
        bool is_and = e->op.id == P_and;
        ImpExpr known = {.kind = IE_LIT, .type = SC_BOOL, .span = e->span, .lit = scalar_int(SC_BOOL, !is_and)};
        ImpExpr lazy = {.kind = IE_COND, .type = SC_BOOL, .span = e->span};
        lazy.cond.cond = e->op.args[0];
        lazy.cond.then = is_and ? e->op.args[1] : &known;
        lazy.cond.otherwise = is_and ? &known : e->op.args[1];
        return compile_cond(c, &lazy);
    }
    if (e->op.n < 1 || e->op.n > 3) {
        compile_bug(c, "applies a function to more than three values");
        return register_preset(c, true, 0);
    }
    Mark m = register_mark(c);
    int args[3] = {-1, -1, -1};
    for (int j = 0; j < e->op.n; j++)
        args[j] = compile_expr(c, e->op.args[j]);
    register_release(c, m);
    int dst = register_temp(c);
    Ins *i = compile_emit(c, e->op.id == P_cast ? X_CAST : X_APPLY);
    i->dst = dst;
    i->a = args[0];
    i->b = args[1];
    i->c = args[2];
    i->prim = (uint8_t)e->op.id;
    i->m = asks_indices(e);
    if (e->op.id == P_cast) {
        i->k = e->op.args[0]->type;
        i->type = (uint8_t)e->type;
    } else
        i->type = (uint8_t)e->op.args[e->op.id == P_select ? 1 : 0]->type;
    return dst;
}

static int compile_load(Compiler *c, const ImpExpr *e)
{
    if (e->mem.buf->by_value) /* as a literal: it is no access to memory */
        return register_preset(c, true, scalar_load(e->mem.buf->elem, c->run->mems[e->mem.buf->id].bytes).u);
    Mark m = register_mark(c);
    index_count(c->costs, e->mem.index, true, c->place);
    int index = compile_nat(c, e->mem.index, e->span);
    register_release(c, m);
    int dst = register_temp(c);
    Ins *i = compile_emit(c, X_LOAD);
    i->dst = dst;
    i->a = index;
    i->b = e->mem.buf->id;
    i->site = compile_site(c, e->span, e->mem.buf, false, "");
    return dst;
}

bool declares_input(const Compiler *c, Span span)
{
    const CoreEntry *entry = c->run->program->entry;
    for (int i = 0; i < entry->n_inputs; i++)
        if (entry->inputs[i]->span.file == span.file && entry->inputs[i]->span.lo == span.lo)
            return true;
    return false;
}

/* A load belongs to who reads, not to where the array was made; nor does anything belong to the declaration of an input. */
static Span place_of_expr(const Compiler *c, const ImpExpr *e)
{
    return e->kind == IE_LOAD || declares_input(c, e->span) ? c->statement : e->span;
}

int compile_expr(Compiler *c, const ImpExpr *e)
{
    for (int i = 0; i < c->ready.n; i++)
        if (c->ready.at[i].expr == e)
            return c->ready.at[i].operand;
    Span outer = c->span, around = c->place;
    int dst = 0;
    c->span = e->span;
    c->place = place_of_expr(c, e);
    switch (e->kind) {
    case IE_LIT: dst = register_preset(c, true, e->lit.u); break;
    case IE_NAT: dst = compile_nat_value(c, e); break;
    case IE_VAR: dst = compile_var(c, e); break;
    case IE_LOAD: dst = compile_load(c, e); break;
    case IE_OP: dst = compile_op(c, e); break;
    case IE_COND: dst = compile_cond(c, e); break;
    case IE_CAST: {
        Mark m = register_mark(c);
        int a = compile_expr(c, e->cast.value);
        register_release(c, m);
        dst = register_temp(c);
        Ins *i = compile_emit(c, X_CAST);
        i->dst = dst;
        i->a = a;
        i->k = e->cast.value->type;
        i->type = (uint8_t)e->type;
        break;
    }
    case IE_SHFL: {
        bool reduces = e->shfl.id == P_reduceWarp;
        if (e->shfl.id != P_shflDown && e->shfl.id != P_shflUp && e->shfl.id != P_shflXor && e->shfl.id != P_shfl && !reduces)
            compile_bug(c, "has a shuffle of no known kind");
        Mark m = register_mark(c);
        int a = compile_expr(c, e->shfl.value), by = reduces ? (int)e->shfl.op : compile_shuffle_lane(c, e->shfl.by);
        register_release(c, m);
        dst = register_temp(c);
        Ins *i = compile_emit(c, X_SHFL);
        i->dst = dst;
        i->a = a;
        i->b = by;
        i->k = e->shfl.lanes;
        i->prim = (uint8_t)e->shfl.id;
        i->type = (uint8_t)e->type;
        i->site = compile_site(c, e->span, NULL, false, "");
        break;
    }
    }
    c->span = outer;
    c->place = around;
    return dst;
}
