/* Two values that a product makes a neutral value of. */
#ifndef RISEC_IR_ABSORB_H
#define RISEC_IR_ABSORB_H

#include "ir/core.h"

/* Finds a and b for which the function gives `unit` of (a, b), among 0, the unit, 1 and infinities; false: none was found. The function takes a pair of scalars, and reads nothing else. */
bool core_absorbing(const Core *function, const Core *unit, ScalarValue pads[2]);

#endif
