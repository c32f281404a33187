/* Hints that propose a text for a primitive: its name, or an option in its brackets. Where the program's author has not written the primitive at the place of
 * the term, as in the library or where a strategy has put it, the hint only explains. */
#include <ctype.h>

#include "codegen/lowering.h"

/* `name[options]` as it is written at the start of a span. */
typedef struct Written {
    const char *text; /* of the source */
    Span name;
    Span options; /* from bracket to bracket; empty: there are none */
} Written;

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Behind the bracket that closes the one at `at`; `at` where none does. Options hold no text in which a bracket could stand alone but comments, which are given up. */
static uint32_t behind_bracket(const char *text, uint32_t at, uint32_t end)
{
    int depth = 0;
    for (uint32_t i = at; i < end; i++) {
        if (text[i] == '-' && text[i + 1] == '-')
            return at;
        depth += (text[i] == '[') - (text[i] == ']');
        if (depth == 0)
            return i + 1;
    }
    return at;
}

static bool written_at(const Ctx *ctx, Span span, const char *name, Written *w)
{
    const Source *source = source_get(ctx, span.file);
    size_t n = strlen(name);
    if (!span_is_users(ctx, span) || span.lo + n > source->size || memcmp(source->text + span.lo, name, n) != 0 || is_word(source->text[span.lo + n]))
        return false;
    uint32_t behind = span.lo + (uint32_t)n;
    *w = (Written){source->text, {span.file, span.lo, behind}, {span.file, behind, behind}};
    if (source->text[behind] == '[')
        w->options.hi = behind_bracket(source->text, behind, (uint32_t)source->size);
    return true;
}

void propose_primitive(Ctx *ctx, Diag *d, const Core *e, PrimId by, const char *help)
{
    Written w;
    bool written = written_at(ctx, e->span, prim_name(e->prim.id), &w);
    diag_propose(ctx, d, written ? span_join(w.name, w.options) : NO_SPAN, help, "%s", prim_name(by));
}

bool edit_primitive(Ctx *ctx, Diag *d, const Core *e, const char *by)
{
    Written w;
    if (!written_at(ctx, e->span, prim_name(e->prim.id), &w))
        return false;
    diag_edit(ctx, d, span_join(w.name, w.options), "%s", by);
    return true;
}

/* The option with its name, and the comma that parts it from the next or the last one. */
static bool option_span(const Written *w, const char *option, Span *out)
{
    const char *text = w->text;
    size_t n = strlen(option);
    int depth = 0;
    uint32_t from = w->options.lo + 1; /* of the option at hand */
    for (uint32_t i = from; i < w->options.hi; i++) {
        bool ends = depth == 0 && (text[i] == ',' || i + 1 == w->options.hi);
        depth += (text[i] == '[' || text[i] == '(') - (text[i] == ']' || text[i] == ')');
        if (!ends)
            continue;
        uint32_t word = from;
        while (isspace((unsigned char)text[word]))
            word++;
        if (strncmp(text + word, option, n) == 0 && !is_word(text[word + n])) {
            bool first = from == w->options.lo + 1, last = text[i] != ',';
            *out = first && last ? w->options : (Span){w->options.file, first ? from : from - 1, first ? i + 1 : i};
            return true;
        }
        from = i + 1;
    }
    return false;
}

void propose_without(Ctx *ctx, Diag *d, Span at, PrimId prim, const char *option, const char *help)
{
    Written w;
    Span span;
    diag_help(ctx, d, "%s", help);
    if (written_at(ctx, at, prim_name(prim), &w) && option_span(&w, option, &span))
        diag_edit(ctx, d, span, "%s", "");
}
