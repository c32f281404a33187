#include "support/json.h"

enum { LIMIT_JSON_DEPTH = 64 };

typedef struct Reader {
    Ctx *ctx;
    uint32_t file;
    DiagCode code;
    const char *text;
    size_t at, size;
    int depth;
} Reader;

static Json *value(Reader *r);

static Json *wrong(Reader *r, const char *wanted)
{
    diag_error(r->ctx, r->code, (Span){r->file, (uint32_t)r->at, (uint32_t)(r->at < r->size ? r->at + 1 : r->at)}, "%s is expected here", wanted);
    return NULL;
}

static void skip_blanks(Reader *r)
{
    while (r->at < r->size && strchr(" \t\r\n", r->text[r->at]) && r->text[r->at])
        r->at++;
}

static bool take(Reader *r, const char *word)
{
    size_t n = strlen(word);
    skip_blanks(r);
    if (r->size - r->at < n || memcmp(r->text + r->at, word, n) != 0)
        return false;
    r->at += n;
    return true;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The character behind a backslash. Of \uXXXX only what is one byte: nothing else is ever written. */
static bool take_escape(Reader *r, StrBuf *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    enum { HEX = 4 };
    char c = r->at < r->size ? r->text[r->at++] : 0;
    const char *plain = c ? strchr(from, c) : NULL;
    if (plain) {
        sb_putc(out, to[plain - from]);
        return true;
    }
    int code = 0;
    for (int i = 0; c == 'u' && i < HEX && code >= 0; i++) {
        int digit = r->at < r->size ? hex_digit(r->text[r->at]) : -1;
        r->at += digit >= 0;
        code = digit < 0 ? -1 : code * 16 + digit;
    }
    if (c != 'u' || code <= 0 || code > 127)
        return false;
    sb_putc(out, (char)code);
    return true;
}

static const char *take_text(Reader *r)
{
    StrBuf out;
    sb_init(&out, r->ctx);
    sb_puts(&out, "");
    if (!take(r, "\"")) {
        wrong(r, "a text in quotes");
        return NULL;
    }
    while (r->at < r->size && r->text[r->at] != '"') {
        char c = r->text[r->at++];
        if (c == '\\' && !take_escape(r, &out)) {
            r->at--;
            wrong(r, "an escape such as \\n or \\u000a");
            return NULL;
        }
        if (c != '\\')
            sb_putc(&out, c);
    }
    if (r->at == r->size) {
        wrong(r, "the quote that ends the text");
        return NULL;
    }
    r->at++;
    return out.text;
}

static bool take_number(Reader *r, int64_t *number)
{
    bool negative = r->text[r->at] == '-';
    size_t from = r->at + negative, at = from;
    int64_t n = 0;
    for (; at < r->size && r->text[at] >= '0' && r->text[at] <= '9'; at++)
        if (!mul_fits(n, 10, &n) || !add_fits(n, r->text[at] - '0', &n))
            return false;
    if (at == from || (at < r->size && strchr(".eE", r->text[at]) && r->text[at]))
        return false;
    r->at = at;
    *number = negative ? -n : n;
    return true;
}

/* The items of an array, or the members of an object, after its bracket. */
static Json *items(Reader *r, Json *json, const char *end)
{
    VEC(Json *) list = {0};
    VEC(const char *) names = {0};
    bool object = json->kind == JSON_OBJECT;
    if (++r->depth > LIMIT_JSON_DEPTH)
        return wrong(r, "something that is nested less deeply");
    while (!take(r, end)) {
        if (list.n && !take(r, ","))
            return wrong(r, object ? "`,` or `}`" : "`,` or `]`");
        const char *name = object ? take_text(r) : "";
        if (!name)
            return NULL;
        if (object && !take(r, ":"))
            return wrong(r, "`:`");
        Json *item = value(r);
        if (!item)
            return NULL;
        vec_push(r->ctx, &list, item);
        vec_push(r->ctx, &names, name);
    }
    r->depth--;
    json->n = list.n;
    json->items = list.at;
    json->names = names.at;
    return json;
}

static Json *value(Reader *r)
{
    skip_blanks(r);
    size_t from = r->at;
    Json *json = NEW(r->ctx, Json), *good = json;
    char c = r->at < r->size ? r->text[r->at] : 0;
    if (take(r, "{")) {
        json->kind = JSON_OBJECT;
        good = items(r, json, "}");
    } else if (take(r, "[")) {
        json->kind = JSON_ARRAY;
        good = items(r, json, "]");
    } else if (c == '"') {
        json->kind = JSON_TEXT;
        json->text = take_text(r);
        good = json->text ? json : NULL;
    } else if (take(r, "true") || take(r, "false")) {
        json->kind = JSON_BOOL;
        json->truth = c == 't';
    } else if (!take(r, "null")) {
        json->kind = JSON_NUMBER;
        if (!c || !take_number(r, &json->number))
            return wrong(r, "a text, a whole number, a list or an object");
    }
    json->span = (Span){r->file, (uint32_t)from, (uint32_t)r->at};
    return good;
}

Json *json_parse(Ctx *ctx, uint32_t file, DiagCode code)
{
    const Source *source = source_get(ctx, file);
    Reader r = {.ctx = ctx, .file = file, .code = code, .text = source->text, .size = source->size};
    Json *json = value(&r);
    skip_blanks(&r);
    return json && r.at < r.size ? wrong(&r, "the end of the file") : json;
}

const Json *json_member(const Json *object, const char *name, JsonKind kind)
{
    for (int i = 0; object && object->kind == JSON_OBJECT && i < object->n; i++)
        if (strcmp(object->names[i], name) == 0 && object->items[i]->kind == kind)
            return object->items[i];
    return NULL;
}

const char *json_text(const Json *object, const char *name)
{
    const Json *member = json_member(object, name, JSON_TEXT);
    return member ? member->text : NULL;
}
