/* What `risec check` says of the open documents, but for `expect` clauses, entry by entry.
 *
 * The text is read and its names are looked up anew after each change. Then entries are compiled
 * one after the other, the one that was changed last first. What was found of an entry is kept as
 * long as neither its text nor that of anything of the user's that it rests on changes; so a
 * keystroke costs one entry. */
#ifndef RISEC_LSP_DIAGNOSTICS_H
#define RISEC_LSP_DIAGNOSTICS_H

#include "lsp/analysis.h"
#include "lsp/transport.h"

/* Some of the work that is left, about an entry of it; tells the editor what was found. What the
 * brake ends is done again. */
void diagnostics_step(Workspace *workspace, Transport *transport);
/* Tells the editor that the document has none. */
void diagnostics_clear(Workspace *workspace, Transport *transport, const Document *doc);

/* Diagnostics as they are kept: an object each, with `code`, `message`, `warning`, `help`, and
 * spans. */

typedef struct FoundSpan {
    bool own;      /* of the document */
    uint32_t file; /* of the program; 0: nowhere that can be shown */
    uint32_t lo, hi;
} FoundSpan;

/* Where a kept span is now. */
FoundSpan found_span(const Analysis *analysis, const json_t *kept);
/* Does the document have fewer errors with `text` in its place, and none of the kind that `kept` is
 * at this place? Takes as long as an entry does. */
bool diagnostics_mends(Workspace *workspace, Document *doc, const json_t *kept, const char *text,
                       size_t size);

#endif
