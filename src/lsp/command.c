/* Commands: the plan of an entry and its CUDA C, as `risec` prints them on a command line. */
#include "driver/driver.h"
#include "lsp/request.h"

/* What is printed instead of being written to a file. */
typedef struct Printing {
    Workspace *workspace;
    StrBuf text;
} Printing;

static FileStatus read_workspace(void *user, Ctx *ctx, const char *path, FileKind kind,
                                 size_t limit, char **bytes, size_t *size)
{
    Printing *p = user;
    FileAccess files = workspace_files(p->workspace);
    return files.read(files.user, ctx, path, kind, limit, bytes, size);
}

static FileStatus print(void *user, const char *path, const void *bytes, size_t size)
{
    Printing *p = user;
    if (strcmp(path, "-") != 0)
        return FILE_UNWRITABLE;
    sb_putn(&p->text, bytes, size);
    return FILE_OK;
}

/* The entry that is meant: by its name, or by a place. NULL: the only one. */
static const char *entry_meant(Request *r, const json_t *argument)
{
    Place place;
    if (json_is_string(argument))
        return json_string_value(argument);
    if (!json_place(argument, &place))
        return NULL;
    const Item *item = analysis_item_at(r->analysis, lines_at(&r->analysis->lines, place));
    return item && item->kind == ITEM_ENTRY ? item->name : NULL;
}

typedef struct Running {
    Driver driver;
    Printing *printing;
    int argc;
    char **argv;
} Running;

static void run_line(Ctx *ctx, void *user)
{
    Running *running = user;
    sb_init(&running->printing->text, ctx);
    driver_line(ctx, &running->driver, running->argc, running->argv);
    if (ctx->diags.list.n)
        diag_render(ctx, &running->printing->text, false);
}

void feature_command(Request *r)
{
    const char *name = json_text_of(r->params, "command");
    const json_t *arguments = json_object_get(r->params, "arguments");
    const char *uri = json_string_value(json_array_get(arguments, 0));
    bool plan = name && strcmp(name, "risec.plan") == 0,
         cuda = name && strcmp(name, "risec.cuda") == 0;
    r->doc = uri ? documents_find(&r->workspace->documents, uri) : NULL;
    r->analysis = r->doc ? analysis_of(r->workspace, r->doc) : NULL;
    if ((!plan && !cuda) || !r->analysis || !r->analysis->ast) {
        request_fail(r, REQUEST_BAD_PARAMS,
                     !plan && !cuda ? "the commands are risec.plan and risec.cuda"
                                    : "the first argument is the URI of an open document");
        return;
    }
    const char *entry = entry_meant(r, json_array_get(arguments, 1));
    char *argv[6], *path = r->doc->path;
    int n = 0;
    argv[n++] = "risec";
    if (plan) {
        argv[n++] = "lower";
        argv[n++] = "--plan";
    }
    argv[n++] = path;
    if (entry && cuda)
        argv[n++] = "--entry";
    if (entry)
        argv[n++] = (char *)entry;
    Printing printing = {.workspace = r->workspace};
    FileAccess files = {&printing, read_workspace, print};
    Ctx *ctx = r->more = ctx_new(NULL, &files);
    Running running = {.printing = &printing, .argc = n, .argv = argv};
    running.driver.files = ctx ? driver_files_new(ctx) : NULL;
    bool done = false;
    if (running.driver.files) {
        ctx->brake = r->ctx->brake;
        done = ctx_try(ctx, run_line, &running);
    }
    driver_files_free(running.driver.files);
    if (!done)
        ctx_end(r->ctx);
    sb_put_json(&r->out, printing.text.text);
}
