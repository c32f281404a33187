/* The library as documents: rules and strategies, and the modules of lib/std. Made from the modules themselves. */
#ifndef RISEC_REWRITE_MANUAL_H
#define RISEC_REWRITE_MANUAL_H

#include "support/context.h"

/* docs/rules.md. */
void rules_manual(Ctx *ctx, StrBuf *out);
/* One rule, strategy, definition or operator of the library, or a word of strategies; false when there is none of that name. */
bool rules_help(Ctx *ctx, StrBuf *out, const char *name);
/* `risec help rules`: the names, by module. */
void rules_list(Ctx *ctx, StrBuf *out);

/* The pages of docs/library, one after the other; each begins with a line `<!-- NAME.md -->`. */
void library_manual(Ctx *ctx, StrBuf *out);
/* A module, as std.warp, or the modules of a folder, as std; false when there is neither. */
bool library_help(Ctx *ctx, StrBuf *out, const char *word);

/* What a word of strategies is, from its name and what may stand behind that, as in `launch[threads = 256]`. NULL where it is none. */
const char *rules_word_doc(const char *text);

#endif
