/* Edits that hints propose are tried before they are shown: on a copy of the text, in a context of their own. One after which the program has another
 * error than before is no mending: its hint then only explains. */
#include "driver/driver.h"
#include "driver/expect.h"

enum {
    MOST_BYTES = 128 * 1024, /* of text that is checked again, in all; edits that are not tried are not shown */
};

typedef enum Verdict {
    FAILS,
    CLEARS, /* the text is read now, and has a mistake that was hidden before */
    MENDS,
} Verdict;

typedef struct Trial {
    const Driver *driver;
    const char *path;   /* the program's */
    const char *name;   /* of the source that is edited */
    const char *text;   /* of that source, edited */
    FileAccess files;   /* for all others */
    const Ctx *outer;
    const Program *program;
    const Diag *diag;
    Verdict verdict;
} Trial;

static FileStatus read_edited(void *user, Ctx *ctx, const char *path, FileKind kind, size_t limit, char **bytes, size_t *size)
{
    const Trial *t = user;
    if (strcmp(path, t->name) != 0)
        return t->files.read(t->files.user, ctx, path, kind, limit, bytes, size);
    *size = strlen(t->text);
    *bytes = arena_alloc(&ctx->arena, *size + 1);
    memcpy(*bytes, t->text, *size + 1);
    return FILE_OK;
}

static bool same_error(const Diag *a, const Diag *b) { return a->code == b->code && strcmp(a->message, b->message) == 0; }

static int count_like(const Ctx *ctx, const Diag *diag)
{
    int n = 0;
    for (int i = 0; i < ctx->diags.list.n; i++)
        n += same_error(ctx->diags.list.at[i], diag);
    return n;
}

static bool said_in(const Ctx *ctx, const Program *program, int item, const Diag *diag)
{
    for (int i = 0; i < ctx->diags.list.n; i++)
        if (same_error(ctx->diags.list.at[i], diag) && driver_item_at(program, ctx->diags.list.at[i]->span) == item)
            return true;
    return false;
}

static bool is_of_grammar(const Diag *diag) { return !diag->warning && diag_name_is_of_grammar(diag_code_name(diag->code)); }

/* Whether the error is gone from its item, and which others are there. */
static Verdict judge(const Ctx *after, const Program *edited, const Ctx *before, const Program *program, const Diag *mended)
{
    int item = driver_item_at(program, mended->span);
    /* An import that is put before all others moves them. */
    bool moved = edited && program && program_ast(edited) && program_ast(edited)->items.n != program_ast(program)->items.n;
    if (after->diags.dropped || count_like(after, mended) >= count_like(before, mended) || (!moved && item >= 0 && said_in(after, edited, item, mended)))
        return FAILS;
    /* Types that still do not agree there: it may be the other side that is wrong. */
    for (int i = 0; i < after->diags.list.n && mended->code == E0318; i++)
        if (after->diags.list.at[i]->code == E0312 && item >= 0 && driver_item_at(edited, after->diags.list.at[i]->span) == item)
            return FAILS;
    Verdict verdict = MENDS;
    for (int i = 0; i < after->diags.list.n; i++) {
        const Diag *diag = after->diags.list.at[i];
        if (diag->warning || count_like(after, diag) <= count_like(before, diag))
            continue;
        if (!is_of_grammar(mended) || is_of_grammar(diag))
            return FAILS;
        verdict = CLEARS;
    }
    return verdict;
}

/* The entry in which all edits of a hint lie, as the number of its item from 1; 0: there are others, which may change more than one entry. */
static int entry_of_edits(const Program *program, const Diag *diag)
{
    int item = driver_item_at(program, diag->edits.at[0].span);
    for (int i = 1; i < diag->edits.n; i++)
        if (driver_item_at(program, diag->edits.at[i].span) != item)
            return 0;
    return item >= 0 && program_ast(program)->items.at[item]->kind == ITEM_ENTRY ? item + 1 : 0;
}

static void run_trial(Ctx *ctx, void *user)
{
    Trial *t = user;
    Driver copy = {.line = t->driver->line,
                   .only_entry = t->driver->only_entry,
                   .only_item = entry_of_edits(t->program, t->diag)};
    Program *program;
    bool checked = driver_check(ctx, &copy, t->path, &program, NULL);
    if (!checked && !program_ast(program))
        return;
    if (checked && ctx->diags.errors == 0)
        expect_check_sizes(ctx, &copy, program);
    t->verdict = judge(ctx, program, t->outer, t->program, t->diag);
}

/* The source with the edits of one hint; NULL where they overlap, or lie in several files. */
static const char *edited(Ctx *ctx, const Source *source, const Diag *diag)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    uint32_t at = 0;
    for (int done = 0; done < diag->edits.n; done++) {
        const DiagEdit *next = NULL;
        for (int i = 0; i < diag->edits.n; i++) {
            const DiagEdit *edit = &diag->edits.at[i];
            if (edit->span.file != diag->edits.at[0].span.file)
                return NULL;
            bool later = edit->span.lo > at || (edit->span.lo == at && done == 0);
            if (later && (!next || edit->span.lo < next->span.lo))
                next = edit;
        }
        if (!next || next->span.lo < at || next->span.hi < next->span.lo || next->span.hi > source->size)
            return NULL;
        sb_putn(&sb, source->text + at, next->span.lo - at);
        sb_puts(&sb, next->text);
        at = next->span.hi;
    }
    sb_putn(&sb, source->text + at, source->size - at);
    return sb.text;
}

static Verdict verdict_of(Ctx *ctx, Driver *d, const char *path, const Program *program, const Diag *diag, size_t *room)
{
    const Source *source = source_get(ctx, diag->edits.at[0].span.file);
    if (ctx->diags.dropped || source->size > *room)
        return FAILS;
    *room -= source->size;
    const char *text = edited(ctx, source, diag);
    if (!text)
        return FAILS;
    Trial t = {.driver = d, .path = path, .name = source->name, .text = text, .files = ctx->files, .outer = ctx, .program = program, .diag = diag};
    FileAccess files = {&t, read_edited, ctx->files.write};
    Ctx *inner = ctx_new(&ctx->alloc, &files);
    if (!inner)
        return FAILS;
    inner->brake = ctx->brake;
    bool enough = ctx_try(inner, run_trial, &t);
    ctx_free(inner);
    return enough ? t.verdict : FAILS;
}

static void add_edit(Ctx *ctx, Diag *diag, DiagEdit edit)
{
    for (int i = 0; i < diag->edits.n; i++) {
        Span have = diag->edits.at[i].span;
        if (have.file == edit.span.file && have.lo == edit.span.lo && have.hi == edit.span.hi)
            return;
    }
    vec_push(ctx, &diag->edits, edit);
}

/* The same mistake several times in an item is mended in all places at once. attempt: the number of the hint among those that come first, or -1. */
static void gather(Ctx *ctx, const Program *program, int from, Diag *diag, int attempt)
{
    int item = driver_item_at(program, diag->span);
    for (int i = from; i < ctx->diags.list.n; i++) {
        const Diag *other = ctx->diags.list.at[i];
        if (other == diag || item < 0 || !same_error(other, diag) || driver_item_at(program, other->span) != item)
            continue;
        const DiagEdit *edits = attempt < 0 ? other->edits.at : attempt < other->tries.n ? other->tries.at[attempt].edits.at : NULL;
        int n = attempt < 0 ? other->edits.n : attempt < other->tries.n ? other->tries.at[attempt].edits.n : 0;
        for (int k = 0; k < n; k++)
            add_edit(ctx, diag, edits[k]);
    }
}

static bool same_place(Span a, Span b) { return a.file == b.file && a.lo == b.lo && a.hi == b.hi; }

/* Have both hints that mend, and is that the same one? */
static bool same_hint(const Diag *a, const Diag *b)
{
    bool same = a->edits.n > 0 && a->edits.n == b->edits.n;
    for (int i = 0; i < a->edits.n && same; i++)
        same = same_place(a->edits.at[i].span, b->edits.at[i].span) && strcmp(a->edits.at[i].text, b->edits.at[i].text) == 0;
    return same;
}

/* What is said word for word again of an item, or is mended by the same edits, becomes notes of the first. */
static void merge_same(Ctx *ctx, const Program *program, int from)
{
    Diags *diags = &ctx->diags;
    for (int i = from; i < diags->list.n; i++) {
        Diag *first = diags->list.at[i];
        int item = driver_item_at(program, first->span), kept = i + 1;
        for (int k = i + 1; k < diags->list.n; k++) {
            Diag *other = diags->list.at[k];
            bool again = same_error(other, first), one = item >= 0 && !first->warning && !other->warning && driver_item_at(program, other->span) == item;
            if (one && (again || same_hint(other, first))) {
                diag_note(ctx, first, other->span, "%s", again ? "and here" : ctx_printf(ctx, "and here: %s", other->message));
                diags->errors--;
            } else {
                diags->list.at[kept++] = other;
            }
        }
        diags->list.n = kept;
    }
}

/* An item with an error may yet use what nothing uses so far. */
static void drop_unused(Ctx *ctx, const Program *program, int from)
{
    Diags *diags = &ctx->diags;
    int kept = from;
    for (int i = from; i < diags->list.n; i++) {
        Diag *diag = diags->list.at[i];
        bool wrong = false;
        for (int k = from; k < diags->list.n && diag->code == W0709 && !wrong; k++)
            wrong = !diags->list.at[k]->warning && driver_item_at(program, diags->list.at[k]->span) == driver_item_at(program, diag->span);
        if (wrong)
            diags->warnings--;
        else
            diags->list.at[kept++] = diag;
    }
    diags->list.n = kept;
}

/* Another error proposes another text for the same place of the item: neither alone mends it, and one mistake may be behind both. */
static bool is_contested(const Ctx *ctx, const Program *program, int from, const Diag *diag)
{
    int item = driver_item_at(program, diag->span);
    for (int i = from; i < ctx->diags.list.n; i++) {
        const Diag *other = ctx->diags.list.at[i];
        for (int a = 0; other != diag && a < other->edits.n; a++)
            for (int b = 0; b < diag->edits.n; b++)
                if (item >= 0 && driver_item_at(program, diag->edits.at[b].span) == item && same_place(other->edits.at[a].span, diag->edits.at[b].span) &&
                    strcmp(other->edits.at[a].text, diag->edits.at[b].text) != 0)
                    return true;
    }
    return false;
}

/* The first of the hints that are given only if they mend; where none does, *clears is the first that clears. */
static bool take_try(Ctx *ctx, Driver *d, const char *path, const Program *program, int from, Diag *diag, size_t *room, const DiagTry **clears)
{
    const Diag own = *diag;
    for (int k = 0; k < own.tries.n; k++) {
        const DiagTry *attempt = &own.tries.at[k];
        diag->help = attempt->help;
        memset(&diag->edits, 0, sizeof diag->edits);
        for (int i = 0; i < attempt->edits.n; i++)
            add_edit(ctx, diag, attempt->edits.at[i]);
        gather(ctx, program, from, diag, k);
        Verdict verdict = verdict_of(ctx, d, path, program, diag, room);
        if (verdict == MENDS) {
            diag->tries.n = 0;
            return true;
        }
        if (verdict == CLEARS && !*clears)
            *clears = attempt;
    }
    diag->help = own.help;
    diag->edits = own.edits;
    diag->tries.n = 0;
    return false;
}

/* The hint that is given of those of a message, and its edits if they mend what it is about. */
static void choose_hint(Ctx *ctx, Driver *d, const char *path, const Program *program, int from, Diag *diag, bool contested, size_t *room)
{
    const DiagTry *clears = NULL;
    if (take_try(ctx, d, path, program, from, diag, room, &clears))
        return;
    bool explains = diag->edits.n == 0;
    if (!explains)
        gather(ctx, program, from, diag, -1);
    Verdict verdict = explains || contested ? FAILS : verdict_of(ctx, d, path, program, diag, room);
    if (verdict == MENDS)
        return;
    diag->edits.n = 0;
    if (clears)
        diag->help = clears->help;
    else if (!explains && verdict == FAILS && diag->help)
        diag->help = ctx_printf(ctx, "%s (this alone does not mend it)", diag->help);
}

void driver_try_hints(Ctx *ctx, Driver *d, const char *path, const Program *program, int from)
{
    size_t room = MOST_BYTES;
    bool *contested = NEWN(ctx, bool, ctx->diags.list.n + 1);
    for (int i = from; i < ctx->diags.list.n; i++)
        contested[i] = is_contested(ctx, program, from, ctx->diags.list.at[i]);
    for (int i = from; i < ctx->diags.list.n; i++)
        choose_hint(ctx, d, path, program, from, ctx->diags.list.at[i], contested[i], &room);
    if (program_ast(program)) {
        merge_same(ctx, program, from);
        drop_unused(ctx, program, from);
    }
}
