/* `risec check FILE.rise|FOLDER...` */
#include "driver/each_entry.h"
#include "driver/expect.h"
#include "driver/folders.h"
#include "driver/lints.h"
#include "driver/private_warnings.h"
#include "driver/slow_warnings.h"
#include "ir/padding.h"
#include "rewrite/laws.h"
#include "rewrite/rewrite.h"

/* Says where nothing fast was found. */
static void check_speed(Ctx *ctx, const CoreEntry *entry, const ImpProgram *imp)
{
    if (!entry_is_high(entry))
        return;
    warn_slow_walks(ctx, entry, imp);
    warn_stored(ctx, imp, NULL);
}

/* What is right is also compiled: the text is made, and thrown away. */
static bool has_text(Ctx *ctx, ImpProgram *imp)
{
    int errors = ctx->diags.errors;
    StrBuf text;
    sb_init(&text, ctx);
    cuda_print(ctx, &text, 1, &imp, false);
    return ctx->diags.errors == errors;
}

typedef struct Checking {
    Ctx *ctx;
    Diags *advice; /* or NULL */
} Checking;

ImpProgram *driver_check_entry(Ctx *ctx, const CoreEntry *entry)
{
    ImpProgram *imp = lower_entry(ctx, entry, (LowerPass)(PASS_COUNT - 1));
    if (!imp || !has_text(ctx, imp))
        return NULL;
    warn_private(ctx, entry, imp, NULL);
    return imp;
}

void driver_advise(Ctx *ctx, const CoreEntry *entry, const ImpProgram *imp)
{
    diags_again(ctx, &entry->doubts);
    padding_check(ctx, entry);
    laws_advise(ctx, entry);
    warn_idle(ctx, entry, imp);
    check_speed(ctx, entry, imp);
}

static void advise(Ctx *ctx, Checking *c, const CoreEntry *entry, const ImpProgram *imp)
{
    const Diags said = ctx->diags;
    ctx->diags = (Diags){0};
    driver_advise(ctx, entry, imp);
    diags_keep_aside(c->ctx, c->advice, ctx);
    ctx->diags = said;
}

static void check_entry(Ctx *ctx, EntryRound *round, CoreEntry *entry)
{
    Checking *c = round->user;
    if (round->d->only_item && driver_item_at(round->program, entry->name_span) + 1 != round->d->only_item)
        return;
    const ImpProgram *imp = driver_check_entry(ctx, entry);
    if (imp)
        say_step(round->d->say, "lowered `%s` to %d kernel%s", entry->name, imp->kernels.n, imp->kernels.n == 1 ? "" : "s");
    if (!imp)
        driver_fail(round->d, STATUS_PROGRAM);
    else if (c->advice && ctx->diags.errors == 0)
        advise(ctx, c, entry, imp);
}

/* Of a file that has no entry, what its operators claim. */
static void check_operator(Ctx *ctx, Core *lambda, Core *unit)
{
    LawOperator op = law_operator_alone(lambda, unit);
    OperatorReport r;
    if (!op.declared)
        return;
    law_test_operator(ctx, &op, LAW_SEED, &r);
    if (r.law && !r.special)
        law_warn_operator(ctx, op.declared, &r, NULL);
}

typedef struct Operators {
    Program *program;
    bool tried; /* their laws, too */
} Operators;

static void check_operators(Ctx *ctx, void *user)
{
    const Operators *operators = user;
    Program *program = program_inside(ctx, operators->program);
    elab_unused(ctx, program);
    for (int i = 0; i < program_operator_count(program); i++) {
        Core *lambda, *unit;
        bool typed = elab_operator(ctx, program, i, &lambda, &unit);
        if (typed && operators->tried)
            check_operator(ctx, lambda, unit);
    }
}

int driver_item_at(const Program *program, Span span)
{
    const AstFile *ast = program_ast(program);
    for (int i = ast ? ast->items.n - 1 : -1; i >= 0; i--) {
        Span item = ast->items.at[i]->span;
        if (item.file == span.file && item.lo <= span.lo && span.lo <= item.hi)
            return i;
    }
    return -1;
}

bool driver_check(Ctx *ctx, Driver *d, const char *path, Program **program, Diags *advice)
{
    if (!driver_load(ctx, d, path, program))
        return false;
    if (advice && program_ast(*program) && program_ast(*program)->items.n == 0 && ctx->diags.errors == 0)
        diag_warning(ctx, W0714, (Span){program_ast(*program)->file, 0, 0}, "there is nothing to check: the file has no `entry`, and no other item");
    Checking c = {ctx, advice};
    EntryRound round = {.d = d, .path = path, .program = *program, .work = check_entry, .user = &c};
    Operators operators = {*program, program_entry_count(*program) == 0 && !option_on(d->line, OPT_LAWS)};
    /* Another verb has looked only at what its entries use. */
    if (d->line->verb == VERB_CHECK)
        ctx_do_inside(ctx, check_operators, &operators);
    driver_each_entry(ctx, &round);
    diags_again(ctx, &round.of_work);
    return true;
}

static void check_one(Ctx *ctx, Driver *d, const char *path)
{
    int errors = ctx->diags.errors, first = ctx->diags.list.n;
    Program *program;
    Diags advice = {0};
    bool checked = driver_check(ctx, d, path, &program, &advice);
    driver_try_hints(ctx, d, path, program, first);
    if (!checked)
        return;
    if (ctx->diags.errors == errors) {
        program_warn_names(ctx, program);
        diags_again(ctx, &advice);
        say_part(d->say, "`expect` clauses");
        expect_check(ctx, d, program, path, NULL);
        say_step(d->say, "checked the `expect` clauses of %s", path);
    }
    /* A rule that is no law may be why an entry is wrong. Of a program with mistakes in its grammar or names, no rule can be tried. */
    if (!option_on(d->line, OPT_LAWS) || program_failed(program))
        return;
    say_part(d->say, "laws");
    check_laws(ctx, d, path);
    say_step(d->say, "tested the laws of %s", path);
}

typedef struct File {
    Driver *d;
    const char *path;
} File;

/* In memory that goes before the next file begins. */
static void check_file(Ctx *ctx, void *user)
{
    const File *file = user;
    check_one(ctx, file->d, file->path);
}

void cmd_check(Ctx *ctx, Driver *d)
{
    Paths paths = driver_paths(ctx, d);
    for (int i = 0; i < paths.list.n; i++) {
        say_work(d->say, "file %d of %d, %s", i + 1, paths.list.n, paths.list.at[i]);
        ctx_do_inside(ctx, check_file, &(File){d, paths.list.at[i]});
    }
}
