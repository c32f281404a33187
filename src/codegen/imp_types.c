/* The types that a kernel's expressions and statements agree on. What a scalar function takes and
 * gives is said by its header in prims.def. */
#include "codegen/imp_verify.h"

/* ---- expressions ----------------------------------------------------------------------------- */

/* `of`: a name, or "". Nothing is made of it where the types agree: this is asked of each
 * expression after each pass. */
static const char *wants(Ctx *ctx, Scalar want, Scalar got, const char *what, const char *of)
{
    const char *quote = *of ? "`" : "";
    return want == got ? NULL
                       : ctx_printf(ctx, "%s%s%s%s is of type %s, not %s", what, quote, of, quote,
                                    scalar_name(got), scalar_name(want));
}

static const char *first_of(const char *a, const char *b) { return a ? a : b; }

static const char *op_fault(Ctx *ctx, const ImpExpr *e)
{
    const PrimOperands *known = prim_operands(ctx, e->op.id);
    const char *name = prim_name(e->op.id), *fault = NULL;
    if (!known)
        return ctx_printf(ctx, "`%s` is no operation", name);
    if (known->n != e->op.n)
        return ctx_printf(ctx, "`%s` has %d operands", name, e->op.n);
    Scalar type = SC_COUNT; /* of the operands that share one */
    for (int k = 0; k < e->op.n && !fault; k++) {
        Scalar want = known->is_bool[k] ? SC_BOOL : type == SC_COUNT ? e->op.args[k]->type : type;
        type = known->is_bool[k] ? type : want;
        fault = wants(ctx, want, e->op.args[k]->type, "an operand of ", name);
    }
    type = type == SC_COUNT ? SC_BOOL : type;
    if (!fault && !(known->types & 1u << type))
        fault = ctx_printf(ctx, "`%s` is applied to values of type %s", name, scalar_name(type));
    return first_of(fault,
                    wants(ctx, known->gives_bool ? SC_BOOL : type, e->type, "the value of ", name));
}

/* Of a whole warp in one step: see IE_SHFL. */
static const char *warp_fault(Ctx *ctx, const ImpExpr *e)
{
    PrimId op = e->shfl.op;
    bool ordered = op == P_min || op == P_max, is_int = e->type == SC_I32 || e->type == SC_U32;
    bool bits = op == P_bitAnd || op == P_bitOr || op == P_bitXor;
    if (ordered ? is_int || e->type == SC_F32 : is_int && (bits || op == P_add))
        return NULL;
    return ctx_printf(ctx, "a warp reduces values of type %s by `%s`", scalar_name(e->type),
                      prim_name(op));
}

static const char *shuffle_fault(Ctx *ctx, const ImpExpr *e)
{
    const char *fault = wants(ctx, e->shfl.value->type, e->type, "what a shuffle gives", "");
    if (e->shfl.id == P_reduceWarp)
        return first_of(fault, warp_fault(ctx, e));
    return first_of(
        fault, scalar_is_int(e->shfl.by->type) ? NULL : "the distance of a shuffle is no integer");
}

const char *imp_expr_fault(Ctx *ctx, const ImpExpr *e)
{
    switch (e->kind) {
    case IE_LIT: return wants(ctx, e->type, e->lit.type, "a literal", "");
    case IE_NAT: return e->type == SC_BOOL ? "an index is a bool" : NULL;
    case IE_VAR: return wants(ctx, e->type, e->var.var->type, "", e->var.var->name);
    case IE_LOAD: return wants(ctx, e->type, e->mem.buf->elem, "a cell of ", e->mem.buf->name);
    case IE_OP: return op_fault(ctx, e);
    case IE_CAST: return NULL;
    case IE_COND:
        return first_of(
            wants(ctx, SC_BOOL, e->cond.cond->type, "a condition", ""),
            first_of(
                wants(ctx, e->type, e->cond.then->type, "one side of a choice", ""),
                wants(ctx, e->type, e->cond.otherwise->type, "the other side of a choice", "")));
    case IE_SHFL: return shuffle_fault(ctx, e);
    }
    return NULL;
}

/* ---- statements ------------------------------------------------------------------------------ */

static const char *into_var(Ctx *ctx, const ImpVar *var, const ImpExpr *value)
{
    return value ? wants(ctx, var->type, value->type, "what is kept in ", var->name) : NULL;
}

static const char *into_cell(Ctx *ctx, const ImpBuf *buf, Scalar value)
{
    return wants(ctx, buf->elem, value, "what is kept in a cell of ", buf->name);
}

static const char *vector_fault(Ctx *ctx, const ImpStmt *s)
{
    const char *fault = NULL;
    if (s->vec.n < 2 || s->vec.n > IMP_VECTOR_MAX)
        return ctx_printf(ctx, "a vector has %d components", s->vec.n);
    if (s->kind != IS_VSTORE && (s->vec.var->slots != s->vec.n || !s->vec.var->vector))
        return ctx_printf(ctx, "`%s` is no vector of %d components", s->vec.var->name, s->vec.n);
    if (s->kind == IS_VLOAD)
        return into_cell(ctx, s->vec.buf, s->vec.var->type);
    for (int k = 0; k < s->vec.n && !fault; k++)
        fault = s->kind == IS_VSET ? into_var(ctx, s->vec.var, s->vec.values[k])
                                   : into_cell(ctx, s->vec.buf, s->vec.values[k]->type);
    return fault;
}

static const char *serve_fault(Ctx *ctx, const ImpStmt *s)
{
    const char *fault = NULL;
    for (int k = 0; k < s->serve.n_parts && !fault; k++) {
        const ImpServed *p = &s->serve.parts[k];
        fault = first_of(first_of(into_cell(ctx, p->mail, SC_U64), into_var(ctx, p->sum, p->value)),
                         first_of(into_var(ctx, p->sum, p->unit),
                                  wants(ctx, p->sum->type, p->next->type, "a total", "")));
    }
    return fault;
}

const char *imp_stmt_fault(Ctx *ctx, const ImpStmt *s)
{
    switch (s->kind) {
    case IS_DECL:
    case IS_SET: return into_var(ctx, s->var.var, s->var.value);
    case IS_STORE: return into_cell(ctx, s->store.buf, s->store.value->type);
    case IS_VSET:
    case IS_VLOAD:
    case IS_VSTORE: return vector_fault(ctx, s);
    case IS_ATOMIC:
        return first_of(into_cell(ctx, s->atomic.buf, s->atomic.value->type),
                        into_cell(ctx, s->atomic.buf, s->atomic.old->type));
    case IS_TICKET:
        return first_of(into_cell(ctx, s->ticket.flag, SC_BOOL),
                        into_cell(ctx, s->ticket.buf, SC_U32));
    case IS_GRID_SYNC: return into_cell(ctx, s->ticket.buf, SC_U32);
    case IS_GIVE:
    case IS_AWAIT: return into_cell(ctx, s->exchange.mail, SC_U64);
    case IS_SERVE: return serve_fault(ctx, s);
    case IS_FOR:
        return s->loop.full
                   ? wants(ctx, SC_BOOL, s->loop.full->type, "what says that a tile is full", "")
                   : NULL;
    case IS_IF: return wants(ctx, SC_BOOL, s->branch.cond->type, "a condition", "");
    case IS_SYNC:
    case IS_ALLOC:
    case IS_NOTE: return NULL;
    }
    return NULL;
}
