/* Padding that a fold does not leave out: a value put behind the elements that changes what the fold gives. */
#ifndef RISEC_IR_PADDING_H
#define RISEC_IR_PADDING_H

#include "ir/core.h"

/* W0706 for each padTo and padCst whose value is known, reaches a fold, and is not neutral there. Silent where anything on the way is not known. */
void padding_check(Ctx *ctx, const CoreEntry *entry);

#endif
