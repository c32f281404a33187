/* The table of costs of a device: lib/device.rise, or another text of the same form. */
#ifndef RISEC_FRONTEND_COSTS_H
#define RISEC_FRONTEND_COSTS_H

#include "ir/costs.h"
#include "support/context.h"

/* Of a source that source_add knows. NULL with E0663. */
const Costs *costs_parse(Ctx *ctx, uint32_t file);
/* Of the device that this context schedules for: ctx->costs, or the library's where nobody has set one. */
const Costs *costs_of(Ctx *ctx);
/* 16 hexadecimal digits. */
const char *costs_hash_text(Ctx *ctx, const Costs *costs);

#endif
