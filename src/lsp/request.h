/* What the features are given: one request of the editor's. A feature works in a context of its
 * own, writes its result as JSON, and knows nothing of messages. */
#ifndef RISEC_LSP_REQUEST_H
#define RISEC_LSP_REQUEST_H

#include "lsp/analysis.h"

typedef enum RequestError {
    REQUEST_GOOD = 0,
    REQUEST_BAD_PARAMS = -32602,
    REQUEST_INTERNAL = -32603,
    REQUEST_CANCELLED = -32800,
    REQUEST_STALE = -32801, /* the text has changed */
    REQUEST_FAILED = -32803
} RequestError;

typedef struct Request {
    Workspace *workspace;
    Document *doc;      /* NULL where the request names none */
    Analysis *analysis; /* of doc */
    Ctx *ctx;           /* inside of the analysis's; goes with the request */
    Ctx *more;          /* what a feature needs beside it goes with it, too; or NULL */
    const json_t *params;
    uint32_t at; /* the byte of params.position */
    StrBuf out;  /* the result; empty: null */
    RequestError error;
    const char *message; /* of the error */
} Request;

void request_fail(Request *r, RequestError error, const char *message);

void feature_completion(Request *r);
void feature_completion_resolve(Request *r);
void feature_hover(Request *r);
void feature_definition(Request *r);
void feature_references(Request *r);
void feature_highlight(Request *r);
void feature_prepare_rename(Request *r);
void feature_rename(Request *r);
void feature_symbols(Request *r);
void feature_inlay(Request *r);
void feature_semantic_tokens(Request *r);
void feature_diagnostic(Request *r);
void feature_code_action(Request *r);
void feature_format(Request *r);
void feature_format_range(Request *r);
void feature_command(Request *r);

/* ---- for several ------------------------------------------------------------------------- */

/* The place that a JSON object {line, character} names; false: it names none. */
bool json_place(const json_t *json, Place *place);
const char *json_text_of(const json_t *object, const char *name); /* NULL: none */
/* `{"uri": .., "range": ..}`. False, and nothing, where the span is nowhere. */
bool put_location(Request *r, StrBuf *out, Span span);
/* The URI of a file of a program; of a module of the library that of a copy, which is written where
 * it is missing. NULL: there is none. */
const char *file_uri(Request *r, const Analysis *analysis, uint32_t file);
/* Calls `tell` for each use of a name, where it is bound among them: in the program of the
 * document, and of the name of a definition in those of all other open ones. */
void each_use(Request *r, const NameNote *note,
              void (*tell)(void *user, const Analysis *a, const NameNote *note), void *user);
/* A Markdown text about a primitive, a word of the language, or an item. "": nothing is known. */
void put_about_name(Request *r, StrBuf *out, const char *name, const Item *item);
/* The legend of semantic tokens. */
void semantic_legend(StrBuf *out);

#endif
