/* `risec FILE.rise` and `risec check FILE.rise...`, and what they share with `risec run`: loading, entries, settings. */
#include "codegen/lower.h"
#include "driver/aot.h"
#include "driver/driver.h"
#include "driver/expect.h"
#include "frontend/tuning.h"
#include "ir/padding.h"
#include "rewrite/rewrite.h"

/* ---- shared --------------------------------------------------------------------------------------------------- */

static bool load(Ctx *ctx, Driver *d, const char *path, Program **program, Program *(*how)(Ctx *ctx, const char *path))
{
    *program = how(ctx, path);
    if (program_ast(*program))
        return true;
    driver_no_errors(ctx, d);
    driver_fail(d, STATUS_USAGE);
    return false;
}

bool driver_load(Ctx *ctx, Driver *d, const char *path, Program **program) { return load(ctx, d, path, program, program_load); }

/* "`a`, `b` and `c`" */
static const char *entry_list(Ctx *ctx, const Program *program)
{
    StrBuf list;
    sb_init(&list, ctx);
    int n = program_entry_count(program);
    for (int k = 0; k < n; k++)
        sb_printf(&list, "%s`%s`", k == 0 ? "" : k + 1 < n ? ", " : " and ", program_entry_name(program, k));
    return list.text;
}

int driver_find_entry(Ctx *ctx, Driver *d, const Program *program, const char *path, const char *name)
{
    int n = program_entry_count(program);
    for (int k = 0; name && k < n; k++) {
        if (strcmp(program_entry_name(program, k), name) == 0)
            return k;
    }
    if (n == 0) {
        if (!program_failed(program)) {
            Diag *diag = driver_usage(ctx, d, E0622, "%s has no entry", path);
            diag_help(ctx, diag, "what is to be called from outside starts with `entry` instead of `def`");
        }
        return -1;
    }
    if (!name) {
        if (n == 1)
            return 0;
        Diag *diag = driver_usage(ctx, d, E0622, "%s has %d entries: %s", path, n, entry_list(ctx, program));
        diag_help(ctx, diag, "name one: `risec %s %s %s`", verb_rows[d->line->verb == VERB_BENCH || d->line->verb == VERB_TUNE ? d->line->verb : VERB_RUN].name, path, program_entry_name(program, 0));
        return -1;
    }
    Diag *diag = driver_usage(ctx, d, E0622, "%s has no entry `%s`; it has %s", path, name, entry_list(ctx, program));
    Nearest nearest;
    nearest_init(&nearest, name);
    for (int k = 0; k < n; k++)
        nearest_try(&nearest, program_entry_name(program, k));
    if (nearest.best)
        diag_help(ctx, diag, "did you mean `%s`?", nearest.best);
    return -1;
}

const ElabSetting *driver_settings(Ctx *ctx, const Driver *d)
{
    const CommandLine *line = d->line;
    ElabSetting *settings = NEWN(ctx, ElabSetting, line->given.n + 1);
    int n = 0;
    for (int i = 0; i < line->given.n; i++) {
        const Given *given = &line->given.at[i];
        if (given->id == OPT_SET)
            settings[n++] = (ElabSetting){given->name, given->number, NO_SPAN, false};
    }
    return settings;
}

static int settings_count(const Driver *d)
{
    int n = 0;
    for (int i = 0; i < d->line->given.n; i++)
        n += d->line->given.at[i].id == OPT_SET;
    return n;
}

typedef enum Named { NAMES_NOTHING, NAMES_SIZE, NAMES_TUNABLE } Named;

static Named what_is(const char *name, int n, CoreEntry *const *entries, Nearest *nearest, bool sizes)
{
    Named named = NAMES_NOTHING;
    for (int e = 0; e < n; e++) {
        for (int i = 0; i < entries[e]->n_tunables; i++) {
            nearest_try(nearest, entries[e]->tunable_names[i]);
            if (strcmp(entries[e]->tunable_names[i], name) == 0)
                return NAMES_TUNABLE;
        }
        for (int i = 0; i < entries[e]->n_sizes; i++) {
            if (sizes)
                nearest_try(nearest, entries[e]->sizes[i]->name);
            if (strcmp(entries[e]->sizes[i]->name, name) == 0)
                named = NAMES_SIZE;
        }
    }
    return named;
}

/* "its tunables are a and b; its sizes are n" as a help. */
static const char *what_there_is(Ctx *ctx, const CoreEntry *entry, bool sizes)
{
    StrBuf text;
    sb_init(&text, ctx);
    for (int i = 0; i < entry->n_tunables; i++)
        sb_printf(&text, "%s`%s`", i ? ", " : "tunables of this entry: ", entry->tunable_names[i]);
    for (int i = 0; sizes && i < entry->n_sizes; i++)
        sb_printf(&text, "%s`%s`", i ? ", " : text.len ? "; sizes: " : "sizes of this entry: ", entry->sizes[i]->name);
    return text.text;
}

bool driver_check_settings(Ctx *ctx, Driver *d, int n, CoreEntry *const *entries, bool sizes)
{
    bool good = true;
    for (int i = 0; i < d->line->given.n; i++) {
        const Given *given = &d->line->given.at[i];
        if (given->id != OPT_SET)
            continue;
        if (strcmp(given->name, "numSM") == 0 || strcmp(given->name, "maxResident") == 0) {
            if (sizes)
                continue;
            good = false;
            Diag *diag = driver_usage(ctx, d, E0623, "`--set %s=%s`: `%s` is a property of the device, known only at launch", given->name, given->value, given->name);
            diag_help(ctx, diag, "`risec run` takes it for the simulator and the reference");
            continue;
        }
        Nearest nearest;
        nearest_init(&nearest, given->name);
        Named named = what_is(given->name, n, entries, &nearest, sizes);
        if (named == NAMES_TUNABLE || (named == NAMES_SIZE && sizes))
            continue;
        good = false;
        if (named == NAMES_SIZE) {
            Diag *diag = driver_usage(ctx, d, E0623, "`--set %s=%s`: `%s` is a size, known only at launch", given->name, given->value,
                                      given->name);
            diag_help(ctx, diag, "to make it a constant of the compilation, give it a default: `(%s: nat = %s)`", given->name, given->value);
            continue;
        }
        Diag *diag = driver_usage(ctx, d, E0623, "`--set %s=%s`: there is no %s `%s`", given->name, given->value,
                                  sizes ? "size or tunable" : "tunable", given->name);
        const char *others = n ? what_there_is(ctx, entries[0], sizes) : "";
        if (nearest.best)
            diag_help(ctx, diag, "did you mean `%s`?", nearest.best);
        else if (n == 1 && others[0])
            diag_help(ctx, diag, "%s", others);
    }
    return good;
}

/* ---- elaborating and lowering --------------------------------------------------------------------------------- */

/* The entries that the command line asks for, typed. False with diagnostics; then only the good ones are there. */
static bool elaborate(Ctx *ctx, Driver *d, Program *program, const char *path, CoreProgram *core)
{
    const char *only = option_text(d->line, OPT_ENTRY);
    int first = 0, end = program_entry_count(program), errors = ctx->diags.errors;
    if (only) {
        first = driver_find_entry(ctx, d, program, path, only);
        end = first + 1;
        if (first < 0)
            return false;
    }
    const ElabSetting *settings = driver_settings(ctx, d);
    const char *device = option_text(d->line, OPT_TUNED);
    bool tuned = false;
    for (int k = first; k < end; k++) {
        const TuneSection *section;
        CoreEntry *entry = tuned_entry(ctx, program, k, path, device, settings_count(d), settings, &section);
        tuned |= section != NULL;
        if (entry)
            vec_push(ctx, &core->entries, entry);
    }
    if (device && !tuned && ctx->diags.errors == errors) {
        Diag *diag = driver_usage(ctx, d, E0662, "`--tuned \"%s\"`: %s%s has nothing that could be used for that device", device, path, TUNING_SUFFIX);
        diag_help(ctx, diag, "the names of the devices stand there behind `on`; `risec tune` adds the one that it runs on");
    }
    if (ctx->diags.errors > errors || program_failed(program) || core->entries.n < end - first)
        return false;
    return driver_check_settings(ctx, d, core->entries.n, core->entries.at, false);
}

static bool verify_all(Ctx *ctx, Driver *d, const CoreProgram *core)
{
    bool good = true;
    for (int i = 0; option_on(d->line, OPT_VERIFY_EACH) && i < core->entries.n; i++)
        good &= driver_verify(ctx, d, core->entries.at[i]);
    return good;
}

/* ---- compiling ------------------------------------------------------------------------------------------------ */

typedef enum Form { FORM_AST, FORM_CORE, FORM_IMP, FORM_CUDA, FORM_MANIFEST, FORM_PTX, FORM_CUBIN, FORM_COUNT } Form;

static const char *const form_names[FORM_COUNT] = {"ast", "core", "imp", "cuda", "manifest", "ptx", "cubin"};

static const struct {
    const char *suffix;
    Form form;
} suffixes[] = {{".cu", FORM_CUDA}, {".cuh", FORM_CUDA}, {".json", FORM_MANIFEST}, {".ptx", FORM_PTX}, {".cubin", FORM_CUBIN}};

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

static Form form_of_emit(const Driver *d)
{
    const char *emit = option_text(d->line, OPT_EMIT);
    for (int f = 0; emit && f < FORM_COUNT; f++) {
        if (strcmp(form_names[f], emit) == 0)
            return (Form)f;
    }
    return option_on(d->line, OPT_STOP_AFTER) ? FORM_IMP : FORM_COUNT;
}

static Form form_of_output(Ctx *ctx, Driver *d, const char *out)
{
    Form form = form_of_emit(d);
    if (form != FORM_COUNT)
        return form;
    if (strcmp(out, "-") == 0)
        return FORM_CUDA;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (ends_with(out, suffixes[i].suffix))
            return suffixes[i].form;
    }
    Diag *diag = driver_usage(ctx, d, E0630, "%s: the suffix of the output says its form, and is .cu, .ptx, .cubin or .json", out);
    diag_help(ctx, diag, "`--emit=cuda -o %s` writes CUDA C whatever the suffix", out);
    return FORM_COUNT;
}

typedef struct Output {
    const char *path;
    Form form;
    int arch; /* of PTX and cubins */
} Output;

typedef VEC(Output) Outputs;

static bool is_code(Form form) { return form == FORM_PTX || form == FORM_CUBIN; }

static CodeForm code_form(Form form) { return form == FORM_PTX ? CODE_PTX : CODE_CUBIN; }

static bool choose_archs(Ctx *ctx, Driver *d, const Outputs *outputs)
{
    bool code = false;
    for (int i = 0; i < outputs->n; i++) {
        Output *output = &outputs->at[i];
        if (!is_code(output->form))
            continue;
        code = true;
        if (!aot_arch(ctx, d, code_form(output->form), output->path, &output->arch))
            return false;
    }
    if (!code && option_on(d->line, OPT_ARCH)) {
        Diag *diag = driver_usage(ctx, d, E0651, "`--arch` is for PTX and cubins, and none is written");
        diag_help(ctx, diag, "CUDA C and the manifest are for all architectures; `-o FILE.cubin` writes a cubin");
        return false;
    }
    return true;
}

/* Core has one launch, and a tuned entry one for each class. */
static bool forms_tuned(Ctx *ctx, Driver *d, const Outputs *outputs)
{
    for (int i = 0; i < outputs->n; i++)
        if (option_on(d->line, OPT_TUNED) && outputs->at[i].form < FORM_IMP) {
            driver_usage(ctx, d, E0621, "`--tuned` chooses how an entry is compiled, which --emit=%s does not show", form_names[outputs->at[i].form]);
            return false;
        }
    return true;
}

static bool choose_outputs(Ctx *ctx, Driver *d, Outputs *outputs)
{
    for (int i = 0; i < d->line->given.n; i++) {
        const Given *given = &d->line->given.at[i];
        if (given->id != OPT_OUTPUT)
            continue;
        Output output = {given->value, form_of_output(ctx, d, given->value), 0};
        if (output.form == FORM_COUNT)
            return false;
        vec_push(ctx, outputs, output);
    }
    if (outputs->n == 0) {
        Output output = {"-", form_of_output(ctx, d, "-"), 0};
        vec_push(ctx, outputs, output);
    }
    return forms_tuned(ctx, d, outputs) && choose_archs(ctx, d, outputs);
}

static bool choose_pass(Ctx *ctx, Driver *d, const Outputs *outputs, LowerPass *last)
{
    const char *name = option_text(d->line, OPT_STOP_AFTER);
    *last = (LowerPass)(PASS_COUNT - 1);
    if (!name)
        return true;
    *last = lower_pass_find(name);
    if (*last == PASS_COUNT) {
        Nearest nearest;
        nearest_init(&nearest, name);
        StrBuf list;
        sb_init(&list, ctx);
        for (int p = 0; p < PASS_COUNT; p++) {
            nearest_try(&nearest, lower_pass_name((LowerPass)p));
            sb_printf(&list, "%s%s", p ? ", " : "", lower_pass_name((LowerPass)p));
        }
        Diag *diag = driver_usage(ctx, d, E0621, "there is no pass `%s`; the passes are %s", name, list.text);
        if (nearest.best)
            diag_help(ctx, diag, "did you mean `--stop-after=%s`?", nearest.best);
        return false;
    }
    for (int i = 0; i < outputs->n; i++) {
        if (outputs->at[i].form != FORM_IMP) {
            driver_usage(ctx, d, E0621, "`--stop-after` shows imp, so it goes with `--emit=imp`, not with %s", form_names[outputs->at[i].form]);
            return false;
        }
    }
    return true;
}

/* The text of a form; of PTX and cubins, the CUDA C that they are made of. */
static void print_form(Ctx *ctx, const Driver *d, StrBuf *out, Form form, const Program *program, const CoreProgram *core,
                       ImpProgram *const *imps)
{
    int n = core->entries.n;
    switch (form) {
    case FORM_AST:
        ast_print_file(out, program_ast(program));
        break;
    case FORM_CORE:
        core_print_entries(out, n, core->entries.at);
        break;
    case FORM_IMP:
        for (int i = 0; i < n; i++) {
            sb_puts(out, i ? "\n" : "");
            imp_print(out, imps[i]);
        }
        break;
    case FORM_CUDA:
    case FORM_PTX:
    case FORM_CUBIN:
        cuda_print(ctx, out, n, imps, option_on(d->line, OPT_LINE));
        break;
    case FORM_MANIFEST:
        manifest_print(ctx, out, n, imps);
        break;
    case FORM_COUNT:
        break;
    }
}

void cmd_compile(Ctx *ctx, Driver *d)
{
    const CommandLine *line = d->line;
    if (line->words.n == 0) {
        Diag *diag = driver_usage(ctx, d, E0621, "no file is given");
        diag_help(ctx, diag, "the usage is `risec %s`; `risec help` says more", verb_rows[VERB_COMPILE].usage);
        return;
    }
    const char *path = line->words.at[0];
    if (line->words.n > 1) {
        Diag *diag = driver_usage(ctx, d, E0621, "one file is compiled at a time, and `%s` is a second one", line->words.at[1]);
        Nearest nearest;
        nearest_init(&nearest, path);
        for (int v = 0; v < VERB_COUNT; v++) {
            if (verb_rows[v].name[0])
                nearest_try(&nearest, verb_rows[v].name);
        }
        if (nearest.best)
            diag_help(ctx, diag, "did you mean `risec %s %s`?", nearest.best, line->words.at[1]);
        else if (!strchr(line->words.at[1], '.'))
            diag_help(ctx, diag, "an entry is named by `--entry %s`", line->words.at[1]);
        return;
    }
    Outputs outputs = {0};
    LowerPass last;
    Program *program;
    if (!choose_outputs(ctx, d, &outputs) || !choose_pass(ctx, d, &outputs, &last))
        return;
    bool typed = false, lowered = false;
    for (int i = 0; i < outputs.n; i++) {
        typed |= outputs.at[i].form >= FORM_CORE;
        lowered |= outputs.at[i].form >= FORM_IMP;
    }
    /* A tree shows how the text was read, whatever its names mean. */
    if (!load(ctx, d, path, &program, typed ? program_load : program_parse))
        return;
    CoreProgram core = {0};
    if (typed && !elaborate(ctx, d, program, path, &core))
        return;
    if (typed && core.entries.n == 0) {
        driver_find_entry(ctx, d, program, path, NULL);
        return;
    }
    if (!verify_all(ctx, d, &core))
        return;
    ImpProgram **imps = NEWN(ctx, ImpProgram *, core.entries.n + 1);
    for (int i = 0; lowered && i < core.entries.n; i++)
        imps[i] = driver_lower(ctx, d, core.entries.at[i], last);
    /* All or nothing: with an error anywhere, no file is touched. */
    if (!driver_no_errors(ctx, d))
        return;
    Code *bytes = NEWN(ctx, Code, outputs.n);
    for (int i = 0; i < outputs.n; i++) {
        const Output *output = &outputs.at[i];
        StrBuf out;
        sb_init(&out, ctx);
        print_form(ctx, d, &out, output->form, program, &core, imps);
        bytes[i].bytes = out.text;
        bytes[i].size = out.len;
        if (!driver_no_errors(ctx, d))
            return;
        if (is_code(output->form) && !aot_compile(ctx, d, code_form(output->form), output->arch, path, out.text, &bytes[i]))
            return;
    }
    for (int i = 0; i < outputs.n; i++) {
        if (!driver_write(ctx, d, outputs.at[i].path, bytes[i].bytes, bytes[i].size))
            return;
    }
}

/* ---- check ---------------------------------------------------------------------------------------------------- */

/* Says where the standard strategy found nothing fast. */
static void check_speed(Ctx *ctx, const CoreEntry *entry)
{
    Rewriting r = {0};
    if (!entry_is_high(entry) || !rewrite_by_its_own(ctx, entry, -1, &r))
        return;
    const Core *walk = rewriting_is_slow(&r);
    if (!walk)
        return;
    Diag *diag = diag_warning(ctx, W0704, entry->name_span, "`%s` is lowered right, but slowly: threads go through whole arrays alone", entry->name);
    diag_note(ctx, diag, NO_SPAN, "`risec lower FILE %s --trace` shows how; a strategy of its own, `lowered by`, can do better, and so can whole patterns: rows that are folded, "
                                  "columns, products, transpositions, reductions, scans", entry->name);
}

/* Private arrays that cannot lie in registers. The compiler may need only a part of them at a time, up to half in kernels that were looked at. */
enum { PRIVATE_AT_A_TIME = 2 };

static void check_private(Ctx *ctx, const CoreEntry *entry, const ImpProgram *imp)
{
    for (int k = 0; k < imp->kernels.n; k++) {
        const ImpKernel *kernel = imp->kernels.at[k];
        PrivateMemory memory = private_memory(ctx, kernel);
        int registers = kernel_registers(kernel);
        if (memory.bytes <= (int64_t)registers * REGISTER_BYTES * PRIVATE_AT_A_TIME)
            continue;
        Span span = memory.largest->span.file == entry->name_span.file ? memory.largest->span : entry->name_span;
        Diag *diag = diag_warning(ctx, W0705, span, "the private arrays of each thread take %lld bytes, and its registers hold %d", (long long)memory.bytes, registers * REGISTER_BYTES);
        diag_label(ctx, diag, "with %d threads in a block, each has up to %d registers of %d bytes", kernel->threads[0] * kernel->threads[1] * kernel->threads[2], registers, REGISTER_BYTES);
        diag_note(ctx, diag, NO_SPAN, "what does not fit lies in memory of the device, where each access waits: smaller pieces, fewer threads in a block, or `toShared`");
    }
}

/* What is right is also compiled: the text is made, and thrown away. */
static bool has_text(Ctx *ctx, ImpProgram *imp)
{
    int errors = ctx->diags.errors;
    StrBuf text;
    sb_init(&text, ctx);
    cuda_print(ctx, &text, 1, &imp, false);
    return ctx->diags.errors == errors;
}

bool driver_check(Ctx *ctx, Driver *d, const char *path, Program **program, CoreProgram *core)
{
    if (!driver_load(ctx, d, path, program))
        return false;
    if (settings_count(d) || option_on(d->line, OPT_ENTRY))
        elaborate(ctx, d, *program, path, core);
    else
        *core = *elab_all(ctx, *program);
    if (!verify_all(ctx, d, core))
        return false;
    for (int i = 0; i < core->entries.n; i++) {
        ImpProgram *imp = lower_entry(ctx, core->entries.at[i], (LowerPass)(PASS_COUNT - 1));
        if (!imp || !has_text(ctx, imp))
            driver_fail(d, STATUS_PROGRAM);
        else
            check_private(ctx, core->entries.at[i], imp);
    }
    return true;
}

static void check_one(Ctx *ctx, Driver *d, const char *path)
{
    int errors = ctx->diags.errors, first = ctx->diags.list.n;
    Program *program;
    CoreProgram core = {0};
    bool checked = driver_check(ctx, d, path, &program, &core);
    driver_try_hints(ctx, d, path, program, first);
    if (!checked)
        return;
    for (int i = 0; i < core.entries.n && ctx->diags.errors == errors; i++) {
        padding_check(ctx, core.entries.at[i]);
        check_speed(ctx, core.entries.at[i]);
    }
    if (ctx->diags.errors == errors)
        expect_check(ctx, d, program, path);
    if (ctx->diags.errors == errors && option_on(d->line, OPT_LAWS))
        check_laws(ctx, d, path);
}

void cmd_check(Ctx *ctx, Driver *d)
{
    if (d->line->words.n == 0) {
        Diag *diag = driver_usage(ctx, d, E0621, "no file is given");
        diag_help(ctx, diag, "the usage is `risec %s`", verb_rows[VERB_CHECK].usage);
    }
    for (int i = 0; i < d->line->words.n; i++)
        check_one(ctx, d, d->line->words.at[i]);
}
