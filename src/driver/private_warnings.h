#ifndef RISEC_DRIVER_PRIVATE_WARNINGS_H
#define RISEC_DRIVER_PRIVATE_WARNINGS_H

#include "codegen/lower.h"

/* W0705: private arrays that cannot lie in registers, of each kernel that is launched at these sizes;
 * `at` NULL: at any sizes. The entry is the one that the user wrote. */
void warn_private(Ctx *ctx, const CoreEntry *entry, const ImpProgram *imp, const Launch *at);

#endif
