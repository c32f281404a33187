/* Marks what contraction.c finds, and what stands in several places.
 *
 * Where views are substituted, one `generate` becomes several: those that are the same are the same value, so that what they end with is marked in each.
 * Strategies change them, so that these are marked before, too; a library function that is marked hands it on to its sums. */
#include "codegen/contraction.h"
#include "ir/key.h"

typedef VEC(const Core *) Terms;

/* ---- views that stand in several places ------------------------------------------------------------------------------------- */

static void find_open(Ctx *ctx, const Core *e, Terms *open, Terms *views)
{
    Core *own[3], *const *at;
    int n = contraction_parts(e, own, &at), before = open->n;
    if (contraction_ends_open(e))
        vec_push(ctx, open, e);
    for (int i = 0; i < n; i++)
        find_open(ctx, at[i], open, views);
    if (views && e->kind == CORE_PRIM && e->prim.id == P_generate && open->n > before)
        vec_push(ctx, views, e);
}

/* True when some operation is of those that may be joined, or ends with one. */
static bool find_copies(Ctx *ctx, const Core *body, bool all, Table *found)
{
    Terms open = {0}, views = {0}, of = {0};
    find_open(ctx, body, &open, &views);
    for (int i = 0; i < views.n; i++)
        for (int k = i + 1; k < views.n; k++)
            if (views.at[i] == views.at[k] || core_same(ctx, views.at[i], views.at[k])) {
                find_open(ctx, views.at[i], &of, NULL);
                find_open(ctx, views.at[k], &of, NULL);
                break; /* the next ones are found from k on */
            }
    const Terms *marks = all ? &open : &of;
    for (int i = 0; i < marks->n; i++)
        table_put(ctx, found, marks->at[i], found);
    return open.n > 0;
}

/* ---- marks ------------------------------------------------------------------------------------------------------------------ */

/* The term with its marks: the same where there are none. */
static Core *marked(Ctx *ctx, const Table *found, Core *e)
{
    bool mark = table_get(found, e) && !e->prim.options.rounded;
    Core *own[3], *const *at, **new = NULL;
    int n = contraction_parts(e, own, &at);
    for (int i = 0; i < n; i++) {
        Core *child = marked(ctx, found, at[i]);
        if (child == at[i])
            continue;
        if (!new)
            new = memcpy(NEWN(ctx, Core *, n), at, sizeof *at * (size_t)n);
        new[i] = child;
    }
    if (!new && !mark)
        return e;
    Core *m = NEW(ctx, Core);
    *m = *e;
    if (mark)
        m->prim.options.rounded = true;
    if (!new)
        return m;
    switch (e->kind) {
    case CORE_PRIM: m->prim.args = new; break;
    case CORE_TUPLE: m->tuple.items = new; break;
    case CORE_LAMBDA: m->lambda.body = new[0]; break;
    case CORE_LET: m->let.value = new[0]; m->let.body = new[1]; break;
    case CORE_PROJ: m->proj.value = new[0]; break;
    case CORE_IF: m->cond.cond = new[0]; m->cond.then = new[1]; m->cond.otherwise = new[2]; break;
    case CORE_VAR: case CORE_LIT: case CORE_SIZE: case CORE_UNIT_ERROR: break;
    }
    return m;
}

static const CoreEntry *with_marks(Ctx *ctx, const CoreEntry *entry, const Table *found)
{
    if (!found->n)
        return entry;
    CoreEntry *new = NEW(ctx, CoreEntry);
    *new = *entry;
    new->body = marked(ctx, found, entry->body);
    return new;
}

const CoreEntry *rounded_copies(Ctx *ctx, const CoreEntry *entry)
{
    Table found = {0};
    find_copies(ctx, entry->body, false, &found);
    return with_marks(ctx, entry, &found);
}

const CoreEntry *rounded_operations(Ctx *ctx, const CoreEntry *entry)
{
    Table found = {0};
    if (find_copies(ctx, entry->body, entry->exact, &found))
        contraction_find(ctx, entry, &found);
    return with_marks(ctx, entry, &found);
}
