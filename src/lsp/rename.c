/* Another name for what the user has named. The change is tried before it is proposed: all that
 * meant it has to mean it afterwards, and nothing else. */
#include "lsp/request.h"

static const NameNote *renamable(Request *r)
{
    const NameNote *note = name_note_at(&r->analysis->names, r->analysis->file, r->at);
    if (!note)
        request_fail(r, REQUEST_FAILED, "there is no name here");
    else if (!note->bound.file)
        request_fail(r, REQUEST_FAILED,
                     ctx_printf(r->ctx, "`%s` is part of the language", note->name));
    else if (!span_is_users(r->analysis->ctx, note->bound))
        request_fail(r, REQUEST_FAILED,
                     ctx_printf(r->ctx, "`%s` is a name of the library", note->name));
    return r->error ? NULL : note;
}

void feature_prepare_rename(Request *r)
{
    const NameNote *note = renamable(r);
    if (!note)
        return;
    sb_puts(&r->out, "{\"range\":");
    put_range(&r->out, &r->analysis->lines, note->at.lo, note->at.hi);
    sb_puts(&r->out, ",\"placeholder\":");
    sb_put_json(&r->out, note->name);
    sb_puts(&r->out, "}");
}

typedef struct Use {
    const char *path; /* of its file */
    const Analysis *analysis;
    Span at;
} Use;

typedef struct Renaming {
    Request *r;
    const char *name;       /* the new one */
    VEC(Use) uses;          /* in order of files and places */
    VEC(TextInstead) texts; /* as they are afterwards */
} Renaming;

static bool is_before(const Use *a, const Use *b)
{
    int order = strcmp(a->path, b->path);
    return order < 0 || (order == 0 && a->at.lo < b->at.lo);
}

static void add_use(void *user, const Analysis *a, const NameNote *note)
{
    Renaming *renaming = user;
    Use use = {source_get(a->ctx, note->at.file)->name, a, note->at};
    vec_push(renaming->r->ctx, &renaming->uses, use);
    int i = renaming->uses.n - 1;
    for (; i > 0 && is_before(&use, &renaming->uses.at[i - 1]); i--)
        renaming->uses.at[i] = renaming->uses.at[i - 1];
    renaming->uses.at[i] = use;
}

static bool is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_",
                      digits[] = "0123456789";
    if (!text[0] || !strchr(letters, text[0]) || strcmp(text, "_") == 0)
        return false;
    for (const char *at = text; *at; at++)
        if (!strchr(letters, *at) && !strchr(digits, *at))
            return false;
    return true;
}

/* The uses from i on that are in one file. */
static int end_of_file(const Renaming *renaming, int i)
{
    int k = i;
    while (k < renaming->uses.n &&
           strcmp(renaming->uses.at[k].path, renaming->uses.at[i].path) == 0)
        k++;
    return k;
}

static void make_texts(Renaming *renaming)
{
    Ctx *ctx = renaming->r->ctx;
    for (int i = 0, end; i < renaming->uses.n; i = end) {
        const Use *first = &renaming->uses.at[i];
        const Source *source = source_get(first->analysis->ctx, first->at.file);
        StrBuf text;
        sb_init(&text, ctx);
        uint32_t done = 0;
        end = end_of_file(renaming, i);
        for (int k = i; k < end; k++) {
            sb_putn(&text, source->text + done, renaming->uses.at[k].at.lo - done);
            sb_puts(&text, renaming->name);
            done = renaming->uses.at[k].at.hi;
        }
        sb_putn(&text, source->text + done, source->size - done);
        vec_push(ctx, &renaming->texts, ((TextInstead){first->path, text.text, text.len}));
    }
}

/* Where a use is afterwards. */
static uint32_t moved(const Renaming *renaming, int i)
{
    const Use *use = &renaming->uses.at[i];
    int before = 0;
    while (before < i && strcmp(renaming->uses.at[i - before - 1].path, use->path) == 0)
        before++;
    return (uint32_t)(use->at.lo +
                      before * ((int64_t)strlen(renaming->name) - (use->at.hi - use->at.lo)));
}

static const NameNote *note_in(const Analysis *a, const char *path, uint32_t lo)
{
    for (int i = 0; i < a->names.list.n; i++) {
        const NameNote *note = &a->names.list.at[i];
        const Source *source = source_get(a->ctx, note->at.file);
        if (note->at.lo == lo && source && strcmp(source->name, path) == 0)
            return note;
    }
    return NULL;
}

static bool is_bound_at(const Analysis *a, const NameNote *note, const char *path, uint32_t bound)
{
    const Source *source = source_get(a->ctx, note->bound.file);
    return source && span_is_users(a->ctx, note->at) && note->bound.lo == bound &&
           strcmp(source->name, path) == 0;
}

/* A type that two parameters share is walked twice. */
static bool is_first_note(const Analysis *a, int i)
{
    for (int k = 0; k < i; k++)
        if (a->names.list.at[k].at.file == a->names.list.at[i].at.file &&
            a->names.list.at[k].at.lo == a->names.list.at[i].at.lo)
            return false;
    return true;
}

/* In one program: each use in it is bound where it was, and nothing else is bound there. */
static bool means_the_same(const Renaming *renaming, const Analysis *before, const Analysis *after,
                           const NameNote *old)
{
    const char *path = source_get(before->ctx, old->bound.file)->name;
    uint32_t bound = 0;
    int n = 0, seen = 0;
    for (int i = 0; i < renaming->uses.n; i++)
        if (strcmp(renaming->uses.at[i].path, path) == 0 &&
            renaming->uses.at[i].at.lo == old->bound.lo)
            bound = moved(renaming, i);
    for (int i = 0; i < renaming->uses.n; i++) {
        const NameNote *now = note_in(after, renaming->uses.at[i].path, moved(renaming, i));
        if (!note_in(before, renaming->uses.at[i].path, renaming->uses.at[i].at.lo))
            continue;
        n++;
        if (!now || now->bound.lo != bound ||
            strcmp(source_get(after->ctx, now->bound.file)->name, path) != 0)
            return false;
    }
    for (int i = 0; i < after->names.list.n; i++)
        seen += is_bound_at(after, &after->names.list.at[i], path, bound) &&
                is_first_note(after, i);
    return seen == n;
}

static bool is_sound(Renaming *renaming, const NameNote *old)
{
    Request *r = renaming->r;
    make_texts(renaming);
    for (Document *doc = r->workspace->documents.first; doc; doc = doc->next) {
        const Analysis *before = analysis_of(r->workspace, doc);
        Analysis *after = before && before->ast
                              ? analysis_instead(r->workspace, doc->path, renaming->texts.n,
                                                 renaming->texts.at)
                              : NULL;
        bool good = after && after->ctx->diags.errors <= before->ctx->diags.errors;
        if (good && doc == r->doc)
            good = means_the_same(renaming, before, after, old);
        analysis_free(after);
        if (before && before->ast && !good)
            return false;
    }
    return true;
}

static void put_edits(Renaming *renaming)
{
    Request *r = renaming->r;
    sb_puts(&r->out, "{\"changes\":{");
    for (int i = 0, end; i < renaming->uses.n; i = end) {
        const Use *first = &renaming->uses.at[i];
        Lines lines = analysis_lines(r->ctx, first->analysis, first->at.file);
        sb_puts(&r->out, i ? "," : "");
        sb_put_json(&r->out, file_uri(r, first->analysis, first->at.file));
        sb_puts(&r->out, ":[");
        end = end_of_file(renaming, i);
        for (int k = i; k < end; k++) {
            sb_puts(&r->out, k > i ? ",{\"range\":" : "{\"range\":");
            put_range(&r->out, &lines, renaming->uses.at[k].at.lo, renaming->uses.at[k].at.hi);
            sb_puts(&r->out, ",\"newText\":");
            sb_put_json(&r->out, renaming->name);
            sb_puts(&r->out, "}");
        }
        sb_puts(&r->out, "]");
    }
    sb_puts(&r->out, "}}");
}

void feature_rename(Request *r)
{
    const NameNote *note = renamable(r);
    const char *name = json_text_of(r->params, "newName");
    if (!note)
        return;
    if (!name || !is_name(name)) {
        request_fail(r, REQUEST_BAD_PARAMS,
                     "a name is made of letters, digits and `_`, and begins with a letter");
        return;
    }
    Renaming renaming = {.r = r, .name = name};
    each_use(r, note, add_use, &renaming);
    if (is_sound(&renaming, note))
        put_edits(&renaming);
    else
        request_fail(
            r, REQUEST_FAILED,
            ctx_printf(r->ctx,
                       "`%s` means something else here already, or is a word of the language",
                       name));
}
