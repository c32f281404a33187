/* `risec check --laws`: the rules and the operators of a file, tested as the claims that they are. */
#include "driver/results.h"
#include "rewrite/laws.h"

#include "driver/driver.h"

/* ---- counter-examples ----------------------------------------------------------------------------------------------------- */

/* `k = 2, t = i32, f = fun (a: i32) => a`: what the parameters of the rule are. */
static void put_parameters(StrBuf *out, const LawOutcome *o)
{
    const char *between = "";
    for (int i = 0; i < o->rule->n_params; i++) {
        const Param *p = &o->rule->params[i];
        bool nat = ast_is_nat(p->kind);
        if (!nat && !o->shape.types[i] && !o->said[i])
            continue;
        sb_printf(out, "%s%s = ", between, p->name);
        between = ", ";
        if (nat)
            sb_printf(out, "%lld", (long long)o->shape.nats[i]);
        else
            sb_puts(out, o->shape.types[i] ? o->shape.types[i] : o->said[i]);
    }
}

static void put_side(StrBuf *out, const Launch *run)
{
    for (int k = 0; k < run->n_results; k++) {
        sb_puts(out, k ? ", " : run->n_results > 1 ? "(" : "");
        results_put_row(out, &run->results[k]);
    }
    sb_puts(out, run->n_results > 1 ? ")" : "");
}

typedef struct Showing {
    Ctx *to;
    const LawTrial *trial;
    const char *head, *details;
} Showing;

/* Both in a context of its own, which ends with it; the words are the caller's. */
static void show_counter(Ctx *ctx, void *user)
{
    Showing *s = user;
    LawOutcome o;
    StrBuf head, details;
    sb_init(&head, s->to);
    sb_init(&details, s->to);
    law_try(ctx, s->trial, &o);
    if (!o.rule)
        return;
    sb_printf(&head, o.result == LAW_OTHER ? "`%s` is no law: its sides differ" : "`%s` breaks the types", s->trial->rule);
    if (o.rule->n_params) {
        sb_puts(&head, ", with ");
        put_parameters(&head, &o);
    }
    if (o.shape.constants)
        sb_puts(&head, "; constants of templates have other values than are written");
    s->head = head.text;
    s->details = o.why ? ctx_printf(s->to, "%s", o.why) : NULL;
    if (!o.left_run.n_results)
        return;
    StrBuf inputs;
    sb_init(&inputs, s->to);
    results_put_inputs(&inputs, o.before, &o.left_run);
    sb_printf(&details, "%s%s%sthe left side gives ", inputs.len ? "for " : "", inputs.len ? inputs.text : "", inputs.len ? ", " : "");
    put_side(&details, &o.left_run);
    if (o.why) {
        sb_printf(&details, ", and the right side nothing: %s", o.why);
    } else {
        sb_puts(&details, ", and the right side ");
        put_side(&details, &o.right_run);
    }
    s->details = details.text;
}

/* ---- rules -------------------------------------------------------------------------------------------------------------- */

static void check_rule(Ctx *ctx, Driver *d, const LawFile *file, const Item *rule, uint64_t seed, StrBuf *out)
{
    LawReport r;
    law_test(ctx, file, rule->name, &(LawHow){.seed = seed, .trials = LAW_TRIALS, .fires = LAW_FIRES}, &r);
    long all = 0;
    for (int k = 0; k < LAW_RESULTS; k++)
        all += r.counts[k];
    if (r.wrong) {
        Showing s = {.to = ctx, .trial = &r.counter};
        Ctx *own = ctx_new_part(ctx);
        if (!own || !ctx_try(own, show_counter, &s)) {
            ctx_free(own);
            ctx_out_of_memory(ctx);
        }
        ctx_free(own);
        Diag *diag = diag_error(ctx, E0808, rule->name_span, "%s", s.head);
        if (s.details)
            diag_help(ctx, diag, "%s", s.details);
        driver_fail(d, STATUS_PROGRAM);
        return;
    }
    if (r.counts[LAW_SAME] == 0) {
        Diag *diag = diag_warning(ctx, W0703, rule->name_span, "`%s` could not be used in %ld trials, so it is not tested", rule->name, all);
        if (r.refusal)
            diag_help(ctx, diag, "this was said of the last one, which had sizes, functions and names of its own: %s", r.refusal);
        return;
    }
    sb_printf(out, "rule %s: fired %ld times in %ld trials, and both sides agreed\n", rule->name, r.counts[LAW_SAME], all);
    long entered = 0;
    for (int i = 0; i < r.n_classes; i++)
        entered += r.classes[i].entered;
    if (r.n_classes)
        sb_printf(out, "  %ld of %d branches of size tests entered\n", entered, r.n_classes);
    for (int i = 0; i < r.n_classes; i++)
        if (!r.classes[i].entered) {
            diag_error(ctx, E0809, rule->name_span, "`%s` is not tested where the size test at %s %s", rule->name, r.classes[i].where,
                       r.classes[i].holds ? "holds" : "does not hold");
            driver_fail(d, STATUS_PROGRAM);
        }
    for (int i = 0; i < rule->n_where && i < LAW_CONDITIONS; i++)
        if (!r.needed[i]) {
            sb_puts(out, "  nothing shows that it needs `");
            ast_print(out, rule->where[i]);
            sb_puts(out, "`\n");
        }
}

/* ---- operators ------------------------------------------------------------------------------------------------------------- */

static void check_operator(Ctx *ctx, Driver *d, const LawFile *file, const Item *operator, uint64_t seed, StrBuf *out)
{
    LawOperator op;
    OperatorReport r;
    if (!law_operator_of(ctx, file, operator, &op))
        return;
    law_test_operator(ctx, &op, seed, &r);
    if (r.law && law_fails_for_nan(&r)) {
        sb_printf(out, "operator %s: its laws held in %ld trials, but for NaN\n"
                  "  %s\n"
                  "  they hold from its unit on: `reduce` and `scan` may use it; `reduceWarp` and rules with `lawful` may not\n",
                  operator->name, r.trials, law_values_text(ctx, &r));
        return;
    }
    if (r.law) {
        law_report_operator(ctx, operator, operator->name_span, NULL, &r);
        driver_fail(d, STATUS_PROGRAM);
        return;
    }
    sb_printf(out, "operator %s: its laws held in %ld trials%s\n", operator->name, r.trials, r.zeros ? ", but for the sign of a zero" : "");
}

/* ---- a file --------------------------------------------------------------------------------------------------------------- */

void check_laws(Ctx *ctx, Driver *d, const char *path)
{
    LawFile file = {.path = path};
    char *text;
    FileStatus status = strcmp(path, "-") == 0 ? FILE_UNFIT : ctx->files.read(ctx->files.user, ctx, path, FILE_REGULAR, LIMIT_SOURCE_BYTES, &text, &file.size);
    if (status == FILE_UNFIT)
        driver_usage(ctx, d, E0621, "`--laws` reads the file several times, so it has to be one");
    if (status != FILE_OK)
        return; /* has been reported */
    file.text = text;
    const AstFile *ast = program_ast(program_load(ctx, path));
    uint64_t seed = (uint64_t)option_number(d->line, OPT_SEED, LAW_SEED);
    StrBuf out;
    sb_init(&out, ctx);
    sb_printf(&out, "laws of %s, seed %llu\n", path, (unsigned long long)seed);
    for (int i = 0; ast && i < ast->items.n; i++) {
        const Item *item = ast->items.at[i];
        if (item->kind == ITEM_RULE)
            check_rule(ctx, d, &file, item, seed, &out);
        else if (item->kind == ITEM_OPERATOR && item->n_params == 2 && item->result)
            check_operator(ctx, d, &file, item, seed, &out);
    }
    driver_write(ctx, d, "-", out.text, out.len);
}
