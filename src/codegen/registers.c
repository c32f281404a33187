/* Pass registers: private values are forwarded and reused, never copied.
 *
 *   float x; if c { x = a } else { x = b } y = x  ->  if c { y = a } else { y = b }
 *   float a[2]; a[0] = e; ...    ->  float a_1, a_2; a_1 = e; ...   when all its slots are constants
 *   float x; x = e;              ->  const float x = e;
 *   const float y = x;           ->  (y is x)
 *   const float t = e; s = t + 1 ->  s = e + 1                      when t is read once
 *   const float b = a + t;       ->  a = a + t  (and b is a)        when a is not read afterwards
 *   float t = a; ... t = t + b; a = t  ->  ... a = a + b            when a is not mentioned in between, nor t afterwards
 *                                                                 and so for vectors
 *   x = c ? e : x                ->  if c { x = e }
 *   if c { s } if c { t }        ->  if c { s; t }
 *   if a { if b { s } }          ->  if a and b { s }
 *
 * Requires: registers are declared in the list of statements where they live. Keeps every value and the order of memory accesses; a
 * shuffle stays where all lanes execute it. Leaves alone: register arrays, registers that indices mention, registers that the program names. */
#include "codegen/branches.h"
#include "codegen/literals.h"
#include "codegen/walk.h"

typedef struct Mentions {
    const ImpVar *var;
    ImpExpr *replacement; /* or NULL: only count */
    int n;
} Mentions;

static void mention(void *user, ImpExpr **at)
{
    Mentions *m = user;
    if ((*at)->kind != IE_VAR || (*at)->var.var != m->var)
        return;
    m->n++;
    if (m->replacement)
        *at = m->replacement;
}

static void set_count(void *user, ImpStmt *s)
{
    Mentions *m = user;
    m->n += s->kind != IS_DECL && imp_sets(s) == m->var;
}

static int reads_in(ImpStmt *s, const ImpVar *var)
{
    Mentions m = {var, NULL, 0};
    walk_stmt(s, mention, &m);
    return m.n;
}

static int sets_in(ImpStmt *s, const ImpVar *var)
{
    Mentions m = {var, NULL, 0};
    ImpStmt *one[1] = {s};
    ImpBlock block = {.list = {one, 1, 1}};
    walk_stmts(&block, set_count, &m);
    return m.n;
}

static bool plain(const ImpVar *v) { return v->slots == 1 && !v->nat; }

/* ---- what an expression depends on ------------------------------------------------------------------------------------- */

typedef struct Depends {
    bool loads, shuffles, size;
    ImpBlock *list;
    int from, to; /* statements between which a value would move */
    bool disturbed;
} Depends;

static void depend(void *user, ImpExpr **at)
{
    Depends *d = user;
    const ImpExpr *e = *at;
    if (e->kind == IE_LOAD && e->mem.buf->space != SPACE_INPUT)
        d->loads = true;
    if (e->kind == IE_SHFL)
        d->shuffles = true;
    if (e->kind == IE_VAR)
        for (int i = d->from; i < d->to; i++)
            d->disturbed |= sets_in(d->list->list.at[i], e->var.var) > 0;
}

/* May the value of statement i move down into statement j of the same list? */
static bool can_move(ImpBlock *list, int i, int j)
{
    Depends d = {.list = list, .from = i + 1, .to = j};
    walk_expr(&list->list.at[i]->var.value, depend, &d);
    if (d.disturbed)
        return false;
    for (int k = i + 1; k < j; k++) {
        ImpStmtKind kind = list->list.at[k]->kind;
        bool straight = kind == IS_DECL || kind == IS_SET || kind == IS_VSET || kind == IS_VLOAD || kind == IS_NOTE || kind == IS_ALLOC;
        if ((d.loads || d.shuffles) && !straight)
            return false;
    }
    return true;
}

/* Is var read somewhere that is not always evaluated? */
static bool under_condition(const ImpExpr *e, const ImpVar *var, bool inside)
{
    switch (e->kind) {
    case IE_LIT: case IE_NAT: case IE_LOAD: return false;
    case IE_VAR: return inside && e->var.var == var;
    case IE_OP:
        for (int i = 0; i < e->op.n; i++)
            if (under_condition(e->op.args[i], var, inside || (i > 0 && (e->op.id == P_and || e->op.id == P_or))))
                return true;
        return false;
    case IE_CAST: return under_condition(e->cast.value, var, inside);
    case IE_COND:
        return under_condition(e->cond.cond, var, inside) || under_condition(e->cond.then, var, true) || under_condition(e->cond.otherwise, var, true);
    case IE_SHFL: return under_condition(e->shfl.value, var, inside) || (e->shfl.by && under_condition(e->shfl.by, var, inside));
    }
    return false;
}

static ImpExpr **own_value(ImpStmt *s)
{
    switch (s->kind) {
    case IS_DECL: case IS_SET: return s->var.value ? &s->var.value : NULL;
    case IS_STORE: return &s->store.value;
    case IS_GIVE: return &s->exchange.value;
    case IS_ATOMIC: case IS_TICKET: case IS_GRID_SYNC: case IS_AWAIT: case IS_SERVE: return NULL; /* what an atomic computes is computed again and again */
    case IS_IF: return &s->branch.cond;
    case IS_VSET: case IS_VLOAD: case IS_VSTORE: case IS_FOR: case IS_SYNC: case IS_ALLOC: case IS_NOTE: return NULL;
    }
    return NULL;
}

static void find_shuffle(void *user, ImpExpr **at) { *(bool *)user |= (*at)->kind == IE_SHFL; }

/* ---- the rules; each returns true when it changed the list at statement i -------------------------------------------- */

static bool declare_with_value(ImpBlock *list, int i)
{
    ImpStmt *decl = list->list.at[i];
    ImpVar *var = decl->var.var;
    if (decl->var.value || !plain(var))
        return false;
    int later = 0, first = -1;
    for (int j = i + 1; j < list->list.n; j++) {
        ImpStmt *s = list->list.at[j];
        later += sets_in(s, var);
        if (first < 0 && (sets_in(s, var) || reads_in(s, var)))
            first = j;
    }
    if (first < 0 || list->list.at[first]->kind != IS_SET || reads_in(list->list.at[first], var))
        return false;
    list->list.at[first]->kind = IS_DECL;
    var->constant = later == 1;
    block_remove(list, i);
    return true;
}

static void replace_after(ImpBlock *list, int i, const ImpVar *var, ImpExpr *by)
{
    Mentions m = {var, by, 0};
    for (int j = i + 1; j < list->list.n; j++)
        walk_stmt(list->list.at[j], mention, &m);
}

/* A start that no step changes. */
static bool stays_literal(const ImpBlock *list, int i)
{
    const ImpStmt *decl = list->list.at[i];
    bool stays = decl->var.value->kind == IE_LIT;
    for (int j = i + 1; j < list->list.n && stays; j++)
        stays = !sets_in(list->list.at[j], decl->var.var);
    return stays;
}

static bool forward_copy(ImpBlock *list, int i)
{
    ImpStmt *decl = list->list.at[i];
    ImpVar *var = decl->var.var;
    ImpExpr *e = decl->var.value;
    if (!e || !plain(var) || (!var->constant && !stays_literal(list, i)))
        return false;
    if (e->kind == IE_VAR && e->var.var->slots == 1 && !e->var.var->constant) {
        bool here = false; /* the copied register must live in this very list, and keep its value to the end of it */
        for (int j = 0; j < i; j++)
            here |= list->list.at[j]->kind == IS_DECL && list->list.at[j]->var.var == e->var.var;
        for (int j = i + 1; j < list->list.n; j++)
            here &= !sets_in(list->list.at[j], e->var.var);
        if (!here)
            return false;
    } else if (!(e->kind == IE_VAR && e->var.var->slots == 1) && e->kind != IE_LIT && !(e->kind == IE_NAT && (nat_is_const(e->nat) || e->nat->kind == NAT_VAR)))
        return false;
    replace_after(list, i, var, e);
    block_remove(list, i);
    return true;
}

static bool forward_single(ImpBlock *list, int i)
{
    ImpStmt *decl = list->list.at[i];
    ImpVar *var = decl->var.var;
    if (!decl->var.value || !var->constant || !plain(var))
        return false;
    const int enough = var->named ? 1 : 2; /* none is dropped, one may be put where it is read, more are kept */
    int uses = 0, at = -1;
    for (int j = i + 1; j < list->list.n && uses < enough; j++) {
        int n = reads_in(list->list.at[j], var);
        if (n && at < 0)
            at = j;
        uses += n;
    }
    if (uses == 0) {
        block_remove(list, i);
        return true;
    }
    ImpExpr **value = uses < enough ? own_value(list->list.at[at]) : NULL;
    Mentions m = {var, NULL, 0};
    if (value)
        walk_expr(value, mention, &m);
    bool shuffles = false;
    walk_expr(&decl->var.value, find_shuffle, &shuffles);
    if (m.n != 1 || !can_move(list, i, at) || (shuffles && under_condition(*value, var, false)))
        return false;
    m.replacement = decl->var.value;
    walk_expr(value, mention, &m);
    block_remove(list, i);
    return true;
}

typedef struct Reusable {
    ImpBlock *list;
    int at;
    const ImpVar *result;
    ImpVar *found;
} Reusable;

static void find_reusable(void *user, ImpExpr **at)
{
    Reusable *r = user;
    const ImpExpr *e = *at;
    if (r->found || e->kind != IE_VAR || e->var.var->type != r->result->type || !plain(e->var.var) || e->var.var->named)
        return;
    bool here = false;
    for (int j = 0; j < r->at; j++)
        here |= r->list->list.at[j]->kind == IS_DECL && r->list->list.at[j]->var.var == e->var.var;
    for (int j = r->at + 1; j < r->list->list.n; j++)
        here &= !reads_in(r->list->list.at[j], e->var.var) && !sets_in(r->list->list.at[j], e->var.var);
    if (here)
        r->found = e->var.var;
}

static bool same_role(const ImpVar *a, const ImpVar *b) { return a->role != ROLE_NONE && a->role == b->role; }

/* As find_reusable; of two that would do, the one with the name that is wanted. */
static void prefer_named(Reusable *r, ImpExpr **at)
{
    ImpVar *before = r->found;
    r->found = NULL;
    find_reusable(r, at);
    if (before && (!r->found || r->found->role == ROLE_OTHER))
        r->found = before;
}

static bool reuse_register(Ctx *ctx, ImpBlock *list, int i)
{
    ImpStmt *decl = list->list.at[i];
    ImpVar *var = decl->var.var;
    ImpExpr *value = decl->var.value;
    if (!value || (value->kind != IE_OP && value->kind != IE_COND) || !plain(var) || var->named)
        return false;
    Reusable r = {list, i, var, NULL};
    if (value->kind == IE_OP)
        walk_expr(&decl->var.value, find_reusable, &r);
    else { /* c ? e : x is x, changed where c holds */
        if (value->cond.otherwise->kind == IE_VAR)
            find_reusable(&r, &value->cond.otherwise);
        if (value->cond.then->kind == IE_VAR && !(r.found && same_role(r.found, var)))
            prefer_named(&r, &value->cond.then);
    }
    if (!r.found)
        return false;
    r.found->constant = false;
    decl->kind = IS_SET;
    decl->var.var = r.found;
    decl->var.slot = nat_const(ctx, 0);
    for (int j = i + 1; j < list->list.n; j++) {
        Mentions m = {var, imp_var(ctx, r.found, nat_const(ctx, 0), decl->span), 0};
        walk_stmt(list->list.at[j], mention, &m);
    }
    return true;
}

/* The next value of the same role, where the one before is not needed any more: as what another lane has in each step of a tree of shuffles. */
static bool use_again(Ctx *ctx, ImpBlock *list, int i)
{
    ImpStmt *decl = list->list.at[i];
    ImpVar *var = decl->var.var;
    if (!decl->var.value || !plain(var) || var->named)
        return false;
    for (int k = 0; k < i; k++) {
        const ImpStmt *s = list->list.at[k];
        ImpVar *old = s->kind == IS_DECL ? s->var.var : NULL;
        if (!old || !s->var.value || old->type != var->type || !plain(old) || old->named || !same_role(old, var))
            continue;
        bool dead = true;
        for (int j = i + 1; j < list->list.n; j++)
            dead &= !reads_in(list->list.at[j], old) && !sets_in(list->list.at[j], old);
        if (!dead)
            continue;
        old->constant = false;
        decl->kind = IS_SET;
        decl->var.var = old;
        decl->var.slot = nat_const(ctx, 0);
        replace_after(list, i, var, imp_var(ctx, old, nat_const(ctx, 0), decl->span));
        return true;
    }
    return false;
}

static void rename_sets(void *user, ImpStmt *s)
{
    const ImpVar *const *pair = user;
    if (s->kind == IS_SET && s->var.var == pair[0])
        s->var.var = (ImpVar *)pair[1];
}

/* T x; if (c) x = a; else x = b; y = x;  ->  if (c) y = a; else y = b; */
static bool set_directly(ImpBlock *list, int i)
{
    const ImpVar *var = list->list.at[i]->var.var;
    if (list->list.at[i]->var.value || !plain(var) || var->named)
        return false;
    int reads = 0, at = -1;
    for (int j = i + 1; j < list->list.n; j++) {
        const ImpStmt *s = list->list.at[j];
        reads += reads_in(list->list.at[j], var);
        if (s->kind == IS_SET && s->var.value->kind == IE_VAR && s->var.value->var.var == var && plain(s->var.var) && s->var.var->type == var->type)
            at = j;
    }
    if (reads != 1 || at < 0)
        return false;
    const ImpVar *to = list->list.at[at]->var.var;
    for (int j = i + 1; j < at; j++)
        if (reads_in(list->list.at[j], to) || sets_in(list->list.at[j], to) || (list->list.at[j]->kind == IS_DECL && list->list.at[j]->var.var == to))
            return false;
    for (int j = at + 1; j < list->list.n; j++)
        if (sets_in(list->list.at[j], var))
            return false;
    const ImpVar *pair[2] = {var, to};
    ImpBlock between = {.list = {list->list.at + i + 1, at - i - 1, 0}};
    walk_stmts(&between, rename_sets, pair);
    block_remove(list, at);
    block_remove(list, i);
    return true;
}

typedef bool (*Rule)(Ctx *ctx, ImpBlock *list, int i);
static bool rule_direct(Ctx *ctx, ImpBlock *list, int i) { (void)ctx; return set_directly(list, i); }
static bool rule_declare(Ctx *ctx, ImpBlock *list, int i) { (void)ctx; return declare_with_value(list, i); }
static bool rule_copy(Ctx *ctx, ImpBlock *list, int i) { (void)ctx; return forward_copy(list, i); }
/* A copy that is changed and then put back. */
static bool rule_round_trip(Ctx *ctx, ImpBlock *list, int i)
{
    ImpStmt *decl = list->list.at[i];
    ImpVar *copy = decl->var.var;
    const ImpExpr *e = decl->var.value;
    if (!e || e->kind != IE_VAR || !plain(copy) || copy->named || copy->constant || !plain(e->var.var) || e->var.var->constant || e->var.var->type != copy->type)
        return false;
    ImpVar *var = e->var.var;
    int back = i + 1;
    for (;; back++) {
        if (back == list->list.n)
            return false;
        ImpStmt *s = list->list.at[back];
        if (s->kind == IS_SET && s->var.var == var && s->var.value->kind == IE_VAR && s->var.value->var.var == copy)
            break;
        if (reads_in(s, var) || sets_in(s, var))
            return false;
    }
    for (int j = back + 1; j < list->list.n; j++)
        if (reads_in(list->list.at[j], copy) || sets_in(list->list.at[j], copy))
            return false;
    const ImpVar *pair[2] = {copy, var};
    ImpBlock between = {.list = {list->list.at + i + 1, back - i - 1, 0}};
    Mentions m = {copy, imp_var(ctx, var, nat_const(ctx, 0), decl->span), 0};
    walk_block(&between, mention, &m);
    walk_stmts(&between, rename_sets, pair);
    block_remove(list, back);
    block_remove(list, i);
    return true;
}

/* ---- the same for vector registers --------------------------------------------------------------------------------------------- */

/* Does the statement set `to` to all components of `from`, in order? */
static bool copies_vector(const ImpStmt *s, const ImpVar *to, const ImpVar **from)
{
    if (s->kind != IS_VSET || (to && s->vec.var != to) || s->vec.values[0]->kind != IE_VAR)
        return false;
    const ImpVar *var = s->vec.values[0]->var.var;
    bool same = var->vector && var->slots == s->vec.n && s->vec.var->slots == s->vec.n && var->type == s->vec.var->type;
    for (int k = 0; k < s->vec.n && same; k++)
        same = s->vec.values[k]->kind == IE_VAR && s->vec.values[k]->var.var == var && nat_is(s->vec.values[k]->var.slot, k);
    *from = var;
    return same;
}

static void rename_vector(void *user, ImpExpr **at)
{
    const ImpVar *const *pair = user;
    if ((*at)->kind == IE_VAR && (*at)->var.var == pair[0])
        (*at)->var.var = (ImpVar *)pair[1];
}

static void rename_vector_sets(void *user, ImpStmt *s)
{
    const ImpVar *const *pair = user;
    if ((s->kind == IS_VSET || s->kind == IS_VLOAD) && s->vec.var == pair[0])
        s->vec.var = (ImpVar *)pair[1];
    if (s->kind == IS_SET && s->var.var == pair[0])
        s->var.var = (ImpVar *)pair[1];
}

static bool vector_round_trip(ImpBlock *list, int i)
{
    const ImpStmt *decl = list->list.at[i];
    const ImpVar *var, *copy = decl->vec.var, *back_from;
    if (!decl->vec.declares || !copies_vector(decl, NULL, &var) || copy->named || var->constant)
        return false;
    int back = i + 1;
    for (;; back++) {
        if (back == list->list.n)
            return false;
        ImpStmt *s = list->list.at[back];
        if (copies_vector(s, var, &back_from) && back_from == copy)
            break;
        if (reads_in(s, var) || sets_in(s, var))
            return false;
    }
    for (int j = back + 1; j < list->list.n; j++)
        if (reads_in(list->list.at[j], copy) || sets_in(list->list.at[j], copy))
            return false;
    const ImpVar *pair[2] = {copy, var};
    ImpBlock between = {.list = {list->list.at + i + 1, back - i - 1, 0}};
    walk_block(&between, rename_vector, pair);
    walk_stmts(&between, rename_vector_sets, pair);
    block_remove(list, back);
    block_remove(list, i);
    return true;
}

static void vector_round_trips(ImpBlock *list)
{
    for (int i = 0; i < list->list.n; i++) {
        ImpStmt *s = list->list.at[i];
        if (s->kind == IS_FOR)
            vector_round_trips(&s->loop.body);
        if (s->kind == IS_IF) {
            vector_round_trips(&s->branch.then);
            vector_round_trips(&s->branch.otherwise);
        }
        if (s->kind == IS_VSET && vector_round_trip(list, i))
            i--;
    }
}

static bool rule_single(Ctx *ctx, ImpBlock *list, int i) { (void)ctx; return forward_single(list, i); }
static bool rule_reuse(Ctx *ctx, ImpBlock *list, int i)
{
    ImpVar *var = list->list.at[i]->var.var;
    if (!reuse_register(ctx, list, i))
        return false;
    const ImpVar *pair[2] = {var, list->list.at[i]->var.var};
    ImpBlock rest = {.list = {list->list.at + i + 1, list->list.n - i - 1, 0}};
    walk_stmts(&rest, rename_sets, pair);
    return true;
}

static bool rule_again(Ctx *ctx, ImpBlock *list, int i)
{
    const ImpVar *var = list->list.at[i]->var.var;
    if (!use_again(ctx, list, i))
        return false;
    const ImpVar *pair[2] = {var, list->list.at[i]->var.var};
    ImpBlock rest = {.list = {list->list.at + i + 1, list->list.n - i - 1, 0}};
    walk_stmts(&rest, rename_sets, pair);
    return true;
}

static void apply_rule(Ctx *ctx, ImpBlock *list, Rule rule)
{
    for (int i = 0; i < list->list.n; i++) {
        ImpStmt *s = list->list.at[i];
        if (s->kind == IS_FOR)
            apply_rule(ctx, &s->loop.body, rule);
        if (s->kind == IS_IF) {
            apply_rule(ctx, &s->branch.then, rule);
            apply_rule(ctx, &s->branch.otherwise, rule);
        }
        if (s->kind == IS_DECL && rule(ctx, list, i))
            i--;
    }
}

/* ---- small register arrays whose slots are all constants become registers ---------------------------------------------------- */

enum { MAX_PARTS = 8 };

typedef struct Parts {
    Lowering *lw;
    ImpVar *var;
    ImpVar *parts[MAX_PARTS];
    bool constant; /* every mention of it has a constant slot */
    bool replace;
} Parts;

static void part_of_expr(void *user, ImpExpr **at)
{
    Parts *p = user;
    if ((*at)->kind != IE_VAR || (*at)->var.var != p->var)
        return;
    p->constant &= nat_is_const((*at)->var.slot);
    if (p->replace)
        *at = imp_var(p->lw->ctx, p->parts[(*at)->var.slot->value], nat_const(p->lw->ctx, 0), (*at)->span);
}

static void part_of_set(void *user, ImpStmt *s)
{
    Parts *p = user;
    if (s->kind != IS_SET || s->var.var != p->var)
        return;
    p->constant &= nat_is_const(s->var.slot);
    if (!p->replace)
        return;
    s->var.var = p->parts[s->var.slot->value];
    s->var.slot = nat_const(p->lw->ctx, 0);
}

static void declare_parts(Parts *p, ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_FOR)
            declare_parts(p, &s->loop.body);
        if (s->kind == IS_IF) {
            declare_parts(p, &s->branch.then);
            declare_parts(p, &s->branch.otherwise);
        }
        if (s->kind != IS_DECL || s->var.var != p->var)
            continue;
        s->var.var = p->parts[0];
        for (int k = 1; k < p->var->slots; k++) {
            ImpStmt *decl = imp_stmt(p->lw->ctx, NULL, IS_DECL, s->span);
            decl->var.var = p->parts[k];
            decl->var.value = s->var.value ? imp_copy_expr(p->lw->ctx, s->var.value) : NULL;
            block_insert(p->lw->ctx, block, i + k, decl);
        }
        i += p->var->slots - 1;
    }
}

static void split_arrays(Lowering *lw)
{
    ImpBlock *body = &lw->kernel->body;
    for (int i = 0, n = lw->kernel->vars.n; i < n; i++) {
        Parts p = {.lw = lw, .var = lw->kernel->vars.at[i], .constant = true};
        if (p.var->slots < 2 || p.var->slots > MAX_PARTS || p.var->vector)
            continue;
        walk_block(body, part_of_expr, &p);
        walk_stmts(body, part_of_set, &p);
        if (!p.constant)
            continue;
        for (int k = 0; k < p.var->slots; k++)
            p.parts[k] = lower_new_var(lw, ctx_printf(lw->ctx, "%s_%d", p.var->name, k + 1), p.var->type, p.var->span);
        p.replace = true;
        walk_block(body, part_of_expr, &p);
        walk_stmts(body, part_of_set, &p);
        declare_parts(&p, body);
    }
}

/* ---- loops over register arrays are unrolled: registers have no index that varies ------------------------------------------------ */

enum { MAX_REGISTER_TRIPS = 128 }; /* more than that does not fit the registers, and lies in local memory anyway */

typedef struct SlotUse {
    Nat var;
    bool found;
} SlotUse;

static void slot_of_expr(void *user, ImpExpr **at)
{
    SlotUse *u = user;
    u->found |= (*at)->kind == IE_VAR && nat_mentions((*at)->var.slot, u->var);
}

static void slot_of_set(void *user, ImpStmt *s)
{
    SlotUse *u = user;
    u->found |= s->kind == IS_SET && nat_mentions(s->var.slot, u->var);
}

static void unroll_register_loop(void *user, ImpStmt *s)
{
    (void)user;
    if (s->kind != IS_FOR || s->loop.unroll || !nat_is(s->loop.lo, 0) || !nat_is(s->loop.step, 1) || !nat_is_const(s->loop.hi) ||
        s->loop.hi->value > MAX_REGISTER_TRIPS)
        return;
    SlotUse u = {s->loop.var, false};
    walk_block(&s->loop.body, slot_of_expr, &u);
    walk_stmts(&s->loop.body, slot_of_set, &u);
    s->loop.unroll = u.found;
}

/* ---- comparisons that fail for every value: x < lowest, x > inf; with NaN, too ------------------------------------------------- */

static bool is_bound(const ImpExpr *e, PrimId op)
{
    ScalarValue bound;
    return e->kind == IE_LIT && scalar_unit(op, e->type, &bound) && e->lit.u == bound.u;
}

static void never_true(void *user, ImpExpr **at)
{
    const ImpExpr *e = *at;
    if (e->kind != IE_OP || (e->op.id != P_lt && e->op.id != P_gt))
        return;
    bool lt = e->op.id == P_lt;
    if (is_bound(e->op.args[1], lt ? P_max : P_min) || is_bound(e->op.args[0], lt ? P_min : P_max))
        *at = imp_lit(user, (ScalarValue){.type = SC_BOOL, .i = 0}, e->span);
}

void registers_forward(Lowering *lw)
{
    apply_rule(lw->ctx, &lw->kernel->body, rule_declare);
    apply_rule(lw->ctx, &lw->kernel->body, rule_single);
}


void registers_copies(Lowering *lw) { apply_rule(lw->ctx, &lw->kernel->body, rule_copy); }
/* What two registers were has become one: x = x. */
static void drop_idle_sets(ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_FOR)
            drop_idle_sets(&s->loop.body);
        if (s->kind == IS_IF) {
            drop_idle_sets(&s->branch.then);
            drop_idle_sets(&s->branch.otherwise);
        }
        const ImpExpr *value = s->kind == IS_SET ? s->var.value : NULL;
        if (value && value->kind == IE_VAR && value->var.var == s->var.var && value->var.slot == s->var.slot)
            block_remove(block, i--);
    }
}

void registers_reuse(Lowering *lw)
{
    apply_rule(lw->ctx, &lw->kernel->body, rule_again);
    drop_idle_sets(&lw->kernel->body);
}

void pass_registers(Lowering *lw)
{
    static const Rule rules[] = {rule_direct, rule_declare, rule_copy, rule_single, rule_reuse, rule_round_trip};
    walk_stmts(&lw->kernel->body, unroll_register_loop, NULL);
    walk_block(&lw->kernel->body, never_true, lw->ctx);
    split_arrays(lw);
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        apply_rule(lw->ctx, &lw->kernel->body, rules[r]);
    vector_round_trips(&lw->kernel->body);
    branches_choose(lw->ctx, &lw->kernel->body);
    branches_assign(&lw->kernel->body);
    branches_merge(lw->ctx, &lw->kernel->body);
    registers_forward(lw); /* a condition that one branch is left to ask */
    literals_fold(lw->ctx, &lw->kernel->body);
}
