/* Random programs whose results take the memory of inputs. */
#ifndef RISEC_TESTS_RPLACE_H
#define RISEC_TESTS_RPLACE_H

#include "rcheck.h"

/* Runs a trial that agrees once for each pair of a result and an input of one type, in one memory: what the compiler
 * allows has to agree as well. Gives false where it does not. Counts into r->in_place. */
bool try_in_place(Compiled *c, const RProgram *p, const RTrial *t, RResult *r);

#endif
