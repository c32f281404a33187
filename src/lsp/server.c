/* Messages, their order, and who answers them.
 *
 * Two threads: one reads, the other one works. What is read waits in a list. The reader alone sees
 * that a request is cancelled, or that something has come while diagnostics are looked for: then it
 * pulls the brake of what is being worked out. All answers are written by the worker. */
#include "lsp/lsp.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "lsp/diagnostics.h"
#include "lsp/request.h"
#include "lsp/transport.h"
#include "version.h"

typedef struct Message {
    struct Message *next;
    json_t *json; /* NULL: it was none */
    ReadStatus status;
    bool cancelled;
} Message;

typedef struct Server {
    Transport transport;
    Brake brake;
    pthread_mutex_t lock;
    pthread_cond_t more;
    /* Under the lock: */
    Message *first, **end;
    Message *current;
    bool searching; /* for diagnostics, which wait for whatever comes */
    bool ended;     /* nothing more comes */
    /* The worker's: */
    Workspace workspace;
    bool initialized, shut_down, exits;
} Server;

/* ---- what is read ------------------------------------------------------------------------ */

static const char *method_of(const Message *message)
{
    return json_string_value(json_object_get(message->json, "method"));
}

static bool is_method(const Message *message, const char *name)
{
    const char *method = message ? method_of(message) : NULL;
    return method && strcmp(method, name) == 0;
}

static void cancel(Server *s, const Message *message)
{
    const json_t *id = json_object_get(json_object_get(message->json, "params"), "id");
    if (s->current && id && json_equal(json_object_get(s->current->json, "id"), id)) {
        s->current->cancelled = true;
        s->brake.pulled = 1;
    }
    for (Message *at = s->first; at; at = at->next)
        if (id && json_equal(json_object_get(at->json, "id"), id))
            at->cancelled = true;
}

static void arrived(Server *s, Message *message)
{
    pthread_mutex_lock(&s->lock);
    if (message && is_method(message, "$/cancelRequest"))
        cancel(s, message);
    if (s->searching)
        s->brake.pulled = 1;
    if (message) {
        *s->end = message;
        s->end = &message->next;
    } else {
        s->ended = true;
        s->brake.pulled = 1;
    }
    pthread_cond_signal(&s->more);
    pthread_mutex_unlock(&s->lock);
}

static void *read_messages(void *user)
{
    Server *s = user;
    for (bool more = true; more;) {
        char *body = NULL;
        size_t size = 0;
        Message *message = calloc(1, sizeof *message);
        if (!message)
            break;
        message->status = transport_read(&s->transport, &body, &size);
        if (message->status == READ_GOOD)
            message->json = json_loadb(body, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        free(body);
        more = message->status != READ_END && !is_method(message, "exit");
        if (message->status == READ_END) {
            free(message);
            break;
        }
        arrived(s, message);
    }
    arrived(s, NULL);
    return NULL;
}

static void message_free(Message *message)
{
    json_decref(message->json);
    free(message);
}

/* ---- answers ----------------------------------------------------------------------------- */

typedef struct Answer {
    Server *server;
    const json_t *id; /* NULL: of a message that had none */
    const char *result;
    RequestError error;
    const char *message;
} Answer;

static void send_answer(Ctx *ctx, void *user)
{
    const Answer *answer = user;
    StrBuf out;
    sb_init(&out, ctx);
    sb_puts(&out, "{\"jsonrpc\":\"2.0\",\"id\":");
    size_t n = answer->id ? json_dumpb(answer->id, NULL, 0, JSON_ENCODE_ANY) : 0;
    char *id = ctx_alloc(ctx, n + 1);
    if (n > 0)
        json_dumpb(answer->id, id, n, JSON_ENCODE_ANY);
    sb_puts(&out, n > 0 ? id : "null");
    sb_putc(&out, ',');
    if (answer->error) {
        sb_printf(&out, "\"error\":{\"code\":%d,\"message\":", (int)answer->error);
        sb_put_json(&out, answer->message);
        sb_puts(&out, "}}");
    } else {
        sb_printf(&out, "\"result\":");
        sb_puts(&out, answer->result ? answer->result : "null");
        sb_puts(&out, "}");
    }
    transport_write(&answer->server->transport, out.text, out.len);
}

/* In a context that no brake ends. */
static void answer(Server *s, const json_t *id, const char *result, RequestError error,
                   const char *message)
{
    Answer a = {s, id, result, error, message};
    Ctx *ctx = ctx_new(NULL, NULL);
    if (ctx)
        ctx_try(ctx, send_answer, &a);
    ctx_free(ctx);
}

/* ---- the life of a session --------------------------------------------------------------- */

static void put_capabilities(StrBuf *out)
{
    sb_puts(out, "{\"capabilities\":{\"positionEncoding\":\"utf-16\","
                 "\"textDocumentSync\":{\"openClose\":true,\"change\":2},"
                 "\"completionProvider\":{\"triggerCharacters\":[\".\",\":\",\"[\"],"
                 "\"resolveProvider\":true},"
                 "\"hoverProvider\":true,\"definitionProvider\":true,\"referencesProvider\":true,"
                 "\"documentHighlightProvider\":true,\"documentSymbolProvider\":true,"
                 "\"inlayHintProvider\":true,"
                 "\"renameProvider\":{\"prepareProvider\":true},"
                 "\"documentFormattingProvider\":true,\"documentRangeFormattingProvider\":true,"
                 "\"codeActionProvider\":{\"codeActionKinds\":[\"quickfix\"]},"
                 "\"semanticTokensProvider\":{\"full\":true,\"legend\":");
    semantic_legend(out);
    sb_puts(out, "},\"executeCommandProvider\":{\"commands\":[\"risec.plan\",\"risec.cuda\"]}},"
                 "\"serverInfo\":{\"name\":\"risec\",\"version\":\"" RISEC_VERSION "\"}}");
}

static void feature_initialize(Request *r) { put_capabilities(&r->out); }
static void feature_nothing(Request *r) { (void)r; }

/* ---- texts ------------------------------------------------------------------------------- */

/* Any text may matter to any other one, which imports it. */
static void forget_all(Server *s)
{
    for (Document *doc = s->workspace.documents.first; doc; doc = doc->next)
        document_forget(doc);
}

static const json_t *document_params(const json_t *params)
{
    return json_object_get(params, "textDocument");
}

static void did_open(Server *s, const json_t *params)
{
    const json_t *item = document_params(params), *text = json_object_get(item, "text");
    const char *uri = json_text_of(item, "uri");
    if (!uri || !json_is_string(text))
        return;
    long long version = json_integer_value(json_object_get(item, "version"));
    if (documents_open(&s->workspace.documents, uri, json_string_value(text),
                       json_string_length(text), version))
        forget_all(s);
}

static bool change(Document *doc, const json_t *event)
{
    const json_t *text = json_object_get(event, "text"), *range = json_object_get(event, "range");
    Place from, to;
    size_t lo = 0, hi = doc->size;
    if (!json_is_string(text))
        return false;
    if (json_is_object(range)) {
        if (!json_place(json_object_get(range, "start"), &from) ||
            !json_place(json_object_get(range, "end"), &to))
            return false;
        lo = text_at(doc->text, doc->size, from);
        hi = text_at(doc->text, doc->size, to);
    }
    return document_replace(doc, lo, hi < lo ? lo : hi, json_string_value(text),
                            json_string_length(text));
}

static void did_change(Server *s, const json_t *params)
{
    const char *uri = json_text_of(document_params(params), "uri");
    Document *doc = uri ? documents_find(&s->workspace.documents, uri) : NULL;
    const json_t *events = json_object_get(params, "contentChanges"),
                 *version = json_object_get(document_params(params), "version");
    if (!doc)
        return;
    for (size_t i = 0; i < json_array_size(events); i++)
        if (!change(doc, json_array_get(events, i)))
            break;
    doc->version = json_is_integer(version) ? json_integer_value(version) : doc->version + 1;
    documents_to_front(&s->workspace.documents, doc);
    forget_all(s);
}

static void did_close(Server *s, const json_t *params)
{
    const char *uri = json_text_of(document_params(params), "uri");
    Document *doc = uri ? documents_find(&s->workspace.documents, uri) : NULL;
    if (!doc)
        return;
    diagnostics_clear(&s->workspace, &s->transport, doc);
    documents_close(&s->workspace.documents, doc);
    forget_all(s);
}

/* ---- requests ---------------------------------------------------------------------------- */

enum {
    OF_DOCUMENT = 1,
    AT_PLACE = 2 | OF_DOCUMENT,
    OF_TEXT = 4, /* a newer text makes it worthless */
    ANY_TIME = 8
};

typedef struct Method {
    const char *name;
    void (*answer)(Request *r);
    int flags;
} Method;

static const Method methods[] = {
    {"initialize", feature_initialize, ANY_TIME},
    {"shutdown", feature_nothing, ANY_TIME},
    {"textDocument/completion", feature_completion, AT_PLACE},
    {"completionItem/resolve", feature_completion_resolve, 0},
    {"textDocument/hover", feature_hover, AT_PLACE},
    {"textDocument/definition", feature_definition, AT_PLACE},
    {"textDocument/references", feature_references, AT_PLACE},
    {"textDocument/documentHighlight", feature_highlight, AT_PLACE | OF_TEXT},
    {"textDocument/prepareRename", feature_prepare_rename, AT_PLACE},
    {"textDocument/rename", feature_rename, AT_PLACE},
    {"textDocument/documentSymbol", feature_symbols, OF_DOCUMENT | OF_TEXT},
    {"textDocument/inlayHint", feature_inlay, OF_DOCUMENT | OF_TEXT},
    {"textDocument/semanticTokens/full", feature_semantic_tokens, OF_DOCUMENT | OF_TEXT},
    {"textDocument/diagnostic", feature_diagnostic, OF_DOCUMENT | OF_TEXT},
    {"textDocument/codeAction", feature_code_action, OF_DOCUMENT | OF_TEXT},
    {"textDocument/formatting", feature_format, OF_DOCUMENT},
    {"textDocument/rangeFormatting", feature_format_range, OF_DOCUMENT},
    {"workspace/executeCommand", feature_command, 0},
};

static const struct Notice {
    const char *name;
    void (*take)(Server *s, const json_t *params);
} notices[] = {
    {"textDocument/didOpen", did_open},
    {"textDocument/didChange", did_change},
    {"textDocument/didClose", did_close},
};

static const Method *find_method(const char *name)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].name, name) == 0)
            return &methods[i];
    return NULL;
}

typedef struct Work {
    Request request;
    const Method *method;
} Work;

static void do_work(Ctx *ctx, void *user)
{
    Work *work = user;
    Request *r = &work->request;
    Place place;
    r->ctx = ctx;
    sb_init(&r->out, ctx);
    if ((work->method->flags & AT_PLACE) == AT_PLACE) {
        if (!json_place(json_object_get(r->params, "position"), &place)) {
            request_fail(r, REQUEST_BAD_PARAMS, "`position` is missing");
            return;
        }
        r->at = lines_at(&r->analysis->lines, place);
    }
    if (!r->analysis || r->analysis->ast)
        work->method->answer(r);
    ctx_look(ctx); /* what was given up in a part of it leaves no answer */
}

/* Is a newer text of the document on its way? */
static bool is_superseded(Server *s, const char *uri)
{
    bool found = false;
    pthread_mutex_lock(&s->lock);
    for (const Message *at = s->first; at && !found; at = at->next) {
        const char *other = json_text_of(document_params(json_object_get(at->json, "params")),
                                         "uri");
        found = is_method(at, "textDocument/didChange") && other && strcmp(other, uri) == 0;
    }
    pthread_mutex_unlock(&s->lock);
    return found;
}

/* The context of a request; NULL with what is to be answered. */
static Ctx *request_ctx(Server *s, Request *r, const Method *method)
{
    FileAccess files = workspace_files(&s->workspace);
    if (!(method->flags & OF_DOCUMENT)) {
        Ctx *ctx = ctx_new(NULL, &files);
        if (ctx)
            ctx->brake = &s->brake;
        return ctx;
    }
    const char *uri = json_text_of(document_params(r->params), "uri");
    r->doc = uri ? documents_find(&s->workspace.documents, uri) : NULL;
    if (!r->doc) {
        request_fail(r, REQUEST_BAD_PARAMS, "no such document is open");
        return NULL;
    }
    if ((method->flags & OF_TEXT) && is_superseded(s, uri)) {
        request_fail(r, REQUEST_STALE, "the text has changed");
        return NULL;
    }
    r->analysis = analysis_of(&s->workspace, r->doc);
    return r->analysis ? ctx_new_inside(r->analysis->ctx, NULL, &files) : NULL;
}

static void serve_request(Server *s, Message *message, const json_t *id, const Method *method)
{
    Work work = {
        .request = {.workspace = &s->workspace, .params = json_object_get(message->json, "params")},
        .method = method};
    Request *r = &work.request;
    Ctx *ctx = request_ctx(s, r, method);
    bool done = ctx && ctx_try(ctx, do_work, &work);
    pthread_mutex_lock(&s->lock);
    bool cancelled = message->cancelled;
    pthread_mutex_unlock(&s->lock);
    if (r->error)
        answer(s, id, NULL, r->error, r->message);
    else if (done)
        answer(s, id, r->out.len ? r->out.text : NULL, REQUEST_GOOD, NULL);
    else if (cancelled)
        answer(s, id, NULL, REQUEST_CANCELLED, "cancelled");
    else
        answer(s, id, NULL, REQUEST_INTERNAL, "out of memory");
    ctx_free(r->more);
    ctx_free(ctx);
}

static void handle_request(Server *s, Message *message, const json_t *id, const char *name)
{
    enum { INVALID_REQUEST = -32600, NO_METHOD = -32601, NOT_INITIALIZED = -32002 };
    const Method *method = find_method(name);
    if (!json_is_string(id) && !json_is_integer(id))
        answer(s, NULL, NULL, (RequestError)INVALID_REQUEST, "`id` is neither a number nor a text");
    else if (message->cancelled)
        answer(s, id, NULL, REQUEST_CANCELLED, "cancelled");
    else if (!method)
        answer(s, id, NULL, (RequestError)NO_METHOD, "risec does not know this request");
    else if (s->shut_down)
        answer(s, id, NULL, (RequestError)INVALID_REQUEST, "after `shutdown`");
    else if (!s->initialized && strcmp(name, "initialize") != 0)
        answer(s, id, NULL, (RequestError)NOT_INITIALIZED, "before `initialize`");
    else if (s->initialized && strcmp(name, "initialize") == 0)
        answer(s, id, NULL, (RequestError)INVALID_REQUEST, "`initialize` comes once");
    else {
        serve_request(s, message, id, method);
        s->initialized = true;
        s->shut_down = strcmp(name, "shutdown") == 0;
    }
}

static void handle(Server *s, Message *message)
{
    enum { PARSE_ERROR = -32700, INVALID_REQUEST = -32600 };
    if (message->status != READ_GOOD || !message->json) {
        if (message->status != READ_UNFRAMED)
            answer(s, NULL, NULL, (RequestError)PARSE_ERROR,
                   message->status == READ_GOOD ? "this is no JSON" : "the message is too large");
        return;
    }
    const char *name = method_of(message);
    const json_t *id = json_object_get(message->json, "id");
    if (!name) {
        /* An answer, though we ask nothing; or no message at all. */
        if (!json_is_object(message->json) || (id && !json_object_get(message->json, "result") &&
                                               !json_object_get(message->json, "error")))
            answer(s, NULL, NULL, (RequestError)INVALID_REQUEST, "this is no request");
        return;
    }
    if (id) {
        handle_request(s, message, id, name);
        return;
    }
    if (strcmp(name, "exit") == 0)
        s->exits = true;
    if (strcmp(name, "workspace/didChangeWatchedFiles") == 0)
        forget_all(s);
    for (size_t i = 0; s->initialized && !s->shut_down && i < sizeof notices / sizeof *notices; i++)
        if (strcmp(notices[i].name, name) == 0)
            notices[i].take(s, json_object_get(message->json, "params"));
}

/* ---- the worker -------------------------------------------------------------------------- */

static bool has_more_to_find(const Server *s)
{
    for (const Document *doc = s->workspace.documents.first; doc; doc = doc->next)
        if (doc->undiagnosed)
            return true;
    return false;
}

/* The next message, or NULL: look for diagnostics. False: there will be none. */
static bool next_message(Server *s, Message **message)
{
    pthread_mutex_lock(&s->lock);
    s->searching = false;
    while (!s->first && !s->ended && !has_more_to_find(s))
        pthread_cond_wait(&s->more, &s->lock);
    *message = s->current = s->first;
    if (s->first) {
        s->first = s->first->next;
        if (!s->first)
            s->end = &s->first;
    } else {
        s->searching = true;
    }
    bool more = *message || !s->ended;
    s->brake.pulled = 0;
    pthread_mutex_unlock(&s->lock);
    return more;
}

static void work(Server *s)
{
    Message *message;
    while (!s->exits && next_message(s, &message)) {
        if (!message) {
            diagnostics_step(&s->workspace, &s->transport);
            continue;
        }
        handle(s, message);
        pthread_mutex_lock(&s->lock);
        s->current = NULL;
        pthread_mutex_unlock(&s->lock);
        message_free(message);
    }
}

int lsp_serve(void)
{
    Server server = {.transport = {.in = STDIN_FILENO, .out = STDOUT_FILENO}}, *s = &server;
    pthread_t reader;
    Ctx *plain = ctx_new(NULL, NULL);
    if (!plain)
        return 1;
    json_object_seed(0); /* now, in one thread */
    s->end = &s->first;
    s->workspace = (Workspace){.below = plain->files, .brake = &s->brake};
    ctx_free(plain);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->more, NULL);
    if (pthread_create(&reader, NULL, read_messages, s) != 0)
        return 1;
    work(s);
    /* After `exit`, or at the end of its input, the reader has ended, or does so now. */
    pthread_join(reader, NULL);
    for (Message *at = s->first, *next; at; at = next) {
        next = at->next;
        message_free(at);
    }
    while (s->workspace.documents.first)
        documents_close(&s->workspace.documents, s->workspace.documents.first);
    pthread_cond_destroy(&s->more);
    pthread_mutex_destroy(&s->lock);
    return s->exits && s->shut_down ? 0 : 1;
}
