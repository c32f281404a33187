/* The plan as one JSON object: `risec help plan` says what is in it. */
#include "driver/plan.h"

#include "codegen/index_guards.h"
#include "frontend/costs.h"

static void put_text(StrBuf *out, const char *key, const char *text)
{
    sb_printf(out, ", \"%s\": ", key);
    sb_put_json(out, text);
}

static void put_flag(StrBuf *out, const char *key, bool flag) { sb_printf(out, ", \"%s\": %s", key, flag ? "true" : "false"); }

/* "key": FORMULA, and its value where there are sizes. */
static void put_nat(StrBuf *out, const Plan *plan, const char *key, Nat nat)
{
    int64_t value;
    put_text(out, key, nat_text(plan->ctx, nat));
    if (plan_value(plan, nat, &value))
        sb_printf(out, ", \"%sHere\": %lld", key, (long long)value);
}

static void put_line(StrBuf *out, const Plan *plan, Span span)
{
    const char *line = plan_line(plan->ctx, span);
    if (line[0])
        put_text(out, "line", line);
}

static void put_kernels(StrBuf *out, const char *key, int n, const int *kernels)
{
    sb_printf(out, ", \"%s\": [", key);
    for (int i = 0; i < n; i++)
        sb_printf(out, "%s%d", i ? ", " : "", kernels[i] + 1);
    sb_putc(out, ']');
}

static void put_names(StrBuf *out, const PlanStage *stage)
{
    sb_puts(out, ", \"names\": [");
    for (int i = 0; i < stage->names.n; i++) {
        sb_puts(out, i ? ", " : "");
        sb_put_json(out, stage->names.at[i]);
    }
    sb_putc(out, ']');
}

/* How often each element is read, or how many are in all. */
static void put_often(StrBuf *out, const Plan *plan, const PlanStage *stage, const PlanReads *reads)
{
    PlanOften often = plan_often(plan->ctx, plan, stage, reads);
    if (often.most) {
        put_nat(out, plan, "least", often.least);
        put_nat(out, plan, "most", often.most);
    } else {
        put_nat(out, plan, "elements", reads->reads.uses);
    }
    put_flag(out, "atMost", plan_at_most(stage, reads, often));
}

static void put_readers(StrBuf *out, const Plan *plan, int array)
{
    int n = 0;
    sb_puts(out, ", \"readers\": [");
    for (int s = 0; s < plan->stages.n; s++) {
        const PlanStage *stage = &plan->stages.at[s];
        for (int i = 0; i < stage->reads.n; i++) {
            if (stage->reads.at[i].array != array)
                continue;
            sb_printf(out, "%s{\"stage\": %d", n++ ? ", " : "", s + 1);
            put_kernels(out, "kernels", stage->reads.at[i].kernels.n, stage->reads.at[i].kernels.at);
            put_often(out, plan, stage, &stage->reads.at[i]);
            sb_putc(out, '}');
        }
    }
    sb_putc(out, ']');
}

static void put_array(StrBuf *out, const Plan *plan, int number)
{
    static const char *const places[] = {"input", "result", "result", "stored"};
    const PlanArray *a = &plan->arrays.at[number];
    sb_puts(out, number ? ",\n  {\"name\": " : "\n  {\"name\": ");
    sb_put_json(out, a->name);
    put_text(out, "place", places[a->place]);
    put_text(out, "type", type_text(plan->ctx, a->type));
    put_nat(out, plan, "bytes", a->bytes);
    if (a->place == PLAN_PART)
        put_text(out, "part", plan_part(plan, a));
    for (int i = 0; i < a->elsewhere.n; i++)
        sb_printf(out, "%s%d%s", i ? ", " : ", \"stored\": [", a->elsewhere.at[i] + 1, i + 1 < a->elsewhere.n ? "" : "]");
    if (a->place == PLAN_STORED || a->elsewhere.n > 0)
        sb_printf(out, ", \"buffers\": %d", a->buffers);
    if (a->place == PLAN_PART || a->place == PLAN_STORED)
        put_line(out, plan, a->span);
    if (a->choice && a->place == PLAN_STORED)
        put_text(out, "why", plan_why_choice(plan->ctx, plan, a->choice));
    put_readers(out, plan, number);
    sb_putc(out, '}');
}

static void put_share(StrBuf *out, const Plan *plan, int number)
{
    sb_puts(out, number ? ",\n  {\"result\": " : "\n  {\"result\": ");
    sb_put_json(out, plan->shares.at[number].result);
    put_text(out, "input", plan->shares.at[number].input);
    sb_putc(out, '}');
}

static void put_kept(StrBuf *out, const Plan *plan, int number)
{
    const PlanKept *kept = &plan->kept.at[number];
    const NestChoice *choice = kept->choice;
    sb_puts(out, number ? ",\n  {\"name\": " : "\n  {\"name\": ");
    sb_put_json(out, kept->name);
    put_text(out, "type", type_text(plan->ctx, choice->nest->var->type));
    put_flag(out, "onChip", choice->with != NULL);
    if (choice->reads < NEST_MANY)
        sb_printf(out, ", \"reads\": %g", choice->reads);
    sb_printf(out, ", \"cost\": %g", choice->cost);
    put_line(out, plan, choice->nest->element->span);
    put_text(out, "why", plan_why_choice(plan->ctx, plan, choice));
    sb_putc(out, '}');
}

static void put_partial(StrBuf *out, const Plan *plan, int number)
{
    const PlanPartial *partial = &plan->partial.at[number];
    sb_puts(out, number ? ",\n  {\"name\": " : "\n  {\"name\": ");
    sb_put_json(out, partial->name);
    put_nat(out, plan, "bytes", partial->bytes);
    sb_printf(out, ", \"stage\": %d", partial->stage + 1);
    put_kernels(out, "writers", partial->writers.n, partial->writers.at);
    put_kernels(out, "readers", partial->readers.n, partial->readers.at);
    put_text(out, "why", plan_why_partial(plan->ctx, plan, partial));
    sb_putc(out, '}');
}

static void put_test(StrBuf *out, const Plan *plan, const ImpWhen *when, int number)
{
    StrBuf test;
    sb_init(&test, plan->ctx);
    core_print_test(&test, when->test, when->holds);
    sb_puts(out, number ? ", " : "");
    sb_put_json(out, test.text);
}

static void put_stage(StrBuf *out, const Plan *plan, int number)
{
    Ctx *ctx = plan->ctx;
    const PlanStage *s = &plan->stages.at[number];
    const char *apart = plan_why_apart(ctx, plan, number);
    sb_printf(out, "%s{\"computes\": ", number ? ",\n  " : "\n  ");
    sb_put_json(out, s->makes < 0 ? "result" : plan->arrays.at[s->makes].name);
    put_flag(out, "start", s->start);
    put_flag(out, "step", s->step);
    if (s->when.n) {
        sb_puts(out, ", \"when\": [");
        for (int i = 0; i < s->when.n; i++)
            put_test(out, plan, &s->when.at[i], i);
        sb_putc(out, ']');
    }
    if (s->term) {
        StrBuf term;
        sb_init(&term, ctx);
        core_print(&term, s->term);
        put_text(out, "term", term.text);
    }
    put_text(out, "who", plan_who(ctx, plan, s));
    if (s->rule)
        put_text(out, "rule", s->rule->rule);
    put_flag(out, "byBlocks", s->by_blocks);
    if (s->walk)
        put_nat(out, plan, "alone", s->walk->prim.args[s->walk->prim.n_args - 1]->type->size);
    if (apart)
        put_text(out, "apart", apart);
    put_kernels(out, "kernels", s->kernels.n, s->kernels.at);
    put_names(out, s);
    sb_putc(out, '}');
}

static void put_variant(StrBuf *out, const Plan *plan, const PlanVariant *v)
{
    Ctx *ctx = plan->ctx;
    const ImpKernel *k = v->form ? v->form : v->variant->kernel;
    sb_puts(out, "{\"kernel\": ");
    sb_put_json(out, v->name);
    sb_puts(out, ", \"stages\": [");
    for (int s = 0, n = 0; s < plan->stages.n; s++)
        if (plan_is_of(v, s))
            sb_printf(out, "%s%d", n++ ? ", " : "", s + 1);
    sb_puts(out, "], \"when\": [");
    for (int i = 0; i < v->when.n; i++)
        put_test(out, plan, &v->when.at[i], i);
    sb_puts(out, "], \"grid\": [");
    for (int a = 0; a < 3; a++) {
        sb_puts(out, a ? ", " : "");
        sb_put_json(out, nat_text(ctx, kernel_grid(ctx, k, a)));
    }
    sb_printf(out, "], \"block\": [%d, %d, %d]", k->threads[0], k->threads[1], k->threads[2]);
    if (plan->at)
        put_flag(out, "launched", v->chosen);
    if (v->chosen && v->blocks[0] >= 0 && v->blocks[1] >= 0 && v->blocks[2] >= 0)
        sb_printf(out, ", \"gridHere\": [%lld, %lld, %lld]", (long long)v->blocks[0], (long long)v->blocks[1], (long long)v->blocks[2]);
    sb_putc(out, '}');
}

static void put_launch(StrBuf *out, const Plan *plan, int number)
{
    const PlanLaunch *launch = &plan->launches.at[number];
    sb_printf(out, "%s{\"number\": %d", number ? ",\n  " : "\n  ", number + 1);
    const ImpGroup *group = launch->launch->group;
    if (group) {
        int first = number; /* of those that repeat together */
        while (first > 0 && plan->launches.at[first - 1].launch->group == group)
            first--;
        sb_printf(out, ", \"together\": %d", first + 1);
        put_nat(out, plan, "repeat", group->count);
    }
    sb_puts(out, ", \"variants\": [");
    for (int v = 0; v < launch->variants.n; v++) {
        sb_puts(out, v ? ", " : "");
        put_variant(out, plan, &launch->variants.at[v]);
    }
    sb_puts(out, "]}");
}

static void put_list(StrBuf *out, const Plan *plan, const char *name, int n, void (*put)(StrBuf *out, const Plan *plan, int number))
{
    sb_printf(out, ",\n \"%s\": [", name);
    for (int i = 0; i < n; i++)
        put(out, plan, i);
    sb_putc(out, ']');
}

void plan_json(StrBuf *out, const Plan *plan)
{
    sb_puts(out, "{\"entry\": ");
    sb_put_json(out, plan->entry->name);
    put_flag(out, "scheduled", plan->scheduled);
    sb_printf(out, ", \"kernels\": %d", plan->most);
    if (plan->lowered->costs)
        put_text(out, "costs", costs_hash_text(plan->ctx, plan->lowered->costs));
    if (plan->at) {
        sb_puts(out, ", \"sizes\": {");
        for (int i = 0; i < plan->entry->n_sizes; i++)
            sb_printf(out, "%s\"%s\": %lld", i ? ", " : "", plan->entry->sizes[i]->name, (long long)plan->at->sizes[i]);
        sb_putc(out, '}');
    }
    if (plan->decided.n) {
        sb_puts(out, ", \"when\": [");
        for (int i = 0; i < plan->decided.n; i++)
            put_test(out, plan, &plan->decided.at[i], i);
        sb_putc(out, ']');
    }
    if (plan->workspace_bytes >= 0)
        sb_printf(out, ", \"workspaceHere\": %lld", (long long)plan->workspace_bytes);
    put_list(out, plan, "arrays", plan->arrays.n, put_array);
    put_list(out, plan, "partial", plan->partial.n, put_partial);
    put_list(out, plan, "inPlace", plan->shares.n, put_share);
    put_list(out, plan, "notStored", plan->kept.n, put_kept);
    put_list(out, plan, "stages", plan->stages.n, put_stage);
    put_list(out, plan, "launches", plan->launches.n, put_launch);
    sb_puts(out, "}\n");
}
