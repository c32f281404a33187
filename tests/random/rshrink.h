/* Makes a failing program smaller as long as it fails in the same way. */
#ifndef RISEC_TESTS_RSHRINK_H
#define RISEC_TESTS_RSHRINK_H

#include "rcheck.h"

/* The result has a pool of its own. */
RProgram *shrink_program(const RProgram *p, uint64_t seed, const RResult *failure);
/* Runs it once more and says what is wrong: diagnostics, findings, or the sizes where sim and ref differ. */
void shrink_say(const RProgram *p, uint64_t seed);

#endif
