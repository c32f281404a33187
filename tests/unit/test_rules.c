/* Every rule of the library is a claim: here it is tested as one.
 *
 *     test_rules [--trials N] [--seed N] [-v] MODULE...        rules.algorithmic and so on
 *
 * A trial writes the left side as an entry, with random small sizes, types, functions and operators for the parameters; some sizes stay open until launch. The
 * rule has to fire there or say that a condition is not known; where it fires, both programs are run by the reference interpreter on the same inputs and have
 * to agree bit for bit. Each rule has to fire. Each condition of a rule is taken out in turn: some trial must then give another result, or a term that is not
 * well typed, else the condition is of no use. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "executors.h"
#include "rewrite/rewrite.h"
#include "frontend/rule.h"

static uint64_t state;

static uint64_t below(uint64_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % n;
}

enum { MOST_PARAMS = 24, NAME_ROOM = 32, MOST_VARS = 9 };

typedef enum Kind { IS_NAT, IS_TYPE, IS_FUN, IS_DATA } Kind;

static Kind kind_of(const Param *p)
{
    if (p->kind->kind == AST_ARROW)
        return IS_FUN;
    if (p->kind->kind == AST_NAME && strcmp(p->kind->name.text, "nat") == 0)
        return IS_NAT;
    if (p->kind->kind == AST_NAME && (strcmp(p->kind->name.text, "data") == 0 || strcmp(p->kind->name.text, "num") == 0))
        return IS_TYPE;
    return IS_DATA;
}

/* ---- a trial's text ---------------------------------------------------------------------------------------------------- */

typedef struct Trial_ {
    Ctx *ctx;
    const Item *rule;
    int64_t nats[MOST_PARAMS];      /* beside the parameters */
    bool open[MOST_PARAMS];         /* a size of the launch */
    const char *types[MOST_PARAMS]; /* of those that are types: "i32" or "(i32, i32)" */
    int op;                         /* which operator */
} Trial_;

static const char *text_of(Ctx *ctx, const Ast *ast)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    ast_print(&sb, ast);
    return sb.text;
}

static bool in_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/* The text with the rule's types in place of their names. */
static const char *with_types(const Trial_ *t, const char *text)
{
    StrBuf sb;
    sb_init(&sb, t->ctx);
    for (const char *at = text; *at;) {
        size_t n = 0;
        while (in_word(at[n]))
            n++;
        const char *type = NULL;
        for (int i = 0; n && i < t->rule->n_params; i++)
            if (t->types[i] && strlen(t->rule->params[i].name) == n && memcmp(t->rule->params[i].name, at, n) == 0)
                type = t->types[i];
        if (type)
            sb_puts(&sb, type);
        else
            sb_putn(&sb, at, n ? n : 1);
        at += n ? n : 1;
    }
    return sb.text;
}

static bool is_pair(const char *type) { return type[0] == '('; }

/* `(s, t)`: its components. */
static void parts_of(Ctx *ctx, const char *pair, const char *parts[2])
{
    int depth = 0;
    const char *comma = pair;
    while (depth != 1 || *comma != ',') {
        depth += *comma == '(' ? 1 : *comma == ')' ? -1 : 0;
        comma++;
    }
    parts[0] = ctx_printf(ctx, "%.*s", (int)(comma - pair - 1), pair + 1);
    parts[1] = ctx_printf(ctx, "%.*s", (int)strlen(comma + 2) - 1, comma + 2);
}

/* A number that depends on all of what `name` is, and on the order of its elements. */
static const char *number_of(Ctx *ctx, const char *type, const char *name, int depth)
{
    const char *dot = is_pair(type) ? NULL : strchr(type, '.');
    if (dot)
        return ctx_printf(ctx, "(%s |> reduceSeq(fun acc%d e%d => acc%d * 3 + %s, 1))", name, depth, depth, depth, number_of(ctx, dot + 1, ctx_printf(ctx, "e%d", depth), depth + 1));
    if (!is_pair(type))
        return name;
    const char *parts[2];
    parts_of(ctx, type, parts);
    return ctx_printf(ctx, "(%s * %d - %s * %d)", number_of(ctx, parts[0], ctx_printf(ctx, "%s.1", name), depth), (int)below(7) - 3,
                      number_of(ctx, parts[1], ctx_printf(ctx, "%s.2", name), depth), (int)below(9) + 1);
}

/* A term of the type, of the variables a, b, ... of these types. */
static const char *term_of(const Trial_ *t, const char *type, int n, const char *const *types)
{
    const char *dot = is_pair(type) ? NULL : strchr(type, '.');
    if (dot) { /* each element is another, as the order of them has to show; and, of arrays of that length, made of theirs */
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
    if (is_pair(type)) {
        const char *parts[2];
        parts_of(t->ctx, type, parts);
        const char *first = term_of(t, parts[0], n, types);
        return ctx_printf(t->ctx, "(%s, %s)", first, term_of(t, parts[1], n, types));
    }
    StrBuf sb;
    sb_init(&sb, t->ctx);
    for (int i = 0; i < n; i++)
        sb_printf(&sb, "%s * %d + ", number_of(t->ctx, types[i], ctx_printf(t->ctx, "%c", 'a' + i), 0), (int)below(9) + 2);
    sb_printf(&sb, "%d", (int)below(50) + 1);
    return sb.text;
}

typedef struct Operator {
    const char *name, *unit, *type;
    bool commutative;
} Operator;

static const Operator operators[] = {
    {"(+)", "0", "i32", true}, {"max", "lowest", "i32", true}, {"affine", "(1, 0)", "(i32, i32)", false}, {"sums", "(0, 0)", "(i32, i32)", true}, {"min", "highest", "i32", true}};

/* The operator that a left side names itself, as in reduce(max, unit); -1: none. */
static int operator_named(Ctx *ctx, const Item *rule)
{
    static const char *const names[] = {"reduce((+)", "reduce(max", "reduce(min"};
    static const int which[] = {0, 1, 4};
    for (int i = 0; i < 3; i++)
        if (strstr(text_of(ctx, rule->body->bin.lhs), names[i]))
            return which[i];
    return -1;
}

static const char declarations[] =
    "operator affine (a: (i32, i32)) (b: (i32, i32)): (i32, i32) unit (1, 0), associative = (a.1 * b.1, a.2 * b.1 + b.2)\n"
    "operator sums (a: (i32, i32)) (b: (i32, i32)): (i32, i32) unit (0, 0), associative, commutative = (a.1 + b.1, a.2 + b.2)\n";

/* `t -> t -> t`: a place for an operator. */
static bool is_operator(const Ast *sig)
{
    if (sig->bin.rhs->kind != AST_ARROW)
        return false;
    const Ast *a = sig->bin.lhs, *b = sig->bin.rhs->bin.lhs, *c = sig->bin.rhs->bin.rhs;
    return a->kind == AST_NAME && b->kind == AST_NAME && c->kind == AST_NAME && a->name.text == b->name.text && b->name.text == c->name.text;
}

static int param_named(const Item *rule, const char *name)
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

static void choose(Trial_ *t)
{
    const Item *rule = t->rule;
    int named = operator_named(t->ctx, rule);
    t->op = (int)below(4);
    t->op = named < 0 ? t->op : named;
    int open_nats = 0;
    for (int i = 0; i < rule->n_params; i++)
        open_nats += kind_of(&rule->params[i]) == IS_NAT && rule->params[i].implicit;
    /* Of rules of the whole device, one size is now and then such that it wants blocks. */
    bool device = rule->level && strcmp(rule->level, "grid") == 0;
    int large = device && open_nats && below(3) == 0 ? (int)below(open_nats) : -1;
    for (int i = 0; i < rule->n_params; i++) {
        t->types[i] = NULL;
        t->open[i] = false;
        if (kind_of(&rule->params[i]) == IS_TYPE)
            t->types[i] = below(2) || strcmp(rule->params[i].kind->name.text, "num") == 0 ? "i32" : "(i32, i32)";
        if (kind_of(&rule->params[i]) == IS_NAT) {
            bool implicit = rule->params[i].implicit;
            t->nats[i] = !implicit ? (int64_t)below(7) : large-- == 0 ? (int64_t)(250 + below(900)) : (int64_t)below(13);
            t->open[i] = implicit && below(3) == 0;
        }
    }
    /* An operator says what its type is. */
    for (int i = 0; i < rule->n_params; i++)
        if (kind_of(&rule->params[i]) == IS_FUN && is_operator(rule->params[i].kind)) {
            int k = param_named(rule, rule->params[i].kind->bin.lhs->name.text);
            if (k >= 0)
                t->types[k] = operators[t->op].type;
        }
}

static const char *function_text(const Trial_ *t, const Param *p)
{
    if (is_operator(p->kind))
        return operators[t->op].name;
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
static const char *argument_type(const Trial_ *t)
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
            elem = t->types[i];
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

static bool side_is_function(const Item *rule)
{
    const Ast *side = rule->body->bin.lhs;
    if (side->kind == AST_COMPOSE)
        return true;
    /* Whether it names an array among its parameters, or is applied to one. */
    for (int i = 0; i < rule->n_params; i++)
        if (kind_of(&rule->params[i]) == IS_DATA && (is_array(&rule->params[i]) || strcmp(rule->params[i].name, "x") == 0))
            return false;
    return true;
}

/* The entry whose body is the left side; inside the level that the rule wants. */
static const char *left_text(const Trial_ *t, const char *module, const char *result)
{
    const Item *rule = t->rule;
    StrBuf sb;
    sb_init(&sb, t->ctx);
    sb_printf(&sb, "import %s\n%sentry left", module, declarations);
    for (int i = 0; i < rule->n_params; i++)
        if (kind_of(&rule->params[i]) == IS_NAT) {
            if (t->open[i])
                sb_printf(&sb, " {%s: nat}", rule->params[i].name);
            else
                sb_printf(&sb, " (%s: nat = %lld)", rule->params[i].name, (long long)t->nats[i]);
        }
    const char *level = rule->level ? rule->level : "grid";
    int wraps = strcmp(level, "block") == 0 ? 1 : strcmp(level, "warp") == 0 ? 2 : strcmp(level, "thread") == 0 ? 3 : 0;
    bool function = side_is_function(rule);
    /* The array that the level's pattern goes over. */
    const char *over = function ? "xs" : NULL;
    for (int i = 0; i < rule->n_params && !over; i++)
        if (kind_of(&rule->params[i]) == IS_DATA && is_array(&rule->params[i]))
            over = rule->params[i].name;
    StrBuf body;
    sb_init(&body, t->ctx);
    for (int i = 0; i < rule->n_params; i++) {
        const Param *p = &rule->params[i];
        if (kind_of(p) == IS_FUN)
            sb_printf(&body, "let %s = %s in\n  ", p->name, function_text(t, p));
        if (kind_of(p) != IS_DATA)
            continue;
        const char *type = with_types(t, text_of(t->ctx, p->kind));
        if (is_array(p) || strcmp(p->name, "x") == 0)
            sb_printf(&sb, " (%s: %s%s)", p->name, wraps && over && strcmp(p->name, over) == 0 ? "2." : "", type);
        else if (strcmp(p->name, "unit") == 0)
            sb_printf(&body, "let unit: %s = %s in\n  ", type, operators[t->op].unit);
        else
            sb_printf(&body, "let %s: %s = %s in\n  ", p->name, type, term_of(t, type, 0, NULL));
    }
    const char *side = ctx_printf(t->ctx, function ? "xs |> (%s)" : "%s", text_of(t->ctx, rule->body->bin.lhs));
    if (function)
        sb_printf(&sb, " (xs: %s%s)", wraps ? "2." : "", argument_type(t));
    static const char *const patterns[] = {NULL, "mapBlock", "mapWarp", "mapGlobal"};
    if (wraps && over)
        sb_printf(&body, "%s |> %s(fun %s => %s)", over, patterns[wraps], over, side);
    else
        sb_puts(&body, side);
    sb_printf(&sb, ": %s", result);
    /* What the rule wants of sizes is a fact of the entry, where there are sizes of the launch. */
    int n = 0;
    bool any_open = false;
    for (int i = 0; i < rule->n_params; i++)
        any_open |= t->open[i];
    for (int i = 0; i < rule->n_where && any_open; i++)
        if (rule->where[i]->kind == AST_BINARY)
            sb_printf(&sb, "%s%s", n++ ? ", " : "\n  where ", text_of(t->ctx, rule->where[i]));
    sb_printf(&sb, " =\n  %s\n", body.text);
    return sb.text;
}

/* ---- a trial ------------------------------------------------------------------------------------------------------------ */

typedef enum Result { UNTYPED, REFUSED, ILL_TYPED, FIRED_SAME, FIRED_OTHER, NOT_RUN } Result;

static bool show;

static const char *message(Ctx *ctx, DiagCode code)
{
    for (int i = 0; i < ctx->diags.list.n; i++)
        if (ctx->diags.list.at[i]->code == code)
            return ctx->diags.list.at[i]->message;
    return NULL;
}

static void forget(Ctx *ctx)
{
    ctx->diags.list.n = 0;
    ctx->diags.errors = ctx->diags.warnings = 0;
}

/* The type of the left side: what a wrong one is told to be. */
static const char *result_type(Ctx *ctx, const Trial_ *t, const char *module)
{
    const char *text = left_text(t, module, "(bool, bool, bool)");
    CoreEntry *entry = elab_entry(ctx, program_from_text(ctx, "left.rise", text, strlen(text)), 0, 0, NULL);
    const char *told = message(ctx, E0312), *start;
    if (entry || !told || !strstr(told, ", and its header")) {
        if (show && ctx->diags.list.n)
            printf("untyped: %s\n%s\n", ctx->diags.list.at[0]->message, text);
        told = NULL;
    }
    forget(ctx);
    if (!told || !(start = strstr(told, " is ")))
        return NULL;
    const char *end = strstr(start, ", and its header");
    return end ? ctx_printf(ctx, "%.*s", (int)(end - start - 4), start + 4) : NULL;
}

static const Ast *strategy_of(Ctx *ctx, const Trial_ *t)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    const Item *rule = t->rule;
    sb_printf(&sb, "strategy given = %s%s", rule->level ? "topDown(" : "", rule->name);
    int n = 0;
    for (int i = 0; i < rule->n_params; i++)
        if (kind_of(&rule->params[i]) == IS_NAT && !rule->params[i].implicit)
            sb_printf(&sb, "%s%s = %lld", n++ ? ", " : "{", rule->params[i].name, (long long)t->nats[i]);
    sb_puts(&sb, n ? "}" : "");
    sb_puts(&sb, rule->level ? ")" : "");
    const AstFile *file = parse_file(ctx, source_add(ctx, "strategy", sb.text, sb.len));
    return file->items.n ? file->items.at[0]->body : NULL;
}

static bool run_ref(Ctx *ctx, const CoreEntry *entry, Launch *launch)
{
    launch->n_results = type_component_count(entry->result);
    launch->results = NEWN(ctx, HostBuf, launch->n_results + 1);
    for (int k = 0; k < launch->n_results; k++)
        if (!launch_buffer(ctx, entry, launch, type_component(ctx, entry->result, k), &launch->results[k], true))
            return false;
    return interp_run(ctx, entry, launch);
}

static bool same_results(const Launch *a, const Launch *b)
{
    for (int r = 0; r < a->n_results; r++)
        if (a->results[r].count != b->results[r].count ||
            memcmp(a->results[r].bytes, b->results[r].bytes, (size_t)(a->results[r].count * scalar_bytes(a->results[r].elem))) != 0)
            return false;
    return true;
}

/* `without`: the condition that is left out, or -1. */
static Result one_trial(Ctx *ctx, const char *module, const char *rule_name, uint64_t seed, int without)
{
    state = seed * 0x9e3779b97f4a7c15u + 0x1234567;
    for (int i = 0; i < 4; i++)
        below(2);
    rule_name = intern(ctx, rule_name, strlen(rule_name));
    const char *import = ctx_printf(ctx, "import %s\n%sentry e (x: i32): i32 = x", module, declarations);
    Program *p = program_from_text(ctx, "rules.rise", import, strlen(import));
    const char *home;
    const Item *rule = program_rule(p, "rules.rise", rule_name, &home);
    if (!rule)
        return UNTYPED;
    Trial_ t = {.ctx = ctx, .rule = rule};
    choose(&t);
    uint64_t before = state;
    const char *type = result_type(ctx, &t, module);
    if (!type)
        return UNTYPED;
    state = before;
    const char *text = left_text(&t, module, type);
    Program *program = program_from_text(ctx, "left.rise", text, strlen(text));
    CoreEntry *entry = elab_entry(ctx, program, 0, 0, NULL);
    if (!entry || ctx->diags.errors)
        return UNTYPED;
    Item *used = (Item *)(uintptr_t)program_rule(program, "left.rise", rule_name, &home);
    const Ast *strategy = strategy_of(ctx, &t);
    Ast **conditions = NEWN(ctx, Ast *, used->n_where + 1);
    int kept = 0;
    for (int i = 0; i < used->n_where; i++)
        if (i != without)
            conditions[kept++] = used->where[i];
    Item *whole = NEW(ctx, Item);
    *whole = *used;
    used->where = conditions;
    used->n_where = kept;
    Rewriting r = {0};
    bool fired = rewrite_entry(ctx, entry, strategy, 0, NULL, -1, &r);
    if (!fired) {
        const char *why = message(ctx, E0801);
        bool ill = message(ctx, E0803) != NULL;
        if (show)
            printf("%s %s%s\n%s\n", rule_name, ill ? "ill typed: " : "refused: ", ill ? message(ctx, E0803) : why ? why : "?", text);
        return ill ? ILL_TYPED : REFUSED;
    }
    Launch a;
    int64_t *sizes = NEWN(ctx, int64_t, entry->n_sizes + 1);
    for (int i = 0; i < entry->n_sizes; i++) {
        int k = param_named(rule, entry->sizes[i]->name);
        sizes[i] = k >= 0 ? t.nats[k] : 3;
    }
    SampleInputs how = {.seed = seed + 1, .spread = 50};
    if (!sample_launch(ctx, entry, sizes, &how, &a))
        return NOT_RUN;
    Launch b = a;
    if (!run_ref(ctx, entry, &a))
        return NOT_RUN;
    if (!run_ref(ctx, r.entry, &b) || !same_results(&a, &b)) {
        if (show || without < 0) {
            StrBuf sb;
            sb_init(&sb, ctx);
            core_print_entry(&sb, r.entry);
            printf("%s: another result%s, seed %" PRIu64 "\n%s\nbecame\n%s\n", rule_name, without < 0 ? "" : " without a condition", seed, text, sb.text);
        }
        return FIRED_OTHER;
    }
    return FIRED_SAME;
}

/* ---- rules ----------------------------------------------------------------------------------------------------------------- */

typedef struct Job {
    const char *module, *rule;
    uint64_t seed;
    int without;
    Result result;
} Job;

static void do_trial(Ctx *ctx, void *user)
{
    Job *job = user;
    job->result = one_trial(ctx, job->module, job->rule, job->seed, job->without);
}

static Result trial(const char *module, const char *rule, uint64_t seed, int without)
{
    Job job = {module, rule, seed, without, UNTYPED};
    Ctx *ctx = ctx_new(NULL, NULL);
    ctx_try(ctx, do_trial, &job);
    ctx_free(ctx);
    return job.result;
}

static long checks, wrong;

enum {
    ENOUGH = 20,    /* trials in which a rule has to fire, and each of its conditions to be needed */
    MOST_TIMES = 20 /* so many times the trials for a condition that is not shown to be needed yet */
};

static void test_rule(const char *module, const Item *rule, long trials, uint64_t seed)
{
    long counts[NOT_RUN + 1] = {0};
    enum { MOST_CONDITIONS = 8 };
    bool needed[MOST_CONDITIONS] = {false};
    bool enough = trials >= ENOUGH;
    int shown = 0;
    /* Some conditions matter for few sizes only: those get more trials. */
    for (long k = 0; k < trials || (enough && shown < rule->n_where && k < MOST_TIMES * trials); k++) {
        Result r = trial(module, rule->name, seed + (uint64_t)k, -1);
        counts[r]++;
        for (int i = 0; i < rule->n_where && i < MOST_CONDITIONS && r == REFUSED; i++) {
            if (needed[i])
                continue;
            Result other = trial(module, rule->name, seed + (uint64_t)k, i);
            /* Without it the rule goes further: to another result, or to a right side that cannot stand there. */
            needed[i] = other == FIRED_OTHER || other == ILL_TYPED || other == REFUSED;
            shown += needed[i];
        }
    }
    checks += 2 + rule->n_where;
    bool good = counts[FIRED_OTHER] == 0 && counts[ILL_TYPED] == 0;
    wrong += !good;
    if (enough && counts[FIRED_SAME] == 0) {
        wrong++;
        printf("%s never fires\n", rule->name);
    }
    for (int i = 0; i < rule->n_where && i < MOST_CONDITIONS && enough; i++)
        if (!needed[i]) {
            wrong++;
            printf("%s: condition %d is not shown to be needed\n", rule->name, i + 1);
        }
    printf("  %-24s fired %4ld, refused %4ld, left side untyped %4ld%s\n", rule->name, counts[FIRED_SAME], counts[REFUSED], counts[UNTYPED], good ? "" : "  WRONG");
}

int main(int argc, char **argv)
{
    long trials = 60;
    uint64_t seed = 20261121;
    const char *only = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-v") == 0) {
            show = true;
        } else if (i + 1 < argc && strcmp(argv[i], "--trials") == 0) {
            trials = strtol(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) {
            seed = strtoull(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--rule") == 0) {
            only = argv[++i];
        } else {
            Ctx *ctx = ctx_new(NULL, NULL);
            const char *text = ctx_printf(ctx, "lib/%s.rise", argv[i]);
            char *path = strdup(text);
            for (char *c = path + 4; *c && strcmp(c, ".rise") != 0; c++)
                if (*c == '.')
                    *c = '/';
            const AstFile *file = program_ast(program_parse(ctx, path));
            printf("%s:\n", argv[i]);
            for (int k = 0; file && k < file->items.n; k++)
                if (file->items.at[k]->kind == ITEM_RULE && (!only || strcmp(only, file->items.at[k]->name) == 0))
                    test_rule(argv[i], file->items.at[k], trials, seed);
            wrong += !file;
            free(path);
            ctx_free(ctx);
        }
    }
    printf("rules: seed %" PRIu64 "\nrules: %ld checks, %ld wrong\n", seed, checks, wrong);
    return wrong != 0;
}
