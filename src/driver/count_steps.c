/* `risec lower --profile`: what the simulator counts before and after each step. */
#include "driver/arguments.h"
#include "driver/steps.h"
#include "sim/sim.h"

typedef struct Counting {
    const CoreEntry *entry;
    Launch launch;
    StepCounts *to;
} Counting;

/* In a try of its own: a program that is not lowered yet has much to say, and none of it is of interest. */
static void count_one(Ctx *ctx, void *user)
{
    Counting *c = user;
    ImpProgram *imp = lower_entry(ctx, c->entry, (LowerPass)(PASS_COUNT - 1));
    SimOptions options = {.profile = true};
    SimReport report = {0};
    if (!imp || !sim_run(ctx, imp, &c->launch, &options, &report))
        return;
    c->to->known = true;
    c->to->counts = report.profile->total;
}

const CoreEntry *steps_as_it_stands(Ctx *ctx, const CoreEntry *entry, Core *body, CoreLaunch launch)
{
    CoreEntry *new = NEW(ctx, CoreEntry);
    *new = *entry;
    new->item = NULL;
    new->body = body;
    new->launch = launch;
    return new;
}

/* Sizes that --set leaves open get small values, all the same: about as many elements in all, whatever their number. */
static const CommandLine *with_sizes(Ctx *ctx, const CommandLine *line, const CoreEntry *entry)
{
    static const int64_t by_open[] = {4096, 4096, 64, 16};
    enum { MOST = 3 };
    CommandLine *copy = NEW(ctx, CommandLine);
    copy->verb = line->verb;
    copy->words = line->words;
    for (int i = 0; i < line->given.n; i++)
        vec_push(ctx, &copy->given, line->given.at[i]);
    int open = 0;
    for (int i = 0; i < entry->n_sizes; i++)
        open += !option_sets(line, entry->sizes[i]->name);
    int64_t value = by_open[open < MOST ? open : MOST];
    for (int i = 0; i < entry->n_sizes; i++)
        if (!option_sets(line, entry->sizes[i]->name))
            vec_push(ctx, &copy->given, (Given){OPT_SET, entry->sizes[i]->name, ctx_printf(ctx, "%lld", (long long)value), value});
    return copy;
}

bool count_steps(Ctx *ctx, Driver *d, const CoreEntry *entry, const Rewriting *r, StepsCounted *out)
{
    Driver one = {.line = with_sizes(ctx, d->line, entry)};
    ArgumentsHow how = {.copies = 1, .watched = SIM_WATCH_BYTES, .otherwise = "uniform"};
    Launch launch = {0};
    bool good = arguments_make(ctx, &one, entry, &how, &launch);
    driver_fail(d, one.status);
    if (!good)
        return false;
    StrBuf sizes;
    sb_init(&sizes, ctx);
    for (int i = 0; i < entry->n_sizes; i++)
        sb_printf(&sizes, "%s%s = %lld", i ? ", " : "", entry->sizes[i]->name, (long long)launch.sizes[i]);
    *out = (StepsCounted){sizes.text ? sizes.text : "", NEWN(ctx, StepCounts, r->steps.n + 1)};
    const CoreEntry *from = r->entry ? r->entry : entry;
    for (int i = 0; i <= r->steps.n; i++) {
        RewriteStep *s = i ? &r->steps.at[i - 1] : NULL;
        Counting c = {steps_as_it_stands(ctx, from, s ? step_body(ctx, s) : entry->body, s ? s->launch : entry->launch), launch, &out->at[i]};
        int before = ctx->diags.list.n, errors = ctx->diags.errors, warnings = ctx->diags.warnings;
        if (!ctx_try(ctx, count_one, &c))
            ctx_out_of_memory(ctx);
        ctx->diags.list.n = before;
        ctx->diags.errors = errors;
        ctx->diags.warnings = warnings;
    }
    return true;
}
