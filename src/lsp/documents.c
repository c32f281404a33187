#include "lsp/documents.h"

#include <stdio.h>
#include <stdlib.h>

#include "lsp/analysis.h"

enum {
    MOST_BYTES = LIMIT_SOURCE_BYTES * 2
}; /* beyond the compiler's limit, which it reports itself */

Document *documents_find(const Documents *documents, const char *uri)
{
    for (Document *doc = documents->first; doc; doc = doc->next)
        if (strcmp(doc->uri, uri) == 0)
            return doc;
    return NULL;
}

Document *documents_at_path(const Documents *documents, const char *path)
{
    for (Document *doc = documents->first; doc; doc = doc->next)
        if (strcmp(doc->path, path) == 0)
            return doc;
    return NULL;
}

static void unlink_from(Documents *documents, const Document *doc)
{
    for (Document **at = &documents->first; *at; at = &(*at)->next)
        if (*at == doc) {
            *at = doc->next;
            return;
        }
}

static void document_free(Document *doc)
{
    if (!doc)
        return;
    document_forget(doc);
    json_decref(doc->found);
    json_decref(doc->found_before);
    free(doc->uri);
    free(doc->path);
    free(doc->text);
    free(doc);
}

typedef struct Naming {
    const char *uri;
    int number;
    char *path;
} Naming;

static void name_path(Ctx *ctx, void *user)
{
    Naming *naming = user;
    const char *path = uri_path(ctx, naming->uri);
    if (path == naming->uri)
        path = ctx_printf(ctx, "untitled-%d.rise", naming->number);
    naming->path = strdup(path);
}

static char *path_of(const char *uri, int number)
{
    Naming naming = {uri, number, NULL};
    Ctx *ctx = ctx_new(NULL, NULL);
    if (ctx)
        ctx_try(ctx, name_path, &naming);
    ctx_free(ctx);
    return naming.path;
}

Document *documents_open(Documents *documents, const char *uri, const char *text, size_t size,
                         long long version)
{
    Document *doc = calloc(1, sizeof *doc), *old = documents_find(documents, uri);
    if (!doc)
        return NULL;
    doc->uri = strdup(uri);
    doc->path = path_of(uri, ++documents->opened);
    doc->version = version;
    if (!doc->uri || !doc->path || !document_replace(doc, 0, 0, text, size)) {
        document_free(doc);
        return NULL;
    }
    doc->touched = 0;
    if (old)
        documents_close(documents, old);
    doc->next = documents->first;
    documents->first = doc;
    return doc;
}

void documents_close(Documents *documents, Document *doc)
{
    unlink_from(documents, doc);
    document_free(doc);
}

void documents_to_front(Documents *documents, Document *doc)
{
    unlink_from(documents, doc);
    doc->next = documents->first;
    documents->first = doc;
}

bool document_replace(Document *doc, size_t lo, size_t hi, const char *text, size_t size)
{
    size_t whole = doc->size - (hi - lo) + size;
    if (whole > MOST_BYTES)
        return false;
    if (whole + 1 > doc->cap) {
        size_t cap = whole + whole / 2 + 1;
        char *wider = realloc(doc->text, cap);
        if (!wider)
            return false;
        doc->text = wider;
        doc->cap = cap;
    }
    memmove(doc->text + lo + size, doc->text + hi, doc->size - hi);
    if (size)
        memcpy(doc->text + lo, text, size);
    doc->size = whole;
    doc->text[whole] = 0;
    doc->touched = lo;
    return true;
}

void document_forget(Document *doc)
{
    analysis_free(doc->analysis);
    doc->analysis = NULL;
    doc->undiagnosed = true;
}
