#include "codegen/lowering.h"
#include "ir/terms.h"

enum { MAX_UNROLLED_SLOTS = 32 };

/* ---- the plan: threads and blocks from the extents of the maps ------------------------------------------------------ */

typedef struct Plan {
    Lowering *lw;
    int64_t threads[3]; /* largest constant extent of mapThreads per axis */
    int64_t warps;
    int lanes;          /* of a warp, or of its parts */
    Nat blocks[3];      /* largest extent of mapBlock per axis, or NULL */
    bool once[3];       /* a mapBlock[once] is there */
    Nat global[3];
    Nat copied;         /* largest background that a scatter of the grid copies, or NULL */
    int inside;         /* parallel maps around */
    bool has_threads, has_warps, has_lanes, has_blocks, has_global, unknown_threads, unknown_warps;
    bool alone;    /* in the part of the last block */
    bool meets;    /* the blocks meet: there is one at least */
    bool answers;  /* one block answers the others */
    bool begun;    /* the walk was there */
    bool nothing;  /* 0 |> nextKernel: it has nothing to do, and is not launched */
    const Core *start, *here; /* the kernel that is planned, and the one that the walk is in: see launch_plan */
} Plan;

struct DeviceSubst {
    Ctx *ctx;
    Nat *nat;
};

static void without_device_size(void *user, Nat var)
{
    const struct DeviceSubst *s = user;
    if (imp_is_device_size(var) && var->device != NAT_TURN)
        *s->nat = nat_subst(s->ctx, *s->nat, var, nat_const(s->ctx, 1));
}

/* An extent counts for the launch only when it is known there: over the entry's sizes, not over loop variables. */
static bool known_at_launch(const Plan *plan, Nat n)
{
    struct { const CoreEntry *entry; Nat rest; Ctx *ctx; } s = {plan->lw->entry, n, plan->lw->ctx};
    Nat rest = n;
    nat_each_var(s.ctx, n, without_device_size, &(struct DeviceSubst){s.ctx, &rest});
    for (int i = 0; i < s.entry->n_sizes; i++)
        rest = nat_subst(s.ctx, rest, s.entry->sizes[i], nat_const(s.ctx, 7));
    return nat_is_const(rest) || nat_is_error(rest);
}

static Nat larger(Plan *plan, Nat a, Nat b)
{
    if (!known_at_launch(plan, b))
        b = nat_const(plan->lw->ctx, 1);
    return a ? nat_simplify(plan->lw->ctx, plan->lw->known, nat_max(plan->lw->ctx, a, b)) : b;
}

/* The lanes that each mapWarp of the kernel gives an element: all of a warp, or a part of it. */
static void plan_lanes(Plan *plan, const Core *e)
{
    Ctx *ctx = plan->lw->ctx;
    Nat lanes = e->prim.options.lanes ? lower_nat(plan->lw, e->prim.options.lanes) : nat_const(ctx, WARP_LANES);
    if (!lanes_fit(lanes)) {
        lower_error(plan->lw, E0332, e->span, LANES_FAULT, nat_text(ctx, lanes));
    } else if (plan->has_warps && plan->lanes != lanes->value) {
        Diag *d = lower_error(plan->lw, E0402, e->span, "mapWarp with parts of %s lanes, in a kernel whose warps have parts of %d", nat_text(ctx, lanes), plan->lanes);
        diag_help(ctx, d, "give every mapWarp of a kernel the same `lanes`, or put a `nextKernel` between");
    } else {
        plan->lanes = (int)lanes->value;
    }
}

static void plan_map(Plan *plan, const Core *e)
{
    if (plan->here != plan->start)
        return;
    Nat n = place_end(plan->lw, e);
    int axis = e->prim.options.axis;
    bool constant = nat_is_const(n);
    switch (prim_rows[e->prim.id].level) {
    case LEVEL_THREAD:
        plan->has_threads = true;
        if (!constant)
            plan->unknown_threads |= axis == 0;
        else if (n->value > plan->threads[axis])
            plan->threads[axis] = n->value;
        break;
    case LEVEL_WARP:
        plan_lanes(plan, e);
        plan->has_warps = true;
        if (!constant)
            plan->unknown_warps = true;
        else if (n->value > plan->warps)
            plan->warps = n->value;
        break;
    case LEVEL_LANE: plan->has_lanes = true; break;
    case LEVEL_BLOCK:
        if (plan->alone)
            break;
        plan->has_blocks = true;
        plan->blocks[axis] = larger(plan, plan->blocks[axis], n);
        plan->once[axis] |= e->prim.options.once;
        break;
    case LEVEL_GRID:
        plan->has_global = true;
        if (plan->alone)
            break;
        plan->global[axis] = larger(plan, plan->global[axis], n);
        break;
    case LEVEL_VIEW: case LEVEL_HIGH: case LEVEL_SEQ: case LEVEL_MEM: case LEVEL_SHFL: case LEVEL_SCALAR: break;
    }
}

/* One block answers the others; in it, a warp. */
static void plan_scan_blocks(Plan *plan, const Core *e)
{
    Ctx *ctx = plan->lw->ctx;
    if (!scans_blocks(e->prim.id) || plan->here != plan->start || plan->alone)
        return;
    Nat n = nat_add_k(ctx, nat_max(ctx, scanned_elements(plan->lw, e), nat_const(ctx, 1)), 1);
    plan->has_blocks = plan->has_warps = plan->answers = true;
    plan->blocks[0] = larger(plan, plan->blocks[0], n);
}

/* A scatter of the grid copies its background by all threads of it, however few elements there are. */
static void plan_background(Plan *plan, const Core *e)
{
    bool scatter = prim_is_scatter(e->prim.id);
    if (scatter && !plan->inside && !plan->alone && plan->here == plan->start)
        plan->copied = larger(plan, plan->copied, lower_nat(plan->lw, e->type->size));
}

static bool begins_kernel(PrimId id) { return id == P_nextKernel || id == P_repeatKernels; }

/* May a kernel begin in the term? Noted of each, as many kernels ask. */
static bool has_start(Lowering *lw, const Core *e)
{
    static const char yes, no;
    const char *known = table_get(&lw->starts, e);
    bool has = known == &yes || (e->kind == CORE_PRIM && (begins_kernel(e->prim.id) || prim_is_scatter(e->prim.id)));
    for (int i = 0; !known && !has && i < term_children(e); i++)
        has = has_start(lw, term_child(e, i));
    if (!known)
        table_put(lw->ctx, &lw->starts, e, (void *)(uintptr_t)(has ? &yes : &no));
    return has;
}

/* In the order of the translation: what a pattern works on, then the pattern itself. Of kernels before and behind the one that is planned
 * nothing counts. */
static void plan_walk(Plan *plan, const Core *e)
{
    plan->begun |= plan->here == plan->start;
    if (plan->here != plan->start && (plan->begun || !has_start(plan->lw, e)))
        return;
    const Core *decided = lower_decided(plan->lw, e);
    if (decided) {
        plan_walk(plan, decided);
        return;
    }
    switch (e->kind) {
    case CORE_PRIM: {
        plan_background(plan, e);
        plan_scan_blocks(plan, e);
        for (int i = 0; i < e->prim.n_args; i++) {
            if (e == plan->start && !begins_kernel(e->prim.id) && i == e->prim.n_args - 1)
                plan->here = e; /* a scatter whose background the kernel before has written */
            if (e->prim.args[i]->kind != CORE_LAMBDA)
                plan_walk(plan, e->prim.args[i]);
        }
        if (begins_kernel(e->prim.id)) {
            plan->nothing |= plan->here == plan->start && e->prim.args[e->prim.n_args - 1]->kind == CORE_LIT;
            plan->here = e;
        }
        if (is_parallel_map(e->prim.id))
            plan_map(plan, e);
        bool alone = plan->alone;
        plan->alone |= e->prim.id == P_lastBlock;
        plan->meets |= (e->prim.id == P_lastBlock || e->prim.id == P_gridSync) && plan->here == plan->start;
        plan->inside += is_parallel_map(e->prim.id) || scans_blocks(e->prim.id);
        for (int i = 0; i < e->prim.n_args; i++)
            if (e->prim.args[i]->kind == CORE_LAMBDA)
                plan_walk(plan, e->prim.args[i]);
        plan->inside -= is_parallel_map(e->prim.id) || scans_blocks(e->prim.id);
        plan->alone = alone;
        break;
    }
    case CORE_LAMBDA: plan_walk(plan, e->lambda.body); break;
    case CORE_LET:
        plan_walk(plan, e->let.value);
        plan_walk(plan, e->let.body);
        break;
    case CORE_TUPLE:
        for (int i = 0; i < e->tuple.n; i++)
            plan_walk(plan, e->tuple.items[i]);
        break;
    case CORE_PROJ: plan_walk(plan, e->proj.value); break;
    case CORE_IF:
        plan_walk(plan, e->cond.cond);
        plan_walk(plan, e->cond.then);
        plan_walk(plan, e->cond.otherwise);
        break;
    case CORE_VAR: case CORE_LIT: case CORE_SIZE: case CORE_UNIT_ERROR: break;
    }
}

/* What the program says of the launch: behind the entry's result type (of the class that is being lowered), or in the brackets of nextKernel or repeatKernels. */
static CoreLaunch launch_clause(const Lowering *lw, const Core *start)
{
    const CoreEntry *entry = lw->entry;
    if (start && begins_kernel(start->prim.id))
        return (CoreLaunch){start->prim.options.blocks, start->prim.options.threads, start->prim.options.min_blocks, start->span, start->prim.options.launch_chosen};
    const Core *body = entry->body;
    int k = 0;
    for (; k < entry->n_classes - 1 && lower_decided(lw, body) == body->cond.otherwise; k++)
        body = body->cond.otherwise;
    return entry->n_classes ? entry->classes[k].launch : entry->launch;
}

/* `help`: in it `$` is the clause with n threads. */
static void propose_threads(Ctx *ctx, Diag *d, const CoreLaunch *clause, int64_t n, const char *help)
{
    static const char word[] = "threads";
    const Source *source = source_get(ctx, clause->threads_span.file);
    bool written = span_is_users(ctx, clause->threads_span) && strncmp(source->text + clause->threads_span.lo, word, strlen(word)) == 0;
    diag_propose(ctx, d, written ? clause->threads_span : NO_SPAN, help, "%s = %lld", word, (long long)n);
}

/* The threads that a clause asks for, where each row of them has t[1] * t[2]; refused where a block cannot have just these. `alone`: one thread is
 * as good as a warp. */
static int64_t asked_threads(Plan *plan, const CoreLaunch *clause, int64_t rows, bool alone)
{
    Ctx *ctx = plan->lw->ctx;
    int64_t n = nat_is_const(clause->threads) ? clause->threads->value : 0;
    const char *text = nat_text(ctx, clause->threads);
    if (n < 1 || n > MAX_THREADS) {
        Diag *d = lower_error(plan->lw, E0409, clause->threads_span, "threads = %s is not a number of threads that a block can have", text);
        if (nat_is_const(clause->threads))
            propose_threads(ctx, d, clause, n > MAX_THREADS ? MAX_THREADS : 32, n > MAX_THREADS ? "a block has at most 1024 threads, in whole warps of 32; with $ each computes several elements" : "a block has whole warps of 32 threads: $");
        else
            propose_threads(ctx, d, clause, 256, "the kernel is compiled for one number, and this is known at launch: write $, or another multiple of 32 up to 1024, and each thread computes several elements where there are more");
        return 32;
    }
    if (alone && n == 1)
        return n;
    /* The smallest number that makes whole warps with the rows. */
    int64_t step = 32;
    while (step > 1 && step / 2 * rows % 32 == 0)
        step /= 2;
    int64_t less = n / step * step, most = MAX_THREADS / rows / step * step;
    if (n > most) {
        Diag *d = lower_error(plan->lw, E0409, clause->threads_span, "threads = %s on axis x, and %lld on the others, are more than a block can have", text, (long long)rows);
        if (most)
            propose_threads(ctx, d, clause, most, ctx_printf(ctx, "write $, or less in steps of %lld", (long long)step));
        else
            diag_help(ctx, d, "leave `threads` out");
        return step;
    }
    if (n % step) {
        Diag *d = lower_error(plan->lw, E0409, clause->threads_span, "threads = %s makes no whole warps of 32", text);
        if (less && less + step <= most)
            propose_threads(ctx, d, clause, less + step, ctx_printf(ctx, "write $, or %lld", (long long)less));
        else
            propose_threads(ctx, d, clause, less ? less : step, "write $");
    }
    return n;
}

/* Of a grid with one axis: where its maps have so few elements that one block takes them all, no thread more than that. */
static int64_t threads_of_grid(const Plan *plan)
{
    enum { MOST = 256 };
    Nat n = plan->global[0];
    bool few = n && nat_is_const(n) && n->value < MOST && !plan->global[2] && !plan->copied && !plan->meets && !plan->has_warps && !plan->has_lanes && !plan->has_blocks;
    return few ? (n->value < 32 ? 32 : n->value) : MOST;
}

/* Threads of the block: as the launch clause says, else the largest constant extent, else 256; a multiple of 32 in total. One thread when no
 * level below the block is used: then nothing says that there are more. */
static void plan_threads(Plan *plan, const CoreLaunch *clause, int threads[3])
{
    bool any = plan->has_threads || plan->has_warps || plan->has_lanes || plan->has_global;
    int64_t t[3] = {1, 1, 1};
    if (any) {
        int64_t wanted = plan->warps > MAX_THREADS / plan->lanes ? MAX_THREADS : plan->warps * plan->lanes;
        for (int a = 0; a < 3; a++)
            t[a] = plan->threads[a] ? plan->threads[a] : 1;
        if (plan->has_global && t[0] < 256 && !plan->has_threads)
            t[0] = plan->global[1] ? 32 : threads_of_grid(plan);
        if (plan->has_global && plan->global[1] && t[1] == 1)
            t[1] = 8;
        if ((plan->unknown_threads && !plan->threads[0]) || (plan->unknown_warps && !plan->warps))
            t[0] = t[0] > 256 ? t[0] : 256;
        if (plan->has_warps && wanted == 0 && !plan->unknown_warps)
            wanted = 32;
        if (t[0] > MAX_THREADS) t[0] = MAX_THREADS;
        if (t[1] > 64) t[1] = 64;
        if (t[2] > 16) t[2] = 16;
        while (t[1] * t[2] > MAX_THREADS)
            t[1] = (t[1] + 1) / 2;
        if (t[0] * t[1] * t[2] < wanted)
            t[0] = (wanted + t[1] * t[2] - 1) / (t[1] * t[2]);
    }
    if (clause->threads && !plan->nothing) {
        t[0] = asked_threads(plan, clause, t[1] * t[2], !any);
        any = any || t[0] > 1;
    }
    int64_t rest = t[1] * t[2];
    if (t[0] > MAX_THREADS / rest)
        t[0] = MAX_THREADS / rest;
    if (any)
        while (t[0] * rest % 32)
            t[0]++;
    if (t[0] * rest > MAX_THREADS) { /* rounding up went too far: fewer rows */
        t[0] = 32;
        while (t[0] * t[1] * t[2] > MAX_THREADS)
            t[t[1] >= t[2] ? 1 : 2] /= 2;
    }
    for (int a = 0; a < 3; a++)
        threads[a] = (int)t[a];
}

void launch_plan(Lowering *lw, const Core *start)
{
    static const char *const grid_names[3] = {"gridDim.x", "gridDim.y", "gridDim.z"};
    static const char *const block_names[3] = {"blockIdx.x", "blockIdx.y", "blockIdx.z"};
    static const char *const thread_names[3] = {"thread", "threadY", "threadZ"};
    Ctx *ctx = lw->ctx;
    ImpKernel *kernel = lw->kernel;
    const CoreEntry *entry = lw->entry;
    CoreLaunch clause = launch_clause(lw, start);
    Plan plan = {.lw = lw, .start = start, .lanes = WARP_LANES};
    Nat zero = nat_const(ctx, 0), one = nat_const(ctx, 1);
    plan_walk(&plan, entry->body);
    plan_threads(&plan, &clause, kernel->threads);
    bool grid = plan.has_blocks || plan.has_global; /* else there is one block */
    if (plan.copied && grid)
        plan.global[0] = larger(&plan, plan.global[0], plan.copied);
    for (int a = 0; a < 3; a++) {
        Nat blocks = plan.blocks[a];
        if (plan.global[a]) {
            Nat n = nat_ceil_div(ctx, plan.global[a], nat_const(ctx, kernel->threads[a]));
            blocks = blocks ? nat_max(ctx, blocks, n) : n;
        }
        bool none = blocks && a == 0 && clause.blocks && grid && !nat_equal(ctx, lw->known, blocks, clause.blocks); /* where there is something to do */
        if (a == 0 && clause.blocks && grid)
            blocks = clause.blocks;
        if (blocks && (plan.meets || (none && !nat_le(ctx, lw->known, one, blocks))))
            blocks = nat_max(ctx, blocks, one);
        if (a == 0 && plan.answers)
            blocks = nat_max(ctx, blocks, nat_const(ctx, LEAST_BLOCKS_OF_SCAN));
        kernel->blocks[a] = blocks ? nat_simplify(ctx, lw->known, blocks) : one;
        bool single = nat_is(kernel->blocks[a], 1);
        kernel->grid[a] = single ? one : nat_var(ctx, grid_names[a], nat_const(ctx, a == 0 && plan.answers ? LEAST_BLOCKS_OF_SCAN : 1), NULL);
        kernel->once[a] = plan.once[a] && !single;
        kernel->block[a] = single ? zero : nat_var(ctx, block_names[a], zero, nat_add_k(ctx, kernel->once[a] ? kernel->blocks[a] : kernel->grid[a], -1));
        kernel->thread[a] = kernel->threads[a] == 1 ? zero : nat_var(ctx, thread_names[a], zero, nat_const(ctx, kernel->threads[a] - 1));
    }
    kernel->least_blocks = plan.answers ? LEAST_BLOCKS_OF_SCAN : 1;
    int total = kernel->threads[0] * kernel->threads[1] * kernel->threads[2];
    kernel->lanes = plan.lanes;
    kernel->warp = total <= plan.lanes ? zero : nat_var(ctx, plan.lanes == WARP_LANES ? "warp" : "part", zero, nat_const(ctx, total / plan.lanes - 1));
    kernel->lane = total == 1 ? zero : nat_var(ctx, "lane", zero, nat_const(ctx, plan.lanes - 1));
    if (clause.min_blocks && nat_is_const(clause.min_blocks))
        kernel->min_blocks = clause.min_blocks->value;
    const bool of_kernel = start && begins_kernel(start->prim.id); /* whoever writes brackets for one kernel knows it */
    kernel->blocks_as_said = (of_kernel || span_is_users(ctx, clause.threads_span)) && !clause.chosen;
    lw->any_block = kernel_has_blocks(kernel);
}

/* ---- levels -------------------------------------------------------------------------------------------------------------- */

static int total_threads(const Lowering *lw)
{
    return lw->kernel->threads[0] * lw->kernel->threads[1] * lw->kernel->threads[2];
}

Nat level_count(const Lowering *lw, PrimId level, int axis)
{
    const ImpKernel *k = lw->kernel;
    Ctx *ctx = lw->ctx;
    if (level == P_mapBlock)
        return lw->alone ? nat_const(ctx, 1) : k->grid[axis];
    if (level == P_mapThreads)
        return nat_const(ctx, k->threads[axis]);
    if (level == P_mapWarp)
        return nat_const(ctx, total_threads(lw) <= k->lanes ? 1 : total_threads(lw) / k->lanes);
    if (level == P_mapLane)
        return nat_const(ctx, k->lanes);
    return lw->alone ? nat_const(ctx, k->threads[axis]) : nat_mul_k(ctx, k->grid[axis], k->threads[axis]);
}

Nat level_id(const Lowering *lw, PrimId level, int axis)
{
    const ImpKernel *k = lw->kernel;
    if (level == P_mapBlock)
        return lw->alone ? nat_const(lw->ctx, 0) : k->block[axis];
    if (level == P_mapThreads)
        return k->thread[axis];
    if (level == P_mapWarp)
        return k->warp;
    if (level == P_mapLane)
        return k->lane;
    if (lw->alone)
        return k->thread[axis];
    return nat_add(lw->ctx, nat_mul_k(lw->ctx, k->block[axis], k->threads[axis]), k->thread[axis]);
}

static bool *level_flag(Levels *open, PrimId level, int axis)
{
    if (level == P_mapBlock)
        return &open->block[axis];
    if (level == P_mapThreads)
        return &open->thread[axis];
    if (level == P_mapWarp)
        return &open->warp;
    if (level == P_mapLane)
        return &open->lane;
    return &open->global[axis];
}

bool level_is_open(const Lowering *lw, PrimId level, int axis)
{
    Levels open = lw->open;
    return *level_flag(&open, level, axis);
}

/* ---- loops ------------------------------------------------------------------------------------------------------------------- */

typedef struct Saved {
    ImpBlock *out;
    NatFacts *facts;
} Saved;

static Saved enter(Lowering *lw, ImpBlock *block)
{
    Saved saved = {lw->out, lw->facts};
    lw->out = block;
    lw->facts = nat_facts_new(lw->ctx, lw->facts);
    return saved;
}

static void leave(Lowering *lw, Saved saved)
{
    lw->out = saved.out;
    lw->facts = saved.facts;
}

static ImpStmt *emit_for(Lowering *lw, Span span, PrimId level, Nat var, Nat lo, Nat hi, Nat step)
{
    ImpStmt *s = lower_emit(lw, IS_FOR, span);
    s->loop.var = var;
    s->loop.lo = lo;
    s->loop.hi = hi;
    s->loop.step = step;
    s->loop.level = level;
    return s;
}

/* The elements i < n of a map whose element i is at instance number p(i) = i * stride + shift. */
typedef struct Elements {
    Nat n;
    Placement place;
    Nat end; /* p(n - 1) + 1 */
} Elements;

static Elements elements(Lowering *lw, Nat n, Placement place)
{
    Ctx *ctx = lw->ctx;
    Nat last = nat_add(ctx, nat_mul_k(ctx, nat_add_k(ctx, n, -1), place.stride), place.shift);
    return (Elements){n, place, nat_add_k(ctx, last, 1)};
}

static ImpExpr *both(Lowering *lw, ImpExpr *a, ImpExpr *b, Span span)
{
    return a && b ? imp_op2(lw->ctx, P_and, SC_BOOL, a, b, span) : a ? a : b;
}

/* What must hold of p so that it is p(i) of some element i; NULL: it always is. */
static ImpExpr *is_element(Lowering *lw, Span span, const Elements *e, Nat p)
{
    Ctx *ctx = lw->ctx;
    Nat lo = e->place.shift, stride = nat_const(ctx, e->place.stride);
    if (nat_is(e->n, 1))
        return nat_le(ctx, lw->facts, lo, p) && nat_le(ctx, lw->facts, p, lo) ? NULL : nat_cmp(lw, P_eq, p, lo, span);
    Nat hi = nat_add_k(ctx, e->end, e->place.stride - 1); /* the same numbers, in a rounder bound */
    bool small = nat_lt(ctx, lw->facts, lo, stride); /* then p % stride == lo, and is at least lo by that */
    ImpExpr *low = nat_le(ctx, lw->facts, lo, p) || small ? NULL : nat_cmp(lw, P_le, lo, p, span);
    ImpExpr *high = nat_lt(ctx, lw->facts, p, hi) ? NULL : nat_cmp(lw, P_lt, p, hi, span);
    ImpExpr *hit = NULL;
    if (e->place.stride > 1 && !nat_divides(ctx, lw->facts, stride, nat_sub(ctx, p, lo))) {
        hit = nat_cmp(lw, P_eq, nat_mod(ctx, small ? p : nat_sub(ctx, p, lo), stride), small ? lo : nat_const(ctx, 0), span);
    }
    return both(lw, both(lw, low, high, span), hit, span);
}

/* body(i) for the element at p, if there is one. */
static void guarded(Lowering *lw, Span span, const Elements *e, Nat p, LevelBody body, void *user)
{
    Ctx *ctx = lw->ctx;
    Nat stride = nat_const(ctx, e->place.stride);
    if (nat_le(ctx, lw->facts, e->end, p) || nat_lt(ctx, lw->facts, p, e->place.shift))
        return;
    ImpExpr *cond = is_element(lw, span, e, p);
    Saved saved = {lw->out, lw->facts};
    if (cond) {
        ImpStmt *s = lower_emit(lw, IS_IF, span);
        s->branch.cond = cond;
        saved = enter(lw, &s->branch.then);
        assume(lw, cond);
    }
    Nat i = nat_is(e->n, 1) ? nat_const(ctx, 0) : nat_simplify(ctx, lw->facts, nat_div(ctx, nat_sub(ctx, p, e->place.shift), stride));
    body(lw, i, user);
    leave(lw, saved);
}

static const char *level_var_name(PrimId level, int axis)
{
    static const char *const blocks[3] = {"block", "blockY", "blockZ"};
    static const char *const elements[3] = {"i", "j", "l"};
    return level == P_mapBlock ? blocks[axis] : level == P_mapWarp ? "w" : elements[axis];
}

/* mapBlock[once]: element i is on block i, and every block has one. */
static void level_once(Lowering *lw, const Core *map, Nat n, LevelBody body, void *user)
{
    Ctx *ctx = lw->ctx;
    const ImpKernel *k = lw->kernel;
    int axis = map->prim.options.axis;
    if (!nat_equal(ctx, lw->facts, n, k->blocks[axis])) {
        Diag *d = lower_error(lw, E0426, map->span, "mapBlock[once] over %s elements, in a launch of %s blocks", nat_text(ctx, n), nat_text(ctx, k->blocks[axis]));
        propose_without(ctx, d, map->span, P_mapBlock, "once", "leave `once` out: then a block takes several elements, or none");
        return;
    }
    Saved saved = {lw->out, lw->facts};
    lw->facts = nat_facts_new(ctx, lw->facts);
    nat_fact_le(ctx, lw->facts, nat_add_k(ctx, k->block[axis], 1), n);
    body(lw, k->block[axis], user);
    leave(lw, saved);
}

static void level_loop(Lowering *lw, const Core *map, const Elements *e, LevelBody body, void *user)
{
    Ctx *ctx = lw->ctx;
    PrimId level = map->prim.id;
    int axis = map->prim.options.axis;
    Nat count = level_count(lw, level, axis), id = level_id(lw, level, axis);
    Nat zero = nat_const(ctx, 0);
    Span span = map->span;
    if (nat_is_const(count) && nat_is_const(e->end)) {
        int64_t trips = nat_le(ctx, NULL, e->n, zero) ? 0 : div_up(e->end->value, count->value);
        if (trips <= 1) {
            if (trips == 1)
                guarded(lw, span, e, id, body, user);
            return;
        }
        Nat k = nat_var(ctx, "k", zero, nat_const(ctx, trips - 1));
        ImpStmt *s = emit_for(lw, span, level, k, zero, nat_const(ctx, trips), nat_const(ctx, 1));
        s->loop.unroll = trips <= MAX_UNROLLED_SLOTS;
        Saved saved = enter(lw, &s->loop.body);
        guarded(lw, span, e, nat_add(ctx, nat_mul(ctx, k, count), id), body, user);
        leave(lw, saved);
        return;
    }
    if (nat_is(e->n, 1) && nat_is(e->place.shift, 0)) { /* a grid of unknown size: its first instance does it */
        guarded(lw, span, e, id, body, user);
        return;
    }
    Nat p = nat_var(ctx, level_var_name(level, axis), zero, nat_add_k(ctx, e->end, -1));
    ImpStmt *s = emit_for(lw, span, level, p, id, e->end, count);
    if (level == P_mapBlock)
        lw->open.of_block[axis] = p;
    Saved saved = enter(lw, &s->loop.body);
    nat_fact_le(ctx, lw->facts, nat_add_k(ctx, p, 1), e->end);
    guarded(lw, span, e, p, body, user);
    leave(lw, saved);
}

bool level_each(Lowering *lw, const Core *map, Nat n, Placement place, LevelBody body, void *user)
{
    if (!level_fits(lw, map))
        return false;
    Levels saved = lw->open;
    Elements e = elements(lw, n, place);
    const Opened opened = {map, lw->open.inside};
    lw->open.inside = &opened;
    *level_flag(&lw->open, map->prim.id, map->prim.options.axis) = true;
    if (map->prim.options.once && !lw->alone)
        level_once(lw, map, n, body, user);
    else
        level_loop(lw, map, &e, body, user);
    lw->open = saved;
    return true;
}

void blocks_but_last_each(Lowering *lw, const Core *pattern, Nat n, LevelBody body, void *user)
{
    Ctx *ctx = lw->ctx;
    const ImpKernel *k = lw->kernel;
    Nat i = nat_var(ctx, level_var_name(P_mapBlock, 0), nat_const(ctx, 0), nat_add_k(ctx, n, -1));
    ImpStmt *s = emit_for(lw, pattern->span, P_mapBlock, i, k->block[0], n, nat_add_k(ctx, k->grid[0], -1));
    Levels open = lw->open;
    lw->open.block[0] = true;
    Saved saved = enter(lw, &s->loop.body);
    nat_fact_le(ctx, lw->facts, nat_add_k(ctx, i, 1), n);
    body(lw, i, user);
    leave(lw, saved);
    lw->open = open;
}

enum { MAX_COPIES = 256 }; /* of what stands in loops that are written out, one in the other; further in they stay loops (see pass unrolling) */

void seq_each(Lowering *lw, const Core *pattern, Nat n, bool unroll, LevelBody body, void *user)
{
    Ctx *ctx = lw->ctx;
    Nat zero = nat_const(ctx, 0);
    const ImpBlock *step = lw->step;
    if (nat_le(ctx, lw->facts, n, zero))
        return;
    int64_t copies = lw->copies ? lw->copies : 1;
    if (nat_is(n, 1) || (unroll && n->value <= MAX_COPIES / copies)) {
        lw->step = lw->out;
        lw->copies = copies * n->value;
        for (int64_t i = 0; i < n->value; i++)
            body(lw, nat_const(ctx, i), user);
        lw->copies = copies;
        lw->step = step;
        return;
    }
    Nat i = nat_var(ctx, "i", zero, nat_add_k(ctx, n, -1));
    ImpStmt *s = emit_for(lw, pattern->span, pattern->prim.id, i, zero, n, nat_const(ctx, 1));
    s->loop.unroll = nat_is_const(n) && n->value <= MAX_UNROLLED_SLOTS;
    Saved saved = enter(lw, &s->loop.body);
    nat_fact_le(ctx, lw->facts, nat_add_k(ctx, i, 1), n);
    lw->step = lw->out;
    body(lw, i, user);
    lw->step = step;
    leave(lw, saved);
}

bool single_writer(const Lowering *lw, bool grid_wide, const char **missing)
{
    static const char *const threads[3] = {"mapThreads", "mapThreads[y]", "mapThreads[z]"};
    static const char *const blocks[3] = {"mapBlock", "mapBlock[y]", "mapBlock[z]"};
    const ImpKernel *k = lw->kernel;
    const Levels *o = &lw->open;
    bool by_warp = o->lane && (o->warp || total_threads(lw) <= k->lanes);
    for (int a = 0; a < 3; a++)
        if (k->threads[a] > 1 && !by_warp && !o->thread[a] && !o->global[a]) {
            *missing = o->warp ? "mapLane" : threads[a];
            return false;
        }
    for (int a = 0; grid_wide && a < 3; a++)
        if (!lw->alone && !nat_is(k->blocks[a], 1) && !o->block[a] && !o->global[a]) {
            *missing = blocks[a];
            return false;
        }
    return true;
}
