/* Where levels may stand, and what is likely meant where one does not. */
#include "codegen/lowering.h"
#include "ir/terms.h"

static bool any3(const bool flags[3]) { return flags[0] || flags[1] || flags[2]; }

/* ---- what is meant ---------------------------------------------------------------------------------------------------------------- */

/* Two levels, one inside the other, and what may be meant: the first row that makes the program right. "": it stays. */
typedef struct Nesting {
    PrimId outer, inner;
    const char *instead_of_outer, *instead_of_inner;
} Nesting;

static const Nesting nestings[] = {
    {P_mapGlobal, P_mapThreads, "mapBlock", ""},
    {P_mapGlobal, P_mapWarp, "mapBlock", ""},
    {P_mapGlobal, P_mapBlock, "mapBlock", "mapThreads"},
    {P_mapGlobal, P_mapGlobal, "mapBlock", "mapThreads"},
    {P_mapGlobal, P_mapGlobal, "mapGlobal[y]", "mapGlobal[x]"},
    {P_mapGlobal, P_mapLane, "mapWarp", ""},
    {P_mapGlobal, P_mapLane, "mapBlock", "mapThreads"},
    {P_mapBlock, P_mapGlobal, "", "mapThreads"},
    {P_mapBlock, P_mapBlock, "", "mapThreads"},
    {P_mapBlock, P_mapLane, "", "mapThreads"},
    {P_mapBlock, P_mapLane, "mapWarp", ""},
    {P_mapThreads, P_mapBlock, "mapBlock", "mapThreads"},
    {P_mapThreads, P_mapLane, "mapWarp", ""},
    {P_mapThreads, P_mapLane, "mapWarp", "mapLane"},
    {P_mapThreads, P_mapWarp, "mapWarp", "mapLane"},
    {P_mapThreads, P_mapGlobal, "mapBlock", "mapThreads"},
    {P_mapThreads, P_mapThreads, "mapWarp", "mapLane"},
    {P_mapThreads, P_mapThreads, "mapThreads[y]", "mapThreads[x]"},
    {P_mapWarp, P_mapThreads, "", "mapLane"},
    {P_mapWarp, P_mapBlock, "mapBlock", "mapWarp"},
    {P_mapWarp, P_mapGlobal, "", "mapLane"},
    {P_mapWarp, P_mapWarp, "", "mapLane"},
    {P_mapLane, P_mapWarp, "mapWarp", "mapLane"},
    {P_mapLane, P_mapBlock, "mapBlock", "mapThreads"},
};

/* Hints that are tried. */
static void propose_nestings(Lowering *lw, Diag *d, const Core *outer, const Core *inner)
{
    Ctx *ctx = lw->ctx;
    for (size_t i = 0; i < sizeof nestings / sizeof *nestings; i++) {
        const Nesting *n = &nestings[i];
        if (n->outer != outer->prim.id || n->inner != inner->prim.id)
            continue;
        bool keeps_outer = !n->instead_of_outer[0], keeps_inner = !n->instead_of_inner[0];
        if (keeps_inner && n->inner == P_mapLane && n->outer == P_mapBlock)
            diag_help(ctx, d, "write `%s` for the `%s` around it, or put a warp between: `split(32) |> mapWarp(fun lanes => ...) |> join`", n->instead_of_outer, prim_name(n->outer));
        else if (keeps_inner)
            diag_help(ctx, d, "write `%s` for the `%s` around it", n->instead_of_outer, prim_name(n->outer));
        else if (keeps_outer)
            diag_help(ctx, d, "use `%s` here", n->instead_of_inner);
        else
            diag_help(ctx, d, "write `%s` outside, and `%s` inside of it", n->instead_of_outer, n->instead_of_inner);
        bool written = (keeps_outer || edit_primitive(ctx, d, outer, n->instead_of_outer)) && (keeps_inner || edit_primitive(ctx, d, inner, n->instead_of_inner));
        if (!written)
            diag_help(ctx, d, "%s", ""); /* takes the edits away */
        diag_or_else(ctx, d);
    }
}

/* In the library the user can only call what is there from another place. */
static void help_inside(Lowering *lw, Diag *d, const Core *map, const char *outer, const char *words)
{
    if (!span_is_users(lw->ctx, map->span)) {
        diag_help(lw->ctx, d, "what is called here has a %s of its own: call it outside of %s", prim_name(map->prim.id), outer);
        return;
    }
    if (lw->open.inside)
        propose_nestings(lw, d, lw->open.inside->map, map);
    propose_primitive(lw->ctx, d, map, P_mapSeq, words);
}

static const Core *find_level(const Core *term, PrimId level)
{
    if (term->kind == CORE_PRIM && term->prim.id == level)
        return term;
    const Core *found = NULL;
    for (int i = 0; i < term_children(term) && !found; i++)
        found = find_level(term_child(term, i), level);
    return found;
}

/* All lanes of a warp get to a shuffle. So no part of a warp has an element more than another: each part of the block computes one. */
static Diag *check_parts(Lowering *lw, const Core *map)
{
    const ImpKernel *k = lw->kernel;
    int parts = k->threads[0] * k->threads[1] * k->threads[2] / k->lanes, in_warp = WARP_LANES / k->lanes;
    Nat n = lower_nat(lw, map->type->size);
    if (map->prim.id != P_mapWarp || k->lanes == WARP_LANES || nat_is(n, parts))
        return NULL;
    Diag *d = lower_error(lw, E0402, map->span, "mapWarp over %s elements, where the block has %d parts of %d lanes", nat_text(lw->ctx, n), parts, k->lanes);
    bool whole = nat_is_const(n) && n->value % in_warp == 0 && n->value <= MAX_THREADS / k->lanes;
    if (whole)
        diag_help(lw->ctx, d, "let the block have %lld threads", (long long)n->value * k->lanes);
    else
        diag_help(lw->ctx, d, "let each part compute one element: split the array into rows of %d for the blocks, or of another multiple of %d up to %d",
                  256 / k->lanes, in_warp, MAX_THREADS / k->lanes);
    return d;
}

/* ---- what may stand where ------------------------------------------------------------------------------------------------------------ */

/* Note [Where a level may stand]. Threads and warps share a block between them, lanes a warp; a level stands once inside itself per axis. Without any
 * mapBlock there is one block, and threads and warps may stand at the top. */
bool level_fits(Lowering *lw, const Core *map)
{
    PrimId level = map->prim.id;
    const char *name = prim_name(level);
    Levels *open = &lw->open;
    Diag *d = NULL;
    if (lw->alone && level == P_mapBlock && !nat_equal(lw->ctx, lw->facts, lower_nat(lw, map->type->size), nat_const(lw->ctx, 1))) {
        Diag *one = lower_error(lw, E0423, map->span, "mapBlock over %s elements where only the last block is left", nat_text(lw->ctx, lower_nat(lw, map->type->size)));
        diag_help(lw->ctx, one, "leave mapBlock out: `lastBlock(fun ys => ys |> ... mapThreads(f))`; or go on in all blocks with `nextKernel` or `gridSync`");
        return false;
    }
    bool in_block = any3(open->block), in_threads = any3(open->thread), in_warp = open->warp || open->lane;
    if (level_is_open(lw, level, map->prim.options.axis)) {
        static const char *const axes[3] = {"x", "y", "z"};
        bool has_axis = level == P_mapGlobal || level == P_mapBlock || level == P_mapThreads;
        d = lower_error(lw, E0401, map->span, has_axis ? "%s[%s] inside itself: this axis is distributed already" : "%s inside itself", name,
                        axes[map->prim.options.axis]);
        if (lw->open.inside && span_is_users(lw->ctx, map->span))
            propose_nestings(lw, d, lw->open.inside->map, map);
        if (has_axis && span_is_users(lw->ctx, map->span))
            diag_help(lw->ctx, d, "use another axis, as in `%s[%s]`, or `mapSeq` here", name, axes[(map->prim.options.axis + 1) % 3]);
        else
            help_inside(lw, d, map, name, "use $ here");
    } else if ((level == P_mapBlock && (in_threads || in_warp || any3(open->global))) ||
               (level == P_mapGlobal && (in_block || in_threads || in_warp)) || (level == P_mapThreads && (in_warp || any3(open->global))) ||
               (level == P_mapWarp && (in_threads || open->lane || any3(open->global)))) {
        const char *outer = open->lane ? "mapLane" : open->warp ? "mapWarp" : in_threads ? "mapThreads" : in_block ? "mapBlock" : "mapGlobal";
        d = lower_error(lw, E0402, map->span, "%s does not fit inside %s", name, outer);
        help_inside(lw, d, map, outer, "the order is mapBlock, then mapWarp, then mapLane; or mapBlock, then mapThreads; or mapGlobal alone. One thread does all of it by $");
    } else if (level == P_mapLane && !open->warp) {
        d = lower_error(lw, E0402, map->span, "mapLane stands outside a warp");
        if (open->inside && open->inside->map->prim.id != P_mapLane)
            diag_label(lw->ctx, d, "a warp is missing between %s and its lanes", prim_name(open->inside->map->prim.id));
        if (open->inside)
            propose_nestings(lw, d, open->inside->map, map);
        diag_help(lw->ctx, d, "a warp's lanes are inside mapWarp: `split(32) |> mapWarp(mapLane(f)) |> join`, or use `mapThreads`");
    } else if ((level == P_mapThreads || level == P_mapWarp) && lw->any_block && !in_block) {
        d = lower_error(lw, E0402, map->span, "%s stands outside a block, in a grid of several", name);
        const Core *inner = find_level(map->prim.args[0], P_mapBlock);
        if (inner)
            propose_nestings(lw, d, map, inner);
        else
            propose_meeting(lw, d, map);
        diag_help(lw->ctx, d, inner ? "a block holds threads, and no thread holds blocks: mapBlock stands around %s" : "every block would do the same: put it inside mapBlock, or use `mapGlobal`", name);
    } else {
        d = check_parts(lw, map);
    }
    return d == NULL;
}
