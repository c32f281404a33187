#include "frontend/costs.h"

#include <inttypes.h>

#include "frontend/elab_internal.h"
#include "frontend/library.h"

#define MODULE "device" /* of the library, with the table that counts where no other one is given */

static const int64_t MOST = 1000000000000000; /* a second */

typedef struct CostRow {
    const char *name;
    int64_t least;
} CostRow;

static const CostRow rows[COST_COUNT] = {
#define COST(name, least) {#name, least},
#include "ir/costs.def"
#undef COST
};

static Diag *bad(Ctx *ctx, Span span, const char *message)
{
    return diag_error(ctx, E0663, span, "%s", message);
}

static CostId find(const char *name)
{
    int id = 0;
    while (id < COST_COUNT && strcmp(rows[id].name, name) != 0)
        id++;
    return (CostId)id;
}

static void unknown(Ctx *ctx, const Item *item)
{
    const char *names[COST_COUNT];
    for (int id = 0; id < COST_COUNT; id++)
        names[id] = rows[id].name;
    Diag *d = bad(ctx, item->name_span, ctx_printf(ctx, "a table of costs has no `%s`", item->name));
    const char *near = did_you_mean(ctx, item->name, COST_COUNT, names);
    if (near)
        diag_help(ctx, d, "did you mean `%s`?", near);
}

/* Of an entry's text: the number, or -1 where it is none that the entry may have. */
static int64_t number_of(Ctx *ctx, const CostRow *row, const Ast *body)
{
    const char *why = NULL;
    if (body->kind == AST_ERROR)
        return -1;
    if (body->kind == AST_UNARY && body->bin.op == OP_NEG)
        why = "is negative";
    else if (body->kind != AST_INT || body->integer.suffix)
        why = "is not an integer in digits";
    else if (body->integer.value < (uint64_t)row->least)
        why = "is too small";
    else if (body->integer.value > (uint64_t)MOST)
        why = "is too large";
    if (!why)
        return (int64_t)body->integer.value;
    Diag *d = bad(ctx, body->span, ctx_printf(ctx, "the cost `%s` %s", row->name, why));
    diag_help(ctx, d, "costs are integers, and this one is from %" PRId64 " to %" PRId64, row->least, MOST);
    return -1;
}

static void read_item(Ctx *ctx, const Item *item, Costs *costs, const Item **said)
{
    if (item->kind == ITEM_ERROR)
        return;
    bool plain = item->kind == ITEM_DEF && item->n_params == 0 && item->n_where == 0 && item->body;
    if (!plain || !item->result || !ast_is_nat(item->result)) {
        Diag *d = bad(ctx, item->name_span.file ? item->name_span : item->span, "this is no entry of a table of costs");
        diag_help(ctx, d, "entries are as `def memoryRead: nat = 1000`");
        return;
    }
    CostId id = find(item->name);
    if (id == COST_COUNT) {
        unknown(ctx, item);
        return;
    }
    if (said[id]) {
        Diag *d = bad(ctx, item->name_span, ctx_printf(ctx, "the cost `%s` is given twice", item->name));
        diag_note(ctx, d, said[id]->name_span, "first here");
        return;
    }
    said[id] = item;
    costs->of[id] = number_of(ctx, &rows[id], item->body);
}

static void say_missing(Ctx *ctx, uint32_t file, const Item *const *said)
{
    StrBuf names;
    sb_init(&names, ctx);
    for (int id = 0; id < COST_COUNT; id++)
        if (!said[id])
            sb_printf(&names, "%s`%s`", names.len ? ", " : "", rows[id].name);
    if (names.len == 0)
        return;
    Diag *d = bad(ctx, (Span){file, 0, 0}, ctx_printf(ctx, "this table of costs lacks %s", names.text));
    diag_help(ctx, d, "it has an entry for each that lib/device.rise has");
}

static uint64_t hash_of(Ctx *ctx, const Costs *costs)
{
    StrBuf text;
    sb_init(&text, ctx);
    for (int id = 0; id < COST_COUNT; id++)
        sb_printf(&text, "%s = %" PRId64 "\n", rows[id].name, costs->of[id]);
    return text_hash(text.text, text.len);
}

const Costs *costs_parse(Ctx *ctx, uint32_t file)
{
    Costs *costs = NEW(ctx, Costs);
    const Item *said[COST_COUNT] = {0};
    const int errors = ctx->diags.errors;
    const AstFile *ast = parse_file(ctx, file);
    for (int i = 0; i < ast->items.n; i++)
        read_item(ctx, ast->items.at[i], costs, said);
    if (ctx->diags.errors == errors)
        say_missing(ctx, file, said);
    if (ctx->diags.errors > errors)
        return NULL;
    costs->hash = hash_of(ctx, costs);
    costs->text = source_get(ctx, file)->text;
    return costs;
}

const Costs *costs_of(Ctx *ctx)
{
    if (!ctx->costs) {
        const LibFile *file = library_find(ctx, MODULE);
        ctx->costs = costs_parse(ctx, source_add_library(ctx, ctx_printf(ctx, "lib/%s", file->name), file->text, file->size));
    }
    return ctx->costs;
}

const char *costs_hash_text(Ctx *ctx, const Costs *costs) { return ctx_printf(ctx, "%016" PRIx64, costs->hash); }
