/* Inputs made from a word and a seed, the same on every machine (normal: as far as the C library's log and cos agree).
 *
 *   iota            0, 1, 2, ... in row-major order, wrapping (bool: 0, 1, 0, 1; idx: modulo the size)
 *   ones, zeros     that number; const:V or V itself: V
 *   uniform         floats: k / 2^24 in [0, 1), k uniform (f16, bf16: k / 2^8); integers: 0 to 99, as far as the type goes; bool: 0 or 1
 *   uniform:LO:HI   floats in [LO, HI), rounded to the type; integers LO to HI, both included
 *   special         values that arithmetic treats in ways of its own (NaN, infinities, both zeros,
 *                   the ends of the type), one in six, among multiples of 1/8 from -12.5 to 12.5
 *                   (integers: from -100 to 100, or 0 to 200)
 *   small           integers from -8 to 8, or 0 to 16, as floats, too
 *   normal          floats of mean 0 and variance 1 (Box and Muller, in double)
 *
 * The generator is xoshiro256** seeded through splitmix64, one draw for each element (two for normal) in row-major order. */
#ifndef RISEC_DRIVER_INPUTS_H
#define RISEC_DRIVER_INPUTS_H

#include "ir/interp.h"

/* True when `text` is one of the words above (whatever follows a colon) or a number, and no file name. */
bool input_is_spec(const char *text);
/* Fills buf->bytes (allocated here) as `spec` says; elem, rank, shape and count are given. idx_size: for data of type idx[n], n (all values are
 * then below it, so there are none when n is 0); else 0 and is_idx false. `name` is for messages. False with a diagnostic (E0609). */
bool input_fill(Ctx *ctx, const char *name, const char *spec, uint64_t seed, bool is_idx, int64_t idx_size, HostBuf *buf);
/* A number as --arg and const: take it, exactly: out of the type's range or not a number gives false. Also inf, -inf and nan. */
bool input_number(const char *text, Scalar type, ScalarValue *value);

#endif
