/* Pass hoist: the part of an index that a loop does not change is computed before it.
 *
 *   for (i < 8) ... xs[block*1024 + warp*256 + i*32 + lane]  ->  const int base = block*1024 + warp*256 + lane;  for (i < 8) ... xs[base + i*32]
 *
 *   warp*32 + lane  ->  thread
 *   blocks = min(ceilDiv(n, 8192), 4*numSM) in several places  ->  const int blocks = ...;  at the top
 *
 * Only sums that cost more than a multiplication get a name; they stand as far outside as their variables allow, so that neighbouring loops share
 * them. Loops over blocks and over the grid's threads usually run once: they count as no loop. Keeps every value. */
#include "codegen/lowering.h"
#include "codegen/walk.h"

enum { MIN_COST = 2, /* additions and multiplications that a name saves in each trip */ DIVISION_COST = 4 };

typedef struct Level { /* a list of statements around the place */
    ImpBlock *block;
    int at;            /* the statement that is being looked at */
    const ImpStmt *loop; /* the loop whose body it is, or NULL */
} Level;

typedef struct Hoist {
    Lowering *lw;
    Ctx *ctx;
    VEC(Level) levels; /* outermost first */
    VEC(Nat) inner;    /* variables that the loop changes */
} Hoist;

/* ---- what an index part costs --------------------------------------------------------------------------------------------- */

static int cost_of(Nat nat);

static int term_cost(const NatTerm *t)
{
    int cost = t->n_factors > 0 ? t->n_factors - (t->coef == 1 || t->coef == -1) : 0;
    for (int k = 0; k < t->n_factors; k++)
        cost += cost_of(t->factors[k]);
    return cost;
}

static int cost_of(Nat nat)
{
    int cost = 0;
    if (nat->kind == NAT_DIV || nat->kind == NAT_MOD)
        cost += DIVISION_COST;
    if (nat->a)
        cost += cost_of(nat->a);
    if (nat->b)
        cost += cost_of(nat->b);
    for (int i = 0; i < nat->n_terms; i++)
        cost += term_cost(&nat->terms[i]) + (i > 0);
    return cost;
}

static Nat term_nat(Ctx *ctx, const NatTerm *t)
{
    Nat product = nat_const(ctx, t->coef);
    for (int k = 0; k < t->n_factors; k++)
        product = nat_mul(ctx, product, t->factors[k]);
    return product;
}

/* Outside the loop, which may be empty, a divisor that only its trips keep from 0 might be 0. */
static bool divides_safely(const Hoist *h, Nat nat)
{
    bool divides = nat->kind == NAT_DIV || nat->kind == NAT_MOD;
    if (divides && !nat_is_const(nat->b) && !nat_le(h->ctx, h->lw->kernel->known, nat_const(h->ctx, 1), nat->b))
        return false;
    bool safe = (!nat->a || divides_safely(h, nat->a)) && (!nat->b || divides_safely(h, nat->b));
    for (int i = 0; i < nat->n_terms; i++)
        for (int k = 0; k < nat->terms[i].n_factors; k++)
            safe = safe && divides_safely(h, nat->terms[i].factors[k]);
    return safe;
}

/* The terms of an index that the loop does not change, without the constant; NULL when nothing else is left or it is not worth a name. */
static Nat fixed_part(Hoist *h, Nat nat)
{
    Nat part = nat_const(h->ctx, 0);
    bool varies = false;
    for (int i = 0; i < nat->n_terms; i++) {
        bool inside = nat->terms[i].n_factors == 0;
        for (int k = 0; k < nat->terms[i].n_factors && !inside; k++)
            for (int v = 0; v < h->inner.n && !inside; v++)
                inside = varies |= nat_mentions(nat->terms[i].factors[k], h->inner.at[v]);
        inside |= nat->terms[i].n_factors == 0 || !divides_safely(h, term_nat(h->ctx, &nat->terms[i]));
        if (!inside)
            part = nat_add(h->ctx, part, term_nat(h->ctx, &nat->terms[i]));
    }
    return varies && cost_of(part) >= MIN_COST ? part : NULL;
}

/* ---- giving it a name -------------------------------------------------------------------------------------------------------- */

/* nat with `part` replaced, where all terms of it are there. */
static Nat replace_part(Ctx *ctx, Nat nat, Nat part, Nat by)
{
    int found = 0, terms = part->kind == NAT_SUM ? part->n_terms : 1; /* a bare atom is a term of its own */
    for (int i = 0; i < terms; i++) {
        Nat want = part->kind == NAT_SUM ? term_nat(ctx, &part->terms[i]) : part;
        for (int j = 0; j < nat->n_terms; j++)
            found += term_nat(ctx, &nat->terms[j]) == want;
    }
    return found == terms ? nat_add(ctx, nat_sub(ctx, nat, part), by) : nat;
}

typedef struct Replace {
    Ctx *ctx;
    Nat part, by;
} Replace;

static Nat replace_nat(void *user, Nat nat)
{
    const Replace *r = user;
    return replace_part(r->ctx, nat, r->part, r->by);
}

static void replace_stmt(void *user, ImpStmt *s) { map_nats(s, replace_nat, user); }

static bool declares(const ImpBlock *block, int before, Nat nat)
{
    for (int i = 0; i < before; i++)
        if (block->list.at[i]->kind == IS_DECL && block->list.at[i]->var.var->nat && nat_mentions(nat, block->list.at[i]->var.var->nat))
            return true;
    return false;
}

/* Declares the part in the outermost list where its variables have values, and uses it from there on. */
static void name_part(Hoist *h, Nat part)
{
    Ctx *ctx = h->ctx;
    int k = h->levels.n - 1;
    while (k > 0 && !declares(h->levels.at[k].block, h->levels.at[k].at, part) &&
           !(h->levels.at[k].loop && nat_mentions(part, h->levels.at[k].loop->loop.var)))
        k--;
    Level *level = &h->levels.at[k];
    ImpStmt *first = level->block->list.at[level->at];
    bool positive = nat_le(ctx, h->lw->entry->known, nat_const(ctx, 0), part);
    ImpVar *var = lower_new_var(h->lw, "base", SC_I32, first->span);
    var->constant = true;
    var->nat = nat_var(ctx, "base", positive ? nat_const(ctx, 0) : NULL, NULL);
    Replace r = {ctx, part, var->nat};
    ImpBlock rest = {.list = {level->block->list.at + level->at, level->block->list.n - level->at, 0}};
    walk_stmts(&rest, replace_stmt, &r);
    ImpStmt *decl = imp_stmt(ctx, NULL, IS_DECL, first->span);
    decl->var.var = var;
    decl->var.value = imp_nat(ctx, part, SC_I32, first->span);
    block_insert(ctx, level->block, level->at++, decl);
}

/* ---- the walk ------------------------------------------------------------------------------------------------------------------ */

static void inner_var(void *user, ImpStmt *s)
{
    Hoist *h = user;
    if (s->kind == IS_FOR)
        vec_push(h->ctx, &h->inner, s->loop.var);
    if (s->kind == IS_DECL && s->var.var->nat)
        vec_push(h->ctx, &h->inner, s->var.var->nat);
}

typedef struct Find {
    Hoist *hoist;
    Nat part;
} Find;

static void find_in_expr(void *user, ImpExpr **at)
{
    Find *f = user;
    if (!f->part && (*at)->kind == IE_LOAD)
        f->part = fixed_part(f->hoist, (*at)->mem.index);
}

static void find_part(void *user, ImpStmt *s)
{
    Find *f = user;
    walk_own(s, find_in_expr, f);
    if (!f->part && s->kind == IS_STORE)
        f->part = fixed_part(f->hoist, s->store.index);
    if (!f->part && (s->kind == IS_VLOAD || s->kind == IS_VSTORE))
        f->part = fixed_part(f->hoist, s->vec.index);
}

static void hoist_from(Hoist *h, ImpStmt *loop)
{
    if (loop->loop.level == P_mapBlock || loop->loop.level == P_mapGlobal)
        return;
    for (;;) {
        h->inner.n = 0;
        vec_push(h->ctx, &h->inner, loop->loop.var);
        walk_stmts(&loop->loop.body, inner_var, h);
        Find find = {h, NULL};
        walk_stmts(&loop->loop.body, find_part, &find);
        if (!find.part)
            return;
        name_part(h, find.part);
    }
}

static void hoist_block(Hoist *h, ImpBlock *block, const ImpStmt *loop)
{
    vec_push(h->ctx, &h->levels, ((Level){block, 0, loop}));
    int mine = h->levels.n - 1;
    for (; h->levels.at[mine].at < block->list.n; h->levels.at[mine].at++) {
        ImpStmt *s = block->list.at[h->levels.at[mine].at];
        if (s->kind == IS_FOR) {
            hoist_from(h, s);
            hoist_block(h, &s->loop.body, s);
        }
        if (s->kind == IS_IF) {
            hoist_block(h, &s->branch.then, NULL);
            hoist_block(h, &s->branch.otherwise, NULL);
        }
    }
    h->levels.n--;
}

/* ---- warp*32 + lane is the thread ---------------------------------------------------------------------------------------------- */

static Nat nat_to_thread(void *user, Nat nat) { return lanes_to_thread(user, nat); }
static void stmt_to_thread(void *user, ImpStmt *s) { map_nats(s, nat_to_thread, user); }

/* ---- sizes that the kernel works out --------------------------------------------------------------------------------------------- */

typedef struct Sizes {
    Lowering *lw;
    Nat found; /* the one that is looked for, or the first that is seen */
    int uses;
    VEC(Nat) once; /* not worth a name */
} Sizes;

typedef struct OtherVars {
    const CoreEntry *entry;
    bool found; /* a variable that is no size */
} OtherVars;

static void find_other(void *user, Nat var)
{
    OtherVars *o = user;
    bool size = imp_is_device_size(var);
    for (int i = 0; i < o->entry->n_sizes; i++)
        size |= o->entry->sizes[i] == var;
    o->found |= !size;
}

/* min, max and divisions by sizes, over sizes alone. */
static bool is_worked_out(Lowering *lw, Nat nat)
{
    bool divides = (nat->kind == NAT_DIV || nat->kind == NAT_MOD) && !nat_is_const(nat->b);
    if (!divides && nat->kind != NAT_MIN && nat->kind != NAT_MAX)
        return false;
    const Hoist h = {.lw = lw, .ctx = lw->ctx};
    if (!divides_safely(&h, nat))
        return false;
    OtherVars others = {lw->entry, false};
    nat_each_var(lw->ctx, nat, find_other, &others);
    return !others.found;
}

static void count_size(Sizes *z, Nat nat)
{
    if (!nat || (z->found && !nat_mentions(nat, z->found)))
        return;
    bool once = false;
    for (int i = 0; i < z->once.n; i++)
        once |= z->once.at[i] == nat;
    if (!z->found && !once && is_worked_out(z->lw, nat))
        z->found = nat;
    if (nat == z->found) {
        z->uses++;
        return;
    }
    count_size(z, nat->a);
    count_size(z, nat->b);
    for (int i = 0; i < nat->n_terms; i++)
        for (int k = 0; k < nat->terms[i].n_factors; k++)
            count_size(z, nat->terms[i].factors[k]);
}

static void count_nat(void *user, Nat nat) { count_size(user, nat); }
static void count_stmt(void *user, ImpStmt *s) { walk_nats(s, count_nat, user); }

static Nat subst_nat(void *user, Nat nat)
{
    const Replace *r = user;
    return nat_subst(r->ctx, nat, r->part, r->by);
}

static void subst_stmt(void *user, ImpStmt *s) { map_nats(s, subst_nat, user); }

static bool is_extent(ImpBlock *block, Nat nat)
{
    bool found = false;
    for (int i = 0; i < block->list.n && !found; i++) {
        ImpStmt *s = block->list.at[i];
        found = s->kind == IS_FOR && ((s->loop.level == P_mapBlock && s->loop.hi == nat) || is_extent(&s->loop.body, nat));
    }
    return found;
}

static void name_sizes(Lowering *lw)
{
    Ctx *ctx = lw->ctx;
    ImpBlock *body = &lw->kernel->body;
    Sizes z = {.lw = lw};
    for (int i = 0; i < body->list.n; i++) {
        ImpBlock one = {.list = {body->list.at + i, 1, 0}}, rest = {.list = {body->list.at + i, body->list.n - i, 0}};
        z.found = NULL;
        walk_stmts(&one, count_stmt, &z);
        if (!z.found)
            continue;
        z.uses = 0;
        walk_stmts(&rest, count_stmt, &z);
        if (z.uses < 2) {
            vec_push(ctx, &z.once, z.found);
            i--;
            continue;
        }
        Span span = body->list.at[i]->span;
        ImpVar *var = lower_new_var(lw, is_extent(&rest, z.found) ? "blocks" : "size", SC_I32, span);
        var->constant = true;
        NatRange range = nat_range(ctx, lw->kernel->known, z.found);
        var->nat = nat_var(ctx, var->name, range.has_lo ? nat_const(ctx, range.lo) : NULL, range.has_hi ? nat_const(ctx, range.hi) : NULL);
        Replace r = {ctx, z.found, var->nat};
        walk_stmts(&rest, subst_stmt, &r);
        ImpStmt *decl = imp_stmt(ctx, NULL, IS_DECL, span);
        decl->var.var = var;
        decl->var.value = imp_nat(ctx, z.found, SC_I32, span);
        block_insert(ctx, body, i, decl); /* then the statement again: it may work out others */
    }
}

void pass_hoist(Lowering *lw)
{
    Hoist h = {.lw = lw, .ctx = lw->ctx};
    if (threads_in_a_row(lw->kernel))
        walk_stmts(&lw->kernel->body, stmt_to_thread, lw);
    name_sizes(lw);
    hoist_block(&h, &lw->kernel->body, NULL);
}
