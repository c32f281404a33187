#include <pthread.h>
#include <stdlib.h>

#include "ir/prim.h"

#include "ir/type.h"

#define LOWERED true
#define NOT_YET false
const PrimRow prim_rows[P_COUNT] = {
#define PRIM(id, name, header, where, level, options, read, write, law, doc, lowered) \
    [P_##id] = {name, header, where, level, options, read, write, law, doc, COST_COUNT, lowered},
#define SCALAR(id, name, header, cost, law, doc) [P_##id] = {name, header, "", LEVEL_SCALAR, "", "", "", law, doc, COST_##cost, LOWERED},
#include "ir/prims.def"
#undef PRIM
};
#undef LOWERED
#undef NOT_YET

/* What is derived from a row, made on first use. */
struct PrimTable {
    Item *headers[P_COUNT];
    const char *signatures[P_COUNT];
    PrimOperands *operands[P_COUNT];
};

static struct PrimTable *table_of(Ctx *ctx)
{
    if (!ctx->prims) {
        ctx->prims = NEW(ctx, struct PrimTable);
        if (ctx->whole && ctx->whole->prims)
            *ctx->prims = *ctx->whole->prims;
    }
    return ctx->prims;
}

bool prim_has_laws(PrimId id)
{
    switch ((int)id) {
    case P_add: case P_mul: case P_min: case P_max: case P_and: case P_or: case P_bitAnd: case P_bitOr: case P_bitXor:
        return true;
    }
    return false;
}

const PrimRegroups *prim_regroups(PrimId id)
{
    static const PrimRegroups rows[] = {{P_reduce, true, true, false},      {P_reduceByIndex, true, true, false}, {P_scan, true, true, false},
                                        {P_scanExcl, true, true, false},    {P_atomicReduce, true, true, true},   {P_reduceWarp, false, false, true},
                                        {P_scanBlocks, true, true, false},  {P_scanRowBlocks, true, true, false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].id == id)
            return &rows[i];
    return NULL;
}

bool prim_takes_elements(PrimId id)
{
    switch ((int)id) {
    case P_nextKernel: case P_lastBlock: case P_gridSync: case P_iterate: case P_reorder: case P_generate: case P_repeatKernels:
        return false;
    }
    return true;
}

PrimId prim_mirrored(PrimId id)
{
    switch ((int)id) {
    case P_add: case P_mul: case P_min: case P_max: case P_eq: case P_ne: case P_and: case P_or:
    case P_bitAnd: case P_bitOr: case P_bitXor:
        return id;
    case P_lt: return P_gt;
    case P_le: return P_ge;
    case P_gt: return P_lt;
    case P_ge: return P_le;
    }
    return P_COUNT;
}

PrimId prim_opposite(PrimId id)
{
    switch ((int)id) {
    case P_eq: return P_ne;
    case P_ne: return P_eq;
    case P_lt: return P_ge;
    case P_le: return P_gt;
    case P_gt: return P_le;
    case P_ge: return P_lt;
    }
    return P_COUNT;
}

static PrimId by_name[P_COUNT];

static int compare_names(const void *a, const void *b)
{
    PrimId x = *(const PrimId *)a, y = *(const PrimId *)b;
    int order = strcmp(prim_rows[x].name, prim_rows[y].name);
    return order ? order : (int)x - (int)y;
}

static void sort_by_name(void)
{
    for (int id = 0; id < P_COUNT; id++)
        by_name[id] = (PrimId)id;
    qsort(by_name, P_COUNT, sizeof *by_name, compare_names);
}

PrimId prim_find(const char *name)
{
    static pthread_once_t sorted = PTHREAD_ONCE_INIT;
    pthread_once(&sorted, sort_by_name);
    int lo = 0, hi = P_COUNT; /* the first one that is not before `name` */
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (strcmp(prim_rows[by_name[mid]].name, name) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < P_COUNT && !strcmp(prim_rows[by_name[lo]].name, name) ? by_name[lo] : P_COUNT;
}

/* ---- headers ---------------------------------------------------------------------------------------------------- */

/* In a header the name is the enum's: an operator, or a word of the grammar like `and`, is no name of a definition. */
static const char *const header_names[P_COUNT] = {
#define PRIM(id, ...) [P_##id] = "P_" #id,
#include "ir/prims.def"
#undef PRIM
};

const Item *prim_header(Ctx *ctx, PrimId id)
{
    struct PrimTable *table = table_of(ctx);
    if (!table->headers[id]) {
        const PrimRow *row = &prim_rows[id];
        const char *text = ctx_printf(ctx, "%s %s%s%s", header_names[id], row->header, row->where[0] ? " where " : "", row->where);
        uint32_t file = source_add_library(ctx, ctx_printf(ctx, "<primitive %s>", row->name), text, strlen(text));
        table->headers[id] = parse_signature(ctx, file);
    }
    return table->headers[id];
}

/* The scalars of a kind of a header. */
static unsigned scalars_of(const Ast *kind)
{
    unsigned types = 0;
    for (int s = 0; s < SC_COUNT; s++) {
        bool is_int = scalar_is_int((Scalar)s), is_float = scalar_is_float((Scalar)s);
        bool fits = ast_is_word(kind, "data") || ast_is_word(kind, "scalar") || (is_int && ast_is_word(kind, "int")) ||
                    (is_float && ast_is_word(kind, "float")) || ((is_int || is_float) && ast_is_word(kind, "num"));
        types |= fits ? 1u << s : 0;
    }
    return types;
}

static PrimOperands *operands_of(Ctx *ctx, const Item *header)
{
    PrimOperands *o = NEW(ctx, PrimOperands);
    int n_types = 0;
    o->types = 1u << SC_BOOL; /* `and`, `or`, `not` name no type */
    for (int i = 0; i < header->n_params; i++) {
        const Param *p = &header->params[i];
        if (ast_is_word(p->kind, "nat") || (!p->implicit && o->n == (int)(sizeof o->is_bool / sizeof *o->is_bool)))
            return NULL;
        if (p->implicit)
            o->types = scalars_of(p->kind);
        else
            o->is_bool[o->n++] = ast_is_word(p->kind, "bool");
        n_types += p->implicit;
    }
    o->gives_bool = ast_is_word(header->result, "bool");
    return n_types > 1 ? NULL : o;
}

const PrimOperands *prim_operands(Ctx *ctx, PrimId id)
{
    struct PrimTable *table = table_of(ctx);
    if (prim_rows[id].level != LEVEL_SCALAR)
        return NULL;
    if (!table->operands[id])
        table->operands[id] = operands_of(ctx, prim_header(ctx, id));
    return table->operands[id];
}

const char *prim_signature(Ctx *ctx, PrimId id)
{
    struct PrimTable *table = table_of(ctx);
    if (table->signatures[id])
        return table->signatures[id];
    const Item *item = prim_header(ctx, id);
    StrBuf out;
    sb_init(&out, ctx);
    for (int i = 0; i < item->n_params; i++) {
        const Param *p = &item->params[i];
        if (p->implicit) {
            /* `{n m: nat}` and `{s t: data}` go without saying. */
            if (ast_is_word(p->kind, "nat") || ast_is_word(p->kind, "data"))
                continue;
            sb_printf(&out, "{%s: ", p->name);
            ast_print(&out, p->kind);
            sb_puts(&out, "} -> ");
        } else if (ast_is_word(p->kind, "nat")) {
            sb_printf(&out, "(%s: nat) -> ", p->name);
        } else {
            bool arrow = p->kind && p->kind->kind == AST_ARROW;
            sb_puts(&out, arrow ? "(" : "");
            if (p->kind)
                ast_print(&out, p->kind);
            sb_puts(&out, arrow ? ") -> " : " -> ");
        }
    }
    if (item->result)
        ast_print(&out, item->result);
    table->signatures[id] = out.text;
    return out.text;
}

/* ---- documentation ---------------------------------------------------------------------------------------------- */

static const char *level_name(PrimLevel level)
{
    switch (level) {
    case LEVEL_VIEW:
        return "view";
    case LEVEL_HIGH:
        return "open";
    case LEVEL_SEQ:
        return "thread, in order";
    case LEVEL_GRID:
        return "grid";
    case LEVEL_BLOCK:
        return "blocks";
    case LEVEL_THREAD:
        return "threads";
    case LEVEL_WARP:
        return "warps";
    case LEVEL_LANE:
        return "lanes";
    case LEVEL_MEM:
        return "memory";
    case LEVEL_SHFL:
        return "warp registers";
    case LEVEL_SCALAR:
        return "scalar";
    }
    return "";
}

/* Runs of the table: a group ends where the next one starts. */
static const struct {
    PrimId first;
    const char *title, *about;
} groups[] = {
    {P_id, "Data layout",
     "These primitives move no data. They only change at which index an element is read or written. You\n"
     "can apply all of them to arrays that are read, and most of them also to arrays that are written."},
    {P_map, "Computation that leaves the order open", "The scheduler or a strategy replaces these primitives with others before risec makes code."},
    {P_mapSeq, "Sequential", "One thread does this work, in order."},
    {P_mapGlobal, "Parallel",
     "Each element is computed by one thread, block, warp or lane. If there are more elements than\n"
     "threads, each thread computes several elements, a stride apart. The same holds for blocks, warps\n"
     "and lanes. To choose an axis, write it in square brackets, as in `mapBlock[y](f)`. The default is x."},
    {P_toGlobal, "Memory",
     "These primitives store a value that a map or a reduction computes. A layout view alone computes\n"
     "nothing. To store a view, let threads copy it by `mapThreads(id)`."},
    {P_shflDown, "Warp", "These primitives exchange registers between the 32 lanes of a warp."},
    {P_nextKernel, "Grid", "These primitives say how the blocks of a launch work together."},
    {P_add, "Scalar functions",
     "In the types, `num` stands for any type of numbers or vectors of numbers, `int` for any type of\n"
     "integers, and `float` for any type of floats. `scalar` stands for `bool` or any type of numbers."},
};
enum { GROUP_COUNT = sizeof groups / sizeof groups[0] };

/* Inside a table of Markdown a bar ends the cell, even in code. */
static void put_cell(StrBuf *out, const char *text, bool code)
{
    if (!text[0]) {
        sb_puts(out, " |");
        return;
    }
    sb_puts(out, code ? " `" : " ");
    for (; *text; text++) {
        if (*text == '|')
            sb_putc(out, '\\');
        sb_putc(out, *text);
    }
    sb_puts(out, code ? "` |" : " |");
}

void prim_manual(Ctx *ctx, StrBuf *out)
{
    sb_puts(out, "# Primitives\n\n"
                 "This page lists the patterns and functions that are built into the language. `risec help NAME`\n"
                 "prints the entry for one of them:\n\n"
                 "```\nrisec help slide\n```\n\n"
                 "The column *type* leaves out the declarations `{n m k: nat}` and `{s t u: data}`. The column *needs*\n"
                 "lists conditions on sizes, which each use of the primitive must meet. The column *value* defines\n"
                 "the result by an equation. The column *CUDA* says `no` if the scheduler or a strategy replaces\n"
                 "the primitive with other primitives before risec makes code. The reference interpreter\n"
                 "(`--device ref`) runs all primitives.\n\n"
                 "risec generates this page from the table `src/ir/prims.def`. Do not edit the page.\n");
    for (int g = 0; g < GROUP_COUNT; g++) {
        int end = g + 1 < GROUP_COUNT ? (int)groups[g + 1].first : P_COUNT;
        bool levels = false, options = false, needs = false;
        for (int id = groups[g].first; id < end; id++) {
            levels |= prim_rows[id].level != prim_rows[groups[g].first].level;
            options |= prim_rows[id].options[0] != 0;
            needs |= prim_rows[id].where[0] != 0;
        }
        sb_printf(out, "\n## %s\n\n%s\n\n", groups[g].title, groups[g].about);
        sb_puts(out, "| name | type |");
        sb_printf(out, "%s%s%s value | what it does | CUDA |\n", needs ? " needs |" : "", levels ? " level |" : "",
                  options ? " in brackets |" : "");
        sb_printf(out, "|---|---|%s%s%s---|---|---|\n", needs ? "---|" : "", levels ? "---|" : "", options ? "---|" : "");
        for (int id = groups[g].first; id < end; id++) {
            const PrimRow *row = &prim_rows[id];
            sb_putc(out, '|');
            put_cell(out, row->name, true);
            put_cell(out, prim_signature(ctx, (PrimId)id), true);
            if (needs)
                put_cell(out, row->where, true);
            if (levels)
                put_cell(out, level_name(row->level), false);
            if (options)
                put_cell(out, row->options, true);
            put_cell(out, row->law, true);
            put_cell(out, row->doc, false);
            put_cell(out, row->lowered ? "yes" : "no", false);
            sb_putc(out, '\n');
        }
    }
}

void prim_help(Ctx *ctx, StrBuf *out, PrimId id)
{
    const PrimRow *row = &prim_rows[id];
    sb_printf(out, "%s: %s\n", row->name, prim_signature(ctx, id));
    if (row->where[0])
        sb_printf(out, "  needs %s\n", row->where);
    sb_printf(out, "\n  %s\n\n  %s\n", row->doc, row->law);
    sb_printf(out, "\n  level: %s\n", level_name(row->level));
    if (row->options[0])
        sb_printf(out, "  in square brackets: %s\n", row->options);
    if (!row->lowered)
        sb_puts(out, "  The scheduler or a strategy replaces it by other primitives before code is made.\n");
}
