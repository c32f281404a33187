/* Diagnostics as text: in order, each with the lines of its source. */
#include "support/context.h"
#include "support/diag.h"
#include "support/utf8.h"

enum { LINE_SHOWN = 160, LINE_BEFORE = 60, TAB_STOP = 4 };

typedef struct Render {
    Ctx *ctx;
    StrBuf *out;
    bool colour;
    int gutter; /* digits of the largest line number shown */
} Render;

static const char RED[] = "\033[1;31m", YELLOW[] = "\033[1;33m", BLUE[] = "\033[1;34m", GREEN[] = "\033[1;32m",
                  BOLD[] = "\033[1m", PLAIN[] = "\033[0m";

static void paint(Render *r, const char *colour)
{
    if (r->colour)
        sb_puts(r->out, colour);
}

/* Text that may hold what the user wrote. Newlines stay; what a terminal would obey becomes '?'. */
static void put_clean(Render *r, const char *text)
{
    size_t size = strlen(text);
    for (size_t i = 0; i < size;) {
        uint32_t point = 0;
        size_t n = utf8_decode(text + i, size - i, &point);
        if (n && (point == '\n' || utf8_printable(point)))
            sb_putn(r->out, text + i, n);
        else
            sb_putc(r->out, '?');
        i += n ? n : 1;
    }
}

/* The part of a source line that is shown: bytes [lo, hi) of the source. */
typedef struct Window {
    uint32_t lo, hi;
    bool cut_before, cut_after;
} Window;

static bool continues(const Source *source, uint32_t at) { return ((unsigned char)source->text[at] & 0xc0) == 0x80; }

static Window window_of(const Source *source, int line, uint32_t at)
{
    uint32_t lo = source_line_start(source, line);
    uint32_t hi = line + 1 < source->line_count ? source->lines[line + 1] - 1 : (uint32_t)source->size;
    if (hi > lo && source->text[hi - 1] == '\r')
        hi--;
    Window w = {lo, hi, false, false};
    if (hi - lo <= LINE_SHOWN)
        return w;
    if (at > hi)
        at = hi;
    if (at - lo > LINE_SHOWN * 3 / 4) {
        w.lo = at - LINE_BEFORE;
        w.cut_before = true;
        for (int i = 0; i < 3 && w.lo < at && continues(source, w.lo); i++)
            w.lo++;
    }
    if (hi - w.lo > LINE_SHOWN) {
        w.hi = w.lo + LINE_SHOWN;
        w.cut_after = true;
        for (int i = 0; i < 3 && w.hi > w.lo && continues(source, w.hi); i++)
            w.hi--;
    }
    return w;
}

static void put_gutter(Render *r, int line)
{
    paint(r, BLUE);
    if (line)
        sb_printf(r->out, "  %*d |", r->gutter, line);
    else
        sb_printf(r->out, "  %*s |", r->gutter, "");
    paint(r, PLAIN);
    sb_putc(r->out, ' ');
}

/* Shows the bytes [lo, hi) of the window as text (marks false) or as the columns they take (marks true). */
static int put_columns(Render *r, const Source *source, uint32_t lo, uint32_t hi, int column, char mark)
{
    for (uint32_t i = lo; i < hi;) {
        uint32_t point = 0;
        size_t n = utf8_decode(source->text + i, hi - i, &point);
        int width = 1;
        if (n && point == '\t') {
            width = TAB_STOP - column % TAB_STOP;
            for (int k = 0; k < width; k++)
                sb_putc(r->out, mark ? mark : ' ');
        } else if (mark) {
            sb_putc(r->out, mark);
        } else if (n && utf8_printable(point)) {
            sb_putn(r->out, source->text + i, n);
        } else {
            sb_putc(r->out, '?');
        }
        column += width;
        i += n ? (uint32_t)n : 1;
    }
    return column;
}

static const uint32_t NOTHING_SHOWN = UINT32_MAX;

/* A source line, unless it was the last one shown (`shown`: where that began), and a row of marks under the span. Of a
 * span over several lines only the first is marked. */
static void put_excerpt(Render *r, const Source *source, Span span, uint32_t *shown, char mark, const char *colour, const char *label)
{
    uint32_t size = (uint32_t)source->size;
    uint32_t lo = span.lo < size ? span.lo : size, hi = span.hi < size ? span.hi : size;
    int line = source_line_at(source, lo);
    Window w = window_of(source, line, lo);
    if (w.lo != *shown) {
        put_gutter(r, source->lines_before + line + 1);
        if (w.cut_before)
            sb_puts(r->out, "...");
        put_columns(r, source, w.lo, w.hi, 0, 0);
        sb_puts(r->out, w.cut_after ? "...\n" : "\n");
    }
    *shown = w.lo;
    if (lo > w.hi)
        lo = w.hi;
    if (hi > w.hi)
        hi = w.hi;
    put_gutter(r, 0);
    if (w.cut_before)
        sb_puts(r->out, "   ");
    int column = put_columns(r, source, w.lo, lo, 0, ' ');
    paint(r, colour);
    if (hi > lo)
        put_columns(r, source, lo, hi, column, mark);
    else
        sb_putc(r->out, mark);
    if (label) {
        sb_putc(r->out, ' ');
        put_clean(r, label);
    }
    paint(r, PLAIN);
    sb_putc(r->out, '\n');
}

static int digits_of(int n)
{
    int digits = 1;
    for (; n >= 10; n /= 10)
        digits++;
    return digits;
}

static int gutter_of(const Ctx *ctx, const Diag *diag)
{
    int widest = 1, line, column;
    source_position(ctx, diag->span, &line, &column);
    if (digits_of(line) > widest)
        widest = digits_of(line);
    for (int i = 0; i < diag->notes.n; i++) {
        source_position(ctx, diag->notes.at[i].span, &line, &column);
        if (digits_of(line) > widest)
            widest = digits_of(line);
    }
    return widest;
}

static void put_place(Render *r, Span span, const Source *source)
{
    int line, column;
    source_position(r->ctx, span, &line, &column);
    put_clean(r, source->name);
    sb_printf(r->out, ":%d:%d: ", line, column);
}

static void put_words(Render *r, const char *colour, const char *what, const char *text, int line)
{
    paint(r, colour);
    sb_printf(r->out, "%s: ", what);
    paint(r, PLAIN);
    put_clean(r, text);
    if (line)
        sb_printf(r->out, " (line %d)", line);
    sb_putc(r->out, '\n');
}

static int line_in(const Ctx *ctx, Span span, uint32_t file)
{
    int line, column;
    source_position(ctx, span, &line, &column);
    return span.file == file ? line : 0;
}

/* Where a hint is to be applied, if that is on a line of the file that the message does not show; else 0. */
static int line_of_edits(const Ctx *ctx, const Diag *diag)
{
    uint32_t file = diag->span.file;
    int line = diag->edits.n ? line_in(ctx, diag->edits.at[0].span, file) : 0;
    bool shown = line == line_in(ctx, diag->span, file);
    for (int i = 0; i < diag->notes.n; i++)
        shown |= line == line_in(ctx, diag->notes.at[i].span, file);
    for (int i = 0; i < diag->edits.n; i++)
        shown |= line_in(ctx, diag->edits.at[i].span, file) != line;
    return shown ? 0 : line;
}

static void put_diag(Render *r, const Diag *diag)
{
    const Source *source = source_get(r->ctx, diag->span.file);
    const char *colour = diag->warning ? YELLOW : RED;
    r->gutter = gutter_of(r->ctx, diag);
    paint(r, BOLD);
    if (source)
        put_place(r, diag->span, source);
    else
        sb_puts(r->out, "risec: ");
    paint(r, colour);
    sb_printf(r->out, "%s[%s]: ", diag->warning ? "warning" : "error", diag_code_name(diag->code));
    paint(r, PLAIN);
    put_clean(r, diag->message);
    sb_putc(r->out, '\n');
    uint32_t shown = NOTHING_SHOWN;
    if (source)
        put_excerpt(r, source, diag->span, &shown, '^', colour, diag->label);
    uint32_t file = diag->span.file;
    for (int i = 0; i < diag->notes.n; i++) { /* marks first: they stand under their lines */
        const DiagNote *note = &diag->notes.at[i];
        const Source *other = source_get(r->ctx, note->span.file);
        if (!other)
            continue;
        if (note->span.file != file) {
            put_place(r, note->span, other);
            sb_puts(r->out, "note:\n");
            file = note->span.file;
            shown = NOTHING_SHOWN;
        }
        put_excerpt(r, other, note->span, &shown, '-', BLUE, note->text);
    }
    for (int i = 0; i < diag->notes.n; i++)
        if (!source_get(r->ctx, diag->notes.at[i].span.file))
            put_words(r, BOLD, "note", diag->notes.at[i].text, 0);
    if (diag->help)
        put_words(r, GREEN, "help", diag->help, line_of_edits(r->ctx, diag));
}

static bool before(const Diag *a, const Diag *b)
{
    if (a->span.file != b->span.file)
        return a->span.file < b->span.file;
    return a->span.lo < b->span.lo;
}

Diag **diag_sorted(Ctx *ctx)
{
    int n = ctx->diags.list.n;
    Diag **sorted = NEWN(ctx, Diag *, n);
    for (int i = 0; i < n; i++) {
        Diag *diag = ctx->diags.list.at[i];
        diag_likeliest(diag);
        int at = i;
        for (; at > 0 && before(diag, sorted[at - 1]); at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = diag;
    }
    return sorted;
}

void diag_render(Ctx *ctx, StrBuf *out, bool colour)
{
    Render r = {.ctx = ctx, .out = out, .colour = colour};
    Diag **sorted = diag_sorted(ctx);
    int n = ctx->diags.list.n;
    for (int i = 0; i < n; i++)
        put_diag(&r, sorted[i]);
    if (ctx->diags.dropped)
        sb_printf(out, "%d more not shown\n", ctx->diags.dropped);
}
