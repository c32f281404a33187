/* Files: reading, parsing, following imports. */
#include "frontend/elab_internal.h"
#include "frontend/library.h"
#include "frontend/notes.h"

/* ---- paths ----------------------------------------------------------------------------------------------------------- */

/* `path` beside the file `from`, without `.` and `a/..`, so that a file has one name. */
static const char *beside(Ctx *ctx, const char *from, const char *path)
{
    const char *slash = strrchr(from, '/');
    if (path[0] != '/' && slash)
        path = ctx_printf(ctx, "%.*s/%s", (int)(slash - from), from, path);
    bool absolute = path[0] == '/';
    VEC(const char *) parts = {0};
    for (const char *at = path; *at;) {
        size_t n = strcspn(at, "/");
        const char *part = ctx_printf(ctx, "%.*s", (int)n, at);
        if (strcmp(part, "..") == 0 && parts.n > 0 && strcmp(parts.at[parts.n - 1], "..") != 0)
            parts.n--;
        else if (n > 0 && strcmp(part, ".") != 0)
            vec_push(ctx, &parts, part);
        at += n + (at[n] == '/');
    }
    StrBuf sb;
    sb_init(&sb, ctx);
    sb_puts(&sb, absolute ? "/" : "");
    for (int i = 0; i < parts.n; i++)
        sb_printf(&sb, i ? "/%s" : "%s", parts.at[i]);
    return sb.text;
}

/* ---- loading ---------------------------------------------------------------------------------------------------------- */

typedef struct Loader {
    Ctx *ctx;
    Program *program;
    int depth;
    bool alone; /* only this one file, without what it imports */
} Loader;

static FileScope *find_loaded(const Program *p, const char *path)
{
    for (int i = 0; i < p->files.n; i++)
        if (strcmp(p->files.at[i]->path, path) == 0)
            return p->files.at[i];
    return NULL;
}

static FileScope *scope_new(Loader *l, const char *path)
{
    FileScope *scope = NEW(l->ctx, FileScope);
    scope->path = path;
    scope->root = NEW(l->ctx, Env);
    scope->root->scope = scope;
    vec_push(l->ctx, &l->program->files, scope);
    return scope;
}

static void follow(Loader *l, FileScope *scope);

static void parse_into(Loader *l, FileScope *scope, uint32_t source)
{
    scope->ast = parse_file(l->ctx, source);
    if (!l->alone)
        follow(l, scope);
    scope->state = LOAD_DONE;
}

static void bad_file(Loader *l, Span span, const char *path, FileStatus status)
{
    Diag *d = diag_error(l->ctx, E0205, span, "cannot read `%s`: %s", path, status == FILE_TOO_LARGE ? "it is larger than 16 MiB" : file_status_text(status));
    if (span.file && status == FILE_MISSING)
        diag_label(l->ctx, d, "looked for beside this file");
}

static FileScope *load_file(Loader *l, const char *path, FileKind kind, Span span)
{
    char *bytes = NULL;
    size_t size = 0;
    FileStatus status = l->ctx->files.read(l->ctx->files.user, l->ctx, path, kind, LIMIT_SOURCE_BYTES, &bytes, &size);
    if (status != FILE_OK) {
        bad_file(l, span, path, status);
        return NULL;
    }
    FileScope *scope = scope_new(l, path);
    parse_into(l, scope, source_add(l->ctx, path, bytes, size));
    return scope;
}

typedef struct Wanted { /* of one module: names of a file that it has */
    int n;
    const char *first, *second;
} Wanted;

static void want_name(Wanted *wanted, const char *name)
{
    const LibFile *file = prim_find(name) == P_COUNT && builtin_find(name) == BUILTIN_NONE
                              ? library_with(name)
                              : NULL;
    Wanted *of = file ? &wanted[file - risec_lib_files] : NULL;
    if (!of || (of->first && strcmp(of->first, name) == 0) ||
        (of->second && strcmp(of->second, name) == 0))
        return;
    of->n++;
    if (of->first && !of->second)
        of->second = name;
    of->first = of->first ? of->first : name;
}

static void want_names(Wanted *wanted, const Ast *ast)
{
    if (ast->kind == AST_NAME)
        want_name(wanted, ast->name.text);
    for (int i = 0; i < ast_children(ast); i++)
        want_names(wanted, ast_child(ast, i));
}

/* Another module than `near` is meant: the one that has the most of the names in the file. */
static bool propose_module(Loader *l, Diag *d, const FileScope *scope, const char *near, Span span)
{
    Wanted *wanted = NEWN(l->ctx, Wanted, risec_lib_file_count);
    int best = 0;
    for (int i = 0; scope && i < scope->ast->items.n; i++) {
        const Item *item = scope->ast->items.at[i];
        if (item->body)
            want_names(wanted, item->body);
        if (item->lowered)
            want_names(wanted, item->lowered);
    }
    for (int i = 1; i < risec_lib_file_count; i++)
        best = wanted[i].n > wanted[best].n ? i : best;
    const Wanted *of = &wanted[best];
    const char *module = library_module(l->ctx, &risec_lib_files[best]);
    if (!of->n || (near && strcmp(near, module) == 0))
        return false;
    const char *names =
        of->n == 1 ? ctx_printf(l->ctx, "`%s` is", of->first)
                   : ctx_printf(l->ctx, "`%s`%s `%s`%s are", of->first, of->n == 2 ? " and" : ",",
                                of->second, of->n == 2 ? "" : " and others");
    diag_propose(l->ctx, d, span, ctx_printf(l->ctx, "%s in another module: $", names), "import %s",
                 module);
    return true;
}

/* Of a module that is like none: where the library has what its name says, or which modules of that kind there are. */
static void list_modules(Loader *l, Diag *d, const char *dotted)
{
    const char *dot = strrchr(dotted, '.'), *word = dot ? dot + 1 : dotted, *names = NULL;
    size_t kind = strcspn(dotted, ".") + 1;
    const Foreign *foreign = foreign_find(word, strlen(word), FOREIGN_LIBRARY);
    for (int i = 0; dot && i < risec_lib_file_count; i++) {
        const char *module = library_module(l->ctx, &risec_lib_files[i]);
        if (strncmp(module, dotted, kind) == 0)
            names = names ? ctx_printf(l->ctx, "%s, %s", names, module + kind) : module + kind;
    }
    if (foreign)
        diag_help(l->ctx, d, "%s; `risec help std` lists the modules", foreign->help);
    else if (names)
        diag_note(l->ctx, d, NO_SPAN, "the modules of `%.*s` are %s", (int)kind - 1, dotted, names);
    else
        diag_note(l->ctx, d, NO_SPAN, "a file beside this one is imported as `import \"%s.rise\"`", dotted);
}

/* `from`: the file that imports it, or NULL. */
static FileScope *load_std(Loader *l, const FileScope *from, const char *dotted, Span span)
{
    const LibFile *file = library_find(l->ctx, dotted);
    if (!file) {
        Diag *d = diag_error(l->ctx, E0207, span, "the library has no module `%s`", dotted);
        VEC(const char *) names = {0};
        for (int i = 0; i < risec_lib_file_count; i++)
            vec_push(l->ctx, &names, library_module(l->ctx, &risec_lib_files[i]));
        const char *near = did_you_mean(l->ctx, dotted, names.n, names.at);
        const char *dot = strrchr(dotted, '.'), *outer = dot ? ctx_printf(l->ctx, "%.*s", (int)(dot - dotted), dotted) : "";
        if (library_find(l->ctx, outer))
            diag_propose(l->ctx, d, span, "a module is imported with all of its names: $", "import %s", outer);
        else if (!propose_module(l, d, from, near, span) && near)
            diag_propose(l->ctx, d, span, "did you mean $?", "import %s", near);
        else if (!d->help)
            list_modules(l, d, dotted);
        return NULL;
    }
    FileScope *scope = scope_new(l, dotted);
    parse_into(l, scope, source_add_library(l->ctx, ctx_printf(l->ctx, "lib/%s", file->name), file->text, file->size));
    return scope;
}

static void follow(Loader *l, FileScope *scope)
{
    Ctx *ctx = l->ctx;
    for (int i = 0; i < scope->ast->items.n; i++) {
        Item *item = scope->ast->items.at[i];
        if (item->kind != ITEM_IMPORT) {
            vec_push(ctx, &scope->items, item);
            continue;
        }
        if (!item->path) {
            scope->broken = true;
            continue;
        }
        /* A module of the library imports only modules. */
        const char *path = item->is_file ? beside(ctx, scope->path, item->path) : item->path;
        Span span = item->name_span.file ? item->name_span : item->span;
        FileScope *other = find_loaded(l->program, path);
        if (other && other->state == LOAD_READING) {
            Diag *d = diag_error(ctx, E0206, span, other == scope ? "`%s` imports itself" : "`%s` is imported by a file that it imports", item->path);
            if (other != scope)
                diag_label(ctx, d, "a cycle");
            diag_note(ctx, d, NO_SPAN, "what both need can stand in a third file");
            scope->broken = true;
            continue;
        }
        if (!other && l->depth >= LIMIT_IMPORT_DEPTH) {
            diag_error(ctx, E0216, span, "files are imported more than %d deep", LIMIT_IMPORT_DEPTH);
            continue;
        }
        l->depth++;
        if (!other)
            other = item->is_file ? load_file(l, path, FILE_REGULAR, span)
                                  : load_std(l, scope, path, span);
        l->depth--;
        bool twice = false;
        for (int k = 0; k < scope->imports.n; k++)
            if (other && scope->imports.at[k] == other) {
                Diag *d = diag_error(ctx, E0202, span, "`%s` is imported twice", item->path);
                diag_note(ctx, d, scope->import_spans.at[k], "first here");
                twice = true;
            }
        if (!twice && other) {
            vec_push(ctx, &scope->imports, other);
            vec_push(ctx, &scope->import_spans, span);
        }
        if (!other)
            scope->broken = true;
    }
}

static void finish(Loader *l, int errors)
{
    Program *p = l->program;
    if (p->files.n && p->files.at[0]->ast && !l->alone) {
        FileScope *scope = p->files.at[0];
        for (int i = 0; i < scope->items.n; i++) {
            if (scope->items.at[i]->kind == ITEM_ENTRY)
                vec_push(l->ctx, &p->entries, scope->items.at[i]);
            if (scope->items.at[i]->kind == ITEM_OPERATOR)
                vec_push(l->ctx, &p->operators, scope->items.at[i]);
        }
        resolve_program(l->ctx, p, 0);
    }
    p->failed = l->ctx->diags.errors > errors;
}

static Program *load(Ctx *ctx, const char *path, bool alone, NameNotes *notes)
{
    Program *p = NEW(ctx, Program);
    p->notes = notes;
    Loader l = {.ctx = ctx, .program = p, .alone = alone};
    int errors = ctx->diags.errors;
    load_file(&l, strcmp(path, "-") == 0 ? path : beside(ctx, "", path), FILE_ANY, NO_SPAN);
    finish(&l, errors);
    p->notes = NULL;
    return p;
}

Program *program_load(Ctx *ctx, const char *path) { return load(ctx, path, false, NULL); }
Program *program_load_noting(Ctx *ctx, const char *path, NameNotes *notes) { return load(ctx, path, false, notes); }
Program *program_parse(Ctx *ctx, const char *path) { return load(ctx, path, true, NULL); }

Program *program_from_text(Ctx *ctx, const char *name, const char *text, size_t size)
{
    Program *p = NEW(ctx, Program);
    Loader l = {.ctx = ctx, .program = p};
    int errors = ctx->diags.errors;
    parse_into(&l, scope_new(&l, name), source_add(ctx, name, text, size));
    finish(&l, errors);
    return p;
}

Program *program_from_parts(Ctx *ctx, const char *name, int n, const uint32_t *sources, const char *entry)
{
    Program *p = NEW(ctx, Program);
    Loader l = {.ctx = ctx, .program = p};
    int errors = ctx->diags.errors;
    FileScope *scope = scope_new(&l, name);
    scope->ast = NEW(ctx, AstFile);
    for (int i = 0; i < n; i++) {
        const AstFile *part = parse_file(ctx, sources[i]);
        for (int k = 0; k < part->items.n; k++) {
            Item *item = part->items.at[k];
            if (entry && item->kind == ITEM_DEF && strcmp(item->name, entry) == 0)
                item->kind = ITEM_ENTRY;
            vec_push(ctx, &scope->ast->items, item);
        }
        scope->ast->file = sources[i];
    }
    follow(&l, scope);
    scope->state = LOAD_DONE;
    finish(&l, errors);
    return p;
}

const char *program_module(Ctx *ctx, Program *p, const char *dotted)
{
    FileScope *scope = find_loaded(p, dotted);
    if (!scope) {
        Loader l = {.ctx = ctx, .program = p};
        int before = p->files.n, errors = ctx->diags.errors;
        scope = load_std(&l, NULL, dotted, NO_SPAN);
        if (!scope)
            return NULL;
        resolve_program(ctx, p, before);
        if (ctx->diags.errors > errors)
            return NULL;
    }
    return scope->path;
}

/* ---- parts ------------------------------------------------------------------------------------------------------------ */

Program *program_inside(Ctx *part, const Program *whole)
{
    Program *p = NEW(part, Program);
    *p = *whole;
    p->files.cap = p->files.n; /* the first that is added moves the list */
    p->unusable.cap = p->unusable.n;
    p->lacking.cap = p->lacking.n;
    return p;
}


int program_more_count(const Program *part, const Program *whole) { return part->files.n - whole->files.n; }
const char *program_more_module(const Program *part, const Program *whole, int k) { return part->files.at[whole->files.n + k]->path; }

void program_read_more(Ctx *ctx, Program *whole, const Program *part)
{
    for (int i = whole->files.n; i < part->files.n; i++)
        program_module(ctx, whole, intern_z(ctx, part->files.at[i]->path));
}

/* ---- asking ----------------------------------------------------------------------------------------------------------- */

int program_entry_count(const Program *p) { return p->entries.n; }
const char *program_entry_name(const Program *p, int k) { return p->entries.at[k]->name; }
const Item *program_entry_item(const Program *p, int k) { return p->entries.at[k]; }
int program_operator_count(const Program *p) { return p->operators.n; }
const Item *program_operator_item(const Program *p, int k) { return p->operators.at[k]; }

const Item *program_item(const Program *p, const char *name)
{
    for (int i = 0; p->files.n && i < p->files.at[0]->items.n; i++) {
        const Item *item = p->files.at[0]->items.at[i];
        bool value = item->kind == ITEM_ENTRY || item->kind == ITEM_DEF;
        if (value && item->name && strcmp(item->name, name) == 0)
            return item;
    }
    return NULL;
}

const char *item_size(const Item *entry, int k, bool *tunable)
{
    for (int i = 0; i < entry->n_params; i++) {
        const Param *p = &entry->params[i];
        if (param_kind(p) != KIND_NAT || k-- > 0)
            continue;
        *tunable = p->def != NULL;
        return p->name ? p->name : "_";
    }
    return NULL;
}

const AstFile *program_ast(const Program *p) { return p->files.n ? p->files.at[0]->ast : NULL; }
bool program_failed(const Program *p) { return p->failed; }

const Item *scope_find(const FileScope *scope, const char *name, const FileScope **home)
{
    /* A definition of such a name was refused; what follows is read as if it were not there. */
    if (prim_find(name) != P_COUNT || builtin_find(name) != BUILTIN_NONE)
        return NULL;
    for (int i = 0; i < scope->items.n; i++)
        if (scope->items.at[i]->name == name) {
            *home = scope;
            return scope->items.at[i];
        }
    for (int k = 0; k < scope->imports.n; k++)
        for (int i = 0; i < scope->imports.at[k]->items.n; i++)
            if (scope->imports.at[k]->items.at[i]->name == name) {
                *home = scope->imports.at[k];
                return scope->imports.at[k]->items.at[i];
            }
    return NULL;
}

bool is_lacking(const Elab *e)
{
    const Item *item = e->frame ? e->frame->item : e->entry;
    for (int i = 0; i < e->program->lacking.n; i++)
        if (e->program->lacking.at[i] == item)
            return true;
    return false;
}

bool is_unusable(const Elab *e, const Item *item)
{
    for (int i = 0; i < e->program->unusable.n; i++)
        if (e->program->unusable.at[i] == item)
            return true;
    return false;
}

/* `map` of the rule `map(f) == ...`. */
static const char *rewrites(const Item *rule)
{
    const Ast *left = rule->kind == ITEM_RULE && rule->body && rule->body->kind == AST_BINARY ? rule->body->bin.lhs : NULL;
    while (left && left->kind == AST_CALL)
        left = left->call.fn;
    return left && left->kind == AST_NAME ? left->name.text : NULL;
}

const char *program_rules_for(Ctx *ctx, const Program *program, const char *home, const char *level, const Item *like)
{
    StrBuf sb;
    sb_init(&sb, ctx);
    const char *what = rewrites(like);
    for (int f = 0; what && f < program->files.n; f++)
        for (int i = 0; strcmp(program->files.at[f]->path, home) == 0 && i < program->files.at[f]->items.n; i++) {
            const Item *rule = program->files.at[f]->items.at[i];
            const char *other = rewrites(rule);
            if (other && rule->level && strcmp(rule->level, level) == 0 && strcmp(other, what) == 0)
                sb_printf(&sb, sb.len ? ", `%s`" : "`%s`", rule->name);
        }
    return sb.len ? sb.text : NULL;
}

const char *program_step_near(Ctx *ctx, const Program *program, const char *name)
{
    static const char *const words[] = {
#define STRATEGY(name, ...) #name,
#include "frontend/strategies.def"
#undef STRATEGY
    };
    VEC(const char *) names = {0};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        vec_push(ctx, &names, words[i]);
    for (int f = 0; f < program->files.n; f++)
        for (int i = 0; i < program->files.at[f]->items.n; i++) {
            const Item *item = program->files.at[f]->items.at[i];
            if (item->name && (item->kind == ITEM_RULE || item->kind == ITEM_STRATEGY))
                vec_push(ctx, &names, item->name);
        }
    return did_you_mean(ctx, name, names.n, names.at);
}
