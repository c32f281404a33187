/* Checks a finished kernel: that its numbers fit into 64 bits, and that registers, and the indices that they hold, are mentioned only after their declaration, inside its block.
 *
 * A pass that moves a statement too far would otherwise give text that may even compile, where another variable has the same name. */
#include "codegen/imp_verify.h"

#include "codegen/walk.h"

typedef struct Verify {
    const ImpKernel *kernel;
    Ctx *ctx;
    bool *declared;      /* by ImpVar.id */
    VEC(ImpVar *) vars;  /* in scope, innermost last */
    VEC(Nat) nats;       /* loop variables and indices in scope, innermost last */
    const char *missing; /* the first that is not in scope */
    Span where;
} Verify;

static bool is_given(const ImpKernel *k, Nat var)
{
    bool given = var == k->warp || var == k->lane || imp_is_device_size(var);
    for (int a = 0; a < 3; a++)
        given |= var == k->grid[a] || var == k->block[a] || var == k->thread[a];
    for (int i = 0; k->entry && i < k->entry->n_sizes; i++)
        given |= var == k->entry->sizes[i];
    return given;
}

static void check_nat_var(void *user, Nat var)
{
    Verify *v = user;
    if (v->missing)
        return;
    for (int i = v->nats.n - 1; i >= 0; i--)
        if (v->nats.at[i] == var)
            return;
    if (!is_given(v->kernel, var))
        v->missing = var->name;
}

static void check_nat(void *user, Nat nat)
{
    Verify *v = user;
    nat_each_var(v->ctx, nat, check_nat_var, v);
}

static void check_var(Verify *v, const ImpVar *var)
{
    if (!v->missing && !v->declared[var->id])
        v->missing = var->name;
}

static void check_expr(void *user, ImpExpr **at)
{
    if ((*at)->kind == IE_VAR)
        check_var(user, (*at)->var.var);
}

static void declare(Verify *v, ImpVar *var)
{
    v->declared[var->id] = true;
    vec_push(v->ctx, &v->vars, var);
    if (var->nat)
        vec_push(v->ctx, &v->nats, var->nat);
}

/* Statements that combine values name those in their own expression. */
static void declare_operands(Verify *v, const ImpStmt *s)
{
    if (s->kind == IS_ATOMIC)
        declare(v, imp_sets(s));
    if (s->kind == IS_SERVE) {
        declare(v, s->serve.sum);
        declare(v, s->serve.next);
    }
}

static void verify_block(Verify *v, const ImpBlock *block)
{
    int vars = v->vars.n, nats = v->nats.n;
    for (int i = 0; i < block->list.n && !v->missing; i++) {
        ImpStmt *s = block->list.at[i];
        ImpVar *set = imp_sets(s);
        declare_operands(v, s);
        walk_own(s, check_expr, v);
        walk_nats(s, check_nat, v);
        if (set && imp_declares(s))
            declare(v, set);
        else if (set)
            check_var(v, set);
        if (v->missing && !v->where.file)
            v->where = s->span;
        if (s->kind == IS_FOR) {
            vec_push(v->ctx, &v->nats, s->loop.var);
            verify_block(v, &s->loop.body);
            v->nats.n--;
        }
        if (s->kind == IS_IF) {
            verify_block(v, &s->branch.then);
            verify_block(v, &s->branch.otherwise);
        }
    }
    for (; v->vars.n > vars; v->vars.n--)
        v->declared[v->vars.at[v->vars.n - 1]->id] = false;
    v->nats.n = nats;
}

const char *imp_verify(Ctx *ctx, const ImpKernel *kernel, Span *where)
{
    Verify v = {.kernel = kernel, .ctx = ctx, .declared = NEWN(ctx, bool, kernel->vars.n + 1)};
    verify_block(&v, &kernel->body);
    *where = v.where;
    return v.missing;
}

/* ---- numbers that were lost --------------------------------------------------------------------------------------------- */

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
        if (nat_is_error(nat_mul_k(ctx, buf->count, scalar_bytes(buf->elem))) || (buf->offset && nat_is_error(buf->offset)))
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
