/* Checks a kernel after each pass. What holds then, and is found where it does not:
 *
 * - Each operand has the type that its operation takes, each value that of its register or cell
 *   (imp_types.c).
 * - A register, and the index that it holds, is mentioned only after its declaration and inside its
 *   block. It is read only after a statement that gives it a value, in the text or in a loop around
 *   both. While it is known it is not declared again. A constant gets its value from its declaration
 *   alone. Slots lie within their register.
 * - A buffer is the kernel's own.
 * - A vector of memory starts at a multiple of its width, by the sizes' facts, what the registers
 *   in the index were declared as, and the loops and conditions around it. Its buffer is aligned to
 *   its bytes.
 *
 * A pass that moves a statement too far would otherwise give text that may even compile, where
 * another variable has the same name. */
#include "codegen/imp_verify.h"

#include "codegen/lowering.h"
#include "codegen/walk.h"

/* A loop or a branch around a statement, innermost first. */
typedef struct Around {
    const struct Around *outer;
    const ImpStmt *stmt;
    bool otherwise; /* in the part where the condition does not hold */
} Around;

typedef struct Verify {
    const ImpKernel *kernel;
    Ctx *ctx;
    bool *declared, *has_value; /* by ImpVar.id */
    VEC(ImpVar *) vars;         /* in scope, innermost last */
    Table nats;                 /* loop variables and indices in scope: what declares each */
    const char *fault;          /* the first */
} Verify;

static void PRINTF_LIKE(2, 3) fail(Verify *v, const char *fmt, ...)
{
    if (v->fault)
        return;
    StrBuf text;
    va_list args;
    sb_init(&text, v->ctx);
    va_start(args, fmt);
    sb_vprintf(&text, fmt, args);
    va_end(args);
    v->fault = text.text;
}

/* ---- mentions -------------------------------------------------------------------------------- */

static bool is_given(const ImpKernel *k, Nat var)
{
    bool given = var == k->warp || var == k->lane || imp_is_device_size(var);
    for (int a = 0; a < 3; a++)
        given |= var == k->grid[a] || var == k->block[a] || var == k->thread[a];
    for (int i = 0; k->entry && i < k->entry->n_sizes; i++)
        given |= var == k->entry->sizes[i];
    return given;
}

static void check_nat(Verify *v, Nat nat)
{
    if (!nat || !nat->has_vars || v->fault)
        return;
    if (nat->kind == NAT_VAR && !table_get(&v->nats, nat) && !is_given(v->kernel, nat))
        fail(v, "`%s` is used before it is known", nat->name);
    check_nat(v, nat->a);
    check_nat(v, nat->b);
    for (int i = 0; i < nat->n_terms; i++)
        for (int k = 0; k < nat->terms[i].n_factors; k++)
            check_nat(v, nat->terms[i].factors[k]);
}

static void check_declared(Verify *v, const ImpVar *var)
{
    if (!v->declared[var->id])
        fail(v, "`%s` is used before it is known", var->name);
}

static void check_slot(Verify *v, const ImpVar *var, Nat slot)
{
    if (slot && nat_is_const(slot) && (slot->value < 0 || slot->value >= var->slots))
        fail(v, "`%s` has %d slots, and number %lld is used", var->name, var->slots,
             (long long)slot->value);
}

static void check_buf(Verify *v, const ImpBuf *buf)
{
    if (buf->id < 0 || buf->id >= v->kernel->bufs.n || v->kernel->bufs.at[buf->id] != buf)
        fail(v, "`%s` is no buffer of this kernel", buf->name);
}

static void check_own_nat(void *user, Nat nat) { check_nat(user, nat); }

/* The expression itself, without what is in it. */
static void check_expr(void *user, ImpExpr **at)
{
    Verify *v = user;
    const ImpExpr *e = *at;
    if (e->kind == IE_VAR) {
        check_declared(v, e->var.var);
        check_slot(v, e->var.var, e->var.slot);
        if (!v->fault && !v->has_value[e->var.var->id])
            fail(v, "`%s` is read before it has a value", e->var.var->name);
    } else if (e->kind == IE_LOAD) {
        check_buf(v, e->mem.buf);
    }
    if (!v->fault)
        v->fault = imp_expr_fault(v->ctx, e);
}

/* ---- vectors in memory ----------------------------------------------------------------------- */

typedef struct Expand {
    Verify *v;
    Nat nat, width;
} Expand;

/* In place of an index that is a constant: its value; of a loop's variable, whose steps are whole
 * vectors: where it starts. */
static void expand_var(void *user, Nat var)
{
    Expand *x = user;
    const ImpStmt *s = table_get(&x->v->nats, var);
    bool known = s && s->kind == IS_DECL && s->var.var->constant && s->var.value &&
                 s->var.value->kind == IE_NAT;
    bool whole = s && s->kind == IS_FOR &&
                 nat_divides(x->v->ctx, x->v->kernel->known, x->width, s->loop.step);
    if (known || whole)
        x->nat = nat_subst(x->v->ctx, x->nat, var, known ? s->var.value->nat : s->loop.lo);
}

/* As far as its multiples of `width` go, the same nat by what declared its variables. */
static Nat expanded(Verify *v, Nat nat, Nat width)
{
    Expand x = {v, nat, width};
    for (Nat last = NULL; x.nat != last;) {
        last = x.nat;
        nat_each_var(v->ctx, last, expand_var, &x);
    }
    return x.nat;
}

static void assume_around(Lowering *lw, const Around *around)
{
    if (!around)
        return;
    const ImpStmt *s = around->stmt;
    assume_around(lw, around->outer);
    if (s->kind == IS_IF)
        (around->otherwise ? assume_not : assume)(lw, s->branch.cond);
    if (s->kind != IS_FOR)
        return;
    nat_fact_le(lw->ctx, lw->facts, s->loop.lo, s->loop.var);
    nat_fact_le(lw->ctx, lw->facts, nat_add_k(lw->ctx, s->loop.var, 1), s->loop.hi);
}

static bool is_multiple(Verify *v, Nat index, Nat width, const Around *around)
{
    if (nat_divides(v->ctx, v->kernel->known, width, index) || nat_is_error(index))
        return true;
    Nat start = expanded(v, index, width);
    if (nat_divides(v->ctx, v->kernel->known, width, start))
        return true;
    Lowering lw = {.ctx = v->ctx, .facts = nat_facts_new(v->ctx, (NatFacts *)v->kernel->known)};
    assume_around(&lw, around);
    return nat_divides(v->ctx, lw.facts, width, index) ||
           nat_divides(v->ctx, lw.facts, width, start);
}

static void check_alignment(Verify *v, const ImpStmt *s, const Around *around)
{
    const ImpBuf *buf = s->vec.buf;
    int bytes = s->vec.n * scalar_bytes(buf->elem);
    if (buf->align < bytes || (buf->offset && !nat_divides(v->ctx, v->kernel->known,
                                                           nat_const(v->ctx, bytes), buf->offset)))
        fail(v, "`%s` is not aligned to the %d bytes that an access to it moves", buf->name, bytes);
    else if (!is_multiple(v, s->vec.index, nat_const(v->ctx, s->vec.n), around))
        fail(v, "a vector of %d cells of `%s` may not start at a multiple of %d: at %s", s->vec.n,
             buf->name, s->vec.n, nat_text(v->ctx, s->vec.index));
}

/* ---- statements ------------------------------------------------------------------------------ */

static void declare(Verify *v, ImpVar *var, const ImpStmt *by)
{
    if (v->declared[var->id])
        fail(v, "`%s` is declared again while it is known", var->name);
    v->declared[var->id] = true;
    v->has_value[var->id] = by->kind != IS_DECL || by->var.value;
    vec_push(v->ctx, &v->vars, var);
    if (var->nat)
        table_put(v->ctx, &v->nats, var->nat, (void *)by);
}

/* Statements that combine values name those in their own expression. */
static void declare_operands(Verify *v, const ImpStmt *s)
{
    if (s->kind == IS_ATOMIC)
        declare(v, s->atomic.old, s);
    for (int k = 0; s->kind == IS_SERVE && k < s->serve.n_parts; k++) {
        declare(v, s->serve.parts[k].sum, s);
        declare(v, s->serve.parts[k].next, s);
    }
}

/* What the statement sets has a value from here on. */
static void check_set(Verify *v, const ImpStmt *s)
{
    ImpVar *set = imp_sets(s);
    if (!set || s->kind == IS_ATOMIC)
        return;
    if (imp_declares(s)) {
        declare(v, set, s);
        return;
    }
    check_declared(v, set);
    if (s->kind == IS_SET)
        check_slot(v, set, s->var.slot);
    if (set->constant)
        fail(v, "`%s` is a constant, and set after its declaration", set->name);
    v->has_value[set->id] = true;
}

static void verify_stmt(Verify *v, ImpStmt *s, const Around *around)
{
    declare_operands(v, s);
    walk_own(s, check_expr, v);
    walk_nats(s, check_own_nat, v);
    if (s->kind == IS_STORE)
        check_buf(v, s->store.buf);
    if (s->kind == IS_VLOAD || s->kind == IS_VSTORE) {
        check_buf(v, s->vec.buf);
        if (!v->fault)
            check_alignment(v, s, around);
    }
    if (!v->fault)
        v->fault = imp_stmt_fault(v->ctx, s);
    check_set(v, s);
}

/* What a trip of the loop sets, the next one may read. */
static void set_before(void *user, ImpStmt *s)
{
    Verify *v = user;
    if (imp_sets(s) && (s->kind != IS_DECL || s->var.value))
        v->has_value[imp_sets(s)->id] = true;
}

static void verify_block(Verify *v, const ImpBlock *block, const Around *around, Span *where)
{
    int vars = v->vars.n;
    for (int i = 0; i < block->list.n && !v->fault; i++) {
        ImpStmt *s = block->list.at[i];
        Around inside = {around, s, false};
        verify_stmt(v, s, around);
        if (v->fault)
            *where = s->span;
        else if (s->kind == IS_FOR) {
            table_put(v->ctx, &v->nats, s->loop.var, s);
            walk_stmts(&s->loop.body, set_before, v);
            verify_block(v, &s->loop.body, &inside, where);
            table_put(v->ctx, &v->nats, s->loop.var, NULL);
        } else if (s->kind == IS_IF) {
            verify_block(v, &s->branch.then, &inside, where);
            inside.otherwise = true;
            verify_block(v, &s->branch.otherwise, &inside, where);
        }
    }
    for (; v->vars.n > vars; v->vars.n--) {
        const ImpVar *var = v->vars.at[v->vars.n - 1];
        v->declared[var->id] = false;
        if (var->nat)
            table_put(v->ctx, &v->nats, var->nat, NULL);
    }
}

const char *imp_verify(Ctx *ctx, const ImpKernel *kernel, Span *where)
{
    int n = kernel->vars.n + 1;
    Verify v = {.kernel = kernel,
                .ctx = ctx,
                .declared = NEWN(ctx, bool, n),
                .has_value = NEWN(ctx, bool, n)};
    *where = NO_SPAN;
    verify_block(&v, &kernel->body, NULL, where);
    return v.fault ? v.fault : imp_writers_fault(ctx, kernel, where);
}

/* ---- numbers that were lost ------------------------------------------------------------------ */

typedef struct Lost {
    bool found;
    Span where;
} Lost;

static void lost_nat(void *user, Nat nat) { ((Lost *)user)->found |= nat_is_error(nat); }

static void lost_stmt(void *user, ImpStmt *s)
{
    Lost *lost = user;
    if (lost->found)
        return;
    walk_nats(s, lost_nat, lost);
    lost->where = s->span;
}

const ImpBuf *imp_lost_buffer(Ctx *ctx, const ImpKernel *kernel)
{
    for (int i = 0; i < kernel->bufs.n; i++) {
        const ImpBuf *buf = kernel->bufs.at[i];
        if (nat_is_error(nat_mul_k(ctx, buf->count, scalar_bytes(buf->elem))) ||
            (buf->offset && nat_is_error(buf->offset)))
            return buf;
    }
    return NULL;
}

bool imp_lost_number(const ImpKernel *kernel, Span *where)
{
    Lost lost = {false, NO_SPAN};
    if (kernel->shared_bytes) /* else the passes were stopped before */
        lost_nat(&lost, kernel->shared_bytes);
    for (int a = 0; a < 3; a++)
        lost_nat(&lost, kernel->blocks[a]);
    if (kernel->totals)
        lost_nat(&lost, kernel->totals);
    ImpBlock body = kernel->body;
    walk_stmts(&body, lost_stmt, &lost);
    *where = lost.where;
    return lost.found;
}
