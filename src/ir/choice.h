/* Operators that choose one of two pairs by comparing their components. */
#ifndef RISEC_IR_CHOICE_H
#define RISEC_IR_CHOICE_H

#include "ir/core.h"

/* Which of two comes first. */
typedef struct ChoiceOrder {
    PrimId before; /* (<) or (>) */
    PrimId pick;   /* of two numbers the one that is before: min or max, which leave NaN out */
} ChoiceOrder;

/* Whether the function chooses, of two pairs, the one whose component `by` (0 or 1) comes first, and where these are equal the one whose other component is
 * less. A second pair with NaN is not chosen. It does not matter how the function says so: Note [Tables]. */
bool choice_order(Ctx *ctx, const Core *lambda, int by, ChoiceOrder *out);

#endif
