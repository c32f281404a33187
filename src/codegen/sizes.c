/* Part of pass indices: what a kernel works out from sizes and blocks alone gets a name where it is needed more than once.
 *
 *   min(ceilDiv(n, 8192), 4*numSM) in several places  ->  const int blocks = ...;  at the top
 *   (n + 2047) / 2048 ... (n + 2047) / 524288         ->  const int blocks = (n + 2047) / 2048; ... blocks / 256
 *
 * Keeps every value. The names stand before the first statement that needs them, in the kernel's outermost list, or in the body of the loop over blocks. */
#include "codegen/indices.h"
#include "codegen/walk.h"

typedef struct Sizes {
    Lowering *lw;
    Ctx *ctx;
    Nats named; /* variables that stand for sizes: the entry's, the device's, and what got a name here */
    VEC(Nat) once;  /* not worth a name */
    VEC(Nat) blocks; /* how far the loops over blocks go: better spelled out by themselves */
    bool of_blocks; /* `named` has the numbers of blocks, too */
    bool quotients; /* look for a / c with a constant c; else for all other work */
    Nat found;      /* the one that is looked for, or the first that is seen */
    int uses;
} Sizes;

typedef struct OtherVars {
    const Nats *sizes;
    bool found; /* a variable that is no size */
} OtherVars;

static void find_other(void *user, Nat var)
{
    OtherVars *o = user;
    bool size = imp_is_device_size(var);
    for (int i = 0; i < o->sizes->n; i++)
        size |= o->sizes->at[i] == var;
    o->found |= !size;
}

bool is_of_sizes(Ctx *ctx, const Nats *sizes, Nat nat)
{
    OtherVars others = {sizes, false};
    nat_each_var(ctx, nat, find_other, &others);
    return !others.found;
}

static bool is_quotient(Nat nat) { return nat->kind == NAT_DIV && nat_is_const(nat->b) && nat->a->has_vars; }

/* Is it work worth a name: min, max, a division by a size; or a / c? */
static bool is_worked_out(const Sizes *z, Nat nat)
{
    bool divides = (nat->kind == NAT_DIV || nat->kind == NAT_MOD) && !nat_is_const(nat->b);
    if (z->quotients ? !is_quotient(nat) : !divides && nat->kind != NAT_MIN && nat->kind != NAT_MAX)
        return false;
    return imp_divides_safely(z->ctx, z->lw->kernel->known, nat) && is_of_sizes(z->ctx, &z->named, nat);
}

/* The value of `nat` by a name `by` for `size`; NULL where there is no such: (a + k*c) / (c*m) = (a / c + k) / m. */
static Nat in_terms_of(const Sizes *z, Nat nat, Nat size, Nat by)
{
    Ctx *ctx = z->ctx;
    if (nat == size)
        return by;
    for (int i = 0; i < z->blocks.n; i++)
        if (z->blocks.at[i] == nat)
            return NULL;
    if (!is_quotient(size) || !is_quotient(nat) || nat->b->value % size->b->value)
        return NULL;
    Nat rest = nat_sub(ctx, nat->a, size->a);
    if (!nat_is_const(rest) || rest->value % size->b->value)
        return NULL;
    return nat_div(ctx, nat_add_k(ctx, by, rest->value / size->b->value), nat_const(ctx, nat->b->value / size->b->value));
}

static void count_size(Sizes *z, Nat nat)
{
    if (!nat || !nat->has_vars)
        return;
    bool once = false;
    for (int i = 0; i < z->once.n; i++)
        once |= z->once.at[i] == nat;
    if (!z->found && !once && is_worked_out(z, nat))
        z->found = nat;
    if (z->found && in_terms_of(z, nat, z->found, z->found)) {
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

static int uses_in(Sizes *z, ImpBlock *block, Nat nat)
{
    z->found = nat;
    z->uses = 0;
    walk_stmts(block, count_stmt, z);
    return z->uses;
}

/* Of the quotients that `nat` can be worked out from, the one with the smallest divisor. */
typedef struct Family {
    const Sizes *sizes;
    Nat nat, least;
} Family;

static void find_least(Family *f, Nat nat)
{
    if (!nat || !nat->has_vars)
        return;
    Nat value = is_quotient(nat) && nat->b->value < f->least->b->value && is_worked_out(f->sizes, nat) ? in_terms_of(f->sizes, f->nat, nat, nat) : NULL;
    if (value && !nat_is_error(value))
        f->least = nat;
    find_least(f, nat->a);
    find_least(f, nat->b);
    for (int i = 0; i < nat->n_terms; i++)
        for (int k = 0; k < nat->terms[i].n_factors; k++)
            find_least(f, nat->terms[i].factors[k]);
}

static void least_nat(void *user, Nat nat) { find_least(user, nat); }
static void least_stmt(void *user, ImpStmt *s) { walk_nats(s, least_nat, user); }

/* ---- giving it a name ------------------------------------------------------------------------------------------------------------ */

typedef struct Told {
    const Sizes *sizes;
    Nat size, by;
    VEC(Nat) from, to;
} Told;

/* Notes what is to be replaced in `nat`. */
static void note_parts(Told *t, Nat nat)
{
    if (!nat || !nat->has_vars)
        return;
    Nat value = in_terms_of(t->sizes, nat, t->size, t->by);
    if (value) {
        for (int i = 0; i < t->from.n; i++)
            if (t->from.at[i] == nat)
                return;
        vec_push(t->sizes->ctx, &t->from, nat);
        vec_push(t->sizes->ctx, &t->to, value);
        return;
    }
    note_parts(t, nat->a);
    note_parts(t, nat->b);
    for (int i = 0; i < nat->n_terms; i++)
        for (int k = 0; k < nat->terms[i].n_factors; k++)
            note_parts(t, nat->terms[i].factors[k]);
}

static Nat size_told_by(void *user, Nat nat, Nat size, Nat by)
{
    Told t = {.sizes = user, .size = size, .by = by};
    note_parts(&t, nat);
    for (int i = 0; i < t.from.n; i++)
        nat = nat == t.from.at[i] ? t.to.at[i] : nat_subst(t.sizes->ctx, nat, t.from.at[i], t.to.at[i]);
    return nat;
}

/* The loop that goes as far. */
typedef struct Extent {
    Ctx *ctx;
    Nat nat;
    const ImpStmt *loop;
} Extent;

static void find_loop(void *user, ImpStmt *s)
{
    Extent *of = user;
    bool as_far = s->kind == IS_FOR && (s->loop.hi == of->nat || s->loop.hi == nat_add(of->ctx, of->nat, s->loop.step)); /* with a turn more */
    if (as_far && (!of->loop || s->loop.level == P_mapBlock))
        of->loop = s;
}

static const char *size_name(const Sizes *z, ImpBlock *rest, Nat nat)
{
    Lowering *lw = z->lw;
    Extent of = {lw->ctx, nat, NULL};
    walk_stmts(rest, find_loop, &of);
    if (z->of_blocks && !of.loop)
        return nat->kind == NAT_DIV ? "quotient" : nat->kind == NAT_MOD ? "rest" : "bound";
    if (of.loop && of.loop->loop.level == P_mapBlock)
        return "blocks";
    for (int k = 0; k < lw->program->kernels.n; k++) /* of the kernel before, whose blocks have left that many values */
        if (lw->program->kernels.at[k]->blocks[0] == nat)
            return "blocks";
    bool tiles = of.loop && of.loop->loop.tiles;
    return !of.loop ? "size" : tiles ? "tiles" : of.loop->loop.level == P_mapWarp ? "warps" : "end";
}

static void declare_size(Sizes *z, ImpBlock *body, int i, Nat nat)
{
    Lowering *lw = z->lw;
    ImpBlock rest = {.list = {body->list.at + i, body->list.n - i, 0}};
    ImpStmt *first = body->list.at[i];
    if (first->kind == IS_IF && uses_in(z, &first->branch.then, nat) == uses_in(z, &rest, nat)) { /* all are in there */
        int k = 0;
        for (;; k++) {
            ImpBlock one = {.list = {first->branch.then.list.at + k, 1, 0}};
            if (uses_in(z, &one, nat))
                break;
        }
        declare_size(z, &first->branch.then, k, nat);
        return;
    }
    Nat by = name_nat(lw, body, i, nat, size_name(z, &rest, nat), size_told_by, z);
    vec_push(z->ctx, &z->named, by);
}

static void name_some(Sizes *z, ImpBlock *body)
{
    for (int i = 0; i < body->list.n; i++) {
        ImpBlock one = {.list = {body->list.at + i, 1, 0}}, rest = {.list = {body->list.at + i, body->list.n - i, 0}};
        uses_in(z, &one, NULL);
        Nat nat = z->found;
        if (!nat)
            continue;
        Family family = {z, nat, nat};
        if (z->quotients)
            walk_stmts(&rest, least_stmt, &family);
        nat = family.least;
        if (uses_in(z, &rest, nat) < 2)
            vec_push(z->ctx, &z->once, nat);
        else
            declare_size(z, body, i, nat);
        i--; /* the statement again, or the name's own: it may work out others */
    }
}

static void note_blocks(void *user, ImpStmt *s)
{
    Sizes *z = user;
    if (s->kind == IS_FOR && s->loop.level == P_mapBlock)
        vec_push(z->ctx, &z->blocks, s->loop.hi);
}

static void name_all(Sizes *z, ImpBlock *body)
{
    for (int quotients = 0; quotients < 2; quotients++) {
        z->quotients = quotients;
        name_some(z, body);
    }
}

static void name_in_loops(Sizes *z, ImpBlock *body)
{
    for (int i = 0; i < body->list.n; i++) {
        ImpStmt *s = body->list.at[i];
        if (s->kind == IS_IF)
            name_in_loops(z, &s->branch.then);
        if (s->kind != IS_FOR || (s->loop.level != P_mapBlock && s->loop.level != P_mapGlobal))
            continue;
        int n = z->named.n;
        vec_push(z->ctx, &z->named, s->loop.var);
        name_all(z, &s->loop.body);
        name_in_loops(z, &s->loop.body);
        z->named.n = n;
    }
}

void name_sizes(Lowering *lw, Nats *sizes)
{
    Sizes z = {.lw = lw, .ctx = lw->ctx};
    ImpBlock *body = &lw->kernel->body;
    walk_stmts(body, note_blocks, &z);
    for (int i = 0; i < lw->entry->n_sizes; i++)
        vec_push(z.ctx, &z.named, lw->entry->sizes[i]);
    name_all(&z, body);
    for (int i = 0; i < z.named.n; i++)
        vec_push(z.ctx, sizes, z.named.at[i]);
    z.of_blocks = true;
    for (int a = 0; a < 3; a++)
        vec_push(z.ctx, &z.named, lw->kernel->block[a]);
    name_all(&z, body);
    name_in_loops(&z, body);
}
