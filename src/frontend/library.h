/* The modules of the library by their names, as in std.warp for lib/std/warp.rise; not what they mean. */
#ifndef RISEC_FRONTEND_LIBRARY_H
#define RISEC_FRONTEND_LIBRARY_H

#include "support/context.h"
#include "support/embedded.h"

/* "std.warp" */
const char *library_module(Ctx *ctx, const LibFile *file);
/* NULL: there is none. */
const LibFile *library_find(Ctx *ctx, const char *module);
/* The first module with a definition, operator, rule or strategy of this name; NULL: none has one. */
const LibFile *library_with(const char *name);
/* Its header, such as `argmax {n: nat} {t: num} (xs: n.t): 1.i64`, of a definition whose header is short; NULL. */
const char *library_header(Ctx *ctx, const char *name);
/* The rule or strategy of the library whose name is near; NULL: none is. */
const char *library_step_near(Ctx *ctx, const char *name);

#endif
