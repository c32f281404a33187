/* `risec FILE.rise`, and what it shares with other verbs: loading, entries, settings. */
#include "driver/aot.h"
#include "driver/each_entry.h"
#include "driver/nearby.h"
#include "driver/frames.h"
#include "driver/other_tools.h"
#include "frontend/token_class.h"
#include "rewrite/rewrite.h"

/* ---- shared --------------------------------------------------------------------------------------------------- */

static Diag *last_said(Ctx *ctx)
{
    return ctx->diags.list.n ? ctx->diags.list.at[ctx->diags.list.n - 1] : NULL;
}

/* A program that could not be read at all. */
static void hint_file(Ctx *ctx, const char *path)
{
    Diag *said = last_said(ctx);
    if (!said || said->code != E0205 || said->span.file || said->help)
        return;
    const char *near = nearby_file(ctx, path, ".rise");
    if (near)
        diag_help(ctx, said, "did you mean `%s`?", near);
}

/* `import "helper.rise"`, where a file beside it is called nearly so. */
static void hint_import(Ctx *ctx, Diag *said)
{
    const Source *source = source_get(ctx, said->span.file);
    const char *from = memchr(source->text + said->span.lo, '"', said->span.hi - said->span.lo), *path = from ? from + 1 : "";
    const char *slash = strrchr(source->name, '/'), *folder = slash ? ctx_printf(ctx, "%.*s", (int)(slash + 1 - source->name), source->name) : "";
    size_t n = strcspn(path, "\"\n");
    const char *near = n ? nearby_file(ctx, ctx_printf(ctx, "%s%.*s", folder, (int)n, path), ".rise") : NULL;
    if (!near)
        return;
    uint32_t lo = (uint32_t)(path - source->text);
    diag_propose(ctx, said, (Span){said->span.file, lo, lo + (uint32_t)n}, "did you mean $?", "%s", near + strlen(folder));
}

static void hint_imports(Ctx *ctx, int from)
{
    for (int i = from; i < ctx->diags.list.n; i++) {
        Diag *said = ctx->diags.list.at[i];
        if (said->code == E0205 && span_is_users(ctx, said->span) && !said->help)
            hint_import(ctx, said);
    }
}

/* It does not begin as a program, nothing in it is right, and its name says something else. */
static bool is_no_program(const Ctx *ctx, const Program *program, const char *path, int said)
{
    const AstFile *ast = program_ast(program);
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    bool other = dot && dot > path && strcmp(dot, ".rise") != 0 && ast->items.n > 0;
    other &= ctx->diags.list.n > said && ctx->diags.list.at[said]->code == E0116;
    for (int i = 0; other && i < ast->items.n; i++)
        other &= ast->items.at[i]->kind == ITEM_ERROR;
    return other;
}

static void say_no_program(Ctx *ctx, Driver *d, const char *path, Diags before)
{
    ctx->diags = before;
    Diag *diag = driver_usage(ctx, d, E0205,
                              "%s is no program: its name ends in `%s`, and nothing in it is RISE",
                              path, strrchr(path, '.'));
    diag_help(ctx, diag, "programs are named FILE.rise; data is given to one by `--arg NAME=%s`",
              path);
}

static bool load(Ctx *ctx, Driver *d, const char *path, Program **program, Program *(*how)(Ctx *ctx, const char *path))
{
    const Diags before = ctx->diags;
    say_part(d->say, "reading");
    if (!d->session && path_is_folder(path)) {
        Diag *diag = driver_usage(ctx, d, E0205, "cannot read `%s`: it is a folder", path);
        diag_help(ctx, diag, "one file is wanted here, as in `risec %s`",
                  verb_rows[d->line->verb].usage);
        return false;
    }
    *program = d->session ? d->session : how(ctx, path);
    if (program_ast(*program) && is_no_program(ctx, *program, path, before.list.n)) {
        say_no_program(ctx, d, path, before);
        return false;
    }
    d->path = path;
    d->program = how == program_load ? *program : NULL; /* a tree alone says nothing of names */
    if (program_ast(*program)) {
        hint_imports(ctx, before.list.n);
        say_step(d->say, "read %s and what it imports", path);
        return true;
    }
    hint_file(ctx, path);
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
        diag_help(ctx, diag, "name one behind the file, as in `risec %s %s %s`", verb_rows[d->line->verb].name, path, program_entry_name(program, 0));
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

const ElabSetting *driver_settings(Ctx *ctx, const Driver *d, int *n)
{
    const CommandLine *line = d->line;
    ElabSetting *settings = NEWN(ctx, ElabSetting, line->given.n + 1);
    *n = 0;
    for (int i = 0; i < line->given.n; i++) {
        const Given *given = &line->given.at[i];
        if (given->id == OPT_SET)
            settings[(*n)++] = (ElabSetting){given->name, given->number, NO_SPAN, false};
    }
    return settings;
}

typedef enum Named { NAMES_NOTHING, NAMES_SIZE, NAMES_TUNABLE } Named;

static Named what_is(const char *name, int n, const Item *const *entries, Nearest *nearest, bool sizes)
{
    Named named = NAMES_NOTHING;
    bool tunable;
    for (int e = 0; e < n; e++) {
        const char *known;
        for (int i = 0; (known = item_size(entries[e], i, &tunable)); i++) {
            if (tunable || sizes)
                nearest_try(nearest, known);
            if (strcmp(known, name) == 0 && named != NAMES_TUNABLE)
                named = tunable ? NAMES_TUNABLE : NAMES_SIZE;
        }
    }
    return named;
}

static int put_sizes(StrBuf *text, const Item *entry, bool tunables, const char *before)
{
    const char *name;
    bool tunable;
    int n = 0;
    for (int i = 0; (name = item_size(entry, i, &tunable)); i++)
        if (tunable == tunables)
            sb_printf(text, "%s`%s`", n++ ? ", " : before, name);
    return n;
}

/* "its tunables are a and b; its sizes are n" as a help. */
static const char *what_there_is(Ctx *ctx, const Item *entry, bool sizes)
{
    StrBuf text;
    sb_init(&text, ctx);
    int n = put_sizes(&text, entry, true, "tunables of this entry: ");
    if (sizes)
        put_sizes(&text, entry, false, n ? "; sizes: " : "sizes of this entry: ");
    return text.text;
}

bool driver_check_settings(Ctx *ctx, Driver *d, int n, const Item *const *entries, bool sizes)
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

/* ---- compiling ------------------------------------------------------------------------------------------------ */

typedef enum Form { FORM_TOKENS, FORM_AST, FORM_CORE, FORM_NESTS, FORM_IMP, FORM_CUDA, FORM_MANIFEST, FORM_PTX, FORM_CUBIN, FORM_HEADER, FORM_COUNT } Form;

static const char *const form_names[FORM_COUNT] = {"tokens", "ast", "core", "nests", "imp", "cuda", "manifest", "ptx", "cubin", "header"};

static const struct {
    const char *suffix;
    Form form;
} suffixes[] = {{".cu", FORM_CUDA}, {".cuh", FORM_CUDA}, {".json", FORM_MANIFEST}, {".ptx", FORM_PTX}, {".cubin", FORM_CUBIN}, {".h", FORM_HEADER}, {".hpp", FORM_HEADER}};

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
    Diag *diag = driver_usage(ctx, d, E0630, "%s: the suffix of the output says its form, and is .cu, .h, .ptx, .cubin or .json", out);
    if (ends_with(out, ".rise"))
        diag_help(ctx, diag, "a program has this suffix; `-o %.*s.cu` writes CUDA C", (int)(strlen(out) - strlen(".rise")), out);
    else
        diag_help(ctx, diag, "`--emit=cuda -o %s` writes CUDA C whatever the suffix", out);
    return FORM_COUNT;
}

typedef struct Output {
    const char *path;
    Form form;
    int arch;    /* of PTX and cubins */
    Archs archs; /* of a header */
} Output;

typedef VEC(Output) Outputs;

static bool is_code(Form form) { return form == FORM_PTX || form == FORM_CUBIN; }

static CodeForm code_form(Form form) { return form == FORM_PTX ? CODE_PTX : CODE_CUBIN; }

static bool choose_archs(Ctx *ctx, Driver *d, const Outputs *outputs)
{
    bool code = false;
    for (int i = 0; i < outputs->n; i++) {
        Output *output = &outputs->at[i];
        if (output->form == FORM_HEADER) {
            code = true;
            if (!aot_archs(ctx, d, output->path, &output->archs))
                return false;
            continue;
        }
        if (!is_code(output->form))
            continue;
        code = true;
        if (!aot_arch(ctx, d, code_form(output->form), output->path, &output->arch))
            return false;
    }
    if (!code && option_on(d->line, OPT_ARCH)) {
        Diag *diag = driver_usage(ctx, d, E0651, "`--arch` is for PTX, cubins and headers, and none is written");
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

typedef VEC(const char *) Paths;

/* Without standard output. */
static Paths files_of(Ctx *ctx, const Outputs *outputs)
{
    Paths paths = {0};
    for (int i = 0; i < outputs->n; i++)
        if (strcmp(outputs->at[i].path, "-") != 0)
            vec_push(ctx, &paths, outputs->at[i].path);
    return paths;
}

static void write_depfile(Ctx *ctx, Driver *d, const Outputs *outputs)
{
    const char *path = option_text(d->line, OPT_DEPFILE);
    Paths made = files_of(ctx, outputs);
    StrBuf rule;
    if (!path)
        return;
    sb_init(&rule, ctx);
    driver_files_rule(d->files, &rule, made.n, made.at);
    driver_write(ctx, d, path, rule.text, rule.len);
}

static bool choose_outputs(Ctx *ctx, Driver *d, Outputs *outputs)
{
    for (int i = 0; i < d->line->given.n; i++) {
        const Given *given = &d->line->given.at[i];
        if (given->id != OPT_OUTPUT)
            continue;
        Output output = {given->value, form_of_output(ctx, d, given->value), 0, {0}};
        if (output.form == FORM_COUNT)
            return false;
        vec_push(ctx, outputs, output);
    }
    if (outputs->n == 0) {
        Output output = {"-", form_of_output(ctx, d, "-"), 0, {0}};
        vec_push(ctx, outputs, output);
    }
    if (option_on(d->line, OPT_DEPFILE) && !files_of(ctx, outputs).n) {
        Diag *diag = driver_usage(ctx, d, E0621, "`--depfile` says what a file is made of, and none is written");
        diag_help(ctx, diag, "`-o FILE.cu` writes one");
        return false;
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

/* What becomes of the entries, one after the other, for an output. */
typedef struct Made {
    CudaFile *cuda;         /* also of PTX, cubins and headers */
    Header *header;
    ManifestFile *manifest;
    StrBuf imp;
} Made;

typedef struct Compiling {
    const Outputs *outputs;
    LowerPass last;
    bool lowered;      /* some output shows more than core */
    CoreProgram *core; /* where one shows core */
    bool nests;        /* it shows lists of nests */
    Made *made;        /* beside the outputs */
    Ctx *ctx;          /* of the owners */
    KernelOwners owners;
} Compiling;

/* "dir/sum.rise" gives "sum". */
static const char *stem(Ctx *ctx, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return ctx_printf(ctx, "%.*s", (int)(dot && dot > name ? dot - name : (long)strlen(name)), name);
}

static void begin_output(Ctx *ctx, const Driver *d, const Output *output, Made *made)
{
    const Form form = output->form;
    sb_init(&made->imp, ctx);
    if (form == FORM_CUDA || form == FORM_HEADER || is_code(form))
        made->cuda = cuda_file_new(ctx, option_on(d->line, OPT_LINE));
    if (form == FORM_HEADER)
        made->header = cuda_file_header(made->cuda, stem(ctx, strcmp(output->path, "-") ? output->path : d->line->words.at[0]));
    if (form == FORM_MANIFEST)
        made->manifest = manifest_new(ctx);
}

static void add_to_output(Ctx *ctx, Made *made, Form form, const ImpProgram *imp)
{
    if (made->cuda)
        cuda_file_add(ctx, made->cuda, imp);
    if (made->manifest)
        manifest_add(ctx, made->manifest, imp);
    if (form == FORM_IMP) {
        sb_puts(&made->imp, made->imp.len ? "\n" : "");
        imp_print(&made->imp, imp);
    }
}

static void compile_entry(Ctx *ctx, EntryRound *round, CoreEntry *entry)
{
    Compiling *c = round->user;
    if (c->core)
        vec_push(ctx, &c->core->entries, c->nests ? entry_as_nests(ctx, entry) : entry);
    const ImpProgram *imp = c->lowered ? driver_lower(ctx, round->d, entry, c->last) : NULL;
    if (imp)
        frames_note(c->ctx, &c->owners, entry, imp);
    for (int i = 0; imp && i < c->outputs->n; i++)
        add_to_output(ctx, &c->made[i], c->outputs->at[i].form, imp);
}

/* The text of an output; of PTX and cubins, the CUDA C that they are made of. */
static void print_output(StrBuf *out, Form form, const Program *program, const CoreProgram *core, const Made *made)
{
    if (form == FORM_TOKENS)
        class_tokens_print(out->ctx, out, program_ast(program)->file);
    else if (made->cuda)
        cuda_file_print(made->cuda, out);
    else if (made->manifest)
        manifest_end(made->manifest, out);
    else if (form == FORM_IMP)
        sb_putn(out, made->imp.text, made->imp.len);
    else if (form == FORM_CORE || form == FORM_NESTS)
        core_print_entries(out, core->entries.n, core->entries.at);
    else
        ast_print_file(out, program_ast(program));
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
    if (other_tools_verb(ctx, line) || other_tools_pairs(ctx, line)) {
        driver_fail(d, STATUS_USAGE);
        return;
    }
    if (line->words.n > 1) {
        Diag *diag = driver_usage(ctx, d, E0621, "one file is compiled at a time, and `%s` is a second one", line->words.at[1]);
        if (!strchr(line->words.at[1], '.'))
            diag_help(ctx, diag, "an entry is named by `--entry %s`", line->words.at[1]);
        return;
    }
    Outputs outputs = {0};
    LowerPass last;
    Program *program;
    if (!choose_outputs(ctx, d, &outputs) || !choose_pass(ctx, d, &outputs, &last))
        return;
    bool typed = false, shows_core = false;
    Compiling c = {.ctx = ctx, .outputs = &outputs, .last = last, .made = NEWN(ctx, Made, outputs.n)};
    for (int i = 0; i < outputs.n; i++) {
        Form form = outputs.at[i].form;
        typed |= form >= FORM_CORE;
        c.nests |= form == FORM_NESTS;
        shows_core |= form == FORM_CORE || form == FORM_NESTS;
        c.lowered |= form >= FORM_IMP;
        begin_output(ctx, d, &outputs.at[i], &c.made[i]);
    }
    /* A tree shows how the text was read, whatever its names mean. */
    if (!load(ctx, d, path, &program, typed ? program_load : program_parse))
        return;
    CoreProgram core = {0};
    c.core = shows_core ? &core : NULL;
    EntryRound round = {.d = d, .path = path, .program = program, .together = shows_core, .work = compile_entry, .user = &c};
    if (typed && !driver_each_entry(ctx, &round))
        return;
    if (typed && round.n == 0) {
        driver_find_entry(ctx, d, program, path, NULL);
        return;
    }
    diags_again(ctx, &round.of_work);
    /* All or nothing: with an error anywhere, no file is touched. */
    if (!driver_no_errors(ctx, d))
        return;
    Code *bytes = NEWN(ctx, Code, outputs.n);
    for (int i = 0; i < outputs.n; i++) {
        const Output *output = &outputs.at[i];
        StrBuf out;
        sb_init(&out, ctx);
        print_output(&out, output->form, program, &core, &c.made[i]);
        say_step(d->say, "printed %s", output->path);
        bytes[i].bytes = out.text;
        bytes[i].size = out.len;
        if (!driver_no_errors(ctx, d))
            return;
        if (is_code(output->form) && !aot_compile(ctx, d, code_form(output->form), output->arch, path, out.text, &bytes[i]))
            return;
        Code cubin = bytes[i];
        int arch = output->arch;
        if (output->form == FORM_HEADER && !aot_header(ctx, d, c.made[i].header, &output->archs, path, out.text, &bytes[i], &cubin, &arch))
            return;
        if (is_code(output->form) || output->form == FORM_HEADER)
            frames_warn(ctx, &c.owners, arch, &cubin);
    }
    for (int i = 0; i < outputs.n; i++) {
        if (!driver_write(ctx, d, outputs.at[i].path, bytes[i].bytes, bytes[i].size))
            return;
    }
    write_depfile(ctx, d, &outputs);
}
