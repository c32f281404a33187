/* Expressions, `let` and items. */
#include "driver/repl.h"

#include "codegen/index_guards.h"
#include "driver/results.h"
#include "frontend/token.h"
#include "frontend/token_class.h"

void repl_print(Ctx *ctx, Turn *turn, const char *fmt, ...)
{
    StrBuf out;
    va_list args;
    va_start(args, fmt);
    sb_init(&out, ctx);
    sb_vprintf(&out, fmt, args);
    va_end(args);
    driver_write(ctx, turn->d, "-", out.text, out.len);
}

/* ---- what kind of line it is -------------------------------------------------------------------- */

static void tokens_of(Ctx *ctx, const char *text, ClassedTokens *tokens) { class_tokens(ctx, source_add(ctx, SESSION_FILE, text, strlen(text)), tokens); }

/* After such a token something has to follow. */
static bool is_open(int kind)
{
    switch (kind) {
    case T_EQ: case T_DARROW: case T_ARROW: case T_PIPE: case T_COMPOSE: case T_EQEQ: case T_NE: case T_LT: case T_LE: case T_GT: case T_GE:
    case T_PLUS: case T_MINUS: case T_STAR: case T_SLASH: case T_PERCENT: case T_POW: case T_SEMI: case T_ORELSE: case T_COMMA: case T_COLON: case T_DOT:
    case T_LET: case T_IN: case T_IF: case T_THEN: case T_ELSE: case T_WHERE: case T_AND: case T_OR: case T_NOT:
        return true;
    default:
        return false;
    }
}

bool repl_goes_on(Ctx *ctx, const char *text)
{
    ClassedTokens tokens = {0};
    int depth = 0, last = 0;
    tokens_of(ctx, text, &tokens);
    for (int i = 0; i < tokens.list.n; i++) {
        int kind = tokens.list.at[i].kind;
        depth += kind == T_LP || kind == T_LBRACKET || kind == T_LBRACE;
        depth -= kind == T_RP || kind == T_RBRACKET || kind == T_RBRACE;
        last = kind ? kind : last; /* 0: a comment */
    }
    return depth > 0 || is_open(last);
}

typedef enum LineKind { LINE_NOTHING, LINE_EXPRESSION, LINE_BINDING, LINE_ITEM } LineKind;

static LineKind kind_of(Ctx *ctx, const char *text)
{
    ClassedTokens tokens = {0};
    int first = 0, open = 0; /* a `let` without its `in` binds for the lines to come */
    tokens_of(ctx, text, &tokens);
    for (int i = 0; i < tokens.list.n; i++) {
        int kind = tokens.list.at[i].kind;
        first = first ? first : kind;
        open += (kind == T_LET || kind == T_UNROLL) - (kind == T_IN);
    }
    switch (first) {
    case 0:
        return LINE_NOTHING;
    case T_DEF: case T_ENTRY: case T_OPERATOR: case T_IMPORT: case T_RULE: case T_STRATEGY:
        return LINE_ITEM;
    default:
        return first == T_LET && open > 0 ? LINE_BINDING : LINE_EXPRESSION;
    }
}

/* ---- expressions -------------------------------------------------------------------------------- */

/* The text up to `at` as blanks, so that what follows stands in its place. */
static const char *blanked(Ctx *ctx, const char *text, const char *at)
{
    char *out = ctx_alloc(ctx, strlen(text) + 1);
    strcpy(out, text);
    for (char *c = out; c < out + (at - text); c++)
        *c = *c == '\n' ? '\n' : ' ';
    return out;
}

Typed repl_definition(Ctx *ctx, const Turn *turn, const char *at, const char **name)
{
    for (*name = "it"; session_find(turn->session, *name);)
        *name = ctx_printf(ctx, "%s_", *name);
    const char *start = ctx_printf(ctx, "def %s =\n", *name);
    return (Typed){ctx_printf(ctx, "%s%s", start, blanked(ctx, turn->typed.text, at)), turn->typed.line - 1, strlen(start)};
}

const CoreEntry *repl_expression(Ctx *ctx, Turn *turn, const char *at)
{
    const char *name;
    Typed typed = repl_definition(ctx, turn, at, &name);
    Program *program = session_program(ctx, turn->session, 1, &typed, NULL);
    return program_failed(program) ? NULL : elab_named(ctx, program, name, 0, NULL);
}

static void evaluate(Ctx *ctx, Turn *turn)
{
    const CoreEntry *entry = repl_expression(ctx, turn, turn->typed.text);
    Launch launch = {.sizes = NEW(ctx, int64_t)};
    if (!entry || !launch_check(ctx, entry, &launch) || !index_guards_take(ctx, NULL, &launch) || !interp_run(ctx, entry, &launch))
        return;
    StrBuf out;
    sb_init(&out, ctx);
    results_print_all(&out, launch.n_results, launch.results);
    driver_write(ctx, turn->d, "-", out.text, out.len);
}

/* ---- items -------------------------------------------------------------------------------------- */

/* Types of what can be typed by itself: operators, entries, and definitions that take nothing. */
static void check_item(Ctx *ctx, Program *program, const Item *item)
{
    Core *lambda, *unit;
    if (item->kind == ITEM_ENTRY || (item->kind == ITEM_DEF && !item->n_params))
        elab_named(ctx, program, item->name, 0, NULL);
    for (int i = 0; i < program_operator_count(program); i++)
        if (program_operator_item(program, i) == item)
            elab_operator(ctx, program, i, &lambda, &unit);
}

/* False with diagnostics. */
static bool are_good(Ctx *ctx, Turn *turn, int n, const Typed *typed)
{
    Program *program = session_program(ctx, turn->session, n, typed, NULL);
    const AstFile *file = program_ast(program);
    for (int i = 0; i < file->items.n && !program_failed(program); i++) {
        const Item *item = file->items.at[i];
        for (int k = 0; k < n; k++)
            if (source_get(ctx, item->span.file)->text == typed[k].text)
                check_item(ctx, program, item);
    }
    return ctx->diags.errors == 0;
}

static void remember(Ctx *ctx, Turn *turn, const Item *item, Typed typed)
{
    bool callable = item->kind == ITEM_ENTRY || (item->kind == ITEM_DEF && item->n_params);
    session_add(ctx, turn->session, &(SessionItem){item->kind == ITEM_IMPORT ? NULL : item->name, typed, callable});
}

/* Each item of the text by itself, in its place. */
static void define(Ctx *ctx, Turn *turn)
{
    if (!are_good(ctx, turn, 1, &turn->typed))
        return;
    const AstFile *file = session_parse(ctx, &turn->typed);
    for (int i = 0; i < file->items.n; i++) {
        const Item *item = file->items.at[i];
        const char *text = turn->typed.text, *from = blanked(ctx, text, text + item->span.lo);
        size_t n = i + 1 < file->items.n ? item->span.hi : strlen(text);
        remember(ctx, turn, item, (Typed){intern(ctx, from, n), turn->typed.line, 0});
    }
}

/* ---- let ---------------------------------------------------------------------------------------- */

typedef struct Names {
    VEC(const char *) list;
} Names;

static void names_in(Ctx *ctx, const Pattern *pattern, Names *names)
{
    if (pattern->name)
        vec_push(ctx, &names->list, pattern->name);
    for (int i = 0; i < pattern->n_items; i++)
        names_in(ctx, &pattern->items[i], names);
}

/* Behind the first `=`; the text itself where there is none. */
static const char *bound_value(Ctx *ctx, const char *text)
{
    ClassedTokens tokens = {0};
    tokens_of(ctx, text, &tokens);
    for (int i = 0; i < tokens.list.n; i++)
        if (tokens.list.at[i].kind == T_EQ)
            return text + tokens.list.at[i].hi;
    return text;
}

/* The binding is `let P = e in x` for each name x of its pattern. Mistakes in e are found by itself, where no `in` follows that was not typed. */
static bool parse_binding(Ctx *ctx, Turn *turn, Names *names)
{
    const char *name, *value = bound_value(ctx, turn->typed.text);
    Typed typed = repl_definition(ctx, turn, value, &name);
    if (value != turn->typed.text)
        session_parse(ctx, &typed);
    if (ctx->diags.errors)
        return false;
    typed = repl_definition(ctx, turn, turn->typed.text, &name);
    typed.text = ctx_printf(ctx, "%s\nin 0", typed.text);
    const AstFile *file = session_parse(ctx, &typed);
    const Ast *body = file->items.n ? file->items.at[0]->body : NULL;
    if (ctx->diags.errors || !body || body->kind != AST_LET)
        return false;
    names_in(ctx, body->let.pattern, names);
    return true;
}

static void bind(Ctx *ctx, Turn *turn)
{
    Names names = {0};
    if (!parse_binding(ctx, turn, &names))
        return;
    int n = names.list.n;
    Typed *typed = NEWN(ctx, Typed, n + 1);
    for (int i = 0; i < n; i++)
        typed[i] = (Typed){ctx_printf(ctx, "def %s =\n%s\nin %s", names.list.at[i], turn->typed.text, names.list.at[i]), turn->typed.line - 1, 0};
    /* A mistake in the value is one, however many names there are. */
    if (!n || !are_good(ctx, turn, 1, typed) || !are_good(ctx, turn, n, typed))
        return;
    Program *program = session_program(ctx, turn->session, n, typed, NULL);
    for (int i = 0; i < n; i++) {
        const CoreEntry *entry = elab_named(ctx, program, names.list.at[i], 0, NULL);
        if (entry)
            repl_print(ctx, turn, "%s: %s\n", names.list.at[i], type_text(ctx, entry->result));
    }
    for (int i = 0; i < n; i++)
        session_add(ctx, turn->session, &(SessionItem){names.list.at[i], typed[i], false});
}

/* ---- a turn ------------------------------------------------------------------------------------- */

void repl_turn(Ctx *ctx, Turn *turn)
{
    const char *text = turn->typed.text;
    if (text[strspn(text, " \t")] == ':') {
        repl_command(ctx, turn);
        return;
    }
    switch (kind_of(ctx, text)) {
    case LINE_NOTHING: break;
    case LINE_EXPRESSION: evaluate(ctx, turn); break;
    case LINE_BINDING: bind(ctx, turn); break;
    case LINE_ITEM: define(ctx, turn); break;
    }
}
