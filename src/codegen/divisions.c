/* Pass divisions: what many numbers are divided by is a divisor of its own, by which they are multiplied.
 *
 *   for (j < 8) ys[j] = xs[j] / total    ->  const Reciprocal<double> by_total(total);
 *                                            for (j < 8) ys[j] = xs[j] / by_total
 *
 * A division of doubles takes several times as long as a product with its correction; both round in
 * the same way. For floats it does not, so they have a divisor only where it is the same for the
 * whole launch: it may be a power of two then, and the quotient a product (HELPER(RECIPROCAL)). In imp
 * the divisor is a register that holds the same value, which is marked.
 *
 * A divisor stands before the outermost statement that does not change it. It is worth it where a
 * thread divides doubles twice, or floats four times. A loop whose number of trips is not known counts
 * as one that has a few, and a loop over blocks or over the grid's threads as one that has one. f16
 * and bf16 divide in another way.
 *
 * Requires: nothing; no pass behind it takes copies of registers away. Keeps every value. */
#include <math.h>

#include "codegen/defs.h"
#include "codegen/walk.h"

enum { FEW = 4, ENOUGH_F32 = 4, ENOUGH_F64 = 2, MOST_COUNTED = 1024 };

typedef struct Divisions {
    Lowering *lw;
    Ctx *ctx;
    Defs defs;
    VEC(ImpExpr *) found; /* divisors */
} Divisions;

static bool is_size(const Divisions *d, Nat var)
{
    const CoreEntry *entry = d->lw->kernel->entry;
    for (int i = 0; entry && i < entry->n_sizes; i++)
        if (entry->sizes[i] == var)
            return true;
    return false;
}

typedef struct Parts { /* of a divisor */
    const Divisions *of;
    bool known; /* as part of it: no cell of memory, no choice */
    bool same;  /* for the whole launch: it follows from sizes and inputs that are numbers */
    bool sizes; /* not of literals alone */
} Parts;

static void look_at(void *user, ImpExpr **at);

/* Of a register or a variable of indices. */
static void look_at_value(Parts *p, const void *what)
{
    const Sites *sites = defs_of(&p->of->defs, what);
    ImpStmt *s = sites && sites->at.n == 1 ? sites->at.at[0] : NULL;
    if (s && s->kind == IS_DECL && s->var.value && s->var.var->slots == 1) {
        Parts inside = {p->of, true, true, false};
        walk_expr(&s->var.value, look_at, &inside);
        p->same &= inside.known && inside.same;
        p->sizes |= inside.sizes;
    } else {
        p->same = false;
    }
}

static void look_at_var(void *user, Nat var)
{
    Parts *p = user;
    p->sizes = true;
    if (!is_size(p->of, var))
        look_at_value(p, var);
}

static void look_at(void *user, ImpExpr **at)
{
    Parts *p = user;
    const ImpExpr *e = *at;
    const bool input = imp_is_parameter(e);
    p->known &= input || (e->kind != IE_LOAD && e->kind != IE_SHFL && e->kind != IE_COND);
    p->sizes |= input;
    if (e->kind == IE_VAR)
        look_at_value(p, e->var.var);
    if (e->kind == IE_NAT)
        nat_each_var(p->of->ctx, e->nat, look_at_var, p);
}

/* CUDA's compiler multiplies by the reciprocal of such a literal by itself. */
static bool is_power_of_two(const ImpExpr *e)
{
    int exponent;
    return e->kind == IE_LIT && fabs(frexp(e->lit.f, &exponent)) == 0.5;
}

/* A float is divided by a number that is often a power of two: one that follows from sizes. */
static ImpExpr *divisor_of(const Divisions *d, const ImpExpr *e)
{
    if (e->kind != IE_OP || e->op.id != P_div || (e->type != SC_F32 && e->type != SC_F64))
        return NULL;
    ImpExpr *by = e->op.args[1];
    Parts p = {d, true, true, false};
    walk_expr(&by, look_at, &p);
    if (!p.known || is_power_of_two(by) || (by->kind == IE_VAR && by->var.var->divides))
        return NULL;
    return e->type == SC_F64 || (p.same && p.sizes) ? by : NULL;
}

static void find_divisor(void *user, ImpExpr **at)
{
    Divisions *d = user;
    ImpExpr *by = divisor_of(d, *at);
    for (int i = 0; by && i < d->found.n; i++)
        if (imp_same_value(by, d->found.at[i]))
            return;
    if (by)
        vec_push(d->ctx, &d->found, by);
}

typedef struct Uses {
    Divisions *of;
    ImpExpr *value;
    ImpVar *by; /* or NULL: only count */
    int trips, times;
} Uses;

static void use(void *user, ImpExpr **at)
{
    Uses *u = user;
    ImpExpr *by = divisor_of(u->of, *at);
    if (!by || !imp_same_value(by, u->value))
        return;
    u->times += u->trips;
    if (u->by)
        (*at)->op.args[1] = imp_var(u->of->ctx, u->by, nat_const(u->of->ctx, 0), u->value->span);
}

static int trips_of(const ImpStmt *loop)
{
    if (nat_is_const(loop->loop.lo) && nat_is_const(loop->loop.hi) && nat_is_const(loop->loop.step)) {
        int64_t trips = div_up(loop->loop.hi->value - loop->loop.lo->value, loop->loop.step->value);
        return trips > MOST_COUNTED ? MOST_COUNTED : trips < 0 ? 0 : (int)trips;
    }
    return is_parallel_map(loop->loop.level) ? 1 : FEW;
}

static void uses_in(Uses *u, ImpStmt *s)
{
    walk_own(s, use, u);
    const int trips = u->trips;
    if (s->kind == IS_FOR)
        u->trips = trips * trips_of(s) > MOST_COUNTED ? MOST_COUNTED : trips * trips_of(s);
    ImpBlock *inner[] = {s->kind == IS_FOR ? &s->loop.body : s->kind == IS_IF ? &s->branch.then : NULL, s->kind == IS_IF ? &s->branch.otherwise : NULL};
    for (int k = 0; k < 2; k++)
        for (int i = 0; inner[k] && i < inner[k]->list.n; i++)
            uses_in(u, inner[k]->list.at[i]);
    u->trips = trips;
}

/* In statement i and the next ones, as far as it keeps: tells them by the register, or counts. */
static int uses_from(Divisions *d, const ImpBlock *block, int i, ImpExpr *value, ImpVar *by)
{
    Uses u = {d, value, by, 1, 0};
    for (; i < block->list.n && !defs_change(&d->defs, value, block->list.at[i]); i++)
        uses_in(&u, block->list.at[i]);
    return u.times;
}

static ImpStmt *declaration(Divisions *d, ImpExpr *value)
{
    const char *name = value->kind == IE_VAR ? ctx_printf(d->ctx, "by_%s", value->var.var->name) : "by";
    ImpVar *var = lower_new_var(d->lw, name, value->type, value->span);
    var->constant = var->divides = true;
    ImpStmt *s = imp_stmt(d->ctx, NULL, IS_DECL, value->span);
    s->var.var = var;
    s->var.slot = nat_const(d->ctx, 0);
    s->var.value = imp_copy_expr(d->ctx, value);
    return s;
}

static void divide(Divisions *d, ImpBlock *block, ImpStmt *around)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        d->found.n = 0;
        walk_stmt(s, find_divisor, d);
        for (int k = 0; k < d->found.n; k++) {
            ImpExpr *value = d->found.at[k];
            if (uses_from(d, block, i, value, NULL) < (value->type == SC_F64 ? ENOUGH_F64 : ENOUGH_F32))
                continue;
            ImpStmt *new = declaration(d, value);
            uses_from(d, block, i, new->var.value, new->var.var);
            block_insert(d->ctx, block, i++, new);
            defs_note_stmt(&d->defs, new, around);
        }
        if (s->kind == IS_FOR)
            divide(d, &s->loop.body, s);
        if (s->kind == IS_IF) {
            divide(d, &s->branch.then, s);
            divide(d, &s->branch.otherwise, s);
        }
    }
}

void pass_divisions(Lowering *lw)
{
    Divisions d = {.lw = lw, .ctx = lw->ctx, .defs = {.ctx = lw->ctx}};
    defs_note(&d.defs, &lw->kernel->body, NULL);
    divide(&d, &lw->kernel->body, NULL);
}
