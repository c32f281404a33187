/* Operators whose laws are known without being declared. */
#ifndef RISEC_IR_OPERATOR_H
#define RISEC_IR_OPERATOR_H

#include "ir/core.h"

/* A component of the values that an operator combines: the way to it through tuples, and what combines
 * it. */
typedef struct OperatorPart {
    PrimId id;
    int depth;
    const int *path; /* the outermost index first */
} OperatorPart;

typedef void (*OperatorPartFn)(void *user, const OperatorPart *part);

/* Does the function combine each component of two values by a primitive that is associative and
 * commutative, as fun (a, b) (c, d) => (a + c, max(b, d)) does? Then fn, which may be NULL, is called
 * for each. Values that are no tuples are one component. */
bool operator_parts(const Core *lambda, OperatorPartFn fn, void *user);

#endif
