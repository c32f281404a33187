/* What many numbers are divided by. A division of integers takes some thirty instructions, and a product takes one. So the text of a kernel declares
 *
 *   const Divisor<Index> by_m(m);
 *
 * and `i / by_m` and `i % by_m` in it are operators that multiply (HELPER(DIVISOR) in cuda_helpers.def). In imp these stay quotients by m. So does the text of a
 * function that several kernels call, if it goes through their blocks. */
#include "codegen/cuda_internal.h"

enum { OFTEN = 2, IN_LOOP = 2 }; /* so many divisions are worth a divisor; one in a loop counts as two */

typedef struct Found {
    Nat divisor;
    int times;
} Found;

typedef struct Find {
    Cuda *c;
    VEC(Nat) same; /* variables that are the same in a block: of its loops */
    VEC(Nat) seen; /* quotients and remainders */
    VEC(Found) found;
    VEC(Nat) derived; /* variables whose values follow from sizes alone, in the order of their declarations */
    bool inside; /* of a loop that may have several turns for a thread */
} Find;

static bool is_size(const Find *f, Nat var)
{
    const Cuda *c = f->c;
    for (int i = 0; i < c->kernel->n_sizes; i++)
        if (c->kernel->sizes[i] == var)
            return true;
    for (int i = 0; c->function && i < c->function->params.n; i++)
        if (c->function->params.at[i].kind == PARAM_NAT && c->function->params.at[i].nat == var)
            return true;
    for (int i = 0; i < f->derived.n; i++)
        if (f->derived.at[i] == var)
            return true;
    return false;
}

static bool is_same(const Find *f, Nat var)
{
    for (int a = 0; a < 3; a++)
        if (f->c->kernel->block[a] == var || f->c->kernel->grid[a] == var)
            return true;
    for (int i = 0; i < f->same.n; i++)
        if (f->same.at[i] == var)
            return true;
    return is_size(f, var);
}

typedef struct Vars {
    const Find *f;
    bool sizes, same; /* so far, all variables are */
    bool block;       /* one of them is the position of a block */
} Vars;

static void look_at_var(void *user, Nat var)
{
    Vars *v = user;
    v->sizes &= is_size(v->f, var);
    v->same &= is_same(v->f, var);
    for (int a = 0; a < 3; a++)
        v->block |= v->f->c->kernel->block[a] == var;
}

static Vars vars_of(const Find *f, Nat nat)
{
    Vars v = {f, true, true, false};
    nat_each_var(f->c->ctx, nat, look_at_var, &v);
    return v;
}

static void note_division(Find *f, Nat nat)
{
    for (int i = 0; i < f->seen.n; i++)
        if (f->seen.at[i] == nat)
            return;
    vec_push(f->c->ctx, &f->seen, nat);
    int at = 0;
    while (at < f->found.n && f->found.at[at].divisor != nat->b)
        at++;
    if (at == f->found.n)
        vec_push(f->c->ctx, &f->found, ((Found){nat->b, 0}));
    f->found.at[at].times += f->inside ? IN_LOOP : 1;
}

static void note_nat(void *user, Nat nat)
{
    Find *f = user;
    bool divides = nat->kind == NAT_DIV || nat->kind == NAT_MOD;
    if (divides && nat->b->has_vars && nat->b->kind != NAT_POW && vars_of(f, nat->b).sizes && !vars_of(f, nat->a).same)
        note_division(f, nat);
    if (nat->a)
        note_nat(f, nat->a);
    if (nat->b)
        note_nat(f, nat->b);
    for (int i = 0; i < nat->n_terms; i++)
        for (int k = 0; k < nat->terms[i].n_factors; k++)
            note_nat(f, nat->terms[i].factors[k]);
}

static void note_block(Find *f, const ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->call) { /* a function has divisions of its own */
            for (int k = 0; k < s->call->function->params.n; k++)
                if (s->call->args[k].nat)
                    note_nat(f, s->call->args[k].nat);
            i += s->call->n - 1;
            continue;
        }
        if (cuda_is_shown(s))
            walk_nats(s, note_nat, f);
        if (!f->inside && s->kind == IS_DECL && s->var.var->nat && s->var.value && s->var.value->kind == IE_NAT && vars_of(f, s->var.value->nat).sizes)
            vec_push(f->c->ctx, &f->derived, s->var.var->nat);
        if (s->kind == IS_IF) {
            note_block(f, &s->branch.then);
            note_block(f, &s->branch.otherwise);
        }
        if (s->kind != IS_FOR)
            continue;
        bool inside = f->inside;
        Vars first = vars_of(f, s->loop.lo);
        if (first.same && !nat_is_const(s->loop.lo))
            vec_push(f->c->ctx, &f->same, s->loop.var);
        f->inside = inside || !first.block;
        note_block(f, &s->loop.body);
        f->inside = inside;
    }
}

static const char *wanted_name(Ctx *ctx, Nat divisor)
{
    if (divisor->kind == NAT_VAR)
        return ctx_printf(ctx, "by_%s", divisor->name);
    if (divisor->kind != NAT_SUM || divisor->n_terms > 1)
        return "by_size";
    const char *name = "by";
    for (int k = divisor->terms[0].n_factors - 1; k >= 0; k--)
        if (divisor->terms[0].factors[k]->kind == NAT_VAR)
            name = ctx_printf(ctx, "%s_%s", name, divisor->terms[0].factors[k]->name);
    return divisor->terms[0].coef == 1 ? name : ctx_printf(ctx, "%s_%lld", name, (long long)divisor->terms[0].coef);
}

/* The last variable that is declared of those it mentions; NULL: it mentions sizes alone. */
static Nat declared_last(const Find *f, Nat divisor)
{
    for (int i = f->derived.n - 1; i >= 0; i--)
        if (nat_mentions(divisor, f->derived.at[i]))
            return f->derived.at[i];
    return NULL;
}

bool cuda_put_divisors_after(Cuda *c, Nat declared)
{
    bool any = false;
    for (const NatNamed *d = c->divisors; d && d->nat; d++) {
        if (c->divisors_after[d - c->divisors] != declared)
            continue;
        cuda_indent(c);
        sb_printf(c->out, "const %s<%s> %s(", cuda_helper(c, HELP_DIVISOR, SC_I32), cuda_index_type(c->index), d->name);
        const NatNamed *all = c->divisors;
        c->divisors = NULL; /* it is no quotient */
        cuda_nat(c, d->nat, C_ANY);
        c->divisors = all;
        sb_puts(c->out, ");\n");
        any = true;
    }
    return any;
}

bool cuda_put_divisors(Cuda *c)
{
    Find f = {.c = c};
    note_block(&f, &c->kernel->body);
    NatNamed *named = NEWN(c->ctx, NatNamed, f.found.n + 1);
    Nat *after = NEWN(c->ctx, Nat, f.found.n + 1);
    int n = 0;
    for (int i = 0; i < f.found.n; i++) {
        Nat divisor = f.found.at[i].divisor;
        if (f.found.at[i].times < OFTEN)
            continue;
        named[n] = (NatNamed){divisor, c_name_claim(c->names, wanted_name(c->ctx, divisor))};
        after[n++] = declared_last(&f, divisor);
    }
    c->divisors = named;
    c->divisors_after = after;
    return cuda_put_divisors_after(c, NULL);
}
