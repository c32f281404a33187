/* Pass indices: an index that is spelled out each time hides that it is the same one. It gets a name
 * where a statement and the ones after it use it more than once, and what lies a constant away is
 * told by it. So does the end of a loop that takes a division, which C would compute in each trip.
 *
 *   ys[i*m + j] = xs[i*m + j] + xs[i*m + j + 1]
 *     ->  const int index = i*m + j;  ys[index] = xs[index] + xs[index + 1]
 *
 * Before that, what is worked out from sizes alone (sizes.c) and parts of indices that loops do not
 * change (index_parts.c) get their names, and warp*32 + lane is the thread.
 *
 * Requires: no pass after it looks at what indices are made of. Keeps every value. */
#include "codegen/lowering.h"
#include "codegen/walk.h"

enum { WINDOW = 8 /* statements that a name is worth having for */ };

typedef struct Named {
    Nat nat, by; /* the variable that stands for it */
} Named;

typedef struct Indices {
    Lowering *lw;
    Ctx *ctx;
    VEC(Named) named; /* in scope */
} Indices;

/* The same by a name: its own, or that of one that lies a constant away. NULL: there is none. */
static Nat by_name(const Indices *x, Nat nat)
{
    for (int i = 0; i < x->named.n; i++)
        if (x->named.at[i].nat == nat)
            return x->named.at[i].by;
    for (int i = x->named.n - 1; i >= 0 && nat->kind == NAT_SUM; i--) {
        Nat d = nat_sub(x->ctx, nat, x->named.at[i].nat);
        if (nat_is_const(d))
            return nat_add(x->ctx, x->named.at[i].by, d);
    }
    return NULL;
}

static Nat use_name(void *user, Nat nat)
{
    Nat by = by_name(user, nat);
    return by ? by : nat;
}

ImpStmt *name_nat(Lowering *lw, Nat nat, const char *name, Span span)
{
    Ctx *ctx = lw->ctx;
    ImpVar *var = lower_new_var(lw, name, SC_I32, span);
    NatRange range = nat_range(ctx, lw->kernel->known, nat);
    var->constant = true;
    var->nat = nat_var(ctx, name, range.has_lo ? nat_const(ctx, range.lo) : NULL,
                       range.has_hi ? nat_const(ctx, range.hi) : NULL);
    ImpStmt *decl = imp_stmt(ctx, NULL, IS_DECL, span);
    decl->var.var = var;
    decl->var.value = imp_nat(ctx, nat, SC_I32, span);
    return decl;
}

/* Puts the declaration of a name for the nat before statement *i of the block. */
static void declare(Indices *x, ImpBlock *block, int *i, Nat nat, const char *name)
{
    ImpStmt *decl = name_nat(x->lw, nat, name, block->list.at[*i]->span);
    decl->var.value->nat = use_name(x, nat);
    block_insert(x->ctx, block, (*i)++, decl);
    vec_push(x->ctx, &x->named, ((Named){nat, decl->var.var->nat}));
}

/* ---- which ones are worth it ------------------------------------------------------------------ */

static bool divides(Nat nat)
{
    if (nat->kind == NAT_DIV || nat->kind == NAT_MOD || nat->kind == NAT_LOG2 ||
        nat->kind == NAT_POW)
        return true;
    if ((nat->a && divides(nat->a)) || (nat->b && divides(nat->b)))
        return true;
    for (int i = 0; i < nat->n_terms; i++)
        for (int j = 0; j < nat->terms[i].n_factors; j++)
            if (divides(nat->terms[i].factors[j]))
                return true;
    return false;
}

static bool is_long(Nat nat)
{
    bool multiplies = false;
    for (int i = 0; i < nat->n_terms && nat->n_terms > 1; i++) {
        const NatTerm *t = &nat->terms[i];
        multiplies |= t->n_factors > 0 && (t->n_factors > 1 || t->coef > 1 || t->coef < -1);
    }
    return multiplies || nat->n_terms >= 3 || (nat->has_vars && divides(nat));
}

/* Nothing is computed for it, and it may not even be printed. */
static bool is_silent(const ImpStmt *s) { return s->kind == IS_NOTE || s->kind == IS_ALLOC; }

typedef struct Uses {
    const Indices *indices;
    Nat nat; /* that is counted; NULL: those that are worth a name are listed */
    int n;
    VEC(Nat) list;
} Uses;

static void use_nat(void *user, Nat nat)
{
    Uses *u = user;
    if (!u->nat && is_long(nat))
        vec_push(u->indices->ctx, &u->list, nat);
    u->n += nat == u->nat;
}

static void use_stmt(void *user, ImpStmt *s)
{
    if (s->kind != IS_FOR)
        walk_nats(s, use_nat, user);
}

/* In statement i and the next ones, as far as two. */
static int uses_from(const Indices *x, const ImpBlock *block, int i, Nat nat)
{
    Uses u = {.indices = x, .nat = nat};
    for (int j = i, left = WINDOW; j < block->list.n && left && u.n < 2; j++) {
        ImpStmt *s = block->list.at[j];
        left -= !is_silent(s);
        use_stmt(&u, s);
        if (s->kind == IS_IF)
            walk_stmts(&s->branch.then, use_stmt, &u);
    }
    return u.n;
}

/* Where the statement computes it only under a condition, the name before it would divide by 0 when
 * that does not hold. */
static bool may_be_named(const Indices *x, ImpStmt *s, Nat nat)
{
    Uses always = {.indices = x, .nat = nat};
    walk_nats_always(s, use_nat, &always);
    return always.n > 0 || imp_divides_safely(x->ctx, x->lw->kernel->known, nat);
}

typedef struct Lowest {
    Ctx *ctx;
    Nat nat;
} Lowest;

static void lower(void *user, Nat nat)
{
    Lowest *l = user;
    Nat d = nat->kind == NAT_SUM ? nat_sub(l->ctx, nat, l->nat) : nat_const(l->ctx, 0);
    if (nat_is_const(d) && d->value < 0)
        l->nat = nat;
}

/* The first of those that the statement uses a constant away, so that the others are told as i + 1 and not as i - 1. */
static Nat lowest(const Indices *x, ImpStmt *s, Nat nat)
{
    Lowest l = {x->ctx, nat};
    if (s->kind != IS_FOR)
        walk_nats(s, lower, &l);
    return l.nat;
}

/* 16 / 2^i: how far a step of roll.c reaches. */
static const char *name_of(Nat nat)
{
    bool power = nat->kind == NAT_POW || (nat->kind == NAT_DIV && nat->b->kind == NAT_POW);
    return power ? "distance" : "index";
}

static void name_indices(Indices *x, ImpBlock *block, int *i)
{
    ImpStmt *s = block->list.at[*i];
    Uses own = {.indices = x};
    use_stmt(&own, s);
    for (int k = 0; k < own.list.n; k++) {
        Nat nat = own.list.at[k];
        if (by_name(x, nat) || uses_from(x, block, *i, nat) < 2)
            continue;
        Nat first = lowest(x, s, nat);
        if (may_be_named(x, s, first))
            declare(x, block, i, first, name_of(first));
        else if (may_be_named(x, s, nat))
            declare(x, block, i, nat, name_of(nat));
    }
}

static void name_end(Indices *x, ImpBlock *block, int *i)
{
    const ImpStmt *s = block->list.at[*i];
    PrimId level = s->loop.level;
    if (divides(s->loop.hi) && use_name(x, s->loop.hi) == s->loop.hi)
        declare(x, block, i, s->loop.hi,
                 level == P_mapBlock ? "blocks" : level == P_mapWarp ? "warps" : "end");
}

/* ---- the walk --------------------------------------------------------------------------------- */

/* Does the block print as one statement behind `if (...)`, which leaves no place for a name? */
static bool is_one_line(const ImpBlock *block)
{
    const ImpStmt *s = NULL;
    int n = 0;
    for (int i = 0; i < block->list.n; i++)
        if (!is_silent(block->list.at[i])) {
            s = block->list.at[i];
            n++;
        }
    switch (n == 1 ? s->kind : IS_NOTE) {
    case IS_SET: case IS_STORE: case IS_ATOMIC: case IS_TICKET: case IS_GIVE: case IS_AWAIT:
    case IS_SERVE: case IS_VSTORE: return true;
    case IS_VLOAD: return !s->vec.declares;
    default: return false;
    }
}

/* acc = op(acc, e), where e is short: a choice would have a line of its own. */
static bool is_step(const ImpStmt *s)
{
    const ImpExpr *e = s->kind == IS_SET && s->var.var->slots == 1 ? s->var.value : NULL;
    return e && e->kind == IE_OP && e->op.n == 2 && e->op.args[0]->kind == IE_VAR &&
           e->op.args[0]->var.var == s->var.var && e->op.args[1]->kind != IE_COND;
}

/* A step right behind another one: they print as one, acc = acc + a + b. */
static bool goes_on(const ImpBlock *block, int i)
{
    const ImpStmt *s = block->list.at[i], *last = i ? block->list.at[i - 1] : NULL;
    return last && is_step(s) && is_step(last) && s->var.var == last->var.var &&
           s->var.value->op.id == last->var.value->op.id;
}

static void visit(Indices *x, ImpBlock *block, bool may_name)
{
    int mark = x->named.n;
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (may_name && !goes_on(block, i))
            name_indices(x, block, &i);
        if (s->kind == IS_FOR)
            name_end(x, block, &i);
        map_nats(s, use_name, x);
        if (s->kind == IS_FOR)
            visit(x, &s->loop.body, true);
        if (s->kind == IS_IF) {
            bool both = s->branch.then.list.n && s->branch.otherwise.list.n;
            visit(x, &s->branch.then, both || !is_one_line(&s->branch.then));
            visit(x, &s->branch.otherwise, both || !is_one_line(&s->branch.otherwise));
        }
    }
    x->named.n = mark;
}

/* warp*32 + lane is the thread. */
static Nat nat_to_thread(void *user, Nat nat) { return lanes_to_thread(user, nat); }
static void stmt_to_thread(void *user, ImpStmt *s) { map_nats(s, nat_to_thread, user); }

void pass_indices(Lowering *lw)
{
    Indices x = {.lw = lw, .ctx = lw->ctx};
    if (threads_in_a_row(lw->kernel))
        walk_stmts(&lw->kernel->body, stmt_to_thread, lw);
    name_sizes(lw);
    name_parts(lw);
    visit(&x, &lw->kernel->body, true);
}
