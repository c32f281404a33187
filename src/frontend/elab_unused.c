/* Definitions that nothing uses. A definition is checked at each use, with the sizes of that use.
 * One that nothing uses is typed as an entry is, for mistakes that it has whatever its sizes are.
 * What is about sizes may hold where it is used, so nothing is said of it. */
#include "frontend/elab_internal.h"

static int item_named(const FileScope *scope, const char *name)
{
    for (int i = 0; i < scope->items.n; i++)
        if (scope->items.at[i]->name && strcmp(scope->items.at[i]->name, name) == 0)
            return i;
    return -1;
}

static void mark_item(const FileScope *scope, int k, bool *used);

static void mark_names(const FileScope *scope, const Ast *ast, bool *used)
{
    const int k = ast->kind == AST_NAME ? item_named(scope, ast->name.text) : -1;
    if (k >= 0 && !used[k])
        mark_item(scope, k, used);
    for (int i = 0; i < ast_children(ast); i++)
        mark_names(scope, ast_child(ast, i), used);
}

static void mark_item(const FileScope *scope, int k, bool *used)
{
    used[k] = true;
    if (scope->items.at[k]->body)
        mark_names(scope, scope->items.at[k]->body, used);
}

/* Is all of it known but sizes: no type, and no function, comes from its uses? */
static bool stands_alone(const Item *item)
{
    if (item->kind != ITEM_DEF || !item->body || !item->result || ast_is_nat(item->result) ||
        item->result->kind == AST_ARROW)
        return false;
    for (int i = 0; i < item->n_params; i++) {
        const ParamKind kind = param_kind(&item->params[i]);
        if ((kind != KIND_NAT && kind != KIND_VALUE) || !item->params[i].kind ||
            param_is_of_kind(item, i))
            return false;
    }
    return true;
}

bool is_about_use(const Elab *e, DiagCode code)
{
    static const DiagCode any[] = {E0310, E0311, E0313, E0315, E0316, E0318, E0319, E0320,
                                   E0322, E0323, E0324, E0327, E0328, E0333, E0344};
    for (size_t i = 0; i < sizeof any / sizeof *any; i++)
        if (any[i] == code)
            return false;
    const bool types = code == E0301 || code == E0312 || code == E0314;
    return !types || e->mis.kind == MIS_SIZE || e->mis.kind == MIS_UNKNOWN;
}

void elab_unused(Ctx *ctx, Program *program)
{
    const FileScope *scope = program->files.at[0];
    bool *used = NEWN(ctx, bool, scope->items.n + 1);
    for (int i = 0; i < scope->items.n; i++)
        if (scope->items.at[i]->kind == ITEM_ENTRY || scope->items.at[i]->kind == ITEM_OPERATOR)
            mark_item(scope, i, used);
    for (int i = 0; i < scope->items.n; i++) {
        const Item *item = scope->items.at[i];
        if (used[i] || !stands_alone(item))
            continue;
        Elab *e = elab_new(ctx, program);
        e->unused = true;
        elab_item(e, item);
    }
}
