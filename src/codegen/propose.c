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

/* ---- where blocks meet ------------------------------------------------------------------------------------------------------------- */

/* The end of the expression that a body gives, behind its `let`s. */
static const Ast *last_expression(const Item *item)
{
    const Ast *body = item ? item->body : NULL;
    while (body && body->kind == AST_LET)
        body = body->let.body;
    return body;
}

static const Core *data_of(const Core *e)
{
    const Core *data = NULL;
    for (int i = 0; e->kind == CORE_PRIM && i < e->prim.n_args; i++)
        if (e->prim.args[i]->kind != CORE_LAMBDA)
            data = e->prim.args[i];
    return data;
}

static bool has_pipe(const Source *source, uint32_t *at)
{
    uint32_t i = *at;
    while (isspace((unsigned char)source->text[i]))
        i++;
    if (source->text[i] != '|' || source->text[i + 1] != '>')
        return false;
    *at = i;
    return true;
}

static void propose_finisher(Lowering *lw, Diag *d, Span from, Span to, const char *name)
{
    diag_help(lw->ctx, d, "what all blocks have made is there only when they have met: %s`%s(fun partials => partials |> ...)`", from.hi > from.lo ? "in the place of `toGlobal` write " : "go on behind them with ", name);
    diag_edit(lw->ctx, d, from, " |> %s(fun partials => partials", name);
    diag_edit(lw->ctx, d, to, ")");
    diag_or_else(lw->ctx, d);
}

bool propose_meeting(Lowering *lw, Diag *d, const Core *e)
{
    const Ast *last = last_expression(lw->entry->item);
    const Source *source = last ? source_get(lw->ctx, last->span.file) : NULL;
    const Core *block = e;
    while (block && !(block->kind == CORE_PRIM && block->prim.id == P_mapBlock))
        block = data_of(block);
    if (!block)
        return false;
    if (!source || block->span.file != last->span.file || block->span.lo < last->span.lo || e->span.hi > last->span.hi)
        return true;
    /* Joins of the parts belong to the blocks; a `toGlobal` is what the finisher replaces. */
    uint32_t from = block->span.hi, rest = from;
    for (uint32_t at = from; has_pipe(source, &at); at = rest) {
        const char *word = source->text + at + 2;
        word += strspn(word, " \n");
        size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        PrimId step = prim_find(ctx_printf(lw->ctx, "%.*s", (int)n, word));
        bool join = step == P_join, global = step == P_toGlobal;
        if (!join && !global)
            break;
        rest = (uint32_t)(word + n - source->text);
        from = join ? rest : from;
        if (global)
            break;
    }
    propose_finisher(lw, d, (Span){last->span.file, from, rest}, span_end(last->span), prim_name(P_lastBlock));
    propose_finisher(lw, d, (Span){last->span.file, from, rest}, span_end(last->span), prim_name(P_nextKernel));
    return true;
}
