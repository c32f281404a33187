#include "rewrite/laws.h"

#include <fenv.h>

#include "rewrite/law_text.h"

/* ---- a trial ------------------------------------------------------------------------------------------------------------ */

static const char *message(Ctx *ctx, DiagCode code)
{
    for (int i = 0; i < ctx->diags.list.n; i++)
        if (ctx->diags.list.at[i]->code == code)
            return ctx->diags.list.at[i]->message;
    return NULL;
}

static const char *any_message(Ctx *ctx) { return ctx->diags.list.n ? ctx->diags.list.at[0]->message : NULL; }

static void forget(Ctx *ctx)
{
    ctx->diags.list.n = 0;
    ctx->diags.errors = ctx->diags.warnings = 0;
}

static CoreEntry *left_entry(Ctx *ctx, const LawText *t, const LawFile *file, const char *text, Program **program)
{
    *program = program_from_text(ctx, file->path, text, strlen(text));
    law_set_constants(ctx, *program, t->shape);
    int n = program_entry_count(*program);
    return n ? elab_entry(ctx, *program, n - 1, 0, NULL) : NULL;
}

/* The type of the left side: what a wrong one is told to be. */
static const char *result_type(Ctx *ctx, LawText *t, const LawFile *file, const char **why)
{
    Program *program;
    CoreEntry *entry = left_entry(ctx, t, file, law_left(t, "(bool, bool, bool)"), &program);
    const char *told = message(ctx, E0312), *start;
    if (entry || !told || !strstr(told, ", and its header")) {
        *why = any_message(ctx);
        told = NULL;
    }
    forget(ctx);
    if (!told || !(start = strstr(told, " is ")))
        return NULL;
    const char *end = strstr(start, ", and its header");
    return end ? ctx_printf(ctx, "%.*s", (int)(end - start - 4), start + 4) : NULL;
}

static const Ast *strategy_of(Ctx *ctx, const LawText *t)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    const Item *rule = t->rule;
    sb_printf(&sb, "strategy given = %s%s", rule->level ? "topDown(" : "", rule->name);
    int n = 0;
    for (int i = 0; i < rule->n_params; i++)
        if (law_is_nat(&rule->params[i]) && !rule->params[i].implicit)
            sb_printf(&sb, "%s%s = %lld", n++ ? ", " : "{", rule->params[i].name, (long long)t->shape->nats[i]);
    sb_puts(&sb, n ? "}" : "");
    sb_puts(&sb, rule->level ? ")" : "");
    const AstFile *file = parse_file(ctx, source_add(ctx, "strategy", sb.text, sb.len));
    return file->items.n ? file->items.at[0]->body : NULL;
}

/* Runs both sides. True where they differ, and nothing was rounded: *why says so, or out->cell where. */
static bool sides_differ(void *user, const Launch *launch)
{
    LawOutcome *out = user;
    Ctx *ctx = out->ctx;
    int before = ctx->diags.list.n, errors = ctx->diags.errors;
    out->left_run = out->right_run = *launch;
    out->why = NULL;
    feclearexcept(FE_INEXACT);
    bool left = sample_run(ctx, out->before, &out->left_run), right = left && sample_run(ctx, out->after, &out->right_run);
    out->result = !left || fetestexcept(FE_INEXACT) ? LAW_NOT_RUN : LAW_SAME;
    if (left && !right)
        out->why = any_message(ctx);
    ctx->diags.list.n = before;
    ctx->diags.errors = errors;
    if (out->result == LAW_NOT_RUN)
        return false;
    if (right) {
        sample_plain_zeros(&out->left_run);
        sample_plain_zeros(&out->right_run);
    }
    if (!right || !sample_same(&out->left_run, &out->right_run, &out->cell_result, &out->cell))
        out->result = LAW_OTHER;
    return out->result == LAW_OTHER;
}

/* The rule of this program, without one of its conditions. */
static void leave_out(Ctx *ctx, Program *program, const LawTrial *trial, const char *name)
{
    const char *home;
    Item *used = (Item *)(uintptr_t)program_rule(program, trial->file->path, name, &home);
    Ast **conditions = NEWN(ctx, Ast *, used->n_where + 1);
    int kept = 0;
    for (int i = 0; i < used->n_where; i++)
        if (i != trial->without)
            conditions[kept++] = used->where[i];
    used->where = conditions;
    used->n_where = kept;
}

static void run_sides(Ctx *ctx, const LawTrial *trial, LawOutcome *out)
{
    enum { MOST_CELLS = 1 << 14, SPREAD = 50 };
    Launch launch;
    int64_t *sizes = NEWN(ctx, int64_t, out->before->n_sizes + 1);
    for (int i = 0; i < out->before->n_sizes; i++) {
        int k = law_param(out->rule, out->before->sizes[i]->name);
        sizes[i] = k >= 0 ? out->shape.nats[k] : 3;
    }
    SampleInputs how = {.seed = trial->seed + 1, .spread = SPREAD, .max_cells = MOST_CELLS};
    out->result = LAW_NOT_RUN;
    if (!sample_launch(ctx, out->before, sizes, &how, &launch))
        return;
    if (out->shape.constants)
        launch.num_sm = law_constant(out->shape.constants, "", 1);
    bool differ = sides_differ(out, &launch);
    if (out->result == LAW_SAME)
        law_find_classes(ctx, out, &launch);
    if (!differ || !trial->plain_values)
        return;
    sample_shrink_values(ctx, &launch, sides_differ, out);
    sides_differ(out, &launch);
}

void law_try(Ctx *ctx, const LawTrial *trial, LawOutcome *out)
{
    const LawFile *file = trial->file;
    const char *name = intern(ctx, trial->rule, strlen(trial->rule)), *home;
    *out = (LawOutcome){.ctx = ctx, .result = LAW_UNTYPED};
    Program *program = program_from_text(ctx, file->path, file->text, file->size);
    LawText t = {.ctx = ctx, .rule = program_rule(program, file->path, name, &home), .text = file->text, .size = file->size, .shape = &out->shape};
    if (!t.rule || !law_can_be_tried(t.rule)) {
        out->why = t.rule ? "its header is not one that can be tried" : any_message(ctx);
        return;
    }
    out->rule = t.rule;
    law_seed(&t, trial->seed);
    law_choose(&t, &out->shape);
    if (trial->shape)
        out->shape = *trial->shape;
    uint64_t state = t.state;
    const char *type = result_type(ctx, &t, file, &out->why);
    if (!type)
        return;
    t.state = state;
    out->left = law_left(&t, type);
    memcpy(out->said, t.said, sizeof out->said);
    CoreEntry *entry = left_entry(ctx, &t, file, out->left, &program);
    if (!entry || ctx->diags.errors) {
        out->why = any_message(ctx);
        return;
    }
    leave_out(ctx, program, trial, name);
    Rewriting r = {0};
    if (!rewrite_entry(ctx, entry, strategy_of(ctx, &t), 0, NULL, -1, &r)) {
        const char *ill = message(ctx, E0803);
        out->result = ill ? LAW_ILL_TYPED : r.right_fails ? LAW_NO_RIGHT : LAW_REFUSED;
        out->why = ill ? ill : r.right_fails ? r.right_fails : any_message(ctx);
        return;
    }
    out->before = entry;
    out->after = r.entry;
    run_sides(ctx, trial, out);
}

/* ---- whole rules ----------------------------------------------------------------------------------------------------------- */

enum {
    ENOUGH = 20,    /* trials in which a rule has to fire, and each of its conditions to be needed */
    MOST_TIMES = 20 /* so many times the trials for a condition that is not shown to be needed yet, or a rule that has not fired */
};

typedef struct Test {
    Ctx *ctx; /* of the report */
    const LawFile *file;
    const char *rule;
    const LawHow *how;
    LawReport *report;
} Test;

typedef struct Job {
    const Test *test;
    LawTrial trial;
    LawOutcome outcome;
} Job;

static void do_trial(Ctx *ctx, void *user)
{
    Job *job = user;
    law_try(ctx, &job->trial, &job->outcome);
    if (job->test->how->seen)
        job->test->how->seen(job->test->how->user, &job->trial, &job->outcome);
}

static bool is_refused(LawResult result) { return result == LAW_REFUSED || result == LAW_NO_RIGHT; }

/* In a context of its own. *shape: what was tried. */
static LawResult trial(const Test *test, uint64_t seed, int without, const LawShape *given, LawShape *shape)
{
    Job job = {test, {.file = test->file, .rule = test->rule, .seed = seed, .without = without, .shape = given}, {.result = LAW_UNTYPED}};
    Ctx *ctx = ctx_new_part(test->ctx);
    if (!ctx || !ctx_try(ctx, do_trial, &job)) {
        ctx_free(ctx);
        ctx_out_of_memory(test->ctx);
    }
    *shape = job.outcome.shape;
    LawResult result = job.outcome.result;
    if (without < 0)
        law_note_classes(test->ctx, test->report, &job.outcome);
    bool told = job.outcome.why && (is_refused(result) || result == LAW_ILL_TYPED || (result == LAW_UNTYPED && !test->report->refusal));
    const char *why = job.outcome.why;
    if (told && without < 0)
        test->report->refusal = ctx_printf(test->ctx, "%s", why);
    ctx_free(ctx);
    return result;
}

static bool is_wrong(LawResult result) { return result == LAW_OTHER || result == LAW_ILL_TYPED; }

/* Whether this smaller trial is as wrong; *shape is then the smaller one. */
static bool take_smaller(const Test *test, uint64_t seed, LawResult wanted, LawShape smaller, LawShape *shape)
{
    LawShape tried;
    if (trial(test, seed, -1, &smaller, &tried) != wanted)
        return false;
    *shape = smaller;
    return true;
}

/* One size after the other to the smallest that is as wrong, as long as that finds something; plain functions before, and plain types. */
static void shrink(const Test *test, const Item *rule, uint64_t seed, LawResult wanted, LawShape *shape)
{
    enum { ROUNDS = 4, MOST_VALUES = 24, PLAIN_OPERATORS = 2 };
    for (int op = 0; op < PLAIN_OPERATORS && op < shape->op; op++) {
        LawShape smaller = *shape;
        law_set_operator(rule, &smaller, op);
        if (take_smaller(test, seed, wanted, smaller, shape))
            break;
    }
    if (shape->constants) {
        LawShape smaller = *shape;
        smaller.constants = 0;
        take_smaller(test, seed, wanted, smaller, shape);
    }
    for (int plain = LAW_PLAINEST; plain > LAW_RANDOM; plain--) {
        LawShape smaller = *shape;
        smaller.plain = (LawPlainness)plain;
        if (take_smaller(test, seed, wanted, smaller, shape))
            break;
    }
    for (int i = 0; i < rule->n_params; i++) {
        LawShape smaller = *shape;
        smaller.open[i] = false;
        if (law_is_type(&rule->params[i]))
            smaller.types[i] = "i32";
        if (shape->open[i] || (shape->types[i] && strcmp(shape->types[i], "i32") != 0))
            take_smaller(test, seed, wanted, smaller, shape);
    }
    bool again = true;
    for (int round = 0; again && round < ROUNDS; round++) {
        again = false;
        for (int i = 0; i < rule->n_params; i++)
            for (int64_t to = 0; law_is_nat(&rule->params[i]) && to < shape->nats[i] && to < MOST_VALUES; to++) {
                LawShape smaller = *shape;
                smaller.nats[i] = to;
                again |= take_smaller(test, seed, wanted, smaller, shape);
            }
    }
}

/* A refusal in which a condition may be the reason: without it, the rule must do worse. */
static void test_conditions(const Test *test, uint64_t seed)
{
    LawReport *report = test->report;
    LawShape shape;
    for (int i = 0; i < report->n_where && i < LAW_CONDITIONS; i++) {
        if (report->needed[i] == NEEDED_BY_VALUE)
            continue;
        /* Without it the rule goes further: to another result, or to a right side that cannot stand there. */
        LawResult other = trial(test, seed, i, NULL, &shape);
        if (other == LAW_OTHER)
            report->needed[i] = NEEDED_BY_VALUE;
        else if (other == LAW_ILL_TYPED || is_refused(other))
            report->needed[i] = NEEDED_BY_CHECK;
    }
}

static bool all_needed(const LawReport *report)
{
    for (int i = 0; i < report->n_where && i < LAW_CONDITIONS; i++)
        if (!report->needed[i])
            return false;
    return true;
}

static void report_wrong(const Test *test, const Item *rule, uint64_t seed, LawResult result)
{
    LawReport *out = test->report;
    LawShape shape;
    out->wrong = true;
    trial(test, seed, -1, NULL, &shape);
    shrink(test, rule, seed, result, &shape);
    out->shape = shape;
    out->counter = (LawTrial){.file = test->file, .rule = test->rule, .seed = seed, .without = -1, .shape = &out->shape, .plain_values = true};
}

void law_test(Ctx *ctx, const LawFile *file, const char *rule, const LawHow *how, LawReport *out)
{
    Program *program = program_from_text(ctx, file->path, file->text, file->size);
    const char *home;
    const Item *item = program_rule(program, file->path, intern(ctx, rule, strlen(rule)), &home);
    *out = (LawReport){.n_where = item ? item->n_where : 0, .enough = how->trials >= ENOUGH};
    Test test = {ctx, file, rule, how, out};
    uint64_t no_right = 0;
    for (long k = 0; item && k < MOST_TIMES * how->trials; k++) {
        /* Some conditions matter for few sizes only, and some rules fire for few: those get more trials. */
        if (k >= how->trials && (!out->enough || (all_needed(out) && out->counts[LAW_SAME] && law_entered_all(out))) && out->counts[LAW_SAME] >= how->fires)
            break;
        LawShape shape;
        uint64_t seed = how->seed + (uint64_t)k;
        LawResult result = trial(&test, seed, -1, NULL, &shape);
        out->counts[result]++;
        if (is_refused(result))
            test_conditions(&test, seed);
        if (result == LAW_NO_RIGHT && out->counts[LAW_NO_RIGHT] == 1)
            no_right = seed;
        if (!is_wrong(result))
            continue;
        report_wrong(&test, item, seed, result);
        return;
    }
    if (out->enough && out->counts[LAW_NO_RIGHT] && !out->counts[LAW_SAME])
        report_wrong(&test, item, no_right, LAW_NO_RIGHT);
}
