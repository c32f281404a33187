/* Fewer branches for the same: rules for `if` that several passes use. Private to src/codegen. */
#ifndef RISEC_CODEGEN_BRANCHES_H
#define RISEC_CODEGEN_BRANCHES_H

#include "codegen/lowering.h"

/* x = c ? e : x  ->  if (c) x = e, and the other way round. */
void branches_choose(Ctx *ctx, ImpBlock *list);
/* if a { if b { s } }  ->  if a and b { s };  if c { s } if c { t }  ->  if c { s; t } */
void branches_merge(Ctx *ctx, ImpBlock *list);
/* The second rule for neighbouring parts of the program, too: where no barrier is to come between them. */
void branches_join(Ctx *ctx, ImpBlock *list);
/* if c { ...; t = e } else { t = x }; x = t  ->  if c { ...; x = e } */
void branches_assign(ImpBlock *kernel);
bool block_sets(ImpBlock *block, const ImpVar *var); /* or declares it */
bool stmt_reads(ImpStmt *s, const ImpVar *var);      /* itself, and not those nested in it */
bool stmt_mentions(ImpStmt *s, const ImpVar *var);   /* reads it, sets it or declares it */

#endif
