/* What the fuzzer is told of a program beside the edges of code that it reached. A program that
 * shows a new fact is kept, and changed further. */
#ifndef RISEC_TESTS_FACTS_H
#define RISEC_TESTS_FACTS_H

#include "codegen/lower.h"

/* Which diagnostics there are, two by two. */
void facts_of_diags(const Ctx *ctx);
/* Of inputs and result the scalars, and how large their constant sizes are; which primitive stands
 * in which, and of which scalar it is. */
void facts_of_entry(const CoreEntry *entry);

#endif
