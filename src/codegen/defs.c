/* The table of definitions: one walk over a kernel, for all its registers, indices and buffers. */
#include "codegen/defs.h"
#include "codegen/walk.h"

/* What stands for memory: shared buffers may have the same bytes; other threads store to any. */
static const char shared_memory, met_threads;

static const void *memory_of(const ImpBuf *buf)
{
    return buf->space == SPACE_SHARED ? (const void *)&shared_memory : buf;
}

static void add_site(Defs *defs, const void *what, ImpStmt *s)
{
    Sites *sites = table_get(&defs->sites, what);
    if (!sites) {
        sites = NEW(defs->ctx, Sites);
        table_put(defs->ctx, &defs->sites, what, sites);
    }
    vec_push(defs->ctx, &sites->at, s);
}

static void note_own(Defs *defs, ImpStmt *s)
{
    const ImpVar *var = imp_sets(s);
    if (var)
        add_site(defs, var, s);
    if (var && var->nat)
        add_site(defs, var->nat, s);
    switch (s->kind) {
    case IS_DECL: case IS_SET: case IS_VSET: case IS_VLOAD: case IS_IF: case IS_NOTE: break;
    case IS_FOR: add_site(defs, s->loop.var, s); break;
    case IS_STORE: add_site(defs, memory_of(s->store.buf), s); break;
    case IS_VSTORE: add_site(defs, memory_of(s->vec.buf), s); break;
    case IS_ATOMIC: case IS_TICKET: case IS_GRID_SYNC: case IS_GIVE: case IS_AWAIT: case IS_SERVE:
    case IS_SYNC: case IS_ALLOC: add_site(defs, &met_threads, s); break;
    }
}

void defs_note_stmt(Defs *defs, ImpStmt *s, ImpStmt *around)
{
    s->info = NEW(defs->ctx, StmtInfo);
    s->info->around = around;
    note_own(defs, s);
    if (s->kind == IS_FOR)
        defs_note(defs, &s->loop.body, s);
    if (s->kind == IS_IF) {
        defs_note(defs, &s->branch.then, s);
        defs_note(defs, &s->branch.otherwise, s);
    }
}

void defs_note(Defs *defs, const ImpBlock *block, ImpStmt *around)
{
    for (int i = 0; i < block->list.n; i++)
        defs_note_stmt(defs, block->list.at[i], around);
}

const Sites *defs_of(const Defs *defs, const void *what)
{
    return table_get(&defs->sites, what);
}

typedef struct Change {
    const Defs *defs;
    const ImpStmt *by;
    bool found;
} Change;

static void change(Change *c, const void *what)
{
    const Sites *sites = defs_of(c->defs, what);
    for (int i = 0; sites && i < sites->at.n && !c->found; i++)
        for (const ImpStmt *s = sites->at.at[i]; s && !c->found; s = s->info->around)
            c->found = s == c->by;
}

static void change_var(void *user, Nat var) { change(user, var); }

static void change_nat(Change *c, Nat nat)
{
    if (nat->has_vars)
        nat_each_var(c->defs->ctx, nat, change_var, c);
}

static void change_node(void *user, ImpExpr **at)
{
    const ImpExpr *e = *at;
    if (e->kind == IE_VAR) {
        change(user, e->var.var);
        change_nat(user, e->var.slot);
    } else if (e->kind == IE_LOAD) {
        change_nat(user, e->mem.index);
        if (e->mem.buf->space != SPACE_INPUT) {
            change(user, memory_of(e->mem.buf));
            change(user, &met_threads);
        }
    } else if (e->kind == IE_NAT) {
        change_nat(user, e->nat);
    }
}

bool defs_change(const Defs *defs, ImpExpr *e, const ImpStmt *by)
{
    Change c = {defs, by, false};
    walk_expr(&e, change_node, &c);
    return c.found;
}
