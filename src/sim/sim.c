/* Sets up a launch: results, workspace, the grid of each kernel, its shared memory and its warps. */
#include "codegen/index_guards.h"
#include "sim/sim_internal.h"

#include "support/context.h"

/* ---- values known at launch ------------------------------------------------------------------------------------------ */

static bool value_of(void *user, Nat var, int64_t *value)
{
    const Run *run = user;
    const CoreEntry *entry = run->program->entry;
    for (int i = 0; i < entry->n_sizes; i++)
        if (entry->sizes[i] == var) {
            *value = run->launch->sizes[i];
            return true;
        }
    for (int a = 0; a < 3; a++)
        if (run->kernel->grid[a] == var) {
            *value = run->grid[a];
            return true;
        }
    return launch_device_value(run->launch, var, value);
}

/* A nat over sizes and the grid: how large something of the kernel is. False with a diagnostic. */
static bool launch_size(Run *run, Nat nat, Span span, const char *what, const char *name, int64_t *value)
{
    NatEval how = nat_eval(nat, value_of, run, value);
    if (how == NAT_EVAL_OK && *value >= 0)
        return true;
    if (how == NAT_EVAL_OVERFLOW)
        diag_error(run->ctx, E0642, span, "%s of %s, %s, needs more than 64 bits", what, name, nat_text(run->ctx, nat));
    else
        sim_bug(run, span, "%s of %s is %s, which has no value that makes sense at launch", what, name, nat_text(run->ctx, nat));
    run->failed = true;
    return false;
}

static bool set_grid(Run *run)
{
    static const int64_t limits[3] = {INT32_MAX, 65535, 65535};
    const ImpKernel *k = run->kernel;
    int64_t resident = run->launch->max_resident > 0 ? run->launch->max_resident : LAUNCH_RESIDENT_BLOCKS; /* what is left of them for the next axis */
    run->blocks = 1;
    for (int a = 2; a >= 0; a--) {
        int64_t blocks = 1, wanted = run->options->grid[a], most = wanted > 0 ? limits[a] : kernel_max_grid(k, a);
        if (k->blocks[a] && !launch_nat(run->ctx, run->program->entry, run->launch, k->blocks[a], &blocks)) {
            run->failed = true;
            return false;
        }
        if (wanted > 0 && blocks > 0 && k->grid[a] && k->grid[a]->kind == NAT_VAR && !k->once[a])
            blocks = wanted;
        run->grid[a] = blocks < 0 ? 0 : blocks < most ? blocks : most;
        if (k->cooperative && wanted <= 0)
            run->grid[a] = run->grid[a] < resident ? run->grid[a] : resident;
        if (a == 0 && k->least_blocks > 1)
            run->grid[a] = exchange_blocks(run, run->grid[a]);
        if (run->grid[a] > 0)
            resident /= run->grid[a] < resident ? run->grid[a] : resident;
        if (!mul_fits(run->blocks, run->grid[a], &run->blocks))
            run->blocks = INT64_MAX; /* more than can be run */
    }
    if (k->cooperative && run->blocks > LIMIT_RESIDENT_BLOCKS) {
        diag_error(run->ctx, E0641, run->program->entry->name_span, "%s: %lld blocks that wait for each other, and the simulator runs %d at once", k->name,
                   (long long)run->blocks, LIMIT_RESIDENT_BLOCKS);
        run->failed = true;
        return false;
    }
    return true;
}

static bool set_threads(Run *run)
{
    const ImpKernel *k = run->kernel;
    int64_t threads = 1;
    for (int a = 0; a < 3; a++) {
        if (k->threads[a] < 1 || k->threads[a] > SIM_MAX_THREADS)
            threads = SIM_MAX_THREADS + 1;
        else
            threads *= k->threads[a];
    }
    if (threads > SIM_MAX_THREADS) {
        diag_error(run->ctx, E0641, run->program->entry->name_span, "%s: a block of %d x %d x %d threads; devices have %d at most", k->name,
                   k->threads[0], k->threads[1], k->threads[2], SIM_MAX_THREADS);
        run->failed = true;
    } else if (threads != 1 && threads % WARP) {
        sim_bug(run, run->program->entry->name_span, "the kernel `%s` has %lld threads, which is no number of warps", k->name,
                (long long)threads);
    }
    run->n_warps = (int)((threads + WARP - 1) / WARP);
    return !run->failed;
}

/* ---- memory ---------------------------------------------------------------------------------------------------------- */

/* Which of two buffers that change places a kernel gets. */
static const ImpBuf *buffer_now(Run *run, const ImpBuf *buf)
{
    int64_t turns = 0;
    if (buf->swap)
        run->failed |= !launch_nat(run->ctx, run->program->entry, run->launch, buf->turns, &turns);
    return turns % 2 ? buf->swap : buf;
}

static Global *find_global(Run *run, const ImpBuf *buf)
{
    for (int i = 0; i < run->globals.n; i++) {
        Global *g = &run->globals.at[i];
        if (g->space == buf->space && (buf->space == SPACE_OUTPUT ? g->component == buf->component : strcmp(g->name, buf->name) == 0))
            return g;
    }
    return NULL;
}

static bool too_large(Ctx *ctx, Span span, const char *name, int64_t count)
{
    if (count <= INT32_MAX)
        return false;
    diag_error(ctx, E0642, span, "%s has %lld elements, and the simulator counts what kernels write in 32 bits: up to %d", name, (long long)count, INT32_MAX);
    return true;
}

/* A shadow is larger than its cell; what would push everything else out of memory is refused. count <= INT32_MAX. */
static bool too_much(Ctx *ctx, int64_t max_bytes, Span span, const char *name, int64_t count, int64_t *bytes)
{
    _Static_assert(SIM_WATCH_BYTES == sizeof(Shadow) + 8, "the shadow and the cell's value");
    int64_t most = max_bytes ? max_bytes : LIMIT_GLOBAL_BYTES;
    *bytes += count * SIM_WATCH_BYTES;
    bool many = *bytes >= (int64_t)10 << 30;
    if (*bytes <= most)
        return false;
    diag_error(ctx, E0644, span, "%s has %lld elements, and the simulator would need %lld %s to watch them", name, (long long)count,
               (long long)(*bytes >> (many ? 30 : 20)), many ? "GiB" : "MiB");
    return true;
}

bool sim_takes_results(Ctx *ctx, const CoreEntry *entry, const Launch *launch, int64_t max_bytes, HostBuf *results)
{
    int64_t bytes = 0;
    for (int k = 0; k < type_component_count(entry->result); k++)
        if (!launch_buffer(ctx, entry, launch, type_component(ctx, entry->result, k), &results[k], false) ||
            too_large(ctx, entry->name_span, "result", results[k].count) ||
            too_much(ctx, max_bytes, entry->name_span, "result", results[k].count, &bytes))
            return false;
    return true;
}

static bool set_input(Run *run, const ImpBuf *buf, int64_t count, Mem *mem)
{
    const Launch *l = run->launch;
    if (buf->component < 0 || buf->component >= l->n_buffers || l->buffers[buf->component].elem != buf->elem ||
        l->buffers[buf->component].count != count) {
        sim_bug(run, buf->span, "the kernel takes the input %s as another array than it is", buf->name);
        return false;
    }
    mem->bytes = l->buffers[buf->component].bytes;
    return true;
}

static bool set_global(Run *run, const ImpBuf *buf, int64_t count, Mem *mem)
{
    const Launch *l = run->launch;
    buf = buffer_now(run, buf);
    Global *g = find_global(run, buf);
    if (buf->space == SPACE_OUTPUT &&
        (buf->component < 0 || buf->component >= l->n_results || l->results[buf->component].elem != buf->elem ||
         l->results[buf->component].count != count)) {
        sim_bug(run, buf->span, "the kernel takes the result %s as another array than it is", buf->name);
        return false;
    }
    if (!g) {
        run->failed |= too_much(run->ctx, run->options->max_bytes, buf->span, buf->name, count, &run->global_bytes);
        if (run->failed)
            return false;
        Global new_one = {.space = buf->space, .component = buf->component, .name = buf->name, .elem = buf->elem, .count = count, .buf = buf};
        new_one.bytes = buf->space == SPACE_OUTPUT ? l->results[buf->component].bytes
                                                   : arena_alloc(run->lasting, (size_t)count * (size_t)scalar_bytes(buf->elem));
        if (buf->zero)
            memset(new_one.bytes, 0, (size_t)count * (size_t)scalar_bytes(buf->elem));
        new_one.shadow = ARENA_NEWN(run->lasting, Shadow, count);
        if (run->options->roundings)
            new_one.counts = ARENA_NEWN(run->lasting, uint32_t, count);
        run_push(run->lasting, &run->globals, new_one);
        g = &run->globals.at[run->globals.n - 1];
    } else if (g->elem != buf->elem) {
        sim_bug(run, buf->span, "%s has elements of several types", buf->name);
        return false;
    }
    mem->count = g->count < count ? g->count : count;
    mem->bytes = g->bytes;
    mem->shadow = g->shadow;
    mem->counts = g->counts;
    return true;
}

typedef struct Shared {
    int64_t bytes;    /* of a block */
    int64_t planned;  /* of these, where memory planning puts buffers */
    int64_t unplaced; /* where buffers go that have no place yet */
    int granule;      /* bytes that one shadow stands for */
} Shared;

/* The bytes of a block. Buffers that memory planning has not seen yet get a place behind those it has. */
static bool plan_shared(Run *run, Shared *s)
{
    const ImpKernel *k = run->kernel;
    const ImpBuf *largest = NULL;
    int64_t largest_bytes = 0;
    *s = (Shared){.granule = 8};
    if (k->shared_bytes && !launch_size(run, k->shared_bytes, run->program->entry->name_span, "the shared memory", k->name, &s->planned))
        return false;
    if (s->planned <= SIM_MAX_SHARED)
        s->bytes = s->unplaced = (s->planned + 15) / 16 * 16;
    for (int i = 0; i < k->bufs.n; i++) {
        const ImpBuf *buf = k->bufs.at[i];
        int64_t count;
        if (buf->space != SPACE_SHARED)
            continue;
        if (!launch_size(run, buf->count, buf->span, "the length", buf->name, &count))
            return false;
        if (scalar_bytes(buf->elem) < s->granule)
            s->granule = scalar_bytes(buf->elem);
        if (buf->span.file && count <= INT64_MAX / 16 && count * scalar_bytes(buf->elem) > largest_bytes) {
            largest = buf;
            largest_bytes = count * scalar_bytes(buf->elem);
        }
        if (!buf->offset)
            s->bytes += count > SIM_MAX_SHARED ? SIM_MAX_SHARED + 16 : (count * scalar_bytes(buf->elem) + 15) / 16 * 16;
    }
    int64_t needed = s->bytes > s->unplaced && s->bytes > s->planned ? s->bytes : s->planned;
    if (needed <= SIM_MAX_SHARED)
        return true;
    Diag *diag = diag_error(run->ctx, E0641, largest ? largest->span : run->program->entry->name_span,
                            "%s needs %lld bytes of shared memory in each block, and a block has %d at most", k->name, (long long)needed, SIM_MAX_SHARED);
    if (largest)
        diag_label(run->ctx, diag, "%s elements of %d bytes", nat_text(run->ctx, largest->count), scalar_bytes(largest->elem));
    diag_help(run->ctx, diag, "run it with smaller sizes, or store smaller pieces: `split` cuts rows into parts, before `toShared`");
    run->failed = true;
    return false;
}

static bool place_shared(Run *run, const ImpBuf *buf, int64_t count, Shared *s, unsigned char *bytes, Shadow *shadow, Mem *mem)
{
    int64_t offset = s->unplaced, end = buf->offset ? s->planned : s->bytes;
    if (!buf->offset)
        s->unplaced += (count * mem->cell_bytes + 15) / 16 * 16;
    else if (!launch_size(run, buf->offset, buf->span, "the place", buf->name, &offset))
        return false;
    if (offset % mem->cell_bytes || offset > end || count > (end - offset) / mem->cell_bytes) {
        sim_bug(run, buf->span, "%s (%lld cells of %d bytes) was placed at byte %lld of %lld", buf->name, (long long)count, mem->cell_bytes,
                (long long)offset, (long long)end);
        return false;
    }
    mem->bytes = bytes + offset;
    mem->shadow = shadow + offset / s->granule;
    mem->granules = mem->cell_bytes / s->granule;
    mem->base = offset;
    mem->shared = true;
    if (run->options->roundings)
        mem->counts = ARENA_NEWN(run->arena, uint32_t, count);
    return true;
}

static bool set_memory(Run *run)
{
    const ImpKernel *k = run->kernel;
    Shared s;
    if (!plan_shared(run, &s))
        return false;
    unsigned char *bytes = arena_alloc(run->arena, (size_t)s.bytes);
    Shadow *shadow = ARENA_NEWN(run->arena, Shadow, s.bytes / s.granule);
    run->mems = ARENA_NEWN(run->arena, Mem, k->bufs.n);
    for (int i = 0; i < k->bufs.n; i++) {
        const ImpBuf *buf = k->bufs.at[i];
        Mem *mem = &run->mems[i];
        int64_t count;
        bool counted = !run->kernel->wide || buf->space != SPACE_INPUT;
        run->failed |= !launch_size(run, buf->count, buf->span, "the length", buf->name, &count) || (counted && too_large(run->ctx, buf->span, buf->name, count));
        if (run->failed)
            return false;
        *mem = (Mem){.buf = buf, .count = count, .cell_bytes = scalar_bytes(buf->elem), .granules = 1};
        bool good = buf->space == SPACE_INPUT    ? set_input(run, buf, count, mem)
                    : buf->space == SPACE_SHARED ? place_shared(run, buf, count, &s, bytes, shadow, mem)
                                                 : set_global(run, buf, count, mem);
        if (!good)
            return false;
    }
    return true;
}

/* ---- warps ----------------------------------------------------------------------------------------------------------- */

static void set_thread_ids(const Run *run, Warp *w)
{
    const Code *code = run->code;
    const int *t = run->kernel->threads, lanes = run->kernel->lanes;
    for (int l = 0; l < WARP; l++) {
        int linear = w->number * WARP + l;
        int at[3] = {linear % t[0], linear / t[0] % t[1], linear / t[0] / t[1]};
        for (int a = 0; a < 3; a++)
            if (code->thread_reg[a] == NO_REG)
                continue;
            else if (code->thread_reg[a] >= 0)
                w->v[code->thread_reg[a]].i[l] = at[a];
            else
                w->s[~code->thread_reg[a]] = at[a];
        if (code->lane_reg != NO_REG)
            w->v[code->lane_reg].i[l] = l % lanes;
        if (code->warp_reg == NO_REG)
            continue;
        if (code->warp_reg >= 0)
            w->v[code->warp_reg].i[l] = linear / lanes;
        else
            w->s[~code->warp_reg] = linear / lanes;
    }
}

static void set_warps(Run *run)
{
    const Code *code = run->code;
    const int *t = run->kernel->threads;
    bool one = t[0] * t[1] * t[2] == 1;
    run->warps = ARENA_NEWN(run->arena, Warp, run->n_warps);
    for (int n = 0; n < run->n_warps; n++) {
        Warp *w = &run->warps[n];
        w->number = n;
        w->all = one ? 1 : FULL_MASK;
        w->v = ARENA_NEWN(run->arena, Lanes, code->n_vectors);
        w->s = ARENA_NEWN(run->arena, int64_t, code->n_scalars);
        w->masks = ARENA_NEWN(run->arena, uint32_t, code->n_masks);
        w->set = ARENA_NEWN(run->arena, uint32_t, code->n_vectors);
        w->life = ARENA_NEWN(run->arena, uint32_t, run->kernel->bufs.n);
        if (run->options->roundings)
            w->counts = arena_alloc(run->arena, sizeof *w->counts * (size_t)code->n_vectors);
        for (int i = 0; i < code->vectors.n; i++)
            for (int l = 0; l < WARP; l++)
                w->v[code->vectors.at[i].reg].u[l] = code->vectors.at[i].bits;
        for (int i = 0; i < code->scalars.n; i++)
            w->s[code->scalars.at[i].reg] = (int64_t)code->scalars.at[i].bits;
        set_thread_ids(run, w);
    }
}

bool set_resident(Run *run, Resident *block)
{
    if (!set_memory(run))
        return false;
    set_warps(run);
    *block = (Resident){.warps = run->warps, .mems = run->mems};
    return true;
}

/* ---- the run ----------------------------------------------------------------------------------------------------------- */

static void run_kernel(Run *run, const ImpKernel *kernel)
{
    run->kernel = kernel;
    run->index_max = kernel->wide ? INT64_MAX / 4 : INT32_MAX;
    run->code = ARENA_NEW(run->arena, Code);
    if (!set_grid(run) || run->blocks == 0)
        return;
    if (!set_threads(run) || !set_memory(run) || !compile_kernel(run, run->code))
        return;
    set_warps(run);
    run->tickets = ARENA_NEWN(run->arena, Tickets, kernel->bufs.n);
    run->exchanges = ARENA_NEWN(run->arena, Exchange, kernel->bufs.n);
    count_begin(run);
    run_grid(run);
    if (!run->stop)
        exchange_check(run);
    count_end(run);
}

/* What no thread wrote, after the last kernel. */
static void check_results(Run *run)
{
    static const int64_t shown = 3;
    Ctx *ctx = run->ctx;
    for (int k = 0; k < run->launch->n_results; k++) {
        const HostBuf *result = &run->launch->results[k];
        const Global *g = NULL;
        for (int i = 0; i < run->globals.n; i++)
            if (run->globals.at[i].space == SPACE_OUTPUT && run->globals.at[i].component == k)
                g = &run->globals.at[i];
        int64_t missing = 0, first = -1;
        StrBuf cells;
        sb_init(&cells, ctx);
        for (int64_t i = 0; i < result->count; i++) {
            ctx_look_at(ctx, i);
            if (g && g->shadow[i].w_era)
                continue;
            if (missing++ < shown)
                sb_printf(&cells, "%s%lld", missing > 1 ? ", " : "", (long long)i);
            if (first < 0)
                first = i;
        }
        if (!missing)
            continue;
        FindingPlace place = {-1, -1, NO_SITE, NO_SITE, -1, g ? g->buf : NULL, first};
        const char *name = g ? g->name : "the result";
        sim_find(run, SIM_OUTPUT_UNWRITTEN, place, "%s: no thread writes %lld of its %lld cells (%s%s)", name, (long long)missing,
                 (long long)result->count, cells.text, missing > shown ? ", ..." : "");
    }
}

static bool fits_narrow(Run *run, const ImpKernel *kernel)
{
    return index_guards_admit(run->program->entry, index_guards(run->ctx, kernel), run->launch, false);
}

/* Number `form` of the bodies, with the indices that the sizes need. */
static const ImpKernel *chosen_form(Run *run, const ImpKernel *kernel)
{
    for (int k = 0; k < run->options->form && kernel->otherwise; k++) {
        const ImpKernel *next = imp_wide_twin(kernel) ? imp_wide_twin(kernel)->otherwise : kernel->otherwise;
        if (!next)
            break;
        kernel = next;
    }
    const ImpKernel *twin = imp_wide_twin(kernel);
    return twin && !fits_narrow(run, kernel) ? twin : kernel;
}

static void run_launch(Run *run, const ImpLaunch *place)
{
    ImpKernel *kernel;
    run->failed |= !imp_choose(run->ctx, run->program->entry, place, run->launch, &kernel);
    if (kernel && !run->failed)
        run_kernel(run, chosen_form(run, kernel));
    arena_free(run->arena);
    arena_init(run->arena, run->ctx);
}

/* Launches from number i on, again and again where they are a group; gives how many they are. */
static int run_launches(Run *run, int i)
{
    const ImpLaunch *places = &run->program->launches.at[i];
    int n = imp_group_size(run->program, i);
    int64_t count = 1;
    if (places->group)
        run->failed |= !launch_nat(run->ctx, run->program->entry, run->launch, places->group->count, &count);
    for (int64_t turn = 0; turn < count; turn++) {
        run->launch->turn = turn;
        for (int k = 0; k < n && !run->failed && !run->stop; k++)
            run_launch(run, &places[k]);
        if (run->failed || run->stop)
            break;
    }
    return n;
}

/* Inputs whose memory results take, for this run: the caller's stay as they are. */
static void lay_over(Run *run)
{
    Launch *l = run->launch;
    HostBuf *buffers = NEWN(run->ctx, HostBuf, l->n_buffers + 1);
    memcpy(buffers, l->buffers, sizeof *buffers * (size_t)l->n_buffers);
    l->buffers = buffers;
    for (int i = 0; i < l->n_buffers; i++) {
        const HostBuf *result = run->options->over[i] ? &l->results[run->options->over[i] - 1] : NULL;
        size_t bytes = (size_t)buffers[i].count * (size_t)scalar_bytes(buffers[i].elem);
        if (!result || !bytes)
            continue;
        memcpy(result->bytes, buffers[i].bytes, bytes);
        buffers[i].bytes = result->bytes;
    }
}

static void sim_body(Ctx *ctx, void *user)
{
    Run *run = user;
    Launch *launch = run->launch;
    const CoreEntry *entry = run->program->entry;
    if (run->options->profile)
        run->report->profile = NEW(ctx, SimProfile);
    run->failed = !launch_check(ctx, entry, launch) || !index_guards_take(ctx, run->program, launch);
    if (run->failed)
        return;
    launch->n_results = type_component_count(entry->result);
    launch->results = NEWN(ctx, HostBuf, launch->n_results);
    /* Every result is measured before the first one takes memory. */
    run->failed = !sim_takes_results(ctx, entry, launch, run->options->max_bytes, launch->results);
    for (int k = 0; k < launch->n_results && !run->failed; k++)
        run->failed = !launch_buffer(ctx, entry, launch, type_component(ctx, entry->result, k), &launch->results[k], true);
    if (run->options->over && !run->failed)
        lay_over(run);
    for (int i = 0; i < run->program->launches.n && !run->failed && !run->stop;)
        i += run_launches(run, i);
    count_finish(run);
    if (run->failed)
        return;
    if (run->stop && run->found < run->max_findings) {
        diag_error(ctx, E0643, entry->name_span, "%s: given up after %llu instructions of warps", entry->name,
                   (unsigned long long)run->report->warp_instructions);
        run->failed = true;
    } else if (!run->stop)
        check_results(run);
    if (run->options->roundings)
        run->report->roundings = most_roundings(run);
}

bool sim_run(Ctx *ctx, const ImpProgram *program, Launch *launch, const SimOptions *options, SimReport *report)
{
    static const SimOptions defaults;
    Arena lasting, arena;
    arena_init(&lasting, ctx);
    arena_init(&arena, ctx);
    if (!options)
        options = &defaults;
    memset(report, 0, sizeof *report);
    Run run = {.ctx = ctx, .lasting = &lasting, .arena = &arena, .program = program, .launch = launch, .options = options, .report = report};
    run.max_findings = options->max_findings > 0 ? options->max_findings : SIM_MAX_FINDINGS;
    run.steps_left = options->max_steps ? options->max_steps : UINT64_MAX;
    run.random = options->seed;
    HostBuf *given = launch->buffers;
    bool enough = ctx_try(ctx, sim_body, &run);
    launch->buffers = given;
    arena_free(&arena);
    arena_free(&lasting);
    if (!enough)
        ctx_out_of_memory(ctx);
    return !run.failed && run.found == 0;
}
