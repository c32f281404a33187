/* Places where a planted fault computes the same: shown from the text around them, so that no launch has to. */
#ifndef RISEC_TESTS_RSAME_H
#define RISEC_TESTS_RSAME_H

#include "rmutate.h"

/* Is it proved that the kernel with the fault does what it does without? */
bool fault_is_none(Ctx *ctx, const Fault *fault);

#endif
