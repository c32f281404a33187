#include "pipeline.h"

#include <fenv.h>

#include "frontend/costs.h"

const char *const pipe_names[PIPE_COUNT] = {"good", "refused", "out of memory", "refused without an error", "internal error", "sim and ref differ",
                                            "finding of the simulator", "unexpected run-time code"};
const char *const launch_names[LAUNCH_KINDS] = {"equal", "near", "without a check", "open", "refused"};

enum { MAX_CELLS = 5000, SAMPLES = 8, REF_STEPS = 300000 };

typedef struct Work {
    const Pipe *pipe;
    PipeResult result;
    StrBuf cuda;
} Work;

static int first_error_code(const Ctx *ctx)
{
    for (int i = 0; i < ctx->diags.list.n; i++)
        if (!ctx->diags.list.at[i]->warning)
            return (int)ctx->diags.list.at[i]->code;
    return -1;
}

static void fails(Work *w, PipeVerdict verdict, const char *what)
{
    if (pipe_fails(w->result.verdict))
        return;
    w->result.verdict = verdict;
    snprintf(w->result.said, sizeof w->result.said, "%s", what);
}

/* About this launch, or about how much there is to do. */
static bool is_of_a_launch(int code)
{
    switch (code) {
    case E0601: case E0602: case E0604: case E0605: case E0625: case E0635: case E0641: case E0642: case E0643: case E0644: return true;
    default: return code == -1;
    }
}

/* ---- launches --------------------------------------------------------------------------------------------------------------------- */

static PipeLaunch kind_of(const Judgement *j)
{
    return j->verdict == JUDGED_EQUAL ? LAUNCH_EQUAL : j->verdict == JUDGED_NEAR ? LAUNCH_NEAR : j->place_repeats ? LAUNCH_OPEN : LAUNCH_NO_CHECK;
}

static int agreed(const PipeResult *r) { return r->launches[LAUNCH_EQUAL] + r->launches[LAUNCH_NEAR]; }

typedef struct Try {
    Work *work;
    const CoreEntry *entry;
    const ImpProgram *imp;
    const int64_t *sizes;
    uint64_t seed;
} Try;

static void run_launch(Ctx *ctx, void *user)
{
    const Try *t = user;
    Work *w = t->work;
    const CoreEntry *entry = t->entry;
    const int64_t *sizes = t->sizes;
    uint64_t seed = t->seed;
    Launch launch;
    SimReport report = {.warp_instructions = 0};
    ctx->diags.list.n = ctx->diags.errors = 0;
    if (!sample_launch(ctx, entry, sizes, &(SampleInputs){.seed = seed, .max_cells = MAX_CELLS, .wide = seed % 2 != 0, .real = seed / 2 % 4 != 0}, &launch)) {
        w->result.launches[LAUNCH_REFUSED]++;
        return;
    }
    launch.max_steps = REF_STEPS;
    Both both = {.options = {.seed = seed, .max_steps = w->pipe->max_steps}, .compare = true, .report = &report};
    Outcome outcome = run_both(ctx, entry, t->imp, &launch, &both);
    int code = first_error_code(ctx);
    char what[300];
    int at = snprintf(what, sizeof what, "%s:", entry->name);
    for (int i = 0; i < entry->n_sizes && at < 200; i++)
        at += snprintf(what + at, sizeof what - (size_t)at, " %s=%lld", entry->sizes[i]->name, (long long)sizes[i]);
    if (outcome == FINDING && report.findings.n)
        snprintf(what + at, sizeof what - (size_t)at, " %s", report.findings.at[0].text);
    if (outcome == AGREE) {
        PipeLaunch kind = kind_of(&both.judgement);
        w->result.launches[kind]++;
        w->result.undecided += kind == LAUNCH_NEAR ? both.judgement.unchecked : 0;
    } else if (outcome == DIFFER) {
        w->result.judged |= !both.to_the_bit;
        fails(w, PIPE_DIFFERS, what);
    } else if (outcome == FINDING && report.findings.n)
        fails(w, PIPE_FINDING, what);
    else if (is_of_a_launch(code))
        w->result.launches[LAUNCH_REFUSED]++;
    else {
        fails(w, PIPE_RUN_CODE, what);
        w->result.code = code;
    }
}

static void run_entry(Ctx *ctx, Work *w, const CoreEntry *entry, const ImpProgram *imp)
{
    int64_t *samples[SAMPLES], marks[SAMPLE_MARKS];
    SampleInputs how = {.seed = w->pipe->seed, .max_cells = MAX_CELLS};
    int n = sample_sizes(ctx, entry, &how, NULL, sample_marks(entry, marks), marks, SAMPLES, samples);
    w->result.launches[LAUNCH_REFUSED] += n == 0;
    int wanted = agreed(&w->result) + w->pipe->launches;
    for (int k = n - 1; k >= 0 && agreed(&w->result) < wanted; k--) {
        Try t = {w, entry, imp, samples[k], w->pipe->seed + (uint64_t)k};
        if (!ctx_try(ctx, run_launch, &t)) /* a launch may want more memory than there is */
            w->result.launches[LAUNCH_REFUSED]++;
    }
}

/* ---- all of it ---------------------------------------------------------------------------------------------------------------------- */

/* What is printed of core is a program that prints the same. */
static bool reads_back(Ctx *ctx, const CoreEntry *entry)
{
    StrBuf first, again;
    sb_init(&first, ctx);
    sb_init(&again, ctx);
    core_print_entry(&first, entry);
    CoreProgram *core = elab_all(ctx, program_from_text(ctx, "core", first.text, first.len));
    if (core->entries.n != 1)
        return false;
    core_print_entry(&again, core->entries.at[0]);
    return first.len == again.len && memcmp(first.text, again.text, first.len) == 0;
}

static bool has_claims(const Program *program)
{
    const AstFile *ast = program_ast(program);
    for (int i = 0; ast && i < ast->items.n; i++)
        if (ast->items.at[i]->kind == ITEM_OPERATOR || ast->items.at[i]->kind == ITEM_RULE)
            return true;
    return false;
}

/* Arrays of programs here are small: for each second one, the device has blocks that go through no steps of
 * a sequence, so that these are launches, too. */
static void choose_device(Ctx *ctx, uint64_t seed)
{
    Costs *costs = NEW(ctx, Costs);
    *costs = *costs_of(ctx);
    costs->of[COST_blockCells] = 0;
    if (seed % 2)
        ctx->costs = costs;
}

static void work(Ctx *ctx, void *user)
{
    Work *w = user;
    const Pipe *pipe = w->pipe;
    choose_device(ctx, pipe->seed);
    w->result.verdict = PIPE_REFUSED;
    Program *program = program_from_text(ctx, pipe->name, pipe->text, pipe->size);
    CoreProgram *core = elab_all(ctx, program);
    w->result.claims = has_claims(program);
    ImpProgram **imps = NEWN(ctx, ImpProgram *, core->entries.n + 1);
    int lowered = 0;
    for (int i = 0; i < core->entries.n; i++) {
        const char *fault = core_verify(ctx, core->entries.at[i]);
        if (fault)
            fails(w, PIPE_BUG, fault);
        imps[lowered] = lower_entry(ctx, core->entries.at[i], (LowerPass)(PASS_COUNT - 1));
        lowered += imps[lowered] != NULL;
    }
    sb_init(&w->cuda, ctx);
    if (lowered && ctx->diags.errors == 0)
        cuda_print(ctx, &w->cuda, lowered, imps, true);
    w->result.code = first_error_code(ctx);
    for (int i = 0; i < ctx->diags.list.n; i++)
        if (ctx->diags.list.at[i]->code == E0510)
            fails(w, PIPE_BUG, ctx->diags.list.at[i]->message);
    if (ctx->diags.errors == 0 && lowered < core->entries.n)
        fails(w, PIPE_SILENT, "an entry was not lowered");
    if (ctx->diags.errors || pipe_fails(w->result.verdict))
        return;
    StrBuf manifest;
    sb_init(&manifest, ctx);
    manifest_print(ctx, &manifest, lowered, imps);
    w->result.verdict = PIPE_GOOD;
    for (int i = 0; i < lowered && i < pipe->entries; i++) {
        if (pipe->typed_again && !reads_back(ctx, core->entries.at[i]))
            fails(w, PIPE_BUG, "the printed core is not read back as it was");
        if (pipe->change)
            pipe->change(ctx, core->entries.at[i], imps[i], pipe->plant);
        run_entry(ctx, w, core->entries.at[i], imps[i]);
    }
}

PipeResult pipe_run(const Pipe *pipe, const Allocator *alloc)
{
    Work w = {.pipe = pipe, .result = {.code = -1}};
    Ctx *ctx = ctx_new(alloc, pipe->files);
    if (ctx)
        ctx->brake = pipe->brake;
    if ((!ctx || !ctx_try(ctx, work, &w)) && !pipe_fails(w.result.verdict))
        w.result.verdict = PIPE_MEMORY;
    if (ctx && pipe->cuda && w.result.verdict == PIPE_GOOD && w.cuda.text)
        fwrite(w.cuda.text, 1, w.cuda.len, pipe->cuda);
    ctx_free(ctx);
    return w.result;
}
