/* What a place mentions, told apart as a function for several places does.
 *
 * Places have the same words. Their registers and buffers are told by the order in which they are
 * mentioned first. In numbers, what is a place's own is replaced by neutral variables: those of
 * loops and of registers, which are known by the same order, and the ids of the hardware. Where the
 * numbers are equal then, they are the function's own. Else the terms in which they differ are an
 * argument, which may mention nothing that the statements declare. */
#include "codegen/outline.h"
#include "codegen/walk.h"

enum {
    ROLE_WARP = 1 << 20,
    ROLE_LANE,
    ROLE_GRID,
    ROLE_BLOCK = ROLE_GRID + 3,
    ROLE_THREAD = ROLE_BLOCK + 3
};

/* ---- reading --------------------------------------------------------------------------------- */

static Nat constant_or_null(Nat nat) { return nat && nat_is_const(nat) ? nat : NULL; }

static Nat neutral(Outline *o, int role, Nat var)
{
    Nat lo = constant_or_null(var->lo), hi = constant_or_null(var->hi);
    for (int i = 0; i < o->neutrals.n; i++) {
        const Neutral *n = &o->neutrals.at[i];
        if (n->role == role && n->lo == lo && n->hi == hi)
            return n->var;
    }
    Neutral made = {role, lo, hi, nat_var(o->ctx, "neutral", lo, hi)};
    vec_push(o->ctx, &o->neutrals, made);
    return made.var;
}

static void stand_for(Outline *o, Reading *r, int role, Nat var)
{
    if (!var || var->kind != NAT_VAR)
        return;
    vec_push(o->ctx, &r->own, var);
    vec_push(o->ctx, &r->neutral, neutral(o, role, var));
}

static void count_mention(void *user, Nat var)
{
    Reading *r = user;
    const uintptr_t number = (uintptr_t)table_get(&r->regs, var);
    if (number)
        r->reg.at[number - 1].mentions++;
}

static int number_of(Outline *o, Reading *r, const void *what, int next)
{
    uintptr_t number = (uintptr_t)table_get(&r->regs, what);
    if (number)
        return (int)number - 1;
    table_put(o->ctx, &r->regs, what, (void *)(uintptr_t)(next + 1));
    return next;
}

static void read_var(Outline *o, Reading *r, int k)
{
    const Slot *s = r->slots[k];
    int number = number_of(o, r, s->var, r->reg.n);
    if (number == r->reg.n) {
        vec_push(o->ctx, &r->reg, ((Reg){.var = s->var, .read_first = !s->sets || s->partly}));
        if (s->var->nat)
            table_put(o->ctx, &r->regs, s->var->nat, (void *)(uintptr_t)(number + 1));
    }
    Reg *reg = &r->reg.at[number];
    reg->declared |= s->declares;
    reg->set |= s->sets;
    reg->filled |= s->declares && s->sets && s->var->slots > 1 && !s->var->vector;
    reg->mentions++;
    r->number[k] = number;
}

static void read_slots(Outline *o, const Place *p, Reading *r)
{
    for (int i = 0; i < p->n; i++)
        r->n_slots += p->forms[i]->slots.n;
    r->slots = NEWN(o->ctx, const Slot *, r->n_slots + 1);
    r->number = NEWN(o->ctx, int, r->n_slots + 1);
    r->nat = NEWN(o->ctx, Nat, r->n_slots + 1);
    for (int i = 0, k = 0; i < p->n; i++)
        for (int j = 0; j < p->forms[i]->slots.n; j++)
            r->slots[k++] = &p->forms[i]->slots.at[j];
    for (int k = 0; k < r->n_slots; k++) {
        const Slot *s = r->slots[k];
        r->number[k] = -1;
        if (s->kind == SLOT_VAR)
            read_var(o, r, k);
        if (s->kind == SLOT_BUF) {
            r->number[k] = number_of(o, r, s->buf, r->buf.n);
            if (r->number[k] == r->buf.n)
                vec_push(o->ctx, &r->buf, s->buf);
        }
    }
}

static void read_neutrals(Outline *o, const Place *p, Reading *r)
{
    int n = 0;
    for (int k = 0; k < r->n_slots; k++)
        if (r->slots[k]->kind == SLOT_LOOP)
            stand_for(o, r, n++, r->slots[k]->loop);
    for (int i = 0; i < r->reg.n; i++)
        if (r->reg.at[i].declared)
            stand_for(o, r, ROLE_WARP - 1 - i, r->reg.at[i].var->nat);
    r->n_own = r->own.n;
    for (int i = 0; i < r->reg.n; i++)
        if (!r->reg.at[i].declared)
            stand_for(o, r, ROLE_WARP - 1 - i, r->reg.at[i].var->nat);
    stand_for(o, r, ROLE_WARP, p->kernel->warp);
    stand_for(o, r, ROLE_LANE, p->kernel->lane);
    for (int a = 0; a < 3; a++) {
        stand_for(o, r, ROLE_GRID + a, p->kernel->grid[a]);
        stand_for(o, r, ROLE_BLOCK + a, p->kernel->block[a]);
        stand_for(o, r, ROLE_THREAD + a, p->kernel->thread[a]);
    }
}

/* Without the numbers. */
static Reading *begin_reading(Outline *o, Place *p)
{
    if (!p->reading) {
        p->reading = NEW(o->ctx, Reading);
        read_slots(o, p, p->reading);
        read_neutrals(o, p, p->reading);
    }
    return p->reading;
}

/* NULL: the slot has none. */
static Nat slot_nat(Outline *o, Reading *r, int k)
{
    if (!r->nat[k] && r->slots[k]->kind == SLOT_NAT) {
        Nat nat = *r->slots[k]->at;
        nat_each_var(o->ctx, nat, count_mention, r);
        r->nat[k] = nat->has_vars ? nat_subst_many(o->ctx, nat, r->own.n, r->own.at, r->neutral.at)
                                  : nat;
    }
    return r->nat[k];
}

Reading *outline_reading(Outline *o, Place *p)
{
    Reading *r = begin_reading(o, p);
    for (int k = 0; k < r->n_slots; k++)
        slot_nat(o, r, k);
    return r;
}

bool reading_mentions_own(const Reading *r, Nat nat)
{
    for (int i = 0; i < r->n_own; i++)
        if (nat_mentions(nat, r->neutral.at[i]))
            return true;
    return false;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static int n_terms(Nat nat) { return nat->kind == NAT_SUM ? nat->n_terms : 1; }

static NatTerm term_of(const Nat *nat, int i)
{
    if ((*nat)->kind == NAT_SUM)
        return (*nat)->terms[i];
    return (*nat)->kind == NAT_CONST ? (NatTerm){(*nat)->value, 0, NULL} : (NatTerm){1, 1, nat};
}

static bool same_term(const NatTerm *a, const NatTerm *b)
{
    bool same = a->coef == b->coef && a->n_factors == b->n_factors;
    for (int i = 0; same && i < a->n_factors; i++)
        same = a->factors[i] == b->factors[i];
    return same;
}

static bool has_term(Nat nat, const NatTerm *term)
{
    for (int i = 0; i < n_terms(nat); i++) {
        NatTerm own = term_of(&nat, i);
        if (same_term(&own, term))
            return true;
    }
    return false;
}

/* What the sums have in common. */
Nat outline_common_terms(Ctx *ctx, Nat a, Nat b)
{
    Nat sum = nat_const(ctx, 0);
    for (int i = 0; i < n_terms(a); i++) {
        NatTerm term = term_of(&a, i);
        if (!has_term(b, &term))
            continue;
        Nat product = nat_const(ctx, term.coef);
        for (int k = 0; k < term.n_factors; k++)
            product = nat_mul(ctx, product, term.factors[k]);
        sum = nat_add(ctx, sum, product);
    }
    return sum;
}

/* ---- what the text mentions ------------------------------------------------------------------ */

typedef struct Mentions {
    Ctx *ctx;
    Table held;   /* registers, by the variable that stands for them in numbers */
    bool *of;     /* by ImpVar.id */
} Mentions;

static void mention_held(void *user, Nat nat)
{
    const Mentions *m = user;
    const ImpVar *var = table_get(&m->held, nat);
    if (var)
        m->of[var->id] = true;
}

static void mention_nat(void *user, Nat nat)
{
    nat_each_var(((Mentions *)user)->ctx, nat, mention_held, user);
}

static void mention_expr(void *user, ImpExpr **at)
{
    if ((*at)->kind == IE_VAR)
        ((Mentions *)user)->of[(*at)->var.var->id] = true;
}

static bool only_declares(const ImpStmt *s) { return s->kind == IS_DECL && !s->var.value; }

static void mention_stmt(void *user, ImpStmt *s)
{
    Mentions *m = user;
    walk_own(s, mention_expr, m);
    walk_nats(s, mention_nat, m);
    if (imp_sets(s) && !only_declares(s))
        m->of[imp_sets(s)->id] = true;
}

static void mention_call(void *user, const ImpCall *call)
{
    Mentions *m = user;
    for (int k = 0; k < call->function->params.n; k++) {
        if (call->args[k].var)
            m->of[call->args[k].var->id] = true;
        if (call->args[k].nat)
            mention_nat(m, call->args[k].nat);
    }
    if (call->result)
        m->of[call->result->id] = true;
}

static void mark_moved(void *user, ImpStmt *s)
{
    if (only_declares(s))
        s->var.moved = !((Mentions *)user)->of[s->var.var->id];
}

void outline_mark_moved(Ctx *ctx, const ImpKernel *kernel, ImpBlock *body)
{
    Mentions m = {.ctx = ctx, .of = NEWN(ctx, bool, kernel->vars.n + 1)};
    for (int i = 0; i < kernel->vars.n; i++)
        if (kernel->vars.at[i]->nat)
            table_put(ctx, &m.held, kernel->vars.at[i]->nat, kernel->vars.at[i]);
    walk_text(body, mention_stmt, mention_call, &m);
    walk_stmts(body, mark_moved, &m);
}

/* ---- do they fit? ---------------------------------------------------------------------------- */

static bool same_reg(const Reg *a, const Reg *b)
{
    return a->declared == b->declared && a->set == b->set && a->read_first == b->read_first;
}

static bool same_threads(const Place *a, const Place *b)
{
    bool grid = false, same = a->kernel->lanes == b->kernel->lanes;
    for (int i = 0; i < a->n; i++)
        grid |= a->forms[i]->grid;
    for (int axis = 0; axis < 3; axis++)
        same = same && a->kernel->threads[axis] == b->kernel->threads[axis] &&
               (!grid || a->kernel->grid[axis]->kind == b->kernel->grid[axis]->kind);
    return same;
}

/* Do they mention registers and buffers in the same order? */
static bool same_names(const Reading *x, const Reading *y)
{
    bool same = x->n_slots == y->n_slots && x->reg.n == y->reg.n && x->buf.n == y->buf.n;
    for (int i = 0; same && i < x->reg.n; i++)
        same = same_reg(&x->reg.at[i], &y->reg.at[i]);
    for (int k = 0; same && k < x->n_slots; k++)
        same = x->number[k] == y->number[k];
    return same;
}

/* May the numbers, where they differ, be arguments? */
static bool numbers_fit(Outline *o, Reading *x, Reading *y)
{
    for (int k = 0; k < x->n_slots; k++) {
        Nat p = slot_nat(o, x, k), q = slot_nat(o, y, k);
        if (p == q)
            continue;
        if (x->slots[k]->fixed || nat_is_error(p) || nat_is_error(q))
            return false;
        Nat common = outline_common_terms(o->ctx, p, q);
        if (reading_mentions_own(x, nat_sub(o->ctx, p, common)) ||
            reading_mentions_own(y, nat_sub(o->ctx, q, common)))
            return false;
    }
    return true;
}

bool outline_fits(Outline *o, Place *a, Place *b)
{
    return same_threads(a, b) && same_names(begin_reading(o, a), begin_reading(o, b)) &&
           numbers_fit(o, a->reading, b->reading);
}
