/* What threads of compiled kernels keep in local memory, as cubins say it. */
#ifndef RISEC_DRIVER_FRAMES_H
#define RISEC_DRIVER_FRAMES_H

#include "codegen/imp.h"
#include "runtime/nvrtc.h"

typedef struct KernelOwner {
    const char *kernel; /* its name, in any form */
    const Item *item;   /* the entry */
} KernelOwner;

typedef struct KernelOwners {
    VEC(KernelOwner) list;
} KernelOwners;

/* Notes the kernels of an entry. `ctx`: of the list. */
void frames_note(Ctx *ctx, KernelOwners *owners, const CoreEntry *entry, const ImpProgram *imp);
/* W0712, once for an entry. What is no cubin, or not one as they are known, says nothing. */
void frames_warn(Ctx *ctx, const KernelOwners *owners, int arch, const Code *cubin);

#endif
