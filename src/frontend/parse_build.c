/* Trees: what the grammar's actions ask for. Each is checked here as far as it can be by itself. */
#include "frontend/ast.h"

#include "frontend/parse_mistakes.h"

enum { TEXT_SHOWN = 40 /* bytes of source quoted in a message */ };

/* ---- expressions --------------------------------------------------------------------------------------------------- */

Ast *parse_fit(Parser *ps, Ast *ast)
{
    if (ast->height <= ps->ctx->stack.levels)
        return ast;
    if (!ps->told_height) {
        /* The first byte only: the whole may be most of the file. */
        Diag *diag = parse_mistake(ps, E0109, parse_span(ps, ast->span.lo, ast->span.lo + 1),
                                   "this expression is nested too deeply");
        diag_help(ps->ctx, diag, "give a part of it a name, with `let` or a `def` of its own");
    }
    ps->told_height = true;
    parse_broken(ps);
    return ast_new(ps->ctx, AST_ERROR, ast->span);
}

Ast *parse_int(Parser *ps, Token token)
{
    size_t size = token.hi - token.lo, digits;
    Ast *ast = ast_new(ps->ctx, AST_INT, token_span(ps, token));
    lex_int_value(ps->text + token.lo, size, &ast->integer.value, &digits);
    if (digits < size)
        ast->integer.suffix = intern(ps->ctx, ps->text + token.lo + digits, size - digits);
    return ast;
}

Ast *parse_float(Parser *ps, Token token)
{
    size_t size = token.hi - token.lo, digits;
    Ast *ast = ast_new(ps->ctx, AST_FLOAT, token_span(ps, token));
    ast->floating.value = lex_float_value(ps->ctx, ps->text + token.lo, size, &digits);
    ast->floating.text = intern(ps->ctx, ps->text + token.lo, digits);
    if (digits < size)
        ast->floating.suffix = intern(ps->ctx, ps->text + token.lo + digits, size - digits);
    return ast;
}

Ast *parse_text(Parser *ps, Token token)
{
    return ast_name(ps->ctx, token_span(ps, token), intern(ps->ctx, ps->text + token.lo, token.hi - token.lo));
}

/* The source of a tree when it is short enough to quote. */
static const char *quoted(Parser *ps, Span span)
{
    size_t size = span.hi - span.lo;
    if (size > TEXT_SHOWN || memchr(ps->text + span.lo, '\n', size))
        return NULL;
    return ctx_printf(ps->ctx, "%.*s", (int)size, ps->text + span.lo);
}

/* `xs |> h == 2`: operators bind tighter than pipes, so this pipes xs into `h == 2`, which is no function. */
static void refuse_pipe(Parser *ps, Ast *lhs, Token op, Ast *rhs)
{
    const char *sign = ast_op_text(rhs->bin.op);
    parse_broken(ps);
    Diag *diag = diag_error(ps->ctx, E0121, span_join(token_span(ps, op), rhs->span), "this pipes into the result of `%s`: operators bind tighter than `|>`", sign);
    const char *a = quoted(ps, lhs->span), *b = quoted(ps, rhs->bin.lhs->span), *c = quoted(ps, rhs->bin.rhs->span);
    const bool whole = rhs->bin.lhs->kind != AST_BINARY || rhs->bin.lhs->parens;
    if (a && b && c && whole)
        diag_propose(ps->ctx, diag, span_join(lhs->span, rhs->span), "write $", "(%s |> %s) %s %s", a, b, sign, c);
    else if (b && whole) {
        diag_help(ps->ctx, diag, "put the pipe in parentheses: `(... |> %s) %s %s`", b, sign, c ? c : "...");
        diag_edit(ps->ctx, diag, span_start(lhs->span), "(");
        diag_edit(ps->ctx, diag, span_end(rhs->bin.lhs->span), ")");
    } else
        diag_help(ps->ctx, diag, "put the pipe, or what follows `|>`, in parentheses");
}

Ast *parse_pipe(Parser *ps, Ast *lhs, Token op, Ast *rhs)
{
    if (rhs->kind == AST_BINARY && !rhs->parens)
        refuse_pipe(ps, lhs, op, rhs);
    return parse_fit(ps, ast_binary(ps->ctx, AST_PIPE, span_join(lhs->span, rhs->span), OP_ADD, token_span(ps, op), lhs, rhs));
}

/* A binder of several names, as in `(k l: nat) -> t`, is one arrow for each. They hang together by `next` until here. */
Ast *parse_arrow(Parser *ps, Ast *lhs, Token op, Ast *rhs)
{
    Ast *last = lhs->kind == AST_BINDER ? lhs->binder.next : NULL;
    for (; last; last = last->binder.next)
        rhs = parse_fit(ps, ast_binary(ps->ctx, AST_ARROW, span_join(last->span, rhs->span), OP_ADD, token_span(ps, op), last, rhs));
    return parse_fit(ps, ast_binary(ps->ctx, AST_ARROW, span_join(lhs->span, rhs->span), OP_ADD, token_span(ps, op), lhs, rhs));
}

Ast *parse_binder(Parser *ps, Span span, TokenList *names, Ast *kind, bool braces)
{
    if (!names) {
        Diag *diag = parse_mistake(ps, E0117, span, "before `: type` stands a name");
        diag_help(ps->ctx, diag, "write `(k: nat) -> t` for a function from sizes");
        parse_broken(ps);
        return ast_new(ps->ctx, AST_ERROR, span);
    }
    Ast *first = NULL, *later = NULL;
    for (int i = 0; i < names->at.n; i++) {
        Token name = names->at.at[i];
        Param *param = NEW(ps->ctx, Param);
        param->span = token_span(ps, name);
        param->name = name.name;
        param->pattern.span = param->span;
        param->pattern.name = name.name;
        param->pattern.height = 1;
        param->implicit = braces;
        param->kind = kind;
        param->kind_span = kind->span;
        Ast *binder = parse_fit(ps, ast_binder(ps->ctx, span, param));
        if (binder->kind != AST_BINDER)
            return binder;
        if (i == 0) {
            first = binder;
        } else { /* the last name first: parse_arrow builds from the right */
            binder->binder.next = later;
            later = binder;
        }
    }
    first->binder.next = later;
    return first;
}

Ast *parse_parens(Parser *ps, Token open, Ast *inner, Token close)
{
    inner->parens = true;
    inner->span = parse_span(ps, open.lo, close.hi);
    return inner;
}

Ast *parse_at(Parser *ps, Ast *what, TokenList *list)
{
    PlaceWord *words = NEWN(ps->ctx, PlaceWord, list->at.n);
    for (int i = 0; i < list->at.n; i++) {
        Token token = list->at.at[i];
        words[i] = (PlaceWord){.text = token.name, .span = token_span(ps, token), .label = ps->text[token.lo] == '#'};
    }
    Span span = parse_span(ps, what->span.lo, list->at.at[list->at.n - 1].hi);
    return parse_fit(ps, ast_at(ps->ctx, span, what, list->at.n, words));
}

Ast *parse_label(Parser *ps, Token hash, Token name, Ast *operand)
{
    return parse_fit(ps, ast_label(ps->ctx, parse_span(ps, hash.lo, operand->span.hi), name.name, token_span(ps, name), operand));
}

Ast *parse_call(Parser *ps, AstKind kind, Ast *fn, AstList *args, Token close)
{
    bool named = kind != AST_CALL;
    return parse_fit(ps, ast_call(ps->ctx, kind, parse_span(ps, fn->span.lo, close.hi), fn, args->items.n, args->items.at,
                                  named ? args->names.at : NULL, named ? args->spans.at : NULL));
}

AstList *parse_list_add(Parser *ps, AstList *list, Token name, Ast *item)
{
    if (!list)
        list = NEW(ps->ctx, AstList);
    bool named = name.kind != T_END;
    if (named || list->names.n) {
        while (list->names.n < list->items.n) {
            vec_push(ps->ctx, &list->names, NULL);
            vec_push(ps->ctx, &list->spans, NO_SPAN);
        }
        vec_push(ps->ctx, &list->names, named ? name.name : NULL);
        vec_push(ps->ctx, &list->spans, named ? token_span(ps, name) : NO_SPAN);
    }
    vec_push(ps->ctx, &list->items, item);
    return list;
}

TokenList *parse_tokens_add(Parser *ps, TokenList *list, Token token)
{
    if (!list)
        list = NEW(ps->ctx, TokenList);
    vec_push(ps->ctx, &list->at, token);
    return list;
}

/* ---- patterns ------------------------------------------------------------------------------------------------------ */

PatternList *parse_patterns_add(Parser *ps, PatternList *list, const Pattern *pattern)
{
    if (!list)
        list = NEW(ps->ctx, PatternList);
    vec_push(ps->ctx, &list->at, *pattern);
    return list;
}

static Pattern *fit_pattern(Parser *ps, Pattern *pattern)
{
    if (pattern->height <= ps->ctx->stack.levels)
        return pattern;
    /* The same mistake as an expression's; only its height is needed to report it. */
    Ast high = {.span = pattern->span, .height = pattern->height};
    parse_fit(ps, &high);
    *pattern = (Pattern){.span = pattern->span, .height = 1};
    return pattern;
}

Pattern *parse_pattern_name(Parser *ps, Token token)
{
    Pattern *pattern = NEW(ps->ctx, Pattern);
    pattern->span = token_span(ps, token);
    pattern->name = token.name;
    pattern->height = 1;
    return pattern;
}

Pattern *parse_pattern_tuple(Parser *ps, Token open, PatternList *items, Token close)
{
    Pattern *pattern = NEW(ps->ctx, Pattern);
    pattern->span = parse_span(ps, open.lo, close.hi);
    pattern->n_items = items->at.n;
    pattern->items = items->at.at;
    for (int i = 0; i < items->at.n; i++)
        if (items->at.at[i].height > pattern->height)
            pattern->height = items->at.at[i].height;
    pattern->height++;
    return fit_pattern(ps, pattern);
}

Pattern *parse_pattern_typed(Parser *ps, Pattern *pattern, Ast *type)
{
    if (pattern->type) {
        parse_mistake(ps, E0101, type->span, "this name has a type already");
        parse_broken(ps);
        return pattern;
    }
    pattern->type = type;
    pattern->span.hi = type->span.hi;
    if (type->height >= pattern->height)
        pattern->height = type->height + 1;
    return fit_pattern(ps, pattern);
}

/* ---- headers -------------------------------------------------------------------------------------------------------- */

ParamList *parse_params_add(Parser *ps, ParamList *list, TokenList *names, Pattern *tuple, Ast *kind, Ast *def, Ast *candidates)
{
    if (!list)
        list = NEW(ps->ctx, ParamList);
    list->groups++;
    for (int i = 0; i < (tuple ? 1 : names->at.n); i++) {
        Param param = {.kind = kind, .kind_span = kind->span, .def = def, .candidates = candidates};
        param.pattern = tuple ? *tuple : *parse_pattern_name(ps, names->at.at[i]);
        param.span = param.pattern.span;
        param.name = param.pattern.name;
        vec_push(ps->ctx, &list->at, param);
    }
    return list;
}

/* Where the groups of parameters in one pair of brackets are separated: from the comma on; NO_SPAN: this parameter goes on the group before it. */
static Span between_groups(Parser *ps, const ParamList *params, int i)
{
    uint32_t lo = params->at.at[i].span.lo;
    if (i == 0 || params->at.at[i].kind_span.lo == params->at.at[i - 1].kind_span.lo)
        return NO_SPAN;
    while (lo > 0 && strchr(" \n", ps->text[lo - 1]))
        lo--;
    return lo > 0 && ps->text[lo - 1] == ',' ? parse_span(ps, lo - 1, params->at.at[i].span.lo) : NO_SPAN;
}

/* `(a: f32, xs: n.f32)`: each group in brackets of its own. */
static void report_groups(Parser *ps, const ParamList *params, bool braces)
{
    enum { LONGEST = 100 };
    const char *between = braces ? "} {" : ") (", *words = braces ? "{" : "(";
    /* The same words for braces and parentheses: who writes commas does so in both. */
    Diag *diag = ps->quiet ? &ps->spare : diag_error(ps->ctx, E0111, params->second, "each group of parameters stands in brackets of its own");
    uint32_t from = params->at.at[0].span.lo;
    for (int i = 1; i < params->at.n; i++) {
        Span comma = between_groups(ps, params, i);
        if (!comma.file)
            continue;
        diag_edit(ps->ctx, diag, comma, "%s", between);
        words = ctx_printf(ps->ctx, "%s%.*s%s", words, (int)(comma.lo - from), ps->text + from, between);
        from = comma.hi;
    }
    words = ctx_printf(ps->ctx, "%s%.*s%s", words, (int)(ps->prev.lo - from), ps->text + from, braces ? "}" : ")");
    bool shown = strlen(words) <= LONGEST && !strchr(words, '\n');
    diag->help = ctx_printf(ps->ctx, "write `%s`", shown ? words : braces ? "{n: nat} {t: data}" : "(a: i32) (b: f32)");
}

void parse_params(Parser *ps, ParamList *params, Token open, bool braces)
{
    if (params->groups > 1) {
        report_groups(ps, params, braces);
        parse_broken(ps);
    }
    for (int i = 0; i < params->at.n; i++) {
        Param param = params->at.at[i];
        param.implicit = braces;
        if (braces && param.def) {
            Diag *diag = parse_mistake(ps, E0110, param.def->span, "a parameter in braces is inferred and cannot have a default");
            diag_help(ps->ctx, diag, "a size with a default stands in parentheses: `(%s: nat = ...)`", param.name ? param.name : "n");
            param.def = param.candidates = NULL;
        }
        vec_push(ps->ctx, &ps->params, param);
    }
    (void)open;
}

bool parse_is_scalar(const char *name)
{
    static const char *const scalars[] = {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"};
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
        if (strcmp(scalars[i], name) == 0)
            return true;
    return false;
}

/* `f32 xs`, `xs f32`: the two words of a parameter, without the colon between them or in the wrong order. */
static bool is_kind_word(const char *name)
{
    static const char *const kinds[] = {"nat", "data", "num", "int", "float", "scalar"};
    bool found = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !found; i++)
        found = strcmp(name, kinds[i]) == 0;
    return found;
}

static bool propose_colon(Parser *ps, const TokenList *names, bool implicit)
{
    if (names->at.n < 2)
        return false;
    Token first = names->at.at[0], last = names->at.at[names->at.n - 1];
    bool type_first = parse_is_type_word(ps, first), type_last = parse_is_type_word(ps, last);
    if (implicit && last.name && is_kind_word(last.name)) { /* `{n m nat}` */
        const Token before = names->at.at[names->at.n - 2];
        Diag *diag = parse_mistake(ps, E0110, token_span(ps, last), "a colon stands between the names and what they are");
        diag_propose(ps->ctx, diag, parse_span(ps, before.lo, last.hi), "write $", "%s: %s", before.name ? before.name : "_", last.name);
        return true;
    }
    if (!type_first && !type_last)
        return false;
    Token name = type_first ? last : first, type = type_first ? first : last;
    const Foreign *foreign = parse_foreign(ps, type, FOREIGN_TYPE);
    Diag *diag = parse_mistake(ps, E0110, token_span(ps, name), "parameter `%s` has no type", name.name ? name.name : "_");
    diag_propose(ps->ctx, diag, parse_span(ps, first.lo, last.hi), "the type stands behind the name and a colon: $", "%s: %s", name.name ? name.name : "_",
                 foreign && foreign->instead ? foreign->instead : type.name);
    return true;
}

/* `def f(xs):` at the end of a line. */
static bool ends_in_colon(Parser *ps)
{
    const char *at = ps->text + ps->tok.lo, *end = at + strcspn(at, "\n");
    while (end > at && (end[-1] == ' ' || end[-1] == '\r'))
        end--;
    return end > at && end[-1] == ':';
}

void parse_param_untyped(Parser *ps, TokenList *names, Token open, bool implicit)
{
    bool said = propose_colon(ps, names, implicit);
    for (int i = 0; i < names->at.n; i++) {
        Token token = names->at.at[i];
        const char *name = token.name ? token.name : "_";
        Diag *diag = said ? &ps->spare : parse_mistake(ps, E0110, token_span(ps, token), "parameter `%s` has no type", name);
        if (ends_in_colon(ps))
            diag_help(ps->ctx, diag, "a definition is an expression: `def f {n: nat} (%s: n.f32): f32 = ...`", name);
        else if (ps->tok.kind == T_COLON && open.kind != T_LP && open.kind != T_LBRACE && ps->item->kind != ITEM_DEF)
            diag_help(ps->ctx, diag, "each parameter stands in parentheses with its type, `(%s: n.f32)`, and the type of the result behind all of them", name);
        else if (parse_is_scalar(name))
            diag_help(ps->ctx, diag, "a result type follows a colon: `: %s`", name);
        else
            diag_help(ps->ctx, diag, implicit ? "write `{%s: nat}` for a size, `{%s: data}` for a type" : "write `(%s: f32)`, or another type for it", name, name);
        Param param = {.span = token_span(ps, token), .name = token.name, .implicit = implicit};
        param.pattern = *parse_pattern_name(ps, token);
        vec_push(ps->ctx, &ps->params, param);
    }
    ps->header_broken = true;
    (void)open;
}

static const char *item_words(ItemKind kind)
{
    switch (kind) {
    case ITEM_DEF: return "a definition";
    case ITEM_ENTRY: return "an entry";
    case ITEM_OPERATOR: return "an operator";
    case ITEM_IMPORT: return "an import";
    case ITEM_RULE: return "a rule";
    case ITEM_STRATEGY: return "a strategy";
    case ITEM_ERROR: break;
    }
    return "this item";
}

/* False, and reported, when the clause belongs to another kind of item or was there before. */
static bool clause_fits(Parser *ps, Span span, const char *word, ItemKind kind, bool again)
{
    Item *item = ps->item;
    if (item->kind != kind && item->kind != ITEM_ERROR) {
        Diag *diag = parse_mistake(ps, E0114, span, "`%s` belongs to %s, and `%s` is %s", word, item_words(kind), item->name ? item->name : "this",
                                   item_words(item->kind));
        diag_help(ps->ctx, diag, "leave it out, or make this %s", item_words(kind));
        return false;
    }
    if (again)
        parse_mistake(ps, E0114, span, "`%s` is given twice", word);
    return !again;
}

void parse_clause(Parser *ps, Clause clause, Token word, AstList *list, Ast *ast, uint32_t hi)
{
    Item *item = ps->item;
    Span span = parse_span(ps, word.lo, hi ? hi : word.hi);
    switch (clause) {
    case CLAUSE_WHERE: {
        Ast **all = NEWN(ps->ctx, Ast *, item->n_where + list->items.n);
        if (item->n_where)
            memcpy(all, item->where, sizeof *all * (size_t)item->n_where);
        memcpy(all + item->n_where, list->items.at, sizeof *all * (size_t)list->items.n);
        item->where = all;
        item->n_where += list->items.n;
        break;
    }
    case CLAUSE_LAUNCH:
        if (!clause_fits(ps, token_span(ps, word), "launch", ITEM_ENTRY, ps->has_launch))
            break;
        ps->has_launch = true;
        item->launch_span = span;
        item->launch = NEWN(ps->ctx, Option, list->items.n);
        for (int i = 0; i < list->items.n && i < list->names.n; i++)
            item->launch[item->n_launch++] = (Option){list->names.at[i], list->spans.at[i], list->items.at[i]};
        break;
    case CLAUSE_EXACT:
        if (clause_fits(ps, span, "exact", ITEM_ENTRY, item->exact))
            item->exact = true;
        break;
    case CLAUSE_LOWERED:
        if (clause_fits(ps, span, "lowered by", ITEM_ENTRY, item->lowered != NULL))
            item->lowered = ast;
        break;
    case CLAUSE_UNIT:
        if (clause_fits(ps, token_span(ps, word), "unit", ITEM_OPERATOR, item->unit != NULL))
            item->unit = ast;
        break;
    }
}

/* Warnings that are about an entry, and right where it is wanted so. */
static const DiagCode acceptable[] = {W0704, W0705, W0706, W0707, W0708, W0709, W0710,
                                      W0711, W0712, W0713, W0715, W0716, W0717, W0719, W0720};

static void bad_accept(Parser *ps, const Ast *ast, const char *why)
{
    StrBuf codes;
    sb_init(&codes, ps->ctx);
    for (size_t i = 0; i < sizeof acceptable / sizeof *acceptable; i++)
        sb_printf(&codes, "%s%s", i ? ", " : "", diag_code_name(acceptable[i]));
    Diag *diag = parse_mistake(ps, E0220, ast->span, "%s", why);
    diag_note(ps->ctx, diag, NO_SPAN, "an entry may accept %s, each once", codes.text);
}

void parse_accept(Parser *ps, Token word, const AstList *codes)
{
    Item *item = ps->item;
    if (!clause_fits(ps, token_span(ps, word), "accept", ITEM_ENTRY, item->n_accepts > 0))
        return;
    item->accepts = NEWN(ps->ctx, DiagCode, codes->items.n);
    for (int i = 0; i < codes->items.n; i++) {
        const Ast *ast = codes->items.at[i];
        const char *name = ast->kind == AST_NAME ? ast->name.text : NULL;
        size_t k = 0;
        while (k < sizeof acceptable / sizeof *acceptable && (!name || acceptable[k] != diag_code_find(name)))
            k++;
        if (k == sizeof acceptable / sizeof *acceptable)
            bad_accept(ps, ast, name ? ctx_printf(ps->ctx, "`%s` is no warning that an entry may accept", name) : "this is not the code of a warning");
        else if (item_accepts(item, acceptable[k]))
            bad_accept(ps, ast, ctx_printf(ps->ctx, "`%s` is accepted twice", name));
        else
            item->accepts[item->n_accepts++] = acceptable[k];
    }
}

void parse_level(Parser *ps, Token word, Token name)
{
    Item *item = ps->item;
    if (!clause_fits(ps, token_span(ps, word), "level", ITEM_RULE, item->level != NULL))
        return;
    item->level = name.name;
    item->level_span = token_span(ps, name);
}

void parse_law(Parser *ps, Token word, Ast *within)
{
    bool again = false;
    for (int i = 0; i < ps->laws.n; i++)
        again = again || ps->laws.at[i].name == word.name;
    if (clause_fits(ps, token_span(ps, word), word.name, ITEM_OPERATOR, again))
        vec_push(ps->ctx, &ps->laws, (Law){word.name, token_span(ps, word), within});
}

void parse_expect(Parser *ps, Token word, Token entry, AstList *conditions, AstList *given, Token close)
{
    bool file = ps->item->is_file;
    if (!file && !clause_fits(ps, token_span(ps, word), "expect", ITEM_ENTRY, false))
        return;
    Expect e = {.span = parse_span(ps, word.lo, given ? given->items.at[given->items.n - 1]->span.hi : close.hi)};
    if (entry.kind != T_END) {
        e.entry = entry.name;
        e.entry_span = token_span(ps, entry);
    }
    e.n = conditions->items.n;
    e.conditions = conditions->items.at;
    e.given = NEWN(ps->ctx, Option, given ? given->items.n : 1);
    for (int i = 0; given && i < given->items.n && i < given->names.n; i++)
        e.given[e.n_given++] = (Option){given->names.at[i], given->spans.at[i], given->items.at[i]};
    vec_push(ps->ctx, &ps->expects, e);
}

/* result, result.1 */
static bool is_result(const Ast *ast)
{
    if (ast->kind == AST_DOT)
        return !ast->parens && ast->bin.rhs->kind == AST_INT && is_result(ast->bin.lhs);
    return ast_is_word(ast, "result");
}

void parse_expect_result(Parser *ps, Token word, Ast *subject, Ast *wanted, AstList *samples)
{
    if (!clause_fits(ps, token_span(ps, word), "expect", ITEM_ENTRY, false))
        return;
    if (!is_result(subject)) {
        Diag *diag = parse_mistake(ps, E0119, subject->span, "`expect` compares counters in brackets, or `result`");
        if (subject->kind == AST_CALL)
            parse_propose_expect(ps, diag, subject->span.lo);
        else
            diag_help(ps->ctx, diag, "write `expect result == other for n = 100`, or `expect [barriers == 1] for n = 100`");
        parse_broken(ps);
        return;
    }
    const Ast *last = samples ? samples->items.at[samples->items.n - 1] : wanted;
    Expect e = {.span = parse_span(ps, word.lo, last->span.hi), .subject = subject, .wanted = wanted};
    e.given = NEWN(ps->ctx, Option, samples ? samples->items.n : 1);
    for (int i = 0; samples && i < samples->items.n; i++)
        e.given[e.n_given++] = (Option){samples->names.at[i], samples->spans.at[i], samples->items.at[i]};
    vec_push(ps->ctx, &ps->expects, e);
}
