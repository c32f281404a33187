/* Walking over imp, for the passes. */
#ifndef RISEC_CODEGEN_WALK_H
#define RISEC_CODEGEN_WALK_H

#include "codegen/imp.h"

/* Calls fn on every expression inside *at, outermost first; fn may replace what it is given. */
typedef void (*ExprFn)(void *user, ImpExpr **at);
void walk_expr(ImpExpr **at, ExprFn fn, void *user);
/* The expressions of the statement itself, not of the statements nested in it. */
void walk_own(ImpStmt *stmt, ExprFn fn, void *user);
/* The same, innermost first: fn sees what it has made of the operands. */
void walk_own_inner_first(ImpStmt *stmt, ExprFn fn, void *user);
/* The expressions of the statement and of all statements nested in it. */
void walk_stmt(ImpStmt *stmt, ExprFn fn, void *user);
void walk_block(ImpBlock *block, ExprFn fn, void *user);
/* All statements, outer before inner. */
typedef void (*StmtFn)(void *user, ImpStmt *stmt);
void walk_stmts(ImpBlock *block, StmtFn fn, void *user);
/* The statements that stand in the text of the block itself, and the calls in place of the others: Note [Functions] in imp.h. */
typedef void (*CallFn)(void *user, const ImpCall *call);
void walk_text(const ImpBlock *block, StmtFn fn, CallFn call, void *user);
/* The statements of a block from number `from` on, there may be none: to be walked, not to be added to. */
ImpBlock stmts_from(const ImpBlock *block, int from);
/* Every nat that the statement itself or its own expressions mention. */
typedef void (*NatFn)(void *user, Nat nat);
void walk_nats(ImpStmt *stmt, NatFn fn, void *user);
/* Those that it computes whatever its conditions say. */
void walk_nats_always(ImpStmt *stmt, NatFn fn, void *user);
/* Replaces every nat of the statement itself and of its own expressions; the nodes are changed in place. */
typedef Nat (*NatMap)(void *user, Nat nat);
void map_nats(ImpStmt *stmt, NatMap map, void *user);
/* The same expression; never true of shuffles, in which other lanes have a part. */
bool imp_same_value(const ImpExpr *a, const ImpExpr *b);
/* Copies that share nothing that a pass changes: the registers and loop variables are the same. */
ImpExpr *imp_copy_expr(Ctx *ctx, const ImpExpr *e);
ImpStmt *imp_copy_stmt(Ctx *ctx, const ImpStmt *s);
/* Gives the statement itself expressions that it shares with nothing else. */
void imp_own_exprs(Ctx *ctx, ImpStmt *s);
/* All statements of the block, too. */
void imp_own_all(Ctx *ctx, ImpBlock *block);
/* Every buffer that the statement itself or its own expressions mention; fn may replace it. */
typedef void (*BufFn)(void *user, ImpBuf **at);
void walk_bufs(ImpStmt *stmt, BufFn fn, void *user);
/* Does some statement of the kernel change cells of the buffer? */
bool kernel_writes(const ImpKernel *kernel, const ImpBuf *buf);
bool kernel_reads(const ImpKernel *kernel, const ImpBuf *buf);
/* Takes statement i out of the list, or puts one in before it. */
void block_remove(ImpBlock *block, int i);
void block_insert(Ctx *ctx, ImpBlock *block, int i, ImpStmt *stmt);

#endif
