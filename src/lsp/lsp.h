/* `risec lsp`: the language server, over standard input and output. It has a part of the build of
 * its own, with libjansson, which nothing else of risec needs. */
#ifndef RISEC_LSP_LSP_H
#define RISEC_LSP_LSP_H

/* Serves until the editor says `exit`, or leaves. 0 where it said so in the way that LSP wants,
 * else 1. */
int lsp_serve(void);

#endif
