#include "lsp/analysis.h"

#include <stdlib.h>

#include "support/table.h"

/* ---- files ------------------------------------------------------------------------------- */

static FileStatus give_text(Ctx *ctx, const char *text, size_t size, size_t limit, char **bytes,
                            size_t *got)
{
    if (size > limit)
        return FILE_TOO_LARGE;
    char *copy = ctx_alloc(ctx, size + 1);
    memcpy(copy, text, size);
    *bytes = copy;
    *got = size;
    return FILE_OK;
}

static FileStatus read_open(void *user, Ctx *ctx, const char *path, FileKind kind, size_t limit,
                            char **bytes, size_t *size)
{
    Workspace *w = user;
    for (int i = 0; i < w->n_instead; i++)
        if (strcmp(w->instead[i].path, path) == 0)
            return give_text(ctx, w->instead[i].text, w->instead[i].size, limit, bytes, size);
    const Document *doc = documents_at_path(&w->documents, path);
    if (doc)
        return give_text(ctx, doc->text, doc->size, limit, bytes, size);
    /* Standard input is the editor's, whatever a program names. */
    if (strcmp(path, "-") == 0)
        return FILE_UNFIT;
    return w->below.read(w->below.user, ctx, path, kind, limit, bytes, size);
}

static FileStatus write_nothing(void *user, const char *path, const void *bytes, size_t size)
{
    (void)user;
    (void)path;
    (void)bytes;
    (void)size;
    return FILE_UNWRITABLE;
}

FileAccess workspace_files(Workspace *workspace)
{
    return (FileAccess){workspace, read_open, write_nothing};
}

/* ---- programs ---------------------------------------------------------------------------- */

typedef struct Making {
    Analysis *analysis;
    const char *path;
} Making;

static void make(Ctx *ctx, void *user)
{
    Making *making = user;
    Analysis *a = making->analysis;
    a->program = program_load_noting(ctx, making->path, &a->names);
    program_warn_names(ctx, a->program);
    a->ast = program_ast(a->program);
    a->lines = lines_of(ctx, "", 0, false);
    if (!a->ast)
        return;
    a->file = a->ast->file;
    const Source *source = source_get(ctx, a->file);
    a->lines = lines_of(ctx, source->text, source->size, false);
    a->values = NEWN(ctx, ItemValues, a->ast->items.n + 1);
    a->n_values = a->ast->items.n; /* last: it may be given up before */
}

static Analysis *analysis_new(Workspace *workspace, const char *path)
{
    Analysis *a = calloc(1, sizeof *a);
    FileAccess files = workspace_files(workspace);
    if (a)
        a->ctx = ctx_new(NULL, &files);
    if (!a || !a->ctx) {
        free(a);
        return NULL;
    }
    a->ctx->brake = workspace->brake;
    Making making = {a, path};
    if (!ctx_try(a->ctx, make, &making)) {
        analysis_free(a);
        return NULL;
    }
    return a;
}

Analysis *analysis_instead(Workspace *workspace, const char *path, int n,
                           const TextInstead *instead)
{
    workspace->n_instead = n;
    workspace->instead = instead;
    Analysis *a = analysis_new(workspace, path);
    workspace->n_instead = 0;
    return a;
}

Analysis *analysis_of(Workspace *workspace, Document *doc)
{
    if (!doc->analysis)
        doc->analysis = analysis_new(workspace, doc->path);
    return doc->analysis;
}

void analysis_free(Analysis *a)
{
    if (!a)
        return;
    for (int i = 0; i < a->n_values; i++)
        ctx_free(a->values[i].ctx);
    ctx_free(a->ctx);
    free(a);
}

/* ---- items ------------------------------------------------------------------------------- */

const Item *analysis_item_at(const Analysis *a, uint32_t at)
{
    for (int i = a->ast ? a->ast->items.n - 1 : -1; i >= 0; i--) {
        const Item *item = a->ast->items.at[i];
        if (item->span.lo <= at)
            return at <= item->span.hi ? item : NULL;
    }
    return NULL;
}

int analysis_entry(const Analysis *a, const Item *item)
{
    for (int k = 0; k < program_entry_count(a->program); k++)
        if (program_entry_item(a->program, k) == item)
            return k;
    return -1;
}

int analysis_operator(const Analysis *a, const Item *item)
{
    for (int k = 0; k < program_operator_count(a->program); k++)
        if (program_operator_item(a->program, k) == item)
            return k;
    return -1;
}

/* The notes of an item follow each other. */
static Table first_notes(Ctx *ctx, const Analysis *a)
{
    Table first = {0};
    for (int i = 0; i < a->names.list.n; i++) {
        NameNote *note = &a->names.list.at[i];
        if (note->user && (i == 0 || note[-1].user != note->user))
            table_put(ctx, &first, note->user, note);
    }
    return first;
}

static void each_used(Ctx *ctx, const Analysis *a, const Table *first, const Item *item,
                      void (*work)(void *user, const Item *used), void *user)
{
    VEC(const Item *) list = {0};
    Table seen = {0};
    vec_push(ctx, &list, item);
    table_put(ctx, &seen, item, a->program);
    const NameNote *end = a->names.list.at + a->names.list.n;
    for (int i = 0; i < list.n; i++) {
        const Item *at = list.at[i];
        work(user, at);
        for (const NameNote *note = table_get(first, at); note && note < end && note->user == at;
             note++) {
            if (!note->item || table_get(&seen, note->item) ||
                !span_is_users(a->ctx, note->item->span))
                continue;
            table_put(ctx, &seen, note->item, a->program);
            vec_push(ctx, &list, note->item);
        }
    }
}

void analysis_each_used(Ctx *ctx, const Analysis *a, const Item *item,
                        void (*work)(void *user, const Item *used), void *user)
{
    const Table first = first_notes(ctx, a);
    each_used(ctx, a, &first, item, work, user);
}

typedef struct Seeking {
    const Item *wanted;
    bool found;
} Seeking;

static void is_wanted(void *user, const Item *used)
{
    Seeking *seeking = user;
    seeking->found |= used == seeking->wanted;
}

/* The entry or operator whose elaboration says most of the item. */
static const Item *elaborated_for(Ctx *ctx, const Analysis *a, const Item *item)
{
    if (analysis_entry(a, item) >= 0 || analysis_operator(a, item) >= 0)
        return item;
    const Table first = first_notes(ctx, a);
    for (int i = 0; i < a->ast->items.n; i++) {
        const Item *user = a->ast->items.at[i];
        Seeking seeking = {item, false};
        if (user->kind == ITEM_ENTRY)
            each_used(ctx, a, &first, user, is_wanted, &seeking);
        if (seeking.found)
            return user;
    }
    return NULL;
}

typedef struct Elaborating {
    const Analysis *analysis;
    const Item *item;
    ItemValues *values;
} Elaborating;

static void elaborate(Ctx *ctx, void *user)
{
    Elaborating *e = user;
    Program *program = program_inside(ctx, e->analysis->program);
    int entry = analysis_entry(e->analysis, e->item);
    if (entry >= 0)
        e->values->notes = elab_entry_noting(ctx, program, entry, e->analysis->file,
                                             &(CoreEntry *){NULL});
    else
        e->values->notes = elab_operator_noting(
            ctx, program, analysis_operator(e->analysis, e->item), e->analysis->file);
}

typedef struct Choosing {
    const Analysis *analysis;
    const Item *item, *chosen;
} Choosing;

static void choose(Ctx *ctx, void *user)
{
    Choosing *c = user;
    c->chosen = elaborated_for(ctx, c->analysis, c->item);
}

ValueNotes *analysis_values(Analysis *a, const Item *item)
{
    Choosing choosing = {a, item, NULL};
    Ctx *scratch = ctx_new_inside(a->ctx, NULL, NULL);
    bool enough = scratch && ctx_try(scratch, choose, &choosing);
    ctx_free(scratch);
    ItemValues *values = NULL;
    for (int i = 0; enough && choosing.chosen && i < a->n_values; i++)
        if (a->ast->items.at[i] == choosing.chosen)
            values = &a->values[i];
    if (!values || values->ctx)
        return values ? values->notes : NULL;
    Elaborating e = {a, choosing.chosen, values};
    Ctx *part = ctx_new_inside(a->ctx, NULL, NULL);
    if (!part || !ctx_try(part, elaborate, &e)) {
        ctx_free(part);
        values->notes = NULL;
        return NULL;
    }
    values->ctx = part;
    return values->notes;
}

Lines analysis_lines(Ctx *ctx, const Analysis *a, uint32_t file)
{
    const Source *source = source_get(a->ctx, file);
    if (file == a->file)
        return a->lines;
    return lines_of(ctx, source->text, source->size, true);
}
