#include "codegen/walk.h"

typedef enum Manner {
    OUTER_FIRST,
    INNER_FIRST,
    ALWAYS /* outer first; only what is computed whatever its conditions say */
} Manner;

static void walk_inside(ImpExpr **at, Manner manner, ExprFn fn, void *user)
{
    if (manner != INNER_FIRST)
        fn(user, at);
    ImpExpr *e = *at;
    switch (e->kind) {
    case IE_LIT: case IE_NAT: case IE_VAR: case IE_LOAD: break;
    case IE_OP:
        for (int i = 0; i < e->op.n && (i == 0 || manner != ALWAYS || (e->op.id != P_and && e->op.id != P_or)); i++)
            walk_inside(&e->op.args[i], manner, fn, user);
        break;
    case IE_CAST: walk_inside(&e->cast.value, manner, fn, user); break;
    case IE_COND:
        walk_inside(&e->cond.cond, manner, fn, user);
        if (manner != ALWAYS) {
            walk_inside(&e->cond.then, manner, fn, user);
            walk_inside(&e->cond.otherwise, manner, fn, user);
        }
        break;
    case IE_SHFL:
        if (e->shfl.by)
            walk_inside(&e->shfl.by, manner, fn, user);
        walk_inside(&e->shfl.value, manner, fn, user);
        break;
    }
    if (manner == INNER_FIRST)
        fn(user, at);
}

void walk_expr(ImpExpr **at, ExprFn fn, void *user) { walk_inside(at, OUTER_FIRST, fn, user); }

static void walk_stmt_inside(ImpStmt *s, Manner manner, ExprFn fn, void *user)
{
    switch (s->kind) {
    case IS_DECL: case IS_SET:
        if (s->var.value)
            walk_inside(&s->var.value, manner, fn, user);
        break;
    case IS_STORE: walk_inside(&s->store.value, manner, fn, user); break;
    case IS_ATOMIC: walk_inside(&s->atomic.value, manner, fn, user); break;
    case IS_TICKET: case IS_GRID_SYNC: case IS_AWAIT: break;
    case IS_GIVE: walk_inside(&s->exchange.value, manner, fn, user); break;
    case IS_SERVE:
        for (int k = 0; k < s->serve.n_parts; k++) {
            walk_inside(&s->serve.parts[k].value, manner, fn, user);
            walk_inside(&s->serve.parts[k].unit, manner, fn, user);
        }
        break;
    case IS_VSET: case IS_VSTORE:
        for (int i = 0; i < s->vec.n; i++)
            walk_inside(&s->vec.values[i], manner, fn, user);
        break;
    case IS_IF: walk_inside(&s->branch.cond, manner, fn, user); break;
    case IS_FOR:
        if (s->loop.full)
            walk_inside(&s->loop.full, manner, fn, user);
        break;
    case IS_VLOAD: case IS_SYNC: case IS_ALLOC: case IS_NOTE: break;
    }
}

void walk_own(ImpStmt *s, ExprFn fn, void *user) { walk_stmt_inside(s, OUTER_FIRST, fn, user); }

void walk_own_inner_first(ImpStmt *s, ExprFn fn, void *user) { walk_stmt_inside(s, INNER_FIRST, fn, user); }

void walk_stmt(ImpStmt *s, ExprFn fn, void *user)
{
    walk_own(s, fn, user);
    if (s->kind == IS_FOR)
        walk_block(&s->loop.body, fn, user);
    if (s->kind == IS_IF) {
        walk_block(&s->branch.then, fn, user);
        walk_block(&s->branch.otherwise, fn, user);
    }
}

void walk_block(ImpBlock *block, ExprFn fn, void *user)
{
    for (int i = 0; i < block->list.n; i++)
        walk_stmt(block->list.at[i], fn, user);
}

void walk_stmts(ImpBlock *block, StmtFn fn, void *user)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        fn(user, s);
        if (s->kind == IS_FOR)
            walk_stmts(&s->loop.body, fn, user);
        if (s->kind == IS_IF) {
            walk_stmts(&s->branch.then, fn, user);
            walk_stmts(&s->branch.otherwise, fn, user);
        }
    }
}

typedef struct NatMapping {
    NatMap map;
    void *user;
} NatMapping;

static void map_expr_nats(void *user, ImpExpr **at)
{
    const NatMapping *m = user;
    ImpExpr *e = *at;
    Nat *nat = e->kind == IE_NAT ? &e->nat : e->kind == IE_VAR ? &e->var.slot : e->kind == IE_LOAD ? &e->mem.index : NULL;
    if (nat)
        *nat = m->map(m->user, *nat);
}

static void map_stmt_nats(ImpStmt *s, Manner manner, NatMap map, void *user)
{
    NatMapping m = {map, user};
    walk_stmt_inside(s, manner, map_expr_nats, &m);
    if (s->kind == IS_STORE)
        s->store.index = map(user, s->store.index);
    if (s->kind == IS_ATOMIC)
        s->atomic.index = map(user, s->atomic.index);
    if (s->kind == IS_GIVE || s->kind == IS_AWAIT)
        s->exchange.index = map(user, s->exchange.index);
    if (s->kind == IS_SERVE) {
        s->serve.n = map(user, s->serve.n);
        s->serve.row = s->serve.row ? map(user, s->serve.row) : NULL;
        s->serve.lane = map(user, s->serve.lane);
    }
    if (s->kind == IS_VLOAD || s->kind == IS_VSTORE)
        s->vec.index = map(user, s->vec.index);
    if (s->kind == IS_SET)
        s->var.slot = map(user, s->var.slot);
    if (s->kind == IS_FOR) {
        s->loop.lo = map(user, s->loop.lo);
        s->loop.hi = map(user, s->loop.hi);
        s->loop.step = map(user, s->loop.step);
    }
}

void map_nats(ImpStmt *s, NatMap map, void *user) { map_stmt_nats(s, OUTER_FIRST, map, user); }

typedef struct NatWalk {
    NatFn fn;
    void *user;
} NatWalk;

static Nat visit_nat(void *user, Nat nat)
{
    const NatWalk *w = user;
    w->fn(w->user, nat);
    return nat;
}

void walk_nats(ImpStmt *s, NatFn fn, void *user)
{
    NatWalk w = {fn, user};
    map_nats(s, visit_nat, &w);
}

void walk_nats_always(ImpStmt *s, NatFn fn, void *user)
{
    NatWalk w = {fn, user};
    map_stmt_nats(s, ALWAYS, visit_nat, &w);
}

bool imp_same_value(const ImpExpr *a, const ImpExpr *b)
{
    if (a->kind != b->kind || a->type != b->type)
        return false;
    switch (a->kind) {
    case IE_LIT: return a->lit.type == b->lit.type && a->lit.u == b->lit.u;
    case IE_NAT: return a->nat == b->nat;
    case IE_VAR: return a->var.var == b->var.var && a->var.slot == b->var.slot;
    case IE_LOAD: return a->mem.buf == b->mem.buf && a->mem.index == b->mem.index;
    case IE_OP:
        if (a->op.id != b->op.id || a->op.n != b->op.n || a->op.rounded != b->op.rounded)
            return false;
        for (int i = 0; i < a->op.n; i++)
            if (!imp_same_value(a->op.args[i], b->op.args[i]))
                return false;
        return true;
    case IE_CAST: return imp_same_value(a->cast.value, b->cast.value);
    case IE_COND: return imp_same_value(a->cond.cond, b->cond.cond) && imp_same_value(a->cond.then, b->cond.then) && imp_same_value(a->cond.otherwise, b->cond.otherwise);
    case IE_SHFL: return false;
    }
    return false;
}

/* Copies the node, then whatever the walk finds in it, outermost first. */
static void copy_node(void *user, ImpExpr **at)
{
    Ctx *ctx = user;
    ImpExpr *copy = NEW(ctx, ImpExpr);
    *copy = **at;
    if (copy->kind == IE_OP) {
        ImpExpr **args = NEWN(ctx, ImpExpr *, copy->op.n);
        memcpy(args, copy->op.args, sizeof *args * (size_t)copy->op.n);
        copy->op.args = args;
    }
    *at = copy;
}

void imp_own_exprs(Ctx *ctx, ImpStmt *s) { walk_own(s, copy_node, ctx); }

static void own_exprs(void *user, ImpStmt *s) { imp_own_exprs(user, s); }

void imp_own_all(Ctx *ctx, ImpBlock *block) { walk_stmts(block, own_exprs, ctx); }

ImpExpr *imp_copy_expr(Ctx *ctx, const ImpExpr *e)
{
    ImpExpr *copy = (ImpExpr *)e;
    walk_expr(&copy, copy_node, ctx);
    return copy;
}

static ImpBlock copy_block(Ctx *ctx, const ImpBlock *block)
{
    ImpBlock copy = {{0}};
    for (int i = 0; i < block->list.n; i++)
        vec_push(ctx, &copy.list, imp_copy_stmt(ctx, block->list.at[i]));
    return copy;
}

ImpStmt *imp_copy_stmt(Ctx *ctx, const ImpStmt *s)
{
    ImpStmt *copy = NEW(ctx, ImpStmt);
    *copy = *s;
    if (s->kind == IS_FOR)
        copy->loop.body = copy_block(ctx, &s->loop.body);
    if (s->kind == IS_IF) {
        copy->branch.then = copy_block(ctx, &s->branch.then);
        copy->branch.otherwise = copy_block(ctx, &s->branch.otherwise);
    }
    if (s->kind == IS_SERVE) {
        copy->serve.parts = NEWN(ctx, ImpServed, s->serve.n_parts);
        memcpy(copy->serve.parts, s->serve.parts, sizeof(ImpServed) * (size_t)s->serve.n_parts);
    }
    walk_own(copy, copy_node, ctx);
    return copy;
}

typedef struct BufWalk {
    BufFn fn;
    void *user;
} BufWalk;

static void expr_buf(void *user, ImpExpr **at)
{
    const BufWalk *w = user;
    if ((*at)->kind == IE_LOAD)
        w->fn(w->user, &(*at)->mem.buf);
}

void walk_bufs(ImpStmt *s, BufFn fn, void *user)
{
    BufWalk w = {fn, user};
    walk_own(s, expr_buf, &w);
    if (s->kind == IS_STORE)
        fn(user, &s->store.buf);
    if (s->kind == IS_VLOAD || s->kind == IS_VSTORE)
        fn(user, &s->vec.buf);
    if (s->kind == IS_ALLOC)
        fn(user, &s->alloc);
    if (s->kind == IS_ATOMIC)
        fn(user, &s->atomic.buf);
    if (s->kind == IS_GIVE || s->kind == IS_AWAIT)
        fn(user, &s->exchange.mail);
    if (s->kind == IS_AWAIT)
        fn(user, &s->exchange.cell);
    for (int k = 0; s->kind == IS_SERVE && k < s->serve.n_parts; k++)
        fn(user, &s->serve.parts[k].mail);
    if (s->kind == IS_TICKET || s->kind == IS_GRID_SYNC)
        fn(user, &s->ticket.buf);
    if (s->kind == IS_TICKET)
        fn(user, &s->ticket.flag);
}

typedef struct FindWrite {
    const ImpBuf *buf;
    bool found;
} FindWrite;

static void find_write(void *user, ImpStmt *s)
{
    FindWrite *f = user;
    f->found |= (s->kind == IS_STORE && s->store.buf == f->buf) || (s->kind == IS_VSTORE && s->vec.buf == f->buf);
    f->found |= s->kind == IS_AWAIT && s->exchange.cell == f->buf;
    f->found |= s->kind == IS_TICKET && s->ticket.flag == f->buf;
    f->found |= (s->kind == IS_GIVE || s->kind == IS_AWAIT) && s->exchange.mail == f->buf;
    for (int k = 0; s->kind == IS_SERVE && k < s->serve.n_parts; k++)
        f->found |= s->serve.parts[k].mail == f->buf;
    f->found |= (s->kind == IS_ATOMIC && s->atomic.buf == f->buf) || ((s->kind == IS_TICKET || s->kind == IS_GRID_SYNC) && s->ticket.buf == f->buf);
}

bool kernel_writes(const ImpKernel *kernel, const ImpBuf *buf)
{
    FindWrite f = {buf, false};
    ImpBlock body = kernel->body;
    walk_stmts(&body, find_write, &f);
    return f.found;
}

typedef struct FindRead {
    const ImpBuf *buf;
    bool found;
} FindRead;

static void find_load(void *user, ImpExpr **at)
{
    FindRead *f = user;
    f->found |= (*at)->kind == IE_LOAD && (*at)->mem.buf == f->buf;
}

static void find_read(void *user, ImpStmt *s)
{
    FindRead *f = user;
    f->found |= s->kind == IS_VLOAD && s->vec.buf == f->buf;
    walk_own(s, find_load, f);
}

bool kernel_reads(const ImpKernel *kernel, const ImpBuf *buf)
{
    FindRead f = {buf, false};
    ImpBlock body = kernel->body;
    walk_stmts(&body, find_read, &f);
    return f.found;
}

void walk_text(const ImpBlock *block, StmtFn fn, CallFn call, void *user)
{
    for (int i = 0; i < block->list.n; i++) {
        ImpStmt *s = block->list.at[i];
        if (s->call) {
            call(user, s->call);
            i += s->call->n - 1;
            continue;
        }
        fn(user, s);
        if (s->kind == IS_FOR)
            walk_text(&s->loop.body, fn, call, user);
        if (s->kind == IS_IF) {
            walk_text(&s->branch.then, fn, call, user);
            walk_text(&s->branch.otherwise, fn, call, user);
        }
    }
}

ImpBlock stmts_from(const ImpBlock *block, int from)
{
    int n = block->list.n - from;
    return (ImpBlock){.list = {n > 0 ? block->list.at + from : NULL, n, n}};
}

void block_remove(ImpBlock *block, int i)
{
    memmove(block->list.at + i, block->list.at + i + 1, sizeof *block->list.at * (size_t)(block->list.n - i - 1));
    block->list.n--;
}

void block_insert(Ctx *ctx, ImpBlock *block, int i, ImpStmt *stmt)
{
    vec_push(ctx, &block->list, stmt);
    memmove(block->list.at + i + 1, block->list.at + i, sizeof *block->list.at * (size_t)(block->list.n - i - 1));
    block->list.at[i] = stmt;
}
