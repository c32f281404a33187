/* The strategies of `risec tune --strategies`, with each combination of the candidates that their parameters have. */
#include "driver/tune.h"
#include "frontend/rule.h"
#include "rewrite/manual.h"

/* ---- candidates of one parameter ------------------------------------------------------------------------------------------- */

typedef struct Choices {
    VEC(int64_t) at;
} Choices;

/* What stands behind `in`: constants, or halving(k). */
static bool read_choices(Tune *t, const Param *p, Choices *out)
{
    const Ast *list = p->candidates;
    bool halving = list->kind == AST_CALL && list->call.fn->kind == AST_NAME && strcmp(list->call.fn->name.text, "halving") == 0 && list->call.n == 1 &&
                   list->call.items[0]->kind == AST_INT;
    for (uint64_t k = halving ? list->call.items[0]->integer.value / 2 : 0; k >= 1; k /= 2)
        vec_push(t->ctx, &out->at, (int64_t)k);
    bool good = halving || list->kind == AST_LIST;
    for (int i = 0; list->kind == AST_LIST && i < list->list.n && good; i++) {
        good = list->list.items[i]->kind == AST_INT;
        if (good)
            vec_push(t->ctx, &out->at, (int64_t)list->list.items[i]->integer.value);
    }
    if (good)
        return true;
    diag_error(t->ctx, E0804, list->span, "the candidates of a strategy's parameter are numbers, `[128, 256]`, or `halving(k)`");
    driver_fail(t->d, STATUS_PROGRAM);
    return false;
}

/* ---- calls -------------------------------------------------------------------------------------------------------------------- */

typedef struct StrategyCall {
    const char *name;
    int n;
    Ast *const *args;
    const char *const *names; /* NULL: by position */
} StrategyCall;

static bool is_call(const Ast *ast, StrategyCall *call)
{
    *call = (StrategyCall){0};
    if (ast->kind == AST_CALL || ast->kind == AST_NAMED) {
        call->n = ast->call.n;
        call->args = ast->call.items;
        call->names = ast->kind == AST_NAMED ? ast->call.names : NULL;
        ast = ast->call.fn;
    }
    call->name = ast->kind == AST_NAME ? ast->name.text : NULL;
    return call->name != NULL;
}

/* The argument for parameter k; NULL where it has its default. */
static const Ast *argument_for(const Item *item, const StrategyCall *call, int k)
{
    int position = 0;
    for (int i = 0; i < k; i++)
        position += !item->params[i].implicit;
    if (!call->names)
        return !item->params[k].implicit && position < call->n ? call->args[position] : NULL;
    for (int i = 0; i < call->n; i++)
        if (call->names[i] == item->params[k].name)
            return call->args[i];
    return NULL;
}

/* `blocks{k = 256}` for each combination; `text`: what is said until parameter k. */
static bool combine(Tune *t, const Item *item, const StrategyCall *call, int k, const char *text)
{
    if (k == item->n_params) {
        vec_push(t->ctx, &t->strategies, text[0] ? ctx_printf(t->ctx, "%s{%s}", item->name, text) : item->name);
        return t->strategies.n <= TUNE_MAX_CANDIDATES;
    }
    const Param *p = &item->params[k];
    const Ast *given = argument_for(item, call, k);
    const char *before = text[0] ? ", " : "";
    if (given) {
        StrBuf sb;
        sb_init(&sb, t->ctx);
        sb_printf(&sb, "%s%s%s = ", text, before, p->name);
        ast_print(&sb, given);
        return combine(t, item, call, k + 1, sb.text);
    }
    if (!p->candidates)
        return combine(t, item, call, k + 1, text);
    Choices choices = {0};
    if (!read_choices(t, p, &choices))
        return false;
    for (int i = 0; i < choices.at.n; i++)
        if (!combine(t, item, call, k + 1, ctx_printf(t->ctx, "%s%s%s = %lld", text, before, p->name, (long long)choices.at.at[i])))
            return false;
    return true;
}

/* ---- the list ----------------------------------------------------------------------------------------------------------------- */

static bool add_strategy(Tune *t, const char *text)
{
    StrategyCall call;
    const char *home, *own = program_path(t->entry->program);
    const Ast *ast = driver_strategy(t->ctx, t->d, OPT_STRATEGIES, text);
    if (!ast)
        return false;
    /* Anything else than a strategy by name has no parameters of its own. */
    const Item *item = is_call(ast, &call) ? program_rule(t->entry->program, own, call.name, &home) : NULL;
    if (item && item->kind == ITEM_STRATEGY)
        return combine(t, item, &call, 0, "");
    if (!item && call.name && !rules_word_doc(call.name)) {
        Diag *d = driver_usage(t->ctx, t->d, E0804, "`--strategies`: `%s` is neither a rule nor a strategy here", call.name);
        diag_help(t->ctx, d, "%s has to import the module in which it stands", own);
        return false;
    }
    vec_push(t->ctx, &t->strategies, text);
    return true;
}

/* Up to the next comma outside brackets. */
static size_t length_of(const char *text)
{
    int depth = 0;
    size_t n = 0;
    for (; text[n] && (depth > 0 || text[n] != ','); n++)
        depth += strchr("([{", text[n]) ? 1 : strchr(")]}", text[n]) ? -1 : 0;
    return n;
}

bool tune_strategies(Tune *t)
{
    const char *at = option_text(t->d->line, OPT_STRATEGIES);
    while (at) {
        size_t n = length_of(at);
        const char *from = at + strspn(at, " ");
        const char *to = at + n;
        while (to > from && to[-1] == ' ')
            to--;
        if (to <= from) {
            driver_usage(t->ctx, t->d, E0621, "`--strategies` names strategies, with commas between them");
            return false;
        }
        if (!add_strategy(t, intern(t->ctx, from, (size_t)(to - from)))) {
            if (t->strategies.n > TUNE_MAX_CANDIDATES)
                driver_usage(t->ctx, t->d, E0662, "%s: there are more than %d combinations of strategies and their parameters", t->entry->name, TUNE_MAX_CANDIDATES);
            return false;
        }
        at = at[n] ? at + n + 1 : NULL;
    }
    return true;
}
