#include "codegen/index_bounds.h"

#include "codegen/walk.h"

bool kernel_shared_is_dynamic(const ImpKernel *k)
{
    return k->shared_bytes && (!nat_is_const(k->shared_bytes) || k->shared_bytes->value > LAUNCH_MAX_STATIC_SHARED);
}

int kernel_max_grid(const ImpKernel *k, int axis) { return axis == 0 && k->once[0] ? LAUNCH_MAX_GRID_ONCE_X : LAUNCH_MAX_GRID; }
Nat kernel_grid(Ctx *ctx, const ImpKernel *k, int axis) { return nat_min(ctx, k->blocks[axis], nat_const(ctx, kernel_max_grid(k, axis))); }

Nat kernel_cells(Ctx *ctx, const ImpKernel *k, const ImpBuf *buf)
{
    Nat n = buf->count;
    for (int a = 0; a < 3; a++)
        if (k->grid[a]->kind == NAT_VAR)
            n = nat_subst(ctx, n, k->grid[a], kernel_grid(ctx, k, a));
    return n;
}

static Nat spelled_out(const Bounds *b, Nat nat)
{
    for (int i = b->names.n - 1; i >= 0; i--)
        if (nat_mentions(nat, b->names.at[i]))
            nat = nat_subst(b->ctx, nat, b->names.at[i], b->meant.at[i]);
    return nat;
}

static void guard_nat(void *user, Nat nat)
{
    Bounds *b = user;
    nat = spelled_out(b, nat);
    if (nat->has_vars)
        index_guard(b, index_bound(b, nat));
}

/* ---- conditions ------------------------------------------------------------------------------------------------------- */

/* Where nat < end holds, what is computed from it is so large at most. */
static void assume_less(Bounds *b, Nat nat, Nat end)
{
    Ctx *ctx = b->ctx;
    nat = spelled_out(b, nat);
    end = spelled_out(b, end);
    for (int i = 0; nat->kind == NAT_SUM && i < nat->n_terms; i++)
        if (nat->terms[i].n_factors == 0) { /* a constant */
            end = nat_add_k(ctx, end, -nat->terms[i].coef);
            nat = nat_add_k(ctx, nat, -nat->terms[i].coef);
            break;
        }
    if (nat->kind == NAT_VAR || nat_is_const(nat) || !index_not_negative(b, nat))
        return;
    vec_push(ctx, &b->vars, nat);
    vec_push(ctx, &b->most, nat_add_k(ctx, index_highest(b, end), -1));
    vec_push(ctx, &b->ends, end);
}

static void assume_true(Bounds *b, const ImpExpr *cond)
{
    if (cond->kind == IE_VAR)
        for (int i = b->bools.n - 1; i >= 0; i--)
            if (b->bools.at[i]->var.var == cond->var.var) {
                assume_true(b, b->bools.at[i]->var.value);
                return;
            }
    if (cond->kind != IE_OP || cond->op.n != 2)
        return;
    const ImpExpr *left = cond->op.args[0], *right = cond->op.args[1];
    if (cond->op.id == P_and) {
        assume_true(b, left);
        assume_true(b, right);
    } else if ((cond->op.id == P_lt || cond->op.id == P_le) && left->kind == IE_NAT && right->kind == IE_NAT) {
        assume_less(b, left->nat, nat_add_k(b->ctx, right->nat, cond->op.id == P_le));
    }
}

/* How many variables and sums there were before. */
static int enter_condition(Bounds *b, const ImpExpr *cond)
{
    int before = b->vars.n;
    bool element = b->element;
    b->element = true; /* as an index, a condition is computed only where there are elements */
    assume_true(b, cond);
    b->element = element;
    return before;
}

static void leave_condition(Bounds *b, int before) { b->vars.n = b->most.n = b->ends.n = before; }

/* Numbers of an expression. Only where its condition holds, C computes those of a choice. */
static void guard_expr(Bounds *b, const ImpExpr *e)
{
    switch (e->kind) {
    case IE_LIT: break;
    case IE_NAT: guard_nat(b, e->nat); break;
    case IE_VAR: guard_nat(b, e->var.slot); break;
    case IE_LOAD: guard_nat(b, e->mem.index); break;
    case IE_OP:
        for (int i = 0; i < e->op.n; i++)
            guard_expr(b, e->op.args[i]);
        break;
    case IE_CAST: guard_expr(b, e->cast.value); break;
    case IE_COND: {
        guard_expr(b, e->cond.cond);
        int before = enter_condition(b, e->cond.cond);
        guard_expr(b, e->cond.then);
        leave_condition(b, before);
        guard_expr(b, e->cond.otherwise);
        break;
    }
    case IE_SHFL:
        if (e->shfl.by)
            guard_expr(b, e->shfl.by);
        guard_expr(b, e->shfl.value);
        break;
    }
}

static void guard_block(Bounds *b, const ImpBlock *block);

static void guard_loop(Bounds *b, ImpStmt *s)
{
    Ctx *ctx = b->ctx;
    Nat first = spelled_out(b, s->loop.lo), end = spelled_out(b, s->loop.hi);
    Nat lo = index_bound(b, first), hi = nat_add_k(ctx, index_highest(b, end), -1), step = index_bound(b, spelled_out(b, s->loop.step));
    if (!index_not_negative(b, first))
        hi = nat_max(ctx, lo, hi);
    vec_push(ctx, &b->vars, s->loop.var);
    vec_push(ctx, &b->most, hi);
    vec_push(ctx, &b->ends, end);
    index_guard(b, nat_add(ctx, hi, step)); /* where the variable stops */
    NatFacts *outside = b->here;
    b->here = nat_facts_new(ctx, outside);
    nat_fact_le(ctx, b->here, index_not_negative(b, first) ? nat_const(ctx, 1) : nat_add_k(ctx, first, 1), end);
    guard_block(b, &s->loop.body);
    b->here = outside;
}

/* The statement itself. What a loop runs to exists without elements. */
static void guard_own(Bounds *b, ImpStmt *s)
{
    ImpStmt tile = {.kind = IS_IF};
    if (s->kind == IS_FOR) {
        guard_nat(b, s->loop.lo);
        guard_nat(b, s->loop.hi);
        guard_nat(b, s->loop.step);
        tile.branch.cond = s->loop.full;
        s = &tile;
    }
    b->element = true;
    if (s->kind == IS_DECL || s->kind == IS_SET) {
        if (s->kind == IS_SET)
            guard_nat(b, s->var.slot);
        if (s->var.value)
            guard_expr(b, s->var.value);
    } else if (s != &tile || tile.branch.cond) {
        walk_nats(s, guard_nat, b);
    }
    b->element = false;
}

static void guard_block(Bounds *b, const ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        guard_own(b, s);
        if (s->kind == IS_DECL && s->var.var->nat && s->var.value && s->var.value->kind == IE_NAT) {
            vec_push(b->ctx, &b->names, s->var.var->nat);
            vec_push(b->ctx, &b->meant, spelled_out(b, s->var.value->nat));
        }
        if (s->kind == IS_DECL && s->var.var->type == SC_BOOL && s->var.var->constant && s->var.value)
            vec_push(b->ctx, &b->bools, s);
        if (s->kind == IS_FOR)
            guard_loop(b, s);
        if (s->kind == IS_IF) {
            int before = enter_condition(b, s->branch.cond);
            guard_block(b, &s->branch.then);
            leave_condition(b, before);
            guard_block(b, &s->branch.otherwise);
        }
    }
}

bool index_guards_hold(Ctx *ctx, const ImpKernel *k)
{
    bool hold = index_guards(ctx, k)->at_most_max.n == 0;
    for (int i = 0; i < k->n_sizes; i++) {
        NatRange r = nat_range(ctx, k->known, k->sizes[i]);
        hold &= (imp_is_device_size(k->sizes[i]) && k->sizes[i]->device != NAT_TURN) || (r.has_hi && r.hi <= INDEX_MAX);
    }
    return hold;
}

bool index_guards_admit(const CoreEntry *entry, const IndexGuards *guards, const Launch *launch, bool wide)
{
    int64_t value;
    for (int i = 0; i < launch->n_sizes; i++)
        if (launch->sizes[i] > (wide ? WIDE_SIZE_MAX : INDEX_MAX))
            return false;
    for (int i = 0; i < guards->at_least_one.n; i++)
        if (!launch_nat(NULL, entry, launch, guards->at_least_one.at[i], &value) || value < 1)
            return false;
    for (int i = 0; i < guards->at_most_max.n; i++)
        if (!launch_nat(NULL, entry, launch, guards->at_most_max.at[i], &value) || value > (wide ? index_most(guards->at_most_max.at[i]) : INDEX_MAX))
            return false;
    return true;
}

/* A launch that must have just so many blocks has no more on an axis than a device takes. */
static bool grid_fits(Ctx *ctx, const ImpProgram *program, const ImpKernel *k, const Launch *launch)
{
    for (int a = 0; a < 3; a++) {
        int64_t blocks;
        if (!k->once[a] || (launch_nat(NULL, program->entry, launch, k->blocks[a], &blocks) && blocks <= kernel_max_grid(k, a)))
            continue;
        Diag *d = diag_error(ctx, E0602, program->entry->name_span, "%s: these sizes ask for more than %d blocks on axis %c, which mapBlock[once] needs all at a time", program->entry->name,
                             kernel_max_grid(k, a), "xyz"[a]);
        diag_help(ctx, d, a ? "put the longest axis on x, which takes 2^31 - 1, or leave `once` out" : "leave `once` out");
        return false;
    }
    return true;
}

/* A kernel has a twin with wide indices, is wide itself, or is never too narrow. */
bool index_guards_take(Ctx *ctx, const ImpProgram *program, const Launch *launch)
{
    if (!program)
        return true;
    const CoreEntry *entry = program->entry;
    IndexGuards guards;
    HostBuf result;
    for (int k = 0; entry->result && k < type_component_count(entry->result); k++)
        if (!launch_buffer(ctx, entry, launch, type_component(ctx, entry->result, k), &result, false))
            return false;
    index_guards_of_tests(ctx, program, &guards);
    bool good = index_guards_admit(program->entry, &guards, launch, true);
    for (int i = 0; i < program->launches.n && good; i++) {
        ImpKernel *k;
        if (!imp_choose(ctx, program->entry, &program->launches.at[i], launch, &k))
            return false;
        if (!k)
            continue;
        good = index_guards_admit(program->entry, index_guards(ctx, k), launch, true);
        if (good && !grid_fits(ctx, program, k, launch))
            return false;
    }
    if (!good) {
        Diag *d = diag_error(ctx, E0602, program->entry->name_span, "%s: these sizes are too large for a kernel", program->entry->name);
        diag_help(ctx, d, "a size may be 2^40, a product of sizes 2^48, and an index or what it is computed from 2^52");
    }
    return good;
}

const IndexGuards *index_guards(Ctx *ctx, const ImpKernel *kernel)
{
    if (kernel->guards)
        return kernel->guards;
    IndexGuards *guards = NEW(ctx, IndexGuards);
    NatFacts *known = (NatFacts *)kernel->known; /* a child adds nothing to it */
    Bounds b = {.ctx = ctx, .kernel = kernel, .known = nat_facts_new(ctx, known), .guards = guards};
    for (int i = 0; kernel->entry && i < kernel->entry->n_sizes; i++)
        nat_fact_le(ctx, b.known, kernel->entry->sizes[i], nat_const(ctx, INDEX_MAX));
    b.here = b.facts = nat_facts_new(ctx, b.known);
    for (int a = 0; a < 3; a++)
        if (!index_mentions_device(ctx, kernel->blocks[a])) /* else 64 bits are enough for the host */
            guard_nat(&b, kernel->blocks[a]);
    for (int i = 0; i < kernel->bufs.n; i++)
        guard_nat(&b, kernel_cells(ctx, kernel, kernel->bufs.at[i]));
    if (kernel->shared_bytes)
        guard_nat(&b, kernel->shared_bytes);
    if (kernel->group)
        guard_nat(&b, kernel->group->count);
    b.here = nat_facts_new(ctx, b.facts);
    guard_block(&b, &kernel->body);
    return guards;
}
