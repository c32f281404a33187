/* Functions of pairs that give the same when the components change places. */
#ifndef RISEC_IR_EXCHANGE_H
#define RISEC_IR_EXCHANGE_H

#include "ir/core.h"

/* Is f((a, b)) known to be f((b, a)), to the bit, for all values? f takes a pair of scalars. So a * b is, and
 * |a - b|, and (a - b) * (a - b), and min(a, b) / (a + b), but not a - b. */
bool core_exchanges(Ctx *ctx, const Core *function);

#endif
