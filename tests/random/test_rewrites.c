/* Random high-level programs under random rules: whatever rule of the library is used wherever it applies, the value stays.
 *
 *     test_rewrites [--count N] [--seed N] [--strategy STRATEGY]
 *
 * With --strategy, each program is rewritten by this one instead.
 *
 * Each program is rewritten by up to STEPS rules, with random sizes for their parameters, at the first or last place where they apply, here or inside functions
 * and arguments. Then the reference interpreter runs both, on two launches: they agree to the bit, or, where something was rounded, within the bound of
 * `risec run --verify`. Programs that take the reference too long are counted, and so is how often each rule was used. */
#include <stdio.h>
#include <stdlib.h>

#include "rcheck.h"
#include "rewrite/rewrite.h"
#include "rgen.h"
#include "support/embedded.h"

enum { STEPS = 6, TRIES = 40, LAUNCHES = 2, RULES_MAX = 400, MAX_CELLS = 3000, MAX_STEPS = 1000000 };

typedef struct RuleName {
    char name[64];
    int sizes; /* that the strategy gives */
    long used;
} RuleName;
static RuleName rules[RULES_MAX];
static int n_rules;
static char imports[1024];
static const char *given; /* --strategy */

static void collect(Ctx *ctx, void *user)
{
    (void)user;
    for (int k = 0; k < risec_lib_file_count; k++) {
        const LibFile *file = &risec_lib_files[k];
        if (strncmp(file->name, "rules/", 6) != 0)
            continue;
        size_t at = strlen(imports);
        snprintf(imports + at, sizeof imports - at, "import rules.%.*s\n", (int)strlen(file->name) - 11, file->name + 6);
        const AstFile *ast = parse_file(ctx, source_add(ctx, file->name, file->text, file->size));
        for (int i = 0; i < ast->items.n; i++) {
            const Item *item = ast->items.at[i];
            if (item->kind != ITEM_RULE || n_rules == RULES_MAX)
                continue;
            RuleName *rule = &rules[n_rules++];
            snprintf(rule->name, sizeof rule->name, "%s", item->name);
            for (int p = 0; p < item->n_params; p++)
                rule->sizes += !item->params[p].implicit && item->params[p].kind->kind == AST_NAME && strcmp(item->params[p].kind->name.text, "nat") == 0;
        }
    }
}

typedef struct Job {
    const RProgram *program;
    uint64_t seed;
    int used[STEPS], n_used;
    enum { SAME, OTHER, UNTYPED, NOT_RUN, ILL } result;
} Job;

static const Ast *strategy_of(Ctx *ctx, const char *text)
{
    const AstFile *file = parse_file(ctx, source_add(ctx, "strategy", text, strlen(text)));
    return file->items.at[0]->body;
}

static const Ast *strategy_text(Ctx *ctx, uint64_t *rng, int rule)
{
    static const char *const places[] = {"topDown(%s)", "bottomUp(%s)", "inFunction(topDown(%s))", "inArgument(topDown(%s))", "inArgument(bottomUp(%s))"};
    StrBuf call, sb;
    sb_init(&call, ctx);
    sb_init(&sb, ctx);
    sb_puts(&call, rules[rule].name);
    for (int i = 0; i < rules[rule].sizes; i++)
        sb_printf(&call, "%s%d", i ? ", " : "(", 1 + random_below(rng, 5));
    sb_puts(&call, rules[rule].sizes ? ")" : "");
    sb_puts(&sb, "strategy given = ");
    const char *place = places[random_below(rng, 5)], *hole = strstr(place, "%s");
    sb_printf(&sb, "%.*s%s%s", (int)(hole - place), place, call.text, hole + 2);
    return strategy_of(ctx, sb.text);
}

static void forget(Ctx *ctx) { ctx->diags.list.n = ctx->diags.errors = ctx->diags.warnings = 0; }

static void do_job(Ctx *ctx, void *user)
{
    Job *job = user;
    uint64_t rng = job->seed * 0x9e3779b97f4a7c15u + 5;
    const char *text = ctx_printf(ctx, "%s%s", imports, program_text(job->program));
    job->result = UNTYPED;
    CoreEntry *entry = elab_entry(ctx, program_from_text(ctx, "random", text, strlen(text)), 0, 0, NULL);
    if (!entry)
        return;
    const CoreEntry *now = entry;
    Rewriting whole = {0};
    if (given && rewrite_entry(ctx, now, strategy_of(ctx, ctx_printf(ctx, "strategy given = %s", given)), 0, NULL, -1, &whole)) {
        job->n_used = 1;
        now = whole.entry;
    }
    for (int i = 0; given && i < ctx->diags.list.n; i++)
        printf("%s: %s\n", given, ctx->diags.list.at[i]->message);
    for (int tries = 0; tries < TRIES && job->n_used < STEPS && !given; tries++) {
        int rule = random_below(&rng, n_rules);
        Rewriting r = {0};
        if (rewrite_entry(ctx, now, strategy_text(ctx, &rng, rule), 0, NULL, -1, &r) && r.steps.n) {
            job->used[job->n_used++] = rule;
            now = r.entry;
        }
        for (int i = 0; i < ctx->diags.list.n; i++)
            if (ctx->diags.list.at[i]->code == E0803) {
                printf("%s: %s\n", rules[rule].name, ctx->diags.list.at[i]->message);
                job->result = ILL;
                return;
            }
        forget(ctx);
    }
    job->result = job->n_used ? NOT_RUN : UNTYPED;
    for (int k = 0; k < LAUNCHES && job->n_used; k++) {
        int64_t sizes[NAMES_MAX] = {0};
        for (int i = 0; i < entry->n_sizes && i < NAMES_MAX; i++)
            for (int j = 0; j < job->program->n_names; j++)
                if (strcmp(entry->sizes[i]->name, job->program->names[j]->name) == 0) {
                    const RAtom *a = job->program->names[j];
                    sizes[i] = (a->least + 1 + random_below(&rng, 6)) * a->unit;
                }
        Launch before;
        if (!sample_launch(ctx, entry, sizes, &(SampleInputs){.seed = job->seed + (uint64_t)k, .max_cells = MAX_CELLS}, &before)) {
            forget(ctx);
            continue;
        }
        before.max_steps = MAX_STEPS;
        Launch after = before;
        if (!sample_run(ctx, entry, &before) || !sample_run(ctx, now, &after)) {
            forget(ctx);
            continue;
        }
        Judge judge = {.ctx = ctx, .entry = entry, .launch = before};
        bool same = judge_results(&judge, before.n_results, after.results, before.results, 1).verdict != JUDGED_DIFFERENT;
        job->result = same ? SAME : OTHER;
        if (!same)
            return;
    }
}

int main(int argc, char **argv)
{
    long count = 200, checks = 0, wrong = 0, untyped = 0, not_run = 0;
    uint64_t seed = 1;
    for (int i = 1; i + 1 < argc; i += 2)
        if (strcmp(argv[i], "--count") == 0)
            count = strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--strategy") == 0)
            given = argv[i + 1];
    Ctx *lib = ctx_new(NULL, NULL);
    ctx_try(lib, collect, NULL);
    bool scalars[SC_COUNT];
    lowered_scalars(scalars);
    printf("rewrites: seed %llu, %ld programs, %d rules\n", (unsigned long long)seed, count, n_rules);
    for (long k = 0; k < count; k++) {
        Pool *pool = pool_new();
        Job job = {.program = (given ? generate_scheduled_program : generate_high_program)(pool, seed * 1000003u + (uint64_t)k, scalars), .seed = seed * 1000003u + (uint64_t)k, .result = UNTYPED};
        Ctx *ctx = ctx_new(NULL, NULL);
        if (!ctx_try(ctx, do_job, &job))
            job.result = NOT_RUN;
        checks += job.result == SAME;
        untyped += job.result == UNTYPED;
        not_run += job.result == NOT_RUN;
        for (int i = 0; i < job.n_used && job.result == SAME && !given; i++)
            rules[job.used[i]].used++;
        if (job.result == OTHER || job.result == ILL) {
            wrong++;
            printf("FAILED (--seed %llu, program %ld) after", (unsigned long long)seed, k);
            for (int i = 0; i < job.n_used; i++)
                printf(" %s", given ? given : rules[job.used[i]].name);
            printf("\n%s", program_text(job.program));
        }
        ctx_free(ctx);
        pool_free(pool);
    }
    printf("%ld programs without a rule that applied, %ld not run\n", untyped, not_run);
    for (int i = 0, n = 0; i < n_rules; i++)
        if (rules[i].used)
            printf("%s%s %ld", n++ % 6 ? ", " : "\n  ", rules[i].name, rules[i].used);
    ctx_free(lib);
    printf("\nrewrites: %ld checks, %ld wrong\n", checks, wrong);
    return wrong != 0;
}
