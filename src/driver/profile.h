/* A profile of the simulator, shown: as a table with a verdict in words, and as JSON. docs/profiling.md shows one. */
#ifndef RISEC_DRIVER_PROFILE_H
#define RISEC_DRIVER_PROFILE_H

#include "sim/sim.h"

/* The counters with their meaning, as lines of text, and as the document docs/counters.md. */
void profile_put_counters(StrBuf *out);
void profile_manual(StrBuf *out);

void profile_print(Ctx *ctx, StrBuf *out, const SimProfile *profile);
/* `{"totals": {...}, "lines": [...], "verdict": [...]}` */
void profile_json(Ctx *ctx, StrBuf *out, const SimProfile *profile);
/* "line 7", or "std.warp:7" of a line in another file than the program's. */
const char *profile_line_name(Ctx *ctx, const SimProfile *profile, const SimLine *line);
/* The source of the line, without the spaces around it. */
const char *profile_line_text(Ctx *ctx, const SimLine *line);
/* The line that adds most to a counter, or to what a ratio is over; NULL where none does. */
const SimLine *profile_most(const SimProfile *profile, CounterId id);
/* Appends what the line costs more than it must, a sentence each. `about`: only what adds to this counter; COUNTER_COUNT: all of it. */
typedef VEC(const char *) Sentences;
void profile_verdict(Ctx *ctx, Sentences *out, const SimProfile *profile, const SimLine *line, CounterId about);

#endif
