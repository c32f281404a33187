/* A profile of the simulator, shown: as a table with a verdict in words, and as JSON. docs/profiling.md shows one. */
#ifndef RISEC_DRIVER_PROFILE_H
#define RISEC_DRIVER_PROFILE_H

#include "sim/sim.h"

void profile_print(Ctx *ctx, StrBuf *out, const SimProfile *profile);
/* `{"totals": {...}, "lines": [...], "verdict": [...]}` */
void profile_json(Ctx *ctx, StrBuf *out, const SimProfile *profile);
/* "line 7", or "std.warp:7" of a line in another file than the program's. */
const char *profile_line_name(Ctx *ctx, const SimProfile *profile, const SimLine *line);
/* The source of the line, without the spaces around it. */
const char *profile_line_text(Ctx *ctx, const SimLine *line);
/* The line that adds most to a counter, or to what a ratio is over; NULL where none does. */
const SimLine *profile_most(const SimProfile *profile, CounterId id);
/* What the line costs more than it must, one sentence for each kind, most expensive first. "" where nothing. */
void profile_verdict(Ctx *ctx, StrBuf *out, const SimProfile *profile, const SimLine *line, const char *before, const char *after);

#endif
