/* Pass common: a value that neighbouring statements load or compute again is loaded or computed once.
 *
 *   a = a + xs[i];  b = max(b, xs[i])   ->  const float x = xs[i];  a = a + x;  b = max(b, x)
 *
 * A value is shared where its first use is always evaluated and nothing in between can change it: no register of it is set, and for memory that is
 * written in this kernel, no store and no barrier comes between. Requires: barriers are placed. Keeps every value; takes loads away, adds none. */
#include "codegen/lowering.h"
#include "codegen/walk.h"
#include "support/table.h"

enum { WINDOW = 12 /* statements: a value kept for longer costs a register */ };

/* ---- which values are worth it ------------------------------------------------------------------------------------------- */

typedef struct Look {
    bool loads, work, shuffles;
} Look;

static Look both(Look a, Look b) { return (Look){a.loads || b.loads, a.work || b.work, a.shuffles || b.shuffles}; }

/* Of the expression itself, without what is in it. */
static Look look(const ImpExpr *e)
{
    Look l = {.loads = e->kind == IE_LOAD && !imp_is_parameter(e), .shuffles = e->kind == IE_SHFL};
    /* Comparisons of indices, wider integers and negated literals are no work: a good reader wants to see them. */
    l.work = (e->kind == IE_OP && e->op.args[0]->kind != IE_NAT && e->op.args[0]->kind != IE_LIT) || (e->kind == IE_CAST && !imp_widens(e) && e->cast.value->kind != IE_NAT);
    return l;
}

static bool worth_sharing(const ImpExpr *e, Look l)
{
    if (e->kind == IE_VAR || e->kind == IE_LIT || e->kind == IE_NAT || imp_is_parameter(e))
        return false;
    return !l.shuffles && (l.loads || l.work);
}

/* ---- what stands there twice: by hashes, which are equal for equal values ---------------------------------------------------- */

typedef struct Seen {
    Ctx *ctx;
    Table counts; /* by hash: once or again */
    Table hashes; /* by expression, while `keeps` */
    bool keeps;
    int skip;     /* nodes of the walk that are counted already */
} Seen;

static void *const once = (void *)1, *const again = (void *)2;

static const void *key_of(uint64_t hash) { return (const void *)(uintptr_t)(hash | 16); } /* not NULL */

static uint64_t mix(uint64_t hash, uint64_t more)
{
    uint64_t mixed = (hash ^ more) * 0x9e3779b97f4a7c15u;
    return mixed ^ mixed >> 32; /* a literal may differ in its first bits alone */
}

/* Counts the expression and all in it, which walk_expr visits as the next *nodes. */
static uint64_t hash_expr(Seen *seen, const ImpExpr *e, int *nodes)
{
    uint64_t hash = mix((uint64_t)e->kind * 31 + (uint64_t)e->type, 0);
    ++*nodes;
    switch (e->kind) {
    case IE_LIT: hash = mix(hash, e->lit.u); break;
    case IE_NAT: hash = mix(hash, e->nat->id); break;
    case IE_VAR: hash = mix(mix(hash, (uint64_t)e->var.var->id), e->var.slot->id); break;
    case IE_LOAD: hash = mix(mix(hash, (uint64_t)e->mem.buf->id), e->mem.index->id); break;
    case IE_OP:
        hash = mix(hash, (uint64_t)e->op.id);
        for (int i = 0; i < e->op.n; i++)
            hash = mix(hash, hash_expr(seen, e->op.args[i], nodes));
        break;
    case IE_CAST: hash = mix(hash, hash_expr(seen, e->cast.value, nodes)); break;
    case IE_COND:
        hash = mix(hash, hash_expr(seen, e->cond.cond, nodes));
        hash = mix(hash, hash_expr(seen, e->cond.then, nodes));
        hash = mix(hash, hash_expr(seen, e->cond.otherwise, nodes));
        break;
    case IE_SHFL:
        if (e->shfl.by)
            hash = mix(hash, hash_expr(seen, e->shfl.by, nodes));
        hash = mix(hash, hash_expr(seen, e->shfl.value, nodes));
        break;
    }
    table_put(seen->ctx, &seen->counts, key_of(hash), table_get(&seen->counts, key_of(hash)) ? again : once);
    if (seen->keeps)
        table_put(seen->ctx, &seen->hashes, e, (void *)(uintptr_t)key_of(hash));
    return hash;
}

static void count_node(void *user, ImpExpr **at)
{
    Seen *seen = user;
    if (seen->skip) {
        seen->skip--;
        return;
    }
    int nodes = 0;
    hash_expr(seen, *at, &nodes);
    seen->skip = nodes - 1;
}

/* ---- how far a value keeps ------------------------------------------------------------------------------------------------- */

typedef struct Change {
    const ImpExpr *value;
    bool changes;
    ImpStmt *by;
} Change;

static void reads_of(void *user, ImpExpr **at)
{
    Change *c = user;
    const ImpExpr *e = *at;
    const ImpStmt *s = c->by;
    if (e->kind == IE_VAR)
        c->changes |= imp_sets(s) == e->var.var;
    if (e->kind != IE_LOAD || e->mem.buf->space == SPACE_INPUT)
        return;
    const ImpBuf *stored = s->kind == IS_VSTORE ? s->vec.buf : s->store.buf;
    switch (s->kind) {
    case IS_DECL: case IS_SET: case IS_VSET: case IS_VLOAD: case IS_FOR: case IS_IF: case IS_NOTE: break;
    case IS_STORE: case IS_VSTORE:
        c->changes |= stored == e->mem.buf || (stored->space == SPACE_SHARED && e->mem.buf->space == SPACE_SHARED);
        break;
    default: c->changes = true; /* barriers, and whatever else other threads meet in */
    }
}

static void change(void *user, ImpStmt *s)
{
    Change *c = user;
    ImpExpr *value = (ImpExpr *)c->value;
    c->by = s;
    walk_expr(&value, reads_of, c);
}

static bool changes(ImpStmt *s, const ImpExpr *value)
{
    Change c = {value, false, NULL};
    ImpStmt *one[1] = {s};
    ImpBlock block = {.list = {one, 1, 1}};
    walk_stmts(&block, change, &c);
    return c.changes;
}

typedef struct Uses {
    const ImpExpr *value;
    ImpExpr *by; /* or NULL: only count */
    int n;
} Uses;

static void use(void *user, ImpExpr **at)
{
    Uses *u = user;
    if (!imp_same_value(*at, u->value))
        return;
    u->n++;
    if (u->by)
        *at = u->by;
}

/* Visits the uses of the value in statement i and the next ones, as far as it keeps. */
static void visit_uses(ImpBlock *block, int i, Uses *u)
{
    for (int j = i; j < block->list.n && j < i + WINDOW; j++) {
        ImpStmt *s = block->list.at[j];
        bool ends = changes(s, u->value);
        if (ends && (s->kind == IS_FOR || s->kind == IS_IF)) {
            walk_own(s, use, u);
            return;
        }
        walk_stmt(s, use, u);
        if (ends)
            return;
    }
}

/* ---- candidates: what a statement always evaluates --------------------------------------------------------------------------- */

typedef VEC(ImpExpr *) Candidates; /* outer before inner; NULL: not worth it */

/* What is in the expression. list NULL: it is not always computed. */
static Look candidates(Ctx *ctx, ImpExpr *e, Candidates *list)
{
    Look all = look(e);
    int place = list ? list->n : 0;
    if (list)
        vec_push(ctx, list, NULL);
    switch (e->kind) {
    case IE_LIT: case IE_NAT: case IE_VAR: case IE_LOAD: break;
    case IE_OP:
        for (int i = 0; i < e->op.n; i++)
            all = both(all, candidates(ctx, e->op.args[i], i == 0 || (e->op.id != P_and && e->op.id != P_or) ? list : NULL));
        break;
    case IE_CAST: all = both(all, candidates(ctx, e->cast.value, list)); break;
    case IE_COND:
        all = both(all, candidates(ctx, e->cond.cond, list));
        all = both(all, candidates(ctx, e->cond.then, NULL));
        all = both(all, candidates(ctx, e->cond.otherwise, NULL));
        break;
    case IE_SHFL:
        if (e->shfl.by)
            all = both(all, candidates(ctx, e->shfl.by, list));
        all = both(all, candidates(ctx, e->shfl.value, list));
        break;
    }
    if (list && worth_sharing(e, all))
        list->at[place] = e;
    return all;
}

/* The values that the statement always computes; gives their number. */
static int own_values(const ImpStmt *s, ImpExpr *const **values)
{
    switch (s->kind) {
    case IS_DECL: case IS_SET: *values = &s->var.value; return s->var.value != NULL;
    case IS_STORE: *values = &s->store.value; return 1;
    case IS_VSET: case IS_VSTORE: *values = s->vec.values; return s->vec.n;
    case IS_IF: *values = (ImpExpr *const *)&s->branch.cond; return 1;
    default: return 0;
    }
}

/* Does the condition ask for places alone? */
static bool of_indices(const ImpExpr *e)
{
    if (e->kind == IE_OP && e->op.id == P_and)
        return of_indices(e->op.args[0]) && of_indices(e->op.args[1]);
    return e->kind == IE_OP && e->op.n == 2 && e->op.args[0]->kind == IE_NAT && e->op.args[1]->kind == IE_NAT;
}

/* `x` for an element of `xs`, else `value`. */
const char *value_name(Lowering *lw, const ImpExpr *e)
{
    if (e->kind == IE_COND)
        e = e->cond.then;
    const char *name = e->kind == IE_LOAD ? e->mem.buf->name : "";
    size_t n = strlen(name);
    if (e->kind == IE_OP && e->type == SC_BOOL)
        return of_indices(e) ? "inside" : "holds";
    return n >= 2 && n <= 12 && name[n - 1] == 's' && name[n - 2] != 's' ? ctx_printf(lw->ctx, "%.*s", (int)n - 1, name) : "value";
}

/* A value with a name has several uses, and is the same in all of them: see Note [A value has one value] in contraction.c. */
static void round_product(ImpExpr *e)
{
    if (e->kind == IE_CAST) {
        round_product(e->cast.value);
    } else if (e->kind == IE_COND) {
        round_product(e->cond.then);
        round_product(e->cond.otherwise);
    } else if (e->kind == IE_OP) {
        e->op.rounded |= e->op.id == P_mul && (e->type == SC_F32 || e->type == SC_F64);
        for (int i = e->op.id == P_select; i < e->op.n && (e->op.id == P_neg || e->op.id == P_select); i++)
            round_product(e->op.args[i]);
    }
}

/* True when a value of statement i now stands before it, in a register. */
static bool share_one(Lowering *lw, ImpBlock *block, int i)
{
    ImpStmt *s = block->list.at[i];
    Candidates list = {0};
    ImpExpr *const *own;
    for (int k = 0, n = own_values(s, &own); k < n; k++)
        candidates(lw->ctx, own[k], &list);
    Seen seen = {.ctx = lw->ctx};
    for (int j = i; list.n && j < block->list.n && j < i + WINDOW; j++) {
        seen.keeps = j == i;
        walk_stmt(block->list.at[j], count_node, &seen);
    }
    for (int k = 0; k < list.n; k++) {
        ImpExpr *value = list.at[k];
        if (!value || table_get(&seen.counts, table_get(&seen.hashes, value)) != again)
            continue;
        Uses count = {value, NULL, 0};
        visit_uses(block, i, &count);
        if (count.n < 2)
            continue;
        if (s->kind == IS_DECL && s->var.value == value && s->var.var->constant && s->var.var->slots == 1 && !s->var.var->nat) { /* it has a name already */
            value = imp_copy_expr(lw->ctx, value);
            Uses rest = {value, imp_var(lw->ctx, s->var.var, nat_const(lw->ctx, 0), s->span), 0};
            visit_uses(block, i + 1, &rest);
            round_product(s->var.value);
            continue;
        }
        ImpVar *var = lower_new_var(lw, value_name(lw, value), value->type, value->span);
        var->constant = true;
        ImpStmt *decl = imp_stmt(lw->ctx, NULL, IS_DECL, s->span);
        decl->var.var = var;
        Uses replace = {imp_copy_expr(lw->ctx, value), imp_var(lw->ctx, var, nat_const(lw->ctx, 0), value->span), 0};
        visit_uses(block, i, &replace);
        decl->var.value = (ImpExpr *)replace.value;
        round_product(decl->var.value);
        block_insert(lw->ctx, block, i, decl);
        return true;
    }
    return false;
}

static void share(Lowering *lw, ImpBlock *block)
{
    for (int i = 0; i < block->list.n; i++) {
        while (share_one(lw, block, i))
            ;
        ImpStmt *s = block->list.at[i];
        if (s->kind == IS_FOR)
            share(lw, &s->loop.body);
        if (s->kind == IS_IF) {
            share(lw, &s->branch.then);
            share(lw, &s->branch.otherwise);
        }
    }
}

void pass_common(Lowering *lw)
{
    share(lw, &lw->kernel->body);
    registers_copies(lw); /* a name that is only another one's value now */
    loads_before_loops(lw);
}
