/* Entries: sizes, tunables, inputs, facts, launch options; then the body; then what inference left open. */
#include "frontend/elab_internal.h"

Elab *elab_new(Ctx *ctx, Program *program)
{
    Elab *e = NEW(ctx, Elab);
    e->ctx = ctx;
    e->program = program;
    e->facts = nat_facts_new(ctx, NULL);
    e->prim_root = NEW(ctx, Env);
    return e;
}

/* ---- finishing ---------------------------------------------------------------------------------------------------------- */

static void unknown_type(Elab *e, Span span)
{
    elab_error(e, E0317, span, "the type of this is not known");
}

static Type zonk_finished(Elab *e, Type t, Span span)
{
    t = type_zonk(e, t);
    if (t->has_meta) {
        unknown_type(e, span);
        return type_error(e->ctx);
    }
    return t;
}

static void zonk_var(Elab *e, CoreVar *var)
{
    var->type = zonk_finished(e, var->type, var->span);
    if (var->type->kind == TY_IDX && !var->nat)
        var->nat = nat_var(e->ctx, var->name, nat_const(e->ctx, 0), nat_add_k(e->ctx, var->type->size, -1));
}

/* A cast of a literal is a literal, as in cast(t)(inf(f64)). */
static void cast_literal(Core *cast)
{
    const Core *from = cast->prim.args[0];
    if (from->kind != CORE_LIT || cast->type->kind != TY_SCALAR)
        return;
    ScalarValue lit = scalar_cast(cast->type->scalar, from->lit);
    cast->kind = CORE_LIT;
    cast->height = 1;
    cast->lit = lit;
}

static void become(Core *core, const Core *other)
{
    const char *label = core->label;
    *core = *other;
    core->label = core->label ? core->label : label;
}

static bool is_literal(const Core *core) { return core && core->kind == CORE_LIT; }

/* A rule's right side holds what its left side matched, which is finished. again: but a literal comes to what is named in it. */
static void zonk(Elab *e, Core *core, bool again)
{
    if (core->finished && !again)
        return;
    core->finished = true;
    if (core->type && core->type->has_meta)
        core->type = zonk_finished(e, core->type, core->span);
    switch (core->kind) {
    case CORE_VAR:
        zonk_var(e, core->var);
        if (is_literal(core->var->value))
            become(core, core->var->value);
        else
            core->type = core->var->type;
        break;
    case CORE_LIT:
    case CORE_SIZE:
    case CORE_UNIT_ERROR:
        break;
    case CORE_PRIM:
        for (int i = 0; i < core->prim.n_args; i++)
            zonk(e, core->prim.args[i], again);
        if (core->prim.cast_type)
            core->prim.cast_type = type_zonk(e, core->prim.cast_type);
        if (core->prim.options.place)
            zonk(e, core->prim.options.place, again);
        if (core->prim.id == P_cast)
            cast_literal(core);
        break;
    case CORE_LAMBDA:
        for (int i = 0; i < core->lambda.n; i++)
            zonk_var(e, core->lambda.params[i]);
        zonk(e, core->lambda.body, again);
        break;
    case CORE_LET:
        zonk_var(e, core->let.var);
        zonk(e, core->let.value, again);
        core->let.var->value = core->let.value;
        zonk(e, core->let.body, again || is_literal(core->let.value));
        if (is_literal(core->let.value))
            become(core, core->let.body);
        break;
    case CORE_TUPLE:
        for (int i = 0; i < core->tuple.n; i++)
            zonk(e, core->tuple.items[i], again);
        break;
    case CORE_PROJ:
        zonk(e, core->proj.value, again);
        break;
    case CORE_IF:
        zonk(e, core->cond.cond, again);
        zonk(e, core->cond.then, again);
        zonk(e, core->cond.otherwise, again);
        break;
    }
}

/* Every type in the term becomes what inference found. */
void core_zonk(Elab *e, Core *core) { zonk(e, core, false); }

void elab_finish(Elab *e, Core *body)
{
    if (e->stop || e->failed)
        return;
    finish_literals(e);
    for (int i = 0; i < e->units.n; i++) {
        core_zonk(e, e->units.at[i].unit);
        if (e->units.at[i].declared)
            core_zonk(e, e->units.at[i].declared);
    }
    core_zonk(e, body);
    finish_units(e);
}

/* ---- headers of entries ---------------------------------------------------------------------------------------------------- */

/* With one set of values of the tunables. */
typedef struct Header {
    const Item *item;
    const struct Header *base; /* of a class: the header with the defaults, which has the sizes, inputs and facts; else NULL */
    Span span;                 /* of a class */
    const Env *env;
    CoreLaunch launch;
    Type want;                 /* the result's, or NULL */
    VEC(Nat) sizes;
    VEC(const char *) tunable_names;
    VEC(int64_t) tunable_values;
    VEC(CoreValues) tunable_candidates;
    VEC(CoreVar *) inputs;
    VEC(Core *) facts;
} Header;

static void take_size(Elab *e, Header *h, const Param *p, int n_settings, const ElabSetting *settings)
{
    Ctx *ctx = e->ctx;
    const char *name = p->name ? p->name : "_";
    const ElabSetting *set = elab_setting(name, n_settings, settings);
    if (!p->def && !(set && set->fixes_size)) {
        Nat n = h->base ? h->base->sizes.at[h->sizes.n] : nat_var(ctx, name, nat_const(ctx, 0), NULL);
        vec_push(ctx, &h->sizes, n);
        if (!h->base)
            vec_push(ctx, &e->entry_sizes, n);
        h->env = env_push(e, h->env, name, v_nat(n, p->span), p->span);
        return;
    }
    Nat n = p->def ? eval_nat(e, p->def, h->env) : nat_const(ctx, set->value);
    if (!nat_is_error(n) && !nat_is_const(n)) {
        Diag *d = elab_error(e, E0217, p->def->span, "the default of the tunable `%s` is no constant", name);
        diag_label(ctx, d, "`%s` is known only at launch", nat_text(ctx, n));
        n = nat_error(ctx);
    }
    if (set)
        n = nat_const(ctx, set->value);
    if (nat_is_error(n)) {
        h->env = env_push(e, h->env, name, v_error(p->span), p->span);
        return;
    }
    if (n->value < 0) {
        elab_error(e, E0306, p->def ? p->def->span : p->span, "the %s `%s` is %lld: sizes are not negative", p->def ? "tunable" : "size", name, (long long)n->value);
        n = nat_const(ctx, 0);
    }
    vec_push(ctx, &h->tunable_names, name);
    vec_push(ctx, &h->tunable_values, n->value);
    h->env = env_push(e, h->env, name, v_nat(n, p->span), p->span);
    CoreValues candidates = {0};
    if (p->candidates && p->candidates->kind == AST_LIST) {
        candidates.values = NEWN(ctx, int64_t, p->candidates->list.n + 1);
        for (int i = 0; i < p->candidates->list.n; i++) {
            Nat c = eval_nat(e, p->candidates->list.items[i], h->env);
            if (!nat_is_error(c) && !nat_is_const(c))
                elab_error(e, E0217, p->candidates->list.items[i]->span, "a value to try for the tunable `%s` is a constant", name);
            else if (!nat_is_error(c))
                candidates.values[candidates.n++] = c->value;
        }
    }
    vec_push(ctx, &h->tunable_candidates, candidates);
}

/* E0661, of a tuned value on which something depends that a caller knows. */
static void class_differs(Elab *e, const Header *h, Span span, const char *what, const char *now, const char *before)
{
    Diag *d = elab_error(e, E0661, h->span, "these values of the tunables change %s: it is %s, and %s with the defaults", what, now, before);
    diag_note(e->ctx, d, span, "here");
    diag_help(e->ctx, d, "run `risec tune` again, which leaves such tunables as they are");
}

static const char *fact_text(Elab *e, const Core *fact)
{
    StrBuf text;
    sb_init(&text, e->ctx);
    core_print(&text, fact);
    return text.text;
}

static void take_fact(Elab *e, Header *h, int k, int n_settings, const ElabSetting *settings)
{
    Ctx *ctx = e->ctx;
    const Ast *cond = h->item->where[k];
    Value v = eval(e, cond, h->env, NULL);
    if (v.kind == V_ERROR)
        return;
    Type t = v.kind == V_CORE ? type_resolve(e, v.core->type) : NULL;
    if (!t || t->kind != TY_SCALAR || t->scalar != SC_BOOL || !is_about_sizes(v.core)) {
        elab_error(e, E0326, cond->span, "`where` lists conditions over sizes, and this is %s", t && t->kind == TY_SCALAR && t->scalar == SC_BOOL ? "about data" : value_text(e, v));
        return;
    }
    if (v.core->kind != CORE_LIT && h->base) {
        const char *now = fact_text(e, v.core), *before = h->facts.n < h->base->facts.n ? fact_text(e, h->base->facts.at[h->facts.n]) : "no condition";
        vec_push(ctx, &h->facts, v.core);
        if (strcmp(now, before) != 0)
            class_differs(e, h, cond->span, "a fact about the sizes", now, before);
        return;
    }
    if (v.core->kind != CORE_LIT) {
        core_cond_facts(e->ctx, e->facts, v.core, true);
        vec_push(ctx, &h->facts, v.core);
        return;
    }
    if (!v.core->lit.i)
        report_false_fact(e, h->item, k, h->env, n_settings, settings);
}

static void take_input(Elab *e, Header *h, const Param *p)
{
    e->learn_sizes = true;
    Type t = p->kind ? eval_type(e, p->kind, h->env) : type_error(e->ctx);
    e->learn_sizes = false;
    const char *name = p->name ? p->name : p->pattern.n_items ? "t" : "_";
    CoreVar *var;
    if (h->base) {
        var = h->base->inputs.at[h->inputs.n];
        if (t->kind != TY_ERROR && strcmp(tyt(e, t), tyt(e, var->type)) != 0)
            class_differs(e, h, p->kind_span, ctx_printf(e->ctx, "the type of `%s`", name), tyt(e, t), tyt(e, var->type));
    } else {
        var = core_var(e, name, t, p->span);
        set_type_span(e, var, p->kind_span);
    }
    vec_push(e->ctx, &h->inputs, var);
    Value v = t->kind == TY_ERROR ? v_error(p->span) : v_core(e, core_of_var(e, var, p->span));
    if (t->kind == TY_ERROR)
        e->failed = true;
    if (p->name) {
        h->env = env_push(e, h->env, p->name, v, p->span);
    } else if (p->pattern.n_items && v.kind != V_ERROR) {
        LetBind *lets = NULL;
        bind_pattern(e, &p->pattern, v, &h->env, &lets);
        if (lets)
            elab_error(e, E0316, p->span, "an index in the pattern of an entry's parameter: take it apart in the body");
    }
}

static void take_launch(Elab *e, Header *h)
{
    const Item *item = h->item;
    for (int i = 0; i < item->n_launch; i++) {
        const Option *o = &item->launch[i];
        Nat *at = strcmp(o->name, "blocks") == 0       ? &h->launch.blocks
                  : strcmp(o->name, "threads") == 0    ? &h->launch.threads
                  : strcmp(o->name, "minBlocks") == 0  ? &h->launch.min_blocks
                                                       : NULL;
        if (!at) {
            Diag *d = elab_error(e, E0218, o->span, "`launch` has no option `%s`", o->name);
            diag_label(e->ctx, d, "it takes blocks, threads, minBlocks");
            continue;
        }
        if (*at)
            elab_error(e, E0218, o->span, "`%s` is given twice", o->name);
        Nat n = eval_nat(e, o->value, h->env);
        if (nat_is_error(n))
            continue;
        if (!size_option_fits(e, o->name, nat_is_const(n) ? 1 : 0, n, o->value->span))
            continue;
        if (at == &h->launch.threads)
            h->launch.threads_span = span_join(o->span, o->value->span);
        *at = n;
    }
}

/* False when there is nothing to go on with. */
static bool take_header(Elab *e, Header *h, int n_settings, const ElabSetting *settings)
{
    const Item *item = h->item;
    for (int i = 0; i < item->n_params; i++)
        if (param_kind(&item->params[i]) == KIND_NAT)
            take_size(e, h, &item->params[i], n_settings, settings);
    bool facts_hold = !e->failed;
    for (int i = 0; i < item->n_where; i++)
        take_fact(e, h, i, n_settings, settings);
    facts_hold &= !e->failed;
    for (int i = 0; i < item->n_params; i++) {
        ParamKind kind = param_kind(&item->params[i]);
        if (kind == KIND_VALUE || param_is_of_kind(item, i))
            take_input(e, h, &item->params[i]);
        else if (kind != KIND_NAT)
            return false; /* the resolver reported it */
    }
    take_launch(e, h);
    /* What follows from a fact that does not hold is no news. */
    if (!facts_hold || !item->body)
        return false;
    h->want = item->result ? eval_type(e, item->result, h->env) : NULL;
    if (h->want && h->want->kind == TY_ERROR)
        return false;
    if (h->base && h->want && strcmp(tyt(e, h->want), tyt(e, h->base->want)) != 0)
        class_differs(e, h, item->result->span, "the type of the result", tyt(e, h->want), tyt(e, h->base->want));
    return true;
}

/* ---- entries ------------------------------------------------------------------------------------------------------------------ */

/* NULL when it has errors. */
static Core *take_body(Elab *e, const Header *h)
{
    const Item *item = h->item;
    e->result = h->want;
    Value v = eval(e, item->body, h->env, h->want);
    Core *body = NULL;
    if (v.kind == V_ERROR) {
        e->failed = true;
    } else if (!h->want) {
        body = value_core(e, v);
    } else if (v.kind == V_FUN || v.kind == V_TYPE) {
        body = value_core(e, v);
    } else if (report_lacking(e, v)) {
        e->failed = true;
    } else if (!value_to_core(e, v, h->want, &body)) {
        Span at = v.span.file ? v.span : item->body->span;
        Diag *d = report_mismatch(e, E0312, at, h->want, "the body of `%s` is %s, and its header says %s", item->name, value_text(e, v), tyt(e, h->want));
        propose_meant(e, d, at);
        propose_whole_literals(e, d, at, v, h->want);
        propose_scalar(e, d, at, v, h->want);
        if (d && v.kind == V_CORE)
            propose_step(e, d, at, v.core->type, h->want, true);
        propose_header(e, d, v);
        e->failed = true;
    }
    return e->failed || e->stop ? NULL : body;
}

typedef struct Tuned { /* the classes, while bodies are made for them */
    const Header *base;
    const FileScope *scope;
    int n, n_settings;
    const ElabClass *given;
    const ElabSetting *settings;
    VEC(CoreClass) made;
} Tuned;

/* The condition of a class; NULL where it holds for all launches that are left. */
static Core *class_test(Elab *e, const Tuned *t, const ElabClass *class, bool *never)
{
    Nat product = nat_const(e->ctx, 1);
    *never = false;
    for (int i = 0; i < class->n_sizes; i++) {
        const Env *found = env_find(t->base->env, class->sizes[i], NULL);
        if (!found || found->value.kind != V_NAT) {
            elab_error(e, E0661, class->span, "`%s` is no size of `%s`", class->sizes[i], t->base->item->name);
            return NULL;
        }
        product = nat_mul(e->ctx, product, found->value.nat);
    }
    Value test = class->n_sizes ? eval_binary(e, OP_LE, v_nat(product, class->span), v_nat(nat_const(e->ctx, class->most), class->span), class->span, class->span)
                                : v_error(class->span);
    if (test.kind != V_CORE)
        return NULL;
    *never = test.core->kind == CORE_LIT && !test.core->lit.i;
    return test.core->kind == CORE_LIT ? NULL : test.core;
}

/* Class k and those behind it. NULL when there are errors. */
static Core *class_bodies(Elab *e, Tuned *t, int k)
{
    Ctx *ctx = e->ctx;
    bool never;
    const ElabClass *class = &t->given[k];
    Core *test = class_test(e, t, class, &never);
    if (e->failed)
        return NULL;
    if (never && k + 1 < t->n)
        return class_bodies(e, t, k + 1);
    ElabSetting *settings = NEWN(ctx, ElabSetting, t->n_settings + class->n_settings + 1);
    for (int i = 0; i < t->n_settings + class->n_settings; i++)
        settings[i] = i < t->n_settings ? t->settings[i] : class->settings[i - t->n_settings];
    Header h = {.item = t->base->item, .base = t->base, .span = class->span, .env = t->scope->root};
    NatFacts *outer = e->facts;
    Core *body = NULL;
    e->facts = nat_facts_new(ctx, outer);
    if (test)
        core_cond_facts(e->ctx, e->facts, test, true);
    if (take_header(e, &h, t->n_settings + class->n_settings, settings) && !e->failed)
        body = take_body(e, &h);
    e->facts = outer;
    vec_push(ctx, &t->made, ((CoreClass){h.launch, class->span, test, h.tunable_values.at, class->strategy, class->strategy_span}));
    if (!body || !test || k + 1 == t->n)
        return body;
    e->facts = nat_facts_new(ctx, outer);
    core_cond_facts(e->ctx, e->facts, test, false);
    Core *otherwise = class_bodies(e, t, k + 1);
    e->facts = outer;
    if (!otherwise)
        return NULL;
    Core *both = core_new(e, CORE_IF, body->span, body->type);
    both->cond.cond = test;
    both->cond.then = body;
    both->cond.otherwise = otherwise;
    return core_done(e, both);
}

static CoreEntry *entry_of(Elab *e, const Item *item, const FileScope *scope, int n_settings, const ElabSetting *settings, int n_classes, const ElabClass *classes)
{
    Ctx *ctx = e->ctx;
    Header h = {.item = item, .env = scope->root};
    e->entry = item;
    if (!take_header(e, &h, n_settings, settings))
        return NULL;
    Tuned tuned = {.base = &h, .scope = scope, .n = n_classes, .n_settings = n_settings, .given = classes, .settings = settings};
    Core *body = n_classes ? class_bodies(e, &tuned, 0) : take_body(e, &h);
    if (!body)
        return NULL;
    elab_finish(e, body);
    if (e->failed)
        return NULL;
    CoreEntry *entry = NEW(ctx, CoreEntry);
    entry->name = item->name;
    entry->doc = item->doc;
    entry->span = item->span;
    entry->name_span = item->name_span;
    entry->exact = item->exact;
    entry->launch = h.launch;
    entry->body = body;
    entry->result = h.want ? h.want : body->type;
    entry->n_sizes = h.sizes.n;
    entry->sizes = h.sizes.at;
    entry->n_tunables = h.tunable_names.n;
    entry->tunable_names = h.tunable_names.at;
    entry->tunable_values = h.tunable_values.at;
    entry->tunable_candidates = h.tunable_candidates.at;
    entry->n_classes = tuned.made.n;
    entry->classes = tuned.made.at;
    entry->n_inputs = h.inputs.n;
    entry->inputs = h.inputs.at;
    entry->n_facts = h.facts.n;
    entry->facts = h.facts.at;
    entry->known = e->facts;
    entry->num_sm = e->num_sm;
    entry->max_resident = e->max_resident;
    entry->item = item;
    entry->program = e->program;
    finish_doubts(e, &entry->doubts);
    return entry;
}

CoreEntry *elab_entry_with(Elab *e, int k, int n_settings, const ElabSetting *settings, int n_classes, const ElabClass *classes)
{
    Program *program = e->program;
    if (k < 0 || k >= program->entries.n)
        return NULL;
    if (is_unusable(e, program->entries.at[k]))
        return NULL;
    CoreEntry *entry = entry_of(e, program->entries.at[k], program->files.at[0], n_settings, settings, n_classes, classes);
    return program->failed ? NULL : entry;
}

CoreEntry *elab_named(Ctx *ctx, Program *program, const char *name, int n_settings, const ElabSetting *settings)
{
    Elab *e = elab_new(ctx, program);
    const Item *item = program_item(program, name);
    if (!item || is_unusable(e, item))
        return NULL;
    CoreEntry *entry = entry_of(e, item, program->files.at[0], n_settings, settings, 0, NULL);
    return program->failed ? NULL : entry;
}

void elab_item(Elab *e, const Item *item)
{
    if (!is_unusable(e, item))
        entry_of(e, item, e->program->files.at[0], 0, NULL, 0, NULL);
}

CoreEntry *elab_entry_tuned(Ctx *ctx, Program *program, int k, int n_settings, const ElabSetting *settings, int n_classes, const ElabClass *classes)
{
    return elab_entry_with(elab_new(ctx, program), k, n_settings, settings, n_classes, classes);
}

CoreEntry *elab_entry(Ctx *ctx, Program *program, int k, int n_settings, const ElabSetting *settings)
{
    return elab_entry_tuned(ctx, program, k, n_settings, settings, 0, NULL);
}

/* ---- operators ---------------------------------------------------------------------------------------------------------------- */

bool elab_operator_with(Elab *e, int k, Core **lambda, Core **unit)
{
    Ctx *ctx = e->ctx;
    Program *program = e->program;
    const Item *item = program->operators.at[k];
    const FileScope *scope = program->files.at[0];
    if (is_unusable(e, item) || item->n_params != 2 || !item->unit || !item->result || !item->body)
        return false;
    Type t = eval_type(e, item->result, scope->root);
    CoreVar **params = NEWN(ctx, CoreVar *, 2);
    Value args[2];
    for (int i = 0; i < 2; i++) {
        const Param *p = &item->params[i];
        if (p->implicit || param_kind(p) != KIND_VALUE || !p->kind)
            return false;
        Type pt = eval_type(e, p->kind, scope->root);
        if (pt->kind == TY_ERROR || t->kind == TY_ERROR)
            return false;
        if (!type_unify(e, t, pt)) {
            Diag *d = elab_error(e, E0215, p->kind_span.file ? p->kind_span : p->span, "an operator takes two values of one type and gives that type; this is %s, and the result %s", tyt(e, pt), tyt(e, t));
            diag_note(ctx, d, item->result->span, "the result");
            return false;
        }
        params[i] = core_var(e, p->name ? p->name : "t", pt, p->span);
        args[i] = v_core(e, core_of_var(e, params[i], p->span));
    }
    Fun *f = NEW(ctx, Fun);
    *f = (Fun){.kind = F_ITEM, .item = item, .home = scope, .span = NO_SPAN};
    Value r = apply(e, v_fun(f, NO_SPAN), 2, args, NO_SPAN, t);
    Value u = eval(e, item->unit, scope->root, t);
    Core *body = NULL;
    *unit = NULL;
    if (u.kind != V_ERROR && !value_to_core(e, u, t, unit))
        report_mismatch(e, E0215, item->unit->span, t, "the unit of `%s` is %s, and its values are %s", item->name, value_text(e, u), tyt(e, t));
    if (r.kind == V_ERROR || u.kind == V_ERROR || !value_to_core(e, r, t, &body) || !*unit || e->failed)
        return false;
    Core *l = core_new(e, CORE_LAMBDA, item->span, t);
    l->lambda.n = 2;
    l->lambda.params = params;
    l->lambda.body = body;
    l->lambda.op = item;
    core_done(e, l);
    elab_finish(e, l);
    if (!e->failed)
        core_zonk(e, *unit);
    *lambda = l;
    return !e->failed && !program->failed;
}

bool elab_operator(Ctx *ctx, Program *program, int k, Core **lambda, Core **unit)
{
    return elab_operator_with(elab_new(ctx, program), k, lambda, unit);
}

CoreProgram *elab_all(Ctx *ctx, Program *program)
{
    CoreProgram *all = NEW(ctx, CoreProgram);
    for (int i = 0; i < program->operators.n; i++) {
        Core *lambda, *unit;
        elab_operator(ctx, program, i, &lambda, &unit);
    }
    for (int i = 0; i < program->entries.n; i++) {
        CoreEntry *entry = elab_entry(ctx, program, i, 0, NULL);
        if (entry)
            vec_push(ctx, &all->entries, entry);
    }
    return all;
}
