/* Prepares programs for the text executor: their CUDA text, and launches with the results of the reference interpreter.
 *
 *   text_cases DIR <JOBS
 *
 * JOBS are lines; a program is what stands between `program` and `end`:
 *
 *   program NAME PATH        NAME: of the files in DIR
 *   entry NAME               default: the first one of the file
 *   set NAME=VALUE           a tunable
 *   sizes N...               launches: all sizes of the entry the same, and mixed. Those that the entry refuses are left out;
 *                            those that no kernel takes the host function has to refuse
 *   launch N...              one launch: a value for each size, in order
 *   cells N                  leaves out launches with an array of more cells; default 70000
 *   steps N                  leaves out launches for which the reference interpreter takes more steps; without it there is no limit
 *   seed N                   of the inputs; default 1
 *   simulate                 the results are those of the reference interpreter for the entry as it is written, which the simulator must give, too: to the bit, or within the
 *                            tolerance where a strategy lowered the entry and something rounds. Then they are the simulator's. Without it: those of the
 *                            reference interpreter for what the strategy made of the entry
 *   samples N                launches with N small choices of sizes that the entry accepts
 *   spread N                 inputs are integers from -N to N; default 8. More is only right where no floats are added
 *   narrow                   integers, too; without it every second launch has integers of any value
 *   end
 *
 * Writes DIR/NAME.cu, DIR/NAME.cases (for the emitted host function) and DIR/NAME.hand.cases (for a hand-written one), and prints a line for
 * each: `ready NAME CASES ROUNDED` (of how many cases the results are the simulator's), `refused NAME: MESSAGE`, or `differ NAME: WHERE` when the simulator finds something
 * or does not agree. runner.cpp reads the cases. */
#include <stdio.h>
#include <stdlib.h>

#include "codegen/index_guards.h"
#include "codegen/workspace.h"
#include "executors.h"

enum { MAX_LAUNCHES = 256, MAX_SIZES = 16, MAX_SETTINGS = 16, DEFAULT_CELLS = 70000, MAX_SAMPLES = 64, SIM_STEPS = 1000000 };

typedef struct Job {
    char name[128], path[1024], entry[128];
    char settings[MAX_SETTINGS][128];
    int n_settings;
    int64_t classes[MAX_LAUNCHES];
    int n_classes;
    struct { int64_t sizes[MAX_SIZES]; int n; } launches[MAX_LAUNCHES];
    int n_launches;
    int64_t cells, steps, spread, samples;
    bool narrow, simulate;
    uint64_t seed;
    const char *dir;
} Job;

typedef struct Output {
    StrBuf emitted, hand; /* cases */
    bool exact;           /* some kernel is launched with just the blocks that it asks for */
    StrBuf cu;
    int n, n_hand, rounded; /* launches; of them, those for a hand-written kernel: it refuses none */
    bool ready;
    const char *differs; /* the simulator does: where */
} Output;

typedef struct Request {
    Job *job;
    const CoreEntry *written;
    Output out;
} Request;

/* ---- cases ----------------------------------------------------------------------------------------------------------------- */

static void put(StrBuf *out, int64_t v) { sb_putn(out, (const char *)&v, sizeof v); }

typedef enum Role { ROLE_OUT, ROLE_IN, ROLE_TEMP } Role;

static int kind_of(Scalar s) { return s == SC_F16 ? 1 : s == SC_BF16 ? 2 : s == SC_F32 ? 3 : s == SC_F64 ? 4 : 0; }

static void put_buffer(StrBuf *out, Role role, Scalar elem, int64_t align, int64_t count, const unsigned char *bytes)
{
    put(out, role);
    put(out, kind_of(elem));
    put(out, scalar_bytes(elem));
    put(out, align);
    put(out, count);
    if (bytes)
        sb_putn(out, (const char *)bytes, (size_t)count * (size_t)scalar_bytes(elem));
}

/* The caller's arrays and scalars, and where the workspace stands if there is any: its bytes are the host function's matter. */
static void put_host_buffers(Ctx *ctx, StrBuf *out, const ImpProgram *imp, const Launch *launch)
{
    HostBuffers bufs = {0};
    bool workspace = workspace_is_used(imp);
    host_buffers(ctx, imp, &bufs);
    put(out, bufs.n + workspace);
    for (int i = 0; i < bufs.n; i++) {
        const ImpBuf *buf = bufs.at[i].buf;
        const HostBuf *host = buf->space == SPACE_OUTPUT ? &launch->results[buf->component] : &launch->buffers[buf->component];
        put_buffer(out, buf->space == SPACE_OUTPUT ? ROLE_OUT : ROLE_IN, host->elem, scalar_bytes(host->elem), host->count, host->bytes);
    }
    if (workspace)
        put_buffer(out, ROLE_TEMP, SC_U8, WORKSPACE_ALIGN, 0, NULL);
}

/* refused: the host function must not take them. */
static void put_sizes(StrBuf *out, const Launch *launch, bool refused)
{
    put(out, refused);
    put(out, launch->n_sizes);
    for (int i = 0; i < launch->n_sizes; i++)
        put(out, launch->sizes[i]);
}

static const char *launch_text(Ctx *ctx, const Launch *launch, uint64_t seed)
{
    StrBuf text;
    sb_init(&text, ctx);
    sb_puts(&text, "sizes");
    for (int i = 0; i < launch->n_sizes; i++)
        sb_printf(&text, " %lld", (long long)launch->sizes[i]);
    sb_printf(&text, ", seed %llu", (unsigned long long)seed);
    return text.text;
}

/* What the host function must give. */
static bool run_expected(Ctx *ctx, Request *r, const ImpProgram *imp, uint64_t seed, Launch *launch)
{
    const CoreEntry *entry = imp->entry;
    if (!r->job->simulate) {
        launch->n_results = type_component_count(entry->result);
        launch->results = NEWN(ctx, HostBuf, launch->n_results);
        for (int k = 0; k < launch->n_results; k++)
            launch_buffer(ctx, entry, launch, type_component(ctx, entry->result, k), &launch->results[k], true);
        return interp_run(ctx, entry, launch);
    }
    SimReport report = {.warp_instructions = 0};
    Both both = {.options = {.seed = seed, .max_steps = SIM_STEPS}, .compare = true, .report = &report};
    Outcome o = run_both(ctx, r->written, imp, launch, &both);
    if (o == FINDING || o == DIFFER)
        r->out.differs = ctx_printf(ctx, "%s: %s", launch_text(ctx, launch, seed), o == DIFFER ? "sim and ref differ" : report.findings.n ? report.findings.at[0].text : "sim does not run");
    if (o != AGREE)
        return false;
    r->out.rounded += !both.to_the_bit;
    *launch = both.to_the_bit ? both.ref : both.sim;
    return true;
}

/* Does no kernel take these sizes? */
static bool is_refused(Ctx *ctx, const ImpProgram *imp, const Launch *launch)
{
    Diags before = ctx->diags;
    bool taken = index_guards_take(ctx, imp, launch);
    ctx->diags = before;
    return !taken;
}

/* Nothing is read or written: of each buffer there are no cells, but of a scalar its value. */
static void add_refused(Ctx *ctx, Request *r, const ImpProgram *imp, const Launch *launch)
{
    static const unsigned char value[8];
    HostBuffers bufs = {0};
    bool workspace = workspace_is_used(imp);
    host_buffers(ctx, imp, &bufs);
    put_sizes(&r->out.emitted, launch, true);
    put(&r->out.emitted, bufs.n + workspace);
    for (int i = 0; i < bufs.n; i++) {
        const ImpBuf *buf = bufs.at[i].buf;
        put_buffer(&r->out.emitted, ROLE_IN, buf->elem, scalar_bytes(buf->elem), buf->by_value, value);
    }
    if (workspace)
        put_buffer(&r->out.emitted, ROLE_TEMP, SC_U8, WORKSPACE_ALIGN, 0, NULL);
    r->out.n++;
}

static void add_case(Ctx *ctx, Request *r, const ImpProgram *imp, const int64_t *sizes)
{
    const CoreEntry *entry = imp->entry;
    Launch launch;
    const Job *job = r->job;
    SampleInputs how = {.seed = job->seed + (uint64_t)r->out.n, .max_cells = job->cells, .spread = job->spread, .wide = !job->narrow && r->out.n % 2};
    if (!sample_launch(ctx, entry, sizes, &how, &launch))
        return;
    if (is_refused(ctx, imp, &launch)) {
        add_refused(ctx, r, imp, &launch);
        return;
    }
    launch.max_steps = job->steps;
    if (r->out.differs || !run_expected(ctx, r, imp, how.seed, &launch))
        return;
    put_sizes(&r->out.emitted, &launch, false);
    put_host_buffers(ctx, &r->out.emitted, imp, &launch);
    put_sizes(&r->out.hand, &launch, false);
    put(&r->out.hand, launch.n_results + launch.n_buffers);
    r->out.n_hand++;
    for (int k = 0; k < launch.n_results + launch.n_buffers; k++) {
        bool result = k < launch.n_results;
        const HostBuf *host = result ? &launch.results[k] : &launch.buffers[k - launch.n_results];
        /* A hand-written kernel may count on what cudaMalloc gives. */
        put_buffer(&r->out.hand, result ? ROLE_OUT : ROLE_IN, host->elem, 256, host->count, host->bytes);
    }
    r->out.n++;
}

/* All sizes the same; then, where there are several, each another one. */
static void add_classes(Ctx *ctx, Request *r, const ImpProgram *imp)
{
    enum { STEP = 5 }; /* from one size's class to the next one's */
    const Job *job = r->job;
    int64_t sizes[MAX_SIZES] = {0};
    int n = imp->entry->n_sizes;
    if (n > MAX_SIZES)
        return;
    for (int mixed = 0; mixed < (n > 1 ? 2 : 1); mixed++)
        for (int k = 0; k < job->n_classes; k++) {
            for (int i = 0; i < n; i++)
                sizes[i] = job->classes[(k + mixed * i * STEP) % job->n_classes];
            add_case(ctx, r, imp, sizes);
            if (n == 0)
                return;
        }
    for (int k = 0; k < job->n_launches; k++)
        if (job->launches[k].n == n)
            add_case(ctx, r, imp, job->launches[k].sizes);
    int64_t *samples[MAX_SAMPLES], marks[SAMPLE_MARKS];
    SampleInputs how = {.seed = job->seed, .max_cells = job->cells};
    int n_samples = sample_sizes(ctx, r->written, &how, NULL, sample_marks(r->written, marks), marks, (int)job->samples, samples);
    for (int k = 0; k < n_samples; k++)
        add_case(ctx, r, imp, samples[k]);
}

/* ---- a program ---------------------------------------------------------------------------------------------------------------- */

static int find_entry(const Program *program, const char *name)
{
    for (int k = 0; k < program_entry_count(program); k++)
        if (!*name || strcmp(program_entry_name(program, k), name) == 0)
            return k;
    return -1;
}

static void prepare(Ctx *ctx, void *user)
{
    Request *r = user;
    Job *job = r->job;
    ElabSetting settings[MAX_SETTINGS];
    sb_init(&r->out.emitted, ctx);
    sb_init(&r->out.hand, ctx);
    sb_init(&r->out.cu, ctx);
    for (int i = 0; i < job->n_settings; i++) {
        char *value = strchr(job->settings[i], '=');
        settings[i] = (ElabSetting){intern(ctx, job->settings[i], (size_t)(value - job->settings[i])), strtoll(value + 1, NULL, 10), NO_SPAN, false};
    }
    Program *program = program_load(ctx, job->path);
    int k = find_entry(program, job->entry);
    if (k < 0)
        return;
    CoreEntry *entry = elab_entry(ctx, program, k, job->n_settings, settings);
    ImpProgram *imp = entry ? lower_entry(ctx, entry, PASS_OUTLINE) : NULL;
    if (!imp)
        return;
    r->written = entry;
    cuda_print(ctx, &r->out.cu, 1, &imp, false);
    add_classes(ctx, r, imp);
    for (int i = 0; imp_form(imp, i); i++)
        for (int a = 0; a < 3; a++)
            r->out.exact |= imp_form(imp, i)->once[a];
    r->out.ready = true;
}

static bool write_file(const Job *job, const char *suffix, const int64_t *head, int n_head, const StrBuf *text)
{
    char path[2048];
    snprintf(path, sizeof path, "%s/%s%s", job->dir, job->name, suffix);
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool good = fwrite(head, sizeof *head, (size_t)n_head, file) == (size_t)n_head && fwrite(text->text, 1, text->len, file) == text->len;
    return fclose(file) == 0 && good;
}

static const char *why(Ctx *ctx, const Job *job)
{
    StrBuf text;
    sb_init(&text, ctx);
    diag_render(ctx, &text, false);
    char *line = text.text;
    line[strcspn(line, "\n")] = 0;
    return *line ? line : ctx_printf(ctx, "no entry %s in %s", job->entry, job->path);
}

static bool run_job(Job *job)
{
    Request r = {.job = job};
    Ctx *ctx = ctx_new(NULL, NULL);
    bool good = true;
    if (!ctx || !ctx_try(ctx, prepare, &r)) {
        printf("refused %s: out of memory\n", job->name);
    } else if (!r.out.ready) {
        printf("refused %s: %s\n", job->name, why(ctx, job));
    } else if (r.out.differs) {
        printf("differ %s: %s\n", job->name, r.out.differs);
    } else {
        int64_t emitted[] = {!r.out.exact, r.out.n}, hand[] = {0, r.out.n_hand};
        good = write_file(job, ".cu", NULL, 0, &r.out.cu) && write_file(job, ".cases", emitted, 2, &r.out.emitted) &&
               write_file(job, ".hand.cases", hand, 2, &r.out.hand);
        printf("%s %s %d %d\n", good ? "ready" : "refused", job->name, r.out.n, r.out.rounded);
    }
    if (ctx)
        ctx_free(ctx);
    fflush(stdout);
    return good;
}

/* ---- jobs ------------------------------------------------------------------------------------------------------------------------ */

static int numbers(const char *at, int64_t *values, int max)
{
    int n = 0;
    for (char *end; n < max; at = end, n++) {
        values[n] = strtoll(at, &end, 10);
        if (end == at)
            break;
    }
    return n;
}

/* False: no such line. */
static bool read_line(Job *job, const char *line)
{
    int at = 0;
    sscanf(line, "%*s %n", &at);
    const char *rest = line + at;
    if (strncmp(line, "program ", 8) == 0) {
        *job = (Job){.cells = DEFAULT_CELLS, .seed = 1, .dir = job->dir};
        return sscanf(rest, "%127s %1023[^\n]", job->name, job->path) == 2;
    }
    if (strncmp(line, "entry ", 6) == 0)
        return sscanf(rest, "%127s", job->entry) == 1;
    if (strncmp(line, "set ", 4) == 0)
        return job->n_settings < MAX_SETTINGS && sscanf(rest, "%127s", job->settings[job->n_settings]) == 1 &&
               strchr(job->settings[job->n_settings++], '=');
    if (strncmp(line, "sizes ", 6) == 0)
        return (job->n_classes = numbers(rest, job->classes, MAX_LAUNCHES)) > 0;
    if (strncmp(line, "launch ", 7) == 0) {
        if (job->n_launches == MAX_LAUNCHES)
            return false;
        job->launches[job->n_launches].n = numbers(rest, job->launches[job->n_launches].sizes, MAX_SIZES);
        return ++job->n_launches > 0;
    }
    if (strncmp(line, "narrow", 6) == 0)
        return job->narrow = true;
    if (strncmp(line, "simulate", 8) == 0)
        return job->simulate = true;
    int64_t value;
    if (sscanf(rest, "%lld", (long long *)&value) != 1)
        return false;
    if (strncmp(line, "cells ", 6) == 0)
        job->cells = value;
    else if (strncmp(line, "steps ", 6) == 0)
        job->steps = value;
    else if (strncmp(line, "seed ", 5) == 0)
        job->seed = (uint64_t)value;
    else if (strncmp(line, "samples ", 8) == 0 && value <= MAX_SAMPLES)
        job->samples = value;
    else if (strncmp(line, "spread ", 7) == 0)
        job->spread = value;
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    static char line[8192];
    static Job job;
    bool good = argc == 2;
    job.dir = good ? argv[1] : "";
    while (good && fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "end", 3) == 0)
            good = run_job(&job);
        else if (line[0] != '\n' && line[0] != '#' && !(good = read_line(&job, line)))
            fprintf(stderr, "text_cases: what is `%s`?\n", line);
    }
    return good ? 0 : 2;
}
