#include "rmarks.h"

#include "codegen/walk.h"
#include "rtree.h"

enum { LARGEST_LITERAL = 100 };

static void add_mark(Marks *m, int64_t value)
{
    if (value < 2 || value > m->most || m->n == MARKS_MAX)
        return;
    for (int k = 0; k < m->n; k++)
        if (m->at[k] == value)
            return;
    m->at[m->n++] = value;
}

/* Every number in it. */
static void add_nat(Marks *m, Nat nat)
{
    add_mark(m, nat->value);
    if (nat->kind == NAT_SUM) {
        for (int i = 0; i < nat->n_terms; i++) {
            add_mark(m, nat->terms[i].coef);
            for (int k = 0; k < nat->terms[i].n_factors; k++)
                add_nat(m, nat->terms[i].factors[k]);
        }
    }
    if (nat->a)
        add_nat(m, nat->a);
    if (nat->b)
        add_nat(m, nat->b);
}

/* The tests at the top of an entry: what sizes are compared with. */
static void add_test(Marks *m, const Core *test)
{
    if (test->kind == CORE_SIZE)
        add_nat(m, test->size);
    if (test->kind == CORE_LIT && scalar_is_int(test->lit.type))
        add_mark(m, test->lit.i);
    if (test->kind == CORE_PRIM)
        for (int i = 0; i < test->prim.n_args; i++)
            add_test(m, test->prim.args[i]);
}

static void add_literal(Marks *m, ScalarValue v)
{
    double value = scalar_is_float(v.type) ? v.f : (double)v.i;
    if (v.type == SC_BOOL || !(value > -LARGEST_LITERAL && value < LARGEST_LITERAL) || m->n_literals == MARKS_MAX)
        return;
    for (int k = 0; k < m->n_literals; k++)
        if (m->literals[k] == value)
            return;
    m->literals[m->n_literals++] = value;
}

static void add_condition(void *user, ImpExpr **at)
{
    Marks *m = user;
    const ImpExpr *e = *at;
    if (e->kind == IE_LIT)
        add_literal(m, e->lit);
    if (e->kind == IE_OP && e->type == SC_BOOL)
        for (int i = 0; i < e->op.n; i++)
            if (e->op.args[i]->kind == IE_NAT)
                add_nat(m, e->op.args[i]->nat);
}

static void add_stmt(void *user, ImpStmt *s)
{
    Marks *m = user;
    walk_own(s, add_condition, m);
    if (s->kind == IS_FOR) {
        add_nat(m, s->loop.hi);
        add_nat(m, s->loop.step);
    }
}

Marks marks_of(Ctx *ctx, const ImpProgram *program, int64_t most)
{
    Marks m = {.ctx = ctx, .most = most};
    for (int i = 0; i < program->entry->n_facts; i++)
        add_test(&m, program->entry->facts[i]);
    for (int i = 0; i < program->launches.n; i++)
        for (int v = 0; v < program->launches.at[i].variants.n; v++) {
            const ImpWhens *when = &program->launches.at[i].variants.at[v].when;
            for (int w = 0; w < when->n; w++)
                add_test(&m, when->at[w].test);
        }
    const ImpKernel *kernel;
    for (int k = 0; (kernel = imp_form(program, k)); k++) {
        for (int a = 0; a < 3; a++)
            add_nat(&m, kernel->blocks[a]);
    }
    for (int k = 0; (kernel = imp_form(program, k)); k++)
        walk_stmts((ImpBlock *)&kernel->body, add_stmt, &m);
    return m;
}

/* The first ones, of size tests and numbers of blocks, more often. */
static int64_t some_mark(const Marks *m, uint64_t *state)
{
    int a = random_below(state, m->n), b = random_below(state, m->n);
    return m->at[a < b ? a : b];
}

static int64_t near_mark(const Marks *m, uint64_t *state)
{
    if (m->n == 0)
        return 1 + random_below(state, 100);
    int64_t mark = some_mark(m, state);
    switch (random_below(state, 9)) {
    case 0: return mark;
    case 1: return mark - 1;
    case 2: return mark * (1 + random_below(state, 3)) + 1 + random_below(state, 4);
    case 3: return random_below(state, 2) ? mark - random_below(state, (int)(mark / 2)) : mark * (1 + random_below(state, 2)) - random_below(state, 8);
    case 4: return mark * (1 + random_below(state, 3)) - 1 + random_below(state, 2);
    case 5: return mark * (1 + random_below(state, 5)) + some_mark(m, state) - random_below(state, 2);
    case 6: return mark * (random_below(state, 2) ? some_mark(m, state) : 1 + random_below(state, 64)) - random_below(state, 2);
    case 7: return mark + random_below(state, (int)mark);
    default: return 1 + random_below(state, (int)(m->most / 4 >> random_below(state, 12)));
    }
}

int64_t marks_size(const Marks *m, int n_sizes, uint64_t *state)
{
    static const int64_t few[] = {1, 2, 3, 4, 5, 8, 12, 16, 20, 28, 31, 32, 33, 35, 48, 60, 63, 64};
    return random_below(state, n_sizes > 1 ? 2 : 8) ? near_mark(m, state) : few[random_below(state, (int)(sizeof few / sizeof *few))];
}
