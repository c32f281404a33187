/* The rules and strategies of the library, as documents: made from lib/rules and lib/strategies themselves. */
#ifndef RISEC_REWRITE_MANUAL_H
#define RISEC_REWRITE_MANUAL_H

#include "support/context.h"

/* docs/rules.md. */
void rules_manual(Ctx *ctx, StrBuf *out);
/* One rule, strategy, definition or operator of the library, or a word of strategies; false when there is none of that name. */
bool rules_help(Ctx *ctx, StrBuf *out, const char *name);
/* `risec help rules`: the names, by module. */
void rules_list(Ctx *ctx, StrBuf *out);

/* What a word of strategies is, from its name and what may stand behind that, as in `launch[threads = 256]`. NULL where it is none. */
const char *rules_word_doc(const char *text);

#endif
