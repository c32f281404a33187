/* Whole entries: the strategy that an entry has, and what is compiled. */
#include "rewrite/internal.h"

typedef enum Saying { SAYS_NOTHING, SAYS_WHAT, SAYS_HOW } Saying;

/* Whether the patterns in it say what is computed, or how; layouts and functions of scalars alone say neither. */
static Saying saying(const Core *term)
{
    Saying says = SAYS_NOTHING;
    if (term->kind == CORE_PRIM) {
        PrimLevel level = prim_rows[term->prim.id].level;
        says = level == LEVEL_HIGH ? SAYS_WHAT : level == LEVEL_VIEW || level == LEVEL_SCALAR ? SAYS_NOTHING : SAYS_HOW;
    }
    for (int i = 0; i < term_children(term) && says != SAYS_WHAT; i++) {
        Saying child = saying(term_child(term, i));
        says = child == SAYS_NOTHING ? says : child;
    }
    return says;
}

/* What no thread is told to compute: high-level patterns somewhere, or arrays by layouts alone. */
static bool is_high(const Core *body)
{
    Saying says = saying(body);
    return says == SAYS_WHAT || (says == SAYS_NOTHING && type_gives_arrays(body->type));
}

static const char default_module[] = "strategies.standard", default_strategy[] = "standard";

/* The strategy that an entry is lowered by, and where its names are looked up. False with diagnostics. */
static bool strategy_of(Ctx *ctx, const CoreEntry *entry, const Ast **ast, const char **home)
{
    *ast = entry->item->lowered;
    *home = program_path(entry->program);
    if (*ast || !is_high(entry->body))
        return true;
    *home = program_module(ctx, entry->program, default_module);
    if (!*home)
        return false;
    Ast *name = NEW(ctx, Ast);
    *name = (Ast){.kind = AST_NAME, .span = entry->name_span};
    name->name.text = intern(ctx, default_strategy, strlen(default_strategy));
    *ast = name;
    return true;
}

bool rewrite_by_its_own(Ctx *ctx, const CoreEntry *entry, int most, Rewriting *out)
{
    const Ast *ast;
    const char *home;
    if (!entry->item || !strategy_of(ctx, entry, &ast, &home))
        return false;
    if (ast)
        return rewrite_from(ctx, entry, ast, home, 0, NULL, most, out);
    out->entry = (CoreEntry *)entry;
    return true;
}

/* Each class of a tuned entry by itself, as a place such as `first reduce` means one in each. NULL with diagnostics. */
static Core *rewrite_classes(Ctx *ctx, const CoreEntry *entry, Core *body, int left)
{
    Rewriting r = {0};
    CoreEntry one = *entry;
    one.n_classes = 0;
    one.body = left > 1 ? body->cond.then : body;
    if (!rewrite_by_its_own(ctx, &one, -1, &r) || left == 1)
        return r.entry ? r.entry->body : NULL;
    Core *otherwise = rewrite_classes(ctx, entry, body->cond.otherwise, left - 1);
    if (!otherwise)
        return NULL;
    Core *both = NEW(ctx, Core);
    *both = *body;
    both->cond.then = r.entry->body;
    both->cond.otherwise = otherwise;
    both->height = 1 + (both->cond.then->height > otherwise->height ? both->cond.then->height : otherwise->height);
    return both;
}

const CoreEntry *rewritten_entry(Ctx *ctx, const CoreEntry *entry)
{
    Rewriting r = {0};
    if (!entry->item)
        return entry;
    if (entry->n_classes > 1) {
        Core *body = rewrite_classes(ctx, entry, entry->body, entry->n_classes);
        if (!body)
            return NULL;
        r.entry = NEW(ctx, CoreEntry);
        *r.entry = *entry;
        r.entry->body = body;
        return r.entry;
    }
    return rewrite_by_its_own(ctx, entry, -1, &r) ? r.entry : NULL;
}
