/* The plan, for people. */
#include "driver/plan.h"

#include "codegen/index_guards.h"

enum { WIDTH = 110 };

/* A paragraph: words from column `indent` on, the first line behind what stands there already. */
static void put_filled(StrBuf *out, int indent, const char *head, const char *text)
{
    int column = indent + (int)strlen(head);
    sb_printf(out, "%*s%s", indent, "", head);
    for (const char *at = text; *at;) {
        int n = (int)strcspn(at, " ");
        if (column + n + 1 > WIDTH && column > indent + 2) {
            sb_printf(out, "\n%*s", indent + 2, "");
            column = indent + 2;
        } else if (at != text) {
            sb_putc(out, ' ');
            column++;
        }
        sb_putn(out, at, (size_t)n);
        column += n;
        at += n + (at[n] == ' ');
    }
    sb_putc(out, '\n');
}

static void put_sizes(StrBuf *out, const Plan *plan)
{
    for (int i = 0; i < plan->entry->n_sizes; i++) {
        sb_printf(out, "%s%s", i ? ", " : plan->at ? ", at " : ", for any ", plan->entry->sizes[i]->name);
        if (plan->at)
            sb_printf(out, " = %lld", (long long)plan->at->sizes[i]);
    }
    sb_putc(out, '\n');
}

static void put_type(StrBuf *out, const Plan *plan, const PlanArray *a)
{
    const char *part = a->place == PLAN_PART ? plan_part(plan, a) : NULL;
    if (part && strcmp(part, a->name) != 0)
        sb_printf(out, "  %s, as %s: %s\n", part, a->name, type_text(plan->ctx, a->type));
    else if (part)
        sb_printf(out, "  %s: %s\n", part, type_text(plan->ctx, a->type));
    else
        sb_printf(out, "  %s: %s, %s bytes%s\n", a->name, type_text(plan->ctx, a->type), plan_number(plan->ctx, plan, a->bytes),
              a->holds && a->buffers > type_component_count(a->type) ? " in two buffers" : "");
}

static void put_origin(StrBuf *out, const Plan *plan, Span span)
{
    const char *line = plan_line(plan->ctx, span);
    if (line[0])
        sb_printf(out, "    %s: %s\n", line, plan_line_text(plan->ctx, span));
}

/* Who reads the array, and how often. */
static void put_readers(StrBuf *out, const Plan *plan, int array)
{
    Ctx *ctx = plan->ctx;
    StrBuf text;
    sb_init(&text, ctx);
    Nat all = nat_const(ctx, 0);
    int n = 0;
    bool plain = type_gives_arrays(plan->arrays.at[array].type);
    for (int s = 0; s < plan->stages.n; s++) {
        const PlanStage *stage = &plan->stages.at[s];
        for (int i = 0; i < stage->reads.n; i++) {
            const PlanReads *reads = &stage->reads.at[i];
            if (reads->array != array)
                continue;
            PlanOften often = plan_often(ctx, plan, stage, reads);
            sb_printf(&text, "%sby %s, %s", n++ ? "; " : "", plan_readers(ctx, stage, reads), plan_often_text(ctx, plan, stage, reads));
            plain &= often.most && often.least == often.most && !plan_at_most(stage, reads, often) && !stage->step && !stage->when.n;
            all = often.most ? nat_add(ctx, all, often.most) : all;
        }
    }
    if (n > 1 && plain)
        sb_printf(&text, "; %s times in all", plan_number(ctx, plan, all));
    if (n)
        put_filled(out, 4, "read ", text.text);
    else if (plan->scheduled && plan->arrays.at[array].place == PLAN_INPUT && plan->arrays.at[array].type->kind == TY_ARRAY)
        sb_puts(out, "    not read\n");
}

/* Who writes it, and who reads it; and the same of its parts. */
static void put_array(StrBuf *out, const Plan *plan, int number)
{
    const PlanArray *a = &plan->arrays.at[number];
    put_type(out, plan, a);
    if (a->place == PLAN_STORED)
        put_origin(out, plan, a->span);
    bool several;
    if (a->place != PLAN_INPUT && plan_maker(plan, number) >= 0)
        sb_printf(out, "    written by %s%s\n", plan_makers(plan->ctx, plan, number, &several), plan_rest(plan, number, NULL));
    put_readers(out, plan, number);
    for (int i = 0; a->place == PLAN_RESULT && i < plan->shares.n; i++)
        sb_printf(out, "    in place: %s may take the memory of %s\n", plan->shares.at[i].result, plan->shares.at[i].input);
    if (a->choice && a->place == PLAN_STORED)
        put_filled(out, 4, "stored: ", plan_why_choice(plan->ctx, plan, a->choice));
    for (int i = 0; i < plan->arrays.n; i++)
        if (plan->arrays.at[i].place == PLAN_PART && plan->arrays.at[i].of == number)
            put_array(out, plan, i);
}

/* `rows.2 and rows.3: 8*n bytes`: what is stored of an array of which other components are results. */
static void put_elsewhere(StrBuf *out, const Plan *plan, int number)
{
    const PlanArray *a = &plan->arrays.at[number];
    bool several;
    for (int i = 0; i < a->elsewhere.n; i++)
        sb_printf(out, "%s%s.%d", i == 0 ? "  " : i + 1 < a->elsewhere.n ? ", " : " and ", a->name, a->elsewhere.at[i] + 1);
    sb_printf(out, ": %s bytes\n    written by %s, with %s\n", plan_number(plan->ctx, plan, a->bytes),
              plan_makers(plan->ctx, plan, number, &several), plan_part(plan, a));
    put_filled(out, 4, "stored: ", "one kernel works out all that is made of a row, and a kernel behind it needs all rows");
}

static void put_partial(StrBuf *out, const Plan *plan, int number)
{
    Ctx *ctx = plan->ctx;
    const PlanPartial *partial = &plan->partial.at[number];
    const PlanStage *stage = &plan->stages.at[partial->stage];
    if (!number || partial[-1].stage != partial->stage) {
        const char *writers = plan_some(ctx, stage, partial->writers.n, partial->writers.at);
        const char *readers = plan_some(ctx, stage, partial->readers.n, partial->readers.at);
        put_filled(out, 2, "", ctx_printf(ctx, "partial results, written by %s and read by %s: %s", writers, readers, plan_why_partial(ctx, plan, partial)));
    }
    sb_printf(out, "    %s: %s bytes\n", partial->name, plan_number(ctx, plan, partial->bytes));
}

static void put_arrays(StrBuf *out, const Plan *plan)
{
    Ctx *ctx = plan->ctx;
    int stored = plan->partial.n;
    sb_puts(out, "\ninputs and results\n");
    for (int i = 0; i < plan->arrays.n; i++) {
        PlanPlace place = plan->arrays.at[i].place;
        stored += place == PLAN_STORED || plan->arrays.at[i].elsewhere.n > 0;
        if (place == PLAN_INPUT || place == PLAN_RESULT)
            put_array(out, plan, i);
    }
    sb_puts(out, stored ? "\nstored in global memory, between kernels\n" : "\nstored in global memory, between kernels: nothing\n");
    for (int i = 0; i < plan->arrays.n; i++)
        if (plan->arrays.at[i].place == PLAN_STORED)
            put_array(out, plan, i);
        else if (plan->arrays.at[i].elsewhere.n > 0)
            put_elsewhere(out, plan, i);
    for (int i = 0; i < plan->partial.n; i++)
        put_partial(out, plan, i);
    if (plan->workspace_bytes >= 0 && plan->space.buffers.n)
        sb_printf(out, "  the workspace takes %s bytes in all: also flags, what blocks of one kernel exchange, and gaps between arrays\n",
                  plan_grouped(ctx, plan->workspace_bytes));
}

static void put_kept(StrBuf *out, const Plan *plan)
{
    Ctx *ctx = plan->ctx;
    if (!plan->kept.n)
        return;
    sb_puts(out, "\nnot stored (costs are in reads of an element from memory)\n");
    for (int i = 0; i < plan->kept.n; i++) {
        const PlanKept *kept = &plan->kept.at[i];
        const Nest *nest = kept->choice->nest;
        sb_printf(out, "  %s: %s\n", kept->name, type_text(ctx, nest->var->type));
        put_origin(out, plan, nest->element->span);
        put_filled(out, 4, kept->choice->with ? "on chip: " : "computed where it is read: ", plan_why_choice(ctx, plan, kept->choice));
    }
}

/* ---- kernels ----------------------------------------------------------------------------------- */

/* `32 x 64`, of which trailing ones are left out. */
static void put_axes(StrBuf *out, const char *const axis[3])
{
    int n = 3;
    while (n > 1 && !strcmp(axis[n - 1], "1"))
        n--;
    for (int a = 0; a < n; a++)
        sb_printf(out, "%s%s", a ? " x " : "", axis[a]);
}

/* "1 block", "n blocks" */
static const char *plural(bool one) { return one ? "" : "s"; }

/* As the emitted text says it; the most that a launch has is said only where it may count. */
static Nat grid_of(Ctx *ctx, const ImpKernel *k, int axis)
{
    const Nat most = nat_const(ctx, kernel_max_grid(k, axis));
    return nat_le(ctx, k->known, k->blocks[axis], most) ? k->blocks[axis] : kernel_grid(ctx, k, axis);
}

static void put_variant(StrBuf *out, const Plan *plan, const PlanVariant *v)
{
    Ctx *ctx = plan->ctx;
    const ImpKernel *k = v->form ? v->form : v->variant->kernel;
    const ImpWhens *when = &v->when;
    const char *grid[3], *threads[3], *blocks[3];
    StrBuf text;
    sb_init(&text, ctx);
    sb_puts(&text, when->n ? "if " : "");
    imp_print_whens(&text, when);
    int64_t in_all = 1, of_block = 1;
    for (int a = 0; a < 3; a++) {
        grid[a] = nat_text(ctx, grid_of(ctx, k, a));
        threads[a] = ctx_printf(ctx, "%d", k->threads[a]);
        blocks[a] = v->blocks[a] < 0 ? "?" : ctx_printf(ctx, "%lld", (long long)v->blocks[a]);
        of_block *= k->threads[a];
        in_all = v->blocks[a] < 0 || in_all < 0 || (v->blocks[a] && in_all > INT64_MAX / v->blocks[a]) ? -1 : in_all * v->blocks[a];
    }
    sb_printf(&text, "%s%s: ", when->n ? ": " : "", v->name);
    put_axes(&text, grid);
    sb_printf(&text, " block%s of ", plural(nat_is(kernel_grid(ctx, k, 0), 1) && nat_is(kernel_grid(ctx, k, 1), 1) && nat_is(kernel_grid(ctx, k, 2), 1)));
    put_axes(&text, threads);
    sb_printf(&text, " thread%s", plural(of_block == 1));
    if (v->chosen && in_all >= 0) {
        bool plain = v->blocks[1] == 1 && v->blocks[2] == 1;
        sb_puts(&text, plain ? "" : " = ");
        if (!plain)
            put_axes(&text, blocks);
        sb_printf(&text, " = %s block%s x %lld thread%s", plan_grouped(ctx, in_all), plural(in_all == 1), (long long)of_block, plural(of_block == 1));
    }
    put_filled(out, 4, v->chosen ? "* " : "- ", text.text);
}

static void put_launch(StrBuf *out, const Plan *plan, int number, int stage)
{
    const PlanLaunch *launch = &plan->launches.at[number];
    bool any = false;
    int n = 0; /* variants */
    for (int v = 0; v < launch->variants.n; v++)
        n += plan_is_of(&launch->variants.at[v], stage);
    if (launch->launch->group)
        sb_printf(out, "  launched %s times, once for each step\n", plan_number(plan->ctx, plan, launch->launch->group->count));
    sb_printf(out, "  launch %s", plan_name(&plan->stages.at[stage], number));
    if (n > 1)
        sb_puts(out, plan->at ? ", by size (* is launched here)" : ", by size");
    sb_puts(out, "\n");
    for (int v = 0; v < launch->variants.n; v++)
        if (plan_is_of(&launch->variants.at[v], stage)) {
            put_variant(out, plan, &launch->variants.at[v]);
            any |= launch->variants.at[v].chosen;
        }
    if (plan->at && !any && !plan->device_open)
        sb_puts(out, "    nothing is launched here at these sizes\n");
}

static void put_term(StrBuf *out, Ctx *ctx, const Core *term)
{
    StrBuf text;
    sb_init(&text, ctx);
    core_print_lines(&text, term);
    for (const char *at = text.text; at && *at;) {
        size_t n = strcspn(at, "\n");
        sb_printf(out, "    %.*s\n", (int)n, at);
        at += n + (at[n] == '\n');
    }
}

static int result_of(const Plan *plan)
{
    int i = 0;
    while (plan->arrays.at[i].place != PLAN_RESULT)
        i++;
    return i;
}

static void put_stage(StrBuf *out, const Plan *plan, int number)
{
    Ctx *ctx = plan->ctx;
    const PlanStage *stage = &plan->stages.at[number];
    const PlanArray *made = stage->makes < 0 ? NULL : &plan->arrays.at[stage->makes];
    const char *what = made ? made->name : "result", *apart = plan_why_apart(ctx, plan, number);
    sb_printf(out, "\n%s compute%s %s%s%s%s", plan_kernels(ctx, stage), stage->kernels.n <= 1 ? "s" : "", what,
              stage->start ? ", before the first step" : "", stage->step ? ", in each step" : "", stage->rest ? plan_rest(plan, made ? stage->makes : result_of(plan), stage) : "");
    sb_puts(out, stage->when.n ? ", if " : "");
    imp_print_whens(out, &stage->when);
    sb_putc(out, '\n');
    if (stage->term)
        put_term(out, ctx, stage->term);
    put_filled(out, 2, "who: ", plan_who(ctx, plan, stage));
    for (int i = 0; i < stage->reads.n; i++) {
        const PlanReads *reads = &stage->reads.at[i];
        const char *who = reads->kernels.n < stage->kernels.n ? ctx_printf(ctx, " by %s", plan_readers(ctx, stage, reads)) : "";
        put_filled(out, 2, "reads ", ctx_printf(ctx, "%s%s: %s", plan->arrays.at[reads->array].name, who, plan_often_text(ctx, plan, stage, reads)));
    }
    if (apart)
        put_filled(out, 2, "a kernel of its own: ", apart);
    for (int i = 0; i < stage->kernels.n; i++)
        put_launch(out, plan, stage->kernels.at[i], number);
}

/* How many kernels are launched at the sizes that are given. */
static int launched(const Plan *plan)
{
    int n = 0;
    for (int i = 0; i < plan->launches.n; i++) {
        const PlanLaunch *launch = &plan->launches.at[i];
        bool any = false;
        for (int v = 0; v < launch->variants.n; v++)
            any |= launch->variants.at[v].chosen;
        n += any;
    }
    return n;
}

static bool all_launched(const Plan *plan)
{
    bool all = true;
    for (int i = 0; i < plan->launches.n && all; i++) {
        ImpVariants variants = {0};
        for (int v = 0; v < plan->launches.at[i].variants.n; v++)
            vec_push(plan->ctx, &variants, plan->launches.at[i].variants.at[v].variant);
        all = imp_cover(plan->ctx, &variants, 0);
    }
    return all;
}

static void put_branch(StrBuf *out, const Plan *plan, const PlanStage *stage)
{
    StrBuf when;
    sb_init(&when, plan->ctx);
    imp_print_whens(&when, &stage->when);
    put_filled(out, 0, "", ctx_printf(plan->ctx, "%s: if %s", plan_branch(plan->ctx, plan, stage), when.text));
}

void plan_text(StrBuf *out, const Plan *plan)
{
    int n = plan->most, here = launched(plan);
    sb_printf(out, "plan of %s: %s%d kernel%s", plan->entry->name, plan->at || n < 2 || all_launched(plan) ? "" : "at most ", n, n == 1 ? "" : "s");
    if (plan->at && !plan->device_open && here < n)
        sb_printf(out, ", of which %d %s launched", here, here == 1 ? "is" : "are");
    sb_puts(out, n == 1 ? "" : ", one after the other");
    put_sizes(out, plan);
    if (plan->decided.n) {
        sb_puts(out, "other sizes have other kernels; these compute it if ");
        imp_print_whens(out, &plan->decided);
        sb_putc(out, '\n');
    }
    for (int s = 0; s < plan->stages.n; s++)
        if (plan_begins_branch(plan, s))
            put_branch(out, plan, &plan->stages.at[s]);
    put_arrays(out, plan);
    put_kept(out, plan);
    for (int s = 0; s < plan->stages.n; s++)
        put_stage(out, plan, s);
    if (plan->device_open)
        sb_puts(out, "\nSome of it depends on the device: `--set numSM=132 --set maxResident=4` say what it is.\n");
}
