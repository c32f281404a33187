#include "codegen/branches.h"
#include "codegen/walk.h"

static ImpExpr *negated(Ctx *ctx, ImpExpr *e)
{
    static const PrimId opposite[] = {[P_eq - P_eq] = P_ne, [P_ne - P_eq] = P_eq, [P_lt - P_eq] = P_ge, [P_le - P_eq] = P_gt, [P_gt - P_eq] = P_le, [P_ge - P_eq] = P_lt};
    if (e->kind == IE_OP && e->op.id == P_not)
        return e->op.args[0];
    bool exact = e->kind == IE_OP && (e->op.id == P_eq || e->op.id == P_ne || !scalar_is_float(e->op.args[0]->type)); /* NaN is neither below nor above */
    if (exact && e->op.id >= P_eq && e->op.id <= P_ge)
        return imp_op(ctx, opposite[e->op.id - P_eq], SC_BOOL, 2, e->op.args, e->span);
    return imp_op(ctx, P_not, SC_BOOL, 1, &e, e->span);
}

/* x = c ? e : x  ->  if (c) x = e;  x = c ? x : e  ->  if (!c) x = e */
void branches_choose(Ctx *ctx, ImpBlock *list)
{
    for (int i = 0; i < list->list.n; i++) {
        ImpStmt *s = list->list.at[i];
        if (s->kind == IS_FOR)
            branches_choose(ctx, &s->loop.body);
        if (s->kind == IS_IF) {
            branches_choose(ctx, &s->branch.then);
            branches_choose(ctx, &s->branch.otherwise);
        }
        const ImpExpr *value = s->kind == IS_SET ? s->var.value : NULL;
        if (!value || value->kind != IE_COND)
            continue;
        bool sides[2];
        for (int k = 0; k < 2; k++) {
            const ImpExpr *side = k ? value->cond.otherwise : value->cond.then;
            sides[k] = side->kind == IE_VAR && side->var.var == s->var.var && side->var.slot == s->var.slot;
        }
        if (!sides[0] && !sides[1])
            continue;
        ImpStmt *choice = imp_stmt(ctx, NULL, IS_IF, s->span);
        choice->branch.cond = sides[1] ? value->cond.cond : negated(ctx, value->cond.cond);
        vec_push(ctx, &choice->branch.then.list, s);
        s->var.value = sides[1] ? value->cond.then : value->cond.otherwise;
        list->list.at[i] = choice;
    }
}

typedef struct Sets {
    const ImpVar *var;
    bool found;
} Sets;

static void find_set(void *user, ImpStmt *s)
{
    Sets *f = user;
    f->found |= imp_sets(s) == f->var;
}

bool block_sets(ImpBlock *block, const ImpVar *var)
{
    Sets f = {var, false};
    walk_stmts(block, find_set, &f);
    return f.found;
}

typedef struct Mention {
    const ImpVar *var;
    bool found;
} Mention;

static void mention_expr(void *user, ImpExpr **at)
{
    Mention *m = user;
    m->found |= (*at)->kind == IE_VAR && (*at)->var.var == m->var;
}

bool stmt_reads(ImpStmt *s, const ImpVar *var)
{
    Mention m = {var, false};
    walk_own(s, mention_expr, &m);
    return m.found;
}

bool stmt_mentions(ImpStmt *s, const ImpVar *var)
{
    Mention m = {var, false};
    ImpBlock one = {.list = {&s, 1, 1}};
    walk_stmt(s, mention_expr, &m);
    return m.found || block_sets(&one, var);
}

typedef struct Disturbs {
    ImpBlock *by;
    bool disturbed;
} Disturbs;

static void disturbed_expr(void *user, ImpExpr **at)
{
    Disturbs *d = user;
    const ImpExpr *e = *at;
    d->disturbed |= e->kind == IE_LOAD && e->mem.buf->space != SPACE_INPUT;
    d->disturbed |= e->kind == IE_VAR && block_sets(d->by, e->var.var);
}

/* Does the list declare what s does? Stores of a tuple's components name the place that all have, each for itself. */
static bool declares_same(const ImpBlock *list, const ImpStmt *s)
{
    for (int i = 0; s->kind == IS_DECL && i < list->list.n; i++)
        if (list->list.at[i]->kind == IS_DECL && list->list.at[i]->var.var == s->var.var && s->var.var->constant && s->var.value &&
            list->list.at[i]->var.value && imp_same_value(list->list.at[i]->var.value, s->var.value))
            return true;
    return false;
}

static void append_all(Ctx *ctx, ImpBlock *to, const ImpBlock *from)
{
    for (int j = 0; j < from->list.n; j++)
        if (!declares_same(to, from->list.at[j]))
            vec_push(ctx, &to->list, from->list.at[j]);
}

/* A register's declaration that could as well stand further up: it has no value, or parts that are literals. */
static bool is_start(const ImpStmt *s)
{
    bool start = s->kind == IS_DECL ? !s->var.value && !s->var.var->nat : s->kind == IS_VSET && s->vec.declares;
    for (int k = 0; s->kind == IS_VSET && k < s->vec.n; k++)
        start = start && s->vec.values[k]->kind == IE_LIT;
    return start;
}

static bool disturbs(ImpStmt *s)
{
    Disturbs then = {&s->branch.then, false}, otherwise = {&s->branch.otherwise, false};
    walk_expr(&s->branch.cond, disturbed_expr, &then);
    walk_expr(&s->branch.cond, disturbed_expr, &otherwise);
    return then.disturbed || otherwise.disturbed;
}

/* The `if` after statement i that asks the same, with only notes and starts of registers between them; 0: there is none. */
static int same_question(const ImpBlock *list, int i, bool over_notes)
{
    ImpStmt *s = list->list.at[i];
    int k = i + 1;
    while (k < list->list.n && (is_start(list->list.at[k]) || (over_notes && list->list.at[k]->kind == IS_NOTE)))
        k++;
    const ImpStmt *next = k < list->list.n ? list->list.at[k] : NULL;
    if (!next || next->kind != IS_IF || s->branch.last || next->branch.last || !imp_same_value(s->branch.cond, next->branch.cond) || disturbs(s))
        return 0;
    return k;
}

/* if c { s } if c { t }  ->  if c { s; t }, and so their other sides */
static void merge_neighbours(Ctx *ctx, ImpBlock *list, bool over_notes)
{
    for (int i = 0; i < list->list.n; i++) {
        ImpStmt *s = list->list.at[i];
        if (s->kind == IS_FOR)
            merge_neighbours(ctx, &s->loop.body, over_notes);
        if (s->kind != IS_IF)
            continue;
        for (int k; (k = same_question(list, i, over_notes)) > 0;) {
            const ImpStmt *next = list->list.at[k];
            block_remove(list, k);
            for (int n = k - 1 - i; n > 0; n--) { /* notes go along, starts before it */
                ImpStmt *between = list->list.at[i + 1];
                block_remove(list, i + 1);
                if (between->kind == IS_NOTE)
                    vec_push(ctx, &s->branch.then.list, between);
                else
                    block_insert(ctx, list, i++, between);
            }
            append_all(ctx, &s->branch.then, &next->branch.then);
            append_all(ctx, &s->branch.otherwise, &next->branch.otherwise);
        }
        merge_neighbours(ctx, &s->branch.then, over_notes);
        merge_neighbours(ctx, &s->branch.otherwise, over_notes);
    }
}

/* The last statement, an `if`, where only notes stand before it; else NULL. */
static ImpStmt *only_branch(const ImpBlock *block)
{
    for (int i = 0; i + 1 < block->list.n; i++)
        if (block->list.at[i]->kind != IS_NOTE)
            return NULL;
    ImpStmt *last = block->list.n ? block->list.at[block->list.n - 1] : NULL;
    return last && last->kind == IS_IF ? last : NULL;
}

/* if a { if b { ... } } is if a and b { ... }. */
static void merge_conditions(Ctx *ctx, ImpBlock *list)
{
    for (int i = 0; i < list->list.n; i++) {
        ImpStmt *s = list->list.at[i];
        if (s->kind == IS_FOR)
            merge_conditions(ctx, &s->loop.body);
        if (s->kind != IS_IF)
            continue;
        merge_conditions(ctx, &s->branch.then);
        merge_conditions(ctx, &s->branch.otherwise);
        ImpStmt *inner = only_branch(&s->branch.then);
        if (!inner || inner->kind != IS_IF || s->branch.last || s->branch.otherwise.list.n || inner->branch.otherwise.list.n)
            continue;
        s->branch.cond = imp_op2(ctx, P_and, SC_BOOL, s->branch.cond, inner->branch.cond, s->span);
        block_remove(&s->branch.then, s->branch.then.list.n - 1);
        for (int k = 0; k < inner->branch.then.list.n; k++)
            vec_push(ctx, &s->branch.then.list, inner->branch.then.list.at[k]);
    }
}

void branches_merge(Ctx *ctx, ImpBlock *list)
{
    merge_conditions(ctx, list);
    merge_neighbours(ctx, list, false);
}

void branches_join(Ctx *ctx, ImpBlock *list) { merge_neighbours(ctx, list, true); }
/* ---- results of a branch that changes something ------------------------------------------------------------------------------- */

typedef struct Reads {
    const ImpVar *var;
    int n;
} Reads;

static void count_read(void *user, ImpExpr **at)
{
    Reads *r = user;
    r->n += (*at)->kind == IE_VAR && (*at)->var.var == r->var;
}

static void count_reads(void *user, ImpStmt *s) { walk_own(s, count_read, user); }

static bool reads(ImpExpr *e, const ImpVar *var)
{
    Reads r = {var, 0};
    walk_expr(&e, count_read, &r);
    return r.n > 0;
}

/* to := from, of registers that are no arrays; NULL: not this. */
static const ImpVar *copied(const ImpStmt *s)
{
    bool plain = s->kind == IS_SET && s->var.var->slots == 1 && s->var.value->kind == IE_VAR && s->var.value->var.var->slots == 1;
    return plain ? s->var.value->var.var : NULL;
}

/* The n statements from `first` on take what the two sides of the branch before left in registers, and one side left what was there before. */
static bool keeps_rest(ImpBlock *kernel, ImpStmt *const *copies, int n, const ImpStmt *branch)
{
    const ImpBlock *then = &branch->branch.then, *other = &branch->branch.otherwise;
    if (other->list.n != n || then->list.n < n)
        return false;
    for (int k = 0; k < n; k++) {
        const ImpVar *chosen = copied(copies[k]), *to = copies[k]->var.var;
        const ImpStmt *set = then->list.at[then->list.n - n + k], *kept = other->list.at[k];
        Reads r = {chosen, 0};
        walk_stmts(kernel, count_reads, &r);
        if (r.n != 1 || set->kind != IS_SET || set->var.var != chosen || kept->kind != IS_SET || kept->var.var != chosen || copied(kept) != to)
            return false;
        for (int j = k + 1; j < n; j++)
            if (reads(then->list.at[then->list.n - n + j]->var.value, to))
                return false;
    }
    return true;
}

static void assign_in(ImpBlock *kernel, ImpBlock *list)
{
    for (int i = 0; i < list->list.n; i++) {
        ImpStmt *s = list->list.at[i];
        if (s->kind == IS_FOR)
            assign_in(kernel, &s->loop.body);
        if (s->kind != IS_IF)
            continue;
        assign_in(kernel, &s->branch.then);
        assign_in(kernel, &s->branch.otherwise);
        int n = 0;
        while (i + 1 + n < list->list.n && copied(list->list.at[i + 1 + n]))
            n++;
        n = n < s->branch.otherwise.list.n ? n : s->branch.otherwise.list.n;
        if (!n || !keeps_rest(kernel, list->list.at + i + 1, n, s))
            continue;
        ImpBlock *then = &s->branch.then;
        for (int k = 0; k < n; k++) {
            ImpVar *chosen = then->list.at[then->list.n - n + k]->var.var;
            then->list.at[then->list.n - n + k]->var.var = list->list.at[i + 1]->var.var;
            block_remove(list, i + 1);
            for (int j = i - 1; j >= 0; j--)
                if (list->list.at[j]->kind == IS_DECL && list->list.at[j]->var.var == chosen) {
                    block_remove(list, j);
                    i--;
                }
        }
        s->branch.otherwise.list.n = 0;
    }
}

void branches_assign(ImpBlock *kernel) { assign_in(kernel, kernel); }
