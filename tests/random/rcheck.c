#include "rcheck.h"
#include "rplace.h"

#include <stdio.h>
#include <stdlib.h>

const char *const verdict_names[V_COUNT] = {"good",       "refused",         "compiled, not run",        "sim and ref differ", "finding of the simulator", "differs in place", "internal error",
                                            "called ill-typed", "unexpected run-time code", "crash",     "hang"};

enum { LARGEST_BLOCK = 64 << 20 };

/* ---- compiling -------------------------------------------------------------------------------------------------------------------------------- */

typedef struct Job {
    const char *text;
    CoreEntry *entry;
    ImpProgram *imp;
} Job;

static void compile(Ctx *ctx, void *user)
{
    Job *job = user;
    Program *program = program_from_text(ctx, "random", job->text, strlen(job->text));
    if (program_entry_count(program) < 1)
        return;
    job->entry = elab_entry(ctx, program, 0, 0, NULL);
    if (!job->entry || core_verify(ctx, job->entry))
        return;
    job->imp = lower_entry(ctx, job->entry, PASS_OUTLINE);
    if (!job->imp)
        return;
    StrBuf out; /* printed only to see that it can be */
    sb_init(&out, ctx);
    cuda_print(ctx, &out, 1, &job->imp, true);
    manifest_print(ctx, &out, 1, &job->imp);
}

/* The simulator watches each cell of each block's memory, and a random program may ask for much. One that wants too much at once is not run. */
static void *bounded_alloc(void *user, size_t size)
{
    (void)user;
    return size > LARGEST_BLOCK ? NULL : malloc(size);
}

static void bounded_free(void *user, void *block)
{
    (void)user;
    free(block);
}

Compiled compile_quietly(const char *text)
{
    Job job = {.text = text};
    Compiled c = {.ctx = ctx_new(&(Allocator){NULL, bounded_alloc, bounded_free}, NULL)};
    if (c.ctx && ctx_try(c.ctx, compile, &job)) {
        c.entry = job.entry;
        c.imp = job.imp;
    }
    return c;
}

void lowered_scalars(bool scalars[SC_COUNT])
{
    for (int s = 0; s < SC_COUNT; s++) {
        char text[128];
        snprintf(text, sizeof text, "entry f {n: nat} (xs: n.%s): n.%s = xs |> mapGlobal(id)\n", scalar_name((Scalar)s), scalar_name((Scalar)s));
        Compiled c = compile_quietly(text);
        scalars[s] = c.imp != NULL;
        compiled_free(&c);
    }
}

/* ---- which primitives a program has ------------------------------------------------------------------------------------------------------------- */

static void count_prims(const Core *e, bool writing, RResult *r)
{
    switch (e->kind) {
    case CORE_PRIM: {
        const PrimRow *row = &prim_rows[e->prim.id];
        bool computes = row->level != LEVEL_VIEW && row->level != LEVEL_SCALAR;
        (writing && !computes ? r->writes : r->reads)[e->prim.id] = 1;
        for (int k = 0; k < e->prim.n_args; k++) {
            bool last = k == e->prim.n_args - 1, zip = e->prim.id == P_zip || e->prim.id == P_zip3 || e->prim.id == P_zip4;
            bool inside = row->level == LEVEL_MEM || (row->level == LEVEL_VIEW && writing && (last || zip)) || (computes && !last && k == 0 && writing);
            count_prims(e->prim.args[k], inside, r);
        }
        break;
    }
    case CORE_LAMBDA: count_prims(e->lambda.body, writing, r); break;
    case CORE_LET:
        count_prims(e->let.value, false, r);
        count_prims(e->let.body, writing, r);
        break;
    case CORE_TUPLE:
        for (int k = 0; k < e->tuple.n; k++)
            count_prims(e->tuple.items[k], writing, r);
        break;
    case CORE_PROJ: count_prims(e->proj.value, false, r); break;
    case CORE_IF:
        count_prims(e->cond.cond, false, r);
        count_prims(e->cond.then, writing, r);
        count_prims(e->cond.otherwise, writing, r);
        break;
    case CORE_VAR: case CORE_LIT: case CORE_SIZE: case CORE_UNIT_ERROR: break;
    }
}

const char *const form_names[FORM_COUNT] = {"toShared[pad]",     "toShared[swizzle]", "toShared[inPlace]",   "mapThreads[place]", "reduceSeq of an array", "reduceSeq of a tuple", "size test at the top",
                                            "unroll of shuffles", "std.warp",         "shfl through data", "vec",               "f16",                   "bf16"};

static void count_type(const RType *t, RResult *r)
{
    if (!t)
        return;
    r->forms[FORM_VECTOR] |= t->kind == R_VEC;
    r->forms[FORM_F16] |= (t->kind == R_SCALAR || t->kind == R_VEC) && t->scalar == SC_F16;
    r->forms[FORM_BF16] |= (t->kind == R_SCALAR || t->kind == R_VEC) && t->scalar == SC_BF16;
    count_type(t->elem, r);
    for (int k = 0; k < t->n; k++)
        count_type(t->items[k], r);
}

/* Elaboration leaves nothing of these: they are counted in the tree. */
static void count_forms(const Node *e, RResult *r)
{
    bool prim = e->kind == N_PRIM, fold = prim && (e->prim == P_reduceSeq || e->prim == P_reduceSeqUnroll);
    r->reads[P_id] |= prim && e->prim == P_id;
    r->forms[FORM_PAD] |= prim && e->prim == P_toShared && e->axis > 0 && e->axis < SWIZZLE;
    r->forms[FORM_SWIZZLE] |= prim && e->prim == P_toShared && e->axis == SWIZZLE;
    r->forms[FORM_IN_PLACE] |= prim && e->prim == P_toShared && e->axis == IN_PLACE;
    r->forms[FORM_PLACE] |= e->place[0] > 0;
    r->forms[FORM_ARRAY_STATE] |= fold && e->type->kind == R_ARRAY;
    r->forms[FORM_TUPLE_STATE] |= fold && e->type->kind == R_TUPLE;
    r->forms[FORM_SIZE_TEST] |= e->kind == N_TEST;
    r->forms[FORM_UNROLL] |= e->kind == N_UNROLL;
    r->forms[FORM_TREE] |= e->kind == N_TREE;
    r->forms[FORM_DATA_SHUFFLE] |= prim && e->prim == P_shfl && e->args[0]->kind == N_VAR;
    count_type(e->type, r);
    for (int k = 0; k < e->n; k++)
        count_forms(e->args[k], r);
}

/* ---- running ------------------------------------------------------------------------------------------------------------------------------------------ */

enum { MAX_CELLS = 20000, MAX_STEPS = 150000 };

static int64_t size_near(const RAtom *a, int64_t want)
{
    if (a->by) /* lengths are multiples of `by` times this size */
        want = (want + a->by - 1) / a->by;
    int64_t atom = (want + a->unit - 1) / a->unit;
    return (atom < a->least ? a->least : atom) * a->unit;
}

RTrial random_trial(const RProgram *p, uint64_t seed, int k)
{
    static const int classes[] = {0, 1, 31, 32, 33, 45, 64, 100, 1000, 1023, 1024, 1025, 2047};
    uint64_t state = seed + 77 * (uint64_t)k;
    RTrial t = {.seed = random_next(&state)};
    for (int i = 0; i < p->n_names; i++) {
        int64_t want = k == 2 ? random_below(&state, 2) : k == 1 || random_below(&state, 3) == 0 ? random_below(&state, 400) : classes[random_below(&state, 13)];
        if (i > 0 && want > 100)
            want = random_below(&state, 40);
        t.sizes[i] = size_near(p->names[i], want);
    }
    t.grid = k == 0 ? 0 : k == 1 ? 1 : k == 2 ? 0 : 1 + random_below(&state, 4);
    return t;
}

void random_sizes(const Compiled *c, const RProgram *p, const RTrial *t, int64_t *sizes)
{
    for (int i = 0; i < c->entry->n_sizes && i < NAMES_MAX; i++)
        for (int k = 0; k < p->n_names; k++)
            if (strcmp(c->entry->sizes[i]->name, p->names[k]->name) == 0)
                sizes[i] = t->sizes[k];
}

Outcome run_random_trial(Compiled *c, const RProgram *p, const RTrial *t, SimReport *report)
{
    int64_t sizes[NAMES_MAX] = {0};
    random_sizes(c, p, t, sizes);
    Trial trial = {.grid = t->grid, .seed = t->seed, .compare = true, .quiet = true, .max_cells = MAX_CELLS};
    return run_trial_at(c, trial, sizes, MAX_STEPS, report);
}

Outcome run_random_trial_over(Compiled *c, const RProgram *p, const RTrial *t, const int *over)
{
    SimReport report = {.warp_instructions = 0};
    int64_t sizes[NAMES_MAX] = {0};
    random_sizes(c, p, t, sizes);
    Trial trial = {.grid = t->grid, .seed = t->seed, .compare = true, .quiet = true, .max_cells = MAX_CELLS};
    return run_trial_over(c, trial, sizes, MAX_STEPS, over, &report);
}

static unsigned features_at(const Compiled *c, const RProgram *p, const RTrial *t)
{
    int64_t sizes[NAMES_MAX] = {0};
    random_sizes(c, p, t, sizes);
    return features_of(c->entry, sizes);
}

/* ---- the verdict ---------------------------------------------------------------------------------------------------------------------------------------- */

int first_error(const Ctx *ctx)
{
    for (int i = 0; i < ctx->diags.list.n; i++)
        if (!ctx->diags.list.at[i]->warning)
            return (int)ctx->diags.list.at[i]->code;
    return -1;
}

bool may_refuse(int code)
{
    switch (code) {
    case E0302: case E0303: case E0304: case E0305: case E0306: case E0308: case E0312: return true;
    case E0501: case E0503: return true;
    default: return strncmp(diag_code_name((DiagCode)code), "E04", 3) == 0; /* levels and memory */
    }
}

/* Sizes that this launch cannot have, or too much work. */
static bool may_not_run(int code)
{
    return code == -1 || code == E0601 || code == E0602 || code == E0604 || code == E0605 || code == E0641 || code == E0642 || code == E0643 || code == E0644;
}

static void show(Ctx *ctx, void *user)
{
    (void)user;
    StrBuf out;
    sb_init(&out, ctx);
    diag_render(ctx, &out, false);
    printf("%s", out.text ? out.text : "");
}

RResult check_program(const RProgram *p, uint64_t seed, bool say)
{
    RResult r = {.verdict = V_NOT_RUN, .code = -1, .finding = -1};
    Compiled c = compile_quietly(program_text(p));
    if (!c.imp) {
        r.code = c.ctx ? first_error(c.ctx) : -1;
        r.verdict = r.code == E0510 || r.code == -1 ? V_INTERNAL : may_refuse(r.code) ? V_REFUSED : V_ILL_TYPED;
        if (say && c.ctx)
            ctx_try(c.ctx, show, NULL);
        compiled_free(&c);
        return r;
    }
    count_prims(c.entry->body, true, &r);
    count_forms(p->body, &r);
    for (int k = 0; k < TRIALS && !verdict_fails(r.verdict); k++) {
        SimReport report = {.warp_instructions = 0};
        RTrial t = random_trial(p, seed, k);
        c.ctx->diags.list.n = c.ctx->diags.errors = 0;
        Outcome o = run_random_trial(&c, p, &t, &report);
        int code = first_error(c.ctx);
        r.trial = t;
        r.agreed += o == AGREE;
        r.features |= o == AGREE ? features_at(&c, p, &t) : 0;
        r.cannot += o == CANNOT;
        if (o == AGREE)
            r.verdict = k > 0 || try_in_place(&c, p, &t, &r) ? V_GOOD : V_IN_PLACE;
        else if (o == DIFFER)
            r.verdict = V_DIFFER;
        else if (o == FINDING) {
            r.verdict = V_FINDING;
            r.finding = report.findings.n ? (int)report.findings.at[0].kind : -1;
            for (int i = 0; say && i < report.findings.n; i++)
                printf("-- %s\n", report.findings.at[i].text);
        } else if (!may_not_run(code)) {
            r.verdict = V_RUN_CODE;
            r.code = code;
            if (say)
                ctx_try(c.ctx, show, NULL);
        }
    }
    compiled_free(&c);
    return r;
}
