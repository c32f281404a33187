/* Instructions and their registers, and nats: those that have one value for the warp are computed once, in scalar registers. */
#include "codegen/walk.h"
#include "sim/compile.h"

void *run_grow(Arena *arena, void *at, int n, int *cap, size_t item)
{
    int wider = *cap ? *cap * 2 : 16;
    void *to = arena_alloc(arena, item * (size_t)wider);
    if (n)
        memcpy(to, at, item * (size_t)n);
    *cap = wider;
    return to;
}

void compile_bug(Compiler *c, const char *what)
{
    if (!c->failed)
        sim_bug(c->run, c->span, "the kernel `%s` %s", c->run->kernel->name, what);
    c->failed = true;
}

/* ---- emitting ------------------------------------------------------------------------------------------------------ */

Ins *compile_emit(Compiler *c, OpCode op)
{
    run_push(c->arena, &c->code->ins, (Ins){.op = (uint8_t)op, .site = NO_SITE});
    run_push(c->arena, &c->code->spans, c->place);
    return &c->code->ins.at[c->code->ins.n - 1];
}

uint32_t compile_site(Compiler *c, Span span, const ImpBuf *buf, bool store, const char *what)
{
    Code *code = c->code;
    if (!buf && code->sites.n) {
        const Site *last = &code->sites.at[code->sites.n - 1];
        if (!last->buf && last->what == what && memcmp(&last->span, &span, sizeof span) == 0)
            return (uint32_t)code->sites.n - 1;
    }
    run_push(c->arena, &code->sites, (Site){.span = span, .buf = buf, .store = store, .what = what});
    return (uint32_t)code->sites.n - 1;
}

int compile_masks(Compiler *c, int n)
{
    int first = c->masks;
    c->masks += n;
    if (c->masks > c->code->n_masks)
        c->code->n_masks = c->masks;
    return first;
}

int compile_here(const Compiler *c) { return c->code->ins.n; }

/* ---- registers ----------------------------------------------------------------------------------------------------- */

int register_of(Compiler *c, Pool *p)
{
    int r = p->free.n ? p->free.at[--p->free.n] : p->n++;
    run_push(c->arena, &p->live, r);
    return r;
}

static void pool_release(Compiler *c, Pool *p, int mark)
{
    while (p->live.n > mark) {
        int r = p->live.at[--p->live.n];
        run_push(c->arena, &p->free, r);
    }
}

/* Gives back the temporaries above the mark but `keep`, if it is one of them. */
static void pool_release_but(Compiler *c, Pool *p, int mark, int keep)
{
    bool found = false;
    while (p->live.n > mark) {
        int r = p->live.at[--p->live.n];
        if (r == keep)
            found = true;
        else
            run_push(c->arena, &p->free, r);
    }
    if (found)
        run_push(c->arena, &p->live, keep);
}

Mark register_mark(const Compiler *c) { return (Mark){c->vectors.live.n, c->scalars.live.n}; }

void register_release(Compiler *c, Mark m)
{
    pool_release(c, &c->vectors, m.vectors);
    pool_release(c, &c->scalars, m.scalars);
}

int register_temp(Compiler *c) { return register_of(c, &c->vectors); }

int register_preset(Compiler *c, bool vector, uint64_t bits)
{
    Pool *pool = vector ? &c->vectors : &c->scalars;
    Code *code = c->code;
    int n = vector ? code->vectors.n : code->scalars.n;
    const Preset *at = vector ? code->vectors.at : code->scalars.at;
    for (int i = n - 1; i >= 0 && i >= n - 64; i--) /* the constants of a kernel are few, or new */
        if (at[i].bits == bits)
            return at[i].reg;
    Preset p = {pool->n++, bits};
    if (vector)
        run_push(c->arena, &code->vectors, p);
    else
        run_push(c->arena, &code->scalars, p);
    return p.reg;
}

int const_operand(Compiler *c, int64_t value) { return ~register_preset(c, false, (uint64_t)value); }

/* ---- nats ---------------------------------------------------------------------------------------------------------- */

static const Binding *find_binding(const Compiler *c, Nat nat)
{
    for (int i = c->bindings.n - 1; i >= 0; i--)
        if (c->bindings.at[i].nat == nat)
            return &c->bindings.at[i];
    return NULL;
}

void bind_nat(Compiler *c, Nat nat, int operand, int var)
{
    if (nat && nat->kind == NAT_VAR)
        run_push(c->arena, &c->bindings, (Binding){nat, operand, var});
}

void check_set(Compiler *c, int reg, int var)
{
    if (c->var_known[var])
        return;
    Ins *i = compile_emit(c, X_CHECK_SET);
    i->a = reg;
    i->k = var;
    i->site = compile_site(c, c->span, NULL, false, "");
}

static int nat_ins(Compiler *c, OpCode op, int a, int b, int64_t k)
{
    bool one = op == N_MULK || op == N_LOG2;
    if (one)
        b = a;
    bool scalar = a < 0 && b < 0;
    int dst = scalar ? ~register_of(c, &c->scalars) : register_temp(c);
    Ins *i = compile_emit(c, op);
    i->dst = dst;
    i->a = a;
    i->b = b;
    i->k = k;
    i->site = compile_site(c, c->span, NULL, false, "an index");
    return dst;
}

static int nat_node(Compiler *c, Nat a);

static int nat_product(Compiler *c, const NatTerm *t)
{
    /* Factors that the warp shares first, so that they are multiplied once. */
    int product = NO_REG;
    for (int varying = 0; varying < 2; varying++)
        for (int j = 0; j < t->n_factors; j++) {
            int x = nat_node(c, t->factors[j]);
            if ((x >= 0) == varying)
                product = product == NO_REG ? x : nat_ins(c, N_MUL, product, x, 0);
        }
    return product;
}

static int nat_sum(Compiler *c, Nat a)
{
    int sum = NO_REG, *product = ARENA_NEWN(c->arena, int, a->n_terms);
    for (int j = 0; j < a->n_terms; j++)
        product[j] = a->terms[j].n_factors ? nat_product(c, &a->terms[j]) : const_operand(c, a->terms[j].coef);
    for (int varying = 0; varying < 2; varying++)
        for (int j = 0; j < a->n_terms; j++) {
            int x = product[j];
            int64_t k = a->terms[j].n_factors ? a->terms[j].coef : 1;
            if ((x >= 0) != varying)
                continue;
            if (sum == NO_REG)
                sum = k == 1 ? x : nat_ins(c, N_MULK, x, x, k);
            else
                sum = k == 1 ? nat_ins(c, N_ADD, sum, x, 0) : nat_ins(c, N_ADDMUL, sum, x, k);
        }
    return sum == NO_REG ? const_operand(c, 0) : sum;
}

static int nat_var_operand(Compiler *c, Nat a)
{
    const Binding *b = find_binding(c, a);
    int64_t value;
    if (!b && launch_device_value(c->run->launch, a, &value))
        return const_operand(c, value);
    if (!b) {
        compile_bug(c, ctx_printf(c->run->ctx, "mentions `%s` where it has no value", a->name));
        return const_operand(c, 0);
    }
    if (b->var >= 0)
        check_set(c, b->operand, b->var);
    return b->operand;
}

static int nat_node(Compiler *c, Nat a)
{
    if (a->kind == NAT_CONST)
        return const_operand(c, a->value);
    for (int i = 0; i < c->memo.n; i++)
        if (c->memo.at[i].nat == a)
            return c->memo.at[i].operand;
    int r = NO_REG;
    switch (a->kind) {
    case NAT_CONST: break;
    case NAT_ERROR:
        compile_bug(c, "has an index that was too large for the compiler");
        r = const_operand(c, 0);
        break;
    case NAT_VAR: r = nat_var_operand(c, a); break;
    case NAT_SUM: r = nat_sum(c, a); break;
    case NAT_DIV: r = nat_ins(c, N_DIV, nat_node(c, a->a), nat_node(c, a->b), 0); break;
    case NAT_MOD: r = nat_ins(c, N_MOD, nat_node(c, a->a), nat_node(c, a->b), 0); break;
    case NAT_MIN: r = nat_ins(c, N_MIN, nat_node(c, a->a), nat_node(c, a->b), 0); break;
    case NAT_MAX: r = nat_ins(c, N_MAX, nat_node(c, a->a), nat_node(c, a->b), 0); break;
    case NAT_POW: r = nat_ins(c, N_POW, nat_node(c, a->a), nat_node(c, a->b), 0); break;
    case NAT_LOG2: r = nat_ins(c, N_LOG2, nat_node(c, a->a), 0, 0); break;
    }
    run_push(c->arena, &c->memo, (Memo){a, r});
    return r;
}

/* The operand that holds a nat: a variable's own register, a constant or a temporary. */
int compile_nat(Compiler *c, Nat a, Span span)
{
    Span outer = c->span;
    Mark m = register_mark(c);
    c->span = span;
    c->memo.n = 0; /* what is computed here is used here only, so that no value outlives its mask */
    int r = nat_node(c, a);
    pool_release_but(c, &c->vectors, m.vectors, r);
    pool_release_but(c, &c->scalars, m.scalars, ~r);
    c->span = outer;
    return r;
}

typedef struct Known {
    const Compiler *c;
    bool all;
} Known;

static void is_bound(void *user, Nat var)
{
    Known *k = user;
    k->all = k->all && (find_binding(k->c, var) || imp_is_device_size(var));
}

/* Whether a bound of a variable can be evaluated here. */
static bool checkable(const Compiler *c, Nat bound)
{
    Known k = {c, true};
    if (!bound || nat_is_error(bound))
        return false;
    nat_each_var(c->run->ctx, bound, is_bound, &k);
    return k.all;
}

/* The simplifier relied on the range of the variable; see that it holds. */
void check_range(Compiler *c, Nat var, int operand, Span span)
{
    bool lo = checkable(c, var->lo), hi = checkable(c, var->hi);
    if (!lo && !hi)
        return;
    Mark m = register_mark(c);
    int low = lo ? compile_nat(c, var->lo, span) : 0, high = hi ? compile_nat(c, var->hi, span) : 0;
    Ins *i = compile_emit(c, X_RANGE);
    i->a = operand;
    i->b = low;
    i->c = high;
    i->k = lo + 2 * hi;
    i->site = compile_site(c, span, NULL, false, var->name);
    register_release(c, m);
}
