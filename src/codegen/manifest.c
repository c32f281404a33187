/* The manifest: what a host needs to launch the kernels of a .cu file, as JSON. docs/manifest.md describes it. */
#include "codegen/c_names.h"
#include "codegen/cuda_internal.h"
#include "codegen/one_memory.h"
#include "codegen/walk.h"
#include "codegen/workspace.h"
#include "frontend/costs.h"
#include "version.h"

enum { MANIFEST_FORMAT = 4 }; /* docs/manifest.md tells what each has changed */

typedef struct Json {
    Ctx *ctx;
    StrBuf *out;
    int depth;
    bool first;
} Json;

static void next(Json *j)
{
    sb_puts(j->out, j->first ? "\n" : ",\n");
    for (int i = 0; i < j->depth; i++)
        sb_puts(j->out, "  ");
    j->first = false;
}

static void key(Json *j, const char *name)
{
    next(j);
    sb_put_json(j->out, name);
    sb_puts(j->out, ": ");
}

static void open(Json *j, char bracket)
{
    sb_putc(j->out, bracket);
    j->depth++;
    j->first = true;
}

static void close(Json *j, char bracket)
{
    j->depth--;
    if (!j->first) {
        j->first = true;
        next(j);
    }
    sb_putc(j->out, bracket);
    j->first = false;
}

static void text(Json *j, const char *name, const char *value)
{
    key(j, name);
    sb_put_json(j->out, value);
}

static void number(Json *j, const char *name, int64_t value)
{
    key(j, name);
    sb_printf(j->out, "%lld", (long long)value);
}

static void nat(Json *j, const char *name, Nat value) { text(j, name, nat_text(j->ctx, value)); }

/* ["a", "b"] on one line. */
static void texts(Json *j, const char *name, int n, const char *const *values)
{
    key(j, name);
    sb_putc(j->out, '[');
    for (int i = 0; i < n; i++) {
        sb_puts(j->out, i ? ", " : "");
        sb_put_json(j->out, values[i]);
    }
    sb_putc(j->out, ']');
}

/* ---- arguments ---------------------------------------------------------------------------------------------------------- */

typedef VEC(const char *) ArgumentNames;

static void argument(Json *j, const char *name, const char *direction, Type type, bool read_again, const ArgumentNames *in_place)
{
    Ctx *ctx = j->ctx;
    const char *shape[LIMIT_ARRAY_RANK];
    int rank = 0;
    Nat count = nat_const(ctx, 1);
    Type t = type;
    for (; t->kind == TY_ARRAY && rank < LIMIT_ARRAY_RANK; t = t->elem) {
        shape[rank++] = nat_text(ctx, t->size);
        count = nat_mul(ctx, count, t->size);
    }
    if (t->kind == TY_VEC)
        count = nat_mul(ctx, count, t->size);
    Scalar elem = type_scalar_of(ctx, t);
    next(j);
    open(j, '{');
    text(j, "name", name);
    text(j, "direction", direction);
    text(j, "type", type_text(ctx, type));
    text(j, "elem", scalar_name(elem));
    texts(j, "shape", rank, shape);
    nat(j, "count", count);
    text(j, "pass", rank == 0 && t->kind != TY_VEC && !strcmp(direction, "in") ? "value" : "address");
    number(j, "alignment", scalar_bytes(elem));
    if (t->kind == TY_IDX)
        nat(j, "below", t->size);
    if (read_again) {
        key(j, "readAgain");
        sb_puts(j->out, "true");
    }
    if (in_place->n)
        texts(j, "inPlace", in_place->n, in_place->at);
    close(j, '}');
}

/* The names of the arguments by component: what kernels' parameters refer to. */
typedef struct Arguments {
    ArgumentNames outputs, inputs;
} Arguments;

/* Does a kernel read this component of the result? One before has written it. */
static bool is_read_again(const ImpProgram *program, int component)
{
    const ImpKernel *kernel;
    for (int k = 0; (kernel = imp_form(program, k)); k++)
        for (int b = 0; b < kernel->bufs.n; b++) {
            const ImpBuf *buf = kernel->bufs.at[b];
            if (buf->space == SPACE_OUTPUT && buf->component == component && kernel_reads(kernel, buf))
                return true;
        }
    return false;
}

static Arguments arguments(Json *j, const ImpProgram *program)
{
    Ctx *ctx = j->ctx;
    const CoreEntry *entry = program->entry;
    Arguments names = {0};
    const ArgumentNames none = {0};
    for (int i = 0; i < entry->n_inputs; i++)
        for (int k = 0; k < type_component_count(entry->inputs[i]->type); k++)
            vec_push(ctx, &names.inputs, type_component_name(ctx, entry->inputs[i]->name, entry->inputs[i]->type, k));
    key(j, "arguments");
    open(j, '[');
    int n = type_component_count(entry->result);
    for (int k = 0; k < n; k++) {
        const char *name = type_component_name(ctx, "result", entry->result, k);
        ArgumentNames in_place = {0};
        for (int i = 0; i < names.inputs.n; i++)
            if (one_memory(ctx, program, k, i) == ONE_MEMORY_ALLOWED)
                vec_push(ctx, &in_place, names.inputs.at[i]);
        vec_push(ctx, &names.outputs, name);
        argument(j, name, "out", type_component(ctx, entry->result, k), is_read_again(program, k), &in_place);
    }
    for (int i = 0, number = 0; i < entry->n_inputs; i++) {
        const CoreVar *input = entry->inputs[i];
        n = type_component_count(input->type);
        for (int k = 0; k < n; k++)
            argument(j, names.inputs.at[number++], "in", type_component(ctx, input->type, k), false, &none);
    }
    close(j, ']');
    return names;
}

/* ---- kernels ------------------------------------------------------------------------------------------------------------ */

static void parameter(Json *j, const char *kind, const char *of, const char *type)
{
    next(j);
    sb_puts(j->out, "{");
    sb_put_json(j->out, kind);
    sb_puts(j->out, ": ");
    sb_put_json(j->out, of);
    sb_puts(j->out, ", \"type\": ");
    sb_put_json(j->out, type);
    sb_puts(j->out, "}");
}

/* Of two buffers that change places, which one depends on how often they have. */
static void workspace_parameter(Json *j, const ImpBuf *buf, const char *type)
{
    if (!buf->swap) {
        parameter(j, "workspace", buf->name, type);
        return;
    }
    next(j);
    open(j, '{');
    text(j, "workspace", buf->name);
    text(j, "odd", buf->swap->name);
    if (buf->turns->device != NAT_TURN)
        nat(j, "turns", buf->turns);
    text(j, "type", type);
    close(j, '}');
}

static void parameters(Json *j, const ImpKernel *k, const Arguments *names)
{
    key(j, "parameters");
    open(j, '[');
    for (int i = 0; i < k->bufs.n; i++) {
        const ImpBuf *buf = k->bufs.at[i];
        const char *type = buf->by_value ? cuda_type(buf->elem) : ctx_printf(j->ctx, "%s%s *", kernel_writes(k, buf) ? "" : "const ", cuda_type(buf->elem));
        if (buf->space == SPACE_OUTPUT && buf->component < names->outputs.n)
            parameter(j, "argument", names->outputs.at[buf->component], type);
        else if (buf->space == SPACE_INPUT && buf->component < names->inputs.n)
            parameter(j, "argument", names->inputs.at[buf->component], type);
        else if (buf->space == SPACE_TEMP)
            workspace_parameter(j, buf, type);
    }
    for (int i = 0; i < k->n_sizes; i++)
        parameter(j, k->sizes[i]->device == NAT_TURN ? "turn" : "size", k->sizes[i]->name, k->wide ? "long long" : "int");
    close(j, ']');
}

static void guards(Json *j, const ImpKernel *k)
{
    Ctx *ctx = j->ctx;
    const IndexGuards *g = index_guards(ctx, k);
    int n = 0;
    const char **list = NEWN(ctx, const char *, g->at_least_one.n + g->at_most_max.n + (k->entry ? k->entry->n_sizes : 0) + 1);
    long long most = k->wide ? WIDE_INDEX_MAX : INDEX_MAX;
    for (int i = 0; k->entry && i < k->entry->n_sizes; i++)
        list[n++] = ctx_printf(ctx, "%s <= %lld", k->entry->sizes[i]->name, k->wide ? (long long)WIDE_SIZE_MAX : (long long)INDEX_MAX);
    for (int i = 0; i < g->at_least_one.n; i++)
        list[n++] = ctx_printf(ctx, "%s >= 1", nat_text(ctx, g->at_least_one.at[i]));
    for (int i = 0; i < g->at_most_max.n; i++)
        list[n++] = ctx_printf(ctx, "%s <= %lld", nat_text(ctx, g->at_most_max.at[i]), most);
    texts(j, "guards", n, list);
}

typedef struct Lines {
    Json *j;
    int line;
    const char *note;
} Lines;

static void note_line(void *user, ImpStmt *s)
{
    Lines *l = user;
    int line;
    if (s->kind != IS_NOTE)
        return;
    cuda_place(l->j->ctx, s->span, &line);
    if (line == l->line && l->note && !strcmp(s->note, l->note))
        return;
    l->line = line;
    l->note = s->note;
    next(l->j);
    sb_printf(l->j->out, "{\"line\": %d, \"pattern\": ", line);
    sb_put_json(l->j->out, s->note);
    sb_puts(l->j->out, "}");
}

static void axes(Json *j, const char *name, const Nat n[3])
{
    const char *list[3];
    for (int a = 0; a < 3; a++)
        list[a] = nat_text(j->ctx, n[a]);
    texts(j, name, 3, list);
}

/* What has to be aligned beyond its elements: [{"argument": "xs", "bytes": 16}]. */
static void alignment(Json *j, const ImpKernel *k, const Arguments *names)
{
    key(j, "aligned");
    sb_putc(j->out, '[');
    int n = 0;
    for (int i = 0; i < k->bufs.n; i++) {
        const ImpBuf *buf = k->bufs.at[i];
        if (!imp_align(k, buf))
            continue;
        const char *name = buf->space == SPACE_OUTPUT ? names->outputs.at[buf->component] : names->inputs.at[buf->component];
        sb_puts(j->out, n++ ? ", {\"argument\": " : "{\"argument\": ");
        sb_put_json(j->out, name);
        sb_printf(j->out, ", \"bytes\": %d}", imp_align(k, buf));
    }
    sb_putc(j->out, ']');
}

static void kernel_json(Json *j, const ImpKernel *k, const char *name, const Arguments *names)
{
    Ctx *ctx = j->ctx;
    next(j);
    open(j, '{');
    text(j, "name", name);
    Nat grid[3];
    for (int a = 0; a < 3; a++)
        grid[a] = kernel_grid(ctx, k, a);
    axes(j, "grid", grid);
    number(j, "maxGrid", LAUNCH_MAX_GRID);
    if (kernel_max_grid(k, 0) != LAUNCH_MAX_GRID)
        number(j, "maxGridX", kernel_max_grid(k, 0));
    key(j, "exactGrid");
    sb_puts(j->out, k->once[0] || k->once[1] || k->once[2] ? "true" : "false");
    key(j, "cooperative");
    sb_puts(j->out, k->cooperative ? "true" : "false");
    if (k->least_blocks > 1)
        number(j, "leastGrid", k->least_blocks);
    key(j, "block");
    sb_printf(j->out, "[%d, %d, %d]", k->threads[0], k->threads[1], k->threads[2]);
    Nat shared = k->shared_bytes ? k->shared_bytes : nat_const(ctx, 0);
    nat(j, "sharedBytes", shared);
    nat(j, "dynamicSharedBytes", kernel_shared_is_dynamic(k) ? shared : nat_const(ctx, 0));
    number(j, "minBlocks", k->min_blocks);
    parameters(j, k, names);
    number(j, "indexBits", k->wide ? 64 : 32);
    guards(j, k);
    if (imp_has_guard(k))
        alignment(j, k, names);
    key(j, "lines");
    open(j, '[');
    Lines lines = {.j = j};
    ImpBlock body = k->body;
    walk_stmts(&body, note_line, &lines);
    close(j, ']');
    close(j, '}');
}

/* ---- launches ----------------------------------------------------------------------------------------------------------- */

/* {"kernel": NAME, "when": [...]} on a line: the size tests, as conditions that hold. */
static void under_conditions(Json *j, const char *what, const char *value, const ImpWhens *when)
{
    next(j);
    sb_puts(j->out, "{");
    sb_put_json(j->out, what);
    sb_puts(j->out, ": ");
    sb_put_json(j->out, value);
    sb_puts(j->out, ", \"when\": [");
    for (int i = 0; i < when->n; i++) {
        StrBuf test;
        sb_init(&test, j->ctx);
        core_print_test(&test, when->at[i].test, when->at[i].holds);
        sb_puts(j->out, i ? ", " : "");
        sb_put_json(j->out, test.text);
    }
    sb_puts(j->out, "]}");
}

static void launch(Json *j, const ImpProgram *program, const ImpLaunch *place, const char *const *kernels)
{
    next(j);
    open(j, '{');
    key(j, "variants");
    open(j, '[');
    for (int v = 0; v < place->variants.n; v++)
        for (const ImpKernel *k = place->variants.at[v].kernel; k; k = k->otherwise)
            under_conditions(j, "kernel", kernels[imp_form_number(program, k)], &place->variants.at[v].when);
    close(j, ']');
    close(j, '}');
}

static void launches(Json *j, const ImpProgram *program, const char *const *kernels)
{
    key(j, "launches");
    open(j, '[');
    for (int i = 0, n; i < program->launches.n; i += n) {
        const ImpLaunch *place = &program->launches.at[i];
        n = imp_group_size(program, i);
        if (place->group) {
            next(j);
            open(j, '{');
            nat(j, "repeat", place->group->count);
            key(j, "launches");
            open(j, '[');
        }
        for (int k = 0; k < n; k++)
            launch(j, program, &place[k], kernels);
        if (place->group) {
            close(j, ']');
            close(j, '}');
        }
    }
    close(j, ']');
}

/* ---- the workspace -------------------------------------------------------------------------------------------------------- */

static void workspace_buffer_json(Json *j, const WorkBuffer *b)
{
    next(j);
    open(j, '{');
    text(j, "name", b->buf->name);
    text(j, "elem", scalar_name(b->buf->elem));
    nat(j, "count", b->cells);
    nat(j, "bytes", b->bytes);
    key(j, "zero");
    sb_puts(j->out, b->zero ? "true" : "false");
    nat(j, "offset", b->flag >= 0 ? nat_const(j->ctx, b->flag) : b->offset);
    if (b->flag >= 0 && b->offset) {
        number(j, "room", b->room);
        nat(j, "beyond", b->offset);
    }
    close(j, '}');
}

static void workspace_bytes_json(Json *j, const ImpProgram *program, const Workspace *space)
{
    const ImpVariants needs = workspace_needs(j->ctx, program->entry ? program->entry->known : NULL, space);
    key(j, "bytes");
    open(j, '[');
    for (int i = 0; i < needs.n; i++)
        under_conditions(j, "bytes", nat_text(j->ctx, workspace_bytes(space, needs.at[i])), &needs.at[i]->when);
    close(j, ']');
}

static void workspace(Json *j, const ImpProgram *program, const CudaNames *names)
{
    Workspace space;
    if (!names->workspace)
        return;
    workspace_plan(j->ctx, program, &space);
    key(j, "workspace");
    open(j, '{');
    text(j, "size", names->workspace);
    text(j, "init", names->init);
    number(j, "alignment", space.align);
    number(j, "zeroBytes", space.flags);
    workspace_bytes_json(j, program, &space);
    key(j, "buffers");
    open(j, '[');
    for (int b = 0; b < space.buffers.n; b++)
        workspace_buffer_json(j, &space.buffers.at[b]);
    close(j, ']');
    close(j, '}');
}

/* ---- entries ------------------------------------------------------------------------------------------------------------ */

static void entry_facts(Json *j, const CoreEntry *entry)
{
    const char **list = NEWN(j->ctx, const char *, entry->n_facts + 1);
    for (int i = 0; i < entry->n_facts; i++) {
        StrBuf fact;
        sb_init(&fact, j->ctx);
        core_print(&fact, entry->facts[i]);
        list[i] = fact.text;
    }
    texts(j, "facts", entry->n_facts, list);
}

static void tunables(Json *j, const CoreEntry *entry, const int64_t *values)
{
    key(j, "tunables");
    open(j, '{');
    for (int i = 0; i < entry->n_tunables; i++)
        number(j, entry->tunable_names[i], values[i]);
    close(j, '}');
}

/* The classes of a tuned entry, with the tunables of each. */
static void tuning(Json *j, const CoreEntry *entry)
{
    key(j, "tuning");
    open(j, '[');
    for (int k = 0; k < entry->n_classes; k++) {
        const CoreClass *class = &entry->classes[k];
        StrBuf test;
        sb_init(&test, j->ctx);
        if (class->test)
            core_print_test(&test, class->test, true);
        next(j);
        open(j, '{');
        text(j, "when", class->test ? test.text : "");
        tunables(j, entry, class->tunable_values);
        if (class->strategy)
            text(j, "strategy", class->strategy);
        close(j, '}');
    }
    close(j, ']');
}

static void entry_json(Json *j, const ImpProgram *program, const CudaNames *called)
{
    const CoreEntry *entry = program->entry;
    int line;
    next(j);
    open(j, '{');
    text(j, "name", entry->name);
    text(j, "source", cuda_place(j->ctx, entry->span, &line));
    text(j, "launch", called->launch);
    const char **sizes = NEWN(j->ctx, const char *, entry->n_sizes + 1);
    for (int i = 0; i < entry->n_sizes; i++)
        sizes[i] = entry->sizes[i]->name;
    texts(j, "sizes", entry->n_sizes, sizes);
    tunables(j, entry, entry->tunable_values);
    if (entry->n_classes)
        tuning(j, entry);
    if (entry->costs)
        text(j, "costs", costs_hash_text(j->ctx, entry->costs));
    entry_facts(j, entry);
    key(j, "exact");
    sb_puts(j->out, entry->exact ? "true" : "false");
    Arguments names = arguments(j, program);
    workspace(j, program, called);
    key(j, "kernels");
    open(j, '[');
    const ImpKernel *kernel;
    for (int k = 0; (kernel = imp_form(program, k)); k++)
        kernel_json(j, kernel, called->kernels[k], &names);
    close(j, ']');
    launches(j, program, called->kernels);
    close(j, '}');
}

struct ManifestFile {
    CNames *globals;
    StrBuf text;
    Json json; /* between two entries */
};

ManifestFile *manifest_new(Ctx *ctx)
{
    ManifestFile *file = NEW(ctx, ManifestFile);
    file->globals = cuda_globals(ctx); /* names are as in the .cu file */
    sb_init(&file->text, ctx);
    file->json = (Json){.ctx = ctx, .out = &file->text};
    Json *j = &file->json;
    open(j, '{');
    number(j, "format", MANIFEST_FORMAT);
    text(j, "risec", RISEC_VERSION);
    key(j, "entries");
    open(j, '[');
    return file;
}

void manifest_add(Ctx *ctx, ManifestFile *file, const ImpProgram *program)
{
    const CudaNames names = cuda_names(ctx, file->globals, program);
    Json j = file->json;
    j.ctx = ctx;
    entry_json(&j, program, &names);
    file->json.first = j.first;
}

void manifest_end(ManifestFile *file, StrBuf *out)
{
    close(&file->json, ']');
    close(&file->json, '}');
    sb_putc(&file->text, '\n');
    sb_putn(out, file->text.text, file->text.len);
}

void manifest_print(Ctx *ctx, StrBuf *out, int n, ImpProgram *const *programs)
{
    ManifestFile *file = manifest_new(ctx);
    for (int i = 0; i < n; i++)
        manifest_add(ctx, file, programs[i]);
    manifest_end(file, out);
}
