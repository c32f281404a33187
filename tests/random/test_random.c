/* Random well-typed programs: what is compiled runs on the simulator without a finding and gives what the reference interpreter gives.
 *
 *     test_random [--high 1] [--count N] [--seed N] [--least N] [--only K] [--show K]
 *
 * --high 1: high-level programs, which the scheduler lowers; a tenth of them has to have each of the features in rfeatures.h. Program k of a seed is always the same. --only runs one, with all that is said about it, and shrinks it when it fails; --show prints it. The programs run in a child
 * process, so that a crash is a result too. A failing program is shrunk before it is shown. A primitive that is lowered has to be in so many of the programs that were run (--least; 1 in a run of
 * the default length or more). */
#include <signal.h>
#include <stdio.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rcheck.h"
#include "rgen.h"
#include "rshrink.h"

enum { DEFAULT_COUNT = 2000, DEFAULT_SEED = 1, SHOWN_FAILURES = 10, HANG_SECONDS = 60, KEPT_BYTES = 256 << 20, ACCEPTED_PERCENT = 85, FEATURE_PERCENT = 10, FEATURE_PROGRAMS = 100, IN_PLACE_LEAST = 20, SEEN_PERCENT = 20 };

typedef struct Totals {
    long n, verdicts[V_COUNT], codes[DIAG_CODE_COUNT], reads[P_COUNT], writes[P_COUNT], either[P_COUNT], forms[FORM_COUNT], features[FEATURES], agreed, cannot, allowed, refused, seen;
} Totals;

static uint64_t program_seed(uint64_t seed, long k) { return seed * 1000003u + (uint64_t)k; }

static void add(Totals *t, const RResult *r)
{
    t->n++;
    t->verdicts[r->verdict]++;
    t->agreed += r->agreed;
    t->cannot += r->cannot;
    t->allowed += r->in_place.allowed;
    t->refused += r->in_place.refused;
    t->seen += r->in_place.seen;
    if (r->verdict == V_REFUSED)
        t->codes[r->code]++;
    for (int id = 0; id < P_COUNT && r->verdict == V_GOOD; id++) {
        t->reads[id] += r->reads[id];
        t->writes[id] += r->writes[id];
        t->either[id] += r->reads[id] || r->writes[id];
    }
    for (int k = 0; k < FORM_COUNT && r->verdict == V_GOOD; k++)
        t->forms[k] += r->forms[k];
    for (int k = 0; k < FEATURES && r->verdict == V_GOOD; k++)
        t->features[k] += r->features >> k & 1;
}

static bool high; /* high-level programs */

static RProgram *program_of(Pool *pool, uint64_t seed, long k, const bool *scalars)
{
    return (high ? generate_scheduled_program : generate_program)(pool, program_seed(seed, k), scalars);
}

static RResult check_one(uint64_t seed, long k, const bool *scalars, bool say)
{
    Pool *pool = pool_new();
    RProgram *p = program_of(pool, seed, k, scalars);
    if (say)
        printf("%s", program_text(p));
    RResult r = check_program(p, program_seed(seed, k), say);
    pool_free(pool);
    return r;
}

/* ---- the programs from `first` on, in a child: results come through a pipe until it ends or dies -------------------------------------------- */

static long run_child(uint64_t seed, long first, long count, const bool *scalars, Totals *t, void (*failed)(long k, const RResult *r, void *user), void *user)
{
    int ends[2];
    fflush(stdout);
    if (pipe(ends) != 0)
        return count;
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        for (long k = first; k < count; k++) {
            alarm(HANG_SECONDS);
            RResult r = check_one(seed, k, scalars, false);
            if (write(ends[1], &r, sizeof r) != sizeof r)
                break;
        }
        _exit(0);
    }
    close(ends[1]);
    FILE *in = fdopen(ends[0], "rb");
    RResult r;
    long k = first;
    for (; child > 0 && k < count && fread(&r, sizeof r, 1, in) == 1; k++) {
        add(t, &r);
        if (verdict_fails(r.verdict) || (high && r.verdict == V_REFUSED)) /* the scheduler is for any program */
            failed(k, &r, user);
    }
    fclose(in);
    int status = 0;
    waitpid(child, &status, 0);
    if (k < count) {
        r = (RResult){.verdict = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? V_HANG : V_CRASH, .code = -1};
        add(t, &r);
        failed(k++, &r, user);
    }
    return k;
}

/* ---- failures --------------------------------------------------------------------------------------------------------------------------------- */

typedef struct Failures {
    uint64_t seed;
    const bool *scalars;
    long n;
} Failures;

static void show_failure(long k, const RResult *r, void *user)
{
    Failures *f = user;
    if (f->n++ >= SHOWN_FAILURES) {
        printf("FAILED program %ld: %s\n", k, verdict_names[r->verdict]);
        return;
    }
    Pool *pool = pool_new();
    RProgram *p = program_of(pool, f->seed, k, f->scalars);
    printf("FAILED: %s (--seed %llu --only %ld)\n", verdict_names[r->verdict], (unsigned long long)f->seed, k);
    RProgram *small = shrink_program(p, program_seed(f->seed, k), r);
    printf("%s", program_text(small));
    if (r->verdict < V_CRASH) /* the others end who runs them */
        shrink_say(small, program_seed(f->seed, k));
    fflush(stdout);
    pool_free(small->pool);
    pool_free(pool);
}

/* ---- totals ------------------------------------------------------------------------------------------------------------------------------------- */

/* What programs of this kind are made of. */
static bool is_counted(PrimId id)
{
    PrimLevel level = prim_rows[id].level;
    bool store = prim_is_scatter(id) || id == P_single;
    return high ? level == LEVEL_HIGH || (level == LEVEL_VIEW && prim_is_lowered(id) && !store) : prim_is_lowered(id);
}

/* How many are too rare. */
static int print_prims(const Totals *t, long least)
{
    int rare = 0;
    printf("programs with each primitive (reading side + writing side of a view):");
    int column = 0;
    for (int id = 0; id < P_COUNT; id++)
        if (is_counted((PrimId)id)) {
            printf("%s%s %ld", column++ % 8 ? ", " : "\n  ", prim_name((PrimId)id), t->either[id]);
            if (prim_rows[id].write[0] || t->writes[id])
                printf(" (%ld + %ld)", t->reads[id], t->writes[id]);
        }
    printf("\n");
    for (int id = 0; id < P_COUNT; id++)
        if (is_counted((PrimId)id) && t->either[id] < least) {
            printf("too rare: %s\n", prim_name((PrimId)id));
            rare++;
        }
    for (int k = 0; k < FORM_COUNT && !high; k++) {
        printf("%s%s %ld", k ? ", " : "and with ", form_names[k], t->forms[k]);
        rare += t->forms[k] < least;
    }
    printf("\n");
    return rare;
}

/* Of the programs that ran. How many features are too rare. */
static int print_features(const Totals *t)
{
    int rare = 0;
    for (int k = 0; k < FEATURES; k++) {
        printf("%s%s %ld", k ? ", " : "with ", feature_names[k], t->features[k]);
        rare += t->features[k] * 100 < t->verdicts[V_GOOD] * FEATURE_PERCENT;
    }
    printf("\n");
    if (rare)
        printf("%d features in fewer than %d %% of the programs that ran\n", rare, FEATURE_PERCENT);
    return rare;
}

/* Is a result that takes the memory of an input it may not take seen to be wrong, often enough? */
static bool print_in_place(const Totals *t)
{
    bool enough = t->refused < IN_PLACE_LEAST || t->seen * 100 >= t->refused * SEEN_PERCENT;
    printf("%ld results in the memory of an input agree; of %ld that may not lie there, %ld differ\n", t->allowed, t->refused, t->seen);
    if (!enough)
        printf("fewer than %d %% of these differ\n", SEEN_PERCENT);
    return enough;
}

static void print_verdicts(const Totals *t)
{
    for (int v = 0; v < V_COUNT; v++)
        if (t->verdicts[v])
            printf("%ld %s%s", t->verdicts[v], verdict_names[v], v == V_REFUSED ? " (" : "; ");
        else if (v == V_REFUSED)
            printf("0 refused (");
    int n = 0;
    for (int code = 0; code < DIAG_CODE_COUNT; code++)
        if (t->codes[code])
            printf("%s%s %ld", n++ ? ", " : "by code: ", diag_code_name((DiagCode)code), t->codes[code]);
    printf(")\n%ld trials agree, %ld could not be run\n", t->agreed, t->cannot);
}

int main(int argc, char **argv)
{
    long count = DEFAULT_COUNT, only = -1, print = -1, least = -1;
    uint64_t seed = DEFAULT_SEED;
    for (int i = 1; i + 1 < argc; i += 2) {
        long value = strtol(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--count") == 0)
            count = value;
        else if (strcmp(argv[i], "--seed") == 0)
            seed = (uint64_t)value;
        else if (strcmp(argv[i], "--least") == 0)
            least = value;
        else if (strcmp(argv[i], "--high") == 0)
            high = value != 0;
        else if (strcmp(argv[i], "--only") == 0)
            only = value;
        else if (strcmp(argv[i], "--show") == 0)
            print = value;
    }
#ifdef __GLIBC__ /* each program frees what it took: keep it for the next one */
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
#endif
    bool scalars[SC_COUNT];
    lowered_scalars(scalars);
    if (print >= 0) {
        Pool *pool = pool_new();
        printf("%s", program_text(program_of(pool, seed, print, scalars)));
        pool_free(pool);
        return 0;
    }
    Totals *totals = calloc(1, sizeof *totals);
    Failures failures = {seed, scalars, 0};
    if (only >= 0) {
        run_child(seed, only, only + 1, scalars, totals, show_failure, &failures);
        if (!failures.n) {
            RResult r = check_one(seed, only, scalars, true);
            printf("%s\n", verdict_names[r.verdict]);
        }
        free(totals);
        return failures.n != 0;
    }
    printf("random: seed %llu, %ld programs\n", (unsigned long long)seed, count);
    for (long k = 0; k < count;)
        k = run_child(seed, k, count, scalars, totals, show_failure, &failures);
    print_verdicts(totals);
    int rare = print_prims(totals, least >= 0 ? least : count >= DEFAULT_COUNT);
    if (high && totals->verdicts[V_GOOD] >= FEATURE_PROGRAMS)
        rare += print_features(totals);
    bool enough = totals->verdicts[V_GOOD] * 100 >= count * ACCEPTED_PERCENT;
    if (!enough)
        printf("only %ld of %ld programs were accepted and run\n", totals->verdicts[V_GOOD], count);
    bool seen = print_in_place(totals);
    long wrong = failures.n + (enough ? 0 : 1) + (seen ? 0 : 1) + rare;
    printf("random: %ld checks, %ld wrong\n", totals->agreed, wrong);
    free(totals);
    return wrong != 0;
}
