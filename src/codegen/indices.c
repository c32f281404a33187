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
#include "codegen/indices.h"
#include "codegen/walk.h"

enum { WINDOW = 8 /* statements that a name is worth having for */ };

typedef struct Level { /* a list of statements around the place */
    ImpBlock *block;
    int at;              /* the statement that is being looked at */
    const ImpStmt *loop; /* the loop whose body it is, or NULL */
} Level;

typedef struct Indices {
    Lowering *lw;
    Ctx *ctx;
    VEC(Level) levels; /* outermost first */
    Nats sizes;        /* of the entry, and names of what is worked out from these */
} Indices;

/* ---- names ------------------------------------------------------------------------------------ */

int nat_cost(Nat nat)
{
    int cost = 0;
    if (nat->kind == NAT_DIV || nat->kind == NAT_MOD || nat->kind == NAT_LOG2 || nat->kind == NAT_POW)
        cost += DIVISION_COST;
    if (nat->a)
        cost += nat_cost(nat->a);
    if (nat->b)
        cost += nat_cost(nat->b);
    for (int i = 0; i < nat->n_terms; i++) {
        const NatTerm *t = &nat->terms[i];
        cost += (i > 0) + (t->n_factors > 0 ? t->n_factors - (t->coef == 1 || t->coef == -1) : 0);
        for (int k = 0; k < t->n_factors; k++)
            cost += nat_cost(t->factors[k]);
    }
    return cost;
}

static bool has_term(Nat nat, int64_t coef, int n_factors, const Nat *factors)
{
    for (int i = 0; i < nat->n_terms; i++) {
        const NatTerm *t = &nat->terms[i];
        if (t->coef == coef && t->n_factors == n_factors &&
            memcmp(t->factors, factors, sizeof *factors * (size_t)n_factors) == 0)
            return true;
    }
    return false;
}

/* Where all terms of `named` are there. */
static Nat told_by_part(void *user, Nat nat, Nat named, Nat by)
{
    if (nat == named)
        return by;
    if (nat->kind != NAT_SUM || (named->kind != NAT_SUM && !has_term(nat, 1, 1, &named)))
        return nat;
    for (int i = 0; named->kind == NAT_SUM && i < named->n_terms; i++) {
        const NatTerm *t = &named->terms[i];
        if (!has_term(nat, t->coef, t->n_factors, t->factors))
            return nat;
    }
    return nat_add(user, nat_sub(user, nat, named), by);
}

/* And a constant away. */
static Nat told_by_index(void *user, Nat nat, Nat named, Nat by)
{
    Nat rest = nat_sub(user, nat, named);
    bool near = nat == named || (nat->kind == NAT_SUM && nat_is_const(rest));
    return near ? nat_add(user, by, rest) : nat;
}

typedef struct Replace {
    ToldBy told;
    void *user;
    Nat nat, by;
} Replace;

static Nat replace_nat(void *user, Nat nat)
{
    const Replace *r = user;
    return r->told(r->user, nat, r->nat, r->by);
}

static void replace_stmt(void *user, ImpStmt *s) { map_nats(s, replace_nat, user); }

Nat name_nat(Lowering *lw, ImpBlock *block, int at, Nat nat, const char *name, ToldBy told, void *user)
{
    Ctx *ctx = lw->ctx;
    Span span = block->list.at[at]->span;
    ImpVar *var = lower_new_var(lw, name, SC_I32, span);
    NatRange range = nat_range(ctx, lw->kernel->known, nat);
    var->constant = true;
    var->nat = nat_var(ctx, name, range.has_lo ? nat_const(ctx, range.lo) : NULL,
                       range.has_hi ? nat_const(ctx, range.hi) : NULL);
    Replace r = {told, user, nat, var->nat};
    ImpBlock rest = stmts_from(block, at);
    walk_stmts(&rest, replace_stmt, &r);
    ImpStmt *decl = imp_stmt(ctx, NULL, IS_DECL, span);
    decl->var.var = var;
    decl->var.value = imp_nat(ctx, nat, SC_I32, span);
    block_insert(ctx, block, at, decl);
    return var->nat;
}

/* Before the statement of a list around the place that is being looked at. */
static void name_at(Indices *x, int level, Nat nat, const char *name, ToldBy told)
{
    Level *l = &x->levels.at[level];
    const bool size = is_of_sizes(x->ctx, &x->sizes, nat);
    Nat by = name_nat(x->lw, l->block, l->at++, nat, name, told, x->ctx);
    if (size)
        vec_push(x->ctx, &x->sizes, by);
}

/* ---- parts before loops ------------------------------------------------------------------------ */

/* Does the list give a value to a variable of the nat, before the place? */
static bool declares(const Level *l, Nat nat)
{
    if (l->loop && nat_mentions(nat, l->loop->loop.var))
        return true;
    for (int i = 0; i < l->at; i++) {
        const ImpStmt *s = l->block->list.at[i];
        if (s->kind == IS_DECL && s->var.var->nat && nat_mentions(nat, s->var.var->nat))
            return true;
    }
    return false;
}

typedef struct Count {
    Nat nat;
    bool ends; /* it is how far something goes, and not where it begins */
} Count;

static void compares_count(void *user, ImpExpr **at)
{
    Count *c = user;
    const ImpExpr *e = *at;
    for (int k = 0; e->kind == IE_OP && prim_compares(e->op.id) && k < e->op.n; k++)
        c->ends |= e->op.args[k]->kind == IE_NAT && e->op.args[k]->nat == c->nat;
}

static void ends_at_count(void *user, ImpStmt *s)
{
    Count *c = user;
    c->ends |= s->kind == IS_FOR && s->loop.hi == c->nat;
    walk_own(s, compares_count, user);
}

/* Sizes alone may say where a part of an array begins, or how much there is. */
static const char *part_name(const Indices *x, const Level *l, Nat part)
{
    Count count = {part, false};
    ImpBlock rest = stmts_from(l->block, l->at);
    if (is_of_sizes(x->ctx, &x->sizes, part))
        walk_stmts(&rest, ends_at_count, &count);
    return count.ends ? "size" : "base";
}

/* In the outermost list where their variables have values, so that neighbouring loops share them. */
static void name_parts(Indices *x, ImpStmt *loop)
{
    for (Nat part; (part = part_before_loop(x->lw, loop));) {
        int level = x->levels.n - 1;
        while (level > 0 && !declares(&x->levels.at[level], part))
            level--;
        name_at(x, level, part, part_name(x, &x->levels.at[level], part), told_by_part);
    }
}

/* ---- which indices are worth it --------------------------------------------------------------- */

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
    if (!u->nat && nat_cost(nat) >= WORTH_A_NAME)
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

static void lower_stmt(void *user, ImpStmt *s) { walk_nats(s, lower, user); }

/* The first of those that the statement, or one in its branches, uses a constant away, so that the
 * others are told as i + 1 and not as i - 1. */
static Nat lowest(const Indices *x, ImpStmt *s, Nat nat)
{
    Lowest l = {x->ctx, nat};
    ImpBlock one = {.list = {&s, 1, 1}};
    if (s->kind != IS_FOR)
        walk_stmts(&one, lower_stmt, &l);
    return l.nat;
}

/* 16 / 2^i: how far a step of roll.c reaches. */
static const char *name_of(const Indices *x, Nat nat)
{
    bool power = nat->kind == NAT_POW || (nat->kind == NAT_DIV && nat->b->kind == NAT_POW);
    if (power || !is_of_sizes(x->ctx, &x->sizes, nat))
        return power ? "distance" : "index";
    return nat->kind == NAT_MOD ? "rest" : "size";
}

static void name_indices(Indices *x, ImpStmt *s)
{
    int level = x->levels.n - 1;
    const Level *l = &x->levels.at[level];
    Uses own = {.indices = x};
    use_stmt(&own, s);
    for (int k = 0; k < own.list.n; k++) {
        Nat nat = own.list.at[k];
        if (uses_from(x, l->block, l->at, nat) < 2) /* or they have a name by now */
            continue;
        Nat first = lowest(x, s, nat);
        if (may_be_named(x, s, first))
            name_at(x, level, first, name_of(x, first), told_by_index);
        else if (may_be_named(x, s, nat))
            name_at(x, level, nat, name_of(x, nat), told_by_index);
    }
}

static void name_end(Indices *x, const ImpStmt *s)
{
    PrimId level = s->loop.level;
    if (nat_cost(s->loop.hi) >= DIVISION_COST)
        name_at(x, x->levels.n - 1, s->loop.hi,
                level == P_mapBlock ? "blocks" : level == P_mapWarp ? "warps" : "end", told_by_index);
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

static void visit(Indices *x, ImpBlock *block, const ImpStmt *loop, bool may_name)
{
    int mine = x->levels.n;
    vec_push(x->ctx, &x->levels, ((Level){block, 0, loop}));
    for (; x->levels.at[mine].at < block->list.n; x->levels.at[mine].at++) {
        ImpStmt *s = block->list.at[x->levels.at[mine].at];
        if (may_name && !goes_on(block, x->levels.at[mine].at))
            name_indices(x, s);
        if (s->kind == IS_FOR) {
            name_parts(x, s);
            name_end(x, s);
            visit(x, &s->loop.body, s, true);
        }
        if (s->kind == IS_IF) {
            bool both = s->branch.then.list.n && s->branch.otherwise.list.n;
            visit(x, &s->branch.then, NULL, both || !is_one_line(&s->branch.then));
            visit(x, &s->branch.otherwise, NULL, both || !is_one_line(&s->branch.otherwise));
        }
    }
    x->levels.n--;
}

/* warp*32 + lane is the thread. */
static Nat nat_to_thread(void *user, Nat nat) { return lanes_to_thread(user, nat); }
static void stmt_to_thread(void *user, ImpStmt *s) { map_nats(s, nat_to_thread, user); }

void pass_indices(Lowering *lw)
{
    Indices x = {.lw = lw, .ctx = lw->ctx};
    if (threads_in_a_row(lw->kernel))
        walk_stmts(&lw->kernel->body, stmt_to_thread, lw);
    name_sizes(lw, &x.sizes);
    visit(&x, &lw->kernel->body, NULL, true);
}
