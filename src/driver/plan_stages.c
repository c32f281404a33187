/* The arrays of a plan and the stages that compute them, from the term that the scheduler left (the
 * step `stored`). Who computes each comes from the steps that were made there. */
#include "driver/plan.h"

#include "ir/result_place.h"
#include "ir/terms.h"

typedef struct Place { /* in the body, while the scheduler's stages are lowered */
    int n;
    const int *path;
} Place;

typedef struct Making {
    Plan *plan;
    const Rewriting *r;
    int first; /* the first step after `stored` */
    bool repeats;
    ImpWhens when; /* branches of the program, by sizes, that the stage stands in */
    int whole;     /* of Plan.arrays: the result, or the state whose step it is */
    int parts;     /* components of that that stages before it have written */
} Making;

/* ---- arrays ------------------------------------------------------------------------------------ */

static Nat bytes_of(Ctx *ctx, Type type)
{
    Nat bytes = nat_const(ctx, 0);
    for (int k = 0; k < type_component_count(type); k++) {
        Type part = type_component(ctx, type, k);
        bytes = nat_add(ctx, bytes, nat_mul_k(ctx, type_cells(ctx, part), scalar_bytes(type_scalar_of(ctx, part))));
    }
    return bytes;
}

static bool is_name(const Plan *plan, const char *name)
{
    bool found = false;
    for (int i = 0; i < plan->arrays.n; i++)
        found |= strcmp(plan->arrays.at[i].name, name) == 0;
    return found;
}

static const char *new_name(const Plan *plan, const char *name)
{
    const char *unique = name;
    for (int k = 1; is_name(plan, unique); k++)
        unique = ctx_printf(plan->ctx, "%s_%d", name, k);
    return unique;
}

static int add_array(Plan *plan, PlanArray array)
{
    array.name = new_name(plan, array.name);
    array.bytes = bytes_of(plan->ctx, array.type);
    vec_push(plan->ctx, &plan->arrays, array);
    return plan->arrays.n - 1;
}

static void add_arguments(Plan *plan)
{
    const CoreEntry *entry = plan->entry;
    for (int i = 0; i < entry->n_inputs; i++) {
        CoreVar *var = entry->inputs[i];
        add_array(plan, (PlanArray){.place = PLAN_INPUT, .name = var->name, .var = var, .type = var->type, .span = var->span});
    }
    add_array(plan, (PlanArray){.place = PLAN_RESULT, .name = "result", .type = entry->result, .span = entry->name_span});
}

static const NestChoice *choice_of(const Plan *plan, const CoreVar *var)
{
    for (int i = 0; plan->choices && i < plan->choices->n; i++)
        if (plan->choices->at[i].nest->var == var)
            return &plan->choices->at[i];
    return NULL;
}

/* An array that is stored: as terms of the scheduler know it, and as kernels do; `named`: how it is
 * called, if not as either. */
static int add_stored(Plan *plan, PlanArray array, CoreVar *var, const CoreVar *holds, const char *named)
{
    const NestChoice *choice = var ? choice_of(plan, var) : NULL;
    const char *name = named ? named : var ? var->name : holds->name;
    bool whole = false; /* called as all of the result is */
    for (int i = 0; i < plan->arrays.n && name && array.place == PLAN_PART; i++)
        whole |= plan->arrays.at[i].place == PLAN_RESULT && strcmp(plan->arrays.at[i].name, name) == 0;
    array.name = whole ? plan_part(plan, &array) : name ? name : "temp";
    array.var = var;
    array.holds = holds;
    array.span = choice ? choice->nest->element->span : holds->span;
    array.choice = choice;
    int at = add_array(plan, array);
    if (var)
        var->name = plan->arrays.at[at].name; /* as terms are shown */
    return at;
}

/* Those that are not stored, and no results. */
static void add_kept(Plan *plan)
{
    for (int i = 0; plan->choices && i < plan->choices->n; i++) {
        const NestChoice *choice = &plan->choices->at[i];
        const ImpWhens in_list = {.at = &(ImpWhen){choice->cond, choice->holds}, .n = choice->cond != NULL};
        if ((!choice->inlined && !choice->with) || plan_excludes(plan, &plan->decided, &in_list))
            continue;
        CoreVar *var = choice->nest->var;
        const char *name = var->name;
        bool taken = true;
        for (int k = 1; taken; k++) {
            taken = is_name(plan, name);
            for (int j = 0; j < plan->kept.n; j++)
                taken |= strcmp(plan->kept.at[j].name, name) == 0;
            name = taken ? ctx_printf(plan->ctx, "%s_%d", var->name, k) : name;
        }
        vec_push(plan->ctx, &plan->kept, ((PlanKept){name, choice}));
    }
}

/* ---- stages ------------------------------------------------------------------------------------ */

static Place below(Ctx *ctx, Place p, int child)
{
    int *path = NEWN(ctx, int, p.n + 1);
    for (int i = 0; i < p.n; i++)
        path[i] = p.path[i];
    path[p.n] = child;
    return (Place){p.n + 1, path};
}

static bool is_in(const RewriteStep *step, Place p)
{
    bool inside = step->depth >= p.n;
    for (int i = 0; i < p.n && inside; i++)
        inside = step->path[i] == p.path[i];
    return inside;
}

static const RewriteStep *rule_at(const Making *m, Place p)
{
    for (int i = m->first; i < m->r->steps.n; i++) {
        const RewriteStep *step = &m->r->steps.at[i];
        if (step->law && is_in(step, p))
            return step;
    }
    return NULL;
}

static bool has_prim(const Core *term, bool (*is)(PrimId id))
{
    if (term->kind == CORE_PRIM && is(term->prim.id))
        return true;
    for (int i = 0; i < term_children(term); i++)
        if (has_prim(term_child(term, i), is))
            return true;
    return false;
}

static bool is_of_blocks(PrimId id)
{
    PrimLevel level = prim_rows[id].level;
    return level == LEVEL_BLOCK || level == LEVEL_THREAD || level == LEVEL_WARP || level == LEVEL_LANE;
}

static bool is_of_chip(PrimId id) { return id == P_toShared || id == P_toPrivate; }

static bool is_of_vectors(PrimId id) { return id == P_asVector; }

/* A part that is named as the result that it is, is not read there. */
static void add_read(Plan *plan, PlanStage *stage, int array, ArrayReads reads)
{
    const PlanArray *a = &plan->arrays.at[array];
    if (a->place == PLAN_PART && stage->rest) {
        reads.uses = nat_sub(plan->ctx, reads.uses, type_cells(plan->ctx, a->type));
        if (nat_is(reads.uses, 0))
            return;
    }
    vec_push(plan->ctx, &stage->reads, ((PlanReads){.array = array, .reads = reads}));
}

static void add_reads(Making *m, PlanStage *stage)
{
    Plan *plan = m->plan;
    ReadsOf all = {0};
    const TermWork work = stage->keeps ? WORK_TOGETHER : stage->vectors ? WORK_VECTORS : WORK_ALONE;
    term_reads(plan->ctx, plan->lowered->known, stage->term, work, &all);
    for (int i = 0; i < all.n; i++)
        for (int a = 0; a < plan->arrays.n; a++)
            if (plan->arrays.at[a].var && plan->arrays.at[a].var == all.at[i].array)
                add_read(plan, stage, a, all.at[i]);
}

static void add_stage(Making *m, PlanStage stage, Place at)
{
    Ctx *ctx = m->plan->ctx;
    stage.rule = rule_at(m, at);
    SlowWalks walks = {0};
    term_slow_walks(ctx, m->plan->lowered->known, stage.lowered, &walks);
    stage.walk = walks.n ? walks.at[0] : NULL;
    stage.by_blocks = has_prim(stage.lowered, is_of_blocks);
    stage.keeps = stage.by_blocks && has_prim(stage.lowered, is_of_chip);
    stage.vectors = has_prim(stage.lowered, is_of_vectors);
    stage.several = stage.lowered && stage.lowered->kind == CORE_TUPLE;
    if (stage.term)
        add_reads(m, &stage);
    stage.step = m->repeats;
    for (int i = 0; i < m->when.n; i++)
        vec_push(ctx, &stage.when, m->when.at[i]);
    vec_push(ctx, &m->plan->stages, stage);
}

static void add_stages(Making *m, const Core *term, const Core *lowered, Place at, int makes);

static void add_value(Making *m, const Core *value, const Core *lowered, Place at, int makes);

/* What comes behind a kernel that does nothing, and gives it its launch. */
static const Core *behind_nothing(const Core *term)
{
    bool nothing = term && term_is(term, P_nextKernel) && term->prim.args[1]->kind == CORE_LIT;
    return nothing ? term->prim.args[0]->lambda.body : term;
}

/* Do the sizes that are given decide the condition? Then the plan is of that branch alone. */
static bool is_decided(Making *m, const Core *cond, bool *holds)
{
    Plan *plan = m->plan;
    const ImpWhens when = {.at = &(ImpWhen){cond, true}, .n = 1};
    bool decided = plan->at && imp_when_holds(NULL, plan->program->entry, &when, plan->at, holds);
    if (decided)
        vec_push(plan->ctx, &plan->decided, ((ImpWhen){cond, *holds}));
    return decided;
}

/* Of a value that sizes choose, each side. */
static void add_sides(Making *m, const Core *value, const Core *lowered, Place at, int makes)
{
    Ctx *ctx = m->plan->ctx;
    bool holds;
    if (is_decided(m, lowered->cond.cond, &holds)) {
        const int side = holds ? 1 : 2;
        add_value(m, behind_nothing(value ? term_child(value, side) : NULL), behind_nothing(term_child(lowered, side)), below(ctx, at, side), makes);
        return;
    }
    for (int i = 1; i <= 2; i++) {
        vec_push(ctx, &m->when, ((ImpWhen){lowered->cond.cond, i == 1}));
        add_value(m, behind_nothing(value ? term_child(value, i) : NULL), behind_nothing(term_child(lowered, i)),
                  below(ctx, at, i), makes);
        m->when.n--;
    }
}

/* What is stored before the next kernel. */
static void add_value(Making *m, const Core *value, const Core *lowered, Place at, int makes)
{
    bool repeats = term_is(lowered, P_repeatKernels);
    if (lowered->kind == CORE_IF && term_repeat(lowered)) {
        add_sides(m, value && value->kind == CORE_IF ? value : NULL, lowered, at, makes);
        return;
    }
    if (!repeats || (value && !term_is(value, P_repeatKernels))) {
        add_stage(m, (PlanStage){.makes = makes, .term = value, .lowered = lowered}, at);
        return;
    }
    Ctx *ctx = m->plan->ctx;
    const Core *f = lowered->prim.args[0], *step = value ? value->prim.args[0] : NULL;
    add_stage(m, (PlanStage){.makes = makes, .start = true, .term = value ? value->prim.args[1] : NULL,
                             .lowered = lowered->prim.args[1]}, below(ctx, at, 1));
    const int whole = m->whole, parts = m->parts;
    m->repeats = true;
    m->whole = makes;
    m->parts = 0;
    if (step) { /* a step reads the state by its own name */
        step->lambda.params[0]->name = m->plan->arrays.at[makes].name;
        m->plan->arrays.at[makes].var = step->lambda.params[0];
    }
    add_stages(m, step ? step->lambda.body : NULL, f->lambda.body, below(ctx, below(ctx, at, 0), 0), makes);
    m->repeats = false;
    m->whole = whole;
    m->parts = parts;
}

/* Adds the components of the results that this place is of. */
static void add_components(const Plan *plan, const ResultPlace *place, Type type, PlanArray *array)
{
    int first = 0;
    for (int i = 0; i < place->n_parts; i++)
        if (!place->parts[i].elsewhere)
            add_components(plan, &place->parts[i], type, array);
    for (int i = 0; i < place->path.n; i++) {
        int k = place->path.at[i];
        while (type->kind == TY_ARRAY && k != PLACE_OF_ONE)
            type = type->elem;
        for (int item = 0; item < k; item++)
            first += type_component_count(type->items[item]);
        type = k == PLACE_OF_ONE ? type : type->items[k];
    }
    for (int i = 0; !place->n_parts && i < type_component_count(type); i++)
        vec_push(plan->ctx, &array->components, first + i);
}

/* Where the array is a result as it is: parts of that, and nothing that is stored beside. */
static PlanArray part_of_result(Making *m, const Core *next)
{
    const Plan *plan = m->plan;
    const Core *f = next->prim.args[0];
    PlanArray array = {.place = PLAN_STORED};
    ResultPlace place = {0};
    if (!result_is_made(next->prim.args[1]) || !result_place(plan->ctx, f->lambda.body, f->lambda.params[0], &place))
        return array;
    array.of = m->whole;
    add_components(plan, &place, plan->arrays.at[m->whole].type, &array);
    for (int i = 0; i < place.n_parts; i++)
        if (place.parts[i].elsewhere)
            vec_push(plan->ctx, &array.elsewhere, i);
    array.place = PLAN_PART;
    m->parts += array.components.n;
    return array;
}

/* Is the part all of the result? */
static bool is_whole(const Making *m, const PlanArray *part)
{
    const PlanArray *whole = &m->plan->arrays.at[m->whole];
    return part->place == PLAN_PART && whole->place == PLAN_RESULT && part->components.n == type_component_count(whole->type);
}

/* Of a list for each of two branches; of the one that is taken, where sizes are given. */
static void add_branches(Making *m, const Core *term, const Core *lowered, Place at, int makes)
{
    Ctx *ctx = m->plan->ctx;
    const int parts = m->parts;
    bool holds;
    if (is_decided(m, term->cond.cond, &holds)) {
        add_stages(m, term_child(term, holds ? 1 : 2), behind_nothing(term_child(lowered, holds ? 1 : 2)), below(ctx, at, holds ? 1 : 2), makes);
        return;
    }
    for (int i = 1; i <= 2; i++) {
        const Core *branch = behind_nothing(term_child(lowered, i));
        vec_push(ctx, &m->when, ((ImpWhen){term->cond.cond, i == 1}));
        m->parts = parts;
        add_stages(m, term_child(term, i), branch, below(ctx, at, i), -1);
        m->when.n--;
    }
}

/* Each array that is stored, and then what the list is for. */
static void add_stages(Making *m, const Core *term, const Core *lowered, Place at, int makes)
{
    Plan *plan = m->plan;
    Ctx *ctx = plan->ctx;
    while (term_is(lowered, P_nextKernel) && (!term || term->kind == CORE_LET)) {
        const Core *f = lowered->prim.args[0], *value = lowered->prim.args[1];
        CoreVar *var = term ? term->let.var : NULL;
        const Core *repeat = term ? term_repeat(term->let.value) : NULL;
        const char *state = repeat ? repeat->prim.args[0]->lambda.params[0]->name : NULL;
        PlanArray stored = part_of_result(m, lowered);
        if (is_whole(m, &stored)) {
            add_value(m, term ? term->let.value : NULL, value, below(ctx, at, 0), -1);
        } else {
            stored.type = value->type;
            int array = add_stored(plan, stored, var, f->lambda.params[0], state);
            add_value(m, term ? term->let.value : NULL, value, below(ctx, at, 0), array);
            plan->arrays.at[array].var = var;
        }
        lowered = f->lambda.body;
        term = term ? term->let.body : NULL;
        at = below(ctx, at, 1);
    }
    bool branches = term && term->kind == CORE_IF && lowered->kind == CORE_IF &&
                    (term_is(lowered->cond.then, P_nextKernel) || term_is(lowered->cond.otherwise, P_nextKernel));
    if (branches)
        add_branches(m, term, lowered, at, makes);
    else if (m->parts < type_component_count(plan->arrays.at[m->whole].type))
        add_stage(m, (PlanStage){.makes = makes, .rest = true, .term = term, .lowered = lowered}, at);
}

void plan_add_stages(Plan *plan, const Rewriting *r)
{
    Making making = {.plan = plan, .r = r};
    const Core *term = NULL;
    for (int i = 0; i < r->steps.n; i++)
        if (r->steps.at[i].choices) {
            making.first = i + 1;
            term = r->steps.at[i].after;
            plan->choices = r->steps.at[i].choices;
            plan->scheduled = true;
        }
    add_arguments(plan);
    making.whole = plan->arrays.n - 1;
    add_stages(&making, term, r->entry->body, (Place){0}, -1);
    add_kept(plan);
}
