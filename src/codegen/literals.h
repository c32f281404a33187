/* What literals say before anything runs. Private to src/codegen. */
#ifndef RISEC_CODEGEN_LITERALS_H
#define RISEC_CODEGEN_LITERALS_H

#include "codegen/imp.h"

/* Is e a literal, or an integer that is a constant nat? Then *value is it. */
bool literal_value(const ImpExpr *e, ScalarValue *value);
/* A function whose result does not depend on the machine that computes it. */
bool literal_exact(PrimId id);
/* The value of the function, which is exact or compares or is one of bools, of literals; false: it is none of these, or NaN. */
bool literal_apply(PrimId id, Scalar type, const ScalarValue *args, ScalarValue *value);

#endif
