/* When two terms count as the same.
 *
 * core_same: the same but for the names of what they bind. core_alike: moreover but for the order of the operands of scalar operators that commute, and for
 * comparisons read from the other side, as in `b > a` for `a < b`. Alike terms have the same value to the bit. Neither term is
 * changed: who replaces one by the other decides whose order stays. Declared operators and functions keep their order, and 0 is not -0.
 *
 * core_key is a number that alike terms share; of other terms it differs, but for accidents. */
#ifndef RISEC_IR_KEY_H
#define RISEC_IR_KEY_H

#include "ir/core.h"

bool core_same(Ctx *ctx, const Core *a, const Core *b);
bool core_alike(Ctx *ctx, const Core *a, const Core *b);
uint64_t core_key(Ctx *ctx, const Core *term);

#endif
