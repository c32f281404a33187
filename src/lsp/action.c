/* Hints of diagnostics as changes that the editor can make. Each is tried first, as `risec check
 * --json` does: it has to mend what it is about. */
#include "lsp/diagnostics.h"
#include "lsp/request.h"

/* The edits of a hint as one text; NULL where one lies in another file, or they overlap. */
static const char *edited(Request *r, const json_t *edits, size_t *size)
{
    const Lines *lines = &r->analysis->lines;
    StrBuf out;
    sb_init(&out, r->ctx);
    uint32_t done = 0;
    for (size_t n = 0; n < json_array_size(edits); n++) {
        const json_t *next = NULL;
        FoundSpan at = {0};
        for (size_t i = 0; i < json_array_size(edits); i++) {
            FoundSpan span = found_span(r->analysis, json_array_get(json_array_get(edits, i), 1));
            if (!span.own)
                return NULL;
            bool later = span.lo > done || (span.lo == done && n == 0);
            if (later && (!next || span.lo < at.lo)) {
                next = json_array_get(edits, i);
                at = span;
            }
        }
        if (!next || at.hi < at.lo)
            return NULL;
        sb_putn(&out, lines->text + done, at.lo - done);
        sb_puts(&out, json_string_value(json_array_get(next, 0)));
        done = at.hi;
    }
    sb_putn(&out, lines->text + done, lines->size - done);
    *size = out.len;
    return out.text;
}

/* One hint: its text and its edits. */
static void put_action(Request *r, const json_t *hint, int *n)
{
    const json_t *edits = json_array_get(hint, 1);
    sb_puts(&r->out, (*n)++ ? ",{\"title\":" : "{\"title\":");
    sb_put_json(&r->out, json_string_value(json_array_get(hint, 0)));
    sb_puts(&r->out, ",\"kind\":\"quickfix\",\"isPreferred\":true,\"edit\":{\"changes\":{");
    sb_put_json(&r->out, r->doc->uri);
    sb_puts(&r->out, ":[");
    for (size_t i = 0; i < json_array_size(edits); i++) {
        FoundSpan span = found_span(r->analysis, json_array_get(json_array_get(edits, i), 1));
        sb_puts(&r->out, i ? ",{\"range\":" : "{\"range\":");
        put_range(&r->out, &r->analysis->lines, span.lo, span.hi);
        sb_puts(&r->out, ",\"newText\":");
        sb_put_json(&r->out, json_string_value(json_array_get(json_array_get(edits, i), 0)));
        sb_puts(&r->out, "}");
    }
    sb_puts(&r->out, "]}}}");
}

static void put_first_that_mends(Request *r, const json_t *kept, int *n)
{
    const json_t *hints = json_object_get(kept, "hints");
    for (size_t i = 0; i < json_array_size(hints); i++) {
        const json_t *hint = json_array_get(hints, i);
        size_t size;
        const char *text = edited(r, json_array_get(hint, 1), &size);
        if (text && diagnostics_mends(r->workspace, r->doc, kept, text, size)) {
            put_action(r, hint, n);
            return;
        }
    }
}

static bool wants_fixes(const Request *r)
{
    const json_t *only = json_object_get(json_object_get(r->params, "context"), "only");
    for (size_t i = 0; i < json_array_size(only); i++) {
        const char *kind = json_string_value(json_array_get(only, i));
        if (kind && (strcmp(kind, "quickfix") == 0 || !kind[0]))
            return true;
    }
    return json_array_size(only) == 0;
}

void feature_code_action(Request *r)
{
    const json_t *range = json_object_get(r->params, "range");
    Place from, to;
    int n = 0;
    if (!json_place(json_object_get(range, "start"), &from) ||
        !json_place(json_object_get(range, "end"), &to)) {
        request_fail(r, REQUEST_BAD_PARAMS, "`range` is missing");
        return;
    }
    uint32_t lo = lines_at(&r->analysis->lines, from), hi = lines_at(&r->analysis->lines, to);
    /* Kept by the document: what jumps out of here takes nothing along. */
    const json_t *known = r->doc->found_version == r->doc->version ? r->doc->found : NULL;
    sb_puts(&r->out, "[");
    for (size_t i = 0; wants_fixes(r) && i < json_array_size(known); i++) {
        const json_t *kept = json_array_get(known, i);
        FoundSpan span = found_span(r->analysis, json_object_get(kept, "at"));
        if (span.own && span.hi >= lo && hi >= span.lo)
            put_first_that_mends(r, kept, &n);
    }
    sb_puts(&r->out, "]");
}
