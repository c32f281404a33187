/* What the finders of pass indices share: what a nat costs, and how it gets a name. */
#ifndef RISEC_CODEGEN_INDICES_H
#define RISEC_CODEGEN_INDICES_H

#include "codegen/lowering.h"

/* Additions and multiplications; what takes a division counts as several. */
enum { WORTH_A_NAME = 2, DIVISION_COST = 4 };
int nat_cost(Nat nat);

/* The same nat told by a name `by` for `named`, or itself. */
typedef Nat (*ToldBy)(void *user, Nat nat, Nat named, Nat by);

/* Declares a name for the nat before statement `at` of the list, and tells by it what follows there.
 * Gives the variable that stands for it. */
Nat name_nat(Lowering *lw, ImpBlock *block, int at, Nat nat, const char *name, ToldBy told, void *user);

/* The terms of an index in the loop that the loop does not change, if they are worth a name; NULL:
 * there are none. */
Nat part_before_loop(Lowering *lw, ImpStmt *loop);
typedef VEC(Nat) Nats;
/* Is it computed from these variables, and what the device says, alone? */
bool is_of_sizes(Ctx *ctx, const Nats *sizes, Nat nat);
/* Names what the kernel computes from sizes alone, more than once. *sizes: the entry's, and these names. */
void name_sizes(Lowering *lw, Nats *sizes);

#endif
