#include "format/doc.h"

enum {
    INDENT = 2,
    DEEPEST = 60, /* columns of indentation: what is nested more deeply stays there, so that it has
                     room */
    FAR = 60 /* from this column on a list is better broken before its first item */
};

typedef enum DocKind {
    DOC_TEXT,
    DOC_BEHIND,
    DOC_ABOVE,
    DOC_LINE,
    DOC_CUT,
    DOC_FAR,
    DOC_LIST,
    DOC_NEST,
    DOC_ALIGN,
    DOC_GROUP,
    DOC_FLAT,
    DOC_EITHER,
    DOC_SHORT,
    DOC_MARK
} DocKind;

struct Doc {
    DocKind kind;
    int width; /* flat, without the comments at its ends; DOC_NEVER: it cannot be */
    bool above; /* begins with comments */
    bool behind; /* ends with one */
    bool busy, hangs;
    union {
        struct {
            const char *at;
            size_t n;
        } text;
        struct {
            const Doc **at;
            int n;
        } list;
        struct {
            const Doc *a, *b;
        } one; /* EITHER SHORT: both; else a alone */
    };
};

/* ---- making them --------------------------------------------------------------------------- */

static int columns(const char *text, size_t n)
{
    int count = 0;
    for (size_t i = 0; i < n; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

static Doc *new_doc(Ctx *ctx, DocKind kind, int width)
{
    Doc *doc = NEW(ctx, Doc);
    doc->kind = kind;
    doc->width = width;
    return doc;
}

const Doc *doc_empty(Ctx *ctx) { return new_doc(ctx, DOC_LIST, 0); }

static Doc *with_text(Ctx *ctx, DocKind kind, const char *text, size_t n)
{
    Doc *doc = new_doc(ctx, kind, kind == DOC_TEXT ? columns(text, n) : 0);
    doc->text.at = text;
    doc->text.n = n;
    doc->above = kind == DOC_ABOVE;
    doc->behind = kind != DOC_TEXT;
    return doc;
}

const Doc *doc_text(Ctx *ctx, const char *text, size_t n)
{
    return with_text(ctx, DOC_TEXT, text, n);
}
const Doc *doc_behind(Ctx *ctx, const char *text, size_t n)
{
    return with_text(ctx, DOC_BEHIND, text, n);
}
const Doc *doc_above(Ctx *ctx, const char *text, size_t n)
{
    return with_text(ctx, DOC_ABOVE, text, n);
}
const Doc *doc_line(Ctx *ctx) { return new_doc(ctx, DOC_LINE, 1); }
const Doc *doc_break(Ctx *ctx) { return new_doc(ctx, DOC_LINE, DOC_NEVER); }
const Doc *doc_blank(Ctx *ctx) { return doc_flat(ctx, doc_line(ctx)); }
const Doc *doc_cut(Ctx *ctx) { return new_doc(ctx, DOC_CUT, 0); }
const Doc *doc_far(Ctx *ctx) { return new_doc(ctx, DOC_FAR, 0); }

Docs docs_new(Ctx *ctx) { return (Docs){.ctx = ctx}; }
void docs_add(Docs *docs, const Doc *doc) { vec_push(docs->ctx, &docs->list, doc); }
void docs_text(Docs *docs, const char *text)
{
    docs_add(docs, doc_text(docs->ctx, text, strlen(text)));
}

/* Comments alone, or nothing. */
static bool is_bare(const Doc *doc) { return doc->width == 0; }

const Doc *doc_list(Docs *docs)
{
    Doc *doc = new_doc(docs->ctx, DOC_LIST, 0);
    doc->list.at = docs->list.at;
    doc->list.n = docs->list.n;
    for (int i = 0; i < docs->list.n; i++) {
        const Doc *item = docs->list.at[i];
        bool comment_inside = (doc->width > 0 && (doc->behind || item->above)) &&
                              !(is_bare(item) && !item->above);
        doc->above |= is_bare(doc) && item->above;
        doc->behind = item->behind || (doc->behind && is_bare(item));
        doc->busy |= item->busy;
        if (comment_inside || item->width >= DOC_NEVER || doc->width + item->width >= DOC_NEVER)
            doc->width = DOC_NEVER;
        else
            doc->width += item->width;
    }
    return doc;
}

const Doc *doc_pair(Ctx *ctx, const Doc *a, const Doc *b)
{
    Docs docs = docs_new(ctx);
    docs_add(&docs, a);
    docs_add(&docs, b);
    return doc_list(&docs);
}

static Doc *around(Ctx *ctx, DocKind kind, const Doc *a, const Doc *b)
{
    Doc *doc = NEW(ctx, Doc);
    *doc = *a;
    doc->kind = kind;
    doc->hangs = false;
    doc->one.a = a;
    doc->one.b = b;
    return doc;
}

const Doc *doc_nest(Ctx *ctx, const Doc *doc) { return around(ctx, DOC_NEST, doc, NULL); }
const Doc *doc_align(Ctx *ctx, const Doc *doc) { return around(ctx, DOC_ALIGN, doc, NULL); }
const Doc *doc_group(Ctx *ctx, const Doc *doc) { return around(ctx, DOC_GROUP, doc, NULL); }
const Doc *doc_flat(Ctx *ctx, const Doc *doc) { return around(ctx, DOC_FLAT, doc, NULL); }
const Doc *doc_either(Ctx *ctx, const Doc *a, const Doc *b)
{
    return around(ctx, DOC_EITHER, a, b);
}
const Doc *doc_short(Ctx *ctx, const Doc *a, const Doc *b) { return around(ctx, DOC_SHORT, a, b); }

static const Doc *marked(Ctx *ctx, const Doc *doc, bool hangs)
{
    Doc *mark = around(ctx, DOC_MARK, doc, NULL);
    mark->busy = true;
    mark->hangs = hangs;
    return mark;
}

const Doc *doc_busy(Ctx *ctx, const Doc *doc) { return marked(ctx, doc, false); }
const Doc *doc_hanging(Ctx *ctx, const Doc *doc) { return marked(ctx, doc, true); }

int doc_width(const Doc *doc) { return doc->width; }
bool doc_is_busy(const Doc *doc) { return doc->busy; }
bool doc_hangs(const Doc *doc) { return doc->hangs; }

/* ---- laying them out ----------------------------------------------------------------------- */

typedef struct Piece { /* something that is still to be laid out */
    const Doc *doc;
    int indent;
    bool flat;
} Piece;

typedef VEC(Piece) Pieces;

typedef struct Layout {
    StrBuf *out;
    int column; /* of what was written on this line, or of its indentation */
    int indent; /* of the line that begins with the next text; -1: it goes on */
    bool blank; /* before the next text */
    bool after_behind; /* a comment ends this line, whatever comes */
    Pieces todo; /* the next one last */
    Pieces trial, probe; /* when a choice is made */
} Layout;

static Ctx *ctx_of(const Layout *l) { return l->out->ctx; }

static int indent_of(int indent) { return indent < DEEPEST ? indent : DEEPEST; }

static void new_line(Layout *l, int indent)
{
    l->indent = indent_of(indent);
    l->column = l->indent;
    l->blank = false;
    l->after_behind = false;
}

static void write(Layout *l, const char *text, size_t n, int indent)
{
    if (l->after_behind)
        new_line(l, indent);
    if (l->indent >= 0 && l->out->len > 0)
        sb_putc(l->out, '\n');
    for (int i = 0; i < l->indent; i++)
        sb_putc(l->out, ' ');
    if (l->blank)
        sb_putc(l->out, ' ');
    l->column += l->blank + columns(text, n);
    l->indent = -1;
    l->blank = false;
    sb_putn(l->out, text, n);
}

static int column_of(const Layout *l) { return l->column + l->blank; }

/* What follows on the line, as far as the choice of lines reaches: `trial` from its end on, then
 * `todo` but its last `taken`. */
typedef struct Rest {
    int trial, taken;
} Rest;

static bool next_piece(Layout *l, Rest *rest, Piece *piece)
{
    if (rest->trial > 0)
        *piece = l->trial.at[--rest->trial];
    else if (rest->taken < l->todo.n)
        *piece = l->todo.at[l->todo.n - 1 - rest->taken++];
    else
        return false;
    return true;
}

static void push_parts(Ctx *ctx, Pieces *pieces, Piece piece)
{
    const Doc *d = piece.doc;
    if (d->kind != DOC_LIST)
        vec_push(ctx, pieces,
                 (Piece){d->one.a, piece.indent + (d->kind == DOC_NEST ? INDENT : 0),
                         piece.flat || d->kind == DOC_FLAT});
    else
        for (int i = d->list.n; i-- > 0;)
            vec_push(ctx, pieces, (Piece){d->list.at[i], piece.indent, piece.flat});
}

/* Whether what follows fits on the line from this column on, up to the first place where the line
 * may end. `first`: a document before it, that is broken; or NULL. */
static bool line_fits(Layout *l, int column, const Doc *first, Rest rest)
{
    l->probe.n = 0;
    if (first)
        vec_push(ctx_of(l), &l->probe, (Piece){first, 0, false});
    while (column <= DOC_COLUMNS) {
        Piece piece;
        if (l->probe.n)
            piece = l->probe.at[--l->probe.n];
        else if (!next_piece(l, &rest, &piece))
            return true;
        const Doc *d = piece.doc;
        bool whole = (piece.flat || d->kind == DOC_FLAT) && d->width < DOC_NEVER;
        if (whole || d->kind == DOC_TEXT)
            column += d->width;
        else if (piece.flat && first && d->width >= DOC_NEVER)
            return false;
        else if (d->kind == DOC_LINE || d->kind == DOC_CUT || d->kind == DOC_BEHIND ||
                 d->kind == DOC_ABOVE || (d->kind == DOC_FAR && column > FAR))
            return true;
        else if (d->kind != DOC_FAR)
            push_parts(ctx_of(l), &l->probe, piece);
        if (whole && d->behind)
            return column <= DOC_COLUMNS;
    }
    return false;
}

static bool group_fits(Layout *l, int column, const Doc *doc, Rest rest)
{
    if (doc->width >= DOC_NEVER || column + doc->width > DOC_COLUMNS)
        return false;
    return doc->behind || line_fits(l, column + doc->width, NULL, rest);
}

/* Whether all lines of a document that is broken fit, and what follows the last one. */
static bool all_fit(Layout *l, const Doc *doc, int indent)
{
    int column = column_of(l);
    l->trial.n = 0;
    vec_push(ctx_of(l), &l->trial, (Piece){doc, indent, false});
    while (l->trial.n) {
        Piece piece = l->trial.at[--l->trial.n];
        const Doc *d = piece.doc;
        bool whole = piece.flat || d->kind == DOC_FLAT ||
                     (d->kind == DOC_GROUP && group_fits(l, column, d, (Rest){l->trial.n, 0}));
        if (whole && d->width >= DOC_NEVER)
            return false;
        if (whole || d->kind == DOC_TEXT)
            column += d->width;
        if (column > DOC_COLUMNS)
            return false;
        if (d->kind == DOC_BEHIND || d->kind == DOC_ABOVE || (whole && d->behind))
            column = indent_of(piece.indent);
        else if (!whole && (d->kind == DOC_LINE || d->kind == DOC_CUT ||
                            (d->kind == DOC_FAR && column > FAR)))
            column = indent_of(piece.indent + (d->kind == DOC_FAR ? INDENT : 0));
        else if (!whole && d->kind != DOC_TEXT && d->kind != DOC_FAR)
            push_parts(ctx_of(l), &l->trial,
                       (Piece){d, d->kind == DOC_ALIGN ? column : piece.indent, false});
    }
    return line_fits(l, column, NULL, (Rest){0, 0});
}

static void push(Layout *l, const Doc *doc, int indent, bool flat)
{
    vec_push(ctx_of(l), &l->todo, (Piece){doc, indent, flat});
}

static void lay(Layout *l, Piece piece)
{
    const Doc *d = piece.doc;
    switch (d->kind) {
    case DOC_TEXT: write(l, d->text.at, d->text.n, piece.indent); break;
    case DOC_BEHIND:
        l->blank = true;
        write(l, d->text.at, d->text.n, piece.indent);
        l->after_behind = true;
        break;
    case DOC_ABOVE:
        if (l->indent < 0)
            new_line(l, piece.indent);
        int column = l->indent;
        write(l, d->text.at, d->text.n, piece.indent);
        new_line(l, column);
        break;
    case DOC_LINE:
    case DOC_CUT:
        if (!piece.flat || d->width == DOC_NEVER)
            new_line(l, piece.indent);
        else if (!l->after_behind && l->indent < 0)
            l->blank |= d->kind == DOC_LINE;
        break;
    case DOC_FAR:
        if (!piece.flat && column_of(l) > FAR)
            new_line(l, piece.indent + INDENT);
        break;
    case DOC_LIST:
        for (int i = d->list.n; i-- > 0;)
            push(l, d->list.at[i], piece.indent, piece.flat);
        break;
    case DOC_NEST: push(l, d->one.a, piece.indent + INDENT, piece.flat); break;
    case DOC_ALIGN:
        push(l, d->one.a, l->after_behind ? indent_of(piece.indent) : column_of(l), piece.flat);
        break;
    case DOC_GROUP:
        push(l, d->one.a, piece.indent, piece.flat || group_fits(l, column_of(l), d, (Rest){0, 0}));
        break;
    case DOC_FLAT: push(l, d->one.a, piece.indent, true); break;
    case DOC_EITHER:
        push(l,
             piece.flat || line_fits(l, column_of(l), d->one.a, (Rest){0, 0}) ? d->one.a : d->one.b,
             piece.indent, piece.flat);
        break;
    case DOC_SHORT:
        push(l, piece.flat || all_fit(l, d->one.a, piece.indent) ? d->one.a : d->one.b,
             piece.indent, piece.flat);
        break;
    case DOC_MARK: push(l, d->one.a, piece.indent, piece.flat); break;
    }
}

void doc_put(StrBuf *out, const Doc *doc)
{
    StrBuf text;
    sb_init(&text, out->ctx);
    Layout l = {.out = &text, .indent = 0};
    push(&l, doc, 0, false);
    while (l.todo.n)
        lay(&l, l.todo.at[--l.todo.n]);
    sb_putn(out, text.text, text.len);
    sb_putc(out, '\n');
}
