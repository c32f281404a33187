/* While the blocks of scanBlocks wait for what is before an element, the total of the next one is on its way already.
 *
 *   for (i = block; i < n; i += step) { first(i); give(i); before = await(i); rest(i) }
 *     ->  for (next = block; next < n + step; next += step) {
 *             if (next < n) { first(next); give(next) }
 *             if (block < next) { i = next - step; before = await(i); rest(i), from what was kept }
 *             if (next < n) keep what first has left in registers
 *         }
 *
 * A block keeps two elements, and so twice the registers; what it waits for was asked for one turn earlier. Not done, and the loop stays as it is,
 * where `first` leaves something in shared memory, an index in a register or one that not all threads set, or more than fits. Keeps every value. */
#include "codegen/lowering.h"
#include "codegen/walk.h"

enum { MAX_KEPT_WORDS = 96 }; /* registers of 32 bits that an element may keep */

typedef struct Pipeline {
    Lowering *lw;
    Ctx *ctx;
    const ImpStmt *loop;
    ImpBlock first, rest;
    VEC(ImpVar *) left; /* what `first` leaves in registers, and */
    VEC(ImpVar *) kept; /* where the turn after it finds that */
    VEC(const ImpBuf *) filled; /* shared memory that `first` asks for */
    Nat from, to;       /* one variable of indices, and what it is now */
    int words;
    bool refused;
} Pipeline;

/* ---- what `first` leaves ------------------------------------------------------------------------------------------------------ */

static const ImpBuf *stored_in(const ImpStmt *s)
{
    switch (s->kind) {
    case IS_STORE: return s->store.buf;
    case IS_VSTORE: return s->vec.buf;
    case IS_ATOMIC: return s->atomic.buf;
    default: return NULL;
    }
}

static void look_at_first(void *user, ImpStmt *s)
{
    Pipeline *p = user;
    const ImpBuf *to = stored_in(s);
    if (s->kind == IS_ALLOC)
        vec_push(p->ctx, &p->filled, s->alloc);
    p->refused |= (to && to->space != SPACE_SHARED) || s->kind == IS_AWAIT || s->kind == IS_TICKET || s->kind == IS_GRID_SYNC;
}

static int position(const Pipeline *p, const ImpVar *var)
{
    int k = 0;
    while (k < p->left.n && p->left.at[k] != var)
        k++;
    return k;
}

/* Does every thread give the register a value? What only some have set cannot be kept: the others would copy nothing. */
static bool set_by_all(const ImpBlock *block, const ImpVar *var)
{
    for (int i = 0; i < block->list.n; i++) {
        const ImpStmt *s = block->list.at[i];
        bool here = imp_sets(s) == var && (s->kind != IS_DECL || s->var.value);
        if (here || (s->kind == IS_FOR && set_by_all(&s->loop.body, var)) ||
            (s->kind == IS_IF && set_by_all(&s->branch.then, var) && set_by_all(&s->branch.otherwise, var)))
            return true;
    }
    return false;
}

static void use(Pipeline *p, ImpVar *var)
{
    bool declared = false;
    for (int i = 0; i < p->first.list.n; i++)
        declared |= imp_declares(p->first.list.at[i]) && imp_sets(p->first.list.at[i]) == var;
    if (!declared || position(p, var) < p->left.n)
        return;
    vec_push(p->ctx, &p->left, var);
    p->words += var->slots * (scalar_bytes(var->type) > 4 ? 2 : 1);
    p->refused |= var->nat != NULL || !set_by_all(&p->first, var);
}

static void use_in_expr(void *user, ImpExpr **at)
{
    if ((*at)->kind == IE_VAR)
        use(user, (*at)->var.var);
}

static void use_nat(void *user, Nat var)
{
    Pipeline *p = user;
    for (int i = 0; i < p->first.list.n; i++) {
        const ImpVar *set = imp_declares(p->first.list.at[i]) ? imp_sets(p->first.list.at[i]) : NULL;
        p->refused |= set && set->nat == var;
    }
}

static void use_nats(void *user, Nat nat) { nat_each_var(((Pipeline *)user)->ctx, nat, use_nat, user); }

static void use_buf(void *user, ImpBuf **at)
{
    Pipeline *p = user;
    for (int k = 0; k < p->filled.n; k++)
        p->refused |= p->filled.at[k] == *at;
}

static void look_at_rest(void *user, ImpStmt *s)
{
    Pipeline *p = user;
    if (imp_sets(s))
        use(p, imp_sets(s));
    walk_own(s, use_in_expr, p);
    walk_nats(s, use_nats, p);
    if (s->kind != IS_ALLOC)
        walk_bufs(s, use_buf, p);
}

/* ---- the new loop ---------------------------------------------------------------------------------------------------------------- */

static Nat now_nat(void *user, Nat nat)
{
    const Pipeline *p = user;
    return nat_subst(p->ctx, nat, p->from, p->to);
}

static void now_at(void *user, ImpStmt *s) { map_nats(s, now_nat, user); }

static void substitute(Pipeline *p, ImpBlock *block, Nat by)
{
    p->from = p->loop->loop.var;
    p->to = by;
    walk_stmts(block, now_at, p);
}

static void kept_expr(void *user, ImpExpr **at)
{
    const Pipeline *p = user;
    int k = (*at)->kind == IE_VAR ? position(p, (*at)->var.var) : p->left.n;
    if (k < p->left.n)
        (*at)->var.var = p->kept.at[k];
}

static void kept_stmt(void *user, ImpStmt *s)
{
    const Pipeline *p = user;
    walk_own(s, kept_expr, user);
    int k = imp_sets(s) ? position(p, imp_sets(s)) : p->left.n;
    if (k < p->left.n && (s->kind == IS_DECL || s->kind == IS_SET))
        s->var.var = p->kept.at[k];
    else if (k < p->left.n)
        s->vec.var = p->kept.at[k];
}

static void declare(Pipeline *p, ImpBlock *block, int at, ImpVar *var)
{
    ImpStmt *s = imp_stmt(p->ctx, NULL, IS_DECL, var->span);
    s->var.var = var;
    block_insert(p->ctx, block, at, s);
}

/* What is kept is declared before the loop, and what `first` leaves at the top of a turn. */
static void declare_all(Pipeline *p, ImpBlock *around, ImpBlock *turn)
{
    for (int k = 0; k < p->left.n; k++) {
        ImpVar *left = p->left.at[k], *kept = lower_new_var(p->lw, ctx_printf(p->ctx, "%s_before", left->name), left->type, left->span);
        kept->slots = left->slots;
        kept->vector = left->vector;
        vec_push(p->ctx, &p->kept, kept);
        declare(p, around, around->list.n - 1, kept);
        declare(p, turn, turn->list.n, left);
        left->constant = false;
    }
    for (int i = 0; i < p->first.list.n; i++) {
        ImpStmt *s = p->first.list.at[i];
        if (!imp_declares(s) || position(p, imp_sets(s)) == p->left.n)
            continue;
        if (s->kind != IS_DECL)
            s->vec.declares = false;
        else if (s->var.value) {
            s->kind = IS_SET;
            s->var.slot = nat_const(p->ctx, 0);
        } else
            block_remove(&p->first, i--);
    }
}

static ImpBlock *under(Pipeline *p, ImpBlock *turn, ImpExpr *cond)
{
    ImpStmt *s = imp_stmt(p->ctx, turn, IS_IF, p->loop->span);
    s->branch.cond = cond;
    return &s->branch.then;
}

static void keep(Pipeline *p, ImpBlock *block, int k)
{
    Ctx *ctx = p->ctx;
    ImpVar *left = p->left.at[k], *kept = p->kept.at[k];
    Span span = left->span;
    if (left->vector) {
        ImpStmt *s = imp_stmt(ctx, block, IS_VSET, span);
        s->vec.var = kept;
        s->vec.n = left->slots;
        for (int c = 0; c < left->slots; c++)
            s->vec.values[c] = imp_var(ctx, left, nat_const(ctx, c), span);
        return;
    }
    Nat slot = nat_const(ctx, 0);
    if (left->slots > 1) {
        slot = nat_var(ctx, "i", slot, nat_const(ctx, left->slots - 1));
        ImpStmt *loop = imp_stmt(ctx, block, IS_FOR, span);
        loop->loop.var = slot;
        loop->loop.lo = nat_const(ctx, 0);
        loop->loop.hi = nat_const(ctx, left->slots);
        loop->loop.step = nat_const(ctx, 1);
        loop->loop.level = P_mapSeq;
        loop->loop.unroll = true;
        block = &loop->loop.body;
    }
    ImpStmt *s = imp_stmt(ctx, block, IS_SET, span);
    s->var.var = kept;
    s->var.slot = slot;
    s->var.value = imp_var(ctx, left, slot, span);
}

/* The number of the element before, a turn later. */
static Nat declare_number(Pipeline *p, ImpBlock *block, Nat next)
{
    Ctx *ctx = p->ctx;
    Nat old = p->loop->loop.var;
    ImpVar *var = lower_new_var(p->lw, old->name, SC_I32, p->loop->span);
    var->constant = true;
    var->nat = nat_var(ctx, old->name, old->lo, old->hi);
    ImpStmt *s = imp_stmt(ctx, block, IS_DECL, p->loop->span);
    s->var.var = var;
    s->var.value = imp_nat(ctx, nat_sub(ctx, next, p->loop->loop.step), SC_I32, p->loop->span);
    return var->nat;
}

void scan_pipeline(Lowering *lw, ImpBlock *around, int split)
{
    Ctx *ctx = lw->ctx;
    ImpStmt *loop = around->list.at[around->list.n - 1];
    ImpBlock *body = &loop->loop.body;
    Pipeline p = {.lw = lw, .ctx = ctx, .loop = loop};
    for (int i = 0; i < body->list.n; i++)
        vec_push(ctx, i < split ? &p.first.list : &p.rest.list, body->list.at[i]);
    walk_stmts(&p.first, look_at_first, &p);
    walk_stmts(&p.rest, look_at_rest, &p);
    if (p.refused || p.words > MAX_KEPT_WORDS)
        return;
    imp_own_all(ctx, body);

    Nat n = loop->loop.hi, step = loop->loop.step, end = nat_add(ctx, n, step);
    Nat next = nat_var(ctx, "next", nat_const(ctx, 0), nat_add_k(ctx, end, -1));
    ImpBlock turn = {{0}};
    declare_all(&p, around, &turn);
    substitute(&p, &p.first, next);
    *under(&p, &turn, nat_cmp(lw, P_lt, next, n, loop->span)) = p.first;
    ImpBlock *before = under(&p, &turn, nat_cmp(lw, P_lt, loop->loop.lo, next, loop->span));
    substitute(&p, &p.rest, declare_number(&p, before, next));
    walk_stmts(&p.rest, kept_stmt, &p);
    for (int i = 0; i < p.rest.list.n; i++)
        vec_push(ctx, &before->list, p.rest.list.at[i]);
    ImpBlock *last = p.left.n ? under(&p, &turn, nat_cmp(lw, P_lt, next, n, loop->span)) : NULL;
    for (int k = 0; k < p.left.n; k++)
        keep(&p, last, k);
    loop->loop.var = next;
    loop->loop.hi = end;
    loop->loop.body = turn;
}
