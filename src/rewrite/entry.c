/* Whole entries: the strategy that an entry has, and what is compiled. */
#include "codegen/contraction.h"
#include "rewrite/internal.h"
#include "rewrite/laws.h"
#include "schedule/nests.h"

/* Says that the steps follow each other, and nothing of who computes one. */
static bool array_sequence(const Core *term)
{
    return term->prim.id == P_iterate || (term->prim.id == P_reduceSeq && type_gives_arrays(term->type));
}

typedef enum Saying { SAYS_NOTHING, SAYS_WHAT, SAYS_HOW } Saying;

/* Whether the patterns in it say what is computed, or how; layouts and functions of scalars alone say neither. */
static Saying saying(const Core *term)
{
    Saying says = SAYS_NOTHING;
    if (term->kind == CORE_PRIM) {
        PrimLevel level = prim_rows[term->prim.id].level;
        bool nothing = level == LEVEL_VIEW || level == LEVEL_SCALAR || array_sequence(term);
        says = level == LEVEL_HIGH ? SAYS_WHAT : nothing ? SAYS_NOTHING : SAYS_HOW;
    }
    for (int i = 0; i < term_children(term) && says != SAYS_WHAT; i++) {
        Saying child = saying(term_child(term, i));
        says = child == SAYS_NOTHING ? says : child;
    }
    return says;
}

/* Do sizes choose between kernels by hand where the result is only a part of the program's, or is read there? One launch alone cannot do both. */
static bool chooses_inside(const Core *term, bool at_end)
{
    if (!at_end && term->kind == CORE_IF && term_is_by_hand(term))
        return true;
    bool next = term->kind == CORE_PRIM && term->prim.id == P_nextKernel;
    for (int i = 0; i < term_children(term); i++) {
        const Core *child = term_child(term, i);
        if (child->kind == CORE_LAMBDA && !next)
            continue;
        bool goes_on = child->kind == CORE_LAMBDA || term->kind == CORE_LAMBDA || (i > 0 && (term->kind == CORE_LET || term->kind == CORE_IF));
        if (chooses_inside(child, at_end && goes_on))
            return true;
    }
    return false;
}

/* What no thread is told to compute: high-level patterns somewhere, arrays by layouts alone, or kernels by hand that are to be put together. */
static bool is_high(const Core *body)
{
    Saying says = saying(body);
    return says == SAYS_WHAT || (says == SAYS_NOTHING && type_gives_arrays(body->type)) || (says == SAYS_HOW && chooses_inside(body, true));
}

bool entry_is_high(const CoreEntry *entry) { return entry->item && !entry->item->lowered && entry->n_classes <= 1 && is_high(entry->body); }

CoreEntry *entry_as_nests(Ctx *ctx, CoreEntry *entry)
{
    if (!entry_is_high(entry))
        return entry;
    int next_var = term_next_var(entry);
    CoreEntry *nests = NEW(ctx, CoreEntry);
    *nests = *entry;
    nests->body = nests_body(ctx, nests_of(ctx, entry, contraction_ends_open, &next_var), entry->body->type);
    return nests;
}

/* What an entry without a strategy is lowered by, a strategy of the module strategies.scheduled. */
static const char scheduled[] = "scheduled";

/* The strategy that an entry is lowered by, and where its names are looked up. False with diagnostics. */
static bool strategy_of(Ctx *ctx, const CoreEntry *entry, const Ast **ast, const char **home)
{
    *ast = entry->item->lowered;
    *home = program_path(entry->program);
    if (*ast || !is_high(entry->body))
        return true;
    *home = program_module(ctx, entry->program, "strategies.scheduled");
    if (!*home)
        return false;
    Ast *name = NEW(ctx, Ast);
    *name = (Ast){.kind = AST_NAME, .span = NO_SPAN}; /* nobody wrote it */
    name->name.text = intern(ctx, scheduled, sizeof scheduled - 1);
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

/* The strategy that tuning found for a class, as the only one of a file of its own. NULL with diagnostics. */
static const Ast *class_strategy(Ctx *ctx, const CoreClass *class)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    sb_printf(&sb, "strategy tuned = %s", class->strategy);
    int errors = ctx->diags.errors;
    const AstFile *file = parse_file(ctx, source_add(ctx, "the tuned strategy", sb.text, sb.len));
    const Item *item = file->items.n == 1 ? file->items.at[0] : NULL;
    if (item && item->kind == ITEM_STRATEGY && item->body && item->body->kind != AST_ERROR && ctx->diags.errors == errors)
        return item->body;
    diag_error(ctx, E0660, class->strategy_span, "this is no strategy: `%s`", class->strategy);
    return NULL;
}

static bool rewrite_class(Ctx *ctx, const CoreEntry *entry, const CoreClass *class, Rewriting *out)
{
    if (!class->strategy)
        return rewrite_by_its_own(ctx, entry, -1, out);
    const Ast *strategy = class_strategy(ctx, class);
    return strategy && rewrite_from(ctx, entry, strategy, program_path(entry->program), 0, NULL, -1, out);
}

/* Each class of a tuned entry by itself, as a place such as `first reduce` means one in each. `to`: the entry that is made; its classes get the launches that
 * the strategies choose. NULL with diagnostics. */
static Core *rewrite_classes(Ctx *ctx, CoreEntry *to, Core *body, int k)
{
    Rewriting r = {0};
    CoreEntry one = *to;
    CoreClass *class = &to->classes[k];
    bool last = k + 1 == to->n_classes;
    one.n_classes = 0;
    one.launch = class->launch;
    one.body = last ? body : body->cond.then;
    if (!rewrite_class(ctx, &one, class, &r))
        return NULL;
    class->launch = r.entry->launch;
    to->num_sm = r.entry->num_sm;
    to->max_resident = r.entry->max_resident;
    to->costs = r.entry->costs ? r.entry->costs : to->costs;
    if (last)
        return r.entry->body;
    Core *otherwise = rewrite_classes(ctx, to, body->cond.otherwise, k + 1);
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
    if (!laws_allow(ctx, entry))
        return NULL;
    if (entry->n_classes == 0)
        return rewrite_by_its_own(ctx, entry, -1, &r) ? r.entry : NULL;
    CoreEntry *tuned = NEW(ctx, CoreEntry);
    *tuned = *entry;
    tuned->classes = NEWN(ctx, CoreClass, entry->n_classes);
    memcpy(tuned->classes, entry->classes, sizeof *tuned->classes * (size_t)entry->n_classes);
    tuned->body = rewrite_classes(ctx, tuned, entry->body, 0);
    return tuned->body ? tuned : NULL;
}
