/* Runs strategies. A strategy takes a term at a place to another, or does not apply; what it did until then is undone with it.
 *
 * Note [Failure]
 * `try`, `<+` and the traversals try things that need not apply, so a failure is a note of what was tried last, within a traversal of what came
 * nearest, and a diagnostic is made of it only where the whole fails. A mistake in the strategy itself (an unknown place, a wrong argument) is reported at once and ends everything.
 *
 * Note [Where a message stands]
 * At the step of the strategy that fails. Where that step is the library's, the message stands in the user's text: at the innermost part of his own strategy that was being
 * run; where he has none, at the term that was being rewritten, or the nearest one around it that he has written. A note then shows the library's step. */
#include "frontend/library.h"
#include "rewrite/laws.h"
#include "rewrite/runner.h"

/* How near a rule came to a place: where its left side stands, the level may be wrong; where that is right, a condition. */
typedef enum Near { NOT_THERE, WRONG_LEVEL, NOT_HELD, NEARNESSES } Near;

/* Of what a traversal or `<+` tries in vain, that is told which came nearest; of several, the first. */
static void start_search(Runner *r)
{
    if (r->searching++ == 0)
        r->fail_rank = -1;
}

/* Note [Where a message stands]. */
Span users_place(const Runner *r)
{
    if (r->asked.file)
        return r->asked;
    for (const Here *up = r->here; up; up = up->up)
        if (span_is_users(r->ctx, up->term->span))
            return up->term->span;
    return r->entry->name_span;
}

/* The text of the user's that the term stands for. */
static Span term_users(const Runner *r, const Here *here)
{
    for (const Here *up = here; up; up = up->up) {
        if (span_is_users(r->ctx, up->term->span))
            return up->term->span;
        if (up->term->users.file)
            return up->term->users;
    }
    return r->entry->name_span;
}

static const char library_step[] = "this step of the library's strategy";

static int fail_rank(const Runner *r, Near near) { return r->out->steps.n * NEARNESSES + (int)near; }

static Core *fail_near(Runner *r, Near near, Span span, const char *what, const Here *here, const char *why)
{
    int rank = fail_rank(r, near);
    if (r->searching && rank <= r->fail_rank)
        return NULL;
    r->fail_rank = rank;
    r->fail_span = span;
    r->fail_users = users_place(r);
    r->fail_what = what;
    r->fail_where = here_text(r->ctx, here);
    r->fail_why = why;
    r->fail_term = here->term;
    return NULL;
}

Core *strategy_fail(Runner *r, Span span, const char *what, const Here *here, const char *why) { return fail_near(r, NOT_THERE, span, what, here, why); }

Diag *strategy_error(Runner *r, DiagCode code, Span span, const char *words)
{
    r->stopped = r->mistake = true;
    return diag_error_of_user(r->ctx, code, span, users_place(r), library_step, "%s", words);
}

Core *strategy_mistake(Runner *r, DiagCode code, Span span, const char *words, const char *note)
{
    if (r->stopped) {
        r->mistake = true;
        return NULL;
    }
    Diag *d = strategy_error(r, code, span, words);
    if (note)
        diag_note(r->ctx, d, NO_SPAN, "%s", note);
    return NULL;
}

Core *strategy_endless(Runner *r, Span span, const char *words, const char *note)
{
    r->exhausted = r->bounded;
    return r->bounded ? NULL : strategy_mistake(r, E0805, span, words, note);
}

/* ---- rules --------------------------------------------------------------------------------------------------------------- */

/* `reduceSplit(4096)`, with what its parameters are here: as a strategy says it. By name where an argument in braces is given, or one is left out. */
static const char *rule_text(Runner *r, const Item *rule, const RuleBound *given)
{
    StrBuf sb;
    bool by_name = false, end = false;
    for (int i = 0; i < rule->n_params; i++) {
        by_name |= given[i].nat && (rule->params[i].implicit || end);
        end |= !given[i].nat && !rule->params[i].implicit;
    }
    const char *before = by_name ? "{" : "(";
    sb_init(&sb, r->ctx);
    sb_puts(&sb, rule->name);
    for (int i = 0; i < rule->n_params; i++)
        if (given[i].nat) {
            sb_puts(&sb, before);
            if (by_name)
                sb_printf(&sb, "%s = ", rule->params[i].name);
            sb_puts(&sb, nat_text(r->ctx, given[i].nat));
            before = ", ";
        }
    sb_puts(&sb, before[0] != ',' ? "" : by_name ? "}" : ")");
    return sb.text;
}

/* Of the step that was made last: where its rule stands, and what its parameters are. */
static void note_rule(Runner *r, const Item *rule, const char *home, const RuleBound *given)
{
    RewriteStep *s = &r->out->steps.at[r->out->steps.n - 1];
    StrBuf sb;
    sb_init(&sb, r->ctx);
    for (int i = 0; i < rule->n_params; i++)
        if (given[i].nat)
            sb_printf(&sb, "%s%s = %s", sb.len ? ", " : "", rule->params[i].name, nat_text(r->ctx, given[i].nat));
    s->home = home;
    s->given = sb.len ? sb.text : "";
}

/* Each operator is tried once. */
static bool operator_is_lawful(void *user, const Core *lambda, const char **why)
{
    Runner *r = user;
    const Item *declared = lambda->lambda.op;
    for (int i = 0; i < r->lawful.n; i++)
        if (r->lawful.at[i].declared == declared) {
            *why = r->lawful.at[i].why;
            return !*why;
        }
    if (!law_holds_for_all(r->ctx, lambda, why))
        *why = *why ? *why : "its laws fail";
    vec_push(r->ctx, &r->lawful, ((TriedOperator){declared, *why}));
    return !*why;
}

typedef struct Word { /* of a strategy's text */
    int which;         /* a combinator, or -1: */
    const Item *item;  /* a rule or a strategy */
    const char *home;  /* of the item */
    bool checked;      /* what a rule is given has been found right once */
} Word;

/* What the rule's parameters are given. False, and reported, where that does not fit. */
static bool rule_given(Runner *r, const Item *rule, const SCall *call, const SEnv *env, RuleBound *bound)
{
    for (int i = 0; i < call->n; i++) {
        int k = param_for(r, rule, call, i);
        if (k < 0)
            return false;
        if (!is_nat_param(&rule->params[k])) {
            strategy_mistake(r, E0804, call->args[i]->span, ctx_printf(r->ctx, "`%s` of `%s` is no size: what the left side of a rule fixes is not given", rule->params[k].name, rule->name), takes_text(r->ctx, rule));
            return false;
        }
        bound[k].nat = size_of(r, call->args[i], env);
        if (!bound[k].nat)
            return false;
    }
    return true;
}

/* Most of what a traversal tries is not there, and nobody hears of it: that costs no memory. */
static bool is_elsewhere(const Runner *r, const Word *word, const Here *here)
{
    return word->checked && r->searching && r->fail_rank >= fail_rank(r, NOT_THERE) && !may_match(word->item, here->term);
}

/* In the condition of an `if` that says something of sizes: what its branches are typed by. */
static bool in_size_test(const Here *here)
{
    for (; here->up; here = here->up)
        if (here->up->term->kind == CORE_IF && here->child == 0)
            return term_is_over_sizes(here->term);
    return false;
}

static Core *apply_rule(Runner *r, Word *word, const SCall *call, const SEnv *env, const Here *here)
{
    Ctx *ctx = r->ctx;
    const Item *rule = word->item;
    bool elsewhere = is_elsewhere(r, word, here);
    r->tried += elsewhere ? 1 : LOOKS_A_TRY;
    if (r->tried > r->most_tried)
        return strategy_endless(r, call->span, "the strategy tries too much: more than 1,000,000 rules", NULL);
    if (elsewhere)
        return NULL;
    RuleBound *bound = NEWN(ctx, RuleBound, rule->n_params + 1);
    if (!rule_given(r, rule, call, env, bound))
        return NULL;
    word->checked = true;
    const char *text = rule_text(r, rule, bound), *why = NULL;
    PlaceLevel level;
    if (rule->level && !level_find(rule->level, &level))
        return strategy_mistake(r, E0804, rule->level_span, ctx_printf(ctx, "`%s` is no level: grid, block, warp and thread are", rule->level), NULL);
    RuleUse use = {.rule = rule, .home = word->home, .bound = bound, .facts = here->facts, .type = here->term->type, .lanes = here_lanes(ctx, here), .users = term_users(r, here), .next_var = r->next_var, .num_sm = r->num_sm, .max_resident = r->max_resident, .lawful = operator_is_lawful, .user = r};
    if (here->term->kind == CORE_LAMBDA || !match_rule(ctx, &use, here->term, &why))
        return strategy_fail(r, call->span, text, here, why ? why : "a function is rewritten where it is used");
    if (rule->level && !here_has_level(here, level)) {
        const char *there = level_name(here_level(here)), *others = word->home ? program_rules_for(ctx, r->program, word->home, there, rule) : NULL;
        return fail_near(r, WRONG_LEVEL, call->span, text, here, ctx_printf(ctx, "it is for the level `%s`, and this is the level `%s`%s%s", rule->level, there, others ? ", for which there are " : "", others ? others : ""));
    }
    if (in_size_test(here))
        return fail_near(r, NOT_HELD, call->span, text, here, "it stands in a test of sizes, which types of the branches depend on");
    Core *after = rule_apply(ctx, r->program, &use, &why);
    if (use.right_fails && !r->out->right_fails)
        r->out->right_fails = why;
    if (!after)
        return fail_near(r, NOT_HELD, call->span, text, here, why);
    r->next_var = use.next_var;
    r->num_sm = use.num_sm;
    r->max_resident = use.max_resident;
    if (core_same(ctx, here->term, after))
        return strategy_fail(r, call->span, text, here, "it would change nothing");
    Core *made = strategy_step(r, text, rule, here, after, call->span);
    if (made)
        note_rule(r, rule, word->home, bound);
    return made;
}

/* ---- at a place ---------------------------------------------------------------------------------------------------------------- */

/* places_find, whose complaint is reported. */
static bool find_places(Runner *r, const Here *here, int n, const PlaceWord *words, Places *out)
{
    if (places_find(r->ctx, here, n, words, out))
        return true;
    strategy_mistake(r, E0802, out->bad->span, out->why, "a place is said as `map`, `first reduce`, `reduce inside mapBlock`, `map over reduce`, `map under lambda x`, or by a label, `#name`");
    return false;
}

static Core *run_every(Runner *r, Strategy s, const Here *here, const PlaceWord *words, int n)
{
    /* Places are found again after each step: it may have moved those that follow. */
    bool any = false;
    for (int k = 0, times = 0; !r->stopped; times++) {
        Places places;
        if (!find_places(r, here, n, words, &places))
            return NULL;
        if (k >= places.at.n || times > LIMIT_REWRITE_STEPS)
            break;
        int before = places.at.n;
        Core *after = run_strategy(r, s, places.at.at[k]);
        if (r->mistake)
            return NULL;
        if (after) {
            here = here_with(r->ctx, here, lift(r->ctx, here, places.at.at[k], after));
            any = true;
            if (!find_places(r, here, n, words, &places))
                return NULL;
            k += 1 + places.at.n - before > 0 ? 1 + places.at.n - before : 0;
        } else {
            k++;
        }
    }
    return any ? here->term : NULL;
}

/* Shows the first of several places that one was meant of. */
static void note_places(Runner *r, Diag *d, const Places *places)
{
    enum { SHOWN = 3 };
    for (int i = 0; i < places->at.n && i < SHOWN; i++) {
        const char *left = i == SHOWN - 1 && places->at.n > SHOWN ? ctx_printf(r->ctx, ", and %d more", places->at.n - SHOWN) : "";
        diag_note(r->ctx, d, term_users(r, places->at.at[i]), "%s%s", here_text(r->ctx, places->at.at[i]), left);
    }
}

static Word *word_of(Runner *r, Strategy s, const SCall *call);

/* A name that means nothing is said before places are looked for. */
static bool means_step(Runner *r, Strategy what)
{
    SCall call;
    return !as_call(what.ast, &call) || senv_find(what.env, call.name) || word_of(r, what, &call);
}

static Core *run_at(Runner *r, Strategy s, const Here *here)
{
    Ctx *ctx = r->ctx;
    const Ast *ast = s.ast;
    Strategy what = {ast->at.what, s.env, s.home};
    Places places;
    if (!means_step(r, what) || !find_places(r, here, ast->at.n, ast->at.words, &places))
        return NULL;
    const char *text = place_text(ctx, ast->at.n, ast->at.words);
    if (places.at.n == 0) {
        const char *why = ctx_printf(ctx, "there is no `%s` here for `%s`: `at` may name %s", text, ast_text(ctx, ast->at.what), places_there(ctx, here));
        strategy_fail(r, ast->span, NULL, here, why);
        return NULL;
    }
    if (places.every) {
        Core *after = run_every(r, what, here, ast->at.words, ast->at.n);
        return after;
    }
    if (places.at.n > 1) {
        Diag *d = strategy_error(r, E0802, ast->span, ctx_printf(ctx, "there are %d places `%s`", places.at.n, text));
        note_places(r, d, &places);
        diag_note(ctx, d, NO_SPAN, "`first %s`, `last %s` and `%s inside ...` mean one of them, `every %s` means all", text, text, text, text);
        return NULL;
    }
    Core *after = run_strategy(r, what, places.at.at[0]);
    return after ? lift(ctx, here, places.at.at[0], after) : NULL;
}

/* ---- calls ----------------------------------------------------------------------------------------------------------------------- */

static bool setting_of(const Runner *r, const char *name, int64_t *value)
{
    bool found = false;
    for (int i = 0; i < r->n_settings; i++)
        if (strcmp(r->settings[i].name, name) == 0) {
            *value = r->settings[i].value;
            found = true;
        }
    return found;
}

static Core *run_item(Runner *r, const Item *item, const char *home, const SCall *call, Strategy s, const Here *here)
{
    Ctx *ctx = r->ctx;
    const SEnv *env = NULL;
    const Ast **given = NEWN(ctx, const Ast *, item->n_params + 1);
    for (int i = 0; i < call->n; i++) {
        int k = param_for(r, item, call, i);
        if (k < 0)
            return NULL;
        given[k] = call->args[i];
    }
    for (int k = 0; k < item->n_params; k++) {
        const Param *p = &item->params[k];
        SEnv *own = NEW(ctx, SEnv);
        *own = (SEnv){.name = p->name, .up = env, .is_nat = is_nat_param(p)};
        if (own->is_nat) {
            Nat n = given[k] ? size_of(r, given[k], s.env) : NULL;
            if (given[k] && !n)
                return NULL;
            if (!given[k] && !setting_of(r, p->name, &own->nat)) {
                n = p->def ? size_of(r, p->def, env) : NULL;
                if (!n)
                    return r->mistake ? NULL : strategy_mistake(r, E0804, call->span, ctx_printf(ctx, "`%s` of `%s` is not given, and has no default", p->name, item->name), takes_text(ctx, item));
            }
            if (n && !nat_is_const(n))
                return strategy_mistake(r, E0804, call->span, ctx_printf(ctx, "`%s` of `%s` is a constant, and this is %s", p->name, item->name, nat_text(ctx, n)), NULL);
            own->nat = n ? n->value : own->nat;
        } else {
            if (!given[k])
                return strategy_mistake(r, E0804, call->span, ctx_printf(ctx, "`%s` of `%s` is not given", p->name, item->name), takes_text(ctx, item));
            own->ast = given[k];
            own->env = s.env;
            own->home = s.home;
        }
        env = own;
    }
    return run_strategy(r, (Strategy){item->body, env, home}, here);
}

static int combinator(const char *name, int *n)
{
    static const struct { const char *name; int n; } words[] = {
#define STRATEGY(name, n, ...) {#name, n},
#include "frontend/strategies.def"
#undef STRATEGY
    };
    for (int i = 0; i < (int)(sizeof words / sizeof *words); i++)
        if (strcmp(words[i].name, name) == 0) {
            *n = words[i].n;
            return i;
        }
    return -1;
}

typedef enum Combinator {
#define STRATEGY(name, ...) S_##name,
#include "frontend/strategies.def"
#undef STRATEGY
} Combinator;

static Core *run_word(Runner *r, Combinator which, const SCall *call, Strategy s, const Here *here)
{
    Strategy a = {call->n ? call->args[0] : NULL, s.env, s.home};
    Core *after;
    switch (which) {
    case S_id:
        return here->term;
    case S_fail:
        return strategy_fail(r, call->span, "fail", here, "it never applies");
    case S_try:
        after = run_strategy(r, a, here);
        return after || r->mistake ? after : here->term;
    case S_repeat:
        return again(r, a, here, HERE_ONLY, 0, call->span);
    case S_topDown:
        return once(r, a, here, TOP_DOWN);
    case S_bottomUp:
        return once(r, a, here, BOTTOM_UP);
    case S_everywhere:
        return everywhere(r, a, here);
    case S_downwards:
        return downwards(r, a, here);
    case S_outermost:
        return again(r, a, here, TOP_DOWN, 1, call->span);
    case S_innermost:
        return again(r, a, here, BOTTOM_UP, 1, call->span);
    case S_normalise:
        return again(r, a, here, BOTTOM_UP, 0, call->span);
    case S_inFunction:
        return in_function(r, a, here, true, call->span);
    case S_inMap:
        return in_function(r, a, here, false, call->span);
    case S_inItems:
        return in_items(r, a, here, call->span);
    case S_inArgument:
        return in_argument(r, a, here, call->span);
    case S_inThen:
        return in_branch(r, a, here, 1, "inThen", call->span);
    case S_inElse:
        return in_branch(r, a, here, 2, "inElse", call->span);
    case S_nameReduce:
        return name_reduce(r, call->span, here);
    case S_onWay:
        return on_way(r, a, here);
    case S_onResults:
        return on_results(r, a, here);
    case S_oneStage:
        return one_stage(r, call->span, here);
    case S_light:
        return is_light(r, call->span, here);
    case S_moved:
        return is_moved(r, call->span, here);
    case S_bounded:
        return bounded(r, a, here, call->span);
    case S_computed:
        return is_computed(r, call->span, here);
    case S_layout:
        return layout_here(r, call->span, here);
    case S_unless:
        return unless(r, a, here, call->span);
    case S_inSplit:
        return in_split(r, a, here, call->span);
    case S_inInnermost:
        return in_innermost(r, a, here, call->span);
    case S_splitBranches:
        return split_branches(r, call->span, here);
    case S_stored:
        return make_stored(r, call->span, here);
    case S_stages:
        return stages_to_kernels(r, a, (Strategy){call->args[1], s.env, s.home}, call->span, here);
    case S_stageToKernel:
        return launched(r, call, s.env, here, stage_to_kernel);
    case S_launchRepeated:
        return launched(r, call, s.env, here, launch_repeated);
    case S_beginAgain:
        return launched(r, call, s.env, here, begin_again);
    case S_nests:
        return make_nests(r, call->span, here);
    case S_copyInOrder:
        return copy_in_order(r, call->span, here);
    case S_lowers:
        return lowers(r, call->span, here);
    case S_inlineLet:
        return inline_let(r, call->span, here);
    case S_letOfLet:
        return let_of_let(r, call->span, here);
    case S_launch:
        return set_launch(r, call, s.env, here);
    }
    return NULL;
}

static Core *run_combinator(Runner *r, Combinator which, const SCall *call, Strategy s, const Here *here)
{
    bool search = which == S_topDown || which == S_bottomUp || which == S_everywhere || which == S_downwards || which == S_outermost || which == S_innermost;
    if (search)
        start_search(r);
    Core *after = run_word(r, which, call, s, here);
    r->searching -= search;
    return after;
}

static bool takes_launch(int word) { return word == S_launch || word == S_stageToKernel || word == S_launchRepeated || word == S_beginAgain; }

/* What a name in a strategy stands for, which is looked up once. NULL, and reported, where it is nothing. */
static Word *word_of(Runner *r, Strategy s, const SCall *call)
{
    Word *word = table_get(&r->words, s.ast);
    if (word)
        return word;
    int n = 0;
    word = NEW(r->ctx, Word);
    *word = (Word){.which = combinator(call->name, &n)};
    if (word->which < 0)
        word->item = program_rule(r->program, s.home, call->name, &word->home);
    if (word->which >= 0 && call->n != n && !takes_launch(word->which)) {
        strategy_mistake(r, E0804, call->span, ctx_printf(r->ctx, n ? "`%s` takes one strategy" : "`%s` takes nothing", call->name), NULL);
        return NULL;
    }
    if (word->which < 0 && !word->item) {
        const LibFile *module = library_with(call->name);
        const char *note = module ? ctx_printf(r->ctx, "the library has it: the program has to say `import %s`", library_module(r->ctx, module)) : NULL;
        const char *near = module ? NULL : program_step_near(r->ctx, r->program, call->name);
        if (near)
            note = ctx_printf(r->ctx, "did you mean `%s`?", near);
        strategy_mistake(r, E0804, call->span, ctx_printf(r->ctx, "`%s` is neither a rule nor a strategy", call->name), note);
        return NULL;
    }
    table_put(r->ctx, &r->words, s.ast, word);
    return word;
}

static Core *run_call(Runner *r, Strategy s, const Here *here)
{
    SCall call;
    if (!as_call(s.ast, &call)) {
        bool chained = s.ast->kind == AST_PIPE || s.ast->kind == AST_COMPOSE;
        return strategy_mistake(r, E0804, s.ast->span, "a strategy is needed here", chained ? "steps follow each other by `;`: `(a at map ; b at reduce)`" : NULL);
    }
    const SEnv *own = senv_find(s.env, call.name);
    if (own && own->is_nat)
        return strategy_mistake(r, E0804, call.span, ctx_printf(r->ctx, "`%s` is a size, and a strategy is needed here", call.name), NULL);
    if (own)
        return run_strategy(r, (Strategy){own->ast, own->env, own->home}, here);
    Word *word = word_of(r, s, &call);
    if (!word)
        return NULL;
    if (!word->item)
        return run_combinator(r, (Combinator)word->which, &call, s, here);
    if (word->item->kind == ITEM_STRATEGY)
        return run_item(r, word->item, word->home, &call, s, here);
    return apply_rule(r, word, &call, s.env, here);
}

/* `unroll s in [16, 8, 4] (a)`: a with s = 16, then with s = 8, then with s = 4. */
static Core *run_unroll(Runner *r, Strategy s, const Here *here)
{
    Constants items = {0};
    if (!constants_of(r, s.ast->unroll.list, s.env, &items))
        return NULL;
    for (int i = 0; i < items.at.n && !r->stopped; i++) {
        SEnv *own = NEW(r->ctx, SEnv);
        *own = (SEnv){.name = s.ast->unroll.name, .nat = items.at.at[i], .is_nat = true, .up = s.env};
        Core *after = run_strategy(r, (Strategy){s.ast->unroll.fn, own, s.home}, here);
        if (!after)
            return NULL;
        here = here_with(r->ctx, here, after);
    }
    return here->term;
}

static Core *run_form(Runner *r, Strategy s, const Here *here)
{
    Core *after;
    switch (s.ast->kind) {
    case AST_SEQ:
        after = run_strategy(r, (Strategy){s.ast->bin.lhs, s.env, s.home}, here);
        return after ? run_strategy(r, (Strategy){s.ast->bin.rhs, s.env, s.home}, here_with(r->ctx, here, after)) : NULL;
    case AST_ORELSE:
        start_search(r);
        after = run_strategy(r, (Strategy){s.ast->bin.lhs, s.env, s.home}, here);
        if (!after && !r->mistake)
            after = run_strategy(r, (Strategy){s.ast->bin.rhs, s.env, s.home}, here);
        r->searching--;
        return after;
    case AST_AT:
        return run_at(r, s, here);
    case AST_UNROLL:
        return run_unroll(r, s, here);
    default:
        return run_call(r, s, here);
    }
}

/* What fails takes its steps back. */
Core *run_strategy(Runner *r, Strategy s, const Here *here)
{
    int before = r->out->steps.n;
    const CoreLaunch launch = r->entry->launch;
    const Span asked_before = r->asked;
    const Here *here_before = r->here;
    if (r->mistake || r->exhausted)
        return NULL;
    if (r->stopped)
        return here->term;
    r->here = here;
    if (span_is_users(r->ctx, s.ast->span))
        r->asked = s.ast->span;
    if (++r->depth > LIMIT_STRATEGY_DEPTH)
        return strategy_mistake(r, E0805, s.ast->span, ctx_printf(r->ctx, "strategies are nested too deeply: more than %d levels", LIMIT_STRATEGY_DEPTH), NULL);
    Core *after = run_form(r, s, here);
    r->depth--;
    r->asked = asked_before;
    r->here = here_before;
    if (!after && !r->mistake) {
        r->out->steps.n = before;
        r->entry->launch = launch;
    }
    return after;
}

/* ---- whole entries ------------------------------------------------------------------------------------------------------------ */

static void report(Runner *r, Span span)
{
    Ctx *ctx = r->ctx;
    if (r->mistake)
        return;
    const char *words = r->fail_what ? ctx_printf(ctx, "`%s` does not apply to `%s`: %s", r->fail_what, r->fail_where, r->fail_why) : r->fail_why;
    Diag *d = diag_error_of_user(ctx, E0801, r->fail_span.file ? r->fail_span : span, r->fail_users, library_step, "%s", words);
    StrBuf sb;
    sb_init(&sb, ctx);
    core_print(&sb, r->fail_term);
    enum { SHOWN = 160 };
    if (sb.len > SHOWN)
        strcpy(sb.text + SHOWN - 3, "...");
    diag_note(ctx, d, NO_SPAN, "what stands there is `%s`", sb.text);
    if (span.file && d->span.file != span.file)
        diag_note(ctx, d, span, "`%s` is lowered by this", r->entry->name);
}

Runner *runner_new(Ctx *ctx, const CoreEntry *entry, int most, Rewriting *out)
{
    Runner *r = NEW(ctx, Runner);
    *r = (Runner){.ctx = ctx, .program = entry->program, .out = out, .most = most, .stopped = most == 0, .most_tried = LIMIT_TRIED * LOOKS_A_TRY, .num_sm = entry->num_sm, .max_resident = entry->max_resident};
    int bearable = ctx->stack.levels, grown = entry->body->height < bearable / 4 ? 1000 + 4 * entry->body->height : bearable;
    r->highest = grown < bearable ? grown : bearable;
    r->entry = NEW(ctx, CoreEntry);
    *r->entry = *entry;
    r->next_var = term_next_var(entry);
    return r;
}

void runner_finish(Runner *r, Core *body)
{
    r->entry->body = body;
    r->entry->num_sm = r->num_sm;
    r->entry->max_resident = r->max_resident;
    r->out->entry = r->entry;
}

bool rewrite_from(Ctx *ctx, const CoreEntry *entry, const Ast *strategy, const char *home, int n_settings, const StrategySetting *settings, int most, Rewriting *out)
{
    Runner *r = runner_new(ctx, entry, most, out);
    r->n_settings = n_settings;
    r->settings = settings;
    Here *root = NEW(ctx, Here); /* steps keep their places */
    *root = (Here){.term = entry->body, .facts = nat_facts_new(ctx, (NatFacts *)entry->known)};
    Core *body = run_strategy(r, (Strategy){strategy, NULL, home}, root);
    if (!body) {
        report(r, strategy->span);
        return false;
    }
    runner_finish(r, body);
    return true;
}

bool rewrite_entry(Ctx *ctx, const CoreEntry *entry, const Ast *strategy, int n_settings, const StrategySetting *settings, int most, Rewriting *out)
{
    return rewrite_from(ctx, entry, strategy, program_path(entry->program), n_settings, settings, most, out);
}
