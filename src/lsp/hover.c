/* What is at a place: the type of an expression, what a name is. */
#include "frontend/library.h"
#include "lsp/request.h"

static const char *word_about(const char *name)
{
    static const struct {
        const char *name, *about;
    } words[] = {
#define WORD(word, about) {word, about},
#include "lsp/words.def"
#undef WORD
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].name, name) == 0)
            return words[i].about;
    return NULL;
}

static void put_primitive(Request *r, StrBuf *out, PrimId id)
{
    const PrimRow *row = &prim_rows[id];
    sb_printf(out, "```rise\n%s: %s\n```\n%s\n", row->name, prim_signature(r->ctx, id), row->doc);
    if (row->law[0])
        sb_printf(out, "\n```rise\n%s\n```\n", row->law);
    if (row->where[0])
        sb_printf(out, "\nNeeds `%s`.\n", row->where);
    if (row->options[0])
        sb_printf(out, "\nIn square brackets: `%s`.\n", row->options);
    if (!row->lowered)
        sb_puts(out, "\nThis version does not compile it to CUDA.\n");
}

/* Its header, as it is written; of a rule and a strategy the whole. */
static void put_item(Request *r, StrBuf *out, const Item *item)
{
    const Source *source = source_get(r->analysis->ctx, item->span.file);
    bool whole = item->kind == ITEM_RULE || item->kind == ITEM_STRATEGY || !item->body;
    uint32_t end = whole ? item->span.hi : item->body->span.lo;
    while (end > item->span.lo && strchr(" \n\r\t=", source->text[end - 1]))
        end--;
    sb_puts(out, "```rise\n");
    sb_putn(out, source->text + item->span.lo, end - item->span.lo);
    sb_puts(out, "\n```\n");
    if (item->doc)
        sb_printf(out, "%s\n", item->doc);
    if (source->library)
        sb_printf(out, "\nOf the library: `%s`.\n", source->name);
}

void put_about_name(Request *r, StrBuf *out, const char *name, const Item *item)
{
    PrimId id = prim_find(name);
    if (item)
        put_item(r, out, item);
    else if (id != P_COUNT)
        put_primitive(r, out, id);
    else if (word_about(name))
        sb_printf(out, "%s\n", word_about(name));
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The word at the place, in the text. */
static Span word_at(const Request *r)
{
    const Lines *lines = &r->analysis->lines;
    uint32_t lo = r->at, hi = r->at;
    while (lo > 0 && is_name_byte(lines->text[lo - 1]))
        lo--;
    while (hi < lines->size && is_name_byte(lines->text[hi]))
        hi++;
    return (Span){r->analysis->file, lo, hi};
}

static void put_type(StrBuf *out, const char *what, const char *type)
{
    sb_printf(out, "```rise\n%s: %s\n```\n", what, type);
}

/* The text of a span where it is short. */
static const char *shown(const Request *r, Span span)
{
    enum { MOST = 60 };
    const char *text = r->analysis->lines.text + span.lo;
    size_t n = span.hi - span.lo;
    bool whole = n <= MOST && !memchr(text, '\n', n);
    return whole ? ctx_printf(r->ctx, "%.*s", (int)n, text) : "...";
}

/* What a header declares, where no use of the item says more. */
static const char *declared(const Request *r, const NameNote *note)
{
    const Item *user = note->user;
    for (int i = 0; user && i < user->n_params; i++) {
        const Param *param = &user->params[i];
        if (param->span.file != note->bound.file || param->span.lo != note->bound.lo ||
            !param->kind)
            continue;
        StrBuf type;
        sb_init(&type, r->ctx);
        ast_print(&type, param->kind);
        return type.text;
    }
    return NULL;
}

static bool in_comment(const Request *r)
{
    const char *text = r->analysis->lines.text;
    for (uint32_t at = r->at; at > 0 && text[at - 1] != '\n'; at--)
        if (at > 1 && text[at - 1] == '-' && text[at - 2] == '-')
            return true;
    return false;
}

static Span about_place(Request *r, StrBuf *out)
{
    Analysis *a = r->analysis;
    const Item *item = analysis_item_at(a, r->at);
    ValueNotes *values = item ? analysis_values(a, item) : NULL;
    const NameNote *note = name_note_at(&a->names, a->file, r->at);
    Span where = word_at(r);
    const char *type;
    if (note) {
        type = values && !note->item ? value_note_of(values, note->at) : NULL;
        if (!type && !note->item)
            type = declared(r, note);
        if (type)
            put_type(out, note->name, type);
        put_about_name(r, out, note->name, note->item);
        if (out->len)
            return note->at;
    }
    if (where.hi > where.lo)
        put_about_name(r, out, shown(r, where), NULL);
    if (out->len)
        return where;
    type = values ? value_note_at(values, r->at, &where) : NULL;
    if (type)
        put_type(out, shown(r, where), type);
    return where;
}

void feature_hover(Request *r)
{
    StrBuf about;
    sb_init(&about, r->ctx);
    if (in_comment(r))
        return;
    Span where = about_place(r, &about);
    if (!about.len)
        return;
    sb_puts(&r->out, "{\"contents\":{\"kind\":\"markdown\",\"value\":");
    sb_put_json(&r->out, about.text);
    sb_puts(&r->out, "},\"range\":");
    put_range(&r->out, &r->analysis->lines, where.lo, where.hi);
    sb_puts(&r->out, "}");
}
