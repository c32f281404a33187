/* Values of f16 and bf16 that the text only copies. They stay the bits that they are in memory, where
 * others are float:
 *
 *   float4 x = from_f16(load4(xs)); store4(ys, to_f16(x));        ->  ushort4 x = load4(xs); store4(ys, x);
 *   ys[j] = to_f16(i < n ? from_f16(xs[i]) : 0.0f);               ->  ys[j] = i < n ? xs[i] : 0;
 *
 * A copy is a cell of memory, a literal, a register that only gets copies, or a choice of such. A
 * register stays bits if all that it gets are copies, and all that mentions it copies it or stores it.
 * What a NaN carries is copied, too.
 *
 * What is fetched ahead stays bits, too, where others compute with it: a thread that converted it at
 * once would wait for it. Vectors of small cells are held in words for the same reason: CUDA's
 * compiler takes a vector apart that a condition sets, and a thread waits for its parts. */
#include "codegen/cuda_internal.h"
#include "codegen/tails.h"
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
    if ((*at)->kind == IE_VAR && !(*at)->var.var->fetched)
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

static bool may_be_held(const Cuda *c, const ImpVar *var)
{
    const int bytes = scalar_bytes(var->type);
    return var->fetched && var->vector && var->type != SC_BOOL && bytes < 4 && var->slots * bytes % 4 == 0 && (!cuda_is_half(var->type) || cuda_is_bits(c, var));
}

static void see_component(void *user, ImpStmt *s)
{
    Cuda *c = user;
    if (s->kind == IS_SET || (s->kind == IS_VSET && tail_by_component(s)))
        c->held[imp_sets(s)->id] = false;
}

static void see_no_call(void *user, const ImpCall *call)
{
    (void)user;
    (void)call;
}

static void find_held(Cuda *c, const ImpKernel *kernel, const ImpBlock *text)
{
    c->held = NEWN(c->ctx, bool, kernel->vars.n + 1);
    for (int i = 0; i < kernel->vars.n; i++)
        c->held[kernel->vars.at[i]->id] = may_be_held(c, kernel->vars.at[i]);
    walk_text(text, see_component, see_no_call, c);
}

bool cuda_is_held(const Cuda *c, const ImpVar *var) { return c->held[var->id]; }

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
    const ImpBlock *text = function ? &function->body : &kernel->body;
    while (b.changed) {
        b.changed = false;
        walk_text(text, see_stmt, see_call, &b);
    }
    find_held(c, kernel, text);
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

static const char *reciprocal(Cuda *c, Scalar type)
{
    cuda_helper(c, HELP_RECIPROCAL, SC_I32);
    return cuda_helper(c, type == SC_F64 ? HELP_RECIPROCAL_F64 : HELP_RECIPROCAL_F32, SC_I32);
}

const char *cuda_var_type(Cuda *c, const ImpVar *var)
{
    const Scalar type = cuda_is_bits(c, var) ? SC_U16 : var->type;
    if (var->divides)
        return ctx_printf(c->ctx, "%s<%s>", reciprocal(c, var->type), cuda_type(var->type));
    if (cuda_is_held(c, var))
        return ctx_printf(c->ctx, "%s<%s>", cuda_helper(c, HELP_HELD, SC_I32), cuda_vector_type(c, type, var->slots));
    if (var->vector)
        return cuda_vector_value_type(c, type, var->slots);
    return cuda_value_type(type);
}
