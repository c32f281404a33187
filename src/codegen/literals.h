/* What literals say before anything runs. Private to src/codegen. */
#ifndef RISEC_CODEGEN_LITERALS_H
#define RISEC_CODEGEN_LITERALS_H

#include "codegen/imp.h"

/* What literals decide in the expressions of these statements. */
void literals_fold(Ctx *ctx, ImpBlock *block);
/* Is e a literal, or an integer that is a constant nat? Then *value is it. */
bool literal_value(const ImpExpr *e, ScalarValue *value);
/* The same type and value, to the bit; NaN is not. */
bool literal_same(ScalarValue a, ScalarValue b);
/* A function whose result does not depend on the machine that computes it. */
bool literal_exact(PrimId id);
/* The value of the function, which is exact or compares or is one of bools, of literals; false: it is none of these, or NaN. */
bool literal_apply(PrimId id, Scalar type, const ScalarValue *args, ScalarValue *value);
/* What the caller knows of registers, loads and conditions; false: not of this one. */
typedef bool (*LiteralFn)(void *user, const ImpExpr *e, ScalarValue *value);
/* The value of e, the same on every machine, with what the caller knows of its parts. All of them have
 * to have a value, those too that are not evaluated then. False: it is not known. */
bool literal_expr(const ImpExpr *e, LiteralFn known, void *user, ScalarValue *value);

#endif
