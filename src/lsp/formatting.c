/* The text as `risec fmt` writes it, as a change of the lines that differ. */
#include <limits.h>

#include "format/format.h"
#include "lsp/request.h"

/* Where the line of `at` begins. */
static size_t line_start(const char *text, size_t at)
{
    while (at > 0 && text[at - 1] != '\n')
        at--;
    return at;
}

static void put_change(Request *r, const StrBuf *new)
{
    const Lines *old = &r->analysis->lines;
    size_t front = 0, back = 0, most = old->size < new->len ? old->size : new->len;
    while (front < most && old->text[front] == new->text[front])
        front++;
    front = line_start(old->text, front);
    /* From the end, whole lines; they do not reach into what is the same in front. */
    for (size_t same = 0;
         same < most - front && old->text[old->size - 1 - same] == new->text[new->len - 1 - same];
         same++)
        if (old->text[old->size - 1 - same] == '\n')
            back = same;
    sb_puts(&r->out, "[");
    if (front < old->size - back || front < new->len - back) {
        sb_puts(&r->out, "{\"range\":");
        put_range(&r->out, old, (uint32_t)front, (uint32_t)(old->size - back));
        sb_puts(&r->out, ",\"newText\":");
        sb_put_json(&r->out,
                    ctx_printf(r->ctx, "%.*s", (int)(new->len - back - front), new->text + front));
        sb_puts(&r->out, "}");
    }
    sb_puts(&r->out, "]");
}

/* A text with a mistake is left alone. */
static void format(Request *r, int first, int last)
{
    StrBuf text;
    sb_init(&text, r->ctx);
    switch (format_source(r->ctx, r->analysis->file, first, last, &text)) {
    case FORMAT_GOOD:
        put_change(r, &text);
        return;
    case FORMAT_MISTAKE:
        return;
    case FORMAT_BUG:
        request_fail(r, REQUEST_INTERNAL, "a bug in risec: what came out is another program");
        return;
    }
}

void feature_format(Request *r) { format(r, 1, INT_MAX); }

void feature_format_range(Request *r)
{
    const json_t *range = json_object_get(r->params, "range");
    Place from, to;
    if (!json_place(json_object_get(range, "start"), &from) ||
        !json_place(json_object_get(range, "end"), &to)) {
        request_fail(r, REQUEST_BAD_PARAMS, "`range` is missing");
        return;
    }
    /* A range that ends in front of a line has nothing of it. */
    uint32_t last = to.character == 0 && to.line > from.line ? to.line : to.line + 1;
    format(r, from.line < INT_MAX ? (int)from.line + 1 : INT_MAX,
           last < INT_MAX ? (int)last : INT_MAX);
}
