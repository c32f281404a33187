/* Values of f16 and bf16 that the text only copies. They stay the bits that they are in memory, where
 * others are float:
 *
 *   float4 x = from_f16(load4(xs)); store4(ys, to_f16(x));        ->  ushort4 x = load4(xs); store4(ys, x);
 *   ys[j] = to_f16(i < n ? from_f16(xs[i]) : 0.0f);               ->  ys[j] = i < n ? xs[i] : 0;
 *
 * A copy is a cell of memory, a literal, a register that only gets copies, or a choice of such. A
 * register stays bits if all that it gets are copies, and all that mentions it copies it or stores it.
 * What a NaN carries is copied, too. */
#include "codegen/cuda_internal.h"
#include "codegen/walk.h"

typedef struct Bits {
    Cuda *c;
    bool changed;
} Bits;

bool cuda_is_bits(const Cuda *c, const ImpVar *var) { return c->bits[var->id]; }

bool cuda_is_copy(const Cuda *c, const ImpExpr *e)
{
    if (!cuda_is_half(e->type))
        return false;
    switch ((int)e->kind) {
    case IE_LIT: case IE_LOAD: return true;
    case IE_VAR: return cuda_is_bits(c, e->var.var);
    case IE_COND: return cuda_is_copy(c, e->cond.then) && cuda_is_copy(c, e->cond.otherwise);
    default: return false;
    }
}

bool cuda_are_copies(const Cuda *c, const ImpStmt *vector)
{
    bool copies = true;
    for (int k = 0; k < vector->vec.n && copies; k++)
        copies = cuda_is_copy(c, vector->vec.values[k]);
    return copies;
}

/* ---- which registers --------------------------------------------------------------------------- */

static void no_bits(Bits *b, const ImpVar *var)
{
    b->changed |= var && b->c->bits[var->id];
    if (var)
        b->c->bits[var->id] = false;
}

static void see_mention(void *user, ImpExpr **at)
{
    if ((*at)->kind == IE_VAR)
        no_bits(user, (*at)->var.var);
}

/* What computes with a value, where the value itself is copied: its conditions. */
static void see_copy(Bits *b, ImpExpr *copy)
{
    if (copy->kind != IE_COND)
        return;
    walk_expr(&copy->cond.cond, see_mention, b);
    see_copy(b, copy->cond.then);
    see_copy(b, copy->cond.otherwise);
}

/* The place gets the value: a register, or memory (NULL). */
static void see_value(Bits *b, const ImpVar *place, ImpExpr **value)
{
    if (cuda_is_copy(b->c, *value) && (!place || cuda_is_bits(b->c, place))) {
        see_copy(b, *value);
        return;
    }
    no_bits(b, place);
    walk_expr(value, see_mention, b);
}

static void see_vector(Bits *b, ImpStmt *s)
{
    const ImpVar *place = s->kind == IS_VSET ? s->vec.var : NULL;
    if (!cuda_are_copies(b->c, s))
        no_bits(b, place);
    const bool copies = cuda_are_copies(b->c, s) && (!place || cuda_is_bits(b->c, place));
    for (int k = 0; k < s->vec.n; k++)
        if (copies)
            see_copy(b, s->vec.values[k]);
        else
            walk_expr(&s->vec.values[k], see_mention, b);
}

static void see_stmt(void *user, ImpStmt *s)
{
    Bits *b = user;
    switch ((int)s->kind) {
    case IS_STORE: see_value(b, NULL, &s->store.value); return;
    case IS_VSTORE: case IS_VSET: see_vector(b, s); return;
    case IS_VLOAD: return;
    case IS_DECL: case IS_SET:
        if (s->var.value)
            see_value(b, s->var.var, &s->var.value);
        return;
    default:
        no_bits(b, imp_sets(s));
        walk_own(s, see_mention, b);
    }
}

static void see_call(void *user, const ImpCall *call)
{
    for (int k = 0; k < call->function->params.n; k++)
        no_bits(user, call->args[k].var);
    no_bits(user, call->result);
}

void cuda_find_bits(Cuda *c, const ImpKernel *kernel, const ImpFunction *function)
{
    Bits b = {c, true};
    c->bits = NEWN(c->ctx, bool, kernel->vars.n + 1);
    for (int i = 0; i < kernel->vars.n; i++)
        c->bits[kernel->vars.at[i]->id] = cuda_is_half(kernel->vars.at[i]->type);
    for (int k = 0; function && k < function->params.n; k++)
        no_bits(&b, function->params.at[k].var);
    if (function)
        no_bits(&b, function->result);
    while (b.changed) {
        b.changed = false;
        walk_text(function ? &function->body : &kernel->body, see_stmt, see_call, &b);
    }
}

/* ---- their text --------------------------------------------------------------------------------- */

void cuda_put_copy(Cuda *c, const ImpExpr *copy, CPrec prec)
{
    const bool saved = c->copies;
    c->copies = true;
    cuda_expr(c, copy, prec);
    c->copies = saved;
}

void cuda_put_literal_bits(Cuda *c, const ImpExpr *literal)
{
    const double value = literal->lit.f;
    const uint16_t bits = literal->type == SC_F16 ? f16_from_double(value) : bf16_from_double(value);
    sb_printf(c->out, bits ? "%#x" : "%d", bits);
}

const char *cuda_var_type(Cuda *c, const ImpVar *var)
{
    const Scalar type = cuda_is_bits(c, var) ? SC_U16 : var->type;
    if (var->vector)
        return cuda_vector_value_type(c, type, var->slots);
    return cuda_value_type(type);
}
