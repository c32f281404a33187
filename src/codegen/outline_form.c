/* What a statement is, as words, and what of it may differ between two places, as slots.
 *
 * The words are all that a function cannot have as a parameter: the kinds of statements and
 * expressions, types, literals, the spaces of buffers. */
#include "codegen/outline.h"
#include "codegen/tails.h"

typedef struct Forming {
    Ctx *ctx;
    Form *form;
    int inside; /* loops and branches around */
    int full;   /* loops with `full` around */
} Forming;

static void word(Forming *f, uint64_t w)
{
    const uint64_t mixed = (f->form->hash ^ w) * 0x9e3779b97f4a7c15u;
    f->form->hash = mixed ^ mixed >> 29;
    vec_push(f->ctx, &f->form->words, w);
}

static Slot *slot(Forming *f, SlotKind kind)
{
    vec_push(f->ctx, &f->form->slots, ((Slot){.kind = kind, .partly = f->inside > 0}));
    return &f->form->slots.at[f->form->slots.n - 1];
}

static void var_type(Forming *f, const ImpVar *var)
{
    word(f, (uint64_t)var->type << 32 | (uint64_t)var->slots << 8 | (uint64_t)var->vector << 2 |
                (uint64_t)var->constant << 1 | (var->nat != NULL));
}

static void var_slot(Forming *f, ImpVar *var, bool declares, bool sets)
{
    var_type(f, var);
    Slot *s = slot(f, SLOT_VAR);
    s->var = var;
    s->declares = declares;
    s->sets = sets;
}

static Slot *number(Forming *f, Nat *at)
{
    Slot *s = slot(f, SLOT_NAT);
    s->at = at;
    return s;
}

static void cell(Forming *f, ImpBuf **at, Nat *index, bool reads)
{
    ImpBuf *buf = *at;
    bool global = buf->space != SPACE_SHARED;
    word(f, (uint64_t)buf->elem << 16 | (uint64_t)buf->hint << 8 | (uint64_t)buf->by_value << 4 |
                (uint64_t)(global && !reads ? SPACE_OUTPUT : buf->space));
    slot(f, SLOT_BUF)->buf = buf;
    if (index)
        number(f, index)->buf = buf;
}

/* The number is of totals: imp_mail_words cells each. */
static void mail(Forming *f, ImpBuf **at, Nat *totals)
{
    cell(f, at, NULL, false);
    number(f, totals);
}

/* A vector is aligned as the caller's arrays are, or as workspace is. */
static void vector(Forming *f, ImpStmt *s, bool reads)
{
    word(f, (uint64_t)s->vec.n << 8 | s->vec.buf->space);
    cell(f, &s->vec.buf, &s->vec.index, reads);
}

static void expr(Forming *f, ImpExpr *e)
{
    word(f, (uint64_t)e->kind << 8 | e->type);
    switch (e->kind) {
    case IE_LIT: word(f, e->lit.u); break;
    case IE_NAT: number(f, &e->nat); break;
    case IE_VAR:
        var_slot(f, e->var.var, false, false);
        if (e->var.var->vector)
            word(f, (uint64_t)e->var.slot->value);
        else if (e->var.var->slots > 1)
            number(f, &e->var.slot)->fixed = true;
        break;
    case IE_LOAD: cell(f, &e->mem.buf, &e->mem.index, true); break;
    case IE_OP:
        word(f, (uint64_t)e->op.id << 16 | (uint64_t)e->op.n << 2 | (uint64_t)e->op.rounded << 1 |
                    e->op.spared);
        f->form->spared |= e->op.spared && !f->full;
        for (int i = 0; i < e->op.n; i++)
            expr(f, e->op.args[i]);
        break;
    case IE_CAST: expr(f, e->cast.value); break;
    case IE_COND:
        expr(f, e->cond.cond);
        expr(f, e->cond.then);
        expr(f, e->cond.otherwise);
        break;
    case IE_SHFL:
        word(f, (uint64_t)e->shfl.id << 16 | (uint64_t)e->shfl.op << 1 | (e->shfl.by != NULL));
        if (e->shfl.by)
            expr(f, e->shfl.by);
        expr(f, e->shfl.value);
        break;
    }
}

static void opt_expr(Forming *f, ImpExpr *e)
{
    word(f, e != NULL);
    if (e)
        expr(f, e);
}

static int stmt(Forming *f, ImpStmt *s);

/* Lines of text, of which several stand in brackets. */
static int block(Forming *f, ImpBlock *b, int number)
{
    int lines = 0;
    if (!f->inside)
        f->form->blocks[number] = f->form->slots.n;
    f->inside++;
    for (int i = 0; i < b->list.n; i++)
        if (!form_is_nothing(b->list.at[i]))
            lines += stmt(f, b->list.at[i]);
    f->inside--;
    word(f, UINT64_MAX); /* its end */
    return lines > 1 ? lines + 1 : lines;
}

static int loop(Forming *f, ImpStmt *s)
{
    word(f, (uint64_t)s->loop.at_once << 8 | (uint64_t)s->loop.unroll);
    opt_expr(f, s->loop.full);
    number(f, &s->loop.lo)->bounds = true;
    number(f, &s->loop.hi)->bounds = true;
    number(f, &s->loop.step)->fixed = nat_is_const(s->loop.step);
    f->form->slots.at[f->form->slots.n - 2].fixed = s->loop.unroll || nat_is_const(s->loop.hi);
    slot(f, SLOT_LOOP)->loop = s->loop.var;
    f->full += s->loop.full != NULL;
    int lines = 1 + (s->loop.unroll || s->loop.at_once) + 2 * (s->loop.full != NULL);
    lines += block(f, &s->loop.body, 0);
    f->full -= s->loop.full != NULL;
    return lines;
}

/* The axes on which there is more than one block: their number is printed. */
static void grid(Forming *f, ImpStmt *s, bool flag)
{
    f->form->grid = true;
    cell(f, &s->ticket.buf, NULL, false);
    if (flag)
        cell(f, &s->ticket.flag, NULL, false);
}

static int vset(Forming *f, ImpStmt *s)
{
    word(f, (uint64_t)s->vec.n << 1 | s->vec.declares);
    for (int k = 0; k < s->vec.n; k++)
        expr(f, s->vec.values[k]);
    var_slot(f, s->vec.var, s->vec.declares, true);
    return !s->vec.declares && tail_by_component(s) ? s->vec.n : 1;
}

/* Gives the lines that it takes. */
static void serve(Forming *f, ImpStmt *s)
{
    word(f, (uint64_t)s->serve.n_parts << 1 | (s->serve.row != NULL));
    for (int k = 0; k < s->serve.n_parts; k++) {
        ImpServed *part = &s->serve.parts[k];
        cell(f, &part->mail, NULL, false);
        var_slot(f, part->sum, true, true);
        var_slot(f, part->next, true, true);
    }
    number(f, &s->serve.n);
    if (s->serve.row)
        number(f, &s->serve.row);
    number(f, &s->serve.lane);
    for (int k = 0; k < s->serve.n_parts; k++) {
        expr(f, s->serve.parts[k].value);
        expr(f, s->serve.parts[k].unit);
    }
}

static int stmt(Forming *f, ImpStmt *s)
{
    word(f, (uint64_t)s->kind << 48);
    switch (s->kind) {
    case IS_DECL:
        word(f, s->var.second);
        opt_expr(f, s->var.value);
        var_slot(f, s->var.var, true, s->var.value != NULL);
        return !s->var.second;
    case IS_SET:
        expr(f, s->var.value);
        var_slot(f, s->var.var, false, true);
        f->form->slots.at[f->form->slots.n - 1].partly |= s->var.var->slots > 1;
        if (s->var.var->vector)
            word(f, (uint64_t)s->var.slot->value);
        else if (s->var.var->slots > 1)
            number(f, &s->var.slot)->fixed = true;
        return 1;
    case IS_STORE:
        expr(f, s->store.value);
        cell(f, &s->store.buf, &s->store.index, false);
        return 1;
    case IS_VSET: return vset(f, s);
    case IS_VLOAD:
        vector(f, s, true);
        word(f, s->vec.declares);
        var_slot(f, s->vec.var, s->vec.declares, true);
        return 1;
    case IS_VSTORE:
        for (int k = 0; k < s->vec.n; k++)
            expr(f, s->vec.values[k]);
        vector(f, s, false);
        return 1;
    case IS_ATOMIC:
        var_slot(f, s->atomic.old, true, true);
        expr(f, s->atomic.value);
        cell(f, &s->atomic.buf, &s->atomic.index, false);
        return 1;
    case IS_TICKET: grid(f, s, true); return 1;
    case IS_GRID_SYNC: grid(f, s, false); return 1;
    case IS_GIVE:
        expr(f, s->exchange.value);
        mail(f, &s->exchange.mail, &s->exchange.index);
        return 1;
    case IS_AWAIT:
        mail(f, &s->exchange.mail, &s->exchange.index);
        cell(f, &s->exchange.cell, NULL, false);
        return 1;
    case IS_SERVE:
        serve(f, s);
        return 1;
    case IS_FOR: return loop(f, s);
    case IS_IF: {
        expr(f, s->branch.cond);
        int then = block(f, &s->branch.then, 0), otherwise = block(f, &s->branch.otherwise, 1);
        AllOrFewer one;
        if (tail_find_both(f->ctx, s, &one))
            return 2;
        return then <= 1 && !otherwise ? 1 : 1 + then + otherwise;
    }
    case IS_SYNC: word(f, s->sync); return 1;
    case IS_ALLOC:
    case IS_NOTE: break;
    }
    return 0;
}

bool form_is_nothing(const ImpStmt *s) { return s->kind == IS_NOTE || s->kind == IS_ALLOC; }

Form *form_of(Ctx *ctx, ImpStmt *s)
{
    Form *form = NEW(ctx, Form);
    Forming f = {.ctx = ctx, .form = form};
    form->lines = stmt(&f, s);
    return form;
}

bool form_same(const Form *a, const Form *b)
{
    return a->hash == b->hash && a->words.n == b->words.n &&
           !memcmp(a->words.at, b->words.at, sizeof *a->words.at * (size_t)a->words.n);
}
