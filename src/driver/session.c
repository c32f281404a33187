#include "driver/session.h"

#include <string.h>

void session_free(Session *session)
{
    ctx_free(session->ctx);
    *session = (Session){0};
}

static bool same_item(const SessionItem *a, const SessionItem *b)
{
    return a->name && b->name ? strcmp(a->name, b->name) == 0 : !a->name && !b->name && strcmp(a->typed.text, b->typed.text) == 0;
}

typedef struct Adding {
    Session next;
    const Session *old;
    const SessionItem *item;
} Adding;

static void add_copy(Ctx *ctx, Session *session, const SessionItem *item)
{
    SessionItem copy = *item;
    copy.name = item->name ? intern_z(ctx, item->name) : NULL;
    copy.typed.text = ctx_printf(ctx, "%s", item->typed.text);
    vec_push(ctx, &session->items, copy);
}

static void add(Ctx *ctx, void *user)
{
    Adding *adding = user;
    for (int i = 0; i < adding->old->items.n; i++)
        if (!same_item(&adding->old->items.at[i], adding->item))
            add_copy(ctx, &adding->next, &adding->old->items.at[i]);
    add_copy(ctx, &adding->next, adding->item);
}

/* In a new context each time, as a context forgets nothing. */
void session_add(Ctx *ctx, Session *session, const SessionItem *item)
{
    Adding adding = {.next.ctx = ctx_new(&ctx->alloc, &ctx->files), .old = session, .item = item};
    if (!adding.next.ctx || !ctx_try(adding.next.ctx, add, &adding)) {
        ctx_free(adding.next.ctx);
        ctx_out_of_memory(ctx);
    }
    session_free(session);
    *session = adding.next;
}

const SessionItem *session_find(const Session *session, const char *name)
{
    for (int i = 0; i < session->items.n; i++)
        if (session->items.at[i].name && strcmp(session->items.at[i].name, name) == 0)
            return &session->items.at[i];
    return NULL;
}

const SessionItem *session_last(const Session *session)
{
    for (int i = session->items.n; i-- > 0;)
        if (session->items.at[i].callable)
            return &session->items.at[i];
    return NULL;
}

uint32_t session_source(Ctx *ctx, const Typed *typed)
{
    uint32_t file = source_add_part(ctx, SESSION_FILE, typed->text, strlen(typed->text), typed->line);
    ctx->sources.list.at[file - 1].added = typed->added;
    return file;
}

const AstFile *session_parse(Ctx *ctx, const Typed *typed) { return parse_file(ctx, session_source(ctx, typed)); }

/* Whether one of the texts has an item in the place of this one. */
static bool is_replaced(int n, const AstFile *const *more, const SessionItem *item)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < more[i]->items.n; k++) {
            const char *name = more[i]->items.at[k]->name;
            if (item->name && name && strcmp(name, item->name) == 0)
                return true;
        }
    return false;
}

Program *session_program(Ctx *ctx, const Session *session, int n, const Typed *more, const char *entry)
{
    const AstFile **files = NEWN(ctx, const AstFile *, n + 1);
    VEC(uint32_t) sources = {0};
    const Diags said = ctx->diags;
    ctx->diags = (Diags){0};
    for (int i = 0; i < n; i++)
        files[i] = session_parse(ctx, &more[i]);
    ctx->diags = said;
    for (int i = 0; i < session->items.n; i++)
        if (!is_replaced(n, files, &session->items.at[i]))
            vec_push(ctx, &sources, session_source(ctx, &session->items.at[i].typed));
    for (int i = 0; i < n; i++)
        vec_push(ctx, &sources, files[i]->file);
    return program_from_parts(ctx, SESSION_FILE, sources.n, sources.at, entry);
}
