/* The texts that the editor has open, as it has changed them. */
#ifndef RISEC_LSP_DOCUMENTS_H
#define RISEC_LSP_DOCUMENTS_H

#include <jansson.h>

#include "lsp/positions.h"

struct Analysis;

typedef struct Document {
    struct Document *next;
    char *uri, *path; /* path: as programs name it; of what is no file, a name that no file has */
    char *text;       /* terminated */
    size_t size, cap;
    long long version;
    size_t touched;            /* where it was changed last: a byte */
    struct Analysis *analysis; /* of the text as it is now; NULL: not made */
    bool undiagnosed;          /* something has changed since its diagnostics were found */
    json_t *found;             /* its diagnostics (lsp/diagnostics.h); or NULL */
    json_t *found_before;      /* by entries: what was found of texts that may come again */
    long long found_version;
    bool untold; /* `found` was asked for, and has not been told by itself */
} Document;

typedef struct Documents {
    Document *first; /* the one that was changed last comes first */
    int opened;      /* so many, ever */
} Documents;

Document *documents_find(const Documents *documents, const char *uri);
Document *documents_at_path(const Documents *documents, const char *path);
/* Opens it, or opens it anew. NULL: there is no memory. The text is copied. */
Document *documents_open(Documents *documents, const char *uri, const char *text, size_t size,
                         long long version);
void documents_close(Documents *documents, Document *doc);
void documents_to_front(Documents *documents, Document *doc);
/* Puts a text in the place of [lo, hi). False: there is no memory, or it becomes too large; then
 * nothing changes. */
bool document_replace(Document *doc, size_t lo, size_t hi, const char *text, size_t size);
/* All that was found out of it, as something that it depends on has changed. */
void document_forget(Document *doc);

#endif
