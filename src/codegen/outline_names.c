/* What a function of the text is called: as the definition of the library, or of the program, that
 * its statements come from. Those of several definitions are called after the one that ends them,
 * which mostly uses the others. Where all that they compute stands in one operator, or in another
 * definition that the library calls, they are called after that. What no definition has written, but the entry itself or a rule, is
 * called after the work that it does. */
#include "codegen/outline.h"
#include "codegen/walk.h"
#include "frontend/elab.h"

static bool is_used(const Outline *o, const ImpFunction *function, const char *name)
{
    for (int i = 0; i < o->program->functions.n; i++) {
        const ImpFunction *other = o->program->functions.at[i];
        if (other != function && other->name && !strcmp(other->name, name))
            return true;
    }
    return false;
}

static const Item *item_around(const CoreEntry *entry, const ImpStmt *s)
{
    const Item *item = s->span.file ? program_item_around(entry->program, s->span) : NULL;
    return item && item->kind == ITEM_DEF ? item : NULL;
}

/* What the statements compute with registers alone, and where it is written. */
typedef struct Computes {
    const CoreEntry *entry;
    const Item *item; /* that all of it is in; NULL: nothing is computed */
    bool other;       /* it is in several ones, or more than that is done */
} Computes;

static void note_expr(void *user, ImpExpr **at)
{
    Computes *c = user;
    const ImpExpr *e = *at;
    c->other |= e->kind == IE_LOAD || e->kind == IE_SHFL;
    if (e->kind != IE_OP)
        return;
    const Item *item = e->span.file ? program_item_around(c->entry->program, e->span) : NULL;
    c->other |= !item || (c->item && c->item != item);
    c->item = item;
}

static void note_stmt(void *user, ImpStmt *s)
{
    Computes *c = user;
    const bool plain = s->kind == IS_DECL || s->kind == IS_SET || s->kind == IS_IF || s->kind == IS_NOTE;
    c->other |= !plain;
    walk_own(s, note_expr, c);
}

/* The operator, or the definition, that the function is; NULL: it is more than one, or less. */
static const Item *item_computed(const CoreEntry *entry, ImpFunction *function)
{
    Computes c = {.entry = entry};
    walk_stmts(&function->body, note_stmt, &c);
    bool named = c.item && (c.item->kind == ITEM_DEF || c.item->kind == ITEM_OPERATOR);
    return named && !c.other ? c.item : NULL;
}

/* The last definition whose name is not taken; else the last one. NULL: there is none. */
static const Item *item_of(const Outline *o, const ImpFunction *function, const CoreEntry *entry)
{
    const Item *last = NULL;
    for (int i = function->body.list.n - 1; i >= 0; i--) {
        const Item *item = item_around(entry, function->body.list.at[i]);
        if (item && !is_used(o, function, item->name))
            return item;
        last = last ? last : item;
    }
    return last;
}

typedef struct Does {
    bool exchanges, stores, loops;
} Does;

static void look_at_expr(void *user, ImpExpr **at)
{
    ((Does *)user)->exchanges |= (*at)->kind == IE_SHFL;
}

static void look_at(void *user, ImpStmt *s)
{
    Does *d = user;
    walk_own(s, look_at_expr, d);
    d->exchanges |= s->kind == IS_SYNC;
    d->stores |= s->kind == IS_STORE || s->kind == IS_VSTORE;
    d->loops |= s->kind == IS_FOR;
}

static const char *name_of_work(ImpFunction *function)
{
    Does d = {.exchanges = false};
    walk_stmts(&function->body, look_at, &d);
    return d.exchanges ? "combine" : d.stores ? "store" : d.loops ? "fold" : "step";
}

/* Of the first statement that is something. */
static Span span_of_work(const ImpFunction *function)
{
    const ImpBlock *body = &function->body;
    int i = 0;
    while (i < body->list.n - 1 && form_is_nothing(body->list.at[i]))
        i++;
    return body->list.at[i]->span;
}

void outline_name(Outline *o, ImpFunction *function)
{
    const CoreEntry *entry = function->kernel->entry;
    const bool written = entry && entry->program;
    const Item *item = written ? item_computed(entry, function) : NULL;
    if (written && !item)
        item = item_of(o, function, entry);
    const char *work = name_of_work(function);
    function->span = item ? item->name_span : span_of_work(function);
    if (!item)
        function->name = work;
    else if (is_used(o, function, item->name))
        function->name = ctx_printf(o->ctx, "%s_%s", item->name, work);
    else
        function->name = item->name;
}
