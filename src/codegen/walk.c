#include "codegen/walk.h"

void walk_expr(ImpExpr **at, ExprFn fn, void *user)
{
    fn(user, at);
    ImpExpr *e = *at;
    switch (e->kind) {
    case IE_LIT: case IE_NAT: case IE_VAR: case IE_LOAD: break;
    case IE_OP:
        for (int i = 0; i < e->op.n; i++)
            walk_expr(&e->op.args[i], fn, user);
        break;
    case IE_CAST: walk_expr(&e->cast.value, fn, user); break;
    case IE_COND:
        walk_expr(&e->cond.cond, fn, user);
        walk_expr(&e->cond.then, fn, user);
        walk_expr(&e->cond.otherwise, fn, user);
        break;
    case IE_SHFL: walk_expr(&e->shfl.value, fn, user); break;
    }
}

void walk_own(ImpStmt *s, ExprFn fn, void *user)
{
    switch (s->kind) {
    case IS_DECL: case IS_SET:
        if (s->var.value)
            walk_expr(&s->var.value, fn, user);
        break;
    case IS_STORE: walk_expr(&s->store.value, fn, user); break;
    case IS_IF: walk_expr(&s->branch.cond, fn, user); break;
    case IS_FOR: case IS_SYNC: case IS_ALLOC: case IS_NOTE: break;
    }
}

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

typedef struct NatWalk {
    NatFn fn;
    void *user;
} NatWalk;

static void expr_nats(void *user, ImpExpr **at)
{
    const NatWalk *w = user;
    const ImpExpr *e = *at;
    if (e->kind == IE_NAT)
        w->fn(w->user, e->nat);
    else if (e->kind == IE_VAR)
        w->fn(w->user, e->var.slot);
    else if (e->kind == IE_LOAD)
        w->fn(w->user, e->mem.index);
    else if (e->kind == IE_SHFL)
        w->fn(w->user, e->shfl.by);
}

void walk_nats(ImpStmt *s, NatFn fn, void *user)
{
    NatWalk w = {fn, user};
    walk_own(s, expr_nats, &w);
    if (s->kind == IS_STORE)
        fn(user, s->store.index);
    if (s->kind == IS_SET)
        fn(user, s->var.slot);
    if (s->kind == IS_FOR) {
        fn(user, s->loop.lo);
        fn(user, s->loop.hi);
        fn(user, s->loop.step);
    }
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
