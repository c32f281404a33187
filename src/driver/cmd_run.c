/* `risec run`: inputs, sizes, a device, results. */
#include "codegen/index_guards.h"
#include "codegen/lower.h"
#include "driver/arguments.h"
#include "driver/judge.h"
#include "driver/npy.h"
#include "driver/other_tools.h"
#include "driver/private_warnings.h"
#include "driver/profile.h"
#include "driver/results.h"
#include "driver/run_gpu.h"
#include "driver/slow_warnings.h"
#include "frontend/tuning.h"
#include "sim/sim.h"

typedef enum Device { DEVICE_SIM, DEVICE_REF, DEVICE_GPU } Device;

typedef struct Run {
    Ctx *ctx;
    Driver *d;
    const CoreEntry *entry;
    Device device;
    Launch launch;
    ImpProgram *imp;   /* not for DEVICE_REF */
    rise_context *gpu; /* DEVICE_GPU */
    SimReport report;
    const char *compared_with; /* NULL: not compared */
    Judgement judgement;
} Run;

static const char *device_name(Device device) { return device == DEVICE_SIM ? "sim" : device == DEVICE_REF ? "ref" : "gpu"; }

/* ---- running -------------------------------------------------------------------------------------------------- */

/* What only the simulator can do. */
static bool wants_simulator(const CommandLine *line)
{
    return option_on(line, OPT_PROFILE) || option_on(line, OPT_STATS) || option_on(line, OPT_GRID) || option_on(line, OPT_MAX_FINDINGS);
}

static bool choose_device(Run *run)
{
    const CommandLine *line = run->d->line;
    const char *name = option_text(line, OPT_DEVICE);
    bool gpu = name && strcmp(name, "gpu") == 0, automatic = name && strcmp(name, "auto") == 0;
    run->device = name && strcmp(name, "ref") == 0 ? DEVICE_REF : DEVICE_SIM;
    if (option_on(line, OPT_PROFILE) && (gpu || run->device == DEVICE_REF)) {
        Diag *diag = driver_usage(run->ctx, run->d, E0621, "`--profile` counts on the simulator, and not on `--device %s`", name);
        diag_help(run->ctx, diag, "leave out `--device %s`, or write `--device sim`", name);
        return false;
    }
    if (gpu && run->d->session) {
        Diag *diag = driver_usage(run->ctx, run->d, E0621, "a session runs on the simulator or the reference, and not on `--device gpu`");
        diag_help(run->ctx, diag, "put the program into a file, and use `risec run`");
        return false;
    }
    if (!gpu && (run->d->session || !automatic || wants_simulator(line)))
        return true;
    run->gpu = gpu_find(run->ctx, run->d, automatic);
    if (run->gpu) {
        run->device = DEVICE_GPU;
        say(run->d->say, "found %s", rise_context_device_name(run->gpu));
    }
    return run->gpu || automatic;
}

static bool lower(Run *run)
{
    run->imp = driver_lower(run->ctx, run->d, run->entry, (LowerPass)(PASS_COUNT - 1));
    return run->imp;
}

static SimOptions launch_options(const CommandLine *line)
{
    SimOptions options = {.seed = (uint64_t)option_number(line, OPT_SEED, 0)};
    options.grid[0] = option_number(line, OPT_GRID, 0);
    return options;
}

static bool simulate(Run *run)
{
    const CommandLine *line = run->d->line;
    int64_t findings = option_number(line, OPT_MAX_FINDINGS, 0);
    SimOptions options = launch_options(line);
    options.max_findings = findings > LIMIT_DIAGNOSTICS ? LIMIT_DIAGNOSTICS : (int)findings;
    options.profile = option_on(line, OPT_PROFILE);
    bool good = sim_run(run->ctx, run->imp, &run->launch, &options, &run->report);
    if (run->report.findings.n)
        sim_diagnose(run->ctx, &run->report);
    if (!good)
        driver_fail(run->d, STATUS_PROGRAM);
    return good;
}

static bool interpret(Run *run, Launch *launch)
{
    bool good = index_guards_take(run->ctx, lower_quietly(run->ctx, run->entry), launch) && interp_run(run->ctx, run->entry, launch);
    if (!good)
        driver_fail(run->d, STATUS_PROGRAM);
    return good;
}

/* ---- comparing ------------------------------------------------------------------------------------------------ */

/* "FILE.npy" for the only result, else "FILE.2.npy" for the second. */
static const char *result_path(Run *run, const char *path, int k)
{
    if (run->launch.n_results == 1)
        return path;
    size_t n = strlen(path);
    bool npy = n > 4 && strcmp(path + n - 4, ".npy") == 0;
    return ctx_printf(run->ctx, "%.*s.%d%s", (int)(npy ? n - 4 : n), path, k + 1, npy ? ".npy" : "");
}

/* "the result", or "result 2". */
static const char *result_words(Run *run, int k) { return run->launch.n_results == 1 ? "the result" : ctx_printf(run->ctx, "result %d", k + 1); }

static const char *number_text(Ctx *ctx, double value)
{
    StrBuf text;
    sb_init(&text, ctx);
    sb_put_float(&text, value, true);
    return text.text;
}

static void report_difference(Run *run, const HostBuf *want)
{
    const Judgement *c = &run->judgement;
    const HostBuf *got = &run->launch.results[c->result];
    Ctx *ctx = run->ctx;
    StrBuf a, b, at;
    sb_init(&a, ctx);
    sb_init(&b, ctx);
    sb_init(&at, ctx);
    driver_fail(run->d, STATUS_PROGRAM);
    if (c->shapes_differ) {
        results_put_shape(&a, got);
        results_put_shape(&b, want);
        diag_error(ctx, E0631, NO_SPAN, "%s: %s is %s, and that of %s is %s", run->entry->name, result_words(run, c->result), a.text,
                   run->compared_with, b.text);
        return;
    }
    int64_t byte = c->cell * scalar_bytes(got->elem);
    scalar_put(&a, got->elem, scalar_load(got->elem, got->bytes + byte));
    scalar_put(&b, got->elem, scalar_load(got->elem, want->bytes + byte));
    results_put_index(&at, got, c->cell);
    Diag *diag = diag_error(ctx, E0631, NO_SPAN, "%s: %s%s%s differs: %s on %s, %s by %s", run->entry->name, result_words(run, c->result),
                            at.len ? " at " : "", at.text, a.text, device_name(run->device), b.text, run->compared_with);
    if (c->rounded)
        diag_note(ctx, diag, NO_SPAN, "the difference is %s, and rounding explains %s at most", number_text(ctx, c->error), number_text(ctx, c->bound));
    else if (scalar_is_float(got->elem))
        diag_note(ctx, diag, NO_SPAN, "nothing is rounded here, so every order that the operators' laws allow gives the same bits");
}

static void report_no_check(Run *run)
{
    driver_fail(run->d, STATUS_PROGRAM);
    Diag *diag = diag_error(run->ctx, E0637, NO_SPAN, "%s: no check: the results differ from %s, and %s", run->entry->name, run->compared_with,
                            judge_why(run->ctx, &run->judgement));
    if (run->judgement.place_repeats && !run->judgement.why)
        diag_help(run->ctx, diag, "places that do not repeat (`--arg NAME=iota`) leave nothing open");
    else
        diag_help(run->ctx, diag, "small integers as inputs (`--arg NAME=iota`) or smaller sizes leave less to rounding");
}

/* `times`: see judge_results. */
static bool compare(Run *run, const char *with, const HostBuf *want, double times)
{
    Judge judge = {.ctx = run->ctx, .entry = run->entry, .launch = run->launch, .imp = run->imp, .options = launch_options(run->d->line)};
    run->compared_with = with;
    run->judgement = judge_results(&judge, run->launch.n_results, run->launch.results, want, times);
    if (run->judgement.verdict == JUDGED_DIFFERENT)
        report_difference(run, &want[run->judgement.result]);
    if (run->judgement.verdict == JUDGED_NO_CHECK)
        report_no_check(run);
    return run->judgement.verdict <= JUDGED_NEAR;
}

static bool verify(Run *run)
{
    Launch again = run->launch;
    again.n_results = 0;
    again.results = NULL;
    return interpret(run, &again) && compare(run, "the reference", again.results, 1);
}

static bool expect(Run *run, const char *path)
{
    HostBuf *want = NEWN(run->ctx, HostBuf, run->launch.n_results + 1);
    for (int k = 0; k < run->launch.n_results; k++) {
        if (!npy_read(run->ctx, result_path(run, path, k), &want[k])) {
            driver_fail(run->d, STATUS_USAGE);
            return false;
        }
        npy_as(&want[k], run->launch.results[k].elem);
    }
    return compare(run, path, want, 2); /* the file's maker may have rounded as much */
}

/* ---- output --------------------------------------------------------------------------------------------------- */

/* The sizes in a type that the device gives. */
typedef struct DeviceSizes {
    const Run *run;
    VEC(Nat) vars;
    VEC(Nat) values;
} DeviceSizes;

static void add_device_size(void *user, Nat var)
{
    DeviceSizes *sizes = user;
    int64_t value;
    if (!launch_device_value(&sizes->run->launch, var, &value))
        return;
    vec_push(sizes->run->ctx, &sizes->vars, var);
    vec_push(sizes->run->ctx, &sizes->values, nat_const(sizes->run->ctx, value));
}

static Type with_device_sizes(const Run *run, Type t)
{
    DeviceSizes sizes = {.run = run};
    for (int c = 0; c < type_component_count(t); c++)
        for (Type u = type_component(run->ctx, t, c); u->kind == TY_ARRAY || u->kind == TY_VEC; u = u->elem)
            nat_each_var(run->ctx, u->size, add_device_size, &sizes);
    return type_subst(run->ctx, t, sizes.vars.n, sizes.vars.at, sizes.values.at);
}

/* sumBlocks(n = 1000003) on sim: 977.f32 */
static void put_head(Run *run, StrBuf *out)
{
    const CoreEntry *entry = run->entry;
    Nat *values = NEWN(run->ctx, Nat, entry->n_sizes + 1);
    const char *between = "(";
    sb_puts(out, entry->name);
    for (int i = 0; i < entry->n_sizes; i++) {
        values[i] = nat_const(run->ctx, run->launch.sizes[i]);
        sb_printf(out, "%s%s = %lld", between, entry->sizes[i]->name, (long long)run->launch.sizes[i]);
        between = ", ";
    }
    for (int i = 0; i < entry->n_tunables; i++) {
        if (!option_sets(run->d->line, entry->tunable_names[i]))
            continue;
        sb_printf(out, "%s%s = %lld", between, entry->tunable_names[i], (long long)entry->tunable_values[i]);
        between = ", ";
    }
    for (int k = 0; k < 2; k++) {
        const char *name = k ? "maxResident" : "numSM";
        if (option_sets(run->d->line, name)) {
            sb_printf(out, "%s%s = %lld", between, name, (long long)(k ? run->launch.max_resident : run->launch.num_sm));
            between = ", ";
        }
    }
    sb_printf(out, "%s on %s", between[0] == ',' ? ")" : "", device_name(run->device));
    driver_put_tuned(run->ctx, out, entry, &run->launch);
    sb_puts(out, ": ");
    type_print(out, with_device_sizes(run, type_subst(run->ctx, entry->result, entry->n_sizes, entry->sizes, values)));
    sb_putc(out, '\n');
}

static const struct {
    const char *name;
    size_t at;
} counters[] = {
#define COUNTER(field) {#field, offsetof(SimReport, field)}
    COUNTER(warp_instructions), COUNTER(global_loads),  COUNTER(global_stores), COUNTER(shared_loads),
    COUNTER(shared_stores),     COUNTER(shuffles),      COUNTER(block_barriers), COUNTER(warp_barriers),
#undef COUNTER
};
enum { COUNTERS = sizeof counters / sizeof counters[0] };

static unsigned long long counter(const Run *run, int k)
{
    uint64_t value;
    memcpy(&value, (const char *)&run->report + counters[k].at, sizeof value);
    return value;
}

static void print_text(Run *run, StrBuf *out)
{
    put_head(run, out);
    results_print_all(out, run->launch.n_results, run->launch.results);
    const Judgement *c = &run->judgement;
    if (run->compared_with && c->verdict == JUDGED_EQUAL)
        sb_printf(out, "equals %s\n", run->compared_with);
    if (run->compared_with && c->verdict == JUDGED_NEAR) {
        judge_put(out, c);
        sb_putc(out, '\n');
    }
    if (option_on(run->d->line, OPT_STATS) && run->device == DEVICE_REF)
        sb_printf(out, "%-18s %12lld\n%-18s %12lld\n", "functions", (long long)run->launch.work.functions, "loads",
                  (long long)run->launch.work.loads);
    for (int k = 0; option_on(run->d->line, OPT_STATS) && run->device == DEVICE_SIM && k < COUNTERS; k++) {
        StrBuf name;
        sb_init(&name, run->ctx);
        for (const char *at = counters[k].name; *at; at++)
            sb_putc(&name, *at == '_' ? ' ' : *at);
        sb_printf(out, "%-18s %12llu\n", name.text, counter(run, k));
    }
    if (run->report.profile)
        profile_print(run->ctx, out, run->report.profile);
}

static void put_json_number(StrBuf *out, double value)
{
    bool word = value - value != 0; /* an infinity or a NaN */
    sb_puts(out, word ? "\"" : "");
    sb_put_float(out, value, false);
    sb_puts(out, word ? "\"" : "");
}

static void print_json(Run *run, StrBuf *out)
{
    const CoreEntry *entry = run->entry;
    sb_puts(out, "{\"entry\": ");
    sb_put_json(out, entry->name);
    sb_printf(out, ", \"device\": \"%s\", \"sizes\": {", device_name(run->device));
    for (int i = 0; i < entry->n_sizes; i++)
        sb_printf(out, "%s\"%s\": %lld", i ? ", " : "", entry->sizes[i]->name, (long long)run->launch.sizes[i]);
    sb_puts(out, "}, ");
    driver_put_tunables(run->ctx, out, entry, &run->launch);
    sb_puts(out, ", \"results\": [");
    for (int k = 0; k < run->launch.n_results; k++) {
        sb_puts(out, k ? ", " : "");
        results_json(out, &run->launch.results[k]);
    }
    sb_puts(out, "]");
    if (run->compared_with) {
        sb_puts(out, ", \"compared\": {\"with\": ");
        sb_put_json(out, run->compared_with);
        sb_printf(out, ", \"verdict\": \"%s\", \"error\": ", judge_word(run->judgement.verdict));
        put_json_number(out, run->judgement.error);
        sb_puts(out, ", \"relative\": ");
        put_json_number(out, run->judgement.relative);
        sb_puts(out, ", \"bound\": ");
        put_json_number(out, run->judgement.bound);
        sb_printf(out, ", \"elements\": %lld, \"undecided\": %lld}", (long long)run->judgement.elements, (long long)run->judgement.unchecked);
    }
    if (option_on(run->d->line, OPT_STATS) && run->device == DEVICE_SIM) {
        for (int k = 0; k < COUNTERS; k++)
            sb_printf(out, "%s\"%s\": %llu", k ? ", " : ", \"stats\": {", counters[k].name, counter(run, k));
        sb_puts(out, "}");
    }
    if (option_on(run->d->line, OPT_STATS) && run->device == DEVICE_REF)
        sb_printf(out, ", \"work\": {\"functions\": %lld, \"loads\": %lld}", (long long)run->launch.work.functions,
                  (long long)run->launch.work.loads);
    if (run->report.profile) {
        sb_puts(out, ", \"profile\": ");
        profile_json(run->ctx, out, run->report.profile);
    }
    sb_puts(out, "}\n");
}

static bool write_results(Run *run)
{
    const char *path = option_text(run->d->line, OPT_OUT);
    for (int k = 0; path && k < run->launch.n_results; k++) {
        size_t size;
        const char *bytes = npy_bytes(run->ctx, &run->launch.results[k], &size);
        if (!driver_write(run->ctx, run->d, result_path(run, path, k), bytes, size))
            return false;
    }
    return true;
}

/* ---- the verb ------------------------------------------------------------------------------------------------- */

bool driver_entry(Ctx *ctx, Driver *d, const char *device, CoreEntry **out)
{
    const CommandLine *line = d->line;
    if (other_tools_pairs(ctx, line)) {
        driver_fail(d, STATUS_USAGE);
        return false;
    }
    if (line->words.n == 0 || line->words.n > 2) {
        Diag *diag = line->words.n ? driver_usage(ctx, d, E0621, "a file and one entry are run at a time, and `%s` is one too many", line->words.at[2])
                                   : driver_usage(ctx, d, E0621, "no file is given");
        diag_help(ctx, diag, "the usage is `risec %s`", verb_rows[line->verb].usage);
        return false;
    }
    const char *path = line->words.at[0];
    Program *program;
    if (!driver_load(ctx, d, path, &program))
        return false;
    int k = driver_find_entry(ctx, d, program, path, line->words.n > 1 ? line->words.at[1] : NULL);
    if (k < 0)
        return false;
    d->only_entry = program_entry_name(program, k);
    int n_settings;
    const ElabSetting *settings = driver_settings(ctx, d, &n_settings);
    const TuneSection *section;
    CoreEntry *entry = tuned_entry(ctx, program, k, path, option_on(line, OPT_UNTUNED) ? NULL : device, n_settings, settings, &section);
    if (!entry || program_failed(program)) {
        driver_fail(d, STATUS_PROGRAM);
        return false;
    }
    if (section)
        say(d->say, "found in %s%s: `%s` on \"%s\"", path, TUNING_SUFFIX, section->entry, section->device);
    say_step(d->say, "typed `%s`", entry->name);
    *out = entry;
    return (!option_on(line, OPT_VERIFY_EACH) || line->verb == VERB_LOWER || driver_verify(ctx, d, entry)) && driver_check_settings(ctx, d, 1, &entry->item, true);
}

/* What `--set numSM=4` says of the device: there is none, so it may be any. */
static bool take_device_sizes(Run *run)
{
    if (run->device == DEVICE_GPU)
        run->launch.num_sm = gpu_multiprocessors(run->gpu);
    for (int i = 0; i < run->d->line->given.n; i++) {
        const Given *given = &run->d->line->given.at[i];
        bool sms = given->id == OPT_SET && strcmp(given->name, "numSM") == 0;
        if (!sms && !(given->id == OPT_SET && strcmp(given->name, "maxResident") == 0))
            continue;
        if (run->device == DEVICE_GPU) {
            driver_usage(run->ctx, run->d, E0623, "`--set %s=%s`: a GPU has its own `%s`", given->name, given->value, given->name);
            return false;
        }
        if (given->number < 1 || given->number > INT32_MAX) {
            driver_usage(run->ctx, run->d, E0623, "`--set %s=%s`: `%s` is a number from 1 to %d", given->name, given->value, given->name, INT32_MAX);
            return false;
        }
        *(sms ? &run->launch.num_sm : &run->launch.max_resident) = given->number;
    }
    return true;
}

/* The device's name in tuning files. */
static const char *tuned_for(const Run *run)
{
    return run->device == DEVICE_REF ? NULL : run->device == DEVICE_SIM ? TUNING_SIM : tuning_device(run->ctx, rise_context_device_name(run->gpu));
}

/* The program's own mistakes come before those of the call. */
static bool prepare_program(Run *run)
{
    CoreEntry *entry;
    if (!choose_device(run) || !driver_entry(run->ctx, run->d, tuned_for(run), &entry))
        return false;
    run->entry = entry;
    return take_device_sizes(run) && (run->device == DEVICE_REF || lower(run));
}

static bool make_arguments(Run *run)
{
    ArgumentsHow how = {.copies = option_on(run->d->line, OPT_VERIFY) ? 2 : 1, .watched = run->device == DEVICE_SIM ? SIM_WATCH_BYTES : 0,
                        .slow = run->device == DEVICE_SIM ? "the simulator" : run->device == DEVICE_REF ? "the reference interpreter" : NULL};
    bool good = arguments_make(run->ctx, run->d, run->entry, &how, &run->launch);
    if (good)
        say_step(run->d->say, "made the inputs");
    return good;
}

static bool execute(Run *run)
{
    say_work(run->d->say, "running `%s` on %s", run->entry->name, device_name(run->device));
    switch (run->device) {
    case DEVICE_SIM:
        return simulate(run);
    case DEVICE_REF:
        return interpret(run, &run->launch);
    case DEVICE_GPU:
        return gpu_run(run->ctx, run->d, run->gpu, run->entry, &run->launch);
    }
    return false;
}

/* Compares the results as asked, and prints or writes them. */
static void show(Run *run)
{
    Ctx *ctx = run->ctx;
    Driver *d = run->d;
    const char *expected = option_text(d->line, OPT_EXPECT);
    bool json = option_on(d->line, OPT_JSON);
    if (option_on(d->line, OPT_VERIFY) || expected)
        say_work(d->say, "comparing results");
    bool good = (!option_on(d->line, OPT_VERIFY) || verify(run)) && (!expected || expect(run, expected));
    if (run->compared_with)
        say_step(d->say, "compared with %s", run->compared_with);
    /* A wrong result is shown all the same: the JSON says that it is wrong. */
    if (!good && !json && !option_on(d->line, OPT_OUT))
        return;
    if (!write_results(run))
        return;
    const char *to = option_text(d->line, OPT_OUT);
    if (to && strcmp(to, "-") == 0)
        return;
    StrBuf out;
    sb_init(&out, ctx);
    if (json)
        print_json(run, &out);
    else
        print_text(run, &out);
    driver_write(ctx, d, "-", out.text, out.len);
}

void cmd_run(Ctx *ctx, Driver *d)
{
    Run *run = NEW(ctx, Run);
    run->ctx = ctx;
    run->d = d;
    int64_t blocks = option_number(d->line, OPT_GRID, 1);
    if (blocks < 1 || blocks > INT32_MAX) { /* what CUDA launches, too */
        driver_usage(ctx, d, E0621, "`--grid` is a number of blocks from 1 to 2147483647");
        return;
    }
    if (prepare_program(run) && make_arguments(run) && execute(run)) {
        say_step(d->say, "ran on %s", device_name(run->device));
        if (run->imp)
            warn_private(run->ctx, run->entry, run->imp, &run->launch);
        if (run->imp && entry_is_high(run->entry))
            warn_stored(ctx, run->imp, &run->launch);
        show(run);
    }
    rise_context_free(run->gpu);
}
