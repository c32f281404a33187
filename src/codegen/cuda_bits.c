/* Vectors of f16 and bf16 that the text only copies. They stay the bits that they are in memory, where others are float:
 *
 *   float4 x = from_f16(load4(xs)); store4(ys, to_f16(x));   ->   ushort4 x = load4(xs); store4(ys, x);
 *
 * Such a register gets whole vectors of memory, of which some cells may be missing at the end of an array, and literals; it is stored, whole or
 * in parts, and mentioned nowhere else. What a NaN carries is copied, too. */
#include "codegen/cuda_internal.h"
#include "codegen/tails.h"
#include "codegen/walk.h"

bool cuda_stores_whole(const ImpStmt *s)
{
    const ImpExpr *first = s->vec.values[0];
    bool whole = first->kind == IE_VAR && first->var.var->vector && first->var.var->slots == s->vec.n;
    for (int k = 0; whole && k < s->vec.n; k++) {
        const ImpExpr *e = s->vec.values[k];
        whole = e->kind == IE_VAR && e->var.var == first->var.var && nat_is(e->var.slot, k);
    }
    return whole;
}

static void no_bits(Cuda *c, const ImpVar *var)
{
    if (var)
        c->bits[var->id] = false;
}

static void see_mention(void *user, ImpExpr **at)
{
    if ((*at)->kind == IE_VAR)
        no_bits(user, (*at)->var.var);
}

static bool all_literals(const ImpStmt *s)
{
    bool literals = true;
    for (int k = 0; k < s->vec.n && literals; k++)
        literals = s->vec.values[k]->kind == IE_LIT;
    return literals;
}

static void see_stmt(void *user, ImpStmt *s)
{
    Cuda *c = user;
    Tail tail;
    switch ((int)s->kind) {
    case IS_VSTORE:
        if (cuda_stores_whole(s) && s->vec.values[0]->var.var->type == s->vec.buf->elem)
            return;
        break;
    case IS_STORE:
        if (s->store.value->kind == IE_VAR && s->store.value->var.var->type == s->store.buf->elem)
            return;
        break;
    case IS_VLOAD:
        if (s->vec.buf->elem != s->vec.var->type)
            no_bits(c, s->vec.var);
        break;
    case IS_VSET:
        if (!all_literals(s) && (!tail_find(c->ctx, s, &tail) || tail.buf->elem != s->vec.var->type))
            no_bits(c, s->vec.var);
        break;
    case IS_DECL: break;
    default: no_bits(c, imp_sets(s));
    }
    walk_own(s, see_mention, c);
}

static void see_call(void *user, const ImpCall *call)
{
    for (int k = 0; k < call->function->params.n; k++)
        no_bits(user, call->args[k].var);
    no_bits(user, call->result);
}

void cuda_find_bits(Cuda *c, const ImpKernel *kernel, const ImpFunction *function)
{
    c->bits = NEWN(c->ctx, bool, kernel->vars.n + 1);
    for (int i = 0; i < kernel->vars.n; i++) {
        const ImpVar *var = kernel->vars.at[i];
        c->bits[var->id] = var->vector && cuda_is_half(var->type);
    }
    walk_text(function ? &function->body : &kernel->body, see_stmt, see_call, c);
    for (int k = 0; function && k < function->params.n; k++)
        no_bits(c, function->params.at[k].var);
    if (function)
        no_bits(c, function->result);
}

void cuda_put_literal_bits(Cuda *c, const ImpExpr *literal)
{
    if (literal->type == SC_F16)
        sb_printf(c->out, "%#x", f16_from_double(literal->lit.f));
    else if (literal->type == SC_BF16)
        sb_printf(c->out, "%#x", bf16_from_double(literal->lit.f));
    else
        cuda_expr(c, literal, C_ANY);
}

const char *cuda_var_vector(Cuda *c, const ImpVar *var)
{
    return cuda_is_bits(c, var) ? cuda_vector_type(c, SC_U16, var->slots) : cuda_vector_value_type(c, var->type, var->slots);
}

bool cuda_is_bits(const Cuda *c, const ImpVar *var) { return c->bits[var->id]; }
