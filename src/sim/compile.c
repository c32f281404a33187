/* From the imp of a kernel to flat code.
 *
 * Before: a tree of statements over nats. After: instructions on registers of 32 lanes with explicit masks, which a warp can leave at a
 * barrier and enter again. Nats that have one value for the warp (sizes, the block, the warp, loops that start and step alike in all
 * lanes) are computed once, in scalar registers. An instruction runs only while some lane is active. */
#include "codegen/walk.h"
#include "sim/sim_internal.h"

typedef struct Binding { /* what a nat variable is at this place */
    Nat nat;
    int operand;
    int var; /* register variable of the kernel, -1: none */
} Binding;

typedef struct Memo {
    Nat nat;
    int operand;
} Memo;

typedef struct Pool { /* registers of one kind; temporaries are a stack and are used again */
    int n;
    VEC(int) live, free;
} Pool;

typedef struct Ready {
    const ImpExpr *expr;
    int operand;
} Ready;

typedef struct Compiler {
    Run *run;
    Arena *arena;
    Code *code;
    Pool vectors, scalars;
    VEC(Binding) bindings;
    VEC(Memo) memo;       /* of one nat */
    int *var_reg;         /* per ImpVar: its first register, -1: none yet */
    bool *var_known;      /* per ImpVar: declared with a value in a block around this place */
    VEC(int) loops;       /* the slots of trip counts of the loops around */
    VEC(Ready) ready;     /* of one atomic: what the lanes have computed before they go one by one */
    int masks;            /* slots in use */
    bool failed;
    Span span;
    Span statement, place; /* of profiles: see place_of_expr */
    struct IndexCosts *costs; /* of profiles, or NULL */
} Compiler;

static int compile_expr(Compiler *c, const ImpExpr *e);
static void compile_block(Compiler *c, const ImpBlock *block);

void *run_grow(Arena *arena, void *at, int n, int *cap, size_t item)
{
    int wider = *cap ? *cap * 2 : 16;
    void *to = arena_alloc(arena, item * (size_t)wider);
    if (n)
        memcpy(to, at, item * (size_t)n);
    *cap = wider;
    return to;
}

static void bug(Compiler *c, const char *what)
{
    if (!c->failed)
        sim_bug(c->run, c->span, "the kernel `%s` %s", c->run->kernel->name, what);
    c->failed = true;
}

/* ---- emitting ------------------------------------------------------------------------------------------------------ */

static Ins *emit(Compiler *c, OpCode op)
{
    run_push(c->arena, &c->code->ins, (Ins){.op = (uint8_t)op, .site = NO_SITE});
    run_push(c->arena, &c->code->spans, c->place);
    return &c->code->ins.at[c->code->ins.n - 1];
}

static uint32_t site(Compiler *c, Span span, const ImpBuf *buf, bool store, const char *what)
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

static int masks(Compiler *c, int n)
{
    int first = c->masks;
    c->masks += n;
    if (c->masks > c->code->n_masks)
        c->code->n_masks = c->masks;
    return first;
}

static int here(const Compiler *c) { return c->code->ins.n; }

/* ---- registers ----------------------------------------------------------------------------------------------------- */

static int pool_temp(Compiler *c, Pool *p)
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

typedef struct Mark {
    int vectors, scalars;
} Mark;

static Mark mark(const Compiler *c) { return (Mark){c->vectors.live.n, c->scalars.live.n}; }

static void release(Compiler *c, Mark m)
{
    pool_release(c, &c->vectors, m.vectors);
    pool_release(c, &c->scalars, m.scalars);
}

static int temp(Compiler *c) { return pool_temp(c, &c->vectors); }

static int preset(Compiler *c, bool vector, uint64_t bits)
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

static int const_operand(Compiler *c, int64_t value) { return ~preset(c, false, (uint64_t)value); }

/* ---- nats ---------------------------------------------------------------------------------------------------------- */

static const Binding *find_binding(const Compiler *c, Nat nat)
{
    for (int i = c->bindings.n - 1; i >= 0; i--)
        if (c->bindings.at[i].nat == nat)
            return &c->bindings.at[i];
    return NULL;
}

static void bind(Compiler *c, Nat nat, int operand, int var)
{
    if (nat && nat->kind == NAT_VAR)
        run_push(c->arena, &c->bindings, (Binding){nat, operand, var});
}

static void check_set(Compiler *c, int reg, int var)
{
    if (c->var_known[var])
        return;
    Ins *i = emit(c, X_CHECK_SET);
    i->a = reg;
    i->k = var;
    i->site = site(c, c->span, NULL, false, "");
}

static int nat_ins(Compiler *c, OpCode op, int a, int b, int64_t k)
{
    bool one = op == N_MULK || op == N_LOG2;
    if (one)
        b = a;
    bool scalar = a < 0 && b < 0;
    int dst = scalar ? ~pool_temp(c, &c->scalars) : temp(c);
    Ins *i = emit(c, op);
    i->dst = dst;
    i->a = a;
    i->b = b;
    i->k = k;
    i->site = site(c, c->span, NULL, false, "an index");
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
        bug(c, ctx_printf(c->run->ctx, "mentions `%s` where it has no value", a->name));
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
        bug(c, "has an index that was too large for the compiler");
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
static int compile_nat(Compiler *c, Nat a, Span span)
{
    Span outer = c->span;
    Mark m = mark(c);
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
static void check_range(Compiler *c, Nat var, int operand, Span span)
{
    bool lo = checkable(c, var->lo), hi = checkable(c, var->hi);
    if (!lo && !hi)
        return;
    Mark m = mark(c);
    int low = lo ? compile_nat(c, var->lo, span) : 0, high = hi ? compile_nat(c, var->hi, span) : 0;
    Ins *i = emit(c, X_RANGE);
    i->a = operand;
    i->b = low;
    i->c = high;
    i->k = lo + 2 * hi;
    i->site = site(c, span, NULL, false, var->name);
    release(c, m);
}

/* ---- expressions --------------------------------------------------------------------------------------------------- */

static int var_register(Compiler *c, const ImpVar *var)
{
    if (c->var_reg[var->id] < 0) {
        c->var_reg[var->id] = c->vectors.n;
        c->vectors.n += var->slots;
    }
    return c->var_reg[var->id];
}

static int compile_var(Compiler *c, const ImpExpr *e)
{
    const ImpVar *var = e->var.var;
    int reg = var_register(c, var);
    if (!e->var.slot || nat_is_const(e->var.slot)) {
        int64_t slot = e->var.slot ? e->var.slot->value : 0;
        if (slot < 0 || slot >= var->slots) {
            bug(c, ctx_printf(c->run->ctx, "reads slot %lld of `%s`, which has %d", (long long)slot, var->name, var->slots));
            return reg;
        }
        check_set(c, reg + (int)slot, var->id);
        return reg + (int)slot;
    }
    Mark m = mark(c);
    int slot = compile_nat(c, e->var.slot, e->span);
    release(c, m);
    int dst = temp(c);
    Ins *i = emit(c, X_GET_SLOT);
    i->dst = dst;
    i->a = slot;
    i->b = reg;
    i->c = var->id;
    i->k = var->slots;
    i->site = site(c, e->span, NULL, false, "");
    return dst;
}

static int compile_nat_value(Compiler *c, const ImpExpr *e)
{
    if (nat_is_const(e->nat))
        return preset(c, true, scalar_cast(e->type, (ScalarValue){.type = SC_I64, .i = e->nat->value}).u);
    Mark m = mark(c);
    index_count(c->costs, e->nat, false, c->place);
    int a = compile_nat(c, e->nat, e->span);
    if (e->type == SC_I64 && a >= 0)
        return a;
    release(c, m);
    int dst = temp(c);
    Ins *i = emit(c, X_NAT);
    i->dst = dst;
    i->a = a;
    i->type = (uint8_t)e->type;
    i->site = site(c, e->span, NULL, false, "an index");
    return dst;
}

/* How far a shuffle goes, or from which lane: an index where one value serves all lanes. */
static int compile_shuffle_lane(Compiler *c, const ImpExpr *by) { return by->kind == IE_NAT ? compile_nat(c, by->nat, by->span) : compile_expr(c, by); }

static int compile_cond(Compiler *c, const ImpExpr *e)
{
    int dst = temp(c), m = masks(c, 2);
    Mark inner = mark(c);
    int cond = compile_expr(c, e->cond.cond);
    Ins *i = emit(c, X_IF);
    i->prim = 1;
    i->a = cond;
    i->m = m;
    int branch = here(c) - 1;
    release(c, inner);
    for (int side = 0; side < 2; side++) {
        int value = compile_expr(c, side ? e->cond.otherwise : e->cond.then);
        i = emit(c, X_MOVE);
        i->dst = dst;
        i->a = value;
        release(c, inner);
        if (side == 0) {
            c->code->ins.at[branch].k = here(c);
            emit(c, X_ELSE)->m = m;
            branch = here(c) - 1;
        }
    }
    c->code->ins.at[branch].k = here(c);
    emit(c, X_ENDIF)->m = m;
    c->masks -= 2;
    return dst;
}

typedef struct Contents {
    bool loads, shuffles;
} Contents;

static void note_contents(void *user, ImpExpr **at)
{
    Contents *contents = user;
    contents->loads |= (*at)->kind == IE_LOAD;
    contents->shuffles |= (*at)->kind == IE_SHFL;
}

/* As && and || of C: what the right side loads may be there only where the left side says so. With a shuffle both sides are computed. */
static bool is_lazy(const ImpExpr *e)
{
    Contents right = {false, false};
    if (e->op.id != P_and && e->op.id != P_or)
        return false;
    walk_expr(&e->op.args[1], note_contents, &right);
    return right.loads && !right.shuffles;
}

static int compile_op(Compiler *c, const ImpExpr *e)
{
    if (is_lazy(e)) {
        bool is_and = e->op.id == P_and;
        ImpExpr known = {.kind = IE_LIT, .type = SC_BOOL, .span = e->span, .lit = scalar_int(SC_BOOL, !is_and)};
        ImpExpr lazy = {.kind = IE_COND, .type = SC_BOOL, .span = e->span};
        lazy.cond.cond = e->op.args[0];
        lazy.cond.then = is_and ? e->op.args[1] : &known;
        lazy.cond.otherwise = is_and ? &known : e->op.args[1];
        return compile_cond(c, &lazy);
    }
    if (e->op.n < 1 || e->op.n > 3) {
        bug(c, "applies a function to more than three values");
        return preset(c, true, 0);
    }
    Mark m = mark(c);
    int args[3] = {-1, -1, -1};
    for (int j = 0; j < e->op.n; j++)
        args[j] = compile_expr(c, e->op.args[j]);
    release(c, m);
    int dst = temp(c);
    Ins *i = emit(c, e->op.id == P_cast ? X_CAST : X_APPLY);
    i->dst = dst;
    i->a = args[0];
    i->b = args[1];
    i->c = args[2];
    i->prim = (uint8_t)e->op.id;
    if (e->op.id == P_cast) {
        i->k = e->op.args[0]->type;
        i->type = (uint8_t)e->type;
    } else
        i->type = (uint8_t)e->op.args[e->op.id == P_select ? 1 : 0]->type;
    return dst;
}

static int compile_load(Compiler *c, const ImpExpr *e)
{
    Mark m = mark(c);
    index_count(c->costs, e->mem.index, true, c->place);
    int index = compile_nat(c, e->mem.index, e->span);
    release(c, m);
    int dst = temp(c);
    Ins *i = emit(c, X_LOAD);
    i->dst = dst;
    i->a = index;
    i->b = e->mem.buf->id;
    i->site = site(c, e->span, e->mem.buf, false, "");
    return dst;
}

static bool declares_input(const Compiler *c, Span span)
{
    const CoreEntry *entry = c->run->program->entry;
    for (int i = 0; i < entry->n_inputs; i++)
        if (entry->inputs[i]->span.file == span.file && entry->inputs[i]->span.lo == span.lo)
            return true;
    return false;
}

/* A load belongs to who reads, not to where the array was made; nor does anything belong to the declaration of an input. */
static Span place_of_expr(const Compiler *c, const ImpExpr *e)
{
    return e->kind == IE_LOAD || declares_input(c, e->span) ? c->statement : e->span;
}

static int compile_expr(Compiler *c, const ImpExpr *e)
{
    for (int i = 0; i < c->ready.n; i++)
        if (c->ready.at[i].expr == e)
            return c->ready.at[i].operand;
    Span outer = c->span, around = c->place;
    int dst = 0;
    c->span = e->span;
    c->place = place_of_expr(c, e);
    switch (e->kind) {
    case IE_LIT: dst = preset(c, true, e->lit.u); break;
    case IE_NAT: dst = compile_nat_value(c, e); break;
    case IE_VAR: dst = compile_var(c, e); break;
    case IE_LOAD: dst = compile_load(c, e); break;
    case IE_OP: dst = compile_op(c, e); break;
    case IE_COND: dst = compile_cond(c, e); break;
    case IE_CAST: {
        Mark m = mark(c);
        int a = compile_expr(c, e->cast.value);
        release(c, m);
        dst = temp(c);
        Ins *i = emit(c, X_CAST);
        i->dst = dst;
        i->a = a;
        i->k = e->cast.value->type;
        i->type = (uint8_t)e->type;
        break;
    }
    case IE_SHFL: {
        bool reduces = e->shfl.id == P_reduceWarp;
        if (e->shfl.id != P_shflDown && e->shfl.id != P_shflUp && e->shfl.id != P_shflXor && e->shfl.id != P_shfl && !reduces)
            bug(c, "has a shuffle of no known kind");
        Mark m = mark(c);
        int a = compile_expr(c, e->shfl.value), by = reduces ? (int)e->shfl.op : compile_shuffle_lane(c, e->shfl.by);
        release(c, m);
        dst = temp(c);
        Ins *i = emit(c, X_SHFL);
        i->dst = dst;
        i->a = a;
        i->b = by;
        i->prim = (uint8_t)e->shfl.id;
        i->type = (uint8_t)e->type;
        i->site = site(c, e->span, NULL, false, "");
        break;
    }
    }
    c->span = outer;
    c->place = around;
    return dst;
}

/* ---- statements ---------------------------------------------------------------------------------------------------- */

static void emit_set(Compiler *c, int dst, int value)
{
    Ins *i = emit(c, X_SET);
    i->dst = dst;
    i->a = value;
}

static void compile_set(Compiler *c, const ImpStmt *s)
{
    const ImpVar *var = s->var.var;
    int value = s->var.value ? compile_expr(c, s->var.value) : -1, reg = var_register(c, var);
    if (s->kind == IS_DECL) {
        Ins *i = emit(c, X_UNSET);
        i->dst = reg;
        i->k = var->slots;
        for (int k = 0; value >= 0 && k < var->slots; k++)
            emit_set(c, reg + k, value);
    } else if (!s->var.slot || nat_is_const(s->var.slot)) {
        int64_t slot = s->var.slot ? s->var.slot->value : 0;
        if (slot < 0 || slot >= var->slots)
            bug(c, ctx_printf(c->run->ctx, "sets slot %lld of `%s`, which has %d", (long long)slot, var->name, var->slots));
        else
            emit_set(c, reg + (int)slot, value);
    } else {
        int slot = compile_nat(c, s->var.slot, s->span);
        Ins *i = emit(c, X_SET_SLOT);
        i->dst = value;
        i->a = slot;
        i->b = reg;
        i->c = var->id;
        i->k = var->slots;
        i->site = site(c, s->span, NULL, true, "");
    }
    if (s->kind == IS_DECL)
        c->var_known[var->id] = value >= 0;
    index_bind(c->costs, var->nat);
    if (var->nat && value >= 0 && var->nat->kind == NAT_VAR)
        check_range(c, var->nat, reg, s->span);
}

static void compile_store(Compiler *c, const ImpStmt *s)
{
    if (s->store.buf->space == SPACE_INPUT)
        bug(c, "writes an input");
    index_count(c->costs, s->store.index, true, c->place);
    int value = compile_expr(c, s->store.value), index = compile_nat(c, s->store.index, s->span);
    Ins *i = emit(c, X_STORE);
    i->dst = value;
    i->a = index;
    i->b = s->store.buf->id;
    i->site = site(c, s->span, s->store.buf, true, "");
    c->code->sites.at[i->site].unordered = s->store.unordered;
}

/* All values before the registers are set: they may be read in them. */
static void compile_vector_set(Compiler *c, const ImpStmt *s)
{
    int value[IMP_VECTOR_MAX], reg = var_register(c, s->vec.var);
    for (int k = 0; k < s->vec.n; k++) {
        int at = compile_expr(c, s->vec.values[k]);
        value[k] = temp(c);
        Ins *i = emit(c, X_MOVE);
        i->dst = value[k];
        i->a = at;
    }
    for (int k = 0; k < s->vec.n; k++)
        emit_set(c, reg + k, value[k]);
}

static void compile_vector(Compiler *c, const ImpStmt *s)
{
    if (s->kind != IS_VSTORE && (s->vec.var->slots != s->vec.n || !s->vec.var->vector))
        bug(c, "moves a vector through registers of another size");
    if (s->kind != IS_VSTORE && s->vec.declares) {
        Ins *i = emit(c, X_UNSET);
        i->dst = var_register(c, s->vec.var);
        i->k = s->vec.n;
    }
    if (s->kind == IS_VSET) {
        compile_vector_set(c, s);
        return;
    }
    int first = c->code->operands.n, values[IMP_VECTOR_MAX] = {0};
    if (s->kind == IS_VSTORE && s->vec.buf->space == SPACE_INPUT)
        bug(c, "writes an input");
    for (int k = 0; s->kind == IS_VSTORE && k < s->vec.n; k++)
        values[k] = compile_expr(c, s->vec.values[k]);
    for (int k = 0; s->kind == IS_VSTORE && k < s->vec.n; k++)
        run_push(c->arena, &c->code->operands, values[k]);
    index_count(c->costs, s->vec.index, true, s->span);
    int index = compile_nat(c, s->vec.index, s->span);
    Ins *i = emit(c, s->kind == IS_VLOAD ? X_VLOAD : X_VSTORE);
    i->dst = s->kind == IS_VLOAD ? var_register(c, s->vec.var) : 0;
    i->a = index;
    i->b = s->vec.buf->id;
    i->c = first;
    i->k = s->vec.n;
    i->site = site(c, s->span, s->vec.buf, s->kind == IS_VSTORE, "");
}

typedef struct OldReads {
    const ImpVar *old;
    bool found;
} OldReads;

static void find_old(void *user, ImpExpr **at)
{
    OldReads *r = user;
    r->found |= (*at)->kind == IE_VAR && (*at)->var.var == r->old;
}

/* Computes what does not hang on the old value, all lanes together. What only one side of a condition wants is left to it. */
static void compile_ready(Compiler *c, ImpExpr *e, const ImpVar *old)
{
    OldReads reads = {old, false};
    walk_expr(&e, find_old, &reads);
    if (!reads.found) {
        int operand = compile_expr(c, e);
        run_push(c->arena, &c->ready, ((Ready){e, operand}));
        return;
    }
    for (int k = 0; e->kind == IE_OP && k < e->op.n; k++)
        compile_ready(c, e->op.args[k], old);
    if (e->kind == IE_CAST)
        compile_ready(c, e->cast.value, old);
}

/* Lane by lane: each sees what the one before it left. */
static void compile_atomic(Compiler *c, const ImpStmt *s)
{
    compile_ready(c, s->atomic.value, s->atomic.old);
    int index = compile_nat(c, s->atomic.index, s->span), old = var_register(c, s->atomic.old), m = masks(c, 2);
    uint32_t at = site(c, s->span, s->atomic.buf, true, "");
    emit(c, X_LANES)->m = m;
    int top = here(c);
    emit(c, X_LANE)->m = m;
    Ins *i = emit(c, X_OLD);
    i->dst = old;
    i->a = index;
    i->b = s->atomic.buf->id;
    i->site = at;
    c->var_known[s->atomic.old->id] = true;
    int value = compile_expr(c, s->atomic.value);
    c->var_known[s->atomic.old->id] = false;
    i = emit(c, X_ATOMIC);
    i->dst = value;
    i->a = index;
    i->b = s->atomic.buf->id;
    i->site = at;
    emit(c, X_JUMP)->k = top;
    c->code->ins.at[top].k = here(c);
    c->masks -= 2;
    c->ready.n = 0;
}

static void compile_ticket(Compiler *c, const ImpStmt *s)
{
    int value = temp(c);
    Ins *i = emit(c, X_TICKET);
    i->dst = value;
    i->a = s->ticket.buf->id;
    i->site = site(c, s->span, s->ticket.buf, true, "");
    i = emit(c, X_STORE);
    i->dst = value;
    i->a = const_operand(c, 0);
    i->b = s->ticket.flag->id;
    i->site = site(c, s->span, s->ticket.flag, true, "");
}

typedef struct FindServe {
    const ImpBuf *mail;
    const ImpStmt *found;
} FindServe;

static void find_serve(void *user, ImpStmt *s)
{
    FindServe *f = user;
    if (s->kind == IS_SERVE && s->serve.mail == f->mail)
        f->found = s;
}

static void compile_serve(Compiler *c, const ImpStmt *s)
{
    int n = compile_nat(c, s->serve.n, s->span);
    Ins *i = emit(c, X_SERVE);
    i->a = n;
    i->b = s->serve.mail->id;
    i->site = site(c, s->span, s->serve.mail, true, "");
}

/* With what the answering block would compute. */
static void compile_give(Compiler *c, const ImpStmt *s)
{
    FindServe f = {s->exchange.mail, NULL};
    ImpBlock body = c->run->kernel->body;
    walk_stmts(&body, find_serve, &f);
    int total = compile_expr(c, s->exchange.value), index = compile_nat(c, s->exchange.index, s->span), mail = s->exchange.mail->id;
    uint32_t at = site(c, s->span, s->exchange.mail, true, "");
    const ImpStmt *serve = f.found;
    int sum = serve ? var_register(c, serve->serve.sum) : temp(c), unit = serve ? compile_expr(c, serve->serve.unit) : total;
    Ins *i = emit(c, X_BEFORE);
    i->dst = sum;
    i->a = index;
    i->b = mail;
    i->c = unit;
    i->site = at;
    int next = total;
    if (serve) {
        i = emit(c, X_MOVE);
        i->dst = var_register(c, serve->serve.next);
        i->a = total;
        c->var_known[serve->serve.sum->id] = c->var_known[serve->serve.next->id] = true;
        next = compile_expr(c, serve->serve.value);
        c->var_known[serve->serve.sum->id] = c->var_known[serve->serve.next->id] = false;
    }
    i = emit(c, X_TOTAL);
    i->dst = next;
    i->b = mail;
}

static void compile_await(Compiler *c, const ImpStmt *s)
{
    int before = temp(c), index = compile_nat(c, s->exchange.index, s->span);
    Ins *i = emit(c, X_AWAIT);
    i->dst = before;
    i->a = index;
    i->b = s->exchange.mail->id;
    i->site = site(c, s->span, s->exchange.mail, true, "");
    i = emit(c, X_STORE);
    i->dst = before;
    i->a = const_operand(c, 0);
    i->b = s->exchange.cell->id;
    i->site = site(c, s->span, s->exchange.cell, true, "");
}

static void compile_for(Compiler *c, const ImpStmt *s)
{
    index_count(c->costs, s->loop.lo, false, s->span);
    index_count(c->costs, s->loop.hi, false, s->span);
    index_count(c->costs, s->loop.step, false, s->span);
    int lo = compile_nat(c, s->loop.lo, s->span), hi = compile_nat(c, s->loop.hi, s->span), step = compile_nat(c, s->loop.step, s->span);
    /* Active lanes are always in the same trip: where they start and step alike, they have the same value. */
    int var = lo < 0 && step < 0 ? ~pool_temp(c, &c->scalars) : temp(c);
    int m = masks(c, 2), bindings = c->bindings.n;
    uint32_t at = site(c, s->span, NULL, false, "a loop bound");
    Ins *i = emit(c, X_FOR);
    i->dst = var;
    i->a = lo;
    i->b = step;
    i->c = hi;
    i->m = m;
    i->site = at;
    int test = here(c);
    i = emit(c, X_TEST);
    i->prim = s->loop.unroll;
    i->a = var;
    i->b = hi;
    i->m = m;
    bind(c, s->loop.var, var, -1);
    index_enter(c->costs, true, s->loop.unroll);
    index_bind(c->costs, s->loop.var);
    if (s->loop.var->kind == NAT_VAR)
        check_range(c, s->loop.var, var, s->span);
    run_push(c->arena, &c->loops, m + 1);
    compile_block(c, &s->loop.body);
    c->loops.n--;
    i = emit(c, X_STEP);
    i->prim = s->loop.unroll;
    i->dst = var;
    i->a = step;
    i->m = m;
    i->k = test;
    i->site = at;
    index_leave(c->costs, here(c) - 1);
    c->code->ins.at[test].k = here(c);
    emit(c, X_ENDFOR)->m = m;
    c->bindings.n = bindings;
    c->masks -= 2;
}

static void compile_branch(Compiler *c, const ImpBlock *block)
{
    int first = here(c);
    index_enter(c->costs, false, false);
    compile_block(c, block);
    index_leave(c->costs, first);
}

static void compile_if(Compiler *c, const ImpStmt *s)
{
    int m = masks(c, 2), cond = compile_expr(c, s->branch.cond);
    Ins *i = emit(c, X_IF);
    i->a = cond;
    i->m = m;
    int branch = here(c) - 1;
    compile_branch(c, &s->branch.then);
    c->code->ins.at[branch].k = here(c);
    emit(c, X_ELSE)->m = m;
    branch = here(c) - 1;
    compile_branch(c, &s->branch.otherwise);
    c->code->ins.at[branch].k = here(c);
    emit(c, X_ENDIF)->m = m;
    c->masks -= 2;
}

static void compile_sync(Compiler *c, const ImpStmt *s)
{
    Ins *i = emit(c, s->sync == SYNC_WARP ? X_SYNC_WARP : X_SYNC_BLOCK);
    i->a = c->code->sync_loops.n;
    i->b = c->loops.n;
    i->site = site(c, s->span, NULL, false, "");
    for (int k = 0; k < c->loops.n; k++)
        run_push(c->arena, &c->code->sync_loops, c->loops.at[k]);
}

static void compile_stmt(Compiler *c, const ImpStmt *s)
{
    Mark m = mark(c);
    Span outer = c->statement;
    c->span = s->span;
    c->statement = c->place = outer.file && declares_input(c, s->span) ? outer : s->span;
    switch (s->kind) {
    case IS_DECL:
    case IS_SET: compile_set(c, s); break;
    case IS_STORE: compile_store(c, s); break;
    case IS_VSET:
    case IS_VLOAD:
    case IS_VSTORE: compile_vector(c, s); break;
    case IS_FOR: compile_for(c, s); break;
    case IS_IF: compile_if(c, s); break;
    case IS_SYNC: compile_sync(c, s); break;
    case IS_ATOMIC: compile_atomic(c, s); break;
    case IS_TICKET: compile_ticket(c, s); break;
    case IS_GIVE: compile_give(c, s); break;
    case IS_AWAIT: compile_await(c, s); break;
    case IS_SERVE: compile_serve(c, s); break;
    case IS_GRID_SYNC: emit(c, X_SYNC_GRID)->site = site(c, s->span, NULL, false, ""); break;
    case IS_ALLOC: emit(c, X_ALLOC)->a = s->alloc->id; break;
    case IS_NOTE: break;
    }
    c->statement = c->place = outer;
    release(c, m);
}

static void compile_block(Compiler *c, const ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++)
        compile_stmt(c, block->list.at[i]);
    /* Outside of its block a declaration says nothing. */
    for (int i = 0; i < block->list.n; i++)
        if (block->list.at[i]->kind == IS_DECL)
            c->var_known[block->list.at[i]->var.var->id] = false;
}

/* ---- the kernel ---------------------------------------------------------------------------------------------------- */

static int hardware(Compiler *c, Nat nat, bool uniform)
{
    if (!nat || nat->kind != NAT_VAR)
        return NO_REG;
    int operand = uniform ? ~c->scalars.n++ : c->vectors.n++;
    bind(c, nat, operand, -1);
    return operand;
}

static void bind_launch(Compiler *c)
{
    Run *run = c->run;
    const ImpKernel *k = run->kernel;
    const CoreEntry *entry = run->program->entry;
    for (int i = 0; i < entry->n_sizes; i++)
        bind(c, entry->sizes[i], const_operand(c, run->launch->sizes[i]), -1);
    for (int a = 0; a < 3; a++)
        if (k->grid[a])
            bind(c, k->grid[a], const_operand(c, run->grid[a]), -1);
    int64_t below = 1; /* threads that differ only in lower axes: a multiple of 32 keeps a warp within one value */
    for (int a = 0; a < 3; a++) {
        c->code->block_reg[a] = hardware(c, k->block[a], true);
        c->code->thread_reg[a] = hardware(c, k->thread[a], below % WARP == 0);
        below *= k->threads[a];
    }
    c->code->warp_reg = hardware(c, k->warp, true);
    c->code->lane_reg = hardware(c, k->lane, false);
    for (int i = 0; i < k->vars.n; i++) {
        const ImpVar *var = k->vars.at[i];
        if (var->nat)
            bind(c, var->nat, var_register(c, var), var->id);
    }
}

bool compile_kernel(Run *run, Code *code)
{
    const ImpKernel *kernel = run->kernel;
    Compiler c = {.run = run, .arena = run->arena, .code = code, .costs = index_costs_new(run, code)};
    size_t n = (size_t)kernel->vars.n;
    c.var_reg = ARENA_NEWN(run->arena, int, n);
    c.var_known = ARENA_NEWN(run->arena, bool, n);
    for (size_t i = 0; i < n; i++) {
        c.var_reg[i] = -1;
        if (kernel->vars.at[i]->id != (int)i || kernel->vars.at[i]->slots < 1)
            bug(&c, "numbers its registers wrongly");
    }
    for (int i = 0; i < kernel->bufs.n; i++)
        if (kernel->bufs.at[i]->id != i)
            bug(&c, "numbers its buffers wrongly");
    if (c.failed)
        return false;
    bind_launch(&c);
    compile_block(&c, &kernel->body);
    emit(&c, X_END);
    code->n_vectors = c.vectors.n;
    code->n_scalars = c.scalars.n;
    return !c.failed;
}
