/* The reasons of a plan, in words. */
#include "driver/plan.h"
#include "ir/terms.h"

/* ---- numbers ----------------------------------------------------------------------------------- */

const char *plan_grouped(Ctx *ctx, int64_t value)
{
    const char *digits = ctx_printf(ctx, "%lld", (long long)value);
    StrBuf out;
    sb_init(&out, ctx);
    for (size_t i = 0, n = strlen(digits); i < n; i++) {
        if (i && (n - i) % 3 == 0 && digits[i - 1] != '-')
            sb_putc(&out, ',');
        sb_putc(&out, digits[i]);
    }
    return out.text;
}

const char *plan_number(Ctx *ctx, const Plan *plan, Nat nat)
{
    int64_t value;
    if (nat_is_const(nat))
        return plan_grouped(ctx, nat->value);
    if (plan_value(plan, nat, &value))
        return ctx_printf(ctx, "%s = %s", nat_text(ctx, nat), plan_grouped(ctx, value));
    return nat_text(ctx, nat);
}

const char *plan_line(Ctx *ctx, Span span)
{
    int line, column;
    if (!span_is_users(ctx, span))
        return "";
    source_position(ctx, span, &line, &column);
    const char *name = source_get(ctx, span.file)->name, *base = strrchr(name, '/');
    return ctx_printf(ctx, "%s:%d", base ? base + 1 : name, line);
}

const char *plan_line_text(Ctx *ctx, Span span)
{
    int line, column;
    if (!span_is_users(ctx, span))
        return "";
    source_position(ctx, span, &line, &column);
    const char *at = source_line(source_get(ctx, span.file), line);
    at += strspn(at, " \t");
    size_t n = strcspn(at, "\r\n");
    while (n && (at[n - 1] == ' ' || at[n - 1] == '\t'))
        n--;
    return ctx_printf(ctx, "%.*s", (int)n, at);
}

/* ---- reads ------------------------------------------------------------------------------------- */

PlanOften plan_often(Ctx *ctx, const Plan *plan, const PlanStage *stage, const PlanReads *reads)
{
    Type type = plan->arrays.at[reads->array].type;
    Nat cells = type_cells(ctx, type);
    if (type->kind == TY_TUPLE) /* whose components may have other lengths */
        return (PlanOften){0};
    Nat most = nat_exact_quotient(ctx, reads->reads.uses, cells);
    return (PlanOften){most && stage->keeps ? nat_const(ctx, 1) : most, most};
}

bool plan_at_most(const PlanStage *stage, const PlanReads *reads, PlanOften often)
{
    return reads->reads.at_most || ((stage->vectors || stage->several) && !(often.most && nat_is(often.most, 1)));
}

static const char *times(Ctx *ctx, const Plan *plan, Nat n)
{
    if (nat_is_const(n) && n->value <= 2)
        return n->value == 2 ? "twice" : n->value == 1 ? "once" : "never";
    return ctx_printf(ctx, "%s times", plan_number(ctx, plan, n));
}

const char *plan_often_text(Ctx *ctx, const Plan *plan, const PlanStage *stage, const PlanReads *reads)
{
    PlanOften often = plan_often(ctx, plan, stage, reads);
    const Type type = plan->arrays.at[reads->array].type;
    const bool numbers = !type_gives_arrays(type), tuple = type->kind == TY_TUPLE;
    if (numbers && !nat_is(reads->reads.uses, 1))
        return tuple ? "numbers that each thread reads" : "a number that each thread reads";
    if (numbers && !tuple)
        return "once";
    const char *most = plan_at_most(stage, reads, often) || (!often.most && stage->keeps) ? "at most " : "";
    if (!often.most)
        return ctx_printf(ctx, "%s%s elements in all", most, plan_number(ctx, plan, reads->reads.uses));
    if (often.least == often.most)
        return ctx_printf(ctx, "each element %s%s", most, times(ctx, plan, often.most));
    return ctx_printf(ctx, "each element from once to %s: what a block uses again it keeps on chip, as far as it fits",
                      times(ctx, plan, often.most));
}

/* ---- choices ----------------------------------------------------------------------------------- */

static const char *plain(Ctx *ctx, double value)
{
    return value == (double)(long long)value ? ctx_printf(ctx, "%lld", (long long)value) : ctx_printf(ctx, "%.2f", value);
}

static const char *name_of(const Plan *plan, const CoreVar *var)
{
    for (int i = 0; i < plan->arrays.n; i++)
        if (plan->arrays.at[i].var == var)
            return plan->arrays.at[i].name;
    return "result";
}

/* Both costs, once r is known. */
static const char *costs(Ctx *ctx, const NestChoice *c)
{
    const StoreCost s = c->stored;
    const char *launch = s.launch > 0 ? ctx_printf(ctx, " + %s for a launch", plain(ctx, s.launch)) : "";
    return ctx_printf(ctx, "%s reads of an element, which costs %s to compute, cost %s * %s = %s so, and %s + %s + %s%s = %s if it is stored",
                      plain(ctx, c->reads), plain(ctx, c->cost), plain(ctx, c->reads), plain(ctx, c->cost), plain(ctx, c->reads * c->cost),
                      plain(ctx, c->cost), plain(ctx, s.write), plain(ctx, c->reads * s.read), launch,
                      plain(ctx, c->cost + s.write + c->reads * s.read + s.launch));
}

/* What its kernel makes as a whole and keeps on chip, such as the folds that its elements are made of; or NULL. */
static const NestChoice *kept_whole(const Plan *plan, const NestChoice *c)
{
    const NestChoice *found = NULL;
    for (int i = 0; i < plan->choices->n && !found; i++) {
        const NestChoice *other = &plan->choices->at[i];
        if (other->with && other->with->var == c->nest->var)
            found = other->whole ? other : kept_whole(plan, other);
    }
    return found;
}

const char *plan_why_choice(Ctx *ctx, const Plan *plan, const NestChoice *c)
{
    const Core *element = c->nest->element;
    if (c->with)
        return ctx_printf(ctx, "worked out and kept by the kernel of %s, which alone reads it",
                          name_of(plan, c->with->var));
    if (c->nest->kept)
        return c->nest->of_rows ? "one kernel works it out with the folds of its row" : "the program says so: toGlobal, nextKernel";
    const NestChoice *whole = c->inlined || c->whole || c->nest->steps ? NULL : kept_whole(plan, c);
    if (whole && whole->nest->element->kind == CORE_PRIM)
        return ctx_printf(ctx, "an element is made of what `%s` makes, which goes through an array: it is done once, and not again for each read",
                          prim_name(whole->nest->element->prim.id));
    if (c->inlined && c->reads <= 1)
        return "each element is read once at most, so to store it would only add a write and a read";
    if (c->inlined && c->reads >= NEST_MANY)
        return ctx_printf(ctx, "an element costs %s to compute, no more than a read", plain(ctx, c->cost));
    if (c->inlined)
        return costs(ctx, c);
    if (c->nest->steps)
        return "launches that repeat leave it: the two buffers of the state change places with each step";
    if (c->whole && element->kind == CORE_PRIM)
        return ctx_printf(ctx, "an element is made by `%s`, which goes through an array: it is done once, and not again for each read", prim_name(element->prim.id));
    if (c->whole)
        return "an element goes through an array: that is done once, and not again for each read";
    if (c->too_long)
        return ctx_printf(ctx, "an element takes %d reads and functions, too many to be %s", c->size,
                          c->reads >= NEST_MANY ? "computed for each of many reads" : "a part of other elements");
    if (c->by_one)
        return ctx_printf(ctx, "one thread goes through it in order, and an element costs %s to compute, more than a read", plain(ctx, c->cost));
    if (c->reads >= NEST_MANY)
        return ctx_printf(ctx, "an element costs %s to compute, more than a read, and has many reads", plain(ctx, c->cost));
    return costs(ctx, c);
}

/* ---- stages ------------------------------------------------------------------------------------ */

typedef VEC(const char *) Names;

static void add_name(Ctx *ctx, Names *names, const char *name)
{
    bool new = true;
    for (int i = 0; i < names->n; i++)
        new &= strcmp(names->at[i], name) != 0;
    if (new)
        vec_push(ctx, names, name);
}

static const char *kernels_text(Ctx *ctx, const Names *names)
{
    StrBuf out;
    sb_init(&out, ctx);
    sb_puts(&out, names->n == 1 ? "kernel " : "kernels ");
    for (int i = 0; i < names->n; i++)
        sb_printf(&out, "%s%s", i == 0 ? "" : i + 1 < names->n ? ", " : " and ", names->at[i]);
    return names->n ? out.text : "no kernel of its own";
}

const char *plan_name(const PlanStage *stage, int kernel)
{
    int k = 0;
    while (stage->kernels.at[k] != kernel)
        k++;
    return stage->names.at[k];
}

static void add_names(Ctx *ctx, Names *names, const PlanStage *stage)
{
    for (int i = 0; i < stage->names.n; i++)
        add_name(ctx, names, stage->names.at[i]);
}

const char *plan_kernels(Ctx *ctx, const PlanStage *stage)
{
    Names names = {0};
    add_names(ctx, &names, stage);
    return kernels_text(ctx, &names);
}

const char *plan_some(Ctx *ctx, const PlanStage *stage, int n, const int *kernels)
{
    Names names = {0};
    for (int i = 0; i < n; i++)
        add_name(ctx, &names, plan_name(stage, kernels[i]));
    return kernels_text(ctx, &names);
}

const char *plan_readers(Ctx *ctx, const PlanStage *stage, const PlanReads *reads)
{
    return plan_some(ctx, stage, reads->kernels.n, reads->kernels.at);
}

const char *plan_why_partial(Ctx *ctx, const Plan *plan, const PlanPartial *partial)
{
    const PlanStage *stage = &plan->stages.at[partial->stage];
    return ctx_printf(ctx, "%s makes %s of them", stage->rule ? "a template of the library" : "the term",
                      stage->makes < 0 ? "the result" : plan->arrays.at[stage->makes].name);
}

const char *plan_branch(Ctx *ctx, const Plan *plan, const PlanStage *stage)
{
    Names names = {0};
    for (int s = 0; s < plan->stages.n; s++)
        if (plan_same_when(plan, &plan->stages.at[s].when, &stage->when))
            add_names(ctx, &names, &plan->stages.at[s]);
    return kernels_text(ctx, &names);
}

const char *plan_makers(Ctx *ctx, const Plan *plan, int array, bool *several)
{
    Names names = {0};
    int made = plan->arrays.at[array].place == PLAN_RESULT ? -1 : array;
    for (int s = 0; s < plan->stages.n; s++)
        if (plan->stages.at[s].makes == made)
            add_names(ctx, &names, &plan->stages.at[s]);
    *several = names.n > 1;
    return kernels_text(ctx, &names);
}

int plan_maker(const Plan *plan, int array)
{
    int makes = plan->arrays.at[array].place == PLAN_RESULT ? -1 : array, found = -1;
    for (int s = 0; s < plan->stages.n; s++)
        if (plan->stages.at[s].makes == makes)
            found = s;
    return found;
}

const char *plan_part(const Plan *plan, const PlanArray *part)
{
    const PlanArray *of = &plan->arrays.at[part->of];
    const int *components = part->components.at, n = part->components.n;
    bool run = true; /* one after the other */
    for (int i = 1; i < n; i++)
        run &= components[i] == components[i - 1] + 1;
    if (run && n == type_component_count(of->type))
        return of->name;
    const char *words = ctx_printf(plan->ctx, "%s.%d", of->name, components[0] + 1);
    if (run && n > 1)
        return ctx_printf(plan->ctx, "%s to %d", words, components[n - 1] + 1);
    for (int i = 1; i < n; i++)
        words = ctx_printf(plan->ctx, "%s%s%s.%d", words, i + 1 == n ? " and " : ", ", of->name, components[i] + 1);
    return words;
}

/* Are parts of the array written by stages of their own that a launch may have with this one? */
static bool has_parts(const Plan *plan, int array, const PlanStage *stage)
{
    bool parts = false;
    for (int s = 0; s < plan->stages.n && !parts; s++) {
        const int made = plan->stages.at[s].makes;
        parts = made >= 0 && plan->arrays.at[made].place == PLAN_PART && plan->arrays.at[made].of == array &&
                !plan_excludes(plan, &plan->stages.at[s].when, &stage->when);
    }
    return parts;
}

const char *plan_rest(const Plan *plan, int array, const PlanStage *stage)
{
    const int makes = plan->arrays.at[array].place == PLAN_RESULT ? -1 : array;
    bool parts = false;
    for (int s = 0; s < plan->stages.n; s++) {
        const PlanStage *maker = &plan->stages.at[s];
        parts |= maker->makes == makes && (!stage || stage == maker) && has_parts(plan, array, maker);
    }
    return parts ? ", but for what other kernels write of it" : "";
}

/* The first sentence of a rule's documentation. */
static const char *first_sentence(Ctx *ctx, const char *doc)
{
    if (!doc)
        return "";
    size_t n = 0;
    while (doc[n] && !(doc[n] == '.' && (doc[n + 1] == ' ' || doc[n + 1] == '\n' || !doc[n + 1])))
        n++;
    StrBuf out;
    sb_init(&out, ctx);
    for (size_t i = 0; i < n; i++)
        sb_putc(&out, doc[i] == '\n' ? ' ' : doc[i]);
    return out.text ? out.text : "";
}

static bool has_threads(const Core *term)
{
    bool found = term->kind == CORE_PRIM && term->prim.id == P_mapGlobal;
    for (int i = 0; i < term_children(term) && !found; i++)
        found = has_threads(term_child(term, i));
    return found;
}

/* Is there a thread that computes an array? */
static bool gives_rows(const Core *term)
{
    bool threads = term->kind == CORE_PRIM && term->prim.id == P_mapGlobal;
    const Core *body = threads ? term->prim.args[0]->lambda.body : NULL;
    bool rows = body && body->type->kind == TY_ARRAY && !has_threads(body);
    for (int i = 0; i < term_children(term) && !rows; i++)
        rows = gives_rows(term_child(term, i));
    return rows;
}

const char *plan_who(Ctx *ctx, const Plan *plan, const PlanStage *stage)
{
    StrBuf out;
    sb_init(&out, ctx);
    if (stage->by_blocks)
        sb_puts(&out, stage->rule ? "threads together, by a template of the library" : "threads of a block together, as the term says");
    else if (stage->vectors)
        sb_puts(&out, "a thread for each vector of neighbouring elements, alone");
    else
        sb_puts(&out, gives_rows(stage->lowered) ? "a thread for each row, alone" : "a thread for each element, alone");
    if (stage->rule) {
        const char *doc = first_sentence(ctx, stage->rule->law->doc);
        sb_printf(&out, ": rule `%s`", stage->rule->rule);
        if (doc[0])
            sb_printf(&out, " (%s)", doc);
    }
    if (stage->walk) {
        const Core *array = stage->walk->prim.args[stage->walk->prim.n_args - 1];
        sb_printf(&out, ". No template has all of it: %sthreads go through %s elements one after the other", stage->by_blocks ? "some " : "",
                  plan_number(ctx, plan, array->type->size));
    }
    return out.text;
}

/* Which other stages read the array. */
static bool is_read_elsewhere(const Plan *plan, int array, int stage)
{
    for (int s = 0; s < plan->stages.n; s++)
        for (int i = 0; s != stage && i < plan->stages.at[s].reads.n; i++)
            if (plan->stages.at[s].reads.at[i].array == array)
                return true;
    return false;
}

/* Is there a stage before it for the same sizes? */
static bool is_behind(const Plan *plan, int stage)
{
    bool behind = false;
    for (int s = 0; s < stage && !behind; s++)
        behind = !plan_excludes(plan, &plan->stages.at[s].when, &plan->stages.at[stage].when);
    return behind;
}

const char *plan_why_apart(Ctx *ctx, const Plan *plan, int stage)
{
    const PlanStage *s = &plan->stages.at[stage];
    if (!is_behind(plan, stage))
        return NULL;
    if (s->step && plan->stages.at[stage - 1].start)
        return "a step needs all of the step before it: it is launched anew for each";
    StrBuf out;
    sb_init(&out, ctx);
    for (int i = 0; i < s->reads.n; i++) {
        const PlanArray *array = &plan->arrays.at[s->reads.at[i].array];
        bool made = array->place == PLAN_STORED || array->place == PLAN_PART;
        int maker = made ? plan_maker(plan, s->reads.at[i].array) : -1;
        if (maker < 0 || maker == stage)
            continue;
        bool several;
        const char *makers = plan_makers(ctx, plan, s->reads.at[i].array, &several);
        sb_printf(&out, "%sit reads %s, which %s store%s", out.len ? "; " : "", array->name, makers, several ? "" : "s");
        Nat most = plan_often(ctx, plan, s, &s->reads.at[i]).most;
        if (most && most != nat_const(ctx, 1))
            sb_printf(&out, ": each element %s here", times(ctx, plan, most));
        if (is_read_elsewhere(plan, s->reads.at[i].array, stage))
            sb_puts(&out, ", and other kernels read it, too");
    }
    if (!out.len)
        return s->term ? "it reads nothing that the kernels before it store, and no template computes both at once" : "the program says so";
    sb_puts(&out, ". The blocks of a kernel do not wait for each other, and no template computes both in one block");
    return out.text;
}
