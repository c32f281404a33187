/* Part of pass indices: what of an index a loop does not change is computed before it.
 *
 *   for (i < 8) ... xs[block*1024 + warp*256 + i*32 + lane]  ->  const int base = block*1024 + warp*256 + lane;  for (i < 8) ... xs[base + i*32]
 *
 * Only sums that cost more than a multiplication get a name; they stand as far outside as their variables allow, so that neighbouring loops share
 * them. Loops over blocks and over the grid's threads usually run once, and those of pass roll are written out: they count as no loop. Keeps every value. */
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
        inside |= nat->terms[i].n_factors == 0 || !imp_divides_safely(h->ctx, h->lw->kernel->known, term_nat(h->ctx, &nat->terms[i]));
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
    ImpStmt *decl = name_nat(h->lw, part, "base", first->span);
    Replace r = {ctx, part, decl->var.var->nat};
    ImpBlock rest = stmts_from(level->block, level->at);
    walk_stmts(&rest, replace_stmt, &r);
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
    if (loop->loop.level == P_mapBlock || loop->loop.level == P_mapGlobal || loop->loop.repeats)
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

void name_parts(Lowering *lw)
{
    Hoist h = {.lw = lw, .ctx = lw->ctx};
    hoist_block(&h, &lw->kernel->body, NULL);
}
