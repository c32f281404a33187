/* The left side of a rule as an entry: what a trial of the rule is made of. */
#include "rewrite/law_text.h"
#include "rewrite/match.h"

enum { MOST_VARS = 9 };

static uint64_t below(LawText *t, uint64_t n)
{
    t->state ^= t->state << 13;
    t->state ^= t->state >> 7;
    t->state ^= t->state << 17;
    return t->state % n;
}

void law_seed(LawText *t, uint64_t seed)
{
    t->state = seed * 0x9e3779b97f4a7c15u + 0x1234567;
    for (int i = 0; i < 4; i++)
        below(t, 2);
}

static const char *term_of(LawText *t, const char *type, int n, const char *const *types);

typedef enum Kind { IS_NAT, IS_TYPE, IS_FUN, IS_DATA } Kind;

static Kind kind_of(const Param *p)
{
    if (p->kind->kind == AST_ARROW)
        return IS_FUN;
    if (ast_is_nat(p->kind))
        return IS_NAT;
    static const char *const types[] = {"data", "num", "int"};
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (p->kind->kind == AST_NAME && strcmp(p->kind->name.text, types[k]) == 0)
            return IS_TYPE;
    return IS_DATA;
}

/* ---- types and terms --------------------------------------------------------------------------------------------------- */

static const char *text_of(Ctx *ctx, const Ast *ast)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    ast_print(&sb, ast);
    return sb.text;
}

static bool in_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/* The text with the rule's types in place of their names. */
static const char *with_types(LawText *t, const char *text)
{
    StrBuf sb;
    sb_init(&sb, t->ctx);
    for (const char *at = text; *at;) {
        size_t n = 0;
        while (in_word(at[n]))
            n++;
        const char *type = NULL;
        for (int i = 0; n && i < t->rule->n_params; i++)
            if (t->shape->types[i] && strlen(t->rule->params[i].name) == n && memcmp(t->rule->params[i].name, at, n) == 0)
                type = t->shape->types[i];
        if (type)
            sb_puts(&sb, type);
        else
            sb_putn(&sb, at, n ? n : 1);
        at += n ? n : 1;
    }
    return sb.text;
}

/* The same for the types that a term casts to; any other word may be a variable's. */
static const char *with_casts(LawText *t, const char *term)
{
    static const char cast[] = "cast(";
    StrBuf sb;
    sb_init(&sb, t->ctx);
    for (const char *found; (found = strstr(term, cast)); term = found) {
        found += strlen(cast);
        sb_putn(&sb, term, (size_t)(found - term));
        const char *end = found;
        while (in_word(*end))
            end++;
        sb_puts(&sb, with_types(t, ctx_printf(t->ctx, "%.*s", (int)(end - found), found)));
        found = end;
    }
    sb_puts(&sb, term);
    return sb.text;
}

/* The dot of `n.t`, and of `(2*n).t`; NULL when the type is no array. */
static const char *elem_dot(const char *type)
{
    int depth = 0;
    for (const char *at = type; *at; at++) {
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        if (*at == '.' && depth == 0)
            return at;
    }
    return NULL;
}

static bool is_index(const char *type) { return strncmp(type, "idx[", 4) == 0; }
static bool is_pair(const char *type) { return type[0] == '(' && !elem_dot(type); }

/* `(s, t)`: its components. */
static void parts_of(Ctx *ctx, const char *pair, const char *parts[2])
{
    int depth = 0;
    const char *comma = pair;
    while (*comma && (depth != 1 || *comma != ',')) {
        depth += *comma == '(' ? 1 : *comma == ')' ? -1 : 0;
        comma++;
    }
    parts[0] = ctx_printf(ctx, "%.*s", (int)(comma - pair - 1), pair + 1);
    parts[1] = ctx_printf(ctx, "%.*s", (int)strlen(comma + 2) - 1, comma + 2);
}

/* A number of type `to` that depends on all of what `name` is, and on the order of its elements. */
static const char *number_of(LawText *t, const char *to, const char *type, const char *name, int depth)
{
    Ctx *ctx = t->ctx;
    const char *dot = elem_dot(type);
    if (dot)
        return ctx_printf(ctx, "(%s |> reduceSeq(fun acc%d e%d => acc%d * 3 + %s, 1))", name, depth, depth, depth, number_of(t, to, dot + 1, ctx_printf(ctx, "e%d", depth), depth + 1));
    if (!is_pair(type))
        return strcmp(type, to) == 0 ? name : ctx_printf(ctx, "cast(%s)(%s)", to, name);
    const char *parts[2];
    parts_of(ctx, type, parts);
    const char *first = number_of(t, to, parts[0], ctx_printf(ctx, "%s.1", name), depth);
    if (t->shape->plain)
        return ctx_printf(ctx, "(%s + %s)", first, number_of(t, to, parts[1], ctx_printf(ctx, "%s.2", name), depth));
    return ctx_printf(ctx, "(%s * %d - %s * %d)", first, (int)below(t, 7) - 3, number_of(t, to, parts[1], ctx_printf(ctx, "%s.2", name), depth), (int)below(t, 9) + 1);
}

/* An array's term: each element is another, as the order of them has to show; and, of arrays of that length, made of theirs. */
static const char *array_term(LawText *t, const char *type, const char *dot, int n, const char *const *types)
{
    const char *more[MOST_VARS];
    StrBuf sb;
    sb_init(&sb, t->ctx);
    size_t size = (size_t)(dot - type);
    int k = 0;
    for (int i = 0; i < n; i++)
        more[k++] = types[i];
    sb_printf(&sb, "generate{n = %.*s}(fun j => let %c = cast(i32)(j) in ", (int)size, type, 'a' + k);
    more[k++] = "i32";
    for (int i = 0; i < n && k < MOST_VARS; i++)
        if (!is_pair(types[i]) && strncmp(types[i], type, size + 1) == 0) {
            sb_printf(&sb, "let %c = %c[j] in ", 'a' + k, 'a' + i);
            more[k++] = types[i] + size + 1;
        }
    sb_printf(&sb, "%s)", term_of(t, dot + 1, k, more));
    return sb.text;
}

/* An index below a size, made of another one; "0" where there is none. */
static const char *index_term(LawText *t, const char *type, int n, const char *const *types)
{
    for (int i = 0; i < n; i++)
        if (is_index(types[i]))
            return ctx_printf(t->ctx, "(%c * %d + %d) %% (%.*s)", 'a' + i, (int)below(t, 3) + 1, (int)below(t, 4), (int)strlen(type) - 5, type + 4);
    return "0";
}

/* A term of the type, of the variables a, b, ... of these types. */
static const char *term_of(LawText *t, const char *type, int n, const char *const *types)
{
    const char *dot = elem_dot(type);
    if (dot)
        return n + 1 < MOST_VARS ? array_term(t, type, dot, n, types) : "0";
    if (is_pair(type)) {
        const char *parts[2];
        parts_of(t->ctx, type, parts);
        const char *first = term_of(t, parts[0], n, types);
        return ctx_printf(t->ctx, "(%s, %s)", first, term_of(t, parts[1], n, types));
    }
    if (is_index(type))
        return index_term(t, type, n, types);
    if (strcmp(type, "bool") == 0)
        return ctx_printf(t->ctx, "(%s) %% 3 == 0", term_of(t, "i32", n, types));
    StrBuf sb;
    sb_init(&sb, t->ctx);
    for (int i = 0; i < n; i++) {
        sb_puts(&sb, i ? " + " : "");
        sb_puts(&sb, number_of(t, type, types[i], ctx_printf(t->ctx, "%c", 'a' + i), 0));
        if (!t->shape->plain)
            sb_printf(&sb, " * %d", (int)below(t, 9) + 2);
    }
    if (t->shape->plain != LAW_PLAINEST || n == 0)
        sb_printf(&sb, "%s%d", n ? " + " : "", !t->shape->plain ? (int)below(t, 50) + 1 : t->shape->plain != LAW_PLAINEST);
    return sb.text;
}

typedef struct Operator {
    const char *name, *unit, *type; /* no name: a function that has no laws */
    const char *shown;              /* to people; NULL: the name */
} Operator;

enum { CHOSEN_OPERATORS = 5, LAWLESS = 6 }; /* the first ones are chosen among; `min` is only where the left side has it */
static const Operator operators[] = {
    {"(+)", "0", "i32", NULL},
    {"max", "lowest", "i32", NULL},
    {"lawAffine", "(1, 0)", "(i32, i32)", "fun a b => (a.1 * b.1, a.2 * b.1 + b.2)"},
    {"lawSums", "(0, 0)", "(i32, i32)", "fun a b => (a.1 + b.1, a.2 + b.2)"},
    {"lawFromUnit", "highest", "i32", "fun a b => if a >= 0 and b >= 0 and b < a then b else a"}, /* lawful only of what begins with the unit */
    {"min", "highest", "i32", NULL},
    {NULL, NULL, "i32", NULL}};

/* The operator that a left side names itself, as in reduce(max, unit); -1: none. */
static int operator_named(Ctx *ctx, const Item *rule)
{
    static const char *const names[] = {"reduce((+)", "reduce(max", "reduce(min"};
    static const int which[] = {0, 1, 5};
    for (int i = 0; i < 3; i++)
        if (strstr(text_of(ctx, rule->body->bin.lhs), names[i]))
            return which[i];
    return -1;
}

/* Operators that choose one of two pairs, for `orders`: most by their first components, some by the second ones. The last one orders in neither way. */
#define FIRST_B(x, before, i) "if b." x " " before " a." x " or b." x " == a." x " and b." i " < a." i " then b else a"
#define FIRST_A(x, before, i) "if a." x " " before " b." x " or a." x " == b." x " and a." i " < b." i " then a else b"
#define NESTED(x, before, i) "if a." x " " before " b." x " then a else if a." x " == b." x " then (if b." i " > a." i " then a else b) else b"
struct Chooser {
    const char *name, *unit[2];
};
static const struct Chooser choosers[] = {
    {"lawLeast", {"highest", "highest"}},
    {"lawLeastOf", {"highest", "highest"}},
    {"lawGreatest", {"lowest", "highest"}},
    {"lawGreatestOf", {"lowest", "highest"}},
    {"lawNested", {"highest", "highest"}},
    {"lawSecond", {"highest", "highest"}},
    {"lawSecondOf", {"highest", "lowest"}},
    {"lawLatest", {"highest", "lowest"}}};
enum { CHOOSERS = sizeof choosers / sizeof *choosers };

#define LAW_FIRST(name, one, two, body) \
    "operator " name " (a: (i32, i32)) (b: (i32, i32)): (i32, i32) unit (" one ", " two "), associative, commutative = " body "\n"
static const char declarations[] =
    LAW_FIRST("lawLeast", "highest", "highest", FIRST_B("1", "<", "2")) LAW_FIRST("lawLeastOf", "highest", "highest", FIRST_A("1", "<", "2"))
    LAW_FIRST("lawGreatest", "lowest", "highest", FIRST_B("1", ">", "2")) LAW_FIRST("lawGreatestOf", "lowest", "highest", FIRST_A("1", ">", "2"))
    LAW_FIRST("lawNested", "highest", "highest", NESTED("1", "<", "2")) LAW_FIRST("lawSecond", "highest", "highest", FIRST_B("2", "<", "1"))
    LAW_FIRST("lawSecondOf", "highest", "lowest", FIRST_A("2", ">", "1"))
    LAW_FIRST("lawLatest", "highest", "lowest", "if b.1 < a.1 or b.1 == a.1 and b.2 > a.2 then b else a")
    "operator lawAffine (a: (i32, i32)) (b: (i32, i32)): (i32, i32) unit (1, 0), associative = (a.1 * b.1, a.2 * b.1 + b.2)\n"
    "operator lawFromUnit (a: i32) (b: i32): i32 unit highest, associative, commutative = if a >= 0 and b >= 0 and b < a then b else a\n"
    "operator lawSums (a: (i32, i32)) (b: (i32, i32)): (i32, i32) unit (0, 0), associative, commutative = (a.1 + b.1, a.2 + b.2)\n";

/* `t -> t -> t`: a place for an operator. */
static bool is_operator(const Ast *sig)
{
    if (sig->bin.rhs->kind != AST_ARROW)
        return false;
    const Ast *a = sig->bin.lhs, *b = sig->bin.rhs->bin.lhs, *c = sig->bin.rhs->bin.rhs;
    return a->kind == AST_NAME && b->kind == AST_NAME && c->kind == AST_NAME && a->name.text == b->name.text && b->name.text == c->name.text;
}

int law_param(const Item *rule, const char *name)
{
    for (int i = 0; i < rule->n_params; i++)
        if (strcmp(rule->params[i].name, name) == 0)
            return i;
    return -1;
}

static bool mentions_name(Ctx *ctx, const Ast *ast, const char *name)
{
    const char *text = text_of(ctx, ast);
    size_t n = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at += n)
        if ((at == text || !in_word(at[-1])) && !in_word(at[n]))
            return true;
    return false;
}

/* Whether `is` says so of some expression in a side of a rule. */
static bool any_in(const Ast *ast, bool (*is)(const Ast *ast, const char *name), const char *name)
{
    bool found = is(ast, name);
    switch (ast->kind) {
    case AST_CALL:
    case AST_BRACKET:
    case AST_NAMED:
        found = found || any_in(ast->call.fn, is, name);
        for (int i = 0; i < ast->call.n && !found; i++)
            found = any_in(ast->call.items[i], is, name);
        return found;
    case AST_PIPE:
    case AST_COMPOSE:
    case AST_BINARY:
    case AST_DOT:
        return found || any_in(ast->bin.lhs, is, name) || any_in(ast->bin.rhs, is, name);
    case AST_LAMBDA:
        return found || any_in(ast->lambda.body, is, name);
    case AST_LET:
        return found || any_in(ast->let.value, is, name) || any_in(ast->let.body, is, name);
    case AST_IF:
        return found || any_in(ast->cond.cond, is, name) || any_in(ast->cond.then, is, name) || any_in(ast->cond.otherwise, is, name);
    case AST_TUPLE:
        for (int i = 0; i < ast->list.n && !found; i++)
            found = any_in(ast->list.items[i], is, name);
        return found;
    default:
        return found;
    }
}

/* A primitive that takes only operators with laws. */
static bool wants_laws(const Ast *ast, const char *name)
{
    (void)name;
    PrimId id = ast->kind == AST_NAME ? prim_find(ast->name.text) : P_COUNT;
    return id != P_COUNT && prim_regroups(id);
}

/* `reduce(op, NAME)`: only a unit may stand there. */
static bool has_unit(const Ast *ast, const char *name)
{
    return ast->kind == AST_CALL && ast->call.n >= 2 && any_in(ast->call.fn, wants_laws, NULL) && ast->call.items[1]->kind == AST_NAME &&
           ast->call.items[1]->name.text == name;
}

/* The condition of that kind whose argument `arg` is the parameter; NULL. */
static const Ast *condition_on(const Item *rule, RuleCondition kind, int arg, const Param *p)
{
    for (int i = 0; i < rule->n_where; i++) {
        const Ast *cond = rule->where[i];
        if (rule_condition(cond) == kind && arg < cond->call.n && cond->call.items[arg]->kind == AST_NAME && cond->call.items[arg]->name.text == p->name)
            return cond;
    }
    return NULL;
}

/* A condition finds what it is. */
static bool is_found(const Item *rule, const Param *p)
{
    for (int i = 0; i < rule->n_where; i++) {
        const Ast *cond = rule->where[i];
        RuleCondition kind = rule_condition(cond);
        for (int arg = 0; kind != RULE_CONDITIONS && arg < cond->call.n; arg++)
            if (rule_finds(kind, FINDS_FIRST, arg) && cond->call.items[arg]->kind == AST_NAME && cond->call.items[arg]->name.text == p->name)
                return true;
    }
    return false;
}

/* The lanes that compute the place of the rule, where it asks for them. NULL: those of a whole warp. */
static const Param *lanes_param(const Item *rule)
{
    for (int i = 0; i < rule->n_params; i++)
        if (condition_on(rule, RULE_lanes, 0, &rule->params[i]))
            return &rule->params[i];
    return NULL;
}

static bool takes_operator(const Item *rule, const Param *p) { return is_operator(p->kind) && !is_found(rule, p); }

void law_choose(LawText *t, LawShape *to)
{
    const Item *rule = t->rule;
    int named = operator_named(t->ctx, rule);
    to->op = (int)below(t, CHOSEN_OPERATORS);
    if (!any_in(rule->body->bin.lhs, wants_laws, NULL) && below(t, 3) == 0)
        to->op = LAWLESS;
    to->op = named < 0 ? to->op : named;
    int open_nats = 0;
    for (int i = 0; i < rule->n_params; i++)
        open_nats += kind_of(&rule->params[i]) == IS_NAT && rule->params[i].implicit && !is_found(rule, &rule->params[i]);
    /* Of rules of the whole device, one size is now and then such that it wants blocks. */
    bool device = rule->level && strcmp(rule->level, "grid") == 0;
    int large = device && open_nats && below(t, 2) ? (int)below(t, open_nats) : -1;
    to->constants = rule->level && below(t, 4) ? t->state | 1 : 0;
    bool narrow = to->constants && below(t, 4); /* what the strategy gives is 1, so that few elements fill a tile */
    bool closed = below(t, 3) == 0; /* all of them: what a left side wants of two sizes is known then */
    for (int i = 0; i < rule->n_params; i++) {
        to->types[i] = NULL;
        to->open[i] = false;
        if (kind_of(&rule->params[i]) == IS_TYPE)
            to->types[i] = below(t, 2) || strcmp(rule->params[i].kind->name.text, "data") != 0 ? "i32" : "(i32, i32)";
        if (kind_of(&rule->params[i]) == IS_NAT && !is_found(rule, &rule->params[i])) {
            bool implicit = rule->params[i].implicit;
            to->nats[i] = !implicit ? (narrow ? 1 : (int64_t)below(t, 7)) : large-- == 0 ? (int64_t)(250 + below(t, below(t, 3) ? 900 : 3000)) : (int64_t)below(t, 13);
            to->open[i] = implicit && !closed && below(t, 3) == 0;
            if (&rule->params[i] == lanes_param(rule)) {
                static const int64_t lanes[] = {2, 8, 32, 32};
                to->nats[i] = lanes[below(t, 4)];
                to->open[i] = false;
            }
        }
    }
    law_set_operator(rule, to, to->op);
}

/* An operator says what its type is. */
void law_set_operator(const Item *rule, LawShape *to, int op)
{
    to->op = op;
    for (int i = 0; i < rule->n_params; i++)
        if (kind_of(&rule->params[i]) == IS_FUN && takes_operator(rule, &rule->params[i])) {
            int k = law_param(rule, rule->params[i].kind->bin.lhs->name.text);
            if (k >= 0)
                to->types[k] = operators[op].type;
        }
}

static const char *function_text(LawText *t, const Param *p)
{
    const Ast *same = condition_on(t->rule, RULE_sameAs, 0, p);
    if (condition_on(t->rule, RULE_orders, 0, p))
        return t->chooser->name;
    if (same && below(t, 4))
        return with_casts(t, text_of(t->ctx, same->call.items[1]));
    if (is_operator(p->kind) && operators[t->shape->op].name)
        return operators[t->shape->op].name;
    if (condition_on(t->rule, RULE_absorbs, 0, p)) {
        const char *result = with_types(t, text_of(t->ctx, p->kind->bin.rhs));
        return ctx_printf(t->ctx, "fun (p: %s) => cast(%s)(p.1) * cast(%s)(p.2)", with_types(t, text_of(t->ctx, p->kind->bin.lhs)), result, result);
    }
    const char *types[8];
    StrBuf sb;
    sb_init(&sb, t->ctx);
    sb_puts(&sb, "fun");
    int n = 0;
    const Ast *sig = p->kind;
    for (; sig->kind == AST_ARROW && n < 8; sig = sig->bin.rhs, n++) {
        types[n] = with_types(t, text_of(t->ctx, sig->bin.lhs));
        sb_printf(&sb, " (%c: %s)", 'a' + n, types[n]);
    }
    sb_printf(&sb, " => %s", term_of(t, with_types(t, text_of(t->ctx, sig)), n, types));
    return sb.text;
}

/* The type of the argument of a side that lacks it: what the rule's header leaves open, as docs/rules.md says. */
static const char *argument_type(LawText *t)
{
    const Item *rule = t->rule;
    StrBuf sb;
    sb_init(&sb, t->ctx);
    const char *elem = NULL;
    for (int i = 0; i < rule->n_params; i++) {
        const Param *p = &rule->params[i];
        bool said = false;
        for (int k = 0; k < rule->n_params; k++)
            said |= (kind_of(&rule->params[k]) == IS_FUN || kind_of(&rule->params[k]) == IS_DATA) && mentions_name(t->ctx, rule->params[k].kind, p->name);
        if (kind_of(p) == IS_NAT && p->implicit && !said)
            sb_printf(&sb, "%s.", p->name);
        if (kind_of(p) == IS_TYPE && !said)
            elem = t->shape->types[i];
    }
    for (int i = 0; i < rule->n_params && !elem; i++)
        if (kind_of(&rule->params[i]) == IS_FUN)
            elem = with_types(t, text_of(t->ctx, rule->params[i].kind->bin.lhs));
    sb_puts(&sb, elem ? elem : "i32");
    return sb.text;
}

static bool is_array(const Param *p)
{
    return p->kind->kind == AST_DOT || (p->kind->kind == AST_BRACKET && p->kind->call.fn->kind == AST_DOT); /* `m.idx[n]` is the latter */
}

/* What the left side is about, which a trial has as an input: an array, or all that the left side is. */
static bool is_subject(const Item *rule, const Param *p)
{
    const Ast *side = rule->body->bin.lhs;
    return is_array(p) || (side->kind == AST_NAME && side->name.text == p->name);
}

/* Whether a parameter has to be the operator's unit: a condition says so, or where it stands. */
static bool is_unit(const Item *rule, const char *name)
{
    for (int i = 0; i < rule->n_where; i++) {
        const Ast *cond = rule->where[i];
        if (rule_condition(cond) == RULE_isUnit && cond->call.n == 2 &&
            cond->call.items[1]->kind == AST_NAME && cond->call.items[1]->name.text == name)
            return true;
    }
    return any_in(rule->body->bin.lhs, has_unit, name);
}

/* `reduce(op, (NAME, other))`, or the other one. */
static bool is_part_of_unit(const Ast *ast, const char *name, int k)
{
    const Ast *unit = ast->kind == AST_CALL && ast->call.n >= 2 && any_in(ast->call.fn, wants_laws, NULL) ? ast->call.items[1] : NULL;
    return unit && unit->kind == AST_TUPLE && unit->list.items[k]->kind == AST_NAME && unit->list.items[k]->name.text == name;
}
static bool is_first_of_unit(const Ast *ast, const char *name) { return is_part_of_unit(ast, name, 0); }
static bool is_second_of_unit(const Ast *ast, const char *name) { return is_part_of_unit(ast, name, 1); }

/* `reduce(max, NAME)` of floats. */
static bool has_unit_of_max(const Ast *ast, const char *name)
{
    const Ast *op = has_unit(ast, name) ? ast->call.items[0] : NULL;
    return op && op->kind == AST_NAME && strcmp(op->name.text, "max") == 0;
}

/* What data of this name has to be, as the operator's unit or a part of it; NULL: anything. */
static const char *unit_text(const LawText *t, const char *name)
{
    const Item *rule = t->rule;
    const Ast *side = rule->body->bin.lhs;
    if (any_in(side, is_first_of_unit, name))
        return t->chooser->unit[0];
    if (any_in(side, is_second_of_unit, name))
        return t->chooser->unit[1];
    const Param *p = &rule->params[law_param(rule, name)];
    if (any_in(side, has_unit_of_max, name) && strcmp(text_of(t->ctx, p->kind), "f32") == 0)
        return "-inf";
    return is_unit(rule, name) ? operators[t->shape->op].unit : NULL;
}

/* The entry whose body is the left side; inside the level that the rule wants. */
const char *law_left(LawText *t, const char *result)
{
    const Item *rule = t->rule;
    StrBuf sb;
    sb_init(&sb, t->ctx);
    sb_printf(&sb, "%.*s\n%sentry lawLeft", (int)t->size, t->text, declarations);
    for (int i = 0; i < rule->n_params; i++)
        if (kind_of(&rule->params[i]) == IS_NAT && !is_found(rule, &rule->params[i])) {
            if (t->shape->open[i])
                sb_printf(&sb, " {%s: nat}", rule->params[i].name);
            else
                sb_printf(&sb, " (%s: nat = %lld)", rule->params[i].name, (long long)t->shape->nats[i]);
        }
    const char *level = rule->level ? rule->level : "grid";
    int wraps = strcmp(level, "block") == 0 ? 1 : strcmp(level, "warp") == 0 ? 2 : strcmp(level, "thread") == 0 ? 3 : 0;
    bool bare = match_arguments(t->ctx, rule) > 0;
    /* The array that the level's pattern goes over. */
    const char *over = bare ? "xs" : NULL;
    for (int i = 0; i < rule->n_params && !over; i++)
        if (kind_of(&rule->params[i]) == IS_DATA && is_array(&rule->params[i]))
            over = rule->params[i].name;
    const char *side = ctx_printf(t->ctx, bare ? "xs |> (%s)" : "%s", text_of(t->ctx, rule->body->bin.lhs));
    t->chooser = &choosers[below(t, CHOOSERS)];
    StrBuf body;
    sb_init(&body, t->ctx);
    for (int i = 0; i < rule->n_params; i++) {
        const Param *p = &rule->params[i];
        if (is_found(rule, p))
            continue;
        if (kind_of(p) == IS_FUN) {
            const Operator *op = takes_operator(rule, p) ? &operators[t->shape->op] : NULL;
            const char *function = function_text(t, p);
            t->said[i] = op && op->shown ? op->shown : function;
            sb_printf(&body, "let %s = %s in\n  ", p->name, function);
        }
        if (kind_of(p) != IS_DATA)
            continue;
        const char *type = with_types(t, text_of(t->ctx, p->kind));
        if (is_subject(rule, p)) {
            sb_printf(&sb, " (%s: %s%s)", p->name, wraps && over && strcmp(p->name, over) == 0 ? "2." : "", type);
            continue;
        }
        const char *unit = unit_text(t, p->name);
        t->said[i] = unit ? unit : term_of(t, type, 0, NULL);
        sb_printf(&body, "let %s: %s = %s in\n  ", p->name, type, t->said[i]);
    }
    if (bare)
        sb_printf(&sb, " (xs: %s%s)", wraps ? "2." : "", argument_type(t));
    if (wraps && !over)
        sb_printf(&sb, " (%s: 2.i32)", over = "turns");
    static const char *const patterns[] = {NULL, "mapBlock", "mapWarp", "mapGlobal"};
    const Param *lanes = lanes_param(rule);
    const char *pattern = lanes ? ctx_printf(t->ctx, "mapWarp[lanes = %s]", lanes->name) : patterns[wraps];
    side = with_casts(t, side);
    if (wraps)
        sb_printf(&body, "%s |> %s(fun %s => %s)", over, pattern, over, side);
    else
        sb_puts(&body, side);
    sb_printf(&sb, ": %s", result);
    /* What the rule wants of sizes is a fact of the entry, where there are sizes of the launch. */
    int n = 0;
    bool any_open = false;
    for (int i = 0; i < rule->n_params; i++)
        any_open |= t->shape->open[i];
    for (int i = 0; i < rule->n_where && any_open; i++)
        if (rule->where[i]->kind == AST_BINARY)
            sb_printf(&sb, "%s%s", n++ ? ", " : "\n  where ", text_of(t->ctx, rule->where[i]));
    sb_printf(&sb, " =\n  %s\n", body.text);
    return sb.text;
}

bool law_is_nat(const Param *p) { return kind_of(p) == IS_NAT; }
bool law_is_type(const Param *p) { return kind_of(p) == IS_TYPE; }

bool law_can_be_tried(const Item *rule)
{
    bool good = rule->n_params <= LAW_PARAMS && rule->body && rule->body->kind == AST_BINARY;
    for (int i = 0; i < rule->n_params; i++)
        good = good && rule->params[i].name && rule->params[i].kind;
    return good;
}
