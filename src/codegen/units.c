/* Pass units: what a guard leaves out of a fold is left out, not combined as a unit.
 *
 *   acc = acc + (c ? x : 0)           ->  if (c) acc = acc + x      unless a loop loads x's
 *   f(c ? x : 1, c ? y : 2)           ->  c ? f(x, y) : 3          where f(1, 2) is 3 on every machine
 *   const x = c ? e : 0; acc = acc + x*x  ->  if (c) { const x = e; acc = acc + x*x }
 *   int acc = 0; acc = acc + x        ->  int acc = x
 *
 * A float has no unit that holds for all values: -0 + 0 is 0, and max(nan, -inf) is -inf. So this looks at all that a register is ever set to. One
 * that begins at 0, and to which numbers are only added, is never -0; one that begins at a number, and changes by min and max alone, is never NaN.
 *
 * Requires: a register is read only after it is set. Keeps every value, bit for bit, and every access of a memory that happens; of a shuffle, which all
 * lanes execute, it moves nothing. */
#include <math.h>

#include "codegen/branches.h"
#include "codegen/literals.h"
#include "codegen/units.h"
#include "codegen/walk.h"

/* ---- what registers never are --------------------------------------------------------------------------------------------- */

typedef enum Never { NEVER_MINUS_ZERO, NEVER_NAN, NEVER_COUNT } Never;

struct Units {
    Ctx *ctx;
    ImpKernel *kernel;
    Never what;                  /* that is being looked at */
    unsigned char *maybe[NEVER_COUNT]; /* by ImpVar.id: it may be that */
    bool changed;
};

/* A number that is too small for the type becomes 0, with its sign. */
static bool widens(const ImpExpr *cast)
{
    return !scalar_is_float(cast->cast.value->type) || scalar_bytes(cast->type) > scalar_bytes(cast->cast.value->type);
}

/* Is the value never `what`, if all registers that are not marked never are? */
static bool never(const Units *u, const ImpExpr *e)
{
    bool zero = u->what == NEVER_MINUS_ZERO;
    if (!scalar_is_float(e->type))
        return true;
    switch (e->kind) {
    case IE_LIT: return zero ? !(e->lit.f == 0 && signbit(e->lit.f)) : !isnan(e->lit.f);
    case IE_NAT: return true;
    case IE_VAR: return !u->maybe[u->what][e->var.var->id];
    case IE_LOAD: return false;
    case IE_CAST: return (!zero || widens(e)) && never(u, e->cast.value);
    case IE_COND: return never(u, e->cond.then) && never(u, e->cond.otherwise);
    case IE_SHFL: return never(u, e->shfl.value);
    case IE_OP: break;
    }
    ImpExpr *const *args = e->op.args;
    switch ((int)e->op.id) {
    case P_add: return zero && (never(u, args[0]) || never(u, args[1])); /* -0 is only the sum of two of them */
    case P_sub: return zero && never(u, args[0]);
    case P_abs: return zero || never(u, args[0]);
    case P_neg: return !zero && never(u, args[0]);
    case P_min: case P_max: return zero ? never(u, args[0]) && never(u, args[1]) : never(u, args[0]) || never(u, args[1]);
    case P_select: return never(u, args[1]) && never(u, args[2]);
    default: return false;
    }
}

static void check_set(void *user, ImpStmt *s)
{
    Units *u = user;
    const ImpVar *var = imp_sets(s);
    for (int k = 0; s->kind == IS_SERVE && k < s->serve.n_parts; k++)
        u->maybe[u->what][s->serve.parts[k].sum->id] = u->maybe[u->what][s->serve.parts[k].next->id] = true; /* anything */
    if (!var || u->maybe[u->what][var->id] || !scalar_is_float(var->type))
        return;
    bool holds = true;
    if (s->kind == IS_DECL || s->kind == IS_SET)
        holds = !s->var.value || never(u, s->var.value);
    else if (s->kind == IS_VSET)
        for (int k = 0; k < s->vec.n; k++)
            holds &= never(u, s->vec.values[k]);
    else
        holds = false; /* from memory */
    u->maybe[u->what][var->id] = !holds;
    u->changed |= !holds;
}

Units *units_of(Lowering *lw)
{
    Units *u = NEW(lw->ctx, Units);
    u->ctx = lw->ctx;
    u->kernel = lw->kernel;
    for (int w = 0; w < NEVER_COUNT; w++) {
        u->what = (Never)w;
        u->maybe[w] = NEWN(u->ctx, unsigned char, lw->kernel->vars.n + 1);
        do {
            u->changed = false;
            walk_stmts(&lw->kernel->body, check_set, u);
        } while (u->changed);
    }
    return u;
}

/* ---- the same condition around all operands -------------------------------------------------------------------------------- */

static bool is_nan(ScalarValue v) { return scalar_is_float(v.type) && isnan(v.f); }

/* f(c ? a : k, c ? b : l) -> c ? f(a, b) : f(k, l), where k and l are literals; so are operands without a condition. */
static void lift_operands(Ctx *ctx, ImpExpr **at)
{
    enum { MAX_ARGS = 3 };
    const ImpExpr *e = *at;
    const ImpExpr *choice = NULL;
    ScalarValue left[MAX_ARGS], result;
    ImpExpr *then[MAX_ARGS];
    if (e->kind != IE_OP || e->op.n > MAX_ARGS || !literal_exact(e->op.id))
        return;
    for (int i = 0; i < e->op.n; i++) {
        ImpExpr *arg = e->op.args[i];
        then[i] = arg;
        if (literal_value(arg, &left[i]))
            continue;
        if (arg->kind != IE_COND || !literal_value(arg->cond.otherwise, &left[i]) || (choice && !imp_same_value(choice->cond.cond, arg->cond.cond)))
            return;
        choice = choice ? choice : arg;
        then[i] = arg->cond.then;
    }
    if (!choice)
        return;
    result = scalar_apply(e->op.id, e->op.args[0]->type, left);
    if (!is_nan(result))
        *at = imp_cond(ctx, choice->cond.cond, imp_op_like(ctx, e, then), imp_lit(ctx, result, e->span), e->span);
}

static void lift(Ctx *ctx, ImpExpr **at)
{
    ImpExpr *e = *at;
    switch (e->kind) {
    case IE_LIT: case IE_NAT: case IE_VAR: case IE_LOAD: return;
    case IE_OP:
        for (int i = 0; i < e->op.n; i++)
            lift(ctx, &e->op.args[i]);
        lift_operands(ctx, at);
        return;
    case IE_CAST: lift(ctx, &e->cast.value); return;
    case IE_COND:
        lift(ctx, &e->cond.cond);
        lift(ctx, &e->cond.then);
        lift(ctx, &e->cond.otherwise);
        return;
    case IE_SHFL:
        if (e->shfl.by)
            lift(ctx, &e->shfl.by);
        lift(ctx, &e->shfl.value);
        return;
    }
}

static void lift_in_stmt(void *user, ImpStmt *s)
{
    Ctx *ctx = user;
    if ((s->kind == IS_DECL || s->kind == IS_SET) && s->var.value)
        lift(ctx, &s->var.value);
    if (s->kind == IS_STORE)
        lift(ctx, &s->store.value);
}

/* ---- folds ------------------------------------------------------------------------------------------------------------------ */

/* Is f(x, k) = f(k, x) = x for all values x of the type that are not what `never_is` says? */
static bool is_unit(PrimId f, ScalarValue k, Never *never_is)
{
    ScalarValue unit;
    *never_is = NEVER_COUNT;
    if (!scalar_unit(f, k.type, &unit) || !literal_same(k, unit))
        return false;
    if (scalar_is_float(k.type) && f == P_add)
        *never_is = NEVER_MINUS_ZERO;
    if (scalar_is_float(k.type) && (f == P_min || f == P_max))
        *never_is = NEVER_NAN;
    return true;
}

static bool is_register(const ImpExpr *e, const ImpStmt *set) { return e->kind == IE_VAR && e->var.var == set->var.var && e->var.slot == set->var.slot; }

/* Is the register only ever set to the literal that it starts with, and changed by f, a minimum or maximum, so that f(x, k) = x? */
typedef struct Start {
    const ImpVar *var;
    PrimId f;
    ScalarValue k;
    bool holds;
} Start;

static void check_start(void *user, ImpStmt *s)
{
    Start *b = user;
    ScalarValue args[2] = {{.type = SC_BOOL}, b->k};
    if (imp_sets(s) != b->var || !b->holds)
        return;
    const ImpExpr *e = s->kind == IS_DECL || s->kind == IS_SET ? s->var.value : NULL;
    if (e && literal_value(e, &args[0]))
        b->holds = args[0].type == b->k.type && !is_nan(args[0]) && literal_same(scalar_apply(b->f, b->k.type, args), args[0]);
    else if (e)
        b->holds = e->kind == IE_OP && e->op.id == b->f && (is_register(e->op.args[0], s) || is_register(e->op.args[1], s));
    else
        b->holds = s->kind == IS_DECL;
}

static bool is_beyond(const Units *u, PrimId f, ScalarValue k, const ImpVar *var)
{
    Start b = {var, f, k, (f == P_min || f == P_max) && var->slots == 1 && !is_nan(k)};
    if (b.holds)
        walk_stmts(&u->kernel->body, check_start, &b);
    return b.holds;
}

/* Does f(x, k) leave the register's value, whatever it is by now? */
static bool leaves(const Units *u, PrimId f, ScalarValue k, const ImpVar *var)
{
    Never never_is;
    if (is_unit(f, k, &never_is) && (never_is == NEVER_COUNT || !u->maybe[never_is][var->id]))
        return true;
    return is_beyond(u, f, k, var);
}

static void note_load(void *user, ImpExpr **at) { *(bool *)user |= (*at)->kind == IE_LOAD && (*at)->mem.buf->space != SPACE_SHARED; }

static bool loads(ImpExpr *e)
{
    bool found = false;
    walk_expr(&e, note_load, &found);
    return found;
}

typedef struct Declared {
    const ImpVar *var;
    bool found;
} Declared;

static void note_decl(void *user, ImpStmt *s)
{
    Declared *d = user;
    d->found |= s->kind == IS_DECL && s->var.var == d->var;
}

/* Does one trip of the loop after the other change the register? */
static bool carries(ImpStmt *loop, const ImpVar *var)
{
    Declared d = {var, false};
    if (loop)
        walk_stmts(&loop->loop.body, note_decl, &d);
    return loop && !d.found;
}

/* acc = f(acc, c ? x : unit)  ->  if (c) acc = f(acc, x). But not where a loop does it with an x from global memory: then the loads of several trips can
 * be under way together, and beside an operation that has to wait for each of them they are not. */
static ImpStmt *without_unit(const Units *u, ImpStmt *s, ImpStmt *loop)
{
    ImpExpr *e = s->var.value;
    ScalarValue k;
    if (s->kind != IS_SET || e->kind != IE_OP || e->op.n != 2)
        return NULL;
    int mine = is_register(e->op.args[1], s); /* which operand is the register */
    const ImpExpr *other = e->op.args[1 - mine];
    if (!is_register(e->op.args[mine], s) || other->kind != IE_COND || !literal_value(other->cond.otherwise, &k) || !leaves(u, e->op.id, k, s->var.var) ||
        (loads(other->cond.then) && carries(loop, s->var.var)))
        return NULL;
    ImpExpr *args[2] = {e->op.args[0], e->op.args[1]};
    args[1 - mine] = other->cond.then;
    ImpStmt *choice = imp_stmt(u->ctx, NULL, IS_IF, s->span);
    choice->branch.cond = other->cond.cond;
    s->var.value = imp_op_like(u->ctx, e, args);
    vec_push(u->ctx, &choice->branch.then.list, s);
    return choice;
}

typedef struct Mention {
    const ImpVar *var;
    int n;
} Mention;

static void mention(void *user, ImpExpr **at)
{
    Mention *m = user;
    m->n += (*at)->kind == IE_VAR && (*at)->var.var == m->var;
}

static bool stmt_sets(ImpStmt *s, const ImpVar *var)
{
    ImpBlock one = {.list = {&s, 1, 1}};
    return block_sets(&one, var);
}

/* x = unit; x = f(x, e)  ->  x = e, where the unit is one for all values. */
static bool begins_with(ImpBlock *block, int i)
{
    ImpStmt *decl = block->list.at[i], *s = i + 1 < block->list.n ? block->list.at[i + 1] : NULL;
    ScalarValue k;
    Never never_is;
    if (decl->kind != IS_DECL || !decl->var.value || !literal_value(decl->var.value, &k) || !s || s->kind != IS_SET || s->var.var != decl->var.var ||
        decl->var.var->slots != 1 || s->var.value->kind != IE_OP || s->var.value->op.n != 2)
        return false;
    const ImpExpr *e = s->var.value;
    int mine = is_register(e->op.args[1], s);
    if (!is_register(e->op.args[mine], s) || is_register(e->op.args[1 - mine], s) || !is_unit(e->op.id, k, &never_is) || never_is != NEVER_COUNT)
        return false;
    Mention m = {s->var.var, 0};
    walk_expr(&s->var.value, mention, &m);
    if (m.n != 1)
        return false;
    decl->var.value = e->op.args[1 - mine];
    block_remove(block, i + 1);
    bool set = false;
    for (int j = i + 1; j < block->list.n; j++)
        set |= stmt_sets(block->list.at[j], decl->var.var);
    decl->var.var->constant = !set;
    return true;
}

/* ---- where nothing happens ------------------------------------------------------------------------------------------------------ */

/* Parts of registers declared among the statements that are looked at, which have a literal where nothing happens. */
typedef struct Part {
    const ImpVar *var;
    int64_t slot;
    ScalarValue value;
} Part;
typedef struct Quiet {
    const Units *units;
    Lowering *lw;
    VEC(Part) parts;
    VEC(const ImpVar *) own; /* those registers */
} Quiet;

static bool works_out(Quiet *q, const ImpExpr *e, ScalarValue *value);

/* Conditions that the facts decide, and parts that have a literal. */
static bool known_part(void *user, const ImpExpr *e, ScalarValue *value)
{
    Quiet *q = user;
    if (e->kind == IE_COND) {
        bool then = cond_is(q->lw, e->cond.cond, true);
        return (then || condition_fails(q->lw, e->cond.cond)) && works_out(q, then ? e->cond.then : e->cond.otherwise, value);
    }
    for (int i = q->parts.n - 1; i >= 0 && e->kind == IE_VAR; i--)
        if (q->parts.at[i].var == e->var.var && nat_is(e->var.slot, q->parts.at[i].slot)) {
            *value = q->parts.at[i].value;
            return true;
        }
    return false;
}

static bool works_out(Quiet *q, const ImpExpr *e, ScalarValue *value) { return literal_expr(e, known_part, q, value); }

/* x = f(x, unit) */
static bool keeps_register(Quiet *q, const ImpStmt *s)
{
    const ImpExpr *e = s->var.value;
    ScalarValue k;
    if (is_register(e, s))
        return true;
    if (e->kind != IE_OP || e->op.n != 2)
        return false;
    int mine = is_register(e->op.args[1], s);
    return is_register(e->op.args[mine], s) && works_out(q, e->op.args[1 - mine], &k) && leaves(q->units, e->op.id, k, s->var.var);
}

static bool is_own(const Quiet *q, const ImpVar *var)
{
    for (int i = 0; i < q->own.n; i++)
        if (q->own.at[i] == var)
            return true;
    return false;
}

/* A vector register of the block's own gets literals. */
static bool sets_quietly(Quiet *q, const ImpStmt *s)
{
    if (s->vec.declares)
        vec_push(q->lw->ctx, &q->own, s->vec.var);
    if (!is_own(q, s->vec.var))
        return false;
    for (int k = 0; k < s->vec.n; k++) {
        ScalarValue value;
        if (!works_out(q, s->vec.values[k], &value))
            return false;
        vec_push(q->lw->ctx, &q->parts, ((Part){s->vec.var, k, value}));
    }
    return true;
}

/* What is declared here is gone after the block. */
static void declares_quietly(Quiet *q, const ImpStmt *s)
{
    ScalarValue value;
    if (s->var.var->vector)
        vec_push(q->lw->ctx, &q->own, s->var.var);
    else if (s->var.var->constant && !s->var.var->nat && s->var.value && works_out(q, s->var.value, &value))
        vec_push(q->lw->ctx, &q->parts, ((Part){s->var.var, 0, value}));
}

/* From number `from` on, those that were declared in a branch are gone. */
static void leave_branch(Quiet *q, int from)
{
    int kept = from;
    for (int i = from; i < q->parts.n; i++)
        if (q->parts.at[i].var->vector)
            q->parts.at[kept++] = q->parts.at[i];
    q->parts.n = kept;
}

static bool quiet(Quiet *q, const ImpBlock *block);

/* What one of two branches sets is known after them only where it is known which. */
static bool quiet_choice(Quiet *q, const ImpStmt *s)
{
    ScalarValue asked;
    bool known = works_out(q, s->branch.cond, &asked);
    bool never = known ? !asked.u : condition_fails(q->lw, s->branch.cond);
    bool always = known ? asked.u : cond_is(q->lw, s->branch.cond, true);
    int parts = q->parts.n;
    bool nothing = (never || quiet(q, &s->branch.then)) && (always || quiet(q, &s->branch.otherwise));
    leave_branch(q, parts);
    return nothing && (never || always || q->parts.n == parts);
}

static bool quiet(Quiet *q, const ImpBlock *block)
{
    bool nothing = true;
    for (int i = 0; i < block->list.n && nothing; i++) {
        const ImpStmt *s = block->list.at[i];
        switch (s->kind) {
        case IS_DECL: declares_quietly(q, s); break;
        case IS_NOTE: case IS_ALLOC: break;
        case IS_SET: nothing = keeps_register(q, s); break;
        case IS_FOR: nothing = quiet(q, &s->loop.body); break;
        case IS_IF: nothing = quiet_choice(q, s); break;
        case IS_VSET: nothing = sets_quietly(q, s); break;
        case IS_STORE: case IS_VLOAD: case IS_VSTORE: case IS_ATOMIC: case IS_TICKET: case IS_GRID_SYNC: case IS_GIVE: case IS_AWAIT: case IS_SERVE: case IS_SYNC:
            nothing = false;
            break;
        }
    }
    return nothing;
}

bool units_nothing(const Units *u, Lowering *lw, const ImpBlock *block)
{
    Quiet q = {.units = u, .lw = lw};
    return quiet(&q, block);
}

/* ---- values that are guarded where they are loaded ------------------------------------------------------------------------------- */

typedef struct Put {
    const ImpVar *var;
    ImpExpr *by;
} Put;

static void put_value(void *user, ImpExpr **at)
{
    const Put *p = user;
    if ((*at)->kind == IE_VAR && (*at)->var.var == p->var)
        *at = p->by;
}

static bool reads(ImpStmt *s, const ImpVar *var)
{
    Mention m = {var, 0};
    walk_stmt(s, mention, &m);
    return m.n > 0;
}

/* Does the assignment change nothing where `var` has this value? */
static bool keeps_with(const Units *u, Lowering *lw, ImpStmt *s, const ImpVar *var, ImpExpr *value)
{
    if (s->kind != IS_SET || s->var.var == var)
        return false;
    ImpStmt *with = imp_copy_stmt(u->ctx, s);
    Put put = {var, value};
    walk_own(with, put_value, &put);
    return keeps_register(&(Quiet){.units = u, .lw = lw}, with);
}

/* const x = c ? e : k; acc = f(acc, g(x)); ...  ->  if (c) { const x = e; acc = f(acc, g(x)); ... }, where acc stays as it is with k for x. */
static ImpStmt *with_its_uses(const Units *u, Lowering *lw, ImpBlock *block, int i, ImpStmt *loop)
{
    ImpStmt *decl = block->list.at[i];
    ImpVar *var = decl->kind == IS_DECL ? decl->var.var : NULL;
    ScalarValue k;
    if (!var || !decl->var.value || decl->var.value->kind != IE_COND || !var->constant || var->nat || !literal_value(decl->var.value->cond.otherwise, &k))
        return NULL;
    int end = i + 1;
    while (end < block->list.n && reads(block->list.at[end], var) && keeps_with(u, lw, block->list.at[end], var, decl->var.value->cond.otherwise))
        end++;
    for (int j = end; j < block->list.n; j++)
        if (reads(block->list.at[j], var))
            return NULL;
    if (end == i + 1 || (loads(decl->var.value->cond.then) && carries(loop, block->list.at[i + 1]->var.var)))
        return NULL;
    ImpStmt *choice = imp_stmt(u->ctx, NULL, IS_IF, decl->span);
    choice->branch.cond = decl->var.value->cond.cond;
    decl->var.value = decl->var.value->cond.then;
    for (int j = i; j < end; j++)
        vec_push(u->ctx, &choice->branch.then.list, block->list.at[j]);
    for (int j = i + 1; j < end; j++)
        block_remove(block, i + 1);
    return choice;
}

/* `loop`: the innermost one around the block, or NULL. */
static void leave_out(const Units *u, Lowering *lw, ImpBlock *block, ImpStmt *loop)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_FOR)
            leave_out(u, lw, &s->loop.body, s);
        if (s->kind == IS_IF) {
            leave_out(u, lw, &s->branch.then, loop);
            leave_out(u, lw, &s->branch.otherwise, loop);
        }
        if (begins_with(block, i)) {
            i--;
            continue;
        }
        ImpStmt *choice = s->kind == IS_SET ? without_unit(u, s, loop) : with_its_uses(u, lw, block, i, loop);
        if (choice)
            block->list.at[i] = choice;
    }
}

void units_leave_out(const Units *u, Lowering *lw, ImpBlock *block) { leave_out(u, lw, block, NULL); }

void pass_units(Lowering *lw)
{
    walk_stmts(&lw->kernel->body, lift_in_stmt, lw->ctx);
    leave_out(units_of(lw), lw, &lw->kernel->body, NULL);
    branches_merge(lw->ctx, &lw->kernel->body);
    registers_forward(lw);
    registers_reuse(lw); /* not before: here, each value is still alone in its register */
}
