#include "executors.h"

#include <fenv.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Request {
    const char *name, *text, *settings;
    int which, n_entries;
    CoreEntry *entry;
    ImpProgram *imp;
} Request;


static void compile(Ctx *ctx, void *user)
{
    Request *r = user;
    ElabSetting settings[16];
    int n = 0;
    char *copy = ctx_alloc(ctx, strlen(r->settings) + 1);
    strcpy(copy, r->settings);
    for (char *at = strtok(copy, " "); at; at = strtok(NULL, " ")) {
        char *eq = strchr(at, '=');
        *eq = 0;
        settings[n++] = (ElabSetting){intern_z(ctx, at), strtoll(eq + 1, NULL, 10), NO_SPAN, false};
    }
    Program *program = r->text ? program_from_text(ctx, r->name, r->text, strlen(r->text)) : program_load(ctx, r->name);
    r->n_entries = program_entry_count(program);
    if (r->n_entries <= r->which)
        return;
    r->entry = elab_entry(ctx, program, r->which, n, settings);
    if (r->entry && !core_verify(ctx, r->entry))
        r->imp = lower_entry(ctx, r->entry, PASS_OUTLINE);
    else if (r->entry)
        printf("core_verify: %s\n", core_verify(ctx, r->entry));
}

static Compiled compiled(Request r)
{
    Compiled c = {.ctx = ctx_new(NULL, NULL)};
    if (!c.ctx || !ctx_try(c.ctx, compile, &r)) {
        printf("%s: out of memory\n", r.name);
        return c;
    }
    c.entry = r.entry;
    c.imp = r.imp;
    if (!c.imp) {
        StrBuf text_of;
        sb_init(&text_of, c.ctx);
        diag_render(c.ctx, &text_of, false);
        printf("%s", text_of.text);
    }
    return c;
}

Compiled compile_text(const char *name, const char *text, const char *settings) { return compiled((Request){.name = name, .text = text, .settings = settings}); }
Compiled compile_file(const char *path, const char *settings) { return compiled((Request){.name = path, .settings = settings}); }

static void count_entries(Ctx *ctx, void *user)
{
    Request *r = user;
    r->n_entries = program_entry_count(program_load(ctx, r->name));
}

Compiled compile_entry(const char *path, int k, int *n)
{
    Request r = {.name = path};
    Ctx *ctx = ctx_new(NULL, NULL);
    if (ctx && ctx_try(ctx, count_entries, &r) && r.n_entries > 1)
        *n = r.n_entries;
    if (ctx)
        ctx_free(ctx);
    return compiled((Request){.name = path, .settings = "", .which = k});
}

void compiled_free(Compiled *c)
{
    if (c->ctx)
        ctx_free(c->ctx);
    c->ctx = NULL;
}

/* ---- trials ---------------------------------------------------------------------------------------------------------------- */

typedef struct Run {
    Compiled *c;
    Trial trial;
    const int64_t *sizes; /* instead of trial.n, or NULL */
    uint64_t max_steps;
    SimReport *report;
    const int *over; /* SimOptions.over */
    Outcome outcome;
} Run;

static void copy_launch(Ctx *ctx, const CoreEntry *entry, const Launch *from, Launch *to)
{
    *to = *from;
    to->n_results = type_component_count(entry->result);
    to->results = NEWN(ctx, HostBuf, to->n_results);
    for (int k = 0; k < to->n_results; k++)
        launch_buffer(ctx, entry, from, type_component(ctx, entry->result, k), &to->results[k], true);
}

static bool same_bits(const Launch *sim, const Launch *ref)
{
    for (int k = 0; k < ref->n_results; k++)
        if (memcmp(ref->results[k].bytes, sim->results[k].bytes, (size_t)ref->results[k].count * (size_t)scalar_bytes(ref->results[k].elem)))
            return false;
    return true;
}

/* To the bit, but where the program leaves more open: sums that round have any order, by a strategy or as atomics, or a scatter wrote a place twice.
 * A judge is asked then. */
static bool same_results(Ctx *ctx, const CoreEntry *entry, const ImpProgram *imp, const SimOptions *options, const Launch *sim, const Launch *ref, Both *b)
{
    if (same_bits(sim, ref))
        return true;
    if (b->to_the_bit)
        return false;
    Judge judge = {.ctx = ctx, .entry = entry, .launch = *sim, .imp = imp, .options = *options};
    Judgement j = judge_results(&judge, ref->n_results, sim->results, ref->results, 1);
    if (b->judgement.verdict < j.verdict || j.verdict == JUDGED_DIFFERENT)
        b->judgement = j;
    return j.verdict != JUDGED_DIFFERENT;
}

/* How many forms of a kernel there are, at most. All of them give the same. */
static int forms_of(const ImpProgram *imp)
{
    int most = 1;
    for (int k = 0; k < imp->kernels.n; k++) {
        int n = 0;
        for (const ImpKernel *v = imp->kernels.at[k]; v; v = v->otherwise)
            n += !imp_wide_twin(v);
        most = n > most ? n : most;
    }
    return most;
}

Outcome run_both(Ctx *ctx, const CoreEntry *entry, const ImpProgram *imp, const Launch *launch, Both *b)
{
    SimOptions options = b->options;
    int forms = forms_of(imp);
    copy_launch(ctx, entry, launch, &b->ref);
    feclearexcept(FE_ALL_EXCEPT);
    for (options.form = 0; options.form < forms; options.form++) {
        copy_launch(ctx, entry, launch, &b->sim);
        if (!sim_run(ctx, imp, &b->sim, &options, b->report))
            return options.max_steps && b->report->findings.n == 0 ? CANNOT : FINDING; /* without a finding: given up */
        if (options.form == 0 && b->compare && !interp_run(ctx, entry, &b->ref))
            return CANNOT;
        bool one_order = imp->entry == entry && !b->ref.order_open;
        b->to_the_bit = !b->ref.place_repeats && (one_order || !fetestexcept(FE_INEXACT));
        if (b->compare && !same_results(ctx, entry, imp, &options, &b->sim, &b->ref, b))
            return DIFFER;
    }
    return AGREE;
}

static void run(Ctx *ctx, void *user)
{
    Run *r = user;
    const CoreEntry *entry = r->c->entry;
    Launch launch;
    int64_t *sizes = NEWN(ctx, int64_t, entry->n_sizes);
    r->outcome = CANNOT;
    for (int i = 0; i < entry->n_sizes; i++)
        sizes[i] = r->sizes ? r->sizes[i] : r->trial.n;
    if (!sample_launch(ctx, entry, sizes, &(SampleInputs){.seed = r->trial.seed, .max_cells = r->trial.max_cells, .wide = r->trial.seed % 2 != 0}, &launch))
        return;
    if (!index_guards_take(ctx, r->c->imp, &launch))
        return;
    Both both = {.options = {.seed = r->trial.seed, .grid = {r->trial.grid, 0, r->trial.grid}, .max_steps = r->max_steps, .over = r->over}, .compare = r->trial.compare, .report = r->report};
    r->outcome = run_both(ctx, entry, r->c->imp, &launch, &both);
}

static Outcome run_one(Compiled *c, Trial trial, const int64_t *sizes, uint64_t max_steps, const int *over, SimReport *report)
{
    SimReport own = {.warp_instructions = 0};
    Run r = {c, trial, sizes, max_steps, report ? report : &own, over, CANNOT};
    if (!ctx_try(c->ctx, run, &r))
        return CANNOT;
    if (!trial.quiet && r.outcome != AGREE) {
        printf("  n = %lld, grid %lld, seed %llu: %s\n", (long long)trial.n, (long long)trial.grid, (unsigned long long)trial.seed,
               r.outcome == DIFFER ? "sim and ref differ" : r.outcome == FINDING ? "finding" : "cannot run");
        for (int i = 0; i < r.report->findings.n && i < 3; i++)
            printf("    %s\n", r.report->findings.at[i].text);
        StrBuf text;
        sb_init(&text, c->ctx);
        diag_render(c->ctx, &text, false);
        printf("%s", text.text);
    }
    return r.outcome;
}

Outcome run_trial(Compiled *c, Trial trial, SimReport *report) { return run_one(c, trial, NULL, 0, NULL, report); }

Outcome run_trial_at(Compiled *c, Trial trial, const int64_t *sizes, uint64_t max_steps, SimReport *report)
{
    return run_one(c, trial, sizes, max_steps, NULL, report);
}

Outcome run_trial_over(Compiled *c, Trial trial, const int64_t *sizes, uint64_t max_steps, const int *over, SimReport *report)
{
    return run_one(c, trial, sizes, max_steps, over, report);
}

typedef struct Asked {
    const Compiled *c;
    int result, input;
    OneMemory found;
} Asked;

static void ask(Ctx *ctx, void *user)
{
    Asked *a = user;
    a->found = one_memory(ctx, a->c->imp, a->result, a->input);
}

OneMemory ask_one_memory(const Compiled *c, int result, int input)
{
    Asked a = {c, result, input, ONE_MEMORY_UNKNOWN};
    return ctx_try(c->ctx, ask, &a) ? a.found : ONE_MEMORY_UNKNOWN;
}

int count_inputs(const CoreEntry *entry)
{
    int n = 0;
    for (int i = 0; i < entry->n_inputs; i++)
        n += type_component_count(entry->inputs[i]->type);
    return n;
}
