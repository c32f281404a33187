/* What a text consists of: its items, the sizes and types that it does not write, its words by what
 * they are. */
#include "frontend/parse_internal.h"
#include "frontend/token_class.h"
#include "lsp/request.h"

/* ---- items ------------------------------------------------------------------------------- */

static int symbol_kind(const Item *item)
{
    enum { MODULE = 2, FUNCTION = 12, OPERATOR = 25, EVENT = 24, METHOD = 6, CONSTANT = 14 };
    switch (item->kind) {
    case ITEM_IMPORT:
        return MODULE;
    case ITEM_OPERATOR:
        return OPERATOR;
    case ITEM_RULE:
        return EVENT;
    case ITEM_STRATEGY:
        return METHOD;
    case ITEM_DEF:
        return item->n_params ? FUNCTION : CONSTANT;
    case ITEM_ENTRY:
    case ITEM_ERROR:
        break;
    }
    return FUNCTION;
}

static const char *item_word(const Item *item)
{
    static const char *const words[] = {
        [ITEM_DEF] = "def",       [ITEM_ENTRY] = "entry", [ITEM_OPERATOR] = "operator",
        [ITEM_IMPORT] = "import", [ITEM_RULE] = "rule",   [ITEM_STRATEGY] = "strategy",
        [ITEM_ERROR] = ""};
    return words[item->kind];
}

void feature_symbols(Request *r)
{
    const Analysis *a = r->analysis;
    int n = 0;
    sb_puts(&r->out, "[");
    for (int i = 0; i < a->ast->items.n; i++) {
        const Item *item = a->ast->items.at[i];
        const char *name = item->kind == ITEM_IMPORT ? item->path : item->name;
        Span at = item->name_span.file ? item->name_span : item->span;
        if (!name || !name[0])
            continue;
        sb_puts(&r->out, n++ ? ",{\"name\":" : "{\"name\":");
        sb_put_json(&r->out, name);
        sb_printf(&r->out, ",\"kind\":%d,\"detail\":\"%s\",\"range\":", symbol_kind(item),
                  item_word(item));
        Span whole = span_join(item->span, at);
        put_range(&r->out, &a->lines, whole.lo, whole.hi);
        sb_puts(&r->out, ",\"selectionRange\":");
        put_range(&r->out, &a->lines, at.lo, at.hi);
        sb_puts(&r->out, "}");
    }
    sb_puts(&r->out, "]");
}

/* ---- types that are not written ---------------------------------------------------------- */

static bool in_header(const Item *item, Span at)
{
    return !item->body || at.lo < item->body->span.lo;
}

/* A pattern that declares its type, `(x: f32)`, says it. */
static bool is_declared(const Lines *lines, Span at)
{
    uint32_t i = at.hi;
    while (i < lines->size && (lines->text[i] == ' ' || lines->text[i] == '\t'))
        i++;
    return i < lines->size && lines->text[i] == ':';
}

static void put_hint(Request *r, const NameNote *note, const char *type, int *n)
{
    Place place = lines_place(&r->analysis->lines, note->at.hi);
    sb_puts(&r->out, (*n)++ ? ",{\"position\":" : "{\"position\":");
    sb_printf(&r->out, "{\"line\":%u,\"character\":%u},\"label\":", place.line, place.character);
    sb_put_json(&r->out,
                ctx_printf(r->ctx, ": %s", strncmp(type, "the size ", 9) == 0 ? type + 4 : type));
    sb_puts(&r->out, ",\"kind\":1,\"paddingLeft\":false}");
}

/* The bytes that params.range names; the whole where it names none. */
static void range_of(const Request *r, uint32_t *lo, uint32_t *hi)
{
    const json_t *range = json_object_get(r->params, "range");
    Place from, to;
    *lo = 0;
    *hi = (uint32_t)r->analysis->lines.size;
    if (!json_place(json_object_get(range, "start"), &from) ||
        !json_place(json_object_get(range, "end"), &to))
        return;
    *lo = lines_at(&r->analysis->lines, from);
    *hi = lines_at(&r->analysis->lines, to);
}

void feature_inlay(Request *r)
{
    Analysis *a = r->analysis;
    uint32_t lo, hi;
    int n = 0;
    const Item *item = NULL;
    ValueNotes *values = NULL;
    range_of(r, &lo, &hi);
    sb_puts(&r->out, "[");
    for (int i = 0; i < a->names.list.n; i++) {
        const NameNote *note = &a->names.list.at[i];
        bool binds = note->at.lo == note->bound.lo && note->bound.file == a->file && !note->item &&
                     note->user;
        if (note->at.file != a->file || !binds || note->at.lo < lo || note->at.hi > hi)
            continue;
        if (note->user != item) {
            item = note->user;
            values = analysis_values(a, item);
        }
        const char *type = values && !in_header(item, note->at) && !is_declared(&a->lines, note->at)
                               ? value_note_of(values, note->at)
                               : NULL;
        if (type)
            put_hint(r, note, type, &n);
    }
    sb_puts(&r->out, "]");
}

/* ---- words by what they are -------------------------------------------------------------- */

/* The legend: of a token class, by its number; then parameters, which are names. */
static const char *const legend[] = {
    [TOKEN_COMMENT] = "comment",     [TOKEN_DOC] = "comment",          [TOKEN_KEYWORD] = "keyword",
    [TOKEN_NAME] = "variable",       [TOKEN_PRIMITIVE] = "function",   [TOKEN_TYPE] = "type",
    [TOKEN_CONSTANT] = "enumMember", [TOKEN_FUNCTION] = "function",    [TOKEN_NUMBER] = "number",
    [TOKEN_TEXT] = "string",         [TOKEN_OPERATOR] = "operator",    [TOKEN_BRACKET] = NULL,
    [TOKEN_SEPARATOR] = NULL,        [TOKEN_CLASS_COUNT] = "parameter"};

enum { DEFAULT_LIBRARY = 1, DOCUMENTATION = 2 }; /* modifiers, bits */

void semantic_legend(StrBuf *out)
{
    sb_puts(out, "{\"tokenTypes\":[");
    for (int i = 0; i <= TOKEN_CLASS_COUNT; i++)
        sb_printf(out, "%s\"%s\"", i ? "," : "", legend[i] ? legend[i] : "operator");
    sb_puts(out, "],\"tokenModifiers\":[\"defaultLibrary\",\"documentation\"]}");
}

typedef struct Semantics {
    Request *r;
    Place last;
    int n;
} Semantics;

static void put_token(Semantics *s, uint32_t lo, uint32_t hi, int type, int modifiers)
{
    const Lines *lines = &s->r->analysis->lines;
    Place at = lines_place(lines, lo), end = lines_place(lines, hi);
    if (end.line != at.line)
        return;
    sb_printf(&s->r->out, "%s%u,%u,%u,%d,%d", s->n++ ? "," : "", at.line - s->last.line,
              at.line == s->last.line ? at.character - s->last.character : at.character,
              end.character - at.character, type, modifiers);
    s->last = at;
}

static int compare_notes(const void *a, const void *b)
{
    const NameNote *x = *(const NameNote *const *)a, *y = *(const NameNote *const *)b;
    return x->at.lo < y->at.lo ? -1 : x->at.lo > y->at.lo;
}

void feature_semantic_tokens(Request *r)
{
    const Analysis *a = r->analysis;
    ClassedTokens tokens = {0};
    VEC(const NameNote *) notes = {0};
    Semantics s = {.r = r};
    class_tokens(r->ctx, a->file, &tokens);
    for (int i = 0; i < a->names.list.n; i++)
        if (a->names.list.at[i].at.file == a->file)
            vec_push(r->ctx, &notes, &a->names.list.at[i]);
    if (notes.n)
        qsort(notes.at, (size_t)notes.n, sizeof *notes.at, compare_notes);
    sb_puts(&r->out, "{\"data\":[");
    for (int i = 0, k = 0; i < tokens.list.n; i++) {
        const ClassedToken *t = &tokens.list.at[i];
        int type = t->token_class,
            modifiers = t->token_class == TOKEN_PRIMITIVE || t->token_class == TOKEN_FUNCTION
                            ? DEFAULT_LIBRARY
                            : 0;
        while (k < notes.n && notes.at[k]->at.lo < t->lo)
            k++;
        const NameNote *note = k < notes.n && notes.at[k]->at.lo == t->lo ? notes.at[k] : NULL;
        if (t->token_class == TOKEN_NAME && note && note->item)
            type = TOKEN_FUNCTION;
        else if (t->token_class == TOKEN_NAME && note && note->bound.file == a->file &&
                 note->user && in_header(note->user, note->bound))
            type = TOKEN_CLASS_COUNT;
        if (t->token_class == TOKEN_DOC)
            modifiers = DOCUMENTATION;
        if (legend[t->token_class])
            put_token(&s, t->lo, t->hi, type, modifiers);
    }
    sb_puts(&r->out, "]}");
}
