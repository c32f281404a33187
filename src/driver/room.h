/* Whether what a run needs fits into memory, before anything is allocated. */
#ifndef RISEC_DRIVER_ROOM_H
#define RISEC_DRIVER_ROOM_H

#include "driver/driver.h"
#include "ir/interp.h"

/* `names`: of the inputs' components; those that have bytes already (files) take no more. `copies`: how often the results are held. `watched`: bytes that
 * the simulator adds to each cell of a result, or 0. False with E0635. */
bool room_check(Ctx *ctx, Driver *d, const CoreEntry *entry, const Launch *launch, const char *const *names, int copies, int watched);
/* Of all inputs and results; INT64_MAX where they are too many to count. */
int64_t room_elements(Ctx *ctx, const CoreEntry *entry, const Launch *launch);

#endif
