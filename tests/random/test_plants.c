/* Faults planted in what the scheduler makes of programs: each is noticed by what compares lists of nests, and kernels, with the program as it is written.
 *
 *     test_plants [--survivors FILE] [--every N] [--only TEXT] [--say 1] FILE.rise...
 *
 * Of each entry that the scheduler lowers: faults in the list of stored arrays (a guard, an index, an extent, a unit, an array; tests/random/rplant.h) have to change
 * what the reference computes of it, or to make it fail; a term that is not well typed is not planted. Faults in the launches (one is missing, too early, one turn too
 * many, a wrong buffer) have to change what the simulator computes, or to be a finding. What nothing notices stands in the survivors file, with its reason, a line
 * `FILE:LINE: ENTRY: FAULT: TEXT (N places) -- why`; all of that file's lines about the given files have to be true. --every plants each N-th fault alone. */
#include <stdio.h>
#include <stdlib.h>

#include "codegen/contraction.h"
#include "raim.h"
#include "rcheck.h"
#include "rplant.h"
#include "rsurvivors.h"
#include "schedule/nests.h"

enum { MAX_TRIALS = 64, MAX_SIZES = 16, MAX_CELLS = 280000, REF_STEPS = 4000000, SIM_STEPS = 20000000, SMALL = 12, LINE = 600 };

typedef struct Trial_ {
    Launch launch; /* results are the reference's */
    int64_t sizes[MAX_SIZES];
} Tried;

typedef struct Test {
    Compiled c;
    const char *path;
    int n;
    Tried trials[MAX_TRIALS];
    /* while a fault is there */
    CoreEntry entry;
    const ImpProgram *program;
    int trial;
    bool differs;
    /* to make a trial */
    uint64_t seed;
    bool wide;
    int64_t spread;
    int k;
    bool ran;
    /* the list */
    Core *body;
    int next_var;
    Plant plant;
    LaunchPlant launched;
    bool there, typed, large, gave_up;
    bool unsound; /* something differs without a fault */
    int64_t *small[SMALL];
    int n_small;
} Test;

typedef struct Totals {
    long planted[PLANT_KINDS], noticed[PLANT_KINDS], ill_typed, unlaunched, programs, known, far, wrong;
    int every;
    const char *only;
    bool say;
} Totals;

/* ---- launches --------------------------------------------------------------------------------------- */

static void prepare(Ctx *ctx, void *user)
{
    Test *t = user;
    Tried *trial = &t->trials[t->n];
    t->ran = aim_accepts(t->c.entry, trial->sizes, 0) &&
             sample_launch(ctx, t->c.entry, trial->sizes, &(SampleInputs){.seed = t->seed, .max_cells = MAX_CELLS, .wide = t->wide, .spread = t->spread}, &trial->launch) &&
             index_guards_take(ctx, t->c.imp, &trial->launch);
    trial->launch.max_steps = REF_STEPS;
    t->ran = t->ran && sample_run(ctx, t->c.entry, &trial->launch);
}

static bool differs(Ctx *ctx, const Test *t, const Launch *got)
{
    const Launch *want = &t->trials[t->trial].launch;
    Judge judge = {.ctx = ctx, .entry = t->c.entry, .launch = *want, .imp = t->program};
    return judge_results(&judge, want->n_results, got->results, want->results, 1).verdict == JUDGED_DIFFERENT;
}

/* By the reference, as what verifies steps does. */
static void evaluate(Ctx *ctx, void *user)
{
    Test *t = user;
    Launch launch = t->trials[t->trial].launch;
    launch.results = NULL;
    launch.max_steps = 8 * REF_STEPS;
    bool ran = sample_run(ctx, &t->entry, &launch);
    t->gave_up = launch.gave_up;
    t->differs = ran ? differs(ctx, t, &launch) : !launch.gave_up;
}

static void simulate(Ctx *ctx, void *user)
{
    Test *t = user;
    Launch launch = t->trials[t->trial].launch;
    launch.results = NULL;
    SimReport report = {.warp_instructions = 0};
    SimOptions options = {.seed = 5, .max_findings = 1, .max_steps = SIM_STEPS};
    bool good = sim_run(ctx, t->program, &launch, &options, &report);
    t->gave_up = !good && report.findings.n == 0 && report.warp_instructions >= SIM_STEPS;
    t->differs = good ? differs(ctx, t, &launch) : !t->gave_up;
}

/* Without a fault; a run that is given up is none. */
static bool agrees(Test *t, void (*by)(Ctx *ctx, void *user))
{
    const CoreEntry entry = t->entry;
    const ImpProgram *program = t->program;
    t->entry = *t->c.entry;
    t->entry.body = t->body;
    t->program = t->c.imp;
    t->trial = t->n;
    bool ran = ctx_try(t->c.ctx, by, t);
    t->unsound |= ran && t->differs;
    t->entry = entry;
    t->program = program;
    return ran && !t->differs && !t->gave_up;
}

static void add_trial(Test *t, bool wide)
{
    if (t->n == MAX_TRIALS)
        return;
    t->seed = 3 + (uint64_t)t->n;
    t->wide = wide;
    t->c.ctx->diags.list.n = t->c.ctx->diags.errors = 0;
    if (ctx_try(t->c.ctx, prepare, t) && t->ran && agrees(t, evaluate) && agrees(t, simulate))
        t->n++;
}

static void find_small(Ctx *ctx, void *user)
{
    Test *t = user;
    int64_t marks[SAMPLE_MARKS], fixed[MAX_SIZES];
    for (int i = 0; i < MAX_SIZES; i++)
        fixed[i] = -1;
    int n = sample_marks(t->c.entry, marks);
    t->n_small = sample_sizes(ctx, t->c.entry, &(SampleInputs){.seed = 1, .max_cells = MAX_CELLS}, fixed, n, marks, SMALL, t->small);
}

/* One long axis among short ones. */
static void add_long(Test *t, int64_t size, int from, int n_shorts)
{
    static const int64_t shorts[][MAX_SIZES] = {{2, 3, 2, 3}, {1, 1, 1, 1}, {3, 2, 1, 2}, {2, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 2, 1}};
    int n = t->c.entry->n_sizes;
    for (int k = 0; k < n; k++)
        for (int j = from; j < from + (n > 1 ? n_shorts : 1); j++) {
            for (int i = 0; i < n; i++)
                t->trials[t->n].sizes[i] = i == k ? size : shorts[j][i];
            add_trial(t, j == 3); /* the least values of long rows are alike, unless they are wide */
        }
}

static void add_trials(Test *t)
{
    int n = t->c.entry->n_sizes;
    if (n > MAX_SIZES || !ctx_try(t->c.ctx, find_small, t))
        return;
    for (int k = t->n_small - 1; k >= 0; k--) {
        memcpy(t->trials[t->n].sizes, t->small[k], sizeof **t->small * (size_t)n);
        add_trial(t, k % 2);
    }
    for (int i = 0; i < n; i++) { /* all alike */
        t->trials[t->n].sizes[i] = 70;
        if (i == n - 1)
            add_trial(t, false);
    }
    add_long(t, 70, 0, 3);
    t->spread = 1000;
    for (int k = 0; k < 3 && !n; k++) /* of constant lengths: more numbers, as there are no more sizes */
        add_trial(t, false);
    t->spread = 0;
}

/* For what the small ones do not notice: prefixes come in parts from 1,024 elements on, and the totals of parts from 65,536. */
static void add_large_trials(Test *t)
{
    add_long(t, 1100, 0, 3);
    add_long(t, 4500, 0, 3);
    add_long(t, 70000, 3, 3);
    t->large = true;
}

static bool notices(Test *t, void (*by)(Ctx *ctx, void *user), int from)
{
    for (t->trial = from; t->trial < t->n; t->trial++) {
        t->differs = true; /* where memory runs out */
        t->c.ctx->diags.list.n = t->c.ctx->diags.errors = 0;
        if (!ctx_try(t->c.ctx, by, t) || t->differs)
            return true;
    }
    return false;
}

static bool noticed(Test *t, void (*by)(Ctx *ctx, void *user))
{
    int n = t->n;
    if (notices(t, by, 0))
        return true;
    if (t->large)
        return false;
    add_large_trials(t);
    return notices(t, by, n);
}

/* ---- faults ------------------------------------------------------------------------------------------ */

static void say(Test *t, const Plant *plant, bool found, Survivors *s, Totals *totals)
{
    int column, line;
    source_position(t->c.ctx, plant->span, &line, &column);
    char text[LINE];
    snprintf(text, sizeof text, "%s:%d: %s: %s: %s", t->path, line, t->c.entry->name, plant_names[plant->kind], plant->what);
    totals->planted[plant->kind]++;
    totals->noticed[plant->kind] += found;
    bool known = !found && survivor_known(s, text, &totals->far);
    totals->known += known;
    if (!found && !known) {
        totals->wrong++;
        printf("survives: %s\n", text);
    } else if (totals->say)
        printf("%s: %s\n", found ? "noticed" : "known", text);
}

static bool is_wanted(const Totals *totals, int k, const Plant *plant)
{
    return k % totals->every == 0 && (!totals->only || strstr(plant_names[plant->kind], totals->only));
}

static void make_list(Ctx *ctx, void *user)
{
    Test *t = user;
    const CoreEntry *entry = t->c.entry;
    NestChoices said = {0};
    t->next_var = 1 << 20;
    const Nests *nests = nests_of(ctx, entry, contraction_ends_open, &t->next_var);
    nests = nests_stored(ctx, entry, nests, contraction_ends_open, &t->next_var, &said);
    t->body = nests_body(ctx, nests, entry->body->type);
}

static void plant_in_term(Ctx *ctx, void *user)
{
    Test *t = user;
    t->entry = *t->c.entry;
    t->entry.body = plant_term(ctx, t->c.entry, t->body, t->k, &t->next_var, &t->plant);
    t->there = t->entry.body != NULL;
    t->typed = t->there && !core_verify(ctx, &t->entry);
}

static void plant_in_launches(Ctx *ctx, void *user)
{
    Test *t = user;
    t->there = plant_launch(ctx, t->c.imp, t->k, &t->launched);
}

/* Is it launched in any of the trials? */
static bool is_launched(const Test *t)
{
    const ImpLaunch *place = &t->c.imp->launches.at[t->launched.launch];
    ImpKernel *kernel = NULL;
    for (int k = 0; k < t->n; k++)
        if (imp_choose(NULL, t->c.entry, place, &t->trials[k].launch, &kernel) && kernel && (!t->launched.kernel || kernel == t->launched.kernel))
            return true;
    return false;
}

static void test_entry(Test *t, Survivors *s, Totals *totals)
{
    if (ctx_try(t->c.ctx, make_list, t))
        add_trials(t);
    if (!t->n || t->unsound) {
        printf("%s: %s: %s\n", t->path, t->c.entry->name, t->unsound ? "differs without a fault" : "no launch");
        totals->wrong++;
        return;
    }
    totals->programs++;
    for (t->k = 0; ctx_try(t->c.ctx, plant_in_term, t) && t->there; t->k++) {
        totals->ill_typed += !t->typed;
        if (t->typed && is_wanted(totals, t->k, &t->plant))
            say(t, &t->plant, noticed(t, evaluate), s, totals);
    }
    bool repeats = false; /* then faults change what the sound program has, too */
    for (int k = 0; k < t->c.imp->launches.n; k++)
        repeats |= t->c.imp->launches.at[k].group != NULL;
    if (repeats && !t->large)
        add_large_trials(t);
    for (t->k = 0; ctx_try(t->c.ctx, plant_in_launches, t) && t->there; t->k++) {
        totals->unlaunched += !is_launched(t);
        t->program = &t->launched.program;
        if (is_launched(t) && is_wanted(totals, t->k, &t->launched.plant))
            say(t, &t->launched.plant, noticed(t, simulate), s, totals);
        plant_remove(&t->launched);
    }
    if (t->unsound) {
        printf("%s: %s: a large launch differs without a fault\n", t->path, t->c.entry->name);
        totals->wrong++;
    }
}

static bool is_high(const Core *term)
{
    bool high = term->kind == CORE_PRIM && (prim_rows[term->prim.id].level == LEVEL_HIGH || term->prim.id == P_iterate);
    for (int i = 0; i < term_children(term) && !high; i++)
        high = is_high(term_child(term, i));
    return high;
}

static void test_file(const char *path, Survivors *s, Totals *totals)
{
    for (int k = 0, n = 1; k < n; k++) {
        Test *t = calloc(1, sizeof *t);
        t->c = compile_entry(path, k, &n);
        t->path = path;
        if (t->c.imp && !t->c.entry->item->lowered && is_high(t->c.entry->body))
            test_entry(t, s, totals);
        compiled_free(&t->c);
        free(t);
    }
    if (totals->every == 1 && !totals->only)
        totals->wrong += survivors_stale(s, path);
}

int main(int argc, char **argv)
{
    Survivors *s = calloc(1, sizeof *s);
    Totals totals = {.every = 1};
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' || i + 1 == argc) {
            test_file(argv[i], s, &totals);
            continue;
        }
        if (strcmp(argv[i], "--survivors") == 0 && !survivors_load(s, argv[i + 1])) {
            printf("%s cannot be read\n", argv[i + 1]);
            return 2;
        }
        if (strcmp(argv[i], "--every") == 0)
            totals.every = (int)strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--only") == 0)
            totals.only = argv[i + 1];
        else if (strcmp(argv[i], "--say") == 0)
            totals.say = strcmp(argv[i + 1], "0") != 0;
        i++;
    }
    long planted = 0, found = 0;
    for (int k = 0; k < PLANT_KINDS; k++) {
        printf("%s%s %ld of %ld", k % 5 ? ", " : "\n  ", plant_names[k], totals.noticed[k], totals.planted[k]);
        planted += totals.planted[k];
        found += totals.noticed[k];
    }
    printf("\n%ld entries: %ld of %ld noticed; not planted: %ld that are not well typed, %ld of launches that no size makes; %ld survivors known\n", totals.programs, found, planted,
           totals.ill_typed, totals.unlaunched, totals.known);
    printf("plants: %ld checks, %ld wrong\n", planted, totals.wrong);
    free(s);
    return totals.wrong != 0;
}
