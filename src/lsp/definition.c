/* Where a name is bound, and where it is used. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "frontend/library.h"
#include "lsp/request.h"
#include "version.h"

/* ---- files ------------------------------------------------------------------------------- */

/* Makes the folders of a path that are missing. */
static void make_folders(Ctx *ctx, const char *path)
{
    for (const char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/'))
        mkdir(ctx_printf(ctx, "%.*s", (int)(at - path), path), 0777);
}

static bool has_text(Ctx *ctx, const FileAccess *files, const char *path, const Source *source)
{
    char *bytes;
    size_t size;
    return files->read(files->user, ctx, path, FILE_REGULAR, LIMIT_SOURCE_BYTES, &bytes, &size) ==
               FILE_OK &&
           size == source->size && memcmp(bytes, source->text, size) == 0;
}

/* A module of the library is no file: editors get a copy of it, beside the cache of kernels. NULL:
 * there is no place. */
static const char *library_copy(Request *r, const Source *source)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (!base || base[0] != '/')
        base = home && home[0] == '/' ? ctx_printf(r->ctx, "%s/.cache", home) : NULL;
    if (!base)
        return NULL;
    const char *path = ctx_printf(r->ctx, "%s/risec-" RISEC_VERSION "/%s", base, source->name);
    if (has_text(r->ctx, &r->workspace->below, path, source))
        return path;
    make_folders(r->ctx, path);
    return file_write(path, source->text, source->size) ? path : NULL;
}

const char *file_uri(Request *r, const Analysis *a, uint32_t file)
{
    const Source *source = source_get(a->ctx, file);
    if (!source)
        return NULL;
    const Document *doc = documents_at_path(&r->workspace->documents, source->name);
    if (doc)
        return doc->uri;
    const char *path = source->library ? library_copy(r, source) : source->name;
    return path ? path_uri(r->ctx, path) : NULL;
}

static bool put_location_in(Request *r, StrBuf *out, const Analysis *a, Span span)
{
    const char *uri = span.file ? file_uri(r, a, span.file) : NULL;
    if (!uri)
        return false;
    Lines lines = analysis_lines(r->ctx, a, span.file);
    sb_puts(out, "{\"uri\":");
    sb_put_json(out, uri);
    sb_puts(out, ",\"range\":");
    put_range(out, &lines, span.lo, span.hi);
    sb_puts(out, "}");
    return true;
}

bool put_location(Request *r, StrBuf *out, Span span)
{
    return put_location_in(r, out, r->analysis, span);
}

/* ---- definition -------------------------------------------------------------------------- */

/* The file that is imported at the place. */
static Span imported_at(const Request *r)
{
    const Analysis *a = r->analysis;
    for (int k = 1; k < program_file_count(a->program); k++) {
        Span span = program_import_of(r->ctx, a->program, k);
        const AstFile *ast = program_file(a->program, k);
        if (ast && span.file == a->file && span.lo <= r->at && r->at <= span.hi)
            return (Span){ast->file, 0, 0};
    }
    return NO_SPAN;
}

void feature_definition(Request *r)
{
    const NameNote *note = name_note_at(&r->analysis->names, r->analysis->file, r->at);
    put_location(r, &r->out, note ? note->bound : imported_at(r));
}

/* ---- uses -------------------------------------------------------------------------------- */

static bool same_span(Span a, Span b) { return a.file == b.file && a.lo == b.lo && a.hi == b.hi; }

/* A note's place as one that other programs know, too. */
static bool is_bound_there(const Analysis *a, const NameNote *note, const char *path, Span bound)
{
    const Source *source = source_get(a->ctx, note->bound.file);
    return source && note->bound.lo == bound.lo && note->bound.hi == bound.hi &&
           strcmp(source->name, path) == 0;
}

/* What one program says of uses of a name that is bound in a file. */
typedef struct Uses {
    Request *r;
    const char *path; /* where it is bound */
    Span bound;
    StrBuf seen; /* those that have been told, as text */
    void (*tell)(void *user, const Analysis *a, const NameNote *note);
    void *user;
} Uses;

static void tell_uses(Uses *uses, const Analysis *a)
{
    for (int i = 0; i < a->names.list.n; i++) {
        const NameNote *note = &a->names.list.at[i];
        if (!is_bound_there(a, note, uses->path, uses->bound) || !span_is_users(a->ctx, note->at))
            continue;
        const char *place = ctx_printf(uses->r->ctx, "|%s:%u|",
                                       source_get(a->ctx, note->at.file)->name, note->at.lo);
        if (strstr(uses->seen.text, place))
            continue;
        sb_puts(&uses->seen, place);
        uses->tell(uses->user, a, note);
    }
}

void each_use(Request *r, const NameNote *note,
              void (*tell)(void *user, const Analysis *a, const NameNote *note), void *user)
{
    Uses uses = {.r = r,
                 .path = source_get(r->analysis->ctx, note->bound.file)->name,
                 .bound = note->bound,
                 .tell = tell,
                 .user = user};
    sb_init(&uses.seen, r->ctx);
    tell_uses(&uses, r->analysis);
    for (Document *doc = r->workspace->documents.first; doc && note->item; doc = doc->next) {
        const Analysis *a = doc != r->doc ? analysis_of(r->workspace, doc) : NULL;
        if (a && a->ast)
            tell_uses(&uses, a);
    }
}

typedef struct Listing {
    Request *r;
    bool with_binding;
    int n;
} Listing;

static void list_use(void *user, const Analysis *a, const NameNote *note)
{
    Listing *listing = user;
    if (same_span(note->at, note->bound) && !listing->with_binding)
        return;
    size_t before = listing->r->out.len;
    sb_puts(&listing->r->out, listing->n ? "," : "");
    if (put_location_in(listing->r, &listing->r->out, a, note->at))
        listing->n++;
    else
        listing->r->out.text[listing->r->out.len = before] = 0;
}

void feature_references(Request *r)
{
    const NameNote *note = name_note_at(&r->analysis->names, r->analysis->file, r->at);
    Listing listing = {.r = r,
                       .with_binding = json_is_true(json_object_get(
                           json_object_get(r->params, "context"), "includeDeclaration"))};
    sb_puts(&r->out, "[");
    if (note && note->bound.file)
        each_use(r, note, list_use, &listing);
    sb_puts(&r->out, "]");
}

/* In this text alone; names that are always there have uses, too. */
void feature_highlight(Request *r)
{
    const Analysis *a = r->analysis;
    const NameNote *note = name_note_at(&a->names, a->file, r->at);
    int n = 0;
    sb_puts(&r->out, "[");
    for (int i = 0; note && i < a->names.list.n; i++) {
        const NameNote *other = &a->names.list.at[i];
        if (other->at.file != a->file || other->name != note->name ||
            !same_span(other->bound, note->bound))
            continue;
        sb_puts(&r->out, n++ ? ",{\"range\":" : "{\"range\":");
        put_range(&r->out, &a->lines, other->at.lo, other->at.hi);
        sb_printf(&r->out, ",\"kind\":%d}", same_span(other->at, other->bound) ? 3 : 2);
    }
    sb_puts(&r->out, "]");
}
