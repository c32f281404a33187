/* Programs that were damaged a little: `risec check` ends with 0 or 1 in 40 s and 2 GB, and what it accepts is compiled and agrees with the reference.
 *
 *     test_mutants [--count N] [--seed N] [--first K] [--only K] [--show K] [--keep DIR] [--least PERCENT] [--plant] [--limits] FILE.rise...
 *
 * Mutant k of a seed is always the same, for the same files. --only: this one, with all that is said; --show prints it. --keep: the CUDA C of what is accepted goes to
 * DIR/mK.cu. --least: so many of a hundred have to be accepted, else the mutants say little. --plant: with a fault in the kernels of each, which the
 * comparison has to find in most, and among them some by the judge; the others change nothing, or nothing within the bounds.
 * --limits: just one number of each is another one, at which some type or range ends.
 *
 * A child does many of them: it calls what main calls, with the mutant in a file beside those that it imports. What ends the child is done again alone, so that memory
 * that others took is no reason. A mutant whose results differ is none of risec's if `check --laws` refutes an operator or a rule of it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "driver/driver.h"
#include "mutate.h"
#include "pipeline.h"
#include "planted.h"
#include "support/stack.h"

#ifdef __SANITIZE_ADDRESS__
enum { SECONDS = 120 };
#else
enum { SECONDS = 40 };
#endif
enum { BATCH = 500, SHOWN = 40, LARGEST = 1 << 16, MAX_STEPS = 60000, LAUNCHES = 2, ENTRIES = 3, PATH_BYTES = 4096 };
#define MEMORY (((rlim_t)2 << 30) + ((rlim_t)STACK_MIB << 20)) /* addresses; a stack takes few of its own */

/* Beside those of the pipeline. */
typedef enum MutantVerdict {
    M_CRASH = PIPE_COUNT, M_HANG, M_STATUS, /* check ended with another code than 0 or 1 */
    M_UNNAMED,  /* with 1, and no error */
    M_BROKEN,   /* accepted by check, and refused when it is compiled */
    M_LAW,      /* a law that the program claims does not hold */
    M_COUNT
} MutantVerdict;

static const char *const names[M_COUNT - PIPE_COUNT] = {"crash", "no end", "exit code of check", "no error said", "accepted and not compiled", "a law that does not hold"};

static const char *verdict_name(int v) { return v < PIPE_COUNT ? pipe_names[v] : names[v - PIPE_COUNT]; }
static bool is_failure(int v) { return v == PIPE_MEMORY || (v != M_LAW && pipe_fails((PipeVerdict)v)); }

typedef struct MutantOutcome {
    int verdict;
    bool accepted;
    PipeResult pipe;
} MutantOutcome;

typedef struct Shared {
    long at; /* which one the child is at */
    MutantOutcome outcome;
    long counts[M_COUNT], judged, launches[LAUNCH_KINDS], undecided, accepted, failures;
    long failing[SHOWN];
} Shared;

typedef struct Mutants {
    int n;
    char **paths;
    Text *texts;
    uint64_t seed;
    const char *keep;
    bool plant, limits;
    char root[PATH_BYTES]; /* the files again, with mutants beside them */
    Shared *shared;
} Mutants;

/* ---- files ------------------------------------------------------------------------------------------------------------------------- */

static bool read_text(const char *path, Text *text)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    text->at = malloc(LARGEST + 1);
    text->size = fread(text->at, 1, LARGEST, file);
    text->at[text->size] = 0;
    fclose(file);
    return true;
}

static bool write_text(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");
    return file && (fwrite(text, 1, size, file) == size) & (fclose(file) == 0);
}

/* The folders of a path, below the root. */
static void make_folders(char *path)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
}

static void copy_files(const Mutants *m)
{
    char to[2 * PATH_BYTES];
    for (int i = 0; i < m->n; i++) {
        snprintf(to, sizeof to, "%s/%s", m->root, m->paths[i]);
        make_folders(to);
        write_text(to, m->texts[i].at, m->texts[i].size);
    }
}

/* ---- one mutant -------------------------------------------------------------------------------------------------------------------------- */

static uint64_t mutant_seed(const Mutants *m, long k) { return m->seed * 1000003u + (uint64_t)k; }

static Text mutant(const Mutants *m, long k, int *of)
{
    uint64_t state = mutant_seed(m, k);
    *of = (int)(sample_random(&state) % (uint64_t)m->n);
    int other = (int)(sample_random(&state) % (uint64_t)m->n);
    uint64_t seed = sample_random(&state);
    return m->limits ? number_at_limit(&m->texts[*of], seed) : mutate(&m->texts[*of], &m->texts[other], seed);
}

/* What the command printed since the last one. */
static int command(int argc, char **argv, char said[4096])
{
    int status = driver_command(argc, argv);
    fflush(stdout);
    ssize_t n = pread(STDERR_FILENO, said, 4095, 0);
    said[n > 0 ? n : 0] = 0;
    if (ftruncate(STDERR_FILENO, 0) != 0 || lseek(STDERR_FILENO, 0, SEEK_SET) != 0)
        return -1;
    return status;
}

typedef struct PipeRun {
    const Pipe *pipe;
    PipeResult outcome;
} PipeRun;

static void run_pipe(void *user)
{
    PipeRun *run = user;
    run->outcome = pipe_run(run->pipe, NULL);
}

/* In the child. */
static MutantOutcome try_mutant(const Mutants *m, long k)
{
    int of;
    Text text = mutant(m, k, &of);
    char path[2 * PATH_BYTES + 32], cuda[2 * PATH_BYTES], said[4096];
    snprintf(path, sizeof path, "%s/%s.m.rise", m->root, m->paths[of]);
    MutantOutcome o = {.pipe = {.code = -1}};
    if (!write_text(path, text.at, text.size))
        _exit(90);
    struct itimerval limit = {.it_value = {.tv_sec = SECONDS}}, none = {.it_value = {0}};
    setitimer(ITIMER_PROF, &limit, NULL);
    int status = command(3, (char *[]){"risec", "check", path, NULL}, said);
    o.accepted = status == STATUS_GOOD;
    o.verdict = status == STATUS_PROGRAM ? strstr(said, "error[") ? PIPE_REFUSED : M_UNNAMED : status == STATUS_MEMORY ? PIPE_MEMORY : M_STATUS;
    if (!o.accepted) {
        snprintf(o.pipe.said, sizeof o.pipe.said, "exit code %d: %.250s", status, said);
    } else {
        FILE *file = NULL;
        if (m->keep) {
            snprintf(cuda, sizeof cuda, "%s/m%ld.cu", m->keep, k);
            file = fopen(cuda, "wb");
        }
        Pipe pipe = {.name = path, .text = text.at, .size = text.size, .seed = mutant_seed(m, k), .launches = LAUNCHES, .entries = ENTRIES, .max_steps = MAX_STEPS, .cuda = file,
                     .change = m->plant ? planted_any : NULL, .plant = (int)(mutant_seed(m, k) % 1000003)};
        PipeRun run = {.pipe = &pipe};
        stack_run(run_pipe, &run); /* as the driver does */
        o.pipe = run.outcome;
        o.verdict = o.pipe.verdict == PIPE_REFUSED ? M_BROKEN : o.pipe.verdict;
        if (file)
            fclose(file);
        if (o.verdict == PIPE_DIFFERS && command(4, (char *[]){"risec", "check", "--laws", path, NULL}, said) == STATUS_PROGRAM && strstr(said, "E0808"))
            o.verdict = M_LAW;
    }
    setitimer(ITIMER_PROF, &none, NULL);
    unlink(path);
    free(text.at);
    return o;
}

static void limit_child(const Mutants *m)
{
    char log[PATH_BYTES + 8];
    snprintf(log, sizeof log, "%s/log", m->root);
    int fd = open(log, O_RDWR | O_CREAT | O_TRUNC, 0600), null = open("/dev/null", O_WRONLY);
    if (fd < 0 || null < 0 || dup2(fd, STDERR_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
        _exit(91);
    signal(SIGPROF, SIG_DFL);
#if !defined(__SANITIZE_ADDRESS__)
    setrlimit(RLIMIT_AS, &(struct rlimit){MEMORY, MEMORY});
#endif
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

/* ---- many -------------------------------------------------------------------------------------------------------------------------------- */

static void count(Mutants *m, long k, const MutantOutcome *o)
{
    Shared *s = m->shared;
    s->counts[o->verdict]++;
    s->accepted += o->accepted;
    for (int i = 0; i < LAUNCH_KINDS; i++)
        s->launches[i] += o->pipe.launches[i];
    s->judged += o->verdict == PIPE_DIFFERS && o->pipe.judged;
    s->undecided += (long)o->pipe.undecided;
    if (is_failure(o->verdict) && s->failures++ < SHOWN)
        s->failing[s->failures - 1] = k;
}

/* In a child of its own; the mutants [first, end), or as far as it gets: that number is given. */
static long run_child(Mutants *m, long first, long end, bool alone)
{
    Shared *s = m->shared;
    s->at = first;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        limit_child(m);
        for (long k = first; k < end; k++) {
            s->at = k;
            s->outcome = try_mutant(m, k);
            if (!alone && is_failure(s->outcome.verdict) && !m->plant)
                _exit(92); /* again, alone */
            if (!alone)
                count(m, k, &s->outcome);
#ifdef __GLIBC__
            malloc_trim(1 << 20);
#endif
        }
        s->at = end;
        _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (alone && s->at < end)
        s->outcome = (MutantOutcome){.verdict = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF ? M_HANG : M_CRASH};
    return s->at;
}

static void run_all(Mutants *m, long first, long end)
{
    for (long k = first; k < end;) {
        long stop = k + BATCH < end ? k + BATCH : end;
        k = run_child(m, k, stop, false);
        if (k < stop) {
            run_child(m, k, k + 1, true);
            count(m, k, &m->shared->outcome);
            k++;
        }
    }
}

static void show(Mutants *m, long k, bool text)
{
    int of;
    Text t = mutant(m, k, &of);
    run_child(m, k, k + 1, true);
    const MutantOutcome *o = &m->shared->outcome;
    printf("mutant %ld of %s (--seed %llu --only %ld): %s %s\n", k, m->paths[of], (unsigned long long)m->seed, k, verdict_name(o->verdict), o->pipe.said);
    if (text)
        printf("%.*s\n", (int)t.size, t.at);
    free(t.at);
}

/* With planted faults. */
static bool too_few_found(const Shared *s)
{
    long found = s->counts[PIPE_DIFFERS] + s->counts[PIPE_FINDING], missed = s->counts[PIPE_GOOD];
    printf("planted faults: %ld found, %ld of them by the judge, %ld programs are as they should be\n", found, s->judged, missed);
    return 2 * found < missed || s->judged == 0;
}

static int report(Mutants *m, long n, long least)
{
    Shared *s = m->shared;
    for (long i = 0; !m->plant && i < s->failures && i < SHOWN; i++) {
        printf("FAILED: ");
        show(m, s->failing[i], false);
    }
    for (int v = 0; v < M_COUNT; v++)
        if (s->counts[v])
            printf("%s %ld%s", verdict_name(v), s->counts[v], v == M_COUNT - 1 ? "" : "; ");
    printf("\n%ld accepted by check; launches:", s->accepted);
    for (int k = 0; k < LAUNCH_KINDS; k++)
        printf("%s %ld %s", k ? "," : "", s->launches[k], launch_names[k]);
    printf("; %ld undecided elements in those that are near\n", s->undecided);
    bool few = s->accepted * 100 < least * n;
    if (few)
        printf("fewer than %ld%% are accepted\n", least);
    if (m->plant)
        return too_few_found(s) || few;
    printf("mutants: %ld checks, %ld wrong\n", n, s->failures + few);
    return s->failures || few;
}

static void remove_files(const char *root)
{
    char text[PATH_BYTES + 16];
    snprintf(text, sizeof text, "rm -rf '%s'", root);
    if (system(text) != 0)
        printf("%s stays\n", root);
}

int main(int argc, char **argv)
{
    Mutants m = {.seed = 1, .texts = malloc((size_t)argc * sizeof(Text)), .paths = malloc((size_t)argc * sizeof(char *))};
    long n = 1000, first = 0, only = -1, print = -1, least = 10;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--plant") == 0 || strcmp(argv[i], "--limits") == 0) {
            *(argv[i][2] == 'p' ? &m.plant : &m.limits) = true;
            continue;
        }
        if (strcmp(argv[i], "--keep") == 0)
            m.keep = value;
        else if (strcmp(argv[i], "--count") == 0)
            n = atol(value);
        else if (strcmp(argv[i], "--seed") == 0)
            m.seed = strtoull(value, NULL, 10);
        else if (strcmp(argv[i], "--first") == 0)
            first = atol(value);
        else if (strcmp(argv[i], "--only") == 0)
            only = atol(value);
        else if (strcmp(argv[i], "--show") == 0)
            print = atol(value);
        else if (strcmp(argv[i], "--least") == 0)
            least = atol(value);
        else if (read_text(argv[i], &m.texts[m.n])) {
            m.paths[m.n++] = argv[i];
            continue;
        } else {
            fprintf(stderr, "%s cannot be read\n", argv[i]);
            return 2;
        }
        i++;
    }
    const char *tmp = getenv("TMPDIR");
    snprintf(m.root, sizeof m.root, "%s/risec-mutants-XXXXXX", tmp ? tmp : "/tmp");
    m.shared = mmap(NULL, sizeof *m.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!m.n || !mkdtemp(m.root) || m.shared == MAP_FAILED)
        return 2;
    copy_files(&m);
    int status = 0;
    if (print >= 0 || only >= 0) {
        show(&m, only >= 0 ? only : print, true);
    } else {
        printf("seed %llu, %d programs\n", (unsigned long long)m.seed, m.n);
        run_all(&m, first, first + n);
        status = report(&m, n, least);
    }
    remove_files(m.root);
    for (int i = 0; i < m.n; i++)
        free(m.texts[i].at);
    free(m.texts);
    free(m.paths);
    return status;
}
