/* Warnings about launches that use little of a GPU, whatever the sizes. */
#ifndef RISEC_DRIVER_LINTS_H
#define RISEC_DRIVER_LINTS_H

#include "codegen/imp.h"

/* Of programs whose levels are written: what the scheduler chooses has warnings of its own. */
void warn_idle(Ctx *ctx, const CoreEntry *entry, const ImpProgram *imp);

#endif
