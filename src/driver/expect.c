/* A clause is evaluated on its tree, after the run: its names are counters, and the sizes and tunables of the entry. */
#include "driver/expect.h"

#include "codegen/lower.h"
#include "driver/inputs.h"
#include "driver/profile.h"

typedef struct Expecting {
    Ctx *ctx;
    Driver *d;
    Program *program;
    int number;            /* of the entry in the program */
    const Expect *clause;
    const CoreEntry *entry;
    Launch launch;
    int64_t cells; /* of its inputs and results, so far */
    SimReport report;
    bool values_only;      /* after `for`: constants, no counters */
    CounterId mentioned;   /* the first counter of the condition at hand; COUNTER_COUNT: none */
} Expecting;

/* A size, a count, or (real) a ratio. */
typedef struct Number {
    bool good, real;
    int64_t i;
    double r;
} Number;

/* ---- names --------------------------------------------------------------------------------------------------------------- */

static const Number bad_number = {0};
static Number whole(int64_t i) { return (Number){.good = true, .i = i, .r = (double)i}; }
static Number real(double r) { return (Number){.good = true, .real = true, .r = r}; }

static Number counter_number(const Expecting *x, CounterId id)
{
    const Counts *total = &x->report.profile->total;
    return id < COUNTERS_COUNTED ? whole((int64_t)total->at[id]) : real(counter_value(total, id));
}

static bool entry_value(const Expecting *x, const char *name, int64_t *value)
{
    const CoreEntry *entry = x->entry;
    for (int i = 0; i < entry->n_sizes; i++)
        if (strcmp(entry->sizes[i]->name, name) == 0) {
            *value = x->launch.sizes[i];
            return true;
        }
    for (int i = 0; i < entry->n_tunables; i++)
        if (strcmp(entry->tunable_names[i], name) == 0) {
            *value = entry->tunable_values[i];
            return true;
        }
    return false;
}

static void unknown_name(const Expecting *x, Span span, const char *name)
{
    Nearest nearest;
    nearest_init(&nearest, name);
    StrBuf list;
    sb_init(&list, x->ctx);
    for (int id = 0; id < COUNTER_COUNT; id++) {
        nearest_try(&nearest, counter_rows[id].name);
        sb_printf(&list, "%s%s", id ? ", " : "", counter_rows[id].name);
    }
    for (int i = 0; i < x->entry->n_sizes; i++)
        nearest_try(&nearest, x->entry->sizes[i]->name);
    Diag *diag = diag_error(x->ctx, E0633, span, "`%s` is no counter, and no size of `%s`", name, x->entry->name);
    if (nearest.best)
        diag_propose(x->ctx, diag, span, "did you mean $?", "%s", nearest.best);
    else
        diag_note(x->ctx, diag, NO_SPAN, "the counters are %s", list.text);
}

static Number name_number(Expecting *x, const Ast *ast)
{
    int64_t value;
    const char *name = ast->name.text;
    if (x->values_only) {
        diag_error(x->ctx, E0634, ast->span, "after `for`, sizes are given as numbers, and `%s` is not a number", name);
        return bad_number;
    }
    if (entry_value(x, name, &value))
        return whole(value);
    CounterId id = counter_find(name);
    if (id == COUNTER_COUNT) {
        unknown_name(x, ast->span, name);
        return bad_number;
    }
    if (x->mentioned == COUNTER_COUNT)
        x->mentioned = id;
    return counter_number(x, id);
}

/* ---- expressions --------------------------------------------------------------------------------------------------------- */

static Number evaluate(Expecting *x, const Ast *ast);

static Number refuse(const Expecting *x, Span span, const char *why)
{
    diag_error(x->ctx, E0634, span, "%s", why);
    return bad_number;
}

/* What the language's sizes do, so that `/` means the same here. */
static Number whole_result(const Expecting *x, Span span, Nat n)
{
    return nat_is_const(n) ? whole(n->value) : refuse(x, span, "this has no value in 64 bits");
}

static Number whole_operator(const Expecting *x, const Ast *ast, int64_t a, int64_t b)
{
    Ctx *ctx = x->ctx;
    Nat p = nat_const(ctx, a), q = nat_const(ctx, b);
    AstOp op = ast->bin.op;
    if ((op == OP_DIV || op == OP_MOD) && b < 1)
        return refuse(x, ast->span, "this divides by a number below 1");
    if (op == OP_POW && b < 0)
        return refuse(x, ast->span, "this has a negative exponent");
    return whole_result(x, ast->span,
                        op == OP_ADD   ? nat_add(ctx, p, q)
                        : op == OP_SUB ? nat_sub(ctx, p, q)
                        : op == OP_MUL ? nat_mul(ctx, p, q)
                        : op == OP_DIV ? nat_div(ctx, p, q)
                        : op == OP_MOD ? nat_mod(ctx, p, q)
                                       : nat_pow(ctx, p, q));
}

static Number operator_number(Expecting *x, const Ast *ast)
{
    AstOp op = ast->bin.op;
    if (op > OP_POW)
        return refuse(x, ast->span, "an expectation is one comparison of numbers");
    Number a = evaluate(x, ast->bin.lhs), b = evaluate(x, ast->bin.rhs);
    if (!a.good || !b.good)
        return bad_number;
    if (!a.real && !b.real)
        return whole_operator(x, ast, a.i, b.i);
    switch (op) {
    case OP_ADD: return real(a.r + b.r);
    case OP_SUB: return real(a.r - b.r);
    case OP_MUL: return real(a.r * b.r);
    case OP_DIV: return b.r != 0 ? real(a.r / b.r) : refuse(x, ast->span, "this divides by 0");
    default: return refuse(x, ast->span, "`%` and `^` are for whole numbers, and a ratio is none");
    }
}

static Number call_number(Expecting *x, const Ast *ast)
{
    static const char *const names[] = {"min", "max", "ceilDiv", "log2", "pow2"};
    enum { MIN, MAX, CEIL_DIV, LOG2, POW2, FUNCTIONS };
    Ctx *ctx = x->ctx;
    int f = 0;
    while (f < FUNCTIONS && (ast->call.fn->kind != AST_NAME || strcmp(ast->call.fn->name.text, names[f]) != 0))
        f++;
    int wanted = f < LOG2 ? 2 : 1;
    if (f == FUNCTIONS || ast->call.n != wanted)
        return refuse(x, ast->span, "expectations know the functions min, max, ceilDiv, log2 and pow2");
    Number a = evaluate(x, ast->call.items[0]), b = wanted == 2 ? evaluate(x, ast->call.items[1]) : whole(0);
    if (!a.good || !b.good)
        return bad_number;
    if (a.real || b.real)
        return refuse(x, ast->span, "this function is for whole numbers, and a ratio is none");
    if ((f == CEIL_DIV && b.i < 1) || (f == LOG2 && a.i < 1) || (f == POW2 && a.i < 0))
        return refuse(x, ast->span, "this has no value");
    Nat p = nat_const(ctx, a.i), q = nat_const(ctx, b.i);
    return whole_result(x, ast->span,
                        f == MIN        ? nat_min(ctx, p, q)
                        : f == MAX      ? nat_max(ctx, p, q)
                        : f == CEIL_DIV ? nat_ceil_div(ctx, p, q)
                        : f == LOG2     ? nat_log2(ctx, p)
                                        : nat_pow(ctx, nat_const(ctx, 2), p));
}

static Number evaluate(Expecting *x, const Ast *ast)
{
    switch (ast->kind) {
    case AST_NAME: return name_number(x, ast);
    case AST_INT:
        if (ast->integer.value > INT64_MAX || ast->integer.suffix)
            break;
        return whole((int64_t)ast->integer.value);
    case AST_FLOAT: return real(ast->floating.value);
    case AST_BINARY: return operator_number(x, ast);
    case AST_UNARY: {
        Number a = ast->bin.op == OP_NEG ? evaluate(x, ast->bin.lhs) : bad_number;
        if (ast->bin.op != OP_NEG)
            break;
        return !a.good ? bad_number : a.real ? real(-a.r) : whole_result(x, ast->span, nat_mul_k(x->ctx, nat_const(x->ctx, a.i), -1));
    }
    case AST_CALL: return call_number(x, ast);
    case AST_ERROR: return bad_number;
    case AST_NAMED: case AST_BRACKET: case AST_DOT: case AST_PIPE: case AST_COMPOSE: case AST_ARROW: case AST_BINDER: case AST_TUPLE:
    case AST_OPFUN: case AST_LAMBDA: case AST_LET: case AST_IF: case AST_UNROLL: case AST_LIST: case AST_SEQ: case AST_ORELSE: case AST_AT: case AST_LABEL: break;
    }
    return refuse(x, ast->span, "this is no number: expectations compute with counters, sizes and numbers");
}

/* ---- conditions ---------------------------------------------------------------------------------------------------------- */

static bool holds(AstOp op, Number a, Number b)
{
    int order = a.real || b.real ? (a.r > b.r) - (a.r < b.r) : (a.i > b.i) - (a.i < b.i);
    switch (op) {
    case OP_EQ: return order == 0;
    case OP_NE: return order != 0;
    case OP_LT: return order < 0;
    case OP_LE: return order <= 0;
    case OP_GT: return order > 0;
    default: return order >= 0;
    }
}

static const char *number_words(Ctx *ctx, Number n)
{
    if (!n.real)
        return ctx_printf(ctx, "%lld", (long long)n.i);
    StrBuf text;
    sb_init(&text, ctx);
    sb_put_float(&text, n.r, true);
    return text.text;
}

/* " for n = 4096, block = 32" */
static const char *sizes_words(const Expecting *x)
{
    StrBuf text;
    sb_init(&text, x->ctx);
    for (int i = 0; i < x->clause->n_given; i++) {
        sb_printf(&text, i ? ", %s = " : " for %s = ", x->clause->given[i].name);
        ast_print(&text, x->clause->given[i].value);
    }
    return text.text;
}

/* The line that most of it comes from, and what is wrong there. */
static void blame(const Expecting *x, Diag *diag, CounterId id)
{
    Ctx *ctx = x->ctx;
    const SimProfile *profile = x->report.profile;
    const SimLine *line = profile_most(profile, id);
    if (!line || !line->file)
        return;
    const Source *source = source_get(ctx, line->file);
    const char *text = profile_line_text(ctx, line), *start = source_line(source, line->line), *at = strstr(start, text);
    uint32_t lo = (uint32_t)((at ? at : start) - source->text);
    CounterId counted = id < COUNTERS_COUNTED ? id : counter_rows[id].over;
    diag_note(ctx, diag, (Span){line->file, lo, lo + (uint32_t)strlen(text)}, "%llu of %llu %s are counted here",
              (unsigned long long)line->counts.at[counted], (unsigned long long)profile->total.at[counted], counter_rows[counted].name);
    Sentences words = {0};
    profile_verdict(ctx, &words, profile, line, id);
    for (int i = 0; i < words.n; i++)
        diag_note(ctx, diag, NO_SPAN, "%s", words.at[i]);
}

static void check_condition(Expecting *x, const Ast *ast)
{
    Ctx *ctx = x->ctx;
    if (ast->kind == AST_ERROR)
        return;
    if (ast->kind != AST_BINARY || ast->bin.op < OP_EQ || ast->bin.op > OP_GE) {
        Diag *diag = diag_error(ctx, E0634, ast->span, "an expectation compares: this is no comparison");
        diag_help(ctx, diag, "write `barriers == 1`, or `sectorsPerWarp <= 4`");
        return;
    }
    x->mentioned = COUNTER_COUNT;
    Number a = evaluate(x, ast->bin.lhs), b = evaluate(x, ast->bin.rhs);
    if (!a.good || !b.good)
        return;
    if (x->mentioned == COUNTER_COUNT) {
        Diag *diag = diag_error(ctx, E0634, ast->span, "this compares sizes, and no counter");
        diag_help(ctx, diag, "facts about sizes stand after `where`; `risec help profile` lists the counters");
        return;
    }
    if (holds(ast->bin.op, a, b))
        return;
    const CounterRow *row = &counter_rows[x->mentioned];
    Diag *diag = diag_error(ctx, E0632, ast->span, "%s: %s is %s%s", x->entry->name, row->name,
                            number_words(ctx, counter_number(x, x->mentioned)), sizes_words(x));
    diag_label(ctx, diag, "%s %s %s does not hold", number_words(ctx, a), ast_op_text(ast->bin.op), number_words(ctx, b));
    blame(x, diag, x->mentioned);
}

/* ---- the run -------------------------------------------------------------------------------------------------------------- */

static const Option *given(const Expecting *x, const char *name)
{
    for (int i = 0; i < x->clause->n_given; i++)
        if (strcmp(x->clause->given[i].name, name) == 0)
            return &x->clause->given[i];
    return NULL;
}

static bool size_given(Expecting *x, const Ast *ast, int64_t *value)
{
    x->values_only = true;
    Number n = evaluate(x, ast);
    x->values_only = false;
    *value = n.i;
    if (n.good && (n.real || n.i < 0))
        n = refuse(x, ast->span, "sizes are whole numbers, and not negative");
    return n.good;
}

static const Param *find_param(const Item *item, const char *name)
{
    for (int i = 0; i < item->n_params; i++)
        if (item->params[i].name && strcmp(item->params[i].name, name) == 0)
            return &item->params[i];
    return NULL;
}

/* The tunables that `for` and the command line give, as the elaborator wants them. */
static bool elaborate(Expecting *x)
{
    const Item *item = program_entry_item(x->program, x->number);
    int n;
    const ElabSetting *line = driver_settings(x->ctx, x->d, &n);
    ElabSetting *settings = NEWN(x->ctx, ElabSetting, x->clause->n_given + n + 1);
    for (int i = 0; i < n; i++)
        settings[i] = line[i];
    for (int i = 0; i < x->clause->n_given; i++) {
        const Option *o = &x->clause->given[i];
        const Param *param = find_param(item, o->name);
        int64_t value;
        if (!param) {
            diag_error(x->ctx, E0634, o->span, "`%s` has no size, tunable or input `%s`", item->name, o->name);
            return false;
        }
        if (!param->def)
            continue;
        if (!size_given(x, o->value, &value))
            return false;
        settings[n++] = (ElabSetting){o->name, value, o->span, false};
    }
    x->entry = elab_entry(x->ctx, x->program, x->number, n, settings);
    return x->entry;
}

/* `for n = 1000, m = 1000` behind the clause, of all that nothing gives. */
static void propose_sizes(const Expecting *x, Diag *diag)
{
    const Expect *clause = x->clause;
    StrBuf text;
    sb_init(&text, x->ctx);
    for (int i = 0, n = clause->n_given; i < x->entry->n_sizes; i++)
        if (!given(x, x->entry->sizes[i]->name))
            sb_printf(&text, "%s %s = 1000", n++ ? "," : " for", x->entry->sizes[i]->name);
    Span end = clause->n_given ? clause->given[clause->n_given - 1].value->span : clause->span;
    diag_propose(x->ctx, diag, span_end(end), "end it with $", "%s", text.text);
}

static bool set_sizes(Expecting *x)
{
    const CoreEntry *entry = x->entry;
    x->launch.n_sizes = entry->n_sizes;
    x->launch.sizes = NEWN(x->ctx, int64_t, entry->n_sizes + 1);
    for (int i = 0; i < entry->n_sizes; i++) {
        const char *name = entry->sizes[i]->name;
        const Option *o = given(x, name);
        if (!o) {
            Diag *diag = diag_error(x->ctx, E0634, x->clause->span, "nothing gives the size `%s` of `%s`", name, entry->name);
            propose_sizes(x, diag);
            return false;
        }
        if (!size_given(x, o->value, &x->launch.sizes[i]))
            return false;
    }
    return true;
}

/* How an input is filled: as `for` says, else uniform from seed 0, so that indices read from it are spread. */
static const char *input_words(const Expecting *x, const char *name, Span *span)
{
    const Option *o = given(x, name);
    *span = o ? o->value->span : x->clause->span;
    if (!o)
        return "uniform";
    StrBuf text;
    sb_init(&text, x->ctx);
    ast_print(&text, o->value);
    return text.text;
}

/* Counts say as much for small sizes, so that a check stays short. */
static bool is_small(Expecting *x, const char *what, const HostBuf *buf)
{
    if (buf->count <= LIMIT_EXPECT_CELLS - x->cells) {
        x->cells += buf->count;
        return true;
    }
    Diag *diag = diag_error(x->ctx, E0634, x->clause->span, "%s of `%s` has %lld elements%s, and expectations are checked on up to %d in all", what,
                            x->entry->name, (long long)buf->count, sizes_words(x), LIMIT_EXPECT_CELLS);
    diag_help(x->ctx, diag, "take smaller sizes: most counters grow with them");
    return false;
}

static bool make_input(Expecting *x, const CoreVar *var, Type type, HostBuf *buf, uint64_t seed)
{
    Span span;
    const char *words = input_words(x, var->name, &span);
    Type elem = type;
    int64_t below = 0;
    while (elem->kind == TY_ARRAY || elem->kind == TY_VEC)
        elem = elem->elem;
    if (!input_is_spec(words)) {
        Diag *diag = diag_error(x->ctx, E0634, span, "the input `%s` cannot be made from `%s`", var->name, words);
        diag_help(x->ctx, diag, "write iota, ones, zeros, uniform, normal or a number");
        return false;
    }
    return launch_buffer(x->ctx, x->entry, &x->launch, type, buf, false) && is_small(x, ctx_printf(x->ctx, "the input `%s`", var->name), buf) &&
           (elem->kind != TY_IDX || launch_nat(x->ctx, x->entry, &x->launch, elem->size, &below)) &&
           input_fill(x->ctx, var->name, words, seed, elem->kind == TY_IDX, below, buf);
}

static bool make_inputs(Expecting *x)
{
    int n = 0, k = 0;
    for (int i = 0; i < x->entry->n_inputs; i++)
        n += type_component_count(x->entry->inputs[i]->type);
    x->launch.n_buffers = n;
    x->launch.buffers = NEWN(x->ctx, HostBuf, n + 1);
    for (int i = 0; i < x->entry->n_inputs; i++) {
        const CoreVar *var = x->entry->inputs[i];
        for (int c = 0; c < type_component_count(var->type); c++, k++)
            if (!make_input(x, var, type_component(x->ctx, var->type, c), &x->launch.buffers[k], (uint64_t)k))
                return false;
    }
    for (int c = 0; c < type_component_count(x->entry->result); c++) {
        HostBuf result;
        if (!launch_buffer(x->ctx, x->entry, &x->launch, type_component(x->ctx, x->entry->result, c), &result, false) ||
            !is_small(x, "the result", &result))
            return false;
    }
    return launch_check(x->ctx, x->entry, &x->launch);
}

typedef struct Clause {
    Driver *d;
    Program *program;
    int number;
    const Expect *clause;
    bool only_sizes; /* no run */
    Ctx *keep;       /* for the outcome */
    const char *path;
    ExpectOutcome *outcome;
} Clause;

static void check_clause(Ctx *ctx, void *user)
{
    const Clause *c = user;
    if (c->clause->subject) {
        if (!c->only_sizes)
            expect_result(ctx, &(ExpectResult){c->keep, c->d, c->program, c->number, c->clause, c->path, c->outcome});
        return;
    }
    Expecting x = {.ctx = ctx, .d = c->d, .program = program_inside(ctx, c->program), .number = c->number, .clause = c->clause};
    static const SimOptions options = {.profile = true, .max_steps = LIMIT_EXPECT_STEPS, .max_bytes = LIMIT_EXPECT_BYTES};
    if (!elaborate(&x) || !set_sizes(&x) || c->only_sizes || !make_inputs(&x))
        return;
    const ImpProgram *imp = lower_entry(ctx, x.entry, (LowerPass)(PASS_COUNT - 1));
    if (!imp)
        return;
    int before = ctx->diags.list.n;
    bool ran = sim_run(ctx, imp, &x.launch, &options, &x.report);
    if (x.report.findings.n)
        sim_diagnose(ctx, &x.report);
    for (int i = before; i < ctx->diags.list.n; i++)
        diag_note(ctx, ctx->diags.list.at[i], c->clause->span, "in the run for this");
    for (int i = 0; ran && i < c->clause->n; i++)
        check_condition(&x, c->clause->conditions[i]);
}

/* ---- files of expectations ------------------------------------------------------------------------------------------------ */

static const Item *read_expectations(Ctx *ctx, Driver *d, const char *path)
{
    uint32_t file;
    return driver_source(ctx, d, path, &file) ? parse_expectations(ctx, file) : NULL;
}

/* -1: reported. */
static int entry_of(Ctx *ctx, const Program *program, const char *path, const Expect *clause)
{
    int n = program_entry_count(program);
    for (int k = 0; clause->entry && k < n; k++)
        if (strcmp(program_entry_name(program, k), clause->entry) == 0)
            return k;
    if (!clause->entry && n == 1)
        return 0;
    if (clause->entry) {
        diag_error(ctx, E0634, clause->entry_span, "%s has no entry `%s`", path, clause->entry);
        return -1;
    }
    Diag *diag = diag_error(ctx, E0634, clause->span, "%s has %d entries, and this names none of them", path, n);
    if (n)
        diag_help(ctx, diag, "write `expect %s [...]`", program_entry_name(program, 0));
    return -1;
}

int expect_line(const Ctx *ctx, const Expect *clause)
{
    int line, column;
    source_position(ctx, clause->span, &line, &column);
    return line;
}

/* One clause, in memory that goes after it. */
static ExpectOutcome check_one(Ctx *ctx, Clause *clause)
{
    int errors = ctx->diags.errors;
    ExpectOutcome outcome = {.entry = program_entry_name(clause->program, clause->number), .line = expect_line(ctx, clause->clause), .counters = !clause->clause->subject};
    clause->keep = ctx;
    clause->outcome = &outcome;
    ctx_do_inside(ctx, check_clause, clause);
    outcome.good = ctx->diags.errors == errors;
    if (outcome.counters)
        outcome.runs = 1;
    return outcome;
}

/* The clauses that stand at the program's entries. */
static void own_clauses(Ctx *ctx, Clause *clause, ExpectOutcomes *outcomes)
{
    const int64_t line = option_number(clause->d->line, OPT_CLAUSE, 0);
    const char *only = option_text(clause->d->line, OPT_ENTRY);
    for (int k = 0; k < program_entry_count(clause->program); k++) {
        const Item *item = program_entry_item(clause->program, k);
        for (int i = 0; i < item->n_expects && (!only || strcmp(item->name, only) == 0); i++) {
            clause->number = k;
            clause->clause = &item->expects[i];
            if (line && expect_line(ctx, clause->clause) != line)
                continue;
            ExpectOutcome outcome = check_one(ctx, clause);
            if (outcomes)
                vec_push(ctx, outcomes, outcome);
        }
    }
}

void expect_check_sizes(Ctx *ctx, Driver *d, Program *program)
{
    own_clauses(ctx, &(Clause){.d = d, .program = program, .only_sizes = true}, NULL);
}

void expect_check(Ctx *ctx, Driver *d, Program *program, const char *path, ExpectOutcomes *outcomes)
{
    Clause clause = {.d = d, .program = program, .path = path};
    const char *only = option_text(d->line, OPT_ENTRY), *file = option_text(d->line, OPT_EXPECT);
    int errors = ctx->diags.errors;
    own_clauses(ctx, &clause, outcomes);
    int before = ctx->diags.errors;
    const Item *more = file ? read_expectations(ctx, d, file) : NULL;
    bool readable = ctx->diags.errors == before;
    for (int i = 0; more && readable && i < more->n_expects; i++) {
        clause.clause = &more->expects[i];
        clause.number = entry_of(ctx, program, path, clause.clause);
        if (clause.number >= 0 && (!only || strcmp(program_entry_name(program, clause.number), only) == 0))
            check_one(ctx, &clause);
    }
    if (ctx->diags.errors > errors)
        driver_fail(d, STATUS_PROGRAM);
}
