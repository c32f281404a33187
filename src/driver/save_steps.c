/* Steps in a file: `risec lower --save` and `--replay`. docs/strategies.md says what is in it. */
#include "driver/steps.h"

#include "frontend/costs.h"
#include "frontend/rule.h"
#include "support/json.h"
#include "version.h"

enum { TRACE_VERSION = 2, MAX_FILE = 64 << 20 };

/* ---- paths ------------------------------------------------------------------------------------------------------------- */

/* How much of a path is the folder that it lies in, with its slash. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/* Where a rule stands, for the file: a module, or a path from the program's folder; NULL for the program itself. */
static const char *home_to_save(const CoreEntry *entry, const char *home)
{
    const char *own = program_path(entry->program);
    int folder = folder_length(own);
    if (!home || strcmp(home, own) == 0)
        return NULL;
    return strncmp(home, own, (size_t)folder) == 0 ? home + folder : home;
}

static const char *home_from_file(Ctx *ctx, const CoreEntry *entry, const char *saved)
{
    const char *own = program_path(entry->program);
    if (!saved || !strstr(saved, ".rise") || saved[0] == '/')
        return saved;
    return ctx_printf(ctx, "%.*s%s", folder_length(own), own, saved);
}

/* ---- writing ----------------------------------------------------------------------------------------------------------- */

static void put_member(StrBuf *out, const char *name, const char *text)
{
    sb_printf(out, ", \"%s\": ", name);
    sb_put_json(out, text);
}

static void put_core(Ctx *ctx, StrBuf *out, const char *name, const Core *core)
{
    StrBuf text;
    sb_init(&text, ctx);
    core_print(&text, core);
    put_member(out, name, text.text);
}

bool save_steps(Ctx *ctx, Driver *d, const char *path, const CoreEntry *entry, const Rewriting *r)
{
    StrBuf out;
    sb_init(&out, ctx);
    sb_printf(&out, "{\"trace\": %d, \"by\": \"risec %s\", \"entry\": ", TRACE_VERSION, RISEC_VERSION);
    sb_put_json(&out, entry->name);
    if (r->entry->costs)
        put_member(&out, "costs", costs_hash_text(ctx, r->entry->costs));
    sb_puts(&out, ", \"steps\": [");
    for (int i = 0; i < r->steps.n; i++) {
        const RewriteStep *s = &r->steps.at[i];
        const char *home = home_to_save(entry, s->home);
        sb_puts(&out, i ? ",\n  {\"rule\": " : "\n  {\"rule\": ");
        sb_put_json(&out, s->rule);
        if (home)
            put_member(&out, "from", home);
        put_member(&out, "place", s->place);
        sb_puts(&out, ", \"path\": [");
        for (int k = 0; k < s->depth; k++)
            sb_printf(&out, "%s%d", k ? ", " : "", s->path[k]);
        sb_putc(&out, ']');
        put_core(ctx, &out, "before", s->before);
        put_core(ctx, &out, "after", s->after);
        sb_putc(&out, '}');
    }
    sb_puts(&out, "\n]}\n");
    return driver_write(ctx, d, path, out.text, out.len);
}

/* ---- reading ----------------------------------------------------------------------------------------------------------- */

static bool no_trace(Ctx *ctx, Driver *d, Span span, const char *why)
{
    diag_error(ctx, E0807, span, "this is no trace: %s", why);
    driver_fail(d, STATUS_PROGRAM);
    return false;
}

static bool read_step(Ctx *ctx, Driver *d, const CoreEntry *entry, const Json *json, ReplayStep *step)
{
    const Json *path = json_member(json, "path", JSON_ARRAY);
    *step = (ReplayStep){.span = json->span, .rule = json_text(json, "rule"), .place = json_text(json, "place"), .before = json_text(json, "before"), .after = json_text(json, "after")};
    step->span.hi = step->span.lo + 1;
    step->home = home_from_file(ctx, entry, json_text(json, "from"));
    if (!path || !step->rule || !step->place || !step->before || !step->after)
        return no_trace(ctx, d, step->span, "a step has the texts `rule`, `place`, `before` and `after`, and the list `path`");
    step->depth = path->n;
    step->path = NEWN(ctx, int, path->n + 1);
    for (int i = 0; i < path->n; i++) {
        if (path->items[i]->kind != JSON_NUMBER || path->items[i]->number < 0 || path->items[i]->number > INT32_MAX)
            return no_trace(ctx, d, path->items[i]->span, "`path` has the numbers of children, from 0");
        step->path[i] = (int)path->items[i]->number;
    }
    return true;
}

/* Of another table of costs, other arrays would be stored. */
static bool costs_fit(Ctx *ctx, Driver *d, const Json *trace, const char *path)
{
    const Json *saved = json_member(trace, "costs", JSON_TEXT);
    const Costs *costs = saved ? costs_of(ctx) : NULL;
    const char *hash = costs ? costs_hash_text(ctx, costs) : NULL;
    if (!saved || strcmp(saved->text, hash) == 0)
        return true;
    Diag *diag = diag_error(ctx, E0807, saved->span, "this trace was made by the table of costs %s, and here it is %s: other arrays may be stored", saved->text, hash);
    diag_help(ctx, diag, "give the table by `--costs`, or save the trace again: `risec lower FILE --save %s`", path);
    driver_fail(d, STATUS_PROGRAM);
    return false;
}

static const Json *read_trace(Ctx *ctx, Driver *d, const char *path)
{
    char *text;
    size_t size;
    if (ctx->files.read(ctx->files.user, ctx, path, FILE_ANY, MAX_FILE, &text, &size) != FILE_OK) {
        driver_usage(ctx, d, E0621, "`--replay %s`: the file cannot be read", path);
        return NULL;
    }
    const Json *json = json_parse(ctx, source_add(ctx, path, text, size), E0807);
    if (!json) {
        driver_fail(d, STATUS_PROGRAM);
        return NULL;
    }
    const Json *version = json_member(json, "trace", JSON_NUMBER), *steps = json_member(json, "steps", JSON_ARRAY);
    if (version && version->number == TRACE_VERSION && steps)
        return costs_fit(ctx, d, json, path) ? steps : NULL;
    if (version && version->number != TRACE_VERSION) {
        Diag *diag = diag_error(ctx, E0807, version->span, "this trace is of version %lld, and this risec makes steps of version %d again: what steps are has changed", (long long)version->number, TRACE_VERSION);
        diag_help(ctx, diag, "save it again: `risec lower FILE --save %s`", path);
        driver_fail(d, STATUS_PROGRAM);
        return NULL;
    }
    no_trace(ctx, d, (Span){json->span.file, 0, 1}, ctx_printf(ctx, "`\"trace\": %d` and `\"steps\"` are missing", TRACE_VERSION));
    return NULL;
}

bool replay_steps(Ctx *ctx, Driver *d, const char *path, const CoreEntry *entry, int most, Rewriting *r)
{
    const Json *list = read_trace(ctx, d, path);
    if (!list)
        return false;
    ReplayStep *steps = NEWN(ctx, ReplayStep, list->n + 1);
    for (int i = 0; i < list->n; i++)
        if (!read_step(ctx, d, entry, list->items[i], &steps[i]))
            return false;
    bool good = rewrite_replay(ctx, entry, list->n, steps, most, r);
    if (!good)
        driver_fail(d, STATUS_PROGRAM);
    return good;
}
