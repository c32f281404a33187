/* Warnings about speed. Each names a place, a number and what can be done; what cannot be proved is not said. */
#include "driver/slow_warnings.h"

/* Where the user wrote what the walk does. */
static Span place_of(const Ctx *ctx, const CoreEntry *entry, const Core *walk)
{
    return span_is_users(ctx, walk->span) ? walk->span : span_is_users(ctx, walk->users) ? walk->users : entry->name_span;
}

void warn_slow_walks(Ctx *ctx, const CoreEntry *entry, const ImpProgram *program)
{
    SlowWalks walks = {0};
    if (item_accepts(entry->item, W0704))
        return;
    term_slow_walks(ctx, program->entry->known, program->entry->body, &walks);
    for (int i = 0; i < walks.n; i++) {
        const Core *walk = walks.at[i], *array = walk->prim.args[walk->prim.n_args - 1];
        Diag *diag = diag_warning(ctx, W0704, place_of(ctx, entry, walk), "`%s` gets a slow kernel: each thread goes through %s elements here, alone",
                                  entry->name, nat_text(ctx, array->type->size));
        diag_note(ctx, diag, NO_SPAN, "the library has templates for whole reductions and scans, for rows that are folded, columns, products and transpositions; "
                                      "`risec lower %s %s --plan` shows which of them were taken; a strategy of its own, `lowered by`, can do better",
                  source_argument(ctx, entry->name_span), entry->name);
    }
}

/* ---- what is stored ---------------------------------------------------------------------------- */

/* Below that nobody minds, and what rounds addresses up would count. */
enum { STORED_WORTH = 1 << 20, STORED_MOST = 2 };

typedef struct Bytes {
    int64_t stored, given; /* between kernels; inputs and results */
} Bytes;

static bool add_bytes(Ctx *ctx, const CoreEntry *entry, const Launch *at, Type type, int64_t *sum)
{
    for (int k = 0; k < type_component_count(type); k++) {
        Type part = type_component(ctx, type, k);
        int64_t bytes = scalar_bytes(type_scalar_of(ctx, part)), size;
        for (; part->kind == TY_ARRAY || part->kind == TY_VEC; part = part->elem)
            if (!launch_nat(NULL, entry, at, part->size, &size) || size < 0 || !mul_fits(bytes, size, &bytes))
                return false;
        if (!add_fits(*sum, bytes, sum))
            return false;
    }
    return true;
}

/* False where they have no value. */
static bool bytes_at(Ctx *ctx, const ImpProgram *program, const Workspace *space, const Launch *at, Bytes *out)
{
    const CoreEntry *entry = program->entry;
    *out = (Bytes){0};
    for (int i = 0; i < entry->n_inputs; i++)
        if (!add_bytes(ctx, entry, at, entry->inputs[i]->type, &out->given))
            return false;
    for (int i = 0; i < program->launches.n; i++)
        for (int v = 0; v < program->launches.at[i].variants.n; v++) {
            const ImpVariant *variant = &program->launches.at[i].variants.at[v];
            int64_t bytes;
            bool holds;
            if (!imp_when_holds(NULL, entry, &variant->when, at, &holds) ||
                (holds && !launch_nat(NULL, entry, at, workspace_bytes(space, variant), &bytes)))
                return false;
            if (holds && bytes - space->flags > out->stored)
                out->stored = bytes - space->flags;
        }
    return add_bytes(ctx, entry, at, entry->result, &out->given);
}

static bool is_much(Bytes bytes) { return bytes.stored >= STORED_WORTH && bytes.stored / STORED_MOST > bytes.given; }

static bool is_launch(const CoreEntry *entry, const Launch *at)
{
    for (int i = 0; i < entry->n_facts; i++) {
        bool holds;
        if (!launch_test(NULL, entry, at, entry->facts[i], &holds) || !holds)
            return false;
    }
    return true;
}

/* Whatever the sizes are: all the same, so that there are 2^20 elements in all or more, or one of them
 * large. Of those that are launches, all have to agree; *at is the first. */
static bool is_much_at_all(Ctx *ctx, const ImpProgram *program, const Workspace *space, Launch *at, Bytes *bytes)
{
    enum { EACH = 1 << 10, IN_ALL = 20, LARGE = 1000000, OTHERS = 8 };
    const CoreEntry *entry = program->entry;
    int n = entry->n_sizes, launches = 0;
    for (int point = 0; point < n + 2; point++) {
        Launch launch = {.n_sizes = n, .sizes = NEWN(ctx, int64_t, n + 1)};
        Bytes here;
        for (int i = 0; i < n; i++)
            launch.sizes[i] = point == 0 ? EACH : point == 1 ? (int64_t)1 << IN_ALL / n : point - 2 == i ? LARGE : OTHERS;
        if (!is_launch(entry, &launch))
            continue;
        if (!bytes_at(ctx, program, space, &launch, &here) || !is_much(here))
            return false;
        if (!launches++) {
            *at = launch;
            *bytes = here;
        }
    }
    return n > 0 && launches > 0;
}

/* The largest array at these sizes. */
static const WorkBuffer *largest(const ImpProgram *program, const Workspace *space, const Launch *at)
{
    const WorkBuffer *found = NULL;
    int64_t most = 0, bytes;
    for (int i = 0; i < space->buffers.n; i++)
        if (launch_nat(NULL, program->entry, at, space->buffers.at[i].bytes, &bytes) && bytes > most) {
            most = bytes;
            found = &space->buffers.at[i];
        }
    return found;
}

void warn_stored(Ctx *ctx, const ImpProgram *program, const Launch *at)
{
    const CoreEntry *entry = program->entry;
    Workspace space;
    Launch point;
    Bytes bytes;
    if (!workspace_is_used(program) || item_accepts(entry->item, W0707))
        return;
    workspace_plan(ctx, program, &space);
    bool much = at ? bytes_at(ctx, program, &space, at, &bytes) && is_much(bytes) : is_much_at_all(ctx, program, &space, &point, &bytes);
    const WorkBuffer *buffer = much ? largest(program, &space, at ? at : &point) : NULL;
    if (!buffer)
        return;
    at = at ? at : &point;
    const CoreVar *holds = buffer->buf->holds;
    Span span = holds && span_is_users(ctx, holds->span) ? holds->span : entry->name_span;
    StrBuf sizes;
    sb_init(&sizes, ctx);
    for (int i = 0; i < entry->n_sizes; i++)
        sb_printf(&sizes, "%s%s = %lld", i ? ", " : "", entry->sizes[i]->name, (long long)at->sizes[i]);
    Diag *diag = diag_warning(ctx, W0707, span, "`%s` stores %s bytes between its kernels, and its inputs and results take %s, at %s", entry->name,
                              plan_grouped(ctx, bytes.stored), plan_grouped(ctx, bytes.given), sizes.text ? sizes.text : "any sizes");
    diag_label(ctx, diag, "%s %s bytes", span.lo == entry->name_span.lo ? "its largest array takes" : "the largest array is computed here:", nat_text(ctx, buffer->bytes));
    diag_note(ctx, diag, NO_SPAN, "`risec lower %s %s --plan` says why each array is stored; an array is not stored if the kernel that makes it is the only one that reads it, as in folds of rows; "
                                  "if there are many rows, an entry of its own can compute some of them at a time", source_argument(ctx, entry->name_span), entry->name);
}

/* ---- blocks ------------------------------------------------------------------------------------ */

enum { BLOCK_WORTH = 1024 }; /* elements for each multiprocessor: with fewer, more blocks would hardly help */

/* The blocks of the stage's largest launch; -1: not known. */
static int64_t most_blocks(const Plan *plan, const PlanStage *stage)
{
    int64_t most = 0;
    for (int i = 0; i < stage->kernels.n; i++) {
        const PlanLaunch *launch = &plan->launches.at[stage->kernels.at[i]];
        for (int v = 0; v < launch->variants.n; v++) {
            const PlanVariant *variant = &launch->variants.at[v];
            int64_t blocks = 1;
            for (int a = 0; variant->chosen && a < 3; a++)
                if (variant->blocks[a] < 0 || !mul_fits(blocks, variant->blocks[a], &blocks))
                    return -1;
            most = variant->chosen && blocks > most ? blocks : most;
        }
    }
    return most;
}

/* How many elements the stage reads at these sizes, at least; 0: not known. */
static int64_t elements_read(const Plan *plan, const PlanStage *stage)
{
    int64_t all = 0, some;
    for (int i = 0; i < stage->reads.n; i++) {
        const ArrayReads *reads = &stage->reads.at[i].reads;
        if (!reads->at_most && plan_value(plan, reads->uses, &some) && !add_fits(all, some, &all))
            return INT64_MAX;
    }
    return all;
}

void warn_few_blocks(Ctx *ctx, const Plan *plan)
{
    if (!plan->at || plan->at->num_sm <= 0 || item_accepts(plan->entry->item, W0708))
        return;
    const CoreEntry *entry = plan->entry;
    for (int s = 0; s < plan->stages.n; s++) {
        const PlanStage *stage = &plan->stages.at[s];
        int64_t blocks = most_blocks(plan, stage), sms = plan->at->num_sm, elements = elements_read(plan, stage);
        if (blocks <= 0 || blocks > sms / 2 || elements / BLOCK_WORTH < sms)
            continue;
        Span made = stage->makes < 0 ? stage->term->span : plan->arrays.at[stage->makes].span;
        Diag *diag = diag_warning(ctx, W0708, span_is_users(ctx, made) ? made : entry->name_span, "`%s` launches %lld block%s here, and the device has %lld multiprocessors", entry->name,
                                  (long long)blocks, blocks == 1 ? "" : "s", (long long)sms);
        diag_label(ctx, diag, "%s elements are read here", plan_grouped(ctx, elements));
        diag_note(ctx, diag, NO_SPAN, "each element of the result is one block's, or one thread's; a fold of long rows can be one of parts: `row |> split(4096) |> map(reduce(op, z)) |> reduce(op, z)`, "
                                      "so that the parts of all rows are folded first");
    }
}
