#include "codegen/imp.h"

/* ---- building ---------------------------------------------------------------------------------------------------- */

static ImpExpr *make(Ctx *ctx, ImpExprKind kind, Scalar type, Span span)
{
    ImpExpr *e = NEW(ctx, ImpExpr);
    e->kind = kind;
    e->type = type;
    e->span = span;
    return e;
}

ImpExpr *imp_lit(Ctx *ctx, ScalarValue v, Span span)
{
    ImpExpr *e = make(ctx, IE_LIT, v.type, span);
    e->lit = v;
    return e;
}

ImpExpr *imp_nat(Ctx *ctx, Nat nat, Scalar type, Span span)
{
    ImpExpr *e = make(ctx, IE_NAT, type, span);
    e->nat = nat;
    return e;
}

ImpExpr *imp_var(Ctx *ctx, ImpVar *var, Nat slot, Span span)
{
    ImpExpr *e = make(ctx, IE_VAR, var->type, span);
    e->var.var = var;
    e->var.slot = var->slots == 1 ? nat_const(ctx, 0) : slot; /* in one slot nothing is looked for */
    return e;
}

ImpExpr *imp_load(Ctx *ctx, ImpBuf *buf, Nat index, Span span)
{
    ImpExpr *e = make(ctx, IE_LOAD, buf->elem, span);
    e->mem.buf = buf;
    e->mem.index = index;
    return e;
}

/* f16 and bf16 arrive as bits, and become floats where they are read. */
bool imp_by_value(ImpSpace space, Type t) { return space == SPACE_INPUT && (t->kind == TY_SCALAR || t->kind == TY_IDX); }

bool imp_is_parameter(const ImpExpr *e) { return e->kind == IE_LOAD && e->mem.buf->by_value && e->type != SC_F16 && e->type != SC_BF16; }

ImpExpr *imp_op(Ctx *ctx, PrimId id, Scalar type, int n, ImpExpr **args, Span span)
{
    ImpExpr *e = make(ctx, IE_OP, type, span);
    e->op.id = id;
    e->op.n = n;
    e->op.args = NEWN(ctx, ImpExpr *, n);
    memcpy(e->op.args, args, sizeof *args * (size_t)n);
    return e;
}

ImpExpr *imp_op2(Ctx *ctx, PrimId id, Scalar type, ImpExpr *a, ImpExpr *b, Span span)
{
    return imp_op(ctx, id, type, 2, (ImpExpr *[]){a, b}, span);
}

ImpExpr *imp_op_like(Ctx *ctx, const ImpExpr *op, ImpExpr **args)
{
    ImpExpr *e = imp_op(ctx, op->op.id, op->type, op->op.n, args, op->span);
    e->op.rounded = op->op.rounded;
    return e;
}

ImpExpr *imp_cast(Ctx *ctx, Scalar type, ImpExpr *value, Span span)
{
    if (value->type == type)
        return value;
    ImpExpr *e = make(ctx, IE_CAST, type, span);
    e->cast.value = value;
    return e;
}

bool imp_widens(const ImpExpr *e)
{
    if (e->kind != IE_CAST || !scalar_is_int(e->type) || !scalar_is_int(e->cast.value->type))
        return false;
    Scalar from = e->cast.value->type;
    return scalar_bytes(from) < scalar_bytes(e->type) && (scalar_is_signed(e->type) || !scalar_is_signed(from));
}

ImpExpr *imp_cond(Ctx *ctx, ImpExpr *cond, ImpExpr *then, ImpExpr *otherwise, Span span)
{
    ImpExpr *e = make(ctx, IE_COND, then->type, span);
    e->cond.cond = cond;
    e->cond.then = then;
    e->cond.otherwise = otherwise;
    return e;
}

ImpExpr *imp_shfl(Ctx *ctx, PrimId id, Nat by, ImpExpr *value, Span span) { return imp_shfl_by(ctx, id, imp_nat(ctx, by, SC_I32, span), value, span); }

ImpExpr *imp_reduce_warp(Ctx *ctx, PrimId op, ImpExpr *value, Span span)
{
    ImpExpr *e = imp_shfl_by(ctx, P_reduceWarp, NULL, value, span);
    e->shfl.op = op;
    return e;
}

ImpExpr *imp_shfl_by(Ctx *ctx, PrimId id, ImpExpr *by, ImpExpr *value, Span span)
{
    ImpExpr *e = make(ctx, IE_SHFL, value->type, span);
    e->shfl.id = id;
    e->shfl.by = by;
    e->shfl.value = value;
    e->shfl.lanes = WARP_LANES;
    return e;
}

int imp_vector_width(Scalar elem, int w)
{
    for (int n = IMP_VECTOR_MAX; n > 1; n /= 2)
        if (w % n == 0 && n * scalar_bytes(elem) <= 16)
            return n;
    return 1;
}

int imp_mail_words(Scalar total) { return scalar_bytes(total) > 4 ? 2 : 1; }

ImpVar *imp_sets(const ImpStmt *s)
{
    if (s->kind == IS_ATOMIC)
        return s->atomic.old;
    return s->kind == IS_DECL || s->kind == IS_SET ? s->var.var : s->kind == IS_VSET || s->kind == IS_VLOAD ? s->vec.var : NULL;
}

bool imp_declares(const ImpStmt *s) { return s->kind == IS_DECL || s->kind == IS_ATOMIC || ((s->kind == IS_VSET || s->kind == IS_VLOAD) && s->vec.declares); }

bool imp_is_infix(const ImpExpr *e)
{
    return e->kind == IE_OP && (e->op.id == P_add || e->op.id == P_mul) && (scalar_is_float(e->type) || !scalar_is_signed(e->type));
}

ImpStmt *imp_stmt(Ctx *ctx, ImpBlock *block, ImpStmtKind kind, Span span)
{
    ImpStmt *s = NEW(ctx, ImpStmt);
    s->kind = kind;
    s->span = span;
    if (block)
        vec_push(ctx, &block->list, s);
    return s;
}

/* ---- variants ------------------------------------------------------------------------------------------------------ */

bool imp_when_holds(Ctx *ctx, const CoreEntry *entry, const ImpWhens *when, const Launch *launch, bool *holds)
{
    *holds = true;
    for (int i = 0; i < when->n && *holds; i++) {
        bool one;
        if (!launch_test(ctx, entry, launch, when->at[i].test, &one))
            return false;
        *holds = one == when->at[i].holds;
    }
    return true;
}

bool imp_choose(Ctx *ctx, const CoreEntry *entry, const ImpLaunch *place, const Launch *launch, ImpKernel **kernel)
{
    bool holds = false;
    *kernel = NULL;
    for (int i = 0; i < place->variants.n && !holds; i++) {
        if (!imp_when_holds(ctx, entry, &place->variants.at[i].when, launch, &holds))
            return false;
        if (holds)
            *kernel = place->variants.at[i].kernel;
    }
    return true;
}

bool imp_is_launched(const ImpProgram *program, const ImpKernel *kernel, const Launch *launch)
{
    bool found = false;
    for (int i = 0; i < program->launches.n && !found; i++) {
        ImpKernel *form;
        if (!imp_choose(NULL, program->entry, &program->launches.at[i], launch, &form))
            continue;
        for (; form && !found; form = form->otherwise)
            found = form == kernel;
    }
    return found;
}

bool imp_cover(Ctx *ctx, const ImpVariants *variants, int depth)
{
    ImpVariants sides[2] = {{0}, {0}};
    for (int i = 0; i < variants->n; i++) {
        const ImpWhens *when = &variants->at[i]->when;
        if (when->n <= depth)
            return true;
        if (when->at[depth].test == variants->at[0]->when.at[depth].test)
            vec_push(ctx, &sides[when->at[depth].holds], variants->at[i]);
    }
    return sides[0].n && sides[1].n && imp_cover(ctx, &sides[0], depth + 1) && imp_cover(ctx, &sides[1], depth + 1);
}

void imp_launch_always(Ctx *ctx, ImpProgram *program, ImpKernel *kernel)
{
    ImpLaunch place = {.group = kernel->group};
    vec_push(ctx, &place.variants, ((ImpVariant){.kernel = kernel}));
    vec_push(ctx, &program->launches, place);
}

ImpKernel *imp_form(const ImpProgram *program, int k)
{
    for (int i = 0; i < program->kernels.n; i++)
        for (ImpKernel *variant = program->kernels.at[i]; variant; variant = variant->otherwise)
            if (k-- == 0)
                return variant;
    return NULL;
}

int imp_form_number(const ImpProgram *program, const ImpKernel *kernel)
{
    int number = 0;
    for (int i = 0; i < program->kernels.n; i++)
        for (const ImpKernel *k = program->kernels.at[i]; k; k = k->otherwise, number++)
            if (k == kernel)
                return number;
    return number;
}

const ImpKernel *imp_wide_twin(const ImpKernel *k)
{
    return k->otherwise && k->otherwise->wide && !k->wide && k->otherwise->unaligned == k->unaligned ? k->otherwise : NULL;
}

int imp_align(const ImpKernel *kernel, const ImpBuf *buf)
{
    return (buf->space == SPACE_INPUT || buf->space == SPACE_OUTPUT) && !kernel->unaligned ? buf->align : 0;
}

bool imp_has_guard(const ImpKernel *kernel)
{
    for (int i = 0; i < kernel->bufs.n; i++)
        if (imp_align(kernel, kernel->bufs.at[i]))
            return true;
    return false;
}

bool imp_divides_safely(Ctx *ctx, const NatFacts *known, Nat nat)
{
    bool divides = nat->kind == NAT_DIV || nat->kind == NAT_MOD;
    if (divides && !nat_is_const(nat->b) && !nat_le(ctx, known, nat_const(ctx, 1), nat->b))
        return false;
    bool safe = (!nat->a || imp_divides_safely(ctx, known, nat->a)) && (!nat->b || imp_divides_safely(ctx, known, nat->b));
    for (int i = 0; i < nat->n_terms; i++)
        for (int k = 0; k < nat->terms[i].n_factors; k++)
            safe = safe && imp_divides_safely(ctx, known, nat->terms[i].factors[k]);
    return safe;
}

int imp_group_size(const ImpProgram *program, int i)
{
    const ImpGroup *group = program->launches.at[i].group;
    int n = 1;
    while (group && i + n < program->launches.n && program->launches.at[i + n].group == group)
        n++;
    return n;
}

bool imp_is_device_size(Nat var)
{
    int64_t value;
    return launch_device_size(var, &value);
}

/* ---- barriers, for tests ------------------------------------------------------------------------------------------- */

/* A barrier that was taken out stays in its place as one of these two notes; which one, by address, says what to put back. */
static const char dropped_warp[] = "a barrier of the warp was taken out here";
static const char dropped_block[] = "a barrier of the block was taken out here";

/* Barrier number *k of the block in order of text, counting *k down; NULL when the block has no more than that. */
static ImpStmt *find_sync(const ImpBlock *block, int *k)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i], *found = NULL;
        switch (s->kind) {
        case IS_SYNC:
            if ((*k)-- == 0)
                return s;
            break;
        case IS_FOR:
            found = find_sync(&s->loop.body, k);
            break;
        case IS_IF:
            found = find_sync(&s->branch.then, k);
            if (!found)
                found = find_sync(&s->branch.otherwise, k);
            break;
        case IS_DECL:
        case IS_SET:
        case IS_STORE: case IS_ATOMIC: case IS_TICKET: case IS_GRID_SYNC: case IS_GIVE: case IS_AWAIT: case IS_SERVE:
        case IS_VSET:
        case IS_VLOAD:
        case IS_VSTORE:
        case IS_ALLOC:
        case IS_NOTE:
            break;
        }
        if (found)
            return found;
    }
    return NULL;
}

int imp_sync_count(const ImpKernel *kernel)
{
    int left = INT32_MAX;
    find_sync(&kernel->body, &left);
    return INT32_MAX - left;
}

ImpStmt *imp_drop_sync(ImpKernel *kernel, int k)
{
    if (k < 0)
        return NULL;
    ImpStmt *s = find_sync(&kernel->body, &k);
    if (!s)
        return NULL;
    const char *note = s->sync == SYNC_WARP ? dropped_warp : dropped_block;
    s->kind = IS_NOTE;
    s->note = note;
    return s;
}

void imp_restore_sync(ImpStmt *s)
{
    if (!s || s->kind != IS_NOTE || (s->note != dropped_warp && s->note != dropped_block))
        return;
    SyncScope scope = s->note == dropped_warp ? SYNC_WARP : SYNC_BLOCK;
    s->kind = IS_SYNC;
    s->sync = scope;
}
