/* Which sizes an entry is run with: from --set, and from the shapes of the inputs that were read from files. */
#ifndef RISEC_DRIVER_SIZES_H
#define RISEC_DRIVER_SIZES_H

#include "driver/driver.h"
#include "ir/interp.h"

/* The shape of one input component that is known before the sizes are. */
typedef struct KnownShape {
    const char *input;  /* "xs", or "xs.2" */
    const char *source; /* where it comes from: "data.npy" */
    Type type;          /* of the component, over the entry's sizes */
    const HostBuf *buf;
} KnownShape;

/* Fills launch->sizes. Solves dimensions that are linear in one unknown size (n, n + 1, 4*n), again and again while that finds
 * something; then every known dimension must have the value that the sizes give it. False with diagnostics that name both
 * sources of a contradiction, or how to give a size that is missing. */
bool sizes_infer(Ctx *ctx, Driver *d, const CoreEntry *entry, int n, const KnownShape *shapes, Launch *launch);

#endif
