/* Programs: their text, the files that it imports, and what the compiler says about them. */
#include "folder.h"
#include "frontend/library.h"
#include "internal.h"

/* ---- files ---------------------------------------------------------------------------------------------------------------- */

static const SourceFile *file_find(RiseProgram *program, const char *path)
{
    pthread_mutex_lock(&program->files_lock);
    const SourceFile *file = program->files;
    while (file && strcmp(file->path, path) != 0)
        file = file->next;
    pthread_mutex_unlock(&program->files_lock);
    return file; /* files stay until the program goes */
}

static void file_free(RiseContext *context, SourceFile *file)
{
    context_dealloc(context, file->path);
    context_dealloc(context, file->bytes);
    context_dealloc(context, file);
}

static bool file_keep(RiseProgram *program, const char *path, FileStatus status, const char *bytes, size_t size)
{
    RiseContext *context = program->context;
    SourceFile *file = context_alloc(context, sizeof *file, NULL);
    if (!file)
        return false;
    file->status = status;
    file->size = size;
    file->path = context_copy(context, path, strlen(path), NULL);
    file->bytes = context_copy(context, bytes, size, NULL);
    if (!file->path || !file->bytes) {
        file_free(context, file);
        return false;
    }
    pthread_mutex_lock(&program->files_lock);
    file->next = program->files;
    program->files = file;
    pthread_mutex_unlock(&program->files_lock);
    return true;
}

static FileStatus read_beside(RiseProgram *program, Ctx *ctx, const char *path, size_t limit, char **bytes, size_t *size)
{
    FileAccess real = program->context->seams.files;
    if (!real.read) { /* the C library's, which every context has */
        Ctx *plain = ctx_new(&program->context->seams.alloc, NULL);
        if (!plain)
            ctx_out_of_memory(ctx);
        real = plain->files;
        ctx_free(plain);
    }
    return real.read(real.user, ctx, path, FILE_REGULAR, limit, bytes, size);
}

typedef struct Asking {
    const RiseContext *context;
    const char *path, *text;
    size_t size;
} Asking;

static void ask(void *user)
{
    Asking *a = user;
    a->text = a->context->read(a->context->read_user, a->path, &a->size);
}

static FileStatus read_by_asking(const Reader *reader, Ctx *ctx, const char *path, size_t limit, char **bytes, size_t *size)
{
    char *inside = ctx_alloc(ctx, strlen(path) + 1);
    strcpy(inside, path);
    if (!folder_path(inside))
        return FILE_OUTSIDE;
    Asking asking = {reader->program->context, inside, NULL, 0};
    job_ask(reader->job, ask, &asking);
    if (!asking.text)
        return FILE_MISSING;
    if (asking.size > limit)
        return FILE_TOO_LARGE;
    *size = asking.size;
    *bytes = ctx_alloc(ctx, asking.size + 1);
    memcpy(*bytes, asking.text, asking.size);
    return FILE_OK;
}

/* Reads each file once, so that a program means the same however often the compiler looks at it. */
static FileStatus program_read(void *user, Ctx *ctx, const char *path, FileKind kind, size_t limit, char **bytes, size_t *size)
{
    const Reader *reader = user;
    RiseProgram *program = reader->program;
    (void)kind; /* "-" and pipes are for a command line */
    const SourceFile *file = file_find(program, path);
    if (file) {
        if (file->status == FILE_OK) {
            *bytes = ctx_alloc(ctx, file->size + 1);
            memcpy(*bytes, file->bytes, file->size);
            *size = file->size;
        }
        return file->status;
    }
    FileStatus status = FILE_OUTSIDE;
    if (reader->job && program->reads == READS_BESIDE)
        status = read_beside(program, ctx, path, limit, bytes, size);
    else if (reader->job && program->reads == READS_FOLDER)
        status = folder_read(ctx, program->context->folder, path, limit, bytes, size);
    else if (reader->job && program->reads == READS_CALLBACK)
        status = read_by_asking(reader, ctx, path, limit, bytes, size);
    if (!file_keep(program, path, status, status == FILE_OK ? *bytes : "", status == FILE_OK ? *size : 0))
        ctx_out_of_memory(ctx);
    return status;
}

static FileStatus write_nothing(void *user, const char *path, const void *bytes, size_t size)
{
    (void)user, (void)path, (void)bytes, (void)size;
    return FILE_UNWRITABLE;
}

FileAccess program_files(Reader *reader) { return (FileAccess){reader, program_read, write_nothing}; }

/* ---- diagnostics ----------------------------------------------------------------------------------------------------------- */

static int status_of(const Diag *diag)
{
    switch (diag->code) {
    case E0510:
        return RISE_ERROR_BUG;
    case E0601: case E0602: case E0603: case E0604:
        return RISE_ERROR_ARGUMENT;
    case E0641: case E0642:
        return RISE_ERROR_DEVICE;
    case E0643:
        return RISE_ERROR_LIMIT;
    case E0644:
        return RISE_ERROR_MEMORY;
    default:
        return RISE_ERROR_PROGRAM;
    }
}

static bool comes_before(const Diag *a, const Diag *b)
{
    return a->span.file != b->span.file ? a->span.file < b->span.file : a->span.lo < b->span.lo;
}

/* The text of a diagnostic, as the program's author may see it. What a text that is not trusted imports need not be a program at all, and its words are not the author's. */
static Diag shown(const RiseProgram *program, const Source *source, const Diag *diag)
{
    Diag seen = *diag;
    bool own = !source || program->reads == READS_BESIDE || diag->span.file == 1; /* 1: the text itself, which is there first */
    for (int i = 0; !own && i < risec_lib_file_count; i++)
        own = source->text == risec_lib_files[i].text;
    if (!own) {
        seen.message = diag->warning ? "a warning about a file that the program reads" : "this file, which the program reads, is wrong";
        seen.help = NULL;
    }
    return seen;
}

typedef struct Telling {
    const RiseContext *context;
    const rise_diagnostic *told;
} Telling;

static void call_back(void *user)
{
    const Telling *t = user;
    t->context->diagnostic(t->context->diagnostic_user, t->told);
}

static void tell(const RiseProgram *program, Job *job, Ctx *ctx, const Diag *given)
{
    const RiseContext *context = program->context;
    const Source *source = source_get(ctx, given->span.file);
    const Diag seen = shown(program, source, given), *diag = &seen;
    int line = 0, column = 0;
    if (source)
        source_position(ctx, diag->span, &line, &column);
    rise_diagnostic told = {sizeof told, diag->warning, line, column, diag->span.lo, diag->span.hi, diag_code_name(diag->code),
                            source ? source->name : "", diag->message, diag->help};
    job_ask(job, call_back, &(Telling){context, &told});
}

int program_report(const RiseProgram *program, Job *job, Ctx *ctx, bool silent, rise_error *error)
{
    Diags *diags = &ctx->diags;
    const Diag *first = NULL;
    for (int i = 1; i < diags->list.n; i++) { /* by insertion: equal ones keep their order, and there are at most LIMIT_DIAGNOSTICS */
        Diag *diag = diags->list.at[i];
        int at = i;
        for (; at > 0 && comes_before(diag, diags->list.at[at - 1]); at--)
            diags->list.at[at] = diags->list.at[at - 1];
        diags->list.at[at] = diag;
    }
    for (int i = 0; i < diags->list.n; i++) {
        const Diag *diag = diags->list.at[i];
        if (!silent && program->context->diagnostic)
            tell(program, job, ctx, diag);
        if (!first && !diag->warning)
            first = diag;
    }
    int status = RISE_OK;
    if (first) {
        const Source *source = source_get(ctx, first->span.file);
        int line = 0, column = 0;
        const Diag seen = shown(program, source, first);
        status = status_of(first);
        first = &seen;
        if (source)
            source_position(ctx, first->span, &line, &column);
        /* Where a launch is wrong, not the program, a place in it says little. */
        if (source && status != RISE_ERROR_ARGUMENT)
            rise_fail(error, status, "%s:%d:%d: error[%s]: %s", source->name, line, column, diag_code_name(first->code), first->message);
        else
            rise_fail(error, status, "%s [%s]", first->message, diag_code_name(first->code));
        if (first->help)
            rise_error_note(error, "\nhelp: %s", first->help);
        if (diags->errors > 1)
            rise_error_note(error, "\n(the first of %d errors)", diags->errors);
    }
    diags->list.n = diags->errors = diags->warnings = diags->dropped = 0;
    return status;
}

/* ---- making one ------------------------------------------------------------------------------------------------------------- */

typedef struct Loading {
    Job *job;
    RiseProgram *program;
    int status;
    rise_error *error;
} Loading;

static void load(Ctx *ctx, void *user)
{
    Loading *l = user;
    RiseProgram *p = l->program;
    Program *program = p->base.program = base_parse(ctx, p);
    bool unread = !program_ast(program);
    l->status = program_report(p, l->job, ctx, false, l->error);
    if (unread && l->status == RISE_ERROR_PROGRAM) {
        l->status = RISE_ERROR_FILE;
        if (l->error)
            l->error->status = RISE_ERROR_FILE;
    }
    if (l->status != RISE_OK)
        return;
    int n = program_entry_count(program);
    p->entry_names = context_alloc(p->context, sizeof(char *) * (size_t)n, NULL);
    for (int k = 0; p->entry_names && k < n; k++, p->n_entries++) {
        const char *name = program_entry_name(program, k);
        p->entry_names[k] = context_copy(p->context, name, strlen(name), NULL);
        if (!p->entry_names[k])
            ctx_out_of_memory(ctx);
    }
    if (!p->entry_names)
        ctx_out_of_memory(ctx);
}

static int load_in_job(Job *job, void *user, rise_error *error)
{
    Loading loading = {job, user, RISE_OK, error};
    RiseProgram *program = user;
    program->reader = (Reader){program, job};
    FileAccess files = program_files(&program->reader);
    program->base.ctx = ctx_new(&program->context->seams.alloc, &files);
    int status = program->base.ctx ? job_try(job, program->base.ctx, load, &loading, error) : context_out_of_memory(error);
    program->reader.job = NULL;
    return status == RISE_OK ? loading.status : status;
}

static int program_new(RiseContext *context, const char *name, const char *text, size_t size, ProgramReads reads, rise_program **out, rise_error *error)
{
    RiseProgram *program = context_alloc(context, sizeof *program, error);
    if (!program)
        return RISE_ERROR_MEMORY;
    program->context = context;
    program->size = size;
    program->reads = reads;
    atomic_init(&program->refs, 1);
    atomic_fetch_add(&context->refs, 1);
    pthread_mutex_init(&program->lock, NULL);
    pthread_mutex_init(&program->files_lock, NULL);
    turn_init(&program->turn);
    program->name = context_copy(context, name, strlen(name), error);
    program->text = program->name && text ? context_copy(context, text, size, error) : NULL;
    int status = program->name && (!text || program->text) ? context_job(context, load_in_job, program, error) : RISE_ERROR_MEMORY;
    if (status == RISE_OK && !(*out = handle_new(HANDLE_PROGRAM, program, error)))
        status = RISE_ERROR_MEMORY;
    if (status != RISE_OK)
        program_release(program);
    return status;
}

int rise_program_from_text(rise_context *handle, const char *name, const char *text, size_t size, rise_program **program, rise_error *error)
{
    if (!program)
        return argument_null(error, "program");
    *program = NULL;
    RiseContext *context = context_of(handle, error);
    if (!context)
        return RISE_ERROR_ARGUMENT;
    if (!name || !text)
        return argument_null(error, name ? "text" : "name");
    ProgramReads reads = context->folder ? READS_FOLDER : context->read ? READS_CALLBACK : READS_NOTHING;
    return program_new(context, name, text, size == (size_t)-1 ? strlen(text) : size, reads, program, error);
}

int program_of_file(rise_context *handle, const char *name, const char *text, size_t size, rise_program **program, rise_error *error)
{
    RiseContext *context = context_of(handle, error);
    *program = NULL;
    return !context ? RISE_ERROR_ARGUMENT : program_new(context, name, text, size, READS_BESIDE, program, error);
}

int rise_program_from_file(rise_context *handle, const char *path, rise_program **program, rise_error *error)
{
    if (!program)
        return argument_null(error, "program");
    *program = NULL;
    RiseContext *context = context_of(handle, error);
    if (!context)
        return RISE_ERROR_ARGUMENT;
    if (!path)
        return argument_null(error, "path");
    return program_new(context, path, NULL, 0, READS_BESIDE, program, error);
}

void program_release(RiseProgram *program)
{
    if (atomic_fetch_sub_explicit(&program->refs, 1, memory_order_acq_rel) != 1)
        return;
    RiseContext *context = program->context;
    while (program->entries) {
        RiseEntry *entry = program->entries;
        program->entries = entry->next;
        entry_free(entry);
    }
    base_free(program);
    while (program->files) {
        SourceFile *file = program->files;
        program->files = file->next;
        file_free(context, file);
    }
    for (int k = 0; program->entry_names && k < program->n_entries; k++)
        context_dealloc(context, program->entry_names[k]);
    context_dealloc(context, program->entry_names);
    context_dealloc(context, program->name);
    context_dealloc(context, program->text);
    pthread_mutex_destroy(&program->lock);
    pthread_mutex_destroy(&program->files_lock);
    turn_destroy(&program->turn);
    context_dealloc(context, program);
    context_release(context);
}

void rise_program_free(rise_program *handle)
{
    RiseProgram *program = handle_take(HANDLE_PROGRAM, handle);
    if (program)
        program_release(program);
}

int rise_program_entry_count(const rise_program *handle)
{
    const RiseProgram *program = program_of(handle, NULL);
    return program ? program->n_entries : 0;
}

const char *rise_program_entry_name(const rise_program *handle, int k)
{
    const RiseProgram *program = program_of(handle, NULL);
    return program && k >= 0 && k < program->n_entries ? program->entry_names[k] : NULL;
}
