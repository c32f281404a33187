#include "rewrite/rewrite.h"
#include "codegen/contraction.h"
#include "codegen/imp_verify.h"
#include "codegen/index_guards.h"
#include "codegen/lowering.h"
#include "codegen/walk.h"

typedef struct PassRow {
    const char *name;
    void (*run)(Lowering *lw); /* NULL: it takes all kernels of the program */
    bool needed; /* kernels cannot do without what it makes */
} PassRow;

static const PassRow passes[PASS_COUNT] = {
    [PASS_TRANSLATE] = {"translate", pass_translate, true},
    [PASS_PREFETCH] = {"prefetch", pass_prefetch, true},
    [PASS_LITERALS] = {"literals", pass_literals},
    [PASS_LOOPS] = {"loops", pass_loops},
    [PASS_REGISTERS] = {"registers", pass_registers},
    [PASS_CONDITIONS] = {"conditions", pass_conditions},
    [PASS_UNITS] = {"units", pass_units},
    [PASS_ONE_TILE] = {"one_tile", pass_one_tile},
    [PASS_MEMORY] = {"memory", pass_memory, true},
    [PASS_BARRIERS] = {"barriers", pass_barriers, true},
    [PASS_SINK] = {"sink", pass_sink},
    [PASS_APART] = {"apart", pass_apart},
    [PASS_STRIDES] = {"strides", pass_strides},
    [PASS_TILES] = {"tiles", pass_tiles},
    [PASS_UNROLLING] = {"unrolling", pass_unrolling},
    [PASS_VALUES] = {"values", pass_values},
    [PASS_ROLL] = {"roll", pass_roll},
    [PASS_ZEROS] = {"zeros", pass_zeros},
    [PASS_INDICES] = {"indices", pass_indices},
    [PASS_DEAD] = {"dead", pass_dead},
    [PASS_DIVISIONS] = {"divisions", pass_divisions},
    [PASS_STEPS] = {"steps", pass_steps},
    [PASS_NAMES] = {"names", pass_names, true},
    [PASS_OUTLINE] = {"outline", NULL}};

const char *lower_pass_name(LowerPass pass) { return passes[pass].name; }

bool lower_pass_is_needed(LowerPass pass) { return passes[pass].needed; }

LowerPass lower_pass_find(const char *name)
{
    int p = 0;
    while (p < PASS_COUNT && strcmp(passes[p].name, name))
        p++;
    return (LowerPass)p;
}

/* What does not fit into 64 bits is no number any more, and has no text. */
static void refuse_lost(Lowering *lw)
{
    Span where;
    const ImpBuf *buf = imp_lost_buffer(lw->ctx, lw->kernel);
    if (buf) {
        Diag *d = lower_error(lw, E0504, buf->span.file ? buf->span : lw->entry->name_span, "the size of `%s` in bytes is more than 64 bits can hold", buf->name);
        diag_help(lw->ctx, d, "make one of its sizes smaller, or let fewer sizes be multiplied in it");
    } else if (imp_lost_number(lw->kernel, &where)) {
        Diag *d = lower_error(lw, E0504, where.file ? where : lw->entry->name_span, "an index or a size that `%s` computes here is more than 64 bits can hold", lw->entry->name);
        diag_help(lw->ctx, d, "make the sizes that are multiplied for it smaller, or store an array between the views: `toGlobal`, `nextKernel`");
    }
}

/* More private memory than a thread can have. */
static void refuse_private(Lowering *lw)
{
    PrivateMemory memory = private_memory(lw->ctx, lw->kernel);
    if (memory.bytes <= LOCAL_MEMORY_MAX)
        return;
    Diag *d = lower_error(lw, E0411, memory.largest->span.file ? memory.largest->span : lw->entry->name_span,
                          "the private arrays of each thread take %lld bytes at once: no thread has more than %d", (long long)memory.bytes, LOCAL_MEMORY_MAX);
    diag_help(lw->ctx, d, "keep some of them in memory, `toShared` or `toGlobal`, or work on smaller pieces");
}

/* What the pass has made of the kernel is one: see imp_verify.c. Of cells whose number is lost nothing can be said. */
static void verify(Lowering *lw, int pass)
{
    Span where;
    const char *fault = lw->failed ? NULL : imp_verify(lw->ctx, lw->kernel, &where);
    if (fault)
        refuse_lost(lw);
    if (fault == imp_lost_lanes && lw->kernel->lanes != WARP_LANES && !lw->failed) {
        Diag *d = lower_error(lw, E0412, where, "the parts of a warp may take different branches here, and all its lanes have to get to a shuffle");
        diag_help(lw->ctx, d, "reduce before the `if`, and choose afterwards: `let s = ... |> reduceWarp(op) in if c then s[0] else ...`");
    }
    if (fault && !lw->failed)
        lower_error(lw, E0510, where, "after the pass `%s`: %s", passes[pass].name, fault);
}

static ImpProgram *lower_program(Ctx *ctx, const CoreEntry *entry, const LowerPlan *plan)
{
    Lowering lw = {.ctx = ctx, .entry = entry, .users = entry->name_span, .program = NEW(ctx, ImpProgram)};
    lw.program->entry = entry;
    pass_translate(&lw);
    for (int k = 0; k < lw.program->kernels.n; k++) {
        lw.kernel = lw.program->kernels.at[k];
        lw.any_block = kernel_has_blocks(lw.kernel);
        imp_own_all(ctx, &lw.kernel->body); /* passes change expressions where they stand, and the translation may use one in several statements */
        number_from_last(&lw);
        verify(&lw, PASS_TRANSLATE);
        for (int p = PASS_TRANSLATE + 1; p < PASS_COUNT; p++)
            for (int i = 0; passes[p].run && i < plan->times[p] && !lw.failed; i++) {
                passes[p].run(&lw);
                verify(&lw, p);
            }
        if (!lw.failed) {
            refuse_lost(&lw);
            refuse_private(&lw);
            fit_blocks(ctx, lw.kernel);
        }
    }
    return lw.failed ? NULL : lw.program;
}

ImpProgram *lower_quietly(Ctx *ctx, const CoreEntry *entry)
{
    Diags before = ctx->diags;
    ImpProgram *program = lower_entry(ctx, entry, (LowerPass)(PASS_COUNT - 1));
    ctx->diags = before;
    return program;
}

typedef VEC(Diag *) DiagList;

/* Takes the diagnostics since `before` away. */
static DiagList take_diags(Ctx *ctx, const Diags *before)
{
    DiagList list = {0};
    for (int i = before->list.n; i < ctx->diags.list.n; i++)
        vec_push(ctx, &list, ctx->diags.list.at[i]);
    ctx->diags = *before;
    return list;
}

/* Note [Tried and taken]. A strategy asks whether kernels can be made of an entry, `lowers`, by making them. Mostly it is what is compiled then, and
 * lowering is the most of a compilation: so these kernels are kept, with what was said of them, until something is lowered. */
typedef struct TriedLowering {
    const CoreEntry *entry;
    ImpProgram *program;
    DiagList said;
} TriedLowering;

bool lower_rewritten(Ctx *ctx, const CoreEntry *entry)
{
    CoreEntry *own = NEW(ctx, CoreEntry);
    TriedLowering *tried = NEW(ctx, TriedLowering);
    LowerPlan all = lower_plan((LowerPass)(PASS_COUNT - 1));
    const Diags before = ctx->diags;
    *own = *entry;
    tried->entry = own;
    tried->program = lower_program(ctx, rounded_operations(ctx, own), &all);
    tried->said = take_diags(ctx, &before);
    ctx->tried = tried->program ? tried : NULL;
    return tried->program != NULL;
}

/* Is it the same declaration, with the same term and launch? */
static bool is_tried(const CoreEntry *a, const CoreEntry *b)
{
    return a->item == b->item && a->known == b->known && a->sizes == b->sizes && a->inputs == b->inputs && a->tunable_values == b->tunable_values &&
           a->n_classes == b->n_classes && a->exact == b->exact && a->num_sm == b->num_sm && a->max_resident == b->max_resident && a->costs == b->costs && a->body == b->body &&
           a->launch.blocks == b->launch.blocks && a->launch.threads == b->launch.threads && a->launch.min_blocks == b->launch.min_blocks;
}

/* Each pass once? */
static bool is_usual(const LowerPlan *plan)
{
    bool usual = true;
    for (int p = 0; p < PASS_COUNT; p++)
        usual &= plan->times[p] == 1;
    return usual;
}

/* The kernels of the entry, where they have been made already; else NULL. */
static ImpProgram *take_tried(Ctx *ctx, const CoreEntry *entry, const LowerPlan *plan)
{
    const TriedLowering *tried = ctx->tried;
    ctx->tried = NULL;
    if (!tried || !is_usual(plan) || !is_tried(tried->entry, entry))
        return NULL;
    for (int i = 0; i < tried->said.n; i++)
        diag_again(ctx, tried->said.at[i]);
    return tried->program;
}

/* The same kernel under another name. */
static ImpKernel *twin(Ctx *ctx, const ImpKernel *k, const char *name)
{
    ImpKernel *twin = NEW(ctx, ImpKernel);
    *twin = *k;
    twin->name = name;
    twin->otherwise = NULL;
    return twin;
}

/* For sizes whose indices need more than 31 bits; NULL when there are none, or the host could not tell. */
static ImpKernel *wide_twin(Ctx *ctx, ImpKernel *k)
{
    k->guards = index_guards(ctx, k);
    for (int i = 0; i < k->guards->at_most_max.n; i++)
        k->wide |= nat_le(ctx, k->known, nat_const(ctx, INDEX_MAX + 1), k->guards->at_most_max.at[i]); /* it never fits */
    if (k->wide || index_guards_hold(ctx, k))
        return NULL;
    ImpKernel *wide = twin(ctx, k, ctx_printf(ctx, "%s_64", k->name));
    wide->wide = true;
    return wide;
}

/* Kernels with a guard get forms without: for wide indices, and for buffers that are not aligned, which then has wide indices, too. */
static void add_forms(Ctx *ctx, const ImpProgram *program)
{
    for (int i = 0; i < program->kernels.n; i++) {
        ImpKernel *k = program->kernels.at[i], *wide = wide_twin(ctx, k), *last = wide ? wide : k;
        k->otherwise = wide;
        if (!imp_has_guard(k))
            continue;
        last->otherwise = twin(ctx, last, ctx_printf(ctx, "%s_unaligned", k->name));
        last->otherwise->unaligned = true;
    }
}

/* A fault in what the program itself says of levels and memory is told of its own text: what a strategy makes of it, in order to lower the rest, may be
 * wrong in another place. `before`: what was said before the strategy's result was lowered, which is told of where the text has no fault. */
static void tell_of_text(Ctx *ctx, const CoreEntry *entry, Diags before, const LowerPlan *plan)
{
    const DiagList of_result = take_diags(ctx, &before);
    lower_program(ctx, entry, plan);
    const DiagList of_text = take_diags(ctx, &before);
    for (int i = 0; i < of_text.n; i++)
        if (!of_text.at[i]->high && !of_text.at[i]->warning)
            diag_again(ctx, of_text.at[i]);
    bool none = ctx->diags.errors == before.errors;
    for (int i = 0; i < of_result.n && none; i++)
        diag_again(ctx, of_result.at[i]);
}

LowerPlan lower_plan(LowerPass last)
{
    LowerPlan plan = {{0}};
    for (int p = 0; p <= (int)last && p < PASS_COUNT; p++)
        plan.times[p] = 1;
    return plan;
}

ImpProgram *lower_entry(Ctx *ctx, const CoreEntry *entry, LowerPass last)
{
    LowerPlan plan = lower_plan(last);
    return lower_entry_by(ctx, entry, &plan);
}

ImpProgram *lower_entry_by(Ctx *ctx, const CoreEntry *entry, const LowerPlan *plan)
{
    const CoreEntry *marked = rounded_copies(ctx, entry), *rewritten = rewritten_entry(ctx, marked);
    if (!rewritten)
        return NULL;
    const Diags before = ctx->diags;
    ImpProgram *program = take_tried(ctx, rewritten, plan);
    if (!program)
        program = lower_program(ctx, rounded_operations(ctx, rewritten), plan);
    if (program && plan->times[PASS_NAMES]) {
        add_forms(ctx, program);
        share_kernels(ctx, program);
        for (int i = 0; i < plan->times[PASS_OUTLINE]; i++)
            outline(ctx, program);
    }
    if (!program && rewritten != marked)
        tell_of_text(ctx, entry, before, plan);
    return program;
}
