/* `risec lower --verify-each`: is a program still the same after each step? */
#include "driver/judge.h"
#include "driver/results.h"
#include "driver/steps.h"
#include "ir/sample.h"

typedef struct Verifier {
    Ctx *ctx;
    const CoreEntry *entry;
    const Rewriting *r;
    SampleInputs how;
    int step; /* whose two sides are looked at */
    const char *failed; /* what was wrong after it, where that has no result */
    Judgement judgement;
    Launch before, after;
    bool rounded;
    int not_judged; /* steps that took too long with some launch */
} Verifier;

static CoreEntry *with_body(Ctx *ctx, const CoreEntry *entry, Core *body)
{
    CoreEntry *new = NEW(ctx, CoreEntry);
    *new = *entry;
    new->body = body;
    return new;
}

static const CoreEntry *body_entry(const Verifier *v, Core *body) { return with_body(v->ctx, v->r->entry ? v->r->entry : v->entry, body); }

/* Runs one side; what the interpreter says is kept in *why and no diagnostic. */
static bool evaluate(Verifier *v, Core *body, Launch *launch, const char **why)
{
    Ctx *ctx = v->ctx;
    int before = ctx->diags.list.n, errors = ctx->diags.errors;
    launch->max_steps = VERIFY_STEPS;
    bool good = sample_run(ctx, body_entry(v, body), launch);
    *why = ctx->diags.list.n > before ? ctx->diags.list.at[before]->message : NULL;
    ctx->diags.list.n = before;
    ctx->diags.errors = errors;
    return good;
}

/* A launch run with one body. */
typedef struct Side {
    Core *body;
    Launch launch;
    bool good;
    const char *why; /* what the interpreter says where it is not good */
} Side;

static Side run_side(Verifier *v, Core *body, const Launch *launch)
{
    Side side = {.body = body, .launch = *launch};
    side.good = evaluate(v, body, &side.launch, &side.why);
    if (side.good)
        sample_plain_zeros(&side.launch);
    return side;
}

/* Whether a step that leads from the one to the other changes the result. What takes too many steps is not judged. */
static bool differ(Verifier *v, const Side *before, const Side *after)
{
    v->failed = NULL;
    if (!before->good || !after->good) {
        v->failed = before->good ? after->why : NULL;
        return v->failed != NULL;
    }
    v->before = before->launch;
    v->after = after->launch;
    Judge judge = {.ctx = v->ctx, .entry = body_entry(v, before->body), .launch = before->launch};
    v->judgement = judge_results(&judge, v->after.n_results, v->after.results, v->before.results, 1);
    v->rounded |= v->judgement.verdict != JUDGED_EQUAL;
    return v->judgement.verdict == JUDGED_DIFFERENT;
}

static Core *body_before(const Verifier *v, int step) { return step ? step_body(v->ctx, &v->r->steps.at[step - 1]) : v->entry->body; }

/* Whether step v->step changes the result of this launch. */
static bool changes(void *user, const Launch *launch)
{
    Verifier *v = user;
    Side before = run_side(v, body_before(v, v->step), launch), after = run_side(v, step_body(v->ctx, &v->r->steps.at[v->step]), launch);
    return differ(v, &before, &after);
}

/* The same with other sizes, and with a few sets of inputs, as small ones often show nothing; false, too, where the sizes cannot be. */
static bool changes_at(Verifier *v, const int64_t *sizes, Launch *launch)
{
    enum { SETS = 4 };
    int before = v->ctx->diags.list.n, errors = v->ctx->diags.errors;
    bool found = false;
    for (int k = 0; k < SETS && !found; k++) {
        SampleInputs how = v->how;
        how.seed += (uint64_t)k;
        found = sample_launch(v->ctx, v->entry, sizes, &how, launch) && changes(v, launch);
    }
    v->ctx->diags.list.n = before;
    v->ctx->diags.errors = errors;
    return found;
}

static void shrink(Verifier *v, Launch *launch)
{
    enum { TRIES = 70 };
    int64_t *sizes = launch->sizes;
    for (int i = 0; i < v->entry->n_sizes; i++)
        for (int64_t to = 0; to < sizes[i] && to < TRIES; to++) {
            int64_t *smaller = NEWN(v->ctx, int64_t, v->entry->n_sizes);
            memcpy(smaller, sizes, sizeof *sizes * (size_t)v->entry->n_sizes);
            smaller[i] = to;
            Launch other;
            if (!changes_at(v, smaller, &other))
                continue;
            *launch = other;
            sizes = launch->sizes;
            break;
        }
    sample_shrink_values(v->ctx, launch, changes, v);
    changes(v, launch); /* for the words */
}

static void put_sizes(StrBuf *out, const CoreEntry *entry, const Launch *launch)
{
    for (int i = 0; i < entry->n_sizes; i++)
        sb_printf(out, "%s%s = %lld", i ? ", " : "with ", entry->sizes[i]->name, (long long)launch->sizes[i]);
    sb_puts(out, entry->n_sizes ? ", " : "");
}

static void report(Verifier *v, const Launch *launch)
{
    const RewriteStep *s = &v->r->steps.at[v->step];
    const Judgement *c = &v->judgement;
    StrBuf text;
    sb_init(&text, v->ctx);
    sb_printf(&text, "step %d, `%s` at `%s`, changes the result (seed %llu): ", v->step + 1, s->rule, s->place, (unsigned long long)v->how.seed);
    put_sizes(&text, v->entry, launch);
    if (v->failed) {
        sb_printf(&text, "it cannot be computed any more: %s", v->failed);
    } else {
        const HostBuf *before = &v->before.results[c->result], *after = &v->after.results[c->result];
        sb_puts(&text, "result");
        if (v->before.n_results > 1)
            sb_printf(&text, ".%d", c->result + 1);
        results_put_index(&text, before, c->cell);
        sb_puts(&text, " was ");
        results_put_cell(&text, before, c->cell);
        sb_puts(&text, " before it and is ");
        results_put_cell(&text, after, c->cell);
        sb_puts(&text, " after it");
    }
    Diag *d = diag_error_of_user(v->ctx, E0806, s->span, s->users, "this step of the library's strategy", "%s", text.text);
    StrBuf inputs;
    sb_init(&inputs, v->ctx);
    results_put_inputs(&inputs, v->entry, launch);
    if (inputs.len)
        diag_help(v->ctx, d, "the inputs were %s", inputs.text);
}

/* Looks at the steps with one launch. False where one changes the result. */
static bool verify_launch(Verifier *v, const int64_t *sizes, bool *ran)
{
    Launch launch;
    int before = v->ctx->diags.list.n, errors = v->ctx->diags.errors;
    *ran = sample_launch(v->ctx, v->entry, sizes, &v->how, &launch);
    v->ctx->diags.list.n = before;
    v->ctx->diags.errors = errors;
    Side last = {0};
    if (*ran)
        last = run_side(v, v->entry->body, &launch);
    *ran = last.good;
    for (v->step = 0; *ran && v->step < v->r->steps.n; v->step++) {
        Core *body = step_body(v->ctx, &v->r->steps.at[v->step]);
        if (body == body_before(v, v->step))
            continue;
        Side after = run_side(v, body, &launch);
        if (differ(v, &last, &after)) {
            shrink(v, &launch);
            report(v, &launch);
            return false;
        }
        /* A step that takes too long is not judged; the next one is then compared with what was before both. */
        if (after.good)
            last = after;
        else
            v->not_judged++;
    }
    return true;
}

/* What --set says of the sizes. */
static int64_t *fixed_sizes(Ctx *ctx, const Driver *d, const CoreEntry *entry)
{
    int64_t *fixed = NEWN(ctx, int64_t, entry->n_sizes + 1);
    for (int i = 0; i < entry->n_sizes; i++) {
        fixed[i] = -1;
        for (int k = 0; k < d->line->given.n; k++)
            if (d->line->given.at[k].id == OPT_SET && strcmp(d->line->given.at[k].name, entry->sizes[i]->name) == 0)
                fixed[i] = d->line->given.at[k].number;
    }
    return fixed;
}

bool verify_steps(Ctx *ctx, Driver *d, const CoreEntry *entry, const Rewriting *r, StepsVerified *out)
{
    Verifier *v = NEW(ctx, Verifier);
    int64_t marks[SAMPLE_MARKS], *sizes[VERIFY_LAUNCHES];
    *v = (Verifier){.ctx = ctx, .entry = entry, .r = r, .how = {.seed = (uint64_t)option_number(d->line, OPT_SEED, 0), .max_cells = VERIFY_CELLS}};
    *out = (StepsVerified){.seed = v->how.seed, .n_sizes = entry->n_sizes};
    const CoreEntry *last = r->steps.n ? with_body(ctx, entry, step_body(ctx, &r->steps.at[r->steps.n - 1])) : entry;
    int n_marks = sample_marks(last, marks);
    int n = sample_sizes(ctx, entry, &v->how, fixed_sizes(ctx, d, entry), n_marks, marks, VERIFY_LAUNCHES, sizes);
    for (int i = 0; i < n; i++) {
        bool ran;
        if (!verify_launch(v, sizes[i], &ran)) {
            driver_fail(d, STATUS_PROGRAM);
            return false;
        }
        if (ran)
            out->sizes[out->n_launches++] = sizes[i];
    }
    out->rounded = v->rounded;
    out->not_judged = v->not_judged;
    if (out->n_launches)
        return true;
    Diag *diag = driver_usage(ctx, d, E0621, "`--verify-each`: no small sizes were found that `%s` can be evaluated with", entry->name);
    diag_help(ctx, diag, "give some: `--set %s=...`", entry->n_sizes ? entry->sizes[0]->name : "n");
    return false;
}
