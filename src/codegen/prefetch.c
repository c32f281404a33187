/* Pass 2, prefetch: what toShared[prefetch] stores in a step of a loop is loaded while the step before is computed.
 *
 *   for (i < n) { tile = xs[i...]; use tile }
 *     ->  if (0 < n) tile[0...] = xs[0...]
 *         for (i < n) {
 *             if (i + 1 < n) next = xs[(i + 1)...]
 *             use tile[i % 2...]
 *             if (i + 1 < n) tile[(i + 1) % 2...] = next
 *         }
 *
 * The tile has two halves, which alternate, so that one barrier a step orders all of it. Each thread keeps what it has loaded in registers of their own
 * (`next`): the loops around its stores are written out.
 *
 * Requires: the statements that compute the tile are marked and stand in the loop's own list. Establishes: no marks. Refuses: tiles that hang on what the
 * loop itself computes. Keeps every value. */
#include "codegen/lowering.h"
#include "codegen/walk.h"

enum { MAX_KEPT = 64 }; /* registers, or vectors of them, that a thread keeps for the next step */

/* ---- marking, during translation ---------------------------------------------------------------------------------------- */

bool prefetch_check(Lowering *lw, const Core *e)
{
    if (lw->step == lw->out)
        return true;
    Diag *d = lower_error(lw, E0434, e->span, "toShared[prefetch] stands in no step of a sequential pattern");
    diag_label(lw->ctx, d, lw->step ? "a map or an `if` stands between the step and it" : "there is no next step to fetch for");
    propose_without(lw->ctx, d, e->span, P_toShared, "prefetch", "leave [prefetch] out, or move it to the top of the function of reduceSeq");
    return false;
}

static void mark_view(const View *v, int number)
{
    for (int k = 0; k < v->n; k++)
        mark_view(v->items[k], number);
    if (v->kind == VIEW_BUF)
        v->buf->prefetch = number;
}

static void mark_stmt(void *user, ImpStmt *s) { s->prefetch = *(int *)user; }

void prefetch_mark(Lowering *lw, View *view, int from)
{
    int number = ++lw->prefetches;
    mark_view(view, number);
    ImpBlock stored = stmts_from(lw->out, from);
    walk_stmts(&stored, mark_stmt, &number);
}

/* ---- one loop ------------------------------------------------------------------------------------------------------------- */

typedef struct NextName { /* of registers that are stored to the buffer */
    const ImpBuf *buf;
    const char *name;
} NextName;

typedef struct Prefetch {
    Lowering *lw;
    Ctx *ctx;
    ImpStmt *loop;
    Span asked;             /* the toShared[prefetch] whose statements are looked at */
    VEC(ImpVar *) declared; /* in what is written out: old ones, and */
    VEC(ImpVar *) renamed;  /* what each is now */
    VEC(Nat) vars;          /* loop variables, integer registers, and */
    VEC(Nat) by;            /* what each is now */
    ImpBlock load, store;
    LateValues late;
    VEC(NextName) named;
    int kept;
} Prefetch;

static Diag *refuse(Prefetch *p, Span span, const char *what)
{
    Diag *d = p->lw->failed ? NULL : lower_error(p->lw, E0434, span, "%s", what);
    if (d)
        diag_note(p->ctx, d, p->asked, "fetched ahead by this");
    return d;
}

static Span asked_by(const Lowering *lw, int number)
{
    for (int k = 0; k < lw->kernel->bufs.n; k++)
        if (lw->kernel->bufs.at[k]->prefetch == number)
            return lw->kernel->bufs.at[k]->span;
    return NO_SPAN;
}

/* ---- may it go ahead? ------------------------------------------------------------------------------------------------------- */

typedef struct Change { /* something that the loop changes */
    const ImpVar *var;
    const ImpBuf *buf;
    Nat nat;
    bool here, found; /* among the marked statements, among the others */
} Change;

static void find_change(void *user, ImpStmt *s)
{
    Change *c = user;
    const ImpVar *set = imp_sets(s);
    const ImpBuf *to = s->kind == IS_STORE ? s->store.buf : s->kind == IS_VSTORE ? s->vec.buf : s->kind == IS_ATOMIC ? s->atomic.buf : s->kind == IS_TICKET || s->kind == IS_GRID_SYNC ? s->ticket.buf : s->kind == IS_AWAIT ? s->exchange.cell : NULL;
    bool changes = (set && set == c->var) || (to && to == c->buf) || (set && c->nat && set->nat == c->nat) || (s->kind == IS_FOR && c->nat && s->loop.var == c->nat);
    if (changes && s->prefetch)
        c->here = true;
    else if (changes)
        c->found = true;
}

static void needs(Prefetch *p, Change c, Span span)
{
    walk_stmts(&p->loop->loop.body, find_change, &c);
    if (!c.found && !(c.buf && c.here))
        return;
    Diag *d = refuse(p, span, "these elements are to be fetched one step ahead, and hang on what the step itself computes");
    if (d)
        propose_without(p->ctx, d, p->asked, P_toShared, "prefetch", "leave [prefetch] out, or take what they hang on from outside the loop or from the array that it goes through");
}

static void check_expr(void *user, ImpExpr **at)
{
    const ImpExpr *e = *at;
    if (e->kind == IE_VAR)
        needs(user, (Change){.var = e->var.var}, e->span);
    if (e->kind == IE_LOAD)
        needs(user, (Change){.buf = e->mem.buf}, e->span);
}

typedef struct NatCheck {
    Prefetch *p;
    Span span;
} NatCheck;

static void check_var(void *user, Nat var)
{
    const NatCheck *c = user;
    if (var != c->p->loop->loop.var)
        needs(c->p, (Change){.nat = var}, c->span);
}

static void check_nat(void *user, Nat nat) { nat_each_var(((NatCheck *)user)->p->ctx, nat, check_var, user); }

static void check_stmt(void *user, ImpStmt *s)
{
    Prefetch *p = user;
    NatCheck c = {p, s->span};
    p->asked = asked_by(p->lw, s->prefetch);
    walk_own(s, check_expr, p);
    walk_nats(s, check_nat, &c);
    if (s->kind == IS_VLOAD)
        needs(p, (Change){.buf = s->vec.buf}, s->span);
    const ImpBuf *to = s->kind == IS_STORE ? s->store.buf : s->kind == IS_VSTORE ? s->vec.buf : s->kind == IS_ALLOC ? s->alloc : NULL;
    bool elsewhere = s->kind == IS_ATOMIC || s->kind == IS_TICKET || s->kind == IS_GRID_SYNC || s->kind == IS_GIVE || s->kind == IS_AWAIT || s->kind == IS_SERVE || (to && to->prefetch != s->prefetch);
    Diag *d = elsewhere ? refuse(p, s->span, "these elements are to be fetched one step ahead, and are stored elsewhere first") : NULL;
    if (d)
        diag_help(p->ctx, d, "compute them from global memory in one go, with toPrivate at most");
}

/* ---- writing out -------------------------------------------------------------------------------------------------------------- */

static Nat now_nat(void *user, Nat nat)
{
    const Prefetch *p = user;
    if (!p->vars.n || !nat->has_vars)
        return nat;
    return nat_simplify(p->ctx, p->lw->kernel->known, nat_subst_many(p->ctx, nat, p->vars.n, p->vars.at, p->by.at));
}

static ImpVar *now_var(const Prefetch *p, ImpVar *var)
{
    for (int i = p->declared.n - 1; i >= 0; i--)
        if (p->declared.at[i] == var)
            return p->renamed.at[i];
    return var;
}

static void now_expr(void *user, ImpExpr **at)
{
    if ((*at)->kind == IE_VAR)
        (*at)->var.var = now_var(user, (*at)->var.var);
}

static void now_is(Prefetch *p, Nat var, Nat by)
{
    vec_push(p->ctx, &p->vars, var);
    vec_push(p->ctx, &p->by, by);
}

static void set_var(ImpStmt *s, ImpVar *var)
{
    if (s->kind == IS_DECL || s->kind == IS_SET)
        s->var.var = var;
    else
        s->vec.var = var;
}

/* A register of its own for each time that the declaration is written out. */
static void new_register(Prefetch *p, ImpVar *old)
{
    ImpVar *var = lower_new_var(p->lw, old->name, old->type, old->span);
    int id = var->id;
    *var = *old;
    var->id = id;
    if (old->nat) {
        var->nat = nat_var(p->ctx, old->nat->name, old->nat->lo, old->nat->hi);
        now_is(p, old->nat, var->nat);
    }
    vec_push(p->ctx, &p->declared, old);
    vec_push(p->ctx, &p->renamed, var);
}

static void write_out(Prefetch *p, const ImpBlock *from, ImpBlock *to);

static void write_out_loop(Prefetch *p, const ImpStmt *s, ImpBlock *to)
{
    Ctx *ctx = p->ctx;
    Nat lo = now_nat(p, s->loop.lo), hi = now_nat(p, s->loop.hi), step = now_nat(p, s->loop.step);
    NatRange range = nat_range(ctx, p->lw->kernel->known, lo);
    int64_t trips = nat_is_const(hi) && nat_is_const(step) && range.has_lo ? div_up(hi->value - range.lo, step->value) : -1;
    if (trips < 0 || trips > MAX_KEPT) {
        p->asked = asked_by(p->lw, s->prefetch);
        Diag *d = refuse(p, s->span, "the number of elements that each thread fetches ahead is no constant, or too large for its registers");
        if (d)
            propose_without(ctx, d, p->asked, P_toShared, "prefetch", "leave [prefetch] out, or make the tile smaller, of constant size");
        return;
    }
    for (int64_t k = 0; k < trips && !p->lw->failed; k++) {
        Nat at = nat_add_k(ctx, lo, k * step->value);
        ImpBlock *into = to;
        if (!nat_lt(ctx, p->lw->kernel->known, at, hi)) {
            ImpStmt *guard = imp_stmt(ctx, to, IS_IF, s->span);
            guard->branch.cond = nat_cmp(p->lw, P_lt, at, hi, s->span);
            into = &guard->branch.then;
        }
        now_is(p, s->loop.var, at);
        write_out(p, &s->loop.body, into);
        p->vars.n--;
        p->by.n--;
    }
}

static void write_out(Prefetch *p, const ImpBlock *from, ImpBlock *to)
{
    Ctx *ctx = p->ctx;
    int n_vars = p->vars.n;
    for (int i = 0; i < from->list.n && !p->lw->failed; i++) {
        const ImpStmt *s = from->list.at[i];
        if (s->kind == IS_FOR) {
            write_out_loop(p, s, to);
            continue;
        }
        ImpStmt *copy = NEW(ctx, ImpStmt);
        *copy = *s;
        imp_own_exprs(ctx, copy);
        map_nats(copy, now_nat, p);
        walk_own(copy, now_expr, p);
        if (imp_declares(s))
            new_register(p, imp_sets(s));
        if (imp_sets(s))
            set_var(copy, now_var(p, imp_sets(s)));
        if (s->kind == IS_IF) {
            copy->branch.then = copy->branch.otherwise = (ImpBlock){{0}};
            write_out(p, &s->branch.then, &copy->branch.then);
            write_out(p, &s->branch.otherwise, &copy->branch.otherwise);
        }
        vec_push(ctx, &to->list, copy);
    }
    p->vars.n = p->by.n = n_vars;
}

/* ---- loads here, stores there ---------------------------------------------------------------------------------------------------- */

static void find_load(void *user, ImpExpr **at) { *(bool *)user |= (*at)->kind == IE_LOAD || (*at)->kind == IE_SHFL; }

/* Puts what the expression loads into registers. Arithmetic waits until it is stored. */
static void keep_loads(Prefetch *p, ImpExpr **at, ImpBlock *load)
{
    ImpExpr *e = *at;
    bool loads = false;
    walk_expr(at, find_load, &loads);
    if (!loads)
        return;
    if (e->kind == IE_CAST) {
        keep_loads(p, &e->cast.value, load);
        return;
    }
    for (int i = 0; e->kind == IE_OP && i < e->op.n; i++)
        keep_loads(p, &e->op.args[i], load);
    if (e->kind == IE_OP)
        return;
    ImpVar *var = lower_new_var(p->lw, "next", e->type, e->span);
    ImpStmt *s = imp_stmt(p->ctx, load, IS_DECL, e->span);
    s->var.var = var;
    s->var.slot = nat_const(p->ctx, 0);
    s->var.value = e;
    vec_push(p->ctx, &p->declared, NULL);
    vec_push(p->ctx, &p->renamed, var);
    *at = imp_var(p->ctx, var, nat_const(p->ctx, 0), e->span);
}

/* What is made of it where it is stored; NULL: nothing. */
static const ImpVar *made_late_of(const Prefetch *p, const ImpVar *var)
{
    for (int i = 0; i < p->late.n; i++)
        if (p->late.at[i].loaded == var)
            return p->late.at[i].made;
    return NULL;
}

static bool is_made_late(const Prefetch *p, const ImpVar *var)
{
    for (int i = 0; i < p->late.n; i++)
        if (p->late.at[i].made == var)
            return true;
    return false;
}

static void part(Prefetch *p, const ImpBlock *all, ImpBlock *load, ImpBlock *store)
{
    Ctx *ctx = p->ctx;
    for (int i = 0; i < all->list.n; i++) {
        ImpStmt *s = all->list.at[i];
        if (s->kind == IS_STORE || s->kind == IS_VSTORE) {
            if (s->kind == IS_STORE)
                keep_loads(p, &s->store.value, load);
            for (int k = 0; s->kind == IS_VSTORE && k < s->vec.n; k++)
                keep_loads(p, &s->vec.values[k], load);
            vec_push(ctx, &store->list, s);
        } else if (s->kind == IS_IF) {
            ImpStmt *sides[2] = {imp_stmt(ctx, NULL, IS_IF, s->span), imp_stmt(ctx, NULL, IS_IF, s->span)};
            keep_loads(p, &s->branch.cond, load);
            sides[0]->branch.cond = s->branch.cond;
            sides[1]->branch.cond = imp_copy_expr(ctx, s->branch.cond);
            part(p, &s->branch.then, &sides[0]->branch.then, &sides[1]->branch.then);
            part(p, &s->branch.otherwise, &sides[0]->branch.otherwise, &sides[1]->branch.otherwise);
            ImpBlock *to[2] = {load, store};
            for (int k = 0; k < 2; k++)
                if (sides[k]->branch.then.list.n || sides[k]->branch.otherwise.list.n)
                    vec_push(ctx, &to[k]->list, sides[k]);
        } else if (is_made_late(p, imp_sets(s))) {
            vec_push(ctx, &store->list, s);
        } else {
            vec_push(ctx, &load->list, s);
            if (s->kind == IS_NOTE)
                vec_push(ctx, &store->list, imp_copy_stmt(ctx, s));
        }
    }
}

/* ---- registers that live from the loads to the stores ------------------------------------------------------------------------------ */

typedef struct Kept {
    const ImpVar *var;
    const ImpBuf *buf; /* that a statement with it stores to */
} Kept;

static void find_var(void *user, ImpExpr **at)
{
    Kept *k = user;
    if ((*at)->kind == IE_VAR && (*at)->var.var == k->var)
        k->var = NULL;
}

static void find_kept(void *user, ImpStmt *s)
{
    Kept *k = user;
    const ImpVar *var = k->var;
    walk_own(s, find_var, k);
    if (!k->buf && !k->var)
        k->buf = s->kind == IS_STORE ? s->store.buf : s->kind == IS_VSTORE ? s->vec.buf : NULL;
    if (!k->buf)
        k->var = var;
}

/* A declaration becomes an assignment; one without a value goes. */
static void undeclare(ImpBlock *block, const ImpVar *var, Ctx *ctx)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_IF) {
            undeclare(&s->branch.then, var, ctx);
            undeclare(&s->branch.otherwise, var, ctx);
        }
        if (!imp_declares(s) || imp_sets(s) != var)
            continue;
        if (s->kind != IS_DECL)
            s->vec.declares = false;
        else if (s->var.value) {
            s->kind = IS_SET;
            s->var.slot = nat_const(ctx, 0);
        } else
            block_remove(block, i--);
    }
}

typedef struct Mention {
    Nat nat;
    bool found;
} Mention;

static void mention_nat(void *user, Nat nat)
{
    Mention *m = user;
    m->found |= nat_mentions(nat, m->nat);
}

static void mention_stmt(void *user, ImpStmt *s) { walk_nats(s, mention_nat, user); }

/* What is fetched ahead for a buffer has one name. */
static const char *name_of_next(Prefetch *p, const ImpBuf *buf)
{
    for (int i = 0; i < p->named.n; i++)
        if (p->named.at[i].buf == buf)
            return p->named.at[i].name;
    const char *name = ctx_printf(p->ctx, "%sNext", buf->name);
    vec_push(p->ctx, &p->named, ((NextName){buf, name}));
    return name;
}

/* Registers that the stores mention are declared for the whole step. */
static void keep_registers(Prefetch *p, ImpBlock *step)
{
    Ctx *ctx = p->ctx;
    for (int i = 0; i < p->renamed.n; i++) {
        ImpVar *var = p->renamed.at[i];
        if (is_made_late(p, var))
            continue;
        Mention m = {var->nat, false};
        if (var->nat)
            walk_stmts(&p->store, mention_stmt, &m);
        if (m.found) {
            Diag *d = refuse(p, var->span, "where these elements are stored hangs on what is fetched ahead with them");
            if (d)
                propose_without(ctx, d, p->asked, P_toShared, "prefetch", "leave [prefetch] out");
            return;
        }
        const ImpVar *made = made_late_of(p, var);
        Kept kept = {made ? made : var, NULL};
        walk_stmts(&p->store, find_kept, &kept);
        if (kept.var && !kept.buf) /* an `if` alone mentions it, or nothing */
            walk_block(&p->store, find_var, &kept);
        if (kept.var)
            continue;
        if (kept.buf)
            var->name = name_of_next(p, kept.buf);
        var->constant = var->named = false;
        var->fetched = true;
        imp_stmt(ctx, step, IS_DECL, var->span)->var.var = var;
        undeclare(&p->load, var, ctx);
        p->kept += var->vector ? 1 : var->slots;
    }
    Diag *d = p->kept > MAX_KEPT ? refuse(p, p->loop->span, ctx_printf(ctx, "each thread would keep %d values that are fetched ahead; at most %d fit", p->kept, MAX_KEPT)) : NULL;
    if (d)
        propose_without(ctx, d, p->asked, P_toShared, "prefetch", "leave [prefetch] out of one of the tiles, or make them smaller");
}

/* ---- two halves -------------------------------------------------------------------------------------------------------------------- */

typedef struct Shift {
    Ctx *ctx;
    Nat half;
} Shift;

/* Cells of one half, so that the other one is aligned as well. */
static Nat half_cells(Ctx *ctx, const ImpBuf *buf)
{
    int64_t unit = buf->align ? buf->align / scalar_bytes(buf->elem) : 1;
    return unit <= 1 ? buf->count : nat_mul_k(ctx, nat_ceil_div(ctx, buf->count, nat_const(ctx, unit)), unit);
}

static Nat shifted(const Shift *h, const ImpBuf *buf, Nat index)
{
    return buf->prefetch ? nat_add(h->ctx, index, nat_mul(h->ctx, h->half, half_cells(h->ctx, buf))) : index;
}

static void shift_expr(void *user, ImpExpr **at)
{
    if ((*at)->kind == IE_LOAD)
        (*at)->mem.index = shifted(user, (*at)->mem.buf, (*at)->mem.index);
}

static void shift_stmt(void *user, ImpStmt *s)
{
    const Shift *h = user;
    imp_own_exprs(h->ctx, s);
    walk_own(s, shift_expr, user);
    if (s->kind == IS_STORE)
        s->store.index = shifted(h, s->store.buf, s->store.index);
    if (s->kind == IS_VLOAD || s->kind == IS_VSTORE)
        s->vec.index = shifted(h, s->vec.buf, s->vec.index);
    if (s->kind == IS_ATOMIC)
        s->atomic.index = shifted(h, s->atomic.buf, s->atomic.index);
}

/* ---- the loop in its new form ------------------------------------------------------------------------------------------------------- */

static void unmark(void *user, ImpStmt *s)
{
    (void)user;
    s->prefetch = 0;
}

static void append(Ctx *ctx, ImpBlock *to, const ImpBlock *from)
{
    for (int i = 0; i < from->list.n; i++)
        vec_push(ctx, &to->list, from->list.at[i]);
}

/* 0 < n; of a quotient as a comparison of what is divided. */
static ImpExpr *any_step(const Prefetch *p, Nat n)
{
    Ctx *ctx = p->ctx;
    if (n->kind != NAT_DIV || !nat_is_const(n->b))
        return nat_cmp(p->lw, P_lt, nat_const(ctx, 0), n, p->loop->span);
    Nat least = nat_add_k(ctx, n->a, 1 - n->b->value); /* at least 1 where there is a step */
    bool exact = nat_le(ctx, p->lw->kernel->known, nat_const(ctx, 0), least);
    return exact ? nat_cmp(p->lw, P_lt, nat_const(ctx, 0), least, p->loop->span) : nat_cmp(p->lw, P_le, n->b, n->a, p->loop->span);
}

/* Where there is such a step: these statements. */
static void append_guarded(Prefetch *p, ImpBlock *to, const ImpBlock *from, Nat step)
{
    if (!from->list.n || nat_lt(p->ctx, p->lw->kernel->known, step, p->loop->loop.hi)) {
        append(p->ctx, to, from);
        return;
    }
    ImpStmt *guard = imp_stmt(p->ctx, to, IS_IF, p->loop->span);
    guard->branch.cond = nat_is(step, 0) ? any_step(p, p->loop->loop.hi) : nat_cmp(p->lw, P_lt, step, p->loop->loop.hi, p->loop->span);
    append(p->ctx, &guard->branch.then, from);
}

static void subst_stmt(void *user, ImpStmt *s)
{
    map_nats(s, now_nat, user);
    if (s->kind == IS_FOR)
        s->loop.first = true;
}

/* Statements that come before the loop: the buffers, and the elements of the first step. */
static ImpBlock first_step(Prefetch *p, const ImpBlock *fill)
{
    ImpBlock first = {{0}}, before = {{0}};
    for (int i = 0; i < fill->list.n; i++)
        vec_push(p->ctx, &first.list, imp_copy_stmt(p->ctx, fill->list.at[i]));
    now_is(p, p->loop->loop.var, p->loop->loop.lo);
    walk_stmts(&first, subst_stmt, p);
    p->vars.n = p->by.n = 0;
    append_guarded(p, &before, &first, p->loop->loop.lo);
    return before;
}

static void prefetch_loop(Lowering *lw, ImpBlock *block, int *at)
{
    Ctx *ctx = lw->ctx;
    ImpStmt *loop = block->list.at[*at];
    Prefetch p = {.lw = lw, .ctx = ctx, .loop = loop};
    ImpBlock fill = {{0}}, use = {{0}}, allocs = {{0}}, step = {{0}}, all = {{0}};
    for (int i = 0; i < loop->loop.body.list.n; i++) {
        ImpStmt *s = loop->loop.body.list.at[i];
        bool alloc = s->kind == IS_ALLOC && s->alloc->prefetch;
        vec_push(ctx, alloc ? &allocs.list : s->prefetch ? &fill.list : &use.list, s);
    }
    if (!fill.list.n)
        return;
    walk_stmts(&fill, check_stmt, &p);
    if (lw->failed)
        return;
    Nat i = loop->loop.var, next = nat_add_k(ctx, i, 1), two = nat_const(ctx, 2);
    ImpBlock before = first_step(&p, &fill);
    now_is(&p, i, next);
    write_out(&p, &fill, &all);
    pads_first(lw, &all, &all, &p.late);
    part(&p, &all, &p.load, &p.store);
    keep_registers(&p, &step);
    if (lw->failed)
        return;
    Shift present = {ctx, nat_mod(ctx, i, two)}, coming = {ctx, nat_mod(ctx, next, two)};
    walk_stmts(&use, shift_stmt, &present);
    walk_stmts(&p.store, shift_stmt, &coming);
    append_guarded(&p, &step, &p.load, next);
    append(ctx, &step, &use);
    append_guarded(&p, &step, &p.store, next);
    loop->loop.body = step;
    walk_stmts(&loop->loop.body, unmark, NULL);
    walk_stmts(&before, unmark, NULL);
    walk_stmts(&allocs, unmark, NULL);
    int n_bufs = allocs.list.n;
    append(ctx, &allocs, &before);
    for (int k = 0; k < allocs.list.n; k++)
        block_insert(ctx, block, (*at)++, allocs.list.at[k]);
    for (int k = 0; k < n_bufs; k++) {
        ImpBuf *buf = allocs.list.at[k]->alloc;
        buf->count = nat_mul(ctx, half_cells(ctx, buf), two);
        buf->prefetch = 0;
    }
}

static void walk(Lowering *lw, ImpBlock *block)
{
    for (int i = 0; i < block->list.n && !lw->failed; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->prefetch) /* what a loop around fetches */
            continue;
        if (s->kind == IS_IF) {
            walk(lw, &s->branch.then);
            walk(lw, &s->branch.otherwise);
        }
        if (s->kind != IS_FOR)
            continue;
        walk(lw, &s->loop.body); /* inner loops have their own tiles, which then are none of this one's */
        if (!is_parallel_map(s->loop.level) && !lw->failed)
            prefetch_loop(lw, block, &i);
    }
}

void pass_prefetch(Lowering *lw)
{
    walk(lw, &lw->kernel->body);
    walk_stmts(&lw->kernel->body, unmark, NULL); /* steps of a loop that is written out */
    for (int k = 0; k < lw->kernel->bufs.n; k++)
        lw->kernel->bufs.at[k]->prefetch = 0;
}
