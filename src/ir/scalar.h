/* The arithmetic of scalars, in one place: literals, constant folding, the reference interpreter and the simulator all use it, so they
 * agree to the bit. Never traps: integers wrap, what the language leaves unspecified gives 0. */
#ifndef RISEC_IR_SCALAR_H
#define RISEC_IR_SCALAR_H

#include "ir/core.h"

/* Brings an integer into the range of `type` by wrapping; rounds a float to its precision. bool: 0 or 1. */
ScalarValue scalar_int(Scalar type, int64_t value);
ScalarValue scalar_float(Scalar type, double value);
/* True when the integer (or the unsigned one, with is_unsigned) is a value of the type; for floats, when exactly representable. */
bool scalar_int_fits(Scalar type, int64_t value);

/* One scalar function (P_add .. P_select, not P_cast) on operands of type `type` (the type of the first operand; for select of the second).
 * Comparisons give SC_BOOL. f32: each operation is rounded to f32; f16 and bf16: computed in f32 and rounded; fma rounds once. */
ScalarValue scalar_apply(PrimId op, Scalar type, const ScalarValue *args);
/* How many operands it has. */
int scalar_operands(PrimId op);
ScalarValue scalar_cast(Scalar to, ScalarValue value);

/* To and from memory, little endian as the machine has it; bool is one byte. */
ScalarValue scalar_load(Scalar type, const void *at);
void scalar_store(ScalarValue value, void *at);

/* As people read it: whole numbers that the type tells apart from their neighbours have no exponent. */
void scalar_put(StrBuf *out, Scalar type, ScalarValue value);

/* inf, nan, lowest, highest; false when the type has none. `lowest` of a float is its most negative finite value. */
bool scalar_named(Scalar type, const char *name, ScalarValue *value);
/* The unit of a builtin operator (0 of +, 1 of *, highest or inf of min, ...); false when it has none. */
bool scalar_unit(PrimId op, Scalar type, ScalarValue *unit);
uint16_t f16_from_double(double value); /* to nearest even */
double f16_to_double(uint16_t bits);
uint16_t bf16_from_double(double value);
double bf16_to_double(uint16_t bits);

#endif
