#include "driver/text_data.h"

#include "driver/inputs.h"

enum {
    LONGEST_NUMBER = 400,
    DEEPEST = 33 /* a type has fewer dimensions */
};

typedef struct Reading {
    Ctx *ctx;
    const TextWanted *wanted;
    const char *text;
    size_t at, size;
    uint32_t file;
    int64_t shape[DEEPEST]; /* -1: not known yet */
    VEC(unsigned char) bytes;
    int64_t count;
    size_t comma, semicolon; /* the first ones of a line; the text's size: none yet */
} Reading;

static Diag *fault(Reading *r, size_t lo, size_t hi, const char *fmt, ...) PRINTF_LIKE(4, 5);
static Diag *fault(Reading *r, size_t lo, size_t hi, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    StrBuf text;
    sb_init(&text, r->ctx);
    sb_vprintf(&text, fmt, args);
    va_end(args);
    Span span = {r->file, (uint32_t)lo, (uint32_t)(hi > lo ? hi : lo + 1)};
    return diag_error(r->ctx, E0671, span, "%s", text.text);
}

static const char *wanted_text(const Reading *r)
{
    int rank = r->wanted->rank;
    return ctx_printf(r->ctx, "`%s`: %s has %s", r->wanted->name,
                      type_text(r->ctx, r->wanted->type),
                      rank == 0   ? "no dimension"
                      : rank == 1 ? "one dimension"
                                  : ctx_printf(r->ctx, "%d dimensions", rank));
}

/* ---- numbers ------------------------------------------------------------------------------- */

static bool is_separator(char c) { return c == ',' || c == ';' || c == ' ' || c == '\t'; }
static bool ends_number(char c)
{
    return is_separator(c) || c == '\n' || c == '\r' || c == '[' || c == ']';
}

static bool take_number(Reading *r)
{
    size_t start = r->at;
    while (r->at < r->size && !ends_number(r->text[r->at]))
        r->at++;
    size_t n = r->at - start;
    ScalarValue value;
    if (n == 0 && r->at < r->size) { /* in brackets */
        diag_help(r->ctx, fault(r, start, start + 1, "`%c` stands where a number is expected", r->text[start]), "in brackets, numbers are separated by `,`");
        return false;
    }
    const char *word = ctx_printf(r->ctx, "%.*s", (int)(n < LONGEST_NUMBER ? n : 20),
                                  r->text + start);
    if (n >= LONGEST_NUMBER || !input_number(word, r->wanted->elem, &value)) {
        Diag *diag = fault(r, start, r->at, "`%s` is no value of type %s", word,
                           scalar_name(r->wanted->elem));
        if (r->count == 0 && r->text[0] != '[')
            diag_help(r->ctx, diag, "if the first line has the names of columns, begin it with #");
        return false;
    }
    unsigned char cell[16];
    int bytes = scalar_bytes(value.type);
    scalar_store(value, cell);
    for (int i = 0; i < bytes; i++)
        vec_push(r->ctx, &r->bytes, cell[i]);
    r->count++;
    return true;
}

/* ---- in brackets --------------------------------------------------------------------------- */

static void skip_blanks(Reading *r)
{
    while (r->at < r->size && strchr(" \t\r\n", r->text[r->at]))
        r->at++;
}

/* Whether a row or line of `n` may stand at this depth, where others stood before. */
static bool take_extent(Reading *r, int depth, int64_t n, const char *what, size_t lo, size_t hi)
{
    if (r->shape[depth] < 0)
        r->shape[depth] = n;
    if (r->shape[depth] == n)
        return true;
    fault(r, lo, hi, "this %s has %lld element%s, and the first one has %lld", what, (long long)n,
          n == 1 ? "" : "s", (long long)r->shape[depth]);
    return false;
}

/* From the bracket that opens; the depth is bounded by the rank. */
static bool take_list(Reading *r, int depth)
{
    size_t open = r->at++;
    int64_t n = 0;
    for (;; n++) {
        skip_blanks(r);
        if (r->at < r->size && r->text[r->at] == ',' && n > 0) {
            r->at++;
            skip_blanks(r);
        } else if (r->at < r->size && r->text[r->at] == ']') {
            break;
        }
        if (r->at >= r->size) {
            fault(r, open, open + 1, "this bracket is not closed");
            return false;
        }
        bool bracket = r->text[r->at] == '[';
        if (bracket != (depth + 1 < r->wanted->rank)) {
            fault(r, r->at, r->at + 1,
                  bracket ? "%s, and this opens one more"
                          : "%s, and here a row `[...]` is expected",
                  wanted_text(r));
            return false;
        }
        if (!(bracket ? take_list(r, depth + 1) : take_number(r)))
            return false;
    }
    r->at++;
    return take_extent(r, depth, n, "row", open, r->at);
}

static bool take_brackets(Reading *r)
{
    if (r->wanted->rank == 0) {
        fault(r, r->at, r->at + 1, "%s: write the number alone", wanted_text(r));
        return false;
    }
    if (!take_list(r, 0))
        return false;
    skip_blanks(r);
    if (r->at < r->size)
        fault(r, r->at, r->size, "this follows the last bracket");
    return r->at == r->size;
}

/* ---- in lines ------------------------------------------------------------------------------ */

/* A comma and a semicolon: which of them separates numbers? */
static bool take_sign(Reading *r, char c)
{
    size_t *first = c == ',' ? &r->comma : &r->semicolon;
    if (*first == r->size)
        *first = r->at;
    if (r->comma == r->size || r->semicolon == r->size)
        return true;
    Diag *diag = fault(r, r->at, r->at + 1,
                       "`,` and `;` both stand in this line, and the commas may be decimal ones");
    diag_help(r->ctx, diag,
              "decimals are written with a point, as in `1.5;2.5`; else write one separator");
    return false;
}

/* One line; *n: its numbers. A comma has a number on each side. */
static bool take_line(Reading *r, int64_t *n)
{
    bool comma = false;
    r->comma = r->semicolon = r->size;
    *n = 0;
    for (; r->at < r->size && r->text[r->at] != '\n' && r->text[r->at] != '\r';) {
        char c = r->text[r->at];
        bool sign = c == ',' || c == ';';
        if (sign && (comma || *n == 0)) {
            fault(r, r->at, r->at + 1, "there is no number before this `%c`", c);
            return false;
        }
        if (sign && !take_sign(r, c))
            return false;
        comma |= sign;
        if (is_separator(c)) {
            r->at++;
            continue;
        }
        if (c == '[' || c == ']') {
            fault(r, r->at, r->at + 1, "brackets stand around all of an array, or nowhere");
            return false;
        }
        comma = false;
        if (!take_number(r))
            return false;
        ++*n;
    }
    if (comma)
        fault(r, r->at - 1, r->at, "there is no number behind the last comma of this line");
    return !comma;
}

static bool take_lines(Reading *r)
{
    int rank = r->wanted->rank;
    int64_t lines = 0, wide = 0;
    size_t first_wide = 0;
    if (rank > 2) {
        fault(r, 0, 1, "%s, and lines of numbers have two", wanted_text(r));
        return false;
    }
    while (r->at < r->size) {
        skip_blanks(r);
        size_t start = r->at;
        int64_t n;
        if (r->at == r->size)
            break;
        if (r->text[r->at] == '#') {
            while (r->at < r->size && r->text[r->at] != '\n')
                r->at++;
            continue;
        }
        if (!take_line(r, &n))
            return false;
        if (rank == 2 && !take_extent(r, 1, n, "line", start, r->at))
            return false;
        first_wide = n > 1 && wide == 0 ? start : first_wide;
        wide += n > 1;
        lines++;
    }
    bool several = rank == 0 ? r->count != 1 : rank == 1 && wide && lines > 1;
    if (several)
        fault(r, first_wide, first_wide + 1, "%s, and here are %lld lines with %lld numbers",
              wanted_text(r), (long long)lines, (long long)r->count);
    r->shape[0] = rank == 1 ? r->count : lines;
    return !several;
}

/* ---- both ---------------------------------------------------------------------------------- */

bool text_is_inline(const char *value) { return value[0] == '['; }

bool text_read(Ctx *ctx, const TextWanted *wanted, const char *source, const char *text,
               size_t size, HostBuf *buf)
{
    Reading r = {.ctx = ctx, .wanted = wanted, .text = text, .size = size};
    r.file = source_add(ctx, source, text, size);
    for (int i = 0; i < DEEPEST; i++)
        r.shape[i] = -1;
    skip_blanks(&r);
    if (!(r.at < size && text[r.at] == '[' ? take_brackets(&r) : take_lines(&r)))
        return false;
    *buf = (HostBuf){.elem = wanted->elem, .rank = wanted->rank, .count = r.count};
    buf->shape = NEWN(ctx, int64_t, wanted->rank + 1);
    for (int i = 0; i < wanted->rank; i++)
        buf->shape[i] = r.shape[i] < 0 ? 0 : r.shape[i];
    buf->bytes = r.bytes.at ? r.bytes.at : ctx_alloc(ctx, 1);
    return true;
}
