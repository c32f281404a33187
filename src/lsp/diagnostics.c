#include "lsp/diagnostics.h"

#include <stdio.h>

#include "driver/driver.h"
#include "lsp/request.h"

/* ---- spans ------------------------------------------------------------------------------- */

/* A place in the document is kept by the item that it is in, which may move; one elsewhere by its
 * file. */
static json_t *keep_span(const Analysis *a, const Ctx *part, Span span)
{
    const Source *source = source_get(part, span.file);
    if (!source || source->library)
        return json_pack("[s]", "nowhere");
    if (span.file != a->file)
        return json_pack("[s, s, I, I]", "file", source->name, (json_int_t)span.lo,
                         (json_int_t)span.hi);
    const Item *item = analysis_item_at(a, span.lo);
    if (!item || !item->name)
        return json_pack("[s, I, I]", "text", (json_int_t)span.lo, (json_int_t)span.hi);
    int nth = 0;
    for (int i = 0; a->ast->items.at[i] != item; i++)
        nth += a->ast->items.at[i]->name == item->name;
    return json_pack("[s, s, I, I, i]", "item", item->name, (json_int_t)span.lo - item->span.lo,
                     (json_int_t)span.hi - item->span.lo, nth);
}

static json_int_t number_at(const json_t *list, size_t i)
{
    return json_integer_value(json_array_get(list, i));
}

static uint32_t file_named(const Analysis *a, const char *name)
{
    for (int k = 0; k < program_file_count(a->program); k++) {
        const AstFile *ast = program_file(a->program, k);
        const Source *source = ast ? source_get(a->ctx, ast->file) : NULL;
        if (source && strcmp(source->name, name) == 0)
            return ast->file;
    }
    return 0;
}

static FoundSpan own_span(const Analysis *a, json_int_t lo, json_int_t hi)
{
    json_int_t size = (json_int_t)a->lines.size;
    if (hi > size)
        hi = size;
    if (lo > hi)
        lo = hi;
    return (FoundSpan){true, a->file, (uint32_t)lo, (uint32_t)hi};
}

FoundSpan found_span(const Analysis *a, const json_t *kept)
{
    const char *kind = json_string_value(json_array_get(kept, 0)),
               *name = json_string_value(json_array_get(kept, 1));
    if (strcmp(kind, "text") == 0)
        return own_span(a, number_at(kept, 1), number_at(kept, 2));
    json_int_t nth = number_at(kept, 4); /* of items with one name */
    for (int i = 0; strcmp(kind, "item") == 0 && i < a->ast->items.n; i++) {
        const Item *item = a->ast->items.at[i];
        if (item->name && strcmp(item->name, name) == 0 && nth-- == 0)
            return own_span(a, item->span.lo + number_at(kept, 2),
                            item->span.lo + number_at(kept, 3));
    }
    uint32_t file = strcmp(kind, "file") == 0 ? file_named(a, name) : 0;
    return (FoundSpan){false, file, (uint32_t)number_at(kept, 2), (uint32_t)number_at(kept, 3)};
}

/* ---- diagnostics ------------------------------------------------------------------------- */

static json_t *keep_edits(const Analysis *a, const Ctx *part, const DiagEdit *edits, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_pack("[s, o]", edits[i].text,
                                              keep_span(a, part, edits[i].span)));
    return list;
}

/* The hints that have edits, in the order in which they are tried. */
static json_t *keep_hints(const Analysis *a, const Ctx *part, const Diag *diag)
{
    json_t *list = json_array();
    for (int i = 0; i <= diag->tries.n; i++) {
        const DiagTry *hint = i < diag->tries.n ? &diag->tries.at[i] : NULL;
        int n = hint ? hint->edits.n : diag->edits.n;
        const char *help = hint ? hint->help : diag->help;
        if (n && help)
            json_array_append_new(list, json_pack("[s, o]", help,
                                                  keep_edits(a, part, hint ? hint->edits.at : diag->edits.at, n)));
    }
    return list;
}

static json_t *keep(const Analysis *a, const Ctx *part, Diag *diag)
{
    json_t *notes = json_array(), *hints = keep_hints(a, part, diag);
    diag_likeliest(diag);
    for (int i = 0; i < diag->notes.n; i++)
        json_array_append_new(notes, json_pack("[s, o]", diag->notes.at[i].text,
                                               keep_span(a, part, diag->notes.at[i].span)));
    return json_pack("{s:s, s:s, s:s*, s:s*, s:b, s:o, s:o, s:o}", "code",
                     diag_code_name(diag->code), "message", diag->message, "label", diag->label,
                     "help", diag->help, "warning", diag->warning, "at",
                     keep_span(a, part, diag->span), "notes", notes, "hints", hints);
}

/* What the same edits mend becomes a note of the first error. */
static bool add_to_same(json_t *list, const json_t *one)
{
    const json_t *edits = json_array_get(json_array_get(json_object_get(one, "hints"), 0), 1);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *first = json_array_get(list, i);
        const json_t *other = json_array_get(json_array_get(json_object_get(first, "hints"), 0), 1);
        if (!edits || !other || !json_equal(edits, other) ||
            json_is_true(json_object_get(first, "warning")) || json_is_true(json_object_get(one, "warning")))
            continue;
        json_t *text = json_sprintf("and here: %s", json_string_value(json_object_get(one, "message")));
        json_array_append_new(json_object_get(first, "notes"),
                              json_pack("[o, O]", text, json_object_get(one, "at")));
        return true;
    }
    return false;
}

static json_t *keep_all(const Analysis *a, const Ctx *part)
{
    json_t *list = json_array();
    for (int i = 0; i < part->diags.list.n; i++) {
        json_t *one = keep(a, part, part->diags.list.at[i]);
        if (!add_to_same(list, one))
            json_array_append(list, one);
        json_decref(one);
    }
    return list;
}

/* ---- one entry --------------------------------------------------------------------------- */

typedef struct Checking {
    const Analysis *analysis;
    const Item *item; /* an entry or an operator */
} Checking;

static void check(Ctx *ctx, void *user)
{
    const Checking *c = user;
    Program *program = program_inside(ctx, c->analysis->program);
    int entry = analysis_entry(c->analysis, c->item), op = analysis_operator(c->analysis, c->item);
    Core *lambda, *unit;
    if (op >= 0)
        elab_operator(ctx, program, op, &lambda, &unit);
    CoreEntry *core = entry >= 0 ? elab_entry(ctx, program, entry, 0, NULL) : NULL;
    ImpProgram *imp = core ? driver_check_entry(ctx, core) : NULL;
    if (imp && ctx->diags.errors == 0)
        driver_advise(ctx, core, imp);
}

static bool is_checked(const Item *item)
{
    return item->kind == ITEM_ENTRY || item->kind == ITEM_OPERATOR;
}

/* What there is to say of an item; NULL: it was given up. */
static json_t *check_item(const Analysis *a, const Item *item)
{
    Checking checking = {a, item};
    Ctx *part = ctx_new_inside(a->ctx, NULL, NULL);
    json_t *found = NULL;
    if (part && ctx_try(part, check, &checking))
        found = keep_all(a, part);
    ctx_free(part);
    return found;
}

/* ---- what was found before --------------------------------------------------------------- */

enum { KEY_BYTES = 40 };

typedef struct Hashing {
    const Analysis *analysis;
    uint64_t sum[2];
} Hashing;

static void hash_item(void *user, const Item *item)
{
    Hashing *h = user;
    const Source *source = source_get(h->analysis->ctx, item->span.file);
    uint64_t hash = text_hash(source->text + item->span.lo, item->span.hi - item->span.lo);
    h->sum[0] = h->sum[0] * 0x9e3779b97f4a7c15u + hash;
    h->sum[1] = (h->sum[1] ^ hash) * 0xff51afd7ed558ccdu + (item->span.hi - item->span.lo);
}

/* By the texts that the item rests on. `typed`: it was not compiled, as something else is wrong in
 * the program. */
static void key_of(Ctx *ctx, const Analysis *a, const Item *item, bool typed, char *key)
{
    Hashing h = {.analysis = a};
    analysis_each_used(ctx, a, item, hash_item, &h);
    snprintf(key, KEY_BYTES, "%s%016llx%016llx", typed ? "typed " : "",
             (unsigned long long)h.sum[0], (unsigned long long)h.sum[1]);
}

/* ---- telling the editor ------------------------------------------------------------------ */

static void put_text(StrBuf *out, const char *text, const char *more)
{
    sb_put_json(out, more ? ctx_printf(out->ctx, "%s\n%s", text, more) : text);
}

/* What it says in one piece: its message, what stands under the place, notes that have no place,
 * the hint. */
static void put_message(StrBuf *out, const json_t *kept)
{
    Ctx *ctx = out->ctx;
    StrBuf more;
    sb_init(&more, ctx);
    const char *label = json_string_value(json_object_get(kept, "label")),
               *help = json_string_value(json_object_get(kept, "help"));
    const json_t *notes = json_object_get(kept, "notes");
    if (label)
        sb_printf(&more, "\n%s", label);
    for (size_t i = 0; i < json_array_size(notes); i++) {
        const json_t *note = json_array_get(notes, i);
        const char *kind = json_string_value(json_array_get(json_array_get(note, 1), 0));
        if (strcmp(kind, "nowhere") == 0)
            sb_printf(&more, "\nnote: %s", json_string_value(json_array_get(note, 0)));
    }
    if (help)
        sb_printf(&more, "\nhelp: %s", help);
    put_text(out, json_string_value(json_object_get(kept, "message")),
             more.len ? more.text + 1 : NULL);
}

static const char *uri_of_file(Workspace *w, Ctx *ctx, const Analysis *a, uint32_t file)
{
    const char *name = source_get(a->ctx, file)->name;
    const Document *doc = documents_at_path(&w->documents, name);
    return doc ? doc->uri : path_uri(ctx, name);
}

static void put_related(Workspace *w, StrBuf *out, const Analysis *a, const json_t *text,
                        FoundSpan span, int *n)
{
    if (!span.file)
        return;
    Lines lines = analysis_lines(out->ctx, a, span.file);
    sb_puts(out, (*n)++ ? ",{\"location\":{\"uri\":" : "{\"location\":{\"uri\":");
    sb_put_json(out, uri_of_file(w, out->ctx, a, span.file));
    sb_puts(out, ",\"range\":");
    put_range(out, &lines, span.lo, span.hi);
    sb_puts(out, "},\"message\":");
    sb_put_json(out, json_string_value(text));
    sb_puts(out, "}");
}

/* Where the document leads to what is wrong in another file: the import. */
static FoundSpan stand_in(Ctx *ctx, const Analysis *a, FoundSpan span)
{
    Span import = NO_SPAN;
    for (int k = 1; span.file && k < program_file_count(a->program); k++)
        if (program_file(a->program, k) && program_file(a->program, k)->file == span.file)
            import = program_import_of(ctx, a->program, k);
    return import.file ? (FoundSpan){true, a->file, import.lo, import.hi} : own_span(a, 0, 0);
}

static void put_diagnostic(Workspace *w, StrBuf *out, const Analysis *a, const json_t *kept)
{
    FoundSpan span = found_span(a, json_object_get(kept, "at")),
              shown = span.own ? span : stand_in(out->ctx, a, span);
    const json_t *notes = json_object_get(kept, "notes");
    int n = 0;
    sb_puts(out, "{\"range\":");
    put_range(out, &a->lines, shown.lo, shown.hi);
    sb_printf(out, ",\"severity\":%d,\"code\":\"%s\",\"source\":\"risec\",\"message\":",
              json_is_true(json_object_get(kept, "warning")) ? 2 : 1,
              json_string_value(json_object_get(kept, "code")));
    put_message(out, kept);
    sb_puts(out, ",\"relatedInformation\":[");
    if (!span.own)
        put_related(w, out, a, json_object_get(kept, "message"), span, &n);
    for (size_t i = 0; i < json_array_size(notes); i++) {
        const json_t *note = json_array_get(notes, i);
        put_related(w, out, a, json_array_get(note, 0), found_span(a, json_array_get(note, 1)), &n);
    }
    sb_puts(out, "]}");
}

typedef struct Publishing {
    Workspace *workspace;
    Transport *transport;
    const Document *doc;
    const json_t *list; /* NULL: none */
} Publishing;

static void publish(Ctx *ctx, void *user)
{
    const Publishing *p = user;
    StrBuf out;
    sb_init(&out, ctx);
    sb_puts(
        &out,
        "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/publishDiagnostics\",\"params\":{\"uri\":");
    sb_put_json(&out, p->doc->uri);
    if (p->list)
        sb_printf(&out, ",\"version\":%lld", p->doc->version);
    sb_puts(&out, ",\"diagnostics\":[");
    for (size_t i = 0; i < json_array_size(p->list); i++) {
        sb_puts(&out, i ? "," : "");
        put_diagnostic(p->workspace, &out, p->doc->analysis, json_array_get(p->list, i));
    }
    sb_puts(&out, "]}}");
    transport_write(p->transport, out.text, out.len);
}

static void tell(Workspace *w, Transport *transport, const Document *doc, const json_t *list)
{
    Publishing publishing = {w, transport, doc, list};
    /* It takes no time, and half of it would be of no use. */
    Ctx *ctx = ctx_new(NULL, NULL);
    if (ctx)
        ctx_try(ctx, publish, &publishing);
    ctx_free(ctx);
}

void diagnostics_clear(Workspace *w, Transport *transport, const Document *doc)
{
    tell(w, transport, doc, NULL);
}

/* ---- the search -------------------------------------------------------------------------- */

static bool same_place(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "at"), json_object_get(b, "at")) &&
           json_equal(json_object_get(a, "code"), json_object_get(b, "code"));
}

/* A mistake in a definition is found by each entry that uses it. */
static void append_new(json_t *list, const json_t *more)
{
    for (size_t i = 0; i < json_array_size(more); i++) {
        json_t *one = json_array_get(more, i);
        bool known = false;
        for (size_t k = 0; k < json_array_size(list) && !known; k++)
            known = same_place(json_array_get(list, k), one);
        if (!known)
            json_array_append(list, one);
    }
}

typedef struct Search {
    Document *doc;
    json_t *list;     /* all that is known */
    json_t *used;     /* by keys: of `found_before`, what still counts */
    const Item *next; /* that nothing is known of */
    char next_key[KEY_BYTES];
} Search;

static void gather(Ctx *ctx, void *user)
{
    Search *s = user;
    const Analysis *a = s->doc->analysis;
    const Item *touched = analysis_item_at(a, (uint32_t)s->doc->touched);
    for (int i = -1; i < a->ast->items.n; i++) {
        const Item *item = i < 0 ? touched : a->ast->items.at[i];
        char key[KEY_BYTES];
        if (!item || !is_checked(item) || (i >= 0 && item == touched))
            continue;
        key_of(ctx, a, item, false, key);
        json_t *found = json_object_get(s->doc->found_before, key);
        if (!found && program_failed(a->program)) {
            key_of(ctx, a, item, true, key);
            found = json_object_get(s->doc->found_before, key);
        }
        if (found) {
            append_new(s->list, found);
            json_object_set(s->used, key, found);
        } else if (!s->next) {
            s->next = item;
            memcpy(s->next_key, key, KEY_BYTES);
        }
    }
}

/* False: the brake was pulled. */
static bool search(Document *doc, Search *s)
{
    *s = (Search){
        .doc = doc, .list = keep_all(doc->analysis, doc->analysis->ctx), .used = json_object()};
    Ctx *ctx = ctx_new_inside(doc->analysis->ctx, NULL, NULL);
    bool done = ctx && (!doc->analysis->ast || ctx_try(ctx, gather, s));
    ctx_free(ctx);
    return done;
}

static void search_end(Search *s)
{
    json_decref(s->list);
    json_decref(s->used);
}

/* What is known now is what the document has. */
static void set_found(Document *doc, json_t *list)
{
    json_decref(doc->found);
    doc->found = json_incref(list);
    doc->found_version = doc->version;
}

/* Looks at the next item. False: it was given up. *found: what is wrong with it; NULL: nothing is
 * left to look at. */
static bool look(Workspace *w, Document *doc, Search *s, json_t **found)
{
    *found = NULL;
    if (!search(doc, s))
        return false;
    if (!s->next) {
        json_decref(doc->found_before);
        doc->found_before = json_incref(s->used);
        return true;
    }
    *found = check_item(doc->analysis, s->next);
    if (!*found && w->brake->pulled)
        return false;
    if (!*found)
        *found = json_array(); /* it takes more memory than there is */
    if (!doc->found_before)
        doc->found_before = json_object();
    json_object_set(doc->found_before, s->next_key, *found);
    append_new(s->list, *found);
    return true;
}

static void step(Workspace *w, Transport *transport, Document *doc)
{
    Search s = {0};
    json_t *found = NULL;
    bool first = doc->found_version != doc->version || !doc->found;
    if (!analysis_of(w, doc) || !look(w, doc, &s, &found)) {
        search_end(&s);
        doc->undiagnosed &= w->brake->pulled; /* else there is no memory for it */
        return;
    }
    doc->undiagnosed = found != NULL;
    if (first || doc->untold || !json_equal(doc->found, s.list)) {
        set_found(doc, s.list);
        tell(w, transport, doc, s.list);
        doc->untold = false;
    }
    json_decref(found);
    search_end(&s);
}

void diagnostics_step(Workspace *w, Transport *transport)
{
    for (Document *doc = w->documents.first; doc; doc = doc->next)
        if (doc->undiagnosed) {
            step(w, transport, doc);
            return;
        }
}

/* All of them, for an editor that asks, or a test. */
void feature_diagnostic(Request *r)
{
    json_t *found;
    do {
        Search s = {0};
        bool done = look(r->workspace, r->doc, &s, &found);
        if (done && !found) {
            set_found(r->doc, s.list);
            r->doc->untold = true;
        }
        json_decref(found);
        search_end(&s);
        if (!done)
            ctx_end(r->ctx);
    } while (found);
    sb_puts(&r->out, "{\"kind\":\"full\",\"items\":[");
    for (size_t i = 0; i < json_array_size(r->doc->found); i++) {
        sb_puts(&r->out, i ? "," : "");
        put_diagnostic(r->workspace, &r->out, r->analysis, json_array_get(r->doc->found, i));
    }
    sb_puts(&r->out, "]}");
}

/* ---- trials of hints --------------------------------------------------------------------- */

static int count_like(const json_t *list, const json_t *kept)
{
    int n = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        n += json_equal(json_object_get(one, "code"), json_object_get(kept, "code")) &&
             json_equal(json_object_get(one, "message"), json_object_get(kept, "message"));
    }
    return n;
}

static bool is_of_grammar(const json_t *kept)
{
    return diag_name_is_of_grammar(json_string_value(json_object_get(kept, "code")));
}

/* Is there an error that was not there before? One that the text hid while it could not be read counts as there. */
static bool says_other(const json_t *said, const json_t *before, const json_t *mended)
{
    for (size_t i = 0; i < json_array_size(said); i++) {
        const json_t *one = json_array_get(said, i);
        bool hidden = is_of_grammar(mended) && !is_of_grammar(one);
        if (!json_is_true(json_object_get(one, "warning")) && !hidden && count_like(said, one) > count_like(before, one))
            return true;
    }
    return false;
}

/* What is said of the text and of one item, by its number. */
static json_t *said_of(const Analysis *a, int number)
{
    json_t *list = keep_all(a, a->ctx);
    const Item *item = number >= 0 && number < a->ast->items.n ? a->ast->items.at[number] : NULL;
    json_t *of_item = item && is_checked(item) ? check_item(a, item) : NULL;
    append_new(list, of_item);
    json_decref(of_item);
    return list;
}

bool diagnostics_mends(Workspace *w, Document *doc, const json_t *kept, const char *text,
                       size_t size)
{
    FoundSpan span = found_span(doc->analysis, json_object_get(kept, "at"));
    const Item *item = span.own ? analysis_item_at(doc->analysis, span.lo) : NULL;
    int number = -1;
    for (int i = 0; item && i < doc->analysis->ast->items.n; i++)
        if (doc->analysis->ast->items.at[i] == item)
            number = i;
    TextInstead instead = {doc->path, text, size};
    Analysis *after = analysis_instead(w, doc->path, 1, &instead);
    bool mends = false;
    if (after && after->ast) {
        /* An import that is put before all others moves them. */
        int moved = after->ast->items.n - doc->analysis->ast->items.n;
        json_t *said = said_of(after, number < 0 ? number : number + moved),
               *before = said_of(doc->analysis, number);
        mends = count_like(said, kept) < count_like(before, kept) && !says_other(said, before, kept);
        json_decref(said);
        json_decref(before);
    }
    analysis_free(after);
    return mends;
}
