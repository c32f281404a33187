/* Each pass may be left out, but for the few that make what kernels cannot do without, and each may
 * run twice: the results stay the same. The passes are those of src/codegen/lower.c. A kernel that
 * prints as before is not run again. Then some passes at a time, at random. One in OF_MANY of the
 * changes for each entry, in turn, and those that have changed no text yet; each of them where
 * RISEC_LEVEL is all.
 *
 *     test_passes [--seed N] FILE.rise... */
#include "executors.h"
#include "unit.h"

static const int64_t sizes[] = {0, 1, 31, 32, 64, 96, 100, 192, 1000, 1024, 2047, 4096};

enum {
    FEW = 3,  /* sizes at which an entry runs that a pass less or more changes */
    MIXED = 4, /* random choices of passes for each entry where RISEC_LEVEL is all, else one */
    OF_MANY = 5
};

static int changed[PASS_COUNT][3]; /* entries with another text, by how often the pass runs */

typedef struct Job {
    const Compiled *entry;
    LowerPlan plan;
    ImpProgram *imp;
    StrBuf text;
} Job;

static void lower_job(Ctx *ctx, void *user)
{
    Job *job = user;
    sb_init(&job->text, ctx);
    job->imp = lower_entry_by(ctx, job->entry->entry, &job->plan);
    if (job->imp)
        imp_print(&job->text, job->imp);
}

/* Runs at a few sizes, those that the entry's facts allow. */
static bool agrees(Compiled *c)
{
    int ran = 0;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes && ran < FEW; s++) {
        SimReport report = {.warp_instructions = 0};
        Trial trial = {sizes[s], (int64_t)s % 3, 3 + s, true, true, 40000};
        Outcome o = run_trial(c, trial, &report);
        if (o == DIFFER || o == FINDING)
            return false;
        ran += o == AGREE && sizes[s] > 1;
        if (report.warp_instructions > TRIAL_ENOUGH)
            break;
    }
    return true;
}

typedef enum Change { SAME_TEXT, RIGHT, WRONG } Change;

static Change change(const Compiled *c, const char *text, const LowerPlan *plan)
{
    Job job = {.entry = c, .plan = *plan};
    if (!ctx_try(c->ctx, lower_job, &job) || !job.imp)
        return WRONG;
    if (strcmp(job.text.text, text) == 0)
        return SAME_TEXT;
    Compiled other = {c->ctx, c->entry, job.imp};
    return agrees(&other) ? RIGHT : WRONG;
}

static int least_times(int pass) { return lower_pass_is_needed((LowerPass)pass) ? 1 : 0; }

static void test_one_pass(const Compiled *c, const char *text, LowerPass pass, int times)
{
    LowerPlan plan = lower_plan(PASS_OUTLINE);
    plan.times[pass] = times;
    Change made = change(c, text, &plan);
    changed[pass][times] += made != SAME_TEXT;
    if (!CHECK(made != WRONG))
        printf("  pass %s, %s\n", lower_pass_name(pass), times ? "twice" : "left out");
}

static uint64_t drawn(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static void test_some_passes(const Compiled *c, const char *text, uint64_t *seed)
{
    LowerPlan plan = lower_plan(PASS_OUTLINE);
    for (int p = PASS_TRANSLATE + 1; p < PASS_COUNT; p++) {
        int least = least_times(p);
        plan.times[p] = least + (int)(drawn(seed) % (uint64_t)(3 - least));
    }
    if (CHECK(change(c, text, &plan) != WRONG))
        return;
    for (int p = PASS_TRANSLATE + 1; p < PASS_COUNT; p++)
        if (plan.times[p] != 1)
            printf("  pass %s, %s\n", lower_pass_name((LowerPass)p), plan.times[p] ? "twice" : "left out");
}

static void test_entry(const char *path, int k, const Compiled *c, uint64_t *seed)
{
    static int turn; /* goes on from entry to entry, so that each pass has its turn in entries of any kind */
    Job once = {.entry = c, .plan = lower_plan(PASS_OUTLINE)};
    long failures = unit_failures;
    if (CHECK(c->imp) && CHECK(ctx_try(c->ctx, lower_job, &once) && once.imp)) {
        const char *level = getenv("RISEC_LEVEL");
        bool all = level && strcmp(level, "all") == 0;
        for (int p = PASS_TRANSLATE + 1; p < PASS_COUNT; p++)
            for (int times = least_times(p); times <= 2; times++)
                if (times != 1 && (turn++ % OF_MANY == 0 || all || (times == 0 && changed[p][0] == 0)))
                    test_one_pass(c, once.text.text, (LowerPass)p, times);
        for (int i = 0; i < (all ? MIXED : 1); i++)
            test_some_passes(c, once.text.text, seed);
    }
    if (unit_failures > failures)
        printf("  in %s, entry %d\n", path, k);
}

int main(int argc, char **argv)
{
    bool given = argc > 2 && strcmp(argv[1], "--seed") == 0;
    uint64_t seed = given ? strtoull(argv[2], NULL, 10) : 1;
    printf("seed %llu\n", (unsigned long long)seed);
    for (int f = given ? 3 : 1; f < argc; f++)
        for (int k = 0, n = 1; k < n; k++) {
            Compiled c = compile_entry(argv[f], k, &n);
            test_entry(argv[f], k, &c, &seed);
            compiled_free(&c);
        }
    for (int p = PASS_TRANSLATE + 1; p < PASS_COUNT; p++) {
        printf("%s: left out, %d entries have another text; twice, %d\n", lower_pass_name((LowerPass)p),
               changed[p][0], changed[p][2]);
        CHECK(least_times(p) > 0 || changed[p][0] > 0); /* else nothing was tried */
    }
    return unit_end();
}
